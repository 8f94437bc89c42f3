package simaws

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
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
