package spot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/ip"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/address"
	"rollcall/shared/node/spot"
	"rollcall/shared/snapshot"
)

func BurstExceedsSubnet() check.Check {
	return check.New(checkid.SpotBurstExceedsSubnet, runBurstExceedsSubnet, snapshot.Clusters,
		snapshot.LaunchHistory, snapshot.Subnets, snapshot.InstanceTypes).
		Using(snapshot.AWSNode, snapshot.Unattached, snapshot.CreatorsOf)
}

func runBurstExceedsSubnet(s *facts.View) []finding.Finding {
	b := newBurstLook(s)
	all, _ := spot.Bursts(historyOf(s))
	worst := map[string]spot.Burst{}
	hit := map[string]sufferers{}
	var subnets []string
	for _, burst := range all {
		of := b.suffered(burst)
		if len(of.instances)+len(of.refused) == 0 {
			continue
		}
		have, is := worst[burst.Subnet]
		if !is {
			subnets = append(subnets, burst.Subnet)
		}
		// Of two bursts the one that is short of more tells the story.
		if !is || short(burst) > short(have) {
			worst[burst.Subnet], hit[burst.Subnet] = burst, of
		}
	}
	var list []finding.Finding
	told := map[string]bool{}
	for _, id := range subnets {
		f := b.judge(worst[id], hit[id])
		for _, cover := range f.Covers {
			told[cover] = true
		}
		list = append(list, f)
	}
	covers := slices.Concat(s.Scope.Subnets, s.Scope.Launchable)
	for _, g := range s.Groups {
		covers = append(covers, g.Name)
	}
	covers = slices.DeleteFunc(covers, func(id string) bool { return told[id] })
	if len(covers) > 0 || len(list) == 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: append(covers, s.Cluster.Name)})
	}
	return list
}

func short(b spot.Burst) int {
	if !b.HadKnown {
		return b.Demand - max(b.Total, 0)
	}
	return b.Demand - b.Had
}

// judge holds the rule:
//
//	another plugin gives addresses                                      Pass
//	asked at most what there was                                        Pass
//	one launch, or less before them than one node takes                 Pass: the subnet was empty without them
//	asked more than the whole subnet is                                 as if it had been empty before
//	what there was is not known                                         Unknown
//	asked more, settings read, and the subnet is empty or EC2 said so   Fail, certain
//	asked more, settings read, less free than one more node takes       Fail, likely
//	asked more, else                                                    Fail, possible
func (b *burstLook) judge(burst spot.Burst, of sufferers) finding.Finding {
	subnet := b.subnets[burst.Subnet]
	covers := []string{burst.Subnet}
	for _, group := range of.refused {
		if group != "" {
			covers = append(covers, group)
		}
	}
	if b.s.CNI == nil && b.s.Has(snapshot.AWSNode) && !b.s.Cluster.AutoMode {
		return finding.Finding{Outcome: finding.Pass, Resource: burst.Subnet, Covers: covers, Evidence: []finding.Evidence{{What: b.s.Cluster.Name, Value: "has no aws-node: another plugin gives pods their addresses"}}}
	}
	if !burst.HadKnown && burst.Total > 0 && burst.Demand > burst.Total {
		burst.Had, burst.HadKnown = burst.Total, true
	}
	if !burst.HadKnown {
		return finding.Finding{
			Outcome: finding.Unknown, Resource: burst.Subnet, Covers: covers,
			Blocked: []snapshot.Failure{{
				Source: snapshot.LaunchHistory, Reason: snapshot.NotRead,
				Message: fmt.Sprintf("how many addresses %s had before %s was not recorded", burst.Subnet, phrase.ClockTime(burst.Began)),
			}},
		}
	}
	evidence := []finding.Evidence{
		{What: "Launches from " + phrase.ClockTime(burst.Began), Value: terms(burst)},
		{What: burst.Subnet + " had", Value: fmt.Sprintf("%d of %d addresses before them, %d now", burst.Had, burst.Total, subnet.Free)},
	}
	if !burst.Exceeds() || burst.Launches < 2 || burst.Had < least(burst) {
		return finding.Finding{Outcome: finding.Pass, Resource: burst.Subnet, Covers: covers, Evidence: evidence}
	}
	settings := "not read: the plugin's defaults are taken"
	if b.s.CNI != nil {
		settings = b.words()
	}
	f := finding.Finding{
		Outcome: finding.Fail, Confidence: b.confidence(burst, of, subnet), Resource: burst.Subnet, Covers: covers, Instances: of.instances,
		Resources: append([]string{burst.Subnet}, burst.Nodegroups...),
		Title:     phrase.Title("%d launches needed %d addresses, %s had %d", burst.Launches, burst.Demand, burst.Subnet, burst.Had),
		Why: fmt.Sprintf("%s (%s, %s). They began within %s, of %s; those that came last get no addresses for pods.",
			burst.Short(), subnet.CIDR, burst.Zone, lasted(burst), phrase.Some(burst.Nodegroups, 4)),
		Evidence: append(evidence, finding.Evidence{What: "Settings of aws-node", Value: settings}),
		Fix: finding.Fix{
			Text:    b.howToFit(burst),
			Command: b.fewer(burst),
			Console: link.VPC(b.s, "SubnetDetails:subnetId="+burst.Subnet),
		},
	}
	if facts.LeakedAddresses(b.s, burst.Subnet) < short(burst) {
		f.Behind = []checkid.ID{} // without the leak it would have been short of addresses too
	}
	return f
}

