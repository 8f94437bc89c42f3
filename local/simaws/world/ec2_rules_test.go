package world

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
)

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
