package joincheck

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/local/simaws"

	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/outbox"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/report"
)

// opened has an incident of a cluster in the table, as report leaves it.
func opened(t *testing.T, b *stagetest.Bench, cluster string) {
	t.Helper()
	obs := report.Observation{Format: report.Format, ID: "x", By: "join-check", At: b.Now(), Cluster: cluster}
	obs.Diagnosis.Causes = []diagnose.Cause{{Check: "addon/degraded", Resource: "vpc-cni", Covers: []string{"vpc-cni"}, Confidence: checks.Certain, Title: "x"}}
	for _, d := range reconcile.Decide(nil, obs, b.Now(), incident.Policy{}) {
		if _, err := b.Store.SaveIncident(t.Context(), d.Incident); err != nil {
			t.Fatal(err)
		}
	}
	r := outbox.ClusterRecord{Cluster: cluster}
	r.Follow(true, false, b.Now())
	if err := b.Store.SaveClusterRecord(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// of are the observations of a cluster.
func of(b *stagetest.Bench, cluster string) []report.Observation {
	return slices.DeleteFunc(b.Observations(), func(o report.Observation) bool { return o.Cluster != cluster })
}

const deleted = "deleted-cluster"

// A cluster with open incidents is asked for by its name, whether it is listed or not:
// only EKS's answer that it has none closes them.
func TestDeletedCluster(t *testing.T) {
	for name, test := range map[string]struct {
		faults  []simaws.FaultRule
		cluster string
		named   string
		want    bool
	}{
		"deleted":                            {nil, deleted, "", true},
		"deleted, and named by the settings": {nil, deleted, deleted, true},
		"it may not be described":            {[]simaws.FaultRule{{Call: "eks:DescribeCluster", Deny: true}}, deleted, "", false},
		"EKS throttles":                      {[]simaws.FaultRule{{Call: "eks:DescribeCluster", Throttle: 1}}, deleted, "", false},
		"EKS fails":                          {[]simaws.FaultRule{{Call: "eks:DescribeCluster", Fail: 1}}, deleted, "", false},
		"it is there":                        {nil, stagetest.Cluster, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := stagetest.Options{World: healthy.World, Over: healthy.Over, Faults: test.faults}
			if test.named != "" {
				o.Settings = map[string]string{"ROLLCALL_CLUSTERS": test.named}
			}
			b := bench(t, o)
			opened(t, b, test.cluster)
			if _, err := b.Handle(b.SweepOf(test.cluster)); err != nil {
				t.Fatal(err)
			}
			told := of(b, test.cluster)
			if len(told) != 1 || told[0].ClusterGone != test.want || !told[0].Sweep || told[0].Account != "111122223333" || told[0].Partition != "aws" {
				t.Errorf("told %+v, want once, and that it is gone: %t", told, test.want)
			}
		})
	}
}

// A cluster that nothing is open of is not asked for, and nothing is told of one
// that other tools' tags name.
func TestForeignClusterIsNotDeleted(t *testing.T) {
	b := bench(t, stagetest.Options{World: healthy.World, Over: healthy.Over, Settings: map[string]string{"ROLLCALL_CLUSTERS": deleted}})
	if _, err := b.Handle(b.SweepOf(deleted)); err != nil {
		t.Fatal(err)
	}
	if told := of(b, deleted); len(told) > 0 {
		t.Errorf("told %+v", told)
	}
}

// While EKS deletes a cluster it is there; then it is not.
func TestClusterWhileItIsDeleted(t *testing.T) {
	b := bench(t, healthy)
	opened(t, b, stagetest.Cluster)
	groups, err := b.World.EKS().ListNodegroups(&eks.ListNodegroupsInput{ClusterName: aws.String(stagetest.Cluster)})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range groups.Nodegroups {
		b.Call("eks:DeleteNodegroup", `{"clusterName":"`+stagetest.Cluster+`","nodegroupName":"`+name+`"}`)
	}
	b.Advance(30 * time.Minute)
	b.Call("eks:DeleteCluster", `{"name":"`+stagetest.Cluster+`"}`)
	for _, want := range []bool{false, true} {
		if _, err := b.Handle(b.Sweep()); err != nil {
			t.Fatal(err)
		}
		told := of(b, stagetest.Cluster)
		if last := told[len(told)-1]; last.ClusterGone != want {
			t.Errorf("gone: %t, want %t", last.ClusterGone, want)
		}
		b.Advance(5 * time.Minute)
	}
}
