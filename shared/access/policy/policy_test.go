package policy

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"rollcall/tools/expect"
)

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
		expect.Equal(t, fmt.Sprintf("%s %q holds", c, tt.values), c.holds(facts), tt.want)
	}
}

const nodeRole = "arn:aws:iam::123456789012:role/path/workers"

func parse(t *testing.T, name, text string) Document {
	t.Helper()
	d, err := Parse(text)
	expect.OK(t, err)
	d.Name = name
	return d
}

func TestDecide(t *testing.T) {
	describe := Request{Action: "ec2:DescribeInstances", Resource: Unscoped, Caller: Caller{ARN: nodeRole}}
	trust := Request{Action: "sts:AssumeRole", Resource: "*", Caller: Caller{Service: "ec2.amazonaws.com"}}
	tests := []struct {
		name, statements string
		request          Request
		want             string
	}{
		{"allowed", `{"Sid":"S","Effect":"Allow","Action":"EC2:describe*","Resource":"*"}`, describe, "allowed: S of p"},
		{"nothing", `{"Effect":"Allow","Action":"ec2:CreateTags","Resource":"*"}`, describe, "not granted"},
		{"all but it", `{"Effect":"Allow","NotAction":"ec2:Desc*","Resource":"*"}`, describe, "not granted"},
		{"all but another", `{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}`, describe, "allowed: statement 1 of p"},
		{"a deny wins", `[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"ec2:*","Resource":"*"}]`, describe, "denied: statement 2 of p"},
		{"an action without resources, allowed for one", `{"Effect":"Allow","Action":"*","Resource":"arn:aws:ec2:*:*:instance/*"}`, describe, "not granted"},
		{"conditional allow", `{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringEquals":{"aws:SourceVpc":"vpc-1"}}}`, describe, "depends on condition StringEquals aws:SourceVpc: statement 1 of p"},
		{"conditional deny", `[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}}]`, describe, "depends on condition IpAddress aws:SourceIp: statement 2 of p"},
		{"conditional deny of what nothing allows", `{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"Bool":{"x":"true"}}}`, describe, "not granted"},
		{"a sure allow beside a conditional one", `[{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"Bool":{"x":"true"}}},{"Effect":"Allow","Action":"*","Resource":"*"}]`, describe, "allowed: statement 2 of p"},
		{"by the caller", `{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ArnLike":{"aws:PrincipalArn":"arn:aws:iam::*:role/path/*"},"StringEquals":{"aws:PrincipalAccount":["1","123456789012"]}}}`, describe, "allowed: statement 1 of p"},
		{"some resource", `{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::a/*"}`, Request{Action: "s3:GetObject", Resource: "*"}, "depends on resource arn:aws:s3:::a/*: statement 1 of p"},
		{"not a resource", `{"Effect":"Allow","Action":"s3:GetObject","NotResource":"arn:aws:s3:::a/*"}`, Request{Action: "s3:GetObject", Resource: "arn:aws:s3:::b/*"}, "allowed: statement 1 of p"},
		{"trust", `{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":["ec2.amazonaws.com"]}}`, trust, "allowed: statement 1 of p"},
		{"trust in another service", `{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"eks.amazonaws.com","AWS":"123456789012"}}`, trust, "not granted"},
		{"trust without the action", `{"Effect":"Allow","Action":"sts:TagSession","Principal":{"Service":"ec2.amazonaws.com"}}`, trust, "not granted"},
		{"trust in everybody", `{"Effect":"Allow","Action":"sts:*","Principal":"*"}`, trust, "allowed: statement 1 of p"},
		{"endpoint: default", `{"Effect":"Allow","Action":"*","Resource":"*","Principal":"*"}`, describe, "allowed: statement 1 of p"},
		{"endpoint: its account", `{"Effect":"Allow","Action":"*","Resource":"*","Principal":{"AWS":"arn:aws:iam::123456789012:root"}}`, describe, "allowed: statement 1 of p"},
		{"endpoint: the role", `{"Effect":"Allow","Action":"*","Resource":"*","Principal":{"AWS":"` + nodeRole + `"}}`, describe, "allowed: statement 1 of p"},
		{"endpoint: another role", `{"Effect":"Allow","Action":"*","Resource":"*","Principal":{"AWS":"arn:aws:iam::123456789012:role/other"}}`, describe, "not granted"},
		{"endpoint: a session of the role", `{"Effect":"Allow","Action":"*","Resource":"*","Principal":{"AWS":"arn:aws:sts::123456789012:assumed-role/workers/i-1"}}`, describe, "depends on the principal: statement 1 of p"},
		{"endpoint: everybody but the role", `[{"Effect":"Allow","Action":"*","Resource":"*","Principal":"*"},{"Effect":"Deny","Action":"*","Resource":"*","NotPrincipal":{"AWS":"1"}}]`, describe, "denied: statement 2 of p"},
		{"endpoint: nobody knows who asks", `{"Effect":"Allow","Action":"*","Resource":"*","Principal":{"AWS":"1"}}`, Request{Action: "a:b", Resource: "*"}, "depends on the principal: statement 1 of p"},
		{"endpoint: somebody of an account", `{"Effect":"Allow","Action":"*","Resource":"*","Principal":{"AWS":"` + nodeRole + `"}}`, Request{Action: "a:b", Resource: "*", Caller: Caller{Account: "123456789012"}}, "depends on the principal: statement 1 of p"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Equal(t, "Decide", parse(t, "p", `{"Statement":`+tt.statements+`}`).Decide(tt.request).String(), tt.want)
		})
	}
}

