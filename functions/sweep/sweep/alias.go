package sweep

import (
	"context"
	"time"

	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// Names is where report looks up what people call an account.
type Names interface {
	Alias(ctx context.Context) (store.Alias, bool, error)
	SaveAlias(ctx context.Context, a store.Alias) error
}

var _ Names = (*store.Store)(nil)

const (
	// An alias is asked for once a day: it hardly ever changes.
	aliasEvery = 24 * time.Hour
	// Where there is none, or it may not be read, somebody may be about to change that; and
	// what did not answer is not worth a tick's time earlier.
	aliasAgain = time.Hour
	// aliasPatience is how long a tick waits: the turns are sent.
	aliasPatience = 10 * time.Second
)

// naming has people told the account's alias. Nil where nobody is: the settings give the
// account a name, or there is no other to tell it from.
type naming struct {
	ask   func(ctx context.Context) (alias string, denied bool, failed *snapshot.Failure)
	names Names
	// next is when this process looks again whether it is time to ask.
	next time.Time
}

// dueAfter is when an alias is asked for again that was read.
func dueAfter(a store.Alias) time.Time {
	if a.Alias == "" {
		return a.At.Add(aliasAgain)
	}
	return a.At.Add(aliasEvery)
}

// alias asks for the account's alias if it is time, and writes it down. Nobody is told that
// it cannot be read: the account's number is a name, too.
func (h handler) alias(ctx context.Context) {
	n, now := h.naming, h.Now()
	if n == nil || now.Before(n.next) {
		return
	}
	n.next = now.Add(aliasAgain)
	ctx, cancel := context.WithTimeout(ctx, aliasPatience)
	defer cancel()
	before, known, err := n.names.Alias(ctx)
	if err != nil {
		h.Log.WarnContext(ctx, "whether the account's alias is known could not be read", "error", err.Error())
		return
	}
	if due := dueAfter(before); known && now.Before(due) {
		n.next = due // another process has asked
		return
	}
	name, denied, failed := n.ask(ctx)
	if failed != nil {
		h.Log.InfoContext(ctx, "the account's alias could not be read: people see the one of before, or the account's number", "call", failed.Call, "error", failed.Message)
		return
	}
	if denied {
		h.Log.InfoContext(ctx, "the account's alias may not be read: people see the account's number", "call", "iam:ListAccountAliases")
	}
	read := store.Alias{At: now, Alias: name}
	if err := n.names.SaveAlias(ctx, read); err != nil {
		h.Log.WarnContext(ctx, "the account's alias could not be written down", "error", err.Error())
		return
	}
	n.next = dueAfter(read)
}
