package world

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/stage/simaws/addresses"
	"rollcall/stage/simaws/autoscaling"
	"rollcall/stage/simaws/ec2"
	"rollcall/stage/simaws/eks"
	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/nodegroup"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
	"rollcall/stage/simaws/worldfile"
)

// loadGatewayInterfaces gives NAT gateways and interface endpoints the
// addresses that they hold in their subnets, unless the file lists them.
func loadGatewayInterfaces(w *state.State, _ *worldfile.File) error {
	listed := map[string]bool{}
	for _, n := range w.File.EC2.NetworkInterfaces {
		listed[aws.ToString(n.NetworkInterfaceId)] = true
	}
	var errs []error
	for _, n := range w.NATGateways.All() {
		id := aws.ToString(n.NatGatewayId)
		if n.AvailabilityMode == ec2types.AvailabilityModeRegional {
			continue // it stands in no subnet
		}
		if (n.State != ec2types.NatGatewayStateAvailable && n.State != ec2types.NatGatewayStatePending) || (len(n.NatGatewayAddresses) > 0 && listed[aws.ToString(n.NatGatewayAddresses[0].NetworkInterfaceId)]) {
			continue
		}
		errs = append(errs, ec2.NATInterface(w, n, id))
	}
	for _, e := range w.Endpoints.All() {
		if e.VpcEndpointType != ec2types.VpcEndpointTypeInterface || len(e.NetworkInterfaceIds) > 0 {
			continue
		}
		errs = append(errs, ec2.EndpointInterfaces(w, e))
	}
	return errors.Join(errs...)
}

func loadTemplates(w *state.State, f *worldfile.File) error {
	for _, row := range instanceTypeTable() {
		w.InstanceTypes.Put(row.name, row.info())
	}
	for i := range f.EC2.InstanceTypes {
		t := &f.EC2.InstanceTypes[i]
		w.InstanceTypes.Put(string(t.InstanceType), t)
	}
	for i := range f.EC2.Images {
		state.Default(&f.EC2.Images[i].OwnerId, "602401143452") // EKS's own images in most regions
		state.DefaultPlain(&f.EC2.Images[i].State, ec2types.ImageStateAvailable)
	}
	for i := range f.EC2.LaunchTemplateVersions {
		v := &f.EC2.LaunchTemplateVersions[i]
		state.Default(&v.VersionNumber, 1)
		state.Default(&v.DefaultVersion, *v.VersionNumber == 1)
		state.Default(&v.CreateTime, w.Start.Add(-state.Age))
		state.Default(&v.CreatedBy, fmt.Sprintf("arn:aws:iam::%s:root", w.Account))
		w.AddTemplateVersion(v)
	}
	for i := range f.EC2.LaunchTemplates {
		t := &f.EC2.LaunchTemplates[i]
		w.Templates.Put(aws.ToString(t.LaunchTemplateId), t)
	}
	return errors.Join(
		fill(w.Images, f.EC2.Images, "ec2.Images", func(v *ec2types.Image) *string { return v.ImageId }),
		fill(w.PlacementGroups, f.EC2.PlacementGroups, "ec2.PlacementGroups", func(v *ec2types.PlacementGroup) *string { return v.GroupId }),
		fill(w.CapacityReservations, f.EC2.CapacityReservations, "ec2.CapacityReservations", func(v *ec2types.CapacityReservation) *string { return v.CapacityReservationId }),
	)
}

func loadClusters(w *state.State, f *worldfile.File) error {
	for i := range f.EKS.Clusters {
		c := &f.EKS.Clusters[i]
		name := aws.ToString(c.Name)
		state.Default(&c.Arn, w.ARN("eks", "cluster/"+name))
		state.Default(&c.Endpoint, "https://"+strings.ToUpper(w.IDs.Hex(32))+".gr7."+w.Region+".eks.amazonaws.com")
		state.Default(&c.CreatedAt, w.Start.Add(-state.Age))
		state.DefaultPlain(&c.Status, ekstypes.ClusterStatusActive)
		w.Kubernetes[name] = &kubestate.Cluster{Name: name, Nodes: table.New[map[string]any](), Objects: map[string][]map[string]any{}, Version: 1000}
	}
	for i := range f.EKS.Addons {
		a := &f.EKS.Addons[i]
		state.Default(&a.AddonArn, w.ARN("eks", fmt.Sprintf("addon/%s/%s/%s", aws.ToString(a.ClusterName), aws.ToString(a.AddonName), w.IDs.UUID())))
		state.Default(&a.CreatedAt, w.Start.Add(-state.Age))
		state.Default(&a.ModifiedAt, w.Start.Add(-state.Age))
		state.DefaultPlain(&a.Status, ekstypes.AddonStatusActive)
		if a.Health == nil {
			a.Health = &ekstypes.AddonHealth{Issues: []ekstypes.AddonIssue{}}
		}
		w.Addons.Put(state.NodegroupKey(aws.ToString(a.ClusterName), aws.ToString(a.AddonName)), a)
	}
	for i := range f.EKS.PodIdentityAssociations {
		eks.PutPodIdentity(w, &f.EKS.PodIdentityAssociations[i])
	}
	for i := range f.EKS.AccessEntries {
		eks.PutAccessEntry(w, &f.EKS.AccessEntries[i])
	}
	for _, p := range f.EKS.AccessPolicies {
		for _, a := range p.AssociatedAccessPolicies {
			eks.AssociatePolicy(w, state.NodegroupKey(p.ClusterName, p.PrincipalArn), a)
		}
	}
	return fill(w.Clusters, f.EKS.Clusters, "eks.clusters", func(v *ekstypes.Cluster) *string { return v.Name })
}

