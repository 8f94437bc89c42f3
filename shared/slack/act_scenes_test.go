package slack

import (
	"fmt"
	"strings"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// options are those of the scene: what people and remedies do is shown with
// buttons.
func (s scene) options() Options {
	return Options{Actions: strings.HasPrefix(s.name, "act-"), Now: s.incident.Changed}
}

func oncall() report.User { return report.User{ID: "U0ONCALL01", Name: "oncall"} }
func dev() report.User    { return report.User{ID: "U0DEV00001", Name: "dev"} }

// thePlan is the route story's.
func thePlan() remedy.Plan {
	return remedy.Plan{
		Format: remedy.Format, Remedy: optin.AddNATRoute, Partition: "aws", Account: "111122223333", Region: "us-west-2",
		Cluster: "prod", Check: "route/no-egress", Resource: "rtb-0cd2e3f4a5b6c7d8e",
		Route: &addnatroute.Plan{
			VPC: "vpc-0123456789abcdef0", Table: "rtb-0cd2e3f4a5b6c7d8e", Destination: "0.0.0.0/0", NAT: "nat-0aa4b5c6d7e8f9a0b", NATZone: "us-west-2a",
			Zones: []string{"us-west-2a"}, Subnets: []string{"subnet-0ab1c2d3e4f5a6b7c"},
		},
	}
}

// offer is the plan in a state.
func offer(state incident.OfferState, changes ...func(*incident.Offer)) incident.Offer {
	of := incident.Offer{
		Plan: thePlan(), Hash: thePlan().Hash(), Policy: optin.Approve, State: state,
		Made: began.Add(5 * time.Second), Expires: began.Add(time.Hour),
	}
	switch state {
	case incident.Offered, incident.Expired, incident.Outdated:
	default:
		of.By, of.Decided = oncall(), began.Add(11*time.Minute)
	}
	switch state {
	case incident.Acted, incident.Helped, incident.Unhelpful:
		of.Run = run(of, action.Done)
	}
	switch state {
	case incident.Helped, incident.Unhelpful:
		of.Verified = began.Add(12 * time.Minute)
	}
	for _, c := range changes {
		c(&of)
	}
	return of
}

func run(of incident.Offer, r action.Status) *remedy.Run {
	d := &remedy.Run{
		Format: 1, ID: of.Hash + "-1", Plan: of.Plan, Hash: of.Hash, Policy: of.Policy, ApprovedBy: of.By.ID, Approved: of.Decided,
		Began: began.Add(11*time.Minute + 2*time.Second), Ended: began.Add(11*time.Minute + 4*time.Second), Result: r,
	}
	switch r {
	case action.Done:
		d.Changed, d.Requests = []string{"rtb-0cd2e3f4a5b6c7d8e"}, []string{"8f7a6c10-9d64-4e5f-8c1e-2d9b8f7a6c10"}
	case action.Refused:
		d.Reason, d.Says = "nat-not-available", "nat-0aa4b5c6d7e8f9a0b is failed since 15:09 UTC"
	case action.Failed:
		d.Reason, d.Says, d.Requests = "AccessDenied", "AWS refused ec2:CreateRoute: Rollcall's role is not allowed to do it", []string{"8f7a6c10-9d64-4e5f-8c1e-2d9b8f7a6c10"}
	}
	return d
}

func offers(list ...incident.Offer) func(*incident.Incident) {
	return func(i *incident.Incident) { i.Offers = list }
}

func trail() *report.RecentChanges {
	return &report.RecentChanges{
		From: began.Add(-40 * time.Minute), To: began, LastGood: "i-0aaa1111bbbb2222c", Open: true,
		Changes: []report.Change{
			{ID: "1", At: began.Add(-2 * time.Minute), Call: "DeleteRoute", Resource: "rtb-0cd2e3f4a5b6c7d8e", Actor: "alice", Error: "UnauthorizedOperation"},
			{ID: "2", At: began.Add(-17 * time.Minute), Call: "AssociateRouteTable", Resource: "subnet-0ab1c2d3e4f5a6b7c", Actor: "ci-deploy", By: "cloudformation.amazonaws.com"},
			{ID: "3", At: began.Add(-18 * time.Minute), Call: "CreateRouteTable", Resource: "rtb-0cd2e3f4a5b6c7d8e", Actor: "ci-deploy", By: "cloudformation.amazonaws.com"},
		},
	}
}

// actScenes are what people and remedies do about an incident.
func actScenes() []scene {
	missed := with(incidentOf(noEgress(), launches(12, report.Missed)), func(i *incident.Incident) { i.Changed = began.Add(11 * time.Minute) })
	told := func(why incident.Reason, change func(*incident.Note)) incident.Note {
		n := incident.Note{ID: string(why), Reason: why, Times: 1, At: began.Add(11 * time.Minute)}
		if change != nil {
			change(&n)
		}
		return n
	}
	taken := func(i *incident.Incident) { i.Ack = &incident.Ack{By: oncall(), At: began.Add(3 * time.Minute)} }
	muted := func(i *incident.Incident) {
		i.Mute = &incident.Mute{By: dev(), At: began.Add(4 * time.Minute), Until: began.Add(4*time.Minute + 24*time.Hour)}
	}
	tried := func(r action.Status) incident.Offer {
		return offer(incident.Acted, func(of *incident.Offer) { of.Run = run(*of, r) })
	}
	auto := func(of *incident.Offer) { of.Policy, of.By = optin.Auto, report.User{} }
	trailed := func(i *incident.Incident) { i.RecentChanges = trail() }
	blindTrail := func(i *incident.Incident) {
		i.RecentChanges = &report.RecentChanges{To: began, Blind: "cloudtrail:LookupEvents AccessDenied"}
	}
	often := func(i *incident.Incident) {
		i.RecentChanges = trail()
		i.RecentChanges.Changes[0].Times, i.RecentChanges.Changes[1].Times, i.RecentChanges.Changes[2].Times = 3, 2, 1
	}
	nothing := func(i *incident.Incident) {
		i.RecentChanges = &report.RecentChanges{From: began.Add(-time.Hour), To: began}
	}
	proved := with(missed, provedAt, trailed, offers(offer(incident.Helped)))
	stranger := with(missed, offers(offer(incident.Offered)), taken, func(i *incident.Incident) { i.Ack.By = report.User{ID: "<!channel>", Name: "<!here> & co"} })
	many := with(missed, func(i *incident.Incident) {
		i.RecentChanges = trail()
		for n := range 60 {
			i.RecentChanges.Changes = append(i.RecentChanges.Changes, report.Change{ID: fmt.Sprint(n), At: began.Add(-time.Hour - time.Duration(n)*time.Minute), Call: "ModifySubnetAttribute", Resource: "subnet-0ab1c2d3e4f5a6b7c", Actor: strings.Repeat("long-name-", 9), By: "terraform"})
		}
		i.RecentChanges.More = 140
	})
	return append(append(planScenes(told), deferredScenes(told)...), []scene{
		{"act-nothing-yet", missed, nil},
		{"act-offered", with(missed, offers(offer(incident.Offered)), trailed), []incident.Note{
			note(missed, incident.Opened, missed.Opened), told(incident.IsProposed, nil), told(incident.HasChanges, nil),
			told(incident.IsReminded, func(n *incident.Note) { n.Mention = []string{"S0LEADS001", "U0ONCALL01", "here"} }),
		}},
		{"act-acknowledged", with(missed, offers(offer(incident.Offered)), taken), []incident.Note{told(incident.IsCalled, func(n *incident.Note) { n.Mention = []string{"S0LEADS001"} })}},
		{"act-taken-over", with(missed, offers(offer(incident.Offered)), func(i *incident.Incident) {
			from := oncall()
			i.Ack = &incident.Ack{By: dev(), At: began.Add(16 * time.Minute), From: &from}
		}), []incident.Note{told(incident.IsTakenOver, func(n *incident.Note) {
			from := oncall()
			n.Ack = &incident.Ack{By: dev(), At: began.Add(16 * time.Minute), From: &from}
		})}},
		{"act-muted", with(missed, offers(offer(incident.Offered)), taken, muted), nil},
		{"act-mute-over", with(missed, muted, func(i *incident.Incident) { i.Changed = began.Add(25 * time.Hour) }), nil},
		{"act-approved", with(missed, offers(offer(incident.Approved)), taken), []incident.Note{told(incident.IsApproved, nil)}},
		{"act-auto", with(missed, offers(offer(incident.Approved, auto))), []incident.Note{told(incident.IsApproved, nil)}},
		{"act-refused", with(missed, offers(offer(incident.RefusedByUs))), []incident.Note{told(incident.IsRefused, nil)}},
		{"act-expired", with(missed, offers(offer(incident.Expired))), nil},
		{"act-expired-unseen", with(missed, offers(offer(incident.Offered, func(of *incident.Offer) { of.Expires = began.Add(10 * time.Minute) }))), nil},
		{"act-outdated", with(missed, offers(offer(incident.Outdated, func(of *incident.Offer) { of.Says = "nat-0aa4b5c6d7e8f9a0b is no longer available" }))), nil},
		{"act-done", with(missed, offers(tried(action.Done)), trailed), []incident.Note{told(incident.IsApproved, nil), told(incident.RemedyDone, nil)}},
		{"act-done-auto", with(missed, offers(offer(incident.Acted, auto))), []incident.Note{told(incident.RemedyDone, nil)}},
		{"act-not-done", with(missed, offers(tried(action.Refused))), []incident.Note{told(incident.RemedyFailed, nil)}},
		{"act-failed", with(missed, offers(tried(action.Failed))), []incident.Note{told(incident.RemedyFailed, nil)}},
		{"act-partly", with(missed, offers(tried(action.Partly))), []incident.Note{told(incident.RemedyFailed, nil)}},
		{"act-uncertain", with(missed, offers(tried(action.Uncertain))), []incident.Note{told(incident.RemedyFailed, nil)}},
		{"act-unhelpful", with(missed, offers(offer(incident.Unhelpful))), []incident.Note{told(incident.IsUnhelpful, nil)}},
		{"act-cleared", with(missed, clearedAt, offers(offer(incident.Helped)), taken), []incident.Note{told(incident.IsVerified, nil), note(missed, incident.CauseGone, began.Add(12*time.Minute))}},
		{"act-proved", proved, []incident.Note{note(proved, incident.IsProved, proved.Resolved)}},
		{"act-proved-auto", with(proved, offers(offer(incident.Helped, auto))), nil},
		{"act-proved-by-others", with(proved, offers(offer(incident.Acted)), func(i *incident.Incident) { i.RecentChanges = nil }), nil},
		{"act-second-offer", with(missed, offers(offer(incident.Expired), offer(incident.Offered))), nil},
		{"act-blind-trail", with(missed, blindTrail), []incident.Note{told(incident.HasChanges, nil)}},
		{"act-often-changed", with(missed, often), []incident.Note{told(incident.HasChanges, nil)}},
		{"act-no-changes", with(missed, nothing), []incident.Note{told(incident.HasChanges, nil)}},
		{"act-many-changes", many, []incident.Note{told(incident.HasChanges, nil)}},
		{"act-stranger", stranger, nil},
	}...)
}
