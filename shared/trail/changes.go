package trail

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/shared/report"
)

// MaxChanges is how many changes are listed: a person reads the newest few.
const MaxChanges = 8

// Changes are the write calls in the window about the targets, the newest
// first; more is how many are left out. Of those that were refused, which
// changed nothing, the others are preferred. Own are Rollcall's own functions.
func Changes(records []Record, targets []Target, w Window, own []Function) (list []report.Change, more int) {
	all := slices.Clone(records)
	slices.SortStableFunc(all, func(a, b Record) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.ID, b.ID)) })
	all = slices.CompactFunc(all, func(a, b Record) bool { return a.ID == b.ID })
	associations := associated(all, targets)
	for _, r := range all {
		if r.ReadOnly || !w.holds(r.At) || r.Error == dryRun {
			continue
		}
		name, ok := about(r, targets, associations)
		if !ok {
			continue
		}
		list = merge(list, change(r, name, own))
	}
	if len(list) <= MaxChanges {
		return list, 0
	}
	more = len(list) - MaxChanges
	for i := len(list) - 1; i >= 0 && len(list) > MaxChanges; i-- {
		if list[i].Error != "" {
			list = slices.Delete(list, i, i+1)
		}
	}
	return first(list, MaxChanges), more
}

// dryRun is EC2's answer to a call that only asks whether it would be allowed.
const dryRun = "DryRunOperation"

// merge adds a change, or counts it with the same one of the same actor.
func merge(list []report.Change, c report.Change) []report.Change {
	for i := range list {
		same := list[i]
		if same.Call == c.Call && same.Resource == c.Resource && same.Actor == c.Actor && same.Principal == c.Principal && same.By == c.By && same.Error == c.Error {
			// The first one's id: what CloudTrail brings later does not change it.
			list[i].ID, list[i].Times = c.ID, max(list[i].Times, 1)+1
			return list
		}
	}
	return append(list, c)
}

// Function is one of Rollcall's own, as CloudTrail knows it.
type Function struct {
	// Session is the name of its sessions, Role what the name of its role holds
	// beside what CloudFormation adds: lower-case letters alone.
	Session, Role string
}

// is tells whether an actor is the function. The session's name alone proves
// nothing: whoever takes on a role chooses it.
func (f Function) is(a Actor) bool {
	letters := strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(a.Role))
	return a.Session == f.Session && strings.Contains(letters, f.Role)
}

func change(r Record, name string, own []Function) report.Change {
	c := report.Change{ID: r.ID, At: r.At, Call: r.Call, Resource: name, Actor: r.Actor.Name, Principal: r.Actor.Principal, By: r.Actor.By, Error: r.Error}
	if slices.ContainsFunc(own, func(f Function) bool { return f.is(r.Actor) }) {
		c.Actor = "Rollcall"
	}
	return c
}

// about is the first target that a record is about. An association that was
// replaced or taken away names neither subnet nor table: it is known by the call
// that made it.
func about(r Record, targets []Target, associations map[string]string) (string, bool) {
	for _, t := range targets {
		if t.is(r) {
			return t.Name, true
		}
	}
	if r.Source == ec2 && (r.Call == "DisassociateRouteTable" || r.Call == "ReplaceRouteTableAssociation") {
		for _, text := range r.Asked {
			if subnet, ok := associations[text.Value]; ok && text.Field == "associationId" {
				return subnet, true
			}
		}
	}
	return "", false
}

// associated are the associations of the targets' subnets, by id. A replaced
// one goes on under another id, so they are followed from the oldest on.
func associated(newestFirst []Record, targets []Target) map[string]string {
	known := map[string]string{}
	for _, r := range slices.Backward(newestFirst) {
		if r.Source != ec2 || r.Error != "" || !slices.Contains(associating(), r.Call) {
			continue
		}
		subnet := ""
		for _, text := range r.Asked {
			if id, ok := known[text.Value]; ok && text.Field == "associationId" {
				subnet = id
			}
			if text.Field == "subnetId" && slices.Contains(targets, Target{Kind: Subnet, Name: text.Value}) {
				subnet = text.Value
			}
		}
		if subnet == "" {
			continue
		}
		for _, text := range r.Answered {
			if text.Field == "associationId" || text.Field == "newAssociationId" {
				known[text.Value] = subnet
			}
		}
	}
	return known
}
