// Package awsconf makes the one aws.Config of a function: retries, time
// limits, and middleware that counts and logs every call.
package awsconf

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"
	"golang.org/x/term"
	"golang.org/x/time/rate"
)

// Limits of one call. A function has a minute for all it does: a service that
// does not answer must leave time to say so.
const (
	connectTimeout  = 3 * time.Second
	responseTimeout = 10 * time.Second
	// attempts and maxBackoff let a throttled call ride out about ten seconds
	// of an empty request bucket (EC2 refills 20 a second, shared by the account).
	attempts   = 6
	maxBackoff = 4 * time.Second
)

// Load reads region, credentials and endpoints as every AWS SDK does, and
// reports each finished call to calls. What is asked for beside that goes first.
func Load(ctx context.Context, log *slog.Logger, calls *Calls, asked ...func(*config.LoadOptions) error) (aws.Config, error) {
	client := awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = connectTimeout }).
		WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = responseTimeout })
	// The clients that look for credentials log, too: "falling back to IMDSv1".
	cfg, err := config.LoadDefaultConfig(ctx, append([]func(*config.LoadOptions) error{config.WithHTTPClient(client), config.WithLogger(sdkLog{log})}, asked...)...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("load the AWS configuration: %w", err)
	}
	return From(cfg, log, calls), nil
}

// From is Load where region, credentials, endpoints and the way to them are given.
func From(cfg aws.Config, log *slog.Logger, calls *Calls) aws.Config {
	cfg = cfg.Copy()
	cfg.AppID = "rollcall"
	cfg.Logger = sdkLog{log}
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = attempts
			o.MaxBackoff = maxBackoff
		})
	}
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), calls.middleware(log))
	return cfg
}

const (
	// assumedAhead is how long before they expire the credentials of a role are made
	// anew: a look of five minutes ends with those that it began with. A session that
	// a role's own session assumes lasts an hour at most, which is also the default
	// (STS API, AssumeRole, "DurationSeconds"; IAM user guide, "Role chaining").
	assumedAhead = 10 * time.Minute
	// refusedFor is how long an AssumeRole that failed is not tried again: what is
	// read meanwhile does not wait for STS each time.
	refusedFor = time.Minute
	// assumeTime is how long STS may take: who waits has another way.
	assumeTime = 5 * time.Second
)

// Role is a role to be assumed.
type Role struct {
	ARN string
	// Session is named in CloudTrail.
	Session string
	// ExternalID is "" for a role of the own account.
	ExternalID string
	// Region is where the role is used; "" is that of who assumes it.
	Region string
}

// Assume is a configuration as a role, which cfg's credentials assume, at STS in cfg's
// region: what a regional endpoint of STS gives is taken in every region that the role's
// account has enabled (IAM user guide, "Manage AWS STS in an AWS Region"). Nothing is asked
// before the first use.
func Assume(cfg aws.Config, role Role, now func() time.Time) aws.Config {
	client := sts.NewFromConfig(cfg, func(o *sts.Options) { o.RetryMaxAttempts = 2 })
	provider := stscreds.NewAssumeRoleProvider(client, role.ARN, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = role.Session
		if role.ExternalID != "" {
			o.ExternalID = aws.String(role.ExternalID)
		}
	})
	assumed := cfg.Copy()
	if role.Region != "" {
		assumed.Region = role.Region
	}
	session := &roleSession{from: provider, now: now, turn: make(chan struct{}, 1)}
	assumed.Credentials = session
	assumed.APIOptions = append(slices.Clone(cfg.APIOptions), session.again)
	return assumed
}

// again makes a call once more, with new credentials, that was refused because those that
// it had are no longer known: the role was deleted, or made anew, while its session lasted.
// Without it that would be told of each service by another code, for up to an hour, before
// STS says that there is no such role.
func (s *roleSession) again(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RollcallSession",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			out, meta, err := next.HandleInitialize(ctx, in)
			if unknownSession(Code(err)) && s.forget() {
				return next.HandleInitialize(ctx, in)
			}
			return out, meta, err
		}), middleware.After)
}

// unknownSession tells the codes by which services refuse credentials that they do not know,
// or no more (EC2 API reference, "Common client errors": AuthFailure; other services, "Common
// errors": UnrecognizedClientException, InvalidClientTokenId, ExpiredToken, ExpiredTokenException).
func unknownSession(code string) bool {
	return slices.Contains([]string{"AuthFailure", "UnrecognizedClientException", "InvalidClientTokenId", "ExpiredToken", "ExpiredTokenException"}, code)
}

// forget drops the credentials, unless they were made a moment ago: who does not know those
// does not know the account here, and will not know the next.
func (s *roleSession) forget() bool {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if !s.have.HasKeys() || s.now().Sub(s.made) < refusedFor {
		return false
	}
	s.have = aws.Credentials{}
	return true
}

