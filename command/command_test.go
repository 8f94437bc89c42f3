package command

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"rollcall/command/caller"
	"rollcall/command/callertest"
	"rollcall/command/doctor"
	"rollcall/command/exit"
	"rollcall/command/explain"
	"rollcall/command/result"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/config"
	"rollcall/shared/diagnosis"
	record "rollcall/shared/incident"
	"rollcall/shared/kube"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/s3"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage"
	"rollcall/stage/examine"
	"rollcall/stage/simaws"
	"rollcall/tools/testfile"
)

// command runs a command line.
func command(args []string, out, errs io.Writer) int {
	return commandOn(strings.NewReader(""), args, out, errs)
}

func commandOn(in io.Reader, args []string, out, errs io.Writer) int {
	root := Root("rollcall", Stage{Worlds: examine.Worlds{}})
	root.SetIn(in)
	return Run(context.Background(), root, args, out, errs)
}

// first is the first incident as cause and confidence, or "".
func first(r result.Result) string {
	if len(r.Incidents) == 0 {
		return ""
	}
	return r.Incidents[0].Cause + " " + r.Incidents[0].Confidence
}

func TestWords(t *testing.T) {
	var out, errs bytes.Buffer
	command([]string{"diagnose", "../stage/worlds/corpus/route-no-egress.yaml"}, &out, &errs)
	for _, want := range []string{
		"FAULT eks-workshop / new_nodegroup_2 · ", "route/no-egress (certain)", "aws ec2 create-route --region us-west-2", "Explains  node/not-registered",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("prints\n%s\nwant %q in it\n%s", out.String(), want, errs.String())
		}
	}
}

func TestHelpAndMessages(t *testing.T) {
	for name, tt := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"help":               {[]string{"diagnose", "--help"}, 0, "Exit status"},
		"no command":         {nil, 0, "Available Commands"},
		"another command":    {[]string{"diagnos"}, 64, ""},
		"nothing":            {[]string{"diagnose"}, 64, ""},
		"two":                {[]string{"diagnose", "a", "b"}, 64, ""},
		"an empty message":   {[]string{"explain", " "}, 64, ""},
		"kubelet's word":     {[]string{"explain", "kubelet: Unauthorized"}, 0, "iam/access-missing"},
		"unknown message":    {[]string{"explain", "The moon is in the wrong house."}, 2, "unknown"},
		"a symptom's places": {[]string{"explain", `Post "https://ec2.eu-west-1.amazonaws.com/": dial tcp 54.1.2.3:443: i/o timeout`}, 0, "instance/console-error\n  an AWS service that nodes need: no response came"},
		"in their order":     {[]string{"explain", `Post "https://ec2.eu-west-1.amazonaws.com/": dial tcp 54.1.2.3:443: i/o timeout`}, 0, "\n  Likely causes, in order: endpoint/missing, route/no-egress, "},
		"what failed":        {[]string{"explain", `Post "https://ec2.eu-west-1.amazonaws.com/": dial tcp 54.1.2.3:443: i/o timeout`}, 0, ": the EC2 API did not respond in time."},
		"a symptom as JSON":  {[]string{"explain", "--json", "NodeNotReady"}, 0, "\"symptom\": true,\n  \"look\": [\n    \"node/cni-not-ready\""},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if status := command(tt.args, &out, &errs); status != tt.status || !strings.Contains(out.String(), tt.says) {
				t.Errorf("status %d, want %d; prints %q, %q", status, tt.status, out.String(), errs.String())
			}
		})
	}
}

