package invoke

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"rollcall/tools/expect"
)

func client(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return New(aws.Config{
		Region: "eu-west-1", BaseEndpoint: aws.String(server.URL), HTTPClient: server.Client(),
		Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "TOKEN"),
	})
}

// The request is as the API reference has it, and so is what is read of the answer.
func TestInvoke(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != "POST" || r.URL.Path != "/2015-03-31/functions/rollcall-relay-prod/invocations" || string(body) != `{"a":1}` ||
			r.Header.Get("X-Amz-Invocation-Type") != "RequestResponse" || !strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/lambda/aws4_request") {
			t.Errorf("sent %s %s %q %v", r.Method, r.URL, body, r.Header)
		}
		io.WriteString(w, `{"b":2}`)
	})
	if got, err := c.Invoke(t.Context(), "rollcall-relay-prod", []byte(`{"a":1}`)); err != nil || string(got) != `{"b":2}` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestFailures(t *testing.T) {
	for name, x := range map[string]struct {
		status       int
		header, body string
		want         func(error) bool
		calls        int
	}{
		"no function": {404, "ResourceNotFoundException:http://internal", `{"Type":"User","Message":"Function not found: x"}`, func(err error) bool { return errors.Is(err, ErrNone) }, 1},
		"denied": {403, "AccessDeniedException", `{"Message":"no"}`, func(err error) bool {
			var op *smithy.OperationError
			var api smithy.APIError
			return errors.As(err, &op) && op.Service() == "Lambda" && errors.As(err, &api) && api.ErrorCode() == "AccessDeniedException"
		}, 1},
		"throttled, twice": {429, "TooManyRequestsException", `{"Type":"User","message":"Rate Exceeded."}`, func(err error) bool {
			var api smithy.APIError
			return errors.As(err, &api) && api.ErrorCode() == "TooManyRequestsException"
		}, 2},
		"out of time": {200, "", `{"errorMessage":"2026-11-23T18:00:00Z x Task timed out after 10.00 seconds"}`, func(err error) bool {
			var f *FunctionError
			return errors.As(err, &f) && f.Function == "f" && strings.HasSuffix(f.Message, "after 10.00 seconds")
		}, 1},
		"without a word": {200, "", `null`, func(err error) bool {
			var f *FunctionError
			return errors.As(err, &f) && f.Message == "without a word"
		}, 1},
	} {
		calls := 0
		c := client(t, func(w http.ResponseWriter, _ *http.Request) {
			calls++
			if x.status == 200 {
				w.Header().Set("X-Amz-Function-Error", "Unhandled")
			}
			w.Header().Set("X-Amzn-ErrorType", x.header)
			w.WriteHeader(x.status)
			io.WriteString(w, x.body)
		})
		if _, err := c.Invoke(t.Context(), "f", nil); !x.want(err) || calls != x.calls {
			t.Errorf("%s: %v, after %d calls", name, err, calls)
		}
	}
}

func TestHost(t *testing.T) {
	for region, want := range map[string]string{"eu-west-1": "https://lambda.eu-west-1.amazonaws.com", "cn-north-1": "https://lambda.cn-north-1.amazonaws.com.cn"} {
		expect.Equal(t, "got", New(aws.Config{Region: region}).host(), want)
	}
}
