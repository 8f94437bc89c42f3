package launch

import (
	"cmp"
	"fmt"
	"maps"
	"rollcall/shared/checkid"
	"slices"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func Placement() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchPlacement,
		title: "The placement group or host does not take the launch",
		cause: "The placement group, tenancy or host of the launch template does not take the instance: a cluster placement group is in one zone and the group launches into another, it does not take the type, a spread placement group has its seven instances in the zone, or there is no room beside its other instances.",
		fix:   "Let the group launch into one zone with a type that the placement group takes, all at once; or take the placement out of the launch template.",
		links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/limitations-placement-groups.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
		headline: "its placement does not take it",
		looks:    placementLook,
		uses:     []snapshot.Source{snapshot.LaunchTemplates, snapshot.PlacementGroups, snapshot.Subnets},
		repair: func(a *facts.Attempts, _ launchFault) finding.Fix {
			return finding.Fix{Command: AWSCommand(a, "ec2", "describe-placement-groups", "--query", "PlacementGroups[].[GroupName,State,Strategy,SpreadLevel,PartitionCount]", "--output", "table")}
		},
	})
}

// mostSpread is how many instances a rack spread placement group has in a zone (EC2 user
// guide, "Placement group rules and limitations").
const mostSpread = 7

// placementLook is how the placement group stands that the Auto Scaling group or its
// launch template names: EC2's refusal does not say of what strategy it is. Empty where
// none is named.
func placementLook(a *facts.Attempts, f launchFault) (headline string, evidence []finding.Evidence) {
	group := a.Groups[f.groups()[0]]
	template, _ := a.Template(group.Name)
	if template.Tenancy != "" || template.Host != "" {
		evidence = append(evidence, finding.Evidence{What: "Tenancy of the launch template", Value: strings.TrimSpace(template.Tenancy + " " + template.Host)})
	}
	name := cmp.Or(group.PlacementGroup, template.PlacementGroup)
	if name == "" {
		return "", evidence
	}
	what := "Placement group " + name
	if !a.S.Has(snapshot.PlacementGroups) {
		why := a.S.Why(snapshot.PlacementGroups)
		return "", append(evidence, finding.Evidence{What: what, Value: strings.TrimSpace(fmt.Sprintf("not read: %s %s", why.Call, why.Reason))})
	}
	i := slices.IndexFunc(a.S.PlacementGroups, func(p snapshot.PlacementGroup) bool { return p.Name == name || p.ID == name })
	if i < 0 {
		return "its placement group is not there", append(evidence, finding.Evidence{What: what, Value: "is not among those that EC2 lists here"})
	}
	p := a.S.PlacementGroups[i]
	value, in := p.Strategy+", "+p.State, inPlacement(a, p)
	if p.Partitions > 0 {
		value += fmt.Sprintf(", %d partitions", p.Partitions)
	}
	var parts []string
	for _, zone := range slices.Sorted(maps.Keys(in)) {
		parts = append(parts, fmt.Sprintf("%d in %s", in[zone], zone))
	}
	if len(parts) > 0 {
		value += "; instances of this cluster: " + phrase.And(parts)
	}
	return placementStands(p, in, zonesOf(a, f), f.each(func(t facts.Attempt) string { return unsupportedType(t) })), append(evidence, finding.Evidence{What: what, Value: value})
}

// inPlacement counts the instances of a placement group by zone, as far as they were read.
func inPlacement(a *facts.Attempts, p snapshot.PlacementGroup) map[string]int {
	in := map[string]int{}
	for _, i := range a.S.Instances {
		if i.PlacementGroup == p.Name && p.Name != "" && !i.Ended() {
			in[i.Zone]++
		}
	}
	return in
}

// unsupportedType is the type that a text says the strategy does not support.
func unsupportedType(t facts.Attempt) string {
	if strings.Contains(t.Verdict.Text, "not supported by the") || strings.Contains(t.Verdict.Text, "may not be used with instances") {
		return t.Verdict.Named.Type
	}
	return ""
}

// placementStands says why a placement group takes no launch; empty where that is not
// known.
func placementStands(p snapshot.PlacementGroup, in map[string]int, zones, types []string) string {
	of := "its " + p.Strategy + " placement group"
	switch {
	case p.State != "available" && p.State != "":
		return "its placement group is " + p.State
	case len(types) > 0:
		return of + " does not take " + phrase.Some(types, 3)
	case p.Strategy == "spread" && p.Level != "host":
		for _, zone := range slices.Sorted(maps.Keys(in)) {
			if in[zone] >= mostSpread {
				return fmt.Sprintf("%s has its %d instances in %s", of, mostSpread, zone)
			}
		}
	case p.Strategy == "cluster" && len(in) == 1:
		for zone := range in {
			if !slices.Contains(zones, zone) || len(zones) > 1 {
				return of + " is in " + zone
			}
		}
	}
	return ""
}
