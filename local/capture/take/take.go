// Package take takes a capture: what AWS and Kubernetes say of EKS clusters and of all
// that their nodes need to join, as files in a folder, each as the AWS CLI and kubectl
// print it. It only reads. What is asked at the same time stays within the request
// buckets of the account, so that those who work in it are not throttled.
//
// Nothing is cut without a word: an answer that is refused stands in errors.json, what
// was not asked for in left-out.json. A file is whole or not there.
package take

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/capture/mask"
	"rollcall/shared/capture"
)

// Options say what is taken, and whereto.
type Options struct {
	// Clusters are taken; all of the region, where none is named.
	Clusters []string
	// Dir is the folder: it must be empty or not there, unless Resume keeps what it has.
	Dir    string
	Resume bool
	// Mask replaces account ids, names and what looks like a secret. What is not masked
	// yet is in a folder beside Dir, and goes away when it is.
	Mask bool
	// Instances is how many instances' user data and console are taken, of those that are
	// no Ready nodes.
	Instances int
	// Now is when it is taken.
	Now time.Time
	// Progress, if any, is told of each file. It may be called by several goroutines.
	Progress func(Progress)
}

// Account is what is asked.
type Account struct {
	Config aws.Config
	// Kubernetes opens a cluster's API; the error tells why it cannot be asked.
	Kubernetes func(context.Context, Cluster) (Kubernetes, error)
}

// Progress is how far a taking is.
type Progress struct{ Files, Calls, Refused int }

// Summary is what was taken.
type Summary struct {
	Progress
	// Kept are files that were there before.
	Kept    int
	Refused map[string]Refusal
	LeftOut []LeftOut
	// Notes say what a person should know of it.
	Notes []string
}

// Refusal is an answer that a service refused, and LeftOut what was not asked for.
type (
	Refusal = capture.Refusal
	LeftOut = capture.LeftOut
)

// InputError is what whoever asked has to mend.
type InputError struct{ Problem string }

// Error is the problem, in one line.
func (e *InputError) Error() string { return e.Problem }

func wrongInput(format string, args ...any) error {
	return &InputError{fmt.Sprintf(format, args...)}
}

// unmasked is the folder beside a masked one that holds what is not masked yet.
const unmasked = ".unmasked"

// Take takes a capture. The error is an *InputError where credentials, region,
// clusters or folder are to blame; what came before it stays in the folder.
func Take(ctx context.Context, account Account, o Options) (Summary, error) {
	dir := o.Dir
	if o.Mask {
		dir += unmasked
	}
	// A masked capture has other names than the account: it cannot be gone on with.
	for _, d := range []string{o.Dir, dir} {
		if err := mustBeEmpty(d); err != nil && !(o.Resume && d == dir) {
			return Summary{}, err
		}
	}
	t, err := newTaker(account, o, dir)
	if err != nil {
		return Summary{}, err
	}
	if err := t.all(ctx); err != nil {
		return t.summary(), err
	}
	if o.Mask {
		if err := mask.Folder(dir, o.Dir); err != nil {
			return t.summary(), wrongInput("%s holds what is not masked, as masking failed: %v", dir, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			return t.summary(), wrongInput("%s holds what is not masked, and cannot be removed: %v", dir, err)
		}
	}
	return t.summary(), nil
}

// all takes everything, in three steps: what needs nothing, what needs the clusters'
// VPCs, and what needs the instances. In each step calls are made at the same time.
// Nothing is written before it is known that there is something to take.
func (t *taker) all(parent context.Context) error {
	ctx, stop := context.WithCancel(parent)
	defer stop()
	t.stop = stop
	if err := t.identify(ctx); err != nil {
		return err
	}
	if err := t.named(ctx); err != nil {
		return err
	}
	if err := t.open(); err != nil {
		return err
	}
	t.take(ctx, "sts-get-caller-identity", nil)
	clusters := t.clusters(ctx)
	each := make([]cluster, len(clusters))
	var found region
	var nodes map[string]any
	t.parallel(
		func() { found = t.account(ctx) },
		func() { nodes = t.nodes(ctx, clusters) },
		func() { t.trail(ctx) },
		func() { list(t, clusters, func(i int, name string) { each[i] = t.cluster(ctx, name) }) },
	)
	found.nodes = nodes
	found.addAll(each)
	t.parallel(
		func() { t.network(ctx, &found) },
		func() { t.autoModeLogs(ctx, found.auto) },
	)
	t.instances(ctx, &found)
	t.roles(ctx, &found)
	switch {
	case t.failed() != nil:
		return t.failed()
	case parent.Err() != nil:
		return fmt.Errorf("interrupted: --resume goes on with what is in %s: %w", t.folder.dir, parent.Err())
	}
	return t.finish()
}

// finish writes what is told of the whole.
func (t *taker) finish() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.folder.writeAll("errors", t.refused, len(t.refused) > 0); err != nil {
		return err
	}
	slices.SortFunc(t.leftOut, compareLeftOut)
	return t.folder.writeAll("left-out", t.leftOut, len(t.leftOut) > 0)
}
