package world

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/worldfile"
)

// withSpot opens spot.yaml with other pools, and changes made to its file.
func withSpot(t *testing.T, seed uint64, spot worldfile.SpotFile, change ...func(*worldfile.File)) (*World, *[]json.RawMessage) {
	t.Helper()
	f, err := worldfile.Load("../../worlds/spot.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f.Spot = spot
	for _, c := range change {
		c(f)
	}
	var events []json.RawMessage
	w, err := New(f, Options{Seed: seed, Events: func(e json.RawMessage) { events = append(events, e) }})
	if err != nil {
		t.Fatal(err)
	}
	return w, &events
}

// allocated counts the live Spot instances by type.
func allocated(w *World) map[string]int {
	count := map[string]int{}
	for _, in := range w.Instances.All() {
		if in.InstanceLifecycle == "spot" && !state.Ended(in) {
			count[string(in.InstanceType)]++
		}
	}
	return count
}

func TestAllocationSpreadsAndRepeats(t *testing.T) {
	run := func(seed uint64) map[string]int {
		w, _ := withSpot(t, seed, worldfile.SpotFile{})
		scaleGroups(t, w, 3, spotGroups()...)
		w.Advance(w.Start().Add(20 * time.Second))
		return allocated(w)
	}
	one := run(1)
	if diff := cmp.Diff(run(1), one); diff != "" {
		t.Errorf("the same seed allocates in another way:\n%s", diff)
	}
	if len(one) < 4 {
		t.Errorf("twelve launches in %v, want at least four pools", one)
	}
	if cmp.Equal(run(2), one) {
		t.Errorf("another seed allocates in the same way: %v", one)
	}
}

func TestSpotInstanceSaysSo(t *testing.T) {
	w, _ := withSpot(t, 1, worldfile.SpotFile{})
	scaleGroups(t, w, 1, "spot-a", "on-demand")
	w.Advance(w.Start().Add(20 * time.Second))
	spot, other := w.Instances.Get(membersOf(t, w, "spot-a")[0]), w.Instances.Get(membersOf(t, w, "on-demand")[0])
	if spot.InstanceLifecycle != "spot" || len(aws.ToString(spot.SpotInstanceRequestId)) != len("sir-0a1b2c3d") {
		t.Errorf("Spot: lifecycle %q, request %q", spot.InstanceLifecycle, aws.ToString(spot.SpotInstanceRequestId))
	}
	if other.InstanceLifecycle != "" || other.SpotInstanceRequestId != nil || other.InstanceType != "m5.4xlarge" {
		t.Errorf("on demand: lifecycle %q, type %s, want the first of its types", other.InstanceLifecycle, other.InstanceType)
	}
}

func TestPools(t *testing.T) {
	none, one := aws.Int(0), aws.Int(1)
	const zone = "us-west-2a"
	small := func(f *worldfile.File) {
		for i := range f.EKS.Nodegroups {
			if n := &f.EKS.Nodegroups[i]; *n.NodegroupName == "spot-a" {
				n.InstanceTypes = []string{"m5.4xlarge"}
			}
		}
	}
	tests := []struct {
		name   string
		spot   worldfile.SpotFile
		group  string
		change []func(*worldfile.File)
		most   string // the group's own bound on the price
		want   string // the status message; empty for a launch
		kind   string
	}{
		{name: "no pool has room", group: "spot-a", spot: worldfile.SpotFile{Pools: []worldfile.PoolFile{{Zone: zone, Capacity: none}}},
			want: "Could not launch Spot Instances. UnfulfillableCapacity - Unable to fulfill capacity due to your request configuration. Please adjust your request and try again. Launching EC2 instance failed."},
		{name: "the only pool has no room", group: "small-a", spot: worldfile.SpotFile{Pools: []worldfile.PoolFile{{Type: "t3.medium", Capacity: none}}},
			want: "Could not launch Spot Instances. InsufficientInstanceCapacity - There is no Spot capacity available that matches your request. Launching EC2 instance failed."},
		{name: "room elsewhere", group: "small-a", spot: worldfile.SpotFile{Pools: []worldfile.PoolFile{{Type: "t3.medium", Zone: "us-west-2b", Capacity: none}}}, kind: "t3.medium"},
		{name: "one pool has room", group: "spot-a", spot: worldfile.SpotFile{Pools: []worldfile.PoolFile{{Type: "r6i.4xlarge", Capacity: one}, {Capacity: none}}}, kind: "r6i.4xlarge"},
		{name: "the cheapest of the deep ones", group: "spot-a", spot: worldfile.SpotFile{Pools: []worldfile.PoolFile{{Type: "c5.4xlarge", Capacity: aws.Int(40), Price: 0.1}, {Type: "m6i.4xlarge", Capacity: aws.Int(60), Price: 0.2}}}, kind: "c5.4xlarge"},
		{name: "cheap but shallow", group: "spot-a", spot: worldfile.SpotFile{Pools: []worldfile.PoolFile{{Type: "c5.4xlarge", Capacity: one, Price: 0.01}, {Type: "m6i.4xlarge", Capacity: aws.Int(60), Price: 0.02}}}, kind: "m6i.4xlarge"},
		{name: "dearer than allowed", group: "spot-a", change: []func(*worldfile.File){small}, most: "0.02", spot: worldfile.SpotFile{Pools: []worldfile.PoolFile{{Price: 0.0431}}},
			want: "Could not launch Spot Instances. SpotMaxPriceTooLow - Your Spot request price of 0.02 is lower than the minimum required Spot request fulfillment price of 0.0431. Launching EC2 instance failed."},
		{name: "as dear as allowed", group: "spot-a", change: []func(*worldfile.File){small}, most: "0.0431", spot: worldfile.SpotFile{Pools: []worldfile.PoolFile{{Price: 0.0431}}}, kind: "m5.4xlarge"},
		{name: "beyond the quota", group: "spot-a", spot: worldfile.SpotFile{VCPULimit: 15},
			want: "Could not launch Spot Instances. MaxSpotInstanceCountExceeded - Max spot instance count exceeded. Launching EC2 instance failed."},
		{name: "within the quota", group: "small-a", spot: worldfile.SpotFile{VCPULimit: 2}, kind: "t3.medium"},
		{name: "no on-demand capacity", group: "on-demand", spot: worldfile.SpotFile{Pools: []worldfile.PoolFile{{OnDemand: true, Capacity: none}}},
			want: "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have sufficient m5.4xlarge capacity in the Availability Zone you requested (us-west-2a). Our system will be working on provisioning additional capacity. Launching EC2 instance failed."},
		{name: "on demand takes the next type", group: "on-demand", spot: worldfile.SpotFile{Pools: []worldfile.PoolFile{{OnDemand: true, Type: "m5.4xlarge", Capacity: none}}}, kind: "m5a.4xlarge"},
		{name: "Spot's pools are not on-demand's", group: "on-demand", spot: worldfile.SpotFile{Pools: []worldfile.PoolFile{{Capacity: none}}}, kind: "m5.4xlarge"},
		{name: "not yet", group: "small-a", spot: worldfile.SpotFile{Pools: []worldfile.PoolFile{{Capacity: none, From: time.Minute}}}, kind: "t3.medium"},
		{name: "no longer", group: "small-a", spot: worldfile.SpotFile{Pools: []worldfile.PoolFile{{Capacity: none, For: 2 * time.Second}}}, kind: "t3.medium"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, events := withSpot(t, 1, tt.spot, tt.change...)
			ng := w.Nodegroups.Get("eks-workshop/" + tt.group)
			g := w.GroupsOf(ng)[0]
			if tt.most != "" {
				g.MixedInstancesPolicy.InstancesDistribution.SpotMaxPrice = aws.String(tt.most)
			}
			scaleGroups(t, w, 1, tt.group)
			w.Advance(w.Start().Add(20 * time.Second))
			a := activities(t, w, g.Name())[0]
			if got := aws.ToString(a.StatusMessage); got != tt.want || (tt.want != "") != (a.StatusCode == "Failed") {
				t.Fatalf("activity %s: %q, want %q", a.StatusCode, got, tt.want)
			}
			if tt.want != "" {
				failed := eventDetails(t, *events, "EC2 Instance Launch Unsuccessful")
				if len(failed) == 0 || failed[0]["StatusMessage"] != tt.want || *a.Details != `{"Subnet ID":"`+batchSubnet+`","Availability Zone":"us-west-2a"}` {
					t.Errorf("event %v, details %s", failed, *a.Details)
				}
				return
			}
			if got := string(w.Instances.Get(*g.Instances[0].InstanceId).InstanceType); got != tt.kind {
				t.Errorf("launched %s, want %s", got, tt.kind)
			}
		})
	}
}

