package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/infra/settings"
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
