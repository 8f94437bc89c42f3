// Package command writes the AWS CLI commands of fixes.
package command

import (
	"net/netip"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/shell"
)

// Admit is the command that lets a port in from a group.
func Admit(s *facts.View, group string, port int, from string) string {
	return AWS(s, "ec2 authorize-security-group-ingress", "--group-id", group, "--protocol", "tcp", "--port", port, "--source-group", from)
}

// Release is the command that lets a port out to a range.
func Release(s *facts.View, group, protocol string, port int, to netip.Prefix) string {
	return AWS(s, "ec2 authorize-security-group-egress", "--group-id", group, "--protocol", protocol, "--port", port, "--cidr", to)
}

// AWS is a command of the AWS CLI in the snapshot's region: "ec2 create-route"
// and its options, each word quoted.
func AWS(s *facts.View, operation string, words ...any) string {
	return shell.Command(append([]any{"aws", strings.Fields(operation), "--region", s.Region}, words...)...)
}

// Route is the command that sets a row of a route table to a target, which an
// option names.
func Route(s *facts.View, action, table, destination, option, target string) string {
	return AWS(s, "ec2 "+action, "--route-table-id", table, "--destination-cidr-block", destination, option, target)
}

// Route6 is the command that sets a row for IPv6.
func Route6(s *facts.View, action, table, option, target string) string {
	return AWS(s, "ec2 "+action, "--route-table-id", table, "--destination-ipv6-cidr-block", "::/0", option, target)
}

// Several joins commands that are all needed, at most five.
func Several(commands []string) string {
	const limit = 5
	return shell.All(commands[:min(len(commands), limit)]...)
}

func DescribeNodegroup(s *facts.View, name string) string {
	return AWS(s, "eks describe-nodegroup", "--cluster-name", s.Cluster.Name, "--nodegroup-name", name, "--query", "nodegroup.[status,health]")
}
