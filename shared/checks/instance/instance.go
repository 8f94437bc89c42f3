// Package instance holds the checks of instance: what was started, and how.
package instance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/factor"
	"rollcall/shared/snapshot"
)

// Checks are the checks of the family.
func Checks() []check.Check {
	return []check.Check{
		startCheck(checkid.InstanceClusterCA, runClusterCA, snapshot.Clusters).Using(snapshot.Instances,
			snapshot.UserDataOf, snapshot.Nodes, snapshot.Nodegroups),
		startCheck(checkid.InstanceClusterTag, runClusterTag, snapshot.Clusters, snapshot.Instances),
		startCheck(checkid.InstanceConsoleError, consoleError, snapshot.Instances, snapshot.Nodes,
			snapshot.Consoles).Using(already()...),
		startCheck(checkid.InstanceAMI, runImageUnfit, snapshot.Clusters, snapshot.Instances, snapshot.Nodes,
			snapshot.Images),
		// CommonFactor compares the launches of a week: shared/node/factor says how, and
		// docs/factor.md how soon it names what, and that it accuses nothing healthy.
		check.New(checkid.InstanceCommonFactor, runCommonFactor, snapshot.Clusters, snapshot.Instances,
			snapshot.Nodes).Using(snapshot.LaunchHistory),
		// Nodes are looked at where they were read: an instance that lived less
		// than the time to join was no node, whatever Kubernetes says later.
		startCheck(checkid.InstanceEndedEarly, runEndedEarly, snapshot.Instances),
		// User data is looked at where it was read; labels of a node group
		// can be judged without it.
		startCheck(checkid.InstanceForbiddenNodeLabel, runForbiddenNodeLabel, snapshot.Clusters, snapshot.Instances,
			snapshot.Nodegroups),
		startCheck(checkid.InstanceMaxPods, runMaxPods, snapshot.Clusters, snapshot.Instances,
			snapshot.InstanceTypes, snapshot.AWSNode).Using(snapshot.WaitingPods, snapshot.PodEventsOf,
			snapshot.PodsOnNodes),
		// What the groups let through says whether their lack matters.
		startCheck(checkid.InstanceForeignSecurityGroups, runForeignSecurityGroups, snapshot.Clusters,
			snapshot.Instances, snapshot.LaunchTemplates).Using(snapshot.Subnets, snapshot.RouteTables,
			snapshot.Endpoints, snapshot.SecurityGroups, snapshot.UserDataOf).WithPathSources(),
		startCheck(checkid.InstanceIMDS, runIMDS, snapshot.Clusters, snapshot.Instances).Using(snapshot.WaitingPods,
			snapshot.PodEventsOf),
		startCheck(checkid.InstanceOlderThanCluster, runOlderThanCluster, snapshot.Clusters, snapshot.Instances),
		startCheck(checkid.InstanceScheduledEvent, scheduledEvent, snapshot.Instances, snapshot.Nodes,
			snapshot.Statuses),
		startCheck(checkid.InstanceStatusCheck, statusCheck, snapshot.Instances, snapshot.Nodes, snapshot.Statuses),
		// Nodegroups and images tell who has to bring the bootstrap; where
		// they were not read only those verdicts are Unknown.
		startCheck(checkid.InstanceUserData, runUserData, snapshot.Clusters, snapshot.Instances,
			snapshot.UserDataOf),
		startCheck(checkid.InstanceVersionSkew, runVersionSkew, snapshot.Clusters, snapshot.Instances,
			snapshot.Nodes, snapshot.Images),
		// Unowned judges instances that carry the cluster's tags, and that nothing of the
		// cluster launched: whoever may start an instance sets its tags (EC2 user guide, "Tag
		// restrictions"). All of them are one finding. What other checks find about them is
		// its evidence (diagnose.Judge).
		check.New(checkid.InstanceUnowned, unowned, snapshot.Clusters, snapshot.Instances, snapshot.Nodes).
			Using(snapshot.NodeClaimsOf),
	}
}

// startCheck is a check of instances: what is expected of one depends on its
// image and its template.
func startCheck(id checkid.ID, run func(*check.View) []check.Finding, needs ...snapshot.Source) check.Check {
	return check.New(id, run, needs...).Using(
		snapshot.Images, snapshot.LaunchedImagesOf, snapshot.LaunchTemplates, snapshot.InstanceTypes, snapshot.AWSNode, snapshot.NodeEventsOf,
	)
}

