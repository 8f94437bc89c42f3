package report

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/snapshot"
)

const (
	cluster = "eks-workshop"
	table   = "rtb-0cd2"
	subnet  = "subnet-0ab1"
)

// start is the time of the first launch in these tests.
var start = time.Date(2026, 11, 20, 14, 59, 0, 0, time.UTC)

func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

var theAddon = Key{Cluster: cluster, Check: "addon/degraded", Resource: "vpc-cni"}

var theOptions = Key{Cluster: cluster, Check: "dns/dhcp-options", Resource: "dopt-0a"}

var policy = Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour}

// step is one observation in the life of an incident, and what it should make.
type step struct {
	name string
	// minute is when it was observed; now is when it is decided on (the same
	// minute if zero).
	minute int
	now    int
	obs    Observation
	want   map[Key]Reason
	state  map[Key]State
}

func observe(o ...func(*Observation)) Observation {
	obs := Observation{Format: Format, Cluster: cluster, Account: "123456789012", Region: "us-west-2", Partition: "aws"}
	for _, f := range o {
		f(&obs)
	}
	return obs
}

func route(instances ...string) func(*Observation) {
	return func(o *Observation) {
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnose.Cause{
			Check: "route/no-egress", Confidence: checks.Certain, Resource: table, Covers: []string{subnet},
			Title: subnet + " has no way out", Why: table + " has only 10.42.0.0/16 → local.", Nodegroups: []string{"workers"}, Instances: instances,
		})
	}
}

// likely is a cause that explains instances only if they failed.
func likely(confidence checks.Confidence, instances ...string) func(*Observation) {
	return func(o *Observation) {
		route(instances...)(o)
		c := &o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1]
		c.Check, c.Resource, c.Confidence = "dns/dhcp-options", "dopt-0a", confidence
	}
}

func degraded() func(*Observation) {
	return func(o *Observation) {
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnose.Cause{
			Check: "addon/degraded", Confidence: checks.Certain, Resource: "vpc-cni", Covers: []string{"vpc-cni"}, Title: "add-on vpc-cni is DEGRADED",
		})
	}
}

var thePool = Key{Cluster: cluster, Check: "spot/pool-failing", Resource: "c5.large/us-west-2b"}

func poolFails() func(*Observation) {
	return func(o *Observation) {
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnose.Cause{
			Check: "spot/pool-failing", Confidence: checks.Certain, Resource: "c5.large/us-west-2b", Covers: []string{"c5.large/us-west-2b"}, Title: "Spot pool c5.large/us-west-2b fails",
		})
	}
}

func otherTable(instances ...string) func(*Observation) {
	return func(o *Observation) {
		route(instances...)(o)
		o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1].Resource = "rtb-0eee"
	}
}

func blackhole(instances ...string) func(*Observation) {
	return func(o *Observation) {
		route(instances...)(o)
		o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1].Check = "route/blackhole"
	}
}

func wordier(o *Observation) { o.Diagnosis.Causes[0].Why += " It was created 14:41." }

func notRegistered(instances ...string) func(*Observation) {
	return func(o *Observation) {
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnose.Cause{
			Check: "node/not-registered", Confidence: checks.Symptom, Resource: "workers", Covers: instances, Instances: instances,
			Title: "no node has registered", Nodegroups: []string{"workers"},
		})
	}
}

func notReady(instances ...string) func(*Observation) {
	return func(o *Observation) {
		notRegistered(instances...)(o)
		o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1].Check = "node/not-ready"
	}
}

func endedSoon(instance string) func(*Observation) {
	return func(o *Observation) {
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnose.Cause{
			Check: endedEarly, Confidence: checks.Certain, Resource: instance, Covers: []string{instance}, Instances: []string{instance},
			Title: instance + " ended before it joined", Nodegroups: []string{"workers"},
		})
	}
}

