package instance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	serial "rollcall/shared/node/console"
	"rollcall/shared/snapshot"
)

func consoleError(s *check.View) []check.Finding {
	l := s.Index()
	suspects, well := l.S.Pending()
	list := consoleFindings(l, suspects)
	return check.Passing(list, s.Cluster.Name, check.IDs(well))
}

// consoleGroup are the consoles of instances that one group started from one
// template: what is true of those that were read is taken for true of all.
type consoleGroup struct {
	owner string
	hits  []consoleHit
	quiet []*snapshot.Instance // read, and nothing known is in them
	dark  []*snapshot.Instance // due, and nothing could be read
	// why is what kept each of the dark ones from being read.
	why map[string]snapshot.Failure
}

// consoleHit is a console that holds a known failure.
type consoleHit struct {
	instance *snapshot.Instance
	match    serial.Match
}

func consoleFindings(l check.InstanceIndex, suspects []*snapshot.Instance) []check.Finding {
	var list []check.Finding
	var causes []*consoleCause
	for _, a := range consoles(l, suspects) {
		list = check.Passing(list, a.owner, check.IDs(a.quiet))
		same, rest := a.taken()
		// Where a sample holds nothing known, neither will the rest.
		if len(rest) > 0 && (len(a.hits) > 0 || len(a.quiet) == 0) {
			list = append(list, check.Unread(a.owner, check.IDs(rest), a.blocked(rest)...))
		}
		for _, h := range a.hits {
			at := slices.IndexFunc(causes, func(c *consoleCause) bool { return c.owner == a.owner && c.row() == h.match.ID })
			if at < 0 {
				at = len(causes)
				causes = append(causes, &consoleCause{owner: a.owner})
			}
			causes[at].hits = append(causes[at].hits, h)
			if h == a.hits[0] {
				causes[at].unread = append(causes[at].unread, same...)
			}
		}
	}
	for _, c := range causes {
		list = append(list, consoleErrorFinding(l, c, c.leads(causes)))
	}
	return list
}

// consoles reads the suspects' consoles, by what they were started from.
func consoles(l check.InstanceIndex, suspects []*snapshot.Instance) []*consoleGroup {
	texts := map[string]string{}
	for _, c := range l.S.Consoles {
		texts[c.Instance] = c.Text
	}
	groups := map[string]*consoleGroup{}
	var order []string
	for _, i := range suspects {
		owner := cmp.Or(i.Owner(), i.ID)
		key := strings.Join([]string{owner, i.Template.ID, i.Template.Name, i.Template.Version, i.AMI}, " ")
		a := groups[key]
		if a == nil {
			a = &consoleGroup{owner: owner, why: map[string]snapshot.Failure{}}
			groups[key] = a
			order = append(order, key)
		}
		r := serial.Read(texts[i.ID])
		match, found := lasting(l, i, r)
		switch {
		case found:
			a.hits = append(a.hits, consoleHit{i, match})
		case !l.Due(i.ID): // nothing that is not there yet counts against it
		case r.Stage >= serial.Bootstrap, r.Stage == serial.System && i.Windows:
			a.quiet = append(a.quiet, i)
		case l.Nodes[i.ID] == nil:
			a.dark = append(a.dark, i)
			a.why[i.ID] = noText(l, i, texts, r)
		}
	}
	list := make([]*consoleGroup, len(order))
	for i, key := range order {
		list[i] = groups[key]
	}
	return list
}

// lasting is the failure that counts. A node that has registered got past all
// that keeps nodes from it; and before an instance is due, only what does not
// pass by itself counts.
func lasting(l check.InstanceIndex, i *snapshot.Instance, r serial.Reading) (serial.Match, bool) {
	for _, m := range r.Matches {
		switch {
		case l.Nodes[i.ID] != nil && !m.Late:
		case !l.Due(i.ID) && (m.Heals || !m.Certain):
		default:
			return m, true
		}
	}
	return serial.Match{}, false
}

