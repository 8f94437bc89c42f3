package draw

import (
	"encoding/json"
	"testing"

	"rollcall/local/fakeslack/schema"
)

// FuzzBlocks holds that whatever passes the check can be drawn safely.
func FuzzBlocks(f *testing.F) {
	f.Add(`[{"type":"section","text":{"type":"mrkdwn","text":"*a* <b> <http://x|y>"},"accessory":{"type":"button","text":{"type":"plain_text","text":"<i>"},"url":"javascript:1"}}]`)
	f.Add(`[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"link","url":"http://x","text":"<script>"},{"type":"text","text":"t","style":{"bold":true}}]}]}]`)
	f.Add(`[{"type":"image","image_url":"http://x/\"onerror=1","alt_text":"\"><script>"}]`)
	f.Add(`[{"type":"actions","elements":[{"type":"overflow","action_id":"\"><b","options":[{"text":{"type":"plain_text","text":"<"},"value":"\""}]}]}]`)
	f.Fuzz(func(t *testing.T, text string) {
		var blocks []any
		if json.Unmarshal([]byte(text), &blocks) == nil && len(schema.Problems(blocks)) == 0 {
			safe(t, string(Blocks(json.RawMessage(text), nobody{})))
		}
	})
}
