package stage

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/local/platform/lambdaruntime"
	"rollcall/local/platform/router"
	"rollcall/local/platform/template"
	"rollcall/local/simaws/worldfile"
)

// startFunctions makes the functions known and lets events wake them.
func (s *Stage) startFunctions(set set) error {
	s.Runtime = lambdaruntime.New(lambdaruntime.Options{
		Clock: s.Clock, NewID: ids(), Region: s.Template.Region, AccountID: s.Template.AccountID,
		Log: s.line, Observe: s.options.Observe, CPU: s.options.CPU, Send: s.Queues.SendText,
	})
	s.onClose(s.Runtime.Close)
	if s.options.Programs != nil {
		for _, f := range s.Template.Functions {
			if err := s.addProgram(f); err != nil {
				return err
			}
		}
	} else if s.options.Binaries != "" {
		// Absolute, as a function's process starts in a folder of its own.
		folder, err := filepath.Abs(s.options.Binaries)
		if err != nil {
			return err
		}
		s.options.Binaries = folder
		for _, f := range s.Template.Functions {
			if err := s.Runtime.Add(s.function(f)); err != nil {
				return fmt.Errorf("function %s: %w", f.Name, err)
			}
		}
	}
	if err := s.serveURLs(); err != nil {
		return err
	}
	var err error
	s.Router, err = router.New(router.Options{
		Template: s.Template, Functions: s.Runtime, Queues: s.Queues, Clock: s.Clock, NewID: ids(),
		Faults: s.eventFault(set.faults, set.start), Trace: s.traced,
	})
	if err != nil {
		return err
	}
	if !s.options.Quiet {
		s.background(func() { s.Router.Run(s.ctx) })
		s.slackFaults(set.faults)
	}
	return nil
}

// function is a function of the template as the runtime runs it.
func (s *Stage) function(f template.Function) lambdaruntime.Function {
	out := lambdaruntime.Function{
		Name: f.Name, ARN: f.ARN, Handler: f.Handler,
		Binary: filepath.Join(s.options.Binaries, Folder(f), "bootstrap"),
		Env:    s.environment(f), Timeout: s.timeout(f.Timeout), Memory: f.Memory,
		MaxRetries: -1, DeadLetterARN: f.DeadLetterARN, Concurrency: max(f.ReservedConcurrency, 0),
	}
	if s.options.Memory > 0 {
		out.Memory = s.options.Memory
	}
	for _, c := range s.Template.InvokeConfigs {
		if c.FunctionName == f.Name {
			out.MaxRetries, out.MaxAge, out.OnFailureARN, out.OnSuccessARN = c.MaxRetries, c.MaxAge, c.OnFailureARN, c.OnSuccessARN
		}
	}
	return out
}

func (s *Stage) timeout(d time.Duration) time.Duration {
	if s.options.StageTimeouts {
		return s.Clock.Wall(d-s.options.Room) + s.options.Room
	}
	return d
}

// Deploy changes the functions' settings, and the permissions that hang on
// them, as a deployment with others does. What runs ends with the old settings.
func (s *Stage) Deploy(settings map[string]string) error {
	merged := maps.Clone(s.options.Settings)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, settings)
	s.options.Settings = merged
	if err := s.synthesise(); err != nil {
		return err
	}
	for _, f := range s.Template.Functions {
		if err := s.Runtime.Configure(f.Name, s.environment(f)); err != nil {
			return err
		}
	}
	return nil
}

// DeployRelease gives the functions the programs of another release, and the
// environment and the permissions that its template says. What runs ends with the
// old ones. Rules and queues stay those of the stage's own template, and so do
// functions that the other release does not have; what hangs on settings is not in
// its template but in its code, and is granted as this release does (synthesise).
func (s *Stage) DeployRelease(binaries, templatePath string) error {
	folder, err := filepath.Abs(binaries)
	if err != nil {
		return fmt.Errorf("deploy the programs of %s: %w", binaries, err)
	}
	source, err := os.ReadFile(templatePath)
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	other, err := template.Parse(source, template.Options{AccountID: s.Template.AccountID, Region: s.Template.Region})
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	s.mu.Lock()
	s.release = other
	s.mu.Unlock()
	// Its stack makes its access entries, or an operator does; those of the release before
	// it stay until somebody deletes them.
	if s.admits != nil {
		if err := s.admits(other); err != nil {
			return err
		}
	}
	for _, f := range other.Functions {
		if _, ok := s.Template.Function(f.Name); !ok {
			continue
		}
		if err := s.Runtime.Replace(f.Name, filepath.Join(folder, Folder(f), "bootstrap")); err != nil {
			return err
		}
		if err := s.Runtime.Configure(f.Name, s.environment(f)); err != nil {
			return err
		}
	}
	return nil
}

// Folder is the folder of a function below functions/: its deployed name
// without the stack's prefix.
func Folder(f template.Function) string {
	const prefix = "rollcall-"
	if len(f.Name) > len(prefix) && f.Name[:len(prefix)] == prefix {
		return f.Name[len(prefix):]
	}
	return f.Name
}

// Function is the function of the template whose folder has the name.
func (s *Stage) Function(folder string) (template.Function, bool) {
	i := slices.IndexFunc(s.Template.Functions, func(f template.Function) bool { return Folder(f) == folder })
	if i < 0 {
		return template.Function{}, false
	}
	return s.Template.Functions[i], true
}

// line writes one line of a function's log.
func (s *Stage) line(l lambdaruntime.Line) {
	if s.options.Out == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.options.Out, "%s %-12s %s\n", l.Time.Format("15:04:05.000"), l.Function, l.Text)
}

// putOn puts an event on a bus and keeps it.
func (s *Stage) putOn(bus string, event json.RawMessage) error {
	s.mu.Lock()
	s.events = append(s.events, Put{Wall: time.Now(), Stage: s.Clock.Now(), Bus: bus, Event: event})
	s.mu.Unlock()
	_, err := s.Router.Put(event, bus)
	return err
}

// Events are the events put so far.
func (s *Stage) Events() []Put {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// Trace is what the router did so far.
func (s *Stage) Trace() []router.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.trace)
}

func (s *Stage) traced(e router.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trace = append(s.trace, e)
	if e.Note != "" {
		s.log.Info(string(e.Kind), "event", e.Event, "type", e.DetailType, "function", e.Function, "target", e.Target, "note", e.Note)
	}
}

// eventFault is what the world's faults do to an event.
func (s *Stage) eventFault(list []worldfile.Fault, start time.Time) func(router.Event) router.Fault {
	return func(e router.Event) router.Fault {
		if s.options.EventFaults != nil {
			if f := s.options.EventFaults(e); f != (router.Fault{}) {
				return f
			}
		}
		since := s.Clock.Now().Sub(start)
		for _, f := range list {
			if f.Event != e.DetailType || since < f.From || f.For > 0 && since > f.From+f.For {
				continue
			}
			return router.Fault{Lose: f.Lose, Copies: max(f.Copies-1, 0), Delay: f.Delay, Reorder: f.Reorder}
		}
		return router.Fault{}
	}
}
