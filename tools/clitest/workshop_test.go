//go:build cli

package clitest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"rollcall/stage/fakeslack"
	"rollcall/tools/binaries"

	"rollcall/stage"
)

var update = flag.Bool("update", false, "write docs/workshop.md anew")

// page is the transcript, from this folder.
const page = "../../docs/workshop.md"

// rate is how much faster than the wall the stage runs.
const rate = 20

// TestWorkshop plays the workshop with each AWS CLI on this machine. The page
// is written by the first of them on the PATH, and must fit what each prints.
func TestWorkshop(t *testing.T) {
	tools, err := commandLines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Fatalf("no kubectl on the PATH: install it (Debian: apt-get install kubernetes-client): %v", err)
	}
	for i, cli := range tools {
		t.Run(strings.ReplaceAll(cli.version, "/", " "), func(t *testing.T) {
			got := render(play(t, cli))
			if *update && i == 0 {
				if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(page)
			if err != nil {
				t.Fatalf("%v; write it with: go test -tags cli ./tools/clitest -update", err)
			}
			if d := difference(got, string(want)); d != "" {
				t.Errorf("docs/workshop.md is not what %s prints now (got -, want +); with -update it is written anew:\n%s", cli.version, d)
			}
		})
	}
}

// play runs all commands of the workshop on a fresh stage.
func play(t *testing.T, cli tool) []entry {
	built, err := binaries.Build("../..")
	if err != nil {
		t.Fatal(err)
	}
	s, err := stage.Start(t.Context(), stage.Options{
		World: "../../stage/worlds/route.yaml", Template: "../../infra/Rollcall.template.json", Binaries: built, Rate: rate,
	})
	if err != nil {
		t.Fatalf("start the stage: %v", err)
	}
	defer s.Close()
	sh := newShell(t, cli.path, s.AdminEnv())
	known := map[string]string{}
	var entries []entry
	for _, st := range workshop {
		if st.slack != "" {
			e := entry{say: st.say, output: awaitSlack(t, s, st.slack)}
			t.Logf("Slack: %s", e.output)
			entries = append(entries, e)
			continue
		}
		command := fill(st.run, known)
		began := time.Now()
		output, ok := try(t, sh, st, command, known)
		t.Logf("%5.1f s  $ %s\n%s", time.Since(began).Seconds(), command, output)
		if !ok {
			if st.stop {
				t.FailNow()
			}
			continue
		}
		entries = append(entries, entry{say: st.say, command: command, output: output})
	}
	return entries
}

// patience is how long something that is awaited may take, on the wall.
const patience = 60 * time.Second

// try runs a command until it prints what is wanted: once, or where something
// is awaited until its time is up.
func try(t *testing.T, sh *shell, st step, command string, known map[string]string) (string, bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		output, status, err := sh.run(t.Context(), command)
		if err != nil {
			t.Error(err)
			return output, false
		}
		wrong := st.judge(output, status, known)
		if wrong == "" {
			return output, true
		}
		if !st.await || time.Now().After(deadline) {
			t.Errorf("$ %s\n%s\nexit status %d: %s", command, output, status, wrong)
			return output, false
		}
	}
}

// judge tells what is wrong with a command's output, and learns the names in
// it.
func (s step) judge(output string, status int, known map[string]string) string {
	if failed := status != 0; failed != s.fails {
		return fmt.Sprintf("got failed %t, want %t", failed, s.fails)
	}
	for _, want := range s.want {
		re := regexp.MustCompile("(?m)" + fill(want, known))
		m := re.FindStringSubmatch(output)
		if m == nil {
			return fmt.Sprintf("want a match of %q", re)
		}
		for i, name := range re.SubexpNames() {
			if name != "" {
				known[name] = m[i]
			}
		}
	}
	for _, not := range s.not {
		if re := regexp.MustCompile("(?m)" + fill(not, known)); re.MatchString(output) {
			return fmt.Sprintf("want no match of %q", re)
		}
	}
	return ""
}

// fill puts the known names into a text.
func fill(text string, known map[string]string) string {
	for name, value := range known {
		text = strings.ReplaceAll(text, "<"+name+">", value)
	}
	return text
}

// awaitSlack waits until Rollcall's message says something and gives its
// first line.
func awaitSlack(t *testing.T, s *stage.Stage, want string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		list := s.Slack.Messages(stage.Channel)
		if len(list) == 1 && strings.Contains(list[0].Text, want) {
			return list[0].Text + "\n"
		}
		select {
		case <-ctx.Done():
			t.Fatalf("Slack has %q, want one message with %q", texts(list), want)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func texts(list []fakeslack.Message) []string {
	var out []string
	for _, m := range list {
		out = append(out, m.Text)
	}
	return out
}
