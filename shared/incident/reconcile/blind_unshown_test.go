package reconcile

import (
	"testing"

	"rollcall/shared/diagnose"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// TestWhatIsNotShownIsSaid: that EC2 does not show an instance which a node names
// is said in words of its own, with the answer to look at.
func TestWhatIsNotShownIsSaid(t *testing.T) {
	f := snapshot.Failure{Source: snapshot.Instances, Reason: snapshot.NotShown, Call: "ec2:DescribeInstances", Message: "node n names i-1, which EC2 does not show"}
	causes := blindCauses(report.Observation{Diagnosis: diagnose.Diagnosis{Unknown: []diagnose.Unknown{{Check: "node/not-registered", Covers: []string{"i-1"}, Blocked: []snapshot.Failure{f}}}}})
	if len(causes) != 1 {
		t.Fatalf("%d causes, want one", len(causes))
	}
	c := causes[0]
	if want := "cannot look at the instances: ec2:DescribeInstances does not show all that the cluster names"; c.Title != want {
		t.Errorf("title %q, want %q", c.Title, want)
	}
	if n := len(c.Evidence); n != 2 || c.Evidence[1].Value != f.Message || c.Fix.Text == remedyFor(snapshot.Failure{}, spoke.Cluster{}) {
		t.Errorf("evidence %+v, fix %q", c.Evidence, c.Fix.Text)
	}
}
