package report

import (
	"context"
	"errors"
	"time"

	"rollcall/shared/notify/outbox"

	"rollcall/shared/slack"
)

// mostRefusals is in how many batches Slack may refuse a message because of
// its picture: it takes pictures in after it has answered, usually in a second.
const mostRefusals = 3

// post says one summary: its picture first, as the message shows it, then the
// message, then its details. Each step is recorded, so that a crash neither
// repeats nor loses it. What Slack did not take is tried again with the
// cluster's next batch. The error is of the record alone.
func (p *invocation) post(ctx context.Context, post outbox.Posting) error {
	if post.TS == "" {
		said, err := p.postMessage(ctx, &post)
		if err != nil || !said {
			return err
		}
	}
	if post.Due() {
		said, err := p.postDetails(ctx, &post)
		if err != nil || !said {
			return err
		}
	}
	_, err := p.savePosting(ctx, post.Delivered())
	return err
}

// postMessage sends the picture and the message that shows it.
func (p *invocation) postMessage(ctx context.Context, post *outbox.Posting) (said bool, err error) {
	cut := !post.Sending.IsZero()
	if !cut && !p.upload(ctx, post) {
		return false, nil
	}
	m := slack.RenderSummary(post.Summary, post.Picture)
	if cut { // an earlier invocation was cut off: Slack may have it
		ts, err := p.search(ctx, slack.Search{Channel: p.summariesOf(post.Summary.Cluster), Tag: m.Tag, Since: post.Sending})
		if err != nil {
			p.postingNotTaken(ctx, *post, err)
			return false, nil
		}
		post.Channel, post.TS = p.summariesOf(post.Summary.Cluster), ts
	}
	if post.TS == "" {
		post.Sending = p.now()
		if *post, err = p.postings.SavePosting(ctx, *post); err != nil {
			return false, err
		}
		ts, err := p.slack.Post(ctx, p.summariesOf(post.Summary.Cluster), m)
		if err != nil {
			return false, p.refused(ctx, *post, err)
		}
		p.count("SlackSummaries", 1)
		post.Channel, post.TS = p.summariesOf(post.Summary.Cluster), ts
		p.accepted(p.targetsOfSummary(*post)...)
	}
	*post, err = p.savePosting(ctx, *post)
	return true, err
}

// upload gives Slack the picture, and tells whether the message can go out
// now: with it, or without it and with the reason.
func (p *invocation) upload(ctx context.Context, post *outbox.Posting) (ok bool) {
	if len(post.Summary.Chart) == 0 || post.Picture.File != "" || post.Picture.Missing != "" {
		return true
	}
	name := "spot-" + post.Summary.Cluster + "-" + post.Summary.Spot.To.UTC().Format("2006-01-02") + ".png"
	id, err := p.files.Upload(ctx, slack.File{
		Name: name, Title: "Spot in " + post.Summary.Cluster, Alt: slack.RenderSummary(post.Summary, outbox.Picture{}).Text, Data: post.Summary.Chart,
	})
	if err == nil {
		p.count("SlackPictures", 1)
		post.Picture.File = id
		return true
	}
	var e *slack.Error
	switch errors.As(err, &e); {
	case e != nil && e.Code == "missing_scope":
		post.Picture.Missing = "the Slack app lacks the scope files:write; add it to the app and install it again"
	case e != nil && e.Kind == slack.Refused:
		post.Picture.Missing = "Slack did not take it (" + e.Method + " " + e.Code + ")"
	default:
		p.postingNotTaken(ctx, *post, err)
		return false
	}
	p.count("SlackFailures", 1)
	p.pictureless(ctx, "the summary goes out without its picture", err, "cluster", post.Summary.Cluster, "summary", post.Summary.ID)
	return true
}

// refused records that Slack did not take the message.
func (p *invocation) refused(ctx context.Context, post outbox.Posting, err error) error {
	var e *slack.Error
	if errors.As(err, &e) && e.Kind != slack.Unavailable {
		post.Sending = time.Time{} // Slack answered, so it is certain that nothing was sent
		if e.Code == "invalid_blocks" && post.Picture.File != "" {
			post.Picture.Refusals++
			if post.Picture.Refusals < mostRefusals {
				p.count("SlackFailures", 1)
				p.log.WarnContext(ctx, "Slack does not show the picture yet, it is tried again with the next batch", "cluster", post.Summary.Cluster, "summary", post.Summary.ID, "error", err.Error())
				_, err := p.savePosting(ctx, post)
				return err
			}
			post.Picture = outbox.Picture{Missing: "Slack did not take a message with it", Refusals: post.Picture.Refusals}
			p.count("SlackFailures", 1)
			p.pictureless(ctx, "the summary goes out without its picture", err, "cluster", post.Summary.Cluster, "summary", post.Summary.ID)
			_, err := p.savePosting(ctx, post)
			return err
		}
	}
	p.postingNotTaken(ctx, post, err)
	_, err = p.savePosting(ctx, post)
	return err
}

// postDetails sends the reply with the details.
func (p *invocation) postDetails(ctx context.Context, post *outbox.Posting) (said bool, err error) {
	m := slack.RenderSummaryDetails(post.Summary)
	if !post.DetailsSending.IsZero() {
		ts, err := p.search(ctx, slack.Search{Channel: post.Channel, Thread: post.TS, Tag: m.Tag, Since: post.DetailsSending})
		if err != nil && !lost(err, post.Channel, p.summariesOf(post.Summary.Cluster)) {
			p.postingNotTaken(ctx, *post, err)
			return false, nil
		}
		if post.DetailsTS = ts; ts != "" || err != nil {
			return true, nil
		}
	}
	post.DetailsSending = p.now()
	if *post, err = p.postings.SavePosting(ctx, *post); err != nil {
		return false, err
	}
	ts, err := p.slack.Reply(ctx, post.Channel, post.TS, m)
	switch {
	case err == nil:
		p.count("SlackNotes", 1)
		post.DetailsTS = ts
		p.accepted(p.targetsOfSummary(*post)...)
		return true, nil
	case lost(err, post.Channel, p.summariesOf(post.Summary.Cluster)):
		// Somebody deleted the message: nobody wants its details.
		return true, nil
	}
	p.postingNotTaken(ctx, *post, err)
	var e *slack.Error
	if errors.As(err, &e) && e.Kind != slack.Unavailable {
		post.DetailsSending = time.Time{}
		_, err := p.savePosting(ctx, *post)
		return false, err
	}
	return false, nil
}

// savePosting records what Slack took, even if time is running out: the frame keeps
// two seconds for this.
func (p *invocation) savePosting(ctx context.Context, post outbox.Posting) (outbox.Posting, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 1500*time.Millisecond)
	defer cancel()
	return p.postings.SavePosting(ctx, post)
}

// postingNotTaken deals with what Slack did not take: it waits for the next batch
// where waiting helps, and else rings the alarm.
func (p *invocation) postingNotTaken(ctx context.Context, post outbox.Posting, err error) {
	p.count("SlackFailures", 1)
	var e *slack.Error
	if errors.As(err, &e) && e.Retryable() || errors.Is(err, context.DeadlineExceeded) {
		p.slackDown = true
		p.log.WarnContext(ctx, "Slack was not told, it will be with the next batch", "cluster", post.Summary.Cluster, "summary", post.Summary.ID, "error", err.Error())
		return
	}
	p.holdBack(ctx, refuser(err, p.roomOf(post), outbox.OfSummary(post.Summary.ID)), err, "cluster", post.Summary.Cluster, "summary", post.Summary.ID)
}
