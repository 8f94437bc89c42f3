package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/cloudwatchlogs"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/reach"
	"rollcall/stage/simaws/route53"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/worldfile"
)

func TestPaths(t *testing.T) {
	closedEndpoint := func(w *World) {
		w.SecurityGroups.Put("sg-closed", &ec2types.SecurityGroup{GroupId: aws.String("sg-closed")})
		w.Endpoints.Put("vpce-1", &ec2types.VpcEndpoint{
			VpcEndpointId: aws.String("vpce-1"), VpcId: aws.String("vpc-0a1b2c3d4e5f60718"), ServiceName: aws.String("com.amazonaws.us-west-2.sts"),
			VpcEndpointType: ec2types.VpcEndpointTypeInterface, State: ec2types.StateAvailable, PrivateDnsEnabled: aws.Bool(true),
			Groups: []ec2types.SecurityGroupIdentifier{{GroupId: aws.String("sg-closed")}},
		})
	}
	cluster := func(w *World) *ekstypes.VpcConfigResponse {
		return w.State.Clusters.Get("eks-workshop").ResourcesVpcConfig
	}
	tests := map[string]struct {
		world  string
		change func(*World)
		want   reach.Path
	}{
		"a closed endpoint wins over NAT": {"healthy-nat", closedEndpoint, reach.Path{Service: "sts", Via: "vpce-1", Fault: reach.EndpointClosed}},
		"an endpoint without private DNS does not": {"healthy-nat", func(w *World) {
			closedEndpoint(w)
			w.Endpoints.Get("vpce-1").PrivateDnsEnabled = aws.Bool(false)
		}, reach.Path{}},
		"an endpoint that is not available": {"healthy-nat", func(w *World) {
			closedEndpoint(w)
			w.Endpoints.Get("vpce-1").State = ec2types.StatePending
		}, reach.Path{Service: "sts", Via: "vpce-1", Fault: reach.EndpointState}},
		"no egress": {"healthy-nat", func(w *World) {
			w.SecurityGroups.Get("sg-0e50000000000000f").IpPermissionsEgress = nil
		}, reach.Path{Service: "api", Via: "eks-workshop", Fault: reach.EgressClosed}},
		"cluster does not admit": {"healthy-nat", func(w *World) {
			w.SecurityGroups.Get("sg-0e50000000000000f").IpPermissions = nil
		}, reach.Path{Service: "api", Via: "eks-workshop", Fault: reach.APIClosed}},
		"private NAT gateway": {"healthy-nat", func(w *World) {
			w.NATGateways.Get(storyNAT).ConnectivityType = ec2types.ConnectivityTypePrivate
		}, reach.Path{Service: "ec2", Via: storyNAT, Fault: reach.NATUnusable}},
		"gateway detached": {"healthy-igw", func(w *World) {
			w.InternetGateways.Get("igw-0d40000000000000e").Attachments = nil
		}, reach.Path{Service: "ec2", Via: "igw-0d40000000000000e", Fault: reach.GatewayDetached}},
		"no access entry": {"healthy-nat", func(w *World) {
			w.AccessEntries.Remove("eks-workshop/arn:aws:iam::111122223333:role/new_nodegroup_2")
		}, reach.Path{Service: "access", Via: "arn:aws:iam::111122223333:role/new_nodegroup_2", Fault: reach.NoAccess}},
		"access entry of the wrong type": {"healthy-nat", func(w *World) {
			w.AccessEntries.Get("eks-workshop/arn:aws:iam::111122223333:role/new_nodegroup_2").Type = aws.String("STANDARD")
		}, reach.Path{Service: "access", Via: "arn:aws:iam::111122223333:role/new_nodegroup_2", Fault: reach.NoAccess}},
		"public endpoint, other addresses only": {"healthy-nat", func(w *World) {
			cluster(w).EndpointPrivateAccess, cluster(w).PublicAccessCidrs = false, []string{"192.0.2.0/24"}
		}, reach.Path{Service: "api", Via: storyNAT, Fault: reach.APIPublicCIDRs}},
		"public endpoint, the NAT's address": {"healthy-nat", func(w *World) {
			cluster(w).EndpointPrivateAccess, cluster(w).PublicAccessCidrs = false, []string{"203.0.113.25/32"}
		}, reach.Path{}},
		"S3 endpoint not in the table": {"healthy-endpoints", func(w *World) {
			w.Endpoints.Get("vpce-0a0000000000000f3").RouteTableIds = nil
		}, reach.Path{Service: "s3", Via: storyTable, Fault: reach.NoRoute}},
		"a longer prefix wins": {"healthy-nat", func(w *World) {
			t := w.RouteTables.Get(storyTable)
			t.Routes = append(t.Routes, ec2types.Route{DestinationCidrBlock: aws.String("52.0.0.0/8"), TransitGatewayId: aws.String("tgw-1"), State: ec2types.RouteStateActive})
		}, reach.Path{Service: "ec2", Via: "tgw-1", Fault: reach.UnknownTarget}},
		"a network ACL that lets out 443 and not the answers in": {"healthy-nat", func(w *World) {
			deny(w, false, reach.LinuxPort)
		}, reach.Path{Service: "api", Via: "eks-workshop", Fault: reach.ACL}},
		"a network ACL that denies another port": {"healthy-nat", func(w *World) { deny(w, true, 80) }, reach.Path{}},
		"names, with Amazon's resolver off": {"healthy-nat", func(w *World) {
			w.VPCAttributes["vpc-0a1b2c3d4e5f60718"] = worldfile.VpcAttributes{EnableDnsSupport: aws.Bool(false)}
		}, reach.Path{Service: "api", Via: "vpc-0a1b2c3d4e5f60718", Fault: reach.NoNames}},
		"names, with a resolver of one's own": {"healthy-nat", func(w *World) {
			w.VPCAttributes["vpc-0a1b2c3d4e5f60718"] = worldfile.VpcAttributes{EnableDnsSupport: aws.Bool(false)}
			w.DhcpOptions.Get("dopt-0f1e2d3c4b5a69788").DhcpConfigurations = []ec2types.DhcpConfiguration{{
				Key: aws.String("domain-name-servers"), Values: []ec2types.AttributeValue{{Value: aws.String("10.42.0.53")}},
			}, {Key: aws.String("domain-name"), Values: []ec2types.AttributeValue{{Value: aws.String("us-west-2.compute.internal")}}}}
		}, reach.Path{}},
		"a name that a Profile's DNS firewall blocks": {"healthy-nat", func(w *World) {
			garden(w, 101)
		}, reach.Path{Service: "sts", Via: storyNAT, Fault: reach.NoNames}},
		"a name that the VPC's own rule group allows before the Profile's": {"healthy-nat", func(w *World) {
			garden(w, 101)
			allowAll(w, 100)
		}, reach.Path{}},
		"a name that the VPC's own rule group allows at the Profile's priority": {"healthy-nat", func(w *World) {
			garden(w, 101)
			allowAll(w, 101)
		}, reach.Path{}},
		"a name that the VPC's own rule group allows after the Profile's": {"healthy-nat", func(w *World) {
			garden(w, 101)
			allowAll(w, 102)
		}, reach.Path{Service: "sts", Via: storyNAT, Fault: reach.NoNames}},
		"a name that a Profile's rule forwards": {"healthy-nat", func(w *World) {
			forwards(w, "sts.us-west-2.amazonaws.com.", "COMPLETE")
		}, reach.Path{Service: "sts", Via: storyNAT, Fault: reach.NoNames}},
		"a Profile's rule that is being deleted": {"healthy-nat", func(w *World) {
			forwards(w, "sts.us-west-2.amazonaws.com.", "DELETING")
		}, reach.Path{}},
		"the VPC's own rule for the domain of a Profile's": {"healthy-nat", func(w *World) {
			forwards(w, "sts.us-west-2.amazonaws.com.", "COMPLETE")
			system(w, "sts.us-west-2.amazonaws.com.")
		}, reach.Path{}},
		"the VPC's own rule for more than a Profile's": {"healthy-nat", func(w *World) {
			forwards(w, "sts.us-west-2.amazonaws.com.", "COMPLETE")
			system(w, "amazonaws.com.")
		}, reach.Path{Service: "sts", Via: storyNAT, Fault: reach.NoNames}},
		"an endpoint's policy": {"healthy-endpoints", func(w *World) {
			w.Endpoints.Get("vpce-0a0000000000000e3").PolicyDocument = aws.String(`{"Statement": [{"Effect": "Allow", "Action": ["ecr:Put*"], "Resource": "*"}]}`)
		}, reach.Path{Service: "ecr.dkr", Via: "vpce-0a0000000000000e3", Fault: reach.Policy}},
		"an IPv6 cluster in a subnet without IPv6": {"healthy-nat", func(w *World) {
			w.State.Clusters.Get("eks-workshop").KubernetesNetworkConfig.IpFamily = ekstypes.IpFamilyIpv6
		}, reach.Path{Service: "api", Via: storySubnet, Fault: reach.NoIPv6}},
		"peering is no way to the internet": {"healthy-nat", func(w *World) {
			r := &w.RouteTables.Get(storyTable).Routes[1]
			r.NatGatewayId, r.VpcPeeringConnectionId = nil, aws.String("pcx-1")
		}, reach.Path{Service: "ec2", Via: storyTable, Fault: reach.NoRoute}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, tt.world)
			tt.change(w)
			w.Advance(w.Start().Add(2 * time.Minute))
			id := members(t, w)[0]
			if got, _ := reach.Broken(w.Paths(id)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			want := ""
			if tt.want == (reach.Path{}) {
				want = "True"
			}
			if got := readiness(t, w, id); got != want {
				t.Errorf("Ready: got %q, want %q", got, want)
			}
		})
	}
}

