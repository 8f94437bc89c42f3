package fakeslack

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// many is a JSON array of n times item; %d in item is its number.
func many(n int, item string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = strings.ReplaceAll(item, "%d", fmt.Sprint(i))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func TestBlockLimits(t *testing.T) {
	x := func(n int) string { return strings.Repeat("é", n) }
	sect := func(s string) string { return `[{"type":"section","text":{"type":"mrkdwn","text":"` + s + `"}}]` }
	header := func(s string) string {
		return `[{"type":"header","text":{"type":"plain_text","text":"` + s + `"}}]`
	}
	button := func(rest string) string {
		return `[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Go"}` + rest + `}]}]`
	}
	question := func(s, kind string) string {
		return `{"title":{"type":"plain_text","text":"t"},"text":{"type":"` + kind + `","text":"` + s + `"},"confirm":{"type":"plain_text","text":"y"},"deny":{"type":"plain_text","text":"n"},"style":"danger"}`
	}
	menu := func(option string) string {
		return `[{"type":"actions","elements":[{"type":"static_select","action_id":"a","placeholder":{"type":"plain_text","text":"Mute for"},"options":[` + option + `]}]}]`
	}
	field := `{"type":"mrkdwn","text":"x"}`
	item := func(items string) string {
		return `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[` + items + `]}]}]`
	}
	tests := map[string]struct{ blocks, want string }{
		"50 blocks":              {many(50, `{"type":"divider"}`), ""},
		"51 blocks":              {many(51, `{"type":"divider"}`), "no more than 50 items allowed [json-pointer:/blocks]"},
		"section 3000":           {sect(x(3000)), ""},
		"section 3001":           {sect(x(3001)), "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"},
		"section empty":          {sect(""), "must be more than 0 characters [json-pointer:/blocks/0/text/text]"},
		"section of nothing":     {`[{"type":"section"}]`, "missing required field: text [json-pointer:/blocks/0]"},
		"header 150":             {header(x(150)), ""},
		"header 151":             {header(x(151)), "must be less than 151 characters [json-pointer:/blocks/0/text/text]"},
		"header mrkdwn":          {`[{"type":"header","text":{"type":"mrkdwn","text":"x"}}]`, "must be a valid enum value [json-pointer:/blocks/0/text/type]"},
		"10 fields":              {`[{"type":"section","fields":` + many(10, field) + `}]`, ""},
		"11 fields":              {`[{"type":"section","fields":` + many(11, field) + `}]`, "no more than 10 items allowed [json-pointer:/blocks/0/fields]"},
		"field 2001":             {`[{"type":"section","fields":[{"type":"mrkdwn","text":"` + x(2001) + `"}]}]`, "must be less than 2001 characters [json-pointer:/blocks/0/fields/0/text]"},
		"10 in context":          {`[{"type":"context","elements":` + many(10, field) + `}]`, ""},
		"11 in context":          {`[{"type":"context","elements":` + many(11, field) + `}]`, "no more than 10 items allowed [json-pointer:/blocks/0/elements]"},
		"button":                 {button(`,"action_id":"a","style":"danger","value":"v"`), ""},
		"button text 76":         {`[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"` + x(76) + `"}}]}]`, "must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]"},
		"button style":           {button(`,"style":"default"`), "must be a valid enum value [json-pointer:/blocks/0/elements/0/style]"},
		"action_id 256":          {button(`,"action_id":"` + x(256) + `"`), "must be less than 256 characters [json-pointer:/blocks/0/elements/0/action_id]"},
		"button with a typo":     {button(`,"colour":"red"`), "invalid additional property: colour [json-pointer:/blocks/0/elements/0]"},
		"same action twice":      {`[{"type":"actions","elements":` + many(2, `{"type":"button","action_id":"a","text":{"type":"plain_text","text":"x"}}`) + `}]`, `action_id "a" is not unique [json-pointer:/blocks/0/elements/1/action_id]`},
		"block_id 256":           {`[{"type":"divider","block_id":"` + x(256) + `"}]`, "must be less than 256 characters [json-pointer:/blocks/0/block_id]"},
		"same block_id twice":    {many(2, `{"type":"divider","block_id":"b"}`), `block_id "b" is not unique [json-pointer:/blocks/1/block_id]`},
		"unknown block":          {`[{"type":"marquee"}]`, "unsupported type: marquee [json-pointer:/blocks/0/type]"},
		"no type":                {`[{}]`, "missing required field: type [json-pointer:/blocks/0]"},
		"unknown element":        {`[{"type":"actions","elements":[{"type":"lever"}]}]`, "unsupported type: lever [json-pointer:/blocks/0/elements/0/type]"},
		"block is a number":      {`[1]`, "must be an object [json-pointer:/blocks/0]"},
		"select without options": {`[{"type":"actions","elements":[{"type":"static_select","action_id":"a"}]}]`, "one of options and option_groups is required [json-pointer:/blocks/0/elements/0]"},
		"6 in overflow":          {`[{"type":"actions","elements":[{"type":"overflow","options":` + many(6, `{"text":{"type":"plain_text","text":"x"},"value":"%d"}`) + `}]}]`, "no more than 5 items allowed [json-pointer:/blocks/0/elements/0/options]"},
		"confirm lacks deny": {button(`,"confirm":{"title":{"type":"plain_text","text":"t"},"text":{"type":"mrkdwn","text":"x"},"confirm":{"type":"plain_text","text":"y"}}`),
			"missing required field: deny [json-pointer:/blocks/0/elements/0/confirm]"},
		"confirm 300":       {button(`,"confirm":` + question(x(300), "plain_text")), ""},
		"confirm 301":       {button(`,"confirm":` + question(x(301), "plain_text")), "must be less than 301 characters [json-pointer:/blocks/0/elements/0/confirm/text/text]"},
		"confirm in mrkdwn": {button(`,"confirm":` + question("x", "mrkdwn")), ""},
		"value 2000":        {button(`,"value":"` + x(2000) + `"`), ""},
		"value 2001":        {button(`,"value":"` + x(2001) + `"`), "must be less than 2001 characters [json-pointer:/blocks/0/elements/0/value]"},
		"25 buttons":        {`[{"type":"actions","elements":` + many(25, `{"type":"button","action_id":"%d","text":{"type":"plain_text","text":"x"}}`) + `}]`, ""},
		"26 buttons":        {`[{"type":"actions","elements":` + many(26, `{"type":"button","action_id":"%d","text":{"type":"plain_text","text":"x"}}`) + `}]`, "no more than 25 items allowed [json-pointer:/blocks/0/elements]"},
		"select":            {menu(`{"text":{"type":"plain_text","text":"` + x(75) + `"},"value":"` + x(150) + `"}`), ""},
		"option text 76":    {menu(`{"text":{"type":"plain_text","text":"` + x(76) + `"},"value":"v"}`), "must be less than 76 characters [json-pointer:/blocks/0/elements/0/options/0/text/text]"},
		"option value 151":  {menu(`{"text":{"type":"plain_text","text":"x"},"value":"` + x(151) + `"}`), "must be less than 151 characters [json-pointer:/blocks/0/elements/0/options/0/value]"},
		"option in mrkdwn":  {menu(`{"text":{"type":"mrkdwn","text":"x"},"value":"v"}`), "must be a valid enum value [json-pointer:/blocks/0/elements/0/options/0/text/type]"},
		"image without alt": {`[{"type":"image","image_url":"http://x/y.png"}]`, "missing required field: alt_text [json-pointer:/blocks/0]"},
		"rich text":         {`[{"type":"rich_text","elements":[{"type":"rich_text_list","style":"bullet","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"x"}]}]}]}]`, ""},
		"rich text typo":    {item(`{"type":"text","text":"x","stile":{"bold":true}}`), "invalid additional property: stile [json-pointer:/blocks/0/elements/0/elements/0]"},
		"rich style typo":   {item(`{"type":"text","text":"x","style":{"blod":true}}`), "invalid additional property: blod [json-pointer:/blocks/0/elements/0/elements/0/style]"},
		"rich style":        {item(`{"type":"text","text":"x","style":{"bold":1}}`), "must be a boolean [json-pointer:/blocks/0/elements/0/elements/0/style/bold]"},
		"rich style shape":  {item(`{"type":"text","text":"x","style":"bold"}`), "must be an object [json-pointer:/blocks/0/elements/0/elements/0/style]"},
		"rich link to":      {item(`{"type":"link","text":"x"}`), "missing required field: url [json-pointer:/blocks/0/elements/0/elements/0]"},
		"rich date":         {item(`{"type":"date","timestamp":1700000000,"format":"{time}","fallback":"then"}`), ""},
		"rich date as text": {item(`{"type":"date","timestamp":"1700000000","format":"{time}"}`), "must be an integer [json-pointer:/blocks/0/elements/0/elements/0/timestamp]"},
		"rich broadcast":    {item(`{"type":"broadcast","range":"all"}`), "must be a valid enum value [json-pointer:/blocks/0/elements/0/elements/0/range]"},
		"rich people": {item(`{"type":"user","user_id":"U1"},{"type":"usergroup","usergroup_id":"S1"},{"type":"channel","channel_id":"C1"},` +
			`{"type":"emoji","name":"wave"},{"type":"color","value":"#fff"},{"type":"broadcast","range":"here"}`), ""},
		"rich list of text": {`[{"type":"rich_text","elements":[{"type":"rich_text_list","style":"bullet","elements":[{"type":"text","text":"x"}]}]}]`,
			"unsupported type: text [json-pointer:/blocks/0/elements/0/elements/0/type]"},
		"rich border":       {`[{"type":"rich_text","elements":[{"type":"rich_text_quote","elements":[],"border":2}]}]`, "must be a valid enum value [json-pointer:/blocks/0/elements/0/border]"},
		"rich preformatted": {`[{"type":"rich_text","elements":[{"type":"rich_text_preformatted","elements":[{"type":"emoji","name":"x"}],"border":0}]}]`, "unsupported type: emoji [json-pointer:/blocks/0/elements/0/elements/0/type]"},
		"rich text of what": {`[{"type":"rich_text","elements":[{"type":"rich_text_song"}]}]`, "unsupported type: rich_text_song [json-pointer:/blocks/0/elements/0/type]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := checkBlocks(json.RawMessage(tt.blocks), func() string { return "b1" })
			got := ""
			var e *apiError
			if errors.As(err, &e) {
				if e.code != "invalid_blocks" {
					t.Errorf("got code %q, want invalid_blocks", e.code)
				}
				got = strings.TrimPrefix(strings.Join(e.messages, "\n"), "[ERROR] ")
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestBlocksTooLong(t *testing.T) {
	of := func(n int) json.RawMessage {
		var list []string
		for n > 0 {
			k := min(n, 3000)
			list = append(list, `{"type":"section","text":{"type":"mrkdwn","text":"`+strings.Repeat("&", k)+`"}}`)
			n -= k
		}
		return json.RawMessage("[" + strings.Join(list, ",") + "]")
	}
	for n, want := range map[int]string{12500: "", 13200: "msg_blocks_too_long"} {
		_, err := checkBlocks(of(n), func() string { return "b" })
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%d characters: got %q, want %q", n, got, want)
		}
	}
}

func TestBlocksFormat(t *testing.T) {
	for _, text := range []string{`{}`, `"x"`, `[`, `[] []`, ``} {
		_, err := checkBlocks(json.RawMessage(text), func() string { return "b" })
		var e *apiError
		if !errors.As(err, &e) || e.code != "invalid_blocks_format" {
			t.Errorf("%q: got %v, want invalid_blocks_format", text, err)
		}
	}
	got, err := checkBlocks(json.RawMessage(`[{"type":"divider"}]`), func() string { return "made" })
	if diff := cmp.Diff(`[{"block_id":"made","type":"divider"}]`, string(got)); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}
