package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"rollcall/tools/testfile"
)

// TestWorkflows: what others wrote runs only at the commit that was looked at, no checkout leaves
// its token behind, a workflow grants no right to all of its jobs but to read the code, and a job
// that may write runs nothing of the repository.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%v: %v", err, files)
	}
	pinned := regexp.MustCompile(`uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, file := range files {
		data := testfile.Read(t, file)
		var w struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				Permissions map[string]string
				Steps       []struct {
					Uses, Run string
					With      map[string]any
				}
			}
		}
		if err := yaml.Unmarshal(data, &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimRight(line, "\n"); strings.Contains(line, "uses:") && !pinned.MatchString(line) {
				t.Errorf("%s: not pinned by a commit, with its version:%s", file, line)
			}
		}
		if w.Permissions == nil {
			t.Errorf("%s leaves the rights of its jobs to the repository's settings", file)
		}
		for right, level := range w.Permissions {
			if right != "contents" || level != "read" {
				t.Errorf("%s grants %s: %s to every job", file, right, level)
			}
		}
		for name, job := range w.Jobs {
			writes := false
			for _, level := range job.Permissions {
				writes = writes || level == "write"
			}
			for _, s := range job.Steps {
				checkout := strings.HasPrefix(s.Uses, "actions/checkout@")
				if checkout && s.With["persist-credentials"] != false {
					t.Errorf("%s: %s leaves a token in the checkout", file, name)
				}
				if checkout && writes {
					t.Errorf("%s: %s may write and runs what is in the repository", file, name)
				}
			}
		}
	}
}
