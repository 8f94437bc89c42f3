//go:build chromium

package press

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"

	"rollcall/stage/fakeslack"
	"rollcall/tools/browser"
	"rollcall/tools/goldens"
)

// firstScreen is what a phone of 390 × 844 shows of a message at once: above it stand the
// system's line and the channel's name, below it the box to type in (as high as on the
// stand-in's page, 84 and 60 pixels, and 34 of the system's own).
const firstScreen = 844 - 84 - 60 - 34

// TestFirstScreenOfAPhone: of each message of an open incident that has buttons a phone
// shows the headline, what hurts, what is to be done and the buttons without scrolling:
// drawn by a browser, as wide as a phone.
func TestFirstScreenOfAPhone(t *testing.T) {
	stand, err := fakeslack.New(fakeslack.Config{
		Token: "xoxb-1", SigningSecret: "secret", Channels: []fakeslack.Channel{{ID: channel, Name: "alerts"}}, Users: []fakeslack.User{{ID: "U0ONCALL01", Name: "oncall"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stand.Close() })
	api := slackgo.New("xoxb-1", slackgo.OptionAPIURL(stand.APIURL()))
	var names []string
	for _, path := range goldens.Messages(t, "../../..", "./shared/slack", "./stage") {
		if strings.HasPrefix(filepath.Base(path), "asked-") || filepath.Base(filepath.Dir(path)) == "summaries" {
			continue // answers for one person, the home page, and what has no incident
		}
		if blocks := untilButtons(t, path); blocks != nil {
			if _, _, err := api.PostMessage(channel, slackgo.MsgOptionText(filepath.Base(path), false), slackgo.MsgOptionBlocks(blocks...)); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			names = append(names, strings.TrimSuffix(filepath.Base(path), goldens.Ending))
		}
	}
	b := newBrowser(t, true)
	if err := b.open(minute(t), stand.URL(), map[string]string{"channel": channel, "static": "1"}); err != nil {
		t.Fatal(err)
	}
	heights, err := browser.Call[[]float64](minute(t), b.Tab, "pressForTest.heights")
	if err != nil || len(heights) != len(names) {
		t.Fatalf("%d heights of %d messages: %v", len(heights), len(names), err)
	}
	highest := 0
	for n, height := range heights {
		if height > firstScreen || height <= 0 {
			t.Errorf("%s: the buttons end %.0f pixels below its top, and a phone shows %d", names[n], height, firstScreen)
		}
		if height > heights[highest] {
			highest = n
		}
	}
	t.Logf("%d messages; the highest is %s, %.0f of %d pixels", len(names), names[highest], heights[highest], firstScreen)
	if len(names) < 50 {
		t.Errorf("%d messages: they are kept elsewhere", len(names))
	}
}

// untilButtons are a golden message's blocks down to its buttons; nil where it has none.
func untilButtons(t *testing.T, path string) []slackgo.Block {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ Blocks json.RawMessage }
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 || len(list[0].Blocks) == 0 {
		return nil
	}
	var blocks slackgo.Blocks
	if err := json.Unmarshal(list[0].Blocks, &blocks); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	at := slices.IndexFunc(blocks.BlockSet, func(b slackgo.Block) bool { return b.BlockType() == slackgo.MBTAction })
	if at < 0 {
		return nil
	}
	below, err := json.Marshal(blocks.BlockSet[at+1:])
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, label := range []string{"Impact", "Do"} {
		if strings.Contains(string(below), `"text":"`+label+`"`) {
			t.Errorf("%s: %s stands below the buttons", path, label)
		}
	}
	return blocks.BlockSet[:at+1]
}
