package gather

import (
	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
)

// AddressSources is what a look at the subnets reads: what the checks of
// addresses need, what launches into them, and how aws-node takes addresses.
// That no instance is among it keeps the look small: what is in use is counted
// by the interfaces.
func AddressSources(list []checks.Check) []snapshot.Source {
	return union(list, snapshot.Clusters, snapshot.Groups, snapshot.Nodegroups, snapshot.LaunchTemplates, snapshot.Subnets, snapshot.InstanceTypes,
		snapshot.AWSNode, snapshot.ENIConfigsOf, snapshot.CIDRsKept, snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf)
}
