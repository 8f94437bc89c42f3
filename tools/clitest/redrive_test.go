//go:build cli

package clitest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/stage"
	"rollcall/stage/platform/queue"
)

// TestRedrive runs make redrive, as the README says, against a stage: it finds the
// account and the queues by the environment alone, shows before it moves, and moves
// when it is told to. What comes of what it moves is played in stage.
func TestRedrive(t *testing.T) {
	s, err := stage.Start(t.Context(), stage.Options{World: "../../stage/worlds/route.yaml", Template: "../../infra/Rollcall.template.json", Rate: rate, Quiet: true})
	if err != nil {
		t.Fatalf("start the stage: %v", err)
	}
	defer s.Close()
	depth := func() map[string]int {
		all := map[string]int{}
		for _, q := range s.Template.Queues {
			d, err := s.Queues.Depth(q.ARN)
			if err != nil {
				t.Fatal(err)
			}
			if n := d.Visible + d.Delayed; n > 0 { // joins has a delay
				all[q.Name] = n
			}
		}
		return all
	}
	for name, bodies := range map[string][]string{"rollcall-results-dead.fifo": {"a press", "a run"}, "rollcall-joins-dead": {"an outcome"}, "rollcall-failed": {"an event"}} {
		for _, q := range s.Template.Queues {
			for i, body := range bodies {
				if q.Name != name {
					continue
				}
				m := queue.Outgoing{Body: body}
				if q.FIFO {
					m.Group, m.Dedup = "eks-workshop", string(rune('a'+i))
				}
				if _, err := s.Queues.Send(q.ARN, m); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	dead := map[string]int{"rollcall-results-dead.fifo": 2, "rollcall-joins-dead": 1, "rollcall-failed": 1}
	const failed = "rollcall-failed: 1, stay: they are events that reached no queue, and SQS moves only what a queue gave up; what they were about is found by the next sweep, and an approval among them runs out and can be asked for again"
	for _, run := range []struct {
		words []string
		says  []string
		then  map[string]int
	}{
		{nil, []string{
			failed, "rollcall-joins-dead: 1, would go back to rollcall-joins", "rollcall-results-dead.fifo: 2, would go back to rollcall-results.fifo",
			"Nothing was moved. Mend first why they were given up, then: make redrive MOVE=1",
		}, dead},
		{[]string{"PREFIX=another", "MOVE=1"}, []string{"the dead-letter queues of another are empty"}, dead},
		{[]string{"MOVE=1"}, []string{
			failed, "rollcall-joins-dead: 1 of about 1 went back to rollcall-joins", "rollcall-results-dead.fifo: 2 of about 2 went back to rollcall-results.fifo",
		}, map[string]int{"rollcall-failed": 1, "rollcall-joins": 1, "rollcall-results.fifo": 2}},
	} {
		make := exec.CommandContext(t.Context(), "make", append([]string{"-C", "../..", "--no-print-directory", "redrive"}, run.words...)...)
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, "AWS_") && !strings.HasPrefix(v, "MAKE") {
				make.Env = append(make.Env, v)
			}
		}
		for k, v := range s.AdminEnv() {
			make.Env = append(make.Env, k+"="+v)
		}
		none := t.TempDir() + "/none" // nobody's profile
		make.Env = append(make.Env, "AWS_CONFIG_FILE="+none, "AWS_SHARED_CREDENTIALS_FILE="+none)
		out, err := make.Output()
		if err != nil {
			t.Fatalf("make redrive %v: %v", run.words, err)
		}
		if diff := cmp.Diff(run.says, strings.Split(strings.TrimSpace(string(out)), "\n")); diff != "" {
			t.Errorf("make redrive %v (-want +said):\n%s", run.words, diff)
		}
		if diff := cmp.Diff(run.then, depth()); diff != "" {
			t.Errorf("make redrive %v, messages by queue (-want +got):\n%s", run.words, diff)
		}
	}
}
