package address

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// The tags of subnets that the plugin's subnet discovery goes by
// (amazon-vpc-cni-k8s, pkg/awsutils, isSubnetValidForENICreation; since 1.22.1
// a value of "0" shuts a subnet out, and tags for clusters shut other clusters
// out).
const (
	discoveryTag   = "kubernetes.io/role/cni"
	discoveryShut  = "0"
	clusterTagHead = "cni.networking.k8s.aws/cluster/"
)

// zoneLabels are the labels of a node with its zone's name.
func zoneLabels() []string {
	return []string{"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"}
}

// Doubt is why it cannot be told where pods take their addresses.
type Doubt string

// The doubts.
const (
	// NoDoubt is that it can be told.
	NoDoubt Doubt = ""
	// NodesChoose is that a label or annotation of each node names its ENIConfig,
	// and the ENIConfigs of the zone lead to several subnets.
	NodesChoose Doubt = "which ENIConfig a node uses, its own label or annotation says"
	// NoConfig is that custom networking is on, and no ENIConfig leads to a
	// subnet that was read in the node's zone.
	NoConfig Doubt = "no ENIConfig leads to a known subnet in the node's zone"
)

// Places is where a node of a subnet takes the addresses of its pods.
type Places struct {
	// First tells that the node's first interface has pods, out of its own subnet.
	First bool
	// Further are the subnets in which the plugin makes further interfaces: it
	// tries the one with the most free addresses first. In doubt they are those
	// that it may be.
	Further []string
	Doubt   Doubt
}

// PodSubnets tells where a node that starts in a subnet takes the addresses of
// its pods. Subnets are all of the VPC that were read, configs all ENIConfigs.
// That an annotation on a node overrides the label is not seen.
func (s Settings) PodSubnets(node snapshot.Subnet, subnets []snapshot.Subnet, configs []snapshot.ENIConfig) Places {
	switch {
	case s.IPv6:
		return Places{}
	case s.Elsewhere:
		return s.configured(node, subnets, configs)
	case !s.Discovery:
		return Places{First: true, Further: []string{node.ID}}
	}
	own := s.admits(node, true)
	var found []snapshot.Subnet
	if own {
		found = append(found, node)
	}
	for _, n := range subnets {
		if n.ID != node.ID && n.VPC == node.VPC && n.Zone == node.Zone && s.admits(n, false) {
			found = append(found, n)
		}
	}
	slices.SortStableFunc(found, func(a, b snapshot.Subnet) int { return cmp.Compare(b.Free, a.Free) })
	return Places{First: own, Further: subnetIDs(found)}
}

// admits tells that subnet discovery makes interfaces in a subnet. The node's
// own needs no tag.
func (s Settings) admits(n snapshot.Subnet, own bool) bool {
	value := n.Tags[discoveryTag]
	if !s.ByValue {
		_, tagged := n.Tags[discoveryTag]
		return own || tagged
	}
	if value == "" {
		return own
	}
	if value == discoveryShut {
		return false
	}
	if s.Cluster == "" {
		return true
	}
	foreign := false
	for key := range n.Tags {
		if cluster, is := strings.CutPrefix(key, clusterTagHead); is {
			if cluster == s.Cluster {
				return true
			}
			foreign = true
		}
	}
	return !foreign
}

// configured is where custom networking leads: to the ENIConfig that the node's
// label names, which is its zone's where ENI_CONFIG_LABEL_DEF says so. An
// ENIConfig's subnet must be in the node's zone (amazon-vpc-cni-k8s, README): if
// all of the zone's lead to one subnet, it is that one whichever the node names.
func (s Settings) configured(node snapshot.Subnet, subnets []snapshot.Subnet, configs []snapshot.ENIConfig) Places {
	var found []snapshot.Subnet
	for _, c := range configs {
		i := slices.IndexFunc(subnets, func(n snapshot.Subnet) bool { return n.ID == c.Subnet && n.Zone == node.Zone })
		if i < 0 {
			continue
		}
		if c.Name == node.Zone && slices.Contains(zoneLabels(), s.ConfigLabel) {
			return Places{Further: []string{c.Subnet}}
		}
		if !slices.ContainsFunc(found, func(n snapshot.Subnet) bool { return n.ID == c.Subnet }) {
			found = append(found, subnets[i])
		}
	}
	switch {
	case len(found) == 0, slices.Contains(zoneLabels(), s.ConfigLabel):
		return Places{Further: subnetIDs(found), Doubt: NoConfig}
	case len(found) > 1:
		return Places{Further: subnetIDs(found), Doubt: NodesChoose}
	}
	return Places{Further: subnetIDs(found)}
}

func subnetIDs(list []snapshot.Subnet) []string {
	ids := make([]string, len(list))
	for i, n := range list {
		ids[i] = n.ID
	}
	return ids
}
