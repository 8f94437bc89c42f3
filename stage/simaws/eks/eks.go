// Package eks is the account's EKS API: one method for each operation, and the
// updates of nodegroups and add-ons that take their time.
package eks

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/autoscaling"
	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/nodegroup"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
	"rollcall/stage/simaws/worldfile"
)

// API is the world's EKS API, one method for each operation.
type API struct{ w *state.State }

// New is the EKS API of an account.
func New(w *state.State) API { return API{w} }

// eksPage is the largest page and the one without a size.
const eksPage = 100

// errEKSMissing is what EKS answers for a thing that does not exist.
func errEKSMissing(format string, args ...any) *wire.Error {
	e := wire.Errorf("ResourceNotFoundException", format, args...)
	e.Status = 404
	return e
}

// names is one page of names.
func names(list []string, size *int32, token *string) ([]string, *string, error) {
	n := int32(eksPage)
	if size != nil {
		n = *size
		if n < 1 || n > eksPage {
			return nil, nil, wire.Errorf("InvalidParameterException", "maxResults must be between 1 and %d", eksPage)
		}
	}
	rows := make([]*string, len(list))
	for i := range list {
		rows[i] = &list[i]
	}
	rows, next, err := table.Page(rows, func(s *string) *string { return s }, token, int(n), func() *wire.Error {
		return wire.Errorf("InvalidParameterException", "Invalid nextToken")
	})
	if err != nil {
		return nil, nil, err
	}
	return state.CopyEach(rows), next, nil
}

func eksCluster(w *state.State, name *string) (*ekstypes.Cluster, error) {
	if c := w.Clusters.Get(aws.ToString(name)); c != nil {
		return c, nil
	}
	return nil, errEKSMissing("No cluster found for name: %s.", aws.ToString(name))
}

