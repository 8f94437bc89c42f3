package ec2api

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"rollcall/tools/expect"
)

// forms keeps the bodies of requests, and answers none of them.
type forms struct{ sent []url.Values }

func (f *forms) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	f.sent = append(f.sent, form)
	return &http.Response{StatusCode: http.StatusTeapot, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(nil)), Request: r}, nil
}

// described calls each of EC2's operations that have IncludeManagedResources,
// and says nothing of it: the seven of botocore 1.43.11, and one that the Go SDK
// knows since.
func described(ctx context.Context, c *ec2.Client) map[string]func() {
	return map[string]func(){
		"DescribeInstances":              func() { _, _ = c.DescribeInstances(ctx, &ec2.DescribeInstancesInput{}) },
		"DescribeInstanceStatus":         func() { _, _ = c.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{}) },
		"DescribeNetworkInterfaces":      func() { _, _ = c.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{}) },
		"DescribeVolumes":                func() { _, _ = c.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{}) },
		"DescribeVolumesModifications":   func() { _, _ = c.DescribeVolumesModifications(ctx, &ec2.DescribeVolumesModificationsInput{}) },
		"DescribeVolumeStatus":           func() { _, _ = c.DescribeVolumeStatus(ctx, &ec2.DescribeVolumeStatusInput{}) },
		"DescribeLaunchTemplates":        func() { _, _ = c.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{}) },
		"DescribeLaunchTemplateVersions": func() { _, _ = c.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{}) },
	}
}

// TestEveryCallIncludesManagedResources: each operation of the SDK that has the
// parameter sends it as true, whatever the caller says of it. An operation that
// a newer SDK adds is missing above, and has to be tested too.
func TestEveryCallIncludesManagedResources(t *testing.T) {
	sent := &forms{}
	client := NewEC2(aws.Config{
		Region: "us-west-2", HTTPClient: sent, Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", ""),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	})
	calls := described(t.Context(), client)
	if diff := cmp.Diff(operationsWith(t, "IncludeManagedResources"), slices.Sorted(maps.Keys(calls))); diff != "" {
		t.Errorf("operations of the SDK that have IncludeManagedResources (-SDK +tested):\n%s", diff)
	}
	want := map[string]string{}
	for name, call := range calls {
		call()
		want[name] = "true"
	}
	got := map[string]string{}
	for _, form := range sent.sent {
		got[form.Get("Action")] = form.Get("IncludeManagedResources")
	}
	expect.Same(t, "IncludeManagedResources as it is sent", got, want)
}

// operationsWith are EC2's operations whose input has a switch of that name, by
// the SDK's own files.
func operationsWith(t *testing.T, field string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/aws/aws-sdk-go-v2/service/ec2").Output()
	if err != nil {
		t.Fatalf("where the SDK is: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "api_op_*.go"))
	if err != nil || len(files) < 500 {
		t.Fatalf("%d files of operations (%v): nothing would be tested", len(files), err)
	}
	has := regexp.MustCompile(`(?m)^\t` + field + ` \*bool$`)
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		expect.OK(t, err)
		if has.Match(text) {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "api_op_"), ".go"))
		}
	}
	return names
}

// TestWithManagedLeavesTheCallersInput: it is a copy that is changed, and what
// has no such parameter is left as it is.
func TestWithManagedLeavesTheCallersInput(t *testing.T) {
	mine := &ec2.DescribeInstancesInput{IncludeManagedResources: aws.Bool(false), MaxResults: aws.Int32(5)}
	got, ok := withManaged(mine).(*ec2.DescribeInstancesInput)
	if !ok || !aws.ToBool(got.IncludeManagedResources) || aws.ToInt32(got.MaxResults) != 5 || aws.ToBool(mine.IncludeManagedResources) {
		t.Errorf("sent %+v, the caller's is %+v", got, mine)
	}
	subnets := &ec2.DescribeSubnetsInput{}
	for _, input := range []any{subnets, nil, (*ec2.DescribeInstancesInput)(nil), 7} {
		if got := withManaged(input); got != input {
			t.Errorf("%#v became %#v", input, got)
		}
	}
}
