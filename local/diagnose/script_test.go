//go:build cli

package diagnose

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/worldfile"
	"rollcall/local/stage"
)

var keep = flag.String("keep", "", "folder in which to leave the captures")

// TestScript takes captures of worlds with the AWS CLI and kubectl, and holds
// that a capture's diagnosis is its world's. Both tools must be installed.
func TestScript(t *testing.T) {
	for _, name := range []string{"healthy-nat", "samples", "nodegroup-update-failed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each call of the AWS CLI starts a process of its own
			file := filepath.Join(here(t), "..", "worlds", name+".yaml")
			dir := filepath.Join(t.TempDir(), "capture")
			if *keep != "" {
				dir = filepath.Join(*keep, name)
			}
			take(t, file, dir)
			want, got := told(t, file), told(t, dir)
			if diff := cmp.Diff(causes(want), causes(got)); diff != "" {
				t.Errorf("incidents (-world +capture):\n%s", diff)
			}
			for _, u := range got.Unknown {
				t.Logf("unknown: %s %s: %s", u.Check, u.Resource, u.Reason)
			}
		})
	}
}

// take takes a capture of a world at the time at which it is diagnosed.
func take(t *testing.T, file, dir string) {
	t.Helper()
	w, err := worldfile.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	at := w.Time.Add(settled)
	s, err := stage.Start(context.Background(), stage.Options{
		World: file, At: at, Template: filepath.Join(here(t), "..", "..", "infra", "Rollcall.template.json"), Quiet: true, Rate: standstill,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := exec.Command("sh", filepath.Join(here(t), "..", "capture.sh"), "--region", s.Template.Region, "--out", dir)
	home := t.TempDir()
	c.Env = append(os.Environ(), "HOME="+home, "KUBECONFIG="+filepath.Join(home, "config"), "AWS_CONFIG_FILE="+filepath.Join(home, "aws"))
	for name, value := range s.AdminEnv() {
		c.Env = append(c.Env, name+"="+value)
	}
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Run(); err != nil {
		t.Fatalf("capture.sh: %v\n%s", err, said.String())
	}
	t.Log(said.String())
	// The stage has a time of its own.
	if err := os.WriteFile(filepath.Join(dir, "time.txt"), []byte(at.Format(time.RFC3339)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// told is what the command says of a world or a capture.
func told(t *testing.T, subject string) Result {
	t.Helper()
	var out, errs bytes.Buffer
	path, err := filepath.Abs(subject)
	if err != nil {
		t.Fatal(err)
	}
	command([]string{"diagnose", "--json", path}, &out, &errs)
	var r Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), errs.String())
	}
	return r
}

func causes(r Result) [][]string {
	var list [][]string
	for _, i := range r.Incidents {
		list = append(list, append([]string{i.Cause, i.Confidence, i.Cluster}, i.Resources...))
	}
	return list
}
