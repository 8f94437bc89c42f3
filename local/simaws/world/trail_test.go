package world

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/trail"
	"rollcall/local/simaws/worldfile"
)

// recorded are the CloudTrail events so far, as generic JSON.
func recorded(t *testing.T, events []json.RawMessage) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, e := range events {
		var env map[string]any
		if err := json.Unmarshal(e, &env); err != nil {
			t.Fatal(err)
		}
		if env["detail-type"] == "AWS API Call via CloudTrail" {
			out = append(out, env)
		}
	}
	return out
}

func TestCallsAreRecorded(t *testing.T) {
	w, events := open(t, "nodegroup-create-failed")
	w.Advance(w.Start().Add(39 * time.Second))
	if got := recorded(t, *events); len(got) != 0 {
		t.Fatalf("before CloudTrail's delay: got %v", got)
	}
	w.Advance(w.Start().Add(41 * time.Second))
	all := recorded(t, *events)
	if len(all) != 2 {
		t.Fatalf("at 41 s: got %d, want two of the three calls", len(all))
	}
	e := all[0]
	if e["source"] != "aws.eks" || e["time"] != "2026-11-20T14:58:10Z" || e["account"] != "111122223333" || len(e["resources"].([]any)) != 0 {
		t.Errorf("envelope: got %v", e)
	}
	d := e["detail"].(map[string]any)
	out := d["responseElements"].(map[string]any)["nodegroup"].(map[string]any)
	arn, _ := out["nodegroupArn"].(string)
	if out["status"] != "CREATING" || arn != *w.Nodegroups.Get("eks-workshop/routeless").NodegroupArn || out["createdAt"] != 1795186690.0 {
		t.Errorf("nodegroup: got %v", out)
	}
	if diff := cmp.Diff(out["health"], map[string]any{"issues": []any{}}); diff != "" {
		t.Errorf("health (-got +want):\n%s", diff)
	}
	for _, key := range []string{"responseElements", "requestID", "eventID"} {
		if d[key] == nil || d[key] == "" {
			t.Errorf("no %s", key)
		}
		delete(d, key)
	}
	want := map[string]any{
		"eventVersion": "1.11", "eventTime": "2026-11-20T14:58:10Z", "eventSource": "eks.amazonaws.com", "eventName": "CreateNodegroup",
		"awsRegion": "us-west-2", "sourceIPAddress": "203.0.113.10", "userAgent": "aws-cli/2.31", "readOnly": false, "eventType": "AwsApiCall",
		"managementEvent": true, "recipientAccountId": "111122223333", "eventCategory": "Management",
		"requestParameters": map[string]any{
			"name": "eks-workshop", "nodegroupName": "routeless", "nodeRole": "arn:aws:iam::111122223333:role/new_nodegroup_2",
			"subnets": []any{storySubnet}, "instanceTypes": []any{"m5.large"},
			"scalingConfig": map[string]any{"minSize": 1.0, "maxSize": 3.0, "desiredSize": 2.0},
		},
		"userIdentity": map[string]any{
			"type": "AssumedRole", "principalId": "AROA1F58C1BA1F6664D3B:ci", "accountId": "111122223333",
			"arn": "arn:aws:sts::111122223333:assumed-role/platform/ci",
			"sessionContext": map[string]any{"sessionIssuer": map[string]any{
				"type": "Role", "principalId": "AROA1F58C1BA1F6664D3B", "arn": "arn:aws:iam::111122223333:role/platform", "accountId": "111122223333", "userName": "platform",
			}},
		},
	}
	if diff := cmp.Diff(d, want); diff != "" {
		t.Errorf("record (-got +want):\n%s", diff)
	}
}

func TestRefusedCallsAreRecorded(t *testing.T) {
	w, events := open(t, "healthy-nat")
	in := &eks.DeleteNodegroupInput{ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("x")}
	w.Record(trail.Call{Operation: "eks:DeleteNodegroup", CallerARN: "arn:aws:iam::111122223333:root", RequestID: "r", Input: in, Err: wire.Errorf("ResourceNotFoundException", "No node group found for name: x.")})
	w.Record(trail.Call{Operation: "eks:DeleteNodegroup", CallerARN: "arn:aws:iam::111122223333:user/eve", AccessKeyID: "AKIA", Err: &wire.Error{Code: "AccessDeniedException", Message: "no", Status: 403}})
	w.Record(trail.Call{Operation: "eks:DescribeNodegroup", CallerARN: "arn:aws:iam::111122223333:root"})
	w.Advance(w.Start().Add(36 * time.Second))
	var got []map[string]any
	for _, e := range recorded(t, *events) {
		d := e["detail"].(map[string]any)
		who := d["userIdentity"].(map[string]any)
		got = append(got, map[string]any{"code": d["errorCode"], "in": d["requestParameters"], "out": d["responseElements"], "who": who["type"], "user": who["userName"]})
	}
	want := []map[string]any{
		{"code": "ResourceNotFoundException", "in": map[string]any{"name": "eks-workshop", "nodegroupName": "x"}, "out": nil, "who": "Root", "user": nil},
		{"code": "AccessDenied", "in": nil, "out": nil, "who": "IAMUser", "user": "eve"},
		// The timeline's own call.
		{"code": nil, "who": "IAMUser", "user": "admin"},
	}
	if len(got) == 3 {
		delete(got[2], "in")
		delete(got[2], "out")
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestNoTrail(t *testing.T) {
	f, err := worldfile.Load("../../worlds/healthy-nat.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f.Trail.None = true
	var events []json.RawMessage
	w, err := New(f, Options{Events: func(e json.RawMessage) { events = append(events, e) }})
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(10 * time.Minute))
	if got := recorded(t, events); len(got) != 0 || len(events) == 0 {
		t.Errorf("got %v of %d events", got, len(events))
	}
}
