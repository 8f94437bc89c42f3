package take

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/shared/capture/filename"
)

// cluster is what a cluster leads to.
type cluster struct {
	vpcs      []string
	roles     []string // names or ARNs
	profiles  []string // instance profiles, by name
	templates []string
	groups    []string
	types     []string
	ready     []string // instances of Ready nodes
	// auto is the cluster's ARN, where EKS Auto Mode runs its nodes.
	auto []string
}

// region is what all clusters of a region lead to.
type region struct {
	cluster
	lists             []string // managed prefix lists
	instances, groups map[string]any
	// nodes are instances by their tags.
	nodes                 map[string]any
	peerings, attachments map[string]any
}

func (c *cluster) add(o cluster) {
	c.vpcs = append(c.vpcs, o.vpcs...)
	c.roles = append(c.roles, o.roles...)
	c.profiles = append(c.profiles, o.profiles...)
	c.templates = append(c.templates, o.templates...)
	c.groups = append(c.groups, o.groups...)
	c.types = append(c.types, o.types...)
	c.ready = append(c.ready, o.ready...)
	c.auto = append(c.auto, o.auto...)
}

func (r *region) addAll(each []cluster) {
	for _, c := range each {
		r.add(c)
	}
	r.vpcs = sorted(r.vpcs)
}

