package automation

import (
	"slices"
	"strings"

	"rollcall/shared/access/policy"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
)

// instanceProfile is step 10.
func instanceProfile(s Subject) answer {
	role, ok := roleOf(s)
	if !ok {
		return flagged(cause("no instance profile with a role", checkid.IAMProfileMissing))
	}
	var found []Finding
	cni := "ec2:AttachNetworkInterface"
	if s.Account.Cluster.IPv6 {
		cni = "ec2:AssignIpv6Addresses" // the CNI's policy for IPv6 attaches nothing
	}
	for _, n := range []struct {
		what    string
		actions []string
		names   []checks.ID
	}{
		{"worker node", []string{"ec2:DescribeInstances"}, ids(checkid.IAMRolePolicies)},
		{"image pull", []string{"ecr:GetAuthorizationToken", "ecr:BatchGetImage"}, ids(checkid.IAMRolePolicies)},
		{"CNI", []string{cni}, ids(checkid.IAMRolePolicies, checkid.IAMCNIRolePolicies)},
	} {
		if slices.ContainsFunc(n.actions, func(action string) bool { return !allows(s, role, action) }) {
			found = append(found, cause("the node role lacks the "+n.what+" policy", n.names...))
		}
	}
	if !assumed(s, role) {
		found = append(found, cause("EC2 may not assume the node role", checkid.IAMRoleTrust))
	}
	// A path hurts where the role is mapped in aws-auth alone.
	if role.Path != "" && role.Path != "/" && s.Account.Cluster.AuthMode == "CONFIG_MAP" {
		found = append(found, cause("the node role has a path", checkid.IAMAccessWrongARN))
	}
	return flagged(found...)
}

func roleOf(s Subject) (snapshot.Role, bool) {
	p, ok := find(s.Account.Profiles, func(p snapshot.Profile) bool { return p.ARN == s.Node.Profile })
	if !ok || s.Node.Profile == "" || len(p.Roles) == 0 {
		return snapshot.Role{}, false
	}
	return find(s.Account.Roles, func(r snapshot.Role) bool { return r.ARN == p.Roles[0] })
}

// allows tells that the role's policies let it; what hangs on a condition is
// taken as allowed.
func allows(s Subject, role snapshot.Role, action string) bool {
	var list []policy.Document
	for _, p := range role.Policies {
		d, err := policy.Parse(p.Document)
		if err != nil {
			return true
		}
		list = append(list, d)
	}
	var limits []policy.Document
	if role.Boundary != nil {
		d, err := policy.Parse(role.Boundary.Document)
		if err != nil {
			return true
		}
		limits = append(limits, d)
	}
	v := policy.Effective(list, limits, policy.Request{
		Action: action, Resource: policy.Unscoped, Caller: policy.Caller{ARN: role.ARN, Account: s.Account.Account},
	}).Verdict
	return v == policy.Allowed || v == policy.Depends
}

func assumed(s Subject, role snapshot.Role) bool {
	d, err := policy.Parse(role.Trust)
	if err != nil {
		return false
	}
	service := "ec2.amazonaws.com"
	if s.Account.Partition == "aws-cn" {
		service += ".cn"
	}
	v := d.Decide(policy.Request{Action: "sts:AssumeRole", Resource: policy.Unscoped, Caller: policy.Caller{Service: service}}).Verdict
	return v == policy.Allowed || v == policy.Depends
}

// accessEntries is step 11.
func accessEntries(s Subject) answer {
	mode := s.Account.Cluster.AuthMode
	if mode == "" || mode == "CONFIG_MAP" {
		return skipped("the cluster has no access entries")
	}
	role, ok := roleOf(s)
	if !ok {
		return skipped("the instance has no role")
	}
	if !slices.Contains(s.Account.Principals, role.ARN) {
		// An access entry would also do where aws-auth is what is wrong.
		return flagged(cause(role.ARN+" has no access entry", checkid.IAMAccessMissing, checkid.IAMAccessWrongARN, checkid.IAMAWSAuthInvalid, checkid.IAMAccessDuplicateMapping))
	}
	e, ok := find(s.Account.AccessEntries, func(e snapshot.AccessEntry) bool { return e.Principal == role.ARN })
	if ok && !strings.HasPrefix(e.Type, "EC2") {
		return flagged(cause("the access entry is "+e.Type, checkid.IAMAccessWrongType))
	}
	return passed()
}
