// Package command is the command line of rollcall: commands with their flags, what they
// print on a terminal and the statuses with which they end. What they tell is found by
// packages of its own (local/diagnose, local/preflight, local/explain and others).
package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/local/caller"
	"rollcall/local/capture"
	"rollcall/local/diagnose"
	"rollcall/local/exit"
	"rollcall/local/result"
)

type options struct {
	subject string // a world's file or a capture's folder
	at      time.Time
	json    bool
	all     bool // print what a page has no room for
	verbose bool
	html    string // the file of the page; empty for none
	// live is an account that is there, in place of a subject.
	live  diagnose.Live
	watch bool
}

// input is the subject as it is looked at.
func (o options) input() diagnose.Subject {
	return diagnose.Subject{Path: o.subject, At: o.at, Verbose: o.verbose}
}

// account is the account that the command line names.
func (o options) account(notes io.Writer) diagnose.Live {
	live := o.live
	live.At = o.at
	if o.verbose {
		live.Log = notes
	}
	return live
}

// Run runs a command line below a root command and returns its exit status. What
// went wrong is one line on errs.
func Run(ctx context.Context, root *cobra.Command, args []string, out, errs io.Writer) int {
	root.SetArgs(args)
	out = &cleaner{to: out, raw: isJSON(root, args)}
	errs = &cleaner{to: errs, raw: func() bool { return false }}
	root.SetOut(out)
	root.SetErr(errs)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return exit.Misuse("%w; %s --help tells more", err, c.CommandPath())
	})
	err := root.ExecuteContext(ctx)
	var o exit.Status
	switch {
	case err == nil:
		return exit.Healthy
	case errors.As(err, &o):
		return int(o)
	}
	fmt.Fprintf(errs, "%s: %s\n", root.DisplayName(), err)
	return failed(err)
}

// failed is the status of a run that came to nothing: what the input is to
// blame for is told apart from what this machine is.
func failed(err error) int {
	var m *exit.MisuseError
	var c *capture.Error
	var who caller.Mistake
	if errors.As(err, &m) || errors.As(err, &c) || errors.As(err, &who) || strings.HasPrefix(err.Error(), "unknown command") {
		return exit.BadInput
	}
	return exit.Unsure
}

const exitStatuses = `Exit status: 0 healthy; 1 causes found; 2 could not tell, as something that was
needed is missing or was refused; 64 bad input.`

// Commands are all that the command does.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		diagnoseCommand(), captureCommand(), preflightCommand(), explainCommand(), incidentsCommand(), showCommand(), replayCommand(), doctorCommand(), mcpCommand(), demoCommand(),
	}
}

// commonFlags are those of what looks at a world or a capture.
func commonFlags(c *cobra.Command, o *options) {
	c.Flags().BoolVar(&o.json, "json", false, "print the result as one JSON object")
	c.Flags().BoolVar(&o.all, "all", false, "print all that was found, however long; without it one page")
	c.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "print the functions' logs on standard error")
}

// subject takes the one argument of what looks at a world or a capture.
func subject(o *options) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			what := "which world or capture?"
			if c.Name() == "diagnose" {
				what = "what is to be looked at? --cluster names a cluster, or the folder of a capture;"
			}
			return exit.Misuse("%s %s --help tells more", what, c.CommandPath())
		case len(args) > 1:
			return exit.Misuse("one world or capture at a time: %q is one too many", args[1])
		}
		o.subject = args[0]
		return nil
	}
}

// write prints a result, and says how the command ended.
func write(out io.Writer, r result.Result, o options, err error) error {
	switch {
	case err != nil:
		return err
	case o.json:
		err = writeJSON(out, r)
	default:
		_, err = io.WriteString(out, r.Words(cmp.Or(r.Plan, o.subject), result.Style{All: o.all, Color: colored(out)}))
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return exit.Status(r.Status())
}

func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
