package slackapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	slackgo "github.com/slack-go/slack"
)

// Search is what to look for in a channel.
type Search struct {
	Channel string
	// Thread is the parent's timestamp, to look among its replies.
	Thread string
	Tag    Tag
	// Since is the earliest time that the message can have.
	Since time.Time
}

// Found is what a search gave.
type Found struct {
	// TS is the message's timestamp; empty if it is not there.
	TS string
	// Unsure is set when the token may not read the channel: the message may
	// or may not be there, and whoever posts now may say it twice.
	Unsure *Error
}

// Find looks for a message that an earlier attempt may have sent. It needs the
// scope channels:history (groups:history in a private channel).
func (c *Client) Find(ctx context.Context, s Search) (Found, error) {
	// A page holds at most 1,000; Slack recommends no more than 200. Fifty pages
	// are more than any channel gets between two attempts.
	const perPage, mostPages = 200, 50
	cursor := ""
	for range mostPages {
		messages, next, err := c.pageOf(ctx, s, cursor, perPage)
		var e *Error
		if errors.As(err, &e) && e.Code == "missing_scope" {
			return Found{Unsure: e}, nil
		}
		if err != nil {
			return Found{}, fmt.Errorf("look for an earlier message: %w", err)
		}
		for _, m := range messages {
			if s.Tag.matches(m.Metadata) {
				return Found{TS: m.Timestamp}, nil
			}
		}
		if next == "" {
			return Found{}, nil
		}
		cursor = next
	}
	return Found{}, &Error{Kind: Refused, Method: "conversations.history",
		cause: fmt.Errorf("not found in %d messages since %s", perPage*mostPages, s.Since.UTC().Format(time.RFC3339))}
}

// pageOf reads one page of the channel or of the thread.
func (c *Client) pageOf(ctx context.Context, s Search, cursor string, limit int) (messages []slackgo.Message, next string, err error) {
	// Timestamps of messages are Slack's clock, ours may be ahead of it.
	const skew = 2 * time.Minute
	oldest := fmt.Sprintf("%d.000000", s.Since.Add(-skew).Unix())
	err = c.patiently(ctx, func() error {
		if s.Thread != "" {
			var err error
			messages, _, next, err = c.api.GetConversationRepliesContext(ctx, &slackgo.GetConversationRepliesParameters{
				ChannelID: s.Channel, Timestamp: s.Thread, Cursor: cursor, Limit: limit, Oldest: oldest, IncludeAllMetadata: true,
			})
			return err
		}
		resp, err := c.api.GetConversationHistoryContext(ctx, &slackgo.GetConversationHistoryParameters{
			ChannelID: s.Channel, Cursor: cursor, Limit: limit, Oldest: oldest, IncludeAllMetadata: true,
		})
		if err != nil {
			return err
		}
		messages, next = resp.Messages, resp.ResponseMetaData.NextCursor
		return nil
	})
	if err != nil {
		return nil, "", c.typed(err)
	}
	return messages, next, nil
}
