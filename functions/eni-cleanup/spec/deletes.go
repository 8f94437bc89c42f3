package spec

import (
	"maps"
	"slices"

	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"

	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/optin"
)

// Deletes is the permission to delete, as the settings have it: none where no
// cluster is in mode dry-run or delete, or has the remedy
// delete-leaked-interfaces.
func Deletes(getenv func(string) string) ([]spec.Grant, error) { return DeletesIn(spoke.ID{})(getenv) }

// DeletesIn is the permission to delete in a spoke, as the settings have it for its
// clusters: that of its role cleaner, or of the hub's own function.
func DeletesIn(of spoke.ID) func(getenv func(string) string) ([]spec.Grant, error) {
	return func(getenv func(string) string) ([]spec.Grant, error) {
		c, err := config.Load(getenv, chosen())
		if err != nil {
			return nil, err
		}
		return deletes(c.In(of)), nil
	}
}

func deletes(c config.Config) []spec.Grant {
	var clusters []string
	for _, name := range slices.Sorted(maps.Keys(c.Cleanups)) {
		if c.CleanupOf(name) != config.Report {
			clusters = append(clusters, name)
		}
	}
	for name := range c.Remedied {
		if c.RemedyOf(name, optin.DeleteLeakedInterfaces) != optin.Off {
			clusters = append(clusters, name)
		}
	}
	slices.Sort(clusters)
	clusters = slices.Compact(clusters)
	if len(clusters) == 0 {
		return nil
	}
	// A remedy takes nothing that names no cluster.
	var untagged []string
	if acts(c) {
		untagged = c.CleanupUntagged
	}
	return deleteleakedinterfaces.Grants(clusters, untagged)
}

// acts tells that some cluster is in a mode that acts.
func acts(c config.Config) bool {
	for name := range c.Cleanups {
		if c.CleanupOf(name) != config.Report {
			return true
		}
	}
	return false
}