// already are the sources that show what a console line's advice asks for.
func already() []snapshot.Source {
	return []snapshot.Source{snapshot.VPCs, snapshot.VPCDNS, snapshot.DHCP, snapshot.Access, snapshot.Profiles, snapshot.Roles, snapshot.Nodegroups}
}

// state is a clause of advice, and whether what it asks for is so already.
type state struct {
	clause string
	is     func(s *check.View, i *snapshot.Instance) bool
}

// states are the clauses of the console's rows that ask for what a look can show.
func states() []state {
	attached := func(names ...string) func(*check.View, *snapshot.Instance) bool {
		return func(s *check.View, i *snapshot.Instance) bool { return holds(s, i, names) }
	}
	return []state{
		{"Enable DNS support in the VPC, ", dnsOn(func(v snapshot.VPCAttributes) bool { return v.DNSSupport })},
		{"Enable DNS hostnames in the VPC; if they are, ", dnsOn(func(v snapshot.VPCAttributes) bool { return v.DNSHostnames })},
		{"use AmazonProvidedDNS or forward to it, and ", amazonProvided},
		{", and check the DHCP options' name servers", amazonProvided},
		{"Give the node role an access entry of type EC2_LINUX (EC2_WINDOWS), or map it", admitted},
		{"Attach AmazonEKSWorkerNodePolicy to the node role; ", attached("AmazonEKSWorkerNodePolicy")},
		{"Attach AmazonEKSWorkerNodePolicy to the node role, or ", attached("AmazonEKSWorkerNodePolicy")},
		{"Attach AmazonEC2ContainerRegistryPullOnly to the node role, and ", attached("AmazonEC2ContainerRegistryPullOnly", "AmazonEC2ContainerRegistryReadOnly", "AmazonEC2ContainerRegistryPowerUser")},
		{"Enable the metadata endpoint, and ", func(_ *check.View, i *snapshot.Instance) bool { return i.Metadata.Endpoint == "enabled" }},
	}
}

