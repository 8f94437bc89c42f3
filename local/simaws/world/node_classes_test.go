package world

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/simaws/worldfile"
)

// TestNodeClassesAreRefusedByTheRules: the worlds write the conditions of Auto Mode's
// NodeClasses, as its controller runs in no world. They say that a role is refused where the
// access entries refuse it, and nowhere else. Whether EKS still looks without the role's path
// is not known: such a role may be admitted.
func TestNodeClassesAreRefusedByTheRules(t *testing.T) {
	files, err := filepath.Glob("../../worlds/corpus/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, file := range files {
		if text, err := os.ReadFile(file); err != nil || !bytes.Contains(text, []byte("InstanceProfileReady")) || !bytes.Contains(text, []byte("NodeClasses:")) {
			continue
		}
		f, err := worldfile.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		w, err := New(f, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for cluster, k := range w.State.Kubernetes {
			for _, o := range k.Objects["nodeclasses"] {
				role, reason := roleAndReason(w, o)
				r := w.Roles.Get(role)
				admits := w.AdmitsAutoRole(cluster, role)
				switch {
				case reason == "UnauthorizedNodeRole" && admits:
					t.Errorf("%s: %s is refused, and has all that it needs", filepath.Base(file), role)
				case reason == "InstanceProfileReady" && !admits && (r == nil || strings.HasSuffix(aws.ToString(r.Arn), ":role/"+role)):
					t.Errorf("%s: %s is admitted, and lacks what it needs", filepath.Base(file), role)
				case reason == "UnauthorizedNodeRole":
					refused++
				}
			}
		}
	}
	if refused < 7 {
		t.Errorf("%d NodeClasses are refused, want one for each way", refused)
	}
}

func roleAndReason(w *World, o map[string]any) (role, reason string) {
	spec, _ := o["spec"].(map[string]any)
	role, _ = spec["role"].(string)
	if profile, _ := spec["instanceProfile"].(string); profile != "" {
		if p := w.Profiles.Get(profile); p != nil && len(p.Roles) > 0 {
			role = aws.ToString(p.Roles[0].RoleName)
		}
	}
	status, _ := o["status"].(map[string]any)
	list, _ := status["conditions"].([]any)
	for _, c := range list {
		if c, _ := c.(map[string]any); c["type"] == "InstanceProfileReady" {
			reason, _ = c["reason"].(string)
		}
	}
	return role, reason
}
