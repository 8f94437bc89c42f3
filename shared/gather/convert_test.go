package gather

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// TestHalfAnswers holds that answers with nothing in them are read as nothing.
func TestHalfAnswers(t *testing.T) {
	if got := instance(ec2types.Instance{}); got.State != "" || got.PrivateIP.IsValid() {
		t.Errorf("instance: %+v", got)
	}
	subnet(ec2types.Subnet{})
	vpcOf(ec2types.Vpc{})
	routeTable(ec2types.RouteTable{Routes: []ec2types.Route{{}}, Associations: []ec2types.RouteTableAssociation{{}}})
	natGateway(ec2types.NatGateway{})
	internetGateway(ec2types.InternetGateway{Attachments: []ec2types.InternetGatewayAttachment{{}}})
	endpoint(ec2types.VpcEndpoint{})
}

func TestClusterOf(t *testing.T) {
	for _, test := range []struct {
		tags map[string]string
		want string
	}{
		{map[string]string{"eks:cluster-name": "prod", "kubernetes.io/cluster/other": "owned"}, "prod"},
		{map[string]string{"aws:eks:cluster-name": "prod"}, "prod"},
		{map[string]string{"kubernetes.io/cluster/b": "owned", "kubernetes.io/cluster/a": "shared"}, "a"},
		{map[string]string{"k8s.io/cluster-autoscaler/prod": "owned", "k8s.io/cluster-autoscaler/enabled": "true"}, "prod"},
		{map[string]string{"k8s.io/cluster-autoscaler/enabled": "true"}, ""},
		{map[string]string{"k8s.io/cluster-autoscaler/node-template/label/x": "y"}, ""},
		{map[string]string{"kubernetes.io/cluster/": "owned"}, ""},
		{nil, ""},
	} {
		if got, ok := ClusterOf(test.tags); got != test.want || ok != (test.want != "") {
			t.Errorf("ClusterOf(%v) = %q, %v; want %q", test.tags, got, ok, test.want)
		}
	}
}

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