// profile brings a resource of Route 53 Resolver into the VPC by a Profile.
func profile(w *World, resource, properties, status string) {
	w.State.File.Route53Profiles = worldfile.ProfilesFile{
		ProfileAssociations: []route53.ProfileAssociation{{ProfileId: "rp-1", ResourceId: "vpc-0a1b2c3d4e5f60718", Status: "COMPLETE"}},
		ProfileResourceAssociations: map[string][]route53.ProfileResourceAssociation{"rp-1": {{
			ResourceArn: "arn:aws:route53resolver:us-west-2:444455556666:" + resource, ResourceProperties: properties, Status: status,
		}}},
	}
}

// garden has a Profile bring a DNS firewall that blocks STS.
func garden(w *World, priority int) {
	profile(w, "firewall-rule-group/rslvr-frg-1", fmt.Sprintf(`{"priority":%d}`, priority), "COMPLETE")
	f := &w.State.File.Route53Resolver
	f.FirewallRules = map[string][]route53.FirewallRule{"rslvr-frg-1": {{FirewallDomainListId: "rslvr-fdl-1", Action: "BLOCK"}}}
	f.FirewallDomains = map[string][]string{"rslvr-fdl-1": {"sts.us-west-2.amazonaws.com."}}
}

// allowAll associates a rule group with the VPC that allows every name.
func allowAll(w *World, priority int) {
	f := &w.State.File.Route53Resolver
	f.FirewallRuleGroupAssociations = []route53.FirewallRuleGroupAssociation{{FirewallRuleGroupId: "rslvr-frg-2", VpcId: "vpc-0a1b2c3d4e5f60718", Priority: priority}}
	f.FirewallRules["rslvr-frg-2"] = []route53.FirewallRule{{FirewallDomainListId: "rslvr-fdl-2", Action: "ALLOW"}}
	f.FirewallDomains["rslvr-fdl-2"] = []string{"*."}
}

// forwards has a Profile bring a rule that forwards a domain.
func forwards(w *World, domain, status string) {
	profile(w, "resolver-rule/rslvr-rr-1", "", status)
	f := &w.State.File.Route53Resolver
	f.ResolverRules = append(f.ResolverRules, route53.ResolverRule{Id: "rslvr-rr-1", DomainName: domain, RuleType: "FORWARD"})
}

