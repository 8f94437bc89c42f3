package slackapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/report"
	"rollcall/shared/slack/hook"
	"rollcall/shared/slack/slacktext"
)

// Session is Slack with the token from the secret. The token is read when it
// is first needed, and again after Slack refused it: so a secret that is
// filled in or rotated needs no new deployment, and an empty one keeps nothing
// from being recorded.
type Session struct {
	secret hook.SecretReader
	arn    string
	api    string
	http   *http.Client

	mu     sync.Mutex
	client *Client
	// workspace is the client's, once it is known: a token is of one for ever.
	workspace report.Workspace
}

// NewSession makes a session with the token from the secret of that ARN. Nothing is
// read yet.
func NewSession(secret hook.SecretReader, arn, api string, client *http.Client) *Session {
	return &Session{secret: secret, arn: arn, api: api, http: client}
}

func (s *Session) open(ctx context.Context) (*Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		return s.client, nil
	}
	token, err := hook.Token(ctx, s.secret, s.arn)
	if err != nil {
		return nil, err
	}
	s.client, err = NewClient(s.api, token, s.http)
	return s.client, err
}

// Prepare reads the token ahead of the first message. A failure is not kept: the message reads
// the secret again, and reports it.
func (s *Session) Prepare(ctx context.Context) { _, _ = s.open(ctx) }

