package diagnose

import (
	"slices"
	"strings"
	"testing"

	"rollcall/local/exit"
)

// said is what must come out of a capture.
type said struct {
	status int
	// causes are the incidents in order, as "cause confidence".
	causes []string
	// names must be among the resources of the first.
	names []string
	// unknown must be in the reason or the check of an Unknown.
	unknown string
}

// tell runs a capture and holds what came out.
func tell(t *testing.T, want said, changes ...change) {
	t.Helper()
	r, status, errs := ask(t, folder(t, changes...))
	var causes []string
	for _, i := range r.Incidents {
		causes = append(causes, i.Cause+" "+i.Confidence)
	}
	if status != want.status || !slices.Equal(causes, want.causes) {
		t.Errorf("status %d, causes %q, want %d, %q\nunknown %+v\n%s", status, causes, want.status, want.causes, r.Unknown, errs)
	}
	for _, name := range want.names {
		if len(r.Incidents) == 0 || !slices.Contains(r.Incidents[0].Resources, name) {
			t.Errorf("the first incident does not name %s: %+v", name, r.Incidents)
		}
	}
	reasons := ""
	for _, u := range r.Unknown {
		reasons += u.Check + " " + u.Resource + ": " + u.Reason + "\n"
	}
	if !strings.Contains(reasons, want.unknown) || want.status == 0 && reasons != "" {
		t.Errorf("unknown %q, want %q in it", reasons, want.unknown)
	}
	if r.Healthy != (status == exit.Healthy) {
		t.Errorf("healthy %v with status %d", r.Healthy, status)
	}
}

func certain(causes ...string) []string {
	var all []string
	for _, c := range causes {
		all = append(all, c+" certain")
	}
	return all
}

// one is a single certain cause with the resources that it must name.
func one(cause string, names ...string) said { return said{1, certain(cause), names, ""} }

func likely(cause string, names ...string) said {
	return said{1, []string{cause + " likely"}, names, ""}
}

// endpointFor is an interface endpoint as the CLI prints it.
func endpointFor(service, state, dns, sg string) string {
	return `{"VpcEndpointId": "vpce-0` + strings.ReplaceAll(service, ".", "") + `", "VpcEndpointType": "Interface", "VpcId": "` + vpc + `", "ServiceName": "com.amazonaws.us-west-2.` + service + `", "State": "` + state + `",
	"PolicyDocument": "{\"Statement\":[{\"Action\":\"*\",\"Effect\":\"Allow\",\"Principal\":\"*\",\"Resource\":\"*\"}]}", "RouteTableIds": [], "SubnetIds": ["` + subnet + `"],
	"Groups": [{"GroupId": "` + sg + `", "GroupName": "x"}], "PrivateDnsEnabled": ` + dns + `, "RequesterManaged": false, "NetworkInterfaceIds": [], "OwnerId": "111122223333"}`
}

const s3Endpoint = `{"VpcEndpointId": "vpce-0s3", "VpcEndpointType": "Gateway", "VpcId": "` + vpc + `", "ServiceName": "com.amazonaws.us-west-2.s3", "State": "available",
	"PolicyDocument": "{\"Version\":\"2008-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"*\",\"Resource\":\"*\"}]}", "RouteTableIds": ["` + table + `"], "SubnetIds": [], "Groups": [], "PrivateDnsEnabled": false, "NetworkInterfaceIds": [], "OwnerId": "111122223333"}`

// isolated is a private cluster: no route to the internet, and endpoints for everything but
// what is left out.
func isolated(without ...string) change {
	return func(t *testing.T, dir string) {
		noWayOut()(t, dir)
		var list []string
		for _, s := range []string{"ec2", "ecr.api", "ecr.dkr", "sts", "eks", "eks-auth"} {
			if !slices.Contains(without, s) {
				list = append(list, endpointFor(s, "available", "true", group))
			}
		}
		if !slices.Contains(without, "s3") {
			list = append(list, s3Endpoint)
		}
		with("ec2-describe-vpc-endpoints.json", `{"VpcEndpoints": [`+strings.Join(list, ",")+`]}`)(t, dir)
		if !slices.Contains(without, "s3") {
			set(tables, route+".Routes.+", `{"DestinationPrefixListId": "pl-68a54001", "GatewayId": "vpce-0s3", "Origin": "CreateRoute", "State": "active"}`)(t, dir)
		}
	}
}

