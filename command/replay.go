package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"rollcall/command/caller"
	"rollcall/command/capture/mask"
	"rollcall/command/diagnose"
	"rollcall/command/doctor"
	"rollcall/command/exit"
	"rollcall/command/explain"
	"rollcall/command/incidents"
	"rollcall/command/mcp"
	"rollcall/command/preflight"
	"rollcall/command/replay"
	"rollcall/command/result"
	subjects "rollcall/command/subject"
	"rollcall/shared/awsconf"
	"rollcall/shared/evidence"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/node/text"
	"rollcall/shared/report"
	"rollcall/shared/s3"
	"rollcall/shared/spoke"
)

// replayOptions are what a person asks for.
type replayOptions struct {
	options
	who    caller.Options
	newest bool
	out    string
	mask   bool
}

func replayCommand() *cobra.Command {
	var o replayOptions
	c := &cobra.Command{
		Use:   "replay (INCIDENT | FILE.tar.gz)",
		Short: "Diagnose an incident again from what was kept of it",
		Long: `Diagnoses an incident again, with the code of this command, from the data saved when
it was found, even if the instance, the route table and the nodegroup no longer exist.
A deployment keeps this data as a capture in its bucket, for the number of days in its
setting evidence.

INCIDENT is its name as rollcall incidents prints it, or any unique substring.
FILE.tar.gz is evidence that was copied from the bucket.

It needs permission to read the deployment's table and bucket (s3:GetObject).

` + exitStatuses,
		Example: `  rollcall replay rtb-0cd20000000000002
  rollcall replay --newest --json prod:route/no-egress:rtb-0cd20000000000002
  rollcall replay --out evidence --html result.html rtb-0cd20000000000002
  rollcall replay --out evidence --mask rtb-0cd20000000000002
  rollcall replay join-check-0123456789abcdef.tar.gz`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return exit.Misuse("give one incident: rollcall incidents lists them; see %s --help", c.CommandPath())
			}
			return nil
		},
	}
	callerFlags(c, &o.who)
	commonFlags(c, &o.options)
	c.Flags().BoolVar(&o.newest, "newest", false, "use the data from when the cause was last seen, instead of when it opened")
	c.Flags().StringVarP(&o.out, "out", "o", "", "also save the data to this folder, as a capture")
	c.Flags().BoolVar(&o.mask, "mask", false, "in the folder of --out, replace account ids and names and remove what looks like a secret, as rollcall capture --mask does")
	c.Flags().StringVar(&o.html, "html", "", "also write the result to a file, as one self-contained HTML page")
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.mask && o.out == "" {
			return exit.Misuse("--mask needs --out")
		}
		data, inc, err := o.evidence(c.Context(), args[0], c.ErrOrStderr())
		if err != nil {
			return err
		}
		return o.replay(c.Context(), data, inc, c.Root().Version, c.OutOrStdout(), c.ErrOrStderr())
	}
	return c
}

// evidence is what is to be diagnosed, packed, and the incident that it is of, if it is not
// a file.
func (o replayOptions) evidence(ctx context.Context, name string, notes io.Writer) (_ []byte, inc incident.Incident, _ error) {
	if strings.HasSuffix(name, ".tar.gz") {
		data, err := packedFile(name)
		return data, inc, err
	}
	by, err := callerOf(ctx, o.who)
	if err != nil {
		return nil, inc, err
	}
	records, err := incidents.Table(ctx, by)
	if err != nil {
		return nil, inc, err
	}
	inc, err = incidents.Find(ctx, records, name)
	var several *incidents.SeveralError
	switch {
	case errors.Is(err, incidents.ErrNone), errors.As(err, &several):
		return nil, inc, &exit.MisuseError{Err: err}
	case err != nil:
		return nil, inc, fmt.Errorf("read the incident: %w", err)
	}
	bucket, err := replay.Bucket(ctx, by.AWS)
	if err != nil {
		return nil, inc, err
	}
	kept, err := replay.Find(ctx, s3.New(by.AWS), bucket, inc, o.newest)
	if err != nil {
		return nil, inc, err
	}
	if kept.Instead {
		fmt.Fprintf(notes, "note: what is wanted is not there any more: this is of another time (%s)\n", kept.Key)
	}
	return kept.Data, inc, nil
}

