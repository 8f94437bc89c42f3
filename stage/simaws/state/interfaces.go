package state

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/addresses"
	"rollcall/stage/simaws/zonalshift"
)

// InterfaceSpec is what a new network interface is made of.
type InterfaceSpec struct {
	Subnet      string
	Description string
	Groups      []string
	Tags        []ec2types.Tag
	Primary     string // an address that was asked for, or empty
	Secondary   int
	Prefixes    int
	// Kind is the interface's type; empty is the usual one.
	Kind ec2types.NetworkInterfaceType
}

// CreateInterface makes an interface and takes its addresses, all or none.
func (w *State) CreateInterface(spec InterfaceSpec) (*ec2types.NetworkInterface, error) {
	subnet := w.Subnets.Get(spec.Subnet)
	if subnet == nil {
		return nil, wire.Errorf("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", spec.Subnet)
	}
	if spec.Secondary < 0 || spec.Prefixes < 0 {
		return nil, wire.Errorf("InvalidParameterValue", "A number of addresses must not be negative.")
	}
	p := w.Pools[spec.Subnet]
	want := 1 + spec.Secondary
	if want+spec.Prefixes*addresses.PrefixSize > p.Free() {
		return nil, ErrSubnetFull()
	}
	var addrs []netip.Addr
	if spec.Primary != "" {
		a, err := netip.ParseAddr(spec.Primary)
		if err != nil {
			return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter privateIpAddress is invalid.", spec.Primary)
		}
		if err := p.Take(a); err != nil {
			return nil, wire.Errorf("InvalidIPAddress.InUse", "Address %s is in use.", a)
		}
		addrs = append(addrs, a)
	}
	rest, ok := p.Allocate(want - len(addrs))
	if !ok {
		for _, a := range addrs {
			p.Release(a)
		}
		return nil, ErrSubnetFull()
	}
	addrs = append(addrs, rest...)
	blocks, ok := p.AllocatePrefixes(spec.Prefixes)
	if !ok {
		for _, a := range addrs {
			p.Release(a)
		}
		return nil, wire.Errorf("InsufficientCidrBlocks", "The specified subnet does not have enough free cidr blocks to satisfy the request.")
	}
	eni := &ec2types.NetworkInterface{
		NetworkInterfaceId: aws.String(w.IDs.EC2("eni")),
		AvailabilityZone:   subnet.AvailabilityZone,
		AvailabilityZoneId: subnet.AvailabilityZoneId,
		Description:        aws.String(spec.Description),
		Groups:             w.GroupIdentifiers(spec.Groups),
		InterfaceType:      cmp.Or(spec.Kind, ec2types.NetworkInterfaceTypeInterface),
		MacAddress:         aws.String(w.IDs.MAC()),
		OwnerId:            aws.String(w.Account),
		PrivateDnsName:     aws.String(w.PrivateName(addrs[0].String())),
		PrivateIpAddress:   aws.String(addrs[0].String()),
		RequesterManaged:   aws.Bool(false),
		SourceDestCheck:    aws.Bool(true),
		Status:             ec2types.NetworkInterfaceStatusAvailable,
		SubnetId:           subnet.SubnetId,
		TagSet:             spec.Tags,
		VpcId:              subnet.VpcId,
	}
	w.AddAddresses(eni, addrs, blocks)
	w.Interfaces.Put(*eni.NetworkInterfaceId, eni)
	return eni, nil
}

// ErrSubnetFull is EC2's answer where a subnet has no address left.
func ErrSubnetFull() *wire.Error {
	return wire.Errorf("InsufficientFreeAddressesInSubnet", "The specified subnet does not have enough free addresses to satisfy the request.")
}

// AddAddresses lists addresses on an interface; its first is the primary one.
func (w *State) AddAddresses(eni *ec2types.NetworkInterface, addrs []netip.Addr, blocks []netip.Prefix) {
	for _, a := range addrs {
		eni.PrivateIpAddresses = append(eni.PrivateIpAddresses, ec2types.NetworkInterfacePrivateIpAddress{
			Primary:          aws.Bool(len(eni.PrivateIpAddresses) == 0),
			PrivateDnsName:   aws.String(w.PrivateName(a.String())),
			PrivateIpAddress: aws.String(a.String()),
		})
	}
	for _, b := range blocks {
		eni.Ipv4Prefixes = append(eni.Ipv4Prefixes, ec2types.Ipv4PrefixSpecification{Ipv4Prefix: aws.String(b.String())})
	}
}

