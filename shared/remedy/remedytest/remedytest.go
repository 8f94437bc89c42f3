// Package remedytest holds what the tests of all remedies ask alike: that each
// wrong target is refused, for its reason; that what is harmless is allowed; that
// the same world gives the same plan; and that the words are whole.
package remedytest

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// World makes a world, and an incident in it.
type World = func() (*snapshot.Snapshot, action.Subject)

// Change makes one thing of a world another.
type Change = func(*snapshot.Snapshot, *action.Subject)

// Wrong is a world with one thing wrong, and the reason by which it is refused.
type Wrong = struct {
	Name  string
	Wrong Change
	Want  remedy.Reason
}

// Harmless is a right world with one thing more, which is nothing against the
// remedy: the plan stays.
type Harmless = struct {
	Name string
	More Change
}

// Make plans a remedy with these checks.
func Make[P, C any](r action.Remedy[P, C], s *snapshot.Snapshot, of action.Subject, list []check.Check) (*P, *action.Refusal) {
	return r.Make(action.Look{Snapshot: s, Subject: of, Checks: list})
}

// Refuses holds that a remedy is not planned in any of the wrong worlds, and
// then that it is in the right one: each wrong world is the right one but for
// one thing.
func Refuses[P, C any](t *testing.T, r action.Remedy[P, C], right World, list []check.Check, tests []Wrong) *P {
	t.Helper()
	for _, test := range append(otherLooks(), tests...) {
		s, of := right()
		test.Wrong(s, &of)
		p, no := Make(r, s, of, list)
		switch {
		case no == nil:
			t.Errorf("%s: planned: %+v", test.Name, p)
		case no.Reason != test.Want:
			t.Errorf("%s: refused as %s (%s), want %s", test.Name, no.Reason, no.Says, test.Want)
		case no.Says == "" || strings.Contains(no.Says, "%!"):
			t.Errorf("%s: says %q", test.Name, no.Says)
		case no.Reason == remedy.CouldNotLook && len(no.Blocked) == 0:
			t.Errorf("%s: unknown, and does not name what could not be read", test.Name)
		}
	}
	s, of := right()
	p, no := Make(r, s, of, list)
	if no != nil {
		t.Fatalf("the right world: refused as %s: %s %+v", no.Reason, no.Says, no.Blocked)
	}
	s, of = right()
	if again, _ := Make(r, s, of, list); text(t, again) != text(t, p) {
		t.Error("the same world gives two plans")
	}
	s.Time = s.Time.Add(time.Minute)
	if later, _ := Make(r, s, of, list); text(t, later) != text(t, p) {
		t.Error("a minute later the same world gives another plan")
	}
	return p
}

