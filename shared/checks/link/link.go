// Package link makes links into the AWS console.
package link

import (
	"fmt"
	"net/url"
	"strings"

	"rollcall/shared/checks/facts"
)

// SecurityGroup is the console's page of a security group.
func SecurityGroup(s *facts.View, id string) string {
	return EC2(s, "SecurityGroup:groupId="+id)
}

// VPC is a link into the VPC console, such as "RouteTableDetails:RouteTableId=rtb-0cd2".
func VPC(s *facts.View, view string) string {
	return fmt.Sprintf("%s/vpcconsole/home?region=%s#%s", Host(s), s.Region, view)
}

// EC2 is a link into the EC2 console.
func EC2(s *facts.View, view string) string {
	return fmt.Sprintf("%s/ec2/home?region=%s#%s", Host(s), s.Region, view)
}

func Host(s *facts.View) string {
	switch s.Partition {
	case "aws-cn":
		return fmt.Sprintf("https://%s.console.amazonaws.cn", s.Region)
	case "aws-us-gov":
		return fmt.Sprintf("https://%s.console.amazonaws-us-gov.com", s.Region)
	}
	return fmt.Sprintf("https://%s.console.aws.amazon.com", s.Region)
}

func RouteTable(s *facts.View, id string) string {
	return VPC(s, "RouteTableDetails:RouteTableId="+id)
}

// AnyRouteTable is a link to a route table, or to a transit gateway's.
func AnyRouteTable(s *facts.View, id string) string {
	if strings.HasPrefix(id, "tgw-") {
		return VPC(s, "TransitGatewayRouteTables:transitGatewayRouteTableId="+id)
	}
	return RouteTable(s, id)
}

func AutoScalingGroup(s *facts.View, group string) string {
	return EC2(s, "AutoScalingGroupDetails:id="+url.PathEscape(group)+";view=activity")
}

// Role and accessLink are links into the consoles of IAM and EKS.
func Role(s *facts.View, arn string) string {
	return fmt.Sprintf("%s/iam/home?region=%s#/roles/details/%s", Host(s), s.Region, facts.LastPart(arn))
}

func Access(s *facts.View) string {
	return fmt.Sprintf("%s/eks/home?region=%s#/clusters/%s?selectedTab=cluster-access-tab", Host(s), s.Region, s.Cluster.Name)
}

// Cluster is a link to the cluster in the EKS console.
func Cluster(s *facts.View) string {
	return fmt.Sprintf("%s/eks/clusters/%s?region=%s", Host(s), strings.ReplaceAll(s.Cluster.Name, " ", "%20"), s.Region)
}

// Nodegroup is a link to a nodegroup in the EKS console.
func Nodegroup(s *facts.View, name string) string {
	return fmt.Sprintf("%s/eks/clusters/%s/nodegroups/%s?region=%s", Host(s), s.Cluster.Name, name, s.Region)
}
