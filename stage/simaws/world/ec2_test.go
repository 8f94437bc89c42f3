package world

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/google/go-cmp/cmp"

	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/worldfile"
)

func TestRulesThatEC2Refuses(t *testing.T) {
	const cluster, plain = "sg-0e50000000000000f", "sg-0d30000000000000d"
	fromGroup := func(group string) []ec2types.IpPermission {
		return []ec2types.IpPermission{{IpProtocol: aws.String("tcp"), FromPort: aws.Int32(443), ToPort: aws.Int32(443), UserIdGroupPairs: []ec2types.UserIdGroupPair{{GroupId: aws.String(group)}}}}
	}
	many := func(n int) []ec2types.IpPermission {
		p := ec2types.IpPermission{IpProtocol: aws.String("tcp"), FromPort: aws.Int32(443), ToPort: aws.Int32(443)}
		for i := range n {
			p.IpRanges = append(p.IpRanges, ec2types.IpRange{CidrIp: aws.String(fmt.Sprintf("10.1.%d.0/24", i))})
		}
		return []ec2types.IpPermission{p}
	}
	noPorts := fromGroup(cluster)
	noPorts[0].FromPort = nil
	tests := map[string]struct {
		group string
		rules []ec2types.IpPermission
		want  string
	}{
		"no such group":         {group: "sg-0123456789abcdef0", rules: fromGroup(cluster), want: "InvalidGroup.NotFound"},
		"no such source":        {group: plain, rules: fromGroup("sg-0123456789abcdef0"), want: "InvalidGroup.NotFound"},
		"a source of elsewhere": {group: plain, rules: fromGroup("sg-0fff0000000000001"), want: "InvalidGroup.NotFound"},
		"TCP without ports":     {group: plain, rules: noPorts, want: "InvalidParameterValue"},
		"twice in one call":     {group: plain, rules: append(fromGroup(cluster), fromGroup(cluster)...), want: "InvalidParameterValue"},
		"nothing":               {group: plain, want: "MissingParameter"},
		"one over the quota":    {group: plain, rules: many(60), want: "RulesPerSecurityGroupLimitExceeded"},
		"the quota":             {group: plain, rules: many(59)},
		"a group":               {group: plain, rules: fromGroup(cluster)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := openWith(t, "route", func(f *worldfile.File) {
				f.EC2.Vpcs = append(f.EC2.Vpcs, ec2types.Vpc{VpcId: aws.String("vpc-0fff0000000000001"), CidrBlock: aws.String("10.99.0.0/16")})
				f.EC2.SecurityGroups = append(f.EC2.SecurityGroups, ec2types.SecurityGroup{GroupId: aws.String("sg-0fff0000000000001"), GroupName: aws.String("payments"), VpcId: aws.String("vpc-0fff0000000000001")})
			})
			_, err := w.EC2().AuthorizeSecurityGroupIngress(&ec2.AuthorizeSecurityGroupIngressInput{GroupId: aws.String(tt.group), IpPermissions: tt.rules})
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || code(t, err) != tt.want):
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestAccessEntryTypes(t *testing.T) {
	const role, user = "arn:aws:iam::111122223333:role/nodes", "arn:aws:iam::111122223333:user/eve"
	tests := map[string]struct {
		in   eks.CreateAccessEntryInput
		want string
	}{
		"a type that is none":         {in: eks.CreateAccessEntryInput{PrincipalArn: aws.String(role), Type: aws.String("EC2_BSD")}, want: "InvalidParameterException"},
		"a user as a node":            {in: eks.CreateAccessEntryInput{PrincipalArn: aws.String(user), Type: aws.String("EC2_LINUX")}, want: "InvalidParameterException"},
		"a node with groups":          {in: eks.CreateAccessEntryInput{PrincipalArn: aws.String(role), Type: aws.String("EC2_LINUX"), KubernetesGroups: []string{"system:masters"}}, want: "InvalidParameterException"},
		"a cluster that is not there": {in: eks.CreateAccessEntryInput{ClusterName: aws.String("prod"), PrincipalArn: aws.String(role), Type: aws.String("EC2_LINUX")}, want: "ResourceNotFoundException"},
		"nodes":                       {in: eks.CreateAccessEntryInput{PrincipalArn: aws.String(role), Type: aws.String("EC2_LINUX")}},
		"a person":                    {in: eks.CreateAccessEntryInput{PrincipalArn: aws.String(user)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, "route")
			if tt.in.ClusterName == nil {
				tt.in.ClusterName = aws.String("eks-workshop")
			}
			_, err := w.EKS().CreateAccessEntry(&tt.in)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || code(t, err) != tt.want):
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func freeOf(t *testing.T, w *World, subnet string) int32 {
	t.Helper()
	out, err := w.EC2().DescribeSubnets(&ec2.DescribeSubnetsInput{SubnetIds: []string{subnet}})
	if err != nil {
		t.Fatal(err)
	}
	return *out.Subnets[0].AvailableIpAddressCount
}

func TestCreateRoute(t *testing.T) {
	everywhere := aws.String("0.0.0.0/0")
	tests := map[string]struct {
		in   ec2.CreateRouteInput
		want string
	}{
		"to a NAT gateway":          {ec2.CreateRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: everywhere, NatGatewayId: aws.String(storyNAT)}, ""},
		"unknown table":             {ec2.CreateRouteInput{RouteTableId: aws.String("rtb-x"), DestinationCidrBlock: everywhere, NatGatewayId: aws.String(storyNAT)}, "InvalidRouteTableID.NotFound"},
		"unknown NAT gateway":       {ec2.CreateRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: everywhere, NatGatewayId: aws.String("nat-x")}, "InvalidNatGatewayID.NotFound"},
		"unknown internet gateway":  {ec2.CreateRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: everywhere, GatewayId: aws.String("igw-x")}, "InvalidInternetGatewayID.NotFound"},
		"no destination":            {ec2.CreateRouteInput{RouteTableId: aws.String(storyTable), NatGatewayId: aws.String(storyNAT)}, "MissingParameter"},
		"no target":                 {ec2.CreateRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: everywhere}, "InvalidParameterCombination"},
		"two targets":               {ec2.CreateRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: everywhere, NatGatewayId: aws.String(storyNAT), GatewayId: aws.String("igw-0d40000000000000e")}, "InvalidParameterCombination"},
		"bad block":                 {ec2.CreateRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: aws.String("anywhere"), NatGatewayId: aws.String(storyNAT)}, "InvalidParameterValue"},
		"over the local route":      {ec2.CreateRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: aws.String("10.42.0.0/16"), NatGatewayId: aws.String(storyNAT)}, "RouteAlreadyExists"},
		"only asking":               {ec2.CreateRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: everywhere, NatGatewayId: aws.String(storyNAT), DryRun: aws.Bool(true)}, "DryRunOperation"},
		"only asking, not possible": {ec2.CreateRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: everywhere, NatGatewayId: aws.String("nat-x"), DryRun: aws.Bool(true)}, "InvalidNatGatewayID.NotFound"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, "route")
			_, err := w.EC2().CreateRoute(&tt.in)
			if got := code(t, err); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			routes := len(w.RouteTables.Get(storyTable).Routes)
			if want := map[bool]int{true: 2, false: 1}[tt.want == ""]; routes != want {
				t.Errorf("got %d routes, want %d", routes, want)
			}
		})
	}
}

