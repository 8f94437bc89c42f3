package karpenter_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/stage/simaws/cloudtrail"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
)

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
	if got := c.conditionLine("Launched"); got != "Unknown Unauthorized: User is not authorized to perform this operation due to a service control policy" {
		t.Errorf("it says %s", got)
	}
	if got := s.events("NodeClaim"); len(got) > 0 {
		t.Errorf("events %q", got)
	}
	if diff := cmp.Diff([]float64{1, 2, 4, 8, 16, 32, 64, 124, 184, 244}, s.calls("CreateFleet", began, false)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got := s.one("ec2nodeclasses", "default").conditionLine("Ready"); got != "True Ready" {
		t.Errorf("the class, whose dry runs were before: %s", got)
	}
	s.pass(30 * time.Second)
	next := s.one("nodeclaims", "")
	if next.Metadata.Name == c.Metadata.Name || next.Metadata.Name == "" || len(s.list("nodeclaims")) != 1 {
		t.Errorf("after five minutes: %+v", next)
	}
	s.pass(5 * time.Minute)
	if got := s.one("nodepools", "web").conditionLine("NodeRegistrationHealthy"); got != "False Unauthorized: User is not authorized to perform this operation due to a service control policy" {
		t.Errorf("the NodePool says %s", got)
	}
	// The tag that the policy wants.
	if err := s.Patch(cluster, "ec2nodeclasses", "", "default", map[string]any{"spec": map[string]any{"tags": map[string]any{"cost-center": "4711"}}}); err != nil {
		t.Fatal(err)
	}
	s.pass(3 * time.Minute)
	if got := s.one("nodeclaims", "").conditionLine("Ready"); got != "True Ready" {
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
		t.Errorf("the pod's events: %q", got)
	}
	s.pass(5 * time.Minute)
	if at := s.calls("CreateFleet", began, false); len(at) != 3 || at[1] < 180 || at[1] > 195 {
		t.Errorf("calls at %v", at)
	}
	if got := s.one("nodeclaims", "").conditionLine("Ready"); got != "True Ready" {
		t.Errorf("with capacity: %s", got)
	}
}

// A class's own user data is part of its template's, which may not be too long: the class
// says so. On demand there is a quota of its own.
func TestUserDataOfTheClass(t *testing.T) {
	own := func(text string) func(*worldfile.File) {
		return func(f *worldfile.File) {
			for cluster := range f.Kubernetes {
				for _, o := range f.Kubernetes[cluster].EC2NodeClasses {
					o["spec"].(map[string]any)["userData"] = text
				}
			}
		}
	}
	for text, want := range map[string]string{
		strings.Repeat("# much to do\n", 1300): "False UserDataSizeLimitExceeded: User data is limited to 16384 bytes",
		"echo hello":                           "True ValidationSucceeded",
	} {
		s := start(t, atOnce, own(text))
		if got := s.one("ec2nodeclasses", "default").conditionLine("ValidationSucceeded"); got != want {
			t.Errorf("%.10s: it says %s, want %s", text, got, want)
		}
	}
	s := start(t, atOnce, own("echo hello"))
	out, err := s.EC2().DescribeLaunchTemplateVersions(&ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{"$Latest"}})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, v := range out.LaunchTemplateVersions {
		text, err := base64.StdEncoding.DecodeString(aws.ToString(v.LaunchTemplateData.UserData))
		first, rest, two := strings.Cut(string(text), "--//\nContent-Type: text/x-shellscript\n\necho hello\n\n--//\n")
		found = found || err == nil && two && strings.HasPrefix(first, "MIME-Version: 1.0\n") && strings.Contains(rest, "kind: NodeConfig")
	}
	if !found {
		t.Error("no template has both parts")
	}
}

// What the dry runs say is believed for half an hour, the bad as the good.
func TestDryRunsAreBelieved(t *testing.T) {
	denied := worldfile.ControlPolicy{Name: "fleets", Document: `{"Statement":[{"Effect":"Deny","Action":"ec2:CreateFleet","Resource":"*"}]}`}
	s := start(t, atOnce, func(f *worldfile.File) { f.Organizations.ServiceControlPolicies = []worldfile.ControlPolicy{denied} })
	want := "False CreateFleetAuthCheckFailed: Controller isn't authorized to call ec2:CreateFleet: User is not authorized to perform this operation due to a service control policy"
	if got := s.one("ec2nodeclasses", "default").conditionLine("ValidationSucceeded"); got != want {
		t.Errorf("it says %s", got)
	}
	if at := s.calls("CreateFleet", s.Start(), true); len(at) != 1 {
		t.Errorf("dry runs at %v", at)
	}
	s.AttachControlPolicies()
	s.pass(25 * time.Minute)
	if got := s.one("ec2nodeclasses", "default").conditionLine("ValidationSucceeded"); got != want {
		t.Errorf("minutes after the policy is gone it says %s", got)
	}
	s.pass(6 * time.Minute)
	if got := s.one("ec2nodeclasses", "default").conditionLine("Ready"); got != "True Ready" {
		t.Errorf("half an hour later: %s", got)
	}
	for role, want := range map[string]string{
		"ec2:RunInstances":         "False RunInstancesAuthCheckFailed: Controller isn't authorized to call ec2:RunInstances: User is not authorized to perform this operation due to a service control policy",
		"ec2:CreateLaunchTemplate": "False CreateLaunchTemplateAuthCheckFailed: Controller isn't authorized to call ec2:CreateLaunchTemplate: User is not authorized to perform this operation due to a service control policy",
	} {
		s := start(t, func(f *worldfile.File) {
			f.Organizations.ServiceControlPolicies = []worldfile.ControlPolicy{{Name: "x", Document: `{"Statement":[{"Effect":"Deny","Action":"` + role + `","Resource":"*"}]}`}}
		})
		if got := s.one("ec2nodeclasses", "default").conditionLine("ValidationSucceeded"); got != want {
			t.Errorf("%s: it says %s", role, got)
		}
	}
}

