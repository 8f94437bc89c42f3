package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"rollcall/local/platform/router"
	"rollcall/local/simaws"

	"rollcall/shared/network/leak"
	"rollcall/shared/store"
)

const workshopVPC = "vpc-0a1b2c3d4e5f60718"

// leave makes an interface of three addresses that a node left behind.
func (r *running) leave(owner string, tags map[string]string) string {
	r.t.Helper()
	all := map[string]string{leak.TagInstance: owner, leak.TagCreated: r.Clock.Now().Add(-time.Hour).UTC().Format(time.RFC3339), leak.TagCluster: "eks-workshop"}
	for k, v := range tags {
		all[k] = v
	}
	spec := ec2types.TagSpecification{ResourceType: ec2types.ResourceTypeNetworkInterface}
	for k, v := range all {
		if v != "" {
			spec.Tags = append(spec.Tags, ec2types.Tag{Key: aws.String(k), Value: aws.String(v)})
		}
	}
	out, err := r.World.EC2().CreateNetworkInterface(&ec2.CreateNetworkInterfaceInput{
		SubnetId: aws.String("subnet-0b20000000000000b"), Description: aws.String("aws-K8S-" + owner),
		SecondaryPrivateIpAddressCount: aws.Int32(2), TagSpecifications: []ec2types.TagSpecification{spec},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return aws.ToString(out.NetworkInterface.NetworkInterfaceId)
}

func (r *running) interfaceIsThere(id string) bool {
	_, err := r.World.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})
	return err == nil
}

// TestCleanupInTrouble: the real functions, opted in while they run, with
// EC2 and the table failing and events lost and doubled. Nothing is deleted
// that should not be; in the end all is, each once on record and told.
func TestCleanupInTrouble(t *testing.T) { virtual(t, cleanupInTrouble) }

