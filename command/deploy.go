package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"rollcall/command/caller"
	"rollcall/command/deploy"
	"rollcall/command/doctor"
	"rollcall/command/exit"
	"rollcall/infra/access"
	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/infra/standard/parameters"
	"rollcall/shared/config"
	"rollcall/shared/kube"
	"rollcall/shared/s3"
	"rollcall/shared/settingsfile"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/version"
)

// deployOptions are what a person asks for.
type deployOptions struct {
	who      caller.Options
	file     string
	set      []string
	channel  string
	clusters []string
	release  string
	bucket   string
	stack    string
	diff     bool
	yes      bool
}

func deployCommand() *cobra.Command {
	var o deployOptions
	c := &cobra.Command{
		Use:   "deploy",
		Short: "Deploy Rollcall into an AWS account from a release",
		Long: `Deploys Rollcall from an unpacked release: it uploads the functions to a bucket of
your account, shows what CloudFormation would change, and makes these changes when
you type yes. It then asks for the Slack token, gives Rollcall its rights in the
named clusters, and checks the deployment as rollcall doctor does.

It can be run again at any time, also after an interruption: it continues where the
last run stopped, and changes nothing that is as it should be.

Exit status: 0 deployed; 1 something is wrong; 2 it could not be done or checked; 64
bad input; 130 interrupted.`,
		Example: `  rollcall deploy --channel C0123456789 --clusters prod,dev
  rollcall deploy --settings rollcall.yaml --diff
  rollcall deploy --settings rollcall.yaml --yes
  rollcall deploy destroy`,
		Args: noArguments,
	}
	deployFlags(c, &o)
	f := c.Flags()
	f.StringVar(&o.file, "settings", "", "a settings file (rollcall.yaml)")
	f.StringVar(&o.channel, "channel", "", "the id of the Slack channel (setting slackChannel)")
	f.StringSliceVar(&o.clusters, "clusters", nil, "the clusters to watch, comma-separated (setting clusters; default: all)")
	f.StringArrayVar(&o.set, "set", nil, "set one `key=value` of docs/settings.md; may be given again")
	f.BoolVar(&o.diff, "diff", false, "show what a deployment would change, and deploy nothing (the bucket is created and gets the template, which CloudFormation reads there)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		d, err := o.hub(c)
		if err != nil {
			return err
		}
		if o.diff {
			return ended(d.Diff(c.Context()))
		}
		return ended(d.Run(c.Context()))
	}
	c.AddCommand(spokeCommand(), relayCommand(), destroyCommand())
	return c
}

// deployFlags are those of all that deploys.
func deployFlags(c *cobra.Command, o *deployOptions) {
	callerFlags(c, &o.who)
	f := c.Flags()
	f.StringVar(&o.release, "release", "", "the folder of an unpacked release (default: that of this program)")
	f.StringVar(&o.bucket, "bucket", "", "the bucket for the release's packages (default: rollcall-ACCOUNT-REGION, which is created)")
	f.StringVar(&o.stack, "stack-name", "", "the name of the stack (setting stackName; default: Rollcall)")
	f.BoolVar(&o.yes, "yes", false, "do not ask for confirmations")
}

// spokeCommand deploys a spoke.
func spokeCommand() *cobra.Command {
	var o deployOptions
	var hub, externalID string
	c := &cobra.Command{
		Use: "spoke --hub ACCOUNT/REGION --external-id ID", Short: "Deploy a spoke, in another account or region than the hub", Args: noArguments,
		Long: `Deploys a spoke into the account and region of your credentials: roles that the hub
reads with, and rules that forward events to it. It changes nothing in the account.

Exit status: as for rollcall deploy.`,
		Example: "  rollcall deploy spoke --hub 111122223333/us-west-2 --external-id rollcall-7f3a --profile payments",
	}
	deployFlags(c, &o)
	c.Flags().StringVar(&hub, "hub", "", "the hub's `ACCOUNT/REGION`")
	c.Flags().StringVar(&externalID, "external-id", "", "the hub's setting externalId")
	c.Flags().BoolVar(&o.diff, "diff", false, "show what a deployment would change, and deploy nothing (the bucket is created and gets the template, which CloudFormation reads there)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return o.other(c, func(d *deploy.Deployment) error {
			if err := d.Spoke(hub, externalID); err != nil {
				return &exit.MisuseError{Err: err}
			}
			return nil
		})
	}
	return c
}

