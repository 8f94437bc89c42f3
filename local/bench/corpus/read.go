package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"rollcall/local/simaws/worldfile"
)

// corpus is the worlds, and the public reports that none of them retells.
type corpus struct {
	Worlds []subject
	// Cases are the ids of all reports that were looked at.
	Cases  []string
	Unseen []unseen
	// Remembered are the checks that no world that stands still can show.
	Remembered []remembered
}

// subject is one world of the corpus.
type subject struct {
	Name, Path string
	Check      string
	Cases      []string
	Expect     worldfile.Expect
}

// unseen is a report whose cause no API can show, or that is about what
// Rollcall does not judge yet.
type unseen struct {
	ID, URL, Why string
}

// remembered is a check of what Rollcall itself remembers: the corpus has no
// history of launches. Proof are the worlds that show it on the running stage,
// and files in which made-up histories do.
type remembered struct {
	Check, Why string
	Proof      []string
}

// casesFile lists the reports; every other file of the folder is a world.
const casesFile = "unseen.yaml"

func read(dir string) (corpus, error) {
	var c corpus
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return c, fmt.Errorf("list the worlds: %w", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if filepath.Base(path) == casesFile {
			if err := readCases(path, &c); err != nil {
				return c, err
			}
			continue
		}
		file, err := worldfile.Load(path)
		if err != nil {
			return c, fmt.Errorf("read the world %s: %w", name, err)
		}
		c.Worlds = append(c.Worlds, subject{Name: name, Path: path, Check: file.Check, Cases: file.Cases, Expect: file.Expect})
	}
	if len(c.Worlds) == 0 {
		return c, fmt.Errorf("%s has no worlds: run it from the repository's root", dir)
	}
	return c, nil
}

func readCases(path string, c *corpus) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the reports: %w", err)
	}
	var file struct {
		All        []string
		Unseen     []unseen
		Remembered []remembered
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return fmt.Errorf("read the reports in %s: %w", path, err)
	}
	c.Cases, c.Unseen, c.Remembered = file.All, file.Unseen, file.Remembered
	return nil
}
