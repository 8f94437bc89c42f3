package awsconf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"rollcall/tools/expect"
)

// load makes the configuration as a function does, with nothing of this
// machine in it.
func load(t *testing.T, endpoint string, log *slog.Logger, calls *Calls) aws.Config {
	t.Helper()
	cfg, err := Load(t.Context(), log, calls)
	expect.OK(t, err)
	cfg.BaseEndpoint = aws.String(endpoint)
	return cfg
}

func environment(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_REGION": "us-west-2", "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "SECRET", "AWS_SESSION_TOKEN": "",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_MAX_ATTEMPTS": "", "AWS_RETRY_MODE": "", "AWS_ENDPOINT_URL": "", "AWS_PROFILE": "",
	} {
		t.Setenv(name, value)
	}
}

// service answers calls without a network, so that time can be the test's.
type service func(n int32) (status int, body string)

func (s service) client(attempts *atomic.Int32) *http.Client {
	return &http.Client{Transport: transport(func(*http.Request) *http.Response {
		status, body := s(attempts.Add(1))
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(strings.NewReader(body))}
	})}
}

type transport func(*http.Request) *http.Response

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

const throttled = `{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"Rate exceeded"}`

func TestRetries(t *testing.T) {
	environment(t)
	for _, test := range []struct {
		name     string
		service  service
		attempts int32
		code     string
		failed   map[string]int
	}{
		{"at once", func(int32) (int, string) { return 200, `{"TableNames":[]}` }, 1, "", map[string]int{}},
		{"throttled twice", func(n int32) (int, string) {
			if n <= 2 {
				return 400, throttled
			}
			return 200, `{"TableNames":[]}`
		}, 3, "", map[string]int{}},
		{"throttled for ever", func(int32) (int, string) { return 400, throttled }, attempts, "ThrottlingException", map[string]int{"dynamodb:ListTables": 1}},
		{"broken for ever", func(int32) (int, string) { return 500, `{"__type":"InternalServerError","message":"x"}` }, attempts, "InternalServerError", map[string]int{"dynamodb:ListTables": 1}},
		{"denied", func(int32) (int, string) { return 400, `{"__type":"AccessDeniedException","message":"x"}` }, 1, "AccessDeniedException", map[string]int{"dynamodb:ListTables": 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls Calls
				var n atomic.Int32
				cfg := load(t, "http://service.test", slog.New(slog.DiscardHandler), &calls)
				cfg.HTTPClient = test.service.client(&n)
				began := time.Now()
				_, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), &dynamodb.ListTablesInput{})
				if got := Code(err); got != test.code || (err == nil) != (test.code == "") {
					t.Errorf("code %q of %v, want %q", got, err, test.code)
				}
				if got := n.Load(); got != test.attempts {
					t.Errorf("%d attempts, want %d", got, test.attempts)
				}
				// A function has a minute for all it does.
				if took := time.Since(began); took > (attempts-1)*maxBackoff || test.attempts > 1 && took == 0 {
					t.Errorf("it took %s, with %d waits of at most %s", took, attempts-1, maxBackoff)
				}
				counts, failed := calls.Take()
				expect.Same(t, "calls", counts, map[string]int{"dynamodb:ListTables": 1})
				expect.Same(t, "failed calls", failed, test.failed)
				if counts, failed = calls.Take(); len(counts)+len(failed) > 0 {
					t.Errorf("after Take there are still %v and %v", counts, failed)
				}
			})
		})
	}
}

