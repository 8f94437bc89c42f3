// Package karpenter is the Karpenter controller of a simulated cluster, as far as
// it starts nodes: it reads NodePools and EC2NodeClasses, makes NodeClaims for the
// pods that wait, calls CreateFleet in its role's name, and keeps the conditions of
// all three as Karpenter v1 does. It ends what does not launch or register in time,
// and disrupts nothing else: no consolidation, drift or expiry.
//
// Sources are kubernetes-sigs/karpenter@2266468 (KC) and
// aws/karpenter-provider-aws@1d92708 (KP).
package karpenter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/simaws/ec2"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/trail"
	"rollcall/local/simaws/worldfile"
)

const (
	// settleTime is how long the controllers take from a change to what follows from
	// it: they sleep a second after each patch (KC lifecycle/controller.go).
	settleTime = time.Second
	// podTime is how often a pod that waits asks again (KC provisioning/controller.go).
	podTime = 10 * time.Second
	// sessionTime is how long a session of the controller's role is used.
	sessionTime = time.Hour
)

// Controller is Karpenter in one cluster. Its methods are called with the state
// unlocked, one at a time; those whose names begin with "held" within what holds it.
type Controller struct {
	w *state.State
	k *kubestate.Cluster
	f worldfile.KarpenterFile
	// next is when it acts next; zero where nothing is planned.
	next    time.Time
	acting  bool
	changed bool
	claims  []*claim
	classes map[string]*class
	// pools has of each NodePool how its last launches ended, newest last.
	pools map[string][]bool
	// unavailable are offerings that EC2 had none of, until when.
	unavailable map[offering]time.Time
	// failed is when a pod was last told that it fits no NodePool, by its uid.
	failed map[string]time.Time
	// shifted are zones by NodePool of which it was said that they are shifted away from.
	shifted map[string]bool
}

// Load starts the controllers that a file has.
func Load(w *state.State, f *worldfile.File) error {
	for _, name := range slices.Sorted(maps.Keys(f.Kubernetes)) {
		file := f.Kubernetes[name].Karpenter
		k := w.Kubernetes[name]
		if file == nil || k == nil {
			continue
		}
		c := &Controller{
			w: w, k: k, f: *file, classes: map[string]*class{}, pools: map[string][]bool{}, unavailable: map[offering]time.Time{}, failed: map[string]time.Time{}, shifted: map[string]bool{},
		}
		c.f.Role, c.f.Version = cmp.Or(c.f.Role, "karpenter"), cmp.Or(c.f.Version, "1.14.1")
		for _, plural := range []string{"nodepools", "nodeclaims", "ec2nodeclasses"} {
			if k.Objects[plural] == nil {
				k.Objects[plural] = []map[string]any{}
			}
		}
		for _, o := range k.Objects["nodeclaims"] {
			c.claims = append(c.claims, adopted(o))
		}
		k.Watch = func() { c.heldWake(c.settleTime()) }
		c.heldWake(c.settleTime())
	}
	return nil
}

// adopted is a NodeClaim that was there at the start, with an instance.
func adopted(o map[string]any) *claim {
	spec := specOf[struct{ NodeClassRef classRef }](o)
	x := &claim{object: o, name: text(o, "metadata", "name"), pool: text(o, "metadata", "labels", labelPool), class: spec.NodeClassRef.Name, labels: map[string]string{}, tagged: true}
	labels, _ := kubestate.At(o, "metadata", "labels").(map[string]any)
	for key, value := range labels {
		x.labels[key] = fmt.Sprint(value)
	}
	provider := text(o, "status", "providerID")
	x.instance = provider[strings.LastIndex(provider, "/")+1:]
	return x
}

func (c *Controller) settleTime() time.Time { return c.w.Now.Add(settleTime) }

// heldWake has the controller act at a time, unless it does so before.
func (c *Controller) heldWake(at time.Time) {
	if c.acting {
		c.changed = true
		return
	}
	if !c.next.IsZero() && !at.Before(c.next) {
		return
	}
	c.next = at
	c.w.CallAt(at, func() {
		release := c.w.Enter()
		mine := c.next.Equal(at)
		if mine {
			c.next, c.acting, c.changed = time.Time{}, true, false
		}
		release()
		if mine {
			c.act()
		}
	})
}

// act is one turn of all controllers.
func (c *Controller) act() {
	again := c.reconcileClasses()
	c.locked(c.heldPools)
	c.locked(c.heldProvision)
	again = earliest(again, c.reconcileClaims())
	c.locked(func() {
		c.acting = false
		if c.changed {
			again = earliest(again, c.settleTime())
		}
		if c.heldWaiting() {
			again = earliest(again, c.w.Now.Add(podTime))
		}
		if !again.IsZero() {
			c.heldWake(again)
		}
	})
}

func (c *Controller) locked(f func()) {
	defer c.w.Enter()()
	f()
}

// earliest is the earlier of two times of which each may be none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// session is the ARN of the role's session: a pod's is called after the nanosecond
// in which it was assumed.
func (c *Controller) session() string {
	began := c.w.Now.Truncate(sessionTime)
	return "arn:aws:sts::" + c.w.Account + ":assumed-role/" + c.f.Role + "/" + strconv.FormatInt(began.UnixNano()+int64(908_908*ids.Chance(c.f.Role, began.String())), 10)
}

// api is EC2 as the controller has it.
func (c *Controller) api() ec2.API { return ec2.For(c.w, c.session()) }

// record has CloudTrail keep a call of the controller.
func (c *Controller) record(operation string, in, out any, err error) {
	var provider string
	c.locked(func() { provider = c.heldProvider() })
	call := trail.Call{
		Operation: operation, CallerARN: c.session(), Input: in, Err: err, SourceIP: "52.10.20.30", Federated: provider,
		// kubernetes-sigs/karpenter#2813 has it of Karpenter 1.5.0.
		UserAgent: "aws-sdk-go-v2/1.36.3 ua/2.1 os/linux lang/go#1.24.2 md/GOOS#linux md/GOARCH#arm64 api/ec2#1.215.0 karpenter.sh-" + c.f.Version + " m/h",
	}
	if err == nil {
		call.Output = out
	}
	trail.Record(c.w, call)
}

// heldProvider is the ARN of the cluster's OIDC provider.
func (c *Controller) heldProvider() string {
	issuer := "oidc.eks." + c.w.Region + ".amazonaws.com/id/" + strings.ToUpper(ids.SHA256(c.k.Name)[:32])
	if cluster := c.w.Clusters.Get(c.k.Name); cluster != nil && cluster.Identity != nil && cluster.Identity.Oidc != nil && cluster.Identity.Oidc.Issuer != nil {
		issuer = strings.TrimPrefix(aws.ToString(cluster.Identity.Oidc.Issuer), "https://")
	}
	return "arn:aws:iam::" + c.w.Account + ":oidc-provider/" + issuer
}
