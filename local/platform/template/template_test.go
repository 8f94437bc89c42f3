package template_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/template"
)

func read(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/Rollcall.template.json")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parse(t *testing.T, o template.Options) *template.Template {
	t.Helper()
	got, err := template.Parse(read(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestFunction(t *testing.T) {
	got, ok := parse(t, template.Options{}).Function("Rollcall-launch-watch")
	if !ok {
		t.Fatal("no function Rollcall-launch-watch")
	}
	want := template.Function{
		LogicalID: "Watch", Name: "Rollcall-launch-watch", ARN: "arn:aws:lambda:us-west-2:123456789012:function:Rollcall-launch-watch",
		Handler: "bootstrap", Runtime: "provided.al2023", Architecture: "arm64", Memory: 256, Timeout: 30 * time.Second,
		RoleARN: "arn:aws:iam::123456789012:role/Rollcall-WatchRole", AssetKey: "0123abcd.zip", AssetPath: "asset.0123abcd",
		DeadLetterARN: "arn:aws:sqs:us-west-2:123456789012:Rollcall-Dead", ReservedConcurrency: -1,
		Environment: map[string]string{
			"ROLLCALL_RESULTS_QUEUE_URL": "https://sqs.us-west-2.amazonaws.com/123456789012/results.fifo",
			"ROLLCALL_TABLE":             "Rollcall-State", "ROLLCALL_BUS": "rollcall", "ROLLCALL_LEVEL": "3", "ROLLCALL_SWEEP": "yes", "ROLLCALL_ZONE": "b",
			"ROLLCALL_SECRET": "arn:aws:secretsmanager:us-west-2:123456789012:secret:rollcall/slack-aBcDeF",
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestMappingsAndQueues(t *testing.T) {
	got := parse(t, template.Options{})
	arn := "arn:aws:sqs:us-west-2:123456789012:"
	wantMappings := []template.EventSourceMapping{{
		LogicalID: "Mapping", FunctionName: "Rollcall-launch-watch", QueueARN: arn + "join-check", BatchSize: 500, Window: time.Minute,
		Enabled: true, MaximumConcurrency: 2, ReportFailures: true, Filters: []json.RawMessage{[]byte(`{"body":{"source":["aws.ec2"]}}`)},
	}}
	if d := cmp.Diff(wantMappings, got.Mappings); d != "" {
		t.Errorf("mappings (-want +got):\n%s", d)
	}
	q, _ := got.Queue(arn + "join-check")
	want := template.Queue{
		LogicalID: "Delay", Name: "join-check", ARN: arn + "join-check", URL: "https://sqs.us-west-2.amazonaws.com/123456789012/join-check",
		Delay: 10 * time.Minute, Visibility: 5 * time.Minute, Retention: 96 * time.Hour, MaxBytes: 1 << 20,
		DeadLetterARN: arn + "Rollcall-Dead", MaxReceive: 5, Encrypted: true,
	}
	if d := cmp.Diff(want, q); d != "" {
		t.Errorf("queue (-want +got):\n%s", d)
	}
	if _, ok := got.Queue(arn + "Rollcall-DeadOrdered.fifo"); !ok {
		t.Errorf("a FIFO queue without a name must get one that ends in .fifo: %v", got.Queues)
	}
}

func TestRulesAndSchedules(t *testing.T) {
	got := parse(t, template.Options{})
	fn := "arn:aws:lambda:us-west-2:123456789012:function:Rollcall-launch-watch"
	sqs := "arn:aws:sqs:us-west-2:123456789012:"
	want := []template.Rule{
		{LogicalID: "Every5", Name: "Rollcall-Every5", ARN: "arn:aws:events:us-west-2:123456789012:rule/Rollcall-Every5", Bus: "default",
			Schedule: "rate(5 minutes)", Enabled: true, Targets: []template.Target{{ID: "T", ARN: fn, Input: `{"sweep":true}`, MaxAttempts: -1}}},
		{LogicalID: "Launches", Name: "launches", ARN: "arn:aws:events:us-west-2:123456789012:rule/launches", Bus: "default", Enabled: true,
			Pattern: []byte(`{"detail":{"n":[{"numeric":["<",5]}]},"source":["aws.autoscaling"]}`),
			Targets: []template.Target{
				{ID: "Target0", ARN: fn, DeadLetterARN: sqs + "Rollcall-Dead", MaxAttempts: 3, MaxAge: time.Hour},
				{ID: "Target1", ARN: sqs + "join-check", MaxAttempts: -1, InputTransformer: &template.InputTransformer{
					Paths: map[string]string{"id": "$.detail.EC2InstanceId"}, Template: `{"instance": <id>}`}},
			}},
		{LogicalID: "OnBus", Name: "Rollcall-OnBus", ARN: "arn:aws:events:us-west-2:123456789012:rule/rollcall/Rollcall-OnBus", Bus: "rollcall",
			Pattern: []byte(`{"source":["rollcall"]}`), Enabled: true,
			Targets: []template.Target{{ID: "T", ARN: sqs + "results.fifo", MessageGroupID: "all", MaxAttempts: -1}}},
	}
	if d := cmp.Diff(want, got.Rules); d != "" {
		t.Errorf("rules (-want +got):\n%s", d)
	}
	wantSchedules := []template.Schedule{{LogicalID: "Daily", Name: "Rollcall-Daily", Group: "default", Enabled: true,
		ARN: "arn:aws:scheduler:us-west-2:123456789012:schedule/default/Rollcall-Daily", Expression: "cron(0 7 * * ? *)", Timezone: "Europe/Berlin",
		Target: template.Target{ARN: fn, RoleARN: "arn:aws:iam::123456789012:role/Rollcall-WatchRole", MaxAttempts: -1}}}
	if d := cmp.Diff(wantSchedules, got.Schedules); d != "" {
		t.Errorf("schedules (-want +got):\n%s", d)
	}
}

func TestTableAndRest(t *testing.T) {
	got := parse(t, template.Options{AccountID: "999999999999", Region: "eu-central-1", StackName: "Prod"})
	wantTable := template.Table{
		LogicalID: "State", Name: "Prod-State", ARN: "arn:aws:dynamodb:eu-central-1:999999999999:table/Prod-State",
		Keys:       []template.Key{{Name: "pk", Type: "HASH"}, {Name: "sk", Type: "RANGE"}},
		Attributes: map[string]string{"pk": "S", "sk": "S", "due": "N"}, OnDemand: true, TTLAttribute: "expires",
		GlobalIndexes: []template.Index{{Name: "by-due", Keys: []template.Key{{Name: "due", Type: "HASH"}}, Projection: "KEYS_ONLY"}},
	}
	if d := cmp.Diff([]template.Table{wantTable}, got.Tables); d != "" {
		t.Errorf("tables (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]template.Ignored{{LogicalID: "Logs", Type: "AWS::Logs::LogGroup"}}, got.Ignored); d != "" {
		t.Errorf("ignored (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]string{"TableName": "Prod-State", "SweepRule": "Prod-Every5"}, got.Outputs); d != "" {
		t.Errorf("outputs (-want +got):\n%s", d)
	}
	wantConfig := []template.EventInvokeConfig{{LogicalID: "WatchInvoke", FunctionName: "Prod-launch-watch", MaxRetries: 1,
		OnFailureARN: "arn:aws:sqs:eu-central-1:999999999999:Prod-Dead"}}
	if d := cmp.Diff(wantConfig, got.InvokeConfigs); d != "" {
		t.Errorf("invoke configs (-want +got):\n%s", d)
	}
}

func TestPolicy(t *testing.T) {
	got := parse(t, template.Options{}).Policy("Rollcall-launch-watch")
	want := []template.Statement{
		{Source: "WatchRole", SID: "Read", Effect: "Allow", Actions: []string{"ec2:Describe*"}, Resources: []string{"*"}},
		{Source: "WatchPolicy", Effect: "Allow", Actions: []string{"sqs:SendMessage", "sqs:GetQueueUrl"}, Resources: []string{"arn:aws:sqs:us-west-2:123456789012:results.fifo"}},
		{Source: "WatchPolicy", Effect: "Allow", Actions: []string{"dynamodb:PutItem"}, Resources: []string{"arn:aws:dynamodb:us-west-2:123456789012:table/Rollcall-State"},
			Conditions: map[string]map[string][]string{"Bool": {"aws:SecureTransport": {"true"}}}},
		{Source: "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole", Effect: "Allow",
			Actions: []string{"logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"}, Resources: []string{"*"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestConditionOff(t *testing.T) {
	got := parse(t, template.Options{Parameters: map[string]string{"Sweep": "off"}})
	for _, r := range got.Rules {
		if r.LogicalID == "Every5" {
			t.Error("rule Every5 is there, want it left out by its condition")
		}
	}
	f, _ := got.Function("Rollcall-launch-watch")
	if _, ok := f.Environment["ROLLCALL_SWEEP"]; ok || f.Environment["ROLLCALL_QUIET"] != "yes" {
		t.Errorf("got %v, want ROLLCALL_QUIET and no ROLLCALL_SWEEP", f.Environment)
	}
}

// TestRefuses changes one place of the good template at a time.
func TestRefuses(t *testing.T) {
	for _, tt := range []struct{ name, old, new, id, path, reason string }{
		{"unknown intrinsic", `{"Ref": "Bus"}, "ROLLCALL_LEVEL"`, `{"Fn::ImportValue": "x"}, "ROLLCALL_LEVEL"`, "Watch", "Properties.Environment.Variables.ROLLCALL_BUS.Fn::ImportValue", "not understood"},
		{"missing reference", `"ROLLCALL_TABLE": {"Ref": "State"}`, `"ROLLCALL_TABLE": {"Ref": "Stat"}`, "Watch", "Properties.Environment.Variables.ROLLCALL_TABLE.Ref", `"Stat" is no resource`},
		{"missing reference in what is ignored", `{"Fn::GetAtt": ["Dead", "QueueName"]}`, `{"Fn::GetAtt": ["Deed", "QueueName"]}`, "Alarm", "Properties.Dimensions.0.Value.Fn::GetAtt", `"Deed" is no resource`},
		{"missing attribute", `{"Fn::GetAtt": ["Dead", "QueueName"]}`, `{"Fn::GetAtt": ["Dead", "Nam"]}`, "Alarm", "Properties.Dimensions.0.Value.Fn::GetAtt", `no attribute "Nam"`},
		{"missing in sub", `${AWS::StackName}-launch`, `${AWS::Stack}-launch`, "Watch", "Properties.FunctionName.Fn::Sub", "is no resource"},
		{"open sub", `${AWS::StackName}-launch`, `${AWS::StackName-launch`, "Watch", "Properties.FunctionName.Fn::Sub", "not closed"},
		{"missing depends on", `"DependsOn": ["WatchPolicy"`, `"DependsOn": ["Nope"`, "Watch", "DependsOn", "does not exist"},
		{"missing condition", `"Condition": "Sweeping"}`, `"Condition": "Nope"}`, "Quiet", "Conditions.Fn::Not.Condition", "does not exist"},
		{"reference to what is not created", `"Condition": "Sweeping", "Properties"`, `"Condition": "Quiet", "Properties"`, "SweepRule", "Outputs.Value.Ref", "not created"},
		{"unknown property", `"BatchSize": 500`, `"BatchSiz": 500`, "Mapping", "Properties", "BatchSiz"},
		{"wrong type", `"Handler": "bootstrap"`, `"Handler": ["bootstrap"]`, "Watch", "Properties.Handler", "cannot unmarshal"},
		{"no string in environment", `"ROLLCALL_LEVEL": 3`, `"ROLLCALL_LEVEL": [3]`, "Watch", "Properties.Environment.Variables.ROLLCALL_LEVEL", "must be a string"},
		{"dynamic reference", `"ROLLCALL_LEVEL": 3`, `"ROLLCALL_LEVEL": "{{resolve:secretsmanager:x}}"`, "Watch", "Properties.Environment.Variables.ROLLCALL_LEVEL", "dynamic"},
		{"unknown response type", `"ReportBatchItemFailures"`, `"Other"`, "Mapping", "Properties.FunctionResponseTypes", "not understood"},
		{"no window", `"MaximumBatchingWindowInSeconds": 60`, `"MaximumBatchingWindowInSeconds": 0`, "Mapping", "Properties.BatchSize", "batching window"},
		{"visibility below the function's timeout", `"VisibilityTimeout": 300`, `"VisibilityTimeout": 29`, "Delay", "Properties.VisibilityTimeout", "less than the timeout"},
		{"dead-letter queue of the other kind", `["DeadOrdered", "Arn"]`, `["Dead", "Arn"]`, "Results", "Properties.RedrivePolicy", "same kind"},
		{"no group for a FIFO target", `, "SqsParameters": {"MessageGroupId": "all"}`, ``, "OnBus", "Properties.Targets.SqsParameters.MessageGroupId", "must be set"},
		{"target that the stage cannot reach", `"Id": "T", "Arn": {"Fn::GetAtt": ["Results", "Arn"]}`, `"Id": "T", "Arn": "arn:aws:sns:us-west-2:1:t"`, "OnBus", "Properties.Targets.Arn", "cannot deliver"},
		{"bus elsewhere", `"EventBusName": {"Ref": "Bus"}`, `"EventBusName": "other"`, "OnBus", "Properties.EventBusName", `bus "other"`},
		{"unknown managed policy", `service-role/AWSLambdaBasicExecutionRole`, `AdministratorAccess`, "WatchRole", "Properties.ManagedPolicyArns", "not known"},
		{"policy of another role", `"Roles": [{"Ref": "WatchRole"}]`, `"Roles": ["other"]`, "WatchPolicy", "Properties.Roles", "not in the template"},
		{"unknown part of a statement", `"Effect": "Allow", "Action": "ec2:Describe*"`, `"Effekt": "Allow", "Action": "ec2:Describe*"`, "WatchRole", "Properties", "Effekt"},
		{"undefined key", `{"AttributeName": "due", "AttributeType": "N"}`, `{"AttributeName": "dew", "AttributeType": "N"}`, "State", "Properties.AttributeDefinitions", `"due"`},
		{"circle", `"QueueName": "join-check"`, `"QueueName": {"Ref": "Delay"}`, "Delay", "Properties.QueueName.Ref", "refers to itself"},
		{"state", `"State": "ENABLED"`, `"State": "MAYBE"`, "Launches", "Properties.State", "not understood"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := string(read(t))
			changed := strings.Replace(source, tt.old, tt.new, 1)
			if changed == source {
				t.Fatalf("the template has no %q", tt.old)
			}
			_, err := template.Parse([]byte(changed), template.Options{})
			var e *template.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want *template.Error", err)
			}
			if e.LogicalID != tt.id || e.Path != tt.path || !strings.Contains(e.Reason, tt.reason) {
				t.Errorf("got %q at %q: %q; want %q at %q with %q", e.LogicalID, e.Path, e.Reason, tt.id, tt.path, tt.reason)
			}
		})
	}
}

func TestRefusesParameters(t *testing.T) {
	if _, err := template.Parse(read(t), template.Options{Parameters: map[string]string{"Nope": "x"}}); err == nil {
		t.Error("got no error for an unknown parameter")
	}
	for _, source := range []string{``, `{}`, `[]`, `{"Resources":{"A":{"Properties":{}}}}`, `{"Resources":{"A":{"Type":"X"}}} x`} {
		if _, err := template.Parse([]byte(source), template.Options{}); err == nil {
			t.Errorf("Parse(%q): got no error", source)
		}
	}
}

func FuzzParse(f *testing.F) {
	b, err := os.ReadFile("testdata/Rollcall.template.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"Resources":{"A":{"Type":"AWS::SQS::Queue","Properties":{"QueueName":{"Fn::Sub":["${x}",{"x":{"Fn::Select":["0",["a"]]}}]}}}}}`))
	f.Fuzz(func(t *testing.T, source []byte) {
		got, err := template.Parse(source, template.Options{})
		if err == nil && got == nil {
			t.Fatal("neither a template nor an error")
		}
	})
}
