package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"rollcall/local/release"
	"rollcall/local/stage"
)

// keepSamples watches what the functions write on a stage; what it gives ends
// that, and adds it to a folder's samples.
func keepSamples(ctx context.Context, r *release.Recorder, s *stage.Stage, dir string) func() error {
	watching, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- r.Watch(watching, s, time.Second) }()
	return func() error {
		stop()
		return errors.Join(<-ended, unsigned(ctx, s), r.Look(ctx, s), r.Write(dir))
	}
}

// unsigned sends what Slack has not signed: no story does, and a refusal leaves
// a record too.
func unsigned(ctx context.Context, s *stage.Stage) error {
	address := s.URL("slack-actions")
	if address == "" {
		return nil
	}
	body := url.Values{"payload": {"{}"}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("send an unsigned press: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("send an unsigned press: %w", err)
	}
	return res.Body.Close()
}

// keepSamples keeps what was written on the story's stage, where that is wanted.
func (n *narrator) keepSamples() error {
	if n.keep == nil {
		return nil
	}
	return n.keep()
}
