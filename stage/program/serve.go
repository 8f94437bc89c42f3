package program

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"rollcall"
	"rollcall/command"
	"rollcall/command/exit"
	"rollcall/stage"
)

// serveCommand serves a world's account until it is interrupted.
func serveCommand() *cobra.Command {
	var empty bool
	var world, environment, logs string
	var rate float64
	c := &cobra.Command{
		Use:   "serve --empty",
		Short: "Serve a simulated AWS account in which Rollcall can be deployed",
		Long: `Serves a simulated AWS account, its Kubernetes APIs and a Slack workspace on this machine,
until it is interrupted. Rollcall is not deployed in it: rollcall deploy does that, with
the environment that is printed. Its functions are then run by this program.

Exit status: 0 ended; 2 it could not begin; 64 bad input; 130 interrupted.`,
		Example: "  rollcall-stage serve --empty",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 || !empty {
				return exit.Misuse("want rollcall-stage serve --empty: an account in which nothing is deployed")
			}
			return nil
		},
	}
	f := c.Flags()
	f.BoolVar(&empty, "empty", false, "nothing is deployed in the account")
	f.StringVar(&world, "world", "stage/worlds/route.yaml", "the world's file; the default is this program's own")
	f.StringVar(&environment, "environment", "", "also write the environment for the AWS CLI and rollcall into a file, KEY=value a line")
	f.StringVar(&logs, "logs", "", "a file for the functions' logs")
	f.Float64Var(&rate, "rate", 1, "speed, as a multiple of real time")
	c.RunE = func(c *cobra.Command, _ []string) error {
		out := command.Bare(c.OutOrStdout())
		file, err := logFile(logs)
		if err != nil {
			return err
		}
		defer file.Close()
		functions, remove, err := ownFunctions()
		if err != nil {
			return err
		}
		defer remove()
		o := stage.Options{
			World: world, Empty: true, Rate: rate, Pace: 200 * time.Millisecond, Binaries: functions, Out: file, Log: slog.New(slog.NewTextHandler(file, nil)),
		}
		if !c.Flags().Changed("world") {
			dir, err := ownWorlds()
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			o.World = dir + "/" + world
		}
		s, err := stage.Start(c.Context(), o)
		if err != nil {
			return fmt.Errorf("start the stage: %w", err)
		}
		defer s.Close()
		if err := served(out, s, environment); err != nil {
			return err
		}
		<-c.Context().Done()
		return c.Context().Err()
	}
	return c
}

// served prints where everything is.
func served(out io.Writer, s *stage.Stage, file string) error {
	var text string
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		text += name + "=" + s.AdminEnv()[name] + "\n"
	}
	fmt.Fprintf(out, "An AWS account with nothing of Rollcall. Its environment:\n\n%s\nSlack page: %s\nSlack channel: %s\nSlack bot token: %s\nClusters: %v\n\nCtrl-C ends it.\n",
		text, s.Slack.URL(), stage.Channel, stage.SlackToken, s.World.Clusters())
	if file == "" {
		return nil
	}
	text += "ROLLCALL_STAGE_SLACK=" + s.Slack.APIURL() + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the environment: %w", err)
	}
	return nil
}

// ownWorlds writes this program's worlds into a folder.
func ownWorlds() (string, error) {
	dir, err := os.MkdirTemp("", "rollcall-worlds-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the worlds: %w", err)
	}
	if err := os.CopyFS(dir, rollcall.Files()); err != nil {
		return "", fmt.Errorf("write the worlds: %w", err)
	}
	return dir, nil
}
