package nodegroupwatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rollcall/functions/nodegroup-watch/spec"
	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/gather"
	"rollcall/shared/nodegroup"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// visit looks at a cluster's nodegroups and add-ons, tells report what is
// wrong, and anyone what has changed. Report is told before anything is
// remembered: a crash in between leads to telling it twice, which it notices.
func (h handler) visit(ctx context.Context, cluster string, v visit) error {
	now := h.now()
	records, err := h.memory.Nodegroups(ctx, cluster)
	if err != nil {
		return err
	}
	q := gather.Query{
		Account: v.account, Region: h.region, Time: now, Cluster: cluster,
		Nodegroups: v.names, AllNodegroups: v.sweep,
		Sources: []snapshot.Source{snapshot.Nodegroups, snapshot.Addons},
	}
	s, err := h.reader.Read(ctx, q)
	if errors.Is(err, gather.ErrNoCluster) {
		h.log.WarnContext(ctx, "events of a cluster that EKS does not have", "cluster", cluster)
		h.count("ForeignClusters", 1)
		return nil
	}
	if err != nil {
		return err
	}
	s.Account = cmp.Or(s.Account, account(s.Cluster.ARN))
	// Nobody has asked for these yet: that they count as read would be told as
	// the proof that they can be.
	delete(s.Read, snapshot.Instances)
	delete(s.Read, snapshot.Groups)
	h.updates(ctx, s, q, v, records)
	next := compare(s, v, records)
	remember(s, next)
	o, err := h.observe(ctx, s, q, v)
	if err != nil {
		return err
	}
	if err := h.send.SendResult(ctx, o); err != nil {
		return err
	}
	for _, c := range o.Diagnosis.Causes {
		h.log.InfoContext(ctx, "cause found", "cluster", cluster, "check", c.Check, "resource", c.Resource, "confidence", c.Confidence)
	}
	for _, f := range o.Blind {
		h.log.WarnContext(ctx, "could not look", "cluster", cluster, "source", f.Source, "call", f.Call, "reason", f.Reason, "code", f.Code)
	}
	return h.keep(ctx, records, next, now)
}

// updates reads the updates of those nodegroups that may have new ones.
func (h handler) updates(ctx context.Context, s *snapshot.Snapshot, q gather.Query, v visit, records map[string]nodegroup.Record) {
	q.Updated = []string{}
	for _, n := range s.Nodegroups {
		if slices.Contains(v.updated, n.Name) || records[n.Name].WantsUpdates(n) {
			q.Updated = append(q.Updated, n.Name)
		}
	}
	h.reader.More(ctx, s, q, snapshot.Updates)
}

// compare holds what was seen against the records. What was not looked for is
// not absent.
func compare(s *snapshot.Snapshot, v visit, records map[string]nodegroup.Record) map[string]nodegroup.Record {
	next := map[string]nodegroup.Record{}
	if !s.Has(snapshot.Nodegroups) {
		return next
	}
	look := func(name string, n *snapshot.Nodegroup) {
		_, lacks := s.Lacks(snapshot.Updates, name)
		next[name], _ = nodegroup.Compare(records[name], nodegroup.Look{
			At: s.Time, Account: s.Account, Region: s.Region, Partition: s.Partition,
			Cluster: s.Cluster.Name, Nodegroup: name, WokenBy: v.wokenBy(name),
			Seen: n, UpdatesRead: n != nil && s.Has(snapshot.Updates) && !lacks,
		})
	}
	for i := range s.Nodegroups {
		look(s.Nodegroups[i].Name, &s.Nodegroups[i])
	}
	for name := range records {
		if _, seen := next[name]; !seen && (v.sweep || slices.Contains(v.names, name)) {
			look(name, nil)
		}
	}
	return next
}

// account is the account in an ARN: a reminder, which is our own message,
// names none.
func account(arn string) string {
	const field = 4
	if parts := strings.Split(arn, ":"); len(parts) > field {
		return parts[field]
	}
	return ""
}

// remember puts into the snapshot since when each status and issue is known.
func remember(s *snapshot.Snapshot, records map[string]nodegroup.Record) {
	for i := range s.Nodegroups {
		n := &s.Nodegroups[i]
		r, known := records[n.Name]
		if !known {
			continue
		}
		n.Since = r.Since
		for k := range n.Issues {
			if k < len(r.Issues) && r.Issues[k].Code == n.Issues[k].Code {
				n.Issues[k].Since = r.Issues[k].Since
			}
		}
	}
}

// observe runs the checks. Where a nodegroup or an add-on is unwell, what keeps
// its nodes from joining is looked at too, and judged in the same diagnosis:
// what EKS names is often only how something else shows.
func (h handler) observe(ctx context.Context, s *snapshot.Snapshot, q gather.Query, v visit) (report.Observation, error) {
	list := checks.OfHealth()
	var launches []report.Launch
	if t := troubled(s); t.any() {
		var err error
		if launches, err = h.look(ctx, s, q, t); err != nil {
			return report.Observation{}, err
		}
		list = slices.Concat(checks.OfLaunches(), nodegroupChecks())
	}
	o := detect.Observe(spec.Name, s, diagnose.Rank(list, checks.Eval(list, s), s), launches)
	if !v.sweep {
		return o, nil
	}
	o.Sweep = true
	incidents, err := h.memory.Incidents(ctx, s.Cluster.Name)
	if err != nil {
		return report.Observation{}, fmt.Errorf("read the incidents: %w", err)
	}
	o.Absent = append(o.Absent, absent(s, incidents)...)
	return o, nil
}

// nodegroupChecks are those of OfHealth that OfLaunches leaves out.
func nodegroupChecks() []checks.Check {
	have := checks.OfLaunches()
	return slices.DeleteFunc(checks.OfHealth(), func(c checks.Check) bool {
		return slices.ContainsFunc(have, func(o checks.Check) bool { return o.ID == c.ID })
	})
}
