package lifecycle

import (
	"fmt"
	"slices"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/kubernetes"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/nodegroup"
	"rollcall/local/simaws/reach"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// registerLater has a running instance try to join once it has booted.
func registerLater(w *state.State, id string) {
	in := w.Instances.Get(id)
	if in == nil || w.Kubernetes[w.ClusterOf(id)] == nil {
		return
	}
	if g := w.GroupOf(id); g != nil && warmMember(w, g, id) != nil {
		return
	}
	at := in.LaunchTime.Add(time.Duration(w.File.Nodes.BootSeconds)*time.Second + bootSpread(w, id))
	w.After(at.Sub(w.Now), func() { register(w, id) })
}

// bootSpread is how much longer than the fastest a node boots: no two do it in
// the same time.
func bootSpread(w *state.State, id string) time.Duration {
	return time.Duration(w.File.Nodes.BootSpreadSeconds*ids.Chance(id)) * time.Second
}

// register makes the Node object if the instance can reach what it needs.
func register(w *state.State, id string) {
	in := w.Instances.Get(id)
	k := w.Kubernetes[w.ClusterOf(id)]
	if in == nil || k == nil || in.State.Name != ec2types.InstanceStateNameRunning {
		return
	}
	if _, n := w.NodeOf(id); n != nil {
		return
	}
	e := exceptionFor(w, w.GroupOf(id), id)
	if e != nil && e.NeverRegisters {
		return
	}
	if _, bad := reach.Broken(reach.Paths(w, id)); bad || reach.BootFaultOf(w, in) != "" {
		if w.File.Nodes.Retry {
			w.After(joinRetryTime, func() { register(w, id) })
		}
		return
	}
	node := kubernetes.NodeObject(w, in)
	kubernetes.PutNode(w, k, in, node)
	k.Tell(node, "node-controller", "RegisteredNode", fmt.Sprintf("Node %v event: Registered Node %[1]v in Controller", state.NodeName(in)), w.Now)
	w.After(time.Duration(w.File.Nodes.ReadySeconds)*time.Second, func() { ready(w, id) })
}

// joinRetryTime is how long a bootstrap that tries again waits.
const joinRetryTime = 30 * time.Second

// ready starts the VPC CNI on a registered node; the node is Ready when the
// CNI has an address for pods.
func ready(w *state.State, id string) {
	in := w.Instances.Get(id)
	k, n := w.NodeOf(id)
	if in == nil || n == nil || state.Ended(in) {
		return
	}
	if e := exceptionFor(w, w.GroupOf(id), id); e != nil && e.NeverReady != nil {
		kubestate.SetReady(*n, false, e.NeverReady.Reason, e.NeverReady.Message, w.Now)
		k.Touch(*n)
		return
	}
	if !kubernetes.StartCNI(w, k, in) {
		kubestate.SetReady(*n, false, "KubeletNotReady", kubernetes.CNIMissing, w.Now)
		k.Touch(*n)
		if !state.IsAutoMode(in) { // whose plugin is no pod
			k.CNICrashes(in, *n, w.Now)
		}
		w.After(joinRetryTime, func() { ready(w, id) })
		return
	}
	k.CNIRuns(*n, w.Now)
	kubernetes.PlacePods(w, k, in, *n)
	kubestate.SetReady(*n, true, "KubeletReady", "kubelet is posting ready status", w.Now)
	k.Touch(*n)
	k.Tell(*n, "kubelet", "NodeReady", fmt.Sprintf("Node %s status is now: NodeReady", state.NodeName(in)), w.Now)
	nodeJoined(w, id)
	kubernetes.Schedule(w, k)
}

// nodeJoined is EKS seeing the node Ready: it completes the launch hook.
func nodeJoined(w *state.State, id string) {
	g := w.GroupOf(id)
	if g == nil {
		return
	}
	if wait := g.Waits[id]; wait != nil && wait.Hook == LaunchHook {
		CompleteHook(w, g, id, "CONTINUE")
	}
	if ng := w.NodegroupOf(id); ng != nil {
		nodegroup.Joined(w, ng, id)
	}
}

// exceptionFor is the fate that the world wrote for a group's instance, nil
// where it is an ordinary one.
func exceptionFor(w *state.State, g *state.Group, id string) *worldfile.NodeException {
	if g == nil {
		return nil
	}
	for i := range w.File.Nodes.Exceptions {
		e := &w.File.Nodes.Exceptions[i]
		if e.AutoScalingGroup != "" && e.AutoScalingGroup != g.Name() {
			continue
		}
		if e.Nodegroup != "" && e.Nodegroup != g.Tag("eks:nodegroup-name") {
			continue
		}
		if e.Times == 0 || slices.Index(g.Launched, id) < e.Times {
			return e
		}
	}
	return nil
}
