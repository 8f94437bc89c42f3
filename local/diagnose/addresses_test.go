package diagnose

import "testing"

const (
	plugin     = "kubectl-get-daemonset-aws-node.eks-workshop"
	interfaces = "ec2-describe-network-interfaces"
	left       = `{"NetworkInterfaceId": "eni-0dead", "SubnetId": "` + subnet + `", "VpcId": "vpc-0a1b2c3d4e5f60718", "OwnerId": "111122223333", "InterfaceType": "interface", "Status": "available", "Description": "aws-K8S-i-0dead00000000dead",
	"PrivateIpAddresses": [{"PrivateIpAddress": "10.42.192.60", "Primary": true}, {"PrivateIpAddress": "10.42.192.61"}, {"PrivateIpAddress": "10.42.192.62"}, {"PrivateIpAddress": "10.42.192.63"}, {"PrivateIpAddress": "10.42.192.64"}, {"PrivateIpAddress": "10.42.192.65"}, {"PrivateIpAddress": "10.42.192.66"}, {"PrivateIpAddress": "10.42.192.67"}, {"PrivateIpAddress": "10.42.192.68"}, {"PrivateIpAddress": "10.42.192.69"}],
	"TagSet": [{"Key": "node.k8s.amazonaws.com/instance_id", "Value": "i-0dead00000000dead"}, {"Key": "node.k8s.amazonaws.com/createdAt", "Value": "2026-11-20T11:02:00Z"}, {"Key": "cluster.k8s.amazonaws.com/name", "Value": "eks-workshop"}]}`
)

func setting(name, value string) change {
	return set(plugin, "spec.template.spec.containers.0.env.+", `{"name": "`+name+`", "value": "`+value+`"}`)
}

func freeAddresses(n string) change {
	return set(subnets, "Subnets.SubnetId="+subnet+".AvailableIpAddressCount", n)
}

// mayGrow lets the new group launch more nodes.
func mayGrow(t *testing.T, dir string) {
	set(groups, "AutoScalingGroups.AutoScalingGroupName="+asg+".MaxSize", "3")(t, dir)
}

// TestAddresses holds what a capture tells of addresses: what it leaves out makes a
// healthy cluster unknown, but for what it may leave out.
func TestAddresses(t *testing.T) {
	well := said{}
	unknown := func(words string) said { return said{2, nil, nil, words} }
	const kept = "ec2-get-subnet-cidr-reservations."
	prefixes := setting("ENABLE_PREFIX_DELEGATION", "true")
	tests := map[string]struct {
		want    said
		changes []change
	}{
		"no reservations":             {well, nil},
		"no reservations, prefixes":   {unknown("ip/fragmented eks-workshop: ec2:DescribeNetworkInterfaces: not read (what to ask for is in the subnet cidr reservations, which were not read (ec2:GetSubnetCidrReservations: not read))"), []change{prefixes}},
		"no interfaces":               {unknown("the capture has no ec2-describe-network-interfaces.json"), []change{without(interfaces + ".json")}},
		"the first page of them":      {unknown("ec2-describe-network-interfaces.json holds only the first page"), []change{set(interfaces, "NextToken", `"eyJ"`)}},
		"interfaces refused":          {unknown("ip/leaked-interfaces eks-workshop: ec2:DescribeNetworkInterfaces: denied"), []change{refused(interfaces + " UnauthorizedOperation")}},
		"reservations refused":        {unknown("what to ask for is in the subnet cidr reservations, which were not read"), []change{prefixes, refused(kept+subnet+" UnauthorizedOperation", kept+"subnet-0b20000000000000a UnauthorizedOperation", kept+"subnet-0b20000000000000b UnauthorizedOperation", kept+"subnet-0b20000000000000c UnauthorizedOperation")}},
		"a type nobody looked up":     {well, []change{set(groupFile, "nodegroup.instanceTypes", `["m6i.large"]`)}},
		"no ENIConfigs":               {well, []change{setting("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true")}},
		"no ENIConfigs, and no node":  {said{2, []string{"node/not-registered symptom"}, nil, "ip/subnet-exhausted"}, []change{noNode(), setting("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true")}},
		"the maximum does not fit":    {said{1, []string{"ip/scale-out-will-not-fit likely"}, []string{subnet, asg}, ""}, []change{freeAddresses("39"), mayGrow}},
		"it just fits":                {well, []change{freeAddresses("40"), mayGrow}},
		"few, and may grow":           {said{1, []string{"ip/subnet-exhausted likely"}, []string{subnet}, ""}, []change{freeAddresses("5"), mayGrow}},
		"few, at the maximum":         {said{0, []string{"ip/subnet-exhausted advice"}, []string{subnet}, ""}, []change{freeAddresses("5")}},
		"left behind":                 {one("ip/leaked-interfaces", subnet), []change{freeAddresses("0"), set(interfaces, "NetworkInterfaces.+", left)}},
		"left behind, and much free":  {said{0, []string{"ip/leaked-interfaces advice"}, []string{subnet}, ""}, []change{set(interfaces, "NetworkInterfaces.+", left)}},
		"interfaces that name nobody": {said{0, []string{"ip/leak-cause advice"}, nil, ""}, []change{changed(plugin, "CLUSTER_NAME", "CLUSTER")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, tt.want, tt.changes...)
		})
	}
}
