package joincheck

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/node/outcome"
	"rollcall/shared/store"
)

const strangers = `
ec2:
  Instances:
    - {InstanceId: i-0aaaaaaaaaaaaaaa1, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.21, LaunchTime: 2026-11-20T14:57:50Z}
    - {InstanceId: i-0aaaaaaaaaaaaaaa4, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.24, LaunchTime: 2026-11-20T14:57:50Z, Tags: [{Key: "kubernetes.io/cluster/kops.example.com", Value: owned}]}
autoscaling:
  AutoScalingGroups:
    - {AutoScalingGroupName: web, MinSize: 0, MaxSize: 1, DesiredCapacity: 1, VPCZoneIdentifier: subnet-0b20000000000000a, Instances: [{InstanceId: i-0aaaaaaaaaaaaaaa1}]}
`

func running(instance string) string {
	return `{"version":"0","id":"2","detail-type":"EC2 Instance State-change Notification","source":"aws.ec2","account":"111122223333","time":"2026-11-20T14:57:59Z","region":"us-west-2","resources":[],` +
		`"detail":{"instance-id":"` + instance + `","state":"running"}}`
}

// TestNothingToCall: failed launches have no instance, and warm ones are not
// expected.
func TestNothingToCall(t *testing.T) {
	b := bench(t, stagetest.Options{})
	back := b.Send(sample(t, "autoscaling-launch-unsuccessful.json"), sample(t, "autoscaling-launch-lifecycle-action-warm-pool.json"), sample(t, "schedule-rule.json"))
	if n := len(b.Observations()); len(back) > 0 || n > 0 {
		t.Errorf("gave back %q, %d observations", back, n)
	}
	if diff := cmp.Diff(map[string]int{"WarmPoolInstances": 1, "ForeignEvents": 1}, b.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestWarmPool(t *testing.T) {
	b := bench(t, stagetest.Options{})
	b.Call("autoscaling:PutWarmPool", `{"AutoScalingGroupName":"`+stagetest.Group+`","PoolState":"Running","MinSize":1}`)
	b.Advance(10 * time.Minute)
	var bodies []string
	for _, body := range b.News(0) {
		if strings.Contains(body, `"state":"running"`) {
			bodies = append(bodies, body)
		}
	}
	if len(bodies) == 0 {
		t.Fatal("no warm instance was started")
	}
	b.Send(bodies...)
	// One that was taken for a launch once is not gone because it is warm.
	id := b.Instance(bodies[0])
	if _, err := b.Store.CreateLaunch(t.Context(), store.LaunchRecord{Launch: outcome.Launch{Instance: id, Started: b.World.Start(), Status: outcome.Waiting}, Cluster: stagetest.Cluster, Due: b.World.Start().Add(5 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	if l, _ := b.Launch(id); l.Status != outcome.Waiting {
		t.Errorf("record %+v, want that it is left alone", l)
	}
	for _, o := range b.Observations() {
		if len(o.Launches) > 0 || len(stagetest.Causes(o)) > 0 {
			t.Errorf("launches %+v, causes %v of warm instances", o.Launches, stagetest.Causes(o))
		}
	}
	if got := b.Counts(); got["WarmPoolInstances"] != len(bodies) || got["Missed"] > 0 {
		t.Errorf("counts %v, want %d warm instances", got, len(bodies))
	}
}

func TestOthersAreCountedAndIgnored(t *testing.T) {
	b, id, news := launched(t, stagetest.Options{Over: strangers})
	if back := b.Send(running("i-0aaaaaaaaaaaaaaa1"), running("i-0aaaaaaaaaaaaaaa4"), news[0]); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if o := b.Observation(); o.Cluster != stagetest.Cluster || len(o.Launches) != 1 || o.Launches[0].Instance != id {
		t.Errorf("observation of %q with %+v", o.Cluster, o.Launches)
	}
	if got := b.Counts(); got["ForeignInstances"] != 2 {
		t.Errorf("counts %v, want 2 foreign instances", got)
	}
	if !strings.Contains(b.Logs(), "cluster=kops.example.com") {
		t.Errorf("the log does not name the cluster that EKS does not have:\n%s", b.Logs())
	}
}

func TestNotItsEvent(t *testing.T) {
	b := bench(t, stagetest.Options{})
	for raw, want := range map[string]string{
		"{":                                      "the envelope",
		"null":                                   "the envelope",
		sample(t, "ec2-state-running.json"):      "is woken by its queue, by sweeps and by wishes",
		sample(t, "ec2-state-terminated.json"):   "is woken by its queue, by sweeps and by wishes",
		`{"Records":[{"eventSource":"aws:s3"}]}`: "the envelope",
	} {
		if _, err := b.Handle([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", raw, err, want)
		}
	}
}
