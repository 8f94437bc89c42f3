package s3

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"rollcall/stage/platform/template"
)

// TestObjects holds the answers of the API reference: PutObject, GetObject, HeadObject,
// HeadBucket, ListObjectsV2, and "Error responses".
func TestObjects(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	s := New([]template.S3Bucket{{Name: "b", ExpireDays: 30, Encryption: "AES256"}}, "111122223333", "us-west-2", func() time.Time { return now })
	s.AddForeign("theirs")
	ask := func(method, path, body string, headers ...string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		var said struct{ Code string }
		if xml.Unmarshal(w.Body.Bytes(), &said) == nil && said.Code != "" {
			return w.Code, said.Code
		}
		return w.Code, w.Body.String()
	}
	for _, step := range []struct {
		what, method, path, body string
		headers                  []string
		status                   int
		says                     string
	}{
		{"a bucket that is not there", "PUT", "/c/k", "1", nil, 404, "NoSuchBucket"},
		{"none yet", "GET", "/b/a/k", "", nil, 404, "NoSuchKey"},
		{"made", "PUT", "/b/a/k", "1", []string{"If-None-Match", "*"}, 200, ""},
		{"not replaced", "PUT", "/b/a/k", "2", []string{"If-None-Match", "*"}, 412, "PreconditionFailed"},
		{"another condition", "PUT", "/b/a/k", "2", []string{"If-None-Match", `"etag"`}, 501, "NotImplemented"},
		{"a wrong digest", "PUT", "/b/a/k", "2", []string{"Content-MD5", "AAAA"}, 400, "BadDigest"},
		{"as it was made", "GET", "/b/a/k", "", nil, 200, "1"},
		{"replaced without a condition", "PUT", "/b/a/k", "3", nil, 200, ""},
		{"as it was replaced", "GET", "/b/a/k", "", nil, 200, "3"},
		{"too large", "PUT", "/b/large", strings.Repeat("x", mostBody+1), nil, 400, "EntityTooLarge"},
		{"head", "HEAD", "/b/a/k", "", nil, 200, ""},
		{"head of none", "HEAD", "/b/none", "", nil, 404, ""},
		{"head of the bucket", "HEAD", "/b", "", nil, 200, ""},
		{"head of no bucket", "HEAD", "/c", "", nil, 404, ""},
		{"a bucket without its region", "PUT", "/mine", "", nil, 400, "IllegalLocationConstraintException"},
		{"a bucket", "PUT", "/mine", "<CreateBucketConfiguration><LocationConstraint>us-west-2</LocationConstraint></CreateBucketConfiguration>", nil, 200, ""},
		{"the same bucket", "PUT", "/mine", "<CreateBucketConfiguration><LocationConstraint>us-west-2</LocationConstraint></CreateBucketConfiguration>", nil, 409, "BucketAlreadyOwnedByYou"},
		{"a name that is taken", "PUT", "/theirs", "<CreateBucketConfiguration><LocationConstraint>us-west-2</LocationConstraint></CreateBucketConfiguration>", nil, 409, "BucketAlreadyExists"},
		{"a bucket of others", "PUT", "/theirs/k", "1", nil, 403, "AccessDenied"},
		{"another owner than expected", "PUT", "/mine/k", "1", []string{"X-Amz-Expected-Bucket-Owner", "444455556666"}, 403, "AccessDenied"},
		{"a wrong sum", "PUT", "/mine/k", "1", []string{"X-Amz-Checksum-Sha256", "AAAA"}, 400, "BadDigest"},
		{"a policy without a sum", "PUT", "/mine?policy", "{}", nil, 400, "InvalidRequest"},
		{"a policy", "PUT", "/mine?policy", "{}", []string{"Content-MD5", "mZFLkyvTelC5g8XnyQrpOw=="}, 200, ""},
		{"an object", "PUT", "/mine/k", "1", []string{"X-Amz-Expected-Bucket-Owner", "111122223333"}, 200, ""},
		{"not empty", "DELETE", "/mine", "", nil, 409, "BucketNotEmpty"},
		{"an object deleted", "DELETE", "/mine/k", "", nil, 204, ""},
		{"a bucket deleted", "DELETE", "/mine", "", nil, 204, ""},
	} {
		if status, says := ask(step.method, step.path, step.body, step.headers...); status != step.status || says != step.says {
			t.Errorf("%s: %d %q, want %d %q", step.what, status, says, step.status, step.says)
		}
	}
	if status, says := ask("GET", "/b?list-type=2&prefix=a/", ""); status != http.StatusOK || !strings.Contains(says, "<Key>a/k</Key>") || !strings.Contains(says, "<KeyCount>1</KeyCount>") {
		t.Errorf("the list: %d %s", status, says)
	}
	// 30 days after 15:00 it is midnight of the next day until it goes.
	for at, want := range map[time.Time]int{
		time.Date(2026, 12, 20, 23, 59, 59, 0, time.UTC): 200, time.Date(2026, 12, 21, 0, 0, 0, 0, time.UTC): 404,
	} {
		kept := New([]template.S3Bucket{{Name: "b", ExpireDays: 30}}, "111122223333", "us-west-2", func() time.Time { return now })
		s = kept
		ask("PUT", "/b/k", "1")
		s.now = func() time.Time { return at }
		if status, _ := ask("GET", "/b/k", ""); status != want {
			t.Errorf("at %s: %d, want %d", at, status, want)
		}
	}
}
