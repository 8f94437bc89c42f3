package slack

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/network/leak"
	"rollcall/shared/report"
	"rollcall/shared/shell"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

const broom = "🧹"

// mostSubnets is how many subnets a cleanup's message lists.
const mostSubnets = 12

// renderCleanup is the message of what eni-cleanup did in a cluster on a day.
func renderCleanup(s report.Summary, c report.Cleanup) slackapi.Message {
	top := cleanupLine(s, c)
	return slackapi.Message{
		Text: slacktext.Notification(top),
		Blocks: slacktext.Fit(func(room int) []slackgo.Block {
			p := newPage(place{s.Partition, s.Region}, s.At, room)
			p.add(p.line().strong(top).section())
			if c.Stopped != nil {
				p.stopped(s, c)
				return p.blocks
			}
			p.returned(c)
			if c.Left > 0 {
				p.add(p.label("Next").plain(slacktext.Count(c.Left, "more interface") + " of dead nodes " + pick(c.Left == 1, "waits", "wait") +
					" for the next run: one run takes as many as its cap (setting cleanupCap) and its time allow.").section())
			}
			p.kept(c.Kept)
			day := p.line().styled("Counted since 00:00 UTC, last run ", &slackgo.RichTextSectionTextStyle{Italic: true}).clock(s.At)
			day.plain(".")
			if dry(c) {
				day.plain(" Nothing is deleted in the mode dry-run: EC2 was only asked whether it could be.")
			}
			p.add(day.section())
			return p.blocks
		}),
		Tag: SummaryTag(s.ID, ""),
	}
}

func dry(c report.Cleanup) bool { return c.Mode != "delete" }

// sums are the numbers of all subnets together. A node that had interfaces in
// several of them is one.
func sums(c report.Cleanup) (addresses, interfaces, nodes int) {
	for _, s := range c.Subnets {
		addresses, interfaces, nodes = addresses+s.Addresses, interfaces+s.Interfaces, nodes+s.Nodes
	}
	if c.Nodes > 0 {
		nodes = c.Nodes
	}
	return addresses, interfaces, nodes
}

// cleanupLine is the first line: where, how many came back, of whom.
func cleanupLine(s report.Summary, c report.Cleanup) string {
	where := slacktext.Place(slacktext.Clip(slacktext.OneLine(s.Cluster), 60), s.Whose) + " · "
	vpc := slacktext.Clip(slacktext.OneLine(c.VPC), 40)
	if stop := c.Stopped; stop != nil {
		what := fmt.Sprintf("%s of %s of %s look left behind", slacktext.Number(stop.Candidates), slacktext.Count(stop.Interfaces, "interface"), vpc)
		if !stop.Over.IsZero() {
			return green + " " + where + "the cleanup goes on; it had stopped when " + strings.Replace(what, " look ", " looked ", 1)
		}
		return red + " " + where + "the cleanup stopped and deleted nothing: " + what
	}
	addresses, interfaces, nodes := sums(c)
	if interfaces == 0 {
		return broom + " " + where + pick(dry(c), "dry run would give back no address", "no address to give back")
	}
	in := slacktext.Clip(slacktext.OneLine(c.Subnets[0].Subnet), 40)
	if len(c.Subnets) > 1 {
		in = slacktext.Number(len(c.Subnets)) + " subnets"
	}
	of := "; " + slacktext.Count(interfaces, "interface") + " of " + slacktext.Count(nodes, "dead node")
	if dry(c) {
		return broom + " " + where + "dry run would give back " + slacktext.Count(addresses, "address") + " in " + in + of
	}
	return broom + " " + where + slacktext.Count(addresses, "address") + " back in " + in + of
}

// returned lists what came back to each subnet, those that got most first.
func (p *page) returned(c report.Cleanup) {
	list := slices.Clone(c.Subnets)
	slices.SortStableFunc(list, func(a, b report.CleanupSubnet) int { return b.Addresses - a.Addresses })
	if len(list) == 1 {
		s := list[0]
		l := p.label("Now").prose(slacktext.Clip(slacktext.OneLine(s.Subnet), 40)).plain(" has " + slacktext.Count(s.Free, "free address"))
		if dry(c) && s.Addresses > 0 {
			l.plain(", and would have " + slacktext.Number(s.Free+s.Addresses))
		}
		p.add(l.plain(".").section())
		return
	}
	var lines []*line
	for _, s := range list[:min(len(list), mostSubnets)] {
		l := p.line().prose(slacktext.Clip(slacktext.OneLine(s.Subnet), 40))
		if s.Zone != "" {
			l.plain(" in " + slacktext.Clip(slacktext.OneLine(s.Zone), 40))
		}
		lines = append(lines, l.plain(": "+slacktext.Count(s.Addresses, "address")+", "+slacktext.Count(s.Interfaces, "interface")+" of "+slacktext.Count(s.Nodes, "node")+"; "+slacktext.Number(s.Free)+" free now"))
	}
	if left := len(list) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("… and "+slacktext.Count(left, "more subnet")))
	}
	if len(lines) > 0 {
		p.add(p.heading(pick(dry(c), "Would come back", "Came back")), bullets(lines...))
	}
}

