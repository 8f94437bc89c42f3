package iam

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/checks/check"
	"rollcall/shared/snapshot"
)

// access is who the cluster takes a node role for.
type access struct {
	// byEntry and byMap tell where the cluster looks (its authentication mode).
	byEntry, byMap bool
	// entry is the role's access entry.
	entry *snapshot.AccessEntry
	// mapped are its mappings in mapRoles, in their order: the last one counts.
	mapped []awsauth.Mapping
	// users are its mappings in mapUsers, which count after mapRoles.
	users []awsauth.Mapping
	// similar are the principals and mappings that mean the role and are not
	// found, in words.
	similar []check.Evidence
	// invalid is why mapRoles cannot be read by the cluster either.
	invalid error
	// unread are what could not be looked at: something may be there.
	unread []snapshot.Failure
}

// accessOf looks a role up where the cluster does. Why is set where the
// authentication mode is one that this code does not know.
func accessOf(s *check.View, c check.RoleGroup) (a access, why *snapshot.Failure) {
	switch s.Cluster.AuthMode {
	case "", "CONFIG_MAP": // answers from before access entries name no mode
		a.byMap = true
	case "API":
		a.byEntry = true
	case "API_AND_CONFIG_MAP":
		a.byEntry, a.byMap = true, true
	default:
		return a, &snapshot.Failure{Source: snapshot.Clusters, Reason: snapshot.NotRead, Message: fmt.Sprintf("%s has the authentication mode %q, which is unknown to Rollcall", s.Cluster.Name, s.Cluster.AuthMode)}
	}
	if a.byEntry {
		a.lookForEntry(s, c)
	}
	if a.byMap {
		a.lookInMap(s, c)
	}
	return a, nil
}

// entriesUnread are what could not be looked at of access entries.
func (a access) entriesUnread() []snapshot.Failure {
	return slices.DeleteFunc(slices.Clone(a.unread), func(f snapshot.Failure) bool { return f.Source != snapshot.Access })
}

func (a *access) lookForEntry(s *check.View, c check.RoleGroup) {
	if !s.Has(snapshot.Access) {
		a.unread = append(a.unread, s.Why(snapshot.Access))
		return
	}
	for i, e := range s.AccessEntries {
		if strings.EqualFold(e.Principal, c.Role) {
			a.entry = &s.AccessEntries[i]
			return
		}
	}
	lack, lacks := s.Lacks(snapshot.Access, c.Role)
	switch {
	case lacks && lack.Code != "ResourceNotFoundException":
		a.unread = append(a.unread, lack)
	case lacks:
	case slices.ContainsFunc(s.Principals, func(p string) bool { return strings.EqualFold(p, c.Role) }):
		a.unread = append(a.unread, check.NotRead(snapshot.Access, "the access entry of %s was not described", c.Role))
	}
	for _, p := range s.Principals {
		if why := mistaken(p, c.Role, c); why != "" {
			a.similar = append(a.similar, check.Evidence{What: "Access entry " + p, Value: why})
		}
	}
}

func (a *access) lookInMap(s *check.View, c check.RoleGroup) {
	if !s.Has(snapshot.AWSAuthMap) {
		a.unread = append(a.unread, s.Why(snapshot.AWSAuthMap))
		return
	}
	if s.AWSAuth == nil {
		return
	}
	roles, err := awsauth.Roles(s.AWSAuth.MapRoles)
	a.invalid = err
	a.mapped = awsauth.ForRole(roles, c.Role)
	for _, m := range roles {
		if m.ARN == "" {
			m.ARN = m.Stray
		}
		if why := mistaken(m.ARN, awsauth.Canonical(c.Role), c); why != "" {
			a.similar = append(a.similar,
				check.Evidence{What: fmt.Sprintf("mapRoles, entry %d: %s", m.Place, m.ARN), Value: why})
		} else if m.Stray != "" && strings.EqualFold(m.Stray, awsauth.Canonical(c.Role)) {
			a.similar = append(a.similar,
				check.Evidence{What: fmt.Sprintf("mapRoles, entry %d: %s", m.Place, m.Stray), Value: "is under userarn, not rolearn"})
		}
	}
	users, err := awsauth.Users(s.AWSAuth.MapUsers)
	if err != nil {
		return // it holds users; what it should hold of roles is found missing
	}
	a.users = awsauth.ForRole(users, c.Role)
}