// PrivateName is the DNS name that EC2 gives an address.
func (w *State) PrivateName(addr string) string {
	dashed := "ip-" + strings.ReplaceAll(addr, ".", "-")
	if w.Region == "us-east-1" {
		return dashed + ".ec2.internal"
	}
	return dashed + "." + w.Region + ".compute.internal"
}

// GroupIdentifiers are security groups by id, with the names of those that are there.
func (w *State) GroupIdentifiers(groups []string) []ec2types.GroupIdentifier {
	out := make([]ec2types.GroupIdentifier, 0, len(groups))
	for _, id := range groups {
		g := ec2types.GroupIdentifier{GroupId: aws.String(id)}
		if sg := w.SecurityGroups.Get(id); sg != nil {
			g.GroupName = sg.GroupName
		}
		out = append(out, g)
	}
	return out
}

// Attach puts an interface on an instance.
func (w *State) Attach(eni *ec2types.NetworkInterface, instance string, index int32, deleteOnTermination bool) {
	eni.Status = ec2types.NetworkInterfaceStatusInUse
	eni.Attachment = &ec2types.NetworkInterfaceAttachment{
		AttachTime:          aws.Time(w.Now),
		AttachmentId:        aws.String(w.IDs.EC2("eni-attach")),
		DeleteOnTermination: aws.Bool(deleteOnTermination),
		DeviceIndex:         aws.Int32(index),
		InstanceId:          aws.String(instance),
		InstanceOwnerId:     aws.String(w.Account),
		NetworkCardIndex:    aws.Int32(0),
		Status:              ec2types.AttachmentStatusAttached,
	}
	w.Attached[instance] = append(w.Attached[instance], *eni.NetworkInterfaceId)
}

// Detach leaves an interface available.
func (w *State) Detach(eni *ec2types.NetworkInterface) {
	if eni.Attachment == nil {
		return
	}
	id := aws.ToString(eni.Attachment.InstanceId)
	w.Attached[id] = slices.DeleteFunc(w.Attached[id], func(s string) bool { return s == *eni.NetworkInterfaceId })
	eni.Attachment = nil
	eni.Status = ec2types.NetworkInterfaceStatusAvailable
}

// DropInterface deletes an interface, gives its addresses back and turns the
// routes to it to blackhole.
func (w *State) DropInterface(eni *ec2types.NetworkInterface) {
	w.Detach(eni)
	id := *eni.NetworkInterfaceId
	p := w.Pools[aws.ToString(eni.SubnetId)]
	for _, a := range eni.PrivateIpAddresses {
		w.ReleaseAddress(p, aws.ToString(a.PrivateIpAddress))
	}
	for _, b := range eni.Ipv4Prefixes {
		if block, err := netip.ParsePrefix(aws.ToString(b.Ipv4Prefix)); err == nil && p != nil {
			p.ReleaseBlock(block)
		}
	}
	w.Interfaces.Remove(id)
	w.Blackhole(func(r *ec2types.Route) bool { return aws.ToString(r.NetworkInterfaceId) == id })
}

// ReleaseAddress gives an address back to its pool, if there is one.
func (w *State) ReleaseAddress(p *addresses.Pool, addr string) {
	if a, err := netip.ParseAddr(addr); err == nil && p != nil {
		p.Release(a)
	}
}

// InterfacesOf are the interfaces on an instance, the primary one first.
func (w *State) InterfacesOf(instance string) []*ec2types.NetworkInterface {
	var out []*ec2types.NetworkInterface
	for _, id := range w.Attached[instance] {
		if eni := w.Interfaces.Get(id); eni != nil {
			out = append(out, eni)
		}
	}
	slices.SortStableFunc(out, func(a, b *ec2types.NetworkInterface) int {
		return int(aws.ToInt32(a.Attachment.DeviceIndex) - aws.ToInt32(b.Attachment.DeviceIndex))
	})
	return out
}

// NextPublicIP makes up a public address out of a block kept for examples.
func (w *State) NextPublicIP() string {
	w.publicIPs++
	return fmt.Sprintf("198.51.%d.%d", 100+w.publicIPs/250, 1+w.publicIPs%250)
}

// PublicName is the DNS name that EC2 gives a public address.
func (w *State) PublicName(addr string) string {
	dashed := "ec2-" + strings.ReplaceAll(addr, ".", "-")
	if w.Region == "us-east-1" {
		return dashed + ".compute-1.amazonaws.com"
	}
	return dashed + "." + w.Region + ".compute.amazonaws.com"
}

