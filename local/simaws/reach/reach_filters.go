package reach

import (
	"encoding/json"
	"net/netip"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/state"
)

// The ports that answers go to: one of those that Linux chooses from, and one
// that only a NAT gateway does.
const (
	LinuxPort = 40000
	natPort   = 2048
)

// aclFault says whether one of the questions put to network ACLs is denied.
func aclFault(open ...bool) Fault {
	for _, ok := range open {
		if !ok {
			return ACL
		}
	}
	return ""
}

// aclToInternet judges the node's subnet and that of the NAT gateway, if any.
func aclToInternet(w *state.State, in *ec2types.Instance, nat *ec2types.NatGateway) Fault {
	here, out := aws.ToString(in.SubnetId), internetAddress()
	node, err := netip.ParseAddr(aws.ToString(in.PrivateIpAddress))
	if err != nil {
		return ""
	}
	if nat == nil || aws.ToString(nat.SubnetId) == "" || aws.ToString(nat.SubnetId) == here {
		return aclFault(passes(w, here, true, out, httpsPort), passes(w, here, false, out, LinuxPort))
	}
	there := aws.ToString(nat.SubnetId)
	return aclFault(
		passes(w, here, true, out, httpsPort), passes(w, there, false, node, httpsPort), passes(w, there, true, out, httpsPort),
		passes(w, there, false, out, natPort), passes(w, there, true, node, LinuxPort), passes(w, here, false, out, LinuxPort),
	)
}

// aclInside judges the way to something with an interface in each of some
// subnets. One that answers is enough.
func aclInside(w *state.State, in *ec2types.Instance, subnets []string) Fault {
	here := aws.ToString(in.SubnetId)
	node, err := netip.ParseAddr(aws.ToString(in.PrivateIpAddress))
	fault := Fault("")
	for _, there := range subnets {
		s := w.Subnets.Get(there)
		if s == nil || err != nil || there == here {
			return ""
		}
		p, err := netip.ParsePrefix(aws.ToString(s.CidrBlock))
		if err != nil {
			return ""
		}
		far := p.Addr().Next()
		fault = aclFault(
			passes(w, here, true, far, httpsPort), passes(w, there, false, node, httpsPort),
			passes(w, there, true, node, LinuxPort), passes(w, here, false, far, LinuxPort),
		)
		if fault == "" {
			return ""
		}
	}
	return fault
}

// passes asks the network ACL of a subnet: the matching rule with the lowest
// number decides. A subnet without one in the world is open.
func passes(w *state.State, subnet string, egress bool, remote netip.Addr, port int32) bool {
	var best *ec2types.NetworkAclEntry
	found := false
	for _, acl := range w.NetworkACLs.All() {
		for _, a := range acl.Associations {
			if aws.ToString(a.SubnetId) != subnet {
				continue
			}
			found = true
			for i := range acl.Entries {
				e := &acl.Entries[i]
				if aws.ToBool(e.Egress) == egress && about(e, remote, port) && (best == nil || aws.ToInt32(e.RuleNumber) < aws.ToInt32(best.RuleNumber)) {
					best = e
				}
			}
		}
	}
	return !found || best != nil && best.RuleAction == ec2types.RuleActionAllow
}

func about(e *ec2types.NetworkAclEntry, remote netip.Addr, port int32) bool {
	if !anyContains([]string{aws.ToString(e.CidrBlock)}, remote.String()) {
		return false
	}
	switch aws.ToString(e.Protocol) {
	case "-1":
		return true
	case "6", "tcp":
		return e.PortRange == nil || aws.ToInt32(e.PortRange.From) <= port && port <= aws.ToInt32(e.PortRange.To)
	}
	return false
}

// nameless says whether nothing answers for names: Amazon's resolver is off in
// the VPC, and its DHCP options name no other.
func nameless(w *state.State, in *ec2types.Instance) bool {
	vpc := w.Vpcs.Get(aws.ToString(in.VpcId))
	a, set := w.VPCAttributes[aws.ToString(in.VpcId)]
	if vpc == nil || !set || a.EnableDnsSupport == nil || *a.EnableDnsSupport {
		return false
	}
	options := w.DhcpOptions.Get(aws.ToString(vpc.DhcpOptionsId))
	if options == nil {
		return true
	}
	for _, o := range options.DhcpConfigurations {
		if aws.ToString(o.Key) != "domain-name-servers" {
			continue
		}
		for _, v := range o.Values {
			if aws.ToString(v.Value) != "AmazonProvidedDNS" {
				return false
			}
		}
	}
	return true
}

// policyFault asks an endpoint's policy for the one action that stands for a
// service. Principals and conditions are not looked at.
func policyFault(e *ec2types.VpcEndpoint, service string) Fault {
	action := map[string]string{"ec2": "ec2:DescribeInstances", "ecr.api": "ecr:GetAuthorizationToken", "ecr.dkr": "ecr:BatchGetImage", "s3": "s3:GetObject"}[service]
	var policy struct {
		Statement []struct {
			Effect   string
			Action   any
			Resource any
		}
	}
	if action == "" || json.Unmarshal([]byte(aws.ToString(e.PolicyDocument)), &policy) != nil {
		return ""
	}
	allowed := false
	for _, s := range policy.Statement {
		if !matches(s.Action, action) || service == "s3" && !matches(s.Resource, "starport-layer-bucket") {
			continue
		}
		if s.Effect == "Deny" {
			return Policy
		}
		allowed = true
	}
	if !allowed {
		return Policy
	}
	return ""
}

// matches says whether a string or one of a list is a pattern for a text; a
// bucket's ARN matches by the text that it holds.
func matches(patterns any, text string) bool {
	switch p := patterns.(type) {
	case string:
		ok, _ := path.Match(strings.ToLower(p), strings.ToLower(text))
		return ok || strings.HasPrefix(p, "arn:") && strings.Contains(p, text)
	case []any:
		for _, one := range p {
			if matches(one, text) {
				return true
			}
		}
	}
	return false
}
