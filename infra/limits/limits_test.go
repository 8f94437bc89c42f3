package limits

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rollcall/tools/testfile"
)

func text(t *testing.T, resources map[string]any) []byte {
	t.Helper()
	return testfile.JSON(t, map[string]any{"Resources": resources})
}

func resourceOf(kind string, properties map[string]any) map[string]any {
	return map[string]any{"Type": kind, "Properties": properties}
}

// document is a policy of so many characters without white space.
func document(n int) map[string]any {
	frame := size(map[string]any{"Statement": ""})
	return map[string]any{"Statement": strings.Repeat("x", n-frame)}
}

func role(trust int, inline ...int) map[string]any {
	var policies []any
	for _, n := range inline {
		policies = append(policies, map[string]any{"PolicyName": "p", "PolicyDocument": document(n)})
	}
	return resourceOf("AWS::IAM::Role", map[string]any{"AssumeRolePolicyDocument": document(trust), "Policies": policies})
}

func many(kind string, n int) map[string]any {
	all := map[string]any{}
	for i := range n {
		all[fmt.Sprint("R", i)] = resourceOf(kind, nil)
	}
	return all
}

// Each limit holds to the last unit, and what is over it is said with the
// number and with what to do.
func TestCheck(t *testing.T) {
	managed := func(sizes ...int) map[string]any {
		all := map[string]any{"R": role(100)}
		for i, n := range sizes {
			all[fmt.Sprint("P", i)] = resourceOf("AWS::IAM::ManagedPolicy", map[string]any{"PolicyDocument": document(n), "Roles": []any{map[string]any{"Ref": "R"}}})
		}
		return all
	}
	environment := func(n int) map[string]any {
		frame := size(map[string]any{"A": ""})
		return map[string]any{"F": resourceOf("AWS::Lambda::Function", map[string]any{"Environment": map[string]any{"Variables": map[string]any{"A": strings.Repeat("x", n-frame)}}})}
	}
	padded := func(n int) map[string]any {
		frame := len(text(t, map[string]any{"R": resourceOf("X", map[string]any{"A": ""})}))
		return map[string]any{"R": resourceOf("X", map[string]any{"A": strings.Repeat("x", n-frame)})}
	}
	eleven := make([]int, 11)
	for i := range eleven {
		eleven[i] = 100
	}
	for _, test := range []struct {
		name     string
		fits     map[string]any
		over     map[string]any
		has      int
		most     int
		says, do string
	}{
		{"resources", many("AWS::SQS::Queue", 500), many("AWS::SQS::Queue", 501), 501, 500, "the stack: 501 resources", "second stack"},
		{"access entries", many("AWS::EKS::AccessEntry", 500), many("AWS::EKS::AccessEntry", 600), 600, 500, "the stack: 600 resources", "600 of them are access entries"},
		{"bytes", padded(1_000_000), padded(1_000_001), 1_000_001, 1_000_000, "the template: 1000001 bytes", "fewer clusters"},
		{"inline", map[string]any{"R": role(100, 10_000, 240)}, map[string]any{"R": role(100, 10_000, 241)}, 10_241, 10_240, "the inline policies of role R", "remedies"},
		{"trust", map[string]any{"R": role(2_048)}, map[string]any{"R": role(2_049)}, 2_049, 2_048, "the trust policy of role R", "report"},
		{"managed", managed(6_144), managed(6_145), 6_145, 6_144, "a managed policy of role R", "remedies"},
		{"managed policies", managed(eleven[:10]...), managed(eleven...), 11, 10, "role R: 11 managed policies", "remedies"},
		{"environment", environment(4_096), environment(4_097), 4_097, 4_096, "the environment of function F", "clusters=all"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := Check(text(t, test.fits)); err != nil {
				t.Errorf("what fits is refused: %v", err)
			}
			err := Check(text(t, test.over))
			var exceeded *Exceeded
			if !errors.As(err, &exceeded) || exceeded.Has != test.has || exceeded.Most != test.most {
				t.Fatalf("got %v, want %d over %d", err, test.has, test.most)
			}
			if !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), test.do) {
				t.Errorf("%q does not say %q and %q", err, test.says, test.do)
			}
		})
	}
}

func TestReferencesAreTakenForLong(t *testing.T) {
	l := longest{map[string]resource{
		"Queue":  {Type: "AWS::SQS::Queue", Properties: map[string]any{"QueueName": "rollcall-results.fifo"}},
		"Secret": {Type: "AWS::SecretsManager::Secret"},
		"Logs":   {Type: "AWS::Logs::LogGroup", Properties: map[string]any{"LogGroupName": "/aws/lambda/rollcall-report"}},
	}}
	arn := func(id string) any { return map[string]any{"Fn::GetAtt": []any{id, "Arn"}} }
	for _, test := range []struct {
		value any
		real  string
	}{
		{arn("Queue"), "arn:aws-us-gov:sqs:us-gov-west-1:123456789012:rollcall-results.fifo"},
		{map[string]any{"Ref": "Queue"}, "https://sqs.cn-northwest-1.amazonaws.com.cn/123456789012/rollcall-results.fifo"},
		{map[string]any{"Ref": "Secret"}, "arn:aws-us-gov:secretsmanager:us-gov-west-1:123456789012:secret:Secret-ABCDEFGHIJKL-AbCdEf"},
		{arn("Logs"), "arn:aws:logs:ap-southeast-1:123456789012:log-group:/aws/lambda/rollcall-report:*"},
		{map[string]any{"Fn::Join": []any{"", []any{"arn:", map[string]any{"Ref": "AWS::Partition"}, ":eks:", map[string]any{"Ref": "AWS::Region"}}}}, "arn:aws-us-gov:eks:us-gov-west-1"},
	} {
		if got := l.size(test.value); got < len(test.real)+2 {
			t.Errorf("%v is taken for %d characters, and may be %d", test.value, got, len(test.real)+2)
		}
	}
}

func TestTheEmptyTemplateIsRefused(t *testing.T) {
	if err := Check([]byte("Resources:")); err == nil || !strings.Contains(err.Error(), "read the template") {
		t.Errorf("got %v", err)
	}
	stray := map[string]any{"P": resourceOf("AWS::IAM::ManagedPolicy", map[string]any{"PolicyDocument": document(100), "Roles": []any{map[string]any{"Ref": "None"}}})}
	if err := Check(text(t, stray)); err == nil || !strings.Contains(err.Error(), `"None", which is no role`) {
		t.Errorf("got %v", err)
	}
}
