// Package lifecycle is how instances live: a group or a call launches them, they
// boot and join, hooks hold them, Spot takes them back, and they end.
package lifecycle

import (
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/kubernetes"
	"rollcall/stage/simaws/state"
)

const (
	// ShutdownTime is how long an instance stays shutting-down.
	ShutdownTime = 20 * time.Second
	// StatusCheckTime is how long the status checks say initializing.
	StatusCheckTime = 2 * time.Minute
)

// InstanceSpec is what a new instance is made of.
type InstanceSpec struct {
	Subnet       string
	InstanceType string
	Image        string
	Groups       []string
	Tags         []ec2types.Tag
	ProfileARN   string
	ProfileID    string
	KeyName      string
	UserData     string
	Spot         bool
	// publicIP overrides the subnet's own setting where it is not nil.
	publicIP *bool
	// metadata is the metadata service's state, where something else than enabled is
	// asked for.
	metadata ec2types.InstanceMetadataEndpointState
	// tokens is HttpTokens, where it is set.
	tokens ec2types.HttpTokensState
	// keepPrimary leaves the first interface behind when the instance ends.
	keepPrimary bool
	// kind is the type of the first interface, where it is not the usual one.
	kind        ec2types.NetworkInterfaceType
	requesterID string
	// Operator is the service that manages it; empty for the account itself.
	Operator string
}

