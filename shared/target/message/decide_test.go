package message

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/target"
)

func TestDecide(t *testing.T) {
	opened, resolved := sample(t, "incident-opened"), sample(t, "incident-resolved")
	reopened, taken, acted := sample(t, "incident-reopened"), sample(t, "incident-acknowledged"), sample(t, "remedy-acted")
	detail := changed(sample(t, "incident-changed"), func(e *incident.Event) { e.Reason = incident.MoreAffected })
	missed := changed(detail, func(e *incident.Event) { e.Reason = incident.HasMissed })
	least := func(of target.Target, s string) target.Target { of.Least = s; return of }
	info := changed(opened, func(e *incident.Event) { e.Severity = incident.Info })
	warning := changed(opened, func(e *incident.Event) { e.Severity = incident.Warning })
	silenced := func(n News) News { return changed(n, func(e *incident.Event) { e.Silenced = true }) }
	unsilenced := changed(detail, func(e *incident.Event) { e.Reason = incident.IsUnsilenced })
	givenUp := changed(resolved, func(e *incident.Event) { e.Resolution = incident.GivenUpOn })
	try := News{Type: Test, ID: "t", At: time.Now()}

	knows := func(n News) Told { return Told{Opened: n.Incident.Opened, Sequence: n.Incident.Sequence, Open: true} }
	later := func(n News) News { return changed(n, func(e *incident.Event) { e.Opened = e.Opened.Add(time.Hour) }) }
	over := func(n News) Told { return Told{Opened: n.Incident.Opened, Sequence: n.Incident.Sequence} }
	pd, teams, mail, hook := target.Target{Kind: target.PagerDuty}, target.Target{Kind: target.Teams}, target.Target{Kind: target.SNS}, target.Target{Kind: target.Webhook}
	critical := func(of target.Target) target.Target { return least(of, "critical") }
	for _, test := range []struct {
		name   string
		of     target.Target
		news   News
		told   Told
		want   []Action
		reason Reason
	}{
		{"an alert", pd, opened, Told{}, []Action{Trigger}, ToTell},
		{"a card", teams, opened, Told{}, []Action{Post}, ToTell},
		{"a mail", mail, opened, Told{}, []Action{Post}, ToTell},
		{"a request", hook, opened, Told{}, []Action{Post}, ToTell},
		{"the same again", pd, opened, knows(opened), nil, OlderNews},
		{"a mail once", mail, opened, knows(opened), nil, OlderNews},
		{"older than what it knows", pd, opened, knows(resolved), nil, OlderNews},
		{"a receiver orders by itself", hook, opened, knows(resolved), []Action{Post}, ToTell},
		{"it came back", pd, reopened, Told{Opened: resolved.Incident.Opened, Sequence: resolved.Incident.Sequence}, []Action{Trigger}, ToTell},
		{"more of the same", pd, detail, knows(opened), nil, NotForPeople},
		{"more of the same, a card", teams, detail, knows(opened), nil, NotForPeople},
		{"more of the same, to a machine", hook, detail, knows(opened), []Action{Post}, ToTell},
		{"what was foreseen", teams, missed, knows(opened), []Action{Post}, ToTell},
		{"worse", pd, missed, knows(opened), []Action{Trigger}, ToTell},
		{"worse, while it is muted", pd, changed(missed, func(e *incident.Event) { e.Muted = true }), knows(opened), nil, IsMuted},
		{"worse, while it is muted, to a machine", hook, changed(missed, func(e *incident.Event) { e.Muted = true }), knows(opened), []Action{Post}, ToTell},
		{"over, while it is muted", pd, changed(resolved, func(e *incident.Event) { e.Muted = true }), knows(opened), []Action{Resolve}, ToTell},
		{"silenced", pd, silenced(opened), Told{}, nil, IsSilenced},
		{"silenced, a mail", mail, silenced(opened), Told{}, nil, IsSilenced},
		{"silenced, to a machine", hook, silenced(opened), Told{}, []Action{Post}, ToTell},
		{"worse, while it is silenced", pd, silenced(missed), knows(opened), nil, IsSilenced},
		{"over, while it is silenced", pd, silenced(resolved), knows(opened), []Action{Resolve}, ToTell},
		{"came and went while it was silenced", mail, silenced(resolved), Told{}, nil, IsSilenced},
		{"still there when the silence ends", pd, unsilenced, Told{}, []Action{Trigger}, ToTell},
		{"still there when the silence ends, a card", teams, unsilenced, Told{}, []Action{Post}, ToTell},
		{"still there, and not urgent enough", critical(pd), changed(unsilenced, func(e *incident.Event) { e.Severity = incident.Warning }), Told{}, nil, BelowSeverity},
		{"somebody has it", pd, taken, knows(opened), []Action{Acknowledge}, ToTell},
		{"somebody has what was never triggered", pd, taken, Told{}, []Action{Trigger, Acknowledge}, ToTell},
		{"from one to another", pd, changed(taken, func(e *incident.Event) { e.Sequence = 9 }),
			Told{Opened: taken.Incident.Opened, Sequence: 4, Open: true, Acknowledged: true}, nil, NotForPeople},
		{"somebody has it, a card", teams, taken, knows(opened), nil, NotForPeople},
		{"somebody has it, to a machine", hook, taken, knows(opened), []Action{Post}, ToTell},
		{"a remedy", mail, acted, knows(opened), []Action{Post}, ToTell},
		{"a remedy wakes nobody", pd, acted, knows(opened), nil, NotForPeople},
		{"over", pd, resolved, knows(opened), []Action{Resolve}, ToTell},
		{"over, a mail", mail, resolved, knows(opened), []Action{Post}, ToTell},
		{"only the looking stopped", pd, givenUp, knows(opened), nil, StillFails},
		{"only the looking stopped, a mail", mail, givenUp, knows(opened), []Action{Post}, ToTell},
		{"not urgent enough", critical(pd), warning, Told{}, nil, BelowSeverity},
		{"urgent enough", critical(pd), opened, Told{}, []Action{Trigger}, ToTell},
		{"over, and never told of it", critical(mail), resolved, Told{}, nil, NeverTold},
		{"over, and told of it", critical(mail), resolved, knows(opened), []Action{Post}, ToTell},
		{"somebody has what is not urgent", critical(pd), changed(taken, func(e *incident.Event) { e.Severity = incident.Warning }), Told{}, nil, BelowSeverity},
		{"a test of PagerDuty closes itself", critical(pd), try, Told{}, []Action{Trigger, Resolve}, ToTell},
		{"a test", mail, try, Told{}, []Action{Post}, ToTell},
		{"a test is for all", critical(teams), try, Told{}, []Action{Post}, ToTell},
		{"began again, and the record anew", pd, changed(opened, func(e *incident.Event) { e.Opened, e.Sequence = e.Opened.Add(time.Hour), 1 }), knows(resolved), []Action{Trigger}, ToTell},
		{"of a record that was before", pd, changed(opened, func(e *incident.Event) { e.Opened, e.Sequence = e.Opened.Add(-time.Hour), 99 }), knows(opened), nil, OlderNews},
		{"taken anew after it began again", pd, changed(taken, func(e *incident.Event) { e.Opened = e.Opened.Add(time.Hour) }),
			Told{Opened: taken.Incident.Opened, Sequence: 4, Open: true, Acknowledged: true}, []Action{Acknowledge}, ToTell},
		{"urgent when it was told, and no longer", critical(pd), changed(missed, func(e *incident.Event) { e.Severity = incident.Warning }), knows(opened), []Action{Trigger}, ToTell},
		{"somebody has what was urgent", critical(pd), changed(taken, func(e *incident.Event) { e.Severity = incident.Warning }), knows(opened), []Action{Acknowledge}, ToTell},
		{"a remedy of what it was not told", critical(mail), changed(acted, func(e *incident.Event) { e.Severity = incident.Warning }), Told{}, nil, BelowSeverity},
		{"a remedy of what it was told", critical(mail), changed(acted, func(e *incident.Event) { e.Severity = incident.Warning }), knows(opened), []Action{Post}, ToTell},
		{"a detail of what it was not told, to a machine", critical(hook), changed(detail, func(e *incident.Event) { e.Severity = incident.Warning }), Told{}, nil, BelowSeverity},
		{"somebody has what another was told, to a machine", hook, taken, Told{}, []Action{Post}, ToTell},
		{"over, and nothing asked of its severity", mail, resolved, Told{}, []Action{Post}, ToTell},
		{"not urgent, long after one that was", critical(pd), later(warning), over(opened), nil, BelowSeverity},
		{"somebody has what is not urgent, long after", critical(pd), later(changed(taken, func(e *incident.Event) { e.Severity = incident.Warning })), over(opened), nil, BelowSeverity},
		{"somebody has it, a card, long after", teams, later(taken), over(opened), nil, NotForPeople},
		{"over, of what was not urgent, long after", critical(mail), later(resolved), over(opened), nil, NeverTold},
		{"a remedy of what is not urgent, long after", critical(mail), later(changed(acted, func(e *incident.Event) { e.Severity = incident.Warning })), over(opened), nil, BelowSeverity},
		{"a remedy, and the beginning was not told", mail, acted, Told{}, []Action{Post}, ToTell},
		{"a detail, and the beginning was not told, to a machine", hook, detail, Told{}, []Action{Post}, ToTell},
		{"became worse", teams, changed(detail, func(e *incident.Event) { e.Reason = incident.IsWorse }), knows(opened), []Action{Post}, ToTell},
		{"failed again", teams, changed(detail, func(e *incident.Event) { e.Reason = incident.FailedAgain }), knows(opened), []Action{Post}, ToTell},
		{"a remedy did not help", teams, changed(detail, func(e *incident.Event) { e.Reason = incident.IsUnhelpful }), knows(opened), []Action{Post}, ToTell},
		{"a warning where warnings are wanted", least(mail, "warning"), warning, Told{}, []Action{Post}, ToTell},
		{"news where warnings are wanted", least(mail, "warning"), info, Told{}, nil, BelowSeverity},
		{"news where all is wanted", least(mail, "info"), info, Told{}, []Action{Post}, ToTell},
	} {
		got, next, reason := Decide(test.of, test.news, test.told)
		if diff := cmp.Diff(test.want, got); diff != "" || reason != test.reason {
			t.Errorf("%s: reason %q, want %q; actions (-want +got):\n%s", test.name, reason, test.reason, diff)
		}
		if len(got) == 0 && next != test.told {
			t.Errorf("%s: nothing is told, and %+v is remembered", test.name, next)
		}
		if len(got) > 0 && !Wants(test.of, test.news) {
			t.Errorf("%s: it is told, and there is no message of it", test.name)
		}
	}
}

