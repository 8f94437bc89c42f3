package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/reach"
	"rollcall/stage/simaws/worldfile"
	"rollcall/stage/simaws/zonalshift"
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

const (
	shiftedCluster = "arn:aws:eks:us-west-2:111122223333:cluster/eks-workshop"
	shiftedGroup   = "arn:aws:autoscaling:us-west-2:111122223333:autoScalingGroup:0000:autoScalingGroupName/" + defaultGroupName
)

// shiftable has zonal shift on for the cluster, and for the group where group is set.
func shiftable(group bool, shifts ...zonalshift.ZonalShift) func(*worldfile.File) {
	return func(f *worldfile.File) {
		f.AutoScaling.Still = false
		for i := range f.EKS.Clusters {
			f.EKS.Clusters[i].ZonalShiftConfig = &ekstypes.ZonalShiftConfigResponse{Enabled: aws.Bool(true)}
		}
		for i := range f.AutoScaling.AutoScalingGroups {
			if g := &f.AutoScaling.AutoScalingGroups[i]; aws.ToString(g.AutoScalingGroupName) == defaultGroupName {
				g.AutoScalingGroupARN = aws.String(shiftedGroup)
				g.AvailabilityZoneImpairmentPolicy = &astypes.AvailabilityZoneImpairmentPolicy{ZonalShiftEnabled: aws.Bool(group)}
			}
		}
		for i, s := range shifts {
			s.ZonalShiftId, s.StartTime = fmt.Sprintf("9ac9ec1e-%d", i), f.Time.Add(-time.Hour)
			if s.ExpiryTime.IsZero() {
				s.ExpiryTime = f.Time.Add(time.Hour)
			}
			f.ArcZonalShift.ZonalShifts = append(f.ArcZonalShift.ZonalShifts, s)
		}
	}
}

// spread is how many instances the group has by zone once it has grown to six.
func spread(t *testing.T, w *World) map[string]int {
	t.Helper()
	if _, err := w.AutoScaling().SetDesiredCapacity(&autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: aws.String(defaultGroupName), DesiredCapacity: aws.Int32(6)}); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Now().Add(10 * time.Minute))
	out, err := w.AutoScaling().DescribeAutoScalingGroups(&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{defaultGroupName}})
	if err != nil {
		t.Fatal(err)
	}
	zones := map[string]int{}
	for _, i := range out.AutoScalingGroups[0].Instances {
		zones[aws.ToString(i.AvailabilityZone)]++
	}
	return zones
}

// cordoned are the zones of the nodes that take no pods.
func cordoned(t *testing.T, w *World) []string {
	t.Helper()
	list, err := w.Kubernetes("eks-workshop", "nodes")
	if err != nil {
		t.Fatal(err)
	}
	zones := map[string]bool{}
	for _, raw := range list.Items {
		var n map[string]any
		if err := json.Unmarshal(raw, &n); err != nil {
			t.Fatal(err)
		}
		if kubestate.At(n, "spec", "unschedulable") == true {
			zones[fmt.Sprint(kubestate.At(n, "metadata", "labels", "topology.kubernetes.io/zone"))] = true
		}
	}
	return slices.Sorted(maps.Keys(zones))
}

func TestZonalShift(t *testing.T) {
	even := map[string]int{"us-west-2a": 2, "us-west-2b": 2, "us-west-2c": 2}
	away := map[string]int{"us-west-2a": 3, "us-west-2b": 2, "us-west-2c": 1}
	of := func(arn, zone, kind string) zonalshift.ZonalShift {
		return zonalshift.ZonalShift{ResourceIdentifier: arn, AwayFrom: zone, ShiftType: kind}
	}
	auto := func(change func(*worldfile.File)) func(*worldfile.File) {
		return func(f *worldfile.File) {
			change(f)
			f.ArcZonalShift.Autoshifts = []zonalshift.Autoshift{{AwayFrom: "usw2-az3", StartTime: f.Time.Add(-time.Minute)}}
		}
	}
	expired := of(shiftedCluster, "usw2-az3", "ZONAL_SHIFT")
	expired.ExpiryTime = time.Date(2026, 11, 20, 14, 30, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		change   func(*worldfile.File)
		zones    map[string]int
		cordoned []string
	}{
		"none":                                  {shiftable(true), even, nil},
		"of the cluster":                        {shiftable(false, of(shiftedCluster, "usw2-az3", "ZONAL_SHIFT")), away, []string{"us-west-2c"}},
		"a practice run":                        {shiftable(false, of(shiftedCluster, "usw2-az3", "PRACTICE_RUN")), away, []string{"us-west-2c"}},
		"of the group":                          {shiftable(true, of(shiftedGroup, "usw2-az3", "ZONAL_SHIFT")), away, nil},
		"of a group that left ARC":              {shiftable(false, of(shiftedGroup, "usw2-az3", "ZONAL_SHIFT")), even, nil},
		"expired":                               {shiftable(true, expired), even, nil},
		"of another resource":                   {shiftable(true, of("arn:aws:elasticloadbalancing:us-west-2:111122223333:loadbalancer/app/x/1", "usw2-az3", "ZONAL_SHIFT")), even, nil},
		"autoshift":                             {auto(shiftable(false)), away, []string{"us-west-2c"}},
		"autoshift comes before a practice run": {auto(shiftable(false, of(shiftedCluster, "usw2-az1", "PRACTICE_RUN"))), away, []string{"us-west-2c"}},
		"a person's shift comes before autoshift": {auto(shiftable(false, of(shiftedCluster, "usw2-az1", "ZONAL_SHIFT"))),
			map[string]int{"us-west-2a": 1, "us-west-2b": 3, "us-west-2c": 2}, []string{"us-west-2a"}},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := openWith(t, "healthy-nat", tt.change)
			if diff := cmp.Diff(tt.cordoned, cordoned(t, w)); diff != "" {
				t.Errorf("cordoned (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.zones, spread(t, w)); diff != "" {
				t.Errorf("instances by zone (-want +got):\n%s", diff)
			}
		})
	}
}

