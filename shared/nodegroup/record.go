package nodegroup

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"rollcall/shared/snapshot"
)

// Format is the version of Record that this code writes and reads.
const Format = 1

// Record is what is remembered of one nodegroup. It is also the outbox: what
// is to be told stands in Untold before it is told.
type Record struct {
	Format int `json:"format"`
	// Version is of the record as it was read.
	Version   int    `json:"version"`
	Cluster   string `json:"cluster"`
	Nodegroup string `json:"nodegroup"`
	ARN       string `json:"arn,omitempty"`
	// Status is EKS's, or Deleted. It is empty where nothing is remembered.
	Status string    `json:"status"`
	Since  time.Time `json:"since"` // first look that saw it in this status
	Issues []Issue   `json:"issues,omitempty"`
	// Updates are the latest, the newest first; UpdatesRead tells that they
	// were ever read.
	Updates     []Done    `json:"updates,omitempty"`
	UpdatesRead bool      `json:"updatesRead,omitempty"`
	Created     time.Time `json:"created,omitzero"`
	// Modified is EKS's time of the last change whose updates were read.
	Modified time.Time `json:"modified,omitzero"`
	// First is the first look, Seen the newest that was taken in.
	First time.Time `json:"first"`
	Seen  time.Time `json:"seen"`
	// Again is when the nodegroup, which is on its way, is looked at again.
	Again time.Time `json:"again,omitzero"`
	// Events counts the events that it ever had; Untold are those that the bus
	// has not taken yet, in order.
	Events int     `json:"events,omitempty"`
	Untold []Event `json:"untold,omitempty"`
}

// Issue is a health issue, and since when it is known.
type Issue struct {
	Code      string    `json:"code"`
	Message   string    `json:"message,omitempty"`
	Resources []string  `json:"resources,omitempty"`
	Since     time.Time `json:"since"`
}

// Done is an update as far as it got.
type Done struct {
	ID      string    `json:"id"`
	Type    string    `json:"type,omitempty"`
	Status  string    `json:"status"`
	Created time.Time `json:"created"`
	Errors  []Issue   `json:"errors,omitempty"`
}

// The statuses that decide. Deleted is Rollcall's own word: EKS has none for
// what is gone.
const (
	Active       = "ACTIVE"
	Creating     = "CREATING"
	Updating     = "UPDATING"
	Deleting     = "DELETING"
	CreateFailed = "CREATE_FAILED"
	DeleteFailed = "DELETE_FAILED"
	Degraded     = "DEGRADED"
	Deleted      = "DELETED"
)

// The statuses of updates.
const (
	InProgress = "InProgress"
	Failed     = "Failed"
	Cancelled  = "Cancelled"
	Successful = "Successful"
)

// Known tells that anything is remembered.
func (r Record) Known() bool { return r.Status != "" }

// OnItsWay tells that EKS is at work: another status will come soon.
func (r Record) OnItsWay() bool {
	switch r.Status {
	case Creating, Updating, Deleting:
		return true
	case Deleted:
		return false
	}
	return len(r.Updates) > 0 && r.Updates[0].Status == InProgress
}

// WantsUpdates tells whether a nodegroup's updates have to be read: nobody has
// read them, EKS is at work or has been, or the last one failed.
func (r Record) WantsUpdates(n snapshot.Nodegroup) bool {
	if !r.UpdatesRead || n.Status != Active || !n.Modified.Equal(r.Modified) {
		return true
	}
	return len(r.Updates) > 0 && (r.Updates[0].Status == InProgress || r.Updates[0].Status == Failed)
}

// Same tells that two records say the same, whenever they were seen.
func (r Record) Same(o Record) bool {
	r.Seen, o.Seen = time.Time{}, time.Time{}
	r.Version, o.Version = 0, 0
	a, errA := json.Marshal(r)
	b, errB := json.Marshal(o)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// key tells issues apart: by what EKS says, not by how it words it.
func (i Issue) key() string {
	return i.Code + "\x00" + strings.Join(slices.Sorted(slices.Values(i.Resources)), "\x00")
}

func sameIssues(a, b []Issue) bool {
	keys := func(list []Issue) []string {
		var out []string
		for _, i := range list {
			out = append(out, i.key())
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	return slices.Equal(keys(a), keys(b))
}

// issuesOf are a nodegroup's issues, each with the time since which it is known.
func issuesOf(list []snapshot.Issue, known []Issue, now time.Time) []Issue {
	var out []Issue
	for _, s := range list {
		i := Issue{Code: s.Code, Message: clip(s.Message), Resources: s.Resources, Since: now}
		for _, k := range known {
			if k.key() == i.key() {
				i.Since = k.Since
			}
		}
		out = append(out, i)
	}
	return out
}

// clip cuts a text that somebody else wrote: a record has room for 400 KB, an
// event for 256.
func clip(text string) string {
	const limit = 1000
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}