// asPerson sets the environment in which the AWS CLI works on a world, with nothing of
// this machine in it.
func asPerson(t *testing.T, world string, faults ...simaws.FaultRule) {
	t.Helper()
	s, err := stage.Start(context.Background(), stage.Options{
		World: filepath.Join("..", "stage", "worlds", world+".yaml"), Template: filepath.Join("..", "infra", "Rollcall.template.json"),
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
	for _, want := range []string{" files in " + dir + ", ", "resources not found\n", "refused (errors.json):\n", "  ec2-describe-volumes: UnauthorizedOperation", "next: rollcall diagnose " + dir + "\n"} {
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
	testfile.Write(t, filepath.Join(full, "mine"), nil)
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
		"no credentials":                  {nil, "AWS_ACCESS_KEY_ID", "no AWS credentials found"},
		"no region":                       {nil, "AWS_REGION", "no region: set --region, AWS_REGION or the profile's region"},
		"a full folder":                   {[]string{"--out", full}, "", full + " is not empty: --resume goes on"},
		"a word":                          {[]string{"prod"}, "", `unexpected argument "prod": give a cluster with --cluster, a folder with --out`},
		"a context for two":               {[]string{"--context", "x", "--cluster", "a,b"}, "", "--context and --kubeconfig need exactly one --cluster"},
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

const hostile = "\x1b]0;PWNED\a\x1b[2J\u202egpj\u009b31m\r"

// Text of the account does not reach the terminal as something to do, however
// it is cut into writes; the command's own colors do.
func TestCleaned(t *testing.T) {
	for _, x := range []struct {
		text   string
		colors bool
		want   string
	}{
		{"plain\ttext\n", false, "plain\ttext\n"},
		{"prod · läuft – ✅\n", true, "prod · läuft – ✅\n"},
		{hostile, false, "�]0;PWNED��[2J�gpj�31m�"},
		{hostile, true, "�]0;PWNED��[2J�gpj�31m�"},
		{"\033[1;31mFAULT\033[0m prod", true, "\033[1;31mFAULT\033[0m prod"},
		{"\033[1;31mFAULT\033[0m prod", false, "�[1;31mFAULT�[0m prod"},
		{"\033[8mhidden\033[", true, "�[8mhidden�["},
	} {
		if got := cleaned(x.text, x.colors); got != x.want {
			t.Errorf("%q, colors %t: %q, want %q", x.text, x.colors, got, x.want)
		}
	}
	var b bytes.Buffer
	c := &cleaner{to: &b, raw: func() bool { return false }}
	for _, one := range []byte("läuft ✅ \x1b[2J\xff\n") {
		if n, err := c.Write([]byte{one}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := b.String(); got != "läuft ✅ �[2J�\n" {
		t.Errorf("byte by byte: %q", got)
	}
}

// Notes, errors and results are cleaned on their way, JSON is left as it is.
func TestTerminalIsClean(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"sts-get-caller-identity.json": `{"Account":"111122223333"}`, "x\x1b[2J\u202e.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Skip("no such names here: ", err)
		}
	}
	for _, args := range [][]string{{"diagnose", dir}, {"diagnose", dir, "--json"}, {"diagnose", dir + hostile}, {hostile}} {
		var out, errs bytes.Buffer
		root := Root("rollcall", Stage{Worlds: examine.Worlds{}})
		Run(t.Context(), root, args, &out, &errs)
		if all := out.String() + errs.String(); strings.ContainsAny(all, "\x1b\a\r\u202e\u009b") || errs.Len() == 0 {
			t.Errorf("%q: %q", args, all)
		}
	}
}

// The commands that are about a deployment find it by the caller's profile, and say
// with their status how it stands.
func TestDeploymentCommands(t *testing.T) {
	s, _ := callertest.Serve(t, "../stage/worlds/healthy-nat.yaml", examine.Settled)
	callertest.LogIn(t, s)
	run := func(args ...string) (status int, out, errs string) {
		var o, e bytes.Buffer
		status = command(args, &o, &e)
		return status, o.String(), e.String()
	}
	status, out, errs := run("doctor")
	if status != exit.Healthy || errs != "" || !strings.Contains(out, "✓ rules: 26 OK\n") || !strings.Contains(out, "✓ cluster eks-workshop: reader has access\n") {
		t.Errorf("doctor: status %d, %s%s", status, out, errs)
	}
	secret, ok := s.SecretFor(config.SlackSecretARN)
	if !ok {
		t.Fatal("there is no secret")
	}
	s.Cloud.SetSecret(secret.Name, "")
	status, out, _ = run("doctor")
	if status != exit.Causes || !strings.HasPrefix(out, "✗ Slack token ") || !strings.Contains(out, "\n    printf 'Slack bot token: ' && read -rs T") {
		t.Errorf("doctor without a token: status %d, %s", status, out)
	}
	var found struct{ Healthy, Whole bool }
	if _, out, _ = run("doctor", "--json"); json.Unmarshal([]byte(out), &found) != nil || found.Healthy || !found.Whole {
		t.Errorf("doctor --json: %s", out)
	}

	for _, more := range [][]string{nil, {"--cluster", "eks-workshop"}} {
		if status, out, errs = run(append([]string{"incidents"}, more...)...); status != exit.Healthy || out != "No incident is open.\n" {
			t.Errorf("no incidents %q: status %d, %s%s", more, status, out, errs)
		}
	}
	records := store.New(dynamodb.NewFromConfig(s.AsAdmin()), s.Template.Tables[0].Name)
	began := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	for _, inc := range []record.Incident{
		{Key: report.Key{Cluster: "eks-workshop", Check: checkid.RouteNoEgress, Resource: "rtb-1"}, State: record.Open, Began: began, Cause: diagnosis.Cause{Title: "no route", Confidence: finding.Certain}},
		{Key: report.Key{Cluster: "eks-workshop", Check: checkid.RouteNoEgress, Resource: "rtb-2"}, State: record.Closed, Began: began, Resolved: time.Now(), Cause: diagnosis.Cause{Title: "no route either"}},
	} {
		if _, err := records.SaveIncident(t.Context(), inc); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"incidents", "--cluster", "eks-workshop"}, exit.Causes, "no route  eks-workshop:route/no-egress:rtb-1\n"},
		{[]string{"incidents", "--cluster", "eks-workshop", "--all", "--json"}, exit.Causes, `"id": "eks-workshop:route/no-egress:rtb-2"`},
		{[]string{"show", "eks-workshop:route/no-egress:rtb-1"}, exit.Causes, "OPEN eks-workshop · no route\n"},
		{[]string{"show", "eks-workshop:route/no-egress:rtb-2"}, exit.Healthy, "CLOSED eks-workshop · no route either\n"},
		{[]string{"show", "--json", "eks-workshop:route/no-egress:rtb-1"}, exit.Causes, `"state": "open"`},
	} {
		if status, out, errs = run(tt.args...); status != tt.status || !strings.Contains(out, tt.says) || errs != "" {
			t.Errorf("%q: status %d, %q, errors %q; want %d, %q", tt.args, status, out, errs, tt.status, tt.says)
		}
	}
	if status, out, errs = run("show", "eks-workshop:route/no-egress:rtb-3"); status != exit.BadInput || out != "" || !strings.HasSuffix(errs, "no such incident; rollcall incidents --all lists them\n") {
		t.Errorf("show of none: status %d, %q, %q", status, out, errs)
	}

	// What is over is found without its cluster's name, also where nothing is open any more and
	// EKS lists the cluster no longer.
	gone := record.Incident{Key: report.Key{Cluster: "gone", Check: checkid.RouteNoEgress, Resource: "rtb-9"}, State: record.Closed, Began: began, Resolved: time.Now(), Cause: diagnosis.Cause{Title: "no route then"}}
	if _, err := records.SaveIncident(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	for range 2 { // opened, then closed
		r, err := records.ClusterRecord(t.Context(), "gone")
		if err != nil {
			t.Fatal(err)
		}
		r.Follow(r.Version == 0, false, time.Now())
		if err := records.SaveClusterRecord(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args         []string
		status       int
		says, errors string
	}{
		{[]string{"incidents"}, exit.Healthy, "No incident is open.\n", ""},
		{[]string{"incidents", "--all"}, exit.Healthy, "no route then  gone:route/no-egress:rtb-9\n", ""},
		{[]string{"incidents", "--all", "--cluster", "gone"}, exit.Healthy, "no route then  gone:route/no-egress:rtb-9\n", ""},
		{[]string{"show", "rtb-9"}, exit.Healthy, "CLOSED gone · no route then\n", ""},
		{[]string{"replay", "rtb-9"}, exit.Unsure, "", "nothing was kept of this incident"},
	} {
		if status, out, errs = run(tt.args...); status != tt.status || !strings.Contains(out, tt.says) || !strings.Contains(errs, tt.errors) {
			t.Errorf("%q: status %d, %q, errors %q; want %d, %q, %q", tt.args, status, out, errs, tt.status, tt.says, tt.errors)
		}
	}

	// That nothing is open in a cluster that is not watched says nothing.
	if status, out, errs = run("incidents", "--cluster", "eks-workshop,eks-workshp"); status != exit.BadInput || out != "" || errs != "rollcall: the deployment knows no cluster eks-workshp; is it eks-workshop?\n" {
		t.Errorf("incidents of a stranger: status %d, %q, %q", status, out, errs)
	}

	// What a newer release wrote may be an open incident.
	if _, err := records.SaveIncident(t.Context(), record.Incident{Key: report.Key{Cluster: "newer", Check: checkid.RouteNoEgress, Resource: "rtb-1"}, State: record.Open, Format: report.Format + 1}); err != nil {
		t.Fatal(err)
	}
	if status, _, errs = run("incidents", "--cluster", "newer"); status != exit.Unsure || !strings.HasPrefix(errs, "note: some are of a newer release than this command's, and are left out: ") {
		t.Errorf("incidents of a newer release: status %d, %q", status, errs)
	}

	for _, f := range s.Template.Functions {
		s.Deployment.Delete(f.ARN)
	}
	if status, out, errs = run("incidents"); status != exit.BadInput || out != "" || !strings.Contains(errs, "there is no deployment of Rollcall in us-west-2 of account 111122223333: --region and --profile choose another") {
		t.Errorf("incidents without a deployment: status %d, %q, %q", status, out, errs)
	}
	if status, out, _ = run("doctor"); status != exit.Causes || !strings.Contains(out, "Rollcall is not deployed in this account and region") {
		t.Errorf("doctor without a deployment: status %d, %q", status, out)
	}
}

// Without a terminal a profile with an MFA device is one sentence, whatever the command.
func TestProfileWithMFA(t *testing.T) {
	callertest.Profiles(t, "[default]\naws_access_key_id = A\naws_secret_access_key = S\n[profile mfa]\nregion = us-west-2\nrole_arn = arn:aws:iam::444455556666:role/reader\nsource_profile = default\nmfa_serial = arn:aws:iam::111122223333:mfa/you\n")
	for _, args := range [][]string{{"doctor"}, {"incidents"}, {"show", "x"}, {"replay", "x"}, {"diagnose", "--cluster", "prod"}, {"capture", "--cluster", "prod"}} {
		var out, errs bytes.Buffer
		if status := command(append(args, "--profile", "mfa"), &out, &errs); status != exit.BadInput || !strings.Contains(errs.String(), "the profile asks for a code of the MFA device arn:aws:iam::111122223333:mfa/you, and there is no terminal to ask for it") || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%q: status %d, %q", args, status, errs.String())
		}
	}
}

// What was mistyped is one line, before anybody is asked anything.
func TestDeploymentCommandsMistyped(t *testing.T) {
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"doctor", "prod"}, "rollcall: rollcall doctor takes no arguments: unexpected \"prod\"\n"},
		{[]string{"incidents", "prod"}, "rollcall: rollcall incidents takes no arguments: unexpected \"prod\"\n"},
		{[]string{"show"}, "rollcall: give one incident: rollcall incidents lists them; see rollcall show --help\n"},
		{[]string{"show", "a", "b"}, "rollcall: give one incident: rollcall incidents lists them; see rollcall show --help\n"},
	} {
		var out, errs bytes.Buffer
		if status := command(tt.args, &out, &errs); status != exit.BadInput || errs.String() != tt.says || out.Len() > 0 {
			t.Errorf("%q: status %d, %q", tt.args, status, errs.String())
		}
	}
}

