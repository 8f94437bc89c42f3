package main

import (
	"time"

	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// settings are Rollcall's defaults, with prod in mode delete (package config).
const (
	grace = 30 * time.Minute
	limit = 1000 // cleanupCap
	share = 50   // cleanupShare, in percent
)

// rollcall are our two columns: as it is deployed, and where the operator says
// that all of the VPC's clusters are watched. Two runs of eni-cleanup's own
// code decide: the rules of one interface, those of all together, and the look
// just before the delete. The truth of a class is written down beside it.
func rollcall(world []Item, now time.Time) []Rule {
	column := func(name, note string, untagged bool) Rule {
		deleted := twoRuns(world, now, untagged)
		return Rule{Name: name, Source: "shared/network/leak", Note: note, Deletes: func(i Item, _ time.Time) bool { return deleted[i.Now.ID] }}
	}
	return []Rule{
		column("**Rollcall**", "two runs, 15 minutes apart, with the default settings and prod in mode delete", false),
		column("**Rollcall**, untagged too", "as above; cleanupUntagged names the VPC", true),
	}
}

// twoRuns are the interfaces that the second run asks EC2 to delete.
func twoRuns(world []Item, now time.Time, untagged bool) map[string]bool {
	first := run(world, now, untagged, nil)
	sightings := map[string]leak.Sighting{}
	for _, s := range first.Remember {
		s.Version = 1 // as the table numbers what is written first
		sightings[s.Interface] = s
	}
	again := map[string]*snapshot.Interface{}
	for i := range world {
		if !world[i].Gone {
			again[world[i].Later.ID] = &world[i].Later
		}
	}
	deleted := map[string]bool{}
	for _, p := range []leak.Plan{first, run(world, now.Add(between), untagged, sightings)} {
		for _, v := range p.Delete {
			deleted[v.Interface.ID] = leak.Confirm(again[v.Interface.ID], v) == leak.Leaked
		}
	}
	return deleted
}

// run is what one run plans. With sightings it is the second.
func run(world []Item, now time.Time, untagged bool, sightings map[string]leak.Sighting) leak.Plan {
	g := leak.Ground{Now: now, Account: account, VPC: vpc, Clusters: []string{prod}, Grace: grace, Untagged: untagged, Creators: map[string]snapshot.Creator{}}
	var idle []snapshot.Interface
	all := 0
	for _, i := range world {
		at, state := i.Now, i.State
		if sightings != nil {
			at, state = i.Later, i.StateLater
			if i.Gone {
				continue
			}
		}
		all++
		if id := leak.Owner(at); id != "" {
			g.Creators[id] = snapshot.Creator{Instance: id, State: state}
		}
		if at.Status == "available" {
			idle = append(idle, at)
		}
	}
	var verdicts []leak.Verdict
	for _, i := range idle {
		verdicts = append(verdicts, leak.Judge(i, g))
	}
	return leak.Decide(verdicts, sightings, leak.Rules{
		Began: now, Ended: now, Modes: func(string) leak.Mode { return leak.Delete }, Untagged: leak.Delete,
		Cap: limit, Interfaces: all, Share: share,
	})
}
