package awsconf

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// pace is limits in a time that passes only while somebody waits.
type pace struct {
	Limits
	now   time.Time
	began time.Time
}

func newPace(shares int) *pace {
	p := &pace{now: time.Unix(0, 0), began: time.Unix(0, 0)}
	p.Limits = Limits{Shares: shares, Now: func() time.Time { return p.now }, Sleep: func(ctx context.Context, d time.Duration) error {
		if ctx.Err() == nil {
			p.now = p.now.Add(d)
		}
		return ctx.Err()
	}}
	return p
}

// answers gives each call of a client the status.
type answers struct{ status, asked int }

func (a *answers) Do(req *http.Request) (*http.Response, error) {
	a.asked++
	body := `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult/></GetCallerIdentityResponse>`
	if a.status != 200 {
		body = deniedXML
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// took is how long n calls of a bucket take that has size, by shares of it.
func (p *pace) took(account, region, api string, size bucketSize, n int) time.Duration {
	began := p.now
	for range n {
		now := p.now
		if d := p.of(requestBucket{account, region, api}, size).ReserveN(now, 1).DelayFrom(now); d > 0 {
			p.now = p.now.Add(d)
		}
	}
	return p.now.Sub(began)
}

// A bucket is an account's in a region, for one API: who has emptied it waits as long as
// it takes to fill, and others do not.
func TestBucketsAreApart(t *testing.T) {
	p := newPace(1)
	ec2 := bucketSize{100, 20}
	if got := p.took("1", "a", "EC2:DescribeSubnets", ec2, 100); got != 0 {
		t.Errorf("100 at once take %s", got)
	}
	if got := p.took("1", "a", "EC2:DescribeSubnets", ec2, 40); got != 2*time.Second {
		t.Errorf("40 more take %s, want 2s", got)
	}
	for _, other := range [][3]string{{"2", "a", "EC2:DescribeSubnets"}, {"1", "b", "EC2:DescribeSubnets"}, {"1", "a", "EC2:DescribeVpcs"}} {
		if got := p.took(other[0], other[1], other[2], ec2, 100); got != 0 {
			t.Errorf("%q wait %s for another's bucket", other, got)
		}
	}
}

// Four at once together stay within the bucket.
func TestSharesOfABucket(t *testing.T) {
	for name, test := range map[string]struct {
		size bucketSize
		n    int
		want time.Duration
	}{
		"EC2":        {bucketSize{100, 20}, 35, 2 * time.Second},
		"CloudTrail": {bucketSize{2, 2}, 3, 4 * time.Second},
	} {
		if got := newPace(4).took("1", "a", "x", test.size, test.n); got != test.want {
			t.Errorf("%s: %d calls of one in four take %s, want %s", name, test.n, got, test.want)
		}
	}
}

func TestSizes(t *testing.T) {
	for name, want := range map[[2]string]bucketSize{
		{"EC2", "DescribeInstances"}: {100, 20}, {"EC2", "SearchTransitGatewayRoutes"}: {100, 20}, {"EC2", "GetConsoleOutput"}: {100, 20}, {"EC2", "CreateRoute"}: {50, 5},
		{"CloudTrail", "LookupEvents"}: {2, 2}, {"STS", "AssumeRole"}: {600, 600}, {"EKS", "DescribeCluster"}: {100, 20}, {"Auto Scaling", "DescribeAutoScalingGroups"}: {100, 20},
		{"DynamoDB", "Query"}: {}, {"SQS", "SendMessage"}: {}, {"", ""}: {},
	} {
		_, got, ok := sizeOf(name[0], name[1])
		if got != want || ok != (want != bucketSize{}) {
			t.Errorf("%q: %+v, %t, want %+v", name, got, ok, want)
		}
	}
	for service, apart := range map[string]bool{"EC2": true, "EKS": true, "Auto Scaling": false, "CloudTrail": false} {
		a, _, _ := sizeOf(service, "DescribeA")
		b, _, _ := sizeOf(service, "DescribeB")
		if (a != b) != apart {
			t.Errorf("%s has a bucket for each of its APIs: %t, want %t", service, a != b, apart)
		}
	}
}

// What the SDK logs stands in the function's own log, at its finest level.
func TestSDKLog(t *testing.T) {
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg := From(aws.Config{}, log, &Calls{})
	cfg.Logger.Logf("WARN", "closed %d", 1)
	if got := out.String(); !strings.Contains(got, "level=DEBUG") || !strings.Contains(got, `kind=WARN text="closed 1"`) {
		t.Errorf("logged %q", got)
	}
}

// The SDK's own clients are held to the limits, by account; a throttle makes the next call
// of that account wait, and of no other.
func TestClientsKeepToLimits(t *testing.T) {
	p := newPace(600) // one call at once, one a second
	service := &answers{status: 200}
	client := func(account string) *sts.Client {
		return sts.NewFromConfig(p.Client(aws.Config{
			Region: "us-west-2", HTTPClient: service, Credentials: credentials.NewStaticCredentialsProvider("A", "S", ""), Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		}, account))
	}
	ask := func(ctx context.Context, account string) error {
		_, err := client(account).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		return err
	}
	for range 3 {
		if err := ask(t.Context(), "1"); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.now.Sub(p.began); got != 2*time.Second {
		t.Errorf("three calls took %s, want 2s", got)
	}
	service.status = http.StatusServiceUnavailable
	if err := ask(t.Context(), "2"); err == nil || p.now.Sub(p.began) != 2*time.Second {
		t.Errorf("%v after %s: another account does not wait", err, p.now.Sub(p.began))
	}
	service.status = 200
	if err := ask(t.Context(), "2"); err != nil || p.now.Sub(p.began) != 4*time.Second {
		t.Errorf("%v after %s; want that a throttle costs a token more", err, p.now.Sub(p.began))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	asked := service.asked
	if err := ask(ended, "2"); !errors.Is(err, context.Canceled) || service.asked != asked {
		t.Errorf("error %v, want that nobody waits whose time is over", err)
	}
}
