package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// degraded gives the worlds' nodegroup a status and an issue, since an hour.
func degraded(status, code string, resources ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		n := &s.Nodegroups[0]
		n.Status, n.Since, n.Desired = status, s.Time.Add(-time.Hour), 3
		n.Issues = []snapshot.Issue{{Code: code, Message: "about " + code, Resources: resources, Since: n.Since}}
	}
}

// What EKS says of a nodegroup is told once, by the name that is nearest to
// the cause.
func TestNodegroupIssuesHaveOneName(t *testing.T) {
	const spot = "Max spot instance count exceeded. Launching EC2 instance failed."
	unjoined := func(s *snapshot.Snapshot) { w.Unjoin(s, w.Node) }
	type list = []func(*snapshot.Snapshot)
	health := []checks.ID{"nodegroup/health", "nodegroup/status"}
	tests := []struct {
		name   string
		faults list
		want   []string
		signs  []checks.ID // of the first
	}{
		{"instances without a route to the internet", list{unjoined, noWayOut, degraded("DEGRADED", "NodeCreationFailure", w.Node)}, []string{"route/no-egress"}, append(slices.Clone(health), "node/not-registered")},
		{"nothing else explains the instances", list{unjoined, degraded("CREATE_FAILED", "NodeCreationFailure", w.Node)}, []string{"nodegroup/health", "node/not-registered"}, []checks.ID{"nodegroup/status"}},
		{"the launch itself fails", list{unjoined, refused(spot), degraded("DEGRADED", "NodeCreationFailure", "DUMMY_7f1c")}, []string{"launch/spot-limit", "node/not-registered"}, health},
		{"Auto Scaling cannot launch", list{unjoined, refused(spot), degraded("DEGRADED", "AsgInstanceLaunchFailures", "eks-workers")}, []string{"launch/spot-limit", "node/not-registered"}, health},
		{"a quota, which the group's activity names too", list{unjoined, refused("VcpuLimitExceeded"), degraded("DEGRADED", "InstanceLimitExceeded")}, []string{"launch/vcpu-limit", "node/not-registered"}, health},
		{"a quota, and the group's activities are old", list{unjoined, degraded("DEGRADED", "InstanceLimitExceeded")}, []string{"nodegroup/health", "node/not-registered"}, nil},
		{"no addresses, and the subnet has none", list{full, unjoined, degraded("DEGRADED", "InsufficientFreeAddresses")}, []string{"ip/subnet-exhausted", "node/not-registered"}, health},
		{"one fault under two names", list{unjoined, func(s *snapshot.Snapshot) { s.AccessEntries, s.Principals = nil, nil }, degraded("DEGRADED", "AccessDenied")}, []string{"iam/access-missing"}, []checks.ID{"node/not-registered"}},
		{"two faults", list{unjoined, noWayOut, degraded("DEGRADED", "AccessDenied")}, []string{"route/no-egress", "nodegroup/health"}, []checks.ID{"node/not-registered"}},
		{"a status alone", list{unjoined, noWayOut, func(s *snapshot.Snapshot) { s.Nodegroups[0].Status = "DELETE_FAILED" }}, []string{"route/no-egress", "nodegroup/status"}, []checks.ID{"node/not-registered"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Instance(s, w.Node).Launched = s.Time.Add(-2 * time.Hour)
			for _, breakIt := range tt.faults {
				breakIt(s)
			}
			d := diagnosis(s)
			var got []string
			for _, c := range d.Causes {
				if c.Confidence != checks.Advice {
					got = append(got, string(c.Check))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Fatalf("causes (-want +got):\n%s", diff)
			}
			signs := slices.Clone(d.Causes[0].Symptoms)
			slices.Sort(signs)
			want := slices.Clone(tt.signs)
			slices.Sort(want)
			if !slices.Equal(signs, want) {
				t.Errorf("symptoms %q, want %q", signs, want)
			}
			for _, c := range d.Causes {
				if strings.HasPrefix(string(c.Check), "nodegroup/") && !slices.Equal(c.Nodegroups, []string{w.Nodegroup}) {
					t.Errorf("%s is told of the nodegroups %q", c.Check, c.Nodegroups)
				}
			}
		})
	}
}
