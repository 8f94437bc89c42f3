package tree

import (
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// root is a repository with files.
func root(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func source(family, name, id string) string {
	return "package " + family + "\n\nfunc " + name + "() check.Check {\n\treturn check.Using(nil, check.Check{ID: \"" + id + "\"})\n}\n\n" +
		"// a helper makes no check of its own\nfunc with(c check.Check) check.Check { return c }\n"
}

func TestRead(t *testing.T) {
	dir := root(t, map[string]string{
		"shared/checks/sg/node_egress.go":      source("sg", "NodeEgress", "sg/node-egress"),
		"shared/checks/sg/node_egress_test.go": source("sg", "Test", "sg/test"),
		"shared/checks/sg/another.go":          source("sg", "Another", "sg/another"),
		"shared/checks/launch/kms_key.go":      "package launch\n\nfunc KMSKey() check.Check { return launchCheck(launchSpec{id: \"launch/kms-key\"}) }\n",
		"shared/checks/facts/zones.go":         "package facts\n\nfunc Zones() int { return 1 }\n",
		// sg was written before launch, and of sg one check only.
		ListFile: "\t\tsg.NodeEgress(),\n",
	})
	got, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []Check{
		{"sg", "sg/node-egress", "NodeEgress", "shared/checks/sg/node_egress.go"},
		{"sg", "sg/another", "Another", "shared/checks/sg/another.go"},
		{"launch", "launch/kms-key", "KMSKey", "shared/checks/launch/kms_key.go"},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("Read (-got +want):\n%s", diff)
	}
}

func TestReadRefuses(t *testing.T) {
	const file = "shared/checks/sg/node_egress.go"
	tests := map[string]struct {
		files map[string]string
		why   string
	}{
		"another folder":        {map[string]string{"README.md": ""}, "not the root of the repository"},
		"no id":                 {map[string]string{file: "package sg\n\nfunc NodeEgress() check.Check { return check.Check{} }\n"}, "spells no id"},
		"an id of no form":      {map[string]string{file: source("sg", "NodeEgress", "sg/Node_Egress")}, "is not of the form sg/some-name"},
		"another family's id":   {map[string]string{file: source("sg", "NodeEgress", "nacl/egress")}, "is not of the form sg/some-name"},
		"an id in another file": {map[string]string{file: source("sg", "NodeEgress", "sg/kubelet-ingress")}, "belongs in shared/checks/sg/kubelet_ingress.go"},
		"not exported":          {map[string]string{file: source("sg", "nodeEgress", "sg/node-egress")}, "must be exported"},
		"no Go":                 {map[string]string{file: "packag sg"}, "read " + file},
		"two of the same id":    {map[string]string{file: source("sg", "One", "sg/node-egress") + strings.SplitN(source("sg", "Two", "sg/node-egress"), "\n", 3)[2]}, "another check has the id sg/node-egress"},
		"an id that was there":  {map[string]string{file: source("sg", "NodeEgress", "sg/node-egress"), IDFile: "\tSGOld ID = \"sg/old\"\n"}, "sg/old is gone: ids are permanent"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(root(t, tt.files)); err == nil || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("error %v, want one that says %q", err, tt.why)
			}
		})
	}
}

func TestName(t *testing.T) {
	for id, want := range map[string]string{
		"sg/efa-self-rule": "SGEFASelfRule", "route/ipv6-no-egress": "RouteIPv6NoEgress", "endpoint/s3-route-missing": "EndpointS3RouteMissing",
		"launch/vcpu-limit": "LaunchVCPULimit", "ip/runway": "IPRunway",
	} {
		if got := Name(id); got != want {
			t.Errorf("Name(%s) = %s, want %s", id, got, want)
		}
	}
}

func TestValid(t *testing.T) {
	for id, want := range map[string]bool{
		"sg/efa-self-rule": true, "a/b": true, "s3/x2": true,
		"": false, "sg": false, "sg/": false, "/x": false, "sg/EFA": false, "sg/a_b": false, "sg/-a": false, "sg/a-": false, "sg/a--b": false, "sg/a/b": false, "sg/../x": false, "3g/x": false, "sg/x\n": false,
	} {
		if got := Valid(id); got != want {
			t.Errorf("Valid(%q) = %v", id, got)
		}
	}
}

// The committed list and constants are what the checks' files give.
func TestListIsCurrent(t *testing.T) {
	list, err := Read("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string][]byte{ListFile: All(list), IDFile: IDs(list)} {
		want, err := format.Source(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("../../../..", file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s is not current: run make generate (-committed +now):\n%s", file, diff)
		}
	}
}

// What a detector judges is written; a check that is gone is left out before the
// program that writes it anew is compiled.
func TestWatched(t *testing.T) {
	dir := root(t, map[string]string{ListFile: "", IDFile: "", WatchedFile: ""})
	egress := Check{"sg", "sg/node-egress", "NodeEgress", "shared/checks/sg/node_egress.go"}
	list := []Check{egress, {"launch", "launch/kms-key", "KMSKey", "shared/checks/launch/kms_key.go"}}
	read := func() string {
		text, err := os.ReadFile(filepath.Join(dir, WatchedFile))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if err := WriteWatched(dir, list, []Detector{{"JoinCheck", []string{"sg/node-egress", "launch/kms-key"}}, {"Sweep", []string{"launch/kms-key"}}}); err != nil {
		t.Fatal(err)
	}
	const head = "// Code generated by go run ./shared/checks/generate. DO NOT EDIT.\n\npackage checks\n\nimport (\n\t\"rollcall/shared/checks/check\"\n"
	want := head + "\t\"rollcall/shared/checks/launch\"\n\t\"rollcall/shared/checks/sg\"\n)\n\n" +
		"func watchedByJoinCheck() []check.Check {\n\treturn []check.Check{\n\t\tsg.NodeEgress(),\n\t\tlaunch.KMSKey(),\n\t}\n}\n\n" +
		"func watchedBySweep() []check.Check {\n\treturn []check.Check{\n\t\tlaunch.KMSKey(),\n\t}\n}\n"
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	if err := Write(dir, []Check{egress}); err != nil {
		t.Fatal(err)
	}
	want = head + "\t\"rollcall/shared/checks/sg\"\n)\n\n" +
		"func watchedByJoinCheck() []check.Check {\n\treturn []check.Check{\n\t\tsg.NodeEgress(),\n\t}\n}\n\n" +
		"func watchedBySweep() []check.Check {\n\treturn []check.Check{}\n}\n"
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Errorf("after a check is gone (-want +got):\n%s", diff)
	}
}