// roleSession keeps a role's credentials until shortly before their end, and after a refusal
// does not ask again for a while. The SDK's own cache asks beside the call that wants
// them, and goes on when that is over: in a function, into the next invocation.
type roleSession struct {
	from aws.CredentialsProvider
	now  func() time.Time

	// turn is held by who reads or writes what follows, also while STS is asked: the others
	// wait for its answer, but no longer than they have time.
	turn  chan struct{}
	have  aws.Credentials
	err   error
	until time.Time // the next question
	made  time.Time // the credentials
}

// Retrieve gives the role's credentials; the error is STS's.
func (s *roleSession) Retrieve(ctx context.Context) (aws.Credentials, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return aws.Credentials{}, ctx.Err()
	}
	// Credentials end by the clock of AWS, which is this machine's; on the local stage a
	// refusal is old by another.
	if s.err != nil && s.now().Before(s.until) {
		return aws.Credentials{}, s.err
	}
	if s.err == nil && s.have.HasKeys() && time.Until(s.have.Expires) > assumedAhead {
		return s.have, nil
	}
	asked, cancel := context.WithTimeout(ctx, assumeTime)
	defer cancel()
	c, err := s.from.Retrieve(asked)
	if ctx.Err() == nil { // else who asked has gone, and STS has said nothing
		s.have, s.err, s.until, s.made = c, err, s.now().Add(refusedFor), s.now()
	}
	return c, err
}

// Calls counts the AWS calls of one invocation, retries not counted apart.
// The zero value is ready; it is safe for use by several goroutines.
type Calls struct {
	mu     sync.Mutex
	counts map[string]int
	failed map[string]int
}

// Take returns what was counted since the last Take: calls and failures by
// "service:Operation".
func (c *Calls) Take() (counts, failed map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts, failed = maps.Clone(c.counts), maps.Clone(c.failed)
	clear(c.counts)
	clear(c.failed)
	return counts, failed
}

func (c *Calls) add(call string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts, c.failed = map[string]int{}, map[string]int{}
	}
	c.counts[call]++
	if err != nil {
		c.failed[call]++
	}
}

func (c *Calls) middleware(log *slog.Logger) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RollcallCalls",
			func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
				began := time.Now()
				out, meta, err := next.HandleInitialize(ctx, in)
				call := strings.ToLower(strings.ReplaceAll(awsmiddleware.GetServiceID(ctx), " ", "")) + ":" + awsmiddleware.GetOperationName(ctx)
				c.add(call, err)
				attrs := []any{"call", call, "took", time.Since(began).Round(time.Millisecond).String()}
				if code := Code(err); code != "" {
					attrs = append(attrs, "code", code)
				}
				// The caller decides what an error means; this line is for tracing.
				log.DebugContext(ctx, "aws call", attrs...)
				return out, meta, err
			}), middleware.After)
	}
}

// Code is the service's error code, or "" if the service did not answer.
func Code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// Limits keep calls within the request buckets of accounts, one for each account, region
// and API: who calls more often waits, and no other. They are safe for concurrent use.
type Limits struct {
	// Shares is how many processes take of the same buckets at once: each keeps to its
	// part.
	Shares int
	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error

	mu   sync.Mutex
	each map[requestBucket]*rate.Limiter
}

// requestBucket is what calls take tokens of.
type requestBucket struct{ account, region, api string }

// bucketSize is how many calls a bucket takes at once, and how many a second from then on.
type bucketSize struct {
	burst  int
	refill float64
}

// sizeOf is the bucket that an operation takes of, by the names that AWS's SDK has; ok is
// false for services that are not limited here.
func sizeOf(service, operation string) (api string, size bucketSize, ok bool) {
	switch service {
	case "EC2":
		// One for each API: 100 and 20 a second for calls that change nothing and are
		// filtered or paginated, as all of gather's are (50 and 10 for the others), 50 and 5
		// for most that change something (EC2 developer guide, "Request throttling for the
		// Amazon EC2 API", request token limits).
		size = bucketSize{50, 5}
		for _, verb := range []string{"Describe", "Get", "List", "Search"} {
			if strings.HasPrefix(operation, verb) {
				size = bucketSize{100, 20}
			}
		}
		return service + ":" + operation, size, true
	case "CloudTrail":
		// "two per second, per account, per Region" (CloudTrail API reference, LookupEvents).
		return service, bucketSize{2, 2}, true
	case "STS":
		// 600 a second for the credentials of an account in a region (IAM user guide, "IAM
		// and AWS STS quotas"): AssumeRole and the others together.
		return service, bucketSize{600, 600}, true
	case "EKS", "IAM":
		// No documentation has these, which are taken to be as EC2's; where one is smaller the
		// service says so, and the next call waits.
		return service + ":" + operation, bucketSize{100, 20}, true
	case "Auto Scaling":
		// One for all of its calls (re:Post, "Rate exceeded"), of a size that is not documented.
		return service, bucketSize{100, 20}, true
	}
	return "", bucketSize{}, false
}