// withoutWhatIs is advice without what is so already.
func withoutWhatIs(s *check.View, i *snapshot.Instance, text string) string {
	for _, x := range states() {
		if !strings.Contains(text, x.clause) || !x.is(s, i) {
			continue
		}
		before, after, _ := strings.Cut(text, x.clause)
		if strings.HasPrefix(x.clause, "Give the node role") {
			// The entry is there, and the line is older or of another identity.
			text = "The node role has its access entry: if it was created after the instance started, check again; otherwise compare the instance's identity with it."
			continue
		}
		text = before + after
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func dnsOn(is func(snapshot.VPCAttributes) bool) func(*check.View, *snapshot.Instance) bool {
	return func(s *check.View, i *snapshot.Instance) bool {
		return slices.ContainsFunc(s.VPCAttributes, func(v snapshot.VPCAttributes) bool { return v.VPC == i.VPC && is(v) })
	}
}

func amazonProvided(s *check.View, i *snapshot.Instance) bool {
	n := s.Placements().NameServers(i.VPC)
	return n.Blocked == nil && slices.Equal(n.Options.DomainNameServers, []string{"AmazonProvidedDNS"})
}

// roleOf is the ARN of an instance's node role, where it is known.
func roleOf(s *check.View, i *snapshot.Instance) string {
	groups, _ := s.RoleGroups()
	for _, g := range groups {
		if slices.Contains(g.All(), i.ID) {
			return g.Role
		}
	}
	return ""
}

func admitted(s *check.View, i *snapshot.Instance) bool {
	role := roleOf(s, i)
	return role != "" && slices.ContainsFunc(s.AccessEntries, func(e snapshot.AccessEntry) bool {
		return e.Principal == role && (e.Type == "EC2_LINUX" || e.Type == "EC2_WINDOWS" || e.Type == "EC2")
	})
}

func holds(s *check.View, i *snapshot.Instance, policies []string) bool {
	role, _, why := check.ReadRole(s, roleOf(s, i))
	return why == nil && slices.ContainsFunc(role.Policies, func(p snapshot.Policy) bool { return slices.Contains(policies, p.Name) })
}

func runImageUnfit(s *check.View) []check.Finding {
	l := s.Index()
	suspects, well := l.S.Pending()
	images := imagesByID(s)
	var groups check.Groups[*snapshot.Instance]
	for _, i := range suspects {
		// One image may be right for one type and wrong for another.
		groups.Add(i.AMI+" "+i.Type, i)
	}
	var list []check.Finding
	faults := map[string]int{} // image to its finding: one message for each
	for _, group := range groups.All() {
		ami := group[0].AMI
		if f, lacks := unseenImage(l, ami); lacks {
			list = append(list, check.Unread(cmp.Or(ami, s.Cluster.Name), check.IDs(group), f))
			continue
		}
		image, known := images[ami]
		if !known {
			// What runs needs its image no more; only what the image is for is unknown,
			// which counts against nothing before the node is due.
			due := slices.DeleteFunc(slices.Clone(group), func(i *snapshot.Instance) bool { return !l.Due(i.ID) })
			well = append(well, slices.DeleteFunc(group, func(i *snapshot.Instance) bool { return l.Due(i.ID) })...)
			if len(due) > 0 {
				why := []snapshot.Failure{{
					Source: snapshot.Images, Reason: snapshot.NotShown, Message: "EC2 does not list " + ami + " (deregistered since, no longer shared, or hidden by Allowed AMIs): its Kubernetes version is unknown",
				}}
				if !s.Has(snapshot.LaunchedImagesOf) {
					why = append(why, s.Why(snapshot.LaunchedImagesOf))
				}
				list = append(list, check.Unread(ami, check.IDs(due), why...))
			}
			continue
		}
		reasons := unfit(l, image, group[0])
		if len(reasons) == 0 {
			well = append(well, group...)
			continue
		}
		at, again := faults[ami]
		if !again {
			faults[ami] = len(list)
			list = append(list, imageUnfitFinding(l, ami, image, group, reasons))
			continue
		}
		list[at].Covers = append(list[at].Covers, check.IDs(group)...)
		list[at].Instances = slices.Clone(list[at].Covers)
	}
	return check.Passing(list, s.Cluster.Name, check.IDs(well))
}

// unseenImage is why nothing is known of an image.
func unseenImage(l check.InstanceIndex, ami string) (snapshot.Failure, bool) {
	if ami == "" {
		return check.Broken(snapshot.Instances, "EC2 names no image"), true
	}
	return l.S.Lacks(snapshot.Images, ami)
}

// unfit is what is wrong with an image for an instance. Its state is not: a disabled image
// starts nothing more, and what runs is not affected (EC2 user guide, "Disable an AMI").
func unfit(l check.InstanceIndex, image snapshot.Image, i *snapshot.Instance) []string {
	var reasons []string
	if types := architectures(l, i.Type); image.Architecture != "" && len(types) > 0 && !slices.Contains(types, image.Architecture) {
		reasons = append(reasons, fmt.Sprintf("it is for %s, and %s has %s", image.Architecture, i.Type, check.And(types)))
	}
	if wrong := skew(minorOfImage(image.Name), minorOf(l.S.Cluster.Version)); wrong != "" {
		reasons = append(reasons, wrong)
	}
	if ofAL2(image.Name) && !l.S.Time.Before(endOfAL2()) {
		reasons = append(reasons, "Amazon Linux 2, unsupported since 26 November 2025")
	}
	return reasons
}

func architectures(l check.InstanceIndex, instanceType string) []string {
	for _, t := range l.S.InstanceTypes {
		if t.Name == instanceType {
			return t.Architectures
		}
	}
	return nil
}

func imageUnfitFinding(l check.InstanceIndex, ami string, image snapshot.Image, group []*snapshot.Instance, reasons []string) check.Finding {
	f := check.Failed(ami, check.IDs(group)...).Affecting(check.IDs(group)...).
		Titled("%s: %s", ami, reasons[0]).
		Because("%s: %s.", cmp.Or(image.Name, ami), strings.Join(reasons, "; ")).
		Notingf(ami, "%s, %s, %s, owner %s", cmp.Or(image.Name, "no name"), cmp.Or(image.Architecture, "architecture not reported"),
			cmp.Or(image.State, "not listed"), cmp.Or(image.OwnerAlias, image.Owner, "unknown")).
		ToFix("Set a current EKS image in the launch template or nodegroup, and replace the instances.").
		Console(l.S.EC2Link("ImageDetails:imageId=" + ami))
	if !image.Deprecated.IsZero() && !l.S.Time.Before(image.Deprecated) {
		f = f.Noting(ami, "deprecated since "+image.Deprecated.UTC().Format("2006-01-02")+"; by itself harmless")
	}
	if m := minorOf(l.S.Cluster.Version); m > 0 {
		architecture := "x86_64"
		if slices.Contains(architectures(l, group[0].Type), "arm64") {
			architecture = "arm64"
		}
		f.Fix.Command = l.S.AWSCommand("ssm get-parameter", "--name",
			fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2023/%s/standard/recommended/image_id", m, architecture), "--query", "Parameter.Value", "--output", "text")
	}
	return f
}

func runCommonFactor(s *check.View) []check.Finding {
	var v check.Verdicts
	launches, failed := compared(s)
	suspects, well := s.Pending()
	verdict := factor.Judge(launches, s.Time)
	var with []*snapshot.Instance
	if verdict.Reason == factor.Named {
		for _, i := range suspects {
			if slices.Contains(verdict.IDs, i.ID) && failed[i.ID] {
				with = append(with, i)
			}
		}
	}
	rest := check.IDs(check.Except(append(slices.Clone(suspects), well...), with))
	switch {
	case len(with) > 0:
		v.Fail(commonFactorFinding(s, verdict, launches, check.IDs(with)))
	case len(failed) > 0 && !s.Has(snapshot.LaunchHistory):
		v.Unknown(s.Cluster.Name, rest, s.Why(snapshot.LaunchHistory))
		return v.Findings()
	}
	v.Pass(s.Cluster.Name, rest, check.Evidence{What: "Launches of the last 7 days", Value: fmt.Sprintf("%d compared, nothing flagged: %s", len(launches), verdict.Reason)})
	return v.Findings()
}

// compared are the launches whose end says something: those of the history, the
// nodes that there are, and the instances of the scope that should be nodes by now
// (failed) and that no recorded cause explains.
func compared(s *check.View) (list []factor.Launch, failed map[string]bool) {
	l, past, failed := s.Index(), map[string]snapshot.Past{}, map[string]bool{}
	if s.Has(snapshot.LaunchHistory) {
		for _, p := range s.Week {
			past[p.ID] = p
		}
	}
	now := func(i *snapshot.Instance, end snapshot.End) {
		p, remembered := past[i.ID]
		if !remembered {
			p = snapshot.Past{ID: i.ID, Started: i.Launched, Cause: l.Launches[i.ID].Cause}
			if at := l.Launches[i.ID].Started; !at.IsZero() {
				p.Started = at
			}
		}
		p.Nodegroup = cmp.Or(p.Nodegroup, i.Owner())
		p.Type, p.Zone, p.Subnet = cmp.Or(p.Type, i.Type), cmp.Or(p.Zone, i.Zone), cmp.Or(p.Subnet, i.Subnet)
		p.AMI, p.Architecture = cmp.Or(p.AMI, i.AMI), cmp.Or(p.Architecture, i.Architecture)
		p.Spot = p.Spot || i.Spot
		if p.Template.ID == "" {
			p.Template = i.Template
		}
		if p.End = end; end == snapshot.Open {
			p.Missed = s.Time
		}
		past[i.ID] = p
	}
	for i := range s.Instances {
		in := &s.Instances[i]
		if n := l.Nodes[in.ID]; n != nil && n.Joined() {
			now(in, snapshot.Joined)
		}
	}
	suspects, _ := s.Pending()
	for _, i := range suspects {
		if i.Ended() || l.Due(i.ID) {
			now(i, snapshot.Open)
			failed[i.ID] = true
		}
	}
	for _, p := range past {
		if launch, says := factor.LaunchOf(p); says {
			list = append(list, launch)
		}
	}
	return list, failed
}

func commonFactorFinding(s *check.View, v factor.Verdict, launches []factor.Launch, ids []string) check.Finding {
	first := v.Shared[0]
	f := check.Failed(first.Name, ids...).Affecting(ids...).
		Titled("%d of %d %s failed, %d of %d others joined", v.Failed, v.Launches, having(first), v.Others-v.OtherFailed, v.Others).
		Because("%d of %d launches %s failed, the first launched %s UTC; %d of %d others of the last 7 days joined.",
			v.Failed, v.Launches, having(first), v.First.UTC().Format(check.DayAndMinute), v.Others-v.OtherFailed, v.Others)
	if also := v.Shared[1:]; len(also) > 0 {
		f.Why += fmt.Sprintf(" These are also exactly the launches %s: any of these can be the cause.", check.And(all(also)))
	}
	if len(v.Near) > 0 {
		f.Why += fmt.Sprintf(" Most of them are also launches %s: too few differ to rule that out.", check.And(all(v.Near)))
	}
	if v.Among.Kind != "" {
		f.Why += fmt.Sprintf(" Of them %d of %d %s failed.", v.AmongFailed, v.AmongLaunches, having(v.Among))
	}
	for _, value := range append(slices.Clone(v.Shared), v.Near...) {
		f = f.Noting(string(value.Kind), value.Name)
		f.Resources = append(f.Resources, value.Name)
	}
	f = f.Notingf("Launches compared", "%d of %d failed with it, in %d quarters of an hour; without it %d of %d", v.Failed, v.Launches, v.Witnesses, v.OtherFailed, v.Others).
		Notingf("Chance", "p = %.2g, corrected for %d values and %d inspections (90 days)", v.P, v.Tried, v.Looks)
	f.Fix = commonFactorFix(s, first, factor.Instead(launches, first), ids[0])
	return f
}

func all(values []factor.Value) []string {
	var list []string
	for _, v := range values {
		list = append(list, having(v))
	}
	return list
}

// having ends "launches …".
func having(v factor.Value) string {
	switch v.Kind {
	case factor.Plugin:
		return "under VPC CNI " + v.Name
	case factor.Group:
		return "of " + v.Name
	case factor.Type:
		return "of type " + v.Name
	case factor.Family:
		return "of family " + v.Name
	case factor.Architecture, factor.Capacity:
		return "on " + v.Name
	case factor.Subnet, factor.Zone:
		return "in " + v.Name
	}
	return "with " + v.Name
}

// commonFactorFix says what to compare, with what most of those that joined have
// instead.
func commonFactorFix(s *check.View, v factor.Value, instead, failed string) check.Fix {
	fix := check.Fix{
		Text:    fmt.Sprintf("Check what is specific to %s, and read the console output of %s.", v.Name, failed),
		Command: s.AWSCommand("ec2 get-console-output", "--latest", "--output", "text", "--instance-id", failed),
		Console: s.EC2Link("InstanceDetails:instanceId=" + failed),
	}
	if instead != "" {
		fix.Text = fmt.Sprintf("Compare %s with %s, with which launches join, and go back to that if nothing else is found. The console output of %s may show how it fails.", v.Name, instead, failed)
	}
	switch v.Kind {
	case factor.AMI:
		images := []any{"--image-ids", v.Name}
		if instead != "" {
			images = append(images, instead)
		}
		fix.Command, fix.Console = s.AWSCommand("ec2 describe-images", images...), s.EC2Link("ImageDetails:imageId="+v.Name)
	case factor.Template:
		id, version, _ := strings.Cut(v.Name, " version ")
		versions := []any{"--launch-template-id", id, "--versions", version}
		if other, n, _ := strings.Cut(instead, " version "); other == id {
			versions = append(versions, n)
		}
		fix.Command, fix.Console = s.AWSCommand("ec2 describe-launch-template-versions", versions...), s.EC2Link("LaunchTemplateDetails:launchTemplateId="+id)
	}
	return fix
}

// end is one instance that ended before it joined.
type end struct {
	instance *snapshot.Instance
	lived    time.Duration // zero if it is not known
	why      activity.Verdict
	sure     bool
	likely   bool // something else may be the cause
}

func runEndedEarly(s *check.View) []check.Finding {
	l := s.Index()
	var well, unseen []string
	var groups check.Groups[end]
	for _, i := range s.Scoped() {
		e, verdict := ended(l, i)
		switch verdict {
		case check.Pass:
			well = append(well, i.ID)
		case check.Unknown:
			unseen = append(unseen, i.ID)
		case check.Fail:
			groups.Add(cmp.Or(i.Owner(), i.ID), e)
		}
	}
	list := check.Passing(nil, s.Cluster.Name, well)
	if len(unseen) > 0 {
		list = append(list, check.Unread(s.Cluster.Name, unseen, unseenSources(l)...))
	}
	if lost := l.Lost(); len(lost) > 0 {
		list = append(list, check.Unread(s.Cluster.Name, lost, check.NotRead(snapshot.Instances, "EC2 does not list %s: too new, or terminated for more than an hour", check.Some(lost, 3))))
	}
	for owner, ends := range groups.All() {
		list = append(list, endedEarlyFinding(l, owner, ends))
	}
	return list
}

// ended judges one instance. The empty outcome is "nothing to say".
func ended(l check.InstanceIndex, i *snapshot.Instance) (end, check.Outcome) {
	past, byCall := l.Past(i), i.StateReason.Code == check.UserInitiated
	switch {
	case !i.Ended(), l.Warm[i.ID], past == check.Served:
		return end{}, check.Pass
	case l.Wanted[i.ID], l.TakenBack(i):
		return end{}, check.Pass
	}
	why := l.Reason(i)
	refused := why.Class.Family() == checkid.Launch
	if refused && l.LaunchesKnown(i) {
		return end{}, "" // launch/… reports it, or reports that it is over
	}
	launch, remembered := l.Launches[i.ID]
	if !remembered {
		return end{}, "" // its launch was not watched; it may have been a node for months
	}
	e := end{instance: i, why: why, sure: true, likely: refused}
	at := i.StateReason.When
	if at.IsZero() {
		at = l.S.Time
	} else {
		e.lived = at.Sub(launch.Started)
	}
	inTime := at.Before(launch.Due)
	switch {
	case !inTime && past == check.Unclear && l.Activity[i.ID] != "" && (failed(l, snapshot.Nodes) || failed(l, snapshot.NodeEventsOf)):
		return end{}, check.Unknown
	case !inTime && !why.NeverRan && l.Activity[i.ID] != "":
		return end{}, "" // its group took it out of service: what it ran with is judged all the same (check.Suspects)
	case byCall && !inTime && past == check.Never && (launch.Cause != "" || nodesUnasked(l)):
		return end{}, "" // that it had not joined was told when it was due, and why may be mended since
	case byCall && !inTime && past == check.Never:
		// A call ended it: a person's, or its group's. Past the time to join
		// that is mostly what follows from not joining (a user gave up on it,
		// the group replaced it), so any cause that is found counts more.
		if !l.S.Has(snapshot.Activities) || !l.Reaches(i) {
			return end{}, ""
		}
		e.likely = true
		return e, check.Fail
	case !inTime && !l.S.Has(snapshot.Nodes), !inTime && byCall && !l.S.Has(snapshot.NodeEventsOf):
		return end{}, check.Unknown
	case !inTime && byCall:
		return end{}, "" // another instance was perhaps the node that events name
	case byCall && l.S.Has(snapshot.Activities) && !l.Reaches(i):
		return end{}, check.Unknown
	case byCall:
		e.sure = l.S.Has(snapshot.Activities) && !failed(l, snapshot.Groups) // else it may be a scale-in
	case !l.S.Has(snapshot.Nodes) && !e.why.NeverRan:
		e.sure = false // it may have been a node for a minute
	}
	if past == check.Unclear && !why.NeverRan && (!inTime || l.S.Has(snapshot.NodeEventsOf)) {
		e.sure = false // its node is gone with it, and the events that would tell cannot be read or told apart
	}
	return e, check.Fail
}

// failed reports whether a source was requested and could not be read.
func failed(l check.InstanceIndex, source snapshot.Source) bool {
	_, is := l.S.Failures[source]
	return is
}

// nodesUnasked reports whether this look is one that asks for no nodes: the one that does
// was due before.
func nodesUnasked(l check.InstanceIndex) bool {
	return !failed(l, snapshot.Nodes) && !l.S.Has(snapshot.Nodes)
}

// unseenSources is what keeps ends from being judged.
func unseenSources(l check.InstanceIndex) []snapshot.Failure {
	for _, source := range []snapshot.Source{snapshot.Nodes, snapshot.NodeEventsOf} {
		if !l.S.Has(source) {
			return []snapshot.Failure{l.S.Why(source)}
		}
	}
	return []snapshot.Failure{check.NotRead(snapshot.Activities, "the scaling activities that were read do not go back to the launch: it may be a scale-in")}
}

func endedEarlyFinding(l check.InstanceIndex, key string, ends []end) check.Finding {
	f := check.Finding{Outcome: check.Fail, Resource: key}
	counts := map[string]int{}
	sure, weak := false, true
	for _, e := range ends {
		f.Covers = append(f.Covers, e.instance.ID)
		counts[e.why.Meaning]++
		sure = sure || e.sure
		weak = weak && e.likely
	}
	switch {
	case !sure:
		f.Confidence = check.Possible
	case weak:
		f.Confidence = check.Likely
	}
	f.Instances = slices.Clone(f.Covers)
	// The reason that most of them have leads.
	first := slices.MaxFunc(ends, func(a, b end) int {
		return cmp.Or(cmp.Compare(counts[a.why.Meaning], counts[b.why.Meaning]), strings.Compare(b.why.Meaning, a.why.Meaning))
	})
	f.Title = check.Title("%s ended before %s %s", check.Subject(f.Covers, "instance"), check.Verb(f.Covers, "it was", "they were"), check.Verb(f.Covers, "a node", "nodes"))
	f.Why = fmt.Sprintf("%s%s: %s.", first.instance.ID, first.after(), first.why.Meaning)
	if message := first.instance.StateReason.Message; message != "" {
		f.Why += fmt.Sprintf(" EC2: %q.", check.Clip(message))
	}
	if len(counts) > 1 {
		f.Why += fmt.Sprintf(" There are %d different reasons.", len(counts))
	}
	const limit = 5
	for n, e := range ends {
		if n == limit {
			f = f.Notingf("Instances", "and %d more", len(ends)-limit)
			break
		}
		f = f.Noting(e.instance.ID, e.line())
		if cause := l.Activity[e.instance.ID]; cause != "" {
			f = f.Noting("Scaling activity of "+e.instance.ID, check.Clip(cause))
		}
	}
	f.Fix = check.Fix{
		Text:    first.why.Next,
		Console: l.S.EC2Link("InstanceDetails:instanceId=" + first.instance.ID),
	}
	return f
}

func (e end) after() string {
	text := " is " + e.instance.State
	if e.lived > 0 {
		text += fmt.Sprintf(", %s after its launch", e.lived.Round(time.Second))
	}
	return text
}

func (e end) line() string {
	parts := []string{e.instance.State}
	if code := e.instance.StateReason.Code; code != "" {
		parts = append(parts, code)
	}
	if e.lived > 0 {
		parts = append(parts, fmt.Sprintf("lived %s", e.lived.Round(time.Second)))
	}
	for _, p := range []string{e.instance.Type, e.instance.Zone} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ", ")
}

// forbidden are those labels that the kubelet refuses to start with, sorted
// (ValidateKubeletFlags and IsKubeletLabel in pkg/kubelet/apis of Kubernetes).
func forbidden(labels map[string]string) []string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if reserved(key) && !allowed(key) {
			list = append(list, key)
		}
	}
	return list
}

