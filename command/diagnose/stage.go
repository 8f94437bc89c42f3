package diagnose

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall"
	"rollcall/command/capture"
	"rollcall/command/exit"
	"rollcall/command/result"
	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/report"
	"rollcall/shared/spec"
	"rollcall/stage"
	"rollcall/stage/payload"
	"rollcall/stage/platform/template"
	"rollcall/stage/programs"
)

// Settled is how long after its start a world is looked at: its launches are
// past their join time by then.
const Settled = 12 * time.Minute

// standstill is the rate of the stage's clock. Nothing in what is looked at may
// change while it is looked at; a rate of zero is not one.
const standstill = 1e-3

// history is how old an event may be to be played: what came of it is in the
// capture.
const history = time.Hour

// run is one run of the functions over a world or a capture.
type run struct {
	stage *stage.Stage
	// capture is nil for a world.
	capture *capture.Capture
	// event is what a capture says to play first.
	event json.RawMessage
	// notes are for the person at the keyboard.
	notes io.Writer
	// seen is what the functions reported, in order.
	seen []report.Observation
	// broken are functions that failed.
	broken []result.Unknown

	mu sync.Mutex
	// due are the turns of clusters that sweep sent.
	due []string
}

// sent takes what the functions sent to queues.
func (r *run) sent(_, body string) {
	if t, err := event.Parse([]byte(body)); err == nil && t.Kind == event.ClusterSweep {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.due = append(r.due, body)
	}
}

// turns are those that were sent.
func (r *run) turns() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.due
}

// Subject is a world or a capture that is looked at.
type Subject struct {
	Path string // a world's file or a capture's folder
	// Root is what Path is below, and all that is read: nil for no such bound.
	Root *os.Root
	// At is the time at which it is looked at; zero for its own.
	At time.Time
	// Verbose has the functions' logs among the notes.
	Verbose bool
}

// Examine looks at a subject; notes are for the person at the keyboard. A capture is looked at without a stage, unless it has
// an event to play: what that wakes beside the sweeps is for the template's rules and
// queues to say.
func Examine(ctx context.Context, o Subject, notes io.Writer) (result.Result, error) {
	so := settings(notes)
	if o.Verbose {
		so.Out = notes
	}
	if err := open(o, &so, notes); err != nil {
		return result.Result{}, err
	}
	if so.Capture != nil && so.Capture.Event == nil {
		return offline(ctx, so.Capture, so.Out)
	}
	return staged(ctx, so, notes)
}

// staged runs the functions on the stage.
func staged(ctx context.Context, so stage.Options, notes io.Writer) (result.Result, error) {
	var found result.Result
	err := played(ctx, so, notes, func(r *run) { found = result.Merge(r.seen, r.broken, r.bare) })
	return found, err
}

// Observe is what the detectors report of a world, in the order in which they do.
func Observe(ctx context.Context, world string, notes io.Writer) ([]report.Observation, error) {
	return ObserveBeside(ctx, world, notes, Beside{Look: func(*stage.Stage) {}})
}

// Beside is who looks at a world beside the detectors.
type Beside struct {
	// Look is called while the world stands as the detectors saw it.
	Look func(*stage.Stage)
	// Answered, if any, takes what AWS answered to each call of theirs.
	Answered func(out any, err error)
}

// ObserveBeside has the world itself looked at, too.
func ObserveBeside(ctx context.Context, world string, notes io.Writer, beside Beside) ([]report.Observation, error) {
	so := settings(notes)
	so.Answered = beside.Answered
	if err := open(Subject{Path: world}, &so, notes); err != nil {
		return nil, err
	}
	if so.Capture != nil {
		return nil, exit.Misuse("%s: want a world", world)
	}
	var (
		seen   []report.Observation
		broken error
	)
	err := played(ctx, so, notes, func(r *run) {
		seen = r.seen
		beside.Look(r.stage)
		for _, b := range r.broken {
			broken = errors.Join(broken, fmt.Errorf("%s: %s", b.Resource, b.Reason))
		}
	})
	return seen, errors.Join(err, broken)
}

// played runs the functions on a stage, and has what came of it looked at while it stands.
func played(ctx context.Context, so stage.Options, notes io.Writer, look func(*run)) error {
	so.Programs, so.Files = programs.All(), rollcall.Files()
	so.Template, so.Rights = "infra/Rollcall.template.json", "deploy/clusterrole.yaml"
	var err error
	r := run{notes: notes, capture: so.Capture}
	so.Sent = r.sent
	if so.Capture != nil {
		r.event = so.Capture.Event
	}
	if r.stage, err = stage.Start(ctx, so); err != nil {
		return fmt.Errorf("start the stage: %w", err)
	}
	defer r.stage.Close()
	if err := r.play(ctx); err != nil {
		return err
	}
	look(&r)
	return nil
}

// bare reports whether the capture, if it is one, may lack the files of a cluster.
func (r *run) bare(cluster string) bool { return r.capture != nil && r.capture.Bare(cluster) }

