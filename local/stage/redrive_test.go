package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/infra/deadletters"
	"rollcall/local/platform/queue"
	"rollcall/local/platform/router"
	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/remedy/action"
	"rollcall/shared/report"
)

const (
	results     = "rollcall-results.fifo"
	resultsDead = "rollcall-results-dead.fifo"
)

// letters keeps the messages to report, in order.
type letters struct {
	mu   sync.Mutex
	list []string
}

func (l *letters) keep(o *Options) {
	o.Sent = func(queue, body string) {
		if strings.HasSuffix(queue, results) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.list = append(l.list, body)
		}
	}
}

func (l *letters) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// of are those of a kind.
func (l *letters) of(kind string) []string {
	return slices.DeleteFunc(l.all(), func(body string) bool { return kindOf(body) != kind })
}

// kindOf is the kind of a message to report; "" for an observation.
func kindOf(body string) string {
	if !strings.Contains(body, `"kind"`) && !strings.Contains(body, `"Kind"`) {
		return "" // the many observations are not read for it
	}
	var m struct{ Kind string }
	_ = json.Unmarshal([]byte(body), &m) // what is none has no kind
	return m.Kind
}

// lose takes a function's table away from it: it fails on whatever it gets.
func (r *running) lose(function string) { r.table(function, "no-such-table") }

// mend gives it back.
func (r *running) mend(function string) { r.table(function, r.Template.Tables[0].Name) }

func (r *running) table(function, name string) {
	r.t.Helper()
	f, _ := r.Function(function)
	env := maps.Clone(r.environment(f))
	env[string(config.TableName)] = name
	if err := r.Runtime.Configure(f.Name, env); err != nil {
		r.t.Fatal(err)
	}
}

// givenUp takes report's table away, does something of which report is to be told
// by messages of a kind, and gives the table back when the last of them is given
// up. What came after them is done then.
func (r *running) givenUp(got *letters, kind string, do func()) {
	r.t.Helper()
	r.settled()
	r.lose("report")
	before := len(got.all())
	do()
	r.until("it is given up", func() bool {
		// The queue keeps their order.
		list := got.all()[before:]
		last := len(list)
		for ; last > 0 && kindOf(list[last-1]) != kind; last-- {
		}
		return last > 0 && r.queued(resultsDead) >= last
	})
	r.mend("report")
	r.settled()
}

// settled waits until report has nothing to do.
func (r *running) settled() {
	r.t.Helper()
	r.until("report has nothing to do", func() bool { return r.queued(results) == 0 })
}

// redrive does what make redrive MOVE=1 does, and waits until report has read it all.
func (r *running) redrive() {
	r.t.Helper()
	client := sqs.NewFromConfig(r.AsAdmin())
	list, err := deadletters.Find(r.t.Context(), client, "rollcall")
	if err != nil {
		r.t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(l deadletters.Letters) bool { return l.Queue == resultsDead && l.Source == results })
	if i < 0 {
		r.t.Fatalf("dead letters %+v, want some of %s", list, results)
	}
	moved, err := deadletters.Move(r.t.Context(), client, list[i], func(_ context.Context, d time.Duration) error { r.pass(d); return nil })
	if err != nil || moved != list[i].Messages {
		r.t.Fatalf("%d of %d moved: %v", moved, list[i].Messages, err)
	}
	r.settled()
	if n := r.queued(resultsDead); n > 0 {
		r.t.Errorf("%d are given up again", n)
	}
}

// copies puts messages into report's dead-letter queue, as if report had done what
// they say, and could not tell SQS.
func (r *running) copies(bodies ...string) {
	r.t.Helper()
	for i, body := range bodies {
		r.send(resultsDead, queue.Outgoing{Body: body, Group: "eks-workshop", Dedup: fmt.Sprint("copy-", i, "-", r.Clock.Now().UnixNano())})
	}
}

// TestPressThatDeadLettered: report could not read its table for longer than SQS
// tries. The approval comes back, counts as it would have, and once.
func TestPressThatDeadLettered(t *testing.T) { virtual(t, pressThatDeadLettered) }

func pressThatDeadLettered(t *testing.T) {
	got := &letters{}
	r := start(t, "route", approvable, got.keep)
	r.offeredRoute()
	before, ts := r.routes(), r.messages()[0].TS
	r.givenUp(got, report.PressKind, func() { r.press(Lead) })
	r.untouched("while the approval is a dead letter", before)
	if acts, told := r.acts(), r.toldAlone(Lead); len(acts)+len(told) > 0 {
		t.Errorf("answered %+v, told %q, and nobody has read it", acts, told)
	}
	r.answers("redriven", Lead, incident.AnswerApproved, r.redrive)
	r.until("what was done", r.replied("Done"))
	r.doneOnce(before, Lead)

	r.settled()
	r.copies(slices.Concat(got.of(report.PressKind), got.of(report.RemedyResultKind))...)
	if n := r.queued(resultsDead); n < 2 {
		t.Fatalf("%d copies, want the press and the run at least", n)
	}
	r.redrive()
	r.pass(12 * time.Minute) // two sweeps
	r.answeredOnce(Lead, incident.AnswerApproved)
	r.doneOnce(before, Lead)
	r.replaceLaunches()
	r.until("the proof", func() bool { return r.incident().State == incident.Closed })
	r.copies(got.of(report.PressKind)...)
	r.redrive()
	r.answeredOnce(Lead, incident.AnswerApproved)
	r.saidOnce(ts)
	r.nothingLost("rollcall-failed") // report's own ticks meanwhile
}

