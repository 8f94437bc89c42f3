package reconcile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// silentLook is a look at a cluster whose Kubernetes API does not answer, by some calls.
func silentLook(at time.Time, reason snapshot.Reason, calls ...string) report.Observation {
	o := report.Observation{Format: report.Format, ID: strings.Join(calls, " ") + at.String(), By: "sweep", At: at, Cluster: "prod", Sweep: true}
	for _, c := range calls {
		o.Blind = append(o.Blind, snapshot.Failure{Source: snapshot.Source(c), Call: "kubernetes: list " + c, Reason: reason})
	}
	return o
}

// An API that does not answer is one fault, whatever each watcher asks of it; a call that it
// refuses is another. It is over when any of it was read, and not before.
func TestSilentAPIIsOneFault(t *testing.T) {
	at := func(minutes int) time.Time { return incidenttest.Noon.Add(time.Duration(minutes) * time.Minute) }
	var list []incident.Incident
	for i, o := range []report.Observation{
		silentLook(at(0), snapshot.Unreachable, "nodes"), silentLook(at(5), snapshot.TimedOut, "nodes", "pods", "persistentvolumes"), silentLook(at(10), snapshot.Unreachable, "nodepools", "nodes"),
	} {
		list, _ = decided(list, o, o.At)
		if len(list) != 1 || list[0].Key.Resource != report.KubernetesAPI || (list[0].State == incident.Open) != (i == 2) {
			t.Fatalf("after %d looks there is %+v", i+1, list)
		}
	}
	if got := list[0].Cause; got.Title != "cannot read the cluster: its Kubernetes API cannot be reached" || !strings.Contains(got.Fix.Text, "endpoint") || len(got.Evidence) > 0 {
		t.Errorf("said is %q, %q, %+v", got.Title, got.Fix.Text, got.Evidence)
	}
	other := silentLook(at(15), snapshot.Denied, "pods")
	if list, _ = decided(list, other, other.At); len(list) != 2 || list[1].Key.Resource != "kubernetes: list pods" || list[0].State != incident.Open {
		t.Fatalf("with a call that is refused there is %+v", list)
	}
	elsewhere := report.Observation{Format: report.Format, ID: "aws", By: "sweep", At: at(16), Cluster: "prod", Sweep: true, Read: []snapshot.Source{snapshot.Subnets}}
	if list, _ = decided(list, elsewhere, elsewhere.At); list[0].State != incident.Open {
		t.Error("it is over for what AWS told")
	}
	well := report.Observation{Format: report.Format, ID: "well", By: "sweep", At: at(20), Cluster: "prod", Sweep: true, Read: []snapshot.Source{"nodes"}}
	if list, _ = decided(list, well, well.At); list[0].State != incident.Closed || list[0].Resolution != incident.Proved {
		t.Errorf("when it answers it is %s, %s", list[0].State, list[0].Resolution)
	}
}

// TestKnownAgain: a cluster that knows us again is over as told, also where one of its lists is
// still refused, which is another fault; it is not over for what AWS told.
func TestKnownAgain(t *testing.T) {
	look := func(minute int, blind []snapshot.Failure, read ...snapshot.Source) report.Observation {
		at := incidenttest.Noon.Add(time.Duration(minute) * time.Minute)
		return report.Observation{Format: report.Format, ID: at.String(), By: "sweep", At: at, Cluster: "prod", Sweep: true, Blind: blind, Read: read}
	}
	unknown := func(s snapshot.Source) snapshot.Failure {
		return snapshot.Failure{Source: s, Call: snapshot.WholeKubernetesAPI, Reason: snapshot.Denied, Code: "Unauthorized"}
	}
	o := look(0, []snapshot.Failure{unknown(snapshot.Nodes), unknown(snapshot.NodePoolsOf)})
	list, _ := decided(nil, o, o.At)
	if len(list) != 1 || list[0].State != incident.Open || list[0].Key.Resource != snapshot.WholeKubernetesAPI {
		t.Fatalf("there is %+v", list)
	}
	o = look(5, nil, snapshot.Subnets)
	if list, _ = decided(list, o, o.At); list[0].State != incident.Open {
		t.Error("it is over for what AWS told")
	}
	forbidden := snapshot.Failure{Source: snapshot.NodePoolsOf, Call: "kubernetes: list nodepools", Reason: snapshot.Denied, Code: "Forbidden"}
	o = look(10, []snapshot.Failure{forbidden}, snapshot.Nodes)
	list, _ = decided(list, o, o.At)
	if len(list) != 2 || list[0].State != incident.Closed || list[0].Resolution != incident.Proved || list[1].Key.Resource != forbidden.Call {
		t.Errorf("known again, and one list refused: %+v", list)
	}
}

// A sweep sees that a subnet is empty, minutes before the roll call of the burst
// that emptied it: what the burst asked for is said then, in place of it, and
// the next sweep does not say again that the subnet is empty.
func TestTheBurstTakesThePlaceOfTheEmptySubnet(t *testing.T) {
	seen := func(id string, minute int, causes ...diagnosis.Cause) report.Observation {
		return incidenttest.Observe(func(o *report.Observation) { o.ID, o.At, o.Diagnosis.Causes = id, incidenttest.At(minute), causes })
	}
	empty := diagnosis.Cause{Check: checkid.IPSubnetExhausted, Confidence: catalog.Certain, Resource: incidenttest.Subnet, Covers: []string{incidenttest.Subnet}, Title: incidenttest.Subnet + " has no free address"}
	burst := diagnosis.Cause{
		Check: "spot/burst-exceeds-subnet", Confidence: catalog.Certain, Resource: incidenttest.Subnet, Covers: []string{incidenttest.Subnet}, Instances: []string{"i-1"},
		Title: "12 launches needed 720 addresses", Hidden: []diagnosis.Hidden{{Check: checkid.IPSubnetExhausted, Because: "spot/burst-exceeds-subnet"}},
	}
	other := empty
	other.Resource, other.Covers = "subnet-other", []string{"subnet-other"}
	var incidents []incident.Incident
	for n, obs := range []report.Observation{
		seen("1", 0, empty, other),
		seen("2", 3, burst, other),
		seen("3", 5, empty, other),
	} {
		for _, c := range reconcile.Decide(incidents, obs, obs.At, incidenttest.Policy) {
			i := -1
			for k := range incidents {
				if incidents[k].Key == c.Incident.Key {
					i = k
				}
			}
			if i < 0 {
				incidents = append(incidents, c.Incident)
				continue
			}
			incidents[i] = c.Incident
		}
		states := map[report.Key]string{}
		for _, inc := range incidents {
			states[inc.Key] = string(inc.State) + " " + string(inc.Resolution)
		}
		want := "open "
		if n > 0 {
			want = "closed superseded"
		}
		key := func(c diagnosis.Cause) report.Key {
			return report.Key{Cluster: obs.Cluster, Check: c.Check, Resource: c.Resource}
		}
		if got := states[key(empty)]; got != want {
			t.Errorf("look %d: the empty subnet is %q, want %q", n+1, got, want)
		}
		if got := states[key(burst)]; n > 0 && got != "open " {
			t.Errorf("look %d: the burst is %q, want open", n+1, got)
		}
		if got := states[key(other)]; got != "open " {
			t.Errorf("look %d: another subnet is %q, want open: no burst tells of it", n+1, got)
		}
	}
}

