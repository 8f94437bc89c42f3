package report

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
)

// The checks of a subnet's addresses that have to do with one another: what
// leaks is foreseen to run out, is empty, refuses launches, and keeps nodes from
// being Ready. Which function sees which of it first is chance.
const (
	leakedInterfaces checks.ID = "ip/leaked-interfaces"
	noFreeBlock      checks.ID = "ip/fragmented"
	runway           checks.ID = "ip/runway"
	scaleOut         checks.ID = "ip/scale-out-will-not-fit"
	subnetExhausted  checks.ID = "ip/subnet-exhausted"
	burstTooLarge    checks.ID = "spot/burst-exceeds-subnet"
	launchRefused    checks.ID = "launch/subnet-full"
	cniNotReady      checks.ID = "node/cni-not-ready"
	nodeNotReady     checks.ID = "node/not-ready"
)

// shortage tells a check of a subnet that has too few addresses now.
func shortage(check checks.ID) bool {
	return check == subnetExhausted || check == burstTooLarge || check == launchRefused
}

// hunger tells a check of nodes as they are where their pods get no addresses.
func hunger(check checks.ID) bool { return check == cniNotReady || check == nodeNotReady }

// ExplainsUnready tells that a cause, found in a subnet's addresses, is why
// another one finds a node that stands in a subnet not Ready: its pods get no
// addresses. Only a cause that is certain explains others.
//
// The look that sees the node does not count the interfaces of the whole VPC,
// as the look at the subnets does, and that one sees no nodes.
func ExplainsUnready(cause, unready diagnose.Cause, nodeSubnet string) bool {
	if !hunger(unready.Check) || nodeSubnet == "" || cause.Confidence != checks.Certain {
		return false
	}
	if unready.Behind != nil && !slices.Contains(unready.Behind, cause.Check) {
		return false
	}
	switch cause.Check {
	case leakedInterfaces:
		return cause.Resource == nodeSubnet
	case noFreeBlock:
		// With custom networking it is the subnet of the pods that has no block;
		// those of the nodes stand among its resources.
		return cause.Resource == nodeSubnet || slices.Contains(cause.Resources, nodeSubnet)
	}
	return false
}

// explainsUnready tells the same of an incident.
func (f *draft) explainsUnready(unready diagnose.Cause, l Launch) bool {
	cause := f.Cause
	cause.Check, cause.Resource = f.Key.Check, f.Key.Resource
	return ExplainsUnready(cause, unready, l.Subnet)
}

// ofAddresses tells that a check is about the addresses of its resource, a
// subnet.
func ofAddresses(check checks.ID) bool {
	return strings.HasPrefix(string(check), "ip/") || shortage(check)
}

