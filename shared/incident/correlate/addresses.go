package correlate

import (
	"slices"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// ExplainsUnready tells that a cause, found in a subnet's addresses, is why
// another one finds a node that stands in a subnet not Ready: its pods get no
// addresses. Only a cause that is certain explains others.
//
// The look that sees the node does not count the interfaces of the whole VPC,
// as the look at the subnets does, and that one sees no nodes.
func ExplainsUnready(cause, unready diagnose.Cause, nodeSubnet string) bool {
	if !incident.IsStarvationSymptom(unready.Check) || nodeSubnet == "" || cause.Confidence != checks.Certain {
		return false
	}
	if unready.Behind != nil && !slices.Contains(unready.Behind, cause.Check) {
		return false
	}
	switch cause.Check {
	case checkid.IPLeakedInterfaces:
		return cause.Resource == nodeSubnet
	case checkid.IPFragmented:
		// With custom networking it is the subnet of the pods that has no block;
		// those of the nodes stand among its resources.
		return cause.Resource == nodeSubnet || slices.Contains(cause.Resources, nodeSubnet)
	}
	return false
}

// explainsUnready tells the same of an incident.
func explainsUnready(u *incident.Update, unready diagnose.Cause, l report.Launch) bool {
	cause := u.Cause
	cause.Check, cause.Resource = u.Key.Check, u.Key.Resource
	return ExplainsUnready(cause, unready, l.Subnet)
}

// RecordRelations takes in what a look says of how its cause belongs together with
// other failures of the same subnet. The newest look counts.
func (look *Look) RecordRelations(u *incident.Update, cause diagnose.Cause) {
	if !incident.OfAddresses(cause.Check) {
		return
	}
	set := func(check checks.ID, apart bool) {
		if !incident.OfAddresses(check) && !incident.IsStarvationSymptom(check) || check == cause.Check {
			return
		}
		e, known := u.EffectOf(check)
		if known && !e.Told.Before(look.Observation.At) {
			return
		}
		u.Touched = true
		e.Told, e.Apart = look.Observation.At, apart
	}
	for _, h := range cause.Hidden {
		set(h.Check, false)
	}
	for _, id := range slices.Concat(cause.Contributing, cause.Symptoms) {
		set(id, false)
	}
	for _, other := range look.Observation.Diagnosis.Causes {
		if other.Resource == cause.Resource && incident.OfAddresses(other.Check) {
			set(other.Check, true)
		}
	}
}

// claimsSince tells since when an incident explains what another check finds in the
// same subnet.
func claimsSince(u *incident.Update, check checks.ID) (at time.Time, does bool) {
	own := u.Key.Check
	e, _ := u.KnownEffect(check)
	switch {
	case own == check || own == checkid.IPRunway:
		return time.Time{}, false
	case check == checkid.IPRunway && (own == checkid.IPLeakedInterfaces || incident.IsShortage(own)):
		return u.Seen, true // what was foreseen is here, or its reason
	case check == checkid.IPScaleOutWillNotFit && own == checkid.IPLeakedInterfaces:
		return u.Seen, true // the leak comes first; what lacks without it too is told when it is gone
	case e.Apart && !e.Told.Before(u.Seen):
		return time.Time{}, false
	case exhaustsSubnet(u) && incident.IsShortage(check):
		return incident.Later(e.Told, u.Seen), true
	case !e.Apart && !e.Told.IsZero():
		return e.Told, true
	}
	return time.Time{}, false
}

// exhaustsSubnet tells of a leak that is why its subnet has too few addresses: the
// check is certain only of those.
func exhaustsSubnet(u *incident.Update) bool {
	return u.Key.Check == checkid.IPLeakedInterfaces && u.Cause.Confidence == checks.Certain
}

// claimsIncident tells that what another incident of the same subnet says belongs to
// this one. Of two that explain each other the newer look counts.
func claimsIncident(u *incident.Update, other *incident.Update) bool {
	if u.Key.Resource != other.Key.Resource || !incident.OfAddresses(u.Key.Check) || !incident.OfAddresses(other.Key.Check) {
		return false
	}
	at, does := claimsSince(u, other.Key.Check)
	back, _ := claimsSince(other, u.Key.Check)
	return does && (at.After(back) || at.Equal(back) && u.Key.Check == checkid.IPLeakedInterfaces)
}

// passesNow tells that this look finds well what an incident is about.
func (look *Look) passesNow(u *incident.Update) bool {
	v, _ := u.VerdictOn(u.Key.Resource)
	if look.Observation.At.Before(v.At) {
		return false
	}
	return slices.ContainsFunc(look.Observation.Diagnosis.Passed, func(p diagnose.Passed) bool {
		return p.Check == u.Key.Check && slices.Contains(p.Covers, u.Key.Resource)
	}) || slices.ContainsFunc(look.Observation.Diagnosis.Causes, func(c diagnose.Cause) bool { return OnlyAdvises(u, c) })
}

// OnlyAdvises reports whether a check still finds what an incident of addresses or of
// launches is about, and so little of it that nobody is to be called: a few leaked
// interfaces that no cleanup takes, refused launches for which no pod waits any more.
func OnlyAdvises(u *incident.Update, c diagnose.Cause) bool {
	breaks := checks.Meaning(c.Check).Breaks
	return c.Confidence == checks.Advice && (breaks == check.Addresses || breaks == check.Launching) && c.Check == u.Key.Check && c.Resource == u.Key.Resource
}