// By which credentials the account of a spoke is looked at, and what is said where there are
// none, or others than were meant.
func TestElsewhere(t *testing.T) {
	s, _ := callertest.Serve(t, "../stage/worlds/healthy-nat.yaml", examine.Settled)
	callertest.LogIn(t, s)
	by, err := callerOf(t.Context(), caller.Options{})
	if err != nil {
		t.Fatal(err)
	}
	own, other := spoke.ID{Account: by.Account, Region: "eu-west-1"}, spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	for name, tt := range map[string]struct {
		e    elsewhere
		of   spoke.ID
		says string
	}{
		"another region of the own account": {elsewhere{}, own, ""},
		"nobody said how":                   {elsewhere{}, other, doctor.ErrNoWay.Error()},
		"a profile of the account":          {elsewhere{profiles: map[string]string{own.Account: "stage"}}, own, ""},
		"a profile of another account":      {elsewhere{profiles: map[string]string{other.Account: "stage"}}, other, "the profile stage is of account " + own.Account + ", and --spoke-profile names it for " + other.Account},
		"a profile that is not there":       {elsewhere{profiles: map[string]string{other.Account: "nobody"}}, other, "the profile nobody: "},
		"a role that does not let in":       {elsewhere{role: "Auditor"}, other, "the role Auditor of account 222233334444: "},
	} {
		_, err := tt.e.opened(by, caller.Options{})(t.Context(), tt.of)
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
		if no := errors.Is(err, doctor.ErrNoWay); no != (name == "nobody said how") {
			t.Errorf("%s: %v is ErrNoWay: %t", name, err, no)
		}
	}
}

// What is piped and longer than a message is read as a log, to its end.
func TestExplainLog(t *testing.T) {
	quiet := strings.Repeat("Nov 20 15:03:11 ip-10-0-1-2 systemd[1]: Started Session 1 of User root.\n", 2000)
	last := "Nov 20 15:04:11 ip-10-0-1-2 kubelet[1]: E1120 15:04:11.123456 1 kubelet_node_status.go:96] \"Unable to register node with API server\" err=\"Unauthorized\" token=AKIAIOSFODNN7EXAMPLE\n"
	var out, errs bytes.Buffer
	if status := commandOn(strings.NewReader(quiet), []string{"explain"}, &out, &errs); status != exit.Unsure || errs.Len() > 0 || out.String() != "2000 lines read; nothing is known of any.\n" {
		t.Errorf("status %d, %q, errors %q", status, out.String(), errs.String())
	}
	out.Reset()
	if status := commandOn(strings.NewReader(quiet+last), []string{"explain", "-"}, &out, &errs); status != exit.Healthy || errs.Len() > 0 || !strings.HasPrefix(out.String(), "line 2001: iam/access-missing\n") {
		t.Errorf("status %d, %q, errors %q", status, out.String(), errs.String())
	}
	out.Reset()
	commandOn(strings.NewReader(quiet+last), []string{"explain", "--json"}, &out, &errs)
	var got explain.Log
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Lines != 2001 || len(got.Told) != 1 || got.Told[0].Line != 2001 || got.Told[0].Count != 1 || got.Told[0].Check != "iam/access-missing" {
		t.Errorf("%v: %+v", err, got)
	}
}

// One denied permission and one console for 200 instances are a screen, not a wall: each
// was found to be as wide as 4 KB or as long as 15 lines.
func TestOneScreen(t *testing.T) {
	for world, want := range map[string]string{
		"denied-route-tables": "\n  ec2:DescribeRouteTables denied: 27 checks not run for eks-workshop (route/no-egress, route/blackhole, route/nat-unusable and 24 more)\n",
		"burst-200":           ": instance/console-error not run for 200: i-000686ca92b4ee5bf, i-0007d632422ce84db, i-00113b0466269db4d and 197 more\n",
		"healthy-nat":         "within their join time.\n\nAdvice: route/cross-zone-nat; --advice prints it\n",
	} {
		t.Run(world, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			command([]string{"diagnose", "../stage/worlds/" + world + ".yaml"}, &out, &errs)
			if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "ADVICE") {
				t.Errorf("want %q, and no advice, in:\n%s", want, out.String())
			}
			for _, line := range strings.Split(out.String(), "\n") {
				if len(line) > 400 {
					t.Errorf("a line of %d bytes: %s", len(line), line)
				}
			}
			if lines := strings.Count(out.String(), "\n"); lines > 30 {
				t.Errorf("%d lines:\n%s", lines, out.String())
			}
		})
	}
}

// Ctrl-C ends a command with the status that shells give it, and one word.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	root := Root("rollcall", Stage{})
	root.AddCommand(&cobra.Command{Use: "wait", RunE: func(c *cobra.Command, _ []string) error {
		cancel()
		return fmt.Errorf("ask AWS: %w", c.Context().Err())
	}})
	var out, errs bytes.Buffer
	if status := Run(ctx, root, []string{"wait"}, &out, &errs); status != exit.Interrupted || errs.String() != "rollcall: interrupted\n" || out.Len() > 0 {
		t.Errorf("status %d, prints %q, %q", status, out.String(), errs.String())
	}
}

