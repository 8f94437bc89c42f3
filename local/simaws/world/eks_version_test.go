package world

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/table"
	"rollcall/local/simaws/worldfile"
)

func TestRollingUpdateReplacesAll(t *testing.T) {
	for _, unavailable := range []int32{1, 2, 9} {
		w, _ := open(t, "healthy-nat")
		n, g := w.Nodegroups.Get("eks-workshop/default"), w.Groups.Get(defaultGroupName)
		n.UpdateConfig.MaxUnavailable = aws.Int32(unavailable)
		old := table.Each(g.Instances, memberID)
		out, err := w.EKS().UpdateNodegroupVersion(&eks.UpdateNodegroupVersionInput{ClusterName: n.ClusterName, NodegroupName: n.NodegroupName, ReleaseVersion: aws.String("1.35.0-20261119")})
		if err != nil {
			t.Fatal(err)
		}
		if out.Update.Type != ekstypes.UpdateTypeVersionUpdate || *out.Update.Params[0].Value != "1.35" || *out.Update.Params[1].Value != "1.35.0-20261119" {
			t.Errorf("update: got %+v", out.Update)
		}
		least := len(g.Instances)
		for i := range 60 {
			w.Advance(w.Start().Add(time.Duration(i) * 15 * time.Second))
			ready := 0
			for _, m := range g.Instances {
				if w.IsReady(*m.InstanceId) && !strings.HasPrefix(string(m.LifecycleState), "Terminat") {
					ready++
				}
			}
			least = min(least, ready)
		}
		if got := updateState(t, w, "default"); got != "VersionUpdate Successful" {
			t.Errorf("%d unavailable: got %q", unavailable, got)
		}
		if got := standing(t, w, "default"); got != "ACTIVE" || *n.ReleaseVersion != "1.35.0-20261119" || *n.Version != "1.35" {
			t.Errorf("%d unavailable: got %q, release %s", unavailable, got, *n.ReleaseVersion)
		}
		if least < 3 {
			t.Errorf("%d unavailable: %d Ready nodes on the way, want the new ones first", unavailable, least)
		}
		now := table.Each(g.Instances, memberID)
		if len(now) != 3 || slices.ContainsFunc(now, func(id string) bool { return slices.Contains(old, id) }) || *g.MaxSize != 6 || *g.DesiredCapacity != 3 {
			t.Errorf("%d unavailable: got %q after %q, max %d, desired %d", unavailable, now, old, *g.MaxSize, *g.DesiredCapacity)
		}
		for _, id := range now {
			_, node := w.NodeOf(id)
			info := (*node)["status"].(map[string]any)["nodeInfo"].(map[string]any)
			if info["kubeletVersion"] != "v1.35.0-eks-113cf36" {
				t.Errorf("kubelet of %s: got %v", id, info["kubeletVersion"])
			}
		}
	}
}

func memberID(i astypes.Instance) *string { return i.InstanceId }

// An update that brings nodes which join is also the scale-out that ends
// DEGRADED; a failed change of configuration leaves the status and the size of
// before.
func TestUpdatesOfADegradedNodegroup(t *testing.T) {
	w, _ := open(t, "healthy-nat")
	w.Advance(w.Start().Add(2 * time.Minute))
	bad := worldfile.EKSChange{Nodegroup: "new_nodegroup_2", Status: "DEGRADED", Issues: []worldfile.EKSIssue{{Code: "AsgInstanceLaunchFailures", ResourceIds: []string{storyGroup}}}}
	if err := w.Change(bad); err != nil {
		t.Fatal(err)
	}
	w.FailNextUpdate(worldfile.UpdateFault{Nodegroup: "default", Errors: []worldfile.EKSIssue{{Code: "Other"}}})
	w.FailNextUpdate(worldfile.UpdateFault{Nodegroup: "new_nodegroup_2", Type: "ConfigUpdate", After: time.Minute, Errors: []worldfile.EKSIssue{{Code: "ClusterUnreachable", Message: "m", ResourceIds: []string{"eks-workshop"}}}})
	scale(t, w, 0)
	if got := standing(t, w, "new_nodegroup_2"); !strings.HasPrefix(got, "UPDATING") {
		t.Errorf("meanwhile: got %q", got)
	}
	w.Advance(w.Now().Add(61 * time.Second))
	if got := updateState(t, w, "new_nodegroup_2"); got != "ConfigUpdate Failed ClusterUnreachable eks-workshop" {
		t.Errorf("update: got %q", got)
	}
	if got := standing(t, w, "new_nodegroup_2"); got != "DEGRADED AsgInstanceLaunchFailures[eks]" || *w.Nodegroups.Get("eks-workshop/new_nodegroup_2").ScalingConfig.DesiredSize != 1 {
		t.Errorf("after it: got %q", got)
	}
	if _, err := w.EKS().UpdateNodegroupVersion(&eks.UpdateNodegroupVersionInput{ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("new_nodegroup_2")}); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Now().Add(5 * time.Minute))
	if got := standing(t, w, "new_nodegroup_2") + ", " + updateState(t, w, "new_nodegroup_2"); got != "ACTIVE, VersionUpdate Successful" {
		t.Errorf("after the next: got %q", got)
	}
}

func TestListUpdatesPages(t *testing.T) {
	w, _ := open(t, "healthy-nat")
	var want []string
	for i := range 3 {
		w.Advance(w.Start().Add(time.Duration(i+1) * time.Minute))
		scale(t, w, i%2)
	}
	for _, u := range slices.Backward(w.Nodegroups.Get("eks-workshop/new_nodegroup_2").Updates) {
		want = append(want, *u.Id)
	}
	in := &eks.ListUpdatesInput{Name: aws.String("eks-workshop"), NodegroupName: aws.String("new_nodegroup_2"), MaxResults: aws.Int32(3)}
	var got []string
	for {
		out, err := w.EKS().ListUpdates(in)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, out.UpdateIds...)
		if in.NextToken = out.NextToken; in.NextToken == nil {
			break
		}
	}
	if diff := cmp.Diff(got, want); diff != "" || len(got) != 4 {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if _, err := w.EKS().DescribeUpdate(&eks.DescribeUpdateInput{Name: in.Name, NodegroupName: aws.String("default"), UpdateId: &want[0]}); code(t, err) != "ResourceNotFoundException" {
		t.Errorf("of another nodegroup: got %v", err)
	}
}

func TestChangesAreChecked(t *testing.T) {
	f, err := worldfile.Load("../../worlds/healthy-nat.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]worldfile.EKSChange{"nothing": {}, "both": {Nodegroup: "default", Addon: "vpc-cni"}} {
		g := deepcopy.Of(*f)
		g.EKS.Changes = []worldfile.EKSChange{c}
		if _, err := New(&g, Options{}); err == nil || !strings.Contains(err.Error(), "eks.changes") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	w, err := New(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []worldfile.EKSChange{{Nodegroup: "x"}, {Addon: "x"}, {Cluster: "x", Nodegroup: "default"}} {
		if err := w.Change(c); err == nil {
			t.Errorf("%+v: got no error", c)
		}
	}
}
