package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/shared/spec"
)

// TestNoPublicAddressUnlessAskedFor: what hangs on a setting is not there where
// the setting is not "on".
func TestNoPublicAddressUnlessAskedFor(t *testing.T) {
	for _, given := range []map[string]any{{"slackChannel": channel, "slackActions": "", "targets": "none"}, {"slackChannel": channel, "slackActions": "off", "targets": "none"}} {
		tpl, err := synthesise(given)
		if err != nil {
			t.Fatal(err)
		}
		if urls := tpl.all("AWS::Lambda::Url"); len(urls) > 0 {
			t.Errorf("%v: %s is there", given, urls[0].id)
		}
		for _, p := range tpl.all("AWS::Lambda::Permission") {
			if p.Properties["Principal"] == "*" {
				t.Errorf("%v: %s lets everybody in", given, p.id)
			}
		}
		for _, f := range tpl.all("AWS::Lambda::Function") {
			name := strings.TrimPrefix(f.Properties["FunctionName"].(string), "rollcall-")
			if i := slices.IndexFunc(specs.All(), func(s spec.Spec) bool { return s.Name == name }); i < 0 || specs.All()[i].Only != "" {
				t.Errorf("%v: %s is deployed", given, name)
			}
			if name == "report" && get(f.Properties, "Environment", "Variables", "ROLLCALL_SLACK_ACTIONS") != "off" {
				t.Errorf("%v: messages have buttons that go nowhere", given)
			}
		}
		if got := len(tpl.all("AWS::SecretsManager::Secret")); got != 1 {
			t.Errorf("%v: %d secrets, want the token alone", given, got)
		}
		if _, ok := tpl.Outputs["SlackInteractivityUrl"]; ok {
			t.Errorf("%v: an address is among the outputs", given)
		}
	}
}

func TestAddressesAreThoseOfTheSpecs(t *testing.T) {
	tpl := theTemplate(t)
	var want, got []string
	for _, function := range specs.All() {
		f := lambdaOf(t, tpl, function)
		if function.URL == nil {
			if most := f.Properties["ReservedConcurrentExecutions"]; most != nil {
				t.Errorf("%s: %v invocations are reserved", function.Name, most)
			}
			continue
		}
		want = append(want, f.id)
		if got := f.Properties["ReservedConcurrentExecutions"]; got != float64(function.URL.Concurrency) {
			t.Errorf("%s: %v invocations at once, want %d", function.Name, got, function.URL.Concurrency)
		}
		type let struct{ Action, Auth, Via any }
		var lets []let
		for _, p := range tpl.all("AWS::Lambda::Permission") {
			if to(p.Properties["FunctionName"]) == f.id {
				lets = append(lets, let{p.Properties["Action"], p.Properties["FunctionUrlAuthType"], p.Properties["InvokedViaFunctionUrl"]})
			}
		}
		slices.SortFunc(lets, func(a, b let) int { return strings.Compare(a.Action.(string), b.Action.(string)) })
		// The second one through the address alone: else any account could invoke it.
		if diff := cmp.Diff([]let{{"lambda:InvokeFunction", nil, true}, {"lambda:InvokeFunctionUrl", "NONE", nil}}, lets); diff != "" {
			t.Errorf("%s: who may call (-want +got):\n%s", function.Name, diff)
		}
	}
	for _, u := range tpl.all("AWS::Lambda::Url") {
		got = append(got, to(u.Properties["TargetFunctionArn"]))
		if u.Properties["AuthType"] != "NONE" || u.Properties["Cors"] != nil {
			t.Errorf("%s: %v", u.id, u.Properties)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions with an address (-specs +template):\n%s", diff)
	}
	if len(want) > 0 && flat(tpl.Outputs["SlackInteractivityUrl"].Value) == "" {
		t.Error("the address is not among the outputs")
	}
}

// TestSecretsHaveOneReaderEach: the token is report's, the signing secret
// slack-actions': whoever calls that from outside is nowhere near the token.
func TestSecretsHaveOneReaderEach(t *testing.T) {
	readers := map[spec.Resource][]string{}
	for _, function := range specs.All() {
		for _, g := range function.Grants {
			for _, r := range g.Resources {
				if r == spec.SlackSecret || r == spec.SigningSecret {
					readers[r] = append(readers[r], function.Name)
				}
			}
		}
	}
	want := map[spec.Resource][]string{spec.SlackSecret: {"report"}, spec.SigningSecret: {"slack-actions"}}
	if diff := cmp.Diff(want, readers); diff != "" {
		t.Errorf("readers of secrets (-want +got):\n%s", diff)
	}
}
