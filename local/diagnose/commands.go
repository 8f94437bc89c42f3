// Package diagnose tells why instances of a world or a capture did not become
// nodes: the functions' own handlers look at it once, and what they found is
// printed for a person or as JSON. It is the commands diagnose, preflight and
// explain of cmd/rollcall.
package diagnose

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/local/capture"
	"rollcall/local/diagnose/caller"
)

// The exit exitStatuses. 64 is EX_USAGE of sysexits.h.
const (
	healthyStatus = 0
	causesStatus  = 1
	unsureStatus  = 2
	badStatus     = 64
)

type options struct {
	subject string // a world's file or a capture's folder
	at      time.Time
	json    bool
	all     bool // print what a page has no room for
	verbose bool
	html    string // the file of the page; empty for none
	// preflight is the file of what is planned, plan its text where there is no file,
	// cluster where it is to be.
	preflight, plan, cluster string
	// template is a version of a launch template that is there, subnets where its
	// nodes would stand, or what is judged alone.
	template, subnets string
	// live is an account that is there, in place of a subject.
	live liveOptions
}

// misuse is an error of the person who typed the command or wrote the input.
type misuse struct{ error }

// exited is how a command ended that has printed all that it had to say.
type exited struct{ status int }

func (o exited) Error() string { return fmt.Sprintf("exit status %d", o.status) }

// Run runs a command line below a root command and returns its exit status. What
// went wrong is one line on errs.
func Run(ctx context.Context, root *cobra.Command, args []string, out, errs io.Writer) int {
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return misuse{fmt.Errorf("%w; %s --help tells more", err, c.CommandPath())}
	})
	err := root.ExecuteContext(ctx)
	var o exited
	switch {
	case err == nil:
		return healthyStatus
	case errors.As(err, &o):
		return o.status
	}
	fmt.Fprintf(errs, "%s: %s\n", root.DisplayName(), err)
	return failed(err)
}

// failed is the status of a run that came to nothing: what the input is to
// blame for is told apart from what this machine is.
func failed(err error) int {
	var m misuse
	var c *capture.Error
	var who caller.Mistake
	if errors.As(err, &m) || errors.As(err, &c) || errors.As(err, &who) || strings.HasPrefix(err.Error(), "unknown command") {
		return badStatus
	}
	return unsureStatus
}

const exitStatuses = `Exit status: 0 healthy; 1 causes found; 2 could not tell, as something that was
needed is missing or was refused; 64 bad input.`

// Commands are all that the command does.
func Commands() []*cobra.Command {
	return []*cobra.Command{diagnoseCommand(), captureCommand(), preflightCommand(), explainCommand(), incidentsCommand(), showCommand(), doctorCommand(), mcpCommand()}
}

func preflightCommand() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "preflight [CAPTURE_DIR|WORLD.yaml]",
		Short: "Tell what would fail, before it is made",
		Long: `Tells what of a plan would fail, before it is made: a nodegroup as aws eks
create-nodegroup --cli-input-json takes it, a launch template or its version,
NodePools with their classes, a subnet. It is judged in your account as it is now,
with your own rights, or in that of a capture or a world. Nothing is made.

` + exitStatuses,
		Example: `  rollcall preflight --file nodegroup.json --region us-west-2
  rollcall preflight --file nodegroup.json capture
  rollcall preflight --launch-template lt-0abc:7 --subnet subnet-0abc,subnet-0def capture
  rollcall preflight --subnet subnet-0abc --cluster prod capture`,
	}
	callerFlags(c, &o.live.caller)
	kubeconfigFlags(c, &o.live.caller)
	c.Args = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return nil
		case o.live.caller != (caller.Options{}):
			return misuse{fmt.Errorf("%s: a capture or a world is looked at without --region and what goes with it", args[0])}
		}
		return subject(&o)(c, args)
	}
	c.Flags().StringVarP(&o.preflight, "file", "f", "", "a file of what is planned, JSON or YAML")
	c.Flags().StringVar(&o.preflight, "cli-input-json", "", "the same, by the AWS CLI's name")
	c.Flags().StringVar(&o.template, "launch-template", "", "a version of a launch template, lt-0abc:7, to judge before nodes are launched from it")
	c.Flags().StringVar(&o.subnets, "subnet", "", "a subnet to judge before nodes stand in it; with a launch template, those in which its nodes would stand")
	c.Flags().StringVar(&o.cluster, "cluster", "", "the cluster that a plan is for which names none")
	commonFlags(c, &o)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if o.preflight == "" && o.template == "" && o.subnets == "" {
			return misuse{errors.New("what is planned? --file, --launch-template or --subnet names it")}
		}
		o.preflight = strings.TrimPrefix(o.preflight, "file://") // as the AWS CLI writes it
		judge := ahead
		if o.subject == "" {
			judge = aheadLive
		}
		r, err := judge(c.Context(), o, c.ErrOrStderr())
		return write(c.OutOrStdout(), r, o, err)
	}
	return c
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
			return misuse{fmt.Errorf("%s %s --help tells more", what, c.CommandPath())}
		case len(args) > 1:
			return misuse{fmt.Errorf("one world or capture at a time: %q is one too many", args[1])}
		}
		o.subject = args[0]
		return nil
	}
}

// write prints a result, and says how the command ended.
func write(out io.Writer, r Result, o options, err error) error {
	switch {
	case err != nil:
		return err
	case o.json:
		err = writeJSON(out, r)
	default:
		_, err = io.WriteString(out, r.words(cmp.Or(r.plan, o.subject), style{all: o.all, color: colored(out)}))
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return exited{r.status()}
}

func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// absolute is a path that does not depend on the current folder.
func absolute(path string) (string, error) {
	out, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("path %s: %w", path, err)
	}
	return out, nil
}