// Nodegroup is a managed nodegroup with its updates.
type Nodegroup struct {
	ekstypes.Nodegroup
	Updates []*ekstypes.Update
	// Failing is what the group's launches fail with, nil while they work.
	Failing *ekstypes.Issue
	// Rolling is what a rolling update brings, nil without one.
	Rolling *Release
	// Degraded is when it last became DEGRADED.
	Degraded time.Time
	// Stacked is the last status that its stack told of.
	Stacked string
}

// NodegroupKey is where something of a cluster is kept by its name: a nodegroup, an
// add-on, an access entry.
func NodegroupKey(cluster, name string) string { return cluster + "/" + name }

// NodegroupOf is the nodegroup that an instance's tags name, nil without one.
func (w *State) NodegroupOf(id string) *Nodegroup {
	in := w.Instances.Get(id)
	if in == nil {
		return nil
	}
	return w.Nodegroups.Get(NodegroupKey(TagValue(in.Tags, "eks:cluster-name"), TagValue(in.Tags, "eks:nodegroup-name")))
}

// NodegroupOfGroup is the nodegroup that a group's tags name, nil without one.
func (w *State) NodegroupOfGroup(g *Group) *Nodegroup {
	return w.Nodegroups.Get(NodegroupKey(g.Tag("eks:cluster-name"), g.Tag("eks:nodegroup-name")))
}

// GroupsOf are the Auto Scaling groups of a nodegroup.
func (w *State) GroupsOf(ng *Nodegroup) []*Group {
	var out []*Group
	if ng.Resources == nil {
		return nil
	}
	for _, a := range ng.Resources.AutoScalingGroups {
		if g := w.Groups.Get(aws.ToString(a.Name)); g != nil {
			out = append(out, g)
		}
	}
	return out
}

// Release is what a version update changes of a nodegroup.
type Release struct {
	Version  string
	Release  string
	Template *ekstypes.LaunchTemplateSpecification
}

// Joining is the release that a nodegroup's nodes join with: that of the
// rolling update while there is one.
func (ng *Nodegroup) Joining() Release {
	if ng.Rolling != nil {
		return *ng.Rolling
	}
	return Release{aws.ToString(ng.Version), aws.ToString(ng.ReleaseVersion), ng.LaunchTemplate}
}

// Blackhole marks the routes whose target is gone.
func (w *State) Blackhole(gone func(*ec2types.Route) bool) {
	for _, t := range w.RouteTables.All() {
		for i := range t.Routes {
			if gone(&t.Routes[i]) {
				t.Routes[i].State = ec2types.RouteStateBlackhole
			}
		}
	}
}

// OwnPairs gives the account's id to the group pairs of rules that name none.
func (w *State) OwnPairs(list []ec2types.IpPermission) {
	for _, p := range list {
		for i := range p.UserIdGroupPairs {
			Default(&p.UserIdGroupPairs[i].UserId, w.Account)
		}
	}
}

// ZonalShifts are the world's with their status now: a shift expires by itself
// (ARC developer guide, "Zonal shift").
func (w *State) ZonalShifts() []zonalshift.ZonalShift {
	var list []zonalshift.ZonalShift
	for _, z := range w.File.ArcZonalShift.ZonalShifts {
		switch {
		case z.StartTime.After(w.Now):
			continue
		case z.Status == "" && !z.ExpiryTime.IsZero() && !z.ExpiryTime.After(w.Now):
			z.Status = "EXPIRED"
		case z.Status == "":
			z.Status = "ACTIVE"
		}
		if z.ShiftType == "" {
			z.ShiftType = "ZONAL_SHIFT"
		}
		list = append(list, z)
	}
	return list
}

// Autoshifts are AWS's own with their status now.
func (w *State) Autoshifts() []zonalshift.Autoshift {
	var list []zonalshift.Autoshift
	for _, a := range w.File.ArcZonalShift.Autoshifts {
		switch {
		case a.StartTime.After(w.Now):
			continue
		case !a.EndTime.IsZero() && !a.EndTime.After(w.Now):
			a.Status = "COMPLETED"
		default:
			a.Status, a.EndTime = "ACTIVE", time.Time{}
		}
		list = append(list, a)
	}
	return list
}

