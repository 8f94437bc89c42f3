package gather

import (
	"slices"
	"testing"

	"rollcall/shared/snapshot"
)

// TestWrittenTypes: names that somebody wrote are described as far as they are types,
// and do not keep the others from being described.
func TestWrittenTypes(t *testing.T) {
	p := open(t, "")
	s, err := p.Read(t.Context(), Query{
		Account: "111122223333", Region: "us-west-2", Time: p.world.Now(), Cluster: "eks-workshop", Sources: []snapshot.Source{snapshot.InstanceTypes},
		Types: []string{"m5.large"}, WrittenTypes: []string{"m5.extra-large", "m5.large", "c5.large"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := names(s.InstanceTypes, func(x snapshot.InstanceType) string { return x.Name })
	if f, failed := s.Failures[snapshot.InstanceTypes]; failed || !slices.Equal(got, []string{"c5.large", "m5.large"}) {
		t.Errorf("types %q, failed %v: %s", got, failed, f.Reason)
	}
}