// noText is why a console says nothing.
func noText(l check.InstanceIndex, i *snapshot.Instance, texts map[string]string, r serial.Reading) snapshot.Failure {
	if f, lacks := l.S.Lacks(snapshot.Consoles, i.ID); lacks {
		return f
	}
	f := check.NotRead(snapshot.Consoles, "%s is not among the consoles that were read", i.ID)
	if _, read := texts[i.ID]; read {
		f.Message = i.ID + " has no console output yet"
		if r.Stage > serial.Silent {
			f.Message = fmt.Sprintf("the console of %s ends at %s, before the bootstrap", i.ID, r.Stage)
		}
	}
	return f
}

// taken sorts those whose console could not be read: the same are taken to
// fail as the sample does, where it agrees. What the network does to one
// subnet it need not do to another.
func (a *consoleGroup) taken() (same, rest []*snapshot.Instance) {
	if len(a.hits) == 0 || len(a.quiet) > 0 || slices.ContainsFunc(a.hits, func(h consoleHit) bool { return h.match.ID != a.hits[0].match.ID }) {
		return nil, a.dark
	}
	family := a.hits[0].match.Check.Family()
	network := family == checkid.Endpoint || family == checkid.SG
	for _, i := range a.dark {
		if network && !slices.ContainsFunc(a.hits, func(h consoleHit) bool { return h.instance.Subnet == i.Subnet }) {
			rest = append(rest, i)
			continue
		}
		same = append(same, i)
	}
	return same, rest
}

// blocked is what kept instances from being read: the first of each kind.
func (a *consoleGroup) blocked(list []*snapshot.Instance) []snapshot.Failure {
	var all []snapshot.Failure
	for _, i := range list {
		why := a.why[i.ID]
		if !slices.ContainsFunc(all, func(f snapshot.Failure) bool {
			return f.Call == why.Call && f.Reason == why.Reason && f.Code == why.Code
		}) {
			all = append(all, why)
		}
	}
	return all
}

// consoleCause is one failure of one group.
type consoleCause struct {
	owner  string
	hits   []consoleHit
	unread []*snapshot.Instance // of the same template, and no node either
}

func (c *consoleCause) row() string { return c.hits[0].match.ID }

func (c *consoleCause) all() []string {
	var list []string
	for _, h := range c.hits {
		list = append(list, h.instance.ID)
	}
	return append(list, check.IDs(c.unread)...)
}

// leads reports whether no other failure of the same owner has more instances. An
// incident is known by its check and resource: only one can have the owner's.
func (c *consoleCause) leads(all []*consoleCause) bool {
	return !slices.ContainsFunc(all, func(other *consoleCause) bool {
		if other == c || other.owner != c.owner {
			return false
		}
		return cmp.Or(cmp.Compare(len(c.all()), len(other.all())), cmp.Compare(other.row(), c.row())) < 0
	})
}

func consoleErrorFinding(l check.InstanceIndex, c *consoleCause, leads bool) check.Finding {
	first := c.hits[0]
	all := c.all()
	resource := c.owner
	if !leads {
		resource = slices.Min(all)
	}
	f := check.Failed(resource, all...).Affecting(all...).
		Titled("%s: %s", check.Subject(all, "instance"), first.match.Title).
		Because("The console of %s shows: %s (%s). %s", first.instance.ID, first.match.Title, first.match.ID, first.match.Means).
		FixedBy(fixConsole(l, first))
	if !first.match.Certain {
		f.Confidence = check.Likely
	}
	if !first.match.Unanswered {
		// The line proves something of its own: what is only likely of the
		// network does not outweigh it.
		f.NarrowedAfter = []checkid.ID{checkid.AnyJoinCause}
	}
	const limit = 3
	for n, h := range c.hits {
		if n == limit {
			break
		}
		f = f.Noting("Console of "+h.instance.ID, check.Clip(h.match.Line))
	}
	if len(all) > 1 {
		f = f.Notingf("Consoles", "%d of %d were read; all of them show it", len(c.hits), len(all))
	}
	return f
}