// ShiftsOf are the shifts of a resource that ARC manages, with the one in effect applied:
// "customer-initiated zonal shifts > autoshifts > practice run zonal shifts" (ARC zonal
// shift API reference, ZonalShiftInResource, appliedStatus).
func (w *State) ShiftsOf(arn string, autoshift bool) (zonal, auto []zonalshift.AppliedShift) {
	for _, z := range w.ZonalShifts() {
		if z.ResourceIdentifier == arn && z.Status == "ACTIVE" {
			zonal = append(zonal, zonalshift.AppliedShift{
				AppliedStatus: "NOT_APPLIED", AwayFrom: z.AwayFrom, ZonalShiftId: z.ZonalShiftId, ResourceIdentifier: arn, Comment: z.Comment,
				ShiftType: z.ShiftType, PracticeRunOutcome: z.PracticeRunOutcome, StartTime: z.StartTime, ExpiryTime: z.ExpiryTime,
			})
		}
	}
	for _, a := range w.Autoshifts() {
		if autoshift && a.Status == "ACTIVE" {
			auto = append(auto, zonalshift.AppliedShift{AppliedStatus: "NOT_APPLIED", AwayFrom: a.AwayFrom, StartTime: a.StartTime})
		}
	}
	practice := func(z zonalshift.AppliedShift) bool { return z.ShiftType == "PRACTICE_RUN" }
	own := slices.IndexFunc(zonal, func(z zonalshift.AppliedShift) bool { return !practice(z) })
	switch {
	case own >= 0:
		zonal[own].AppliedStatus = "APPLIED"
	case len(auto) > 0:
		for i := range auto {
			auto[i].AppliedStatus = "APPLIED"
		}
	case len(zonal) > 0:
		zonal[0].AppliedStatus = "APPLIED"
	}
	return zonal, auto
}

// ClusterShifted reports whether a zone is shifted away from for a cluster.
func (w *State) ClusterShifted(cluster, zoneID string) bool {
	c := w.Clusters.Get(cluster)
	return c != nil && ClusterManaged(c) && w.shifted(aws.ToString(c.Arn), true, zoneID)
}

// ClusterManaged reports whether EKS has registered a cluster with ARC.
func ClusterManaged(c *ekstypes.Cluster) bool {
	return c.ZonalShiftConfig != nil && aws.ToBool(c.ZonalShiftConfig.Enabled)
}

// GroupManaged reports whether Auto Scaling has registered a group with ARC.
func GroupManaged(g *Group) bool {
	return g.AvailabilityZoneImpairmentPolicy != nil && aws.ToBool(g.AvailabilityZoneImpairmentPolicy.ZonalShiftEnabled)
}

// GroupAutoshift reports whether autoshift is on for a group.
func (w *State) GroupAutoshift(g *Group) bool {
	return slices.Contains(w.File.ArcZonalShift.Autoshifted, aws.ToString(g.AutoScalingGroupARN))
}

// GroupShifted reports whether a group launches nothing in a zone for a shift: its own
// ("Auto Scaling will launch all new capacity requests in the healthy Availability Zones",
// ARC developer guide, "Amazon EC2 Auto Scaling groups"), or the cluster's for a managed
// nodegroup ("your Auto Scaling group will be updated to ensure that new EKS data plane
// nodes are only launched in the healthy AZs", EKS user guide, "Learn about ARC zonal
// shift in Amazon EKS").
func (w *State) GroupShifted(g *Group, zoneID string) bool {
	if GroupManaged(g) && w.shifted(aws.ToString(g.AutoScalingGroupARN), w.GroupAutoshift(g), zoneID) {
		return true
	}
	ng := w.NodegroupOfGroup(g)
	return ng != nil && w.ClusterShifted(aws.ToString(ng.ClusterName), zoneID)
}

func (w *State) shifted(arn string, autoshift bool, zoneID string) bool {
	zonal, auto := w.ShiftsOf(arn, autoshift)
	return slices.ContainsFunc(append(zonal, auto...), func(s zonalshift.AppliedShift) bool {
		return s.AppliedStatus == "APPLIED" && s.AwayFrom == zoneID
	})
}

// templateKey is where a version of a launch template is kept.
func templateKey(id string, version int64) string { return id + "/" + strconv.FormatInt(version, 10) }

