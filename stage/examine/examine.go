// Package examine looks once at a world: the deployed functions run on the stage, in a time
// that stands still.
package examine

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
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"rollcall"
	"rollcall/command/exit"
	"rollcall/command/result"
	"rollcall/command/subject"
	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/report"
	"rollcall/shared/spec"
	"rollcall/stage"
	"rollcall/stage/payload"
	"rollcall/stage/platform/template"
	"rollcall/stage/programs"
	"rollcall/stage/reading"
	"rollcall/stage/simaws/world"
)

// Settled is how long after its start a world is looked at: its launches are
// past their join time by then.
const Settled = 12 * time.Minute

// standstill is the rate of the stage's clock. Nothing in what is looked at may
// change while it is looked at; a rate of zero is not one.
const standstill = 1e-3

// run is one run of the functions over a world.
type run struct {
	stage *stage.Stage
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

// Worlds plays worlds on the stage.
type Worlds struct{}

var _ subject.Worlds = Worlds{}

// Examine runs the functions over a world; notes are for the person at the keyboard.
func (Worlds) Examine(ctx context.Context, s subject.Subject, notes io.Writer) (result.Result, error) {
	so := settings(notes)
	if s.Verbose {
		so.Out = notes
	}
	if err := open(s, &so); err != nil {
		return result.Result{}, err
	}
	var found result.Result
	err := played(ctx, so, notes, func(r *run) { found = result.Merge(r.seen, r.broken, nil) })
	return found, err
}

// Open is a world as an account to be read.
func (Worlds) Open(ctx context.Context, s subject.Subject) (subject.Account, error) {
	a, err := Account(s)
	if err != nil {
		return subject.Account{}, err
	}
	return a.Open(ctx)
}

// Account is a world as an account that is not served yet.
func Account(s subject.Subject) (reading.Account, error) {
	so := stage.Options{Settings: map[string]string{}}
	if err := open(s, &so); err != nil {
		return reading.Account{}, err
	}
	file, err := so.LoadWorld()
	if err != nil {
		return reading.Account{}, exit.Misuse("not a capture or world file: %w", err)
	}
	w, err := world.New(file, world.Options{Seed: 1})
	if err != nil {
		return reading.Account{}, exit.Misuse("not a capture or world file: %w", err)
	}
	w.Advance(so.At)
	return reading.OfWorld(w, file), nil
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
	if err := open(subject.Subject{Path: world}, &so); err != nil {
		return nil, err
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
	r := run{notes: notes}
	so.Sent = r.sent
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

// settings are the stage's, on which nothing happens by itself.
func settings(notes io.Writer) stage.Options {
	return stage.Options{
		Quiet: true, Rate: standstill,
		// An instance may have failed days ago; the stage takes any time.
		Settings: map[string]string{string(config.GiveUp): time.Duration(math.MaxInt64).String()},
		Log:      slog.New(slog.NewTextHandler(notes, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
}

// open reads the world into the stage's options.
func open(s subject.Subject, so *stage.Options) error {
	path := s.Path
	if s.Root == nil {
		var err error
		if path, err = filepath.Abs(path); err != nil {
			return &exit.MisuseError{Err: err}
		}
	}
	so.World, so.Root = path, s.Root
	file, err := so.LoadWorld()
	if err != nil {
		return exit.Misuse("not a capture or world file: %w", err)
	}
	so.At = file.Time.Add(Settled)
	// A world's STS decodes what its own requests were answered with; a capture has none.
	so.Settings[string(config.DecodeDenied)] = "on"
	readLogs(so, slices.Sorted(maps.Keys(file.Logs.LogGroups)))
	if !s.At.IsZero() {
		so.At = s.At
	}
	if so.At.Before(file.Time) {
		return exit.Misuse("--at %s: the world starts at %s", so.At.Format(time.RFC3339), file.Time.Format(time.RFC3339))
	}
	return nil
}

// readLogs lets the functions read the log groups that the subject has.
func readLogs(so *stage.Options, groups []string) {
	if len(groups) > 0 {
		so.Settings[string(config.AutoModeLogs)] = strings.Join(groups[:min(len(groups), config.MostLogGroups)], ",")
	}
}

// play gives the functions the sweep that each of them has.
func (r *run) play(ctx context.Context) error {
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

// playRefused gives the functions what a world told its bus of calls for instances
// that were refused: no API has it afterwards, as it is what launch-watch keeps. All
// else that happened to a world can still be seen, and is the sweep's.
func (r *run) playRefused(ctx context.Context) error {
	for _, m := range r.stage.Template.Mappings {
		for _, f := range r.stage.Template.Functions {
			if f.Name != m.FunctionName && f.ARN != m.FunctionName {
				continue
			}
			if f, ok := r.detector(f.ARN); ok {
				if err := r.pumpRefused(ctx, f, m.QueueARN); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *run) pumpRefused(ctx context.Context, f template.Function, queue string) error {
	batch, err := r.drain(ctx, queue)
	if err != nil {
		return err
	}
	batch = slices.DeleteFunc(batch, func(m events.SQSMessage) bool {
		t, err := event.Parse([]byte(m.Body))
		return err != nil || t.Kind != event.LaunchRefused
	})
	if len(batch) == 0 {
		return nil
	}
	raw, err := json.Marshal(events.SQSEvent{Records: batch})
	if err != nil {
		return fmt.Errorf("write the batch: %w", err)
	}
	return r.invoke(ctx, f, raw)
}

// drain takes all messages that a queue gives now.
func (r *run) drain(ctx context.Context, arn string) ([]events.SQSMessage, error) {
	var all []events.SQSMessage
	for {
		depth, err := r.stage.Queues.Depth(arn)
		if err != nil {
			return nil, fmt.Errorf("queue %s: %w", arn, err)
		}
		if depth.Visible == 0 {
			return all, nil
		}
		batch, err := r.stage.Queues.Receive(ctx, arn, depth.Visible, 0)
		if err != nil {
			return nil, fmt.Errorf("receive from %s: %w", arn, err)
		}
		for _, m := range batch {
			all = append(all, events.SQSMessage{
				MessageId: m.ID, ReceiptHandle: m.Receipt, Body: m.Body, Attributes: m.System,
				EventSource: "aws:sqs", EventSourceARN: arn, AWSRegion: r.stage.Template.Region,
			})
		}
		if err := r.stage.Queues.Delete(arn, batch...); err != nil {
			return nil, fmt.Errorf("delete from %s: %w", arn, err)
		}
	}
}

// collect reads what the functions found.
func (r *run) collect(ctx context.Context) error {
	for _, q := range r.stage.Template.Queues {
		if !r.isResults(q) {
			continue
		}
		messages, err := r.drain(ctx, q.ARN)
		if err != nil {
			return err
		}
		for _, m := range messages {
			said, err := report.DecodeMessage([]byte(m.Body))
			if err != nil {
				return err
			}
			// A summary counts what was; it finds nothing.
			if said.Observation != nil {
				r.seen = append(r.seen, *said.Observation)
			}
		}
	}
	return nil
}

// isResults reports whether a queue is that to which the detectors send.
func (r *run) isResults(q template.Queue) bool {
	for _, f := range r.stage.Template.Functions {
		if f.Environment[string(config.ResultQueueURL)] == q.URL {
			return true
		}
	}
	return false
}
