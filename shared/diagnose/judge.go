package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// Judge runs checks on a snapshot and ranks what they found. What is found about
// instances of which it is not proved that the cluster launched them is possible at
// most, and has no command: following one could open a network for whoever set a tag.
// Those that nothing of the cluster launched are one cause, and what is found about
// them is its evidence.
func Judge(list []checks.Check, s *snapshot.Snapshot) Diagnosis {
	claimed, unowned := checks.Provenance(s)
	if len(claimed)+len(unowned) == 0 {
		return Rank(list, checks.Eval(list, s), s)
	}
	proved := checks.Within(s, slices.Concat(claimed, unowned))
	proved.Scope.Unowned = unowned
	d := Rank(list, checks.Eval(list, proved), proved)
	if len(claimed) > 0 {
		// Those that are proved stay in scope: what all of them share is seen as it is.
		with := checks.Within(s, unowned)
		d.claim(Rank(list, checks.Eval(list, with), with), claimed, s)
	}
	i := slices.IndexFunc(d.Causes, func(c Cause) bool { return c.Check == checkid.InstanceUnowned })
	if i >= 0 {
		c := &d.Causes[i]
		c.Nodegroups = nil // their tags name them
		c.Evidence = bounded(append(possible(Rank(list, checks.Eval(list, s), s), c.Instances), c.Evidence...))
	}
	slices.SortStableFunc(d.Causes, func(a, b Cause) int { return rank(a.Confidence) - rank(b.Confidence) })
	return d
}

// claim adds what another diagnosis has of instances that only their tags call the
// cluster's.
func (d *Diagnosis) claim(other Diagnosis, claimed []string, s *snapshot.Snapshot) {
	theirs := func(id string) bool { return slices.Contains(claimed, id) }
	for _, c := range other.Causes {
		has := slices.ContainsFunc(d.Causes, func(x Cause) bool { return x.Check == c.Check && x.Resource == c.Resource })
		if has || !slices.ContainsFunc(c.Instances, theirs) {
			continue
		}
		d.Causes = append(d.Causes, unproved(c, s))
	}
	for _, p := range other.Passed {
		if slices.ContainsFunc(p.Covers, theirs) {
			d.Passed = append(d.Passed, p)
		}
	}
	for _, u := range other.Unknown {
		d.Unknown = addUnknown(d.Unknown, checks.Result{Check: u.Check, Finding: checks.Finding{Covers: u.Covers, Blocked: u.Blocked}})
	}
}

// unproved weakens a cause, unless it is about subnets into which the cluster launches.
func unproved(c Cause, s *snapshot.Snapshot) Cause {
	outside := func(id string) bool { return !strings.HasPrefix(id, "subnet-") || !checks.LaunchesInto(s, id) }
	if len(c.Covers) > 0 && !slices.ContainsFunc(c.Covers, outside) {
		return c
	}
	if c.Confidence == checks.Certain || c.Confidence == checks.Likely {
		c.Confidence = checks.Possible
	}
	them := phrase.Verb(c.Instances, "it", "them")
	if c.Confidence != checks.Symptom {
		c.Fix.Text = fmt.Sprintf("Find out who started %s before anything is changed for %s.", phrase.Some(c.Instances, 3), them)
		c.Fix.Command, c.Fix.Remedy = "", ""
	}
	c.Evidence = bounded(append([]checks.Evidence{{What: "Launched by " + s.Cluster.Name, Value: "not proved: only tags say so, which anybody who can start an instance can set"}}, c.Evidence...))
	c.Why += fmt.Sprintf(" It is not proved that %s launched %s: no Auto Scaling group of the cluster has %s, and %s.", s.Cluster.Name, phrase.Some(c.Instances, 3), them, claimsOf(s, them))
	return c
}

// claimsOf says what the NodeClaims contribute to the proof. A detector without access to
// clusters, launch-watch for one, does not request them: nothing failed then.
func claimsOf(s *snapshot.Snapshot, them string) string {
	f, failed := s.Failures[snapshot.NodeClaimsOf]
	switch {
	case s.Has(snapshot.NodeClaimsOf):
		return "no NodeClaim names " + them
	case failed && f.Call != "":
		return fmt.Sprintf("its NodeClaims could not be read (%s: %s)", f.Call, f.Reason)
	case failed:
		return fmt.Sprintf("its NodeClaims could not be read (%s)", f.Reason)
	}
	return "NodeClaims, which could prove it, are not read at launch"
}

// mostPossible is how many causes of unowned instances are listed.
const mostPossible = 10

// possible lists what a diagnosis has of instances that nothing of the cluster launched.
func possible(d Diagnosis, instances []string) (list []checks.Evidence) {
	for _, c := range d.Causes {
		var of []string
		for _, id := range c.Instances {
			if slices.Contains(instances, id) {
				of = append(of, id)
			}
		}
		if len(of) == 0 || c.Confidence == checks.Symptom || c.Confidence == checks.Advice || len(list) == mostPossible {
			continue
		}
		list = append(list, checks.Evidence{What: "Possible cause of " + phrase.Some(of, 3), Value: fmt.Sprintf("%s: %s", c.Check, c.Title)})
	}
	return list
}