func TestEffective(t *testing.T) {
	all := `{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`
	none := `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"*"}}`
	never := `{"Statement":{"Sid":"No","Effect":"Deny","Action":"ec2:*","Resource":"*"}}`
	perhaps := `{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"Bool":{"x":"true"}}}}`
	tests := []struct{ name, own, boundary, session, want string }{
		{"no boundary", all, "", "", "allowed: statement 1 of own"},
		{"boundary allows too", all, all, "", "allowed: statement 1 of own"},
		{"boundary grants less", all, none, "", "not granted by boundary"},
		{"boundary denies", all, never, "", "denied: No of boundary"},
		{"boundary denies what nothing grants", none, never, "", "denied: No of boundary"},
		{"boundary grants, the role does not", none, all, "", "not granted"},
		{"own deny", never, all, "", "denied: No of own"},
		{"boundary depends", all, perhaps, "", "depends on condition Bool x: statement 1 of boundary"},
		{"own depends", perhaps, all, "", "depends on condition Bool x: statement 1 of own"},
		{"own depends, boundary grants less", perhaps, none, "", "not granted by boundary"},
		{"session policy allows too", all, all, all, "allowed: statement 1 of own"},
		{"session policy grants less", all, "", none, "not granted by session"},
		{"session policy denies, boundary grants less", all, none, never, "denied: No of session"},
		{"boundary depends, session policy grants less", all, perhaps, none, "not granted by session"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var limits []Document
			if tt.boundary != "" {
				limits = append(limits, parse(t, "boundary", tt.boundary))
			}
			if tt.session != "" {
				limits = append(limits, parse(t, "session", tt.session))
			}
			got := Effective([]Document{parse(t, "own", tt.own)}, limits, Request{Action: "ec2:DescribeInstances"})
			if got.String() != tt.want {
				t.Errorf("Effective = %q, want %q", got, tt.want)
			}
		})
	}
	if got := Effective(nil, nil, Request{Action: "a:b"}); got.Verdict != Silent {
		t.Errorf("no policy: %v, want %s", got, Silent)
	}
}

