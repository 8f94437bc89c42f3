package deleteleakedinterfaces

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
)

func TestWords(t *testing.T) {
	got := words(Plan{Subnet: "subnet-0a", Interfaces: []string{"eni-1", "eni-2"}, Addresses: 17}, action.Place{Region: "us-west-2", Cluster: "prod"})
	want := action.Words{
		Title: "Delete 2 interfaces left behind in subnet-0a",
		Steps: []string{"eni-cleanup deletes eni-1 and eni-2 in subnet-0a, each by all of its rules: 17 addresses come back."},
		Commands: []string{
			"aws ec2 delete-network-interface --region us-west-2 --network-interface-id eni-1",
			"aws ec2 delete-network-interface --region us-west-2 --network-interface-id eni-2",
		},
		Undo: []string{"A deleted network interface cannot be brought back; the VPC CNI makes new ones when nodes need them."},
		Cost: "None.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