func fixConsole(l check.InstanceIndex, h consoleHit) check.Fix {
	fix := check.Fix{
		Text:    strings.ReplaceAll(withoutWhatIs(l.S, h.instance, h.match.Next), "<region>", l.S.Region),
		Command: l.S.AWSCommand("ec2 get-console-output", "--latest", "--output", "text", "--instance-id", h.instance.ID),
		Console: l.S.EC2Link("InstanceDetails:instanceId=" + h.instance.ID),
	}
	if h.match.Check != "" {
		fix.Text += " See " + string(h.match.Check) + "."
	}
	return fix
}

// versioned are the instances of one owner that did not join, and the version
// of the first one's kubelet.
type versioned struct {
	owner     string
	kubelet   minor
	instances []string
	sure      bool
	ready     *snapshot.Node // that has the same version
	evidence  []check.Evidence
}

func runVersionSkew(s *check.View) []check.Finding {
	plane := minorOf(s.Cluster.Version)
	if plane == 0 {
		return []check.Finding{check.Unread(s.Cluster.Name, []string{s.Cluster.Name}, check.Broken(snapshot.Clusters, "the version %q of the cluster cannot be parsed", s.Cluster.Version))}
	}
	l := s.Index()
	images := imagesByID(s)
	suspects, well := l.S.Pending()
	var untold []string
	groups := map[string]*versioned{}
	var order []string
	for _, i := range suspects {
		kubelet, e := kubeletOf(l, i, images)
		switch {
		case kubelet == 0 && check.OfAutoMode(i): // EKS brings it along with the control plane
			well = append(well, i)
		case kubelet == 0 && l.Due(i.ID):
			untold = append(untold, i.ID)
		case kubelet == 0:
		case skew(kubelet, plane) == "":
			well = append(well, i)
		default:
			owner := cmp.Or(i.Owner(), i.ID)
			g := groups[owner]
			if g == nil {
				g = &versioned{owner: owner, kubelet: kubelet, evidence: []check.Evidence{{What: s.Cluster.Name, Value: "control plane " + s.Cluster.Version}}}
				groups[owner] = g
				order = append(order, owner)
			}
			if !slices.Contains(g.evidence, e) {
				g.evidence = append(g.evidence, e)
			}
			g.instances = append(g.instances, i.ID)
			// A kubelet that is a little too new often works all the same:
			// it is no cause before the node has failed, and a name is only
			// as good as who gave it.
			image := images[i.AMI]
			g.sure = g.sure || l.Due(i.ID) && (l.Nodes[i.ID] != nil || image.OwnerAlias == "amazon")
			g.ready = readyWith(s, kubelet)
		}
	}
	list := check.Passing(nil, s.Cluster.Name, check.IDs(well))
	if len(untold) > 0 {
		list = append(list, check.Unread(s.Cluster.Name, untold, check.NotRead(snapshot.Images, "neither a node nor the image's name shows the kubelet's version of %s", check.Some(untold, 3))))
	}
	for _, key := range order {
		list = append(list, versionSkewFinding(l, groups[key], plane))
	}
	return list
}

// readyWith is a Ready node with a kubelet of a version; nil for none. Such a node joined in
// spite of its version, or before the control plane was rolled back.
func readyWith(s *check.View, kubelet minor) *snapshot.Node {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Joined() && minorOf(n.Kubelet) == kubelet {
			return n
		}
	}
	return nil
}

// kubeletOf is the version of an instance's kubelet and where it stands: the
// node's own word, else the image's name, else the managed nodegroup's version.
func kubeletOf(l check.InstanceIndex, i *snapshot.Instance, images map[string]snapshot.Image) (minor, check.Evidence) {
	if n := l.Nodes[i.ID]; n != nil {
		if m := minorOf(n.Kubelet); m > 0 {
			return m, check.Evidence{What: n.Name, Value: "kubelet " + n.Kubelet}
		}
	}
	if image, known := images[i.AMI]; known {
		if m := minorOfImage(image.Name); m > 0 {
			return m, check.Evidence{What: i.AMI, Value: image.Name}
		}
	}
	for _, g := range l.S.Nodegroups {
		// A group of custom images has no version of its own.
		if g.Name == i.Tags["eks:nodegroup-name"] && g.AMIType != "CUSTOM" && g.AMIType != "" {
			if m := minorOf(g.Version); m > 0 {
				return m, check.Evidence{What: g.Name, Value: "nodegroup version " + g.Version}
			}
		}
	}
	return 0, check.Evidence{}
}

