package gather

import (
	"slices"
	"testing"

	"rollcall/shared/fn"
	"rollcall/shared/snapshot"
)

func interfaceActions() []string {
	return append(fn.Actions[Network]("ec2"), fn.Actions[InstanceTypes]("ec2")...)
}

// TestCallIsAPermission holds that the permission named in a message is one
// that the source really takes.
func TestCallIsAPermission(t *testing.T) {
	for _, s := range append([]snapshot.Source{snapshot.Clusters, snapshot.Nodegroups, snapshot.Instances, snapshot.Groups, snapshot.Activities}, network...) {
		if !slices.Contains(Permissions(s), call(s)) {
			t.Errorf("%s: call %q is not among its permissions %q", s, call(s), Permissions(s))
		}
	}
	if got := call(snapshot.Nodes); got != "kubernetes: list nodes" {
		t.Errorf("nodes: call %q", got)
	}
}
