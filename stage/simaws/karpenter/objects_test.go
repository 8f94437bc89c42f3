package karpenter_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/simaws/worldfile"
)

// A class without subnets leaves no NodeClaim, no call and no event: only its own
// condition, and its NodePool's. Tags are seen within a minute.
func TestClassWithoutSubnets(t *testing.T) {
	s := start(t, atOnce)
	began := s.Now()
	s.pods("batch")
	s.pass(5 * time.Minute)
	class := s.one("ec2nodeclasses", "batch")
	if class.conditionLine("SubnetsReady") != "False SubnetsNotFound: SubnetSelector did not match any Subnets" ||
		class.conditionLine("ValidationSucceeded") != "False DependenciesNotReady: Awaiting AMI, Instance Profile, Security Group, and Subnet resolution" ||
		class.conditionLine("Ready") != "False UnhealthyDependents: SubnetsReady=False, ValidationSucceeded=False" {
		t.Errorf("the class: %+v", class.Status)
	}
	if got := s.one("nodepools", "batch").conditionLine("NodeClassReady"); got != "False UnhealthyDependents: SubnetsReady=False, ValidationSucceeded=False" {
		t.Errorf("the NodePool: %s", got)
	}
	if n, at, events := len(s.list("nodeclaims")), s.calls("CreateFleet", began, false), s.events("NodeClaim"); n+len(at)+len(events) > 0 {
		t.Errorf("%d NodeClaims, calls at %v, events %q", n, at, events)
	}
	if _, err := s.EC2().CreateTags(&awsec2.CreateTagsInput{
		Resources: []string{"subnet-0c30000000000000d"}, Tags: []ec2types.Tag{{Key: aws.String("karpenter.sh/discovery"), Value: aws.String("eks-workshop-batch")}},
	}); err != nil {
		t.Fatal(err)
	}
	s.pass(75 * time.Second)
	if got := s.one("ec2nodeclasses", "batch").conditionLine("Ready"); got != "True Ready" {
		t.Errorf("the class with a subnet: %s", got)
	}
	if got := s.one("nodeclaims", "").conditionLine("Launched"); got != "True Launched" {
		t.Errorf("the NodeClaim: %s", got)
	}
	// The subnet has no egress: 15 minutes after its creation the NodeClaim goes, with
	// its instance and all that it said.
	c := s.one("nodeclaims", "")
	id := c.Status.ProviderID[strings.LastIndex(c.Status.ProviderID, "/")+1:]
	made, err := time.Parse(time.RFC3339, c.Metadata.CreationTimestamp)
	if err != nil {
		t.Fatal(err)
	}
	s.Advance(made.Add(15*time.Minute - time.Second))
	if c = s.one("nodeclaims", c.Metadata.Name); c.conditionLine("Registered") != "Unknown NodeNotFound: Node not registered with cluster" || c.Metadata.DeletionTimestamp != "" {
		t.Errorf("a second before: %+v", c)
	}
	s.pass(4 * time.Second)
	if c = s.one("nodeclaims", c.Metadata.Name); c.Metadata.DeletionTimestamp == "" || c.conditionLine("InstanceTerminating") != "True InstanceTerminating" ||
		s.Instances.Get(id).State.Name != ec2types.InstanceStateNameShuttingDown {
		t.Errorf("the timeout: %+v, instance %s", c, s.Instances.Get(id).State.Name)
	}
	s.pass(40 * time.Second)
	if gone := s.one("nodeclaims", c.Metadata.Name); gone.Metadata.Name != "" || len(s.list("nodeclaims")) != 1 {
		t.Errorf("%d NodeClaims", len(s.list("nodeclaims")))
	}
}

// A startup taint that no controller removes keeps a node from being initialized; a limit
// keeps a NodePool from more nodes.
func TestTaintsAndLimits(t *testing.T) {
	s := start(t, func(f *worldfile.File) {
		spec := f.Kubernetes[cluster].NodePools[0]["spec"].(map[string]any)
		spec["limits"] = map[string]any{"cpu": "3"}
		inner := spec["template"].(map[string]any)["spec"].(map[string]any)
		inner["startupTaints"] = []any{map[string]any{"key": "node.cilium.io/agent-not-ready", "value": "true", "effect": "NoSchedule"}}
	})
	s.pods("web")
	s.pass(3 * time.Minute)
	if got := s.one("nodeclaims", "").conditionLine("Initialized"); got != `Unknown StartupTaintsExist: StartupTaint "node.cilium.io/agent-not-ready=true:NoSchedule" still exists` {
		t.Errorf("it says %s", got)
	}
	s.pods("web", "karpenter.sh/nodepool=web")
	s.pass(time.Minute)
	if n, events := len(s.list("nodeclaims")), s.events("Pod"); n != 1 || !slices.Contains(events,
		`FailedScheduling: Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=web)`) {
		t.Errorf("%d NodeClaims, events %q", n, events)
	}
}