// mistaken is how an ARN that means the role differs from the one that is
// looked up; empty where it is that one or means another.
func mistaken(arn, want string, c check.RoleGroup) string {
	if arn == "" || strings.EqualFold(arn, want) {
		return ""
	}
	if trimmed := strings.TrimSpace(arn); strings.EqualFold(trimmed, want) {
		return "has a space around the ARN"
	}
	got, role := strings.SplitN(arn, ":", 6), strings.SplitN(want, ":", 6)
	if len(got) != 6 || len(role) != 6 {
		return ""
	}
	kind, rest, _ := strings.Cut(got[5], "/")
	switch {
	case kind == "instance-profile" && got[4] == role[4] && uses(c, arn):
		return "is the instance profile's ARN, not the role's"
	case kind == "assumed-role" && got[4] == role[4] && strings.EqualFold(firstPart(rest), c.Name()):
		return "is the ARN of a session, not the role's"
	case kind != "role" || !strings.EqualFold(check.LastPart(rest), c.Name()):
		return ""
	case got[4] != role[4]:
		return "" // the same name in another account is another role
	case got[1] != role[1]:
		return "has the partition " + got[1]
	case strings.EqualFold(arn, c.Role):
		return "has the role's path, which the authenticator does not use: STS names roles without it"
	}
	return "has a different path than the one looked up, " + want
}

// uses reports whether an ARN is that of the profile of one of the instances, or
// of one that has the role's name, as the console makes them.
func uses(c check.RoleGroup, profile string) bool {
	return strings.EqualFold(check.LastPart(profile), c.Name()) ||
		slices.ContainsFunc(slices.Concat(c.Suspects, c.Well), func(i *snapshot.Instance) bool { return strings.EqualFold(i.Profile, profile) })
}

func firstPart(text string) string {
	first, _, _ := strings.Cut(text, "/")
	return first
}

// counts is the mapping of aws-auth that the cluster goes by.
func (a access) counts() (awsauth.Mapping, bool) {
	if len(a.mapped) > 0 {
		return a.mapped[len(a.mapped)-1], true
	}
	return awsauth.Mapping{}, false
}

// nodeType reports whether a type of access entry makes nodes of a role.
func nodeType(kind string) bool {
	return slices.Contains([]string{"EC2_LINUX", "EC2_WINDOWS", "EC2", "HYPERPOD_LINUX"}, kind)
}

func duplicate(c check.RoleGroup, s *check.View) []check.Finding {
	a, why := accessOf(s, c)
	switch {
	case why != nil:
		return c.Blocked(*why)
	case !a.byMap:
		return []check.Finding{c.Pass("aws-auth", "is not read in the mode API")}
	}
	var names []string
	var evidence []check.Evidence
	add := func(what, user string, groups []string) {
		evidence = append(evidence, check.Evidence{What: what, Value: fmt.Sprintf("username %q, groups %q", user, groups)})
		for _, have := range names {
			if have == user {
				return
			}
		}
		names = append(names, user)
	}
	for _, m := range a.mapped {
		add(fmt.Sprintf("mapRoles, entry %d", m.Place), m.Username, m.Groups)
	}
	// The entries of a node's type have the user name of nodes, whatever
	// aws-auth says beside them, and they come first.
	if a.entry != nil && !nodeType(a.entry.Type) {
		add("Access entry, "+a.entry.Type, a.entry.Username, a.entry.Groups)
	}
	if len(names) < 2 {
		if len(a.unread) > 0 {
			return c.Blocked(a.unread...)
		}
		return []check.Finding{c.Pass(c.Name(), fmt.Sprintf("%d mappings, no two different users", len(evidence)))}
	}
	if a.entry != nil && nodeType(a.entry.Type) {
		return []check.Finding{c.Pass("Access entry of "+c.Name(), a.entry.Type+", which takes precedence over aws-auth")}
	}
	f := check.Failed(c.Role, c.All()...).Affecting(check.IDs(c.Suspects)...).
		Titled("%s is mapped to %d different users", c.Name(), len(names)).
		Because("%s is mapped as %s. Only one of them counts: kubelets with a user name other than system:node:… are not nodes, or get no certificate for logs and exec.",
			c.Role, check.And(quotedNames(names))).
		Showing(append(evidence, modeEvidence(s))...).
		ToFix("Keep one mapping, as system:node:{{EC2PrivateDNSName}} with system:bootstrappers and system:nodes, and remove the others.").
		Command("kubectl edit configmap aws-auth -n kube-system").Console(s.AccessLink())
	if len(c.Suspects) == 0 {
		f.Confidence = check.Advice // no node is kept from joining
	}
	return []check.Finding{f}
}

