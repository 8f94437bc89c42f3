package world

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"rollcall/local/simaws/worldfile"
)

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
	f, err := worldfile.Parse("pasted.json", []byte(pasted))
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
	enis := w.InterfacesOf("i-1")
	if len(enis) != 1 || *enis[0].NetworkInterfaceId != "eni-1" || len(enis[0].PrivateIpAddresses) != 2 {
		t.Errorf("interfaces of i-1: got %d", len(enis))
	}
	if got := w.Pools["subnet-1"].Free(); got != 200 {
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
			f, err := worldfile.Parse("w.yaml", []byte(tt.yaml))
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
		file, err := worldfile.Parse("fuzz.yaml", data)
		if err != nil {
			return
		}
		if w, err := New(file, Options{}); err == nil {
			w.Advance(w.Start().Add(time.Minute))
		}
	})
}