func reserved(key string) bool {
	namespace, _, ok := strings.Cut(key, "/")
	return ok && (within(namespace, "kubernetes.io") || within(namespace, "k8s.io"))
}

func within(namespace, domain string) bool {
	return namespace == domain || strings.HasSuffix(namespace, "."+domain)
}

func allowed(key string) bool {
	switch key {
	case "kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch",
		"topology.kubernetes.io/zone", "topology.kubernetes.io/region",
		"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
		"beta.kubernetes.io/instance-type", "beta.kubernetes.io/os", "beta.kubernetes.io/arch":
		return true
	}
	namespace, _, _ := strings.Cut(key, "/")
	return within(namespace, "kubelet.kubernetes.io") || within(namespace, "node.kubernetes.io")
}

func runForbiddenNodeLabel(s *check.View) []check.Finding {
	st := s.Boot()
	suspects, well := st.S.Pending()
	o := newSorting(st, well)
	var order []string
	found := map[string]*labelled{}
	for _, i := range suspects {
		l, why := labels(st, i)
		switch {
		case l != nil:
			key := l.resource + "\n" + strings.Join(l.keys, ",") + string(l.sure)
			if found[key] == nil {
				found[key] = l
				order = append(order, key)
			}
			found[key].instances = append(found[key].instances, i.ID)
		case why.Source != "":
			o.unread(i, why)
		default:
			o.pass(i)
		}
	}
	list := o.rest()
	for _, key := range order {
		list = append(list, found[key].finding(s))
	}
	return list
}