func quotedNames(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = `"` + strings.ReplaceAll(check.Clip(name), `"`, `'`) + `"`
	}
	return out
}

// withoutEntry is the finding on a role that has no access entry, or whose entry was not read.
func (a access) withoutEntry(c check.RoleGroup) []check.Finding {
	if unread := a.entriesUnread(); len(unread) > 0 {
		return c.Blocked(unread...)
	}
	return []check.Finding{c.Pass("Access entry of "+c.Name(), "none")}
}

func missing(c check.RoleGroup, s *check.View, a access) []check.Finding {
	m, mapped := a.counts()
	means, wrong := m.Node()
	switch {
	case a.entry != nil && nodeType(a.entry.Type):
		return []check.Finding{c.Pass("Access entry of "+c.Name(), a.entry.Type)}
	case a.entry != nil: // an entry comes before aws-auth
		return c.Judged(unauthorized(c, s, a, fmt.Sprintf("has an access entry of type %s, which is not for nodes", a.entry.Type)))
	case mapped && means == awsauth.Joins && len(a.unread) == 0:
		return []check.Finding{c.Pass("mapRoles", fmt.Sprintf("entry %d maps %s as %s", m.Place, m.ARN, m.Username))}
	case len(a.unread) > 0:
		return c.Blocked(a.unread...)
	case mapped:
		f := unauthorized(c, s, a, fmt.Sprintf("is mapped in kube-system/aws-auth %s (entry %d of mapRoles)", wrong, m.Place))
		f = f.Notingf(fmt.Sprintf("mapRoles, entry %d", m.Place), "username %q, groups %q", m.Username, m.Groups)
		if m.Fault != "" {
			f = f.Noting("aws-auth", check.Clip(m.Fault))
		}
		f.Title = check.Title("%s is mapped %s", c.Name(), wrong)
		switch means {
		case awsauth.Hardly:
			f.Confidence = check.Possible
		case awsauth.Renamed:
			// nodeadm's InstanceIdNodeName gives nodes the instance's id for a name.
			f.Confidence = check.Likely
			f.Title = check.Title("%s is mapped to a user that is not the node's name", c.Name())
			f.Why = fmt.Sprintf("%s is mapped in kube-system/aws-auth %s (entry %d of mapRoles), so %s authenticates %s but does not allow it to register its node.",
				c.Role, wrong, m.Place, s.Cluster.Name, check.Some(check.IDs(c.Suspects), 3))
			f.Fix.Text = "Set the role's user name in mapRoles of kube-system/aws-auth to system:node:{{EC2PrivateDNSName}}. Waiting nodes then join without further action."
			f.Fix.Remedy = ""
		}
		return c.Judged(f)
	}
	f := unauthorized(c, s, a, "has "+a.where(s))
	for _, m := range a.users {
		f.Why += fmt.Sprintf(" It is in mapUsers (entry %d), which is for users.", m.Place)
		if means, _ := m.Node(); means != awsauth.Never {
			f.Confidence = check.Possible // the authenticator looks there too
		}
	}
	if !a.byMap && mappedInVain(c, s) {
		f.Why += " aws-auth maps it, but in the mode API nothing reads aws-auth."
	}
	return c.Judged(f)
}