// What was not read after an interrupt is no finding: commands end as interrupted, not
// with a result of what they had.
func TestInterruptedWhileAWSIsAsked(t *testing.T) {
	for _, args := range [][]string{
		{"diagnose", "--cluster", "prod"}, {"doctor"}, {"incidents"}, {"preflight", "--subnet", "subnet-0abc", "--cluster", "prod"}, {"capture", "--cluster", "prod", "--out", filepath.Join(t.TempDir(), "capture")},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err == nil && bytes.Contains(body, []byte("GetCallerIdentity")) {
				fmt.Fprint(w, `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::111122223333:user/you</Arn><Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`)
				return
			}
			cancel()
			<-r.Context().Done()
		}))
		for name, value := range map[string]string{
			"AWS_ENDPOINT_URL": api.URL, "AWS_REGION": "us-west-2", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "x", "AWS_PROFILE": "", "AWS_CONFIG_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true",
		} {
			t.Setenv(name, value)
		}
		var out, errs bytes.Buffer
		if status := Run(ctx, Root("rollcall", Stage{}), args, &out, &errs); status != exit.Interrupted || !strings.HasSuffix(errs.String(), "rollcall: interrupted\n") || out.Len() > 0 {
			t.Errorf("%q: status %d, prints %q, %q", args, status, out.String(), errs.String())
		}
		api.Close()
	}
}

// What is no file is not completed with one.
func TestCompletion(t *testing.T) {
	for line, want := range map[string]cobra.ShellCompDirective{
		"diagnose --region ": cobra.ShellCompDirectiveNoFileComp, "diagnose --cluster ": cobra.ShellCompDirectiveNoFileComp, "incidents --profile ": cobra.ShellCompDirectiveNoFileComp,
		"show ": cobra.ShellCompDirectiveNoFileComp, "diagnose --html ": cobra.ShellCompDirectiveDefault, "diagnose ": cobra.ShellCompDirectiveDefault,
	} {
		var out, errs bytes.Buffer
		command(strings.Split("__complete "+line, " "), &out, &errs)
		if !strings.HasSuffix(out.String(), fmt.Sprintf(":%d\n", want)) {
			t.Errorf("%q: %q, want directive %d", line, out.String(), want)
		}
	}
}

// The version is a command as well as a flag.
func TestVersionCommand(t *testing.T) {
	var flag, out, errs bytes.Buffer
	command([]string{"--version"}, &flag, &errs)
	if status := command([]string{"version"}, &out, &errs); status != exit.Healthy || out.String() != flag.String() || !strings.HasPrefix(out.String(), "rollcall version ") || strings.Contains(out.String(), "unknown") || errs.Len() > 0 {
		t.Errorf("status %d, %q, want %q; %s", status, out.String(), flag.String(), errs.String())
	}
}

// The page of a world shows what was printed, and draws the way that ends.
func TestPage(t *testing.T) {
	for world, tt := range map[string]struct {
		status int
		words  []string
	}{
		"route-no-egress":          {exit.Causes, []string{"<h1>eks-workshop / new_nodegroup_2: subnet-0c30000000000000d has no route to the internet</h1>", "Account 111122223333 · us-west-2 · route-no-egress.yaml<br>", " · 1 cause found · ", "<strong>✗ EC2, ECR, S3, STS</strong>", ">✗ EC2, ECR, S3, STS</text>", ">✓ the cluster API</text>", ">no route</text>", "aws ec2 create-route"}},
		"nacl-return-nat":          {exit.Causes, []string{">nat-0aa40000000000001</text>", ">✗ acl-0f70000000000000b</text>"}},
		"sg-node-egress":           {exit.Causes, []string{">✗ sg-0b60000000000000b</text>"}},
		"route-leaves-view":        {exit.Unsure, []string{" · cause unknown: some checks did not run · ", "NOT CHECKED", ">? EC2, ECR, S3, STS</text>"}},
		"endpoint-missing-healthy": {exit.Healthy, []string{"OK: all instances have joined", "<h2>Network paths</h2>", ">✓ "}},
	} {
		t.Run(world, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "page.html")
			var out, errs bytes.Buffer
			status := command([]string{"diagnose", "--html", file, "../stage/worlds/corpus/" + world + ".yaml"}, &out, &errs)
			text, err := os.ReadFile(file)
			if status != tt.status || err != nil || errs.Len() > 0 {
				t.Fatalf("status %d, want %d; %v; %s", status, tt.status, err, errs.String())
			}
			for _, word := range tt.words {
				if !strings.Contains(string(text), word) {
					t.Errorf("the page has no %q", word)
				}
			}
		})
	}
}

// The page of a cluster that is there draws its network as that of a capture does.
func TestPageOfACluster(t *testing.T) {
	s, at := callertest.Serve(t, "../stage/worlds/corpus/route-no-egress.yaml", examine.Settled)
	callertest.LogIn(t, s)
	file := filepath.Join(t.TempDir(), "page.html")
	var out, errs bytes.Buffer
	status := command([]string{"diagnose", "--cluster", "eks-workshop", "--at", at.Format(time.RFC3339), "--html", file}, &out, &errs)
	text, err := os.ReadFile(file)
	if status != exit.Causes || err != nil {
		t.Fatalf("status %d; %v; %s", status, err, errs.String())
	}
	for _, word := range []string{"<title>eks-workshop / new_nodegroup_2: subnet-0c30000000000000d has no route to the internet</title>", "Account 111122223333 · us-west-2 · eks-workshop<br>", ">✗ EC2, ECR, S3, STS</text>"} {
		if !strings.Contains(string(text), word) {
			t.Errorf("the page has no %q", word)
		}
	}
}

// A page that cannot be written is the person's to mend.
func TestPageWithoutPlace(t *testing.T) {
	var out, errs bytes.Buffer
	status := command([]string{"diagnose", "--html", filepath.Join(t.TempDir(), "none", "page.html"), "../stage/worlds/corpus/route-no-egress.yaml"}, &out, &errs)
	if status != exit.BadInput || !strings.Contains(errs.String(), "--html ") || !strings.Contains(errs.String(), "no such file or directory") || out.Len() > 0 {
		t.Errorf("status %d, out %q, errors %q", status, out.String(), errs.String())
	}
}

const cluster = "eks-workshop"

