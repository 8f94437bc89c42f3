package snapshot

import (
	"time"

	"rollcall/shared/checkid"
)

// RefusedLaunch is a run of calls for instances that brought none, made by no Auto
// Scaling group, all of one launcher and for one class of reason: what CloudTrail
// told of CreateFleet and RunInstances, and when one brought instances since.
type RefusedLaunch struct {
	// Launcher is whose instances were to come: a NodePool by its PoolKey, or
	// "role/" and the role that called.
	Launcher string     `json:"launcher"`
	Class    checkid.ID `json:"class"`
	Call     string     `json:"call"` // CreateFleet, RunInstances
	// Text is what EC2 said to the first call of the run: its code and message.
	Text string `json:"text"`
	// By is the ARN of the role that called, Asked how many instances it asked for.
	By    string `json:"by,omitempty"`
	Asked int    `json:"asked,omitempty"`
	Spot  bool   `json:"spot,omitempty"`
	// Encoded is the encoded authorization message of that answer, which nobody keeps:
	// Denial is what it says, Undecoded why it was not decoded.
	Encoded   string  `json:"-"`
	Denial    *Denial `json:"denial,omitempty"`
	Undecoded string  `json:"undecoded,omitempty"`
	// Offers is how many types and subnets were told so, Other what the rest were.
	Offers  int      `json:"offers,omitempty"`
	Other   []string `json:"other,omitempty"` // EC2's codes
	Subnets []string `json:"subnets,omitempty"`
	Zones   []string `json:"zones,omitempty"`
	Types   []string `json:"types,omitempty"`
	// First and Last are of the run's calls. Worked is when an instance of the
	// launcher was last started, as far as anybody saw.
	First  time.Time `json:"first"`
	Last   time.Time `json:"last"`
	Worked time.Time `json:"worked,omitzero"`
	// Back is set where the run began within an hour of one before it.
	Back time.Time `json:"back,omitzero"`
}
