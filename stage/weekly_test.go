package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/checks/finding"
	"rollcall/shared/config"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/queue"
	"rollcall/stage/platform/router"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/testfull"
)

// The week of these tests, which is posted on Friday at 16:00: the stage begins an hour before.
var (
	weekEnds   = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	weekBegins = weekEnds.AddDate(0, 0, -7)
)

// tellWeek starts a stage of two accounts that have the records of a week, and lets it go on
// until after the message is due. The records are written as sweep and the detectors write
// them; the hour in between, the schedule, the queue and Slack are the stage's own.
func tellWeek(t *testing.T, write func(of spoke.ID, s *store.Store)) *running {
	t.Helper()
	r, _ := tellWeekTo(t, "", write)
	return r
}

// tellWeekTo is tellWeek with targets besides Slack, if any.
func tellWeekTo(t *testing.T, setting string, write func(of spoke.ID, s *store.Store)) (*running, targets) {
	t.Helper()
	two := watching(nil)
	var all targets
	r := start(t, "route", func(o *Options) {
		if setting != "" {
			all = withTargets(t, o)
			o.Settings[string(config.Targets)] = setting
		}
		own := o.Settings
		two(o)
		maps.Copy(o.Settings, own)
		o.Settings["ROLLCALL_WEEKLY"] = "Fri/16:00"
	})
	table := store.New(r.Table.Client(), r.Template.Tables[0].Name).WithClock(r.Clock.Now)
	for _, id := range []spoke.ID{{}, payments} {
		write(id, table.ForSpoke(id))
	}
	r.pass(2*time.Hour + 5*time.Minute)
	return r, all
}

// lookAt writes the turns of the workshop's cluster from before the week to now, but in a gap.
func lookAt(t *testing.T, s *store.Store, gap overview.Gap) {
	t.Helper()
	record := overview.Sweep{Cluster: "eks-workshop"}
	for at := weekBegins.Add(2 * time.Minute); at.Before(time.Date(2026, 11, 20, 15, 1, 0, 0, time.UTC)); at = at.Add(5 * time.Minute) {
		if !at.After(gap.From) || !at.Before(gap.To) {
			record = record.After(overview.ClusterSweep{At: at})
		}
	}
	if err := s.SaveSweep(t.Context(), record); err != nil {
		t.Fatal(err)
	}
}

