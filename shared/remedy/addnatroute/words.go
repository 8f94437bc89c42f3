package addnatroute

import (
	"fmt"

	"rollcall/shared/remedy/action"
	"slices"
)

func words(r Plan, at action.Place) action.Words {
	command := func(call string, more ...string) string {
		return at.AWS("ec2 "+call, "--route-table-id", r.Table, "--destination-cidr-block", r.Destination, more)
	}
	return action.Words{
		Title:    fmt.Sprintf("Add %s → %s to %s", r.Destination, r.NAT, r.Table),
		Steps:    []string{fmt.Sprintf("Create the route %s → %s in %s%s.", r.Destination, r.NAT, r.Table, routeUsers(r)) + unproved(r)},
		Commands: []string{command("create-route", "--nat-gateway-id", r.NAT)},
		Undo:     []string{command("delete-route")},
		Cost:     routeCost(r),
	}
}

// unproved warns of subnets into which the cluster is not known to launch.
func unproved(r Plan) string {
	if len(r.Unproved) == 0 {
		return ""
	}
	return fmt.Sprintf(" Only instances with the cluster's tag are in %s: that the cluster launches nodes there is not proved.", action.And(r.Unproved))
}

// routeUsers are the subnets that use the table. One that is not yet anybody's,
// as a record of another version may hold it, has none to name.
func routeUsers(r Plan) string {
	in := ""
	if r.VPC != "" {
		in = " in " + r.VPC
	}
	if len(r.Subnets) == 0 {
		return in
	}
	zones := ""
	if len(r.Zones) > 0 {
		zones = " (" + action.And(r.Zones) + ")"
	}
	return fmt.Sprintf(", which %s%s%s %s", action.Few(r.Subnets, "subnet"), zones, in, verb(len(r.Subnets), "uses", "use"))
}

// routeCost names the prices of us-east-1: NAT gateway $0.045 for each GB (VPC
// pricing), between zones of a region $0.01 for each GB each way (EC2 pricing,
// data transfer). AWS's own pages were not read for it; guides of 2026 that quote
// them agree (basavytix.com/blog/aws-nat-gateway-pricing, cloudburn.io/blog/
// aws-nat-gateway-pricing). Other regions have others: Singapore $0.059.
func routeCost(r Plan) string {
	cost := "NAT gateway: each GB through it is charged (about $0.045)."
	var others []string
	for _, zone := range r.Zones {
		if zone != r.NATZone {
			others = append(others, zone)
		}
	}
	switch {
	case r.NATZone == "":
	case len(others) > 0 && slices.Contains(r.Zones, r.NATZone):
		cost += fmt.Sprintf(" %s is in %s: from %s each GB costs about $0.01 more each way, and they have no route to the internet while %s is down.", r.NAT, r.NATZone, action.And(others), r.NATZone)
	case len(others) > 0:
		cost += fmt.Sprintf(" %s is in another zone (%s, not %s): each GB costs about $0.01 more each way, and there is no route to the internet while %s is down.", r.NAT, r.NATZone, action.And(others), r.NATZone)
	default:
		cost += " Same zone: nothing more for crossing zones."
	}
	if r.ManagedBy != "" {
		cost += fmt.Sprintf(" %s was made by %s, which may take the route out again: add it there too.", r.Table, r.ManagedBy)
	}
	return cost
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
