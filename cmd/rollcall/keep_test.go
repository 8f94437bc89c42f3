package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rollcall/local/testfull"
)

// The button is the person's who looks: the story waits for it, and goes on.
func TestKeptStoryWaitsForThePerson(t *testing.T) {
	if !testfull.Asked() {
		t.Skip("it plays a story")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "rollcall")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), binary, "demo", "zone", "--rate", "400", "--keep")
	cmd.Dir, cmd.Env = dir, []string{}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	turn, seen := false, false
	var text strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		text.WriteString(line + "\n")
		if at := regexp.MustCompile(`Your turn: open (\S+) `).FindStringSubmatch(line); at != nil {
			turn = true
			approve(t, at[1])
		}
		seen = seen || strings.Contains(line, "you approved it")
		if strings.HasPrefix(line, "Ctrl-C ends it.") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil || !turn || !seen || !strings.Contains(text.String(), "\nAll of it was seen, in ") {
		t.Errorf("it ended with %v; its turn %t, seen %t:\n%s", err, turn, seen, text.String())
	}
}

// approve presses the button on the page as its script does.
func approve(t *testing.T, page string) {
	t.Helper()
	answer, err := http.Get(page + "/state.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var state struct {
		Channels []struct {
			ID       string `json:"id"`
			Messages []struct {
				TS     string `json:"ts"`
				Blocks []struct {
					ID       string `json:"block_id"`
					Elements []struct {
						Action string `json:"action_id"`
					} `json:"elements"`
				} `json:"blocks"`
			} `json:"messages"`
		} `json:"channels"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&state); err != nil {
		t.Fatal(err)
	}
	for _, m := range state.Channels[0].Messages {
		for _, b := range m.Blocks {
			for _, e := range b.Elements {
				if e.Action != "approve" {
					continue
				}
				body, err := json.Marshal(map[string]string{"channel": state.Channels[0].ID, "ts": m.TS, "block": b.ID, "action": e.Action, "user": "U0ONCALL01"})
				if err != nil {
					t.Fatal(err)
				}
				pressed, err := http.Post(page+"/press", "application/json", bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				pressed.Body.Close()
				return
			}
		}
	}
	t.Error("no message has the button")
}
