package simaws

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"rollcall/stage/platform/dynamo"
	"rollcall/stage/platform/queue"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/cloudtrail"
	"rollcall/stage/simaws/kubeapi"
	"rollcall/stage/simclock"
)

const (
	testAccount = "123456789012"
	testRegion  = "us-west-2"
)

var stageNow = time.Date(2026, 11, 20, 21, 0, 0, 0, time.UTC)

// smallWorld has two clusters, and access entries by "cluster role".
type smallWorld struct {
	groups   map[string][]string
	policies map[string][]ekstypes.AssociatedAccessPolicy
}

var _ World = smallWorld{}

func (smallWorld) DescribeCluster(in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	if name := aws.ToString(in.Name); name != "prod" && name != "staging" {
		return nil, &wire.Error{Code: "ResourceNotFoundException", Message: "No cluster found for name: " + name + ".", Status: 404}
	}
	return &eks.DescribeClusterOutput{Cluster: &ekstypes.Cluster{Name: in.Name, Version: aws.String("1.33"), Endpoint: aws.String("https://of-the-world")}}, nil
}

func (w smallWorld) DescribeAccessEntry(in *eks.DescribeAccessEntryInput) (*eks.DescribeAccessEntryOutput, error) {
	groups, ok := w.groups[*in.ClusterName+" "+*in.PrincipalArn]
	if !ok {
		return nil, &wire.Error{Code: "ResourceNotFoundException", Status: 404, Message: "The specified principalArn could not be found."}
	}
	return &eks.DescribeAccessEntryOutput{AccessEntry: &ekstypes.AccessEntry{KubernetesGroups: groups}}, nil
}

func (w smallWorld) ListAssociatedAccessPolicies(in *eks.ListAssociatedAccessPoliciesInput) (*eks.ListAssociatedAccessPoliciesOutput, error) {
	all := w.policies[*in.ClusterName+" "+*in.PrincipalArn]
	if len(all) > 1 && in.NextToken == nil { // two pages
		return &eks.ListAssociatedAccessPoliciesOutput{AssociatedAccessPolicies: all[:1], NextToken: aws.String("x")}, nil
	}
	if in.NextToken != nil {
		all = all[1:]
	}
	return &eks.ListAssociatedAccessPoliciesOutput{AssociatedAccessPolicies: all}, nil
}

func (smallWorld) DescribeRouteTables(*ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error) {
	return &ec2.DescribeRouteTablesOutput{RouteTables: []ec2types.RouteTable{{RouteTableId: aws.String("rtb-1")}}}, nil
}

func start(t *testing.T, change func(*Config)) *Cloud {
	t.Helper()
	cfg := Config{
		Account: testAccount, Region: testRegion, World: smallWorld{},
		Identities: []Identity{RoleIdentity(testAccount, "join-check"), RoleIdentity(testAccount, "report"), AdminIdentity(testAccount, "you")},
		Now:        func() time.Time { return stageNow }, Wall: time.Now,
	}
	change(&cfg)
	c, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// static is a credentials provider.
type static Identity

func (s static) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: s.AccessKeyID, SecretAccessKey: s.SecretAccessKey}, nil
}

func (c *Cloud) sdk(id Identity) aws.Config {
	return aws.Config{Region: testRegion, BaseEndpoint: aws.String(c.Endpoint()), Credentials: static(id),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} }}
}

