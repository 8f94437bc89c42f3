// Package nodegroup decides what has changed about managed nodegroups since
// the last look, and says what EKS's codes mean. EKS itself sends no event when
// a nodegroup's status changes: what is decided here becomes that event.
//
// It is pure: no clock, no client, no state but the record it is given.
package nodegroup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/snapshot"
)

// Class is the kind of trouble that a code names.
type Class string

// The classes.
const (
	Join    Class = "join"     // instances run and do not become nodes
	Launch  Class = "launch"   // instances are not started
	Network Class = "network"  // subnets, security groups, the way to the API
	Address Class = "address"  // no free addresses
	IAM     Class = "iam"      // roles, profiles, rights
	Quota   Class = "quota"    // a quota of the account
	Drift   Class = "drift"    // what EKS made was changed or deleted
	Config  Class = "config"   // what was asked for cannot be
	Update  Class = "update"   // an update cannot go on
	Limit   Class = "throttle" // a service asked EKS to slow down
	EKS     Class = "eks"      // a fault inside EKS
	Other   Class = "other"
)

// Code is what a code of EKS means.
type Code struct {
	Class Class
	// Meaning ends the sentence "EKS says: …", without a full stop.
	Meaning string
	// Next is the next step: whole sentences.
	Next string
	// Command is the command that the next step begins with, where it is the
	// same for every nodegroup.
	Command string
	// Symptom reports whether the code says how something shows, not why.
	Symptom bool
	// Disproved reports whether an instance that was started later and became a
	// node shows that it is over, whatever EKS still says.
	Disproved bool
	// Known is false for a code that this version does not know.
	Known bool
}

// OfIssue is the code of a nodegroup's health issue. One that is not known
// here is an Other.
func OfIssue(code string) Code { return codeFor(issueCodes(), code) }

// OfUpdate is the code of an update's error.
func OfUpdate(code string) Code { return codeFor(updateCodes(), code) }

func codeFor(known map[string]Code, code string) Code {
	c, ok := known[code]
	if !ok {
		return Code{
			Class: Other, Meaning: "a code that Rollcall does not know: " + cmp.Or(code, "none is given"),
			Next: "Start from EKS's message and the resources that it names; newer versions of EKS's API reference list the code.",
		}
	}
	c.Known = true
	return c
}

// Look is what was seen of one nodegroup at one time.
type Look struct {
	At                         time.Time
	Account, Region, Partition string
	Cluster, Nodegroup         string
	// WokenBy is what made Rollcall look: an event's type, a call, the sweep.
	WokenBy string
	// Seen is nil where EKS, asked for it, has none of this name.
	Seen *snapshot.Nodegroup
	// UpdatesRead reports whether Seen's updates were read.
	UpdatesRead bool
}

// Reason is why there is something to tell.
type Reason string

// The reasons.
const (
	// FirstSeen: it was never seen before, and is not simply well.
	FirstSeen     Reason = "first-seen"
	StatusChanged Reason = "status-changed" // with its issues, whichever they are now
	IssuesChanged Reason = "issues-changed" // in the same status
	UpdateChanged Reason = "update-changed" // an update began or ended
	Gone          Reason = "deleted"
)

// Change is one thing that is different from the last look.
type Change struct {
	Reason Reason
	// From is the status before; empty for none.
	From string
	// Update is the one that began or ended.
	Update *Done
}

