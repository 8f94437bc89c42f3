package gather

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/gather/gathertest"
	gatheriam "rollcall/shared/gather/iam"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

// crowded is a world in which there is something to read of every source: an
// instance that has not joined, behind a transit gateway.
const crowded = `
ec2:
  Vpcs:
    - {VpcId: vpc-0e9, CidrBlock: 10.9.0.0/16}
  Subnets:
    - {SubnetId: subnet-0e9a, VpcId: vpc-0e9, AvailabilityZone: us-west-2a, CidrBlock: 10.9.0.0/24}
  InternetGateways:
    - {InternetGatewayId: igw-0e9, Attachments: [{State: available, VpcId: vpc-0e9}]}
    - {InternetGatewayId: igw-0loose}
  EgressOnlyInternetGateways:
    - {EgressOnlyInternetGatewayId: eigw-01, Attachments: [{State: attached, VpcId: vpc-0a1b2c3d4e5f60718}]}
  NatGateways:
    - {NatGatewayId: nat-0e9, SubnetId: subnet-0e9a, VpcId: vpc-0e9, NatGatewayAddresses: [{PublicIp: 203.0.113.99}]}
  RouteTables:
    - RouteTableId: rtb-0e9
      VpcId: vpc-0e9
      Associations: [{Main: true}]
      Routes: [{DestinationCidrBlock: 10.9.0.0/16, GatewayId: local}, {DestinationCidrBlock: 0.0.0.0/0, GatewayId: igw-0e9}]
    - RouteTableId: rtb-0b200000000000abc
      Routes:
        - {DestinationCidrBlock: 10.42.0.0/16, GatewayId: local}
        - {DestinationCidrBlock: 0.0.0.0/0, TransitGatewayId: tgw-01}
        - {DestinationCidrBlock: 10.8.0.0/16, VpcPeeringConnectionId: pcx-01}
        - {DestinationCidrBlock: 10.7.0.0/16, NetworkInterfaceId: eni-0aa}
        - {DestinationPrefixListId: pl-68a54001, GatewayId: vpce-01}
  NetworkInterfaces:
    - {NetworkInterfaceId: eni-0aa, SubnetId: subnet-0b20000000000000a, VpcId: vpc-0a1b2c3d4e5f60718, Description: firewall, PrivateIpAddress: 10.42.96.9, SourceDestCheck: false}
    - {NetworkInterfaceId: eni-0bb, SubnetId: subnet-0b20000000000000a, VpcId: vpc-0a1b2c3d4e5f60718, Description: Amazon EKS eks-workshop, PrivateIpAddress: 10.42.96.10, RequesterManaged: true}
    - {NetworkInterfaceId: eni-0tgw, SubnetId: subnet-0e9a, VpcId: vpc-0e9, InterfaceType: transit_gateway, Description: Network Interface for Transit Gateway Attachment tgw-attach-02, RequesterManaged: true}
    - {NetworkInterfaceId: eni-0else, SubnetId: subnet-0e9a, VpcId: vpc-0e9, Description: somebody's}
    - {NetworkInterfaceId: eni-0dd, SubnetId: subnet-0b20000000000000a, VpcId: vpc-0a1b2c3d4e5f60718, InterfaceType: transit_gateway, Description: Network Interface for Transit Gateway Attachment tgw-attach-01, PrivateIpAddress: 10.42.96.12, RequesterManaged: true}
    - {NetworkInterfaceId: eni-0idle, SubnetId: subnet-0b20000000000000a, VpcId: vpc-0a1b2c3d4e5f60718, Status: available, Description: aws-K8S-i-0dead00000000dead, PrivateIpAddress: 10.42.96.13}
    - {NetworkInterfaceId: eni-0cc, SubnetId: subnet-0b20000000000000a, VpcId: vpc-0a1b2c3d4e5f60718, Description: somebody's, PrivateIpAddress: 10.42.96.11}
  VpcPeeringConnections:
    - {VpcPeeringConnectionId: pcx-01, Status: {Code: active}, RequesterVpcInfo: {VpcId: vpc-0a1b2c3d4e5f60718, OwnerId: "111122223333"}, AccepterVpcInfo: {VpcId: vpc-0c8, OwnerId: "444455556666", CidrBlock: 10.8.0.0/16, Region: us-east-1}}
    - {VpcPeeringConnectionId: pcx-02, Status: {Code: active}}
  TransitGatewayAttachments:
    - {TransitGatewayAttachmentId: tgw-attach-01, TransitGatewayId: tgw-01, ResourceId: vpc-0a1b2c3d4e5f60718, Association: {TransitGatewayRouteTableId: tgw-rtb-01, State: associated}}
    - {TransitGatewayAttachmentId: tgw-attach-02, TransitGatewayId: tgw-01, ResourceId: vpc-0e9, Association: {TransitGatewayRouteTableId: tgw-rtb-02, State: associated}}
    - {TransitGatewayAttachmentId: tgw-attach-03, TransitGatewayId: tgw-99, ResourceId: vpc-0f0}
  TransitGatewayRoutes:
    tgw-rtb-02:
      - {DestinationCidrBlock: 10.42.0.0/16, TransitGatewayAttachments: [{TransitGatewayAttachmentId: tgw-attach-01, ResourceId: vpc-0a1b2c3d4e5f60718, ResourceType: vpc}]}
    tgw-rtb-01:
      - {DestinationCidrBlock: 0.0.0.0/0, TransitGatewayAttachments: [{TransitGatewayAttachmentId: tgw-attach-02, ResourceId: vpc-0e9, ResourceType: vpc}]}
      - {DestinationCidrBlock: 10.6.0.0/16, State: blackhole}
  VpcBlockPublicAccessOptions: {InternetGatewayBlockMode: block-bidirectional, ManagedBy: declarative-policy, ExclusionsAllowed: not-allowed}
  VpcBlockPublicAccessExclusions:
    - {ExclusionId: vpcbpa-exclude-01, ResourceArn: "arn:aws:ec2:us-west-2:111122223333:subnet/subnet-0e9a", InternetGatewayExclusionMode: allow-egress}
    - {ExclusionId: vpcbpa-exclude-02, ResourceArn: "arn:aws:ec2:us-west-2:111122223333:vpc/vpc-0gone", State: delete-in-progress}
  SecurityGroupVpcAssociations:
    - {GroupId: sg-0e9, VpcId: vpc-0a1b2c3d4e5f60718, State: associated}
  SecurityGroups:
    - {GroupId: sg-0e9, VpcId: vpc-0e9}
    - {GroupId: sg-0e9unused, VpcId: vpc-0e9}
    - GroupId: sg-0e50000000000000f
      IpPermissionsEgress: [{IpProtocol: tcp, FromPort: 443, ToPort: 443, PrefixListIds: [{PrefixListId: pl-68a54001}], Ipv6Ranges: [{CidrIpv6: "::/0"}]}]
  Instances:
    - {InstanceId: i-0d0000000000000c3, ImageId: ami-0dead000000000003, IamInstanceProfile: {Arn: "arn:aws:iam::111122223333:instance-profile/eks-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"}}
  UserData: {i-0d0000000000000c3: IyEvYmluL2Jhc2gK}
  ConsoleOutput: {i-0d0000000000000c3: "nodeadm: failed", i-0d0000000000000a1: "of a Ready node"}
  # One that was deregistered since.
  Images:
    - {ImageId: ami-0dead000000000003, Name: amazon-eks-node-al2023-x86_64-standard-1.34-v20251120, State: deregistered, ImageOwnerAlias: amazon, OwnerId: "602401143452", Public: true, CreationDate: "2025-11-20T20:00:00.000Z"}
  LaunchTemplates:
    - {LaunchTemplateId: lt-0res, LaunchTemplateName: res, DefaultVersionNumber: 1, LatestVersionNumber: 1}
  LaunchTemplateVersions:
    - {LaunchTemplateId: lt-0res, LaunchTemplateName: res, VersionNumber: 1, DefaultVersion: true, LaunchTemplateData: {ImageId: ami-0a1e2d3c4b5a69788, SecurityGroupIds: [sg-0e9], CapacityReservationSpecification: {CapacityReservationTarget: {CapacityReservationId: cr-0a}}, Placement: {GroupName: hpc, Tenancy: dedicated}}}
  CapacityReservations:
    - {CapacityReservationId: cr-0a, State: active, ReservationType: capacity-block, InstanceType: p5.48xlarge, AvailabilityZone: us-west-2a, TotalInstanceCount: 4, AvailableInstanceCount: 1, StartDate: 2026-11-20T11:30:00Z, EndDate: 2026-11-21T11:30:00Z}
    - {CapacityReservationId: cr-0b, State: active}
  PlacementGroups: [{GroupId: pg-0a, GroupName: hpc, Strategy: partition, State: available, PartitionCount: 3}]
route53Resolver:
  FirewallRuleGroupAssociations:
    - {FirewallRuleGroupId: rslvr-frg-01, VpcId: vpc-0a1b2c3d4e5f60718, Name: garden, Priority: 9, Status: COMPLETE}
    - {FirewallRuleGroupId: rslvr-frg-99, VpcId: vpc-0e9, Priority: 1, Status: COMPLETE}
  FirewallRules:
    rslvr-frg-01:
      - {FirewallDomainListId: rslvr-fdl-aws, Name: malware, Priority: 2, Action: BLOCK, BlockResponse: NODATA}
      - {FirewallDomainListId: rslvr-fdl-01, Name: some, Priority: 1, Action: ALLOW, Qtype: A}
    rslvr-frg-02:
      - {FirewallDomainListId: rslvr-fdl-01, Name: first, Priority: 1, Action: ALERT}
  FirewallDomains: {rslvr-fdl-01: ["*.Example.com."]}
  ResolverRules:
    - {Id: rslvr-rr-01, DomainName: Corp.example.com., RuleType: FORWARD, Name: onprem, ResolverEndpointId: rslvr-out-01, TargetIps: [{Ip: 10.99.0.2}]}
    - {Id: rslvr-rr-02, DomainName: ., RuleType: FORWARD}
    - {Id: rslvr-rr-03, DomainName: ., RuleType: SYSTEM, Name: shared}
  ResolverRuleAssociations:
    - {ResolverRuleId: rslvr-rr-01, VPCId: vpc-0a1b2c3d4e5f60718, Status: COMPLETE}
    - {ResolverRuleId: rslvr-rr-02, VPCId: vpc-0e9, Status: COMPLETE}
route53:
  HostedZones:
    vpc-0a1b2c3d4e5f60718:
      - {HostedZoneId: Z01, Name: Amazonaws.com., Owner: {OwningAccount: "111122223333"}}
  ResourceRecordSets:
    Z01: [{Name: '\052.Amazonaws.com.', Type: CNAME}]
route53Profiles:
  ProfileAssociations:
    - {ProfileId: rp-02, ResourceId: vpc-0a1b2c3d4e5f60718, Status: COMPLETE, Priority: 200}
    - {ProfileId: rp-01, ResourceId: vpc-0a1b2c3d4e5f60718, Status: UPDATING, Priority: 100}
    - {ProfileId: rp-03, ResourceId: vpc-0a1b2c3d4e5f60718, Status: DELETING}
    - {ProfileId: rp-99, ResourceId: vpc-0e9, Status: COMPLETE}
  ProfileResourceAssociations:
    rp-01:
      - {ResourceArn: "arn:aws:route53resolver:us-west-2:444455556666:firewall-rule-group/rslvr-frg-02", ResourceType: FIREWALL_RULE_GROUP, Name: central, ResourceProperties: '{"priority":5}', Status: COMPLETE}
      - {ResourceArn: "arn:aws:route53resolver:us-west-2:444455556666:resolver-rule/rslvr-rr-03", Name: shared, Status: COMPLETE}
      - {ResourceArn: "arn:aws:route53resolver:us-west-2:444455556666:resolver-rule/rslvr-rr-05", Status: FAILED}
    rp-02:
      - {ResourceArn: "arn:aws:route53resolver:us-west-2:444455556666:resolver-rule/rslvr-rr-04", Name: theirs, Status: COMPLETE}
autoscaling:
  AutoScalingGroups:
    - {AutoScalingGroupName: eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007, LaunchTemplate: {LaunchTemplateId: lt-0res, Version: "1"}}
arcZonalShift:
  ZonalShifts:
    - {zonalShiftId: z-01, resourceIdentifier: "arn:aws:eks:us-west-2:111122223333:cluster/eks-workshop", awayFrom: usw2-az1, startTime: 2026-11-20T14:00:00Z, expiryTime: 2026-11-20T20:00:00Z, comment: gray failure}
    - {zonalShiftId: z-02, resourceIdentifier: "arn:aws:elasticloadbalancing:us-west-2:111122223333:loadbalancer/app/x/1", awayFrom: usw2-az1, startTime: 2026-11-20T14:00:00Z, expiryTime: 2026-11-20T20:00:00Z}
  Autoshifts: [{awayFrom: usw2-az3, startTime: 2026-11-20T14:30:00Z}]
eks:
  clusters: [{name: eks-workshop, zonalShiftConfig: {enabled: true}}]
  podIdentityAssociations:
    - {clusterName: eks-workshop, associationId: a-01, serviceAccount: aws-node, roleArn: "arn:aws:iam::111122223333:role/net/cni"}
    - {clusterName: eks-workshop, associationId: a-02, serviceAccount: ebs-csi-controller-sa, roleArn: "arn:aws:iam::111122223333:role/ebs"}
    - {clusterName: eks-workshop, associationId: a-03, namespace: shop, serviceAccount: aws-node, roleArn: "arn:aws:iam::111122223333:role/shop"}
  accessEntries:
    - {clusterName: eks-workshop, principalArn: "arn:aws:iam::111122223333:role/other/new_nodegroup_2", type: EC2}
    - {clusterName: eks-workshop, principalArn: "arn:aws:iam::111122223333:role/AmazonEKSAutoNodeRole", type: EC2, createdAt: 2026-10-01T12:00:00Z, modifiedAt: 2026-10-01T12:00:00Z}
    - {clusterName: eks-workshop, principalArn: "arn:aws:iam::111122223333:role/people", type: STANDARD}
  accessPolicies:
    - clusterName: eks-workshop
      principalArn: arn:aws:iam::111122223333:role/AmazonEKSAutoNodeRole
      associatedAccessPolicies:
        - {policyArn: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy", accessScope: {type: cluster}}
        - {policyArn: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy", accessScope: {type: namespace, namespaces: [shop, ml]}}
iam:
  InstanceProfiles:
    - {InstanceProfileName: eks-own, Roles: [{RoleName: AmazonEKSAutoNodeRole}]}
  Roles:
    - {RoleName: AmazonEKSAutoNodeRole, CreateDate: 2026-10-02T12:00:00Z, AssumeRolePolicyDocument: {Statement: [{Effect: Allow, Principal: {Service: ec2.amazonaws.com}, Action: "sts:AssumeRole"}]}}
    - RoleName: cni
      Path: /net/
      AssumeRolePolicyDocument: {Statement: [{Effect: Allow, Principal: {Service: pods.eks.amazonaws.com}, Action: ["sts:AssumeRole", "sts:TagSession"]}]}
      PermissionsBoundary: {PermissionsBoundaryArn: "arn:aws:iam::111122223333:policy/edge", PermissionsBoundaryType: Policy}
      AttachedManagedPolicies: [{PolicyName: edge, PolicyArn: "arn:aws:iam::111122223333:policy/edge"}]
      RolePolicyList: [{PolicyName: own, PolicyDocument: {Statement: [{Effect: Deny, Action: "ec2:CreateTags", Resource: "*", Condition: {StringEquals: {"aws:RequestTag/a+b": "100% sure"}}}]}}]
  Policies:
    - {Arn: "arn:aws:iam::111122223333:policy/edge", PolicyName: edge, DefaultVersionId: v2, PolicyVersionList: [{VersionId: v1, Document: {Statement: []}}, {VersionId: v2, IsDefaultVersion: true, Document: {Statement: [{Effect: Allow, Action: "*", Resource: "*"}]}}]}
kubernetes:
  eks-workshop:
    joined: [i-0d0000000000000a1, i-0d0000000000000b2]
    daemonSets:
      - {metadata: {name: aws-node, namespace: kube-system}, spec: {template: {spec: {containers: [{name: aws-eks-nodeagent, image: agent}, {name: aws-node, image: "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.20.4", env: [{name: WARM_ENI_TARGET, value: "1"}, {name: AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG, value: "true"}, {name: ENABLE_POD_ENI, value: "true"}, {name: MY_NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]}]}}}, status: {desiredNumberScheduled: 3, numberReady: 2}}
      - {metadata: {name: kube-proxy, namespace: kube-system}}
    serviceAccounts:
      - {metadata: {name: aws-node, namespace: kube-system, annotations: {"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/irsa"}}}
    configMaps:
      - {metadata: {name: aws-auth, namespace: kube-system}, data: {mapRoles: "- rolearn: x\n"}}
    pods:
      - metadata: {name: aws-node-2, namespace: kube-system, labels: {k8s-app: aws-node}}
        spec: {nodeName: n2}
        status: {phase: Running, initContainerStatuses: [{name: aws-vpc-cni-init, state: {terminated: {reason: Completed, exitCode: 0}}}], containerStatuses: [{name: aws-node, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff, message: back-off}}, lastState: {terminated: {reason: Error, exitCode: 1, message: no ipamd}}}]}
      - {metadata: {name: web-0, namespace: shop}, spec: {nodeName: n2}, status: {phase: Pending}}
      - {metadata: {name: coredns-1, namespace: kube-system, labels: {k8s-app: kube-dns}}}
      - {metadata: {name: train-0, namespace: ml}, status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}
    certificateSigningRequests:
      - {metadata: {name: csr-1, creationTimestamp: "2026-11-20T14:50:00Z"}, spec: {signerName: kubernetes.io/kubelet-serving, username: "system:node:n2"}}
      - {metadata: {name: csr-2}, spec: {signerName: kubernetes.io/kubelet-serving}, status: {conditions: [{type: Approved}]}}
    ENIConfigs:
      - {apiVersion: crd.k8s.amazonaws.com/v1alpha1, kind: ENIConfig, metadata: {name: us-west-2a}, spec: {subnet: subnet-0b20000000000000b, securityGroups: [sg-0e50000000000000f]}}
    NodePools:
      - metadata: {name: gpu, generation: 3}
        spec: {limits: {cpu: 100, memory: 400Gi}, template: {metadata: {labels: {team: ml}}, spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}, taints: [{key: gpu, value: "yes", effect: NoSchedule}], requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}}}
        status: {resources: {cpu: "96", memory: 384Gi}, conditions: [{type: NodeClassReady, status: "True", reason: NodeClassReady, observedGeneration: 3, lastTransitionTime: "2026-11-20T14:00:00Z"}]}
      - {metadata: {name: general-purpose, deletionTimestamp: "2026-11-20T14:58:00Z"}, spec: {template: {spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}}}}}
    NodeClaims:
      - metadata: {name: gpu-x7k2p, generation: 1, labels: {karpenter.sh/nodepool: gpu}}
        spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}}
        status: {providerID: "aws:///us-west-2a/i-0d0000000000000c3", conditions: [{type: Registered, status: Unknown, reason: NodeNotFound, message: Node not registered with cluster, observedGeneration: 1, lastTransitionTime: "2026-11-20T14:50:00Z"}]}
    EC2NodeClasses:
      - metadata: {name: gpu, generation: 2}
        spec: {role: KarpenterNodeRole, subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}], securityGroupSelectorTerms: [{name: nodes}], amiSelectorTerms: [{alias: al2023@latest}], amiFamily: AL2023, userData: "#!/bin/sh", associatePublicIPAddress: false, metadataOptions: {httpEndpoint: enabled, httpPutResponseHopLimit: 2, httpTokens: required}}
        status: {subnets: [{id: subnet-0b20000000000000a, zone: us-west-2a, zoneID: usw2-az1}], conditions: [{type: SubnetsReady, status: "False", reason: SubnetsNotFound, message: SubnetSelector did not match any Subnets, observedGeneration: 1}]}
    NodeClasses:
      - {metadata: {name: default}, spec: {role: AmazonEKSAutoNodeRole, subnetSelectorTerms: [{id: subnet-0b20000000000000a}]}}
      - {metadata: {name: own}, spec: {instanceProfile: eks-own}, status: {conditions: [{type: InstanceProfileReady, status: "False", reason: UnauthorizedNodeRole}]}}
    events:
      - {metadata: {name: e2, namespace: default}, involvedObject: {kind: Node, name: n2}, reason: NodeNotReady, lastTimestamp: "2026-11-20T14:56:00Z"}
      - {metadata: {name: e1, namespace: default}, involvedObject: {kind: Node, name: n2}, reason: RegisteredNode, eventTime: "2026-11-20T14:55:00.123456Z", lastTimestamp: null}
      - {metadata: {name: e3, namespace: default}, involvedObject: {kind: Pod, name: p}, reason: Scheduled}
      - {metadata: {name: e4, namespace: default}, involvedObject: {kind: NodeClaim, name: gpu-9z865}, reason: InsufficientCapacityError, message: none, source: {component: karpenter}, firstTimestamp: "2026-11-20T14:50:00Z", lastTimestamp: "2026-11-20T14:52:00Z"}
      - {metadata: {name: e5, namespace: ml}, involvedObject: {kind: Pod, namespace: ml, name: train-0}, reason: FailedScheduling, source: {component: default-scheduler}}
      - {metadata: {name: e6, namespace: ml}, involvedObject: {kind: Pod, namespace: ml, name: train-0}, reason: FailedScheduling, message: limits, reportingComponent: karpenter, eventTime: "2026-11-20T14:55:00Z"}
`

const (
	workshopVPC = "vpc-0a1b2c3d4e5f60718"
	stranded    = "i-0d0000000000000c3"
)

// whole is a look at one instance of the crowded world, at everything.
func whole(t *testing.T, p *place) (*snapshot.Snapshot, Query) {
	t.Helper()
	q := broughtBy(t, p)
	s, err := p.Read(t.Context(), q)
	expect.OK(t, err)
	return s, q
}

// broughtBy is the query of such a look, with what it brings.
func broughtBy(t *testing.T, p *place) Query {
	t.Helper()
	instances, failed := p.FindIn(t.Context(), workshopVPC)
	if failed != nil {
		t.Fatal(failed)
	}
	groups, failed := p.GroupsOf(t.Context(), "eks-workshop")
	if failed != nil {
		t.Fatal(failed)
	}
	now := p.world.Now()
	return Query{
		Account: "111122223333", Region: "us-west-2", Time: now, Cluster: "eks-workshop",
		Scope: snapshot.Scope{Instances: []string{stranded, "i-0d0000000000000a1"}}, Instances: instances, Groups: groups, AllNodegroups: true,
		Launches: []snapshot.ExpectedJoin{{Instance: stranded, Due: now.Add(-time.Minute)}},
		Sources:  snapshot.All(),
	}
}

func TestLookAtEverything(t *testing.T) {
	s, _ := whole(t, open(t, crowded))
	for source, f := range s.Failures {
		t.Errorf("%s: %+v", source, f)
	}
	for _, source := range snapshot.All() {
		if !s.Has(source) {
			t.Errorf("%s was not read", source)
		}
	}
	prefix := netip.MustParsePrefix
	gathertest.Same(t, "attributes", s.VPCAttributes, []snapshot.VPCAttributes{{VPC: workshopVPC, DNSSupport: true, DNSHostnames: true}})
	gathertest.Same(t, "DHCP options", s.DHCPOptions, []snapshot.DHCPOptions{{ID: "dopt-0f1e2d3c4b5a69788", DomainNames: []string{"us-west-2.compute.internal"}, DomainNameServers: []string{"AmazonProvidedDNS"}}})
	gathertest.Same(t, "egress-only gateways", s.EgressOnly, []snapshot.EgressOnlyGateway{{ID: "eigw-01", Attached: []string{workshopVPC}}})
	gathertest.Same(t, "internet gateways", s.InternetGateways, []snapshot.InternetGateway{{ID: "igw-0d40000000000000e", Attached: []string{workshopVPC}}, {ID: "igw-0e9", Attached: []string{"vpc-0e9"}}, {ID: "igw-0loose"}})
	gathertest.Same(t, "prefix lists", s.PrefixLists, []snapshot.PrefixList{{ID: "pl-68a54001", Name: "com.amazonaws.us-west-2.s3", CIDRs: []netip.Prefix{prefix("52.92.128.0/17"), prefix("3.5.76.0/22"), prefix("52.218.128.0/17")}}})
	gathertest.Same(t, "peerings", s.Peerings, []snapshot.Peering{{ID: "pcx-01", State: "active",
		Requester: snapshot.PeerVPC{VPC: workshopVPC, Account: "111122223333"},
		Accepter:  snapshot.PeerVPC{VPC: "vpc-0c8", Account: "444455556666", Region: "us-east-1", CIDRs: []netip.Prefix{prefix("10.8.0.0/16")}}}})
	gathertest.Same(t, "attachments", s.Attachments, []snapshot.Attachment{
		{ID: "tgw-attach-01", Gateway: "tgw-01", Kind: "vpc", Resource: workshopVPC, Owner: "111122223333", State: "available", Table: "tgw-rtb-01"},
		{ID: "tgw-attach-02", Gateway: "tgw-01", Kind: "vpc", Resource: "vpc-0e9", Owner: "111122223333", State: "available", Table: "tgw-rtb-02"},
	})
	gathertest.Same(t, "transit routes", s.TransitRoutes, []snapshot.TransitRoute{
		{Table: "tgw-rtb-01", Destination: prefix("0.0.0.0/0"), State: "active", Attachments: []string{"tgw-attach-02"}, Resources: []string{"vpc-0e9"}},
		{Table: "tgw-rtb-01", Destination: prefix("10.6.0.0/16"), State: "blackhole"},
		{Table: "tgw-rtb-02", Destination: prefix("10.42.0.0/16"), State: "active", Attachments: []string{"tgw-attach-01"}, Resources: []string{workshopVPC}},
	})
	gathertest.Same(t, "NAT gateways", names(s.NATGateways, func(n snapshot.NATGateway) string { return n.ID + " " + n.Zone }), []string{"nat-0aa40000000000001 us-west-2a", "nat-0e9 us-west-2a"})
	if !slices.ContainsFunc(s.RouteTables, func(r snapshot.RouteTable) bool { return r.ID == "rtb-0e9" }) {
		t.Error("the route table behind the transit gateway was not read")
	}
	gathertest.Same(t, "interfaces", names(s.Interfaces, func(x snapshot.Interface) string { return x.ID }), []string{"eni-0aa", "eni-0bb", "eni-0dd", "eni-0tgw"})
	g := s.SecurityGroups[slices.IndexFunc(s.SecurityGroups, func(g snapshot.SecurityGroup) bool { return g.ID == "sg-0e50000000000000f" })]
	gathertest.Same(t, "groups", names(s.SecurityGroups, func(g snapshot.SecurityGroup) string { return fmt.Sprint(g.ID, g.Associated) }), []string{"sg-0d30000000000000dmap[]", "sg-0e50000000000000fmap[]", "sg-0e9map[vpc-0a1b2c3d4e5f60718:associated]"})
	gathertest.Same(t, "resolver rules", s.ResolverRules, []snapshot.ResolverRule{
		{ID: "rslvr-rr-01", Name: "onprem", Domain: "corp.example.com", VPC: workshopVPC, Forward: true, Targets: []string{"10.99.0.2"}, Endpoint: "rslvr-out-01"},
		{ID: "rslvr-rr-03", Name: "shared", VPC: workshopVPC, Profile: "rp-01"},
		{ID: "rslvr-rr-04", Name: "theirs", VPC: workshopVPC, Profile: "rp-02", Unread: &snapshot.Failure{
			Source: snapshot.ResolverRulesOf, Reason: snapshot.NotShown, Call: "route53resolver:ListResolverRules", Message: "rslvr-rr-04 of the Route 53 Profile rp-02 is not shared with this account",
		}},
	})
	gathertest.Same(t, "private zones", s.PrivateZones, []snapshot.PrivateZone{{ID: "Z01", Domain: "amazonaws.com", VPC: workshopVPC, Records: []snapshot.ZoneRecord{{Name: "*.amazonaws.com", Type: "CNAME"}}}})
	gathertest.Same(t, "Route 53 Profiles", names(s.DNSProfiles, func(p snapshot.DNSProfile) string { return fmt.Sprint(p.ID, p.VPC, len(p.Resources)) }), []string{"rp-01" + workshopVPC + "2", "rp-02" + workshopVPC + "1"})
	managed := snapshot.Failure{Source: snapshot.DNSFirewall, Reason: snapshot.Denied, Call: "route53resolver:ListFirewallDomains", Code: "AccessDeniedException", Message: "You don't have permission to list the domains of this list."}
	gathertest.Same(t, "DNS firewall", s.FirewallRules, []snapshot.FirewallRule{
		{VPC: workshopVPC, Profile: "rp-01", Group: "rslvr-frg-02", GroupName: "central", Name: "first", Action: "ALERT", List: "rslvr-fdl-01", Domains: []string{"*.example.com"}},
		{VPC: workshopVPC, Group: "rslvr-frg-01", GroupName: "garden", Name: "some", Action: "ALLOW", Type: "A", List: "rslvr-fdl-01", Domains: []string{"*.example.com"}},
		{VPC: workshopVPC, Group: "rslvr-frg-01", GroupName: "garden", Name: "malware", Action: "BLOCK", Response: "NODATA", List: "rslvr-fdl-aws", Domains: []string{}, Unread: &managed},
	})
	gathertest.Same(t, "images of instances", s.LaunchedImages, []snapshot.Image{{ID: "ami-0dead000000000003", Name: "amazon-eks-node-al2023-x86_64-standard-1.34-v20251120",
		State: "deregistered", OwnerAlias: "amazon", Owner: "602401143452", Public: true, Created: time.Date(2025, 11, 20, 20, 0, 0, 0, time.UTC)}})
	gathertest.Same(t, "shifts", s.Shifts, []snapshot.Shift{{ID: "z-01", ZoneID: "usw2-az1", Kind: snapshot.PersonsShift, Comment: "gray failure",
		Started: time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC), Expires: time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)}})
	gathertest.Same(t, "public access", s.PublicAccess, &snapshot.PublicAccess{Mode: snapshot.BlockBidirectional, ByPolicy: true, NoExclusions: true, Exclusions: []snapshot.Exclusion{
		{ID: "vpcbpa-exclude-01", Resource: "subnet-0e9a", Egress: true, Active: true}, {ID: "vpcbpa-exclude-02", Resource: "vpc-0gone", Changing: true},
	}})
	gathertest.Same(t, "block modes", names(s.Subnets, func(x snapshot.Subnet) string { return x.ID + " " + string(x.BlockMode) })[len(s.Subnets)-2:], []string{"subnet-0c30000000000000d block-bidirectional", "subnet-0e9a block-ingress"})
	gathertest.Same(t, "egress", g.Egress, []snapshot.Rule{{Protocol: "tcp", From: 443, To: 443, CIDRs: []netip.Prefix{prefix("::/0")}, PrefixLists: []string{"pl-68a54001"}}})
	gathertest.Same(t, "ingress", g.Ingress, []snapshot.Rule{{Protocol: "-1", From: -1, To: -1, Groups: []string{g.ID}}})
	acl := s.NetworkACLs[0]
	gathertest.Same(t, "entries", acl.Entries, []snapshot.ACLEntry{
		{Number: 100, Allow: true, Protocol: "-1", To: 65535, CIDR: prefix("0.0.0.0/0")}, {Number: 32767, Protocol: "-1", To: 65535, CIDR: prefix("0.0.0.0/0")},
		{Number: 100, Egress: true, Allow: true, Protocol: "-1", To: 65535, CIDR: prefix("0.0.0.0/0")}, {Number: 32767, Egress: true, Protocol: "-1", To: 65535, CIDR: prefix("0.0.0.0/0")},
	})

	gathertest.Same(t, "statuses", names(s.Statuses, func(x snapshot.InstanceStatus) string { return x.Instance + " " + x.System }), []string{"i-0d0000000000000a1 ok", stranded + " ok"})
	gathertest.Same(t, "user data", s.UserData, []snapshot.UserData{{Instances: []string{"i-0d0000000000000a1", stranded}, From: stranded, Data: []byte("#!/bin/bash\n")}})
	gathertest.Same(t, "consoles", names(s.Consoles, func(c snapshot.Console) string { return c.Instance + ": " + c.Text }), []string{stranded + ": nodeadm: failed"})
	gathertest.Same(t, "images", names(s.Images, func(i snapshot.Image) string { return i.ID + " " + i.OwnerAlias }), []string{"ami-0a1e2d3c4b5a69788 amazon"})
	if len(s.LaunchTemplates) == 0 || s.LaunchTemplates[0].Image != "ami-0a1e2d3c4b5a69788" {
		t.Errorf("launch templates %+v, want those of the groups", s.LaunchTemplates)
	}
	gathertest.Same(t, "capacity reservations", s.CapacityReservations, []snapshot.CapacityReservation{{ID: "cr-0a", State: "active", Type: "p5.48xlarge", Zone: "us-west-2a", Total: 4, Free: 1, Block: true,
		Start: time.Date(2026, 11, 20, 11, 30, 0, 0, time.UTC), End: time.Date(2026, 11, 21, 11, 30, 0, 0, time.UTC)}})

	gathertest.Same(t, "placement groups", s.PlacementGroups, []snapshot.PlacementGroup{{ID: "pg-0a", Name: "hpc", Strategy: "partition", State: "available", Partitions: 3}})
	if lt := s.LaunchTemplates[slices.IndexFunc(s.LaunchTemplates, func(t snapshot.LaunchTemplate) bool { return t.ID == "lt-0res" })]; lt.PlacementGroup != "hpc" || lt.Tenancy != "dedicated" {
		t.Errorf("placement of %+v", lt)
	}
	at := func(hour, minute int) time.Time { return time.Date(2026, 11, 20, hour, minute, 0, 0, time.UTC) }
	gathertest.Same(t, "events of Karpenter", s.PoolEvents, []snapshot.PoolEvent{
		{Kind: "NodeClaim", Name: "gpu-9z865", Reason: "InsufficientCapacityError", Message: "none", First: at(14, 50), Last: at(14, 52)},
		{Kind: "Pod", Name: "ml/train-0", Reason: "FailedScheduling", Message: "limits", First: at(14, 55), Last: at(14, 55)},
	})

	gathertest.Same(t, "nodegroups", names(s.Nodegroups, func(n snapshot.Nodegroup) string { return n.Name }), []string{"default", "new_nodegroup_2"})
	gathertest.Same(t, "profiles", names(s.Profiles, func(p snapshot.Profile) string { return p.Name + " " + strings.Join(p.Roles, ",") }), []string{"eks-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f arn:aws:iam::111122223333:role/eksctl-eks-workshop-NodeInstanceRole"})
	gathertest.Same(t, "principals", names(s.Principals, gatheriam.NameOf), []string{"AmazonEKSAutoNodeRole", "eksctl-eks-workshop-NodeInstanceRole", "new_nodegroup_2", "new_nodegroup_2", "people"})
	gathertest.Same(t, "access entries", names(s.AccessEntries, func(e snapshot.AccessEntry) string { return e.Principal + " " + e.Type }), []string{
		"arn:aws:iam::111122223333:role/eksctl-eks-workshop-NodeInstanceRole EC2_LINUX", "arn:aws:iam::111122223333:role/new_nodegroup_2 EC2_LINUX",
		"arn:aws:iam::111122223333:role/other/new_nodegroup_2 EC2"})
	gathertest.Same(t, "pod identities", s.PodIdentities, []snapshot.PodIdentity{{Namespace: "kube-system", ServiceAccount: "aws-node", Role: "arn:aws:iam::111122223333:role/net/cni"}, {Namespace: "kube-system", ServiceAccount: "ebs-csi-controller-sa"}})
	gathertest.Same(t, "add-ons", names(s.Addons, func(a snapshot.Addon) string { return a.Name + " " + a.Status }), []string{"coredns ACTIVE", "kube-proxy ACTIVE", "vpc-cni ACTIVE"})

	gathertest.Same(t, "CNI", s.CNI, &snapshot.CNI{Env: map[string]string{"WARM_ENI_TARGET": "1", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true", "ENABLE_POD_ENI": "true", "MY_NODE_NAME": ""}, Image: "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.20.4", Desired: 3, Ready: 2, Role: "arn:aws:iam::111122223333:role/irsa"})
	gathertest.Same(t, "aws-auth", s.AWSAuth, &snapshot.AWSAuth{MapRoles: "- rolearn: x\n"})
	gathertest.Same(t, "pods", s.Pods, []snapshot.Pod{{Namespace: "kube-system", Name: "aws-node-2", Node: "n2", Phase: "Running", Containers: []snapshot.Container{
		{Name: "aws-vpc-cni-init", Init: true, State: "terminated", Reason: "Completed"},
		{Name: "aws-node", Restarts: 4, State: "waiting", Reason: "CrashLoopBackOff", Message: "back-off", ExitCode: 1, Last: "Error", LastMessage: "no ipamd"},
	}}})
	gathertest.Same(t, "CSRs", s.CSRs, []snapshot.CSR{{Name: "csr-1", Signer: "kubernetes.io/kubelet-serving", Username: "system:node:n2", Created: time.Date(2026, 11, 20, 14, 50, 0, 0, time.UTC)}, {Name: "csr-2", Signer: "kubernetes.io/kubelet-serving", Approved: true}})
	gathertest.Same(t, "events", names(s.NodeEvents, func(e snapshot.NodeEvent) string { return e.Node + " " + e.Reason + " " + e.Last.Format(time.TimeOnly) }), []string{"n2 RegisteredNode 14:55:00", "n2 NodeNotReady 14:56:00"})
	gathertest.Same(t, "nodes", len(s.Nodes), 2)
	gathertest.Same(t, "ENIConfigs", s.ENIConfigs, []snapshot.ENIConfig{{Name: "us-west-2a", Subnet: "subnet-0b20000000000000b", Groups: []string{"sg-0e50000000000000f"}}})
	since := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	class := snapshot.ClassRef{Group: snapshot.KarpenterGroup, Kind: "EC2NodeClass", Name: "gpu"}
	gathertest.Same(t, "NodePools", s.NodePools, []snapshot.NodePool{
		{Name: "general-purpose", Deleting: true, Class: snapshot.ClassRef{Group: snapshot.AutoModeGroup, Kind: "NodeClass", Name: "default"}, Requirements: []snapshot.Requirement{}, Taints: []snapshot.Taint{}},
		{Name: "gpu", Generation: 3, Class: class, Limits: snapshot.Amounts{"cpu": "100", "memory": "400Gi"}, Used: snapshot.Amounts{"cpu": "96", "memory": "384Gi"}, Labels: map[string]string{"team": "ml"},
			Requirements: []snapshot.Requirement{{Key: "karpenter.sh/capacity-type", Operator: "In", Values: []string{"spot"}}}, Taints: []snapshot.Taint{{Key: "gpu", Value: "yes", Effect: "NoSchedule"}},
			Conditions: map[string]snapshot.ObservedCondition{"NodeClassReady": {Condition: snapshot.Condition{Status: "True", Reason: "NodeClassReady", Since: since}, Generation: 3}}},
	})
	gathertest.Same(t, "NodeClaims", s.NodeClaims, []snapshot.NodeClaim{{Name: "gpu-x7k2p", Generation: 1, Pool: "gpu", Class: class, Instance: stranded, Conditions: map[string]snapshot.ObservedCondition{
		"Registered": {Condition: snapshot.Condition{Status: "Unknown", Reason: "NodeNotFound", Message: "Node not registered with cluster", Since: since.Add(50 * time.Minute)}, Generation: 1}}}})
	gathertest.Same(t, "EC2NodeClasses", s.EC2NodeClasses, []snapshot.NodeClass{{Name: "gpu", Generation: 2, Role: "KarpenterNodeRole", Family: "AL2023", UserData: "#!/bin/sh", PublicIP: "false",
		Metadata: snapshot.Metadata{Endpoint: "enabled", HopLimit: 2, Tokens: "required"}, Subnets: []snapshot.SelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "prod"}}},
		Groups: []snapshot.SelectorTerm{{Name: "nodes"}}, Images: []snapshot.SelectorTerm{{Alias: "al2023@latest"}}, Selected: []snapshot.ZonedSubnet{{ID: "subnet-0b20000000000000a", Zone: "us-west-2a"}},
		Conditions: map[string]snapshot.ObservedCondition{"SubnetsReady": {Condition: snapshot.Condition{Status: "False", Reason: "SubnetsNotFound", Message: "SubnetSelector did not match any Subnets"}, Generation: 1}}}})
	gathertest.Same(t, "NodeClasses", s.AutoNodeClasses, []snapshot.NodeClass{{Name: "default", Role: "AmazonEKSAutoNodeRole", Subnets: []snapshot.SelectorTerm{{ID: "subnet-0b20000000000000a"}}, Groups: []snapshot.SelectorTerm{}, Images: []snapshot.SelectorTerm{}},
		{Name: "own", Profile: "eks-own", Subnets: []snapshot.SelectorTerm{}, Groups: []snapshot.SelectorTerm{}, Images: []snapshot.SelectorTerm{},
			Conditions: map[string]snapshot.ObservedCondition{"InstanceProfileReady": {Condition: snapshot.Condition{Status: "False", Reason: "UnauthorizedNodeRole"}}}}})
	auto := "arn:aws:iam::111122223333:role/AmazonEKSAutoNodeRole"
	made := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	gathertest.Same(t, "roles of NodeClasses", s.ClassRoles, []snapshot.ClassRole{{Classes: []string{"own"}, Name: "AmazonEKSAutoNodeRole", ARN: auto, Created: made.Add(24 * time.Hour), Entries: []snapshot.AccessEntry{{
		Principal: auto, Type: "EC2", Username: auto, Groups: nil, Created: made, Modified: made,
		Policies: []snapshot.AccessPolicy{{ARN: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy"}, {ARN: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy", Namespaces: []string{"ml", "shop"}}}}}}})
	gathertest.Same(t, "missing", slices.Sorted(maps.Keys(s.Missing)), []snapshot.Source{snapshot.Roles})
}