// NodeClaims that ask for the same at the same time are one call; what it does not
// bring is a shortage for the others.
func TestOneCallForMany(t *testing.T) {
	s := start(t, atOnce, func(f *worldfile.File) {
		f.Spot.Pools = append(f.Spot.Pools, worldfile.PoolFile{Type: "m5.large", Zone: "us-west-2b", OnDemand: true, Capacity: aws.Int(2)},
			worldfile.PoolFile{OnDemand: true, Capacity: aws.Int(0)})
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
		if c.conditionLine("Launched") == "True Launched" {
			launched++
		}
	}
	if events := s.events("NodeClaim"); launched != 1 || len(events) != 2 {
		t.Errorf("%d launched; events %q", launched, events)
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
			if p := r.UserIdentity.SessionContext.WebIDFederationData.FederatedProvider; !strings.HasPrefix(p,
				"arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/") || !strings.Contains(r.UserAgent, "karpenter.sh-1.14.1 ") {
				t.Errorf("%s by %s with %s", name, p, r.UserAgent)
			}
		}
	}
}

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

// conditionLine is a condition in one line.
func (o object) conditionLine(kind string) string {
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
	if !strings.HasPrefix(c.Metadata.Name, "web-") || c.conditionLine("Launched") != "True Launched" || c.conditionLine("Registered") != "Unknown NodeNotFound: Node not registered with cluster" ||
		c.conditionLine("Initialized") != "Unknown AwaitingReconciliation: object is awaiting reconciliation" ||
		c.conditionLine("Ready") != "Unknown ReconcilingDependents: Initialized=Unknown, Registered=Unknown" {
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
	if have := tags(); have["karpenter.sh/nodepool"] != "web" || have["eks:eks-cluster-name"] != cluster ||
		have["kubernetes.io/cluster/"+cluster] != "owned" || have["karpenter.sh/nodeclaim"] != "" || have["Name"] != "" {
		t.Errorf("tags of a launch: %v", have)
	}
	s.pass(time.Minute)
	c = s.one("nodeclaims", c.Metadata.Name)
	if c.conditionLine("Registered") != "True Registered" || c.conditionLine("Initialized") != "True Initialized" || c.conditionLine("Ready") != "True Ready" || c.Status.NodeName == "" {
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
	if got := s.one("nodepools", "web").conditionLine("NodeRegistrationHealthy"); got != "True NodeRegistrationHealthy" {
		t.Errorf("the NodePool says %s", got)
	}
}

// A change of a condition's status is an event of the kind Normal, called as the
// condition; what only the reason says is none. The time of a condition is that of its
// status.
func TestTransitionsAreEvents(t *testing.T) {
	s := start(t)
	s.forbid()
	s.pods("web")
	s.pass(time.Minute)
	var told []string
	for _, e := range s.list("events") {
		if e.InvolvedObject.Name == "batch" && e.InvolvedObject.Kind == "EC2NodeClass" || e.InvolvedObject.Kind == "NodeClaim" {
			told = append(told, e.Type+" "+e.Reason+" "+e.Message)
		}
	}
	want := "Normal SubnetsReady Status condition transitioned, Type: SubnetsReady, Status: Unknown -> False, Reason: SubnetsNotFound, Message: SubnetSelector did not match any Subnets"
	if !slices.Contains(told, want) || !slices.Contains(told, "Normal AMIsReady Status condition transitioned, Type: AMIsReady, Status: Unknown -> True, Reason: AMIsReady") {
		t.Errorf("events %q", told)
	}
	if slices.ContainsFunc(told, func(e string) bool { return strings.Contains(e, "Type: Launched") }) {
		t.Errorf("a reason that changed is emitted: %q", told)
	}
	list, err := s.Kubernetes(cluster, "nodeclaims")
	if err != nil {
		t.Fatal(err)
	}
	since := func(raw json.RawMessage, kind string) string {
		var o struct {
			Status struct {
				Conditions []struct{ Type, LastTransitionTime string }
			}
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
		for _, c := range o.Status.Conditions {
			if c.Type == kind {
				return c.LastTransitionTime
			}
		}
		return ""
	}
	made := s.list("nodeclaims")[0].Metadata.CreationTimestamp
	if got := since(list.Items[0], "Launched"); got != made {
		t.Errorf("Launched=Unknown since %s, the NodeClaim is of %s", got, made)
	}
	s.AttachControlPolicies()
	s.pass(3 * time.Minute)
	if list, err = s.Kubernetes(cluster, "nodeclaims"); err != nil {
		t.Fatal(err)
	}
	if got := since(list.Items[0], "Launched"); got <= made {
		t.Errorf("Launched=True since %s", got)
	}
}

// A NodeClaim that was there at the start is the controller's: its node counts for the
// limits, and it goes with its instance.
func TestClaimsOfBeforeAreAdopted(t *testing.T) {
	s := start(t, func(f *worldfile.File) {
		poolSpec(f)["limits"] = map[string]any{"nodes": "1"}
		k := f.Kubernetes[cluster]
		k.NodeClaims = []map[string]any{{
			"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
			"metadata": map[string]any{"name": "web-old01", "creationTimestamp": "2026-11-20T10:00:00Z", "labels": map[string]any{"karpenter.sh/nodepool": "web", "node.kubernetes.io/instance-type": "m5.large"}},
			"spec":     map[string]any{"nodeClassRef": map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}},
			"status": map[string]any{"providerID": "aws:///us-west-2a/i-0d0000000000000a1", "nodeName": "x", "conditions": []any{
				map[string]any{"type": "Registered", "status": "True", "reason": "Registered", "lastTransitionTime": "2026-11-20T10:01:00Z"},
			}},
		}}
		f.Kubernetes[cluster] = k
	})
	s.pods("web")
	s.pass(time.Minute)
	if list := s.list("nodeclaims"); len(list) != 1 || list[0].Metadata.Name != "web-old01" || list[0].Metadata.DeletionTimestamp != "" {
		t.Errorf("%+v", list)
	}
	if _, err := s.Call("ec2:TerminateInstances", json.RawMessage(`{"InstanceIds":["i-0d0000000000000a1"]}`)); err != nil {
		t.Fatal(err)
	}
	s.pass(4 * time.Minute)
	if list := s.list("nodeclaims"); len(list) != 1 || list[0].conditionLine("Ready") != "True Ready" {
		t.Errorf("after its end: %+v", list)
	}
}

// What is asked of EC2 is what the NodePool wants: Spot first where it may be, a
// template for each architecture, answers in the record.
func TestWhatIsAsked(t *testing.T) {
	s := start(t, atOnce, func(f *worldfile.File) {
		f.EC2.Images = append(f.EC2.Images, ec2types.Image{ImageId: aws.String("ami-0a1e2d3c4b5a60arm"), Name: aws.String("amazon-eks-node-al2023-arm64-standard-1.34-v20261112"), Architecture: ec2types.ArchitectureValuesArm64})
		inner := poolSpec(f)["template"].(map[string]any)["spec"].(map[string]any)
		inner["requirements"] = []any{map[string]any{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": []any{"m5.large", "m6g.large"}}}
	})
	began := s.Now()
	s.pods("web")
	s.pass(2 * time.Minute)
	out, err := s.CloudTrail().LookupEvents(&cloudtrail.LookupEventsInput{LookupAttributes: []cloudtrail.LookupAttribute{{AttributeKey: "EventName", AttributeValue: "CreateFleet"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range out.Events {
		if e.EventTime.Before(began) {
			continue
		}
		for _, part := range []string{
			`"DefaultTargetCapacityType":"spot"`, `"SpotOptions":{"AllocationStrategy":"price-capacity-optimized"}`, `"ImageId":"ami-0a1e2d3c4b5a60arm","InstanceType":"m6g.large"`, `"InstanceType":"m5.large"`,
			`"TotalTargetCapacity":1`, `"CreateFleetResponse"`, `"fleetInstanceSet":{"item":{"instanceIds":{"item":"i-`, `"errorSet":""`,
		} {
			if !strings.Contains(e.CloudTrailEvent, part) {
				t.Errorf("no %s in %s", part, e.CloudTrailEvent)
			}
		}
		if n := strings.Count(e.CloudTrailEvent, `"LaunchTemplateName":"karpenter.k8s.aws/`); n != 2 {
			t.Errorf("%d templates", n)
		}
	}
	c := s.one("nodeclaims", "")
	if c.Metadata.Labels["karpenter.sh/capacity-type"] != "spot" || c.conditionLine("Ready") != "True Ready" {
		t.Errorf("%+v", c)
	}
	in := s.Instances.Get(c.Status.ProviderID[strings.LastIndex(c.Status.ProviderID, "/")+1:])
	if in.InstanceLifecycle != ec2types.InstanceLifecycleTypeSpot || (in.InstanceType == "m6g.large") != (*in.ImageId == "ami-0a1e2d3c4b5a60arm") {
		t.Errorf("%s of %s, %s", in.InstanceType, *in.ImageId, in.InstanceLifecycle)
	}
}
