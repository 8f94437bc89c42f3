// Package routing tells who is to hear of an incident: the channel that its
// message goes to, and the people that are called.
package routing

import (
	"slices"

	"rollcall/shared/spoke"
)

// Route sends what fits it to a channel, to people, or both.
type Route struct {
	// Cluster is empty where every cluster fits: of the Spoke, or, where that is zero, of
	// every one. A cluster's name with a zero Spoke is the hub's own.
	Cluster string
	Spoke   spoke.ID
	// Severity is empty where every severity fits.
	Severity string
	// Tags are those that one of the affected nodegroups must all have.
	Tags []Tag
	// Channel is empty where the route names people alone.
	Channel string
	// Mentions are ids of users and user groups, or Here.
	Mentions []string
}

// Tag is one tag of a nodegroup.
type Tag struct{ Key, Value string }

// Here mentions whoever is active in the channel.
const Here = "here"

// Subject is what routes are chosen by.
type Subject struct {
	Spoke             spoke.ID
	Cluster, Severity string
	// Tags are those of the affected nodegroups, by nodegroup.
	Tags map[string]map[string]string
}

// Of is who is to hear of a subject. The first route that fits and names a
// channel decides the channel, else it is usual; the first one that fits and
// names people decides whom to call.
func Of(s Subject, routes []Route, usual string) (channel string, mentions []string) {
	for _, r := range routes {
		if !r.fits(s) {
			continue
		}
		if channel == "" {
			channel = r.Channel
		}
		if mentions == nil {
			mentions = r.Mentions
		}
	}
	if channel == "" {
		channel = usual
	}
	return channel, mentions
}

func (r Route) fits(s Subject) bool {
	if r.names() && r.Spoke != s.Spoke || r.Cluster != "" && r.Cluster != s.Cluster || r.Severity != "" && r.Severity != s.Severity {
		return false
	}
	if len(r.Tags) == 0 {
		return true
	}
	for _, tags := range s.Tags {
		if !slices.ContainsFunc(r.Tags, func(t Tag) bool {
			value, has := tags[t.Key]
			return !has || value != t.Value
		}) {
			return true
		}
	}
	return false
}

// names tells that a route is not for the clusters of every spoke.
func (r Route) names() bool { return r.Cluster != "" || !r.Spoke.Hub() }

// For tells whether a route may be for what is of a spoke.
func (r Route) For(id spoke.ID) bool { return !r.names() || r.Spoke == id }

// TagKeys are the keys of the tags that routes ask for: the others need not be
// remembered.
func TagKeys(routes []Route) []string {
	var keys []string
	for _, r := range routes {
		for _, t := range r.Tags {
			keys = append(keys, t.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
