package main

import (
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/relay"
	"rollcall/shared/spoke"
)

// reader is the role that the clusters let in: one access entry and one binding in
// each, whatever the number of functions. To AWS it is nobody but who asks relays; who it is
// in a cluster the cluster says.
type reader struct {
	scope constructs.Construct
	role  awsiam.Role
}

// newReader makes the role, which the functions that read in clusters may assume, and
// nobody else.
func newReader(stack awscdk.Stack, chosen settings.Settings, functions []function) reader {
	scope := constructs.NewConstruct(stack, jsii.String("Reader"))
	var trusted []awsiam.IPrincipal
	var names []string
	for _, f := range readers(functions) {
		trusted = append(trusted, awsiam.NewArnPrincipal(f.role.RoleArn()))
		names = append(names, f.spec.Name)
	}
	return reader{scope, awsiam.NewRole(scope, jsii.String("Role"), &awsiam.RoleProps{
		RoleName:    jsii.String(readerName(chosen)),
		Description: jsii.String("Reads in the watched clusters, by their access entries; " + strings.Join(names, ", ") + " assume it"),
		AssumedBy:   awsiam.NewCompositePrincipal(trusted...),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"relays": document([]statement{askRelays(chosen)}),
		},
	})}
}

// readerName is the role's name. IAM's names are the account's, so the region is in
// it. It is made of words and not referred to: the functions' roles name this one, and
// its trust policy names theirs.
func readerName(chosen settings.Settings) string {
	return chosen.Prefix() + "-reader-" + *awscdk.Aws_REGION()
}

// readerARN is the role's ARN.
func readerARN(chosen settings.Settings) string {
	return "arn:" + *awscdk.Aws_PARTITION() + ":iam::" + *awscdk.Aws_ACCOUNT_ID() + ":role/" + readerName(chosen)
}

// askRelays is the permission to ask the relays of this account's clusters (package relay):
// functions of that name, which list, and change nothing. With which rights they list, the
// token says that they are given. Where the setting relays names clusters, theirs alone;
// else those that were used before there was the setting, whose names the code knows.
func askRelays(chosen settings.Settings) statement {
	var functions []string
	for _, text := range chosen.Relays {
		if c, err := spoke.ParseCluster(text); err == nil && (chosen.Spoke == settings.AnySpoke || chosen.Spoke == "" && c.Hub() || chosen.Spoke == c.ID.String()) {
			functions = append(functions, inRegion("lambda", "function:"+relay.FunctionName(chosen.Prefix(), c.Name)))
		}
	}
	slices.Sort(functions)
	if functions = slices.Compact(functions); len(functions) == 0 {
		functions = []string{inRegion("lambda", "function:"+relay.FunctionName(chosen.Prefix(), "*"))}
	}
	return statement{sid: "AskRelays", actions: []string{specs.AskRelays}, resources: functions}
}
