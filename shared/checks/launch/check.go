package launch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/refusal"
	"rollcall/shared/snapshot"
)

// launchSpec is what one check of failed launches has of its own.
type launchSpec struct {
	id checkid.ID
	// headline ends the finding's title: "workers cannot launch: …".
	headline string
	// titleEnd is a more exact end, where the texts give one; nil for none.
	titleEnd func(launchFault) string
	// inspect is what AWS says of the thing that the launches hang on: an end of the
	// title that is more exact still, and the evidence; nil for none. uses are the
	// sources that it looks at.
	inspect func(*check.Attempts, launchFault) (headline string, evidence []check.Evidence)
	uses    []snapshot.Source
	// resource is what a fix would change; empty for the group itself.
	resource func(*check.Attempts, check.Attempt) string
	// repair is the command and the link; the text is the class's unless it
	// gives one. Nil where the command is to read the activities.
	repair func(*check.Attempts, launchFault) check.Fix
}

// launchFault is the failed launches that one fix would cure.
type launchFault struct {
	resource string
	list     []check.Attempt
}

// launchCheck makes the check. All of them judge the same attempts, each those
// of its class.
func launchCheck(spec launchSpec) check.Check {
	return check.Check{
		Entry: catalog.Meaning(spec.id),
		// Instances are looked at where they were read: those that died while
		// they started tell the same as the group's activities.
		Uses: append([]snapshot.Source{
			snapshot.Groups, snapshot.Activities, snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.PoolEventsOf, snapshot.WaitingPods,
			// Settings that refuse launches, where EC2's text does not name them.
			snapshot.LaunchTemplates, snapshot.Images, snapshot.AllowedImagesOf, snapshot.Subnets, snapshot.VPCs, snapshot.InstanceTypes,
		}, spec.uses...),
		Run: func(s *check.View) []check.Finding {
			return withoutGroups(s, judge(s.Attempts(), spec))
		},
	}
}

// judge makes one finding for each resource that failed launches hang on, and
// passes every group that has none.
func judge(a *check.Attempts, spec launchSpec) []check.Finding {
	var faults check.Groups[check.Attempt]
	told := map[string]bool{} // units that fail
	open := map[string]check.Attempt{}
	for _, t := range a.List {
		if t.Verdict.Class != spec.id {
			continue
		}
		if t.Unsure || t.Blocked != nil {
			open[t.Group] = t
			continue
		}
		resource := ""
		// Each launcher without a group is reported for itself: one cause and pool.
		if spec.resource != nil && t.Refused == nil {
			resource = spec.resource(a, t)
		}
		faults.Add(cmp.Or(resource, t.Group), t)
		told[t.Group] = true
	}
	var list []check.Finding
	for resource, attempts := range faults.All() {
		f := cannotLaunch(a, spec, launchFault{resource: resource, list: attempts})
		if f.Confidence == "" && !slices.ContainsFunc(attempts, func(t check.Attempt) bool { return !t.Likely }) {
			f.Confidence, f.Unconditional = check.Likely, true
		}
		list = append(list, f)
	}
	var well []string
	for _, unit := range a.Units {
		t, unsure := open[unit]
		lack, lacks := a.S.Lacks(snapshot.Activities, unit)
		switch {
		case told[unit]:
		case unsure && t.Blocked != nil:
			list = append(list, unread(a, unit, *t.Blocked))
		case unsure:
			list = append(list, unread(a, unit, check.Broken(snapshot.Activities, "whether a scaling activity of %s (%s, %s) succeeded is unknown", unit, t.Status, check.ClockTime(t.At))))
		case lacks:
			list = append(list, unread(a, unit, lack))
		default:
			well = append(well, unit)
		}
	}
	return check.Passing(list, a.S.Cluster.Name, well)
}

// withoutGroups passes nothing where groups or their activities were not read: what was
// refused without a group, and what instances themselves say, stands all the same.
func withoutGroups(s *check.View, list []check.Finding) []check.Finding {
	var blocked []snapshot.Failure
	for _, source := range []snapshot.Source{snapshot.Groups, snapshot.Activities} {
		if !s.Has(source) {
			blocked = append(blocked, s.Why(source))
		}
	}
	if len(blocked) == 0 {
		return list
	}
	list = slices.DeleteFunc(list, func(f check.Finding) bool { return f.Outcome == check.Pass })
	return append(list, check.Unread(s.Cluster.Name, nil, blocked...))
}

func unread(a *check.Attempts, unit string, f snapshot.Failure) check.Finding {
	return check.Unread(unit, []string{unit}, f)
}

