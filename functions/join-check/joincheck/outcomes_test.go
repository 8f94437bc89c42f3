package joincheck

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/detect"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage/simaws"
	"rollcall/stage/stagetest"
	"rollcall/tools/testfull"
)

// The fates of launches. A healthy node is Ready 55 seconds after its launch.
// Who joins and ends later lives long enough for a sweep to have seen it.
func fates(r *rand.Rand) string {
	const from = "    - {nodegroup: new_nodegroup_2, times: %d, "
	kinds := []string{
		"neverRegisters: true}",
		"ends: {after: %ds, reason: {Code: Server.SpotInstanceTermination, Message: 'Server.SpotInstanceTermination: Spot instance termination'}}}",
		"ends: {after: 20s, reason: {Code: Client.InstanceInitiatedShutdown, Message: 'Client.InstanceInitiatedShutdown: Instance initiated shutdown'}}}",
		"ends: {after: 12s, reason: {Code: Client.InvalidKMSKey.InvalidState, Message: 'Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state'}}}",
	}
	spot := func(seconds int) string { return fmt.Sprintf(kinds[1], seconds) }
	var b strings.Builder
	b.WriteString("timeline: []\nnodes:\n  exceptions:\n")
	for i := range asked {
		var fate string
		switch r.IntN(7) {
		case 0:
			fate = kinds[0]
		case 1: // before it could join
			fate = spot(15 + r.IntN(35))
		case 2: // seen Ready, and lost
			fate = spot(6*60 + r.IntN(600))
		case 3: // never a node, and taken back when its time was over
			fate = "neverRegisters: true, " + spot(60*([]int{6, 7, 8, 17, 18}[r.IntN(5)]))
		case 4:
			fate = kinds[2]
		case 5:
			fate = kinds[3]
		default:
			fate = "autoScalingGroup: another}"
		}
		fmt.Fprintf(&b, from+"%s\n", i+1, fate)
	}
	return b.String()
}

// asked is how many instances are asked for; Auto Scaling replaces those
// that end.
const asked = 4

// story is one world on its way.
type story struct {
	*stagetest.Bench
	t     *testing.T
	r     *rand.Rand
	ready map[string]time.Time
	ended map[string]time.Time
	// late are the messages that are still on their way to each part.
	late []delayed
	seen int // events
	// told are instances of which an event has come: they are reminded of.
	told map[string]bool
}

type delayed struct {
	at   time.Time
	body string
}

// TestEveryLaunchHasOneTrueEnd plays small worlds in which launches join, fail,
// are reclaimed, terminated and refused, while events are lost, doubled, late
// and reordered. launch-watch's part (notices and refused launches) is played
// with the functions that it records by. In the end every launch has one record
// and the end that the world's truth says.
func TestEveryLaunchHasOneTrueEnd(t *testing.T) {
	// Five worlds have some thirty launches: each of the fates, and each way of an event.
	for seed := range testfull.Count(40, 5) {
		t.Run(fmt.Sprint(seed+1), func(t *testing.T) {
			t.Parallel()
			play(t, uint64(seed+1))
		})
	}
}

const refusedActivity = "0f000000-0000-4000-8000-000000000001"

func play(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 99))
	over := fates(r) + `
autoscaling:
  LifecycleHooks: []
  Activities:
    - {ActivityId: ` + refusedActivity + `, AutoScalingGroupName: ` + stagetest.Group + `, StatusCode: Failed, Description: "Launching a new EC2 instance", Cause: "At 2026-11-20T14:57:50Z an instance was started.", StatusMessage: "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a). Launching EC2 instance failed.", StartTime: 2026-11-20T14:57:50Z, EndTime: 2026-11-20T14:57:52Z, Details: '{"Subnet ID":"` + stagetest.Subnet + `","Availability Zone":"us-west-2a"}'}
`
	s := &story{
		Bench: bench(t, stagetest.Options{World: "healthy-nat.yaml", Over: over, Settings: map[string]string{"ROLLCALL_GIVE_UP": "20m"}}),
		t:     t, r: r, ready: map[string]time.Time{}, ended: map[string]time.Time{}, told: map[string]bool{},
	}
	failed := strings.NewReplacer("87654321-4321-4321-4321-210987654321", refusedActivity, "14:59:36Z", "14:57:52Z").Replace(sample(t, "autoscaling-launch-unsuccessful.json"))
	s.post(failed)
	s.Call("eks:UpdateNodegroupConfig", fmt.Sprintf(`{"clusterName":%q,"nodegroupName":%q,"scalingConfig":{"minSize":0,"maxSize":%d,"desiredSize":%d}}`, stagetest.Cluster, stagetest.Nodegroup, asked, asked))
	sweepAt := s.Now().Add(time.Duration(r.IntN(300)) * time.Second)
	personAt := s.Now().Add(30 * time.Second)
	const step = 15 * time.Second
	for end := s.Now().Add(29 * time.Minute); s.Now().Before(end); {
		s.Advance(step)
		s.watch()
		if !personAt.IsZero() && !s.Now().Before(personAt) && r.IntN(2) == 0 {
			s.person()
			personAt = time.Time{}
		}
		s.deliver()
		if !s.Now().Before(sweepAt) {
			if _, err := s.Handle(s.Sweep()); err != nil {
				t.Fatal(err)
			}
			sweepAt = sweepAt.Add(5 * time.Minute)
		}
	}
	s.judge()
}

