package instance

import (
	"cmp"
	"fmt"
	"rollcall/shared/checkid"
	"strings"
	"time"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func ScheduledEvent() check.Check {
	return usingStart(check.Check{
		ID:         checkid.InstanceScheduledEvent,
		Title:      "EC2 has scheduled the instance's end, stop or reboot",
		Confidence: finding.Likely,
		Needs:      []snapshot.Source{snapshot.Instances, snapshot.Nodes, snapshot.Statuses},
		Cause:      "EC2 plans to retire, stop or reboot the instance. It retires and stops those whose host is failing, and such a host may not carry a node any more. A reboot or maintenance that is still to come explains nothing yet.",
		Fix:        "Let the group replace the instance before the date.",
		Links:      []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-instances-status-check_sched.html"},
		Run: func(s *facts.View) []finding.Finding {
			l := s.Index()
			suspects, well := l.S.Suspects()
			planned := map[string][]snapshot.ScheduledEvent{}
			for _, status := range s.Statuses {
				for _, e := range status.Events {
					if !eventOver(e) {
						planned[status.Instance] = append(planned[status.Instance], e)
					}
				}
			}
			var list []finding.Finding
			for _, i := range suspects {
				events := planned[i.ID]
				if len(events) == 0 {
					well = append(well, i)
					continue
				}
				list = append(list, scheduledEventFinding(l, i, events))
			}
			if len(well) > 0 {
				list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: facts.IDs(well)})
			}
			return list
		},
	})
}

// eventOver tells that an event is done with. EC2 says so at the beginning of the
// description, and leaves the event in the answer for up to a week (API
// reference, InstanceStatusEvent).
func eventOver(e snapshot.ScheduledEvent) bool {
	return strings.HasPrefix(e.Description, "[Completed]") || strings.HasPrefix(e.Description, "[Canceled]")
}

// ofFailingHost tells that EC2 plans this for a host that is failing.
func ofFailingHost(e snapshot.ScheduledEvent) bool {
	return e.Code == "instance-retirement" || e.Code == "instance-stop"
}

func scheduledEventFinding(l facts.InstanceIndex, i *snapshot.Instance, events []snapshot.ScheduledEvent) finding.Finding {
	first := events[0]
	sure := false
	f := finding.Finding{
		Outcome: finding.Fail, Resource: i.ID, Covers: []string{i.ID}, Instances: []string{i.ID},
		Fix: finding.Fix{
			Text:    "Let the group replace " + i.ID + " before the date.",
			Command: command.AWS(l.S, "autoscaling terminate-instance-in-auto-scaling-group", "--no-should-decrement-desired-capacity", "--instance-id", i.ID),
			Console: link.EC2(l.S, "InstanceDetails:instanceId="+i.ID),
		},
	}
	if i.Tags["aws:autoscaling:groupName"] == "" {
		f.Fix.Command = command.AWS(l.S, "ec2 terminate-instances", "--instance-ids", i.ID)
	}
	for _, e := range events {
		f.Evidence = append(f.Evidence, finding.Evidence{What: i.ID, Value: fmt.Sprintf("%s, not before %s: %s", cmp.Or(e.Code, "event without a code"), atUTC(e.NotBefore), phrase.Clip(cmp.Or(e.Description, "no description")))})
		// A reboot that has begun takes the start with it.
		began := !e.NotBefore.IsZero() && !l.S.Time.Before(e.NotBefore)
		if (ofFailingHost(e) || began) && !sure {
			first, sure = e, true
		}
	}
	if !sure {
		f.Confidence = finding.Advice
	}
	f.Title = phrase.Title("%s: EC2 has scheduled %s", i.ID, cmp.Or(first.Code, "an event"))
	f.Why = fmt.Sprintf("EC2 has scheduled %s of %s, not before %s.", cmp.Or(first.Code, "an event"), i.ID, atUTC(first.NotBefore))
	if ofFailingHost(first) {
		f.Why += " It does so where the host is failing."
	}
	return f
}

func atUTC(t time.Time) string {
	if t.IsZero() {
		return "a time that EC2 does not give"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
