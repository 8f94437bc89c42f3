package nodegroup

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
	"rollcall/tools/testfile"
)

// Every code that the SDK knows is explained, and no other. A new version of
// the SDK that brings a new code fails here.
func TestEveryCodeIsExplained(t *testing.T) {
	issues, updates := issueCodes(), updateCodes()
	for _, code := range types.NodegroupIssueCode("").Values() {
		whole(t, string(code), OfIssue(string(code)))
		delete(issues, string(code))
	}
	for _, code := range types.ErrorCode("").Values() {
		whole(t, string(code), OfUpdate(string(code)))
		delete(updates, string(code))
	}
	if len(issues)+len(updates) > 0 {
		t.Errorf("EKS has no such codes: %v %v", issues, updates)
	}
	if n, m := len(issueCodes()), len(updateCodes()); n != 36 || m != 17 {
		t.Errorf("%d and %d codes, want 36 and 17", n, m)
	}
}

func whole(t *testing.T, name string, c Code) {
	t.Helper()
	switch {
	case !c.Known:
		t.Errorf("%s is not known", name)
	case c.Class == "" || c.Meaning == "" || c.Next == "":
		t.Errorf("%s lacks a class, a meaning or a next step: %+v", name, c)
	case strings.HasSuffix(c.Meaning, ".") || !strings.HasSuffix(c.Next, "."):
		t.Errorf("%s: the meaning ends a sentence of others, the next step is one: %+v", name, c)
	case c.Symptom && c.Class != Join && c.Class != Launch:
		t.Errorf("%s is a symptom of class %s", name, c.Class)
	}
}

func TestUnknownCodes(t *testing.T) {
	for code, want := range map[string]string{"Gremlins": "Gremlins", "": "none is given"} {
		c := OfIssue(code)
		if c.Known || c.Class != Other || !strings.Contains(c.Meaning, want) || c.Next == "" || c.Symptom || c.Disproved {
			t.Errorf("OfIssue(%q) = %+v", code, c)
		}
		if c := OfUpdate(code); c.Known || !strings.Contains(c.Meaning, want) {
			t.Errorf("OfUpdate(%q) = %+v", code, c)
		}
	}
}

func at(minute int) time.Time {
	return time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC).Add(time.Duration(minute) * time.Minute)
}

// seen is a look at a nodegroup, changed.
func seen(minute int, status string, change ...func(*Look)) Look {
	l := Look{
		At: at(minute), Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "prod", Nodegroup: "workers", WokenBy: "sweep",
		Seen: &snapshot.Nodegroup{Name: "workers", Cluster: "prod", Status: status, Created: at(-600)}, UpdatesRead: true,
	}
	for _, f := range change {
		f(&l)
	}
	return l
}

func gone(minute int) Look {
	l := seen(minute, "")
	l.Seen = nil
	return l
}

func issue(code string, resources ...string) func(*Look) {
	return func(l *Look) {
		l.Seen.Issues = append(l.Seen.Issues, snapshot.Issue{Code: code, Message: "about " + code, Resources: resources})
	}
}

// did is an update; the first is the newest.
func did(id, status string, minute int, errors ...string) func(*Look) {
	return func(l *Look) {
		u := snapshot.Update{ID: id, Type: "ConfigUpdate", Status: status, Created: at(minute)}
		for _, code := range errors {
			u.Errors = append(u.Errors, snapshot.Issue{Code: code})
		}
		l.Seen.Updates = append(l.Seen.Updates, u)
	}
}

func blind(l *Look) { l.UpdatesRead, l.Seen.Updates = false, nil }

func anew(l *Look) { l.Seen.Created = at(-1) }

