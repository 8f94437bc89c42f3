package createaccessentry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
	"rollcall/shared/spec"
)

func TestGrants(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/workers"
	got := grants(action.OptIn{Clusters: []string{"prod"}, Any: []string{"dev", "prod"}, Roles: []string{role}})
	want := []spec.Grant{{
		Sid: "AdmitRoles1", Why: "create-access-entry lets the node roles that the operator named into the cluster, as nodes and as nothing else.",
		Actions: []string{"eks:CreateAccessEntry"}, Resources: []spec.Resource{"arn:${Partition}:eks:${Region}:${Account}:cluster/prod"},
		Conditions: map[string]map[string][]string{"StringEquals": {"eks:accessEntryType": {"EC2_LINUX", "EC2_WINDOWS"}}, "ArnEquals": {"eks:principalArn": {role}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
	for name, o := range map[string]action.OptIn{"no role is named": {Clusters: []string{"prod"}}, "no cluster has opted in": {Roles: []string{role}}} {
		if got := grants(o); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What does not fit into one statement is in several, each role with each cluster.
func TestGrantsOfMany(t *testing.T) {
	long := func(n int) string { return fmt.Sprintf("%d%s", n, strings.Repeat("r", 999)) }
	o := action.OptIn{Roles: []string{long(1), long(2), long(3)}}
	for n := range 21 {
		o.Clusters = append(o.Clusters, fmt.Sprintf("c%02d", n))
	}
	type statement struct {
		Sid             string
		Clusters        int
		First, Of, Last string
	}
	var got []statement
	for _, g := range grants(o) {
		roles := g.Conditions["ArnEquals"]["eks:principalArn"]
		got = append(got, statement{g.Sid, len(g.Resources), string(g.Resources[0]), roles[0][:1], roles[len(roles)-1][:1]})
	}
	want := []statement{
		{"AdmitRoles1", 20, "arn:${Partition}:eks:${Region}:${Account}:cluster/c00", "1", "2"},
		{"AdmitRoles2", 1, "arn:${Partition}:eks:${Region}:${Account}:cluster/c20", "1", "2"},
		{"AdmitRoles3", 20, "arn:${Partition}:eks:${Region}:${Account}:cluster/c00", "3", "3"},
		{"AdmitRoles4", 1, "arn:${Partition}:eks:${Region}:${Account}:cluster/c20", "3", "3"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
}

// Each text takes its characters, quotation marks and comma.
func TestUpTo(t *testing.T) {
	for _, test := range []struct {
		list []string
		want [][]string
	}{
		{nil, nil},
		{[]string{"abcd"}, [][]string{{"abcd"}}},
		{[]string{"ab", "cd"}, [][]string{{"ab", "cd"}}},                     // 5 and 5: just what fits
		{[]string{"ab", "cde"}, [][]string{{"ab"}, {"cde"}}},                 // one too many
		{[]string{"abc", "de", "f"}, [][]string{{"abc"}, {"de", "f"}}},       // the second part is as large as the first
		{[]string{"abcdefghijkl", "m"}, [][]string{{"abcdefghijkl"}, {"m"}}}, // alone it is too long: it stands alone
	} {
		if diff := cmp.Diff(test.want, upTo(test.list, 10)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.list, diff)
		}
	}
}
