package sweep

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/functions/join-check/joincheck"
	joincheckspec "rollcall/functions/join-check/spec"
	"rollcall/functions/nodegroup-watch/nodegroupwatch"
	nodegroupwatchspec "rollcall/functions/nodegroup-watch/spec"
	subnetwatchspec "rollcall/functions/subnet-watch/spec"
	"rollcall/functions/subnet-watch/subnetwatch"
	"rollcall/functions/sweep/spec"
	zonewatchspec "rollcall/functions/zone-watch/spec"
	"rollcall/functions/zone-watch/zonewatch"
	"rollcall/local/simaws"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/lambda"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	sharedspec "rollcall/shared/spec"
)

func bench(t *testing.T, o stagetest.Options) *stagetest.Bench {
	t.Helper()
	return stagetest.Start(t, spec.Spec(), Build, o)
}

// opened has an incident of a cluster in the table, as report leaves it.
func opened(t *testing.T, b *stagetest.Bench, cluster string) {
	t.Helper()
	obs := report.Observation{Format: report.Format, ID: "x", By: "join-check", At: b.Now(), Cluster: cluster}
	obs.Diagnosis.Causes = []diagnose.Cause{{Check: "addon/degraded", Resource: "vpc-cni", Covers: []string{"vpc-cni"}, Confidence: checks.Certain, Title: "x"}}
	if cluster == report.AllClusters {
		obs.Diagnosis.Causes, obs.Blind = nil, []snapshot.Failure{{Source: snapshot.Clusters, Reason: snapshot.Denied, Call: "eks:ListClusters"}}
	}
	for _, d := range reconcile.Decide(nil, obs, b.Now(), incident.Policy{}) {
		if _, err := b.Store.SaveIncident(t.Context(), d.Incident); err != nil {
			t.Fatal(err)
		}
	}
	r := outbox.ClusterRecord{Cluster: cluster}
	r.Follow(true, false, b.Now())
	if err := b.Store.SaveClusterRecord(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// tick lets the schedule fire, and gives the clusters whose turns it sent, with how long
// after it they are due.
func tick(t *testing.T, b *stagetest.Bench) map[string]time.Duration {
	t.Helper()
	now := b.Now().Truncate(time.Second) // as the schedule's event tells it
	if _, err := b.Handle(b.Schedule()); err != nil {
		t.Fatal(err)
	}
	due := map[string]time.Duration{}
	for _, body := range b.Turns() {
		turn, err := event.Parse([]byte(body))
		if err != nil || turn.Account != "111122223333" || turn.Region != "us-west-2" {
			t.Errorf("%v, turn %+v", err, turn)
		}
		due[turn.Cluster] = turn.Time.Sub(now)
	}
	return due
}

// A tick sends a turn for each cluster that is watched, or that something is open of; that
// the list is refused keeps nobody from being looked at who is known to be in trouble.
func TestTick(t *testing.T) {
	refused := []simaws.FaultRule{{Call: "eks:ListClusters", Deny: true}}
	for name, test := range map[string]struct {
		named  string
		faults []simaws.FaultRule
		open   string
		want   map[string]time.Duration
	}{
		"listed":                           {want: map[string]time.Duration{stagetest.Cluster: 0}},
		"named":                            {named: "dev,prod", want: map[string]time.Duration{"dev": 0, "prod": 2 * time.Minute}},
		"open, and not listed":             {open: "deleted", want: map[string]time.Duration{"deleted": 0, stagetest.Cluster: 2 * time.Minute}},
		"open, and the list is refused":    {open: "deleted", faults: refused, want: map[string]time.Duration{"deleted": 0}},
		"the list is refused":              {faults: refused, want: map[string]time.Duration{}},
		"open, and others are named alone": {named: "prod", open: "deleted", want: map[string]time.Duration{"prod": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			o := stagetest.Options{Faults: test.faults}
			if test.named != "" {
				o.Settings = map[string]string{"ROLLCALL_CLUSTERS": test.named}
			}
			b := bench(t, o)
			if test.open != "" {
				opened(t, b, test.open)
			}
			if diff := cmp.Diff(test.want, tick(t, b)); diff != "" {
				t.Errorf("turns (-want +got):\n%s", diff)
			}
			if blind := b.Counts()["BlindSweeps"] == 1; blind != (test.faults != nil) {
				t.Errorf("counts %v, log %s", b.Counts(), b.Logs())
			}
		})
	}
}

// of are the observations of a cluster.
func of(b *stagetest.Bench, cluster string) []report.Observation {
	return slices.DeleteFunc(b.Observations(), func(o report.Observation) bool { return o.Cluster != cluster })
}

// That the clusters cannot be listed is told as what it is, and taken back once.
func TestListOfClustersRefused(t *testing.T) {
	b := bench(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "eks:ListClusters", Deny: true}}})
	tick(t, b)
	told := of(b, report.AllClusters)
	if len(told) != 1 || len(told[0].Blind) != 1 {
		t.Fatalf("told %+v, want what is refused", told)
	}
	if f := told[0].Blind[0]; f.Call != "eks:ListClusters" || f.Reason != snapshot.Denied || f.Source != snapshot.Clusters {
		t.Errorf("refused is %+v", f)
	}
	list := reconcile.Decide(nil, told[0], b.Now(), incident.Policy{})
	if len(list) != 1 || list[0].Incident.Key != (report.Key{Cluster: report.AllClusters, Check: incident.CannotLook, Resource: "eks:ListClusters"}) || list[0].Reason != incident.Opened {
		t.Fatalf("report makes of it %+v", list)
	}

	b = bench(t, stagetest.Options{})
	tick(t, b)
	if told := of(b, report.AllClusters); len(told) > 0 {
		t.Errorf("nothing was refused, and %+v is told", told)
	}
	opened(t, b, report.AllClusters) // as an earlier release's join-check had it told
	b.Advance(5 * time.Minute)
	tick(t, b)
	if told = of(b, report.AllClusters); len(told) != 1 {
		t.Fatalf("told %+v, want that the list works again", told)
	}
	open, err := b.Store.Incidents(t.Context(), report.AllClusters)
	if err != nil {
		t.Fatal(err)
	}
	list = reconcile.Decide(open, told[0], b.Now(), incident.Policy{})
	if len(list) != 1 || list[0].Reason != incident.IsProved {
		t.Errorf("report makes of it %+v, want it over", list)
	}
}

