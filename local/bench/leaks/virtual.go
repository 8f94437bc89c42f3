package main

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"

	"rollcall/local/bench/peers/script"
	"rollcall/local/platform/wire"
	"rollcall/local/simaws"
	"rollcall/local/simaws/world"
	"rollcall/local/simaws/worldfile"
)

// virtual is a world's EC2 for one caller who makes one call after the other:
// the time is what his calls take, and nothing else. A call that the bucket
// refuses is made again as the SDKs do it: three times in all, with waits that
// grow.
type virtual struct {
	world   *world.World
	buckets *simaws.Buckets
	latency time.Duration
	now     time.Time
	backoff *retry.ExponentialJitterBackoff
	result
	first, last time.Time
}

var _ script.EC2 = (*virtual)(nil)

// attempts and longest are the defaults of the SDKs' standard retries.
const (
	attempts = 3
	longest  = 20 * time.Second
)

func newVirtual(w *world.World, latency time.Duration) *virtual {
	v := &virtual{world: w, latency: latency, now: w.Now(), backoff: retry.NewExponentialJitterBackoff(longest)}
	v.buckets = simaws.NewBuckets(func() time.Time { return v.now })
	return v
}

func (v *virtual) DescribeNetworkInterfaces(ctx context.Context, in *ec2.DescribeNetworkInterfacesInput, _ ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error) {
	if err := v.call(ctx, "DescribeNetworkInterfaces", in); err != nil {
		return nil, err
	}
	return v.world.EC2().DescribeNetworkInterfaces(in)
}

func (v *virtual) DeleteNetworkInterface(ctx context.Context, in *ec2.DeleteNetworkInterfaceInput, _ ...func(*ec2.Options)) (*ec2.DeleteNetworkInterfaceOutput, error) {
	if v.first.IsZero() {
		v.first = v.now
	}
	if err := v.call(ctx, "DeleteNetworkInterface", in); err != nil {
		v.failed++
		return nil, err
	}
	v.last = v.now
	out, err := v.world.EC2().DeleteNetworkInterface(in)
	if err != nil {
		v.failed++
		return nil, err
	}
	v.deleted++
	return out, nil
}

// call passes the time of a call, and of its repetitions.
func (v *virtual) call(ctx context.Context, operation string, in any) error {
	for attempt := range attempts {
		v.now = v.now.Add(v.latency)
		v.calls++
		if operation == "DeleteNetworkInterface" {
			v.deletes++
		}
		err := v.buckets.Admit(ctx, &wire.Call{Service: "ec2", Operation: operation}, in)
		if !errors.Is(err, wire.Throttled) {
			return err
		}
		v.throttled++
		wait, err := v.backoff.BackoffDelay(attempt, err)
		if err != nil {
			return err
		}
		v.now = v.now.Add(wait)
	}
	return &smithy.GenericAPIError{Code: "RequestLimitExceeded", Message: "Request limit exceeded."}
}

// byScript has the sequential script delete them, each call with a latency.
func byScript(ctx context.Context, o options, latency time.Duration) (result, error) {
	file, err := worldfile.Load(worldFile)
	if err != nil {
		return result{}, err
	}
	fill(o.interfaces, 0)(file)
	w, err := world.New(file, world.Options{Seed: 1})
	if err != nil {
		return result{}, err
	}
	v := newVirtual(w, latency)
	if _, err := script.Run(ctx, v); err != nil {
		return result{}, err
	}
	v.name, v.interfaces, v.runs, v.took = "the story's script, "+latency.String()+" a call", o.interfaces, 1, v.last.Sub(v.first)
	return v.result, nil
}
