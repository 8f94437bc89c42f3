package report

import (
	"context"
	"slices"
	"time"

	"rollcall/shared/config"
	"rollcall/shared/store"
)

// Aliases tells what sweep has read of one account's alias.
type Aliases interface {
	Alias(ctx context.Context) (store.Alias, bool, error)
}

var _ Aliases = (*store.Store)(nil)

const (
	// knownFor is how long a name is taken for what it is: sweep reads it once a day.
	knownFor = time.Hour
	// unknownFor is the same as long as sweep has not read it, which it does with a tick.
	unknownFor = 5 * time.Minute
	// namePatience is how long what is to be said waits for a name.
	namePatience = 2 * time.Second
)

// naming is what people call one account and region. It is said, and never looked up by:
// what is of whom the account's number alone decides.
type naming struct {
	config  config.Config
	aliases Aliases
	whose   string
	until   time.Time
}

// newNaming is that of a configuration's spoke.
func newNaming(c config.Config, aliases Aliases) *naming {
	return &naming{config: c, aliases: aliases, whose: c.Whose()}
}

// name is the name as far as it is known. Where the table does not answer it is the one of
// before: a message is worth more than its account's name.
func (h handler) name(ctx context.Context, n *naming) string {
	now := h.Now()
	if !n.config.WantsAlias() || now.Before(n.until) {
		return n.whose
	}
	ctx, cancel := context.WithTimeout(ctx, namePatience)
	defer cancel()
	n.until = now.Add(unknownFor)
	a, known, err := n.aliases.Alias(ctx)
	if err != nil {
		h.Log.WarnContext(ctx, "the account's alias could not be read: it is called "+n.whose, "error", err.Error())
		return n.whose
	}
	if known {
		n.until = now.Add(knownFor)
	}
	n.whose = n.config.WhoseBy(a.Alias)
	return n.whose
}

// named is the handler with the name of its own account and region.
func (h handler) named(ctx context.Context) handler {
	h.whose = h.name(ctx, h.naming)
	h.Whose = h.whose
	return h
}

// allNamed is the handler with the names of all that commands ask about.
func (h handler) allNamed(ctx context.Context) handler {
	h.watched = slices.Clone(h.watched)
	for i, w := range h.watched {
		h.watched[i].whose = h.name(ctx, w.naming)
	}
	return h
}
