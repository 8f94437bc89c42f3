package karpenter_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/cloudtrail"
	"rollcall/local/simaws/world"
	"rollcall/local/simaws/worldfile"
)

const cluster = "eks-workshop"

// costCenter is the story's policy: nothing is started without the tag.
const costCenter = `{"Version":"2012-10-17","Statement":[{"Sid":"RequireCostCenter","Effect":"Deny","Action":"ec2:RunInstances","Resource":"arn:aws:ec2:*:*:instance/*","Condition":{"Null":{"aws:RequestTag/cost-center":"true"}}}]}`

// test is the story's world.
type test struct {
	*world.World
	t *testing.T
}

func start(t *testing.T, change ...func(*worldfile.File)) test {
	t.Helper()
	f, err := worldfile.Load("../../worlds/karpenter.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(f)
	}
	w, err := world.New(f, world.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := test{w, t}
	s.pass(time.Minute)
	return s
}

func (s test) pass(d time.Duration) { s.Advance(s.Now().Add(d)) }

// pods puts the pods of a team into the cluster.
func (s test) pods(team string, more ...string) {
	s.t.Helper()
	selector := map[string]string{"team": team}
	for _, pair := range more {
		key, value, _ := strings.Cut(pair, "=")
		selector[key] = value
	}
	if err := s.Apply(cluster, worldfile.SetFile{Namespace: "shop", Name: team + fmt.Sprint(len(more)), NodeSelector: selector}); err != nil {
		s.t.Fatal(err)
	}
}

func (s test) forbid() {
	s.AttachControlPolicies(worldfile.ControlPolicy{Name: "RequireCostCenter", Document: costCenter})
}

type object struct {
	Metadata struct {
		Name, CreationTimestamp, DeletionTimestamp string
		Labels                                     map[string]string
	}
	Spec   struct{ NodeName string }
	Status struct {
		ProviderID, NodeName string
		Conditions           []struct{ Type, Status, Reason, Message string }
	}
	InvolvedObject                struct{ Kind, Name string }
	Reason, Message, Type         string
	FirstTimestamp, LastTimestamp string
}

func (s test) list(plural string) []object {
	s.t.Helper()
	l, err := s.Kubernetes(cluster, plural)
	if err != nil {
		s.t.Fatal(err)
	}
	var out []object
	for _, item := range l.Items {
		var o object
		if err := json.Unmarshal(item, &o); err != nil {
			s.t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

func (s test) one(plural, name string) object {
	s.t.Helper()
	for _, o := range s.list(plural) {
		if o.Metadata.Name == name || name == "" {
			return o
		}
	}
	return object{}
}

// says is a condition in one line.
func (o object) says(kind string) string {
	for _, c := range o.Status.Conditions {
		if c.Type == kind {
			return strings.TrimSuffix(c.Status+" "+c.Reason+": "+c.Message, ": ")
		}
	}
	return ""
}

// events are those of a kind, "Reason: message".
func (s test) events(kind string) []string {
	var out []string
	for _, e := range s.list("events") {
		if e.InvolvedObject.Kind == kind && !strings.HasPrefix(e.Message, "Status condition transitioned") {
			out = append(out, e.Reason+": "+e.Message)
		}
	}
	return out
}

// calls are the times of the controller's calls, in seconds since a time.
func (s test) calls(name string, since time.Time, dry bool) []float64 {
	s.t.Helper()
	out, err := s.CloudTrail().LookupEvents(&cloudtrail.LookupEventsInput{LookupAttributes: []cloudtrail.LookupAttribute{{AttributeKey: "EventName", AttributeValue: name}}})
	if err != nil {
		s.t.Fatal(err)
	}
	var at []float64
	for _, e := range out.Events {
		byFleet := strings.Contains(e.CloudTrailEvent, `"invokedBy":"ec2fleet.amazonaws.com"`)
		if d := e.EventTime.Sub(since).Seconds(); d >= 0 && !byFleet && strings.Contains(e.CloudTrailEvent, `"DryRun":true`) == dry {
			at = append(at, d)
		}
	}
	slices.Sort(at)
	return at
}

func atOnce(f *worldfile.File) { f.Trail.Lag, f.Trail.Spread = -1, 1 }

// A pod that waits gets a node: the NodeClaim says so step by step, and the tags that
// tell of it come after the node.
func TestNodeJoins(t *testing.T) {
	s := start(t)
	s.pods("web")
	s.pass(30 * time.Second)
	c := s.one("nodeclaims", "")
	if !strings.HasPrefix(c.Metadata.Name, "web-") || c.says("Launched") != "True Launched" || c.says("Registered") != "Unknown NodeNotFound: Node not registered with cluster" ||
		c.says("Initialized") != "Unknown AwaitingReconciliation: object is awaiting reconciliation" || c.says("Ready") != "Unknown ReconcilingDependents: Initialized=Unknown, Registered=Unknown" {
		t.Errorf("while it boots: %+v", c)
	}
	id := c.Status.ProviderID[strings.LastIndex(c.Status.ProviderID, "/")+1:]
	tags := func() map[string]string {
		out := map[string]string{}
		for _, tag := range s.Instances.Get(id).Tags {
			out[*tag.Key] = *tag.Value
		}
		return out
	}
	if have := tags(); have["karpenter.sh/nodepool"] != "web" || have["eks:eks-cluster-name"] != cluster || have["kubernetes.io/cluster/"+cluster] != "owned" || have["karpenter.sh/nodeclaim"] != "" || have["Name"] != "" {
		t.Errorf("tags of a launch: %v", have)
	}
	s.pass(time.Minute)
	c = s.one("nodeclaims", c.Metadata.Name)
	if c.says("Registered") != "True Registered" || c.says("Initialized") != "True Initialized" || c.says("Ready") != "True Ready" || c.Status.NodeName == "" {
		t.Errorf("joined: %+v", c)
	}
	if have := tags(); have["karpenter.sh/nodeclaim"] != c.Metadata.Name || have["Name"] != c.Status.NodeName {
		t.Errorf("tags of a node: %v", have)
	}
	node := s.one("nodes", c.Status.NodeName)
	if l := node.Metadata.Labels; l["karpenter.sh/registered"] != "true" || l["karpenter.sh/initialized"] != "true" || l["team"] != "web" || l["karpenter.sh/nodepool"] != "web" {
		t.Errorf("labels %v", l)
	}
	if p := s.one("pods", "web0-0"); p.Spec.NodeName != c.Status.NodeName {
		t.Errorf("the pod is on %q", p.Spec.NodeName)
	}
	if got := s.one("nodepools", "web").says("NodeRegistrationHealthy"); got != "True NodeRegistrationHealthy" {
		t.Errorf("the NodePool says %s", got)
	}
}

// What is refused stays as Launched=Unknown with a reason for five minutes and has no
// event; each try is a call, at twice the distance of the last; then the NodeClaim
// goes, and another one comes.
func TestRefusalStaysFiveMinutes(t *testing.T) {
	s := start(t, atOnce)
	s.forbid()
	began := s.Now()
	s.pods("web")
	s.pass(4*time.Minute + 50*time.Second)
	c := s.one("nodeclaims", "")
	if got := c.says("Launched"); got != "Unknown Unauthorized: User is not authorized to perform this operation due to a service control policy" {
		t.Errorf("it says %s", got)
	}
	if got := s.events("NodeClaim"); len(got) > 0 {
		t.Errorf("events %q", got)
	}
	if diff := cmp.Diff([]float64{1, 2, 4, 8, 16, 32, 64, 124, 184, 244}, s.calls("CreateFleet", began, false)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got := s.one("ec2nodeclasses", "default").says("Ready"); got != "True Ready" {
		t.Errorf("the class, whose dry runs were before: %s", got)
	}
	s.pass(30 * time.Second)
	next := s.one("nodeclaims", "")
	if next.Metadata.Name == c.Metadata.Name || next.Metadata.Name == "" || len(s.list("nodeclaims")) != 1 {
		t.Errorf("after five minutes: %+v", next)
	}
	s.pass(5 * time.Minute)
	if got := s.one("nodepools", "web").says("NodeRegistrationHealthy"); got != "False Unauthorized: User is not authorized to perform this operation due to a service control policy" {
		t.Errorf("the NodePool says %s", got)
	}
	// The tag that the policy wants.
	if err := s.Patch(cluster, "ec2nodeclasses", "", "default", map[string]any{"spec": map[string]any{"tags": map[string]any{"cost-center": "4711"}}}); err != nil {
		t.Fatal(err)
	}
	s.pass(3 * time.Minute)
	if got := s.one("nodeclaims", "").says("Ready"); got != "True Ready" {
		t.Errorf("with the tag: %s", got)
	}
}

// A shortage is one event, and the NodeClaim is gone at once: no call for three
// minutes.
func TestShortageIsAnEvent(t *testing.T) {
	s := start(t, atOnce, func(f *worldfile.File) {
		f.Spot.Pools = append(f.Spot.Pools, worldfile.PoolFile{OnDemand: true, Capacity: aws.Int(0), For: 6 * time.Minute})
	})
	began := s.Now()
	s.pods("web")
	s.pass(30 * time.Second)
	if n := len(s.list("nodeclaims")); n > 0 {
		t.Errorf("%d NodeClaims", n)
	}
	got := s.events("NodeClaim")
	if len(got) != 1 || !strings.HasPrefix(got[0], "InsufficientCapacityError: NodeClaim web-") ||
		!strings.Contains(got[0], "event: creating instance, insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient") || !strings.HasSuffix(got[0], "...") {
		t.Errorf("events %q", got)
	}
	if said := strings.TrimSuffix(got[0][strings.Index(got[0], "creating"):], "..."); len(said) != 300 {
		t.Errorf("the event has %d characters of the error", len(said))
	}
	s.pass(2 * time.Minute)
	if at := s.calls("CreateFleet", began, false); len(at) != 1 {
		t.Errorf("calls at %v", at)
	}
	if got := s.events("Pod"); !slices.ContainsFunc(got, func(e string) bool {
		return strings.HasPrefix(e, "FailedScheduling: Failed to schedule pod, incompatible with nodepool \"web\", no instance type")
	}) {
		t.Errorf("what the pod was told: %q", got)
	}
	s.pass(5 * time.Minute)
	if at := s.calls("CreateFleet", began, false); len(at) != 3 || at[1] < 180 || at[1] > 195 {
		t.Errorf("calls at %v", at)
	}
	if got := s.one("nodeclaims", "").says("Ready"); got != "True Ready" {
		t.Errorf("with capacity: %s", got)
	}
}

// A class without subnets leaves no NodeClaim, no call and no event: only its own
// condition, and its NodePool's. Tags are seen within a minute.
func TestClassWithoutSubnets(t *testing.T) {
	s := start(t, atOnce)
	began := s.Now()
	s.pods("batch")
	s.pass(5 * time.Minute)
	class := s.one("ec2nodeclasses", "batch")
	if class.says("SubnetsReady") != "False SubnetsNotFound: SubnetSelector did not match any Subnets" ||
		class.says("ValidationSucceeded") != "False DependenciesNotReady: Awaiting AMI, Instance Profile, Security Group, and Subnet resolution" ||
		class.says("Ready") != "False UnhealthyDependents: SubnetsReady=False, ValidationSucceeded=False" {
		t.Errorf("the class: %+v", class.Status)
	}
	if got := s.one("nodepools", "batch").says("NodeClassReady"); got != "False UnhealthyDependents: SubnetsReady=False, ValidationSucceeded=False" {
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
	if got := s.one("ec2nodeclasses", "batch").says("Ready"); got != "True Ready" {
		t.Errorf("the class with a subnet: %s", got)
	}
	if got := s.one("nodeclaims", "").says("Launched"); got != "True Launched" {
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
	if c = s.one("nodeclaims", c.Metadata.Name); c.says("Registered") != "Unknown NodeNotFound: Node not registered with cluster" || c.Metadata.DeletionTimestamp != "" {
		t.Errorf("a second before: %+v", c)
	}
	s.pass(4 * time.Second)
	if c = s.one("nodeclaims", c.Metadata.Name); c.Metadata.DeletionTimestamp == "" || c.says("InstanceTerminating") != "True InstanceTerminating" || s.Instances.Get(id).State.Name != ec2types.InstanceStateNameShuttingDown {
		t.Errorf("the timeout: %+v, instance %s", c, s.Instances.Get(id).State.Name)
	}
	s.pass(40 * time.Second)
	if gone := s.one("nodeclaims", c.Metadata.Name); gone.Metadata.Name != "" || len(s.list("nodeclaims")) != 1 {
		t.Errorf("%d NodeClaims", len(s.list("nodeclaims")))
	}
}

// What the dry runs say is believed for half an hour, the bad as the good.
func TestDryRunsAreBelieved(t *testing.T) {
	denied := worldfile.ControlPolicy{Name: "fleets", Document: `{"Statement":[{"Effect":"Deny","Action":"ec2:CreateFleet","Resource":"*"}]}`}
	s := start(t, atOnce, func(f *worldfile.File) { f.Organizations.ServiceControlPolicies = []worldfile.ControlPolicy{denied} })
	want := "False CreateFleetAuthCheckFailed: Controller isn't authorized to call ec2:CreateFleet: User is not authorized to perform this operation due to a service control policy"
	if got := s.one("ec2nodeclasses", "default").says("ValidationSucceeded"); got != want {
		t.Errorf("it says %s", got)
	}
	if at := s.calls("CreateFleet", s.Start(), true); len(at) != 1 {
		t.Errorf("dry runs at %v", at)
	}
	s.AttachControlPolicies()
	s.pass(25 * time.Minute)
	if got := s.one("ec2nodeclasses", "default").says("ValidationSucceeded"); got != want {
		t.Errorf("minutes after the policy is gone it says %s", got)
	}
	s.pass(6 * time.Minute)
	if got := s.one("ec2nodeclasses", "default").says("Ready"); got != "True Ready" {
		t.Errorf("half an hour later: %s", got)
	}
	for role, want := range map[string]string{
		"ec2:RunInstances":         "False RunInstancesAuthCheckFailed: Controller isn't authorized to call ec2:RunInstances: User is not authorized to perform this operation due to a service control policy",
		"ec2:CreateLaunchTemplate": "False CreateLaunchTemplateAuthCheckFailed: Controller isn't authorized to call ec2:CreateLaunchTemplate: User is not authorized to perform this operation due to a service control policy",
	} {
		s := start(t, func(f *worldfile.File) {
			f.Organizations.ServiceControlPolicies = []worldfile.ControlPolicy{{Name: "x", Document: `{"Statement":[{"Effect":"Deny","Action":"` + role + `","Resource":"*"}]}`}}
		})
		if got := s.one("ec2nodeclasses", "default").says("ValidationSucceeded"); got != want {
			t.Errorf("%s: it says %s", role, got)
		}
	}
}

// NodeClaims that ask for the same at the same time are one call; what it does not
// bring is a shortage for the others.
func TestOneCallForMany(t *testing.T) {
	s := start(t, atOnce, func(f *worldfile.File) {
		f.Spot.Pools = append(f.Spot.Pools, worldfile.PoolFile{Type: "m5.large", Zone: "us-west-2b", OnDemand: true, Capacity: aws.Int(2)}, worldfile.PoolFile{OnDemand: true, Capacity: aws.Int(0)})
	})
	began := s.Now()
	s.pods("web")
	s.pods("web", "karpenter.sh/nodepool=web")
	s.pods("web", "karpenter.sh/nodepool=web", "kubernetes.io/os=linux")
	s.pass(20 * time.Second)
	if at := s.calls("CreateFleet", began, false); len(at) != 1 {
		t.Errorf("calls at %v", at)
	}
	var launched int
	for _, c := range s.list("nodeclaims") {
		if c.says("Launched") == "True Launched" {
			launched++
		}
	}
	if events := s.events("NodeClaim"); launched != 1 || len(events) != 2 {
		t.Errorf("%d launched; events %q", launched, events)
	}
}

// A startup taint that nobody takes away keeps a node from being initialized; a limit
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
	if got := s.one("nodeclaims", "").says("Initialized"); got != `Unknown StartupTaintsExist: StartupTaint "node.cilium.io/agent-not-ready=true:NoSchedule" still exists` {
		t.Errorf("it says %s", got)
	}
	s.pods("web", "karpenter.sh/nodepool=web")
	s.pass(time.Minute)
	if n, events := len(s.list("nodeclaims")), s.events("Pod"); n != 1 || !slices.Contains(events, `FailedScheduling: Failed to schedule pod, all available instance types exceed limits for nodepool "web"`) {
		t.Errorf("%d NodeClaims, events %q", n, events)
	}
}

// A NodeClaim whose instance somebody ends goes; its pod gets another node.
func TestInstanceEnded(t *testing.T) {
	s := start(t)
	s.pods("web")
	s.pass(2 * time.Minute)
	c := s.one("nodeclaims", "")
	if _, err := s.EC2().TerminateInstances(&awsec2.TerminateInstancesInput{InstanceIds: []string{c.Status.ProviderID[strings.LastIndex(c.Status.ProviderID, "/")+1:]}}); err != nil {
		t.Fatal(err)
	}
	s.pass(4 * time.Minute)
	if next := s.one("nodeclaims", ""); next.Metadata.Name == c.Metadata.Name || next.says("Ready") != "True Ready" || len(s.list("nodeclaims")) != 1 {
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
		"an image by its id": {func(s map[string]any) { s["amiSelectorTerms"] = []any{map[string]any{"id": "ami-0a1e2d3c4b5a69788"}} }, "AMIsReady", "True AMIsReady", "True Ready"},
		"a group by its name": {func(s map[string]any) {
			s["securityGroupSelectorTerms"] = []any{map[string]any{"name": "eks-cluster-sg-eks-workshop-1234567890"}}
		}, "SecurityGroupsReady", "True SecurityGroupsReady", "True Ready"},
		"a role that is not": {func(s map[string]any) { s["role"] = "nobody" }, "InstanceProfileReady", "Unknown AwaitingReconciliation: object is awaiting reconciliation", "Unknown ReconcilingDependents: InstanceProfileReady=Unknown, ValidationSucceeded=Unknown"},
		"a profile in its place": {func(s map[string]any) {
			delete(s, "role")
			s["instanceProfile"] = "eks-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"
		}, "InstanceProfileReady", "True InstanceProfileReady",
			"False UnhealthyDependents: ValidationSucceeded=False"}, // the controller may pass one role alone
	} {
		s := start(t, func(f *worldfile.File) { test.change(classSpec(f)) })
		class := s.one("ec2nodeclasses", "default")
		if got := class.says(test.kind); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
		if got := class.says("Ready"); got != test.ready {
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
	if got := s.one("nodepools", "web").says("NodeClassReady"); got != "False NodeClassNotFound: NodeClass not found on cluster" {
		t.Errorf("it says %s", got)
	}
	if n := len(s.list("nodeclaims")); n != 0 {
		t.Errorf("%d NodeClaims", n)
	}
}

// Of two NodePools that a pod fits, the heavier one is asked; one whose taint it does not
// tolerate is not; a NodePool with a fixed number of nodes is for nobody's pods.
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
			web["template"].(map[string]any)["spec"].(map[string]any)["requirements"] = []any{map[string]any{"key": "kubernetes.io/arch", "operator": "In", "values": []any{"arm64"}}}
		}, "batch"},
		"sizes that are": {func(web, batch map[string]any) {
			web["template"].(map[string]any)["spec"].(map[string]any)["requirements"] = []any{
				map[string]any{"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": []any{"3"}}, map[string]any{"key": "karpenter.k8s.aws/instance-memory", "operator": "Lt", "values": []any{"20000"}},
				map[string]any{"key": "karpenter.k8s.aws/instance-category", "operator": "In", "values": []any{"m"}}, map[string]any{"key": "karpenter.k8s.aws/instance-generation", "operator": "In", "values": []any{"5"}},
			}
		}, "web"},
		"sizes that are not": {func(web, batch map[string]any) {
			web["template"].(map[string]any)["spec"].(map[string]any)["requirements"] = []any{map[string]any{"key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": []any{"8"}}}
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
		if got, _, _ := strings.Cut(c.Metadata.Name, "-"); got != test.want || c.says("Ready") != "True Ready" || len(s.list("nodeclaims")) != 1 {
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
		if err := s.Apply(cluster, worldfile.SetFile{Namespace: "shop", Name: "other", NodeSelector: map[string]string{"team": "web", "topology.kubernetes.io/zone": "us-west-2b"}}); err != nil {
			t.Fatal(err)
		}
		s.pass(30 * time.Second)
		if n := len(s.list("nodeclaims")); (n == 2) != fits {
			t.Errorf("%s: %d NodeClaims", limit, n)
		}
	}
}

// The calls are the controller's: its role's session, vouched for by the cluster's OIDC
// provider, with Karpenter's user agent, and tags as Karpenter sets them.
func TestWhoCalls(t *testing.T) {
	s := start(t, atOnce)
	s.pods("web")
	s.pass(2 * time.Minute)
	for _, name := range []string{"CreateFleet", "CreateLaunchTemplate", "CreateTags", "RunInstances"} {
		out, err := s.CloudTrail().LookupEvents(&cloudtrail.LookupEventsInput{LookupAttributes: []cloudtrail.LookupAttribute{{AttributeKey: "EventName", AttributeValue: name}}})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Events) == 0 {
			t.Errorf("no %s", name)
		}
		for _, e := range out.Events {
			var r struct {
				UserAgent    string
				UserIdentity struct {
					ARN            string
					InvokedBy      string
					SessionContext struct {
						WebIDFederationData struct{ FederatedProvider string } `json:"webIdFederationData"`
					}
				}
			}
			if err := json.Unmarshal([]byte(e.CloudTrailEvent), &r); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(r.UserIdentity.ARN, "/ci-deploy") {
				continue // of before the start
			}
			if !strings.HasPrefix(r.UserIdentity.ARN, "arn:aws:sts::111122223333:assumed-role/KarpenterControllerRole-eks-workshop/17") {
				t.Errorf("%s by %s", name, r.UserIdentity.ARN)
			}
			if r.UserIdentity.InvokedBy != "" {
				continue // the fleet's own
			}
			if p := r.UserIdentity.SessionContext.WebIDFederationData.FederatedProvider; !strings.HasPrefix(p, "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/") || !strings.Contains(r.UserAgent, "karpenter.sh-1.14.1 ") {
				t.Errorf("%s by %s with %s", name, p, r.UserAgent)
			}
		}
	}
}
