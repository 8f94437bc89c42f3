package slackapi

import (
	"context"
	"errors"

	slackgo "github.com/slack-go/slack"
)

// PublishHome draws the app's home page for a user. Hash is the state of the page in which
// they opened it, or pressed on it: where it was drawn anew since, it stays as it is, for
// that is newer; empty draws it whatever is there. views.publish needs no scope
// (docs.slack.dev/reference/methods/views.publish).
func (c *Client) PublishHome(ctx context.Context, user, hash string, page Message) error {
	request := slackgo.PublishViewContextRequest{
		UserID: user,
		View:   slackgo.HomeTabViewRequest{Type: slackgo.VTHomeTab, Blocks: slackgo.Blocks{BlockSet: page.Blocks}},
	}
	if hash != "" {
		request.Hash = &hash
	}
	err := c.patiently(ctx, func() error {
		_, err := c.api.PublishViewContext(ctx, request)
		return err
	})
	if err == nil {
		return nil
	}
	var e *Error
	if err = c.typed(err); errors.As(err, &e) && e.Code == "hash_conflict" {
		return nil
	}
	return err
}

// PublishHome draws the app's home page for a user.
func (s *Session) PublishHome(ctx context.Context, user, hash string, page Message) error {
	c, err := s.open(ctx)
	if err != nil {
		return err
	}
	return s.after(c.PublishHome(ctx, user, hash, page))
}
