// Package command is the command line of rollcall: commands with their flags, what they
// print on a terminal and the statuses with which they end. What they tell is found by
// packages of its own (command/diagnose, command/preflight, command/explain and others).
package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rollcall/command/caller"
	"rollcall/command/capture"
	"rollcall/command/capture/take"
	"rollcall/command/diagnose"
	"rollcall/command/doctor"
	"rollcall/command/exit"
	"rollcall/command/incidents"
	"rollcall/command/result"
	subjects "rollcall/command/subject"
	"rollcall/infra/specs"
	"rollcall/shared/awsconf"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
	"rollcall/shared/version"
)

type options struct {
	subject string // a world's file or a capture's folder
	at      time.Time
	json    bool
	all     bool // print what a page has no room for
	advice  bool // print what breaks nothing, too
	verbose bool
	html    string // the file of the page; empty for none
	// live is an account that is there, in place of a subject.
	live  diagnose.Live
	watch bool
}

// input is the subject as it is looked at.
func (o options) input() subjects.Subject {
	return subjects.Subject{Path: o.subject, At: o.at, Verbose: o.verbose}
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
	bareOut, bareErrs := out, errs
	out = &cleaner{to: out, raw: isJSON(root, args)}
	errs = &cleaner{to: errs, raw: func() bool { return false }}
	root.SetOut(out)
	root.SetErr(errs)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			var flags []string
			c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
			if near := caller.Near(unknown.GetSpecifiedName(), flags); len(near) > 0 {
				return exit.Misuse("%w; did you mean --%s?", err, strings.Join(near, " or --"))
			}
		}
		return exit.Misuse("%w; see %s --help", err, c.CommandPath())
	})
	err := root.ExecuteContext(ctx)
	var o exit.Status
	switch {
	case err == nil:
		return exit.Healthy
	case errors.As(err, &o):
		return int(o)
	case ctx.Err() != nil, errors.Is(err, context.Canceled):
		fmt.Fprintf(errs, "%s: interrupted\n", root.DisplayName())
		return exit.Interrupted
	case errors.Is(err, subjects.ErrNeedsStage):
		status, err := runStage(ctx, args, root.InOrStdin(), bareOut, bareErrs)
		if err == nil {
			return status
		}
		fmt.Fprintf(errs, "%s: %s\n", root.DisplayName(), err)
		return exit.BadInput
	}
	fmt.Fprintf(errs, "%s: %s\n", root.DisplayName(), err)
	return failed(err)
}

// runStage runs the same command line by rollcall-stage, which lies beside this program.
func runStage(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) (status int, err error) {
	path, err := stageProgram()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Args[0] = os.Args[0] // it speaks of itself as this program was called
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	// It ends in its own way. Where a signal cannot be sent (Windows), the terminal has sent
	// Ctrl-C to both.
	cmd.Cancel = func() error {
		_ = cmd.Process.Signal(os.Interrupt)
		return nil
	}
	err = cmd.Run()
	if s := cmd.ProcessState; s != nil && s.ExitCode() >= 0 {
		return s.ExitCode(), nil
	}
	if ctx.Err() != nil {
		return exit.Interrupted, nil
	}
	return 0, fmt.Errorf("run %s: %w", path, err)
}

// stageProgram is the path of rollcall-stage, beside this program.
func stageProgram() (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	path := filepath.Join(filepath.Dir(self), "rollcall-stage"+filepath.Ext(self))
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("worlds and the demo are played by rollcall-stage, a program of the same release: put it beside this one, as %s", path)
	}
	return path, nil
}

// failed is the status of a run that came to nothing: what the input is to
// blame for is kept apart from what this machine is.
func failed(err error) int {
	var m *exit.MisuseError
	var c *capture.Error
	var who caller.Mistake
	var found *causes
	if errors.As(err, &found) {
		return exit.Causes
	}
	if errors.As(err, &m) || errors.As(err, &c) || errors.As(err, &who) || strings.HasPrefix(err.Error(), "unknown command") {
		return exit.BadInput
	}
	return exit.Unsure
}