// TemplateVersion is a version of a launch template by id or name; the version
// is a number, "$Default", "$Latest" or empty for the default.
func (w *State) TemplateVersion(id, name, version string) *ec2types.LaunchTemplateVersion {
	t := w.TemplateNamed(id, name)
	if t == nil {
		return nil
	}
	switch version {
	case "", "$Default":
		version = strconv.FormatInt(aws.ToInt64(t.DefaultVersionNumber), 10)
	case "$Latest":
		version = strconv.FormatInt(aws.ToInt64(t.LatestVersionNumber), 10)
	}
	return w.TemplateVersions.Get(aws.ToString(t.LaunchTemplateId) + "/" + version)
}

// TemplateNamed is a launch template by id or name, nil where there is none.
func (w *State) TemplateNamed(id, name string) *ec2types.LaunchTemplate {
	if t := w.Templates.Get(id); t != nil {
		return t
	}
	for _, t := range w.Templates.All() {
		if name != "" && aws.ToString(t.LaunchTemplateName) == name {
			return t
		}
	}
	return nil
}

// GroupTemplate is the template version that a group launches from.
func (w *State) GroupTemplate(g *Group) *ec2types.LaunchTemplateVersion {
	s := g.TemplateSpec()
	if s == nil {
		return nil
	}
	return w.TemplateVersion(aws.ToString(s.LaunchTemplateId), aws.ToString(s.LaunchTemplateName), aws.ToString(s.Version))
}

// ProfileNamed is an instance profile by name or ARN.
func (w *State) ProfileNamed(name, arn string) *iamtypes.InstanceProfile {
	for _, p := range w.Profiles.All() {
		if (name != "" && aws.ToString(p.InstanceProfileName) == name) || (arn != "" && aws.ToString(p.Arn) == arn) {
			return p
		}
	}
	return nil
}

// AddTemplateVersion keeps a version of a launch template, and the template where
// it is the first.
func (w *State) AddTemplateVersion(v *ec2types.LaunchTemplateVersion) {
	id := aws.ToString(v.LaunchTemplateId)
	w.TemplateVersions.Put(templateKey(id, aws.ToInt64(v.VersionNumber)), v)
	t := w.Templates.Get(id)
	if t == nil {
		t = &ec2types.LaunchTemplate{
			LaunchTemplateId: v.LaunchTemplateId, LaunchTemplateName: v.LaunchTemplateName,
			CreateTime: v.CreateTime, CreatedBy: v.CreatedBy, DefaultVersionNumber: v.VersionNumber, LatestVersionNumber: v.VersionNumber,
		}
		w.Templates.Put(id, t)
	}
	if aws.ToBool(v.DefaultVersion) {
		t.DefaultVersionNumber = v.VersionNumber
	}
	if aws.ToInt64(v.VersionNumber) > aws.ToInt64(t.LatestVersionNumber) {
		t.LatestVersionNumber = v.VersionNumber
	}
}

// DropTemplate deletes a launch template with its versions.
func (w *State) DropTemplate(id string) {
	w.Templates.Remove(id)
	for _, v := range w.TemplateVersions.All() {
		if aws.ToString(v.LaunchTemplateId) == id {
			w.TemplateVersions.Remove(templateKey(id, aws.ToInt64(v.VersionNumber)))
		}
	}
}

const tagAutoCluster = "eks:eks-cluster-name"

const tagAutoNode = "eks:kubernetes-cni-node-name"

// AttachVolume attaches a volume to an instance of its zone.
func (w *State) AttachVolume(v *ec2types.Volume, instance, device string) error {
	in := w.Instances.Get(instance)
	switch {
	case in == nil:
		return wire.Errorf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", instance)
	case Ended(in):
		return wire.Errorf("IncorrectState", "Instance '%s' is not 'running'.", instance)
	case aws.ToString(in.Placement.AvailabilityZone) != aws.ToString(v.AvailabilityZone):
		return wire.Errorf("InvalidVolume.ZoneMismatch", "The volume '%s' is not in the same availability zone as instance '%s'", aws.ToString(v.VolumeId), instance)
	case len(v.Attachments) > 0 && !aws.ToBool(v.MultiAttachEnabled):
		return wire.Errorf("VolumeInUse", "%s is already attached to an instance", aws.ToString(v.VolumeId))
	case v.State != "" && v.State != ec2types.VolumeStateAvailable && v.State != ec2types.VolumeStateInUse:
		return wire.Errorf("IncorrectState", "Volume '%s' is in the '%s' state, and must be 'available' or 'in-use'.", aws.ToString(v.VolumeId), v.State)
	}
	if device == "" {
		device = "/dev/xvdaa"
	}
	v.State = ec2types.VolumeStateInUse
	v.Attachments = append(v.Attachments, ec2types.VolumeAttachment{
		AttachTime: aws.Time(w.Now), Device: aws.String(device), InstanceId: aws.String(instance), VolumeId: v.VolumeId,
		State: ec2types.VolumeAttachmentStateAttached, DeleteOnTermination: aws.Bool(false),
	})
	return nil
}