// Compare holds a look against what is remembered, and gives what is to be
// remembered now and what has changed, in order. The record holds the events
// of the changes. A look that is older than the record changes nothing.
func Compare(last Record, l Look) (Record, []Change) {
	if l.At.Before(last.Seen) {
		return last, nil
	}
	r := last
	r.Format, r.Cluster, r.Nodegroup = Format, l.Cluster, l.Nodegroup
	r.Updates, r.Untold = slices.Clone(last.Updates), slices.Clone(last.Untold)
	var changes []Change
	note := func(c Change) {
		changes = append(changes, c)
		r.tell(c, l)
	}
	gone := last.Known() && last.Status != Deleted && (l.Seen == nil || another(last, *l.Seen))
	if gone {
		r.forget(l.At)
		note(Change{Reason: Gone, From: last.Status})
	}
	if l.Seen == nil {
		if r.Known() {
			r.Seen = l.At
			return r, changes
		}
		return last, nil
	}
	if !r.Known() {
		r.First = l.At
	}
	n := *l.Seen
	before := r
	r.Seen, r.Created, r.ARN = l.At, n.Created, n.ARN
	if r.Status = n.Status; r.Status == "" {
		r.Status = "UNKNOWN"
	}
	if r.Status != before.Status {
		r.Since = l.At
	}
	r.Issues = issuesOf(n.Issues, before.Issues, l.At)
	if l.UpdatesRead {
		ended := r.updates(n.Updates)
		r.Modified = n.Modified
		for _, u := range ended {
			note(Change{Reason: UpdateChanged, From: before.Status, Update: &u})
		}
	}
	switch {
	case !before.Known():
		if r.Status != Active || len(r.Issues) > 0 {
			note(Change{Reason: FirstSeen})
		}
	case r.Status != before.Status:
		note(Change{Reason: StatusChanged, From: before.Status})
	case !sameIssues(r.Issues, before.Issues):
		note(Change{Reason: IssuesChanged, From: before.Status})
	}
	return r, changes
}

// another reports whether a nodegroup was deleted and made again under its name.
func another(last Record, n snapshot.Nodegroup) bool {
	return !last.Created.IsZero() && !n.Created.IsZero() && !last.Created.Equal(n.Created)
}

// forget makes the record that of a nodegroup which is gone. Its updates are
// gone with it: whatever one of the same name has later is new.
func (r *Record) forget(at time.Time) {
	r.Status, r.Since, r.Seen = Deleted, at, at
	r.Issues, r.Updates, r.UpdatesRead = nil, nil, true
	r.Modified, r.Again = time.Time{}, time.Time{}
}

// maxUpdates is how many updates are remembered: as many as a look describes.
const maxUpdates = 6

// updates takes in the updates that were read, the newest first, and gives
// those that began or ended since, the oldest first.
func (r *Record) updates(seen []snapshot.Update) []Done {
	first := !r.UpdatesRead
	var newest time.Time
	if len(r.Updates) > 0 {
		newest = r.Updates[0].Created
	}
	known := r.Updates
	var now, changed []Done
	for i, u := range seen {
		d := Done{ID: u.ID, Type: u.Type, Status: u.Status, Created: u.Created, Errors: issuesOf(u.Errors, nil, u.Created)}
		k := slices.IndexFunc(known, func(k Done) bool { return k.ID == u.ID })
		switch {
		case k >= 0 && known[k].Status != InProgress:
			d = known[k] // it has ended: that does not change any more
		case k >= 0 && d.Status != known[k].Status:
			changed = append(changed, d)
		case k >= 0:
		case first:
			// What ended before Rollcall came is reported only where it still counts.
			if i == 0 && (d.Status == InProgress || d.Status == Failed) {
				changed = append(changed, d)
			}
		case d.Status == InProgress || !d.Created.Before(newest):
			changed = append(changed, d)
		}
		now = append(now, d)
	}
	r.Updates, r.UpdatesRead = now[:min(len(now), maxUpdates)], true
	slices.Reverse(changed)
	return changed
}

// EventFormat is the version of Event. Fields may be added without a new one.
const EventFormat = 1

// DetailType is the detail-type of the event.
const DetailType = "EKS Nodegroup Status Change"

// Event is the detail of the event that EKS does not send, on the Rollcall
// bus, for anyone's rule. events/schema/ documents it.
type Event struct {
	// ID is the same each time this event is sent.
	ID     string `json:"id"`
	Format int    `json:"format"`
	// Sequence orders the events of one nodegroup.
	Sequence  int       `json:"sequence"`
	At        time.Time `json:"at"`
	Reason    Reason    `json:"reason"`
	Partition string    `json:"partition"`
	Account   string    `json:"account"`
	Region    string    `json:"region"`
	Cluster   string    `json:"cluster"`
	Nodegroup string    `json:"nodegroup"`
	ARN       string    `json:"arn,omitempty"`

	// Previous is the status before; empty at first sight.
	Previous string       `json:"previous,omitempty"`
	Status   string       `json:"status"`
	Since    time.Time    `json:"since"`
	Issues   []EventIssue `json:"issues,omitempty"`
	Update   *EventUpdate `json:"update,omitempty"`
	WokenBy  string       `json:"wokenBy"`
}

