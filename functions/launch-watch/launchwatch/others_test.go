package launchwatch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/functions/launch-watch/spec"
	"rollcall/local/stage/stagetest"
)

// strangers are instances of others: a web server's group, a cluster that is
// not watched, and one that kops made, which EKS does not have.
const strangers = `
ec2:
  Instances:
    - {InstanceId: i-0aaaaaaaaaaaaaaa1, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.21, LaunchTime: 2026-11-20T14:57:50Z}
    - {InstanceId: i-0aaaaaaaaaaaaaaa2, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.22, LaunchTime: 2026-11-20T14:57:50Z}
    - {InstanceId: i-0aaaaaaaaaaaaaaa3, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.23, LaunchTime: 2026-11-20T14:57:50Z, Tags: [{Key: "eks:cluster-name", Value: sandbox}]}
    - {InstanceId: i-0aaaaaaaaaaaaaaa4, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.24, LaunchTime: 2026-11-20T14:57:50Z, Tags: [{Key: "kubernetes.io/cluster/kops.example.com", Value: owned}]}
autoscaling:
  AutoScalingGroups:
    - {AutoScalingGroupName: web, MinSize: 0, MaxSize: 2, DesiredCapacity: 2, VPCZoneIdentifier: subnet-0b20000000000000a, Instances: [{InstanceId: i-0aaaaaaaaaaaaaaa1}, {InstanceId: i-0aaaaaaaaaaaaaaa2}]}
`

func launch(instance, group string) string {
	return strings.NewReplacer(sampled, instance, stagetest.Group, group, "14:59:06Z", "14:57:58Z").Replace(
		`{"version":"0","id":"1","detail-type":"EC2 Instance-launch Lifecycle Action","source":"aws.autoscaling","account":"111122223333","time":"2026-11-20T14:59:06Z","region":"us-west-2","resources":[],` +
			`"detail":{"AutoScalingGroupName":"` + stagetest.Group + `","EC2InstanceId":"` + sampled + `","LifecycleTransition":"autoscaling:EC2_INSTANCE_LAUNCHING","Origin":"EC2","Destination":"AutoScalingGroup"}}`)
}

func running(instance string) string {
	return `{"version":"0","id":"2","detail-type":"EC2 Instance State-change Notification","source":"aws.ec2","account":"111122223333","time":"2026-11-20T14:57:59Z","region":"us-west-2","resources":[],` +
		`"detail":{"instance-id":"` + instance + `","state":"running"}}`
}

func TestForeignEvents(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	back := b.Send(sample(t, "schedule-rule.json"), strings.Replace(sample(t, "ec2-state-running.json"), `"running"`, `"pending"`, 1))
	if len(back) > 0 || len(b.Observations()) > 0 {
		t.Errorf("gave back %q", back)
	}
	if got := b.Counts(); got["ForeignEvents"] != 2 {
		t.Errorf("counts %v, want 2 foreign events", got)
	}
	if n, calls := stagetest.Total(b.Calls()); n > 0 {
		t.Errorf("%d calls for nothing: %s", n, calls)
	}
}

func TestOthersAreCountedAndIgnored(t *testing.T) {
	b := bench(t, stagetest.Options{Over: strangers, Settings: map[string]string{"ROLLCALL_CLUSTERS": "eks-workshop"}})
	back := b.Send(launch("i-0aaaaaaaaaaaaaaa1", "web"), running("i-0aaaaaaaaaaaaaaa3"), running("i-0aaaaaaaaaaaaaaa4"), sample(t, "ec2-state-terminated.json"))
	if len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if n := len(b.Observations()); n > 0 {
		t.Errorf("%d observations of other people's instances", n)
	}
	// The other instance of the group has an event of its own, and is counted then.
	if got := b.Counts(); got["ForeignInstances"] != 3 || got["Launches"] != 0 {
		t.Errorf("counts %v, want 3 foreign instances and no launch", got)
	}
	if n := b.Calls()["eks:DescribeCluster"]; n > 0 {
		t.Errorf("%d clusters were described that are not watched", n)
	}
}

