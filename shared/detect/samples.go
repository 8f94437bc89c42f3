package detect

import (
	"slices"

	"rollcall/shared/network/address"
	"rollcall/shared/store"

	"rollcall/shared/snapshot"
)

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
			list = append(list, snapshot.Sample{Subnet: subnet.ID, At: at, Free: subnet.Free, Total: address.Usable(subnet.CIDR)})
		}
	}
	return list
}

// Had notes in a launch what its subnet has when it is first looked at.
func Had(s *snapshot.Snapshot, l *store.LaunchRecord) {
	if !l.FreeAt.IsZero() {
		return
	}
	for _, x := range Samples(s, []string{l.Subnet}) {
		l.Free, l.FreeAt = x.Free, x.At
	}
}
