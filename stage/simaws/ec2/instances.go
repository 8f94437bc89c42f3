package ec2

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/authorization"
	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
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
			out.Reservations = append(out.Reservations, state.Copy(w.Reservations[r]))
		}
		out.Reservations[i].Instances = append(out.Reservations[i].Instances, shown(w, v))
	}
	return out, nil
}

// shown is an instance as it is described: with the interfaces it has now.
func shown(w *state.State, v *ec2types.Instance) ec2types.Instance {
	out := state.Copy(*v)
	out.Operator = operatorShown(w, v.Operator)
	out.NetworkInterfaces = []ec2types.InstanceNetworkInterface{}
	for _, eni := range w.InterfacesOf(*v.InstanceId) {
		e := state.Copy(*eni)
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
		before := state.Copy(s.w.Instances.Get(id).State)
		lifecycle.Terminate(s.w, id, lifecycle.UserShutdown())
		out.TerminatingInstances = append(out.TerminatingInstances, ec2types.InstanceStateChange{
			InstanceId: aws.String(id), PreviousState: before, CurrentState: state.Copy(s.w.Instances.Get(id).State),
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
		out.SourceDestCheck = &ec2types.AttributeBooleanValue{Value: state.Copy(v.SourceDestCheck)}
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

const (
	// natTime is how long a NAT gateway takes to become available or deleted.
	natTime = 30 * time.Second
	// endpointTime is the same for an interface endpoint.
	endpointTime = 30 * time.Second
)

func natNotFound(ids []string) *wire.Error {
	return wire.Errorf("NatGatewayNotFound", "The Nat gateway %s was not found", ids[0])
}

// DescribeNatGateways lists NAT gateways; a deleted one for an hour.
func (s API) DescribeNatGateways(in *ec2.DescribeNatGatewaysInput) (*ec2.DescribeNatGatewaysOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.NatGateway]{
		Table: s.w.NATGateways, ID: func(v *ec2types.NatGateway) *string { return v.NatGatewayId }, IDs: in.NatGatewayIds,
		Missing: natNotFound, Filters: in.Filter,
		Known: table.Filters[ec2types.NatGateway]{
			"nat-gateway-id": func(v *ec2types.NatGateway) []string { return table.One(v.NatGatewayId) },
			"vpc-id":         func(v *ec2types.NatGateway) []string { return table.One(v.VpcId) },
			"subnet-id":      func(v *ec2types.NatGateway) []string { return table.One(v.SubnetId) },
			"state":          func(v *ec2types.NatGateway) []string { return []string{string(v.State)} },
		},
		Tags: func(v *ec2types.NatGateway) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeNatGatewaysOutput{NatGateways: state.CopyEach(list), NextToken: next}, nil
}

// CreateNatGateway makes a NAT gateway, pending at first.
func (s API) CreateNatGateway(in *ec2.CreateNatGatewayInput) (*ec2.CreateNatGatewayOutput, error) {
	defer s.w.Enter()()
	w := s.w
	if in.SubnetId == nil {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter subnetId")
	}
	if w.Subnets.Get(*in.SubnetId) == nil {
		return nil, notFound("InvalidSubnetID.NotFound", "subnet ID")([]string{*in.SubnetId})
	}
	kind := in.ConnectivityType
	state.DefaultPlain(&kind, ec2types.ConnectivityTypePublic)
	if kind == ec2types.ConnectivityTypePublic && in.AllocationId == nil {
		return nil, wire.Errorf("MissingParameter", "The request must include the AllocationId parameter. Add the required parameter and retry the request.")
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	n := &ec2types.NatGateway{
		NatGatewayId: aws.String(w.IDs.EC2("nat")), SubnetId: in.SubnetId, State: ec2types.NatGatewayStatePending,
		ConnectivityType: kind, CreateTime: aws.Time(w.Now), Tags: tagsFor(in.TagSpecifications, ec2types.ResourceTypeNatgateway),
		NatGatewayAddresses: []ec2types.NatGatewayAddress{{AllocationId: in.AllocationId}},
	}
	if a := w.Addresses.Get(aws.ToString(in.AllocationId)); a != nil {
		n.NatGatewayAddresses[0].PublicIp = a.PublicIp
	}
	if err := NATInterface(w, n, *n.NatGatewayId); err != nil {
		return nil, state.ErrSubnetFull()
	}
	w.NATGateways.Put(*n.NatGatewayId, n)
	w.After(natTime, func() {
		if n.State == ec2types.NatGatewayStatePending {
			n.State = ec2types.NatGatewayStateAvailable
		}
	})
	return &ec2.CreateNatGatewayOutput{NatGateway: state.Copy(n), ClientToken: in.ClientToken}, nil
}

// DeleteNatGateway begins to delete a NAT gateway. The routes to it stay, as
// blackholes.
func (s API) DeleteNatGateway(in *ec2.DeleteNatGatewayInput) (*ec2.DeleteNatGatewayOutput, error) {
	defer s.w.Enter()()
	w := s.w
	id := aws.ToString(in.NatGatewayId)
	n := w.NATGateways.Get(id)
	if n == nil || n.State == ec2types.NatGatewayStateDeleted {
		return nil, natNotFound([]string{id})
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	if n.State != ec2types.NatGatewayStateDeleting {
		n.State = ec2types.NatGatewayStateDeleting
		w.Blackhole(func(r *ec2types.Route) bool { return aws.ToString(r.NatGatewayId) == id })
		w.After(natTime, func() { natDeleted(w, n) })
	}
	return &ec2.DeleteNatGatewayOutput{NatGatewayId: in.NatGatewayId}, nil
}

func natDeleted(w *state.State, n *ec2types.NatGateway) {
	n.State = ec2types.NatGatewayStateDeleted
	n.DeleteTime = aws.Time(w.Now)
	for _, a := range n.NatGatewayAddresses {
		if eni := w.Interfaces.Get(aws.ToString(a.NetworkInterfaceId)); eni != nil {
			w.DropInterface(eni)
		}
	}
	w.After(state.TerminatedTime, func() { w.NATGateways.Remove(*n.NatGatewayId) })
}

// DescribeVpcEndpoints lists VPC endpoints.
func (s API) DescribeVpcEndpoints(in *ec2.DescribeVpcEndpointsInput) (*ec2.DescribeVpcEndpointsOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.VpcEndpoint]{
		Table: s.w.Endpoints, ID: func(v *ec2types.VpcEndpoint) *string { return v.VpcEndpointId }, IDs: in.VpcEndpointIds,
		Missing: notFound("InvalidVpcEndpointId.NotFound", "Vpc Endpoint Id"), Filters: in.Filters,
		Known: table.Filters[ec2types.VpcEndpoint]{
			"vpc-endpoint-id":    func(v *ec2types.VpcEndpoint) []string { return table.One(v.VpcEndpointId) },
			"vpc-id":             func(v *ec2types.VpcEndpoint) []string { return table.One(v.VpcId) },
			"service-name":       func(v *ec2types.VpcEndpoint) []string { return table.One(v.ServiceName) },
			"vpc-endpoint-type":  func(v *ec2types.VpcEndpoint) []string { return []string{string(v.VpcEndpointType)} },
			"vpc-endpoint-state": func(v *ec2types.VpcEndpoint) []string { return []string{string(v.State)} },
			"ip-address-type":    func(v *ec2types.VpcEndpoint) []string { return []string{string(v.IpAddressType)} },
		},
		Tags: func(v *ec2types.VpcEndpoint) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: 1, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeVpcEndpointsOutput{VpcEndpoints: state.CopyEach(list), NextToken: next}, nil
}

// CreateVpcEndpoint makes an interface or gateway endpoint.
func (s API) CreateVpcEndpoint(in *ec2.CreateVpcEndpointInput) (*ec2.CreateVpcEndpointOutput, error) {
	defer s.w.Enter()()
	w := s.w
	if w.Vpcs.Get(aws.ToString(in.VpcId)) == nil {
		return nil, notFound("InvalidVpcID.NotFound", "Vpc Id")([]string{aws.ToString(in.VpcId)})
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	e := &ec2types.VpcEndpoint{
		VpcEndpointId: aws.String(w.IDs.EC2("vpce")), VpcId: in.VpcId, ServiceName: in.ServiceName, VpcEndpointType: in.VpcEndpointType,
		CreationTimestamp: aws.Time(w.Now), OwnerId: aws.String(w.Account), RequesterManaged: aws.Bool(false), PolicyDocument: in.PolicyDocument,
		PrivateDnsEnabled: in.PrivateDnsEnabled, RouteTableIds: in.RouteTableIds, SubnetIds: in.SubnetIds,
		Tags: tagsFor(in.TagSpecifications, ec2types.ResourceTypeVpcEndpoint),
	}
	state.DefaultPlain(&e.VpcEndpointType, ec2types.VpcEndpointTypeGateway)
	e.State = ec2types.StateAvailable
	if e.VpcEndpointType == ec2types.VpcEndpointTypeInterface {
		e.State = ec2types.StatePending
		state.Default(&e.PrivateDnsEnabled, true)
		groups := in.SecurityGroupIds
		if len(groups) == 0 {
			groups = w.DefaultGroup(aws.ToString(in.VpcId))
		}
		for _, g := range w.GroupIdentifiers(groups) {
			e.Groups = append(e.Groups, ec2types.SecurityGroupIdentifier{GroupId: g.GroupId, GroupName: g.GroupName})
		}
		if err := EndpointInterfaces(w, e); err != nil {
			return nil, state.ErrSubnetFull()
		}
		w.After(endpointTime, func() { e.State = ec2types.StateAvailable })
	}
	w.Endpoints.Put(*e.VpcEndpointId, e)
	return &ec2.CreateVpcEndpointOutput{VpcEndpoint: state.Copy(e), ClientToken: in.ClientToken}, nil
}

// DescribeSecurityGroups lists security groups.
func (s API) DescribeSecurityGroups(in *ec2.DescribeSecurityGroupsInput) (*ec2.DescribeSecurityGroupsOutput, error) {
	defer s.w.Enter()()
	want := slices.Clone(in.Filters)
	if len(in.GroupNames) > 0 {
		want = append(want, ec2types.Filter{Name: aws.String("group-name"), Values: in.GroupNames})
	}
	list, next, err := table.Selection[ec2types.SecurityGroup]{
		Table: s.w.SecurityGroups, ID: func(v *ec2types.SecurityGroup) *string { return v.GroupId }, IDs: in.GroupIds,
		Missing: notFound("InvalidGroup.NotFound", "security group"), Filters: want,
		Known: table.Filters[ec2types.SecurityGroup]{
			"group-id":    func(v *ec2types.SecurityGroup) []string { return table.One(v.GroupId) },
			"group-name":  func(v *ec2types.SecurityGroup) []string { return table.One(v.GroupName) },
			"vpc-id":      func(v *ec2types.SecurityGroup) []string { return table.One(v.VpcId) },
			"owner-id":    func(v *ec2types.SecurityGroup) []string { return table.One(v.OwnerId) },
			"description": func(v *ec2types.SecurityGroup) []string { return table.One(v.Description) },
			"ip-permission.cidr": func(v *ec2types.SecurityGroup) []string {
				var out []string
				for _, p := range v.IpPermissions {
					out = append(out, table.Each(p.IpRanges, func(r ec2types.IpRange) *string { return r.CidrIp })...)
				}
				return out
			},
			"ip-permission.group-id": func(v *ec2types.SecurityGroup) []string {
				var out []string
				for _, p := range v.IpPermissions {
					out = append(out, table.Each(p.UserIdGroupPairs, func(u ec2types.UserIdGroupPair) *string { return u.GroupId })...)
				}
				return out
			},
		},
		Tags: func(v *ec2types.SecurityGroup) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeSecurityGroupsOutput{SecurityGroups: state.CopyEach(list), NextToken: next}, nil
}

func securityGroup(w *state.State, id *string) (*ec2types.SecurityGroup, error) {
	if g := w.SecurityGroups.Get(aws.ToString(id)); g != nil {
		return g, nil
	}
	return nil, notFound("InvalidGroup.NotFound", "security group")([]string{aws.ToString(id)})
}

// AuthorizeSecurityGroupIngress lets traffic in.
func (s API) AuthorizeSecurityGroupIngress(in *ec2.AuthorizeSecurityGroupIngressInput) (*ec2.AuthorizeSecurityGroupIngressOutput, error) {
	defer s.w.Enter()()
	g, err := securityGroup(s.w, in.GroupId)
	if err != nil {
		return nil, err
	}
	rules := in.IpPermissions
	if len(rules) == 0 {
		rules = flatRule(in.IpProtocol, in.FromPort, in.ToPort, in.CidrIp)
	}
	if err := authorize(s.w, g, &g.IpPermissions, rules, in.DryRun); err != nil {
		return nil, err
	}
	return &ec2.AuthorizeSecurityGroupIngressOutput{Return: aws.Bool(true)}, nil
}

// AuthorizeSecurityGroupEgress lets traffic out.
func (s API) AuthorizeSecurityGroupEgress(in *ec2.AuthorizeSecurityGroupEgressInput) (*ec2.AuthorizeSecurityGroupEgressOutput, error) {
	defer s.w.Enter()()
	g, err := securityGroup(s.w, in.GroupId)
	if err != nil {
		return nil, err
	}
	rules := in.IpPermissions
	if len(rules) == 0 {
		rules = flatRule(in.IpProtocol, in.FromPort, in.ToPort, in.CidrIp)
	}
	if err := authorize(s.w, g, &g.IpPermissionsEgress, rules, in.DryRun); err != nil {
		return nil, err
	}
	return &ec2.AuthorizeSecurityGroupEgressOutput{Return: aws.Bool(true)}, nil
}

// RevokeSecurityGroupIngress takes rules for traffic in away.
func (s API) RevokeSecurityGroupIngress(in *ec2.RevokeSecurityGroupIngressInput) (*ec2.RevokeSecurityGroupIngressOutput, error) {
	defer s.w.Enter()()
	g, err := securityGroup(s.w, in.GroupId)
	if err != nil {
		return nil, err
	}
	rules := in.IpPermissions
	if len(rules) == 0 {
		rules = flatRule(in.IpProtocol, in.FromPort, in.ToPort, in.CidrIp)
	}
	if err := revoke(&g.IpPermissions, rules, in.DryRun); err != nil {
		return nil, err
	}
	return &ec2.RevokeSecurityGroupIngressOutput{Return: aws.Bool(true)}, nil
}

// flatRule is a rule given by single parameters.
func flatRule(protocol *string, from, to *int32, cidr *string) []ec2types.IpPermission {
	if protocol == nil {
		return nil
	}
	p := ec2types.IpPermission{IpProtocol: protocol, FromPort: from, ToPort: to}
	if cidr != nil {
		p.IpRanges = []ec2types.IpRange{{CidrIp: cidr}}
	}
	return []ec2types.IpPermission{p}
}

// split makes rules of one peer each, which is how EC2 compares them.
func split(list []ec2types.IpPermission) []ec2types.IpPermission {
	var out []ec2types.IpPermission
	for _, p := range list {
		base := ec2types.IpPermission{IpProtocol: p.IpProtocol, FromPort: p.FromPort, ToPort: p.ToPort}
		for _, r := range p.IpRanges {
			one := state.Copy(base)
			one.IpRanges = []ec2types.IpRange{state.Copy(r)}
			out = append(out, one)
		}
		for _, r := range p.Ipv6Ranges {
			one := state.Copy(base)
			one.Ipv6Ranges = []ec2types.Ipv6Range{state.Copy(r)}
			out = append(out, one)
		}
		for _, r := range p.PrefixListIds {
			one := state.Copy(base)
			one.PrefixListIds = []ec2types.PrefixListId{state.Copy(r)}
			out = append(out, one)
		}
		for _, r := range p.UserIdGroupPairs {
			one := state.Copy(base)
			one.UserIdGroupPairs = []ec2types.UserIdGroupPair{state.Copy(r)}
			out = append(out, one)
		}
	}
	return out
}

// peer is what a rule of one peer is compared by.
func peer(p ec2types.IpPermission) [4]string {
	key := [4]string{aws.ToString(p.IpProtocol), strconv.Itoa(int(aws.ToInt32(p.FromPort))), strconv.Itoa(int(aws.ToInt32(p.ToPort)))}
	if key[0] == "-1" {
		key[1], key[2] = "", ""
	}
	switch {
	case len(p.IpRanges) > 0:
		key[3] = aws.ToString(p.IpRanges[0].CidrIp)
	case len(p.Ipv6Ranges) > 0:
		key[3] = aws.ToString(p.Ipv6Ranges[0].CidrIpv6)
	case len(p.PrefixListIds) > 0:
		key[3] = aws.ToString(p.PrefixListIds[0].PrefixListId)
	case len(p.UserIdGroupPairs) > 0:
		key[3] = aws.ToString(p.UserIdGroupPairs[0].GroupId)
	}
	return key
}

func revoke(have *[]ec2types.IpPermission, gone []ec2types.IpPermission, dry *bool) error {
	known := split(*have)
	for _, p := range split(gone) {
		i := slices.IndexFunc(known, func(k ec2types.IpPermission) bool { return peer(k) == peer(p) })
		if i < 0 {
			return wire.Errorf("InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
		}
		known = slices.Delete(known, i, i+1)
	}
	if err := dryRun(dry); err != nil {
		return err
	}
	*have = known
	return nil
}

func interfaceFilters() table.Filters[ec2types.NetworkInterface] {
	type eni = ec2types.NetworkInterface
	attached := func(value func(*ec2types.NetworkInterfaceAttachment) *string) func(*eni) []string {
		return func(v *eni) []string {
			if v.Attachment == nil {
				return nil
			}
			return table.One(value(v.Attachment))
		}
	}
	return operatorFilters(table.Filters[eni]{
		"network-interface-id": func(v *eni) []string { return table.One(v.NetworkInterfaceId) },
		"subnet-id":            func(v *eni) []string { return table.One(v.SubnetId) },
		"vpc-id":               func(v *eni) []string { return table.One(v.VpcId) },
		"availability-zone":    func(v *eni) []string { return table.One(v.AvailabilityZone) },
		"description":          func(v *eni) []string { return table.One(v.Description) },
		"status":               func(v *eni) []string { return []string{string(v.Status)} },
		"interface-type":       func(v *eni) []string { return []string{string(v.InterfaceType)} },
		"owner-id":             func(v *eni) []string { return table.One(v.OwnerId) },
		"requester-id":         func(v *eni) []string { return table.One(v.RequesterId) },
		"requester-managed":    func(v *eni) []string { return table.YesNo(v.RequesterManaged) },
		"mac-address":          func(v *eni) []string { return table.One(v.MacAddress) },
		"private-dns-name":     func(v *eni) []string { return table.One(v.PrivateDnsName) },
		"private-ip-address":   func(v *eni) []string { return table.One(v.PrivateIpAddress) },
		"source-dest-check":    func(v *eni) []string { return table.YesNo(v.SourceDestCheck) },
		"group-id": func(v *eni) []string {
			return table.Each(v.Groups, func(g ec2types.GroupIdentifier) *string { return g.GroupId })
		},
		"addresses.private-ip-address": func(v *eni) []string {
			return table.Each(v.PrivateIpAddresses, func(a ec2types.NetworkInterfacePrivateIpAddress) *string { return a.PrivateIpAddress })
		},
		"addresses.primary": func(v *eni) []string {
			return table.Each(v.PrivateIpAddresses, func(a ec2types.NetworkInterfacePrivateIpAddress) *string {
				return aws.String(table.YesNo(a.Primary)[0])
			})
		},
		"association.public-ip": func(v *eni) []string {
			if v.Association == nil {
				return nil
			}
			return table.One(v.Association.PublicIp)
		},
		"attachment.attachment-id":     attached(func(a *ec2types.NetworkInterfaceAttachment) *string { return a.AttachmentId }),
		"attachment.instance-id":       attached(func(a *ec2types.NetworkInterfaceAttachment) *string { return a.InstanceId }),
		"attachment.instance-owner-id": attached(func(a *ec2types.NetworkInterfaceAttachment) *string { return a.InstanceOwnerId }),
		"attachment.status":            attached(func(a *ec2types.NetworkInterfaceAttachment) *string { return aws.String(string(a.Status)) }),
		"attachment.delete-on-termination": attached(func(a *ec2types.NetworkInterfaceAttachment) *string {
			return aws.String(table.YesNo(a.DeleteOnTermination)[0])
		}),
		"attachment.device-index": attached(func(a *ec2types.NetworkInterfaceAttachment) *string {
			return aws.String(strconv.Itoa(int(aws.ToInt32(a.DeviceIndex))))
		}),
	}, func(v *eni) *ec2types.OperatorResponse { return v.Operator })
}

// DescribeNetworkInterfaces lists network interfaces.
func (s API) DescribeNetworkInterfaces(in *ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.NetworkInterface]{
		Table: s.w.Interfaces, ID: func(v *ec2types.NetworkInterface) *string { return v.NetworkInterfaceId }, IDs: in.NetworkInterfaceIds,
		Missing: notFound("InvalidNetworkInterfaceID.NotFound", "networkInterface ID"), Filters: in.Filters, Known: interfaceFilters(),
		Tags:   func(v *ec2types.NetworkInterface) []ec2types.Tag { return v.TagSet },
		Hidden: func(v *ec2types.NetworkInterface) bool { return hides(s.w, v.Operator, in.IncludeManagedResources) },
		Size:   in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
		IDsBarPaging: "networkInterfaceIdSet",
	}.Run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: state.CopyEach(list), NextToken: next}
	for i := range out.NetworkInterfaces {
		out.NetworkInterfaces[i].Operator = operatorShown(s.w, out.NetworkInterfaces[i].Operator)
	}
	return out, nil
}

func networkInterface(w *state.State, id *string) (*ec2types.NetworkInterface, error) {
	if eni := w.Interfaces.Get(aws.ToString(id)); eni != nil {
		return eni, nil
	}
	return nil, notFound("InvalidNetworkInterfaceID.NotFound", "networkInterface ID")([]string{aws.ToString(id)})
}

// CreateNetworkInterface makes an interface and takes its addresses.
func (s API) CreateNetworkInterface(in *ec2.CreateNetworkInterfaceInput) (*ec2.CreateNetworkInterfaceOutput, error) {
	defer s.w.Enter()()
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	groups := in.Groups
	if sub := s.w.Subnets.Get(aws.ToString(in.SubnetId)); sub != nil && len(groups) == 0 {
		groups = s.w.DefaultGroup(aws.ToString(sub.VpcId))
	}
	eni, err := s.w.CreateInterface(state.InterfaceSpec{
		Subnet: aws.ToString(in.SubnetId), Description: aws.ToString(in.Description), Groups: groups,
		Tags: tagsFor(in.TagSpecifications, ec2types.ResourceTypeNetworkInterface), Primary: aws.ToString(in.PrivateIpAddress),
		Secondary: int(aws.ToInt32(in.SecondaryPrivateIpAddressCount)), Prefixes: int(aws.ToInt32(in.Ipv4PrefixCount)),
	})
	if err != nil {
		return nil, err
	}
	return &ec2.CreateNetworkInterfaceOutput{NetworkInterface: state.Copy(eni), ClientToken: in.ClientToken}, nil
}

// DeleteNetworkInterface deletes an interface that nothing uses.
func (s API) DeleteNetworkInterface(in *ec2.DeleteNetworkInterfaceInput) (*ec2.DeleteNetworkInterfaceOutput, error) {
	defer s.w.Enter()()
	eni, err := networkInterface(s.w, in.NetworkInterfaceId)
	if err != nil {
		return nil, err
	}
	if eni.Attachment != nil || eni.Status == ec2types.NetworkInterfaceStatusInUse {
		return nil, wire.Errorf("InvalidParameterValue", "Network interface '%s' is currently in use.", *eni.NetworkInterfaceId)
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	s.w.DropInterface(eni)
	return &ec2.DeleteNetworkInterfaceOutput{}, nil
}

// AttachNetworkInterface puts an interface on an instance.
func (s API) AttachNetworkInterface(in *ec2.AttachNetworkInterfaceInput) (*ec2.AttachNetworkInterfaceOutput, error) {
	defer s.w.Enter()()
	eni, err := networkInterface(s.w, in.NetworkInterfaceId)
	if err != nil {
		return nil, err
	}
	i := s.w.Instances.Get(aws.ToString(in.InstanceId))
	if i == nil {
		return nil, wire.Errorf("InvalidInstanceID.NotFound", "%s", lifecycle.InstanceIDs([]string{aws.ToString(in.InstanceId)}))
	}
	if eni.Attachment != nil {
		return nil, wire.Errorf("InvalidNetworkInterface.InUse", "Interface: [%s] in use.", *eni.NetworkInterfaceId)
	}
	if t := s.w.InstanceTypes.Get(string(i.InstanceType)); t != nil && t.NetworkInfo != nil && len(s.w.Attached[*i.InstanceId]) >= int(aws.ToInt32(t.NetworkInfo.MaximumNetworkInterfaces)) {
		return nil, wire.Errorf("AttachmentLimitExceeded", "Interface count %d exceeds the limit for %s", len(s.w.Attached[*i.InstanceId])+1, i.InstanceType)
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	s.w.Attach(eni, *i.InstanceId, aws.ToInt32(in.DeviceIndex), false)
	return &ec2.AttachNetworkInterfaceOutput{AttachmentId: state.Copy(eni.Attachment.AttachmentId), NetworkCardIndex: aws.Int32(0)}, nil
}

// DetachNetworkInterface takes an interface off an instance.
func (s API) DetachNetworkInterface(in *ec2.DetachNetworkInterfaceInput) (*ec2.DetachNetworkInterfaceOutput, error) {
	defer s.w.Enter()()
	for _, eni := range s.w.Interfaces.All() {
		if eni.Attachment == nil || aws.ToString(eni.Attachment.AttachmentId) != aws.ToString(in.AttachmentId) {
			continue
		}
		if aws.ToInt32(eni.Attachment.DeviceIndex) == 0 || aws.ToString(eni.Attachment.InstanceId) == "" {
			return nil, wire.Errorf("OperationNotPermitted", "The network interface at device index 0 cannot be detached.")
		}
		if err := dryRun(in.DryRun); err != nil {
			return nil, err
		}
		s.w.Detach(eni)
		return &ec2.DetachNetworkInterfaceOutput{}, nil
	}
	return nil, wire.Errorf("InvalidAttachmentID.NotFound", "An interface attachment with the id '%s' does not exist", aws.ToString(in.AttachmentId))
}

// AssignPrivateIpAddresses adds addresses or /28 prefixes to an interface.
func (s API) AssignPrivateIpAddresses(in *ec2.AssignPrivateIpAddressesInput) (*ec2.AssignPrivateIpAddressesOutput, error) {
	defer s.w.Enter()()
	eni, err := networkInterface(s.w, in.NetworkInterfaceId)
	if err != nil {
		return nil, err
	}
	if len(in.PrivateIpAddresses) > 0 || len(in.Ipv4Prefixes) > 0 {
		return nil, wire.Errorf("InvalidParameterCombination", "This world assigns addresses by count only.")
	}
	if aws.ToInt32(in.SecondaryPrivateIpAddressCount) < 0 || aws.ToInt32(in.Ipv4PrefixCount) < 0 {
		return nil, wire.Errorf("InvalidParameterValue", "A number of addresses must not be negative.")
	}
	p := s.w.Pools[aws.ToString(eni.SubnetId)]
	addrs, ok := p.Allocate(int(aws.ToInt32(in.SecondaryPrivateIpAddressCount)))
	if !ok {
		return nil, state.ErrSubnetFull()
	}
	blocks, ok := p.AllocatePrefixes(int(aws.ToInt32(in.Ipv4PrefixCount)))
	if !ok {
		for _, a := range addrs {
			p.Release(a)
		}
		return nil, wire.Errorf("InsufficientCidrBlocks", "The specified subnet does not have enough free cidr blocks to satisfy the request.")
	}
	s.w.AddAddresses(eni, addrs, blocks)
	out := &ec2.AssignPrivateIpAddressesOutput{NetworkInterfaceId: in.NetworkInterfaceId}
	for _, a := range addrs {
		out.AssignedPrivateIpAddresses = append(out.AssignedPrivateIpAddresses, ec2types.AssignedPrivateIpAddress{PrivateIpAddress: aws.String(a.String())})
	}
	for _, b := range blocks {
		out.AssignedIpv4Prefixes = append(out.AssignedIpv4Prefixes, ec2types.Ipv4PrefixSpecification{Ipv4Prefix: aws.String(b.String())})
	}
	return out, nil
}
