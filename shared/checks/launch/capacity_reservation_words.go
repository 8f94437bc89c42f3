package launch

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// reservationLook is how the capacity reservation stands that the group's launch
// template names: EC2's refusal does not tell one that is over from one that is full.
// Empty where the template names none, or nobody could look.
func reservationLook(a *facts.Attempts, f launchFault) (headline string, evidence []finding.Evidence) {
	template, read := a.Template(f.groups()[0])
	if !read || template.Reservation == "" {
		return "", nil
	}
	what := "Capacity reservation " + template.Reservation
	if !a.S.Has(snapshot.CapacityReservations) {
		why := a.S.Why(snapshot.CapacityReservations)
		return "", []finding.Evidence{{What: what, Value: fmt.Sprintf("not read: %s %s", why.Call, why.Reason)}}
	}
	i := slices.IndexFunc(a.S.CapacityReservations, func(r snapshot.CapacityReservation) bool { return r.ID == template.Reservation })
	if i < 0 {
		return "its capacity reservation is not there", []finding.Evidence{{What: what, Value: "is not among those that EC2 lists here"}}
	}
	r := a.S.CapacityReservations[i]
	value := fmt.Sprintf("%s; %d of %d free, of %s in %s", r.State, r.Free, r.Total, r.Type, r.Zone)
	if r.Block {
		value = "a capacity block, " + value
	}
	if !r.Start.IsZero() {
		value += ", from " + r.Start.UTC().Format(phrase.DayAndMinute)
	}
	if !r.End.IsZero() {
		value += ", until " + r.End.UTC().Format(phrase.DayAndMinute)
	}
	return "its capacity reservation " + reservationStands(r, template, zonesOf(a, f)), []finding.Evidence{{What: what, Value: value}}
}

// reservationStands says why a reservation takes no launch (EC2 API, CapacityReservation,
// State; EC2 user guide, "Use a Capacity Reservation": type, zone and platform must
// match).
func reservationStands(r snapshot.CapacityReservation, t snapshot.LaunchTemplate, zones []string) string {
	switch r.State {
	case "expired", "cancelled", "failed", "payment-failed":
		return "is over"
	case "pending", "scheduled", "payment-pending", "assessing", "delayed":
		return "is not active yet"
	case "unsupported", "unavailable":
		return "is " + r.State
	}
	switch {
	case t.Type != "" && r.Type != t.Type:
		return "is for " + r.Type + ", not " + t.Type
	case r.Zone != "" && len(zones) > 0 && !slices.Contains(zones, r.Zone):
		return "is in " + r.Zone + ", where the group has no subnet"
	case r.Free == 0:
		return fmt.Sprintf("is used up: all %d are taken", r.Total)
	}
	return "does not take it"
}

// zonesOf are the zones of a group's subnets, as far as all are known.
func zonesOf(a *facts.Attempts, f launchFault) []string {
	var zones []string
	for _, id := range a.Groups[f.groups()[0]].Subnets {
		i := slices.IndexFunc(a.S.Subnets, func(n snapshot.Subnet) bool { return n.ID == id })
		if i < 0 {
			return nil
		}
		zones = append(zones, a.S.Subnets[i].Zone)
	}
	return zones
}
