package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// excuse is a mutant that no test can tell from the code, and why.
type excuse struct {
	Package  string
	Function string
	Operator operator
	Before   string
	After    string
	Again    int
	Reason   string
}

// excuses reads the file of excused mutants.
func excuses(path string) ([]*excuse, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []*excuse
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	for _, e := range list {
		if strings.TrimSpace(e.Reason) == "" {
			return nil, fmt.Errorf("%s: %s has no reason", filepath.Base(path), e)
		}
	}
	return list, nil
}

func (e *excuse) String() string {
	return fmt.Sprintf("%s: %s: %s: %s → %s", e.Package, e.Function, e.Operator, e.Before, e.After)
}

func (e *excuse) is(m mutant) bool {
	return e.Package == m.Package && e.Function == m.Function && e.Operator == m.Operator && e.Before == m.Before && e.After == m.After && e.Again == m.Again
}

// excused gives a package's mutants their reasons. An entry for a mutant that is
// no longer there is refused: it would excuse the next one that looks like it.
// So is one for a mutant that a test notices.
func excused(results []result, all []mutant, list []*excuse, name string) error {
	var wrong []error
	for _, e := range list {
		if e.Package != name {
			continue
		}
		if !slices.ContainsFunc(all, e.is) {
			wrong = append(wrong, fmt.Errorf("excused, but no mutant: %s", e))
		}
		for i := range results {
			if !e.is(results[i].mutant) {
				continue
			}
			results[i].Reason = e.Reason
			if results[i].Fate != lived {
				wrong = append(wrong, fmt.Errorf("excused, but a test notices it: %s", e))
			}
		}
	}
	return errors.Join(wrong...)
}