// TestLive is the command as a person types it, against a world with a blackhole behind
// real ports: a profile's endpoint, EKS's own way to Kubernetes or a kubeconfig's.
func TestLive(t *testing.T) {
	s, at := callertest.Serve(t, filepath.Join("..", "stage", "worlds", "route-blackhole.yaml"), examine.Settled)
	callertest.LogIn(t, s)
	endpoint, ca, _ := s.Cloud.Kubernetes(cluster)
	context := filepath.Join(t.TempDir(), "kubeconfig")
	token, err := kube.Token(t.Context(), sts.NewPresignClient(sts.NewFromConfig(s.AsAdmin())), cluster)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := func(server string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: here\nclusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]\ncontexts: [{name: here, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: %s}}]\n",
			server, base64.StdEncoding.EncodeToString(ca), token)
	}
	testfile.Write(t, context, []byte(kubeconfig(endpoint)))
	admin := s.AdminEnv()
	const cause, clean = "FAULT eks-workshop / new_nodegroup_2 · ", "eks-workshop: OK: all instances have joined"
	for name, tt := range map[string]struct {
		args   string
		env    map[string]string
		status int
		says   string // in what is printed, or the whole of what is wrong
	}{
		"a cluster":                       {"--cluster eks-workshop", nil, 1, cause},
		"all clusters":                    {"--all-clusters", nil, 1, cause},
		"a profile of the command line":   {"--cluster eks-workshop --profile stage", map[string]string{"AWS_PROFILE": "other"}, 1, cause},
		"an endpoint of the command line": {"--cluster eks-workshop --region us-west-2 --endpoint-url " + admin["AWS_ENDPOINT_URL"], map[string]string{"AWS_CONFIG_FILE": "/dev/null", "AWS_PROFILE": "", "AWS_ACCESS_KEY_ID": admin["AWS_ACCESS_KEY_ID"], "AWS_SECRET_ACCESS_KEY": admin["AWS_SECRET_ACCESS_KEY"]}, 1, cause},
		"a context":                       {"--cluster eks-workshop --context here", map[string]string{"KUBECONFIG": context}, 1, cause},
		"a kubeconfig":                    {"--cluster eks-workshop --kubeconfig " + context, nil, 1, cause},
		"what is not known, once":         {"--cluster eks-workshop", nil, 1, "\nNot known here\n  how launches of the last weeks went"},
		"a nodegroup in trouble":          {"--cluster eks-workshop --nodegroup new_nodegroup_2", nil, 1, cause},
		"a nodegroup that is well":        {"--cluster eks-workshop --nodegroup default", nil, 0, clean},
		"an instance in trouble":          {"--instance i-0ff8170bdcdf5f682", nil, 1, cause},
		"of another cluster":              {"--instance i-0ff8170bdcdf5f682 --cluster prod", nil, 64, "rollcall: i-0ff8170bdcdf5f682 belongs to cluster eks-workshop (by its tags)\n"},
		"no such cluster":                 {"--cluster eks-workshp", nil, 64, "rollcall: there is no cluster eks-workshp in us-west-2 of account 111122223333; is it eks-workshop?\n"},
		"no such nodegroup":               {"--cluster eks-workshop --nodegroup defalt", nil, 64, "rollcall: eks-workshop has no nodegroup, NodePool or group defalt, only "},
		"no such instance":                {"--instance i-0123456789abcdef0", nil, 64, "rollcall: instance i-0123456789abcdef0 not found in us-west-2 of account 111122223333\n"},
		"no such profile":                 {"--cluster eks-workshop --profile ops", nil, 64, "rollcall: there is no profile ops in "},
		"no such context":                 {"--cluster eks-workshop --context there", map[string]string{"KUBECONFIG": context}, 64, "rollcall: the kubeconfig: context \"there\" does not exist\n"},
		"nobody listens":                  {"--cluster eks-workshop --endpoint-url http://127.0.0.1:1", nil, 2, "rollcall: AWS cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused\n"},
		"no credentials":                  {"--cluster eks-workshop --region us-west-2", map[string]string{"AWS_PROFILE": "", "AWS_CONFIG_FILE": "/dev/null"}, 64, "rollcall: no AWS credentials found: sign in "},
		"watched until all have joined":   {"--cluster eks-workshop --nodegroup default --watch", nil, 0, "  eks-workshop: all have joined\n"},
		"a page of many looks":            {"--cluster eks-workshop --html x.html --watch", nil, 64, "rollcall: --html and --watch cannot be used together\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			var out, errs bytes.Buffer
			status := command(append([]string{"diagnose", "--at", at.Format(time.RFC3339)}, strings.Fields(tt.args)...), &out, &errs)
			if status != tt.status {
				t.Fatalf("status %d, want %d\n%s%s", status, tt.status, out.String(), errs.String())
			}
			wrong := strings.HasPrefix(tt.says, "rollcall: ")
			if wrong && (!strings.HasPrefix(errs.String(), tt.says) || strings.Count(errs.String(), "\n") != 1 || out.Len() > 0) || !wrong && (!strings.Contains(out.String(), tt.says) || errs.Len() > 0) {
				t.Errorf("prints %q, %q, want %q", out.String(), errs.String(), tt.says)
			}
		})
	}
	t.Run("as JSON", func(t *testing.T) {
		var out, errs bytes.Buffer
		if status := command([]string{"diagnose", "--json", "--at", at.Format(time.RFC3339), "--cluster", cluster}, &out, &errs); status != 1 || errs.Len() > 0 {
			t.Errorf("status %d, %s", status, errs.String())
		}
		if r := decoded(t, out.Bytes()); len(r.Notes) != 1 || first(r) != "route/blackhole certain" {
			t.Errorf("notes %q, first %q", r.Notes, first(r))
		}
	})
	t.Run("a context of another cluster", func(t *testing.T) {
		other := filepath.Join(t.TempDir(), "kubeconfig")
		ca = []byte("of another")
		testfile.Write(t, other, []byte(kubeconfig("https://other.invalid")))
		var out, errs bytes.Buffer
		status := command([]string{"diagnose", "--cluster", cluster, "--kubeconfig", other}, &out, &errs)
		if want := "rollcall: context here is of another cluster: it goes to https://other.invalid, and eks-workshop is at " + endpoint + "\n"; status != 64 || errs.String() != want {
			t.Errorf("status %d, %q, want %q", status, errs.String(), want)
		}
	})
}

// What is refused is named with the permission that it takes, and nothing is taken for
// well that could not be looked at.
func TestLiveNamesWhatIsRefused(t *testing.T) {
	s, at := callertest.Serve(t, filepath.Join("..", "stage", "worlds", "denied-route-tables.yaml"), examine.Settled)
	callertest.LogIn(t, s)
	var out, errs bytes.Buffer
	status := command([]string{"diagnose", "--at", at.Format(time.RFC3339), "--cluster", cluster}, &out, &errs)
	if status != 2 || !strings.Contains(out.String(), "ec2:DescribeRouteTables: denied (UnauthorizedOperation") {
		t.Errorf("status %d, want the permission named:\n%s%s", status, out.String(), errs.String())
	}
}

func decoded(t *testing.T, printed []byte) result.Result {
	t.Helper()
	var r result.Result
	if err := json.Unmarshal(printed, &r); err != nil {
		t.Fatalf("%v in %q", err, printed)
	}
	return r
}

// plannedIn writes a plan for the cluster of the route story, and returns its path.
func plannedIn(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.json")
	testfile.Write(t, path, []byte(text))
	return path
}

