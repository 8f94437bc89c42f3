package report

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"rollcall/shared/notify/outbox"
	"rollcall/shared/report"
	"rollcall/shared/store"
)

// Summaries is what report remembers summaries by.
type Summaries interface {
	Postings(ctx context.Context, cluster string) ([]outbox.Posting, error)
	SavePosting(ctx context.Context, p outbox.Posting) (outbox.Posting, error)
}

// summarise records a cluster's new summaries, then says what is due, also
// from earlier passes. A summary that is recorded already is not recorded
// again, nor said again.
func (p *invocation) summarise(ctx context.Context, c clusterBatch) error {
	for attempt := 1; ; attempt++ {
		err := p.summariseOnce(ctx, c)
		var conflict *store.Conflict
		if errors.As(err, &conflict) && attempt < attempts {
			p.count("LostRaces", 1)
			continue
		}
		return err
	}
}

func (p *invocation) summariseOnce(ctx context.Context, c clusterBatch) error {
	list, err := p.postings.Postings(ctx, c.name)
	if err != nil {
		return err
	}
	for _, s := range c.summaries {
		if s.Kind == report.CleanupSummary {
			if list, err = p.recordCleanup(ctx, list, s); err != nil {
				return err
			}
			continue
		}
		if slices.ContainsFunc(list, func(known outbox.Posting) bool { return known.Summary.ID == s.ID }) {
			p.count("RepeatedSummaries", 1)
			continue
		}
		saved, err := p.postings.SavePosting(ctx, outbox.Posting{Summary: s})
		if err != nil {
			return err
		}
		p.log.InfoContext(ctx, "summary", "cluster", c.name, "summary", s.ID, "by", s.By, "failed", s.Failed(), "launches", s.Spot.Spot.Requested)
		list = append(list, saved)
	}
	for _, post := range list {
		if !post.Due() || p.onHold(p.targetsOfSummary(post)...) || p.slackDown {
			continue
		}
		say := p.post
		if post.Summary.Kind == report.CleanupSummary {
			say = p.sayCleanup
		}
		if err := say(ctx, post); err != nil {
			return err
		}
	}
	return nil
}

// targetsOfSummary are whom a summary goes to.
func (p *invocation) targetsOfSummary(post outbox.Posting) []outbox.Target {
	return []outbox.Target{outbox.ToSlack, outbox.ToChannel(p.roomOf(post)), outbox.OfSummary(post.Summary.ID)}
}

// roomOf is the channel that a summary is in, or goes to.
func (p *invocation) roomOf(post outbox.Posting) string {
	return cmp.Or(post.Channel, p.summariesOf(post.Summary.Cluster))
}