// labelled is a source of labels, of which the kubelet refuses some.
type labelled struct {
	resource  string
	from      string
	keys      []string
	sure      check.Confidence
	doubt     string
	group     string
	instances []string
}

// labels finds labels of an instance that the kubelet refuses, or why it
// cannot be told.
func labels(st *check.BootConfig, i *snapshot.Instance) (*labelled, snapshot.Failure) {
	t, why := st.Data(i)
	if t != nil && t.Err != nil {
		t, why = nil, t.Undecoded()
	}
	if t != nil {
		if keys := forbidden(t.Labels); len(keys) > 0 {
			l := &labelled{resource: st.Origin(i), from: "user data, read from " + t.From, keys: keys, sure: check.Certain}
			if t.Branch || t.Calls > 1 {
				l.sure, l.doubt = check.Likely, " A later call of the bootstrap script may omit it."
			}
			if group, _ := st.Nodegroup(i); group != nil && len(forbidden(group.Labels)) > 0 {
				l.resource, l.group = group.Name, group.Name
			}
			return l, snapshot.Failure{}
		}
	}
	group, managed := st.Nodegroup(i)
	if managed && group == nil && t == nil {
		return nil, unread(st, i)
	}
	// EKS writes a node group's labels into the user data for the image that
	// it chose. With a custom image it sets them later itself.
	if group != nil && group.AMIType != "CUSTOM" {
		if keys := forbidden(group.Labels); len(keys) > 0 {
			l := &labelled{resource: group.Name, group: group.Name, from: "labels of node group " + group.Name, keys: keys, sure: check.Certain}
			switch {
			case t != nil && len(t.Labels) > 0:
				l.sure, l.doubt = check.Likely, " The user data of this instance has other labels: the node group's may be newer than it."
			case groupJoins(st, group.Name):
				l.sure, l.doubt = check.Likely, " The node group has Ready nodes: the label may be newer than they are."
			}
			return l, snapshot.Failure{}
		}
	}
	if t == nil {
		return nil, why
	}
	return nil, snapshot.Failure{}
}

