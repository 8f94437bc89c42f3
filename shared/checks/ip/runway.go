package ip

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/address"
	"rollcall/shared/snapshot"
)

// runwayHorizon is how long before a subnet runs out of addresses that is said,
// where the snapshot names no other time.
const runwayHorizon = 24 * time.Hour

func Runway() check.Check {
	// What one more node takes: without it, when no address is left.
	return check.New(checkid.IPRunway, runRunway, snapshot.Clusters, snapshot.LaunchHistory, snapshot.Subnets).
		Using(snapshot.InstanceTypes, snapshot.AWSNode, snapshot.Groups, snapshot.NodePoolsOf,
			snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf)
}

func runRunway(s *facts.View) []finding.Finding {
	c := routes.Of(s)
	samples := map[string][]snapshot.Sample{}
	for _, x := range s.Samples {
		samples[x.Subnet] = append(samples[x.Subnet], x)
	}
	var list []finding.Finding
	for _, id := range slices.Compact(slices.Sorted(slices.Values(s.Scope.Launchable))) {
		if subnet, known := c.Net.Subnet(id); known {
			list = append(list, runwayOf(c, subnet, samples[id]))
		}
	}
	if len(list) == 0 {
		list = append(list, finding.Finding{
			Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: []string{s.Cluster.Name},
			Evidence: []finding.Evidence{{What: s.Cluster.Name, Value: "no group may launch into a subnet"}},
		})
	}
	return list
}

// runwayOf holds the rule:
//
//	no IPv4 range                                                Pass: nothing to foretell
//	nobody looked often enough, or lately                        Unknown
//	no more left than one node takes                             Fail, advice; ip/subnet-exhausted says it
//	no fall, or it leaves more than the horizon                  Pass
//	a fall of hours or days, all of its interval in the horizon  Fail, likely
//	any other within the horizon                                 Fail, possible
func runwayOf(c *routes.Scope, subnet snapshot.Subnet, samples []snapshot.Sample) finding.Finding {
	pass := finding.Finding{Outcome: finding.Pass, Resource: subnet.ID, Covers: []string{subnet.ID}}
	if !subnet.CIDR.IsValid() {
		pass.Evidence = []finding.Evidence{{What: subnet.ID, Value: "has no IPv4 range"}}
		return pass
	}
	horizon := cmp.Or(c.S.Horizon, runwayHorizon)
	n := node(c, subnet.ID)
	p := pending(c, subnet.ID, n)
	r, warn := address.Warn(samples, n.takes+p.addresses, horizon, c.S.Time)
	if r.Reason == address.Reached && p.launches > 0 {
		// What is wanted may go elsewhere: it is no fall.
		r, warn = address.Warn(samples, n.takes, horizon, c.S.Time)
	}
	if r.Reason == address.TooFewSamples {
		return finding.Finding{
			Outcome: finding.Unknown, Resource: subnet.ID, Covers: []string{subnet.ID},
			Blocked: []snapshot.Failure{{
				Source: snapshot.LaunchHistory, Reason: snapshot.NotRead,
				Message: fmt.Sprintf("what %s has left was not recorded often enough lately (%d samples)", subnet.ID, len(samples)),
			}},
		}
	}
	evidence := []finding.Evidence{{What: "Free addresses of " + subnet.ID, Value: spokenRunway(r, c.S.Time)}}
	if p.launches > 0 {
		evidence = append(evidence, finding.Evidence{What: "Launches wanted", Value: p.words(n)})
	}
	if !warn && r.Reason != address.Reached {
		pass.Evidence = evidence
		return pass
	}
	f := finding.Finding{
		Outcome:    finding.Fail,
		Confidence: finding.Possible,
		Resource:   subnet.ID,
		Covers:     []string{subnet.ID},
		Resources:  []string{subnet.ID, subnet.VPC},
		Title:      phrase.Title("%s runs out of addresses at about %s", subnet.ID, clockMinute(r.Empty, c.S.Time)),
		Why:        runwayWhy(subnet, r, n, p, c.S.Time),
		Evidence:   append(evidence, finding.Evidence{What: subnet.ID, Value: fmt.Sprintf("%s, %s", subnet.CIDR, subnet.Zone)}),
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Find what takes the addresses (the command lists interfaces that nothing is attached to), or let the groups launch into a subnet other than %s.", subnet.ID),
			Command: command.AWS(c.S, "ec2 describe-network-interfaces", "--filters", "Name=subnet-id,Values="+subnet.ID, "Name=status,Values=available"),
			Console: link.VPC(c.S, "SubnetDetails:subnetId="+subnet.ID),
		},
	}
	if r.Reason == address.Reached {
		// ip/subnet-exhausted says it where somebody may still launch there.
		f.Confidence = finding.Advice
		f.Title = phrase.Title("%s has no addresses left for one more node", subnet.ID)
		f.Why = fmt.Sprintf("%s had %s free at %s, and %s.", subnet.ID, thousands(r.Free), clockMinute(r.At, c.S.Time), n.needs())
		return f
	}
	if r.Reason == address.Steady && !r.Latest.IsZero() && r.Latest.Sub(c.S.Time) <= horizon {
		f.Confidence = finding.Likely
	}
	return f
}

// oneMore is what one more node takes in a subnet.
type oneMore struct {
	kind  string // instance type; empty where none is known
	takes int    // addresses
}