// TestCapacityIsOfOneMoment: what the groups want is said as the newest look counted it,
// and not beside launches that stand otherwise since.
func TestCapacityIsOfOneMoment(t *testing.T) {
	launched := func(id string, status report.LaunchStatus) report.Launch {
		return report.Launch{Instance: id, Nodegroup: "workers", Group: "eks-workers", Started: incidenttest.Start, Status: status}
	}
	look := func(after time.Duration, id string, ready int, launches ...report.Launch) report.Observation {
		o := incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Named(id))
		o.Launches, o.At = launches, incidenttest.Start.Add(after)
		if ready >= 0 {
			o.Capacity = []report.Capacity{{Group: "eks-workers", Nodegroup: "workers", Desired: 5, Ready: ready}}
		}
		return o
	}
	one := launched("i-1", report.Waiting)
	for name, test := range map[string]struct {
		looks []report.Observation
		want  int // missing; -1 for not told
	}{
		"counted":                        {[]report.Observation{look(0, "a", 4, one)}, 1},
		"counted anew":                   {[]report.Observation{look(0, "a", 4, one), look(5*time.Minute, "b", 2, one)}, 3},
		"not counted":                    {[]report.Observation{look(0, "a", -1, one)}, -1},
		"an old look comes late":         {[]report.Observation{look(5*time.Minute, "b", 2, one), look(0, "a", 4, one)}, 3},
		"counted a sweep ago":            {[]report.Observation{look(0, "a", 4, one), look(5*time.Minute, "b", -1, one)}, 1},
		"counted long ago":               {[]report.Observation{look(0, "a", 4, one), look(20*time.Minute, "b", -1, one)}, -1},
		"a launch joined since":          {[]report.Observation{look(0, "a", 4, one), look(time.Minute, "b", -1, launched("i-1", report.Joined))}, -1},
		"a launch of a group not told":   {[]report.Observation{look(0, "a", 4, report.Launch{Instance: "i-1", Group: "another", Status: report.Waiting})}, -1},
		"a NodePool wants no number":     {[]report.Observation{look(0, "a", 4, report.Launch{Instance: "i-1", Nodegroup: "default", Status: report.Waiting})}, -1},
		"more than wanted, in an update": {[]report.Observation{look(0, "a", 6, one)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var known []incident.Incident
			for _, o := range test.looks {
				for _, d := range reconcile.Decide(known, o, o.At, incidenttest.Policy) {
					known = incidenttest.With(known, d.Incident)
				}
			}
			if len(known) != 1 {
				t.Fatalf("%d incidents", len(known))
			}
			got := -1
			if known[0].Capacity != nil {
				got = known[0].Capacity.Missing()
			}
			if got != test.want {
				t.Errorf("%d missing, want %d: %+v", got, test.want, known[0].Capacity)
			}
		})
	}
}

// A look that was woken by a reminder does not know its account: what is known
// stays, or no remedy could be planned until the next sweep.
func TestALookWithoutAnAccountTakesNothingAway(t *testing.T) {
	first := incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Waiting))
	first.Account, first.Region, first.Partition, first.ID, first.At = "111122223333", "us-west-2", "aws", "first", incidenttest.Start
	var list []incident.Incident
	for _, d := range reconcile.Decide(nil, first, incidenttest.Start, incident.Policy{}) {
		list = append(list, d.Incident)
	}
	later := incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Missed))
	later.Account, later.Region, later.Partition, later.ID, later.At = "", "", "", "later", incidenttest.Start.Add(5*time.Minute)
	got := reconcile.Decide(list, later, incidenttest.Start.Add(5*time.Minute), incident.Policy{})
	if len(got) != 1 || !got[0].Changed || got[0].Incident.Account != "111122223333" || got[0].Incident.Region != "us-west-2" || got[0].Incident.Partition != "aws" {
		t.Errorf("decided %+v, want the same place", got)
	}
}

// TestPodsCountedForTheCauseStand: a count of the whole cluster does not replace one for the
// cause within two ticks; later it does, and a look that could not read the pods does at once.
func TestPodsCountedForTheCauseStand(t *testing.T) {
	denied := &snapshot.Failure{Source: snapshot.WaitingPods, Reason: snapshot.Denied}
	at := func(minute int, source string, unread *snapshot.Failure) report.Observation {
		return incidenttest.Observe(func(o *report.Observation) {
			o.ID, o.At = fmt.Sprint(minute), incidenttest.At(minute)
			o.Diagnosis.Causes = []diagnosis.Cause{{Check: checkid.RouteNoEgress, Confidence: catalog.Certain, Resource: "rtb-1", Covers: []string{incidenttest.Subnet}, Nodegroups: []string{"workers"}}}
			o.Launches = []report.Launch{{Instance: "i-1", Nodegroup: "workers", Group: "eks-workers", Subnet: incidenttest.Subnet, Started: incidenttest.At(0), Status: report.Waiting}}
			o.Waiting = &report.WaitingPods{Unread: unread}
			if unread == nil {
				o.Waiting.Sources = []report.NodeSource{{Name: source, Group: "eks-" + source}}
				o.Waiting.Workloads = []report.WaitingWorkload{{Workload: diagnosis.Workload{Namespace: "etl", Owner: "Job batch", Pods: 7}, Fits: []string{"other"}}}
			}
		})
	}
	var list []incident.Incident
	for _, step := range []struct {
		obs                report.Observation
		ofCluster, unknown bool
	}{
		{at(0, "workers", nil), false, false},
		{at(1, "other", nil), false, false},
		{at(5, "workers", nil), false, false},
		{at(6, "other", nil), false, false},
		{at(17, "other", nil), true, false},
		{at(18, "workers", nil), false, false},
		{at(19, "", denied), false, true},
	} {
		list, _ = decided(list, step.obs, step.obs.At)
		if p := list[0].Pods; p == nil || p.OfCluster != step.ofCluster || (p.Unread != nil) != step.unknown {
			t.Errorf("at minute %s the pods are %+v, want of the cluster %t, unknown %t", step.obs.ID, p, step.ofCluster, step.unknown)
		}
	}
}

