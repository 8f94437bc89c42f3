package world

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/google/go-cmp/cmp"
)

// standing is a nodegroup's status and its issues: the code and, in place of
// ids, what each is.
func standing(t *testing.T, w *World, name string) string {
	t.Helper()
	out, err := w.EKS().DescribeNodegroup(&eks.DescribeNodegroupInput{ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String(name)})
	if err != nil {
		return code(t, err)
	}
	text := string(out.Nodegroup.Status)
	for _, i := range out.Nodegroup.Health.Issues {
		var kinds []string
		for _, id := range i.ResourceIds {
			prefix, _, _ := strings.Cut(id, "-")
			kinds = append(kinds, strings.SplitAfter(prefix, "DUMMY_")[0])
		}
		text += " " + string(i.Code) + "[" + strings.Join(kinds, " ") + "]"
	}
	return text
}

// updateState is the newest update of a nodegroup: type, status and errors.
func updateState(t *testing.T, w *World, name string) string {
	t.Helper()
	cluster := aws.String("eks-workshop")
	list, err := w.EKS().ListUpdates(&eks.ListUpdatesInput{Name: cluster, NodegroupName: aws.String(name), MaxResults: aws.Int32(1)})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.UpdateIds) == 0 {
		return ""
	}
	out, err := w.EKS().DescribeUpdate(&eks.DescribeUpdateInput{Name: cluster, NodegroupName: aws.String(name), UpdateId: aws.String(list.UpdateIds[0])})
	if err != nil {
		t.Fatal(err)
	}
	text := string(out.Update.Type) + " " + string(out.Update.Status)
	for _, e := range out.Update.Errors {
		text += " " + string(e.ErrorCode) + " " + strings.Join(e.ResourceIds, " ")
	}
	return text
}

func TestNodegroupWorlds(t *testing.T) {
	type at struct {
		when      time.Duration
		nodegroup string
		want      string
	}
	tests := map[string][]at{
		"nodegroup-degraded": {
			{2 * time.Minute, "new_nodegroup_2", "ACTIVE"},
			{23 * time.Minute, "new_nodegroup_2", "ACTIVE"},
			{24 * time.Minute, "new_nodegroup_2", "DEGRADED NodeCreationFailure[i]"},
			{31 * time.Minute, "new_nodegroup_2", "DEGRADED NodeCreationFailure[i]"},
			{39 * time.Minute, "new_nodegroup_2", "DEGRADED NodeCreationFailure[i]"},
			{42 * time.Minute, "new_nodegroup_2", "ACTIVE"},
		},
		"nodegroup-create-failed": {
			{5 * time.Second, "routeless", "ResourceNotFoundException"},
			{5 * time.Minute, "routeless", "CREATING"},
			{5 * time.Minute, "lost-subnet", "CREATING"},
			{6 * time.Minute, "lost-subnet", "CREATE_FAILED Ec2SubnetNotFound[subnet]"},
			{20 * time.Minute, "routeless", "CREATING"},
			{20 * time.Minute, "encrypted", "CREATING"},
			{21 * time.Minute, "routeless", "CREATE_FAILED NodeCreationFailure[i i]"},
			{21 * time.Minute, "encrypted", "CREATE_FAILED AsgInstanceLaunchFailures[eks] NodeCreationFailure[DUMMY_ DUMMY_]"},
			{32 * time.Minute, "routeless", "CREATE_FAILED NodeCreationFailure[i i]"},
			{41 * time.Minute, "routeless", "ResourceNotFoundException"},
			{3 * time.Hour, "routeless", "ACTIVE"},
			{3 * time.Hour, "lost-subnet", "ResourceNotFoundException"},
			{3 * time.Hour, "encrypted", "ResourceNotFoundException"},
		},
		"nodegroup-unknown-code": {
			{9 * time.Minute, "new_nodegroup_2", "ACTIVE"},
			{11 * time.Minute, "new_nodegroup_2", "DEGRADED Ec2PlacementGroupNotFound[pg]"},
			{41 * time.Minute, "new_nodegroup_2", "ACTIVE"},
		},
		"nodegroup-update-failed": {
			{4 * time.Minute, "new_nodegroup_2", "ACTIVE"},
			{6 * time.Minute, "new_nodegroup_2", "UPDATING"},
			{6 * time.Minute, "default", "UPDATING"},
			{7 * time.Minute, "default", "ACTIVE"},
			{24 * time.Minute, "new_nodegroup_2", "UPDATING"},
			{25 * time.Minute, "new_nodegroup_2", "ACTIVE"},
			{60 * time.Minute, "new_nodegroup_2", "ACTIVE"},
		},
		"addon-degraded": {
			{50 * time.Minute, "new_nodegroup_2", "ACTIVE"},
		},
	}
	for name, points := range tests {
		t.Run(name, func(t *testing.T) {
			w, events := open(t, name)
			for _, p := range points {
				w.Advance(w.Start().Add(p.when))
				if got := standing(t, w, p.nodegroup); got != p.want {
					t.Errorf("%s at %s: got %q, want %q", p.nodegroup, p.when, got, p.want)
				}
			}
			for _, e := range *events {
				if text := string(e); strings.Contains(text, `"aws.eks"`) && !strings.Contains(text, "CloudTrail") && !strings.Contains(text, "EKS Addon") {
					t.Errorf("EKS sends no such event: %s", text)
				}
			}
		})
	}
}

