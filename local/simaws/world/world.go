package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"rollcall/local/simaws/autoscaling"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/ec2"
	"rollcall/local/simaws/eks"
	"rollcall/local/simaws/iam"
	"rollcall/local/simaws/kubernetes"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/logs"
	"rollcall/local/simaws/reach"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/sts"
	"rollcall/local/simaws/trail"
	"rollcall/local/simaws/worldfile"
)

// Options are what a world needs from outside.
type Options struct {
	// Seed decides the ids of new resources.
	Seed uint64
	// Events gets every event that the account would put on its default bus,
	// in order, one at a time. It may call the world's API, but not Advance.
	// Nil drops the events.
	Events func(json.RawMessage)
	// Log gets what happens without a caller to tell, such as a timeline call
	// that was refused. Nil drops it.
	Log *slog.Logger
}

// World is the account. All methods may be called at the same time.
type World struct{ *state.State }

// EC2 is the world's EC2 API.
func (w *World) EC2() ec2.API { return ec2.New(w.State) }

// AutoScaling is the world's Auto Scaling API.
func (w *World) AutoScaling() autoscaling.API { return autoscaling.New(w.State) }

// EKS is the world's EKS API.
func (w *World) EKS() eks.API { return eks.New(w.State) }

// IAM is the world's IAM API.
func (w *World) IAM() iam.API { return iam.New(w.State) }

// STS is the world's STS API.
func (w *World) STS() sts.API { return sts.New(w.State) }

// CloudTrail is the world's CloudTrail API.
func (w *World) CloudTrail() trail.API { return trail.New(w.State) }

// The types of the services' APIs are all called API: to embed them side by side
// takes names that differ.
type (
	ec2API         = ec2.API
	autoScalingAPI = autoscaling.API
	eksAPI         = eks.API
	iamAPI         = iam.API
	stsAPI         = sts.API
	logsAPI        = logs.API
)

// API is what EC2, Auto Scaling, EKS, IAM, STS, CloudWatch Logs, Route 53, its Resolver
// and Profiles, and ARC zonal shift answer, as one value that has each operation as a method of its name: no two share one.
type API struct {
	ec2API
	autoScalingAPI
	eksAPI
	iamAPI
	stsAPI
	logsAPI
	route53API
	resolverAPI
	profilesAPI
	zonalShiftAPI
}

// API is the world's API.
func (w *World) API() API {
	return API{w.EC2(), w.AutoScaling(), w.EKS(), w.IAM(), w.STS(), logs.New(w.State), route53API{w.State}, resolverAPI{w.State}, profilesAPI{w.State}, zonalShiftAPI{w.State}}
}

// Now is the stage time.
func (w *World) Now() time.Time {
	defer w.Hold()()
	return w.State.Now
}

// Start is the stage time at which the world began.
func (w *World) Start() time.Time { return w.State.Start }

// Account is the account's id.
func (w *World) Account() string { return w.State.Account }

// Region is the account's only region.
func (w *World) Region() string { return w.State.Region }

// Faults are the file's faults, for the servers that enforce them.
func (w *World) Faults() []worldfile.Fault { return deepcopy.Of(w.File.Faults) }

// Expect is the file's truth about the world.
func (w *World) Expect() worldfile.Expect { return deepcopy.Of(w.File.Expect) }

// Paths is how an instance reaches what it needs to become a node of its
// cluster, in a fixed order. It is empty for an instance without a cluster.
func (w *World) Paths(instance string) []reach.Path {
	defer w.Hold()()
	return reach.Paths(w.State, instance)
}

// Record keeps a call that changes something, and puts it on the bus some time
// later, as CloudTrail does.
func (w *World) Record(c trail.Call) { trail.Record(w.State, c) }

// Clusters are the names of the clusters that have a Kubernetes API.
func (w *World) Clusters() []string {
	defer w.Hold()()
	return slices.Sorted(maps.Keys(w.State.Kubernetes))
}

// Kubernetes lists the objects of a cluster by their plural in lower case:
// nodes, pods, persistentvolumes, persistentvolumeclaims, daemonsets,
// serviceaccounts, configmaps, events, certificatesigningrequests, eniconfigs,
// and those of Karpenter. A kind that the cluster does not have is ErrNoKind.
func (w *World) Kubernetes(cluster, plural string) (kubestate.List, error) {
	defer w.Hold()()
	k := w.State.Kubernetes[cluster]
	if k == nil {
		return kubestate.List{}, fmt.Errorf("no cluster %q", cluster)
	}
	return k.List(plural)
}

// Serve tells the world where a cluster's API is served: nodes are started
// with that endpoint and authority, and DescribeCluster answers with them.
func (w *World) Serve(cluster, endpoint string, ca []byte) {
	eks.Serve(w.State, cluster, endpoint, ca)
}

// KnowRoles makes the ids of roles known that are not the world's own: those of stacks in
// its account.
func (w *World) KnowRoles(id func(arn string) (string, bool)) {
	defer w.Hold()()
	w.RoleID = id
}

// EntryAdmits reports whether a cluster admits a principal by its access entry.
func (w *World) EntryAdmits(cluster, principal string) bool {
	defer w.Hold()()
	a := w.AccessEntries.Get(state.NodegroupKey(cluster, principal))
	return a != nil && w.Admits(a)
}

// Change gives a nodegroup or an add-on a status now, as EKS does for reasons
// of its own. At is not looked at.
func (w *World) Change(c worldfile.EKSChange) error { return eks.Change(w.State, c) }

// FailNextUpdate makes the next update of a nodegroup or an add-on fail.
func (w *World) FailNextUpdate(f worldfile.UpdateFault) { eks.FailNextUpdate(w.State, f) }

// Patch changes an object of a cluster as kubectl patch --type merge does; a kind
// without namespaces has none.
func (w *World) Patch(cluster, plural, namespace, name string, patch map[string]any) error {
	defer w.Enter()()
	k := w.State.Kubernetes[cluster]
	if k == nil {
		return fmt.Errorf("no cluster %q", cluster)
	}
	return k.Patch(plural, namespace, name, patch)
}

// Apply puts a StatefulSet into a cluster, as kubectl apply does.
func (w *World) Apply(cluster string, set worldfile.SetFile) error {
	defer w.Enter()()
	k := w.State.Kubernetes[cluster]
	if k == nil {
		return fmt.Errorf("no cluster %q", cluster)
	}
	return kubernetes.AddSet(w.State, k, set)
}

// AttachControlPolicies has the account's service control policies be these, beside
// FullAWSAccess: what the organisation does in its management account.
func (w *World) AttachControlPolicies(list ...worldfile.ControlPolicy) {
	defer w.Enter()()
	w.ControlPolicies = list
}

func (w *World) enterTimeline(entries []worldfile.TimelineEntry) error {
	var errs []error
	for _, e := range entries {
		in, err := e.Input()
		if err == nil {
			err = w.checkCall(e.Call, in)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("timeline at %s: %w", e.At, err))
			continue
		}
		w.CallAt(w.State.Start.Add(e.At), func() {
			if _, err := w.callBy(e.By, e.Call, in); err != nil {
				w.Log.Warn("timeline call refused", "call", e.Call, "at", e.At.String(), "error", err)
			}
		})
	}
	return errors.Join(errs...)
}
