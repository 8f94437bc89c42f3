package worldfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxNodes bounds how many nodes a document may grow to through YAML
// aliases, so that a small file cannot become a huge one.
const maxNodes = 2_000_000

// maxDepth bounds how deep a document may nest, through aliases of itself too.
const maxDepth = 100

// treeOfYAML reads one YAML document (JSON is YAML too) as a generic tree.
// Scalars keep their text: 012345678901 stays an account id and a time is not
// read by YAML's rules but by ours.
func treeOfYAML(data []byte) (map[string]any, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var node yaml.Node
	if err := dec.Decode(&node); err != nil {
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	if err := dec.Decode(new(yaml.Node)); err != io.EOF {
		return nil, fmt.Errorf("read YAML: want one document")
	}
	budget := maxNodes
	v, err := treeOfNode(&node, &budget, maxDepth)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("read YAML: want a mapping, got %s", kindName(v))
	}
	return m, nil
}

func treeOfNode(n *yaml.Node, budget *int, depth int) (any, error) {
	if *budget--; *budget < 0 || depth == 0 {
		return nil, fmt.Errorf("read YAML: too large")
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) != 1 {
			return nil, fmt.Errorf("read YAML: empty document")
		}
		return treeOfNode(n.Content[0], budget, depth-1)
	case yaml.AliasNode:
		return treeOfNode(n.Alias, budget, depth-1)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := treeOfNode(c, budget, depth-1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
				return nil, fmt.Errorf("read YAML: line %d: want a plain key", key.Line)
			}
			if _, twice := out[key.Value]; twice {
				return nil, fmt.Errorf("read YAML: line %d: %q is given twice", key.Line, key.Value)
			}
			v, err := treeOfNode(n.Content[i+1], budget, depth-1)
			if err != nil {
				return nil, err
			}
			out[key.Value] = v
		}
		return out, nil
	case yaml.ScalarNode:
		return treeOfScalar(n)
	}
	return nil, fmt.Errorf("read YAML: line %d: unknown kind of node", n.Line)
}

func treeOfScalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return nil, fmt.Errorf("read YAML: line %d: %w", n.Line, err)
		}
		return b, nil
	case "!!int", "!!float":
		// Hexadecimal, octal and infinite numbers have no JSON form; they
		// stay text, and the field that gets them says what it wanted.
		if isJSONNumber(n.Value) {
			return json.Number(n.Value), nil
		}
		return n.Value, nil
	}
	return n.Value, nil
}

func isJSONNumber(s string) bool {
	if s == "" || strings.TrimLeft(s, "-0123456789.eE+") != "" {
		return false
	}
	return json.Valid([]byte(s))
}

// treeOfJSON reads one JSON value as a generic tree.
func treeOfJSON(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("read JSON: more than one value")
	}
	return v, nil
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