// TestRolesOfALook holds what is read of a role, and that one that does not
// exist is kept apart from one that could not be read.
func TestRolesOfALook(t *testing.T) {
	s, _ := whole(t, open(t, crowded))
	const account = "arn:aws:iam::111122223333:"
	edge := snapshot.Policy{Name: "edge", ARN: account + "policy/edge", Document: `{"Statement":[{"Action":"*","Effect":"Allow","Resource":"*"}]}`}
	i := slices.IndexFunc(s.Roles, func(r snapshot.Role) bool { return r.Name == "cni" })
	if i < 0 {
		t.Fatalf("roles %+v lack cni", s.Roles)
	}
	gathertest.Same(t, "role", s.Roles[i], snapshot.Role{
		ARN: account + "role/net/cni", Name: "cni", Path: "/net/", Boundary: &edge, Created: s.Roles[i].Created,
		Trust: `{"Statement":[{"Action":["sts:AssumeRole","sts:TagSession"],"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"}}]}`,
		Policies: []snapshot.Policy{edge, {Name: "own",
			Document: `{"Statement":[{"Action":"ec2:CreateTags","Condition":{"StringEquals":{"aws:RequestTag/a+b":"100% sure"}},"Effect":"Deny","Resource":"*"}]}`}},
	})
	gathertest.Same(t, "roles", names(s.Roles, func(r snapshot.Role) string {
		return r.Name + " " + strings.Join(names(r.Policies, func(p snapshot.Policy) string { return p.Name }), " ")
	}), []string{
		"eksctl-eks-workshop-NodeInstanceRole AmazonEC2ContainerRegistryReadOnly AmazonEKSWorkerNodePolicy AmazonEKS_CNI_Policy AmazonSSMManagedInstanceCore",
		"cni edge own",
		"new_nodegroup_2 AmazonEC2ContainerRegistryReadOnly AmazonEKSWorkerNodePolicy AmazonEKS_CNI_Policy AmazonSSMManagedInstanceCore",
	})
	if f, lacks := s.Lacks(snapshot.Roles, account+"role/irsa"); !lacks || f.Code != "NoSuchEntity" || f.Call != "iam:GetRole" {
		t.Errorf("the role that does not exist: %+v", f)
	}
}

