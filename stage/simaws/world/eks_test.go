package world

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"

	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
	"rollcall/stage/simaws/worldfile"
)

func TestNodegroupUpdate(t *testing.T) {
	w, _ := open(t, "route")
	api := w.EKS()
	cluster, name := aws.String("eks-workshop"), aws.String("new_nodegroup_2")
	in := &eks.UpdateNodegroupConfigInput{
		ClusterName: cluster, NodegroupName: name,
		ScalingConfig: &ekstypes.NodegroupScalingConfig{DesiredSize: aws.Int32(1)},
		Labels:        &ekstypes.UpdateLabelsPayload{AddOrUpdateLabels: map[string]string{"team": "a"}},
	}
	out, err := api.UpdateNodegroupConfig(in)
	if err != nil {
		t.Fatal(err)
	}
	var params []string
	for _, p := range out.Update.Params {
		params = append(params, string(p.Type)+" "+*p.Value)
	}
	if diff := cmp.Diff(params, []string{"DesiredSize 1", `LabelsToAdd {"team":"a"}`}); diff != "" {
		t.Errorf("params (-got +want):\n%s", diff)
	}
	if _, err := api.UpdateNodegroupConfig(in); code(t, err) != "ResourceInUseException" {
		t.Errorf("while updating: got %v", err)
	}
	status := func() string {
		u, err := api.DescribeUpdate(&eks.DescribeUpdateInput{Name: cluster, NodegroupName: name, UpdateId: out.Update.Id})
		if err != nil {
			t.Fatal(err)
		}
		n, err := api.DescribeNodegroup(&eks.DescribeNodegroupInput{ClusterName: cluster, NodegroupName: name})
		if err != nil {
			t.Fatal(err)
		}
		return string(u.Update.Status) + " " + string(n.Nodegroup.Status)
	}
	if got := status(); got != "InProgress UPDATING" {
		t.Errorf("at once: got %q", got)
	}
	w.Advance(w.Start().Add(5 * time.Second))
	if got := status(); got != "Successful ACTIVE" {
		t.Errorf("5 s later: got %q", got)
	}
	list, err := api.ListUpdates(&eks.ListUpdatesInput{Name: cluster, NodegroupName: name})
	if err != nil || len(list.UpdateIds) != 1 || list.UpdateIds[0] != *out.Update.Id {
		t.Errorf("updates: got %v, %v", list, err)
	}
}