const (
	storyWorld = "../stage/worlds/route.yaml"
	walledOff  = "subnet-0c30000000000000d"
	natSubnet  = "subnet-0b20000000000000a"
)

func storyNodegroup(subnet, more string) string {
	return `{"clusterName": "eks-workshop", "nodegroupName": "batch", "subnets": ["` + subnet + `"],
		"nodeRole": "arn:aws:iam::111122223333:role/eksctl-eks-workshop-NodeInstanceRole"` + more + `}`
}

// What is planned is taken from a file, by its id, or not at all.
func TestPreflight(t *testing.T) {
	for _, tt := range []struct {
		name     string
		args     []string
		status   int
		out, err string
	}{
		{"a file", []string{"--file", plannedIn(t, storyNodegroup(natSubnet, ""))}, exit.Healthy, "nodegroup batch: it would be created, and its nodes would join.\n", ""},
		{"a file, as the AWS CLI names it", []string{"--cli-input-json", "file://" + plannedIn(t, storyNodegroup(walledOff, ""))}, exit.Causes, "WOULD FAIL eks-workshop / batch · " + walledOff + " has no route to the internet", ""},
		{"a subnet", []string{"--subnet", walledOff}, exit.Causes, "WOULD FAIL eks-workshop / default, new_nodegroup_2 · " + walledOff + " has no route to the internet", ""},
		{"a launch template", []string{"--launch-template", "lt-0dead000000000000:3"}, exit.Causes, "WOULD BE REFUSED eks-workshop · The launch template does not exist", ""},
		{"another cluster", []string{"--file", plannedIn(t, storyNodegroup(natSubnet, "")), "--cluster", "staging"}, exit.BadInput, "", "--cluster staging: the file is for eks-workshop\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			status := command(append([]string{"preflight", storyWorld}, tt.args...), &out, &errs)
			if status != tt.status || !strings.Contains(out.String(), tt.out) || !strings.HasSuffix(errs.String(), tt.err) || strings.Count(errs.String(), "\n") > 1 {
				t.Errorf("status %d, out %q, errors %q; want %d, …%q…, …%q", status, out.String(), errs.String(), tt.status, tt.out, tt.err)
			}
		})
	}
}

func storyPool(subnet string) string {
	return `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: batch}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: batch}
      requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [m, c]}]
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: batch}
spec:
  role: eksctl-eks-workshop-NodeInstanceRole
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{id: ` + subnet + `}]
  securityGroupSelectorTerms: [{id: sg-0e50000000000000f}]
`
}