func versionSkewFinding(l check.InstanceIndex, g *versioned, plane minor) check.Finding {
	f := check.Failed(g.owner, g.instances...).Affecting(g.instances...).
		Involving(l.S.Cluster.Name).
		Titled("%s: kubelet %s, control plane %s", check.Subject(g.instances, "instance"), g.kubelet, plane).
		Because("%s of %s.", skew(g.kubelet, plane), l.S.Cluster.Name).
		Showing(g.evidence...).
		ToFix("Use an image of Kubernetes %s.", plane).Console(l.S.ClusterLink())
	// One version newer mostly works, and stands beside a control plane that was rolled back
	// (EKS user guide, "Roll back a cluster to a previous Kubernetes version").
	if !g.sure || g.ready != nil || g.kubelet == plane+1 {
		f.Confidence = check.Likely
	}
	if g.ready != nil {
		f = f.Noting(g.ready.Name, "a Ready node with kubelet "+g.ready.Kubelet)
	}
	if g.kubelet > plane {
		f.Fix.Text += " Or upgrade the control plane first."
	}
	for _, n := range l.S.Nodegroups {
		if n.Name == g.owner && n.AMIType != "CUSTOM" && g.kubelet < plane {
			f.Fix.Command = l.S.AWSCommand("eks update-nodegroup-version", "--cluster-name", l.S.Cluster.Name, "--nodegroup-name", n.Name, "--kubernetes-version", plane)
		}
	}
	return f
}

// mostUnowned is how many of them are described.
const mostUnowned = 5

func unowned(s *check.View) []check.Finding {
	l := s.Index()
	var waiting []string
	var evidence []check.Evidence
	for _, id := range s.Scope.Unowned {
		i := l.Instances[id]
		if i == nil || i.Ended() || l.Nodes[id] != nil || !l.Due(id) {
			continue
		}
		waiting = append(waiting, id)
		if len(waiting) > mostUnowned {
			continue
		}
		evidence = append(evidence, check.Evidence{What: id, Value: fmt.Sprintf("%s, %s, %s; launched %s; tags %s",
			i.State, i.Type, i.Subnet, i.Launched.UTC().Format(time.DateTime+" UTC"), tagKeys(i))})
	}
	if len(waiting) == 0 {
		return []check.Finding{check.Passed(s.Cluster.Name, append(s.Scope.Unowned[:len(s.Scope.Unowned):len(s.Scope.Unowned)], s.Cluster.Name)...)}
	}
	cluster := s.Cluster.Name
	return []check.Finding{check.Failed(cluster, append(waiting[:len(waiting):len(waiting)], cluster)...).
		Affecting(waiting...).
		Titled("%s tagged for %s, but nothing in it launched them", check.Subject(waiting, "instance"), cluster).
		Because("%s %s the cluster's tags, and no Auto Scaling group, nodegroup or NodeClaim of %s has %s. Anyone who can start an instance can set its tags.",
			check.Some(waiting, 3), check.Verb(waiting, "has", "have"), cluster, check.Verb(waiting, "it", "them")).
		Showing(evidence...).
		ToFix("Find out who started %s. If nodes are started by hand or with another tool, start them from a group of the cluster; otherwise remove the cluster's tags.", check.Some(waiting, 3)).
		Command(s.AWSCommand("cloudtrail lookup-events", "--lookup-attributes", "AttributeKey=ResourceName,AttributeValue="+waiting[0],
			"--query", "Events[].[EventTime,EventName,Username]", "--output", "text")).
		Console(s.EC2Link("InstanceDetails:instanceId=" + waiting[0]))}
}
