package world

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/worldfile"
)

const redisVolume = "vol-0c50000000000c0de"

// pods are the pods of a namespace as "name: phase" with the node's zone, or
// with why it is not scheduled.
func podsIn(t *testing.T, w *World, namespace string) map[string]string {
	t.Helper()
	list, err := w.Kubernetes("eks-workshop", "pods")
	if err != nil {
		t.Fatal(err)
	}
	zones := map[string]string{}
	nodes, err := w.Kubernetes("eks-workshop", "nodes")
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range nodes.Items {
		var n map[string]any
		if err := json.Unmarshal(raw, &n); err != nil {
			t.Fatal(err)
		}
		zones[fmt.Sprint(kubestate.At(n, "metadata", "name"))] = fmt.Sprint(kubestate.At(n, "metadata", "labels", "topology.kubernetes.io/zone"))
	}
	out := map[string]string{}
	for _, raw := range list.Items {
		var p map[string]any
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatal(err)
		}
		if kubestate.At(p, "metadata", "namespace") != namespace {
			continue
		}
		where := zones[fmt.Sprint(kubestate.At(p, "spec", "nodeName"))]
		conditions, _ := kubestate.At(p, "status", "conditions").([]any)
		for _, c := range conditions {
			if kubestate.At(c, "type") == "PodScheduled" && kubestate.At(c, "status") == "False" {
				where = fmt.Sprintf("%v: %v", kubestate.At(c, "reason"), kubestate.At(c, "message"))
			}
		}
		out[fmt.Sprint(kubestate.At(p, "metadata", "name"))] = fmt.Sprintf("%v %s", kubestate.At(p, "status", "phase"), where)
	}
	return out
}

// replaceNodegroup does what the story does.
func replaceNodegroup(t *testing.T, w *World) {
	t.Helper()
	do(t, w, "eks:CreateNodegroup", `{"clusterName":"eks-workshop","nodegroupName":"workers","nodeRole":"arn:aws:iam::111122223333:role/eksctl-eks-workshop-NodeInstanceRole",
		"subnets":["subnet-0b20000000000000a","subnet-0b20000000000000b","subnet-0b20000000000000c"],"instanceTypes":["m5.large"],"scalingConfig":{"minSize":2,"maxSize":4,"desiredSize":2}}`)
	w.Advance(w.Now().Add(3 * time.Minute))
	do(t, w, "eks:DeleteNodegroup", `{"clusterName":"eks-workshop","nodegroupName":"default"}`)
	w.Advance(w.Now().Add(4 * time.Minute))
}

func do(t *testing.T, w *World, call, input string) {
	t.Helper()
	if _, err := w.Call(call, json.RawMessage(input)); err != nil {
		t.Fatal(err)
	}
}

func TestZoneStory(t *testing.T) {
	w, _ := open(t, "zone")
	before := podsIn(t, w, "redash")
	if before["redis-0"] != "Running us-west-2c" || before["postgres-0"] != "Running us-west-2a" || len(before) != 7 {
		t.Fatalf("at the start: %v", before)
	}
	if v := volumeNow(t, w); v.State != ec2types.VolumeStateInUse || aws.ToString(v.Attachments[0].InstanceId) != "i-0d0000000000000c3" {
		t.Errorf("at the start: %+v", v)
	}
	replaceNodegroup(t, w)
	after := podsIn(t, w, "redash")
	const conflict = "Pending Unschedulable: 0/2 nodes are available: 2 node(s) had volume node affinity conflict. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
	if after["redis-0"] != conflict {
		t.Errorf("redis-0: got %q, want %q", after["redis-0"], conflict)
	}
	for name, is := range after {
		if name != "redis-0" && !strings.HasPrefix(is, "Running us-west-2") {
			t.Errorf("%s: %s", name, is)
		}
	}
	if v := volumeNow(t, w); v.State != ec2types.VolumeStateAvailable || len(v.Attachments) != 0 {
		t.Errorf("the volume of a pod that waits: %+v", v)
	}
	if n := reasons(t, w, "FailedScheduling", "redis-0"); n == 0 {
		t.Error("no event FailedScheduling")
	}
	// A third node goes to the zone that has none.
	do(t, w, "eks:UpdateNodegroupConfig", `{"clusterName":"eks-workshop","nodegroupName":"workers","scalingConfig":{"desiredSize":3}}`)
	w.Advance(w.Now().Add(2 * time.Minute))
	if got := podsIn(t, w, "redash")["redis-0"]; got != "Running us-west-2c" {
		t.Errorf("after the third node: %s", got)
	}
	if v := volumeNow(t, w); v.State != ec2types.VolumeStateInUse {
		t.Errorf("after the third node: %+v", v)
	}
}