// launched writes launches of the week that became Ready nodes, or did not join.
func launched(t *testing.T, s *store.Store, of string, n int, joins bool) {
	t.Helper()
	for i := range n {
		l := store.LaunchRecord{Cluster: "eks-workshop"}
		l.Instance, l.Started = fmt.Sprintf("i-%s%04d", of, i), weekBegins.Add(time.Duration(i+1)*time.Hour)
		if _, err := s.CreateLaunch(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		read, err := s.GetLaunches(t.Context(), []string{l.Instance})
		if err != nil {
			t.Fatal(err)
		}
		l = read[l.Instance]
		if joins {
			l.Registered, l.Ready, l.End = l.Started.Add(50*time.Second), l.Started.Add(62*time.Second), snapshot.Joined
		} else {
			l.Missed, l.Root, l.GaveUp = l.Started.Add(5*time.Minute), "route/no-egress", l.Started.Add(2*time.Hour)
			l.End, l.Cause = snapshot.NotJoined, "route/no-egress"
		}
		if err := s.SaveLaunch(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
}

// weeks are the channel's messages of a week.
func (r *running) weeks() (list []string) {
	for _, m := range r.messages() {
		if text := whole(m); strings.Contains(text, "Week of ") {
			list = append(list, text)
		}
	}
	return list
}

// theWeek is the one message of the week, which has all the words.
func (r *running) theWeek(words ...string) {
	r.t.Helper()
	list := r.weeks()
	if len(list) != 1 {
		r.t.Fatalf("%d messages of the week, want one: %q", len(list), list)
	}
	for _, w := range words {
		if !strings.Contains(list[0], w) {
			r.t.Errorf("the message does not say %q:\n%s", w, list[0])
		}
	}
}

// TestQuietWeek: a week in two accounts in which all joined is posted as one, with the proof that
// it was looked at; and once, however often the schedule fires.
func TestQuietWeek(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := tellWeek(t, func(of spoke.ID, s *store.Store) {
			lookAt(t, s, overview.Gap{})
			launched(t, s, map[bool]string{true: "a", false: "b"}[of.Hub()], 20, true)
		})
		r.theWeek("Week of 13 Nov: 40 of 40 launches joined; no incidents", "half within 62 s", "4,032 in 2 clusters", "never more than 12 min apart", "Nothing to do.")
		// EventBridge may run a target twice (user guide, "Retry policy and using DLQs": at
		// least once), Lambda an event again, and two at once.
		f, _ := r.Function("spot-report")
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := r.Runtime.Invoke(context.Background(), f.Name, []byte(r.sweep())); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		r.pass(65 * time.Minute)
		r.theWeek()
		r.nothingLost()
	})
}

// TestBadWeek: what did not join, what is open and for how long, worst first and linked.
func TestBadWeek(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := tellWeek(t, func(of spoke.ID, s *store.Store) {
			lookAt(t, s, overview.Gap{})
			if of.Hub() {
				launched(t, s, "a", 30, true)
				return
			}
			launched(t, s, "b", 9, false)
			open := incident.Incident{
				Key: report.Key{Spoke: of, Cluster: "eks-workshop", Check: "route/no-egress", Resource: table}, State: incident.Open, Number: 1, Account: of.Account, Region: of.Region,
				Opened: weekBegins.Add(20 * time.Hour), Began: weekBegins.Add(20 * time.Hour), Seen: weekEnds, Affected: 9, Covers: []string{"subnet-0c30000000000000d"},
				Cause:    diagnosis.Cause{Check: "route/no-egress", Confidence: "certain", Resource: table, Title: "subnet-0c30000000000000d has no route to the internet"},
				Delivery: incident.Delivery{Channel: Channel, TS: "1794600000.000100"},
			}
			over := open
			over.Key.Resource, over.State, over.Resolution = "rtb-0bbbbbbbbbbbbbbbb", incident.Closed, incident.Proved
			over.Resolved, over.Cause.Title = over.Opened.Add(3*time.Hour), "subnet-0bbbbbbbbbbbbbbbb has no route to the internet"
			for _, inc := range []incident.Incident{open, over} {
				if _, err := s.SaveIncident(t.Context(), inc); err != nil {
					t.Fatal(err)
				}
			}
		})
		r.theWeek("Week of 13 Nov: 30 of 39 launches joined; 2 incidents, 1 open", "9 did not join: route/no-egress 9", "payments", "no route to the internet",
			"open for 3 h", "/archives/"+Channel+"/p1794600000000100", "Fix ")
		text := r.weeks()[0]
		if open, over := strings.Index(text, "subnet-0c30000000000000d"), strings.Index(text, "subnet-0bbbbbbbbbbbbbbbb"); open > over {
			t.Error("what is over stands before what is open")
		}
		r.nothingLost()
	})
}

// TestWeekToTargets: mail, Teams and the webhook get the week once each, in the same words, and
// PagerDuty and a target for incidents nothing, however often the schedule fires.
func TestWeekToTargets(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r, all := tellWeekTo(t, "sns,pagerduty=rollcall/pagerduty,teams=rollcall/teams,webhook=rollcall/webhook", func(of spoke.ID, s *store.Store) {
			lookAt(t, s, overview.Gap{})
			launched(t, s, map[bool]string{true: "a", false: "b"}[of.Hub()], 20, true)
		})
		f, _ := r.Function("spot-report")
		for range 3 {
			if _, err := r.Runtime.Invoke(context.Background(), f.Name, []byte(r.sweep())); err != nil {
				t.Error(err)
			}
		}
		r.pass(65 * time.Minute)
		const result = "Week of 13 Nov: 40 of 40 launches joined; no incidents"
		r.theWeek(result)
		mails, cards, kinds := r.Cloud.Mails(), all.teams.Cards(), 0
		if len(mails) != 1 || mails[0].Subject != "Rollcall: "+result || !strings.Contains(mails[0].Message, "Next: Nothing to do.") ||
			!strings.Contains(mails[0].Message, "4,032 in 2 clusters") {
			t.Errorf("mails %+v", mails)
		}
		if len(cards) != 1 || cards[0].Lines[0] != "Rollcall · "+result || !strings.Contains(strings.Join(cards[0].Lines, "\n"), "4,032 in 2 clusters") {
			t.Errorf("cards %+v", cards)
		}
		told, repeats := all.kinds(t)
		for _, kind := range told {
			if kind == "Weekly Report" {
				kinds++
			}
		}
		if kinds != 1 || repeats > 0 || all.pagerduty.Requests() > 0 {
			t.Errorf("the webhook got %q, %d repeats; PagerDuty was asked %d times", told, repeats, all.pagerduty.Requests())
		}
		r.nothingLost()
	})
}

