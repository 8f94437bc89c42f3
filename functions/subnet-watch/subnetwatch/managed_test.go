package subnetwatch

import (
	"testing"

	"rollcall/functions/subnet-watch/spec"
	"rollcall/local/stage/stagetest"
)

// TestManagedInterfacesBreakBlocks: an interface that an AWS service manages is
// in no list of EC2 unless one asks for it, and breaks a /28 as any other.
func TestManagedInterfacesBreakBlocks(t *testing.T) {
	for world, want := range map[string]struct {
		blocks float64
		cause  string
	}{
		"corpus/ip-fragmented-managed.yaml":         {0, stagetest.Subnet},
		"corpus/ip-fragmented-managed-healthy.yaml": {10, ""},
	} {
		t.Run(world, func(t *testing.T) {
			b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{World: world, Settings: map[string]string{"ROLLCALL_SUBNET_METRICS": "on"}})
			if _, err := b.Handle(b.Sweep()); err != nil {
				t.Fatal(err)
			}
			if got := stagetest.Causes(b.Observation())["ip/fragmented"]; got != want.cause {
				t.Errorf("ip/fragmented of %q, want %q", got, want.cause)
			}
			if _, gauges := b.Numbers(); gauges[stagetest.Subnet]["FreeBlocks"] != want.blocks {
				t.Errorf("%s has %v free /28 blocks, want %v", stagetest.Subnet, gauges[stagetest.Subnet]["FreeBlocks"], want.blocks)
			}
		})
	}
}
