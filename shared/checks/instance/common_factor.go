package instance

import (
	"cmp"
	"fmt"
	"rollcall/shared/checkid"
	"slices"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/factor"
	"rollcall/shared/snapshot"
)

// CommonFactor compares the launches of a week: shared/node/factor says how, and
// docs/factor.md how soon it names what, and that it accuses nothing healthy.
func CommonFactor() check.Check {
	return check.Check{
		ID:             checkid.InstanceCommonFactor,
		Title:          "Those that failed share what those that joined do not have",
		Confidence:     finding.Likely,
		Circumstantial: true,
		Needs:          []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Nodes},
		Uses:           []snapshot.Source{snapshot.LaunchHistory},
		Cause: "No other check explains the launches that failed, and of the last week's launches far more fail with one AMI, launch template version, version of the VPC CNI, nodegroup or NodePool, instance type, family, architecture, capacity type, subnet or zone than without it. " +
			"The test is exact (Fisher), corrected for all values that were tried and for a look at each launch of 90 days; of each value one launch of each quarter of an hour counts, and launches of the same hours must have joined without it (docs/factor.md). It tells what to look at, not how it fails.",
		Fix: "Compare it with what those that joined were launched with, go back to that, and read the console output of one that failed.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-templates.html",
		},
		Run: runCommonFactor,
	}
}

func runCommonFactor(s *facts.View) []finding.Finding {
	var v finding.Verdicts
	launches, failed := compared(s)
	suspects, well := s.Suspects()
	verdict := factor.Judge(launches, s.Time)
	var with []*snapshot.Instance
	if verdict.Reason == factor.Named {
		for _, i := range suspects {
			if slices.Contains(verdict.IDs, i.ID) && failed[i.ID] {
				with = append(with, i)
			}
		}
	}
	rest := facts.IDs(facts.Except(append(slices.Clone(suspects), well...), with))
	switch {
	case len(with) > 0:
		v.Fail(commonFactorFinding(s, verdict, launches, facts.IDs(with)))
	case len(failed) > 0 && !s.Has(snapshot.LaunchHistory):
		v.Unknown(s.Cluster.Name, rest, s.Why(snapshot.LaunchHistory))
		return v.Findings()
	}
	v.Pass(s.Cluster.Name, rest, finding.Evidence{What: "Launches of the last 7 days", Value: fmt.Sprintf("%d compared, nothing named: %s", len(launches), verdict.Reason)})
	return v.Findings()
}

// compared are the launches whose end says something: those of the history, the
// nodes that there are, and the instances of the scope that should be nodes by now
// (failed) and that no recorded cause explains.
func compared(s *facts.View) (list []factor.Launch, failed map[string]bool) {
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
	suspects, _ := s.Suspects()
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

func commonFactorFinding(s *facts.View, v factor.Verdict, launches []factor.Launch, ids []string) finding.Finding {
	first := v.Shared[0]
	f := finding.Finding{
		Outcome: finding.Fail, Resource: first.Name, Covers: ids, Instances: ids,
		Title: phrase.Title("%d of %d %s failed, %d of %d others joined", v.Failed, v.Launches, having(first), v.Others-v.OtherFailed, v.Others),
		Why: fmt.Sprintf("%d of %d launches %s failed, the first launched %s UTC; %d of %d others of the last 7 days joined.",
			v.Failed, v.Launches, having(first), v.First.UTC().Format(phrase.DayAndMinute), v.Others-v.OtherFailed, v.Others),
	}
	if also := v.Shared[1:]; len(also) > 0 {
		f.Why += fmt.Sprintf(" The very same launches are those %s: nothing here tells these apart.", phrase.And(all(also)))
	}
	if len(v.Near) > 0 {
		f.Why += fmt.Sprintf(" Most of them are also launches %s: too few tell these apart.", phrase.And(all(v.Near)))
	}
	if v.Among.Kind != "" {
		f.Why += fmt.Sprintf(" Of them %d of %d %s failed.", v.AmongFailed, v.AmongLaunches, having(v.Among))
	}
	for _, value := range append(slices.Clone(v.Shared), v.Near...) {
		f.Evidence = append(f.Evidence, finding.Evidence{What: string(value.Kind), Value: value.Name})
		f.Resources = append(f.Resources, value.Name)
	}
	f.Evidence = append(f.Evidence,
		finding.Evidence{What: "Launches compared", Value: fmt.Sprintf("%d of %d failed with it, in %d quarters of an hour; without it %d of %d", v.Failed, v.Launches, v.Witnesses, v.OtherFailed, v.Others)},
		finding.Evidence{What: "Chance", Value: fmt.Sprintf("p = %.2g, corrected for %d values and %d looks (90 days)", v.P, v.Tried, v.Looks)},
	)
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
func commonFactorFix(s *facts.View, v factor.Value, instead, failed string) finding.Fix {
	fix := finding.Fix{
		Text:    fmt.Sprintf("Look at what is particular to %s, and read the console output of %s.", v.Name, failed),
		Command: command.AWS(s, "ec2 get-console-output", "--latest", "--output", "text", "--instance-id", failed),
		Console: link.EC2(s, "InstanceDetails:instanceId="+failed),
	}
	if instead != "" {
		fix.Text = fmt.Sprintf("Compare %s with %s, with which launches join, and go back to that if nothing else is found. The console output of %s may tell how it fails.", v.Name, instead, failed)
	}
	switch v.Kind {
	case factor.AMI:
		images := []any{"--image-ids", v.Name}
		if instead != "" {
			images = append(images, instead)
		}
		fix.Command, fix.Console = command.AWS(s, "ec2 describe-images", images...), link.EC2(s, "ImageDetails:imageId="+v.Name)
	case factor.Template:
		id, version, _ := strings.Cut(v.Name, " version ")
		versions := []any{"--launch-template-id", id, "--versions", version}
		if other, n, _ := strings.Cut(instead, " version "); other == id {
			versions = append(versions, n)
		}
		fix.Command, fix.Console = command.AWS(s, "ec2 describe-launch-template-versions", versions...), link.EC2(s, "LaunchTemplateDetails:launchTemplateId="+id)
	}
	return fix
}