// EventIssue is a health issue, or an update's error, with what it means.
type EventIssue struct {
	Code      string     `json:"code"`
	Class     Class      `json:"class"`
	Meaning   string     `json:"meaning"`
	Next      string     `json:"next"`
	Message   string     `json:"message,omitempty"`
	Resources []string   `json:"resources,omitempty"`
	Since     *time.Time `json:"since,omitempty"`
}

// EventUpdate is the update that began or ended.
type EventUpdate struct {
	ID      string       `json:"id"`
	Type    string       `json:"type,omitempty"`
	Status  string       `json:"status"`
	Created time.Time    `json:"created"`
	Errors  []EventIssue `json:"errors,omitempty"`
}

// maxUntold bounds the outbox while the bus is down (an item of the table holds
// 400 KB, an event of many issues takes ten). Thirty changes of one
// nodegroup are hours of trouble; then the oldest go, and the gap in the
// sequence shows it.
const maxUntold = 30

// tell puts the event of a change into the outbox.
func (r *Record) tell(c Change, l Look) {
	r.Events++
	e := Event{
		ID:     fmt.Sprintf("%s/%s/%s/%d", r.Cluster, r.Nodegroup, r.First.UTC().Format("20060102T150405.000Z"), r.Events),
		Format: EventFormat, Sequence: r.Events, At: l.At, Reason: c.Reason,
		Partition: l.Partition, Account: l.Account, Region: l.Region,
		Cluster: r.Cluster, Nodegroup: r.Nodegroup, ARN: r.ARN,
		Previous: c.From, Status: r.Status, Since: r.Since, WokenBy: l.WokenBy,
	}
	for _, i := range r.Issues {
		known := inEvent(i, OfIssue(i.Code))
		known.Since = &i.Since
		e.Issues = append(e.Issues, known)
	}
	if u := c.Update; u != nil {
		e.Update = &EventUpdate{ID: u.ID, Type: u.Type, Status: u.Status, Created: u.Created}
		for _, i := range u.Errors {
			e.Update.Errors = append(e.Update.Errors, inEvent(i, OfUpdate(i.Code)))
		}
	}
	r.Untold = append(r.Untold, e)
	r.Untold = r.Untold[max(0, len(r.Untold)-maxUntold):]
}

// maxResources is how many of an issue's resources an event names.
const maxResources = 50

func inEvent(i Issue, c Code) EventIssue {
	return EventIssue{
		Code: i.Code, Class: c.Class, Meaning: c.Meaning, Next: c.Next,
		Message: i.Message, Resources: i.Resources[:min(len(i.Resources), maxResources)],
	}
}

