// Package events holds one sample of each event that Rollcall takes in (in/)
// and sends out (out/), with the schema of the latter.
package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Sample is one event in a file.
type Sample struct {
	File  string
	Event []byte
}

// Samples reads the samples of a folder, in the order of their names.
func Samples(folder string) ([]Sample, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	var list []Sample
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list = append(list, Sample{File: filepath.Base(name), Event: data})
	}
	return list, nil
}

// Header is what says of which kind an event is.
type Header struct {
	Source     string `json:"source"`
	DetailType string `json:"detail-type"`
}

// Header reads the sample's.
func (s Sample) Header() (Header, error) {
	var h Header
	if err := json.Unmarshal(s.Event, &h); err != nil {
		return h, fmt.Errorf("%s: %w", s.File, err)
	}
	return h, nil
}

// Schemas are the schemas of what Rollcall sends out, by detail-type.
type Schemas struct{ of map[string]*jsonschema.Schema }

// ReadSchemas reads the schemas of a folder. Formats (date-time, uri, ipv4) are
// held too. No two may be for one detail-type.
func ReadSchemas(folder string) (Schemas, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return Schemas{}, err
	}
	if len(names) == 0 {
		return Schemas{}, fmt.Errorf("there is no schema in %s", folder)
	}
	s := Schemas{of: map[string]*jsonschema.Schema{}}
	for _, name := range names {
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		schema, err := c.Compile(name)
		if err != nil {
			return Schemas{}, fmt.Errorf("schema %s: %w", name, err)
		}
		types, err := detailTypes(name)
		if err != nil {
			return Schemas{}, err
		}
		for _, t := range types {
			if s.of[t] != nil {
				return Schemas{}, fmt.Errorf("schema %s is another one for %q", name, t)
			}
			s.of[t] = schema
		}
	}
	return s, nil
}

// detailTypes are the detail-types that a schema says it is for.
func detailTypes(file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Properties struct {
			Type struct {
				Const string   `json:"const"`
				Enum  []string `json:"enum"`
			} `json:"detail-type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("schema %s: %w", file, err)
	}
	types := doc.Properties.Type.Enum
	if one := doc.Properties.Type.Const; one != "" {
		types = append(types, one)
	}
	if len(types) == 0 {
		return nil, fmt.Errorf("schema %s names no detail-type", file)
	}
	return types, nil
}

// Validate holds an event against the schema of its detail-type, and returns
// the type. The error names the places in the event that are not as documented.
func (s Schemas) Validate(event []byte) (string, error) {
	e, err := Sample{File: "the event", Event: event}.Header()
	if err != nil {
		return "", err
	}
	schema := s.of[e.DetailType]
	if schema == nil {
		return e.DetailType, fmt.Errorf("there is no schema of %q", e.DetailType)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(event))
	if err != nil {
		return e.DetailType, err
	}
	if err := schema.Validate(parsed); err != nil {
		return e.DetailType, fmt.Errorf("it is not as its schema says: %w", err)
	}
	return e.DetailType, nil
}
