package preflight

import (
	"slices"
	"strings"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/snapshot"
)

const offeringsPage = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-discovery.html"

// offeredIn are those of some types that a zone has; all where that is not known,
// of a zone or at all.
func (d *Draft) offeredIn(zone string, types []string) []string {
	if !d.S.Has(snapshot.TypeOfferingsOf) || zone == "" {
		return types
	}
	return slices.DeleteFunc(slices.Clone(types), func(name string) bool {
		i := slices.IndexFunc(d.S.TypeOfferings, func(o snapshot.TypeOffering) bool { return o.Type == name })
		return i < 0 || !slices.Contains(d.S.TypeOfferings[i].Zones, zone)
	})
}

// zoneOf is a subnet's zone; empty where it is not known.
func (d *Draft) zoneOf(subnet string) string {
	return strings.Join(d.zonesOf([]string{subnet}), "")
}

// zonesOf are the zones of subnets.
func (d *Draft) zonesOf(subnets []string) []string {
	var list []string
	for _, s := range d.S.Subnets {
		if slices.Contains(subnets, s.ID) {
			list = append(list, s.Zone)
		}
	}
	slices.Sort(list)
	return distinct(list)
}

// offered judges whether EC2 has the types where the nodes would stand: a launch in
// a zone that has none of them fails with Unsupported ("Your requested instance type
// is not supported in your requested Availability Zone"). A group that has one zone
// left launches there.
func (r *refusing) offered(field string, n *nodes) {
	if !r.S.Has(snapshot.TypeOfferingsOf) {
		r.blind("type-offering", field, r.S.Why(snapshot.TypeOfferingsOf))
		return
	}
	var without, with []string
	for _, zone := range r.zonesOf(n.subnets) {
		if zone != "" && len(r.offeredIn(zone, n.types)) == 0 {
			without = append(without, zone)
		} else {
			with = append(with, zone)
		}
	}
	if len(without) == 0 || len(n.types) == 0 {
		return
	}
	what := strings.Join(n.types, ", ")
	if len(with) > 0 {
		r.advice = append(r.advice, diagnose.Cause{
			Check: refused + "type-offering", Title: strings.Join(without, ", ") + " does not have " + what, Confidence: checks.Advice, Resource: field,
			Why: "EC2 does not offer " + what + " in " + strings.Join(without, ", ") + ": all nodes would stand in " + strings.Join(with, ", ") + ".",
			Fix: checks.Fix{Text: "Name a type that all zones have beside it, or leave the zone's subnets out."},
		})
		return
	}
	r.refuse("type-offering", field, offeringsPage, "Name types that the zones have, or subnets of zones that have the types: "+r.offers(n.types)+".",
		"No zone of the subnets has the types", "EC2 does not offer %s in %s: every launch there fails (Unsupported).", what, strings.Join(without, ", "))
}

// offers says which zones have types.
func (d *Draft) offers(types []string) string {
	var list []string
	for _, name := range types {
		where := "no zone of " + d.S.Region
		if i := slices.IndexFunc(d.S.TypeOfferings, func(o snapshot.TypeOffering) bool { return o.Type == name }); i >= 0 {
			where = strings.Join(d.S.TypeOfferings[i].Zones, ", ")
		}
		list = append(list, name+" is in "+where)
	}
	return strings.Join(list, "; ")
}
