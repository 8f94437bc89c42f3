package settings

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// VPC is where the functions that talk to Kubernetes run, if not outside of
// all VPCs: a cluster whose API has a private endpoint only answers nobody else.
type VPC struct {
	SubnetIDs        []string
	SecurityGroupIDs []string
}

// Given tells whether the operator named a VPC.
func (v VPC) Given() bool { return len(v.SubnetIDs) > 0 }

// The most that Lambda takes (CreateFunction, VpcConfig).
const (
	maxSubnets        = 16
	maxSecurityGroups = 5
)

var (
	// EC2's ids have 8 or, since 2018, 17 hexadecimal digits.
	subnetID        = regexp.MustCompile(`^subnet-([0-9a-f]{8}|[0-9a-f]{17})$`)
	securityGroupID = regexp.MustCompile(`^sg-([0-9a-f]{8}|[0-9a-f]{17})$`)
)

// vpc reads the two settings, neither of which is of use alone.
func vpc(subnets, groups string) (VPC, []error) {
	var wrong []error
	bad := func(key string, err error) {
		if err != nil {
			wrong = append(wrong, Problem{Key: key, Err: err})
		}
	}
	v := VPC{SubnetIDs: list(subnets), SecurityGroupIDs: list(groups)}
	bad(VPCSubnetIDs, checkIDs(v.SubnetIDs, subnetID, "a subnet (subnet-0123456789abcdef0)", maxSubnets))
	bad(VPCSecurityGroupIDs, checkIDs(v.SecurityGroupIDs, securityGroupID, "a security group (sg-0123456789abcdef0)", maxSecurityGroups))
	switch {
	case len(v.SubnetIDs) > 0 && len(v.SecurityGroupIDs) == 0:
		bad(VPCSecurityGroupIDs, fmt.Errorf("is not set, but %s is: make a security group that may connect to port 443, let it in at the clusters' security groups, and name it here", VPCSubnetIDs))
	case len(v.SubnetIDs) == 0 && len(v.SecurityGroupIDs) > 0:
		bad(VPCSubnetIDs, fmt.Errorf("is not set, but %s is: name the private subnets too, or neither", VPCSecurityGroupIDs))
	}
	return v, wrong
}

// list splits at commas; nothing is no list.
func list(text string) []string {
	if text == "" {
		return nil
	}
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

func checkIDs(ids []string, form *regexp.Regexp, what string, most int) error {
	for i, id := range ids {
		if !form.MatchString(id) {
			return fmt.Errorf("%q is not the id of %s", id, what)
		}
		if slices.Contains(ids[:i], id) {
			return fmt.Errorf("%s is named twice", id)
		}
	}
	if len(ids) > most {
		return fmt.Errorf("names %d, Lambda takes %d at most", len(ids), most)
	}
	return nil
}