// eventsOf are the events of a record, in short.
func eventsOf(r Record) []string {
	var list []string
	for _, e := range r.Untold {
		text := fmt.Sprintf("%d %s %s>%s", e.Sequence, e.Reason, e.Previous, e.Status)
		for _, i := range e.Issues {
			text += " " + i.Code
		}
		if e.Update != nil {
			text += " update " + e.Update.ID + " " + e.Update.Status
		}
		list = append(list, text)
	}
	return list
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		name  string
		looks []Look
		want  []string
	}{
		{"well at first sight", []Look{seen(0, Active)}, nil},
		{"nothing at first sight", []Look{gone(0)}, nil},
		{"unwell at first sight", []Look{seen(0, Degraded, issue("AccessDenied"))}, []string{"1 first-seen >DEGRADED AccessDenied"}},
		{"active with an issue at first sight", []Look{seen(0, Active, issue("AccessDenied"))}, []string{"1 first-seen >ACTIVE AccessDenied"}},
		{"being made", []Look{seen(0, Creating), seen(1, Creating), seen(3, Active)}, []string{"1 first-seen >CREATING", "2 status-changed CREATING>ACTIVE"}},
		{"told once", []Look{seen(0, Active), seen(5, Degraded, issue("AccessDenied")), seen(5, Degraded, issue("AccessDenied")), seen(10, Degraded, issue("AccessDenied"))}, []string{
			"1 status-changed ACTIVE>DEGRADED AccessDenied",
		}},
		{"another issue", []Look{seen(0, Degraded, issue("AccessDenied")), seen(5, Degraded, issue("InternalFailure"))}, []string{
			"1 first-seen >DEGRADED AccessDenied", "2 issues-changed DEGRADED>DEGRADED InternalFailure",
		}},
		{"another instance", []Look{seen(0, Degraded, issue("NodeCreationFailure", "i-1")), seen(5, Degraded, issue("NodeCreationFailure", "i-1", "i-2"))}, []string{
			"1 first-seen >DEGRADED NodeCreationFailure", "2 issues-changed DEGRADED>DEGRADED NodeCreationFailure",
		}},
		{"the same instances in another order", []Look{seen(0, Degraded, issue("NodeCreationFailure", "i-1", "i-2")), seen(5, Degraded, issue("NodeCreationFailure", "i-2", "i-1"))}, []string{
			"1 first-seen >DEGRADED NodeCreationFailure",
		}},
		{"other words", []Look{seen(0, Degraded, issue("AccessDenied")), seen(5, Degraded, func(l *Look) {
			l.Seen.Issues = []snapshot.Issue{{Code: "AccessDenied", Message: "otherwise"}}
		})}, []string{"1 first-seen >DEGRADED AccessDenied"}},
		{"the issue goes", []Look{seen(0, Active, issue("AccessDenied")), seen(5, Active)}, []string{"1 first-seen >ACTIVE AccessDenied", "2 issues-changed ACTIVE>ACTIVE"}},
		{"an older look", []Look{seen(0, Active), seen(5, Degraded), seen(3, Active)}, []string{"1 status-changed ACTIVE>DEGRADED"}},
		{"deleted", []Look{seen(0, Active), seen(5, Deleting), gone(10), gone(15)}, []string{"1 status-changed ACTIVE>DELETING", "2 deleted DELETING>DELETED"}},
		{"deleted, and made again", []Look{seen(0, Active), gone(5), seen(10, Creating, anew), seen(15, Active, anew)}, []string{
			"1 deleted ACTIVE>DELETED", "2 status-changed DELETED>CREATING", "3 status-changed CREATING>ACTIVE",
		}},
		{"made again between two looks", []Look{seen(0, Degraded, issue("AccessDenied")), seen(5, Active, anew)}, []string{
			"1 first-seen >DEGRADED AccessDenied", "2 deleted DEGRADED>DELETED", "3 status-changed DELETED>ACTIVE",
		}},
		{"a status that nobody knows", []Look{seen(0, Active), seen(5, "PONDERING"), seen(10, "")}, []string{"1 status-changed ACTIVE>PONDERING", "2 status-changed PONDERING>UNKNOWN"}},
		{"an update", []Look{seen(0, Active), seen(5, Updating, did("u1", InProgress, 4)), seen(6, Updating, did("u1", InProgress, 4)), seen(7, Active, did("u1", Successful, 4))}, []string{
			"1 update-changed ACTIVE>UPDATING update u1 InProgress", "2 status-changed ACTIVE>UPDATING",
			"3 update-changed UPDATING>ACTIVE update u1 Successful", "4 status-changed UPDATING>ACTIVE",
		}},
		{"updates between two looks", []Look{seen(0, Active, did("u0", Successful, -90)), seen(60, Active, did("u2", Failed, 30, "PodEvictionFailure"), did("u1", Successful, 20), did("u0", Successful, -90))}, []string{
			"1 update-changed ACTIVE>ACTIVE update u1 Successful", "2 update-changed ACTIVE>ACTIVE update u2 Failed",
		}},
		{"what ended before Rollcall came", []Look{seen(0, Active, did("u1", Successful, -30), did("u0", Failed, -60))}, nil},
		{"what failed before Rollcall came", []Look{seen(0, Active, did("u1", Failed, -30), did("u0", Failed, -60))}, []string{"1 update-changed >ACTIVE update u1 Failed"}},
		{"updates that could not be read", []Look{seen(0, Active, blind), seen(5, Active, did("u1", Successful, -30)), seen(6, Active, blind), seen(7, Active, did("u2", Successful, 6), did("u1", Successful, -30))}, []string{
			"1 update-changed ACTIVE>ACTIVE update u2 Successful",
		}},
		{"an answer from before it ended", []Look{seen(0, Active, did("u1", Failed, -5)), seen(1, Active, did("u1", InProgress, -5))}, []string{"1 update-changed >ACTIVE update u1 Failed"}},
		{"an old one comes into sight", []Look{seen(0, Active, did("u2", Successful, -5)), seen(1, Active, did("u2", Successful, -5), did("u1", Failed, -50))}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r Record
			n := 0
			for _, l := range test.looks {
				var changes []Change
				r, changes = Compare(r, l)
				n += len(changes)
			}
			if diff := cmp.Diff(test.want, eventsOf(r)); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if n != len(test.want) || r.Events != n {
				t.Errorf("%d changes and %d events, want %d", n, r.Events, len(test.want))
			}
		})
	}
}

