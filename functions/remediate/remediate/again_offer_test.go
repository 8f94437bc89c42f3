package remediate

import (
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
)

// A fresh plan after an offer ran out is another proposal, or report and its queue would
// drop it as one that they had; the same state of things gives the same one.
func TestAnOfferThatRanOutIsAnotherProposal(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	offer := func(state incident.OfferState, hour int) incident.Offer {
		made := noon.Add(time.Duration(hour) * time.Hour)
		return incident.Offer{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, State: state, Made: made, Expires: made.Add(time.Hour)}
	}
	seen := map[string]string{}
	for _, test := range []struct {
		name   string
		now    time.Time
		offers []incident.Offer
	}{
		{"none", noon, nil},
		{"ran out", noon.Add(90 * time.Minute), []incident.Offer{offer(incident.Offered, 0)}},
		{"offered again, and ran out", noon.Add(3 * time.Hour), []incident.Offer{offer(incident.Expired, 0), offer(incident.Expired, 1)}},
		{"and the first is forgotten", noon.Add(4 * time.Hour), []incident.Offer{offer(incident.Expired, 1), offer(incident.Expired, 2)}},
	} {
		h := handler{now: func() time.Time { return test.now }}
		id := h.proposalID(incident.Incident{Offers: test.offers}, optin.AddNATRoute, "hash")
		if before, taken := seen[id]; taken {
			t.Errorf("%s has the id of %s: %s", test.name, before, id)
		}
		seen[id] = test.name
		if again := h.proposalID(incident.Incident{Offers: test.offers}, optin.AddNATRoute, "hash"); again != id {
			t.Errorf("%s: %s, then %s", test.name, id, again)
		}
	}
	h := handler{now: func() time.Time { return noon.Add(time.Minute) }}
	if stands, none := h.proposalID(incident.Incident{Offers: []incident.Offer{offer(incident.Offered, 0)}}, optin.AddNATRoute, "hash"), h.proposalID(incident.Incident{}, optin.AddNATRoute, "hash"); stands != none {
		t.Errorf("an offer that stands makes another proposal: %s and %s", stands, none)
	}
}
