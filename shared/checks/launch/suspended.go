package launch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

func suspended(s *facts.View) []finding.Finding {
	var well []string
	var list []finding.Finding
	for _, g := range s.Groups {
		reason, suspended := suspendedLaunch(g)
		if has := present(g); suspended && g.Desired > has {
			list = append(list, cannotResume(s, g, reason, has))
			continue
		}
		// Suspended with nothing to launch harms nobody.
		well = append(well, g.Name)
	}
	list = finding.Passing(list, s.Cluster.Name, well)
	return list
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

func cannotResume(s *facts.View, g snapshot.Group, reason string, has int) finding.Finding {
	a := &facts.Attempts{S: s, Groups: map[string]snapshot.Group{g.Name: g}}
	f := launchFault{resource: g.Name, list: []facts.Attempt{{Group: g.Name}}}
	by := "Somebody suspended it"
	text := "Find out what it was suspended for (CloudTrail: SuspendProcesses), then resume it."
	if activity.Administrative(reason) {
		by = "Auto Scaling suspended it, after launches had failed for long"
		text = "Look for why launches failed (the group's older activities), then resume the process."
	}
	if reason == "" {
		by = "Auto Scaling gives no reason"
	}
	finding := finding.Finding{
		Outcome:   finding.Fail,
		Resource:  g.Name,
		Covers:    []string{g.Name},
		Resources: []string{g.Name},
		Title:     phrase.Title("%s cannot launch: the process Launch is suspended", f.names(a)[0]),
		Why:       fmt.Sprintf("The process Launch of %s is suspended, and the group wants more instances than it has. %s.", g.Name, by),
		Evidence: []finding.Evidence{
			{What: g.Name, Value: fmt.Sprintf("desired %d, has %d, max %d", g.Desired, has, g.Max)},
			{What: "Suspended", Value: "Launch"},
		},
		Fix: finding.Fix{
			Text:    text,
			Command: AWSCommand(a, "autoscaling", "resume-processes", "--auto-scaling-group-name", g.Name, "--scaling-processes", "Launch"),
			Console: link.AutoScalingGroup(s, g.Name),
		},
	}
	if reason != "" {
		finding.Evidence[1].Value += ": " + phrase.Clip(reason)
	}
	return finding
}

func repairSecurityGroup(a *facts.Attempts, f launchFault) finding.Fix {
	id := f.list[0].Verdict.Named.SecurityGroup
	if id == "" {
		return showTemplate(a, f)
	}
	return finding.Fix{
		Command: AWSCommand(a, "ec2", "describe-security-groups", "--filters", "Name=group-id,Values="+id),
		Console: link.EC2(a.S, "SecurityGroup:groupId="+id),
	}
}

func repairServiceRole(a *facts.Attempts, f launchFault) finding.Fix {
	service := "autoscaling.amazonaws.com"
	if strings.Contains(f.list[0].Verdict.Meaning, "Spot") {
		service = "spot.amazonaws.com"
	}
	return finding.Fix{Command: AWSCommand(a, "iam", "create-service-linked-role", "--aws-service-name", service)}
}

// freeAddresses lists what holds addresses of the subnet without use.
func freeAddresses(a *facts.Attempts, f launchFault) finding.Fix {
	subnets := f.subnets()
	if len(subnets) == 0 {
		return finding.Fix{}
	}
	return finding.Fix{
		Text: fmt.Sprintf("Delete what holds addresses of %s without use (the command lists interfaces that nothing is attached to), or let the group launch into another subnet.", subnets[0]),
		Command: AWSCommand(a, "ec2", "describe-network-interfaces", "--filters",
			"Name=subnet-id,Values="+subnets[0], "Name=status,Values=available"),
		Console: link.VPC(a.S, "SubnetDetails:subnetId="+subnets[0]),
	}
}

func resourceTemplate(a *facts.Attempts, t facts.Attempt) string {
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
func lostSubnet(t facts.Attempt) string {
	n := t.Verdict.Named
	if n.Template != "" || n.Snapshot != "" || n.Subnet == "" {
		return ""
	}
	return n.Subnet
}

// showTemplate shows the version that the group launches from. Where a subnet
// is gone the group is at fault, not the template; EKS changes no nodegroup's
// subnets.
func showTemplate(a *facts.Attempts, f launchFault) finding.Fix {
	if lostSubnet(f.list[0]) != "" {
		if slices.ContainsFunc(f.list, func(t facts.Attempt) bool { return a.Groups[t.Group].Tags["eks:nodegroup-name"] != "" }) {
			return finding.Fix{Text: "The subnets of a managed nodegroup cannot be changed: make a new nodegroup in subnets that exist, and delete this one."}
		}
		return finding.Fix{Text: "Let the group launch into subnets that exist."}
	}
	template, _ := a.Template(f.list[0].Group)
	if template.ID == "" {
		return finding.Fix{}
	}
	return finding.Fix{
		Command: AWSCommand(a, "ec2", "describe-launch-template-versions", "--launch-template-id", template.ID, "--versions", cmp.Or(template.Version, "$Default")),
		Console: link.EC2(a.S, "LaunchTemplateDetails:launchTemplateId="+template.ID),
	}
}

func saysUnclassified(f launchFault) string {
	if abandoned(f) {
		return "a launch lifecycle hook abandons its instances"
	}
	return ""
}

func repairUnclassified(a *facts.Attempts, f launchFault) finding.Fix {
	if !abandoned(f) {
		return finding.Fix{}
	}
	return finding.Fix{Command: AWSCommand(a, "autoscaling", "describe-lifecycle-hooks", "--auto-scaling-group-name", f.groups()[0])}
}

// abandoned reports whether launch hooks abandoned all of the launches.
func abandoned(f launchFault) bool {
	return !slices.ContainsFunc(f.list, func(t facts.Attempt) bool { return !activity.Abandoned(t.Verdict.Text) })
}

func repairVolumeLimit(a *facts.Attempts, _ launchFault) finding.Fix {
	// L-7A658B76 and L-D18FCD1D: storage of gp3 and gp2 volumes, in TiB.
	return finding.Fix{
		Text:    "Delete volumes that nothing uses (the command lists them), or ask for more storage: quota L-7A658B76 for gp3, L-D18FCD1D for gp2 (TiB).",
		Command: AWSCommand(a, "ec2", "describe-volumes", "--filters", "Name=status,Values=available"),
		Console: link.Host(a.S) + "/servicequotas/home/services/ebs/quotas?region=" + a.S.Region,
	}
}