// TestWeekWithoutSweeps: nothing is wrong in what was seen, and a day was not seen at all:
// that is the result, and never a quiet week.
func TestWeekWithoutSweeps(t *testing.T) {
	virtual(t, func(t *testing.T) {
		out := overview.Gap{From: weekBegins.Add(30 * time.Hour), To: weekBegins.Add(62 * time.Hour)}
		r := tellWeek(t, func(of spoke.ID, s *store.Store) { lookAt(t, s, out) })
		r.theWeek("⚪ Week of 13 Nov: no launches; no incident seen; nothing checked for 32 h", "No cluster was checked", "sweeps did not run", "rollcall doctor")
		if text := r.weeks()[0]; strings.Contains(text, "never more than") || strings.Contains(text, "Nothing to do") {
			t.Errorf("it says that all was looked at:\n%s", text)
		}
	})
}

// TestNoWeekBefore: a stack that was made this afternoon says nothing of the week before it.
func TestNoWeekBefore(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := tellWeek(t, func(spoke.ID, *store.Store) {})
		if list := r.weeks(); len(list) > 0 {
			t.Errorf("it has a week in which it was not there: %q", list)
		}
	})
}

// send puts a message into a queue, by its deployed name.
func (r *running) send(name string, m queue.Outgoing) {
	r.t.Helper()
	for _, q := range r.Template.Queues {
		if q.Name == name {
			if _, err := r.Queues.Send(q.ARN, m); err != nil {
				r.t.Fatal(err)
			}
			return
		}
	}
	r.t.Fatalf("no queue %s", name)
}

// logged reports whether a line of the functions' logs holds all of the texts.
func (r *running) logged(texts ...string) func() bool {
	return func() bool {
	lines:
		for line := range strings.Lines(r.out.String()) {
			for _, text := range texts {
				if !strings.Contains(line, text) {
					continue lines
				}
			}
			return true
		}
		return false
	}
}

func TestMalformedMessagesEndInTheDeadLetterQueue(t *testing.T) {
	virtual(t, malformedMessagesEndInTheDeadLetterQueue)
}

func malformedMessagesEndInTheDeadLetterQueue(t *testing.T) {
	r := start(t, "route")
	for queueName, bodies := range map[string][]string{
		"rollcall-launches": {"hello", `{"source":"aws.ec2","detail-type":"EC2 Instance State-change Notification","time":"2026-11-20T15:00:00Z","detail":{}}`},
		"rollcall-joins":    {`{"half": `},
	} {
		for _, body := range bodies {
			r.send(queueName, queue.Outgoing{Body: body})
		}
	}
	r.send("rollcall-results.fifo", queue.Outgoing{Body: `{"format":99,"cluster":"eks-workshop"}`, Group: "eks-workshop", Dedup: "newer"})
	r.send("rollcall-results.fifo", queue.Outgoing{Body: `nonsense`, Group: "eks-workshop", Dedup: "nonsense"})
	r.until("all are in dead-letter queues", func() bool {
		return r.queued("rollcall-launches-dead") == 2 && r.queued("rollcall-joins-dead") == 1 && r.queued("rollcall-results-dead.fifo") == 2
	})
	for _, text := range []string{"message cannot be read", "instance-id is missing", "the envelope"} {
		if !r.logged(`"level":"ERROR"`, text)() {
			t.Errorf("no error line says %q", text)
		}
	}
	if n := len(r.messages()); n > 0 {
		t.Errorf("%d messages in Slack", n)
	}
}

func TestForeignInstancesAreIgnoredAndCounted(t *testing.T) {
	virtual(t, foreignInstancesAreIgnoredAndCounted)
}

func foreignInstancesAreIgnoredAndCounted(t *testing.T) {
	r := start(t, "route", func(o *Options) { o.Settings = map[string]string{"ROLLCALL_CLUSTERS": "another"} })
	r.scale(1, 1)
	r.until("the launch is counted", r.logged(`"msg":"done"`, `"ForeignInstances":1`))
	r.until("the unknown cluster is named", r.logged("EKS does not have", `"another"`))
	r.pass(10 * time.Minute)
	if n := len(r.messages()); n > 0 {
		t.Errorf("%d messages in Slack about a cluster that is not watched", n)
	}
	r.nothingLost()
}

