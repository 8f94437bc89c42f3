package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"rollcall/local/caller"
	"rollcall/local/capture/mask"
	"rollcall/local/diagnose"
	"rollcall/local/exit"
	"rollcall/local/incidents"
	"rollcall/local/replay"
	"rollcall/shared/evidence"
	"rollcall/shared/s3"
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
		Long: `Diagnoses an incident again, by the code of this command, from what a function had
read when it found it: also when the instance, the route table and the nodegroup are
gone. A deployment keeps that as a capture in its bucket, for as many days as its
setting evidence says.

INCIDENT is its name as rollcall incidents prints it, or a part that no other has.
FILE.tar.gz is evidence that was copied from the bucket.

It takes the right to read the deployment's table and bucket (s3:GetObject).

` + exitStatuses,
		Example: `  rollcall replay rtb-0cd20000000000002
  rollcall replay --newest --json prod:route/no-egress:rtb-0cd20000000000002
  rollcall replay --out evidence --html result.html rtb-0cd20000000000002
  rollcall replay --out evidence --mask rtb-0cd20000000000002
  rollcall replay join-check-0123456789abcdef.tar.gz`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return exit.Misuse("which incident? rollcall incidents lists them; %s --help tells more", c.CommandPath())
			}
			return nil
		},
	}
	callerFlags(c, &o.who)
	commonFlags(c, &o.options)
	c.Flags().BoolVar(&o.newest, "newest", false, "from when its cause was last seen, in place of when it opened")
	c.Flags().StringVarP(&o.out, "out", "o", "", "also leave what was kept in this folder, as a capture")
	c.Flags().BoolVar(&o.mask, "mask", false, "in the folder of --out, replace account ids and names and remove what looks like a secret, as rollcall capture --mask does")
	c.Flags().StringVar(&o.html, "html", "", "also write the result into a file, as one HTML page that needs nothing else")
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.mask && o.out == "" {
			return exit.Misuse("--mask masks the folder of --out, which is not given")
		}
		data, err := o.evidence(c.Context(), args[0], c.ErrOrStderr())
		if err != nil {
			return err
		}
		return o.replay(c.Context(), data, c.Root().Version, c.OutOrStdout(), c.ErrOrStderr())
	}
	return c
}

// evidence is what is to be diagnosed, packed.
func (o replayOptions) evidence(ctx context.Context, name string, notes io.Writer) ([]byte, error) {
	if strings.HasSuffix(name, ".tar.gz") {
		return packedFile(name)
	}
	by, err := callerOf(ctx, o.who)
	if err != nil {
		return nil, err
	}
	records, err := incidents.Table(ctx, by)
	if err != nil {
		return nil, err
	}
	inc, err := incidents.Find(ctx, records, name)
	var several *incidents.SeveralError
	switch {
	case errors.Is(err, incidents.ErrNone), errors.As(err, &several):
		return nil, &exit.MisuseError{Err: err}
	case err != nil:
		return nil, fmt.Errorf("read the incident: %w", err)
	}
	bucket, err := replay.Bucket(ctx, by.AWS)
	if err != nil {
		return nil, err
	}
	kept, err := replay.Find(ctx, s3.New(by.AWS), bucket, inc, o.newest)
	if err != nil {
		return nil, err
	}
	if kept.Instead {
		fmt.Fprintf(notes, "note: what is wanted is not there any more: this is of another time (%s)\n", kept.Key)
	}
	return kept.Data, nil
}

// packedFile reads evidence that somebody has copied.
func packedFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, exit.Misuse("%s: there is no such file", name)
	case !info.Mode().IsRegular() || info.Size() > replay.MostPacked:
		return nil, exit.Misuse("%s: it is no file of at most %d MiB", name, replay.MostPacked>>20)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, exit.Misuse("%s: %w", name, err)
	}
	return data, nil
}

// replay diagnoses evidence.
func (o replayOptions) replay(ctx context.Context, data []byte, version string, out, notes io.Writer) error {
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
	if o.mask {
		if err := mask.Folder(dir, filepath.Clean(o.out)); err != nil {
			return fmt.Errorf("mask what was kept: %w", err)
		}
	}
	o.subject = dir
	r, err := diagnose.Examine(ctx, o.input(), notes)
	if err == nil && o.html != "" {
		err = diagnose.WritePage(ctx, r, o.input(), o.html, version, notes)
	}
	if err != nil {
		return err
	}
	o.subject = subjectOf(about)
	fmt.Fprintf(notes, "note: %s\n", o.subject)
	return write(out, r, o.options, nil)
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
			return "", nil, exit.Misuse("--out %s: it is not an empty folder", o.out)
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
