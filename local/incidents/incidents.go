// Package incidents tells what a deployment knows: its incidents, open and closed, and
// all of one. It reads the table and changes nothing.
package incidents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/store"
)

// Records is what it takes of the table.
type Records interface {
	// Clusters are those with incidents in the table, open or closed.
	Clusters(context.Context) ([]string, error)
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
}

// Query chooses incidents.
type Query struct {
	// Clusters are those to look at; nil is all that the table knows.
	Clusters []string
	// Closed tells that those that are over are wanted too.
	Closed bool
}

// Row is an incident in a list.
type Row struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Cluster string `json:"cluster"`
	// Whose is the name by which people know the cluster's account; empty where one is watched.
	Whose      string    `json:"whose,omitempty"`
	Nodegroups []string  `json:"nodegroups"`
	Check      string    `json:"check"`
	Confidence string    `json:"confidence"`
	Title      string    `json:"title"`
	Began      time.Time `json:"began"`
	Ended      time.Time `json:"ended,omitzero"`
	// Affected are the launches that it kept from joining.
	Affected int `json:"affected"`
}

// ID is an incident's name at the command line.
func ID(k report.Key) string { return k.Name() }

// ErrNone is that there is no incident of a name.
var ErrNone = errors.New("there is no such incident")

// SeveralError is that a part of a name is one of several.
type SeveralError struct {
	Part string
	IDs  []string
}

func (e *SeveralError) Error() string {
	return fmt.Sprintf("%q is part of %d incidents: %s", e.Part, len(e.IDs), strings.Join(e.IDs, ", "))
}

// List lists the incidents that are said: those that hurt longest first, those that
// are over last. Where some were written by a newer release, the others come with an
// error that has *store.NewerFormat in it.
func List(ctx context.Context, r Records, q Query) ([]Row, error) {
	all, err := read(ctx, r, q.Clusters)
	if all == nil && err != nil {
		return nil, err
	}
	rows := []Row{}
	for _, inc := range all {
		if inc.State == incident.Pending || inc.State == incident.Closed && !q.Closed {
			continue
		}
		rows = append(rows, Row{
			ID: ID(inc.Key), State: string(inc.State), Cluster: inc.Key.Of().String(), Whose: inc.Whose, Nodegroups: slices.Clone(inc.Cause.Nodegroups), Check: string(inc.Key.Check),
			Confidence: string(inc.Cause.Confidence), Title: inc.Cause.Title, Began: inc.Began, Ended: inc.Resolved, Affected: inc.Affected,
		})
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		over := func(r Row) int {
			if r.State == string(incident.Closed) {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(over(a), over(b)), b.Ended.Compare(a.Ended), a.Began.Compare(b.Began), cmp.Compare(a.ID, b.ID))
	})
	return rows, err
}

// Find is the incident of a name, or of the part of one that only one has. The error
// is ErrNone, or names those that the part fits.
func Find(ctx context.Context, r Records, name string) (incident.Incident, error) {
	var clusters []string
	if cluster, _, whole := strings.Cut(name, ":"); whole && strings.Count(name, ":") > 1 {
		clusters = []string{cluster}
	}
	all, err := read(ctx, r, clusters)
	if all == nil && err != nil {
		return incident.Incident{}, err
	}
	var found []incident.Incident
	for _, inc := range all {
		id := ID(inc.Key)
		if id == name {
			return inc, nil
		}
		if inc.State != incident.Pending && strings.Contains(id, name) {
			found = append(found, inc)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return incident.Incident{}, errors.Join(fmt.Errorf("%q: %w; rollcall incidents --all lists them", name, ErrNone), err)
	}
	var ids []string
	for _, inc := range found {
		ids = append(ids, ID(inc.Key))
	}
	slices.Sort(ids)
	return incident.Incident{}, &SeveralError{Part: name, IDs: ids}
}

// read reads the incidents of clusters.
func read(ctx context.Context, r Records, clusters []string) ([]incident.Incident, error) {
	if clusters == nil {
		var err error
		if clusters, err = r.Clusters(ctx); err != nil {
			return nil, err
		}
	}
	all := []incident.Incident{}
	var newer error
	for _, cluster := range clusters {
		list, err := r.Incidents(ctx, cluster)
		var format *store.NewerFormat
		if errors.As(err, &format) {
			newer = err
		} else if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, newer
}
