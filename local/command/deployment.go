package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"rollcall/infra/specs"
	"rollcall/local/caller"
	"rollcall/local/doctor"
	"rollcall/local/exit"
	"rollcall/local/incidents"
	"rollcall/shared/awsconf"
	"rollcall/shared/store"
)

// slackTime is how long an answer of Slack is waited for.
const slackTime = 15 * time.Second

// callerFlags are those that say who calls, and where.
func callerFlags(c *cobra.Command, o *caller.Options) {
	o.MFA = awsconf.AtTerminal(os.Stdin, os.Stderr)
	f := c.Flags()
	f.StringVar(&o.Region, "region", "", "the region, in place of the profile's")
	f.StringVar(&o.Profile, "profile", "", "the AWS profile, in place of AWS_PROFILE's")
	f.StringVar(&o.Endpoint, "endpoint-url", "", "where AWS is, in place of AWS_ENDPOINT_URL and the profile's endpoint_url")
}

// noArguments takes none.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Misuse("%s takes no arguments: %q is one too many", c.CommandPath(), args[0])
	}
	return nil
}

func doctorCommand() *cobra.Command {
	var who caller.Options
	var asJSON, test bool
	var elsewhere elsewhere
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Tell whether a deployment is whole, and how to mend it",
		Long: `Tells whether a deployment of Rollcall is whole: its functions, roles, rules, queues
table and alarms; the Slack token, its scopes and the channels; whether each watched
cluster lets it in and grants what it reads; and what was given up. What is wrong is named with the command
that mends it. It only reads.

Of spokes it looks whether the hub takes in what they send and is let in by them; and
with a role of each account that you may assume (--spoke-role), or with a profile of it
(--spoke-profile), at their roles, their rules and their clusters.

Exit status: 0 whole; 1 something is wrong; 2 something could not be looked at; 64
bad input.`,
		Example: `  rollcall doctor
  rollcall doctor --profile ops --region eu-central-1
  rollcall doctor --spoke-role OrganizationAccountAccessRole
  rollcall doctor --spoke-profile 222233334444=payments
  rollcall doctor --test-message`,
		Args: noArguments,
	}
	callerFlags(c, &who)
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	c.Flags().StringVar(&elsewhere.role, "spoke-role", "", "the name of a role in each spoke's account, by which that is looked at")
	c.Flags().StringToStringVar(&elsewhere.profiles, "spoke-profile", nil, "ACCOUNT=PROFILE: the AWS profile by which a spoke's account is looked at")
	c.Flags().BoolVar(&test, "test-message", false, "also post a test message into each channel, and tell each target besides Slack")
	c.RunE = func(c *cobra.Command, _ []string) error {
		by, err := callerOf(c.Context(), who)
		if err != nil {
			return err
		}
		clients := doctor.NewClients(by.AWS, &http.Client{Timeout: slackTime})
		clients.Elsewhere = elsewhere.opened(by, who)
		list := doctor.Examine(c.Context(), clients, doctor.Deployment{
			Account: by.Account, Region: by.AWS.Region, Specs: specs.All(), TestMessage: test, Now: time.Now(),
		})
		printed := doctor.Print
		if asJSON {
			printed = doctor.PrintJSON
		}
		if err := printed(c.OutOrStdout(), list); err != nil {
			return err
		}
		switch healthy, whole := doctor.Healthy(list); {
		case !healthy:
			return exit.Status(exit.Causes)
		case !whole:
			return exit.Status(exit.Unsure)
		}
		return nil
	}
	return c
}

