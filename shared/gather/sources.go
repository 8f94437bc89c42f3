package gather

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"rollcall/shared/spec"

	gatherasg "rollcall/shared/gather/autoscaling"
	gathereks "rollcall/shared/gather/eks"
	gatheriam "rollcall/shared/gather/iam"
	"rollcall/shared/gather/kubernetes"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// sources are all, made for one look: what counts the interfaces of a VPC
// counts them once in it.
func sources(e *ec2.Client, a *autoscaling.Client, k *eks.Client, i *iam.Client, sweep *Counts) []source.Source {
	counted := newTally(e, sweep)
	network := []source.Source{
		subnets(e), vpcs(e), routeTables(e), natGateways(e), internetGateways(e), egressOnlyGateways(e), endpoints(e),
		securityGroups(e), networkACLs(e), vpcAttributes(e), dhcp(e), prefixLists(e), peerings(e), transitGateways(e), interfaces(e),
		reservations(e), usage(counted), unattached(counted),
	}
	for n := range network {
		network[n].Read = inVPC(network[n].Read)
	}
	return slices.Concat(network, []source.Source{
		instances(), instanceTypes(e), statuses(e), userData(e), consoles(e), images(e), launchTemplates(e), volumes(e), zones(e), creators(e, counted),
	}, gatherasg.Sources(a), gathereks.Sources(k), gatheriam.Sources(i), kubernetes.Sources())
}

// inVPC reads only where a VPC is known.
func inVPC(read source.Read) source.Read {
	return func(ctx context.Context, v *source.View) (source.Store, error) {
		if len(v.VPCs) == 0 {
			return nil, source.ErrNoVPC
		}
		return read(ctx, v)
	}
}

// catalogue is all sources without their clients: what is known of them, and
// not to be read.
func catalogue() []source.Source { return sources(nil, nil, nil, nil, nil) }

// known is the source of that name.
func known(name snapshot.Source) source.Source {
	list := catalogue()
	return list[slices.IndexFunc(list, func(s source.Source) bool { return s.Name == name })]
}

// Reads is the permissions that reading the sources takes, and those without
// which they cannot be read.
func Reads(names ...snapshot.Source) []spec.Read {
	return source.Reads(source.With(catalogue(), names...)...)
}

// KubeRules is the Kubernetes rights that reading the sources takes.
func KubeRules(names ...snapshot.Source) []spec.KubeRule {
	return source.KubeRules(source.With(catalogue(), names...)...)
}

// Permissions names the AWS calls that read a source.
func Permissions(name snapshot.Source) []string {
	for _, s := range catalogue() {
		if s.Name == name {
			return slices.Sorted(slices.Values(s.Actions()))
		}
	}
	return nil
}

// ofKubernetes tells the sources that are read of the Kubernetes API.
func ofKubernetes(name snapshot.Source) bool {
	return slices.ContainsFunc(catalogue(), func(s source.Source) bool { return s.Name == name && s.OfKubernetes() })
}

// ListClusters is the permission of Reader.Clusters. The call takes no
// resource.
func ListClusters() spec.Read {
	return spec.Read{Actions: []string{"eks:ListClusters"}, Resources: []string{"*"}}
}

// ListNodegroups is the permission that Query.AllNodegroups takes.
func ListNodegroups() spec.Read {
	return spec.Read{Actions: []string{"eks:ListNodegroups"}, Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*"}}
}
