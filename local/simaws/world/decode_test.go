package world

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
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

// What the CLI prints, version 1 and 2, goes in as it is.
const pasted = `{
  "name": "pasted", "time": "2026-11-20T15:00:00+00:00", "account": 111122223333, "region": "eu-west-1",
  "ec2": {
    "Vpcs": [{"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/16", "State": "available", "IsDefault": false}],
    "Subnets": [{"SubnetId": "subnet-1", "VpcId": "vpc-1", "CidrBlock": "10.0.1.0/24", "AvailabilityZone": "eu-west-1b", "AvailableIpAddressCount": 200}],
    "Reservations": [{"ReservationId": "r-1", "OwnerId": "111122223333", "Groups": [], "Instances": [{
      "InstanceId": "i-1", "InstanceType": "m5.large", "State": {"Code": 16, "Name": "running"}, "SubnetId": "subnet-1",
      "LaunchTime": "2026-11-20T14:00:00.000Z", "PrivateIpAddress": "10.0.1.40", "Placement": {"AvailabilityZone": "eu-west-1b"},
      "NetworkInterfaces": [{"NetworkInterfaceId": "eni-1", "SubnetId": "subnet-1", "PrivateIpAddress": "10.0.1.40", "Status": "in-use",
        "Attachment": {"AttachTime": 1763647200.0, "AttachmentId": "eni-attach-1", "DeviceIndex": 0, "DeleteOnTermination": true, "Status": "attached"},
        "PrivateIpAddresses": [{"Primary": true, "PrivateIpAddress": "10.0.1.40"}, {"Primary": false, "PrivateIpAddress": "10.0.1.41"}]}]
    }]}]
  },
  "iam": {"Roles": [{"RoleName": "node", "AssumeRolePolicyDocument": {"Statement": [{"Effect": "Allow"}]}}]}
}`

func TestPastedOutput(t *testing.T) {
	f, err := Parse("pasted.json", []byte(pasted))
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Account(); got != "111122223333" {
		t.Errorf("account: got %q", got)
	}
	enis := w.interfacesOf("i-1")
	if len(enis) != 1 || *enis[0].NetworkInterfaceId != "eni-1" || len(enis[0].PrivateIpAddresses) != 2 {
		t.Errorf("interfaces of i-1: got %d", len(enis))
	}
	if got := w.pools["subnet-1"].free(); got != 200 {
		t.Errorf("free: got %d, want the 200 that were stated", got)
	}
	r, err := w.IAM().GetRole(&iam.GetRoleInput{RoleName: aws.String("node")})
	if err != nil {
		t.Fatal(err)
	}
	// IAM's API carries documents URL-encoded.
	if got, want := *r.Role.AssumeRolePolicyDocument, "%7B%22Statement%22:%5B%7B%22Effect%22:%22Allow%22%7D%5D%7D"; got != want {
		t.Errorf("document: got %q, want %q", got, want)
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

func TestNewRefusesBrokenReferences(t *testing.T) {
	tests := map[string]struct{ yaml, want string }{
		"no time":        {"name: x", "no time"},
		"unknown VPC":    {"time: 2026-11-20T15:00:00Z\nec2: {Subnets: [{SubnetId: s, VpcId: v, CidrBlock: 10.0.0.0/24}]}", `VPC "v" is not in the world`},
		"listed twice":   {"time: 2026-11-20T15:00:00Z\nec2: {Vpcs: [{VpcId: v}, {VpcId: v}]}", "v is listed twice"},
		"no id":          {"time: 2026-11-20T15:00:00Z\nec2: {Vpcs: [{CidrBlock: 10.0.0.0/16}]}", "ec2.Vpcs[0] has no id"},
		"unknown call":   {"time: 2026-11-20T15:00:00Z\ntimeline: [{at: 1s, call: \"ec2:MakeRoute\"}]", `has no operation "MakeRoute"`},
		"unknown input":  {"time: 2026-11-20T15:00:00Z\ntimeline: [{at: 1s, call: \"ec2:CreateRoute\", with: {RouteTable: x}}]", "ec2:CreateRoute.RouteTable: unknown field"},
		"joined nothing": {"time: 2026-11-20T15:00:00Z\neks: {clusters: [{name: c}]}\nkubernetes: {c: {joined: [i-1]}}", "i-1 is not an instance of this cluster"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := Parse("w.yaml", []byte(tt.yaml))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := New(f, Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want one with %q", err, tt.want)
			}
		})
	}
}

// Whatever a file holds, reading it ends in a world or an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(pasted))
	f.Add([]byte("name: x\ntime: 2026-11-20T15:00:00Z\nnodes: {exceptions: [{ends: {after: 5s}}]}"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("time: 99999999999999999999\nec2: {Subnets: [{CidrBlock: 10.0.0.0/33}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("fuzz.yaml", data)
		if err != nil {
			return
		}
		if w, err := New(file, Options{}); err == nil {
			w.Advance(w.Start().Add(time.Minute))
		}
	})
}