func names[T any](list []T, name func(T) string) []string { return source.Each(list, name) }

// TestNamesAreReadWhereTheyMatter holds that names are looked at for an instance that has
// not joined, and for a subnet in which none stands: what is not read is no pass there.
func TestNamesAreReadWhereTheyMatter(t *testing.T) {
	const joined, its, other = "i-0d0000000000000a1", "subnet-0b20000000000000a", "subnet-0b20000000000000b"
	p := open(t, "kubernetes: {eks-workshop: {joined: ["+joined+", i-0d0000000000000b2]}}\n")
	for _, tt := range []struct {
		name    string
		scope   snapshot.Scope
		planned []snapshot.Instance
		want    int
	}{
		{"all have joined", snapshot.Scope{Instances: []string{joined}, Subnets: []string{its}}, nil, 0},
		{"one has not", snapshot.Scope{Instances: []string{joined, stranded}, Subnets: []string{its}}, nil, 1},
		{"one is planned", snapshot.Scope{Instances: []string{"planned-1"}}, []snapshot.Instance{{ID: "planned-1", VPC: workshopVPC, Subnet: its}}, 1},
		{"none stands in a subnet", snapshot.Scope{Subnets: []string{its}}, nil, 1},
		{"none stands in one subnet of two", snapshot.Scope{Instances: []string{joined}, Subnets: []string{its, other}}, nil, 1},
	} {
		q := broughtBy(t, p)
		q.Scope, q.Instances, q.Sources = tt.scope, append(q.Instances, tt.planned...), []snapshot.Source{snapshot.DNSFirewall, snapshot.ResolverRulesOf, snapshot.Nodes}
		before := [3]int{countOf(p, "ListFirewallRuleGroupAssociations"), countOf(p, "ListResolverRuleAssociations"), countOf(p, "ListProfileAssociations")}
		s, err := p.Read(t.Context(), q)
		if err != nil || len(s.Failures) > 0 {
			t.Fatal(tt.name, err, s.Failures)
		}
		got := [3]int{countOf(p, "ListFirewallRuleGroupAssociations") - before[0], countOf(p, "ListResolverRuleAssociations") - before[1], countOf(p, "ListProfileAssociations") - before[2]}
		gathertest.Same(t, tt.name, got, [3]int{tt.want, tt.want, tt.want})
	}
}
