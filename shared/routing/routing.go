// Package routing tells who is to hear of an incident: the channel that its
// message goes to, and the people that are called.
package routing

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

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
	// Escalate are those who are called last, where none of Mentions has acknowledged.
	Escalate []string
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

// Recipients is who is to hear of a subject. The first route that fits and names a
// channel decides the channel, else it is usual; the first one that fits and
// names people decides whom to call.
func Recipients(s Subject, routes []Route, usual string) (channel string, mentions []string) {
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

// Escalation is who is called last for a subject: the route that decides whom to call
// decides that too.
func Escalation(s Subject, routes []Route) []string {
	for _, r := range routes {
		if r.Mentions != nil && r.fits(s) {
			return r.Escalate
		}
	}
	return nil
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

// names reports whether a route is not for the clusters of every spoke.
func (r Route) names() bool { return r.Cluster != "" || !r.Spoke.Hub() }

// For reports whether a route may be for what is of a spoke.
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

// MaxText is how long the text of routes may be: all variables of a Lambda
// function together may have 4 KB.
const MaxText = 2000

// None is the text of no routes.
const None = "none"

// Parse reads routes. The text has no character that a shell or the CDK's
// context reads:
//
//	prod/critical=C0PAGES0001@S0ONCALL01,prod/team:payments=C0PAY000001@U0DANA0001+here,all/critical=@here
//
// Before "=" stands which incidents fit: a cluster or "all", then if need be a
// severity and tags of nodegroups as key:value (what else a key or value has is
// written as in an address: %2C is a comma). After it stand the channel's id,
// and behind "@" who is called; one of both may be left out. Behind a second "@" stands who
// is called last, without an acknowledgement: C0PAGES0001@S0ONCALL01@S0LEADS001.
func Parse(text string) ([]Route, error) {
	if text == None {
		return nil, nil
	}
	if len(text) > MaxText {
		return nil, fmt.Errorf("the routes have %d characters, there is room for %d", len(text), MaxText)
	}
	var routes []Route
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		r, err := parse(part)
		if err != nil {
			return nil, fmt.Errorf("route %q: %w", part, err)
		}
		routes = append(routes, r)
	}
	return routes, nil
}

var errForm = errors.New(`want the form cluster/severity/tag:value=channel@mention+mention@escalation`)

func parse(text string) (Route, error) {
	what, who, ok := strings.Cut(text, "=")
	if !ok {
		return Route{}, errForm
	}
	r, err := subject(what)
	if err != nil {
		return Route{}, err
	}
	channel, mentions, called := strings.Cut(who, "@")
	if channel != "" && !regexp.MustCompile(`^[CGD][A-Z0-9]{2,30}$`).MatchString(channel) {
		return Route{}, fmt.Errorf("%q is not a channel's id (open the channel's details in Slack and copy the id at the bottom)", channel)
	}
	r.Channel = channel
	if channel == "" && !called {
		return Route{}, errors.New("it names neither a channel nor, behind @, people")
	}
	if !called {
		return r, nil
	}
	mentions, last, escalates := strings.Cut(mentions, "@")
	if r.Mentions, err = people(mentions); err == nil && escalates {
		r.Escalate, err = people(last)
	}
	return r, err
}

// people reads ids of users and user groups, or Here.
func people(text string) (ids []string, _ error) {
	for id := range strings.SplitSeq(text, "+") {
		if id != Here && !regexp.MustCompile(`^[UWS][A-Z0-9]{2,30}$`).MatchString(id) {
			return nil, fmt.Errorf("%q is not the id of a user (U…, W…) or user group (S…), nor here", id)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// subject reads which incidents a route is for.
func subject(text string) (Route, error) {
	var r Route
	// A spoke's cluster is named with its account and region.
	if part := strings.SplitN(text, "/", 3); len(part) == 3 {
		if id, err := spoke.Parse(part[0] + "/" + part[1]); err == nil {
			r.Spoke, text = id, part[2]
		}
	}
	for i, part := range strings.Split(text, "/") {
		key, value, tag := strings.Cut(part, ":")
		switch {
		case i == 0 && part == "all":
		case i == 0:
			// EKS's own rule for a cluster's name (CreateCluster).
			if !regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$`).MatchString(part) {
				return Route{}, fmt.Errorf("%q is neither a cluster's name nor all", part)
			}
			r.Cluster = part
		case tag:
			t, err := readTag(key, value)
			if err != nil {
				return Route{}, err
			}
			r.Tags = append(r.Tags, t)
		case part != "critical" && part != "warning" && part != "info":
			return Route{}, fmt.Errorf("%q is neither a severity (critical, warning, info) nor a tag of the form key:value", part)
		case r.Severity != "":
			return Route{}, fmt.Errorf("two severities, %s and %s: write two routes", r.Severity, part)
		default:
			r.Severity = part
		}
	}
	return r, nil
}

// readTag reads a tag. EKS allows keys of 128 characters and values of 256.
func readTag(key, value string) (Tag, error) {
	var t Tag
	var err, wrong error
	if t.Key, err = url.PathUnescape(key); err == nil {
		t.Value, wrong = url.PathUnescape(value)
	}
	switch {
	case err != nil || wrong != nil:
		return Tag{}, fmt.Errorf("%q: a percent sign is written %%25", key+":"+value)
	case t.Key == "" || len([]rune(t.Key)) > 128 || len([]rune(t.Value)) > 256:
		return Tag{}, fmt.Errorf("%q is no tag: a key has 1 to 128 characters, a value at most 256", key+":"+value)
	}
	return t, nil
}
