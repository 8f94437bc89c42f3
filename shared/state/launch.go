package state

import (
	"time"

	"rollcall/shared/outcome"
)

// LaunchFormat is the version of Launch that this code writes and reads.
const LaunchFormat = 1

// Launch is what is remembered of one launch, from its first event until 90
// days after it.
type Launch struct {
	Instance  string `json:"instance"`
	Cluster   string `json:"cluster"`
	Nodegroup string `json:"nodegroup,omitempty"`
	Group     string `json:"group,omitempty"` // Auto Scaling group
	Subnet    string `json:"subnet,omitempty"`
	Zone      string `json:"zone,omitempty"`
	Type      string `json:"type,omitempty"`
	Spot      bool   `json:"spot,omitempty"`
	// Started is when the launch began, Due when it should be a Ready node.
	Started    time.Time        `json:"started"`
	Due        time.Time        `json:"due"`
	Standing   outcome.Standing `json:"standing"`
	Registered time.Time        `json:"registered,omitzero"`
	Ready      time.Time        `json:"ready,omitzero"`
	Ended      time.Time        `json:"ended,omitzero"`
	EndedWhy   string           `json:"endedWhy,omitempty"`
	// Looks is how often its roll was called.
	Looks int `json:"looks,omitempty"`
	// Version is of the record as it was read; SaveLaunch writes only over this one.
	Version int `json:"version"`
}

// keepLaunches is how long a launch is remembered after it started: the
// outcomes of a season, for the statistics; no event or reminder lives longer.
const keepLaunches = 90 * 24 * time.Hour