func errorCode(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

func TestOneEndpointForAll(t *testing.T) {
	c := start(t, func(*Config) {})
	sdk := c.sdk(RoleIdentity(testAccount, "join-check"))
	tables, err := ec2.NewFromConfig(sdk).DescribeRouteTables(t.Context(), &ec2.DescribeRouteTablesInput{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := aws.ToString(tables.RouteTables[0].RouteTableId), "rtb-1"; got != want {
		t.Errorf("route table = %q, want %q", got, want)
	}
	who, err := sts.NewFromConfig(sdk).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := aws.ToString(who.Arn), "arn:aws:sts::123456789012:assumed-role/join-check/join-check"; got != want {
		t.Errorf("arn = %q, want %q", got, want)
	}
	if got := aws.ToString(who.UserId); !strings.HasPrefix(got, "AROA") || !strings.HasSuffix(got, ":join-check") {
		t.Errorf("user id = %q, want AROA...:join-check", got)
	}
	stranger := RoleIdentity(testAccount, "stranger")
	if _, err := sts.NewFromConfig(c.sdk(stranger)).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}); errorCode(err) != "InvalidClientTokenId" {
		t.Errorf("error for a stranger = %v, want InvalidClientTokenId", err)
	}
	var got []string
	for _, call := range c.Calls() {
		got = append(got, call.Caller+" "+call.Action()+" "+call.Code)
	}
	want := []string{"join-check ec2:DescribeRouteTables ", "join-check sts:GetCallerIdentity ", " sts:GetCallerIdentity InvalidClientTokenId"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("calls (-got +want):\n%s", diff)
	}
	ops := c.Operations()
	if diff := cmp.Diff(ops["eks"], []string{"DescribeAccessEntry", "ListAssociatedAccessPolicies", "DescribeCluster"}); diff != "" {
		t.Errorf("EKS operations (-got +want):\n%s", diff)
	}
	if ops["sqs"] != nil || ops["eventbridge"] != nil {
		t.Errorf("operations = %v, want none of SQS and EventBridge", ops)
	}
}

func TestCloseStopsListening(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg := Config{World: smallWorld{}, Clusters: []string{"prod"}, Now: time.Now, Wall: time.Now,
		Objects: func(string, string) ([]json.RawMessage, string, error) { return nil, "", nil }}
	c, err := Start(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	kube, _, _ := c.Kubernetes("prod")
	cancel()
	c.Close()
	c.Close() // twice is harmless
	for _, endpoint := range []string{c.Endpoint(), strings.Replace(kube, "https", "http", 1)} {
		if res, err := http.Get(endpoint); err == nil {
			res.Body.Close()
			t.Errorf("%s still answers", endpoint)
		}
	}
}

func TestStartRefusesHalfAConfig(t *testing.T) {
	now := time.Now
	for name, cfg := range map[string]Config{
		"no world":        {Now: now, Wall: now},
		"no clock":        {World: smallWorld{}},
		"no objects":      {World: smallWorld{}, Now: now, Wall: now, Clusters: []string{"prod"}},
		"unknown cluster": {World: smallWorld{}, Now: now, Wall: now, Clusters: []string{"x"}, Objects: func(string, string) ([]json.RawMessage, string, error) { return nil, "", nil }},
	} {
		if c, err := Start(t.Context(), cfg); err == nil {
			c.Close()
			t.Errorf("%s: started, want an error", name)
		}
	}
}

// worldOfMode is a world whose cluster has an authentication mode.
type worldOfMode struct {
	smallWorld
	mode ekstypes.AuthenticationMode
}

func (w worldOfMode) DescribeCluster(in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	out, err := w.smallWorld.DescribeCluster(in)
	if err == nil {
		out.Cluster.AccessConfig = &ekstypes.AccessConfigResponse{AuthenticationMode: w.mode}
	}
	return out, err
}

func (w worldOfMode) DescribeAccessEntry(in *eks.DescribeAccessEntryInput) (*eks.DescribeAccessEntryOutput, error) {
	if w.mode == ekstypes.AuthenticationModeConfigMap {
		return nil, &wire.Error{Code: "InvalidRequestException", Status: 400, Message: "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation."}
	}
	return w.smallWorld.DescribeAccessEntry(in)
}

// TestOtherKeysOfAWSAuth: a role's ARN in mapUsers counts, after mapRoles; its
// account in mapAccounts makes it known, and no more; a key in another case is none.
func TestOtherKeysOfAWSAuth(t *testing.T) {
	const (
		role = "arn:aws:iam::123456789012:role/join-check"
		user = "- userarn: " + role + "\n  groups: [rollcall]\n"
	)
	for name, tt := range map[string]struct {
		data map[string]string
		code int
	}{
		"mapUsers":                  {map[string]string{"mapUsers": user}, 200},
		"mapUsers, as a role":       {map[string]string{"mapUsers": "- rolearn: " + role + "\n  groups: [rollcall]\n"}, 401},
		"mapRoles counts":           {map[string]string{"mapUsers": user, "mapRoles": "- rolearn: " + role + "\n"}, 403},
		"mapAccounts":               {map[string]string{"mapAccounts": "- \"123456789012\"\n"}, 403},
		"mapAccounts, another":      {map[string]string{"mapAccounts": "- \"210987654321\"\n"}, 401},
		"a key in another case":     {map[string]string{"maproles": "- rolearn: " + role + "\n  groups: [rollcall]\n"}, 401},
		"mapRoles, quoted to empty": {map[string]string{"mapRoles": "''", "mapUsers": user}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, func(cfg *Config) {
				cfg.World, cfg.Clusters = worldOfMode{smallWorld{}, ekstypes.AuthenticationModeConfigMap}, []string{"prod"}
				cfg.Groups = map[string][]kubeapi.Rule{"rollcall": {{Groups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}}}}
				cfg.Objects = func(_, plural string) ([]json.RawMessage, string, error) {
					if plural != "configmaps" {
						return nil, "7", nil
					}
					raw, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": "aws-auth", "namespace": "kube-system"}, "data": tt.data})
					return []json.RawMessage{raw}, "7", err
				}
			})
			if code, body := c.nodes(t, RoleIdentity(testAccount, "join-check"), "prod", "prod"); code != tt.code {
				t.Errorf("status = %d %s, want %d", code, body, tt.code)
			}
		})
	}
}