// issueCodes are EKS's codes of a nodegroup's health issues (API reference,
// Issue; the SDK's enum NodegroupIssueCode). Of about half of them EKS
// documents nothing but the name.
func issueCodes() map[string]Code {
	return map[string]Code{
		"NodeCreationFailure": {Class: Join, Symptom: true, Disproved: true,
			Meaning: "instances were started and did not register with the cluster in time",
			Next:    "Check the named instances: their path to the API and to the registries, their role, their user data."},
		"AccessDenied": {Class: IAM,
			Meaning: "the cluster's API rejects EKS or the nodes",
			Next:    "Give the node role its access entry (or its line in aws-auth), and restore EKS's own: kubectl get clusterrole eks:node-manager."},
		"ClusterUnreachable": {Class: Network,
			Meaning: "EKS or the nodes cannot reach the cluster's API, or it responds too late",
			Next:    "Check the API's load, failing webhooks, and the nodes' path to the endpoint."},

		"AsgInstanceLaunchFailures": {Class: Launch, Symptom: true, Disproved: true,
			Meaning: "Auto Scaling cannot start instances; its own message has the reason",
			Next:    "Read the failed scaling activities of the nodegroup's group."},
		"AmiIdNotFound": {Class: Launch, Disproved: true,
			Meaning: "the AMI of the launch template does not exist, or is not shared with this account",
			Next:    "Put an AMI of this region that the account can use into a new version of the launch template, and update the nodegroup to it."},
		"Ec2InstanceTypeDoesNotExist": {Class: Config,
			Meaning: "an instance type of the nodegroup does not exist in this region",
			Next:    "Create a nodegroup with types that the region has: aws ec2 describe-instance-type-offerings."},
		"AutoScalingGroupOptInRequired": {Class: Launch,
			Meaning: "the account is not signed up for what the group launches",
			Next:    "Complete the account's sign-up, or subscribe to the AMI in AWS Marketplace."},

		"InsufficientFreeAddresses": {Class: Address, Disproved: true,
			Meaning: "the nodegroup's subnets have too few free addresses for new nodes",
			Next:    "Free addresses, or create a nodegroup in subnets that have some: a nodegroup's subnets cannot be changed."},

		"InstanceLimitExceeded": {Class: Quota, Disproved: true,
			Meaning: "the account has reached its quota of instances of this kind",
			Next:    "Request a higher quota of running vCPUs (Service Quotas, EC2), or terminate instances."},
		"LimitExceeded": {Class: Quota,
			Meaning: "a quota of the account is reached; the message names it",
			Next:    "Request a higher quota, or free what is not used."},
		"IamLimitExceeded": {Class: Quota,
			Meaning: "a quota of IAM is reached: EKS cannot create the instance profile",
			Next:    "Delete unused roles and instance profiles, or request a higher quota of IAM."},
		"Ec2LaunchTemplateMaxLimitExceeded": {Class: Quota,
			Meaning: "the account has reached its quota of launch templates: EKS cannot create its own",
			Next:    "Delete unused launch templates, or request a higher quota."},
		"Ec2LaunchTemplateVersionMaxLimitExceeded": {Class: Quota,
			Meaning: "the launch template has reached its quota of versions",
			Next:    "Delete unused versions."},

		"IamInstanceProfileNotFound": {Class: IAM, Disproved: true,
			Meaning: "the instance profile that EKS made for the nodegroup was deleted",
			Next:    "Recreate an instance profile with the same name, with the node role in it."},
		"IamNodeRoleNotFound": {Class: IAM, Disproved: true,
			Meaning: "the node role was deleted",
			Next:    "Recreate a role with the same name, with trust for ec2.amazonaws.com and the nodes' three policies, and put it into the instance profile: a deleted role leaves the profile empty."},
		"IamThrottling": {Class: Limit,
			Meaning: "IAM throttled EKS",
			Next:    "Wait; if it lasts, find the caller of IAM in CloudTrail."},

		"AutoScalingGroupNotFound": {Class: Drift,
			Meaning: "the nodegroup's Auto Scaling group was deleted",
			Next:    "Recreate a group with the same name and settings, or create a new nodegroup and delete this one."},
		"AutoScalingGroupInvalidConfiguration": {Class: Drift,
			Meaning: "the nodegroup's Auto Scaling group no longer has EKS's settings",
			Next:    "Find who changed the group in CloudTrail (UpdateAutoScalingGroup), and revert it; change a nodegroup only through EKS."},
		"AutoScalingGroupInstanceRefreshActive": {Class: Drift,
			Meaning: "an instance refresh that EKS did not start is running on the nodegroup's group",
			Next:    "Wait for it or cancel it (aws autoscaling cancel-instance-refresh); update nodes through EKS."},
		"AutoScalingGroupRateLimitExceeded": {Class: Limit,
			Meaning: "Auto Scaling throttled EKS",
			Next:    "Wait; if it lasts, find the caller of Auto Scaling in CloudTrail."},

		"Ec2LaunchTemplateNotFound": {Class: Drift,
			Meaning: "the launch template that EKS created for the nodegroup was deleted",
			Next:    "It cannot be recreated under its id: create a new nodegroup and delete this one."},
		"SourceEc2LaunchTemplateNotFound": {Class: Drift,
			Meaning: "your launch template, from which the nodegroup was created, was deleted",
			Next:    "Create a new nodegroup from a template that exists; this one can no longer be updated."},
		"Ec2LaunchTemplateVersionMismatch": {Class: Drift,
			Meaning: "the group launches a different version of the launch template than EKS's",
			Next:    "Set the group back to EKS's version of the template, and change the nodegroup only through EKS."},
		"Ec2LaunchTemplateInvalidConfiguration": {Class: Config,
			Meaning: "the launch template contains something that EKS rejects",
			Next:    "Read the message, correct it in a new version of the template, and update the nodegroup to it."},
		"Ec2LaunchTemplateDeletionFailure": {Class: Drift,
			Meaning: "EKS cannot delete the launch template that it created",
			Next:    "Look for a policy that denies it, delete the template by hand, and delete the nodegroup again."},

		"Ec2SecurityGroupNotFound": {Class: Drift,
			Meaning: "the cluster's security group was deleted",
			Next:    "EKS does not recreate it: the cluster has to be recreated."},
		"Ec2SecurityGroupDeletionFailure": {Class: Network,
			Meaning: "EKS cannot delete the nodegroup's remote access group: something still uses it, often a leaked network interface",
			Next:    "Find what uses it (aws ec2 describe-network-interfaces --filters Name=group-id,Values=…), delete that, and delete the nodegroup again."},
		"Ec2SubnetNotFound": {Class: Drift,
			Meaning: "a subnet of the nodegroup was deleted",
			Next:    "A nodegroup's subnets cannot be changed: create a new nodegroup in subnets that exist."},
		"Ec2SubnetInvalidConfiguration": {Class: Network,
			Meaning: "a public subnet of the nodegroup gives its instances no public address",
			Next:    "Enable it: aws ec2 modify-subnet-attribute --map-public-ip-on-launch; or create the nodegroup in private subnets with a NAT gateway."},
		"Ec2SubnetMissingIpv6Assignment": {Class: Network,
			Meaning: "the cluster is IPv6, and a subnet gives its instances no IPv6 address",
			Next:    "Enable it: aws ec2 modify-subnet-attribute --assign-ipv6-address-on-creation."},
		"Ec2SubnetListTooLong": {Class: Config,
			Meaning: "the nodegroup names more subnets than its group accepts",
			Next:    "Create the nodegroup with fewer subnets."},

		"KubernetesLabelInvalid": {Class: Config,
			Meaning: "Kubernetes rejects a label of the nodegroup",
			Next:    "Remove the label, or use a prefix that is not reserved: aws eks update-nodegroup-config --labels."},

		"PodEvictionFailure": {Class: Update,
			Meaning: "pods could not be evicted from the nodes, usually because a disruption budget allows no evictions",
			Next:    "Find the budget (kubectl get pdb -A, ALLOWED DISRUPTIONS 0), give its pods another replica, and update again; or update with --force, which deletes them.",
			Command: "kubectl get pdb --all-namespaces"},
		"NodeTerminationFailure": {Class: Update,
			Meaning: "EKS cannot terminate nodes of the nodegroup",
			Next:    "Check the group's scaling activities, scale-in protection and instances with termination protection."},

		"InternalFailure": {Class: EKS,
			Meaning: "a fault inside EKS",
			Next:    "Wait; if it lasts, contact AWS Support."},
		"Unknown": {Class: Other,
			Meaning: "EKS does not know the reason",
			Next:    "Read the message, and the group's scaling activities."},
	}
}

