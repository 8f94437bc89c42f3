package simaws

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/local/platform/wire"
)

// Buckets are EC2's request token buckets: one for each API of the account in
// the region, whoever calls (EC2 API reference, "Request throttling"), CloudTrail's two
// lookups a second, and the 600 requests a second that STS takes. They are safe for
// concurrent use.
type Buckets struct {
	now    func() time.Time
	rivals []Rival

	mu    sync.Mutex
	state map[string]*bucket
}

// Rival is somebody else in the account who calls an API again and again, and
// takes tokens of its bucket as they come.
type Rival struct {
	Operation string
	PerSecond float64
	From      time.Time
	Until     time.Time // a zero one has no end
}

// Count is what an API's bucket has seen.
type Count struct {
	// Calls are all, Throttled those among them that were refused. RivalCalls and
	// RivalThrottled are the rivals', which are not among them.
	Calls, Throttled           int
	RivalCalls, RivalThrottled int
	// Lowest is the least that was left in the bucket.
	Lowest float64
}

// Limit is a bucket's size and how many tokens come back to it each second.
type Limit struct{ Size, Refill float64 }

// bucket is the state of one API. rival is when the rivals call next.
type bucket struct {
	limit  Limit
	tokens float64
	at     time.Time
	rival  []time.Time
	count  Count
}

// NewBuckets makes full buckets. now is stage time.
func NewBuckets(now func() time.Time, rivals ...Rival) *Buckets {
	return &Buckets{now: now, rivals: rivals, state: map[string]*bucket{}}
}

// Admit takes a token for a call of EC2, CloudTrail or STS, or refuses it as they do.
func (b *Buckets) Admit(_ context.Context, call *wire.Call, in any) error {
	var name string
	var limit Limit
	switch call.Service {
	case "ec2":
		name, limit = limitOf(call.Operation, in)
	case "cloudtrail":
		// CloudTrail API reference, LookupEvents: two a second for an account in a
		// region.
		name, limit = call.Operation, Limit{2, 2}
	case "sts":
		// For the credentials of an account in a region, all calls together (IAM user guide,
		// "IAM and AWS STS quotas"). AssumeRole counts for the account that calls.
		name, limit = call.Service, Limit{600, 600}
	default:
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.bucket(name, limit)
	s.count.Calls++
	if !s.take(b.now(), b.rivalsOf(name)) {
		s.count.Throttled++
		return wire.Throttled
	}
	return nil
}

// Counts are what the buckets have seen, by API. Calls without a filter and
// without pages count apart, as "DescribeInstances (unfiltered)".
func (b *Buckets) Counts() map[string]Count {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(map[string]Count, len(b.state))
	for name, s := range b.state {
		out[name] = s.count
	}
	return out
}

func (b *Buckets) bucket(name string, limit Limit) *bucket {
	s := b.state[name]
	if s == nil {
		s = &bucket{limit: limit, tokens: limit.Size, at: b.now(), count: Count{Lowest: limit.Size}}
		b.state[name] = s
	}
	return s
}

func (b *Buckets) rivalsOf(name string) []Rival {
	return slices.DeleteFunc(slices.Clone(b.rivals), func(r Rival) bool { return r.Operation != name })
}

// take lets the time since the last call pass, with what the rivals took in
// it, and takes a token.
func (s *bucket) take(now time.Time, rivals []Rival) bool {
	for len(s.rival) < len(rivals) {
		s.rival = append(s.rival, later(s.at, rivals[len(s.rival)].From))
	}
	for {
		next := -1
		for i, r := range rivals {
			over := !r.Until.IsZero() && !s.rival[i].Before(r.Until)
			if !over && s.rival[i].Before(now) && (next < 0 || s.rival[i].Before(s.rival[next])) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		s.refill(s.rival[next])
		s.count.RivalCalls++
		if !s.spend() {
			s.count.RivalThrottled++
		}
		s.rival[next] = s.rival[next].Add(time.Duration(float64(time.Second) / rivals[next].PerSecond))
	}
	s.refill(now)
	return s.spend()
}

func (s *bucket) refill(now time.Time) {
	if d := now.Sub(s.at); d > 0 {
		s.tokens = min(s.limit.Size, s.tokens+d.Seconds()*s.limit.Refill)
		s.at = now
	}
}

func (s *bucket) spend() bool {
	if s.tokens < 1 {
		return false
	}
	s.tokens--
	s.count.Lowest = min(s.count.Lowest, s.tokens)
	return true
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// limitOf is the bucket of a call: EC2's published sizes and refill rates
// (API reference, "Request token bucket sizes and refill rates").
func limitOf(operation string, in any) (name string, l Limit) {
	switch operation {
	case "DescribeInstances", "DescribeInstanceStatus", "DescribeNetworkInterfaces", "DescribeSecurityGroups",
		"DescribeSnapshots", "DescribeSpotInstanceRequests", "DescribeVolumes":
		if !narrowed(in) {
			return operation + " (unfiltered)", Limit{50, 10}
		}
	case "DeleteNetworkInterface", "CreateNetworkInterface", "ModifyNetworkInterfaceAttribute",
		"AssignPrivateIpAddresses", "AssignIpv6Addresses", "CreateVolume", "DeleteVolume":
		return operation, Limit{100, 5}
	case "CreateTags", "DeleteTags":
		return operation, Limit{100, 10}
	}
	for _, verb := range []string{"Describe", "Get", "List", "Search"} {
		if strings.HasPrefix(operation, verb) {
			return operation, Limit{100, 20}
		}
	}
	return operation, Limit{50, 5}
}

// narrowed tells whether a call has a filter, names ids or asks for pages.
func narrowed(in any) bool {
	v := reflect.ValueOf(in)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return false
	}
	v = v.Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		switch v.Type().Field(i).Name {
		case "MaxResults", "NextToken":
			if !f.IsNil() {
				return true
			}
		default:
			if f.Kind() == reflect.Slice && f.Len() > 0 {
				return true
			}
		}
	}
	return false
}
