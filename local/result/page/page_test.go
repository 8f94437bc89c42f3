package page

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// written is a page as it is written.
func written(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sample() Page {
	return Page{
		Subject: "prod", Taken: time.Date(2026, 11, 20, 15, 6, 0, 0, time.UTC), Version: "v1", Verdict: "1 cause", Mark: Fault,
		Incidents: []Incident{{
			Mark: Fault, Label: "FAULT", Check: "route/no-egress", Confidence: "certain", Where: "prod / workers", Title: "no route", Resources: []string{"rtb-1", "subnet-1"},
			Instances: []string{"i-1", "i-2", "i-3", "i-4", "i-5", "i-6", "i-7", "i-8", "i-9"}, Evidence: []Evidence{{"rtb-1", "10.0.0.0/16 → local"}},
		}},
		Diagrams: []Diagram{
			{Cluster: "prod", Table: "rtb-1", Subnets: []string{"subnet-1"}, Ways: []Way{{Services: []string{"sts"}, Means: "internet", State: Stops, Why: "no row", Hops: []Hop{{ID: "rtb-1"}}}}},
			{Cluster: "prod", Table: "rtb-2", Subnets: []string{"subnet-2"}, Ways: []Way{{Services: []string{"sts"}, Means: "internet", State: Reaches, Hops: []Hop{{ID: "rtb-2", Row: "0.0.0.0/0"}, {ID: "nat-2"}}}}},
			{Cluster: "other", Table: "rtb-1", Subnets: []string{"subnet-1"}},
		},
	}
}

// A page shows an incident with its own network, and the others once, below.
func TestDiagramsStandWithTheirIncident(t *testing.T) {
	text := written(t, sample())
	incident, below, ok := strings.Cut(text, "Network paths")
	if !ok {
		t.Fatal("no network paths below the incidents")
	}
	for id, part := range map[string]string{"rtb-1": incident, "rtb-2": below} {
		if !strings.Contains(part, ">"+id+"</text>") {
			t.Errorf("%s is not drawn where it belongs", id)
		}
	}
	if strings.Contains(incident, ">rtb-2</text>") {
		t.Error("the healthy network stands with the incident")
	}
}

// What an account's owner wrote is text on the page and nothing else.
func TestHostileTextStaysText(t *testing.T) {
	const bad = `<script>alert(1)</script>`
	p := sample()
	p.Subject, p.Verdict, p.Version = bad, bad, bad
	i := &p.Incidents[0]
	i.Title, i.Why, i.Fix, i.Command, i.Where, i.Label = bad, bad, bad, bad, bad+"prod", bad
	i.Console = "javascript:alert(1)"
	i.Evidence = []Evidence{{bad, bad}}
	i.Instances, i.Resources = []string{bad}, []string{bad, "rtb-2"}
	p.Unknown = []Unknown{{bad, bad, bad}}
	p.Diagrams = []Diagram{{Cluster: "prod", Table: bad, Subnets: []string{bad}, Accused: []string{"sg-" + bad}, Ways: []Way{{Services: []string{bad}, Means: bad, Why: bad, Hops: []Hop{{bad, bad, []string{bad}, bad}}}}}}
	text := written(t, p)
	if strings.Contains(text, "<script") || strings.Contains(text, `href="javascript:`) {
		t.Errorf("the page runs what an account's owner wrote:\n%s", text)
	}
}

// Nothing is loaded from anywhere, and many instances are folded away.
func TestPageStandsAlone(t *testing.T) {
	text := written(t, sample())
	for _, word := range []string{"http://", "https://", "src=", "@import", "url("} {
		if strings.Contains(text, word) {
			t.Errorf("the page has %q", word)
		}
	}
	if !strings.Contains(text, "<summary>1 more</summary>") {
		t.Error("the ninth instance is not folded away")
	}
}
