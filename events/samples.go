// Package events holds one sample of each event that Rollcall takes in (in/)
// and sends out (out/), with the schema of the latter.
package events

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
