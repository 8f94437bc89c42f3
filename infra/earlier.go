package main

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/shared/spec"

	joincheck "rollcall/functions/join-check/spec"
)

// asJoinCheck are the names of the functions that clusters may know as join-check: those
// whose grants name its role.
func asJoinCheck(list []spec.Spec) []string {
	var names []string
	for _, s := range list {
		if slices.ContainsFunc(s.Grants, func(g spec.Grant) bool { return slices.Contains(g.Resources, spec.JoinCheckRole) }) {
			names = append(names, s.Name)
		}
	}
	return names
}

// trusted is who may take a function's role: Lambda, and for join-check's those that
// clusters may know as it. They are named by their roles' names, as hub.trust names them,
// because their permissions name this role: two resources cannot each need the other.
func trusted(function spec.Spec, borrowers []string, chosen settings.Settings) awsiam.IPrincipal {
	service := awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil)
	if function.Name != joincheck.Name || len(borrowers) == 0 {
		return service
	}
	var roles []string
	for _, name := range borrowers {
		roles = append(roles, functionRoles(*awscdk.Aws_ACCOUNT_ID(), chosen.StackName, name))
	}
	return awsiam.NewCompositePrincipal(service, awsiam.NewPrincipalWithConditions(
		awsiam.NewAccountPrincipal(awscdk.Aws_ACCOUNT_ID()),
		&map[string]any{"ArnLike": map[string]any{"aws:PrincipalArn": roles}},
	))
}

// functionRoles is how a function's role in a stack is called: the stack's name, the
// construct's, and what CDK and CloudFormation add.
func functionRoles(account, stack, function string) string {
	return "arn:" + *awscdk.Aws_PARTITION() + ":iam::" + account + ":role/" + stack + "-" + camel(function) + "Role*"
}
