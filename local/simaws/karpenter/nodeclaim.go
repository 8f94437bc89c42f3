package karpenter

import (
	"fmt"
	"slices"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/kubernetes"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
)

const (
	// launchTime and registrationTime are how long a NodeClaim may take, both from
	// its creation (KC lifecycle/liveness.go).
	launchTime       = 5 * time.Minute
	registrationTime = 15 * time.Minute
	// firstWait and mostWait are the times between tries: each is twice the last
	// (KC lifecycle/controller.go, the rate limiter).
	firstWait = time.Second
	mostWait  = time.Minute
	// endTime is how often it looks whether an instance has ended (finalize).
	endTime = 5 * time.Second
)

// claim is a NodeClaim.
type claim struct {
	object            map[string]any
	name, pool, class string
	labels            map[string]string
	wants             []requirement
	startup           []taint
	// pods are the uids of those that it is for.
	pods []string
	// tries counts the failed launches, next is when it is tried again.
	tries    int
	next     time.Time
	instance string
	tagged   bool
	// ending tells that it is being deleted.
	ending bool
}

// reconcileClaims brings the NodeClaims on, and tells when it is to look again.
func (c *Controller) reconcileClaims() (again time.Time) {
	c.launchClaims()
	var end []*claim
	tag := map[*claim]string{} // the names of nodes whose instances have no tags of it
	c.locked(func() {
		for _, x := range slices.Clone(c.claims) {
			if x.ending {
				continue
			}
			c.heldRegister(x)
			c.heldInitialize(x)
			if node := text(x.object, "status", "nodeName"); !x.tagged && node != "" {
				tag[x] = node
			}
			again = earliest(again, c.heldLiveness(x))
		}
		for _, x := range c.claims {
			if x.ending {
				end = append(end, x)
			}
		}
	})
	for _, x := range slices.Clone(c.claims) {
		if node, ok := tag[x]; ok {
			c.tag(x.instance, node, x.name)
			c.locked(func() { c.heldTagged(x) })
		}
	}
	for _, x := range end {
		again = earliest(again, c.finalize(x))
	}
	return again
}

// launchClaims launches what is due: NodeClaims that ask for the same in one call.
func (c *Controller) launchClaims() {
	type group struct {
		ask    ask
		claims []*claim
	}
	var groups []*group
	c.locked(func() {
		for _, x := range slices.Clone(c.claims) {
			if x.ending || x.instance != "" || c.w.Now.Before(x.next) {
				continue
			}
			a, f := c.heldAsk(x)
			if f.kind != none {
				c.heldFailed(x, f)
				continue
			}
			i := slices.IndexFunc(groups, func(g *group) bool { return g.ask.key() == a.key() })
			if i < 0 {
				i, groups = len(groups), append(groups, &group{ask: a})
			}
			groups[i].claims = append(groups[i].claims, x)
		}
	})
	for _, g := range groups {
		got, f := c.fleet(g.ask, len(g.claims))
		c.locked(func() {
			for i, x := range g.claims {
				if i < len(got) {
					c.heldLaunched(x, got[i])
					continue
				}
				c.heldFailed(x, f)
			}
		})
	}
}

// heldFailed is a launch that failed: what is left of it hangs on why.
func (c *Controller) heldFailed(x *claim, f failure) {
	switch f.kind {
	case unresolved:
		c.heldSay(kindClaim, x.object, "", "Warning", "Failed resolving NodeClass")
		c.heldShort(x, "insufficient capacity, "+f.text)
	case short:
		c.heldShort(x, f.text)
	case notReady:
		c.heldDelete(x)
	default:
		c.heldSet(kindClaim, x.object, "Launched", unknown, f.reason, f.message)
		x.next = c.w.Now.Add(min(firstWait<<min(x.tries, 10), mostWait))
		x.tries++
	}
}

func (c *Controller) heldShort(x *claim, said string) {
	c.heldSay(kindClaim, x.object, "InsufficientCapacityError", "Warning", fmt.Sprintf("NodeClaim %s event: %s", x.name, truncated(said)))
	c.heldDelete(x)
}

func (c *Controller) heldLaunched(x *claim, l launched) {
	x.instance = l.id
	for key, value := range map[string]string{labelType: l.kind, labelZone: l.zone, labelCapacity: l.capacity} {
		x.labels[key] = value
	}
	meta, _ := x.object["metadata"].(map[string]any)
	meta["labels"] = plainOf(x.labels)
	status, _ := x.object["status"].(map[string]any)
	status["providerID"], status["imageID"] = "aws:///"+l.zone+"/"+l.id, l.image
	c.heldSet(kindClaim, x.object, "Launched", yes, "", "")
}