// relayCommand deploys the relay of a cluster.
func relayCommand() *cobra.Command {
	var o deployOptions
	var cluster, prefix string
	c := &cobra.Command{
		Use: "relay --cluster NAME", Short: "Deploy the relay of a cluster that has only a private endpoint", Args: noArguments,
		Long: `Deploys the relay of a cluster whose API answers in its VPC alone, into the account and
region of your credentials. Then name the cluster in the hub's setting relays.

Exit status: as for rollcall deploy.`,
		Example: "  rollcall deploy relay --cluster prod",
	}
	deployFlags(c, &o)
	c.Flags().StringVar(&cluster, "cluster", "", "the cluster")
	c.Flags().StringVar(&o.file, "settings", "", "the hub's settings file (rollcall.yaml): its permissionsBoundary, rolePath and tags are the relay's too")
	c.Flags().StringArrayVar(&o.set, "set", nil, "set one `key=value` of docs/settings.md; may be given again")
	c.Flags().StringVar(&prefix, "prefix", "rollcall", "what the names of the hub's functions begin with: its stack's name in lower case")
	c.Flags().BoolVar(&o.diff, "diff", false, "show what a deployment would change, and deploy nothing (the bucket is created and gets the template, which CloudFormation reads there)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if cluster == "" {
			return exit.Misuse("name the cluster with --cluster; see %s --help", c.CommandPath())
		}
		hubs := o
		hubs.stack = "" // that of the relay
		given, tags, err := hubs.given()
		if err != nil {
			return err
		}
		if given["slackChannel"] == nil {
			given["slackChannel"] = "C0123456789" // a relay needs none
		}
		chosen, err := settings.Parse(given)
		if err != nil {
			return &exit.MisuseError{Err: asFlags(err)}
		}
		return o.other(c, func(d *deploy.Deployment) error {
			tags[settings.TagKey] = settings.TagValue
			d.Tags = tags
			return d.Relay(c.Context(), chosen, cluster, prefix)
		})
	}
	return c
}

// other deploys a spoke or a relay: what doctor looks at is the hub's.
func (o deployOptions) other(c *cobra.Command, made func(*deploy.Deployment) error) error {
	d, err := o.deployment(c)
	if err != nil {
		return err
	}
	if d.Release, err = o.read(); err != nil {
		return &exit.MisuseError{Err: err}
	}
	d.Stack, d.Tags = o.stack, map[string]string{settings.TagKey: settings.TagValue}
	d.Examine = func(context.Context) error {
		_, err := fmt.Fprintln(c.OutOrStdout(), "Deployed. Check it with the hub's credentials: rollcall doctor")
		return err
	}
	if err := made(d); err != nil {
		return err
	}
	if o.diff {
		return ended(d.Diff(c.Context()))
	}
	return ended(d.Run(c.Context()))
}

// destroyCommand deletes a stack.
func destroyCommand() *cobra.Command {
	var o deployOptions
	c := &cobra.Command{
		Use: "destroy", Short: "Delete the stack of a deployment", Args: noArguments,
		Long: `Deletes the stack of a deployment when you type yes, and lists what stays: the table,
the secrets, the bucket with evidence, and what was made by hand.

Exit status: 0 deleted; 1 the deletion failed; 2 it could not be done; 64 bad input.`,
		Example: "  rollcall deploy destroy",
	}
	deployFlags(c, &o)
	c.RunE = func(c *cobra.Command, _ []string) error {
		d, err := o.deployment(c)
		if err != nil {
			return err
		}
		if d.Stack = o.stack; d.Stack == "" {
			d.Stack = defaultStack
		}
		return ended(d.Destroy(c.Context()))
	}
	return c
}

const (
	// defaultStack is the default of the setting stackName.
	defaultStack = "Rollcall"
	// docsURL is the setting that says where messages link to.
	docsURL = "docsUrl"
)

