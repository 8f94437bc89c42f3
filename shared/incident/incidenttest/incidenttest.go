// Package incidenttest has what tests of incidents observe, press and propose.
package incidenttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

const (
	Cluster = "eks-workshop"
	Table   = "rtb-0cd2"
	Subnet  = "subnet-0ab1"
)

// Start is the time of the first launch in these tests.
var Start = time.Date(2026, 11, 20, 14, 59, 0, 0, time.UTC)

func At(minutes int) time.Time { return Start.Add(time.Duration(minutes) * time.Minute) }

var TheAddon = report.Key{Cluster: Cluster, Check: checkid.AddonDegraded, Resource: "vpc-cni"}

var TheOptions = report.Key{Cluster: Cluster, Check: checkid.DNSDHCPOptions, Resource: "dopt-0a"}

var Policy = incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour}

// Step is one observation in the life of an incident, and what it should make.
type Step struct {
	Name string
	// Minute is when it was observed; now is when it is decided on (the same
	// minute if zero).
	Minute int
	Now    int
	Obs    report.Observation
	Want   map[report.Key]incident.Reason
	State  map[report.Key]incident.State
}

func Observe(o ...func(*report.Observation)) report.Observation {
	obs := report.Observation{Format: report.Format, Cluster: Cluster, Account: "123456789012", Region: "us-west-2", Partition: "aws"}
	for _, f := range o {
		f(&obs)
	}
	return obs
}

func Route(instances ...string) func(*report.Observation) {
	return func(o *report.Observation) {
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnosis.Cause{
			Check: checkid.RouteNoEgress, Confidence: catalog.Certain, Resource: Table, Covers: []string{Subnet},
			Title: Subnet + " has no route to the internet", Why: Table + " has only 10.42.0.0/16 → local.", Nodegroups: []string{"workers"}, Instances: instances,
		})
	}
}

// Likely is a cause that explains instances only if they failed.
func Likely(confidence catalog.Confidence, instances ...string) func(*report.Observation) {
	return func(o *report.Observation) {
		Route(instances...)(o)
		c := &o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1]
		c.Check, c.Resource, c.Confidence = checkid.DNSDHCPOptions, "dopt-0a", confidence
	}
}

func Degraded() func(*report.Observation) {
	return func(o *report.Observation) {
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnosis.Cause{
			Check: checkid.AddonDegraded, Confidence: catalog.Certain, Resource: "vpc-cni", Covers: []string{"vpc-cni"}, Title: "add-on vpc-cni is DEGRADED",
		})
	}
}

var ThePool = report.Key{Cluster: Cluster, Check: checkid.SpotPoolFailing, Resource: "c5.large/us-west-2b"}

func PoolFails() func(*report.Observation) {
	return func(o *report.Observation) {
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnosis.Cause{
			Check: checkid.SpotPoolFailing, Confidence: catalog.Certain, Resource: "c5.large/us-west-2b", Covers: []string{"c5.large/us-west-2b"}, Title: "Spot pool c5.large/us-west-2b fails",
		})
	}
}

func OtherTable(instances ...string) func(*report.Observation) {
	return func(o *report.Observation) {
		Route(instances...)(o)
		o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1].Resource = "rtb-0eee"
	}
}

func Blackhole(instances ...string) func(*report.Observation) {
	return func(o *report.Observation) {
		Route(instances...)(o)
		o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1].Check = checkid.RouteBlackhole
	}
}

func Wordier(o *report.Observation) { o.Diagnosis.Causes[0].Why += " It was created 14:41." }

func NotRegistered(instances ...string) func(*report.Observation) {
	return func(o *report.Observation) {
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnosis.Cause{
			Check: checkid.NodeNotRegistered, Confidence: catalog.Symptom, Resource: "workers", Covers: instances, Instances: instances,
			Title: "no node has registered", Nodegroups: []string{"workers"},
		})
	}
}

func NotReady(instances ...string) func(*report.Observation) {
	return func(o *report.Observation) {
		NotRegistered(instances...)(o)
		o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1].Check = checkid.NodeNotReady
	}
}

func EndedSoon(instance string) func(*report.Observation) {
	return func(o *report.Observation) {
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnosis.Cause{
			Check: checkid.InstanceEndedEarly, Confidence: catalog.Certain, Resource: instance, Covers: []string{instance}, Instances: []string{instance},
			Title: instance + " ended before it joined", Nodegroups: []string{"workers"},
		})
	}
}