const exitStatuses = `Exit status: 0 healthy; 1 causes found; 2 unknown, as something that was needed is
missing or was denied; 64 bad input; 130 interrupted.`

// Stage is what only rollcall-stage has; its zero value is a program without it.
type Stage struct {
	Worlds subjects.Worlds
	Demo   *cobra.Command
}

// Root is the command with all that it does, called by a program's path.
func Root(called string, s Stage) *cobra.Command {
	c := &cobra.Command{
		Use:     "rollcall",
		Short:   "Why did an EC2 instance not become an EKS node?",
		Long:    "rollcall explains why EC2 instances did not become nodes of their EKS cluster,\nand how to fix it.",
		Version: version.Current(),
	}
	if s.Demo == nil {
		s.Demo = demoCommand()
	}
	c.AddCommand(
		diagnoseCommand(s.Worlds), captureCommand(), preflightCommand(s.Worlds), explainCommand(), incidentsCommand(), showCommand(),
		replayCommand(), doctorCommand(), deployCommand(), mcpCommand(s.Worlds), s.Demo, versionCommand(),
	)
	for _, sub := range c.Commands() {
		noFiles(sub)
	}
	if isPlugin(called) {
		asPlugin(c)
	}
	return c
}

// versionCommand prints what --version does, as kubectl and helm have it.
func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "%s version %s\n", c.Root().DisplayName(), c.Root().Version)
			return err
		},
	}
}

// isPlugin reports whether the program is called as kubectl's plugin: kubectl looks for
// kubectl-rollcall on the PATH (Kubernetes, "Extend kubectl with plugins").
func isPlugin(called string) bool {
	name := strings.TrimSuffix(filepath.Base(called), ".exe")
	return name == "kubectl-rollcall"
}

// asPlugin has the command speak of itself as a person types it.
func asPlugin(root *cobra.Command) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl rollcall"}
	var words []string
	for _, c := range root.Commands() {
		plain := fmt.Sprintf("%s %s", root.Name(), c.Name())
		words = append(words, plain, "kubectl "+plain)
	}
	typed := strings.NewReplacer(words...)
	for _, c := range root.Commands() {
		c.Example, c.Long = typed.Replace(c.Example), typed.Replace(c.Long)
	}
}

// commonFlags are those of what looks at a world or a capture.
func commonFlags(c *cobra.Command, o *options) {
	c.Flags().BoolVar(&o.json, "json", false, "print the result as one JSON object")
	c.Flags().BoolVar(&o.all, "all", false, "show everything (default: one page)")
	c.Flags().BoolVar(&o.advice, "advice", false, "also show advice (nothing fails because of it yet)")
	c.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "print the functions' logs on standard error")
}

// subject takes the one argument of what looks at a world or a capture.
func subject(o *options) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			what := "nothing to check: give a capture folder"
			if c.Name() == "diagnose" {
				what = "nothing to diagnose: give --cluster NAME or a capture folder"
			}
			return exit.Misuse("%s; see %s --help", what, c.CommandPath())
		case len(args) > 1:
			return exit.Misuse("one world or capture at a time: unexpected argument %q", args[1])
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
		_, err = io.WriteString(out, r.Words(cmp.Or(r.Plan, o.subject), o.style(out)))
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return exit.Status(r.Status())
}

// style is how a result is printed on a writer.
func (o options) style(out io.Writer) result.Style {
	return result.Style{All: o.all, Advice: o.advice, Color: colored(out)}
}

func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// defaultInstances is how many consoles are read: more than a person looks at, and few
// enough for EC2's bucket.
const defaultInstances = 50

// kubeconfigFlags are those of who asks Kubernetes.
func kubeconfigFlags(c *cobra.Command, o *caller.Options) {
	f := c.Flags()
	f.StringVar(&o.Context, "context", "", "reach Kubernetes using this kubeconfig context")
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "the kubeconfig file (default: KUBECONFIG, then ~/.kube/config); without --context its current context is used")
}