// ended is how the program ends after a deployment.
func ended(err error) error {
	var failed *deploy.FailedError
	if errors.As(err, &failed) {
		return &causes{err}
	}
	return err
}

// causes is an error that was found in what is deployed.
type causes struct{ error }

// Unwrap is what was found.
func (c *causes) Unwrap() error { return c.error }

// deployment is a run of a caller, with what hub, spoke and relay have in common.
func (o deployOptions) deployment(c *cobra.Command) (*deploy.Deployment, error) {
	by, err := callerOf(c.Context(), o.who)
	if err != nil {
		return nil, err
	}
	bucket := o.bucket
	if bucket == "" {
		bucket = "rollcall-" + by.Account + "-" + by.AWS.Region
	}
	in := int(os.Stdin.Fd())
	clients := doctor.NewClients(by.AWS, &http.Client{Timeout: slackTime})
	return &deploy.Deployment{
		Account: by.Account, Region: by.AWS.Region,
		Bucket: s3.Bucket{Client: s3.New(by.AWS), Name: bucket, Account: by.Account}, BucketGiven: o.bucket != "",
		CloudFormation: cloudformation.NewFromConfig(by.AWS), Secrets: secretsmanager.NewFromConfig(by.AWS), EKS: eks.NewFromConfig(by.AWS), Functions: lambda.NewFromConfig(by.AWS),
		Kubernetes: func(ctx context.Context, of deploy.Cluster, object deploy.Object) error {
			token, err := kube.Token(ctx, sts.NewPresignClient(sts.NewFromConfig(by.AWS)), of.Name)
			if err != nil {
				return err
			}
			via, err := kube.Transport(of.CA)
			if err != nil {
				return err
			}
			via.Proxy = http.ProxyFromEnvironment
			defer via.CloseIdleConnections()
			return deploy.Apply(ctx, via, of, token, object)
		},
		Examine: func(ctx context.Context) error {
			list := doctor.Examine(ctx, clients, doctor.Deployment{Account: by.Account, Region: by.AWS.Region, Specs: specs.All(), Now: time.Now()})
			return examined(ctx, list, func() error { return doctor.Print(c.OutOrStdout(), list) })
		},
		Terminal: deploy.Terminal{
			In: bufio.NewReader(c.InOrStdin()), Out: c.OutOrStdout(), Interactive: term.IsTerminal(in), Yes: o.yes,
			Password: func() (string, error) {
				text, err := term.ReadPassword(in)
				return string(text), err
			},
		},
		Now: time.Now, Sleep: sleep,
	}, nil
}

