package slack

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/ownership"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// wild makes incidents that do not occur.
type wild struct{ *rand.Rand }

func (w wild) text(most int) string {
	parts := []string{
		"subnet-0ab1c2d3e4f5a6b7c ", "<!channel> ", "`", "```", "🔥", "\x00", "\x1b[0m", "\u202e", "&<>", "\n", "\r", "\u2028Approved by ", "\u2029", "\t", "é", "i-0ef3a5b ",
		"rtb-0cd2 ", "10.0.0.0/8 ", "\\\"", "\xff\xfe", "a very plain word ", "日本語", strings.Repeat("x", 300), "http://x.y/z ", ": ", "<@U1|x> ",
	}
	var b strings.Builder
	if w.IntN(4) == 0 {
		return ""
	}
	for b.Len() < w.IntN(most)+1 {
		b.WriteString(parts[w.IntN(len(parts))])
	}
	return b.String()
}

func (w wild) some(most int) []string {
	list := make([]string, w.IntN(most+1))
	for n := range list {
		list[n] = w.text(120)
	}
	return list
}

func (w wild) time() time.Time {
	switch w.IntN(6) {
	case 0:
		return time.Time{}
	case 1:
		return time.Unix(-5, 0)
	}
	return time.Unix(w.Int64N(4e9), 0)
}

func (w wild) evidence() []finding.Evidence {
	list := make([]finding.Evidence, w.IntN(40))
	for n := range list {
		list[n] = finding.Evidence{What: w.text(80), Value: w.text(900)}
	}
	return list
}

func (w wild) launch() report.Launch {
	standings := []report.LaunchStatus{report.Waiting, report.Missed, report.Joined, report.Gone, report.GivenUp, "", "odd"}
	return report.Launch{
		Instance: w.text(60), Nodegroup: w.text(80), Group: w.text(80), Subnet: w.text(40), Zone: w.text(40), Type: w.text(40),
		Started: w.time(), Status: standings[w.IntN(len(standings))], Ready: w.time(), Ended: w.time(), EndedWhy: w.text(3000),
	}
}

func (w wild) blind() []snapshot.Failure {
	reasons := []snapshot.Reason{snapshot.Denied, snapshot.Throttled, snapshot.TimedOut, snapshot.Unreachable, snapshot.Broken, snapshot.NotRead, ""}
	list := make([]snapshot.Failure, w.IntN(20))
	for n := range list {
		list[n] = snapshot.Failure{
			Source: snapshot.Source(w.text(60)), Reason: reasons[w.IntN(len(reasons))], Call: w.text(200), Code: w.text(60), Message: w.text(5000),
		}
	}
	return list
}

func (w wild) facts() []report.Fact {
	list := make([]report.Fact, w.IntN(40))
	for n := range list {
		list[n] = report.Fact{What: w.text(300), Value: w.text(5000)}
	}
	return list
}

