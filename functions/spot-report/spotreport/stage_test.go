package spotreport

import (
	"testing"

	"rollcall/functions/spot-report/spec"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/snapshot"
)

// TestOnTheStage: the real reader, table and queue, under the role's policy.
func TestOnTheStage(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{})
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	if o.Cluster != stagetest.Cluster || o.By != spec.Name || o.Sweep {
		t.Errorf("observation %+v", o)
	}
	for _, source := range []snapshot.Source{snapshot.Clusters, snapshot.Groups, snapshot.Nodegroups, snapshot.Subnets, snapshot.AWSNode, snapshot.InstanceTypes, snapshot.LaunchHistory} {
		found := false
		for _, r := range o.Read {
			found = found || r == source
		}
		if !found {
			t.Errorf("%s was not read: %+v", source, o.Blind)
		}
	}
	calls := b.Calls()
	if n := calls["eks:DescribeNodegroup"]; n != 2 {
		t.Errorf("%d nodegroups were described, want both of the cluster: their pools are judged", n)
	}
	if n := calls["dynamodb:PutItem"]; n == 0 {
		t.Error("no sample was recorded")
	}
}
