package eks

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/autoscaling"
	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/nodegroup"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
)

// groupTime is how long EKS takes until a new nodegroup's Auto Scaling group
// begins to launch.
const groupTime = 15 * time.Second

const (
	terminateHook = "Terminate-LC-Hook"
	// hookTimeout is the heartbeat of EKS's own hooks, in seconds.
	hookTimeout = 1800
)

// CreateNodegroup makes a nodegroup with its Auto Scaling group. It is
// CREATING until its nodes are Ready.
func (s API) CreateNodegroup(in *eks.CreateNodegroupInput) (*eks.CreateNodegroupOutput, error) {
	defer s.w.Enter()()
	w := s.w
	c, err := eksCluster(w, in.ClusterName)
	if err != nil {
		return nil, err
	}
	size, err := checkNodegroup(w, in)
	if err != nil {
		return nil, err
	}
	ng := &state.Nodegroup{Nodegroup: state.Copy(ekstypes.Nodegroup{
		ClusterName: in.ClusterName, NodegroupName: in.NodegroupName, NodeRole: in.NodeRole, Subnets: in.Subnets,
		AmiType: in.AmiType, CapacityType: in.CapacityType, DiskSize: in.DiskSize, InstanceTypes: in.InstanceTypes,
		Labels: in.Labels, LaunchTemplate: in.LaunchTemplate, NodeRepairConfig: in.NodeRepairConfig, ReleaseVersion: in.ReleaseVersion,
		RemoteAccess: in.RemoteAccess, ScalingConfig: &size, Tags: in.Tags, Taints: in.Taints, UpdateConfig: in.UpdateConfig,
		Version: in.Version, CreatedAt: aws.Time(w.Now),
	})}
	takeFromTemplate(w, ng)
	CompleteNodegroup(w, ng, c)
	w.Nodegroups.Put(state.NodegroupKey(*in.ClusterName, *in.NodegroupName), ng)
	grantNodegroup(w, ng, c)
	if err := CompleteNodegroupGroup(w, ng, c); err != nil {
		w.Nodegroups.Remove(state.NodegroupKey(*in.ClusterName, *in.NodegroupName))
		return nil, wire.Errorf("InvalidParameterException", "%s", err)
	}
	for _, g := range w.GroupsOf(ng) {
		overlayTemplate(w, ng.LaunchTemplate, g)
		putNodegroupHooks(w, g)
		applyWarmPool(w, ng, g, state.Copy(in.WarmPoolConfig))
		lifecycle.ReconcileLater(w, g, groupTime)
	}
	nodegroup.SetStatus(w, ng, ekstypes.NodegroupStatusCreating)
	nodegroup.WatchCreation(w, ng)
	return &eks.CreateNodegroupOutput{Nodegroup: state.Copy(&ng.Nodegroup)}, nil
}

// checkNodegroup says whether EKS would take a new nodegroup, and its size.
func checkNodegroup(w *state.State, in *eks.CreateNodegroupInput) (ekstypes.NodegroupScalingConfig, error) {
	size := ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(1), MaxSize: aws.Int32(2), DesiredSize: aws.Int32(2)}
	bad := func(format string, args ...any) (ekstypes.NodegroupScalingConfig, error) {
		return size, wire.Errorf("InvalidParameterException", format, args...)
	}
	name, role := aws.ToString(in.NodegroupName), ids.NameInARN(aws.ToString(in.NodeRole))
	switch {
	case name == "":
		return bad("nodegroupName can't be empty.")
	case !strings.HasPrefix(aws.ToString(in.NodeRole), "arn:"):
		return bad("The provided nodeRole is invalid.")
	case w.Roles.Get(role) == nil:
		return bad("Following required service role could not be found: %s", aws.ToString(in.NodeRole))
	case len(in.Subnets) == 0:
		return bad("Subnets can't be empty.")
	}
	if w.Nodegroups.Get(state.NodegroupKey(*in.ClusterName, name)) != nil {
		return size, &wire.Error{Code: "ResourceInUseException", Message: "NodeGroup already exists with name " + name + " and cluster name " + *in.ClusterName, Status: 409}
	}
	for _, id := range in.Subnets {
		if w.Subnets.Get(id) == nil {
			return bad("The subnet ID '%s' does not exist", id)
		}
	}
	for _, t := range in.InstanceTypes {
		if w.InstanceTypes.Get(t) == nil {
			return bad("The following instance types do not exist: [%s]", t)
		}
	}
	if err := refusedNodegroup(w, in); err != nil {
		return size, err
	}
	return newSize(&size, in.ScalingConfig)
}

