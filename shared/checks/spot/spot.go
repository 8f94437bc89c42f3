// Package spot holds the checks of spot: what Spot takes back, and which pools fail.
package spot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/ip"
	"rollcall/shared/network/address"
	"rollcall/shared/node/outcome"
	"rollcall/shared/node/spot"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func FewPools() check.Check {
	return check.New(checkid.SpotFewPools, runFewPools, snapshot.Nodegroups, snapshot.Subnets).
		Using(snapshot.NodePoolsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf)
}

func runFewPools(s *check.View) []check.Finding {
	zones := make(map[string]string, len(s.Subnets))
	for _, n := range s.Subnets {
		zones[n.ID] = n.Zone
	}
	var list []check.Finding
	var well []string
	for _, g := range s.Nodegroups {
		if !g.Spot || g.Max == 0 {
			well = append(well, g.Name)
			continue
		}
		in, lost := zonesOf(g.Subnets, zones)
		types := max(1, len(g.Types)) // without any the launch template names one
		switch {
		case types*len(in) >= spot.FewPools:
			well = append(well, g.Name)
		case lost != "":
			list = append(list, check.Unread(g.Name, []string{g.Name}, check.NotRead(snapshot.Subnets, "%s is not among the subnets that EC2 lists", lost)))
		default:
			list = append(list, tooFewPools(s, g, in))
		}
	}
	missing := make([]string, 0, len(s.Missing[snapshot.Nodegroups]))
	for name := range s.Missing[snapshot.Nodegroups] {
		missing = append(missing, name)
	}
	slices.Sort(missing)
	for _, name := range missing {
		list = append(list, check.Unread(name, []string{name}, s.Missing[snapshot.Nodegroups][name]))
	}
	pools, good := fewInPools(s)
	list, well = append(list, pools...), append(well, good...)
	if unread := len(pools) == 1 && pools[0].Resource == s.Cluster.Name; !unread && (len(well) > 0 || len(list) == 0) {
		well = append(well, s.Cluster.Name)
	}
	return check.Passing(list, s.Cluster.Name, well)
}

// zonesOf are the zones of subnets, and one subnet that is not known.
func zonesOf(subnets []string, of map[string]string) (zones []string, lost string) {
	for _, id := range subnets {
		zone, known := of[id]
		if !known {
			lost = id
			continue
		}
		zones = append(zones, zone)
	}
	slices.Sort(zones)
	return slices.Compact(zones), lost
}

func tooFewPools(s *check.View, g snapshot.Nodegroup, zones []string) check.Finding {
	types := g.Types
	if len(types) == 0 {
		types = []string{"the launch template's type"}
	}
	n := len(types) * len(zones)
	return check.Failed(g.Name, g.Name).Involving(g.Subnets...).
		Titled("%s has only %d Spot %s", g.Name, n, check.Plural(n, "pool", "pools")).
		Because("%s can launch %s in %s: %d %s. When EC2 has no more of one, a large part of the nodegroup goes with it.",
			g.Name, check.Some(types, 5), check.Some(zones, 5), n, check.Plural(n, "pool", "pools")).
		Noting("Types", check.And(types)).
		Noting("Zones", check.And(zones)).
		ToFix("Add types of the same size to %s (the types of a managed node group cannot be changed: make a new one), or subnets in more zones.", g.Name).
		Console(fmt.Sprintf("%s/eks/home?region=%s#/clusters/%s/nodegroups/%s", s.ConsoleHost(), s.Region, s.Cluster.Name, g.Name))
}

// The addresses that a node takes at start in place of whole interfaces: enough for the
// pods that it starts with, which is what MINIMUM_IP_TARGET is for, and a few in reserve
// (amazon-vpc-cni-k8s, docs/eni-and-ip-target.md).
const (
	mostAtStart  = 20
	leastAtStart = 5
	inReserve    = 2
)