func loadGroups(w *state.State, f *worldfile.File) error {
	var errs []error
	for i := range f.AutoScaling.AutoScalingGroups {
		g := &state.Group{AutoScalingGroup: f.AutoScaling.AutoScalingGroups[i], Waits: map[string]*state.HookWait{}}
		if g.Name() == "" || w.Groups.Get(g.Name()) != nil {
			errs = append(errs, fmt.Errorf("autoscaling.AutoScalingGroups[%d] has no name of its own", i))
			continue
		}
		autoscaling.PutGroup(w, g)
	}
	for i := range f.AutoScaling.LifecycleHooks {
		h := &f.AutoScaling.LifecycleHooks[i]
		autoscaling.CompleteHookDefaults(h)
		if aws.ToString(h.LifecycleTransition) != state.TransitionLaunching && aws.ToString(h.LifecycleTransition) != state.TransitionTerminating {
			errs = append(errs, fmt.Errorf("autoscaling.LifecycleHooks[%d]: unknown transition %q", i, aws.ToString(h.LifecycleTransition)))
		}
		w.Hooks.Put(state.HookKey(aws.ToString(h.AutoScalingGroupName), aws.ToString(h.LifecycleHookName)), h)
	}
	return errors.Join(errs...)
}

func loadInstances(w *state.State, f *worldfile.File) error {
	list := slices.Clone(f.EC2.Instances)
	inReservation := map[string]string{}
	for _, r := range f.EC2.Reservations {
		w.Reservations[aws.ToString(r.ReservationId)] = ec2types.Reservation{ReservationId: r.ReservationId, OwnerId: r.OwnerId, RequesterId: r.RequesterId, Groups: r.Groups}
		for _, in := range r.Instances {
			inReservation[aws.ToString(in.InstanceId)] = aws.ToString(r.ReservationId)
			list = append(list, in)
		}
	}
	for id, data := range f.EC2.UserData {
		w.UserData[id] = data
	}
	for id, text := range f.EC2.ConsoleOutput {
		w.Console[id] = text
	}
	var errs []error
	if err := fill(w.Instances, list, "ec2.Instances", func(v *ec2types.Instance) *string { return v.InstanceId }); err != nil {
		return err
	}
	for _, in := range w.Instances.All() {
		if err := completeInstance(w, in); err != nil {
			errs = append(errs, fmt.Errorf("ec2.Instances %s: %w", aws.ToString(in.InstanceId), err))
			continue
		}
		if r := inReservation[*in.InstanceId]; r != "" {
			w.ReservationOf[*in.InstanceId] = r
		} else {
			lifecycle.Reserve(w, in, "")
		}
		resume(w, in)
	}
	return errors.Join(errs...)
}

func completeInstance(w *state.State, in *ec2types.Instance) error {
	for _, g := range w.Groups.All() {
		if v := w.GroupTemplate(g); g.Member(*in.InstanceId) != nil && v != nil && v.LaunchTemplateData != nil {
			state.DefaultPlain(&in.InstanceType, v.LaunchTemplateData.InstanceType)
			if v.LaunchTemplateData.ImageId != nil {
				state.Default(&in.ImageId, *v.LaunchTemplateData.ImageId)
			}
		}
	}
	state.DefaultPlain(&in.InstanceType, "t3.medium")
	state.DefaultPlain(&in.Architecture, ec2types.ArchitectureValuesX8664)
	state.Default(&in.LaunchTime, w.Start.Add(-state.Age))
	state.Default(&in.ImageId, w.IDs.EC2("ami"))
	state.Default(&in.StateTransitionReason, "")
	if in.State == nil {
		in.State = state.InstanceState(ec2types.InstanceStateNameRunning)
	}
	if in.MetadataOptions == nil {
		in.MetadataOptions = state.MetadataOptions()
	}
	if in.Monitoring == nil {
		in.Monitoring = &ec2types.Monitoring{State: ec2types.MonitoringStateDisabled}
	}
	if in.Placement == nil {
		in.Placement = &ec2types.Placement{}
	}
	if s := w.Subnets.Get(aws.ToString(in.SubnetId)); s != nil {
		state.Default(&in.VpcId, aws.ToString(s.VpcId))
		state.Default(&in.Placement.AvailabilityZone, aws.ToString(s.AvailabilityZone))
		state.Default(&in.Placement.AvailabilityZoneId, aws.ToString(s.AvailabilityZoneId))
	} else if in.SubnetId != nil {
		return fmt.Errorf("subnet %q is not in the world", *in.SubnetId)
	} else if !state.Ended(in) && len(in.NetworkInterfaces) == 0 {
		return errors.New("no subnet")
	}
	return nil
}

