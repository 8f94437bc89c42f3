package stage

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/worldfile"
	"rollcall/local/testfull"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
)

// TestWorlds plays every world through the deployed machinery and holds what
// is said in Slack against what the world expects.
func TestWorlds(t *testing.T) {
	files, err := filepath.Glob("../worlds/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 15 {
		t.Fatalf("%d worlds, want at least 15", len(files))
	}
	for n, file := range files {
		if n%testfull.Of(1, 2) != 0 { // each is one of the corpus, too, which make corpus holds against its causes
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
				if !want[string(c.Check)] && c.Confidence != checks.Advice {
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
func said(r *running) []diagnose.Cause {
	r.t.Helper()
	var list []diagnose.Cause
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
func missing(got []diagnose.Cause, want worldfile.ExpectedIncident) string {
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