// watchers are the functions whose looks are in a turn.
func watchers() map[string]struct {
	spec  sharedspec.Spec
	build lambda.Build
} {
	type function = struct {
		spec  sharedspec.Spec
		build lambda.Build
	}
	return map[string]function{
		joincheckspec.Name:      {joincheckspec.Spec(), joincheck.Build},
		nodegroupwatchspec.Name: {nodegroupwatchspec.Spec(), nodegroupwatch.Build},
		subnetwatchspec.Name:    {subnetwatchspec.Spec(), subnetwatch.Build},
		zonewatchspec.Name:      {zonewatchspec.Spec(), zonewatch.Build},
	}
}

// calls are those that AWS and Kubernetes got since the last time.
func calls(b *stagetest.Bench) (n int) {
	for name, k := range b.Calls() {
		if service, _, _ := strings.Cut(name, ":"); slices.Contains([]string{"ec2", "eks", "autoscaling", "iam", "kubernetes"}, service) {
			n += k
		}
	}
	return n
}

// TestTurnIsAllFourLooks: a turn tells report what the four functions tell it by
// themselves, with half of their calls.
func TestTurnIsAllFourLooks(t *testing.T) {
	o := stagetest.Options{ClusterRole: true}
	launch := func(b *stagetest.Bench) {
		b.Scale(2)
		b.Advance(8 * time.Minute)
		b.Calls()
	}
	alone, asked := map[string]report.Observation{}, 0
	for name, f := range watchers() {
		b := stagetest.Start(t, f.spec, f.build, o)
		launch(b)
		if _, err := b.Handle(b.Sweep()); err != nil {
			t.Fatal(err)
		}
		for _, told := range b.Observations() {
			alone[name] = told
		}
		asked += calls(b)
	}
	b := bench(t, o)
	launch(b)
	if _, err := b.Handle(stagetest.Batch(string(b.SweepOf(stagetest.Cluster)))); err != nil {
		t.Fatal(err)
	}
	together := map[string]report.Observation{}
	for _, told := range b.Observations() {
		together[told.By] = told
	}
	for name, want := range alone {
		got, told := together[name]
		if !told {
			t.Errorf("%s tells nothing in its turn", name)
			continue
		}
		// The nodes' subnets are noted by join-check, too, seconds before.
		if name == subnetwatchspec.Name {
			got.Diagnosis.Unknown, want.Diagnosis.Unknown = nil, nil
		}
		got.ID, got.At, got.Evidence, want.ID, want.At, want.Evidence = "", time.Time{}, "", "", time.Time{}, ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-alone +together):\n%s", name, diff)
		}
	}
	if n := calls(b); len(together) != len(alone) || n*100 > asked*75 {
		t.Errorf("%d functions told, with %d calls beside %d", len(together), n, asked)
	}
}

// TestSilentAPI: a cluster whose API cuts each connection is asked once in a turn, and
// then less often; what AWS tells is told each time. Its return is found.
func TestSilentAPI(t *testing.T) {
	faults := []simaws.FaultRule{{Call: "kubernetes:*", Reset: true}}
	b := bench(t, stagetest.Options{ClusterRole: true, Faults: faults})
	began := b.Now()
	var asked []int
	for n := range 8 {
		if _, err := b.Handle(stagetest.Batch(string(b.SweepOf(stagetest.Cluster)))); err != nil {
			t.Fatal(err)
		}
		tried := 0
		for name, k := range b.Calls() {
			if strings.HasPrefix(name, "kubernetes:") {
				tried += k
			}
		}
		if tried > 0 {
			asked = append(asked, n)
		}
		told := b.Observations()
		for _, o := range told {
			blind := slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool { return f.Source == snapshot.Nodes && f.Reason == snapshot.Unreachable })
			if o.By == joincheckspec.Name && !blind {
				t.Errorf("turn %d: join-check is blind of %+v, want the nodes", n, o.Blind)
			}
		}
		if len(told) != 4 {
			t.Errorf("turn %d: %d functions told", n, len(told))
		}
		b.Advance(every)
	}
	if diff := cmp.Diff([]int{0, 1, 3, 7}, asked); diff != "" {
		t.Errorf("turns in which the API was asked, from %s (-want +got):\n%s", began, diff)
	}
}
