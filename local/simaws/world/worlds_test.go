package world

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/reach"
	"rollcall/local/simaws/worldfile"
)

const (
	storyGroup  = "eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"
	storySubnet = "subnet-0c30000000000000d"
	storyTable  = "rtb-0cd20000000000002"
	storyNAT    = "nat-0aa40000000000001"
)

// open loads a world of the repository and collects its events.
func open(t *testing.T, name string) (*World, *[]json.RawMessage) {
	t.Helper()
	return openWith(t, name, func(*worldfile.File) {})
}

// openWith opens a world that is changed before it begins.
func openWith(t *testing.T, name string, change func(*worldfile.File)) (*World, *[]json.RawMessage) {
	t.Helper()
	f, err := worldfile.Load(filepath.Join("..", "..", "worlds", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	change(f)
	var events []json.RawMessage
	w, err := New(f, Options{Seed: 1, Events: func(e json.RawMessage) { events = append(events, e) }})
	if err != nil {
		t.Fatal(err)
	}
	return w, &events
}

// members are the instances of the story's group.
func members(t *testing.T, w *World) []string {
	t.Helper()
	out, err := w.AutoScaling().DescribeAutoScalingGroups(&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{storyGroup}})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, i := range out.AutoScalingGroups[0].Instances {
		ids = append(ids, *i.InstanceId)
	}
	return ids
}

// readiness is the status of the Ready condition of an instance's node, empty
// where there is no node.
func readiness(t *testing.T, w *World, id string) string {
	t.Helper()
	list, err := w.Kubernetes("eks-workshop", "nodes")
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		var n struct {
			Spec   struct{ ProviderID string }
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if err := json.Unmarshal(item, &n); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(n.Spec.ProviderID) != id {
			continue
		}
		for _, c := range n.Status.Conditions {
			if c.Type == "Ready" {
				return c.Status
			}
		}
	}
	return ""
}

func TestWorlds(t *testing.T) {
	files, err := filepath.Glob("../../worlds/*.yaml")
	if err != nil || len(files) < 15 {
		t.Fatalf("got %d worlds (%v), want at least 15", len(files), err)
	}
	// What the world's own rule says about the launched instance.
	wants := map[string]struct {
		ready string
		fault reach.Path
	}{
		"healthy-endpoints":  {ready: "True"},
		"healthy-nat":        {ready: "True"},
		"healthy-igw":        {ready: "True"},
		"healthy-main-table": {ready: "True"},
		"route":              {fault: reach.Path{Service: "ec2", Via: storyTable, Fault: reach.NoRoute}},
		"denied-route-tables": {
			fault: reach.Path{Service: "ec2", Via: storyTable, Fault: reach.NoRoute},
		},
		"burst-200":        {fault: reach.Path{Service: "ec2", Via: storyTable, Fault: reach.NoRoute}},
		"route-blackhole":  {fault: reach.Path{Service: "ec2", Via: storyTable, Fault: reach.Blackhole}},
		"nat-unusable":     {fault: reach.Path{Service: "ec2", Via: "nat-0bad0000000000002", Fault: reach.NATUnusable}},
		"nat-no-internet":  {fault: reach.Path{Service: "ec2", Via: "nat-0bad0000000000003", Fault: reach.NATNoInternet}},
		"igw-no-public-ip": {fault: reach.Path{Service: "ec2", Via: "igw-0d40000000000000e", Fault: reach.NoPublicIP}},
		"endpoint-missing": {fault: reach.Path{Service: "sts", Via: storyTable, Fault: reach.NoRoute}},
		"subnet-exhausted": {ready: "False"},
		"not-ready":        {ready: "False"},
		"ended-early":      {},
	}
	for _, file := range files {
		name := filepath.Base(file[:len(file)-len(".yaml")])
		want, ok := wants[name]
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, name)
			if name == "route" {
				scale(t, w, 1)
			}
			w.Advance(w.Start().Add(2 * time.Minute))
			ids := members(t, w)
			if name == "ended-early" {
				if got := launched(t, w); len(got) == 0 {
					t.Fatal("no launch was tried")
				}
				return
			}
			if len(ids) == 0 {
				t.Fatal("no instance was launched")
			}
			if got := readiness(t, w, ids[0]); got != want.ready {
				t.Errorf("Ready is %q, want %q; paths %v", got, want.ready, w.Paths(ids[0]))
			}
			fault, _ := reach.Broken(w.Paths(ids[0]))
			if diff := cmp.Diff(fault, want.fault); diff != "" {
				t.Errorf("broken path (-got +want):\n%s", diff)
			}
			healthy := w.Expect().Healthy
			if (want.ready == "True") != healthy {
				t.Errorf("file says healthy is %t, the node's Ready is %q", healthy, want.ready)
			}
		})
	}
}