func TestMatches(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          bool
	}{
		{"*", "", true},
		{"*", "anything", true},
		{"", "", true},
		{"", "x", false},
		{"ec2:Describe*", "ec2:DescribeInstances", true},
		{"ec2:*Instances", "ec2:DescribeInstances", true},
		{"ec2:Describe*", "ec2:CreateTags", false},
		{"ec2:?escribeTags", "ec2:DescribeTags", true},
		{"a?", "a", false},
		{"a*b*c", "aXbYbZc", true},
		{"a*b*c", "aXbYbZ", false},
	}
	for _, tt := range tests {
		expect.Equal(t, fmt.Sprintf("Matches(%q, %q)", tt.pattern, tt.text), Matches(tt.pattern, tt.text), tt.want)
	}
}

func TestAbout(t *testing.T) {
	const eni, enis = "arn:aws:ec2:us-west-2:1:network-interface/eni-1", "arn:aws:ec2:us-west-2:1:network-interface/*"
	tests := []struct {
		pattern, resource string
		want              truth
	}{
		{"*", eni, yes},
		{"*", "*", yes},
		{"*", Unscoped, yes},
		{"**", Unscoped, yes},
		{enis, Unscoped, no},
		{"arn:aws:ec2:*:*:*", Unscoped, no},
		{enis, eni, yes},
		{enis, enis, yes},
		{"arn:aws:ec2:*:*:network-interface/*", enis, yes},
		{eni, enis, maybe},
		{eni, "*", maybe},
		{"arn:aws:ec2:*:*:subnet/*", enis, no},
		{"arn:aws:ec2:eu-*:*:*", eni, no},
		{"arn:aws:ec2:${aws:RequestedRegion}:1:*", eni, maybe},
		{"arn:aws:s3:${x}", eni, no},
		{"arn:aws:ec2:us-west-2:1:${open", eni, maybe},
	}
	for _, tt := range tests {
		expect.Equal(t, fmt.Sprintf("about(%q, %q)", tt.pattern, tt.resource), about(tt.pattern, tt.resource), tt.want)
	}
}

// What covers says of two patterns is true of every text.
func FuzzPatterns(f *testing.F) {
	f.Add("arn:*:x", "arn:a*:x", "arn:ab:x")
	f.Add("a?*", "a*?", "abc")
	f.Add("*?*", "?", "b")
	f.Fuzz(func(t *testing.T, p, q, text string) {
		if covers(p, q, true) && Matches(q, text) && !Matches(p, text) {
			t.Errorf("%q covers %q, and only the second matches %q", p, q, text)
		}
		if Matches(p, text) && Matches(q, text) && !overlap(p, q) {
			t.Errorf("%q and %q match %q and do not overlap", p, q, text)
		}
		if overlap(p, q) != overlap(q, p) {
			t.Errorf("overlap of %q and %q depends on the order", p, q)
		}
	})
}

func TestParse(t *testing.T) {
	const document = `{"Version":"2012-10-17","Statement":{"Sid":"A","Effect":"allow","Principal":{"Service":"ec2.amazonaws.com","AWS":["1","2"]},
		"NotAction":["sts:*"],"Resource":"*","Condition":{"Bool":{"aws:SecureTransport":true},"NumericLessThan":{"s3:max-keys":[10,"20"]}}}}`
	want := Document{Statements: []Statement{{
		Sid: "A", Place: 1, Actions: []string{"sts:*"}, ExceptActions: true, Resources: []string{"*"},
		Principals: []Principal{{"AWS", "1"}, {"AWS", "2"}, {"Service", "ec2.amazonaws.com"}},
		Conditions: []Condition{{"Bool", "aws:SecureTransport", []string{"true"}}, {"NumericLessThan", "s3:max-keys", []string{"10", "20"}}},
	}}}
	for name, text := range map[string]string{"plain": document, "encoded": url.PathEscape(document), "with space around": "\n " + document + "\n"} {
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		expect.Same(t, name, got, want)
	}
}

