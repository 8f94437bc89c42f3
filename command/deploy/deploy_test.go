package deploy

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/kube"
	"rollcall/shared/s3"
	"rollcall/stage"
	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/tools/expect"
	"rollcall/tools/testfile"
)

// cluster is that of the world.
const cluster = "eks-workshop"

// release writes a release with one function, and returns its folder.
func release(t *testing.T, code string) string {
	t.Helper()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("bootstrap")
	if err == nil {
		_, err = w.Write([]byte(code))
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string][]byte{
		HubTemplate: testfile.Read(t, "testdata/hub.template.json"), clusterRole: testfile.Read(t, "../../deploy/clusterrole.yaml"), "functions/report.zip": packed.Bytes(),
	}
	var sums strings.Builder
	for name, body := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(body), name)
	}
	if err := os.WriteFile(filepath.Join(dir, sumsFile), []byte(sums.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// account is an account of the stage with nothing in it.
type account struct {
	*stage.Stage
	t *testing.T
	// before is called before each request, and after after it; an error ends it.
	before, after func(n int) error
	calls         int
	typed         string
	token         string
	noTerminal    bool
	joinTime      string
	dir           string
}

func newAccount(t *testing.T, refuse func(template.Resource) error) *account {
	t.Helper()
	s, err := stage.Start(t.Context(), stage.Options{World: "../../stage/worlds/healthy-nat.yaml", Empty: true, Still: true, Unlimited: true, Refuse: refuse, Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &account{Stage: s, t: t, token: stage.SlackToken, joinTime: "4m", dir: release(t, "one")}
}

// RoundTrip counts requests, and ends a run at one.
func (a *account) RoundTrip(r *http.Request) (*http.Response, error) {
	a.calls++
	n := a.calls
	if a.before != nil {
		if err := a.before(n); err != nil {
			return nil, err
		}
	}
	resp, err := a.HTTPClient().Transport.RoundTrip(r)
	if err == nil && a.after != nil {
		if err := a.after(n); err != nil {
			resp.Body.Close()
			return nil, err
		}
	}
	return resp, err
}

// deployment is a run of a person, with what it prints.
func (a *account) deployment(ctx context.Context) (*Deployment, *strings.Builder) {
	cfg := a.AsAdmin()
	cfg.HTTPClient = &http.Client{Transport: a}
	cfg.Retryer = func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 1) }
	r, err := ReadRelease(a.dir, "0.1.0")
	if err != nil {
		a.t.Fatal(err)
	}
	var out strings.Builder
	account, region := a.Template.AccountID, a.Template.Region
	return &Deployment{
		Account: account, Region: region, Release: r, Template: HubTemplate, Stack: "Rollcall",
		Parameters: map[string]string{"JoinTime": a.joinTime, "AccessClusters": cluster}, Clusters: []string{cluster},
		Bucket:         s3.Bucket{Client: s3.New(cfg), Name: "rollcall-" + account + "-" + region, Account: account},
		CloudFormation: cloudformation.NewFromConfig(cfg), Secrets: secretsmanager.NewFromConfig(cfg), EKS: eks.NewFromConfig(cfg),
		Kubernetes: func(ctx context.Context, c Cluster, o Object) error {
			token, err := kube.Token(ctx, sts.NewPresignClient(sts.NewFromConfig(cfg)), c.Name)
			if err != nil {
				return err
			}
			return Apply(ctx, a, c, token, o)
		},
		Workspace: func(_ context.Context, token string) (string, error) {
			if token != stage.SlackToken {
				return "", errors.New("invalid_auth")
			}
			return "Rollcall stage", nil
		},
		Examine: func(context.Context) error { fmt.Fprintln(&out, "(the checks of rollcall doctor)"); return nil },
		Terminal: Terminal{
			In: bufio.NewReader(strings.NewReader(a.typed)), Out: &out, Interactive: !a.noTerminal,
			Password: func() (string, error) { return a.token, nil },
		},
		Now: a.Clock.Now, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}, &out
}

// run deploys.
func (a *account) run(ctx context.Context) (string, error) {
	d, out := a.deployment(ctx)
	err := d.Run(ctx)
	return out.String(), err
}

// plain takes out of a text what differs with the time and the machine.
func (a *account) plain(text string) string {
	text = strings.ReplaceAll(text, a.dir, "RELEASE")
	return regexp.MustCompile(`\d\d:\d\d:\d\d  `).ReplaceAllString(text, "TIME  ")
}

// end is how an account is in the end.
func (a *account) end() string {
	var b strings.Builder
	bucket := "rollcall-" + a.Template.AccountID + "-" + a.Template.Region
	for _, key := range a.S3.Keys(bucket) {
		fmt.Fprintln(&b, "object", key)
	}
	for _, doc := range []string{"publicAccessBlock", "policy"} {
		fmt.Fprintln(&b, doc, string(a.S3.Setting(bucket, doc)))
	}
	for _, f := range a.Template.Functions {
		fmt.Fprintln(&b, "function", f.Name, f.Environment["ROLLCALL_JOIN_TIME"])
	}
	for _, secret := range a.Template.Secrets {
		value, _ := a.Cloud.Secret(secret.Name)
		fmt.Fprintln(&b, "secret", secret.Name, value)
	}
	out, err := cloudformation.NewFromConfig(a.AsAdmin()).DescribeStacks(a.t.Context(), &cloudformation.DescribeStacksInput{})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, s := range out.Stacks {
		fmt.Fprintln(&b, "stack", *s.StackName)
	}
	entries, err := a.World.API().DescribeAccessEntry(&eks.DescribeAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String("arn:aws:iam::" + a.Template.AccountID + ":role/rollcall-reader")})
	if err == nil {
		fmt.Fprintln(&b, "access entry", entries.AccessEntry.KubernetesGroups)
	}
	return b.String()
}

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, text string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		testfile.Write(t, path, []byte(text))
	}
	if diff := cmp.Diff(string(testfile.Read(t, path)), text); diff != "" {
		t.Errorf("%s (go test -update writes it):\n%s", path, diff)
	}
}

