package report

import "slices"

// The most that a period lists: more could not be shown, and its record must fit into an item
// of the table (400 KB, DynamoDB, "Quotas").
const (
	mostPeriodIncidents = 60
	mostPeriodClusters  = 60
	mostPeriodUnseen    = 60
	mostPeriodOthers    = 30
	maxPeriodText       = 300 // runes of a sentence
	maxPeriodName       = 100 // and of a name
)

// Bounded is the period with its lists cut to what can be shown: what is left out is counted.
func (p Period) Bounded() Period {
	p.Incidents = p.Incidents[:min(len(p.Incidents), mostPeriodIncidents)]
	if n := len(p.Wrong) - mostPeriodClusters; n > 0 {
		p.Wrong, p.MoreWrong = p.Wrong[:mostPeriodClusters], p.MoreWrong+n
	}
	if n := len(p.Unseen) - mostPeriodUnseen; n > 0 {
		p.Unseen, p.MoreUnseen = p.Unseen[:mostPeriodUnseen], p.MoreUnseen+n
	}
	p.Silences = p.Silences[:min(len(p.Silences), mostPeriodOthers)]
	p.Soonest = p.Soonest[:min(len(p.Soonest), mostPeriodOthers)]
	if n := len(p.Faults) - mostPeriodOthers; n > 0 {
		p.Faults, p.MoreFaults = p.Faults[:mostPeriodOthers], p.MoreFaults+n
	}
	if n := len(p.Unread) - mostPeriodOthers; n > 0 {
		p.Unread, p.MoreUnread = p.Unread[:mostPeriodOthers], p.MoreUnread+n
	}
	p.Causes = p.Causes[:min(len(p.Causes), mostPeriodOthers)]
	// All of it that comes from the account or from people is of a length that can be shown.
	p.Incidents, p.Unseen, p.Unread, p.Silences = slices.Clone(p.Incidents), slices.Clone(p.Unseen), slices.Clone(p.Unread), slices.Clone(p.Silences)
	p.Wrong, p.Soonest, p.Faults = slices.Clone(p.Wrong), slices.Clone(p.Soonest), slices.Clone(p.Faults)
	for i := range p.Silences {
		clip(maxPeriodText, &p.Silences[i].Reason)
		clip(maxPeriodName, &p.Silences[i].Whose, &p.Silences[i].By.Name, &p.Silences[i].Nodegroup)
	}
	for i := range p.Incidents {
		inc := &p.Incidents[i]
		clip(maxPeriodText, &inc.Title)
		clip(maxPeriodName, &inc.Whose)
		inc.Nodegroups = slices.Clone(inc.Nodegroups[:min(len(inc.Nodegroups), 4)])
		for k := range inc.Nodegroups {
			clip(maxPeriodName, &inc.Nodegroups[k])
		}
	}
	for i := range p.Wrong {
		clip(maxPeriodName, &p.Wrong[i].Whose)
	}
	for i := range p.Soonest {
		clip(maxPeriodName, &p.Soonest[i].Whose)
	}
	for i := range p.Unseen {
		clip(maxPeriodText, &p.Unseen[i].Says)
		clip(maxPeriodName, &p.Unseen[i].Whose)
	}
	for i := range p.Faults {
		clip(maxPeriodName, &p.Faults[i].Whose, &p.Faults[i].Target, &p.Faults[i].Code)
	}
	for i := range p.Unread {
		clip(maxPeriodText, &p.Unread[i])
	}
	return p
}

func clip(most int, texts ...*string) {
	for _, text := range texts {
		if len(*text) > most { // bytes are no fewer than runes
			runes := []rune(*text)
			*text = string(runes[:min(len(runes), most)])
		}
	}
}

// shorter is the period with half of its longest lists, down to few of each; false where they
// are that short already. What is left out is counted as by Bounded.
func (p Period) shorter() (Period, bool) {
	const few = 5
	half := func(n int) int { return max(n/2, few) }
	shorter := false
	cut := func(n int) int {
		shorter = shorter || n > few
		return min(n, half(n))
	}
	p.Incidents = p.Incidents[:cut(len(p.Incidents))]
	n := cut(len(p.Wrong))
	p.Wrong, p.MoreWrong = p.Wrong[:n], p.MoreWrong+len(p.Wrong)-n
	n = cut(len(p.Unseen))
	p.Unseen, p.MoreUnseen = p.Unseen[:n], p.MoreUnseen+len(p.Unseen)-n
	p.Silences, p.Soonest, p.Causes = p.Silences[:cut(len(p.Silences))], p.Soonest[:cut(len(p.Soonest))], p.Causes[:cut(len(p.Causes))]
	n = cut(len(p.Faults))
	p.Faults, p.MoreFaults = p.Faults[:n], p.MoreFaults+len(p.Faults)-n
	n = cut(len(p.Unread))
	p.Unread, p.MoreUnread = p.Unread[:n], p.MoreUnread+len(p.Unread)-n
	return p, shorter
}