func TestSince(t *testing.T) {
	r, _ := Compare(Record{}, seen(0, Active))
	r, _ = Compare(r, seen(5, Degraded, issue("NodeCreationFailure", "i-1")))
	r, _ = Compare(r, seen(9, Degraded, issue("NodeCreationFailure", "i-1"), issue("AccessDenied")))
	if !r.Since.Equal(at(5)) || !r.Issues[0].Since.Equal(at(5)) || !r.Issues[1].Since.Equal(at(9)) || !r.First.Equal(at(0)) || !r.Seen.Equal(at(9)) {
		t.Errorf("since %v, issues %+v, first %v, seen %v", r.Since, r.Issues, r.First, r.Seen)
	}
	e := r.Untold[len(r.Untold)-1]
	if e.Issues[0].Class != Join || e.Issues[0].Next == "" || !e.Issues[0].Since.Equal(at(5)) || e.ID != "prod/workers/20261120T150000.000Z/2" {
		t.Errorf("event %+v", e)
	}
}

// What did not change needs no write: a look again says the same.
func TestSame(t *testing.T) {
	a, _ := Compare(Record{}, seen(0, Degraded, issue("AccessDenied"), did("u1", Failed, -5, "AccessDenied")))
	text := testfile.JSON(t, a)
	var stored Record
	testfile.Parse(t, text, &stored)
	b, changes := Compare(stored, seen(5, Degraded, issue("AccessDenied"), did("u1", Failed, -5, "AccessDenied")))
	if len(changes) > 0 || !b.Same(stored) || !b.Seen.Equal(at(5)) {
		t.Errorf("changes %v, same %t", changes, b.Same(stored))
	}
	if c, _ := Compare(stored, seen(5, Active)); c.Same(stored) {
		t.Error("another status is the same")
	}
}

