package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/worldfile"
)

// ErrNoKind is the answer for a kind that the cluster's API does not have,
// because nobody installed its definition.
var ErrNoKind = errors.New("the cluster does not have this kind")

// Objects is a list as the Kubernetes API keeps it.
type Objects struct {
	// ResourceVersion is the version of the whole list.
	ResourceVersion string
	// Items are the objects, each as its JSON.
	Items []json.RawMessage
}

// Clusters are the names of the clusters that have a Kubernetes API.
func (w *World) Clusters() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.kubernetes))
}

// Kubernetes lists the objects of a cluster by their plural in lower case:
// nodes, pods, persistentvolumes, persistentvolumeclaims, daemonsets,
// serviceaccounts, configmaps, events, certificatesigningrequests, eniconfigs,
// and those of Karpenter. A kind that the cluster does not have is ErrNoKind.
func (w *World) Kubernetes(clusterName, plural string) (Objects, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.kubernetes[clusterName]
	if k == nil {
		return Objects{}, fmt.Errorf("no cluster %q", clusterName)
	}
	if slices.Contains(kubestate.CustomKinds(), plural) && k.Objects[plural] == nil {
		return Objects{}, ErrNoKind
	}
	list := k.Objects[plural]
	if plural == "nodes" {
		list = nil
		for _, n := range k.Nodes.All() {
			list = append(list, *n)
		}
	}
	out := Objects{ResourceVersion: strconv.FormatInt(k.Version, 10), Items: make([]json.RawMessage, 0, len(list))}
	for _, o := range list {
		b, err := json.Marshal(o)
		if err != nil {
			return Objects{}, fmt.Errorf("write %s of %s: %w", plural, clusterName, err)
		}
		out.Items = append(out.Items, b)
	}
	return out, nil
}

// clusterOf is the cluster that an instance's tags name, empty without one.
func (w *World) clusterOf(id string) string {
	in := w.instances.Get(id)
	if in == nil {
		return ""
	}
	if name := tagValue(in.Tags, "eks:cluster-name"); name != "" {
		return name
	}
	for _, t := range in.Tags {
		if name, ok := strings.CutPrefix(aws.ToString(t.Key), "kubernetes.io/cluster/"); ok && aws.ToString(t.Value) == "owned" {
			return name
		}
	}
	return ""
}

// nodeOf is the node object of an instance, nil where it is none.
func (w *World) nodeOf(id string) (*kubestate.Cluster, *map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(w.kubernetes)) {
		k := w.kubernetes[name]
		if n := k.Nodes.Get(id); n != nil {
			return k, n
		}
	}
	return nil, nil
}

// registerLater has a running instance try to join once it has booted.
func (w *World) registerLater(id string) {
	in := w.instances.Get(id)
	if in == nil || w.kubernetes[w.clusterOf(id)] == nil {
		return
	}
	if g := w.groupOf(id); g != nil && w.warmMember(g, id) != nil {
		return
	}
	at := in.LaunchTime.Add(time.Duration(w.file.Nodes.BootSeconds)*time.Second + w.bootSpread(id))
	w.after(at.Sub(w.now), func() { w.register(id) })
}

// bootSpread is how much longer than the fastest a node boots: no two do it in
// the same time.
func (w *World) bootSpread(id string) time.Duration {
	return time.Duration(w.file.Nodes.BootSpreadSeconds*ids.Chance(id)) * time.Second
}

// register makes the Node object if the instance can reach what it needs.
func (w *World) register(id string) {
	in := w.instances.Get(id)
	k := w.kubernetes[w.clusterOf(id)]
	if in == nil || k == nil || in.State.Name != ec2types.InstanceStateNameRunning {
		return
	}
	if _, n := w.nodeOf(id); n != nil {
		return
	}
	e := w.exceptionFor(w.groupOf(id), id)
	if e != nil && e.NeverRegisters {
		return
	}
	if _, bad := broken(w.paths(id)); bad {
		if w.file.Nodes.Retry {
			w.after(joinRetryTime, func() { w.register(id) })
		}
		return
	}
	node := w.nodeObject(in)
	w.putNode(k, in, node)
	k.Tell(node, "node-controller", "RegisteredNode", fmt.Sprintf("Node %v event: Registered Node %[1]v in Controller", nodeName(in)), w.now)
	w.after(time.Duration(w.file.Nodes.ReadySeconds)*time.Second, func() { w.ready(id) })
}

// joinRetryTime is how long a bootstrap that tries again waits.
const joinRetryTime = 30 * time.Second

// ready starts the VPC CNI on a registered node; the node is Ready when the
// CNI has an address for pods.
func (w *World) ready(id string) {
	in := w.instances.Get(id)
	k, n := w.nodeOf(id)
	if in == nil || n == nil || ended(in) {
		return
	}
	if e := w.exceptionFor(w.groupOf(id), id); e != nil && e.NeverReady != nil {
		kubestate.SetReady(*n, false, e.NeverReady.Reason, e.NeverReady.Message, w.now)
		k.Touch(*n)
		return
	}
	if !w.startCNI(k, in) {
		kubestate.SetReady(*n, false, "KubeletNotReady", cniMissing, w.now)
		k.Touch(*n)
		if !isAutoMode(in) { // whose plugin is no pod
			k.CNICrashes(in, *n, w.now)
		}
		w.after(joinRetryTime, func() { w.ready(id) })
		return
	}
	k.CNIRuns(*n, w.now)
	w.placePods(k, in, *n)
	kubestate.SetReady(*n, true, "KubeletReady", "kubelet is posting ready status", w.now)
	k.Touch(*n)
	k.Tell(*n, "kubelet", "NodeReady", fmt.Sprintf("Node %s status is now: NodeReady", nodeName(in)), w.now)
	w.nodeJoined(id)
	w.schedule(k)
}

// cniMissing is the kubelet's message while there is no CNI configuration.
const cniMissing = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"

// nodeJoined is EKS seeing the node Ready: it completes the launch hook.
func (w *World) nodeJoined(id string) {
	g := w.groupOf(id)
	if g == nil {
		return
	}
	if wait := g.waits[id]; wait != nil && wait.hook == launchHook {
		w.completeHook(g, id, "CONTINUE")
	}
	if ng := w.nodegroupOf(id); ng != nil {
		w.nodegroupJoined(ng, id)
	}
}

func (w *World) putNode(k *kubestate.Cluster, in *ec2types.Instance, node map[string]any) {
	k.Nodes.Put(aws.ToString(in.InstanceId), &node)
	k.Touch(node)
}

// removeNode takes the Node object of an ended instance away, as the cloud
// controller does.
func (w *World) removeNode(id string) {
	if k, n := w.nodeOf(id); n != nil {
		k.DropCNIPod(*n)
		w.dropPods(k, *n)
		w.dropSetPods(k, *n)
		k.Nodes.Remove(id)
		k.Version++
		w.schedule(k)
	}
}

// exceptionFor is the fate that the world wrote for a group's instance, nil
// where it is an ordinary one.
func (w *World) exceptionFor(g *group, id string) *worldfile.NodeException {
	if g == nil {
		return nil
	}
	for i := range w.file.Nodes.Exceptions {
		e := &w.file.Nodes.Exceptions[i]
		if e.AutoScalingGroup != "" && e.AutoScalingGroup != g.name() {
			continue
		}
		if e.Nodegroup != "" && e.Nodegroup != g.tag("eks:nodegroup-name") {
			continue
		}
		if e.Times == 0 || slices.Index(g.launched, id) < e.Times {
			return e
		}
	}
	return nil
}
