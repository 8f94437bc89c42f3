package take_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"rollcall/command/capture"
	"rollcall/command/capture/take"
	"rollcall/stage"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/testfile"
)

// settled is how long after a world's start it is looked at.
const settled = 12 * time.Minute

// onStage starts a world whose time stands still.
func onStage(t *testing.T, name string, faults ...simaws.FaultRule) (take.Account, time.Time) {
	t.Helper()
	file := filepath.Join("..", "..", "..", "stage", "worlds", name+".yaml")
	w, err := worldfile.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	at := w.Time.Add(settled)
	s, err := stage.Start(context.Background(), stage.Options{
		World: file, At: at, Template: filepath.Join("..", "..", "..", "infra", "Rollcall.template.json"), Quiet: true, Rate: 1e-3, CallFaults: faults,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return take.Account{Config: s.AsAdmin(), Kubernetes: take.ByToken(s.AsAdmin(), take.Straight)}, at
}

// TestEverything: what is taken of a world is what the reader of captures knows; what is
// refused is what there is none of, and what the stage has not.
func TestEverything(t *testing.T) {
	account, at := onStage(t, "samples")
	dir := filepath.Join(t.TempDir(), "capture")
	s, err := take.Take(t.Context(), account, take.Options{Dir: dir, Instances: 50, Now: at})
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range s.Refused {
		if !take.None(r.Code) && r.Code != "InvalidAction" {
			t.Errorf("refused: %s: %s: %s", name, r.Code, r.Message)
		}
	}
	c, err := capture.Open(dir, at)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) > 0 || !c.Time.Equal(at) {
		t.Errorf("warnings %q, taken at %s, want none and %s", c.Warnings, c.Time, at)
	}
	files := names(t, dir)
	if got := strings.Join(files, " "); strings.Contains(got, ".part") || !strings.Contains(got, "time.txt") || !strings.Contains(got, "errors.json") {
		t.Errorf("files %s", got)
	}
	if want := s.Files + 2; len(files) != want {
		t.Errorf("%d files are there, and %d were told, with time.txt and errors.json", len(files), want)
	}
	for _, path := range append(files, ".") {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s may be read by others: %v, %v", path, info.Mode(), err)
		}
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// TestResume: what is there is kept, what is not is taken, and what was being written is
// gone. The time is that of the first files.
func TestResume(t *testing.T) {
	account, at := onStage(t, "healthy-nat")
	dir := filepath.Join(t.TempDir(), "capture")
	o := take.Options{Dir: dir, Instances: 50, Now: at}
	first, err := take.Take(t.Context(), account, o)
	if err != nil {
		t.Fatal(err)
	}
	all := names(t, dir)
	put(t, filepath.Join(dir, "ec2-describe-vpcs.json"), `{"Vpcs": [{"VpcId": "vpc-kept"}]}`)
	put(t, filepath.Join(dir, "ec2-describe-subnets.json"), `{"Subnets": [`) // written by hand: not whole
	put(t, filepath.Join(dir, "ec2-describe-route-tables.json.part"), "half")
	if err := os.Remove(filepath.Join(dir, "kubectl-get-nodes.eks-workshop.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := take.Take(t.Context(), account, o); err == nil || !strings.Contains(err.Error(), "is not empty: --resume goes on") {
		t.Fatalf("without --resume: %v", err)
	}
	o.Resume, o.Now = true, at.Add(time.Hour)
	second, err := take.Take(t.Context(), account, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all, names(t, dir)); diff != "" {
		t.Errorf("files (-first +second):\n%s", diff)
	}
	if second.Files != first.Files || second.Kept != first.Files-2 {
		t.Errorf("%d files, of which %d were kept, want %d and two fewer", second.Files, second.Kept, first.Files)
	}
	if got := read(t, filepath.Join(dir, "ec2-describe-vpcs.json")); !strings.Contains(got, "vpc-kept") {
		t.Errorf("a file that was there is written anew: %s", got)
	}
	if got := read(t, filepath.Join(dir, "ec2-describe-subnets.json")); !strings.Contains(got, "subnet-0c30000000000000d") {
		t.Errorf("a file that is not whole is kept: %s", got)
	}
	if got := strings.TrimSpace(read(t, filepath.Join(dir, "time.txt"))); got != at.Format(time.RFC3339) {
		t.Errorf("time %s, want %s", got, at.Format(time.RFC3339))
	}
	if len(second.Notes) != 1 || !strings.Contains(second.Notes[0], "1h0m0s apart") {
		t.Errorf("notes %q, want one on the hour between the files", second.Notes)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	testfile.Write(t, path, []byte(text))
}

func read(t *testing.T, path string) string {
	t.Helper()
	return string(testfile.Read(t, path))
}

// TestRefused: a refusal stands in errors.json, and the rest is taken. What is left out is
// listed, and a missing file is reported with the reason.
func TestRefused(t *testing.T) {
	account, at := onStage(t, "samples", simaws.FaultRule{Call: "ec2:DescribeRouteTables", Deny: true}, simaws.FaultRule{Call: "kubernetes:list pods", Deny: true})
	dir := filepath.Join(t.TempDir(), "capture")
	s, err := take.Take(t.Context(), account, take.Options{Dir: dir, Now: at})
	if err != nil {
		t.Fatal(err)
	}
	var errs map[string]take.Refusal
	testfile.Parse(t, []byte(read(t, filepath.Join(dir, "errors.json"))), &errs)
	if diff := cmp.Diff(s.Refused, errs); diff != "" {
		t.Errorf("errors.json (-told +written):\n%s", diff)
	}
	if got := errs["ec2-describe-route-tables"]; got.Code != "UnauthorizedOperation" || !strings.Contains(got.Message, "ec2:DescribeRouteTables") {
		t.Errorf("route tables: %+v", got)
	}
	if got := errs["kubectl-get-pods.eks-workshop"]; got.Code != "Forbidden" {
		t.Errorf("pods: %+v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "ec2-describe-route-tables.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was refused has a file: %v", err)
	}
	if len(s.LeftOut) == 0 || !strings.Contains(s.LeftOut[0].Why, "at most 0 instances") {
		t.Fatalf("left out: %+v", s.LeftOut)
	}
	c, err := capture.Open(dir, at)
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimPrefix(s.LeftOut[0].File, "ec2-get-console-output.")
	if _, err := c.Answer("ec2:GetConsoleOutput", &ec2.GetConsoleOutputInput{InstanceId: &id}); err == nil || !strings.Contains(err.Error(), "at most 0 instances") {
		t.Errorf("a console that was left out: %v", err)
	}
}

// TestThrottled: calls that are throttled are made again until they are answered.
func TestThrottled(t *testing.T) {
	account, at := onStage(t, "healthy-nat", simaws.FaultRule{Call: "iam:*", Throttle: 0.3}, simaws.FaultRule{Call: "ec2:Describe*", Fail: 0.2})
	account.Config.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff, o.RateLimiter = 10, time.Millisecond, ratelimit.None
		})
	}
	s, err := take.Take(t.Context(), account, take.Options{Dir: filepath.Join(t.TempDir(), "capture"), Now: at})
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range s.Refused {
		if !take.None(r.Code) && r.Code != "InvalidAction" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestBadInput: one line that says what to mend, before anything is written.
func TestBadInput(t *testing.T) {
	account, at := onStage(t, "healthy-nat")
	with := func(change func(*aws.Config)) take.Account {
		a := account
		a.Config = a.Config.Copy()
		change(&a.Config)
		a.Kubernetes = take.ByToken(a.Config, take.Straight)
		return a
	}
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "x")
	blocked := filepath.Join(t.TempDir(), "blocked")
	if err := os.MkdirAll(filepath.Join(blocked, "time.txt"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		account take.Account
		options take.Options
		says    string
	}{
		"credentials that AWS does not know": {with(func(c *aws.Config) { c.Credentials = credentials.NewStaticCredentialsProvider("AKIDNOBODY", "x", "") }), take.Options{}, "AWS does not say whose the credentials are: "},
		"nobody answers": {with(func(c *aws.Config) {
			c.BaseEndpoint, c.Retryer = aws.String("http://127.0.0.1:1"), func() aws.Retryer { return aws.NopRetryer{} }
		}), take.Options{}, "dial tcp 127.0.0.1:1"},
		"no such cluster":             {account, take.Options{Clusters: []string{"prod"}}, "there is no cluster prod in us-west-2; there are: eks-workshop"},
		"a file in place of a folder": {account, take.Options{Dir: file}, "the folder cannot be read"},
		"below a file":                {account, take.Options{Dir: filepath.Join(file, "below")}, "the folder cannot be "},
		"a folder that is not empty":  {account, take.Options{Dir: filepath.Dir(file)}, "is not empty: --resume goes on"},
		"what cannot be written":      {account, take.Options{Dir: blocked, Resume: true}, "cannot be written"},
	} {
		t.Run(name, func(t *testing.T) {
			o := test.options
			fresh := o.Dir == ""
			if fresh {
				o.Dir = filepath.Join(t.TempDir(), "capture")
			}
			o.Now = at
			_, err := take.Take(t.Context(), test.account, o)
			var input *take.InputError
			if !errors.As(err, &input) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want one line with %q", err, test.says)
			}
			if _, err := os.Stat(o.Dir); fresh && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder is there: %v", err)
			}
		})
	}
}

// TestInterrupted: what is there can be gone on with, and no refusal is made up.
func TestInterrupted(t *testing.T) {
	account, at := onStage(t, "healthy-nat")
	dir := filepath.Join(t.TempDir(), "capture")
	ctx, cancel := context.WithCancel(t.Context())
	o := take.Options{Dir: dir, Now: at, Progress: func(p take.Progress) {
		if p.Files == 20 {
			cancel()
		}
	}}
	if _, err := take.Take(ctx, account, o); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "--resume goes on with what is in "+dir) {
		t.Fatalf("%v, want that it was interrupted", err)
	}
	if files := strings.Join(names(t, dir), " "); strings.Contains(files, "errors.json") || strings.Contains(files, ".part") {
		t.Errorf("files %s", files)
	}
	o.Progress, o.Resume = nil, true
	s, err := take.Take(t.Context(), account, o)
	if err != nil || s.Kept < 20 {
		t.Errorf("%d files were kept, want 20 or more: %v", s.Kept, err)
	}
}

// TestMask: what is not masked is in no folder at the end, and never in the one that was
// named.
func TestMask(t *testing.T) {
	account, at := onStage(t, "healthy-nat")
	dir := filepath.Join(t.TempDir(), "capture")
	if _, err := take.Take(t.Context(), account, take.Options{Dir: dir, Mask: true, Instances: 50, Now: at}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"capture"}, names(t, filepath.Dir(dir))); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}
	for _, name := range names(t, dir) {
		if strings.Contains(name, "eks-workshop") || strings.Contains(read(t, filepath.Join(dir, name)), "eks-workshop") {
			t.Errorf("%s names the cluster", name)
		}
	}
	if _, err := take.Take(t.Context(), account, take.Options{Dir: dir, Mask: true, Resume: true, Now: at}); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a masked capture is gone on with: %v", err)
	}
}
