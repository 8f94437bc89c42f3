package userdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// formatWork is what a byte of YAML or TOML counts for: their readers take up
// to 0.3 and 0.9 µs for each, the shell's 0.02.
const formatWork = 16

// documents is the first YAML document and how many follow it.
func (b *budget) documents(text string) (first *yaml.Node, later int, err error) {
	if !b.spend(Work, formatWork*len(text)) {
		return nil, 0, b.over
	}
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	for {
		var n yaml.Node
		err := decoder.Decode(&n)
		switch {
		case errors.Is(err, io.EOF):
			return first, later, nil
		case err != nil && first != nil:
			return first, later + 1, nil // nobody reads it
		case err != nil:
			return nil, 0, fmt.Errorf("read YAML: %w", err)
		case first == nil:
			first = &n
		default:
			later++
		}
	}
}

// lineOf is the line that YAML's reader names; it has no type for it.
func lineOf(err error) int {
	_, text, _ := strings.Cut(err.Error(), "yaml: ")
	var line int
	if _, err := fmt.Sscanf(text, "line %d", &line); err != nil {
		return 0
	}
	return line
}

// node is a value in YAML. A nil node has no values, so that paths need no
// checks on the way.
type node struct {
	n    *yaml.Node
	left *budget
}

func (b *budget) object(n *yaml.Node) *node {
	for depth := 0; n != nil && depth < 10; depth++ {
		switch {
		case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
			n = n.Content[0]
		case n.Kind == yaml.AliasNode:
			n = n.Alias
		case n.Kind == yaml.MappingNode:
			return &node{n, b}
		default:
			return nil
		}
	}
	return nil
}

func resolve(n *yaml.Node) *yaml.Node {
	for depth := 0; n != nil && n.Kind == yaml.AliasNode && depth < 10; depth++ {
		n = n.Alias
	}
	return n
}

// get is the value of a key: the last one where it is there twice, else that
// of a merge key.
func (o *node) get(key string) *node { return o.lookup(key, 0) }

func (o *node) lookup(key string, depth int) *node {
	if o == nil || o.n.Kind != yaml.MappingNode || depth > 5 {
		return nil
	}
	if !o.left.spend(Work, formatWork*len(o.n.Content)) {
		return nil // merge keys of merge keys
	}
	var found, merged *node
	for i := 0; i+1 < len(o.n.Content); i += 2 {
		k, v := o.n.Content[i], resolve(o.n.Content[i+1])
		switch {
		case v == nil:
		case k.Value == key:
			found = &node{v, o.left}
		case k.Tag == "!!merge":
			merged = (&node{v, o.left}).lookup(key, depth+1)
		}
	}
	if found == nil {
		return merged
	}
	return found
}

func (o *node) text() string {
	if o == nil || o.n.Kind != yaml.ScalarNode {
		return ""
	}
	return o.n.Value
}

func (o *node) line() int {
	if o == nil {
		return 0
	}
	return o.n.Line
}

func (o *node) null() bool { return o.n.Kind == yaml.ScalarNode && o.n.ShortTag() == "!!null" }

// isString tells a string from a number, a date or a list. What YAML 1.2
// reads as a date is a string for Kubernetes' reader.
func (o *node) isString() bool {
	tag := o.n.ShortTag()
	return o.n.Kind == yaml.ScalarNode && (tag == "!!str" || tag == "!!timestamp" || tag == "!!binary")
}

func (o *node) list() ([]string, bool) {
	if o == nil || o.n.Kind != yaml.SequenceNode {
		return nil, false
	}
	var list []string
	for _, item := range o.n.Content {
		v := resolve(item)
		if v == nil || v.Kind != yaml.ScalarNode || !o.left.spend(Work, len(v.Value)) {
			return nil, false
		}
		list = append(list, v.Value)
	}
	return list, true
}