// Client is a configuration whose clients keep to the limits of an account.
func (l *Limits) Client(cfg aws.Config, account string) aws.Config {
	var next aws.HTTPClient = http.DefaultClient
	if cfg.HTTPClient != nil {
		next = cfg.HTTPClient
	}
	cfg.HTTPClient = limited{l, account, next}
	return cfg
}

type limited struct {
	limits  *Limits
	account string
	next    aws.HTTPClient
}

// throttledFor is for how long no call is made after a throttle, beside what the SDK's own
// retries wait: the bucket is empty, and others of the account take of it too.
const throttledFor = time.Second

// Do makes the call when there is a token for it.
func (c limited) Do(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	api, size, ok := sizeOf(awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx))
	if !ok {
		return c.next.Do(req)
	}
	limiter := c.limits.limiter(requestBucket{c.account, awsmiddleware.GetRegion(ctx), api}, size)
	now := c.limits.Now()
	token := limiter.ReserveN(now, 1)
	if wait := token.DelayFrom(now); wait > 0 {
		if err := c.limits.Sleep(ctx, wait); err != nil {
			token.CancelAt(c.limits.Now())
			return nil, err
		}
	}
	resp, err := c.next.Do(req)
	if err == nil && isThrottle(resp.StatusCode) {
		limiter.ReserveN(c.limits.Now(), max(1, min(limiter.Burst(), int(float64(limiter.Limit())*throttledFor.Seconds()))))
	}
	return resp, err
}

// isThrottle tells the statuses of throttles: EC2's RequestLimitExceeded is a 503, a
// ThrottlingException a 429 or a 400, which is also other errors' (their API references).
func isThrottle(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

func (l *Limits) limiter(b requestBucket, size bucketSize) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.each == nil {
		l.each = map[requestBucket]*rate.Limiter{}
	}
	if l.each[b] == nil {
		shares := max(l.Shares, 1)
		l.each[b] = rate.NewLimiter(rate.Limit(size.refill/float64(shares)), max(1, size.burst/shares))
	}
	return l.each[b]
}

// CodeError is that a profile asks for the code of an MFA device, and there is no terminal
// to ask for it.
type CodeError struct{ Serial string }

func (e *CodeError) Error() string {
	return "the profile asks for a code of the MFA device " + e.Serial + ", and there is no terminal to ask for it: " +
		`take a session first (eval "$(aws configure export-credentials --profile NAME --format env)"), and run this without the profile`
}

var errNoCode = errors.New("no code was given")

// Ask asks for the code of an MFA device.
type Ask func(ctx context.Context, serial string) (string, error)

// AtTerminal asks a person, as the AWS CLI does; where from is no terminal it refuses with
// *CodeError. What is typed is seen: a code is good once, and a program that is interrupted
// leaves the terminal as it was.
func AtTerminal(from *os.File, to io.Writer) Ask {
	if !term.IsTerminal(int(from.Fd())) {
		return nil
	}
	return func(ctx context.Context, serial string) (string, error) { return typed(ctx, serial, from, to) }
}

func typed(ctx context.Context, serial string, from io.Reader, to io.Writer) (string, error) {
	fmt.Fprintf(to, "Enter MFA code for %s: ", serial)
	read := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(from)
		lines.Scan()
		read <- lines.Text()
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(to)
		return "", ctx.Err()
	case code := <-read:
		if code == "" {
			return "", errNoCode
		}
		return code, nil
	}
}

// WithMFA has profiles with an MFA device ask for its code; nil refuses with *CodeError. A
// session lasts an hour, as the AWS CLI's: the SDK's quarter of one would ask again in the
// middle of what goes on.
func WithMFA(ctx context.Context, ask Ask) config.LoadOptionsFunc {
	return config.WithAssumeRoleCredentialOptions(func(o *stscreds.AssumeRoleOptions) {
		if o.SerialNumber == nil {
			return
		}
		serial := *o.SerialNumber
		if o.Duration == 0 {
			o.Duration = time.Hour
		}
		o.TokenProvider = func() (string, error) {
			if ask == nil {
				return "", &CodeError{Serial: serial}
			}
			return ask(ctx, serial)
		}
	})
}

// sdkLog takes what the SDK itself logs, which goes to standard error otherwise, as lines
// that are no JSON. What goes wrong in a call is its error; the rest is for tracing: with
// each answer of DynamoDB it warns that its checksum was not found when it was closed
// (measured: more bytes than all that the functions log of themselves).
type sdkLog struct{ log *slog.Logger }

// Logf writes a line.
func (l sdkLog) Logf(c logging.Classification, format string, v ...any) {
	l.log.DebugContext(context.Background(), "the SDK says", "kind", string(c), "text", fmt.Sprintf(format, v...))
}
