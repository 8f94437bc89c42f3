// Package eks holds the sources that are read of EKS.
package eks

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/gather/iam"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Sources are all of them.
func Sources(api *eks.Client) []source.Source {
	return []source.Source{clusters(), nodegroups(api), updates(api), addons(api), accessEntries(api), podIdentities(api)}
}

// AccessEntries lists and describes a cluster's access entries.
type AccessEntries interface {
	ListAccessEntries(context.Context, *eks.ListAccessEntriesInput, ...func(*eks.Options)) (*eks.ListAccessEntriesOutput, error)
	DescribeAccessEntry(context.Context, *eks.DescribeAccessEntryInput, ...func(*eks.Options)) (*eks.DescribeAccessEntryOutput, error)
	ListAssociatedAccessPolicies(context.Context, *eks.ListAssociatedAccessPoliciesInput, ...func(*eks.Options)) (*eks.ListAssociatedAccessPoliciesOutput, error)
}

// entryCalls are the calls that read access entries.
func entryCalls() []source.Call {
	entries := []string{"arn:${Partition}:eks:${Region}:${Account}:access-entry/*/*/*/*/*"} // cluster, kind, account, name, id
	return []source.Call{
		{Action: "eks:ListAccessEntries", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*"}},
		{Action: "eks:DescribeAccessEntry", Resources: entries},
		{Action: "eks:ListAssociatedAccessPolicies", Resources: entries},
	}
}

// accessEntries tell who may enter the cluster, and the entries of node roles,
// also of roles that have a node role's name under another path.
func accessEntries(api AccessEntries) source.Source {
	return source.Source{
		Name:  snapshot.Access,
		Needs: []snapshot.Source{snapshot.Profiles},
		After: []snapshot.Source{
			snapshot.Nodegroups, // which name node roles too
		},
		Calls: entryCalls(),
		Read:  source.Through(api, readAccess),
	}
}

// readAccess reads who may enter the cluster, and the entries of node roles, also
// of roles that have a node role's name under another path.
func readAccess(ctx context.Context, api AccessEntries, v *source.View) (source.Store, error) {
	principals, err := readPrincipals(ctx, api, v.Cluster)
	if err != nil {
		return nil, err
	}
	roles := iam.NodeRoles(v.Snapshot)
	lacks := map[string]snapshot.Failure{}
	entries, gone, err := describeEntries(ctx, api, v, principals, func(principal string) bool {
		return slices.ContainsFunc(roles, func(role string) bool { return iam.NameOf(role) == iam.NameOf(principal) })
	}, lacks)
	if err != nil {
		return nil, err
	}
	principals = slices.DeleteFunc(principals, func(p string) bool { return slices.Contains(gone, p) })
	return func(s *snapshot.Snapshot) {
		s.Principals = principals
		s.AccessEntries = entries
		source.LackAll(s, snapshot.Access, lacks)
	}, nil
}

// describeEntries describes the entries of some of the principals; gone are those that were
// deleted since they were listed. Access policies that could not be read are added to lacks.
func describeEntries(
	ctx context.Context, api AccessEntries, v *source.View, principals []string, some func(principal string) bool, lacks map[string]snapshot.Failure,
) (entries []snapshot.AccessEntry, gone []string, err error) {
	for _, p := range principals {
		if !some(p) {
			continue
		}
		out, err := api.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String(v.Cluster), PrincipalArn: aws.String(p)})
		if missing(err) {
			gone = append(gone, p)
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("describe access entry of %s: %w", p, err)
		}
		if out.AccessEntry == nil {
			return nil, nil, fmt.Errorf("describe access entry of %s: the answer holds none", p)
		}
		e := accessEntry(p, *out.AccessEntry)
		// Of the types of nodes this one alone takes access policies (EKS user guide, "Create
		// access entries").
		if e.Type == "EC2" {
			e.Policies, err = readAccessPolicies(ctx, api, v.Cluster, p)
			if f := v.Source.Failure(err); err != nil && f.Reason == snapshot.Denied {
				return nil, nil, err
			} else if err != nil {
				lacks[snapshot.AccessPoliciesOf(p)] = *f
			}
		}
		entries = append(entries, e)
	}
	return entries, gone, nil
}