// fewer is the command with which the same burst would have fitted into what the subnet
// had; empty where no setting does that, or where the settings or types were not read.
// It changes the reserve of every node: a larger subnet stays the better answer.
func (b *burstLook) fewer(burst spotreport.Burst) string {
	if b.s.CNI == nil || b.settings.IPv6 || b.settings.Elsewhere || b.settings.Prefixes {
		return ""
	}
	for atStart := mostAtStart; atStart >= leastAtStart; atStart-- {
		s := b.settings
		s.WarmAddresses, s.MinimumAddresses = inReserve, atStart
		if demand, known := b.demand(burst, s); known && demand <= burst.Had {
			return shell.Command("kubectl", "-n", "kube-system", "set", "env", "daemonset", "aws-node",
				"MINIMUM_IP_TARGET="+strconv.Itoa(atStart), "WARM_IP_TARGET="+strconv.Itoa(inReserve))
		}
	}
	return ""
}

// demand is what a burst's nodes take at start with other settings.
func (b *burstLook) demand(burst spotreport.Burst, s address.Settings) (total int, known bool) {
	for _, term := range burst.Terms {
		i := slices.IndexFunc(b.s.InstanceTypes, func(t snapshot.InstanceType) bool { return t.Name == term.Type })
		if i < 0 {
			return 0, false
		}
		total += term.Count * s.AtStart(b.s.InstanceTypes[i]).Total()
	}
	return total, len(burst.Terms) > 0
}

// historyOf is the launch history of a snapshot as package spot judges it.
func historyOf(s *check.View) spot.Input {
	in := spot.Input{
		Cluster: s.Cluster.Name, From: s.Time, To: s.Time,
		History: s.History, Samples: s.Samples, Subnets: s.Subnets, Types: s.InstanceTypes, Groups: s.Groups, CNI: s.CNI, IPv6: s.Cluster.IPv6,
	}
	for _, p := range s.History {
		if p.Started.Before(in.From) {
			in.From = p.Started
		}
	}
	return in
}

// spotOwners are the nodegroups (or groups) with Spot launches, each with
// those, by name.
func spotOwners(s *check.View) ([]string, map[string][]snapshot.Past) {
	of := map[string][]snapshot.Past{}
	var names []string
	for _, p := range s.History {
		if !p.Spot {
			continue
		}
		name := cmp.Or(p.Nodegroup, p.Group, "without a group")
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], p)
	}
	slices.Sort(names)
	return names, of
}

// nothingToJudge passes a history without Spot launches.
func nothingToJudge(s *check.View) []check.Finding {
	return []check.Finding{check.Passed(s.Cluster.Name, s.Cluster.Name).
		Noting("Spot launches", "none in the history")}
}

// unseenEnds is what keeps from judging launches whose ends were not seen.
func unseenEnds(message string) []snapshot.Failure {
	return []snapshot.Failure{check.NotRead(snapshot.LaunchHistory, "%s", message)}
}

func ManyRefusals() check.Check {
	return check.New(checkid.SpotManyRefusals, runManyRefusals, snapshot.Clusters, snapshot.LaunchHistory)
}

const (
	fewestRefusals = 5
	refusedShare   = 5 // one in five
)

func runManyRefusals(s *check.View) []check.Finding {
	names, of := spotOwners(s)
	if len(names) == 0 {
		return nothingToJudge(s)
	}
	var list []check.Finding
	for _, name := range names {
		pools := map[string]int{}
		refused, placed := 0, 0
		for _, p := range of[name] {
			if p.End != snapshot.Refused || p.Cause != checkid.LaunchInsufficientCapacity && p.Cause != checkid.LaunchSpotPrice {
				continue
			}
			refused++
			if p.Type != "" || p.Zone != "" {
				placed++
				pools[strings.Trim(p.Type+"/"+p.Zone, "/")]++
			}
		}
		switch {
		case refused < fewestRefusals || refused*refusedShare < len(of[name]):
			list = append(list, check.Passed(name, name).
				Notingf("Spot launches of "+name, "%d of %d refused for lack of capacity", refused, len(of[name])))
		case 2*placed < refused:
			list = append(list, check.Unread(name, []string{name}, unseenEnds(fmt.Sprintf("EC2 refused %d of %d Spot launches of %s, and did not report in which pools", refused, len(of[name]), name))...))
		default:
			list = append(list, refusedOften(s, name, pools, refused, len(of[name])))
		}
	}
	return list
}

