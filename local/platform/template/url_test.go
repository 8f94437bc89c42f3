package template_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/template"
)

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

// TestURLsThatNobodyCouldCall: Lambda would answer 403, and the stage would not.
func TestURLsThatNobodyCouldCall(t *testing.T) {
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