func readAccessPolicies(ctx context.Context, api AccessEntries, cluster, principal string) ([]snapshot.AccessPolicy, error) {
	var list []snapshot.AccessPolicy
	p := eks.NewListAssociatedAccessPoliciesPaginator(api, &eks.ListAssociatedAccessPoliciesInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(principal)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list access policies of %s: %w", principal, err)
		}
		for _, a := range page.AssociatedAccessPolicies {
			policy := snapshot.AccessPolicy{ARN: aws.ToString(a.PolicyArn)}
			if a.AccessScope != nil && a.AccessScope.Type == types.AccessScopeTypeNamespace {
				policy.Namespaces = slices.Sorted(slices.Values(a.AccessScope.Namespaces))
			}
			list = append(list, policy)
		}
	}
	return list, nil
}

// readPrincipals lists the principals with an access entry. A cluster in mode
// CONFIG_MAP refuses the question: it has none.
func readPrincipals(ctx context.Context, api AccessEntries, cluster string) ([]string, error) {
	var list []string
	p := eks.NewListAccessEntriesPaginator(api, &eks.ListAccessEntriesInput{ClusterName: aws.String(cluster)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		var refused *types.InvalidRequestException
		if errors.As(err, &refused) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list access entries: %w", err)
		}
		list = append(list, page.AccessEntries...)
	}
	return source.Distinct(list), nil
}

func accessEntry(principal string, e types.AccessEntry) snapshot.AccessEntry {
	return snapshot.AccessEntry{
		Principal: principal,
		Type:      aws.ToString(e.Type),
		Username:  aws.ToString(e.Username),
		Groups:    slices.Sorted(slices.Values(e.KubernetesGroups)),
		Created:   aws.ToTime(e.CreatedAt), Modified: aws.ToTime(e.ModifiedAt),
	}
}

// Addons lists and describes a cluster's add-ons.
type Addons interface {
	ListAddons(context.Context, *eks.ListAddonsInput, ...func(*eks.Options)) (*eks.ListAddonsOutput, error)
	DescribeAddon(context.Context, *eks.DescribeAddonInput, ...func(*eks.Options)) (*eks.DescribeAddonOutput, error)
}

// addons are the add-ons without which nodes are not of use.
func addons(api Addons) source.Source {
	return source.Source{
		Name: snapshot.Addons,
		Calls: []source.Call{
			{Action: "eks:ListAddons", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*"}},
			{Action: "eks:DescribeAddon", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:addon/*/*/*"}},
		},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.Addon, error) {
			return readAddons(ctx, api, v.Cluster)
		}, func(x snapshot.Addon) string { return x.Name }, func(s *snapshot.Snapshot) *[]snapshot.Addon { return &s.Addons }),
	}
}

func readAddons(ctx context.Context, api Addons, cluster string) ([]snapshot.Addon, error) {
	var names []string
	p := eks.NewListAddonsPaginator(api, &eks.ListAddonsInput{ClusterName: aws.String(cluster)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list add-ons: %w", err)
		}
		names = append(names, page.Addons...)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !nodesNeed(name) })
	found, err := source.AtOnce(names, func(name string) ([]snapshot.Addon, error) {
		out, err := api.DescribeAddon(ctx, &eks.DescribeAddonInput{ClusterName: aws.String(cluster), AddonName: aws.String(name)})
		var missing *types.ResourceNotFoundException
		switch {
		case errors.As(err, &missing):
			return nil, nil // deleted since it was listed
		case err != nil:
			return nil, fmt.Errorf("describe add-on %s: %w", name, err)
		case out.Addon == nil:
			return nil, fmt.Errorf("describe add-on %s: the answer holds none", name)
		}
		return []snapshot.Addon{addon(*out.Addon)}, nil
	})
	return slices.Concat(found...), err
}

func nodesNeed(addon string) bool {
	return slices.Contains([]string{"vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent"}, addon) || strings.HasSuffix(addon, "-csi-driver")
}

func addon(a types.Addon) snapshot.Addon {
	out := snapshot.Addon{
		Name:    aws.ToString(a.AddonName),
		Version: aws.ToString(a.AddonVersion),
		Status:  string(a.Status),
		Role:    aws.ToString(a.ServiceAccountRoleArn),
	}
	if a.Health != nil {
		for _, i := range a.Health.Issues {
			out.Issues = append(out.Issues, snapshot.Issue{Code: string(i.Code), Message: aws.ToString(i.Message), Resources: i.ResourceIds})
		}
	}
	return out
}

