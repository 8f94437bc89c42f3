package messagecheck

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/local/diagnose"
	"rollcall/local/stage"
	"rollcall/local/testfull"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/target/message"
)

// TestNumbersFollowFromTheWorld: of each world of the corpus, every message that its first
// look makes is held against the world itself, asked beside the detectors, and against
// itself. Every fourth world still has each family of checks, and all that speak of
// addresses, capacity and instances.
func TestNumbersFollowFromTheWorld(t *testing.T) {
	t.Chdir("../..") // worlds and the template are named from there
	paths, err := filepath.Glob("local/worlds/corpus/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	every := testfull.Of(1, 4)
	var read tally
	for n, path := range paths {
		if n%every > 0 || filepath.Base(path) == "unseen.yaml" {
			continue
		}
		read.play(t, path)
	}
	t.Logf("held: %+v", read)
	if read.Messages < 200 || read.Counts < 100 || read.Capacity < 35 || read.Free < 1 || read.Times < 500 || read.Spans < 90 || read.Elsewhere < 5000 || read.Sums < 1 ||
		read.Every < 1000 || read.Missed*50 > read.Changed {
		t.Errorf("%+v: it looks for the wrong words", read)
	}
}

// tally is what was read of messages: a rule that finds nothing to hold holds nothing.
type tally struct {
	Messages, Counts, Capacity, Free, Times, Spans, Asked, Copied int
	// Elsewhere are numbers, times and ids in mails, cards and alerts.
	Elsewhere int
	// Sums are what a message calculates.
	Sums int
	// Every are all numbers, times and names with a digit; Replies are messages in threads.
	Every, Replies int
	// Changed are numbers that a test changed, Missed those whose change nothing found.
	Changed, Missed int
}

func (c *tally) play(t *testing.T, path string) {
	t.Helper()
	var facts Facts
	seen, err := diagnose.ObserveBeside(t.Context(), path, io.Discard, diagnose.Beside{Answered: facts.Answered, Look: func(s *stage.Stage) {
		if err := facts.Look(s.World); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}})
	of := facts.World
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var known []incident.Incident
	affected := map[report.Key][]string{}
	for _, o := range seen {
		for _, cause := range o.Diagnosis.Causes {
			key := o.Key(cause.Check, cause.Resource)
			affected[key] = incident.Union(affected[key], cause.Instances)
		}
		for _, d := range reconcile.Decide(known, o, o.At, incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour, RemindAfter: 30 * time.Minute, Channel: "C0123456789"}) {
			known = slices.DeleteFunc(known, func(i incident.Incident) bool { return i.Key == d.Incident.Key })
			known = append(known, d.Incident)
		}
	}
	for _, i := range known {
		if i.State != incident.Open {
			continue
		}
		m := slack.Render(i, slack.Options{Actions: true, Now: of.Now})
		blocks, err := json.Marshal(m.Blocks)
		if err != nil {
			t.Fatal(err)
		}
		c.count(blocks)
		c.elsewhere(t, i, of.Now, blocks)
		itself, err := Contradictions(blocks, false)
		if err != nil {
			t.Fatal(err)
		}
		// What belongs to another cause is among the launches of that one's record.
		for _, l := range i.Launches {
			affected[i.Key] = incident.Union(affected[i.Key], []string{l.Instance})
		}
		against, err := of.Against(blocks, affected[i.Key])
		if err != nil {
			t.Fatal(err)
		}
		facts.Affected = affected[i.Key]
		unheld := c.every(t, &facts, i, m.Blocks)
		for _, n := range i.Delivery.Notes {
			unheld = append(unheld, c.every(t, &facts, i, slack.RenderNote(i, n).Blocks)...)
		}
		for _, says := range slices.Concat(itself, against, unheld, c.later(t, of, i, affected[i.Key]), c.over(t, of, i)) {
			t.Errorf("%s: %s: %s\n%s", filepath.Base(path), i.Key.Check, says, m.Text)
		}
	}
}

// later is the message of the same incident when one of its instances has joined, and its
// groups were counted anew with it.
func (c *tally) later(t *testing.T, of World, i incident.Incident, affected []string) []string {
	t.Helper()
	i = i.Clone()
	at := slices.IndexFunc(i.Launches, func(l report.Launch) bool { return !of.Ready[l.Instance] && of.Alive[l.Instance] })
	if at < 0 {
		return nil
	}
	// A second one is launched beside it, so that only one of both has joined.
	second := i.Launches[at]
	second.Instance, second.Started = "i-0fffffffffffffff1", second.Started.Add(time.Second)
	i.AddAffected(second)
	at = slices.IndexFunc(i.Launches, func(l report.Launch) bool { return !of.Ready[l.Instance] && of.Alive[l.Instance] })
	l := &i.Launches[at]
	l.Status, l.Ready, i.Capacity = report.Joined, of.Now, nil
	of.Ready, of.Launched = maps.Clone(of.Ready), maps.Clone(of.Launched)
	of.Ready[l.Instance], of.Launched[second.Instance] = true, second.Started
	blocks, err := json.Marshal(slack.Render(i, slack.Options{Actions: true, Now: of.Now}).Blocks)
	if err != nil {
		t.Fatal(err)
	}
	c.count(blocks)
	c.elsewhere(t, i, of.Now, blocks)
	itself, err := Contradictions(blocks, false)
	if err != nil {
		t.Fatal(err)
	}
	against, err := of.Against(blocks, incident.Union(affected, []string{second.Instance}))
	if err != nil {
		t.Fatal(err)
	}
	return append(itself, against...)
}