// unauthorized is the finding; how ends the sentence about the role.
func unauthorized(c check.RoleGroup, s *check.View, a access, how string) check.Finding {
	f := c.Failed().
		Titled("%s rejects the node role %s", s.Cluster.Name, c.Name()).
		Because("%s %s, so %s answers %s with 401 Unauthorized.",
			c.Role, how, s.Cluster.Name, check.Some(check.IDs(c.Suspects), 3)).
		Showing(modeEvidence(s)).
		Showing(a.similar...).
		FixedBy(admit(c, s, a))
	if a.byEntry {
		f = f.Noting("Access entries", cmp.Or(check.Some(s.Principals, 10), "none"))
	}
	if a.entry != nil {
		f.Fix.Text, f.Fix.Command = changeEntryType(c, s)
		f.Fix.Remedy = ""
	}
	if young(c, s) {
		// Tools such as eksctl map the role after the group has launched, and
		// the kubelet tries until it is let in.
		f.Confidence = check.Likely
	}
	c.WeakenByReadyNode(&f)
	return f
}

// young reports whether the time to join is over for none of the suspects.
func young(c check.RoleGroup, s *check.View) bool {
	l := s.Index()
	return !slices.ContainsFunc(c.Suspects, func(i *snapshot.Instance) bool {
		_, remembered := l.Launches[i.ID]
		return !remembered || l.Due(i.ID)
	})
}

// mappedInVain reports whether aws-auth maps the role, whether or not the cluster
// looks there.
func mappedInVain(c check.RoleGroup, s *check.View) bool {
	if !s.Has(snapshot.AWSAuthMap) || s.AWSAuth == nil {
		return false
	}
	roles, err := awsauth.Roles(s.AWSAuth.MapRoles)
	return err == nil && len(awsauth.ForRole(roles, c.Role)) > 0
}

// lackOfAutoPolicy is how an entry of type EC2 lacks the policy of Auto Mode's nodes, in a
// clause; empty where it has it. why is set where its policies could not be read.
func lackOfAutoPolicy(s *check.View, of snapshot.Source, e snapshot.AccessEntry) (lacks string, why *snapshot.Failure) {
	if f, unread := s.Lacks(of, snapshot.AccessPoliciesOf(e.Principal)); unread {
		return "", &f
	}
	i := slices.IndexFunc(e.Policies, func(p snapshot.AccessPolicy) bool {
		return strings.HasSuffix(p.ARN, ":cluster-access-policy/"+autoNodePolicy)
	})
	switch {
	case i < 0:
		return fmt.Sprintf("has an access entry of type EC2 in %s without the access policy %s", s.Cluster.Name, autoNodePolicy), nil
	case len(e.Policies[i].Namespaces) > 0:
		return fmt.Sprintf("has the access policy %s in %s for %s only, and nodes belong to no namespace", autoNodePolicy, s.Cluster.Name, check.Some(e.Policies[i].Namespaces, 3)), nil
	}
	return "", nil
}

func policyMissing(c check.RoleGroup, s *check.View, a access) []check.Finding {
	switch {
	case !isAuto(c, s):
		return []check.Finding{c.Pass(c.Name(), "is not a role of EKS Auto Mode's nodes")}
	case a.entry == nil:
		return a.withoutEntry(c)
	case a.entry.Type != "EC2":
		return []check.Finding{c.Pass("Access entry of "+c.Name(), a.entry.Type)}
	}
	lacks, why := lackOfAutoPolicy(s, snapshot.Access, *a.entry)
	switch {
	case why != nil && why.Code == snapshot.NotCaptured:
		return nil // an earlier capture has no file of them
	case why != nil:
		return c.Blocked(*why)
	case lacks == "":
		return []check.Finding{c.Pass("Access policies of "+c.Name(), autoNodePolicy)}
	}
	f := c.Failed().
		Titled("the access entry of %s lacks %s", c.Name(), autoNodePolicy).
		Because("%s %s, so %s cannot join.", c.Role, lacks, check.Some(check.IDs(c.Suspects), 3)).
		Showing(entryEvidence(*a.entry), policiesOf(*a.entry), modeEvidence(s)).
		ToFix("Associate the access policy with the role's access entry, for the whole cluster. Waiting nodes then join without further action.").
		Command(associateAuto(s, c.Role)).Console(s.AccessLink())
	c.WeakenByReadyNode(&f)
	return c.Judged(f)
}

