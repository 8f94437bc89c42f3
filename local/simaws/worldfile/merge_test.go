package worldfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"
)

func TestExtendsMerges(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("base.yaml", `
name: base
ec2:
  NatGateways: [{NatGatewayId: nat-1, SubnetId: s}, {NatGatewayId: nat-2, SubnetId: s}]
  RouteTables: [{RouteTableId: rtb-1, VpcId: v, Routes: [{DestinationCidrBlock: 10.0.0.0/16, GatewayId: local}]}]
nodes: {bootSeconds: 40}
`)
	path := write("over.yaml", `
extends: base.yaml
name: over
ec2:
  NatGateways: [{NatGatewayId: nat-1, State: failed}, {NatGatewayId: nat-2, $delete: true}, {NatGatewayId: nat-3}]
  RouteTables: [{RouteTableId: rtb-1, Routes: []}]
`)
	f, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var nats []string
	for _, n := range f.EC2.NatGateways {
		nats = append(nats, *n.NatGatewayId+" "+string(n.State)+" "+aws.ToString(n.SubnetId))
	}
	if diff := cmp.Diff(nats, []string{"nat-1 failed s", "nat-3  "}); diff != "" {
		t.Errorf("NAT gateways (-got +want):\n%s", diff)
	}
	table := f.EC2.RouteTables[0]
	if len(table.Routes) != 0 || aws.ToString(table.VpcId) != "v" || f.Nodes.BootSeconds != 40 || f.Name != "over" {
		t.Errorf("got %d routes, VPC %q, boot %d, name %q", len(table.Routes), aws.ToString(table.VpcId), f.Nodes.BootSeconds, f.Name)
	}

	bad := write("bad.yaml", "extends: base.yaml\nec2: {NatGateways: [{NatGatewayId: nat-1, Stat: failed}]}\n")
	if _, err := Load(bad); err == nil || !strings.Contains(err.Error(), "bad.yaml: ec2.NatGateways[0].Stat: unknown field") {
		t.Errorf("mistake in an extending file: got %v", err)
	}
	loop := write("loop.yaml", "extends: loop.yaml\n")
	if _, err := Load(loop); err == nil || !strings.Contains(err.Error(), "too deeply") {
		t.Errorf("a world that extends itself: got %v", err)
	}
}
