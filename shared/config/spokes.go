package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

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
var spokeName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

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
var externalID = regexp.MustCompile(`^[A-Za-z0-9_+=,.@:/-]{8,}$`)

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

// Watched tells whether a spoke is one of those that the operator chose; the hub's own
// always is.
func (c Config) Watched(id spoke.ID) bool {
	return id.Hub() || slices.ContainsFunc(c.Others(), func(s Spoke) bool { return s.ID == id })
}

// In is the configuration of what watches a spoke: its region, and what the operator
// chose for its clusters. What the settings say of a cluster by its name alone is of the
// hub's own cluster of that name, and of no other.
func (c Config) In(id spoke.ID) Config {
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

// Whose is the name by which people know the spoke of this configuration as long as nobody
// knows its account's alias: WhoseBy.
func (c Config) Whose() string { return c.WhoseBy("") }

// WhoseBy is the name by which people know the spoke of this configuration: that of the
// settings, else its account's alias, else the account's number; with the region where
// several regions are watched. It is empty where there is nothing to tell apart: one account
// and region, without a name.
func (c Config) WhoseBy(alias string) string {
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

// WantsAlias tells whether the alias of this configuration's account is ever said: there are
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
var alias = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

// number is the form of an account's number.
var number = regexp.MustCompile(`[0-9]{12}`)

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
	return SpokeRoleARN(c.RolePrefix, role, c.Spoke)
}

// SpokeRoleARN is the ARN of a role of a spoke: IAM's names are the account's, so the
// region is in it.
func SpokeRoleARN(prefix string, role spec.SpokeRole, of spoke.ID) string {
	return fmt.Sprintf("arn:%s:iam::%s:role/%s-%s-%s", of.Partition(), of.Account, prefix, role, of.Region)
}
