package worldgen

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/local/simaws/worldfile"
)

// noise is what real accounts have beside what matters: things that look
// broken, or like a cause, and are neither.
func (w *World) noise() []func() {
	return []func(){w.exempt, w.garden, w.oldBlackhole, w.oldGateways, w.extraGroup, w.otherPeople, w.otherPolicies, w.recoveredLaunch, w.scaledIn, w.otherEndpoints, w.otherCluster, w.stickyStatus, w.shiftedBefore}
}

// makeNoise adds some of it.
func (w *World) makeNoise(r *rand.Rand) {
	for _, add := range w.noise() {
		if r.IntN(3) == 0 {
			add()
		}
	}
}

// oldBlackhole leaves rows behind that lead nowhere, for networks that no
// node needs.
func (w *World) oldBlackhole() {
	w.eachTable(func(t *ec2types.RouteTable) {
		r := route("192.168.77.0/24", func(r *ec2types.Route) { r.VpcPeeringConnectionId = aws.String("pcx-0dead") })
		r.State = ec2types.RouteStateBlackhole
		t.Routes = append(t.Routes, r)
	})
}

// oldGateways leaves gateways behind that no route leads to.
func (w *World) oldGateways() {
	w.File.EC2.NatGateways = append(w.File.EC2.NatGateways, ec2types.NatGateway{
		NatGatewayId: aws.String(w.id("nat")), VpcId: &w.vpc, SubnetId: &w.public[0], State: ec2types.NatGatewayStateDeleted, ConnectivityType: ec2types.ConnectivityTypePublic,
	})
	w.File.EC2.InternetGateways = append(w.File.EC2.InternetGateways, ec2types.InternetGateway{InternetGatewayId: aws.String(w.id("igw"))})
}

// exempt switches VPC Block Public Access on, and excludes what must get out (VPC user
// guide, "VPC BPA basics").
func (w *World) exempt() {
	w.blockPublicAccess(ec2types.InternetGatewayBlockModeBlockBidirectional)
	exclude := func(kind, id string, mode ec2types.InternetGatewayExclusionMode) {
		w.File.EC2.VpcBlockPublicAccessExclusions = append(w.File.EC2.VpcBlockPublicAccessExclusions, ec2types.VpcBlockPublicAccessExclusion{
			ExclusionId: aws.String(w.id("vpcbpa-exclude")), ResourceArn: aws.String("arn:aws:ec2:" + region + ":" + account + ":" + kind + "/" + id), InternetGatewayExclusionMode: mode,
		})
	}
	const egress, both = ec2types.InternetGatewayExclusionModeAllowEgress, ec2types.InternetGatewayExclusionModeAllowBidirectional
	switch {
	case w.Shape.Egress == EndpointsOnly:
	case w.Shape.Egress == Public, w.Shape.Egress == NATInstance, w.Shape.Egress == SharedVPC:
		exclude("vpc", w.vpc, both)
	case w.Shape.Egress == Transit:
		exclude("vpc", w.egressVPC, egress)
	case w.six(), w.Shape.Egress == RegionalNAT:
		exclude("vpc", w.vpc, egress)
	default:
		for _, id := range w.public {
			exclude("subnet", id, egress)
		}
	}
}

// garden lets the nodes' VPC resolve what is AWS's alone, and sends one's own domain on
// premises.
func (w *World) garden() {
	w.firewall("ALLOW", "*.amazonaws.com.", "*.api.aws.", "*.internal.", "*.corp.example.com.")
	w.resolverRule("rslvr-rr-01", "corp.example.com.", "FORWARD")
	w.byProfile("resolver-rule/rslvr-rr-01", "")
	w.privateZone("Z01", "corp.example.com.")
}

// extraGroup puts a security group on the nodes that lets nothing through:
// groups only add up.
func (w *World) extraGroup() {
	id := w.id("sg")
	w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, ec2types.SecurityGroup{
		GroupId: &id, VpcId: &w.vpc, GroupName: aws.String("marker"), Description: aws.String("Nothing"),
		IpPermissionsEgress: []ec2types.IpPermission{permit("tcp", 9, 9, "192.0.2.1/32")},
	})
	w.young(func(i *ec2types.Instance) {
		i.SecurityGroups = append(i.SecurityGroups, ec2types.GroupIdentifier{GroupId: &id})
	})
}

// otherPeople lets people and other roles into the cluster.
func (w *World) otherPeople() {
	if w.Shape.Auth != ByMap {
		w.File.EKS.AccessEntries = append(w.File.EKS.AccessEntries, ekstypes.AccessEntry{
			ClusterName: aws.String(cluster), PrincipalArn: aws.String(roleARN("/", "admins")), Type: aws.String("STANDARD"),
		})
	}
	if w.Shape.Auth != ByEntries {
		w.mapRoles("- rolearn: " + roleARN("/", "admins") + "\n  username: admin:{{SessionName}}\n  groups:\n    - system:masters\n")
	}
}

// otherPolicies gives the node role policies about something else, a deny of
// what nodes do not do among them.
func (w *World) otherPolicies() {
	r := w.roleNamed("workers")
	r.RolePolicyList = append(r.RolePolicyList,
		iamtypes.PolicyDetail{PolicyName: aws.String("logs"), PolicyDocument: document([]string{"logs:PutLogEvents"})},
		iamtypes.PolicyDetail{PolicyName: aws.String("guard"), PolicyDocument: statement(map[string]any{"Effect": "Deny", "Action": []string{"iam:*", "ec2:TerminateInstances"}, "Resource": "*"})})
}