// A NodeClaim whose instance is terminated goes; its pod gets another node.
func TestInstanceEnded(t *testing.T) {
	s := start(t)
	s.pods("web")
	s.pass(2 * time.Minute)
	c := s.one("nodeclaims", "")
	if _, err := s.EC2().TerminateInstances(&awsec2.TerminateInstancesInput{InstanceIds: []string{c.Status.ProviderID[strings.LastIndex(c.Status.ProviderID, "/")+1:]}}); err != nil {
		t.Fatal(err)
	}
	s.pass(4 * time.Minute)
	if next := s.one("nodeclaims", ""); next.Metadata.Name == c.Metadata.Name || next.conditionLine("Ready") != "True Ready" || len(s.list("nodeclaims")) != 1 {
		t.Errorf("%+v", next)
	}
}

// poolSpec and classSpec are what the file's NodePool web and class default want.
func poolSpec(f *worldfile.File) map[string]any {
	return f.Kubernetes[cluster].NodePools[0]["spec"].(map[string]any)
}

func classSpec(f *worldfile.File) map[string]any {
	return f.Kubernetes[cluster].EC2NodeClasses[0]["spec"].(map[string]any)
}

// What a class does not find is said by its conditions, in Karpenter's words.
func TestClassConditions(t *testing.T) {
	for name, test := range map[string]struct {
		change func(spec map[string]any)
		kind   string
		want   string
		ready  string
	}{
		"no security group": {func(s map[string]any) { s["securityGroupSelectorTerms"] = []any{map[string]any{"id": "sg-0dead"}} }, "SecurityGroupsReady",
			"False SecurityGroupsNotFound: SecurityGroupSelector did not match any SecurityGroups", "False UnhealthyDependents: SecurityGroupsReady=False, ValidationSucceeded=False"},
		"no image": {func(s map[string]any) { s["amiSelectorTerms"] = []any{map[string]any{"alias": "bottlerocket@latest"}} }, "AMIsReady",
			"False AMINotFound: AMISelector did not match any AMIs", "False UnhealthyDependents: AMIsReady=False, ValidationSucceeded=False"},
		"an image by its id": {func(s map[string]any) { s["amiSelectorTerms"] = []any{map[string]any{"id": "ami-0a1e2d3c4b5a69788"}} }, "AMIsReady",
			"True AMIsReady", "True Ready"},
		"a group by its name": {func(s map[string]any) {
			s["securityGroupSelectorTerms"] = []any{map[string]any{"name": "eks-cluster-sg-eks-workshop-1234567890"}}
		}, "SecurityGroupsReady", "True SecurityGroupsReady", "True Ready"},
		"a role that is not": {func(s map[string]any) { s["role"] = "nobody" }, "InstanceProfileReady",
			"Unknown AwaitingReconciliation: object is awaiting reconciliation", "Unknown ReconcilingDependents: InstanceProfileReady=Unknown, ValidationSucceeded=Unknown"},
		"a profile in its place": {func(s map[string]any) {
			delete(s, "role")
			s["instanceProfile"] = "eks-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"
		}, "InstanceProfileReady", "True InstanceProfileReady",
			"False UnhealthyDependents: ValidationSucceeded=False"}, // the controller may pass one role alone
	} {
		s := start(t, func(f *worldfile.File) { test.change(classSpec(f)) })
		class := s.one("ec2nodeclasses", "default")
		if got := class.conditionLine(test.kind); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
		if got := class.conditionLine("Ready"); got != test.ready {
			t.Errorf("%s: Ready %s", name, got)
		}
	}
}

