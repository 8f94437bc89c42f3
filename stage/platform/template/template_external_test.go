package template_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/stage/platform/template"
)

func TestAllows(t *testing.T) {
	allow := func(action, resource string) template.Statement {
		return template.Statement{Effect: "Allow", Actions: []string{action}, Resources: []string{resource}}
	}
	when := func(operator, key string, values ...string) []template.Statement {
		s := allow("ec2:DeleteNetworkInterface", "*")
		s.Conditions = map[string]map[string][]string{operator: {key: values}}
		return []template.Statement{s}
	}
	const tag = "aws:ResourceTag/cluster"
	type context map[string][]string
	for _, tt := range []struct {
		name             string
		statements       []template.Statement
		action, resource string
		context          context
		want             bool
	}{
		{"nothing", nil, "ec2:X", "*", nil, false},
		{"action", []template.Statement{allow("ec2:DescribeSubnets", "*")}, "ec2:DescribeSubnets", "*", nil, true},
		{"action ignores case", []template.Statement{allow("EC2:describesubnets", "*")}, "ec2:DescribeSubnets", "*", nil, true},
		{"action wildcard", []template.Statement{allow("ec2:Describe*", "*")}, "ec2:DescribeSubnets", "*", nil, true},
		{"other action", []template.Statement{allow("ec2:Describe*", "*")}, "ec2:DeleteSubnet", "*", nil, false},
		{"resource", []template.Statement{allow("sqs:*", "arn:aws:sqs:*:*:results.fifo")}, "sqs:SendMessage", "arn:aws:sqs:us-west-2:1:results.fifo", nil, true},
		{"other resource", []template.Statement{allow("sqs:*", "arn:aws:sqs:*:*:results.fifo")}, "sqs:SendMessage", "arn:aws:sqs:us-west-2:1:dead", nil, false},
		{"resource keeps case", []template.Statement{allow("sqs:*", "arn:Q")}, "sqs:SendMessage", "arn:q", nil, false},
		{"question mark", []template.Statement{allow("sqs:*", "q?")}, "sqs:SendMessage", "q1", nil, true},
		{"question mark is one character", []template.Statement{allow("sqs:*", "q?")}, "sqs:SendMessage", "q", nil, false},
		{"star in the text", []template.Statement{allow("sqs:*", "*x")}, "sqs:SendMessage", "*ax", nil, true},
		{"not action", []template.Statement{{Effect: "Allow", NotActions: []string{"iam:*"}, Resources: []string{"*"}}}, "ec2:X", "*", nil, true},
		{"not action hit", []template.Statement{{Effect: "Allow", NotActions: []string{"iam:*"}, Resources: []string{"*"}}}, "iam:X", "*", nil, false},
		{"not resource", []template.Statement{{Effect: "Allow", Actions: []string{"*"}, NotResources: []string{"a*"}}}, "s3:X", "ab", nil, false},
		{"deny wins", []template.Statement{allow("*", "*"), {Effect: "Deny", Actions: []string{"ec2:Delete*"}, Resources: []string{"*"}}}, "ec2:DeleteVpc", "*", nil, false},

		{"StringEquals", when("StringEquals", tag, "prod", "dev"), "ec2:DeleteNetworkInterface", "*", context{tag: {"dev"}}, true},
		{"StringEquals, key in other case", when("StringEquals", tag, "dev"), "ec2:DeleteNetworkInterface", "*", context{"AWS:resourcetag/CLUSTER": {"dev"}}, true},
		{"StringEquals other", when("StringEquals", tag, "prod"), "ec2:DeleteNetworkInterface", "*", context{tag: {"dev"}}, false},
		{"StringEquals absent", when("StringEquals", tag, "prod"), "ec2:DeleteNetworkInterface", "*", nil, false},
		{"StringEqualsIfExists absent", when("StringEqualsIfExists", tag, "prod"), "ec2:DeleteNetworkInterface", "*", nil, true},
		{"StringNotEquals absent", when("StringNotEquals", tag, "prod"), "ec2:DeleteNetworkInterface", "*", nil, true},
		{"StringNotEquals hit", when("StringNotEquals", tag, "prod"), "ec2:DeleteNetworkInterface", "*", context{tag: {"prod"}}, false},
		{"StringLike", when("StringLike", tag, "pr*"), "ec2:DeleteNetworkInterface", "*", context{tag: {"prod"}}, true},
		{"StringNotLike", when("StringNotLike", tag, "pr*"), "ec2:DeleteNetworkInterface", "*", context{tag: {"prod"}}, false},
		{"StringEqualsIgnoreCase", when("StringEqualsIgnoreCase", tag, "PROD"), "ec2:DeleteNetworkInterface", "*", context{tag: {"prod"}}, true},
		{"Null false, there", when("Null", tag, "false"), "ec2:DeleteNetworkInterface", "*", context{tag: {"x"}}, true},
		{"Null false, absent", when("Null", tag, "false"), "ec2:DeleteNetworkInterface", "*", nil, false},
		{"Null true, absent", when("Null", tag, "true"), "ec2:DeleteNetworkInterface", "*", nil, true},
		{"Bool", when("Bool", "aws:SecureTransport", "true"), "ec2:DeleteNetworkInterface", "*", context{"aws:SecureTransport": {"TRUE"}}, true},
		{"Bool absent", when("Bool", "aws:SecureTransport", "true"), "ec2:DeleteNetworkInterface", "*", nil, false},
		{"ArnLike", when("ArnLike", "aws:SourceArn", "arn:aws:events:*:*:rule/a*"), "ec2:DeleteNetworkInterface", "*", context{"aws:SourceArn": {"arn:aws:events:r:1:rule/ab"}}, true},
		{"ArnLike does not reach over colons", when("ArnLike", "aws:SourceArn", "arn:aws:*:rule/a:x:y"), "ec2:DeleteNetworkInterface", "*", context{"aws:SourceArn": {"arn:aws:events:r:1:rule/a"}}, false},
		{"ArnNotEquals", when("ArnNotEquals", "aws:SourceArn", "arn:a:b:c:d:e"), "ec2:DeleteNetworkInterface", "*", context{"aws:SourceArn": {"arn:a:b:c:d:e"}}, false},
		{"NumericLessThan", when("NumericLessThan", "s3:max-keys", "10"), "ec2:DeleteNetworkInterface", "*", context{"s3:max-keys": {"9"}}, true},
		{"NumericGreaterThanEquals", when("NumericGreaterThanEquals", "k", "10"), "ec2:DeleteNetworkInterface", "*", context{"k": {"9"}}, false},
		{"NumericNotEquals", when("NumericNotEquals", "k", "10"), "ec2:DeleteNetworkInterface", "*", context{"k": {"10.0"}}, false},
		{"ForAllValues", when("ForAllValues:StringEquals", "aws:TagKeys", "a", "b"), "ec2:DeleteNetworkInterface", "*", context{"aws:TagKeys": {"a", "b"}}, true},
		{"ForAllValues one other", when("ForAllValues:StringEquals", "aws:TagKeys", "a", "b"), "ec2:DeleteNetworkInterface", "*", context{"aws:TagKeys": {"a", "c"}}, false},
		{"ForAllValues none", when("ForAllValues:StringEquals", "aws:TagKeys", "a"), "ec2:DeleteNetworkInterface", "*", nil, true},
		{"ForAnyValue", when("ForAnyValue:StringLike", "aws:TagKeys", "a*"), "ec2:DeleteNetworkInterface", "*", context{"aws:TagKeys": {"b", "ab"}}, true},
		{"ForAnyValue none", when("ForAnyValue:StringLike", "aws:TagKeys", "a*"), "ec2:DeleteNetworkInterface", "*", nil, false},
		{"variable", []template.Statement{allow("s3:*", "arn:aws:s3:::b/${aws:username}/*")}, "s3:GetObject", "arn:aws:s3:::b/ann/x", context{"aws:username": {"ann"}}, true},
		{"variable absent", []template.Statement{allow("s3:*", "arn:aws:s3:::b/${aws:username}/*")}, "s3:GetObject", "arn:aws:s3:::b//x", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := template.Allows(tt.statements, tt.action, tt.resource, tt.context)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestAllowsRefuses(t *testing.T) {
	for _, operator := range []string{"DateLessThan", "IpAddress", "BinaryEquals", "NotBool", "NumericNotLessThan", "ForAllValues:Null", "StringMatches"} {
		statements := []template.Statement{
			{Effect: "Allow", Actions: []string{"*"}, Resources: []string{"*"}},
			{Effect: "Deny", Actions: []string{"other:*"}, Resources: []string{"*"}, Conditions: map[string]map[string][]string{operator: {"k": {"1"}}}},
		}
		if got, err := template.Allows(statements, "ec2:X", "*", map[string][]string{"k": {"1"}}); err == nil {
			t.Errorf("operator %q: got %v, want an error", operator, got)
		}
	}
	if _, err := template.Allows([]template.Statement{{Effect: "Maybe", Actions: []string{"*"}, Resources: []string{"*"}}}, "a:b", "*", nil); err == nil {
		t.Error("effect Maybe: got no error")
	}
}

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
			"ROLLCALL_TABLE":             "Rollcall-State", "ROLLCALL_BUS": "rollcall", "ROLLCALL_LEVEL": "3",
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
		Enabled: true, MaximumConcurrency: 2, ReportFailures: true,
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

func TestRules(t *testing.T) {
	got := parse(t, template.Options{})
	fn := "arn:aws:lambda:us-west-2:123456789012:function:Rollcall-launch-watch"
	sqs := "arn:aws:sqs:us-west-2:123456789012:"
	want := []template.Rule{
		{LogicalID: "Every5", Name: "Rollcall-Every5", ARN: "arn:aws:events:us-west-2:123456789012:rule/Rollcall-Every5", Bus: "default",
			Schedule: "rate(5 minutes)", Enabled: true, Targets: []template.Target{{ID: "T", ARN: fn, MaxAttempts: -1}}},
		{LogicalID: "Launches", Name: "launches", ARN: "arn:aws:events:us-west-2:123456789012:rule/launches", Bus: "default", Enabled: true,
			Pattern: []byte(`{"detail":{"n":[{"anything-but":[5]}]},"source":["aws.autoscaling"]}`),
			Targets: []template.Target{
				{ID: "Target0", ARN: fn, DeadLetterARN: sqs + "Rollcall-Dead", MaxAttempts: 3, MaxAge: time.Hour},
				{ID: "Target1", ARN: sqs + "join-check", MaxAttempts: -1},
			}},
		{LogicalID: "OnBus", Name: "Rollcall-OnBus", ARN: "arn:aws:events:us-west-2:123456789012:rule/rollcall/Rollcall-OnBus", Bus: "rollcall",
			Pattern: []byte(`{"source":["rollcall"]}`), Enabled: true,
			Targets: []template.Target{{ID: "T", ARN: sqs + "join-check", MaxAttempts: -1}}},
	}
	if d := cmp.Diff(want, got.Rules); d != "" {
		t.Errorf("rules (-want +got):\n%s", d)
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
		{Source: "WatchRole", Effect: "Allow", Actions: []string{"sqs:SendMessage", "sqs:GetQueueUrl"}, Resources: []string{"arn:aws:sqs:us-west-2:123456789012:results.fifo"}},
		{Source: "WatchRole", Effect: "Allow", Actions: []string{"dynamodb:PutItem"}, Resources: []string{"arn:aws:dynamodb:us-west-2:123456789012:table/Rollcall-State"},
			Conditions: map[string]map[string][]string{"Bool": {"aws:SecureTransport": {"true"}}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
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
		{"missing depends on", `"DependsOn": ["WatchRole"`, `"DependsOn": ["Nope"`, "Watch", "DependsOn", "does not exist"},
		{"unknown property", `"BatchSize": 500`, `"BatchSiz": 500`, "Mapping", "Properties", "BatchSiz"},
		{"wrong type", `"Handler": "bootstrap"`, `"Handler": ["bootstrap"]`, "Watch", "Properties.Handler", "cannot unmarshal"},
		{"no string in environment", `"ROLLCALL_LEVEL": 3`, `"ROLLCALL_LEVEL": [3]`, "Watch", "Properties.Environment.Variables.ROLLCALL_LEVEL", "must be a string"},
		{"dynamic reference", `"ROLLCALL_LEVEL": 3`, `"ROLLCALL_LEVEL": "{{resolve:secretsmanager:x}}"`, "Watch", "Properties.Environment.Variables.ROLLCALL_LEVEL", "dynamic"},
		{"unknown response type", `"ReportBatchItemFailures"`, `"Other"`, "Mapping", "Properties.FunctionResponseTypes", "not understood"},
		{"no window", `"MaximumBatchingWindowInSeconds": 60`, `"MaximumBatchingWindowInSeconds": 0`, "Mapping", "Properties.BatchSize", "batching window"},
		{"visibility below the function's timeout", `"VisibilityTimeout": 300`, `"VisibilityTimeout": 29`, "Delay", "Properties.VisibilityTimeout", "less than the timeout"},
		{"dead-letter queue of the other kind", `["DeadOrdered", "Arn"]`, `["Dead", "Arn"]`, "Results", "Properties.RedrivePolicy", "same kind"},
		{"a FIFO target", `"Id": "T", "Arn": {"Fn::GetAtt": ["Delay", "Arn"]}`, `"Id": "T", "Arn": {"Fn::GetAtt": ["Results", "Arn"]}`, "OnBus", "Properties.Targets.Arn", "needs a message group"},
		{"an input of a target", `"Id": "T", "Arn": {"Fn::GetAtt": ["Delay", "Arn"]}`, `"Id": "T", "Input": "{}"`, "OnBus", "Properties", "Input"},
		{"a type that would give rights", `"AWS::SecretsManager::Secret"`, `"AWS::IAM::Policy"`, "Token", "Type", "not understood"},
		{"transforms", `"Resources": {`, `"Transform": "AWS::LanguageExtensions", "Resources": {`, "", "", "transforms are not understood"},
		{"target that the stage cannot reach", `"Id": "T", "Arn": {"Fn::GetAtt": ["Delay", "Arn"]}`, `"Id": "T", "Arn": "arn:aws:sns:us-west-2:1:t"`, "OnBus", "Properties.Targets.Arn", "cannot deliver"},
		{"bus elsewhere", `"EventBusName": {"Ref": "Bus"}`, `"EventBusName": "other"`, "OnBus", "Properties.EventBusName", `bus "other"`},
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
	f.Add([]byte(`{"Resources":{"A":{"Type":"AWS::SQS::Queue","Properties":{"QueueName":{"Fn::Sub":["${x}",{"x":{"Fn::Join":["",["a"]]}}]}}}}}`))
	f.Fuzz(func(t *testing.T, source []byte) {
		got, err := template.Parse(source, template.Options{})
		if err == nil && got == nil {
			t.Fatal("neither a template nor an error")
		}
	})
}

const withURL = `{"Resources":{
	"R":{"Type":"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Statement":[]}}},
	"F":{"Type":"AWS::Lambda::Function","Properties":{"Handler":"bootstrap","Runtime":"provided.al2023","Role":{"Fn::GetAtt":["R","Arn"]},"Code":{"ZipFile":"x"},"ReservedConcurrentExecutions":10}},
	"U":{"Type":"AWS::Lambda::Url","Properties":{"TargetFunctionArn":{"Fn::GetAtt":["F","Arn"]},"AuthType":"NONE","InvokeMode":"BUFFERED"}},
	"P":{"Type":"AWS::Lambda::Permission","Properties":{"FunctionName":{"Ref":"F"},"Action":"lambda:InvokeFunctionUrl","Principal":"*","FunctionUrlAuthType":"NONE"}},
	"Q":{"Type":"AWS::Lambda::Permission","Properties":{"FunctionName":{"Ref":"F"},"Action":"lambda:InvokeFunction","Principal":"*","InvokedViaFunctionUrl":true}}},
	"Outputs":{"Address":{"Value":{"Fn::GetAtt":["U","FunctionUrl"]}}}}`

func TestURLs(t *testing.T) {
	got, err := template.Parse([]byte(withURL), template.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const address = "https://u.lambda-url.us-west-2.on.aws/"
	want := []template.URL{{LogicalID: "U", FunctionName: "Rollcall-F", AuthType: "NONE", Address: address}}
	if diff := cmp.Diff(want, got.URLs); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	if got.Outputs["Address"] != address || got.Functions[0].ReservedConcurrency != 10 {
		t.Errorf("output %q, concurrency %d", got.Outputs["Address"], got.Functions[0].ReservedConcurrency)
	}
}

// TestUncallableURLs: Lambda would answer 403, and the stage would not.
func TestUncallableURLs(t *testing.T) {
	for _, test := range []struct{ name, old, new, says string }{
		{"no permission for the address", `"FunctionUrlAuthType":"NONE"`, `"FunctionUrlAuthType":"AWS_IAM"`, "lambda:InvokeFunctionUrl"},
		{"no permission for the function", `,"InvokedViaFunctionUrl":true`, ``, "lambda:InvokeFunction"},
		{"for somebody else", `"Action":"lambda:InvokeFunction","Principal":"*"`, `"Action":"lambda:InvokeFunction","Principal":"123456789012"`, "lambda:InvokeFunction"},
		{"of no function", `"TargetFunctionArn":{"Fn::GetAtt":["F","Arn"]}`, `"TargetFunctionArn":"arn:aws:lambda:us-west-2:123456789012:function:other"`, "other"},
		{"another way of signing in", `"AuthType":"NONE","InvokeMode"`, `"AuthType":"BASIC","InvokeMode"`, "BASIC"},
		{"in a stream", `"BUFFERED"`, `"RESPONSE_STREAM"`, "RESPONSE_STREAM"},
	} {
		source := strings.Replace(withURL, test.old, test.new, 1)
		if source == withURL || !json.Valid([]byte(source)) {
			t.Fatalf("%s: nothing was changed", test.name)
		}
		if _, err := template.Parse([]byte(source), template.Options{}); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.name, err, test.says)
		}
	}
}

func TestTheCommittedTemplateHasOneAddress(t *testing.T) {
	source, err := os.ReadFile("../../../infra/Rollcall.template.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := template.Parse(source, template.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.URLs) != 1 || got.URLs[0].FunctionName != "rollcall-slack-actions" || got.Outputs["SlackInteractivityUrl"] != got.URLs[0].Address {
		t.Errorf("addresses are %+v", got.URLs)
	}
}

// chooses is a template with one of all that several deployments differ by.
const chooses = `{"Parameters":{
	"Names":{"Type":"String","Default":"","AllowedPattern":"^([a-z]+(,[a-z]+)*|)$","MaxLength":20},
	"Days":{"Type":"Number","Default":3,"MinValue":1,"MaxValue":9},
	"On":{"Type":"String","Default":"off","AllowedValues":["on","off"]}},
	"Mappings":{"Times":{"on":{"Seconds":"60"},"off":{"Seconds":"0"}}},
	"Rules":{"Named":{"RuleCondition":{"Fn::Equals":[{"Ref":"On"},"on"]},"Assertions":[{"Assert":{"Fn::Not":[{"Fn::Equals":[{"Ref":"Names"},""]}]},"AssertDescription":"on needs Names"}]}},
	"Conditions":{
		"HasNames":{"Fn::Not":[{"Fn::Equals":[{"Ref":"Names"},""]}]},
		"Two":{"Fn::Not":[{"Fn::Equals":[{"Fn::Select":["1",{"Fn::Split":[",",{"Fn::Join":["",[{"Ref":"Names"},",-,-"]]}]}]},"-"]}]},
		"Both":{"Fn::And":[{"Condition":"HasNames"},{"Fn::Equals":[{"Ref":"On"},"on"]}]}},
	"Resources":{
		"Q":{"Type":"AWS::SQS::Queue","Properties":{"DelaySeconds":{"Fn::FindInMap":["Times",{"Ref":"On"},"Seconds"]},"QueueName":{"Fn::If":["HasNames","named",{"Ref":"AWS::NoValue"}]}}},
		"B":{"Type":"AWS::SQS::Queue","Condition":"Both"},
		"A":{"Type":"AWS::CloudWatch::Alarm","Properties":{"AlarmActions":[{"Fn::Select":["0",{"Fn::Split":[",",{"Ref":"Names"}]}]},{"Fn::If":["Two",{"Fn::Select":["1",{"Fn::Split":[",",{"Ref":"Names"}]}]},{"Ref":"AWS::NoValue"}]}]}}},
	"Outputs":{"B":{"Condition":"Both","Value":{"Ref":"B"}}}}`

func TestChooses(t *testing.T) {
	for _, test := range []struct {
		name       string
		parameters map[string]string
		queues     []string
		actions    []string
		outputs    int
		wrong      string
	}{
		{name: "defaults", queues: []string{"Rollcall-Q"}, actions: []string{""}},
		{name: "one name", parameters: map[string]string{"Names": "a"}, queues: []string{"named"}, actions: []string{"a"}},
		{name: "two, and on", parameters: map[string]string{"Names": "a,b", "On": "on"}, queues: []string{"Rollcall-B", "named"}, actions: []string{"a", "b"}, outputs: 1},
		{name: "a rule", parameters: map[string]string{"On": "on"}, wrong: "on needs Names"},
		{name: "no allowed value", parameters: map[string]string{"On": "yes"}, wrong: "not one of the allowed values"},
		{name: "a pattern", parameters: map[string]string{"Names": "a,B"}, wrong: "does not match"},
		{name: "too long", parameters: map[string]string{"Names": "aaaaaaaaaaaaaaaaaaaaa"}, wrong: "21 characters"},
		{name: "too large", parameters: map[string]string{"Days": "10"}, wrong: "too large"},
		{name: "no number", parameters: map[string]string{"Days": "x"}, wrong: "no number"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := template.Parse([]byte(chooses), template.Options{Parameters: test.parameters})
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Fatalf("%v, want %q", err, test.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var queues []string
			for _, q := range got.Queues {
				queues = append(queues, q.Name)
			}
			if diff := cmp.Diff(test.queues, queues); diff != "" {
				t.Errorf("queues (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.actions, got.Alarms[0].Actions); diff != "" || len(got.Outputs) != test.outputs {
				t.Errorf("actions (-want +got):\n%s\noutputs %v", diff, got.Outputs)
			}
		})
	}
}

// What refers to a resource that a condition leaves out is an error, as in CloudFormation.
func TestChoosesRefuses(t *testing.T) {
	for _, test := range []struct{ old, new, says string }{
		{`"Outputs":{"B":{"Condition":"Both",`, `"Outputs":{"B":{`, `"B" is no resource`},
		{`"Condition":"Both"}`, `"Condition":"Bath"}`, `"Bath" is no condition`},
		{`[{"Condition":"HasNames"},`, `[{"Condition":"Both"},`, "refers to itself"},
		{`{"Fn::Select":["1",{"Fn::Split":[",",{"Fn::Join":["",[{"Ref":"Names"},",-,-"]]}]}]},"-"]`, `{"Fn::Select":["9",{"Fn::Split":[",","a"]}]},"-"]`, "there is no item 9 of 1"},
		{`["Times",{"Ref":"On"},"Seconds"]`, `["Times",{"Ref":"On"},"Minutes"]`, "the mappings have no Times off Minutes"},
	} {
		source := strings.Replace(chooses, test.old, test.new, 1)
		if source == chooses {
			t.Fatalf("nothing is %s", test.old)
		}
		if _, err := template.Parse([]byte(source), template.Options{}); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.new, err, test.says)
		}
	}
}
