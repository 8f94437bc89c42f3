//go:build commands

package deploytest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/tools/testfile"
)

// commandTime is far more than any of them takes; a program that asks for
// something and waits is ended by it.
const commandTime = 10 * time.Minute

// checkout is a copy of what is committed or about to be: nothing is built in
// it, as in a fresh clone of the repository. The CDK command line
// is there.
func checkout(t *testing.T) string {
	t.Helper()
	root, dir := "../..", t.TempDir()
	list, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "-z").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for name := range strings.SplitSeq(strings.Trim(string(list), "\x00"), "\x00") {
		from, to := filepath.Join(root, name), filepath.Join(dir, name)
		info, err := os.Stat(from)
		if os.IsNotExist(err) {
			continue // deleted, not yet committed
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		var text []byte
		if err == nil {
			text, err = os.ReadFile(from)
		}
		if err == nil {
			err = os.WriteFile(to, text, info.Mode())
		}
		if err == nil {
			err = os.Chtimes(to, info.ModTime(), info.ModTime())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	modules, err := filepath.Abs(filepath.Join(root, "infra/node_modules"))
	if err == nil {
		_, err = os.Stat(filepath.Join(modules, ".bin/cdk"))
	}
	if err != nil {
		t.Fatalf("the CDK command line is not installed (make infra/node_modules): %v", err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "infra/node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// withoutAWS is an environment without AWS: Go's caches are kept.
func withoutAWS(t *testing.T, more ...string) []string {
	t.Helper()
	home := t.TempDir()
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TMPDIR=" + t.TempDir(),
		"AWS_REGION=us-west-2", "AWS_DEFAULT_REGION=us-west-2", "AWS_EC2_METADATA_DISABLED=true", "AWS_PAGER=", "KUBECONFIG=" + filepath.Join(home, "kubeconfig")}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOROOT"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.TrimSpace(string(value)); text != "" {
			env = append(env, name+"="+text)
		}
	}
	return append(env, more...)
}

// typed runs a command as a user types it in bash, in a folder.
func typed(t *testing.T, dir, command string, env []string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandTime)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "--norc", "--noprofile", "-c", command)
	c.Dir, c.Env = dir, env
	out, err := c.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s: not done after %s:\n%s", command, commandTime, out)
	}
	return string(out), err
}

// filled puts in what a page leaves out.
func filled(command string) string {
	if strings.HasPrefix(command, "make deploy") || strings.HasPrefix(command, "make diff") {
		if !strings.Contains(command, "CHANNEL=") {
			command += " CHANNEL=C0123456789"
		}
		if strings.HasPrefix(command, "make deploy-spoke") {
			command = strings.NewReplacer(" … ", " HUB=111122223333/us-west-2 EXTERNAL_ID=rollcall-7f3a ", "remedies=… remedyVpcs=… cleanup=…",
				"remedies=222233334444/eu-west-1/prod/add-nat-route=approve remedyVpcs=vpc-0123456789abcdef0 cleanup=222233334444/eu-west-1/prod=dry-run").Replace(command)
		}
		command = strings.NewReplacer("vpcSubnetIds=subnet-…,subnet-…", "vpcSubnetIds=subnet-0123456789abcdef0,subnet-0123456789abcdef1",
			"vpcSecurityGroupIds=sg-…", "vpcSecurityGroupIds=sg-0123456789abcdef0", "SETTINGS=rollcall.yaml", "SETTINGS=deploy/rollcall.yaml", " … ", " ").Replace(command)
	}
	return command
}

