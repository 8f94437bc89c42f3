package incident

import "time"

const (
	// freshLine is how long a new line of the channel is read by whom it called: a
	// decision that is wanted meanwhile shows in the message that they have before them.
	freshLine = 10 * time.Minute
	// justSaid is how long what is said is still being opened: the parts of one burst come
	// within it.
	justSaid = 2 * time.Minute
	// longAgo is from when on what comes back is news, however urgent it is, and what got
	// worse may be told again: not with each breath of a subnet that is nearly full.
	longAgo = time.Hour
)

// wantsLine tells that a person must know of this now. An edit calls nobody, and a reply
// only who wrote in the thread: it is shown in the channel too (DESIGN, section 17).
func (inc *Incident) wantsLine(r Reason, at time.Time) bool {
	last := Later(inc.Opened, inc.Lined)
	switch r {
	case Reopened: // Opened is now
		return inc.Severity() == Critical || at.Sub(Later(inc.Before, inc.Lined)) >= longAgo
	case FailedAgain:
		return inc.Severity() == Critical
	case IsWorse, IsUnsilenced:
		return true
	case IsProposed:
		return at.Sub(last) >= freshLine
	case RemedyFailed, IsUnhelpful: // the fix is a person's again
		return inc.State == Open
	}
	return false
}

// mayBeWorse tells that it was not said just now, nor lately that it got worse.
func (inc *Incident) mayBeWorse(at time.Time) bool {
	if at.Sub(Later(inc.Opened, inc.Lined)) < justSaid {
		return false
	}
	for _, n := range inc.Delivery.Notes {
		if n.Reason == IsWorse && at.Sub(n.At) < longAgo {
			return false
		}
	}
	return true
}

// GotWorse tells that an incident that was open as a lesser one is critical now.
func (u *Update) GotWorse(at time.Time) bool {
	return u.Was != "" && u.Was != Critical && u.State == Open && u.Severity() == Critical && u.mayBeWorse(at)
}
