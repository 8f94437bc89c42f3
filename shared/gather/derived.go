package gather

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// vpcsOf are the VPCs to look into: the cluster's, and others in which nodes
// of the scope are, as self-managed nodes can be.
func vpcsOf(s *snapshot.Snapshot, q Query) []string {
	ids := []string{cmp.Or(s.Cluster.VPC, q.VPC)}
	if ids[0] == "" {
		return nil
	}
	for _, i := range s.Instances {
		if i.VPC != "" && slices.Contains(s.Scope.Instances, i.ID) && !slices.Contains(ids, i.VPC) && len(ids) <= maxFurther {
			ids = append(ids, i.VPC)
		}
	}
	return ids
}

// typesOf are the instances' types. Where no instance is looked at, those that
// the groups name tell what one more node would take.
func typesOf(list []snapshot.Instance, groups []snapshot.Group) []string {
	var names []string
	for _, in := range list {
		if in.Type != "" { // EC2 refuses the whole call for one name that it does not know
			names = append(names, in.Type)
		}
	}
	if len(names) == 0 {
		for _, g := range groups {
			names = append(names, g.Types...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func namesOf(list []snapshot.Group) []string {
	var names []string
	for _, g := range list {
		names = append(names, g.Name)
	}
	return names
}

func zoneOf(subnets []snapshot.Subnet, id string) string {
	for _, s := range subnets {
		if s.ID == id {
			return s.Zone
		}
	}
	return ""
}

// Partition is the ARN partition of a region.
func Partition(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}
