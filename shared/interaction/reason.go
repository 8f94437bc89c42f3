// Package interaction reads what Slack sends when somebody uses a message of
// an app: who signed it, how old it is, and what was pressed. It decides from
// what it is given alone.
package interaction

// Reason is why a request is refused. It stands in logs, metrics and audit
// records.
type Reason string

// The reasons of requests of which nobody knows who sent them.
const (
	TooLarge Reason = "too-large"
	NotPost  Reason = "not-post"
	NotForm  Reason = "not-form"
	// Unsigned: a header of the signature is missing, or is none.
	Unsigned   Reason = "unsigned"
	TooOld     Reason = "too-old"
	FromFuture Reason = "from-the-future"
	Forged     Reason = "forged"
)

// The reasons of requests that Slack signed.
const (
	Replayed      Reason = "replayed"
	Malformed     Reason = "malformed"
	NotPressed    Reason = "not-a-press" // a shortcut, a dialog: Rollcall has none
	SeveralAtOnce Reason = "several-actions"
	UnknownAction Reason = "unknown-action"
	UnknownValue  Reason = "unknown-value"
	// NotWatched: the account and region of what was pressed were taken out of the settings.
	NotWatched Reason = "not-watched"
)

// Reasons are all of them.
func Reasons() []Reason {
	return []Reason{
		TooLarge, NotPost, NotForm, Unsigned, TooOld, FromFuture, Forged,
		Replayed, Malformed, NotPressed, SeveralAtOnce, UnknownAction, UnknownValue, NotWatched,
	}
}

// Signed tells that Slack signed what was refused for the reason.
func (r Reason) Signed() bool {
	switch r {
	case Replayed, Malformed, NotPressed, SeveralAtOnce, UnknownAction, UnknownValue, NotWatched:
		return true
	}
	return false
}

// Status is the HTTP status by which a refusal is answered.
func (r Reason) Status() int {
	// In numbers: a package that decides does not import net/http.
	switch r {
	case TooLarge:
		return 413
	case NotPost:
		return 405
	case NotForm:
		return 415
	case Unsigned, TooOld, FromFuture, Forged:
		return 401
	case Replayed:
		return 409
	}
	return 400
}

// Refusal is a request that is not let in.
type Refusal struct {
	Reason Reason
	// Says is a sentence for people. It quotes nothing of the request.
	Says string
}

// Error gives the reason and the sentence.
func (r *Refusal) Error() string { return string(r.Reason) + ": " + r.Says }

func refuse(reason Reason, says string) error { return &Refusal{Reason: reason, Says: says} }
