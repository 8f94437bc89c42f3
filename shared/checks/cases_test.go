package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

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

// cases are every check's cases. Each group has its own list, and each check
// its cases in its own file.
func cases() map[ID][]testCase {
	all := map[ID][]testCase{}
	for _, group := range []map[ID][]testCase{
		routeCases(), endpointCases(), filterCases(), dnsCases(), iamCases(), instanceCases(), launchCases(), nodegroupCases(), clusterCases(), nodeCases(), addressCases(), spotCases(), zoneCases(),
	} {
		maps.Copy(all, group)
	}
	return all
}

func TestChecks(t *testing.T) {
	for id, list := range cases() {
		for _, tt := range list {
			t.Run(string(id)+"/"+tt.name, func(t *testing.T) {
				if diff := cmp.Diff(lines(evalOne(t, id, tt.world)), tt.want); diff != "" {
					t.Errorf("%s (-got +want):\n%s", id, diff)
				}
			})
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

func evalOne(t *testing.T, id ID, s *snapshot.Snapshot) []Result {
	t.Helper()
	i := slices.IndexFunc(All(), func(c Check) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("no check %q in All", id)
	}
	return Eval(All()[i:i+1], s)
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
func failed(t *testing.T, id ID, s *snapshot.Snapshot) Result {
	t.Helper()
	var found []Result
	for _, r := range evalOne(t, id, s) {
		if r.Outcome == Fail {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %d failures, want 1", id, len(found))
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
