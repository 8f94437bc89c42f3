package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	"rollcall/infra/specs"
)

// TestWhoMayDeleteInterfaces: nobody, where no cluster has opted in; else
// eni-cleanup alone, and only what bears the VPC CNI's tag and is of the
// clusters, or in the VPCs, that have.
func TestWhoMayDeleteInterfaces(t *testing.T) {
	const (
		action   = "ec2:DeleteNetworkInterface"
		anything = "arn:${AWS::Partition}:ec2:${AWS::Region}:${AWS::AccountId}:network-interface/*"
		instance = "aws:ResourceTag/node.k8s.amazonaws.com/instance_id"
		cluster  = "aws:ResourceTag/cluster.k8s.amazonaws.com/name"
	)
	of := func(clusters ...any) allowed {
		return allowed{Sid: "DeleteLeakedInterfaces", Actions: []string{action}, Resources: []string{anything}, Conditions: map[string]any{
			"StringLike": map[string]any{instance: []any{"i-*"}}, "StringEquals": map[string]any{cluster: clusters},
		}}
	}
	for _, test := range []struct {
		name  string
		given map[string]any
		want  []allowed
	}{
		{"the defaults", nil, nil},
		{"report", map[string]any{"cleanup": "report"}, nil},
		{"report, by name", map[string]any{"cleanup": "prod=report"}, nil},
		{"report, with untagged opted in", map[string]any{"cleanup": "prod=report", "cleanupUntagged": "vpc-0a1b2c3d4e5f60718"}, nil},
		{"dry-run", map[string]any{"cleanup": "dev=dry-run,prod=report"}, []allowed{of("dev")}},
		{"delete", map[string]any{"cleanup": "prod=delete,dev=dry-run,test=report"}, []allowed{of("dev", "prod")}},
		{"untagged", map[string]any{"cleanup": "prod=delete", "cleanupUntagged": "vpc-0a1b2c3d4e5f60718"}, []allowed{
			of("prod"),
			{Sid: "DeleteLeakedInterfacesWithoutCluster", Actions: []string{action}, Resources: []string{anything}, Conditions: map[string]any{
				"StringLike": map[string]any{instance: []any{"i-*"}}, "Null": map[string]any{cluster: []any{"true"}},
				"ArnLike": map[string]any{"ec2:Vpc": []any{"arn:${AWS::Partition}:ec2:${AWS::Region}:*:vpc/vpc-0a1b2c3d4e5f60718"}},
			}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			given := map[string]any{"slackChannel": channel}
			for k, v := range test.given {
				given[k] = v
			}
			tpl, err := synthesise(given)
			if err != nil {
				t.Fatal(err)
			}
			var got []allowed
			for _, spec := range specs.All() {
				for _, s := range statementsOf(t, tpl, spec) {
					if !slices.Contains(s.Actions, action) {
						continue
					}
					if spec.Name != enicleanup.Name {
						t.Errorf("%s may delete interfaces", spec.Name)
					}
					s.Conditions = flatValues(s.Conditions)
					got = append(got, s)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("statements (-want +got):\n%s", diff)
			}
		})
	}
}

// flatValues are conditions whose values are plain texts, lists of them always.
func flatValues(conditions any) any {
	out := map[string]any{}
	m, _ := conditions.(map[string]any)
	for operator, keys := range m {
		inner := map[string]any{}
		k, _ := keys.(map[string]any)
		for key, values := range k {
			var list []any
			for _, v := range several(values) {
				list = append(list, flat(v))
			}
			inner[key] = list
		}
		out[operator] = inner
	}
	return out
}