func scale(t *testing.T, w *World, n int) {
	t.Helper()
	in, err := json.Marshal(map[string]any{"clusterName": "eks-workshop", "nodegroupName": "new_nodegroup_2", "scalingConfig": map[string]any{"desiredSize": n}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Call("eks:UpdateNodegroupConfig", in); err != nil {
		t.Fatal(err)
	}
}

func launched(t *testing.T, w *World) []string {
	t.Helper()
	out, err := w.AutoScaling().DescribeScalingActivities(&autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: aws.String(storyGroup)})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, a := range out.Activities {
		texts = append(texts, string(a.StatusCode)+": "+*a.Description)
	}
	return texts
}

func TestRouteStory(t *testing.T) {
	w, events := open(t, "route")
	scale(t, w, 1)
	w.Advance(w.Start().Add(3 * time.Minute))

	ng, err := w.EKS().DescribeNodegroup(&eks.DescribeNodegroupInput{ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("new_nodegroup_2")})
	if err != nil {
		t.Fatal(err)
	}
	if ng.Nodegroup.Status != "ACTIVE" || len(ng.Nodegroup.Health.Issues) != 0 {
		t.Errorf("nodegroup is %s with %v, want ACTIVE without issues", ng.Nodegroup.Status, ng.Nodegroup.Health.Issues)
	}
	stuck := members(t, w)[0]
	if diff := cmp.Diff(launched(t, w), []string{"Successful: Launching a new EC2 instance: " + stuck}); diff != "" {
		t.Errorf("activities (-got +want):\n%s", diff)
	}
	if got := readiness(t, w, stuck); got != "" {
		t.Fatalf("node is %q before the fix, want none", got)
	}

	_, err = w.EC2().CreateRoute(&ec2.CreateRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(storyNAT)})
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Now().Add(5 * time.Minute))
	if got := readiness(t, w, stuck); got != "" {
		t.Fatalf("stuck instance became %q by itself, want it to stay away", got)
	}
	_, err = w.AutoScaling().TerminateInstanceInAutoScalingGroup(&autoscaling.TerminateInstanceInAutoScalingGroupInput{InstanceId: aws.String(stuck), ShouldDecrementDesiredCapacity: aws.Bool(false)})
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Now().Add(3 * time.Minute))
	ids := members(t, w)
	if len(ids) != 1 || ids[0] == stuck {
		t.Fatalf("group has %q, want one new instance", ids)
	}
	if got := readiness(t, w, ids[0]); got != "True" {
		t.Errorf("new node's Ready is %q, want True", got)
	}
	subnets, err := w.EC2().DescribeSubnets(&ec2.DescribeSubnetsInput{SubnetIds: []string{storySubnet}})
	if err != nil {
		t.Fatal(err)
	}
	// An m5.large takes two interfaces of ten addresses when it is Ready.
	if got := *subnets.Subnets[0].AvailableIpAddressCount; got != 8187-20 {
		t.Errorf("free addresses: got %d, want %d", got, 8187-20)
	}
	var kinds []string
	for _, e := range *events {
		var env struct {
			Kind   string `json:"detail-type"`
			Time   time.Time
			Detail struct{ State string }
		}
		if err := json.Unmarshal(e, &env); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, env.Time.Sub(w.Start()).String()+" "+env.Kind+" "+env.Detail.State)
	}
	want := []string{
		"5s EC2 Instance State-change Notification pending",
		"6s EC2 Instance-launch Lifecycle Action ",
		"13s EC2 Instance State-change Notification running",
		"0s AWS API Call via CloudTrail ", // of the call, told 30 s later
		"36s EC2 Instance Launch Successful ",
		"8m0s EC2 Instance State-change Notification shutting-down",
		"8m2s EC2 Instance State-change Notification pending",
		"8m3s EC2 Instance-launch Lifecycle Action ",
		"8m10s EC2 Instance State-change Notification running",
		"8m20s EC2 Instance State-change Notification terminated",
		"8m20s EC2 Instance Terminate Successful ",
		"8m33s EC2 Instance Launch Successful ",
	}
	if diff := cmp.Diff(kinds, want); diff != "" {
		t.Errorf("events (-got +want):\n%s", diff)
	}
}
