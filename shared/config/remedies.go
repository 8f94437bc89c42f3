package config

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"rollcall/shared/remedy/optin"
)

// RemedyOf is what a remedy may do in a cluster.
func (c Config) RemedyOf(cluster string, r optin.Remedy) optin.Policy {
	if p, ok := c.Remedied[cluster][r]; ok {
		return p
	}
	return optin.Off
}

// parseRemedies reads "off", or the policies of clusters by name and remedy.
// What names a remedy wins over what is for all of a cluster's. There is no way
// to opt in for all clusters: each opts in.
func parseRemedies(text string) (map[string]map[optin.Remedy]optin.Policy, error) {
	if text == string(optin.Off) {
		return nil, nil
	}
	all, named := map[string]optin.Policy{}, map[string]map[optin.Remedy]optin.Policy{}
	for pair := range strings.SplitSeq(text, ",") {
		what, policy, ok := strings.Cut(strings.TrimSpace(pair), "=")
		cluster, remedy, one := cutRemedy(what)
		r, p := optin.Remedy(remedy), optin.Policy(policy)
		switch {
		case !ok:
			return nil, fmt.Errorf("%q is neither %q nor of the form cluster/remedy=policy", pair, optin.Off)
		case !isCluster(cluster):
			return nil, fmt.Errorf("%q is not a cluster name", cluster)
		case one && !slices.Contains(optin.Remedies(), r):
			return nil, fmt.Errorf("%q is not a remedy: %v", remedy, optin.Remedies())
		case p != optin.Off && p != optin.Approve && p != optin.Auto:
			return nil, fmt.Errorf("%q is not a policy: off, approve or auto", policy)
		}
		known, twice := all[cluster]
		if one {
			if named[cluster] == nil {
				named[cluster] = map[optin.Remedy]optin.Policy{}
			}
			known, twice = named[cluster][r]
			named[cluster][r] = p
		} else {
			all[cluster] = p
		}
		if twice && known != p {
			return nil, fmt.Errorf("%s has two policies, %s and %s", what, known, p)
		}
	}
	policies := map[string]map[optin.Remedy]optin.Policy{}
	for cluster, p := range all {
		policies[cluster] = map[optin.Remedy]optin.Policy{}
		for _, r := range optin.Remedies() {
			policies[cluster][r] = p
		}
	}
	for cluster, list := range named {
		if policies[cluster] == nil {
			policies[cluster] = map[optin.Remedy]optin.Policy{}
		}
		for r, p := range list {
			policies[cluster][r] = p
		}
	}
	return policies, nil
}

// cutRemedy splits "prod/add-nat-route", and "222233334444/eu-west-1/prod/add-nat-route"
// of a spoke's cluster.
func cutRemedy(what string) (cluster, remedy string, one bool) {
	part := strings.Split(what, "/")
	if len(part) == 2 || len(part) == 4 {
		i := strings.LastIndex(what, "/")
		return what[:i], what[i+1:], true
	}
	return what, "", false
}

// nodeRole is the form of a role's ARN. There is no wildcard in it: IAM would take
// one as such (eks:principalArn, compared with ArnEquals).
var nodeRole = regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/[A-Za-z0-9+=.@_/-]*[A-Za-z0-9+=.@_-]$`)

// mostRoles keeps the policy of remediate within the 10,240 characters that IAM
// lets a role's inline policies have.
const mostRoles = 20

func parseRoles(text string) ([]string, error) {
	if text == "none" {
		return nil, nil
	}
	var list []string
	for arn := range strings.SplitSeq(text, ",") {
		if arn = strings.TrimSpace(arn); !nodeRole.MatchString(arn) {
			return nil, fmt.Errorf("%q is not the whole ARN of a role (arn:aws:iam::111122223333:role/nodes)", arn)
		}
		list = append(list, arn)
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) > mostRoles {
		return nil, fmt.Errorf("names %d roles, at most %d can be named", len(list), mostRoles)
	}
	return list, nil
}

// errAutoNeedsRoles: a policy would decide alone which role becomes a cluster's
// nodes.
var errAutoNeedsRoles = errors.New("create-access-entry is auto, and remedyRoles names no role: nobody has said which roles may be added. Name them, or let a person approve it")

func (c Config) autoNeedsRoles() error {
	for _, cluster := range slices.Sorted(maps.Keys(c.Remedied)) {
		if c.RemedyOf(cluster, optin.CreateAccessEntry) == optin.Auto && len(c.RemedyRoles) == 0 {
			return fmt.Errorf("%s/%w", cluster, errAutoNeedsRoles)
		}
	}
	return nil
}

// approver is the form of Slack's ids of users (U, W) and user groups (S).
var approver = regexp.MustCompile(`^[UWS][A-Z0-9]{2,30}$`)

func parseApprovers(text string) ([]string, error) {
	if text == "none" {
		return nil, nil
	}
	var list []string
	for id := range strings.SplitSeq(text, ",") {
		id = strings.TrimSpace(id)
		if !approver.MatchString(id) {
			return nil, fmt.Errorf("%q is not the id of a Slack user (U…, W…) or user group (S…)", id)
		}
		list = append(list, id)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

func parseSwitch(text string) (bool, error) {
	if text != "on" && text != "off" {
		return false, fmt.Errorf("%q is neither on nor off", text)
	}
	return text == "on", nil
}
