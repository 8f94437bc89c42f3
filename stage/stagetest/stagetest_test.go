package stagetest

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	joincheck "rollcall/functions/join-check/spec"
	launchwatch "rollcall/functions/launch-watch/spec"
	nodegroupwatch "rollcall/functions/nodegroup-watch/spec"
	report "rollcall/functions/report/spec"
	slackactions "rollcall/functions/slack-actions/spec"
	spotreport "rollcall/functions/spot-report/spec"
	subnetwatch "rollcall/functions/subnet-watch/spec"
	zonewatch "rollcall/functions/zone-watch/spec"
	"rollcall/shared/event/inbox"
	"rollcall/shared/lambda"
	"rollcall/shared/s3"
	"rollcall/shared/spec"
)

// TestPolicies holds what the roles keep apart: who writes which records, who
// speaks to whom.
func TestPolicies(t *testing.T) {
	cluster := &eks.DescribeClusterInput{Name: aws.String("prod")}
	benches := map[string]*Bench{}
	for _, s := range []spec.Spec{launchwatch.Spec(), joincheck.Spec(), nodegroupwatch.Spec(), report.Spec(), spotreport.Spec(), subnetwatch.Spec(), zonewatch.Spec(), enicleanup.Spec(), slackactions.Spec()} {
		benches[s.Name] = Start(t, s, idle, Options{Settings: map[string]string{"ROLLCALL_SLACK_SECRET_ARN": "arn", "ROLLCALL_SLACK_SIGNING_SECRET_ARN": "arn"}})
	}
	put := func(key string) *dynamodb.PutItemInput {
		return &dynamodb.PutItemInput{TableName: aws.String(benches[report.Name].Template.Tables[0].Name), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: key}}}
	}
	send := func(queue string) *sqs.SendMessageInput {
		return &sqs.SendMessageInput{QueueUrl: aws.String("https://sqs.us-west-2.amazonaws.com/111122223333/" + queue)}
	}
	for _, test := range []struct {
		action string
		input  any
		may    []string
	}{
		{"dynamodb:PutItem", put("launch#i-1"), []string{"launch-watch", "join-check", "sweep"}},
		{"dynamodb:PutItem", put("incident#prod"), []string{"report"}},
		{"dynamodb:PutItem", put("jointime#prod"), []string{"join-check", "sweep"}},
		{"dynamodb:PutItem", put("nodegroup#prod"), []string{"nodegroup-watch", "sweep"}},
		{"dynamodb:PutItem", put("summary#prod"), []string{"report"}},
		{"dynamodb:PutItem", put("sample#subnet-1"), []string{"launch-watch", "join-check", "spot-report", "subnet-watch", "sweep"}},
		{"dynamodb:PutItem", put("sighting#vpc-1"), []string{"eni-cleanup"}},
		{"dynamodb:PutItem", put("audit#prod"), []string{"eni-cleanup"}},
		{"dynamodb:PutItem", put("pace#111122223333#us-west-2"), []string{"eni-cleanup"}},
		{"dynamodb:PutItem", put("cleanup#prod"), []string{"eni-cleanup"}},
		{"dynamodb:PutItem", put("press#0123"), []string{"slack-actions"}},
		{"dynamodb:PutItem", put("refusal#slack-actions"), []string{"slack-actions"}},
		{"dynamodb:PutItem", put("other#1"), nil},
		{"dynamodb:DeleteItem", put("launch#i-1"), nil},
		{"sqs:SendMessage", send("rollcall-results.fifo"), []string{"launch-watch", "join-check", "nodegroup-watch", "spot-report", "subnet-watch", "zone-watch", "eni-cleanup", "change-check", "slack-actions", "report", "sweep"}},
		{"s3:PutObject", &s3.PutObjectInput{Bucket: benches[report.Name].Template.S3Buckets[0].Name, Key: "111122223333/x.tar.gz"}, []string{"launch-watch", "join-check", "nodegroup-watch", "spot-report", "subnet-watch", "zone-watch", "sweep"}},
		{"s3:PutObject", &s3.PutObjectInput{Bucket: "another", Key: "111122223333/x.tar.gz"}, nil},
		{"sqs:SendMessage", send("rollcall-changes"), []string{"change-check"}},
		{"sqs:SendMessage", send("rollcall-joins"), []string{"launch-watch", "join-check", "sweep"}},
		{"sqs:SendMessage", send("rollcall-nodegroups"), []string{"nodegroup-watch", "sweep"}},
		{"sqs:SendMessage", send("rollcall-sweeps"), []string{"sweep"}},
		{"sqs:SendMessage", send("rollcall-launches"), nil},
		{"dynamodb:PutItem", put("backoff#prod"), []string{"sweep"}},
		{"ec2:DescribeInstances", &ec2.DescribeInstancesInput{}, []string{"launch-watch", "join-check", "nodegroup-watch", "subnet-watch", "zone-watch", "eni-cleanup", "sweep"}},
		// No cluster has opted in: the template has no such permission.
		{"sts:DecodeAuthorizationMessage", &sts.DecodeAuthorizationMessageInput{}, nil},
		{"ec2:DeleteNetworkInterface", &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-1")}, nil},
		{"ec2:CreateRoute", &ec2.CreateRouteInput{}, nil},
		{"eks:DescribeCluster", cluster, []string{"launch-watch", "join-check", "nodegroup-watch", "spot-report", "subnet-watch", "zone-watch", "eni-cleanup", "sweep"}},
		{"eks:ListClusters", &eks.ListClustersInput{}, []string{"sweep", "spot-report", "eni-cleanup"}},
	} {
		for name, b := range benches {
			want := false
			for _, may := range test.may {
				want = want || may == name
			}
			got, err := b.allowed(test.action, test.input, nil)
			resource, keys := b.resource(test.input)
			if err != nil || got != want {
				t.Errorf("%s may %s on %s with %v: %v (%v), want %v", name, test.action, resource, keys, got, err, want)
			}
		}
	}
}