// TestPreflightJSON holds that the result has the form of every diagnosis.
func TestPreflightJSON(t *testing.T) {
	var out, errs bytes.Buffer
	if status := command([]string{"preflight", "--json", "--file", plannedIn(t, storyNodegroup(walledOff, "")), storyWorld}, &out, &errs); status != exit.Causes {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	var r result.Result
	testfile.Parse(t, out.Bytes(), &r)
	type short struct {
		Cause, Command string
		Nodegroups     []string
	}
	var got []short
	for _, i := range r.Incidents {
		got = append(got, short{i.Cause, i.Fix.Command, i.Nodegroups})
	}
	want := []short{{"route/no-egress", "aws ec2 create-route --region us-west-2 --route-table-id rtb-0cd20000000000002 --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0aa40000000000001", []string{"batch"}}}
	if diff := cmp.Diff(want, got); diff != "" || r.Healthy {
		t.Errorf("healthy %t, incidents (-want +got):\n%s", r.Healthy, diff)
	}
}

// What is planned is judged in the account as it is, as in a capture of it.
func TestPreflightLive(t *testing.T) {
	s, _ := callertest.Serve(t, storyWorld, examine.Settled)
	callertest.LogIn(t, s)
	for name, tt := range map[string]struct {
		plan     string
		args     []string
		status   int
		out, err string
	}{
		"what joins":                        {storyNodegroup(natSubnet, ""), nil, exit.Healthy, "nodegroup batch: it would be created, and its nodes would join.\n", ""},
		"what has no route to the internet": {storyNodegroup(walledOff, ""), []string{"--cluster", "eks-workshop"}, exit.Causes, "WOULD FAIL eks-workshop / batch · " + walledOff, ""},
		"the only cluster":                  {storyPool(natSubnet), nil, exit.Healthy, "NodePool batch: it would be created, and its nodes would join.\n", ""},
		"another cluster than the file's":   {storyNodegroup(natSubnet, ""), []string{"--cluster", "staging"}, exit.BadInput, "", "--cluster staging: the file is for eks-workshop\n"},
		"a cluster that is not there":       {storyPool(natSubnet), []string{"--cluster", "staging"}, exit.BadInput, "", "there is no cluster staging in us-west-2 of account 111122223333, only eks-workshop\n"},
		"a capture and a region":            {storyPool(natSubnet), []string{"capture", "--region", "us-west-2"}, exit.BadInput, "", "capture: --region and its flags cannot be used with a capture or a world\n"},
		"no such profile":                   {storyPool(natSubnet), []string{"--profile", "ops"}, exit.BadInput, "", ""},
	} {
		var out, errs bytes.Buffer
		status := command(append([]string{"preflight", "--file", plannedIn(t, tt.plan)}, tt.args...), &out, &errs)
		if status != tt.status || !strings.Contains(out.String(), tt.out) || !strings.HasSuffix(errs.String(), tt.err) || strings.Count(errs.String(), "\n") > 1 {
			t.Errorf("%s: status %d, out %q, errors %q; want %d, …%q…, …%q", name, status, out.String(), errs.String(), tt.status, tt.out, tt.err)
		}
	}
}

// TestReplay: an incident is diagnosed from what the bucket has of it, whatever the
// account is like now, and a file of it likewise; what cannot be replayed is one line.
func TestReplay(t *testing.T) {
	packed := testfile.Read(t, "testdata/route-no-egress.tar.gz")
	s, _ := callertest.Serve(t, "../stage/worlds/healthy-nat.yaml", examine.Settled)
	callertest.LogIn(t, s)
	bucket := s.Template.S3Buckets[0].Name
	const kept, hostile, expired = "111122223333/us-west-2/eks-workshop/2026/11/20/15/join-check-0.tar.gz", "1/hostile.tar.gz", "1/2/3/2026/11/20/15/expired.tar.gz"
	for key, body := range map[string][]byte{kept: packed, hostile: []byte("hello")} {
		if err := s3.New(s.AsAdmin()).Create(t.Context(), bucket, key, "application/gzip", body); err != nil {
			t.Fatal(err)
		}
	}
	records := store.New(dynamodb.NewFromConfig(s.AsAdmin()), s.Template.Tables[0].Name)
	for resource, evidence := range map[string]*record.Evidence{
		"rtb-kept": {Opened: kept, Newest: expired}, "rtb-gone": {Opened: expired, Newest: expired}, "rtb-hostile": {Opened: hostile, Newest: hostile}, "rtb-earlier": nil,
	} {
		inc := record.Incident{Key: report.Key{Cluster: "eks-workshop", Check: checkid.RouteNoEgress, Resource: resource}, State: record.Open, Cause: diagnosis.Cause{Title: "no route"}, Evidence: evidence}
		if resource == "rtb-kept" {
			inc.Feedback = []record.Feedback{
				{By: report.User{ID: "U0DANA0001", Name: "dana"}, At: time.Date(2026, 11, 20, 16, 2, 0, 0, time.UTC), Number: 1, Says: report.SayWrong, Text: "the proxy of eks-workshop in 111122223333 was down"},
				{By: report.User{ID: "U0KIM00001"}, At: time.Date(2026, 11, 20, 16, 5, 0, 0, time.UTC), Number: 1, Says: report.SayRight},
			}
		}
		if _, err := records.SaveIncident(t.Context(), inc); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (status int, out, errs string) {
		var o, e bytes.Buffer
		status = command(append([]string{"replay"}, args...), &o, &e)
		return status, o.String(), e.String()
	}
	id := func(resource string) string { return "eks-workshop:route/no-egress:" + resource }
	const of = "what join-check read of eks-workshop at 2026-11-20 "
	for _, tt := range []struct {
		args         []string
		status       int
		says, errors string
	}{
		{[]string{id("rtb-kept")}, exit.Causes, "has no route to the internet", of},
		{[]string{"--newest", id("rtb-kept")}, exit.Causes, "has no route to the internet", "note: what is wanted is not there any more: this is of another time (" + kept},
		{[]string{"testdata/route-no-egress.tar.gz"}, exit.Causes, "has no route to the internet", of},
		{[]string{id("rtb-gone")}, exit.Unsure, "", "is not there any more, or could not be written then (of 2026-11-20 15:00 UTC)"},
		{[]string{id("rtb-earlier")}, exit.Unsure, "", "nothing was kept of this incident"},
		{[]string{id("rtb-hostile")}, exit.BadInput, "", "it is no kept evidence: it is no .tar.gz"},
		{[]string{id("rtb-none")}, exit.BadInput, "", "no such incident"},
		{[]string{"none.tar.gz"}, exit.BadInput, "", "no such file"},
		{[]string{"--out", "testdata", id("rtb-kept")}, exit.BadInput, "", "not an empty folder"},
		{[]string{"--mask", id("rtb-kept")}, exit.BadInput, "", "--mask needs --out"},
		{nil, exit.BadInput, "", "give one incident"},
	} {
		status, out, errs := run(tt.args...)
		if status != tt.status || !strings.Contains(out, tt.says) || tt.says == "" && out != "" || !strings.Contains(errs, tt.errors) || strings.Count(errs, "\n") > 4 {
			t.Errorf("replay %q: status %d, %q, errors %q; want %d, %q, %q", tt.args, status, out, errs, tt.status, tt.says, tt.errors)
		}
	}

	dir := filepath.Join(t.TempDir(), "kept")
	page := filepath.Join(t.TempDir(), "page.html")
	status, out, errs := run("--json", "--out", dir, "--html", page, id("rtb-kept"))
	if want := `note: feedback: wrong cause, by dana at 2026-11-20 16:02 UTC: "the proxy of eks-workshop in 111122223333 was down"` + "\n" + "note: feedback: right, by U0KIM00001 at 2026-11-20 16:05 UTC\n"; !strings.HasSuffix(errs, want) {
		t.Errorf("the feedback: %q, want %q", errs, want)
	}
	var r result.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != exit.Causes || first(r) != "route/no-egress certain" {
		t.Errorf("status %d, %v, %s%s", status, err, out, errs)
	}
	if text, err := os.ReadFile(page); err != nil || !bytes.Contains(text, []byte(": subnet-0c30000000000000d has no route to the internet</title>")) || !bytes.Contains(text, []byte(" · what join-check read of eks-workshop at ")) || bytes.Contains(text, []byte("rollcall-replay-")) {
		t.Errorf("the page: %v", err)
	}
	// What is left in the folder is a capture like others.
	var o, e bytes.Buffer
	if status := command([]string{"diagnose", "--json", dir}, &o, &e); status != exit.Causes || o.String() != out || e.String() != "" {
		t.Errorf("diagnose of the folder: status %d, %s%s", status, o.String(), e.String())
	}
	masked := filepath.Join(t.TempDir(), "masked")
	if status, _, errs := run("--mask", "--out", masked, id("rtb-kept")); status != exit.Causes || !strings.Contains(errs, "note: feedback: wrong cause, by person-1 at 2026-11-20 16:02 UTC: \"the proxy of ") ||
		!strings.Contains(errs, "note: feedback: right, by person-2 at ") || strings.Contains(errs[strings.Index(errs, "note: feedback"):], "eks-workshop") || strings.Contains(errs, "dana") || strings.Contains(errs, "in 111122223333") {
		t.Errorf("replay --mask: status %d, %s", status, errs)
	}
	o.Reset()
	if status := command([]string{"diagnose", "--json", masked}, &o, &e); status != exit.Causes || strings.Contains(o.String(), "eks-workshop") || !strings.Contains(o.String(), "route/no-egress") {
		t.Errorf("diagnose of the masked folder: status %d, %s%s", status, o.String(), e.String())
	}
	if list, err := filepath.Glob(filepath.Join(masked, "*.json")); err != nil || len(list) == 0 {
		t.Errorf("the masked folder: %q, %v", list, err)
	} else {
		for _, name := range list {
			if text, err := os.ReadFile(name); err != nil || strings.Contains(string(text)+name, "111122223333") || strings.Contains(string(text)+name, "eks-workshop") {
				t.Errorf("%s holds the account or the cluster: %v", name, err)
			}
		}
	}
}

// What is no terminal gets no colors.
func TestColorsOnATerminalAlone(t *testing.T) {
	var out bytes.Buffer
	if colored(&out) || onTerminal(&out) {
		t.Error("what is no terminal gets colors")
	}
}

// What takes more than a second shows what it is at, and leaves nothing behind; what is
// over before shows nothing.
func TestWaitingIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var calls atomic.Int32
		asked := func() int { return int(calls.Add(7)) }
		end := show(&out, "looking", asked, silent, redrawn)
		time.Sleep(silent - time.Millisecond)
		end()
		if out.Len() > 0 {
			t.Errorf("shown within a second: %q", out.String())
		}
		end = show(&out, "looking", asked, silent, redrawn)
		time.Sleep(silent + redrawn + time.Millisecond)
		end()
		if got, want := out.String(), "\rlooking: 1 s, 7 calls \rlooking: 1 s, 14 calls \r\033[K"; got != want {
			t.Errorf("shown %q, want %q", got, want)
		}
		out.Reset()
		waiting(&out, "looking", asked)()
		if out.Len() > 0 {
			t.Errorf("what is no terminal is shown %q", out.String())
		}
	})
}

// one look after the other: what it finds, how launches stand, what went wrong.
type nextLook struct {
	r        result.Result
	launches []report.Launch
	err      error
}

