package command

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/local/exit"
	"rollcall/local/simaws"
	"rollcall/local/stage"
)

// asPerson sets the environment in which the AWS CLI works on a world, with nothing of
// this machine in it.
func asPerson(t *testing.T, world string, faults ...simaws.FaultRule) {
	t.Helper()
	s, err := stage.Start(context.Background(), stage.Options{
		World: filepath.Join("..", "worlds", world+".yaml"), Template: filepath.Join("..", "..", "infra", "Rollcall.template.json"),
		Quiet: true, Rate: 1e-3, CallFaults: faults,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	home := t.TempDir()
	for _, name := range []string{"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		t.Setenv(name, "")
	}
	for name, value := range s.AdminEnv() {
		t.Setenv(name, value)
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, "credentials"))
}

// TestCaptureCommand: with what the AWS CLI needs, and nothing else, a capture is taken,
// told, and can be diagnosed.
func TestCaptureCommand(t *testing.T) {
	asPerson(t, "route", simaws.FaultRule{Call: "ec2:DescribeVolumes", Deny: true})
	dir := filepath.Join(t.TempDir(), "capture")
	var out, errs bytes.Buffer
	if status := command([]string{"capture", "--cluster", "eks-workshop", "--out", dir}, &out, &errs); status != 0 || errs.Len() > 0 {
		t.Fatalf("status %d, %s", status, errs.String())
	}
	for _, want := range []string{" files in " + dir + ", ", "of what was asked for is not there\n", "refused (errors.json):\n", "  ec2-describe-volumes: UnauthorizedOperation", "diagnose them: rollcall diagnose " + dir + "\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it prints %q, want %q in it", out.String(), want)
		}
	}
	out.Reset()
	if status := command([]string{"capture", "--cluster", "eks-workshop", "--out", dir, "--resume", "--json"}, &out, &errs); status != 0 {
		t.Fatalf("status %d, %s", status, errs.String())
	}
	var r CaptureResult
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	if r.Dir != dir || r.Kept != r.Files || r.Refused["ec2-describe-volumes"].Code != "UnauthorizedOperation" || r.LeftOut == nil {
		t.Errorf("--json prints %+v", r)
	}
}

// TestCaptureBadInput: one line, and status 64.
func TestCaptureBadInput(t *testing.T) {
	asPerson(t, "route")
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(other, []byte(`{"apiVersion": "v1", "kind": "Config", "current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
		"clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}], "users": [{"name": "u", "user": {"token": "t"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args []string
		env  string // emptied
		says string
	}{
		"no such cluster":                 {[]string{"--cluster", "prod"}, "", "there is no cluster prod in us-west-2; there are: eks-workshop"},
		"no such profile":                 {[]string{"--profile", "nobody"}, "", "there is no profile nobody in "},
		"no credentials":                  {nil, "AWS_ACCESS_KEY_ID", "there are no AWS credentials"},
		"no region":                       {nil, "AWS_REGION", "which region? --region, AWS_REGION or the profile names it"},
		"a full folder":                   {[]string{"--out", full}, "", full + " is not empty: --resume goes on"},
		"a word":                          {[]string{"prod"}, "", `what is "prod"? --cluster names a cluster, --out a folder`},
		"a context for two":               {[]string{"--context", "x", "--cluster", "a,b"}, "", "--context and --kubeconfig go with one --cluster"},
		"a kubeconfig of another cluster": {[]string{"--kubeconfig", other, "--cluster", "eks-workshop"}, "", "context x is of another cluster: it goes to https://127.0.0.1:1"},
		"fewer than none":                 {[]string{"--instances", "-1"}, "", "--instances -1: want 0 or more"},
		"a cluster of no name":            {[]string{"--cluster", "a,"}, "", "--cluster: a name is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.env != "" {
				t.Setenv(test.env, "")
			}
			t.Setenv("AWS_DEFAULT_REGION", "")
			args := append([]string{"capture"}, test.args...)
			if !strings.Contains(strings.Join(args, " "), "--out") {
				args = append(args, "--out", filepath.Join(t.TempDir(), "capture"))
			}
			var out, errs bytes.Buffer
			status := command(args, &out, &errs)
			if status != exit.BadInput || !strings.Contains(errs.String(), test.says) || strings.Count(errs.String(), "\n") != 1 || out.Len() > 0 {
				t.Errorf("status %d, prints %q, %q, want %q in one line", status, out.String(), errs.String(), test.says)
			}
		})
	}
}