// packedFile reads copied evidence.
func packedFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, exit.Misuse("%s: no such file", name)
	case !info.Mode().IsRegular() || info.Size() > replay.MostPacked:
		return nil, exit.Misuse("%s: not a file of at most %d MiB", name, replay.MostPacked>>20)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, exit.Misuse("%s: %w", name, err)
	}
	return data, nil
}

// replay diagnoses evidence.
func (o replayOptions) replay(ctx context.Context, data []byte, inc incident.Incident, version string, out, notes io.Writer) error {
	dir, remove, err := o.folder()
	if err != nil {
		return err
	}
	defer remove()
	about, err := replay.Unpack(data, dir)
	var hostile *replay.Error
	if errors.As(err, &hostile) {
		return &exit.MisuseError{Err: err}
	}
	if err != nil {
		return err
	}
	if len(inc.Feedback) > 0 {
		if about, err = replay.WithFeedback(about, inc, o.mask, dir); err != nil {
			return err
		}
	}
	feedback := about.Feedback
	if o.mask {
		if err := mask.Folder(dir, filepath.Clean(o.out)); err != nil {
			return fmt.Errorf("mask what was kept: %w", err)
		}
		masked, err := replay.ReadAbout(filepath.Clean(o.out))
		if err != nil {
			return err
		}
		feedback = masked.Feedback
	}
	o.subject = dir
	r, err := diagnose.Examine(ctx, o.input(), nil, notes)
	if err == nil && o.html != "" {
		shown := o.input()
		shown.Name = subjectOf(about)
		err = diagnose.WritePage(ctx, r, shown, nil, o.html, version, notes)
	}
	if err != nil {
		return err
	}
	o.subject = subjectOf(about)
	fmt.Fprintf(notes, "note: %s\n", o.subject)
	for _, f := range feedback {
		fmt.Fprintf(notes, "note: feedback: %s, by %s at %s UTC%s\n", f.Says, f.By, f.At.UTC().Format("2006-01-02 15:04"), quoted(f.Text))
	}
	return write(out, r, o.options, nil)
}

// quoted is what a person wrote, after a colon; empty for nothing.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return ": " + strconv.Quote(text)
}

// subjectOf tells of what evidence is.
func subjectOf(a evidence.About) string {
	var found []string
	for _, c := range a.Causes {
		found = append(found, c.Check+" of "+c.Resource)
	}
	release := ""
	if a.Release != "" {
		release = " of release " + a.Release
	}
	return fmt.Sprintf("what %s%s read of %s at %s UTC, when it found %s", a.By, release, a.Cluster, a.At.UTC().Format("2006-01-02 15:04:05"), strings.Join(found, ", "))
}

