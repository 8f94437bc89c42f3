package detect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/shared/access/denial"
	"rollcall/shared/checkid"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/outcome"
	"rollcall/shared/node/refusal"
	"rollcall/shared/outbox"
	"rollcall/shared/ownership"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// Known is what is known of clusters before they are listed.
type Known interface {
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	ClusterRecords(ctx context.Context) ([]outbox.ClusterRecord, error)
}

// Watched are the clusters of a sweep: those that the settings name; else all that EKS
// lists, and those with open incidents that it does not list. Whether such a one was
// deleted is asked of EKS by its name. Where the list cannot be read that is said, and
// what is known to be in trouble is swept all the same.
func (d Detector) Watched(ctx context.Context, account string, known Known) ([]string, error) {
	if d.Clusters != nil && d.Spoke.Hub() {
		return d.Clusters, nil
	}
	listed, failed := d.Reader.Clusters(ctx)
	if err := d.tellList(ctx, account, known, failed); err != nil {
		return nil, err
	}
	switch {
	case failed != nil && failed.Call == AssumeRole:
		return []string{}, nil // of such a spoke nothing can be read: that is said once, not for each cluster
	case d.Clusters != nil:
		return d.Clusters, nil
	}
	names := append([]string{}, listed...) // never nil, which would be all of the region
	records, err := known.ClusterRecords(ctx)
	if err != nil {
		d.Log.WarnContext(ctx, "which clusters have open incidents is not known", "error", err.Error())
	}
	for _, r := range records {
		if r.Open && r.Cluster != report.AllClusters && !slices.Contains(names, r.Cluster) {
			names = append(names, r.Cluster)
		}
	}
	return names, nil
}

// tellList says that the clusters cannot be listed, and takes it back when they
// can.
func (d Detector) tellList(ctx context.Context, account string, known Known, failed *snapshot.Failure) error {
	o := d.NewObservation(report.AllClusters, account)
	if failed != nil {
		d.Log.ErrorContext(ctx, "the clusters cannot be listed", "call", failed.Call, "reason", failed.Reason, "code", failed.Code, "error", failed.Message)
		d.Count("BlindSweeps", 1)
		o.Blind = []snapshot.Failure{*failed}
		return d.Tell(ctx, o)
	}
	open, err := known.Incidents(ctx, report.AllClusters)
	if err != nil {
		return fmt.Errorf("read what was said of the list of clusters: %w", err)
	}
	if !slices.ContainsFunc(open, func(i incident.Incident) bool { return i.State != incident.Closed }) {
		return nil
	}
	o.Read = []snapshot.Source{snapshot.Clusters}
	return d.Tell(ctx, o)
}

// NewObservation is an observation that saw nothing of a cluster's nodes.
func (d Detector) NewObservation(cluster, account string) report.Observation {
	now := d.Now()
	return report.Observation{
		Format: report.Format, ID: d.By + "/" + cluster + "/" + now.UTC().Format(time.RFC3339Nano), By: d.By, At: now,
		Account: account, Region: d.Region, Partition: spoke.Partition(d.Region), Cluster: cluster, Sweep: true,
	}
}

// Writers bounds the writes at once: a burst of a thousand launches is recorded
// in some seconds, and the table is not flooded.
const Writers = 16

// Launches is the table of launches, which several invocations write.
type Launches interface {
	GetLaunches(ctx context.Context, instances []string) (map[string]store.LaunchRecord, error)
	CreateLaunch(ctx context.Context, l store.LaunchRecord) (created bool, err error)
	SaveLaunch(ctx context.Context, l store.LaunchRecord) error
}

// races is how often a record is read again that another writer changed.
const races = 3

// LostRaces is the error that another writer changed a record each time.
type LostRaces struct{ ID string }

func (e *LostRaces) Error() string {
	return fmt.Sprintf("record what is known of %s: somebody else wrote it %d times", e.ID, races)
}

// SaveLaunch writes a launch, over its record if it was read from one. Over a record that another invocation has written
// meanwhile what is known is added: facts only add up. A record that has expired
// is not written anew. The error is *LostRaces where it could not be written
// for others' writes.
func (d Detector) SaveLaunch(ctx context.Context, table Launches, l store.LaunchRecord) error {
	if !l.Recorded() {
		created, err := table.CreateLaunch(ctx, l)
		if err != nil || created {
			return err
		}
	} else if err := table.SaveLaunch(ctx, l); !conflicts(err) {
		return err
	}
	for range races {
		d.Count("LostRaces", 1)
		list, err := table.GetLaunches(ctx, []string{l.ID()})
		if err != nil {
			return fmt.Errorf("read the launch of %s again: %w", l.ID(), err)
		}
		other, ok := list[l.ID()]
		if !ok {
			return nil // expired
		}
		changed := other.Learn(l.Known())
		if !other.Status.Final() && other.Status != l.Status && l.Status == outcome.Missed {
			other.Status, changed = l.Status, true
		}
		if !changed {
			return nil
		}
		if err := table.SaveLaunch(ctx, other); !conflicts(err) {
			return err
		}
	}
	return &LostRaces{l.ID()}
}

