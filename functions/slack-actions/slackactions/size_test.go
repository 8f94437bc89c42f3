package slackactions

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"rollcall/shared/interaction"
)

// TestTheLargestMessageIsNotTooLarge: a payload holds the whole message that was
// pressed, its blocks and its text, as PHP writes JSON: \u2026, and then %5Cu2026.
func TestTheLargestMessageIsNotTooLarge(t *testing.T) {
	ascii := func(text string) string {
		quoted := strconv.QuoteToASCII(text)
		return quoted[1 : len(quoted)-1]
	}
	// 11,000 and 4,000 are what package slack lets a message have.
	blocks, text := ascii(strings.Repeat("…", 11_000)), ascii(strings.Repeat("…", 4_000))
	payload := `{"type":"block_actions","message":{"text":"` + text + `","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"` + blocks + `"}}]},"rest":"` + strings.Repeat("x", 8_000) + `"}`
	if !json.Valid([]byte(payload)) {
		t.Fatal("the payload is not JSON")
	}
	body := url.Values{"payload": {payload}}.Encode()
	if len(body) > interaction.MaxBody*2/3 {
		t.Errorf("the largest body has %d bytes; %d are let in, which leaves too little room", len(body), interaction.MaxBody)
	}
	b := newBench(t)
	if got := b.call(b.request(body)); got.StatusCode == 413 {
		t.Errorf("answered %+v", got)
	}
}
