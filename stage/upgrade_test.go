//go:build upgrade

package stage

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/shared/incident"
)

// ownTemplate is that of the release under test.
const ownTemplate = "../infra/Rollcall.template.json"

// earlier is a release of the past: its programs, built for this machine, and
// its template.
type earlier struct{ programs, template string }

// earlierReleases builds each release of which samples are kept, from the
// history of the repository.
func earlierReleases(t *testing.T) map[string]earlier {
	t.Helper()
	commits, err := filepath.Glob("release/testdata/*/commit")
	if err != nil || len(commits) == 0 {
		t.Fatalf("no releases: %v", err)
	}
	out := map[string]earlier{}
	for _, path := range commits {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		run := func(name string, args ...string) {
			t.Helper()
			cmd := exec.Command(name, args...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s %s: %v: %s\n(the commit must be in the repository: this test needs a clone with its history)", name, strings.Join(args, " "), err, out)
			}
		}
		source, programs := filepath.Join(dir, "source"), filepath.Join(dir, "programs")
		archive := filepath.Join(dir, "source.tar")
		run("git", "-C", "..", "archive", "--output", archive, strings.TrimSpace(string(text)))
		if err := os.MkdirAll(source, 0o755); err != nil {
			t.Fatal(err)
		}
		run("tar", "-xf", archive, "-C", source)
		folders, err := os.ReadDir(filepath.Join(source, "functions"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range folders {
			run("go", "-C", source, "build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", filepath.Join(programs, f.Name(), "bootstrap"), "./functions/"+f.Name())
		}
		out[filepath.Base(filepath.Dir(path))] = earlier{programs, filepath.Join(source, "infra", "Rollcall.template.json")}
	}
	return out
}

// TestUpgradeAndRollback plays the route story over a change of release, with
// the real programs of both.
func TestUpgradeAndRollback(t *testing.T) {
	own, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for name, release := range earlierReleases(t) {
		t.Run("upgrade from "+name, func(t *testing.T) { upgrade(t, own, release) })
		t.Run("rollback to "+name, func(t *testing.T) { rollback(t, own, release) })
	}
}

// upgrade: what the earlier release found, said and offered, this one has
// approved, does, and closes, in the same message.
func upgrade(t *testing.T, own string, old earlier) {
	// The functions that the earlier one does not have are this one's all along.
	r := startReal(t, "route", approvable)
	if err := r.DeployRelease(old.programs, old.template); err != nil {
		t.Fatal(err)
	}
	r.offeredRoute()
	said, before := r.messages()[0], r.routes()
	if err := r.DeployRelease(own, ownTemplate); err != nil {
		t.Fatal(err)
	}
	r.finishes(said.TS, before)
}

// rollback: the earlier release reads what this one wrote, or refuses it; it
// destroys nothing, says nothing twice, and this one goes on where it was.
func rollback(t *testing.T, own string, old earlier) {
	r := startReal(t, "route", approvable)
	r.offeredRoute()
	said, before, was := r.messages()[0], r.routes(), r.incident()
	if err := r.DeployRelease(old.programs, old.template); err != nil {
		t.Fatal(err)
	}
	r.pass(12 * time.Minute) // two sweeps, and the missed roll call
	now := r.incident()
	if now.Key != was.Key || now.Number != was.Number || now.State != incident.Open || !now.Opened.Equal(was.Opened) || len(now.Offers) < len(was.Offers) {
		t.Errorf("the incident was\n%+v\nand the earlier release made of it\n%+v", was, now)
	}
	r.saidOnce(said.TS)
	if routes := r.routes(); routes != before {
		t.Errorf("the routes are\n%s\nwere\n%s", routes, before)
	}
	if err := r.DeployRelease(own, ownTemplate); err != nil {
		t.Fatal(err)
	}
	// The rules are this release's (DeployRelease): the first release's report is
	// woken by a schedule that its own template does not have, and refuses it.
	r.finishes(said.TS, before, "rollcall-failed")
}

// finishes approves what is offered and plays the story to its end, in the one
// message that there was. Nothing is in a dead-letter queue but in those that are
// named.
func (r *running) finishes(ts, before string, but ...string) {
	r.t.Helper()
	r.until("the offer", func() bool { return r.offer().State == incident.Offered && r.button() != "" })
	r.answers("a member of the group", Lead, incident.AnswerApproved, func() { r.press(Lead) })
	r.until("what was done", r.replied("Done"))
	r.doneOnce(before, Lead)
	r.replaceLaunches()
	r.until("the proof", func() bool { return r.incident().State == incident.Closed })
	r.saidOnce(ts)
	r.nothingLost(but...)
}
