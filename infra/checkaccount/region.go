package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/spoke"
)

// The partitions other than AWS's own have fewer services, and nothing passes from one to
// another: no role of one is assumed from another, and no event is forwarded (IAM user guide,
// "AWS JSON policy elements: Principal": principals are of the same partition).

// withoutFunctionURLs are the regions of AWS's own partition in which Lambda has no function
// URLs (Lambda developer guide, "Creating and managing Lambda function URLs", note). No region
// in China has them ("Getting Started with Amazon Web Services in China", Amazon Lambda); those
// of GovCloud do.
func withoutFunctionURLs(region string) bool {
	return spoke.Partition(region) == "aws-cn" || slices.Contains([]string{
		"ap-east-2", "ap-south-2", "ap-southeast-4", "ap-southeast-5", "ap-southeast-6", "ap-southeast-7",
		"ca-west-1", "eu-central-2", "eu-south-2", "il-central-1", "me-central-1",
	}, region)
}

// lacking says what the settings want and the region does not have, each with the way
// around. What AWS has added since is not refused: CloudFormation has the last word.
func lacking(region string, chosen settings.Settings) []string {
	var list []string
	if chosen.Environment[config.SlackActions] == "on" && withoutFunctionURLs(region) {
		instead := "Deploy with slackActions=off: messages then have no buttons, and each still has the commands that do what a button would."
		if spoke.Partition(region) == "aws" {
			instead += " Or deploy the hub in a region that has them, and watch " + region + " as its spoke (docs/deploy.md)."
		}
		list = append(list, fmt.Sprintf("slackActions=on: Lambda has no function URLs in %s, so Slack's buttons have no address there."+
			" CloudFormation refuses the template (\"Unrecognized resource types: [AWS::Lambda::Url]\"). %s", region, instead))
	}
	return list
}

// apart refuses spokes of another partition than the hub's.
func apart(region string, chosen settings.Settings) error {
	var other []string
	for _, s := range chosen.Spokes {
		if s.Partition() != spoke.Partition(region) {
			other = append(other, s.ID.String())
		}
	}
	if len(other) == 0 {
		return nil
	}
	return fmt.Errorf("spokes: %s cannot be watched from %s: no role is assumed and no event is forwarded from one partition to another."+
		" Take it out of spokes, and deploy a hub of its own there",
		strings.Join(other, ", "), region)
}

// policyLister is the part of EKS that knows the access policies.
type policyLister interface {
	ListAccessPolicies(context.Context, *eks.ListAccessPoliciesInput, ...func(*eks.Options)) (*eks.ListAccessPoliciesOutput, error)
}

// wantedPolicies are those that the stack gives the reader where kubernetesAccess=policy.
func wantedPolicies() []string { return []string{settings.AssistantPolicy, settings.ViewPolicy} }

// missingPolicies refuses access policies that EKS does not have in the region: the access
// entries would fail, and roll the stack back. That EKS could not be asked is said.
func missingPolicies(ctx context.Context, api policyLister, region string, chosen settings.Settings) (say string, err error) {
	if chosen.Access != settings.AccessPolicy || len(entries(chosen)) == 0 {
		return "", nil
	}
	missing := wantedPolicies()
	for in := (&eks.ListAccessPoliciesInput{}); ; {
		out, err := api.ListAccessPolicies(ctx, in)
		if err != nil {
			return fmt.Sprintf("Not checked: whether EKS in %s has the access policies %s (eks:ListAccessPolicies: %v).\n", region, strings.Join(wantedPolicies(), " and "), err), nil
		}
		for _, p := range out.AccessPolicies {
			missing = slices.DeleteFunc(missing, func(name string) bool { return p.Name != nil && *p.Name == name })
		}
		if in.NextToken = out.NextToken; in.NextToken == nil {
			break
		}
	}
	if len(missing) == 0 {
		return "", nil
	}
	return "", fmt.Errorf("EKS in %s has no access policy %s (aws eks list-access-policies --region %s):"+
		" add kubernetesAccess=group to SET, and run the output ClusterRoleCommand after the deployment",
		region, strings.Join(missing, " and no "), region)
}

// concurrencyReader is the part of Lambda that knows how many invocations run at once.
type concurrencyReader interface {
	GetAccountSettings(context.Context, *lambda.GetAccountSettingsInput, ...func(*lambda.Options)) (*lambda.GetAccountSettingsOutput, error)
	GetFunctionConcurrency(context.Context, *lambda.GetFunctionConcurrencyInput, ...func(*lambda.Options)) (*lambda.GetFunctionConcurrencyOutput, error)
}

// unreserved is what Lambda keeps for functions without reserved concurrency (Lambda developer
// guide, "Configuring reserved concurrency for a function": "You can reserve up to the
// Unreserved account concurrency value minus 100").
const unreserved = 100

// concurrency refuses the concurrency that slack-actions reserves where the account's has not
// enough: new accounts may have 10, and the stack would roll back. That Lambda could not be
// asked is said.
func concurrency(ctx context.Context, api concurrencyReader, region string, chosen settings.Settings) (say string, err error) {
	if chosen.Environment[config.SlackActions] != "on" {
		return "", nil
	}
	account, err := api.GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err != nil || account.AccountLimit == nil {
		return fmt.Sprintf("Not checked: whether Lambda in %s has the concurrency that slackActions=on reserves (lambda:GetAccountSettings: %v).\n", region, err), nil
	}
	var function string
	var wanted int32
	for _, s := range specs.Deployed(specs.All(), chosen.Environment) {
		if s.URL != nil {
			function, wanted = chosen.Prefix()+"-"+s.Name, int32(s.URL.Concurrency)
		}
	}
	reserved, err := api.GetFunctionConcurrency(ctx, &lambda.GetFunctionConcurrencyInput{FunctionName: &function})
	var none *lambdatypes.ResourceNotFoundException
	switch {
	case err != nil && !errors.As(err, &none):
		return fmt.Sprintf("Not checked: whether Lambda in %s has the concurrency that slackActions=on reserves (lambda:GetFunctionConcurrency on %s: %v).\n", region, function, err), nil
	case err == nil:
		wanted -= min(wanted, aws.ToInt32(reserved.ReservedConcurrentExecutions))
	}
	if left := aws.ToInt32(account.AccountLimit.UnreservedConcurrentExecutions); wanted > 0 && left < unreserved+wanted {
		return "", fmt.Errorf("slackActions=on reserves %d concurrent executions, and Lambda in %s has %d that are not reserved, of which %d must stay so: the whole stack would roll back."+
			" Have the quota \"Concurrent executions\" of AWS Lambda raised by %d or more first (Service Quotas; new accounts have 10, AWS answers within days), or deploy with slackActions=off",
			wanted, region, left, unreserved, unreserved+wanted-left)
	}
	return "", nil
}
