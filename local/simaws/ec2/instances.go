package ec2

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/authorization"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

func instanceFilters() table.Filters[ec2types.Instance] {
	type in = ec2types.Instance
	return operatorFilters(table.Filters[in]{
		"instance-id":         func(v *in) []string { return table.One(v.InstanceId) },
		"instance-type":       func(v *in) []string { return []string{string(v.InstanceType)} },
		"instance-state-name": func(v *in) []string { return []string{string(v.State.Name)} },
		"instance-state-code": func(v *in) []string { return []string{fmt.Sprint(aws.ToInt32(v.State.Code))} },
		"instance-lifecycle":  func(v *in) []string { return []string{string(v.InstanceLifecycle)} },
		"architecture":        func(v *in) []string { return []string{string(v.Architecture)} },
		"vpc-id":              func(v *in) []string { return table.One(v.VpcId) },
		"subnet-id":           func(v *in) []string { return table.One(v.SubnetId) },
		"image-id":            func(v *in) []string { return table.One(v.ImageId) },
		"key-name":            func(v *in) []string { return table.One(v.KeyName) },
		"availability-zone":   func(v *in) []string { return table.One(v.Placement.AvailabilityZone) },
		"private-dns-name":    func(v *in) []string { return table.One(v.PrivateDnsName) },
		"private-ip-address":  func(v *in) []string { return table.One(v.PrivateIpAddress) },
		"ip-address":          func(v *in) []string { return table.One(v.PublicIpAddress) },
		"dns-name":            func(v *in) []string { return table.One(v.PublicDnsName) },
		"launch-time":         func(v *in) []string { return []string{v.LaunchTime.UTC().Format("2006-01-02T15:04:05.000Z")} },
		"spot-instance-request-id": func(v *in) []string {
			return table.One(v.SpotInstanceRequestId)
		},
		"iam-instance-profile.arn": func(v *in) []string {
			if v.IamInstanceProfile == nil {
				return nil
			}
			return table.One(v.IamInstanceProfile.Arn)
		},
		"instance.group-id": func(v *in) []string {
			return table.Each(v.SecurityGroups, func(g ec2types.GroupIdentifier) *string { return g.GroupId })
		},
		"network-interface.network-interface-id": func(v *in) []string {
			return table.Each(v.NetworkInterfaces, func(n ec2types.InstanceNetworkInterface) *string { return n.NetworkInterfaceId })
		},
		"network-interface.subnet-id": func(v *in) []string {
			return table.Each(v.NetworkInterfaces, func(n ec2types.InstanceNetworkInterface) *string { return n.SubnetId })
		},
	}, func(v *in) *ec2types.OperatorResponse { return v.Operator })
}

func instanceMissing(ids []string) *wire.Error {
	return wire.Errorf("InvalidInstanceID.NotFound", "%s", lifecycle.InstanceIDs(ids))
}

// DescribeInstances lists instances, those that ended within the hour too.
func (s API) DescribeInstances(in *ec2.DescribeInstancesInput) (*ec2.DescribeInstancesOutput, error) {
	defer s.w.Enter()()
	w := s.w
	list, next, err := table.Selection[ec2types.Instance]{
		Table: w.Instances, ID: func(v *ec2types.Instance) *string { return v.InstanceId }, IDs: in.InstanceIds,
		Missing: instanceMissing, Filters: in.Filters, Known: instanceFilters(),
		Tags:   func(v *ec2types.Instance) []ec2types.Tag { return v.Tags },
		Hidden: func(v *ec2types.Instance) bool { return hides(w, v.Operator, in.IncludeManagedResources) },
		Size:   in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage, IDsBarPaging: "instancesSet",
	}.Run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstancesOutput{NextToken: next}
	at := map[string]int{}
	for _, v := range list {
		r := w.ReservationOf[*v.InstanceId]
		i, ok := at[r]
		if !ok {
			i = len(out.Reservations)
			at[r] = i
			out.Reservations = append(out.Reservations, deepcopy.Of(w.Reservations[r]))
		}
		out.Reservations[i].Instances = append(out.Reservations[i].Instances, shown(w, v))
	}
	return out, nil
}

