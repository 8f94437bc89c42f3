package incident

import (
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
)

// IsShortage tells a check of a subnet that has too few addresses now.
func IsShortage(id checks.ID) bool { return checks.Meaning(id).Shortage }

// IsStarvationSymptom tells a check of nodes as they are where their pods get no addresses.
func IsStarvationSymptom(id checks.ID) bool { return checks.Meaning(id).Starved }

// OfAddresses tells that a check is about the addresses of its resource, a
// subnet. Which function sees which of them first is chance: what leaks is
// foreseen to run out, is empty, refuses launches, and keeps nodes from being
// Ready.
func OfAddresses(id checks.ID) bool {
	c := checks.Meaning(id)
	return c.Breaks == check.Addresses || c.Shortage
}
