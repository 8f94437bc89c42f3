package trail

import "strings"

// Actor is who made a call.
type Actor struct {
	// Name is a user's, or a role's with its session's.
	Name string
	// Principal is the ARN.
	Principal string
	// By is the service that called in the actor's name.
	By string
	// Role and Session are those of an assumed role.
	Role, Session string
}

// identity is CloudTrail's userIdentity, as far as it is read.
type identity struct {
	Type      string `json:"type"`
	ARN       string `json:"arn"`
	Account   string `json:"accountId"`
	UserName  string `json:"userName"`
	InvokedBy string `json:"invokedBy"`
	Principal string `json:"principalId"`
	Session   struct {
		Issuer struct {
			UserName string `json:"userName"`
		} `json:"sessionIssuer"`
	} `json:"sessionContext"`
}

// sso begins the names of the roles that IAM Identity Center makes; their
// sessions bear the person's name.
const sso = "AWSReservedSSO_"

func (i identity) actor(address string) Actor {
	a := Actor{Principal: i.ARN, By: i.InvokedBy}
	if a.By == "" && strings.HasSuffix(address, ".amazonaws.com") {
		a.By = address
	}
	switch i.Type {
	case "AssumedRole":
		a.Role, a.Session = i.assumed()
		switch {
		case a.Role == "":
			a.Name = a.Session
		case a.Session == "":
			a.Name = a.Role
		case strings.HasPrefix(a.Role, sso):
			a.Name = a.Session
		default:
			a.Name = a.Role + "/" + a.Session
		}
	case "Root":
		a.Name = "root"
	case "AWSService":
		// The service itself, not in somebody's name.
		a.Name, a.By = a.By, ""
	case "AWSAccount":
		a.Name = "account " + i.Account
	case "FederatedUser":
		a.Name = last(i.ARN)
	}
	for _, other := range []string{i.UserName, last(i.ARN), i.Principal, a.By} {
		if a.Name == "" {
			a.Name = other
		}
	}
	if a.Name == "" {
		a.Name = "unknown"
	}
	return a
}

// assumed are the role and session of arn:aws:sts::111122223333:assumed-role/role/session.
func (i identity) assumed() (role, session string) {
	_, rest, ok := strings.Cut(i.ARN, ":assumed-role/")
	if !ok {
		return i.Session.Issuer.UserName, ""
	}
	role, session, _ = strings.Cut(rest, "/")
	return role, session
}

func last(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }
