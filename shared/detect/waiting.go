package detect

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/diagnosis"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// mostWorkloads bounds what an observation carries: a message names three, and the
// observation must fit into one message of the queue.
const mostWorkloads = 60

// waiting returns the pods of a cluster that wait for a node, or on one for an address, by
// owner; nil where this look was not to read pods.
func waiting(v *check.View) *report.WaitingPods {
	if !v.Has(snapshot.WaitingPods) {
		f, failed := v.Failures[snapshot.WaitingPods]
		if !failed {
			return nil
		}
		return &report.WaitingPods{Unread: &f}
	}
	list := launchersOf(v)
	w := &report.WaitingPods{}
	for _, s := range list {
		w.Sources = append(w.Sources, s.NodeSource)
	}
	for i := range v.WaitingPods {
		if p := &v.WaitingPods[i]; waitsForNode(p) {
			work := report.WaitingWorkload{Workload: workload(p.Key(), p.Owner)}
			work.Fits, work.Unsure = fitting(list, p)
			w.Workloads = addWork(w.Workloads, work)
		}
	}
	for _, p := range v.PodsWithoutAddress() {
		w.Workloads = addWork(w.Workloads, report.WaitingWorkload{Workload: workload(p.Pod, p.Owner), On: standsOn(v, p.Instance)})
	}
	slices.SortStableFunc(w.Workloads, func(a, b report.WaitingWorkload) int { return compareWork(a.Workload, b.Workload) })
	for _, left := range w.Workloads[min(len(w.Workloads), mostWorkloads):] {
		w.More += left.Pods
	}
	w.Workloads = w.Workloads[:min(len(w.Workloads), mostWorkloads)]
	return w
}

// launcher is what launches nodes, and whether a node of it could run a pod.
type launcher struct {
	report.NodeSource
	takes func(*snapshot.WaitingPod) (takes, unsure bool)
}

func launchersOf(v *check.View) (list []launcher) {
	for _, g := range zones.ForView(v).Sources {
		list = append(list, launcher{report.NodeSource{Name: g.Name(), Group: g.Group.Name, Launches: g.Launches()}, g.Takes})
	}
	for _, p := range v.NodePools {
		if p.Deleting {
			continue
		}
		list = append(list, launcher{
			report.NodeSource{Name: p.Name, Launches: p.Replicas == nil && p.Conditions["Ready"].Status != "False"},
			func(w *snapshot.WaitingPod) (bool, bool) { return scheduling.PoolTakes(p, w), false },
		})
	}
	return list
}

// waitsForNode reports whether the scheduler finds no node for a pod. One that waits for
// its claim to be bound needs a volume, and no node.
func waitsForNode(p *snapshot.WaitingPod) bool {
	if p.Gated || p.Scheduled.Status != "False" || p.Scheduled.Reason != "Unschedulable" {
		return false
	}
	return !slices.ContainsFunc(scheduling.Obstacles(p.Scheduled.Message), func(o scheduling.Obstacle) bool { return o.Kind == scheduling.Unbound })
}

// fitting are the names of the sources whose nodes could run a pod, and of those of which
// that cannot be told.
func fitting(list []launcher, p *snapshot.WaitingPod) (fits, unsure []string) {
	certain := !needsMore(p)
	for _, s := range list {
		switch takes, open := s.takes(p); {
		case takes && certain:
			fits = append(fits, s.Name)
		case takes, open:
			unsure = append(unsure, s.Name)
		}
	}
	return Distinct(fits), Distinct(unsure)
}

// needsMore reports whether more than labels, taints, CPU and memory decides where a pod
// can run: its volume's zone, other pods, or an extended resource such as nvidia.com/gpu,
// whose names alone have a domain (kubernetes.io/docs/concepts/configuration/manage-resources-containers).
func needsMore(p *snapshot.WaitingPod) bool {
	extended := slices.ContainsFunc(p.Requests, func(a snapshot.Amounts) bool {
		for name := range a {
			if strings.Contains(name, "/") {
				return true
			}
		}
		return false
	})
	return extended || slices.ContainsFunc(scheduling.Obstacles(p.Scheduled.Message), func(o scheduling.Obstacle) bool {
		return o.Kind == scheduling.VolumeElsewhere || o.Kind == scheduling.OtherObstacle
	})
}

// standsOn are an instance and its subnet.
func standsOn(v *check.View, instance string) []string {
	i := slices.IndexFunc(v.Instances, func(i snapshot.Instance) bool { return i.ID == instance })
	if i < 0 {
		return Distinct([]string{instance})
	}
	return Distinct([]string{instance, v.Instances[i].Subnet})
}

// hashed is the name of a ReplicaSet that a Deployment made: its name, and a hash of its
// pod template in the letters of k8s.io/apimachinery pkg/util/rand (SafeEncodeString:
// "bcdfghjklmnpqrstvwxz2456789"), at most ten of them.
var hashed = regexp.MustCompile(`^(.+)-[bcdfghjklmnpqrstvwxz2456789]{7,10}$`)

// workload is one pod's owner, with one pod. That a ReplicaSet is of a Deployment is known
// by its name, so that ReplicaSets need not be read.
func workload(pod, owner string) diagnosis.Workload {
	namespace, name, _ := strings.Cut(pod, "/")
	if owner == "" {
		owner = "Pod " + name
	}
	if set, is := strings.CutPrefix(owner, "ReplicaSet "); is {
		if m := hashed.FindStringSubmatch(set); m != nil {
			owner = "Deployment " + m[1]
		}
	}
	return diagnosis.Workload{Namespace: namespace, Owner: owner, Pods: 1}
}

func addWork(list []report.WaitingWorkload, w report.WaitingWorkload) []report.WaitingWorkload {
	i := slices.IndexFunc(list, func(x report.WaitingWorkload) bool {
		return x.Namespace == w.Namespace && x.Owner == w.Owner && slices.Equal(x.Fits, w.Fits) && slices.Equal(x.Unsure, w.Unsure) && slices.Equal(x.On, w.On)
	})
	if i < 0 {
		return append(list, w)
	}
	list[i].Pods += w.Pods
	return list
}

// compareWork orders workloads: most pods first, then by name.
func compareWork(a, b diagnosis.Workload) int {
	return cmp.Or(b.Pods-a.Pods, strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Owner, b.Owner))
}

// withWorkloads returns the causes with the owners of the pods that they name.
func withWorkloads(v *check.View, causes []diagnosis.Cause) []diagnosis.Cause {
	if !v.Has(snapshot.WaitingPods) {
		return causes
	}
	owners := map[string]string{}
	for _, p := range v.WaitingPods {
		owners[p.Key()] = p.Owner
	}
	for _, p := range v.StuckPods {
		owners[p.Pod] = p.Owner
	}
	for _, p := range v.BranchWaits {
		owners[p.Pod] = p.Owner
	}
	causes = slices.Clone(causes)
	for i := range causes {
		c := &causes[i]
		c.Workloads = nil
		for _, pod := range c.Pods {
			w := workload(pod, owners[pod])
			k := slices.IndexFunc(c.Workloads, func(x diagnosis.Workload) bool { return x.Namespace == w.Namespace && x.Owner == w.Owner })
			if k < 0 {
				c.Workloads = append(c.Workloads, w)
				continue
			}
			c.Workloads[k].Pods++
		}
		slices.SortStableFunc(c.Workloads, compareWork)
	}
	return causes
}