// node is the smallest that a group may launch there, with the settings of
// aws-node where they were read. Without its type all addresses count.
func node(c *routes.Scope, subnet string) oneMore {
	if !c.S.Has(snapshot.InstanceTypes) || len(c.S.InstanceTypes) == 0 {
		return oneMore{}
	}
	pods := podNetworkOf(c.S)
	n := taker{from: []string{subnet}}
	n.subnet, _ = c.Net.Subnet(subnet)
	takers, _ := takers(c, pods)
	if i := slices.IndexFunc(takers, func(o taker) bool { return o.subnet.ID == subnet }); i >= 0 {
		n = takers[i]
	}
	t := smallest(c, n, pods)
	// A node with less than its first interface's addresses is no use: one
	// address less than that is what must not be reached.
	return oneMore{kind: t.Name, takes: max(n.demand(pods, t).First-1, 0)}
}

func (n oneMore) needs() string {
	if n.kind == "" {
		return "each node takes one at least"
	}
	return fmt.Sprintf("one more %s takes %d", n.kind, n.takes+1)
}

// pendingLaunches are those that groups want and have not made.
type pendingLaunches struct {
	launches, addresses int
	groups              []string
}

// pending shares the launches that groups want among their subnets, as Auto
// Scaling does, and the nodes that NodePools have asked for among theirs.
func pending(c *routes.Scope, subnet string, n oneMore) pendingLaunches {
	var p pendingLaunches
	if !c.S.Has(snapshot.Groups) {
		return p
	}
	for _, g := range c.S.Groups {
		missing := g.Desired - len(g.Instances)
		if missing <= 0 || !slices.Contains(g.Subnets, subnet) || zones.Stopped(g) {
			continue
		}
		p.launches += int(math.Ceil(float64(missing) / float64(len(g.Subnets))))
		p.groups = append(p.groups, g.Name)
	}
	for _, pool := range addressPools(c.S) {
		if pool.Wanted > 0 && slices.Contains(pool.Subnets, subnet) {
			p.launches += int(math.Ceil(float64(pool.Wanted) / float64(len(pool.Subnets))))
			p.groups = append(p.groups, "NodePool "+pool.Name)
		}
	}
	p.addresses = p.launches * (n.takes + 1)
	return p
}

// runwayWhy says since when, how fast, and until when, with the interval.
func runwayWhy(subnet snapshot.Subnet, r address.Runway, n oneMore, p pendingLaunches, now time.Time) string {
	until := "some are left"
	if n.takes > 0 {
		until = fmt.Sprintf("one more %s fits (%d addresses)", n.kind, n.takes+1)
	}
	text := fmt.Sprintf("Since %s %s lost %s an hour, from %s to %s. At that pace %s until %s",
		clockMinute(r.Since, now), subnet.ID, addressesOf(r.PerHour), thousands(max(r.From, r.Free)), thousands(r.Free), until, clockMinute(r.Empty, now))
	if between := interval(r, now); between != "" {
		text += " (" + between + ")"
	}
	if p.launches > 0 {
		text += fmt.Sprintf("; of those, %d are for %d %s that %s wanted by %s", p.addresses, p.launches, phrase.Plural(p.launches, "launch", "launches"), phrase.Plural(p.launches, "is", "are"), phrase.Some(p.groups, 2))
	}
	return text + "."
}

// interval is the interval in words; empty where it is a minute.
func interval(r address.Runway, now time.Time) string {
	early := clockMinute(later(r.Earliest, now), now)
	switch {
	case r.Latest.IsZero():
		return "at the earliest " + early
	case clockMinute(r.Latest, now) == early:
		return ""
	}
	return early + " to " + clockMinute(r.Latest, now)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// spokenRunway is what was seen, in words.
func spokenRunway(r address.Runway, now time.Time) string {
	have := fmt.Sprintf("%s at %s", thousands(r.Free), clockMinute(r.At, now))
	switch r.Reason {
	case address.Reached:
		return have + ": no more than one node takes already"
	case address.Wave:
		return have + ": they fell as they do on other days, and came back then"
	case address.Rising:
		return have + ", and rising"
	case address.NoTrend:
		return have + ": no fall that goes on"
	}
	return fmt.Sprintf("%s, %s, %s an hour since %s: %s left", have, r.Reason, addressesOf(-r.PerHour), clockMinute(r.Since, now), roughly(r.Empty.Sub(now)))
}

func (p pendingLaunches) words(n oneMore) string {
	return fmt.Sprintf("%d here, by %s: %d addresses of %s", p.launches, phrase.Some(p.groups, 4), p.addresses, cmp.Or(n.kind, "an unknown type"))
}

// addressesOf writes a pace: "42 addresses", "0.4 addresses".
func addressesOf(perHour float64) string {
	if math.Abs(perHour) < 10 {
		text := strconv.FormatFloat(perHour, 'f', 1, 64)
		return text + " " + phrase.Plural(int(math.Abs(perHour)*10+0.5)-9, "address", "addresses")
	}
	return thousands(int(math.Round(perHour))) + " addresses"
}

// roughly writes a long span: "7 h", "40 min".
func roughly(d time.Duration) string {
	if d < 2*time.Hour {
		return fmt.Sprintf("%d min", int(max(d, 0).Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}

// clockMinute is a time to five minutes, which is how often subnets are looked
// at, and with its day if that is another than that of the look.
func clockMinute(t, now time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	t, now = t.UTC().Round(5*time.Minute), now.UTC()
	if t.Format(time.DateOnly) != now.Format(time.DateOnly) {
		return t.Format("2 Jan 15:04 UTC")
	}
	return t.Format("15:04 UTC")
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(max(n, -n))
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	if n < 0 {
		return "-" + text
	}
	return text
}
