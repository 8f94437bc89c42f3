package world

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/google/go-cmp/cmp"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/cloudtrail"
	"rollcall/stage/simaws/trail"
	"rollcall/stage/simaws/worldfile"
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

// look is a lookup by one attribute, as "who: what" lines.
func look(t *testing.T, w *World, key, value string) []string {
	t.Helper()
	out, err := w.CloudTrail().LookupEvents(&cloudtrail.LookupEventsInput{LookupAttributes: []cloudtrail.LookupAttribute{{AttributeKey: key, AttributeValue: value}}})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range out.Events {
		lines = append(lines, fmt.Sprintf("%s %s: %s", e.EventTime.Format("15:04"), e.Username, e.EventName))
	}
	return lines
}

func history(f *worldfile.File) {
	deploy := "arn:aws:sts::111122223333:assumed-role/platform/ci-deploy"
	f.Trail.History = []worldfile.TrailEntry{
		{At: f.Time.Add(-18 * time.Minute), Call: "ec2:CreateRouteTable", By: deploy, Via: "cloudformation.amazonaws.com",
			With: map[string]any{"vpcId": "vpc-0a1b2c3d4e5f60718"}, Result: map[string]any{"routeTable": map[string]any{"routeTableId": "rtb-0cd20000000000002"}}},
		{At: f.Time.Add(-17 * time.Minute), Call: "ec2:AssociateRouteTable", By: deploy, With: map[string]any{"routeTableId": "rtb-0cd20000000000002", "subnetId": storySubnet}},
		{At: f.Time.Add(-14 * time.Minute), Call: "eks:CreateNodegroup", By: deploy, With: map[string]any{"name": "eks-workshop", "nodegroupName": "new_nodegroup_2"}},
		{At: f.Time.Add(-2 * time.Minute), Call: "ec2:DeleteRoute", By: "arn:aws:iam::111122223333:user/eve", With: map[string]any{"routeTableId": "rtb-0cd20000000000002"}, Error: "Client.UnauthorizedOperation"},
		{At: f.Time.Add(-100 * 24 * time.Hour), Call: "ec2:CreateVpc", Result: map[string]any{"vpc": map[string]any{"vpcId": "vpc-0a1b2c3d4e5f60718"}}},
	}
	f.Trail.Lag, f.Trail.Spread = 4*time.Minute, 0
}

