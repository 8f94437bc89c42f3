package worldgen

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/shared/checkid"
	"rollcall/stage/simaws/route53"
	"rollcall/stage/simaws/worldfile"
)

func endpointFaults() []Fault {
	only := egressIn(EndpointsOnly)
	var list []Fault
	for _, service := range []string{"ec2", "ecr.api", "ecr.dkr", "sts"} {
		list = append(list, Fault{Name: "no endpoint for " + service, Check: checkid.EndpointMissing, applies: only, breaks: func(w *World) {
			id := *w.vpcEndpoint(service).VpcEndpointId
			w.File.EC2.VpcEndpoints = without(w.File.EC2.VpcEndpoints, func(e ec2types.VpcEndpoint) bool { return *e.VpcEndpointId == id })
		}})
	}
	return append(list,
		Fault{Name: "no default route beside a part of the endpoints", Check: checkid.EndpointMissing, applies: both(not(inIPv6), egressIn(Mixed)), breaks: func(w *World) {
			dropDefault(w.table(w.Tables[0]))
		}},
		Fault{Name: "endpoints closed", Check: checkid.EndpointSecurityGroup, applies: egressIn(EndpointsOnly, Mixed), breaks: func(w *World) {
			w.securityGroup(w.endpointGroup).IpPermissions = []ec2types.IpPermission{permit("tcp", 443, 443, "10.9.0.0/16")}
		}},
		Fault{Name: "one endpoint closed", Check: checkid.EndpointSecurityGroup, applies: egressIn(EndpointsOnly, Mixed), breaks: func(w *World) {
			id := w.id("sg")
			w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, ec2types.SecurityGroup{GroupId: &id, VpcId: &w.vpc, GroupName: aws.String("shut"), IpPermissionsEgress: w.anywhere("-1", 0, 0)})
			w.vpcEndpoint("sts").Groups = []ec2types.SecurityGroupIdentifier{{GroupId: &id}}
		}},
		Fault{Name: "private DNS off", Check: checkid.EndpointPrivateDNSOff, applies: only, breaks: func(w *World) {
			w.vpcEndpoint("ec2").PrivateDnsEnabled = aws.Bool(false)
		}},
		Fault{Name: "endpoint pending", Check: checkid.EndpointNotAvailable, applies: only, breaks: func(w *World) { w.vpcEndpoint("ecr.dkr").State = "pending" }},
		Fault{Name: "endpoint failed", Check: checkid.EndpointNotAvailable, applies: only, breaks: func(w *World) { w.vpcEndpoint("ecr.api").State = "failed" }},
		Fault{Name: "S3's endpoint not in the table", Check: checkid.EndpointS3RouteMissing, applies: only, breaks: func(w *World) {
			w.vpcEndpoint("s3").RouteTableIds = nil
			w.eachTable(func(t *ec2types.RouteTable) {
				t.Routes = without(t.Routes, func(r ec2types.Route) bool { return r.DestinationPrefixListId != nil })
			})
		}},
		Fault{Name: "endpoint policy for somebody else", Check: checkid.EndpointPolicyDenies, applies: egressIn(EndpointsOnly, Mixed), breaks: func(w *World) {
			w.vpcEndpoint("ecr.api").PolicyDocument = aws.String(`{"Statement":[{"Action":"*","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:role/deployer"},"Resource":"*"}]}`)
		}},
		Fault{Name: "endpoint policy for other buckets", Check: checkid.EndpointPolicyDenies, applies: egressIn(EndpointsOnly, Mixed), breaks: func(w *World) {
			w.vpcEndpoint("s3").PolicyDocument = aws.String(`{"Statement":[{"Action":"s3:*","Effect":"Allow","Principal":"*","Resource":["arn:aws:s3:::our-bucket","arn:aws:s3:::our-bucket/*"]}]}`)
		}},
	)
}

// deny is an entry that stands before all others.
func deny(number int32, egress bool, from, to int32, cidr string) ec2types.NetworkAclEntry {
	e := allow(number, egress, protocolTCP, from, to, cidr)
	e.RuleAction = ec2types.RuleActionDeny
	return e
}

// shut denies ports in one direction in every family that the VPC has.
func (w *World) shut(acl *ec2types.NetworkAcl, egress bool, from, to int32) {
	acl.Entries = append(acl.Entries, deny(50, egress, from, to, "0.0.0.0/0"))
	if w.six() {
		acl.Entries = append(acl.Entries, six(deny(50, egress, from, to, "0.0.0.0/0"), 51, "::/0"))
	}
}

// gatewayACL gives the public subnets a network ACL of their own.
func (w *World) gatewayACL() *ec2types.NetworkAcl {
	id := w.id("acl")
	old := w.acl()
	acl := ec2types.NetworkAcl{NetworkAclId: &id, VpcId: &w.vpc, IsDefault: aws.Bool(false), Entries: append([]ec2types.NetworkAclEntry{}, old.Entries...)}
	public := map[string]bool{}
	for n, s := range w.public {
		public[s] = true
		acl.Associations = append(acl.Associations, ec2types.NetworkAclAssociation{NetworkAclAssociationId: aws.String("aclassoc-0ab" + strconv.Itoa(n)), NetworkAclId: &id, SubnetId: aws.String(s)})
	}
	old.Associations = without(old.Associations, func(a ec2types.NetworkAclAssociation) bool { return public[*a.SubnetId] })
	w.File.EC2.NetworkAcls = append(w.File.EC2.NetworkAcls, acl)
	return &w.File.EC2.NetworkAcls[len(w.File.EC2.NetworkAcls)-1]
}