// kept says which interfaces no run deletes, and why not.
func (p *page) kept(kept map[string]int) {
	const most = 8
	reasons := slices.SortedFunc(maps.Keys(kept), func(a, b string) int {
		if kept[a] != kept[b] {
			return kept[b] - kept[a]
		}
		return strings.Compare(a, b)
	})
	reasons = slices.DeleteFunc(reasons, func(r string) bool { return kept[r] < 1 })
	var lines []*line
	for _, r := range reasons[:min(len(reasons), most)] {
		lines = append(lines, p.line().prose(slacktext.Number(kept[r])+" "+keptBecause(r, kept[r] == 1)))
	}
	if left := len(reasons) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("… and "+slacktext.Count(left, "more reason")))
	}
	if len(lines) > 0 {
		p.add(p.heading("Not touched"), bullets(lines...))
	}
}

// keptBecause is a reason in words, after a number.
func keptBecause(reason string, one bool) string {
	has, is, its := pick(one, "has", "have"), pick(one, "is", "are"), pick(one, "its", "their")
	switch leak.Reason(reason) {
	case leak.Untagged:
		return pick(one, "names", "name") + " no cluster. If all clusters of the VPC are watched, add the VPC to the setting cleanupUntagged; to have new ones named, set CLUSTER_NAME on aws-node."
	case leak.Strangers:
		return pick(one, "names", "name") + " no cluster, and a cluster that is not watched has interfaces in the VPC: " + pick(one, "it", "they") + " may be that one's, whatever cleanupUntagged says. Watch all clusters of the VPC, or set CLUSTER_NAME on aws-node."
	case leak.OtherCluster:
		return pick(one, "belongs", "belong") + " to a cluster that is not watched."
	case leak.OwnerLives:
		return pick(one, "was made by a node that still exists", "were made by nodes that still exist") + " (a stopped one counts)."
	case leak.OwnerUnread:
		return "could not be judged: EC2 did not say what became of " + its + " node."
	case leak.TagsDisagree:
		return is + " described as one node's, and not tagged as the same one's."
	case leak.PublicAddress:
		return has + " an Elastic IP address, which the VPC CNI never gives: somebody uses " + pick(one, "it", "them") + "."
	case leak.NotByCNI:
		return pick(one, "was", "were") + " not made by the VPC CNI."
	case leak.NoDate:
		return has + " no date of creation that can be read."
	case leak.TooYoung:
		return is + " younger than the grace period (setting cleanupGrace)."
	case leak.NotSeenBefore:
		return pick(one, "was", "were") + " seen by one run only; the next one may take " + pick(one, "it", "them") + "."
	case leak.RequesterManaged:
		return is + " managed by an AWS service."
	case leak.NotPlain:
		return is + " of another type than the VPC CNI makes."
	case leak.InUse:
		return is + " in use."
	case leak.OtherAccount:
		return pick(one, "belongs", "belong") + " to another account."
	case leak.OtherVPC:
		return is + " in another VPC."
	case leak.Changed:
		return "changed just before the delete."
	case leak.OverCap, leak.OverShare, leak.Leaked:
		return is + " left for a later run."
	}
	return slacktext.Clip(slacktext.OneLine(slacktext.Sentence(colonless(reason))), 120)
}

// colonless is a reason without words here: as it is.
func colonless(reason string) string {
	if reason == "" {
		return "for an unknown reason"
	}
	return "kept: " + reason
}

// stopped says why a run deleted nothing, and what a person has to look at.
func (p *page) stopped(s report.Summary, c report.Cleanup) {
	stop := *c.Stopped
	share := 0
	if stop.Interfaces > 0 {
		share = 100 * stop.Candidates / stop.Interfaces
	}
	if !stop.Over.IsZero() {
		p.add(p.label("Was").plain(fmt.Sprintf("%d %% of the VPC's interfaces, and a run may take %d %% (setting cleanupShare). It went on at ", share, stop.Share)).clock(stop.Over).plain(".").section())
		return
	}
	p.add(p.label("Why").plain(fmt.Sprintf("That is %d %%, and a run may take %d %% (setting cleanupShare). So many at once are either a large leak or a mistake, and Rollcall cannot tell which. It looks again every 15 minutes and deletes nothing until a person has.", share, stop.Share)).section())
	p.add(p.heading("Check"), bullets(
		p.line().plain("Are the nodes that made them gone? This lists the interfaces; each one's description ends in its node's id:"),
	), pre(p.listLeft(c.VPC)))
	p.add(bullets(
		p.line().plain("Do other clusters share ").prose(slacktext.Clip(slacktext.OneLine(c.VPC), 40)).plain("? Their nodes may run in an account that Rollcall does not see."),
		p.line().plain("Did a large nodegroup end today, or was Rollcall switched on only now? Then it is a real leak."),
	))
	p.add(p.label("Do").plain("If all of them are left behind, deploy again with a higher share, and lower it when they are gone. To the arguments of make deploy add:").section(),
		pre(fmt.Sprintf(`SET="cleanupShare=%d"`, min(share+5, 100))))
}

// listLeft is the command that lists what the VPC CNI made and nothing uses.
func (p *page) listLeft(vpc string) string {
	if ids.FindString(vpc) != vpc || !region.MatchString(p.place.region) {
		vpc = shell.Placeholder("VPC")
	}
	return shell.Command("aws", "ec2", "describe-network-interfaces", "--region", p.place.region, "--filters", "Name=vpc-id,Values="+vpc,
		"Name=status,Values=available", "Name=description,Values=aws-K8S-*", "--query", "NetworkInterfaces[].[NetworkInterfaceId,Description]", "--output", "text")
}
