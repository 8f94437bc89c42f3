package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
)

func TestTable(t *testing.T) {
	tables := theTemplate(t).all("AWS::DynamoDB::Table")
	if len(tables) != 1 {
		t.Fatalf("%d tables, want 1", len(tables))
	}
	if got := tables[0].DeletionPolicy; got != "Retain" {
		t.Errorf("deletion policy: got %q, want Retain", got)
	}
	key := func(name, kind string) any { return map[string]any{"AttributeName": name, "KeyType": kind} }
	want := map[string]any{
		"KeySchema":   []any{key("pk", "HASH"), key("sk", "RANGE")},
		"BillingMode": "PAY_PER_REQUEST",
		"AttributeDefinitions": []any{
			map[string]any{"AttributeName": "pk", "AttributeType": "S"},
			map[string]any{"AttributeName": "sk", "AttributeType": "S"},
			map[string]any{"AttributeName": "open", "AttributeType": "S"},
			map[string]any{"AttributeName": "started", "AttributeType": "S"},
			map[string]any{"AttributeName": "day", "AttributeType": "S"},
			map[string]any{"AttributeName": "began", "AttributeType": "S"},
		},
		"GlobalSecondaryIndexes": []any{map[string]any{
			"IndexName":  "open",
			"KeySchema":  []any{key("open", "HASH"), key("started", "RANGE")},
			"Projection": map[string]any{"ProjectionType": "ALL"},
		}, map[string]any{
			"IndexName":  "ended",
			"KeySchema":  []any{key("day", "HASH"), key("began", "RANGE")},
			"Projection": map[string]any{"ProjectionType": "INCLUDE", "NonKeyAttributes": []any{"past", "expires", "format"}},
		}},
		"TimeToLiveSpecification":          map[string]any{"AttributeName": "expires", "Enabled": true},
		"PointInTimeRecoverySpecification": map[string]any{"PointInTimeRecoveryEnabled": true},
		"SSESpecification":                 map[string]any{"SSEEnabled": true},
	}
	got := maps.Clone(tables[0].Properties)
	delete(got, "Tags")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// CloudWatch alone, for this account's alarms, may publish, and over TLS only.
// SNS encrypts on its disks by itself; a key of our own is paid for by the month.
func TestAlarmTopic(t *testing.T) {
	tpl := theTemplate(t)
	if keys := tpl.all("AWS::KMS::Key"); len(keys) > 0 {
		t.Errorf("the stack makes the key %s", keys[0].id)
	}
	policies := slices.DeleteFunc(tpl.all("AWS::SNS::TopicPolicy"), func(r resource) bool { return strings.HasPrefix(r.id, "TargetTopic") })
	if len(policies) != 1 || len(tpl.all("AWS::SNS::Topic")) != 2 {
		t.Fatalf("%d policies of topics, want 1 beside that of the targets", len(policies))
	}
	secure, published := false, false
	for _, s := range several(get(policies[0].Properties, "PolicyDocument", "Statement")) {
		if get(s, "Effect") == "Deny" {
			secure = secure || get(s, "Condition", "Bool", "aws:SecureTransport") == "false"
			continue
		}
		published = true
		if get(s, "Principal", "Service") != "cloudwatch.amazonaws.com" || get(s, "Action") != "sns:Publish" || to(get(s, "Condition", "StringEquals", "aws:SourceAccount")) != "AWS::AccountId" {
			t.Errorf("the topic's policy allows %v", s)
		}
	}
	if !secure || !published {
		t.Errorf("TLS only: %t; CloudWatch may publish: %t", secure, published)
	}
}

// Nobody is named in the topic of the targets: the function's role lets it publish, over TLS
// only, and who hears of it is whom the setting subscribes.
func TestTargetTopic(t *testing.T) {
	tpl, err := synthesise(map[string]any{"slackChannel": channel, "targetEmail": "oncall@example.com, sre@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range tpl.all("AWS::SNS::TopicPolicy") {
		if !strings.HasPrefix(p.id, "TargetTopic") {
			continue
		}
		list := several(get(p.Properties, "PolicyDocument", "Statement"))
		if len(list) != 1 || get(list[0], "Effect") != "Deny" || get(list[0], "Condition", "Bool", "aws:SecureTransport") != "false" {
			t.Errorf("the topic's policy is %v", list)
		}
	}
	var subscribed []string
	for _, s := range tpl.all("AWS::SNS::Subscription") {
		if to(s.Properties["TopicArn"]) == "" || s.Properties["Protocol"] != "email" {
			t.Errorf("subscription %v", s.Properties)
		}
		subscribed = append(subscribed, s.Properties["Endpoint"].(string))
	}
	if diff := cmp.Diff([]string{"oncall@example.com", "sre@example.com"}, subscribed); diff != "" {
		t.Errorf("subscribed (-want +got):\n%s", diff)
	}
}

// TestNoTargets: without the setting there is nothing of them that costs.
func TestNoTargets(t *testing.T) {
	tpl, err := synthesise(map[string]any{"slackChannel": channel, "targets": "none"})
	if err != nil {
		t.Fatal(err)
	}
	for id, r := range tpl.Resources {
		if strings.Contains(id, "Target") || strings.Contains(fmt.Sprint(r.Properties), "notify-targets") {
			t.Errorf("%s (%s) is there", id, r.Type)
		}
	}
	if _, ok := tpl.Outputs["TargetTopicArn"]; ok {
		t.Error("a topic is among the outputs")
	}
}

func TestTheStackMakesEmptySecrets(t *testing.T) {
	secrets := theTemplate(t).all("AWS::SecretsManager::Secret")
	if len(secrets) != 2 {
		t.Fatalf("%d secrets, want the token and the signing secret", len(secrets))
	}
	for _, s := range secrets {
		for _, key := range []string{"SecretString", "GenerateSecretString"} {
			if s.Properties[key] != nil {
				t.Errorf("%s is made with %s", s.id, key)
			}
		}
		if s.DeletionPolicy != "RetainExceptOnCreate" {
			t.Errorf("%s is deleted with the stack", s.id)
		}
	}
}

func TestOperatorsOwnResources(t *testing.T) {
	const (
		secret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:slack-AbCdEf"
		signs  = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:signing-AbCdEf"
		key    = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
		topic  = "arn:aws:sns:eu-west-1:123456789012:oncall"
	)
	tpl, err := synthesise(map[string]any{
		"slackChannel": channel, "slackSecretArn": secret, "slackSigningSecretArn": signs, "slackSecretKmsKeyArn": key, "alarmTopicArn": topic,
		"stackName": "Second", "logRetentionDays": "90", "targets": "sns=" + topic,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"AWS::SecretsManager::Secret", "AWS::SNS::Topic", "AWS::KMS::Key"} {
		if made := tpl.all(kind); len(made) > 0 {
			t.Errorf("%s is made beside the operator's", made[0].id)
		}
	}
	for _, a := range tpl.all("AWS::CloudWatch::Alarm") {
		if got := flats(append(several(a.Properties["AlarmActions"]), several(a.Properties["InsufficientDataActions"])...)); !slices.Equal(got, []string{topic}) {
			t.Errorf("%s goes to %q, want %q", a.id, got, topic)
		}
	}
	if got := tpl.all("AWS::Events::EventBus")[0].Properties["Name"]; got != "second" {
		t.Errorf("bus: got %q, want %q", got, "second")
	}
	if got := tpl.all("AWS::Logs::LogGroup")[0].Properties["RetentionInDays"]; got != 90.0 {
		t.Errorf("log retention: got %v, want 90", got)
	}
	var found []string
	for _, role := range tpl.all("AWS::IAM::Role") {
		for _, s := range several(get(role.Properties, "Policies", 0, "PolicyDocument", "Statement")) {
			switch get(s, "Sid") {
			case "ReadSlackToken", "ReadSigningSecret":
				found = append(found, flat(get(s, "Resource")))
			case sidDecrypt, sidSigning:
				found = append(found, flat(get(s, "Action")), flat(get(s, "Resource")), flats(get(s, "Condition", "StringEquals", "kms:ViaService"))[0],
					flats(get(s, "Condition", "StringEquals", "kms:EncryptionContext:SecretARN"))[0])
			}
		}
	}
	if diff := cmp.Diff([]string{
		secret, "kms:Decrypt", key, "secretsmanager.eu-west-1.${AWS::URLSuffix}", secret,
		signs, "kms:Decrypt", key, "secretsmanager.eu-west-1.${AWS::URLSuffix}", signs,
	}, found); diff != "" {
		t.Errorf("permissions on the secret (-want +got):\n%s", diff)
	}
}

// TestTargetSecretsUnderACustomerKey: notify-targets alone may decrypt the secrets of its
// targets and no others with the key, and only through Secrets Manager.
func TestTargetSecretsUnderACustomerKey(t *testing.T) {
	const key = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
	for targets, want := range map[string][]string{
		"none": nil,
		"sns":  nil,
		"pagerduty=rollcall/pd,sns,webhook=hook": {
			"rollcall-notify-targets", "kms:Decrypt", key, "secretsmanager.${AWS::Region}.${AWS::URLSuffix}",
			"arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:rollcall/pd-?????? arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:hook-??????",
		},
	} {
		tpl, err := synthesise(map[string]any{"slackChannel": channel, "targets": targets, "targetSecretKmsKeyArn": key})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, f := range tpl.all("AWS::Lambda::Function") {
			role := tpl.Resources[flat(get(f.Properties, "Role", "Fn::GetAtt", 0))]
			for _, s := range several(get(role.Properties, "Policies", 0, "PolicyDocument", "Statement")) {
				if !strings.HasPrefix(fmt.Sprint(flats(get(s, "Action"))), "[kms:") {
					continue
				}
				found = append(found, flat(f.Properties["FunctionName"]), flat(get(s, "Action")), flat(get(s, "Resource")),
					strings.Join(flats(get(s, "Condition", "StringEquals", "kms:ViaService")), " "),
					strings.Join(flats(get(s, "Condition", "StringLike", "kms:EncryptionContext:SecretARN")), " "))
			}
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", targets, diff)
		}
	}
}

func TestAlarmEmail(t *testing.T) {
	tpl, err := synthesise(map[string]any{"slackChannel": channel, "alarmEmail": "oncall@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	subscriptions := tpl.all("AWS::SNS::Subscription")
	if len(subscriptions) != 1 || subscriptions[0].Properties["Endpoint"] != "oncall@example.com" {
		t.Errorf("got %v, want one to the address", subscriptions)
	}
}

func TestWrongSettingsFail(t *testing.T) {
	_, err := synthesise(map[string]any{"slackChannel": channel, "joinTime": "1s"})
	if want := "joinTime: 1s is outside 1m0s to 15m0s. How long after its launch"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestMissingPackagesFail(t *testing.T) {
	dir := t.TempDir()
	err := built(specs.All(), dir)
	for _, spec := range specs.All() {
		if want := filepath.Join(dir, spec.Name, "bootstrap") + " is missing: run `make build`"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestNoAccountOrRegionInTheTemplate(t *testing.T) {
	data, err := json.Marshal(theTemplate(t))
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`\d{12}|[a-z]{2}-(north|south|east|west|central)[a-z]*-\d`).Find(data); found != nil && string(found) != channel {
		t.Errorf("the template holds %q", found)
	}
}

// The local stage reads the committed template: it must be this one.
func TestCommittedTemplate(t *testing.T) {
	data, err := os.ReadFile("Rollcall.template.json")
	if err != nil {
		t.Fatal(err)
	}
	var committed template
	if err := json.Unmarshal(data, &committed); err != nil {
		t.Fatal(err)
	}
	tpl := theTemplate(t)
	for id, want := range tpl.Resources {
		if diff := cmp.Diff(unpacked(want), unpacked(committed.Resources[id])); diff != "" {
			t.Errorf("%s differs from what is synthesised; run `make synth` (-synthesised +committed):\n%s", id, diff)
		}
	}
	for id := range committed.Resources {
		if _, ok := tpl.Resources[id]; !ok {
			t.Errorf("%s is in the committed template only; run `make synth`", id)
		}
	}
	if diff := cmp.Diff(tpl.Outputs, committed.Outputs); diff != "" {
		t.Errorf("outputs; run `make synth` (-synthesised +committed):\n%s", diff)
	}
}

// unpacked is a resource without the hash of its package.
func unpacked(r resource) map[string]any {
	properties := map[string]any{}
	for key, value := range r.Properties {
		if key != "Code" {
			properties[key] = value
		}
	}
	return map[string]any{
		"Type": r.Type, "Properties": properties, "Metadata": fmt.Sprint(r.Metadata),
		"DependsOn": r.DependsOn, "DeletionPolicy": r.DeletionPolicy,
	}
}