// howToFit is a larger subnet, or fewer addresses for each node.
func (b *burstLook) howToFit(burst spot.Burst) string {
	if b.fewer(burst) == "" {
		return burst.Larger() + " Or let nodes take fewer addresses at start: WARM_IP_TARGET and MINIMUM_IP_TARGET of aws-node, or prefix delegation."
	}
	return burst.Larger() + fmt.Sprintf(" Or have each node take fewer addresses at start: with this setting of aws-node the same launches fit into %d.", burst.Had)
}

// least is what the smallest of a burst's nodes takes.
func least(b spot.Burst) int {
	n := 0
	for _, t := range b.Terms {
		if n == 0 || t.Each < n {
			n = t.Each
		}
	}
	return n
}

// terms are those of each type, and their sum.
func terms(b spot.Burst) string {
	list := b.ByType()
	if len(list) == 1 {
		return fmt.Sprintf("%s = %d addresses", list[0], b.Demand)
	}
	return fmt.Sprintf("%s; together %d addresses", strings.Join(list, "; "), b.Demand)
}

// lasted is how long a burst lasted, a minute at least.
func lasted(b spot.Burst) string {
	return phrase.Minutes(max(time.Minute, b.Last.Sub(b.Began).Round(time.Minute)))
}

// burstLook is what bursts are judged with.
type burstLook struct {
	s        *facts.View
	l        facts.InstanceIndex
	subnets  map[string]snapshot.Subnet
	past     map[string]snapshot.Past
	suspects map[string]bool
	settings address.Settings
}

func newBurstLook(s *facts.View) *burstLook {
	b := &burstLook{
		s: s, l: s.Index(), subnets: map[string]snapshot.Subnet{}, past: map[string]snapshot.Past{}, suspects: map[string]bool{},
		settings: address.SettingsOf(s.CNI),
	}
	for _, n := range s.Subnets {
		b.subnets[n.ID] = n
	}
	for _, p := range s.History {
		b.past[p.ID] = p
	}
	suspects, _ := b.l.S.Suspects()
	for _, i := range suspects {
		if i.Ended() || b.l.Due(i.ID) {
			b.suspects[i.ID] = true
		}
	}
	return b
}

// sufferers are those of a burst that an empty subnet would explain:
// instances of the scope that registered and are not Ready (an instance has
// its own address, which is all that registering takes), and launches that EC2
// refused for want of addresses, by group.
type sufferers struct {
	instances []string
	refused   []string
}

// suffered are the sufferers of a burst. A refusal counts as long as other
// failed launches do.
func (b *burstLook) suffered(burst spot.Burst) sufferers {
	var of sufferers
	for _, id := range burst.IDs {
		p := b.past[id]
		switch {
		case p.End == snapshot.Refused && b.s.Time.Sub(p.Started) <= facts.Counted:
			of.refused = append(of.refused, p.Group)
		case b.suspects[id] && (b.l.Nodes[id] != nil || !p.Registered.IsZero()):
			of.instances = append(of.instances, id)
		}
	}
	slices.Sort(of.refused)
	of.refused = slices.Compact(of.refused)
	return of
}

func (b *burstLook) confidence(burst spot.Burst, of sufferers, subnet snapshot.Subnet) finding.Confidence {
	smallest := facts.MostFirst
	for _, t := range b.s.InstanceTypes {
		if slices.ContainsFunc(burst.Terms, func(term spot.Term) bool { return term.Type == t.Name }) {
			smallest = min(smallest, b.settings.AtStart(t).First)
		}
	}
	switch {
	case b.s.CNI == nil:
		return finding.Possible
	case subnet.ID != "" && subnet.Free == 0, len(of.refused) > 0:
		return finding.Certain
	case subnet.ID != "" && subnet.Free < smallest:
		return finding.Likely
	}
	return finding.Possible
}

// words are the settings that count.
func (b *burstLook) words() string {
	st := b.settings
	st.IPv6 = st.IPv6 || b.s.Cluster.IPv6
	return ip.SettingsWords(st)
}