// Effect is another check's failure that belongs to an incident of a subnet's
// addresses: it has no message of its own.
type Effect struct {
	Check checks.ID `json:"check"`
	// Told is the last look that told how the two belong together, Apart that it
	// found both and did not explain the one with the other.
	Told  time.Time `json:"told,omitzero"`
	Apart bool      `json:"apart,omitempty"`
	// Title is what that failure said, Since and Last when it was first and last
	// seen by a look that did not say where it belongs; all are empty for one
	// that each look has explained.
	Title string    `json:"title,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// Over is when that check passed again.
	Over time.Time `json:"over,omitzero"`
}

// Here tells that the failure is there now, as far as is known.
func (e Effect) Here() bool {
	return (!e.Apart || !e.Told.After(e.Last)) && !e.Over.After(later(e.Told, e.Last))
}

// effect is what is known of a check's failure, made if need be.
func (inc *Incident) effect(check checks.ID) (e *Effect, known bool) {
	i, known := slices.BinarySearchFunc(inc.Effects, check, func(e Effect, id checks.ID) int { return strings.Compare(string(e.Check), string(id)) })
	if !known {
		inc.Effects = slices.Insert(inc.Effects, i, Effect{Check: check})
	}
	return &inc.Effects[i], known
}

func (inc Incident) knownEffect(check checks.ID) (Effect, bool) {
	i := slices.IndexFunc(inc.Effects, func(e Effect) bool { return e.Check == check })
	if i < 0 {
		return Effect{}, false
	}
	return inc.Effects[i], true
}

// relate takes in what a look says of how its cause belongs together with
// other failures of the same subnet. The newest look counts.
func (d *desk) relate(f *draft, cause diagnose.Cause) {
	if !ofAddresses(cause.Check) {
		return
	}
	set := func(check checks.ID, apart bool) {
		if !ofAddresses(check) && !hunger(check) || check == cause.Check {
			return
		}
		e, known := f.effect(check)
		if known && !e.Told.Before(d.obs.At) {
			return
		}
		f.changed = true
		e.Told, e.Apart = d.obs.At, apart
	}
	for _, h := range cause.Hidden {
		set(h.Check, false)
	}
	for _, id := range slices.Concat(cause.Contributing, cause.Symptoms) {
		set(id, false)
	}
	for _, other := range d.obs.Diagnosis.Causes {
		if other.Resource == cause.Resource && ofAddresses(other.Check) {
			set(other.Check, true)
		}
	}
}

// claims tells since when an incident explains what another check finds in the
// same subnet.
func (f *draft) claims(check checks.ID) (at time.Time, does bool) {
	own := f.Key.Check
	e, known := f.knownEffect(check)
	switch {
	case own == check || own == runway:
		return time.Time{}, false
	case check == runway && (own == leakedInterfaces || shortage(own)):
		return f.Seen, true // what was foreseen is here, or its reason
	case check == scaleOut && own == leakedInterfaces:
		return f.Seen, true // the leak comes first; what lacks without it too is told when it is gone
	case known && e.Apart && !e.Told.Before(f.Seen):
		return time.Time{}, false
	case f.starves() && shortage(check):
		return later(e.Told, f.Seen), true
	case known && !e.Apart && !e.Told.IsZero():
		return e.Told, true
	}
	return time.Time{}, false
}

// starves tells of a leak that is why its subnet has too few addresses: the
// check is certain only of those.
func (f *draft) starves() bool {
	return f.Key.Check == leakedInterfaces && f.Cause.Confidence == checks.Certain
}

// beats tells that what another incident of the same subnet says belongs to
// this one. Of two that explain each other the newer look counts.
func (f *draft) beats(other *draft) bool {
	if f == other || f.Key.Resource != other.Key.Resource || !ofAddresses(f.Key.Check) || !ofAddresses(other.Key.Check) {
		return false
	}
	at, does := f.claims(other.Key.Check)
	back, mutual := other.claims(f.Key.Check)
	return does && (!mutual || at.After(back) || at.Equal(back) && f.Key.Check == leakedInterfaces)
}

// isOver tells that this look finds well what an incident is about.
func (d *desk) isOver(f *draft) bool {
	v, _ := f.verdict(f.Key.Resource)
	if d.obs.At.Before(v.At) {
		return false
	}
	return slices.ContainsFunc(d.obs.Diagnosis.Passed, func(p diagnose.Passed) bool {
		return p.Check == f.Key.Check && slices.Contains(p.Covers, f.Key.Resource)
	}) || slices.ContainsFunc(d.obs.Diagnosis.Causes, f.onlyAdvises)
}

// onlyAdvises tells that a check still finds what an incident of addresses is
// about, and so little of it that nobody is to be called: a few leaked
// interfaces that no cleanup takes.
func (f *draft) onlyAdvises(c diagnose.Cause) bool {
	return c.Confidence == checks.Advice && strings.HasPrefix(string(c.Check), "ip/") && c.Check == f.Key.Check && c.Resource == f.Key.Resource
}

// Left is the name of the evidence that says what is left of a cause that is
// not pressing any more.
const Left = "Left"

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
