package slack

import (
	"cmp"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/node/spot"
	"rollcall/shared/slack/slacktext"
)

// whys are the explanations that the numbers support; without one, what they
// leave open.
func (p *page) whys(r spot.Report) {
	supported, open := withVerdict(r.Explanations, spot.Supported), withVerdict(r.Explanations, spot.Open)
	for i, e := range supported[:min(len(supported), mostWhys)] {
		l := p.explained(pick(i == 0, "Why", "And"), e)
		if e.Check == checkid.SpotBurstExceedsSubnet {
			l.firstOf(r.Bursts)
		}
		p.add(l.section())
	}
	switch {
	case len(supported) > 0:
	case len(open) > 0:
		names := make([]string, len(open))
		for i, e := range open {
			names[i] = slacktext.Clip(within(slacktext.OneLine(e.Name)), 80)
		}
		p.add(p.label("Why").plain(slacktext.Sentence("Not known yet. Still possible: " + strings.Join(names[:min(len(names), mostOpen)], "; "))).section())
	default:
		p.add(p.label("Why").plain("Not known: the history supports no explanation.").section())
	}
}

func (p *page) explained(label string, e spot.Explanation) *line {
	l := p.label(label)
	if name := slacktext.Clip(slacktext.OneLine(named(e)), 160); name != "" {
		l.strong(slacktext.Sentence(capital(name))).plain(" ")
	}
	return l.prose(slacktext.Sentence(slacktext.Clip(begin(slacktext.OneLine(brief(e))), min(maxSays, p.room))))
}

// brief is what an explanation says in few words; those that were queued before
// there were short forms have only the long one.
func brief(e spot.Explanation) string { return cmp.Or(e.Short, e.Says) }

// named is an explanation's name. One that ends in the id of a check ends in
// what the check says instead: who reads it need not know the ids.
func named(e spot.Explanation) string {
	what, is := strings.CutSuffix(e.Name, ": "+string(e.Check))
	if !is || e.Check == "" {
		return e.Name
	}
	if c, known := checks.Of(e.Check); known {
		return what + ": " + continued(c.Title) + " (" + string(e.Check) + ")"
	}
	return e.Name
}

// firstOf says when the first of the bursts was that asked too much.
func (l *line) firstOf(bursts []spot.Burst) {
	var first time.Time
	n := 0
	for _, b := range bursts {
		if !b.Exceeds() || b.Failed == 0 {
			continue
		}
		if n++; first.IsZero() || b.Began.Before(first) {
			first = b.Began
		}
	}
	if n > 0 {
		l.plain(pick(n == 1, " It began ", " The first began ")).clock(first).plain(".")
	}
}

// within is a name in the middle of a sentence. Spot is one of its own.
func within(s string) string {
	if strings.HasPrefix(s, "Spot") {
		return s
	}
	return continued(s)
}

// begin is capital, but for the ids of checks and for instance types.
func begin(s string) string {
	if first, _, _ := strings.Cut(s, " "); strings.ContainsAny(first, "/.") {
		return s
	}
	return capital(s)
}

func withVerdict(list []spot.Explanation, v spot.Verdict) []spot.Explanation {
	var some []spot.Explanation
	for _, e := range list {
		if e.Verdict == v {
			some = append(some, e)
		}
	}
	return some
}

// ruledOut are the explanations that nobody need follow, a line each.
func (p *page) ruledOut(list []spot.Explanation) {
	ruled := withVerdict(list, spot.RuledOut)
	var lines []*line
	for _, e := range ruled[:min(len(ruled), mostRuled)] {
		lines = append(lines, p.line().prose(slacktext.Sentence(slacktext.Clip(capital(slacktext.OneLine(e.Name))+colon(continued(slacktext.OneLine(brief(e)))), maxRuled))))
	}
	if left := len(ruled) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("… and "+slacktext.Number(left)+" more, in the thread"))
	}
	if len(lines) > 0 {
		p.add(p.heading("Ruled out"), bullets(lines...))
	}
}
