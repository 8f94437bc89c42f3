package diagnose

import (
	"io"
	"os/exec"
	"strings"
	"testing"
)

// TestAsOnTheStage: what is said of a capture without a stage is what the functions
// find on it, to the letter. In make test-full so is every capture of this package's
// tests (ask); these are one of each kind: well, a cause, a symptom, a refusal, and
// nothing to look at.
func TestAsOnTheStage(t *testing.T) {
	for name, changes := range map[string][]change{
		"healthy":               nil,
		"a cause":               {noNode(), noWayOut()},
		"a symptom":             {noNode()},
		"a call was refused":    {noNode(), refused(tables + " UnauthorizedOperation")},
		"nothing but instances": {only(instances, "time.txt")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, changes...)
			r, err := Examine(t.Context(), Subject{Path: dir}, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			asOnTheStage(t, dir, printed(t, r))
		})
	}
}

// A function that fails is told, and what it cannot do is left out; that the clusters
// cannot be listed is told once for those that have turns.
func TestFunctionsThatFailAreTold(t *testing.T) {
	r, err := Examine(t.Context(), Subject{Path: folder(t, only(instances, "time.txt"))}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var failed []string
	for _, u := range r.Unknown {
		if u.Check == "" && strings.Contains(u.Reason, "the function failed: list the clusters: eks:ListClusters not read") {
			failed = append(failed, u.Resource)
		}
	}
	if got, want := strings.Join(failed, " "), "spot-report"; got != want {
		t.Errorf("failed %q, want %q", got, want)
	}
}

// The look holds nothing of the stage: it is the same engine for an account that is
// there.
func TestTheLookStandsAlone(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./look").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for _, dep := range strings.Fields(string(out)) {
		seen = seen || dep == "rollcall/functions/join-check/joincheck"
		if strings.HasPrefix(dep, "rollcall/local/") && dep != "rollcall/local/diagnose/look" || strings.Contains(dep, "enicleanup") || strings.Contains(dep, "remedy/awscall") {
			t.Errorf("it depends on %s", dep)
		}
	}
	if !seen {
		t.Error("it does not call the roll: this test looks for the wrong thing")
	}
}
