package nodegroupwatch

import (
	"context"
	"slices"

	"rollcall/shared/gather"
	"rollcall/shared/nodegroup"
	"rollcall/shared/snapshot"
)

// readUpdates reads the updates of those nodegroups that may have new ones.
func (h handler) readUpdates(ctx context.Context, s *snapshot.Snapshot, q gather.Query, v visit, records map[string]nodegroup.Record) {
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

// addSince puts into the snapshot since when each status and issue is known.
func addSince(s *snapshot.Snapshot, records map[string]nodegroup.Record) {
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
