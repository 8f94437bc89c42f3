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

	"rollcall/functions/eni-cleanup/spec"
	"rollcall/shared/gather"
	"rollcall/shared/network/leak"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

const day = 24 * time.Hour

// tellSummaries sends report what was done in each cluster today, and what was
// added to yesterday since it was last told: the audit records say it, so that
// a run that ended before it told is made up for by the next. That a stop is
// over is told too, even if nothing came back since.
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
	told, err := v.notes.CleanupsTold(ctx, name)
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
			// A day that is told without a stop says that the cleanup goes on.
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