// A NodePool whose class is not there says so; a pod gets nothing of it.
func TestNoSuchClass(t *testing.T) {
	s := start(t, func(f *worldfile.File) {
		inner := poolSpec(f)["template"].(map[string]any)["spec"].(map[string]any)
		inner["nodeClassRef"] = map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gone"}
	})
	s.pods("web")
	s.pass(time.Minute)
	if got := s.one("nodepools", "web").conditionLine("NodeClassReady"); got != "False NodeClassNotFound: NodeClass not found on cluster" {
		t.Errorf("it says %s", got)
	}
	if n := len(s.list("nodeclaims")); n != 0 {
		t.Errorf("%d NodeClaims", n)
	}
}

// Of two NodePools that a pod fits, the heavier one is asked; one whose taint it does not
// tolerate is not; a NodePool with a fixed number of nodes is for no pods.
func TestWhichPool(t *testing.T) {
	for name, test := range map[string]struct {
		change func(web, batch map[string]any)
		want   string
	}{
		"the heavier":   {func(web, batch map[string]any) {}, "web"},
		"the other way": {func(web, batch map[string]any) { web["weight"] = 1; batch["weight"] = 50 }, "batch"},
		"by name":       {func(web, batch map[string]any) { delete(web, "weight") }, "batch"},
		"a taint": {func(web, batch map[string]any) {
			web["template"].(map[string]any)["spec"].(map[string]any)["taints"] = []any{map[string]any{"key": "gpu", "value": "yes", "effect": "NoSchedule"}}
		}, "batch"},
		"a fixed number": {func(web, batch map[string]any) { web["replicas"] = 2 }, "batch"},
		"arm, of no image": {func(web, batch map[string]any) {
			web["template"].(map[string]any)["spec"].(map[string]any)["requirements"] = []any{map[string]any{"key": "kubernetes.io/arch", "operator": "In",
				"values": []any{"arm64"}}}
		}, "batch"},
		"sizes that are": {func(web, batch map[string]any) {
			web["template"].(map[string]any)["spec"].(map[string]any)["requirements"] = []any{
				map[string]any{"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt",
					"values": []any{"3"}}, map[string]any{"key": "karpenter.k8s.aws/instance-memory", "operator": "Lt", "values": []any{"20000"}},
				map[string]any{"key": "karpenter.k8s.aws/instance-category", "operator": "In",
					"values": []any{"m"}}, map[string]any{"key": "karpenter.k8s.aws/instance-generation", "operator": "In", "values": []any{"5"}},
			}
		}, "web"},
		"sizes that are not": {func(web, batch map[string]any) {
			web["template"].(map[string]any)["spec"].(map[string]any)["requirements"] = []any{map[string]any{"key": "karpenter.k8s.aws/instance-generation",
				"operator": "Gt", "values": []any{"8"}}}
		}, "batch"},
	} {
		s := start(t, func(f *worldfile.File) {
			pools := f.Kubernetes[cluster].NodePools
			web, batch := pools[0]["spec"].(map[string]any), pools[1]["spec"].(map[string]any)
			inner := batch["template"].(map[string]any)
			inner["metadata"] = map[string]any{"labels": map[string]any{"team": "web"}}
			inner["spec"].(map[string]any)["nodeClassRef"] = map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
			test.change(web, batch)
		})
		s.pods("web")
		s.pass(2 * time.Minute)
		c := s.one("nodeclaims", "")
		if got, _, _ := strings.Cut(c.Metadata.Name, "-"); got != test.want || c.conditionLine("Ready") != "True Ready" || len(s.list("nodeclaims")) != 1 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// Limits are of CPU, memory and nodes, and count what is there.
func TestLimits(t *testing.T) {
	for limit, fits := range map[string]bool{
		"cpu=4": true, "cpu=3": false, "memory=16Gi": true, "memory=15Gi": false, "memory=16384Mi": true, "memory=1Ti": true, "nodes=2": true, "nodes=1": false, "cpu=x": true,
	} {
		name, most, _ := strings.Cut(limit, "=")
		s := start(t, func(f *worldfile.File) { poolSpec(f)["limits"] = map[string]any{name: most} })
		s.pods("web")
		s.pass(2 * time.Minute)
		if err := s.Apply(cluster, worldfile.SetFile{Namespace: "shop", Name: "other", NodeSelector: map[string]string{"team": "web",
			"topology.kubernetes.io/zone": "us-west-2b"}}); err != nil {
			t.Fatal(err)
		}
		s.pass(30 * time.Second)
		if n := len(s.list("nodeclaims")); (n == 2) != fits {
			t.Errorf("%s: %d NodeClaims", limit, n)
		}
	}
}