func idle(context.Context, lambda.Env) (lambda.Handler, error) { return nil, nil }

// TestWriting: a request that changes something is known as one in each of the
// protocols that the functions speak.
func TestWriting(t *testing.T) {
	for _, test := range []struct {
		method, path, target, form string
		name                       string
		writes                     bool
	}{
		{"POST", "/", "DynamoDB_20120810.PutItem", "", "PutItem", true},
		{"POST", "/", "DynamoDB_20120810.BatchGetItem", "", "BatchGetItem", false},
		{"POST", "/", "DynamoDB_20120810.BatchWriteItem", "", "BatchWriteItem", true},
		{"POST", "/", "AmazonSQS.SendMessage", "", "SendMessage", true},
		{"POST", "/", "AWSEvents.PutEvents", "", "PutEvents", true},
		{"POST", "/", "secretsmanager.GetSecretValue", "", "GetSecretValue", false},
		{"POST", "/", "", "Action=DescribeInstances&Version=2016-11-15", "DescribeInstances", false},
		{"POST", "/", "", "Action=CreateRoute&Version=2016-11-15", "CreateRoute", true},
		{"GET", "/clusters/prod", "", "", "GET /clusters/prod", false},
		{"POST", "/clusters/prod/access-entries", "", "", "POST /clusters/prod/access-entries", true},
		{"POST", "/api/chat.postMessage", "", "", "chat.postMessage", true},
		{"POST", "/api/conversations.history", "", "limit=1", "conversations.history", false},
	} {
		req, err := http.NewRequestWithContext(t.Context(), test.method, "http://localhost"+test.path, strings.NewReader(test.form))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Amz-Target", test.target)
		if test.form != "" {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		}
		if name, writes, err := writing(req); name != test.name || writes != test.writes || err != nil {
			t.Errorf("%s %s %s%s: %q, %v, %v", test.method, test.path, test.target, test.form, name, writes, err)
		}
	}
}

// TestAgain: of a batch the messages that failed come again, and say so.
func TestAgain(t *testing.T) {
	messages, _ := inbox.Batch(again(t, Batch("a", "b", "c"), []string{"m1"}))
	if diff := cmp.Diff([]inbox.Message{{ID: "m1", Body: "b", Received: 2}}, messages); diff != "" {
		t.Errorf("some failed (-want +got):\n%s", diff)
	}
	messages, _ = inbox.Batch(again(t, again(t, Batch("a", "b"), nil), nil))
	if diff := cmp.Diff([]inbox.Message{{ID: "m0", Body: "a", Received: 3}, {ID: "m1", Body: "b", Received: 3}}, messages); diff != "" {
		t.Errorf("all failed (-want +got):\n%s", diff)
	}
}

// TestTimeless: that something has no time yet stays to be seen.
func TestTimeless(t *testing.T) {
	got := Timeless(t, []string{"2026-11-20T15:13:20.000Z", "0001-01-01T00:00:00Z", "until 15:04:05 UTC", "a/20261120T151320.646Z", "1700000000.000100", "i-0ef3c1b2a4d5968f1"})
	if diff := cmp.Diff([]any{"TIME", "0001-01-01T00:00:00Z", "until TIME", "a/TIME", "TIME", "i-0ef3c1b2a4d5968f1"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
