// Package page writes what a diagnosis found as one HTML page without other parts:
// no script, no font and no picture is loaded, so that it can be attached to a ticket
// and read years later. The way from the subnets to each service is drawn as SVG.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"
)

//go:embed page.html
var layout string

// Page is all that is on a page.
type Page struct {
	// Subject is what was looked at: clusters, or a capture's name.
	Subject string
	// Taken is when it was.
	Taken   time.Time
	Version string
	// Verdict is the first line, Mark how it is coloured.
	Verdict   string
	Mark      Mark
	Incidents []Incident
	Unknown   []Unknown
	Diagrams  []Diagram
}

// Mark is how bad something is.
type Mark string

// The marks.
const (
	Fault   Mark = "fault"
	Symptom Mark = "symptom"
	Advice  Mark = "advice"
	Unsure  Mark = "unsure"
	Well    Mark = "well"
)

// Incident is a cause with all that it explains.
type Incident struct {
	Mark                                         Mark
	Label                                        string // "FAULT", "WOULD BE REFUSED"
	Check, Confidence                            string
	Where, Title, Why                            string
	Resources, Instances, Contributing, Symptoms []string
	Evidence                                     []Evidence
	Fix, Command, Console                        string
	Hidden                                       []Hidden
}

// Evidence is one thing that a person would have looked up.
type Evidence struct{ What, Value string }

// Hidden is a failed check that a cause explains away.
type Hidden struct{ Check, Because string }

// Unknown is what could not be looked at.
type Unknown struct{ Check, Resource, Reason string }

// few is how many instances are named before the rest is folded away.
const few = 8

// Write writes a page. An error is the writer's.
func Write(w io.Writer, p Page) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"join":  func(list []string) string { return strings.Join(list, ", ") },
		"first": func(list []string) []string { return list[:min(few, len(list))] },
		"rest":  func(list []string) []string { return list[min(few, len(list)):] },
		"when":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") },
		"of":    p.of,
		"left":  p.left,
	}).Parse(layout)
	if err != nil {
		return fmt.Errorf("parse the page's layout: %w", err)
	}
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// of are the diagrams that show an incident: those of the network that it is about,
// and in which its instances are.
func (p Page) of(i Incident) []Diagram {
	var list []Diagram
	for _, d := range p.Diagrams {
		if d.shows(i) {
			list = append(list, d)
		}
	}
	return list
}

// left are the diagrams that show no incident.
func (p Page) left() []Diagram {
	return slices.DeleteFunc(slices.Clone(p.Diagrams), func(d Diagram) bool {
		return slices.ContainsFunc(p.Incidents, d.shows)
	})
}

// drawn tells that a check is about the network, or about a node that may not reach
// what it needs.
func (i Incident) drawn() bool {
	family, _, _ := strings.Cut(i.Check, "/")
	return slices.Contains([]string{"route", "endpoint", "sg", "nacl", "dns", "node"}, family)
}