func cannotLaunch(a *check.Attempts, spec launchSpec, f launchFault) check.Finding {
	names := f.names(a)
	// The words hang on the first text in the alphabet, not on the newest: they
	// must not change with each look.
	first := slices.MinFunc(f.list, func(x, y check.Attempt) int {
		return cmp.Or(strings.Compare(x.Verdict.Text, y.Verdict.Text), x.At.Compare(y.At))
	})
	finding := check.Failed(f.resource, f.groups()...).Affecting(f.ended(a.S)...).Involving(f.resources()...).
		Titled("%s cannot launch: %s", check.Subject(names, "group"), spec.headline).
		Because("No instance of %s could be %s%s: %s.", check.Some(names, 3), start(f), where(f.subnets()), meaning(first)).
		Showing(slices.Concat(f.evidence(), f.deniedEvidence(), check.LogEvidence(a.S.Snapshot, f.claims()...))...)
	finding.Since = f.since()
	if spec.repair != nil {
		finding.Fix = spec.repair(a, f)
	}
	if first.Verdict.Text != "" {
		finding.Why += fmt.Sprintf(" %s reports: %q.", speaker(first), strings.TrimSuffix(first.Verdict.Text, "."))
	}
	if spec.titleEnd != nil {
		finding.Title = check.Title("%s cannot launch: %s", check.Subject(names, "group"), cmp.Or(spec.titleEnd(f), spec.headline))
	}
	if spec.inspect != nil {
		headline, evidence := spec.inspect(a, f)
		if finding = finding.Showing(evidence...); headline != "" {
			finding.Title = check.Title("%s cannot launch: %s", check.Subject(names, "group"), headline)
		}
	}
	if f.unneeded() {
		// What may pass is advice then; what is not allowed stays broken, and pages no operator.
		if finding.Idle = !refusal.Passes(spec.id); !finding.Idle {
			finding.Confidence = onlyAdvice
		}
		finding.Why += fmt.Sprintf(" No pod is waiting for a node of %s now.", check.Some(names, 3))
	}
	finding.Fix.Text = cmp.Or(finding.Fix.Text, f.missingTags(), next(first))
	finding.Fix.Command = cmp.Or(finding.Fix.Command, f.tagClass(a), showActivities(a, f))
	finding.Fix.Console = cmp.Or(finding.Fix.Console, groupLink(a, f))
	return finding
}

// onlyAdvice is the confidence of a finding that pages no operator.
const onlyAdvice = check.Advice

// unneeded reports whether nothing waits for any of the launches.
func (f launchFault) unneeded() bool {
	return !slices.ContainsFunc(f.list, func(t check.Attempt) bool { return !t.Unneeded })
}

// speaker is who gave the reason. Karpenter puts some of EC2's into words of its own.
func speaker(t check.Attempt) string {
	if t.Refused != nil && t.Status != check.ToldByCloudTrail {
		return "Karpenter"
	}
	return "AWS"
}

// start is what could not be done: an instance under a launch hook was started.
func start(f launchFault) string {
	if abandoned(f) {
		return "put in service"
	}
	return "started"
}

func where(subnets []string) string {
	if len(subnets) == 0 {
		return ""
	}
	return " in " + check.Some(subnets, 3)
}

// groups are the names of the groups, and of the owners that have none.
func (f launchFault) groups() []string {
	return f.each(func(t check.Attempt) string { return t.Group })
}