// heldRegister looks for the node (KC lifecycle/registration.go): it gets the labels
// and startup taints of the NodeClaim, and loses the taint that it came with.
func (c *Controller) heldRegister(x *claim) {
	if conditionOf(x.object, "Registered").status == yes {
		return
	}
	k, n := c.w.NodeOf(x.instance)
	if x.instance == "" || n == nil || k != c.k {
		c.heldSet(kindClaim, x.object, "Registered", unknown, "NodeNotFound", "Node not registered with cluster")
		return
	}
	node := *n
	meta, _ := node["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	for key, value := range x.labels {
		labels[key] = value
	}
	labels["karpenter.sh/registered"] = "true"
	kubestate.Untaint(node, unregistered)
	spec, _ := node["spec"].(map[string]any)
	for _, t := range x.startup {
		have, _ := spec["taints"].([]any)
		spec["taints"] = append(slices.Clone(have), plainOf(t))
	}
	status, _ := x.object["status"].(map[string]any)
	status["nodeName"] = text(node, "metadata", "name")
	c.heldSet(kindClaim, x.object, "Registered", yes, "", "")
	c.heldOutcome(x, true)
	c.k.Touch(node)
	kubernetes.Schedule(c.w, c.k)
}

// heldInitialize looks whether the node can take pods (KC lifecycle/initialization.go).
func (c *Controller) heldInitialize(x *claim) {
	if conditionOf(x.object, "Registered").status != yes || conditionOf(x.object, "Initialized").status == yes {
		return
	}
	_, n := c.w.NodeOf(x.instance)
	wait := func(reason, message string) { c.heldSet(kindClaim, x.object, "Initialized", unknown, reason, message) }
	if n == nil {
		wait("NodeNotFound", "Node not registered with cluster")
		return
	}
	taints, _ := kubestate.At(*n, "spec", "taints").([]any)
	startup := slices.IndexFunc(x.startup, func(t taint) bool {
		return slices.ContainsFunc(taints, func(have any) bool { return text(have, "key") == t.Key && text(have, "effect") == t.Effect })
	})
	switch {
	case !c.w.IsReady(x.instance):
		wait("NodeNotReady", "Node status is NotReady")
	case startup >= 0:
		t := x.startup[startup]
		said := t.Key + ":" + t.Effect
		if t.Value != "" {
			said = t.Key + "=" + t.Value + ":" + t.Effect
		}
		wait("StartupTaintsExist", fmt.Sprintf("StartupTaint %q still exists", said))
	default:
		labels, _ := kubestate.At(*n, "metadata", "labels").(map[string]any)
		labels["karpenter.sh/initialized"] = "true"
		c.k.Touch(*n)
		c.heldSet(kindClaim, x.object, "Initialized", yes, "", "")
		kubernetes.Schedule(c.w, c.k)
	}
}

func (c *Controller) heldTagged(x *claim) {
	x.tagged = true
	meta, _ := x.object["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	annotations["karpenter.k8s.aws/tagged"] = "true"
	c.k.Touch(x.object)
}

// heldLiveness ends a NodeClaim that takes too long, or whose instance has gone, and
// tells when it is to be looked at again.
func (c *Controller) heldLiveness(x *claim) (again time.Time) {
	registered := conditionOf(x.object, "Registered")
	in := c.w.Instances.Get(x.instance)
	switch {
	case registered.status == yes:
		if in == nil || in.State.Name == ec2types.InstanceStateNameTerminated {
			c.heldDelete(x) // KC nodeclaim/garbagecollection
		}
		return time.Time{}
	case x.instance == "" && !c.w.Now.Before(conditionOf(x.object, "Launched").since.Add(launchTime)),
		!c.w.Now.Before(registered.since.Add(registrationTime)):
		c.heldOutcome(x, false)
		c.heldDelete(x)
		return c.w.Now.Add(settleTime)
	case x.instance == "":
		return earliest(x.next, conditionOf(x.object, "Launched").since.Add(launchTime))
	}
	return registered.since.Add(registrationTime)
}

// heldDelete begins to delete a NodeClaim: its pods wait again.
func (c *Controller) heldDelete(x *claim) {
	if x.ending {
		return
	}
	x.ending, x.pods = true, nil
	meta, _ := x.object["metadata"].(map[string]any)
	meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"] = kubestate.Time(c.w.Now), int64(0)
	c.k.Touch(x.object)
}

// finalize ends a deleted NodeClaim's instance, and lets the object go once EC2 says
// that it is ended: all that its conditions said goes with it.
func (c *Controller) finalize(x *claim) (again time.Time) {
	var running bool
	c.locked(func() {
		in := c.w.Instances.Get(x.instance)
		switch {
		case in == nil || in.State.Name == ec2types.InstanceStateNameTerminated:
			c.k.Delete("nodeclaims", x.object)
			c.claims = slices.DeleteFunc(c.claims, func(other *claim) bool { return other == x })
			return
		case !state.Ended(in):
			running = true
			kubernetes.Drain(c.w, x.instance)
			c.heldSet(kindClaim, x.object, "InstanceTerminating", yes, "", "")
		}
		again = c.w.Now.Add(endTime)
	})
	if running {
		c.terminate(x.instance)
	}
	return again
}
