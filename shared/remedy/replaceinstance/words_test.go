package replaceinstance

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
)

func TestWords(t *testing.T) {
	three := []Replaced{
		{Instance: "i-1", Group: "eks-workers", Nodegroup: "workers", Zone: "us-west-2a"},
		{Instance: "i-2", Group: "eks-workers", Nodegroup: "workers", Zone: "us-west-2b"},
		{Instance: "i-3", Group: "eks-workers", Nodegroup: "workers", Zone: "us-west-2c"},
	}
	steps := []string{
		"End i-1 (workers, us-west-2a) through its Auto Scaling group eks-workers, which launches another: the capacity stays.",
		"End i-2 (workers, us-west-2b) through its Auto Scaling group eks-workers, which launches another: the capacity stays.",
		"End i-3 (workers, us-west-2c) through its Auto Scaling group eks-workers, which launches another: the capacity stays.",
	}
	commands := []string{
		"aws autoscaling terminate-instance-in-auto-scaling-group --region us-west-2 --instance-id i-1 --no-should-decrement-desired-capacity",
		"aws autoscaling terminate-instance-in-auto-scaling-group --region us-west-2 --instance-id i-2 --no-should-decrement-desired-capacity",
		"aws autoscaling terminate-instance-in-auto-scaling-group --region us-west-2 --instance-id i-3 --no-should-decrement-desired-capacity",
	}
	for n, title := range map[int]string{1: "Replace i-1", 2: "Replace i-1 and i-2", 3: "Replace 3 instances that did not join"} {
		want := action.Words{
			Title: title, Steps: steps[:n], Commands: commands[:n],
			Undo: []string{"An instance that has ended cannot be brought back; its group launches another in its place."},
			Cost: "Whatever else runs on an instance ends with it; no pod does: it never was a node.",
		}
		if diff := cmp.Diff(want, words(Plan{Instances: three[:n]}, action.Place{Region: "us-west-2", Cluster: "prod"})); diff != "" {
			t.Errorf("%d (-want +got):\n%s", n, diff)
		}
	}
}
