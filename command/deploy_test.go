package command

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/command/callertest"
	"rollcall/command/exit"
	"rollcall/tools/testfile"
)

// TestDeployNeeds: what rollcall deploy needs, and with which status it ends without it.
func TestDeployNeeds(t *testing.T) {
	s, _ := callertest.Serve(t, "../stage/worlds/healthy-nat.yaml", 0)
	callertest.LogIn(t, s)
	dir, sums := t.TempDir(), ""
	for name, body := range map[string][]byte{
		"RollcallStandard.template.json": testfile.Read(t, "deploy/testdata/hub.template.json"), "clusterrole.yaml": testfile.Read(t, "../deploy/clusterrole.yaml"), "functions/report.zip": []byte("report"),
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, filepath.Join(dir, name), body)
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(body), name)
	}
	testfile.Write(t, filepath.Join(dir, "SHA256SUMS"), []byte(sums))
	for name, test := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"no terminal":        {[]string{"deploy", "--channel", "C0123456789", "--release", dir}, exit.Unsure, "a deployment needs a confirmation, and standard input is not a terminal: run it on a terminal, or add --yes"},
		"no channel":         {[]string{"deploy", "--release", dir}, exit.BadInput, "slackChannel: is not set"},
		"no release":         {[]string{"deploy", "--channel", "C0123456789", "--release", t.TempDir()}, exit.BadInput, "holds no release"},
		"a wrong setting":    {[]string{"deploy", "--channel", "C0123456789", "--set", "joinTime", "--release", dir}, exit.BadInput, "want key=value"},
		"no cluster of this": {[]string{"deploy", "--channel", "C0123456789", "--clusters", "none", "--release", dir}, exit.BadInput, "EKS has no cluster none in us-west-2: correct --clusters"},
		"no file":            {[]string{"deploy", "--settings", filepath.Join(dir, "rollcall.yaml"), "--release", dir}, exit.BadInput, "--settings"},
		"a relay for whom":   {[]string{"deploy", "relay", "--release", dir}, exit.BadInput, "name the cluster with --cluster"},
		"a spoke of whom":    {[]string{"deploy", "spoke", "--release", dir}, exit.BadInput, "name the hub as ACCOUNT/REGION with --hub"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			status := Run(t.Context(), Root("rollcall", Stage{}), test.args, &out, &errs)
			if status != test.status || !strings.Contains(errs.String(), test.says) {
				t.Errorf("status %d, want %d: %s%s", status, test.status, out.String(), errs.String())
			}
		})
	}
}
