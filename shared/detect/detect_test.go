package detect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnose"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/evidence"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/ownership"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
	"rollcall/shared/trail"
	"rollcall/tools/expect"
)

func in(id string, tags ...string) snapshot.Instance {
	m := map[string]string{}
	for i := 0; i < len(tags); i += 2 {
		m[tags[i]] = tags[i+1]
	}
	return snapshot.Instance{ID: id, Tags: m}
}

func TestAssign(t *testing.T) {
	groups := []snapshot.Group{
		{Name: "self-managed", Tags: map[string]string{"kubernetes.io/cluster/prod": "owned"}},
		{Name: "pool", WarmPool: true, Warm: []string{"i-warm"}, Tags: map[string]string{"eks:cluster-name": "prod"}},
		{Name: "web", Tags: map[string]string{"app": "web"}},
	}
	instances := []snapshot.Instance{
		in("i-managed", "eks:cluster-name", "prod", "kubernetes.io/cluster/other", "owned"),
		in("i-karpenter", "kubernetes.io/cluster/prod", "owned", "karpenter.sh/nodepool", "default"),
		in("i-by-group", "aws:autoscaling:groupName", "self-managed"),
		in("i-warm", "aws:autoscaling:groupName", "pool", "eks:cluster-name", "prod"),
		in("i-out-of-pool", "aws:autoscaling:groupName", "pool", "eks:cluster-name", "prod"),
		in("i-web", "aws:autoscaling:groupName", "web"),
		in("i-unwatched", "eks:cluster-name", "sandbox"),
		in("i-autoscaler-only", "k8s.io/cluster-autoscaler/enabled", "true"),
		in("i-bare"),
	}
	a := Assign(instances, Evidence{Groups: groups, Watches: func(c string) bool { return c == "prod" }})
	got := map[string][]string{"foreign": a.Foreign, "warm": a.Warm}
	for cluster, list := range a.Clusters {
		got[cluster] = IDs(list)
	}
	want := map[string][]string{
		"prod":    {"i-managed", "i-karpenter", "i-by-group", "i-out-of-pool"},
		"warm":    {"i-warm"},
		"foreign": {"i-web", "i-unwatched", "i-autoscaler-only", "i-bare"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Assign (-want +got):\n%s", diff)
	}
	if len(a.Unsure) > 0 {
		t.Errorf("unsure of %q, and every group was read", a.Unsure)
	}
}

// Nothing is called foreign because a look failed.
func TestAssignWithoutTheGroups(t *testing.T) {
	a := Assign([]snapshot.Instance{
		in("i-tagged", "eks:cluster-name", "prod", "aws:autoscaling:groupName", "pool"),
		in("i-by-group", "aws:autoscaling:groupName", "self-managed"),
		in("i-bare"),
	}, Evidence{GroupsUnread: true, Watches: func(string) bool { return true }})
	want := Assignment{
		Clusters: map[string][]snapshot.Instance{"prod": {in("i-tagged", "eks:cluster-name", "prod", "aws:autoscaling:groupName", "pool")}},
		Unsure:   []string{"i-by-group"},
		Foreign:  []string{"i-bare"},
	}
	if diff := cmp.Diff(want, a, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("Assign (-want +got):\n%s", diff)
	}
}

// EC2 takes the tags off a terminated instance before it forgets it.
func TestAssignByRecord(t *testing.T) {
	a := Assign([]snapshot.Instance{in("i-ended"), in("i-other")}, Evidence{
		Recorded: map[string]store.LaunchRecord{"i-ended": {Launch: outcome.Launch{Instance: "i-ended"}, Cluster: "prod"}},
		Watches:  func(string) bool { return true },
	})
	if got := IDs(a.Clusters["prod"]); !slices.Equal(got, []string{"i-ended"}) || !slices.Equal(a.Foreign, []string{"i-other"}) {
		t.Errorf("prod %q, foreign %q; want the recorded one in its cluster", got, a.Foreign)
	}
}

// The record of a launch and the cause of a later failure name the same nodegroup, so
// that the window of changes begins with the last good launch.
func TestTheLastGoodLaunchOfAnEksctlNodegroup(t *testing.T) {
	joined := in("i-1", "alpha.eksctl.io/nodegroup-name", "ng", "aws:autoscaling:groupName", "eksctl-prod-ng")
	failed := in("i-2", "alpha.eksctl.io/nodegroup-name", "ng", "aws:autoscaling:groupName", "eksctl-prod-ng")
	ready := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	record := Fresh("prod", joined, ready, Learned{})
	d := diagnose.Rank(checks.All(), []finding.Result{{Check: "instance/user-data", Finding: finding.Finding{
		Outcome: finding.Fail, Resource: "lt-1", Covers: []string{"i-2"}, Instances: []string{"i-2"},
	}}}, &snapshot.Snapshot{Instances: []snapshot.Instance{failed}})
	w := trail.WindowOf(incident.Incident{Began: ready.Add(time.Hour), Cause: diagnosis.Cause{Nodegroups: d.Causes[0].Nodegroups}},
		[]snapshot.Past{{ID: "i-1", Nodegroup: record.Nodegroup, End: snapshot.Joined, Ready: ready}}, ready.Add(2*time.Hour))
	if w.LastGood != "i-1" {
		t.Errorf("the last good launch is %q, want i-1: recorded of %q, the cause names %q", w.LastGood, record.Nodegroup, d.Causes[0].Nodegroups)
	}
}

func TestCapacity(t *testing.T) {
	look := func(change func(*snapshot.Snapshot)) *snapshot.Snapshot {
		ready := func(id string) snapshot.Node {
			return snapshot.Node{Instance: id, Ready: snapshot.Condition{Status: "True"}}
		}
		raw := ready("i-4")
		raw.Uninitialized = true
		s := &snapshot.Snapshot{
			Read:     map[snapshot.Source]bool{snapshot.Groups: true, snapshot.Nodes: true},
			Failures: map[snapshot.Source]snapshot.Failure{},
			Groups: []snapshot.Group{
				{Name: "eks-workers", Tags: map[string]string{"eks:nodegroup-name": "workers"}, Desired: 5, Instances: []snapshot.GroupInstance{{ID: "i-1"}, {ID: "i-2"}, {ID: "i-3"}, {ID: "i-4"}, {ID: "i-5"}}, Warm: []string{"i-5"}},
				{Name: "other", Desired: 9},
			},
			Nodes: []snapshot.Node{ready("i-1"), ready("i-2"), {Instance: "i-3"}, raw, ready("i-5"), ready("i-9")},
		}
		change(s)
		return s
	}
	d := diagnosis.Diagnosis{Causes: []diagnosis.Cause{{Nodegroups: []string{"workers"}}}}
	two := []report.Capacity{{Group: "eks-workers", Nodegroup: "workers", Desired: 5, Ready: 2}}
	for name, test := range map[string]struct {
		change func(*snapshot.Snapshot)
		want   []report.Capacity
	}{
		"the nodes of its instances are counted": {func(*snapshot.Snapshot) {}, two},
		"groups that were not read":              {func(s *snapshot.Snapshot) { s.Read[snapshot.Groups] = false }, nil},
		"nodes that were not asked for":          {func(s *snapshot.Snapshot) { delete(s.Read, snapshot.Nodes) }, nil},
		"nodes of which the rest failed":         {func(s *snapshot.Snapshot) { s.Failures[snapshot.Nodes] = snapshot.Failure{Reason: snapshot.Throttled} }, nil},
		"a group that counts vCPUs":              {func(s *snapshot.Snapshot) { s.Groups[0].Weighted = true }, nil},
		"a nodegroup of eksctl": {func(s *snapshot.Snapshot) {
			s.Groups[0].Tags = map[string]string{"alpha.eksctl.io/nodegroup-name": "workers"}
		}, two},
		"a group of another nodegroup is not counted": {func(s *snapshot.Snapshot) { s.Groups[0].Tags["eks:nodegroup-name"] = "gone" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, capacity(look(test.change), d, nil)); diff != "" {
				t.Errorf("capacity (-want +got):\n%s", diff)
			}
		})
	}
	own := []report.Launch{{Group: "other"}}
	if got := capacity(look(func(*snapshot.Snapshot) {}), diagnosis.Diagnosis{}, own); len(got) != 1 || got[0].Desired != 9 {
		t.Errorf("a group without a nodegroup, named by a launch: %+v", got)
	}
}

