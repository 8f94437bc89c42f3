package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/local/exit"
	"rollcall/local/result"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
)

// again is how long after a look the next one begins. A look takes about sixty calls
// in two seconds; EC2 refills twenty a second of each operation, for all of the
// account and region (EC2 API reference, "Request throttling").
const again = 10 * time.Second

// watching looks again and again, and prints what changes, as kubectl get -w.
type watching struct {
	look    func(context.Context) (result.Result, []report.Launch, error)
	subject string
	now     func() time.Time
	json    bool
	style   result.Style
	out     io.Writer
	notes   io.Writer
}

// run watches until every instance has joined and nothing is wrong, or the context
// ends. It gives the status of the last look.
func (w watching) run(ctx context.Context) (int, error) {
	var last seenBefore
	status := exit.Unsure
	for first := true; ; first = false {
		r, launches, err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			if first {
				return status, ctx.Err()
			}
			return status, nil
		case err != nil && first:
			return status, err
		case err != nil:
			fmt.Fprintf(w.notes, "note: %s: this look failed: %s\n", w.clock(), err)
		default:
			status = r.Status()
			now := before(r, launches)
			if err := w.print(r, first, w.changes(last, now)); err != nil {
				return status, fmt.Errorf("print the result: %w", err)
			}
			if last = now; status == exit.Healthy && !slices.ContainsFunc(launches, pending) {
				return status, w.over()
			}
		}
		if sleep(ctx, again) != nil {
			return status, nil
		}
	}
}

// pending is a launch that may still join.
func pending(l report.Launch) bool {
	return l.Status == outcome.Waiting || l.Status == outcome.Missed || l.Status == outcome.GivenUp
}

// over says why nothing more is printed.
func (w watching) over() error {
	if w.json {
		return nil
	}
	_, err := fmt.Fprintf(w.out, "%s  %s: %s\n", w.clock(), w.subject, w.style.Paint(result.Green, "all have joined"))
	return err
}

func (w watching) clock() string { return w.now().Format(time.TimeOnly) }

// print prints the first look as a page, and of the others what has changed; as JSON
// each look that brought something, on a line.
func (w watching) print(r result.Result, first bool, changes []string) error {
	switch {
	case w.json && (first || len(changes) > 0):
		e := json.NewEncoder(w.out)
		e.SetEscapeHTML(false)
		return e.Encode(r)
	case w.json:
		return nil
	case first:
		_, err := io.WriteString(w.out, r.Words(w.subject, w.style)+"\n")
		return err
	}
	for _, c := range changes {
		if _, err := fmt.Fprintf(w.out, "%s  %s\n", w.clock(), result.Plain(c)); err != nil {
			return err
		}
	}
	return nil
}

// seenBefore is what a look found, by what is compared.
type seenBefore struct {
	incidents map[string]string
	unknown   map[string]string
	launches  map[string]report.Launch
}

func before(r result.Result, launches []report.Launch) seenBefore {
	s := seenBefore{map[string]string{}, map[string]string{}, map[string]report.Launch{}}
	for _, i := range r.Incidents {
		where := i.Cluster
		if len(i.Nodegroups) > 0 {
			where += " / " + result.Some(i.Nodegroups)
		}
		s.incidents[strings.Join([]string{i.Cluster, i.Cause, i.Resource}, "\n")] = fmt.Sprintf("%s %s · %s (%s)", r.Mark(i), where, i.Title, i.Cause)
	}
	for _, u := range r.Unknown {
		text := strings.TrimSpace(u.Check + "  " + u.Resource + ": " + u.Reason)
		s.unknown[text] = "could not look: " + text
	}
	for _, l := range launches {
		s.launches[l.Instance] = l
	}
	return s
}

// changes are what is otherwise than at the last look: what is new, what is over, and
// what became of launches. The first look has none.
func (w watching) changes(last, now seenBefore) []string {
	if last.launches == nil {
		return nil
	}
	list := difference(last.incidents, now.incidents)
	list = append(list, difference(last.unknown, now.unknown)...)
	for _, id := range slices.Sorted(maps.Keys(now.launches)) {
		l, known := now.launches[id], last.launches[id].Instance != ""
		if known && last.launches[id].Status == l.Status {
			continue
		}
		list = append(list, became(l))
	}
	return list
}

// difference is what came and what went, by key; + and - as in a diff.
func difference(last, now map[string]string) []string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if _, there := last[key]; !there {
			list = append(list, "+ "+now[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(last)) {
		if _, there := now[key]; !there {
			list = append(list, "- "+last[key])
		}
	}
	return list
}

// became says how a launch stands now.
func became(l report.Launch) string {
	text := "  " + l.Instance
	if l.Nodegroup != "" {
		text += " (" + l.Nodegroup + ")"
	}
	switch l.Status {
	case outcome.Joined:
		if l.Ready.After(l.Started) {
			return text + " joined, " + l.Ready.Sub(l.Started).Round(time.Second).String() + " after its launch"
		}
		return text + " joined"
	case outcome.Gone:
		return strings.TrimSuffix(text+" ended: "+l.EndedWhy, ": ")
	case outcome.Waiting:
		return text + " was launched, and has time left"
	}
	return text + " has not joined in its time"
}

// sleep waits, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
