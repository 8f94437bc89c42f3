package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"rollcall/local/platform/template"
	"rollcall/local/simaws"

	"rollcall/local/stage"

	"rollcall/shared/config"
	"rollcall/shared/network/leak"
)

// every is how often eni-cleanup runs. The first run deletes nothing: the
// second follows it as soon as it may act on what the first one saw.
const (
	every = 15 * time.Minute
	first = leak.Apart + time.Minute
)

// room is what eni-cleanup keeps before its timeout (its handler.go).
const room = 20 * time.Second

// ground is a stage on which one function works.
type ground struct {
	*stage.Stage
	function template.Function
	meter    *simaws.Meter
	logged   *counter
}

// counter counts what the functions log.
type counter struct {
	to *os.File
	n  int // the runtime writes one line after the other
}

func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return c.to.Write(p) }

// raise starts a stage with so many interfaces on it. Nothing wakes by itself:
// what is measured is alone, but for the latency of each call.
func raise(ctx context.Context, o options, folder string, leaked, inUse int, logs *os.File) (*ground, error) {
	settings := map[string]string{
		string(config.Cleanup): cluster + "=" + string(config.Delete),
		// The interfaces that load adds are most of the VPC's.
		string(config.CleanupShare): "100", string(config.CleanupCap): "5000",
	}
	g := &ground{meter: &simaws.Meter{}, logged: &counter{to: logs}}
	var err error
	g.Stage, err = stage.Start(ctx, stage.Options{
		World: worldFile, Template: o.template, Binaries: o.binaries, Rate: o.rate, Quiet: true, StageTimeouts: o.timed, Room: room,
		Change: fill(leaked, inUse), Out: g.logged, Log: slog.New(slog.NewTextHandler(logs, nil)), Meter: g.meter,
		CallFaults: []simaws.FaultRule{{Call: "ec2:*", Latency: time.Duration(float64(o.latency) / o.rate)}},
		Settings:   settings,
	})
	if err != nil {
		return nil, fmt.Errorf("start the stage: %w", err)
	}
	var there bool
	if g.function, there = g.Function(folder); !there {
		g.Close()
		return nil, fmt.Errorf("the template has no function %s", folder)
	}
	return g, nil
}

// wake runs the function once, and adds what it took.
func (g *ground) wake(ctx context.Context, r *result) error {
	event, err := os.ReadFile("events/in/schedule-rule.json")
	if err != nil {
		return err
	}
	out, err := g.Runtime.Invoke(ctx, g.function.Name, event)
	if err != nil {
		return err
	}
	r.runs++
	r.worked += g.Clock.Stage(out.Duration)
	r.memory = max(r.memory, out.MaxMemoryMB)
	if out.FunctionError != "" {
		return errors.New("a run failed: " + string(out.Payload))
	}
	return nil
}

// byRollcall has eni-cleanup delete them, woken every quarter of an hour. more
// are in use beside them.
func byRollcall(ctx context.Context, o options, leaked, more int, logs *os.File) (result, error) {
	g, err := raise(ctx, o, "eni-cleanup", leaked, more, logs)
	if err != nil {
		return result{}, err
	}
	defer g.Close()
	r := result{name: "Rollcall's eni-cleanup", interfaces: leaked}
	next := g.Clock.Now()
	for range o.runs {
		if err := g.wake(ctx, &r); err != nil {
			return result{}, err
		}
		if deleted := g.Buckets.Counts()["DeleteNetworkInterface"]; deleted.Calls-deleted.Throttled >= leaked {
			break
		}
		wait := every
		if r.runs == 1 {
			wait = first
		}
		next = next.Add(wait)
		if err := g.Clock.Sleep(ctx, g.Clock.Until(next)); err != nil {
			return result{}, err
		}
	}
	return measure(g, r), nil
}

// byWatch has subnet-watch count so many, of which some are left behind.
func byWatch(ctx context.Context, o options, leaked, more int, logs *os.File) (result, error) {
	g, err := raise(ctx, o, "subnet-watch", leaked, more, logs)
	if err != nil {
		return result{}, err
	}
	defer g.Close()
	r := result{name: "subnet-watch"}
	if err := g.wake(ctx, &r); err != nil {
		return result{}, err
	}
	return measure(g, r), nil
}