func TestPoolFillsUpAndRecovers(t *testing.T) {
	w, _ := withSpot(t, 1, worldfile.SpotFile{Pools: []worldfile.PoolFile{{Type: "t3.medium", Capacity: aws.Int(2)}}})
	scaleGroups(t, w, 3, "small-a")
	w.Advance(w.Start().Add(20 * time.Second))
	if got := allocated(w); got["t3.medium"] != 2 {
		t.Fatalf("a pool of two has launched %v", got)
	}
	scaleGroups(t, w, 1, "small-a")
	scaleGroups(t, w, 1, "small-b")
	w.Advance(w.Now().Add(2 * time.Minute))
	if got := len(membersOf(t, w, "small-b")); got != 1 {
		t.Errorf("the other group has %d instances after one was given back, want 1", got)
	}
}

func TestFullSubnetRefusesSpot(t *testing.T) {
	w, _ := withSpot(t, 1, worldfile.SpotFile{})
	if err := w.Pools[batchSubnet].State(0); err != nil {
		t.Fatal(err)
	}
	scaleGroups(t, w, 1, "spot-a")
	w.Advance(w.Start().Add(20 * time.Second))
	g := w.GroupsOf(w.Nodegroups.Get("eks-workshop/spot-a"))[0]
	const want = "Could not launch Spot Instances. InsufficientFreeAddressesInSubnet - There are not enough free addresses in subnet 'subnet-0e50000000000024a' to satisfy the requested number of instances. Launching EC2 instance failed."
	if got := aws.ToString(activities(t, w, g.Name())[0].StatusMessage); got != want {
		t.Errorf("got %q", got)
	}
}

