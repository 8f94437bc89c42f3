package pattern

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

type kind int

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

// node is a JSON value that keeps the order and the duplicates of members,
// which map[string]any would lose.
type node struct {
	kind    kind
	text    string // the string, the number as written, or "true"/"false"
	items   []node
	members []member
}

type member struct {
	name  string
	value node
}

// maxDepth bounds the recursion. EventBridge takes events of 256 KB; real
// ones nest less than twenty deep.
const maxDepth = 500

// parseJSON reads exactly one JSON value.
func parseJSON(source []byte) (node, error) {
	// The whole first: the token reader below stops at the end of the first
	// value.
	if !json.Valid(source) {
		return node{}, errors.New("not valid JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(source))
	dec.UseNumber()
	n, err := readNode(dec, 0)
	if err != nil {
		return node{}, fmt.Errorf("read JSON: %w", err)
	}
	return n, nil
}

func readNode(dec *json.Decoder, depth int) (node, error) {
	if depth > maxDepth {
		return node{}, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		return node{}, err
	}
	switch v := tok.(type) {
	case nil:
		return node{kind: kindNull, text: "null"}, nil
	case bool:
		if v {
			return node{kind: kindBool, text: "true"}, nil
		}
		return node{kind: kindBool, text: "false"}, nil
	case json.Number:
		return node{kind: kindNumber, text: v.String()}, nil
	case string:
		return node{kind: kindString, text: v}, nil
	case json.Delim:
		if v == '[' {
			return readArray(dec, depth)
		}
		return readObject(dec, depth)
	}
	return node{}, fmt.Errorf("unexpected token %v", tok)
}

func readArray(dec *json.Decoder, depth int) (node, error) {
	n := node{kind: kindArray}
	for dec.More() {
		item, err := readNode(dec, depth+1)
		if err != nil {
			return node{}, err
		}
		n.items = append(n.items, item)
	}
	_, err := dec.Token()
	return n, err
}

func readObject(dec *json.Decoder, depth int) (node, error) {
	n := node{kind: kindObject}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return node{}, err
		}
		name, ok := tok.(string)
		if !ok {
			return node{}, fmt.Errorf("unexpected member name %v", tok)
		}
		value, err := readNode(dec, depth+1)
		if err != nil {
			return node{}, err
		}
		n.members = append(n.members, member{name: name, value: value})
	}
	_, err := dec.Token()
	return n, err
}