// shown is an instance as it is described: with the interfaces it has now.
func shown(w *state.State, v *ec2types.Instance) ec2types.Instance {
	out := deepcopy.Of(*v)
	out.Operator = operatorShown(w, v.Operator)
	out.NetworkInterfaces = []ec2types.InstanceNetworkInterface{}
	for _, eni := range w.InterfacesOf(*v.InstanceId) {
		e := deepcopy.Of(*eni)
		n := ec2types.InstanceNetworkInterface{
			NetworkInterfaceId: e.NetworkInterfaceId, Description: e.Description, Groups: e.Groups, InterfaceType: aws.String(string(e.InterfaceType)),
			MacAddress: e.MacAddress, OwnerId: e.OwnerId, PrivateDnsName: e.PrivateDnsName, PrivateIpAddress: e.PrivateIpAddress,
			SourceDestCheck: e.SourceDestCheck, Status: e.Status, SubnetId: e.SubnetId, VpcId: e.VpcId, Ipv6Addresses: []ec2types.InstanceIpv6Address{},
			Attachment: &ec2types.InstanceNetworkInterfaceAttachment{
				AttachTime: e.Attachment.AttachTime, AttachmentId: e.Attachment.AttachmentId, DeleteOnTermination: e.Attachment.DeleteOnTermination,
				DeviceIndex: e.Attachment.DeviceIndex, NetworkCardIndex: e.Attachment.NetworkCardIndex, Status: e.Attachment.Status,
			},
		}
		if a := e.Association; a != nil {
			n.Association = &ec2types.InstanceNetworkInterfaceAssociation{IpOwnerId: a.IpOwnerId, PublicDnsName: a.PublicDnsName, PublicIp: a.PublicIp}
		}
		n.Operator = operatorShown(w, e.Operator)
		for _, a := range e.PrivateIpAddresses {
			n.PrivateIpAddresses = append(n.PrivateIpAddresses, ec2types.InstancePrivateIpAddress{Primary: a.Primary, PrivateDnsName: a.PrivateDnsName, PrivateIpAddress: a.PrivateIpAddress})
		}
		for _, b := range e.Ipv4Prefixes {
			n.Ipv4Prefixes = append(n.Ipv4Prefixes, ec2types.InstanceIpv4Prefix{Ipv4Prefix: b.Ipv4Prefix})
		}
		out.NetworkInterfaces = append(out.NetworkInterfaces, n)
	}
	return out
}

// RunInstances launches instances outside any group, as Karpenter does.
func (s API) RunInstances(in *ec2.RunInstancesInput) (*ec2.RunInstancesOutput, error) {
	defer s.w.Enter()()
	w := s.w
	spec := lifecycle.InstanceSpec{
		Subnet: aws.ToString(in.SubnetId), InstanceType: string(in.InstanceType), Image: aws.ToString(in.ImageId), Groups: in.SecurityGroupIds,
		KeyName: aws.ToString(in.KeyName), UserData: aws.ToString(in.UserData), Tags: tagsFor(in.TagSpecifications, ec2types.ResourceTypeInstance),
		Operator: operatorOf(in.Operator),
		Spot:     in.InstanceMarketOptions != nil && in.InstanceMarketOptions.MarketType == ec2types.MarketTypeSpot,
	}
	template, err := s.fromTemplate(in, &spec)
	if err != nil {
		return nil, err
	}
	if spec.InstanceType == "" {
		spec.InstanceType = "m1.small"
	}
	if p := in.IamInstanceProfile; p != nil {
		profile := w.ProfileNamed(aws.ToString(p.Name), aws.ToString(p.Arn))
		if profile == nil {
			return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", aws.ToString(p.Name)+aws.ToString(p.Arn))
		}
		spec.ProfileARN, spec.ProfileID = aws.ToString(profile.Arn), aws.ToString(profile.InstanceProfileId)
	}
	if err := authorization.Run(w, s.caller, launchOf(spec, in.TagSpecifications, template)); err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	n := int(aws.ToInt32(in.MaxCount))
	if p := w.Pools[spec.Subnet]; p != nil {
		n = min(n, max(p.Free(), int(aws.ToInt32(in.MinCount))))
	}
	out := &ec2.RunInstancesOutput{OwnerId: aws.String(w.Account), Groups: []ec2types.GroupIdentifier{}}
	for i := range n {
		v, err := lifecycle.Launch(w, spec)
		if err != nil {
			if i < int(aws.ToInt32(in.MinCount)) {
				for _, done := range out.Instances {
					lifecycle.BecomeTerminated(w, *done.InstanceId)
				}
				return nil, err
			}
			break
		}
		v.AmiLaunchIndex = aws.Int32(int32(i))
		if out.ReservationId == nil {
			out.ReservationId = aws.String(w.ReservationOf[*v.InstanceId])
		}
		w.ReservationOf[*v.InstanceId] = *out.ReservationId
		out.Instances = append(out.Instances, shown(w, v))
	}
	return out, nil
}

// fromTemplate takes what a request leaves to its launch template, and tells which
// that is.
func (s API) fromTemplate(in *ec2.RunInstancesInput, spec *lifecycle.InstanceSpec) (id string, err error) {
	if len(in.NetworkInterfaces) > 0 {
		spec.Subnet = cmp.Or(spec.Subnet, aws.ToString(in.NetworkInterfaces[0].SubnetId))
		spec.Groups = append(spec.Groups, in.NetworkInterfaces[0].Groups...)
	}
	t := in.LaunchTemplate
	if t == nil {
		return "", nil
	}
	v, err := namedTemplate(s.w, t.LaunchTemplateId, t.LaunchTemplateName, t.Version)
	if err != nil {
		return "", err
	}
	from, err := lifecycle.TemplateSpec(s.w, v, spec.Subnet)
	if err != nil {
		return "", err
	}
	from.Tags, from.Operator, from.Spot = spec.Tags, spec.Operator, spec.Spot
	from.InstanceType, from.Image = cmp.Or(spec.InstanceType, from.InstanceType), cmp.Or(spec.Image, from.Image)
	from.KeyName, from.UserData = cmp.Or(spec.KeyName, from.KeyName), cmp.Or(spec.UserData, from.UserData)
	if len(spec.Groups) > 0 {
		from.Groups = spec.Groups
	}
	*spec = from
	return aws.ToString(v.LaunchTemplateId), nil
}