func TestDeleteNatGatewayLeavesBlackholes(t *testing.T) {
	w, _ := open(t, "healthy-nat")
	before := freeOf(t, w, "subnet-0a10000000000000a")
	if _, err := w.EC2().DeleteNatGateway(&ec2.DeleteNatGatewayInput{NatGatewayId: aws.String(storyNAT)}); err != nil {
		t.Fatal(err)
	}
	state := func() ec2types.NatGatewayState { return w.NATGateways.Get(storyNAT).State }
	if got := state(); got != ec2types.NatGatewayStateDeleting {
		t.Errorf("state: got %q, want deleting", got)
	}
	for _, table := range []string{storyTable, "rtb-0b200000000000abc"} {
		if got := w.RouteTables.Get(table).Routes[1].State; got != ec2types.RouteStateBlackhole {
			t.Errorf("route of %s: got %q, want blackhole", table, got)
		}
	}
	w.Advance(w.Start().Add(30 * time.Second))
	if got := state(); got != ec2types.NatGatewayStateDeleted {
		t.Errorf("state: got %q, want deleted", got)
	}
	if got := freeOf(t, w, "subnet-0a10000000000000a"); got != before+1 {
		t.Errorf("free addresses: got %d, want %d", got, before+1)
	}
	_, err := w.EC2().CreateRoute(&ec2.CreateRouteInput{RouteTableId: aws.String("rtb-0a700000000000001"), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(storyNAT)})
	if got := code(t, err); got != "InvalidNatGatewayID.NotFound" {
		t.Errorf("route to the deleted gateway: got %q", got)
	}
	w.Advance(w.Now().Add(2 * time.Hour))
	_, err = w.EC2().DescribeNatGateways(&ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{storyNAT}})
	if got := code(t, err); got != "NatGatewayNotFound" {
		t.Errorf("after two hours: got %q, want NatGatewayNotFound", got)
	}
}

