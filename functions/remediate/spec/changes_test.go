package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/awscall"
	"rollcall/shared/remedy/remedies"
	"rollcall/shared/spec"
	"rollcall/shared/spec/spectest"
)

const nodeRole = "arn:aws:iam::111122223333:role/nodes"

func grants(t *testing.T, remedies, vpcs string) []spec.Grant {
	t.Helper()
	list, err := Changes(func(name string) string {
		return map[string]string{"ROLLCALL_REMEDIES": remedies, "ROLLCALL_REMEDY_VPCS": vpcs, "ROLLCALL_REMEDY_ROLES": nodeRole}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func actions(list []spec.Grant) []string {
	var all []string
	for _, g := range list {
		all = append(all, g.Actions...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// What the remedies call is what is granted where all of them are on, neither
// more nor less. The interfaces through which they call are the policy.
func TestCallsAreGranted(t *testing.T) {
	want := slices.Concat(
		spectest.Actions[awscall.RouteCreator]("ec2"), spectest.Actions[awscall.IngressAuthorizer]("ec2"),
		spectest.Actions[awscall.InstanceEnder]("autoscaling"), spectest.Actions[awscall.CapacitySetter]("autoscaling"),
		spectest.Actions[awscall.NodegroupUpdater]("eks"), spectest.Actions[awscall.AccessEntryCreator]("eks"),
	)
	slices.Sort(want)
	if diff := cmp.Diff(want, actions(grants(t, "prod=approve", "vpc-0a1b2c3d4e5f60718"))); diff != "" {
		t.Errorf("actions (-called +granted):\n%s", diff)
	}
}

func TestGrantsFollowTheSettings(t *testing.T) {
	const vpc = "vpc-0a1b2c3d4e5f60718"
	for _, test := range []struct {
		name, remedies, vpcs string
		want                 []string
	}{
		{"off", "off", vpc, nil},
		{"off, by name", "prod=off", vpc, nil},
		{"routes in no VPC", "prod/add-nat-route=auto", "none", nil},
		{"routes", "prod/add-nat-route=approve", vpc, []string{"ec2:CreateRoute"}},
		{"endpoints", "prod/open-endpoint-security-group=auto", vpc, []string{"ec2:AuthorizeSecurityGroupIngress"}},
		{"instances", "prod/replace-instance=auto", "none", []string{"autoscaling:TerminateInstanceInAutoScalingGroup"}},
		{"zones", "prod/cover-zones=approve", "none", []string{"autoscaling:SetDesiredCapacity", "eks:UpdateNodegroupConfig"}},
		{"access entries", "prod/create-access-entry=approve", "none", []string{"eks:CreateAccessEntry"}},
		{"interfaces are eni-cleanup's", "prod/delete-leaked-interfaces=auto", vpc, nil},
		{"all but one", "prod=approve,prod/replace-instance=off", "none", []string{"autoscaling:SetDesiredCapacity", "eks:CreateAccessEntry", "eks:UpdateNodegroupConfig"}},
	} {
		if diff := cmp.Diff(test.want, actions(grants(t, test.remedies, test.vpcs))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// Each is narrowed: by VPC, by the cluster's tag, by its name, or by type.
func TestGrantsAreNarrow(t *testing.T) {
	list := grants(t, "prod=approve,dev-eu_1/replace-instance=auto,dev-eu_1/cover-zones=off", "vpc-0a1b2c3d4e5f60718,vpc-0b1b2c3d4e5f60718")
	sids := map[string]bool{}
	for _, g := range list {
		if sids[g.Sid] || strings.ContainsFunc(g.Sid, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') }) {
			t.Errorf("statement id %q", g.Sid)
		}
		sids[g.Sid] = true
		if g.Why == "" {
			t.Errorf("%s has no reason", g.Sid)
		}
		text := strings.Join(func() (all []string) {
			for _, r := range g.Resources {
				all = append(all, string(r))
			}
			return all
		}(), " ")
		tagged := g.Conditions["StringEquals"]
		if len(g.Actions) != 1 && !strings.HasPrefix(g.Actions[0], "autoscaling:") {
			t.Errorf("%s: %v", g.Sid, g.Actions)
		}
		switch g.Actions[0] {
		case "ec2:CreateRoute", "ec2:AuthorizeSecurityGroupIngress":
			if diff := cmp.Diff(map[string]map[string][]string{"ArnEquals": {"ec2:Vpc": {
				"arn:${Partition}:ec2:${Region}:${Account}:vpc/vpc-0a1b2c3d4e5f60718", "arn:${Partition}:ec2:${Region}:${Account}:vpc/vpc-0b1b2c3d4e5f60718",
			}}}, g.Conditions); diff != "" {
				t.Errorf("%s (-want +got):\n%s", g.Sid, diff)
			}
		case "autoscaling:TerminateInstanceInAutoScalingGroup", "autoscaling:SetDesiredCapacity":
			want := map[string][]string{
				"aws:ResourceTag/kubernetes.io/cluster/prod":     {"autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"},
				"aws:ResourceTag/kubernetes.io/cluster/dev-eu_1": {"autoscaling:TerminateInstanceInAutoScalingGroup"},
			}
			for key, values := range tagged {
				if len(tagged) != 1 || !slices.Equal(values, []string{"owned"}) || !slices.Equal(want[key], g.Actions) {
					t.Errorf("%s: %v where %v", g.Sid, g.Actions, g.Conditions)
				}
			}
			if len(tagged) != 1 {
				t.Errorf("%s has no condition", g.Sid)
			}
		case "eks:UpdateNodegroupConfig":
			if !strings.HasSuffix(text, ":nodegroup/prod/*/*") || len(g.Resources) != 1 {
				t.Errorf("%s is on %s", g.Sid, text)
			}
		case "eks:CreateAccessEntry":
			if !strings.HasSuffix(text, ":cluster/prod") || len(g.Resources) != 1 {
				t.Errorf("%s is on %s", g.Sid, text)
			}
			if diff := cmp.Diff(map[string]map[string][]string{
				"StringEquals": {"eks:accessEntryType": {"EC2_LINUX", "EC2_WINDOWS"}}, "ArnEquals": {"eks:principalArn": {nodeRole}},
			}, g.Conditions); diff != "" {
				t.Errorf("%s (-want +got):\n%s", g.Sid, diff)
			}
		default:
			t.Errorf("%s allows %v", g.Sid, g.Actions)
		}
	}
	if len(list) != 2+2+1+1 { // two networks', two clusters' groups, nodegroups, entries
		t.Errorf("%d statements", len(list))
	}
}

// Statements hold so much that each fits into a policy, and together all of it.
func TestLongListsAreSplit(t *testing.T) {
	var clusters, roles []string
	for n := range 45 {
		clusters = append(clusters, fmt.Sprintf("%s%02d", strings.Repeat("c", 98), n))
	}
	for n := range 20 {
		roles = append(roles, fmt.Sprintf("arn:aws:iam::111122223333:role/%s/nodes%02d", strings.Repeat("p", 200), n))
	}
	list, err := Changes(func(name string) string {
		return map[string]string{"ROLLCALL_REMEDIES": strings.Join(clusters, "=auto,") + "=auto", "ROLLCALL_REMEDY_ROLES": strings.Join(roles, ",")}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	sids, entries := map[string]bool{}, map[string]int{}
	for _, g := range list {
		if sids[g.Sid] {
			t.Errorf("two statements are called %s", g.Sid)
		}
		sids[g.Sid] = true
		size := 0
		for _, r := range g.Resources {
			size += len(r)
			for _, role := range g.Conditions["ArnEquals"]["eks:principalArn"] {
				entries[string(r)+" "+role]++
			}
		}
		for _, keys := range g.Conditions {
			for _, values := range keys {
				for _, v := range values {
					size += len(v)
				}
			}
		}
		if size > 5_800 {
			t.Errorf("%s has %d characters of lists", g.Sid, size)
		}
	}
	if len(entries) != 45*20 {
		t.Errorf("%d pairs of a cluster and a role, want %d", len(entries), 45*20)
	}
}

// Without a named role nothing may be added, and a policy without one is refused.
func TestNoRoleIsAddedThatIsNotNamed(t *testing.T) {
	chosen := func(remedies, roles string) ([]spec.Grant, error) {
		return Changes(func(name string) string {
			return map[string]string{"ROLLCALL_REMEDIES": remedies, "ROLLCALL_REMEDY_ROLES": roles}[name]
		})
	}
	if list, err := chosen("prod/create-access-entry=approve", "none"); err != nil || len(list) != 0 {
		t.Errorf("granted %+v, %v", list, err)
	}
	if list, err := chosen("prod/create-access-entry=auto", "none"); err == nil || !strings.Contains(err.Error(), "remedyRoles names no role") {
		t.Errorf("granted %+v, %v", list, err)
	}
}

// Every source that a plan may rest on is read.
func TestSourcesAreRead(t *testing.T) {
	all := sources()
	for _, r := range remedies.All() {
		for _, source := range r.Sources("") {
			if !slices.Contains(all, source) {
				t.Errorf("%s needs %s, which is not read", r.Name, source)
			}
		}
	}
}
