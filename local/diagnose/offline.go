// Package diagnose looks once at an account that is there, at a capture or at a world,
// as the functions do: each has its own engine run over it, and what they observed is
// one result. It prints nothing; the command does.
package diagnose

import (
	"context"
	"io"
	"log/slog"
	"time"

	joincheck "rollcall/functions/join-check/spec"
	launchwatch "rollcall/functions/launch-watch/spec"
	"rollcall/local/capture"
	"rollcall/local/diagnose/look"
	"rollcall/local/reading"
	"rollcall/local/result"
)

// offline looks at a capture in this process: the AWS clients ask what it holds.
// Log takes the functions' logs, nil drops them.
func offline(ctx context.Context, c *capture.Capture, log io.Writer) (result.Result, error) {
	served, err := reading.OfCapture(c).Open(ctx)
	if err != nil {
		return result.Result{}, err
	}
	defer served.Close()
	return lookAt(ctx, c, served, log)
}

// lookAt looks at a capture that is served.
func lookAt(ctx context.Context, c *capture.Capture, served reading.Open, log io.Writer) (result.Result, error) {
	seen, err := look.At(ctx, look.Account{
		ID: c.Account, Region: c.Region, AWS: served.AWS, Endpoints: served.Endpoints, Functions: lookers(c), Logs: c.LogGroups(), Refused: func(context.Context) []look.Record { return c.LaunchCalls() },
		Now: func() time.Time { return c.Time }, Log: logTo(log),
	})
	if err != nil {
		return result.Result{}, err
	}
	return result.Merge(seen.Observations, broken(seen.Failed), c.Bare), nil
}

// lookers are the functions that look at a capture: all, or that which kept what it had
// read: what others would ask for was not asked. A launch that launch-watch has seen is
// found by join-check's sweep here, where no event wakes anybody.
func lookers(c *capture.Capture) []string {
	switch {
	case c.Kept == nil:
		return nil
	case c.Kept.By == launchwatch.Name:
		return []string{launchwatch.Name, joincheck.Name}
	}
	return []string{c.Kept.By}
}

// broken are functions that failed, as the result tells them.
func broken(failed []look.Failed) []result.Unknown {
	var list []result.Unknown
	for _, f := range failed {
		list = append(list, result.Unknown{Check: "", Resource: f.Function, Reason: "the function failed: " + f.Err.Error()})
	}
	return list
}

// logTo writes the functions' logs as they are in Lambda; nil drops them.
func logTo(w io.Writer) *slog.Logger {
	if w == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}