// TestDecideWeek: a week is told once, in its order, to those that hear of all; PagerDuty
// never hears of it, nor does a target that is for incidents from a severity on.
func TestDecideWeek(t *testing.T) {
	week := sample(t, "weekly-report")
	later := week
	later.Week = &Week{Result: week.Week.Result, To: week.Week.To.AddDate(0, 0, 7)}
	told := Told{Opened: week.Week.To}
	for _, test := range []struct {
		name   string
		of     target.Target
		news   News
		told   Told
		want   []Action
		reason Reason
	}{
		{"a mail", target.Target{Kind: target.SNS}, week, Told{}, []Action{Post}, ToTell},
		{"a card", target.Target{Kind: target.Teams}, week, Told{}, []Action{Post}, ToTell},
		{"a webhook", target.Target{Kind: target.Webhook}, week, Told{}, []Action{Post}, ToTell},
		{"no alert", target.Target{Kind: target.PagerDuty}, week, Told{}, nil, NoAlert},
		{"for all incidents", target.Target{Kind: target.SNS, Least: "info"}, week, Told{}, nil, IncidentsOnly},
		{"for what is critical", target.Target{Kind: target.Teams, Least: "critical"}, week, Told{}, nil, IncidentsOnly},
		{"it comes again", target.Target{Kind: target.SNS}, week, told, nil, OlderNews},
		{"it comes again, a webhook", target.Target{Kind: target.Webhook}, week, told, nil, OlderNews},
		{"the next", target.Target{Kind: target.SNS}, later, told, []Action{Post}, ToTell},
		{"late, after the next", target.Target{Kind: target.SNS}, week, Told{Opened: later.Week.To}, nil, OlderNews},
	} {
		got, next, reason := Decide(test.of, test.news, test.told)
		want := test.told
		if len(test.want) > 0 {
			want = Told{Opened: test.news.Week.To}
		}
		if diff := cmp.Diff(test.want, got); diff != "" || reason != test.reason || next != want {
			t.Errorf("%s: reason %q, remembered %+v; actions (-want +got):\n%s", test.name, reason, next, diff)
		}
		if wants := Wants(test.of, test.news); wants != (reason == ToTell || reason == OlderNews) {
			t.Errorf("%s: wanted %v", test.name, wants)
		}
	}
	if week.About() != "week" {
		t.Errorf("it is about %q", week.About())
	}
}

