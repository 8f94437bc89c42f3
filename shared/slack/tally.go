package slack

import (
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
)

// tally counts how an incident's launches stand.
type tally struct {
	// all is every affected launch, also those not kept by name.
	all, waiting, missed, joined, gone, givenUp int
}

func tallyOf(i incident.Incident) tally {
	t := tally{all: max(i.Affected, len(i.Launches))}
	for _, l := range i.Launches {
		switch l.Status {
		case report.Waiting:
			t.waiting++
		case report.Joined:
			t.joined++
		case report.Gone:
			t.gone++
		case report.GivenUp:
			t.givenUp++
		default:
			t.missed++
		}
	}
	return t
}

// out is how many have not joined. Launches not kept by name count as such.
func (t tally) out() int { return t.all - t.joined }

// early tells that no launch is due yet.
func (t tally) early() bool { return t.out() > 0 && t.missed+t.gone+t.givenUp == 0 && t.waiting > 0 }

// ended tells that all that have not joined no longer exist.
func (t tally) ended() bool { return t.gone > 0 && t.gone == t.out() }

// who is the subject of the sentence: "12 instances", "3 of 12 instances".
func (t tally) who() string {
	if t.joined > 0 && t.out() > 0 {
		return slacktext.Number(t.out()) + " of " + slacktext.Count(t.all, "instance")
	}
	return slacktext.Count(t.out(), "instance")
}

// parts tells how the launches stand, in words; nothing if all stand alike.
func (t tally) parts() []string {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, slacktext.Number(n)+" "+pick(n == 1, one, many))
		}
	}
	add(t.joined, "joined", "joined")
	add(t.missed, "is not Ready", "are not Ready")
	add(t.waiting, "is not due yet", "are not due yet")
	add(t.givenUp, "is not Ready and no longer checked", "are not Ready and no longer checked")
	add(t.gone, "ended before joining", "ended before joining")
	if len(parts) < 2 {
		return nil
	}
	unnamed := t.all - t.joined - t.missed - t.waiting - t.givenUp - t.gone
	add(unnamed, "is not listed by name", "are not listed by name")
	return parts
}

// byStart are the launches, oldest first.
func byStart(launches []report.Launch) []report.Launch {
	list := slices.Clone(launches)
	slices.SortStableFunc(list, func(a, b report.Launch) int { return a.Started.Compare(b.Started) })
	return list
}

// first is the oldest launch that has not joined; with none, the oldest.
func first(launches []report.Launch) (report.Launch, bool) {
	list := byStart(launches)
	for _, l := range list {
		if l.Status != report.Joined {
			return l, true
		}
	}
	if len(list) > 0 {
		return list[0], true
	}
	return report.Launch{}, false
}

// joinTime is how long a launch took to become a Ready node.
func joinTime(l report.Launch) (time.Duration, bool) {
	if l.Ready.IsZero() || l.Started.IsZero() || l.Ready.Before(l.Started) {
		return 0, false
	}
	return l.Ready.Sub(l.Started), true
}