// recoveredLaunch is a launch that failed before those that went well.
func (w *World) recoveredLaunch() {
	if w.group == "" {
		return
	}
	began := w.now().Add(-2 * time.Hour)
	message := "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a). Launching EC2 instance failed."
	w.File.AutoScaling.Activities = append(w.File.AutoScaling.Activities, astypes.Activity{
		ActivityId: aws.String("f-recovered"), AutoScalingGroupName: &w.group, StatusCode: astypes.ScalingActivityStatusCodeFailed, StatusMessage: &message, Progress: aws.Int32(100),
		Description: aws.String("Launching a new EC2 instance.  Status Reason: " + message), Cause: aws.String("At 12:00 an instance was started."), StartTime: &began, EndTime: aws.Time(began.Add(time.Second)),
	})
}

// scaledIn is an instance that its group ended as somebody asked.
func (w *World) scaledIn() {
	if w.group == "" {
		return
	}
	id := w.id("i")
	began := w.now().Add(-30 * time.Minute)
	w.File.EC2.Instances = append(w.File.EC2.Instances, ec2types.Instance{
		InstanceId: &id, InstanceType: instanceType, ImageId: &w.image, LaunchTime: aws.Time(began.Add(-5 * time.Hour)),
		State:                 &ec2types.InstanceState{Name: ec2types.InstanceStateNameTerminated, Code: aws.Int32(48)},
		StateReason:           &ec2types.StateReason{Code: aws.String("Client.UserInitiatedShutdown"), Message: aws.String("Client.UserInitiatedShutdown: User initiated shutdown")},
		StateTransitionReason: aws.String(fmt.Sprintf("User initiated (%s GMT)", began.UTC().Format(time.DateTime))),
		Tags:                  []ec2types.Tag{tag("kubernetes.io/cluster/"+cluster, "owned"), tag("aws:autoscaling:groupName", w.group)},
	})
	w.File.AutoScaling.Activities = append(w.File.AutoScaling.Activities, astypes.Activity{
		ActivityId: aws.String("t-scaled-in"), AutoScalingGroupName: &w.group, StatusCode: astypes.ScalingActivityStatusCodeSuccessful, Progress: aws.Int32(100),
		Description: aws.String("Terminating EC2 instance: " + id), Cause: aws.String("At 14:30 an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 4 to 3."),
		StartTime: &began, EndTime: aws.Time(began.Add(time.Minute)),
	})
}

// otherEndpoints are endpoints for what nodes do not need to join, one of them
// broken.
func (w *World) otherEndpoints() {
	if w.Shape.Egress == SharedVPC || w.Shape.Egress == EndpointsOnly || w.Shape.Egress == Mixed {
		return
	}
	for _, e := range [][2]string{{"kms", "available"}, {"monitoring", "failed"}} {
		service, state := e[0], e[1]
		w.File.EC2.VpcEndpoints = append(w.File.EC2.VpcEndpoints, ec2types.VpcEndpoint{
			VpcEndpointId: aws.String("vpce-0" + service), VpcId: &w.vpc, ServiceName: aws.String("com.amazonaws." + region + "." + service), VpcEndpointType: ec2types.VpcEndpointTypeInterface,
			PrivateDnsEnabled: aws.Bool(true), State: ec2types.State(state), SubnetIds: w.private[:1], PolicyDocument: aws.String(openPolicy),
		})
	}
}

// otherCluster is a second cluster in the same VPC, with a node beside the
// first one's.
func (w *World) otherCluster() {
	const name = "staging"
	group, id := w.id("sg"), w.id("i")
	w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, ec2types.SecurityGroup{
		GroupId: &group, VpcId: &w.vpc, GroupName: aws.String("eks-cluster-sg-" + name), Description: aws.String("EKS created security group"),
		IpPermissions: []ec2types.IpPermission{permitGroup("-1", 0, 0, group)}, IpPermissionsEgress: w.anywhere("-1", 0, 0),
	})
	w.File.EKS.Clusters = append(w.File.EKS.Clusters, ekstypes.Cluster{
		Name: aws.String(name), Version: &w.version, Status: ekstypes.ClusterStatusActive, CreatedAt: w.long(),
		ResourcesVpcConfig: &ekstypes.VpcConfigResponse{VpcId: &w.vpc, SubnetIds: w.private, ClusterSecurityGroupId: &group, EndpointPublicAccess: true},
		AccessConfig:       &ekstypes.AccessConfigResponse{AuthenticationMode: ekstypes.AuthenticationModeApi},
	})
	w.File.EC2.NetworkInterfaces = append(w.File.EC2.NetworkInterfaces, ec2types.NetworkInterface{
		NetworkInterfaceId: aws.String(w.id("eni")), SubnetId: &w.private[0], Description: aws.String("Amazon EKS " + name), RequesterManaged: aws.Bool(true),
		Status: ec2types.NetworkInterfaceStatusInUse, Groups: []ec2types.GroupIdentifier{{GroupId: &group}},
	})
	w.File.EC2.Instances = append(w.File.EC2.Instances, ec2types.Instance{
		InstanceId: &id, InstanceType: instanceType, ImageId: &w.image, SubnetId: &w.Subnets[0], LaunchTime: w.long(), SecurityGroups: []ec2types.GroupIdentifier{{GroupId: &group}},
		Tags: []ec2types.Tag{tag("kubernetes.io/cluster/"+name, "owned")},
	})
	w.File.Kubernetes[name] = worldfile.KubernetesFile{}
}

// stickyStatus is a nodegroup that EKS still calls degraded, for an instance
// that is long gone: all that it wants are Ready nodes.
func (w *World) stickyStatus() {
	if len(w.Veterans) > 0 {
		w.saysOf("base", ekstypes.NodegroupStatusDegraded, nodegroupIssue("NodeCreationFailure", "Instances failed to join the kubernetes cluster", "i-0dead00000000beef"))
	}
}
