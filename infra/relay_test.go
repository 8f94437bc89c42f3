package main

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/spec"

	relay "rollcall/functions/relay/spec"
)

var oneRelay = sync.OnceValues(func() (template, error) { return synthesise(map[string]any{relayTemplate: "yes"}) })

// TestRelayTemplateIsFresh: the committed template is the one that is synthesised, small
// enough to be deployed from the file, and needs no asset and no bootstrap.
func TestRelayTemplateIsFresh(t *testing.T) {
	tpl := made(t, oneRelay)
	committed, err := os.ReadFile("RollcallRelay.template.json")
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := errors.Join(json.Unmarshal(committed, &want), json.Unmarshal(tpl.source, &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run `make relay-template` (-committed +synthesised):\n%s", diff)
	}
	if len(committed) > 51_200 || strings.Contains(string(committed), "Bootstrap") {
		t.Errorf("%d bytes, or with a bootstrap", len(committed))
	}
}

// TestRelayMayDoNothing: its role has its log and what Lambda needs for its interfaces, which
// its code is denied; and nothing lets others invoke it.
func TestRelayMayDoNothing(t *testing.T) {
	tpl := made(t, oneRelay)
	for _, kind := range []string{"AWS::Lambda::Permission", "AWS::Lambda::Url", "AWS::Lambda::EventSourceMapping", "AWS::Events::Rule", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy"} {
		if found := tpl.all(kind); len(found) > 0 {
			t.Errorf("there is a %s: %s", kind, found[0].id)
		}
	}
	roles := tpl.all("AWS::IAM::Role")
	if len(roles) != 1 || get(roles[0].Properties, "ManagedPolicyArns") != nil {
		t.Fatalf("%d roles, or one with managed policies", len(roles))
	}
	if trust := several(get(roles[0].Properties, "AssumeRolePolicyDocument", "Statement")); len(trust) != 1 || flat(get(trust[0], "Principal", "Service")) != "lambda.amazonaws.com" {
		t.Errorf("it trusts %v", trust)
	}
	allowed := map[string]bool{}
	var denied []string
	for _, s := range spokeStatements(roles[0]) {
		if s["Effect"] == "Deny" {
			denied = append(denied, flats(s["Action"])...)
			if got := strings.Join(flats(get(s, "Condition", "ArnEquals", "lambda:SourceFunctionArn")), ","); got != "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${FunctionName}" {
				t.Errorf("denied to %s", got)
			}
			continue
		}
		for _, action := range flats(s["Action"]) {
			allowed[action] = true
		}
	}
	for action := range allowed {
		log := action == "logs:CreateLogStream" || action == "logs:PutLogEvents"
		if log == slices.Contains(denied, action) {
			t.Errorf("%s: denied to its code: %t", action, !log)
		}
	}
	if len(allowed) != 2+6 {
		t.Errorf("allowed: %v", allowed)
	}
}

// TestRelayLeadsToItsClusterAlone: by its security group, and by what it is told.
func TestRelayLeadsToItsClusterAlone(t *testing.T) {
	tpl := made(t, oneRelay)
	groups, rules, functions := tpl.all("AWS::EC2::SecurityGroup"), tpl.all("AWS::EC2::SecurityGroupIngress"), tpl.all("AWS::Lambda::Function")
	if len(groups) != 1 || len(rules) != 1 || len(functions) != 1 {
		t.Fatalf("%d groups, %d rules, %d functions", len(groups), len(rules), len(functions))
	}
	out := several(groups[0].Properties["SecurityGroupEgress"])
	if len(out) != 1 || flat(get(out[0], "DestinationSecurityGroupId")) != "${ClusterSecurityGroup}" || get(out[0], "FromPort") != 443.0 || get(out[0], "ToPort") != 443.0 || groups[0].Properties["SecurityGroupIngress"] != nil {
		t.Errorf("its group: %v", groups[0].Properties)
	}
	in := rules[0].Properties
	if flat(in["GroupId"]) != "${ClusterSecurityGroup}" || to(in["SourceSecurityGroupId"]) != groups[0].id || in["FromPort"] != 443.0 || in["ToPort"] != 443.0 || in["CidrIp"] != nil {
		t.Errorf("the cluster's group lets in: %v", in)
	}
	f := functions[0].Properties
	if to(get(f, "VpcConfig", "SecurityGroupIds", 0)) != groups[0].id || cmp.Diff([]string{"${SubnetA}", "${SubnetB}"}, flats(get(f, "VpcConfig", "SubnetIds"))) != "" {
		t.Errorf("it is in %v", f["VpcConfig"])
	}
	variables, _ := get(f, "Environment", "Variables").(map[string]any)
	if len(variables) != len(relay.Environment()) {
		t.Errorf("it is told %v", variables)
	}
	for _, v := range relay.Environment() {
		if variables[string(v)] == nil {
			t.Errorf("it is not told %s", v)
		}
	}
}

// TestWhoAsksRelays: the role that reads in the clusters, in the hub's account and in each
// spoke, and nobody else; and it may invoke nothing but relays.
func TestWhoAsksRelays(t *testing.T) {
	const relays = "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:rollcall-relay-*"
	for name, of := range map[string]func() (template, error){"hub": standard, "spoke": anySpoke, "spoke with remedies": oneSpoke, "hub with spokes": bigHub} {
		tpl := made(t, of)
		found := 0
		for _, kind := range []string{"AWS::IAM::Role", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy"} {
			for _, r := range tpl.all(kind) {
				list := spokeStatements(r)
				for _, s := range several(get(r.Properties, "PolicyDocument", "Statement")) {
					list = append(list, s.(map[string]any))
				}
				for _, p := range several(r.Properties["Policies"]) {
					for _, s := range several(get(p, "PolicyDocument", "Statement")) {
						if !slices.ContainsFunc(list, func(x map[string]any) bool { return cmp.Equal(any(x), s) }) {
							list = append(list, s.(map[string]any))
						}
					}
				}
				for _, s := range list {
					if !slices.ContainsFunc(flats(s["Action"]), func(a string) bool { return strings.HasPrefix(a, "lambda:Invoke") || a == "lambda:*" }) {
						continue
					}
					found++
					role := flat(r.Properties["RoleName"])
					if s["Sid"] != "AskRelays" || cmp.Diff([]string{relays}, flats(s["Resource"])) != "" || kind == "AWS::IAM::Role" && role != "rollcall-"+string(spec.SpokeReader)+"-${AWS::Region}" {
						t.Errorf("%s: %s %s may: %v", name, r.id, role, s)
					}
				}
			}
		}
		if found != 1 {
			t.Errorf("%s: %d statements let invoke, want one", name, found)
		}
	}
}
