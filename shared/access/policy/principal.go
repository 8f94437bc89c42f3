package policy

import "strings"

// names tells whether a statement is about a caller.
func (s Statement) names(c Caller) truth {
	if s.Principals == nil {
		return yes
	}
	is := anyOf(s.Principals, c.is)
	if s.ExceptPrincipals {
		return is.not()
	}
	return is
}

// is tells whether a principal of a statement is the caller.
func (c Caller) is(p Principal) truth {
	switch {
	case p.Kind == "*":
		return yes
	case c.Service != "":
		return c.service(p)
	case c.ARN == "" && c.account() == "":
		if p.Kind == "AWS" && p.Value == "*" {
			return yes
		}
		return maybe
	case p.Kind != "AWS":
		return no
	}
	return c.role(p.Value)
}

// service decides for a caller that is an AWS service.
func (c Caller) service(p Principal) truth {
	switch {
	case p.Kind == "AWS" && p.Value == "*":
		// The same as "*" in a policy of a resource (IAM user guide, "AWS JSON
		// policy elements: Principal"), but it is written with people in mind.
		return maybe
	case p.Kind == "Service" && strings.EqualFold(p.Value, c.Service):
		return yes
	}
	return no
}

// role decides for a caller that is a role, or anybody of an account.
func (c Caller) role(value string) truth {
	account := c.account()
	switch {
	case value == "*":
		return yes
	case value == account:
		return yes
	case accountOf(value) == account && resourceOf(value) == "root":
		return yes
	case c.ARN == "":
		if accountOf(value) == account {
			return maybe
		}
		return no
	case value == c.ARN:
		return yes
	case strings.HasPrefix(resourceOf(value), "assumed-role/") && accountOf(value) == account:
		// One session of a role; the path is not part of its ARN.
		name, _, _ := strings.Cut(strings.TrimPrefix(resourceOf(value), "assumed-role/"), "/")
		if strings.HasSuffix(c.ARN, "/"+name) {
			return maybe
		}
	}
	return no
}

func (c Caller) account() string {
	if c.Account != "" {
		return c.Account
	}
	return accountOf(c.ARN)
}

// accountOf and resourceOf are parts of an ARN:
// arn:aws:iam::123456789012:role/workers.
func accountOf(arn string) string {
	if parts := strings.SplitN(arn, ":", arnParts); len(parts) == arnParts {
		return parts[4]
	}
	return ""
}

func resourceOf(arn string) string {
	if parts := strings.SplitN(arn, ":", arnParts); len(parts) == arnParts {
		return parts[5]
	}
	return ""
}
