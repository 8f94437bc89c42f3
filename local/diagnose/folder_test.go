package diagnose

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The nodegroup of the healthy capture on which the tests work.
const (
	young  = "i-052c0a5ba86c62d2c"
	subnet = "subnet-0c30000000000000d"
	table  = "rtb-0cd20000000000002"
	taken  = "2026-11-20T15:10:00Z"
)

// change is one step from the healthy capture to another one.
type change func(t *testing.T, dir string)

// folder makes a capture of the healthy one.
func folder(t *testing.T, changes ...change) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "capture")
	healthy := filepath.Join(here(t), "testdata", "healthy")
	files, err := os.ReadDir(healthy)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// Linked, not copied, where that can be: what is changed is written as a new file.
	for _, f := range files {
		if err := os.Link(filepath.Join(healthy, f.Name()), filepath.Join(dir, f.Name())); err != nil {
			if err := os.CopyFS(dir, os.DirFS(healthy)); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	for _, c := range changes {
		c(t, dir)
	}
	return dir
}

// here is this package's folder, wherever the command has gone.
func here(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func without(names ...string) change {
	return func(t *testing.T, dir string) {
		for _, name := range names {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func with(name, text string) change {
	return func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// edited changes what a file holds.
func edited(name string, edit func(v any)) change {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, name+".json")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		edit(v)
		if data, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
		with(name+".json", string(data))(t, dir)
	}
}

// replaced changes a text in all files and in their names.
func replaced(old, new string) change {
	return func(t *testing.T, dir string) {
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			with(strings.ReplaceAll(filepath.Base(path), old, new), strings.ReplaceAll(string(data), old, new))(t, dir)
		}
	}
}

// at goes down a tree.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			v = v.([]any)[p]
		}
	}
	return v
}

// noNode takes the node of the young instance away.
func noNode() change {
	return edited("kubectl-get-nodes.eks-workshop", func(v any) {
		list := v.(map[string]any)
		var kept []any
		for _, n := range at(v, "items").([]any) {
			if !strings.HasSuffix(at(n, "spec", "providerID").(string), young) {
				kept = append(kept, n)
			}
		}
		list["items"] = kept
	})
}

// noWayOut takes the default route of the young instance's subnet away.
func noWayOut() change {
	return edited("ec2-describe-route-tables", func(v any) {
		for _, rt := range at(v, "RouteTables").([]any) {
			if at(rt, "RouteTableId") == table {
				rt.(map[string]any)["Routes"] = at(rt, "Routes").([]any)[:1]
			}
		}
	})
}

// launched changes when the young instance was launched.
func launched(when any) change {
	return edited("ec2-describe-instances", func(v any) {
		for _, r := range at(v, "Reservations").([]any) {
			for _, in := range at(r, "Instances").([]any) {
				if at(in, "InstanceId") == young {
					in.(map[string]any)["LaunchTime"] = when
				}
			}
		}
	})
}

// running is the event of the young instance.
func running(when string) change {
	return with("event.json", `{"version": "0", "id": "7bf73129-1428-4cd3-a780-95db273d1602", "detail-type": "EC2 Instance State-change Notification",
  "source": "aws.ec2", "account": "111122223333", "time": "`+when+`", "region": "us-west-2",
  "resources": ["arn:aws:ec2:us-west-2:111122223333:instance/`+young+`"], "detail": {"instance-id": "`+young+`", "state": "running"}}`)
}