// TerminateInstances ends instances.
func (s API) TerminateInstances(in *ec2.TerminateInstancesInput) (*ec2.TerminateInstancesOutput, error) {
	defer s.w.Enter()()
	var missing []string
	for _, id := range in.InstanceIds {
		if s.w.Instances.Get(id) == nil {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		return nil, instanceMissing(missing)
	}
	for _, id := range in.InstanceIds {
		if err := refusedByOperator(s.w.Instances.Get(id)); err != nil {
			return nil, err
		}
	}
	if err := authorization.On(s.w, s.caller, "ec2:TerminateInstances", in.InstanceIds, nil); err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	out := &ec2.TerminateInstancesOutput{}
	for _, id := range in.InstanceIds {
		before := deepcopy.Of(s.w.Instances.Get(id).State)
		lifecycle.Terminate(s.w, id, lifecycle.UserShutdown())
		out.TerminatingInstances = append(out.TerminatingInstances, ec2types.InstanceStateChange{
			InstanceId: aws.String(id), PreviousState: before, CurrentState: deepcopy.Of(s.w.Instances.Get(id).State),
		})
	}
	return out, nil
}

// DescribeInstanceAttribute shows user data and the shutdown behaviour.
func (s API) DescribeInstanceAttribute(in *ec2.DescribeInstanceAttributeInput) (*ec2.DescribeInstanceAttributeOutput, error) {
	defer s.w.Enter()()
	id := aws.ToString(in.InstanceId)
	v := s.w.Instances.Get(id)
	if v == nil {
		return nil, instanceMissing([]string{id})
	}
	out := &ec2.DescribeInstanceAttributeOutput{InstanceId: in.InstanceId}
	switch in.Attribute {
	case ec2types.InstanceAttributeNameUserData:
		// What EC2 answers of an instance that has ended is not documented (botocore's
		// model, ec2/2016-11-15, DescribeInstanceAttribute). That it stops telling some
		// attributes is known (sourceDestCheck: ansible/ansible-modules-extras, pull
		// request 1196), and readers take both an answer without a value and
		// InvalidInstanceID.NotFound (prowler, providers/aws/services/ec2). This is the
		// unkindest: an empty one, as of an instance that never had any.
		out.UserData = &ec2types.AttributeValue{}
		if data, ok := s.w.UserData[id]; ok && v.State.Name != ec2types.InstanceStateNameTerminated {
			out.UserData.Value = aws.String(data)
		}
	case ec2types.InstanceAttributeNameInstanceType:
		out.InstanceType = &ec2types.AttributeValue{Value: aws.String(string(v.InstanceType))}
	case ec2types.InstanceAttributeNameSourceDestCheck:
		out.SourceDestCheck = &ec2types.AttributeBooleanValue{Value: deepcopy.Of(v.SourceDestCheck)}
	case ec2types.InstanceAttributeNameInstanceInitiatedShutdownBehavior:
		out.InstanceInitiatedShutdownBehavior = &ec2types.AttributeValue{Value: aws.String("terminate")}
	default:
		return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter attribute is invalid.", in.Attribute)
	}
	return out, nil
}

// GetConsoleOutput shows what the world wrote for an instance's console. Latest is the serial
// console of one that runs; after its end only what was posted then is there (EC2 API
// reference, GetConsoleOutput; NixOS/amis#4).
func (s API) GetConsoleOutput(in *ec2.GetConsoleOutputInput) (*ec2.GetConsoleOutputOutput, error) {
	defer s.w.Enter()()
	id := aws.ToString(in.InstanceId)
	instance := s.w.Instances.Get(id)
	if instance == nil {
		return nil, instanceMissing([]string{id})
	}
	live := instance.State == nil || instance.State.Name == ec2types.InstanceStateNameRunning || instance.State.Name == ec2types.InstanceStateNamePending
	out := &ec2.GetConsoleOutputOutput{InstanceId: in.InstanceId, Timestamp: aws.Time(s.w.Now.Truncate(time.Second))}
	if text := s.w.Console[id]; text != "" && (live || !aws.ToBool(in.Latest)) {
		out.Output = aws.String(base64.StdEncoding.EncodeToString([]byte(text)))
	}
	return out, nil
}
