package nodegroupwatch

import (
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/detect"
	"rollcall/shared/incident"
	"rollcall/shared/snapshot"
)

// absent is what open incidents are about and exists no more: nodegroups and
// add-ons. Nothing is absent that was not looked for.
func absent(s *snapshot.Snapshot, incidents []incident.Incident) []string {
	var gone []string
	for _, i := range incidents {
		if i.State == incident.Closed {
			continue
		}
		for _, c := range i.Covers {
			switch checks.Meaning(i.Key.Check).CoversToo {
			case check.Nodegroups:
				if s.Has(snapshot.Nodegroups) && !slices.ContainsFunc(s.Nodegroups, func(n snapshot.Nodegroup) bool { return n.Name == c }) {
					gone = append(gone, c)
				}
			case check.Addons:
				if s.Has(snapshot.Addons) && !slices.ContainsFunc(s.Addons, func(a snapshot.Addon) bool { return a.Name == c }) {
					gone = append(gone, c)
				}
			}
		}
	}
	return detect.Distinct(gone)
}
