package gather

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	gatherasg "rollcall/shared/gather/autoscaling"
	gatherec2 "rollcall/shared/gather/ec2"
	gathereks "rollcall/shared/gather/eks"
	gatheriam "rollcall/shared/gather/iam"
	"rollcall/shared/gather/kubernetes"
	"rollcall/shared/gather/source"
	"rollcall/shared/gather/vpc"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// sources are all, made for one look: what counts the interfaces of a VPC
// counts them once in it.
func sources(e *ec2.Client, a *autoscaling.Client, k *eks.Client, i *iam.Client, n vpc.Resolver, p vpc.Profiles, h vpc.HostedZones, z gatherasg.Shifts, sweep *vpc.Counts) []source.Source {
	counted := vpc.NewTally(e, sweep)
	return slices.Concat(
		vpc.Sources(e, n, p, h, counted), gatherec2.Sources(e), gatherasg.Sources(a, z), gathereks.Sources(k), gatheriam.Sources(i),
		[]source.Source{gathereks.ClassAccess(k, gatheriam.ClassRoles{API: i})}, kubernetes.Sources(),
	)
}

// catalogue is all sources without their clients: what is known of them, and
// not to be read.
func catalogue() []source.Source { return sources(nil, nil, nil, nil, nil, nil, nil, nil, nil) }

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

// ReadInClusters is the permission of Reader.InClustersAs. What the role may do is said
// by its own trust policy and by the clusters that admit it: in AWS it has no permissions.
func ReadInClusters() spec.Grant {
	return spec.Grant{
		Sid:       "ReadInClusters",
		Why:       "One role, the reader, has access to clusters, however many functions read from them.",
		Actions:   []string{"sts:AssumeRole"},
		Resources: []spec.Resource{spec.ReaderRole},
	}
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

// ListClusters is the permission of Reader.Clusters. The call takes no
// resource.
func ListClusters() spec.Read {
	return spec.Read{Actions: []string{"eks:ListClusters"}, Resources: []string{"*"}}
}

// ListNodegroups is the permission that Query.AllNodegroups takes.
func ListNodegroups() spec.Read {
	return spec.Read{Actions: []string{"eks:ListNodegroups"}, Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*"}}
}
