package diagnose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

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
	f.StringSliceVar(&o.live.clusters, "cluster", nil, "look at these clusters, separated by commas")
	f.BoolVar(&o.live.all, "all-clusters", false, "look at all clusters of the region")
	f.StringVar(&o.live.instance, "instance", "", "tell only what is about this instance; its tags name the cluster if --cluster does not")
	f.StringVar(&o.live.nodegroup, "nodegroup", "", "tell only what is about this nodegroup, NodePool or Auto Scaling group")
	f.BoolVarP(&o.live.watch, "watch", "w", false, "look again and again until all have joined, and print what changes")
	callerFlags(c, &o.live.caller)
	kubeconfigFlags(c, &o.live.caller)
	commonFlags(c, &o)
	c.Args = func(c *cobra.Command, args []string) error {
		if o.live.wanted() {
			return o.live.check(args)
		}
		return subject(&o)(c, args)
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *at != "" {
			var err error
			if o.at, err = time.Parse(time.RFC3339, *at); err != nil {
				return misuse{fmt.Errorf("--at %s: it is not a time such as 2026-11-20T15:10:00Z", *at)}
			}
		}
		if o.live.wanted() {
			return o.diagnoseLive(c.Context(), c.Root().Version, c.OutOrStdout(), c.ErrOrStderr())
		}
		r, err := examine(c.Context(), o, c.ErrOrStderr())
		if err == nil && o.html != "" {
			err = writePage(c.Context(), r, o, c.Root().Version, c.ErrOrStderr())
		}
		return write(c.OutOrStdout(), r, o, err)
	}
	return c
}

// diagnoseLive looks at clusters that are there.
func (o options) diagnoseLive(ctx context.Context, version string, out, notes io.Writer) error {
	if o.html != "" && o.live.watch {
		return misuse{errors.New("--html and --watch: a page is of one look")}
	}
	a := o.account(notes)
	end := waiting(notes, "looking", a.asked)
	defer func() { end() }()
	err := a.open(ctx)
	if err != nil {
		return err
	}
	o.subject = a.name()
	look := func(ctx context.Context) (Result, []report.Launch, error) {
		r, launches, err := a.look(ctx)
		end()
		end = func() {}
		return r, launches, err
	}
	if !o.live.watch {
		r, _, err := look(ctx)
		if err == nil && o.html != "" {
			err = a.writePage(ctx, r, o.html, version, notes)
		}
		return write(out, r, o, err)
	}
	status, err := watching{
		look: look, subject: o.subject, now: a.now, json: o.json, style: style{all: o.all, color: colored(out)}, out: out, notes: notes,
	}.run(ctx)
	if err != nil {
		return err
	}
	return exited{status}
}
