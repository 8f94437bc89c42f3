package enicleanup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"rollcall/functions/eni-cleanup/spec"
	"rollcall/shared/gather"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/action"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// visit is what a run does in one VPC.
type visit struct {
	*tour
	place
	sightings map[string]leak.Sighting
	plan      leak.Plan
	// undone are interfaces that this run did not come to, by cluster.
	undone map[string]int
	// failed is what EC2 said to deletes that it would not do, by cluster.
	failed map[string]action.Answer
	// did are the clusters for which EC2 did, or would do, a delete.
	did map[string]bool
}

// clean does all that is to be done in one VPC.
func (r *tour) clean(ctx context.Context, p place) error {
	v := &visit{tour: r, place: p, undone: map[string]int{}, failed: map[string]action.Answer{}, did: map[string]bool{}}
	began := r.Now()
	p.homes[0].Time = began
	if !r.look(ctx, p) {
		return r.observeAll(ctx, v)
	}
	ended := r.Now()
	var err error
	// After the look: what another run deletes from now on it has written ahead.
	if v.sightings, err = r.memory.Sightings(ctx, p.vpc); err != nil {
		// What a newer version wrote it alone understands: nothing is deleted.
		return errors.Join(err, r.observeAll(ctx, v))
	}
	if err := v.resolveOpenDeletes(ctx); err != nil {
		return errors.Join(err, r.observeAll(ctx, v))
	}
	asked, err := v.askedToday(ctx)
	if err != nil {
		return errors.Join(err, r.observeAll(ctx, v))
	}
	v.plan = leak.Decide(r.judge(p), v.sightings, leak.Rules{
		Began: began, Ended: ended, Modes: r.modes, Untagged: v.untaggedMode(),
		Cap: r.left, Interfaces: interfaces(p.homes[0]), Share: r.share, Asked: asked, Only: r.only,
	})
	r.left -= len(v.plan.Delete) + len(v.plan.Ask)
	errs := []error{v.remember(ctx)}
	if s := v.plan.Stopped; s != nil {
		r.Log.WarnContext(ctx, "too many of the VPC's interfaces look deletable: none is deleted",
			"vpc", p.vpc, "candidates", s.Candidates, "interfaces", s.Interfaces, "share", s.Share)
		r.Count("StoppedByShare", 1)
	}
	errs = append(errs, v.act(ctx), v.tellSummaries(ctx), r.observeAll(ctx, v))
	v.measure()
	return errors.Join(errs...)
}

// untaggedMode is the mode of interfaces that name no cluster: any of the
// VPC's may have made them, or one of unknown place; so that of
// the most careful.
func (v *visit) untaggedMode() leak.Mode {
	var modes []leak.Mode
	for _, name := range slices.Concat(v.clusters(), v.blind) {
		modes = append(modes, v.modes(name))
	}
	return leak.Least(modes...)
}

// home is the cluster that an interface is reported with: its own, or the first
// of the VPC.
func (v *visit) home(cluster string) *snapshot.Snapshot {
	for _, s := range v.homes {
		if s.Cluster.Name == cluster {
			return s
		}
	}
	return v.homes[0]
}

// parallel bounds the requests at once. EC2 answers a delete within a second:
// sixteen are enough for its bucket, full or not. DynamoDB takes as many.
const parallel = 16