func (w wild) incident() incident.Incident {
	pick := func(list ...string) string { return list[w.IntN(len(list))] }
	i := incident.Incident{
		Key:    report.Key{Cluster: w.text(200), Check: checkid.ID(pick("route/no-egress", string(incident.CannotLook), "ip/leaked-interfaces", "ip/runway", "zone/nodegroup-gap", "zone/volume-stranded", "zone/impaired", w.text(200))), Resource: w.text(200)},
		Region: pick("us-west-2", "eu-central-1", w.text(30)), Partition: pick("aws", "aws-cn", "aws-us-gov", w.text(10)),
		State: incident.State(pick("open", "cleared", "closed", "pending", "odd")), Resolution: incident.Resolution(pick("proved", "unproved", "superseded", "withdrawn", "", "odd")),
		Number: w.IntN(5), Began: w.time(), Changed: w.time(), Cleared: w.time(), Resolved: w.time(),
		Cause: diagnosis.Cause{
			Confidence: catalog.Confidence(pick("certain", "likely", "possible", "symptom", "advice", "odd")),
			Title:      w.text(500), Why: w.text(9000), Evidence: w.evidence(), Nodegroups: w.some(40), Covers: w.some(9), Pods: w.some(9),
			Fix: finding.Fix{Text: w.text(4000), Command: w.text(8000), Console: pick("", "https://console.aws.amazon.com/"+strings.Repeat("a", w.IntN(4000)), "javascript:alert(1)", w.text(90))},
		},
		Affected: w.IntN(5000), ClearedBy: w.evidence(), Blind: w.blind(),
	}
	for _, f := range append(ownership.Fields(), ownership.Field(w.text(90))) {
		i.Owner = append(i.Owner, ownership.Value{Field: f, Text: w.text(500), URL: pick("", "https://wiki.example.com/x", "http://a", w.text(400))})
	}
	i.Logs = report.Logs{Group: pick("", "/aws/eks/prod/cluster", w.text(600)), Region: i.Region}
	if w.IntN(2) == 0 {
		i.Chart = &incident.Chart{File: pick("", "F0123456789"), Alt: w.text(5000)}
		i.By = &report.Key{Check: checkid.ID(pick("ip/leaked-interfaces", "ip/subnet-exhausted", w.text(50))), Resource: w.text(90)}
	}
	w.acts(&i)
	for range w.IntN(12) {
		i.Effects = append(i.Effects, incident.Effect{Check: checkid.ID(pick("ip/runway", "launch/subnet-full", w.text(30))), Title: w.text(900), Since: w.time(), Last: w.time(), Told: w.time(), Apart: w.IntN(2) == 0})
	}
	for range w.IntN(400) {
		i.Launches = append(i.Launches, w.launch())
	}
	for _, s := range w.some(30) {
		i.Cause.Hidden = append(i.Cause.Hidden, diagnosis.Hidden{Check: checkid.ID(s)})
		i.Cause.Contributing = append(i.Cause.Contributing, checkid.ID(s))
		i.Cause.Symptoms = append(i.Cause.Symptoms, checkid.ID(s))
	}
	if w.IntN(2) == 0 {
		l := w.launch()
		i.Proof = &l
	}
	for _, r := range append(reasons(), "odd") {
		if w.IntN(3) > 0 {
			continue
		}
		n := incident.Note{
			ID: string(r) + "-2", Reason: r, Says: w.text(900), At: w.time(), Count: w.IntN(3000), Evidence: w.evidence(), Facts: w.facts(), Launch: i.Proof, Blind: w.blind(),
		}
		n.Mention = w.some(12)
		if w.IntN(2) == 0 {
			n.Mention = append(n.Mention, "U0ONCALL01", "S0LEADS001", "here", "channel", "everyone")
			n.Offer, n.RecentChanges = w.offer(), w.trail()
		}
		for range w.IntN(incident.MaxNamed) {
			n.Instances = append(n.Instances, w.text(60))
		}
		i.Delivery.Notes = append(i.Delivery.Notes, n)
	}
	return i
}

// acts are what people and remedies may have done to an incident.
func (w wild) acts(i *incident.Incident) {
	if w.IntN(3) == 0 {
		i.Ack = &incident.Ack{By: w.user(), At: w.time(), In: w.text(60)}
	}
	if w.IntN(3) == 0 {
		i.Mute = &incident.Mute{By: w.user(), At: w.time(), Until: w.time()}
	}
	for range w.IntN(incident.MaxOffers + 3) {
		i.Offers = append(i.Offers, *w.offer())
	}
	if w.IntN(2) == 0 {
		i.RecentChanges = w.trail()
	}
	if w.IntN(3) == 0 { // the longest key that AWS allows, and real buttons
		i.State = incident.Open
		i.Key = report.Key{Cluster: strings.Repeat("c", 100), Check: checkid.ID("access/" + strings.Repeat("k", 40)), Resource: "arn:aws:iam::123456789012:role/" + strings.Repeat("p", 511) + "/" + strings.Repeat("r", 64)}
	}
}

func (w wild) user() report.User {
	ids := []string{"U0ONCALL01", "U0DEV00001", "", "channel", "S0LEADS001", "<!here>", "u0oncall01", w.text(60)}
	return report.User{ID: ids[w.IntN(len(ids))], Name: w.text(200)}
}

