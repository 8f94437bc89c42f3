package iam

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func stsEndpoint(s *facts.View) []finding.Finding {
	list, blind := s.RoleGroups()
	net := s.Network()
	for _, c := range list {
		blind = append(blind, sts(c, s, net)...)
	}
	return blind
}

// sts judges each suspect, and says the same of several once.
func sts(c facts.RoleGroup, s *facts.View, net *path.Network) []finding.Finding {
	var list []finding.Finding
	clean := facts.RoleGroup{Role: c.Role, Well: c.Well}
	same := map[string]int{}
	for _, i := range c.Suspects {
		f, unread := stsOf(c, s, net, i)
		switch {
		case f.Outcome == finding.Fail:
			if at, have := same[f.Resource]; have {
				list[at].Covers = append(list[at].Covers, i.ID)
				continue
			}
			f.Covers = []string{i.ID}
			same[f.Resource] = len(list)
			list = append(list, f)
		case len(unread) > 0:
			list = append(list, finding.Unread(c.Role, []string{i.ID}, unread...))
		default:
			clean.Suspects = append(clean.Suspects, i)
		}
	}
	for at := range list {
		if list[at].Outcome == finding.Fail {
			list[at].Instances = list[at].Covers
		}
	}
	if len(clean.All()) > 0 {
		list = append(list, clean.Pass("STS", "nothing tells that it is not reached"))
	}
	return list
}

func stsOf(c facts.RoleGroup, s *facts.View, net *path.Network, i *snapshot.Instance) (finding.Finding, []snapshot.Failure) {
	regional, global := stsHost(s)
	f := finding.Finding{Outcome: finding.Fail, Fix: finding.Fix{Console: link.VPC(s, "Endpoints:")}}
	for _, host := range []string{regional, global} {
		h, found, _ := listen(s, i, stsFailed(host))
		if !found {
			continue
		}
		f.Resource = host
		f.Title = phrase.Title("%s is not reached", host)
		f.Why = fmt.Sprintf("%s does not get through to %s (%s).", i.ID, host, h.from)
		f.Evidence = []finding.Evidence{{What: h.from, Value: h.line}}
		f.Fix.Text = "Look at the way to STS: a firewall or a proxy, the endpoint's security group and private DNS, name resolution."
		if host == global && host != regional {
			f.Fix.Text, f.Fix.Command = beRegional()
		}
		return f, nil
	}
	legacy, why := callsGlobal(s)
	ways, known := net.Needs(i.Subnet)
	shut := known && closed(ways, net.Internet(i.Subnet))
	if why != "" && shut {
		f.Resource = "kube-system/aws-node"
		f.Title = phrase.Title("aws-node calls %s, which %s cannot reach", global, i.VPC)
		f.Why = fmt.Sprintf("aws-node takes its role from STS and calls %s: %s. %s has no way to the internet, and its endpoint answers for %s only.", global, why, i.Subnet, regional)
		f.Evidence = []finding.Evidence{{What: "aws-node", Value: "role " + legacy + "; " + why}}
		for _, w := range ways {
			if w.Service == path.STS {
				f.Evidence = append(f.Evidence, finding.Evidence{What: "Path to " + regional, Value: w.String()})
			}
		}
		f.Fix.Text, f.Fix.Command = beRegional()
		return f, nil
	}
	// A node that has registered had a token that was taken.
	if h, found, _ := listen(s, i, refusedToken); found && !registered(s, i) && isAdmitted(c, s) {
		f.Confidence, f.Resource = finding.Possible, c.Role
		f.Title = phrase.Title("%s is admitted, and its token is refused", c.Name())
		f.Why = fmt.Sprintf("The cluster admits %s, and still answers %s with Unauthorized. STS may be switched off in %s, or the account's tokens of the global endpoint are not valid there; or the role was made anew after its access entry.", c.Role, i.ID, s.Region)
		f.Evidence = []finding.Evidence{{What: h.from, Value: h.line}}
		f.Fix = finding.Fix{Text: "Look at the account's settings for STS (active regions, version of global tokens). Then make the role's access entry again.", Console: fmt.Sprintf("%s/iam/home?region=%s#/account_settings", link.Host(s), s.Region)}
		return f, nil
	}
	_, _, unread := listen(s, i, func(string) bool { return false })
	if shut && !s.Has(snapshot.AWSNode) {
		unread = append(unread, s.Why(snapshot.AWSNode))
	}
	return finding.Finding{}, unread
}

