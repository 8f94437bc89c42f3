package enicleanup

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/call"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

func (f *fake) Clusters(context.Context) ([]string, *snapshot.Failure) {
	_ = f.call("list clusters", "")
	return f.names, f.unlisted
}

func (f *fake) Read(_ context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	if err := f.call("read "+q.Cluster, "account %s", q.Account); err != nil {
		return nil, err
	}
	vpc, there := f.homes[q.Cluster]
	if !there {
		return nil, gather.ErrNoCluster
	}
	s := &snapshot.Snapshot{
		Time: q.Time, Account: q.Account, Region: q.Region, Partition: "p", Failures: map[snapshot.Source]snapshot.Failure{},
		Cluster: snapshot.Cluster{Name: q.Cluster, VPC: vpc}, Subnets: []snapshot.Subnet{{ID: "s-1", Zone: "z-1", Free: 1}},
		Read: map[snapshot.Source]bool{snapshot.Clusters: true, snapshot.Instances: true, snapshot.Groups: true},
	}
	if f.blind[snapshot.Clusters] {
		delete(s.Read, snapshot.Clusters)
	}
	return s, nil
}

func (f *fake) More(_ context.Context, s *snapshot.Snapshot, q gather.Query, sources ...snapshot.Source) {
	_ = f.call("look", "%q %s %s %s %s at %s", sources, q.Account, q.Region, q.Cluster, q.VPC, clockOf(q.Time))
	for _, source := range sources {
		if s.Read[source] {
			continue
		}
		if f.blind[source] {
			s.Failures[source] = snapshot.Failure{Source: source, Reason: snapshot.Denied, Call: "ec2:Describe"}
			continue
		}
		s.Read[source] = true
		switch source {
		case snapshot.Usage:
			s.Uses = []snapshot.Use{{Subnet: "s-1", Interfaces: f.uses}}
			s.Read[snapshot.Subnets] = true // they tell what is in use
		case snapshot.Unattached:
			s.Idle = f.idle
		case snapshot.CreatorsOf:
			s.Creators = []snapshot.Creator{{Instance: node}}
		case snapshot.Subnets:
			s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "s-0", Zone: "z-0", Free: 4},
				snapshot.Subnet{ID: "s-1", Zone: "z-1", Free: 7}, snapshot.Subnet{ID: "s-2", Zone: "z-2", Free: 9})
		}
	}
}

func (f *fake) InterfacesByID(_ context.Context, ids []string) ([]snapshot.Interface, *snapshot.Failure) {
	slices.Sort(ids) // what is settled has no order
	if err := f.call("describe", "%s", ids); err != nil {
		return nil, &snapshot.Failure{Call: "ec2:Again", Reason: snapshot.Throttled, Message: err.Error()}
	}
	var list []snapshot.Interface
	for _, i := range f.idle {
		if slices.Contains(ids, i.ID) && (f.again == nil || f.again(&i)) {
			list = append(list, i)
		}
	}
	return list, nil
}

func (f *fake) Sightings(_ context.Context, vpc string) (map[string]leak.Sighting, error) {
	err := f.call("sightings", "%s", vpc)
	return maps.Clone(f.sightings), err
}

func (f *fake) SaveSighting(_ context.Context, vpc string, s leak.Sighting) (leak.Sighting, error) {
	text := fmt.Sprintf("v%d first %s in %s", s.Version, clockOf(s.First), vpc)
	if s.Deleting != nil {
		text += " deleting " + auditText(*s.Deleting)
	}
	err := f.call(s.Interface+" sighting", "%s", text)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		s.Version++
		f.sightings[s.Interface] = s
	}
	return s, err
}

func (f *fake) ForgetSighting(_ context.Context, vpc string, s leak.Sighting) error {
	return f.call(s.Interface+" forget", "v%d in %s", s.Version, vpc)
}

func auditText(a leak.Audit) string {
	text := fmt.Sprintf("%s %s/%s/%s/%s %s %s by %s", a.Result, a.Partition, a.Account, a.Region, a.Cluster, clockOf(a.At), a.Owner, a.Run)
	if a.Request != "" {
		text += " " + a.Request
	}
	if a.Settled {
		text += " settled"
	}
	return text
}