func incidentsCommand() *cobra.Command {
	var who caller.Options
	var asJSON, all bool
	var clusters []string
	c := &cobra.Command{
		Use:   "incidents",
		Short: "List the incidents that a deployment knows",
		Long: `Lists the incidents that a deployment of Rollcall knows, those that hurt longest
first. It reads the deployment's table. A cluster that the deployment neither watches
nor has any record of is bad input.

Exit status: 0 none is open; 1 some are; 2 they could not be read; 64 bad input.`,
		Example: `  rollcall incidents
  rollcall incidents --all --cluster prod`,
		Args: noArguments,
	}
	callerFlags(c, &who)
	c.Flags().BoolVar(&asJSON, "json", false, "print them as a JSON array")
	c.Flags().BoolVar(&all, "all", false, "list those too that are over (they are kept for 30 days)")
	c.Flags().StringSliceVar(&clusters, "cluster", nil, "of these clusters alone, separated by commas")
	c.RunE = func(c *cobra.Command, _ []string) error {
		by, err := callerOf(c.Context(), who)
		if err != nil {
			return err
		}
		records, err := incidents.Table(c.Context(), by)
		if err != nil {
			return err
		}
		var stranger *incidents.StrangerError
		switch err := incidents.Known(c.Context(), records, clusters, incidents.Watched(by)); {
		case errors.As(err, &stranger):
			return &exit.MisuseError{Err: err}
		case err != nil:
			return err
		}
		rows, err := incidents.List(c.Context(), records, incidents.Query{Clusters: clusters, Closed: all})
		var newer *store.NewerFormat
		switch {
		case errors.As(err, &newer):
			fmt.Fprintln(c.ErrOrStderr(), "note: some are of a newer release than this command's, and are left out:", err)
		case err != nil:
			return fmt.Errorf("read the incidents: %w", err)
		}
		if asJSON {
			err = writeJSON(c.OutOrStdout(), rows)
		} else {
			err = incidents.Print(c.OutOrStdout(), rows, time.Now())
		}
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.Ended.IsZero() {
				return exit.Status(exit.Causes)
			}
		}
		if newer != nil { // one of those may be open
			return exit.Status(exit.Unsure)
		}
		return nil
	}
	return c
}

func showCommand() *cobra.Command {
	var who caller.Options
	var asJSON bool
	c := &cobra.Command{
		Use:   "show INCIDENT",
		Short: "Show all that a deployment knows of an incident",
		Long: `Shows all that a deployment of Rollcall knows of an incident: why, since when, what
was seen, what was changed before, what was done. INCIDENT is its name as rollcall
incidents prints it, or a part that no other has.

Exit status: 0 it is over; 1 it is open; 2 it could not be read; 64 bad input.`,
		Example: `  rollcall show rtb-0cd20000000000002
  rollcall show --json prod:route/no-egress:rtb-0cd20000000000002`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return exit.Misuse("which incident? rollcall incidents lists them; %s --help tells more", c.CommandPath())
			}
			return nil
		},
	}
	callerFlags(c, &who)
	c.Flags().BoolVar(&asJSON, "json", false, "print its record as a JSON object")
	c.RunE = func(c *cobra.Command, args []string) error {
		by, err := callerOf(c.Context(), who)
		if err != nil {
			return err
		}
		records, err := incidents.Table(c.Context(), by)
		if err != nil {
			return err
		}
		inc, err := incidents.Find(c.Context(), records, args[0])
		var several *incidents.SeveralError
		switch {
		case errors.Is(err, incidents.ErrNone), errors.As(err, &several):
			return &exit.MisuseError{Err: err}
		case err != nil:
			return fmt.Errorf("read the incident: %w", err)
		}
		if asJSON {
			err = writeJSON(c.OutOrStdout(), inc)
		} else {
			err = incidents.Show(c.OutOrStdout(), inc, time.Now())
		}
		if err != nil {
			return err
		}
		if inc.Resolved.IsZero() {
			return exit.Status(exit.Causes)
		}
		return nil
	}
	return c
}

// callerOf is who typed the command.
func callerOf(ctx context.Context, who caller.Options) (caller.Caller, error) {
	return caller.Load(ctx, who, slog.New(slog.DiscardHandler), &awsconf.Calls{})
}
