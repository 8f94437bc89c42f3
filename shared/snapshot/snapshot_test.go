package snapshot

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/tools/expect"
)

func TestOwner(t *testing.T) {
	tests := []struct {
		name string
		tags map[string]string
		want string
	}{
		{"managed nodegroup", map[string]string{"eks:nodegroup-name": "workers", "aws:autoscaling:groupName": "eks-workers-1"}, "workers"},
		{"karpenter", map[string]string{"karpenter.sh/nodepool": "default"}, "default"},
		{"auto mode", map[string]string{"eks:kubernetes-node-pool-name": "general-purpose", "eks:eks-cluster-name": "prod"}, "general-purpose"},
		{"self-managed by eksctl", map[string]string{"alpha.eksctl.io/nodegroup-name": "ng", "aws:autoscaling:groupName": "eksctl-prod-ng"}, "ng"},
		{"managed, made by eksctl", map[string]string{"alpha.eksctl.io/nodegroup-name": "ng", "eks:nodegroup-name": "workers"}, "workers"},
		{"self-managed", map[string]string{"aws:autoscaling:groupName": "asg-1"}, "asg-1"},
		{"nobody", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Equal(t, "Owner()", (Instance{Tags: tt.tags}).Owner(), tt.want)
			group := Group{Name: tt.tags[groupTag], Tags: maps.Clone(tt.tags)}
			delete(group.Tags, groupTag) // it is on instances only
			expect.Equal(t, "Owner() of its group", group.Owner(), tt.want)
		})
	}
}

func TestHasNeedsBothReadAndNoFailure(t *testing.T) {
	s := &Snapshot{
		Read:     map[Source]bool{Subnets: true, VPCs: true},
		Failures: map[Source]Failure{VPCs: {Source: VPCs, Reason: Throttled}},
	}
	for source, want := range map[Source]bool{Subnets: true, VPCs: false, Nodes: false} {
		expect.Equal(t, fmt.Sprintf("Has(%q)", source), s.Has(source), want)
	}
	expect.Equal(t, "Why(vpcs)", s.Why(VPCs).Reason, Throttled)
	expect.Equal(t, "Why(nodes)", s.Why(Nodes).Reason, NotRead)
}

func TestEnded(t *testing.T) {
	for state, want := range map[string]bool{
		"pending": false, "running": false, "stopping": true, "stopped": true, "shutting-down": true, "terminated": true, "": false,
	} {
		expect.Equal(t, fmt.Sprintf("Ended of %q", state), (Instance{State: state}).Ended(), want)
	}
}

func TestJoined(t *testing.T) {
	tests := []struct {
		node Node
		want bool
	}{
		{Node{Ready: Condition{Status: "True"}}, true},
		{Node{Ready: Condition{Status: "True"}, Uninitialized: true}, false},
		{Node{Ready: Condition{Status: "Unknown"}}, false},
		{Node{}, false},
	}
	for _, tt := range tests {
		expect.Equal(t, fmt.Sprintf("Joined of %+v", tt.node), tt.node.Joined(), tt.want)
	}
}

// TestAllNamesEverySource holds the list beside the names.
func TestAllNamesEverySource(t *testing.T) {
	want := declared(t)
	got := append(All(), LaunchHistory, RefusedLaunches, DenialsOf, AutoModeLogsOf)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sources (-constants +All):\n%s", diff)
	}
}

// declared are the constants of type Source, sorted.
func declared(t *testing.T) []Source {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "source.go", nil, 0)
	expect.OK(t, err)
	var list []Source
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := v.Type.(*ast.Ident); ok && of.Name == "Source" {
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			expect.OK(t, err)
			list = append(list, Source(text))
		}
		return true
	})
	slices.Sort(list)
	return list
}