// ListClusters lists the clusters' names.
func (s API) ListClusters(in *eks.ListClustersInput) (*eks.ListClustersOutput, error) {
	defer s.w.Enter()()
	var all []string
	for _, c := range s.w.Clusters.All() {
		all = append(all, *c.Name)
	}
	list, next, err := names(all, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &eks.ListClustersOutput{Clusters: list, NextToken: next}, nil
}

// DescribeCluster shows a cluster.
func (s API) DescribeCluster(in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	defer s.w.Enter()()
	c, err := eksCluster(s.w, in.Name)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeClusterOutput{Cluster: state.Copy(c)}, nil
}

// ListNodegroups lists a cluster's nodegroups.
func (s API) ListNodegroups(in *eks.ListNodegroupsInput) (*eks.ListNodegroupsOutput, error) {
	defer s.w.Enter()()
	if _, err := eksCluster(s.w, in.ClusterName); err != nil {
		return nil, err
	}
	var all []string
	for _, n := range s.w.Nodegroups.All() {
		if aws.ToString(n.ClusterName) == *in.ClusterName {
			all = append(all, *n.NodegroupName)
		}
	}
	list, next, err := names(all, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &eks.ListNodegroupsOutput{Nodegroups: list, NextToken: next}, nil
}

func eksNodegroup(w *state.State, cluster, name *string) (*state.Nodegroup, error) {
	if _, err := eksCluster(w, cluster); err != nil {
		return nil, err
	}
	if n := w.Nodegroups.Get(state.NodegroupKey(*cluster, aws.ToString(name))); n != nil {
		return n, nil
	}
	return nil, errEKSMissing("No node group found for name: %s.", aws.ToString(name))
}

// DescribeNodegroup shows a nodegroup.
func (s API) DescribeNodegroup(in *eks.DescribeNodegroupInput) (*eks.DescribeNodegroupOutput, error) {
	defer s.w.Enter()()
	n, err := eksNodegroup(s.w, in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeNodegroupOutput{Nodegroup: state.Copy(&n.Nodegroup)}, nil
}

// accessCluster says whether the cluster has access entries at all.
func accessCluster(w *state.State, name *string) error {
	c, err := eksCluster(w, name)
	if err != nil {
		return err
	}
	if a := c.AccessConfig; a != nil && a.AuthenticationMode == ekstypes.AuthenticationModeConfigMap {
		return wire.Errorf("InvalidRequestException", "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.")
	}
	return nil
}

// ListAccessEntries lists the principals that a cluster knows.
func (s API) ListAccessEntries(in *eks.ListAccessEntriesInput) (*eks.ListAccessEntriesOutput, error) {
	defer s.w.Enter()()
	if err := accessCluster(s.w, in.ClusterName); err != nil {
		return nil, err
	}
	var all []string
	for _, a := range s.w.AccessEntries.All() {
		if aws.ToString(a.ClusterName) == *in.ClusterName {
			all = append(all, *a.PrincipalArn)
		}
	}
	list, next, err := names(all, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &eks.ListAccessEntriesOutput{AccessEntries: list, NextToken: next}, nil
}

func accessEntry(w *state.State, cluster, principal *string) (*ekstypes.AccessEntry, error) {
	if err := accessCluster(w, cluster); err != nil {
		return nil, err
	}
	if a := w.AccessEntries.Get(state.NodegroupKey(*cluster, aws.ToString(principal))); a != nil {
		return a, nil
	}
	return nil, errEKSMissing("The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.")
}

// DescribeAccessEntry shows what a cluster knows of a principal.
func (s API) DescribeAccessEntry(in *eks.DescribeAccessEntryInput) (*eks.DescribeAccessEntryOutput, error) {
	defer s.w.Enter()()
	a, err := accessEntry(s.w, in.ClusterName, in.PrincipalArn)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeAccessEntryOutput{AccessEntry: state.Copy(a)}, nil
}

// CreateAccessEntry makes a principal known to a cluster.
func (s API) CreateAccessEntry(in *eks.CreateAccessEntryInput) (*eks.CreateAccessEntryOutput, error) {
	defer s.w.Enter()()
	if err := accessCluster(s.w, in.ClusterName); err != nil {
		return nil, err
	}
	if s.w.AccessEntries.Get(state.NodegroupKey(*in.ClusterName, aws.ToString(in.PrincipalArn))) != nil {
		return nil, &wire.Error{Code: "ResourceInUseException", Message: "The specified access entry resource is already in use on this cluster.", Status: 409}
	}
	if !strings.HasPrefix(aws.ToString(in.PrincipalArn), "arn:") {
		return nil, wire.Errorf("InvalidParameterException", "The specified principalArn is invalid: invalid principal.")
	}
	if err := checkEntryType(in); err != nil {
		return nil, err
	}
	a := state.Copy(ekstypes.AccessEntry{
		ClusterName: in.ClusterName, PrincipalArn: in.PrincipalArn, KubernetesGroups: in.KubernetesGroups, Tags: in.Tags, Type: in.Type, Username: in.Username,
	})
	PutAccessEntry(s.w, &a)
	return &eks.CreateAccessEntryOutput{AccessEntry: state.Copy(&a)}, nil
}

// checkEntryType says whether an entry's type fits the rest of it: an entry of
// nodes has the user name and the groups that EKS gives it, and no others.
func checkEntryType(in *eks.CreateAccessEntryInput) error {
	kind := aws.ToString(in.Type)
	switch kind {
	case "", "STANDARD":
		return nil
	case "EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "EC2", "HYBRID_LINUX", "HYPERPOD_LINUX":
	default:
		return wire.Errorf("InvalidParameterException", "The type %s is not a supported access entry type.", kind)
	}
	if !strings.Contains(*in.PrincipalArn, ":role/") {
		return wire.Errorf("InvalidParameterException", "The type %s only supports IAM roles as principals.", kind)
	}
	if len(in.KubernetesGroups) > 0 || in.Username != nil {
		return wire.Errorf("InvalidParameterException", "The username and kubernetesGroups can't be specified for access entries of type %s.", kind)
	}
	return nil
}

// DeleteAccessEntry makes a principal unknown to a cluster.
func (s API) DeleteAccessEntry(in *eks.DeleteAccessEntryInput) (*eks.DeleteAccessEntryOutput, error) {
	defer s.w.Enter()()
	if _, err := accessEntry(s.w, in.ClusterName, in.PrincipalArn); err != nil {
		return nil, err
	}
	s.w.AccessEntries.Remove(state.NodegroupKey(*in.ClusterName, *in.PrincipalArn))
	delete(s.w.EntryIDs, state.NodegroupKey(*in.ClusterName, *in.PrincipalArn))
	delete(s.w.AccessPolicies, state.NodegroupKey(*in.ClusterName, *in.PrincipalArn))
	return &eks.DeleteAccessEntryOutput{}, nil
}

// AssociateAccessPolicy gives a principal the rules of an access policy, or
// changes their scope.
func (s API) AssociateAccessPolicy(in *eks.AssociateAccessPolicyInput) (*eks.AssociateAccessPolicyOutput, error) {
	defer s.w.Enter()()
	if _, err := accessEntry(s.w, in.ClusterName, in.PrincipalArn); err != nil {
		return nil, err
	}
	if !strings.Contains(aws.ToString(in.PolicyArn), ":cluster-access-policy/") {
		return nil, wire.Errorf("InvalidParameterException", "The policyArn parameter format is not valid")
	}
	p := ekstypes.AssociatedAccessPolicy{
		PolicyArn: state.Copy(in.PolicyArn), AccessScope: state.Copy(in.AccessScope), AssociatedAt: aws.Time(s.w.Now), ModifiedAt: aws.Time(s.w.Now),
	}
	AssociatePolicy(s.w, state.NodegroupKey(*in.ClusterName, *in.PrincipalArn), p)
	return &eks.AssociateAccessPolicyOutput{ClusterName: in.ClusterName, PrincipalArn: in.PrincipalArn, AssociatedAccessPolicy: state.Copy(&p)}, nil
}

// AssociatePolicy gives an access entry a policy.
func AssociatePolicy(w *state.State, key string, p ekstypes.AssociatedAccessPolicy) {
	w.AccessPolicies[key] = append(withoutPolicy(w.AccessPolicies[key], aws.ToString(p.PolicyArn)), p)
}

func withoutPolicy(list []ekstypes.AssociatedAccessPolicy, arn string) []ekstypes.AssociatedAccessPolicy {
	return slices.DeleteFunc(list, func(p ekstypes.AssociatedAccessPolicy) bool { return aws.ToString(p.PolicyArn) == arn })
}

// DisassociateAccessPolicy takes the rules of an access policy away.
func (s API) DisassociateAccessPolicy(in *eks.DisassociateAccessPolicyInput) (*eks.DisassociateAccessPolicyOutput, error) {
	defer s.w.Enter()()
	if _, err := accessEntry(s.w, in.ClusterName, in.PrincipalArn); err != nil {
		return nil, err
	}
	key := state.NodegroupKey(*in.ClusterName, *in.PrincipalArn)
	s.w.AccessPolicies[key] = withoutPolicy(s.w.AccessPolicies[key], aws.ToString(in.PolicyArn))
	return &eks.DisassociateAccessPolicyOutput{}, nil
}

// ListAssociatedAccessPolicies lists the access policies of a principal.
func (s API) ListAssociatedAccessPolicies(in *eks.ListAssociatedAccessPoliciesInput) (*eks.ListAssociatedAccessPoliciesOutput, error) {
	defer s.w.Enter()()
	if _, err := accessEntry(s.w, in.ClusterName, in.PrincipalArn); err != nil {
		return nil, err
	}
	all := s.w.AccessPolicies[state.NodegroupKey(*in.ClusterName, *in.PrincipalArn)]
	arns, next, err := names(table.Each(all, func(p ekstypes.AssociatedAccessPolicy) *string { return p.PolicyArn }), in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	out := &eks.ListAssociatedAccessPoliciesOutput{ClusterName: in.ClusterName, PrincipalArn: in.PrincipalArn, NextToken: next, AssociatedAccessPolicies: []ekstypes.AssociatedAccessPolicy{}}
	for _, p := range all {
		if slices.Contains(arns, aws.ToString(p.PolicyArn)) {
			out.AssociatedAccessPolicies = append(out.AssociatedAccessPolicies, state.Copy(p))
		}
	}
	return out, nil
}

// PutAccessEntry fills in what an access entry leaves out and keeps it.
func PutAccessEntry(w *state.State, a *ekstypes.AccessEntry) {
	principal := aws.ToString(a.PrincipalArn)
	role := principal[strings.LastIndex(principal, "/")+1:]
	state.Default(&a.Type, "STANDARD")
	state.Default(&a.CreatedAt, w.Now)
	state.Default(&a.ModifiedAt, w.Now)
	state.Default(&a.AccessEntryArn, w.ARN("eks", fmt.Sprintf("access-entry/%s/role/%s/%s/%s", aws.ToString(a.ClusterName), w.Account, role, w.IDs.UUID())))
	if *a.Type == "EC2_LINUX" {
		state.Default(&a.Username, "system:node:{{EC2PrivateDNSName}}")
		if a.KubernetesGroups == nil {
			a.KubernetesGroups = []string{"system:nodes"}
		}
	}
	state.Default(&a.Username, principal)
	key := state.NodegroupKey(aws.ToString(a.ClusterName), principal)
	w.AccessEntries.Put(key, a)
	w.EntryIDs[key] = w.IDOfRole(principal)
	if r := w.Roles.Get(role); r != nil && a.CreatedAt.Before(aws.ToTime(r.CreateDate)) {
		w.EntryIDs[key] = "of a role that was there before"
	}
}

// ListAddons lists a cluster's add-ons.
func (s API) ListAddons(in *eks.ListAddonsInput) (*eks.ListAddonsOutput, error) {
	defer s.w.Enter()()
	if _, err := eksCluster(s.w, in.ClusterName); err != nil {
		return nil, err
	}
	var all []string
	for _, a := range s.w.Addons.All() {
		if aws.ToString(a.ClusterName) == *in.ClusterName {
			all = append(all, *a.AddonName)
		}
	}
	list, next, err := names(all, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &eks.ListAddonsOutput{Addons: list, NextToken: next}, nil
}

func eksAddon(w *state.State, cluster, name *string) (*ekstypes.Addon, error) {
	if _, err := eksCluster(w, cluster); err != nil {
		return nil, err
	}
	if a := w.Addons.Get(state.NodegroupKey(*cluster, aws.ToString(name))); a != nil {
		return a, nil
	}
	return nil, errEKSMissing("No addon: %s found in cluster: %s", aws.ToString(name), *cluster)
}

// DescribeAddon shows an add-on.
func (s API) DescribeAddon(in *eks.DescribeAddonInput) (*eks.DescribeAddonOutput, error) {
	defer s.w.Enter()()
	a, err := eksAddon(s.w, in.ClusterName, in.AddonName)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeAddonOutput{Addon: state.Copy(a)}, nil
}

// UpdateAddon installs an add-on's version and settings anew. An update that
// works leaves it ACTIVE, whatever was wrong before.
func (s API) UpdateAddon(in *eks.UpdateAddonInput) (*eks.UpdateAddonOutput, error) {
	defer s.w.Enter()()
	w := s.w
	a, err := eksAddon(w, in.ClusterName, in.AddonName)
	if err != nil {
		return nil, err
	}
	switch a.Status {
	case ekstypes.AddonStatusCreating, ekstypes.AddonStatusUpdating, ekstypes.AddonStatusDeleting:
		return nil, &wire.Error{Code: "ResourceInUseException", Message: "Addon " + *a.AddonName + " cannot be updated as it is currently in " + string(a.Status) + " state", Status: 409}
	}
	u := newUpdate(w, ekstypes.UpdateTypeAddonUpdate)
	for _, p := range []struct {
		kind  ekstypes.UpdateParamType
		value *string
	}{
		{ekstypes.UpdateParamTypeAddonVersion, in.AddonVersion},
		{ekstypes.UpdateParamTypeServiceAccountRoleArn, in.ServiceAccountRoleArn},
		{ekstypes.UpdateParamTypeConfigurationValues, in.ConfigurationValues},
	} {
		if p.value != nil {
			u.Params = append(u.Params, ekstypes.UpdateParam{Type: p.kind, Value: state.Copy(p.value)})
		}
	}
	key := state.NodegroupKey(*in.ClusterName, *in.AddonName)
	w.AddonUpdates[key] = append(w.AddonUpdates[key], u)
	before := a.Status
	a.Status, a.ModifiedAt = ekstypes.AddonStatusUpdating, aws.Time(w.Now)
	if f := takeFault(w, *in.ClusterName, "", *in.AddonName, string(u.Type)); f != nil {
		w.After(f.After, func() {
			failUpdate(u, f.Errors)
			// Failing is not becoming degraded: EKS has another event for it.
			a.Status, a.ModifiedAt = ekstypes.AddonStatusUpdateFailed, aws.Time(w.Now)
			emitAddon(w, "EKS Addon Update Failed", a)
		})
		return &eks.UpdateAddonOutput{Update: state.Copy(u)}, nil
	}
	version, role, values := state.Copy(in.AddonVersion), state.Copy(in.ServiceAccountRoleArn), state.Copy(in.ConfigurationValues)
	w.After(w.File.EKS.Rules.UpdateTime, func() {
		u.Status = ekstypes.UpdateStatusSuccessful
		a.AddonVersion = cmp.Or(version, a.AddonVersion)
		a.ServiceAccountRoleArn = cmp.Or(role, a.ServiceAccountRoleArn)
		a.ConfigurationValues = cmp.Or(values, a.ConfigurationValues)
		a.Status = before
		setAddon(w, a, ekstypes.AddonStatusActive, nil)
		emitAddon(w, "EKS Addon Update Succeeded", a)
	})
	return &eks.UpdateAddonOutput{Update: state.Copy(u)}, nil
}

// setAddon gives an add-on a status and its health issues.
func setAddon(w *state.State, a *ekstypes.Addon, status ekstypes.AddonStatus, issues []ekstypes.AddonIssue) {
	before := a.Status
	if issues == nil {
		issues = []ekstypes.AddonIssue{}
	}
	a.Status, a.Health, a.ModifiedAt = status, &ekstypes.AddonHealth{Issues: issues}, aws.Time(w.Now)
	switch {
	case status == ekstypes.AddonStatusDegraded && before != status:
		emitAddon(w, "EKS Addon Health Degraded", a)
	case status == ekstypes.AddonStatusActive && before == ekstypes.AddonStatusDegraded:
		emitAddon(w, "EKS Addon Health Restored", a)
	}
}

type addonIssue struct {
	Code        string   `json:"code"`
	Message     string   `json:"message"`
	ResourceIDs []string `json:"resourceIds"`
}

type addonHealth struct {
	Issues []addonIssue `json:"issues"`
}

// addonEvent is the detail of an add-on's events. AWS shows no sample of it;
// the add-on's ARN among the resources is what to go by.
type addonEvent struct {
	ClusterName  string      `json:"clusterName"`
	AddonName    string      `json:"addonName"`
	AddonVersion string      `json:"addonVersion,omitempty"`
	Status       string      `json:"status"`
	Health       addonHealth `json:"health"`
}

func emitAddon(w *state.State, detailType string, a *ekstypes.Addon) {
	d := addonEvent{
		ClusterName: aws.ToString(a.ClusterName), AddonName: aws.ToString(a.AddonName), AddonVersion: aws.ToString(a.AddonVersion),
		Status: string(a.Status), Health: addonHealth{Issues: []addonIssue{}},
	}
	if a.Health != nil {
		for _, i := range a.Health.Issues {
			d.Health.Issues = append(d.Health.Issues, addonIssue{string(i.Code), aws.ToString(i.Message), append([]string{}, i.ResourceIds...)})
		}
	}
	w.Emit("aws.eks", detailType, []string{aws.ToString(a.AddonArn)}, d)
}

// nodeConfig is the user data that EKS gives a managed AL2023 node, in the
// form that the API carries.
func nodeConfig(c *ekstypes.Cluster) string { return NodeConfig(c) }

// NodeConfig is the user data of an AL2023 node with flags of its kubelet, in the
// form that the API carries.
func NodeConfig(c *ekstypes.Cluster, flags ...string) string {
	ca, cidr := "", "172.20.0.0/16"
	if c.CertificateAuthority != nil {
		ca = aws.ToString(c.CertificateAuthority.Data)
	}
	if n := c.KubernetesNetworkConfig; n != nil && n.ServiceIpv4Cidr != nil {
		cidr = *n.ServiceIpv4Cidr
	}
	kubelet := ""
	if len(flags) > 0 {
		kubelet = "  kubelet:\n    flags:\n    - " + strings.Join(flags, "\n    - ") + "\n"
	}
	text := fmt.Sprintf(`MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: %s
    apiServerEndpoint: %s
    certificateAuthority: %s
    cidr: %s
%s
--//--
`, aws.ToString(c.Name), aws.ToString(c.Endpoint), ca, cidr, kubelet)
	return base64.StdEncoding.EncodeToString([]byte(text))
}

// Serve tells the world where a cluster's API is served: nodes are started
// with that endpoint and authority, and DescribeCluster answers with them.
func Serve(w *state.State, cluster, endpoint string, ca []byte) {
	defer w.Hold()()
	c := w.Clusters.Get(cluster)
	if c == nil {
		return
	}
	old := nodeConfig(c)
	c.Endpoint = aws.String(endpoint)
	c.CertificateAuthority = &ekstypes.Certificate{Data: aws.String(base64.StdEncoding.EncodeToString(ca))}
	now := nodeConfig(c)
	for _, v := range w.TemplateVersions.All() {
		if d := v.LaunchTemplateData; d != nil && aws.ToString(d.UserData) == old {
			d.UserData = aws.String(now)
		}
	}
	for id, data := range w.UserData {
		if data == old {
			w.UserData[id] = now
		}
	}
}

// nodegroupImage is the image of a nodegroup's release: the world's first of
// the right architecture, or one made up.
func nodegroupImage(w *state.State, ng *state.Nodegroup) string {
	arch := ec2types.ArchitectureValuesX8664
	if info := w.InstanceTypes.Get(ng.InstanceTypes[0]); info != nil && info.ProcessorInfo != nil && len(info.ProcessorInfo.SupportedArchitectures) > 0 {
		arch = ec2types.ArchitectureValues(info.ProcessorInfo.SupportedArchitectures[0])
	}
	for _, i := range w.Images.All() {
		if i.Architecture == arch {
			return aws.ToString(i.ImageId)
		}
	}
	short := map[ec2types.ArchitectureValues]string{ec2types.ArchitectureValuesX8664: "x86_64", ec2types.ArchitectureValuesArm64: "arm64"}[arch]
	id := w.IDs.EC2("ami")
	w.Images.Put(id, &ec2types.Image{
		ImageId: aws.String(id), Architecture: arch, OwnerId: aws.String("602401143452"), ImageOwnerAlias: aws.String("amazon"),
		Name:  aws.String(fmt.Sprintf("amazon-eks-node-al2023-%s-standard-%s-v20261112", short, aws.ToString(ng.Version))),
		State: ec2types.ImageStateAvailable, Public: aws.Bool(true), RootDeviceName: aws.String("/dev/xvda"),
		RootDeviceType: ec2types.DeviceTypeEbs, VirtualizationType: ec2types.VirtualizationTypeHvm,
		Hypervisor: ec2types.HypervisorTypeXen, EnaSupport: aws.Bool(true), ImageType: ec2types.ImageTypeValuesMachine,
	})
	return id
}

// LoadChanges enters the file's changes. The nodegroup may come to be only
// on the way, so it is looked for at the time.
func LoadChanges(w *state.State, changes []worldfile.EKSChange) error {
	var errs []error
	for _, c := range changes {
		if (c.Nodegroup == "") == (c.Addon == "") {
			errs = append(errs, fmt.Errorf("eks.changes at %s: want a nodegroup or an addon", c.At))
			continue
		}
		w.Schedule(w.Start.Add(c.At), func() {
			if err := change(w, c); err != nil {
				w.Log.Warn("change of EKS not made", "at", c.At.String(), "error", err)
			}
		})
	}
	return errors.Join(errs...)
}

// Change gives a nodegroup or an add-on a status now, as EKS does for reasons
// of its own. At is not looked at.
func Change(w *state.State, c worldfile.EKSChange) error {
	defer w.Enter()()
	return change(w, c)
}

func change(w *state.State, c worldfile.EKSChange) error {
	cluster, err := clusterNamed(w, c.Cluster)
	if err != nil {
		return err
	}
	if c.Addon != "" {
		a := w.Addons.Get(state.NodegroupKey(cluster, c.Addon))
		if a == nil {
			return fmt.Errorf("add-on %q is not in cluster %s", c.Addon, cluster)
		}
		status := a.Status
		if c.Status != "" {
			status = ekstypes.AddonStatus(c.Status)
		}
		issues := make([]ekstypes.AddonIssue, 0, len(c.Issues))
		for _, i := range c.Issues {
			issues = append(issues, ekstypes.AddonIssue{Code: ekstypes.AddonIssueCode(i.Code), Message: aws.String(i.Message), ResourceIds: state.Copy(i.ResourceIds)})
		}
		setAddon(w, a, status, issues)
		return nil
	}
	ng := w.Nodegroups.Get(state.NodegroupKey(cluster, c.Nodegroup))
	if ng == nil {
		return fmt.Errorf("nodegroup %q is not in cluster %s", c.Nodegroup, cluster)
	}
	ng.Health = &ekstypes.NodegroupHealth{Issues: make([]ekstypes.Issue, 0, len(c.Issues))}
	for _, i := range c.Issues {
		ng.Health.Issues = append(ng.Health.Issues, ekstypes.Issue{Code: ekstypes.NodegroupIssueCode(i.Code), Message: aws.String(i.Message), ResourceIds: state.Copy(i.ResourceIds)})
	}
	if c.Status != "" {
		nodegroup.SetStatus(w, ng, ekstypes.NodegroupStatus(c.Status))
	}
	ng.ModifiedAt = aws.Time(w.Now)
	return nil
}

// deleteTick is how often EKS looks whether what it deletes is gone.
const deleteTick = 15 * time.Second

// DeleteNodegroup ends a nodegroup's instances and takes away what EKS made
// for it.
func (s API) DeleteNodegroup(in *eks.DeleteNodegroupInput) (*eks.DeleteNodegroupOutput, error) {
	defer s.w.Enter()()
	w := s.w
	ng, err := eksNodegroup(w, in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	switch ng.Status {
	case ekstypes.NodegroupStatusUpdating, ekstypes.NodegroupStatusDeleting:
		return nil, &wire.Error{Code: "ResourceInUseException", Message: "Nodegroup " + *ng.NodegroupName + " cannot be deleted as it is currently in " + string(ng.Status) + " state", Status: 409}
	}
	ng.Health = &ekstypes.NodegroupHealth{Issues: []ekstypes.Issue{}}
	nodegroup.SetStatus(w, ng, ekstypes.NodegroupStatusDeleting)
	for _, g := range w.GroupsOf(ng) {
		g.MinSize, g.MaxSize, g.DesiredCapacity = aws.Int32(0), aws.Int32(0), aws.Int32(0)
		g.WarmPoolConfiguration = nil
		lifecycle.FillWarmPool(w, g)
		endAll(w, g)
	}
	deadline := w.Now.Add(w.File.EKS.Rules.JoinTimeout)
	w.After(max(deleteTick, w.File.EKS.Rules.DeleteTime), func() { deleteStep(w, ng, deadline) })
	return &eks.DeleteNodegroupOutput{Nodegroup: state.Copy(&ng.Nodegroup)}, nil
}

// endAll ends a group's instances, protected or not, unless the group may end
// none.
func endAll(w *state.State, g *state.Group) {
	if g.Suspended("Terminate") {
		return
	}
	var ids []string
	for _, i := range g.Instances {
		if !strings.HasPrefix(string(i.LifecycleState), "Terminat") {
			ids = append(ids, aws.ToString(i.InstanceId))
		}
	}
	for _, id := range ids {
		lifecycle.EndInGroup(w, g, id, "At "+w.Now.UTC().Format(time.RFC3339)+" instance "+id+" was taken out of service in response to a user request.")
	}
}

// deleteStep goes on with a deletion: instances first, then the security group
// of remote access, then the rest.
func deleteStep(w *state.State, ng *state.Nodegroup, deadline time.Time) {
	var left []string
	for _, g := range w.GroupsOf(ng) {
		endAll(w, g) // those of a process that was resumed
		left = append(left, table.Each(g.Instances, func(i astypes.Instance) *string { return i.InstanceId })...)
	}
	if len(left) > 0 {
		if w.Now.Before(deadline) {
			w.After(deleteTick, func() { deleteStep(w, ng, deadline) })
			return
		}
		nodegroup.AddIssue(ng, nodegroup.Issue(ekstypes.NodegroupIssueCodeNodeTerminationFailure, "Instances of the node group could not be terminated", left...))
		nodegroup.SetStatus(w, ng, ekstypes.NodegroupStatusDeleteFailed)
		return
	}
	if sg := remoteGroup(w, ng); sg != "" {
		uses := func(i *ec2types.NetworkInterface) bool {
			return slices.ContainsFunc(i.Groups, func(g ec2types.GroupIdentifier) bool { return aws.ToString(g.GroupId) == sg })
		}
		if slices.ContainsFunc(w.Interfaces.All(), uses) {
			nodegroup.AddIssue(ng, nodegroup.Issue(ekstypes.NodegroupIssueCodeEc2SecurityGroupDeletionFailure, "The security group "+sg+" of the node group's remote access has dependencies and could not be deleted", sg))
			nodegroup.SetStatus(w, ng, ekstypes.NodegroupStatusDeleteFailed)
			return
		}
		w.SecurityGroups.Remove(sg)
	}
	for _, g := range w.GroupsOf(ng) {
		dropGroup(w, g)
	}
	w.Nodegroups.Remove(state.NodegroupKey(aws.ToString(ng.ClusterName), aws.ToString(ng.NodegroupName)))
	if s := nodegroup.StackOf(w, ng); s != nil {
		nodegroup.TellStackOf(w, ng, s, "DELETE_COMPLETE", "")
	}
}

// remoteGroup is the security group that EKS made for remote access.
func remoteGroup(w *state.State, ng *state.Nodegroup) string {
	if ng.Resources == nil || w.SecurityGroups.Get(aws.ToString(ng.Resources.RemoteAccessSecurityGroup)) == nil {
		return ""
	}
	return *ng.Resources.RemoteAccessSecurityGroup
}

// dropGroup takes a nodegroup's empty group away, with its hooks and the
// template that EKS made.
func dropGroup(w *state.State, g *state.Group) {
	for _, h := range w.Hooks.All() {
		if aws.ToString(h.AutoScalingGroupName) == g.Name() {
			w.Hooks.Remove(state.HookKey(g.Name(), aws.ToString(h.LifecycleHookName)))
		}
	}
	if spec := g.TemplateSpec(); spec != nil {
		if t := w.TemplateNamed(aws.ToString(spec.LaunchTemplateId), aws.ToString(spec.LaunchTemplateName)); t != nil && strings.HasPrefix(aws.ToString(t.LaunchTemplateName), "eks-") {
			w.DropTemplate(aws.ToString(t.LaunchTemplateId))
		}
	}
	w.Groups.Remove(g.Name())
}

// deleteClusterTime is how long EKS takes to delete a cluster: some minutes.
const deleteClusterTime = 4 * time.Minute

// DeleteCluster deletes a cluster that has no nodegroups any more. While that
// lasts it is listed and described as DELETING; then it is not found (EKS API
// reference, DeleteCluster: "If your cluster has managed node groups … you must
// delete those first", ResourceInUseException; botocore's waiter ClusterDeleted,
// eks/2017-11-01, waits while DescribeCluster says neither ACTIVE, CREATING nor
// PENDING, until ResourceNotFoundException, which its model gives the status 404).
func (s API) DeleteCluster(in *eks.DeleteClusterInput) (*eks.DeleteClusterOutput, error) {
	defer s.w.Enter()()
	c, err := eksCluster(s.w, in.Name)
	if err != nil {
		return nil, err
	}
	for _, n := range s.w.Nodegroups.All() {
		if aws.ToString(n.ClusterName) == *c.Name {
			return nil, &wire.Error{Code: "ResourceInUseException", Message: "Cluster has nodegroups attached", Status: 409}
		}
	}
	if c.Status == ekstypes.ClusterStatusDeleting {
		return nil, &wire.Error{Code: "ResourceInUseException", Message: "Cluster is already being deleted", Status: 409}
	}
	c.Status = ekstypes.ClusterStatusDeleting
	name := *c.Name
	s.w.After(deleteClusterTime, func() {
		s.w.Clusters.Remove(name)
		for _, a := range s.w.AccessEntries.All() { // they are the cluster's, and go with it
			if aws.ToString(a.ClusterName) == name {
				key := state.NodegroupKey(name, aws.ToString(a.PrincipalArn))
				s.w.AccessEntries.Remove(key)
				delete(s.w.AccessPolicies, key)
			}
		}
	})
	return &eks.DeleteClusterOutput{Cluster: state.Copy(c)}, nil
}

// CompleteNodegroup fills in what a nodegroup leaves out.
func CompleteNodegroup(w *state.State, ng *state.Nodegroup, c *ekstypes.Cluster) {
	cluster, name := aws.ToString(ng.ClusterName), aws.ToString(ng.NodegroupName)
	state.Default(&ng.NodegroupArn, w.ARN("eks", fmt.Sprintf("nodegroup/%s/%s/%s", cluster, name, w.IDs.UUID())))
	state.Default(&ng.Version, aws.ToString(c.Version))
	state.Default(&ng.ReleaseVersion, *ng.Version+".1-20261112")
	state.Default(&ng.CreatedAt, w.Start.Add(-state.Age))
	state.Default(&ng.ModifiedAt, *ng.CreatedAt)
	state.DefaultPlain(&ng.Status, ekstypes.NodegroupStatusActive)
	state.DefaultPlain(&ng.CapacityType, ekstypes.CapacityTypesOnDemand)
	state.DefaultPlain(&ng.AmiType, ekstypes.AMITypesAl2023X8664Standard)
	if ng.InstanceTypes == nil {
		ng.InstanceTypes = []string{"t3.medium"}
	}
	if ng.Health == nil {
		ng.Health = &ekstypes.NodegroupHealth{Issues: []ekstypes.Issue{}}
	}
	if ng.ScalingConfig == nil {
		ng.ScalingConfig = &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(1), MaxSize: aws.Int32(2), DesiredSize: aws.Int32(2)}
	}
	if ng.UpdateConfig == nil {
		ng.UpdateConfig = &ekstypes.NodegroupUpdateConfig{MaxUnavailable: aws.Int32(1)}
	}
	state.Default(&ng.DiskSize, 20)
}

// CompleteNodegroupGroup gives a nodegroup the Auto Scaling group and launch
// template that EKS would have made for it.
func CompleteNodegroupGroup(w *state.State, ng *state.Nodegroup, c *ekstypes.Cluster) error {
	if ng.Resources == nil || len(ng.Resources.AutoScalingGroups) == 0 {
		name := "eks-" + aws.ToString(ng.NodegroupName) + "-" + w.IDs.UUID()
		ng.Resources = &ekstypes.NodegroupResources{AutoScalingGroups: []ekstypes.AutoScalingGroup{{Name: aws.String(name)}}}
	}
	for _, a := range ng.Resources.AutoScalingGroups {
		g := w.Groups.Get(aws.ToString(a.Name))
		if g == nil {
			g = &state.Group{Waits: map[string]*state.HookWait{}}
			g.AutoScalingGroupName = a.Name
			g.MinSize, g.MaxSize, g.DesiredCapacity = ng.ScalingConfig.MinSize, ng.ScalingConfig.MaxSize, ng.ScalingConfig.DesiredSize
			g.CreatedTime = ng.CreatedAt
			g.VPCZoneIdentifier = aws.String(strings.Join(ng.Subnets, ","))
			// EKS turns capacity rebalancing on for Spot (EKS user guide, "Managed
			// node group capacity types").
			g.CapacityRebalance = aws.Bool(ng.CapacityType == ekstypes.CapacityTypesSpot)
			autoscaling.PutGroup(w, g)
		}
		nodegroupTags(w, ng, g)
		if g.TemplateSpec() == nil {
			if err := nodegroupTemplate(w, ng, g, c); err != nil {
				return err
			}
		}
	}
	return nil
}

func nodegroupTags(w *state.State, ng *state.Nodegroup, g *state.Group) {
	cluster := aws.ToString(ng.ClusterName)
	for _, t := range [][2]string{
		{"eks:cluster-name", cluster}, {"eks:nodegroup-name", aws.ToString(ng.NodegroupName)},
		{"k8s.io/cluster-autoscaler/" + cluster, "owned"}, {"k8s.io/cluster-autoscaler/enabled", "true"},
		{"kubernetes.io/cluster/" + cluster, "owned"},
	} {
		if g.Tag(t[0]) == "" {
			g.Tags = append(g.Tags, astypes.TagDescription{
				Key: aws.String(t[0]), Value: aws.String(t[1]), PropagateAtLaunch: aws.Bool(true),
				ResourceId: g.AutoScalingGroupName, ResourceType: aws.String("auto-scaling-group"),
			})
		}
	}
}

// nodegroupTemplate makes the template that EKS derives from a nodegroup: the
// cluster's security group, the role's profile and the image of the release.
func nodegroupTemplate(w *state.State, ng *state.Nodegroup, g *state.Group, c *ekstypes.Cluster) error {
	uuid := strings.TrimPrefix(g.Name(), "eks-"+aws.ToString(ng.NodegroupName)+"-")
	data := &ec2types.ResponseLaunchTemplateData{
		InstanceType: ec2types.InstanceType(ng.InstanceTypes[0]),
		ImageId:      aws.String(nodegroupImage(w, ng)),
		UserData:     aws.String(nodeConfig(c)),
		MetadataOptions: &ec2types.LaunchTemplateInstanceMetadataOptions{
			HttpTokens: ec2types.LaunchTemplateHttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(2),
		},
	}
	if v := c.ResourcesVpcConfig; v != nil && v.ClusterSecurityGroupId != nil {
		data.SecurityGroupIds = []string{*v.ClusterSecurityGroupId}
	}
	role := aws.ToString(ng.NodeRole)
	for _, p := range w.Profiles.All() {
		if len(p.Roles) > 0 && aws.ToString(p.Roles[0].Arn) == role {
			data.IamInstanceProfile = &ec2types.LaunchTemplateIamInstanceProfileSpecification{Name: p.InstanceProfileName}
		}
	}
	for _, kind := range []ec2types.ResourceType{ec2types.ResourceTypeInstance, ec2types.ResourceTypeVolume} {
		data.TagSpecifications = append(data.TagSpecifications, ec2types.LaunchTemplateTagSpecification{
			ResourceType: kind, Tags: []ec2types.Tag{
				{Key: aws.String("eks:cluster-name"), Value: ng.ClusterName},
				{Key: aws.String("eks:nodegroup-name"), Value: ng.NodegroupName},
			},
		})
	}
	v := &ec2types.LaunchTemplateVersion{
		LaunchTemplateId: aws.String(w.IDs.EC2("lt")), LaunchTemplateName: aws.String("eks-" + uuid),
		VersionNumber: aws.Int64(1), DefaultVersion: aws.Bool(true), CreateTime: ng.CreatedAt,
		CreatedBy:          aws.String(fmt.Sprintf("arn:aws:sts::%s:assumed-role/AWSServiceRoleForAmazonEKSNodegroup/EKS", w.Account)),
		LaunchTemplateData: data,
	}
	w.AddTemplateVersion(v)
	spec := &astypes.LaunchTemplateSpecification{LaunchTemplateId: v.LaunchTemplateId, LaunchTemplateName: v.LaunchTemplateName, Version: aws.String("1")}
	policy := &astypes.LaunchTemplate{LaunchTemplateSpecification: spec}
	for _, t := range ng.InstanceTypes {
		if w.InstanceTypes.Get(t) == nil {
			return fmt.Errorf("instance type %q is not known; add it to ec2.InstanceTypes", t)
		}
		policy.Overrides = append(policy.Overrides, astypes.LaunchTemplateOverrides{InstanceType: aws.String(t)})
	}
	onDemand := int32(100)
	if ng.CapacityType == ekstypes.CapacityTypesSpot {
		onDemand = 0
	}
	g.MixedInstancesPolicy = &astypes.MixedInstancesPolicy{
		LaunchTemplate: policy,
		InstancesDistribution: &astypes.InstancesDistribution{
			OnDemandAllocationStrategy: aws.String("prioritized"), OnDemandBaseCapacity: aws.Int32(0),
			OnDemandPercentageAboveBaseCapacity: aws.Int32(onDemand), SpotAllocationStrategy: aws.String("price-capacity-optimized"),
		},
	}
	return nil
}
