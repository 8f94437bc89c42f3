package main

import (
	"slices"
	"time"
)

// EC2's bucket for deletes (API reference, request token bucket sizes).
const (
	bucketSize = 100
	refill     = 5 // a second
)

// bound is the least time in which so many deletes can be made.
func bound(n int) time.Duration {
	return time.Duration(max(n-bucketSize, 0)) * time.Second / refill
}

// result is what one way of deleting took.
type result struct {
	name string
	// interfaces were to be deleted, deleted are those that were.
	interfaces, deleted int
	// took is from the first delete to the last, in stage time.
	took time.Duration
	// calls are all calls to EC2, deletes those that delete; throttled of them
	// were refused by the bucket, failed for another reason.
	calls, deletes, throttled, failed int
	runs                              int
	// memory is the process's largest resident size in MB; 0 where it was not a
	// process of its own.
	memory int
	// worked is how long the runs took together, in stage time.
	worked time.Duration
	// by are all calls to AWS by API; bill is what it all costs.
	by   map[string]int
	bill []use
}

// over is how much longer it took than the bucket demands.
func (r result) over() float64 {
	if b := bound(r.interfaces); b > 0 {
		return float64(r.took)/float64(b) - 1
	}
	return 0
}

// measure reads the function's calls off the stage's record.
func measure(g *ground, r result) result {
	var times []time.Time
	r.by = map[string]int{}
	for _, c := range g.Cloud.Calls() {
		if c.Caller != g.function.Name {
			continue
		}
		r.by[c.Action()]++
		if c.Service != "ec2" {
			continue
		}
		r.calls++
		if c.Operation != "DeleteNetworkInterface" {
			continue
		}
		r.deletes++
		switch c.Code {
		case "":
			times = append(times, g.Clock.At(c.Time))
		case "RequestLimitExceeded":
			r.throttled++
		default:
			r.failed++
		}
	}
	r.deleted = len(times)
	if len(times) > 0 {
		r.took = slices.MaxFunc(times, time.Time.Compare).Sub(slices.MinFunc(times, time.Time.Compare))
	}
	r.bill = bill(r, g.meter.Used(), float64(g.function.Memory)/1024, g.logged.n)
	return r
}
