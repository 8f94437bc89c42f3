package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/generate/tree"
)

// copied is a repository with the checks of one family of this one.
func copied(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"shared/checks/cluster", "shared/checkid", worlds} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"doc.go", "health.go"} {
		text, err := os.ReadFile(filepath.Join("../cluster", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "shared/checks/cluster", name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := tree.Read(root)
	if err == nil {
		err = tree.Write(root, list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestNewCheck(t *testing.T) {
	root := copied(t)
	var out, errs bytes.Buffer
	if code := run(root, []string{"cluster/efa-off"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	want := "shared/checks/cluster/efa_off.go\nshared/checks/cluster/efa_off_test.go\n" +
		"stage/worlds/corpus/cluster-efa-off.yaml\nstage/worlds/corpus/cluster-efa-off-healthy.yaml\nshared/checks/list.go\nshared/checkid/ids.go\n"
	if diff := cmp.Diff(out.String(), want); diff != "" {
		t.Errorf("files (-got +want):\n%s", diff)
	}
	list, err := tree.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list, []tree.Check{
		{Family: "cluster", ID: "cluster/health", Func: "Health", File: "shared/checks/cluster/health.go"},
		{Family: "cluster", ID: "cluster/efa-off", Func: "EFAOff", File: "shared/checks/cluster/efa_off.go"},
	}); diff != "" {
		t.Errorf("the list (-got +want):\n%s", diff)
	}
	for file, wants := range map[string][]string{
		tree.ListFile:                                      {"cluster.EFAOff(),"},
		tree.IDFile:                                        {`ClusterEFAOff ID = "cluster/efa-off"`},
		"shared/checks/cluster/efa_off.go":                 {"func EFAOff() check.Check", "Run:        efaOff,"},
		"shared/checks/cluster/efa_off_test.go":            {"func TestEFAOff("},
		"stage/worlds/corpus/cluster-efa-off.yaml":         {"name: cluster-efa-off\n", "{cause: cluster/efa-off,"},
		"stage/worlds/corpus/cluster-efa-off-healthy.yaml": {"name: cluster-efa-off-healthy\n", "check: cluster/efa-off\n"},
	} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Error(err)
		}
		for _, want := range wants {
			if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), strings.Join(strings.Fields(want), " ")) {
				t.Errorf("%s lacks %q:\n%s", file, want, text)
			}
		}
	}
}

// The skeleton compiles in its family, and its test is red for the case that is
// to be written, not for want of a name.
func TestSkeletonIsRed(t *testing.T) {
	overlay := t.TempDir()
	var replace []string
	for _, f := range skeleton("cluster/efa-off")[:2] {
		path := filepath.Join(overlay, filepath.Base(f.name))
		if err := os.WriteFile(path, []byte(f.text), 0o644); err != nil {
			t.Fatal(err)
		}
		at, err := filepath.Abs(filepath.Join("../../..", f.name))
		if err != nil {
			t.Fatal(err)
		}
		replace = append(replace, `"`+at+`": "`+path+`"`)
	}
	plan := filepath.Join(overlay, "overlay.json")
	if err := os.WriteFile(plan, []byte(`{"Replace": {`+strings.Join(replace, ", ")+`}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "test", "-overlay", plan, "-run", "^TestEFAOff$", "rollcall/shared/checks/cluster").CombinedOutput()
	if err == nil {
		t.Fatalf("the skeleton's test is green:\n%s", out)
	}
	for _, want := range []string{"--- FAIL: TestEFAOff/broken", "fail prod [i-0node] [i-0node] TODO", "no case in its test ends in fail"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("its output lacks %q:\n%s", want, out)
		}
	}
	for _, not := range []string{"--- FAIL: TestEFAOff/healthy", "--- FAIL: TestEFAOff/not_read", "build failed"} {
		if strings.Contains(string(out), not) {
			t.Errorf("its output has %q:\n%s", not, out)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	tests := map[string]struct {
		args []string
		code int
		says string
	}{
		"nothing":         {nil, misuse, "Usage:"},
		"two":             {[]string{"cluster/a", "cluster/b"}, misuse, "Usage:"},
		"no id":           {[]string{"efa-self-rule"}, misuse, "is no id"},
		"capitals":        {[]string{"cluster/EFA"}, misuse, "is no id"},
		"out of the tree": {[]string{"cluster/../../x"}, misuse, "is no id"},
		"no family":       {[]string{"efa/self-rule"}, misuse, "there is no family efa (there are cluster)"},
		"there is one":    {[]string{"cluster/health"}, misuse, "there is a check cluster/health, in shared/checks/cluster/health.go"},
		"a file is there": {[]string{"cluster/old"}, misuse, "cluster-old.yaml is there already"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := copied(t)
			if err := os.WriteFile(filepath.Join(root, worlds, "cluster-old.yaml"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			if code := run(root, tt.args, &out, &errs); code != tt.code || !strings.Contains(errs.String(), tt.says) || out.Len() > 0 {
				t.Errorf("exit code %d, out %q, errors %q; want %d and %q", code, &out, &errs, tt.code, tt.says)
			}
			left, err := filepath.Glob(filepath.Join(root, "shared/checks/cluster/*"))
			if err != nil || len(left) != 2 {
				t.Errorf("the family's folder has %q", left)
			}
		})
	}
}

// Elsewhere than at the root there is nothing to add a check to.
func TestNewFailsOutsideARepository(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.TempDir(), []string{"sg/efa-self-rule"}, &out, &errs); code != failed || !strings.Contains(errs.String(), "not the root of the repository") {
		t.Errorf("exit code %d: %s", code, &errs)
	}
}

func TestHelp(t *testing.T) {
	for _, arg := range []string{"-h", "-help", "--help"} {
		var out, errs bytes.Buffer
		if code := run(t.TempDir(), []string{arg}, &out, &errs); code != 0 || out.String() != usage || errs.Len() > 0 {
			t.Errorf("%s: exit code %d, %q", arg, code, &errs)
		}
	}
}

func TestLower(t *testing.T) {
	for name, want := range map[string]string{"SelfRule": "selfRule", "EFASelfRule": "efaSelfRule", "AMI": "ami", "X": "x"} {
		if got := lower(name); got != want {
			t.Errorf("lower(%s) = %s, want %s", name, got, want)
		}
	}
}