func volumeNow(t *testing.T, w *World) ec2types.Volume {
	t.Helper()
	out, err := w.EC2().DescribeVolumes(&ec2.DescribeVolumesInput{VolumeIds: []string{redisVolume}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Volumes[0]
}

// reasons counts the events about a pod.
func reasons(t *testing.T, w *World, reason, pod string) int {
	t.Helper()
	list, err := w.Kubernetes("eks-workshop", "events")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, raw := range list.Items {
		var e map[string]any
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		if e["reason"] == reason && kubestate.At(e, "involvedObject", "name") == pod {
			n++
		}
	}
	return n
}

func TestWhyPodsWait(t *testing.T) {
	set := func(f *worldfile.File, change func(*worldfile.SetFile)) {
		k := f.Kubernetes["eks-workshop"]
		k.Sets = k.Sets[:1]
		change(&k.Sets[0])
		f.Kubernetes["eks-workshop"] = k
	}
	const tail = " no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
	tests := map[string]struct {
		change func(*worldfile.File)
		want   string
	}{
		"another architecture": {func(f *worldfile.File) {
			set(f, func(s *worldfile.SetFile) { s.NodeSelector = map[string]string{"kubernetes.io/arch": "arm64"} })
		}, "Pending Unschedulable: 0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector." + tail},
		"a taint on all nodes": {func(f *worldfile.File) {
			set(f, func(*worldfile.SetFile) {})
			f.EKS.Nodegroups[0].Taints = []ekstypes.Taint{{Key: aws.String("dedicated"), Value: aws.String("db"), Effect: ekstypes.TaintEffectNoSchedule}}
		}, "Pending Unschedulable: 0/2 nodes are available: 2 node(s) had untolerated taint {dedicated: db}." + tail},
		"a taint that is tolerated": {func(f *worldfile.File) {
			set(f, func(s *worldfile.SetFile) {
				s.Tolerations = []worldfile.Toleration{{Key: "dedicated", Operator: "Exists"}}
			})
			f.EKS.Nodegroups[0].Taints = []ekstypes.Taint{{Key: aws.String("dedicated"), Value: aws.String("db"), Effect: ekstypes.TaintEffectNoSchedule}}
		}, "Running us-west-2c"},
		"a claim that is not there": {func(f *worldfile.File) { set(f, func(s *worldfile.SetFile) { s.Claim = "other" }) },
			`Pending Unschedulable: 0/2 nodes are available: persistentvolumeclaim "other" not found.` + tail},
		"another zone, and one node that has no room": {func(f *worldfile.File) {
			set(f, func(*worldfile.SetFile) {})
			f.EC2.Volumes[0].AvailabilityZone = aws.String("us-west-2b")
		}, "Pending Unschedulable: 0/2 nodes are available: 2 node(s) had volume node affinity conflict." + tail},
		"a newer scheduler": {func(f *worldfile.File) {
			set(f, func(*worldfile.SetFile) {})
			f.EC2.Volumes[0].AvailabilityZone = aws.String("us-west-2b")
			f.EKS.Clusters[0].Version = aws.String("1.35")
		}, "Pending Unschedulable: 0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity." + tail},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := openWith(t, "zone", tt.change)
			if got := podsIn(t, w, "redash")["redis-0"]; got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