// captureOptions are what a person asks for.
type captureOptions struct {
	take.Options
	caller  caller.Options
	json    bool
	program string // as it is called
}

func captureCommand() *cobra.Command {
	var o captureOptions
	c := &cobra.Command{
		Use:   "capture [--cluster NAME]... [--out DIR]",
		Short: "Take a capture of clusters, to be diagnosed anywhere",
		Long: `Saves the state of clusters, and of everything that their nodes need to join, as
files in a folder, in the format of the AWS CLI and kubectl. It is read-only.
rollcall diagnose reads the folder on any machine.

Credentials, profiles, SSO, roles and endpoints work as in the AWS CLI. Kubernetes
is read with an EKS token, or with a context of your kubeconfig (--context). Denied
calls are listed in errors.json and the rest is still saved; left-out.json lists
what was not requested.

User data and consoles can contain secrets: keep the folder private.

Exit status: 0 saved; 2 AWS could not be read, or only in part; 64 bad input.`,
		Example: `  rollcall capture --cluster prod --region us-west-2 --out capture
  rollcall capture --cluster prod,dev --profile staging --mask
  rollcall capture --cluster prod --out capture --resume`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return exit.Misuse("unexpected argument %q: give a cluster with --cluster, a folder with --out", args[0])
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.Clusters, "cluster", nil, "a cluster, or several with commas; may be given again (default: all of the region)")
	f.StringVarP(&o.Dir, "out", "o", "", "the folder to write (default: rollcall-capture-<time>)")
	callerFlags(c, &o.caller)
	kubeconfigFlags(c, &o.caller)
	f.IntVar(&o.Instances, "instances", defaultInstances, "fetch console output and user data for at most `N` not-Ready instances")
	f.BoolVar(&o.Mask, "mask", false, "replace account ids and names, each one by the same word everywhere, and remove what looks like a secret")
	f.BoolVar(&o.Resume, "resume", false, "go on with what an earlier run has left in the folder")
	f.BoolVar(&o.json, "json", false, "print what was taken as one JSON object")
	c.RunE = func(c *cobra.Command, _ []string) error {
		switch {
		case o.caller.Context+o.caller.Kubeconfig != "" && len(o.Clusters) != 1:
			return exit.Misuse("--context and --kubeconfig need exactly one --cluster")
		case o.Instances < 0:
			return exit.Misuse("--instances %d: want 0 or more", o.Instances)
		case slices.Contains(o.Clusters, ""):
			return exit.Misuse("--cluster: a name is empty")
		}
		o.Now = time.Now()
		o.program = c.Root().DisplayName()
		return runCapture(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr())
	}
	return c
}

