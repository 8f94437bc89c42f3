package remediate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

func minute(n int) time.Time { return time.Date(2026, 11, 20, 12, n, 0, 0, time.UTC) }

// atMinute is a handler at a time, without anything that it could change.
func atMinute(n int) handler { return handler{now: func() time.Time { return minute(n) }} }

func offerOf(r optin.Remedy, state incident.OfferState, made int, hash string) incident.Offer {
	return incident.Offer{Plan: remedy.Plan{Remedy: r}, State: state, Made: minute(made), Hash: hash}
}

// Looks that fail are made ever more seldom, each hour at the least.
func TestPaceOfLooksThatFail(t *testing.T) {
	for tried, want := range []int{5, 10, 20, 40, 60, 60} {
		if got := pace(tried); got != time.Duration(want)*time.Minute {
			t.Errorf("after %d: %s, want %d minutes", tried, got, want)
		}
	}
}

// The newest offer of a remedy counts, and only of this opening.
func TestLatestOffer(t *testing.T) {
	const route, parts = optin.AddNATRoute, optin.ReplaceInstance
	inc := incident.Incident{Opened: minute(5), Offers: []incident.Offer{
		offerOf(route, incident.Approved, 4, "before"), offerOf(route, incident.Approved, 5, "approved"), offerOf(parts, incident.Offered, 6, "offered"), offerOf(parts, incident.Approved, 4, "late"),
	}}
	for name, test := range map[string]struct {
		r      optin.Remedy
		states []incident.OfferState
		want   string
	}{
		"approved":                  {route, []incident.OfferState{incident.Offered, incident.Approved}, "approved"},
		"in no such state":          {route, []incident.OfferState{incident.Offered}, ""},
		"of this opening":           {parts, []incident.OfferState{incident.Offered, incident.Approved}, "offered"},
		"of this opening, approved": {parts, []incident.OfferState{incident.Approved}, ""},
		"of none":                   {optin.CoverZones, []incident.OfferState{incident.Approved}, ""},
	} {
		got := ""
		if o := latest(inc, test.r, test.states...); o != nil {
			got = o.Hash
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// A run is named by its plan and the approval that it is good for.
func TestRunID(t *testing.T) {
	inc := incident.Incident{Opened: minute(5).In(time.FixedZone("", 3600))}
	p := remedy.Plan{Remedy: optin.AddNATRoute}
	if got, want := runID(inc, p, nil), p.Hash()+"/auto-20261120T120500.000Z"; got != want {
		t.Errorf("by a policy: %q, want %q", got, want)
	}
	approved := incident.Offer{Hash: "hash", Decided: minute(7).In(time.FixedZone("", 3600)), By: report.User{ID: "U1"}}
	if got, want := runID(inc, p, &approved), "hash/20261120T120700.000Z"; got != want {
		t.Errorf("by a person: %q, want %q", got, want)
	}
	want := remedy.Run{Format: remedy.Format, ID: runID(inc, p, nil), Plan: p, Hash: p.Hash(), Policy: optin.Auto, Began: minute(9)}
	if diff := cmp.Diff(want, atMinute(9).newRun(inc, p, nil)); diff != "" {
		t.Errorf("a policy's run (-want +got):\n%s", diff)
	}
	want.ID, want.Policy, want.ApprovedBy, want.Approved = runID(inc, p, &approved), optin.Approve, "U1", approved.Decided
	if diff := cmp.Diff(want, atMinute(9).newRun(inc, p, &approved)); diff != "" {
		t.Errorf("a person's run (-want +got):\n%s", diff)
	}
}

// What report knows of a run is not told again; nor what it had, and dropped for
// later ones.
func TestWhatReportKnowsOfARun(t *testing.T) {
	of := func(id string, began int, r optin.Remedy, result action.Status) remedy.Run {
		return remedy.Run{ID: id, Began: minute(began), Plan: remedy.Plan{Remedy: r}, Result: result}
	}
	with := func(runs ...remedy.Run) incident.Incident {
		var inc incident.Incident
		for i := range runs {
			inc.Offers = append(inc.Offers, incident.Offer{Run: &runs[i]})
		}
		return inc
	}
	const parts = optin.ReplaceInstance
	d := of("d", 5, parts, action.Done)
	crowd := func(of remedy.Run) incident.Incident {
		inc := with(of)
		for len(inc.Offers) < incident.MaxOffers {
			inc.Offers = append(inc.Offers, incident.Offer{})
		}
		return inc
	}
	almost := crowd(of("e", 6, parts, action.Done))
	almost.Offers = almost.Offers[:incident.MaxOffers-1]
	for name, test := range map[string]struct {
		inc           incident.Incident
		told, dropped bool
	}{
		"it does":                       {with(of("c", 4, parts, action.Done), d), true, false},
		"of another":                    {with(of("c", 4, parts, action.Done)), false, false},
		"that it began":                 {with(of("d", 5, parts, "")), false, false},
		"of a later one, and is full":   {crowd(of("e", 6, parts, action.Done)), false, true},
		"of a later one, and has room":  {almost, false, false},
		"of an earlier one, and full":   {crowd(of("e", 5, parts, action.Done)), false, false},
		"of another's later, and full":  {crowd(of("e", 6, optin.AddNATRoute, action.Done)), false, false},
		"nothing, and is full":          {crowd(d), true, false},
		"nothing, and there is nothing": {incident.Incident{}, false, false},
	} {
		if got, out := knownToReport(test.inc, d), replacedByLater(test.inc, d); got != test.told || out != test.dropped {
			t.Errorf("%s: told %t, dropped %t", name, got, out)
		}
	}
}

// Which refusals may pass by themselves, and are looked at again.
func TestWhatMayPass(t *testing.T) {
	const r = optin.ReplaceInstance
	with := func(state incident.OfferState) incident.Incident {
		return incident.Incident{Offers: []incident.Offer{offerOf(r, state, 1, "h")}}
	}
	for name, test := range map[string]struct {
		inc    incident.Incident
		reason action.Reason
		want   bool
	}{
		"a look that failed":                {incident.Incident{}, action.CouldNotLook, true},
		"a look that failed, and it waits":  {with(incident.Deferred), action.CouldNotLook, true},
		"a look that failed, it is offered": {with(incident.Offered), action.CouldNotLook, false},
		"a look that failed, approved":      {with(incident.Approved), action.CouldNotLook, false},
		"a group that scales":               {incident.Incident{}, action.GroupScales, false},
		"a group that scales, it waits":     {with(incident.Deferred), action.GroupScales, true},
		"another's change, it waits":        {with(incident.Deferred), action.AnotherChange, true},
		"another's change":                  {with(incident.Offered), action.AnotherChange, false},
		"what is not so":                    {with(incident.Deferred), action.NotSo, false},
	} {
		if got := (handler{}).passes(test.inc, r, &action.Refusal{Reason: test.reason}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Which remedies an incident may need: its cause's while that is there, and
// afterwards those for what failed for it.
func TestRemediesForAnIncident(t *testing.T) {
	for _, test := range []struct {
		state incident.State
		fix   string
		want  []optin.Remedy
	}{
		{incident.Open, string(optin.AddNATRoute), []optin.Remedy{optin.AddNATRoute}},
		{incident.Open, string(optin.ReplaceInstance), nil},
		{incident.Open, "", nil},
		{incident.Cleared, string(optin.AddNATRoute), []optin.Remedy{optin.ReplaceInstance}},
	} {
		inc := incident.Incident{State: test.state}
		inc.Cause.Fix.Remedy = test.fix
		var got []optin.Remedy
		for _, r := range remediesFor(inc) {
			got = append(got, r.Name)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s, %q (-want +got):\n%s", test.state, test.fix, diff)
		}
	}
}

// An approval is good until its last moment, and one that does not say for ever.
func TestApprovalsExpire(t *testing.T) {
	o := incident.Offer{Expires: minute(5)}
	if atMinute(5).expired(o) || !atMinute(6).expired(o) || atMinute(6).expired(incident.Offer{}) {
		t.Errorf("at its end %t, after it %t, without one %t", atMinute(5).expired(o), atMinute(6).expired(o), atMinute(6).expired(incident.Offer{}))
	}
	if p := (remedy.Plan{Remedy: optin.AddNATRoute}); hashOf(p, nil) != p.Hash() || hashOf(p, &action.Refusal{}) != "" {
		t.Errorf("a plan's hash is %q, a refused one's %q", hashOf(p, nil), hashOf(p, &action.Refusal{}))
	}
}
