package vpc

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// A subnet whose association is being made must not be judged by the main table.
func TestRouteTableAssociations(t *testing.T) {
	for state, want := range map[ec2types.RouteTableAssociationStateCode]bool{
		"associated": true, "associating": true, "a state to come": true,
		"disassociating": false, "disassociated": false, "failed": false,
	} {
		got := routeTable(ec2types.RouteTable{Associations: []ec2types.RouteTableAssociation{{
			SubnetId: aws.String("subnet-1"), AssociationState: &ec2types.RouteTableAssociationState{State: state},
		}}})
		if (len(got.Subnets) == 1) != want {
			t.Errorf("association in state %q: subnets %q, want it counted: %t", state, got.Subnets, want)
		}
	}
}

// Private names for inbound resolvers do not lead the VPC's nodes to S3.
func TestEndpointForInboundResolversOnly(t *testing.T) {
	for only, want := range map[bool]bool{true: false, false: true} {
		got := endpoint(ec2types.VpcEndpoint{
			PrivateDnsEnabled: aws.Bool(true),
			DnsOptions:        &ec2types.DnsOptions{PrivateDnsOnlyForInboundResolverEndpoint: aws.Bool(only)},
		})
		if got.PrivateDNS != want {
			t.Errorf("inbound only %t: private DNS %t, want %t", only, got.PrivateDNS, want)
		}
	}
}
