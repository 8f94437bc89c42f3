package incident

// Attach is the file of a note that had to be shortened, on its way into the
// thread.
type Attach struct {
	// Tries counts the attempts that Slack may have taken. It is written before
	// each: a file carries no mark by which it could be found again.
	Tries int `json:"tries,omitempty"`
}

// MostShares is how often a file may be shared of which nobody knows whether
// Slack has it: once more than it should be.
const MostShares = 2

// SentShortened is the note after Slack took its words, which left something
// out: what the file needs stays until Slack has that too.
func (n Note) SentShortened(ts string) Note {
	n.TS, n.Attach = ts, &Attach{}
	return n
}

// Owes tells that a file is still to be shared below the note.
func (n Note) Owes() bool { return n.TS != "" && n.Attach != nil }