func conflicts(err error) bool {
	var conflict *store.Conflict
	return errors.As(err, &conflict)
}

// tags are those of the nodegroups that causes and launches name, by nodegroup:
// channels are chosen by them. A node of an Auto Scaling group without a managed
// nodegroup goes by that group's.
func tags(s *snapshot.Snapshot, d diagnosis.Diagnosis, launches []report.Launch) map[string]map[string]string {
	named := namedGroups(d, launches)
	all := map[string]map[string]string{}
	for _, g := range s.Groups {
		name := g.Owner()
		if g.Tags[nodegroupTag] != "" {
			name = g.Name
		}
		if (named[name] || named[g.Name]) && len(g.Tags) > 0 {
			all[name] = maps.Clone(g.Tags)
		}
	}
	for _, n := range s.Nodegroups {
		if named[n.Name] && len(n.Tags) > 0 {
			all[n.Name] = maps.Clone(n.Tags)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// mostTagged bounds what tagged returns, in bytes: a message holds much else. It is room for
// two hundred tags of a common length.
const mostTagged = 16 << 10

// tagged are the things that causes and launches are about, with the labels and tags that
// may name their owner, nearest first.
func tagged(s *snapshot.Snapshot, d diagnosis.Diagnosis, launches []report.Launch) []report.Tagged {
	if len(d.Causes) == 0 && len(launches) == 0 {
		return nil
	}
	named, subnets := namedGroups(d, launches), map[string]bool{}
	for _, l := range launches {
		subnets[l.Subnet] = true
	}
	for _, c := range d.Causes {
		for _, cover := range c.Covers {
			subnets[cover], named[cover] = true, true
		}
	}
	var all []report.Tagged
	room := mostTagged
	add := func(kind ownership.Kind, name string, near ...map[string]string) {
		thing := report.Tagged{Kind: kind, Name: name, Tags: map[string]string{}}
		for _, tags := range slices.Backward(near) {
			for key, value := range tags {
				if !strings.HasPrefix(key, "aws:") { // AWS's own name no owner
					thing.Tags[key] = value
				}
			}
		}
		size := len(name)
		for key, value := range thing.Tags {
			size += len(key) + len(value)
		}
		if len(thing.Tags) > 0 && size <= room {
			all, room = append(all, thing), room-size
		}
	}
	grouped := tags(s, d, launches)
	for _, n := range s.Nodegroups {
		if named[n.Name] {
			var group map[string]string
			for _, g := range s.Groups {
				if g.Tags[nodegroupTag] == n.Name {
					group = g.Tags
				}
			}
			add(ownership.Nodegroup, n.Name, n.Labels, n.Tags, group)
			delete(grouped, n.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(grouped)) {
		add(ownership.Nodegroup, name, grouped[name])
	}
	for _, p := range s.NodePools {
		if named[p.Name] || named[snapshot.PoolKey(p.Name)] {
			var class snapshot.NodeClass
			for _, c := range slices.Concat(s.EC2NodeClasses, s.AutoNodeClasses) {
				if c.Name == p.Class.Name {
					class = c
				}
			}
			add(ownership.NodePool, p.Name, p.Own, p.Labels, class.Labels, class.Tags)
		}
	}
	for _, subnet := range s.Subnets {
		if subnets[subnet.ID] {
			add(ownership.Subnet, subnet.ID, subnet.Tags)
		}
	}
	for _, v := range s.VPCs {
		if v.ID == s.Cluster.VPC {
			add(ownership.VPC, v.ID, v.Tags)
		}
	}
	add(ownership.Cluster, s.Cluster.Name, s.Cluster.Tags)
	return all
}

// controlPlaneLogs is the log group of the cluster's control plane, if it has one (EKS user
// guide, "Send control plane logs to CloudWatch Logs": /aws/eks/my-cluster/cluster).
func controlPlaneLogs(s *snapshot.Snapshot) report.Logs {
	if !s.Cluster.Logs {
		return report.Logs{}
	}
	return report.Logs{Group: "/aws/eks/" + s.Cluster.Name + "/cluster", Region: s.Region}
}

// namedGroups are the nodegroups that causes and launches name; a launch of a group
// without one names that.
func namedGroups(d diagnosis.Diagnosis, launches []report.Launch) map[string]bool {
	named := map[string]bool{}
	for _, c := range d.Causes {
		for _, name := range c.Nodegroups {
			named[name] = true
		}
	}
	for _, l := range launches {
		if l.Nodegroup != "" {
			named[l.Nodegroup] = true
		} else {
			named[l.Group] = true
		}
	}
	return named
}

// Refused is the record of a launch that came to nothing, by the scaling
// activity that tells of it; false for an activity that is none. The same
// activity is the same record, whether its event or a sweep brought it. One
// that names an instance is that instance's launch.
func Refused(cluster string, g snapshot.Group, a snapshot.Activity, allowed outcome.Allowance) (store.LaunchRecord, bool) {
	text := activity.Reason(a.About, a.Message)
	if a.ID == "" || !activity.Launching(a.About, a.Message) || activity.StatusOf(a.Status, text) != activity.Failed {
		return store.LaunchRecord{}, false
	}
	v := activity.Classify(text)
	if a.Instance != "" && v.Class == checkid.LaunchUnclassified {
		return store.LaunchRecord{}, false // it was there, and EC2 says how it ended
	}
	started := a.Started
	if started.IsZero() {
		started = a.Ended
	}
	l := store.LaunchRecord{
		Launch:   outcome.Launch{Instance: a.Instance, Nodegroup: g.Owner(), Group: g.Name, Subnet: cmp.Or(a.Subnet, v.Named.Subnet), Zone: a.Zone, Started: started},
		Activity: a.ID,
		Cluster:  cluster,
		Due:      started.Add(allowed.For),
	}
	l.Learn(refusedFor(v, text))
	return l, true
}

func refusedFor(v activity.Verdict, text string) outcome.Facts {
	return outcome.Facts{Refused: v.Class, Reason: outcome.EndReason{Message: activity.Clean(text)}}
}

// recent is how long a failed launch is looked for among the scaling
// activities: a sweep comes every five minutes.
const recent = time.Hour

// RefusedOf are the refused launches of the last hour that the groups' scaling
// activities tell of, oldest first as they were read.
func RefusedOf(cluster string, s *snapshot.Snapshot, learned Learned) []store.LaunchRecord {
	groups := map[string]snapshot.Group{}
	for _, g := range s.Groups {
		groups[g.Name] = g
	}
	var list []store.LaunchRecord
	for _, a := range s.Activities {
		g, ours := groups[a.Group]
		if !ours {
			continue
		}
		if l, refused := Refused(cluster, g, a, learned.Allow(g.Owner())); refused && s.Time.Sub(l.Started) <= recent {
			list = append(list, l)
		}
	}
	return list
}

// RefusedCall is the launch that a refused call was, of whoever its tags name:
// those of the request, or of its launch template. It is named by the one class of
// its errors that is for sure no shortage, else by the one that most of the types
// and subnets were told.
func RefusedCall(t event.Trigger, tags map[string]string) snapshot.RefusedLaunch {
	r := t.Refusal
	out := snapshot.RefusedLaunch{
		Launcher: cmp.Or(snapshot.LauncherOf(tags), snapshot.RoleKey(r.Caller[strings.LastIndex(r.Caller, "/")+1:])),
		Call:     t.Call, By: r.Caller, Asked: r.Asked, Spot: r.Spot, First: t.Time, Last: t.Time,
	}
	offers := map[checkid.ID]int{}
	classes := make([]checkid.ID, len(r.Errors))
	for i, e := range r.Errors {
		classes[i] = activity.Classify(textOf(e)).Class
		offers[classes[i]] += e.Offers
	}
	for i, class := range classes {
		if out.Class == "" || before(class, out.Class, offers) {
			out.Class, out.Text = class, activity.Clean(textOf(r.Errors[i]))
			out.Encoded, out.Undecoded = "", ""
			if message, whole := denial.Encoded(r.Errors[i].Message); whole {
				out.Encoded = message
			} else if message != "" {
				out.Undecoded = denial.Cut
			}
		}
	}
	out.Offers = offers[out.Class]
	for i, e := range r.Errors {
		if classes[i] != out.Class {
			out.Other = append(out.Other, e.Code)
			continue
		}
		out.Subnets, out.Zones, out.Types = append(out.Subnets, e.Subnets...), append(out.Zones, e.Zones...), append(out.Types, e.Types...)
	}
	out.Other, out.Subnets, out.Zones, out.Types = Distinct(out.Other), Distinct(out.Subnets), Distinct(out.Zones), Distinct(out.Types)
	return out
}

// textOf is an error as SDKs write it.
func textOf(e event.LaunchError) string {
	return strings.Trim(e.Code+": "+e.Message, ": ")
}

// before reports whether of two classes of one answer the first is to be told.
func before(a, b checkid.ID, offers map[checkid.ID]int) bool {
	if pass := refusal.Passes(a); pass != refusal.Passes(b) {
		return !pass
	}
	return offers[a] > offers[b] || offers[a] == offers[b] && a < b
}

// RefusedTable is where runs of refused launches are remembered.
type RefusedTable interface {
	RefusedLaunches(ctx context.Context, cluster string) ([]store.RefusedRecord, error)
	SaveRefusedLaunch(ctx context.Context, r store.RefusedRecord) error
}

// Runs are a cluster's runs of refused launches, with what was seen of them since.
type Runs struct{ list []run }

type run struct {
	store.RefusedRecord
	changed, began bool
}

// Began reports whether a run began that is a fault at once: it is to be told now. Of
// the others the sweep tells, as soon as they are one.
func (r *Runs) Began(now time.Time) bool {
	return slices.ContainsFunc(r.list, func(x run) bool { return x.began && refusal.Stands(x.RefusedLaunch, now) == refusal.Refused })
}

// NewRuns are those that are remembered.
func NewRuns(records []store.RefusedRecord) *Runs {
	r := &Runs{}
	for _, x := range records {
		r.list = append(r.list, run{RefusedRecord: x})
	}
	return r
}

// Take takes in a refused call.
func (r *Runs) Take(cluster string, call snapshot.RefusedLaunch) {
	i := slices.IndexFunc(r.list, func(x run) bool { return x.Launcher == call.Launcher && x.Class == call.Class })
	var have *snapshot.RefusedLaunch
	if i >= 0 {
		have = &r.list[i].RefusedLaunch
	}
	next, change := refusal.Take(have, call)
	if change == refusal.Nothing {
		return
	}
	if i < 0 {
		i, r.list = len(r.list), append(r.list, run{RefusedRecord: store.RefusedRecord{Cluster: cluster}})
	}
	r.list[i].RefusedLaunch, r.list[i].changed = next, true
	r.list[i].began = r.list[i].began || change == refusal.Began
}

// mostDecoded is how many messages a batch decodes.
const mostDecoded = 2

// Decode has the message of each run that begins decoded: those of its later calls
// say the same.
func (r *Runs) Decode(decode func(message string) snapshot.DecodedMessage) {
	tried := 0
	for i := range r.list {
		x := &r.list[i]
		if !x.began || x.Encoded == "" {
			continue
		}
		if tried++; tried > mostDecoded {
			x.Undecoded = denial.Others
			continue
		}
		m := decode(x.Encoded)
		x.Encoded, x.Denial = "", m.Denial
		if m.Failure != nil {
			x.Undecoded = denial.Undecodable(*m.Failure)
		}
	}
}

// Started takes in which instances were started: one that runs shows that its
// launcher may launch.
func (r *Runs) Started(instances []snapshot.Instance) {
	for i := range r.list {
		for _, in := range instances {
			if in.State != "running" || snapshot.LauncherOf(in.Tags) != r.list[i].Launcher {
				continue
			}
			next, news := refusal.Work(r.list[i].RefusedLaunch, in.Launched)
			r.list[i].RefusedLaunch, r.list[i].changed = next, r.list[i].changed || news
		}
	}
}

// Launches are the runs as the checks see them.
func (r *Runs) Launches() []snapshot.RefusedLaunch {
	var list []snapshot.RefusedLaunch
	for _, x := range r.list {
		list = append(list, x.RefusedLaunch)
	}
	return list
}

// SaveRuns remembers what has changed. Where another writer was first,
// again reads the runs once more: what is seen only adds up.
func (d Detector) SaveRuns(ctx context.Context, table RefusedTable, r *Runs, again func(context.Context) (*Runs, error)) error {
	for range races {
		err := r.save(ctx, table)
		if !conflicts(err) {
			return err
		}
		d.Count("LostRaces", 1)
		if r, err = again(ctx); err != nil {
			return err
		}
	}
	if err := r.save(ctx, table); err != nil {
		return fmt.Errorf("record refused launches: %w", err)
	}
	return nil
}

func (r *Runs) save(ctx context.Context, table RefusedTable) error {
	var errs []error
	for i, x := range r.list {
		if !x.changed {
			continue
		}
		if err := table.SaveRefusedLaunch(ctx, x.RefusedRecord); err != nil {
			errs = append(errs, err)
			continue
		}
		r.list[i].changed = false
	}
	return errors.Join(errs...)
}
