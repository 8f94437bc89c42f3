package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// testCase is a world and what one check says of it, a line for each finding:
// "fail (likely) rtb-0private [subnet-0private] [i-0node] the title".
type testCase struct {
	name  string
	world *snapshot.Snapshot
	want  []string
}

// runCases holds what each case of a check says, and what holds for every
// check in every case.
func runCases(t *testing.T, c Check, cases []testCase) {
	t.Helper()
	seen := map[Outcome]bool{}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			results := evalOne(t, c, tt.world)
			if diff := cmp.Diff(lines(results), tt.want); diff != "" {
				t.Errorf("%s (-got +want):\n%s", c.ID, diff)
			}
			areWhole(t, results)
			looksOnlyAtWhatItAsksFor(t, c, tt.world, lines(results))
			for _, r := range results {
				seen[r.Outcome] = true
			}
		})
	}
	for _, o := range []Outcome{Pass, Fail, Unknown} {
		if o == Fail && c.NeverFails {
			continue
		}
		if !seen[o] {
			t.Errorf("%s: no case in its test ends in %s", c.ID, o)
		}
	}
}

// change is a world with changes.
func change(s *snapshot.Snapshot, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	for _, f := range changes {
		f(s)
	}
	return s
}

func unread(source snapshot.Source) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { snapshottest.Without(s, source) }
}

// routes replaces the rows of a table.
func routes(table string, rows ...snapshot.Route) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { snapshottest.Table(s, table).Routes = rows }
}

func gone(r snapshot.Route) snapshot.Route {
	r.State = "blackhole"
	return r
}

func evalOne(t *testing.T, c Check, s *snapshot.Snapshot) []Result {
	t.Helper()
	return Eval([]Check{c}, s)
}

func lines(results []Result) []string {
	var list []string
	for _, r := range results {
		line := string(r.Outcome)
		if r.Confidence != "" {
			line += fmt.Sprintf(" (%s)", r.Confidence)
		}
		line += fmt.Sprintf(" %s %v", r.Resource, r.Covers)
		switch r.Outcome {
		case Fail:
			line += fmt.Sprintf(" %v %s", r.Instances, r.Title)
		case Unknown:
			for _, b := range r.Blocked {
				line += fmt.Sprintf(" %s: %s", b.Source, b.Reason)
				if b.Call == "" {
					line += ": " + b.Message
				}
			}
		}
		list = append(list, line)
	}
	return list
}

// failed is the one finding that failed.
func failed(t *testing.T, c Check, s *snapshot.Snapshot) Result {
	t.Helper()
	var found []Result
	for _, r := range evalOne(t, c, s) {
		if r.Outcome == Fail {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %d failures, want 1", c.ID, len(found))
	}
	return found[0]
}

// value is the value of a line of evidence.
func value(t *testing.T, r Result, what string) string {
	t.Helper()
	for _, e := range r.Evidence {
		if strings.HasPrefix(e.What, what) {
			return e.Value
		}
	}
	t.Errorf("no evidence %q in %v", what, r.Evidence)
	return ""
}

// areWhole holds what is true of all findings.
func areWhole(t *testing.T, results []Result) {
	t.Helper()
	passed := map[string]bool{}
	for _, r := range results {
		if r.Outcome == Pass {
			for _, cover := range r.Covers {
				passed[cover] = true
			}
		}
	}
	for _, r := range results {
		if r.Resource == "" {
			t.Errorf("a finding without a resource")
		}
		switch r.Outcome {
		case Pass:
			if len(r.Covers) == 0 {
				t.Errorf("a pass that covers nothing")
			}
		case Unknown:
			if len(r.Blocked) == 0 {
				t.Errorf("an unknown without what blocked it")
			}
		case Fail:
			if n := utf8.RuneCountInString(r.Title); n == 0 || n > 70 {
				t.Errorf("title %q has %d runes, want 1 to 70", r.Title, n)
			}
			if r.Why == "" || len(r.Evidence) == 0 || r.Fix.Text == "" || !strings.HasPrefix(r.Fix.Console, "https://us-west-2.console.aws.amazon.com/") || len(r.Covers) == 0 {
				t.Errorf("an incomplete failure: %+v", r)
			}
			if strings.HasPrefix(r.Fix.Command, "aws ") && !strings.Contains(r.Fix.Command, "--region us-west-2") {
				t.Errorf("the command names no region: %q", r.Fix.Command)
			}
			for _, cover := range r.Covers {
				if passed[cover] {
					t.Errorf("%s both passes and fails", cover)
				}
			}
		}
	}
}

// looksOnlyAtWhatItAsksFor holds that a check says what it looks at, or nobody
// reads it: taking away any other source changes nothing in what it finds.
// Some are read in every look.
func looksOnlyAtWhatItAsksFor(t *testing.T, c Check, s *snapshot.Snapshot, before []string) {
	t.Helper()
	asked := slices.Concat([]snapshot.Source{
		snapshot.Clusters, snapshot.Instances, snapshot.Groups, snapshot.Activities, snapshot.Nodegroups, snapshot.Nodes, snapshot.UserDataOf,
	}, c.Needs, c.Uses)
	for _, source := range snapshot.All() {
		if slices.Contains(asked, source) || !s.Has(source) {
			continue
		}
		world := *s
		world.Read, world.Failures = maps.Clone(world.Read), maps.Clone(world.Failures)
		snapshottest.Without(&world, source)
		if after := lines(Eval([]Check{c}, &world)); !slices.Equal(before, after) {
			t.Errorf("%s looks at the source %q, which is neither in its Needs nor in its Uses", c.ID, source)
		}
	}
}