// runCapture takes a capture and tells of it.
func runCapture(ctx context.Context, o captureOptions, out, errs io.Writer) error {
	o.Dir = cmp.Or(o.Dir, "rollcall-capture-"+o.Now.UTC().Format("20060102T150405Z"))
	who, err := caller.Load(ctx, o.caller, slog.New(slog.DiscardHandler), &awsconf.Calls{})
	if err != nil {
		return err
	}
	p := newProgress(errs)
	o.Progress = p.show
	who.AWS.Retryer = take.Retryer
	s, err := take.Take(ctx, take.Account{Config: who.AWS, Kubernetes: take.ByToken(who.AWS, serversOf(who))}, o.Options)
	p.end()
	for _, n := range s.Notes {
		fmt.Fprintln(errs, "note:", n)
	}
	var input *take.InputError
	switch {
	case errors.As(err, &input):
		return &exit.MisuseError{Err: err}
	case err != nil:
		return err
	case o.json:
		err = writeJSON(out, captureResult(o, s))
	default:
		_, err = io.WriteString(out, captureWords(o, s, time.Since(o.Now)))
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// serversOf are clusters' API servers, as the caller reaches them. What is wrong with a kubeconfig ends the
// taking: it was requested.
func serversOf(who caller.Caller) func(context.Context, take.Cluster) (take.APIServer, error) {
	return func(ctx context.Context, c take.Cluster) (take.APIServer, error) {
		servers, err := who.APIServers(ctx, []snapshot.Cluster{{Name: c.Name, Endpoint: c.Endpoint, CA: c.CA}})
		var mistake caller.Mistake
		if errors.As(err, &mistake) {
			return take.APIServer{}, &take.InputError{Problem: err.Error()}
		}
		d, ok := servers[c.Name]
		if err == nil && !ok {
			err = errors.New("EKS gives no certificate of its API")
		}
		return take.APIServer{Endpoint: d.Endpoint, CA: d.CA, Transport: d.Transport}, err
	}
}

// CaptureResult is what rollcall capture --json prints.
type CaptureResult struct {
	Dir     string                  `json:"dir"`
	Files   int                     `json:"files"`
	Kept    int                     `json:"kept"`
	Calls   int                     `json:"calls"`
	Masked  bool                    `json:"masked"`
	Refused map[string]take.Refusal `json:"refused"`
	LeftOut []take.LeftOut          `json:"leftOut"`
	Notes   []string                `json:"notes"`
}

func captureResult(o captureOptions, s take.Summary) CaptureResult {
	r := CaptureResult{
		Dir: o.Dir, Files: s.Files, Kept: s.Kept, Calls: s.Calls, Masked: o.Mask,
		Refused: s.Refused, LeftOut: append([]take.LeftOut{}, s.LeftOut...), Notes: append([]string{}, s.Notes...),
	}
	if r.Refused == nil {
		r.Refused = map[string]take.Refusal{}
	}
	return r
}

// shownLines bounds what is listed; the files have all of it.
const shownLines = 10

func captureWords(o captureOptions, s take.Summary, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d files in %s, %d calls, %s\n", s.Files, o.Dir, s.Calls, took.Round(100*time.Millisecond))
	if s.Kept > 0 {
		fmt.Fprintf(&b, "%d of them were there before\n", s.Kept)
	}
	var none []string
	var refused []string
	for _, name := range slices.Sorted(maps.Keys(s.Refused)) {
		r := s.Refused[name]
		if take.None(r.Code) {
			none = append(none, name)
			continue
		}
		refused = append(refused, fmt.Sprintf("%s: %s %s", name, r.Code, r.Message))
	}
	if len(none) > 0 {
		fmt.Fprintf(&b, "%d resources not found\n", len(none))
	}
	writeSome(&b, "refused (errors.json)", refused)
	var left []string
	for _, l := range s.LeftOut {
		left = append(left, l.File+": "+l.Why)
	}
	writeSome(&b, "left out (left-out.json)", left)
	fmt.Fprintf(&b, "next: %s diagnose %s\n", o.program, o.Dir)
	return b.String()
}

func writeSome(b *strings.Builder, what string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "%d %s:\n", len(lines), what)
	for _, l := range lines[:min(len(lines), shownLines)] {
		fmt.Fprintf(b, "  %s\n", l)
	}
	if over := len(lines) - shownLines; over > 0 {
		fmt.Fprintf(b, "  and %d more\n", over)
	}
}

// progress shows on a terminal how far a taking is, in one line.
type progress struct {
	to io.Writer
	on bool

	mu   sync.Mutex
	last time.Time
}

func newProgress(to io.Writer) *progress {
	p := &progress{to: to}
	if f, ok := terminalOf(to); ok {
		p.to = f
		info, err := f.Stat()
		p.on = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// redrawAfter is how often the line is written anew.
const redrawAfter = 100 * time.Millisecond

func (p *progress) show(s take.Progress) {
	if !p.on {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.last) >= redrawAfter {
		p.last = now
		fmt.Fprintf(p.to, "\r%d files, %d calls, %d refused ", s.Files, s.Calls, s.Refused)
	}
}

// end takes the line away.
func (p *progress) end() {
	if p.on {
		fmt.Fprint(p.to, "\r\033[K")
	}
}

// cleaner writes texts without what would move a terminal's cursor, change its colors or
// turn the direction of its lines: whoever may name a thing in the account, or a file in a
// capture, could write them. The command's own colors pass.
type cleaner struct {
	to io.Writer
	// raw reports whether what is written is no text for a person: JSON, which has its own
	// escapes, and the protocol of rollcall mcp.
	raw func() bool

	mu   sync.Mutex
	rest []byte // the beginning of a character
}

// Write cleans a text. A character that is not complete yet waits for the next one.
func (c *cleaner) Write(p []byte) (int, error) {
	if c.raw() {
		return c.to.Write(p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	text := append(c.rest, p...)
	whole := len(text)
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if b := text[len(text)-n]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-n:]) {
				whole -= n
			}
			break
		}
	}
	c.rest = slices.Clone(text[whole:])
	if _, err := io.WriteString(c.to, cleaned(string(text[:whole]), colored(c.to))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cleaned is a text without what a terminal takes for something to do, but for colors.
func cleaned(text string, colors bool) string {
	if !colors {
		return result.Clean(text)
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "\033[")
		b.WriteString(result.Clean(before))
		if !found {
			return b.String()
		}
		color, rest, ends := strings.Cut(after, "m")
		if ends && slices.Contains([]string{"0", result.Red, result.Green, result.Yellow, result.Blue}, color) {
			b.WriteString("\033[" + color + "m")
			text = rest
			continue
		}
		b.WriteString("�[")
		text = after
	}
}

// terminalOf is the file that a writer writes to in the end: what is drawn on it and taken
// away again is the command's own.
func terminalOf(w io.Writer) (*os.File, bool) {
	f, is := Bare(w).(*os.File)
	return f, is
}

// Bare is the writer below: what the demo writes is the command's own.
func Bare(w io.Writer) io.Writer {
	if c, is := w.(*cleaner); is {
		return c.to
	}
	return w
}

// isJSON reports whether a command line asks for what a program reads.
func isJSON(root *cobra.Command, args []string) func() bool {
	c, _, err := root.Find(args)
	if err != nil {
		return func() bool { return false }
	}
	return func() bool {
		f := c.Flags().Lookup("json")
		return c.Name() == "mcp" || f != nil && f.Value.String() == "true"
	}
}

// demoCommand stands for the command that only rollcall-stage has.
func demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo [STORY]", Short: DemoShort, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error { return subjects.ErrNeedsStage },
	}
}