func policiesOf(e snapshot.AccessEntry) check.Evidence {
	var list []string
	for _, p := range e.Policies {
		scope := "cluster"
		if len(p.Namespaces) > 0 {
			scope = "namespaces " + check.Some(p.Namespaces, 3)
		}
		list = append(list, fmt.Sprintf("%s (%s)", check.LastPart(p.ARN), scope))
	}
	return check.Evidence{What: "Access policies", Value: check.FirstOf([]string{strings.Join(list, ", ")}, "none")}
}

// clocksDiffer is by how much the clocks of IAM and EKS may differ: an entry is made for a
// principal that there is.
const clocksDiffer = time.Minute

// staleEntry reports whether an access entry was made before the role that its ARN names now:
// "If you don't delete the access entry and ever recreate the IAM principal, even if it has the
// same ARN, the access entry won't work" (EKS API reference, AccessEntry, principalArn).
func staleEntry(e snapshot.AccessEntry, role time.Time) bool {
	return !e.Created.IsZero() && !role.IsZero() && e.Created.Add(clocksDiffer).Before(role)
}

func stale(c check.RoleGroup, s *check.View, a access) []check.Finding {
	switch {
	case !a.byEntry:
		return []check.Finding{c.Pass("Access entries", "are not used in the mode CONFIG_MAP")}
	case a.entry == nil:
		return a.withoutEntry(c)
	}
	role, gone, why := check.ReadRole(s, c.Role)
	switch {
	case gone: // iam/profile-missing
		return []check.Finding{c.Pass(c.Name(), "was deleted")}
	case why != nil:
		return c.Blocked(*why)
	case !staleEntry(*a.entry, role.Created):
		return []check.Finding{c.Pass("Access entry of "+c.Name(), "is newer than the role")}
	}
	f := c.Failed().
		Titled("the access entry of %s belongs to a deleted role", c.Name()).
		Because("%s %s, so %s cannot join.",
			c.Role, staleWhy(s), check.Some(check.IDs(c.Suspects), 3)).
		Showing(entryEvidence(*a.entry), createdEvidence(c.Role, role.Created), modeEvidence(s)).
		ToFix("Delete the access entry and recreate it. Waiting nodes then join without further action.").
		Command(check.JoinCommands([]string{deleteEntry(s, c.Role), create(c, s)})).Console(s.AccessLink())
	f = staleDoubt(f, *a.entry, role.Created)
	if _, mapped := a.counts(); mapped {
		f.Confidence = check.Likely // whether aws-auth counts beside such an entry is not documented
	}
	c.WeakenByReadyNode(&f)
	return c.Judged(f)
}

func staleWhy(s *check.View) string {
	return fmt.Sprintf("was created after its access entry in %s: EKS keeps the id of the role that the entry was created for, and that role was deleted", s.Cluster.Name)
}

func createdEvidence(role string, created time.Time) check.Evidence {
	return check.Evidence{What: "Role " + role, Value: "created " + created.UTC().Format("2006-01-02 15:04:05 UTC")}
}

// staleDoubt makes a finding likely where the entry was changed since the role was created:
// whether an update takes the new role's id is not documented.
func staleDoubt(f check.Finding, e snapshot.AccessEntry, role time.Time) check.Finding {
	if e.Modified.After(role) {
		f.Confidence = check.Likely
	}
	return f
}

