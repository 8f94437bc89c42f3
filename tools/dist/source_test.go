package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"rollcall/tools/testfile"
	"rollcall/tools/testfull"
)

// TestReaddressed: imports of our packages alone, wherever they stand; no other text.
func TestReaddressed(t *testing.T) {
	file := "package a\n\nimport \"rollcall/cmd/rollcall\"\n\nimport (\n\t_ \"embed\"\n\tx \"rollcall/shared/x\" // rollcall/shared\n\t\"rollcall\"\n\t\"rollcaller/y\"\n)\n\nconst s = \"rollcall/shared/x\"\n"
	want := "package a\n\nimport \"github.com/acme/tools/cmd/rollcall\"\n\nimport (\n\t_ \"embed\"\n\tx \"github.com/acme/tools/cmd/shared/x\" // rollcall/shared\n\t\"github.com/acme/tools/cmd\"\n\t\"rollcaller/y\"\n)\n\nconst s = \"rollcall/shared/x\"\n"
	got, err := readdressed([]byte(file), moduleOf("acme/tools"))
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestSource: the module has the command, what it links and nothing of the stage, and says what
// go install takes.
func TestSource(t *testing.T) {
	t.Chdir("../..")
	members, err := source(moduleOf("acme/rollcall"))
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]string{}
	for _, m := range members {
		content[m.name] = string(m.data)
		if strings.HasSuffix(m.name, "_test.go") || strings.HasPrefix(m.name, "cmd/stage/") || strings.Contains(string(m.data), "\t\"rollcall/shared/") {
			t.Errorf("%s is not of the command, or imports what is not there", m.name)
		}
	}
	for _, name := range []string{"cmd/rollcall/main.go", "cmd/command/command.go", "cmd/shared/checks/list.go", "cmd/LICENSE", "cmd/go.sum"} {
		if content[name] == "" {
			t.Errorf("there is no %s", name)
		}
	}
	mod := content["cmd/go.mod"]
	if !strings.HasPrefix(mod, "module github.com/acme/rollcall/cmd\n") || strings.Contains(mod, "replace") || strings.Contains(mod, "awscdk") || !strings.Contains(mod, "github.com/spf13/cobra v") {
		t.Errorf("go.mod:\n%s", mod)
	}
}

// TestGoInstall: the workflow's step tags the source in the repository, and go install takes it from
// there, though the tag of the release itself is of a module without an address. Nothing is asked
// of the network: github.com is a folder, and other modules are those that built this test. The
// command is compiled under other names, in a minute or two: make test-full plays it.
func TestGoInstall(t *testing.T) {
	if !testfull.Asked() {
		t.Skip("played by make test-full")
	}
	t.Chdir("../..")
	work := t.TempDir()
	github := filepath.Join(work, "github")
	env := append(os.Environ(), "GITHUB_REF_NAME=v1.2.3", "GITHUB_REPOSITORY=acme/rollcall", "GH_TOKEN=token",
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=url.file://"+github+"/.insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/",
		"GIT_CONFIG_KEY_1=url.file://"+github+"/.insteadOf", "GIT_CONFIG_VALUE_1=https://x-access-token:token@github.com/",
		"GIT_CONFIG_KEY_2=init.defaultBranch", "GIT_CONFIG_VALUE_2=main")
	run := func(dir string, command ...string) string {
		t.Helper()
		c := exec.Command(command[0], command[1:]...)
		c.Dir, c.Env = dir, env
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
		}
		return string(out)
	}
	ours := filepath.Join(work, "ours")
	run(work, "git", "init", "--quiet", "--bare", filepath.Join(github, "acme", "rollcall"))
	run(work, "git", "init", "--quiet", ours)
	testfile.Write(t, filepath.Join(ours, "go.mod"), []byte("module rollcall\n"))
	run(ours, "git", "add", "go.mod")
	run(ours, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "release")
	run(ours, "git", "push", "--quiet", "https://github.com/acme/rollcall", "HEAD:refs/heads/main", "HEAD:refs/tags/v1.2.3")

	if err := os.Mkdir(filepath.Join(work, "release"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeSource(filepath.Join(work, "release"), "acme/rollcall", "1.2.3", at); err != nil {
		t.Fatal(err)
	}
	run(work, "bash", "-e", "-c", workflowStep(t, "release", "tag the source for go install"))

	cache, err := goEnv("GOMODCACHE")
	if err != nil {
		t.Fatal(err)
	}
	env = append(env, "GOPATH="+filepath.Join(work, "go"), "GOMODCACHE="+filepath.Join(work, "modules"), "GOBIN="+filepath.Join(work, "bin"),
		"GOPROXY=file://"+filepath.Join(cache, "cache", "download"), "GONOPROXY=github.com/acme", "GONOSUMDB=*", "GOFLAGS=-trimpath -modcacherw")
	run(work, "go", "install", "github.com/acme/rollcall/cmd/rollcall@latest")
	if out := run(work, filepath.Join(work, "bin", "rollcall"), "version"); out != "rollcall version 1.2.3\n" {
		t.Errorf("its version: %q", out)
	}
	if out := run(work, filepath.Join(work, "bin", "rollcall"), "explain", "VcpuLimitExceeded"); !strings.Contains(out, "launch/vcpu-limit") {
		t.Errorf("it explains %q", out)
	}
}

// workflowStep is what a step of a workflow runs.
func workflowStep(t *testing.T, workflow, name string) string {
	t.Helper()
	var w struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal(testfile.Read(t, ".github/workflows/"+workflow+".yml"), &w); err != nil {
		t.Fatal(err)
	}
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			if step.Name == name {
				return step.Run
			}
		}
	}
	t.Fatalf("%s has no step %q", workflow, name)
	return ""
}