func TestReplaceAndDeleteRoute(t *testing.T) {
	w, _ := open(t, "healthy-nat")
	api := w.EC2()
	everywhere := aws.String("0.0.0.0/0")
	if _, err := api.ReplaceRoute(&ec2.ReplaceRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: everywhere, GatewayId: aws.String("igw-0d40000000000000e")}); err != nil {
		t.Fatal(err)
	}
	if r := w.RouteTables.Get(storyTable).Routes[1]; aws.ToString(r.GatewayId) != "igw-0d40000000000000e" || r.NatGatewayId != nil {
		t.Errorf("replaced route leads to %q and %q", aws.ToString(r.GatewayId), aws.ToString(r.NatGatewayId))
	}
	if _, err := api.DeleteRoute(&ec2.DeleteRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: everywhere}); err != nil {
		t.Fatal(err)
	}
	_, err := api.DeleteRoute(&ec2.DeleteRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: everywhere})
	if got := code(t, err); got != "InvalidRoute.NotFound" {
		t.Errorf("deleting twice: got %q", got)
	}
	_, err = api.DeleteRoute(&ec2.DeleteRouteInput{RouteTableId: aws.String(storyTable), DestinationCidrBlock: aws.String("10.42.0.0/16")})
	if got := code(t, err); got != "InvalidParameterValue" {
		t.Errorf("deleting the local route: got %q", got)
	}
}

func TestDeleteNetworkInterface(t *testing.T) {
	w, _ := open(t, "route")
	api := w.EC2()
	free := freeOf(t, w, storySubnet)
	made, err := api.CreateNetworkInterface(&ec2.CreateNetworkInterfaceInput{SubnetId: aws.String(storySubnet), SecondaryPrivateIpAddressCount: aws.Int32(9), Ipv4PrefixCount: aws.Int32(1)})
	if err != nil {
		t.Fatal(err)
	}
	id := made.NetworkInterface.NetworkInterfaceId
	if got := freeOf(t, w, storySubnet); got != free-26 {
		t.Errorf("free: got %d, want %d after ten addresses and a /28", got, free-26)
	}
	attached, err := api.AttachNetworkInterface(&ec2.AttachNetworkInterfaceInput{NetworkInterfaceId: id, InstanceId: aws.String("i-0d0000000000000a1"), DeviceIndex: aws.Int32(2)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = api.DeleteNetworkInterface(&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: id})
	if got := code(t, err); got != "InvalidParameterValue" {
		t.Errorf("deleting an attached interface: got %q", got)
	}
	if _, err := api.DetachNetworkInterface(&ec2.DetachNetworkInterfaceInput{AttachmentId: attached.AttachmentId}); err != nil {
		t.Fatal(err)
	}
	_, err = api.DeleteNetworkInterface(&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: id, DryRun: aws.Bool(true)})
	if got := code(t, err); got != "DryRunOperation" {
		t.Errorf("asking: got %q", got)
	}
	if _, err := api.DeleteNetworkInterface(&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: id}); err != nil {
		t.Fatal(err)
	}
	if got := freeOf(t, w, storySubnet); got != free {
		t.Errorf("free after the delete: got %d, want %d", got, free)
	}
	_, err = api.DeleteNetworkInterface(&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: id})
	if got := code(t, err); got != "InvalidNetworkInterfaceID.NotFound" {
		t.Errorf("deleting twice: got %q", got)
	}
}

