package notify

import (
	"context"
	"errors"
	"time"

	"rollcall/shared/outbox"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
)

// mostRefusals is in how many batches Slack may refuse a message because of
// its picture: it takes pictures in after it has answered, usually in a second.
const mostRefusals = 3

// post says one summary: its picture first, as the message shows it, then the
// message, then its details. Each step is recorded, so that a crash neither
// repeats nor loses it. What Slack did not take is tried again with the
// cluster's next batch. The error is of the record alone.
func (c *Cluster) post(ctx context.Context, post outbox.Posting) (outbox.Posting, error) {
	if post.TS == "" {
		said, err := c.postMessage(ctx, &post)
		if err != nil || !said {
			return post, err
		}
	}
	if post.Due() {
		said, err := c.postDetails(ctx, &post)
		if err != nil || !said {
			return post, err
		}
	}
	return c.savePosting(ctx, post.Delivered())
}

// postMessage sends the picture and the message that shows it.
func (c *Cluster) postMessage(ctx context.Context, post *outbox.Posting) (said bool, err error) {
	cut := !post.Sending.IsZero()
	if !cut && !c.upload(ctx, post) {
		return false, nil
	}
	m := slack.RenderSummary(post.Summary, post.Picture)
	if cut { // an earlier invocation was cut off: Slack may have it
		ts, err := c.search(ctx, slackapi.Search{Channel: c.summariesOf(post.Summary.Cluster), Tag: m.Tag, Since: post.Sending})
		if err != nil {
			c.postingNotTaken(ctx, *post, err)
			return false, nil
		}
		post.Channel, post.TS = c.summariesOf(post.Summary.Cluster), ts
	}
	if post.TS == "" {
		post.Sending = c.Now()
		if *post, err = c.Postings.SavePosting(ctx, *post); err != nil {
			return false, err
		}
		ts, err := c.Slack.Post(ctx, c.summariesOf(post.Summary.Cluster), m)
		if err != nil {
			return false, c.refused(ctx, *post, err)
		}
		c.Count("SlackSummaries", 1)
		post.Channel, post.TS = c.summariesOf(post.Summary.Cluster), ts
		c.accepted(c.targetsOfSummary(*post)...)
	}
	*post, err = c.savePosting(ctx, *post)
	return true, err
}

// upload gives Slack the picture, and tells whether the message can go out
// now: with it, or without it and with the reason.
func (c *Cluster) upload(ctx context.Context, post *outbox.Posting) (ok bool) {
	if len(post.Summary.Chart) == 0 || post.Picture.File != "" || post.Picture.Missing != "" {
		return true
	}
	name := "spot-" + post.Summary.Cluster + "-" + post.Summary.Spot.To.UTC().Format("2006-01-02") + ".png"
	id, err := c.Files.Upload(ctx, slackapi.File{
		Name: name, Title: "Spot in " + post.Summary.Cluster, Alt: slack.RenderSummary(post.Summary, outbox.Picture{}).Text, Data: post.Summary.Chart,
	})
	if err == nil {
		c.Count("SlackPictures", 1)
		post.Picture.File = id
		return true
	}
	var e *slackapi.Error
	switch errors.As(err, &e); {
	case e != nil && e.Code == "missing_scope":
		post.Picture.Missing = "the Slack app lacks the scope files:write; add it to the app and install it again"
	case e != nil && e.Kind == slackapi.Refused:
		post.Picture.Missing = "Slack did not take it (" + e.Method + " " + e.Code + ")"
	default:
		c.postingNotTaken(ctx, *post, err)
		return false
	}
	c.Count("SlackFailures", 1)
	c.pictureless(ctx, "the summary goes out without its picture", err, "cluster", post.Summary.Cluster, "summary", post.Summary.ID)
	return true
}