// resume has what was under way at the start go on.
func resume(w *state.State, in *ec2types.Instance) {
	id := *in.InstanceId
	switch in.State.Name {
	case ec2types.InstanceStateNamePending:
		w.After(w.RunningTime(), func() { lifecycle.BecomeRunning(w, id) })
	case ec2types.InstanceStateNameShuttingDown:
		w.After(lifecycle.ShutdownTime, func() { lifecycle.BecomeTerminated(w, id) })
	case ec2types.InstanceStateNameTerminated:
		w.After(state.TerminatedTime, func() { lifecycle.ForgetInstance(w, id) })
	}
}

// loadPrimaries makes the primary interface of instances listed without one.
func loadPrimaries(w *state.State, _ *worldfile.File) error {
	var errs []error
	// Addresses that the file names are taken before any is chosen.
	for _, named := range []bool{true, false} {
		for _, in := range w.Instances.All() {
			id := *in.InstanceId
			if (in.PrivateIpAddress != nil) != named || in.State.Name == ec2types.InstanceStateNameTerminated {
				continue
			}
			if err := primaryFor(w, in); err != nil {
				errs = append(errs, fmt.Errorf("ec2.Instances %s: %w", id, err))
			}
		}
	}
	return errors.Join(errs...)
}

func primaryFor(w *state.State, in *ec2types.Instance) error {
	id := *in.InstanceId
	if enis := w.InterfacesOf(id); len(enis) > 0 {
		state.Default(&in.PrivateIpAddress, *enis[0].PrivateIpAddress)
		state.Default(&in.PrivateDnsName, *enis[0].PrivateDnsName)
		state.Default(&in.SubnetId, *enis[0].SubnetId)
		state.Default(&in.VpcId, *enis[0].VpcId)
		if len(in.SecurityGroups) == 0 {
			in.SecurityGroups = slices.Clone(enis[0].Groups)
		}
		return nil
	}
	groups := state.InstanceGroups(in)
	if len(groups) == 0 {
		groups = groupsForNode(w, in)
	}
	eni, err := w.CreateInterface(state.InterfaceSpec{Subnet: aws.ToString(in.SubnetId), Groups: groups, Primary: aws.ToString(in.PrivateIpAddress)})
	if err != nil {
		return err
	}
	w.Attach(eni, id, 0, true)
	eni.Attachment.AttachTime = in.LaunchTime
	in.PrivateIpAddress, in.SecurityGroups = eni.PrivateIpAddress, slices.Clone(eni.Groups)
	state.Default(&in.PrivateDnsName, *eni.PrivateDnsName)
	if ip := aws.ToString(in.PublicIpAddress); ip == "" && aws.ToBool(w.Subnets.Get(*eni.SubnetId).MapPublicIpOnLaunch) {
		lifecycle.GivePublicIP(w, in, eni)
	}
	return nil
}

// groupsForNode is the cluster's security group for a node, the VPC's default
// one for others.
func groupsForNode(w *state.State, in *ec2types.Instance) []string {
	if c := w.Clusters.Get(w.ClusterOf(*in.InstanceId)); c != nil && c.ResourcesVpcConfig != nil && c.ResourcesVpcConfig.ClusterSecurityGroupId != nil {
		return []string{*c.ResourcesVpcConfig.ClusterSecurityGroupId}
	}
	for _, g := range w.Groups.All() {
		if g.Member(*in.InstanceId) == nil {
			continue
		}
		if c := w.Clusters.Get(g.Tag("eks:cluster-name")); c != nil && c.ResourcesVpcConfig != nil && c.ResourcesVpcConfig.ClusterSecurityGroupId != nil {
			return []string{*c.ResourcesVpcConfig.ClusterSecurityGroupId}
		}
	}
	return w.DefaultGroup(aws.ToString(in.VpcId))
}

// loadManaged makes the managed parts of the managed instances that the file
// lists.
func loadManaged(w *state.State, _ *worldfile.File) error {
	var errs []error
	for _, in := range w.Instances.All() {
		if in.Operator != nil && in.Operator.Principal != nil {
			in.Operator.Managed = aws.Bool(true)
		}
		if !state.IsManaged(in.Operator) || state.Ended(in) {
			continue
		}
		if err := w.ManageParts(in); err != nil {
			errs = append(errs, fmt.Errorf("ec2.Instances %s: %w", aws.ToString(in.InstanceId), err))
		}
	}
	return errors.Join(errs...)
}

