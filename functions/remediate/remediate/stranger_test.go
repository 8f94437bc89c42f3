package remediate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/createaccessentry"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

const (
	theirs        = "arn:aws:iam::111122223333:role/stranger"
	karpentersOwn = "arn:aws:iam::111122223333:role/KarpenterNodeRole-eks-workshop"
)

// strangers is the world in which nodes' role is in no entry, and beside them
// stands an instance that a stranger started by hand: with the tags of the
// cluster and its nodegroup, which anybody may set, and a role of its own.
const strangers = `
ec2:
  Instances:
    - InstanceId: i-0a700000000000666
      InstanceType: m5.large
      ImageId: ami-0a1e2d3c4b5a69788
      SubnetId: subnet-0c30000000000000d
      PrivateIpAddress: 10.42.192.66
      LaunchTime: 2026-11-20T14:48:00Z
      SecurityGroups: [{GroupId: sg-0e50000000000000f}]
      IamInstanceProfile: {Arn: "arn:aws:iam::111122223333:instance-profile/stranger"}
      Tags: [{Key: eks:cluster-name, Value: eks-workshop}, {Key: eks:nodegroup-name, Value: new_nodegroup_2}, {Key: kubernetes.io/cluster/eks-workshop, Value: owned}]
iam:
  Roles:
    - RoleName: stranger
      AssumeRolePolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow, Principal: {Service: ec2.amazonaws.com}, Action: "sts:AssumeRole"}]}
  InstanceProfiles:
    - {InstanceProfileName: stranger, Roles: [{RoleName: stranger}]}
`

// about opens an incident of the check as report would, of a role and instances.
func about(t *testing.T, world, over, policy, roles, role string, instances ...string) *harness {
	t.Helper()
	s := bench(t, "", stagetest.Options{World: world, Over: over, Settings: settingsOf(stagetest.Cluster+"/create-access-entry="+policy, "ROLLCALL_REMEDY_ROLES", roles)})
	s.Advance(20 * time.Minute)
	s.save(incident.Incident{
		Key:    report.Key{Cluster: stagetest.Cluster, Check: "iam/access-missing", Resource: role},
		Format: report.Format, Account: s.Template.AccountID, Region: s.Template.Region, Partition: "aws",
		State: incident.Open, Number: 1, Began: s.Now().Add(-6 * time.Minute), Opened: s.Now().Add(-time.Minute), Changed: s.Now(), Seen: s.Now(),
		Cause: diagnose.Cause{
			Check: "iam/access-missing", Confidence: checks.Certain, Resource: role, Covers: instances,
			Title: "no access entry", Fix: checks.Fix{Remedy: string(optin.CreateAccessEntry)},
		},
		Covers: instances, Affected: len(instances),
	})
	return s
}

func (s *harness) entries() []string {
	s.t.Helper()
	out, err := s.World.EKS().ListAccessEntries(&eks.ListAccessEntriesInput{ClusterName: aws.String(stagetest.Cluster)})
	if err != nil {
		s.t.Fatal(err)
	}
	return out.AccessEntries
}

// The wrong target: a stranger's instance and role, by policy and by approval,
// with the role named and not named. Nothing is offered, and nothing is done.
func TestNoEntryForAStranger(t *testing.T) {
	const world, node, foreign = "corpus/iam-access-missing.yaml", "i-0a700000000000001", "i-0a700000000000666"
	for _, test := range []struct {
		name, policy, roles, role string
		instances                 []string
		want                      action.Reason
	}{
		{"by policy, another role is named", "auto", nodeRole, theirs, []string{foreign}, createaccessentry.RoleNotNamed},
		{"approved, no role is named", "approve", "none", nodeRole, []string{node}, createaccessentry.RoleNotNamed},
		{"by policy, the stranger's role is named", "auto", theirs, theirs, []string{foreign}, action.NotLaunchedByIt},
		{"approved, the stranger's role is named", "approve", theirs, theirs, []string{foreign}, action.NotLaunchedByIt},
	} {
		s := about(t, world, strangers, test.policy, test.roles, test.role, test.instances...)
		before := s.entries()
		s.tell(opened)
		list, runs := s.said()
		if len(list) != 1 || list[0].Hash != "" || list[0].Reason != string(test.want) || len(runs) != 0 {
			t.Errorf("%s: proposals %+v, runs %+v; want %s: %s", test.name, list, runs, test.want, s.Logs())
		}
		if n := s.Calls()["eks:CreateAccessEntry"]; n != 0 || !slices.Equal(s.entries(), before) {
			t.Errorf("%s: %d calls, entries %v", test.name, n, s.entries())
		}
	}
}

// A policy does not get as far as a run without a named role: the settings are
// refused (shared/config). If it did, nothing would be done all the same.
func TestAutoWithoutRolesDoesNothing(t *testing.T) {
	s := about(t, "corpus/iam-access-missing.yaml", "", "auto", nodeRole, nodeRole, "i-0a700000000000001")
	s.h.roles = nil
	s.tell(opened)
	list, runs := s.said()
	if len(list) != 1 || list[0].Reason != string(createaccessentry.RoleNotNamed) || len(runs) != 0 || s.Calls()["eks:CreateAccessEntry"] != 0 {
		t.Errorf("proposals %+v, runs %+v", list, runs)
	}
}

// That Karpenter launched an instance, its tags alone say, which anybody may set:
// a person is asked, also where the policy is auto.
func TestNodePoolIsForAPersonToDecide(t *testing.T) {
	const entriesAlone = "eks: {clusters: [{name: eks-workshop, accessConfig: {authenticationMode: API}}]}"
	s := about(t, "corpus/iam-access-missing-karpenter.yaml", entriesAlone, "auto", karpentersOwn, karpentersOwn, "i-0a700000000000001")
	s.tell(opened)
	list, runs := s.said()
	if len(list) != 1 || list[0].Policy != optin.Approve || !strings.Contains(list[0].Says, "their tags alone say") || list[0].Plan.Access == nil || !list[0].Plan.Access.Tagged || len(runs) != 0 || s.Calls()["eks:CreateAccessEntry"] != 0 {
		t.Fatalf("proposals %+v, runs %+v: %s", list, runs, s.Logs())
	}
	s.approve(list[0])
	s.tell(approval)
	if _, runs := s.said(); len(runs) != 1 || runs[0].Result != action.Done || !slices.Contains(s.entries(), karpentersOwn) {
		t.Errorf("runs %+v, entries %v", runs, s.entries())
	}
}