// Format is the version of Record that this code writes and reads.
const Format = 1

// Record is what is remembered of one nodegroup. It is also the outbox: what
// is to be published is in Untold before it is published.
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
	// Updates are the latest, the newest first; UpdatesRead reports whether they
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

// Known reports whether anything is remembered.
func (r Record) Known() bool { return r.Status != "" }

// OnItsWay reports whether EKS is at work: another status will come soon.
func (r Record) OnItsWay() bool {
	switch r.Status {
	case Creating, Updating, Deleting:
		return true
	case Deleted:
		return false
	}
	return len(r.Updates) > 0 && r.Updates[0].Status == InProgress
}

// WantsUpdates reports whether a nodegroup's updates have to be read: they were not
// read yet, EKS is at work or has been, or the last one failed.
func (r Record) WantsUpdates(n snapshot.Nodegroup) bool {
	if !r.UpdatesRead || n.Status != Active || !n.Modified.Equal(r.Modified) {
		return true
	}
	return len(r.Updates) > 0 && (r.Updates[0].Status == InProgress || r.Updates[0].Status == Failed)
}

// Same reports whether two records say the same, whenever they were seen.
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

// clip cuts a text from outside: a record has room for 400 KB, an
// event for 256.
func clip(text string) string {
	const limit = 1000
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}