// settings are the stage's, on which nothing happens by itself.
func settings(notes io.Writer) stage.Options {
	return stage.Options{
		Quiet: true, Rate: standstill,
		// An instance may have failed days ago; the stage takes any time.
		Settings: map[string]string{string(config.GiveUp): time.Duration(math.MaxInt64).String()},
		Log:      slog.New(slog.NewTextHandler(notes, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
}

// open reads the subject into the stage's options.
func open(o Subject, so *stage.Options, notes io.Writer) (err error) {
	path, stat := o.Path, os.Stat
	if o.Root != nil {
		stat = o.Root.Stat
	} else if path, err = filepath.Abs(o.Path); err != nil {
		return &exit.MisuseError{Err: err}
	}
	info, err := stat(path)
	if err != nil {
		return exit.Misuse("%s: there is no such folder or file", o.Path)
	}
	if !info.IsDir() {
		so.World, so.Root = path, o.Root
		file, err := so.LoadWorld()
		if err != nil {
			return exit.Misuse("not a capture or world file: %w", err)
		}
		so.At = file.Time.Add(Settled)
		// A world's STS decodes what its own requests were answered with; a capture has none.
		so.Settings[string(config.DecodeDenied)] = "on"
		readLogs(so, slices.Sorted(maps.Keys(file.Logs.LogGroups)))
		if !o.At.IsZero() {
			so.At = o.At
		}
		if so.At.Before(file.Time) {
			return exit.Misuse("--at %s: the world starts at %s", so.At.Format(time.RFC3339), file.Time.Format(time.RFC3339))
		}
		return nil
	}
	if so.Capture, err = openCapture(o.Root, path); err != nil {
		return err
	}
	readLogs(so, so.Capture.LogGroups())
	for _, w := range so.Capture.Warnings {
		fmt.Fprintln(notes, "note:", w)
	}
	if !o.At.IsZero() {
		so.Capture.Time = o.At
	}
	return nil
}

// openCapture opens a capture's folder, below a root if there is one.
func openCapture(root *os.Root, path string) (*capture.Capture, error) {
	if root == nil {
		return capture.Open(path, time.Now())
	}
	folder, err := root.OpenRoot(path)
	if err != nil {
		return nil, exit.Misuse("%s: it cannot be read as a folder", path)
	}
	defer folder.Close()
	return capture.OpenIn(folder, path, time.Now())
}

// readLogs lets the functions read the log groups that the subject has.
func readLogs(so *stage.Options, groups []string) {
	if len(groups) > 0 {
		so.Settings[string(config.AutoModeLogs)] = strings.Join(groups[:min(len(groups), config.MostLogGroups)], ",")
	}
}

// play gives the functions the event, if there is one, and then the sweep that
// each of them has.
func (r *run) play(ctx context.Context) error {
	if err := r.playEvent(ctx); err != nil {
		return err
	}
	if err := r.playRefused(ctx); err != nil {
		return err
	}
	for _, f := range r.swept() {
		sweep, err := json.Marshal(map[string]any{
			"version": "0", "id": "a1b2c3d4-0000-4000-8000-000000000000", "detail-type": "Scheduled Event", "source": "aws.events",
			"account": r.stage.Template.AccountID, "region": r.stage.Template.Region,
			"time": r.stage.Clock.Now().UTC().Format(time.RFC3339), "resources": []string{}, "detail": map[string]any{},
		})
		if err != nil {
			return fmt.Errorf("write the sweep: %w", err)
		}
		if err := r.invoke(ctx, f, sweep); err != nil {
			return err
		}
		if f.Environment[string(config.SweepQueueURL)] == "" {
			continue
		}
		// Their turns are spread over a tick, and time stands still here.
		for _, turn := range r.turns() {
			batch, _, err := payload.Wrap([]byte(turn), f, r.stage.Template, r.stage.Clock.Now())
			if err != nil {
				return fmt.Errorf("write a turn: %w", err)
			}
			if err := r.invoke(ctx, f, batch); err != nil {
				return err
			}
		}
	}
	return r.collect(ctx)
}

// swept are the detectors that the template wakes on a schedule, each once; first those
// that give clusters their turns, in which most is found.
func (r *run) swept() []template.Function {
	var arns []string
	for _, rule := range r.stage.Template.Rules {
		if rule.Schedule == "" || !rule.Enabled {
			continue
		}
		for _, t := range rule.Targets {
			arns = append(arns, t.ARN)
		}
	}
	for _, s := range r.stage.Template.Schedules {
		if s.Enabled {
			arns = append(arns, s.Target.ARN)
		}
	}
	var list []template.Function
	for _, f := range r.stage.Template.Functions {
		if _, ok := r.detector(f.ARN); ok && slices.Contains(arns, f.ARN) {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b template.Function) int {
		later := func(f template.Function) int {
			if f.Environment[string(config.SweepQueueURL)] == "" {
				return 1
			}
			return 0
		}
		return cmp.Compare(later(a), later(b))
	})
	return list
}

// detector is a function that reports what it sees. Those that speak, act or
// clean up have no business with a diagnosis.
func (r *run) detector(arn string) (template.Function, bool) {
	for _, f := range r.stage.Template.Functions {
		if f.ARN == arn {
			has := func(v spec.Variable) bool { _, ok := f.Environment[string(v)]; return ok }
			return f, has(config.ResultQueueURL) && has(config.Clusters) && !has(config.ResultDeadURL) && !has(config.RemedyQueueURL) && !has(config.ChangeQueueURL) && !has(config.CleanupCap)
		}
	}
	return template.Function{}, false
}

// invoke runs a function. That it failed is part of the result: what it would
// have looked at is not known.
func (r *run) invoke(ctx context.Context, f template.Function, event []byte) error {
	invoked, err := r.stage.Runtime.Invoke(ctx, f.Name, event)
	if err != nil {
		return fmt.Errorf("run %s: %w", f.Name, err)
	}
	if invoked.FunctionError == "" {
		return nil
	}
	var answer struct{ ErrorMessage string }
	if json.Unmarshal(invoked.Payload, &answer) != nil || answer.ErrorMessage == "" {
		answer.ErrorMessage = string(invoked.Payload)
	}
	r.broken = append(r.broken, result.Unknown{Check: "", Resource: stage.Folder(f), Reason: "the function failed: " + answer.ErrorMessage})
	return nil
}
