package spot

import (
	"slices"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/ip"
	"rollcall/shared/network/address"

	"rollcall/shared/node/spot"
	"rollcall/shared/snapshot"
)

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
