package worldgen

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/worldfile"
)

// TestSeedDecides holds that a seed gives the same world again, and that the
// world survives being written down.
func TestSeedDecides(t *testing.T) {
	for seed := range uint64(20) {
		w := New(seed)
		first, err := w.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := New(seed).YAML()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(first), string(again)); diff != "" {
			t.Errorf("seed %d (-first +again):\n%s", seed, diff)
		}
		file, err := worldfile.Parse("generated", first)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		w.File = file
		read, err := w.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(first), string(read)); diff != "" {
			t.Errorf("seed %d (-written +read):\n%s", seed, diff)
		}
	}
}

// TestFaultsAreMany holds how many checks have a fault of their own here.
func TestFaultsAreMany(t *testing.T) {
	checks, names := map[string]bool{}, map[string]bool{}
	for _, f := range Faults() {
		if names[f.Name] {
			t.Errorf("two faults are called %q", f.Name)
		}
		names[f.Name], checks[string(f.Check)] = true, true
	}
	if len(checks) < 55 {
		t.Errorf("faults for %d checks, want 55", len(checks))
	}
}

// TestFleetsAreMany holds that worlds have Karpenter's and Auto Mode's NodePools, and
// that most faults can be on nodes of both.
func TestFleetsAreMany(t *testing.T) {
	fleets := map[Fleet]int{}
	for seed := range uint64(200) {
		fleets[New(seed).Shape.Fleet]++
	}
	for _, fleet := range []Fleet{ManagedGroup, SelfManaged, Karpenter, AutoMode} {
		if fleets[fleet] < 20 {
			t.Errorf("%d of 200 worlds are of the fleet %s, want 20", fleets[fleet], fleet)
		}
	}
	for fleet, least := range map[Fleet]int{Karpenter: 70, AutoMode: 50} {
		able := 0
		for _, f := range Faults() {
			if f.Except[fleet] == "" {
				able++
			}
		}
		if able < least {
			t.Errorf("nodes of the fleet %s can have %d faults, want %d", fleet, able, least)
		}
	}
}
