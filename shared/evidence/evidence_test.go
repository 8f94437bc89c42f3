package evidence

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/capture"
	"rollcall/shared/kube"
	"rollcall/shared/s3"
	"rollcall/tools/testfile"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func about(causes ...Cause) About {
	return About{By: "join-check", Account: "111122223333", Region: "us-west-2", Cluster: "prod", At: noon, Causes: causes}
}

// service answers AWS's calls without a network.
type service func(form url.Values) (status int, body string)

// Do answers a request.
func (s service) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	status, answer := s(form)
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

func (s service) recorded(r *Recorder) aws.Config {
	k := &Keeper{recorder: r}
	return k.Recording(aws.Config{
		Region: "us-west-2", HTTPClient: s, Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", ""),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	})
}

// filesOf are the files of an archive, JSON as it reads.
func filesOf(t *testing.T, archive []byte) map[string]any {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]any{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			v = string(data)
		}
		files[h.Name] = v
	}
}

func archived(t *testing.T, r *Recorder) map[string]any {
	t.Helper()
	archive, err := r.Archive(about())
	if err != nil {
		t.Fatal(err)
	}
	files := filesOf(t, archive)
	for _, always := range []string{AboutFile, "time.txt"} {
		if files[always] == nil {
			t.Errorf("there is no %s", always)
		}
		delete(files, always)
	}
	return files
}

func subnets(next string, ids ...string) string {
	b := "<DescribeSubnetsResponse><subnetSet>"
	for _, id := range ids {
		b += "<item><subnetId>" + id + "</subnetId><availableIpAddressCount>7</availableIpAddressCount></item>"
	}
	return b + "</subnetSet><nextToken>" + next + "</nextToken></DescribeSubnetsResponse>"
}

const refusedBody = `<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>No. Encoded authorization failure message: AbCd</Message></Error></Errors></Response>`

func inVPC(id string) *ec2.DescribeSubnetsInput {
	return &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{{Name: aws.String("vpc-id"), Values: []string{id}}}}
}

