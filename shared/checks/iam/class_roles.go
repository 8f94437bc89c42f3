package iam

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// EKS Auto Mode launches nothing for a NodeClass with a role that could not join: its
// condition InstanceProfileReady is UnauthorizedNodeRole. EKS admits the role of the built-in
// NodeClass by itself; any other needs an access entry of type EC2 with the access policy
// AmazonEKSAutoNodePolicy for the cluster (EKS user guide, "Create a Node Class for Amazon
// EKS", https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html).

// autoNodePolicy is the access policy that Auto Mode's nodes need.
const autoNodePolicy = "AmazonEKSAutoNodePolicy"

// classRole is a node role of NodeClasses in use that the cluster refuses.
type classRole struct {
	snapshot.ClassRole
	// arn is the role's; made of its name where it could not be read.
	arn string
	// classes are the NodeClasses in use, pools the NodePools that name them.
	classes, pools []string
	covers         []string
	refusals       []finding.Evidence
}

// withClasses is a check of node roles that judges those of refused NodeClasses too; in a
// sweep at which no instance is in trouble it judges those alone.
func withClasses(judge func(*facts.View, classRole) []finding.Finding, c check.Check) check.Check {
	sources := []snapshot.Source{snapshot.NodePoolsOf, snapshot.AutoNodeClassesOf, snapshot.ClassAccess}
	ofInstances := c.Run
	ofClasses := func(s *facts.View) []finding.Finding { return judgeClasses(s, judge) }
	c = check.Using(sources, c)
	c.Run = func(s *facts.View) []finding.Finding { return append(ofInstances(s), ofClasses(s)...) }
	c.WatchedBy = []check.Detector{check.JoinCheck, check.Sweep}
	c.InSweep = &check.Part{Needs: []snapshot.Source{snapshot.Clusters}, Uses: sources, Run: ofClasses}
	c.Proof = check.ByPassingUnmet
	c.CoversToo = check.NodePools
	return c
}

