package main

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/spec"
)

const (
	subnetA = "subnet-0a0a0a0a0a0a0a0a0"
	subnetB = "subnet-0b0b0b0b0b0b0b0b0"
	group   = "sg-0c0c0c0c0c0c0c0c0"
)

// withVPC is what an operator gives whose clusters have private endpoints only.
func withVPC() map[string]any {
	return map[string]any{
		"slackChannel":               channel,
		settings.VPCSubnetIDs:        subnetA + "," + subnetB,
		settings.VPCSecurityGroupIDs: group,
	}
}

// private is the stack with the VPC, synthesised once.
var private = sync.OnceValues(func() (template, error) { return synthesise(withVPC()) })

func thePrivateTemplate(t *testing.T) template {
	t.Helper()
	tpl, err := private()
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

func TestOnlyKubernetesReadersAreInTheVPC(t *testing.T) {
	tpl := thePrivateTemplate(t)
	readers := 0
	for _, function := range specs.All() {
		got := lambdaOf(t, tpl, function).Properties["VpcConfig"]
		var want any
		if len(function.Kube) > 0 {
			readers++
			want = map[string]any{"SubnetIds": []any{subnetA, subnetB}, "SecurityGroupIds": []any{group}}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: VPC (-want +got):\n%s", function.Name, diff)
		}
	}
	if readers == 0 {
		t.Error("no function talks to Kubernetes: nothing was tested")
	}
}

// The settings add the VPC to one function and these statements to its role;
// all else is the standard stack.
func TestInterfaceStatements(t *testing.T) {
	const (
		ec2     = "arn:${AWS::Partition}:ec2:${AWS::Region}:${AWS::AccountId}:"
		lambdas = "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:"
	)
	type rule struct {
		Sid, Effect        string
		Actions, Resources []string
		// Key is the condition's key, below ArnEquals; Values are its values.
		Key    string
		Values []string
	}
	want := []rule{
		{Sid: "DescribeInterfacesForLambda", Effect: "Allow", Actions: []string{"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"}, Resources: []string{"*"}},
		{
			Sid: "CreateInterfacesForLambda", Effect: "Allow", Actions: []string{"ec2:CreateNetworkInterface"},
			Resources: []string{ec2 + "network-interface/*", ec2 + "subnet/" + subnetA, ec2 + "subnet/" + subnetB, ec2 + "security-group/" + group},
		},
		{
			Sid: "AssignAddressesForLambda", Effect: "Allow", Actions: []string{"ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses"},
			Resources: []string{ec2 + "network-interface/*"}, Key: "ec2:Subnet", Values: []string{ec2 + "subnet/" + subnetA, ec2 + "subnet/" + subnetB},
		},
		{Sid: "DeleteInterfacesForLambda", Effect: "Allow", Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []string{ec2 + "*/*"}},
		{
			Sid: "InterfacesAreNotForCode", Effect: "Deny",
			// And of DescribeSubnets and DescribeNetworkInterfaces what the
			// function does not read itself.
			Actions: []string{
				"ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface",
				"ec2:UnassignPrivateIpAddresses",
			},
			Resources: []string{"*"}, Key: "lambda:SourceFunctionArn",
		},
	}
	tpl := thePrivateTemplate(t)
	for _, function := range specs.All() {
		before := rawStatements(t, theTemplate(t), function)
		// They stand in the role's own policy, and what of the spec it has no room for then
		// in a further one.
		ofVPC := func(s any) bool {
			return slices.ContainsFunc(want, func(r rule) bool { return r.Sid == flat(get(s, "Sid")) })
		}
		all := rawStatements(t, tpl, function)
		after := slices.DeleteFunc(slices.Clone(all), ofVPC)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s: the statements of the spec (-standard +in a VPC):\n%s", function.Name, diff)
		}
		var got []rule
		for _, s := range slices.DeleteFunc(all, func(s any) bool { return !ofVPC(s) }) {
			r := rule{Sid: flat(get(s, "Sid")), Effect: flat(get(s, "Effect")), Actions: flats(get(s, "Action")), Resources: flats(get(s, "Resource"))}
			equals, _ := get(s, "Condition", "ArnEquals").(map[string]any)
			for key, values := range equals {
				r.Key, r.Values = key, flats(values)
			}
			got = append(got, r)
		}
		expected := slices.Clone(want)
		last := &expected[len(expected)-1]
		last.Values = []string{lambdas + "function:rollcall-" + function.Name}
		for _, action := range []string{"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"} {
			reads := func(r spec.Read) bool { return slices.Contains(r.Actions, action) }
			if !slices.ContainsFunc(function.Reads, reads) {
				last.Actions = append(slices.Clone(last.Actions), action)
			}
		}
		slices.Sort(last.Actions)
		if len(function.Kube) == 0 {
			expected = nil
		}
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("%s: statements for the VPC (-want +got):\n%s", function.Name, diff)
		}
	}
}

func rawStatements(t *testing.T, tpl template, function spec.Spec) []any {
	t.Helper()
	id := to(lambdaOf(t, tpl, function).Properties["Role"])
	list := several(get(tpl.Resources[id].Properties, "Policies", 0, "PolicyDocument", "Statement"))
	for _, name := range slices.Sorted(maps.Keys(tpl.Resources)) {
		if r := tpl.Resources[name]; r.Type == "AWS::IAM::ManagedPolicy" && to(get(r.Properties, "Roles", 0)) == id {
			list = append(list, several(get(r.Properties, "PolicyDocument", "Statement"))...)
		}
	}
	return list
}

// What Lambda was given and the code does not read itself, the code is denied.
func TestCodeIsDeniedWhatLambdaHas(t *testing.T) {
	tests := []struct {
		name  string
		reads []spec.Read
		kept  []string
	}{
		{"no reads", nil, nil},
		{"reads of its own", []spec.Read{{Actions: []string{"ec2:DescribeInstances", "ec2:DescribeSubnets"}}, {Actions: []string{"ec2:DescribeNetworkInterfaces"}}},
			[]string{"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			list := interfaceStatements(spec.Spec{Name: "f", Reads: test.reads}, "rollcall-f", settings.VPC{SubnetIDs: []string{subnetA}, SecurityGroupIDs: []string{group}})
			var granted, denied []string
			for _, s := range list {
				if s.deny {
					denied = append(denied, s.actions...)
				} else {
					granted = append(granted, s.actions...)
				}
			}
			var kept []string
			for _, action := range granted {
				if !slices.Contains(denied, action) {
					kept = append(kept, action)
				}
			}
			slices.Sort(kept)
			if diff := cmp.Diff(test.kept, kept); diff != "" {
				t.Errorf("allowed to the code (-want +got):\n%s", diff)
			}
			for _, action := range kept {
				if !specs.IsRead(action) {
					t.Errorf("the code may %s", action)
				}
			}
		})
	}
}

func TestVPCSettingsFailTogether(t *testing.T) {
	_, err := synthesise(map[string]any{"slackChannel": channel, settings.VPCSubnetIDs: subnetA})
	if want := "vpcSecurityGroupIds: is not set, but vpcSubnetIds is"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
