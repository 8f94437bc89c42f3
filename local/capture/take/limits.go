package take

import (
	"context"
	"sync"

	"golang.org/x/time/rate"
)

// limits are half of each request bucket, or of what is taken for one: the account's
// own work goes on beside a capture.
type limits struct {
	mu   sync.Mutex
	each map[string]*rate.Limiter
	// slots bound how many calls are on their way.
	slots chan struct{}
}

// inFlight is how many calls are on their way at most.
const inFlight = 32

func newLimits() *limits {
	return &limits{each: map[string]*rate.Limiter{}, slots: make(chan struct{}, inFlight)}
}

// enter waits until a call may be made. Its end must be told.
func (l *limits) enter(ctx context.Context, service, operation string) (leave func(), err error) {
	if err := l.of(service, operation).Wait(ctx); err != nil {
		return nil, err
	}
	select {
	case l.slots <- struct{}{}:
		return func() { <-l.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *limits) of(service, operation string) *rate.Limiter {
	key := service
	if service == "ec2" {
		key += ":" + operation // EC2 has a bucket for each of its APIs
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.each[key] == nil {
		l.each[key] = newLimiter(service)
	}
	return l.each[key]
}

// newLimiter is how often a service is asked, a second and at once.
//
// EC2: non-mutating calls that are filtered or paginated have a bucket of 100 that gets
// 20 a second (EC2 API reference, "Request throttling"). CloudTrail: two lookups a second
// (LookupEvents). EKS, IAM and Auto Scaling publish no numbers: five to ten a second is
// what EKS's callers keep to.
func newLimiter(service string) *rate.Limiter {
	switch service {
	case "ec2":
		return rate.NewLimiter(10, 50)
	case "cloudtrail":
		return rate.NewLimiter(1, 2)
	}
	return rate.NewLimiter(10, 20)
}
