package coverzones

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
)

func TestWords(t *testing.T) {
	for _, test := range []struct {
		plan Plan
		want action.Words
	}{
		{Plan{Nodegroup: "workers", From: 2, To: 3, Max: 9, Without: []string{"us-west-2c"}}, action.Words{
			Title:    "Raise workers from 2 to 3 nodes",
			Steps:    []string{"Set the desired count of workers from 2 to 3 (maximum 9): Auto Scaling launches in the zones that have the fewest, so in us-west-2c."},
			Change:   "desired 2 → 3",
			Commands: []string{"aws eks update-nodegroup-config --region us-west-2 --cluster-name prod --nodegroup-name workers --scaling-config desiredSize=3"},
			Undo:     []string{"aws eks update-nodegroup-config --region us-west-2 --cluster-name prod --nodegroup-name workers --scaling-config desiredSize=2"},
			Cost:     "1 instance more, as long as it stays so.",
		}},
		{Plan{Group: "eks-a", From: 2, To: 4, Max: 4, Without: []string{"us-west-2b", "us-west-2c"}, Autoscaler: true}, action.Words{
			Title:    "Raise eks-a from 2 to 4 nodes",
			Steps:    []string{"Set the desired count of eks-a from 2 to 4 (maximum 4): Auto Scaling launches in the zones that have the fewest, so in us-west-2b and us-west-2c."},
			Change:   "desired 2 → 4",
			Commands: []string{"aws autoscaling set-desired-capacity --region us-west-2 --auto-scaling-group-name eks-a --desired-capacity 4"},
			Undo:     []string{"aws autoscaling set-desired-capacity --region us-west-2 --auto-scaling-group-name eks-a --desired-capacity 2"},
			Cost: "2 instances more, as long as it stays so. The cluster autoscaler may take it back when a node is idle: " +
				"give each zone a group of its own, or set its balance-similar-node-groups.",
		}},
	} {
		if diff := cmp.Diff(test.want, words(test.plan, action.Place{Region: "us-west-2", Cluster: "prod"})); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.plan, diff)
		}
	}
}