// TestAnswersBecomeFiles: pages and questions of one call are one file, each resource in it
// once; what was asked for, and what was refused, stands beside it.
func TestAnswersBecomeFiles(t *testing.T) {
	r := &Recorder{}
	r.Begin(nil)
	api := ec2.NewFromConfig(service(func(form url.Values) (int, string) {
		switch {
		case form.Get("Action") == "DescribeVpcs":
			return 403, refusedBody
		case form.Get("Filter.1.Value.1") == "vpc-2":
			return 403, refusedBody
		case form.Get("NextToken") == "more":
			return 200, subnets("", "subnet-2")
		}
		return 200, subnets("more", "subnet-1", "subnet-2")
	}).recorded(r))
	in := inVPC("vpc-1")
	for p := ec2.NewDescribeSubnetsPaginator(api, in); p.HasMorePages(); {
		if _, err := p.NextPage(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := api.DescribeSubnets(t.Context(), inVPC("vpc-2")); err == nil {
		t.Fatal("it was not refused")
	}
	if _, err := api.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{}); err == nil {
		t.Fatal("it was not refused")
	}
	refusal := map[string]any{"code": "UnauthorizedOperation", "message": "No."}
	want := map[string]any{
		"ec2-describe-subnets.json": map[string]any{"Subnets": []any{
			map[string]any{"SubnetId": "subnet-1", "AvailableIpAddressCount": 7.0}, map[string]any{"SubnetId": "subnet-2", "AvailableIpAddressCount": 7.0},
		}},
		"errors.json": map[string]any{"ec2-describe-vpcs": refusal},
		AskedFile: map[string]any{"ec2-describe-subnets": []any{
			map[string]any{"question": map[string]any{"filter vpc-id": []any{"vpc-1"}}},
			map[string]any{"question": map[string]any{"filter vpc-id": []any{"vpc-2"}}, "refused": refusal},
		}},
	}
	if diff := cmp.Diff(want, archived(t, r)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	r.Begin(nil)
	if diff := cmp.Diff(map[string]any{}, archived(t, r)); diff != "" {
		t.Errorf("the next invocation still has (-want +got):\n%s", diff)
	}
}

// TestHalfAList: pages without the last one are no list.
func TestHalfAList(t *testing.T) {
	r := &Recorder{}
	api := ec2.NewFromConfig(service(func(form url.Values) (int, string) {
		if form.Get("NextToken") != "" {
			return 403, refusedBody
		}
		return 200, subnets("more", "subnet-1")
	}).recorded(r))
	p := ec2.NewDescribeSubnetsPaginator(api, &ec2.DescribeSubnetsInput{})
	for range 2 {
		_, _ = p.NextPage(t.Context()) // the second is refused, which is seen below
	}
	want := map[string]any{"errors.json": map[string]any{"ec2-describe-subnets": map[string]any{"code": "UnauthorizedOperation", "message": "No."}}}
	if diff := cmp.Diff(want, archived(t, r)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestSecretsAreNotKept: neither those of user data, nor a console's, nor those of an
// object of Kubernetes.
func TestSecretsAreNotKept(t *testing.T) {
	script := base64.StdEncoding.EncodeToString([]byte("#!/bin/bash\nexport DB_PASSWORD=hunter2\n/etc/eks/bootstrap.sh prod\n"))
	console := base64.StdEncoding.EncodeToString([]byte("api_key: hunter3\n[ 9.1] Unable to get token: connection timed out\n-----BEGIN RSA PRIVATE KEY-----\nhunter4\n-----END RSA PRIVATE KEY-----\n"))
	r := &Recorder{}
	api := ec2.NewFromConfig(service(func(form url.Values) (int, string) {
		switch form.Get("Action") {
		case "DescribeInstanceAttribute":
			return 200, "<r><instanceId>i-1</instanceId><userData><value>" + script + "</value></userData></r>"
		case "DescribeLaunchTemplateVersions":
			return 200, "<r><launchTemplateVersionSet><item><launchTemplateId>lt-1</launchTemplateId><launchTemplateData><userData>" + script + "</userData></launchTemplateData></item></launchTemplateVersionSet></r>"
		}
		return 200, "<r><instanceId>i-1</instanceId><output>" + console + "</output></r>"
	}).recorded(r))
	if _, err := api.DescribeInstanceAttribute(t.Context(), &ec2.DescribeInstanceAttributeInput{InstanceId: aws.String("i-1"), Attribute: "userData"}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.DescribeLaunchTemplateVersions(t.Context(), &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: aws.String("lt-1")}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.GetConsoleOutput(t.Context(), &ec2.GetConsoleOutputInput{InstanceId: aws.String("i-1")}); err != nil {
		t.Fatal(err)
	}
	r.Kubernetes("prod", "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node", nil, []byte(`{"kind":"DaemonSet","metadata":{"name":"aws-node","managedFields":[{}],
		"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"hunter5"}},"spec":{"env":[{"name":"API_TOKEN","value":"hunter6"},{"name":"REGION","value":"us-west-2"}]}}`), nil)
	files := archived(t, r)
	raw := testfile.JSON(t, files)
	masked := base64.StdEncoding.EncodeToString([]byte("#!/bin/bash\n\n/etc/eks/bootstrap.sh prod\n"))
	if strings.Contains(string(raw), script) || strings.Count(string(raw), masked) != 2 {
		t.Errorf("user data is not masked, or not there: %s", raw)
	}
	for k := 2; k <= 6; k++ {
		if strings.Contains(string(raw), fmt.Sprint("hunter", k)) {
			t.Errorf("hunter%d is kept: %s", k, raw)
		}
	}
	for _, stays := range []string{"Unable to get token: connection timed out", "us-west-2", "lt-1"} {
		if !strings.Contains(string(raw), stays) {
			t.Errorf("%q is gone: %s", stays, raw)
		}
	}
	if strings.Contains(string(raw), "managedFields") {
		t.Errorf("the managers of fields are kept: %s", raw)
	}
}

// TestOfOneCluster: evidence of one cluster has nothing of another's EKS and Kubernetes.
func TestOfOneCluster(t *testing.T) {
	r := &Recorder{}
	api := eks.NewFromConfig(service(func(url.Values) (int, string) { return 200, `{"nodegroups":["a"]}` }).recorded(r))
	for _, cluster := range []string{"prod", "prod-2"} {
		if _, err := api.ListNodegroups(t.Context(), &eks.ListNodegroupsInput{ClusterName: aws.String(cluster)}); err != nil {
			t.Fatal(err)
		}
		r.Kubernetes(cluster, "/api/v1/nodes", nil, []byte(`{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n1"}}]}`), nil)
		r.Kubernetes(cluster, "/api/v1/pods", url.Values{"fieldSelector": {"status.phase=Pending"}}, nil, &kube.StatusError{Code: 403, Reason: "Forbidden", Message: "no"})
	}
	want := map[string]any{
		"eks-list-nodegroups.prod.json": map[string]any{"nodegroups": []any{"a"}},
		"kubectl-get-nodes.prod.json": map[string]any{"apiVersion": "v1", "kind": "List", "items": []any{
			map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "n1"}},
		}},
		"errors.json": map[string]any{"kubectl-get-pods.prod": map[string]any{"code": "Forbidden", "message": "no"}},
	}
	if diff := cmp.Diff(want, archived(t, r)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestTooMuch: what is not held any more is listed, and pages of a list whose first ones
// are gone are no list.
func TestTooMuch(t *testing.T) {
	r := &Recorder{}
	page := func(k int) []byte {
		return []byte(`{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n` + fmt.Sprint(k) + `"},"x":[` + noise(packFrom/2) + `1]}]}`)
	}
	for k := range mostHeld/(packFrom/2) + 2 {
		r.Kubernetes("prod", "/api/v1/nodes", nil, page(k), nil)
	}
	r.Kubernetes("prod", "/api/v1/persistentvolumes", nil, []byte(`{"kind":"PersistentVolumeList","items":[]}`), nil)
	if r.held > mostHeld {
		t.Errorf("%d bytes are held, want at most %d", r.held, mostHeld)
	}
	files := archived(t, r)
	left, _ := json.Marshal(files["left-out.json"])
	if files["kubectl-get-nodes.prod.json"] != nil || !strings.Contains(string(left), "kubectl-get-nodes.prod") {
		t.Errorf("half a list is kept, or nobody says so: %s", left)
	}
	if files["kubectl-get-pv.prod.json"] == nil {
		t.Error("what came last is not kept")
	}
}

// noise is numbers, which compress badly.
func noise(n int) string {
	b := make([]byte, 0, n+10)
	for x := uint32(1); len(b) < n; {
		x = x*1664525 + 1013904223
		b = append(strconv.AppendUint(b, uint64(x), 10), ',')
	}
	return string(b)
}

// TestTooLarge: a file that has no room is listed, and the smaller ones are there.
func TestTooLarge(t *testing.T) {
	r := &Recorder{}
	r.Kubernetes("prod", "/api/v1/nodes", nil, []byte(`{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n"},"x":[`+noise(3*mostArchive)+`1]}]}`), nil)
	r.Kubernetes("prod", "/api/v1/persistentvolumes", nil, []byte(`{"kind":"PersistentVolumeList","items":[]}`), nil)
	archive, err := r.Archive(about())
	if err != nil {
		t.Fatal(err)
	}
	files := filesOf(t, archive)
	left, _ := json.Marshal(files["left-out.json"])
	if len(archive) > mostArchive || files["kubectl-get-nodes.prod.json"] != nil || files["kubectl-get-pv.prod.json"] == nil || !strings.Contains(string(left), "at most 4 MiB") {
		t.Errorf("%d bytes, %d files, left out %s", len(archive), len(files), left)
	}
}

// TestRecordOfRefusedCall: the record of a call that woke the function is kept, as no read has it.
func TestRecordOfRefusedCall(t *testing.T) {
	detail := `{"eventID":"e1","eventName":"CreateFleet","eventTime":"2026-11-20T11:59:00Z","userIdentity":{"accessKeyId":"ASIAABCDEFGHIJKLMNOP"}}`
	body := testfile.JSON(t, `{"detail-type":"AWS API Call via CloudTrail","detail":`+detail+`}`)
	r := &Recorder{}
	r.Begin(json.RawMessage(`{"Records":[{"messageId":"m","eventSource":"aws:sqs","body":` + string(body) + `}]}`))
	want := map[string]any{"cloudtrail-lookup-events.CreateFleet.json": map[string]any{"Events": []any{
		map[string]any{"EventId": "e1", "EventName": "CreateFleet", "CloudTrailEvent": strings.Replace(detail, "ASIAABCDEFGHIJKLMNOP", "MASKED", 1)},
	}}}
	if diff := cmp.Diff(want, archived(t, r)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// bucketFunc is a bucket with a given answer.
type bucketFunc func(ctx context.Context, key string, body []byte) error

// Create answers.
func (f bucketFunc) Create(ctx context.Context, bucket, key, contentType string, body []byte) error {
	if bucket != "bucket" || contentType != "application/gzip" {
		return errors.New("it is for another bucket, or of another type")
	}
	return f(ctx, key, body)
}

func keeper(b bucketFunc) (k *Keeper, counts map[string]int, log *bytes.Buffer) {
	counts, log = map[string]int{}, &bytes.Buffer{}
	return NewKeeper(b, "bucket", "1.2", slog.New(slog.NewTextHandler(log, nil)), func(name string, n int) { counts[name] += n }), counts, log
}

var (
	route = Cause{"route/no-egress", "rtb-1"}
	acl   = Cause{"nacl/egress", "acl-1"}
)

// TestKey: one object in an hour for the same causes, in whatever order they come.
func TestKey(t *testing.T) {
	k, _, _ := keeper(nil)
	key := k.Key(about(route, acl))
	if want := "111122223333/us-west-2/prod/2026/11/20/12/join-check-"; !strings.HasPrefix(key, want) || !strings.HasSuffix(key, ".tar.gz") {
		t.Errorf("key %q, want %s….tar.gz", key, want)
	}
	at := func(a About, d time.Duration) About { a.At = a.At.Add(d); return a }
	for name, test := range map[string]struct {
		of   About
		same bool
	}{
		"in another order":    {about(acl, route), true},
		"later in the hour":   {at(about(route, acl), 59*time.Minute), true},
		"in the next hour":    {at(about(route, acl), time.Hour), false},
		"one cause":           {about(route), false},
		"of another resource": {about(Cause{route.Check, "rtb-2"}, acl), false},
	} {
		if got := k.Key(test.of); (got == key) != test.same {
			t.Errorf("%s: %q, the first was %q", name, got, key)
		}
	}
	if got := k.Key(about()); got != "" {
		t.Errorf("nothing was found, and the key is %q", got)
	}
	if got := (*Keeper)(nil).Key(about(route)); got != "" {
		t.Errorf("nothing is kept, and the key is %q", got)
	}
}

// TestKeptOnce: the same evidence is written once, by this process and by all.
func TestKeptOnce(t *testing.T) {
	there := map[string]bool{}
	tries := 0
	k, counts, _ := keeper(func(_ context.Context, key string, _ []byte) error {
		if tries++; there[key] {
			return s3.ErrThere
		}
		there[key] = true
		return nil
	})
	there[k.Key(about(acl))] = true // another process was first
	for range 3 {
		k.Begin(nil)
		for _, c := range []Cause{route, acl} {
			k.Keep(about(c))
			k.Keep(about(c))
		}
		if len(k.waiting) > 0 && tries > 0 {
			t.Errorf("%d wait that are known to be there", len(k.waiting))
		}
		k.Flush(t.Context())
	}
	if diff := cmp.Diff(map[string]int{Kept: 1}, counts); tries != 2 || diff != "" {
		t.Errorf("%d requests, metrics (-want +got):\n%s", tries, diff)
	}
}

// TestKeepingFails: it costs a line of the log, a metric and its time, and is tried again
// by the next look.
func TestKeepingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fail error
		k, counts, log := keeper(func(ctx context.Context, _ string, _ []byte) error {
			if fail == nil {
				<-ctx.Done()
				return ctx.Err()
			}
			return fail
		})
		for i, err := range []error{errors.New("AccessDenied"), nil} {
			fail = err
			began := time.Now()
			k.Begin(nil)
			k.Keep(about(route))
			k.Keep(about(acl))
			if took := time.Since(began); took > 0 {
				t.Errorf("packing took %s", took)
			}
			k.Flush(t.Context())
			if took := time.Since(began); took > keepTime {
				t.Errorf("it took %s, want at most %s for all", took, keepTime)
			}
			if got := counts[Failed]; got != 2*(i+1) || counts[Kept] > 0 {
				t.Errorf("metrics %v", counts)
			}
		}
		if n := strings.Count(log.String(), "evidence could not be kept"); n != 4 {
			t.Errorf("%d lines, want one for each:\n%s", n, log)
		}
	})
}

// TestWithoutBucket: without a bucket nothing is recorded.
func TestWithoutBucket(t *testing.T) {
	var k *Keeper
	k.Begin(nil)
	k.Kubernetes("prod", "/api/v1/nodes", nil, nil, nil)
	k.Keep(about(route))
	k.Flush(t.Context())
}

// TestFile: the name that a capture has of a call, and what the call asks for of the file.
func TestFile(t *testing.T) {
	for _, test := range []struct {
		call string
		in   any
		file string
		want Question
	}{
		{"ec2:DescribeSubnets", &ec2.DescribeSubnetsInput{MaxResults: aws.Int32(5), NextToken: aws.String("x")}, "ec2-describe-subnets", nil},
		{"ec2:DescribeNatGateways", &ec2.DescribeNatGatewaysInput{Filter: []ec2types.Filter{{Name: aws.String("vpc-id"), Values: []string{"vpc-2", "vpc-1"}}}},
			"ec2-describe-nat-gateways", Question{"filter vpc-id": {"vpc-1", "vpc-2"}}},
		{"ec2:DescribeInstances", &ec2.DescribeInstancesInput{InstanceIds: []string{"i-1"}, IncludeManagedResources: aws.Bool(true)}, "ec2-describe-instances", Question{"InstanceIds": {"i-1"}}},
		{"ec2:DescribeInstanceAttribute", &ec2.DescribeInstanceAttributeInput{InstanceId: aws.String("i-1"), Attribute: "userData"}, "ec2-describe-instance-attribute.i-1.userData", nil},
		{"autoscaling:DescribeScalingActivities", &autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: aws.String("g")}, "autoscaling-describe-scaling-activities", Question{"AutoScalingGroupName": {"g"}}},
		{"eks:DescribeAccessEntry", &eks.DescribeAccessEntryInput{ClusterName: aws.String("a.b"), PrincipalArn: aws.String("arn:aws:iam::1:role/path/node")}, "eks-describe-access-entry.a%2Eb.node", nil},
		{"eks:ListUpdates", &eks.ListUpdatesInput{Name: aws.String("prod"), NodegroupName: aws.String("ng")}, "eks-list-updates.prod.ng", nil},
		{"eks:ListClusters", &eks.ListClustersInput{}, "", nil},
		{"ec2:CreateRoute", &ec2.CreateRouteInput{}, "", nil},
		{"dynamodb:GetItem", nil, "", nil},
	} {
		file, q := File(test.call, test.in)
		if file != test.file {
			t.Errorf("%s: file %q, want %q", test.call, file, test.file)
		}
		if diff := cmp.Diff(test.want, q); diff != "" {
			t.Errorf("%s: question (-want +got):\n%s", test.call, diff)
		}
	}
	for path, test := range map[string]struct {
		query url.Values
		file  string
		want  Question
	}{
		"/api/v1/nodes":                       {nil, "kubectl-get-nodes.prod", nil},
		"/api/v1/pods":                        {url.Values{"fieldSelector": {"status.phase=Pending"}, "limit": {"500"}}, "kubectl-get-pods.prod", Question{"fieldSelector": {"status.phase=Pending"}}},
		"/api/v1/namespaces/kube-system/pods": {nil, "kubectl-get-pods.prod", Question{"namespace": {"kube-system"}}},
		"/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node": {nil, "kubectl-get-daemonset-aws-node.prod", nil},
		"/apis/apps/v1/namespaces/kube-system/daemonsets/other":    {nil, "", nil},
		"/apis/certificates.k8s.io/v1/certificatesigningrequests":  {nil, "kubectl-get-csr.prod", nil},
		"/api/v1/namespaces/kube-system/secrets":                   {nil, "", nil},
		"/version":                                                 {nil, "", nil},
	} {
		file, q := KubernetesFile("prod", path, test.query)
		if diff := cmp.Diff(test.want, q); file != test.file || diff != "" {
			t.Errorf("%s: file %q, want %q; question (-want +got):\n%s", path, file, test.file, diff)
		}
	}
}

// TestScope: what was not asked for is not there, nor is it said that there is none.
func TestScope(t *testing.T) {
	denied := &capture.Refusal{Code: "UnauthorizedOperation"}
	const subnets, instances = "ec2-describe-subnets", "ec2-describe-instances"
	s := Scope{
		subnets: {
			{Question: Question{"filter vpc-id": {"vpc-1"}}}, {Question: Question{"SubnetIds": {"subnet-1", "subnet-2"}}}, {Question: Question{"SubnetIds": {"subnet-3"}}},
			{Question: Question{"filter vpc-id": {"vpc-9"}}, Refused: denied},
		},
		instances: {{Question: Question{"InstanceIds": {"i-1"}}}},
	}
	for name, test := range map[string]struct {
		file    string
		asked   Question
		covered bool
		refused *capture.Refusal
	}{
		"the same":                      {subnets, Question{"filter vpc-id": {"vpc-1"}}, true, nil},
		"fewer":                         {subnets, Question{"filter vpc-id": {"vpc-1"}, "filter state": {"available"}}, true, nil},
		"another VPC":                   {subnets, Question{"filter vpc-id": {"vpc-2"}}, false, nil},
		"both VPCs":                     {subnets, Question{"filter vpc-id": {"vpc-1", "vpc-2"}}, false, nil},
		"all":                           {subnets, nil, false, nil},
		"of two calls":                  {subnets, Question{"SubnetIds": {"subnet-1", "subnet-3"}}, true, nil},
		"one that nobody asked for":     {subnets, Question{"SubnetIds": {"subnet-1", "subnet-4"}}, false, nil},
		"refused":                       {subnets, Question{"filter vpc-id": {"vpc-9"}}, true, denied},
		"a file that holds all":         {"ec2-describe-vpcs", nil, true, nil},
		"a search":                      {instances, Question{"filter tag:eks:cluster-name": {"prod"}}, true, nil},
		"an instance":                   {instances, Question{"InstanceIds": {"i-1"}}, true, nil},
		"one that was not looked at":    {instances, Question{"InstanceIds": {"i-2"}}, false, nil},
		"one of them was not looked at": {instances, Question{"filter instance-id": {"i-1"}}, false, nil},
	} {
		refused, covered := s.Find(test.file, test.asked)
		if covered != test.covered || refused != test.refused {
			t.Errorf("%s: covered %t, refused %v; want %t, %v", name, covered, refused, test.covered, test.refused)
		}
	}
}
