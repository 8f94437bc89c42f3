package slack

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
	"rollcall/shared/slack/slackapi"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden holds every scene against its two files: the blocks as they are
// sent, and how they read.
func TestGolden(t *testing.T) {
	want := map[string]bool{"answers.golden.json": true, "answers.txt": true}
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			messages := []slackapi.Message{Render(s.incident, s.options())}
			for _, n := range s.notes {
				messages = append(messages, RenderNote(s.incident, n))
			}
			golden(t, s.name+".golden.json", wire(t, messages))
			golden(t, s.name+".txt", []byte(read(messages)))
		})
		want[s.name+".golden.json"], want[s.name+".txt"] = true, true
	}
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !f.IsDir() && !want[f.Name()] && !isAsked(f.Name()) {
			t.Errorf("testdata/%s belongs to no scene", f.Name())
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), string(want)); diff != "" {
		t.Errorf("%s (-got +want; run with -update if it should change):\n%s", name, diff)
	}
}

// wire writes messages as they are sent.
func wire(t *testing.T, messages []slackapi.Message) []byte {
	t.Helper()
	type sent struct {
		Text     string                `json:"text"`
		Blocks   []slackgo.Block       `json:"blocks"`
		Metadata slackgo.SlackMetadata `json:"metadata"`
	}
	var out []sent
	for _, m := range messages {
		out = append(out, sent{m.Text, m.Blocks, m.Tag.Metadata()})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(out); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read writes messages as a reader in UTC sees them.
func read(messages []slackapi.Message) string {
	var b strings.Builder
	for n, m := range messages {
		if n > 0 {
			fmt.Fprintf(&b, "\n--- reply %d\n", n)
		}
		for _, block := range m.Blocks {
			if image, ok := block.(*slackgo.ImageBlock); ok {
				fmt.Fprintf(&b, "(picture %s)\n", image.SlackFile.ID)
				continue
			}
			if row, ok := block.(*slackgo.ActionBlock); ok {
				b.WriteString(readButtons(row))
				continue
			}
			for _, e := range block.(*slackgo.RichTextBlock).Elements {
				b.WriteString(readPart(e))
			}
		}
	}
	return b.String()
}

func readButtons(row *slackgo.ActionBlock) string {
	var b strings.Builder
	for _, e := range row.Elements.ElementSet {
		switch e := e.(type) {
		case *slackgo.ButtonBlockElement:
			fmt.Fprintf(&b, "[%s] ", e.Text.Text)
			if c := e.Confirm; c != nil {
				fmt.Fprintf(&b, "(asks: %s | %s | %s | %s) ", c.Title.Text, c.Text.Text, c.Confirm.Text, c.Deny.Text)
			}
		case *slackgo.SelectBlockElement:
			fmt.Fprintf(&b, "[%s:", e.Placeholder.Text)
			for _, o := range e.Options {
				fmt.Fprintf(&b, " %s", o.Text.Text)
			}
			b.WriteString("] ")
		}
	}
	return strings.TrimSpace(b.String()) + "\n"
}

func readPart(e slackgo.RichTextElement) string {
	switch e := e.(type) {
	case *slackgo.RichTextSection:
		return readItems(e.Elements) + "\n"
	case *slackgo.RichTextPreformatted:
		return "    " + strings.ReplaceAll(readItems(e.Elements), "\n", "\n    ") + "\n"
	case *slackgo.RichTextList:
		var b strings.Builder
		for _, item := range e.Elements {
			b.WriteString("  • " + readPart(item))
		}
		return b.String()
	}
	return fmt.Sprintf("(%T)\n", e)
}

func readItems(items []slackgo.RichTextSectionElement) string {
	var b strings.Builder
	for _, item := range items {
		switch item := item.(type) {
		case *slackgo.RichTextSectionTextElement:
			b.WriteString(item.Text)
		case *slackgo.RichTextSectionLinkElement:
			b.WriteString(item.Text)
		case *slackgo.RichTextSectionUserElement:
			b.WriteString("@" + item.UserID)
		case *slackgo.RichTextSectionUserGroupElement:
			b.WriteString("@" + item.UsergroupID)
		case *slackgo.RichTextSectionBroadcastElement:
			b.WriteString("@" + item.Range)
		case *slackgo.RichTextSectionDateElement:
			at := time.Unix(int64(item.Timestamp), 0).UTC()
			b.WriteString(strings.NewReplacer("{time}", at.Format("15:04"), "{date_short_pretty}", at.Format("Jan 2")).Replace(item.Format))
		default:
			fmt.Fprintf(&b, "(%T)", item)
		}
	}
	return b.String()
}

// reasons are all that a note can have.
func reasons() []incident.Reason {
	return []incident.Reason{
		incident.Opened, incident.Reopened, incident.FailedAgain, incident.IsProved, incident.IsUnproved, incident.IsSuperseded,
		incident.IsWithdrawn, incident.CauseGone, incident.HasMissed, incident.MoreAffected, incident.BetterKnown, incident.HasJoined,
		incident.IsProposed, incident.IsApproved, incident.IsRefused, incident.RemedyDone, incident.RemedyFailed, incident.IsVerified, incident.IsUnhelpful,
		incident.HasChanges, incident.IsCalled, incident.IsReminded, incident.IsTakenOver,
	}
}