// folder makes the folder into which evidence is unpacked: that of --out, which must be
// empty, or one that is removed, because there is no --out or it gets what is masked.
func (o replayOptions) folder() (dir string, remove func(), err error) {
	if o.out != "" {
		dir = filepath.Clean(o.out)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", nil, exit.Misuse("--out %s: %w", o.out, err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
			return "", nil, exit.Misuse("--out %s: not an empty folder", o.out)
		}
	}
	if o.out != "" && !o.mask {
		return dir, func() {}, nil
	}
	if dir, err = os.MkdirTemp("", "rollcall-replay-"); err != nil {
		return "", nil, fmt.Errorf("make a folder: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// elsewhere is how the accounts of spokes are looked at.
type elsewhere struct {
	role     string
	profiles map[string]string // by the account
}

// opened opens a spoke's account and region: with the caller's own credentials where it is
// the caller's account, else by a profile of it, else by a role in it.
func (e elsewhere) opened(by caller.Caller, who caller.Options) func(context.Context, spoke.ID) (doctor.Elsewhere, error) {
	return func(ctx context.Context, id spoke.ID) (doctor.Elsewhere, error) {
		cfg := by.AWS.Copy()
		cfg.Region = id.Region
		profile := e.profiles[id.Account]
		switch {
		case profile != "":
			other, err := callerOf(ctx, caller.Options{Region: id.Region, Profile: profile, Endpoint: who.Endpoint, MFA: who.MFA})
			if err != nil {
				return doctor.Elsewhere{}, fmt.Errorf("the profile %s: %w", profile, err)
			}
			if other.Account != id.Account {
				return doctor.Elsewhere{}, fmt.Errorf("the profile %s is of account %s, and --spoke-profile names it for %s", profile, other.Account, id.Account)
			}
			cfg = other.AWS
		case id.Account == by.Account:
		case e.role != "":
			cfg = awsconf.Assume(by.AWS, awsconf.Role{
				ARN: "arn:" + id.Partition() + ":iam::" + id.Account + ":role/" + e.role, Session: "rollcall-doctor", Region: id.Region,
			}, time.Now)
			if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
				return doctor.Elsewhere{}, fmt.Errorf("the role %s of account %s: %w", e.role, id.Account, err)
			}
		default:
			return doctor.Elsewhere{}, doctor.ErrNoWay
		}
		return doctor.NewElsewhere(cfg), nil
	}
}

func explainCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain TEXT|-",
		Short: "Explain an error text of AWS, Kubernetes or Karpenter",
		Long: `Matches pasted text to a check and suggests next steps. The text can be an AWS error,
a log line, or a Kubernetes condition or event. Each error is listed once, the most
specific first; errors that a later line resolves are left out. With - or without
arguments the text is read from standard input. Text longer than 64 KiB is read as a
log, line by line.

Exit status: 0 a join failure was recognized; 2 none was; 64 bad input.`,
		Example: `  rollcall explain "Could not launch Spot Instances. …"
  kubectl describe node ip-10-0-1-2.ec2.internal | rollcall explain
  journalctl -u kubelet | rollcall explain`,
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	c.RunE = func(c *cobra.Command, args []string) error {
		pasted := strings.Join(args, " ")
		if len(args) == 0 || pasted == "-" {
			piped := bufio.NewReaderSize(c.InOrStdin(), text.MaxPasted+1)
			begin, err := piped.Peek(text.MaxPasted + 1)
			switch {
			case err == nil:
				return explainLog(piped, c.OutOrStdout(), asJSON)
			case !errors.Is(err, io.EOF):
				return fmt.Errorf("read standard input: %w", err)
			}
			pasted = string(begin)
		}
		if strings.TrimSpace(pasted) == "" {
			return exit.Misuse("the text is empty; see rollcall explain --help")
		}
		p, known := explain.Point(pasted)
		if asJSON {
			if err := writeJSON(c.OutOrStdout(), p); err != nil {
				return fmt.Errorf("print the result: %w", err)
			}
		} else {
			p.Print(c.OutOrStdout())
		}
		if !known {
			return exit.Status(exit.Unsure)
		}
		return nil
	}
	return c
}

// explainLog tells what a log says.
func explainLog(in io.Reader, out io.Writer, asJSON bool) error {
	t, err := explain.ReadLog(in)
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	if asJSON {
		if err := writeJSON(out, t); err != nil {
			return fmt.Errorf("print the result: %w", err)
		}
	} else {
		t.Print(out)
	}
	if len(t.Told) == 0 {
		return exit.Status(exit.Unsure)
	}
	return nil
}

func mcpCommand(worlds subjects.Worlds) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve diagnose, preflight, explain, incidents and show to an assistant",
		Long: `Runs a Model Context Protocol server on standard input and output, with the tools
diagnose, preflight, explain, incidents and show, and the files of captures as
resources. All tools are read-only. Captures are read from one folder; clusters and
deployments with your own permissions.`,
		Example: `  claude mcp add rollcall -- rollcall mcp --dir "$HOME/captures"`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return exit.Misuse("%s takes no arguments: unexpected %q", c.CommandPath(), args[0])
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", ".", "the folder of the captures to allow")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if _, err := stageProgram(); worlds == nil && err == nil {
			return subjects.ErrNeedsStage // it serves worlds, too
		}
		return mcp.Serve(c.Context(), dir, worlds, c.Root().Version, c.InOrStdin(), c.OutOrStdout())
	}
	return c
}