// system associates a rule with the VPC by which its resolver answers for a domain.
func system(w *World, domain string) {
	f := &w.State.File.Route53Resolver
	f.ResolverRules = append(f.ResolverRules, route53.ResolverRule{Id: "rslvr-rr-2", DomainName: domain, RuleType: "SYSTEM"})
	f.ResolverRuleAssociations = append(f.ResolverRuleAssociations, route53.ResolverRuleAssociation{ResolverRuleId: "rslvr-rr-2", VPCId: "vpc-0a1b2c3d4e5f60718", Status: "COMPLETE"})
}

// deny puts a rule for one port before all others of the default network ACL.
func deny(w *World, egress bool, port int32) {
	acl := w.NetworkACLs.Get("acl-0f60000000000000a")
	acl.Entries = append(acl.Entries, ec2types.NetworkAclEntry{
		RuleNumber: aws.Int32(1), Egress: aws.Bool(egress), Protocol: aws.String("6"), RuleAction: ec2types.RuleActionDeny,
		CidrBlock: aws.String("0.0.0.0/0"), PortRange: &ec2types.PortRange{From: aws.Int32(port), To: aws.Int32(port)},
	})
}

// TestFarPaths follows the corpus' worlds in which the way leads through other
// VPCs and instances.
func TestFarPaths(t *testing.T) {
	const node, edge = "i-0a700000000000001", "i-0b900000000000001"
	tests := map[string]struct {
		instance string
		want     reach.Path
	}{
		"base-transit":                       {node, reach.Path{}},
		"route-no-egress-transit":            {node, reach.Path{Service: "ec2", Via: "tgw-rtb-0a500000000000001", Fault: reach.NoRoute}},
		"route-no-egress-transit-back":       {node, reach.Path{Service: "ec2", Via: "nat-0e900000000000001", Fault: reach.NoRoute}},
		"route-nat-unusable-transit":         {node, reach.Path{Service: "ec2", Via: "nat-0e900000000000001", Fault: reach.NATUnusable}},
		"base-nat-instance":                  {node, reach.Path{}},
		"route-nat-instance-source-check":    {node, reach.Path{Service: "ec2", Via: "eni-0b800000000000001", Fault: reach.NATInstance}},
		"base-other-vpc":                     {edge, reach.Path{}},
		"route-api-private-unreachable":      {edge, reach.Path{Service: "api", Via: "eks-workshop", Fault: reach.NoRoute}},
		"route-api-private-unreachable-back": {edge, reach.Path{Service: "api", Via: "eks-workshop", Fault: reach.NoRoute}},
		"base-ipv6":                          {node, reach.Path{}},
		"nacl-return-nat-closed":             {node, reach.Path{Service: "ec2", Via: storyNAT, Fault: reach.ACL}},
		"endpoint-policy-denies-s3":          {node, reach.Path{Service: "s3", Via: "vpce-0a0000000000000f3", Fault: reach.Policy}},
		"endpoint-policy-denies-s3-healthy":  {node, reach.Path{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, "corpus/"+name)
			if len(w.Paths(tt.instance)) == 0 {
				t.Fatal("no paths")
			}
			if got, _ := reach.Broken(w.Paths(tt.instance)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestRetryJoinsAfterTheFix(t *testing.T) {
	w, _ := open(t, "route")
	w.File.Nodes.Retry = true
	scale(t, w, 1)
	w.Advance(w.Start().Add(3 * time.Minute))
	id := members(t, w)[0]
	if got := readiness(t, w, id); got != "" {
		t.Fatalf("Ready before the fix: %q", got)
	}
	if _, err := w.Call("ec2:CreateRoute", []byte(`{"routeTableId": "`+storyTable+`", "destinationCidrBlock": "0.0.0.0/0", "natGatewayId": "`+storyNAT+`"}`)); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Now().Add(2 * time.Minute))
	if got := readiness(t, w, id); got != "True" {
		t.Errorf("Ready after the fix: got %q, want True", got)
	}
}

const redisVolume = "vol-0c50000000000c0de"

// pods are the pods of a namespace as "name: phase" with the node's zone, or
// with why it is not scheduled.
func podsIn(t *testing.T, w *World, namespace string) map[string]string {
	t.Helper()
	list, err := w.Kubernetes("eks-workshop", "pods")
	if err != nil {
		t.Fatal(err)
	}
	zones := map[string]string{}
	nodes, err := w.Kubernetes("eks-workshop", "nodes")
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range nodes.Items {
		var n map[string]any
		if err := json.Unmarshal(raw, &n); err != nil {
			t.Fatal(err)
		}
		zones[fmt.Sprint(kubestate.At(n, "metadata", "name"))] = fmt.Sprint(kubestate.At(n, "metadata", "labels", "topology.kubernetes.io/zone"))
	}
	out := map[string]string{}
	for _, raw := range list.Items {
		var p map[string]any
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatal(err)
		}
		if kubestate.At(p, "metadata", "namespace") != namespace {
			continue
		}
		where := zones[fmt.Sprint(kubestate.At(p, "spec", "nodeName"))]
		conditions, _ := kubestate.At(p, "status", "conditions").([]any)
		for _, c := range conditions {
			if kubestate.At(c, "type") == "PodScheduled" && kubestate.At(c, "status") == "False" {
				where = fmt.Sprintf("%v: %v", kubestate.At(c, "reason"), kubestate.At(c, "message"))
			}
		}
		out[fmt.Sprint(kubestate.At(p, "metadata", "name"))] = fmt.Sprintf("%v %s", kubestate.At(p, "status", "phase"), where)
	}
	return out
}

// replaceNodegroup does what the story does.
func replaceNodegroup(t *testing.T, w *World) {
	t.Helper()
	do(t, w, "eks:CreateNodegroup", `{"clusterName":"eks-workshop","nodegroupName":"workers","nodeRole":"arn:aws:iam::111122223333:role/eksctl-eks-workshop-NodeInstanceRole",
		"subnets":["subnet-0b20000000000000a","subnet-0b20000000000000b","subnet-0b20000000000000c"],"instanceTypes":["m5.large"],"scalingConfig":{"minSize":2,"maxSize":4,"desiredSize":2}}`)
	w.Advance(w.Now().Add(3 * time.Minute))
	do(t, w, "eks:DeleteNodegroup", `{"clusterName":"eks-workshop","nodegroupName":"default"}`)
	w.Advance(w.Now().Add(4 * time.Minute))
}

func do(t *testing.T, w *World, call, input string) {
	t.Helper()
	if _, err := w.Call(call, json.RawMessage(input)); err != nil {
		t.Fatal(err)
	}
}

func TestZoneStory(t *testing.T) {
	w, _ := open(t, "zone")
	before := podsIn(t, w, "redash")
	if before["redis-0"] != "Running us-west-2c" || before["postgres-0"] != "Running us-west-2a" || len(before) != 7 {
		t.Fatalf("at the start: %v", before)
	}
	if v := volumeNow(t, w); v.State != ec2types.VolumeStateInUse || aws.ToString(v.Attachments[0].InstanceId) != "i-0d0000000000000c3" {
		t.Errorf("at the start: %+v", v)
	}
	replaceNodegroup(t, w)
	after := podsIn(t, w, "redash")
	const conflict = "Pending Unschedulable: 0/2 nodes are available: 2 node(s) had volume node affinity conflict. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
	if after["redis-0"] != conflict {
		t.Errorf("redis-0: got %q, want %q", after["redis-0"], conflict)
	}
	for name, is := range after {
		if name != "redis-0" && !strings.HasPrefix(is, "Running us-west-2") {
			t.Errorf("%s: %s", name, is)
		}
	}
	if v := volumeNow(t, w); v.State != ec2types.VolumeStateAvailable || len(v.Attachments) != 0 {
		t.Errorf("the volume of a pod that waits: %+v", v)
	}
	if n := reasons(t, w, "FailedScheduling", "redis-0"); n == 0 {
		t.Error("no event FailedScheduling")
	}
	// A third node goes to the zone that has none.
	do(t, w, "eks:UpdateNodegroupConfig", `{"clusterName":"eks-workshop","nodegroupName":"workers","scalingConfig":{"desiredSize":3}}`)
	w.Advance(w.Now().Add(2 * time.Minute))
	if got := podsIn(t, w, "redash")["redis-0"]; got != "Running us-west-2c" {
		t.Errorf("after the third node: %s", got)
	}
	if v := volumeNow(t, w); v.State != ec2types.VolumeStateInUse {
		t.Errorf("after the third node: %+v", v)
	}
}

func volumeNow(t *testing.T, w *World) ec2types.Volume {
	t.Helper()
	out, err := w.EC2().DescribeVolumes(&ec2.DescribeVolumesInput{VolumeIds: []string{redisVolume}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Volumes[0]
}

// reasons counts the events about a pod.
func reasons(t *testing.T, w *World, reason, pod string) int {
	t.Helper()
	list, err := w.Kubernetes("eks-workshop", "events")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, raw := range list.Items {
		var e map[string]any
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		if e["reason"] == reason && kubestate.At(e, "involvedObject", "name") == pod {
			n++
		}
	}
	return n
}

func TestWhyPodsWait(t *testing.T) {
	set := func(f *worldfile.File, change func(*worldfile.SetFile)) {
		k := f.Kubernetes["eks-workshop"]
		k.Sets = k.Sets[:1]
		change(&k.Sets[0])
		f.Kubernetes["eks-workshop"] = k
	}
	const tail = " no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
	tests := map[string]struct {
		change func(*worldfile.File)
		want   string
	}{
		"another architecture": {func(f *worldfile.File) {
			set(f, func(s *worldfile.SetFile) { s.NodeSelector = map[string]string{"kubernetes.io/arch": "arm64"} })
		}, "Pending Unschedulable: 0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector." + tail},
		"a taint on all nodes": {func(f *worldfile.File) {
			set(f, func(*worldfile.SetFile) {})
			f.EKS.Nodegroups[0].Taints = []ekstypes.Taint{{Key: aws.String("dedicated"), Value: aws.String("db"), Effect: ekstypes.TaintEffectNoSchedule}}
		}, "Pending Unschedulable: 0/2 nodes are available: 2 node(s) had untolerated taint {dedicated: db}." + tail},
		"a taint that is tolerated": {func(f *worldfile.File) {
			set(f, func(s *worldfile.SetFile) {
				s.Tolerations = []worldfile.Toleration{{Key: "dedicated", Operator: "Exists"}}
			})
			f.EKS.Nodegroups[0].Taints = []ekstypes.Taint{{Key: aws.String("dedicated"), Value: aws.String("db"), Effect: ekstypes.TaintEffectNoSchedule}}
		}, "Running us-west-2c"},
		"a claim that is not there": {func(f *worldfile.File) { set(f, func(s *worldfile.SetFile) { s.Claim = "other" }) },
			`Pending Unschedulable: 0/2 nodes are available: persistentvolumeclaim "other" not found.` + tail},
		"another zone, and one node that has no room": {func(f *worldfile.File) {
			set(f, func(*worldfile.SetFile) {})
			f.EC2.Volumes[0].AvailabilityZone = aws.String("us-west-2b")
		}, "Pending Unschedulable: 0/2 nodes are available: 2 node(s) had volume node affinity conflict." + tail},
		"a newer scheduler": {func(f *worldfile.File) {
			set(f, func(*worldfile.SetFile) {})
			f.EC2.Volumes[0].AvailabilityZone = aws.String("us-west-2b")
			f.EKS.Clusters[0].Version = aws.String("1.35")
		}, "Pending Unschedulable: 0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity." + tail},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := openWith(t, "zone", tt.change)
			if got := podsIn(t, w, "redash")["redis-0"]; got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestLogs: a world's log groups have what there is by now, page for page.
func TestLogs(t *testing.T) {
	start := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	file := &worldfile.File{Account: "111122223333", Region: "us-west-2", Time: start, Logs: worldfile.LogsFile{
		DeliverySources: []cloudwatchlogs.DeliverySource{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		LogGroups: map[string][]worldfile.LogEvent{"g": {
			{At: start.Add(-time.Minute), Message: "x second"}, {At: start.Add(-2 * time.Minute), Message: "x first"}, {At: start, Message: "y"}, {At: start.Add(time.Minute), Message: "x later"},
		}},
	}}
	w, err := New(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := w.API()
	var names []string
	var token *string
	for range 3 {
		out, err := a.DescribeDeliverySources(&cloudwatchlogs.ListInput{Limit: aws.Int32(2), NextToken: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range out.DeliverySources {
			names = append(names, s.Name)
		}
		if token = out.NextToken; token == nil {
			break
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	found := func(in cloudwatchlogs.FilterLogEventsInput) (texts []string) {
		in.LogGroupName = aws.String("g")
		out, err := a.FilterLogEvents(&in)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range out.Events {
			texts = append(texts, e.Message)
		}
		return texts
	}
	for name, tt := range map[string]struct {
		in   cloudwatchlogs.FilterLogEventsInput
		want []string
	}{
		"all by now": {cloudwatchlogs.FilterLogEventsInput{}, []string{"x first", "x second", "y"}},
		"filtered":   {cloudwatchlogs.FilterLogEventsInput{FilterPattern: aws.String("?x")}, []string{"x first", "x second"}},
		"since":      {cloudwatchlogs.FilterLogEventsInput{StartTime: aws.Int64(start.Add(-time.Minute).UnixMilli())}, []string{"x second", "y"}},
		"until":      {cloudwatchlogs.FilterLogEventsInput{EndTime: aws.Int64(start.Add(-time.Minute).UnixMilli())}, []string{"x first", "x second"}},
		"one":        {cloudwatchlogs.FilterLogEventsInput{Limit: aws.Int32(1)}, []string{"x first"}},
	} {
		if diff := cmp.Diff(tt.want, found(tt.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, tt := range map[string]struct {
		in   cloudwatchlogs.FilterLogEventsInput
		code string
	}{
		"no group":       {cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("none")}, "ResourceNotFoundException"},
		"two names":      {cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("g"), LogGroupIdentifier: aws.String("g")}, "InvalidParameterException"},
		"a page of none": {cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("g"), Limit: aws.Int32(0)}, "ValidationException"},
		"a false token":  {cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("g"), NextToken: aws.String("x")}, "ValidationException"},
	} {
		var refused *wire.Error
		if _, err := a.FilterLogEvents(&tt.in); !errors.As(err, &refused) || refused.Code != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
	}
}

const autoInstance = "i-0a070000000000001"

// describe makes one of the calls that have IncludeManagedResources, and gives
// who manages what it shows, by id.
type describe func(t *testing.T, w *World, include *bool) map[string]string

func managedCalls() map[string]describe {
	return map[string]describe{
		"DescribeInstances": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeInstances(&ec2.DescribeInstancesInput{IncludeManagedResources: include})
			list := map[string]string{}
			for _, r := range must(t, out, err).Reservations {
				for _, v := range r.Instances {
					list[*v.InstanceId] = shownAs(v.Operator)
				}
			}
			return list
		},
		"DescribeInstanceStatus": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeInstanceStatus(&ec2.DescribeInstanceStatusInput{IncludeManagedResources: include})
			list := map[string]string{}
			for _, v := range must(t, out, err).InstanceStatuses {
				list[*v.InstanceId] = shownAs(v.Operator)
			}
			return list
		},
		"DescribeNetworkInterfaces": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{IncludeManagedResources: include})
			list := map[string]string{}
			for _, v := range must(t, out, err).NetworkInterfaces {
				list[*v.NetworkInterfaceId] = shownAs(v.Operator)
			}
			return list
		},
		"DescribeVolumes": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeVolumes(&ec2.DescribeVolumesInput{IncludeManagedResources: include})
			list := map[string]string{}
			for _, v := range must(t, out, err).Volumes {
				list[*v.VolumeId] = shownAs(v.Operator)
			}
			return list
		},
		"DescribeVolumeStatus": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeVolumeStatus(&ec2.DescribeVolumeStatusInput{IncludeManagedResources: include})
			list := map[string]string{}
			for _, v := range must(t, out, err).VolumeStatuses {
				list[*v.VolumeId] = shownAs(v.Operator)
			}
			return list
		},
		"DescribeLaunchTemplates": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeLaunchTemplates(&ec2.DescribeLaunchTemplatesInput{IncludeManagedResources: include})
			list := map[string]string{}
			for _, v := range must(t, out, err).LaunchTemplates {
				list[*v.LaunchTemplateId] = shownAs(v.Operator)
			}
			return list
		},
		"DescribeLaunchTemplateVersions": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeLaunchTemplateVersions(&ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{"$Latest"}, IncludeManagedResources: include})
			list := map[string]string{}
			for _, v := range must(t, out, err).LaunchTemplateVersions {
				list[*v.LaunchTemplateId] = shownAs(v.Operator)
			}
			return list
		},
	}
}

func must[T any](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// shownAs is who manages something, and whether lists hide it; empty for the
// account's own.
func shownAs(o *ec2types.OperatorResponse) string {
	switch {
	case !state.IsManaged(o):
		return ""
	case aws.ToBool(o.HiddenByDefault):
		return aws.ToString(o.Principal) + ", hidden"
	}
	return aws.ToString(o.Principal) + ", visible"
}

func countManaged(list map[string]string) (managed, own int) {
	for _, by := range list {
		if by != "" {
			managed++
		} else {
			own++
		}
	}
	return managed, own
}

// TestEveryCallWithTheParameterIsHere holds that the calls tested below are all
// of this world's that have the parameter.
func TestEveryCallWithTheParameterIsHere(t *testing.T) {
	var have, tested []string
	api := reflect.TypeOf((&World{}).EC2())
	for i := range api.NumMethod() {
		m := api.Method(i)
		if _, ok := m.Type.In(1).Elem().FieldByName("IncludeManagedResources"); ok {
			have = append(have, m.Name)
		}
	}
	for name := range managedCalls() {
		tested = append(tested, name)
	}
	slices.Sort(tested)
	if diff := cmp.Diff(have, tested); diff != "" || len(have) != 7 {
		t.Errorf("calls with IncludeManagedResources, 7 in EC2's model (-have +tested):\n%s", diff)
	}
}

func TestListsHideWhatServicesManage(t *testing.T) {
	hidden, visible := ec2types.ManagedResourceDefaultVisibilityHidden, ec2types.ManagedResourceDefaultVisibilityVisible
	for _, test := range []struct {
		name    string
		setting ec2types.ManagedResourceDefaultVisibility // empty: the world says none
		include *bool
		shown   bool
	}{
		{"nothing is set", "", nil, false},
		{"hidden", hidden, nil, false},
		{"hidden, and not asked for", hidden, aws.Bool(false), false},
		{"hidden, and asked for", hidden, aws.Bool(true), true},
		{"visible", visible, nil, true},
		{"visible, and asked for", visible, aws.Bool(true), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, _ := openWith(t, "corpus/base-auto-mode", func(f *worldfile.File) {
				if test.setting != "" {
					f.EC2.ManagedResourceVisibility = &ec2types.ManagedResourceVisibilitySettings{DefaultVisibility: test.setting}
				}
				f.EC2.Volumes = append(f.EC2.Volumes, ec2types.Volume{VolumeId: aws.String("vol-0own"), AvailabilityZone: aws.String("us-west-2a")})
			})
			for name, call := range managedCalls() {
				list := call(t, w, test.include)
				managed, own := countManaged(list)
				if own == 0 || (managed > 0) != test.shown {
					t.Errorf("%s shows %d managed and %d of the account's own: %v", name, managed, own, list)
				}
				for id, by := range list {
					if by != "" && by != state.AutoModePrincipal+", "+map[bool]string{true: "visible", false: "hidden"}[test.setting == visible] {
						t.Errorf("%s: %s is managed by %q", name, id, by)
					}
				}
			}
		})
	}
}

// TestTheSettingCanBeChanged: at once, and for everybody.
func TestTheSettingCanBeChanged(t *testing.T) {
	w, _ := open(t, "corpus/base-auto-mode")
	setting := func() ec2types.ManagedResourceDefaultVisibility {
		out, err := w.EC2().GetManagedResourceVisibility(&ec2.GetManagedResourceVisibilityInput{})
		return must(t, out, err).Visibility.DefaultVisibility
	}
	if got := setting(); got != "hidden" {
		t.Errorf("an account begins with %q, want hidden", got)
	}
	if _, err := w.EC2().ModifyManagedResourceVisibility(&ec2.ModifyManagedResourceVisibilityInput{DefaultVisibility: "some"}); code(t, err) != "InvalidParameterValue" {
		t.Errorf("a setting that there is not: %v", err)
	}
	out, err := w.EC2().ModifyManagedResourceVisibility(&ec2.ModifyManagedResourceVisibilityInput{DefaultVisibility: "visible"})
	if got := must(t, out, err).Visibility.DefaultVisibility; got != "visible" || setting() != "visible" {
		t.Errorf("changed to %q, told as %q", got, setting())
	}
	if managed, _ := countManaged(managedCalls()["DescribeInstances"](t, w, nil)); managed != 1 {
		t.Errorf("%d managed instances are shown, want 1", managed)
	}
}

// TestAFilterByIDIsAList: an instance that is asked for by its id is shown, one
// that a filter names by its id is not.
func TestAFilterByIDIsAList(t *testing.T) {
	w, _ := open(t, "corpus/base-auto-mode")
	count := func(in *ec2.DescribeInstancesInput) int {
		out, err := w.EC2().DescribeInstances(in)
		return len(must(t, out, err).Reservations)
	}
	byFilter := []ec2types.Filter{{Name: aws.String("instance-id"), Values: []string{autoInstance}}}
	got := []int{
		count(&ec2.DescribeInstancesInput{InstanceIds: []string{autoInstance}}), count(&ec2.DescribeInstancesInput{Filters: byFilter}),
		count(&ec2.DescribeInstancesInput{Filters: byFilter, IncludeManagedResources: aws.Bool(true)}),
	}
	if diff := cmp.Diff([]int{1, 0, 1}, got); diff != "" {
		t.Errorf("by id, by filter, by filter with the parameter (-want +got):\n%s", diff)
	}
}

// TestNodeClassesAreRefusedByTheRules: the worlds write the conditions of Auto Mode's
// NodeClasses, as its controller runs in no world. They say that a role is refused where the
// access entries refuse it, and nowhere else. Whether EKS still looks without the role's path
// is not known: such a role may be admitted.
func TestNodeClassesAreRefusedByTheRules(t *testing.T) {
	files, err := filepath.Glob("../../worlds/corpus/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, file := range files {
		if text, err := os.ReadFile(file); err != nil || !bytes.Contains(text, []byte("InstanceProfileReady")) || !bytes.Contains(text, []byte("NodeClasses:")) {
			continue
		}
		f, err := worldfile.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		w, err := New(f, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for cluster, k := range w.State.Kubernetes {
			for _, o := range k.Objects["nodeclasses"] {
				role, reason := roleAndReason(w, o)
				r := w.Roles.Get(role)
				admits := w.AdmitsAutoRole(cluster, role)
				switch {
				case reason == "UnauthorizedNodeRole" && admits:
					t.Errorf("%s: %s is refused, and has all that it needs", filepath.Base(file), role)
				case reason == "InstanceProfileReady" && !admits && (r == nil || strings.HasSuffix(aws.ToString(r.Arn), ":role/"+role)):
					t.Errorf("%s: %s is admitted, and lacks what it needs", filepath.Base(file), role)
				case reason == "UnauthorizedNodeRole":
					refused++
				}
			}
		}
	}
	if refused < 7 {
		t.Errorf("%d NodeClasses are refused, want one for each way", refused)
	}
}

func roleAndReason(w *World, o map[string]any) (role, reason string) {
	spec, _ := o["spec"].(map[string]any)
	role, _ = spec["role"].(string)
	if profile, _ := spec["instanceProfile"].(string); profile != "" {
		if p := w.Profiles.Get(profile); p != nil && len(p.Roles) > 0 {
			role = aws.ToString(p.Roles[0].RoleName)
		}
	}
	status, _ := o["status"].(map[string]any)
	list, _ := status["conditions"].([]any)
	for _, c := range list {
		if c, _ := c.(map[string]any); c["type"] == "InstanceProfileReady" {
			reason, _ = c["reason"].(string)
		}
	}
	return role, reason
}

// many is a world with so many interfaces left behind in large subnets.
func many(tb testing.TB, n int) *World {
	tb.Helper()
	f := &worldfile.File{Name: "many", Time: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)}
	f.EC2.Vpcs = []ec2types.Vpc{{VpcId: aws.String("vpc-1"), CidrBlock: aws.String("10.0.0.0/8")}}
	for i := range n/60_000 + 1 {
		f.EC2.Subnets = append(f.EC2.Subnets, ec2types.Subnet{SubnetId: aws.String(fmt.Sprintf("subnet-%d", i)), VpcId: aws.String("vpc-1"),
			AvailabilityZone: aws.String("us-west-2a"), CidrBlock: aws.String(fmt.Sprintf("10.%d.0.0/16", i))})
	}
	for i := range n {
		f.EC2.NetworkInterfaces = append(f.EC2.NetworkInterfaces, ec2types.NetworkInterface{
			NetworkInterfaceId: aws.String(fmt.Sprintf("eni-%017x", i)), SubnetId: aws.String(fmt.Sprintf("subnet-%d", i/60_000)),
			Description: aws.String(fmt.Sprintf("aws-K8S-i-%017x", i)),
		})
	}
	w, err := New(f, Options{Seed: 1})
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// pages goes over all interfaces and calls each after every page.
func pages(tb testing.TB, w *World, each func(page []ec2types.NetworkInterface)) (n int) {
	tb.Helper()
	in := &ec2.DescribeNetworkInterfacesInput{MaxResults: aws.Int32(1000), Filters: []ec2types.Filter{
		{Name: aws.String("vpc-id"), Values: []string{"vpc-1"}}, {Name: aws.String("status"), Values: []string{"available"}},
	}}
	for {
		out, err := w.EC2().DescribeNetworkInterfaces(in)
		if err != nil {
			tb.Fatal(err)
		}
		n += len(out.NetworkInterfaces)
		each(out.NetworkInterfaces)
		if out.NextToken == nil {
			return n
		}
		in.NextToken = out.NextToken
	}
}

// Pages stay whole while resources go: also when the one that the next page
// would begin with is gone.
func TestPagesWhileInterfacesGo(t *testing.T) {
	w := many(t, 5000)
	deleted := 0
	n := pages(t, w, func(page []ec2types.NetworkInterface) {
		last := w.Interfaces.Number(*page[len(page)-1].NetworkInterfaceId)
		for _, eni := range w.Interfaces.All() {
			if number := w.Interfaces.Number(*eni.NetworkInterfaceId); number <= last+3 && number > last-500 {
				w.DropInterface(eni)
				deleted++
			}
		}
	})
	if n != 5000-4*3 || deleted < 2000 {
		t.Errorf("%d interfaces were listed while %d went, want all but the twelve that went before their page", n, deleted)
	}
}

func TestPageOfIDs(t *testing.T) {
	w := many(t, 10)
	id := func(i int) string { return fmt.Sprintf("eni-%017x", i) }
	out, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id(7), id(2), id(7)}})
	if err != nil || len(out.NetworkInterfaces) != 2 || *out.NetworkInterfaces[0].NetworkInterfaceId != id(2) {
		t.Errorf("got %d interfaces (%v), want the second and the seventh, in order", len(out.NetworkInterfaces), err)
	}
	if _, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NextToken: aws.String("bmV4dDp4")}); err == nil {
		t.Error("a token that is no number was taken")
	}
}

