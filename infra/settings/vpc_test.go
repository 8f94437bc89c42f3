package settings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVPC(t *testing.T) {
	tests := []struct {
		name            string
		subnets, groups any
		want            VPC
	}{
		{"none", nil, nil, VPC{}},
		{"empty is not set", "", " ", VPC{}},
		{"one of each", "subnet-0123456789abcdef0", "sg-0123456789abcdef0",
			VPC{SubnetIDs: []string{"subnet-0123456789abcdef0"}, SecurityGroupIDs: []string{"sg-0123456789abcdef0"}}},
		{"several, in the order given, old ids too", " subnet-0b0b0b0b0b0b0b0b0 , subnet-12345678", "sg-0fedcba9876543210,sg-12345678",
			VPC{SubnetIDs: []string{"subnet-0b0b0b0b0b0b0b0b0", "subnet-12345678"}, SecurityGroupIDs: []string{"sg-0fedcba9876543210", "sg-12345678"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse(map[string]any{"slackChannel": "C0123456789", VPCSubnetIDs: test.subnets, VPCSecurityGroupIDs: test.groups})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.VPC); diff != "" {
				t.Errorf("VPC (-want +got):\n%s", diff)
			}
			if got, want := got.VPC.Given(), len(test.want.SubnetIDs) > 0; got != want {
				t.Errorf("given: got %v, want %v", got, want)
			}
		})
	}
}

func TestVPCRefuses(t *testing.T) {
	const (
		subnet = "subnet-0123456789abcdef0"
		group  = "sg-0123456789abcdef0"
	)
	tests := []struct {
		name            string
		subnets, groups string
		want            string
	}{
		{"no security group", subnet, "", "vpcSecurityGroupIds: is not set, but vpcSubnetIds is: make a security group that may connect to port 443, let it in at the clusters' security groups, and name it here"},
		{"no subnet", "", group, "vpcSubnetIds: is not set, but vpcSecurityGroupIds is: name the private subnets too, or neither"},
		{"a VPC's id", "vpc-0123456789abcdef0", group, `vpcSubnetIds: "vpc-0123456789abcdef0" is not the id of a subnet (subnet-0123456789abcdef0)`},
		{"the two mixed up", group, subnet, `vpcSecurityGroupIds: "subnet-0123456789abcdef0" is not the id of a security group (sg-0123456789abcdef0)`},
		{"a digit short", "subnet-0123456789abcdef", group, `"subnet-0123456789abcdef" is not the id`},
		{"capitals", "subnet-0123456789ABCDEF0", group, `"subnet-0123456789ABCDEF0" is not the id`},
		{"an ARN", "arn:aws:ec2:eu-west-1:123456789012:subnet/" + subnet, group, "is not the id of a subnet"},
		{"nothing between commas", subnet + ",", group, `vpcSubnetIds: "" is not the id of a subnet`},
		{"twice", subnet, group + "," + group, "vpcSecurityGroupIds: sg-0123456789abcdef0 is named twice"},
		{"too many subnets", ids("subnet", 17), group, "vpcSubnetIds: names 17, Lambda takes 16 at most"},
		{"too many security groups", subnet, ids("sg", 6), "vpcSecurityGroupIds: names 6, Lambda takes 5 at most"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse(map[string]any{"slackChannel": "C0123456789", VPCSubnetIDs: test.subnets, VPCSecurityGroupIDs: test.groups})
			if err == nil {
				t.Fatalf("got %+v, want an error", got.VPC)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, want %q in it", err, test.want)
			}
		})
	}
}

func ids(kind string, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%s-%017x", kind, i))
	}
	return strings.Join(list, ",")
}
