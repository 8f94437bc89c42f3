package settingsfile

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Key documents one setting.
type Key struct {
	Name    string
	Default string
	About   string
}

// Schema is the JSON schema of the file, for editors: what it refuses Read refuses, and what it
// allows Read accepts, as far as a schema can see what is written (whether a text is in quotes
// it cannot).
func Schema(list []Key) ([]byte, error) {
	settings := map[string]any{}
	top := map[string]any{stackTags: with(tags().schema(), "description", "Tags of the stack, which CloudFormation puts on every resource that takes tags.", "maxProperties", mostTags)}
	for _, name := range sections() {
		top[name] = map[string]any{"type": []string{"object", "null"}, "description": sectionAbout(name), "properties": map[string]any{}, "additionalProperties": false}
	}
	for _, k := range list {
		r, ok := find(k.Name)
		if !ok {
			return nil, fmt.Errorf("%s has no row in package settingsfile", k.Name)
		}
		about := with(r.schema(), "description", k.About)
		if k.Default != "" {
			about["description"] = k.About + " Default: " + k.Default + "."
		}
		settings[k.Name] = about
		reference := map[string]any{"$ref": "#/$defs/" + k.Name}
		top[k.Name] = reference
		if within, name, ok := strings.Cut(r.place, "."); ok {
			top[within].(map[string]any)["properties"].(map[string]any)[name] = reference
		}
	}
	text, err := json.MarshalIndent(map[string]any{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"title":                "Settings of Rollcall",
		"description":          "rollcall.yaml. Each setting stands in its section, or at the top by its key.",
		"type":                 []string{"object", "null"},
		"properties":           top,
		"additionalProperties": false,
		"$defs":                settings,
	}, "", " ")
	return append(text, '\n'), err
}

func with(schema map[string]any, more ...any) map[string]any {
	for i := 0; i < len(more); i += 2 {
		schema[more[i].(string)] = more[i+1]
	}
	return schema
}

// schema is the JSON schema of a form.
func (s shape) schema() map[string]any {
	var list []any
	add := func(more ...any) { list = append(list, with(map[string]any{}, more...)) }
	if len(s.words) > 0 {
		var enum []any
		for _, w := range s.words {
			enum = append(enum, w)
			// YAML 1.1 reads these words so.
			switch w {
			case "on":
				enum = append(enum, true)
			case "off":
				enum = append(enum, false)
			}
		}
		add("enum", enum)
	}
	if s.number {
		add("type", "integer", "minimum", s.least, "maximum", s.most)
	}
	if s.zero {
		add("const", 0)
	}
	if pattern := s.text(); pattern != "" {
		add("type", "string", "pattern", "^(?:"+pattern+")$")
	}
	if s.item != nil {
		if s.part {
			list = append(list, s.item.schema())
		}
		add("type", "array", "items", s.item.schema(), "minItems", 1)
	}
	if len(s.fields) > 0 {
		list = append(list, s.recordSchema())
	}
	if s.name != nil {
		add("type", "object", "propertyNames", s.name.schema(), "additionalProperties", s.value.schema(), "minProperties", 1)
	}
	if len(list) == 1 {
		return list[0].(map[string]any)
	}
	return map[string]any{"anyOf": list}
}

func (s shape) recordSchema() map[string]any {
	fields := map[string]any{}
	var must []string
	for _, f := range s.fields {
		fields[f.name] = f.shape.schema()
		if f.must {
			must = append(must, f.name)
		}
	}
	schema := with(map[string]any{}, "type", "object", "properties", fields, "additionalProperties", false, "minProperties", 1)
	if len(must) > 0 {
		schema["required"] = must
	}
	if len(s.one) > 0 {
		var one []any
		for _, name := range s.one {
			one = append(one, map[string]any{"required": []string{name}})
		}
		schema["anyOf"] = one
	}
	if len(s.apart) > 0 {
		schema["not"] = map[string]any{"required": s.apart}
	}
	if len(s.needs) > 0 {
		needs := map[string]any{}
		for name, other := range s.needs {
			needs[name] = []string{other}
		}
		schema["dependentRequired"] = needs
	}
	return schema
}

// sampleHead begins the sample.
const sampleHead = `# yaml-language-server: $schema=rollcall.schema.json
#
# Settings of Rollcall: make deploy SETTINGS=rollcall.yaml, or rollcall deploy --settings rollcall.yaml.
# A setting that is left out has its default. Take the # off those that you change, and keep the
# name of the section above them. What stands on the command line too (CHANNEL=, CLUSTERS=, SET=)
# wins over this file.
#
# The texts below are those of docs/settings.md, which describe the one-line form of a setting
# (SET="remedies=prod=approve"); both that text, in quotes, and the YAML of the examples are
# accepted. Put numbers of accounts in quotes: "012345678901".
`

// Sample is the commented file: every setting with its default, or with an example where there
// is none.
func Sample(list []Key) (string, error) {
	b := strings.Builder{}
	b.WriteString(sampleHead)
	byName := map[string]Key{}
	for _, k := range list {
		byName[k.Name] = k
	}
	last := ""
	for _, r := range rows() {
		k, ok := byName[r.key]
		if !ok {
			return "", fmt.Errorf("%s is no setting", r.key)
		}
		within, name, nested := strings.Cut(r.place, ".")
		indent := ""
		if !nested {
			name = r.place
		} else {
			indent = "  "
			if within != last {
				fmt.Fprintf(&b, "\n# %s\n%s:\n", sectionAbout(within), within)
				last = within
			}
		}
		b.WriteByte('\n')
		if !nested {
			last = ""
		}
		comment(&b, indent, k.About)
		switch {
		case r.key == required:
			fmt.Fprintf(&b, "%s%s: %s\n", indent, name, r.example)
		case k.Default == "":
			fmt.Fprintf(&b, "%s# No default, for example:\n%s# %s: %s\n", indent, indent, name, r.example)
		case r.example == "":
			fmt.Fprintf(&b, "%s# %s: %s\n", indent, name, k.Default)
		default:
			fmt.Fprintf(&b, "%s# For example: %s: %s\n%s# %s: %s\n", indent, name, r.example, indent, name, k.Default)
		}
	}
	b.WriteString("\n# Tags of the stack, which CloudFormation puts on every resource that takes tags. No default, for example:\n# " + stackTags + `: {cost-center: "1234"}` + "\n")
	return b.String(), nil
}

// required is the setting that a file of the sample's kind cannot do without.
const required = "slackChannel"

// comment writes a text in lines of about a hundred characters.
func comment(b *strings.Builder, indent, text string) {
	line := indent + "#"
	for _, word := range strings.Fields(text) {
		if len([]rune(line))+1+len([]rune(word)) > 100 && line != indent+"#" {
			b.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}
