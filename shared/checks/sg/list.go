// Package sg holds the checks of sg: what security groups let through.
package sg

import (
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/nacl"
)

// FilterChecks are the checks of sg, nacl: what lets packets through.
func FilterChecks() []check.Check {
	return []check.Check{
		NodeEgress(),
		clusterIngress(),
		kubeletIngress(),
		nacl.NaclEgress(),
		nacl.NaclReturn(),
	}
}