// ClassAccess is the access of the node roles of NodeClasses that EKS Auto Mode reports as
// refused. A cluster without such a NodeClass takes no call.
func ClassAccess(entries AccessEntries, roles iam.ClassRoles) source.Source {
	return source.Source{
		Name:  snapshot.ClassAccess,
		Needs: []snapshot.Source{snapshot.AutoNodeClassesOf},
		Calls: append(entryCalls(),
			source.Call{Action: "iam:GetRole", Resources: []string{"arn:${Partition}:iam::${Account}:role/*"}},
			source.Call{Action: "iam:GetInstanceProfile", Resources: []string{"arn:${Partition}:iam::${Account}:instance-profile/*"}},
		),
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readClassAccess(ctx, entries, roles, v)
		},
	}
}

// maxClassRoles bounds the roles of NodeClasses that are read in one look.
const maxClassRoles = 10

func readClassAccess(ctx context.Context, api AccessEntries, roles iam.ClassRoles, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.AutoNodeClassesOf) {
		return nil, v.Unread(snapshot.AutoNodeClassesOf)
	}
	refused := slices.DeleteFunc(slices.Clone(v.Snapshot.AutoNodeClasses), func(c snapshot.NodeClass) bool {
		_, is := c.Unauthorized()
		return !is || c.Deleting
	})
	if len(refused) == 0 {
		return source.Nothing, nil
	}
	principals, err := readPrincipals(ctx, api, v.Cluster)
	if err != nil {
		return nil, err
	}
	lacks := map[string]snapshot.Failure{}
	byName := map[string][]string{}
	for _, c := range refused {
		name, err := roleOfClass(ctx, roles, c)
		f := v.Source.Failure(err)
		switch {
		case err != nil && f.Reason == snapshot.Denied:
			return nil, err
		case err != nil:
			lacks[c.Name] = *f
		case len(byName) >= maxClassRoles && byName[name] == nil:
			lacks[c.Name] = v.Source.Skipped(fmt.Sprintf("the roles of %d other NodeClasses were read in this look", maxClassRoles))
		default:
			byName[name] = append(byName[name], c.Name)
		}
	}
	var list []snapshot.ClassRole
	for name, classes := range byName {
		r := snapshot.ClassRole{Classes: slices.Sorted(slices.Values(classes)), Name: name}
		mine := func(principal string) bool {
			return strings.Contains(principal, ":role/") && iam.NameOf(principal) == name
		}
		if r.Entries, _, err = describeEntries(ctx, api, v, principals, mine, lacks); err != nil {
			return nil, err
		}
		r.ARN, r.Created, err = roles.Role(ctx, name)
		if f := v.Source.Failure(err); err != nil && f.Reason == snapshot.Denied {
			return nil, err
		} else if err != nil {
			lacks[name] = *f
		}
		list = append(list, r)
	}
	list = source.Sorted(list, func(r snapshot.ClassRole) string { return r.Name })
	return func(s *snapshot.Snapshot) {
		s.ClassRoles = list
		source.LackAll(s, snapshot.ClassAccess, lacks)
	}, nil
}

// roleOfClass is the name of a NodeClass's role: it names one, or an instance profile that
// holds it (EKS user guide, "Create a Node Class for Amazon EKS": they exclude each other).
func roleOfClass(ctx context.Context, roles iam.ClassRoles, c snapshot.NodeClass) (string, error) {
	if c.Role != "" {
		return iam.NameOf(c.Role), nil
	}
	return roles.RoleOfProfile(ctx, c.Profile)
}

// clusters is the cluster itself, which Read reads before all others: its VPC
// says where to look, its endpoint whom to ask.
func clusters() source.Source {
	return source.Source{
		Name: snapshot.Clusters,
		Calls: []source.Call{
			{Action: "eks:DescribeCluster", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*"}},
		},
	}
}

// Describe describes a cluster.
func Describe(ctx context.Context, api eks.DescribeClusterAPIClient, name string) (snapshot.Cluster, error) {
	out, err := api.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(name)})
	if err != nil {
		return snapshot.Cluster{}, fmt.Errorf("describe cluster %s: %w", name, err)
	}
	if out.Cluster == nil {
		return snapshot.Cluster{}, fmt.Errorf("describe cluster %s: the answer holds no cluster", name)
	}
	return cluster(*out.Cluster)
}

