package worldgen

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// s3List is AWS's prefix list of S3 in this region.
const s3List = "pl-68a54001"

// openPolicy is the policy that an endpoint has if nobody gives it one.
const openPolicy = `{"Statement":[{"Action":"*","Effect":"Allow","Principal":"*","Resource":"*"}]}`

// makeEndpoints makes the interface endpoints and S3's gateway endpoint.
func (w *World) makeEndpoints() {
	w.File.EC2.ManagedPrefixLists = append(w.File.EC2.ManagedPrefixLists, ec2types.ManagedPrefixList{
		PrefixListId: aws.String(s3List), PrefixListName: aws.String("com.amazonaws." + region + ".s3"), AddressFamily: aws.String("IPv4"),
		State: ec2types.PrefixListStateCreateComplete, OwnerId: aws.String("AWS"),
	})
	for _, c := range []string{"52.92.128.0/17", "3.5.76.0/22", "52.218.128.0/17"} {
		w.File.EC2.PrefixListEntries[s3List] = append(w.File.EC2.PrefixListEntries[s3List], ec2types.PrefixListEntry{Cidr: aws.String(c)})
	}
	if !w.Shape.endpoints() {
		return
	}
	w.endpointGroup = w.id("sg")
	g := ec2types.SecurityGroup{
		GroupId: &w.endpointGroup, VpcId: &w.vpc, GroupName: aws.String("endpoints"), Description: aws.String("HTTPS"),
		IpPermissions: w.within("tcp", 443, 443), IpPermissionsEgress: w.anywhere("-1", 0, 0),
	}
	if w.Shape.Groups == OwnGroup {
		g.IpPermissions = []ec2types.IpPermission{permitGroup("tcp", 443, 443, w.nodeGroup)}
	}
	w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, g)
	for _, service := range w.services() {
		w.File.EC2.VpcEndpoints = append(w.File.EC2.VpcEndpoints, ec2types.VpcEndpoint{
			VpcEndpointId: aws.String(w.id("vpce")), VpcId: &w.vpc, ServiceName: aws.String("com.amazonaws." + region + "." + service),
			VpcEndpointType: ec2types.VpcEndpointTypeInterface, PrivateDnsEnabled: aws.Bool(true), State: "available",
			PolicyDocument: aws.String(openPolicy),
			SubnetIds:      slices.Clone(w.private), Groups: []ec2types.SecurityGroupIdentifier{{GroupId: &w.endpointGroup}},
		})
	}
	id := w.id("vpce")
	w.File.EC2.VpcEndpoints = append(w.File.EC2.VpcEndpoints, ec2types.VpcEndpoint{
		VpcEndpointId: &id, VpcId: &w.vpc, ServiceName: aws.String("com.amazonaws." + region + ".s3"), VpcEndpointType: ec2types.VpcEndpointTypeGateway,
		State: "available", PrivateDnsEnabled: aws.Bool(false), PolicyDocument: aws.String(openPolicy), RouteTableIds: slices.Clone(w.Tables),
	})
	for _, t := range w.Tables {
		table := w.table(t)
		table.Routes = append(table.Routes, ec2types.Route{DestinationPrefixListId: aws.String(s3List), GatewayId: &id, State: ec2types.RouteStateActive})
	}
}

// services are those that have an interface endpoint: all that nodes need
// where there is no other way, a part of them beside a NAT gateway.
func (w *World) services() []string {
	if w.Shape.Egress == Mixed {
		return []string{"ecr.api", "ecr.dkr", "sts"}
	}
	return []string{"ec2", "ecr.api", "ecr.dkr", "sts", "eks", "eks-auth", "logs"}
}