func TestCreateFailedIsToldByItsStack(t *testing.T) {
	w, events := open(t, "nodegroup-create-failed")
	w.Advance(w.Start().Add(22 * time.Minute))
	var got []string
	for _, d := range told(t, *events, "CloudFormation Resource Status Change") {
		if d["resource-type"] != "AWS::EKS::Nodegroup" || d["physical-resource-id"] != "eks-workshop/routeless" || d["logical-resource-id"] != "ManagedNodeGroup" ||
			!strings.HasPrefix(d["stack-id"].(string), "arn:aws:cloudformation:us-west-2:111122223333:stack/eksctl-eks-workshop-nodegroup-routeless/") {
			t.Errorf("got %v", d)
		}
		details := d["status-details"].(map[string]any)
		got = append(got, details["status"].(string)+" "+details["status-reason"].(string))
	}
	ids := w.Nodegroups.Get("eks-workshop/routeless").Health.Issues[0].ResourceIds
	want := []string{
		"CREATE_IN_PROGRESS ",
		"CREATE_FAILED Nodegroup routeless failed to stabilize: [{Code: NodeCreationFailure,Message: Instances failed to join the kubernetes cluster,ResourceIds: [" + strings.Join(ids, ", ") + "]}]",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestUpdateFailures(t *testing.T) {
	w, _ := open(t, "nodegroup-update-failed")
	w.Advance(w.Start().Add(4 * time.Minute))
	old := members(t, w)
	w.Advance(w.Start().Add(6 * time.Minute))
	if got := updateState(t, w, "default"); got != "VersionUpdate InProgress" {
		t.Errorf("default: got %q", got)
	}
	both := members(t, w)
	w.Advance(w.Start().Add(7 * time.Minute))
	if got := updateState(t, w, "default"); got != "VersionUpdate Failed PodEvictionFailure ip-10-42-101-17.us-west-2.compute.internal" {
		t.Errorf("default: got %q", got)
	}
	w.Advance(w.Start().Add(26 * time.Minute))
	if len(both) != 2 {
		t.Fatalf("while updating: got %q, want two", both)
	}
	if got := updateState(t, w, "new_nodegroup_2"); got != "VersionUpdate Failed NodeCreationFailure "+both[1] {
		t.Errorf("new_nodegroup_2: got %q, want the failure of %s", got, both[1])
	}
	if got := members(t, w); !slices.Equal(got, old) || readiness(t, w, old[0]) != "True" {
		t.Errorf("after it: got %q, want the old %q alone", got, old)
	}
	g, n := w.Groups.Get(storyGroup), w.Nodegroups.Get("eks-workshop/new_nodegroup_2")
	if *g.MaxSize != 1 || *g.DesiredCapacity != 1 || *g.TemplateSpec().Version != "1" || *n.ReleaseVersion != "1.34.1-20261112" {
		t.Errorf("left behind: max %d, desired %d, template version %s, release %s", *g.MaxSize, *g.DesiredCapacity, *g.TemplateSpec().Version, *n.ReleaseVersion)
	}
}

func TestAddonHealthIsTold(t *testing.T) {
	w, events := open(t, "addon-degraded")
	kinds := func() []string {
		var out []string
		for _, e := range *events {
			var env struct {
				Kind      string `json:"detail-type"`
				Source    string
				Resources []string
				Detail    struct {
					ClusterName, AddonName, Status string
					Health                         struct{ Issues []struct{ Code string } }
				}
			}
			if err := json.Unmarshal(e, &env); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(env.Kind, "EKS Addon") {
				if env.Source != "aws.eks" || len(env.Resources) != 1 || !strings.HasPrefix(env.Resources[0], "arn:aws:eks:us-west-2:111122223333:addon/eks-workshop/vpc-cni/") || env.Detail.AddonName != "vpc-cni" || env.Detail.ClusterName != "eks-workshop" {
					t.Errorf("got %s", e)
				}
				text := env.Kind + " " + env.Detail.Status
				for _, i := range env.Detail.Health.Issues {
					text += " " + i.Code
				}
				out = append(out, text)
			}
		}
		return out
	}
	w.Advance(w.Start().Add(11 * time.Minute))
	want := []string{"EKS Addon Health Degraded DEGRADED AccessDenied"}
	if diff := cmp.Diff(kinds(), want); diff != "" {
		t.Errorf("at 11 min (-got +want):\n%s", diff)
	}
	w.Advance(w.Start().Add(41 * time.Minute))
	want = append(want, "EKS Addon Health Restored ACTIVE", "EKS Addon Update Succeeded ACTIVE")
	if diff := cmp.Diff(kinds(), want); diff != "" {
		t.Errorf("at 41 min (-got +want):\n%s", diff)
	}
}
