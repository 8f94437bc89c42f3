package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rollcall/command"
	"rollcall/tools/testfile"
	"rollcall/tools/testfull"
)

// The program works where there is nothing but itself: in a folder that is no clone,
// without Go, Node and an environment.
func TestAlone(t *testing.T) {
	dir := t.TempDir()
	binary := built(t, dir, "rollcall")
	capture := filepath.Join(dir, "capture")
	if err := os.CopyFS(capture, os.DirFS("../../command/diagnose/testdata/healthy")); err != nil {
		t.Fatal(err)
	}
	told := filepath.Join(dir, "told") // with the event that invoked a function
	if err := os.CopyFS(told, os.DirFS(capture)); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(told, "event.json"), []byte(running))
	type run struct {
		args   []string
		in     string
		status int
		out    string
	}
	tests := map[string]run{
		"a capture's event":   {[]string{"diagnose", "--verbose", "told"}, "", 0, `"function":"launch-watch"`},
		"a story":             {[]string{"demo", "zone"}, "", 64, "rollcall: worlds and the demo are played by rollcall-stage, a program of the same release: put it beside this one, as "},
		"a world":             {[]string{"diagnose", "world.yaml"}, "", 64, string(filepath.Separator) + "rollcall-stage\n"},
		"a healthy capture":   {[]string{"diagnose", "capture"}, "", 0, "OK: all instances have joined"},
		"a plan":              {[]string{"preflight", "--subnet", "subnet-0dead", "capture"}, "", 1, "WOULD BE REFUSED"},
		"a text piped":        {[]string{"explain"}, "kubelet: Unauthorized\n", 0, "iam/access-missing"},
		"a text nobody knows": {[]string{"explain", "The moon is in the wrong house."}, "", 2, "unknown"},
		"help":                {[]string{"--help"}, "", 0, "Available Commands"},
		"completions":         {[]string{"completion", "bash"}, "", 0, "rollcall"},
	}
	world := testfile.Read(t, "../../stage/worlds/route-blackhole.yaml")
	testfile.Write(t, filepath.Join(dir, "world.yaml"), world)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(binary, tt.args...)
			cmd.Dir, cmd.Env, cmd.Stdin = dir, []string{}, strings.NewReader(tt.in)
			out, _ := cmd.CombinedOutput() // what it ended with is in its state
			if got := cmd.ProcessState.ExitCode(); got != tt.status || !strings.Contains(string(out), tt.out) {
				t.Errorf("status %d, want %d; prints %q, want %q in it", got, tt.status, out, tt.out)
			}
		})
	}
	t.Run("kubectl's plugin", func(t *testing.T) { foundByKubectl(t, binary) })
	t.Run("an assistant", func(t *testing.T) {
		cmd := exec.Command(binary, "mcp")
		cmd.Dir, cmd.Env = dir, []string{}
		s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "v1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "diagnose", Arguments: map[string]any{"path": "capture"}})
		if err != nil || r.IsError || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, "OK: all instances have joined") {
			t.Errorf("the answer is %+v, %v", r, err)
		}
		if err := s.Close(); err != nil || cmd.ProcessState.ExitCode() != 0 {
			t.Errorf("it ended with %v, %s", err, cmd.ProcessState)
		}
	})
}

