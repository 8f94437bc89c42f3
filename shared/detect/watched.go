package detect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/outbox"
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
	o := d.About(report.AllClusters, account)
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

// About is an observation that saw nothing of a cluster's nodes.
func (d Detector) About(cluster, account string) report.Observation {
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

// races is how often a record is read again that somebody else has written.
const races = 3

// LostRaces is the error that somebody else wrote a record each time.
type LostRaces struct{ ID string }

func (e *LostRaces) Error() string {
	return fmt.Sprintf("record what is known of %s: somebody else wrote it %d times", e.ID, races)
}

// SaveLaunch writes a launch. Over a record that another invocation has written
// meanwhile what is known is added: facts only add up. A record that has expired
// is not written anew. The error is *LostRaces where it could not be written
// for others' writes.
func (d Detector) SaveLaunch(ctx context.Context, table Launches, recorded bool, l store.LaunchRecord) error {
	if !recorded {
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
func tags(s *snapshot.Snapshot, d diagnose.Diagnosis, launches []report.Launch) map[string]map[string]string {
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

// namedGroups are the nodegroups that causes and launches name; a launch of a group
// without one names that.
func namedGroups(d diagnose.Diagnosis, launches []report.Launch) map[string]bool {
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
