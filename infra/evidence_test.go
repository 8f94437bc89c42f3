package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/shared/config"
)

// TestEvidence: the bucket is nobody's but the account's, what is in it is encrypted and
// goes, and only TLS reaches it. Detectors alone may write, and replace nothing.
func TestEvidence(t *testing.T) {
	tpl := theTemplate(t)
	buckets, policies := tpl.all("AWS::S3::Bucket"), tpl.all("AWS::S3::BucketPolicy")
	if len(buckets) != 1 || len(policies) != 1 {
		t.Fatalf("%d buckets, %d policies, want one of each", len(buckets), len(policies))
	}
	b := buckets[0]
	if b.DeletionPolicy != "Retain" {
		t.Errorf("deletion policy %q, want Retain", b.DeletionPolicy)
	}
	closed := map[string]any{"BlockPublicAcls": true, "BlockPublicPolicy": true, "IgnorePublicAcls": true, "RestrictPublicBuckets": true}
	for what, test := range map[string]struct{ want, got any }{
		"public access": {closed, b.Properties["PublicAccessBlockConfiguration"]},
		"encryption":    {"AES256", get(b.Properties, "BucketEncryption", "ServerSideEncryptionConfiguration", 0, "ServerSideEncryptionByDefault", "SSEAlgorithm")},
		"owner":         {"BucketOwnerEnforced", get(b.Properties, "OwnershipControls", "Rules", 0, "ObjectOwnership")},
		"lifecycle":     {30.0, get(b.Properties, "LifecycleConfiguration", "Rules", 0, "ExpirationInDays")},
		"status":        {"Enabled", get(b.Properties, "LifecycleConfiguration", "Rules", 0, "Status")},
		"policy":        {"Deny", get(policies[0].Properties, "PolicyDocument", "Statement", 0, "Effect")},
		"without TLS":   {map[string]any{"Bool": map[string]any{"aws:SecureTransport": "false"}}, get(policies[0].Properties, "PolicyDocument", "Statement", 0, "Condition")},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	var writers []string
	for _, of := range specs.All() {
		for _, s := range statementsOf(t, tpl, of) {
			if slices.Contains(s.Actions, "s3:PutObject") {
				writers = append(writers, of.Name)
			}
		}
	}
	slices.Sort(writers)
	if diff := cmp.Diff([]string{"join-check", "launch-watch", "nodegroup-watch", "spot-report", "subnet-watch", "sweep", "zone-watch"}, writers); diff != "" {
		t.Errorf("who may write (-want +got):\n%s", diff)
	}
}

// TestNoEvidence: without it there is neither a bucket nor a permission.
func TestNoEvidence(t *testing.T) {
	tpl, err := synthesise(map[string]any{"slackChannel": channel, "evidence": "off"})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(tpl.all("AWS::S3::Bucket")) + len(tpl.all("AWS::S3::BucketPolicy")); n > 0 {
		t.Errorf("%d resources of S3", n)
	}
	for _, of := range specs.All() {
		for _, s := range statementsOf(t, tpl, of) {
			if s.Sid == "KeepEvidence" {
				t.Errorf("%s may keep evidence", of.Name)
			}
		}
		if bucket := get(lambdaOf(t, tpl, of).Properties, "Environment", "Variables", string(config.EvidenceBucket)); bucket != nil && bucket != "" {
			t.Errorf("%s has the bucket %v", of.Name, bucket)
		}
	}
	if _, err := synthesise(map[string]any{"slackChannel": channel, "evidence": "0"}); err == nil {
		t.Error("0 days are no setting")
	}
}