// TestPodsAreOfTheNewestLook: the first message knows no pods, the next look fills them in, an
// older one changes nothing, and what no look reads any more is unknown.
func TestPodsAreOfTheNewestLook(t *testing.T) {
	failing := func(o *report.Observation) {
		o.Diagnosis.Causes = []diagnosis.Cause{{Check: checkid.RouteNoEgress, Confidence: catalog.Certain, Resource: "rtb-1", Covers: []string{incidenttest.Subnet}, Nodegroups: []string{"workers"}, Instances: []string{"i-1"}}}
		o.Launches = []report.Launch{{Instance: "i-1", Nodegroup: "workers", Group: "eks-workers", Subnet: incidenttest.Subnet, Started: incidenttest.At(0), Status: report.Waiting}}
	}
	look := func(id string, minute, pods int, causes bool) report.Observation {
		return incidenttest.Observe(func(o *report.Observation) {
			o.ID, o.At = id, incidenttest.At(minute)
			if causes {
				failing(o)
			}
			if pods >= 0 {
				o.Waiting = &report.WaitingPods{Sources: []report.NodeSource{{Name: "workers", Group: "eks-workers"}}}
				o.Waiting.Workloads = []report.WaitingWorkload{{Workload: diagnosis.Workload{Namespace: "shop", Owner: "Deployment web", Pods: pods}, Fits: []string{"workers"}}}
			}
		})
	}
	var list []incident.Incident
	for _, step := range []struct {
		obs  report.Observation
		want string
		edit bool
	}{
		{look("launch-watch", 0, -1, true), "not checked", true},
		{look("sweep", 5, 2, false), "2", true},
		{look("same", 10, 2, false), "2", false},
		{look("late", 4, 9, false), "2", false},
		{look("more", 15, 3, false), "3", true},
		{look("without pods", 20, -1, false), "3", false},
		{look("without pods again", 31, -1, false), "unknown", true},
	} {
		var decisions []incident.Decision
		list, decisions = decided(list, step.obs, step.obs.At)
		got := "not checked"
		if p := list[0].Pods; p != nil && p.Unread != nil {
			got = "unknown"
		} else if p != nil {
			got = fmt.Sprint(p.Count)
		}
		edit := slices.ContainsFunc(decisions, func(d incident.Decision) bool { return d.Changed })
		if got != step.want || edit != step.edit {
			t.Errorf("after %s the pods are %s and the record changed %t, want %s, %t", step.obs.ID, got, edit, step.want, step.edit)
		}
	}
}

func chartOf(of string, size int) func(*report.Observation) {
	return func(o *report.Observation) {
		png := make([]byte, size)
		r := rand.NewChaCha8([32]byte{})
		if _, err := r.Read(png); err != nil {
			panic(err)
		}
		o.Charts = append(o.Charts, report.Chart{Of: of, PNG: png, Alt: "free addresses"})
	}
}

// The record with a picture that Slack does not take reads back as it was, and
// when it is too large the picture goes first.
func TestSketchFitsTheRecord(t *testing.T) {
	obs := incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted)), incidenttest.IsEmpty(), chartOf(incidenttest.Subnet, 25_000), incidenttest.Named("1"))
	obs.At = incidenttest.Start
	inc := incidenttest.DecideAll(nil, []report.Observation{obs}, incidenttest.Start)[0]
	if !inc.Chart.Due() || inc.Chart.Turn != "1 open short" {
		t.Fatalf("the sketch is %+v", inc.Chart)
	}
	var back incident.Incident
	if err := json.Unmarshal(incidenttest.Encoded(t, inc), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inc, back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	inc.Chart.File = "F1"
	inc.Facts = []report.Fact{{What: "large", Value: string(bytes.Repeat([]byte("x"), incidenttest.Record-20_000))}}
	fit := inc.Fit(incidenttest.Record)
	if n := len(incidenttest.Encoded(t, fit)); n > incidenttest.Record || len(fit.Chart.PNG) > 0 || fit.Chart.File != "F1" || len(fit.Facts) != 1 || len(inc.Chart.PNG) == 0 {
		t.Errorf("%d bytes, the sketch is %d bytes as %q; want the picture gone and nothing else", n, len(fit.Chart.PNG), fit.Chart.File)
	}
}

// Charts never make an observation too large, and are in its first part only.
func TestChartsFitTheMessage(t *testing.T) {
	obs := incidenttest.Observe(incidenttest.Leaks(), incidenttest.Named("1"))
	obs.At = incidenttest.Start
	for i := range 20 {
		chartOf(fmt.Sprint("subnet-", i), 25_000)(&obs)
	}
	parts, err := obs.Split(1 << 20)
	if err != nil || len(parts) != 1 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	if n := len(incidenttest.Encoded(t, parts[0])); n > 256<<10 || len(parts[0].Charts) < 6 || parts[0].Charts[0].Of != "subnet-0" {
		t.Errorf("%d bytes with %d charts; want the first ones, within 256 KiB", n, len(parts[0].Charts))
	}
	big := incidenttest.Crowd(5000, "node/not-registered", catalog.Symptom)
	chartOf(incidenttest.Subnet, 25_000)(&big)
	if parts, err = big.Split(256 << 10); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if len(p.Charts) > 0 {
			t.Errorf("part %s has charts though all are too large", p.ID)
		}
	}
	if parts[0].Diagnosis.Causes == nil || len(big.Charts) != 1 {
		t.Error("the words are gone, or the observation was changed")
	}
}

// Only incidents of addresses have pictures, and only while they are watched.
func TestWhoGetsAPicture(t *testing.T) {
	obs := incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted)), incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Missed), chartOf(incidenttest.Subnet, 10), chartOf(incidenttest.Table, 10), incidenttest.Named("1"))
	obs.At = incidenttest.At(5)
	for _, inc := range incidenttest.DecideAll(nil, []report.Observation{obs}, incidenttest.At(5)) {
		if got := inc.Chart.Due(); got != (inc.Key == incidenttest.TheLeak) {
			t.Errorf("%s has a picture: %v", inc.Key.Check, got)
		}
	}
	first := incidenttest.Observe(incidenttest.RunsOut(), chartOf(incidenttest.Subnet, 10), incidenttest.Named("2"))
	first.At = incidenttest.Start
	incidents := incidenttest.DecideAll(nil, []report.Observation{first, obs}, incidenttest.At(5))
	for _, inc := range incidents {
		if inc.Key == incidenttest.TheRunway && (inc.State != incident.Closed || inc.Chart.Due()) {
			t.Errorf("%s, %s: its picture is still to be shown", inc.Key.Check, inc.State)
		}
	}
	// A chart from before what is known is not news.
	late := incidenttest.Observe(chartOf(incidenttest.Subnet, 20), incidenttest.Named("3"))
	late.At = incidenttest.At(1)
	for _, inc := range incidenttest.DecideAll(incidents, []report.Observation{late}, incidenttest.At(6)) {
		if inc.Key == incidenttest.TheLeak && len(inc.Chart.PNG) != 10 {
			t.Errorf("an older chart is taken: %d bytes", len(inc.Chart.PNG))
		}
	}
}

