// Package program is the program rollcall-stage: the command with the stage, which plays worlds
// and stories.
package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rollcall"
	"rollcall/command"
	"rollcall/command/caller"
	"rollcall/command/exit"
	"rollcall/stage/demo"
	"rollcall/stage/examine"
	"rollcall/stage/programs"
)

// Root is the command, called by a program's path.
func Root(called string) *cobra.Command {
	c := command.Root(called, command.Stage{Worlds: examine.Worlds{}, Demo: demoCommand()})
	c.AddCommand(serveCommand())
	return c
}

func demoCommand() *cobra.Command {
	o := demo.Options{Files: rollcall.Files()}
	var logs string
	c := &cobra.Command{
		Use:   "demo [STORY]",
		Short: command.DemoShort,
		Long: `Plays stories on this machine: the functions that run in Lambda, as processes of
their own, on a simulated AWS, Kubernetes and Slack. No account is touched, and
nothing is needed but this program. Without a name all stories are played (with
--keep the route story):

` + demo.About + `

Exit status: 0 all steps were verified; 1 one was not; 2 it could not begin; 64 bad
input; 130 interrupted.`,
		Example: `  rollcall demo route
  rollcall demo route --keep`,
		ValidArgs: demo.Stories(),
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return exit.Misuse("one story at a time: unexpected argument %q", args[1])
			case len(args) == 1 && !slices.Contains(append(demo.Stories(), "all"), args[0]):
				return noStory(args[0])
			case o.Rate < 0:
				return exit.Misuse("--rate %g: want more than 0", o.Rate)
			}
			switch {
			case len(args) == 1:
				o.Story = args[0]
			case o.Keep:
				o.Story = "route" // whose button is the person's
			default:
				o.Story = "all"
			}
			return nil
		},
	}
	f := c.Flags()
	f.BoolVar(&o.Keep, "keep", false, "leave the button of the last story to you, then keep its stage up until Ctrl-C: the Slack page, and AWS for the AWS CLI")
	f.Float64Var(&o.Rate, "rate", 0, "speed while nothing runs, as a multiple of real time (default: the story's own)")
	f.StringVar(&logs, "logs", "", "a file for the functions' logs (default: one that is kept if a step fails)")
	f.StringVar(&o.Functions, "functions", "", "a folder of the functions' own binaries, in place of this program's")
	f.StringVar(&o.Pictures, "pictures", "", "a folder for pictures of the Slack page (takes the repository, Go and Chromium)")
	f.StringVar(&o.Samples, "samples", "", "a folder that keeps samples of what the functions write")
	for _, name := range []string{"functions", "pictures", "samples"} { // of who works on Rollcall
		f.Lookup(name).Hidden = true
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		file, err := logFile(logs)
		if err != nil {
			return err
		}
		defer file.Close()
		o.Logs, o.Out = file, command.Bare(c.OutOrStdout())
		if o.Functions == "" {
			var remove func()
			if o.Functions, remove, err = ownFunctions(); err != nil {
				return err
			}
			defer remove()
		}
		if err := demo.Play(c.Context(), o); errors.Is(err, demo.ErrInterrupted) {
			if logs == "" {
				os.Remove(file.Name()) // nothing failed
			}
			return context.Canceled
		} else if err != nil {
			fmt.Fprintf(c.ErrOrStderr(), "\n%s: %s\nThe functions' logs are in %s.\n", c.Root().DisplayName(), err, file.Name())
			return exit.Status(exit.Causes)
		}
		if logs == "" {
			os.Remove(file.Name()) // it was not asked for, and holds nothing to look up
		}
		return nil
	}
	return c
}

// noStory is that a story is not there, with those that may be meant.
func noStory(name string) error {
	if near := caller.Near(name, demo.Stories()); len(near) > 0 {
		return exit.Misuse("there is no story %s; did you mean %s?", name, strings.Join(near, " or "))
	}
	return exit.Misuse("there is no story %s, only %s and all", name, strings.Join(demo.Stories(), ", "))
}

// logFile makes the file of the functions' logs.
func logFile(path string) (*os.File, error) {
	if path == "" {
		f, err := os.CreateTemp("", "rollcall-demo-*.log")
		if err != nil {
			return nil, fmt.Errorf("make a file for the functions' logs: %w", err)
		}
		return f, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, exit.Misuse("--logs: %w", err)
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, exit.Misuse("--logs: %w", err)
	}
	return f, nil
}

// ownFunctions is a folder in which this program is each function.
func ownFunctions() (folder string, remove func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, fmt.Errorf("find this program: %w", err)
	}
	if folder, err = os.MkdirTemp("", "rollcall-functions-"); err != nil {
		return "", nil, fmt.Errorf("make a folder for the functions: %w", err)
	}
	remove = func() { os.RemoveAll(folder) }
	if err := programs.Place(self, folder); err != nil {
		remove()
		return "", nil, err
	}
	return folder, remove, nil
}