// DemoShort is what the demo is, in one line.
const DemoShort = "Play stories on a simulated AWS, with the real functions"

// slackTime is how long an answer of Slack is waited for.
const slackTime = 15 * time.Second

// callerFlags are those that say who calls, and where.
func callerFlags(c *cobra.Command, o *caller.Options) {
	o.MFA = awsconf.AtTerminal(os.Stdin, os.Stderr)
	f := c.Flags()
	f.StringVar(&o.Region, "region", "", "the AWS region (default: AWS_REGION, then the profile's)")
	f.StringVar(&o.Profile, "profile", "", "the AWS profile (default: AWS_PROFILE)")
	f.StringVar(&o.Endpoint, "endpoint-url", "", "the endpoint of AWS (default: AWS_ENDPOINT_URL, then the profile's endpoint_url)")
}

// noFiles completes the names of AWS and Kubernetes with nothing: a shell offers the files
// of the folder in their place.
func noFiles(c *cobra.Command) {
	for _, name := range []string{"region", "profile", "endpoint-url", "cluster", "context", "instance", "nodegroup", "at", "subnet", "launch-template", "spoke-role", "spoke-profile"} {
		if c.Flags().Lookup(name) != nil {
			_ = c.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions) // of a flag that is there, once
		}
	}
}