// closed tells that STS is reached by an interface endpoint, and that there is
// no way to the internet beside it. Where STS is not reached at all, or the
// way leaves what is read, the checks of routes and endpoints say so.
func closed(ways []path.Path, internet path.Way) bool {
	for _, w := range ways {
		if w.Service == path.STS {
			return w.Means == path.ByInterface && w.Verdict == path.Reaches && internet.Verdict == path.NoRoute
		}
	}
	return false
}

// callsGlobal tells that aws-node has a role of its service account and calls
// the global name to get it: it is told to, or it is not told to call the
// regional one and the cluster is older than 1.22, from which on EKS tells it
// (amazon-eks-pod-identity-webhook pull request 148).
func callsGlobal(s *facts.View) (role, why string) {
	who, unknown := whoIsCNI(s)
	if unknown != nil || s.CNI == nil || s.CNI.Role == "" || who.role != s.CNI.Role {
		return "", "" // Pod Identity and the node's role need no STS
	}
	switch value := s.CNI.Env["AWS_STS_REGIONAL_ENDPOINTS"]; {
	case strings.EqualFold(value, "legacy"):
		return who.role, "AWS_STS_REGIONAL_ENDPOINTS is " + value
	case value == "" && before122(s.Cluster.Version):
		return who.role, "AWS_STS_REGIONAL_ENDPOINTS is not set, and Kubernetes " + s.Cluster.Version + " does not set it either"
	}
	return "", ""
}

func before122(version string) bool {
	major, minor, ok := strings.Cut(version, ".")
	n, err := strconv.Atoi(minor)
	return ok && err == nil && major == "1" && n < 22
}

func beRegional() (text, command string) {
	return "Let aws-node call the regional name.", "kubectl set env daemonset aws-node -n kube-system AWS_STS_REGIONAL_ENDPOINTS=regional"
}

// isAdmitted tells that the cluster is known to admit the group's role.
func isAdmitted(c facts.RoleGroup, s *facts.View) bool {
	for _, f := range missing(c, s) {
		if f.Outcome != finding.Pass {
			return false
		}
	}
	return len(c.Suspects) > 0
}

// refusedToken tells the API server's answer to a token that it does not take.
// EC2's UnauthorizedOperation is about an action that a role may not do.
func refusedToken(line string) bool {
	return strings.Contains(strings.ReplaceAll(line, "UnauthorizedOperation", ""), "Unauthorized")
}

// registered tells that an instance has a node, be it Ready or not.
func registered(s *facts.View, i *snapshot.Instance) bool {
	return s.Index().Nodes[i.ID] != nil
}

// heard is a line that an instance wrote, or that Kubernetes has of the
// aws-node pod on it.
type heard struct {
	from string // "console of i-0ef3", "pod aws-node-x"
	line string
}

// listen finds the first line about an instance that has what is looked for.
// Unread tells what could not be listened to.
func listen(s *facts.View, i *snapshot.Instance, has func(line string) bool) (h heard, found bool, unread []snapshot.Failure) {
	for _, c := range s.Consoles {
		if c.Instance != i.ID {
			continue
		}
		if line, ok := lineWith(c.Text, has); ok {
			return heard{"console of " + i.ID, line}, true, nil
		}
	}
	for _, p := range s.PodsOf()[i.ID] {
		texts := []string{p.Message}
		for _, c := range p.Containers {
			texts = append(texts, c.Message, c.LastMessage)
		}
		for _, text := range texts {
			if line, ok := lineWith(text, has); ok {
				return heard{"pod " + p.Name, line}, true, nil
			}
		}
	}
	for _, source := range []snapshot.Source{snapshot.Consoles, snapshot.Pods} {
		if !s.Has(source) {
			unread = append(unread, s.Why(source))
		}
	}
	if f, lacks := s.Lacks(snapshot.Consoles, i.ID); lacks {
		unread = append(unread, f)
	}
	return heard{}, false, unread
}

func lineWith(text string, has func(string) bool) (string, bool) {
	for line := range strings.Lines(text) {
		if has(line) {
			return phrase.Clip(strings.TrimSpace(line)), true
		}
	}
	return "", false
}

// stsHost is the name of STS in the region; global is the one for all regions.
func stsHost(s *facts.View) (regional, global string) {
	if s.Partition == "aws-cn" {
		regional = fmt.Sprintf("sts.%s.amazonaws.com.cn", s.Region)
		return regional, regional // China has no global one
	}
	return fmt.Sprintf("sts.%s.amazonaws.com", s.Region), "sts.amazonaws.com"
}

