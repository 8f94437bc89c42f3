package slack

import (
	"cmp"
	"slices"
	"strings"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/incident"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// ofSubnet tells that an incident is about the addresses of its resource.
func ofSubnet(i incident.Incident) bool { return checks.Meaning(i.Key.Check).Breaks == check.Addresses }

// addressesAre says in which way a subnet is well again; empty for checks
// without words of their own.
func addressesAre(i incident.Incident) string {
	subnet := slacktext.Clip(slacktext.OneLine(i.Key.Resource), 40)
	switch i.Key.Check {
	case checkid.IPLeakedInterfaces:
		return subnet + " has its addresses back"
	case checkid.IPRunway:
		return subnet + " no longer runs out"
	case checkid.IPFragmented:
		return subnet + " has free /28 blocks again"
	case checkid.IPScaleOutWillNotFit:
		return subnet + " is large enough again"
	}
	return ""
}

// addressesWell is the end of an incident about a subnet's addresses.
func addressesWell(i incident.Incident) string {
	left := slices.IndexFunc(i.ClearedBy, func(e checks.Evidence) bool { return e.What == incident.Left })
	if left >= 0 {
		return "no longer pressing after " + slacktext.Span(outage(i)) + colon(slacktext.Clip(slacktext.OneLine(i.ClearedBy[left].Value), 120))
	}
	what := addressesAre(i)
	if i.Key.Check != checkid.IPRunway { // how long it was foreseen tells nobody anything
		what += " after " + slacktext.Span(outage(i))
	}
	return what + colon(cameBack(i))
}

// cameBack is what the passed check says of the subnet: "31 addresses, 12
// interfaces of 4 dead nodes".
func cameBack(i incident.Incident) string {
	for _, e := range i.ClearedBy {
		if e.What != i.Key.Resource && !strings.HasSuffix(e.What, " of "+i.Key.Resource) {
			continue
		}
		value := inShort(i.Key.Check, strings.TrimSpace(slacktext.Clean(e.Value)))
		if value != "" && slacktext.Length(value) <= 120 && !strings.Contains(value, "\n") {
			return value
		}
	}
	return ""
}

// inShort is what a check of addresses says of a subnet, for the first line: the
// whole sum is in the thread.
func inShort(check checks.ID, value string) string {
	switch check {
	case checkid.IPLeakedInterfaces:
		value = strings.Replace(value, " addresses back; ", " addresses, ", 1)
		return strings.Replace(value, " address back; ", " address, ", 1)
	case checkid.IPRunway: // "1,204 at 15:13 UTC, and rising"
		return strings.Replace(value, " at ", " free at ", 1)
	case checkid.IPFragmented: // "6 of 16 whole /28 blocks free; 140 addresses free, …"
		first, _, _ := strings.Cut(value, ";")
		return strings.TrimSuffix(first, " whole /28 blocks free")
	case checkid.IPScaleOutWillNotFit: // "2 groups may launch …: 9 m5.4xlarge x 60 = 540; 4091 free"
		return strings.TrimSpace(value[strings.LastIndex(value, ";")+1:])
	}
	return value
}

// was is what was wrong. Of what a leak held, the last look before its end saw
// only what a cleanup had left; the first line has the sum.
func was(i incident.Incident) string {
	if i.Key.Check == checkid.IPLeakedInterfaces && cameBack(i) != "" {
		return "interfaces of dead nodes held them"
	}
	return title(i)
}

// theirs names the message that says it now: by its check, and by its resource
// where that is another one.
func theirs(i incident.Incident) string {
	by := "another cause"
	if i.By != nil {
		by = slacktext.Clip(slacktext.OneLine(string(i.By.Check)), 60)
		if i.By.Resource != i.Key.Resource {
			by += " of " + slacktext.Clip(slacktext.OneLine(i.By.Resource), 60)
		}
	}
	return "explained by " + by + ", which has its own message"
}

// gaveWay says why another message says it now.
func gaveWay(i incident.Incident) string {
	const other = "has its own message"
	if i.By == nil {
		return continued(was(i)) + ": " + theirs(i)
	}
	subnet := slacktext.Clip(slacktext.OneLine(i.By.Resource), 40)
	short := i.By.Check.Family() != checkid.IP || i.By.Check == checkid.IPSubnetExhausted
	switch {
	case i.By.Check == checkid.IPLeakedInterfaces && i.Key.Check == checkid.IPRunway:
		return "interfaces of dead nodes are part of why " + subnet + " runs out; that " + other
	case i.By.Check == checkid.IPLeakedInterfaces:
		return "interfaces of dead nodes hold the addresses of " + subnet + "; that " + other
	case i.Key.Check == checkid.IPRunway:
		return "it came as foreseen, " + subnet + " has too few addresses now; that " + other
	case i.Key.Check == checkid.IPLeakedInterfaces && !i.Cleared.IsZero() && short:
		return "the leaked addresses are back, and " + subnet + " still has too few; that " + other
	case i.Key.Check == checkid.IPLeakedInterfaces && short:
		return subnet + " is too small even without its leak; that " + other
	}
	return continued(was(i)) + ": " + theirs(i)
}

// stated tells that the reason is a fact, however likely it is that it matters:
// interfaces that are there, addresses that were counted.
func stated(i incident.Incident) bool {
	return i.Key.Check == checkid.IPLeakedInterfaces || i.Key.Check == checkid.IPRunway || i.Key.Check == checkid.IPScaleOutWillNotFit
}

// worse tells that a subnet's trouble has reached launches or nodes. What is
// only foreseen has not, and what lets a leak stay is no effect of it.
func worse(i incident.Incident) bool {
	return slices.ContainsFunc(i.Effects, func(e incident.Effect) bool { return e.Here() && !checks.Meaning(e.Check).Predictive })
}

// mostEffects is how many effects a message lists.
const mostEffects = 5

// effects are other failures that belong to the incident, in the order in which
// they came: what a person would else meet one by one.
func (p *page) effects(i incident.Incident) {
	var list []incident.Effect
	for _, e := range i.Effects {
		// What was foreseen has come: worth a line only with when it was said.
		foreseen := (e.Check == checkid.IPRunway || e.Check == checkid.IPScaleOutWillNotFit) && e.Title == "" && (worse(i) || i.Key.Check == checkid.IPSubnetExhausted)
		if e.Here() && e.Check != checkid.IPLeakCause && !foreseen && effectWords(e) != "" {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b incident.Effect) int {
		switch {
		case a.Since.IsZero() != b.Since.IsZero():
			return pickInt(a.Since.IsZero(), 1, -1)
		}
		return a.Since.Compare(b.Since)
	})
	var lines []*line
	for _, e := range list[:min(len(list), mostEffects)] {
		l := p.line()
		if !e.Since.IsZero() {
			l.clock(e.Since).plain("\u2002")
		}
		lines = append(lines, l.prose(slacktext.Clip(effectWords(e), min(160, p.room))))
	}
	if left := len(list) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("… and "+slacktext.Number(left)+" more"))
	}
	if len(lines) > 0 {
		p.add(p.heading("Also failing"), bullets(lines...))
	}
}

// effectWords is what an effect says; of one that was never seen by itself,
// what its check says.
func effectWords(e incident.Effect) string {
	if t := slacktext.OneLine(e.Title); t != "" {
		return t // it begins with a time, or with a name
	}
	return checks.Meaning(e.Check).Title
}

func pickInt(yes bool, a, b int) int {
	if yes {
		return a
	}
	return b
}

// sketch shows the subnet's chart.
func (p *page) sketch(i incident.Incident) {
	s := i.Chart
	if s == nil || s.File == "" || s.FileOf != "" && s.FileOf != i.Moment() {
		return
	}
	alt := slacktext.Clip(slacktext.OneLine(cmp.Or(s.FileAlt, s.Alt)), slackapi.MaxAlt)
	if alt == "" {
		alt = "Free addresses of the subnet over time"
	}
	p.blocks = append(p.blocks, slackgo.NewImageBlockSlackFile(&slackgo.SlackFileObject{ID: s.File}, alt, "", nil))
}
