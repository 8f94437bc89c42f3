package launchwatch

import (
	"strings"
	"testing"

	"rollcall/local/stage/stagetest"
)

// TestAnAutoModeLaunchIsHeard: of an instance that EKS manages EC2 tells that it
// runs, and no Auto Scaling group does; its lists hide it. It is looked at as
// any other.
func TestAnAutoModeLaunchIsHeard(t *testing.T) {
	const autoNode = "i-0a070000000000001"
	b := bench(t, stagetest.Options{World: "corpus/route-no-egress-auto-mode.yaml", Over: `
ec2:
  Instances:
    - {InstanceId: ` + autoNode + `, LaunchTime: 2026-11-20T14:57:50Z}
`})
	if back := b.Send(running(autoNode)); len(back) > 0 {
		t.Fatalf("gave back %q", back)
	}
	o := b.Observation()
	if got := stagetest.Causes(o)["route/no-egress"]; got != stagetest.Table || len(o.Launches) != 1 || o.Launches[0].Instance != autoNode {
		t.Errorf("causes %v, launches %+v; want the route of %s\n%s", stagetest.Causes(o), o.Launches, autoNode, strings.TrimSpace(b.Logs()))
	}
}
