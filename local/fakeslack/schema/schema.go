package schema

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

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
