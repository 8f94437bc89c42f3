package referee

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"
)

func TestEndpoints(t *testing.T) {
	for text, want := range map[string]Endpoint{
		"moto":                                {Name: "moto", Local: true},
		"aws":                                 {Name: "aws"},
		"https://127.0.0.1:9297":              {Name: "127.0.0.1", URL: "https://127.0.0.1:9297", Local: true},
		"http://[::1]:5000":                   {Name: "::1", URL: "http://[::1]:5000", Local: true},
		"http://localhost:4566/":              {Name: "localhost", URL: "http://localhost:4566/", Local: true},
		"https://ec2.eu-west-1.amazonaws.com": {Name: "ec2.eu-west-1.amazonaws.com", URL: "https://ec2.eu-west-1.amazonaws.com"},
		"https://192.168.1.7:5000":            {Name: "192.168.1.7", URL: "https://192.168.1.7:5000"},
		"http://127.0.0.1.example.com":        {Name: "127.0.0.1.example.com", URL: "http://127.0.0.1.example.com"},
	} {
		got, err := ParseEndpoint(text)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "127.0.0.1:5000", "ftp://127.0.0.1", "amazon", "https://"} {
		if got, err := ParseEndpoint(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

func TestWhereQuestionsMayWrite(t *testing.T) {
	type answer struct{ May, Refused bool }
	for _, test := range []struct {
		local, wanted bool
		want          answer
	}{
		{true, true, answer{May: true}}, {true, false, answer{}}, {false, false, answer{}}, {false, true, answer{Refused: true}},
	} {
		may, err := Endpoint{Name: "x", Local: test.local}.MayWrite(test.wanted)
		if diff := cmp.Diff(test.want, answer{may, err != nil}); diff != "" {
			t.Errorf("local %t, wanted %t (-want +got):\n%s", test.local, test.wanted, diff)
		}
	}
}

// TestOnlyReadsAreSent: what is no read never leaves a client.
func TestOnlyReadsAreSent(t *testing.T) {
	sent := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { sent++; w.WriteHeader(http.StatusBadRequest) }))
	defer server.Close()
	cfg := readOnly(aws.Config{
		Region: "us-west-2", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("AKIDTEST", "secret", ""),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	})
	_, remove := ec2.NewFromConfig(cfg).DeleteNetworkInterface(t.Context(), &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-1"), DryRun: aws.Bool(true)})
	_, receive := sqs.NewFromConfig(cfg).ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &server.URL})
	_, assume := sts.NewFromConfig(cfg).AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: aws.String("x"), RoleSessionName: aws.String("x")})
	for operation, err := range map[string]error{"DeleteNetworkInterface": remove, "ReceiveMessage": receive, "AssumeRole": assume} {
		var refused *WriteError
		if !errors.As(err, &refused) || refused.Operation != operation {
			t.Errorf("%s: got %v, want that it is not sent", operation, err)
		}
	}
	if sent > 0 {
		t.Errorf("%d requests were sent", sent)
	}
	if _, err := ec2.NewFromConfig(cfg).DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{}); err == nil || sent != 1 {
		t.Errorf("a read: %v, %d requests sent, want 1", err, sent)
	}
	for operation, want := range map[string]bool{"Getaway": false, "Describe": true, "DescribeVpcs": true, "ListClusters": true, "Listen": false, "PutItem": false, "RunInstances": false} {
		if reads(operation) != want {
			t.Errorf("reads(%s) = %t", operation, !want)
		}
	}
}