func refusedOften(s *check.View, name string, pools map[string]int, refused, requested int) check.Finding {
	keys := make([]string, 0, len(pools))
	for key := range pools {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(pools[b], pools[a]), cmp.Compare(a, b)) })
	// The pools that have four of five refusals among them: those to change.
	worst, sum := 0, 0
	for worst < len(keys) && sum*5 < refused*4 {
		sum += pools[keys[worst]]
		worst++
	}
	var evidence []check.Evidence
	for _, key := range keys {
		evidence = append(evidence, check.Evidence{What: key, Value: fmt.Sprintf("%d refused", pools[key])})
	}
	return check.Failed(name, name).Involving(keys[:worst]...).
		Titled("%s: EC2 refused %d of %d Spot launches", name, refused, requested).
		Because("EC2 had no Spot capacity for %d of %d launches of %s; %d of them were in %s.", refused, requested, name, sum, check.Some(keys[:worst], 4)).
		Showing(evidence...).
		ToFix("Remove %s from %s, and add types and zones.", check.Some(keys[:worst], 4), name).
		Console(s.EC2Link("SpotInstances:"))
}

// fewInPools judges the NodePools that launch Spot instances and nothing else: one that
// may launch on demand too does so where no Spot pool has capacity (karpenter.sh,
// NodePools, "Capacity Type").
func fewInPools(s *check.View) (list []check.Finding, well []string) {
	if blocked, unread := check.KarpenterUnread(s, snapshot.NodePoolsOf); unread {
		return []check.Finding{check.Unread(s.Cluster.Name, []string{s.Cluster.Name}, blocked...)}, nil
	}
	for _, p := range s.NodePools {
		key := check.PoolKey(p.Name)
		subnets, known := check.PoolSubnets(s, p)
		types, bounded := mostTypes(p)
		var zones []string
		for _, n := range subnets {
			zones = append(zones, n.Zone)
		}
		slices.Sort(zones)
		zones = slices.Compact(zones)
		switch {
		case p.Deleting || !onlySpot(p) || !bounded || noneLeft(p):
			well = append(well, key)
		case !known:
			// Of a hundred types in one zone no shortage is one of all.
			list = append(list, check.Unread(p.Name, []string{key}, poolsBlocked(s, p)))
		case len(types)*len(zones) >= spot.FewPools || len(zones) == 0:
			well = append(well, key)
		default:
			list = append(list, fewInPool(s, p, types, zones))
		}
	}
	return list, well
}

// onlySpot reports whether all nodes of a NodePool are Spot instances. What it leaves open
// is on demand, or both: neither hangs on Spot alone.
func onlySpot(p snapshot.NodePool) bool {
	return slices.ContainsFunc(p.Requirements, func(r snapshot.Requirement) bool {
		return r.Key == "karpenter.sh/capacity-type" && r.Operator == "In" && slices.Equal(r.Values, []string{"spot"})
	})
}

// noneLeft reports whether its limits let a NodePool have no node at all: it is switched off.
func noneLeft(p snapshot.NodePool) bool {
	return p.Limits["cpu"] == "0" || p.Limits["nodes"] == "0"
}

// mostTypes are the instance types that the requirements of a NodePool leave at the
// most; bounded is false where they name neither types nor families with sizes or
// CPUs: then there are plenty.
func mostTypes(p snapshot.NodePool) (types []string, bounded bool) {
	named := func(suffixes ...string) (values []string, has bool) {
		for _, r := range p.Requirements {
			for _, suffix := range suffixes {
				own := r.Key == suffix || r.Key == snapshot.KarpenterGroup+"/"+suffix || r.Key == snapshot.AutoModeGroup+"/"+suffix
				if own && r.Operator == "In" && (!has || len(r.Values) < len(values)) {
					values, has = r.Values, true
				}
			}
		}
		return values, has
	}
	if list, has := named("node.kubernetes.io/instance-type"); has {
		return distinct(list), true
	}
	families, has := named("instance-family")
	if !has {
		return nil, false
	}
	sizes, has := named("instance-size")
	if !has {
		if sizes, has = named("instance-cpu"); !has {
			return nil, false
		}
		sizes = slices.Clone(sizes)
		for i := range sizes {
			sizes[i] += " CPUs"
		}
	}
	for _, family := range distinct(families) {
		for _, size := range distinct(sizes) {
			types = append(types, family+"."+size)
		}
	}
	return types, true
}

func distinct(list []string) []string {
	list = slices.Sorted(slices.Values(list))
	return slices.Compact(list)
}

