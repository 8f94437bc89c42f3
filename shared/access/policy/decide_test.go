package policy

import "testing"

const nodeRole = "arn:aws:iam::123456789012:role/path/workers"

func parse(t *testing.T, name, text string) Document {
	t.Helper()
	d, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
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
			if got := parse(t, "p", `{"Statement":`+tt.statements+`}`).Decide(tt.request).String(); got != tt.want {
				t.Errorf("Decide = %q, want %q", got, tt.want)
			}
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
