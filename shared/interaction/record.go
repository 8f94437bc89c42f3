package interaction

import "time"

// RecordFormat is the version of Record that this code writes and reads.
const RecordFormat = 1

// Record is the audit record of a refused request: who, what and why, and
// nothing by which somebody could do it again.
type Record struct {
	Format int       `json:"format"`
	At     time.Time `json:"at"`
	Reason Reason    `json:"reason"`
	Says   string    `json:"says"`
	// Source is the address that it came from.
	Source string `json:"source,omitempty"`
	// Request is the ID of a signed request, else the SHA-256 of the body.
	Request string `json:"request"`
	Bytes   int    `json:"bytes"`
	// The rest is known of signed requests alone.
	User    string `json:"user,omitempty"`
	Team    string `json:"team,omitempty"`
	Action  string `json:"action,omitempty"`
	Channel string `json:"channel,omitempty"`
	TS      string `json:"ts,omitempty"`
}