func poolsBlocked(s *check.View, p snapshot.NodePool) snapshot.Failure {
	source := snapshot.EC2NodeClassesOf
	if p.Class.Group == snapshot.AutoModeGroup {
		source = snapshot.AutoNodeClassesOf
	}
	if !s.Has(source) {
		return s.Why(source)
	}
	return check.NotRead(source, "its class does not show which subnets it selects")
}

func fewInPool(s *check.View, p snapshot.NodePool, types, zones []string) check.Finding {
	n := len(types) * len(zones)
	return check.Failed(p.Name, check.PoolKey(p.Name)).
		Titled("NodePool %s has only %d Spot %s", p.Name, n, check.Plural(n, "pool", "pools")).
		Because("NodePool %s launches only Spot instances, of %s in %s: %d %s at most. When EC2 has no more of one, a large part of its nodes goes with it, and Karpenter has few alternatives.",
			p.Name, check.Some(types, 5), check.Some(zones, 5), n, check.Plural(n, "pool", "pools")).
		Noting("Types", strings.Join(types, ", ")).
		Noting("Zones", check.And(zones)).
		ToFix("Leave more types open in the requirements of NodePool %s (categories and generations instead of names), or more zones; or allow on-demand too.", p.Name).
		Command(shell.Command("kubectl", "edit", "nodepool", p.Name)).Console(s.ClusterLink())
}

func PoolFailing() check.Check {
	return check.New(checkid.SpotPoolFailing, runPoolFailing, snapshot.Clusters, snapshot.LaunchHistory)
}

const (
	// poolWorks is how unlikely it must be that so many launches in a row join
	// by chance, and fewestWork the fewest, for a pool that was failing to work
	// again.
	poolWorks  = 0.01
	fewestWork = 5
	// poolLeft is after how long without a launch a pool counts as given up.
	poolLeft = 24 * time.Hour
	// poolUnseen is how many launches with an unseen end are too many.
	poolUnseen = 5
)

func runPoolFailing(s *check.View) []check.Finding {
	var list []check.Finding
	for _, p := range spot.Read(historyOf(s)).Pools {
		if !p.Spot || p.Type == "" || p.Zone == "" {
			continue
		}
		pass := func(what, value string) check.Finding {
			return check.Passed(p.Key(), p.Key()).Noting(what, value)
		}
		switch idle := s.Time.Sub(p.Last); {
		case p.Failing && worksAgain(p):
			list = append(list, pass(p.Name(), fmt.Sprintf("the last %d launches joined", p.Streak)))
		case p.Failing && idle >= poolLeft:
			list = append(list, pass(p.Name(), fmt.Sprintf("is no longer used: its last launch was %s, %d hours ago", check.ClockTime(p.Last), int(idle.Hours()))))
		case p.Failing:
			list = append(list, failingPool(s, p))
		case p.Unknown >= poolUnseen && p.Unknown > p.Judged:
			list = append(list, check.Unread(p.Key(), []string{p.Key()}, unseenEnds(fmt.Sprintf("the outcome of %d of %d launches of %s is unknown", p.Unknown, p.Launched, p.Name()))...))
		default:
			list = append(list, pass(p.Name(), fmt.Sprintf("%d of %d launches joined, those that failed for causes elsewhere left out", p.Judged-p.Failed, p.Judged)))
		}
	}
	if len(list) == 0 {
		return nothingToJudge(s)
	}
	return list
}

// worksAgain reports whether as many launches have joined since one failed as the
// pool would hardly have had while it was failing: 5 where none joined, 16
// where three of four did.
func worksAgain(p spotreport.Pool) bool {
	before := p.Judged - p.Streak
	if before <= 0 || p.Streak < fewestWork {
		return false
	}
	share := float64(before-p.Failed) / float64(before)
	return math.Pow(share, float64(p.Streak)) <= poolWorks
}

