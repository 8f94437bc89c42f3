package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/worldfile"
	"rollcall/local/simaws/zonalshift"
)

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
