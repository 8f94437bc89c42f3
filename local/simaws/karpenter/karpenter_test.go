package karpenter_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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
		c.says("Initialized") != "Unknown AwaitingReconciliation: object is awaiting reconciliation" ||
		c.says("Ready") != "Unknown ReconcilingDependents: Initialized=Unknown, Registered=Unknown" {
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