// text is what the hash of a plan is made of.
func text(t *testing.T, plan any) string {
	t.Helper()
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// otherLooks are not at the cluster that the plan is for, as far as is known.
func otherLooks() []Wrong {
	return []Wrong{
		{"no account", func(s *snapshot.Snapshot, _ *action.Subject) { s.Account = "" }, remedy.CouldNotLook},
		{"no region", func(s *snapshot.Snapshot, _ *action.Subject) { s.Region = "" }, remedy.CouldNotLook},
		{"no partition", func(s *snapshot.Snapshot, _ *action.Subject) { s.Partition = "" }, remedy.CouldNotLook},
		{"no VPC", func(s *snapshot.Snapshot, _ *action.Subject) { s.Cluster.VPC = "" }, remedy.CouldNotLook},
		{"another cluster's look", func(s *snapshot.Snapshot, _ *action.Subject) { s.Cluster.Name = "dev" }, remedy.CouldNotLook},
	}
}

// RefusesUnread holds that a remedy is not planned where any of these sources was
// not read, and says which, although its check finds the cause all the same. The
// sources are the test's own list: one that the remedy forgets is missed.
func RefusesUnread[P, C any](t *testing.T, r action.Remedy[P, C], right World, f finding.Finding, sources ...snapshot.Source) {
	t.Helper()
	s, of := right()
	list := Saying(of.Check, f)
	if _, no := Make(r, s, of, list); no != nil {
		t.Fatalf("the right world: refused as %s: %s", no.Reason, no.Says)
	}
	for _, source := range sources {
		s, of := right()
		snapshottest.Without(s, source)
		p, no := Make(r, s, of, list)
		if no == nil {
			t.Errorf("%s was not read: planned: %+v", source, p)
			continue
		}
		want := &action.Refusal{
			Reason:  remedy.CouldNotLook,
			Says:    "No plan without complete data; not read: " + string(source) + ", denied (test:Read " + string(source) + ").",
			Blocked: []snapshot.Failure{s.Failures[source]},
		}
		if diff := cmp.Diff(want, no); diff != "" {
			t.Errorf("%s was not read (-want +got):\n%s", source, diff)
		}
	}
}

// Allows holds that a remedy is planned in each of the harmless worlds as in the
// right one.
func Allows[P, C any](t *testing.T, r action.Remedy[P, C], right World, list []check.Check, tests []Harmless) {
	t.Helper()
	s, of := right()
	want, no := Make(r, s, of, list)
	if no != nil {
		t.Fatalf("the right world: %s", no.Says)
	}
	for _, test := range tests {
		s, of := right()
		test.More(s, &of)
		p, no := Make(r, s, of, list)
		switch {
		case no != nil:
			t.Errorf("%s: refused as %s: %s", test.Name, no.Reason, no.Says)
		case text(t, p) != text(t, want):
			t.Errorf("%s: another plan: %+v, want %+v", test.Name, p, want)
		}
	}
}

// FoundElsewhereIsNotSo holds that what the check finds elsewhere is no reason to
// act here.
func FoundElsewhereIsNotSo[P, C any](t *testing.T, r action.Remedy[P, C], right World) {
	t.Helper()
	s, of := right()
	elsewhere := finding.Finding{Outcome: finding.Fail, Resource: "elsewhere", Covers: of.Covers}
	if p, no := Make(r, s, of, Saying(of.Check, elsewhere)); no == nil || no.Reason != remedy.NotSo {
		t.Errorf("planned %+v, refusal %+v, want %s", p, no, remedy.NotSo)
	}
}

// Saying is a check that finds what a test wants.
func Saying(id checkid.ID, f finding.Finding) []check.Check {
	return []check.Check{{Entry: catalog.Entry{ID: id, Confidence: finding.Certain}, Run: func(*check.View) []finding.Finding { return []finding.Finding{f} }}}
}

// Region is where plans of tests are done.
const Region = "us-west-2"

// Words holds what all words of a plan must be, and gives them.
func Words(t *testing.T, p interface {
	Words(remedy.Place) remedy.Words
}) remedy.Words {
	t.Helper()
	w := p.Words(remedy.Place{Region: Region, Cluster: snapshottest.ClusterName})
	if n := len([]rune(w.Title)); n == 0 || n > 70 {
		t.Errorf("title of %d runes: %q", n, w.Title)
	}
	if len(w.Steps) == 0 || len(w.Undo) == 0 || w.Cost == "" {
		t.Errorf("steps %q, undo %q, cost %q", w.Steps, w.Undo, w.Cost)
	}
	for _, c := range append(w.Commands, w.Undo...) {
		if strings.HasPrefix(c, "aws ") && !strings.Contains(c, "--region "+Region) {
			t.Errorf("a command without its region: %s", c)
		}
	}
	return w
}

// Applied holds that after a lost answer the world tells what came of a plan:
// what is not there, and what could not be read, was not done as far as is known.
// The checks are all of them, unless others are given.
func Applied[P, C any](t *testing.T, r action.Remedy[P, C], right World, source snapshot.Source, done, almost func(*snapshot.Snapshot), list ...check.Check) {
	t.Helper()
	s, of := right()
	if len(list) == 0 {
		list = checks.All()
	}
	p, no := Make(r, s, of, list)
	if no != nil {
		t.Fatal(no.Says)
	}
	is := func(what string, want, known bool) {
		t.Helper()
		if got, looked := r.Applied(*p, s); got != want && known || looked != known {
			t.Errorf("%s: %v, known %v", what, got, looked)
		}
	}
	is("before", false, true)
	almost(s)
	is("almost", false, true)
	s, _ = right()
	done(s)
	is("after", true, true)
	snapshottest.Without(s, source)
	is("unread", false, false)
}

// SameInAnyOrder holds that the same world, read again, in whatever order AWS
// lists it and Go its maps, is the same plan: an approval is bound to its hash, or
// no approval would hold. The world is one in which there is a choice to be made.
func SameInAnyOrder[P, C any](t *testing.T, r action.Remedy[P, C], rich World, list []check.Check) {
	t.Helper()
	s, of := rich()
	first, no := Make(r, s, of, list)
	if no != nil {
		t.Fatalf("refused as %s: %s", no.Reason, no.Says)
	}
	for seed := range uint64(60) {
		s, of := rich()
		random := rand.New(rand.NewPCG(seed, 1))
		shuffle(reflect.ValueOf(s), random)
		shuffle(reflect.ValueOf(&of), random)
		again, no := Make(r, s, of, list)
		if no != nil {
			t.Fatalf("seed %d: refused as %s: %s", seed, no.Reason, no.Says)
		}
		if text(t, again) != text(t, first) {
			t.Fatalf("seed %d: another plan:\n%+v\n%+v", seed, first, again)
		}
	}
}

// shuffle puts every list below a value into another order, as AWS's answers
// come in any. Bytes are no list.
func shuffle(v reflect.Value, r *rand.Rand) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			shuffle(v.Elem(), r)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				shuffle(v.Field(i), r)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			shuffle(v.Index(i), r)
		}
		r.Shuffle(v.Len(), reflect.Swapper(v.Interface()))
	}
}

// Stuck is an instance that did not join.
const Stuck = "i-0stuck"

// Missed adds it to a world whose node did.
func Missed(s *snapshot.Snapshot) {
	snapshottest.Launch(s, Stuck, snapshottest.Private, 20*time.Minute)
}

// LaunchOf is its launch, as the incident has it.
func LaunchOf(s *snapshot.Snapshot, standing outcome.LaunchStatus) []outcome.Launch {
	return []outcome.Launch{{Instance: Stuck, Started: s.Time.Add(-20 * time.Minute), Status: standing}}
}

// Member changes it as its group has it.
func Member(change func(*snapshot.GroupInstance)) Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) { change(&s.Groups[0].Instances[1]) }
}

// Instance changes it as EC2 has it.
func Instance(change func(*snapshot.Instance)) Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) { change(snapshottest.Instance(s, Stuck)) }
}

// Suspended suspends a process of the group.
func Suspended(process string) Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) {
		s.Groups[0].Suspended = []snapshot.Suspended{{Process: process}}
	}
}