func (w wild) offer() *incident.Offer {
	states := []incident.OfferState{incident.Offered, incident.Offered, incident.Approved, incident.RefusedByUs, incident.Expired, incident.Outdated, incident.Acted, incident.Helped, incident.Unhelpful, "odd", ""}
	remedies := append(optin.Remedies(), "odd", "")
	p := remedy.Plan{Remedy: remedies[w.IntN(len(remedies))], Region: w.text(60), Account: w.text(60), Cluster: w.text(90), Resource: w.text(900)}
	switch p.Remedy {
	case optin.AddNATRoute:
		p.Route = &remedy.AddNATRoute{VPC: w.text(40), Table: w.text(900), Destination: w.text(40), NAT: w.text(90), Zones: w.some(9), Subnets: w.some(60)}
	case optin.ReplaceInstance:
		p.Replace = &remedy.ReplaceInstance{}
		for range w.IntN(60) {
			p.Replace.Instances = append(p.Replace.Instances, remedy.Replaced{Instance: w.text(40), Group: w.text(200), Nodegroup: w.text(90), Zone: w.text(30)})
		}
	case optin.OpenEndpointSecurityGroup:
		p.Open = &remedy.OpenEndpointSecurityGroup{VPC: w.text(30), SecurityGroup: w.text(40), Endpoints: w.some(30), Port: w.IntN(99999), From: w.some(60)}
	case optin.CoverZones:
		p.Cover = &remedy.CoverZones{Nodegroup: w.text(200), From: w.IntN(9), To: w.IntN(9999), Zones: w.some(9), Without: w.some(9)}
	case optin.DeleteLeakedInterfaces:
		p.Cleanup = &remedy.DeleteLeakedInterfaces{VPC: w.text(30), Subnet: w.text(60), Interfaces: w.some(200), Addresses: w.IntN(9999)}
	case optin.CreateAccessEntry:
		p.Access = &remedy.CreateAccessEntry{Principal: w.text(900), Type: w.text(30)}
	}
	of := &incident.Offer{Plan: p, Hash: p.Hash(), Policy: optin.Policy(w.text(20)), State: states[w.IntN(len(states))], Made: w.time(), Expires: w.time(), By: w.user(), Decided: w.time(), Verified: w.time(), Says: w.text(3000)}
	if w.IntN(8) == 0 {
		of.Hash = w.text(50)
	}
	if w.IntN(3) > 0 {
		results := []remedy.Status{remedy.Done, remedy.Refused, remedy.Failed, remedy.Partly, remedy.Uncertain, "", "odd"}
		of.Run = &remedy.Run{
			Plan: p, Hash: of.Hash, Policy: optin.Auto, ApprovedBy: w.text(40), Approved: w.time(), Began: w.time(), Ended: w.time(),
			Result: results[w.IntN(len(results))], Reason: w.text(300), Says: w.text(5000), Changed: w.some(200), Requests: w.some(60),
		}
	}
	return of
}

func (w wild) trail() *report.RecentChanges {
	t := &report.RecentChanges{From: w.time(), To: w.time(), LastGood: w.text(90), More: w.IntN(4000) - 20, Blind: w.text(2000), Open: w.IntN(2) == 0}
	for range w.IntN(120) {
		t.Changes = append(t.Changes, report.Change{ID: w.text(30), At: w.time(), Call: w.text(90), Resource: w.text(300), Actor: w.text(200), Principal: w.text(900), By: w.text(90), Error: w.text(90)})
	}
	return t
}