// The time of going over all interfaces in pages grows with their number, not
// with its square.
func BenchmarkPages(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := many(b, n)
			for b.Loop() {
				if got := pages(b, w, func([]ec2types.NetworkInterface) {}); got != n {
					b.Fatalf("%d interfaces, want %d", got, n)
				}
			}
		})
	}
}

// TestSettingsRefuseLaunches holds what EC2 says of a launch that a setting of the account,
// the image or the VPC refuses, and that it starts without the setting.
func TestSettingsRefuseLaunches(t *testing.T) {
	const generic = "The requested configuration is currently not supported."
	image := func(w *World) *ec2types.Image {
		for _, v := range w.TemplateVersions.All() {
			if i := w.Images.Get(aws.ToString(v.LaunchTemplateData.ImageId)); i != nil {
				return i
			}
		}
		t.Fatal("the world's templates name no image that it has")
		return nil
	}
	enforced := &ec2types.InstanceMetadataDefaultsResponse{HttpTokensEnforced: ec2types.HttpTokensEnforcedStateEnabled}
	hidden := func(state string) func(*World) {
		return func(w *World) {
			w.File.EC2.AllowedImagesSettings = &worldfile.AllowedImagesSettings{State: state}
			image(w).ImageAllowed = aws.Bool(false)
		}
	}
	encrypts := func(mode ec2types.VpcEncryptionControlMode) func(*World) {
		return func(w *World) {
			for _, v := range w.Vpcs.All() {
				v.EncryptionControl = &ec2types.VpcEncryptionControl{Mode: mode, State: ec2types.VpcEncryptionControlStateAvailable}
			}
		}
	}
	for name, tt := range map[string]struct {
		set  func(*World)
		want string // in the activity's message; empty for a launch that succeeds
	}{
		"Allowed AMIs":               {hidden("enabled"), "does not exist"},
		"Allowed AMIs in audit mode": {hidden("audit-mode"), ""},
		"IMDSv2 enforced": {func(w *World) {
			w.File.EC2.InstanceMetadataDefaults, image(w).ImdsSupport = enforced, ""
			for _, v := range w.TemplateVersions.All() {
				v.LaunchTemplateData.MetadataOptions = nil
			}
		}, "You can't launch instances with IMDSv1 because httpTokensEnforced is enabled for this account."},
		"IMDSv2 enforced, the image requires tokens": {func(w *World) {
			w.File.EC2.InstanceMetadataDefaults, image(w).ImdsSupport = enforced, ec2types.ImdsSupportValuesV20
		}, ""},
		"the image's rules": {func(w *World) {
			image(w).InstanceTypeSpecification = &ec2types.InstanceTypeSpecification{UnsupportedInstanceTypes: []ec2types.InstanceTypeItem{{InstanceType: aws.String("*.*")}}}
		}, generic},
		"encryption enforced":  {encrypts(ec2types.VpcEncryptionControlModeEnforce), generic},
		"encryption monitored": {encrypts(ec2types.VpcEncryptionControlModeMonitor), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, "ips")
			tt.set(w)
			scaleGroups(t, w, 1, "web")
			w.Advance(w.Now().Add(5 * time.Minute))
			var messages []string
			for _, g := range w.Groups.All() {
				for _, a := range g.Activities {
					messages = append(messages, aws.ToString(a.StatusMessage))
				}
			}
			if all := strings.Join(messages, "\n"); tt.want != "" && !strings.Contains(all, tt.want) || tt.want == "" && len(membersOf(t, w, "web")) == 0 {
				t.Errorf("activities say %q, want %q", all, tt.want)
			}
			listed, err := w.EC2().DescribeImages(&ec2.DescribeImagesInput{ImageIds: []string{*image(w).ImageId}})
			if gone := err != nil || len(listed.Images) == 0; gone != (name == "Allowed AMIs") {
				t.Errorf("the image is gone from EC2's list: %v (%v)", gone, err)
			}
		})
	}
}