// TestRemembered: what a target knows after it was told.
func TestRemembered(t *testing.T) {
	opened, taken, resolved := sample(t, "incident-opened"), sample(t, "incident-acknowledged"), sample(t, "incident-resolved")
	acted := sample(t, "remedy-acted")
	of := func(n News, open, acknowledged bool) Told {
		return Told{Opened: n.Incident.Opened, Sequence: n.Incident.Sequence, Open: open, Acknowledged: acknowledged}
	}
	again := changed(opened, func(e *incident.Event) { e.Opened, e.Sequence = e.Opened.Add(time.Hour), 1 })
	for name, test := range map[string]struct {
		kind       target.Kind
		news       News
		told, want Told
	}{
		"it began":                         {target.PagerDuty, opened, Told{}, of(opened, true, false)},
		"somebody has it":                  {target.PagerDuty, taken, of(opened, true, false), of(taken, true, true)},
		"somebody has what was not told":   {target.PagerDuty, taken, Told{}, of(taken, true, true)},
		"it is over":                       {target.PagerDuty, resolved, of(taken, true, true), of(resolved, false, false)},
		"it began again, nobody has it":    {target.PagerDuty, again, of(taken, true, true), of(again, true, false)},
		"a remedy":                         {target.SNS, acted, of(opened, true, false), of(acted, true, false)},
		"a machine is told what was older": {target.Webhook, opened, of(resolved, false, false), of(resolved, false, false)},
		"a test":                           {target.SNS, News{Type: Test, ID: "t", At: time.Now()}, of(opened, true, false), of(opened, true, false)},
		"a test of PagerDuty":              {target.PagerDuty, News{Type: Test, ID: "t", At: time.Now()}, of(opened, true, false), of(opened, true, false)},
	} {
		actions, got, reason := Decide(target.Target{Kind: test.kind}, test.news, test.told)
		if len(actions) == 0 || reason != ToTell || got != test.want {
			t.Errorf("%s: %v (%s), remembered %+v, want %+v", name, actions, reason, got, test.want)
		}
	}
}

