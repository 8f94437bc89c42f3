package slack

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"rollcall/local/fakeslack"
	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

// TestAttached: what a reply leaves out stands in its file, and a reply that
// says everything has none.
func TestAttached(t *testing.T) {
	short := incidentOf(noEgress(), launches(3, report.Missed))
	many := incidentOf(noEgress(), launches(60, report.Missed))
	evidence := func(n, size int) func(*incident.Note) {
		return func(note *incident.Note) {
			note.Evidence = nil
			for range n {
				note.Evidence = append(note.Evidence, checks.Evidence{What: "line", Value: strings.Repeat("x", size) + "END"})
			}
		}
	}
	for _, tt := range []struct {
		name   string
		i      incident.Incident
		why    incident.Reason
		change func(*incident.Note)
		says   string
	}{
		{"short", short, incident.Opened, nil, ""},
		{"many instances", many, incident.Opened, nil, many.Launches[59].Instance},
		{"many lines", short, incident.Opened, evidence(50, 10), "xEND"},
		{"long evidence", short, incident.Opened, evidence(3, 1300), "xEND"},
		{"a long line", short, incident.Opened, evidence(1, 1500), "xEND"},
		{"a long fact", short, incident.Opened, func(n *incident.Note) {
			n.Facts = []report.Fact{{What: "Console", Value: strings.Repeat("boot ", 200) + "last words"}}
		}, "last words"},
		{"few changes", with(short, func(i *incident.Incident) { i.RecentChanges = trail() }), incident.HasChanges, nil, ""},
		{"many changes", with(short, func(i *incident.Incident) {
			i.RecentChanges = trail()
			for range 30 {
				i.RecentChanges.Changes = append(i.RecentChanges.Changes, report.Change{Call: "CreateRoute", Actor: "the-last"})
			}
		}), incident.HasChanges, nil, "the-last"},
		{"a plan", with(short, offers(offer(incident.Offered))), incident.IsProposed, nil, ""},
		{"a long plan", with(short, offers(offer(incident.Offered, func(of *incident.Offer) { of.Plan.Route.NAT = strings.Repeat("n", 3000) + "END" }))), incident.IsProposed, nil, "nEND"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := note(tt.i, tt.why, began)
			if tt.change != nil {
				tt.change(&n)
			}
			f, is := Attached(tt.i, n)
			if is != (tt.says != "") {
				t.Fatalf("a file: %v", is)
			}
			if !strings.Contains(string(f.Data), tt.says) {
				t.Errorf("the file does not say %q:\n%s", tt.says, f.Data)
			}
			left := strings.Contains(read([]slackapi.Message{RenderNote(tt.i, n)}), "left out here") || strings.Contains(read([]slackapi.Message{RenderNote(tt.i, n)}), "too long for this message")
			if left && !is {
				t.Error("the reply leaves something out, and there is no file")
			}
		})
	}
}

func TestAttachedIsBounded(t *testing.T) {
	for seed := range uint64(40) {
		i := wild{rand.New(rand.NewPCG(seed, 5))}.incident()
		for _, n := range i.Delivery.Notes {
			f, is := Attached(i, n)
			if !is {
				continue
			}
			if len(f.Data) == 0 || len(f.Data) > maxAttached+100 || !utf8.Valid(f.Data) || strings.ContainsAny(f.Name, "/\\ \n<>") || f.Title == "" {
				t.Errorf("seed %d: %q, %q, %d bytes", seed, f.Name, f.Title, len(f.Data))
			}
		}
	}
	i := incidentOf(noEgress(), nil)
	n := note(i, incident.Opened, began)
	n.Evidence = []checks.Evidence{{What: "x", Value: strings.Repeat("🔥", maxAttached)}}
	if f, _ := Attached(i, n); len(f.Data) > maxAttached+100 || !strings.Contains(string(f.Data), "cut here") || !utf8.Valid(f.Data) {
		t.Errorf("%d bytes", len(f.Data))
	}
}

// TestShare: the file is a reply in the thread.
func TestShare(t *testing.T) {
	s, c := serveSlack(t, fakeslack.Config{})
	const channel = "C0000000001"
	ts, err := c.Post(t.Context(), channel, plain())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Share(t.Context(), channel, ts, slackapi.File{Name: "all.txt", Title: "All of it", Data: []byte("one\ntwo\n")}); err != nil {
		t.Fatal(err)
	}
	list := s.Messages(channel)
	if len(list) != 1 || len(list[0].Replies) != 1 || len(list[0].Replies[0].Files) != 1 || list[0].Replies[0].Files[0].Title != "All of it" {
		t.Errorf("%+v", list)
	}
}
