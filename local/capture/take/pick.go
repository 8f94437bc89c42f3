package take

import (
	"encoding/json"
	"slices"
	"strings"
)

// picks are the texts at a path of an answer, such as
// Reservations[].Instances[].InstanceId, sorted, each once.
func picks(tree any, path string) []string {
	var out []string
	for _, v := range nodes(tree, path) {
		if text, ok := v.(string); ok && text != "" {
			out = append(out, text)
		}
	}
	return sorted(out)
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// nodes are what is at a path, in order. A list is walked where the path has [].
func nodes(tree any, path string) []any {
	if path == "" {
		return []any{tree}
	}
	name, rest, _ := strings.Cut(path, ".")
	name, isList := strings.CutSuffix(name, "[]")
	m, ok := tree.(map[string]any)
	if !ok {
		return nil
	}
	v, ok := m[name]
	if !ok {
		return nil
	}
	if !isList {
		return nodes(v, rest)
	}
	var out []any
	items, _ := v.([]any)
	for _, item := range items {
		out = append(out, nodes(item, rest)...)
	}
	return out
}

// text is the text at a path, "" if there is none.
func text(tree any, path string) string {
	for _, v := range nodes(tree, path) {
		switch v := v.(type) {
		case string:
			return v
		case json.Number:
			return v.String()
		}
	}
	return ""
}

// tag is the value of a tag of EC2 or Auto Scaling.
func tag(tree any, key string) string {
	for _, t := range nodes(tree, "Tags[]") {
		if text(t, "Key") == key {
			return text(t, "Value")
		}
	}
	return ""
}

// lastPart is the name at the end of an ARN.
func lastPart(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }
