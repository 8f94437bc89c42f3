package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"rollcall/local/caller"
	"rollcall/local/capture/take"
	"rollcall/local/exit"
	"rollcall/shared/awsconf"
	"rollcall/shared/snapshot"
)

// defaultInstances is how many consoles are read: more than a person looks at, and few
// enough for EC2's bucket.
const defaultInstances = 50

// kubeconfigFlags are those of who asks Kubernetes.
func kubeconfigFlags(c *cobra.Command, o *caller.Options) {
	f := c.Flags()
	f.StringVar(&o.Context, "context", "", "reach Kubernetes by this context of the kubeconfig")
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "the kubeconfig, in place of KUBECONFIG and ~/.kube/config; its current context counts without --context")
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
		Long: `Takes a capture: what AWS and Kubernetes say of clusters and of all that their
nodes need to join, as files in a folder, each as the AWS CLI and kubectl print
it. It only reads. rollcall diagnose looks at it, on any machine.

Credentials, profiles, SSO, roles and endpoints are the AWS CLI's. Kubernetes is
asked with a token of EKS, or with a context of your kubeconfig (--context). What
is refused is written to errors.json and the rest still taken; what was not asked
for is in left-out.json.

User data and consoles can hold secrets: the folder is for your eyes only.

Exit status: 0 taken; 2 AWS could not be asked, or not to the end; 64 bad input.`,
		Example: `  rollcall capture --cluster prod --region us-west-2 --out capture
  rollcall capture --cluster prod,dev --profile staging --mask
  rollcall capture --cluster prod --out capture --resume`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return exit.Misuse("what is %q? --cluster names a cluster, --out a folder", args[0])
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.Clusters, "cluster", nil, "a cluster, or several with commas; may be given again (default: all of the region)")
	f.StringVarP(&o.Dir, "out", "o", "", "the folder to write (default: rollcall-capture-<time>)")
	callerFlags(c, &o.caller)
	kubeconfigFlags(c, &o.caller)
	f.IntVar(&o.Instances, "instances", defaultInstances, "console and user data of at most so many instances that are no Ready nodes")
	f.BoolVar(&o.Mask, "mask", false, "replace account ids and names, the same ones by the same words, and remove what looks like a secret")
	f.BoolVar(&o.Resume, "resume", false, "go on with what an earlier run has left in the folder")
	f.BoolVar(&o.json, "json", false, "print what was taken as one JSON object")
	c.RunE = func(c *cobra.Command, _ []string) error {
		switch {
		case o.caller.Context+o.caller.Kubeconfig != "" && len(o.Clusters) != 1:
			return exit.Misuse("--context and --kubeconfig go with one --cluster")
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
// taking: somebody asked for it.
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
		fmt.Fprintf(&b, "%d of what was asked for is not there\n", len(none))
	}
	writeSome(&b, "refused (errors.json)", refused)
	var left []string
	for _, l := range s.LeftOut {
		left = append(left, l.File+": "+l.Why)
	}
	writeSome(&b, "left out (left-out.json)", left)
	fmt.Fprintf(&b, "diagnose them: %s diagnose %s\n", o.program, o.Dir)
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