// Whatever the crowd, each message fits, and together they say what the one
// would have said.
func TestSplit(t *testing.T) {
	const limit = 1 << 20
	for _, n := range []int{1, 1000, 5000} {
		for _, confidence := range []catalog.Confidence{catalog.Symptom, catalog.Certain} {
			obs := incidenttest.Crowd(n, "node/not-registered", confidence)
			parts, err := obs.Split(limit)
			if err != nil {
				t.Fatalf("%d instances: %v", n, err)
			}
			var launches, affected, passed []string
			ids := map[string]bool{}
			for _, p := range parts {
				body, err := json.Marshal(p)
				if err != nil || len(body) > limit {
					t.Errorf("%d instances: a part of %d bytes, %v; want at most %d", n, len(body), err, limit)
				}
				if _, err := report.Decode(body); err != nil {
					t.Errorf("%d instances: %v", n, err)
				}
				ids[p.ID] = true
				for _, l := range p.Launches {
					launches = append(launches, l.Instance)
				}
				for _, c := range p.Diagnosis.Causes {
					affected = append(affected, c.Instances...)
				}
				for _, c := range p.Diagnosis.Passed {
					passed = append(passed, c.Covers...)
				}
			}
			slices.Sort(launches)
			want := obs.Diagnosis.Causes[0].Instances
			if !slices.Equal(launches, want) || !slices.Equal(affected, want) || !slices.Equal(passed, want) {
				t.Errorf("%d instances: parts tell of %d launches, %d affected, %d passed, want each once", n, len(launches), len(affected), len(passed))
			}
			if len(ids) != len(parts) || parts[0].ID != obs.ID {
				t.Errorf("%d instances: %d ids for %d parts, the first %q", n, len(ids), len(parts), parts[0].ID)
			}
			if n <= 1000 && len(parts) != 1 {
				t.Errorf("%d instances: %d parts, want 1", n, len(parts))
			}
		}
	}
}

// An observation that no cut makes small enough is an error, not a loop.
func TestSplitTooLarge(t *testing.T) {
	if parts, err := incidenttest.Crowd(3, "node/not-registered", catalog.Symptom).Split(1 << 10); err == nil {
		t.Errorf("%d parts, want an error", len(parts))
	}
}

// The parts of one look count as one: a throttle seen once is not said.
func TestPartsAreOneLook(t *testing.T) {
	obs := incidenttest.Crowd(5000, "node/not-registered", catalog.Symptom)
	obs.Blind = []snapshot.Failure{{Source: snapshot.Endpoints, Reason: snapshot.Throttled, Call: "ec2:DescribeVpcEndpoints"}}
	parts, err := obs.Split(256 << 10)
	if err != nil || len(parts) < reconcile.LooksBeforeSaid {
		t.Fatalf("%d parts, %v; want at least %d", len(parts), err, reconcile.LooksBeforeSaid)
	}
	incidents := incidenttest.DecideAll(nil, parts, incidenttest.At(10))
	for _, inc := range incidents {
		if inc.Key.Check == incident.CannotLook && inc.State != incident.Pending {
			t.Errorf("a throttle seen in one look is %q, want %q", inc.State, incident.Pending)
		}
		if inc.Key.Check != incident.CannotLook && (inc.Affected != 5000 || inc.Number != 1) {
			t.Errorf("%s: %d affected, opened %d times, want 5000 and once", inc.Key.Check, inc.Affected, inc.Number)
		}
	}
}

// The record of a crowd fits, says how many there are, and reads back as it
// was, so far as it is needed to decide.
func TestRecordOfACrowdFits(t *testing.T) {
	for _, n := range []int{1, 1000, 5000} {
		for _, confidence := range []catalog.Confidence{catalog.Symptom, catalog.Certain} {
			incidents := incidenttest.DecideAll(nil, []report.Observation{incidenttest.Crowd(n, "node/not-registered", confidence)}, incidenttest.At(10))
			inc := incidents[0].Fit(incidenttest.Record)
			body, err := json.Marshal(inc)
			if err != nil || len(body) > incidenttest.Record {
				t.Fatalf("%d instances, %s: %d bytes, %v; want at most %d", n, confidence, len(body), err, incidenttest.Record)
			}
			var back incident.Incident
			if err := json.Unmarshal(body, &back); err != nil {
				t.Fatal(err)
			}
			if back.Affected != n {
				t.Errorf("%d instances, %s: %d affected", n, confidence, back.Affected)
			}
			if f := incidents[0].Facts; len(f) != incident.MaxFacts+1 || f[incident.MaxFacts].Value != "70 more were left out" {
				t.Errorf("%d instances, %s: %d facts are kept, want %d and how many were left out", n, confidence, len(f), incident.MaxFacts)
			}
			if diff := cmp.Diff(inc, back); diff != "" {
				t.Errorf("%d instances, %s: read back (-want +got):\n%.2000s", n, confidence, diff)
			}
			for _, l := range incidenttest.Crowd(n, "", confidence).Launches {
				if !back.Affects(l.Instance) {
					t.Fatalf("%d instances, %s: %s is not known as affected", n, confidence, l.Instance)
				}
			}
		}
	}
}

// While Slack and the bus are down for a day, a cause that comes and goes must
// not make the record too large to be written.
func TestRecordFitsWhileNobodyListens(t *testing.T) {
	var incidents []incident.Incident
	for i := range 288 {
		obs := incidenttest.Crowd(1000, "route/no-egress", catalog.Certain)
		obs.ID, obs.At = fmt.Sprint(i), incidenttest.At(10+5*i)
		if i%2 == 1 {
			obs.Diagnosis = diagnosis.Diagnosis{Passed: []diagnosis.Passed{{Check: "route/no-egress", Covers: []string{incidenttest.Subnet}}}}
		}
		incidents = incidenttest.DecideAll(incidents, []report.Observation{obs}, obs.At)
		incidents[0] = incidents[0].Fit(incidenttest.Record)
		if body, err := json.Marshal(incidents[0]); err != nil || len(body) > incidenttest.Record {
			t.Fatalf("after %d observations: %d bytes, %v; want at most %d", i+1, len(body), err, incidenttest.Record)
		}
	}
	inc := incidents[0]
	if inc.Affected != 1000 || len(inc.PendingEvents) == 0 || inc.PendingEvents[0].Kind != incident.EventOpened {
		t.Errorf("affected %d, %d untold, want 1000 and the opening first", inc.Affected, len(inc.PendingEvents))
	}
}

