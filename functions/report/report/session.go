package report

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"rollcall/shared/incident/response"

	"rollcall/shared/slack"
)

// session is Slack with the token from the secret. The token is read when it
// is first needed, and again after Slack refused it: so a secret that is
// filled in or rotated needs no new deployment, and an empty one keeps nothing
// from being recorded.
type session struct {
	secret slack.SecretReader
	arn    string
	api    string
	http   *http.Client

	mu     sync.Mutex
	client *slack.Client
	// workspace is the client's, once it is known: a token is of one for ever.
	workspace response.Workspace
}

var (
	_ Slack  = (*session)(nil)
	_ Files  = (*session)(nil)
	_ People = (*session)(nil)
)

func (s *session) open(ctx context.Context) (*slack.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		return s.client, nil
	}
	token, err := slack.Token(ctx, s.secret, s.arn)
	if err != nil {
		return nil, err
	}
	s.client, err = slack.NewClient(s.api, token, s.http)
	return s.client, err
}

// after forgets the token that Slack does not take.
func (s *session) after(err error) error {
	var e *slack.Error
	if errors.As(err, &e) && e.Kind == slack.Auth {
		s.mu.Lock()
		s.client, s.workspace = nil, response.Workspace{}
		s.mu.Unlock()
	}
	return err
}

// Post sends a new message.
func (s *session) Post(ctx context.Context, channel string, m slack.Message) (string, error) {
	c, err := s.open(ctx)
	if err != nil {
		return "", err
	}
	ts, err := c.Post(ctx, channel, m)
	return ts, s.after(err)
}

// Upload gives Slack a picture.
func (s *session) Upload(ctx context.Context, f slack.File) (string, error) {
	c, err := s.open(ctx)
	if err != nil {
		return "", err
	}
	id, err := c.Upload(ctx, f)
	return id, s.after(err)
}

// Share shows a file in a thread.
func (s *session) Share(ctx context.Context, channel, thread string, f slack.File) (string, error) {
	c, err := s.open(ctx)
	if err != nil {
		return "", err
	}
	id, err := c.Share(ctx, channel, thread, f)
	return id, s.after(err)
}

// Update edits a message.
func (s *session) Update(ctx context.Context, channel, ts string, m slack.Message) error {
	c, err := s.open(ctx)
	if err != nil {
		return err
	}
	return s.after(c.Update(ctx, channel, ts, m))
}

// Reply sends a message into a thread.
func (s *session) Reply(ctx context.Context, channel, thread string, m slack.Message) (string, error) {
	c, err := s.open(ctx)
	if err != nil {
		return "", err
	}
	ts, err := c.Reply(ctx, channel, thread, m)
	return ts, s.after(err)
}

// Broadcast sends a message into a thread and shows it in the channel.
func (s *session) Broadcast(ctx context.Context, channel, thread string, m slack.Message) (string, error) {
	c, err := s.open(ctx)
	if err != nil {
		return "", err
	}
	ts, err := c.Broadcast(ctx, channel, thread, m)
	return ts, s.after(err)
}

// Ephemeral tells one person something.
func (s *session) Ephemeral(ctx context.Context, channel, user, thread string, m slack.Message) error {
	c, err := s.open(ctx)
	if err != nil {
		return err
	}
	return s.after(c.Ephemeral(ctx, channel, user, thread, m))
}

// GroupMembers are the users of a user group.
func (s *session) GroupMembers(ctx context.Context, group string) ([]string, error) {
	c, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	users, err := c.GroupMembers(ctx, group)
	return users, s.after(err)
}

// Find looks for a message.
func (s *session) Find(ctx context.Context, search slack.Search) (slack.Found, error) {
	c, err := s.open(ctx)
	if err != nil {
		return slack.Found{}, err
	}
	found, err := c.Find(ctx, search)
	return found, s.after(err)
}

// Workspace is where the token's app is installed.
func (s *session) Workspace(ctx context.Context) (response.Workspace, error) {
	c, err := s.open(ctx)
	if err != nil {
		return response.Workspace{}, err
	}
	s.mu.Lock()
	known := s.workspace
	s.mu.Unlock()
	if known != (response.Workspace{}) {
		return known, nil
	}
	own, err := c.Workspace(ctx)
	if err != nil {
		return response.Workspace{}, s.after(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == c {
		s.workspace = own
	}
	return own, nil
}
