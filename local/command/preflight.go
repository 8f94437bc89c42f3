package command

import (
	"strings"

	"github.com/spf13/cobra"

	"rollcall/local/exit"
	"rollcall/local/preflight"
	"rollcall/local/result"
)

func preflightCommand() *cobra.Command {
	var o options
	var asked preflight.Asked
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
	callerFlags(c, &o.live.Caller)
	kubeconfigFlags(c, &o.live.Caller)
	c.Args = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return nil
		case o.live.Caller.Given():
			return exit.Misuse("%s: a capture or a world is looked at without --region and what goes with it", args[0])
		}
		return subject(&o)(c, args)
	}
	c.Flags().StringVarP(&asked.File, "file", "f", "", "a file of what is planned, JSON or YAML")
	c.Flags().StringVar(&asked.File, "cli-input-json", "", "the same, by the AWS CLI's name")
	c.Flags().StringVar(&asked.Template, "launch-template", "", "a version of a launch template, lt-0abc:7, to judge before nodes are launched from it")
	c.Flags().StringVar(&asked.Subnets, "subnet", "", "a subnet to judge before nodes stand in it; with a launch template, those in which its nodes would stand")
	c.Flags().StringVar(&asked.Cluster, "cluster", "", "the cluster that a plan is for which names none")
	commonFlags(c, &o)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if asked.None() {
			return exit.Misuse("what is planned? --file, --launch-template or --subnet names it")
		}
		asked.File = strings.TrimPrefix(asked.File, "file://") // as the AWS CLI writes it
		var r result.Result
		var err error
		if notes := c.ErrOrStderr(); o.subject == "" {
			r, err = preflight.Live(c.Context(), asked, o.account(notes), func(calls func() int) func() { return waiting(notes, "looking", calls) })
		} else {
			r, err = preflight.In(c.Context(), asked, o.input(), notes)
		}
		return write(c.OutOrStdout(), r, o, err)
	}
	return c
}