// answeredOnce holds that one press was ruled on, once.
func (r *running) answeredOnce(user string, want incident.AnswerReason) {
	r.t.Helper()
	if acts := r.acts(); len(acts) != 1 || acts[0].User.ID != user || acts[0].Answer.Reason != want {
		r.t.Errorf("recorded %+v, want one press by %s, %s", acts, user, want)
	}
	if told := r.toldAlone(user); len(told) != 1 || r.ephemerals() != 1 {
		r.t.Errorf("%s was told %q, and %d answers went out; want one", user, told, r.ephemerals())
	}
}

// TestPressThatExpiredAsADeadLetter: what could be approved for ten minutes is not
// done half an hour later, and whoever pressed is told so.
func TestPressThatExpiredAsADeadLetter(t *testing.T) { virtual(t, pressThatExpiredAsADeadLetter) }

func pressThatExpiredAsADeadLetter(t *testing.T) {
	got := &letters{}
	r := start(t, "route", approvable, got.keep, func(o *Options) { o.Settings[string(config.ApprovalTime)] = "10m" })
	r.offeredRoute()
	before := r.routes()
	r.givenUp(got, report.PressKind, func() { r.press(Lead) })
	r.answers("redriven", Lead, incident.PlanExpired, r.redrive)
	if told := r.toldAlone(Lead); len(told) != 1 || !strings.Contains(told[0], "expired") {
		t.Errorf("told %q", told)
	}
	r.untouched("expired", before)
	r.nothingLost("rollcall-failed") // report's own ticks meanwhile
}

// TestDeedThatDeadLettered: remediate has added the route, and report does not
// hear of it for half an hour. Then it says so, once: from the message that comes
// back, as remediate, which tells what it did whenever it is woken, is away too.
func TestRunThatDeadLettered(t *testing.T) { virtual(t, runThatDeadLettered) }

func runThatDeadLettered(t *testing.T) {
	got := &letters{}
	r := start(t, "route", approvable, got.keep, func(o *Options) {
		o.EventFaults = func(e router.Event) router.Fault {
			if e.DetailType == "Rollcall Remedy Approved" {
				return router.Fault{Delay: 5 * time.Minute} // report has acknowledged the press by then
			}
			return router.Fault{}
		}
	})
	r.offeredRoute()
	before, ts := r.routes(), r.messages()[0].TS
	r.answers("approved", Lead, incident.AnswerApproved, func() { r.press(Lead) })
	r.givenUp(got, report.RemedyResultKind, func() {
		r.until("the run", func() bool {
			return len(r.runs()) == 1 && r.runs()[0].Result == action.Done && len(got.of(report.RemedyResultKind)) > 0
		})
		r.lose("remediate")
	})
	if said := r.replies("Done"); len(said) > 0 {
		t.Fatalf("said %d times, and report has not heard of it", len(said))
	}
	r.redrive()
	r.until("what was done", r.replied("Done"))
	r.doneOnce(before, Lead)

	r.mend("remediate")
	runs := got.of(report.RemedyResultKind)
	r.copies(runs...)
	r.redrive()
	r.replaceLaunches()
	r.until("the proof", func() bool { return r.incident().State == incident.Closed })
	r.copies(runs...)
	r.redrive()
	r.doneOnce(before, Lead)
	r.answeredOnce(Lead, incident.AnswerApproved)
	r.saidOnce(ts)
	r.nothingLost("rollcall-failed") // report's own ticks meanwhile
}

// TestCleanupSummaryThatDeadLettered: leaked interfaces are deleted while report is
// away. What came back is said when the summary comes back, and once a day.
func TestCleanupSummaryThatDeadLettered(t *testing.T) { virtual(t, cleanupSummaryThatDeadLettered) }

func cleanupSummaryThatDeadLettered(t *testing.T) {
	got := &letters{}
	r := start(t, "ips", got.keep, func(o *Options) {
		o.Settings = map[string]string{"ROLLCALL_CLEANUP": "eks-workshop=delete", "ROLLCALL_CLEANUP_SHARE": "100"}
	})
	said := func() int {
		n := 0
		for _, m := range r.messages() {
			if strings.Contains(whole(m), "addresses back in subnet-0b20000000000000b") {
				n++
			}
		}
		return n
	}
	r.givenUp(got, string(report.CleanupSummary), func() {
		id := r.leave("i-0dead000000000001", nil)
		r.until("it is deleted", func() bool { return !r.interfaceIsThere(id) && len(got.of(string(report.CleanupSummary))) > 0 })
		r.lose("eni-cleanup") // each of its summaries is of the whole day
	})
	if n := said(); n > 0 {
		t.Fatalf("said %d times, and report has not heard of it", n)
	}
	r.redrive()
	r.until("what came back is said", func() bool { return said() == 1 })
	r.copies(got.of(string(report.CleanupSummary))...)
	r.redrive()
	r.pass(12 * time.Minute)
	if n := said(); n != 1 {
		t.Errorf("said %d times, want once", n)
	}
	r.nothingLost("rollcall-failed")
}
