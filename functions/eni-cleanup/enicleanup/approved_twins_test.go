package enicleanup

import (
	"context"
	"testing"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/gather"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
)

// twins is a reader that knows a second cluster in the same VPC.
type twins struct {
	Reader
	second string
}

func (w twins) Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	name := q.Cluster
	if name == w.second {
		q.Cluster = stagetest.Cluster
	}
	s, err := w.Reader.Read(ctx, q)
	if s != nil {
		s.Cluster.Name = name
	}
	return s, err
}

// TestApprovalIsOfOneCluster: what was approved for one cluster deletes nothing
// of another one in the VPC, nor what names none, though the plan names them and
// both clusters are watched. The approved one of its own goes.
func TestApprovalIsOfOneCluster(t *testing.T) {
	const second = "second"
	s, own, _ := asked(t, optin.Approve)
	m := s.left()
	m.tags[leak.TagCluster] = second
	theirs := s.make(m)
	n := s.left()
	delete(n.tags, leak.TagCluster)
	untagged := s.make(n)
	handle := func(sweep bool) {
		t.Helper()
		h := assemble(s.Env(), twins{readerOf(s.Env()), second})
		h.Clusters, h.untagged = []string{stagetest.Cluster, second}, []string{vpc}
		raw := s.approval()
		if sweep {
			raw = s.Sweep()
		}
		if _, err := h.handle(t.Context(), raw); err != nil {
			t.Fatal(err)
		}
	}
	handle(true)
	s.Advance(cadence)
	list, err := s.Store.Incidents(t.Context(), stagetest.Cluster)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	inc := list[0]
	inc.Offers[0].Plan.Cleanup.Interfaces = []string{own, theirs, untagged}
	inc.Offers[0].Hash = inc.Offers[0].Plan.Hash()
	s.rewrite(inc)
	handle(false)
	if s.there(own) || !s.there(theirs) || !s.there(untagged) {
		t.Errorf("there: its own %v, want it gone; another cluster's %v, nobody's %v, want both", s.there(own), s.there(theirs), s.there(untagged))
	}
	if d := s.runs(); len(d) != 1 || d[0].Result != action.Partly || len(d[0].Changed) != 1 {
		t.Errorf("runs %+v", d)
	}
}
