package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/snapshot"
	"rollcall/stage/simaws/worldfile"
)

const dir = "../../../stage/worlds/corpus"

// TestEveryCheckHasItsWorlds holds that for each check there is a broken world
// that it must name, and a healthy one that it must not accuse. (A check whose
// worst is advice, or that can only say Unknown, has no broken world.)
func TestEveryCheckHasItsWorlds(t *testing.T) {
	c, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	broken, healthy := map[string]bool{}, map[string]bool{}
	for _, w := range c.Worlds {
		switch {
		case w.healthy() && len(w.Expect.Advice) == 0:
			healthy[w.Check] = true
		default:
			broken[w.Check] = true
		}
		if w.Check != "" && !slices.ContainsFunc(checks.All(), func(c check.Check) bool { return string(c.ID) == w.Check }) {
			t.Errorf("%s is for %s, which is no check", w.Name, w.Check)
		}
	}
	for _, check := range checks.All() {
		id := string(check.ID)
		if slices.ContainsFunc(c.Remembered, func(r remembered) bool { return r.Check == id }) {
			if broken[id] {
				t.Errorf("%s has a broken world: it need not be left out", id)
			}
			continue
		}
		if !broken[id] {
			t.Errorf("%s has no broken world", id)
		}
		if !healthy[id] {
			t.Errorf("%s has no healthy world beside its broken one", id)
		}
	}
}

// TestWhatIsLeftOutIsShownElsewhere holds that only checks that need the
// history of launches are left out of the corpus, and that what shows each of
// them is there.
func TestWhatIsLeftOutIsShownElsewhere(t *testing.T) {
	c, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Remembered {
		i := slices.IndexFunc(checks.All(), func(c check.Check) bool { return string(c.ID) == r.Check })
		if i < 0 || !slices.Contains(checks.All()[i].Needs, snapshot.LaunchHistory) {
			t.Errorf("%s is no check that needs the history of launches", r.Check)
		}
		if r.Why == "" || len(r.Proof) == 0 {
			t.Errorf("%s: why it is left out, or where it is shown, is not said", r.Check)
		}
		for _, name := range r.Proof {
			path := filepath.Join(dir, "..", name+".yaml")
			if strings.Contains(name, "/") {
				path = filepath.Join("..", "..", "..", name)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s is to be shown by %s: %v", r.Check, name, err)
			}
		}
	}
}

// TestEveryReportIsAnswered holds that each public report is retold by a world
// or stands, with the reason, among those that cannot be.
func TestEveryReportIsAnswered(t *testing.T) {
	c, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, w := range c.Worlds {
		for _, id := range w.Cases {
			told[id] = true
			if !slices.Contains(c.Cases, id) {
				t.Errorf("%s retells %s, which is not in %s", w.Name, id, casesFile)
			}
		}
	}
	for _, u := range c.Unseen {
		told[u.ID] = true
		if u.Why == "" || !strings.HasPrefix(u.URL, "https://") {
			t.Errorf("%s: unseen, and why or where is not said", u.ID)
		}
	}
	if len(c.Cases) == 0 {
		t.Fatalf("%s has no cases", casesFile)
	}
	for _, id := range c.Cases {
		if !told[id] {
			t.Errorf("no world retells %s", id)
		}
	}
}

func TestJudge(t *testing.T) {
	diagnosed := func(status int, causes ...string) found {
		f := found{Healthy: status == 0, status: status}
		for _, c := range causes {
			cause, confidence, weak := strings.Cut(c, " ")
			if !weak {
				confidence = "certain"
			}
			f.Incidents = append(f.Incidents, incident{Cause: cause, Confidence: confidence, Resources: []string{"rtb-1"}})
		}
		return f
	}
	broken := func(causes ...string) subject {
		var s subject
		for _, c := range causes {
			s.Expect.Incidents = append(s.Expect.Incidents, expect(c, "rtb-1"))
		}
		return s
	}
	healthy := subject{}
	healthy.Expect.Healthy = true
	advised := subject{Check: "route/cross-zone-nat"}
	advised.Expect.Healthy = true
	unknown := subject{}
	unknown.Expect.Unknown = true
	for _, test := range []struct {
		name    string
		subject subject
		found   found
		wrong   string
	}{
		{"named", broken("route/no-egress"), diagnosed(1, "route/no-egress"), ""},
		{"not first", broken("route/no-egress", "iam/role-trust"), diagnosed(1, "iam/role-trust", "route/no-egress"), "iam/role-trust comes first"},
		{"not named", broken("route/no-egress"), diagnosed(0), "route/no-egress is not named; called healthy"},
		{"something else too", broken("route/no-egress"), diagnosed(1, "route/no-egress", "nacl/egress"), "nacl/egress (certain) is not in this world"},
		{"healthy", healthy, diagnosed(0), ""},
		{"false alarm", healthy, diagnosed(1, "nacl/egress likely"), "nacl/egress (likely) is not in this world; not called healthy"},
		{"advice beside", healthy, diagnosed(0, "route/cross-zone-nat advice"), ""},
		{"advice nobody expects", advised, diagnosed(0, "route/cross-zone-nat advice"), "advises route/cross-zone-nat"},
		{"healthy and not told", healthy, diagnosed(2), "could not tell"},
		{"cannot be told", unknown, diagnosed(2), ""},
		{"told what cannot be", unknown, diagnosed(0), "exit status 0"},
		{"another resource", subject{Expect: expectOne("route/no-egress", "rtb-2")}, diagnosed(1, "route/no-egress"), "does not name rtb-2"},
	} {
		got := judge(test.subject, test.found).Wrong
		if (test.wrong == "") != (got == "") || !strings.Contains(got, test.wrong) {
			t.Errorf("%s: wrong %q, want %q", test.name, got, test.wrong)
		}
	}
}

func expect(cause, resource string) worldfile.ExpectedIncident {
	return worldfile.ExpectedIncident{Cause: cause, Resources: []string{resource}}
}

func expectOne(cause, resource string) worldfile.Expect {
	return worldfile.Expect{Incidents: []worldfile.ExpectedIncident{expect(cause, resource)}}
}