func TestParseKeepsAPlusSign(t *testing.T) {
	got, err := Parse("%7B%22Statement%22%3A%7B%22Effect%22%3A%22Deny%22%2C%22Action%22%3A%22a+b%22%7D%7D")
	if err != nil || got.Statements[0].Actions[0] != "a+b" {
		t.Errorf("Parse = %+v, %v, want the action a+b: IAM encodes a space as %%20", got, err)
	}
}

func TestParseRefusesNoise(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":               "",
		"text":                  "AccessDenied",
		"bad encoding":          "%7",
		"null":                  "null",
		"list":                  "[]",
		"no statement":          `{"Version":"2012-10-17"}`,
		"empty statement":       `{"Statement":[]}`,
		"null statement":        `{"Statement":[null]}`,
		"no effect":             `{"Statement":{"Action":"*"}}`,
		"unknown effect":        `{"Statement":{"Effect":"Permit","Action":"*"}}`,
		"no action":             `{"Statement":{"Effect":"Allow","Resource":"*"}}`,
		"both actions":          `{"Statement":{"Effect":"Allow","Action":"a:b","NotAction":"a:c"}}`,
		"both resources":        `{"Statement":{"Effect":"Allow","Action":"a:b","Resource":"*","NotResource":"x"}}`,
		"both principals":       `{"Statement":{"Effect":"Allow","Action":"a:b","Principal":"*","NotPrincipal":"*"}}`,
		"numeric action":        `{"Statement":{"Effect":"Allow","Action":3}}`,
		"a principal by name":   `{"Statement":{"Effect":"Allow","Action":"a:b","Principal":"ec2.amazonaws.com"}}`,
		"an empty principal":    `{"Statement":{"Effect":"Allow","Action":"a:b","Principal":{}}}`,
		"condition of objects":  `{"Statement":{"Effect":"Allow","Action":"a:b","Condition":{"Bool":{"k":{"v":1}}}}}`,
		"more after the end":    `{"Statement":{"Effect":"Allow","Action":"a:b"}} {}`,
		"cut off in the middle": `{"Statement":{"Effect":"Allow","Acti`,
		"endless":               strings.Repeat("x", maxDocument+1),
	} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%s: Parse = %+v, want an error", name, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"Statement":[{"Action":"*","Effect":"Allow","Principal":"*","Resource":"*"}]}`, "ec2:DescribeInstances", "*")
	f.Add(`%7B%22Statement%22%3A%7B%22Effect%22%3A%22Deny%22%2C%22NotAction%22%3A%22sts%3A%2A%22%7D%7D`, "sts:AssumeRole", "")
	f.Add(`{"Statement":{"Effect":"Allow","Action":["ec2:Create?ags"],"Resource":"arn:aws:ec2:*:*:network-interface/*","Condition":{"StringLikeIfExists":{"aws:PrincipalArn":"*${a"}}}}`, "ec2:CreateTags", "arn:aws:ec2:us-west-2:1:network-interface/*")
	f.Fuzz(func(t *testing.T, text, action, resource string) {
		d, err := Parse(text)
		if err != nil {
			if len(d.Statements) > 0 {
				t.Errorf("an error and statements: %+v", d)
			}
			return
		}
		r := Request{Action: action, Resource: resource, Caller: Caller{ARN: "arn:aws:iam::1:role/a/b"}}
		got := d.Decide(r)
		if got.Verdict == Depends && len(got.On) == 0 {
			t.Errorf("%+v hangs on nothing", got)
		}
		deny := Document{Statements: []Statement{{Place: 1, Deny: true, Actions: []string{"*"}, Resources: []string{"*"}}}}
		if got := Effective([]Document{d, deny}, nil, r); got.Verdict != Denied {
			t.Errorf("with everything denied: %v", got)
		}
		allow := Document{Statements: []Statement{{Place: 1, Actions: []string{"*"}, Resources: []string{"*"}}}}
		if within := Effective([]Document{d}, []Document{allow}, r); within.Verdict != got.Verdict {
			t.Errorf("a boundary that allows all changes %v to %v", got, within)
		}
	})
}