// identify says whose the credentials are. Where AWS does not answer that, which takes no
// permission, nothing else is asked.
func (t *taker) identify(ctx context.Context) error {
	const file = "sts-get-caller-identity"
	t.ahead(ctx, file, asks(t, "sts", t.sts.GetCallerIdentity, &sts.GetCallerIdentityInput{}))
	if err := t.early[file].err; err != nil {
		return wrongInput("AWS does not say whose the credentials are: %s", oneLine(err))
	}
	return nil
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

const listFile = "eks-list-clusters"

// named looks whether the clusters that were named are there.
func (t *taker) named(ctx context.Context) error {
	t.options.Clusters = sorted(t.options.Clusters)
	for _, name := range t.options.Clusters {
		file := filename.Of("eks-describe-cluster", name)
		t.ahead(ctx, file, t.describes(name))
		var missing *ekstypes.ResourceNotFoundException
		if errors.As(t.early[file].err, &missing) {
			return t.noCluster(ctx, name)
		}
	}
	return nil
}

// clusters are the names to take: those that were named, or all.
func (t *taker) clusters(ctx context.Context) []string {
	if names := t.options.Clusters; len(names) > 0 {
		t.take(ctx, listFile, func(context.Context) (map[string]any, error) { return map[string]any{"clusters": names}, nil })
		return names
	}
	all := picksOf(t.take(ctx, listFile, asks(t, "eks", t.eks.ListClusters, &eks.ListClustersInput{})), "clusters[]")
	if len(all) == 0 {
		t.note("there is no cluster in %s, or none may be listed: --cluster names one", t.asked.Config.Region)
	}
	return all
}

func (t *taker) describes(name string) func(context.Context) (map[string]any, error) {
	return asks(t, "eks", t.eks.DescribeCluster, &eks.DescribeClusterInput{Name: aws.String(name)})
}

// noCluster names the clusters that there are.
func (t *taker) noCluster(ctx context.Context, name string) error {
	tree, err := asks(t, "eks", t.eks.ListClusters, &eks.ListClustersInput{})(ctx)
	region := t.asked.Config.Region
	switch all := picksOf(tree, "clusters[]"); {
	case err != nil:
		return wrongInput("there is no cluster %s in %s", name, region)
	case len(all) == 0:
		return wrongInput("there is no cluster %s in %s, and no other: --region names another region", name, region)
	default:
		return wrongInput("there is no cluster %s in %s; there are: %s", name, region, strings.Join(all, ", "))
	}
}

// picksOf is picks where there may be no answer.
func picksOf(tree map[string]any, path string) []string {
	if tree == nil {
		return nil
	}
	return picks(tree, path)
}

// cluster takes what EKS and Kubernetes say of a cluster.
func (t *taker) cluster(ctx context.Context, name string) cluster {
	described := t.take(ctx, filename.Of("eks-describe-cluster", name), t.describes(name))
	found := cluster{vpcs: picksOf(described, "cluster.resourcesVpcConfig.vpcId")}
	if on := nodesOf(described, "cluster.computeConfig.enabled"); len(on) == 1 && on[0] == true {
		found.auto = picks(described, "cluster.arn")
	}
	parts := make([]cluster, 4)
	t.parallel(
		func() { parts[0] = t.nodegroups(ctx, name) },
		func() { parts[1] = t.addons(ctx, name) },
		func() { t.accessEntries(ctx, name) },
		func() { parts[2] = t.podIdentities(ctx, name) },
		func() { parts[3] = t.kubernetes(ctx, name, described) },
	)
	for _, p := range parts {
		found.add(p)
	}
	return found
}

// place is what is needed to reach a cluster's API.
func place(name string, described map[string]any) (Cluster, bool) {
	if described == nil {
		return Cluster{}, false
	}
	ca, err := base64.StdEncoding.DecodeString(text(described, "cluster.certificateAuthority.data"))
	endpoint := text(described, "cluster.endpoint")
	return Cluster{Name: name, Endpoint: endpoint, CA: ca}, err == nil && endpoint != ""
}

func (t *taker) nodegroups(ctx context.Context, name string) cluster {
	listed := t.take(ctx, filename.Of("eks-list-nodegroups", name), asks(t, "eks", t.eks.ListNodegroups, &eks.ListNodegroupsInput{ClusterName: aws.String(name)}))
	names := picksOf(listed, "nodegroups[]")
	parts := make([]cluster, len(names))
	list(t, names, func(i int, group string) {
		tree := t.take(ctx, filename.Of("eks-describe-nodegroup", name, group),
			asks(t, "eks", t.eks.DescribeNodegroup, &eks.DescribeNodegroupInput{ClusterName: aws.String(name), NodegroupName: aws.String(group)}))
		if tree != nil {
			parts[i] = cluster{
				roles: picks(tree, "nodegroup.nodeRole"), types: picks(tree, "nodegroup.instanceTypes[]"),
				templates: picks(tree, "nodegroup.launchTemplate.id"), groups: picks(tree, "nodegroup.resources.autoScalingGroups[].name"),
			}
		}
		t.updates(ctx, name, group)
	})
	var all cluster
	for _, p := range parts {
		all.add(p)
	}
	return all
}

// mostUpdates is how many updates are described from each end of the list: the newest
// are at one of them, and EKS does not say at which.
const mostUpdates = 6

func (t *taker) updates(ctx context.Context, name, group string) {
	file := filename.Of("eks-list-updates", name, group)
	tree := t.take(ctx, file, asks(t, "eks", t.eks.ListUpdates, &eks.ListUpdatesInput{Name: aws.String(name), NodegroupName: aws.String(group)}))
	var ids []string
	for _, id := range nodesOf(tree, "updateIds[]") {
		if id, ok := id.(string); ok {
			ids = append(ids, id)
		}
	}
	if len(ids) > 2*mostUpdates {
		t.leave(filename.Of("eks-describe-update", name, group), "%d updates in the middle of the list are not described", len(ids)-2*mostUpdates)
		ids = slices.Concat(ids[:mostUpdates], ids[len(ids)-mostUpdates:])
	}
	list(t, ids, func(_ int, id string) {
		t.take(ctx, filename.Of("eks-describe-update", name, group, id),
			asks(t, "eks", t.eks.DescribeUpdate, &eks.DescribeUpdateInput{Name: aws.String(name), NodegroupName: aws.String(group), UpdateId: aws.String(id)}))
	})
}

func nodesOf(tree map[string]any, path string) []any {
	if tree == nil {
		return nil
	}
	return nodes(tree, path)
}

func (t *taker) addons(ctx context.Context, name string) cluster {
	listed := t.take(ctx, filename.Of("eks-list-addons", name), asks(t, "eks", t.eks.ListAddons, &eks.ListAddonsInput{ClusterName: aws.String(name)}))
	names := picksOf(listed, "addons[]")
	roles := make([][]string, len(names))
	list(t, names, func(i int, addon string) {
		tree := t.take(ctx, filename.Of("eks-describe-addon", name, addon),
			asks(t, "eks", t.eks.DescribeAddon, &eks.DescribeAddonInput{ClusterName: aws.String(name), AddonName: aws.String(addon)}))
		roles[i] = picksOf(tree, "addon.serviceAccountRoleArn")
	})
	return cluster{roles: slices.Concat(roles...)}
}

// mostEntries is how many access entries of a cluster are described.
const mostEntries = 300

func (t *taker) accessEntries(ctx context.Context, name string) {
	listed := t.take(ctx, filename.Of("eks-list-access-entries", name), asks(t, "eks", t.eks.ListAccessEntries, &eks.ListAccessEntriesInput{ClusterName: aws.String(name)}))
	arns := picksOf(listed, "accessEntries[]")
	// A file has the principal's name alone: of two with one name the first is kept.
	seen := map[string]bool{}
	var chosen []string
	for _, arn := range arns {
		file := filename.Of("eks-describe-access-entry", name, lastPart(arn))
		switch {
		case seen[file]:
			t.leave(file, "%s has the same name as another principal", arn)
		case len(chosen) == mostEntries:
			t.leave(file, "only the first %d access entries are described", mostEntries)
		default:
			chosen = append(chosen, arn)
		}
		seen[file] = true
	}
	list(t, chosen, func(_ int, arn string) {
		tree := t.take(ctx, filename.Of("eks-describe-access-entry", name, lastPart(arn)),
			asks(t, "eks", t.eks.DescribeAccessEntry, &eks.DescribeAccessEntryInput{ClusterName: aws.String(name), PrincipalArn: aws.String(arn)}))
		// What nodes of EKS Auto Mode are allowed comes with access policies.
		if slices.Equal(picksOf(tree, "accessEntry.type"), []string{"EC2"}) {
			t.take(ctx, filename.Of("eks-list-associated-access-policies", name, lastPart(arn)),
				asks(t, "eks", t.eks.ListAssociatedAccessPolicies, &eks.ListAssociatedAccessPoliciesInput{ClusterName: aws.String(name), PrincipalArn: aws.String(arn)}))
		}
	})
}

func (t *taker) podIdentities(ctx context.Context, name string) cluster {
	listed := t.take(ctx, filename.Of("eks-list-pod-identity-associations", name),
		asks(t, "eks", t.eks.ListPodIdentityAssociations, &eks.ListPodIdentityAssociationsInput{ClusterName: aws.String(name)}))
	// Those of the system's own pods, the network plugin among them.
	var ids []string
	for _, a := range nodesOf(listed, "associations[]") {
		if text(a, "namespace") == "kube-system" {
			ids = append(ids, text(a, "associationId"))
		}
	}
	roles := make([][]string, len(ids))
	list(t, ids, func(i int, id string) {
		tree := t.take(ctx, filename.Of("eks-describe-pod-identity-association", name, id),
			asks(t, "eks", t.eks.DescribePodIdentityAssociation, &eks.DescribePodIdentityAssociationInput{ClusterName: aws.String(name), AssociationId: aws.String(id)}))
		// The target role is the one that the pod's credentials are of.
		roles[i] = slices.Concat(picksOf(tree, "association.roleArn"), picksOf(tree, "association.targetRoleArn"))
	})
	return cluster{roles: slices.Concat(roles...)}
}