// after forgets the token that Slack does not take.
func (s *Session) after(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == Auth {
		s.mu.Lock()
		s.client, s.workspace = nil, report.Workspace{}
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
func (s *Session) Workspace(ctx context.Context) (report.Workspace, error) {
	c, err := s.open(ctx)
	if err != nil {
		return report.Workspace{}, err
	}
	s.mu.Lock()
	known := s.workspace
	s.mu.Unlock()
	if known != (report.Workspace{}) {
		return known, nil
	}
	own, err := c.Workspace(ctx)
	if err != nil {
		return report.Workspace{}, s.after(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == c {
		s.workspace = own
	}
	return own, nil
}

// maxAnswer bounds what is read of an answer: a page of history with 200
// messages of full size is about 4 MB.
const maxAnswer = 16 << 20

// transport makes the calls of slack-go. It reads each answer to its end, so
// that connections are used again, follows no redirect, so that the token goes
// nowhere else, and turns every failure into an *Error without the token.
type transport struct {
	http  *http.Client
	token string
}

func newTransport(base *http.Client, token string) *transport {
	c := *base
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.Timeout == 0 {
		// Slack answers in well under a second; its clients use 30 s.
		c.Timeout = 30 * time.Second
	}
	return &transport{http: &c, token: token}
}

// Do makes one call. Answers that it returns are good ones.
func (t *transport) Do(r *http.Request) (*http.Response, error) {
	method := path.Base(r.URL.Path)
	resp, err := t.http.Do(r)
	if err != nil {
		return nil, &Error{Kind: Unavailable, Method: method, cause: t.redact(err)}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	closeErr := resp.Body.Close()
	switch {
	case err != nil:
		return nil, &Error{Kind: Unavailable, Method: method, Status: resp.StatusCode, cause: t.redact(fmt.Errorf("read the answer: %w", err))}
	case closeErr != nil:
		return nil, &Error{Kind: Unavailable, Method: method, Status: resp.StatusCode, cause: t.redact(fmt.Errorf("close the answer: %w", closeErr))}
	case len(body) > maxAnswer:
		return nil, &Error{Kind: Unavailable, Method: method, Status: resp.StatusCode, cause: fmt.Errorf("the answer is larger than %d bytes", maxAnswer)}
	}
	if e := classify(method, resp.StatusCode, resp.Header, body); e != nil {
		for n, d := range e.Details {
			e.Details[n] = t.hide(d)
		}
		e.Code, e.Scope = t.hide(e.Code), t.hide(e.Scope)
		return nil, e
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// redact drops the address of the call, and the token should it be in there.
func (t *transport) redact(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if s := err.Error(); t.hide(s) != s {
		return errors.New(t.hide(s))
	}
	return err
}

func (t *transport) hide(s string) string {
	if t.token == "" {
		return s
	}
	return strings.ReplaceAll(s, t.token, "<token>")
}

// File is a picture or a text on its way to Slack.
type File struct {
	Name  string // with its ending
	Title string
	Alt   string // of a picture, for those who cannot see it
	Data  []byte
}

// Upload gives Slack a file and returns its id. The file is in no channel: it
// is seen where a message shows it. It needs the scope files:write.
func (c *Client) Upload(ctx context.Context, f File) (id string, err error) {
	return c.put(ctx, f, "", "")
}

// Share gives Slack a file as a reply in a thread: text is shown there as a
// snippet that can be opened. It needs the scope files:write. An answer that is
// lost may share it twice: a file carries no mark that Find knows.
func (c *Client) Share(ctx context.Context, channel, thread string, f File) (id string, err error) {
	return c.put(ctx, f, channel, thread)
}

func (c *Client) put(ctx context.Context, f File, channel, thread string) (id string, err error) {
	var place *slackgo.GetUploadURLExternalResponse
	err = c.patiently(ctx, func() error {
		var err error
		place, err = c.api.GetUploadURLExternalContext(ctx, slackgo.GetUploadURLExternalParameters{FileName: f.Name, FileSize: len(f.Data), AltTxt: slacktext.Clip(slacktext.OneLine(f.Alt), MaxAlt)})
		return err
	})
	if err != nil {
		return "", c.typed(err)
	}
	if err := c.files.upload(ctx, place.UploadURL, f.Data); err != nil {
		return "", c.typed(err)
	}
	var done *slackgo.CompleteUploadExternalResponse
	err = c.patiently(ctx, func() error {
		var err error
		done, err = c.api.CompleteUploadExternalContext(ctx, slackgo.CompleteUploadExternalParameters{
			Files: []slackgo.FileSummary{{ID: place.FileID, Title: slacktext.Clip(slacktext.OneLine(f.Title), MaxAlt)}}, Channel: channel, ThreadTimestamp: thread,
		})
		return err
	})
	if err != nil {
		return "", c.typed(err)
	}
	if len(done.Files) != 1 || done.Files[0].ID == "" {
		return "", &Error{Kind: Unavailable, Method: "files.completeUploadExternal", Status: http.StatusOK, cause: errors.New("the answer names no file")}
	}
	return done.Files[0].ID, nil
}

// upload sends the bytes to the address that Slack gave for them. The address
// is the permission: the token does not go there.
func (t *transport) upload(ctx context.Context, address string, data []byte) error {
	const method = "file upload"
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !hook.Loopback(u.Hostname())) {
		return &Error{Kind: Refused, Method: method, cause: errors.New("the address that Slack gave is not an https URL")}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(data))
	if err != nil {
		return &Error{Kind: Refused, Method: method, cause: t.redact(err)}
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	resp, err := t.http.Do(req)
	if err != nil {
		return &Error{Kind: Unavailable, Method: method, cause: t.redact(err)}
	}
	// The answer is a few words, read to its end for the connection's sake.
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return &Error{Kind: Unavailable, Method: method, Status: resp.StatusCode, cause: t.redact(fmt.Errorf("read the answer: %w", err))}
	}
	e := &Error{Kind: Refused, Method: method, Status: resp.StatusCode}
	switch s := resp.StatusCode; {
	case s == http.StatusOK:
		return nil
	case s == http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = RateLimited, retryAfter(resp.Header)
	case s >= 500, s == http.StatusRequestTimeout:
		e.Kind = Unavailable
	}
	return e
}

const (
	// MaxAlt is Slack's limit of alternative texts.
	MaxAlt = 2000
	// takingIn is how long Slack gets to take a picture in: it does so after it
	// has answered, and refuses blocks that show it before (slackapi,
	// node-slack-sdk issue 1865).
	takingIn = 2 * time.Second
)

// notTakenIn reports whether a message may have been refused because Slack does
// not know its picture yet.
func notTakenIn(m Message, err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == "invalid_blocks" && m.Picture() != ""
}

// Picture is the file that the message shows; empty for none.
func (m Message) Picture() string {
	for _, b := range m.Blocks {
		if image, ok := b.(*slackgo.ImageBlock); ok && image.SlackFile != nil {
			return image.SlackFile.ID
		}
	}
	return ""
}