func TestLookupEvents(t *testing.T) {
	w, _ := openWith(t, "route", history)
	if diff := cmp.Diff(look(t, w, "ResourceName", "rtb-0cd20000000000002"), []string{"14:41 ci-deploy: AssociateRouteTable", "14:40 ci-deploy: CreateRouteTable"}); diff != "" {
		t.Errorf("what is late is not there yet, and the newest comes first (-got +want):\n%s", diff)
	}
	if _, err := w.Call("ec2:CreateRoute", json.RawMessage(`{"RouteTableId":"rtb-0cd20000000000002","DestinationCidrBlock":"0.0.0.0/0","NatGatewayId":"nat-0aa40000000000001"}`)); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(3 * time.Minute))
	if got := look(t, w, "ResourceName", "rtb-0cd20000000000002"); len(got) != 3 || got[0] != "14:56 eve: DeleteRoute" {
		t.Errorf("three minutes after a call: got %v", got)
	}
	w.Advance(w.Start().Add(5 * time.Minute))
	tests := []struct {
		key, value string
		want       []string
	}{
		{"ResourceName", "nat-0aa40000000000001", []string{"14:58 admin: CreateRoute"}},
		{"ResourceName", "vpc-0a1b2c3d4e5f60718", []string{"14:40 ci-deploy: CreateRouteTable"}}, // and nothing of 100 days ago
		{"ResourceName", storySubnet, []string{"14:41 ci-deploy: AssociateRouteTable"}},
		{"ResourceName", "new_nodegroup_2", nil}, // EKS's calls list no resources
		{"EventName", "CreateNodegroup", []string{"14:44 ci-deploy: CreateNodegroup"}},
		{"EventSource", "eks.amazonaws.com", []string{"14:44 ci-deploy: CreateNodegroup"}},
		{"Username", "eve", []string{"14:56 eve: DeleteRoute"}},
		{"ReadOnly", "true", nil},
		{"ResourceType", "AWS::EC2::NatGateway", []string{"14:58 admin: CreateRoute"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(look(t, w, tt.key, tt.value), tt.want); diff != "" {
			t.Errorf("%s %s (-got +want):\n%s", tt.key, tt.value, diff)
		}
	}
}

func TestWhatALookupTells(t *testing.T) {
	w, _ := openWith(t, "route", history)
	w.Advance(w.Start().Add(5 * time.Minute))
	out, err := w.CloudTrail().LookupEvents(&cloudtrail.LookupEventsInput{
		LookupAttributes: []cloudtrail.LookupAttribute{{AttributeKey: "ResourceName", AttributeValue: "rtb-0cd20000000000002"}},
		StartTime:        aws.Time(w.Start().Add(-18 * time.Minute)), EndTime: aws.Time(w.Start().Add(-18 * time.Minute)),
	})
	if err != nil || len(out.Events) != 1 {
		t.Fatalf("got %v, %v", out, err)
	}
	e := out.Events[0]
	if diff := cmp.Diff(e.Resources, []cloudtrail.Resource{{ResourceType: "AWS::EC2::VPC", ResourceName: "vpc-0a1b2c3d4e5f60718"}, {ResourceType: "AWS::EC2::RouteTable", ResourceName: "rtb-0cd20000000000002"}}); diff != "" {
		t.Errorf("resources (-got +want):\n%s", diff)
	}
	var record struct {
		EventName, EventSource, SourceIPAddress string
		ErrorCode                               *string
		UserIdentity                            struct{ Type, Arn, InvokedBy string }
	}
	if err := json.Unmarshal([]byte(e.CloudTrailEvent), &record); err != nil {
		t.Fatal(err)
	}
	if record.UserIdentity.Type != "AssumedRole" || record.UserIdentity.InvokedBy != "cloudformation.amazonaws.com" || record.EventSource != "ec2.amazonaws.com" || record.ErrorCode != nil || e.ReadOnly != "false" {
		t.Errorf("got %+v", record)
	}
}

// The world of the route story knows who made the table, and when.
func TestWhoMadeTheTable(t *testing.T) {
	w, _ := open(t, "route")
	want := []string{"14:50 eve: CreateRoute", "14:41 ci-deploy: AssociateRouteTable", "14:41 ci-deploy: CreateRouteTable"}
	if diff := cmp.Diff(look(t, w, "ResourceName", "rtb-0cd20000000000002"), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// What Auto Scaling does by itself is in the history too, in its own name.
func TestServicesAreRemembered(t *testing.T) {
	w, _ := openWith(t, "route", func(f *worldfile.File) { f.Trail.Lag, f.Trail.History = -1, nil })
	if _, err := w.Call("eks:UpdateNodegroupConfig", json.RawMessage(`{"clusterName":"eks-workshop","nodegroupName":"new_nodegroup_2","scalingConfig":{"desiredSize":1}}`)); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(10 * time.Second))
	if diff := cmp.Diff(look(t, w, "ResourceName", storySubnet), []string{"14:58 AutoScaling: RunInstances"}); diff != "" {
		t.Errorf("subnet (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(look(t, w, "ResourceName", storyGroup), []string{"14:58 AmazonEKSNodegroup: UpdateAutoScalingGroup"}); diff != "" {
		t.Errorf("group (-got +want):\n%s", diff)
	}
}

func TestLookupPages(t *testing.T) {
	w, _ := openWith(t, "route", func(f *worldfile.File) {
		f.Trail.History = nil
		for i := range 120 {
			f.Trail.History = append(f.Trail.History, worldfile.TrailEntry{At: f.Time.Add(-time.Duration(i+10) * time.Minute), Call: "ec2:CreateTags", With: map[string]any{"n": i}})
		}
	})
	in := &cloudtrail.LookupEventsInput{}
	var sizes []int
	seen := map[string]bool{}
	for {
		out, err := w.CloudTrail().LookupEvents(in)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(out.Events))
		for _, e := range out.Events {
			seen[e.EventID] = true
		}
		if out.NextToken == nil {
			break
		}
		in.NextToken = out.NextToken
	}
	if diff := cmp.Diff(sizes, []int{50, 50, 20}); diff != "" || len(seen) != 120 {
		t.Errorf("%d events, pages (-got +want):\n%s", len(seen), diff)
	}
	token := in.NextToken
	refused := map[string]cloudtrail.LookupEventsInput{
		"InvalidNextTokenException":        {NextToken: token, StartTime: aws.Time(w.Start())},
		"InvalidMaxResultsException":       {MaxResults: aws.Int32(51)},
		"InvalidTimeRangeException":        {StartTime: aws.Time(w.Start()), EndTime: aws.Time(w.Start().Add(-time.Hour))},
		"InvalidLookupAttributesException": {LookupAttributes: []cloudtrail.LookupAttribute{{AttributeKey: "Resource", AttributeValue: "x"}}},
	}
	for want, in := range refused {
		if _, err := w.CloudTrail().LookupEvents(&in); err == nil || code(t, err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	two := cloudtrail.LookupEventsInput{LookupAttributes: make([]cloudtrail.LookupAttribute, 2)}
	if _, err := w.CloudTrail().LookupEvents(&two); err == nil || code(t, err) != "InvalidLookupAttributesException" {
		t.Errorf("two attributes: %v", err)
	}
}

// What is done to a role is recorded in one region.
func TestIAMIsRecordedElsewhere(t *testing.T) {
	w, _ := openWith(t, "route", func(f *worldfile.File) { f.Trail.Lag = -1 })
	if _, err := w.Call("iam:DetachRolePolicy", json.RawMessage(`{"RoleName":"new_nodegroup_2","PolicyArn":"arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"}`)); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(5 * time.Minute))
	in := &cloudtrail.LookupEventsInput{LookupAttributes: []cloudtrail.LookupAttribute{{AttributeKey: "ResourceName", AttributeValue: "new_nodegroup_2"}}}
	here, err := w.CloudTrail().LookupEvents(in)
	if err != nil {
		t.Fatal(err)
	}
	there, err := w.CloudTrail().LookupEventsIn("us-east-1", in)
	if err != nil {
		t.Fatal(err)
	}
	if len(here.Events) != 0 || len(there.Events) != 1 || there.Events[0].EventName != "DetachRolePolicy" {
		t.Errorf("here %+v, there %+v", here.Events, there.Events)
	}
}

func TestHistoryThatIsNone(t *testing.T) {
	for _, e := range []worldfile.TrailEntry{{Call: "ec2:CreateVpc"}, {Call: "CreateVpc", At: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}, {Call: "ec2:CreateVpc", At: time.Date(2036, 11, 1, 0, 0, 0, 0, time.UTC)}} {
		f, err := worldfile.Load("../../worlds/route.yaml")
		if err != nil {
			t.Fatal(err)
		}
		f.Trail.History = []worldfile.TrailEntry{e}
		if _, err := New(f, Options{}); err == nil {
			t.Errorf("%+v was taken", e)
		}
	}
}