// loadInterfaces keeps the interfaces that the file lists, by themselves or
// inside an instance, and takes their addresses.
func loadInterfaces(w *state.State, f *worldfile.File) error {
	list := slices.Clone(f.EC2.NetworkInterfaces)
	listed := map[string]bool{}
	for _, n := range list {
		listed[aws.ToString(n.NetworkInterfaceId)] = true
	}
	for _, in := range w.Instances.All() {
		for _, n := range in.NetworkInterfaces {
			if !listed[aws.ToString(n.NetworkInterfaceId)] {
				list = append(list, interfaceOfInstance(in, n))
			}
		}
		in.NetworkInterfaces = nil
	}
	if err := fill(w.Interfaces, list, "ec2.NetworkInterfaces", func(v *ec2types.NetworkInterface) *string { return v.NetworkInterfaceId }); err != nil {
		return err
	}
	var errs []error
	for _, eni := range w.Interfaces.All() {
		if err := completeInterface(w, eni); err != nil {
			errs = append(errs, fmt.Errorf("ec2.NetworkInterfaces %s: %w", *eni.NetworkInterfaceId, err))
		}
	}
	return errors.Join(errs...)
}

func completeInterface(w *state.State, eni *ec2types.NetworkInterface) error {
	s := w.Subnets.Get(aws.ToString(eni.SubnetId))
	if s == nil {
		return fmt.Errorf("subnet %q is not in the world", aws.ToString(eni.SubnetId))
	}
	p := w.Pools[*s.SubnetId]
	state.Default(&eni.VpcId, aws.ToString(s.VpcId))
	state.Default(&eni.AvailabilityZone, aws.ToString(s.AvailabilityZone))
	state.Default(&eni.OwnerId, w.Account)
	state.Default(&eni.Description, "")
	state.Default(&eni.RequesterManaged, false)
	state.Default(&eni.SourceDestCheck, true)
	state.Default(&eni.MacAddress, w.IDs.MAC())
	state.DefaultPlain(&eni.InterfaceType, ec2types.NetworkInterfaceTypeInterface)
	if len(eni.PrivateIpAddresses) == 0 && eni.PrivateIpAddress != nil {
		eni.PrivateIpAddresses = []ec2types.NetworkInterfacePrivateIpAddress{{Primary: aws.Bool(true), PrivateIpAddress: eni.PrivateIpAddress}}
	}
	for i := range eni.PrivateIpAddresses {
		a, err := netip.ParseAddr(aws.ToString(eni.PrivateIpAddresses[i].PrivateIpAddress))
		if err != nil {
			return err
		}
		if err := p.Take(a); err != nil {
			return err
		}
		state.Default(&eni.PrivateIpAddresses[i].Primary, i == 0)
		state.Default(&eni.PrivateIpAddresses[i].PrivateDnsName, w.PrivateName(a.String()))
	}
	for _, b := range eni.Ipv4Prefixes {
		block, err := netip.ParsePrefix(aws.ToString(b.Ipv4Prefix))
		if err != nil || block.Bits() != 28 || !p.Prefix.Contains(block.Addr()) {
			return fmt.Errorf("prefix %q is not a /28 of the subnet", aws.ToString(b.Ipv4Prefix))
		}
		p.TakeBlock(block.Masked())
	}
	if len(eni.PrivateIpAddresses) == 0 {
		addrs, ok := p.Allocate(1)
		if !ok {
			return state.ErrSubnetFull()
		}
		w.AddAddresses(eni, addrs, nil)
	}
	eni.PrivateIpAddress = eni.PrivateIpAddresses[0].PrivateIpAddress
	state.Default(&eni.PrivateDnsName, w.PrivateName(*eni.PrivateIpAddress))
	if a := eni.Attachment; a != nil {
		state.DefaultPlain(&eni.Status, ec2types.NetworkInterfaceStatusInUse)
		state.DefaultPlain(&a.Status, ec2types.AttachmentStatusAttached)
		state.Default(&a.DeviceIndex, 0)
		state.Default(&a.DeleteOnTermination, *a.DeviceIndex == 0)
		if id := aws.ToString(a.InstanceId); id != "" {
			w.Attached[id] = append(w.Attached[id], *eni.NetworkInterfaceId)
		}
	}
	state.DefaultPlain(&eni.Status, ec2types.NetworkInterfaceStatusAvailable)
	return nil
}

func interfaceOfInstance(in *ec2types.Instance, n ec2types.InstanceNetworkInterface) ec2types.NetworkInterface {
	out := ec2types.NetworkInterface{
		NetworkInterfaceId: n.NetworkInterfaceId, Description: n.Description, Groups: n.Groups, MacAddress: n.MacAddress,
		OwnerId: n.OwnerId, PrivateDnsName: n.PrivateDnsName, PrivateIpAddress: n.PrivateIpAddress, SourceDestCheck: n.SourceDestCheck,
		Status: n.Status, SubnetId: n.SubnetId, VpcId: n.VpcId, InterfaceType: ec2types.NetworkInterfaceType(aws.ToString(n.InterfaceType)),
	}
	if out.SubnetId == nil {
		out.SubnetId = in.SubnetId
	}
	for _, a := range n.PrivateIpAddresses {
		out.PrivateIpAddresses = append(out.PrivateIpAddresses, ec2types.NetworkInterfacePrivateIpAddress{Primary: a.Primary, PrivateDnsName: a.PrivateDnsName, PrivateIpAddress: a.PrivateIpAddress})
	}
	for _, b := range n.Ipv4Prefixes {
		out.Ipv4Prefixes = append(out.Ipv4Prefixes, ec2types.Ipv4PrefixSpecification{Ipv4Prefix: b.Ipv4Prefix})
	}
	out.Attachment = &ec2types.NetworkInterfaceAttachment{InstanceId: in.InstanceId, DeviceIndex: aws.Int32(0)}
	if a := n.Attachment; a != nil {
		out.Attachment = &ec2types.NetworkInterfaceAttachment{
			InstanceId: in.InstanceId, AttachTime: a.AttachTime, AttachmentId: a.AttachmentId, DeleteOnTermination: a.DeleteOnTermination,
			DeviceIndex: a.DeviceIndex, NetworkCardIndex: a.NetworkCardIndex, Status: a.Status,
		}
	}
	return out
}