func TestInstanceLife(t *testing.T) {
	w, _ := open(t, "route")
	api := w.EC2()
	free := freeOf(t, w, storySubnet)
	run, err := api.RunInstances(&ec2.RunInstancesInput{SubnetId: aws.String(storySubnet), InstanceType: "m5.large", MinCount: aws.Int32(1), MaxCount: aws.Int32(1)})
	if err != nil {
		t.Fatal(err)
	}
	id := *run.Instances[0].InstanceId
	shown := func() ec2types.Instance {
		out, err := api.DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{id}})
		if err != nil {
			t.Fatal(err)
		}
		return out.Reservations[0].Instances[0]
	}
	if got := shown(); got.State.Name != "pending" || len(got.NetworkInterfaces) != 1 || *got.PrivateIpAddress != *got.NetworkInterfaces[0].PrivateIpAddress {
		t.Errorf("launched: got %s with %d interfaces", got.State.Name, len(got.NetworkInterfaces))
	}
	w.Advance(w.Now().Add(10 * time.Second))
	if got := shown().State.Name; got != "running" {
		t.Errorf("after 10 s: got %s, want running", got)
	}
	status := func() ec2types.SummaryStatus {
		out, err := api.DescribeInstanceStatus(&ec2.DescribeInstanceStatusInput{InstanceIds: []string{id}})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.InstanceStatuses) == 0 {
			return ""
		}
		return out.InstanceStatuses[0].SystemStatus.Status
	}
	if got := status(); got != "initializing" {
		t.Errorf("checks after 10 s: got %q, want initializing", got)
	}
	w.Advance(w.Now().Add(3 * time.Minute))
	if got := status(); got != "ok" {
		t.Errorf("checks after 3 min: got %q, want ok", got)
	}
	if _, err := api.TerminateInstances(&ec2.TerminateInstancesInput{InstanceIds: []string{id}}); err != nil {
		t.Fatal(err)
	}
	if got := shown(); got.State.Name != "shutting-down" || *got.StateReason.Code != "Client.UserInitiatedShutdown" {
		t.Errorf("terminated: got %s, %s", got.State.Name, aws.ToString(got.StateReason.Code))
	}
	w.Advance(w.Now().Add(time.Minute))
	if got := shown(); got.State.Name != "terminated" || len(got.NetworkInterfaces) != 0 || got.PrivateIpAddress != nil {
		t.Errorf("a minute later: got %s with %d interfaces", got.State.Name, len(got.NetworkInterfaces))
	}
	if got := freeOf(t, w, storySubnet); got != free {
		t.Errorf("free: got %d, want %d", got, free)
	}
	if got := status(); got != "" {
		t.Errorf("status of a terminated instance: got %q, want none", got)
	}
	w.Advance(w.Now().Add(2 * time.Hour))
	_, err = api.DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if got := code(t, err); got != "InvalidInstanceID.NotFound" {
		t.Errorf("two hours later: got %q", got)
	}
}

