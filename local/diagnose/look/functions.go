package look

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"rollcall/functions/join-check/joincheck"
	joincheckspec "rollcall/functions/join-check/spec"
	"rollcall/functions/launch-watch/launchwatch"
	launchwatchspec "rollcall/functions/launch-watch/spec"
	"rollcall/functions/nodegroup-watch/nodegroupwatch"
	nodegroupwatchspec "rollcall/functions/nodegroup-watch/spec"
	spotreportspec "rollcall/functions/spot-report/spec"
	"rollcall/functions/spot-report/spotreport"
	subnetwatchspec "rollcall/functions/subnet-watch/spec"
	"rollcall/functions/subnet-watch/subnetwatch"
	zonewatchspec "rollcall/functions/zone-watch/spec"
	"rollcall/functions/zone-watch/zonewatch"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/nodegroup"
	"rollcall/shared/report"
)

// parts are what the functions of one look are made of.
type parts struct {
	account Account
	config  config.Config
	memory  *memory
	reader  *gather.Reader
	// heard is closed when launch-watch has taken down what was refused.
	heard <-chan struct{}
}

// function makes a function, which tells what it finds to a collector of its own.
type function struct {
	name string
	make func(p parts, d detect.Detector, to *collector) lambda.Handler
}

func launchWatch() function {
	return function{launchwatchspec.Name, func(p parts, d detect.Detector, to *collector) lambda.Handler {
		return launchwatch.New(launchwatch.Parts{Detector: d, Config: p.config, Table: p.memory, Reader: p.reader, Remind: to})
	}}
}

func joinCheck() function {
	return function{joincheckspec.Name, func(p parts, d detect.Detector, to *collector) lambda.Handler {
		return joincheck.New(joincheck.Parts{Detector: d, Config: p.config, Table: waitingTable{p.memory, p.heard}, Reader: p.reader, Remind: to})
	}}
}

func nodegroupWatch() function {
	return function{nodegroupwatchspec.Name, func(p parts, d detect.Detector, to *collector) lambda.Handler {
		return nodegroupwatch.New(nodegroupwatch.Parts{Detector: d, Config: p.config, Table: p.memory, Reader: p.reader, Remind: to, Tell: to})
	}}
}

func spotReport() function {
	return function{spotreportspec.Name, func(p parts, d detect.Detector, to *collector) lambda.Handler {
		return spotreport.New(spotreport.Parts{Detector: d, Config: p.config, Table: p.memory, Reader: p.reader, Send: to})
	}}
}

func subnetWatch() function {
	return function{subnetwatchspec.Name, func(p parts, d detect.Detector, to *collector) lambda.Handler {
		return subnetwatch.New(subnetwatch.Parts{
			Detector: d, Config: p.config, Table: p.memory, Reader: func() subnetwatch.Reader { return p.reader.Counting() }, Gauge: unmeasured, NoCharts: true,
		})
	}}
}

func zoneWatch() function {
	return function{zonewatchspec.Name, func(p parts, d detect.Detector, _ *collector) lambda.Handler {
		return zonewatch.New(zonewatch.Parts{Detector: d, Table: p.memory, Reader: p.reader, Gauge: unmeasured})
	}}
}

func unmeasured(string, string, float64, ...lambda.Dimension) {}

// run is what became of a function.
type run struct {
	name  string
	heard []report.Observation
	err   error
}

// run gives a function events. That it failed, or panicked, is part of what is seen: what
// it would have looked at is not known. What one event leads to keeps it from no other.
func (p parts) run(ctx context.Context, f function, events ...json.RawMessage) (r run) {
	to := &collector{}
	if r.name = f.name; !p.account.runs(f.name) {
		return r
	}
	defer func() {
		r.heard = to.heard
		if x := recover(); x != nil {
			p.account.Log.ErrorContext(ctx, "panic", "function", f.name, "panic", fmt.Sprint(x), "stack", string(debug.Stack()))
			r.err = fmt.Errorf("it panicked: %v", x)
		}
	}()
	handle := f.make(p, p.detector(f.name, to), to)
	for _, event := range events {
		_, err := handle(ctx, event)
		r.err = errors.Join(r.err, err)
	}
	return r
}

// detector is what every function is made of.
func (p parts) detector(name string, to *collector) detect.Detector {
	return detect.Detector{
		By: name, Region: p.account.Region, Clusters: p.account.Clusters, Watches: p.account.watches, Reader: p.reader, Results: to,
		Now: p.account.Now, Log: p.account.Log.With("function", name), Count: func(string, int) {},
	}
}

// collector keeps what one function tells. Nobody is reminded, and nobody else told.
type collector struct{ heard []report.Observation }

// SendResult keeps what was found.
func (e *collector) SendResult(_ context.Context, o report.Observation) error {
	e.heard = append(e.heard, o)
	return nil
}

// SendSummary drops a summary: it counts what was, and finds nothing.
func (e *collector) SendSummary(context.Context, report.Summary) error { return nil }

// LookAgain drops a reminder.
func (e *collector) LookAgain(context.Context, []string, time.Time, time.Duration) error { return nil }

// LookAtNodegroup drops a reminder.
func (e *collector) LookAtNodegroup(context.Context, string, string, time.Time, time.Duration) error {
	return nil
}

// TellNodegroups drops what has changed since an empty memory.
func (e *collector) TellNodegroups(context.Context, []nodegroup.Event) error { return nil }