// TestEveryNetworkCheck breaks the healthy account once for every check of the
// network, as the CLI would print it.
func TestEveryNetworkCheck(t *testing.T) {
	row := route + ".Routes.1"
	closed := `{"GroupId": "sg-0closed", "GroupName": "closed", "VpcId": "` + vpc + `", "IpPermissions": [], "IpPermissionsEgress": []}`
	own := []change{
		set(instances, it+".SecurityGroups", `[{"GroupId": "sg-0closed", "GroupName": "closed"}]`),
		set(instances, it+".NetworkInterfaces.*.Groups", `[{"GroupId": "sg-0closed", "GroupName": "closed"}]`),
	}
	out := `"IpPermissionsEgress": [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}], "Ipv6Ranges": [], "PrefixListIds": [], "UserIdGroupPairs": []}]`
	open := strings.Replace(closed, `"IpPermissionsEgress": []`, out, 1)
	toGateway := set(tables, row, `{"DestinationCidrBlock": "0.0.0.0/0", "GatewayId": "`+gateway+`", "Origin": "CreateRoute", "State": "active"}`)
	entry := func(egress, from, to string) string {
		return `{"CidrBlock": "0.0.0.0/0", "Egress": ` + egress + `, "Protocol": "6", "PortRange": {"From": ` + from + `, "To": ` + to + `}, "RuleAction": "deny", "RuleNumber": 50}`
	}
	private := set(described, "cluster.resourcesVpcConfig.endpointPublicAccess", "false")
	only := []change{set(described, "cluster.resourcesVpcConfig.endpointPrivateAccess", "false"), set(described, "cluster.resourcesVpcConfig.publicAccessCidrs", `["198.51.100.7/32"]`)}
	tests := map[string]struct {
		want    said
		changes []change
	}{
		"no egress":                 {one("route/no-egress", table, subnet), []change{noWayOut()}},
		"no egress by the main one": {one("route/no-egress", "rtb-0a700000000000001", subnet), []change{set(tables, route+".Associations", `[]`)}},
		"blackhole":                 {one("route/blackhole", table, subnet, nat), []change{set(tables, row+".State", `"blackhole"`), with(nats+".json", `{"NatGateways": []}`)}},
		"deleted NAT gateway":       {one("route/nat-unusable", table, nat), []change{set(tables, row+".State", `"blackhole"`), set(nats, "NatGateways.0.State", `"deleted"`)}},
		"failed NAT gateway":        {one("route/nat-unusable", nat), []change{set(nats, "NatGateways.0.State", `"failed"`), set(nats, "NatGateways.0.FailureCode", `"Gateway.NotAttached"`)}},
		"private NAT gateway":       {one("route/nat-unusable", nat), []change{set(nats, "NatGateways.0.ConnectivityType", `"private"`), set(nats, "NatGateways.0.NatGatewayAddresses.0.PublicIp", "")}},
		"NAT in a private subnet":   {one("route/nat-no-internet", nat, subnet), []change{set(nats, "NatGateways.0.SubnetId", `"`+subnet+`"`)}},
		"NAT without a gateway":     {one("route/nat-no-internet", nat, public), []change{set(tables, "RouteTables.RouteTableId="+public+".Routes", `[{"DestinationCidrBlock": "10.42.0.0/16", "GatewayId": "local", "Origin": "CreateRouteTable", "State": "active"}]`)}},
		"no public address":         {one("route/igw-no-public-ip", subnet, gateway), []change{toGateway}},
		"detached gateway":          {one("route/igw-detached", gateway, table), []change{toGateway, set(tables, row+".State", `"blackhole"`), set("ec2-describe-internet-gateways", "InternetGateways.0.Attachments", `[]`)}},
		"cidrs leave the NAT out":   {one("route/api-public-cidr", cluster, nat), only},
		"no NAT instance any more":  {one("route/blackhole", table), []change{set(tables, row, `{"DestinationCidrBlock": "0.0.0.0/0", "InstanceId": "i-0gone", "NetworkInterfaceId": "eni-0gone", "Origin": "CreateRoute", "State": "blackhole"}`)}},
		"endpoint missing":          {one("endpoint/missing", vpc), []change{isolated("ecr.api")}},
		"private and well":          {said{1, []string{"node/not-registered symptom"}, nil, ""}, []change{isolated(), private}},
		"endpoint group":            {one("endpoint/security-group", "vpce-0sts", "sg-0closed"), []change{with("ec2-describe-vpc-endpoints.json", `{"VpcEndpoints": [`+endpointFor("sts", "available", "true", "sg-0closed")+`]}`), set("ec2-describe-security-groups", "SecurityGroups.+", open)}},
		"endpoint private DNS off":  {likely("endpoint/private-dns-off", "vpce-0ecrapi"), []change{isolated(), set("ec2-describe-vpc-endpoints", "VpcEndpoints.VpcEndpointId=vpce-0ecrapi.PrivateDnsEnabled", "false")}},
		"endpoint pending":          {one("endpoint/not-available", "vpce-0ec2"), []change{isolated(), set("ec2-describe-vpc-endpoints", "VpcEndpoints.VpcEndpointId=vpce-0ec2.State", `"pending"`)}},
		"endpoint in capitals":      {one("endpoint/not-available", "vpce-0ec2"), []change{isolated(), set("ec2-describe-vpc-endpoints", "VpcEndpoints.VpcEndpointId=vpce-0ec2.State", `"PendingAcceptance"`)}},
		"S3 route missing":          {one("endpoint/s3-route-missing", "vpce-0s3", table), []change{isolated(), set(tables, route+".Routes", `[{"DestinationCidrBlock": "10.42.0.0/16", "GatewayId": "local", "Origin": "CreateRouteTable", "State": "active"}]`), set("ec2-describe-vpc-endpoints", "VpcEndpoints.VpcEndpointId=vpce-0s3.RouteTableIds", `[]`)}},
		"endpoint policy":           {likely("endpoint/policy-denies", "vpce-0ec2"), []change{isolated(), set("ec2-describe-vpc-endpoints", "VpcEndpoints.VpcEndpointId=vpce-0ec2.PolicyDocument", `"{\"Statement\":[{\"Action\":\"s3:*\",\"Effect\":\"Allow\",\"Principal\":\"*\",\"Resource\":\"*\"}]}"`)}},
		"policy as an object":       {likely("endpoint/policy-denies", "vpce-0ec2"), []change{isolated(), set("ec2-describe-vpc-endpoints", "VpcEndpoints.VpcEndpointId=vpce-0ec2.PolicyDocument", `{"Statement": [{"Action": "s3:*", "Effect": "Allow", "Principal": "*", "Resource": "*"}]}`)}},
		"node egress":               {said{1, certain("sg/node-egress", "sg/cluster-ingress"), []string{"sg-0closed"}, ""}, append(own, set("ec2-describe-security-groups", "SecurityGroups.+", closed))},
		"cluster ingress":           {one("sg/cluster-ingress", group), append(own, set("ec2-describe-security-groups", "SecurityGroups.+", open))},
		"network ACL out":           {one("nacl/egress", acl, subnet), []change{set("ec2-describe-network-acls", "NetworkAcls.0.Entries.+", entry("true", "443", "443"))}},
		"network ACL back":          {one("nacl/return", acl, subnet), []change{set("ec2-describe-network-acls", "NetworkAcls.0.Entries.+", entry("false", "1024", "65535"))}},
		"DNS support off":           {one("dns/support-off", vpc), []change{set("ec2-describe-vpc-attribute."+vpc+".enableDnsSupport", "EnableDnsSupport.Value", "false")}},
		"DNS hostnames off":         {likely("dns/hostnames-off", vpc), []change{private, set("ec2-describe-vpc-attribute."+vpc+".enableDnsHostnames", "EnableDnsHostnames.Value", "false")}},
		"DHCP with a long name":     {likely("dns/dhcp-options", dhcp), []change{set("ec2-describe-dhcp-options", "DhcpOptions.0.DhcpConfigurations.0.Values.0.Value", `"a.very.long.domain.name.of.a.company.that.likes.to.be.exact.example.com"`)}},
		"DHCP with name servers":    {likely("dns/dhcp-options", dhcp), []change{private, set("ec2-describe-dhcp-options", "DhcpOptions.0.DhcpConfigurations.1.Values.0.Value", `"10.42.0.53"`)}},
		"STS beside the interface":  {one("endpoint/missing", vpc), []change{isolated("sts")}},
		"leaves the view":           {said{2, []string{"node/not-registered symptom"}, nil, "tgw-0other"}, []change{set(tables, row, `{"DestinationCidrBlock": "0.0.0.0/0", "TransitGatewayId": "tgw-0other", "Origin": "CreateRoute", "State": "active"}`)}},
		"no subnet left":            {one("ip/subnet-exhausted", subnet), []change{set(subnets, "Subnets.SubnetId="+subnet+".AvailableIpAddressCount", "0"), notReady("cni plugin not initialized")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes := tt.changes
			if name != "no subnet left" {
				changes = append([]change{noNode()}, changes...)
			}
			tell(t, tt.want, changes...)
		})
	}
}

// notReady makes the node of the instance one that is not Ready.
func notReady(message string) change {
	return edited(nodes, func(v any) {
		for _, n := range at(v, "items").([]any) {
			if !strings.HasSuffix(at(n, "spec", "providerID").(string), young) {
				continue
			}
			for _, c := range at(n, "status", "conditions").([]any) {
				if at(c, "type") == "Ready" {
					c := c.(map[string]any)
					c["status"], c["reason"], c["message"] = "False", "KubeletNotReady", "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: "+message
				}
			}
		}
	})
}
