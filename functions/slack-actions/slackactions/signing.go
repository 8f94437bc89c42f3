package slackactions

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"rollcall/shared/interaction"
	"rollcall/shared/slack/slackapi"
)

const (
	// readAgain is how long a secret that was read is good, whether it fits or not:
	// a new one counts, and the one before counts no more, a minute after it was
	// rotated at the latest. A flood of forged requests reads once a minute.
	readAgain = time.Minute
	// keepUnread is how long a secret counts that cannot be read again: as long as
	// an outage of a regional service usually lasts.
	keepUnread = time.Hour
	// lookAgain is how long it is remembered that there is none.
	lookAgain = 5 * time.Second
)

// signing knows the secret by which Slack signs. The previous version of a
// rotated secret does not count: an app's secret is made anew because somebody
// else may have the old one.
type signing struct {
	secrets slackapi.SecretReader
	arn     string
	log     *slog.Logger

	mu     sync.Mutex
	secret string
	wrong  error
	read   time.Time // the last try
	known  time.Time // when secret was last seen to be the one
}

// verify tells whether Slack signed a request: with a Refusal if it did not,
// with another error if that cannot be known.
func (s *signing) verify(ctx context.Context, r interaction.Request, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.due(now) {
		s.look(ctx, now)
	}
	if s.secret == "" {
		return s.wrong
	}
	if interaction.Verify(s.secret, r) {
		return nil
	}
	return &interaction.Refusal{Reason: interaction.Forged, Says: "the signature is not that of the Slack app's Signing Secret"}
}

// due tells that the secret is to be read again.
func (s *signing) due(now time.Time) bool {
	keep := readAgain
	if s.secret == "" {
		keep = lookAgain
	}
	age := now.Sub(s.read)
	// A clock that was set back must not keep an old secret until it catches up.
	return s.read.IsZero() || age >= keep || age < 0
}

// look reads the secret. One that cannot be read now keeps the one that is
// known, for keepUnread; one that is empty by now takes it away.
func (s *signing) look(ctx context.Context, now time.Time) {
	s.read = now
	secret, err := slackapi.SigningSecret(ctx, s.secrets, s.arn)
	away := err != nil && !errors.Is(err, slackapi.ErrNoSigning) && !errors.Is(err, slackapi.ErrNotSigning)
	if away && s.secret != "" && now.Sub(s.known) < keepUnread {
		s.log.WarnContext(ctx, "the signing secret could not be read again, the known one stays in use for an hour", "known", s.known, "error", err.Error())
		return
	}
	s.secret, s.wrong, s.known = secret, err, now
}