// groupJoins reports whether a managed node group has a Ready node.
func groupJoins(st *check.BootConfig, name string) bool {
	return slices.ContainsFunc(st.S.Instances, func(i snapshot.Instance) bool {
		n := st.Nodes[i.ID]
		return i.Tags["eks:nodegroup-name"] == name && n != nil && n.Joined()
	})
}

func (l *labelled) finding(s *check.View) check.Finding {
	f := check.Failed(l.resource, l.instances...).Affecting(l.instances...).
		Titled("kubelet rejects label %s", l.keys[0]).
		Because("The kubelet of %s does not start: %s %s in a reserved namespace of Kubernetes.%s",
			check.Subject(l.instances, "instance"), check.Some(l.keys, 3), check.Verb(l.keys, "is", "are"), l.doubt).
		Noting("Rejected, from "+l.from, check.Some(l.keys, 10)).
		ToFix("Remove %s from the user data, or give it your own prefix; kubectl can set it once the node has joined. Then replace %s.", check.Some(l.keys, 3), check.Subject(l.instances, "instance")).
		Console(s.EC2Link("InstanceDetails:instanceId=" + l.instances[0]))
	if l.sure != check.Certain {
		f.Confidence = l.sure
	}
	if l.group != "" {
		f.Fix.Text = fmt.Sprintf("Remove %s from node group %s, or give it your own prefix; kubectl can set it once the node has joined. Then replace %s.", check.Some(l.keys, 3), l.group, check.Subject(l.instances, "instance"))
		f.Fix.Command = s.AWSCommand("eks update-nodegroup-config", "--cluster-name", s.Cluster.Name, "--nodegroup-name", l.group, "--labels", "removeLabels="+strings.Join(l.keys, ","))
	}
	return f
}

