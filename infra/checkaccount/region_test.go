package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"rollcall/infra/settings"
)

func parsed(t *testing.T, context map[string]any) settings.Settings {
	t.Helper()
	context["slackChannel"] = "C0123456789"
	chosen, err := settings.Parse(context)
	if err != nil {
		t.Fatal(err)
	}
	return chosen
}

// What a region does not have is named with the way around, and only where it is wanted.
func TestLacking(t *testing.T) {
	for _, test := range []struct{ region, actions, want string }{
		{"us-west-2", "on", ""},
		{"us-gov-west-1", "on", ""},
		{"cn-north-1", "off", ""},
		{"cn-northwest-1", "on", "Deploy with slackActions=off"},
		{"eu-central-2", "on", "watch eu-central-2 as its spoke"},
	} {
		got := strings.Join(lacking(test.region, parsed(t, map[string]any{"slackActions": test.actions})), "\n")
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s, slackActions=%s: %q, want %q", test.region, test.actions, got, test.want)
		}
		if strings.HasPrefix(test.region, "cn-") && strings.Contains(got, "as its spoke") {
			t.Errorf("%s is to be a spoke of another partition: %s", test.region, got)
		}
	}
}

func TestSpokesOfAnotherPartition(t *testing.T) {
	chosen := parsed(t, map[string]any{"spokes": "222233334444/cn-north-1,222233334444/eu-west-1", "externalId": "rollcall-7f3a9c"})
	for region, want := range map[string]string{
		"us-west-2":     "222233334444/cn-north-1 cannot be watched from us-west-2",
		"cn-north-1":    "222233334444/eu-west-1 cannot be watched from cn-north-1",
		"us-gov-west-1": "222233334444/cn-north-1, 222233334444/eu-west-1 cannot be watched from us-gov-west-1",
	} {
		if err := apart(region, chosen); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", region, err, want)
		}
	}
	if err := apart("us-west-2", parsed(t, map[string]any{"spokes": "222233334444/eu-west-1", "externalId": "rollcall-7f3a9c"})); err != nil {
		t.Error(err)
	}
}

// policies answers a page for each name.
type policies struct {
	names []string
	err   error
	asked int
}

func (p *policies) ListAccessPolicies(_ context.Context, in *eks.ListAccessPoliciesInput, _ ...func(*eks.Options)) (*eks.ListAccessPoliciesOutput, error) {
	if p.err != nil {
		return nil, p.err
	}
	out := &eks.ListAccessPoliciesOutput{}
	if p.asked < len(p.names) {
		out.AccessPolicies = []ekstypes.AccessPolicy{{Name: aws.String(p.names[p.asked])}}
	}
	if p.asked++; p.asked < len(p.names) {
		out.NextToken = aws.String("next")
	}
	return out, nil
}

func TestMissingPolicies(t *testing.T) {
	byPolicy := map[string]any{"accessClusters": "prod", "kubernetesAccess": "policy"}
	for name, test := range map[string]struct {
		there    policies
		settings map[string]any
		say, err string
		asked    int
	}{
		"both, on the second page":   {there: policies{names: []string{"AmazonAIOpsAssistantPolicy", "AmazonEKSViewPolicy"}}, settings: byPolicy, asked: 2},
		"one":                        {there: policies{names: []string{"AmazonEKSViewPolicy"}}, settings: byPolicy, err: "EKS in cn-north-1 has no access policy AmazonAIOpsAssistantPolicy (", asked: 1},
		"none":                       {settings: byPolicy, err: "no access policy AmazonAIOpsAssistantPolicy and no AmazonEKSViewPolicy", asked: 1},
		"not known":                  {there: policies{err: errors.New("AccessDeniedException")}, settings: byPolicy, say: "Not checked: whether EKS in cn-north-1 has"},
		"the stack makes no entries": {settings: map[string]any{"kubernetesAccess": "policy"}},
		"rights by a ClusterRole":    {settings: map[string]any{"accessClusters": "prod", "kubernetesAccess": "group"}},
	} {
		say, err := missingPolicies(t.Context(), &test.there, "cn-north-1", parsed(t, test.settings))
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) || !strings.HasPrefix(say, test.say) || (say == "") != (test.say == "") || test.there.asked != test.asked {
			t.Errorf("%s: %q, %v after %d questions", name, say, err, test.there.asked)
		}
	}
}

// invocations is an account's concurrency in Lambda, and what slack-actions has of it.
type invocations struct {
	unreserved, reserved int32
	err                  error
}

func (i invocations) GetAccountSettings(context.Context, *lambda.GetAccountSettingsInput, ...func(*lambda.Options)) (*lambda.GetAccountSettingsOutput, error) {
	return &lambda.GetAccountSettingsOutput{AccountLimit: &lambdatypes.AccountLimit{UnreservedConcurrentExecutions: aws.Int32(i.unreserved)}}, i.err
}

func (i invocations) GetFunctionConcurrency(_ context.Context, in *lambda.GetFunctionConcurrencyInput, _ ...func(*lambda.Options)) (*lambda.GetFunctionConcurrencyOutput, error) {
	if *in.FunctionName != "rollcall-slack-actions" || i.reserved == 0 {
		return nil, &lambdatypes.ResourceNotFoundException{}
	}
	return &lambda.GetFunctionConcurrencyOutput{ReservedConcurrentExecutions: &i.reserved}, nil
}

// Too little concurrency is refused before anything is built, also where the function has
// some already; where it could not be asked that is said.
func TestConcurrency(t *testing.T) {
	for name, tt := range map[string]struct {
		actions   string
		of        invocations
		say, want string
	}{
		"a new account":        {"on", invocations{unreserved: 10}, "", "slackActions=on reserves 10 concurrent executions, and Lambda in us-west-2 has 10 that are not reserved, of which 100 must stay so: the whole stack would roll back. Have the quota \"Concurrent executions\" of AWS Lambda raised by 100 or more first"},
		"one too few":          {"on", invocations{unreserved: 109}, "", "raised by 1 or more"},
		"just enough":          {"on", invocations{unreserved: 110}, "", ""},
		"an ordinary account":  {"on", invocations{unreserved: 1000}, "", ""},
		"an update":            {"on", invocations{unreserved: 100, reserved: 10}, "", ""},
		"half of it, by hand":  {"on", invocations{unreserved: 104, reserved: 5}, "", "raised by 1 or more"},
		"no buttons":           {"off", invocations{unreserved: 10}, "", ""},
		"it may not be looked": {"on", invocations{err: errors.New("AccessDeniedException")}, "Not checked: whether Lambda in us-west-2 has the concurrency that slackActions=on reserves (lambda:GetAccountSettings: AccessDeniedException)", ""},
	} {
		say, err := concurrency(t.Context(), tt.of, "us-west-2", parsed(t, map[string]any{"slackActions": tt.actions}))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) || (say == "") != (tt.say == "") || !strings.Contains(say, tt.say) {
			t.Errorf("%s: said %q, %v; want %q, %q", name, say, err, tt.say, tt.want)
		}
	}
}