// TestClaimIsRemembered: what the NodeClaim of a launch said reaches the checks
// after Karpenter has deleted it.
func TestClaimIsRemembered(t *testing.T) {
	at := time.Date(2026, 11, 20, 14, 48, 0, 0, time.UTC)
	says := func(status, message string) snapshot.ObservedCondition {
		return snapshot.ObservedCondition{Condition: snapshot.Condition{Status: status, Reason: "NodeNotFound", Message: message, Since: at}}
	}
	long := strings.Repeat("ä", 400)
	s := &snapshot.Snapshot{Time: at.Add(6 * time.Minute), NodeClaims: []snapshot.NodeClaim{
		{Name: "asked", Pool: "gpu"},
		{Name: "gpu-x7k2p", Pool: "gpu", Instance: "i-1", Conditions: map[string]snapshot.ObservedCondition{"Registered": says("Unknown", long), "Launched": says("True", ""), "Ready": says("Unknown", "")}},
	}}
	l := store.LaunchRecord{Launch: outcome.Launch{Instance: "i-1"}}
	KeepClaim(s, &l)
	want := &snapshot.NodeClaim{Name: "gpu-x7k2p", Pool: "gpu", Instance: "i-1", Conditions: map[string]snapshot.ObservedCondition{
		"Launched": says("True", ""), "Registered": says("Unknown", long[:600]),
	}}
	e := Expected(l)
	if diff := cmp.Diff(want, e.Claim); diff != "" || !e.ClaimSeen.Equal(s.Time) {
		t.Errorf("seen %v (-want +got):\n%s", e.ClaimSeen, diff)
	}
	// Gone, it is remembered as it was.
	KeepClaim(&snapshot.Snapshot{Time: at.Add(16 * time.Minute)}, &l)
	if diff := cmp.Diff(want, Expected(l).Claim); diff != "" || !l.Claim.Seen.Equal(s.Time) {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
	// Of a launch without an instance, and of none at all, nothing.
	none := store.LaunchRecord{Activity: "a"}
	KeepClaim(s, &none)
	if got := Expected(none); got.Claim != nil || !got.ClaimSeen.IsZero() {
		t.Errorf("%+v", got)
	}
}

// harness is a detector with a region, whose messages it keeps.
type harness struct {
	Detector
	names  []string
	failed *snapshot.Failure
	listed int
	counts map[string]int
	sent   []report.Observation
}

func newStand() *harness {
	s := &harness{counts: map[string]int{}}
	s.Detector = Detector{
		By: "join-check", Region: "us-west-2", Reader: s, Results: s, Watches: func(cluster string) bool { return cluster != "other" },
		Now: func() time.Time { return began }, Log: slog.New(slog.DiscardHandler), Count: func(name string, n int) { s.counts[name] += n },
	}
	return s
}

func (s *harness) Clusters(context.Context) ([]string, *snapshot.Failure) {
	s.listed++
	return s.names, s.failed
}

func (s *harness) Read(_ context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	if q.Cluster == "gone" {
		return nil, gather.ErrNoCluster
	}
	return &snapshot.Snapshot{Time: q.Time, Account: q.Account, Region: q.Region, Cluster: snapshot.Cluster{Name: q.Cluster}}, nil
}

func (s *harness) SendResult(_ context.Context, o report.Observation) error {
	s.sent = append(s.sent, o)
	return nil
}

func TestEach(t *testing.T) {
	down := errors.New("down")
	var seen []string
	look := func(_ context.Context, name string) error {
		if seen = append(seen, name); name == "bad" {
			return down
		}
		return nil
	}
	s := newStand()
	s.names = []string{"bad", "dev", "prod"}
	if err := s.Each(t.Context(), nil, look); !errors.Is(err, down) || err.Error() != "sweep cluster bad: down" || !slices.Equal(seen, s.names) || s.counts["SweptClusters"] != 2 {
		t.Errorf("%v, looked at %q, %v", err, seen, s.counts)
	}
	seen = nil
	if err := s.Each(t.Context(), []string{"prod"}, look); err != nil || s.listed != 1 || !slices.Equal(seen, []string{"prod"}) {
		t.Errorf("%v, looked at %q; want the named one, and no list", err, seen)
	}
	seen = nil
	if err := s.Each(t.Context(), []string{}, look); err != nil || len(seen) > 0 {
		t.Errorf("none is named: %v, looked at %q", err, seen)
	}
	s.failed = &snapshot.Failure{Call: "eks:ListClusters", Reason: snapshot.Denied, Message: "no"}
	if err := s.Each(t.Context(), nil, look); err == nil || err.Error() != "list the clusters: eks:ListClusters denied: no" {
		t.Error(err)
	}
}

func TestOne(t *testing.T) {
	s := newStand()
	var seen []string
	look := func(_ context.Context, name string) error { seen = append(seen, name); return nil }
	for _, name := range []string{"prod", "other"} {
		if err := s.One(t.Context(), name, look); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(seen, []string{"prod"}) || s.counts["ForeignClusters"] != 1 {
		t.Errorf("looked at %q, %v", seen, s.counts)
	}
}

func TestIgnoreNoCluster(t *testing.T) {
	s := newStand()
	_, err := s.Read(t.Context(), s.Query("gone", ""))
	if err := s.IgnoreNoCluster(t.Context(), "gone", err); err != nil || s.counts["ForeignClusters"] != 1 {
		t.Errorf("%v, %v", err, s.counts)
	}
	down := errors.New("down")
	if err := s.IgnoreNoCluster(t.Context(), "prod", down); !errors.Is(err, down) || s.counts["ForeignClusters"] != 1 {
		t.Errorf("%v, %v", err, s.counts)
	}
}

// TestMessages: what cannot be read goes back alone.
func TestMessages(t *testing.T) {
	s := newStand()
	started := `{"id":"x","detail-type":"EC2 Instance State-change Notification","source":"aws.ec2","account":"111122223333","time":"2026-11-20T14:59:06Z","region":"us-west-2","detail":{"instance-id":"i-1","state":"running"}}`
	list, failed := s.Messages([]inbox.Message{{ID: "a", Body: started, Received: 1}, {ID: "b", Body: "{", Received: 3}, {ID: "c", Body: started, Received: 2}})
	got := map[string]bool{}
	for _, m := range list {
		if m.Instance != "i-1" {
			t.Errorf("message %s is about %q", m.Receipt, m.Instance)
		}
		got[m.Receipt] = m.Again
	}
	if diff := cmp.Diff(map[string]bool{"a": false, "c": true}, got); diff != "" || !slices.Equal(failed, []string{"b"}) || s.counts["MalformedEvents"] != 1 {
		t.Errorf("failed %q, %v, messages (-want +got):\n%s", failed, s.counts, diff)
	}
}

// TestRun: one snapshot is judged, and report told of it once.
func TestRun(t *testing.T) {
	s := newStand()
	snap, err := s.Detector.Read(t.Context(), s.Query("prod", "111122223333"))
	if err != nil {
		t.Fatal(err)
	}
	if !snap.Taken.Equal(began) {
		t.Errorf("taken %s", snap.Taken)
	}
	fails := func(id checkid.ID) check.Check {
		return check.Check{Entry: catalog.Entry{ID: id, Title: string(id)}, Run: func(*check.View) []finding.Finding {
			return []finding.Finding{{Outcome: finding.Fail, Resource: "rtb-1", Confidence: finding.Certain, Covers: []string{"subnet-a"}}}
		}}
	}
	o, err := s.Run(t.Context(), snap, Look{
		Checks:   []check.Check{fails("route/no-egress"), fails("ip/subnet-exhausted")},
		Launches: []report.Launch{{Instance: "i-1"}},
		Unknown:  []diagnosis.Unknown{{Check: "node/not-registered"}},
		Untold:   func(c diagnosis.Cause) bool { return c.Check == "ip/subnet-exhausted" },
		Absent:   []string{"i-9", "", "i-9"}, Sweep: true,
	})
	if err != nil || len(s.sent) != 1 || cmp.Diff(o, s.sent[0]) != "" {
		t.Fatalf("%v, sent %+v", err, s.sent)
	}
	if c := o.Diagnosis.Causes; len(c) != 1 || c[0].Check != "route/no-egress" {
		t.Errorf("causes %+v", c)
	}
	if o.By != "join-check" || o.ID != "join-check/prod/2026-11-20T14:59:06Z" || len(o.Launches) != 1 || len(o.Diagnosis.Unknown) != 1 || !o.Sweep || !slices.Equal(o.Absent, []string{"i-9"}) {
		t.Errorf("observation %+v", o)
	}
	// Without checks only what could be read is reported.
	if o := Judge("eni-cleanup", snap, Look{}); cmp.Diff(diagnosis.Diagnosis{}, o.Diagnosis) != "" {
		t.Errorf("nothing was asked, and %+v is said", o.Diagnosis)
	}
}

func TestDistinct(t *testing.T) {
	if got := Distinct([]string{"b", "", "a"}, []string{"b"}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q", got)
	}
	if got := Distinct([]string{""}); got != nil {
		t.Errorf("%q of nothing, want nil: a nil list may mean all", got)
	}
}

// journal is a sender and a bucket that tell what came in which order.
type journal struct {
	steps []string
	err   error
	sent  report.Observation
}

func (j *journal) SendResult(_ context.Context, o report.Observation) error {
	j.steps, j.sent = append(j.steps, "sent"), o
	return j.err
}

// Create keeps an object, or does not.
func (j *journal) Create(context.Context, string, string, string, []byte) error {
	j.steps = append(j.steps, "kept")
	return errors.New("AccessDenied")
}

// TestToldBeforeKept: what was found is sent first, with the key; what is kept comes when
// the work is done, and is no failure of it. Of advice, of what is well and of what has no
// message nothing is kept.
func TestToldBeforeKept(t *testing.T) {
	down := errors.New("down")
	for name, test := range map[string]struct {
		causes []diagnosis.Cause
		err    error
		want   []string
	}{
		"a cause":         {[]diagnosis.Cause{{Check: "route/a", Confidence: finding.Certain}}, nil, []string{"sent", "done", "kept"}},
		"a symptom":       {[]diagnosis.Cause{{Check: "node/a", Confidence: finding.Symptom}}, nil, []string{"sent", "done", "kept"}},
		"advice":          {[]diagnosis.Cause{{Check: "ip/a", Confidence: finding.Advice}}, nil, []string{"sent", "done"}},
		"nothing":         {nil, nil, []string{"sent", "done"}},
		"nobody was told": {[]diagnosis.Cause{{Check: "route/a", Confidence: finding.Certain}}, down, []string{"sent", "done"}},
	} {
		t.Run(name, func(t *testing.T) {
			j := &journal{err: test.err}
			s := newStand()
			k := evidence.NewKeeper(j, "bucket", "", slog.New(slog.DiscardHandler), func(string, int) {})
			s.Detector = s.Detector.Keeping(k)
			s.Results = j
			k.Begin(nil)
			o := report.Observation{By: "join-check", Cluster: "prod", At: began}
			o.Diagnosis.Causes = test.causes
			if err := s.Tell(t.Context(), o); !errors.Is(err, test.err) {
				t.Errorf("%v, want %v", err, test.err)
			}
			j.steps = append(j.steps, "done")
			k.Flush(t.Context())
			if !slices.Equal(j.steps, test.want) {
				t.Errorf("%q, want %q", j.steps, test.want)
			}
			if kept := slices.Contains(test.want, "kept"); test.err == nil && kept != (j.sent.Evidence != "") {
				t.Errorf("the observation has the key %q", j.sent.Evidence)
			}
		})
	}
}

var began = time.Date(2026, 11, 20, 14, 59, 6, 0, time.UTC)

func TestObserve(t *testing.T) {
	denied := snapshot.Failure{Source: snapshot.Endpoints, Reason: snapshot.Denied, Call: "ec2:DescribeVpcEndpoints"}
	slow := snapshot.Failure{Source: snapshot.Activities, Reason: snapshot.TimedOut, Call: "autoscaling:DescribeScalingActivities"}
	s := &snapshot.Snapshot{
		Time: began, Account: "111122223333", Region: "us-west-2", Partition: "aws",
		Cluster:  snapshot.Cluster{Name: "prod"},
		Scope:    snapshot.Scope{Subnets: []string{"subnet-a", "subnet-deleted"}},
		Subnets:  []snapshot.Subnet{{ID: "subnet-a"}},
		Read:     map[snapshot.Source]bool{snapshot.Subnets: true, snapshot.Instances: true},
		Failures: map[snapshot.Source]snapshot.Failure{snapshot.Endpoints: denied, snapshot.Activities: slow},
	}
	want := report.Observation{
		Format: report.Format, ID: "join-check/prod/2026-11-20T14:59:06Z", By: "join-check", At: began,
		Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "prod",
		Blind:  []snapshot.Failure{slow, denied},
		Read:   []snapshot.Source{snapshot.Instances, snapshot.Subnets},
		Absent: []string{"subnet-deleted"},
	}
	if diff := cmp.Diff(want, Observe("join-check", s, diagnosis.Diagnosis{}, nil)); diff != "" {
		t.Errorf("observation (-want +got):\n%s", diff)
	}
	// What could not be read is not absent.
	delete(s.Read, snapshot.Subnets)
	s.Subnets = nil
	if got := Observe("join-check", s, diagnosis.Diagnosis{}, nil).Absent; len(got) > 0 {
		t.Errorf("absent %q, and the subnets were not read", got)
	}
}

func TestFacts(t *testing.T) {
	s := &snapshot.Snapshot{
		Read:    map[snapshot.Source]bool{snapshot.Clusters: true},
		Cluster: snapshot.Cluster{Name: "prod", Status: "ACTIVE", Version: "1.34", EndpointPrivate: true},
		Nodegroups: []snapshot.Nodegroup{
			{Name: "workers", Status: "ACTIVE", Max: 3, Desired: 1},
			{Name: "sick", Status: "DEGRADED", Issues: []snapshot.Issue{{Code: "AsgInstanceLaunchFailures", Message: "no capacity"}}},
		},
		Groups: []snapshot.Group{{Name: "asg"}},
		Activities: []snapshot.Activity{
			{Group: "asg", Status: "Successful", About: "Launching a new EC2 instance: i-4", Started: began},
			{Group: "other", Status: "Failed"},
			{Group: "asg", Status: "Failed", About: "Launching a new EC2 instance.", Message: "no capacity", Started: began},
			{Group: "asg", Status: "Failed", About: "Launching. Status Reason: full", Message: "full", Started: began},
			{Group: "asg", Status: "Successful", About: "the fourth"},
		},
	}
	want := []report.Fact{
		{What: "Cluster", Value: "ACTIVE, Kubernetes 1.34, endpoint private only"},
		{What: "Nodegroup workers", Value: "ACTIVE, no health issue, min 0 max 3 desired 1"},
		{What: "Nodegroup sick", Value: "DEGRADED, AsgInstanceLaunchFailures: no capacity, min 0 max 0 desired 0"},
		{What: "Scaling activity", Value: "14:59:06 Successful: Launching a new EC2 instance: i-4"},
		{What: "Scaling activity", Value: "14:59:06 Failed: Launching a new EC2 instance. (no capacity)"},
		{What: "Scaling activity", Value: "14:59:06 Failed: Launching. Status Reason: full"},
	}
	if diff := cmp.Diff(want, Facts(s)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestAccess(t *testing.T) {
	for want, c := range map[string]snapshot.Cluster{
		"public and private": {EndpointPublic: true, EndpointPrivate: true},
		"private only":       {EndpointPrivate: true},
		"public only":        {EndpointPublic: true},
	} {
		if got := access(c); got != want {
			t.Errorf("access = %q, want %q", got, want)
		}
	}
}

// TestEgress: how the control plane reaches out is named where its owner chose it.
func TestEgress(t *testing.T) {
	for mode, want := range map[string]string{"": "", "AWS_MANAGED": "", "CUSTOMER_ROUTED": ", control plane egress CUSTOMER_ROUTED", "CUSTOMER_ISOLATED": ", control plane egress CUSTOMER_ISOLATED"} {
		s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.Clusters: true}, Cluster: snapshot.Cluster{Status: "ACTIVE", Version: "1.34", EndpointPublic: true, EgressMode: mode}}
		if got := Facts(s)[0].Value; got != "ACTIVE, Kubernetes 1.34, endpoint public only"+want {
			t.Errorf("%q: %q", mode, got)
		}
	}
}

func TestRecord(t *testing.T) {
	in := snapshot.Instance{
		ID: "i-1", Subnet: "subnet-a", Zone: "us-west-2a", Type: "m5.large", VPC: "vpc-a", AMI: "ami-a", Spot: true,
		Groups: []string{"sg-a"}, Profile: "arn:aws:iam::111122223333:instance-profile/nodes",
		Template: snapshot.TemplateRef{ID: "lt-a", Version: "3"}, Metadata: snapshot.Metadata{Endpoint: "enabled", HopLimit: 2},
		Tags: map[string]string{groupTag: "asg", nodegroupTag: "workers", "team": "somebody's business"},
	}
	in.Launched = began
	want := store.LaunchRecord{
		Launch:  outcome.Launch{Instance: "i-1", Nodegroup: "workers", Group: "asg", Subnet: "subnet-a", Zone: "us-west-2a", Type: "m5.large", Started: began, Status: outcome.Waiting},
		Cluster: "prod",
		Spot:    true,
		Due:     began.Add(5 * time.Minute),
		Machine: &store.Machine{
			VPC: "vpc-a", AMI: "ami-a", Groups: []string{"sg-a"}, Profile: in.Profile, Template: "lt-a", Version: "3",
			Metadata: "enabled", HopLimit: 2, Tags: map[string]string{groupTag: "asg", nodegroupTag: "workers"},
		},
	}
	if diff := cmp.Diff(want, Fresh("prod", in, began, Learned{Setting: 5 * time.Minute}), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

// TestRecall: EC2 forgets where an instance was once it has ended, and what it
// still says counts.
func TestRecall(t *testing.T) {
	record := store.LaunchRecord{Launch: outcome.Launch{Subnet: "subnet-a", Zone: "us-west-2a"}}
	for _, test := range []struct{ in, want snapshot.Instance }{
		{snapshot.Instance{ID: "i-1"}, snapshot.Instance{ID: "i-1", Subnet: "subnet-a", Zone: "us-west-2a"}},
		{snapshot.Instance{ID: "i-1", Zone: "us-west-2b"}, snapshot.Instance{ID: "i-1", Subnet: "subnet-a", Zone: "us-west-2b"}},
		{snapshot.Instance{ID: "i-1", Subnet: "subnet-b"}, snapshot.Instance{ID: "i-1", Subnet: "subnet-b", Zone: "us-west-2a"}},
	} {
		got := Recall(test.in, record)
		if got.Subnet != test.want.Subnet || got.Zone != test.want.Zone {
			t.Errorf("Recall = %q in %q, want %q in %q", got.Subnet, got.Zone, test.want.Subnet, test.want.Zone)
		}
	}
}

// TestRecallTheMachine: what keeps an instance from joining is explained after
// it is gone, by what it was started with; what EC2 still says counts.
func TestRecallTheMachine(t *testing.T) {
	in := snapshot.Instance{
		ID: "i-1", State: "running", Subnet: "subnet-a", Zone: "us-west-2a", Type: "m5.large", VPC: "vpc-a", AMI: "ami-a",
		Groups: []string{"sg-a"}, Profile: "arn:p", PublicIP: netip.MustParseAddr("203.0.113.9"), PrivateIP: netip.MustParseAddr("10.0.0.9"),
		Template: snapshot.TemplateRef{ID: "lt-a", Version: "3"}, Metadata: snapshot.Metadata{Endpoint: "disabled", HopLimit: 1},
		Tags: map[string]string{"eks:cluster-name": "prod", "eks:nodegroup-name": "workers"},
	}
	record := Fresh("prod", in, began, Learned{Setting: time.Minute})
	ended := snapshot.Instance{ID: "i-1", State: "terminated", AMI: "ami-still-told", Tags: map[string]string{"eks:nodegroup-name": "renamed"}}
	want := in
	want.State, want.AMI = "terminated", "ami-still-told"
	want.Tags = map[string]string{"eks:cluster-name": "prod", "eks:nodegroup-name": "renamed"}
	if diff := cmp.Diff(want, Recall(ended, record), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("recalled (-want +got):\n%s", diff)
	}
	// A live instance tells for itself: a group that was taken away is gone.
	live := snapshot.Instance{ID: "i-1", State: "running", Subnet: "subnet-a", Zone: "us-west-2a", Type: "m5.large"}
	if diff := cmp.Diff(live, Recall(live, record), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("a live instance was changed (-want +got):\n%s", diff)
	}
}

// deniedCall is a refused call of a NodePool, and what EC2 said to it.
func deniedCall(pool string, at time.Time, message string) snapshot.RefusedLaunch {
	return RefusedCall(event.Trigger{Time: at, Call: "CreateFleet", Refusal: &event.Refusal{Caller: "arn:aws:iam::111122223333:role/karpenter", Errors: []event.LaunchError{
		{Code: "UnauthorizedOperation", Message: message, Offers: 1},
	}}}, map[string]string{"karpenter.sh/nodepool": pool})
}

// TestRunsAreDecodedOnce: the message of a run's first call is decoded, whole ones
// only, two in a batch; what is kept of a run has no message.
func TestRunsAreDecodedOnce(t *testing.T) {
	const text = "You are not authorized to perform this operation. Encoded authorization failure message: "
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	var asked []string
	decode := func(message string) snapshot.DecodedMessage {
		asked = append(asked, message)
		if message == "first" {
			return snapshot.DecodedMessage{Encoded: message, Denial: &snapshot.Denial{Action: "ec2:CreateFleet", Explicit: true}}
		}
		return snapshot.DecodedMessage{Encoded: message, Failure: &snapshot.Failure{Call: "sts:DecodeAuthorizationMessage", Reason: snapshot.Broken, Code: "InvalidAuthorizationMessageException"}}
	}
	runs := NewRuns(nil)
	for _, call := range []snapshot.RefusedLaunch{
		deniedCall("a", at, text+"first"), deniedCall("a", at.Add(2*time.Minute), text+"again"), deniedCall("b", at, text+"foreign"),
		deniedCall("c", at, text+"cut..."), deniedCall("d", at, text+"third"), deniedCall("e", at, "no"),
	} {
		runs.Take("prod", call)
	}
	runs.Decode(decode)
	if diff := cmp.Diff([]string{"first", "foreign"}, asked); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	type told struct{ Action, Undecoded string }
	got := map[string]told{}
	for _, r := range runs.Launches() {
		x := told{Undecoded: r.Undecoded}
		if r.Denial != nil {
			x.Action = r.Denial.Action
		}
		got[strings.TrimPrefix(r.Launcher, "nodepool/")] = x
		if strings.Contains(r.Text, "foreign") || strings.Contains(r.Text, "first") {
			t.Errorf("the message is kept in %q", r.Text)
		}
	}
	want := map[string]told{
		"a": {Action: "ec2:CreateFleet"}, "b": {Undecoded: "STS rejects it: it has expired, belongs to another account, or is incomplete"},
		"c": {Undecoded: "only a part of it was kept, which cannot be decoded"}, "d": {Undecoded: "others were decoded first"}, "e": {},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// asked keeps what it is asked for, until it breaks.
type asked struct {
	list  []string
	after int
}

func (a *asked) LookAgain(_ context.Context, instances []string, _ time.Time, delay time.Duration) error {
	if len(a.list) == a.after {
		return errors.New("down")
	}
	a.list = append(a.list, fmt.Sprintf("%s %v", delay, instances))
	return nil
}

// TestReminders: a burst is one message, and who is due sooner is called sooner.
func TestReminders(t *testing.T) {
	var r Reminders
	for id, due := range map[string]time.Duration{"i-2": time.Hour, "i-1": 61 * time.Second, "i-3": 12 * time.Second, "i-4": -time.Second} {
		r.Add(id, began.Add(due), began)
	}
	to := &asked{after: 9}
	n, err := r.Send(t.Context(), to, began)
	if diff := cmp.Diff([]string{"0s [i-4]", "15s [i-3]", "1m0s [i-1 i-2]"}, to.list); diff != "" || n != 4 || err != nil {
		t.Errorf("%d, %v, asked (-want +got):\n%s", n, err, diff)
	}
	if n, err := r.Send(t.Context(), &asked{after: 2}, began); n != 2 || err == nil {
		t.Errorf("%d, %v; want the two that were asked for, and the error", n, err)
	}
}

// The version of the VPC CNI is noted once, where it was read, and only in the copy.
func TestHadNotesThePlugin(t *testing.T) {
	s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.AWSNode: true}}
	for image, want := range map[string]string{
		"602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.20.4-eksbuild.1": "v1.20.4-eksbuild.1",
		"localhost:5000/cni@sha256:0123":                                                 "sha256:0123",
		"localhost:5000/cni:v1@sha256:0":                                                 "v1",
		"":                                                                               "",
	} {
		s.CNI = &snapshot.CNI{Image: image}
		read := &store.Machine{}
		l := store.LaunchRecord{Machine: read}
		if RecordSubnetAndCNI(s, &l); l.Machine.Plugin != want || read.Plugin != "" {
			t.Errorf("%q: %q, and in the record as it was read %q", image, l.Machine.Plugin, read.Plugin)
		}
		l.Machine.Plugin = "v1.19.0"
		if RecordSubnetAndCNI(s, &l); l.Machine.Plugin != "v1.19.0" {
			t.Errorf("%q: noted again as %q", image, l.Machine.Plugin)
		}
	}
	delete(s.Read, snapshot.AWSNode)
	l := store.LaunchRecord{Machine: &store.Machine{}}
	if RecordSubnetAndCNI(s, &l); l.Machine.Plugin != "" {
		t.Errorf("not read, and noted as %q", l.Machine.Plugin)
	}
}

// contested is a table whose record others write: so many times between a read
// and the write that follows it.
type contested struct {
	have    *store.LaunchRecord
	others  int
	read    int
	written int
}

func (c *contested) GetLaunches(context.Context, []string) (map[string]store.LaunchRecord, error) {
	c.read++
	if c.have == nil {
		return nil, nil
	}
	return map[string]store.LaunchRecord{c.have.ID(): *c.have}, nil
}

func (c *contested) CreateLaunch(_ context.Context, l store.LaunchRecord) (bool, error) {
	if c.have != nil {
		return false, nil
	}
	c.have = &l
	return true, nil
}

func (c *contested) SaveLaunch(_ context.Context, l store.LaunchRecord) error {
	if c.others > 0 {
		c.others--
		return fmt.Errorf("save: %w", &store.Conflict{Record: l.ID(), Over: l.Version})
	}
	c.have, c.written = &l, c.written+1
	return nil
}

// TestSaveLaunch: what is known of a launch gets into its record, whoever else
// writes it, and nothing is taken out of it.
func TestSaveLaunch(t *testing.T) {
	noticed, missed := time.Unix(100, 0), time.Unix(200, 0)
	theirs := store.LaunchRecord{Version: 2}
	theirs.Instance, theirs.Status = "i-1", outcome.Waiting
	theirs.Learn(outcome.Facts{Noticed: noticed})
	mine := store.LaunchRecord{Version: 1}
	mine.Instance, mine.Status = "i-1", outcome.Missed
	mine.Learn(outcome.Facts{Missed: missed})
	for name, test := range map[string]struct {
		recorded  bool
		table     contested
		lost      int
		fails     bool
		both      bool
		unwritten bool
	}{
		"a new record":                       {false, contested{}, 0, false, false, false},
		"a record of nobody else":            {true, contested{}, 0, false, false, false},
		"somebody else recorded it":          {false, contested{have: &theirs}, 1, false, true, false},
		"somebody else wrote it":             {true, contested{have: &theirs, others: 1}, 1, false, true, false},
		"somebody else wrote it three times": {true, contested{have: &theirs, others: 3}, 3, false, true, false},
		"somebody else writes it always":     {true, contested{have: &theirs, others: 9}, 3, true, false, true},
		"it expired meanwhile":               {true, contested{others: 1}, 1, false, false, true},
		"somebody else knows all that":       {true, contested{have: &mine, others: 1}, 1, false, false, true},
	} {
		s, table, mine := newStand(), test.table, mine
		if !test.recorded {
			mine.Version = 0
		}
		err := s.SaveLaunch(t.Context(), &table, mine)
		if lost := new(LostRaces); errors.As(err, &lost) != test.fails || err != nil && !test.fails {
			t.Errorf("%s: %v", name, err)
		}
		if s.counts["LostRaces"] != test.lost {
			t.Errorf("%s: %d races lost, want %d", name, s.counts["LostRaces"], test.lost)
		}
		if test.unwritten {
			if table.written > 0 {
				t.Errorf("%s: it was written", name)
			}
			continue
		}
		if got := table.have; !got.Missed.Equal(missed) || got.Noticed.Equal(noticed) != test.both || got.Status != outcome.Missed {
			t.Errorf("%s: the record is %+v", name, got)
		}
	}
}

// TestFresh: a launch begins with the earliest of what is known.
func TestFresh(t *testing.T) {
	learned := Learned{Setting: 5 * time.Minute, Now: began}
	earlier, later := began.Add(-10*time.Second), began.Add(10*time.Second)
	for name, test := range map[string]struct{ launched, clock, want time.Time }{
		"EC2 alone":         {began, time.Time{}, began},
		"an event before":   {began, earlier, earlier},
		"an event after":    {began, later, began},
		"EC2 does not tell": {time.Time{}, later, later},
	} {
		l := Fresh("prod", snapshot.Instance{ID: "i-1", Launched: test.launched}, test.clock, learned)
		if !l.Started.Equal(test.want) || !l.Due.Equal(test.want.Add(5*time.Minute)) || l.Cluster != "prod" || l.Instance != "i-1" {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

func TestNamedByUserData(t *testing.T) {
	got := namedByUserData([]snapshot.UserData{
		{Instances: []string{"i-1", "i-2"}, Data: []byte("#!/bin/bash\n/etc/eks/bootstrap.sh prod\n")},
		{Instances: []string{"i-3"}, Data: []byte("#!/bin/bash\necho hello\n")},
	})
	if len(got) != 2 || got["i-1"] != "prod" || got["i-2"] != "prod" {
		t.Errorf("%v", got)
	}
}

func TestTagsOfThoseNamed(t *testing.T) {
	team := func(name string) map[string]string { return map[string]string{"team": name} }
	s := &snapshot.Snapshot{
		Nodegroups: []snapshot.Nodegroup{{Name: "caused", Tags: team("a")}, {Name: "launched", Tags: team("b")}, {Name: "other", Tags: team("c")}, {Name: "bare"}},
		Groups:     []snapshot.Group{{Name: "own", Tags: team("d")}, {Name: "eks-launched", Tags: team("e")}, {Name: "idle", Tags: team("f")}},
	}
	d := diagnosis.Diagnosis{Causes: []diagnosis.Cause{{Nodegroups: []string{"caused", "bare", "gone"}}}}
	launches := []report.Launch{{Nodegroup: "launched", Group: "eks-launched"}, {Group: "own"}, {}}
	want := map[string]map[string]string{"caused": team("a"), "launched": team("b"), "own": team("d")}
	if diff := cmp.Diff(want, tags(s, d, launches)); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	if got := tags(s, diagnosis.Diagnosis{}, nil); got != nil {
		t.Errorf("nobody is named, and %v are told", got)
	}
}

func TestTaggedIsNearestFirst(t *testing.T) {
	team := func(name string) map[string]string { return map[string]string{"team": name} }
	s := &snapshot.Snapshot{
		Cluster: snapshot.Cluster{Name: "prod", VPC: "vpc-1", Tags: team("platform"), Logs: true}, Region: "us-west-2",
		Nodegroups:     []snapshot.Nodegroup{{Name: "workers", Tags: map[string]string{"team": "b", "runbook": "https://wiki.example.com/"}, Labels: team("a")}, {Name: "other", Tags: team("c")}},
		Groups:         []snapshot.Group{{Name: "eks-1", Tags: map[string]string{nodegroupTag: "workers", "cost": "7", "aws:own": "x"}}, {Name: "own", Tags: team("d")}},
		NodePools:      []snapshot.NodePool{{Name: "default", Own: team("e"), Class: snapshot.ClassRef{Name: "al2023"}}, {Name: "idle", Own: team("f")}},
		EC2NodeClasses: []snapshot.NodeClass{{Name: "al2023", Tags: map[string]string{"team": "g", "service": "shop"}}},
		Subnets:        []snapshot.Subnet{{ID: "subnet-1", Tags: team("network")}, {ID: "subnet-2", Tags: team("other")}},
		VPCs:           []snapshot.VPC{{ID: "vpc-1", Tags: team("core")}, {ID: "vpc-2", Tags: team("peer")}},
	}
	d := diagnosis.Diagnosis{Causes: []diagnosis.Cause{{Nodegroups: []string{"workers"}, Covers: []string{"subnet-1", "nodepool/default"}}}}
	want := []report.Tagged{
		{Kind: ownership.Nodegroup, Name: "workers", Tags: map[string]string{"team": "a", "runbook": "https://wiki.example.com/", "cost": "7", nodegroupTag: "workers"}},
		{Kind: ownership.Nodegroup, Name: "own", Tags: team("d")},
		{Kind: ownership.NodePool, Name: "default", Tags: map[string]string{"team": "e", "service": "shop"}},
		{Kind: ownership.Subnet, Name: "subnet-1", Tags: team("network")},
		{Kind: ownership.VPC, Name: "vpc-1", Tags: team("core")},
		{Kind: ownership.Cluster, Name: "prod", Tags: team("platform")},
	}
	got := Observe("join-check", s, d, []report.Launch{{Group: "own"}})
	if diff := cmp.Diff(want, got.Tagged); diff != "" {
		t.Errorf("tagged (-want +got):\n%s", diff)
	}
	expect.Equal(t, "logs", got.Logs, report.Logs{Group: "/aws/eks/prod/cluster", Region: "us-west-2"})

	for k := range 50 {
		s.Nodegroups[0].Tags[fmt.Sprint("key-", k)] = strings.Repeat("x", 1000)
	}
	if got := tagged(s, d, nil); len(got) == 0 || got[0].Kind != ownership.NodePool {
		t.Errorf("what is too much for a message is still in it: %v", got)
	}
	if got := tagged(s, diagnosis.Diagnosis{}, nil); got != nil {
		t.Errorf("nothing is wrong, and %v are sent", got)
	}
}
