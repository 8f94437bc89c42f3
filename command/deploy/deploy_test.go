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
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"rollcall/infra/relaystack"
	"rollcall/infra/settings"
	"rollcall/shared/kube"
	"rollcall/shared/s3"
	"rollcall/stage"
	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/worldfile"
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
	// attempts are those of each call; zero is one.
	attempts int
	// change changes a run before it begins.
	change func(*Deployment)
}

func newAccount(t *testing.T, refuse func(template.Resource) error, change ...func(*stage.Options)) *account {
	t.Helper()
	o := stage.Options{World: "../../stage/worlds/healthy-nat.yaml", Empty: true, Still: true, Unlimited: true, Refuse: refuse, Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))}
	for _, c := range change {
		c(&o)
	}
	s, err := stage.Start(t.Context(), o)
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
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = max(a.attempts, 1)
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}
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
	if a.change != nil {
		a.change(d)
	}
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

// TestKilledAtEachCall ends a first deployment, a change and a deletion at each of their calls, before
// it arrives and before its answer does, and runs them again: the end is the same.
func TestKilledAtEachCall(t *testing.T) {
	first := func(a *account) error { _, err := a.run(t.Context()); return err }
	prepared := func(a *account) {
		if err := first(a); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		prepare func(*account)
		run     func(*account) error
	}{
		"first":  {func(*account) {}, first},
		"change": {func(a *account) { prepared(a); a.joinTime = "6m" }, first},
		"destroy": {prepared, func(a *account) error {
			d, _ := a.deployment(t.Context())
			return d.Destroy(t.Context())
		}},
	} {
		begin := func(t *testing.T) *account {
			a := newAccount(t, nil)
			a.typed = "yes\nyes\n"
			test.prepare(a)
			a.calls = 0
			return a
		}
		whole := begin(t)
		if err := test.run(whole); err != nil {
			t.Fatal(err)
		}
		want := whole.end()
		for n := 1; n <= whole.calls; n++ {
			for _, arrived := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, call %d, arrived %t", name, n, arrived), func(t *testing.T) {
					a := begin(t)
					kill := func(at int) error {
						if at >= n {
							return errKilled
						}
						return nil
					}
					if arrived {
						a.after = kill
					} else {
						a.before = kill
					}
					_ = test.run(a) // killed, or not at a call that it can do without
					a.before, a.after = nil, nil
					if err := test.run(a); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, a.end()); diff != "" {
						t.Error(diff)
					}
				})
			}
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
		"a name that is taken": {func(r template.Resource) error {
			if r.Type == "AWS::DynamoDB::Table" {
				return &wire.Error{Code: "EntityAlreadyExists", Message: "Resource of type 'AWS::DynamoDB::Table' already exists."}
			}
			return nil
		}, nil, "The table of an earlier deployment still exists."},
		"no such cluster": {nil, func(a *account) {
			a.change = func(d *Deployment) { d.Parameters["AccessClusters"] = "old" }
		}, "EKS has no such cluster here."},
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

// TestConfigMap: EKS refuses the access entry, the whole stack rolls back, and it is said why.
func TestConfigMap(t *testing.T) {
	a := newAccount(t, nil, func(o *stage.Options) {
		o.Change = func(f *worldfile.File) {
			for i := range f.EKS.Clusters {
				f.EKS.Clusters[i].AccessConfig = &ekstypes.AccessConfigResponse{AuthenticationMode: ekstypes.AuthenticationModeConfigMap}
			}
		}
	})
	a.typed = "yes\n"
	_, err := a.run(t.Context())
	var failed *FailedError
	if !errors.As(err, &failed) || len(failed.Failures) != 1 || !strings.Contains(failed.Failures[0].Do, "authentication mode CONFIG_MAP") {
		t.Error(err)
	}
}