// TestButtonsAreWhole: what a press needs survives where a message is too
// long, for the longest key that AWS allows, with all that people and remedies
// do said above.
func TestButtonsAreWhole(t *testing.T) {
	long := with(incidentOf(noEgress(), launches(200, report.Missed)), offers(offer(incident.Offered)), func(i *incident.Incident) {
		i.Key.Cluster, i.Key.Resource = strings.Repeat("c", 100), "arn:aws:iam::123456789012:role/"+strings.Repeat("p", 511)+"/"+strings.Repeat("r", 64)
		i.Cause.Why, i.RecentChanges = strings.Repeat("very long words ", 400), trail()
		i.Cause.Evidence = nil
	})
	m := Render(long, Options{Actions: true, Now: began})
	if list := problems(m); list != nil {
		t.Fatal(list)
	}
	rows := 0
	for _, b := range m.Blocks {
		if row, is := b.(*slackgo.ActionBlock); is {
			rows++
			if len(row.Elements.ElementSet) < 2 {
				t.Errorf("a row of %d buttons", len(row.Elements.ElementSet))
			}
		}
	}
	if rows != 2 {
		t.Errorf("%d rows of buttons, want those of the offer and those of the incident", rows)
	}
}

// TestButtonsWhereTheyBelong: none where presses are not handled, and none on what
// is over.
func TestButtonsWhereTheyBelong(t *testing.T) {
	open := with(incidentOf(noEgress(), nil), offers(offer(incident.Offered)))
	for _, tt := range []struct {
		name     string
		incident incident.Incident
		options  Options
		want     string
	}{
		{"off", open, Options{Now: began}, ""},
		{"open", open, Options{Actions: true, Now: began}, "approve refuse acknowledge mute check"},
		{"expired", open, Options{Actions: true, Now: began.Add(2e12 * 3)}, "offer acknowledge mute check"},
		{"at the moment it expires", open, Options{Actions: true, Now: offer(incident.Offered).Expires}, "offer acknowledge mute check"},
		{"approved", with(open, offers(offer(incident.Approved))), Options{Actions: true, Now: began}, "acknowledge mute check"},
		{"acknowledged", with(open, offers(), func(i *incident.Incident) { i.Ack = &incident.Ack{By: oncall(), At: began} }), Options{Actions: true, Now: began}, "take-over mute check"},
		{"muted", with(open, offers(), func(i *incident.Incident) { i.Mute = &incident.Mute{By: oncall(), At: began, Until: began.Add(1)} }), Options{Actions: true, Now: began}, "acknowledge unmute check"},
		{"mute over", with(open, offers(), func(i *incident.Incident) { i.Mute = &incident.Mute{By: oncall(), At: began, Until: began} }), Options{Actions: true, Now: began}, "acknowledge mute check"},
		{"closed", with(open, provedAt), Options{Actions: true, Now: began}, "feedback-right feedback-wrong feedback-not-useful"},
		{"closed, another explains it", with(open, provedAt, func(i *incident.Incident) { i.Resolution = incident.Superseded }), Options{Actions: true, Now: began}, ""},
		{"gone, offer left over", with(open, clearedAt), Options{Actions: true, Now: began}, "acknowledge mute check"},
		{"gone, replacement offered", with(open, clearedAt, offers(offer(incident.Offered, func(of *incident.Offer) { of.Plan.Remedy = optin.ReplaceInstance }))), Options{Actions: true, Now: began}, "approve refuse acknowledge mute check"},
		{"a key that does not fit", with(open, func(i *incident.Incident) { i.Key.Resource = strings.Repeat("x", 2000) }), Options{Actions: true, Now: began}, ""},
		{"no key", with(open, func(i *incident.Incident) { i.Key.Resource = "" }), Options{Actions: true, Now: began}, ""},
		{"no hash", with(open, offers(offer(incident.Offered, func(of *incident.Offer) { of.Hash = "" }))), Options{Actions: true, Now: began}, "acknowledge mute check"},
	} {
		var got []string
		for _, b := range Render(tt.incident, tt.options).Blocks {
			row, is := b.(*slackgo.ActionBlock)
			if !is {
				continue
			}
			for _, e := range row.Elements.ElementSet {
				switch e := e.(type) {
				case *slackgo.ButtonBlockElement:
					got = append(got, e.ActionID)
				case *slackgo.SelectBlockElement:
					got = append(got, e.ActionID)
				}
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, strings.Join(got, " "), tt.want)
		}
	}
}
