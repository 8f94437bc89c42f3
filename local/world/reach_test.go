package world

import (
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/aws/aws-sdk-go-v2/aws"
)

func TestPaths(t *testing.T) {
	closedEndpoint := func(w *World) {
		w.securityGroups.put("sg-closed", &ec2types.SecurityGroup{GroupId: aws.String("sg-closed")})
		w.endpoints.put("vpce-1", &ec2types.VpcEndpoint{
			VpcEndpointId: aws.String("vpce-1"), VpcId: aws.String("vpc-0a1b2c3d4e5f60718"), ServiceName: aws.String("com.amazonaws.us-west-2.sts"),
			VpcEndpointType: ec2types.VpcEndpointTypeInterface, State: ec2types.StateAvailable, PrivateDnsEnabled: aws.Bool(true),
			Groups: []ec2types.SecurityGroupIdentifier{{GroupId: aws.String("sg-closed")}},
		})
	}
	cluster := func(w *World) *ekstypes.VpcConfigResponse { return w.clusters.get("eks-workshop").ResourcesVpcConfig }
	tests := map[string]struct {
		world  string
		change func(*World)
		want   Path
	}{
		"a closed endpoint wins over NAT": {"healthy-nat", closedEndpoint, Path{"sts", "vpce-1", PathEndpointClosed}},
		"an endpoint without private DNS does not": {"healthy-nat", func(w *World) {
			closedEndpoint(w)
			w.endpoints.get("vpce-1").PrivateDnsEnabled = aws.Bool(false)
		}, Path{}},
		"an endpoint that is not available": {"healthy-nat", func(w *World) {
			closedEndpoint(w)
			w.endpoints.get("vpce-1").State = ec2types.StatePending
		}, Path{"sts", "vpce-1", PathEndpointState}},
		"no egress": {"healthy-nat", func(w *World) {
			w.securityGroups.get("sg-0e50000000000000f").IpPermissionsEgress = nil
		}, Path{"api", "eks-workshop", PathEgressClosed}},
		"cluster does not admit": {"healthy-nat", func(w *World) {
			w.securityGroups.get("sg-0e50000000000000f").IpPermissions = nil
		}, Path{"api", "eks-workshop", PathAPIClosed}},
		"private NAT gateway": {"healthy-nat", func(w *World) {
			w.natGateways.get(storyNAT).ConnectivityType = ec2types.ConnectivityTypePrivate
		}, Path{"ec2", storyNAT, PathNATUnusable}},
		"gateway detached": {"healthy-igw", func(w *World) {
			w.internetGateways.get("igw-0d40000000000000e").Attachments = nil
		}, Path{"ec2", "igw-0d40000000000000e", PathGatewayDetached}},
		"no access entry": {"healthy-nat", func(w *World) {
			w.accessEntries.remove("eks-workshop/arn:aws:iam::111122223333:role/new_nodegroup_2")
		}, Path{"access", "arn:aws:iam::111122223333:role/new_nodegroup_2", PathNoAccess}},
		"access entry of the wrong type": {"healthy-nat", func(w *World) {
			w.accessEntries.get("eks-workshop/arn:aws:iam::111122223333:role/new_nodegroup_2").Type = aws.String("STANDARD")
		}, Path{"access", "arn:aws:iam::111122223333:role/new_nodegroup_2", PathNoAccess}},
		"public endpoint, other addresses only": {"healthy-nat", func(w *World) {
			cluster(w).EndpointPrivateAccess, cluster(w).PublicAccessCidrs = false, []string{"192.0.2.0/24"}
		}, Path{"api", storyNAT, PathAPIPublicCIDRs}},
		"public endpoint, the NAT's address": {"healthy-nat", func(w *World) {
			cluster(w).EndpointPrivateAccess, cluster(w).PublicAccessCidrs = false, []string{"203.0.113.25/32"}
		}, Path{}},
		"S3 endpoint not in the table": {"healthy-endpoints", func(w *World) {
			w.endpoints.get("vpce-0a0000000000000f3").RouteTableIds = nil
		}, Path{"s3", storyTable, PathNoRoute}},
		"a longer prefix wins": {"healthy-nat", func(w *World) {
			t := w.routeTables.get(storyTable)
			t.Routes = append(t.Routes, ec2types.Route{DestinationCidrBlock: aws.String("52.0.0.0/8"), TransitGatewayId: aws.String("tgw-1"), State: ec2types.RouteStateActive})
		}, Path{"ec2", storyTable, PathUnknownTarget}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, tt.world)
			tt.change(w)
			w.Advance(w.Start().Add(2 * time.Minute))
			id := members(t, w)[0]
			if got, _ := broken(w.Paths(id)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			want := ""
			if tt.want == (Path{}) {
				want = "True"
			}
			if got := readiness(t, w, id); got != want {
				t.Errorf("Ready: got %q, want %q", got, want)
			}
		})
	}
}

func TestRetryJoinsAfterTheFix(t *testing.T) {
	w, _ := open(t, "route")
	w.file.Nodes.Retry = true
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