func cluster(c types.Cluster) (snapshot.Cluster, error) {
	out := snapshot.Cluster{
		Name:     aws.ToString(c.Name),
		ARN:      aws.ToString(c.Arn),
		Status:   string(c.Status),
		Version:  aws.ToString(c.Version),
		Endpoint: aws.ToString(c.Endpoint),
		Tags:     c.Tags,
		Created:  aws.ToTime(c.CreatedAt),
		Role:     aws.ToString(c.RoleArn),
		AutoMode: c.ComputeConfig != nil && aws.ToBool(c.ComputeConfig.Enabled),

		ZonalShift: c.ZonalShiftConfig != nil && aws.ToBool(c.ZonalShiftConfig.Enabled),
	}
	if c.AccessConfig != nil {
		out.AuthMode = string(c.AccessConfig.AuthenticationMode)
	}
	if c.Logging != nil {
		out.Logs = slices.ContainsFunc(c.Logging.ClusterLogging, func(l types.LogSetup) bool { return aws.ToBool(l.Enabled) && len(l.Types) > 0 })
	}
	if c.Health != nil {
		for _, i := range c.Health.Issues {
			out.Issues = append(out.Issues, snapshot.Issue{Code: string(i.Code), Message: aws.ToString(i.Message), Resources: i.ResourceIds})
		}
	}
	if c.CertificateAuthority != nil {
		ca, err := base64.StdEncoding.DecodeString(aws.ToString(c.CertificateAuthority.Data))
		if err != nil {
			return out, fmt.Errorf("cluster %s: its certificate authority is not base64: %w", out.Name, err)
		}
		out.CA = ca
		if a := c.CertificateAuthority.Active; a != nil {
			out.CAActivatedBy = string(a.ActivatedBy)
		}
	}
	if v := c.ResourcesVpcConfig; v != nil {
		out.VPC = aws.ToString(v.VpcId)
		out.EgressMode = string(v.ControlPlaneEgressMode)
		out.EndpointPublic, out.EndpointPrivate = v.EndpointPublicAccess, v.EndpointPrivateAccess
		out.SecurityGroup = aws.ToString(v.ClusterSecurityGroupId)
		out.SecurityGroups = slices.Sorted(slices.Values(v.SecurityGroupIds))
		out.Subnets = slices.Sorted(slices.Values(v.SubnetIds))
		for _, text := range v.PublicAccessCidrs {
			p, err := netip.ParsePrefix(text)
			if err != nil {
				return out, fmt.Errorf("cluster %s: public access range %q: %w", out.Name, text, err)
			}
			out.PublicAccessCIDRs = append(out.PublicAccessCIDRs, p)
		}
	}
	if n := c.KubernetesNetworkConfig; n != nil {
		out.IPv6 = n.IpFamily == types.IpFamilyIpv6
		out.ServiceCIDR = source.Prefix(n.ServiceIpv4Cidr)
		if out.IPv6 {
			out.ServiceCIDR = source.Prefix(n.ServiceIpv6Cidr)
		}
	}
	return out, nil
}

// Names are those of the region's clusters.
func Names(ctx context.Context, api eks.ListClustersAPIClient) ([]string, error) {
	var names []string
	p := eks.NewListClustersPaginator(api, &eks.ListClustersInput{})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list clusters: %w", err)
		}
		names = append(names, page.Clusters...)
	}
	return names, nil
}

// Nodegroups describes managed node groups.
type Nodegroups interface {
	eks.ListNodegroupsAPIClient
	DescribeNodegroup(context.Context, *eks.DescribeNodegroupInput, ...func(*eks.Options)) (*eks.DescribeNodegroupOutput, error)
}

// nodegroups are those that the query names, or all of the cluster's.
func nodegroups(api Nodegroups) source.Source {
	return source.Source{
		Name: snapshot.Nodegroups,
		Calls: []source.Call{
			{Action: "eks:DescribeNodegroup", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:nodegroup/*/*/*"}},
		},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.Nodegroup, error) {
			return readNodegroups(ctx, api, v)
		}, func(x snapshot.Nodegroup) string { return x.Name }, func(s *snapshot.Snapshot) *[]snapshot.Nodegroup { return &s.Nodegroups }),
	}
}