func failingPool(s *check.View, p spotreport.Pool) check.Finding {
	f := check.Failed(p.Key(), p.Key()).Involving(p.Nodegroups...).
		Titled("Spot pool %s fails: %d of %d did not join", p.Key(), p.Failed, p.Judged).
		Because("%s. By chance a healthy pool fails this often in fewer than 1 of 100 clusters watched for 90 days.", p.Describe()).
		Notingf(p.Name(), "%d of %d launches joined; the share is between %.0f %% and %.0f %% (95 %% interval)", p.Judged-p.Failed, p.Judged, 100*p.Low, 100*p.High).
		Notingf("Other pools of "+check.Some(p.Nodegroups, 3), "%d of %d launches joined", p.Rest-p.RestFailed, p.Rest).
		Notingf("Chance", "p = %.2g, corrected for the number of pools and for hourly checks over 90 days", p.P).
		ToFix("Remove %s from %s, and give the nodegroup other types in its place.", p.Name(), check.Some(p.Nodegroups, 3)).
		Console(s.EC2Link("SpotInstances:"))
	var causes []string
	for _, c := range p.Causes {
		causes = append(causes, fmt.Sprintf("%d %s", c.Count, c.Name))
	}
	f = f.Noting("How its launches ended", strings.Join(append(causes, fmt.Sprintf("%d joined", p.Joined)), ", "))
	return f
}

func RebalanceChurn() check.Check {
	return check.New(checkid.SpotRebalanceChurn, runRebalanceChurn, snapshot.Clusters, snapshot.LaunchHistory).
		Using(snapshot.Nodes)
}

const (
	fewestReplaced = 5
	replacedShare  = 10 // one in ten
	// soonAfter is how long after it joined a node counts as hardly there.
	soonAfter = 15 * time.Minute
)

func runRebalanceChurn(s *check.View) []check.Finding {
	names, of := spotOwners(s)
	if len(names) == 0 {
		return nothingToJudge(s)
	}
	lives := s.Ready()
	var list []check.Finding
	for _, name := range names {
		joined, unseen := 0, 0
		var replaced []snapshot.Past
		for _, p := range of[name] {
			if p.End != snapshot.Joined || p.Ready.IsZero() {
				continue
			}
			joined++
			lived, ended := p.Lived()
			switch {
			case p.Rebalance.IsZero() || p.Rebalance.Sub(p.Ready) > soonAfter || !p.Noticed.IsZero():
			case ended && lived < time.Hour:
				replaced = append(replaced, p)
			case p.Ended.IsZero() && !lives[p.ID] && s.Time.Sub(p.Ready) > time.Hour:
				unseen++
			}
		}
		many := func(n int) bool { return n >= fewestReplaced && n*replacedShare >= joined }
		switch {
		case many(len(replaced)):
			list = append(list, churning(s, name, replaced, joined))
		case many(len(replaced) + unseen):
			list = append(list, check.Unread(name, []string{name}, unseenEnds(fmt.Sprintf("EC2 recommended a rebalance of %d nodes of %s soon after they joined; the end of %d of them is unknown", len(replaced)+unseen, name, unseen))...))
		default:
			list = append(list, check.Passed(name, name).
				Notingf("Nodes of "+name, "%d of %d replaced within an hour after a rebalance recommendation", len(replaced), joined))
		}
	}
	return list
}

func churning(s *check.View, name string, replaced []snapshot.Past, joined int) check.Finding {
	pools := map[string]int{}
	var total time.Duration
	var keys []string
	for _, p := range replaced {
		lived, _ := p.Lived()
		total += lived
		key := p.Type + "/" + p.Zone
		if pools[key]++; pools[key] == 1 {
			keys = append(keys, key)
		}
	}
	last := replaced[len(replaced)-1]
	return check.Failed(name, name).Involving(keys...).
		Titled("%s: %d of %d Spot nodes replaced soon after they joined", name, len(replaced), joined).
		Because("EC2 recommended a rebalance of %d of the %d nodes of %s within %s of their joining, and they were replaced after %s on average; EC2 reclaimed none of them.",
			len(replaced), joined, name, check.Minutes(soonAfter), check.Minutes((total/time.Duration(len(replaced))).Round(time.Minute))).
		Noting("Pools", check.Some(keys, 5)).
		Notingf(last.ID, "Ready %s, rebalance recommended %s, ended %s", check.ClockTime(last.Ready), check.ClockTime(last.Rebalance), check.ClockTime(last.Ended)).
		ToFix("Give %s more types and zones to choose from, with the allocation strategy price-capacity-optimized.", name).
		Console(s.EC2Link("AutoScalingGroups:"))
}

func ReclaimedBeforeJoin() check.Check {
	// Nodes are looked at where they were read, like in instance/ended-early.
	return check.New(checkid.SpotReclaimedBeforeJoin, runReclaimed, snapshot.Instances).
		Using(snapshot.NodeEventsOf)
}