// examined prints what doctor found, and says how the command ends.
func examined(ctx context.Context, list []doctor.Finding, printed func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := printed(); err != nil {
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

// given are the settings of the file and of the line; the line's count where both have one.
func (o deployOptions) given() (given map[string]any, tags map[string]string, err error) {
	given, tags = map[string]any{}, map[string]string{}
	if o.file != "" {
		text, err := os.ReadFile(o.file)
		if err != nil {
			return nil, nil, exit.Misuse("--settings: %w", err)
		}
		file, named, problems := settingsfile.Read(text)
		if err := errors.Join(problems...); err != nil {
			return nil, nil, exit.Misuse("%s: %w", o.file, err)
		}
		maps.Copy(given, file)
		maps.Copy(tags, named)
	}
	for _, pair := range o.set {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, nil, exit.Misuse("--set %q: want key=value", pair)
		}
		given[key] = value
	}
	for key, value := range map[string]string{"slackChannel": o.channel, "clusters": strings.Join(o.clusters, ","), settings.StackName: o.stack} {
		if value != "" {
			given[key] = value
		}
	}
	return given, tags, nil
}

// asFlags names the flags of this command for wrong settings, in place of make's.
func asFlags(err error) error {
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for i, err := range list {
		var wrong settings.Problem
		if errors.As(err, &wrong) {
			list[i] = fmt.Errorf("%s: %w (%s)", wrong.Key, wrong.Err, flagOf(wrong.Key))
		}
	}
	return errors.Join(list...)
}

// flagOf is how a setting is given on the line.
func flagOf(key string) string {
	switch key {
	case "slackChannel":
		return "--channel C0123456789"
	case "clusters":
		return "--clusters prod,dev"
	}
	return "--set " + key + "=…, or the file of --settings"
}

// hub is the deployment of a hub.
func (o deployOptions) hub(c *cobra.Command) (*deploy.Deployment, error) {
	given, tags, err := o.given()
	if err != nil {
		return nil, err
	}
	release, err := o.read()
	if err != nil {
		return nil, &exit.MisuseError{Err: err}
	}
	// A release says where its pages are.
	if pages, err := release.File("pages"); err == nil && given[docsURL] == nil {
		given[docsURL] = strings.TrimSpace(string(pages))
	}
	chosen, err := settings.Parse(given)
	if err != nil {
		return nil, &exit.MisuseError{Err: asFlags(err)}
	}
	d, err := o.deployment(c)
	if err != nil {
		return nil, err
	}
	d.Release = release
	if chosen, err = lookBefore(c, d, given, chosen); err != nil {
		return nil, err
	}
	if d.Parameters, err = parameters.Values(chosen); err != nil {
		return nil, &exit.MisuseError{Err: err}
	}
	tags[settings.TagKey] = settings.TagValue
	d.Template, d.Stack, d.Tags = deploy.HubTemplate, chosen.StackName, tags
	d.NoSlack = chosen.Environment[config.Channel] == "" || chosen.Environment[config.Channel] == "none" || chosen.SlackSecretARN != ""
	functions := d.Functions
	d.Workspace = func(ctx context.Context, token string) (string, error) {
		api := chosen.Environment[config.SlackAPI]
		// The deployed function knows where Slack is.
		if out, err := functions.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: aws.String(chosen.Prefix() + "-report")}); err == nil && out.Environment != nil {
			if at := out.Environment.Variables[string(config.SlackAPI)]; at != "" {
				api = at
			}
		}
		workspace, _, err := doctor.NewSlack(api, token, &http.Client{Timeout: slackTime}).Scopes(ctx)
		return workspace, err
	}
	return d, nil
}

// lookBefore looks at the clusters in which the stack makes access entries, and returns the settings
// with which it can be deployed.
func lookBefore(c *cobra.Command, d *deploy.Deployment, given map[string]any, chosen settings.Settings) (settings.Settings, error) {
	if chosen.Access == settings.AccessNone {
		return chosen, nil
	}
	reader := config.SpokeRoleARN(chosen.RolePath+chosen.Prefix(), spec.SpokeReader, spoke.ID{Account: d.Account, Region: d.Region})
	found := access.Look(c.Context(), d.EKS, chosen.AccessClusters, reader)
	notes, err := deploy.Before(found, d.Region, reader)
	for _, n := range notes {
		fmt.Fprintln(c.ErrOrStderr(), "note:", n)
	}
	if err != nil {
		return chosen, &exit.MisuseError{Err: err}
	}
	if _, named := given[settings.KubernetesAccess]; !named && len(found.ByPolicy) > 0 && chosen.Access == settings.AccessGroup {
		way, err := d.Terminal.Way(found.ByPolicy)
		if err != nil {
			return chosen, err
		}
		given[settings.KubernetesAccess] = way
	}
	d.Clusters, d.ConfigMapClusters = chosen.AccessClusters, found.ConfigMap
	if len(found.ConfigMap) > 0 {
		all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(chosen.ConfigMapClusters, found.ConfigMap))))
		given[settings.ConfigMapClusters] = strings.Join(all, ",")
	}
	if chosen, err = settings.Parse(given); err != nil {
		return chosen, &exit.MisuseError{Err: err}
	}
	if chosen.Access != settings.AccessGroup { // access policies are the stack's; aws-auth is by hand
		d.Clusters = found.ConfigMap
	}
	return chosen, nil
}

// read reads the release, which lies beside this program where none is named.
func (o deployOptions) read() (deploy.Release, error) {
	dir := o.release
	if dir == "" {
		self, err := os.Executable()
		if err == nil {
			self, err = filepath.EvalSymlinks(self)
		}
		if err != nil {
			return deploy.Release{}, fmt.Errorf("find this program: %w", err)
		}
		dir = filepath.Dir(self)
	}
	return deploy.ReadRelease(dir, version.Current())
}
