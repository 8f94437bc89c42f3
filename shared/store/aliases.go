package store

import (
	"context"
	"time"
)

// What sweep has read of an account's alias has the key alias#, one for each spoke: report,
// which alone says names, reads nothing of other accounts.
const aliasPrefix = "alias#"

// keepAlias is how long an alias outlives its last read, which is each day: it is people's
// name for an account that cannot be asked for some days, too.
const keepAlias = 7 * 24 * time.Hour

const aliasFormat = 1

// Alias is what IAM has told of an account's alias. It is a name for people, and never a key.
type Alias struct {
	Format int       `json:"format"`
	At     time.Time `json:"at"`
	// Alias is empty where the account has none, or does not let it be read.
	Alias string `json:"alias,omitempty"`
}

// SaveAlias writes what the alias of the store's account is, over whatever is there.
func (s *Store) SaveAlias(ctx context.Context, a Alias) error {
	a.Format = aliasFormat
	return s.put(ctx, item{
		pk: s.key(aliasPrefix, ""), sk: "account", kind: "alias", format: a.Format, version: 1, body: a, expires: a.At.Add(keepAlias),
	}, anyVersion)
}

// Alias reads what the alias of the store's account is; false where nobody has asked.
func (s *Store) Alias(ctx context.Context) (Alias, bool, error) {
	list, err := partition[Alias](ctx, s, s.key(aliasPrefix, ""), aliasFormat, "the account's alias")
	if err != nil || len(list) == 0 {
		return Alias{}, false, err
	}
	return list[0], true, nil
}