func cleanupInTrouble(t *testing.T) {
	const many, dead = 40, "i-0dead00000000%04x"
	n := 0
	r := start(t, "ips", func(o *Options) {
		o.Settings = map[string]string{"ROLLCALL_CLEANUP_SHARE": "100"}
		o.CallFaults = []simaws.FaultRule{
			{Call: "ec2:*", Caller: "rollcall-eni-cleanup", Throttle: 0.2},
			{Call: "ec2:DeleteNetworkInterface", Fail: 0.1},
			{Call: "dynamodb:*", Caller: "rollcall-eni-cleanup", Fail: 0.05},
			{Call: "events:PutEvents", Caller: "rollcall-eni-cleanup", Deny: true, Times: 1},
		}
		o.EventFaults = func(router.Event) router.Fault {
			n++
			return router.Fault{Lose: n%5 == 1, Copies: n % 2}
		}
	})
	left, kept := map[string]bool{}, []string{"eni-0f100000000000001", "eni-0f200000000000002", "eni-0f300000000000003"}
	for i := range many {
		left[r.leave(fmt.Sprintf(dead, i/2), nil)] = true
	}
	for _, tags := range []map[string]string{{leak.TagCluster: "payments"}, {leak.TagCluster: ""}, {leak.TagCreated: "soon"}} {
		kept = append(kept, r.leave(fmt.Sprintf(dead, 0), tags))
	}
	table := store.New(r.Table.Client(), r.Template.Tables[0].Name).At(r.Clock.Now)
	sightings := func() map[string]leak.Sighting {
		list, err := table.Sightings(t.Context(), workshopVPC)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	r.until("they are seen", func() bool { return len(sightings()) >= many })
	for id := range left {
		if !r.interfaceIsThere(id) {
			t.Fatalf("%s is deleted in mode report", id)
		}
	}
	if err := r.Deploy(map[string]string{"ROLLCALL_CLEANUP": "eks-workshop=delete"}); err != nil {
		t.Fatal(err)
	}
	r.until("all are deleted, and nothing is open", func() bool {
		for id := range left {
			if r.interfaceIsThere(id) {
				return false
			}
		}
		for _, x := range sightings() {
			if x.Deleting != nil {
				return false
			}
		}
		return true
	})
	for _, id := range kept {
		if !r.interfaceIsThere(id) {
			t.Errorf("%s is gone, and must not be", id)
		}
	}
	audits, err := table.Audits(t.Context(), "eks-workshop", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	records, told := map[string]int{}, map[string]bool{}
	for _, a := range audits {
		if a.Result == leak.Deleted {
			records[a.Interface]++
		}
	}
	for _, p := range r.Events() {
		var e struct {
			Type   string     `json:"detail-type"`
			Detail leak.Event `json:"detail"`
		}
		if err := json.Unmarshal(p.Event, &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == leak.DetailType {
			told[e.Detail.Interface] = true
		}
	}
	for id := range left {
		if records[id] != 1 || !told[id] {
			t.Errorf("%s: %d records, told: %v; want one, and told", id, records[id], told[id])
		}
	}
	if len(records) != many || len(told) != many {
		t.Errorf("%d records, %d told, want %d", len(records), len(told), many)
	}
	words := fmt.Sprintf("%d addresses back in subnet-0b20000000000000b; %d interfaces of %d dead nodes", 3*many, many, many/2)
	r.until("Slack says what came back", func() bool {
		for _, m := range r.messages() {
			if strings.Contains(whole(m), words) {
				return true
			}
		}
		return false
	})
	// A sweep that failed is given up when the next is due, which does its work.
	r.nothingLost("rollcall-failed")
}

// TestWrongDeletesAreRefused: what a fault in eni-cleanup might ask for, IAM
// refuses, by the permissions of what is deployed.
func TestWrongDeletesAreRefused(t *testing.T) { virtual(t, wrongDeletesAreRefused) }

func wrongDeletesAreRefused(t *testing.T) {
	r := start(t, "ips", func(o *Options) { o.Quiet = true })
	f, ok := r.Function("eni-cleanup")
	if !ok {
		t.Fatal("no eni-cleanup")
	}
	client := ec2.NewFromConfig(r.AsFunction(f))
	const dead = "i-0dead000000000001"
	own := func() string { return r.leave(dead, nil) }
	untagged := func() string { return r.leave(dead, map[string]string{leak.TagCluster: ""}) }
	theirs := func() string { return r.leave(dead, map[string]string{leak.TagCluster: "payments"}) }
	foreign := func() string { return r.leave(dead, map[string]string{leak.TagInstance: ""}) }
	for _, test := range []struct {
		name, cleanup, optedIn string
		make                   func() string
		allowed                bool
	}{
		{"in mode report", "report", "none", own, false},
		{"another cluster opted in", "payments=delete", "none", own, false},
		{"of the cluster", "eks-workshop=delete", "none", own, true},
		{"of another cluster", "eks-workshop=delete", "none", theirs, false},
		{"without the CNI's tag", "eks-workshop=delete", "none", foreign, false},
		{"untagged", "eks-workshop=delete", "none", untagged, false},
		{"untagged, another VPC opted in", "eks-workshop=delete", "vpc-0ffffffffffffffff", untagged, false},
		{"untagged, opted in", "eks-workshop=delete", workshopVPC, untagged, true},
		{"of another cluster, untagged opted in", "eks-workshop=delete", workshopVPC, theirs, false},
		{"back in mode report", "report", "none", own, false},
	} {
		if err := r.Deploy(map[string]string{"ROLLCALL_CLEANUP": test.cleanup, "ROLLCALL_CLEANUP_UNTAGGED": test.optedIn}); err != nil {
			t.Fatal(err)
		}
		id := test.make()
		_, err := client.DeleteNetworkInterface(t.Context(), &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: &id})
		var api smithy.APIError
		refused := errors.As(err, &api) && api.ErrorCode() == "UnauthorizedOperation"
		if test.allowed != (err == nil) || test.allowed == refused || r.interfaceIsThere(id) == test.allowed {
			t.Errorf("%s: %v, there: %v", test.name, err, r.interfaceIsThere(id))
		}
	}
}