// TestUnknownCluster: the tags of other distributions look like those of EKS.
func TestUnknownCluster(t *testing.T) {
	b := bench(t, stagetest.Options{Over: strangers})
	b.Scale(1)
	if back := b.Send(running("i-0aaaaaaaaaaaaaaa4"), b.News(0)[0]); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if o := b.Observation(); o.Cluster != stagetest.Cluster || len(o.Launches) != 1 {
		t.Errorf("observation of %q with %d launches, want the launch in the cluster that there is", o.Cluster, len(o.Launches))
	}
	if got := b.Counts(); got["ForeignInstances"] != 1 || got["Launches"] != 1 {
		t.Errorf("counts %v, want one foreign instance and one launch", got)
	}
	if !strings.Contains(b.Logs(), "cluster=kops.example.com") {
		t.Errorf("the log does not name the cluster that EKS does not have:\n%s", b.Logs())
	}
}

func TestWarmPool(t *testing.T) {
	b := bench(t, stagetest.Options{})
	if back := b.Send(sample(t, "autoscaling-launch-lifecycle-action-warm-pool.json")); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if n, calls := stagetest.Total(b.Calls()); n > 0 || b.Counts()["WarmPoolInstances"] != 1 {
		t.Errorf("%d calls for a launch that says that it is into a warm pool: %s", n, calls)
	}
	b.Call("autoscaling:PutWarmPool", `{"AutoScalingGroupName":"`+stagetest.Group+`","PoolState":"Running","MinSize":2,"MaxGroupPreparedCapacity":2}`)
	b.Advance(time.Minute)
	news := b.News(0)
	var kinds []string
	for _, body := range news {
		switch {
		case strings.Contains(body, `"Destination":"WarmPool"`):
			kinds = append(kinds, "warm")
		case strings.Contains(body, `"state":"running"`):
			kinds = append(kinds, "running")
		default:
			t.Errorf("event %s", body)
		}
	}
	slices.Sort(kinds)
	if got := slices.Compact(slices.Clone(kinds)); !slices.Equal(got, []string{"running", "warm"}) {
		t.Fatalf("the world sent %q, want launches into the warm pool and running instances", kinds)
	}
	if back := b.Send(news...); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if n := len(b.Observations()); n > 0 {
		t.Errorf("%d observations of warm instances", n)
	}
	if got := b.Counts(); got["WarmPoolInstances"] == 0 || got["Launches"] != 0 {
		t.Errorf("counts %v, want warm instances and no launch", got)
	}
}

// TestNotDescribedYet: EC2's API lags behind its events.
func TestNotDescribedYet(t *testing.T) {
	b := bench(t, stagetest.Options{})
	unknown := "i-0bbbbbbbbbbbbbbb1"
	b.Scale(1)
	good := b.News(0)[0]
	if back := b.Send(launch(unknown, stagetest.Group), good, running(unknown)); !slices.Equal(back, []string{"m0", "m2"}) {
		t.Errorf("gave back %q, want both messages of the unknown instance", back)
	}
	if o := b.Observation(); len(o.Launches) != 1 || o.Launches[0].Instance != b.Instance(good) {
		t.Errorf("launches %+v, want the other one", o.Launches)
	}
	// The second look, when the queue gives the message back, is one; the third is too late.
	again, late := 6*spec.Spec().Timeout, 12*spec.Spec().Timeout
	b.Advance(again)
	old := launch(unknown, stagetest.Group)
	if back := b.Send(old); !slices.Equal(back, []string{"m0"}) {
		t.Errorf("%s later: gave back %q, want the message", again, back)
	}
	b.Advance(late - again)
	if back := b.Send(old); len(back) > 0 {
		t.Errorf("%s later: gave back %q", late, back)
	}
	if got := b.Counts()["UnknownInstances"]; got != 1 {
		t.Errorf("%d unknown instances were counted, want 1", got)
	}
}