// updateCodes are EKS's codes of what made an update fail (API reference,
// ErrorDetail; the SDK's enum ErrorCode). They are the same for clusters,
// add-ons and nodegroups.
func updateCodes() map[string]Code {
	return map[string]Code{
		"NodeCreationFailure": {Class: Join, Symptom: true,
			Meaning: "the new nodes did not register with the cluster in time",
			Next:    "Check the named instances: their path to the API, their role, their user data. Then update again."},
		"PodEvictionFailure": {Class: Update,
			Meaning: "pods could not be evicted from the old nodes in time, usually because a disruption budget allows no evictions",
			Next:    "Find the budget (kubectl get pdb -A, ALLOWED DISRUPTIONS 0), give its pods another replica, and update again; or update with --force, which deletes them.",
			Command: "kubectl get pdb --all-namespaces"},
		"InsufficientFreeAddresses": {Class: Address,
			Meaning: "the nodegroup's subnets have too few free addresses for the new nodes, which start before the old ones end",
			Next:    "Free addresses, or replace fewer nodes at once (maxUnavailable), and update again."},
		"IpNotAvailable": {Class: Address,
			Meaning: "a subnet has no free address",
			Next:    "Free addresses, and update again."},
		"EniLimitReached": {Class: Quota,
			Meaning: "the account has reached its quota of network interfaces",
			Next:    "Delete unused interfaces, or request a higher quota of them in the region."},
		"SubnetNotFound": {Class: Drift,
			Meaning: "a subnet was deleted",
			Next:    "Create a new nodegroup in subnets that exist."},
		"SecurityGroupNotFound": {Class: Drift,
			Meaning: "a security group was deleted",
			Next:    "Set existing groups in the launch template or the cluster, and update again."},
		"VpcIdNotFound": {Class: Drift,
			Meaning: "the cluster's VPC was deleted",
			Next:    "The cluster cannot be saved: create a new one."},
		"AccessDenied": {Class: IAM,
			Meaning: "the caller of the update, or EKS itself, lacks a permission",
			Next:    "Read the message for which one, grant it, and update again; look for denies of service control policies too."},
		"OperationNotPermitted": {Class: IAM,
			Meaning: "EKS's service role lacks a permission",
			Next:    "Give the cluster role AmazonEKSClusterPolicy, and check that AWSServiceRoleForAmazonEKSNodegroup exists."},
		"ClusterUnreachable": {Class: Network,
			Meaning: "EKS could not reach the cluster's API",
			Next:    "Check the API's load and failing webhooks, and update again."},
		"InsufficientNumberOfReplicas": {Class: Update,
			Meaning: "too few pods became ready",
			Next:    "Read the pods' events: no node to run on, an image that cannot be pulled, or a crash. Then update again."},
		"ConfigurationConflict": {Class: Config,
			Meaning: "someone else changed what the update sets",
			Next:    "Read the message for which field, revert the change or keep it on purpose, and update again."},
		"AdmissionRequestDenied": {Class: Config,
			Meaning: "an admission webhook or policy of the cluster rejected the update's objects",
			Next:    "Exempt kube-system from the policy that the message names, and update again."},
		"UnsupportedAddonModification": {Class: Config,
			Meaning: "the add-on was changed in a way that EKS does not support",
			Next:    "Revert the change, and update again."},
		"K8sResourceNotFound": {Class: Drift,
			Meaning: "a Kubernetes object that the update needs was deleted",
			Next:    "Recreate it, and update again."},
		"Unknown": {Class: Other,
			Meaning: "EKS does not know the reason",
			Next:    "Read the message, and the scaling activities of the nodegroup's group."},
	}
}