func TestNewNodegroupFailsAfterTwentyMinutes(t *testing.T) {
	tests := map[string]struct {
		world string
		want  string
	}{
		"broken":  {"route", "CREATE_FAILED NodeCreationFailure"},
		"healthy": {"healthy-nat", "ACTIVE"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := worldfile.Load("../../worlds/" + tt.world + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			ng := &f.EKS.Nodegroups[1]
			ng.Status, ng.CreatedAt = ekstypes.NodegroupStatusCreating, aws.Time(f.Time)
			ng.ScalingConfig.DesiredSize = aws.Int32(1)
			f.AutoScaling.AutoScalingGroups[1].DesiredCapacity = aws.Int32(1)
			f.Timeline = nil
			w, err := New(f, Options{})
			if err != nil {
				t.Fatal(err)
			}
			w.Advance(w.Start().Add(19 * time.Minute))
			if got := w.Nodegroups.Get("eks-workshop/new_nodegroup_2").Status; tt.world == "route" && got != "CREATING" {
				t.Errorf("after 19 min: got %s, want CREATING", got)
			}
			w.Advance(w.Start().Add(21 * time.Minute))
			n := w.Nodegroups.Get("eks-workshop/new_nodegroup_2")
			got := string(n.Status)
			for _, i := range n.Health.Issues {
				got += " " + string(i.Code)
			}
			if got != tt.want {
				t.Errorf("after 21 min: got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAccessPolicies(t *testing.T) {
	w, _ := open(t, "route")
	api := w.EKS()
	cluster, who := aws.String("eks-workshop"), aws.String("arn:aws:iam::111122223333:role/rollcall-join-check")
	policy := aws.String("arn:aws:eks::aws:cluster-access-policy/AmazonAIOpsAssistantPolicy")
	associate := func() error {
		_, err := api.AssociateAccessPolicy(&eks.AssociateAccessPolicyInput{ClusterName: cluster, PrincipalArn: who, PolicyArn: policy, AccessScope: &ekstypes.AccessScope{Type: ekstypes.AccessScopeTypeCluster}})
		return err
	}
	if got := code(t, associate()); got != "ResourceNotFoundException" {
		t.Errorf("without an entry: got %q", got)
	}
	if _, err := api.CreateAccessEntry(&eks.CreateAccessEntryInput{ClusterName: cluster, PrincipalArn: who}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.CreateAccessEntry(&eks.CreateAccessEntryInput{ClusterName: cluster, PrincipalArn: who}); code(t, err) != "ResourceInUseException" {
		t.Errorf("twice: got %v", err)
	}
	if err := associate(); err != nil {
		t.Fatal(err)
	}
	policies := func() []string {
		out, err := api.ListAssociatedAccessPolicies(&eks.ListAssociatedAccessPoliciesInput{ClusterName: cluster, PrincipalArn: who})
		if err != nil {
			t.Fatal(err)
		}
		return table.Each(out.AssociatedAccessPolicies, func(p ekstypes.AssociatedAccessPolicy) *string { return p.PolicyArn })
	}
	if diff := cmp.Diff(policies(), []string{*policy}); diff != "" {
		t.Errorf("policies (-got +want):\n%s", diff)
	}
	if _, err := api.DisassociateAccessPolicy(&eks.DisassociateAccessPolicyInput{ClusterName: cluster, PrincipalArn: who, PolicyArn: policy}); err != nil {
		t.Fatal(err)
	}
	if got := policies(); len(got) != 0 {
		t.Errorf("after disassociating: got %q", got)
	}
	w.State.Clusters.Get("eks-workshop").AccessConfig.AuthenticationMode = ekstypes.AuthenticationModeConfigMap
	_, err := api.ListAccessEntries(&eks.ListAccessEntriesInput{ClusterName: cluster})
	if got := code(t, err); got != "InvalidRequestException" {
		t.Errorf("in CONFIG_MAP mode: got %q", got)
	}
}

func TestEKSNames(t *testing.T) {
	w, _ := open(t, "route")
	api := w.EKS()
	cluster := aws.String("eks-workshop")
	first, err := api.ListAddons(&eks.ListAddonsInput{ClusterName: cluster, MaxResults: aws.Int32(2)})
	if err != nil {
		t.Fatal(err)
	}
	second, err := api.ListAddons(&eks.ListAddonsInput{ClusterName: cluster, MaxResults: aws.Int32(2), NextToken: first.NextToken})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(first.Addons, second.Addons...), []string{"vpc-cni", "kube-proxy", "coredns"}); diff != "" || second.NextToken != nil {
		t.Errorf("add-ons (-got +want):\n%s", diff)
	}
	_, err = api.DescribeAddon(&eks.DescribeAddonInput{ClusterName: cluster, AddonName: aws.String("x")})
	if got := code(t, err); got != "ResourceNotFoundException" {
		t.Errorf("unknown add-on: got %q", got)
	}
	_, err = api.DescribeCluster(&eks.DescribeClusterInput{Name: aws.String("x")})
	if got, want := err.Error(), "ResourceNotFoundException: No cluster found for name: x."; got != want {
		t.Errorf("unknown cluster: got %q, want %q", got, want)
	}
}

func TestIAM(t *testing.T) {
	w, _ := open(t, "route")
	api := w.IAM()
	p, err := api.GetInstanceProfile(&iam.GetInstanceProfileInput{InstanceProfileName: aws.String("eks-e2ca4e02-248f-cb7e-45a7-6fa9b0230007")})
	if err != nil {
		t.Fatal(err)
	}
	if got := *p.InstanceProfile.Roles[0].Arn; got != "arn:aws:iam::111122223333:role/new_nodegroup_2" {
		t.Errorf("role: got %q", got)
	}
	in := &iam.ListAttachedRolePoliciesInput{RoleName: aws.String("new_nodegroup_2"), MaxItems: aws.Int32(3)}
	var names []string
	for {
		out, err := api.ListAttachedRolePolicies(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range out.AttachedPolicies {
			names = append(names, *a.PolicyName)
		}
		if !out.IsTruncated {
			break
		}
		in.Marker = out.Marker
	}
	if diff := cmp.Diff(names, []string{"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryReadOnly", "AmazonEKS_CNI_Policy", "AmazonSSMManagedInstanceCore"}); diff != "" {
		t.Errorf("policies (-got +want):\n%s", diff)
	}
	_, err = api.GetRole(&iam.GetRoleInput{RoleName: aws.String("x")})
	if got := code(t, err); got != "NoSuchEntity" {
		t.Errorf("unknown role: got %q", got)
	}
}

// Calls of EKS that meet each other leave a world that goes on and comes to
// rest: no nodegroup is left in a passing state.
func TestCallsThatMeet(t *testing.T) {
	const ng = `{"clusterName":"eks-workshop","nodegroupName":"workers"`
	born := "eks:CreateNodegroup " + ng + `,"nodeRole":"arn:aws:iam::111122223333:role/new_nodegroup_2","subnets":["subnet-0b20000000000000a","subnet-0c30000000000000d"],"scalingConfig":{"minSize":0,"maxSize":3,"desiredSize":2}}`
	roll, drop := "eks:UpdateNodegroupVersion "+ng+"}", "eks:DeleteNodegroup "+ng+"}"
	grow := "eks:UpdateNodegroupConfig " + ng + `,"scalingConfig":{"desiredSize":3}}`
	tests := map[string]struct {
		calls []string
		every time.Duration
		want  string
	}{
		"deleted while it is created":  {[]string{born, drop}, 10 * time.Second, "ResourceNotFoundException"},
		"made again at once":           {[]string{born, drop, "", "", "", "", born}, 20 * time.Second, "CREATE_FAILED NodeCreationFailure[i]"},
		"updated while it is created":  {[]string{born, roll, grow}, 10 * time.Second, "CREATE_FAILED NodeCreationFailure[i]"},
		"rolled with a broken subnet":  {[]string{`ec2:CreateRoute {"RouteTableId":"rtb-0cd20000000000002","DestinationCidrBlock":"0.0.0.0/0","NatGatewayId":"nat-0aa40000000000001"}`, born, `ec2:DeleteRoute {"RouteTableId":"rtb-0cd20000000000002","DestinationCidrBlock":"0.0.0.0/0"}`, roll, drop}, 4 * time.Minute, "ACTIVE"},
		"scaled while it is updated":   {[]string{`ec2:CreateRoute {"RouteTableId":"rtb-0cd20000000000002","DestinationCidrBlock":"0.0.0.0/0","NatGatewayId":"nat-0aa40000000000001"}`, born, "", "", roll, grow}, time.Minute, "ACTIVE"},
		"its template is deleted then": {[]string{`ec2:CreateRoute {"RouteTableId":"rtb-0cd20000000000002","DestinationCidrBlock":"0.0.0.0/0","NatGatewayId":"nat-0aa40000000000001"}`, born, "", "", roll, "template"}, time.Minute, "DEGRADED Ec2LaunchTemplateNotFound[lt]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, "route")
			for _, c := range tt.calls {
				w.Advance(w.Now().Add(tt.every))
				op, in, _ := strings.Cut(c, " ")
				if op == "template" {
					spec := w.GroupsOf(w.Nodegroups.Get("eks-workshop/workers"))[0].TemplateSpec()
					op, in = "ec2:DeleteLaunchTemplate", `{"LaunchTemplateId":"`+*spec.LaunchTemplateId+`"}`
				}
				if op != "" {
					_, _ = w.Call(op, json.RawMessage(in)) // refused where it meets another
				}
			}
			w.Advance(w.Now().Add(3 * time.Hour))
			if got := standing(t, w, "workers"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if n := w.Nodegroups.Get("eks-workshop/workers"); n != nil {
				for _, g := range w.GroupsOf(n) {
					if *g.MaxSize > 3 || *g.DesiredCapacity > 3 {
						t.Errorf("the group is left at max %d, desired %d", *g.MaxSize, *g.DesiredCapacity)
					}
				}
			}
		})
	}
}

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
		g := state.Copy(*f)
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