// A symptom whose instances are too many to be kept by name ends when the last
// is given up.
func TestCrowdIsGivenUp(t *testing.T) {
	obs := incidenttest.Crowd(1000, "node/not-registered", catalog.Symptom)
	incidents := incidenttest.DecideAll(nil, []report.Observation{obs}, incidenttest.At(10))
	obs.ID, obs.At = "2", incidenttest.At(130)
	obs.Launches = slices.Clone(obs.Launches)
	for i := range obs.Launches {
		obs.Launches[i].Status = report.GivenUp
	}
	incidents = incidenttest.DecideAll(incidents, []report.Observation{obs}, incidenttest.At(130))
	if got := incidents[0]; got.State != incident.Closed || got.Resolution != incident.GivenUpOn || got.Affected != 1000 {
		t.Errorf("%s, %s with %d affected, want closed, given-up, 1000", got.State, got.Resolution, got.Affected)
	}
}

// The note on who missed roll call counts all of a look, however many messages
// brought it, and however many are kept by name.
func TestAllWhoMissedAreCounted(t *testing.T) {
	for _, limit := range []int{1 << 20, 256 << 10} {
		obs := incidenttest.Crowd(1000, "route/no-egress", catalog.Certain)
		obs.At = incidenttest.At(1)
		obs.Launches = slices.Clone(obs.Launches)
		for i := range obs.Launches {
			obs.Launches[i].Status = report.Waiting
		}
		incidents := incidenttest.DecideAll(nil, []report.Observation{obs}, incidenttest.At(1))
		obs = incidenttest.Crowd(1000, "route/no-egress", catalog.Certain)
		obs.ID = "2"
		parts, err := obs.Split(limit)
		if err != nil {
			t.Fatal(err)
		}
		incidents = incidenttest.DecideAll(incidents, parts, incidenttest.At(10))
		var counts []int
		for _, n := range incidents[0].Delivery.Notes {
			if n.Reason == incident.HasMissed {
				counts = append(counts, n.Count)
			}
		}
		if !slices.Equal(counts, []int{1000}) {
			t.Errorf("in %d parts: notes tell of %v who missed, want one of 1000", len(parts), counts)
		}
		again := obs
		again.ID, again.At = "3", incidenttest.At(15)
		if got := incidenttest.DecideAll(incidents, []report.Observation{again}, incidenttest.At(15))[0]; len(got.Delivery.Notes) != len(incidents[0].Delivery.Notes) || got.Events != incidents[0].Events {
			t.Errorf("in %d parts: the next look, with no news, says more", len(parts))
		}
	}
}

// seen is an observation of one certain cause, and of one thing that could not be
// looked at once.
func seen(at time.Time, id string) report.Observation {
	obs := report.Observation{Format: report.Format, ID: id, By: "join-check", At: at, Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "prod"}
	obs.Diagnosis.Causes = []diagnosis.Cause{{Check: "route/no-egress", Resource: "rtb-1", Covers: []string{"subnet-1"}, Confidence: catalog.Certain, Title: "subnet-1 has no route to the internet"}}
	obs.Blind = []snapshot.Failure{{Source: snapshot.Images, Reason: snapshot.Throttled, Call: "ec2:DescribeImages"}}
	return obs
}

func goneAt(at time.Time) report.Observation {
	return report.Observation{Format: report.Format, ID: "gone " + at.String(), By: "join-check", At: at, Cluster: "prod", ClusterGone: true}
}

// decided are the incidents after an observation.
func decided(list []incident.Incident, obs report.Observation, now time.Time) (after []incident.Incident, decisions []incident.Decision) {
	decisions = reconcile.Decide(list, obs, now, incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour})
	after = slices.Clone(list)
	for _, d := range decisions {
		i := slices.IndexFunc(after, func(inc incident.Incident) bool { return inc.Key == d.Incident.Key })
		if i < 0 {
			after = append(after, d.Incident)
		} else {
			after[i] = d.Incident
		}
	}
	return after, decisions
}

// All of a deleted cluster is closed, said or not, with its offers; what was seen
// before and comes late opens nothing, and a cluster of the same name does.
func TestClusterGone(t *testing.T) {
	list, _ := decided(nil, seen(incidenttest.Noon, "a"), incidenttest.Noon)
	if len(list) != 2 || list[0].State != incident.Open || list[1].State != incident.Pending {
		t.Fatalf("incidents %+v", list)
	}
	list[0].Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: "add-nat-route"}, State: incident.Offered, Made: incidenttest.Noon, Expires: incidenttest.Noon.Add(time.Hour)}}
	foreign := list[0].Clone()
	foreign.Key.Cluster = "other"

	// From before what is known: a look was taken before it was made anew.
	if after, decisions := decided(list, goneAt(incidenttest.Noon.Add(-time.Minute)), incidenttest.Noon); len(decisions) > 0 || after[0].State != incident.Open {
		t.Errorf("an answer of before closed it: %+v", decisions)
	}
	at := incidenttest.Noon.Add(time.Hour)
	after, decisions := decided(append(list, foreign), goneAt(at), at)
	if len(decisions) != 2 || decisions[0].Reason != incident.IsWithdrawn || decisions[1].Reason != incident.NotYet {
		t.Fatalf("decisions %+v", decisions)
	}
	for _, inc := range after[:2] {
		if inc.State != incident.Closed || inc.Resolution != incident.ClusterDeleted || !inc.Resolved.Equal(at) || len(inc.Joins) > 0 || inc.Times != 0 {
			t.Errorf("%s is %s, %s", inc.Key.Check, inc.State, inc.Resolution)
		}
	}
	if after[2].State != incident.Open {
		t.Error("another cluster's incident is closed")
	}
	first := after[0]
	if first.Offers[0].State != incident.Outdated || first.Offers[0].Says != "the incident is over" {
		t.Errorf("the offer is %+v", first.Offers[0])
	}
	if n := first.Delivery.Notes; n[len(n)-1].Reason != incident.IsWithdrawn || !first.Delivery.Dirty {
		t.Errorf("notes %+v", n)
	}
	if e := first.PendingEvents[len(first.PendingEvents)-1]; e.Kind != incident.EventResolved || e.Resolution != incident.ClusterDeleted {
		t.Errorf("the bus is told %+v", e)
	}
	if len(after[1].Delivery.Notes) > 0 || len(after[1].PendingEvents) > 0 {
		t.Error("what was never said is taken back")
	}

	again, decisions := decided(after[:2], goneAt(at.Add(5*time.Minute)), at.Add(5*time.Minute))
	if len(decisions) > 0 {
		t.Errorf("said again: %+v", decisions)
	}
	late, decisions := decided(again, seen(at.Add(-time.Minute), "late"), at.Add(6*time.Minute))
	if late[0].State != incident.Closed {
		t.Errorf("what was seen before the end opened it: %+v", decisions)
	}
	anew, _ := decided(again, seen(at.Add(time.Hour), "anew"), at.Add(time.Hour))
	if anew[0].State != incident.Open || anew[0].Number != 2 {
		t.Errorf("the cluster is there again and fails: %s, number %d", anew[0].State, anew[0].Number)
	}
}