// Every command of the README and of the deploy page is run in a fresh copy,
// with no credentials: those that need AWS or a cluster stop where they need
// it, for that reason and no other, and nothing is built before.
func TestCommandsWithoutCredentials(t *testing.T) {
	dir, env := checkout(t), withoutAWS(t)
	version, _ := exec.Command("aws", "--version").CombinedOutput()
	done := map[string]bool{}
	for _, path := range pages() {
		page := testfile.Read(t, path)
		for _, command := range commandsOf(string(page)) {
			r, ok := ruleOf(command)
			if !ok || done[command] || r.gate != "" || r.program || r.step {
				continue // TestEveryCommandHasARule reports the first; .ci/run runs the last
			}
			done[command] = true
			t.Run(command, func(t *testing.T) {
				// Version 1 of the AWS CLI has neither; the pages are for version 2.
				for _, newer := range []string{"aws logs tail ", "--cli-binary-format "} {
					if strings.Contains(command, newer) && strings.HasPrefix(string(version), "aws-cli/1") {
						t.Skipf("NOT RUN: the AWS CLI that is installed has no `%s`: %s", strings.TrimSpace(newer), version)
					}
				}
				line := filled(command)
				if r.target {
					line = strings.Replace(line, "make", "make -n", 1)
				}
				began := time.Now()
				out, err := typed(t, dir, line, env)
				t.Logf("%s: %.1f s", line, time.Since(began).Seconds())
				switch {
				case r.stops != "" && (err == nil || !strings.Contains(out, r.stops)):
					t.Errorf("%s: %v; it must stop with %q:\n%s", line, err, r.stops, out)
				case r.says != "" && !strings.Contains(out, r.says):
					t.Errorf("%s: %v; it must say %q:\n%s", line, err, r.says, out)
				case r.target && err != nil:
					t.Errorf("%s: %v\n%s", line, err, out)
				}
				if _, err := os.Stat(filepath.Join(dir, "build")); err == nil {
					t.Errorf("%s built something", line)
				}
			})
		}
	}
	if len(done) < 20 {
		t.Errorf("%d commands were run", len(done))
	}
}

// What is wrong on a make line is said before anything is built, in its words.
func TestCommandsOfWrongMakeLines(t *testing.T) {
	dir, env := checkout(t), withoutAWS(t)
	for line, want := range map[string]string{
		"make deploy": "CHANNEL: is not set. Id of the Slack channel, like C0123456789. Required unless the setting targets is set",
		"make diff":   "CHANNEL: is not set.",
		`make deploy CHANNEL=C0123456789 SET="jointime=4m"`:                                `jointime: is not a setting of Rollcall; did you mean joinTime? (make … SET="joinTime=…")`,
		`make deploy CHANNEL=C0123456789 SET="joinTime=4h"`:                                `joinTime: 4h0m0s is outside 1m0s to 15m0s.`,
		`make deploy CHANNEL=C0123456789 SET=slackActions`:                                 `SET: "slackActions" has no value (make … SET="slackActions=…")`,
		`make deploy CHANNEL=C0123456789 CLUSTERS="a, b"`:                                  noCredentials, // meant and taken as a,b
		`make deploy CHANNEL=C0123456789 CLUSTERS="a b"`:                                   `CLUSTERS: "a b" is not a cluster name. Clusters to watch: "all" in this region, or names separated by commas. A spoke's cluster is named with its account and region (222233334444/eu-west-1/prod), here and in other settings. If none of a spoke's clusters is named, all of them are watched. (make … CLUSTERS=prod,dev)`,
		`make deploy CHANNEL=C0123456789 SET="cleanup=a=delete, b=dry-run remedyLimit=99"`: `remedyLimit: "99" is not a number from 1 to 20.`,
		`make deploy CHANNEL=C0123456789 CLUSTER=prod`:                                     "CLUSTER: is not a variable of this Makefile; did you mean CLUSTERS?",
		`make deploy SETTINGS=deploy/rollcall.yaml`:                                        noCredentials,
		`make deploy SETTING=deploy/rollcall.yaml`:                                         "SETTING: is not a variable of this Makefile; did you mean SETTINGS?",
		`make diff SETTINGS=rollcall.yml`:                                                  "open rollcall.yml: no such file or directory",
		`make deploy SETTINGS=deploy/clusterrole.yaml`:                                     "deploy/clusterrole.yaml, line ",
		`make deploy SETTINGS=deploy/rollcall.yaml CHANNEL=C9 SET=joinTime=4h`:             `joinTime: 4h0m0s is outside 1m0s to 15m0s.`,
		`make synth SET=jointime=4m`:                                                       "did you mean joinTime?",
		`make destroy SET=stackname=Other`:                                                 "did you mean stackName?",
		`make deploy CHANNEL="C0; touch built"`:                                            `CHANNEL: "C0; touch built" is not a channel id`,
		`AWS_PROFILE=prdo make deploy CHANNEL=C0123456789`:                                 "AWS_PROFILE=prdo: there is no such profile",
		`AWS_REGION= AWS_DEFAULT_REGION= make bootstrap`:                                   "no region is set, and the profile names none (AWS_REGION=us-west-2 make bootstrap …)",
	} {
		began := time.Now()
		out, err := typed(t, dir, line, env)
		t.Logf("%s: %.1f s", line, time.Since(began).Seconds())
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v; want %q in\n%s", line, err, want, out)
		}
		for _, made := range []string{"build", "cdk.out", "built"} {
			if _, err := os.Stat(filepath.Join(dir, made)); err == nil {
				t.Fatalf("%s made %s", line, made)
			}
		}
	}
}

