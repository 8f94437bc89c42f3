package gather

import (
	"testing"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

// TestTypeOfferings holds that the zones of the types that are asked for are read,
// and of all where none is: a type that no zone has is in neither.
func TestTypeOfferings(t *testing.T) {
	p := open(t, "ec2:\n  NotOffered: {us-west-2a: [m5.large, c5.large], us-west-2b: [c5.large], us-west-2c: [c5.large], us-west-2d: [c5.large]}\n")
	read := func(types ...string) []snapshot.TypeOffering {
		t.Helper()
		s, err := p.Read(t.Context(), Query{Account: "111122223333", Region: "us-west-2", Time: p.world.Now(), Cluster: "eks-workshop", Types: types, Sources: []snapshot.Source{snapshot.TypeOfferingsOf}})
		if err != nil || !s.Has(snapshot.TypeOfferingsOf) {
			t.Fatal(err, s.Failures)
		}
		return s.TypeOfferings
	}
	gathertest.Same(t, "offerings", read("m5.large", "c5.large", "m5.xlarge"), []snapshot.TypeOffering{
		{Type: "m5.large", Zones: []string{"us-west-2b", "us-west-2c"}}, {Type: "m5.xlarge", Zones: []string{"us-west-2a", "us-west-2b", "us-west-2c"}},
	})
	if n := len(read()); n < 40 {
		t.Errorf("%d types where none is named, want all of the world but one", n)
	}
}