// watch takes in what the world did: the truth, and its events.
func (s *story) watch() {
	nodes, err := s.World.Kubernetes(stagetest.Cluster, "nodes")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, raw := range nodes.Items {
		var n struct {
			Spec   struct{ ProviderID string }
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if err := json.Unmarshal(raw, &n); err != nil {
			s.t.Fatal(err)
		}
		id := n.Spec.ProviderID[strings.LastIndex(n.Spec.ProviderID, "/")+1:]
		for _, c := range n.Status.Conditions {
			if c.Type == "Ready" && c.Status == "True" && s.ready[id].IsZero() {
				s.ready[id] = s.Now()
			}
		}
	}
	news := s.LaunchEvents(s.seen)
	s.seen += len(news)
	for _, body := range news {
		e, err := event.Parse([]byte(body))
		if err != nil {
			s.t.Fatal(err)
		}
		if e.Kind == event.InstanceEnded {
			if s.ended[e.Instance].IsZero() {
				s.ended[e.Instance] = e.Time
			}
			// The warning of what EC2 took back was sent a little before.
			if strings.HasPrefix(s.why(e.Instance), "Server.Spot") {
				warning := strings.NewReplacer("i-0ef3c1b2a4d5968f1", e.Instance, "2026-11-20T14:59:40Z", e.Time.Add(-15*time.Second).Format(time.RFC3339)).Replace(sample(s.t, "ec2-spot-interruption.json"))
				s.post(warning)
			}
		}
		s.post(body)
	}
}

// post sends an event on its way: lost, once or twice, at once or late.
func (s *story) post(body string) {
	for range []int{0, 1, 1, 2}[s.r.IntN(4)] {
		delay := time.Duration(0)
		if s.r.IntN(2) == 0 {
			delay = time.Duration(s.r.IntN(900)) * time.Second
		}
		s.late = append(s.late, delayed{s.Now().Add(delay), body})
	}
}

// deliver hands over what has arrived, in any order, and reminds of launches
// that are known, mostly.
func (s *story) deliver() {
	var bodies []string
	s.late = slices.DeleteFunc(s.late, func(l delayed) bool {
		if l.at.After(s.Now()) {
			return false
		}
		bodies = append(bodies, l.body)
		return true
	})
	s.r.Shuffle(len(bodies), func(i, j int) { bodies[i], bodies[j] = bodies[j], bodies[i] })
	var joins []string
	for _, body := range bodies {
		e, err := event.Parse([]byte(body))
		if err != nil {
			s.t.Fatal(err)
		}
		switch e.Kind {
		case event.Interruption, event.LaunchFailed, event.InstanceEnded:
			s.launchWatch(e, body)
		case event.LaunchStarted, event.LaunchSucceeded, event.InstanceRunning:
			joins = append(joins, body)
			s.told[e.Instance] = true
		}
	}
	if s.Now().Second() < 15 && s.r.IntN(3) > 0 {
		var ids []string
		for id := range s.told {
			if l, ok := s.Launch(id); ok && !l.Status.Final() {
				ids = append(ids, id)
			}
		}
		if slices.Sort(ids); len(ids) > 0 {
			reminder, err := inbox.LookAgain(spoke.ID{}, ids, s.Now())
			if err != nil {
				s.t.Fatal(err)
			}
			joins = append(joins, string(reminder))
		}
	}
	if len(joins) > 0 {
		s.Send(joins...)
	}
}

// launchWatch plays the part of launch-watch with what it records by.
func (s *story) launchWatch(e event.Trigger, body string) {
	f, ok := detect.Notice(e)
	if e.Kind == event.InstanceEnded {
		f, ok = outcome.Facts{Over: e.Time}, true
	}
	if ok {
		l, known := s.Launch(e.Instance)
		switch {
		case known && (e.Kind != event.InstanceEnded || !l.Status.Final()) && l.Learn(f):
			if err := s.Store.SaveLaunch(s.t.Context(), l); err != nil {
				s.t.Fatal(err)
			}
		case !known && s.Now().Sub(e.Time) < 5*time.Minute:
			s.late = append(s.late, delayed{s.Now().Add(time.Minute), body}) // back to the queue
		}
		return
	}
	if e.Activity != refusedActivity {
		return
	}
	group := snapshot.Group{Name: e.Group, Tags: map[string]string{"eks:nodegroup-name": stagetest.Nodegroup}}
	l, ok := detect.Refused(stagetest.Cluster, group, snapshot.Activity{
		ID: e.Activity, Group: e.Group, Status: "Failed", Message: e.Message, About: "Launching a new EC2 instance", Started: e.Time, Subnet: e.Subnet, Zone: e.Zone,
	}, outcome.Allowance{For: 5 * time.Minute})
	if !ok {
		s.t.Fatalf("%+v is no refused launch", e)
	}
	if _, err := s.Store.CreateLaunch(s.t.Context(), l); err != nil {
		s.t.Fatal(err)
	}
}

// person terminates an instance that is still starting, if there is one.
func (s *story) person() {
	for _, in := range s.instances() {
		if in.State.Name == ec2types.InstanceStateNameRunning && s.Now().Sub(*in.LaunchTime) < 45*time.Second {
			s.Call("ec2:TerminateInstances", `{"InstanceIds":["`+*in.InstanceId+`"]}`)
			return
		}
	}
}

// TestWritesOfALaunch: recorded, then joined, and what the nodegroup and the
// subnet have learned by it. A burst shares the last two.
func TestWritesOfALaunch(t *testing.T) {
	for _, n := range []int{1, 20} {
		b := bench(t, healthy)
		b.Scale(n)
		news := b.LaunchEvents(0)
		b.Calls()
		b.Send(news...)
		b.Advance(2 * time.Minute)
		var ids []string
		seen := map[string]bool{}
		for _, body := range news {
			if id := b.Instance(body); !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
		reminder, err := inbox.LookAgain(spoke.ID{}, ids, b.Now())
		if err != nil {
			t.Fatal(err)
		}
		b.Send(string(reminder))
		b.Advance(5 * time.Minute)
		b.Send(news...)
		for _, id := range ids {
			if l, _ := b.Launch(id); l.End != snapshot.Joined {
				t.Fatalf("%d launches: %+v", n, l)
			}
		}
		writes := b.Calls()["dynamodb:PutItem"]
		t.Logf("%d launches: %d writes", n, writes)
		if most := 2*n + 2; writes > most {
			t.Errorf("%d launches: %d writes, want at most %d", n, writes, most)
		}
		times, err := b.Store.JoinTimes(t.Context(), stagetest.Cluster)
		if err != nil || len(times[stagetest.Nodegroup].Joins) != n {
			t.Errorf("%d launches: %+v, %v", n, times, err)
		}
	}
}

// TestSweepFindsRefusedLaunches: their events were lost, the group's activities
// tell; once each.
func TestSweepFindsRefusedLaunches(t *testing.T) {
	b := bench(t, stagetest.Options{World: "subnet-exhausted.yaml", Over: "ec2: {Subnets: [{SubnetId: " + stagetest.Subnet + ", AvailableIpAddressCount: 0}]}\n"})
	b.Advance(time.Minute)
	sweep(t, b)
	count := func() int {
		t.Helper()
		list, err := b.Store.History(t.Context(), stagetest.Cluster, b.Now().Add(-time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if p.End != snapshot.Refused || p.Cause != "launch/subnet-full" || p.Nodegroup != stagetest.Nodegroup {
				t.Errorf("%+v, want a refused launch", p)
			}
		}
		return len(list)
	}
	first := count()
	if first == 0 {
		t.Fatal("no refused launch is recorded")
	}
	b.Advance(time.Second)
	sweep(t, b)
	if again := count(); again != first {
		t.Errorf("%d refused launches, then %d", first, again)
	}
}

// TestRootCauseIsRemembered: what explained a launch that missed the roll stays
// its cause when the instance is ended later.
func TestRootCauseIsRemembered(t *testing.T) {
	b, id, _ := launched(t, stagetest.Options{})
	b.Advance(6 * time.Minute)
	sweep(t, b)
	if l, _ := b.Launch(id); l.Root != "route/no-egress" || !l.RootSure || l.Missed.IsZero() || l.End != snapshot.Open {
		t.Errorf("record %+v, want that it missed the roll because of its route", l)
	}
	b.Call("ec2:TerminateInstances", `{"InstanceIds":["`+id+`"]}`)
	b.Advance(time.Minute)
	sweep(t, b)
	if l, _ := b.Launch(id); l.End != snapshot.NotJoined || l.Cause != "route/no-egress" {
		t.Errorf("%s because of %q (%s), want not joined because of its route", l.End, l.Cause, l.Why)
	}
}

// TestLateJoinsTeachNothing: how long a repair took is not how long joining
// takes.
func TestLateJoinsTeachNothing(t *testing.T) {
	b := bench(t, healthy)
	b.Scale(1)
	id := b.Instance(b.LaunchEvents(0)[0])
	l := store.LaunchRecord{Launch: outcome.Launch{Instance: id, Nodegroup: stagetest.Nodegroup, Started: b.Now().Add(-20 * time.Minute), Status: outcome.Missed}, Cluster: stagetest.Cluster, Due: b.Now().Add(-15 * time.Minute)}
	l.Learn(outcome.Facts{Missed: l.Due, Root: outcome.Root{Check: "route/no-egress", Sure: true, At: l.Due}})
	if _, err := b.Store.CreateLaunch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	b.Advance(2 * time.Minute)
	sweep(t, b)
	if l, _ := b.Launch(id); l.End != snapshot.Joined {
		t.Fatalf("record %+v, want joined", l)
	}
	if times, err := b.Store.JoinTimes(t.Context(), stagetest.Cluster); err != nil || len(times) > 0 {
		t.Errorf("join times %+v, %v; want none", times, err)
	}
}

// TestSweepSeesANodeLost: one that had joined and ended within the hour.
func TestSweepSeesANodeLost(t *testing.T) {
	b, id, _ := launched(t, healthy)
	b.Advance(5 * time.Minute)
	sweep(t, b)
	b.Call("ec2:TerminateInstances", `{"InstanceIds":["`+id+`"]}`)
	b.Advance(10 * time.Minute)
	sweep(t, b)
	l, _ := b.Launch(id)
	if l.End != snapshot.Joined || l.Ended.IsZero() || l.EndedCode != "Client.UserInitiatedShutdown" {
		t.Errorf("record %+v, want that it joined, and when and why it ended", l)
	}
	b.Advance(time.Second)
	sweep(t, b)
	if again, _ := b.Launch(id); again.Version != l.Version {
		t.Errorf("the end was written again: %+v", again)
	}
}

// A history that cannot be read is a source that could not be read.
func TestHistoryUnread(t *testing.T) {
	f := unreadTable(snapshot.LaunchHistory, fmt.Errorf("read: %w", &store.AtLimit{Code: "ThrottlingException"}))
	if f.Reason != snapshot.Throttled || f.Call != "dynamodb:Query" || f.Source != snapshot.LaunchHistory || f.Code != "ThrottlingException" {
		t.Errorf("failure %+v", f)
	}
}

// TestDueIsLearned: what join-check records itself is due as its nodegroup
// teaches, and called again until then.
func TestDueIsLearned(t *testing.T) {
	for seconds, want := range map[int]time.Duration{20: time.Minute, 480: 12 * time.Minute} {
		b := bench(t, stagetest.Options{})
		b.Scale(1)
		news := b.LaunchEvents(0)
		var joins []outcome.Join
		for i := range 30 {
			joins = append(joins, outcome.Join{Instance: fmt.Sprintf("i-%017x", i), At: b.Now(), Seconds: seconds})
		}
		if err := b.Store.SaveJoinTimes(t.Context(), stagetest.Cluster, store.JoinTimes{Nodegroup: stagetest.Nodegroup, Joins: joins}); err != nil {
			t.Fatal(err)
		}
		b.Send(news[0])
		id := b.Instance(news[0])
		l, _ := b.Launch(id)
		if got := l.Due.Sub(l.Started); got != want || l.Samples != 30 {
			t.Fatalf("due after %s of %d samples, want %s", got, l.Samples, want)
		}
		if got := b.Reminders()[id]; got <= 0 || got > detect.Soon {
			t.Errorf("asked again in %s", got)
		}
		// An event of the same launch starts no second chain of reminders, and
		// is met by the roll call where it comes past due.
		b.Advance(5 * time.Minute)
		calls := len(b.Reminders())
		b.Send(news...)
		l, _ = b.Launch(id)
		if missed := want < 5*time.Minute; (l.Status == outcome.Missed) != missed || len(b.Reminders()) != calls {
			t.Errorf("due after %s: %s after five minutes", want, l.Status)
		}
	}
}

const gpu = "nodepool/gpu"

// refuse takes down a run of refused calls as launch-watch does.
func refuse(t *testing.T, b *stagetest.Bench, class checkid.ID, first, last time.Time) {
	t.Helper()
	r := store.RefusedRecord{Cluster: stagetest.Cluster, RefusedLaunch: snapshot.RefusedLaunch{
		Launcher: gpu, Class: class, Call: "CreateFleet", Text: "InsufficientInstanceCapacity: There is no Spot capacity available that matches your request.",
		Asked: 3, Types: []string{"g5.xlarge"}, First: first, Last: last,
	}}
	if err := b.Store.SaveRefusedLaunch(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// sweeps gives what one more sweep says.
func sweeps(t *testing.T, b *stagetest.Bench) report.Observation {
	t.Helper()
	b.Advance(time.Second)
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	return b.Observation()
}

func passed(o report.Observation, id checkid.ID) bool {
	for _, p := range o.Diagnosis.Passed {
		if p.Check == id && slices.Contains(p.Covers, gpu) {
			return true
		}
	}
	return false
}

const shortage = checkid.LaunchInsufficientCapacity

// The sweep reports what launch-watch took down: a shortage once it has lasted while a pod
// waits, as advice where none does, and no more when an instance of the pool came, or no
// call is made any longer.
func TestSweepTellsOfRefusedLaunches(t *testing.T) {
	const instance = "ec2:\n  Instances:\n    - {InstanceId: i-0aaaaaaaaaaaaaab1, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.31, LaunchTime: 2026-11-20T14:59:20Z, " +
		"Tags: [{Key: \"kubernetes.io/cluster/eks-workshop\", Value: owned}, {Key: \"eks:kubernetes-node-pool-name\", Value: gpu}]}\n"
	const waits = "kubernetes:\n  eks-workshop:\n    Pods:\n      - metadata: {name: train-0, namespace: ml, creationTimestamp: \"2026-11-20T14:40:00Z\"}\n        spec: {containers: [{name: train}]}\n" +
		"        status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable, lastTransitionTime: \"2026-11-20T14:40:00Z\"}]}\n"
	for _, test := range []struct {
		name        string
		first, last time.Duration // before the sweep
		over        string
		want        finding.Confidence // empty for one that passes
	}{
		{"it has just begun", 4 * time.Minute, 0, "", ""},
		{"it lasts", 7 * time.Minute, 0, waits, finding.Certain},
		{"it lasts, and no pod waits", 7 * time.Minute, 0, "", finding.Advice},
		{"nobody asks any more", 80 * time.Minute, 61 * time.Minute, waits, ""},
		{"an instance came", 20 * time.Minute, 10 * time.Minute, instance + waits, ""},
		{"an instance that came before", 5 * time.Minute, 0, instance + waits, finding.Certain},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := bench(t, stagetest.Options{World: "samples.yaml", Over: test.over})
			b.Advance(6 * time.Minute)
			refuse(t, b, shortage, b.Now().Add(-test.first), b.Now().Add(-test.last))
			o := sweeps(t, b)
			var got finding.Confidence
			for _, c := range o.Diagnosis.Causes {
				if c.Check == shortage && c.Resource == gpu {
					got = c.Confidence
				}
			}
			if got != test.want || passed(o, shortage) != (got == "") {
				t.Errorf("confidence %q, want %q; passes %v", got, test.want, passed(o, shortage))
			}
		})
	}
}

// What is refused for a pool whose class is not ready is one cause with the class.
func TestClassExplainsRefusedLaunches(t *testing.T) {
	b := bench(t, stagetest.Options{World: "corpus/karpenter-nodeclass-not-ready.yaml", ClusterRole: true})
	refuse(t, b, checkid.LaunchUnauthorized, b.Now(), b.Now())
	o := sweeps(t, b)
	_, told := stagetest.Causes(o)["launch/unauthorized"]
	hidden := slices.ContainsFunc(o.Diagnosis.Causes, func(c diagnosis.Cause) bool {
		return c.Check == checkid.KarpenterNodeclassNotReady && slices.Contains(c.Hidden, diagnosis.Hidden{Check: checkid.LaunchUnauthorized, Because: c.Check})
	})
	if told || !hidden {
		t.Errorf("told by itself %v, hidden behind the class %v", told, hidden)
	}
}

// What cannot be read is reported, and neither fails nor passes.
func TestRefusedLaunchesUnread(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	refuse(t, b, checkid.LaunchUnauthorized, b.Now(), b.Now())
	if o := sweeps(t, b); stagetest.Causes(o)["launch/unauthorized"] != gpu || !slices.Contains(o.Read, snapshot.RefusedLaunches) {
		t.Fatalf("causes %v, read %v", stagetest.Causes(o), o.Read)
	}
	h := handler{Parts{Table: failing{}}}
	s := &snapshot.Snapshot{Failures: map[snapshot.Source]snapshot.Failure{}, Read: map[snapshot.Source]bool{}}
	if runs := h.addRefused(t.Context(), s, roll{}); runs != nil || s.Read[snapshot.RefusedLaunches] || s.Failures[snapshot.RefusedLaunches].Reason != snapshot.Throttled {
		t.Errorf("read %v, failures %v", s.Read, s.Failures)
	}
}

// The incidents of a NodePool and of a class: that a right in the cluster is taken
// away, or a list cannot be read, ends none; a sweep that reads all and finds the
// NodePool well does.
func TestRightsTakenAwayEndNoIncident(t *testing.T) {
	const world = "corpus/karpenter-nodeclass-not-ready.yaml"
	policy := incident.Policy{ProofTime: time.Hour}
	var list []incident.Incident
	for _, o := range []stagetest.Options{{World: world, ClusterRole: true}, {World: "corpus/karpenter-nodepool-limit.yaml", ClusterRole: true}} {
		b := bench(t, o)
		b.Advance(time.Minute)
		refuse(t, b, checkid.LaunchUnauthorized, b.Now(), b.Now())
		for _, d := range reconcile.Decide(nil, sweeps(t, b), b.Now(), policy) {
			list = append(list, d.Incident)
		}
	}
	states := func(o report.Observation, now time.Time) map[string]string {
		all := map[string]string{}
		for _, d := range reconcile.Decide(list, o, now, policy) {
			all[string(d.Incident.Key.Check)] = string(d.Incident.State)
		}
		for _, inc := range list {
			if id := string(inc.Key.Check); all[id] == "" {
				all[id] = "untouched"
			}
		}
		return all
	}
	want := []string{"karpenter/nodeclass-not-ready", "karpenter/nodepool-limit", "launch/unauthorized"}
	for _, id := range want {
		if !slices.ContainsFunc(list, func(inc incident.Incident) bool { return string(inc.Key.Check) == id && inc.State == incident.Open }) {
			t.Fatalf("no incident of %s at first: %d incidents", id, len(list))
		}
	}
	blind := map[string]stagetest.Options{"the rights taken away": {World: world}}
	for _, kind := range []string{"nodepools", "ec2nodeclasses", "nodeclaims", "nodes", "*"} {
		for _, fault := range []simaws.FaultRule{{Deny: true}, {Fail: 1}, {Throttle: 1}} {
			fault.Call = "kubernetes:list " + kind
			blind[fmt.Sprintf("%+v", fault)] = stagetest.Options{World: world, ClusterRole: true, Faults: []simaws.FaultRule{fault}}
		}
	}
	for name, o := range blind {
		b := bench(t, o)
		b.Advance(10 * time.Minute)
		refuse(t, b, checkid.LaunchUnauthorized, b.Now(), b.Now())
		got := states(sweeps(t, b), b.Now())
		for _, id := range want {
			if got[id] != string(incident.Open) && got[id] != "untouched" {
				t.Errorf("%s: %s is %s", name, id, got[id])
			}
		}
	}
	b := bench(t, stagetest.Options{World: "corpus/karpenter-nodeclass-not-ready-healthy.yaml", ClusterRole: true})
	b.Advance(10 * time.Minute)
	if got := states(sweeps(t, b), b.Now()); got[want[1]] != string(incident.Closed) {
		t.Errorf("a sweep that reads all: %v", got)
	}
}

// failing is a table that cannot be read.
type failing struct{ detect.LaunchTable }

func (failing) RefusedLaunches(context.Context, string) ([]store.RefusedRecord, error) {
	return nil, fmt.Errorf("read: %w", &store.AtLimit{Code: "ThrottlingException"})
}

// sweep plays one sweep and returns what it told of the cluster.
func sweep(t *testing.T, b *stagetest.Bench) report.Observation {
	t.Helper()
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	if !o.Sweep || o.Cluster != stagetest.Cluster || o.Account != "111122223333" {
		t.Errorf("observation of %q in %q, sweep %v", o.Cluster, o.Account, o.Sweep)
	}
	return o
}

// TestSweepOfNothing: a sweep tells report the time even when all is well, and
// records no node that was there before.
func TestSweepOfNothing(t *testing.T) {
	b := bench(t, healthy)
	if o := sweep(t, b); len(o.Launches) > 0 || len(stagetest.Causes(o)) > 0 || len(o.Blind) > 0 {
		t.Errorf("launches %+v, causes %v, blind %v", o.Launches, stagetest.Causes(o), o.Blind)
	}
	if _, recorded := b.Launch("i-0d0000000000000a1"); recorded {
		t.Error("a node of old was recorded as a launch")
	}
}

// TestLostEvents: events are best effort; the sweep finds their launches.
func TestLostEvents(t *testing.T) {
	b, id, _ := launched(t, stagetest.Options{})
	b.Advance(6 * time.Minute)
	o := sweep(t, b)
	if len(o.Launches) != 1 || o.Launches[0].Instance != id || o.Launches[0].Status != outcome.Missed || stagetest.Causes(o)["route/no-egress"] != stagetest.Table {
		t.Errorf("launches %+v because of %v", o.Launches, stagetest.Causes(o))
	}
	first, ok := b.Launch(id)
	if !ok || first.Status != outcome.Missed {
		t.Errorf("record %+v (%v), want missed", first, ok)
	}
	b.Advance(5 * time.Minute)
	sweep(t, b)
	if again, _ := b.Launch(id); again.Looks != 2 || !again.Due.Equal(first.Due) {
		t.Errorf("record %+v, want a second look at the first", again)
	}
}

func TestSweepSeesItJoin(t *testing.T) {
	b, id, _ := launched(t, healthy)
	sweep(t, b)
	l, ok := b.Launch(id)
	if !ok || l.Status != outcome.Waiting || b.Reminders()[id] == 0 {
		t.Fatalf("record %+v (%v), reminders %v: want one that waits and is called when it is due", l, ok, b.Reminders())
	}
	b.Advance(5 * time.Minute)
	o := sweep(t, b)
	if len(o.Launches) != 1 || o.Launches[0].Status != outcome.Joined {
		t.Errorf("launches %+v, want that it joined", o.Launches)
	}
	if l, _ := b.Launch(id); l.Status != outcome.Joined || l.Ready.IsZero() || l.Registered.IsZero() {
		t.Errorf("record %+v, want joined and when", l)
	}
	b.Advance(5 * time.Minute)
	if o := sweep(t, b); len(o.Launches) > 0 {
		t.Errorf("launches %+v: the outcome is known", o.Launches)
	}
}

func TestSweepSeesItGone(t *testing.T) {
	b, id, _ := launched(t, stagetest.Options{})
	b.Advance(6 * time.Minute)
	sweep(t, b)
	b.Call("eks:UpdateNodegroupConfig", `{"clusterName":"`+stagetest.Cluster+`","nodegroupName":"`+stagetest.Nodegroup+`","scalingConfig":{"minSize":0,"maxSize":1,"desiredSize":0}}`)
	b.Advance(2 * time.Minute)
	o := sweep(t, b)
	if len(o.Launches) != 1 || o.Launches[0].Status != outcome.Gone || o.Launches[0].EndedWhy == "" {
		t.Errorf("launches %+v, want that it is gone and why", o.Launches)
	}
	if l, _ := b.Launch(id); l.Status != outcome.Gone {
		t.Errorf("record %+v, want gone", l)
	}
}

// TestSweepBlind: what cannot be seen is not gone.
func TestSweepBlind(t *testing.T) {
	b, id, _ := launched(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DescribeInstances", Deny: true}}})
	started := b.Now()
	b.Advance(6 * time.Minute)
	if _, err := b.Store.CreateLaunch(t.Context(), store.LaunchRecord{Launch: outcome.Launch{Instance: id, Subnet: stagetest.Subnet, Started: started, Status: outcome.Waiting}, Cluster: stagetest.Cluster, Due: started.Add(5 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	o := sweep(t, b)
	if !slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool { return f.Call == "ec2:DescribeInstances" && f.Reason == snapshot.Denied }) {
		t.Errorf("blind %+v, want ec2:DescribeInstances", o.Blind)
	}
	if len(o.Launches) != 1 || o.Launches[0].Status != outcome.Missed {
		t.Errorf("launches %+v, want one that is missed, not gone", o.Launches)
	}
	if l, _ := b.Launch(id); l.Status.Final() {
		t.Errorf("record %+v is final", l)
	}
}

// TestSweepThatFails: what keeps a cluster from being looked at is reported.
func TestSweepThatFails(t *testing.T) {
	b := bench(t, stagetest.Options{})
	newer := incident.Incident{Format: report.Format + 1, Key: report.Key{Cluster: "broken", Check: "route/no-egress", Resource: "rtb-1"}, State: incident.Open}
	if _, err := b.Store.SaveIncident(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Handle(b.SweepOf("broken")); err == nil || !strings.Contains(err.Error(), "read the incidents") {
		t.Errorf("error %v, want what could not be read", err)
	}
}

// TestCallsDoNotGrowWithNodes: a large healthy cluster costs what a small one
// does.
func TestCallsDoNotGrowWithNodes(t *testing.T) {
	totals := map[int]string{}
	for _, n := range []int{1, 200} {
		b := bench(t, stagetest.Options{World: "burst-200.yaml", Over: `
timeline: []
ec2:
  RouteTables:
    - RouteTableId: rtb-0cd20000000000002
      Routes:
        - {DestinationCidrBlock: 10.42.0.0/16, GatewayId: local}
        - {DestinationCidrBlock: 0.0.0.0/0, NatGatewayId: nat-0aa40000000000001}
`})
		b.Scale(n)
		b.Advance(unrecorded + 5*time.Minute) // younger ones are asked for their records
		b.Calls()
		if o := sweep(t, b); len(o.Launches) > 0 {
			t.Errorf("%d nodes: launches %+v, want none: all have joined unseen", n, o.Launches[0])
		}
		_, totals[n] = stagetest.Total(b.Calls())
		t.Logf("%d nodes: %s", n, totals[n])
	}
	if totals[1] != totals[200] {
		t.Errorf("one node: %s\n200 nodes: %s", totals[1], totals[200])
	}
}

// TestPodsWaitOnReadyNodes: pods that get no address on a Ready node are reported in a sweep,
// though no launch is in trouble, and read of only then; they are over once they run.
func TestPodsWaitOnReadyNodes(t *testing.T) {
	const pods = `
kubernetes:
  eks-workshop:
    Pods:
      - metadata: {name: web-0, namespace: shop, creationTimestamp: "2026-11-20T14:00:00Z"}
        spec: {nodeName: ip-10-42-101-17.us-west-2.compute.internal, containers: [{name: web}]}
        status: {phase: Pending, conditions: [{type: PodReadyToStartContainers, status: "False"}, {type: PodScheduled, status: "True", lastTransitionTime: "2026-11-20T14:00:00Z"}]}
    Events:
      - {metadata: {name: web-0.1, namespace: shop}, involvedObject: {kind: Pod, namespace: shop, name: web-0}, type: Warning, reason: FailedCreatePodSandBox, message: "failed to assign an IP address to container", lastTimestamp: "2026-11-20T14:44:00Z"}
`
	b := bench(t, stagetest.Options{World: healthy.World, ClusterRole: true, Over: healthy.Over + pods})
	o := sweep(t, b)
	if got := stagetest.Causes(o)[string(checkid.IPPodWithoutAddress)]; got == "" || len(o.Blind) > 0 {
		t.Errorf("because of %v, launches %+v, blind %v", stagetest.Causes(o), o.Launches, o.Blind)
	}
	for _, c := range o.Diagnosis.Causes {
		if c.Check == checkid.IPPodWithoutAddress && (c.Confidence != finding.Symptom || !slices.Equal(c.Instances, []string{"i-0d0000000000000a1"}) || !slices.Equal(c.Pods, []string{"shop/web-0"})) {
			t.Errorf("%s %v of %v", c.Confidence, c.Pods, c.Instances)
		}
	}
	if len(o.Launches) != 1 || o.Launches[0].Status != report.Joined {
		t.Errorf("the node that joined, as a launch: %+v", o.Launches)
	}
	calm := bench(t, stagetest.Options{World: healthy.World, ClusterRole: true, Over: healthy.Over})
	sweep(t, calm)
	if calls := calm.Calls(); calls["kubernetes:list events"] != 1 || calls["kubernetes:list pods"] != 1 {
		t.Errorf("a look at a calm cluster listed events and pods more than once: %v", calls)
	}
}

// TestKarpentersTag: where the function may not read the nodes, Karpenter's tag
// tells who joined, and who did not.
func TestKarpentersTag(t *testing.T) {
	const world = `
timeline: []
ec2:
  Instances:
`
	instance := func(id string, launched, more string) string {
		return fmt.Sprintf("    - {InstanceId: %s, InstanceType: m5.large, SubnetId: subnet-0c30000000000000d, LaunchTime: %s%s}\n", id, launched, more)
	}
	const (
		pool   = "{Key: karpenter.sh/nodepool, Value: gpu}, {Key: eks:eks-cluster-name, Value: eks-workshop}, {Key: kubernetes.io/cluster/eks-workshop, Value: owned}"
		bare   = ", Tags: [" + pool + "]"
		tagged = ", Tags: [" + pool + ", {Key: karpenter.sh/nodeclaim, Value: gpu-x7k2p}]"
		ended  = ", State: {Name: terminated, Code: 48}, StateReason: {Code: Client.UserInitiatedShutdown, Message: 'Client.UserInitiatedShutdown: User initiated shutdown'}, StateTransitionReason: 'User initiated (%s GMT)'"
	)
	over := world +
		instance("i-0a700000000000001", "2026-11-20T14:50:00Z", tagged) +
		instance("i-0a700000000000007", "2026-11-20T12:00:00Z", tagged) + // long a node: it needs no record
		instance("i-0a700000000000002", "2026-11-20T14:50:00Z", bare) +
		instance("i-0a700000000000003", "2026-11-20T14:40:00Z", bare) +
		instance("i-0a700000000000004", "2026-11-20T14:30:00Z", bare+fmt.Sprintf(ended, "2026-11-20 14:44:50")) +
		instance("i-0a700000000000005", "2026-11-20T14:30:00Z", tagged+fmt.Sprintf(ended, "2026-11-20 14:50:00")) +
		instance("i-0a700000000000006", "2026-11-20T14:30:00Z", bare+fmt.Sprintf(ended, "2026-11-20 14:37:00"))
	b := bench(t, stagetest.Options{World: healthy.World, Over: over, Faults: []simaws.FaultRule{{Call: "kubernetes:list nodes", Deny: true}}})
	for id, started := range map[string]string{
		"i-0a700000000000002": "2026-11-20T14:50:00Z", "i-0a700000000000003": "2026-11-20T14:40:00Z", "i-0a700000000000004": "2026-11-20T14:30:00Z",
		"i-0a700000000000005": "2026-11-20T14:30:00Z", "i-0a700000000000006": "2026-11-20T14:30:00Z",
	} {
		at, err := time.Parse(time.RFC3339, started)
		if err != nil {
			t.Fatal(err)
		}
		l := store.LaunchRecord{Launch: outcome.Launch{Instance: id, Started: at, Status: outcome.Waiting}, Cluster: stagetest.Cluster, Due: at.Add(5 * time.Minute)}
		if _, err := b.Store.CreateLaunch(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	o := sweep(t, b)
	stands := map[string]outcome.LaunchStatus{}
	for _, l := range o.Launches {
		stands[l.Instance] = l.Status
		if !l.Ready.IsZero() || (l.Status == outcome.Joined) == l.Tagged.IsZero() {
			t.Errorf("%s: Ready %v, tagged %v; nobody saw a node", l.Instance, l.Ready, l.Tagged)
		}
	}
	for id, want := range map[string]struct {
		stands outcome.LaunchStatus
		end    snapshot.End
		blind  bool
	}{
		"i-0a700000000000001": {outcome.Joined, snapshot.Joined, false},
		"i-0a700000000000002": {outcome.Missed, snapshot.Open, true},
		"i-0a700000000000003": {outcome.Missed, snapshot.Open, false},
		"i-0a700000000000004": {outcome.Gone, snapshot.NotJoined, false},
		"i-0a700000000000005": {outcome.Joined, snapshot.Joined, false},
		"i-0a700000000000006": {outcome.Gone, snapshot.Unclear, false},
	} {
		l, ok := b.Launch(id)
		if stands[id] != want.stands || !ok || l.Status != want.stands || l.End != want.end || (l.Blind != "") != want.blind {
			t.Errorf("%s is reported as %q; its record (%v) %q, end %q (%s), blind %q; want %+v", id, stands[id], ok, l.Status, l.End, l.Why, l.Blind, want)
		}
	}
	if _, recorded := b.Launch("i-0a700000000000007"); recorded || stands["i-0a700000000000007"] != "" {
		t.Errorf("a node of three hours is %q, recorded %v", stands["i-0a700000000000007"], recorded)
	}
	// Who joined is asked for no more.
	b.Advance(5 * time.Minute)
	for _, l := range sweep(t, b).Launches {
		if l.Status == outcome.Joined {
			t.Errorf("%s is called again", l.Instance)
		}
	}
}

// instances are those of the group, ended ones too.
func (s *story) instances() []ec2types.Instance {
	out, err := s.World.Call("ec2:DescribeInstances", json.RawMessage(`{"Filters":[{"Name":"tag:eks:nodegroup-name","Values":["`+stagetest.Nodegroup+`"]}]}`))
	if err != nil {
		s.t.Fatal(err)
	}
	answer, ok := out.(*ec2.DescribeInstancesOutput)
	if !ok {
		s.t.Fatalf("DescribeInstances answered %T", out)
	}
	var list []ec2types.Instance
	for _, r := range answer.Reservations {
		list = append(list, r.Instances...)
	}
	return list
}

func (s *story) why(id string) string {
	for _, in := range s.instances() {
		if *in.InstanceId == id && in.StateReason != nil {
			return aws.ToString(in.StateReason.Code)
		}
	}
	return ""
}

// truth is how a launch ended, as the world knows it.
func (s *story) truth(in ec2types.Instance) snapshot.End {
	id := *in.InstanceId
	lived := s.ended[id].Sub(*in.LaunchTime)
	switch code := s.why(id); {
	case !s.ready[id].IsZero():
		return snapshot.Joined
	case s.ended[id].IsZero() && s.Now().Sub(*in.LaunchTime) > 26*time.Minute:
		return snapshot.NotJoined // given up
	case s.ended[id].IsZero():
		return snapshot.Open // or not recorded: it is too young
	case code == "Server.SpotInstanceTermination" && lived <= outcome.Longest:
		return snapshot.Reclaimed
	case code == "Client.InvalidKMSKey.InvalidState":
		return snapshot.Refused
	case code == "Client.UserInitiatedShutdown" && lived < 5*time.Minute:
		return snapshot.Terminated
	}
	return snapshot.NotJoined
}

func (s *story) judge() {
	history, err := s.Store.History(s.t.Context(), stagetest.Cluster, s.World.Start().Add(-time.Hour))
	if err != nil {
		s.t.Fatal(err)
	}
	got := map[string]snapshot.Past{}
	for _, p := range history {
		if _, twice := got[p.ID]; twice {
			s.t.Errorf("%s is in the history twice", p.ID)
		}
		got[p.ID] = p
	}
	want := map[string]snapshot.End{refusedActivity: snapshot.Refused}
	for _, in := range s.instances() {
		if s.Now().Sub(*in.LaunchTime) < 7*time.Minute {
			delete(got, *in.InstanceId) // the next sweep is still to see it
			continue
		}
		want[*in.InstanceId] = s.truth(in)
	}
	for id, end := range want {
		p, ok := got[id]
		if !ok || p.End != end {
			l, _ := s.Launch(id)
			s.t.Errorf("%s: %s (%s), truly %s; %+v", id, cmp.Or(string(p.End), "open or not recorded"), p.Why, end, l)
		}
		delete(got, id)
	}
	for id, p := range got {
		s.t.Errorf("%s: %s, and there was no such launch", id, p.End)
	}
}

// strangers are instances that no tag names: the user data of the first names
// the cluster, that of the second another one, the third has none.
const unnamedWorld = `
ec2:
  Instances:
    - {InstanceId: i-0aaaaaaaaaaaaaaa1, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.21, LaunchTime: 2026-11-20T14:57:50Z}
    - {InstanceId: i-0aaaaaaaaaaaaaaa2, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.22, LaunchTime: 2026-11-20T14:57:50Z}
    - {InstanceId: i-0aaaaaaaaaaaaaaa3, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.23, LaunchTime: 2026-11-20T14:57:50Z}
  UserData:
    # /etc/eks/bootstrap.sh eks-workshop
    i-0aaaaaaaaaaaaaaa1: IyEvYmluL2Jhc2gKL2V0Yy9la3MvYm9vdHN0cmFwLnNoIGVrcy13b3Jrc2hvcAo=
    # /etc/eks/bootstrap.sh sandbox
    i-0aaaaaaaaaaaaaaa2: IyEvYmluL2Jhc2gKL2V0Yy9la3MvYm9vdHN0cmFwLnNoIHNhbmRib3gK
`

// TestUnnamed: an instance that only its user data calls a node of the cluster
// is called too; those of others are not.
func TestUnnamed(t *testing.T) {
	b := bench(t, stagetest.Options{World: "healthy-nat.yaml", Over: unnamedWorld})
	b.Advance(6 * time.Minute)
	o := sweep(t, b)
	var missed []string
	for _, l := range o.Launches {
		if l.Status == outcome.Missed {
			missed = append(missed, l.Instance)
		}
	}
	if want := []string{"i-0aaaaaaaaaaaaaaa1"}; !slices.Equal(missed, want) {
		t.Errorf("missed roll call: %q, want %q", missed, want)
	}
}

// TestUnnamedBlind: whose instances without tags are could not be asked, and
// that is reported.
func TestUnnamedBlind(t *testing.T) {
	b := bench(t, stagetest.Options{World: "healthy-nat.yaml", Over: unnamedWorld, Faults: []simaws.FaultRule{{Call: "ec2:DescribeInstanceAttribute", Deny: true}}})
	b.Advance(6 * time.Minute)
	o := sweep(t, b)
	if !slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool {
		return f.Call == "ec2:DescribeInstanceAttribute" && f.Reason == snapshot.Denied
	}) {
		t.Errorf("blind %+v, want ec2:DescribeInstanceAttribute", o.Blind)
	}
	strangers := []string{"i-0aaaaaaaaaaaaaaa1", "i-0aaaaaaaaaaaaaaa2", "i-0aaaaaaaaaaaaaaa3"}
	if !slices.ContainsFunc(o.Diagnosis.Unknown, func(u diagnosis.Unknown) bool {
		return u.Check == "node/not-registered" && slices.Equal(u.Covers, strangers)
	}) {
		t.Errorf("unknown %+v, want whether %q are nodes", o.Diagnosis.Unknown, strangers)
	}
}

// TestOpenIncidentsOfInstances: what an open incident is about is looked at
// until it passes, or is gone.
func TestOpenIncidentsOfInstances(t *testing.T) {
	b := bench(t, healthy)
	incident := incident.Incident{
		Format: report.Format, State: incident.Open,
		Key:    report.Key{Cluster: stagetest.Cluster, Check: "instance/user-data", Resource: "lt-0e200000000000001"},
		Covers: []string{"i-0d0000000000000a1", "i-0ffffffffffffffff"},
	}
	if _, err := b.Store.SaveIncident(t.Context(), incident); err != nil {
		t.Fatal(err)
	}
	o := sweep(t, b)
	if want := []string{"i-0ffffffffffffffff"}; !slices.Equal(o.Absent, want) {
		t.Errorf("absent %q, want %q", o.Absent, want)
	}
}

// TestEvidenceOutlivesTheInstance: EC2 forgets where an instance was and what
// it was started with once it is terminated; what keeps it from joining is
// still told of it, from what was recorded while it lived.
func TestEvidenceOutlivesTheInstance(t *testing.T) {
	b, id, _ := launched(t, stagetest.Options{})
	b.Advance(2 * time.Minute)
	sweep(t, b)
	record, ok := b.Launch(id)
	if !ok || record.Machine == nil || record.Machine.VPC == "" || len(record.Machine.Groups) == 0 || record.Machine.Template == "" {
		t.Fatalf("record %+v (%v), want what the instance was started with", record, ok)
	}
	b.Call("ec2:TerminateInstances", `{"InstanceIds":["`+id+`"]}`)
	b.Advance(3 * time.Minute)
	o := sweep(t, b)
	i := slices.IndexFunc(o.Diagnosis.Causes, func(c diagnosis.Cause) bool { return c.Check == "route/no-egress" })
	if i < 0 || !slices.Contains(o.Diagnosis.Causes[i].Instances, id) {
		t.Errorf("causes %+v, want route/no-egress of the instance that is gone", o.Diagnosis.Causes)
	}
}

// TestANodeWhoseInstanceIsNotShown: a Ready node of an instance that EC2 does not
// show (of another account, in a shared VPC) is not well by silence.
func TestANodeWhoseInstanceIsNotShown(t *testing.T) {
	const foreign = "i-0f00000000000f00d"
	b := bench(t, stagetest.Options{World: healthy.World, Over: healthy.Over + `
kubernetes:
  eks-workshop:
    Nodes:
      - metadata: {name: ip-10-42-99-9.us-west-2.compute.internal, creationTimestamp: "2026-11-12T09:14:05Z"}
        spec: {providerID: "aws:///us-west-2a/` + foreign + `"}
        status: {conditions: [{type: Ready, status: "True", reason: KubeletReady}]}
`})
	o := sweep(t, b)
	i := slices.IndexFunc(o.Diagnosis.Unknown, func(u diagnosis.Unknown) bool { return slices.Contains(u.Covers, foreign) })
	if i < 0 || len(o.Diagnosis.Unknown[i].Blocked) != 1 || o.Diagnosis.Unknown[i].Blocked[0].Reason != snapshot.NotShown || o.Diagnosis.Unknown[i].Check != "node/not-registered" {
		t.Fatalf("unknown %+v, want that %s is not shown", o.Diagnosis.Unknown, foreign)
	}
	if len(stagetest.Causes(o)) > 0 || len(o.Blind) > 0 {
		t.Errorf("causes %v, blind %+v", stagetest.Causes(o), o.Blind)
	}
}

// TestANodeClaimWhoseInstanceIsNotShown: so is a NodeClaim that launched an instance past
// the join time ago. One that has just launched its instance, or is being deleted, is not
// reported.
func TestANodeClaimWhoseInstanceIsNotShown(t *testing.T) {
	for name, tt := range map[string]struct {
		launched, more string
		want           bool
	}{
		"launched long ago": {"2026-11-20T14:40:00Z", "", true},
		"just launched":     {"2026-11-20T15:08:00Z", "", false},
		"being deleted":     {"2026-11-20T14:40:00Z", `, deletionTimestamp: "2026-11-20T15:07:00Z"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := bench(t, stagetest.Options{World: healthy.World, ClusterRole: true, Over: healthy.Over + `
kubernetes:
  eks-workshop:
    NodePools:
      - metadata: {name: general}
        spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}
    NodeClaims:
      - metadata: {name: general-x7k2p, labels: {karpenter.sh/nodepool: general}, creationTimestamp: "` + tt.launched + `"` + tt.more + `}
        spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}
        status:
          providerID: aws:///us-west-2a/i-0f00000000000f00d
          conditions: [{type: Launched, status: "True", reason: Launched, lastTransitionTime: "` + tt.launched + `"}]
`})
			o := sweep(t, b)
			unseen := slices.ContainsFunc(o.Diagnosis.Unknown, func(u diagnosis.Unknown) bool {
				return u.Check == "node/not-registered" && slices.Contains(u.Covers, "i-0f00000000000f00d") && u.Blocked[0].Reason == snapshot.NotShown
			})
			if unseen != tt.want {
				t.Errorf("unknown %+v, want %v that the instance is not shown", o.Diagnosis.Unknown, tt.want)
			}
		})
	}
}

// TestWanted: who wants a cause to be looked at gets a sweep of that cluster
// now, and of no other.
func TestWanted(t *testing.T) {
	b, id, _ := launched(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLUSTERS": stagetest.Cluster}})
	b.Advance(6 * time.Minute)
	if _, err := b.Handle(b.Wanted(stagetest.Cluster, "route/no-egress", stagetest.Table)); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	if !o.Sweep || len(o.Launches) != 1 || o.Launches[0].Instance != id || stagetest.Causes(o)["route/no-egress"] != stagetest.Table {
		t.Errorf("sweep %v, launches %+v because of %v", o.Sweep, o.Launches, stagetest.Causes(o))
	}
	if _, err := b.Handle(b.Wanted("somebody-else", "route/no-egress", stagetest.Table)); err != nil {
		t.Fatal(err)
	}
	if got := b.Counts()["ForeignClusters"]; got != 1 {
		t.Errorf("%d foreign clusters, want 1", got)
	}
	if n := len(b.Observations()); n != 0 {
		t.Errorf("%d observations of a cluster that is not watched", n)
	}
}
