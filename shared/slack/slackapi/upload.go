package slackapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/slack/slacktext"
)

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
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
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

// notTakenIn tells that a message may have been refused because Slack does
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