// remember writes what was seen. That another run has written first is no
// trouble: it saw the same.
func (v *visit) remember(ctx context.Context) error {
	var g errgroup.Group
	g.SetLimit(parallel)
	for _, s := range v.plan.Remember {
		g.Go(func() error {
			_, err := v.memory.SaveSighting(ctx, v.vpc, s)
			return unlessConflict(err)
		})
	}
	for _, s := range v.plan.Forget {
		g.Go(func() error { return unlessConflict(v.memory.ForgetSighting(ctx, v.vpc, s)) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("remember what was seen: %w", err)
	}
	return nil
}

func unlessConflict(err error) error {
	var taken *store.Conflict
	if errors.As(err, &taken) {
		return nil
	}
	return err
}

// resolveOpenDeletes finds out what came of the deletes that a run wrote ahead, and ended
// before it knew. What is gone was deleted by that run, which is said once;
// what is still there is judged anew.
func (v *visit) resolveOpenDeletes(ctx context.Context) error {
	var open []leak.Sighting
	var ids []string
	for id, s := range v.sightings {
		if s.Unsettled(v.Now()) {
			open, ids = append(open, s), append(ids, id)
		}
	}
	if len(open) == 0 {
		return nil
	}
	list, failed := v.reader.InterfacesByID(ctx, ids)
	if failed != nil {
		return fmt.Errorf("look what came of %d deletes: %s %s: %s", len(open), failed.Call, failed.Reason, failed.Message)
	}
	// What the look has just seen is there, whatever a second answer leaves out:
	// an audit of a delete that was none would be false for ever.
	there := map[string]bool{}
	for _, i := range slices.Concat(list, v.homes[0].Idle) {
		there[i.ID] = true
	}
	var done []finished
	for _, s := range open {
		a := *s.Deleting
		if !there[s.Interface] {
			a.Result, a.Settled = leak.Deleted, true
			done = append(done, finished{s, a})
			continue
		}
		s.Deleting = nil
		s, err := v.memory.SaveSighting(ctx, v.vpc, s)
		if unlessConflict(err) != nil {
			return fmt.Errorf("take back what was written ahead for %s: %w", s.Interface, err)
		}
		if err != nil {
			delete(v.sightings, s.Interface) // another run is at it: see it again next time
			continue
		}
		v.sightings[s.Interface] = s
	}
	v.Log.InfoContext(ctx, "settled what an earlier run left", "vpc", v.vpc, "deleted", len(done), "there", len(open)-len(done))
	for _, f := range done {
		delete(v.sightings, f.sighting.Interface)
	}
	return v.finish(ctx, done)
}

// askedToday are the interfaces that EC2 was asked about since midnight (UTC)
// in the mode dry-run: once a day is enough to know, and the bucket is shared.
func (v *visit) askedToday(ctx context.Context) (map[string]bool, error) {
	asked := map[string]bool{}
	for _, name := range v.clusters() {
		if v.modes(name) == leak.Report {
			continue
		}
		list, err := v.memory.Audits(ctx, name, midnight(v.Now()))
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			asked[a.Interface] = asked[a.Interface] || a.Result == leak.WouldDelete
		}
	}
	return asked, nil
}

func midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// measure counts what is left behind and what was left for the next run.
func (v *visit) measure() {
	dead, left := 0, 0
	for _, x := range v.plan.Judged {
		switch x.Why {
		case leak.OverCap, leak.Claimed:
			left++
			dead++
		case leak.Leaked, leak.Untagged, leak.Strangers, leak.OtherCluster, leak.NotOptedIn, leak.NotSeenBefore, leak.OverShare, leak.AskedToday:
			dead++
		}
	}
	for _, n := range v.undone {
		left += n
	}
	v.Count("Leaked", dead)
	v.Count("LeftForNextRun", left)
}

// clusterOf is the cluster in whose name an interface is recorded.
func (v *visit) clusterOf(x leak.Verdict) string { return cmp.Or(x.Cluster, v.homes[0].Cluster.Name) }

const day = 24 * time.Hour

// tellSummaries sends report what was done in each cluster today, and what was
// added to yesterday since it was last told: the audit records say it, so that
// a run that ended before it told is made up for by the next. That a stop is
// over is reported too, even if nothing came back since.
func (v *visit) tellSummaries(ctx context.Context) error {
	var errs []error
	for _, s := range v.homes {
		if v.modes(s.Cluster.Name) == leak.Report {
			continue
		}
		if err := v.tellCluster(ctx, s); err != nil {
			errs = append(errs, fmt.Errorf("sum up cluster %s: %w", s.Cluster.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (v *visit) tellCluster(ctx context.Context, s *snapshot.Snapshot) error {
	name, today := s.Cluster.Name, midnight(v.Now())
	audits, err := v.memory.Audits(ctx, name, today.Add(-day))
	if err != nil {
		return err
	}
	told, err := v.notes.CleanupDigests(ctx, name)
	if err != nil {
		return err
	}
	for _, from := range []time.Time{today.Add(-day), today} {
		c := v.cleanup(name, from, audits)
		key, digest := from.Format(time.DateOnly), digestOf(c)
		before, was := told[key]
		switch {
		case before == digest, len(c.Subnets) == 0 && c.Stopped == nil && !was:
			continue
		case from != today && v.plan.Stopped != nil:
			// A day that is posted without a stop says that the cleanup goes on.
			continue
		}
		if !v.lookAgain(ctx, &c) {
			return nil // told with the next run: a number that is not known is not told
		}
		err := v.send.SendSummary(ctx, report.Summary{
			Format: report.SummaryFormat, Kind: report.CleanupSummary, ID: "cleanup/" + name + "/" + key, By: spec.Name, At: v.Now(),
			Account: s.Account, Region: s.Region, Partition: s.Partition, Cluster: name, Cleanup: &c,
		})
		if err != nil {
			return err
		}
		v.Count("Summaries", 1)
		if err := v.notes.SaveCleanupTold(ctx, name, key, digest); err != nil {
			return err
		}
	}
	return nil
}

// cleanup is what was done in a cluster on the day that began then.
func (v *visit) cleanup(name string, from time.Time, audits []leak.Audit) report.Cleanup {
	mode, result := v.modes(name), leak.Deleted
	if mode == leak.DryRun {
		result = leak.WouldDelete
	}
	c := report.Cleanup{Mode: string(mode), Day: from, VPC: v.vpc}
	that := slices.DeleteFunc(slices.Clone(audits), func(a leak.Audit) bool { return a.At.Before(from) || !a.At.Before(from.Add(day)) })
	for _, r := range leak.Returned(that, result) {
		c.Subnets = append(c.Subnets, report.CleanupSubnet{Subnet: r.Subnet, Interfaces: r.Interfaces, Addresses: r.Addresses, Nodes: r.Nodes})
	}
	nodes := map[string]bool{}
	for _, a := range that {
		if a.Result == result {
			nodes[a.Owner] = true
		}
	}
	c.Nodes = len(nodes)
	slices.SortFunc(c.Subnets, func(a, b report.CleanupSubnet) int { return cmp.Compare(a.Subnet, b.Subnet) })
	if from != midnight(v.Now()) {
		return c
	}
	if s := v.plan.Stopped; s != nil {
		c.Stopped = &report.CleanupStop{Candidates: s.Candidates, Interfaces: s.Interfaces, Share: s.Share}
	}
	c.Left = v.undone[name]
	for _, x := range v.plan.Judged {
		if v.home(x.Cluster).Cluster.Name != name {
			continue
		}
		switch x.Why {
		case leak.OverCap, leak.Claimed:
			c.Left++
		case leak.Untagged, leak.Strangers, leak.OtherCluster, leak.TagsDisagree, leak.NoDate, leak.PublicAddress:
			if c.Kept == nil {
				c.Kept = map[string]int{}
			}
			c.Kept[string(x.Why)]++
		}
	}
	return c
}

// digestOf is what must have changed for a day to be told again. What waits,
// what is kept and what subnets have left changes with every run.
func digestOf(c report.Cleanup) string {
	text, err := json.Marshal([]any{c.Mode, c.Subnets, c.Stopped != nil})
	if err != nil {
		return "" // texts and numbers only: cannot happen, and it would only be told again
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// lookAgain fills in what the subnets have now. It tells false where that
// could not be read.
func (v *visit) lookAgain(ctx context.Context, c *report.Cleanup) bool {
	home := *v.homes[0]
	s := &home
	// What was read before the deletes is not what they have now.
	s.Subnets, s.Read = nil, maps.Clone(s.Read)
	delete(s.Read, snapshot.Subnets)
	v.reader.More(ctx, s, gather.Query{Account: s.Account, Region: s.Region, Time: v.Now(), Cluster: s.Cluster.Name, VPC: v.vpc}, snapshot.Subnets)
	if !s.Read[snapshot.Subnets] {
		return false
	}
	for i := range c.Subnets {
		for _, x := range s.Subnets {
			if x.ID == c.Subnets[i].Subnet {
				c.Subnets[i].Zone, c.Subnets[i].Free = x.Zone, x.Free
			}
		}
	}
	return true
}
