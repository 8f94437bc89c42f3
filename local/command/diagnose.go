package command

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"rollcall/local/diagnose"
	"rollcall/local/exit"
	"rollcall/local/result"
	"rollcall/shared/report"

	"github.com/spf13/cobra"
)

func diagnoseCommand() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "diagnose (--cluster NAME | --all-clusters | CAPTURE_DIR | WORLD.yaml)",
		Short: "Tell why instances did not become nodes of their cluster",
		Long: `Tells why instances did not become nodes of their cluster: what the functions
that run in Lambda find, with nothing deployed.

--cluster looks at a cluster as it is now, with your own rights, and only reads.
Profile, region, endpoint and SSO are as the AWS CLI has them. Kubernetes is
reached as EKS tells, or by a context of your kubeconfig. What is refused is
named with the permission that it takes.

A capture is a folder of what the AWS CLI and kubectl print; rollcall capture
takes one with read-only rights (docs/diagnose.md).

` + exitStatuses,
		Example: `  rollcall diagnose --cluster prod
  rollcall diagnose --cluster prod,dev --region eu-central-1 --profile ops
  rollcall diagnose --cluster prod --context prod --watch
  rollcall diagnose --instance i-0123456789abcdef0
  rollcall diagnose capture
  rollcall diagnose --json capture
  rollcall diagnose --html result.html capture
  rollcall diagnose --at 2026-11-20T15:10:00Z local/worlds/samples.yaml`,
	}
	f := c.Flags()
	at := f.String("at", "", "stage time to look at a world or a stage, e.g. 2026-11-20T15:10:00Z (default: 12 minutes after a world starts)")
	f.StringVar(&o.html, "html", "", "also write the result into a file, as one HTML page that needs nothing else")
	f.StringSliceVar(&o.live.Clusters, "cluster", nil, "look at these clusters, separated by commas")
	f.BoolVar(&o.live.All, "all-clusters", false, "look at all clusters of the region")
	f.StringVar(&o.live.Instance, "instance", "", "tell only what is about this instance; its tags name the cluster if --cluster does not")
	f.StringVar(&o.live.Nodegroup, "nodegroup", "", "tell only what is about this nodegroup, NodePool or Auto Scaling group")
	f.BoolVarP(&o.watch, "watch", "w", false, "look again and again until all have joined, and print what changes")
	callerFlags(c, &o.live.Caller)
	kubeconfigFlags(c, &o.live.Caller)
	commonFlags(c, &o)
	c.Args = func(c *cobra.Command, args []string) error {
		if o.wantsLive() {
			return o.checkLive(args)
		}
		return subject(&o)(c, args)
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *at != "" {
			var err error
			if o.at, err = time.Parse(time.RFC3339, *at); err != nil {
				return exit.Misuse("--at %s: it is not a time such as 2026-11-20T15:10:00Z", *at)
			}
		}
		if o.wantsLive() {
			return o.diagnoseLive(c.Context(), c.Root().Version, c.OutOrStdout(), c.ErrOrStderr())
		}
		r, err := diagnose.Examine(c.Context(), o.input(), c.ErrOrStderr())
		if err == nil && o.html != "" {
			err = diagnose.WritePage(c.Context(), r, o.input(), o.html, c.Root().Version, c.ErrOrStderr())
		}
		return write(c.OutOrStdout(), r, o, err)
	}
	return c
}

// diagnoseLive looks at clusters that are there.
func (o options) diagnoseLive(ctx context.Context, version string, out, notes io.Writer) error {
	if o.html != "" && o.watch {
		return exit.Misuse("--html and --watch: a page is of one look")
	}
	a := diagnose.NewAccount(o.account(notes))
	end := waiting(notes, "looking", a.Asked)
	defer func() { end() }()
	err := a.Open(ctx)
	if err != nil {
		return err
	}
	o.subject = a.Name()
	look := func(ctx context.Context) (result.Result, []report.Launch, error) {
		r, launches, err := a.Look(ctx)
		end()
		end = func() {}
		return r, launches, err
	}
	if !o.watch {
		r, _, err := look(ctx)
		if err == nil && o.html != "" {
			err = a.WritePage(ctx, r, o.html, version, notes)
		}
		return write(out, r, o, err)
	}
	status, err := watching{
		look: look, subject: o.subject, now: a.Now, json: o.json, style: result.Style{All: o.all, Color: colored(out)}, out: out, notes: notes,
	}.run(ctx)
	if err != nil {
		return err
	}
	return exit.Status(status)
}

// wantsLive tells that an account is to be looked at.
func (o options) wantsLive() bool {
	return len(o.live.Clusters) > 0 || o.live.All || o.live.Instance != "" || o.live.Nodegroup != "" || o.watch || o.live.Caller.Given()
}

// checkLive says what does not go together.
func (o options) checkLive(args []string) error {
	switch {
	case len(args) > 0:
		return exit.Misuse("%s: a capture or a world is looked at without --cluster and what goes with it", args[0])
	case o.live.All && len(o.live.Clusters) > 0:
		return exit.Misuse("--all-clusters and --cluster: one of them")
	case !o.live.All && len(o.live.Clusters) == 0 && o.live.Instance == "":
		return exit.Misuse("which cluster? --cluster names one or several, --all-clusters takes all of the region")
	case slices.Contains(o.live.Clusters, ""):
		return exit.Misuse("--cluster: a name is empty")
	case o.live.Instance != "" && !strings.HasPrefix(o.live.Instance, "i-"):
		return exit.Misuse("--instance %s: an instance's id begins with i-", o.live.Instance)
	}
	return nil
}