func TestDeployChangeDestroy(t *testing.T) {
	a := newAccount(t, nil)
	a.typed = "yes\n"
	text, err := a.run(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	golden(t, "first.txt", a.plain(text)+"\n"+a.end())
	// Again: nothing to do.
	text, err = a.run(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	golden(t, "again.txt", a.plain(text))
	// Another setting and other code.
	a.joinTime, a.dir = "6m", release(t, "two")
	d, out := a.deployment(t.Context())
	if err := d.Diff(t.Context()); err != nil {
		t.Fatal(err)
	}
	golden(t, "diff.txt", a.plain(out.String()))
	text, err = a.run(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	golden(t, "change.txt", a.plain(text))
	d, out = a.deployment(t.Context())
	if err := d.Destroy(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	golden(t, "destroy.txt", a.plain(out.String())+"\n"+a.end())
}

var errKilled = errors.New("killed")

// TestKilledAtEachCall ends a first deployment at each of its calls, before it arrives and before
// its answer does, and runs it again: the end is the same.
func TestKilledAtEachCall(t *testing.T) {
	whole := newAccount(t, nil)
	whole.typed = "yes\nyes\n"
	if text, err := whole.run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want := whole.end()
	for n := 1; n <= whole.calls; n++ {
		for _, answered := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d, arrived %t", n, answered), func(t *testing.T) {
				a := newAccount(t, nil)
				a.typed = "yes\nyes\n"
				kill := func(at int) error {
					if at >= n {
						return errKilled
					}
					return nil
				}
				if answered {
					a.after = kill
				} else {
					a.before = kill
				}
				_, _ = a.run(t.Context()) // killed, or not at a call that it can do without
				a.before, a.after = nil, nil
				if text, err := a.run(t.Context()); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				if diff := cmp.Diff(want, a.end()); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		refuse func(template.Resource) error
		change func(a *account)
		says   string
	}{
		"no terminal": {nil, func(a *account) { a.noTerminal = true }, "a deployment needs a confirmation, and standard input is not a terminal: run it on a terminal, or add --yes"},
		"no":          {nil, func(a *account) { a.typed = "no\n" }, "nothing was changed"},
		"a bucket of others": {nil, func(a *account) { a.S3.AddForeign("rollcall-" + a.Template.AccountID + "-" + a.Template.Region) },
			"read the bucket rollcall-111122223333-us-west-2"},
		"a service control policy": {func(r template.Resource) error {
			if r.Type == "AWS::IAM::Role" {
				return &wire.Error{Code: "AccessDenied", Message: "not authorized to perform: iam:CreateRole with an explicit deny in a service control policy"}
			}
			return nil
		}, nil, "Your credentials, a permissions boundary or a service control policy of the organization does not allow it."},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccount(t, test.refuse)
			a.typed = "yes\n"
			if test.change != nil {
				test.change(a)
			}
			text, err := a.run(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}

// TestFailedCreation: a stack whose creation failed is deleted when a person says so, and made anew.
func TestFailedCreation(t *testing.T) {
	refused := true
	a := newAccount(t, func(r template.Resource) error {
		if refused && r.Type == "AWS::IAM::Role" {
			return &wire.Error{Code: "AccessDenied", Message: "denied by a permissions boundary"}
		}
		return nil
	})
	a.typed = "yes\n"
	if _, err := a.run(t.Context()); err == nil {
		t.Fatal("the stack was created")
	}
	refused = false
	a.typed = "yes\nyes\n"
	text, err := a.run(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	golden(t, "failed.txt", a.plain(text))
}

func TestReleaseIsWhole(t *testing.T) {
	dir := release(t, "one")
	if err := os.WriteFile(filepath.Join(dir, HubTemplate), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := ReadRelease(dir, "0.1.0")
	if err == nil || !strings.Contains(err.Error(), "is not what the release contains") {
		t.Error(err)
	}
	_, err = ReadRelease(t.TempDir(), "0.1.0")
	if err == nil || !strings.Contains(err.Error(), "holds no release") {
		t.Error(err)
	}
}

func TestNext(t *testing.T) {
	there := State{Bucket: true, Status: "CREATE_COMPLETE", Current: true, Done: []Kind{MakeBucket}}
	with := func(change func(*State)) State {
		s := there
		s.Done = slices.Clone(s.Done)
		change(&s)
		return s
	}
	for name, test := range map[string]struct {
		state State
		want  Step
	}{
		"nothing":              {State{}, Step{MakeBucket, NoBucket}},
		"not private yet":      {with(func(s *State) { s.Done = nil }), Step{MakeBucket, NotConfigured}},
		"missing":              {with(func(s *State) { s.Missing = []string{"k"} }), Step{Upload, NotUploaded}},
		"no stack":             {with(func(s *State) { s.Status = "" }), Step{Change, NotThere}},
		"in review":            {with(func(s *State) { s.Status = "REVIEW_IN_PROGRESS" }), Step{Change, NotThere}},
		"at work":              {with(func(s *State) { s.Status = "UPDATE_IN_PROGRESS" }), Step{Wait, InProgress}},
		"rolled back":          {with(func(s *State) { s.Status = "ROLLBACK_COMPLETE" }), Step{DeleteStack, NeverCreated}},
		"not deleted":          {with(func(s *State) { s.Status = "DELETE_FAILED" }), Step{Stop, DeletionFailed}},
		"not rolled back":      {with(func(s *State) { s.Status = "UPDATE_ROLLBACK_FAILED" }), Step{Stop, RollbackFailed}},
		"another release":      {with(func(s *State) { s.Current = false }), Step{Change, Differs}},
		"no token":             {with(func(s *State) { s.SecretEmpty = true }), Step{FillSecret, SecretEmpty}},
		"token declined":       {with(func(s *State) { s.SecretEmpty = true; s.Done = append(s.Done, FillSecret) }), Step{GrantAccess, AccessNotGiven}},
		"all":                  {with(func(s *State) { s.Done = append(s.Done, GrantAccess) }), Step{Examine, EverythingThere}},
		"changed to no effect": {with(func(s *State) { s.Current = false; s.Done = append(s.Done, Change, GrantAccess) }), Step{Examine, EverythingThere}},
	} {
		expect.Equal(t, name, Next(test.state), test.want)
	}
}
