package report

import "time"

// Cleanup is what eni-cleanup did in a cluster on one day (UTC), or, in the mode
// dry-run, would have done. It is sent again with each run that adds to it, and
// its message is edited.
type Cleanup struct {
	// Mode is "dry-run" or "delete".
	Mode string    `json:"mode"`
	Day  time.Time `json:"day"`
	VPC  string    `json:"vpc"`
	// Subnets are those that got addresses back, by id.
	Subnets []CleanupSubnet `json:"subnets,omitempty"`
	// Nodes is how many dead nodes it was of in all: one may have had interfaces
	// in several subnets. 0 where an earlier version did not count them.
	Nodes int `json:"nodes,omitempty"`
	// Left is how many interfaces of dead nodes wait for the next run (the cap,
	// the time), Kept how many no run will delete, with the reasons and counts.
	Left int            `json:"left,omitempty"`
	Kept map[string]int `json:"kept,omitempty"`
	// Stopped is set when the run did nothing because too many of the VPC's
	// interfaces looked deletable: a person has to look.
	Stopped *CleanupStop `json:"stopped,omitempty"`
}

// CleanupSubnet is what came back to one subnet.
type CleanupSubnet struct {
	Subnet     string `json:"subnet"`
	Zone       string `json:"zone,omitempty"`
	Interfaces int    `json:"interfaces"`
	Addresses  int    `json:"addresses"`
	Nodes      int    `json:"nodes"`
	// Free is how many the subnet had then.
	Free int `json:"free"`
}

// CleanupStop is why a run stopped before it began.
type CleanupStop struct {
	Candidates int `json:"candidates"`
	// Interfaces is how many the VPC has in all, Share the setting in percent.
	Interfaces int `json:"interfaces"`
	Share      int `json:"share"`
	// Over is when a later run went on; report sets it.
	Over time.Time `json:"over,omitzero"`
}

// Parts are the messages of a cleanup: what came back, and, apart from it, that
// a run stopped, as a person must look at that.
func (s Summary) Parts() []Summary {
	if s.Cleanup == nil {
		return nil
	}
	var parts []Summary
	day := *s.Cleanup
	if day.Stopped != nil {
		stop := s
		stop.ID += "/stopped"
		stop.Cleanup = &Cleanup{Mode: day.Mode, Day: day.Day, VPC: day.VPC, Stopped: day.Stopped}
		parts = append(parts, stop)
	}
	day.Stopped = nil
	if len(day.Subnets) > 0 {
		s.Cleanup = &day
		parts = append(parts, s)
	}
	return parts
}
