package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	diagnosis "rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/stage/examine"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/site/page"
)

// worldsOf are the paths of the worlds that are broken in the way of each check, in the
// order in which they are tried: the plain one first. All counts the healthy ones too.
func worldsOf(corpus string) (broken map[checkid.ID][]string, all map[checkid.ID]int, err error) {
	paths, err := filepath.Glob(filepath.Join(corpus, "*.yaml"))
	if err != nil {
		return nil, nil, fmt.Errorf("list the worlds: %w", err)
	}
	broken, all = map[checkid.ID][]string{}, map[checkid.ID]int{}
	for _, path := range paths {
		if filepath.Base(path) == "unseen.yaml" { // the reports that no world shows
			continue
		}
		file, err := worldfile.Load(path)
		if err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", path, err)
		}
		if file.Check == "" {
			continue
		}
		id := checkid.ID(file.Check)
		all[id]++
		if !file.Expect.Healthy || len(file.Expect.Advice) > 0 {
			broken[id] = append(broken[id], path)
		}
	}
	for id, list := range broken {
		plainest := strings.ReplaceAll(string(id), "/", "-") + ".yaml"
		slices.SortStableFunc(list, func(a, b string) int { return order(a, plainest) - order(b, plainest) })
	}
	return broken, all, nil
}

func order(path, plainest string) int {
	if filepath.Base(path) == plainest {
		return 0
	}
	return 1
}

// exampleOf is what is said of a check in the first of its worlds in which it is the cause of an
// incident; else in the first in which it is told at all. It is false where none tells it.
func exampleOf(ctx context.Context, id checkid.ID, worlds []string) (page.Example, bool, error) {
	var second *page.Example
	for _, path := range worlds {
		e, err := exampleIn(ctx, id, path)
		if err != nil {
			return page.Example{}, false, fmt.Errorf("%s: %w", path, err)
		}
		switch {
		case e.Shown == page.Posted:
			return e, true, nil
		case e.Shown != "" && second == nil:
			second = &e
		}
	}
	if second == nil {
		return page.Example{}, false, nil
	}
	return *second, true, nil
}

// exampleIn is what is said of a check in a world; Shown is empty where nothing is.
func exampleIn(ctx context.Context, id checkid.ID, path string) (page.Example, error) {
	file, err := worldfile.Load(path)
	if err != nil {
		return page.Example{}, fmt.Errorf("read the world: %w", err)
	}
	seen, err := examine.Observe(ctx, path, io.Discard)
	if err != nil {
		return page.Example{}, fmt.Errorf("look at the world: %w", err)
	}
	e := page.Example{World: file.Name, About: file.About}
	if inc, shown := incidentOf(seen, id); shown != "" {
		e.Shown = shown
		e.Message, err = page.Markdown(slack.Render(inc, slack.Options{}).Blocks)
		return e, err
	}
	for _, o := range seen {
		for _, c := range o.Diagnosis.Causes {
			if c.Check == id {
				e.Shown, e.Message = page.Advised, advice(c)
				return e, nil
			}
		}
	}
	return e, nil
}

// advice is a cause as rollcall diagnose prints it.
func advice(c diagnosis.Cause) string {
	text := "<b>" + page.Escape(c.Title) + "</b>\n\n" + page.Escape(c.Why) + "\n"
	if c.Fix.Text != "" {
		text += "\n<b>Do</b> " + page.Escape(c.Fix.Text) + "\n"
	}
	if c.Fix.Command != "" {
		text += "\n```text\n" + c.Fix.Command + "\n```\n"
	}
	return text
}

// policy is report's with the settings that it has by default.
func policy() incident.Policy {
	return incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour, RemindAfter: 30 * time.Minute, Channel: "C0123456789"}
}

// incidentOf is the open incident whose cause is the check, else one to whose cause it
// contributes.
func incidentOf(seen []report.Observation, id checkid.ID) (incident.Incident, page.Shown) {
	var known []incident.Incident
	for _, o := range seen {
		known = apply(known, o)
	}
	open := func(inc incident.Incident) bool { return inc.State == incident.Open }
	for _, inc := range known {
		if open(inc) && inc.Key.Check == id {
			return inc, page.Posted
		}
	}
	for _, inc := range known {
		if open(inc) && slices.Contains(inc.Cause.Contributing, id) {
			return inc, page.Beside
		}
	}
	return incident.Incident{}, ""
}

func apply(known []incident.Incident, o report.Observation) []incident.Incident {
	for _, d := range reconcile.Decide(known, o, o.At, policy()) {
		i := slices.IndexFunc(known, func(inc incident.Incident) bool { return inc.Key == d.Incident.Key })
		if i < 0 {
			known = append(known, d.Incident)
		} else {
			known[i] = d.Incident
		}
	}
	return known
}
