// Package figures writes docs/figures.md, and the figures of README.md. The text stands in
// page.md without a number: each is read out of the page that a program wrote, the test
// that holds it, or the code that it is of. So none can be another than what was measured.
package figures

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed page.md
var text string

// Page is the place of the page below the repository.
const Page = "docs/figures.md"

const readme = "README.md"

// name is where a value goes.
var name = regexp.MustCompile(`\{\{([^{}]+)\}\}`)

// Write is the page; root is the repository.
func Write(root string) (string, error) {
	return fill(root, text, values(), phrases())
}

// Fill writes the page, and what other pages have of it, anew.
func Fill(root string) error {
	texts, err := Texts(root)
	if err != nil {
		return err
	}
	for file, text := range texts {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(file)), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write the figures: %w", err)
		}
	}
	return nil
}

// Texts are the page, and what other pages have of it, by their places.
func Texts(root string) (map[string]string, error) {
	page, err := Write(root)
	if err != nil {
		return nil, fmt.Errorf("fill %s: %w", Page, err)
	}
	texts := map[string]string{Page: page}
	list, err := places(root)
	if err != nil {
		return nil, err
	}
	if err := put(root, list, texts); err != nil {
		return nil, err
	}
	texts[readme], err = rows(texts[readme], page)
	return texts, err
}

// fill puts the values into a text. All of them: one that is not asked for is of a row
// that is gone.
func fill(root, text string, values map[string]value, said []phrase) (string, error) {
	var faults []error
	used := map[string]bool{}
	out := name.ReplaceAllStringFunc(text, func(place string) string {
		key := place[2 : len(place)-2]
		v, known := values[key]
		if !known {
			faults = append(faults, fmt.Errorf("there is no value %q", key))
			return place
		}
		used[key] = true
		is, err := v.read(root)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", key, err))
		}
		return is
	})
	for key := range values {
		if !used[key] {
			faults = append(faults, fmt.Errorf("no text has %q", key))
		}
	}
	for _, p := range said {
		raw, err := os.ReadFile(filepath.Join(root, p.file))
		if err == nil && !strings.Contains(string(raw), p.says) {
			err = fmt.Errorf("%s does not say %q any more: what page.md makes of it may not be true", p.file, p.says)
		}
		faults = append(faults, err)
	}
	return out, errors.Join(faults...)
}

// rows is README.md with the rows of the page that it has.
func rows(text, page string) (string, error) {
	known := map[string]string{}
	table, _, _ := strings.Cut(page, "\n## ") // the first, of the figures themselves
	for line := range strings.Lines(table) {
		if what, ok := first(line); ok {
			known[what] = strings.ReplaceAll(line, "](", "](docs/")
		}
	}
	before, section, found := strings.Cut(text, "\n## Figures\n")
	if !found {
		return "", errors.New("README.md has no figures")
	}
	section, after, _ := strings.Cut(section, "\n## ")
	var b strings.Builder
	for line := range strings.Lines(section) {
		what, ok := first(line)
		row, is := known[what]
		switch {
		case !ok:
			row = line
		case !is:
			return "", fmt.Errorf("README.md has a row %q, and %s has none", what, Page)
		}
		b.WriteString(row)
	}
	return before + "\n## Figures\n" + b.String() + "\n## " + after, nil
}

// first is what a row is of: its first cell without the figures in it, which are other
// ones when they are measured anew.
func first(line string) (string, bool) {
	if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| what |") {
		return "", false
	}
	what, _, _ := strings.Cut(line[2:], " | ")
	return regexp.MustCompile(`\d[\d,.]*`).ReplaceAllString(what, "…"), true
}