func wrongARN(c check.RoleGroup, s *check.View, a access) []check.Finding {
	switch {
	case a.entry != nil, len(a.mapped) > 0 && len(a.unread) == 0:
		return []check.Finding{c.Pass(c.Name(), "is found by its ARN")}
	case len(a.unread) > 0:
		// What could not be read may admit the role.
		return c.Blocked(a.unread...)
	case len(a.similar) == 0:
		return []check.Finding{c.Pass(c.Name(), "no mapping of it is written differently")}
	}
	f := c.Failed().
		Titled("%s is mapped by an ARN that does not match", c.Name()).
		Because("%s: it %s. The role %s itself has %s, so %s answers %s with 401 Unauthorized.",
			a.similar[0].What, a.similar[0].Value, awsauth.Canonical(c.Role), a.where(s), s.Cluster.Name, check.Some(check.IDs(c.Suspects), 3)).
		Noting("Role", c.Role).
		Showing(modeEvidence(s)).
		Showing(a.similar...).
		FixedBy(admit(c, s, a))
	c.WeakenByReadyNode(&f)
	for _, m := range a.users {
		if means, _ := m.Node(); means != awsauth.Never {
			f.Confidence = check.Possible // the authenticator looks in mapUsers too
		}
	}
	return c.Judged(f)
}

func wrongType(c check.RoleGroup, s *check.View, a access) []check.Finding {
	switch {
	case !a.byEntry:
		return []check.Finding{c.Pass("Access entries", "are not used in the mode CONFIG_MAP")}
	case a.entry == nil:
		return a.withoutEntry(c)
	}
	want := entryKind(c, s)
	confidence := check.Certain
	switch {
	case a.entry.Type == want, a.entry.Type == "HYPERPOD_LINUX", a.entry.Type == "EC2_WINDOWS", a.entry.Type == "EC2_LINUX" && want == "EC2":
		return []check.Finding{c.Pass("Access entry of "+c.Name(), a.entry.Type)}
	case a.entry.Type == "EC2_LINUX": // Windows nodes register, and their kube-proxy lacks its rights
		confidence = check.Possible
	case a.entry.Type == "EC2": // may still be joined by an access policy
		confidence = check.Likely
	case !knownType(a.entry.Type):
		return c.Blocked(unknownType(c.Role, a.entry.Type))
	}
	f := c.Failed().
		Titled("access entry of %s is %s, not %s", c.Name(), a.entry.Type, want).
		Because("%s has an access entry of type %s in %s. Only %s is for its nodes, so %s cannot join.",
			c.Role, a.entry.Type, s.Cluster.Name, want, check.Some(check.IDs(c.Suspects), 3)).
		Notingf("Access entry of "+c.Role, "type %s, user %q, groups %q", a.entry.Type, a.entry.Username, a.entry.Groups).
		Showing(modeEvidence(s)).
		Console(s.AccessLink())
	f.Fix.Text, f.Fix.Command = changeEntryType(c, s)
	if m, mapped := a.counts(); mapped {
		f.Why += fmt.Sprintf(" aws-auth maps the role too (entry %d), but the access entry takes precedence.", m.Place)
	}
	c.WeakenByReadyNode(&f)
	if confidence == check.Possible || confidence == check.Likely {
		f.Confidence = confidence
	}
	return c.Judged(f)
}

// changeEntryType is the fix for an entry of the wrong type: it cannot be changed.
func changeEntryType(c check.RoleGroup, s *check.View) (text, line string) {
	return "Delete the access entry and recreate it: its type cannot be changed. Waiting nodes then join without further action.",
		check.JoinCommands([]string{deleteEntry(s, c.Role), create(c, s)})
}

func knownType(kind string) bool {
	return nodeType(kind) || slices.Contains([]string{"STANDARD", "FARGATE_LINUX", "HYBRID_LINUX"}, kind)
}

func unknownType(role, kind string) snapshot.Failure {
	return check.NotRead(snapshot.Access, "the access entry of %s has the type %q, which is unknown to Rollcall", role, kind)
}