// stsFailed tells that a line is about a call to STS that did not get there.
func stsFailed(host string) func(string) bool {
	return func(line string) bool {
		return namesHost(line, host) && slices.ContainsFunc([]string{"timeout", "timed out", "no such host", "connection refused", "deadline exceeded", "network is unreachable"}, func(word string) bool {
			return strings.Contains(strings.ToLower(line), word)
		})
	}
}

// namesHost tells that a line names a host, not one that ends in its name.
func namesHost(line, host string) bool {
	for rest := line; ; {
		i := strings.Index(rest, host)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(host):]
		if (before == "" || !strings.ContainsAny(before[len(before)-1:], "abcdefghijklmnopqrstuvwxyz0123456789-.")) && !strings.HasPrefix(after, ".cn") {
			return true
		}
		rest = after
	}
}

// regionDisabled is STS's code for a region that the account has switched off.
const regionDisabled = "RegionDisabledException"

func stsRegionDeactivated(s *facts.View) []finding.Finding {
	suspects, well := s.Suspects()
	var list []finding.Finding
	var clean, unheard []*snapshot.Instance
	f := finding.Finding{Outcome: finding.Fail}
	told := regionTold(s)
	for _, i := range suspects {
		h, found, unread := listen(s, i, saysDisabled)
		switch {
		case found:
			f.Covers = append(f.Covers, i.ID)
			f.Evidence = append(f.Evidence, finding.Evidence{What: h.from, Value: h.line})
		case len(told) > 0: // the setting is the account's: it is true for all
			f.Covers = append(f.Covers, i.ID)
		case len(unread) > 0:
			list = append(list, finding.Unread(i.ID, []string{i.ID}, unread...))
		case !hasConsole(s, i.ID): // consoles are sampled
			unheard = append(unheard, i)
		default:
			clean = append(clean, i)
		}
	}
	list = facts.Together(list)
	if len(f.Covers) > 0 {
		f.Covers = append(f.Covers, facts.IDs(unheard)...)
	} else {
		clean = append(clean, unheard...)
	}
	host, _ := stsHost(s)
	clean = append(clean, well...)
	list = finding.Passing(list, host, facts.IDs(clean))
	if len(f.Covers) == 0 {
		return list
	}
	f.Resource, f.Instances = host, f.Covers
	f.Evidence = append(told, f.Evidence[:min(len(f.Evidence), 5)]...)
	f.Title = phrase.Title("STS is switched off in %s", s.Region)
	f.Why = fmt.Sprintf("STS refuses the account %s in %s (%s: %s). %s cannot prove to %s who %s.",
		s.Account, s.Region, f.Evidence[0].What, f.Evidence[0].Value, phrase.Some(f.Covers, 3), cmp.Or(s.Cluster.Name, "the cluster"), phrase.Verb(f.Covers, "it is", "they are"))
	f.Fix = finding.Fix{
		Text:    fmt.Sprintf("Activate %s in the IAM console: Account settings, Security Token Service, Endpoints. There is no API for it.", s.Region),
		Console: fmt.Sprintf("%s/iam/home?region=%s#/account_settings", link.Host(s), s.Region),
	}
	return append(list, f)
}

// hasConsole tells that the console of an instance was read.
func hasConsole(s *facts.View, id string) bool {
	return slices.ContainsFunc(s.Consoles, func(c snapshot.Console) bool { return c.Instance == id })
}

// saysDisabled tells STS's refusal: its error code, or its message where a
// program prints only that.
func saysDisabled(line string) bool {
	return strings.Contains(line, regionDisabled) || strings.Contains(strings.ToLower(line), "sts is not activated in this region")
}

// regionTold is what our own calls and EKS say of the region.
func regionTold(s *facts.View) []finding.Evidence {
	var list []finding.Evidence
	add := func(f snapshot.Failure) {
		e := finding.Evidence{What: cmp.Or(f.Call, string(f.Source)), Value: strings.TrimSpace(f.Code + " " + phrase.Clip(f.Message))}
		if f.Code == regionDisabled && !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(s.Failures)) {
		add(s.Failures[source])
	}
	for _, source := range slices.Sorted(maps.Keys(s.Missing)) {
		for _, key := range slices.Sorted(maps.Keys(s.Missing[source])) {
			add(s.Missing[source][key])
		}
	}
	issues := slices.Clone(s.Cluster.Issues)
	for _, g := range s.Nodegroups {
		if g.Cluster == s.Cluster.Name {
			issues = append(issues, g.Issues...)
		}
	}
	for _, issue := range issues {
		if issue.Code == "StsRegionalEndpointDisabled" {
			list = append(list, finding.Evidence{What: "EKS", Value: issue.Code + ": " + phrase.Clip(issue.Message)})
		}
	}
	return list[:min(len(list), 5)]
}