// ManageParts gives a managed instance its managed volumes, and makes its
// interfaces managed.
func (w *State) ManageParts(in *ec2types.Instance) error {
	id := aws.ToString(in.InstanceId)
	for _, eni := range w.InterfacesOf(id) {
		eni.Operator = Copy(in.Operator)
		if IsAutoMode(in) && len(eni.TagSet) == 0 {
			cluster := w.ClusterOf(id)
			eni.TagSet = []ec2types.Tag{
				{Key: aws.String(tagAutoCluster), Value: aws.String(cluster)}, {Key: aws.String(tagAutoNode), Value: aws.String(id)},
				{Key: aws.String("kubernetes.io/cluster/" + cluster), Value: aws.String("owned")},
			}
		}
	}
	if slices.ContainsFunc(w.Volumes.All(), func(v *ec2types.Volume) bool {
		return slices.ContainsFunc(v.Attachments, func(a ec2types.VolumeAttachment) bool { return aws.ToString(a.InstanceId) == id })
	}) {
		return nil
	}
	// Bottlerocket's two disks: the system's, and the data's, which the
	// NodeClass sizes (ephemeralStorage.size, 80Gi where it says nothing).
	for _, disk := range []struct {
		device string
		gib    int32
	}{{"/dev/xvda", 4}, {"/dev/xvdb", 80}} {
		v := &ec2types.Volume{
			VolumeId: aws.String(w.IDs.EC2("vol")), AvailabilityZone: in.Placement.AvailabilityZone, AvailabilityZoneId: in.Placement.AvailabilityZoneId,
			CreateTime: in.LaunchTime, Size: aws.Int32(disk.gib), VolumeType: ec2types.VolumeTypeGp3, Encrypted: aws.Bool(true),
			MultiAttachEnabled: aws.Bool(false), Operator: Copy(in.Operator), Tags: slices.Clone(in.Tags), State: ec2types.VolumeStateAvailable,
		}
		w.Volumes.Put(*v.VolumeId, v)
		if err := w.AttachVolume(v, id, disk.device); err != nil {
			return err
		}
		v.Attachments[0].DeleteOnTermination, v.Attachments[0].AttachTime = aws.Bool(true), in.LaunchTime
		in.BlockDeviceMappings = append(in.BlockDeviceMappings, ec2types.InstanceBlockDeviceMapping{
			DeviceName: aws.String(disk.device),
			Ebs: &ec2types.EbsInstanceBlockDevice{
				AttachTime: in.LaunchTime, DeleteOnTermination: aws.Bool(true), Status: ec2types.AttachmentStatusAttached, VolumeId: v.VolumeId,
				Operator: Copy(in.Operator),
			},
		})
	}
	return nil
}

// DetachVolumes gives up all attachments to an instance.
func (w *State) DetachVolumes(instance string) {
	for _, v := range w.Volumes.All() {
		DetachVolume(v, instance)
	}
}

// DetachVolume takes a volume from an instance; false where it was not attached.
func DetachVolume(v *ec2types.Volume, instance string) bool {
	before := len(v.Attachments)
	v.Attachments = slices.DeleteFunc(v.Attachments, func(a ec2types.VolumeAttachment) bool { return aws.ToString(a.InstanceId) == instance })
	if len(v.Attachments) == 0 && v.State == ec2types.VolumeStateInUse {
		v.State = ec2types.VolumeStateAvailable
	}
	return len(v.Attachments) < before
}

// DropVolumes deletes the volumes that go with an instance.
func (w *State) DropVolumes(instance string) {
	for _, v := range w.Volumes.All() {
		if slices.ContainsFunc(v.Attachments, func(a ec2types.VolumeAttachment) bool {
			return aws.ToString(a.InstanceId) == instance && aws.ToBool(a.DeleteOnTermination)
		}) {
			w.Volumes.Remove(aws.ToString(v.VolumeId))
		}
	}
}