// TestZonalShiftExpires: the nodes take pods again, and launches come to the zone.
func TestZonalShiftExpires(t *testing.T) {
	w, _ := openWith(t, "healthy-nat", shiftable(false, zonalshift.ZonalShift{ResourceIdentifier: shiftedCluster, AwayFrom: "usw2-az3"}))
	w.Advance(w.Now().Add(61 * time.Minute))
	if got := cordoned(t, w); len(got) > 0 {
		t.Errorf("cordoned: %q", got)
	}
	if diff := cmp.Diff(map[string]int{"us-west-2a": 2, "us-west-2b": 2, "us-west-2c": 2}, spread(t, w)); diff != "" {
		t.Errorf("instances by zone (-want +got):\n%s", diff)
	}
}

// TestZonalShiftAnswers: what the lists say, in the form of the wire.
func TestZonalShiftAnswers(t *testing.T) {
	w, _ := openWith(t, "healthy-nat", func(f *worldfile.File) {
		shiftable(true, zonalshift.ZonalShift{ResourceIdentifier: shiftedGroup, AwayFrom: "usw2-az3", Comment: "gray"})(f)
		f.ArcZonalShift.Autoshifts = []zonalshift.Autoshift{{AwayFrom: "usw2-az1", StartTime: f.Time}, {AwayFrom: "usw2-az2", StartTime: f.Time.Add(-time.Hour), EndTime: f.Time.Add(-time.Minute)}}
	})
	api := w.API()
	status := func(s string) *zonalshift.Input { return &zonalshift.Input{Status: aws.String(s)} }
	for name, tt := range map[string]struct {
		ask  func() (json.RawMessage, error)
		want string
	}{
		"shifts":              {func() (json.RawMessage, error) { return api.ListZonalShifts(status("ACTIVE")) }, `{"items":[{"awayFrom":"usw2-az3","comment":"gray","expiryTime":1795190280,"resourceIdentifier":"` + shiftedGroup + `","shiftType":"ZONAL_SHIFT","startTime":1795183080,"status":"ACTIVE","zonalShiftId":"9ac9ec1e-0"}]}`},
		"expired ones":        {func() (json.RawMessage, error) { return api.ListZonalShifts(status("EXPIRED")) }, `{"items":[]}`},
		"autoshifts":          {func() (json.RawMessage, error) { return api.ListAutoshifts(&zonalshift.Input{}) }, `{"items":[{"awayFrom":"usw2-az1","startTime":1795186680,"status":"ACTIVE"}]}`},
		"completed autoshift": {func() (json.RawMessage, error) { return api.ListAutoshifts(status("COMPLETED")) }, `{"items":[{"awayFrom":"usw2-az2","endTime":1795186620,"startTime":1795183080,"status":"COMPLETED"}]}`},
	} {
		got, err := tt.ask()
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, tt.want)
		}
	}
	raw, err := api.ListManagedResources(&zonalshift.Input{})
	if err != nil {
		t.Fatal(err)
	}
	var out zonalshift.ListManagedResourcesOutput
	if err := json.Unmarshal(stripTimes(raw), &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range out.Items {
		line := fmt.Sprint(r.Name, " ", r.ZonalAutoshiftStatus, " ", r.AppliedWeights["usw2-az1"], r.AppliedWeights["usw2-az3"])
		for _, s := range append(r.ZonalShifts, r.Autoshifts...) {
			line += " " + s.AppliedStatus + " " + s.AwayFrom
		}
		got = append(got, line)
	}
	want := []string{defaultGroupName + " DISABLED 1 0 APPLIED usw2-az3", "eks-workshop ENABLED 0 1 APPLIED usw2-az1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("managed resources (-want +got):\n%s", diff)
	}
}

// stripTimes takes the numbers away that Go's own decoder takes for no times.
func stripTimes(raw json.RawMessage) []byte {
	var tree any
	if json.Unmarshal(raw, &tree) != nil {
		return raw
	}
	var strip func(any)
	strip = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				strip(x)
			}
		case map[string]any:
			delete(v, "startTime")
			delete(v, "expiryTime")
			for _, x := range v {
				strip(x)
			}
		}
	}
	strip(tree)
	out, _ := json.Marshal(tree)
	return out
}
