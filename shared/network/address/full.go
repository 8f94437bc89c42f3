package address

import "rollcall/shared/snapshot"

const (
	// fewPods and manyPods are the most pods that EKS advises for a node, with
	// fewer than manyCPUs virtual CPUs and else (EKS user guide, "Choose an
	// optimal Amazon EC2 node instance type"; managed nodegroups set them).
	fewPods  = 110
	manyPods = 250
	manyCPUs = 30
	// hostPods are aws-node and kube-proxy, which have the host's address. The
	// plugin's table of max pods adds them (amazon-vpc-cni-k8s,
	// misc/eni-max-pods.txt).
	hostPods = 2
)

// Pods is the most pods that a node of a type has addresses for, those that
// use the host's address among them.
func (s Settings) Pods(t snapshot.InstanceType) int {
	r := s.rack(t)
	return r.interfaces*r.slots*r.size + hostPods
}

// Full is the demand of one node of a type that pods fill. The plugin takes no
// more once it has an address for each pod that the kubelet allows (ipamd,
// isDatastorePoolTooLow): MaxPods where it is set, else what the type has
// addresses for, and with prefixes what EKS advises. A type whose CPUs are not
// known counts as a small one.
//
// Trunk and branch interfaces (ENABLE_POD_ENI) are not counted, nor further
// network cards.
func (s Settings) Full(t snapshot.InstanceType) Demand {
	if s.IPv6 {
		return Demand{Own: 1, First: 1}
	}
	r := s.rack(t)
	pods := s.MaxPods
	if pods <= 0 && r.size == prefix {
		pods = fewPods
		if t.CPUs >= manyCPUs {
			pods = manyPods
		}
	}
	most := r.interfaces * r.slots
	switch {
	case pods <= 0:
		return s.place(r.whole(r.interfaces))
	case r.size == prefix:
		return s.place(r.filled(min(most, (pods+prefix-1)/prefix)))
	case s.WarmAddresses > 0 || s.MinimumAddresses > 0:
		return s.place(r.filled(min(most, pods)))
	}
	// Without targets for addresses the plugin takes whole interfaces.
	return s.place(r.whole((pods + max(1, r.slots) - 1) / max(1, r.slots)))
}
