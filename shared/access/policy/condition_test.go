package policy

import "testing"

func TestConditionHolds(t *testing.T) {
	facts := map[string][]string{
		"aws:requestedregion": {"us-west-2"}, "aws:sourcevpc": {}, "aws:principalarn": {nodeRole}, "aws:securetransport": {"true"}, "tags": {"a", "b"},
	}
	tests := []struct {
		operator, key string
		values        []string
		want          truth
	}{
		{"StringEquals", "aws:RequestedRegion", []string{"eu-west-1", "us-west-2"}, yes},
		{"StringEquals", "AWS:REQUESTEDREGION", []string{"US-WEST-2"}, no},
		{"StringEqualsIgnoreCase", "aws:RequestedRegion", []string{"US-WEST-2"}, yes},
		{"StringNotEquals", "aws:RequestedRegion", []string{"eu-west-1", "us-west-2"}, no},
		{"StringNotEquals", "aws:RequestedRegion", []string{"eu-west-1"}, yes},
		{"StringLike", "aws:RequestedRegion", []string{"us-*"}, yes},
		{"StringNotLike", "aws:RequestedRegion", []string{"us-*"}, no},
		{"StringEquals", "aws:RequestedRegion", []string{"${aws:PrincipalTag/region}"}, maybe},
		{"StringEquals", "aws:RequestedRegion", []string{"${aws:PrincipalTag/region}", "us-west-2"}, yes},
		{"StringEquals", "aws:SourceVpc", []string{"vpc-1"}, no},
		{"StringEqualsIfExists", "aws:SourceVpc", []string{"vpc-1"}, yes},
		{"StringNotEquals", "aws:SourceVpc", []string{"vpc-1"}, yes},
		{"StringEqualsIfExists", "aws:RequestedRegion", []string{"eu-west-1"}, no},
		{"Null", "aws:SourceVpc", []string{"true"}, yes},
		{"Null", "aws:SourceVpc", []string{"false"}, no},
		{"Null", "aws:RequestedRegion", []string{"false"}, yes},
		{"Null", "aws:RequestedRegion", []string{"perhaps"}, maybe},
		{"ArnLike", "aws:PrincipalArn", []string{"arn:aws:iam::*:role/path/*"}, yes},
		{"ArnEquals", "aws:PrincipalArn", []string{"arn:aws:*:role/path/*"}, no},
		{"ArnNotLike", "aws:PrincipalArn", []string{"arn:aws:iam::*:role/path/*"}, no},
		{"Bool", "aws:SecureTransport", []string{"True"}, yes},
		{"Bool", "aws:SecureTransport", []string{"false"}, no},
		{"StringEquals", "tags", []string{"a"}, maybe},
		{"ForAnyValue:StringEquals", "tags", []string{"a"}, maybe},
		{"ForAllValues:StringEquals", "aws:RequestedRegion", []string{"x"}, maybe},
		{"IpAddress", "aws:RequestedRegion", []string{"10.0.0.0/8"}, maybe},
		{"StringEquals", "ec2:ResourceTag/a", []string{"b"}, maybe},
		{"StringEquals", "aws:RequestedRegion", nil, no},
	}
	for _, tt := range tests {
		c := Condition{tt.operator, tt.key, tt.values}
		if got := c.holds(facts); got != tt.want {
			t.Errorf("%s %q holds = %d, want %d", c, tt.values, got, tt.want)
		}
	}
}
