package slackapi

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"rollcall/shared/incident/response"
)

// Session is Slack with the token from the secret. The token is read when it
// is first needed, and again after Slack refused it: so a secret that is
// filled in or rotated needs no new deployment, and an empty one keeps nothing
// from being recorded.
type Session struct {
	secret SecretReader
	arn    string
	api    string
	http   *http.Client

	mu     sync.Mutex
	client *Client
	// workspace is the client's, once it is known: a token is of one for ever.
	workspace response.Workspace
}

// NewSession makes a session with the token from the secret of that ARN. Nothing is
// read yet.
func NewSession(secret SecretReader, arn, api string, client *http.Client) *Session {
	return &Session{secret: secret, arn: arn, api: api, http: client}
}

func (s *Session) open(ctx context.Context) (*Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		return s.client, nil
	}
	token, err := Token(ctx, s.secret, s.arn)
	if err != nil {
		return nil, err
	}
	s.client, err = NewClient(s.api, token, s.http)
	return s.client, err
}

// after forgets the token that Slack does not take.
func (s *Session) after(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == Auth {
		s.mu.Lock()
		s.client, s.workspace = nil, response.Workspace{}
		s.mu.Unlock()
	}
	return err
}

// Post sends a new message.
func (s *Session) Post(ctx context.Context, channel string, m Message) (string, error) {
	c, err := s.open(ctx)
	if err != nil {
		return "", err
	}
	ts, err := c.Post(ctx, channel, m)
	return ts, s.after(err)
}

// Upload gives Slack a picture.
func (s *Session) Upload(ctx context.Context, f File) (string, error) {
	c, err := s.open(ctx)
	if err != nil {
		return "", err
	}
	id, err := c.Upload(ctx, f)
	return id, s.after(err)
}

// Share shows a file in a thread.
func (s *Session) Share(ctx context.Context, channel, thread string, f File) (string, error) {
	c, err := s.open(ctx)
	if err != nil {
		return "", err
	}
	id, err := c.Share(ctx, channel, thread, f)
	return id, s.after(err)
}

// Update edits a message.
func (s *Session) Update(ctx context.Context, channel, ts string, m Message) error {
	c, err := s.open(ctx)
	if err != nil {
		return err
	}
	return s.after(c.Update(ctx, channel, ts, m))
}

// Reply sends a message into a thread.
func (s *Session) Reply(ctx context.Context, channel, thread string, m Message) (string, error) {
	c, err := s.open(ctx)
	if err != nil {
		return "", err
	}
	ts, err := c.Reply(ctx, channel, thread, m)
	return ts, s.after(err)
}

// Broadcast sends a message into a thread and shows it in the channel.
func (s *Session) Broadcast(ctx context.Context, channel, thread string, m Message) (string, error) {
	c, err := s.open(ctx)
	if err != nil {
		return "", err
	}
	ts, err := c.Broadcast(ctx, channel, thread, m)
	return ts, s.after(err)
}

// Ephemeral tells one person something.
func (s *Session) Ephemeral(ctx context.Context, channel, user, thread string, m Message) error {
	c, err := s.open(ctx)
	if err != nil {
		return err
	}
	return s.after(c.Ephemeral(ctx, channel, user, thread, m))
}

// GroupMembers are the users of a user group.
func (s *Session) GroupMembers(ctx context.Context, group string) ([]string, error) {
	c, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	users, err := c.GroupMembers(ctx, group)
	return users, s.after(err)
}

// Guest reports whether a user is a guest of the workspace.
func (s *Session) Guest(ctx context.Context, user string) (bool, error) {
	c, err := s.open(ctx)
	if err != nil {
		return false, err
	}
	guest, err := c.Guest(ctx, user)
	return guest, s.after(err)
}

// Find looks for a message.
func (s *Session) Find(ctx context.Context, search Search) (Found, error) {
	c, err := s.open(ctx)
	if err != nil {
		return Found{}, err
	}
	found, err := c.Find(ctx, search)
	return found, s.after(err)
}

// Workspace is where the token's app is installed.
func (s *Session) Workspace(ctx context.Context) (response.Workspace, error) {
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