func TestMissingSettingLosesNothing(t *testing.T) { virtual(t, missingSettingLosesNothing) }

func missingSettingLosesNothing(t *testing.T) {
	r := start(t, "route", func(o *Options) { o.Settings = map[string]string{"ROLLCALL_RESULT_QUEUE_URL": ""} })
	r.scale(1, 1)
	r.until("the setting is named", r.logged(`"level":"ERROR"`, "ROLLCALL_RESULT_QUEUE_URL", "is not set"))
	r.until("the events wait in dead-letter queues", func() bool {
		return r.queued("rollcall-launches-dead") > 0 && r.queued("rollcall-joins-dead") > 0
	})
}

func TestWrongSlackTokenLosesNothing(t *testing.T) { virtual(t, wrongSlackTokenLosesNothing) }

func wrongSlackTokenLosesNothing(t *testing.T) {
	wrong := "xoxb-another-token"
	r := start(t, "route", func(o *Options) { o.SlackToken = &wrong })
	r.scale(1, 1)
	r.until("the refusal is logged", r.logged(`"level":"ERROR"`, "invalid_auth"))
	if strings.Contains(r.out.String(), wrong) {
		t.Error("the token is in the logs")
	}
	r.until("the incident is kept", func() bool {
		i := r.incidents()
		return len(i) == 1 && i[0].Delivery.TS == ""
	})
	secret, _ := r.SecretFor(config.SlackSecretARN)
	r.Cloud.SetSecret(secret.Name, SlackToken)
	r.until("it is said once the token is right", r.hasMessage("cannot join", table))
}

func TestSlackDownIsSaidLater(t *testing.T) { virtual(t, slackDownIsSaidLater) }

func slackDownIsSaidLater(t *testing.T) {
	r := start(t, "route")
	if err := r.Slack.Inject(fakeslack.Fault{Method: "chat.*", Status: 503, For: 20 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	r.scale(1, 1)
	r.until("the incident is kept", func() bool { return len(r.incidents()) == 1 })
	r.until("it is said when Slack is back", r.hasMessage("cannot join", table))
	if len(r.messages()) != 1 {
		t.Errorf("%d messages, want 1", len(r.messages()))
	}
	r.nothingLost()
}

// TestUnreachableKubernetesIsSaid holds that a cluster whose API does not
// answer is neither fine nor a reason to accuse its nodes.
func TestUnreachableKubernetesIsSaid(t *testing.T) { virtual(t, unreachableKubernetesIsSaid) }

func unreachableKubernetesIsSaid(t *testing.T) {
	r := start(t, "healthy-nat", func(o *Options) {
		o.CallFaults = []simaws.FaultRule{{Call: "kubernetes:list nodes", Reset: true}}
	})
	r.until("it is logged", r.logged(`"level":"WARN"`, "could not read", "kubernetes: list nodes"))
	r.until("it is said", func() bool {
		return len(r.messages()) > 0 && strings.Contains(whole(r.messages()[0]), "its Kubernetes API cannot be reached")
	})
	for _, m := range r.messages() {
		if strings.Contains(m.Text, "✅") || strings.Contains(m.Text, "has not registered") {
			t.Errorf("said of nodes that could not be read: %s", m.Text)
		}
	}
}

func TestThrottledCallsAreTriedAgain(t *testing.T) { virtual(t, throttledCallsAreTriedAgain) }

func throttledCallsAreTriedAgain(t *testing.T) {
	r := start(t, "route", func(o *Options) {
		o.CallFaults = []simaws.FaultRule{{Call: "ec2:*", Throttle: 0.2}, {Call: "autoscaling:*", Throttle: 0.2}, {Call: "dynamodb:*", Fail: 0.05}}
	})
	r.scale(1, 1)
	r.until("the missed roll call", r.hasMessage("1 instance cannot join", table))
	r.nothingLost()
}

func TestTableAtItsLimitLosesNothing(t *testing.T) { virtual(t, tableAtItsLimitLosesNothing) }

func tableAtItsLimitLosesNothing(t *testing.T) {
	// Some tries of each message, six minutes apart, and fewer than the five after
	// which it is given up.
	r := start(t, "route", func(o *Options) {
		o.CallFaults = []simaws.FaultRule{{Call: "dynamodb:PutItem", Throttle: 1, Until: time.Date(2026, 11, 20, 15, 12, 0, 0, time.UTC)}}
	})
	r.scale(1, 1)
	r.until("it is logged", r.logged(`"level":"ERROR"`, "dynamodb"))
	r.until("it is said when the table takes writes again", r.hasMessage("cannot join", table))
}

// TestKilledFunctionIsStartedAgain has real programs: it kills processes, and is the route story with what is deployed.
func TestKilledFunctionIsStartedAgain(t *testing.T) {
	t.Parallel()
	r := startReal(t, "route")
	r.scale(1, 1)
	r.until("the message at launch", r.hasMessage("will not be able to join"))
	r.Runtime.Kill("rollcall-report")
	r.Runtime.Kill("rollcall-join-check")
	r.until("the missed roll call", r.hasMessage("1 instance cannot join"))
	r.nothingLost()
}

// uncertain loses, doubles, delays and reorders events, as EventBridge's "best
// effort" allows, and worse: a fifth is lost.
func uncertain(seed uint64) func(router.Event) router.Fault {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 5))
	return func(e router.Event) router.Fault {
		mu.Lock()
		defer mu.Unlock()
		f := router.Fault{Lose: r.IntN(5) == 0, Reorder: r.IntN(5) == 0}
		if r.IntN(10) == 0 {
			f.Copies = 1
		}
		if r.IntN(4) == 0 {
			f.Delay = time.Duration(r.IntN(180)) * time.Second
		}
		// The schedules are Rollcall's own clock, and not lost.
		if e.Source == "aws.scheduler" || e.Source == "aws.events" {
			return router.Fault{}
		}
		return f
	}
}