// An incident of which nothing is heard for two weeks is closed, and not called
// well.
func TestUnseen(t *testing.T) {
	list, _ := decided(nil, seen(incidenttest.Noon, "a"), incidenttest.Noon)
	inc := list[0]
	if d := response.Tick(inc, incidenttest.Noon.Add(incident.MaxUnseen-time.Second), incident.Policy{}); d.Incident.State != incident.Open {
		t.Errorf("closed after %s", incident.MaxUnseen-time.Second)
	}
	d := response.Tick(inc, incidenttest.Noon.Add(incident.MaxUnseen), incident.Policy{})
	if !d.Changed || d.Reason != incident.IsWithdrawn || d.Incident.State != incident.Closed || d.Incident.Resolution != incident.Unseen || !d.Incident.Resolved.Equal(incidenttest.Noon.Add(incident.MaxUnseen)) || !d.Incident.Delivery.Dirty {
		t.Fatalf("%+v", d)
	}
	if n := d.Incident.Delivery.Notes; n[len(n)-1].Reason != incident.IsWithdrawn || n[len(n)-1].Then.Resolution != incident.Unseen {
		t.Errorf("notes %+v", n)
	}
	if e := d.Incident.PendingEvents[len(d.Incident.PendingEvents)-1]; e.Kind != incident.EventResolved || e.Resolution != incident.Unseen {
		t.Errorf("the bus is told %+v", e)
	}
	if inc.State != incident.Open || len(inc.Delivery.Notes) != 1 {
		t.Error("what was given was changed")
	}
	// Whatever is heard of it counts: that it fails, that it passes, that it is gone.
	for name, change := range map[string]func(*incident.Incident){
		"it failed":         func(i *incident.Incident) { i.Seen = incidenttest.Noon.Add(time.Hour) },
		"its cause is gone": func(i *incident.Incident) { i.State, i.Cleared = incident.Cleared, incidenttest.Noon.Add(time.Hour) },
		"a subnet was seen": func(i *incident.Incident) {
			i.Verdicts = []incident.Verdict{{Of: "subnet-1", Found: incident.Passing, At: incidenttest.Noon.Add(time.Hour)}}
		},
		"it came back": func(i *incident.Incident) { i.Opened = incidenttest.Noon.Add(time.Hour) },
	} {
		heard := inc.Clone()
		change(&heard)
		if d := response.Tick(heard, incidenttest.Noon.Add(incident.MaxUnseen), incident.Policy{}); d.Incident.State == incident.Closed {
			t.Errorf("%s since, and it is closed", name)
		}
		if d := response.Tick(heard, incidenttest.Noon.Add(incident.MaxUnseen+time.Hour), incident.Policy{}); d.Incident.State != incident.Closed {
			t.Errorf("%s two weeks ago, and it is %s", name, d.Incident.State)
		}
	}
	closed := d.Incident
	if d := response.Tick(closed, incidenttest.Noon.Add(3*incident.MaxUnseen), incident.Policy{}); d.Changed {
		t.Errorf("closed again: %+v", d)
	}
	if strings.ContainsAny(report.AllClusters, " #") {
		t.Error("the name of all clusters is no message group, or no part of a key")
	}
}

// world is what is true, minute by minute, of two subnets on one route table:
// does the table lead out? Instances are launched all the time and become
// Ready half a minute later if it does.
type world struct {
	broken  [2][]bool
	minutes int
}

func newWorld(r *rand.Rand) world {
	w := world{minutes: 12 + r.IntN(20)}
	for s := range w.broken {
		broken := r.IntN(2) == 0
		for range w.minutes {
			if r.IntN(6) == 0 {
				broken = !broken
			}
			w.broken[s] = append(w.broken[s], broken)
		}
	}
	return w
}

func modelSubnet(s int) string { return fmt.Sprintf("subnet-%d", s) }

// observe is what a detector sees of a part of the world at a minute.
func (w world) observe(minute int, r *rand.Rand) report.Observation {
	obs := incidenttest.Observe(incidenttest.Named(fmt.Sprint("minute-", minute)))
	obs.At = incidenttest.At(minute)
	for s := range w.broken {
		if r.IntN(4) == 0 {
			continue // not in scope this time
		}
		launched := max(0, minute-1-r.IntN(3))
		l := report.Launch{Instance: fmt.Sprintf("i-%d-%d", s, launched), Nodegroup: "workers", Subnet: modelSubnet(s), Started: incidenttest.At(launched), Status: report.Waiting}
		if !w.broken[s][launched] {
			l.Status, l.Ready = report.Joined, incidenttest.At(launched).Add(30*time.Second)
		}
		obs.Launches = append(obs.Launches, l)
		if w.broken[s][minute] {
			incidenttest.Route(l.Instance)(&obs)
			obs.Diagnosis.Causes[len(obs.Diagnosis.Causes)-1].Covers = []string{modelSubnet(s)}
		} else {
			incidenttest.Passed("route/no-egress", modelSubnet(s))(&obs)
		}
	}
	return obs
}

