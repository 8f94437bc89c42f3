package notify

import (
	"context"
	"errors"
	"slices"
	"time"

	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
)

// recordCleanup records what a cleanup's summary changes: one message for each
// cluster and day, edited as the day goes on.
func (c *Cluster) recordCleanup(ctx context.Context, list []outbox.Posting, s report.Summary) ([]outbox.Posting, error) {
	renewed := outbox.Renew(list, s)
	if len(renewed) == 0 {
		c.Count("RepeatedSummaries", 1)
	}
	for _, post := range renewed {
		saved, err := c.Postings.SavePosting(ctx, post)
		if err != nil {
			return list, err
		}
		c.Log.InfoContext(ctx, "summary", "cluster", s.Cluster, "summary", saved.Summary.ID, "by", s.By, "subnets", len(saved.Summary.Cleanup.Subnets), "stopped", saved.Summary.Cleanup.Stopped != nil)
		i := slices.IndexFunc(list, func(known outbox.Posting) bool { return known.Summary.ID == saved.Summary.ID })
		if i < 0 {
			list = append(list, saved)
		} else {
			list[i] = saved
		}
	}
	return list, nil
}

// sayCleanup posts or edits the message of a cleanup. The error is of the
// record alone.
func (c *Cluster) sayCleanup(ctx context.Context, post outbox.Posting) error {
	m := slack.RenderSummary(post.Summary, outbox.Picture{})
	if post.TS != "" && post.Channel == c.summariesOf(post.Summary.Cluster) && post.Digest == m.Digest() {
		post.Dirty = false
		_, err := c.savePosting(ctx, post)
		return err
	}
	if post.TS == "" && !post.Sending.IsZero() { // cut off: Slack may have it
		ts, err := c.search(ctx, slackapi.Search{Channel: c.summariesOf(post.Summary.Cluster), Tag: m.Tag, Since: post.Sending})
		if err != nil {
			c.postingNotTaken(ctx, post, err)
			return nil
		}
		post.Channel, post.TS = c.summariesOf(post.Summary.Cluster), ts
	}
	if post.TS != "" {
		err := c.Slack.Update(ctx, post.Channel, post.TS, m)
		var e *slackapi.Error
		switch moved := post.Channel != c.summariesOf(post.Summary.Cluster); {
		case err == nil:
			c.Count("SlackUpdates", 1)
		case lost(err, post.Channel, c.summariesOf(post.Summary.Cluster)) && !moved && errors.As(err, &e) && e.Kind == slackapi.MessageGone:
			// Somebody deleted it: the rest of the day is not said.
		case lost(err, post.Channel, c.summariesOf(post.Summary.Cluster)):
			post.TS, post.Digest = "", "" // it is in a channel of before
		default:
			c.postingNotTaken(ctx, post, err)
			return nil
		}
	}
	if post.TS == "" {
		var err error
		post.Sending = c.Now()
		if post, err = c.Postings.SavePosting(ctx, post); err != nil {
			return err
		}
		ts, err := c.Slack.Post(ctx, c.summariesOf(post.Summary.Cluster), m)
		if err != nil {
			c.postingNotTaken(ctx, post, err)
			if errors.As(err, new(*slackapi.Error)) && !unsure(err) {
				post.Sending = time.Time{} // Slack answered: nothing was sent
				_, err = c.savePosting(ctx, post)
				return err
			}
			return nil
		}
		c.Count("SlackSummaries", 1)
		post.Channel, post.TS = c.summariesOf(post.Summary.Cluster), ts
	}
	c.accepted(c.targetsOfSummary(post)...)
	post.Digest, post.Dirty, post.Sending = m.Digest(), false, time.Time{}
	_, err := c.savePosting(ctx, post)
	return err
}

// unsure tells that Slack may have taken what it did not answer to.
func unsure(err error) bool {
	var e *slackapi.Error
	return !errors.As(err, &e) || e.Kind == slackapi.Unavailable
}
