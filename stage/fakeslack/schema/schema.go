// Package schema says of Block Kit blocks what Slack's API says of those that it
// refuses: fields, types and lengths, each with its place.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
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
	maxInputLabel     = 2000
	maxInputText      = 3000
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
	case "input":
		// docs.slack.dev/reference/block-kit/blocks/input-block: of its elements, the one in use.
		return schema{
			"label":           {true, plainText(1, maxInputLabel)},
			"element":         {true, element("plain_text_input")},
			"dispatch_action": {false, boolean},
			"optional":        {false, boolean},
			"hint":            {false, plainText(1, maxInputLabel)},
		}
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
	case "plain_text_input":
		// docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element
		return schema{
			"action_id":              {false, text(1, maxID)},
			"placeholder":            {false, plainText(1, 150)},
			"initial_value":          {false, text(0, maxInputText)},
			"multiline":              {false, boolean},
			"min_length":             {false, integer},
			"max_length":             {false, integer},
			"focus_on_load":          {false, boolean},
			"dispatch_action_config": {false, dispatchConfig},
		}
	case "image":
		return schema{"image_url": {true, text(1, maxImageURL)}, "alt_text": {true, text(1, maxAltText)}}
	}
	return nil
}

// validator collects problems, each with the JSON pointer that Slack adds.
type validator struct{ problems []string }

func (v *validator) fail(at, format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...)+" [json-pointer:"+at+"]")
}

// check holds one value against a rule.
type check func(v *validator, at string, value any)

// field is a field of an object.
type field struct {
	required bool
	check    check
}

// schema is the fields of an object, beside "type" and "block_id".
type schema map[string]field

// object holds o against s. Fields that Slack does not know are refused.
func (v *validator) object(at string, o map[string]any, s schema, free ...string) {
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value, ok := o[name]
		switch {
		case ok:
			s[name].check(v, at+"/"+name, value)
		case s[name].required:
			v.fail(at, "missing required field: %s", name)
		}
	}
	extra := []string{}
	for name := range o {
		if _, known := s[name]; !known && !slices.Contains(free, name) {
			extra = append(extra, name)
		}
	}
	slices.Sort(extra)
	for _, name := range extra {
		v.fail(at, "invalid additional property: %s", name)
	}
}

// block checks one block of a message.
func (v *validator) block(at string, value any) {
	o, ok := value.(map[string]any)
	if !ok {
		v.fail(at, "must be an object")
		return
	}
	kind, ok := o["type"].(string)
	s := blockSchema(kind)
	switch {
	case !ok:
		v.fail(at, "missing required field: type")
		return
	case s == nil:
		v.fail(at+"/type", "unsupported type: %s", kind)
		return
	}
	if id, ok := o["block_id"]; ok {
		text(1, maxID)(v, at+"/block_id", id)
	}
	v.object(at, o, s, "type", "block_id")
	if kind == "section" && o["text"] == nil && o["fields"] == nil {
		v.fail(at, "missing required field: text")
	}
	if kind == "image" && (o["image_url"] == nil) == (o["slack_file"] == nil) {
		v.fail(at, "one of image_url and slack_file is required")
	}
	if kind == "actions" {
		v.uniqueActions(at, o)
	}
}

// uniqueActions refuses the same action_id twice in one block.
func (v *validator) uniqueActions(at string, block map[string]any) {
	seen := map[string]bool{}
	items, _ := block["elements"].([]any)
	for i, item := range items {
		o, _ := item.(map[string]any)
		id, ok := o["action_id"].(string)
		if ok && seen[id] {
			v.fail(fmt.Sprintf("%s/elements/%d/action_id", at, i), "action_id %q is not unique", id)
		}
		seen[id] = ok
	}
}

func anything(*validator, string, any) {}

func boolean(v *validator, at string, value any) {
	if _, ok := value.(bool); !ok {
		v.fail(at, "must be a boolean")
	}
}

// text is a string of so many characters.
func text(least, most int) check {
	return func(v *validator, at string, value any) {
		s, ok := value.(string)
		switch n := utf8.RuneCountInString(s); {
		case !ok:
			v.fail(at, "must be a string")
		case n < least:
			v.fail(at, "must be more than %d characters", least-1)
		case n > most:
			v.fail(at, "must be less than %d characters", most+1)
		}
	}
}

func oneOf(words ...string) check {
	return func(v *validator, at string, value any) {
		if s, ok := value.(string); !ok || !slices.Contains(words, s) {
			v.fail(at, "must be a valid enum value")
		}
	}
}