// built is a program of this repository in a folder.
func built(t *testing.T, dir, name string) string {
	t.Helper()
	binary := filepath.Join(dir, name)
	if out, err := exec.Command("go", "build", "-o", binary, "../"+name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// The program holds no method of an AWS client that it does not call, and is small by that: the
// linker keeps all of them (800 of EC2's alone) once something finds methods by name, as
// html/template and text/template do. It is built without flags, as go install builds it.
func TestNoMethodIsHeldForNothing(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "rollcall")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	symbols, err := exec.Command("go", "tool", "nm", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, folder := range []string{"command", "functions", "infra/deadletters", "shared"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// What the SDK itself calls, to log in and to find endpoints.
	own := []string{"signin.CreateOAuth2Token", "sso.GetRoleCredentials", "ssooidc.CreateToken", "sts.AssumeRole", "sts.AssumeRoleWithWebIdentity", "dynamodb.DescribeEndpoints"}
	held := 0
	for _, m := range regexp.MustCompile(`service/([a-z0-9]+)\.\(\*Client\)\.([A-Z]\w+)\n`).FindAllStringSubmatch(string(symbols), -1) {
		held++
		if !strings.Contains(source.String(), "."+m[2]) && !slices.Contains(own, m[1]+"."+m[2]) {
			t.Errorf("%s of %s is held and never called", m[2], m[1])
		}
	}
	if held < 50 || held > 150 {
		t.Errorf("%d methods of clients are held", held)
	}
	stripped := binary + "-stripped"
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", stripped, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(stripped)
	if err != nil {
		t.Fatal(err)
	}
	const most = 60e6 // bytes; 40e6 today
	if info.Size() > most {
		t.Errorf("%d bytes, want at most %d", info.Size(), int(most))
	}
}

// With rollcall-stage beside it the program plays worlds and stories, from wherever it is
// called.
func TestWithTheStage(t *testing.T) {
	programs, dir := t.TempDir(), t.TempDir()
	binary := built(t, programs, "rollcall")
	built(t, programs, "rollcall-stage")
	world, err := filepath.Abs("../../stage/worlds/route-blackhole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args   []string
		status int
		out    string
	}{
		"a world":       {[]string{"diagnose", "--json", world}, 1, `"cause": "route/blackhole"`},
		"a plan":        {[]string{"preflight", "--subnet", "subnet-0dead", world}, 1, "WOULD BE REFUSED"},
		"no such story": {[]string{"demo", "zoen"}, 64, "rollcall: there is no story zoen; did you mean zone?\n"},
		"help":          {[]string{"demo", "--help"}, 0, "Usage:\n  rollcall demo [STORY]"},
	}
	if testfull.Asked() { // make demo plays all of them
		tests["a story"] = struct {
			args   []string
			status int
			out    string
		}{[]string{"demo", "zone", "--rate", "400"}, 0, "\nAll steps verified in "}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(binary, tt.args...)
			cmd.Dir, cmd.Env = dir, []string{}
			out, _ := cmd.CombinedOutput() // what it ended with is in its state
			if got := cmd.ProcessState.ExitCode(); got != tt.status || !strings.Contains(string(out), tt.out) {
				t.Errorf("status %d, want %d; prints %q, want %q in it", got, tt.status, out, tt.out)
			}
		})
	}
}

// A story's output is read in a terminal: its heading, the message as Slack shows it, each step
// once, nothing wider than a screen but commands to paste, and no page that is gone by then.
func TestStoryInATerminal(t *testing.T) {
	if !testfull.Asked() {
		t.Skip("it plays a story")
	}
	dir := t.TempDir()
	built(t, dir, "rollcall-stage")
	cmd := exec.CommandContext(t.Context(), built(t, dir, "rollcall"), "demo", "zone", "--rate", "400")
	cmd.Dir, cmd.Env = dir, []string{}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if lines[0] != "Story: zone (simulated AWS, up to 400 times real time)" || lines[len(lines)-1] != "Add --keep to press the button yourself and look at the Slack page." || !strings.Contains(string(out), "[Approve this fix]") || len(lines) > 100 {
		t.Errorf("%d lines, or another first or last one:\n%s", len(lines), out)
	}
	seen := map[string]bool{}
	for _, line := range lines {
		text := strings.TrimSpace(line)
		if utf8.RuneCountInString(line) > 100 && !strings.HasPrefix(text, "aws ") && !strings.HasPrefix(text, "kubectl ") {
			t.Errorf("%d characters: %s", utf8.RuneCountInString(line), line)
		}
		if strings.HasPrefix(text, "✓ ") && seen[text] {
			t.Errorf("twice: %s", line)
		}
		seen[text] = true
	}
}

// running is the event of an instance of the healthy capture.
const running = `{"version": "0", "id": "7bf73129-1428-4cd3-a780-95db273d1602", "detail-type": "EC2 Instance State-change Notification",
  "source": "aws.ec2", "account": "111122223333", "time": "2026-11-20T15:09:05Z", "region": "us-west-2",
  "resources": ["arn:aws:ec2:us-west-2:111122223333:instance/i-052c0a5ba86c62d2c"], "detail": {"instance-id": "i-052c0a5ba86c62d2c", "state": "running"}}`

// BenchmarkStart is how long the program takes to start and end, of which a person
// waits 50 ms at most: all that its packages do before main is in it.
func BenchmarkStart(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "rollcall")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", binary, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		b.Fatal(err)
	}
	for _, arg := range []string{"--version", "--help"} {
		b.Run(arg, func(b *testing.B) {
			for b.Loop() {
				if out, err := exec.Command(binary, arg).CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
			}
			b.ReportMetric(float64(info.Size())/1e6, "MB")
		})
	}
}

