// Command diagnose tells why instances of a world or a capture did not become
// nodes: the functions' own handlers look at it once, and what they found is
// printed for a person or as JSON.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"rollcall/local/capture"
)

const usage = `Tells why instances did not become nodes of their cluster.

  go run ./local/diagnose [-json] CAPTURE_DIR        what the AWS CLI and kubectl printed
  go run ./local/diagnose [-json] [-at TIME] WORLD.yaml
  go run ./local/diagnose -preflight FILE [-json] CAPTURE_DIR|WORLD.yaml
  go run ./local/diagnose -launch-template lt-0abc:7 [-subnet subnet-0abc,…] …
  go run ./local/diagnose -subnet subnet-0abc …
                                                     what of it would fail, before it is made: a nodegroup,
                                                     a launch template's version, NodePools, a subnet
  go run ./local/diagnose -message "Could not launch Spot Instances. …"

A capture is a folder; local/capture.sh takes one with read-only rights
(docs/diagnose.md). What looks at it are the functions that run in Lambda.

Exit status: 0 healthy; 1 causes found; 2 could not tell, as something that was
needed is missing or was refused; 64 bad input. go run itself turns all but 0
into 1 and prints the status: build the command where it matters,
  go build -o /tmp/diagnose ./local/diagnose

`

// The exit statuses. 64 is EX_USAGE of sysexits.h.
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
	message string
	// asked tells that -message was given, be it empty.
	asked   bool
	verbose bool
	// preflight is the file of what is planned, cluster where it is to be.
	preflight, cluster string
	// template is a version of a launch template that is there, subnets where its
	// nodes would stand, or what is judged alone.
	template, subnets string
}

// misuse is an error of the person who typed the command or wrote the input.
type misuse struct{ error }

func main() {
	os.Exit(command(os.Args[1:], os.Stdout, os.Stderr))
}

// command runs the command line and returns the exit status.
func command(args []string, out, errs io.Writer) int {
	o, err := parse(args, out, errs)
	if errors.Is(err, flag.ErrHelp) {
		return healthyStatus
	}
	if err == nil && o.asked {
		return message(o.message, o.json, out, errs)
	}
	var r Result
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		if o.plans() {
			r, err = ahead(ctx, o, errs)
		} else {
			r, err = look(ctx, o, errs)
		}
		stop()
	}
	if err == nil {
		err = write(out, r, o)
	}
	if err != nil {
		fmt.Fprintln(errs, "diagnose:", err)
		return failed(err)
	}
	return r.status()
}

// failed is the status of a run that came to nothing: what the input is to
// blame for is told apart from what this machine is.
func failed(err error) int {
	var m misuse
	var c *capture.Error
	if errors.As(err, &m) || errors.As(err, &c) {
		return badStatus
	}
	return unsureStatus
}

func write(out io.Writer, r Result, o options) error {
	if !o.json {
		_, err := io.WriteString(out, r.words(cmp.Or(r.plan, o.subject)))
		return err
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// parse reads the command line; options may stand before and after the
// subject.
func parse(args []string, out, errs io.Writer) (options, error) {
	var o options
	var at string
	flags := flag.NewFlagSet("diagnose", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&o.json, "json", false, "print the result as one JSON object")
	flags.StringVar(&at, "at", "", "stage time to look at a world, e.g. 2026-11-20T15:10:00Z (default: 12 minutes after it starts)")
	flags.StringVar(&o.preflight, "preflight", "", "a file of what is planned: print what would fail, before it is made")
	flags.StringVar(&o.template, "launch-template", "", "a version of a launch template, lt-0abc:7, to judge before nodes are launched from it")
	flags.StringVar(&o.subnets, "subnet", "", "a subnet to judge before nodes stand in it; with a launch template, those in which its nodes would stand")
	flags.StringVar(&o.cluster, "cluster", "", "the cluster that a plan is for which names none")
	flags.BoolVar(&o.verbose, "v", false, "print the functions' logs on standard error")
	flags.Func("message", "a message of AWS: print the check that it points to", func(text string) error {
		o.message, o.asked = text, true
		return nil
	})
	var subjects []string
	for {
		if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(out)
			fmt.Fprint(out, usage)
			flags.PrintDefaults()
			return o, err
		} else if err != nil {
			return o, misuse{fmt.Errorf("%w; -help tells more", err)}
		}
		if flags.NArg() == 0 {
			break
		}
		subjects = append(subjects, flags.Arg(0))
		args = flags.Args()[1:]
	}
	switch {
	case o.asked && len(subjects) > 0:
		return o, misuse{fmt.Errorf("-message takes its text as one argument: %q is one too many", subjects[0])}
	case o.asked:
		return o, nil
	case len(subjects) == 0:
		return o, misuse{errors.New("which world or capture? -help tells more")}
	case len(subjects) > 1:
		return o, misuse{fmt.Errorf("one world or capture at a time: %q is one too many", subjects[1])}
	}
	o.subject = subjects[0]
	if at == "" {
		return o, nil
	}
	var err error
	if o.at, err = time.Parse(time.RFC3339, at); err != nil {
		return o, misuse{fmt.Errorf("-at %s: it is not a time such as 2026-11-20T15:10:00Z", at)}
	}
	return o, nil
}

// absolute is a path that does not depend on the current folder.
func absolute(path string) (string, error) {
	out, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("path %s: %w", path, err)
	}
	return out, nil
}
