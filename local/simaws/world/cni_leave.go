package world

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/kubestate"
)

// leaveBehind has a node that ends leave its further interfaces available, if
// that is its fate.
func (w *World) leaveBehind(id string) {
	if _, n := w.nodeOf(id); n == nil {
		return // ipamd ran on nodes only
	}
	g := w.groupOf(id)
	for _, l := range w.file.CNI.Leaves {
		if l.AutoScalingGroup != "" && (g == nil || g.name() != l.AutoScalingGroup) ||
			l.Nodegroup != "" && (g == nil || g.tag("eks:nodegroup-name") != l.Nodegroup) {
			continue
		}
		if ids.Chance("leave", id) >= l.Share {
			return
		}
		for i, eni := range w.interfacesOf(id) {
			if i > 0 {
				w.detach(eni)
			}
		}
		return
	}
}

// attachLater has ipamd attach what it created. A node that ends meanwhile
// leaves it behind; one whose interface somebody deleted asks for another.
func (w *World) attachLater(k *kubestate.Cluster, eni *ec2types.NetworkInterface, instance string, index int) {
	id := aws.ToString(eni.NetworkInterfaceId)
	w.attaching[instance] = append(w.attaching[instance], id)
	w.after(time.Duration(w.file.CNI.AttachSeconds*float64(time.Second)), func() {
		w.attaching[instance] = slices.DeleteFunc(w.attaching[instance], func(s string) bool { return s == id })
		if len(w.attaching[instance]) == 0 {
			delete(w.attaching, instance)
		}
		in := w.instances.Get(instance)
		if in == nil || ended(in) {
			return
		}
		if w.interfaces.Get(id) == nil {
			w.refillLater(k, instance)
			return
		}
		w.attach(eni, instance, int32(index), true)
		w.wakePods(k, in)
	})
}

// heldBy are the interfaces on an instance, and behind them those that ipamd
// is about to attach to it.
func (w *World) heldBy(instance string) []*ec2types.NetworkInterface {
	list := w.interfacesOf(instance)
	for _, id := range w.attaching[instance] {
		if eni := w.interfaces.Get(id); eni != nil {
			list = append(list, eni)
		}
	}
	return list
}
