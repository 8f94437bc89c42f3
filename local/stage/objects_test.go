package stage

import (
	"maps"
	"net/http"
	"os"
	"slices"
	"testing"

	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
)

// TestWhoMayKeepEvidence: a detector makes encrypted objects where there is none, in its
// own bucket and by TLS; all else is refused.
func TestWhoMayKeepEvidence(t *testing.T) {
	source, err := os.ReadFile("../../infra/Rollcall.template.json")
	if err != nil {
		t.Fatal(err)
	}
	tpl, err := template.Parse(source, template.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tpl.S3Buckets) != 1 || !tpl.S3Buckets[0].Private || tpl.S3Buckets[0].ExpireDays != 30 || tpl.S3Buckets[0].Encryption != "AES256" {
		t.Fatalf("buckets %+v", tpl.S3Buckets)
	}
	own := tpl.S3Buckets[0].Name
	things := things{account: tpl.AccountID, region: tpl.Region, buckets: tpl.S3Buckets}
	create := http.Header{"If-None-Match": {"*"}, "X-Amz-Server-Side-Encryption": {"AES256"}}
	without := func(name string) http.Header {
		h := maps.Clone(create)
		delete(h, name)
		return h
	}
	for name, test := range map[string]struct {
		function, action, bucket string
		header                   http.Header
		plain                    bool
		want                     bool
	}{
		"a detector":     {"rollcall-join-check", "s3:PutObject", own, create, false, true},
		"report":         {"rollcall-report", "s3:PutObject", own, create, false, false},
		"another bucket": {"rollcall-join-check", "s3:PutObject", "other", create, false, false},
		"over another":   {"rollcall-join-check", "s3:PutObject", own, without("If-None-Match"), false, false},
		"not encrypted":  {"rollcall-join-check", "s3:PutObject", own, without("X-Amz-Server-Side-Encryption"), false, false},
		"by other keys":  {"rollcall-join-check", "s3:PutObject", own, http.Header{"If-None-Match": {"*"}, "X-Amz-Server-Side-Encryption": {"aws:kms"}}, false, false},
		"without TLS":    {"rollcall-join-check", "s3:PutObject", own, create, true, false},
		"what is there":  {"rollcall-join-check", "s3:GetObject", own, nil, false, false},
		"to delete":      {"rollcall-join-check", "s3:DeleteObject", own, nil, false, false},
	} {
		arn, keys, ok := things.object(wire.Object{Method: "PUT", Bucket: test.bucket, Key: "k", Header: test.header})
		if !ok {
			t.Fatal("an object is no resource")
		}
		if test.plain {
			keys["aws:SecureTransport"] = []string{"false"}
		}
		got, err := template.Allows(slices.Concat(tpl.Policy(test.function), things.bucketPolicy(test.bucket)), test.action, arn, keys)
		if err != nil || got != test.want {
			t.Errorf("%s: %t (%v), want %t", name, got, err, test.want)
		}
	}
}
