package snapshot

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
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
			if got := (Instance{Tags: tt.tags}).Owner(); got != tt.want {
				t.Errorf("Owner() = %q, want %q", got, tt.want)
			}
			group := Group{Name: tt.tags[groupTag], Tags: maps.Clone(tt.tags)}
			delete(group.Tags, groupTag) // it is on instances only
			if got := group.Owner(); got != tt.want {
				t.Errorf("Owner() of its group = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHasNeedsBothReadAndNoFailure(t *testing.T) {
	s := &Snapshot{
		Read:     map[Source]bool{Subnets: true, VPCs: true},
		Failures: map[Source]Failure{VPCs: {Source: VPCs, Reason: Throttled}},
	}
	for source, want := range map[Source]bool{Subnets: true, VPCs: false, Nodes: false} {
		if got := s.Has(source); got != want {
			t.Errorf("Has(%q) = %t, want %t", source, got, want)
		}
	}
	if got := s.Why(VPCs).Reason; got != Throttled {
		t.Errorf("Why(vpcs) = %q, want %q", got, Throttled)
	}
	if got := s.Why(Nodes).Reason; got != NotRead {
		t.Errorf("Why(nodes) = %q, want %q", got, NotRead)
	}
}

func TestEnded(t *testing.T) {
	for state, want := range map[string]bool{
		"pending": false, "running": false, "stopping": true, "stopped": true, "shutting-down": true, "terminated": true, "": false,
	} {
		if got := (Instance{State: state}).Ended(); got != want {
			t.Errorf("Ended of %q = %t, want %t", state, got, want)
		}
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
		if got := tt.node.Joined(); got != tt.want {
			t.Errorf("Joined of %+v = %t, want %t", tt.node, got, tt.want)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	var list []Source
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := v.Type.(*ast.Ident); ok && of.Name == "Source" {
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, Source(text))
		}
		return true
	})
	slices.Sort(list)
	return list
}
