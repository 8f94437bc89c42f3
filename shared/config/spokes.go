package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/lazyregexp"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/routing"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// Spoke is an account and a region that are watched from the hub, with the name that
// people know them by; without one it is the account's number.
type Spoke struct {
	spoke.ID
	Name string
}

// SpokeVariables are what every function reads of whom it watches.
func SpokeVariables() []spec.Variable {
	return []spec.Variable{HubAccount, Spokes, ExternalID, RolePrefix}
}

// spokeName is a name as people give accounts: IAM's form of an account alias
// (CreateAccountAlias), and capitals.
var spokeName = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

// mostSpokes keeps their names within the 4 KB of a function's environment, packed.
const mostSpokes = 200

// parseSpokes reads "none", or accounts and regions with their names, if they have one:
// "222233334444/eu-west-1=payments,333344445555/us-west-2".
func parseSpokes(text string) ([]Spoke, error) {
	if text == "none" {
		return nil, nil
	}
	var list []Spoke
	for part := range strings.SplitSeq(text, ",") {
		what, name, named := strings.Cut(strings.TrimSpace(part), "=")
		id, err := spoke.Parse(what)
		switch {
		case err != nil:
			return nil, err
		case named && !spokeName.MatchString(name):
			return nil, fmt.Errorf("%q is not a name of 1 to 63 letters, digits and hyphens", name)
		case slices.ContainsFunc(list, func(s Spoke) bool { return s.ID == id }):
			return nil, fmt.Errorf("%s is named twice", id)
		}
		list = append(list, Spoke{id, name})
	}
	if len(list) > mostSpokes {
		return nil, fmt.Errorf("names %d accounts and regions, at most %d can be named", len(list), mostSpokes)
	}
	slices.SortFunc(list, func(a, b Spoke) int { return strings.Compare(a.String(), b.String()) })
	return list, nil
}

// externalID is STS's form (AssumeRole, ExternalId), at least eight characters long.
var externalID = lazyregexp.New(`^[A-Za-z0-9_+=,.@:/-]{8,}$`)

func parseExternalID(text string) (string, error) {
	if text == "none" {
		return "", nil
	}
	if !externalID.MatchString(text) || len(text) > 1224 {
		return "", errors.New("it is not 8 to 1224 letters, digits and characters of _+=,.@:/-")
	}
	return text, nil
}

// Others are the spokes beside the hub's own account and region.
func (c Config) Others() []Spoke {
	return slices.DeleteFunc(slices.Clone(c.Spokes), func(s Spoke) bool { return s.ID == c.Hub })
}

// Watched reports whether a spoke is one of those that the operator chose; the hub's own
// always is.
func (c Config) Watched(id spoke.ID) bool {
	return id.Hub() || slices.ContainsFunc(c.Others(), func(s Spoke) bool { return s.ID == id })
}

// ForSpoke is the configuration of what watches a spoke: its region, and what the operator
// chose for its clusters. What the settings say of a cluster by its name alone is of the
// hub's own cluster of that name, and of no other.
func (c Config) ForSpoke(id spoke.ID) Config {
	c.Spoke = id
	if !id.Hub() {
		c.Region = id.Region
		// What a spoke's role reader is not granted is not asked for.
		c.AutoModeLogs, c.DecodeDenied = nil, false
	}
	c.Clusters, c.Relays = namesOf(id, c.Clusters), namesOf(id, c.Relays)
	c.Cleanups, c.Remedied = namedOf(id, c.Cleanups), namedOf(id, c.Remedied)
	c.Routes = slices.DeleteFunc(slices.Clone(c.Routes), func(r routing.Route) bool { return !r.For(id) })
	return c
}

// namesOf are the names that a list gives of a spoke's clusters; nil where it gives none of it.
func namesOf(id spoke.ID, list []string) []string {
	var names []string
	for _, text := range list {
		if of, err := spoke.ParseCluster(text); err == nil && of.ID == id {
			names = append(names, of.Name)
		}
	}
	return names
}

// namedOf is what is said of a spoke's clusters, by their names alone.
func namedOf[V any](id spoke.ID, all map[string]V) map[string]V {
	own := map[string]V{}
	for text, v := range all {
		if of, err := spoke.ParseCluster(text); err == nil && of.ID == id {
			own[of.Name] = v
		}
	}
	return own
}

// Where is the account and region of this configuration's spoke, the hub's own too; the
// zero ID where no stack says which that is.
func (c Config) Where() spoke.ID {
	if c.Spoke.Hub() {
		return c.Hub
	}
	return c.Spoke
}

// SpokeName is the name by which people know the spoke of this configuration as long as its
// account's alias is unknown: SpokeNameBy.
func (c Config) SpokeName() string { return c.SpokeNameBy("") }

// SpokeNameBy is the name by which people know the spoke of this configuration: that of the
// settings, else its account's alias, else the account's number; with the region where
// several regions are watched. It is empty where there is nothing to tell apart: one account
// and region, without a name.
func (c Config) SpokeNameBy(alias string) string {
	id, name := c.Where(), c.given()
	if len(c.Others()) == 0 {
		return name
	}
	if name == "" && c.unmistakable(alias) {
		name = alias
	}
	if name == "" {
		name = id.Account
	}
	regions := map[string]bool{c.Hub.Region: true}
	for _, s := range c.Spokes {
		regions[s.Region] = true
	}
	if len(regions) > 1 {
		name += ", " + id.Region
	}
	return name
}

// WantsAlias reports whether the alias of this configuration's account is ever said: there are
// accounts to tell apart, and the settings give this one no name.
func (c Config) WantsAlias() bool { return len(c.Others()) > 0 && c.given() == "" }