// noArguments takes none.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Misuse("%s takes no arguments: unexpected %q", c.CommandPath(), args[0])
	}
	return nil
}

func doctorCommand() *cobra.Command {
	var who caller.Options
	var asJSON, test bool
	var elsewhere elsewhere
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check a deployment and suggest fixes",
		Long: `Checks a deployment of Rollcall: its functions, roles, rules, queues, table and
alarms; the Slack token, its scopes and the channels; the reader role's access to each
watched cluster; and dead letters. Each problem is listed with the command to fix it.
It is read-only.

For spokes it checks that the hub accepts their events and that they trust the hub.
With a role that you can assume in each account (--spoke-role), or a profile for it
(--spoke-profile), it also checks their roles, rules and clusters.

Exit status: 0 OK; 1 something is wrong; 2 something could not be checked; 64 bad
input.`,
		Example: `  rollcall doctor
  rollcall doctor --profile ops --region eu-central-1
  rollcall doctor --spoke-role OrganizationAccountAccessRole
  rollcall doctor --spoke-profile 222233334444=payments
  rollcall doctor --test-message`,
		Args: noArguments,
	}
	callerFlags(c, &who)
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	c.Flags().StringVar(&elsewhere.role, "spoke-role", "", "the name of a role to assume in each spoke's account")
	c.Flags().StringToStringVar(&elsewhere.profiles, "spoke-profile", nil, "ACCOUNT=PROFILE: the AWS profile for a spoke's account")
	c.Flags().BoolVar(&test, "test-message", false, "also post a test message to each channel and each target")
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
		if asJSON {
			return examined(c.Context(), list, func() error { return doctor.PrintJSON(c.OutOrStdout(), list) })
		}
		return examined(c.Context(), list, func() error { return doctor.Print(c.OutOrStdout(), list) })
	}
	return c
}

func incidentsCommand() *cobra.Command {
	var who caller.Options
	var asJSON, all bool
	var clusters []string
	c := &cobra.Command{
		Use:   "incidents",
		Short: "List the incidents of a deployment",
		Long: `Lists the incidents of a deployment of Rollcall, longest-running first. It reads the
deployment's table. An unknown cluster is an error.

Exit status: 0 none open; 1 some open; 2 could not be read; 64 bad input.`,
		Example: `  rollcall incidents
  rollcall incidents --all --cluster prod`,
		Args: noArguments,
	}
	callerFlags(c, &who)
	c.Flags().BoolVar(&asJSON, "json", false, "print them as a JSON array")
	c.Flags().BoolVar(&all, "all", false, "also list closed incidents, of the last 30 days")
	c.Flags().StringSliceVar(&clusters, "cluster", nil, "only these clusters, comma-separated")
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
		q := incidents.Query{Clusters: clusters, Closed: all}
		rows, err := incidents.List(c.Context(), records, q)
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
			err = incidents.Print(c.OutOrStdout(), rows, q, time.Now())
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
		Use: "show INCIDENT", ValidArgsFunction: cobra.NoFileCompletions,
		Short: "Show one incident of a deployment",
		Long: `Shows everything that a deployment of Rollcall has recorded about an incident: cause,
start, evidence, earlier changes and actions taken. INCIDENT is its name as rollcall
incidents prints it, or any unique substring.

Exit status: 0 closed; 1 open; 2 could not be read; 64 bad input.`,
		Example: `  rollcall show rtb-0cd20000000000002
  rollcall show --json prod:route/no-egress:rtb-0cd20000000000002`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return exit.Misuse("give one incident: rollcall incidents lists them; see %s --help", c.CommandPath())
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

func diagnoseCommand(worlds subjects.Worlds) *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "diagnose (--cluster NAME | --all-clusters | CAPTURE_DIR | WORLD.yaml)",
		Short: "Find why instances did not become nodes of their cluster",
		Long: `Explains why instances did not become nodes of their cluster. It runs the same
checks as the Lambda functions, with nothing deployed.

--cluster checks a live cluster with your own permissions, read-only. Profile,
region, endpoint and SSO work as in the AWS CLI. Kubernetes is reached at the
cluster's EKS endpoint, or with a context of your kubeconfig. Denied calls are
listed with the missing permission.

A capture is a folder of AWS CLI and kubectl output; rollcall capture takes one
with read-only permissions (docs/diagnose.md).

` + exitStatuses,
		Example: `  rollcall diagnose --cluster prod
  rollcall diagnose --cluster prod,dev --region eu-central-1 --profile ops
  rollcall diagnose --cluster prod --context prod --watch
  rollcall diagnose --instance i-0123456789abcdef0
  rollcall diagnose capture
  rollcall diagnose --json capture
  rollcall diagnose --html result.html capture
  rollcall diagnose --at 2026-11-20T15:10:00Z stage/worlds/samples.yaml`,
	}
	f := c.Flags()
	at := f.String("at", "", "stage time to look at a world or a stage, e.g. 2026-11-20T15:10:00Z (default: 12 minutes after a world starts)")
	f.StringVar(&o.html, "html", "", "also write the result to a file, as one self-contained HTML page")
	f.StringSliceVar(&o.live.Clusters, "cluster", nil, "check these clusters, comma-separated")
	f.BoolVar(&o.live.All, "all-clusters", false, "check all clusters of the region")
	f.StringVar(&o.live.Instance, "instance", "", "report only on this instance; its tags name the cluster if --cluster does not")
	f.StringVar(&o.live.Nodegroup, "nodegroup", "", "report only on this nodegroup, NodePool or Auto Scaling group")
	f.BoolVarP(&o.watch, "watch", "w", false, "check every ten seconds until all have joined, and print what changes")
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
		r, err := diagnose.Examine(c.Context(), o.input(), worlds, c.ErrOrStderr())
		if err == nil && o.html != "" {
			err = diagnose.WritePage(c.Context(), r, o.input(), worlds, o.html, c.Root().Version, c.ErrOrStderr())
		}
		return write(c.OutOrStdout(), r, o, err)
	}
	return c
}

