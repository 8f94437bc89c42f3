package launch

import (
	"fmt"
	"rollcall/shared/checkid"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

func Suspended() check.Check {
	return check.Check{
		ID:         checkid.LaunchSuspended,
		Breaks:     check.Launching,
		CoversToo:  check.Groups,
		Title:      "The group's launch process is suspended",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.JoinCheck, check.Sweep},
		Needs:      []snapshot.Source{snapshot.Groups},
		AtLaunch:   true,
		Cause:      "The process Launch of the Auto Scaling group is suspended while the group wants more instances than it has: nothing is launched, and no activity says so. Somebody or a deployment suspended it, or Auto Scaling did, after launches had failed for a day.",
		Fix:        "Resume the process once what it was suspended for is over. Where Auto Scaling suspended it, look for why launches failed first.",
		Links:      []string{"https://docs.aws.amazon.com/autoscaling/ec2/userguide/as-suspend-resume-processes.html"},
		Run: func(s *facts.View) []finding.Finding {
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
			if len(well) > 0 {
				list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: well})
			}
			return list
		},
	}
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
