package worldfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"
)

func TestParseRefusesMistakes(t *testing.T) {
	tests := map[string]struct{ yaml, want string }{
		"unknown field of a resource": {
			"ec2: {Subnets: [{SubnetId: a}, {SubnetId: b, CidrBlok: 10.0.0.0/24}]}",
			"w.yaml: ec2.Subnets[1].CidrBlok: unknown field",
		},
		"unknown section":   {"ec3: {}", "w.yaml: ec3: unknown field"},
		"unknown fault":     {"faults: [{call: x, throtle: 1}]", "w.yaml: faults[0].throtle: unknown field"},
		"text for a number": {"nodes: {bootSeconds: soon}", "w.yaml: nodes.bootSeconds: want a int, got text"},
		"list for a mapping": {
			"ec2: []", "w.yaml: ec2: want a mapping, got a list",
		},
		"bad time":      {"time: yesterday", `w.yaml: time: "yesterday" is not a time`},
		"bad duration":  {"faults: [{latency: 5}]", "w.yaml: faults[0].latency: want a duration such as 30s"},
		"twice":         {"name: a\nname: b", `w.yaml: read YAML: line 2: "name" is given twice`},
		"not a mapping": {"[1]", "w.yaml: read YAML: want a mapping, got a list"},
		"SDK's own field": {
			"eks: {clusters: [{ResultMetadata: {}}]}", "w.yaml: eks.clusters[0].ResultMetadata: unknown field",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("w.yaml", []byte(tt.yaml))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestParseTimes(t *testing.T) {
	want := time.Date(2026, 11, 20, 14, 41, 0, 0, time.UTC)
	for _, text := range []string{
		"2026-11-20T14:41:00Z", "2026-11-20T06:41:00-08:00", "2026-11-20T15:41:00.000+01:00", `"2026-11-20T14:41:00+0000"`, "1795185660", "1795185660.0",
	} {
		f, err := Parse("w.yaml", []byte("time: "+text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !f.Time.Equal(want) {
			t.Errorf("%s: got %s, want %s", text, f.Time, want)
		}
	}
}

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