// grantNodegroup gives a nodegroup's role what EKS gives it: a profile, and an
// access entry in clusters that have them.
func grantNodegroup(w *state.State, ng *state.Nodegroup, c *ekstypes.Cluster) {
	role := w.Roles.Get(ids.NameInARN(aws.ToString(ng.NodeRole)))
	if role == nil {
		return
	}
	arn := aws.ToString(role.Arn)
	if a := c.AccessConfig; (a == nil || a.AuthenticationMode != ekstypes.AuthenticationModeConfigMap) && w.AccessEntries.Get(state.NodegroupKey(aws.ToString(c.Name), arn)) == nil {
		PutAccessEntry(w, &ekstypes.AccessEntry{ClusterName: c.Name, PrincipalArn: aws.String(arn), Type: aws.String(entryType(ng.AmiType))})
	}
	has := func(p *iamtypes.InstanceProfile) bool {
		return len(p.Roles) > 0 && aws.ToString(p.Roles[0].RoleName) == aws.ToString(role.RoleName)
	}
	if slices.ContainsFunc(w.Profiles.All(), has) {
		return
	}
	name := "eks-" + w.IDs.UUID()
	w.Profiles.Put(name, &iamtypes.InstanceProfile{
		InstanceProfileName: aws.String(name), Path: aws.String("/"), CreateDate: aws.Time(w.Now), Roles: []iamtypes.Role{state.Copy(role.Role)},
		Arn: aws.String("arn:aws:iam::" + w.Account + ":instance-profile/" + name), InstanceProfileId: aws.String("AIPA" + strings.ToUpper(w.IDs.Hex(17))),
	})
}

// entryType is the type of the access entry that EKS makes for a nodegroup's role.
func entryType(t ekstypes.AMITypes) string {
	if strings.HasPrefix(string(t), "WINDOWS_") {
		return "EC2_WINDOWS"
	}
	return "EC2_LINUX"
}

// takeFromTemplate gives a nodegroup what its launch template says of images and
// types.
func takeFromTemplate(w *state.State, ng *state.Nodegroup) {
	t := ng.LaunchTemplate
	if t == nil {
		return
	}
	v := w.TemplateVersion(aws.ToString(t.Id), aws.ToString(t.Name), aws.ToString(t.Version))
	if v == nil || v.LaunchTemplateData == nil {
		return
	}
	if v.LaunchTemplateData.ImageId != nil {
		ng.AmiType = ekstypes.AMITypesCustom
	}
	if kind := v.LaunchTemplateData.InstanceType; kind != "" && len(ng.InstanceTypes) == 0 {
		ng.InstanceTypes = []string{string(kind)}
	}
}

// overlayTemplate puts what the user's launch template says over the template
// that EKS has made.
func overlayTemplate(w *state.State, t *ekstypes.LaunchTemplateSpecification, g *state.Group) {
	own := w.GroupTemplate(g)
	if t == nil || own == nil {
		return
	}
	from := w.TemplateVersion(aws.ToString(t.Id), aws.ToString(t.Name), aws.ToString(t.Version))
	if from == nil || from.LaunchTemplateData == nil {
		return
	}
	d := state.Copy(*from.LaunchTemplateData)
	if d.ImageId != nil {
		own.LaunchTemplateData.ImageId = d.ImageId
		own.LaunchTemplateData.UserData = d.UserData // with an own image EKS adds nothing to it
	}
	if len(d.SecurityGroupIds) > 0 {
		own.LaunchTemplateData.SecurityGroupIds = d.SecurityGroupIds
	}
	if d.InstanceType != "" {
		own.LaunchTemplateData.InstanceType = d.InstanceType
	}
	if m := d.MetadataOptions; m != nil && m.HttpEndpoint != "" {
		own.LaunchTemplateData.MetadataOptions.HttpEndpoint = m.HttpEndpoint
	}
	if len(d.NetworkInterfaces) > 0 {
		own.LaunchTemplateData.NetworkInterfaces = d.NetworkInterfaces
		if len(d.NetworkInterfaces[0].Groups) > 0 {
			own.LaunchTemplateData.SecurityGroupIds = nil
		}
	}
}

