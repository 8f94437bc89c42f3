package world

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

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
			defaults.SetPlain(&in.InstanceType, v.LaunchTemplateData.InstanceType)
			if v.LaunchTemplateData.ImageId != nil {
				defaults.Set(&in.ImageId, *v.LaunchTemplateData.ImageId)
			}
		}
	}
	defaults.SetPlain(&in.InstanceType, "t3.medium")
	defaults.SetPlain(&in.Architecture, ec2types.ArchitectureValuesX8664)
	defaults.Set(&in.LaunchTime, w.Start.Add(-state.Age))
	defaults.Set(&in.ImageId, w.IDs.EC2("ami"))
	defaults.Set(&in.StateTransitionReason, "")
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
		defaults.Set(&in.VpcId, aws.ToString(s.VpcId))
		defaults.Set(&in.Placement.AvailabilityZone, aws.ToString(s.AvailabilityZone))
		defaults.Set(&in.Placement.AvailabilityZoneId, aws.ToString(s.AvailabilityZoneId))
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
		defaults.Set(&in.PrivateIpAddress, *enis[0].PrivateIpAddress)
		defaults.Set(&in.PrivateDnsName, *enis[0].PrivateDnsName)
		defaults.Set(&in.SubnetId, *enis[0].SubnetId)
		defaults.Set(&in.VpcId, *enis[0].VpcId)
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
	defaults.Set(&in.PrivateDnsName, *eni.PrivateDnsName)
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
