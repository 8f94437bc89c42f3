package instance

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
)

// unownedNode moves the worlds' instance to those that nothing of the cluster launched.
func unownedNode(s *snapshot.Snapshot) {
	s.Scope.Instances, s.Scope.Unowned = nil, s.Scope.Instances
}

func TestUnowned(t *testing.T) {
	checktest.RunCases(t, Unowned(), []checktest.Case{
		{Name: "the cluster's own", World: checktest.Missed(), Want: []string{"pass prod [prod]"}},
		{Name: "unowned, and no node", World: checktest.Change(checktest.Missed(), unownedNode), Want: []string{
			"fail prod [i-0node prod] [i-0node] i-0node tagged for prod, launched by nothing of it",
		}},
		{Name: "unowned, and has time to join", World: checktest.Change(checktest.Missed(), unownedNode, func(s *snapshot.Snapshot) { s.Launches[0].Due = s.Time.Add(1) }),
			Want: []string{"pass prod [i-0node prod]"}},
		{Name: "unowned, and ended", World: checktest.Change(checktest.Missed(), unownedNode, func(s *snapshot.Snapshot) { s.Instances[0].State = "terminated" }),
			Want: []string{"pass prod [i-0node prod]"}},
		{Name: "nodes not read", World: checktest.Change(checktest.Missed(), unownedNode, checktest.Unread(snapshot.Nodes)), Want: []string{"unknown prod [] nodes: denied"}},
	})
}
