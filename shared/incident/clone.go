package incident

import "slices"

// Clone is a copy whose lists can be changed. What a decision replaces as a
// whole (evidence, facts) is shared.
func (inc Incident) Clone() Incident {
	inc.Covers = slices.Clone(inc.Covers)
	inc.Launches = slices.Clone(inc.Launches)
	inc.More = slices.Clone(inc.More)
	inc.Verdicts = slices.Clone(inc.Verdicts)
	inc.Joins = slices.Clone(inc.Joins)
	inc.Applied = slices.Clone(inc.Applied)
	inc.Delivery.Notes = slices.Clone(inc.Delivery.Notes)
	inc.PendingEvents = slices.Clone(inc.PendingEvents)
	inc.Effects = slices.Clone(inc.Effects)
	inc.Offers = slices.Clone(inc.Offers)
	inc.Acts = slices.Clone(inc.Acts)
	if inc.Chart != nil {
		sketch := *inc.Chart
		inc.Chart = &sketch
	}
	if inc.Proof != nil {
		proof := *inc.Proof
		inc.Proof = &proof
	}
	return inc
}