func passed(check checks.ID, covers ...string) func(*Observation) {
	return func(o *Observation) {
		o.Diagnosis.Passed = append(o.Diagnosis.Passed, diagnose.Passed{
			Check: check, Covers: covers, Evidence: []checks.Evidence{{What: table, Value: "0.0.0.0/0 → nat-0aa4"}},
		})
	}
}

func launched(instance string, started int, standing Standing) func(*Observation) {
	return func(o *Observation) {
		l := Launch{Instance: instance, Nodegroup: "workers", Group: "eks-workers", Subnet: subnet, Started: at(started), Standing: standing}
		switch standing {
		case Joined:
			l.Ready = at(started).Add(58 * time.Second)
		case Gone:
			l.Ended = at(started + 1)
		}
		o.Launches = append(o.Launches, l)
	}
}

func inSubnet(id string) func(*Observation) {
	return func(o *Observation) { o.Launches[len(o.Launches)-1].Subnet = id }
}

func readyAt(minute int) func(*Observation) {
	return func(o *Observation) { o.Launches[len(o.Launches)-1].Ready = at(minute) }
}

func absent(ids ...string) func(*Observation) {
	return func(o *Observation) { o.Absent = ids }
}

func blindTo(call string, source snapshot.Source, why snapshot.Reason) func(*Observation) {
	return func(o *Observation) {
		f := snapshot.Failure{Source: source, Reason: why, Call: call, Code: "Code"}
		o.Blind = append(o.Blind, f)
		o.Diagnosis.Unknown = append(o.Diagnosis.Unknown, diagnose.Unknown{Check: "route/no-egress", Covers: []string{subnet}, Blocked: []snapshot.Failure{f}})
	}
}

func couldRead(sources ...snapshot.Source) func(*Observation) {
	return func(o *Observation) { o.Read = sources }
}

func named(id string) func(*Observation) { return func(o *Observation) { o.ID = id } }

var (
	theRoute   = Key{cluster, "route/no-egress", table}
	otherRoute = Key{cluster, "route/no-egress", "rtb-0eee"}
	theHole    = Key{cluster, "route/blackhole", table}
	theSymptom = Key{cluster, "node/not-registered", "workers"}
	theNode    = Key{cluster, "node/not-ready", "workers"}
	theEnd     = Key{cluster, endedEarly, "i-1"}
	thePermit  = Key{cluster, CannotLook, "ec2:DescribeRouteTables"}
)

// play applies the steps in order, as the report function does, and gives the
// incidents at the end.
func play(t *testing.T, steps []step) []Incident {
	t.Helper()
	var incidents []Incident
	for i, s := range steps {
		obs := s.obs
		obs.At = at(s.minute)
		if obs.ID == "" {
			obs.ID = string(rune('a' + i))
		}
		now := at(s.minute)
		if s.now != 0 {
			now = at(s.now)
		}
		got := map[Key]Reason{}
		for _, d := range Decide(incidents, obs, now, policy) {
			got[d.Incident.Key] = d.Reason
			if d.Changed {
				incidents = with(incidents, d.Incident)
			}
		}
		if diff := cmp.Diff(s.want, got); diff != "" && (len(s.want) > 0 || len(got) > 0) {
			t.Errorf("step %d (%s): reasons (-want +got):\n%s", i, s.name, diff)
		}
		for key, want := range s.state {
			if got := stateOf(incidents, key); got != want {
				t.Errorf("step %d (%s): %v is %q, want %q", i, s.name, key, got, want)
			}
		}
	}
	return incidents
}

func with(incidents []Incident, inc Incident) []Incident {
	incidents = slices.DeleteFunc(slices.Clone(incidents), func(i Incident) bool { return i.Key == inc.Key })
	return append(incidents, inc)
}

func stateOf(incidents []Incident, key Key) State {
	for _, inc := range incidents {
		if inc.Key == key {
			return inc.State
		}
	}
	return ""
}

// permute calls with each order of n.
func permute(n int, f func(order []int)) {
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
