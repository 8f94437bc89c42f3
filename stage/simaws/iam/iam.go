// Package iam is the account's IAM API: one method for each operation, and the
// policies that AWS manages.
package iam

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/nodegroup"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
	"rollcall/stage/simaws/worldfile"
)

// API is the world's IAM API, one method for each operation.
type API struct{ w *state.State }

// New is the IAM API of an account.
func New(w *state.State) API { return API{w} }

// iamPage is the page without a size.
const iamPage = 100

func errNoEntity(format string, args ...any) *wire.Error {
	e := wire.Errorf("NoSuchEntity", format, args...)
	e.Status = 404
	return e
}

func role(w *state.State, name *string) (*worldfile.RoleFile, error) {
	if r := w.Roles.Get(aws.ToString(name)); r != nil {
		return r, nil
	}
	return nil, errNoEntity("The role with name %s cannot be found.", aws.ToString(name))
}

// GetRole shows a role.
func (s API) GetRole(in *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
	defer s.w.Enter()()
	r, err := role(s.w, in.RoleName)
	if err != nil {
		return nil, err
	}
	return &iam.GetRoleOutput{Role: state.Copy(&r.Role)}, nil
}

// GetInstanceProfile shows an instance profile with its role.
func (s API) GetInstanceProfile(in *iam.GetInstanceProfileInput) (*iam.GetInstanceProfileOutput, error) {
	defer s.w.Enter()()
	p := s.w.Profiles.Get(aws.ToString(in.InstanceProfileName))
	if p == nil {
		return nil, errNoEntity("Instance Profile %s cannot be found.", aws.ToString(in.InstanceProfileName))
	}
	return &iam.GetInstanceProfileOutput{InstanceProfile: state.Copy(p)}, nil
}

// iamPageOf is one page, IAM's way: a marker and whether more follow.
func iamPageOf[T any](list []*T, id func(*T) *string, size *int32, marker *string) ([]*T, bool, *string, error) {
	n := int32(iamPage)
	if size != nil {
		n = *size
	}
	if n < 1 || n > 1000 {
		return nil, false, nil, wire.Errorf("ValidationError", "1 validation error detected: Value '%d' at 'maxItems' failed to satisfy constraint: Member must have value between 1 and 1000", n)
	}
	list, next, err := table.Page(list, id, marker, int(n), func() *wire.Error { return wire.Errorf("ValidationError", "Invalid Marker.") })
	return list, next != nil, next, err
}

// ListAttachedRolePolicies lists a role's managed policies.
func (s API) ListAttachedRolePolicies(in *iam.ListAttachedRolePoliciesInput) (*iam.ListAttachedRolePoliciesOutput, error) {
	defer s.w.Enter()()
	r, err := role(s.w, in.RoleName)
	if err != nil {
		return nil, err
	}
	rows := make([]*iamtypes.AttachedPolicy, len(r.AttachedManagedPolicies))
	for i := range rows {
		rows[i] = &r.AttachedManagedPolicies[i]
	}
	rows, more, marker, err := iamPageOf(rows, func(p *iamtypes.AttachedPolicy) *string { return p.PolicyArn }, in.MaxItems, in.Marker)
	if err != nil {
		return nil, err
	}
	return &iam.ListAttachedRolePoliciesOutput{AttachedPolicies: state.CopyEach(rows), IsTruncated: more, Marker: marker}, nil
}

// ListRolePolicies lists the names of a role's inline policies.
func (s API) ListRolePolicies(in *iam.ListRolePoliciesInput) (*iam.ListRolePoliciesOutput, error) {
	defer s.w.Enter()()
	r, err := role(s.w, in.RoleName)
	if err != nil {
		return nil, err
	}
	rows := make([]*string, len(r.RolePolicyList))
	for i := range rows {
		rows[i] = new(aws.ToString(r.RolePolicyList[i].PolicyName))
	}
	rows, more, marker, err := iamPageOf(rows, func(p *string) *string { return p }, in.MaxItems, in.Marker)
	if err != nil {
		return nil, err
	}
	return &iam.ListRolePoliciesOutput{PolicyNames: state.CopyEach(rows), IsTruncated: more, Marker: marker}, nil
}

