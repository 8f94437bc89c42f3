package worldgen

import (
	"net/netip"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/local/simaws/worldfile"
	"rollcall/shared/checkid"
)

// fleetTime is how long Karpenter tries before a world is looked at: three rounds of
// what is short now, three minutes apart (aws/karpenter-provider-aws pkg/cache).
const fleetTime = 8 * time.Minute

// controller is the name of the role of Karpenter's controller.
const controller = "karpenter"

// fleetFaults are what keeps Karpenter's CreateFleet from an instance, by what is to be
// said of it. Each is on the account or in the class: what EC2 answers is the world's own
// doing. A NodePool has Spot instances here, where its dry runs ask for others. Of an
// image that is not there and user data that are too long the class itself says that it
// is not ready, and nothing is asked for (ofClass).
func fleetFaults() map[checkid.ID]func(*World) {
	deny := func(document string) func(*World) {
		return func(w *World) {
			w.File.Organizations.ServiceControlPolicies = []worldfile.ControlPolicy{{Name: "f-denied", Document: document}}
		}
	}
	return map[checkid.ID]func(*World){
		checkid.LaunchInsufficientCapacity: func(w *World) { w.File.Spot.Pools = []worldfile.PoolFile{{Capacity: aws.Int(0)}} },
		checkid.LaunchSpotLimit:            func(w *World) { w.File.Spot.VCPULimit = 1 },
		checkid.LaunchPolicyDenied: deny(`{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"ec2:RunInstances","Resource":"arn:aws:ec2:*:*:instance/*",` +
			`"Condition":{"StringEquals":{"ec2:InstanceMarketType":"spot"}}}]}`),
		checkid.LaunchUnauthorized: func(w *World) {
			w.File.IAM.Roles = append(w.File.IAM.Roles, worldfile.RoleFile{
				Role: iamtypes.Role{RoleName: aws.String(controller)},
				RolePolicyList: []iamtypes.PolicyDetail{{PolicyName: aws.String(controller), PolicyDocument: aws.String(
					`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:*","iam:PassRole"],"NotResource":"arn:aws:ec2:*:*:spot-instances-request/*"}]}`)}},
			})
		},
		checkid.LaunchSecurityGroup: func(w *World) {
			vpc, group := "vpc-0f00000000000dead", "sg-0f00000000000dead"
			w.File.EC2.Vpcs = append(w.File.EC2.Vpcs, ec2types.Vpc{VpcId: &vpc, CidrBlock: aws.String("172.31.0.0/16")})
			w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, ec2types.SecurityGroup{
				GroupId: &group, GroupName: aws.String("elsewhere"), Description: aws.String("elsewhere"), VpcId: &vpc,
			})
			w.class()["securityGroupSelectorTerms"] = []any{map[string]any{"id": group}}
		},
		checkid.LaunchVCPULimit: func(w *World) {
			w.File.EC2.VCPULimit = 1
			w.poolWants("karpenter.sh/capacity-type", "on-demand")
		},
		checkid.LaunchSubnetFull: func(w *World) {
			w.class()["subnetSelectorTerms"] = []any{map[string]any{"id": w.makeFullSubnet()}}
		},
		checkid.LaunchUnsupportedType: func(w *World) {
			w.File.EC2.NotOffered = map[string][]string{}
			for _, zone := range w.zones() {
				w.File.EC2.NotOffered[zone] = []string{string(instanceType)}
			}
		},
		checkid.LaunchProfile: func(w *World) {
			delete(w.class(), "role")
			w.class()["instanceProfile"] = "f-deleted"
		},
		checkid.LaunchAMI: func(w *World) {
			w.class()["amiSelectorTerms"] = []any{map[string]any{"id": "ami-0f00000000000dead"}}
		},
		checkid.LaunchTemplate: func(w *World) { w.class()["userData"] = strings.Repeat("# much to do\n", 1300) },
	}
}

// ofClass are the fleet faults of which the class says that it is not ready.
func ofClass(check checkid.ID) []checkid.ID {
	if check == checkid.LaunchAMI || check == checkid.LaunchTemplate {
		return []checkid.ID{checkid.KarpenterNodeclassNotReady}
	}
	return nil
}

