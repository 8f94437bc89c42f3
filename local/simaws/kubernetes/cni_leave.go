package kubernetes

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
)

// LeaveBehind has a node that ends leave its further interfaces available, if
// that is its fate.
func LeaveBehind(w *state.State, id string) {
	if _, n := w.NodeOf(id); n == nil {
		return // ipamd ran on nodes only
	}
	g := w.GroupOf(id)
	for _, l := range w.File.CNI.Leaves {
		if l.AutoScalingGroup != "" && (g == nil || g.Name() != l.AutoScalingGroup) ||
			l.Nodegroup != "" && (g == nil || g.Tag("eks:nodegroup-name") != l.Nodegroup) {
			continue
		}
		if ids.Chance("leave", id) >= l.Share {
			return
		}
		for i, eni := range w.InterfacesOf(id) {
			if i > 0 {
				w.Detach(eni)
			}
		}
		return
	}
}

// attachLater has ipamd attach what it created. A node that ends meanwhile
// leaves it behind; one whose interface somebody deleted asks for another.
func attachLater(w *state.State, k *kubestate.Cluster, eni *ec2types.NetworkInterface, instance string, index int) {
	id := aws.ToString(eni.NetworkInterfaceId)
	w.Attaching[instance] = append(w.Attaching[instance], id)
	w.After(time.Duration(w.File.CNI.AttachSeconds*float64(time.Second)), func() {
		w.Attaching[instance] = slices.DeleteFunc(w.Attaching[instance], func(s string) bool { return s == id })
		if len(w.Attaching[instance]) == 0 {
			delete(w.Attaching, instance)
		}
		in := w.Instances.Get(instance)
		if in == nil || state.Ended(in) {
			return
		}
		if w.Interfaces.Get(id) == nil {
			refillLater(w, k, instance)
			return
		}
		w.Attach(eni, instance, int32(index), true)
		wakePods(w, k, in)
	})
}

// heldBy are the interfaces on an instance, and behind them those that ipamd
// is about to attach to it.
func heldBy(w *state.State, instance string) []*ec2types.NetworkInterface {
	list := w.InterfacesOf(instance)
	for _, id := range w.Attaching[instance] {
		if eni := w.Interfaces.Get(id); eni != nil {
			list = append(list, eni)
		}
	}
	return list
}