// truth is what the world did.
type truth struct {
	ready   map[string]bool      // instances that were Ready nodes
	ended   map[string]time.Time // when an instance began to end
	refused map[string]time.Time // scaling activities that came to nothing
}

// TestEveryLaunchHasOneTrueEnd plays all that can become of launches on the
// running stage, with events that are lost and doubled, late and out of order.
// Each launch and each refused activity has one record, with the end that the
// world knows, and no incident stays open that is not true.
func TestEveryLaunchHasOneTrueEnd(t *testing.T) { virtual(t, everyLaunchHasOneTrueEnd) }

func everyLaunchHasOneTrueEnd(t *testing.T) {
	r := start(t, "route", func(o *Options) {
		o.World, o.EventFaults = "testdata/truth.yaml", uncertain(1)
		o.Settings = map[string]string{"ROLLCALL_GIVE_UP": "20m"}
	})
	began := r.World.Start()
	tr := truth{ready: map[string]bool{}, ended: map[string]time.Time{}, refused: map[string]time.Time{}}
	for r.Clock.Now().Before(began.Add(32 * time.Minute)) {
		r.pass(2 * time.Second)
		tr.nodes(r)
	}
	tr.events(r)
	history, err := store.New(r.Table.Client(), r.Template.Tables[0].Name).WithClock(r.Clock.Now).History(t.Context(), "eks-workshop", began)
	if err != nil {
		t.Fatal(err)
	}
	tr.judge(r, history)
	r.nothingLost()
	for _, i := range r.incidents() {
		if i.State != incident.Closed && !stands(i) {
			t.Errorf("an incident is still open that is not true: %s on %s, %s", i.Key.Check, i.Key.Resource, i.Cause.Title)
		}
	}
}

// stands reports whether an incident is true at the end: the third zone has no way
// out, there is too little of a type, and EC2 took instances back.
func stands(i incident.Incident) bool {
	switch i.Key.Check {
	case "route/no-egress":
		return i.Key.Resource == "rtb-0cd20000000000003"
	case "launch/insufficient-capacity":
		return strings.Contains(strings.Join(i.Covers, " "), "small-a")
	case "spot/reclaimed-before-join":
		return true
	}
	return false
}

// honest reports whether an end may be recorded of a launch. It is the true one, but for
// an instance that was never seen while it lived: where all events of its launch are
// lost and it ends between two sweeps, EC2 has forgotten its private name, and
// which of the nodes that came and went meanwhile it was is unknown.
func honest(truly snapshot.End, p snapshot.Past) bool {
	unseen := p.Template.ID == ""
	return p.End == truly || unseen && p.End == snapshot.Unclear && (truly == snapshot.Joined || truly == snapshot.Reclaimed)
}