// diagnoseLive looks at clusters that are there.
func (o options) diagnoseLive(ctx context.Context, version string, out, notes io.Writer) error {
	if o.html != "" && o.watch {
		return exit.Misuse("--html and --watch cannot be used together")
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
		if ctx.Err() != nil { // what was not read then is no finding
			return ctx.Err()
		}
		if err == nil && o.html != "" {
			err = a.WritePage(ctx, r, o.html, version, notes)
		}
		return write(out, r, o, err)
	}
	status, err := watching{
		look: look, subject: o.subject, now: a.Now, json: o.json, style: o.style(out), out: out, notes: notes,
	}.run(ctx)
	if err != nil {
		return err
	}
	return exit.Status(status)
}

// wantsLive reports whether an account is to be looked at.
func (o options) wantsLive() bool {
	return len(o.live.Clusters) > 0 || o.live.All || o.live.Instance != "" || o.live.Nodegroup != "" || o.watch || o.live.Caller.Given()
}

// checkLive says what does not go together.
func (o options) checkLive(args []string) error {
	switch {
	case len(args) > 0:
		return exit.Misuse("%s: --cluster and its flags cannot be used with a capture or a world", args[0])
	case o.live.All && len(o.live.Clusters) > 0:
		return exit.Misuse("--all-clusters and --cluster cannot be used together")
	case !o.live.All && len(o.live.Clusters) == 0 && o.live.Instance == "":
		return exit.Misuse("no cluster given: set --cluster to one or more, or --all-clusters for all of the region")
	case slices.Contains(o.live.Clusters, ""):
		return exit.Misuse("--cluster: a name is empty")
	case o.live.Instance != "" && !strings.HasPrefix(o.live.Instance, "i-"):
		return exit.Misuse("--instance %s: an instance's id begins with i-", o.live.Instance)
	}
	return nil
}