func list(least, most int, item check) check {
	return func(v *validator, at string, value any) {
		items, ok := value.([]any)
		switch {
		case !ok:
			v.fail(at, "must be an array")
		case len(items) < least:
			v.fail(at, "no fewer than %d items allowed", least)
		case len(items) > most:
			v.fail(at, "no more than %d items allowed", most)
		}
		for i, x := range items {
			item(v, fmt.Sprintf("%s/%d", at, i), x)
		}
	}
}

// textObject is a composition object of one of kinds.
func textObject(least, most int, kinds ...string) check {
	return func(v *validator, at string, value any) {
		o, ok := value.(map[string]any)
		if !ok {
			v.fail(at, "must be an object")
			return
		}
		s := schema{"type": {true, oneOf(kinds...)}, "text": {true, text(least, most)}}
		switch o["type"] {
		case "plain_text":
			s["emoji"] = field{false, boolean}
		case "mrkdwn":
			s["verbatim"] = field{false, boolean}
		}
		v.object(at, o, s)
	}
}

func plainText(least, most int) check { return textObject(least, most, "plain_text") }
func anyText(least, most int) check   { return textObject(least, most, "plain_text", "mrkdwn") }

// element is an interactive element or an image, of one of kinds.
func element(kinds ...string) check {
	return func(v *validator, at string, value any) {
		o, ok := value.(map[string]any)
		kind, _ := o["type"].(string)
		if !ok || !slices.Contains(kinds, kind) {
			v.fail(at+"/type", "unsupported type: %s", kind)
			return
		}
		v.object(at, o, elementSchema(kind), "type")
		if kind == "static_select" && (o["options"] == nil) == (o["option_groups"] == nil) {
			v.fail(at, "one of options and option_groups is required")
		}
	}
}

// contextItem is an image or a text of a context block.
func contextItem(v *validator, at string, value any) {
	if o, _ := value.(map[string]any); o["type"] == "image" {
		element("image")(v, at, value)
		return
	}
	anyText(1, maxSectionText)(v, at, value)
}

func option(v *validator, at string, value any) {
	o, ok := value.(map[string]any)
	if !ok {
		v.fail(at, "must be an object")
		return
	}
	v.object(at, o, schema{
		"text":        {true, plainText(1, maxOptionText)},
		"value":       {true, text(1, maxOptionValue)},
		"description": {false, plainText(1, maxOptionText)},
		"url":         {false, text(1, maxURL)},
	})
}

func optionGroup(v *validator, at string, value any) {
	o, ok := value.(map[string]any)
	if !ok {
		v.fail(at, "must be an object")
		return
	}
	v.object(at, o, schema{
		"label":   {true, plainText(1, maxOptionText)},
		"options": {true, list(1, maxStaticOptions, option)},
	})
}

// dispatchConfig: docs.slack.dev/reference/block-kit/composition-objects/dispatch-action-configuration-object.
func dispatchConfig(v *validator, at string, value any) {
	o, ok := value.(map[string]any)
	if !ok {
		v.fail(at, "must be an object")
		return
	}
	v.object(at, o, schema{"trigger_actions_on": {false, list(1, 2, oneOf("on_enter_pressed", "on_character_entered"))}})
}

func confirm(v *validator, at string, value any) {
	o, ok := value.(map[string]any)
	if !ok {
		v.fail(at, "must be an object")
		return
	}
	v.object(at, o, schema{
		"title":   {true, plainText(1, 100)},
		"text":    {true, anyText(1, 300)},
		"confirm": {true, plainText(1, 30)},
		"deny":    {true, plainText(1, 30)},
		"style":   {false, oneOf("primary", "danger")},
	})
}

// FileID is the pattern that Slack names in its refusal (slackapi/python-slack-sdk issue 1521).
var FileID = regexp.MustCompile(`^[F][A-Z0-9]{8,}$`)

// slackFile is a file by its id or by its address, not by both.
func slackFile(v *validator, at string, value any) {
	o, ok := value.(map[string]any)
	if !ok {
		v.fail(at, "must be an object")
		return
	}
	v.object(at, o, schema{"url": {false, text(1, maxImageURL)}, "id": {false, func(v *validator, at string, value any) {
		if id, _ := value.(string); !FileID.MatchString(id) {
			v.fail(at, "input must match regex pattern: %s", FileID)
		}
	}}})
	if (o["id"] == nil) == (o["url"] == nil) {
		v.fail(at, "one of url and id is required")
	}
}

