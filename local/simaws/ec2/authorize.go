package ec2

import (
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/state"
)

// rulesPerGroup is how many rules a security group may have in one direction
// (EC2's default quota, "Inbound or outbound rules per security group"). IPv4
// and IPv6 are counted apart, and a group that is named counts in both.
const rulesPerGroup = 60

// authorize adds rules to one direction of a group, all of them or none.
func authorize(w *state.State, g *ec2types.SecurityGroup, have *[]ec2types.IpPermission, add []ec2types.IpPermission, dry *bool) error {
	add = split(add)
	if len(add) == 0 {
		return wire.Errorf("MissingParameter", "The request must contain the parameter ipPermissions with at least one source or destination")
	}
	known := split(*have)
	for i, p := range add {
		same := func(k ec2types.IpPermission) bool { return peer(k) == peer(p) }
		if slices.ContainsFunc(known, same) {
			return wire.Errorf("InvalidPermission.Duplicate", "the specified rule \"peer: %s, %s, from port: %s, to port: %s, ALLOW\" already exists", peer(p)[3], peer(p)[0], peer(p)[1], peer(p)[2])
		}
		if slices.ContainsFunc(add[:i], same) {
			return wire.Errorf("InvalidParameterValue", "The same permission must not appear multiple times")
		}
		if err := checkRule(w, g, p); err != nil {
			return err
		}
	}
	for _, six := range []bool{false, true} {
		if count(known, six)+count(add, six) > rulesPerGroup {
			return wire.Errorf("RulesPerSecurityGroupLimitExceeded", "The maximum number of rules per security group has been reached.")
		}
	}
	if err := dryRun(dry); err != nil {
		return err
	}
	w.OwnPairs(add)
	*have = append(*have, add...)
	return nil
}

// count is how many rules count against the quota of an address family.
func count(rules []ec2types.IpPermission, six bool) int {
	n := 0
	for _, p := range rules {
		if len(p.IpRanges) > 0 && six || len(p.Ipv6Ranges) > 0 && !six {
			continue
		}
		n++
	}
	return n
}

// checkRule says whether a rule of one peer makes sense in a group's VPC.
func checkRule(w *state.State, g *ec2types.SecurityGroup, p ec2types.IpPermission) error {
	protocol := aws.ToString(p.IpProtocol)
	if protocol == "" {
		return wire.Errorf("MissingParameter", "The request must contain the parameter ipProtocol")
	}
	if from, to := p.FromPort, p.ToPort; protocol == "tcp" || protocol == "udp" || protocol == "6" || protocol == "17" {
		switch {
		case from == nil || to == nil:
			return wire.Errorf("InvalidParameterValue", "Invalid value 'null' for portRange. Must specify both from and to ports with TCP/UDP.")
		case *from < 0 || *to > 65535 || *from > *to:
			return wire.Errorf("InvalidParameterValue", "Invalid value '%d-%d' for portRange. Must be 0-65535, from not above to.", *from, *to)
		}
	}
	for _, r := range p.IpRanges {
		if prefix, err := netip.ParsePrefix(aws.ToString(r.CidrIp)); err != nil || !prefix.Addr().Is4() {
			return wire.Errorf("InvalidParameterValue", "CIDR block %s is malformed", aws.ToString(r.CidrIp))
		}
	}
	for _, pair := range p.UserIdGroupPairs {
		if pair.UserId != nil && *pair.UserId != w.Account {
			continue // a group of a peered account, which this world does not have
		}
		other, err := securityGroup(w, pair.GroupId)
		if err != nil {
			return err
		}
		if aws.ToString(other.VpcId) != aws.ToString(g.VpcId) && !peered(w, aws.ToString(other.VpcId), aws.ToString(g.VpcId)) {
			return wire.Errorf("InvalidGroup.NotFound", "You have specified two resources that belong to different networks.")
		}
	}
	return nil
}

// peered tells whether two VPCs have an active peering.
func peered(w *state.State, a, b string) bool {
	return slices.ContainsFunc(w.Peerings.All(), func(p *ec2types.VpcPeeringConnection) bool {
		if p.AccepterVpcInfo == nil || p.RequesterVpcInfo == nil || p.Status == nil || p.Status.Code != ec2types.VpcPeeringConnectionStateReasonCodeActive {
			return false
		}
		x, y := aws.ToString(p.AccepterVpcInfo.VpcId), aws.ToString(p.RequesterVpcInfo.VpcId)
		return x == a && y == b || x == b && y == a
	})
}
