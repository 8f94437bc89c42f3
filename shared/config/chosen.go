package config

import (
	"slices"

	"rollcall/shared/spec"
)

// Watches tells whether a cluster is among those that the operator chose.
func (c Config) Watches(cluster string) bool {
	return c.Clusters == nil || slices.Contains(c.Clusters, cluster)
}

func defaultOf(v spec.Variable) string {
	for _, s := range Settings() {
		if s.Variable == v {
			return s.Default
		}
	}
	return ""
}
