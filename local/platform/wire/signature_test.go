package wire

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
)

// secretOf is the secret of the only known key.
func secretOf(key string) (string, bool) { return "the secret", key == "AKIDTEST" }

// TestWrongSecret: the SDK's clients are believed with the right secret, and
// refused with another in the service's own words, before anybody looks.
func TestWrongSecret(t *testing.T) {
	reached := 0
	s, cfg := serve(t, Config{Secret: secretOf, Faults: FaultFunc(func(context.Context, *Call) error { reached++; return nil })})
	answerAll(t, s, cfg)
	for name, test := range map[string]struct {
		call   func(ctx context.Context, cfg aws.Config) error
		code   string
		status int
	}{
		"ec2": {func(ctx context.Context, cfg aws.Config) error {
			_, err := ec2.NewFromConfig(cfg).DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{})
			return err
		}, "AuthFailure", 401},
		"autoscaling": {func(ctx context.Context, cfg aws.Config) error {
			_, err := autoscaling.NewFromConfig(cfg).DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{})
			return err
		}, "SignatureDoesNotMatch", 403},
		"iam": {func(ctx context.Context, cfg aws.Config) error {
			_, err := iam.NewFromConfig(cfg).GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("x")})
			return err
		}, "SignatureDoesNotMatch", 403},
		"sts": {func(ctx context.Context, cfg aws.Config) error {
			_, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
			return err
		}, "SignatureDoesNotMatch", 403},
		"eks, with an escaped path and a query": {func(ctx context.Context, cfg aws.Config) error {
			_, err := eks.NewFromConfig(cfg).DescribeUpdate(ctx, &eks.DescribeUpdateInput{Name: aws.String("a b/c+d%ü"), UpdateId: aws.String("1"), NodegroupName: aws.String("e f&g=h+*~")})
			return err
		}, "InvalidSignatureException", 403},
		"eks, with a body": {func(ctx context.Context, cfg aws.Config) error {
			_, err := eks.NewFromConfig(cfg).CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{ClusterName: aws.String("prod"), PrincipalArn: aws.String("arn:aws:iam::1:role/x")})
			return err
		}, "InvalidSignatureException", 403},
		"sqs": {func(ctx context.Context, cfg aws.Config) error {
			_, err := sqs.NewFromConfig(cfg).DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: aws.String("http://x/y"), ReceiptHandle: aws.String("z")})
			return err
		}, "InvalidSignatureException", 400},
		"secretsmanager": {func(ctx context.Context, cfg aws.Config) error {
			_, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String("x")})
			return err
		}, "InvalidSignatureException", 400},
		"eventbridge": {func(ctx context.Context, cfg aws.Config) error {
			_, err := eventbridge.NewFromConfig(cfg).PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{{}}})
			return err
		}, "InvalidSignatureException", 400},
		"dynamodb": {func(ctx context.Context, cfg aws.Config) error {
			_, err := dynamodb.NewFromConfig(cfg).ListTables(ctx, &dynamodb.ListTablesInput{})
			return err
		}, "InvalidSignatureException", 400},
	} {
		t.Run(name, func(t *testing.T) {
			for _, secret := range []string{"the secret", "another"} {
				reached = 0
				cfg.Credentials = credentials.NewStaticCredentialsProvider("AKIDTEST", secret, "")
				err := test.call(t.Context(), cfg)
				if secret == "the secret" {
					if err != nil || reached != 1 {
						t.Errorf("the right secret: %v, reached %d times", err, reached)
					}
					continue
				}
				var api smithy.APIError
				var response *awshttp.ResponseError
				if !errors.As(err, &api) || !errors.As(err, &response) || api.ErrorCode() != test.code || response.HTTPStatusCode() != test.status || reached > 0 {
					t.Errorf("a wrong secret: %v, reached %d times, want %d %s", err, reached, test.status, test.code)
				}
			}
		})
	}
}

// TestWhatIsSigned: a signature counts for the request that it was made for.
func TestWhatIsSigned(t *testing.T) {
	s, cfg := serve(t, Config{Secret: secretOf})
	answerAll(t, s, cfg)
	const body = "Action=GetCallerIdentity&Version=2011-06-15"
	right := aws.Credentials{AccessKeyID: "AKIDTEST", SecretAccessKey: "the secret", SessionToken: "a session"}
	request := func(t *testing.T, digest string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "http://sts.example/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-Note", "  two   words ")
		r.Header.Set("X-Amz-Content-Sha256", digest)
		if err := signer.NewSigner().SignHTTP(t.Context(), right, r, digest, "sts", "us-west-2", time.Now()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, test := range map[string]struct {
		digest string
		change func(r *http.Request) *http.Request
		want   int
	}{
		"as it was":            {hexSHA256(body), func(r *http.Request) *http.Request { return r }, 200},
		"without a digest":     {unsignedPayload, func(r *http.Request) *http.Request { return r }, 200},
		"another host":         {hexSHA256(body), func(r *http.Request) *http.Request { r.Host = "iam.example"; return r }, 403},
		"another header":       {hexSHA256(body), func(r *http.Request) *http.Request { r.Header.Set("X-Note", "one word"); return r }, 403},
		"another date":         {hexSHA256(body), func(r *http.Request) *http.Request { r.Header.Set("X-Amz-Date", "20200101T000000Z"); return r }, 403},
		"another token":        {hexSHA256(body), func(r *http.Request) *http.Request { r.Header.Set("X-Amz-Security-Token", "x"); return r }, 403},
		"a query that was not": {hexSHA256(body), func(r *http.Request) *http.Request { r.URL.RawQuery = "a=b"; return r }, 403},
		"another path":         {hexSHA256(body), func(r *http.Request) *http.Request { r.URL.Path = "/x"; return r }, 403},
		"another body": {hexSHA256(body), func(r *http.Request) *http.Request {
			other := httptest.NewRequest(http.MethodPost, "http://sts.example/", strings.NewReader(body+"&"))
			other.Header = r.Header
			other.ContentLength = r.ContentLength
			return other
		}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, test.change(request(t, test.digest)))
			if w.Code != test.want || test.want == 403 && !strings.Contains(w.Body.String(), "<Code>SignatureDoesNotMatch</Code>") {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, test.want)
			}
		})
	}
	t.Run("in the query", func(t *testing.T) {
		for _, secret := range []string{"the secret", "another"} {
			r := httptest.NewRequest(http.MethodGet, "http://sts.example/?"+body+"&X-Amz-Expires=60", nil)
			c := right
			c.SecretAccessKey = secret
			link, _, err := signer.NewSigner().PresignHTTP(t.Context(), c, r, hexSHA256(""), "sts", "us-west-2", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, link, nil))
			if want := map[string]int{"the secret": 200, "another": 403}[secret]; w.Code != want {
				t.Errorf("%s: got %d %s, want %d", secret, w.Code, w.Body, want)
			}
		}
	})
}
