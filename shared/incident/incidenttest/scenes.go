// Package incidenttest has what tests of incidents observe, press and propose.
package incidenttest

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
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
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnose.Cause{
			Check: checkid.RouteNoEgress, Confidence: checks.Certain, Resource: Table, Covers: []string{Subnet},
			Title: Subnet + " has no route to the internet", Why: Table + " has only 10.42.0.0/16 → local.", Nodegroups: []string{"workers"}, Instances: instances,
		})
	}
}

// Likely is a cause that explains instances only if they failed.
func Likely(confidence checks.Confidence, instances ...string) func(*report.Observation) {
	return func(o *report.Observation) {
		Route(instances...)(o)
		c := &o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1]
		c.Check, c.Resource, c.Confidence = checkid.DNSDHCPOptions, "dopt-0a", confidence
	}
}

func Degraded() func(*report.Observation) {
	return func(o *report.Observation) {
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnose.Cause{
			Check: checkid.AddonDegraded, Confidence: checks.Certain, Resource: "vpc-cni", Covers: []string{"vpc-cni"}, Title: "add-on vpc-cni is DEGRADED",
		})
	}
}

var ThePool = report.Key{Cluster: Cluster, Check: checkid.SpotPoolFailing, Resource: "c5.large/us-west-2b"}

func PoolFails() func(*report.Observation) {
	return func(o *report.Observation) {
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnose.Cause{
			Check: checkid.SpotPoolFailing, Confidence: checks.Certain, Resource: "c5.large/us-west-2b", Covers: []string{"c5.large/us-west-2b"}, Title: "Spot pool c5.large/us-west-2b fails",
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
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnose.Cause{
			Check: checkid.NodeNotRegistered, Confidence: checks.Symptom, Resource: "workers", Covers: instances, Instances: instances,
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
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnose.Cause{
			Check: checkid.InstanceEndedEarly, Confidence: checks.Certain, Resource: instance, Covers: []string{instance}, Instances: []string{instance},
			Title: instance + " ended before it joined", Nodegroups: []string{"workers"},
		})
	}
}

func Passed(check checks.ID, covers ...string) func(*report.Observation) {
	return func(o *report.Observation) {
		o.Diagnosis.Passed = append(o.Diagnosis.Passed, diagnose.Passed{
			Check: check, Covers: covers, Evidence: []checks.Evidence{{What: Table, Value: "0.0.0.0/0 → nat-0aa4"}},
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

// TaggedAt makes the last launch one of which only Karpenter's tag tells that it joined.
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
		o.Diagnosis.Unknown = append(o.Diagnosis.Unknown, diagnose.Unknown{Check: checkid.RouteNoEgress, Covers: []string{Subnet}, Blocked: []snapshot.Failure{f}})
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
