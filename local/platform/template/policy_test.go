package template_test

import (
	"testing"

	"rollcall/local/platform/template"
)

func TestAllows(t *testing.T) {
	allow := func(action, resource string) template.Statement {
		return template.Statement{Effect: "Allow", Actions: []string{action}, Resources: []string{resource}}
	}
	when := func(operator, key string, values ...string) []template.Statement {
		s := allow("ec2:DeleteNetworkInterface", "*")
		s.Conditions = map[string]map[string][]string{operator: {key: values}}
		return []template.Statement{s}
	}
	const tag = "aws:ResourceTag/cluster"
	type context map[string][]string
	for _, tt := range []struct {
		name             string
		statements       []template.Statement
		action, resource string
		context          context
		want             bool
	}{
		{"nothing", nil, "ec2:X", "*", nil, false},
		{"action", []template.Statement{allow("ec2:DescribeSubnets", "*")}, "ec2:DescribeSubnets", "*", nil, true},
		{"action ignores case", []template.Statement{allow("EC2:describesubnets", "*")}, "ec2:DescribeSubnets", "*", nil, true},
		{"action wildcard", []template.Statement{allow("ec2:Describe*", "*")}, "ec2:DescribeSubnets", "*", nil, true},
		{"other action", []template.Statement{allow("ec2:Describe*", "*")}, "ec2:DeleteSubnet", "*", nil, false},
		{"resource", []template.Statement{allow("sqs:*", "arn:aws:sqs:*:*:results.fifo")}, "sqs:SendMessage", "arn:aws:sqs:us-west-2:1:results.fifo", nil, true},
		{"other resource", []template.Statement{allow("sqs:*", "arn:aws:sqs:*:*:results.fifo")}, "sqs:SendMessage", "arn:aws:sqs:us-west-2:1:dead", nil, false},
		{"resource keeps case", []template.Statement{allow("sqs:*", "arn:Q")}, "sqs:SendMessage", "arn:q", nil, false},
		{"question mark", []template.Statement{allow("sqs:*", "q?")}, "sqs:SendMessage", "q1", nil, true},
		{"question mark is one character", []template.Statement{allow("sqs:*", "q?")}, "sqs:SendMessage", "q", nil, false},
		{"star in the text", []template.Statement{allow("sqs:*", "*x")}, "sqs:SendMessage", "*ax", nil, true},
		{"not action", []template.Statement{{Effect: "Allow", NotActions: []string{"iam:*"}, Resources: []string{"*"}}}, "ec2:X", "*", nil, true},
		{"not action hit", []template.Statement{{Effect: "Allow", NotActions: []string{"iam:*"}, Resources: []string{"*"}}}, "iam:X", "*", nil, false},
		{"not resource", []template.Statement{{Effect: "Allow", Actions: []string{"*"}, NotResources: []string{"a*"}}}, "s3:X", "ab", nil, false},
		{"deny wins", []template.Statement{allow("*", "*"), {Effect: "Deny", Actions: []string{"ec2:Delete*"}, Resources: []string{"*"}}}, "ec2:DeleteVpc", "*", nil, false},

		{"StringEquals", when("StringEquals", tag, "prod", "dev"), "ec2:DeleteNetworkInterface", "*", context{tag: {"dev"}}, true},
		{"StringEquals, key in other case", when("StringEquals", tag, "dev"), "ec2:DeleteNetworkInterface", "*", context{"AWS:resourcetag/CLUSTER": {"dev"}}, true},
		{"StringEquals other", when("StringEquals", tag, "prod"), "ec2:DeleteNetworkInterface", "*", context{tag: {"dev"}}, false},
		{"StringEquals absent", when("StringEquals", tag, "prod"), "ec2:DeleteNetworkInterface", "*", nil, false},
		{"StringEqualsIfExists absent", when("StringEqualsIfExists", tag, "prod"), "ec2:DeleteNetworkInterface", "*", nil, true},
		{"StringNotEquals absent", when("StringNotEquals", tag, "prod"), "ec2:DeleteNetworkInterface", "*", nil, true},
		{"StringNotEquals hit", when("StringNotEquals", tag, "prod"), "ec2:DeleteNetworkInterface", "*", context{tag: {"prod"}}, false},
		{"StringLike", when("StringLike", tag, "pr*"), "ec2:DeleteNetworkInterface", "*", context{tag: {"prod"}}, true},
		{"StringNotLike", when("StringNotLike", tag, "pr*"), "ec2:DeleteNetworkInterface", "*", context{tag: {"prod"}}, false},
		{"StringEqualsIgnoreCase", when("StringEqualsIgnoreCase", tag, "PROD"), "ec2:DeleteNetworkInterface", "*", context{tag: {"prod"}}, true},
		{"Null false, there", when("Null", tag, "false"), "ec2:DeleteNetworkInterface", "*", context{tag: {"x"}}, true},
		{"Null false, absent", when("Null", tag, "false"), "ec2:DeleteNetworkInterface", "*", nil, false},
		{"Null true, absent", when("Null", tag, "true"), "ec2:DeleteNetworkInterface", "*", nil, true},
		{"Bool", when("Bool", "aws:SecureTransport", "true"), "ec2:DeleteNetworkInterface", "*", context{"aws:SecureTransport": {"TRUE"}}, true},
		{"Bool absent", when("Bool", "aws:SecureTransport", "true"), "ec2:DeleteNetworkInterface", "*", nil, false},
		{"ArnLike", when("ArnLike", "aws:SourceArn", "arn:aws:events:*:*:rule/a*"), "ec2:DeleteNetworkInterface", "*", context{"aws:SourceArn": {"arn:aws:events:r:1:rule/ab"}}, true},
		{"ArnLike does not reach over colons", when("ArnLike", "aws:SourceArn", "arn:aws:*:rule/a:x:y"), "ec2:DeleteNetworkInterface", "*", context{"aws:SourceArn": {"arn:aws:events:r:1:rule/a"}}, false},
		{"ArnNotEquals", when("ArnNotEquals", "aws:SourceArn", "arn:a:b:c:d:e"), "ec2:DeleteNetworkInterface", "*", context{"aws:SourceArn": {"arn:a:b:c:d:e"}}, false},
		{"NumericLessThan", when("NumericLessThan", "s3:max-keys", "10"), "ec2:DeleteNetworkInterface", "*", context{"s3:max-keys": {"9"}}, true},
		{"NumericGreaterThanEquals", when("NumericGreaterThanEquals", "k", "10"), "ec2:DeleteNetworkInterface", "*", context{"k": {"9"}}, false},
		{"NumericNotEquals", when("NumericNotEquals", "k", "10"), "ec2:DeleteNetworkInterface", "*", context{"k": {"10.0"}}, false},
		{"ForAllValues", when("ForAllValues:StringEquals", "aws:TagKeys", "a", "b"), "ec2:DeleteNetworkInterface", "*", context{"aws:TagKeys": {"a", "b"}}, true},
		{"ForAllValues one other", when("ForAllValues:StringEquals", "aws:TagKeys", "a", "b"), "ec2:DeleteNetworkInterface", "*", context{"aws:TagKeys": {"a", "c"}}, false},
		{"ForAllValues none", when("ForAllValues:StringEquals", "aws:TagKeys", "a"), "ec2:DeleteNetworkInterface", "*", nil, true},
		{"ForAnyValue", when("ForAnyValue:StringLike", "aws:TagKeys", "a*"), "ec2:DeleteNetworkInterface", "*", context{"aws:TagKeys": {"b", "ab"}}, true},
		{"ForAnyValue none", when("ForAnyValue:StringLike", "aws:TagKeys", "a*"), "ec2:DeleteNetworkInterface", "*", nil, false},
		{"variable", []template.Statement{allow("s3:*", "arn:aws:s3:::b/${aws:username}/*")}, "s3:GetObject", "arn:aws:s3:::b/ann/x", context{"aws:username": {"ann"}}, true},
		{"variable absent", []template.Statement{allow("s3:*", "arn:aws:s3:::b/${aws:username}/*")}, "s3:GetObject", "arn:aws:s3:::b//x", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := template.Allows(tt.statements, tt.action, tt.resource, tt.context)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestAllowsRefuses(t *testing.T) {
	for _, operator := range []string{"DateLessThan", "IpAddress", "BinaryEquals", "NotBool", "NumericNotLessThan", "ForAllValues:Null", "StringMatches"} {
		statements := []template.Statement{
			{Effect: "Allow", Actions: []string{"*"}, Resources: []string{"*"}},
			{Effect: "Deny", Actions: []string{"other:*"}, Resources: []string{"*"}, Conditions: map[string]map[string][]string{operator: {"k": {"1"}}}},
		}
		if got, err := template.Allows(statements, "ec2:X", "*", map[string][]string{"k": {"1"}}); err == nil {
			t.Errorf("operator %q: got %v, want an error", operator, got)
		}
	}
	if _, err := template.Allows([]template.Statement{{Effect: "Maybe", Actions: []string{"*"}, Resources: []string{"*"}}}, "a:b", "*", nil); err == nil {
		t.Error("effect Maybe: got no error")
	}
}
