// Package result is what was found in clusters: incidents in the order in which to
// mend them, and what could not be looked at. It is made of what the functions
// observed, and told as JSON, in words for a terminal, and as a page.
package result

import (
	"rollcall/local/exit"
	"rollcall/shared/checks"
)

// Result is what -json prints; result.schema.json describes it.
type Result struct {
	Healthy   bool       `json:"healthy"`
	Incidents []Incident `json:"incidents"`
	// Unknown is what was needed and could not be looked at.
	Unknown []Unknown `json:"unknown"`
	// Notes are what a look at an account that is there cannot know, whatever it finds.
	Notes []string `json:"notes,omitempty"`

	// There tells that what was judged exists, and nodes are still to come.
	There bool `json:"-"`
	// Plan is what preflight judged; empty for what there is.
	Plan string `json:"-"`
}

// Incident is one cause and all that it explains. The first is what a person
// should fix first.
type Incident struct {
	Cause        string     `json:"cause"`
	Confidence   string     `json:"confidence"`
	Cluster      string     `json:"cluster"`
	Resources    []string   `json:"resources"`
	Nodegroups   []string   `json:"nodegroups"`
	Instances    []string   `json:"instances"`
	Title        string     `json:"title"`
	Evidence     []Evidence `json:"evidence"`
	Fix          Fix        `json:"fix"`
	Contributing []string   `json:"contributing"`
	Symptoms     []string   `json:"symptoms"`
	Hidden       []Hidden   `json:"hidden"`

	// What the words for a person take from the finding beside this.
	Why      string `json:"-"`
	Resource string `json:"-"`
	Console  string `json:"-"`
	By       string `json:"-"` // the function
	// Behind is what alone explains the cause away, as diagnose.Cause has it.
	Behind []checks.ID `json:"-"`
}

// Evidence is one thing that a person would have looked up.
type Evidence struct {
	What  string `json:"what"`
	Value string `json:"value"`
}

// Fix is what to do about it.
type Fix struct {
	Text    string `json:"text"`
	Command string `json:"command"`
	Remedy  string `json:"remedy"`
}

// Hidden is a failed check that a cause explains away.
type Hidden struct {
	Check   string `json:"check"`
	Because string `json:"because"`
}

// Unknown is a check that could not look. Without a check it is a function
// that failed, named as the resource.
type Unknown struct {
	Check    string `json:"check"`
	Resource string `json:"resource"`
	Reason   string `json:"reason"`
}

// Status is the exit status.
func (r Result) Status() int {
	causes, symptoms := 0, 0
	for _, i := range r.Incidents {
		switch i.Confidence {
		case "advice":
		case "symptom":
			symptoms++
		default:
			causes++
		}
	}
	switch {
	case causes > 0:
		return exit.Causes
	case len(r.Unknown) > 0:
		return exit.Unsure
	case symptoms > 0:
		return exit.Causes
	}
	return exit.Healthy
}
