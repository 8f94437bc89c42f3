package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// document is a template as written.
type document struct {
	Parameters map[string]parameter
	Mappings   map[string]map[string]map[string]any
	Conditions map[string]any
	Resources  map[string]resource
	Outputs    map[string]struct {
		Value     any
		Condition string
	}
	Transform any
}

type parameter struct {
	Type    string
	Default any
}

type resource struct {
	Type       string
	Properties map[string]any
	Condition  string
	DependsOn  any
	Metadata   map[string]any
}

func readDocument(source []byte) (*document, error) {
	dec := json.NewDecoder(bytes.NewReader(source))
	dec.UseNumber()
	var doc document
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	if doc.Transform != nil {
		return nil, errors.New("transforms are not understood")
	}
	if len(doc.Resources) == 0 {
		return nil, errors.New("no resources")
	}
	return &doc, nil
}
