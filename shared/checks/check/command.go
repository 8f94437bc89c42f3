package check

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"rollcall/shared/shell"
)

// The AWS CLI commands of fixes.

// AllowIngress is the command that allows a port from a group.
func (s *View) AllowIngress(group string, port int, from string) string {
	return s.AWSCommand("ec2 authorize-security-group-ingress", "--group-id", group, "--protocol", "tcp", "--port", port, "--source-group", from)
}

// AllowEgress is the command that allows a port to a range.
func (s *View) AllowEgress(group, protocol string, port int, to netip.Prefix) string {
	return s.AWSCommand("ec2 authorize-security-group-egress", "--group-id", group, "--protocol", protocol, "--port", port, "--cidr", to)
}

// AWSCommand is a command of the AWS CLI in the snapshot's region: "ec2 create-route"
// and its options, each word quoted.
func (s *View) AWSCommand(operation string, words ...any) string {
	return shell.Command(append([]any{"aws", strings.Fields(operation), "--region", s.Region}, words...)...)
}

// SetRoute is the command that sets a row of a route table to a target, which an
// option names.
func (s *View) SetRoute(action, table, destination, option, target string) string {
	return s.AWSCommand("ec2 "+action, "--route-table-id", table, "--destination-cidr-block", destination, option, target)
}

// SetRoute6 is the command that sets a row for IPv6.
func (s *View) SetRoute6(action, table, option, target string) string {
	return s.AWSCommand("ec2 "+action, "--route-table-id", table, "--destination-ipv6-cidr-block", "::/0", option, target)
}

// JoinCommands joins commands that are all needed, at most five.
func JoinCommands(commands []string) string {
	const limit = 5
	return shell.All(commands[:min(len(commands), limit)]...)
}

func (s *View) DescribeNodegroup(name string) string {
	return s.AWSCommand("eks describe-nodegroup", "--cluster-name", s.Cluster.Name, "--nodegroup-name", name, "--query", "nodegroup.[status,health]")
}

// Links into the AWS console.

// SecurityGroupLink is the console's page of a security group.
func (s *View) SecurityGroupLink(id string) string {
	return s.EC2Link("SecurityGroup:groupId=" + id)
}

// VPCLink is a link into the VPC console, such as "RouteTableDetails:RouteTableId=rtb-0cd2".
func (s *View) VPCLink(view string) string {
	return fmt.Sprintf("%s/vpcconsole/home?region=%s#%s", s.ConsoleHost(), s.Region, view)
}

// EC2Link is a link into the EC2 console.
func (s *View) EC2Link(view string) string {
	return fmt.Sprintf("%s/ec2/home?region=%s#%s", s.ConsoleHost(), s.Region, view)
}

// ConsoleHost is where the console of the snapshot's partition and region is.
func (s *View) ConsoleHost() string {
	switch s.Partition {
	case "aws-cn":
		return fmt.Sprintf("https://%s.console.amazonaws.cn", s.Region)
	case "aws-us-gov":
		return fmt.Sprintf("https://%s.console.amazonaws-us-gov.com", s.Region)
	}
	return fmt.Sprintf("https://%s.console.aws.amazon.com", s.Region)
}

func (s *View) RouteTableLink(id string) string {
	return s.VPCLink("RouteTableDetails:RouteTableId=" + id)
}

// AnyRouteTableLink is a link to a route table, or to a transit gateway's.
func (s *View) AnyRouteTableLink(id string) string {
	if strings.HasPrefix(id, "tgw-") {
		return s.VPCLink("TransitGatewayRouteTables:transitGatewayRouteTableId=" + id)
	}
	return s.RouteTableLink(id)
}

func (s *View) AutoScalingGroupLink(group string) string {
	return s.EC2Link("AutoScalingGroupDetails:id=" + url.PathEscape(group) + ";view=activity")
}

// RoleLink is a link to a role in the IAM console.
func (s *View) RoleLink(arn string) string {
	return fmt.Sprintf("%s/iam/home?region=%s#/roles/details/%s", s.ConsoleHost(), s.Region, LastPart(arn))
}

// AccessLink is a link to a cluster's access entries in the EKS console.
func (s *View) AccessLink() string {
	return fmt.Sprintf("%s/eks/home?region=%s#/clusters/%s?selectedTab=cluster-access-tab", s.ConsoleHost(), s.Region, s.Cluster.Name)
}

// ClusterLink is a link to the cluster in the EKS console.
func (s *View) ClusterLink() string {
	return fmt.Sprintf("%s/eks/clusters/%s?region=%s", s.ConsoleHost(), strings.ReplaceAll(s.Cluster.Name, " ", "%20"), s.Region)
}

// NodegroupLink is a link to a nodegroup in the EKS console.
func (s *View) NodegroupLink(name string) string {
	return fmt.Sprintf("%s/eks/clusters/%s/nodegroups/%s?region=%s", s.ConsoleHost(), s.Cluster.Name, name, s.Region)
}
