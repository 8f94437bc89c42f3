// Package source says what one source of a snapshot is: one value that holds
// its name, what must be read before it, the calls that it takes with the
// resources that they can be narrowed to, its rights in a cluster, and how it
// is read. What to read in which order, which permission and which rule of the
// ClusterRole a function gets follow from these values; there are no other
// lists.
package source

import (
	"context"
	"strings"

	"rollcall/shared/spec"

	"rollcall/shared/snapshot"
)

// Source is one thing that can be looked at, with one or a few calls.
type Source struct {
	Name snapshot.Source
	// Needs are the sources that name what is read of this one: whoever asks
	// for it gets them too, read before.
	Needs []snapshot.Source
	// After are sources that tell more of what to read here: they are read
	// before where somebody asks for them, and not brought along. A function may
	// have no rights in the cluster.
	After []snapshot.Source
	// Calls are those of AWS, the first one that is made first: a failure that
	// does not say which call it was is of that one.
	Calls []Call
	// Kube are the rights in the cluster, likewise.
	Kube []spec.KubeRule
	// Patience is how many times as long as another source this one may take;
	// 0 is once.
	Patience int
	// Read reads it. It is nil for what a query brings: the cluster, and the
	// instances and groups in which somebody took an interest.
	Read Read
}

// Read reads a source, and returns how to keep what was read. While it runs,
// others do, and nobody changes the snapshot.
type Read func(context.Context, *View) (Store, error)

// Store puts what was read into the snapshot.
type Store func(*snapshot.Snapshot)

// Call is one call of AWS, as IAM names it: "ec2:DescribeSubnets". The names
// are written out, for a function that found them in the interfaces by
// reflection would carry every method of every SDK client (docs/measured.md
// has both sizes); a test holds that they are the calls that are made.
type Call struct {
	Action string
	// Resources are the forms that the call can be narrowed to (Service
	// Authorization Reference); nil where it takes none. Most describe calls of
	// EC2 and Auto Scaling take none.
	Resources []string
}

// Call names the permission of a source's first call, or its request to
// Kubernetes.
func (s Source) Call() string {
	switch {
	case len(s.Calls) > 0:
		return s.Calls[0].Action
	case len(s.Kube) > 0:
		return Request(s.Kube[0])
	}
	return ""
}

// Actions are the permissions of the calls; none for Kubernetes.
func (s Source) Actions() []string {
	var actions []string
	for _, c := range s.Calls {
		actions = append(actions, c.Action)
	}
	return actions
}

// ReadFrom reads the source.
func (s Source) ReadFrom(ctx context.Context, v View) (Store, error) {
	v.Source = s
	return s.Read(ctx, &v)
}

// OfKubernetes tells the sources that are read of the Kubernetes API.
func (s Source) OfKubernetes() bool { return len(s.Kube) > 0 }

// Request is what a right in the cluster lets one ask for, as a failure names
// it: "kubernetes: get configmap aws-auth in kube-system".
func Request(r spec.KubeRule) string {
	what := r.Resources[0]
	if len(r.Names) > 0 {
		what = strings.TrimSuffix(what, "s") + " " + r.Names[0]
	}
	if r.Namespace != "" {
		what += " in " + r.Namespace
	}
	return "kubernetes: " + r.Verbs[0] + " " + what
}
