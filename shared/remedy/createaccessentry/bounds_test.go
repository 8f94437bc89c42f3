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
		{"an entry of another role", func(s *snapshot.Snapshot, _ *action.Subject) { s.Principals = []string{snapshottest.NodeRole + "2"} }},
	})
	remedytest.Refuses(t, Remedy(), outsider, found, []remedytest.Wrong{
		{"the entry could not be described", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Lack(snapshot.Access, snapshottest.NodeRole, snapshot.Failure{Source: snapshot.Access, Reason: snapshot.Denied, Code: "AccessDeniedException"})
		}, action.CouldNotLook},
		{"aws-auth was not read", func(s *snapshot.Snapshot, _ *action.Subject) { snapshottest.Without(s, snapshot.AWSAuthMap) }, action.CouldNotLook},
	})
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
