package policy

import (
	"maps"
	"slices"
	"strings"
)

// Decide tells what the document alone says of a request.
func (d Document) Decide(r Request) Decision { return decide([]Document{d}, r) }

// Effective returns what a role's own policies together say of a request, within
// limits that each must allow it too: its permissions boundary, a session policy.
// Service control policies and the resource's own policy are not in it: they cannot
// be read with the role.
func Effective(policies, limits []Document, r Request) Decision {
	own := decide(policies, r)
	if own.Verdict == Denied {
		return own
	}
	var open *Decision
	for _, l := range limits {
		limit := decide([]Document{l}, r)
		switch {
		case limit.Verdict == Denied:
			return limit
		case limit.Verdict == Silent && own.Verdict != Silent:
			own = Decision{Verdict: Silent, Document: l.Name}
		case limit.Verdict == Depends && open == nil:
			open = &limit
		}
	}
	if open != nil && own.Verdict != Silent {
		return *open
	}
	return own
}

// decide follows IAM: a Deny wins, then an Allow, and nothing is a denial
// (IAM user guide, "Policy evaluation logic").
func decide(documents []Document, r Request) Decision {
	r.Facts = r.facts()
	var allow, mayAllow, mayDeny *Decision
	for _, d := range documents {
		for _, s := range d.Statements {
			is, on := s.about(r)
			found := &Decision{Document: d.Name, Statement: s.String()}
			switch {
			case is == yes && s.Deny:
				found.Verdict = Denied
				return *found
			case is == yes && allow == nil:
				found.Verdict = Allowed
				allow = found
			case is == maybe:
				found.Verdict, found.On = Depends, on
				if s.Deny && mayDeny == nil {
					mayDeny = found
				}
				if !s.Deny && mayAllow == nil {
					mayAllow = found
				}
			}
		}
	}
	switch {
	case allow == nil && mayAllow == nil:
		return Decision{Verdict: Silent}
	case mayDeny != nil:
		return *mayDeny
	case allow != nil:
		return *allow
	}
	return *mayAllow
}

// facts are the request's, with those that follow from who asks.
func (r Request) facts() map[string][]string {
	all := map[string][]string{}
	if r.Caller.ARN != "" {
		all["aws:principalarn"] = []string{r.Caller.ARN}
	}
	if account := r.Caller.account(); account != "" {
		all["aws:principalaccount"] = []string{account}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Facts)) {
		all[strings.ToLower(key)] = r.Facts[key]
	}
	return all
}

// about tells whether a statement is about a request, and if that cannot be
// told, on what it hangs.
func (s Statement) about(r Request) (truth, []string) {
	action := anyOf(s.Actions, func(pattern string) truth {
		if matches(strings.ToLower(pattern), strings.ToLower(r.Action)) {
			return yes
		}
		return no
	})
	if s.ExceptActions {
		action = action.not()
	}
	if action == no {
		return no, nil
	}
	var on []string
	resource := yes
	if len(s.Resources) > 0 {
		resource = anyOf(s.Resources, func(pattern string) truth { return about(pattern, r.Resource) })
	}
	if s.ExceptResources {
		resource = resource.not()
	}
	if resource == maybe {
		on = append(on, "resource "+strings.Join(s.Resources, ", "))
	}
	caller := s.names(r.Caller)
	if caller == maybe {
		on = append(on, "the principal")
	}
	is := min(resource, caller)
	for _, c := range s.Conditions {
		met := c.holds(r.Facts)
		if met == maybe {
			on = append(on, c.String())
		}
		is = min(is, met)
	}
	if is != maybe {
		return is, nil
	}
	return is, on
}