// given is the name that the settings give.
func (c Config) given() string {
	for _, s := range c.Spokes {
		if s.ID == c.Where() {
			return s.Name
		}
	}
	return ""
}

// alias is IAM's form of an account alias, ^[a-z0-9]([a-z0-9]|-(?!-)){1,61}[a-z0-9]$ (API
// reference, CreateAccountAlias, with 3 to 63 characters), but for the hyphens in a row,
// which Go's expressions cannot exclude.
var alias = lazyregexp.New(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

// number is the form of an account's number.
var number = lazyregexp.New(`[0-9]{12}`)

// unmistakable tells an alias that says no other account than its own to whoever reads it.
// Aliases are the accounts' own to choose (the form lets them be another's number), and IAM
// keeps them apart within a partition alone, not from the names of the settings.
func (c Config) unmistakable(text string) bool {
	id := c.Where()
	switch {
	case !alias.MatchString(text) || strings.Contains(text, "--"):
		return false
	case number.MatchString(strings.ReplaceAll(text, id.Account, "")):
		return false
	}
	return !slices.ContainsFunc(c.Spokes, func(s Spoke) bool { return s.Account != id.Account && strings.EqualFold(s.Name, text) })
}

// SpokeRole is the ARN of one of the roles that a spoke has for the hub.
func (c Config) SpokeRole(role spec.SpokeRole) string {
	return SpokeRoleARN(c.RolePath+c.RolePrefix, role, c.Spoke)
}

// SpokeRoleARN is the ARN of a role of a spoke: IAM's names are the account's, so the
// region is in it. The prefix has the path before it, if there is one.
func SpokeRoleARN(prefix string, role spec.SpokeRole, of spoke.ID) string {
	return fmt.Sprintf("arn:%s:iam::%s:role/%s-%s-%s", of.Partition(), of.Account, strings.TrimPrefix(prefix, "/"), role, of.Region)
}

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
var nodeRole = lazyregexp.New(`^arn:aws[a-z-]*:iam::\d{12}:role/[A-Za-z0-9+=.@_/-]*[A-Za-z0-9+=.@_-]$`)

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
var approver = lazyregexp.New(`^[UWS][A-Z0-9]{2,30}$`)

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

// Responders are who may acknowledge and mute incidents and ask for a check: the
// zero value is everybody of the app's own workspace or organization.
type Responders struct {
	// Channel is whoever is in the channel, also of another company.
	Channel bool
	// IDs are Slack's of users and user groups of the own workspace.
	IDs []string
}

// mostResponders bounds the list: each user group in it is a call of Slack for a
// press, which has five seconds in all.
const mostResponders = 50

func parseResponders(text string) (Responders, error) {
	switch text {
	case "workspace":
		return Responders{}, nil
	case "channel":
		return Responders{Channel: true}, nil
	case "none":
		return Responders{}, fmt.Errorf("%q: without buttons (slackActions=off) nobody can press", text)
	}
	ids, err := parseApprovers(text)
	if err != nil {
		return Responders{}, fmt.Errorf("neither \"workspace\" nor \"channel\": %w", err)
	}
	if len(ids) > mostResponders {
		return Responders{}, fmt.Errorf("%d ids, at most %d: name a user group", len(ids), mostResponders)
	}
	return Responders{IDs: ids}, nil
}

// SettingError is one variable that is missing or malformed.
type SettingError struct {
	Variable spec.Variable
	Err      error
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("%s: %v%s", e.Variable, e.Err, hint(e.Variable))
}

func (e *SettingError) Unwrap() error { return e.Err }

func hint(v spec.Variable) string {
	for _, s := range Settings() {
		if s.Variable == v {
			return fmt.Sprintf(" (set it with `-c %s=…` when deploying: %s)", s.Context, s.About)
		}
	}
	return " (the stack sets it: deploy again)"
}

// Weekly is an hour of each week, in UTC.
type Weekly struct {
	Day  time.Weekday
	Hour int
}

// weekdays are the days as the settings and silences spell them, from Sunday on.
func weekdays() []string { return []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"} }

// parseWeekly reads "off", or a day and an hour: "Mon/08:00".
func parseWeekly(text string) (*Weekly, error) {
	if text == "off" {
		return nil, nil
	}
	day, clock, _ := strings.Cut(text, "/")
	i := slices.IndexFunc(weekdays(), func(d string) bool { return strings.EqualFold(d, day) })
	digits, whole := strings.CutSuffix(clock, ":00")
	hour, err := strconv.ParseUint(digits, 10, 8) // takes no sign
	if i < 0 || !whole || len(digits) != 2 || err != nil || hour > 23 {
		return nil, fmt.Errorf("%q is not a day and a full hour in UTC, like Mon/08:00, nor off", text)
	}
	return &Weekly{Day: time.Weekday(i), Hour: int(hour)}, nil
}

// Last is when it was due last, at or before a time.
func (w Weekly) Last(now time.Time) time.Time {
	now = now.UTC()
	back := (int(now.Weekday()) - int(w.Day) + 7) % 7
	due := time.Date(now.Year(), now.Month(), now.Day()-back, w.Hour, 0, 0, 0, time.UTC)
	if due.After(now) {
		due = due.AddDate(0, 0, -7)
	}
	return due
}

// Week is the time that the message which is due then covers: the seven UTC days before
// its own.
func (w Weekly) Week(due time.Time) (from, to time.Time) {
	to = due.UTC().Truncate(24 * time.Hour)
	return to.AddDate(0, 0, -7), to
}
