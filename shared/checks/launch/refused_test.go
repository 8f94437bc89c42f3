package launch

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// refusedPool is a world with a NodePool whose calls were refused from and to so
// long ago.
func refusedPool(class checkid.ID, text string, from, to time.Duration, changes ...func(*snapshot.RefusedLaunch)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	r := snapshot.RefusedLaunch{
		Launcher: "nodepool/gpu", Class: class, Call: "CreateFleet", Text: text, By: "arn:aws:iam::123456789012:role/karpenter", Asked: 3,
		First: s.Time.Add(-from), Last: s.Time.Add(-to), Types: []string{"g5.xlarge", "g5.2xlarge"}, Subnets: []string{snapshottest.Private}, Offers: 2,
	}
	for _, change := range changes {
		change(&r)
	}
	s.Refused = []snapshot.RefusedLaunch{r}
	return s
}

const (
	noCapacity = "InsufficientInstanceCapacity: There is no Spot capacity available that matches your request."
	notAllowed = "UnauthorizedOperation: You are not authorized to perform this operation. because no identity-based policy allows the ec2:CreateFleet action"
)

func TestRefusedLaunches(t *testing.T) {
	const well = "pass prod [eks-workers nodepool/gpu]"
	for _, tt := range []struct {
		name  string
		check check.Check
		world *snapshot.Snapshot
		want  []string
	}{
		{"not allowed", Unauthorized(), refusedPool(checkid.LaunchUnauthorized, notAllowed, 0, 0), []string{
			"fail nodepool/gpu [nodepool/gpu] [] NodePool gpu cannot launch: who launches lacks a permission", "pass prod [eks-workers]",
		}},
		{"of another class", PolicyDenied(), refusedPool(checkid.LaunchUnauthorized, notAllowed, 0, 0), []string{well}},
		{"a shortage that stays, in a subnet", InsufficientCapacity(), refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, 9*time.Minute, time.Minute), []string{
			"fail nodepool/gpu [nodepool/gpu] [] NodePool gpu cannot launch: EC2 has no capacity", "pass prod [eks-workers]",
		}},
		{"a shortage of a moment", InsufficientCapacity(), refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, time.Minute, time.Minute), []string{well}},
		{"an instance since", Unauthorized(), refusedPool(checkid.LaunchUnauthorized, notAllowed, 20*time.Minute, 15*time.Minute, func(r *snapshot.RefusedLaunch) {
			r.Worked = r.Last.Add(time.Second)
		}), []string{well}},
		{"two hours ago", Unauthorized(), refusedPool(checkid.LaunchUnauthorized, notAllowed, 2*time.Hour, 2*time.Hour), []string{well}},
		{"no pool: who called", Unauthorized(), refusedPool(checkid.LaunchUnauthorized, notAllowed, 0, 0, func(r *snapshot.RefusedLaunch) { r.Launcher = "role/ci" }), []string{
			"pass prod [eks-workers]", "fail role/ci [role/ci] [] role ci cannot launch: who launches lacks a permission",
		}},
		{"a full subnet is the pool's too", SubnetFull(), refusedPool(checkid.LaunchSubnetFull, "InsufficientFreeAddressesInSubnet: There are insufficient free addresses in that subnet to run instance", 9*time.Minute, 0), []string{
			"fail nodepool/gpu [nodepool/gpu] [] NodePool gpu cannot launch: the subnet has no free address", "pass prod [eks-workers]",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := checktest.Lines(checktest.EvalOne(t, tt.check, tt.world)); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What is said of a run does not change while it goes on: each change were an edit
// of the message.
func TestRefusedLaunchIsSaidTheSame(t *testing.T) {
	say := func(to time.Duration) string {
		for _, r := range checktest.EvalOne(t, Unauthorized(), refusedPool(checkid.LaunchUnauthorized, notAllowed, 50*time.Minute, to)) {
			if len(r.Evidence) > 0 {
				text := r.Title + r.Why + r.Fix.Text + r.Fix.Command
				for _, e := range r.Evidence {
					text += "\n" + e.What + ": " + e.Value
				}
				return text
			}
		}
		t.Fatal("it does not fail")
		return ""
	}
	first, later := say(50*time.Minute), say(0)
	if first != later || !strings.Contains(first, "for 3 instances") || !strings.Contains(first, "2 types and subnets were told so: g5.xlarge and g5.2xlarge") {
		t.Errorf("first\n%s\nlater\n%s", first, later)
	}
}
