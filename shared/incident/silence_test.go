package incident_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/spoke"
)

// What a silence is about: an incident's cluster in its account, its check, and each of its
// nodegroups and groups once. What Rollcall says of itself is its own.
func TestSubject(t *testing.T) {
	payments := spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	tags := map[string]map[string]string{"workers": {"team": "payments"}}
	inc := incident.Incident{
		Key:      report.Key{Spoke: payments, Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"},
		Cause:    diagnose.Cause{Nodegroups: []string{"workers", "batch"}},
		Launches: []report.Launch{{Nodegroup: "workers", Group: "eks-workers"}, {Group: "own-group"}, {Nodegroup: "a"}, {}},
		Tags:     tags,
	}
	want := silence.Subject{Spoke: payments, Cluster: "prod", Check: "route/no-egress", Nodegroups: []string{"a", "batch", "own-group", "workers"}, Tags: tags}
	if diff := cmp.Diff(want, inc.Subject()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	inc.Key.Check = incident.CannotLook
	if !inc.Subject().Own {
		t.Error("what cannot be read is Rollcall's own")
	}
	inc.Key.Check, inc.Key.Cluster = checks.ID("route/no-egress"), report.AllClusters
	if !inc.Subject().Own {
		t.Error("what is of all clusters is Rollcall's own")
	}
}

// A message that may be in the channel has been told; one that nobody began to send has not.
func TestTold(t *testing.T) {
	var inc incident.Incident
	if inc.Told() {
		t.Error("nothing was sent")
	}
	inc.Delivery.Sending = time.Unix(1, 0)
	if !inc.Told() {
		t.Error("it may have been taken")
	}
	inc.Delivery.Sending, inc.Delivery.TS = time.Time{}, "1.2"
	if !inc.Told() {
		t.Error("it was taken")
	}
}

// TestRanOut: of each remedy the newest offer that ran out, if the incident still wants it.
func TestRanOut(t *testing.T) {
	opened := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	now := opened.Add(time.Hour)
	offer := func(name optin.Remedy, state incident.OfferState, made, expires time.Duration) incident.Offer {
		o := incident.Offer{Plan: remedy.Plan{Remedy: name}, State: state, Made: opened.Add(made)}
		if expires > 0 {
			o.Expires = opened.Add(expires)
		}
		return o
	}
	const route, replace = optin.AddNATRoute, optin.ReplaceInstance
	old := offer(route, incident.Expired, time.Minute, 2*time.Minute)
	for name, test := range map[string]struct {
		state  incident.State
		offers []incident.Offer
		want   []int
	}{
		"none":                              {incident.Open, nil, nil},
		"it expired":                        {incident.Open, []incident.Offer{old}, []int{0}},
		"its time is over this moment":      {incident.Open, []incident.Offer{offer(route, incident.Offered, 0, time.Hour)}, []int{0}},
		"its time is not over":              {incident.Open, []incident.Offer{offer(route, incident.Offered, 0, time.Hour+1)}, nil},
		"it has no end":                     {incident.Open, []incident.Offer{offer(route, incident.Offered, 0, 0)}, nil},
		"somebody approved it":              {incident.Open, []incident.Offer{offer(route, incident.Approved, 0, time.Minute)}, nil},
		"there is a later one":              {incident.Open, []incident.Offer{old, offer(route, incident.Offered, time.Minute, 2*time.Hour)}, nil},
		"the later one ran out, too":        {incident.Open, []incident.Offer{old, old}, []int{1}},
		"a later one of another remedy":     {incident.Cleared, []incident.Offer{offer(replace, incident.Expired, 0, 0), old}, []int{0}},
		"two remedies, of which one is due": {incident.Open, []incident.Offer{offer(replace, incident.Expired, 0, 0), old}, []int{1}},
		"of an earlier opening":             {incident.Open, []incident.Offer{offer(route, incident.Expired, -1, 0)}, nil},
		"the cause is gone":                 {incident.Cleared, []incident.Offer{old}, nil},
		"what comes after, before its time": {incident.Open, []incident.Offer{offer(replace, incident.Expired, 0, 0)}, nil},
		"the incident is over":              {incident.Closed, []incident.Offer{old, offer(replace, incident.Expired, 0, 0)}, nil},
	} {
		inc := incident.Incident{State: test.state, Opened: opened, Offers: test.offers}
		var want []incident.Offer
		for _, i := range test.want {
			want = append(want, test.offers[i])
		}
		if diff := cmp.Diff(want, inc.RanOut(now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The event of what a remedy did has its offer; others that wait have none.
func TestAddActed(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	inc := incident.Incident{State: incident.Open, Number: 2}
	inc.AddEvent(incident.Opened, at)
	inc.AddActed("no event is sent for this", incident.Offer{Hash: "h0"}, at)
	inc.AddActed(incident.RemedyDone, incident.Offer{Hash: "h1"}, at)
	if n := len(inc.PendingEvents); n != 2 || inc.PendingEvents[0].Offer != nil || inc.PendingEvents[1].Offer == nil || inc.PendingEvents[1].Offer.Hash != "h1" {
		t.Fatalf("events %+v", inc.PendingEvents)
	}
	if got := inc.PendingEvents[1].Kind.DetailType(); got != "Rollcall Remedy Acted" {
		t.Errorf("its detail-type is %q", got)
	}
	none := incident.Incident{}
	if none.AddActed("no event is sent for this", incident.Offer{}, at); len(none.PendingEvents) > 0 {
		t.Errorf("events %+v", none.PendingEvents)
	}
}

// Words are those of the moment: an event keeps those that it has, and one of another state
// or another opening gets none.
func TestWord(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	inc := incident.Incident{State: incident.Open, Number: 2}
	for range 4 {
		inc.AddEvent(incident.Opened, at)
	}
	first := incident.Words{Headline: "before"}
	inc.PendingEvents[1].Words = &first
	inc.PendingEvents[2].State = incident.Closed
	inc.PendingEvents[3].Number = 1
	inc.Word(incident.Words{Headline: "now"})
	var got []string
	for _, e := range inc.PendingEvents {
		if e.Words == nil {
			got = append(got, "")
			continue
		}
		got = append(got, e.Words.Headline)
	}
	if diff := cmp.Diff([]string{"now", "before", "", ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
