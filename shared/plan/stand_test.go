package plan

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// wrong is a world with one thing wrong, and the reason by which it is refused.
type wrong struct {
	name  string
	wrong func(*snapshot.Snapshot, *Subject)
	want  Reason
}

// refuses holds that a remedy is not planned in any of the wrong worlds, and
// then that it is in the right one: each wrong world is the right one but for
// one thing.
func refuses(t *testing.T, right func() (*snapshot.Snapshot, Subject), list []checks.Check, tests []wrong) Plan {
	t.Helper()
	for _, test := range append(unreadWorlds(right), tests...) {
		s, of := right()
		test.wrong(s, &of)
		p, no := makeWith(s, of, list)
		switch {
		case no == nil:
			t.Errorf("%s: planned: %v", test.name, p.Steps())
		case no.Reason != test.want:
			t.Errorf("%s: refused as %s (%s), want %s", test.name, no.Reason, no.Says, test.want)
		case no.Says == "" || strings.Contains(no.Says, "%!"):
			t.Errorf("%s: says %q", test.name, no.Says)
		case no.Reason == CouldNotLook && len(no.Blocked) == 0:
			t.Errorf("%s: could not look, and does not say at what", test.name)
		}
	}
	s, of := right()
	p, no := makeWith(s, of, list)
	if no != nil {
		t.Fatalf("the right world: refused as %s: %s %+v", no.Reason, no.Says, no.Blocked)
	}
	s, of = right()
	if again, _ := makeWith(s, of, list); again.Hash() != p.Hash() {
		t.Error("the same world gives two plans")
	}
	s.Time = s.Time.Add(time.Minute)
	if later, _ := makeWith(s, of, list); later.Hash() != p.Hash() {
		t.Error("a minute later the same world gives another plan")
	}
	return p
}

// unreadWorlds lack one source that the plan rests on.
func unreadWorlds(right func() (*snapshot.Snapshot, Subject)) []wrong {
	_, of := right()
	var list []wrong
	for _, source := range own(of.Remedy) {
		list = append(list, wrong{"unread: " + string(source), func(s *snapshot.Snapshot, _ *Subject) { snapshottest.Without(s, source) }, CouldNotLook})
	}
	return append(list,
		wrong{"no account", func(s *snapshot.Snapshot, _ *Subject) { s.Account = "" }, CouldNotLook},
		wrong{"no region", func(s *snapshot.Snapshot, _ *Subject) { s.Region = "" }, CouldNotLook},
		wrong{"no partition", func(s *snapshot.Snapshot, _ *Subject) { s.Partition = "" }, CouldNotLook},
		wrong{"no VPC", func(s *snapshot.Snapshot, _ *Subject) { s.Cluster.VPC = "" }, CouldNotLook},
		wrong{"another cluster's look", func(s *snapshot.Snapshot, _ *Subject) { s.Cluster.Name = "dev" }, CouldNotLook},
		wrong{"no such remedy", func(_ *snapshot.Snapshot, of *Subject) { of.Remedy = "reboot" }, NoSuchRemedy},
	)
}

const stuck = "i-0stuck"

// missed adds an instance that did not join to a world whose node did.
func missed(s *snapshot.Snapshot) {
	snapshottest.Launch(s, stuck, snapshottest.Private, 20*time.Minute)
}

func launchOf(s *snapshot.Snapshot, standing outcome.Standing) []Launch {
	return []Launch{{Instance: stuck, Started: s.Time.Add(-20 * time.Minute), Standing: standing}}
}

// saying is a check that finds what a test wants.
func saying(id checks.ID, f checks.Finding) []checks.Check {
	return []checks.Check{{ID: id, Confidence: checks.Certain, Run: func(*checks.View) []checks.Finding { return []checks.Finding{f} }}}
}

// wordsAreWhole holds what all words of a plan must be.
func wordsAreWhole(t *testing.T, p Plan) {
	t.Helper()
	if n := len([]rune(p.Title())); n == 0 || n > 70 {
		t.Errorf("title of %d runes: %q", n, p.Title())
	}
	if len(p.Steps()) == 0 || len(p.Undo()) == 0 || p.Cost() == "" {
		t.Errorf("steps %q, undo %q, cost %q", p.Steps(), p.Undo(), p.Cost())
	}
	for _, c := range append(p.Commands(), p.Undo()...) {
		if strings.HasPrefix(c, "aws ") && !strings.Contains(c, "--region "+p.Region) {
			t.Errorf("a command without its region: %s", c)
		}
	}
}