func filterFaults() []Fault {
	outward := func(w *World) bool { return w.Shape.byInternet() && w.Shape.Egress != SharedVPC }
	inside := func(w *World) bool { return w.Shape.inside() }
	own := func(w *World) bool { return w.Shape.Groups != ClusterGroup }
	return []Fault{
		{Name: "nodes' group lets nothing out", Check: checkid.SGNodeEgress, applies: always, breaks: func(w *World) {
			w.securityGroup(w.nodeGroup).IpPermissionsEgress = nil
		}},
		{Name: "nodes' group allows outbound traffic into the VPC only", Check: checkid.SGNodeEgress, applies: outward, breaks: func(w *World) {
			w.securityGroup(w.nodeGroup).IpPermissionsEgress = w.within("-1", 0, 0)
		}},
		{Name: "nodes' group allows other ports outbound only", Check: checkid.SGNodeEgress, applies: always, breaks: func(w *World) {
			w.securityGroup(w.nodeGroup).IpPermissionsEgress = append(w.anywhere("tcp", 80, 80), w.anywhere("udp", 53, 53)...)
		}},
		{Name: "cluster's group admits itself only", Check: checkid.SGClusterIngress, applies: both(inside, own), breaks: func(w *World) {
			w.securityGroup(w.clusterGroup).IpPermissions = []ec2types.IpPermission{permitGroup("-1", 0, 0, w.clusterGroup)}
		}},
		{Name: "cluster's group admits nothing", Check: checkid.SGClusterIngress, applies: inside, breaks: func(w *World) {
			w.securityGroup(w.clusterGroup).IpPermissions = nil
		}},
		{Name: "ACL denies 443 out", Check: checkid.NACLEgress, applies: always, breaks: func(w *World) { w.shut(w.acl(), true, 443, 443) }},
		{Name: "ACL denies the answers", Check: checkid.NACLReturn, applies: always, breaks: func(w *World) { w.shut(w.acl(), false, 1024, 65535) }},
		{Name: "ACL of the NAT gateway's subnet denies 443 out", Check: checkid.NACLEgress, applies: both(not(inIPv6), zonal()), breaks: func(w *World) { w.shut(w.gatewayACL(), true, 443, 443) }},
		{Name: "ACL of the NAT gateway's subnet denies the answers", Check: checkid.NACLReturn, applies: both(not(inIPv6), zonal()), breaks: func(w *World) { w.shut(w.gatewayACL(), false, 1024, 65535) }},
	}
}

func nameFaults() []Fault {
	private := func(w *World) bool { return w.Shape.inside() || w.Shape.endpoints() }
	set := func(key string, list ...string) func(*World) {
		return func(w *World) {
			d := w.dhcp()
			d.DhcpConfigurations = without(d.DhcpConfigurations, func(c ec2types.DhcpConfiguration) bool { return *c.Key == key })
			if len(list) > 0 {
				d.DhcpConfigurations = append(d.DhcpConfigurations, ec2types.DhcpConfiguration{Key: &key, Values: values(list)})
			}
		}
	}
	return []Fault{
		{Name: "DNS support off", Check: checkid.DNSSupportOff, applies: always, breaks: func(w *World) {
			a := w.File.EC2.VpcAttributes[w.vpc]
			a.EnableDnsSupport = aws.Bool(false)
			w.File.EC2.VpcAttributes[w.vpc] = a
		}},
		{Name: "DNS hostnames off", Check: checkid.DNSHostnamesOff, applies: private, breaks: func(w *World) {
			a := w.File.EC2.VpcAttributes[w.vpc]
			a.EnableDnsHostnames = aws.Bool(false)
			w.File.EC2.VpcAttributes[w.vpc] = a
		}},
		{Name: "no domain name", Check: checkid.DNSDHCPOptions, applies: always, breaks: set("domain-name")},
		{Name: "two domain names", Check: checkid.DNSDHCPOptions, applies: always, breaks: set("domain-name", "us-west-2.compute.internal corp.example.com")},
		{Name: "name servers of one's own", Check: checkid.DNSDHCPOptions, applies: private, breaks: func(w *World) {
			// In the VPC, where the shapes' filters let 53 through.
			set("domain-name-servers", address(*w.subnet(w.private[0]).CidrBlock, 53), address(*w.subnet(w.private[1]).CidrBlock, 53))(w)
		}},
		{Name: "a long domain name", Check: checkid.DNSDHCPOptions, applies: always, breaks: set("domain-name", "a-rather-long-name-of-a-department.of-a-large-company.example.com")},
	}
}

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

func startFaults() []Fault {
	change := func(edit func(*start)) func(*World) {
		return func(w *World) {
			s := w.start()
			edit(&s)
			w.setUserData(userData(w.Shape.Image, s))
		}
	}
	return []Fault{
		{Name: "user data names another cluster", Check: checkid.InstanceUserData, applies: always, breaks: change(func(s *start) { s.cluster = "staging" })},
		{Name: "user data names another endpoint", Check: checkid.InstanceUserData, applies: always, breaks: change(func(s *start) {
			s.endpoint = "https://FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF.gr7.us-west-2.eks.amazonaws.com"
		})},
		{Name: "user data holds another authority", Check: checkid.InstanceUserData, applies: always, breaks: change(func(s *start) {
			s.authority = strings.Replace(authority, "Ck1JSUIK", "Ck1JSUMK", 1)
		})},
		{Name: "no user data", Check: checkid.InstanceUserData, applies: func(w *World) bool { return w.Shape.Fleet != ManagedGroup }, breaks: func(w *World) { w.setUserData("") }},
		{Name: "a label that kubelets may not set", Check: checkid.InstanceForbiddenNodeLabel, applies: func(w *World) bool { return w.Shape.Image == AL2023 || w.Shape.Image == AL2 },
			breaks: change(func(s *start) { s.extra = ",node-role.kubernetes.io/worker=true" })},
	}
}

