package detect

import (
	"slices"
	"strings"

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

// Had notes in a launch what its subnet has, and which version of the VPC CNI the
// cluster runs, when it is first looked at.
func Had(s *snapshot.Snapshot, l *store.LaunchRecord) {
	if l.Machine != nil && l.Machine.Plugin == "" && s.Has(snapshot.AWSNode) && s.CNI != nil {
		m := *l.Machine // others hold the record as it was read
		m.Plugin = versionOf(s.CNI.Image)
		l.Machine = &m
	}
	if !l.FreeAt.IsZero() {
		return
	}
	for _, x := range Samples(s, []string{l.Subnet}) {
		l.Free, l.FreeAt = x.Free, x.At
	}
}

// versionOf is the tag of an image, as in ….amazonaws.com/amazon-k8s-cni:v1.19.0;
// the digest of one without.
func versionOf(image string) string {
	image, digest, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], "@")
	if _, tag, tagged := strings.Cut(image, ":"); tagged {
		return tag
	}
	return digest
}
