package iam

import (
	"fmt"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func ProfileMissing() check.Check {
	return usingRoles(check.Check{
		ID:         checkid.IAMProfileMissing,
		Title:      "The instance has no role",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Instances, snapshot.Profiles},
		AtLaunch:   true,
		Cause:      "The instance was started without an instance profile, or its profile was deleted, holds no role, or holds a role that was deleted. Without credentials the kubelet cannot prove to the cluster who it is.",
		Fix:        "Put the node role into the instance profile, name the profile in the launch template, and replace the instances.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html",
			"https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_switch-role-ec2_instance-profiles.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			suspects, well := s.Suspects()
			var list []finding.Finding
			var lost []loss
			var good []*snapshot.Instance
			for _, i := range suspects {
				if i.Profile == "" && i.Ended() {
					continue // EC2 forgets the profile of an instance that has ended
				}
				l, why := lossOf(s, i)
				switch {
				case why != nil:
					list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: i.ID, Covers: []string{i.ID}, Blocked: []snapshot.Failure{*why}})
				case l.kind == "":
					good = append(good, i)
				default:
					lost = l.in(lost)
				}
			}
			list = facts.Together(list)
			for _, l := range lost {
				list = append(list, l.finding(s))
			}
			if good = append(good, well...); len(good) > 0 {
				list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: facts.IDs(good)})
			}
			return list
		},
	})
}

// loss is how instances came to have no role.
type loss struct {
	kind      string // empty for none
	resource  string
	profile   string
	role      string // that was deleted
	instances []*snapshot.Instance
}

// The kinds.
const (
	noProfile      = "no instance profile"
	profileDeleted = "profile deleted"
	profileEmpty   = "profile empty"
	roleDeleted    = "role deleted"
)

// lossOf tells how an instance came to have no role, or what kept from
// telling.
func lossOf(s *facts.View, i *snapshot.Instance) (loss, *snapshot.Failure) {
	l := loss{instances: []*snapshot.Instance{i}, resource: i.Profile, profile: i.Profile}
	if i.Profile == "" {
		l.kind, l.resource = noProfile, i.ID
		if i.Template.ID != "" {
			l.resource = i.Template.ID // which started them all like this
		}
		return l, nil
	}
	p, read := facts.ProfileOf(s, i.Profile)
	lack, lacks := s.Lacks(snapshot.Profiles, i.Profile)
	switch {
	case lacks && lack.Code == facts.NoSuchEntity:
		l.kind = profileDeleted
	case lacks:
		return l, &lack
	case !read:
		return l, &snapshot.Failure{Source: snapshot.Profiles, Reason: snapshot.NotRead, Message: i.Profile + " is not among the instance profiles that were read"}
	case len(p.Roles) == 0:
		l.kind = profileEmpty
	default:
		// IAM lets nobody delete a role that is in a profile, but the profile
		// may have been read before.
		if f, lacks := s.Lacks(snapshot.Roles, p.Roles[0]); lacks && f.Code == facts.NoSuchEntity {
			l.kind, l.role = roleDeleted, p.Roles[0]
		}
	}
	return l, nil
}

// in adds a loss to the one of the same kind and resource.
func (l loss) in(list []loss) []loss {
	i := slices.IndexFunc(list, func(o loss) bool { return o.kind == l.kind && o.resource == l.resource })
	if i < 0 {
		return append(list, l)
	}
	list[i].instances = append(list[i].instances, l.instances...)
	return list
}

func (l loss) finding(s *facts.View) finding.Finding {
	who := facts.IDs(l.instances)
	f := finding.Finding{
		Outcome: finding.Fail, Resource: l.resource, Covers: who, Instances: who,
		Fix: finding.Fix{Console: link.EC2(s, "InstanceDetails:instanceId="+who[0])},
	}
	if l.resource != who[0] {
		f.Resources = append([]string{l.resource}, who[:min(len(who), 5)]...)
	}
	profile := facts.LastPart(l.profile)
	switch l.kind {
	case noProfile:
		f.Title = phrase.Title("%s %s no instance profile", phrase.Subject(who, "instance"), phrase.Verb(who, "has", "have"))
		f.Why = fmt.Sprintf("%s %s started without an instance profile, so %s no role and no credentials. The kubelet cannot prove to %s who it is.",
			phrase.Some(who, 3), phrase.Verb(who, "was", "were"), phrase.Verb(who, "it has", "they have"), s.Cluster.Name)
		f.Evidence = []finding.Evidence{{What: phrase.Subject(who, "instance"), Value: "EC2 lists no IamInstanceProfile"}}
		f.Fix.Text = "Name an instance profile with the node role in the launch template, and replace the instances. To give one to a running instance, put its name in the place of <profile>:"
		f.Fix.Command = command.AWS(s, "ec2 associate-iam-instance-profile", "--instance-id", who[0], "--iam-instance-profile", "Name="+shell.Placeholder("profile"))
	case profileDeleted:
		f.Title = phrase.Title("instance profile %s was deleted", profile)
		f.Why = fmt.Sprintf("%s %s started with %s, which IAM no longer has. There are no credentials for %s.", phrase.Some(who, 3), phrase.Verb(who, "was", "were"), l.profile, phrase.Verb(who, "it", "them"))
		f.Evidence = []finding.Evidence{{What: l.profile, Value: "iam:GetInstanceProfile: " + facts.NoSuchEntity}}
		f.Fix.Text = "Make the profile again with the node role in it, and replace the instances: a running one keeps the profile that is gone."
		f.Fix.Command = command.AWS(s, "iam create-instance-profile", "--instance-profile-name", profile)
	case profileEmpty:
		f.Title = phrase.Title("instance profile %s holds no role", profile)
		f.Why = fmt.Sprintf("%s has no role in it, so %s %s no credentials and cannot prove to %s who %s.", l.profile, phrase.Some(who, 3), phrase.Verb(who, "has", "have"), s.Cluster.Name, phrase.Verb(who, "it is", "they are"))
		f.Evidence = []finding.Evidence{{What: l.profile, Value: "no roles"}}
		f.Fix.Text = "Put the node role into the profile: its name in the place of <node role>."
		f.Fix.Command = command.AWS(s, "iam add-role-to-instance-profile", "--instance-profile-name", profile, "--role-name", shell.Placeholder("node role"))
	case roleDeleted:
		f.Title = phrase.Title("node role %s was deleted", facts.LastPart(l.role))
		f.Why = fmt.Sprintf("%s holds %s, which IAM no longer has. %s no credentials.", profile, l.role, phrase.Some(who, 3)+phrase.Verb(who, " gets", " get"))
		f.Evidence = []finding.Evidence{{What: l.role, Value: "iam:GetRole: " + facts.NoSuchEntity}, {What: l.profile, Value: "holds " + l.role}}
		f.Resources = append([]string{l.role}, f.Resources...)
		f.Fix.Text = "Make the role again with its trust and its policies, put it into the profile again, and make its access entry again: an entry is for the very role that was deleted, not for its name."
		f.Fix.Console = link.Role(s, l.role)
	}
	return f
}
