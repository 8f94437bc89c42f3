package vpc

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/network/branch"
	"rollcall/shared/snapshot"
)

// The tags that the VPC resource controller gives its interfaces
// (amazon-vpc-resource-controller-k8s pkg/config/type.go).
const (
	interfaceOwnerTag = "eks:eni:owner"
	resourceOwner     = "eks-vpc-resource-controller"
	trunkTag          = "vpcresources.k8s.aws/trunk-eni-id"
	clusterTag        = "kubernetes.io/cluster/"
)

// trunks are the trunk interfaces of the cluster's nodes, with how many branch
// interfaces each has. They are asked for only where something tells that pods have
// security groups of their own. Those that EKS Auto Mode makes bear other tags.
//
// Where all interfaces of the VPC were counted they are among them, and nothing is asked.
func trunks(api Interfaces, counted *tally) source.Source {
	return source.Source{
		Name:  snapshot.TrunksOf,
		After: []snapshot.Source{snapshot.AWSNode, snapshot.Nodes, snapshot.WaitingPods, snapshot.Usage},
		Calls: []source.Call{{Action: "ec2:DescribeNetworkInterfaces"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if c, err, tried := counted.got(); tried {
				if err != nil {
					return nil, err
				}
				found, strays := trunksOf(slices.DeleteFunc(slices.Clone(c.trunking), func(i snapshot.Interface) bool {
					return i.Tags[clusterTag+v.Snapshot.Cluster.Name] != "owned"
				}))
				return func(s *snapshot.Snapshot) { s.Trunks, s.StrayBranches = found, strays }, nil
			}
			// Where the count failed nothing else shows strays of nodes that are gone.
			if _, uncounted := v.Snapshot.Failures[snapshot.Usage]; !uncounted && !branching(v.Snapshot) {
				return source.Nothing, nil
			}
			var list []snapshot.Interface
			filters := append(ec2api.In("vpc-id", v.VPCs[0]), ec2api.In("tag:"+interfaceOwnerTag, resourceOwner)...)
			filters = append(filters, ec2api.In("tag:"+clusterTag+v.Snapshot.Cluster.Name, "owned")...)
			if err := eachInterface(ctx, api, filters, func(i snapshot.Interface) { list = append(list, i) }); err != nil {
				return nil, err
			}
			found, strays := trunksOf(list)
			return func(s *snapshot.Snapshot) { s.Trunks, s.StrayBranches = found, strays }, nil
		},
	}
}

// branching tells that pods have branch interfaces here, or ask for them.
func branching(s *snapshot.Snapshot) bool {
	return s.CNI != nil && strings.EqualFold(s.CNI.Env["ENABLE_POD_ENI"], "true") || len(s.BranchWaits) > 0 ||
		slices.ContainsFunc(s.Nodes, func(n snapshot.Node) bool { return n.Branches > 0 }) ||
		slices.ContainsFunc(s.WaitingPods, func(p snapshot.WaitingPod) bool { return p.AsksFor(branch.Resource) })
}

// trunksOf sorts the controller's interfaces. A branch interface is attached to no
// instance: its tag names the trunk.
func trunksOf(list []snapshot.Interface) (trunks []snapshot.Trunk, strays []snapshot.StrayBranch) {
	at := map[string]int{}
	list = source.Unique(list, func(i snapshot.Interface) string { return i.ID })
	for _, i := range list {
		if i.Kind == string(types.NetworkInterfaceTypeTrunk) {
			at[i.ID] = len(trunks)
			trunks = append(trunks, snapshot.Trunk{ID: i.ID, Instance: i.Instance, Subnet: i.Subnet})
		}
	}
	for _, i := range list {
		trunk := i.Tags[trunkTag]
		n, known := at[trunk]
		switch {
		case trunk == "":
		case known:
			trunks[n].Branches++
		case i.Status == available:
			strays = append(strays, snapshot.StrayBranch{ID: i.ID, Subnet: i.Subnet})
		}
	}
	slices.SortFunc(strays, func(a, b snapshot.StrayBranch) int {
		return cmp.Or(strings.Compare(a.Subnet, b.Subnet), strings.Compare(a.ID, b.ID))
	})
	return trunks, strays
}