// putNodegroupHooks gives a group the two hooks that EKS keeps on it.
func putNodegroupHooks(w *state.State, g *state.Group) {
	for _, hook := range [][2]string{{lifecycle.LaunchHook, state.TransitionLaunching}, {terminateHook, state.TransitionTerminating}} {
		h := &astypes.LifecycleHook{
			AutoScalingGroupName: state.Copy(g.AutoScalingGroupName), LifecycleHookName: aws.String(hook[0]), LifecycleTransition: aws.String(hook[1]),
			DefaultResult: aws.String("CONTINUE"), HeartbeatTimeout: aws.Int32(hookTimeout),
		}
		autoscaling.CompleteHookDefaults(h)
		w.Hooks.Put(state.HookKey(g.Name(), hook[0]), h)
	}
}

// createClusterTime is how long EKS takes to make a cluster: "several minutes" (API
// reference, CreateCluster).
const createClusterTime = 9 * time.Minute

// CreateCluster makes a cluster, of a new name or of one that was deleted: with the security
// group that is named first as its own, and without nodes, access entries and add-ons. It is
// described as CREATING until it is ACTIVE. A name that there is is a ResourceInUseException
// (EKS API reference, CreateCluster, "Errors", status 409).
func (s API) CreateCluster(in *eks.CreateClusterInput) (*eks.CreateClusterOutput, error) {
	defer s.w.Enter()()
	name := aws.ToString(in.Name)
	switch {
	case s.w.Clusters.Get(name) != nil:
		return nil, &wire.Error{Code: "ResourceInUseException", Message: "Cluster already exists with name: " + name, Status: 409}
	case in.ResourcesVpcConfig == nil || len(in.ResourcesVpcConfig.SubnetIds) < 2:
		return nil, wire.Errorf("InvalidParameterException", "Subnets specified must be in at least two different AZs")
	}
	subnet := s.w.Subnets.Get(in.ResourcesVpcConfig.SubnetIds[0])
	if subnet == nil {
		return nil, wire.Errorf("InvalidParameterException", "The subnet ID '%s' does not exist", in.ResourcesVpcConfig.SubnetIds[0])
	}
	now := s.w.Now
	vpc := &ekstypes.VpcConfigResponse{
		VpcId: subnet.VpcId, SubnetIds: in.ResourcesVpcConfig.SubnetIds, SecurityGroupIds: in.ResourcesVpcConfig.SecurityGroupIds,
		EndpointPublicAccess:  in.ResourcesVpcConfig.EndpointPublicAccess == nil || *in.ResourcesVpcConfig.EndpointPublicAccess,
		EndpointPrivateAccess: aws.ToBool(in.ResourcesVpcConfig.EndpointPrivateAccess), PublicAccessCidrs: []string{"0.0.0.0/0"},
	}
	if len(in.ResourcesVpcConfig.SecurityGroupIds) > 0 {
		vpc.ClusterSecurityGroupId = aws.String(in.ResourcesVpcConfig.SecurityGroupIds[0])
	}
	c := &ekstypes.Cluster{
		Name: in.Name, Arn: aws.String(s.w.ARN("eks", "cluster/"+name)), RoleArn: in.RoleArn, Version: aws.String(aws.ToString(in.Version)), Status: ekstypes.ClusterStatusCreating,
		CreatedAt: aws.Time(now), ResourcesVpcConfig: vpc, AccessConfig: &ekstypes.AccessConfigResponse{AuthenticationMode: ekstypes.AuthenticationModeApiAndConfigMap},
		Endpoint: aws.String("https://" + strings.ToUpper(s.w.IDs.Hex(32)) + ".gr7." + s.w.Region + ".eks.amazonaws.com"),
	}
	s.w.Clusters.Put(name, c)
	s.w.Kubernetes[name] = &kubestate.Cluster{Name: name, Nodes: table.New[map[string]any](), Objects: map[string][]map[string]any{}, Version: 1000}
	s.w.After(createClusterTime, func() { c.Status = ekstypes.ClusterStatusActive })
	return &eks.CreateClusterOutput{Cluster: state.Copy(c)}, nil
}

