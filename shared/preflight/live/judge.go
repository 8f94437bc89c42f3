// Package live reads what the judgement of a plan needs (package preflight).
package live

import (
	"context"
	"fmt"
	"time"

	"rollcall/shared/gather"
	"rollcall/shared/preflight"
	"rollcall/shared/snapshot"
)

// Reader reads an account; gather.Reader is one.
type Reader interface {
	Read(context.Context, gather.Query) (*snapshot.Snapshot, error)
	More(context.Context, *snapshot.Snapshot, gather.Query, ...snapshot.Source)
}

// Where is the account and the cluster in which something is planned, and when.
type Where struct {
	Account, Region, Cluster string
	Time                     time.Time
}

// Judge reads what the judgement of a plan needs, and judges it. The error is
// gather.ErrNoCluster where there is no such cluster; what else could not be read
// is Unknown in the verdict.
func Judge(ctx context.Context, r Reader, p preflight.Plan, where Where) (preflight.Verdict, error) {
	d := preflight.Draft{Plan: p}
	q := gather.Query{
		Account: where.Account, Region: where.Region, Time: where.Time, Cluster: where.Cluster,
		Sources: d.First(), Settings: true,
	}
	// A name that is taken is looked up; what is launched from is asked of all.
	if p.Kind == preflight.Nodegroup {
		q.Nodegroups = []string{p.Name}
	} else {
		q.AllNodegroups = true
	}
	s, err := r.Read(ctx, q)
	if err != nil {
		return preflight.Verdict{}, fmt.Errorf("read %s: %w", where.Cluster, err)
	}
	d.S = s
	d.Announce()
	q.Types, q.SecurityGroups = d.Named(), d.SecurityGroups()
	r.More(ctx, s, q, d.Second()...)
	d.Settle()
	q.Types, q.ImageTerms = d.Types(), d.ImageTerms()
	r.More(ctx, s, q, d.Third()...)
	d.Place()
	q.Scope, q.Instances, q.Groups = s.Scope, s.Instances, s.Groups
	r.More(ctx, s, q, d.Then()...)
	d.Complete()
	return d.Judge(), nil
}