// judgeClasses judges the roles of NodeClasses that NodePools name. Where those were not read
// karpenter/nodeclass-not-ready is Unknown.
func judgeClasses(s *facts.View, judge func(*facts.View, classRole) []finding.Finding) []finding.Finding {
	var v finding.Verdicts
	var unread []finding.Finding
	roles := map[string]*classRole{}
	for class, u := range autoClassesInUse(s) {
		is, refused := class.Unauthorized()
		switch {
		case class.Conditions["InstanceProfileReady"].Status == "True", class.Conditions["Ready"].Status == "True":
			v.Pass(s.Cluster.Name, u.covers, finding.Evidence{What: "NodeClass " + class.Name, Value: "its node role is not refused"})
		case !refused || !facts.Held(s, is, class.Generation, facts.ClassSettles):
		default:
			r, why := roleOfClass(s, class.Name)
			if why != nil {
				unread = append(unread, finding.Finding{Outcome: finding.Unknown, Resource: class.Name, Covers: u.covers, Blocked: []snapshot.Failure{*why}})
				continue
			}
			if roles[r.Name] == nil {
				roles[r.Name] = &classRole{ClassRole: r, arn: cmp.Or(r.ARN, fmt.Sprintf("arn:%s:iam::%s:role/%s", s.Partition, s.Account, r.Name))}
			}
			c := roles[r.Name]
			c.classes, c.pools, c.covers = append(c.classes, class.Name), append(c.pools, u.pools...), append(c.covers, u.covers...)
			c.refusals = append(c.refusals, finding.Evidence{
				What:  "NodeClass " + class.Name,
				Value: fmt.Sprintf("InstanceProfileReady is False, %s: %s (since %s)", is.Reason, phrase.Clip(is.Message), phrase.ClockTime(is.Since)),
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		for _, f := range judge(s, *roles[name]) {
			v.Fail(f)
		}
	}
	return append(v.Findings(), unread...)
}

type classUse struct{ pools, covers []string }

// autoClassesInUse yields the NodeClasses of EKS Auto Mode that NodePools name, in the order
// of their names.
func autoClassesInUse(s *facts.View) func(yield func(snapshot.NodeClass, classUse) bool) {
	uses := map[string]classUse{}
	for _, p := range s.NodePools {
		if p.Class.Group == snapshot.AutoModeGroup && !p.Deleting {
			u := uses[p.Class.Name]
			uses[p.Class.Name] = classUse{append(u.pools, p.Name), append(u.covers, facts.PoolKey(p.Name))}
		}
	}
	return func(yield func(snapshot.NodeClass, classUse) bool) {
		for _, name := range slices.Sorted(maps.Keys(uses)) {
			ref := snapshot.ClassRef{Group: snapshot.AutoModeGroup, Name: name}
			class, _ := facts.Class(s, ref)
			if class == nil || class.Deleting {
				continue
			}
			u := uses[name]
			u.covers = append(u.covers, facts.ClassKey(ref))
			if !yield(*class, u) {
				return
			}
		}
	}
}

// roleOfClass is what was read of a refused NodeClass's role.
func roleOfClass(s *facts.View, class string) (snapshot.ClassRole, *snapshot.Failure) {
	if !s.Has(snapshot.ClassAccess) {
		f := s.Why(snapshot.ClassAccess)
		return snapshot.ClassRole{}, &f
	}
	for _, r := range s.ClassRoles {
		if slices.Contains(r.Classes, class) {
			return r, nil
		}
	}
	f, lacks := s.Lacks(snapshot.ClassAccess, class)
	if !lacks {
		f = snapshot.Failure{Source: snapshot.ClassAccess, Reason: snapshot.NotRead, Message: "the role of NodeClass " + class + " is not among those that were read"}
	}
	return snapshot.ClassRole{}, &f
}

// unread is why the role itself is not known: whether it has a path, and since when it is
// there; nil where it was read. A role that IAM does not have is not known either.
func (c classRole) unread(s *facts.View) *snapshot.Failure {
	if c.ARN != "" {
		return nil
	}
	f, lacks := s.Lacks(snapshot.ClassAccess, c.Name)
	if !lacks {
		f = s.Why(snapshot.ClassAccess)
	}
	return &f
}

// entry is the access entry of the role; nil for none. Where the role could not be read it is
// the one of its name, if that is the only one.
func (c classRole) entry() *snapshot.AccessEntry {
	for i, e := range c.Entries {
		if strings.EqualFold(e.Principal, c.arn) || c.ARN == "" && len(c.Entries) == 1 {
			return &c.Entries[i]
		}
	}
	return nil
}

func (c classRole) pass(what, value string) []finding.Finding {
	return []finding.Finding{{Outcome: finding.Pass, Resource: c.arn, Covers: c.covers, Evidence: []finding.Evidence{{What: what, Value: value}}}}
}

func (c classRole) blocked(why snapshot.Failure) []finding.Finding {
	return []finding.Finding{{Outcome: finding.Unknown, Resource: c.arn, Covers: c.covers, Blocked: []snapshot.Failure{why}}}
}

// failed is a finding on the role: what it lacks, in a clause after its name, and the fix.
func (c classRole) failed(s *facts.View, title, lacks string, fix finding.Fix, evidence ...finding.Evidence) finding.Finding {
	fix.Console = link.Access(s)
	return finding.Finding{
		Outcome: finding.Fail, Resource: c.arn, Covers: c.covers, Unconditional: true,
		Resources: append([]string{c.Name}, c.classes...),
		Title:     title,
		Why: fmt.Sprintf("%s, the node role of NodeClass %s, %s. EKS Auto Mode launches no node for NodePool %s until %s admits the role.",
			c.arn, phrase.And(c.classes), lacks, phrase.Some(c.pools, 3), s.Cluster.Name),
		Evidence: slices.Concat(c.refusals, evidence, []finding.Evidence{modeEvidence(s)}),
		Fix:      fix,
	}
}

// createAuto are the commands that make the access entry of a role of Auto Mode's nodes.
func createAuto(s *facts.View, role string) []string {
	return []string{
		command.AWS(s, "eks create-access-entry", "--cluster-name", s.Cluster.Name, "--principal-arn", role, "--type", "EC2"),
		associateAuto(s, role),
	}
}

func associateAuto(s *facts.View, role string) string {
	return command.AWS(s, "eks associate-access-policy", "--cluster-name", s.Cluster.Name, "--principal-arn", role,
		"--policy-arn", fmt.Sprintf("arn:%s:eks::aws:cluster-access-policy/%s", s.Partition, autoNodePolicy), "--access-scope", "type=cluster")
}

// recreateAuto are the commands that replace the access entry.
func recreateAuto(s *facts.View, role string) string {
	return command.Several(append([]string{deleteEntry(s, role)}, createAuto(s, role)...))
}

func deleteEntry(s *facts.View, role string) string {
	return command.AWS(s, "eks delete-access-entry", "--cluster-name", s.Cluster.Name, "--principal-arn", role)
}

const admitsItself = " EKS Auto Mode looks again by itself."

func classAccessMissing(s *facts.View, c classRole) []finding.Finding {
	if len(c.Entries) > 0 {
		return c.pass("Access entry of "+c.Name, "there is one")
	}
	f := c.failed(s, phrase.Title("%s does not admit the node role %s", s.Cluster.Name, c.Name),
		fmt.Sprintf("has no access entry in %s", s.Cluster.Name),
		finding.Fix{Text: "Make an access entry of type EC2 for the role, with the access policy " + autoNodePolicy + "." + admitsItself, Command: command.Several(createAuto(s, c.arn))})
	return []finding.Finding{f}
}

func classWrongType(s *facts.View, c classRole) []finding.Finding {
	e := c.entry()
	switch {
	case e == nil, e.Type == "EC2":
		return c.pass("Access entry of "+c.Name, phrase.FirstOf(typesOf(e), "none"))
	case !knownType(e.Type):
		return c.blocked(unknownType(c.arn, e.Type))
	}
	f := c.failed(s, phrase.Title("access entry of %s is %s, not EC2", c.Name, e.Type),
		fmt.Sprintf("has an access entry of type %s in %s, and nodes of EKS Auto Mode need one of type EC2", e.Type, s.Cluster.Name),
		finding.Fix{Text: "Delete the access entry and make it again with type EC2 and the access policy " + autoNodePolicy + ": its type cannot be changed." + admitsItself, Command: recreateAuto(s, e.Principal)},
		entryEvidence(*e))
	if e.Type == "EC2_LINUX" {
		// Some setups report that Auto Mode takes it; AWS documents EC2 alone.
		f.Confidence = finding.Likely
	}
	return []finding.Finding{f}
}

func typesOf(e *snapshot.AccessEntry) []string {
	if e == nil {
		return nil
	}
	return []string{e.Type}
}

func entryEvidence(e snapshot.AccessEntry) finding.Evidence {
	value := fmt.Sprintf("type %s, user %q, groups %q", e.Type, e.Username, e.Groups)
	if !e.Created.IsZero() {
		value += ", created " + e.Created.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return finding.Evidence{What: "Access entry of " + e.Principal, Value: value}
}

// classWrongARN: an entry of the role's name under another path is of another role. And Auto
// Mode itself looks for the entry of the role's name without its path, so that a role with a
// path had none, whatever EKS has (aws/containers-roadmap#2486).
func classWrongARN(s *facts.View, c classRole) []finding.Finding {
	if len(c.Entries) == 0 {
		return c.pass("Access entry of "+c.Name, "none")
	}
	if why := c.unread(s); why != nil {
		return c.blocked(*why)
	}
	e := c.entry()
	if e == nil {
		return []finding.Finding{c.failed(s, phrase.Title("the access entry of %s has another path", c.Name),
			fmt.Sprintf("has no access entry in %s: that of its name is %s, another role's", s.Cluster.Name, c.Entries[0].Principal),
			finding.Fix{Text: "Make an access entry of type EC2 for the role, with the access policy " + autoNodePolicy + "." + admitsItself, Command: command.Several(createAuto(s, c.arn))},
			finding.Evidence{What: "Access entry", Value: c.Entries[0].Principal})}
	}
	lacks, why := lackOfAutoPolicy(s, snapshot.ClassAccess, *e)
	switch {
	case strings.HasSuffix(c.arn, ":role/"+c.Name), e.Type != "EC2", lacks != "", staleEntry(*e, c.Created):
		return c.pass("Access entry of "+c.Name, e.Principal)
	case why != nil:
		return c.blocked(*why)
	}
	f := c.failed(s, phrase.Title("the node role %s has a path", c.Name),
		"has an access entry as it should be and a path, and EKS Auto Mode looks for the entry of the role's name without its path",
		finding.Fix{Text: fmt.Sprintf("Name a role without a path in NodeClass %s, and make an access entry of type EC2 with the access policy %s for it.", phrase.And(c.classes), autoNodePolicy)},
		entryEvidence(*e))
	f.Confidence = finding.Likely
	return []finding.Finding{f}
}

func classPolicyMissing(s *facts.View, c classRole) []finding.Finding {
	e := c.entry()
	if e == nil || e.Type != "EC2" {
		return c.pass("Access entry of "+c.Name, phrase.FirstOf(typesOf(e), "none"))
	}
	lacks, why := lackOfAutoPolicy(s, snapshot.ClassAccess, *e)
	switch {
	case why != nil:
		return c.blocked(*why)
	case lacks == "":
		return c.pass("Access policies of "+c.Name, autoNodePolicy)
	}
	return []finding.Finding{c.failed(s, phrase.Title("the access entry of %s lacks %s", c.Name, autoNodePolicy),
		lacks, finding.Fix{Text: "Associate the access policy with the role's access entry, for the whole cluster." + admitsItself, Command: associateAuto(s, e.Principal)},
		entryEvidence(*e), policiesOf(*e))}
}

func classStale(s *facts.View, c classRole) []finding.Finding {
	e := c.entry()
	if e == nil {
		return c.pass("Access entry of "+c.Name, "none")
	}
	if why := c.unread(s); why != nil {
		return c.blocked(*why)
	}
	if !staleEntry(*e, c.Created) {
		return c.pass("Access entry of "+c.Name, "is newer than the role")
	}
	f := c.failed(s, phrase.Title("the access entry of %s is of a deleted role", c.Name),
		staleWhy(s),
		finding.Fix{Text: "Delete the access entry and make it again." + admitsItself, Command: recreateAuto(s, e.Principal)},
		entryEvidence(*e), createdEvidence(c.arn, c.Created))
	return []finding.Finding{staleDoubt(f, *e, c.Created)}
}
