// Package checktest runs a check on worlds, and holds what is true of every
// check. It is for tests.
package checktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// Case is a world and what one check says of it, a line for each finding:
// "fail (likely) rtb-0private [subnet-0private] [i-0node] the title".
type Case = struct {
	Name  string
	World *snapshot.Snapshot
	Want  []string
}

// RunCases holds what each case of a check says, and what holds for every
// check in every case.
func RunCases(t *testing.T, c check.Check, cases []Case) {
	t.Helper()
	seen := map[finding.Outcome]bool{}
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			results := EvalOne(t, c, tt.World)
			if diff := cmp.Diff(Lines(results), tt.Want); diff != "" {
				t.Errorf("%s (-got +want):\n%s", c.ID, diff)
			}
			areWhole(t, c, results)
			looksOnlyAtWhatItAsksFor(t, c, tt.World, Lines(results))
			for _, r := range results {
				seen[r.Outcome] = true
			}
		})
	}
	for _, o := range []finding.Outcome{finding.Pass, finding.Fail, finding.Unknown} {
		if o == finding.Fail && c.NeverFails {
			continue
		}
		if !seen[o] {
			t.Errorf("%s: no case in its test ends in %s", c.ID, o)
		}
	}
}

// Change is a world with changes.
func Change(s *snapshot.Snapshot, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	for _, f := range changes {
		f(s)
	}
	return s
}

func Unread(source snapshot.Source) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { snapshottest.Without(s, source) }
}

// Routes replaces the rows of a table.
func Routes(table string, rows ...snapshot.Route) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { snapshottest.Table(s, table).Routes = rows }
}

func Gone(r snapshot.Route) snapshot.Route {
	r.State = "blackhole"
	return r
}

func EvalOne(t *testing.T, c check.Check, s *snapshot.Snapshot) []finding.Result {
	t.Helper()
	return check.Eval([]check.Check{c}, s)
}

func Lines(results []finding.Result) []string {
	var list []string
	for _, r := range results {
		line := string(r.Outcome)
		if r.Confidence != "" {
			line += fmt.Sprintf(" (%s)", r.Confidence)
		}
		line += fmt.Sprintf(" %s %v", r.Resource, r.Covers)
		switch r.Outcome {
		case finding.Fail:
			line += fmt.Sprintf(" %v %s", r.Instances, r.Title)
		case finding.Unknown:
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

// Failed is the one finding that failed.
func Failed(t *testing.T, c check.Check, s *snapshot.Snapshot) finding.Result {
	t.Helper()
	var found []finding.Result
	for _, r := range EvalOne(t, c, s) {
		if r.Outcome == finding.Fail {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %d failures, want 1", c.ID, len(found))
	}
	return found[0]
}

// Value is the value of a line of evidence.
func Value(t *testing.T, r finding.Result, what string) string {
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
func areWhole(t *testing.T, c check.Check, results []finding.Result) {
	t.Helper()
	passed := map[string]bool{}
	for _, r := range results {
		if r.Outcome == finding.Pass {
			for _, cover := range r.Covers {
				passed[cover] = true
			}
		}
	}
	for _, r := range results {
		if r.Resource == "" {
			t.Errorf("a finding without a resource")
		}
		if r.Fix.Remedy != "" && r.Fix.Remedy != c.Remedy {
			t.Errorf("the finding offers the remedy %q, the check is of %q", r.Fix.Remedy, c.Remedy)
		}
		switch r.Outcome {
		case finding.Pass:
			if len(r.Covers) == 0 {
				t.Errorf("a pass that covers nothing")
			}
		case finding.Unknown:
			if len(r.Blocked) == 0 {
				t.Errorf("an unknown without what blocked it")
			}
		case finding.Fail:
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
func looksOnlyAtWhatItAsksFor(t *testing.T, c check.Check, s *snapshot.Snapshot, before []string) {
	t.Helper()
	asked := slices.Concat([]snapshot.Source{
		snapshot.Clusters, snapshot.Instances, snapshot.Groups, snapshot.Activities, snapshot.Nodegroups, snapshot.Nodes, snapshot.NodeEventsOf, snapshot.UserDataOf,
	}, c.Needs, c.Uses)
	for _, source := range snapshot.All() {
		if slices.Contains(asked, source) || !s.Has(source) {
			continue
		}
		world := *s
		world.Read, world.Failures = maps.Clone(world.Read), maps.Clone(world.Failures)
		snapshottest.Without(&world, source)
		if after := Lines(check.Eval([]check.Check{c}, &world)); !slices.Equal(before, after) {
			t.Errorf("%s looks at the source %q, which is neither in its Needs nor in its Uses", c.ID, source)
		}
	}
}