// TestTrunks: where aws-node asks for them a node has a trunk interface beside those
// of the CNI and carries what its type does; the world's own trunk stays.
func TestTrunks(t *testing.T) {
	w, _ := open(t, "corpus/ip-branch-interfaces")
	for id, want := range map[string][]string{
		"i-0a700000000000001": {"interface", "interface", "trunk"},
		"i-0d0000000000000a1": {"interface", "interface", "trunk"},
	} {
		var kinds []string
		for _, e := range w.InterfacesOf(id) {
			kinds = append(kinds, string(e.InterfaceType))
		}
		if diff := cmp.Diff(kinds, want); diff != "" {
			t.Errorf("%s: interfaces (-got +want):\n%s", id, diff)
		}
		_, n := w.NodeOf(id)
		if got := kubestate.At(*n, "status", "capacity", "vpc.amazonaws.com/pod-eni"); got != "9" {
			t.Errorf("%s carries %v branch interfaces, an m5.large 9", id, got)
		}
		if got := kubestate.At(*n, "metadata", "labels", "vpc.amazonaws.com/has-trunk-attached"); got != "true" {
			t.Errorf("%s: trunk label %v", id, got)
		}
	}
	if got := aws.ToString(w.InterfacesOf("i-0a700000000000001")[2].NetworkInterfaceId); got != "eni-0a7000000000000f0" {
		t.Errorf("its trunk is %s, not the world's", got)
	}
	w, _ = open(t, "corpus/base")
	_, n := w.NodeOf("i-0d0000000000000a1")
	if got := kubestate.At(*n, "status", "capacity", "vpc.amazonaws.com/pod-eni"); got != nil || len(w.InterfacesOf("i-0d0000000000000a1")) != 2 {
		t.Errorf("no pod needs trunks, and a node carries %v", got)
	}
}

