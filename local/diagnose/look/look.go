// Package look looks at clusters once: the functions' own sweeps, over any AWS and
// Kubernetes that answer, with nothing deployed. What they would keep in their table
// is gone with the look, and nobody is told but the caller.
//
// It is one engine for an account that is there, with its caller's credentials, and
// for one that was captured.
package look

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/sync/errgroup"

	sweepspec "rollcall/functions/sweep/spec"
	"rollcall/shared/askonce"
	"rollcall/shared/cloudwatchlogs"
	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/node/text"
	"rollcall/shared/report"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// Endpoints finds another way to the Kubernetes API of a cluster, if there is one; via
// is taken in place of a connection.
type Endpoints = func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool)

// Record is a record of CloudTrail, JSON.
type Record = json.RawMessage

// Account is what is looked at.
type Account struct {
	ID, Region string
	// AWS makes the clients that read it.
	AWS aws.Config
	// Endpoints are other ways to the Kubernetes APIs than those that EKS tells; nil:
	// none.
	Endpoints Endpoints
	// Clusters are those that are looked at; nil: all that EKS lists.
	Clusters []string
	// Functions are those that look; nil: all.
	Functions []string
	// Once, if any, is of several looks at one time, which ask nothing twice; nil: of this
	// look alone.
	Once *askonce.Once
	// Refused gives CloudTrail's records of calls for instances, oldest first. It is
	// called beside all that needs none of them; nil: nobody looks.
	Refused func(context.Context) []Record
	// Logs are the log groups in which EKS Auto Mode's logs may be looked for; a star at
	// the end stands for any end.
	Logs []string
	// Decode has the messages of denied launches decoded.
	Decode bool
	Now    func() time.Time
	Log    *slog.Logger
}

// Seen is what the functions found.
type Seen struct {
	// Observations are in the order in which report would have got them.
	Observations []report.Observation
	// Failed are the functions that did not come to an end.
	Failed []Failed
}

// Failed is a function that failed.
type Failed struct {
	Function string
	Err      error
}

// settings are those of a new deployment, but that no launch is given up: an instance
// that failed days ago is what somebody asks about.
func settings() (config.Config, error) {
	c, err := config.Load(func(string) string { return "" }, []spec.Variable{
		config.JoinTime, config.ReportHour, config.Cleanup, config.CleanupGrace, config.CleanupUntagged, config.RunwayHorizon, config.SubnetMetrics,
	})
	c.GiveUp = math.MaxInt64
	return c, err
}

// At looks at an account. What cannot be read is in the observations; the error is
// one of this program.
func At(ctx context.Context, a Account) (Seen, error) {
	c, err := settings()
	if err != nil {
		return Seen{}, err
	}
	if a.Once == nil {
		a.Once = &askonce.Once{}
	}
	a.AWS = a.Once.Client(a.AWS)
	p := parts{account: a, config: c, memory: newMemory(), reader: gather.New(a.AWS).WithEndpoints(a.Endpoints).Sharing(a.Once.Cluster).Decoding(a.Decode)}
	p.reader.ReadingLogs(cloudwatchlogs.New(a.AWS), a.Logs, text.CauseOfKarpenter)
	schedule, err := p.event("Scheduled Event", "aws.events", json.RawMessage("{}"))
	if err != nil {
		return Seen{}, err
	}
	turns, list, err := p.turns(ctx)
	if err != nil {
		return Seen{}, err
	}
	// In the order of the template, which is that in which report hears of them.
	runs := make([]run, 7)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		runs[0] = p.launches(ctx)
	}()
	p.heard = heard
	// The others look up what the roll call took down.
	runs[1], runs[2] = list, p.run(ctx, joinCheck(), turns...)
	<-heard
	var g errgroup.Group
	g.Go(func() error { runs[3] = p.run(ctx, nodegroupWatch(), turns...); return nil })
	g.Go(func() error {
		runs[4] = p.run(ctx, spotReport(), schedule)
		runs[5] = p.run(ctx, subnetWatch(), turns...) // what subnets have stands in the samples of both
		return nil
	})
	g.Go(func() error { runs[6] = p.run(ctx, zoneWatch(), turns...); return nil })
	_ = g.Wait()
	var s Seen
	for _, r := range runs {
		s.Observations = append(s.Observations, r.heard...)
		if r.err != nil {
			s.Failed = append(s.Failed, Failed{r.name, r.err})
		}
	}
	return s, ctx.Err()
}

// launches has launch-watch look at the calls for instances that were refused.
func (p parts) launches(ctx context.Context) (r run) {
	if p.account.Refused == nil {
		return r
	}
	batch, err := p.batch(p.account.Refused(ctx))
	switch {
	case err != nil:
		return run{name: launchWatch().name, err: err}
	case batch == nil:
		return r
	}
	return p.run(ctx, launchWatch(), batch)
}

// turns are those of the clusters, as sweep sends them, with what it tells of their list.
func (p parts) turns(ctx context.Context) (turns []json.RawMessage, list run, err error) {
	to := &collector{}
	names, err := p.detector(sweepspec.Name, to).Watched(ctx, p.account.ID, p.memory)
	if err != nil {
		return nil, run{}, err
	}
	for _, name := range names {
		turn, err := event.SweepCluster(spoke.ID{}, name, p.account.ID, p.account.Region, p.account.Now())
		if err != nil {
			return nil, run{}, fmt.Errorf("write the turn of %s: %w", name, err)
		}
		turns = append(turns, turn)
	}
	return turns, run{name: sweepspec.Name, heard: to.heard}, nil
}

func (p parts) event(kind, source string, detail json.RawMessage) (json.RawMessage, error) {
	raw, err := json.Marshal(map[string]any{
		"version": "0", "id": "a1b2c3d4-0000-4000-8000-000000000000", "detail-type": kind, "source": source,
		"account": p.account.ID, "region": p.account.Region, "time": p.account.Now().UTC().Format(time.RFC3339), "resources": []string{}, "detail": detail,
	})
	if err != nil {
		return nil, fmt.Errorf("write the event: %w", err)
	}
	return raw, nil
}

// runs tells that a function looks.
func (a Account) runs(function string) bool {
	return a.Functions == nil || slices.Contains(a.Functions, function)
}

// watches tells the clusters that are looked at.
func (a Account) watches(cluster string) bool {
	return a.Clusters == nil || slices.Contains(a.Clusters, cluster)
}
