package spec

import (
	"maps"
	"slices"

	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"

	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
)

// Changes is the permission to change things, as the settings have it: none
// where no cluster has opted in to a remedy. Each remedy says what it takes
// (grants.go in its folder). AWS itself then refuses what is in another VPC, or of
// another cluster, whatever a fault in our code asks for.
func Changes(getenv func(string) string) ([]spec.Grant, error) { return ChangesIn(spoke.ID{})(getenv) }

// ChangesIn is the permission to change things in a spoke, as the settings have it for
// its clusters: that of its role remediator, or of the hub's own function.
func ChangesIn(of spoke.ID) func(getenv func(string) string) ([]spec.Grant, error) {
	return func(getenv func(string) string) ([]spec.Grant, error) {
		c, err := config.Load(getenv, chosen())
		if err != nil {
			return nil, err
		}
		return changes(c.In(of)), nil
	}
}

func changes(c config.Config) []spec.Grant {
	var grants []spec.Grant
	for _, r := range remedy.All() {
		if r.Elsewhere == "" {
			grants = append(grants, r.Grants(optIn(c, r.Name))...)
		}
	}
	return action.Join(grants)
}

// optIn is what the settings let a remedy do.
func optIn(c config.Config, r optin.Remedy) action.OptIn {
	all := slices.Sorted(maps.Keys(c.Remedied))
	return action.OptIn{
		Clusters: slices.DeleteFunc(slices.Clone(all), func(cluster string) bool { return c.RemedyOf(cluster, r) == optin.Off }),
		Any:      all, VPCs: c.RemedyVPCs, Roles: c.RemedyRoles,
	}
}
