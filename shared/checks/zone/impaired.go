package zone

import (
	"fmt"
	"rollcall/shared/checkid"
	"slices"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func Impaired() check.Check {
	return check.Check{
		ID:         checkid.ZoneImpaired,
		Breaks:     check.Pods,
		Proof:      check.ByPassing,
		Title:      "The Availability Zone itself is in trouble",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.JoinCheck, check.ZoneWatch},
		Predictive: true,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.ZonesOf},
		Uses:       []snapshot.Source{snapshot.LaunchHistory, snapshot.Subnets},
		Cause:      "EC2 says that the zone is impaired or unavailable: that is certain. Or launches of the last hour fail there in several ways that no setting explains (EC2's own faults, failed status checks, nodes that never came or were lost), hardly one becomes a node, and in the other zones of the same groups they do: that is likely. That EC2 has no capacity in a zone is no trouble of the zone by itself.",
		Fix:        "Do not look for a fault in the settings first. Keep launches out of the zone until it is well (AWS Health tells), and do not replace what still works there.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AvailabilityZone.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/zone-shift.html",
		},
		Run: runZoneImpaired,
	}
}

func runZoneImpaired(s *facts.View) []finding.Finding {
	p := zones.Of(s)
	ours := used(p)
	troubles := map[string]zoneTrouble{}
	if s.Has(snapshot.LaunchHistory) {
		troubles = troubled(s)
	}
	var list []finding.Finding
	var well, unsaid []string
	pass := finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name}
	for _, z := range s.Zones {
		t, seen := troubles[z.Name]
		switch {
		case ours[z.Name] && (z.State == "impaired" || z.State == "unavailable"):
			f := impaired(p, z, "EC2 says that "+z.Name+" is "+z.State+".")
			if seen {
				f.Evidence = append(f.Evidence, t.evidence(z.Name))
			}
			list = append(list, f)
		case ours[z.Name] && seen:
			f := impaired(p, z, t.says(z.Name))
			f.Confidence = finding.Likely
			f.Evidence = append(f.Evidence, t.evidence(z.Name))
			list = append(list, f)
		case ours[z.Name] && !slices.Contains([]string{"available", "information", "constrained", "impaired", "unavailable"}, z.State):
			list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: z.Name, Covers: []string{z.Name}, Blocked: []snapshot.Failure{{
				Source: snapshot.ZonesOf, Reason: snapshot.Broken, Message: fmt.Sprintf("EC2 says that %s is %q, which is not known here", z.Name, z.State),
			}}})
		case ours[z.Name] && !s.Has(snapshot.LaunchHistory):
			unsaid = append(unsaid, z.Name)
		default:
			well = append(well, z.Name)
			if ours[z.Name] {
				pass.Evidence = append(pass.Evidence, finding.Evidence{What: z.Name, Value: stateOf(z)})
			}
		}
	}
	if len(unsaid) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: unsaid, Blocked: []snapshot.Failure{s.Why(snapshot.LaunchHistory)}})
	}
	if pass.Covers = well; len(well) > 0 {
		list = append(list, pass)
	}
	return list
}

// used are the zones in which the cluster has, or may have, nodes.
func used(p *zones.Zones) map[string]bool {
	used := map[string]bool{}
	for z := range p.NodesIn {
		used[z] = true
	}
	for _, r := range p.Sources {
		for _, z := range r.Zones {
			used[z] = true
		}
	}
	return used
}

func stateOf(z snapshot.Zone) string {
	if len(z.Messages) == 0 {
		return z.State
	}
	return z.State + ": " + phrase.Clip(strings.Join(z.Messages, "; "))
}

func impaired(p *zones.Zones, z snapshot.Zone, why string) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail, Resource: z.Name, Covers: []string{z.Name}, Resources: []string{z.Name},
		Title:    phrase.Title("%s (%s) is in trouble: not your settings", z.Name, z.ID),
		Why:      why,
		Evidence: []finding.Evidence{{What: z.Name + " (" + z.ID + ")", Value: stateOf(z)}, nodesByZone(p)},
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Do not look for a fault in the settings first. Keep launches out of %s until it is well, and do not replace what still works there; https://health.aws.amazon.com says what is known.", z.Name),
			Console: link.EC2(p.S, "Home:"),
		},
	}
	var ids []string
	suspects, _ := p.S.Suspects()
	for _, i := range suspects {
		if i.Zone == z.Name {
			ids = append(ids, i.ID)
		}
	}
	f.Instances = ids
	return f
}
