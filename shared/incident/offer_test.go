package incident_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
)

// Where an offer is: whether something may come of it, before and after it is
// done.
func TestWhereAnOfferIs(t *testing.T) {
	type is struct{ live, over, unverified bool }
	for name, test := range map[string]struct {
		o    incident.Offer
		want is
	}{
		"offered":                 {incident.Offer{State: incident.Offered}, is{live: true}},
		"approved":                {incident.Offer{State: incident.Approved}, is{live: true}},
		"being done":              {offerIn(incident.Approved, action.Done, true), is{live: true}},
		"deferred":                {incident.Offer{State: incident.Deferred}, is{live: true}},
		"refused":                 {incident.Offer{State: incident.RefusedByUs}, is{over: true}},
		"expired":                 {incident.Offer{State: incident.Expired}, is{over: true}},
		"outdated":                {incident.Offer{State: incident.Outdated}, is{over: true}},
		"done":                    {offerIn(incident.Acted, action.Done, true), is{unverified: true}},
		"partly done":             {offerIn(incident.Acted, action.Partly, true), is{unverified: true}},
		"uncertain":               {offerIn(incident.Acted, action.Uncertain, true), is{unverified: true}},
		"failed":                  {offerIn(incident.Acted, action.Failed, true), is{over: true}},
		"refused by a rule":       {offerIn(incident.Acted, action.Refused, true), is{over: true}},
		"done, and not ended":     {offerIn(incident.Acted, action.Done, false), is{over: true}},
		"done, and nobody wrote":  {incident.Offer{State: incident.Acted}, is{over: true}},
		"it helped":               {offerIn(incident.Helped, action.Done, true), is{over: true}},
		"it did not":              {offerIn(incident.Unhelpful, action.Done, true), is{over: true}},
		"of a state that is none": {incident.Offer{State: "resting"}, is{over: true}},
	} {
		if got := (is{test.o.Live(), test.o.Over(), test.o.Unverified()}); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestLastOffer(t *testing.T) {
	inc := incident.Incident{Offers: []incident.Offer{{State: incident.Offered, Says: "a"}, {State: incident.Offered, Says: "b"}, {State: incident.Expired, Says: "c"}}}
	if o := inc.LastOffer(incident.Offered); o == nil || o.Says != "b" {
		t.Errorf("offered: %+v", o)
	}
	if o := inc.LastOffer(incident.Helped); o != nil {
		t.Errorf("that helped: %+v", o)
	}
}

// What becomes of offers when the cause is gone, is back, or the incident is over.
func TestOffersAreTakenBack(t *testing.T) {
	const route, parts = optin.AddNATRoute, optin.ReplaceInstance
	at := incidenttest.At
	of := func(id string, r optin.Remedy, state incident.OfferState) incident.Offer {
		return incident.Offer{Hash: id, Plan: remedy.Plan{Remedy: r}, State: state, Made: at(5)}
	}
	begun := func(o incident.Offer) incident.Offer { o.Run = &remedy.Run{}; return o }
	before := func(o incident.Offer) incident.Offer { o.Made = at(3); return o }
	outdated := func(o incident.Offer) incident.Offer { o.State, o.Says = incident.Outdated, "it is over"; return o }
	all := func(incident.Offer) bool { return true }
	for name, test := range map[string]struct {
		offers []incident.Offer
		of     func(incident.Offer) bool
		want   []incident.Offer
	}{
		"what is offered, approved or waits": {
			[]incident.Offer{of("a", route, incident.Offered), of("b", route, incident.Approved), of("c", parts, incident.Deferred)}, all,
			[]incident.Offer{outdated(of("a", route, incident.Offered)), outdated(of("b", route, incident.Approved)), outdated(of("c", parts, incident.Deferred))},
		},
		"not what is being done": {[]incident.Offer{begun(of("a", route, incident.Approved))}, all, []incident.Offer{begun(of("a", route, incident.Approved))}},
		"what is offered again after a run": {
			[]incident.Offer{begun(of("a", route, incident.Offered))}, all, []incident.Offer{outdated(begun(of("a", route, incident.Offered)))},
		},
		"not what was decided": {
			[]incident.Offer{of("a", route, incident.RefusedByUs), begun(of("b", route, incident.Acted)), of("c", route, incident.Expired)}, all,
			[]incident.Offer{of("a", route, incident.RefusedByUs), begun(of("b", route, incident.Acted)), of("c", route, incident.Expired)},
		},
		"only those that are meant": {
			[]incident.Offer{of("a", route, incident.Offered), of("b", parts, incident.Offered)}, incident.IsReplacement,
			[]incident.Offer{of("a", route, incident.Offered), outdated(of("b", parts, incident.Offered))},
		},
		"a wait after a part of it is forgotten": {
			[]incident.Offer{begun(of("a", parts, incident.Acted)), of("b", parts, incident.Deferred), of("c", route, incident.Offered)}, all,
			[]incident.Offer{begun(of("a", parts, incident.Acted)), outdated(of("c", route, incident.Offered))},
		},
		"a wait after another remedy's run is not": {
			[]incident.Offer{begun(of("a", route, incident.Acted)), of("b", parts, incident.Deferred)}, all,
			[]incident.Offer{begun(of("a", route, incident.Acted)), outdated(of("b", parts, incident.Deferred))},
		},
		"nor after a part of an earlier opening": {
			[]incident.Offer{before(begun(of("a", parts, incident.Acted))), of("b", parts, incident.Deferred)}, all,
			[]incident.Offer{before(begun(of("a", parts, incident.Acted))), outdated(of("b", parts, incident.Deferred))},
		},
		"nor after what was not done": {
			[]incident.Offer{of("a", parts, incident.RefusedByUs), of("b", parts, incident.Deferred)}, all,
			[]incident.Offer{of("a", parts, incident.RefusedByUs), outdated(of("b", parts, incident.Deferred))},
		},
	} {
		inc := incident.Incident{Opened: at(4), Offers: test.offers}.Clone()
		inc.OutdateOffers("it is over", test.of)
		if diff := cmp.Diff(test.want, inc.Offers); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	inc := incident.Incident{Offers: []incident.Offer{of("a", route, incident.Offered), of("b", route, incident.Offered), of("c", route, incident.Offered)}}
	elsewhere := inc.Offers[1]
	if inc.ForgetOffer(&elsewhere); len(inc.Offers) != 3 {
		t.Errorf("what is not in the list is forgotten: %+v", inc.Offers)
	}
	inc.ForgetOffer(&inc.Offers[1])
	if diff := cmp.Diff([]incident.Offer{of("a", route, incident.Offered), of("c", route, incident.Offered)}, inc.Offers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReplacing(t *testing.T) {
	for name, test := range map[string]struct {
		state incident.State
		o     incident.Offer
		want  bool
	}{
		"waits for the limit":    {incident.Cleared, incident.Offer{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Deferred, Again: true}, true},
		"waits for a yes after":  {incident.Cleared, incident.Offer{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Offered, Again: true}, true},
		"waits for a look":       {incident.Cleared, incident.Offer{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Deferred}, false},
		"waits no more":          {incident.Cleared, incident.Offer{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Expired, Again: true}, false},
		"another remedy":         {incident.Cleared, incident.Offer{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, State: incident.Deferred, Again: true}, false},
		"the cause is there yet": {incident.Open, incident.Offer{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Deferred, Again: true}, false},
	} {
		if got := (incident.Incident{State: test.state, Offers: []incident.Offer{test.o}}).Replacing(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// The tags that are kept: of the nodegroups in question, those that routes ask
// for, of a hundred nodegroups.
func TestTagsThatAreKept(t *testing.T) {
	type tags = map[string]map[string]string
	broken := incidenttest.Broken(t) // of nodegroup workers, and the launch i-1 of it
	broken.Launches[0].Nodegroup, broken.Launches[0].Group = "launched", "asg-of-it"
	broken.Launches = append(broken.Launches, broken.Launches[0])
	broken.Launches[1].Instance, broken.Launches[1].Nodegroup, broken.Launches[1].Group = "i-2", "", "asg"
	many := tags{}
	for i := range 100 {
		name := "n" + string(rune('a'+i/10)) + string(rune('a'+i%10))
		many[name] = map[string]string{"team": "x"}
	}
	crowd := broken.Clone()
	crowd.Tags = many
	wanted := func(change func(tags)) tags {
		m := tags{}
		for k, v := range many {
			m[k] = v
		}
		change(m)
		return m
	}
	crowd.Cause.Nodegroups = []string{"workers", "naa"}
	known := broken.Clone()
	known.Tags = tags{"workers": {"team": "old"}}
	for name, test := range map[string]struct {
		inc  incident.Incident
		seen tags
		want tags
	}{
		"what routes ask for":              {broken, tags{"workers": {"team": "a", "owner": "b"}}, tags{"workers": {"team": "a"}}},
		"of a nodegroup that was launched": {broken, tags{"launched": {"team": "a"}}, tags{"launched": {"team": "a"}}},
		"of a group without a nodegroup":   {broken, tags{"asg": {"team": "a"}}, tags{"asg": {"team": "a"}}},
		"not of a nodegroup's group":       {broken, tags{"asg-of-it": {"team": "a"}}, nil},
		"not of others":                    {broken, tags{"a": {"team": "a"}, "workers": {"team": "a"}}, tags{"workers": {"team": "a"}}},
		"not what nobody asks for":         {broken, tags{"launched": {"owner": "b"}, "workers": {"team": "a"}}, tags{"workers": {"team": "a"}}},
		"anew":                             {known, tags{"workers": {"team": "new"}}, tags{"workers": {"team": "new"}}},
		"that there is none any more":      {known, tags{"workers": {}}, tags{"workers": {}}},
		"nothing":                          {known, nil, tags{"workers": {"team": "old"}}},
		"not of the hundred and first":     {crowd, tags{"workers": {"team": "a"}}, many},
		"of those that are known":          {crowd, tags{"naa": {"team": "a"}}, wanted(func(m tags) { m["naa"] = map[string]string{"team": "a"} })},
	} {
		inc := test.inc.Clone()
		inc.AddTags(test.seen, []string{"team"})
		if diff := cmp.Diff(test.want, inc.Tags, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(map[string]string{"team": "old"}, known.Tags["workers"]); diff != "" {
		t.Errorf("those of before are another now (-want +got):\n%s", diff)
	}
	almost := crowd.Clone()
	almost.Tags = wanted(func(m tags) { delete(m, "nbb") })
	almost.AddTags(tags{"workers": {"team": "a"}}, []string{"team"})
	if len(almost.Tags) != 100 || almost.Tags["workers"] == nil {
		t.Errorf("the hundredth is not kept: %d", len(almost.Tags))
	}
}