func runReclaimed(s *check.View) []check.Finding {
	l := s.Index()
	var well, unseen []string
	var groups check.Groups[*snapshot.Instance]
	for _, i := range s.Scoped() {
		switch verdict := reclaim(l, i); verdict {
		case check.Pass:
			well = append(well, i.ID)
		case check.Unknown:
			unseen = append(unseen, i.ID)
		case check.Fail:
			groups.Add(cmp.Or(i.Owner(), i.ID), i)
		}
	}
	list := check.Passing(nil, s.Cluster.Name, well)
	if len(unseen) > 0 {
		list = append(list, check.Unread(s.Cluster.Name, unseen, unreclaimed(l)...))
	}
	for owner, of := range groups.All() {
		list = append(list, reclaimedBeforeJoinFinding(l, owner, of))
	}
	return list
}

// reclaim judges one instance. The empty outcome is "nothing to say".
func reclaim(l check.InstanceIndex, i *snapshot.Instance) check.Outcome {
	launch, remembered := l.Launches[i.ID]
	at := l.EndOf(i)
	switch taken := l.TakenBack(i); {
	case l.Warm[i.ID], l.Past(i) == check.Served:
		return check.Pass
	case !taken && l.Rebalanced(i) && l.Activity[i.ID] == "" && (!l.S.Has(snapshot.Activities) || !l.Reaches(i)):
		return check.Unknown // perhaps its group replaced it
	case !taken:
		return check.Pass
	case !remembered:
		return "" // its launch was not watched; it may have been a node for months
	case at.Before(launch.Due):
		return check.Fail
	case launch.Cause != "", at.Sub(launch.Started) > outcome.Longest, l.Activity[i.ID] != "":
		return "" // it had its time: what kept it is reported elsewhere, or it had been a node
	case !l.S.Has(snapshot.Nodes):
		return check.Unknown
	}
	return check.Fail
}

func unreclaimed(l check.InstanceIndex) []snapshot.Failure {
	var list []snapshot.Failure
	if !l.S.Has(snapshot.Nodes) {
		list = append(list, l.S.Why(snapshot.Nodes))
	}
	if !l.S.Has(snapshot.Activities) {
		return append(list, l.S.Why(snapshot.Activities))
	}
	if len(list) == 0 {
		list = append(list, check.NotRead(snapshot.Activities, "the scaling activities that were read do not go back to the launch: its group may have replaced it as EC2 recommended"))
	}
	return list
}

func reclaimedBeforeJoinFinding(l check.InstanceIndex, key string, list []*snapshot.Instance) check.Finding {
	f := check.Finding{Outcome: check.Fail, Resource: key}
	for n, i := range list {
		f.Covers = append(f.Covers, i.ID)
		if n < maxTaken {
			f = f.Noting(i.ID, takenLine(l, i))
		}
	}
	if more := len(list) - maxTaken; more > 0 {
		f = f.Notingf("Instances", "and %d more", more)
	}
	f.Instances = f.Covers
	first := list[0]
	launch := l.Launches[first.ID]
	f.Title = check.Title("%s %s reclaimed by EC2 before %s %s", check.Subject(f.Covers, "instance"), check.Verb(f.Covers, "was", "were"), check.Verb(f.Covers, "it was", "they were"), check.Verb(f.Covers, "a node", "nodes"))
	f.Why = fmt.Sprintf("%s was launched at %s and had %s to join: %s.", first.ID, check.ClockTime(launch.Started), check.Minutes(launch.Due.Sub(launch.Started)), takenHow(l, first))
	f.Fix = check.Fix{
		Text:    "Nothing is wrong with the node. More instance types and zones make it rarer.",
		Console: l.S.EC2Link("InstanceDetails:instanceId=" + first.ID),
	}
	return f
}

// maxTaken is how many instances are listed one by one.
const maxTaken = 5