func Passed(check checkid.ID, covers ...string) func(*report.Observation) {
	return func(o *report.Observation) {
		o.Diagnosis.Passed = append(o.Diagnosis.Passed, diagnosis.Passed{
			Check: check, Covers: covers, Evidence: []finding.Evidence{{What: Table, Value: "0.0.0.0/0 → nat-0aa4"}},
		})
	}
}

func Launched(instance string, started int, standing report.LaunchStatus) func(*report.Observation) {
	return func(o *report.Observation) {
		l := report.Launch{Instance: instance, Nodegroup: "workers", Group: "eks-workers", Subnet: Subnet, Started: At(started), Status: standing}
		switch standing {
		case report.Joined:
			l.Ready = At(started).Add(58 * time.Second)
		case report.Gone:
			l.Ended = At(started + 1)
		}
		o.Launches = append(o.Launches, l)
	}
}

func InSubnet(id string) func(*report.Observation) {
	return func(o *report.Observation) { o.Launches[len(o.Launches)-1].Subnet = id }
}

func ReadyAt(minute int) func(*report.Observation) {
	return func(o *report.Observation) { o.Launches[len(o.Launches)-1].Ready = At(minute) }
}

// TaggedAt makes the last launch one of which only Karpenter's tag shows that it joined.
func TaggedAt(minute int) func(*report.Observation) {
	return func(o *report.Observation) {
		l := &o.Launches[len(o.Launches)-1]
		l.Ready, l.Tagged = time.Time{}, At(minute)
	}
}

func Absent(ids ...string) func(*report.Observation) {
	return func(o *report.Observation) { o.Absent = ids }
}

func BlindTo(call string, source snapshot.Source, why snapshot.Reason) func(*report.Observation) {
	return func(o *report.Observation) {
		f := snapshot.Failure{Source: source, Reason: why, Call: call, Code: "Code"}
		o.Blind = append(o.Blind, f)
		o.Diagnosis.Unknown = append(o.Diagnosis.Unknown, diagnosis.Unknown{Check: checkid.RouteNoEgress, Covers: []string{Subnet}, Blocked: []snapshot.Failure{f}})
	}
}

func CouldRead(sources ...snapshot.Source) func(*report.Observation) {
	return func(o *report.Observation) { o.Read = sources }
}

func Named(id string) func(*report.Observation) { return func(o *report.Observation) { o.ID = id } }

var (
	TheRoute   = report.Key{Cluster: Cluster, Check: checkid.RouteNoEgress, Resource: Table}
	OtherRoute = report.Key{Cluster: Cluster, Check: checkid.RouteNoEgress, Resource: "rtb-0eee"}
	TheHole    = report.Key{Cluster: Cluster, Check: checkid.RouteBlackhole, Resource: Table}
	TheSymptom = report.Key{Cluster: Cluster, Check: checkid.NodeNotRegistered, Resource: "workers"}
	TheNode    = report.Key{Cluster: Cluster, Check: checkid.NodeNotReady, Resource: "workers"}
	TheEnd     = report.Key{Cluster: Cluster, Check: checkid.InstanceEndedEarly, Resource: "i-1"}
	ThePermit  = report.Key{Cluster: Cluster, Check: incident.CannotLook, Resource: "ec2:DescribeRouteTables"}
)

// Play applies the steps in order, as the report function does, and gives the
// incidents at the end.
func Play(t *testing.T, steps []Step) []incident.Incident {
	t.Helper()
	var incidents []incident.Incident
	for i, s := range steps {
		obs := s.Obs
		obs.At = At(s.Minute)
		if obs.ID == "" {
			obs.ID = string(rune('a' + i))
		}
		now := At(s.Minute)
		if s.Now != 0 {
			now = At(s.Now)
		}
		got := map[report.Key]incident.Reason{}
		for _, d := range reconcile.Decide(incidents, obs, now, Policy) {
			got[d.Incident.Key] = d.Reason
			if d.Changed {
				incidents = With(incidents, d.Incident)
			}
		}
		if diff := cmp.Diff(s.Want, got); diff != "" && (len(s.Want) > 0 || len(got) > 0) {
			t.Errorf("step %d (%s): reasons (-want +got):\n%s", i, s.Name, diff)
		}
		for key, want := range s.State {
			if got := stateOf(incidents, key); got != want {
				t.Errorf("step %d (%s): %v is %q, want %q", i, s.Name, key, got, want)
			}
		}
	}
	return incidents
}