// GetRolePolicy shows an inline policy.
func (s API) GetRolePolicy(in *iam.GetRolePolicyInput) (*iam.GetRolePolicyOutput, error) {
	defer s.w.Enter()()
	r, err := role(s.w, in.RoleName)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(r.RolePolicyList, func(p iamtypes.PolicyDetail) bool { return aws.ToString(p.PolicyName) == aws.ToString(in.PolicyName) })
	if i < 0 {
		return nil, errNoEntity("The role policy with name %s cannot be found.", aws.ToString(in.PolicyName))
	}
	return &iam.GetRolePolicyOutput{RoleName: in.RoleName, PolicyName: in.PolicyName, PolicyDocument: state.Copy(r.RolePolicyList[i].PolicyDocument)}, nil
}

func Policy(w *state.State, arn *string) (*iamtypes.ManagedPolicyDetail, error) {
	if p := w.Policies.Get(aws.ToString(arn)); p != nil {
		return p, nil
	}
	if p := managedPolicy(aws.ToString(arn)); p != nil {
		return p, nil
	}
	return nil, errNoEntity("Policy %s does not exist or is not attachable.", aws.ToString(arn))
}

// Document is the text of a managed policy that is in force; false where there is
// no such policy.
func Document(w *state.State, arn *string) (string, bool) {
	p, err := Policy(w, arn)
	if err != nil {
		return "", false
	}
	for _, v := range p.PolicyVersionList {
		if v.IsDefaultVersion {
			return Plain(v.Document), true
		}
	}
	return "", false
}

// Plain is a document as it was written: IAM's API carries it URL-encoded.
func Plain(text *string) string {
	if plain, err := url.PathUnescape(aws.ToString(text)); err == nil {
		return plain
	}
	return aws.ToString(text)
}

// GetPolicy shows a managed policy.
func (s API) GetPolicy(in *iam.GetPolicyInput) (*iam.GetPolicyOutput, error) {
	defer s.w.Enter()()
	p, err := Policy(s.w, in.PolicyArn)
	if err != nil {
		return nil, err
	}
	return &iam.GetPolicyOutput{Policy: state.Copy(&iamtypes.Policy{
		Arn: p.Arn, AttachmentCount: p.AttachmentCount, CreateDate: p.CreateDate, DefaultVersionId: p.DefaultVersionId, Description: p.Description,
		IsAttachable: p.IsAttachable, Path: p.Path, PermissionsBoundaryUsageCount: p.PermissionsBoundaryUsageCount, PolicyId: p.PolicyId,
		PolicyName: p.PolicyName, UpdateDate: p.UpdateDate,
	})}, nil
}

// GetPolicyVersion shows a version of a managed policy.
func (s API) GetPolicyVersion(in *iam.GetPolicyVersionInput) (*iam.GetPolicyVersionOutput, error) {
	defer s.w.Enter()()
	p, err := Policy(s.w, in.PolicyArn)
	if err != nil {
		return nil, err
	}
	for _, v := range p.PolicyVersionList {
		if aws.ToString(v.VersionId) == aws.ToString(in.VersionId) {
			return &iam.GetPolicyVersionOutput{PolicyVersion: state.Copy(&v)}, nil
		}
	}
	return nil, errNoEntity("Policy %s version %s does not exist or is not attachable.", aws.ToString(in.PolicyArn), aws.ToString(in.VersionId))
}

// ListAccountAliases lists the account's alias: "Amazon Web Services supports only one alias
// per account" (IAM API reference, ListAccountAliases), so that no page is full and no marker
// was ever given. Who calls it for a role of another account gets that account's.
func (s API) ListAccountAliases(in *iam.ListAccountAliasesInput) (*iam.ListAccountAliasesOutput, error) {
	defer s.w.Enter()()
	if in.Marker != nil {
		return nil, wire.Errorf("ValidationError", "Invalid Marker.")
	}
	if n := aws.ToInt32(in.MaxItems); in.MaxItems != nil && (n < 1 || n > 1000) {
		return nil, wire.Errorf("ValidationError", "1 validation error detected: Value '%d' at 'maxItems' failed to satisfy constraint: Member must have value between 1 and 1000", n)
	}
	return &iam.ListAccountAliasesOutput{AccountAliases: append([]string{}, slices.Clone(s.w.AccountAliases)...)}, nil
}

func errDeleteConflict(format string, args ...any) *wire.Error {
	e := wire.Errorf("DeleteConflict", format, args...)
	e.Status = 409
	return e
}