func readNodegroups(ctx context.Context, api Nodegroups, v *source.View) ([]snapshot.Nodegroup, error) {
	names := v.Nodegroups
	if v.AllNodegroups && names == nil {
		all, err := nodegroupNames(ctx, api, v.Cluster)
		if err != nil {
			return nil, err
		}
		names = all
	}
	return nodegroupsNamed(ctx, api, v.Cluster, names)
}

// nodegroupNames lists all of a cluster's node groups.
func nodegroupNames(ctx context.Context, api eks.ListNodegroupsAPIClient, cluster string) ([]string, error) {
	var names []string
	p := eks.NewListNodegroupsPaginator(api, &eks.ListNodegroupsInput{ClusterName: aws.String(cluster)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list nodegroups: %w", err)
		}
		names = append(names, page.Nodegroups...)
	}
	return names, nil
}

// nodegroupsNamed reads the named groups. One that is being deleted may be gone
// before its instances: that is no failure.
func nodegroupsNamed(ctx context.Context, api Nodegroups, cluster string, names []string) ([]snapshot.Nodegroup, error) {
	var all []snapshot.Nodegroup
	for _, name := range names {
		out, err := api.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String(name)})
		var missing *types.ResourceNotFoundException
		if errors.As(err, &missing) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("describe nodegroup %s: %w", name, err)
		}
		if out.Nodegroup == nil {
			// Not that there is none: that would be taken for its deletion.
			return nil, fmt.Errorf("describe nodegroup %s: %w", name, source.ErrHalf)
		}
		all = append(all, nodegroup(*out.Nodegroup))
	}
	return all, nil
}

func nodegroup(n types.Nodegroup) snapshot.Nodegroup {
	out := snapshot.Nodegroup{
		Name:    aws.ToString(n.NodegroupName),
		Cluster: aws.ToString(n.ClusterName),
		ARN:     aws.ToString(n.NodegroupArn),
		Status:  string(n.Status),
		Subnets: n.Subnets,
		Spot:    n.CapacityType == types.CapacityTypesSpot,

		Role:    aws.ToString(n.NodeRole),
		AMIType: string(n.AmiType),
		Release: aws.ToString(n.ReleaseVersion),
		Version: aws.ToString(n.Version),
		Types:   n.InstanceTypes,
		Labels:  n.Labels,
		Tags:    n.Tags,
		Created: aws.ToTime(n.CreatedAt), Modified: aws.ToTime(n.ModifiedAt),
	}
	if t := n.LaunchTemplate; t != nil {
		out.Template = snapshot.TemplateRef{ID: aws.ToString(t.Id), Name: aws.ToString(t.Name), Version: aws.ToString(t.Version)}
	}
	for _, t := range n.Taints {
		out.Taints = append(out.Taints, snapshot.Taint{Key: aws.ToString(t.Key), Value: aws.ToString(t.Value), Effect: taintEffect(t.Effect)})
	}
	if n.Health != nil {
		for _, i := range n.Health.Issues {
			out.Issues = append(out.Issues, snapshot.Issue{Code: string(i.Code), Message: aws.ToString(i.Message), Resources: i.ResourceIds})
		}
	}
	if n.Resources != nil {
		for _, g := range n.Resources.AutoScalingGroups {
			out.Groups = append(out.Groups, aws.ToString(g.Name))
		}
	}
	if s := n.ScalingConfig; s != nil {
		out.Min, out.Max, out.Desired = int(aws.ToInt32(s.MinSize)), int(aws.ToInt32(s.MaxSize)), int(aws.ToInt32(s.DesiredSize))
	}
	return out
}

// taintEffect is an effect as Kubernetes writes it; EKS writes NO_SCHEDULE.
func taintEffect(e types.TaintEffect) string {
	switch e {
	case types.TaintEffectNoSchedule:
		return "NoSchedule"
	case types.TaintEffectNoExecute:
		return "NoExecute"
	case types.TaintEffectPreferNoSchedule:
		return "PreferNoSchedule"
	}
	return string(e)
}

// PodIdentities lists and describes a cluster's Pod Identity associations.
type PodIdentities interface {
	ListPodIdentityAssociations(context.Context, *eks.ListPodIdentityAssociationsInput, ...func(*eks.Options)) (*eks.ListPodIdentityAssociationsOutput, error)
	DescribePodIdentityAssociation(context.Context, *eks.DescribePodIdentityAssociationInput, ...func(*eks.Options)) (*eks.DescribePodIdentityAssociationOutput, error)
}