// Launch starts an instance with its primary interface.
func Launch(w *state.State, spec InstanceSpec) (*ec2types.Instance, error) {
	info := w.InstanceTypes.Get(spec.InstanceType)
	if info == nil {
		return nil, wire.Errorf("InvalidParameterValue", "Invalid value '%s' for InstanceType.", spec.InstanceType)
	}
	subnet := w.Subnets.Get(spec.Subnet)
	if subnet == nil {
		return nil, wire.Errorf("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", spec.Subnet)
	}
	if err := refusedByZone(w, aws.ToString(subnet.AvailabilityZone), spec.InstanceType); err != nil {
		return nil, err
	}
	if limit := w.File.EC2.VCPULimit; limit > 0 && !spec.Spot && runningVCPUs(w, false)+vcpus(w, spec.InstanceType) > limit {
		return nil, wire.Errorf("VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of %d allows for the instance bucket that the specified instance type belongs to. "+
			"Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.", limit)
	}
	if err := refusedForImage(w, spec.Image, info); err != nil {
		return nil, err
	}
	tokens, err := tokensOf(w, spec)
	if err != nil {
		return nil, err
	}
	if err := refusedUnencrypted(w, aws.ToString(subnet.VpcId), info); err != nil {
		return nil, err
	}
	if err := refusedUserData(spec.UserData); err != nil {
		return nil, err
	}
	if len(spec.Groups) == 0 {
		spec.Groups = w.DefaultGroup(aws.ToString(subnet.VpcId))
	}
	for _, id := range spec.Groups {
		if w.SecurityGroups.Get(id) == nil {
			return nil, wire.Errorf("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		}
		if of := aws.ToString(w.SecurityGroups.Get(id).VpcId); of != aws.ToString(subnet.VpcId) && !associated(w, id, aws.ToString(subnet.VpcId)) {
			return nil, wire.Errorf("InvalidParameter", "Security group %s and subnet %s belong to different networks.", id, spec.Subnet)
		}
	}
	eni, err := w.CreateInterface(state.InterfaceSpec{Subnet: spec.Subnet, Groups: spec.Groups, Kind: spec.kind})
	if err != nil {
		return nil, wire.Errorf("InsufficientFreeAddressesInSubnet",
			"There are not enough free addresses in subnet '%s' to satisfy the requested number of instances.", spec.Subnet)
	}
	arch := ec2types.ArchitectureValuesX8664
	if p := info.ProcessorInfo; p != nil && len(p.SupportedArchitectures) > 0 {
		arch = ec2types.ArchitectureValues(p.SupportedArchitectures[0])
	}
	in := &ec2types.Instance{
		InstanceId:            aws.String(w.IDs.EC2("i")),
		AmiLaunchIndex:        aws.Int32(0),
		Architecture:          arch,
		ClientToken:           aws.String(w.IDs.UUID()),
		EbsOptimized:          aws.Bool(false),
		EnaSupport:            aws.Bool(true),
		Hypervisor:            ec2types.HypervisorTypeXen,
		ImageId:               aws.String(spec.Image),
		InstanceType:          ec2types.InstanceType(spec.InstanceType),
		LaunchTime:            aws.Time(w.Now.Truncate(time.Second)),
		MetadataOptions:       state.MetadataOptions(),
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
		State:                 state.InstanceState(ec2types.InstanceStateNamePending),
		StateTransitionReason: aws.String(""),
		SubnetId:              subnet.SubnetId,
		Tags:                  spec.Tags,
		VirtualizationType:    ec2types.VirtualizationTypeHvm,
		VpcId:                 subnet.VpcId,
		Operator:              state.ManagedBy(spec.Operator),
	}
	if spec.metadata != "" {
		in.MetadataOptions.HttpEndpoint = spec.metadata
	}
	if tokens != "" {
		in.MetadataOptions.HttpTokens = tokens
	}
	if spec.KeyName != "" {
		in.KeyName = aws.String(spec.KeyName)
	}
	if spec.ProfileARN != "" {
		in.IamInstanceProfile = &ec2types.IamInstanceProfile{Arn: aws.String(spec.ProfileARN), Id: aws.String(spec.ProfileID)}
	}
	if spec.Spot {
		in.InstanceLifecycle = ec2types.InstanceLifecycleTypeSpot
		in.SpotInstanceRequestId = aws.String("sir-" + w.IDs.Hex(8))
	}
	id := *in.InstanceId
	w.Instances.Put(id, in)
	w.Attach(eni, id, 0, !spec.keepPrimary)
	if public := aws.ToBool(subnet.MapPublicIpOnLaunch); (spec.publicIP == nil && public) || aws.ToBool(spec.publicIP) {
		GivePublicIP(w, in, eni)
	}
	if state.IsManaged(in.Operator) {
		if err := w.ManageParts(in); err != nil {
			return nil, err
		}
	}
	if spec.UserData != "" {
		w.UserData[id] = spec.UserData
	}
	Reserve(w, in, spec.requesterID)
	w.EmitState(id, "pending")
	w.After(w.RunningTime(), func() { BecomeRunning(w, id) })
	if spec.Spot {
		reclaimLater(w, in)
	}
	return in, nil
}

// mostUserData is EC2's limit, in bytes before base64 (EC2 user guide, "Run commands
// when you launch an EC2 instance with user data input").
const mostUserData = 16 << 10

func refusedUserData(encoded string) error {
	if base64.StdEncoding.DecodedLen(len(encoded)) > mostUserData+2 { // the padding
		return wire.Errorf("InvalidParameterValue", "User data is limited to %d bytes", mostUserData)
	}
	return nil
}

// refusedForImage says what EC2 says of an image that is for another architecture
// than the type's. An image that the world does not know is for any.
func refusedForImage(w *state.State, id string, t *ec2types.InstanceTypeInfo) error {
	i := w.Images.Get(id)
	if ImageHidden(w, id) {
		return wire.Errorf("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
	}
	if i != nil && !forType(i.InstanceTypeSpecification, string(t.InstanceType)) {
		return errUnsupported()
	}
	if i == nil || i.Architecture == "" || t.ProcessorInfo == nil || slices.Contains(t.ProcessorInfo.SupportedArchitectures, ec2types.ArchitectureType(i.Architecture)) {
		return nil
	}
	return wire.Errorf("InvalidParameterValue", "The architecture '%s' of the specified instance type does not match the architecture '%s' of the specified AMI. Specify an instance type and an AMI that have matching architectures, and try again.",
		t.ProcessorInfo.SupportedArchitectures[0], i.Architecture)
}

// ImageHidden reports whether the account's Allowed AMIs hide an image: EC2 says then of
// an image that exists what it says of one that does not, in lists as in launches. The
// account's own images are always allowed (EC2 user guide, "Control the discovery and use
// of AMIs in Amazon EC2 with Allowed AMIs").
func ImageHidden(w *state.State, id string) bool {
	i, a := w.Images.Get(id), w.File.EC2.AllowedImagesSettings
	return a != nil && a.State == "enabled" && i != nil && i.ImageAllowed != nil && !*i.ImageAllowed && aws.ToString(i.OwnerId) != w.Account
}

// forType reports whether an image's rules allow an instance type (EC2 API reference,
// InstanceTypeSpecification).
func forType(s *ec2types.InstanceTypeSpecification, name string) bool {
	if s == nil {
		return true
	}
	in := func(t ec2types.InstanceTypeItem) bool {
		ok, err := path.Match(aws.ToString(t.InstanceType), name)
		return err == nil && ok
	}
	return (len(s.SupportedInstanceTypes) == 0 || slices.ContainsFunc(s.SupportedInstanceTypes, in)) && !slices.ContainsFunc(s.UnsupportedInstanceTypes, in)
}

// errUnsupported is EC2's general refusal. What EC2 says of an image's rules of types and
// of VPC Encryption Controls is not published: this is the least that it can say.
func errUnsupported() error {
	return wire.Errorf("Unsupported", "The requested configuration is currently not supported. Please check the documentation for supported configurations.")
}

// tokensOf is HttpTokens of an instance: its own, else the account's default, else the
// image's; empty for none. An account that enforces IMDSv2 refuses a launch in which none
// of the three requires tokens (EC2 user guide, "Order of precedence for instance metadata
// options" and "Launching an IMDSv1-enabled instance fails").
func tokensOf(w *state.State, spec InstanceSpec) (ec2types.HttpTokensState, error) {
	tokens, d := spec.tokens, w.File.EC2.InstanceMetadataDefaults
	if tokens == "" && d != nil {
		tokens = d.HttpTokens
	}
	if i := w.Images.Get(spec.Image); tokens == "" && i != nil && i.ImdsSupport == ec2types.ImdsSupportValuesV20 {
		tokens = ec2types.HttpTokensStateRequired
	}
	if d != nil && d.HttpTokensEnforced == ec2types.HttpTokensEnforcedStateEnabled && tokens != ec2types.HttpTokensStateRequired {
		return "", wire.Errorf("UnsupportedOperation", "You can't launch instances with IMDSv1 because httpTokensEnforced is enabled for this account. "+
			"Either launch the instance with httpTokens=required or contact your account owner to disable httpTokensEnforced using the ModifyInstanceMetadataDefaults API or the account settings in the EC2 console.")
	}
	return tokens, nil
}

// refusedUnencrypted refuses a type that does not encrypt in transit in a VPC whose
// Encryption Controls enforce it (VPC user guide, "Enforce VPC encryption in transit").
func refusedUnencrypted(w *state.State, vpc string, t *ec2types.InstanceTypeInfo) error {
	v := w.Vpcs.Get(vpc)
	if v == nil || v.EncryptionControl == nil || v.EncryptionControl.Mode != ec2types.VpcEncryptionControlModeEnforce ||
		v.EncryptionControl.State != ec2types.VpcEncryptionControlStateAvailable || t.NetworkInfo != nil && aws.ToBool(t.NetworkInfo.EncryptionInTransitSupported) {
		return nil
	}
	return errUnsupported()
}

// GivePublicIP gives an instance and its interface a public address.
func GivePublicIP(w *state.State, in *ec2types.Instance, eni *ec2types.NetworkInterface) {
	ip := w.NextPublicIP()
	name := w.PublicName(ip)
	in.PublicIpAddress, in.PublicDnsName = aws.String(ip), aws.String(name)
	eni.Association = &ec2types.NetworkInterfaceAssociation{IpOwnerId: aws.String("amazon"), PublicDnsName: aws.String(name), PublicIp: aws.String(ip)}
	if len(eni.PrivateIpAddresses) > 0 {
		a := *eni.Association
		eni.PrivateIpAddresses[0].Association = &a
	}
}

// Reserve gives an instance a reservation of its own.
func Reserve(w *state.State, in *ec2types.Instance, requester string) {
	r := ec2types.Reservation{ReservationId: aws.String(w.IDs.EC2("r")), OwnerId: aws.String(w.Account), Groups: []ec2types.GroupIdentifier{}}
	if requester != "" {
		r.RequesterId = aws.String(requester)
	}
	w.Reservations[*r.ReservationId] = r
	w.ReservationOf[*in.InstanceId] = *r.ReservationId
}

// BecomeRunning is a pending instance that runs.
func BecomeRunning(w *state.State, id string) {
	in := w.Instances.Get(id)
	if in == nil || in.State.Name != ec2types.InstanceStateNamePending {
		return
	}
	in.State = state.InstanceState(ec2types.InstanceStateNameRunning)
	w.EmitState(id, "running")
	groupInstanceRunning(w, id)
}

// Terminate shuts an instance down. by is the reason that EC2 shows.
func Terminate(w *state.State, id string, by ec2types.StateReason) {
	in := w.Instances.Get(id)
	if in == nil || state.Ended(in) {
		return
	}
	in.State = state.InstanceState(ec2types.InstanceStateNameShuttingDown)
	in.StateReason = &by
	if strings.HasPrefix(aws.ToString(by.Code), "Client.User") {
		in.StateTransitionReason = aws.String("User initiated (" + w.Now.UTC().Format("2006-01-02 15:04:05 GMT") + ")")
	}
	if code := aws.ToString(by.Code); code == SpotTermination {
		in.StateTransitionReason = aws.String(code + " (" + w.Now.UTC().Format("2006-01-02 15:04:05 GMT") + ")")
	}
	kubernetes.LeaveBehind(w, id)
	w.EmitState(id, "shutting-down")
	w.After(ShutdownTime, func() { BecomeTerminated(w, id) })
	groupInstanceEnding(w, id)
}

// BecomeTerminated is an instance that has shut down: what it had is given back.
func BecomeTerminated(w *state.State, id string) {
	in := w.Instances.Get(id)
	if in == nil {
		return
	}
	for _, eni := range w.InterfacesOf(id) {
		if aws.ToBool(eni.Attachment.DeleteOnTermination) {
			w.DropInterface(eni)
		} else {
			w.Detach(eni)
		}
	}
	delete(w.Attached, id)
	w.DropVolumes(id)
	w.DetachVolumes(id)
	in.State = state.InstanceState(ec2types.InstanceStateNameTerminated)
	in.PrivateIpAddress, in.PublicIpAddress = nil, nil
	in.PrivateDnsName, in.PublicDnsName = aws.String(""), aws.String("")
	in.SubnetId, in.VpcId = nil, nil
	in.SecurityGroups = []ec2types.GroupIdentifier{}
	in.BlockDeviceMappings = nil
	w.Blackhole(func(r *ec2types.Route) bool { return aws.ToString(r.InstanceId) == id })
	w.EmitState(id, "terminated")
	kubernetes.RemoveNode(w, id)
	groupInstanceTerminated(w, id)
	w.After(state.TerminatedTime, func() { ForgetInstance(w, id) })
}

// ForgetInstance has a terminated instance described no longer.
func ForgetInstance(w *state.State, id string) {
	w.Instances.Remove(id)
	delete(w.Reservations, w.ReservationOf[id])
	delete(w.ReservationOf, id)
	delete(w.UserData, id)
	delete(w.Console, id)
}

// UserShutdown is the reason of an instance that an API call ended.
func UserShutdown() ec2types.StateReason {
	return ec2types.StateReason{
		Code:    aws.String("Client.UserInitiatedShutdown"),
		Message: aws.String("Client.UserInitiatedShutdown: User initiated shutdown"),
	}
}

// InstanceIDs writes ids as EC2's errors do.
func InstanceIDs(ids []string) string {
	if len(ids) == 1 {
		return fmt.Sprintf("The instance ID '%s' does not exist", ids[0])
	}
	return fmt.Sprintf("The instance IDs '%s' do not exist", strings.Join(ids, ", "))
}

// associated reports whether a security group of another VPC may be used in a VPC (EC2 API,
// AssociateSecurityGroupVpc).
func associated(w *state.State, group, vpc string) bool {
	return slices.ContainsFunc(w.File.EC2.SecurityGroupVpcAssociations, func(a ec2types.SecurityGroupVpcAssociation) bool {
		return aws.ToString(a.GroupId) == group && aws.ToString(a.VpcId) == vpc && a.State == ec2types.SecurityGroupVpcAssociationStateAssociated
	})
}