// refusedNodegroup says what EKS refuses of a nodegroup whose parts exist, but do
// not go together (EKS API reference, CreateNodegroup; user guide, "Customize
// managed nodes with launch templates" and "Subnet requirements for nodes").
func refusedNodegroup(w *state.State, in *eks.CreateNodegroupInput) error {
	bad := func(format string, args ...any) error {
		return wire.Errorf("InvalidParameterException", format, args...)
	}
	c := w.Clusters.Get(*in.ClusterName)
	for _, id := range in.Subnets {
		if v := c.ResourcesVpcConfig; v != nil && v.VpcId != nil && aws.ToString(w.Subnets.Get(id).VpcId) != *v.VpcId {
			return bad("Subnets are not tagged with the required tag or are not in the VPC of the cluster: [%s]", id)
		}
	}
	if in.AmiType != "" && !slices.Contains(in.AmiType.Values(), in.AmiType) {
		return bad("The amiType %s is not valid", in.AmiType)
	}
	if strings.HasPrefix(string(in.AmiType), "AL2_") && !slices.Contains([]string{"1.30", "1.31", "1.32"}, aws.ToString(c.Version)) {
		return bad("Requested AMI type %s is not supported for kubernetes version %s", in.AmiType, aws.ToString(c.Version))
	}
	if in.Version != nil && *in.Version != aws.ToString(c.Version) {
		return bad("Requested Nodegroup version %s is not the version %s of the cluster", *in.Version, aws.ToString(c.Version))
	}
	var data *ec2types.ResponseLaunchTemplateData
	if t := in.LaunchTemplate; t != nil {
		v := w.TemplateVersion(aws.ToString(t.Id), aws.ToString(t.Name), aws.ToString(t.Version))
		if v == nil {
			return bad("Launch template details can't be found: %s", aws.ToString(t.Id)+aws.ToString(t.Name))
		}
		data = v.LaunchTemplateData
	}
	if err := refusedBeside(in, data); err != nil {
		return err
	}
	return refusedArchitecture(w, in)
}

// refusedBeside says what a request may not say beside its launch template.
func refusedBeside(in *eks.CreateNodegroupInput, d *ec2types.ResponseLaunchTemplateData) error {
	bad := func(format string, args ...any) error {
		return wire.Errorf("InvalidParameterException", format, args...)
	}
	custom := d != nil && d.ImageId != nil
	switch {
	case d == nil && in.AmiType == ekstypes.AMITypesCustom:
		return bad("AMI type CUSTOM needs a launch template with an image")
	case d == nil && in.DiskSize != nil && *in.DiskSize < leastDisk(in.AmiType):
		return bad("Volume of size %dGB is smaller than snapshot, expect size >= %dGB", *in.DiskSize, leastDisk(in.AmiType))
	case d == nil:
		return nil
	case in.DiskSize != nil:
		return bad("Disk size must be specified within the launch template.")
	case in.RemoteAccess != nil:
		return bad("Remote access configuration cannot be specified with a launch template.")
	case d.IamInstanceProfile != nil:
		return bad("Launch template should not specify an instance profile. The noderole in your request will be used to construct an instance profile.")
	case d.InstanceType != "" && len(in.InstanceTypes) > 0:
		return bad("Instance types cannot be specified both in the launch template and in the request.")
	case custom && in.AmiType != "" && in.AmiType != ekstypes.AMITypesCustom:
		return bad("You cannot specify the field amiType when using custom AMIs.")
	case custom && in.Version != nil:
		return bad("You cannot specify the field kubernetesVersion when using custom AMIs.")
	}
	return nil
}

// leastDisk is the root volume of EKS's images in GiB.
func leastDisk(t ekstypes.AMITypes) int32 {
	switch {
	case strings.HasPrefix(string(t), "WINDOWS_"):
		return 50
	case strings.HasPrefix(string(t), "BOTTLEROCKET_"):
		return 1
	}
	return 20
}

func refusedArchitecture(w *state.State, in *eks.CreateNodegroupInput) error {
	want := ec2types.ArchitectureType("")
	switch {
	case strings.Contains(string(in.AmiType), "ARM_64"):
		want = ec2types.ArchitectureTypeArm64
	case strings.Contains(string(in.AmiType), "x86_64"):
		want = ec2types.ArchitectureTypeX8664
	}
	for _, t := range in.InstanceTypes {
		if p := w.InstanceTypes.Get(t).ProcessorInfo; want != "" && p != nil && !slices.Contains(p.SupportedArchitectures, want) {
			return wire.Errorf("InvalidParameterException", "[%s] is not a valid instance type for requested amiType %s", t, in.AmiType)
		}
	}
	return nil
}
