package authorization

import (
	"testing"

	"rollcall/tools/expect"
)

const (
	account    = "us-west-2:111122223333:"
	interfaces = "arn:aws:ec2:" + account + "network-interface/*"
	table      = "arn:aws:dynamodb:" + account + "table/T"
)

// conditions is one condition.
func conditions(operator, key, value string) map[string]map[string][]string {
	return map[string]map[string][]string{operator: {key: {value}}}
}

// TestCheck: statements as they stand in the template, and one mistake in each.
func TestCheck(t *testing.T) {
	reference, err := Load()
	expect.OK(t, err)
	vpc := conditions("ArnLike", "ec2:Vpc", "arn:aws:ec2:us-west-2:*:vpc/vpc-1")
	for _, test := range []struct {
		name      string
		statement Statement
		want      []Problem
	}{
		{"a delete in a VPC", Statement{Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []string{interfaces}, Conditions: vpc}, nil},
		{"an action that does not exist", Statement{Actions: []string{"ec2:DeleteNetworkInterfaces"}, Resources: []string{interfaces}, Conditions: vpc},
			[]Problem{{Fault: UnknownAction, About: "ec2:DeleteNetworkInterfaces"}}},
		{"an action in another case", Statement{Actions: []string{"ec2:deleteNetworkInterface"}, Resources: []string{interfaces}},
			[]Problem{{Fault: UnknownAction, About: "ec2:deleteNetworkInterface"}}},
		{"a service that does not exist", Statement{Actions: []string{"eventbridge:PutEvents"}, Resources: []string{"*"}},
			[]Problem{{Fault: UnknownAction, About: "eventbridge:PutEvents"}}},
		{"all of a service that does not exist", Statement{Actions: []string{"eventbridge:*"}, Resources: []string{"*"}},
			[]Problem{{Fault: UnknownAction, About: "eventbridge:*"}}},
		{"a key of another action", Statement{Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []string{interfaces}, Conditions: conditions("StringEquals", "ec2:InstanceType", "m5.large")},
			[]Problem{{Fault: ForeignKey, About: "ec2:DeleteNetworkInterface ec2:InstanceType"}}},
		{"a key that no service has", Statement{Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []string{interfaces}, Conditions: conditions("StringEquals", "ec2:Vpcs", "x")},
			[]Problem{{Fault: ForeignKey, About: "ec2:DeleteNetworkInterface ec2:Vpcs"}}},
		{"a key that one of two actions has", Statement{
			Actions: []string{"ec2:DeleteNetworkInterface", "ec2:CreateRoute"}, Resources: []string{interfaces, "arn:aws:ec2:" + account + "route-table/*"}, Conditions: conditions("ArnLike", "ec2:Subnet", "*"),
		}, []Problem{{Fault: ForeignKey, About: "ec2:CreateRoute ec2:Subnet"}}},
		{"a tag of the resource", Statement{Actions: []string{"autoscaling:SetDesiredCapacity"},
			Resources:  []string{"arn:aws:autoscaling:" + account + "autoScalingGroup:*:autoScalingGroupName/*"},
			Conditions: conditions("StringEquals", "aws:ResourceTag/kubernetes.io/cluster/prod", "owned")}, nil},
		{"a tag of the request where none is sent", Statement{Actions: []string{"autoscaling:SetDesiredCapacity"},
			Resources:  []string{"arn:aws:autoscaling:" + account + "autoScalingGroup:*:autoScalingGroupName/*"},
			Conditions: conditions("StringEquals", "aws:RequestTag/owner", "x")},
			[]Problem{{Fault: ForeignKey, About: "autoscaling:SetDesiredCapacity aws:RequestTag/owner"}}},
		{"an ARN compared as a date", Statement{Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []string{interfaces}, Conditions: conditions("DateLessThan", "ec2:Vpc", "x")},
			[]Problem{{Fault: WrongOperator, About: "DateLessThan ec2:Vpc (ARN)"}}},
		{"a text compared as an ARN", Statement{Actions: []string{"eks:CreateAccessEntry"}, Resources: []string{"arn:aws:eks:" + account + "cluster/prod"}, Conditions: conditions("ArnEquals", "eks:accessEntryType", "x")},
			[]Problem{{Fault: WrongOperator, About: "ArnEquals eks:accessEntryType (String)"}}},
		{"several values without a set operator", Statement{Actions: []string{"dynamodb:PutItem"}, Resources: []string{table}, Conditions: conditions("StringLike", "dynamodb:LeadingKeys", "launch#*")},
			[]Problem{{Fault: NeedsSetOperator, About: "StringLike dynamodb:LeadingKeys (ArrayOfString)"}}},
		{"several values with one", Statement{Actions: []string{"dynamodb:PutItem"}, Resources: []string{table}, Conditions: conditions("ForAllValues:StringLike", "dynamodb:LeadingKeys", "launch#*")}, nil},
		{"an operator that does not exist", Statement{Actions: []string{"dynamodb:PutItem"}, Resources: []string{table}, Conditions: conditions("ForAllValues:StringMatches", "dynamodb:LeadingKeys", "x")},
			[]Problem{{Fault: UnknownOperator, About: "ForAllValues:StringMatches dynamodb:LeadingKeys (ArrayOfString)"}}},
		{"what takes no resource, on one", Statement{Actions: []string{"ec2:DescribeInstances"}, Resources: []string{"arn:aws:ec2:" + account + "instance/*"}},
			[]Problem{{Fault: TakesNoResource, About: "ec2:DescribeInstances"}}},
		{"what takes no resource", Statement{Actions: []string{"ec2:DescribeInstances", "eks:ListClusters"}, Resources: []string{"*"}}, nil},
		{"what takes a resource, on all", Statement{Actions: []string{"ec2:GetConsoleOutput"}, Resources: []string{"*"}},
			[]Problem{{Fault: TooWide, About: "ec2:GetConsoleOutput"}}},
		{"a resource of another service", Statement{Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []string{"arn:aws:eks:" + account + "network-interface/*"}},
			[]Problem{{Fault: NeedsResource, About: "ec2:DeleteNetworkInterface network-interface"}, {Fault: ForeignResource, About: "arn:aws:eks:" + account + "network-interface/*"}}},
		{"an Auto Scaling group by its name alone", Statement{Actions: []string{"autoscaling:SetDesiredCapacity"}, Resources: []string{"arn:aws:autoscaling:" + account + "autoScalingGroup/prod"}},
			[]Problem{{Fault: NeedsResource, About: "autoscaling:SetDesiredCapacity autoScalingGroup"}, {Fault: ForeignResource, About: "arn:aws:autoscaling:" + account + "autoScalingGroup/prod"}}},
		{"a nodegroup without its id", Statement{Actions: []string{"eks:UpdateNodegroupConfig"}, Resources: []string{"arn:aws:eks:" + account + "nodegroup/prod/workers"}},
			[]Problem{{Fault: NeedsResource, About: "eks:UpdateNodegroupConfig nodegroup"}, {Fault: ForeignResource, About: "arn:aws:eks:" + account + "nodegroup/prod/workers"}}},
		{"an index without its table", Statement{Actions: []string{"dynamodb:Query"}, Resources: []string{table + "/index/byEnd"}},
			[]Problem{{Fault: NeedsResource, About: "dynamodb:Query table"}}},
		{"an index and its table", Statement{Actions: []string{"dynamodb:Query"}, Resources: []string{table + "/index/byEnd", table}}, nil},
		{"events on a rule", Statement{Actions: []string{"events:PutEvents"}, Resources: []string{"arn:aws:events:" + account + "rule/x"}},
			[]Problem{{Fault: NeedsResource, About: "events:PutEvents"}, {Fault: ForeignResource, About: "arn:aws:events:" + account + "rule/x"}}},
		{"a writer of logs", Statement{Actions: []string{"logs:PutLogEvents"}, Resources: []string{"arn:aws:logs:" + account + "log-group:/aws/lambda/x:*"}}, nil},
		{"a reader of a log group", Statement{Actions: []string{"logs:FilterLogEvents"}, Resources: []string{"arn:aws:logs:" + account + "log-group:/aws/vendedlogs/eks/*:*"}}, nil},
		{"a log group without its tail", Statement{Actions: []string{"logs:FilterLogEvents"}, Resources: []string{"arn:aws:logs:" + account + "log-group:/aws/vendedlogs/eks/x"}},
			[]Problem{{Fault: NeedsResource, About: "logs:FilterLogEvents log-group"}, {Fault: ForeignResource, About: "arn:aws:logs:" + account + "log-group:/aws/vendedlogs/eks/x"}}},
		{"a role with a path", Statement{Actions: []string{"iam:GetRole"}, Resources: []string{"arn:aws:iam::111122223333:role/aws-service-role/*"}}, nil},
		{"a policy of AWS", Statement{Actions: []string{"iam:GetPolicy"}, Resources: []string{"arn:aws:iam::aws:policy/*"}}, nil},
		{"a queue's own policy", Statement{OfResource: true, Actions: []string{"sqs:*"}, Resources: []string{"arn:aws:sqs:" + account + "q"}, Conditions: conditions("Bool", "aws:SecureTransport", "false")}, nil},
		{"a queue's own policy, by a word", Statement{OfResource: true, Actions: []string{"sqs:*"}, Resources: []string{"arn:aws:sqs:" + account + "q"}, Conditions: conditions("Bool", "aws:Secure", "false")},
			[]Problem{{Fault: ForeignKey, About: "sqs:* aws:Secure"}}},
		{"a key's own policy", Statement{OfResource: true, Actions: []string{"kms:Decryp*"}, Resources: []string{"*"}, Conditions: conditions("StringEquals", "aws:SourceAccount", "1")}, nil},
		{"a key for one topic", Statement{OfResource: true, Actions: []string{"kms:Decrypt"}, Resources: []string{"*"}, Conditions: conditions("ArnLike", "kms:EncryptionContext:aws:sns:topicArn", "x")}, nil},
		{"a key by its caller as an ARN", Statement{OfResource: true, Actions: []string{"kms:Decrypt"}, Resources: []string{"*"}, Conditions: conditions("ArnLike", "kms:CallerAccount", "x")},
			[]Problem{{Fault: WrongOperator, About: "ArnLike kms:CallerAccount (String)"}}},
		{"who may take on a role", Statement{Actions: []string{"sts:AssumeRole"}}, nil},
		{"what is taken away from everything", Statement{Deny: true, Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []string{"*"}, Conditions: conditions("ArnEquals", "lambda:SourceFunctionArn", "x")}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			expect.Same(t, "problems", reference.Check(test.statement), test.want)
		})
	}
}

func TestParseRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, text := range []string{"on table!", "action", "key aws:x", "resource ec2:instance", "hello world"} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q was read as a table", text)
		}
	}
}