func (f *fake) RecordAudit(_ context.Context, a leak.Audit) (leak.Audit, bool, error) {
	if err := f.call(a.Interface+" audit", "%s", auditText(a)); err != nil {
		return leak.Audit{}, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.audits {
		if x.Interface == a.Interface && x.At.Equal(a.At) {
			return x, false, nil
		}
	}
	f.audits = append(f.audits, a)
	return a, true, nil
}

func (f *fake) Audits(_ context.Context, cluster string, since time.Time) ([]leak.Audit, error) {
	err := f.call("audits of "+cluster, "since %s", clockOf(since))
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []leak.Audit
	for _, a := range f.audits {
		if a.Cluster == cluster && !a.At.Before(since) {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b leak.Audit) int { return -cmp.Compare(a.Interface, b.Interface) })
	return list, err
}

func (f *fake) Pace(_ context.Context, account, region string) (leak.Pace, error) {
	return f.pace, f.call("pace", "%s %s", account, region)
}

func (f *fake) SavePace(_ context.Context, account, region string, p leak.Pace) error {
	return f.call("save pace", "%s %s level %.1f rate %.3f", account, region, p.Level, p.Rate)
}

func (f *fake) CleanupsTold(_ context.Context, cluster string) (map[string]string, error) {
	return f.told, f.call("told of "+cluster, "")
}

func (f *fake) SaveCleanupTold(_ context.Context, cluster, day, digest string) error {
	return f.call("save told", "%s %s %s", cluster, day, digest)
}

func (f *fake) Incidents(_ context.Context, cluster string) ([]incident.Incident, error) {
	return f.incidents, f.call("incidents of "+cluster, "")
}

func (f *fake) DeleteNetworkInterface(_ context.Context, id string, dry bool) call.Answer {
	what := id + " delete"
	if dry {
		what = id + " dry run"
	}
	_ = f.call(what, "")
	f.mu.Lock()
	defer f.mu.Unlock()
	if list := f.answers[id]; len(list) > 0 {
		f.answers[id] = list[1:]
		return list[0]
	}
	if dry {
		return call.Answer{Outcome: call.WouldDo, Request: "req-" + id}
	}
	return call.Answer{Outcome: call.Done, Request: "req-" + id}
}

func (f *fake) TellInterfaces(_ context.Context, events []leak.Event) error {
	var ids []string
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	slices.Sort(ids)
	return f.call("tell deletes", "%s", ids)
}

func (f *fake) Tell(_ context.Context, events []incident.Event) error {
	var lines []string
	for _, e := range events {
		lines = append(lines, fmt.Sprintf("%s %s/%d of %s/%s/%s %s/%s/%s at %s", e.ID, e.Kind, e.Format, e.Cluster, e.Check, e.Resource, e.Partition, e.Account, e.Region, clockOf(e.At)))
	}
	return f.call("tell", "%s", lines)
}

func (f *fake) SendResult(_ context.Context, o report.Observation) error {
	text := fmt.Sprintf("%s read %q", o.Cluster, o.Read)
	for _, b := range o.Blind {
		text += fmt.Sprintf(" blind to %s: %s %s %s %s", b.Source, b.Reason, b.Call, b.Code, b.Message)
	}
	return f.call("send", "%s", text)
}

func (f *fake) SendSummary(_ context.Context, s report.Summary) error {
	c := s.Cleanup
	text := fmt.Sprintf("%s %s/%s/%s %s %s left %d kept %v of %d nodes", s.ID, s.Partition, s.Account, s.Region, c.Mode, c.VPC, c.Left, c.Kept, c.Nodes)
	for _, x := range c.Subnets {
		text += fmt.Sprintf(" %s/%s %d interfaces %d addresses free %d", x.Subnet, x.Zone, x.Interfaces, x.Addresses, x.Free)
	}
	if c.Stopped != nil {
		text += fmt.Sprintf(" stopped %+v", *c.Stopped)
	}
	return f.call("sum up", "%s", text)
}

func (f *fake) SendRemedyResult(_ context.Context, d report.RemedyResult) error {
	return f.call("send run", "%s of %s/%s/%s: %s %q %q changed %s by %s from %s to %s",
		d.ID, d.Key.Cluster, d.Key.Check, d.Key.Resource,
		d.Run.Result, d.Run.Reason, d.Run.Says, d.Run.Changed, d.Run.Requests, clockOf(d.Run.Began), clockOf(d.At))
}