// deliveries is the queue at its worst: observations lost, doubled, and late.
func (w world) deliveries(r *rand.Rand) []report.Observation {
	var list []report.Observation
	for minute := range w.minutes {
		obs := w.observe(minute, r)
		for range []int{0, 1, 1, 1, 2}[r.IntN(5)] {
			list = append(list, obs)
		}
	}
	for range r.IntN(3 * len(list)) {
		i := r.IntN(len(list))
		j := min(len(list)-1, i+r.IntN(6))
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// known is what the observations taken in so far say of each subnet: the
// newest verdict since there is an incident to say it of.
type known map[string]incident.Verdict

func (k known) take(obs report.Observation, incidents []incident.Incident) {
	if len(incidents) > 0 && slices.Contains(incidents[0].Applied, obs.ID) {
		return // a repeat tells nothing
	}
	set := func(of string, found incident.Found) {
		if have, ok := k[of]; !ok || obs.At.After(have.At) {
			k[of] = incident.Verdict{Of: of, Found: found, At: obs.At}
		}
	}
	for _, c := range obs.Diagnosis.Causes {
		set(c.Covers[0], incident.Failing)
	}
	for _, p := range obs.Diagnosis.Passed {
		if len(incidents) > 0 && slices.Contains(incidents[0].Covers, p.Covers[0]) {
			set(p.Covers[0], incident.Passing)
		}
	}
}

// failing is the newest failure that is not overtaken by a pass.
func (k known) failing() (newest time.Time, fails bool) {
	for _, v := range k {
		if v.Found == incident.Failing && (!fails || v.At.After(newest)) {
			newest, fails = v.At, true
		}
	}
	return newest, fails
}

func TestModel(t *testing.T) {
	states := map[incident.State]int{}
	endings := map[incident.Resolution]int{}
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 7))
		w := newWorld(r)
		k := known{}
		var incidents []incident.Incident
		now := incidenttest.Start
		step := func(obs report.Observation) {
			if obs.At.After(now) {
				now = obs.At
			}
			k.take(obs, incidents)
			decisions := reconcile.Decide(incidents, obs, now, incidenttest.Policy)
			if len(decisions) > 1 {
				t.Fatalf("seed %d: %d decisions on one cause", seed, len(decisions))
			}
			for _, d := range decisions {
				if !d.Changed {
					if reflect.DeepEqual(incidents[0], d.Incident) {
						continue
					}
					if diff := cmp.Diff(incidents[0], d.Incident); diff != "" {
						t.Fatalf("seed %d: %q changed the record (-before +after):\n%s", seed, d.Reason, diff)
					}
				}
				incidents = []incident.Incident{d.Incident}
			}
			if len(incidents) == 0 {
				return
			}
			inc := incidents[0]
			failing, fails := k.failing()
			overtaken := !failing.After(inc.Settled) // a node became Ready since
			if fails && !overtaken && inc.State != incident.Open {
				t.Fatalf("seed %d: %q after %s, and it fails since %v:\n%+v", seed, inc.State, obs.ID, failing, inc)
			}
			if !fails && inc.State == incident.Open {
				t.Fatalf("seed %d: still open after %s, and nothing fails", seed, obs.ID)
			}
			if inc.State == incident.Closed && inc.Resolution == incident.Proved && !inc.Proof.Ready.After(inc.Began) {
				t.Fatalf("seed %d: proved by %+v from before it began, %v", seed, inc.Proof, inc.Began)
			}
			states[inc.State]++
		}
		for _, obs := range w.deliveries(r) {
			step(obs)
		}
		// In the end the sweep sees everything, twice.
		for extra := range 2 {
			obs := incidenttest.Observe(incidenttest.Named(fmt.Sprint("sweep-", extra)))
			obs.At = incidenttest.At(w.minutes + 70*extra)
			well := true
			for s := range w.broken {
				if w.broken[s][w.minutes-1] {
					well = false
					incidenttest.Route(fmt.Sprintf("i-%d-end", s))(&obs)
					obs.Diagnosis.Causes[len(obs.Diagnosis.Causes)-1].Covers = []string{modelSubnet(s)}
				} else {
					incidenttest.Passed("route/no-egress", modelSubnet(s))(&obs)
				}
			}
			step(obs)
			if len(incidents) == 0 {
				if !well {
					t.Fatalf("seed %d: broken, and no incident", seed)
				}
				continue
			}
			want := []incident.State{incident.Open}
			if well {
				want = []incident.State{incident.Cleared, incident.Closed}[extra:]
			}
			if got := incidents[0].State; !slices.Contains(want, got) {
				t.Fatalf("seed %d: %q at the end (sweep %d), want %q", seed, got, extra, want)
			}
		}
		if len(incidents) > 0 {
			endings[incidents[0].Resolution]++
		}
	}
	// A model that never gets anywhere would prove nothing.
	for _, s := range []incident.State{incident.Open, incident.Cleared, incident.Closed} {
		if states[s] < 1000 {
			t.Errorf("only %d steps ended in %q", states[s], s)
		}
	}
	for _, e := range []incident.Resolution{incident.Proved, incident.Unproved} {
		if endings[e] < 100 {
			t.Errorf("only %d worlds ended %q", endings[e], e)
		}
	}
}

// In which order the observations come does not matter for what is known in
// the end, as long as nothing was closed on the way.
func TestOrderDoesNotMatter(t *testing.T) {
	type end struct {
		State    incident.State
		Verdicts []incident.Verdict
		Covers   []string
		Launches []report.Launch
		Affected int
		Seen     time.Time
		Began    time.Time
	}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 11))
		first := incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Waiting), incidenttest.Named("first"))
		first.At = incidenttest.Start
		var rest []report.Observation
		for minute := 1; minute <= 8; minute++ {
			obs := incidenttest.Observe(incidenttest.Named(fmt.Sprint(minute)))
			switch r.IntN(3) {
			case 0:
				obs = incidenttest.Observe(incidenttest.Route("i-1", fmt.Sprint("i-", minute)), incidenttest.Launched("i-1", 0, report.Missed), incidenttest.Named(fmt.Sprint(minute)))
			case 1:
				obs = incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Named(fmt.Sprint(minute)))
			case 2:
				obs = incidenttest.Observe(incidenttest.Launched("i-1", 0, report.Gone), incidenttest.Named(fmt.Sprint(minute)))
			}
			obs.At = incidenttest.At(minute)
			rest = append(rest, obs)
		}
		run := func(list []report.Observation) end {
			var incidents []incident.Incident
			for _, obs := range append([]report.Observation{first}, list...) {
				for _, d := range reconcile.Decide(incidents, obs, incidenttest.At(9), incidenttest.Policy) {
					incidents = []incident.Incident{d.Incident}
				}
			}
			i := incidents[0]
			return end{i.State, i.Verdicts, i.Covers, i.Launches, i.Affected, i.Seen, i.Began}
		}
		want := run(rest)
		for range 5 {
			r.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
			if diff := cmp.Diff(want, run(rest)); diff != "" {
				t.Fatalf("seed %d: another order, another end (-in order +shuffled):\n%s", seed, diff)
			}
		}
	}
}

// An incident of a nodegroup is about what EKS says: that it passes closes it
// at once, a node is not waited for, and a nodegroup that is gone takes its
// incident along.
func TestNodegroupIncidentsCloseByThemselves(t *testing.T) {
	for _, check := range []checkid.ID{"nodegroup/health", "nodegroup/status", "nodegroup/update-failed"} {
		for _, confidence := range []catalog.Confidence{catalog.Certain, catalog.Symptom} {
			for name, test := range map[string]struct {
				after func(*report.Observation)
				want  incident.Resolution
			}{
				"well": {incidenttest.Passed(check, "workers"), incident.Proved},
				"gone": {func(o *report.Observation) { o.Absent = []string{"workers"} }, incident.Withdrawn},
			} {
				broken := incidenttest.Observe(func(o *report.Observation) {
					o.ID, o.At = "1", incidenttest.At(0)
					o.Diagnosis.Causes = []diagnosis.Cause{{Check: check, Confidence: confidence, Resource: "workers", Covers: []string{"workers"}, Instances: []string{"i-1"}, Title: "nodegroup workers is DEGRADED", Nodegroups: []string{"workers"}}}
				}, incidenttest.Launched("i-1", 0, report.Missed))
				opened := reconcile.Decide(nil, broken, incidenttest.At(0), incidenttest.Policy)
				if len(opened) != 1 || opened[0].Incident.State != incident.Open {
					t.Fatalf("%s: %+v, want one that is open", check, opened)
				}
				later := incidenttest.Observe(func(o *report.Observation) { o.ID, o.At = "2", incidenttest.At(10) }, test.after)
				got := reconcile.Decide([]incident.Incident{opened[0].Incident}, later, incidenttest.At(10), incidenttest.Policy)
				if len(got) != 1 || got[0].Incident.State != incident.Closed || got[0].Incident.Resolution != test.want {
					t.Errorf("%s (%s) %s: %+v, want it closed, %s", check, confidence, name, got, test.want)
				}
			}
		}
	}
}

