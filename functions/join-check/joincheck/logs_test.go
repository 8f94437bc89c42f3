package joincheck

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/config"
	"rollcall/shared/snapshot"
)

// TestLogsOfAutoMode: the log tells what a NodeClaim does not. Without it, and where it
// may not be read, all else is judged as if nobody had asked; the permission is named.
func TestLogsOfAutoMode(t *testing.T) {
	const world, denied = "corpus/launch-policy-denied-auto-mode.yaml", "launch/policy-denied"
	calls := []string{"DescribeDeliverySources", "DescribeDeliveries", "DescribeDeliveryDestinations", "FilterLogEvents"}
	for name, tt := range map[string]struct {
		setting string
		fault   simaws.FaultRule
		causes  map[string]string
		blind   string
		calls   int // of the four
	}{
		"read":               {"/aws/vendedlogs/eks/*", simaws.FaultRule{}, map[string]string{denied: gpu}, "", 4},
		"off":                {"off", simaws.FaultRule{}, map[string]string{}, "", 0},
		"another log group":  {"/aws/vendedlogs/vpc/*", simaws.FaultRule{}, map[string]string{}, "", 3},
		"no record":          {"/aws/vendedlogs/eks/*", simaws.FaultRule{Call: "logs:FilterLogEvents", Deny: true}, map[string]string{}, "logs:FilterLogEvents", 4},
		"no list":            {"/aws/vendedlogs/eks/*", simaws.FaultRule{Call: "logs:DescribeDeliverySources", Deny: true}, map[string]string{}, "logs:DescribeDeliverySources", 1},
		"the list is slowed": {"/aws/vendedlogs/eks/*", simaws.FaultRule{Call: "logs:DescribeDeliveries", Throttle: 1}, map[string]string{}, "logs:DescribeDeliveries", 2},
	} {
		t.Run(name, func(t *testing.T) {
			o := stagetest.Options{World: world, ClusterRole: true, Settings: map[string]string{string(config.AutoModeLogs): tt.setting}}
			if tt.fault.Call != "" {
				o.Faults = []simaws.FaultRule{tt.fault}
			}
			b := bench(t, o)
			b.Advance(12 * time.Minute)
			seen := sweeps(t, b)
			causes := stagetest.Causes(seen)
			delete(causes, "route/cross-zone-nat") // the advice of every such world
			if diff := cmp.Diff(tt.causes, causes); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
			blind := ""
			for _, f := range seen.Blind {
				if f.Source == snapshot.AutoModeLogsOf {
					blind = f.Call
				}
			}
			if blind != tt.blind || len(seen.Blind) > 0 != (tt.blind != "") {
				t.Errorf("could not look at %+v, want %q alone", seen.Blind, tt.blind)
			}
			n, made := 0, b.Calls()
			for _, call := range calls {
				if made["logs:"+call] > 0 {
					n++
				}
			}
			if n != tt.calls {
				t.Errorf("%d of the calls were made, want %d: %v", n, tt.calls, made)
			}
		})
	}
}