// DetachRolePolicy takes a managed policy from a role.
func (s API) DetachRolePolicy(in *iam.DetachRolePolicyInput) (*iam.DetachRolePolicyOutput, error) {
	defer s.w.Enter()()
	r, err := role(s.w, in.RoleName)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(r.AttachedManagedPolicies, func(p iamtypes.AttachedPolicy) bool {
		return aws.ToString(p.PolicyArn) == aws.ToString(in.PolicyArn)
	})
	if i < 0 {
		return nil, errNoEntity("Policy %s was not found.", aws.ToString(in.PolicyArn))
	}
	r.AttachedManagedPolicies = slices.Delete(r.AttachedManagedPolicies, i, i+1)
	return &iam.DetachRolePolicyOutput{}, nil
}

// DeleteRole takes a role away that has no policies and is in no profile.
func (s API) DeleteRole(in *iam.DeleteRoleInput) (*iam.DeleteRoleOutput, error) {
	defer s.w.Enter()()
	r, err := role(s.w, in.RoleName)
	if err != nil {
		return nil, err
	}
	name := aws.ToString(r.RoleName)
	switch {
	case slices.ContainsFunc(s.w.Profiles.All(), func(p *iamtypes.InstanceProfile) bool { return roleIndex(p, name) >= 0 }):
		return nil, errDeleteConflict("Cannot delete entity, must remove roles from instance profile first.")
	case len(r.AttachedManagedPolicies) > 0:
		return nil, errDeleteConflict("Cannot delete entity, must detach all policies first.")
	case len(r.RolePolicyList) > 0:
		return nil, errDeleteConflict("Cannot delete entity, must delete policies first.")
	}
	s.w.Roles.Remove(name)
	s.w.DeletedRoles[name] = true
	nodegroup.CheckHealthLater(s.w)
	return &iam.DeleteRoleOutput{}, nil
}

func roleIndex(p *iamtypes.InstanceProfile, role string) int {
	return slices.IndexFunc(p.Roles, func(r iamtypes.Role) bool { return aws.ToString(r.RoleName) == role })
}

func profile(w *state.State, name *string) (*iamtypes.InstanceProfile, error) {
	if p := w.Profiles.Get(aws.ToString(name)); p != nil {
		return p, nil
	}
	return nil, errNoEntity("Instance Profile %s cannot be found.", aws.ToString(name))
}

