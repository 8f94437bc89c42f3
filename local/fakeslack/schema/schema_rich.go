package schema

import (
	"encoding/json"
	"slices"
)

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
