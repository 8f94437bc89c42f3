package awsconf

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"golang.org/x/time/rate"
)

// Limits keep calls within the request buckets of accounts, one for each account, region
// and API: who calls more often waits, and nobody else. They are safe for concurrent use.
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
		// Nobody publishes these, which are taken to be as EC2's; where one is smaller the
		// service says so, and the next call waits.
		return service + ":" + operation, bucketSize{100, 20}, true
	case "Auto Scaling":
		// One for all of its calls (re:Post, "Rate exceeded"), of a size that nobody publishes.
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

// throttledFor is for how long nobody asks after a throttle, beside what the SDK's own
// retries wait: the bucket is empty, and others of the account take of it too.
const throttledFor = time.Second

// Do makes the call when there is a token for it.
func (c limited) Do(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	api, size, ok := sizeOf(awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx))
	if !ok {
		return c.next.Do(req)
	}
	limiter := c.limits.of(requestBucket{c.account, awsmiddleware.GetRegion(ctx), api}, size)
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

func (l *Limits) of(b requestBucket, size bucketSize) *rate.Limiter {
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
