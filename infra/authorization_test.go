package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/authorization"
)

// everyChoice is every choice that puts something into a policy.
func everyChoice() map[string]any {
	return map[string]any{
		"slackChannel": channel, "clusters": "prod,dev", "accessClusters": "prod,dev",
		"cleanup": "prod=delete,dev=dry-run", "cleanupUntagged": "vpc-0a1b2c3d4e5f60718",
		"remedies": "prod=auto,dev=approve", "remedyRoles": "arn:aws:iam::111122223333:role/nodes", "remedyVpcs": "vpc-0a1b2c3d4e5f60718,vpc-0a1b2c3d4e5f60719",
		"slackSecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:slack-AbCdEf", "slackSecretKmsKeyArn": "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-0000-4000-8000-000000000000",
		"vpcSubnetIds": "subnet-0a1b2c3d4e5f60718", "vpcSecurityGroupIds": "sg-0a1b2c3d4e5f60718", "alarmEmail": "on-call@example.com", "decodeDenied": "on",
		"targets": "pagerduty=rollcall/pagerduty", "targetSecretKmsKeyArn": "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-0000-4000-8000-000000000001",
		"autoModeLogs": "/aws/vendedlogs/eks/*,auto-mode",
	}
}

// variants are the committed template and what other choices make of it.
func variants(t *testing.T) map[string]template {
	t.Helper()
	data, err := os.ReadFile("Rollcall.template.json")
	if err != nil {
		t.Fatal(err)
	}
	var committed template
	if err := json.Unmarshal(data, &committed); err != nil {
		t.Fatal(err)
	}
	out := map[string]template{"committed": committed}
	for name, more := range map[string]map[string]any{
		"everything":                             nil,
		"everything with a group of the cluster": {"kubernetesAccess": "group"},
		"everything, approved":                   {"remedies": "prod=approve,dev=approve"},
		"everything, with another account":       {"spokes": "222233334444/eu-west-1=payments", "externalId": "rollcall-7f3a"},
	} {
		given := everyChoice()
		maps.Copy(given, more)
		if out[name], err = synthesise(given); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return out
}

// TestPoliciesFitTheAuthorizationReference: each action exists, is granted on
// what it takes, and under keys that are in its requests. A key that is not
// there makes AWS refuse the call, or the condition hold for nothing.
func TestPoliciesFitTheAuthorizationReference(t *testing.T) {
	reference, err := authorization.Load()
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for name, tpl := range variants(t) {
		statements := statementsIn(t, tpl)
		if len(statements) < 100 {
			t.Fatalf("%s: only %d statements were found", name, len(statements))
		}
		for _, s := range statements {
			for _, a := range s.Actions {
				named[a] = true
			}
			for _, p := range reference.Check(s) {
				t.Errorf("%s: %s", name, p)
			}
		}
	}
	listed, err := os.ReadFile("authorization/actions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, line := range strings.Split(strings.TrimSpace(string(listed)), "\n") {
		if line[0] != '#' {
			want = append(want, line)
		}
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(named))); diff != "" {
		t.Errorf("authorization/actions.txt (-listed +in the templates); run make authorization after a change:\n%s", diff)
	}
}

// statementsIn are the statements of all policies of a template, wherever they
// stand, and the permissions of functions.
func statementsIn(t *testing.T, tpl template) []authorization.Statement {
	t.Helper()
	var out []authorization.Statement
	for _, id := range slices.Sorted(maps.Keys(tpl.Resources)) {
		r := tpl.Resources[id]
		if r.Type == "AWS::Lambda::Permission" {
			s := authorization.Statement{Where: id, OfResource: true, Actions: flats(r.Properties["Action"]), Conditions: map[string]map[string][]string{}}
			s.Resources = []string{arnOf(t, tpl, r.Properties["FunctionName"])}
			if kind, ok := r.Properties["FunctionUrlAuthType"].(string); ok {
				s.Conditions["StringEquals"] = map[string][]string{"lambda:FunctionUrlAuthType": {kind}}
			}
			out = append(out, s)
			continue
		}
		var walk func(node any, path string)
		walk = func(node any, path string) {
			switch v := node.(type) {
			case map[string]any:
				if effect, ok := v["Effect"]; ok && v["Action"] != nil {
					out = append(out, statementOf(t, tpl, v, fmt.Sprintf("%s%s %v %v", id, path, effect, v["Sid"]), r.Type != "AWS::IAM::Role"))
					return
				}
				for _, key := range []string{"NotAction", "NotResource", "NotPrincipal"} {
					if v[key] != nil {
						t.Errorf("%s%s: a statement with %s is not looked at here", id, path, key)
					}
				}
				for key, inner := range v {
					walk(inner, path+"/"+key)
				}
			case []any:
				for i, inner := range v {
					walk(inner, fmt.Sprintf("%s/%d", path, i))
				}
			}
		}
		walk(r.Properties, "")
	}
	return out
}

func statementOf(t *testing.T, tpl template, v map[string]any, where string, ofResource bool) authorization.Statement {
	t.Helper()
	s := authorization.Statement{Where: where, OfResource: ofResource, Deny: v["Effect"] == "Deny", Actions: flats(v["Action"]), Conditions: map[string]map[string][]string{}}
	for _, arn := range several(v["Resource"]) {
		s.Resources = append(s.Resources, arnOf(t, tpl, arn))
	}
	conditions, _ := v["Condition"].(map[string]any)
	for operator, keys := range conditions {
		s.Conditions[operator] = map[string][]string{}
		inner, _ := keys.(map[string]any)
		for key, values := range inner {
			s.Conditions[operator][key] = flats(values)
		}
	}
	return s
}

// arnOf is an ARN of a template as it will look, with the logical id for a name
// that CloudFormation makes up.
func arnOf(t *testing.T, tpl template, value any) string {
	t.Helper()
	arn := strings.NewReplacer("${AWS::Partition}", "aws", "${AWS::Region}", "us-west-2", "${AWS::AccountId}", "111122223333").Replace(flat(value))
	for {
		before, rest, found := strings.Cut(arn, "${")
		if !found {
			return arn
		}
		name, after, _ := strings.Cut(rest, "}")
		id, _, _ := strings.Cut(name, ".")
		const of = "us-west-2:111122223333:"
		known, ok := map[string]string{
			"AWS::S3::Bucket": "arn:aws:s3:::" + strings.ToLower(id),
			"AWS::SQS::Queue": "arn:aws:sqs:" + of + id, "AWS::SNS::Topic": "arn:aws:sns:" + of + id,
			"AWS::Logs::LogGroup": "arn:aws:logs:" + of + "log-group:" + id + ":*", "AWS::DynamoDB::Table": "arn:aws:dynamodb:" + of + "table/" + id,
			"AWS::Events::EventBus": "arn:aws:events:" + of + "event-bus/" + id, "AWS::Lambda::Function": "arn:aws:lambda:" + of + "function:" + id,
			"AWS::SecretsManager::Secret": "arn:aws:secretsmanager:" + of + "secret:" + id, "AWS::KMS::Key": "arn:aws:kms:" + of + "key/" + id,
			"AWS::IAM::Role": "arn:aws:iam::111122223333:role/" + id,
		}[tpl.Resources[id].Type]
		if !ok {
			t.Fatalf("how the ARN of %s (%s) looks is not known here", name, tpl.Resources[id].Type)
		}
		arn = before + known + after
	}
}