func TestEachCallIsLogged(t *testing.T) {
	environment(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.UserAgent(); !strings.Contains(got, "app/rollcall") {
			t.Errorf("user agent %q does not say who calls", got)
		}
		// The SDK's transport cuts a connection whose answer comes while its
		// request is still being sent (aws-sdk-go-v2 issue 1825).
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"AccessDeniedException","message":"x"}`)
	}))
	defer server.Close()
	var out bytes.Buffer
	var calls Calls
	cfg := load(t, server.URL, slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), &calls)
	_, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err == nil {
		t.Fatal("the call succeeded")
	}
	for _, want := range []string{"level=DEBUG", "call=dynamodb:ListTables", "code=AccessDeniedException", "took="} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the log %q does not say %q", out.String(), want)
		}
	}
	if strings.Contains(out.String(), "SECRET") {
		t.Errorf("the log holds the secret key: %q", out.String())
	}
}

func TestCodeOfNoAnswer(t *testing.T) {
	for _, err := range []error{nil, errors.New("no connection"), context.DeadlineExceeded} {
		if got := Code(err); got != "" {
			t.Errorf("Code(%v) = %q, want none: no service has answered", err, got)
		}
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	environment(t)
	t.Setenv("AWS_RETRY_MODE", "sometimes")
	var calls Calls
	if _, err := Load(t.Context(), slog.New(slog.DiscardHandler), &calls); err == nil || !strings.Contains(err.Error(), "load the AWS configuration") {
		t.Errorf("error %v, want what was being done", err)
	}
}

const assumedXML = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
<AccessKeyId>ASIA%d</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`

const deniedXML = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>x</Message></Error></ErrorResponse>`

// A role's credentials are asked for once in nearly an hour; after a refusal, once in a
// minute.
func TestAssume(t *testing.T) {
	environment(t)
	synctest.Test(t, func(t *testing.T) {
		var calls Calls
		var asked atomic.Int32
		var refused atomic.Bool
		cfg := load(t, "http://service.test", slog.New(slog.DiscardHandler), &calls)
		cfg.HTTPClient = service(func(n int32) (int, string) {
			if refused.Load() {
				return 403, deniedXML
			}
			return 200, fmt.Sprintf(assumedXML, n, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		}).client(&asked)
		reader := Assume(cfg, Role{ARN: "arn:aws:iam::111122223333:role/reader", Session: "rollcall-join-check"}, time.Now)
		if asked.Load() != 0 {
			t.Errorf("%d calls before the first use", asked.Load())
		}
		key := func() (string, error) {
			c, err := reader.Credentials.Retrieve(t.Context())
			return c.AccessKeyID, err
		}
		step := func(name, want, code string, calls int32) {
			t.Helper()
			if got, err := key(); got != want || Code(err) != code || asked.Load() != calls {
				t.Errorf("%s: %q, %v after %d calls; want %q, %q after %d", name, got, err, asked.Load(), want, code, calls)
			}
		}
		step("at first", "ASIA1", "", 1)
		time.Sleep(49 * time.Minute)
		step("while they last", "ASIA1", "", 1)
		time.Sleep(2 * time.Minute)
		step("ten minutes before their end", "ASIA2", "", 2)
		refused.Store(true)
		time.Sleep(time.Hour)
		step("refused", "", "AccessDenied", 3)
		time.Sleep(50 * time.Second)
		step("just refused", "", "AccessDenied", 3)
		time.Sleep(11 * time.Second)
		step("refused a minute ago", "", "AccessDenied", 4)
		refused.Store(false)
		time.Sleep(time.Minute)
		step("let in again", "ASIA5", "", 5)
		if own, err := cfg.Credentials.Retrieve(t.Context()); err != nil || own.AccessKeyID != "AKID" {
			t.Errorf("the function's own credentials are %s, %v", own.AccessKeyID, err)
		}
	})
}

const identityXML = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Account>222233334444</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`

const unknownXML = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>InvalidClientTokenId</Code><Message>x</Message></Error></ErrorResponse>`

// TestDeletedRole: a session whose role was deleted, and one whose role was made anew, is
// known at the first call that it is refused for: STS is asked again, once, and what it says
// is the error.
func TestDeletedRole(t *testing.T) {
	environment(t)
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		made, known, there := 0, "ASIA1", true
		cfg := load(t, "http://service.test", slog.New(slog.DiscardHandler), &Calls{})
		cfg.HTTPClient = &http.Client{Transport: transport(func(req *http.Request) *http.Response {
			body, err := io.ReadAll(req.Body)
			expect.OK(t, err)
			status, answer := 200, identityXML
			switch assumes := strings.Contains(string(body), "AssumeRole"); {
			case assumes && there:
				made++
				answer = fmt.Sprintf(assumedXML, made, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
			case assumes:
				status, answer = 403, deniedXML
			case !strings.Contains(req.Header.Get("Authorization"), known+"/"):
				status, answer = 403, unknownXML
			}
			asked = append(asked, fmt.Sprintf("%t%d", strings.Contains(string(body), "AssumeRole"), status))
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(answer))}
		})}
		client := sts.NewFromConfig(Assume(cfg, Role{ARN: "arn:aws:iam::222233334444:role/reader", Session: "x"}, time.Now))
		step := func(name, code string, want ...string) {
			t.Helper()
			asked = nil
			_, err := client.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
			if diff := cmp.Diff(want, asked); Code(err) != code || diff != "" {
				t.Errorf("%s: %v, want %q; asked (-want +got):\n%s", name, err, code, diff)
			}
		}
		step("at first", "", "true200", "false200")
		step("while it is there", "", "false200")
		known = "nobody"
		step("not known a moment after it was made", "InvalidClientTokenId", "false403")
		time.Sleep(5 * time.Minute)
		known = "ASIA2"
		step("made anew", "", "false403", "true200", "false200")
		time.Sleep(5 * time.Minute)
		known, there = "nobody", false
		step("deleted", "AccessDenied", "false403", "true403")
	})
}

// TestWaitingForASession: who waits for an answer that STS owes to another waits no longer
// than it has time.
func TestWaitingForASession(t *testing.T) {
	environment(t)
	synctest.Test(t, func(t *testing.T) {
		cfg := load(t, "http://service.test", slog.New(slog.DiscardHandler), &Calls{})
		cfg.HTTPClient = &http.Client{Transport: transport(func(req *http.Request) *http.Response {
			time.Sleep(4 * time.Second)
			answer := fmt.Sprintf(assumedXML, 1, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(answer))}
		})}
		as := Assume(cfg, Role{ARN: "arn:aws:iam::222233334444:role/reader", Session: "x"}, time.Now).Credentials
		first := make(chan error)
		go func() {
			_, err := as.Retrieve(t.Context())
			first <- err
		}()
		synctest.Wait()
		began := time.Now()
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := as.Retrieve(hurried); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// pace is limits in a time that passes only while a call waits.
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
		if d := p.limiter(requestBucket{account, region, api}, size).ReserveN(now, 1).DelayFrom(now); d > 0 {
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
	expect.Equal(t, "100 at once take", p.took("1", "a", "EC2:DescribeSubnets", ec2, 100), 0)
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
		expect.Equal(t, fmt.Sprintf("%s: %d calls of one in four take", name, test.n), newPace(4).took("1", "a", "x", test.size, test.n), test.want)
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
		expect.OK(t, ask(t.Context(), "1"))
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
		t.Errorf("error %v, want no wait past the deadline", err)
	}
}

// A code is read as it is typed; a missing code and an interrupt are errors.
func TestTyped(t *testing.T) {
	const serial = "arn:aws:iam::111122223333:mfa/you"
	var prompt bytes.Buffer
	if code, err := typed(t.Context(), serial, strings.NewReader("123456\nmore"), &prompt); code != "123456" || err != nil || prompt.String() != "Enter MFA code for "+serial+": " {
		t.Errorf("%q, %v, asked %q", code, err, prompt.String())
	}
	if _, err := typed(t.Context(), serial, strings.NewReader(""), io.Discard); !errors.Is(err, errNoCode) {
		t.Errorf("nothing was typed: %v", err)
	}
	given, up := context.WithCancel(t.Context())
	up()
	if _, err := typed(given, serial, blocked{t.Context()}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	r, w, err := os.Pipe()
	expect.OK(t, err)
	defer r.Close()
	defer w.Close()
	if AtTerminal(r, io.Discard) != nil {
		t.Error("a pipe is asked")
	}
}

// blocked is read from for as long as a test lasts.
type blocked struct{ ctx context.Context }

func (b blocked) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, io.EOF
}

// What the SDK logs while it looks for credentials goes to the function's log, too, and
// not to standard error.
func TestCredentialsLog(t *testing.T) {
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer metadata.Close()
	for name, value := range map[string]string{
		"AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata.URL, "AWS_EC2_METADATA_DISABLED": "false", "AWS_REGION": "us-west-2", "HOME": t.TempDir(),
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": "", "AWS_SHARED_CREDENTIALS_FILE": "",
	} {
		t.Setenv(name, value)
	}
	var log bytes.Buffer
	cfg, err := Load(t.Context(), slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), &Calls{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.Credentials.Retrieve(t.Context()); err == nil || !strings.Contains(log.String(), "falling back to IMDSv1") {
		t.Errorf("%v; the log has %q", err, log.String())
	}
}
