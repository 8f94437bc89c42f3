//go:build cli

package command

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/command/callertest"
	"rollcall/stage/examine"
)

// TestByTheCLIsFiles: what the AWS CLI wrote is taken as it is: its profiles, and the
// context that aws eks update-kubeconfig makes, with its command for tokens.
func TestByTheCLIsFiles(t *testing.T) {
	s, at := callertest.Serve(t, filepath.Join("..", "stage", "worlds", "route-blackhole.yaml"), examine.Settled)
	callertest.LogIn(t, s)
	home := os.Getenv("HOME")
	cli := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("aws", append([]string{"--endpoint-url", s.Cloud.Endpoint()}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("aws %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	env := s.AdminEnv()
	for name, value := range map[string]string{"region": env["AWS_REGION"], "aws_access_key_id": env["AWS_ACCESS_KEY_ID"], "aws_secret_access_key": env["AWS_SECRET_ACCESS_KEY"]} {
		cli("configure", "set", name, value, "--profile", "written")
	}
	t.Setenv("AWS_PROFILE", "written")
	kubeconfig := filepath.Join(home, ".kube", "config")
	t.Setenv("KUBECONFIG", kubeconfig) // client-go knows the home folder from its start on
	cli("eks", "update-kubeconfig", "--name", cluster, "--alias", "workshop", "--kubeconfig", kubeconfig)
	for _, by := range []string{"", " --context workshop"} {
		var out, errs bytes.Buffer
		line := fmt.Sprintf("diagnose --at %s --cluster %s --endpoint-url %s%s", at.Format(time.RFC3339), cluster, s.Cloud.Endpoint(), by)
		status := command(strings.Fields(line), &out, &errs)
		if status != 1 || !strings.HasPrefix(out.String(), "FAULT eks-workshop / new_nodegroup_2 · ") || strings.Contains(out.String(), "kubernetes:") {
			t.Errorf("%q: status %d\n%s%s", by, status, out.String(), errs.String())
		}
	}
}
