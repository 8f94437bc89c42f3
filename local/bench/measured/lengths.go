package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// length is how long a story takes.
type length struct {
	story string
	took  time.Duration
}

// byItself plays each story by itself, as somebody does who asks for that one: the program that
// make demo builds, with the functions that are in it.
func (m *result) byItself(ctx context.Context) error {
	page, err := os.ReadFile("docs/stories.md")
	if err != nil {
		return fmt.Errorf("read which stories there are: %w", err)
	}
	for _, story := range storiesOf(string(page)) {
		began := time.Now()
		if _, err := output(ctx, command, "demo", story, "--logs", filepath.Join("out", "figures.log")); err != nil {
			return err
		}
		l := length{story, time.Since(began)}
		fmt.Printf("  %s: %.1f s\n", l.story, l.took.Seconds())
		m.lengths = append(m.lengths, l)
	}
	return nil
}

// storiesOf are the stories that their page tells.
func storiesOf(page string) (list []string) {
	for _, m := range regexp.MustCompile("(?m)^`make demo STORY=([a-z]+)`, ").FindAllStringSubmatch(page, -1) {
		list = append(list, m[1])
	}
	return list
}

const lengthsHeading = "## Each story\n"

// lengthsSection is the section of the page that has them.
func lengthsSection(list []length) string {
	var b strings.Builder
	b.WriteString(lengthsHeading + `
Each by itself, as ` + "`make demo STORY=…`" + ` plays it, from the program's start to its end; ` + "`make figures ONLY=stories`" + ` measures these alone.

| story | s |
|---|---|
`)
	for _, l := range list {
		fmt.Fprintf(&b, "| %s | %.1f |\n", l.story, l.took.Seconds())
	}
	return b.String()
}

// putLengths is the page with that section in place of the one that it has.
func putLengths(text string, list []length) (string, error) {
	before, rest, found := strings.Cut(text, "\n"+lengthsHeading)
	_, after, more := strings.Cut(rest, "\n## ")
	if !found || !more {
		return "", errors.New("the page has no section of each story with another after it: make figures writes it whole")
	}
	return before + "\n" + lengthsSection(list) + "\n## " + after, nil
}

// lengthsAlone measures them, and leaves the rest of a page as it is.
func lengthsAlone(ctx context.Context, page string) error {
	raw, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	// Before minutes are spent on what could not be written.
	if _, err := putLengths(string(raw), nil); err != nil {
		return err
	}
	var m result
	if err := m.byItself(ctx); err != nil {
		return fmt.Errorf("each story by itself: %w", err)
	}
	text, err := putLengths(string(raw), m.lengths)
	if err != nil {
		return err
	}
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
