package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
)

const (
	// shutdownTime is how long an instance stays shutting-down.
	shutdownTime = 20 * time.Second
	// terminatedTime is how long a terminated instance is still described.
	terminatedTime = time.Hour
	// statusCheckTime is how long the status checks say initializing.
	statusCheckTime = 2 * time.Minute
)

// instanceSpec is what a new instance is made of.
type instanceSpec struct {
	subnet       string
	instanceType string
	image        string
	groups       []string
	tags         []ec2types.Tag
	profileARN   string
	profileID    string
	keyName      string
	userData     string
	spot         bool
	// publicIP overrides the subnet's own setting where it is not nil.
	publicIP *bool
	// keepPrimary leaves the first interface behind when the instance ends.
	keepPrimary bool
	// kind is the type of the first interface, where it is not the usual one.
	kind        ec2types.NetworkInterfaceType
	requesterID string
	// operator is the service that manages it; empty for the account itself.
	operator string
}

// launch starts an instance with its primary interface.
func (w *World) launch(spec instanceSpec) (*ec2types.Instance, error) {
	info := w.instanceTypes.Get(spec.instanceType)
	if info == nil {
		return nil, wire.Errorf("InvalidParameterValue", "Invalid value '%s' for InstanceType.", spec.instanceType)
	}
	subnet := w.subnets.Get(spec.subnet)
	if subnet == nil {
		return nil, wire.Errorf("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", spec.subnet)
	}
	if err := w.refusedByZone(aws.ToString(subnet.AvailabilityZone), spec.instanceType); err != nil {
		return nil, err
	}
	if len(spec.groups) == 0 {
		spec.groups = w.defaultGroup(aws.ToString(subnet.VpcId))
	}
	for _, id := range spec.groups {
		if w.securityGroups.Get(id) == nil {
			return nil, wire.Errorf("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		}
	}
	eni, err := w.createInterface(interfaceSpec{subnet: spec.subnet, groups: spec.groups, kind: spec.kind})
	if err != nil {
		return nil, wire.Errorf("InsufficientFreeAddressesInSubnet",
			"There are not enough free addresses in subnet '%s' to satisfy the requested number of instances.", spec.subnet)
	}
	arch := ec2types.ArchitectureValuesX8664
	if p := info.ProcessorInfo; p != nil && len(p.SupportedArchitectures) > 0 {
		arch = ec2types.ArchitectureValues(p.SupportedArchitectures[0])
	}
	in := &ec2types.Instance{
		InstanceId:            aws.String(w.ids.EC2("i")),
		AmiLaunchIndex:        aws.Int32(0),
		Architecture:          arch,
		ClientToken:           aws.String(w.ids.UUID()),
		EbsOptimized:          aws.Bool(false),
		EnaSupport:            aws.Bool(true),
		Hypervisor:            ec2types.HypervisorTypeXen,
		ImageId:               aws.String(spec.image),
		InstanceType:          ec2types.InstanceType(spec.instanceType),
		LaunchTime:            aws.Time(w.now.Truncate(time.Second)),
		MetadataOptions:       metadataOptions(),
		Monitoring:            &ec2types.Monitoring{State: ec2types.MonitoringStateDisabled},
		Placement:             &ec2types.Placement{AvailabilityZone: subnet.AvailabilityZone, AvailabilityZoneId: subnet.AvailabilityZoneId, Tenancy: ec2types.TenancyDefault, GroupName: aws.String("")},
		PlatformDetails:       aws.String("Linux/UNIX"),
		PrivateDnsName:        eni.PrivateDnsName,
		PrivateIpAddress:      eni.PrivateIpAddress,
		PublicDnsName:         aws.String(""),
		RootDeviceName:        aws.String("/dev/xvda"),
		RootDeviceType:        ec2types.DeviceTypeEbs,
		SecurityGroups:        slices.Clone(eni.Groups),
		SourceDestCheck:       aws.Bool(true),
		State:                 instanceState(ec2types.InstanceStateNamePending),
		StateTransitionReason: aws.String(""),
		SubnetId:              subnet.SubnetId,
		Tags:                  spec.tags,
		VirtualizationType:    ec2types.VirtualizationTypeHvm,
		VpcId:                 subnet.VpcId,
		Operator:              managedBy(spec.operator),
	}
	if spec.keyName != "" {
		in.KeyName = aws.String(spec.keyName)
	}
	if spec.profileARN != "" {
		in.IamInstanceProfile = &ec2types.IamInstanceProfile{Arn: aws.String(spec.profileARN), Id: aws.String(spec.profileID)}
	}
	if spec.spot {
		in.InstanceLifecycle = ec2types.InstanceLifecycleTypeSpot
		in.SpotInstanceRequestId = aws.String("sir-" + w.ids.Hex(8))
	}
	id := *in.InstanceId
	w.instances.Put(id, in)
	w.attach(eni, id, 0, !spec.keepPrimary)
	if public := aws.ToBool(subnet.MapPublicIpOnLaunch); (spec.publicIP == nil && public) || aws.ToBool(spec.publicIP) {
		w.givePublicIP(in, eni)
	}
	if isManaged(in.Operator) {
		if err := w.manageParts(in); err != nil {
			return nil, err
		}
	}
	if spec.userData != "" {
		w.userData[id] = spec.userData
	}
	w.reserve(in, spec.requesterID)
	w.emitState(id, "pending")
	w.after(w.runningTime(), func() { w.becomeRunning(id) })
	if spec.spot {
		w.reclaimLater(in)
	}
	return in, nil
}

func (w *World) runningTime() time.Duration {
	return time.Duration(w.file.Nodes.RunningSeconds) * time.Second
}

// defaultGroup is the VPC's group called default, which EC2 takes where an
// instance names none.
func (w *World) defaultGroup(vpc string) []string {
	for _, g := range w.securityGroups.All() {
		if aws.ToString(g.VpcId) == vpc && aws.ToString(g.GroupName) == "default" {
			return []string{*g.GroupId}
		}
	}
	return nil
}

func (w *World) givePublicIP(in *ec2types.Instance, eni *ec2types.NetworkInterface) {
	ip := w.nextPublicIP()
	name := w.publicName(ip)
	in.PublicIpAddress, in.PublicDnsName = aws.String(ip), aws.String(name)
	eni.Association = &ec2types.NetworkInterfaceAssociation{IpOwnerId: aws.String("amazon"), PublicDnsName: aws.String(name), PublicIp: aws.String(ip)}
	if len(eni.PrivateIpAddresses) > 0 {
		a := *eni.Association
		eni.PrivateIpAddresses[0].Association = &a
	}
}

// reserve gives an instance a reservation of its own.
func (w *World) reserve(in *ec2types.Instance, requester string) {
	r := ec2types.Reservation{ReservationId: aws.String(w.ids.EC2("r")), OwnerId: aws.String(w.account), Groups: []ec2types.GroupIdentifier{}}
	if requester != "" {
		r.RequesterId = aws.String(requester)
	}
	w.reservations[*r.ReservationId] = r
	w.reservationOf[*in.InstanceId] = *r.ReservationId
}

func (w *World) becomeRunning(id string) {
	in := w.instances.Get(id)
	if in == nil || in.State.Name != ec2types.InstanceStateNamePending {
		return
	}
	in.State = instanceState(ec2types.InstanceStateNameRunning)
	w.emitState(id, "running")
	w.groupInstanceRunning(id)
}

// terminate shuts an instance down. by is the reason that EC2 shows.
func (w *World) terminate(id string, by ec2types.StateReason) {
	in := w.instances.Get(id)
	if in == nil || ended(in) {
		return
	}
	in.State = instanceState(ec2types.InstanceStateNameShuttingDown)
	in.StateReason = &by
	if strings.HasPrefix(aws.ToString(by.Code), "Client.User") {
		in.StateTransitionReason = aws.String("User initiated (" + w.now.UTC().Format("2006-01-02 15:04:05 GMT") + ")")
	}
	if code := aws.ToString(by.Code); code == spotTermination {
		in.StateTransitionReason = aws.String(code + " (" + w.now.UTC().Format("2006-01-02 15:04:05 GMT") + ")")
	}
	w.leaveBehind(id)
	w.emitState(id, "shutting-down")
	w.after(shutdownTime, func() { w.becomeTerminated(id) })
	w.groupInstanceEnding(id)
}

func (w *World) becomeTerminated(id string) {
	in := w.instances.Get(id)
	if in == nil {
		return
	}
	for _, eni := range w.interfacesOf(id) {
		if aws.ToBool(eni.Attachment.DeleteOnTermination) {
			w.dropInterface(eni)
		} else {
			w.detach(eni)
		}
	}
	delete(w.attached, id)
	w.dropVolumes(id)
	w.detachVolumes(id)
	in.State = instanceState(ec2types.InstanceStateNameTerminated)
	in.PrivateIpAddress, in.PublicIpAddress = nil, nil
	in.PrivateDnsName, in.PublicDnsName = aws.String(""), aws.String("")
	in.SubnetId, in.VpcId = nil, nil
	in.SecurityGroups = []ec2types.GroupIdentifier{}
	in.BlockDeviceMappings = nil
	w.blackhole(func(r *ec2types.Route) bool { return aws.ToString(r.InstanceId) == id })
	w.emitState(id, "terminated")
	w.removeNode(id)
	w.groupInstanceTerminated(id)
	w.after(terminatedTime, func() { w.forgetInstance(id) })
}

func (w *World) forgetInstance(id string) {
	w.instances.Remove(id)
	delete(w.reservations, w.reservationOf[id])
	delete(w.reservationOf, id)
	delete(w.userData, id)
	delete(w.console, id)
}

func ended(in *ec2types.Instance) bool {
	return in.State.Name == ec2types.InstanceStateNameShuttingDown || in.State.Name == ec2types.InstanceStateNameTerminated
}

// userShutdown is the reason of an instance that an API call ended.
func userShutdown() ec2types.StateReason {
	return ec2types.StateReason{
		Code:    aws.String("Client.UserInitiatedShutdown"),
		Message: aws.String("Client.UserInitiatedShutdown: User initiated shutdown"),
	}
}

// instanceState is a state with its number.
func instanceState(name ec2types.InstanceStateName) *ec2types.InstanceState {
	codes := map[ec2types.InstanceStateName]int32{
		ec2types.InstanceStateNamePending: 0, ec2types.InstanceStateNameRunning: 16,
		ec2types.InstanceStateNameShuttingDown: 32, ec2types.InstanceStateNameTerminated: 48,
		ec2types.InstanceStateNameStopping: 64, ec2types.InstanceStateNameStopped: 80,
	}
	return &ec2types.InstanceState{Name: name, Code: aws.Int32(codes[name])}
}

// instanceIDs writes ids as EC2's errors do.
func instanceIDs(ids []string) string {
	if len(ids) == 1 {
		return fmt.Sprintf("The instance ID '%s' does not exist", ids[0])
	}
	return fmt.Sprintf("The instance IDs '%s' do not exist", strings.Join(ids, ", "))
}

func tagValue(tags []ec2types.Tag, key string) string {
	for _, t := range tags {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
}