// poolWants sets a requirement of the NodePool.
func (w *World) poolWants(key, value string) {
	template := w.File.Kubernetes[cluster].NodePools[0]["spec"].(map[string]any)["template"].(map[string]any)
	for _, r := range template["spec"].(map[string]any)["requirements"].([]any) {
		if r := r.(map[string]any); r["key"] == key {
			r["values"] = []any{value}
		}
	}
}

// makeFullSubnet makes a subnet of sixteen addresses beside the others, whose eleven that
// are not EC2's own are taken by a load balancer.
func (w *World) makeFullSubnet() string {
	base := w.range4.Addr().As4()
	base[2] = 240 // the last /20 of the range, which no shape has
	block := netip.PrefixFrom(netip.AddrFrom4(base), 28).String()
	s := *w.subnet(w.Subnets[0])
	s.SubnetId, s.CidrBlock, s.SubnetArn, s.Ipv6CidrBlockAssociationSet, s.AssignIpv6AddressOnCreation = aws.String(w.id("subnet")), &block, nil, nil, nil
	w.File.EC2.Subnets = append(w.File.EC2.Subnets, s)
	if len(w.Tables) > 0 {
		t := w.table(w.Tables[0])
		t.Associations = append(t.Associations, ec2types.RouteTableAssociation{
			RouteTableAssociationId: aws.String(w.id("rtbassoc")), RouteTableId: t.RouteTableId, SubnetId: s.SubnetId,
			AssociationState: &ec2types.RouteTableAssociationState{State: ec2types.RouteTableAssociationStateCodeAssociated},
		})
	}
	for n := 4; n < 15; n++ {
		w.File.EC2.NetworkInterfaces = append(w.File.EC2.NetworkInterfaces, ec2types.NetworkInterface{
			NetworkInterfaceId: aws.String(w.id("eni")), SubnetId: s.SubnetId, VpcId: s.VpcId, AvailabilityZone: s.AvailabilityZone, PrivateIpAddress: aws.String(address(block, n)),
			Status: ec2types.NetworkInterfaceStatusInUse, Description: aws.String("ELB app/web/50dc6c495c0c9188"), RequesterId: aws.String("amazon-elb"), RequesterManaged: aws.Bool(true),
			InterfaceType: ec2types.NetworkInterfaceTypeInterface, Groups: []ec2types.GroupIdentifier{{GroupId: aws.String(w.nodeGroup)}},
		})
	}
	return *s.SubnetId
}

// class is what the NodePool's class wants.
func (w *World) class() map[string]any {
	return w.File.Kubernetes[cluster].EC2NodeClasses[0]["spec"].(map[string]any)
}

// wantsFleet has Karpenter run, and a pod wait that none of the nodes takes.
func (w *World) wantsFleet() {
	w.wait = fleetTime
	k := w.File.Kubernetes[cluster]
	k.Karpenter = &worldfile.KarpenterFile{Role: controller}
	k.Sets = append(k.Sets, worldfile.SetFile{Namespace: "batch", Name: "waits", NodeSelector: map[string]string{"batch": "new"}})
	w.File.Kubernetes[cluster] = k
	pool := k.NodePools[0]["spec"].(map[string]any)["template"].(map[string]any)
	pool["metadata"] = map[string]any{"labels": map[string]any{"batch": "new"}}
	pool["spec"].(map[string]any)["requirements"] = []any{
		map[string]any{"key": "karpenter.sh/capacity-type", "operator": "In", "values": []any{"spot"}},
		map[string]any{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": []any{string(instanceType)}},
	}
	var subnets []any
	for _, id := range w.Subnets {
		subnets = append(subnets, map[string]any{"id": id})
	}
	class := w.class()
	class["role"], class["subnetSelectorTerms"] = "workers", subnets
	class["securityGroupSelectorTerms"] = []any{map[string]any{"id": w.nodeGroup}}
	class["amiSelectorTerms"] = []any{map[string]any{"id": w.image}}
}
