package world

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/worldfile"
)

func (w *World) loadInstances(f *worldfile.File) error {
	list := slices.Clone(f.EC2.Instances)
	inReservation := map[string]string{}
	for _, r := range f.EC2.Reservations {
		w.reservations[aws.ToString(r.ReservationId)] = ec2types.Reservation{ReservationId: r.ReservationId, OwnerId: r.OwnerId, RequesterId: r.RequesterId, Groups: r.Groups}
		for _, in := range r.Instances {
			inReservation[aws.ToString(in.InstanceId)] = aws.ToString(r.ReservationId)
			list = append(list, in)
		}
	}
	for id, data := range f.EC2.UserData {
		w.userData[id] = data
	}
	for id, text := range f.EC2.ConsoleOutput {
		w.console[id] = text
	}
	var errs []error
	if err := fill(w.instances, list, "ec2.Instances", func(v *ec2types.Instance) *string { return v.InstanceId }); err != nil {
		return err
	}
	for _, in := range w.instances.All() {
		if err := w.completeInstance(in); err != nil {
			errs = append(errs, fmt.Errorf("ec2.Instances %s: %w", aws.ToString(in.InstanceId), err))
			continue
		}
		if r := inReservation[*in.InstanceId]; r != "" {
			w.reservationOf[*in.InstanceId] = r
		} else {
			w.reserve(in, "")
		}
		w.resume(in)
	}
	return errors.Join(errs...)
}

func (w *World) completeInstance(in *ec2types.Instance) error {
	for _, g := range w.groups.All() {
		if v := w.groupTemplate(g); g.member(*in.InstanceId) != nil && v != nil && v.LaunchTemplateData != nil {
			orZero(&in.InstanceType, v.LaunchTemplateData.InstanceType)
			if v.LaunchTemplateData.ImageId != nil {
				or(&in.ImageId, *v.LaunchTemplateData.ImageId)
			}
		}
	}
	orZero(&in.InstanceType, "t3.medium")
	orZero(&in.Architecture, ec2types.ArchitectureValuesX8664)
	or(&in.LaunchTime, w.start.Add(-long))
	or(&in.ImageId, w.ids.EC2("ami"))
	or(&in.StateTransitionReason, "")
	if in.State == nil {
		in.State = instanceState(ec2types.InstanceStateNameRunning)
	}
	if in.MetadataOptions == nil {
		in.MetadataOptions = metadataOptions()
	}
	if in.Monitoring == nil {
		in.Monitoring = &ec2types.Monitoring{State: ec2types.MonitoringStateDisabled}
	}
	if in.Placement == nil {
		in.Placement = &ec2types.Placement{}
	}
	if s := w.subnets.Get(aws.ToString(in.SubnetId)); s != nil {
		or(&in.VpcId, aws.ToString(s.VpcId))
		or(&in.Placement.AvailabilityZone, aws.ToString(s.AvailabilityZone))
		or(&in.Placement.AvailabilityZoneId, aws.ToString(s.AvailabilityZoneId))
	} else if in.SubnetId != nil {
		return fmt.Errorf("subnet %q is not in the world", *in.SubnetId)
	} else if !ended(in) && len(in.NetworkInterfaces) == 0 {
		return errors.New("no subnet")
	}
	return nil
}

// metadataOptions are those that EKS's launch templates give.
func metadataOptions() *ec2types.InstanceMetadataOptionsResponse {
	return &ec2types.InstanceMetadataOptionsResponse{
		State: ec2types.InstanceMetadataOptionsStateApplied, HttpEndpoint: ec2types.InstanceMetadataEndpointStateEnabled,
		HttpTokens: ec2types.HttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(2),
	}
}

// resume has what was under way at the start go on.
func (w *World) resume(in *ec2types.Instance) {
	id := *in.InstanceId
	switch in.State.Name {
	case ec2types.InstanceStateNamePending:
		w.after(w.runningTime(), func() { w.becomeRunning(id) })
	case ec2types.InstanceStateNameShuttingDown:
		w.after(shutdownTime, func() { w.becomeTerminated(id) })
	case ec2types.InstanceStateNameTerminated:
		w.after(terminatedTime, func() { w.forgetInstance(id) })
	}
}

// loadPrimaries makes the primary interface of instances listed without one.
func (w *World) loadPrimaries(*worldfile.File) error {
	var errs []error
	// Addresses that the file names are taken before any is chosen.
	for _, named := range []bool{true, false} {
		for _, in := range w.instances.All() {
			id := *in.InstanceId
			if (in.PrivateIpAddress != nil) != named || in.State.Name == ec2types.InstanceStateNameTerminated {
				continue
			}
			if err := w.primaryFor(in); err != nil {
				errs = append(errs, fmt.Errorf("ec2.Instances %s: %w", id, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (w *World) primaryFor(in *ec2types.Instance) error {
	id := *in.InstanceId
	if enis := w.interfacesOf(id); len(enis) > 0 {
		or(&in.PrivateIpAddress, *enis[0].PrivateIpAddress)
		or(&in.PrivateDnsName, *enis[0].PrivateDnsName)
		or(&in.SubnetId, *enis[0].SubnetId)
		or(&in.VpcId, *enis[0].VpcId)
		if len(in.SecurityGroups) == 0 {
			in.SecurityGroups = slices.Clone(enis[0].Groups)
		}
		return nil
	}
	groups := instanceGroups(in)
	if len(groups) == 0 {
		groups = w.groupsForNode(in)
	}
	eni, err := w.createInterface(interfaceSpec{subnet: aws.ToString(in.SubnetId), groups: groups, primary: aws.ToString(in.PrivateIpAddress)})
	if err != nil {
		return err
	}
	w.attach(eni, id, 0, true)
	eni.Attachment.AttachTime = in.LaunchTime
	in.PrivateIpAddress, in.SecurityGroups = eni.PrivateIpAddress, slices.Clone(eni.Groups)
	or(&in.PrivateDnsName, *eni.PrivateDnsName)
	if ip := aws.ToString(in.PublicIpAddress); ip == "" && aws.ToBool(w.subnets.Get(*eni.SubnetId).MapPublicIpOnLaunch) {
		w.givePublicIP(in, eni)
	}
	return nil
}

// groupsForNode is the cluster's security group for a node, the VPC's default
// one for others.
func (w *World) groupsForNode(in *ec2types.Instance) []string {
	if c := w.clusters.Get(w.clusterOf(*in.InstanceId)); c != nil && c.ResourcesVpcConfig != nil && c.ResourcesVpcConfig.ClusterSecurityGroupId != nil {
		return []string{*c.ResourcesVpcConfig.ClusterSecurityGroupId}
	}
	for _, g := range w.groups.All() {
		if g.member(*in.InstanceId) == nil {
			continue
		}
		if c := w.clusters.Get(g.tag("eks:cluster-name")); c != nil && c.ResourcesVpcConfig != nil && c.ResourcesVpcConfig.ClusterSecurityGroupId != nil {
			return []string{*c.ResourcesVpcConfig.ClusterSecurityGroupId}
		}
	}
	return w.defaultGroup(aws.ToString(in.VpcId))
}
