package addnatroute

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
)

func TestWords(t *testing.T) {
	const each = "NAT gateway: each GB through it is charged (about $0.045)."
	for _, test := range []struct {
		name string
		plan Plan
		uses string // the end of the step
		cost string
	}{
		{"one subnet, the gateway in its zone", Plan{NATZone: "us-west-2a", Zones: []string{"us-west-2a"}, Subnets: []string{"subnet-0a"}},
			"subnet-0a (us-west-2a) in vpc-0a uses.", each + " Same zone: nothing more for crossing zones."},
		{"two subnets, the gateway in one of their zones",
			Plan{NATZone: "us-west-2a", Zones: []string{"us-west-2a", "us-west-2b"}, Subnets: []string{"subnet-0a", "subnet-0b"}},
			"subnet-0a and subnet-0b (us-west-2a and us-west-2b) in vpc-0a use.",
			each + " nat-0a is in us-west-2a: from us-west-2b each GB costs about $0.01 more each way, and they have no route to the internet while us-west-2a is down."},
		{"the gateway in another zone, a stack's table",
			Plan{NATZone: "us-west-2a", Zones: []string{"us-west-2b"}, Subnets: []string{"subnet-0b"}, ManagedBy: "CloudFormation stack vpc"},
			"subnet-0b (us-west-2b) in vpc-0a uses.",
			each + " nat-0a is in another zone (us-west-2a, not us-west-2b): each GB costs about $0.01 more each way, and there is no route to the internet while us-west-2a is down." +
				" rtb-0a was made by CloudFormation stack vpc, which may take the route out again: add it there too."},
		{"a regional gateway", Plan{Zones: []string{"us-west-2b"}, Subnets: []string{"subnet-0b"}}, "subnet-0b (us-west-2b) in vpc-0a uses.", each},
	} {
		test.plan.VPC, test.plan.Table, test.plan.Destination, test.plan.NAT = "vpc-0a", "rtb-0a", "0.0.0.0/0", "nat-0a"
		want := action.Words{
			Title:    "Add 0.0.0.0/0 → nat-0a to rtb-0a",
			Steps:    []string{"Create the route 0.0.0.0/0 → nat-0a in rtb-0a, which " + test.uses},
			Commands: []string{"aws ec2 create-route --region us-west-2 --route-table-id rtb-0a --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0a"},
			Undo:     []string{"aws ec2 delete-route --region us-west-2 --route-table-id rtb-0a --destination-cidr-block 0.0.0.0/0"},
			Cost:     test.cost,
		}
		if diff := cmp.Diff(want, words(test.plan, action.Place{Region: "us-west-2", Cluster: "prod"})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
