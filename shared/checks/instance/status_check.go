package instance

import (
	"cmp"
	"fmt"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func StatusCheck() check.Check {
	return usingStart(check.Check{
		ID:         checkid.InstanceStatusCheck,
		Title:      "EC2's own checks say that the instance is impaired",
		Confidence: finding.Likely,
		Needs:      []snapshot.Source{snapshot.Instances, snapshot.Nodes, snapshot.Statuses},
		After:      []checkid.ID{checkid.InstanceScheduledEvent, checkid.InstanceConsoleError},
		Cause:      "EC2 checks each running instance every minute: the system status is of the host and its network, the instance status of the operating system (it does not answer ARP). An instance that fails one hardly becomes a node.",
		Fix:        "System status: stop and start the instance, or let its group replace it: it then runs on another host. Instance status: read the console output.",
		Links:      []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-system-instance-status-check.html"},
		Run: func(s *facts.View) []finding.Finding {
			l := s.Index()
			suspects, well := l.S.Suspects()
			statuses := map[string]snapshot.InstanceStatus{}
			for _, status := range s.Statuses {
				statuses[status.Instance] = status
			}
			var list []finding.Finding
			groups := map[string][]snapshot.InstanceStatus{}
			var order []string
			for _, i := range suspects {
				status, known := statuses[i.ID]
				switch {
				case i.State != "running": // EC2 checks only those
				case impaired(status):
					owner := cmp.Or(i.Owner(), i.ID)
					if groups[owner] == nil {
						order = append(order, owner)
					}
					groups[owner] = append(groups[owner], status)
				case statusOK(status):
					well = append(well, i)
				case l.Due(i.ID):
					list = append(list, statusUnknown(i.ID, status, known))
				}
			}
			if len(well) > 0 {
				list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: facts.IDs(well)})
			}
			for _, owner := range order {
				list = append(list, statusCheckFinding(l, owner, groups[owner]))
			}
			return list
		},
	})
}

func impaired(s snapshot.InstanceStatus) bool { return s.System == "impaired" || s.OS == "impaired" }

// statusOK tells that both checks say so. An instance that EC2 cannot check has
// passed none.
func statusOK(s snapshot.InstanceStatus) bool { return s.System == "ok" && s.OS == "ok" }

func statusUnknown(id string, s snapshot.InstanceStatus, known bool) finding.Finding {
	message := "EC2 gives no status of " + id
	if known {
		message = fmt.Sprintf("EC2 has no verdict on %s: system %s, instance %s", id, cmp.Or(s.System, "not said"), cmp.Or(s.OS, "not said"))
	}
	return finding.Finding{
		Outcome: finding.Unknown, Resource: id, Covers: []string{id},
		Blocked: []snapshot.Failure{{Source: snapshot.Statuses, Reason: snapshot.NotRead, Message: message}},
	}
}

func statusCheckFinding(l facts.InstanceIndex, owner string, list []snapshot.InstanceStatus) finding.Finding {
	f := finding.Finding{Outcome: finding.Fail, Resource: owner}
	system := false
	const limit = 5
	for n, s := range list {
		f.Covers = append(f.Covers, s.Instance)
		system = system || s.System == "impaired"
		if n < limit {
			f.Evidence = append(f.Evidence, finding.Evidence{What: s.Instance, Value: fmt.Sprintf("system status %s, instance status %s", cmp.Or(s.System, "not said"), cmp.Or(s.OS, "not said"))})
		}
	}
	f.Instances = append([]string(nil), f.Covers...)
	first := list[0].Instance
	f.Title = phrase.Title("%s %s EC2's status checks", phrase.Subject(f.Covers, "instance"), phrase.Verb(f.Covers, "fails", "fail"))
	f.Why = fmt.Sprintf("EC2 says that %s %s impaired: the operating system does not answer.", phrase.Some(f.Covers, 3), phrase.Verb(f.Covers, "is", "are"))
	f.Fix = finding.Fix{
		Text:    "Read the console output of " + first + ": mostly the operating system did not start, or its network did not.",
		Command: command.AWS(l.S, "ec2 get-console-output", "--latest", "--output", "text", "--instance-id", first),
		Console: link.EC2(l.S, "InstanceDetails:instanceId="+first),
	}
	if system {
		f.Why = fmt.Sprintf("EC2 says that %s %s impaired: the host or its network is at fault, not what runs on it.", phrase.Some(f.Covers, 3), phrase.Verb(f.Covers, "is", "are"))
		f.Fix.Text = "Let the group replace " + first + ": another one runs on another host."
		f.Fix.Command = command.AWS(l.S, "autoscaling terminate-instance-in-auto-scaling-group", "--no-should-decrement-desired-capacity", "--instance-id", first)
		if i := l.Instances[first]; i == nil || i.Tags["aws:autoscaling:groupName"] == "" {
			f.Fix.Text = "Replace " + first + ": another one runs on another host."
			f.Fix.Command = command.AWS(l.S, "ec2 terminate-instances", "--instance-ids", first)
		}
	}
	return f
}
