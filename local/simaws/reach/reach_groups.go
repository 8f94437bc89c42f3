package reach

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/state"
)

// httpsPort is the only port that joining needs.
const httpsPort = 443

// admits says whether any of the groups lets 443 in from the instance.
func admits(w *state.State, groups []string, in *ec2types.Instance) bool {
	for _, id := range groups {
		sg := w.SecurityGroups.Get(id)
		if sg != nil && slices.ContainsFunc(sg.IpPermissions, func(p ec2types.IpPermission) bool {
			return coversHTTPS(p) && (anyContains(ranges(w, p), aws.ToString(in.PrivateIpAddress)) || pairsWith(p, state.InstanceGroups(in)))
		}) {
			return true
		}
	}
	return false
}

// egressFault says whether the instance's groups let 443 out: to the groups
// given, or else to the internet.
func egressFault(w *state.State, in *ec2types.Instance, to []string) Fault {
	for _, id := range state.InstanceGroups(in) {
		sg := w.SecurityGroups.Get(id)
		if sg == nil {
			continue
		}
		for _, p := range sg.IpPermissionsEgress {
			if !coversHTTPS(p) {
				continue
			}
			// A path inside the VPC stays in its address ranges; whether a
			// range covers the very endpoint is finer than this rule.
			inside := to != nil && (len(p.IpRanges) > 0 || len(p.PrefixListIds) > 0 || pairsWith(p, to))
			outside := to == nil && (anyContains(ranges(w, p), internetAddress().String()) || unlisted(w, p))
			if inside || outside {
				return ""
			}
		}
	}
	return EgressClosed
}

func coversHTTPS(p ec2types.IpPermission) bool {
	switch aws.ToString(p.IpProtocol) {
	case "-1":
		return true
	case "tcp", "6":
		return aws.ToInt32(p.FromPort) <= httpsPort && aws.ToInt32(p.ToPort) >= httpsPort
	}
	return false
}

// ranges are a rule's, those of its prefix lists among them.
func ranges(w *state.State, p ec2types.IpPermission) []string {
	out := make([]string, 0, len(p.IpRanges))
	for _, r := range p.IpRanges {
		out = append(out, aws.ToString(r.CidrIp))
	}
	for _, l := range p.PrefixListIds {
		for _, e := range w.PrefixListEntries[aws.ToString(l.PrefixListId)] {
			out = append(out, aws.ToString(e.Cidr))
		}
	}
	return out
}

// unlisted tells that a rule has a prefix list whose entries the world does not
// say, such as AWS's own.
func unlisted(w *state.State, p ec2types.IpPermission) bool {
	return slices.ContainsFunc(p.PrefixListIds, func(l ec2types.PrefixListId) bool {
		_, known := w.PrefixListEntries[aws.ToString(l.PrefixListId)]
		return !known
	})
}

func pairsWith(p ec2types.IpPermission, groups []string) bool {
	return slices.ContainsFunc(p.UserIdGroupPairs, func(u ec2types.UserIdGroupPair) bool {
		return slices.Contains(groups, aws.ToString(u.GroupId))
	})
}

// accessPath says whether the cluster knows the node's role. Without access
// entries in the world the question is left open and answered yes, since the
// role may be mapped in aws-auth.
func accessPath(w *state.State, in *ec2types.Instance, name string) Path {
	p := Path{Service: "access", Via: nodeRole(w, in)}
	listed := false
	for _, e := range w.AccessEntries.All() {
		if aws.ToString(e.ClusterName) != name {
			continue
		}
		listed = true
		if aws.ToString(e.PrincipalArn) == p.Via && w.Admits(e) && slices.Contains([]string{"EC2_LINUX", "EC2_WINDOWS", "EC2"}, aws.ToString(e.Type)) {
			return p
		}
	}
	if listed && p.Via != "" {
		p.Fault = NoAccess
	}
	return p
}

// nodeRole is the ARN of the role that an instance acts in.
func nodeRole(w *state.State, in *ec2types.Instance) string {
	if in.IamInstanceProfile != nil {
		if profile := w.ProfileNamed("", aws.ToString(in.IamInstanceProfile.Arn)); profile != nil && len(profile.Roles) > 0 {
			return aws.ToString(profile.Roles[0].Arn)
		}
	}
	if ng := w.NodegroupOf(aws.ToString(in.InstanceId)); ng != nil {
		return aws.ToString(ng.NodeRole)
	}
	return ""
}