// podIdentities are the associations in kube-system.
func podIdentities(api PodIdentities) source.Source {
	return source.Source{
		Name: snapshot.PodIdentities,
		Calls: []source.Call{
			{Action: "eks:ListPodIdentityAssociations", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*"}},
			{Action: "eks:DescribePodIdentityAssociation", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:podidentityassociation/*/*"}},
		},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.PodIdentity, error) {
			return readPodIdentities(ctx, api, v.Cluster)
		}, func(x snapshot.PodIdentity) string { return x.Namespace + "/" + x.ServiceAccount }, func(s *snapshot.Snapshot) *[]snapshot.PodIdentity { return &s.PodIdentities }),
	}
}

// awsNode is the VPC CNI's DaemonSet and service account.
const awsNode = "aws-node"

// readPodIdentities lists the associations in kube-system. Only that of
// aws-node is described: of the others it matters that they exist, and their
// Role is empty.
func readPodIdentities(ctx context.Context, api PodIdentities, cluster string) ([]snapshot.PodIdentity, error) {
	var list []snapshot.PodIdentity
	p := eks.NewListPodIdentityAssociationsPaginator(api, &eks.ListPodIdentityAssociationsInput{ClusterName: aws.String(cluster), Namespace: aws.String("kube-system")})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list pod identity associations: %w", err)
		}
		for _, a := range page.Associations {
			found := snapshot.PodIdentity{Namespace: aws.ToString(a.Namespace), ServiceAccount: aws.ToString(a.ServiceAccount)}
			if found.ServiceAccount == awsNode {
				if err := describePodIdentity(ctx, api, cluster, a.AssociationId, &found); err != nil {
					return nil, err
				}
				if found.Role == "" {
					continue // gone since it was listed
				}
			}
			list = append(list, found)
		}
	}
	return list, nil
}

// describePodIdentity adds the roles and the session policy of an association; Role stays
// empty where it is gone.
func describePodIdentity(ctx context.Context, api PodIdentities, cluster string, id *string, found *snapshot.PodIdentity) error {
	out, err := api.DescribePodIdentityAssociation(ctx, &eks.DescribePodIdentityAssociationInput{ClusterName: aws.String(cluster), AssociationId: id})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("describe pod identity association %s: %w", aws.ToString(id), err)
	}
	a := out.Association
	if a == nil || !strings.HasPrefix(aws.ToString(a.RoleArn), "arn:") {
		return fmt.Errorf("describe pod identity association %s: the answer holds no role", aws.ToString(id))
	}
	found.Role, found.Target, found.Policy = *a.RoleArn, aws.ToString(a.TargetRoleArn), aws.ToString(a.Policy)
	found.ExternalID, found.Untagged = aws.ToString(a.ExternalId), aws.ToBool(a.DisableSessionTags)
	return nil
}

// Updates lists and describes the updates of node groups.
type Updates interface {
	ListUpdates(context.Context, *eks.ListUpdatesInput, ...func(*eks.Options)) (*eks.ListUpdatesOutput, error)
	DescribeUpdate(context.Context, *eks.DescribeUpdateInput, ...func(*eks.Options)) (*eks.DescribeUpdateOutput, error)
}

// updates are the latest of the node groups that were read.
func updates(api Updates) source.Source {
	// The reference names the cluster as well as the nodegroup.
	of := []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*", "arn:${Partition}:eks:${Region}:${Account}:nodegroup/*/*/*"}
	return source.Source{
		Name:  snapshot.Updates,
		Needs: []snapshot.Source{snapshot.Nodegroups},
		Calls: []source.Call{
			{Action: "eks:ListUpdates", Resources: of},
			{Action: "eks:DescribeUpdate", Resources: of},
		},
		Read: source.Through(api, readUpdates),
	}
}

// endOfList is how many updates are described at each end of a list. The API
// gives ids alone, and does not say in which order: the newest are at one of
// the two ends. Three tell how the last one ended, and which was before it.
const endOfList = 3

var errUpdateOrder = errors.New("the nodegroup's updates are not listed in the order of their time")

// readUpdates reads the latest updates of the node groups that were read. Each is
// a failure of its own: of one nodegroup nothing hangs on another's updates.
func readUpdates(ctx context.Context, api Updates, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.Nodegroups) {
		return nil, v.Unread(snapshot.Nodegroups)
	}
	read := map[string][]snapshot.Update{}
	lacks := map[string]snapshot.Failure{}
	for _, n := range v.Snapshot.Nodegroups {
		if v.Updated != nil && !slices.Contains(v.Updated, n.Name) {
			lacks[n.Name] = snapshot.Failure{Source: snapshot.Updates, Reason: snapshot.NotRead, Call: v.Source.Call(), Message: "nothing has changed since they were read"}
			continue
		}
		list, err := updatesOf(ctx, api, v.Cluster, n.Name)
		if f := notTaken(v.Source, err); f != nil {
			lacks[n.Name] = *f
			continue
		}
		switch {
		case errors.Is(err, errUpdateOrder):
			lacks[n.Name] = snapshot.Failure{Source: snapshot.Updates, Reason: snapshot.Broken, Call: v.Source.Call(), Message: err.Error()}
		case err != nil:
			return nil, fmt.Errorf("nodegroup %s: %w", n.Name, err)
		default:
			read[n.Name] = list
		}
	}
	return func(s *snapshot.Snapshot) {
		for i := range s.Nodegroups {
			s.Nodegroups[i].Updates = read[s.Nodegroups[i].Name]
		}
		source.LackAll(s, snapshot.Updates, lacks)
	}, nil
}

// notTaken is the failure of a call that a capture does not hold
// (package command/capture), nil for any other error. That updates were not
// listed is no failure, as if it was not requested: a failed update keeps no instance
// from joining by itself, and what it failed on shows in the instances, the
// scaling activities and the nodegroup's issues. That one was listed and is not
// there is half an answer: it may be the one that failed.
func notTaken(s source.Source, err error) *snapshot.Failure {
	if err == nil {
		return nil
	}
	f := s.Failure(err)
	if f.Code != snapshot.NotCaptured {
		return nil
	}
	if f.Call != s.Call() {
		f.Reason = snapshot.Broken
	}
	return f
}

// updatesOf reads the latest updates of a nodegroup, the newest first.
func updatesOf(ctx context.Context, api Updates, cluster, name string) ([]snapshot.Update, error) {
	var ids []string
	p := eks.NewListUpdatesPaginator(api, &eks.ListUpdatesInput{Name: aws.String(cluster), NodegroupName: aws.String(name)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if missing(err) {
			return nil, nil // deleted since it was read
		}
		if err != nil {
			return nil, fmt.Errorf("list updates: %w", err)
		}
		ids = append(ids, page.UpdateIds...)
	}
	whole := len(ids) <= 2*endOfList
	if !whole {
		ids = slices.Concat(ids[:endOfList], ids[len(ids)-endOfList:])
	}
	var list []snapshot.Update
	for _, id := range ids {
		out, err := api.DescribeUpdate(ctx, &eks.DescribeUpdateInput{Name: aws.String(cluster), NodegroupName: aws.String(name), UpdateId: aws.String(id)})
		if missing(err) {
			continue // EKS does not keep them for ever
		}
		if err != nil {
			return nil, fmt.Errorf("describe update %s: %w", id, err)
		}
		if out.Update == nil {
			return nil, fmt.Errorf("describe update %s: the answer holds none", id)
		}
		list = append(list, update(*out.Update))
	}
	older := func(a, b snapshot.Update) int { return a.Created.Compare(b.Created) }
	if !whole && !slices.IsSortedFunc(list, older) && !slices.IsSortedFunc(list, func(a, b snapshot.Update) int { return older(b, a) }) {
		return nil, errUpdateOrder
	}
	slices.SortStableFunc(list, func(a, b snapshot.Update) int {
		if c := older(b, a); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list, nil
}

func missing(err error) bool {
	var e *types.ResourceNotFoundException
	return errors.As(err, &e)
}

func update(u types.Update) snapshot.Update {
	out := snapshot.Update{ID: aws.ToString(u.Id), Type: string(u.Type), Status: string(u.Status), Created: aws.ToTime(u.CreatedAt)}
	for _, p := range u.Params {
		out.Params = append(out.Params, string(p.Type)+"="+aws.ToString(p.Value))
	}
	for _, e := range u.Errors {
		out.Errors = append(out.Errors, snapshot.Issue{Code: string(e.ErrorCode), Message: aws.ToString(e.ErrorMessage), Resources: e.ResourceIds})
	}
	return out
}