// takenHow is what shows that EC2 took an instance back. When, never how long
// ago: the words must not change with each look.
func takenHow(l check.InstanceIndex, i *snapshot.Instance) string {
	launch := l.Launches[i.ID]
	switch {
	case i.Ended() && l.Reason(i).Class == checkid.SpotReclaimedBeforeJoin:
		return fmt.Sprintf("%s (%s)%s", l.Reason(i).Meaning, i.StateReason.Code, lived(l, i))
	case !launch.Noticed.IsZero():
		what := "Spot capacity"
		if !i.Spot {
			// EC2 warns of one other: an instance in an interruptible capacity reservation.
			what = "capacity reservation"
		}
		return fmt.Sprintf("EC2 warned at %s that it would reclaim the %s", check.ClockTime(launch.Noticed), what)
	}
	return fmt.Sprintf("its group replaced it after EC2's rebalance recommendation of %s", check.ClockTime(launch.Rebalance))
}

// lived is how long after its launch an instance ended, if EC2 says when.
func lived(l check.InstanceIndex, i *snapshot.Instance) string {
	if i.StateReason.When.IsZero() {
		return ""
	}
	return fmt.Sprintf(" %s after the launch", i.StateReason.When.Sub(l.Launches[i.ID].Started).Round(time.Second))
}

func takenLine(l check.InstanceIndex, i *snapshot.Instance) string {
	launch := l.Launches[i.ID]
	parts := []string{i.State}
	if code := i.StateReason.Code; code != "" {
		parts = append(parts, code)
	}
	if !launch.Noticed.IsZero() {
		parts = append(parts, "warned "+check.ClockTime(launch.Noticed))
	}
	if !launch.Rebalance.IsZero() {
		parts = append(parts, "rebalance recommended "+check.ClockTime(launch.Rebalance))
	}
	for _, p := range []string{i.Type, i.Zone} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if cause := l.Activity[i.ID]; cause != "" {
		parts = append(parts, check.Clip(cause))
	}
	return strings.Join(parts, ", ")
}

func BurstExceedsSubnet() check.Check {
	return check.New(checkid.SpotBurstExceedsSubnet, runBurstExceedsSubnet, snapshot.Clusters,
		snapshot.LaunchHistory, snapshot.Subnets, snapshot.InstanceTypes).
		Using(snapshot.AWSNode, snapshot.Unattached, snapshot.CreatorsOf)
}

func runBurstExceedsSubnet(s *check.View) []check.Finding {
	b := newBurstLook(s)
	all, _ := spot.Bursts(historyOf(s))
	worst := map[string]spotreport.Burst{}
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
	var list []check.Finding
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
		list = append(list, check.Passed(s.Cluster.Name, append(covers, s.Cluster.Name)...))
	}
	return list
}

