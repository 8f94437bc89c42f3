package inspect

import (
	"slices"

	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// reserved is how many addresses of a subnet AWS keeps (VPC user guide, "Subnet
// CIDR blocks").
const reserved = 5

// Samples are what some subnets have now, if they were read.
func Samples(s *snapshot.Snapshot, subnets []string) []snapshot.Sample {
	if !s.Has(snapshot.Subnets) {
		return nil
	}
	at := s.Taken
	if at.IsZero() {
		at = s.Time
	}
	var list []snapshot.Sample
	for _, subnet := range s.Subnets {
		if slices.Contains(subnets, subnet.ID) {
			list = append(list, snapshot.Sample{Subnet: subnet.ID, At: at, Free: subnet.Free, Total: total(subnet)})
		}
	}
	return list
}

// total is how many addresses a subnet can give; 0 where its block is not known.
func total(s snapshot.Subnet) int {
	if !s.CIDR.IsValid() || !s.CIDR.Addr().Is4() {
		return 0
	}
	return max(1<<(32-s.CIDR.Bits())-reserved, 0)
}

// Had notes in a launch what its subnet has when it is first looked at.
func Had(s *snapshot.Snapshot, l *state.Launch) {
	if !l.FreeAt.IsZero() {
		return
	}
	for _, x := range Samples(s, []string{l.Subnet}) {
		l.Free, l.FreeAt = x.Free, x.At
	}
}