func stands(id string, s outcome.LaunchStatus) report.Launch {
	l := report.Launch{Instance: id, Nodegroup: "workers", Status: s, Started: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)}
	switch s {
	case outcome.Joined:
		l.Ready = l.Started.Add(58 * time.Second)
	case outcome.Gone:
		l.EndedWhy = "Client.UserInitiatedShutdown"
	}
	return l
}

// watched plays looks in a time that passes at once, and gives what was printed.
func watched(t *testing.T, asJSON bool, looks []nextLook, stop int) (out, notes string, status, looked int, took time.Duration, err error) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var o, n bytes.Buffer
		began := time.Now()
		w := watching{
			subject: "prod", json: asJSON, out: &o, notes: &n,
			now: func() time.Time { return time.Date(2026, 11, 20, 15, 5, 0, 0, time.UTC).Add(time.Since(began)) },
			look: func(ctx context.Context) (result.Result, []report.Launch, error) {
				if looked++; looked == stop {
					cancel()
				}
				l := looks[min(looked, len(looks))-1]
				return l.r, l.launches, l.err
			},
		}
		status, err = w.run(ctx)
		out, notes, took = o.String(), n.String(), time.Since(began)
	})
	return out, notes, status, looked, took, err
}

func faulty() result.Result {
	return result.Result{
		Incidents: []result.Incident{{Cause: "route/no-egress", Confidence: "certain", Cluster: "prod", Nodegroups: []string{"workers"}, Title: "rtb-1 has no route to the internet", Resource: "rtb-1"}},
		Unknown:   []result.Unknown{{Check: "dns/dhcp-options", Resource: "prod", Reason: "denied"}},
	}
}

// What changes is printed, until every instance has joined and nothing is wrong.
func TestWatch(t *testing.T) {
	well := result.Result{Healthy: true}
	out, notes, status, looked, took, err := watched(t, false, []nextLook{
		{r: faulty(), launches: []report.Launch{stands("i-1", outcome.Missed), stands("i-2", outcome.Waiting)}},
		{r: faulty(), launches: []report.Launch{stands("i-1", outcome.Missed), stands("i-2", outcome.Waiting)}},
		{err: errors.New("no network")},
		{r: result.Result{Incidents: []result.Incident{{Cause: "iam/access-missing", Confidence: "likely", Cluster: "prod", Title: "no entry"}}}, launches: []report.Launch{stands("i-1", outcome.Gone), stands("i-2", outcome.Missed), stands("i-3", outcome.Waiting)}},
		{r: well, launches: []report.Launch{stands("i-2", outcome.Joined), stands("i-3", outcome.Waiting)}},
		{r: well, launches: []report.Launch{stands("i-2", outcome.Joined), stands("i-3", outcome.Joined)}},
	}, 0)
	_, changes, _ := strings.Cut(out, "Not checked\n  denied: dns/dhcp-options not run for prod\n\n")
	want := `15:05:30  + FAULT prod · no entry (iam/access-missing)
15:05:30  - FAULT prod / workers · rtb-1 has no route to the internet (route/no-egress)
15:05:30  - not checked: denied: dns/dhcp-options not run for prod
15:05:30    i-1 (workers) ended: Client.UserInitiatedShutdown
15:05:30    i-2 (workers) has not joined in its time
15:05:30    i-3 (workers) was launched, and is within its join time
15:05:40  - FAULT prod · no entry (iam/access-missing)
15:05:40    i-2 (workers) joined, 58s after its launch
15:05:50    i-3 (workers) joined, 58s after its launch
15:05:50  prod: all have joined
`
	if diff := cmp.Diff(want, changes); diff != "" || !strings.HasPrefix(out, "FAULT prod / workers · rtb-1 has no route to the internet\n") {
		t.Errorf("printed %q (-want +got):\n%s", out, diff)
	}
	if notes != "note: 15:05:20: this look failed: no network\n" || status != 0 || err != nil || looked != 6 || took != 5*again {
		t.Errorf("notes %q, status %d, %v, %d looks in %s", notes, status, err, looked, took)
	}
}

// As JSON each look that brought something is a line.
func TestWatchAsJSON(t *testing.T) {
	out, _, status, _, _, err := watched(t, true, []nextLook{
		{r: faulty(), launches: []report.Launch{stands("i-1", outcome.Missed)}}, {r: faulty(), launches: []report.Launch{stands("i-1", outcome.Missed)}}, {r: result.Result{Healthy: true}},
	}, 0)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || decoded(t, []byte(lines[0])).Incidents[0].Cause != "route/no-egress" || !decoded(t, []byte(lines[1])).Healthy || status != 0 || err != nil {
		t.Errorf("status %d, %v, printed %q, want two results", status, err, out)
	}
}

// Whoever ends it gets the status of what was seen last; a first look that fails is
// reported, and where all is well there is but one.
func TestWatchEnds(t *testing.T) {
	failed := errors.New("no network")
	for name, tt := range map[string]struct {
		looks  []nextLook
		stop   int
		status int
		err    error
		looked int
	}{
		"ended by a person":        {[]nextLook{{r: faulty(), launches: []report.Launch{stands("i-1", outcome.Missed)}}}, 3, 1, nil, 3},
		"before anything was seen": {[]nextLook{{r: faulty()}}, 1, 2, context.Canceled, 1},
		"the first look fails":     {[]nextLook{{err: failed}}, 0, 2, failed, 1},
		"all is well":              {[]nextLook{{r: result.Result{Healthy: true}}}, 0, 0, nil, 1},
		"a fault of no instance":   {[]nextLook{{r: faulty()}}, 2, 1, nil, 2},
		"somebody missed it":       {[]nextLook{{r: result.Result{}, launches: []report.Launch{stands("i-1", outcome.Missed)}}}, 2, 0, nil, 2},
		"somebody is given up":     {[]nextLook{{r: result.Result{}, launches: []report.Launch{stands("i-1", outcome.GivenUp)}}}, 2, 0, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, status, looked, _, err := watched(t, false, tt.looks, tt.stop)
			if status != tt.status || !errors.Is(err, tt.err) || looked != tt.looked {
				t.Errorf("status %d, %v after %d looks, want %d, %v after %d", status, err, looked, tt.status, tt.err, tt.looked)
			}
		})
	}
}

// full is a disk without room.
type full struct{ error }

func (f full) Write([]byte) (int, error) { return 0, f.error }

// What cannot be printed ends it.
func TestWatchThatCannotPrint(t *testing.T) {
	full := full{errors.New("no space left")}
	for _, asJSON := range []bool{false, true} {
		w := watching{json: asJSON, out: full, notes: full, now: time.Now, look: func(context.Context) (result.Result, []report.Launch, error) { return faulty(), nil, nil }}
		if status, err := w.run(t.Context()); !errors.Is(err, full.error) || status != exit.Causes {
			t.Errorf("JSON %v: status %d, %v, want that it could not be printed", asJSON, status, err)
		}
	}
}
