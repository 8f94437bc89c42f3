package response

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
)

// Six offers are kept: of those that are over the oldest goes, and of
// replacements in parts the oldest part that is done. What something may come of
// yet is never forgotten, also if there are more.
func TestWhichOffersAreForgotten(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	of := func(r optin.Remedy, state incident.OfferState) incident.Offer {
		o := incident.Offer{Plan: remedy.Plan{Remedy: r}, State: state}
		if state == incident.Acted || state == incident.Approved {
			o.Run = &remedy.Run{Began: noon}
		}
		if state == incident.Acted { // and not verified
			o.Run.Ended, o.Run.Result = noon, remedy.Done
		}
		return o
	}
	part, route := of(optin.ReplaceInstance, incident.Acted), of(optin.AddNATRoute, incident.Acted)
	running, over := of(optin.ReplaceInstance, incident.Approved), of(optin.AddNATRoute, incident.Expired)
	offered, why := of(optin.AddNATRoute, incident.Offered), of(optin.AddNATRoute, incident.Outdated)
	next := of(optin.ReplaceInstance, incident.Offered)
	for name, test := range map[string]struct {
		have []incident.Offer
		add  incident.Offer
		kept string
	}{
		"there is room":                     {[]incident.Offer{over, over, over, over, over}, offered, "012345"},
		"the oldest that is over":           {[]incident.Offer{route, route, over, route, over, route}, offered, "013456"},
		"two that are over":                 {[]incident.Offer{route, over, over, over, route, route, route}, offered, "034567"},
		"the newest, if only that is over":  {[]incident.Offer{route, route, route, route, route, over}, offered, "012346"},
		"none is over":                      {[]incident.Offer{route, route, route, route, route, route}, offered, "0123456"},
		"none is over but what is new":      {[]incident.Offer{route, route, route, route, route, route}, why, "0123456"},
		"a part of a replacement":           {[]incident.Offer{route, part, part, part, part, part}, next, "023456"},
		"no part that is being done":        {[]incident.Offer{running, part, route, route, route, route}, next, "023456"},
		"nor a part for another remedy":     {[]incident.Offer{part, part, part, part, part, part}, offered, "0123456"},
		"nor what another remedy did":       {[]incident.Offer{route, route, route, route, route, route}, next, "0123456"},
		"what is over goes before any part": {[]incident.Offer{part, over, part, part, part, part}, next, "023456"},
	} {
		var inc incident.Incident
		for i, o := range append(test.have, test.add) {
			o.Hash = fmt.Sprint(i)
			if i < len(test.have) {
				inc.Offers = append(inc.Offers, o)
			} else {
				keepOffer(&inc, o)
			}
		}
		got := ""
		for _, o := range inc.Offers {
			got += o.Hash
		}
		if diff := cmp.Diff(test.kept, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