func (tr truth) nodes(r *running) {
	list, err := r.World.Kubernetes("eks-workshop", "nodes")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, raw := range list.Items {
		var n struct {
			Spec   struct{ ProviderID string }
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if err := json.Unmarshal(raw, &n); err != nil {
			r.t.Fatal(err)
		}
		for _, c := range n.Status.Conditions {
			if c.Type == "Ready" && c.Status == "True" {
				tr.ready[n.Spec.ProviderID[strings.LastIndex(n.Spec.ProviderID, "/")+1:]] = true
			}
		}
	}
}

// events takes in what the services told, whatever became of it on the way.
func (tr truth) events(r *running) {
	for _, p := range r.Events() {
		var e struct {
			Type   string `json:"detail-type"`
			Time   time.Time
			Detail struct {
				Instance string `json:"instance-id"`
				State    string
				Activity string `json:"ActivityId"`
				Of       string `json:"EC2InstanceId"`
			}
		}
		if json.Unmarshal(p.Event, &e) != nil {
			continue
		}
		switch {
		case e.Type == "EC2 Instance State-change Notification" && e.Detail.State == "shutting-down":
			tr.ended[e.Detail.Instance] = e.Time
		case e.Type == "EC2 Instance Launch Unsuccessful" && e.Detail.Of == "":
			tr.refused[e.Detail.Activity] = e.Time
		}
	}
}

// end is how a launch ended, as the world knows it.
func (tr truth) end(in types.Instance, now time.Time) snapshot.End {
	id := aws.ToString(in.InstanceId)
	ended, over := tr.ended[id]
	lived := ended.Sub(*in.LaunchTime)
	switch {
	case tr.ready[id]:
		return snapshot.Joined
	case !over && now.Sub(*in.LaunchTime) > 26*time.Minute:
		return snapshot.NotJoined // given up
	case !over:
		return snapshot.Open
	case aws.ToString(in.StateReason.Code) == "Server.SpotInstanceTermination" && lived <= outcome.Longest:
		return snapshot.Reclaimed
	case lived < 5*time.Minute:
		return snapshot.Terminated
	}
	return snapshot.NotJoined
}

// settled is how long a launch may have no record, or a true one that is not
// the last: its event was lost, and the next sweep is to see it.
const settled = 7 * time.Minute

func (tr truth) judge(r *running, history []snapshot.Past) {
	r.t.Helper()
	told := map[string]snapshot.Past{}
	for _, p := range history {
		if _, twice := told[p.ID]; twice {
			r.t.Errorf("%s is in the history twice", p.ID)
		}
		told[p.ID] = p
	}
	now := r.Clock.Now()
	counts := map[snapshot.End]int{}
	hold := func(id string, truly snapshot.End, last time.Time) {
		p, recorded := told[id]
		delete(told, id)
		if now.Sub(last) < settled && (!recorded || p.End == snapshot.Open) {
			return
		}
		counts[truly]++
		if !recorded || !honest(truly, p) {
			r.t.Errorf("%s: %q (%s, recorded: %v), truly %q: %+v", id, p.End, p.Why, recorded, truly, p)
		}
		if p.Lost && p.End == snapshot.Joined && !strings.Contains(fmt.Sprint(p), "us-west-2b") {
			r.t.Errorf("%s was scaled in, and counts as lost: %+v", id, p)
		}
	}
	out, err := r.World.EC2().DescribeInstances(&ec2.DescribeInstancesInput{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, reservation := range out.Reservations {
		for _, in := range reservation.Instances {
			if in.LaunchTime.Before(r.World.Start()) {
				continue
			}
			last := *in.LaunchTime
			if at, over := tr.ended[*in.InstanceId]; over {
				last = at
			}
			hold(*in.InstanceId, tr.end(in, now), last)
		}
	}
	for id, at := range tr.refused {
		hold(id, snapshot.Refused, at)
	}
	for id, p := range told {
		r.t.Errorf("%s: %q, and there was no such launch", id, p.End)
	}
	r.t.Logf("%v", counts)
	for _, end := range []snapshot.End{snapshot.Joined, snapshot.NotJoined, snapshot.Reclaimed, snapshot.Terminated, snapshot.Refused} {
		if counts[end] == 0 {
			r.t.Errorf("no launch was %s: the world does not show what it is for", end)
		}
	}
}

// TestWorlds plays every world through the deployed machinery and holds what
// is said in Slack against what the world expects.
func TestWorlds(t *testing.T) {
	files, err := filepath.Glob("worlds/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 15 {
		t.Fatalf("%d worlds, want at least 15", len(files))
	}
	for n, file := range files {
		if n%testfull.Count(1, 2) != 0 { // each is one of the corpus, too, which go run ./tools/bench/corpus holds against its causes
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, inTime(func(t *testing.T) {
			for _, cause := range aheadOfChecks(t, file) {
				t.Skipf("there is no check %s yet", cause)
			}
			r := start(t, name)
			if name == "route" {
				r.scale(1, 1)
			}
			expect := r.World.Expect()
			if len(expect.Incidents) > 0 {
				r.until("the first expected incident is said", func() bool { return len(said(r)) > 0 })
			}
			// Long enough for the roll call and a sweep after it.
			r.pass(12 * time.Minute)
			got := said(r)
			want := map[string]bool{}
			for _, i := range expect.Incidents {
				want[i.Cause] = true
				for _, or := range i.Or {
					want[or] = true
				}
			}
			if len(got) == 0 && len(want) == 0 {
				return
			}
			var causes []string
			for _, c := range got {
				causes = append(causes, string(c.Check)+" on "+c.Resource)
			}
			if len(got) == 0 || !want[string(got[0].Check)] {
				t.Fatalf("said %q, want %v first", causes, expect.Incidents)
			}
			for _, c := range got {
				if !want[string(c.Check)] && c.Confidence != finding.Advice {
					t.Errorf("said %s on %s, which the world does not have", c.Check, c.Resource)
				}
			}
			for _, i := range expect.Incidents {
				if diff := missing(got, i); diff != "" {
					t.Errorf("%s: %s", i.Cause, diff)
				}
			}
		}))
	}
}

// aheadOfChecks are the causes among Spot's that a world expects and no check
// can name yet.
func aheadOfChecks(t *testing.T, file string) []string {
	f, err := worldfile.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, c := range checks.All() {
		known[string(c.ID)] = true
	}
	var ahead []string
	for _, i := range f.Expect.Incidents {
		if strings.HasPrefix(i.Cause, "spot/") && !known[i.Cause] {
			ahead = append(ahead, i.Cause)
		}
	}
	return ahead
}

// said are the causes of the incidents that stand in Slack, in the order in
// which they were opened; each must be one message.
func said(r *running) []diagnosis.Cause {
	r.t.Helper()
	var list []diagnosis.Cause
	messages := map[string]bool{}
	for _, m := range r.messages() {
		messages[m.TS] = true
	}
	for _, i := range r.incidents() {
		if i.Delivery.TS != "" && messages[i.Delivery.TS] {
			list = append(list, i.Cause)
		}
	}
	return list
}

// missing says which of the expected resources the incident does not name.
func missing(got []diagnosis.Cause, want worldfile.ExpectedIncident) string {
	for _, c := range got {
		if string(c.Check) != want.Cause && !slices.Contains(want.Or, string(c.Check)) {
			continue
		}
		named := map[string]bool{c.Resource: true}
		for _, id := range append(c.Covers, c.Resources...) {
			named[id] = true
		}
		for _, id := range want.Resources {
			if !named[id] {
				return "does not name " + id + ", but " + cmp.Diff(nil, c.Resources)
			}
		}
		return ""
	}
	return "not said"
}

// TestHealthyWorldsJoin holds that silence in the healthy worlds is the
// silence of nodes that joined, not of a stage on which nothing happened.
func TestHealthyWorldsJoin(t *testing.T) {
	for _, name := range []string{"healthy-nat", "healthy-igw", "healthy-endpoints", "healthy-main-table"} {
		t.Run(name, inTime(func(t *testing.T) {
			r := start(t, name)
			r.until("a launch is recorded as joined", func() bool { return strings.Contains(r.out.String(), `"Joined":1`) })
			if n := len(r.messages()); n > 0 {
				t.Errorf("%d messages in a healthy world: %s", n, whole(r.messages()[0]))
			}
			for _, i := range r.incidents() {
				if i.State != incident.Closed {
					t.Errorf("incident %v is %s", i.Key, i.State)
				}
			}
		}))
	}
}
