package world

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
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
				failed := told(t, *events, "EC2 Instance Launch Unsuccessful")
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