// almost is an AWS that knows whose the credentials are, and grants nothing
// else: what a command asks of it next is where it needs AWS.
type almost struct {
	lock  sync.Mutex
	asked []string
}

func (a *almost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	action := r.PostForm.Get("Action")
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		action = target
	}
	a.lock.Lock()
	a.asked = append(a.asked, action)
	a.lock.Unlock()
	w.Header().Set("Content-Type", "text/xml")
	if action == "GetCallerIdentity" {
		fmt.Fprint(w, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/you</Arn><UserId>AIDA</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`)
		return
	}
	if r.Header.Get("X-Amz-Target") != "" { // the JSON protocol, which SSM speaks
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"__type":"AccessDeniedException","message":"not authorized"}`)
		return
	}
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprint(w, `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized</Message></Error></ErrorResponse>`)
}

// With credentials the commands come as far as CloudFormation: the settings
// hold, the functions are built, the stack is synthesised, and what stops them
// is AWS.
func TestCommandsComeAsFarAsAWS(t *testing.T) {
	dir := checkout(t)
	for _, test := range []struct {
		line string
		// asks is the first thing that is asked of AWS but whose the credentials are.
		asks  []string
		built bool
	}{
		{"make bootstrap", []string{"DescribeStacks"}, false},
		{`make deploy CHANNEL=C0123456789 SET="joinTime=4m logRetentionDays=90"`, []string{"AssumeRole", "DescribeStacks", "GetTemplate"}, true},
	} {
		api := &almost{}
		server := httptest.NewServer(api)
		out, err := typed(t, dir, test.line, withoutAWS(t, "AWS_ENDPOINT_URL="+server.URL, "AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=x"))
		server.Close()
		next := slices.IndexFunc(api.asked, func(a string) bool { return a != "GetCallerIdentity" })
		if err == nil || next < 0 || !slices.Contains(test.asks, api.asked[max(next, 0)]) || !strings.Contains(out, "not authorized") && !strings.Contains(out, "AccessDenied") {
			t.Errorf("%s: %v; asked AWS for %v, must stop at one of %v:\n%s", test.line, err, api.asked, test.asks, out)
		}
		if !strings.Contains(out, "account 123456789012, us-west-2") {
			t.Errorf("%s does not say where it goes:\n%s", test.line, out)
		}
		if _, err := os.Stat(filepath.Join(dir, "cdk.out/Rollcall.template.json")); (err == nil) != test.built {
			t.Errorf("%s: synthesised: %v, want %v", test.line, err == nil, test.built)
		}
	}
}
