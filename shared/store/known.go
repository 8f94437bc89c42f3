package store

import (
	"strings"
	"time"

	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
)

// ID is the instance, or the scaling activity of a launch without one.
func (l LaunchRecord) ID() string {
	if l.Instance != "" {
		return l.Instance
	}
	return l.Activity
}

// Known are the facts of a launch.
func (l LaunchRecord) Known() outcome.Facts {
	return outcome.Facts{
		Started: l.Started, Due: l.Due, Registered: l.Registered, Ready: l.Ready, Tagged: l.Tagged,
		Ended: l.Ended, Reason: outcome.EndReason{Code: l.code(), Message: l.EndedWhy}, Alive: l.Alive, Over: l.Over, By: l.EndedBy, Forgotten: l.Forgotten,
		Noticed: l.Noticed, Rebalance: l.Rebalance, Maintenance: l.Maintenance,
		Missed: l.Missed, Root: outcome.Root{Check: l.Root, Sure: l.RootSure, At: l.RootAt},
		Refused: l.Refused, GivenUp: l.GaveUp, Blind: l.Blind, Unseen: l.Unseen,
	}
}

// code is EC2's code. A record of before there was one has it at the beginning
// of its words, as EC2 writes them: "Server.SpotInstanceTermination: …".
func (l LaunchRecord) code() string {
	code, _, _ := strings.Cut(l.EndedWhy, ":")
	if l.EndedCode == "" && (strings.HasPrefix(code, "Client.") || strings.HasPrefix(code, "Server.")) && !strings.ContainsAny(code, " \n") {
		return code
	}
	return l.EndedCode
}

// Learn takes facts in and concludes from them how the launch ended. It tells
// whether the record says anything else now.
func (l *LaunchRecord) Learn(f outcome.Facts) (changed bool) {
	before := *l
	f = outcome.Merge(l.Known(), f)
	l.Started, l.Due, l.Registered, l.Ready, l.Tagged = f.Started, f.Due, f.Registered, f.Ready, f.Tagged
	l.Ended, l.EndedCode, l.EndedWhy, l.EndedBy, l.Forgotten = f.Ended, f.Reason.Code, f.Reason.Message, f.By, f.Forgotten
	l.Alive, l.Over = f.Alive, f.Over
	l.Noticed, l.Rebalance, l.Maintenance = f.Noticed, f.Rebalance, f.Maintenance
	l.Missed, l.Root, l.RootSure, l.RootAt = f.Missed, f.Root.Check, f.Root.Sure, f.Root.At
	l.Refused, l.GaveUp, l.Blind, l.Unseen = f.Refused, f.GivenUp, f.Blind, f.Unseen
	end, cause, why := outcome.Conclude(f)
	l.End, l.Cause, l.Why = end, cause, why
	l.endStatus()
	return *l != before
}

// endStatus brings the status in line with the end: what has ended is waited
// for no more, and what nobody waits for any more has an end.
func (l *LaunchRecord) endStatus() {
	switch {
	case l.End == snapshot.Joined:
		l.Status = outcome.Joined
	case l.End == snapshot.Open && l.Status.Final():
		l.End, l.Why = snapshot.Unclear, "nobody saw how it ended"
	case l.End != snapshot.Open && !l.GaveUp.IsZero() && l.Ended.IsZero() && l.Forgotten.IsZero():
		l.Status = outcome.GivenUp
	case l.End != snapshot.Open:
		l.Status = outcome.Gone
	}
}

// Losing tells that an end at that time is the end of a node that had joined not
// long before, and that nobody has taken it down yet. A zero time is not known.
func (l LaunchRecord) Losing(at time.Time) bool {
	return l.Status == outcome.Joined && !l.Ready.IsZero() && l.Ended.IsZero() &&
		(at.IsZero() || at.Sub(l.Ready) <= snapshot.LostWithin)
}

// Past is the launch as the history tells it.
func (l LaunchRecord) Past() snapshot.Past {
	p := snapshot.Past{
		ID: l.ID(), Nodegroup: l.Nodegroup, Group: l.Group, Type: l.Type, Zone: l.Zone, Subnet: l.Subnet, Spot: l.Spot,
		Started: l.Started, End: l.End, Cause: l.Cause, Why: l.Why,
		Registered: l.Registered, Ready: l.Ready, Ended: l.Ended, Noticed: l.Noticed, Rebalance: l.Rebalance,
		Free: l.Free, FreeAt: l.FreeAt,
	}
	switch p.End {
	case snapshot.Open:
		p.Missed = l.Missed
		if !p.Missed.IsZero() {
			p.Cause = l.Root
		}
	case snapshot.Joined:
		p.Lost = l.Known().Lost()
	}
	if p.Ended.IsZero() && p.End != snapshot.Open {
		p.Ended = l.Over // no more is known of when
	}
	if l.Machine != nil {
		p.Template = snapshot.TemplateRef{ID: l.Machine.Template, Version: l.Machine.Version}
		p.AMI, p.Architecture, p.Plugin = l.Machine.AMI, l.Machine.Architecture, l.Machine.Plugin
	}
	return p
}