// What was foretold of an instance that EC2 then takes back needs no work
// any more: it is withdrawn when a sweep finds the instance ended, and not
// before, nor because its launch is only said to be gone. A route that is broken
// stays broken whatever becomes of the instance.
func TestForetoldOfAnInstanceThatIsTakenBack(t *testing.T) {
	foretold := func(check checkid.ID, covers string) report.Observation {
		return incidenttest.Observe(func(o *report.Observation) {
			o.ID, o.At = "1", incidenttest.At(0)
			o.Diagnosis.Causes = []diagnosis.Cause{{Check: check, Confidence: catalog.Certain, Resource: covers, Covers: []string{covers}, Instances: []string{"i-1"}, Title: "i-1 will not be able to join", Nodegroups: []string{"workers"}}}
		}, incidenttest.Launched("i-1", 0, report.Waiting))
	}
	for _, test := range []struct {
		check  checkid.ID
		covers string
		state  incident.State
		ending incident.Resolution
	}{
		{"instance/user-data", "i-1", incident.Closed, incident.Withdrawn},
		{"route/no-egress", incidenttest.Subnet, incident.Open, ""},
	} {
		opened := reconcile.Decide(nil, foretold(test.check, test.covers), incidenttest.At(0), incidenttest.Policy)
		if len(opened) != 1 || opened[0].Incident.State != incident.Open {
			t.Fatalf("%s: %+v, want one that is open", test.check, opened)
		}
		incidents := []incident.Incident{opened[0].Incident}
		for i, obs := range []report.Observation{incidenttest.Observe(incidenttest.Launched("i-1", 0, report.Gone)), incidenttest.Observe(incidenttest.Absent("i-1"))} {
			obs.ID, obs.At = string(rune('2'+i)), incidenttest.At(2+i)
			for _, c := range reconcile.Decide(incidents, obs, incidenttest.At(2+i), incidenttest.Policy) {
				incidents[0] = c.Incident
			}
			if i == 0 && incidents[0].State != incident.Open {
				t.Errorf("%s: %s before a sweep has seen it", test.check, incidents[0].State)
			}
		}
		if got := incidents[0]; got.State != test.state || got.Resolution != test.ending {
			t.Errorf("%s: %s, %q; want %s, %q", test.check, got.State, got.Resolution, test.state, test.ending)
		}
	}
}

// Of two verdicts the later counts, whichever comes first; of two at the same time
// the failure.
func TestFind(t *testing.T) {
	const before, same, after = -time.Minute, 0, time.Minute
	for _, test := range []struct {
		have  incident.Found
		found incident.Found
		at    time.Duration
		want  bool
	}{
		{incident.Failing, incident.Passing, before, false},
		{incident.Passing, incident.Failing, before, false},
		{incident.Failing, incident.Failing, before, false},
		{incident.Failing, incident.Passing, same, false},
		{incident.Failing, incident.Absent, same, false},
		{incident.Failing, incident.Failing, same, false},
		{incident.Passing, incident.Failing, same, true},
		{incident.Absent, incident.Failing, same, true},
		{incident.Passing, incident.Passing, same, false},
		{incident.Passing, incident.Absent, same, false},
		{incident.Absent, incident.Passing, same, false},
		{incident.Failing, incident.Passing, after, true},
		{incident.Passing, incident.Failing, after, true},
		{incident.Failing, incident.Failing, after, true},
		{incident.Absent, incident.Passing, after, true},
	} {
		f := &incident.Update{Incident: incident.Incident{Covers: []string{"subnet-1"}, Verdicts: []incident.Verdict{{Of: "subnet-1", Found: test.have, At: incidenttest.Noon}}}}
		want := f.Verdicts[0]
		if test.want {
			want = incident.Verdict{Of: "subnet-1", Found: test.found, At: incidenttest.Noon.Add(test.at)}
		}
		if got := f.RecordVerdict("subnet-1", test.found, incidenttest.Noon.Add(test.at)); got != test.want {
			t.Errorf("%s %s later over %s: news %t", test.found, test.at, test.have, got)
		}
		if diff := cmp.Diff([]incident.Verdict{want}, f.Verdicts); diff != "" {
			t.Errorf("%s %s later over %s (-want +got):\n%s", test.found, test.at, test.have, diff)
		}
	}
}

// What is about instances that have ended can never be found well: it is closed
// without proof when the time for proof is over since it was last seen, and not
// before.
func TestOneOffEndsUnproved(t *testing.T) {
	obs := report.Observation{Format: report.Format, ID: "a", By: "join-check", At: incidenttest.Noon, Cluster: "prod"}
	obs.Diagnosis.Causes = []diagnosis.Cause{{Check: checkid.InstanceEndedEarly, Resource: "workers", Covers: []string{"i-1"}, Instances: []string{"i-1"}, Confidence: catalog.Certain, Title: "x"}}
	obs.Launches = []report.Launch{{Instance: "i-1", Nodegroup: "workers", Started: incidenttest.Noon.Add(-time.Hour), Status: report.Gone}}
	list, _ := decided(nil, obs, incidenttest.Noon)
	obs.ID, obs.At = "b", incidenttest.Noon.Add(30*time.Minute)
	list, _ = decided(list, obs, obs.At)
	for _, test := range []struct {
		after time.Duration // since it was last seen; the time for proof is an hour
		want  incident.State
	}{{time.Hour - time.Second, incident.Open}, {time.Hour, incident.Closed}} {
		now := obs.At.Add(test.after)
		got, _ := decided(list, report.Observation{Format: report.Format, ID: "sweep", By: "join-check", At: now, Cluster: "prod", Sweep: true}, now)
		if got[0].State != test.want || test.want == incident.Closed && got[0].Resolution != incident.Unproved {
			t.Errorf("after %s it is %s, %s; want %s", test.after, got[0].State, got[0].Resolution, test.want)
		}
	}
}