func TestWantsUpdates(t *testing.T) {
	steady, _ := Compare(Record{}, seen(0, Active, did("u1", Successful, -5)))
	failed, _ := Compare(Record{}, seen(0, Active, did("u1", Failed, -5)))
	unread, _ := Compare(Record{}, seen(0, Active, blind))
	active := snapshot.Nodegroup{Status: Active}
	for _, test := range []struct {
		name string
		r    Record
		n    snapshot.Nodegroup
		want bool
	}{
		{"never seen", Record{}, active, true},
		{"steady", steady, active, false},
		{"EKS changed it since", steady, snapshot.Nodegroup{Status: Active, Modified: at(1)}, true},
		{"at work", steady, snapshot.Nodegroup{Status: Updating}, true},
		{"the last one failed", failed, active, true},
		{"never read", unread, active, true},
	} {
		if got := test.r.WantsUpdates(test.n); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
}

func TestOnItsWay(t *testing.T) {
	for status, want := range map[string]bool{Creating: true, Updating: true, Deleting: true, Active: false, Degraded: false, CreateFailed: false, "": false, Deleted: false} {
		if got := (Record{Status: status}).OnItsWay(); got != want {
			t.Errorf("%q: %t, want %t", status, got, want)
		}
	}
	if !(Record{Status: Active, Updates: []Done{{Status: InProgress}}}).OnItsWay() {
		t.Error("an update in progress is no way")
	}
}

// The outbox stays small while the bus is down, and says that it lost some.
func TestOutboxIsBounded(t *testing.T) {
	var r Record
	for i := range 3 * maxUntold {
		r, _ = Compare(r, seen(i, []string{Active, Degraded}[i%2]))
	}
	if len(r.Untold) != maxUntold || r.Untold[maxUntold-1].Sequence != r.Events || r.Untold[0].Sequence == 1 {
		t.Errorf("%d untold, the last %d of %d", len(r.Untold), r.Untold[len(r.Untold)-1].Sequence, r.Events)
	}
}

// Any sequence of looks, with repeats, looks that come late, and a bus that
// takes what is untold now and then, tells each transition once and in order.
func TestEachTransitionIsToldOnce(t *testing.T) {
	statuses := []string{Active, Degraded, Updating, CreateFailed, Deleting}
	issues := []string{"", "NodeCreationFailure i-1", "NodeCreationFailure i-2", "AccessDenied"}
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1))
		var (
			r           Record
			bus         []Event
			want        []string // what a witness of every look would have told
			witness     string   // the state at the newest look
			old         []Look
			created     = at(-600)
			updates     []snapshot.Update
			updateTold  = map[string]string{}
			wantUpdates []string
		)
		for minute := range 60 {
			l := seen(minute, statuses[random.IntN(len(statuses))])
			l.Seen.Created = created
			if i := issues[random.IntN(len(issues))]; i != "" {
				var code, resource string
				if n, _ := fmt.Sscanf(i, "%s %s", &code, &resource); n == 2 {
					issue(code, resource)(&l)
				} else {
					issue(i)(&l)
				}
			}
			// An update is made, or the one in progress ends.
			switch {
			case len(updates) > 0 && updates[0].Status == InProgress:
				updates = slices.Clone(updates)
				updates[0].Status = []string{InProgress, Successful, Failed}[random.IntN(3)]
			case random.IntN(4) == 0 && minute > 0:
				updates = append([]snapshot.Update{{ID: fmt.Sprint("u", minute), Status: InProgress, Created: at(minute)}}, updates...)
				updates = updates[:min(len(updates), maxUpdates)]
			}
			l.Seen.Updates = updates
			switch random.IntN(8) {
			case 0: // late: from before the newest
				if len(old) > 0 {
					r, _ = Compare(r, old[random.IntN(len(old))])
				}
				continue
			case 1:
				l = gone(minute)
				updates = nil
			}
			for range 1 + random.IntN(3) { // repeats
				r, _ = Compare(r, l)
			}
			if state := stateOf(l); state != witness && !(witness == "" && (l.Seen == nil || state == Active)) {
				want = append(want, state)
				witness = state
			} else if witness == "" && l.Seen != nil {
				witness = state
			}
			if l.Seen == nil {
				clear(updateTold)
			} else {
				for _, u := range slices.Backward(l.Seen.Updates) {
					if updateTold[u.ID] != u.Status {
						updateTold[u.ID] = u.Status
						wantUpdates = append(wantUpdates, u.ID+" "+u.Status)
					}
				}
			}
			if l.At.After(at(0)) {
				old = append(old, seen(-1, Active))
			}
			r = stored(t, r)
			if random.IntN(3) == 0 || len(r.Untold) > maxUntold/2 {
				bus, r.Untold = append(bus, r.Untold...), nil
			}
		}
		bus = append(bus, r.Untold...)
		var got, gotUpdates []string
		for i, e := range bus {
			if e.Sequence != i+1 {
				t.Fatalf("seed %d: event %d has sequence %d", seed, i+1, e.Sequence)
			}
			if e.Update != nil {
				gotUpdates = append(gotUpdates, e.Update.ID+" "+e.Update.Status)
				continue
			}
			state := e.Status
			for _, i := range e.Issues {
				state += fmt.Sprint(" ", i.Code, i.Resources)
			}
			got = append(got, state)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: told\n%q\nwant\n%q", seed, got, want)
		}
		if !slices.Equal(gotUpdates, wantUpdates) {
			t.Fatalf("seed %d: updates told\n%q\nwant\n%q", seed, gotUpdates, wantUpdates)
		}
	}
}

func stateOf(l Look) string {
	if l.Seen == nil {
		return Deleted
	}
	state := l.Seen.Status
	for _, i := range l.Seen.Issues {
		state += fmt.Sprint(" ", i.Code, i.Resources)
	}
	return state
}

// stored is a record as the table gives it back.
func stored(t *testing.T, r Record) Record {
	t.Helper()
	text := testfile.JSON(t, r)
	var out Record
	testfile.Parse(t, text, &out)
	return out
}
