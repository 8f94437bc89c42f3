package createaccessentry

import (
	"rollcall/shared/checks"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"testing"
)

func TestBounds(t *testing.T) {
	found := remedytest.Saying("iam/access-missing", checks.Finding{Outcome: checks.Fail, Resource: snapshottest.NodeRole})
	remedytest.Allows(t, Remedy(), outsider, found, []remedytest.Harmless{
		{"EKS says that there is no entry", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Lack(snapshot.Access, snapshottest.NodeRole, snapshot.Failure{Source: snapshot.Access, Reason: snapshot.Broken, Code: "ResourceNotFoundException"})
		}},
		{"aws-auth does not count", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Cluster.AuthMode = "API"
			s.AWSAuth = &snapshot.AWSAuth{MapRoles: "- rolearn: " + snapshottest.NodeRole + "\n  username: x\n"}
		}},
		{"there is no aws-auth", func(s *snapshot.Snapshot, _ *action.Subject) { s.AWSAuth = nil }},
		{"aws-auth names others", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.AWSAuth = &snapshot.AWSAuth{
				MapRoles: "- rolearn: " + snapshottest.NodeRole + "2\n  username: x\n",
				MapUsers: "- userarn: arn:aws:iam::123456789012:user/a\n  username: a\n",
			}
		}},
		{"the cluster has Auto Mode's nodes too", func(s *snapshot.Snapshot, _ *action.Subject) { s.Cluster.AutoMode = true }},
		{"an entry of another role", func(s *snapshot.Snapshot, _ *action.Subject) { s.Principals = []string{snapshottest.NodeRole + "2"} }},
	})
	remedytest.Refuses(t, Remedy(), outsider, found, []remedytest.Wrong{
		{"the entry could not be described", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Lack(snapshot.Access, snapshottest.NodeRole, snapshot.Failure{Source: snapshot.Access, Reason: snapshot.Denied, Code: "AccessDeniedException"})
		}, action.CouldNotLook},
		{"aws-auth names it among users", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.AWSAuth = &snapshot.AWSAuth{MapUsers: "- userarn: " + snapshottest.NodeRole + "\n  username: a\n"}
		}, Mapped},
		{"aws-auth's users are no YAML", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.AWSAuth = &snapshot.AWSAuth{MapUsers: "- userarn: [\n"}
		}, Mapped},
		{"half an ARN", func(_ *snapshot.Snapshot, of *action.Subject) { of.Resource = "arn:aws" }, NotARole},
		{"aws-auth was not read", func(s *snapshot.Snapshot, _ *action.Subject) { snapshottest.Without(s, snapshot.AWSAuthMap) }, action.CouldNotLook},
	})
}

// A role's path may hold whatever is printed, a colon too (IAM, CreateRole: Path).
func TestAPathWithAColon(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/team:a/workers"
	s, of := outsider()
	s.Profiles[0].Roles, of.Resource, of.Roles = []string{role}, role, []string{role}
	p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(of.Check, checks.Finding{Outcome: checks.Fail, Resource: role}))
	if no != nil || p.Principal != role {
		t.Errorf("planned %+v, refused %+v", p, no)
	}
}

// There is a choice to be made in this world.
func TestSameInAnyOrder(t *testing.T) {
	remedytest.SameInAnyOrder(t, Remedy(), outsider, checks.All())
}

func TestFoundElsewhereIsNotSo(t *testing.T) { remedytest.FoundElsewhereIsNotSo(t, Remedy(), outsider) }

func TestApplied(t *testing.T) {
	remedytest.Applied(t, Remedy(), outsider, snapshot.Access,
		func(s *snapshot.Snapshot) { s.Principals = []string{snapshottest.NodeRole} },
		func(s *snapshot.Snapshot) { s.Principals = []string{snapshottest.NodeRole + "2"} })
}
