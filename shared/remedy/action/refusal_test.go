package action

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

// What could not be read first is said, with the call where there was one.
func TestUnread(t *testing.T) {
	denied := snapshot.Failure{Source: snapshot.Groups, Reason: snapshot.Denied, Call: "autoscaling:DescribeAutoScalingGroups", Message: "no"}
	broken := snapshot.Failure{Source: snapshot.Subnets, Reason: snapshot.Broken, Message: "subnet-0a is not among them"}
	for _, test := range []struct {
		got  *Refusal
		want Refusal
	}{
		{Unread(denied, broken), Refusal{
			Says: "No plan is made where something could not be read: auto scaling groups, denied (autoscaling:DescribeAutoScalingGroups).", Blocked: []snapshot.Failure{denied, broken},
		}},
		{Missing(snapshot.Subnets, "subnet-0a is not among them"), Refusal{
			Says: "No plan is made where something could not be read: subnets, broken.", Blocked: []snapshot.Failure{broken},
		}},
	} {
		test.want.Reason = CouldNotLook
		if diff := cmp.Diff(&test.want, test.got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
