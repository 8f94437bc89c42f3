package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/plan"
)

func TestRemedies(t *testing.T) {
	for _, test := range []struct {
		text string
		want map[string]map[plan.Remedy]plan.Policy
		bad  bool
	}{
		{text: "off"},
		{text: "prod/add-nat-route=approve, prod/replace-instance=auto", want: map[string]map[plan.Remedy]plan.Policy{
			"prod": {plan.AddNATRoute: plan.Approve, plan.ReplaceInstance: plan.Auto},
		}},
		{text: "dev=approve,dev/cover-zones=off", want: map[string]map[plan.Remedy]plan.Policy{
			"dev": {
				plan.AddNATRoute: plan.Approve, plan.ReplaceInstance: plan.Approve, plan.OpenEndpointSecurityGroup: plan.Approve,
				plan.CoverZones: plan.Off, plan.DeleteLeakedInterfaces: plan.Approve, plan.CreateAccessEntry: plan.Approve,
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