// TestThrottled: CloudFormation throttles, and the deployment comes through.
func TestThrottled(t *testing.T) {
	a := newAccount(t, nil, func(o *stage.Options) {
		o.CallFaults = []simaws.FaultRule{{Call: "cloudformation:*", Throttle: 0.4}, {Call: "s3:*", Throttle: 0.4}}
	})
	a.typed, a.attempts = "yes\n", 5
	if text, err := a.run(t.Context()); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestProtected: a stack that is protected from deletion stays, and the command that ends the
// protection is printed.
func TestProtected(t *testing.T) {
	a := newAccount(t, nil)
	a.typed = "yes\n"
	if _, err := a.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := cloudformation.NewFromConfig(a.AsAdmin()).UpdateTerminationProtection(t.Context(), &cloudformation.UpdateTerminationProtectionInput{
		StackName: aws.String("Rollcall"), EnableTerminationProtection: aws.Bool(true),
	}); err != nil {
		t.Fatal(err)
	}
	d, _ := a.deployment(t.Context())
	if err := d.Destroy(t.Context()); err == nil || !strings.Contains(err.Error(), "update-termination-protection") {
		t.Error(err)
	}
	if !strings.Contains(a.end(), "stack Rollcall") {
		t.Error("the stack is gone")
	}
}

// TestABucketThatIsThereKeepsItsPolicy: a bucket that a person names may let in others.
func TestABucketThatIsThereKeepsItsPolicy(t *testing.T) {
	a := newAccount(t, nil)
	a.typed = "yes\n"
	d, out := a.deployment(t.Context())
	d.BucketGiven = true
	if err := d.Bucket.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := d.Run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if end := a.end(); !strings.Contains(end, "\npublicAccessBlock \npolicy \n") || !strings.Contains(end, "object ") {
		t.Errorf("the bucket was changed, or nothing was uploaded:\n%s", end)
	}
}

// TestSpokeAndRelay: they are deployed by the same steps, of their own templates.
func TestSpokeAndRelay(t *testing.T) {
	a := newAccount(t, nil)
	a.typed = "yes\n"
	d, out := a.deployment(t.Context())
	d.Stack = ""
	d.Release.files[SpokeTemplate] = testfile.Read(t, "../../infra/RollcallSpoke.template.json")
	if err := d.Spoke("111122223333/us-west-2", "rollcall-7f3a"); err != nil {
		t.Fatal(err)
	}
	if err := d.Run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if end := a.end(); !strings.Contains(end, "stack rollcall-spoke\n") || strings.Contains(end, ".zip") {
		t.Error(end)
	}
	d, _ = a.deployment(t.Context())
	if err := d.Relay(t.Context(), settings.Settings{}, cluster, "rollcall"); !errors.Is(err, relaystack.ErrPublic) {
		t.Errorf("a relay of a cluster with a public endpoint: %v", err)
	}
}

// TestFailureWords: each known failure has its own sentence.
func TestFailureWords(t *testing.T) {
	for name, test := range map[string]struct {
		failure Failure
		status  types.ResourceStatus
		want    string
	}{
		"a bucket with objects": {Failure{Type: "AWS::S3::Bucket"}, types.ResourceStatusDeleteFailed, "Empty the bucket"},
		"an entry by hand":      {Failure{Type: "AWS::EKS::AccessEntry", Code: "AlreadyExists"}, types.ResourceStatusCreateFailed, "was made by hand"},
		"CONFIG_MAP":            {Failure{Type: "AWS::EKS::AccessEntry", Code: "InvalidRequest"}, types.ResourceStatusCreateFailed, "configMapClusters=NAME"},
		"no code":               {Failure{Type: "AWS::Lambda::Function", Code: "InvalidRequest"}, types.ResourceStatusCreateFailed, "uploads what is missing"},
		"a quota":               {Failure{Type: "AWS::Events::Rule", Code: "ServiceLimitExceeded"}, types.ResourceStatusCreateFailed, "quota"},
	} {
		if got := remedy(test.failure, test.status); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
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
