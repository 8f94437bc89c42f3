package slackapi

import (
	"context"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident/response"
)

// Broadcast sends a message into a thread and shows it in the channel too.
func (c *Client) Broadcast(ctx context.Context, channel, thread string, m Message) (ts string, err error) {
	return c.send(ctx, channel, m, slackgo.MsgOptionTS(thread), slackgo.MsgOptionBroadcast())
}

// Ephemeral tells one person something that only they see, in a thread if one
// is given. Slack keeps nothing of it, so it cannot be found again: what is sent
// a second time is seen twice.
func (c *Client) Ephemeral(ctx context.Context, channel, user, thread string, m Message) error {
	options := []slackgo.MsgOption{
		slackgo.MsgOptionText(m.Text, false),
		slackgo.MsgOptionDisableLinkUnfurl(),
		slackgo.MsgOptionDisableMediaUnfurl(),
	}
	if len(m.Blocks) > 0 {
		options = append(options, slackgo.MsgOptionBlocks(m.Blocks...))
	}
	if thread != "" {
		options = append(options, slackgo.MsgOptionTS(thread))
	}
	err := c.patiently(ctx, func() error {
		_, err := c.api.PostEphemeralContext(ctx, channel, user, options...)
		return err
	})
	if err != nil {
		return c.typed(err)
	}
	return nil
}

// GroupMembers are the ids of the users of a user group. It needs the scope
// usergroups:read. A group that is disabled has no members.
func (c *Client) GroupMembers(ctx context.Context, group string) ([]string, error) {
	var users []string
	err := c.patiently(ctx, func() error {
		var err error
		users, err = c.api.GetUserGroupMembersContext(ctx, group)
		return err
	})
	if err != nil {
		return nil, c.typed(err)
	}
	return users, nil
}

// Guest reports whether a user is a guest of the workspace, of one channel or of several
// (docs.slack.dev/reference/objects/user-object, is_restricted and is_ultra_restricted). It
// needs the scope users:read.
func (c *Client) Guest(ctx context.Context, user string) (bool, error) {
	guest := false
	err := c.patiently(ctx, func() error {
		u, err := c.api.GetUserInfoContext(ctx, user)
		if err != nil {
			return err
		}
		guest = u.IsRestricted || u.IsUltraRestricted
		return nil
	})
	if err != nil {
		return false, c.typed(err)
	}
	return guest, nil
}

// Workspace is the workspace and the organization of the token's app. auth.test
// needs no scope, and tells the organization where there is one
// (docs.slack.dev/reference/methods/auth.test).
func (c *Client) Workspace(ctx context.Context) (response.Workspace, error) {
	var own response.Workspace
	err := c.patiently(ctx, func() error {
		who, err := c.api.AuthTestContext(ctx)
		if err != nil {
			return err
		}
		own = response.Workspace{ID: who.TeamID, Enterprise: who.EnterpriseID, URL: who.URL}
		return nil
	})
	if err != nil {
		return response.Workspace{}, c.typed(err)
	}
	return own, nil
}
