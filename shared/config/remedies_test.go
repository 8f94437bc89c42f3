package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/spec"

	"rollcall/shared/remedy/optin"
)

func TestRemedies(t *testing.T) {
	for _, test := range []struct {
		text string
		want map[string]map[optin.Remedy]optin.Policy
		bad  bool
	}{
		{text: "off"},
		{text: "prod/add-nat-route=approve, prod/replace-instance=auto", want: map[string]map[optin.Remedy]optin.Policy{
			"prod": {optin.AddNATRoute: optin.Approve, optin.ReplaceInstance: optin.Auto},
		}},
		{text: "dev=approve,dev/cover-zones=off", want: map[string]map[optin.Remedy]optin.Policy{
			"dev": {
				optin.AddNATRoute: optin.Approve, optin.ReplaceInstance: optin.Approve, optin.OpenEndpointSecurityGroup: optin.Approve,
				optin.CoverZones: optin.Off, optin.DeleteLeakedInterfaces: optin.Approve, optin.CreateAccessEntry: optin.Approve,
			},
		}},
		{text: "auto", bad: true},
		{text: "*=auto", bad: true},
		{text: "all=yes", bad: true},
		{text: "prod/reboot=auto", bad: true},
		{text: "prod/add-nat-route", bad: true},
		{text: "prod/add-nat-route=auto,prod/add-nat-route=off", bad: true},
		{text: "", bad: true},
	} {
		got, err := parseRemedies(test.text)
		if test.bad != (err != nil) {
			t.Errorf("%q: error %v", test.text, err)
		}
		if diff := cmp.Diff(test.want, got); err == nil && diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestRoles(t *testing.T) {
	const one, two = "arn:aws:iam::111122223333:role/nodes", "arn:aws-us-gov:iam::111122223333:role/eks/nodes/workers.a+b=c@d_e-f"
	got, err := parseRoles(one + ", " + two + "," + one)
	if diff := cmp.Diff([]string{two, one}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := parseRoles("none"); got != nil || err != nil {
		t.Errorf("none: %q, %v", got, err)
	}
	for _, text := range []string{
		"", "nodes", "*", "all", one + "*", "arn:aws:iam::111122223333:role/*", "arn:aws:iam::111122223333:role/n?des", "arn:aws:iam::*:role/nodes", "arn:aws:iam::111122223333:role/${aws:PrincipalTag/x}",
		"arn:aws:iam::111122223333:role/", "arn:aws:iam::111122223333:role/nodes/", "arn:aws:iam::111122223333:user/nodes", "arn:aws:sts::111122223333:assumed-role/nodes/i-0", "arn:aws:iam::1111:role/nodes", one + ",",
	} {
		if got, err := parseRoles(text); err == nil || !strings.Contains(err.Error(), "is not the whole ARN of a role") {
			t.Errorf("%q is taken for %q, error %v", text, got, err)
		}
	}
	var many []string
	for n := range mostRoles + 1 {
		many = append(many, fmt.Sprintf("%s%d", one, n))
	}
	if _, err := parseRoles(strings.Join(many, ",")); err == nil || err.Error() != "names 21 roles, at most 20 can be named" {
		t.Errorf("21 roles: %v", err)
	}
	if got, err := parseRoles(strings.Join(many[1:], ",")); err != nil || len(got) != mostRoles {
		t.Errorf("20 roles: %d, %v", len(got), err)
	}
}

// A policy must not decide alone which role becomes a cluster's nodes.
func TestAutoNeedsRoles(t *testing.T) {
	for _, test := range []struct {
		remedies, roles string
		bad             bool
	}{
		{"prod/create-access-entry=auto", "none", true},
		{"prod/create-access-entry=auto", "", true},
		{"prod=auto", "none", true},
		{"dev=approve,prod=auto", "none", true},
		{"prod=auto,prod/create-access-entry=approve", "none", false},
		{"prod=auto,prod/create-access-entry=off", "none", false},
		{"prod=approve", "none", false},
		{"prod/replace-instance=auto", "none", false},
		{"prod=auto", "arn:aws:iam::111122223333:role/nodes", false},
	} {
		_, err := Load(env(map[string]string{"ROLLCALL_REMEDIES": test.remedies, "ROLLCALL_REMEDY_ROLES": test.roles}), []spec.Variable{Remedies, RemedyRoles})
		if errors.Is(err, errAutoNeedsRoles) != test.bad || (err != nil) != test.bad {
			t.Errorf("%s with %s: %v", test.remedies, test.roles, err)
		}
		if test.bad && !strings.Contains(err.Error(), "-c remedyRoles=") {
			t.Errorf("%q does not say what to set", err)
		}
	}
}

func TestApprovers(t *testing.T) {
	got, err := parseApprovers("U0ONCALL01,S0123456789, U0ONCALL01")
	if diff := cmp.Diff([]string{"S0123456789", "U0ONCALL01"}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"", "oncall", "@oncall", "C0123456789", "all", "*"} {
		if got, err := parseApprovers(text); err == nil {
			t.Errorf("%q is taken for %q", text, got)
		}
	}
}
