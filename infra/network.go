package main

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/shared/spec"
)

// The statements of a function in a VPC. Lambda manages the function's network
// interfaces with the function's role (Lambda, "Giving Lambda functions access
// to resources in an Amazon VPC").
const (
	sidInterfaceReads  = "DescribeInterfacesForLambda"
	sidInterfaceMake   = "CreateInterfacesForLambda"
	sidInterfaceIPs    = "AssignAddressesForLambda"
	sidInterfaceDelete = "DeleteInterfacesForLambda"
	sidInterfaceDeny   = "InterfacesAreNotForCode"
)

// inVPC tells whether a function runs in the operator's VPC: only one that
// talks to Kubernetes does, because all others would lose their way to AWS and
// Slack for nothing.
func inVPC(function spec.Spec, chosen settings.Settings) bool {
	return len(function.Kube) > 0 && chosen.VPC.Given()
}

// enter puts a function into the VPC. It is set on the resource itself: the
// library's own way wants the VPC looked up in the account, and adds a managed
// policy that may delete every network interface.
func enter(resource awslambda.CfnFunction, v settings.VPC) {
	resource.SetVpcConfig(&awslambda.CfnFunction_VpcConfigProperty{
		SubnetIds:        jsii.Strings(v.SubnetIDs...),
		SecurityGroupIds: jsii.Strings(v.SecurityGroupIDs...),
	})
}

// interfaceStatements are what Lambda needs for the network interfaces of the
// function of that name, each as narrow as AWS allows, and that the function's
// own code may use none of it.
func interfaceStatements(function spec.Spec, name string, v settings.VPC) []statement {
	var subnets, groups []string
	for _, id := range v.SubnetIDs {
		subnets = append(subnets, inRegion("ec2", "subnet/"+id))
	}
	for _, id := range v.SecurityGroupIDs {
		groups = append(groups, inRegion("ec2", "security-group/"+id))
	}
	// An interface has its id only when it is there.
	anyInterface := inRegion("ec2", "network-interface/*")

	list := []statement{
		// Lambda looks at the subnets, and whether an interface is ready.
		// EC2's Describe calls take no resource.
		{sid: sidInterfaceReads, actions: []string{"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"}, resources: []string{"*"}},
		// Without it the function cannot be deployed. EC2 asks for the
		// permission on the new interface, its subnet and its security groups:
		// in other subnets, or with other groups, there is none.
		{sid: sidInterfaceMake, actions: []string{"ec2:CreateNetworkInterface"}, resources: slices.Concat([]string{anyInterface}, subnets, groups)},
		// Lambda gives an interface more addresses when the function grows.
		{
			sid:        sidInterfaceIPs,
			actions:    []string{"ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses"},
			resources:  []string{anyInterface},
			conditions: map[string]map[string][]string{"ArnEquals": {"ec2:Subnet": subnets}},
		},
		// Without it interfaces are left behind. Lambda tests this permission
		// before there is an interface, and wants one interface's ARN or this
		// form, as AWS documents; with network-interface/* a deployment is
		// refused (terraform-provider-aws, issue 20698). The action is on
		// interfaces only, so that the form is no wider. A condition on the
		// subnet would have nothing to match in that test.
		{sid: sidInterfaceDelete, actions: []string{"ec2:DeleteNetworkInterface"}, resources: []string{inRegion("ec2", "*/*")}},
	}
	// The credentials of the function's code carry the function's ARN, those
	// with which Lambda manages interfaces do not (Lambda, "Using source
	// function ARN to control function access behavior"): a fault in our code
	// can never create or delete an interface. What the code reads on its own
	// account stays.
	var denied []string
	for _, s := range list {
		denied = append(denied, s.actions...)
	}
	denied = slices.DeleteFunc(denied, func(action string) bool {
		return slices.ContainsFunc(function.Reads, func(r spec.Read) bool { return slices.Contains(r.Actions, action) })
	})
	slices.Sort(denied)
	return append(list, statement{
		sid:        sidInterfaceDeny,
		deny:       true,
		actions:    denied,
		resources:  []string{"*"},
		conditions: map[string]map[string][]string{"ArnEquals": {"lambda:SourceFunctionArn": {inRegion("lambda", "function:"+name)}}},
	})
}

// inRegion is the ARN of a resource in the stack's account and region. A
// function's ARN is made of its name, because its role cannot refer to it: the
// function refers to the role.
func inRegion(service, resource string) string {
	return "arn:" + *awscdk.Aws_PARTITION() + ":" + service + ":" + *awscdk.Aws_REGION() + ":" + *awscdk.Aws_ACCOUNT_ID() + ":" + resource
}