// TestGoldenMessagesAgreeWithThemselves: the scenes of each turn of an incident's life,
// which no world plays: what is being remedied, muted, resolved, withdrawn, a day's report.
func TestGoldenMessagesAgreeWithThemselves(t *testing.T) {
	files := 0
	var read tally
	for _, folder := range []string{"../../shared/slack/testdata", "../../shared/slack/testdata/summaries", "../stage/testdata/messages"} {
		paths, err := filepath.Glob(filepath.Join(folder, "*.golden.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasPrefix(filepath.Base(path), "asked-") {
				continue // answers for one person; a weekly silence is typed in UTC
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var list []struct{ Blocks json.RawMessage }
			if json.Unmarshal(raw, &list) != nil {
				continue // of another form: answers for one person
			}
			files++
			for n, m := range list {
				if len(m.Blocks) == 0 {
					continue
				}
				read.count(m.Blocks)
				found, err := Contradictions(m.Blocks, n > 0)
				if err != nil {
					t.Fatal(err)
				}
				for _, says := range found {
					t.Errorf("%s, message %d: %s", filepath.Base(path), n, says)
				}
			}
		}
	}
	t.Logf("%d files, held: %+v", files, read)
	if files < 80 || read.Asked < 10 || read.Spans < 10 || read.Sums < 30 {
		t.Errorf("%d files, %+v: they are kept elsewhere", files, read)
	}
}

func (c *tally) count(blocks []byte) {
	lines, err := Read(blocks)
	if err != nil {
		return
	}
	c.Messages++
	for _, l := range lines {
		if standsOut.MatchString(l.Text) || notReady.MatchString(l.Text) {
			c.Counts++
		}
		if missing.MatchString(l.Text) {
			c.Capacity++
		}
		if hasFree.MatchString(l.Text) {
			c.Free++
		}
		c.Times += len(l.Times)
		if !l.Copied {
			for _, form := range []*regexp.Regexp{equation, ofDead, frees, makes, needed} {
				c.Sums += len(form.FindAllString(l.Text, -1))
			}
		}
		if l.Label == Asked {
			c.Asked++
		}
		if l.Copied {
			c.Copied++
		}
		if l.Label == "When" && outageSpan.MatchString(lines[0].Text) {
			c.Spans++
		}
	}
}

// over are the messages of the same incident when its cause is gone, and when a node of
// then was Ready; it is closed later than that.
func (c *tally) over(t *testing.T, of World, i incident.Incident) (found []string) {
	t.Helper()
	gone := i.Clone()
	gone.State, gone.Cleared = incident.Cleared, of.Now.Add(7*time.Minute+20*time.Second)
	gone.Changed = gone.Cleared
	closed := gone.Clone()
	closed.State, closed.Resolution, closed.Resolved = incident.Closed, incident.Proved, gone.Cleared.Add(time.Hour)
	closed.Changed = closed.Resolved
	proved := closed.Clone()
	started := gone.Cleared.Add(time.Minute)
	proved.Proof = &report.Launch{Instance: "i-0fffffffffffffff2", Started: started, Ready: started.Add(58 * time.Second), Status: report.Joined}
	for _, i := range []incident.Incident{gone, closed, proved} {
		blocks, err := json.Marshal(slack.Render(i, slack.Options{Actions: true, Now: i.Changed}).Blocks)
		if err != nil {
			t.Fatal(err)
		}
		c.count(blocks)
		c.elsewhere(t, i, i.Changed, blocks)
		itself, err := Contradictions(blocks, false)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, itself...)
	}
	return found
}

// elsewhere holds the mail, the card and the alert of the same moment.
func (c *tally) elsewhere(t *testing.T, i incident.Incident, now time.Time, blocks []byte) {
	t.Helper()
	words := slack.Words(i, slack.Options{Actions: true, Now: now})
	e := incident.Event{Kind: incident.EventChanged, State: i.State, Resolution: i.Resolution, Cluster: i.Key.Cluster, Check: i.Key.Check, Resource: i.Key.Resource, At: now}
	words.Console, words.Docs = "", "" // their addresses are behind words in Slack
	n := message.News{Type: e.Kind.DetailType(), ID: "1", At: now, Incident: &e, Words: words}
	card, err := message.ToTeams(n)
	if err != nil {
		t.Fatal(err)
	}
	alert := message.ToPagerDuty(n, message.Trigger).Payload
	var told strings.Builder
	for label, text := range alert.Details {
		if label != "Account" && label != "Region" {
			told.WriteString(text + "\n")
		}
	}
	for where, text := range map[string]string{"a mail": message.ToMail(n).Body, "a card": runs(t, card), "an alert": alert.Summary + "\n" + told.String()} {
		found, held, err := Elsewhere(blocks, text)
		if err != nil {
			t.Fatal(err)
		}
		c.Elsewhere += held
		for _, says := range found {
			t.Errorf("%s, %s, in %s: %s\n%s", i.Key.Check, i.State, where, says, text)
		}
	}
}

// runs are the texts of a card for Teams.
func runs(t *testing.T, raw []byte) string {
	t.Helper()
	var card message.Teams
	if err := json.Unmarshal(raw, &card); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, a := range card.Attachments {
		for _, block := range a.Content.Body {
			for _, run := range block.Inlines {
				b.WriteString(run.Text)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
