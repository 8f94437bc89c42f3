package iam

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/access/policy"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// need is an action that somebody must be allowed.
type need struct {
	action   string
	resource string // of policy.Request
	// vital needs are those without which no node becomes Ready.
	vital bool
}

// grants is what a role's policies say of some needs.
type grants struct {
	missing []refusal
	// open are the needs that hang on what cannot be known from here.
	open []refusal
	// unread are the policies that are not understood: nothing is certain.
	unread []snapshot.Failure
}

// refusal is a need that is not granted, and why.
type refusal struct {
	need
	by policy.Decision
}

// granted judges a role's needs by its policies, inline and managed, within
// its boundary and the session policies that it is assumed with.
func granted(s *facts.View, role snapshot.Role, needs []need, sessions ...snapshot.Policy) grants {
	var g grants
	parse := func(p snapshot.Policy) (policy.Document, bool) {
		if f, lacks := s.Lacks(snapshot.Roles, p.ARN); lacks && p.ARN != "" {
			g.unread = append(g.unread, f)
			return policy.Document{}, false
		}
		d, err := policy.Parse(p.Document)
		if err != nil {
			g.unread = append(g.unread, unparsed("policy "+p.Name+" of "+role.ARN, err))
			return policy.Document{}, false
		}
		d.Name = p.Name
		return d, true
	}
	var documents []policy.Document
	for _, p := range role.Policies {
		if d, ok := parse(p); ok {
			documents = append(documents, d)
		}
	}
	var limits []policy.Document
	if role.Boundary != nil {
		if d, ok := parse(*role.Boundary); ok {
			d.Name = "the permissions boundary " + d.Name
			limits = append(limits, d)
		}
	}
	for _, p := range sessions {
		if d, ok := parse(p); ok {
			limits = append(limits, d)
		}
	}
	for _, n := range needs {
		by := policy.Effective(documents, limits, policy.Request{
			Action: n.action, Resource: n.resource, Caller: policy.Caller{ARN: role.ARN}, Facts: callFacts(s),
		})
		switch by.Verdict {
		case policy.Silent, policy.Denied:
			g.missing = append(g.missing, refusal{n, by})
		case policy.Depends:
			g.open = append(g.open, refusal{n, by})
		}
	}
	return g
}

// callFacts are the condition keys that every call of a node has with a known
// value (IAM user guide, "AWS global condition context keys"). An instance's
// credentials are never made with MFA.
func callFacts(s *facts.View) map[string][]string {
	return map[string][]string{
		"aws:RequestedRegion":        {s.Region},
		"ec2:Region":                 {s.Region},
		"aws:SecureTransport":        {"true"},
		"aws:ViaAWSService":          {"false"},
		"aws:PrincipalIsAWSService":  {"false"},
		"aws:MultiFactorAuthPresent": {},
		"aws:MultiFactorAuthAge":     {},
	}
}

// vital are the missing ones without which no node becomes Ready. With a
// policy that is not understood, only what a Deny says is sure.
func (g grants) vital() []refusal {
	return slices.DeleteFunc(slices.Clone(g.missing), func(r refusal) bool {
		return !r.vital || len(g.unread) > 0 && r.by.Verdict != policy.Denied
	})
}

// undecided is what keeps from saying that all vital needs are granted.
func (g grants) undecided(role string) []snapshot.Failure {
	list := slices.Clone(g.unread)
	for _, r := range g.open {
		if r.vital {
			list = append(list, snapshot.Failure{
				Source: snapshot.Roles, Reason: snapshot.NotRead, Message: fmt.Sprintf("whether %s may %s %s", facts.LastPart(role), r.action, r.by),
			})
		}
	}
	return list
}

func actionNames(list []refusal) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.action
	}
	return out
}

// because tells why actions are refused: the statements that deny, the
// boundary, or that no policy grants them.
func because(list []refusal) string {
	var reasons []string
	for _, r := range list {
		reason := "no policy of the role grants it"
		switch {
		case r.by.Verdict == policy.Denied:
			reason = fmt.Sprintf("%s of %s denies it", r.by.Statement, r.by.Document)
		case r.by.Document != "":
			reason = r.by.Document + " does not grant it"
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// policiesHeld names a role's policies for a person.
func policiesHeld(role snapshot.Role) finding.Evidence {
	var names []string
	for _, p := range role.Policies {
		if p.ARN == "" {
			names = append(names, p.Name+" (inline)")
			continue
		}
		names = append(names, p.Name)
	}
	value := "none"
	if len(names) > 0 {
		value = strings.Join(names, ", ")
	}
	if role.Boundary != nil {
		value += "; boundary " + role.Boundary.Name
	}
	return finding.Evidence{What: "Policies of " + role.Name, Value: phrase.Clip(value)}
}

// attachPolicies is the command that gives a role AWS's own policies.
func attachPolicies(s *facts.View, role string, policies ...string) string {
	var commands []string
	for _, name := range policies {
		commands = append(commands, command.AWS(s, "iam attach-role-policy", "--role-name", facts.LastPart(role), "--policy-arn", fmt.Sprintf("arn:%s:iam::aws:policy/%s", s.Partition, name)))
	}
	return command.Several(commands)
}
