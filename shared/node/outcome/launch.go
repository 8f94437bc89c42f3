package outcome

import "time"

// Launch is one launch of an instance: where it is, and how it stands. It is
// remembered, sent to report and kept in incidents under these names.
type Launch struct {
	Instance  string `json:"instance"`
	Nodegroup string `json:"nodegroup,omitempty"`
	Group     string `json:"group,omitempty"` // Auto Scaling group
	Subnet    string `json:"subnet,omitempty"`
	Zone      string `json:"zone,omitempty"`
	Type      string `json:"type,omitempty"`
	// Started is when the launch began.
	Started time.Time `json:"started"`
	// Status is the last known one.
	Status LaunchStatus `json:"standing"`
	// Registered and Ready are the node's own times.
	Registered time.Time `json:"registered,omitzero"`
	Ready      time.Time `json:"ready,omitzero"`
	// Tagged is when Karpenter's tag was seen to tell that the node had registered,
	// where nobody could see the nodes: of such a launch Ready is zero.
	Tagged time.Time `json:"tagged,omitzero"`
	// Ended is when and why an instance went.
	Ended    time.Time `json:"ended,omitzero"`
	EndedWhy string    `json:"endedWhy,omitempty"`
}

// Unfinished tells whether a launch is still to answer roll call.
func (l Launch) Unfinished() bool { return l.Status != Joined && l.Status != Gone }
