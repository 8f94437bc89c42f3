package wire

import (
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// TestRawRequests sends what no SDK sends.
func TestRawRequests(t *testing.T) {
	s, _ := serve(t, Config{Principals: func(key string) (Principal, bool) { return Principal{}, key == "AKIDTEST" }})
	failing(s, aws.Config{}, errors.New("x"))
	auth := func(key, service string) string {
		return "AWS4-HMAC-SHA256 Credential=" + key + "/20261120/us-west-2/" + service + "/aws4_request, SignedHeaders=host, Signature=00"
	}
	const form = "application/x-www-form-urlencoded"
	tests := []struct {
		name, method, target, auth, contentType, amzTarget, body string
		status                                                   int
		want                                                     string
	}{
		{"EC2 without a signature", "POST", "/", "", form, "", "Action=DescribeRouteTables&Version=2016-11-15", 403, "<Response><Errors><Error><Code>MissingAuthenticationToken</Code>"},
		{"query without a signature", "POST", "/", "", form, "", "Action=GetRole&Version=2010-05-08", 403, "<Code>MissingAuthenticationToken</Code>"},
		{"JSON without a signature", "POST", "/", "", json11, "AWSEvents.PutEvents", "{}", 403, `"__type":"MissingAuthenticationToken"`},
		{"REST without a signature", "GET", "/clusters/x", "", "", "", "", 403, `"message":"Request is missing Authentication Token"`},
		{"another scheme", "POST", "/", "Bearer x", form, "", "Action=DescribeRouteTables&Version=2016-11-15", 403, "MissingAuthenticationToken"},
		{"unknown key at EC2", "POST", "/", auth("AKIDELSE", "ec2"), form, "", "Action=DescribeRouteTables&Version=2016-11-15", 401, "<Code>AuthFailure</Code>"},
		{"unknown key at STS", "POST", "/", auth("AKIDELSE", "sts"), form, "", "Action=GetCallerIdentity", 403, "<Code>InvalidClientTokenId</Code>"},
		{"unknown key at EKS", "GET", "/clusters/x", auth("AKIDELSE", "eks"), "", "", "", 403, "The security token included in the request is invalid."},
		{"unknown service", "POST", "/", auth("AKIDTEST", "polly"), form, "", "", 403, `the simulated AWS has no service &#34;polly&#34;`},
		{"unknown parameter", "POST", "/", auth("AKIDTEST", "ec2"), form, "", "Action=DescribeRouteTables&Filter.1.Nmae=x", 400, "<Code>UnknownParameter</Code><Message>The parameter Filter.1.Nmae is not recognized</Message>"},
		{"unknown action", "POST", "/", auth("AKIDTEST", "ec2"), form, "", "Action=DescribeTheWeather", 400, "<Code>InvalidAction</Code><Message>The action DescribeTheWeather is not valid for this web service</Message>"},
		{"no action", "POST", "/", auth("AKIDTEST", "ec2"), form, "", "", 400, "<Code>InvalidAction</Code>"},
		{"broken form", "POST", "/", auth("AKIDTEST", "ec2"), form, "", "Action=%zz", 400, "MalformedQueryString"},
		{"not a number", "POST", "/", auth("AKIDTEST", "ec2"), form, "", "Action=DescribeRouteTables&MaxResults=many", 400, "<Code>InvalidParameterValue</Code>"},
		{"unknown path", "GET", "/clusters/x/weather", auth("AKIDTEST", "eks"), "", "", "", 400, "is not one of the simulated AWS"},
		{"unknown query parameter", "GET", "/clusters/x?colour=red", auth("AKIDTEST", "eks"), "", "", "", 400, "The parameter colour is not recognized"},
		{"unknown target", "POST", "/", auth("AKIDTEST", "events"), json11, "AWSEvents.Dance", "{}", 400, `"__type":"UnknownOperationException"`},
		{"not JSON", "POST", "/", auth("AKIDTEST", "events"), json11, "AWSEvents.PutEvents", "<xml/>", 400, `"__type":"SerializationException"`},
		{"unknown member", "POST", "/", auth("AKIDTEST", "events"), json11, "AWSEvents.PutEvents", `{"Colour":1}`, 400, `unknown member`},
		{"GET query", "GET", "/?Action=DescribeRouteTables&Version=2016-11-15&MaxResults=x", auth("AKIDTEST", "ec2"), "", "", "", 400, "InvalidParameterValue"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := httptest.NewRequest(tt.method, tt.target, strings.NewReader(tt.body))
			for k, v := range map[string]string{"Authorization": tt.auth, "Content-Type": tt.contentType, "X-Amz-Target": tt.amzTarget} {
				if v != "" {
					req.Header.Set(k, v)
				}
			}
			rec := httptest.NewRecorder()
			s.ServeHTTP(rec, req)
			body, err := io.ReadAll(rec.Result().Body)
			if err != nil {
				t.Fatal(err)
			}
			if rec.Code != tt.status || !strings.Contains(string(body), tt.want) {
				t.Errorf("answer = %d %q, want %d with %q", rec.Code, body, tt.status, tt.want)
			}
		})
	}
}