// sorting sorts the pending instances of a check: those that pass, those that are not
// judged, by what was not read, and those that fail, by what a fix would change.
type sorting struct {
	cluster string
	by      func(*snapshot.Instance) string
	passed  []string
	blind   map[snapshot.Failure][]string
	failed  check.Groups[string]
}

// newSorting sorts by what a change of the instances' start would change.
func newSorting(st *check.BootConfig, well []*snapshot.Instance) *sorting {
	return &sorting{cluster: st.S.Cluster.Name, by: st.Origin, passed: check.IDs(well), blind: map[snapshot.Failure][]string{}}
}

func (o *sorting) pass(i *snapshot.Instance) { o.passed = append(o.passed, i.ID) }

func (o *sorting) unread(i *snapshot.Instance, why snapshot.Failure) {
	o.blind[why] = append(o.blind[why], i.ID)
}

func (o *sorting) fail(i *snapshot.Instance) { o.failed.Add(o.by(i), i.ID) }

// rest are the findings on those that do not fail: one Unknown for each thing that was
// not read.
func (o *sorting) rest() []check.Finding {
	list := check.Passing(nil, o.cluster, o.passed)
	for why, instances := range o.blind {
		list = append(list, check.Unread(o.cluster, instances, why))
	}
	return list
}

// findings are all of them; failure is the finding on those that a fix would cure at once.
func (o *sorting) findings(failure func(by string, of []string) check.Finding) []check.Finding {
	list := o.rest()
	for key, of := range o.failed.All() {
		list = append(list, failure(key, of))
	}
	return list
}