func instanceFaults() []Fault {
	selfManaged := func(w *World) bool { return w.Shape.Fleet == SelfManaged }
	return []Fault{
		{Name: "metadata off", Check: checkid.InstanceIMDS, applies: always, breaks: func(w *World) {
			w.young(func(i *ec2types.Instance) {
				i.MetadataOptions.HttpEndpoint = ec2types.InstanceMetadataEndpointStateDisabled
			})
		}},
		{Name: "no tag of the cluster", Check: checkid.InstanceClusterTag, applies: selfManaged, breaks: func(w *World) {
			w.young(func(i *ec2types.Instance) {
				i.Tags = without(i.Tags, func(t ec2types.Tag) bool { return strings.HasPrefix(*t.Key, "kubernetes.io/cluster/") })
			})
			g := w.scalingGroup()
			g.Tags = g.Tags[1:]
		}},
		{Name: "an image for another architecture", Check: checkid.InstanceAMI, applies: linux, breaks: func(w *World) {
			i := w.imageOf()
			i.Architecture, i.Name = ec2types.ArchitectureValuesArm64, aws.String(strings.Replace(*i.Name, "x86_64", "arm64", 1))
		}},
		{Name: "an image newer than the control plane", Check: checkid.InstanceVersionSkew, Or: []checkid.ID{checkid.InstanceAMI}, applies: always, breaks: func(w *World) {
			i := w.imageOf()
			i.Name = aws.String(strings.Replace(*i.Name, w.version, "1.36", 1))
		}},
		{Name: "older than the cluster", Check: checkid.InstanceOlderThanCluster, applies: selfManaged, breaks: func(w *World) {
			w.eks().CreatedAt = aws.Time(w.now().Add(-Age + time.Minute))
			w.eks().ResourcesVpcConfig.SubnetIds = w.private
		}},
		{Name: "their own system shut them down", Check: checkid.InstanceEndedEarly, applies: always, breaks: func(w *World) {
			w.young(func(i *ec2types.Instance) {
				i.State = &ec2types.InstanceState{Name: ec2types.InstanceStateNameTerminated, Code: aws.Int32(48)}
				i.StateReason = &ec2types.StateReason{Code: aws.String("Client.InstanceInitiatedShutdown"), Message: aws.String("Client.InstanceInitiatedShutdown: Instance initiated shutdown")}
				i.StateTransitionReason = aws.String(fmt.Sprintf("User initiated (%s GMT)", i.LaunchTime.Add(90*time.Second).UTC().Format(time.DateTime)))
			})
			if g := w.scalingGroup(); g != nil {
				g.Instances, g.DesiredCapacity = nil, aws.Int32(0)
			}
		}},
		{Name: "nodeadm fails", Check: checkid.InstanceConsoleError, applies: func(w *World) bool { return w.Shape.Image == AL2023 }, breaks: func(w *World) {
			for _, id := range w.Young {
				w.File.EC2.ConsoleOutput[id] = "[    0.000000] Linux version 6.12.46\n         Starting nodeadm-config.service - EKS Nodeadm Config...\n" +
					"[    8.100211] nodeadm[1495]: {\"level\":\"fatal\",\"ts\":1795186232.5,\"caller\":\"nodeadm/main.go:36\",\"msg\":\"Command failed\",\"error\":\"Kubernetes node role is missing\"}\n" +
					"[FAILED] Failed to start nodeadm-config.service - EKS Nodeadm Config.\nlogin: \n"
			}
		}},
		{Name: "foreign groups that keep the control plane out", Check: checkid.InstanceForeignSecurityGroups, applies: func(w *World) bool { return w.Shape.Fleet == ManagedGroup && w.Shape.Groups != ClusterGroup }, breaks: func(w *World) {
			w.securityGroup(w.nodeGroup).IpPermissions = nil
		}},
	}
}

// refused makes the group want one more instance, whose launch fails with a
// message.
func refused(message string) func(*World) {
	return func(w *World) {
		g := w.scalingGroup()
		g.DesiredCapacity = aws.Int32(*g.DesiredCapacity + 1)
		began := w.now().Add(-2 * time.Minute)
		w.File.AutoScaling.Activities = append(w.File.AutoScaling.Activities, astypes.Activity{
			ActivityId: aws.String("f-refused"), AutoScalingGroupName: &w.group, StatusCode: astypes.ScalingActivityStatusCodeFailed, Progress: aws.Int32(100),
			Description: aws.String("Launching a new EC2 instance.  Status Reason: " + message), StatusMessage: &message,
			Cause:     aws.String("An instance was started in response to a difference between desired and actual capacity, increasing the capacity from 1 to 2."),
			StartTime: &began, EndTime: aws.Time(began.Add(time.Second)),
		})
	}
}

// refusedLaunch is how the names of faults begin that keep launches from instances.
const refusedLaunch = "launch refused: "

func launchFaults() []Fault {
	var list []Fault
	for _, f := range []struct {
		check   checkid.ID
		message string
	}{
		{checkid.LaunchInsufficientCapacity, "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a). Our system will be working on provisioning additional capacity. Launching EC2 instance failed."},
		{checkid.LaunchSpotLimit, "Max spot instance count exceeded. Launching EC2 instance failed."},
		{checkid.LaunchVCPULimit, "You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit. Launching EC2 instance failed."},
		{checkid.LaunchSubnetFull, "There are not enough free addresses in subnet 'subnet-0a' to satisfy the requested number of instances. Launching EC2 instance failed."},
		{checkid.LaunchTemplate, "The specified launch template, with template ID lt-0dead, does not exist. Launching EC2 instance failed."},
		{checkid.LaunchAMI, "The image id '[ami-0dead]' does not exist. Launching EC2 instance failed."},
		{checkid.LaunchSecurityGroup, "The security group 'sg-0dead' does not exist. Launching EC2 instance failed."},
		{checkid.LaunchProfile, "Invalid IAM Instance Profile name. Launching EC2 instance failed."},
		{checkid.LaunchUnauthorized, "You are not authorized to perform this operation. Encoded authorization failure message: abcdef. Launching EC2 instance failed."},
		{checkid.LaunchPolicyDenied, "You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/AWSServiceRoleForAutoScaling/AutoScaling is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-west-2:111122223333:instance/* with an explicit deny in a service control policy. Launching EC2 instance failed."},
		{checkid.LaunchUnsupportedType, "Your requested instance type (m5.large) is not supported in your requested Availability Zone (us-west-2e). Please retry your request by not specifying an Availability Zone or choosing us-west-2a, us-west-2b. Launching EC2 instance failed."},
		{checkid.LaunchAccountValidation, "Your request for accessing resources in this region is being validated, and you will not be able to launch additional resources in this region until the validation is complete. Launching EC2 instance failed."},
		{checkid.LaunchUnclassified, "The moon is in the wrong house. Launching EC2 instance failed."},
	} {
		activity, fleet := refused(f.message), fleetFaults()[f.check]
		list = append(list, Fault{
			Name: refusedLaunch + string(f.check), Check: f.check, Or: ofClass(f.check), reach: noLaunch,
			applies: func(w *World) bool { return grouped(w) || w.Shape.Fleet == Karpenter },
			breaks: func(w *World) {
				if w.Shape.Fleet != Karpenter {
					activity(w)
					return
				}
				w.wantsFleet()
				fleet(w)
			},
		})
	}
	return append(list, Fault{Name: "launches suspended", Check: checkid.LaunchSuspended, reach: noLaunch, applies: grouped, breaks: func(w *World) {
		g := w.scalingGroup()
		g.DesiredCapacity = aws.Int32(*g.DesiredCapacity + 1)
		g.SuspendedProcesses = []astypes.SuspendedProcess{{ProcessName: aws.String("Launch"), SuspensionReason: aws.String("User suspended at 2026-11-19T10:00:00Z")}}
	}})
}

const pluginDown = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"