func short(b spotreport.Burst) int {
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
func (b *burstLook) judge(burst spotreport.Burst, of sufferers) check.Finding {
	subnet := b.subnets[burst.Subnet]
	covers := []string{burst.Subnet}
	for _, group := range of.refused {
		if group != "" {
			covers = append(covers, group)
		}
	}
	if b.s.CNI == nil && b.s.Has(snapshot.AWSNode) && !b.s.Cluster.AutoMode {
		return check.Passed(burst.Subnet, covers...).
			Noting(b.s.Cluster.Name, "has no aws-node: another plugin gives pods their addresses")
	}
	if !burst.HadKnown && burst.Total > 0 && burst.Demand > burst.Total {
		burst.Had, burst.HadKnown = burst.Total, true
	}
	if !burst.HadKnown {
		return check.Unread(burst.Subnet, covers, check.NotRead(snapshot.LaunchHistory, "the free addresses of %s before %s were not recorded", burst.Subnet, check.ClockTime(burst.Began)))
	}
	evidence := []check.Evidence{
		{What: "Launches from " + check.ClockTime(burst.Began), Value: terms(burst)},
		{What: burst.Subnet + " had", Value: fmt.Sprintf("%d of %d addresses before them, %d now", burst.Had, burst.Total, subnet.Free)},
	}
	if !burst.Exceeds() || burst.Launches < 2 || burst.Had < least(burst) {
		return check.Passed(burst.Subnet, covers...).Showing(evidence...)
	}
	settings := "not read: the plugin's defaults are assumed"
	if b.s.CNI != nil {
		settings = b.words()
	}
	f := check.Failed(burst.Subnet, covers...).Affecting(of.instances...).
		Involving(append([]string{burst.Subnet}, burst.Nodegroups...)...).
		WithConfidence(b.confidence(burst, of, subnet)).
		Titled("%d launches needed %d addresses, %s had %d", burst.Launches, burst.Demand, burst.Subnet, burst.Had).
		Because("%s (%s, %s). Launched within %s by %s; the last ones get no addresses for pods.",
			burst.Short(), subnet.CIDR, burst.Zone, lasted(burst), check.Some(burst.Nodegroups, 4)).
		Showing(evidence...).
		Noting("Settings of aws-node", settings).
		ToFix("%s", b.howToFit(burst)).Command(b.fewer(burst)).
		Console(b.s.VPCLink("SubnetDetails:subnetId=" + burst.Subnet))
	if check.LeakedAddresses(b.s, burst.Subnet) < short(burst) {
		f.NarrowedAfter = []checkid.ID{} // without the leak it would have been short of addresses too
	}
	return f
}

// howToFit is a larger subnet, or fewer addresses for each node.
func (b *burstLook) howToFit(burst spotreport.Burst) string {
	if b.fewer(burst) == "" {
		return burst.Larger() + " Or reserve fewer addresses per node: WARM_IP_TARGET and MINIMUM_IP_TARGET of aws-node, or prefix delegation."
	}
	return burst.Larger() + fmt.Sprintf(" Or reserve fewer addresses per node: with this setting of aws-node the same launches fit in %d.", burst.Had)
}

// least is what the smallest of a burst's nodes takes.
func least(b spotreport.Burst) int {
	n := 0
	for _, t := range b.Terms {
		if n == 0 || t.Each < n {
			n = t.Each
		}
	}
	return n
}

// terms are those of each type, and their sum.
func terms(b spotreport.Burst) string {
	list := b.ByType()
	if len(list) == 1 {
		return fmt.Sprintf("%s = %d addresses", list[0], b.Demand)
	}
	return fmt.Sprintf("%s; together %d addresses", strings.Join(list, "; "), b.Demand)
}

// lasted is how long a burst lasted, a minute at least.
func lasted(b spotreport.Burst) string {
	return check.Minutes(max(time.Minute, b.Last.Sub(b.Began).Round(time.Minute)))
}

// burstLook is what bursts are judged with.
type burstLook struct {
	s        *check.View
	l        check.InstanceIndex
	subnets  map[string]snapshot.Subnet
	past     map[string]snapshot.Past
	pending  map[string]bool
	settings address.Settings
}

func newBurstLook(s *check.View) *burstLook {
	b := &burstLook{
		s: s, l: s.Index(), subnets: map[string]snapshot.Subnet{}, past: map[string]snapshot.Past{}, pending: map[string]bool{},
		settings: address.SettingsOf(s.CNI),
	}
	for _, n := range s.Subnets {
		b.subnets[n.ID] = n
	}
	for _, p := range s.History {
		b.past[p.ID] = p
	}
	suspects, _ := b.l.S.Pending()
	for _, i := range suspects {
		if i.Ended() || b.l.Due(i.ID) {
			b.pending[i.ID] = true
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
func (b *burstLook) suffered(burst spotreport.Burst) sufferers {
	var of sufferers
	for _, id := range burst.IDs {
		p := b.past[id]
		switch {
		case p.End == snapshot.Refused && b.s.Time.Sub(p.Started) <= check.Counted:
			of.refused = append(of.refused, p.Group)
		case b.pending[id] && (b.l.Nodes[id] != nil || !p.Registered.IsZero()):
			of.instances = append(of.instances, id)
		}
	}
	slices.Sort(of.refused)
	of.refused = slices.Compact(of.refused)
	return of
}

func (b *burstLook) confidence(burst spotreport.Burst, of sufferers, subnet snapshot.Subnet) check.Confidence {
	smallest := check.MostFirst
	for _, t := range b.s.InstanceTypes {
		if slices.ContainsFunc(burst.Terms, func(term spotreport.Term) bool { return term.Type == t.Name }) {
			smallest = min(smallest, b.settings.AtStart(t).First)
		}
	}
	switch {
	case b.s.CNI == nil:
		return check.Possible
	case subnet.ID != "" && subnet.Free == 0, len(of.refused) > 0:
		return check.Certain
	case subnet.ID != "" && subnet.Free < smallest:
		return check.Likely
	}
	return check.Possible
}

// words are the settings that count.
func (b *burstLook) words() string {
	st := b.settings
	st.IPv6 = st.IPv6 || b.s.Cluster.IPv6
	return ip.SettingsWords(st)
}
