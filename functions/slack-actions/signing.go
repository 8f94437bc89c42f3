package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"rollcall/shared/interaction"
	"rollcall/shared/slack"
)

const (
	// readAgain is how long a secret that signed something else is kept. A new
	// one counts after that at the latest, and a flood of forged requests reads
	// once a minute.
	readAgain = time.Minute
	// lookAgain is how long it is remembered that there is none.
	lookAgain = 5 * time.Second
)

// signing knows the secret by which Slack signs. The previous version of a
// rotated secret does not count: an app's secret is made anew because somebody
// else may have the old one.
type signing struct {
	secrets slack.SecretReader
	arn     string
	log     *slog.Logger

	mu     sync.Mutex
	secret string
	wrong  error
	read   time.Time
}

// verify tells whether Slack signed a request: with a Refusal if it did not,
// with another error if that cannot be known.
func (s *signing) verify(ctx context.Context, r interaction.Request, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.secret == "" && (s.read.IsZero() || now.Sub(s.read) >= lookAgain) {
		s.look(ctx, now)
	}
	if s.secret == "" {
		return s.wrong
	}
	if interaction.Verify(s.secret, r) {
		return nil
	}
	if now.Sub(s.read) >= readAgain {
		s.look(ctx, now)
		if interaction.Verify(s.secret, r) {
			return nil
		}
	}
	return &interaction.Refusal{Reason: interaction.Forged, Says: "the signature is not that of the Slack app's Signing Secret"}
}

// look reads the secret. One that cannot be read now keeps the one that is
// known; one that is empty by now takes it away.
func (s *signing) look(ctx context.Context, now time.Time) {
	s.read = now
	secret, err := slack.SigningSecret(ctx, s.secrets, s.arn)
	if err != nil && s.secret != "" && !errors.Is(err, slack.ErrNoSigning) && !errors.Is(err, slack.ErrNotSigning) {
		s.log.WarnContext(ctx, "the signing secret could not be read again, the known one stays in use", "error", err.Error())
		return
	}
	s.secret, s.wrong = secret, err
}
