// Package schema says of Block Kit blocks what Slack's API says of those that it
// refuses: fields, types and lengths, each with its place.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Limits of Block Kit: docs.slack.dev/reference/block-kit. The cap over all
// blocks is not documented; users measured it (slackapi/bolt-js issue 2509).
const (
	maxBlocks         = 50
	MaxBlocksSize     = 13200
	maxSectionText    = 3000
	maxFields         = 10
	maxFieldText      = 2000
	maxHeaderText     = 150
	maxContextItems   = 10
	maxActionItems    = 25
	maxButtonText     = 75
	maxID             = 255
	maxValue          = 2000
	maxURL            = 3000
	maxOptionText     = 75
	maxOptionValue    = 150
	maxStaticOptions  = 100
	maxOverflowChoice = 5
	maxImageURL       = 3000
	maxAltText        = 2000
)

// Encode writes v without HTML escapes, so that "<" counts as one character.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode blocks: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// Problems lists what is wrong with blocks, in Slack's words.
func Problems(blocks []any) []string {
	v := &validator{}
	if len(blocks) > maxBlocks {
		v.fail("/blocks", "no more than %d items allowed", maxBlocks)
	}
	ids := map[string]bool{}
	for i, b := range blocks {
		at := fmt.Sprintf("/blocks/%d", i)
		v.block(at, b)
		block, _ := b.(map[string]any)
		id, ok := block["block_id"].(string)
		if ok && ids[id] {
			v.fail(at+"/block_id", "block_id %q is not unique", id)
		}
		ids[id] = ok
	}
	return v.problems
}

// blockSchema is what a block of this type may have; nil if it is refused.
func blockSchema(kind string) schema {
	switch kind {
	case "header":
		return schema{"text": {true, plainText(1, maxHeaderText)}, "level": {false, anything}}
	case "section":
		return schema{
			"text":      {false, anyText(1, maxSectionText)},
			"fields":    {false, list(1, maxFields, anyText(1, maxFieldText))},
			"accessory": {false, element("image", "button", "overflow", "static_select")},
			"expand":    {false, boolean},
		}
	case "divider":
		return schema{}
	case "context":
		return schema{"elements": {true, list(1, maxContextItems, contextItem)}}
	case "actions":
		return schema{"elements": {true, list(1, maxActionItems, element("button", "overflow", "static_select"))}}
	case "image":
		return schema{
			"image_url":  {false, text(1, maxImageURL)},
			"slack_file": {false, slackFile},
			"alt_text":   {true, text(1, maxAltText)},
			"title":      {false, plainText(1, maxAltText)},
		}
	case "rich_text":
		return schema{"elements": {true, list(0, 1<<20, richText)}}
	}
	return nil
}

// elementSchema is what an interactive element may have.
func elementSchema(kind string) schema {
	switch kind {
	case "button":
		return schema{
			"text":                {true, plainText(1, maxButtonText)},
			"action_id":           {false, text(1, maxID)},
			"url":                 {false, text(1, maxURL)},
			"value":               {false, text(0, maxValue)},
			"style":               {false, oneOf("primary", "danger")},
			"confirm":             {false, confirm},
			"accessibility_label": {false, text(1, maxButtonText)},
		}
	case "overflow":
		return schema{
			"action_id": {false, text(1, maxID)},
			"options":   {true, list(1, maxOverflowChoice, option)},
			"confirm":   {false, confirm},
		}
	case "static_select":
		return schema{
			"action_id":      {false, text(1, maxID)},
			"options":        {false, list(1, maxStaticOptions, option)},
			"option_groups":  {false, list(1, maxStaticOptions, optionGroup)},
			"initial_option": {false, option},
			"placeholder":    {false, plainText(1, 150)},
			"confirm":        {false, confirm},
			"focus_on_load":  {false, boolean},
		}
	case "image":
		return schema{"image_url": {true, text(1, maxImageURL)}, "alt_text": {true, text(1, maxAltText)}}
	}
	return nil
}