func TestJoinedNodesHaveInterfacesOfTheCNI(t *testing.T) {
	w, _ := open(t, "route")
	out, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{Filters: []ec2types.Filter{
		{Name: aws.String("description"), Values: []string{"aws-K8S-*"}}, {Name: aws.String("attachment.instance-id"), Values: []string{"i-0d0000000000000a1"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.NetworkInterfaces) != 1 {
		t.Fatalf("got %d interfaces, want 1", len(out.NetworkInterfaces))
	}
	eni := out.NetworkInterfaces[0]
	tags := map[string]string{}
	for _, tag := range eni.TagSet {
		tags[*tag.Key] = *tag.Value
	}
	want := map[string]string{
		"cluster.k8s.amazonaws.com/name": "eks-workshop", "eks:eni:owner": "amazon-vpc-cni",
		"node.k8s.amazonaws.com/createdAt": "2026-11-12T09:15:00Z", "node.k8s.amazonaws.com/instance_id": "i-0d0000000000000a1",
	}
	if diff := cmp.Diff(tags, want); diff != "" {
		t.Errorf("tags (-got +want):\n%s", diff)
	}
	if *eni.Description != "aws-K8S-i-0d0000000000000a1" || len(eni.PrivateIpAddresses) != 10 {
		t.Errorf("got %q with %d addresses", *eni.Description, len(eni.PrivateIpAddresses))
	}
	// A /19 less a node's two full interfaces of ten.
	if got := freeOf(t, w, "subnet-0b20000000000000a"); got != 8187-20 {
		t.Errorf("free: got %d, want %d", got, 8187-20)
	}
}

func TestSecurityGroupRules(t *testing.T) {
	w, _ := open(t, "route")
	api := w.EC2()
	rule := []ec2types.IpPermission{{IpProtocol: aws.String("tcp"), FromPort: aws.Int32(443), ToPort: aws.Int32(443), IpRanges: []ec2types.IpRange{{CidrIp: aws.String("10.0.0.0/8")}}}}
	id := aws.String("sg-0d30000000000000d")
	if _, err := api.AuthorizeSecurityGroupIngress(&ec2.AuthorizeSecurityGroupIngressInput{GroupId: id, IpPermissions: rule}); err != nil {
		t.Fatal(err)
	}
	_, err := api.AuthorizeSecurityGroupIngress(&ec2.AuthorizeSecurityGroupIngressInput{GroupId: id, IpPermissions: rule})
	if got := code(t, err); got != "InvalidPermission.Duplicate" {
		t.Errorf("twice: got %q", got)
	}
	if _, err := api.RevokeSecurityGroupIngress(&ec2.RevokeSecurityGroupIngressInput{GroupId: id, IpPermissions: rule}); err != nil {
		t.Fatal(err)
	}
	_, err = api.RevokeSecurityGroupIngress(&ec2.RevokeSecurityGroupIngressInput{GroupId: id, IpPermissions: rule})
	if got := code(t, err); got != "InvalidPermission.NotFound" {
		t.Errorf("revoking twice: got %q", got)
	}
}

// status is what EC2 says of one instance.
func status(t *testing.T, w *World, id string) ec2types.InstanceStatus {
	t.Helper()
	out, err := w.EC2().DescribeInstanceStatus(&ec2.DescribeInstanceStatusInput{InstanceIds: []string{id}, IncludeAllInstances: aws.Bool(true)})
	if err != nil || len(out.InstanceStatuses) != 1 {
		t.Fatalf("DescribeInstanceStatus: %+v, %v", out, err)
	}
	return out.InstanceStatuses[0]
}

func TestInstanceStatuses(t *testing.T) {
	tests := []struct {
		world       string
		system, own ec2types.SummaryStatus
		event       ec2types.EventCode
	}{
		{"base", "ok", "ok", ""},
		{"instance-status-check", "impaired", "impaired", ""},
		{"instance-status-check-healthy", "ok", "impaired", ""},
		{"instance-scheduled-event", "ok", "ok", "instance-retirement"},
	}
	for _, tt := range tests {
		t.Run(tt.world, func(t *testing.T) {
			w, _ := open(t, "corpus/"+tt.world)
			got := status(t, w, "i-0a700000000000001")
			var event ec2types.EventCode
			if len(got.Events) > 0 {
				event = got.Events[0].Code
			}
			if got.SystemStatus.Status != tt.system || got.InstanceStatus.Status != tt.own || event != tt.event ||
				got.InstanceState.Name != ec2types.InstanceStateNameRunning || aws.ToString(got.AvailabilityZone) != "us-west-2a" {
				t.Errorf("system %s, own %s, event %q, %s in %s", got.SystemStatus.Status, got.InstanceStatus.Status, event, got.InstanceState.Name, aws.ToString(got.AvailabilityZone))
			}
		})
	}
	w, _ := open(t, "corpus/instance-status-check")
	if _, err := w.EC2().TerminateInstances(&ec2.TerminateInstancesInput{InstanceIds: []string{"i-0a700000000000001"}}); err != nil {
		t.Fatal(err)
	}
	if got := status(t, w, "i-0a700000000000001"); got.SystemStatus.Status != ec2types.SummaryStatusNotApplicable {
		t.Errorf("the system status of an instance that ends is %s", got.SystemStatus.Status)
	}
}

// A group that stands still wants an instance, and starts none.
func TestGroupsThatStandStill(t *testing.T) {
	w, events := open(t, "corpus/launch-vcpu-limit")
	w.Advance(w.Start().Add(time.Hour))
	if ids := members(t, w); len(ids) > 0 || len(*events) > 0 {
		t.Errorf("after an hour it has %q, and %d events were sent", ids, len(*events))
	}
}

func TestDescribeVolumesByFilter(t *testing.T) {
	w, _ := open(t, "zone")
	tests := map[string]struct {
		name, value string
		want        []string
	}{
		"the driver's tag": {"tag:ebs.csi.aws.com/cluster", "true", []string{"0de", "aaa", "001", "003"}},
		"a cluster's":      {"tag:kubernetes.io/cluster/eks-workshop", "owned", []string{"0de", "aaa", "003"}},
		"a tag's key":      {"tag-key", "kubernetes.io/created-for/pvc/name", []string{"0de", "aaa", "001", "003"}},
		"a zone":           {"availability-zone", "us-west-2d", []string{"002"}},
		"not attached":     {"status", "available", []string{"001", "002", "003"}},
		"attached":         {"attachment.instance-id", "i-0d0000000000000c3", []string{"0de"}},
		"an id":            {"volume-id", redisVolume, []string{"0de"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := w.EC2().DescribeVolumes(&ec2.DescribeVolumesInput{Filters: []ec2types.Filter{{Name: aws.String(tt.name), Values: []string{tt.value}}}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range out.Volumes {
				got = append(got, (*v.VolumeId)[len(*v.VolumeId)-3:])
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
	out, err := w.EC2().DescribeVolumes(&ec2.DescribeVolumesInput{MaxResults: aws.Int32(5)})
	if err != nil || len(out.Volumes) != 5 || out.NextToken != nil {
		t.Errorf("a page of five: %d, %v", len(out.Volumes), err)
	}
}

func TestVolumesAttachInTheirZone(t *testing.T) {
	w, _ := open(t, "zone")
	attach := func(volume, instance string) string {
		return code(t, w.AttachVolume(w.Volumes.Get(volume), instance, "/dev/xvdf"))
	}
	got := []string{
		attach("vol-0c5000000000ff003", "i-0d0000000000000a1"), attach(redisVolume, "i-0d0000000000000c3"),
		attach("vol-0c5000000000ff003", "i-0123456789abcdef0"), attach("vol-0c5000000000ff003", "i-0d0000000000000c3"),
	}
	if diff := cmp.Diff(got, []string{"InvalidVolume.ZoneMismatch", "VolumeInUse", "InvalidInstanceID.NotFound", ""}); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	f, err := worldfile.Load("../../worlds/zone.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f.EC2.Volumes[0].Attachments = []ec2types.VolumeAttachment{{InstanceId: aws.String("i-0d0000000000000a1")}}
	if _, err := New(f, Options{}); err == nil {
		t.Error("a world with a volume attached in another zone was taken")
	}
}

func TestZoneFaults(t *testing.T) {
	w, _ := openWith(t, "zone", func(f *worldfile.File) {
		f.EC2.ZoneFaults = []worldfile.ZoneFault{{Zone: "us-west-2c", State: "impaired", Messages: []string{"We are investigating increased error rates."}, Launches: "InsufficientInstanceCapacity", From: time.Minute, For: time.Hour}}
	})
	states := func() []string {
		out, err := w.EC2().DescribeAvailabilityZones(&ec2.DescribeAvailabilityZonesInput{})
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, z := range out.AvailabilityZones {
			text := *z.ZoneName + " " + *z.ZoneId + " " + string(z.State)
			for _, m := range z.Messages {
				text += ": " + *m.Message
			}
			list = append(list, text)
		}
		slices.Sort(list)
		return list
	}
	well := []string{"us-west-2a usw2-az1 available", "us-west-2b usw2-az2 available", "us-west-2c usw2-az3 available", "us-west-2d usw2-az4 available"}
	if diff := cmp.Diff(states(), well); diff != "" {
		t.Errorf("before (-got +want):\n%s", diff)
	}
	w.Advance(w.Start().Add(2 * time.Minute))
	if got := states()[2]; got != "us-west-2c usw2-az3 impaired: We are investigating increased error rates." {
		t.Errorf("got %s", got)
	}
	_, err := lifecycle.Launch(w.State, lifecycle.InstanceSpec{Subnet: "subnet-0b20000000000000c", InstanceType: "m5.large"})
	if code(t, err) != "InsufficientInstanceCapacity" {
		t.Errorf("a launch there: %v", err)
	}
	w.Advance(w.Start().Add(2 * time.Hour))
	if diff := cmp.Diff(states(), well); diff != "" {
		t.Errorf("after (-got +want):\n%s", diff)
	}
}
