// Package checkid names the checks. The ids are permanent: they stand in Slack,
// in finding events and in other people's rules. They are apart from
// the checks because what knows how nodes end (shared/node) names checks too, and
// stands below them.
package checkid

import "strings"

// ID names a check, e.g. "route/no-egress".
type ID string

// Family is the first half of an id: what the check is about.
type Family string

// Family is the id's family; of what is no id, the whole text.
func (id ID) Family() Family {
	family, _, _ := strings.Cut(string(id), "/")
	return Family(family)
}

// What many checks explain in the same way, each where it fails. In an After
// it stands for all of them.
const (
	// AnyJoinCause names a cause of a node that cannot join, each of its own
	// kind. What an instance says of itself, and what Kubernetes says of a node,
	// is how such a cause shows. Those that are only likely are not among them:
	// a line that proves something outweighs them.
	AnyJoinCause ID = "any cause of a node that cannot join"
	// AnyFailedLaunch is more exact than that an instance ended early.
	AnyFailedLaunch ID = "any failed launch"
)