// TestTypeOfferings holds that a zone offers what the world does not take away, that
// a region offers what any of its zones does, and that a launch where the type is not
// offered is refused as EC2 refuses it.
func TestTypeOfferings(t *testing.T) {
	w, _ := open(t, "route")
	w.State.File.EC2.NotOffered = map[string][]string{"us-west-2c": {"m5.large"}}
	list := func(by ec2types.LocationType) string {
		out, err := w.EC2().DescribeInstanceTypeOfferings(&ec2.DescribeInstanceTypeOfferingsInput{
			LocationType: by, Filters: []ec2types.Filter{{Name: aws.String("instance-type"), Values: []string{"m5.large"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var zones []string
		for _, o := range out.InstanceTypeOfferings {
			zones = append(zones, *o.Location)
		}
		return strings.Join(zones, " ")
	}
	for by, want := range map[ec2types.LocationType]string{
		"": "us-west-2", ec2types.LocationTypeAvailabilityZone: "us-west-2a us-west-2b", ec2types.LocationTypeAvailabilityZoneId: "usw2-az1 usw2-az2",
	} {
		if got := list(by); got != want {
			t.Errorf("by %q: got %s, want %s", by, got, want)
		}
	}
	_, err := lifecycle.Launch(w.State, lifecycle.InstanceSpec{Subnet: "subnet-0b20000000000000c", InstanceType: "m5.large"})
	if code(t, err) != "Unsupported" || !strings.Contains(err.Error(), "choosing us-west-2a, us-west-2b.") {
		t.Errorf("a launch there: %v", err)
	}
}

func TestWarmPool(t *testing.T) {
	w, events := open(t, "healthy-nat")
	if _, err := w.AutoScaling().PutWarmPool(&autoscaling.PutWarmPoolInput{AutoScalingGroupName: aws.String(defaultGroupName), MaxGroupPreparedCapacity: aws.Int32(4)}); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(time.Minute))
	pool, err := w.AutoScaling().DescribeWarmPool(&autoscaling.DescribeWarmPoolInput{AutoScalingGroupName: aws.String(defaultGroupName)})
	if err != nil {
		t.Fatal(err)
	}
	if len(pool.Instances) != 1 || pool.Instances[0].LifecycleState != "Warmed:Stopped" {
		t.Fatalf("pool: got %v", pool.Instances)
	}
	id := *pool.Instances[0].InstanceId
	if got := w.Instances.Get(id).State.Name; got != "stopped" {
		t.Errorf("warm instance: got %s, want stopped", got)
	}
	w.Advance(w.Start().Add(10 * time.Minute))
	if got := readiness(t, w, id); got != "" {
		t.Errorf("warm instance joined: %q", got)
	}
	if got := eventDetails(t, *events, "EC2 Instance Launch Successful"); got[0]["Destination"] != "WarmPool" {
		t.Errorf("destination: got %v, want WarmPool", got[0]["Destination"])
	}
	if _, err := w.AutoScaling().SetDesiredCapacity(&autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: aws.String(defaultGroupName), DesiredCapacity: aws.Int32(4)}); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Now().Add(2 * time.Minute))
	if got := readiness(t, w, id); got != "True" {
		t.Errorf("instance out of the warm pool: Ready is %q, want True", got)
	}
}