// notReady makes the young nodes NotReady with a message, and the network
// plugin on them wait for a reason, if there is one.
func (w *World) notReady(message, waiting string) {
	since := w.now().Add(-Age + time.Minute).UTC().Format(time.RFC3339)
	w.nodes(func(node, pod map[string]any) {
		node["status"].(map[string]any)["conditions"] = []any{condition("Ready", "False", "KubeletNotReady", message, since)}
		node["spec"].(map[string]any)["taints"] = []any{map[string]any{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}}
		if pod == nil || waiting == "" {
			return
		}
		pod["status"] = map[string]any{"phase": "Running", "containerStatuses": []any{map[string]any{
			"name": "aws-node", "ready": false, "restartCount": 6, "state": map[string]any{"waiting": map[string]any{"reason": waiting, "message": "back-off"}},
			"lastState": map[string]any{"terminated": map[string]any{"exitCode": 1, "reason": "Error", "message": "ipamd exited"}},
		}}}
	})
}

func nodeFaults() []Fault {
	return []Fault{
		{Name: "the network plugin crashes", Check: checkid.NodeCNINotReady, reach: lets, applies: linux, breaks: func(w *World) { w.notReady(pluginDown, "CrashLoopBackOff") }},
		{Name: "the kubelet is not well", Check: checkid.NodeNotReady, reach: lets, applies: always, breaks: func(w *World) { w.notReady("PLEG is not healthy: pleg was last seen active 4m2s ago", "") }},
		{Name: "no controller initialized the node", Check: checkid.NodeUninitialized, reach: lets, applies: always, breaks: func(w *World) {
			w.nodes(func(node, _ map[string]any) {
				node["spec"].(map[string]any)["taints"] = []any{map[string]any{"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}}
			})
		}},
		{Name: "no reason that can be seen", Check: checkid.NodeNotRegistered, applies: always, breaks: func(*World) {}},
		{Name: "no address is left", Check: checkid.IPSubnetExhausted, reach: lets, applies: both(linux, not(inIPv6)), breaks: func(w *World) {
			for _, id := range w.Subnets {
				w.subnet(id).AvailableIpAddressCount = aws.Int32(0)
			}
			w.notReady(pluginDown, "")
		}},
		{Name: "the add-on vpc-cni is degraded", Check: checkid.AddonDegraded, reach: lets, applies: linux, breaks: func(w *World) {
			a := w.addon("vpc-cni")
			a.Status = ekstypes.AddonStatusDegraded
			a.Health = &ekstypes.AddonHealth{Issues: []ekstypes.AddonIssue{{Code: ekstypes.AddonIssueCodeConfigurationConflict, Message: aws.String("Conflicts found when trying to apply.")}}}
			w.notReady(pluginDown, "")
		}},
		{Name: "the cluster has lost its subnets", Check: checkid.ClusterHealth, reach: noLaunch, applies: always, breaks: func(w *World) {
			w.eks().Health = &ekstypes.ClusterHealth{Issues: []ekstypes.ClusterIssue{{Code: ekstypes.ClusterIssueCodeEc2SubnetNotFound, Message: aws.String("subnets do not exist"), ResourceIds: []string{"subnet-0gone"}}}}
		}},
		{Name: "the cluster is being deleted", Check: checkid.ClusterHealth, reach: noLaunch, applies: always, breaks: func(w *World) { w.eks().Status = ekstypes.ClusterStatusDeleting }},
	}
}

func managed(w *World) bool { return w.Shape.Fleet == ManagedGroup }

// eksNodegroup is the young instances' nodegroup.
func (w *World) eksNodegroup() *ekstypes.Nodegroup {
	return find(w.File.EKS.Nodegroups, func(n *ekstypes.Nodegroup) bool { return *n.NodegroupName == w.nodegroup })
}

// wantMore makes the nodegroup want one more node than it has: a nodegroup
// that has all that it wants shows that its launches work.
func (w *World) wantMore() {
	n := aws.Int32(int32(len(w.Young) + 1))
	w.scalingGroup().DesiredCapacity, w.eksNodegroup().ScalingConfig.DesiredSize = n, n
	w.File.AutoScaling.Still = true
}

// saysOf makes EKS give the nodegroup a status and issues.
func (w *World) saysOf(name string, status ekstypes.NodegroupStatus, issues ...ekstypes.Issue) {
	n := find(w.File.EKS.Nodegroups, func(n *ekstypes.Nodegroup) bool { return *n.NodegroupName == name })
	n.Status, n.Health = status, &ekstypes.NodegroupHealth{Issues: issues}
}

func nodegroupIssue(code, message string, ids ...string) ekstypes.Issue {
	return ekstypes.Issue{Code: ekstypes.NodegroupIssueCode(code), Message: &message, ResourceIds: ids}
}

func nodegroupFaults() []Fault {
	list := []Fault{
		{Name: "the nodegroup could not be made", Check: checkid.NodegroupStatus, breaks: func(w *World) {
			w.wantMore()
			w.saysOf(w.nodegroup, ekstypes.NodegroupStatusCreateFailed)
		}},
		{Name: "the nodegroup could not be deleted", Check: checkid.NodegroupStatus, breaks: func(w *World) { w.saysOf(w.nodegroup, ekstypes.NodegroupStatusDeleteFailed) }},
		{Name: "the nodegroup is being made for hours", Check: checkid.NodegroupStatus, breaks: func(w *World) {
			w.wantMore()
			w.saysOf(w.nodegroup, ekstypes.NodegroupStatusCreating)
			w.eksNodegroup().CreatedAt = aws.Time(w.now().Add(-3 * time.Hour))
			w.File.EKS.Rules = worldfile.EKSRules{JoinTimeout: 24 * time.Hour, CreateTime: 24 * time.Hour}
		}},
		{Name: "an update of the nodegroup failed", Check: checkid.NodegroupUpdateFailed, breaks: func(w *World) {
			w.File.EKS.UpdateFaults = []worldfile.UpdateFault{{
				Nodegroup: w.nodegroup, Cluster: cluster, After: time.Second,
				Errors: []worldfile.EKSIssue{{Code: "PodEvictionFailure", Message: "Reached max retries while trying to evict pods"}},
			}}
			w.File.Timeline = append(w.File.Timeline, worldfile.TimelineEntry{Call: "eks:UpdateNodegroupConfig", With: map[string]any{
				"clusterName": cluster, "nodegroupName": w.nodegroup, "scalingConfig": map[string]any{"maxSize": 50},
			}})
			w.wait = time.Minute
		}},
	}
	for _, f := range []struct{ what, code, message string }{
		{"a quota", "InstanceLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of 32 allows"},
		{"a launch template that is gone", "Ec2LaunchTemplateNotFound", "The launch template of the Auto Scaling group does not exist"},
		{"a role that is gone", "IamNodeRoleNotFound", "The node role does not exist"},
		{"a code of tomorrow", "Ec2PlacementGroupNotFound", "The placement group does not exist"},
	} {
		list = append(list, Fault{Name: "EKS names " + f.what, Check: checkid.NodegroupHealth, breaks: func(w *World) {
			w.wantMore()
			w.saysOf(w.nodegroup, ekstypes.NodegroupStatusDegraded, nodegroupIssue(f.code, f.message, w.group))
		}})
	}
	for i := range list {
		list[i].applies, list[i].reach = managed, noLaunch
	}
	return append(list, hiddenIssues()...)
}

// hiddenIssues are faults of which EKS says how they show: what keeps the
// instances from joining, or from being launched, is named, and once.
func hiddenIssues() []Fault {
	const quota = "You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit. Launching EC2 instance failed."
	return []Fault{
		{Name: "EKS says NodeCreationFailure of a role without access", Check: checkid.IAMAccessMissing, applies: both(managed, func(w *World) bool { return w.Shape.Auth == ByEntries }), breaks: func(w *World) {
			w.File.EKS.AccessEntries = without(w.File.EKS.AccessEntries, func(e ekstypes.AccessEntry) bool { return *e.PrincipalArn == w.role })
			w.saysOf(w.nodegroup, ekstypes.NodegroupStatusCreateFailed, nodegroupIssue("NodeCreationFailure", "Instances failed to join the kubernetes cluster", w.Young...))
		}},
		{Name: "EKS makes up ids for what was never launched", Check: checkid.LaunchVCPULimit, reach: noLaunch, applies: managed, breaks: func(w *World) {
			refused(quota)(w)
			w.wantMore()
			w.saysOf(w.nodegroup, ekstypes.NodegroupStatusCreateFailed,
				nodegroupIssue("AsgInstanceLaunchFailures", quota, w.group),
				nodegroupIssue("NodeCreationFailure", "Instances failed to join the kubernetes cluster", "DUMMY_f26a1e10-6b2c-4f5e-9d0a-1f0f8c1f2a3b"))
		}},
	}
}

// strip takes from a role what its policies of some names grant.
func strip(r *worldfile.RoleFile, parts ...string) {
	has := func(name string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	r.AttachedManagedPolicies = without(r.AttachedManagedPolicies, func(p iamtypes.AttachedPolicy) bool { return has(*p.PolicyName) })
	r.RolePolicyList = without(r.RolePolicyList, func(p iamtypes.PolicyDetail) bool { return has(*p.PolicyName) })
}

func roleFaults() []Fault {
	return []Fault{
		{Name: "instances without a profile", Check: checkid.IAMProfileMissing, applies: always, breaks: func(w *World) {
			w.young(func(i *ec2types.Instance) { i.IamInstanceProfile = nil })
			if w.template != "" {
				w.templateVersion().LaunchTemplateData.IamInstanceProfile = nil
			}
		}},
		{Name: "a profile without a role", Check: checkid.IAMProfileMissing, applies: always, breaks: func(w *World) {
			find(w.File.IAM.InstanceProfiles, func(p *iamtypes.InstanceProfile) bool { return *p.InstanceProfileName == "workers-profile" }).Roles = nil
		}},
		{Name: "the role may not pull images", Check: checkid.IAMRolePolicies, applies: always, breaks: func(w *World) { strip(w.roleNamed("workers"), "ContainerRegistry", "pull") }},
		{Name: "the role may not learn its name", Check: checkid.IAMRolePolicies, applies: func(w *World) bool { return w.Shape.CNI != NodeIdentity }, breaks: func(w *World) { strip(w.roleNamed("workers"), "WorkerNode", "worker") }},
		{Name: "the role has no policy", Check: checkid.IAMRolePolicies, Or: []checkid.ID{checkid.IAMCNIRolePolicies}, applies: always, breaks: func(w *World) { strip(w.roleNamed("workers"), "") }},
		{Name: "a boundary allows nothing of it", Check: checkid.IAMRolePolicies, Or: []checkid.ID{checkid.IAMCNIRolePolicies}, applies: always, breaks: func(w *World) {
			arn := "arn:aws:iam::" + account + ":policy/edge"
			w.File.IAM.Policies = append(w.File.IAM.Policies, iamtypes.ManagedPolicyDetail{
				Arn: &arn, PolicyName: aws.String("edge"), DefaultVersionId: aws.String("v1"),
				PolicyVersionList: []iamtypes.PolicyVersion{{VersionId: aws.String("v1"), IsDefaultVersion: true, Document: document([]string{"s3:*", "logs:*"})}},
			})
			w.roleNamed("workers").PermissionsBoundary = &iamtypes.AttachedPermissionsBoundary{PermissionsBoundaryArn: &arn, PermissionsBoundaryType: iamtypes.PermissionsBoundaryAttachmentTypePolicy}
		}},
		{Name: "the role trusts another service", Check: checkid.IAMRoleTrust, applies: always, breaks: func(w *World) {
			w.roleNamed("workers").AssumeRolePolicyDocument = trust(map[string]string{"Service": "ecs-tasks.amazonaws.com"}, nil, "sts:AssumeRole")
		}},
		{Name: "the plugin's own role may nothing", Check: checkid.IAMCNIRolePolicies, reach: lets, applies: both(linux, func(w *World) bool { return w.cniRole != "" }), breaks: func(w *World) {
			strip(w.roleNamed(cluster+"-aws-node"), "")
			w.notReady(pluginDown, "CrashLoopBackOff")
		}},
		{Name: "the association's role may not assume the plugin's", Check: checkid.IAMCNIRolePolicies, reach: lets, applies: both(linux, (*World).chained), breaks: func(w *World) {
			strip(w.roleNamed(cluster+"-pods"), "")
			w.notReady(pluginDown, "CrashLoopBackOff")
		}},
		{Name: "the association's session policy allows nothing of the plugin", Check: checkid.IAMCNIRolePolicies, reach: lets, applies: both(linux, func(w *World) bool { return w.Shape.CNI == PodIdentity }), breaks: func(w *World) {
			a := &w.File.EKS.PodIdentityAssociations[0]
			a.Policy, a.DisableSessionTags = aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`), aws.Bool(true)
			w.notReady(pluginDown, "CrashLoopBackOff")
		}},
		{Name: "the node role may nothing of the plugin", Check: checkid.IAMCNIRolePolicies, Or: []checkid.ID{checkid.IAMRolePolicies}, reach: lets, applies: both(linux, func(w *World) bool { return w.Shape.CNI == NodeIdentity }), breaks: func(w *World) {
			strip(w.roleNamed("workers"), "CNI", "plugin")
			w.notReady(pluginDown, "CrashLoopBackOff")
		}},
	}
}

// dropEntry takes the node role's access entry away.
func (w *World) dropEntry() {
	w.File.EKS.AccessEntries = without(w.File.EKS.AccessEntries, func(e ekstypes.AccessEntry) bool { return *e.PrincipalArn == w.role })
}

// remap rewrites mapRoles of aws-auth.
func (w *World) remap(rewrite func(string) string) {
	for _, c := range w.File.Kubernetes[cluster].ConfigMaps {
		data := c["data"].(map[string]any)
		data["mapRoles"] = rewrite(data["mapRoles"].(string))
	}
}

// mapping is the item of mapRoles for the node role.
const mapping = "- rolearn: arn:aws:iam::" + account + ":role/workers\n"

// unmap takes the node role's item out of mapRoles.
func unmap(text string) string {
	head, tail, found := strings.Cut(text, mapping)
	if !found {
		return text
	}
	if i := strings.Index(tail, "- rolearn:"); i >= 0 {
		return head + tail[i:]
	}
	return head
}

func accessFaults() []Fault {
	entries := func(w *World) bool { return w.Shape.Auth != ByMap }
	maps := func(w *World) bool { return w.Shape.Auth != ByEntries }
	rewritten := func(from, to string) func(*World) {
		return func(w *World) {
			w.dropEntry()
			w.remap(func(text string) string { return strings.Replace(text, from, to, 1) })
		}
	}
	return []Fault{
		{Name: "nobody let the role in", Check: checkid.IAMAccessMissing, applies: always, breaks: func(w *World) {
			w.dropEntry()
			w.remap(unmap)
		}},
		{Name: "no aws-auth", Check: checkid.IAMAccessMissing, applies: func(w *World) bool { return w.Shape.Auth == ByMap }, breaks: func(w *World) {
			k := w.File.Kubernetes[cluster]
			k.ConfigMaps = nil
			w.File.Kubernetes[cluster] = k
		}},
		{Name: "the profile is mapped in place of the role", Check: checkid.IAMAccessWrongARN, applies: maps, breaks: rewritten(mapping, "- rolearn: arn:aws:iam::"+account+":instance-profile/workers-profile\n")},
		{Name: "the role is mapped with its path", Check: checkid.IAMAccessWrongARN, applies: both(maps, func(w *World) bool { return w.Shape.RolePath }),
			breaks: rewritten(mapping, "- rolearn: arn:aws:iam::"+account+":role/nodes/workers\n")},
		{Name: "an entry of the type STANDARD", Check: checkid.IAMAccessWrongType, applies: entries, breaks: func(w *World) {
			e := w.entry()
			e.Type, e.Username, e.KubernetesGroups = aws.String("STANDARD"), aws.String("arn:aws:sts::"+account+":assumed-role/workers/{{SessionName}}"), nil
			w.remap(unmap)
		}},
		{Name: "the role is mapped twice", Check: checkid.IAMAccessDuplicateMapping, applies: maps, breaks: func(w *World) {
			w.dropEntry()
			w.mapRoles(mapping + "  username: admin\n  groups:\n    - system:masters\n")
		}},
		{Name: "aws-auth is no YAML", Check: checkid.IAMAWSAuthInvalid, applies: maps, breaks: func(w *World) {
			w.dropEntry()
			w.remap(func(text string) string { return strings.Replace(text, "  username:", "\tusername:", 1) })
		}},
		{Name: "STS is off in the region", Check: checkid.IAMSTSRegionDeactivated, applies: always, breaks: func(w *World) {
			for _, id := range w.Young {
				w.File.EC2.ConsoleOutput[id] += fmt.Sprintf("[   20.100000] kubelet[1790]: E1120 14:50:39.699880 1790 \"failed to get token\" err=\"RegionDisabledException: STS is not activated in this region for account:%s. Your account administrator can activate STS in this region using the IAM Console. status code: 403\"\n", account)
			}
		}},
	}
}

// zonal reports whether a NAT gateway of the nodes' VPC takes them out.
func zonal() func(*World) bool { return egressIn(NATPerZone, OneNAT, Mixed) }

// ownNAT is a NAT gateway of the VPC, in a subnet or not.
func ownNAT() func(*World) bool { return egressIn(NATPerZone, OneNAT, Mixed, RegionalNAT) }

// firstNAT is the NAT gateway behind the first route table.
func (w *World) firstNAT() *ec2types.NatGateway {
	return w.nat(*defaultRoute(w.table(w.Tables[0])).NatGatewayId)
}

// dropDefault takes the way out of a route table.
func dropDefault(t *ec2types.RouteTable) {
	t.Routes = without(t.Routes, func(r ec2types.Route) bool { return aws.ToString(r.DestinationCidrBlock) == "0.0.0.0/0" })
}

func (w *World) firstDefault() *ec2types.Route { return defaultRoute(w.table(w.Tables[0])) }

// blockPublicAccess switches VPC Block Public Access on, with nothing excluded.
func (w *World) blockPublicAccess(mode ec2types.InternetGatewayBlockMode) {
	w.File.EC2.VpcBlockPublicAccessOptions = &ec2types.VpcBlockPublicAccessOptions{InternetGatewayBlockMode: mode}
	w.File.EC2.VpcBlockPublicAccessExclusions = nil
}

// resolverFaults are what is in force in the nodes' VPC beside its resolver.
func resolverFaults() []Fault {
	return []Fault{
		{Name: "a DNS firewall blocks names of AWS", Check: checkid.DNSFirewall, applies: always, breaks: func(w *World) {
			w.firewall("ALLOW", "*.eks.amazonaws.com.")
		}},
		{Name: "a resolver rule forwards names of AWS", Check: checkid.DNSResolverRule, applies: not(egressIn(EndpointsOnly, SharedVPC)), breaks: func(w *World) {
			w.resolverRule("rslvr-rr-0aws", "amazonaws.com.", "FORWARD")
		}},
		{Name: "a private hosted zone hides names of AWS", Check: checkid.DNSPrivateZone, applies: not(egressIn(EndpointsOnly, SharedVPC)), breaks: func(w *World) {
			w.privateZone("Z01", region+".amazonaws.com.", "ec2."+region+".amazonaws.com.")
		}},
		{Name: "a Route 53 Profile brings a DNS firewall that blocks names of AWS", Check: checkid.DNSFirewall, applies: always, breaks: func(w *World) {
			w.firewall("ALLOW", "*.eks.amazonaws.com.")
			w.File.Route53Resolver.FirewallRuleGroupAssociations = nil
			w.byProfile("firewall-rule-group/rslvr-frg-01", `{"priority":101}`)
		}},
		{Name: "a Route 53 Profile brings a resolver rule that forwards names of AWS", Check: checkid.DNSResolverRule, applies: not(egressIn(EndpointsOnly, SharedVPC)), breaks: func(w *World) {
			w.resolverRule("rslvr-rr-0aws", "amazonaws.com.", "FORWARD")
			w.File.Route53Resolver.ResolverRuleAssociations = nil
			w.byProfile("resolver-rule/rslvr-rr-0aws", "")
		}},
	}
}

// firewall makes a walled garden of the nodes' VPC: what is allowed, and nothing else.
func (w *World) firewall(action string, allowed ...string) {
	w.File.Route53Profiles = worldfile.ProfilesFile{}
	w.File.Route53Resolver = worldfile.ResolverFile{
		FirewallRuleGroupAssociations: []route53.FirewallRuleGroupAssociation{{Id: "rslvr-frgassoc-01", FirewallRuleGroupId: "rslvr-frg-01", VpcId: w.vpc, Name: "garden", Priority: 101, Status: "COMPLETE"}},
		FirewallRules: map[string][]route53.FirewallRule{"rslvr-frg-01": {
			{FirewallDomainListId: "rslvr-fdl-02", Name: "rest", Priority: 20, Action: "BLOCK", BlockResponse: "NODATA"},
			{FirewallDomainListId: "rslvr-fdl-01", Name: "allowed", Priority: 10, Action: action},
		}},
		FirewallDomains: map[string][]string{"rslvr-fdl-01": allowed, "rslvr-fdl-02": {"*."}},
	}
}

// resolverRule puts a rule into force in the nodes' VPC.
func (w *World) resolverRule(id, domain, kind string) {
	r := route53.ResolverRule{Id: id, DomainName: domain, RuleType: kind, Name: "rule", Status: "COMPLETE"}
	if kind == "FORWARD" {
		r.ResolverEndpointId, r.TargetIps = "rslvr-out-01", []route53.TargetAddress{{Ip: "192.168.200.2", Port: 53}}
	}
	f := &w.File.Route53Resolver
	f.ResolverRules = append(f.ResolverRules, r)
	f.ResolverRuleAssociations = append(f.ResolverRuleAssociations, route53.ResolverRuleAssociation{Id: id + "-a", ResolverRuleId: id, VPCId: w.vpc, Status: "COMPLETE"})
}

// privateZone associates a private hosted zone with the nodes' VPC.
func (w *World) privateZone(id, domain string, names ...string) {
	f := &w.File.Route53
	f.HostedZones = map[string][]route53.HostedZoneSummary{w.vpc: {{HostedZoneId: id, Name: domain, Owner: route53.HostedZoneOwner{OwningAccount: account}}}}
	list := []route53.ResourceRecordSet{{Name: domain, Type: "SOA"}}
	for _, name := range names {
		list = append(list, route53.ResourceRecordSet{Name: name, Type: "A", ResourceRecords: []route53.ResourceRecord{{Value: "10.0.0.9"}}})
	}
	f.ResourceRecordSets = map[string][]route53.ResourceRecordSet{id: list}
}

// byProfile brings a resource of Route 53 Resolver into the nodes' VPC by a Profile.
func (w *World) byProfile(resource, properties string) {
	f := &w.File.Route53Profiles
	f.ProfileAssociations = []route53.ProfileAssociation{{Id: "rpassoc-01", Name: "baseline", ProfileId: "rp-01", ResourceId: w.vpc, Status: "COMPLETE"}}
	if f.ProfileResourceAssociations == nil {
		f.ProfileResourceAssociations = map[string][]route53.ProfileResourceAssociation{}
	}
	f.ProfileResourceAssociations["rp-01"] = append(f.ProfileResourceAssociations["rp-01"], route53.ProfileResourceAssociation{
		Id: "rpr-01", Name: "shared", ProfileId: "rp-01", ResourceArn: "arn:aws:route53resolver:" + w.File.Region + ":" + w.File.Account + ":" + resource, ResourceProperties: properties, Status: "COMPLETE",
	})
}

func routeFaults() []Fault {
	fourOnly := not(inIPv6)
	natState := func(state ec2types.NatGatewayState, hole bool) func(*World) {
		return func(w *World) {
			w.firstNAT().State = state
			if hole {
				w.firstDefault().State = ec2types.RouteStateBlackhole
			}
		}
	}
	return []Fault{
		{Name: "no default route", Check: checkid.RouteNoEgress, reach: keepsTable, applies: both(fourOnly, egressIn(Public, NATPerZone, OneNAT, RegionalNAT, NATInstance, Transit)),
			breaks: func(w *World) { dropDefault(w.table(w.Tables[0])) }},
		{Name: "no route to the internet at all", Check: checkid.RouteNoEgress, Or: []checkid.ID{checkid.RouteIPv6NoEgress}, reach: keepsTable, applies: both(inIPv6, egressIn(Public, NATPerZone, OneNAT)),
			breaks: func(w *World) {
				t := w.table(w.Tables[0])
				dropDefault(t)
				t.Routes = without(t.Routes, func(r ec2types.Route) bool { return aws.ToString(r.DestinationIpv6CidrBlock) == "::/0" })
			}},
		{Name: "the subnets lost their table", Check: checkid.RouteNoEgress, reach: keepsTable, applies: both(fourOnly, egressIn(Public, NATPerZone, OneNAT), func(w *World) bool { return !w.Shape.MainTable }),
			breaks: func(w *World) {
				// What is left is the main table, which has no route to the internet.
				w.table(w.Tables[0]).Associations = nil
			}},
		{Name: "NAT gateway deleted long ago", Check: checkid.RouteBlackhole, reach: keepsTable, applies: both(fourOnly, ownNAT()), breaks: func(w *World) {
			r := w.firstDefault()
			r.NatGatewayId, r.State = aws.String("nat-0dead"), ec2types.RouteStateBlackhole
		}},
		{Name: "internet gateway deleted", Check: checkid.RouteBlackhole, applies: both(fourOnly, egressIn(Public)), breaks: func(w *World) {
			w.File.EC2.InternetGateways = without(w.File.EC2.InternetGateways, func(g ec2types.InternetGateway) bool { return *g.InternetGatewayId == w.gateway })
			for i := range w.File.EC2.RouteTables {
				if r := defaultRoute(&w.File.EC2.RouteTables[i]); r != nil && aws.ToString(r.GatewayId) == w.gateway {
					r.State = ec2types.RouteStateBlackhole
				}
			}
		}},
		{Name: "the transit gateway's row is a blackhole", Check: checkid.RouteBlackhole, applies: egressIn(Transit), breaks: func(w *World) {
			for _, list := range w.File.EC2.TransitGatewayRoutes {
				for i := range list {
					if *list[i].DestinationCidrBlock == "0.0.0.0/0" {
						list[i].State = ec2types.TransitGatewayRouteStateBlackhole
						list[i].TransitGatewayAttachments = nil
					}
				}
			}
		}},
		{Name: "NAT instance gone", Check: checkid.RouteBlackhole, applies: egressIn(NATInstance), breaks: func(w *World) {
			r := w.firstDefault()
			w.File.EC2.Instances = without(w.File.EC2.Instances, func(i ec2types.Instance) bool { return *i.InstanceId == *r.InstanceId })
			w.File.EC2.NetworkInterfaces = without(w.File.EC2.NetworkInterfaces, func(n ec2types.NetworkInterface) bool { return *n.NetworkInterfaceId == *r.NetworkInterfaceId })
			r.State, r.InstanceId, r.InstanceOwnerId = ec2types.RouteStateBlackhole, nil, nil
		}},
		{Name: "NAT gateway failed", Check: checkid.RouteNATUnusable, reach: keepsTable, applies: both(fourOnly, ownNAT()), breaks: natState(ec2types.NatGatewayStateFailed, false)},
		{Name: "NAT gateway just deleted", Check: checkid.RouteNATUnusable, reach: keepsTable, applies: both(fourOnly, ownNAT()), breaks: natState(ec2types.NatGatewayStateDeleted, true)},
		{Name: "NAT gateway pending", Check: checkid.RouteNATUnusable, reach: keepsTable, applies: both(fourOnly, ownNAT()), breaks: natState(ec2types.NatGatewayStatePending, false)},
		{Name: "private NAT gateway", Check: checkid.RouteNATUnusable, reach: keepsTable, applies: both(fourOnly, zonal()), breaks: func(w *World) {
			n := w.firstNAT()
			n.ConnectivityType = ec2types.ConnectivityTypePrivate
			n.NatGatewayAddresses = nil
		}},
		{Name: "NAT gateway's subnet without a route to the internet", Check: checkid.RouteNATNoInternet, applies: both(fourOnly, egressIn(NATPerZone, OneNAT, Mixed, Transit)), breaks: func(w *World) {
			for i := range w.File.EC2.RouteTables {
				if r := defaultRoute(&w.File.EC2.RouteTables[i]); r != nil && r.GatewayId != nil {
					dropDefault(&w.File.EC2.RouteTables[i])
				}
			}
		}},
		{Name: "the regional NAT gateway's table without a route to the internet", Check: checkid.RouteNATNoInternet, applies: egressIn(RegionalNAT), breaks: func(w *World) {
			dropDefault(w.table(*w.nat(w.nats[0]).RouteTableId))
		}},
		{Name: "no public addresses", Check: checkid.RouteIGWNoPublicIP, applies: both(fourOnly, egressIn(Public)), breaks: func(w *World) {
			for _, id := range w.Subnets {
				w.subnet(id).MapPublicIpOnLaunch = aws.Bool(false)
			}
			w.young(func(i *ec2types.Instance) { i.PublicIpAddress = nil })
		}},
		{Name: "internet gateway detached", Check: checkid.RouteIGWDetached, applies: both(fourOnly, egressIn(Public, NATPerZone, OneNAT, Mixed, RegionalNAT, NATInstance)), breaks: func(w *World) {
			find(w.File.EC2.InternetGateways, func(g *ec2types.InternetGateway) bool { return *g.InternetGatewayId == w.gateway }).Attachments = nil
			for i := range w.File.EC2.RouteTables {
				if r := defaultRoute(&w.File.EC2.RouteTables[i]); r != nil && aws.ToString(r.GatewayId) == w.gateway {
					r.State = ec2types.RouteStateBlackhole
				}
			}
		}},
		{Name: "VPC Block Public Access, both ways", Check: checkid.RouteBlockedPublicAccess, applies: egressIn(Public, NATPerZone, OneNAT, RegionalNAT, NATInstance), breaks: func(w *World) {
			w.blockPublicAccess(ec2types.InternetGatewayBlockModeBlockBidirectional)
		}},
		{Name: "VPC Block Public Access, of what comes in", Check: checkid.RouteBlockedPublicAccess, applies: egressIn(Public, NATInstance), breaks: func(w *World) {
			w.blockPublicAccess(ec2types.InternetGatewayBlockModeBlockIngress)
		}},
		{Name: "NAT instance checks its packets", Check: checkid.RouteNATInstanceSourceCheck, applies: egressIn(NATInstance), breaks: func(w *World) {
			w.natInterface().SourceDestCheck = aws.Bool(true)
		}},
		{Name: "NAT instance stopped", Check: checkid.RouteNATInstanceSourceCheck, applies: egressIn(NATInstance), breaks: func(w *World) {
			w.instance(*w.firstDefault().InstanceId).State = &ec2types.InstanceState{Name: ec2types.InstanceStateNameStopped, Code: aws.Int32(80)}
			w.firstDefault().State = ec2types.RouteStateBlackhole
		}},
		{Name: "the public endpoint admits others only", Check: checkid.RouteAPIPublicCIDR, applies: both(egressIn(Public, NATPerZone, OneNAT, Mixed, RegionalNAT, Transit, NATInstance), func(w *World) bool { return w.Shape.Access == PublicAPI }),
			breaks: func(w *World) { w.eks().ResourcesVpcConfig.PublicAccessCidrs = []string{"198.51.100.0/24"} }},
		{Name: "no IPv6 route out", Check: checkid.RouteIPv6NoEgress, reach: keepsTable, applies: both(inIPv6, egressIn(Public, NATPerZone, OneNAT, Mixed)), breaks: func(w *World) {
			t := w.table(w.Tables[0])
			t.Routes = without(t.Routes, func(r ec2types.Route) bool { return aws.ToString(r.DestinationIpv6CidrBlock) == "::/0" })
		}},
		{Name: "subnets without an IPv6 range", Check: checkid.RouteIPv6NoEgress, applies: inIPv6, breaks: func(w *World) {
			for _, id := range w.Subnets {
				w.subnet(id).Ipv6CidrBlockAssociationSet = nil
			}
		}},
	}
}

func (w *World) natInterface() *ec2types.NetworkInterface {
	id := *w.firstDefault().NetworkInterfaceId
	return find(w.File.EC2.NetworkInterfaces, func(n *ec2types.NetworkInterface) bool { return *n.NetworkInterfaceId == id })
}
