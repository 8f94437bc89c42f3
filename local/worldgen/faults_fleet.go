package worldgen

import (
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
// said of it. Each is on the account: what EC2 answers is the world's own doing. A
// NodePool has Spot instances here, where its dry runs ask for others.
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
	}
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
