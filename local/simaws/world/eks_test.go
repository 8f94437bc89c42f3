package world

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/table"
	"rollcall/local/simaws/worldfile"
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
