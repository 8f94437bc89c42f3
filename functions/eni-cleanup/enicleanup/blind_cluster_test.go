package enicleanup

import (
	"context"
	"testing"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/gather"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// blinded is a reader that EKS does not answer about one cluster.
type blinded struct {
	Reader
	cluster string
}

func (b blinded) Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	if q.Cluster != b.cluster {
		return b.Reader.Read(ctx, q)
	}
	return &snapshot.Snapshot{
		Time: q.Time, Account: q.Account, Region: q.Region, Cluster: snapshot.Cluster{Name: q.Cluster}, Read: map[snapshot.Source]bool{},
		Failures: map[snapshot.Source]snapshot.Failure{snapshot.Clusters: {Source: snapshot.Clusters, Reason: snapshot.Throttled, Call: "eks:DescribeCluster"}},
	}, nil
}

// TestBlindCluster: a cluster in mode report that cannot be read may be in the
// VPC, and may have made the interfaces there that name none: they stay, until
// it is read and known to be elsewhere.
func TestBlindCluster(t *testing.T) {
	const second = "second"
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP_UNTAGGED": vpc}})
	m := s.left()
	delete(m.tags, leak.TagCluster)
	untagged, named := s.make(m), s.make(s.left())
	sweep := func(reader Reader) {
		t.Helper()
		s.Advance(cadence)
		h := assemble(s.Env(), reader)
		h.Clusters = []string{stagetest.Cluster, second}
		h.modes = func(cluster string) leak.Mode { return map[string]leak.Mode{stagetest.Cluster: leak.Delete}[cluster] }
		if _, err := h.handle(t.Context(), s.Sweep()); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		sweep(blinded{readerOf(s.Env()), second})
	}
	if !s.there(untagged) || s.there(named) {
		t.Errorf("there: without a name %v, want it; with one %v, want it gone", s.there(untagged), s.there(named))
	}
	// EKS answers, and has no such cluster.
	sweep(readerOf(s.Env()))
	if s.there(untagged) {
		t.Error("it stays, though every watched cluster of the VPC is in mode delete")
	}
}