// TestWants: there is a message on the queue only for whom it may ever be.
func TestWants(t *testing.T) {
	detail := changed(sample(t, "incident-changed"), func(e *incident.Event) { e.Reason = incident.MoreAffected })
	for _, test := range []struct {
		kind target.Kind
		news News
		want bool
	}{
		{target.PagerDuty, detail, false},
		{target.Teams, detail, false},
		{target.SNS, detail, false},
		{target.Webhook, detail, true},
		{target.PagerDuty, sample(t, "remedy-acted"), false},
		{target.SNS, sample(t, "remedy-acted"), true},
		{target.PagerDuty, sample(t, "incident-acknowledged"), true},
		{target.Teams, sample(t, "incident-acknowledged"), false},
		{target.PagerDuty, sample(t, "incident-resolved"), true},
		// What it is told of these hangs on what it knows then.
		{target.PagerDuty, changed(sample(t, "incident-resolved"), func(e *incident.Event) { e.Resolution = incident.GivenUpOn }), true},
		{target.Teams, changed(sample(t, "incident-opened"), func(e *incident.Event) { e.Silenced = true }), true},
	} {
		if got := Wants(target.Target{Kind: test.kind, Least: "critical"}, test.news); got != test.want {
			t.Errorf("%s, %s %s: %v", test.kind, test.news.Type, test.news.Incident.Reason, got)
		}
	}
}

// TestAnyOrder: in whichever order the events of an incident come, and however often,
// PagerDuty's alert ends as the incident does, and is never opened after it was resolved.
func TestAnyOrder(t *testing.T) {
	story := []News{sample(t, "incident-opened"), sample(t, "incident-changed"), sample(t, "incident-acknowledged"), sample(t, "incident-resolved")}
	var tried int
	var play func(left, order []News)
	play = func(left, order []News) {
		if len(left) > 0 {
			for i := range left {
				rest := append(append([]News{}, left[:i]...), left[i+1:]...)
				play(rest, append(append([]News{}, order...), left[i]))
			}
			return
		}
		tried++
		told, open := Told{}, false
		for _, n := range append(order, order[0]) {
			actions, next, _ := Decide(target.Target{Kind: target.PagerDuty}, n, told)
			told = next
			for _, a := range actions {
				open = a != Resolve
			}
		}
		if open {
			t.Errorf("the alert is open at the end: %v", order)
		}
	}
	play(story, nil)
	if tried != 24 {
		t.Errorf("%d orders", tried)
	}
}
