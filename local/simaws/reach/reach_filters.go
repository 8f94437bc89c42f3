package reach

import (
	"encoding/json"
	"net/netip"
	"path"
	"slices"
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
	if vpc != nil && set && a.EnableDnsHostnames != nil && !*a.EnableDnsHostnames && privateNames(w, in) {
		return true // private names need both attributes (EKS user guide, "Cluster private endpoint")
	}
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
			if !ofAmazon(vpc, aws.ToString(v.Value)) {
				return false
			}
		}
	}
	return true
}

// ofAmazon tells the names of Amazon's resolver: 169.254.169.253 and the VPC's
// second address are the same one (VPC user guide, "Amazon DNS server").
func ofAmazon(vpc *ec2types.Vpc, server string) bool {
	p, err := netip.ParsePrefix(aws.ToString(vpc.CidrBlock))
	return server == "AmazonProvidedDNS" || server == "169.254.169.253" || err == nil && server == p.Addr().Next().Next().String()
}

// privateNames tells that nodes of an instance's cluster call something by a name
// that only the VPC knows.
func privateNames(w *state.State, in *ec2types.Instance) bool {
	c := w.Clusters.Get(w.ClusterOf(aws.ToString(in.InstanceId)))
	if c == nil || c.ResourcesVpcConfig == nil || aws.ToString(c.ResourcesVpcConfig.VpcId) != aws.ToString(in.VpcId) {
		return false
	}
	return c.ResourcesVpcConfig.EndpointPrivateAccess || slices.ContainsFunc(w.Endpoints.All(), func(e *ec2types.VpcEndpoint) bool {
		return aws.ToString(e.VpcId) == aws.ToString(in.VpcId) && aws.ToBool(e.PrivateDnsEnabled)
	})
}

// policyFault asks an endpoint's policy for the one action that stands for a
// service. Conditions are not looked at.
func policyFault(e *ec2types.VpcEndpoint, service string) Fault {
	action := map[string]string{"ec2": "ec2:DescribeInstances", "ecr.api": "ecr:GetAuthorizationToken", "ecr.dkr": "ecr:BatchGetImage", "s3": "s3:GetObject"}[service]
	var policy struct {
		Statement []struct {
			Effect    string
			Principal any
			Action    any
			Resource  any
		}
	}
	if action == "" || json.Unmarshal([]byte(aws.ToString(e.PolicyDocument)), &policy) != nil {
		return ""
	}
	allowed := false
	for _, s := range policy.Statement {
		if ofOthers(s.Principal) || !matches(s.Action, action) || service == "s3" && !matches(s.Resource, "starport-layer-bucket") {
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

// ofOthers tells a statement that names some roles or users, of which none is a
// whole account: nodes' roles are not among those that these worlds name.
func ofOthers(principal any) bool {
	named, ok := principal.(map[string]any)
	if !ok {
		return false
	}
	list, ok := named["AWS"].([]any)
	if !ok {
		list = []any{named["AWS"]}
	}
	return !slices.ContainsFunc(list, func(v any) bool {
		text, ok := v.(string)
		return !ok || text == "*" || strings.HasSuffix(text, ":root") || !strings.Contains(text, ":iam:")
	})
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