// Who is let in depends on the cluster's authentication mode: an entry is
// nothing to a cluster of mode CONFIG_MAP, and aws-auth nothing to one of API.
func TestAuthenticationModes(t *testing.T) {
	const (
		role  = "arn:aws:iam::123456789012:role/join-check"
		lines = "- rolearn: " + role + "\n  username: rollcall\n  groups:\n  - rollcall\n"
		path  = "- rolearn: arn:aws:iam::123456789012:role/ops/join-check\n  groups: [rollcall]\n"
	)
	entry := map[string][]string{"prod " + role: {"rollcall"}}
	powerless := map[string][]string{"prod " + role: nil}
	both, configMap, api := ekstypes.AuthenticationModeApiAndConfigMap, ekstypes.AuthenticationModeConfigMap, ekstypes.AuthenticationModeApi
	for _, tt := range []struct {
		name     string
		mode     ekstypes.AuthenticationMode
		entries  map[string][]string
		mapRoles string
		code     int
	}{
		{"CONFIG_MAP, mapped", configMap, nil, lines, 200},
		{"CONFIG_MAP, an entry alone", configMap, entry, "", 401},
		{"CONFIG_MAP, mapped with the path", configMap, nil, path, 401},
		{"CONFIG_MAP, mapped to another group", configMap, nil, "- rolearn: " + role + "\n  groups: [others]\n", 403},
		{"CONFIG_MAP, not a list", configMap, nil, "rolearn: x", 401},
		{"API, mapped alone", api, nil, lines, 401},
		{"API, entry", api, entry, "", 200},
		{"both, mapped alone", both, nil, lines, 200},
		{"both, entry alone", both, entry, "", 200},
		{"both, the entry counts", both, powerless, lines, 403},
		{"both, neither", both, nil, "", 401},
		// As the authenticator's own tests and ParseMap have it.
		{"keys in any case", configMap, nil, "- RoLeArN: " + strings.ToUpper(role) + "\n  GROUPS: [rollcall]\n", 200},
		{"the last of two", configMap, nil, lines + "- rolearn: " + strings.ToUpper(role) + "\n  groups: [others]\n", 403},
		{"the last of two, turned round", configMap, nil, "- rolearn: " + role + "\n  groups: [others]\n" + lines, 200},
		{"wrong entries beside it", configMap, nil, "- a text\n- rolearn: x\n  groups: others\n- username: y\n" + lines, 200},
		{"groups as one text", configMap, nil, "- rolearn: " + role + "\n  groups: rollcall\n", 403},
		{"a tab", configMap, nil, "- rolearn: " + role + "\n\tgroups: [rollcall]\n", 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t, func(cfg *Config) {
				cfg.World, cfg.Clusters = worldOfMode{smallWorld{groups: tt.entries}, tt.mode}, []string{"prod"}
				cfg.Groups = map[string][]kubeapi.Rule{"rollcall": {{Groups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}}}}
				cfg.Objects = func(_, plural string) ([]json.RawMessage, string, error) {
					if plural != "configmaps" {
						return nil, "7", nil
					}
					object := map[string]any{"metadata": map[string]any{"name": "aws-auth", "namespace": "kube-system"}, "data": map[string]string{"mapRoles": tt.mapRoles}}
					raw, err := json.Marshal(object)
					return []json.RawMessage{raw}, "7", err
				}
			})
			if code, body := c.nodes(t, RoleIdentity(testAccount, "join-check"), "prod", "prod"); code != tt.code {
				t.Errorf("status = %d %s, want %d", code, body, tt.code)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	filtered := &ec2.DescribeNetworkInterfacesInput{Filters: []ec2types.Filter{{Name: aws.String("status")}}}
	tests := []struct {
		operation string
		in        any
		name      string
		want      Limit
	}{
		{"DeleteNetworkInterface", &ec2.DeleteNetworkInterfaceInput{}, "DeleteNetworkInterface", Limit{100, 5}},
		{"DescribeNetworkInterfaces", &ec2.DescribeNetworkInterfacesInput{}, "DescribeNetworkInterfaces (unfiltered)", Limit{50, 10}},
		{"DescribeNetworkInterfaces", filtered, "DescribeNetworkInterfaces", Limit{100, 20}},
		{"DescribeNetworkInterfaces", &ec2.DescribeNetworkInterfacesInput{MaxResults: aws.Int32(1000)}, "DescribeNetworkInterfaces", Limit{100, 20}},
		{"DescribeInstances", &ec2.DescribeInstancesInput{InstanceIds: []string{"i-1"}}, "DescribeInstances", Limit{100, 20}},
		{"DescribeSubnets", &ec2.DescribeSubnetsInput{}, "DescribeSubnets", Limit{100, 20}},
		{"GetSubnetCidrReservations", &ec2.GetSubnetCidrReservationsInput{}, "GetSubnetCidrReservations", Limit{100, 20}},
		{"DetachNetworkInterface", &ec2.DetachNetworkInterfaceInput{}, "DetachNetworkInterface", Limit{50, 5}},
		{"CreateTags", &ec2.CreateTagsInput{}, "CreateTags", Limit{100, 10}},
	}
	for _, tt := range tests {
		name, got := limitOf(tt.operation, tt.in)
		if name != tt.name || got != tt.want {
			t.Errorf("%s: got %q %v, want %q %v", tt.operation, name, got, tt.name, tt.want)
		}
	}
}

// burst makes so many deletes at once and says how many went through.
func burst(t *testing.T, b *Buckets, n int) (through int) {
	t.Helper()
	call := &wire.Call{Service: "ec2", Operation: "DeleteNetworkInterface"}
	for range n {
		switch err := b.Admit(t.Context(), call, &ec2.DeleteNetworkInterfaceInput{}); {
		case err == nil:
			through++
		case !errors.Is(err, wire.Throttled):
			t.Fatal(err)
		}
	}
	return through
}

func TestBucketEmptiesAndFills(t *testing.T) {
	now := stageNow
	b := NewBuckets(func() time.Time { return now })
	var got []int
	for _, wait := range []time.Duration{0, time.Second, 10 * time.Second, time.Hour} {
		now = now.Add(wait)
		got = append(got, burst(t, b, 150))
	}
	if diff := cmp.Diff(got, []int{100, 5, 50, 100}); diff != "" {
		t.Errorf("let through (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(b.Counts(), map[string]Count{"DeleteNetworkInterface": {Calls: 600, Throttled: 345}}); diff != "" {
		t.Errorf("counts (-got +want):\n%s", diff)
	}
	for _, call := range []wire.Call{{Service: "eks", Operation: "DescribeCluster"}, {Service: "ec2", Operation: "DescribeVpcs"}} {
		if err := b.Admit(t.Context(), &call, nil); err != nil {
			t.Errorf("%s has another bucket: %v", call.Operation, err)
		}
	}
}

func TestRivalTakesItsShare(t *testing.T) {
	now := stageNow
	b := NewBuckets(func() time.Time { return now }, Rival{Operation: "DeleteNetworkInterface", PerSecond: 2.5, From: stageNow, Until: stageNow.Add(time.Hour)})
	burst(t, b, 100)
	through := 0
	for range 100 {
		now = now.Add(time.Second)
		through += burst(t, b, 5)
	}
	c := b.Counts()["DeleteNetworkInterface"]
	if c.RivalCalls != 250 {
		t.Errorf("the rival called %d times, want 250", c.RivalCalls)
	}
	// 5 a second come back for 100 s; what the rival gets, the other does not. A
	// call in the same moment finds the bucket empty now and then.
	if got := through + c.RivalCalls - c.RivalThrottled; got != 500 || through < 240 || through > 320 {
		t.Errorf("%d went through beside a rival, together %d, want 500 together", through, got)
	}
	now = stageNow.Add(2 * time.Hour)
	if got := burst(t, b, 150); got != 100 {
		t.Errorf("after the rival, %d at once, want 100", got)
	}
}

// Over the wire it is EC2's own error.
func TestThrottledAsEC2Says(t *testing.T) {
	b := NewBuckets(func() time.Time { return stageNow })
	c := start(t, func(cfg *Config) { cfg.Admit = b.Admit })
	client := ec2.NewFromConfig(c.sdk(RoleIdentity(testAccount, "join-check")))
	var err error
	for range 101 {
		_, err = client.DescribeRouteTables(t.Context(), &ec2.DescribeRouteTablesInput{})
	}
	if errorCode(err) != "RequestLimitExceeded" {
		t.Errorf("error of the 101st call = %v, want RequestLimitExceeded", err)
	}
	calls := c.Calls()
	if got := calls[len(calls)-1].Status; got != 503 {
		t.Errorf("status = %d, want 503", got)
	}
}

func TestDynamoDB(t *testing.T) {
	emulator := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.HasPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.") || !strings.Contains(string(body), "incident") {
			t.Errorf("the emulator got %q %q", r.Header.Get("X-Amz-Target"), body)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if strings.Contains(string(body), "ConditionExpression") {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"}`)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	})
	c := start(t, func(cfg *Config) { cfg.DynamoDB = emulator })
	client := dynamodb.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	in := &dynamodb.PutItemInput{TableName: aws.String("t"), Item: map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: "incident"}}}
	if _, err := client.PutItem(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	in.ConditionExpression = aws.String("attribute_not_exists(pk)")
	var failed *ddbtypes.ConditionalCheckFailedException
	if _, err := client.PutItem(t.Context(), in); !errors.As(err, &failed) {
		t.Errorf("error = %v, want a failed condition", err)
	}
	var got []string
	for _, call := range c.Calls() {
		got = append(got, call.Action()+" "+call.Code)
	}
	if diff := cmp.Diff(got, []string{"dynamodb:PutItem ", "dynamodb:PutItem ConditionalCheckFailedException"}); diff != "" {
		t.Errorf("calls (-got +want):\n%s", diff)
	}
}

func entry(source, detailType, detail string) types.PutEventsRequestEntry {
	return types.PutEventsRequestEntry{Source: &source, DetailType: &detailType, Detail: &detail}
}

func TestPutEvents(t *testing.T) {
	got := map[string]string{}
	c := start(t, func(cfg *Config) {
		cfg.Events = func(_ context.Context, bus string, event json.RawMessage) error {
			switch bus {
			case "broken":
				return errors.New("a defect")
			case "missing":
				return wire.Errorf("ResourceNotFoundException", "Event bus missing does not exist.")
			}
			got[bus] = string(event)
			return nil
		}
	})
	client := eventbridge.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	onBus := func(e types.PutEventsRequestEntry, bus string) types.PutEventsRequestEntry {
		e.EventBusName = &bus
		return e
	}
	out, err := client.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{
		onBus(entry("rollcall", "Rollcall Finding Opened", `{"a":1}`), "rollcall"),
		entry("rollcall", "x", `{}`),
		entry("aws.ec2", "x", `{}`),
		entry("", "x", `{}`),
		entry("rollcall", "x", `[]`),
		entry("rollcall", "x", `{"a":`),
		onBus(entry("rollcall", "x", `{}`), "broken"),
		onBus(entry("rollcall", "x", `{}`), "missing"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, e := range out.Entries {
		codes = append(codes, aws.ToString(e.ErrorCode))
	}
	want := []string{"", "", "NotAuthorizedForSourceException", "InvalidArgument", "MalformedDetail", "MalformedDetail", "InternalFailure", "ResourceNotFoundException"}
	if diff := cmp.Diff(codes, want); diff != "" || out.FailedEntryCount != 6 {
		t.Errorf("%d failed, codes (-got +want):\n%s", out.FailedEntryCount, diff)
	}
	if len(got) != 2 || got["default"] == "" {
		t.Errorf("events went to %v, want the buses rollcall and default", got)
	}
	wantEvent := `{"version":"0","id":"00000000-0001-4000-8000-000000000001","detail-type":"Rollcall Finding Opened","source":"rollcall","account":"123456789012",` +
		`"time":"2026-11-20T21:00:00Z","region":"us-west-2","resources":[],"detail":{"a":1}}`
	if diff := cmp.Diff(got["rollcall"], wantEvent); diff != "" {
		t.Errorf("event (-got +want):\n%s", diff)
	}
	if id := aws.ToString(out.Entries[0].EventId); !strings.Contains(wantEvent, id) || id == "" {
		t.Errorf("event id = %q, want that of the event", id)
	}
}

func TestPutEventsLimits(t *testing.T) {
	c := start(t, func(cfg *Config) {
		cfg.Events = func(context.Context, string, json.RawMessage) error { t.Error("an event passed"); return nil }
	})
	client := eventbridge.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	big := entry("s", "t", `{"a":"`+strings.Repeat("x", maxEntryBytes)+`"}`)
	for name, entries := range map[string][]types.PutEventsRequestEntry{
		"none": {}, "eleven": make([]types.PutEventsRequestEntry, 11), "too big": {big},
	} {
		if _, err := client.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: entries}); errorCode(err) != "ValidationException" {
			t.Errorf("%s: error = %v, want ValidationException", name, err)
		}
	}
}

func TestFaultRules(t *testing.T) {
	routes := &wire.Call{Service: "ec2", Operation: "DescribeRouteTables", Caller: "join-check"}
	subnets := &wire.Call{Service: "ec2", Operation: "DescribeSubnets", Caller: "launch-watch"}
	events := &wire.Call{Service: "eventbridge", Operation: "PutEvents"}
	nodes := &wire.Call{Service: "kubernetes", Operation: "list nodes"}
	var none error
	tests := []struct {
		name  string
		rules []FaultRule
		calls []*wire.Call
		want  []error
	}{
		{"no rules", nil, []*wire.Call{routes}, []error{none}},
		{"one operation", []FaultRule{{Call: "ec2:DescribeRouteTables", Deny: true}}, []*wire.Call{routes, subnets}, []error{wire.Denied, none}},
		{"a service", []FaultRule{{Call: "ec2:*", Reset: true}}, []*wire.Call{routes, subnets, events}, []error{wire.Reset, wire.Reset, none}},
		{"IAM's prefix", []FaultRule{{Call: "events:PutEvents", Deny: true}}, []*wire.Call{events}, []error{wire.Denied}},
		{"Kubernetes", []FaultRule{{Call: "kubernetes:list nodes", Deny: true}}, []*wire.Call{nodes, routes}, []error{wire.Denied, none}},
		{"one caller", []FaultRule{{Call: "*", Caller: "join-check", Deny: true}}, []*wire.Call{routes, subnets}, []error{wire.Denied, none}},
		{"a third", []FaultRule{{Call: "ec2:*", Throttle: 1.0 / 3}}, []*wire.Call{routes, routes, routes, routes, routes, routes},
			[]error{none, none, wire.Throttled, none, none, wire.Throttled}},
		{"all", []FaultRule{{Call: "ec2:*", Fail: 1}}, []*wire.Call{routes, routes}, []error{wire.Broken, wire.Broken}},
		{"twice", []FaultRule{{Call: "ec2:*", Deny: true, Times: 2}}, []*wire.Call{routes, routes, routes}, []error{wire.Denied, wire.Denied, none}},
		{"not yet", []FaultRule{{Call: "*", Deny: true, From: stageNow.Add(time.Second)}}, []*wire.Call{routes}, []error{none}},
		{"no longer", []FaultRule{{Call: "*", Deny: true, From: stageNow.Add(-time.Hour), Until: stageNow}}, []*wire.Call{routes}, []error{none}},
		{"the next rule", []FaultRule{{Call: "*", Throttle: 0.5}, {Call: "ec2:*", Deny: true}}, []*wire.Call{routes, routes}, []error{wire.Denied, wire.Throttled}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := NewFaultRules(tt.rules, func() time.Time { return stageNow })
			for i, call := range tt.calls {
				if got := f.Before(t.Context(), call); !errors.Is(got, tt.want[i]) {
					t.Errorf("call %d: fault = %v, want %v", i+1, got, tt.want[i])
				}
			}
		})
	}
}

func TestShareOfFaults(t *testing.T) {
	for share, want := range map[float64]int{0: 0, 0.05: 50, 0.1: 100, 0.2: 200, 0.7: 700, 1: 1000} {
		got := 0
		for n := range 1000 {
			if due(share, n+1) {
				got++
			}
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("share %v of 1000 (-got +want):\n%s", share, diff)
		}
	}
}

func TestLatencyEndsWithTheCaller(t *testing.T) {
	f := NewFaultRules([]FaultRule{{Call: "*", Latency: time.Hour}}, func() time.Time { return stageNow })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Before(ctx, &wire.Call{Service: "ec2"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
}

// remembers is a history of one event.
type remembers struct{ asked *cloudtrail.LookupEventsInput }

func (r *remembers) LookupEventsIn(_ string, in *cloudtrail.LookupEventsInput) (*cloudtrail.LookupEventsOutput, error) {
	*r.asked = *in
	return &cloudtrail.LookupEventsOutput{Events: []cloudtrail.Event{{
		EventID: "e-1", EventName: "CreateRoute", ReadOnly: "false", EventTime: time.Date(2026, 11, 20, 14, 41, 0, 0, time.UTC), EventSource: "ec2.amazonaws.com", Username: "ci", CloudTrailEvent: "{}",
	}}}, nil
}

func TestLookupEventsOnTheWire(t *testing.T) {
	var asked cloudtrail.LookupEventsInput
	s, err := wire.New(wire.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := &Cloud{cfg: Config{History: &remembers{&asked}}, wire: s}
	wire.HandlePlain(s, "cloudtrail", "LookupEvents", c.lookupEvents)
	// The SDK for Go sends the short target, the AWS CLI the long one.
	for _, target := range []string{"CloudTrail_20131101.LookupEvents", "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.LookupEvents"} {
		body := `{"LookupAttributes":[{"AttributeKey":"ResourceName","AttributeValue":"rtb-1"}],"StartTime":1795186690,"MaxResults":10}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", bytes.NewBufferString(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", target)
		r.Header.Set("Content-Type", "application/x-amz-json-1.1")
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261120/us-west-2/cloudtrail/aws4_request, SignedHeaders=host, Signature=0")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		var got map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %s", err, w.Body.Bytes())
		}
		want := map[string]any{"Events": []any{map[string]any{
			"EventId": "e-1", "EventName": "CreateRoute", "ReadOnly": "false", "EventTime": 1795185660.0, "EventSource": "ec2.amazonaws.com",
			"Username": "ci", "Resources": []any{}, "CloudTrailEvent": "{}",
		}}}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", target, diff)
		}
		if len(asked.LookupAttributes) != 1 || asked.LookupAttributes[0].AttributeValue != "rtb-1" || *asked.MaxResults != 10 || asked.StartTime.Unix() != 1795186690 {
			t.Errorf("asked %+v", asked)
		}
	}
}

func TestTwoLookupsASecond(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	b := NewBuckets(func() time.Time { return now })
	try := func() error {
		return b.Admit(context.Background(), &wire.Call{Service: "cloudtrail", Operation: "LookupEvents"}, &cloudtrail.LookupEventsInput{})
	}
	for range 2 {
		if err := try(); err != nil {
			t.Fatal(err)
		}
	}
	if err := try(); err != wire.Throttled {
		t.Errorf("the third in a second: %v", err)
	}
	now = now.Add(500 * time.Millisecond)
	if err := try(); err != nil {
		t.Errorf("half a second later: %v", err)
	}
}

func TestIdentitiesAreStable(t *testing.T) {
	a, b := RoleIdentity(testAccount, "a"), RoleIdentity(testAccount, "b")
	if a != RoleIdentity(testAccount, "a") || a.AccessKeyID == b.AccessKeyID || a.SecretAccessKey == b.SecretAccessKey {
		t.Errorf("identities %+v and %+v, want stable and different keys", a, b)
	}
	if len(a.AccessKeyID) != 20 || len(a.SecretAccessKey) != 40 || !slices.Contains([]string{"AKIA"}, a.AccessKeyID[:4]) {
		t.Errorf("keys %q %q do not have AWS's form", a.AccessKeyID, a.SecretAccessKey)
	}
}

// nodes lists the nodes as Rollcall does: endpoint and authority from
// DescribeCluster, a presigned token, a GET.
func (c *Cloud) nodes(t *testing.T, id Identity, cluster, tokenFor string) (int, string) {
	t.Helper()
	sdk := c.sdk(id)
	out, err := eks.NewFromConfig(sdk).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: &cluster})
	if err != nil {
		t.Fatal(err)
	}
	ca, err := base64.StdEncoding.DecodeString(*out.Cluster.CertificateAuthority.Data)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		t.Fatal("the authority is not PEM")
	}
	signed, err := sts.NewPresignClient(sts.NewFromConfig(sdk)).PresignGetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}, func(po *sts.PresignOptions) {
		po.ClientOptions = append(po.ClientOptions, func(o *sts.Options) {
			o.APIOptions = append(o.APIOptions, smithyhttp.SetHeaderValue("x-k8s-aws-id", tokenFor), smithyhttp.SetHeaderValue("X-Amz-Expires", "60"))
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, *out.Cluster.Endpoint+"/api/v1/nodes?resourceVersion=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer k8s-aws-v1."+base64.RawURLEncoding.EncodeToString([]byte(signed.URL)))
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestKubernetesAccess(t *testing.T) {
	joinCheck, report, admin := RoleIdentity(testAccount, "join-check"), RoleIdentity(testAccount, "report"), AdminIdentity(testAccount, "you")
	const role = "prod arn:aws:iam::123456789012:role/join-check"
	entry := map[string][]string{role: nil}
	tests := []struct {
		name     string
		id       Identity
		world    smallWorld
		cluster  string
		tokenFor string
		code     int
	}{
		{"no entry", joinCheck, smallWorld{}, "prod", "prod", 401},
		{"entry of another role", report, smallWorld{groups: entry}, "prod", "prod", 401},
		{"entry in another cluster", joinCheck, smallWorld{groups: entry}, "staging", "staging", 401},
		{"token of another cluster", admin, smallWorld{}, "prod", "staging", 401},
		{"entry without a policy", joinCheck, smallWorld{groups: entry}, "prod", "prod", 403},
		{"view policy has no nodes", joinCheck, smallWorld{groups: entry, policies: map[string][]ekstypes.AssociatedAccessPolicy{role: {policy("AmazonEKSViewPolicy")}}}, "prod", "prod", 403},
		{"AIOps policy", joinCheck, smallWorld{groups: entry, policies: map[string][]ekstypes.AssociatedAccessPolicy{role: {policy("AmazonAIOpsAssistantPolicy")}}}, "prod", "prod", 200},
		{"second page of policies", joinCheck, smallWorld{groups: entry, policies: map[string][]ekstypes.AssociatedAccessPolicy{role: {policy("AmazonEKSViewPolicy"), policy("AmazonEKSAdminViewPolicy")}}}, "prod", "prod", 200},
		{"for a namespace only", joinCheck, smallWorld{groups: entry, policies: map[string][]ekstypes.AssociatedAccessPolicy{role: {policy("AmazonEKSAdminViewPolicy", "default")}}}, "prod", "prod", 403},
		{"group", joinCheck, smallWorld{groups: map[string][]string{role: {"rollcall"}}}, "prod", "prod", 200},
		{"unknown group", joinCheck, smallWorld{groups: map[string][]string{role: {"others"}}}, "prod", "prod", 403},
		{"admin", admin, smallWorld{}, "prod", "prod", 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t, func(cfg *Config) {
				cfg.World, cfg.Clusters = tt.world, []string{"prod", "staging"}
				cfg.Groups = map[string][]kubeapi.Rule{"rollcall": {{Groups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list"}}}}
				cfg.Objects = func(cluster, plural string) ([]json.RawMessage, string, error) {
					return []json.RawMessage{json.RawMessage(`{"metadata":{"name":"` + plural + ` of ` + cluster + `"}}`)}, "7", nil
				}
			})
			code, body := c.nodes(t, tt.id, tt.cluster, tt.tokenFor)
			if code != tt.code {
				t.Errorf("status = %d %s, want %d", code, body, tt.code)
			}
			if code == 200 && !strings.Contains(body, `"nodes of `+tt.cluster+`"`) {
				t.Errorf("body = %s, want the nodes of %s", body, tt.cluster)
			}
			calls := c.Calls()
			if last := calls[len(calls)-1]; last.Action() != "kubernetes:list nodes" || last.Status != tt.code {
				t.Errorf("last call = %+v, want list nodes with %d", last, tt.code)
			}
		})
	}
}

func policy(name string, namespaces ...string) ekstypes.AssociatedAccessPolicy {
	scope := &ekstypes.AccessScope{Type: ekstypes.AccessScopeTypeCluster}
	if len(namespaces) > 0 {
		scope = &ekstypes.AccessScope{Type: ekstypes.AccessScopeTypeNamespace, Namespaces: namespaces}
	}
	return ekstypes.AssociatedAccessPolicy{PolicyArn: aws.String("arn:aws:eks::aws:cluster-access-policy/" + name), AccessScope: scope}
}

// The meter counts as DynamoDB bills: a write unit for each KB, half a read
// unit for each 4 KB that may be old, and what a refused write takes.
func TestMeter(t *testing.T) {
	db := dynamo.New()
	if err := db.CreateTable(t.Context(), "table"); err != nil {
		t.Fatal(err)
	}
	meter := &Meter{}
	c := start(t, func(cfg *Config) { cfg.DynamoDB, cfg.Meter = db, meter })
	client := dynamodb.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	text := func(s string) ddbtypes.AttributeValue { return &ddbtypes.AttributeValueMemberS{Value: s} }
	item := map[string]ddbtypes.AttributeValue{"pk": text("a"), "sk": text("b"), "body": text(string(make([]byte, 2500)))}
	in := &dynamodb.PutItemInput{TableName: aws.String("table"), Item: item}
	if _, err := client.PutItem(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	in.ConditionExpression, in.ExpressionAttributeNames = aws.String("attribute_not_exists(#pk)"), map[string]string{"#pk": "pk"}
	if _, err := client.PutItem(t.Context(), in); err == nil {
		t.Fatal("a second item took the place of the first")
	}
	keys := []map[string]ddbtypes.AttributeValue{{"pk": text("a"), "sk": text("b")}}
	if _, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]ddbtypes.KeysAndAttributes{"table": {Keys: keys}}}); err != nil {
		t.Fatal(err)
	}
	used := meter.Used()
	if got := used["PutItem"]; got.Calls != 2 || got.Units != 4 {
		t.Errorf("PutItem took %+v, want 2 calls and 3 + 1 units", got)
	}
	if got := used["BatchGetItem"]; got.Calls != 1 || got.Units != 0.5 {
		t.Errorf("BatchGetItem took %+v, want half a unit", got)
	}
}

func TestGetSecretValue(t *testing.T) {
	arn := SecretARN(testRegion, testAccount, "rollcall/slack")
	c := start(t, func(cfg *Config) { cfg.Secrets = map[string]string{"rollcall/slack": `{"token":"xoxb"}`} })
	client := secretsmanager.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	for _, id := range []string{"rollcall/slack", arn, arn[:strings.LastIndex(arn, "-")]} {
		out, err := client.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: &id, VersionStage: aws.String("AWSCURRENT")})
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if aws.ToString(out.SecretString) != `{"token":"xoxb"}` || aws.ToString(out.ARN) != arn || aws.ToString(out.Name) != "rollcall/slack" {
			t.Errorf("%s: answer = %+v, want the secret", id, out)
		}
	}
	for name, in := range map[string]*secretsmanager.GetSecretValueInput{
		"another name":    {SecretId: aws.String("rollcall")},
		"another stage":   {SecretId: &arn, VersionStage: aws.String("AWSPREVIOUS")},
		"another version": {SecretId: &arn, VersionId: aws.String("00000000-0000-0000-0000-000000000000")},
	} {
		if _, err := client.GetSecretValue(t.Context(), in); errorCode(err) != "ResourceNotFoundException" {
			t.Errorf("%s: error = %v, want ResourceNotFoundException", name, err)
		}
	}
}

// session is a provider of temporary credentials.
type session aws.Credentials

func (s session) Retrieve(context.Context) (aws.Credentials, error) { return aws.Credentials(s), nil }

func TestAssumeRole(t *testing.T) {
	const reader = "arn:aws:iam::" + testAccount + ":role/reader"
	now := time.Now()
	c := start(t, func(cfg *Config) {
		cfg.Wall = func() time.Time { return now }
		cfg.MayAssume = func(caller Identity, in *sts.AssumeRoleInput) (bool, error) {
			if caller.Name == "report" {
				return false, errors.New("its policy cannot be read")
			}
			return caller.Name == "join-check" && aws.ToString(in.RoleArn) == reader, nil
		}
	})
	assume := func(name, role string, seconds int32) (*sts.AssumeRoleOutput, error) {
		id := RoleIdentity(testAccount, name)
		if name == "you" {
			id = AdminIdentity(testAccount, name)
		}
		in := &sts.AssumeRoleInput{RoleArn: aws.String(role), RoleSessionName: aws.String("rollcall-join-check")}
		if seconds > 0 {
			in.DurationSeconds = aws.Int32(seconds)
		}
		return sts.NewFromConfig(c.sdk(id)).AssumeRole(t.Context(), in)
	}
	for _, test := range []struct {
		name, caller, role string
		seconds            int32
		code               string
	}{
		{"another's", "you", reader, 0, "AccessDenied"},
		{"a role that is not there", "join-check", reader + "s", 0, "AccessDenied"},
		{"for longer than a session of a session lasts", "join-check", reader, 3601, "ValidationError"},
		{"for less than the least", "join-check", reader, 899, "ValidationError"},
		{"a policy that cannot be read", "report", reader, 0, "InternalFailure"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := assume(test.caller, test.role, test.seconds); errorCode(err) != test.code {
				t.Errorf("got %v, want %s", err, test.code)
			}
		})
	}
	out, err := assume("join-check", reader, 900)
	if err != nil {
		t.Fatal(err)
	}
	who := func(key, secret, token string) (string, error) {
		cfg := c.sdk(Identity{})
		cfg.Credentials = session{AccessKeyID: key, SecretAccessKey: secret, SessionToken: token}
		me, err := sts.NewFromConfig(cfg).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
		if err != nil {
			return "", err
		}
		return aws.ToString(me.Arn), nil
	}
	k := out.Credentials
	key, secret, token := aws.ToString(k.AccessKeyId), aws.ToString(k.SecretAccessKey), aws.ToString(k.SessionToken)
	const want = "arn:aws:sts::" + testAccount + ":assumed-role/reader/rollcall-join-check"
	if got, err := who(key, secret, token); got != want || err != nil || aws.ToString(out.AssumedRoleUser.Arn) != want || key[:4] != "ASIA" {
		t.Errorf("it is %s (%v), want %s", got, err, want)
	}
	for name, token := range map[string]string{"without its token": "", "with another token": "x" + token} {
		if got, err := who(key, secret, token); errorCode(err) != "InvalidClientTokenId" {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	now = now.Add(15*time.Minute - time.Second)
	if _, err := who(key, secret, token); err != nil {
		t.Errorf("before its end: %v", err)
	}
	now = now.Add(time.Second)
	if _, err := who(key, secret, token); errorCode(err) != "InvalidClientTokenId" {
		t.Errorf("after its end: %v", err)
	}
}

func TestPublish(t *testing.T) {
	const topic = "arn:aws:sns:us-west-2:111122223333:oncall"
	c := start(t, func(cfg *Config) { cfg.Topics = []string{topic} })
	client := sns.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	attributes := map[string]snstypes.MessageAttributeValue{
		"severity": {DataType: aws.String("String"), StringValue: aws.String("critical")},
		"cluster":  {DataType: aws.String("String"), StringValue: aws.String("a.b & c")},
	}
	for name, test := range map[string]struct {
		in   sns.PublishInput
		code string
	}{
		"a mail":               {sns.PublishInput{TopicArn: aws.String(topic), Subject: aws.String("s"), Message: aws.String("m"), MessageAttributes: attributes}, ""},
		"another topic":        {sns.PublishInput{TopicArn: aws.String(topic + "2"), Message: aws.String("m")}, "NotFound"},
		"a subject of 100":     {sns.PublishInput{TopicArn: aws.String(topic), Subject: aws.String(strings.Repeat("s", 100)), Message: aws.String("m")}, "InvalidParameter"},
		"a subject of 2 lines": {sns.PublishInput{TopicArn: aws.String(topic), Subject: aws.String("a\nb"), Message: aws.String("m")}, "InvalidParameter"},
		"no message":           {sns.PublishInput{TopicArn: aws.String(topic), Message: aws.String("")}, "InvalidParameter"},
		"too long":             {sns.PublishInput{TopicArn: aws.String(topic), Message: aws.String(strings.Repeat("é", maxPublished/2+1))}, "InvalidParameter"},
		"an empty attribute": {sns.PublishInput{TopicArn: aws.String(topic), Message: aws.String("m"), MessageAttributes: map[string]snstypes.MessageAttributeValue{
			"severity": {DataType: aws.String("String"), StringValue: aws.String("")},
		}}, "InvalidParameter"},
	} {
		_, err := client.Publish(t.Context(), &test.in)
		if got := errorCode(err); got != test.code {
			t.Errorf("%s: %v, want %q", name, err, test.code)
		}
	}
	want := []Mail{{Topic: topic, Subject: "s", Message: "m", Attributes: map[string]string{"severity": "critical", "cluster": "a.b & c"}}}
	if diff := cmp.Diff(want, c.Mails()); diff != "" {
		t.Errorf("mails (-want +got):\n%s", diff)
	}
}

var _ Queues = (*queue.Queues)(nil)

// TestSQS sends and receives with the SDK, which checks the MD5 of bodies and
// attributes itself.
func TestSQS(t *testing.T) {
	n := 0
	queues := queue.New(queue.Options{Clock: simclock.NewManual(stageNow), NewID: func() string { n++; return fmt.Sprintf("id-%d", n) }})
	t.Cleanup(queues.Close)
	const queueURL = "https://sqs.us-west-2.amazonaws.com/123456789012/join-check"
	if err := queues.Add(queue.Config{Name: "join-check", ARN: "arn:aws:sqs:us-west-2:123456789012:join-check", URL: queueURL}); err != nil {
		t.Fatal(err)
	}
	c := start(t, func(cfg *Config) { cfg.Queues = queues })
	client := sqs.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	found, err := client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("join-check")})
	if err != nil || aws.ToString(found.QueueUrl) != queueURL {
		t.Fatalf("queue URL = %v, %v, want %q", found, err, queueURL)
	}
	attributes := map[string]sqstypes.MessageAttributeValue{
		"n": {DataType: aws.String("Number"), StringValue: aws.String("1")},
		"b": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 255}},
	}
	if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: found.QueueUrl, MessageBody: aws.String(`{"é":"<&>"}`), MessageAttributes: attributes}); err != nil {
		t.Fatal(err)
	}
	batch, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: found.QueueUrl, Entries: []sqstypes.SendMessageBatchRequestEntry{
		{Id: aws.String("a"), MessageBody: aws.String("second")}, {Id: aws.String("b"), MessageBody: aws.String("third")},
	}})
	if err != nil || len(batch.Successful) != 2 {
		t.Fatalf("batch = %+v, %v, want two sent", batch, err)
	}
	got, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: found.QueueUrl, MaxNumberOfMessages: 10,
		MessageAttributeNames: []string{"All"}, MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"All"}})
	if err != nil || len(got.Messages) != 3 {
		t.Fatalf("received %+v, %v, want three messages", got, err)
	}
	var handles []sqstypes.DeleteMessageBatchRequestEntry
	for _, m := range got.Messages {
		if m.Attributes["ApproximateReceiveCount"] != "1" {
			t.Errorf("attributes = %v, want a receive count of 1", m.Attributes)
		}
		handles = append(handles, sqstypes.DeleteMessageBatchRequestEntry{Id: m.MessageId, ReceiptHandle: m.ReceiptHandle})
	}
	if _, err := client.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{QueueUrl: found.QueueUrl, ReceiptHandle: handles[0].ReceiptHandle, VisibilityTimeout: 60}); err != nil {
		t.Error(err)
	}
	if _, err := client.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: found.QueueUrl, ReceiptHandle: handles[0].ReceiptHandle}); err != nil {
		t.Error(err)
	}
	deleted, err := client.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: found.QueueUrl, Entries: handles[1:]})
	if err != nil || len(deleted.Successful) != 2 {
		t.Errorf("deleted = %+v, %v, want two", deleted, err)
	}
	state, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: found.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
	if err != nil || state.Attributes["ApproximateNumberOfMessages"] != "0" || state.Attributes["ApproximateNumberOfMessagesNotVisible"] != "0" {
		t.Errorf("attributes = %+v, %v, want an empty queue", state, err)
	}
	_, err = client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String("https://sqs.us-west-2.amazonaws.com/123456789012/other"), MessageBody: aws.String("x")})
	if got, want := errorCode(err), "AWS.SimpleQueueService.NonExistentQueue"; got != want {
		t.Errorf("code = %q, want %q", got, want)
	}
}