// Bad input is one line that says what to do, and status 64.
func TestBadInput(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		says string
	}{
		"no such command":         {[]string{"diagnos"}, "rollcall: unknown command \"diagnos\" for \"rollcall\"\n\nDid you mean this?\n\tdiagnose\n\n"},
		"no such flag":            {[]string{"diagnose", "--jsn"}, "rollcall: unknown flag: --jsn; did you mean --json?\n"},
		"no flag like it":         {[]string{"diagnose", "--frobnicate"}, "rollcall: unknown flag: --frobnicate; see rollcall diagnose --help\n"},
		"two letters swapped":     {[]string{"diagnose", "--clutser", "prod"}, "rollcall: unknown flag: --clutser; did you mean --cluster?\n"},
		"no capture":              {[]string{"diagnose"}, "rollcall: nothing to diagnose: give --cluster NAME or a capture folder; see rollcall diagnose --help\n"},
		"a capture and a cluster": {[]string{"diagnose", "--cluster", "prod", "a"}, "rollcall: a: --cluster and its flags cannot be used with a capture or a world\n"},
		"no cluster":              {[]string{"diagnose", "--region", "us-west-2"}, "rollcall: no cluster given: set --cluster to one or more, or --all-clusters for all of the region\n"},
		"a name that is none":     {[]string{"diagnose", "--cluster", "prod,"}, "rollcall: --cluster: a name is empty\n"},
		"all and one":             {[]string{"diagnose", "--all-clusters", "--cluster", "prod"}, "rollcall: --all-clusters and --cluster cannot be used together\n"},
		"no instance":             {[]string{"diagnose", "--instance", "ip-10-0-0-1"}, "rollcall: --instance ip-10-0-0-1: an instance's id begins with i-\n"},
		"two captures":            {[]string{"diagnose", "a", "b"}, "rollcall: one world or capture at a time: unexpected argument \"b\"\n"},
		"nothing planned":         {[]string{"preflight", "a"}, "rollcall: nothing to check: give --file, --launch-template or --subnet\n"},
		"an empty text":           {[]string{"explain", " "}, "rollcall: the text is empty; see rollcall explain --help\n"},
		"a time that is none":     {[]string{"diagnose", "--at", "noon", "a"}, "rollcall: --at noon: it is not a time such as 2026-11-20T15:10:00Z\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if got := command.Run(t.Context(), command.Root("rollcall", command.Stage{}), tt.args, &out, &errs); got != 64 || errs.String() != tt.says || out.Len() > 0 {
				t.Errorf("status %d, prints %q, %q, want %q", got, out.String(), errs.String(), tt.says)
			}
		})
	}
}