func TestPoolsThatCannotBe(t *testing.T) {
	for name, p := range map[string]worldfile.PoolFile{
		"an unknown type":      {Type: "m9.huge"},
		"a reservation by age": {Reservation: "cr-0a", Reclaim: &worldfile.Reclaim{After: time.Minute}},
		"on demand reclaimed":  {OnDemand: true, Reclaim: &worldfile.Reclaim{After: time.Minute}},
		"less than none":       {Capacity: aws.Int(-1)},
		"before the start":     {Reclaim: &worldfile.Reclaim{At: []time.Duration{-time.Second}}},
		"ends before it may":   {Reclaim: &worldfile.Reclaim{After: 2 * time.Minute, UpTo: time.Minute}},
	} {
		f, err := worldfile.Load("../../worlds/spot.yaml")
		if err != nil {
			t.Fatal(err)
		}
		f.Spot.Pools = []worldfile.PoolFile{p}
		if _, err := New(f, Options{}); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

// eventsAbout are the events about an instance, with their time since the start.
func eventsAbout(t *testing.T, w *World, events []json.RawMessage, id string) []string {
	t.Helper()
	var list []string
	for _, e := range events {
		var env struct {
			Kind   string `json:"detail-type"`
			Time   time.Time
			Detail struct {
				State string
				ID    string `json:"instance-id"`
				EC2   string `json:"EC2InstanceId"`
			}
		}
		if err := json.Unmarshal(e, &env); err != nil {
			t.Fatal(err)
		}
		if env.Detail.ID == id || env.Detail.EC2 == id {
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", env.Time.Sub(w.Start()), env.Kind, env.Detail.State)))
		}
	}
	return list
}

// TestReservationIsReclaimed: the owner of an interruptible reservation takes its instances
// back with a warning of its own, and no other instance.
func TestReservationIsReclaimed(t *testing.T) {
	w, events := withSpot(t, 1, worldfile.SpotFile{Pools: []worldfile.PoolFile{{Reservation: "cr-0a", Reclaim: &worldfile.Reclaim{At: []time.Duration{5 * time.Minute}}}}})
	scaleGroups(t, w, 2, "small-a")
	w.Advance(w.Start().Add(20 * time.Second))
	ids := membersOf(t, w, "small-a")
	in := w.Instances.Get(ids[0])
	in.InstanceLifecycle, in.CapacityReservationId = "", aws.String("cr-0a")
	w.Advance(w.Start().Add(6 * time.Minute))
	var got []string
	for _, e := range *events {
		var env struct {
			Kind   string `json:"detail-type"`
			Detail json.RawMessage
		}
		if err := json.Unmarshal(e, &env); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(env.Kind, "Interruption Warning") {
			got = append(got, env.Kind+" "+string(env.Detail))
		}
	}
	want := []string{`EC2 Capacity Reservation Instance Interruption Warning {"instance-id":"` + ids[0] + `","instance-action":"terminate","instance-termination-time":"2026-11-20T15:03:00Z","azId":"` + *in.Placement.AvailabilityZoneId + `"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if in := w.Instances.Get(ids[0]); in.State.Name != "terminated" || w.Instances.Get(ids[1]).State.Name != "running" {
		t.Errorf("%s is %s, %s is %s", ids[0], in.State.Name, ids[1], w.Instances.Get(ids[1]).State.Name)
	}
}

func TestReclaimedBeforeItJoins(t *testing.T) {
	w, events := withSpot(t, 1, worldfile.SpotFile{Pools: []worldfile.PoolFile{{Type: "t3.medium", Reclaim: &worldfile.Reclaim{After: 70 * time.Second, Rebalance: 10 * time.Minute, Times: 1}}}},
		func(f *worldfile.File) { f.Nodes.BootSeconds = 120 })
	g := w.GroupsOf(w.Nodegroups.Get("eks-workshop/small-a"))[0]
	g.CapacityRebalance = aws.Bool(false)
	scaleGroups(t, w, 1, "small-a")
	w.Advance(w.Start().Add(20 * time.Second))
	id := membersOf(t, w, "small-a")[0]
	w.Advance(w.Start().Add(10 * time.Minute))
	want := []string{
		"5s EC2 Instance State-change Notification pending",
		"6s EC2 Instance-launch Lifecycle Action",
		"13s EC2 Instance State-change Notification running",
		"14s EC2 Instance Rebalance Recommendation",
		"14s EC2 Spot Instance Interruption Warning",
		"1m15s EC2 Instance State-change Notification shutting-down",
		"1m15s EC2 Instance Launch Unsuccessful",
		"1m35s EC2 Instance State-change Notification terminated",
	}
	if diff := cmp.Diff(eventsAbout(t, w, *events, id), want); diff != "" {
		t.Errorf("events (-got +want):\n%s", diff)
	}
	in := w.Instances.Get(id)
	if *in.StateReason.Code != "Server.SpotInstanceTermination" || *in.StateReason.Message != "Server.SpotInstanceTermination: Spot instance termination" ||
		*in.StateTransitionReason != "Server.SpotInstanceTermination (2026-11-20 14:59:15 GMT)" {
		t.Errorf("reason %v, transition %q", *in.StateReason, *in.StateTransitionReason)
	}
	if got := eventDetails(t, *events, "EC2 Instance Launch Unsuccessful")[0]["StatusMessage"]; got != "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Server.SpotInstanceTermination: Spot instance termination" {
		t.Errorf("the launch says %q", got)
	}
	if readiness(t, w, id) != "" {
		t.Error("the reclaimed instance is a node")
	}
	// Only the first launch of the pool is taken back.
	if ids := membersOf(t, w, "small-a"); len(ids) != 1 || ids[0] == id || readiness(t, w, ids[0]) != "True" {
		t.Errorf("the group has %q, want one that joined", ids)
	}
}

func TestWarningsHaveTheirShape(t *testing.T) {
	w, events := withSpot(t, 1, worldfile.SpotFile{Pools: []worldfile.PoolFile{{Reclaim: &worldfile.Reclaim{After: 5 * time.Minute, Rebalance: 4 * time.Minute}}}})
	w.GroupsOf(w.Nodegroups.Get("eks-workshop/small-a"))[0].CapacityRebalance = aws.Bool(false)
	scaleGroups(t, w, 1, "small-a")
	w.Advance(w.Start().Add(4 * time.Minute))
	id := membersOf(t, w, "small-a")[0]
	var got []string
	for _, e := range *events {
		var env map[string]any
		if err := json.Unmarshal(e, &env); err != nil {
			t.Fatal(err)
		}
		if kind := env["detail-type"].(string); strings.Contains(kind, "Warning") || strings.Contains(kind, "Rebalance") {
			detail, err := json.Marshal(env["detail"])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %s %s %s", env["time"], kind, env["resources"], detail))
		}
	}
	want := []string{
		"2026-11-20T14:59:05Z EC2 Instance Rebalance Recommendation [arn:aws:ec2:us-west-2a:instance/" + id + `] {"instance-id":"` + id + `"}`,
		"2026-11-20T15:01:05Z EC2 Spot Instance Interruption Warning [arn:aws:ec2:us-west-2a:instance/" + id + `] {"instance-action":"terminate","instance-id":"` + id + `"}`,
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("warnings (-got +want):\n%s", diff)
	}
}

func TestEachInstanceHasItsOwnTime(t *testing.T) {
	w, _ := open(t, "spot-reclaimed")
	w.Advance(w.Start().Add(30 * time.Minute))
	lives := map[time.Duration]bool{}
	for _, in := range w.Instances.All() {
		zone := aws.ToString(in.Placement.AvailabilityZone)
		if in.InstanceLifecycle != "spot" || in.InstanceType != "c5.4xlarge" || zone != "us-west-2b" {
			if in.StateReason != nil && *in.StateReason.Code == lifecycle.SpotTermination {
				t.Errorf("%s in %s was taken back", in.InstanceType, zone)
			}
			continue
		}
		if !state.Ended(in) {
			continue
		}
		_, when, _ := strings.Cut(aws.ToString(in.StateTransitionReason), "(")
		end, err := time.Parse("2006-01-02 15:04:05 GMT)", when)
		if err != nil {
			t.Fatal(err)
		}
		life := end.Sub(*in.LaunchTime)
		if lives[life] = true; life < time.Minute || life > 150*time.Second {
			t.Errorf("%s lived %s, want 60 to 150 s", *in.InstanceId, life)
		}
		if readiness(t, w, *in.InstanceId) != "" {
			t.Errorf("%s joined", *in.InstanceId)
		}
	}
	if len(lives) < 3 {
		t.Errorf("lives %v, want several", lives)
	}
}

func TestWholePoolTakenBack(t *testing.T) {
	w, events := withSpot(t, 1, worldfile.SpotFile{Pools: []worldfile.PoolFile{{Type: "t3.medium", Reclaim: &worldfile.Reclaim{At: []time.Duration{10 * time.Minute}}}}})
	scaleGroups(t, w, 2, "small-a", "small-b")
	w.Advance(w.Start().Add(8*time.Minute - time.Second))
	before := append(membersOf(t, w, "small-a"), membersOf(t, w, "small-b")...)
	w.Advance(w.Start().Add(9 * time.Minute))
	if got := len(eventDetails(t, *events, "EC2 Spot Instance Interruption Warning")); got != 4 {
		t.Errorf("%d warnings two minutes before, want 4", got)
	}
	w.Advance(w.Start().Add(15 * time.Minute))
	for _, id := range before {
		if in := w.Instances.Get(id); !state.Ended(in) || *in.StateReason.Code != lifecycle.SpotTermination {
			t.Errorf("%s is %s", id, in.State.Name)
		}
	}
	if got := len(membersOf(t, w, "small-a")); got != 2 {
		t.Errorf("the group has %d instances after that, want 2 new ones", got)
	}
}

// Capacity rebalancing launches first and ends the old one when the new one
// serves; the group never has fewer than it should.
func TestCapacityRebalancing(t *testing.T) {
	w, events := withSpot(t, 1, worldfile.SpotFile{Pools: []worldfile.PoolFile{{Type: "t3.medium", Reclaim: &worldfile.Reclaim{After: 20 * time.Minute, Rebalance: 12 * time.Minute, Times: 1}}}})
	g := w.GroupsOf(w.Nodegroups.Get("eks-workshop/small-a"))[0]
	if !aws.ToBool(g.CapacityRebalance) {
		t.Fatal("EKS did not turn capacity rebalancing on for Spot")
	}
	scaleGroups(t, w, 1, "small-a")
	w.Advance(w.Start().Add(3 * time.Minute))
	old := membersOf(t, w, "small-a")[0]
	w.Advance(w.Start().Add(8*time.Minute + 10*time.Second))
	if got := membersOf(t, w, "small-a"); len(got) != 2 || got[0] != old {
		t.Fatalf("at the recommendation the group has %q, want the old one and one more", got)
	}
	w.Advance(w.Start().Add(12 * time.Minute))
	now := membersOf(t, w, "small-a")
	if len(now) != 1 || now[0] == old || readiness(t, w, now[0]) != "True" {
		t.Fatalf("after it the group has %q, want the new node", now)
	}
	if in := w.Instances.Get(old); *in.StateReason.Code != "Client.UserInitiatedShutdown" {
		t.Errorf("the old one ended by %s", *in.StateReason.Code)
	}
	if n := len(eventDetails(t, *events, "EC2 Spot Instance Interruption Warning")); n != 0 {
		t.Errorf("%d interruption warnings of an instance that had gone", n)
	}
	var causes []string
	for _, a := range activities(t, w, g.Name()) {
		_, cause, _ := strings.Cut(*a.Cause, "Z ")
		causes = append(causes, cause)
	}
	want := []string{
		"an instance was taken out of service in response to an EC2 instance rebalance recommendation.",
		"an instance was launched in response to an EC2 instance rebalance recommendation for instance " + old + ".",
	}
	if diff := cmp.Diff(causes[:2], want); diff != "" {
		t.Errorf("causes (-got +want):\n%s", diff)
	}
}

// An old instance that is taken back before its replacement serves leaves the
// group with that one, and no third is launched.
func TestTakenBackWhileBeingReplaced(t *testing.T) {
	w, _ := withSpot(t, 1, worldfile.SpotFile{Pools: []worldfile.PoolFile{{Type: "t3.medium", Reclaim: &worldfile.Reclaim{After: 5 * time.Minute, Rebalance: 130 * time.Second, Times: 1}}}},
		func(f *worldfile.File) { f.Nodes.BootSeconds = 200 })
	scaleGroups(t, w, 1, "small-a")
	w.Advance(w.Start().Add(15 * time.Minute))
	g := w.GroupsOf(w.Nodegroups.Get("eks-workshop/small-a"))[0]
	if len(g.Launched) != 2 || len(g.Instances) != 1 || *g.Instances[0].InstanceId != g.Launched[1] {
		t.Errorf("launched %q, has %d; want two launched and the second there", g.Launched, len(g.Instances))
	}
}