// refused records that Slack did not take the message.
func (c *Cluster) refused(ctx context.Context, post outbox.Posting, err error) error {
	var e *slackapi.Error
	if errors.As(err, &e) && e.Kind != slackapi.Unavailable {
		post.Sending = time.Time{} // Slack answered, so it is certain that nothing was sent
		if e.Code == "invalid_blocks" && post.Picture.File != "" {
			post.Picture.Refusals++
			if post.Picture.Refusals < mostRefusals {
				c.Count("SlackFailures", 1)
				c.Log.WarnContext(ctx, "Slack does not show the picture yet, it is tried again with the next batch", "cluster", post.Summary.Cluster, "summary", post.Summary.ID, "error", err.Error())
				_, err := c.savePosting(ctx, post)
				return err
			}
			post.Picture = outbox.Picture{Missing: "Slack did not take a message with it", Refusals: post.Picture.Refusals}
			c.Count("SlackFailures", 1)
			c.pictureless(ctx, "the summary goes out without its picture", err, "cluster", post.Summary.Cluster, "summary", post.Summary.ID)
			_, err := c.savePosting(ctx, post)
			return err
		}
	}
	c.postingNotTaken(ctx, post, err)
	_, err = c.savePosting(ctx, post)
	return err
}

// postDetails sends the replies with the details.
func (c *Cluster) postDetails(ctx context.Context, post *outbox.Posting) (said bool, err error) {
	for i, m := range slack.RenderSummaryDetails(post.Summary) {
		if post.Reply(i).TS != "" {
			continue
		}
		gone, said, err := c.postReply(ctx, post, i, m)
		if err != nil || !said || gone {
			return said, err
		}
	}
	return true, nil
}

// postReply sends one of them; gone tells that there is no thread any more: somebody deleted
// the message, and nobody wants its details.
func (c *Cluster) postReply(ctx context.Context, post *outbox.Posting, i int, m slackapi.Message) (gone, said bool, err error) {
	if sending := post.Reply(i).Sending; !sending.IsZero() {
		ts, err := c.search(ctx, slackapi.Search{Channel: post.Channel, Thread: post.TS, Tag: m.Tag, Since: sending})
		if lost(err, post.Channel, c.summariesOf(post.Summary.Cluster)) {
			return true, true, nil
		}
		if err != nil {
			c.postingNotTaken(ctx, *post, err)
			return false, false, nil
		}
		if ts != "" {
			*post = post.WithReply(i, outbox.Reply{TS: ts})
			return false, true, nil
		}
	}
	if *post, err = c.Postings.SavePosting(ctx, post.WithReply(i, outbox.Reply{Sending: c.Now()})); err != nil {
		return false, false, err
	}
	ts, err := c.Slack.Reply(ctx, post.Channel, post.TS, m)
	switch {
	case err == nil:
		c.Count("SlackNotes", 1)
		*post = post.WithReply(i, outbox.Reply{TS: ts})
		c.accepted(c.targetsOfSummary(*post)...)
		return false, true, nil
	case lost(err, post.Channel, c.summariesOf(post.Summary.Cluster)):
		return true, true, nil
	}
	c.postingNotTaken(ctx, *post, err)
	var e *slackapi.Error
	if errors.As(err, &e) && e.Kind != slackapi.Unavailable {
		*post, err = c.savePosting(ctx, post.WithReply(i, outbox.Reply{})) // it answered: nothing was sent
		return false, false, err
	}
	return false, false, nil
}

// savePosting records what Slack took, even if time is running out: the frame keeps
// two seconds for this.
func (c *Cluster) savePosting(ctx context.Context, post outbox.Posting) (outbox.Posting, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 1500*time.Millisecond)
	defer cancel()
	return c.Postings.SavePosting(ctx, post)
}

// postingNotTaken deals with what Slack did not take: it waits for the next batch
// where waiting helps, and else rings the alarm.
func (c *Cluster) postingNotTaken(ctx context.Context, post outbox.Posting, err error) {
	c.Count("SlackFailures", 1)
	var e *slackapi.Error
	if errors.As(err, &e) && e.Retryable() || errors.Is(err, context.DeadlineExceeded) {
		c.slackDown = true
		c.Log.WarnContext(ctx, "Slack was not told, it will be with the next batch", "cluster", post.Summary.Cluster, "summary", post.Summary.ID, "error", err.Error())
		return
	}
	c.holdBack(ctx, refuser(err, c.roomOf(post), outbox.OfSummary(post.Summary.ID)), err, "cluster", post.Summary.Cluster, "summary", post.Summary.ID)
}
