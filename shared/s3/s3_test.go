package s3

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"rollcall/tools/expect"
)

func client(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return New(aws.Config{
		Region: "us-west-2", BaseEndpoint: aws.String(server.URL), HTTPClient: server.Client(), AppID: "rollcall",
		Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "TOKEN"),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = 3
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	})
}

const problem = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%</Code><Message>m</Message></Error>`

// TestCreate: the request is one that replaces nothing and is encrypted, and says what
// policies ask for; answers differ by their codes.
func TestCreate(t *testing.T) {
	for name, test := range map[string]struct {
		status   int
		code     string
		attempts int
		there    bool
		want     string
	}{
		"made":      {200, "", 1, false, ""},
		"there":     {412, "PreconditionFailed", 1, true, ""},
		"in work":   {409, "ConditionalRequestConflict", 1, false, "ConditionalRequestConflict"},
		"denied":    {403, "AccessDenied", 1, false, "AccessDenied"},
		"slow down": {503, "SlowDown", 3, false, "SlowDown"},
		"broken":    {500, "", 3, false, "UnknownError"},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			c := client(t, func(w http.ResponseWriter, r *http.Request) {
				n++
				body, err := io.ReadAll(r.Body)
				if err != nil || string(body) != "packed" || r.Method != "PUT" || r.URL.EscapedPath() != "/bucket/1/a%20b.tar.gz" {
					t.Errorf("%s %s %q %v", r.Method, r.URL.EscapedPath(), body, err)
				}
				for header, want := range map[string]string{
					"If-None-Match": "*", "X-Amz-Server-Side-Encryption": "AES256", "Content-Type": "application/gzip", "Content-Length": "6",
				} {
					expect.Equal(t, fmt.Sprint(header), r.Header.Get(header), want)
				}
				for _, part := range []string{"/us-west-2/s3/aws4_request", "if-none-match", "x-amz-content-sha256", "x-amz-server-side-encryption"} {
					if !strings.Contains(r.Header.Get("Authorization"), part) {
						t.Errorf("%q is not signed: %s", part, r.Header.Get("Authorization"))
					}
				}
				w.WriteHeader(test.status)
				if test.code != "" {
					_, _ = io.WriteString(w, strings.Replace(problem, "%", test.code, 1))
				}
			})
			err := c.Create(t.Context(), "bucket", "1/a b.tar.gz", "application/gzip", []byte("packed"))
			var api smithy.APIError
			code := ""
			if errors.As(err, &api) {
				code = api.ErrorCode()
			}
			if n != test.attempts || errors.Is(err, ErrThere) != test.there || code != test.want || err == nil != (test.status == 200) {
				t.Errorf("%d attempts, %v; want %d, %q", n, err, test.attempts, test.want)
			}
		})
	}
}

// TestEncryptedBy: the key's ARN is asked for, and is signed.
func TestEncryptedBy(t *testing.T) {
	const key = "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d"
	for name, want := range map[string][2]string{key: {"aws:kms", key}, "": {"AES256", ""}} {
		c := client(t, func(w http.ResponseWriter, r *http.Request) {
			got := [2]string{r.Header.Get("X-Amz-Server-Side-Encryption"), r.Header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id")}
			expect.Equal(t, "encryption", got, want)
			if name != "" && !strings.Contains(r.Header.Get("Authorization"), "x-amz-server-side-encryption-aws-kms-key-id") {
				t.Errorf("the key is not signed: %s", r.Header.Get("Authorization"))
			}
		})
		if err := c.EncryptedBy(name).Create(t.Context(), "bucket", "a", "text/plain", []byte("x")); err != nil {
			t.Error(err)
		}
	}
}

// TestGet: what is not there and what is too large differ from what is refused.
func TestGet(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		is     error
		code   string
	}{
		"there":     {200, "12345678", nil, ""},
		"too large": {200, "123456789", ErrTooLarge, ""},
		"gone":      {404, strings.Replace(problem, "%", "NoSuchKey", 1), ErrNone, ""},
		"no bucket": {404, strings.Replace(problem, "%", "NoSuchBucket", 1), ErrNone, ""},
		"denied":    {403, strings.Replace(problem, "%", "AccessDenied", 1), nil, "AccessDenied"},
	} {
		c := client(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != "GET" || r.URL.Path != "/bucket/key" {
				t.Errorf("%s: %s %s", name, r.Method, r.URL)
			}
			w.WriteHeader(test.status)
			_, _ = io.WriteString(w, test.body)
		})
		body, err := c.Get(t.Context(), "bucket", "key", 8)
		var api smithy.APIError
		switch {
		case test.is != nil && !errors.Is(err, test.is),
			test.code != "" && (!errors.As(err, &api) || api.ErrorCode() != test.code),
			test.is == nil && test.code == "" && (err != nil || string(body) != test.body):
			t.Errorf("%s: %q, %v", name, body, err)
		}
	}
}

// TestAddress: where there is no endpoint of one's own each bucket has its host.
func TestAddress(t *testing.T) {
	for region, want := range map[string]string{
		"eu-west-1": "https://b.s3.eu-west-1.amazonaws.com/1/2.tar.gz", "cn-north-1": "https://b.s3.cn-north-1.amazonaws.com.cn/1/2.tar.gz",
	} {
		expect.Equal(t, "got", New(aws.Config{Region: region}).address("b", "1/2.tar.gz"), want)
	}
}