func preflightCommand(worlds subjects.Worlds) *cobra.Command {
	var o options
	var asked preflight.Asked
	c := &cobra.Command{
		Use:   "preflight [CAPTURE_DIR|WORLD.yaml]",
		Short: "Check a nodegroup, launch template, NodePool or subnet before you create it",
		Long: `Checks a plan for failures before you create it: a nodegroup in the format of aws
eks create-nodegroup --cli-input-json, a launch template or its version, NodePools with
their classes, or a subnet. It is checked against the live account with your own
permissions, or against a capture or a world. Nothing is created.

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
			return exit.Misuse("%s: --region and its flags cannot be used with a capture or a world", args[0])
		}
		return subject(&o)(c, args)
	}
	c.Flags().StringVarP(&asked.File, "file", "f", "", "file with the plan, JSON or YAML")
	c.Flags().StringVar(&asked.File, "cli-input-json", "", "alias of --file, as in the AWS CLI")
	c.Flags().StringVar(&asked.Template, "launch-template", "", "launch template version to check, lt-0abc:7")
	c.Flags().StringVar(&asked.Subnets, "subnet", "", "subnet to check; with --launch-template, the subnets of its nodes")
	c.Flags().StringVar(&asked.Cluster, "cluster", "", "cluster of a plan that names none")
	commonFlags(c, &o)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if asked.None() {
			return exit.Misuse("nothing to check: give --file, --launch-template or --subnet")
		}
		asked.File = strings.TrimPrefix(asked.File, "file://") // as the AWS CLI writes it
		var r result.Result
		var err error
		if notes := c.ErrOrStderr(); o.subject == "" {
			r, err = preflight.Live(c.Context(), asked, o.account(notes), func(calls func() int) func() { return waiting(notes, "looking", calls) })
		} else {
			r, err = preflight.In(c.Context(), asked, o.input(), worlds, notes)
		}
		if c.Context().Err() != nil {
			return c.Context().Err()
		}
		return write(c.OutOrStdout(), r, o, err)
	}
	return c
}

// onTerminal reports whether what is written is read by a person as it comes.
func onTerminal(w io.Writer) bool {
	f, ok := terminalOf(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colored reports whether colors are wanted: on a terminal, unless NO_COLOR is set to
// anything (no-color.org) or the terminal has none.
func colored(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && onTerminal(w)
}

const (
	// silent is how long nothing is said of what goes on: most looks are over by then.
	silent = time.Second
	// redrawn is how often the line is written anew.
	redrawn = 200 * time.Millisecond
)

// waiting shows on a terminal that something goes on that takes more than a second:
// what it is, for how long, and how many calls were made. The returned function takes
// the line away.
func waiting(to io.Writer, what string, calls func() int) (end func()) {
	if !onTerminal(to) {
		return func() {}
	}
	f, _ := terminalOf(to)
	return show(f, what, calls, silent, redrawn)
}

// show writes the line after a while, again and again.
func show(to io.Writer, what string, calls func() int, after, every time.Duration) (end func()) {
	over, began := make(chan struct{}), time.Now()
	var done sync.WaitGroup
	done.Go(func() {
		wait := time.NewTimer(after)
		defer wait.Stop()
		written := false
		for {
			select {
			case <-over:
				if written {
					fmt.Fprint(to, "\r\033[K")
				}
				return
			case <-wait.C:
				fmt.Fprintf(to, "\r%s: %d s, %d calls ", what, int(time.Since(began).Seconds()), calls())
				written = true
				wait.Reset(every)
			}
		}
	})
	return func() {
		close(over)
		done.Wait()
	}
}

// again is how long after a look the next one begins. A look takes about sixty calls
// in two seconds; EC2 refills twenty a second of each operation, for all of the
// account and region (EC2 API reference, "Request throttling").
const again = 10 * time.Second

// watching looks again and again, and prints what changes, as kubectl get -w.
type watching struct {
	look    func(context.Context) (result.Result, []report.Launch, error)
	subject string
	now     func() time.Time
	json    bool
	style   result.Style
	out     io.Writer
	notes   io.Writer
}

// run watches until every instance has joined and nothing is wrong, or the context
// ends. It gives the status of the last look.
func (w watching) run(ctx context.Context) (int, error) {
	var last seenBefore
	status := exit.Unsure
	for first := true; ; first = false {
		r, launches, err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			if first {
				return status, ctx.Err()
			}
			return status, nil
		case err != nil && first:
			return status, err
		case err != nil:
			fmt.Fprintf(w.notes, "note: %s: this look failed: %s\n", w.clock(), err)
		default:
			status = r.Status()
			now := before(r, launches)
			if err := w.print(r, first, w.changes(last, now)); err != nil {
				return status, fmt.Errorf("print the result: %w", err)
			}
			if last = now; status == exit.Healthy && !slices.ContainsFunc(launches, pending) {
				return status, w.over()
			}
		}
		if sleep(ctx, again) != nil {
			return status, nil
		}
	}
}

// pending is a launch that may still join.
func pending(l report.Launch) bool {
	return l.Status == outcome.Waiting || l.Status == outcome.Missed || l.Status == outcome.GivenUp
}

// over says why nothing more is printed.
func (w watching) over() error {
	if w.json {
		return nil
	}
	_, err := fmt.Fprintf(w.out, "%s  %s: %s\n", w.clock(), w.subject, w.style.Paint(result.Green, "all have joined"))
	return err
}

func (w watching) clock() string { return w.now().Format(time.TimeOnly) }

// print prints the first look as a page, and of the others what has changed; as JSON
// each look that brought something, on a line.
func (w watching) print(r result.Result, first bool, changes []string) error {
	switch {
	case w.json && (first || len(changes) > 0):
		e := json.NewEncoder(w.out)
		e.SetEscapeHTML(false)
		return e.Encode(r)
	case w.json:
		return nil
	case first:
		_, err := io.WriteString(w.out, r.Words(w.subject, w.style)+"\n")
		return err
	}
	for _, c := range changes {
		if _, err := fmt.Fprintf(w.out, "%s  %s\n", w.clock(), result.Plain(c)); err != nil {
			return err
		}
	}
	return nil
}

// seenBefore is what a look found, by what is compared.
type seenBefore struct {
	incidents map[string]string
	unknown   map[string]string
	launches  map[string]report.Launch
}

func before(r result.Result, launches []report.Launch) seenBefore {
	s := seenBefore{map[string]string{}, map[string]string{}, map[string]report.Launch{}}
	for _, i := range r.Incidents {
		where := i.Cluster
		if len(i.Nodegroups) > 0 {
			where += " / " + result.Some(i.Nodegroups)
		}
		s.incidents[strings.Join([]string{i.Cluster, i.Cause, i.Resource}, "\n")] = fmt.Sprintf("%s %s · %s (%s)", r.Mark(i), where, i.Title, i.Cause)
	}
	for _, n := range r.NotChecked() {
		s.unknown[n.Reason] = "not checked: " + n.Reason + ": " + n.What
	}
	for _, l := range launches {
		s.launches[l.Instance] = l
	}
	return s
}

// changes are what is otherwise than at the last look: what is new, what is over, and
// what became of launches. The first look has none.
func (w watching) changes(last, now seenBefore) []string {
	if last.launches == nil {
		return nil
	}
	list := difference(last.incidents, now.incidents)
	list = append(list, difference(last.unknown, now.unknown)...)
	for _, id := range slices.Sorted(maps.Keys(now.launches)) {
		l, known := now.launches[id], last.launches[id].Instance != ""
		if known && last.launches[id].Status == l.Status {
			continue
		}
		list = append(list, became(l))
	}
	return list
}

// difference is what came and what went, by key; + and - as in a diff.
func difference(last, now map[string]string) []string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if _, there := last[key]; !there {
			list = append(list, "+ "+now[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(last)) {
		if _, there := now[key]; !there {
			list = append(list, "- "+last[key])
		}
	}
	return list
}

// became says how a launch stands now.
func became(l report.Launch) string {
	text := "  " + l.Instance
	if l.Nodegroup != "" {
		text += " (" + l.Nodegroup + ")"
	}
	switch l.Status {
	case outcome.Joined:
		if l.Ready.After(l.Started) {
			return text + " joined, " + l.Ready.Sub(l.Started).Round(time.Second).String() + " after its launch"
		}
		return text + " joined"
	case outcome.Gone:
		return strings.TrimSuffix(text+" ended: "+l.EndedWhy, ": ")
	case outcome.Waiting:
		return text + " was launched, and is within its join time"
	}
	return text + " has not joined in its time"
}

// sleep waits, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