func With(incidents []incident.Incident, inc incident.Incident) []incident.Incident {
	incidents = slices.DeleteFunc(slices.Clone(incidents), func(i incident.Incident) bool { return i.Key == inc.Key })
	return append(incidents, inc)
}

func stateOf(incidents []incident.Incident, key report.Key) incident.State {
	for _, inc := range incidents {
		if inc.Key == key {
			return inc.State
		}
	}
	return ""
}

// Permute calls with each order of n.
func Permute(n int, f func(order []int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var step func(k int)
	step = func(k int) {
		if k == n {
			f(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			step(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	step(0)
}

var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func Encoded(t testing.TB, v any) []byte {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// Spoke is another account and region than the hub's own, which is where the scenes are.
var Spoke = spoke.ID{Account: "222233334444", Region: "eu-west-1"}

// Record is the largest record that is written (package state: 400 KB less
// the keys and some air).
const Record = 380 << 10

// Crowd is what a look at n instances says that all missed roll call, in a
// nodegroup whose names are as long as they get.
func Crowd(n int, check checkid.ID, confidence catalog.Confidence) report.Observation {
	obs := report.Observation{Format: report.Format, ID: "join-check/" + Cluster + "/1", By: "join-check", At: At(10), Account: "123456789012", Region: "us-west-2", Partition: "aws", Cluster: Cluster, Read: []snapshot.Source{snapshot.Instances, snapshot.Nodes}}
	var ids []string
	for i := range n {
		id := fmt.Sprintf("i-%017x", uint64(i)*0x9e3779b97f4a7c15>>4)
		ids = append(ids, id)
		obs.Launches = append(obs.Launches, report.Launch{
			Instance: id, Nodegroup: "a_nodegroup_with_a_rather_long_name", Group: "eks-a_nodegroup_with_a_rather_long_name-0ac1b2c3-d4e5-f607-1829-3a4b5c6d7e8f",
			Subnet: "subnet-0123456789abcdef0", Zone: "us-west-2a", Type: "m5.24xlarge", Started: Start.Add(time.Duration(i) * time.Millisecond), Status: report.Missed,
		})
	}
	slices.Sort(ids)
	cause := diagnosis.Cause{
		Check: check, Confidence: confidence, Resource: "a_nodegroup_with_a_rather_long_name", Covers: ids, Instances: ids,
		Title: fmt.Sprintf("%d instances", n), Why: "No node has their ids.",
	}
	if confidence != catalog.Symptom {
		cause.Covers = []string{Subnet}
	}
	for range 31 {
		cause.Evidence = append(cause.Evidence, finding.Evidence{What: "i-0123456789abcdef0", Value: fmt.Sprintf("%0200d", 0)})
	}
	obs.Diagnosis.Causes = []diagnosis.Cause{cause}
	obs.Diagnosis.Passed = []diagnosis.Passed{{Check: checkid.InstanceEndedEarly, Covers: ids}}
	for i := range 100 {
		obs.Facts = append(obs.Facts, report.Fact{What: fmt.Sprintf("Scaling activity %d", i), Value: fmt.Sprintf("%0200d", 0)})
	}
	return obs
}

func DecideAll(incidents []incident.Incident, list []report.Observation, now time.Time) []incident.Incident {
	for _, obs := range list {
		for _, d := range reconcile.Decide(incidents, obs, now, Policy) {
			i := slices.IndexFunc(incidents, func(inc incident.Incident) bool { return inc.Key == d.Incident.Key })
			if i < 0 {
				incidents = append(incidents, d.Incident)
			} else {
				incidents[i] = d.Incident
			}
		}
	}
	return incidents
}

func Cleaned(minute int, stop *report.CleanupStop, addresses int) report.Summary {
	s := report.Summary{Format: report.SummaryFormat, Kind: report.CleanupSummary, ID: "cleanup/prod/2026-11-20", By: "eni-cleanup", At: At(minute), Cluster: "prod", Cleanup: &report.Cleanup{Mode: "delete", Day: Start, VPC: "vpc-1", Stopped: stop}}
	if addresses > 0 {
		s.Cleanup.Subnets = []report.CleanupSubnet{{Subnet: Subnet, Addresses: addresses, Interfaces: 1, Nodes: 1}}
	}
	return s
}

var (
	Oncall   = report.User{ID: "U0ONCALL01", Name: "oncall"}
	Stranger = report.User{ID: "U0STRANGER"}
	May      = response.Who{May: response.MayYes}
)

// RoutePlan is a plan for the route incident, to a gateway.
func RoutePlan(nat string) remedy.Plan {
	return remedy.Plan{
		Format: remedy.Format, Remedy: optin.AddNATRoute, Partition: "aws", Account: "123456789012", Region: "us-west-2", Cluster: Cluster,
		Check: TheRoute.Check, Resource: Table, Route: &remedy.AddNATRoute{VPC: "vpc-0a", Table: Table, Destination: "0.0.0.0/0", NAT: nat},
	}
}

func Proposal(id string, minute int, p remedy.Plan, policy optin.Policy) report.Proposal {
	return report.Proposal{
		Head:   report.Head{Format: report.IncidentFormat, Kind: report.ProposalKind, ID: id, At: At(minute), Cluster: Cluster, Key: TheRoute},
		Remedy: p.Remedy, Policy: policy, Plan: p, Hash: p.Hash(), Lasts: time.Hour,
	}
}

// Broken is the route incident, open since minute 0 with its message posted.
func Broken(t *testing.T) incident.Incident {
	t.Helper()
	list := Play(t, []Step{{Obs: Observe(Route("i-1"), Launched("i-1", 0, report.Waiting)), Want: map[report.Key]incident.Reason{TheRoute: incident.Opened}}})
	inc := list[0]
	inc.Delivery.Channel, inc.Delivery.TS = "C0123456789", "1.1"
	return inc
}

// Proposed is broken with a plan offered at minute 2, for an hour.
func Proposed(t *testing.T) incident.Incident {
	t.Helper()
	d := response.Propose(Broken(t), Proposal("p1", 2, RoutePlan("nat-0aa4"), optin.Approve), At(2))
	if d.Reason != incident.IsProposed {
		t.Fatalf("the plan is %q", d.Reason)
	}
	return d.Incident
}

func Press(action report.Action, minute int) report.Press {
	p := report.Press{
		Head: report.Head{Format: report.IncidentFormat, Kind: report.PressKind, ID: "press", At: At(minute), Key: TheRoute}, Number: 1, Action: action,
		User: Oncall, Channel: "C0123456789", TS: "1.1",
	}
	if action == report.ApprovePlan || action == report.RefusePlan {
		p.Plan = RoutePlan("nat-0aa4").Hash()
	}
	if action == report.MuteFor {
		p.For = time.Hour
	}
	return p
}

func Changes(id string, trail report.RecentChanges) report.Changes {
	return report.Changes{Head: report.Head{Format: report.IncidentFormat, Kind: report.ChangesKind, ID: id, At: At(6), Cluster: Cluster, Key: TheRoute}, Opened: At(0), Found: trail}
}

func Change(id string, minute int) report.Change {
	return report.Change{ID: id, At: At(minute), Call: "CreateRouteTable", Resource: Table, Actor: "ci-deploy"}
}

// Run is of the route plan, done from minute 6 to 7.
func Run(result remedy.Status) report.RemedyResult {
	p := RoutePlan("nat-0aa4")
	return report.RemedyResult{
		Head: report.Head{Format: report.IncidentFormat, Kind: report.RemedyResultKind, ID: "deed/" + string(result), At: At(7), Cluster: Cluster, Key: TheRoute},
		Run:  remedy.Run{Format: 1, ID: "d1", Plan: p, Hash: p.Hash(), Policy: optin.Approve, ApprovedBy: Oncall.ID, Approved: At(5), Began: At(6), Ended: At(7), Result: result},
	}
}

func Look(inc incident.Incident, minute int, o ...func(*report.Observation)) incident.Incident {
	obs := Observe(append(o, Named("look"+string(rune('a'+minute))))...)
	obs.At = At(minute)
	for _, d := range reconcile.Decide([]incident.Incident{inc}, obs, At(minute), Policy) {
		if d.Incident.Key == inc.Key {
			inc = d.Incident
		}
	}
	return inc
}

func NotesOf(inc incident.Incident) string {
	var reasons []string
	for _, n := range inc.Delivery.Notes {
		if !n.Details { // what a line leaves out is of the same reason
			reasons = append(reasons, string(n.Reason))
		}
	}
	return strings.Join(reasons, " ")
}

var (
	TheLeak    = report.Key{Cluster: Cluster, Check: checkid.IPLeakedInterfaces, Resource: Subnet}
	TheRunway  = report.Key{Cluster: Cluster, Check: checkid.IPRunway, Resource: Subnet}
	TheEmpty   = report.Key{Cluster: Cluster, Check: checkid.IPSubnetExhausted, Resource: Subnet}
	TheBurst   = report.Key{Cluster: Cluster, Check: checkid.SpotBurstExceedsSubnet, Resource: Subnet}
	TheRefusal = report.Key{Cluster: Cluster, Check: checkid.LaunchSubnetFull, Resource: Subnet}
	ThePlugin  = report.Key{Cluster: Cluster, Check: checkid.NodeCNINotReady, Resource: "aws-node"}
)

// Fails is a cause of the subnet's addresses.
func Fails(check checkid.ID, confidence catalog.Confidence, title string, more ...func(*diagnosis.Cause)) func(*report.Observation) {
	return func(o *report.Observation) {
		c := diagnosis.Cause{Check: check, Confidence: confidence, Resource: Subnet, Covers: []string{Subnet}, Title: title, Nodegroups: []string{"workers"}}
		for _, m := range more {
			m(&c)
		}
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, c)
	}
}

func Hides(ids ...checkid.ID) func(*diagnosis.Cause) {
	return func(c *diagnosis.Cause) {
		for _, id := range ids {
			c.Hidden = append(c.Hidden, diagnosis.Hidden{Check: id, Because: c.Check})
		}
	}
}

func WorsenedBy(ids ...checkid.ID) func(*diagnosis.Cause) {
	return func(c *diagnosis.Cause) { c.Contributing = ids }
}

func KeepsOut(ids ...string) func(*diagnosis.Cause) {
	return func(c *diagnosis.Cause) { c.Instances = ids }
}

func Leaks(more ...func(*diagnosis.Cause)) func(*report.Observation) {
	return Fails(checkid.IPLeakedInterfaces, catalog.Certain, "31 addresses of "+Subnet+" are held by 4 terminated nodes", more...)
}

func LeaksSome(more ...func(*diagnosis.Cause)) func(*report.Observation) {
	return Fails(checkid.IPLeakedInterfaces, catalog.Likely, "31 addresses of "+Subnet+" are held by 4 terminated nodes", more...)
}

func RunsOut(more ...func(*diagnosis.Cause)) func(*report.Observation) {
	return Fails(checkid.IPRunway, catalog.Likely, Subnet+" runs out of addresses at about 16:40 UTC", more...)
}

func IsEmpty(more ...func(*diagnosis.Cause)) func(*report.Observation) {
	return Fails(checkid.IPSubnetExhausted, catalog.Certain, Subnet+" has no free address", more...)
}

func RefusesLaunches(more ...func(*diagnosis.Cause)) func(*report.Observation) {
	return func(o *report.Observation) {
		Fails(checkid.LaunchSubnetFull, catalog.Certain, "workers cannot launch: the subnet has no free address", more...)(o)
		o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1].Covers = []string{"eks-workers"}
	}
}

func Burst(more ...func(*diagnosis.Cause)) func(*report.Observation) {
	return Fails(checkid.SpotBurstExceedsSubnet, catalog.Certain, "12 launches needed 720 addresses", more...)
}

func PluginDown(instances ...string) func(*report.Observation) {
	return func(o *report.Observation) {
		Fails(checkid.NodeCNINotReady, catalog.Certain, "aws-node does not come up", KeepsOut(instances...))(o)
		c := &o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1]
		c.Resource, c.Covers = "aws-node", instances
	}
}

func AddressesBack(o *report.Observation) {
	o.Diagnosis.Passed = append(o.Diagnosis.Passed, diagnosis.Passed{
		Check: checkid.IPLeakedInterfaces, Covers: []string{Subnet}, Evidence: []finding.Evidence{{What: Subnet, Value: "31 addresses back; 12 interfaces of 4 terminated nodes"}},
	})
}