// Rich text: docs.slack.dev/reference/block-kit/blocks/rich-text-block and the
// pages of its elements; what may be in what is from the types that Slack
// publishes (npm @slack/types).

// richSchema is what a part of a rich_text block may have; nil if it is refused.
func richSchema(kind string) schema {
	items := list(0, 1<<20, richItem)
	switch kind {
	case "rich_text_section":
		return schema{"elements": {true, items}}
	case "rich_text_quote":
		return schema{"elements": {true, items}, "border": {false, border}}
	case "rich_text_preformatted":
		return schema{
			"elements": {true, list(0, 1<<20, richItemOf("text", "link"))},
			"border":   {false, border},
			"language": {false, text(0, maxID)},
		}
	case "rich_text_list":
		return schema{
			"style":    {true, oneOf("bullet", "ordered")},
			"elements": {true, list(0, 1<<20, richSection)},
			"indent":   {false, integer},
			"offset":   {false, integer},
			"border":   {false, border},
		}
	}
	return nil
}

// richItemSchema is what a piece of a section may have; nil if it is refused.
func richItemSchema(kind string) schema {
	s := schema{}
	switch kind {
	case "text":
		s["text"] = field{true, text(1, MaxBlocksSize)}
	case "link":
		s["url"], s["text"] = field{true, text(1, maxURL)}, field{false, text(0, MaxBlocksSize)}
		s["unsafe"] = field{false, boolean}
	case "date":
		s["timestamp"], s["format"] = field{true, integer}, field{true, text(1, MaxBlocksSize)}
		s["url"], s["fallback"] = field{false, text(1, maxURL)}, field{false, text(0, MaxBlocksSize)}
		s["timezone"] = field{false, text(1, maxID)}
	case "emoji":
		s["name"] = field{true, text(1, maxID)}
		s["unicode"], s["url"] = field{false, text(1, maxID)}, field{false, text(1, maxURL)}
		s["skin_tone"] = field{false, integer}
	case "user":
		s["user_id"] = field{true, text(1, maxID)}
	case "usergroup":
		s["usergroup_id"] = field{true, text(1, maxID)}
	case "channel":
		s["channel_id"] = field{true, text(1, maxID)}
	case "broadcast":
		s["range"] = field{true, oneOf("here", "channel", "everyone")}
	case "color":
		s["value"] = field{true, text(1, maxID)}
	default:
		return nil
	}
	s["style"] = field{false, richStyle}
	return s
}

// richText checks a part of a rich_text block.
func richText(v *validator, at string, value any) { typed(v, at, value, richSchema) }

// richSection is the only thing that a list takes.
func richSection(v *validator, at string, value any) {
	typed(v, at, value, only(richSchema, "rich_text_section"))
}

// richItem is a piece of a rich_text section.
func richItem(v *validator, at string, value any) { typed(v, at, value, richItemSchema) }

// richItemOf is a piece of one of kinds.
func richItemOf(kinds ...string) check {
	return func(v *validator, at string, value any) { typed(v, at, value, only(richItemSchema, kinds...)) }
}

// only is of without all types but kinds.
func only(of func(kind string) schema, kinds ...string) func(kind string) schema {
	return func(kind string) schema {
		if !slices.Contains(kinds, kind) {
			return nil
		}
		return of(kind)
	}
}

// typed holds an object against the schema of its type.
func typed(v *validator, at string, value any, of func(kind string) schema) {
	o, ok := value.(map[string]any)
	if !ok {
		v.fail(at, "must be an object")
		return
	}
	kind, _ := o["type"].(string)
	s := of(kind)
	if s == nil {
		v.fail(at+"/type", "unsupported type: %v", o["type"])
		return
	}
	v.object(at, o, s, "type")
}

func richStyle(v *validator, at string, value any) {
	o, ok := value.(map[string]any)
	if !ok {
		v.fail(at, "must be an object")
		return
	}
	s := schema{}
	for _, name := range []string{"bold", "italic", "strike", "code", "underline", "highlight", "client_highlight", "unlink"} {
		s[name] = field{false, boolean}
	}
	v.object(at, o, s)
}

func integer(v *validator, at string, value any) {
	n, ok := value.(json.Number)
	if _, err := n.Int64(); !ok || err != nil {
		v.fail(at, "must be an integer")
	}
}

// border is 0 or 1.
func border(v *validator, at string, value any) {
	if value != json.Number("0") && value != json.Number("1") {
		v.fail(at, "must be a valid enum value")
	}
}