func (f launchFault) subnets() []string {
	list := f.each(func(t check.Attempt) string { return t.Subnet })
	for _, t := range f.list {
		if t.Refused != nil {
			list = append(list, t.Refused.Subnets...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// claims are the NodeClaims that say so themselves.
func (f launchFault) claims() (names []string) {
	for _, t := range f.list {
		names = append(names, t.Claims...)
	}
	return names
}

// names are what people call the groups: their nodegroups.
func (f launchFault) names(a *check.Attempts) []string {
	return f.each(func(t check.Attempt) string {
		return cmp.Or(a.Groups[t.Group].Owner(), launcherName(t.Group))
	})
}

// each is a field of all attempts: sorted, once, without the empty ones.
func (f launchFault) each(field func(check.Attempt) string) []string {
	var list []string
	for _, t := range f.list {
		if v := field(t); v != "" {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// resources are what a fix would change, the groups, where they launch, and
// what the texts name.
func (f launchFault) resources() []string {
	list := append([]string{f.resource}, append(f.groups(), f.subnets()...)...)
	for _, t := range f.list {
		n := t.Verdict.Named
		list = append(list, n.AMI, n.SecurityGroup, n.Template, n.Key, n.Profile, n.Role, n.Snapshot)
	}
	var out []string
	for _, id := range list {
		if id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// ended are the instances of the scope that were started and ended.
func (f launchFault) ended(s *check.View) []string {
	var ids []string
	for _, i := range s.Scoped() {
		if i.Ended() && slices.ContainsFunc(f.list, func(t check.Attempt) bool { return t.Instance == i.ID }) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// evidence is how many launches failed, when, and what was said of them.
func (f launchFault) evidence() []check.Evidence {
	const limit = 5
	byTime := slices.SortedStableFunc(slices.Values(f.list), func(x, y check.Attempt) int { return x.At.Compare(y.At) })
	list := []check.Evidence{{What: "Failed launches", Value: span(byTime)}}
	if slices.ContainsFunc(byTime, func(t check.Attempt) bool { return t.Refused != nil }) {
		list = nil // each says since when, and goes on
	}
	for _, t := range byTime {
		if t.Refused != nil {
			list = append(list, refusedCalls(*t.Refused)...)
			if len(t.Claims) > 0 {
				list = append(list, check.Evidence{What: "NodeClaims that report it", Value: check.Some(t.Claims, 3)})
			}
		}
	}
	var said []string
	for i := len(byTime) - 1; i >= 0; i-- {
		t := byTime[i]
		line := t.Group + ": " + cmp.Or(t.Verdict.Text, "no status message")
		if slices.Contains(said, line) {
			continue
		}
		if said = append(said, line); len(said) > limit {
			list = append(list, check.Evidence{What: "More", Value: "and other texts"})
			break
		}
		what := "Scaling activity of " + t.Group
		switch {
		case t.Refused != nil:
			what = t.Refused.Call + " for " + launcherName(t.Group)
		case t.Instance != "":
			what = t.Instance
		}
		list = append(list, check.Evidence{What: what, Value: fmt.Sprintf("%s %s: %s", check.ClockTime(t.At), t.Status, cmp.Or(t.Verdict.Text, "no status message"))})
	}
	return list
}

// span tells how many there are and from when to when.
func span(byTime []check.Attempt) string {
	first, last := byTime[0].At, byTime[len(byTime)-1].At
	if len(byTime) == 1 {
		return "1, at " + check.ClockTime(first)
	}
	return fmt.Sprintf("%d, from %s to %s", len(byTime), check.ClockTime(first), check.ClockTime(last))
}

func suspended(s *check.View) []check.Finding {
	var well []string
	var list []check.Finding
	for _, g := range s.Groups {
		reason, suspended := suspendedLaunch(g)
		if has := present(g); suspended && g.Desired > has {
			list = append(list, cannotResume(s, g, reason, has))
			continue
		}
		// Suspended with nothing to launch does no harm.
		well = append(well, g.Name)
	}
	return check.Passing(list, s.Cluster.Name, well)
}

// suspendedLaunch finds the process Launch among those that are suspended. The
// others (AddToLoadBalancer, AZRebalance, ReplaceUnhealthy, …) keep no launch
// from happening that the desired capacity asks for.
func suspendedLaunch(g snapshot.Group) (reason string, suspended bool) {
	for _, p := range g.Suspended {
		if p.Process == "Launch" {
			return p.Reason, true
		}
	}
	return "", false
}

// present counts the instances that the desired capacity counts: those that
// leave, stand by or wait in the warm pool are not.
func present(g snapshot.Group) int {
	n := 0
	for _, i := range g.Instances {
		gone := false
		for _, state := range []string{"Terminat", "Detach", "Standby", "Warmed"} {
			gone = gone || strings.HasPrefix(i.Lifecycle, state)
		}
		if !gone {
			n++
		}
	}
	return n
}

func cannotResume(s *check.View, g snapshot.Group, reason string, has int) check.Finding {
	a := &check.Attempts{S: s, Groups: map[string]snapshot.Group{g.Name: g}}
	f := launchFault{resource: g.Name, list: []check.Attempt{{Group: g.Name}}}
	by := "Someone suspended it"
	text := "Find the reason for the suspension (CloudTrail: SuspendProcesses), then resume it."
	if activity.Administrative(reason) {
		by = "Auto Scaling suspended it, after launches had failed for long"
		text = "Find out why launches failed (the group's older activities), then resume the process."
	}
	if reason == "" {
		by = "Auto Scaling gives no reason"
	}
	finding := check.Failed(g.Name, g.Name).Involving(g.Name).
		Titled("%s cannot launch: the process Launch is suspended", f.names(a)[0]).
		Because("The process Launch of %s is suspended, and the group wants more instances than it has. %s.", g.Name, by).
		Notingf(g.Name, "desired %d, has %d, max %d", g.Desired, has, g.Max).
		Noting("Suspended", "Launch").
		ToFix("%s", text).
		Command(AWSCommand(a, "autoscaling", "resume-processes", "--auto-scaling-group-name", g.Name, "--scaling-processes", "Launch")).
		Console(s.AutoScalingGroupLink(g.Name))
	if reason != "" {
		finding.Evidence[1].Value += ": " + check.Clip(reason)
	}
	return finding
}

func repairSecurityGroup(a *check.Attempts, f launchFault) check.Fix {
	id := f.list[0].Verdict.Named.SecurityGroup
	if id == "" {
		return showTemplate(a, f)
	}
	return check.Fix{
		Command: AWSCommand(a, "ec2", "describe-security-groups", "--filters", "Name=group-id,Values="+id),
		Console: a.S.EC2Link("SecurityGroup:groupId=" + id),
	}
}

func repairServiceRole(a *check.Attempts, f launchFault) check.Fix {
	service := "autoscaling.amazonaws.com"
	if strings.Contains(f.list[0].Verdict.Meaning, "Spot") {
		service = "spot.amazonaws.com"
	}
	return check.Fix{Command: AWSCommand(a, "iam", "create-service-linked-role", "--aws-service-name", service)}
}

// freeAddresses lists what holds addresses of the subnet without use.
func freeAddresses(a *check.Attempts, f launchFault) check.Fix {
	subnets := f.subnets()
	if len(subnets) == 0 {
		return check.Fix{}
	}
	return check.Fix{
		Text: fmt.Sprintf("Delete unused holders of addresses of %s (the command lists interfaces that nothing is attached to), or have the group launch into another subnet.", subnets[0]),
		Command: AWSCommand(a, "ec2", "describe-network-interfaces", "--filters",
			"Name=subnet-id,Values="+subnets[0], "Name=status,Values=available"),
		Console: a.S.VPCLink("SubnetDetails:subnetId=" + subnets[0]),
	}
}

func resourceTemplate(a *check.Attempts, t check.Attempt) string {
	if id := lostSubnet(t); id != "" {
		return id
	}
	template, _ := a.Template(t.Group)
	return cmp.Or(t.Verdict.Named.Template, template.ID)
}

func saysTemplate(f launchFault) string {
	if id := lostSubnet(f.list[0]); id != "" {
		return id + " does not exist"
	}
	return ""
}

// lostSubnet is the subnet that does not exist, where it is the subnet that the
// text names.
func lostSubnet(t check.Attempt) string {
	n := t.Verdict.Named
	if n.Template != "" || n.Snapshot != "" || n.Subnet == "" {
		return ""
	}
	return n.Subnet
}

// showTemplate shows the version that the group launches from. Where a subnet
// is gone the group is at fault, not the template; EKS changes no nodegroup's
// subnets.
func showTemplate(a *check.Attempts, f launchFault) check.Fix {
	if lostSubnet(f.list[0]) != "" {
		if slices.ContainsFunc(f.list, func(t check.Attempt) bool { return a.Groups[t.Group].Tags["eks:nodegroup-name"] != "" }) {
			return check.Fix{Text: "The subnets of a managed nodegroup cannot be changed: create a new nodegroup in subnets that exist, and delete this one."}
		}
		return check.Fix{Text: "Have the group launch into subnets that exist."}
	}
	template, _ := a.Template(f.list[0].Group)
	if template.ID == "" {
		return check.Fix{}
	}
	return check.Fix{
		Command: AWSCommand(a, "ec2", "describe-launch-template-versions", "--launch-template-id", template.ID, "--versions", cmp.Or(template.Version, "$Default")),
		Console: a.S.EC2Link("LaunchTemplateDetails:launchTemplateId=" + template.ID),
	}
}

func saysUnclassified(f launchFault) string {
	if abandoned(f) {
		return "a launch lifecycle hook abandons its instances"
	}
	return ""
}

func repairUnclassified(a *check.Attempts, f launchFault) check.Fix {
	if !abandoned(f) {
		return check.Fix{}
	}
	return check.Fix{Command: AWSCommand(a, "autoscaling", "describe-lifecycle-hooks", "--auto-scaling-group-name", f.groups()[0])}
}

// abandoned reports whether launch hooks abandoned all of the launches.
func abandoned(f launchFault) bool {
	return !slices.ContainsFunc(f.list, func(t check.Attempt) bool { return !activity.Abandoned(t.Verdict.Text) })
}

func repairVolumeLimit(a *check.Attempts, _ launchFault) check.Fix {
	// L-7A658B76 and L-D18FCD1D: storage of gp3 and gp2 volumes, in TiB.
	return check.Fix{
		Text:    "Delete unused volumes (the command lists them), or request more storage: quota L-7A658B76 for gp3, L-D18FCD1D for gp2 (TiB).",
		Command: AWSCommand(a, "ec2", "describe-volumes", "--filters", "Name=status,Values=available"),
		Console: a.S.ConsoleHost() + "/servicequotas/home/services/ebs/quotas?region=" + a.S.Region,
	}
}