// RemoveRoleFromInstanceProfile leaves a profile without its role.
func (s API) RemoveRoleFromInstanceProfile(in *iam.RemoveRoleFromInstanceProfileInput) (*iam.RemoveRoleFromInstanceProfileOutput, error) {
	defer s.w.Enter()()
	p, err := profile(s.w, in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	i := roleIndex(p, aws.ToString(in.RoleName))
	if i < 0 {
		return nil, errNoEntity("The role with name %s cannot be found in Instance Profile %s.", aws.ToString(in.RoleName), *p.InstanceProfileName)
	}
	p.Roles = slices.Delete(p.Roles, i, i+1)
	return &iam.RemoveRoleFromInstanceProfileOutput{}, nil
}

// DeleteInstanceProfile takes a profile without a role away.
func (s API) DeleteInstanceProfile(in *iam.DeleteInstanceProfileInput) (*iam.DeleteInstanceProfileOutput, error) {
	defer s.w.Enter()()
	p, err := profile(s.w, in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	if len(p.Roles) > 0 {
		return nil, errDeleteConflict("Cannot delete entity, must remove roles from instance profile first.")
	}
	s.w.Profiles.Remove(*p.InstanceProfileName)
	nodegroup.CheckHealthLater(s.w)
	return &iam.DeleteInstanceProfileOutput{}, nil
}

// managedPolicies are the AWS-managed policies that node roles carry: every
// account has them, so a world need not list them. The documents are AWS's own
// (AWS Managed Policy Reference, 2026).
func managedPolicies() map[string]string {
	return map[string]string{
		"AmazonEKSWorkerNodePolicy":          `{"Version":"2012-10-17","Statement":[{"Sid":"WorkerNodePermissions","Effect":"Allow","Action":["ec2:DescribeInstances","ec2:DescribeInstanceTypes","ec2:DescribeRouteTables","ec2:DescribeSecurityGroups","ec2:DescribeSubnets","ec2:DescribeVolumes","ec2:DescribeVolumesModifications","ec2:DescribeVpcs","eks:DescribeCluster","eks-auth:AssumeRoleForPodIdentity"],"Resource":"*"}]}`,
		"AmazonEKSWorkerNodeMinimalPolicy":   `{"Version":"2012-10-17","Statement":[{"Sid":"WorkerNodePermissions","Effect":"Allow","Action":["ec2:DescribeInstances","ec2:DescribeInstanceTypes","ec2:DescribeRouteTables","ec2:DescribeSecurityGroups","ec2:DescribeSubnets","ec2:DescribeVolumes","ec2:DescribeVolumesModifications","ec2:DescribeVpcs","eks:DescribeCluster"],"Resource":"*"},{"Sid":"PodIdentity","Effect":"Allow","Action":"eks-auth:AssumeRoleForPodIdentity","Resource":"*"}]}`,
		"AmazonEC2ContainerRegistryReadOnly": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ecr:GetAuthorizationToken","ecr:BatchCheckLayerAvailability","ecr:GetDownloadUrlForLayer","ecr:GetRepositoryPolicy","ecr:DescribeRepositories","ecr:ListImages","ecr:DescribeImages","ecr:BatchGetImage","ecr:GetLifecyclePolicy","ecr:GetLifecyclePolicyPreview","ecr:ListTagsForResource","ecr:DescribeImageScanFindings"],"Resource":"*"}]}`,
		"AmazonEC2ContainerRegistryPullOnly": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ecr:GetAuthorizationToken","ecr:BatchCheckLayerAvailability","ecr:GetDownloadUrlForLayer","ecr:BatchGetImage","ecr:BatchImportUpstreamImage"],"Resource":"*"}]}`,
		"AmazonEKS_CNI_Policy":               `{"Version":"2012-10-17","Statement":[{"Sid":"AmazonEKSCNIPolicy","Effect":"Allow","Action":["ec2:AssignPrivateIpAddresses","ec2:AttachNetworkInterface","ec2:CreateNetworkInterface","ec2:DeleteNetworkInterface","ec2:DescribeInstances","ec2:DescribeTags","ec2:DescribeNetworkInterfaces","ec2:DescribeInstanceTypes","ec2:DescribeSubnets","ec2:DetachNetworkInterface","ec2:ModifyNetworkInterfaceAttribute","ec2:UnassignPrivateIpAddresses"],"Resource":"*"},{"Sid":"AmazonEKSCNIPolicyENITag","Effect":"Allow","Action":["ec2:CreateTags"],"Resource":["arn:aws:ec2:*:*:network-interface/*"]}]}`,
		"AmazonSSMManagedInstanceCore":       `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ssm:DescribeAssociation","ssm:GetDeployablePatchSnapshotForInstance","ssm:GetDocument","ssm:DescribeDocument","ssm:GetManifest","ssm:GetParameter","ssm:GetParameters","ssm:ListAssociations","ssm:ListInstanceAssociations","ssm:PutInventory","ssm:PutComplianceItems","ssm:PutConfigurePackageResult","ssm:UpdateAssociationStatus","ssm:UpdateInstanceAssociationStatus","ssm:UpdateInstanceInformation"],"Resource":"*"},{"Effect":"Allow","Action":["ssmmessages:CreateControlChannel","ssmmessages:CreateDataChannel","ssmmessages:OpenControlChannel","ssmmessages:OpenDataChannel"],"Resource":"*"},{"Effect":"Allow","Action":["ec2messages:AcknowledgeMessage","ec2messages:DeleteMessage","ec2messages:FailMessage","ec2messages:GetEndpoint","ec2messages:GetMessages","ec2messages:SendReply"],"Resource":"*"}]}`,
	}
}

// managedPolicy is an AWS-managed policy by its ARN, in whichever partition.
func managedPolicy(arn string) *iamtypes.ManagedPolicyDetail {
	name := path.Base(arn)
	document, ok := managedPolicies()[name]
	// arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy
	if parts := strings.Split(arn, ":"); !ok || len(parts) != 6 || parts[4] != "aws" {
		return nil
	}
	return &iamtypes.ManagedPolicyDetail{
		Arn: aws.String(arn), PolicyName: aws.String(name), DefaultVersionId: aws.String("v1"), IsAttachable: true, Path: aws.String("/"),
		PolicyVersionList: []iamtypes.PolicyVersion{{VersionId: aws.String("v1"), IsDefaultVersion: true, Document: aws.String(url.QueryEscape(document))}},
	}
}
