// Package detect is what every detector runs, whether an event, a sweep or a
// wish woke it: whose is the instance, what is seen of its cluster, what do the
// checks say, and what does report need to know.
package detect

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/evidence"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/report"

	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// Reader reads AWS and Kubernetes.
type Reader interface {
	Clusters(ctx context.Context) ([]string, *snapshot.Failure)
	Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error)
}

// Sender is whom a detector tells.
type Sender interface {
	SendResult(ctx context.Context, o report.Observation) error
}

// Detector is what every detector is made of. A function adds what it alone
// reads and remembers, and chooses looks.
type Detector struct {
	// By is the function's name.
	By     string
	Region string
	// Spoke is whose clusters it looks at.
	Spoke spoke.ID
	// Clusters are those that the settings name; nil: all of the region.
	Clusters []string
	Watches  func(cluster string) bool
	Reader   Reader
	Results  Sender
	Now      func() time.Time
	Log      *slog.Logger
	Count    func(name string, n int)
	// Evidence keeps what was read of what was found; nil keeps none.
	Evidence *evidence.Keeper
}

// New makes a function's detector of what its invocations share.
func New(by string, e lambda.Env, r Reader, results Sender) Detector {
	return Detector{
		By: by, Region: e.Config.Region, Spoke: e.Config.Spoke, Clusters: e.Config.Clusters, Watches: e.Config.Watches,
		Reader: r, Results: results, Now: e.Now, Log: e.Log, Count: e.Metrics.Count,
	}
}

// Keeping has what is found kept with what was read of it.
func (d Detector) Keeping(k *evidence.Keeper) Detector {
	d.Evidence = k
	return d
}

// Query begins the query of a look that is taken now.
func (d Detector) Query(cluster, account string) gather.Query {
	return gather.Query{Account: account, Region: d.Region, Time: d.Now(), Cluster: cluster}
}

// Read takes the snapshot that a look is at. The error is gather.ErrNoCluster
// or nil: whatever else goes wrong is in the snapshot's Failures.
func (d Detector) Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	s, err := d.Reader.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	s.Taken = d.Now()
	return s, nil
}

// IgnoreNoCluster makes nothing of the error that EKS has no such cluster: other
// Kubernetes distributions tag as EKS does, and settings outlive clusters.
func (d Detector) IgnoreNoCluster(ctx context.Context, cluster string, err error) error {
	if !errors.Is(err, gather.ErrNoCluster) {
		return err
	}
	d.Log.WarnContext(ctx, "a cluster that EKS does not have", "cluster", cluster)
	d.Count("ForeignClusters", 1)
	return nil
}

// Look is what is made of a snapshot.
type Look struct {
	// Checks are run; none: only what could be read, and what not, is told.
	Checks []checks.Check
	// Launches are told as they stand.
	Launches []report.Launch
	// Unknown is what cannot be judged beside what the checks say so of.
	Unknown []diagnose.Unknown
	// Untold tells a cause that is left out; nil: none is.
	Untold func(diagnose.Cause) bool
	// Absent is what was looked for and exists no more, beside the subnets of the
	// scope.
	Absent []string
	// Sweep tells that the whole cluster was looked at.
	Sweep bool
}

// Run judges a snapshot and tells report: the checks, then what they come to,
// the log, the message. Nothing is remembered here: what a function keeps it
// keeps after this, so that a crash in between leads to telling twice, which
// report notices, not to silence.
func (d Detector) Run(ctx context.Context, s *snapshot.Snapshot, l Look) (report.Observation, error) {
	o := Judge(d.By, s, l)
	return o, d.Tell(ctx, o)
}

// Judge is what report needs to know of a snapshot.
func Judge(by string, s *snapshot.Snapshot, l Look) report.Observation {
	var found diagnose.Diagnosis
	if len(l.Checks) > 0 {
		found = diagnose.Judge(l.Checks, s)
	}
	if l.Untold != nil {
		found.Causes = slices.DeleteFunc(found.Causes, l.Untold)
	}
	found.Unknown = append(found.Unknown, l.Unknown...)
	o := Observe(by, s, found, l.Launches)
	o.Sweep = l.Sweep
	o.Absent = Distinct(o.Absent, l.Absent)
	return o
}

// Tell logs an observation and sends it to report.
func (d Detector) Tell(ctx context.Context, o report.Observation) error {
	for _, c := range o.Diagnosis.Causes {
		d.Log.InfoContext(ctx, "cause found", "cluster", o.Cluster, "check", c.Check, "resource", c.Resource, "confidence", c.Confidence,
			"instances", len(c.Instances), "nodegroups", c.Nodegroups)
	}
	for _, f := range o.Blind {
		d.Log.WarnContext(ctx, "could not look", "cluster", o.Cluster, "source", f.Source, "call", f.Call, "reason", f.Reason, "code", f.Code)
	}
	about := aboutEvidence(o)
	o.Evidence = d.Evidence.Key(about)
	if err := d.Results.SendResult(ctx, o); err != nil {
		return err
	}
	// After the message: nobody waits for it.
	d.Evidence.Keep(about)
	return nil
}

// Failures are those of several readings that failed.
func Failures(list ...*snapshot.Failure) []snapshot.Failure {
	var all []snapshot.Failure
	for _, f := range list {
		if f != nil {
			all = append(all, *f)
		}
	}
	return all
}
