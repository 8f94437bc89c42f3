package remedy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// A plan says where it is done and for which incident, beside what the remedy
// plans.
func TestMake(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Unjoin(s, snapshottest.Node)
	snapshottest.Table(s, snapshottest.PrivateRTB).Routes = []snapshot.Route{snapshottest.Local()}
	of := action.Subject{Cluster: snapshottest.ClusterName, Check: "route/no-egress", Resource: snapshottest.PrivateRTB, Covers: []string{snapshottest.Private}}
	p, no := Of(optin.AddNATRoute).Make(s, of)
	if no != nil {
		t.Fatalf("refused as %s: %s", no.Reason, no.Says)
	}
	want := Plan{
		Format: 1, Remedy: "add-nat-route", Partition: "aws", Account: "123456789012", Region: "us-west-2", Cluster: "prod",
		Check: "route/no-egress", Resource: "rtb-0private",
		Route: &addnatroute.Plan{
			VPC: "vpc-0a", Table: "rtb-0private", Destination: "0.0.0.0/0", NAT: "nat-0a", NATZone: "us-west-2a",
			Zones: []string{"us-west-2a"}, Subnets: []string{"subnet-0private"},
		},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	of.Resource = "rtb-0gone"
	p, no = Of(optin.AddNATRoute).Make(s, of)
	refused := &action.Refusal{Reason: action.Gone, Says: "There is no route table rtb-0gone in vpc-0a."}
	if diff := cmp.Diff(refused, no); diff != "" || !cmp.Equal(p, Plan{}) {
		t.Errorf("planned %+v (-want +got):\n%s", p, diff)
	}
}

// What one plan does not hold is left for the next.
func TestLeft(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	of := action.Subject{
		Cluster: snapshottest.ClusterName, Check: "route/no-egress", Resource: snapshottest.PrivateRTB, Covers: []string{snapshottest.Private},
		Cleared: s.Time.Add(-5 * time.Minute), Most: 1,
	}
	for _, id := range []string{"i-0a", "i-0b", "i-0c"} {
		snapshottest.Launch(s, id, snapshottest.Private, 20*time.Minute)
		s.Groups[0].Instances = append(s.Groups[0].Instances, snapshot.GroupInstance{ID: id, Lifecycle: "InService"})
		s.Groups[0].Desired = len(s.Groups[0].Instances)
		of.Launches = append(of.Launches, outcome.Launch{Instance: id, Started: s.Time.Add(-20 * time.Minute), Status: outcome.Missed})
	}
	if got := Of(optin.ReplaceInstance).Left(s, of); got != 2 {
		t.Errorf("replace-instance leaves %d, want 2", got)
	}
	if got := Of(optin.AddNATRoute).Left(s, of); got != 0 {
		t.Errorf("add-nat-route leaves %d, want none", got)
	}
}

// Its own sources and those of the incident's check are read, each once; the
// launch history is no source that is read of AWS.
func TestSources(t *testing.T) {
	own := []snapshot.Source{"cluster", "creators of network interfaces", "unattached network interfaces", "use of addresses"}
	r := Of(optin.DeleteLeakedInterfaces)
	if diff := cmp.Diff(own, r.Sources("no/check")); diff != "" {
		t.Errorf("no check (-want +got):\n%s", diff)
	}
	withRunway := []snapshot.Source{
		"auto scaling groups", "aws-node", "cluster", "creators of network interfaces", "ec2nodeclasses", "instance types", "nodeclaims", "nodeclasses", "nodepools",
		"subnets", "unattached network interfaces", "use of addresses",
	}
	if diff := cmp.Diff(withRunway, r.Sources("ip/runway")); diff != "" {
		t.Errorf("ip/runway (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(own, r.Sources("no/check")); diff != "" {
		t.Errorf("no check, asked again (-want +got):\n%s", diff)
	}
}
