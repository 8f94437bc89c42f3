package messagecheck

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
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
	t.Logf("%+v", read)
	if read.Messages < 50 || read.Counts < 50 || read.Capacity < 35 || read.Free < 1 || read.Times < 100 {
		t.Errorf("%+v: it looks for the wrong words", read)
	}
}

// tally is what was read of messages: a rule that finds nothing to hold holds nothing.
type tally struct{ Messages, Counts, Capacity, Free, Times int }

func (c *tally) play(t *testing.T, path string) {
	t.Helper()
	var of World
	seen, err := diagnose.ObserveBeside(t.Context(), path, io.Discard, func(s *stage.Stage) {
		var err error
		if of, err = Of(s.World); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	})
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
		for _, says := range slices.Concat(itself, against, later(t, of, i, affected[i.Key])) {
			t.Errorf("%s: %s: %s\n%s", filepath.Base(path), i.Key.Check, says, m.Text)
		}
	}
}

// later is the message of the same incident when one of its instances has joined, and its
// groups were counted anew with it.
func later(t *testing.T, of World, i incident.Incident, affected []string) []string {
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
	if files < 80 {
		t.Errorf("%d files: they are kept elsewhere", files)
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
	}
}