// loadFreeAddresses makes stated counts of free addresses true.
func loadFreeAddresses(w *state.State, _ *worldfile.File) error {
	var errs []error
	for _, s := range w.Subnets.All() {
		if s.AvailableIpAddressCount == nil {
			continue
		}
		if err := w.Pools[*s.SubnetId].State(int(*s.AvailableIpAddressCount)); err != nil {
			errs = append(errs, fmt.Errorf("ec2.Subnets %s: %w", *s.SubnetId, err))
		}
	}
	return errors.Join(errs...)
}

// loadMembers ties groups and instances together, both ways, and keeps the
// activities of before.
func loadMembers(w *state.State, f *worldfile.File) error {
	var errs []error
	for _, g := range w.Groups.All() {
		for i := range g.Instances {
			if err := completeMember(w, g, &g.Instances[i]); err != nil {
				errs = append(errs, fmt.Errorf("autoscaling.AutoScalingGroups %s: %w", g.Name(), err))
			}
		}
	}
	for _, a := range f.AutoScaling.Activities {
		g := w.Groups.Get(aws.ToString(a.AutoScalingGroupName))
		if g == nil {
			errs = append(errs, fmt.Errorf("autoscaling.Activities %s: group %q is not in the world", aws.ToString(a.ActivityId), aws.ToString(a.AutoScalingGroupName)))
			continue
		}
		if a.AutoScalingGroupARN == nil {
			a.AutoScalingGroupARN = g.AutoScalingGroupARN
		}
		text := aws.ToString(a.Description)
		instance := ""
		if i := strings.Index(text, "i-"); i >= 0 {
			instance, _, _ = strings.Cut(text[i:], ".")
		}
		g.Activities = append(g.Activities, &state.Activity{Activity: a, Instance: instance, Origin: "EC2", Destination: "AutoScalingGroup"})
	}
	for _, g := range w.Groups.All() {
		slices.SortStableFunc(g.Activities, func(a, b *state.Activity) int { return aws.ToTime(a.StartTime).Compare(aws.ToTime(b.StartTime)) })
	}
	return errors.Join(errs...)
}

