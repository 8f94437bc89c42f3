package fakeslack

import (
	"math"
	"time"
)

// bucket is a token bucket. The zero bucket is full at its first use.
type bucket struct {
	tokens float64
	seen   time.Time
}

// take spends one token. When there is none, it says how long until there is.
func (b *bucket) take(now time.Time, perSecond float64, burst int) (wait time.Duration) {
	if perSecond <= 0 {
		return 0
	}
	size := float64(max(burst, 1))
	if b.seen.IsZero() {
		b.tokens = size
	} else {
		b.tokens = min(size, b.tokens+max(0, now.Sub(b.seen).Seconds())*perSecond)
	}
	b.seen = now
	if b.tokens >= 1 {
		b.tokens--
		return 0
	}
	return time.Duration((1 - b.tokens) / perSecond * float64(time.Second))
}

// retryAfter is the header's value: whole seconds, rounded up, at least one.
func retryAfter(wait time.Duration) int {
	return max(1, int(math.Ceil(wait.Seconds())))
}

// throttled is the answer 429.
type throttled struct{ wait time.Duration }

// Error returns the code that Slack puts into the body.
func (throttled) Error() string { return "ratelimited" }

// limiter paces calls in wall time.
type limiter struct {
	limits  Limits
	posts   map[string]*bucket
	updates bucket
}

func newLimiter(l Limits) *limiter {
	return &limiter{limits: l, posts: map[string]*bucket{}}
}

// allow spends what method costs on channel.
func (l *limiter) allow(method, channel string, now time.Time) error {
	var wait time.Duration
	switch method {
	case "chat.postMessage", "chat.postEphemeral":
		b := l.posts[channel]
		if b == nil {
			b = &bucket{}
			l.posts[channel] = b
		}
		wait = b.take(now, l.limits.PostsPerSecond, l.limits.PostBurst)
	case "chat.update":
		wait = l.updates.take(now, l.limits.UpdatesPerMinute/60, l.limits.UpdateBurst)
	}
	if wait > 0 {
		return throttled{wait}
	}
	return nil
}
