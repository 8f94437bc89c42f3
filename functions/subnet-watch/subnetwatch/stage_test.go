package subnetwatch

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/functions/subnet-watch/spec"
	"rollcall/local/simaws"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/snapshot"
)

// owner is an instance that EC2 does not know any more.
const owner = "i-0dead00000000dead"

// leave makes interfaces as the VPC CNI does, leaves them unattached, and gives
// their ids.
func leave(b *stagetest.Bench, t *testing.T, n int, cluster string) (ids []string) {
	t.Helper()
	made := b.Now().Add(-2 * time.Hour).UTC().Format(time.RFC3339)
	for range n {
		out, err := b.World.Call("ec2:CreateNetworkInterface", json.RawMessage(fmt.Sprintf(
			`{"SubnetId":%q,"Description":"aws-K8S-%s","SecondaryPrivateIpAddressCount":9,"TagSpecifications":[{"ResourceType":"network-interface","Tags":[{"Key":"node.k8s.amazonaws.com/instance_id","Value":%q},{"Key":"node.k8s.amazonaws.com/createdAt","Value":%q},{"Key":"cluster.k8s.amazonaws.com/name","Value":%q}]}]}`,
			stagetest.Subnet, owner, owner, made, cluster)))
		if err != nil {
			t.Fatal(err)
		}
		made, ok := out.(*ec2.CreateNetworkInterfaceOutput)
		if !ok {
			t.Fatalf("the world answers with %T", out)
		}
		ids = append(ids, *made.NetworkInterface.NetworkInterfaceId)
	}
	return ids
}

// TestOnTheStage: the real reader, table and queue, under the role's policy.
func TestOnTheStage(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP": "eks-workshop=dry-run", "ROLLCALL_SUBNET_METRICS": "on"}})
	left := leave(b, t, 6, stagetest.Cluster)
	leave(b, t, 1, "somebody-else")
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	if o.Cluster != stagetest.Cluster || o.By != spec.Name || o.Sweep {
		t.Errorf("observation %+v", o)
	}
	for _, source := range []snapshot.Source{
		snapshot.Clusters, snapshot.Groups, snapshot.Nodegroups, snapshot.Subnets, snapshot.AWSNode, snapshot.InstanceTypes, snapshot.LaunchTemplates,
		snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf, snapshot.CIDRsKept, snapshot.ENIConfigsOf, snapshot.LaunchHistory,
	} {
		if !slices.Contains(o.Read, source) {
			t.Errorf("%s was not read: %+v", source, o.Blind)
		}
	}
	if slices.Contains(o.Read, snapshot.Instances) {
		t.Error("it claims that instances could be read")
	}
	for _, u := range o.Diagnosis.Unknown {
		if u.Check == "ip/subnet-exhausted" || u.Check == "ip/leaked-interfaces" {
			t.Errorf("%s could not look: %+v", u.Check, u.Blocked)
		}
	}
	if got := stagetest.Causes(o)["ip/leaked-interfaces"]; got != stagetest.Subnet {
		t.Errorf("causes %v, want the leak in %s", stagetest.Causes(o), stagetest.Subnet)
	}
	i := slices.IndexFunc(o.Diagnosis.Causes, func(c diagnose.Cause) bool { return c.Check == "ip/leaked-interfaces" })
	if i < 0 || o.Diagnosis.Causes[i].Confidence != checks.Likely || !slices.Contains(o.Diagnosis.Causes[i].Evidence, checks.Evidence{What: "eni-cleanup", Value: "dry-run: would delete 6 of them"}) {
		t.Errorf("causes %+v", o.Diagnosis.Causes)
	}
	_, gauges := b.Numbers()
	if g := gauges[stagetest.Subnet]; g["LeakedAddresses"] != 60 || g["FreeAddresses"] < 1000 || g["FreeBlocks"] < 100 {
		t.Errorf("gauges of %s: %v", stagetest.Subnet, g)
	}
	if g := gauges[stagetest.Cluster]; g["LeakedAddresses"] != 60 || g["FreeAddresses"] == 0 || g["FreeAddresses"] > gauges[stagetest.Subnet]["FreeAddresses"] {
		t.Errorf("gauges of the cluster: %v", g)
	}
	if len(gauges) != 4+1 {
		t.Errorf("gauges of %d subnets, want of those that the groups launch into", len(gauges)-1)
	}
	calls := b.Calls()
	for call, want := range map[string]int{"ec2:DescribeNetworkInterfaces": 1, "ec2:DescribeInstances": 1, "ec2:DescribeSubnets": 1, "dynamodb:PutItem": 4} {
		if calls[call] != want {
			t.Errorf("%d calls of %s, want %d", calls[call], call, want)
		}
	}
	// What is given back is proof enough, and is measured too.
	b.Advance(5 * time.Minute)
	for _, id := range left {
		b.Call("ec2:DeleteNetworkInterface", fmt.Sprintf(`{"NetworkInterfaceId":%q}`, id))
	}
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	if causes := stagetest.Causes(b.Observation()); causes["ip/leaked-interfaces"] != "" {
		t.Errorf("after the cleanup: %v", causes)
	}
}

// TestBlindToCreators: who cannot ask how the owners are accuses none, and says
// which permission is missing.
func TestBlindToCreators(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DescribeInstances", Deny: true}}})
	leave(b, t, 6, stagetest.Cluster)
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	if causes := stagetest.Causes(o); causes["ip/leaked-interfaces"] != "" {
		t.Errorf("causes %v, though nobody knows how the owner is", causes)
	}
	if !slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool { return f.Call == "ec2:DescribeInstances" && f.Reason == snapshot.Denied }) {
		t.Errorf("blind %+v, want ec2:DescribeInstances", o.Blind)
	}
	if _, gauges := b.Numbers(); len(gauges) != 1 || gauges[stagetest.Cluster]["FreeAddresses"] == 0 {
		t.Errorf("gauges %v, want those of the cluster alone", gauges)
	} else if _, told := gauges[stagetest.Cluster]["LeakedAddresses"]; told {
		t.Error("the metric says that nothing is leaked, and nobody knows")
	}
}