func completeMember(w *state.State, g *state.Group, m *astypes.Instance) error {
	in := w.Instances.Get(aws.ToString(m.InstanceId))
	if in == nil {
		return fmt.Errorf("instance %q is not in the world", aws.ToString(m.InstanceId))
	}
	state.Default(&m.InstanceType, string(in.InstanceType))
	state.Default(&m.AvailabilityZone, aws.ToString(in.Placement.AvailabilityZone))
	state.Default(&m.HealthStatus, "Healthy")
	state.Default(&m.ProtectedFromScaleIn, false)
	state.DefaultPlain(&m.LifecycleState, astypes.LifecycleStateInService)
	if m.LaunchTemplate == nil {
		m.LaunchTemplate = g.TemplateSpec()
	}
	tags := map[string]string{"aws:autoscaling:groupName": g.Name()}
	for _, t := range g.Tags {
		if aws.ToBool(t.PropagateAtLaunch) {
			tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
		}
	}
	if v := w.GroupTemplate(g); v != nil {
		tags["aws:ec2launchtemplate:id"] = aws.ToString(v.LaunchTemplateId)
		tags["aws:ec2launchtemplate:version"] = strconv.FormatInt(aws.ToInt64(v.VersionNumber), 10)
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if state.TagValue(in.Tags, key) == "" {
			in.Tags = append(in.Tags, ec2types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
		}
	}
	if v := w.GroupTemplate(g); v != nil && v.LaunchTemplateData != nil {
		if p := v.LaunchTemplateData.IamInstanceProfile; p != nil && in.IamInstanceProfile == nil {
			if profile := w.ProfileNamed(aws.ToString(p.Name), aws.ToString(p.Arn)); profile != nil {
				in.IamInstanceProfile = &ec2types.IamInstanceProfile{Arn: profile.Arn, Id: profile.InstanceProfileId}
			}
		}
	}
	return nil
}

func loadNetwork(w *state.State, f *worldfile.File) error {
	e := &f.EC2
	for i := range e.Vpcs {
		v := &e.Vpcs[i]
		state.Default(&v.OwnerId, w.Account)
		state.Default(&v.IsDefault, false)
		state.Default(&v.DhcpOptionsId, "default")
		state.DefaultPlain(&v.State, ec2types.VpcStateAvailable)
		state.DefaultPlain(&v.InstanceTenancy, ec2types.TenancyDefault)
	}
	loadPublicAccess(w, e)
	for id, a := range e.VpcAttributes {
		w.VPCAttributes[id] = a
	}
	for i := range e.SecurityGroups {
		g := &e.SecurityGroups[i]
		state.Default(&g.OwnerId, w.Account)
		state.Default(&g.GroupName, aws.ToString(g.GroupId))
		state.Default(&g.Description, "")
		state.Default(&g.SecurityGroupArn, w.ARN("ec2", "security-group/"+aws.ToString(g.GroupId)))
		w.OwnPairs(g.IpPermissions)
		w.OwnPairs(g.IpPermissionsEgress)
	}
	for i := range e.InternetGateways {
		state.Default(&e.InternetGateways[i].OwnerId, w.Account)
	}
	for i := range e.NetworkAcls {
		state.Default(&e.NetworkAcls[i].OwnerId, w.Account)
	}
	for i := range e.NatGateways {
		n := &e.NatGateways[i]
		state.DefaultPlain(&n.State, ec2types.NatGatewayStateAvailable)
		state.DefaultPlain(&n.ConnectivityType, ec2types.ConnectivityTypePublic)
		state.Default(&n.CreateTime, w.Start.Add(-state.Age))
	}
	for i := range e.VpcEndpoints {
		p := &e.VpcEndpoints[i]
		state.Default(&p.OwnerId, w.Account)
		state.DefaultPlain(&p.State, ec2types.StateAvailable)
		state.DefaultPlain(&p.VpcEndpointType, ec2types.VpcEndpointTypeInterface)
		state.Default(&p.PrivateDnsEnabled, p.VpcEndpointType == ec2types.VpcEndpointTypeInterface)
		state.Default(&p.RequesterManaged, false)
		state.Default(&p.CreationTimestamp, w.Start.Add(-state.Age))
		// EC2 gives every endpoint that is made without a policy this one.
		state.Default(&p.PolicyDocument, `{"Statement":[{"Action":"*","Effect":"Allow","Principal":"*","Resource":"*"}]}`)
	}
	for i := range e.DhcpOptions {
		state.Default(&e.DhcpOptions[i].OwnerId, w.Account)
	}
	for id, list := range e.PrefixListEntries {
		w.PrefixListEntries[id] = list
	}
	for table, list := range e.TransitGatewayRoutes {
		for i := range list {
			state.DefaultPlain(&list[i].State, ec2types.TransitGatewayRouteStateActive)
			state.DefaultPlain(&list[i].Type, ec2types.TransitGatewayRouteTypeStatic)
		}
		w.TransitRoutes[table] = list
	}
	for i := range e.TransitGatewayAttachments {
		a := &e.TransitGatewayAttachments[i]
		state.Default(&a.ResourceOwnerId, w.Account)
		state.Default(&a.TransitGatewayOwnerId, w.Account)
		state.DefaultPlain(&a.State, ec2types.TransitGatewayAttachmentStateAvailable)
		state.DefaultPlain(&a.ResourceType, ec2types.TransitGatewayAttachmentResourceTypeVpc)
	}
	return errors.Join(
		fill(w.Vpcs, e.Vpcs, "ec2.Vpcs", func(v *ec2types.Vpc) *string { return v.VpcId }),
		fill(w.SecurityGroups, e.SecurityGroups, "ec2.SecurityGroups", func(v *ec2types.SecurityGroup) *string { return v.GroupId }),
		loadSubnets(w, e),
		loadRouteTables(w, e),
		fill(w.InternetGateways, e.InternetGateways, "ec2.InternetGateways", func(v *ec2types.InternetGateway) *string { return v.InternetGatewayId }),
		fill(w.EgressOnlyGateways, e.EgressOnlyInternetGateways, "ec2.EgressOnlyInternetGateways", func(v *ec2types.EgressOnlyInternetGateway) *string {
			return v.EgressOnlyInternetGatewayId
		}),
		fill(w.NetworkACLs, e.NetworkAcls, "ec2.NetworkAcls", func(v *ec2types.NetworkAcl) *string { return v.NetworkAclId }),
		fill(w.NATGateways, e.NatGateways, "ec2.NatGateways", func(v *ec2types.NatGateway) *string { return v.NatGatewayId }),
		fill(w.Endpoints, e.VpcEndpoints, "ec2.VpcEndpoints", func(v *ec2types.VpcEndpoint) *string { return v.VpcEndpointId }),
		fill(w.DhcpOptions, e.DhcpOptions, "ec2.DhcpOptions", func(v *ec2types.DhcpOptions) *string { return v.DhcpOptionsId }),
		fill(w.Addresses, e.Addresses, "ec2.Addresses", func(v *ec2types.Address) *string { return v.AllocationId }),
		fill(w.PrefixLists, e.PrefixLists, "ec2.PrefixLists", func(v *ec2types.PrefixList) *string { return v.PrefixListId }),
		fill(w.ManagedPrefixLists, e.ManagedPrefixLists, "ec2.ManagedPrefixLists", func(v *ec2types.ManagedPrefixList) *string { return v.PrefixListId }),
		fill(w.Volumes, e.Volumes, "ec2.Volumes", func(v *ec2types.Volume) *string { return v.VolumeId }),
		fill(w.Peerings, e.VpcPeeringConnections, "ec2.VpcPeeringConnections", func(v *ec2types.VpcPeeringConnection) *string { return v.VpcPeeringConnectionId }),
		fill(w.TransitAttachments, e.TransitGatewayAttachments, "ec2.TransitGatewayAttachments", func(v *ec2types.TransitGatewayAttachment) *string {
			return v.TransitGatewayAttachmentId
		}),
	)
}

// loadPublicAccess completes VPC Block Public Access: the account's mode is in force in
// its VPCs and subnets, except where an exclusion that is complete exempts one, or the
// VPC that it is in. One that allows egress makes block-bidirectional into block-ingress,
// and is ignored by block-ingress (VPC user guide, "VPC BPA basics"; "Advanced example",
// scenarios 4 to 6). Whose a shared subnet is decides: "To enable VPC BPA on the VPCs and
// subnets in your account, you must own the VPCs and subnets."
func loadPublicAccess(w *state.State, e *worldfile.EC2File) {
	o := e.VpcBlockPublicAccessOptions
	if o == nil {
		o = &ec2types.VpcBlockPublicAccessOptions{}
		e.VpcBlockPublicAccessOptions = o
	}
	state.Default(&o.AwsAccountId, w.Account)
	state.Default(&o.AwsRegion, w.Region)
	state.DefaultPlain(&o.InternetGatewayBlockMode, ec2types.InternetGatewayBlockModeOff)
	state.DefaultPlain(&o.State, ec2types.VpcBlockPublicAccessStateUpdateComplete)
	state.DefaultPlain(&o.ManagedBy, ec2types.ManagedByAccount)
	state.DefaultPlain(&o.ExclusionsAllowed, ec2types.VpcBlockPublicAccessExclusionsAllowedAllowed)
	in := func(mine bool, arns ...string) *ec2types.BlockPublicAccessStates {
		mode := ec2types.BlockPublicAccessMode(o.InternetGatewayBlockMode)
		if !mine {
			mode = ec2types.BlockPublicAccessModeOff
		}
		for i := range e.VpcBlockPublicAccessExclusions {
			x := &e.VpcBlockPublicAccessExclusions[i]
			state.DefaultPlain(&x.State, ec2types.VpcBlockPublicAccessExclusionStateCreateComplete)
			state.DefaultPlain(&x.InternetGatewayExclusionMode, ec2types.InternetGatewayExclusionModeAllowBidirectional)
			inForce := x.State == ec2types.VpcBlockPublicAccessExclusionStateCreateComplete || x.State == ec2types.VpcBlockPublicAccessExclusionStateUpdateComplete
			switch {
			case !inForce || !slices.Contains(arns, aws.ToString(x.ResourceArn)):
			case x.InternetGatewayExclusionMode == ec2types.InternetGatewayExclusionModeAllowBidirectional:
				mode = ec2types.BlockPublicAccessModeOff
			case mode == ec2types.BlockPublicAccessModeBlockBidirectional:
				mode = ec2types.BlockPublicAccessModeBlockIngress
			}
		}
		return &ec2types.BlockPublicAccessStates{InternetGatewayBlockMode: mode}
	}
	for i := range e.Vpcs {
		if v := &e.Vpcs[i]; v.BlockPublicAccessStates == nil {
			v.BlockPublicAccessStates = in(aws.ToString(v.OwnerId) == w.Account, w.ARN("ec2", "vpc/"+aws.ToString(v.VpcId)))
		}
	}
	for i := range e.Subnets {
		s := &e.Subnets[i]
		state.Default(&s.OwnerId, w.Account)
		if s.BlockPublicAccessStates == nil {
			s.BlockPublicAccessStates = in(*s.OwnerId == w.Account, w.ARN("ec2", "vpc/"+aws.ToString(s.VpcId)), w.ARN("ec2", "subnet/"+aws.ToString(s.SubnetId)))
		}
	}
}

func loadSubnets(w *state.State, e *worldfile.EC2File) error {
	var errs []error
	for i := range e.Subnets {
		s := &e.Subnets[i]
		id := aws.ToString(s.SubnetId)
		state.Default(&s.OwnerId, w.Account)
		state.Default(&s.AvailabilityZoneId, ids.ZoneID(aws.ToString(s.AvailabilityZone)))
		state.Default(&s.MapPublicIpOnLaunch, false)
		state.Default(&s.DefaultForAz, false)
		state.Default(&s.AssignIpv6AddressOnCreation, false)
		state.Default(&s.Ipv6Native, false)
		state.Default(&s.SubnetArn, w.ARN("ec2", "subnet/"+id))
		state.DefaultPlain(&s.State, ec2types.SubnetStateAvailable)
		if w.Vpcs.Get(aws.ToString(s.VpcId)) == nil {
			errs = append(errs, fmt.Errorf("ec2.Subnets %s: VPC %q is not in the world", id, aws.ToString(s.VpcId)))
		}
		p, err := addresses.New(aws.ToString(s.CidrBlock))
		if err != nil {
			errs = append(errs, fmt.Errorf("ec2.Subnets %s: %w", id, err))
			continue
		}
		w.Pools[id] = p
	}
	for i, r := range e.SubnetCidrReservations {
		p := w.Pools[aws.ToString(r.SubnetId)]
		if p == nil {
			errs = append(errs, fmt.Errorf("ec2.SubnetCidrReservations[%d]: subnet %q is not in the world", i, aws.ToString(r.SubnetId)))
		} else if err := p.Reserve(r); err != nil {
			errs = append(errs, fmt.Errorf("ec2.SubnetCidrReservations[%d]: %w", i, err))
		}
	}
	return errors.Join(append(errs,
		fill(w.Subnets, e.Subnets, "ec2.Subnets", func(v *ec2types.Subnet) *string { return v.SubnetId }),
		fill(w.CidrReservations, e.SubnetCidrReservations, "ec2.SubnetCidrReservations", func(v *ec2types.SubnetCidrReservation) *string {
			return v.SubnetCidrReservationId
		}))...)
}

func loadRouteTables(w *state.State, e *worldfile.EC2File) error {
	var errs []error
	for i := range e.RouteTables {
		t := &e.RouteTables[i]
		id := aws.ToString(t.RouteTableId)
		state.Default(&t.OwnerId, w.Account)
		for j := range t.Routes {
			r := &t.Routes[j]
			state.DefaultPlain(&r.State, ec2types.RouteStateActive)
			origin := ec2types.RouteOriginCreateRoute
			if aws.ToString(r.GatewayId) == "local" {
				origin = ec2types.RouteOriginCreateRouteTable
			}
			state.DefaultPlain(&r.Origin, origin)
		}
		for j := range t.Associations {
			a := &t.Associations[j]
			state.Default(&a.RouteTableId, id)
			state.Default(&a.Main, false)
			state.Default(&a.RouteTableAssociationId, w.IDs.EC2("rtbassoc"))
			if a.AssociationState == nil {
				a.AssociationState = &ec2types.RouteTableAssociationState{State: ec2types.RouteTableAssociationStateCodeAssociated}
			}
			if s := aws.ToString(a.SubnetId); s != "" && w.Subnets.Get(s) == nil {
				errs = append(errs, fmt.Errorf("ec2.RouteTables %s: subnet %q is not in the world", id, s))
			}
		}
	}
	return errors.Join(append(errs, fill(w.RouteTables, e.RouteTables, "ec2.RouteTables", func(v *ec2types.RouteTable) *string { return v.RouteTableId }))...)
}

func loadNodegroups(w *state.State, f *worldfile.File) error {
	var errs []error
	for i := range f.EKS.Nodegroups {
		ng := &state.Nodegroup{Nodegroup: f.EKS.Nodegroups[i]}
		cluster, name := aws.ToString(ng.ClusterName), aws.ToString(ng.NodegroupName)
		c := w.Clusters.Get(cluster)
		if c == nil {
			errs = append(errs, fmt.Errorf("eks.nodegroups %s: cluster %q is not in the world", name, cluster))
			continue
		}
		eks.CompleteNodegroup(w, ng, c)
		w.Nodegroups.Put(state.NodegroupKey(cluster, name), ng)
		if err := eks.CompleteNodegroupGroup(w, ng, c); err != nil {
			errs = append(errs, fmt.Errorf("eks.nodegroups %s: %w", name, err))
		}
		nodegroup.WatchCreation(w, ng)
	}
	return errors.Join(errs...)
}

// loadVolumes fills in what AWS would show, and holds that a volume is attached
// in its own zone.
func loadVolumes(w *state.State, _ *worldfile.File) error {
	var errs []error
	for _, v := range w.Volumes.All() {
		state.Default(&v.AvailabilityZone, "")
		state.Default(&v.CreateTime, w.Start.Add(-state.Age))
		state.Default(&v.Size, 8)
		state.Default(&v.Encrypted, false)
		state.Default(&v.MultiAttachEnabled, false)
		state.DefaultPlain(&v.VolumeType, ec2types.VolumeTypeGp3)
		if *v.AvailabilityZone == "" {
			errs = append(errs, fmt.Errorf("ec2.Volumes %s has no zone", *v.VolumeId))
			continue
		}
		state.Default(&v.AvailabilityZoneId, ids.ZoneID(*v.AvailabilityZone))
		attachments := v.Attachments
		v.Attachments = []ec2types.VolumeAttachment{}
		for _, a := range attachments {
			if err := w.AttachVolume(v, aws.ToString(a.InstanceId), aws.ToString(a.Device)); err != nil {
				errs = append(errs, fmt.Errorf("ec2.Volumes %s: %w", *v.VolumeId, err))
			}
		}
		state.DefaultPlain(&v.State, ec2types.VolumeStateAvailable)
	}
	return errors.Join(errs...)
}