// The button is the person's who looks: the story waits for it, and goes on.
func TestKeptStoryWaitsForThePerson(t *testing.T) {
	if !testfull.Asked() {
		t.Skip("it plays a story")
	}
	dir := t.TempDir()
	built(t, dir, "rollcall-stage")
	cmd := exec.CommandContext(t.Context(), built(t, dir, "rollcall"), "demo", "zone", "--rate", "400", "--keep")
	cmd.Dir, cmd.Env = dir, []string{}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	turn, seen, exported := false, false, false
	var text strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		text.WriteString(line + "\n")
		if at := regexp.MustCompile(`Your turn: open (\S+) `).FindStringSubmatch(line); at != nil {
			turn = true
			approve(t, at[1])
		}
		seen = seen || strings.Contains(line, "you approved it")
		// Who looks needs them before the button is pressed.
		exported = exported || !turn && strings.HasPrefix(line, "  export AWS_ACCESS_KEY_ID=")
		if strings.HasPrefix(line, "Ctrl-C ends it.") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil || !turn || !seen || !exported || strings.Count(text.String(), "AWS_ACCESS_KEY_ID=") != 1 || !strings.Contains(text.String(), "\nAll steps verified in ") {
		t.Errorf("it ended with %v; its turn %t, seen %t, credentials before %t:\n%s", err, turn, seen, exported, text.String())
	}
}

// Ctrl-C while the story waits ends it and the stage, as it says, and nothing after it
// claims otherwise.
func TestInterruptedStory(t *testing.T) {
	if !testfull.Asked() {
		t.Skip("it plays a story")
	}
	dir := t.TempDir()
	built(t, dir, "rollcall-stage")
	cmd := exec.CommandContext(t.Context(), built(t, dir, "rollcall"), "demo", "route", "--rate", "400", "--keep")
	cmd.Dir, cmd.Env = dir, []string{}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var after []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if after != nil {
			after = append(after, lines.Text())
		}
		if strings.HasSuffix(lines.Text(), "Ctrl-C ends the story and the stage.") {
			after = []string{}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // how it ended is in its state
	if said := strings.Join(after, ""); cmd.ProcessState.ExitCode() != 130 || after == nil || strings.TrimSpace(said) != "" || errs.String() != "rollcall: interrupted\n" {
		t.Errorf("status %d, then prints %q, %q", cmd.ProcessState.ExitCode(), said, errs.String())
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
				body := testfile.JSON(t, map[string]string{"channel": state.Channels[0].ID, "ts": m.TS, "block": b.ID, "action": e.Action, "user": "U0ONCALL01"})
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

// TestPlugin: called as kubectl's plugin it speaks of itself so, in help, examples and
// errors; called by its own name it does not.
func TestPlugin(t *testing.T) {
	for called, plugin := range map[string]bool{
		"/home/a/.krew/bin/kubectl-rollcall": true, "kubectl-rollcall.exe": true,
		"/usr/bin/rollcall": false, "rollcall.exe": false, "kubectl-rollcall-other": false, "/opt/kubectl-rollcall/rollcall": false,
	} {
		for _, args := range [][]string{{"--help"}, {"capture", "--help"}, {"explain", "--help"}, {"diagnose"}} {
			var out bytes.Buffer
			command.Run(t.Context(), command.Root(called, command.Stage{}), args, &out, &out)
			typed := strings.Count(out.String(), "kubectl rollcall")
			plain := strings.Count(out.String(), "rollcall "+args[0]) - strings.Count(out.String(), "kubectl rollcall "+args[0])
			if plugin && (typed == 0 || plain > 0) || !plugin && typed > 0 {
				t.Errorf("%s %s: %d times kubectl rollcall, %d times without kubectl:\n%s", called, args, typed, plain, out.String())
			}
		}
	}
}

// foundByKubectl: kubectl itself starts the program by its name. Where there is no kubectl
// the name alone is tried.
func foundByKubectl(t *testing.T, program string) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "kubectl-rollcall")
	if err := os.Link(program, binary); err != nil {
		t.Fatal(err)
	}
	command := []string{binary}
	if kubectl, err := exec.LookPath("kubectl"); err == nil {
		command = []string{kubectl, "rollcall"}
	}
	cmd := exec.Command(command[0], append(command[1:], "explain", "kubelet: Unauthorized")...)
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "iam/access-missing") {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
}
