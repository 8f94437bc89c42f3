package slack

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	slackgo "github.com/slack-go/slack"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/slack/button"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
	"rollcall/stage/fakeslack"
	"rollcall/tools/expect"
	"rollcall/tools/goldens"
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
		Route: &remedy.AddNATRoute{
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
		of.Run = run(of, remedy.Done)
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

func run(of incident.Offer, r remedy.Status) *remedy.Run {
	d := &remedy.Run{
		Format: 1, ID: of.Hash + "-1", Plan: of.Plan, Hash: of.Hash, Policy: of.Policy, ApprovedBy: of.By.ID, Approved: of.Decided,
		Began: began.Add(11*time.Minute + 2*time.Second), Ended: began.Add(11*time.Minute + 4*time.Second), Result: r,
	}
	switch r {
	case remedy.Done:
		d.Changed, d.Requests = []string{"rtb-0cd2e3f4a5b6c7d8e"}, []string{"8f7a6c10-9d64-4e5f-8c1e-2d9b8f7a6c10"}
	case remedy.Refused:
		d.Reason, d.Says = "nat-not-available", "nat-0aa4b5c6d7e8f9a0b is failed since 15:09 UTC"
	case remedy.Failed:
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
	tried := func(r remedy.Status) incident.Offer {
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
		{"act-offered-follows", with(missed, offers(offer(incident.Offered, func(of *incident.Offer) {
			of.Follows = "Then it replaces instances that have not joined 3 min after the cause is gone (policy auto)."
		}))), nil},
		{"act-offered", with(missed, offers(offer(incident.Offered)), trailed), []incident.Note{
			note(missed, incident.Opened, missed.Opened), told(incident.IsProposed, nil), told(incident.HasChanges, nil),
			told(incident.IsReminded, func(n *incident.Note) { n.Mention = []string{"S0LEADS001", "U0ONCALL01", "here"} }),
			told(incident.IsEscalated, func(n *incident.Note) { n.Mention = []string{"S0LEADS001"} }),
		}},
		{"act-acknowledged", with(missed, offers(offer(incident.Offered)), taken), []incident.Note{told(incident.IsCalled, func(n *incident.Note) { n.Mention = []string{"S0LEADS001"} })}},
		{"act-taken-over", with(missed, offers(offer(incident.Offered)), func(i *incident.Incident) {
			from := oncall()
			i.Ack = &incident.Ack{By: dev(), At: began.Add(16 * time.Minute), From: &from}
		}), []incident.Note{told(incident.IsTakenOver, func(n *incident.Note) {
			from := oncall()
			n.Ack = &incident.Ack{By: dev(), At: began.Add(16 * time.Minute), From: &from}
		})}},
		{"act-acknowledged-elsewhere", with(missed, func(i *incident.Incident) {
			i.Ack = &incident.Ack{By: report.User{Name: "<!channel> *Ana* <https://evil.example|Example>\u202e"}, At: began.Add(16 * time.Minute), In: "PagerDuty"}
		}), []incident.Note{told(incident.IsAlertResolved, func(n *incident.Note) {
			n.Ack = &incident.Ack{At: began.Add(18 * time.Minute), In: "PagerDuty"}
		})}},
		{"act-muted", with(missed, offers(offer(incident.Offered)), taken, muted), nil},
		{"act-mute-over", with(missed, muted, func(i *incident.Incident) { i.Changed = began.Add(25 * time.Hour) }), nil},
		{"act-approved", with(missed, offers(offer(incident.Approved)), taken), []incident.Note{told(incident.IsApproved, nil)}},
		{"act-auto", with(missed, offers(offer(incident.Approved, auto))), []incident.Note{told(incident.IsApproved, nil)}},
		{"act-refused", with(missed, offers(offer(incident.RefusedByUs))), []incident.Note{told(incident.IsRefused, nil)}},
		{"act-expired", with(missed, offers(offer(incident.Expired))), nil},
		{"act-expired-unseen", with(missed, offers(offer(incident.Offered, func(of *incident.Offer) { of.Expires = began.Add(10 * time.Minute) }))), nil},
		{"act-outdated", with(missed, offers(offer(incident.Outdated, func(of *incident.Offer) { of.Says = "nat-0aa4b5c6d7e8f9a0b is no longer available" }))), nil},
		{"act-done", with(missed, offers(tried(remedy.Done)), trailed), []incident.Note{told(incident.IsApproved, nil), told(incident.RemedyDone, nil)}},
		{"act-done-auto", with(missed, offers(offer(incident.Acted, auto))), []incident.Note{told(incident.RemedyDone, nil)}},
		{"act-not-done", with(missed, offers(tried(remedy.Refused))), []incident.Note{told(incident.RemedyFailed, nil)}},
		{"act-failed", with(missed, offers(tried(remedy.Failed))), []incident.Note{told(incident.RemedyFailed, nil)}},
		{"act-partly", with(missed, offers(tried(remedy.Partly))), []incident.Note{told(incident.RemedyFailed, nil)}},
		{"act-uncertain", with(missed, offers(tried(remedy.Uncertain))), []incident.Note{told(incident.RemedyFailed, nil)}},
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

const smallSubnet = "subnet-0ab1c2d3e4f5a6b7c"

// leaked is what subnet-watch finds of the ips story.
func leaked(confidence catalog.Confidence) diagnosis.Cause {
	return diagnosis.Cause{
		Check: "ip/leaked-interfaces", Confidence: confidence, Resource: smallSubnet, Covers: []string{smallSubnet},
		Title: "4 terminated nodes hold 31 addresses of " + smallSubnet,
		Why:   "12 interfaces that the VPC CNI made on 4 nodes are still there and attached to nothing; the nodes are terminated, the first since 11:42 UTC. They hold 31 of the 251 addresses of " + smallSubnet + " (10.42.3.0/24, us-west-2a), and 3 are free. A new m5.large takes 10 as it starts.",
		Evidence: []finding.Evidence{
			{What: "12 interfaces", Value: "available, described aws-K8S-i-…"},
			{What: "Nodes", Value: "i-0aa1c2d3e4f5a6b71; i-0aa1c2d3e4f5a6b72; i-0aa1c2d3e4f5a6b73; i-0aa1c2d3e4f5a6b74"},
			{What: "Cleanup", Value: "would delete 11; 1 names no cluster"},
		},
		Fix: finding.Fix{
			Text:    "Let eni-cleanup delete them: it requires proof that the node is gone.",
			Command: `make deploy … SET="cleanup=prod=delete"`,
			Console: "https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#SubnetDetails:subnetId=" + smallSubnet,
		},
		Nodegroups: []string{"workers"},
	}
}

func foreseen() diagnosis.Cause {
	return diagnosis.Cause{
		Check: "ip/runway", Confidence: catalog.Likely, Resource: smallSubnet, Covers: []string{smallSubnet},
		Title:      smallSubnet + " runs out of addresses at about 16:40 UTC",
		Why:        "Since 09:10 UTC it lost 42 addresses an hour, from 1,204 to 310. At that pace one more node fits until 16:40 UTC (15:50 to 18:10).",
		Evidence:   []finding.Evidence{{What: "Free", Value: "1,204 at 09:10; 871 at 12:00; 310 at 14:59"}},
		Fix:        finding.Fix{Text: "Look at what takes them: more pods, more nodes, or interfaces that nothing uses.", Command: "aws ec2 describe-network-interfaces --region us-west-2 --filters Name=subnet-id,Values=" + smallSubnet},
		Nodegroups: []string{"workers", "batch"},
	}
}

func empty() diagnosis.Cause {
	return diagnosis.Cause{
		Check: "ip/subnet-exhausted", Confidence: catalog.Certain, Resource: smallSubnet, Covers: []string{smallSubnet},
		Title:      smallSubnet + " has no free address",
		Why:        smallSubnet + " (10.42.3.0/24, us-west-2a) has no free address. Nothing more can be launched there, and pods on its nodes get no addresses.",
		Evidence:   []finding.Evidence{{What: "Addresses of " + smallSubnet, Value: "0 free; one more m5.large needs 10"}},
		Fix:        finding.Fix{Text: "Let the group launch into a subnet other than " + smallSubnet + "."},
		Nodegroups: []string{"workers"},
	}
}

// pictured gives an incident its chart.
func pictured(i *incident.Incident) {
	i.Chart = &incident.Chart{File: "F0STAGE0001", At: i.Changed, Alt: "Free addresses of " + smallSubnet + ": 220 at 09:00, 3 at 14:59."}
}

func gaveWayTo(check checkid.ID) func(*incident.Incident) {
	return func(i *incident.Incident) {
		ended(incident.Superseded)(i)
		i.Cleared, i.ClearedBy = time.Time{}, nil
		i.By = &report.Key{Cluster: "prod", Check: check, Resource: smallSubnet}
	}
}

func came(value string) func(*incident.Incident) {
	return evident(smallSubnet, value)
}

// evident is the evidence of the check that passed, under the name that the check
// gives it.
func evident(what, value string) func(*incident.Incident) {
	return func(i *incident.Incident) { i.ClearedBy = []finding.Evidence{{What: what, Value: value}} }
}

const thirtyOne = "31 addresses back; 12 interfaces of 4 terminated nodes"

// wellAt ends an incident by itself after 14 minutes.
func wellAt(i *incident.Incident) {
	ended(incident.Proved)(i)
	i.Cleared = began.Add(14 * time.Minute)
	i.Resolved, i.Changed = i.Cleared.Add(2*time.Second), i.Cleared
}

func addressScenes() []scene {
	leaking := with(incidentOf(leaked(catalog.Likely), nil), pictured)
	starving := with(incidentOf(leaked(catalog.Certain), launches(3, report.Missed)), pictured, func(i *incident.Incident) {
		i.Began, i.Changed = began.Add(-3*time.Hour), began.Add(10*time.Minute)
		i.Effects = []incident.Effect{
			{Check: "ip/runway", Title: foreseen().Title, Since: began.Add(-80 * time.Minute), Last: began.Add(-time.Minute)},
			{Check: "ip/subnet-exhausted", Told: began.Add(10 * time.Minute), Title: empty().Title, Since: began.Add(time.Minute), Last: began.Add(2 * time.Minute)},
			{Check: "launch/subnet-full", Title: "workers cannot launch: the subnet has no free address", Since: began.Add(2 * time.Minute), Last: began.Add(2 * time.Minute)},
			{Check: "node/cni-not-ready", Title: "3 instances of workers: the network plugin does not come up", Since: began.Add(6 * time.Minute), Last: began.Add(6 * time.Minute)},
			{Check: "spot/burst-exceeds-subnet", Told: began, Apart: true},
		}
	})
	nobody := with(incidentOf(leaked(catalog.Certain), nil), pictured, func(i *incident.Incident) {
		i.Effects = []incident.Effect{{Check: "ip/subnet-exhausted", Told: began}}
	})
	crowded := with(incidentOf(leaked(catalog.Certain), launches(4, report.Joined)), pictured, func(i *incident.Incident) {
		i.Effects = []incident.Effect{{Check: "ip/subnet-exhausted", Told: began, Title: empty().Title}}
	})
	runsOut := with(incidentOf(foreseen(), nil), pictured)
	blocks := incidentOf(diagnosis.Cause{
		Check: "ip/fragmented", Confidence: catalog.Certain, Resource: smallSubnet, Covers: []string{smallSubnet}, Nodegroups: []string{"workers"},
		Title: smallSubnet + " has no free /28 for a prefix",
		Why:   "aws-node gives pods addresses from whole blocks of 16 (prefix delegation). " + smallSubnet + " has 87 free addresses, and no 16 of them make a block.",
		Fix:   finding.Fix{Text: "Reserve a range of the subnet for prefixes, so that single addresses no longer break the blocks.", Command: "aws ec2 create-subnet-cidr-reservation --region us-west-2 --subnet-id " + smallSubnet + " --reservation-type prefix --cidr 10.42.3.128/25"},
	}, nil)
	large := incidentOf(diagnosis.Cause{
		Check: "ip/scale-out-will-not-fit", Confidence: catalog.Likely, Resource: smallSubnet, Covers: []string{smallSubnet}, Nodegroups: []string{"workers", "batch"},
		Title: smallSubnet + " cannot hold what 2 groups may launch",
		Why:   "2 groups can launch 14 more nodes here: 9 m5.4xlarge x 60 + 5 m5.large x 20 = 640 addresses. 251 are free, enough for 4 of them.",
		Fix:   finding.Fix{Text: "Give the groups a larger subnet, or lower their maximum."},
	}, nil)
	still := with(incidentOf(empty(), launches(2, report.Missed)), pictured, func(i *incident.Incident) { i.Changed = began.Add(16 * time.Minute) })
	joined := incident.Note{ID: "joined-ip-subnet-exhausted", Reason: incident.HasJoined, At: began.Add(time.Minute), Says: empty().Title, Evidence: empty().Evidence}
	proved := with(starving, provedAt, came(thirtyOne))
	return []scene{
		{"leak", leaking, []incident.Note{note(leaking, incident.Opened, leaking.Opened)}},
		{"leak-empties-subnet", nobody, nil},
		{"leak-all-joined", crowded, nil},
		{"leak-starves-nodes", starving, []incident.Note{joined, note(starving, incident.HasMissed, began.Add(5*time.Minute))}},
		{"leak-cleared", with(starving, clearedAt, came(thirtyOne)), []incident.Note{note(with(starving, came(thirtyOne)), incident.CauseGone, began.Add(12*time.Minute))}},
		{"leak-proved", proved, []incident.Note{note(proved, incident.IsProved, proved.Resolved)}},
		{"leak-well", with(leaking, wellAt, came(thirtyOne)), []incident.Note{note(with(leaking, wellAt, came(thirtyOne)), incident.IsProved, began.Add(14*time.Minute))}},
		{"leak-little-left", with(leaking, wellAt, func(i *incident.Incident) {
			i.ClearedBy = []finding.Evidence{{What: incident.Left, Value: "1 terminated node holds 2 addresses of " + smallSubnet}}
		}), nil},
		{"leak-and-too-small", with(starving, clearedAt, came(thirtyOne), func(i *incident.Incident) {
			cleared := i.Cleared
			gaveWayTo("ip/subnet-exhausted")(i)
			i.Cleared = cleared
		}), nil},
		{"still-too-small", still, nil},
		{"runway", runsOut, []incident.Note{note(runsOut, incident.Opened, runsOut.Opened)}},
		{"runway-again", with(runsOut, func(i *incident.Incident) { i.Number = 2 }), nil},
		{"runway-over", with(runsOut, wellAt, evident("Free addresses of "+smallSubnet, "1,204 at 15:13 UTC, and rising")), nil},
		{"runway-came-true", with(runsOut, gaveWayTo("ip/subnet-exhausted")), []incident.Note{note(with(runsOut, gaveWayTo("ip/subnet-exhausted")), incident.IsSuperseded, began.Add(72*time.Minute))}},
		{"runway-by-leak", with(runsOut, gaveWayTo("ip/leaked-interfaces")), nil},
		{"empty-by-leak", with(incidentOf(empty(), launches(2, report.Missed)), gaveWayTo("ip/leaked-interfaces")), nil},
		{"blocks", blocks, nil},
		{"blocks-again", with(blocks, wellAt, evident("Blocks of "+smallSubnet, "6 of 16 whole /28 blocks free; 140 addresses free, 111 held by 12 interfaces, 0 kept by reservations")), nil},
		{"scale-out", large, nil},
		{"scale-out-fits", with(large, wellAt, evident("Addresses of "+smallSubnet, "2 groups can launch 4 more nodes whose pods get addresses here: 3 m5.4xlarge x 60 for pods + 1 m5.large x 20 for pods = 200; 251 free")), nil},
	}
}

// dummy is a picture of the shape that charts have.
func dummy(t *testing.T) []byte {
	t.Helper()
	const w, h = 1600, 520
	m := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Gray{0xdd}, color.RGBA{0x1d, 0x6f, 0xa5, 0xff}})
	for x := range w {
		for y := h - 90; y < h-86; y++ {
			m.SetColorIndex(x, y, 1)
		}
		top := 60 + x*(h-150)/w
		for y := top; y < top+8; y++ {
			m.SetColorIndex(x, y, 2)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The first lines, as people read them in a list of messages.
func TestFirstLinesOfAddresses(t *testing.T) {
	want := map[string]string{
		"leak-proved":      "✅ prod / workers · " + smallSubnet + " has its addresses back after 3 h 14 min: 31 addresses, 12 interfaces of 4 terminated nodes; a new node is Ready",
		"leak-well":        "✅ prod / workers · " + smallSubnet + " has its addresses back after 14 min: 31 addresses, 12 interfaces of 4 terminated nodes",
		"runway-over":      "✅ prod / batch and workers · " + smallSubnet + " no longer runs out: 1,204 free at 15:13 UTC, and rising",
		"runway-came-true": "⚪ prod / batch and workers · closed, as predicted, " + smallSubnet + " has too few addresses now (see its message)",
	}
	for _, s := range addressScenes() {
		if w, ok := want[s.name]; ok && Render(s.incident, s.options()).Text != w {
			t.Errorf("%s: %s\nwant %s", s.name, Render(s.incident, s.options()).Text, w)
		}
	}
}

// The picture stands below what is to be done, and not where the incident is closed for
// another one.
func TestPictureStandsBelowTheAction(t *testing.T) {
	for _, s := range addressScenes() {
		text := read([]slackapi.Message{Render(s.incident, s.options())})
		before, _, shown := strings.Cut(text, "(picture F0STAGE0001)\n")
		if want := s.incident.Chart != nil && s.incident.Resolution != incident.Superseded; shown != want {
			t.Errorf("%s: shown %v, want %v", s.name, shown, want)
		}
		if s.incident.State == incident.Open && shown && !strings.Contains(before, "\nDo\u2003") {
			t.Errorf("%s: before the picture comes %q", s.name, before)
		}
	}
}

func answers() []incident.Answer {
	at := began.Add(10 * time.Minute)
	return []incident.Answer{
		{Reason: incident.AnswerApproved, Remedy: "add-nat-route"}, {Reason: incident.AnswerRefused, Remedy: "add-nat-route"}, {Reason: incident.AnswerAcknowledged}, {Reason: incident.AnswerMuted, Until: at.Add(4 * time.Hour)},
		{Reason: incident.AnswerUnmuted}, {Reason: incident.AnswerChecking},
		{Reason: incident.NotAllowed}, {Reason: incident.NobodyAllowed}, {Reason: incident.GroupNotRead, Says: "S0LEADS001: missing_scope, usergroups:read"},
		{Reason: incident.NoSuchPlan}, {Reason: incident.PlanChanged, Says: "nat-0aa4 is no longer available"}, {Reason: incident.PlanExpired, Until: at},
		{Reason: incident.AlreadyDecided, By: oncall(), When: at, State: incident.Approved}, {Reason: incident.AlreadyDecided, By: dev(), When: at, State: incident.RefusedByUs},
		{Reason: incident.AlreadyDecided, When: at, State: incident.Helped}, {Reason: incident.AlreadyDecided},
		{Reason: incident.IncidentClosed, When: at}, {Reason: incident.IncidentNotFound}, {Reason: incident.EarlierOpening, When: at}, {Reason: incident.UnknownAction},
		{Reason: incident.NoSuchTime}, {Reason: incident.AlreadyTaken, By: oncall(), When: at}, {Reason: incident.NotMuted}, {Reason: incident.AskedJustNow, Until: at},
		{Reason: incident.CauseIsGone}, {Reason: incident.NotNow, Until: began.Add(time.Hour)},
		{Reason: incident.NotResponder}, {Reason: incident.OtherWorkspace}, {Reason: incident.WorkspaceNotRead, Says: "Slack did not answer"}, {Reason: incident.AlreadyYours, When: at},
		{Reason: incident.AnswerTakenOver, By: dev(), When: at}, {Reason: incident.AnswerFeedback}, {Reason: incident.AnswerNoted}, {Reason: incident.NotOver}, {Reason: incident.NoFeedback},
		{Reason: incident.Incomplete}, {Reason: incident.TooLate, When: at}, {Reason: incident.FromFuture, When: at}, {Reason: "something-new"}, {},
	}
}

// TestAnswers keeps the words of every answer beside each other.
func TestAnswers(t *testing.T) {
	var list []slackapi.Message
	for _, a := range answers() {
		m := RenderAnswer(a, began.Add(11*time.Minute))
		for _, problem := range problems(m) {
			t.Errorf("%s: %s", a.Reason, problem)
		}
		if nothing := strings.HasPrefix(m.Text, "Nothing was done."); nothing == a.Done() {
			t.Errorf("%s: %s", a.Reason, m.Text)
		}
		list = append(list, m)
	}
	kept.Sent(t, "answers", wire(t, list))
	kept.Text(t, "answers", []byte(strings.ReplaceAll(read(list), "--- reply", "--- answer")))
}

// TestAnswerToFeedback: below the thanks is room for one line, which comes back with the
// incident that it is of. A key that is too long for the block's id has none.
func TestAnswerToFeedback(t *testing.T) {
	act := incident.ActRecord{Key: scenes()[0].incident.Key, Number: 2, Answer: incident.Answer{Reason: incident.AnswerFeedback}}
	m := AnswerTo(act, began)
	text, err := json.Marshal(m.Blocks)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []struct {
		Type     string `json:"type"`
		ID       string `json:"block_id"`
		Dispatch bool   `json:"dispatch_action"`
		Element  struct {
			Action string `json:"action_id"`
		} `json:"element"`
	}
	if err := json.Unmarshal(text, &blocks); err != nil || len(blocks) != 2 || blocks[1].Type != "input" || !blocks[1].Dispatch {
		t.Fatalf("%v: %s", err, text)
	}
	read, err := button.Read(button.Element{ActionID: blocks[1].Element.Action, BlockID: blocks[1].ID, Value: " it was\nthe proxy\u202e " + strings.Repeat("x", 400)}, nil)
	if err != nil || read.Key != act.Key || read.Number != 2 || read.Action != report.SayMore || !strings.HasPrefix(read.Text, "it was the proxy x") || slacktext.Length(read.Text) > button.MaxText {
		t.Errorf("%+v, %v", read, err)
	}
	act.Key.Resource = strings.Repeat("x", 300)
	if m := AnswerTo(act, began); len(m.Blocks) != 1 {
		t.Errorf("%d blocks", len(m.Blocks))
	}
}

// TestAnswersNeverPastTheLimits: what a person reads comes from outside too.
func TestAnswersNeverPastTheLimits(t *testing.T) {
	for seed := range uint64(60) {
		w := wild{rand.New(rand.NewPCG(seed, 9))}
		for _, a := range answers() {
			a.By, a.When, a.Until, a.Says = w.user(), w.time(), w.time(), w.text(3000)
			for _, problem := range problems(RenderAnswer(a, w.time())) {
				t.Errorf("seed %d, %s: %s", seed, a.Reason, problem)
			}
		}
	}
}

// TestAttached: what a reply leaves out stands in its file, and a reply that
// says everything has none.
func TestAttached(t *testing.T) {
	short := incidentOf(noEgress(), launches(3, report.Missed))
	many := incidentOf(noEgress(), launches(60, report.Missed))
	evidence := func(n, size int) func(*incident.Note) {
		return func(note *incident.Note) {
			note.Evidence = nil
			for range n {
				note.Evidence = append(note.Evidence, finding.Evidence{What: "line", Value: strings.Repeat("x", size) + "END"})
			}
		}
	}
	for _, tt := range []struct {
		name   string
		i      incident.Incident
		why    incident.Reason
		change func(*incident.Note)
		says   string
	}{
		{"short", short, incident.Opened, nil, ""},
		{"many instances", many, incident.Opened, nil, many.Launches[59].Instance},
		{"many lines", short, incident.Opened, evidence(50, 10), "xEND"},
		{"long evidence", short, incident.Opened, evidence(3, 1300), "xEND"},
		{"a long line", short, incident.Opened, evidence(1, 1500), "xEND"},
		{"a long fact", short, incident.Opened, func(n *incident.Note) {
			n.Facts = []report.Fact{{What: "Console", Value: strings.Repeat("boot ", 200) + "last words"}}
		}, "last words"},
		{"few changes", with(short, func(i *incident.Incident) { i.RecentChanges = trail() }), incident.HasChanges, nil, ""},
		{"many changes", with(short, func(i *incident.Incident) {
			i.RecentChanges = trail()
			for range 30 {
				i.RecentChanges.Changes = append(i.RecentChanges.Changes, report.Change{Call: "CreateRoute", Actor: "the-last"})
			}
		}), incident.HasChanges, nil, "the-last"},
		{"a plan", with(short, offers(offer(incident.Offered))), incident.IsProposed, nil, ""},
		{"a long plan", with(short, offers(offer(incident.Offered, func(of *incident.Offer) { of.Plan.Route.NAT = strings.Repeat("n", 3000) + "END" }))), incident.IsProposed, nil, "nEND"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := note(tt.i, tt.why, began)
			if tt.change != nil {
				tt.change(&n)
			}
			f, is := Attached(tt.i, n)
			if is != (tt.says != "") {
				t.Fatalf("a file: %v", is)
			}
			if !strings.Contains(string(f.Data), tt.says) {
				t.Errorf("the file does not say %q:\n%s", tt.says, f.Data)
			}
			left := strings.Contains(read([]slackapi.Message{RenderNote(tt.i, n)}), "left out here") || strings.Contains(read([]slackapi.Message{RenderNote(tt.i, n)}), "too long for this message")
			if left && !is {
				t.Error("the reply leaves something out, and there is no file")
			}
		})
	}
}

func TestAttachedIsBounded(t *testing.T) {
	for seed := range uint64(40) {
		i := wild{rand.New(rand.NewPCG(seed, 5))}.incident()
		for _, n := range i.Delivery.Notes {
			f, is := Attached(i, n)
			if !is {
				continue
			}
			if len(f.Data) == 0 || len(f.Data) > maxAttached+100 || !utf8.Valid(f.Data) || strings.ContainsAny(f.Name, "/\\ \n<>") || f.Title == "" {
				t.Errorf("seed %d: %q, %q, %d bytes", seed, f.Name, f.Title, len(f.Data))
			}
		}
	}
	i := incidentOf(noEgress(), nil)
	n := note(i, incident.Opened, began)
	n.Evidence = []finding.Evidence{{What: "x", Value: strings.Repeat("🔥", maxAttached)}}
	if f, _ := Attached(i, n); len(f.Data) > maxAttached+100 || !strings.Contains(string(f.Data), "cut here") || !utf8.Valid(f.Data) {
		t.Errorf("%d bytes", len(f.Data))
	}
}

// TestShare: the file is a reply in the thread.
func TestShare(t *testing.T) {
	s, c := serveSlack(t, fakeslack.Config{})
	const channel = "C0000000001"
	ts, err := c.Post(t.Context(), channel, plain())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Share(t.Context(), channel, ts, slackapi.File{Name: "all.txt", Title: "All of it", Data: []byte("one\ntwo\n")}); err != nil {
		t.Fatal(err)
	}
	list := s.Messages(channel)
	if len(list) != 1 || len(list[0].Replies) != 1 || len(list[0].Replies[0].Files) != 1 || list[0].Replies[0].Files[0].Title != "All of it" {
		t.Errorf("%+v", list)
	}
}

// calls finds the marks by which the notification's text calls people.
func calls() *regexp.Regexp {
	return regexp.MustCompile(`<(@U0ONCALL01|@U0DEV00001|!subteam\^S0LEADS001|!here)> `)
}

// buttonProblems are the limits that a row of buttons breaks.
func buttonProblems(row *slackgo.ActionBlock) []string {
	var list []string
	within := func(what, s string, most int) {
		if s == "" || slacktext.Length(s) > most {
			list = append(list, what+" of "+slacktext.Number(slacktext.Length(s)))
		}
	}
	within("block_id", row.BlockID, 255)
	if n := len(row.Elements.ElementSet); n == 0 || n > 25 {
		list = append(list, slacktext.Number(n)+" buttons")
	}
	actions := map[string]bool{}
	keyed := false
	for _, e := range row.Elements.ElementSet {
		var action string
		switch e := e.(type) {
		case *slackgo.ButtonBlockElement:
			action, keyed = e.ActionID, true
			within("label", e.Text.Text, maxButtonLabel)
			within("value", e.Value, 2000)
			if _, err := button.Read(button.Element{ActionID: e.ActionID, Value: e.Value}, nil); err != nil {
				list = append(list, err.Error())
			}
			if e.Confirm != nil {
				within("title of a question", e.Confirm.Title.Text, 100)
				within("question", e.Confirm.Text.Text, maxConfirmText)
				within("yes", e.Confirm.Confirm.Text, 30)
				within("no", e.Confirm.Deny.Text, 30)
				list = append(list, textProblems(e.Confirm.Text.Text)...)
			}
		case *slackgo.SelectBlockElement:
			action = e.ActionID
			within("placeholder", e.Placeholder.Text, 150)
			for _, o := range e.Options {
				within("option", o.Text.Text, 75)
				within("option's value", o.Value, 150)
			}
		default:
			list = append(list, "an element that no press is known of")
		}
		if actions[action] {
			list = append(list, "twice the action "+action)
		}
		actions[action] = true
	}
	if !keyed {
		list = append(list, "a menu without a button beside it")
	}
	return list
}

func cleaned(mode string, subnets ...report.CleanupSubnet) report.Summary {
	return report.Summary{
		Format: report.SummaryFormat, Kind: report.CleanupSummary, ID: "cleanup/prod/2026-03-15", By: "eni-cleanup", At: morning,
		Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "prod",
		Cleanup: &report.Cleanup{Mode: mode, Day: morning.Truncate(24 * time.Hour), VPC: "vpc-0ab1c2d3e4f5a6b7c", Subnets: subnets},
	}
}

func cleanupScenes() []summaryScene {
	one := report.CleanupSubnet{Subnet: smallSubnet, Zone: "us-west-2a", Interfaces: 12, Addresses: 31, Nodes: 4, Free: 43}
	two := report.CleanupSubnet{Subnet: "subnet-0bb1c2d3e4f5a6b7c", Zone: "us-west-2b", Interfaces: 75, Addresses: 180, Nodes: 26, Free: 201}
	three := report.CleanupSubnet{Subnet: "subnet-0cc1c2d3e4f5a6b7c", Zone: "us-west-2c", Interfaces: 1, Addresses: 1, Nodes: 1, Free: 7}
	several := cleaned("delete", one, two, three)
	several.Cleanup.Left, several.Cleanup.Nodes = 120, 27 // four of them had interfaces in two of the subnets
	several.Cleanup.Kept = map[string]int{"untagged": 7, "owner lives": 3, "tags disagree": 1, "untagged, and another cluster is in the VPC": 4, "other cluster": 12, "a new reason": 2}
	dry := cleaned("dry-run", one)
	dry.Cleanup.Kept = map[string]int{"untagged": 1}
	stop := cleaned("delete")
	stop.ID += "/stopped"
	stop.Cleanup.Stopped = &report.CleanupStop{Candidates: 480, Interfaces: 900, Share: 50}
	over := cleaned("delete")
	over.ID += "/stopped"
	over.Cleanup.Stopped = &report.CleanupStop{Candidates: 480, Interfaces: 900, Share: 50, Over: morning}
	hostile := cleaned("delete", report.CleanupSubnet{Subnet: "<!channel>", Zone: "`x`\u202e", Interfaces: -1, Addresses: 1 << 40}, one)
	hostile.Cleanup.VPC, hostile.Cleanup.Kept = "vpc-1; rm -rf /", map[string]int{"": 3, strings.Repeat("<!here> ", 400): 1, "in use": -2}
	hostile.Cleanup.Stopped = &report.CleanupStop{}
	huge := cleaned("delete")
	for range 400 {
		huge.Cleanup.Subnets = append(huge.Cleanup.Subnets, one)
	}
	return []summaryScene{
		{"cleanup", cleaned("delete", one), nil, outbox.Picture{}},
		{"cleanup-several", several, nil, outbox.Picture{}},
		{"cleanup-dry-run", dry, nil, outbox.Picture{}},
		{"cleanup-dry-run-several", cleaned("dry-run", one, two), nil, outbox.Picture{}},
		{"cleanup-stopped", stop, nil, outbox.Picture{}},
		{"cleanup-goes-on", over, nil, outbox.Picture{}},
		{"cleanup-hostile", hostile, nil, outbox.Picture{}},
		{"cleanup-huge", huge, nil, outbox.Picture{}},
		{"cleanup-nothing", report.Summary{Kind: report.CleanupSummary, Cluster: "prod", At: morning}, nil, outbox.Picture{}},
	}
}

func TestFirstLinesOfCleanups(t *testing.T) {
	want := map[string]string{
		"cleanup":                 "🧹 prod · 31 addresses back in " + smallSubnet + "; 12 interfaces of 4 terminated nodes",
		"cleanup-several":         "🧹 prod · 212 addresses back in 3 subnets; 88 interfaces of 27 terminated nodes",
		"cleanup-dry-run":         "🧹 prod · dry run would free 31 addresses in " + smallSubnet + "; 12 interfaces of 4 terminated nodes",
		"cleanup-stopped":         "🔴 prod · the cleanup stopped and deleted nothing: 480 of 900 interfaces of vpc-0ab1c2d3e4f5a6b7c look leaked",
		"cleanup-goes-on":         "✅ prod · the cleanup resumed; it had stopped when 480 of 900 interfaces of vpc-0ab1c2d3e4f5a6b7c looked leaked",
		"cleanup-dry-run-several": "🧹 prod · dry run would free 211 addresses in 2 subnets; 87 interfaces of 30 terminated nodes",
	}
	for _, s := range cleanupScenes() {
		if w, ok := want[s.name]; ok {
			if diff := cmp.Diff(w, RenderSummary(s.summary, s.picture).Text); diff != "" {
				t.Errorf("%s (-want +got):\n%s", s.name, diff)
			}
		}
	}
}

// Nothing foreign gets into a command that is to be pasted.
func TestNoForeignTextInCommands(t *testing.T) {
	for _, s := range cleanupScenes() {
		if strings.Contains(read(s.messages()), "aws ec2") && strings.Contains(read(s.messages()), "Values=vpc-1; rm") {
			t.Errorf("%s:\n%s", s.name, read(s.messages()))
		}
	}
}

// Every reason of package leak has words of its own.
func TestReasonsHaveWords(t *testing.T) {
	for _, reason := range []string{
		"leaked", "in use", "not plain", "requester-managed", "other account", "other VPC", "not made by the VPC CNI", "tags disagree", "owner not read", "owner lives",
		"no date", "too young", "other cluster", "untagged", "not seen before", "over the cap", "too many of the VPC's interfaces", "changed",
		"has a public address", "untagged, and another cluster is in the VPC",
	} {
		if got := keptBecause(reason, true); strings.HasPrefix(got, "kept: ") {
			t.Errorf("%q has no words", reason)
		}
	}
}

// The message says that the cluster was deleted, or that this is unknown.
func TestClosedWithoutACure(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		ending     incident.Resolution
		line, note string
	}{
		{incident.ClusterDeleted, "closed, cluster prod was deleted", "EKS has no cluster prod any more"},
		{incident.Unseen, "closed, not checked since 20 November, may still fail", "not checked since 20 November"},
	} {
		inc := incident.Incident{
			Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}, Number: 1, State: incident.Closed, Resolution: test.ending,
			Began: at, Opened: at, Seen: at, Resolved: at.Add(time.Hour),
		}
		inc.Cause.Title = "subnet-1 has no route to the internet"
		if got := Render(inc, Options{Now: inc.Resolved}).Text; !strings.Contains(got, test.line) {
			t.Errorf("the message is %q, want %q in it", got, test.line)
		}
		n := incident.Note{ID: "withdrawn", Reason: incident.IsWithdrawn, At: inc.Resolved}
		if got := RenderNote(inc, n).Text; !strings.Contains(got, test.note) {
			t.Errorf("the note is %q, want %q in it", got, test.note)
		}
	}
	all := incident.Incident{Key: report.Key{Cluster: report.AllClusters, Check: incident.CannotLook, Resource: "eks:ListClusters"}, Number: 1, State: incident.Open, Began: at, Opened: at, Seen: at}
	all.Cause.Title = "cannot read the clusters: eks:ListClusters is denied"
	if got := Render(all, Options{Now: at}).Text; !strings.Contains(got, "all clusters") || !strings.Contains(got, "eks:ListClusters") || strings.Contains(got, report.AllClusters) {
		t.Errorf("the message is %q", got)
	}
	for resource, want := range map[string]string{"eks:ListClusters": "eks:ListClusters works again", report.AssumeRole: "access restored", report.KubernetesAPI: "its Kubernetes API responds again"} {
		over := all
		over.Whose = "payments"
		over.Key.Resource, over.State, over.Resolution, over.Resolved = resource, incident.Closed, incident.Proved, at.Add(15*time.Minute)
		if got := Render(over, Options{Now: over.Resolved}).Text; !strings.Contains(got, "all clusters (payments) · "+want+" after 15 min") {
			t.Errorf("taken back, the message is %q", got)
		}
		if got := RenderNote(over, incident.Note{ID: "proved", Reason: incident.IsProved, At: over.Resolved}).Text; !strings.Contains(got, want+". The checks") {
			t.Errorf("taken back, the reply is %q", got)
		}
	}
}

// deferredScenes are remedies that are tried again later.
func deferredScenes(told func(incident.Reason, func(*incident.Note)) incident.Note) []scene {
	base := with(incidentOf(noEgress(), launches(7, report.Missed)), clearedAt, func(i *incident.Incident) { i.Changed = began.Add(20 * time.Minute) })
	p := thePlan()
	p.Remedy, p.Route, p.Replace = optin.ReplaceInstance, nil, &remedy.ReplaceInstance{Instances: []remedy.Replaced{
		{Instance: "i-0ef3000003a5b0000", Group: "eks-workers-a1b2", Nodegroup: "workers", Zone: "us-west-2a"},
		{Instance: "i-0ef3000003a5b0011", Group: "eks-workers-a1b2", Nodegroup: "workers", Zone: "us-west-2a"},
	}}
	limit := "The limit of 3 an hour (setting remedyLimit) is reached."
	waiting := func(change func(*incident.Offer)) incident.Offer {
		of := incident.Offer{
			Plan: p, Hash: p.Hash(), Policy: optin.Auto, State: incident.Deferred, Made: began.Add(20 * time.Minute),
			After: began.Add(65 * time.Minute), Reason: report.LimitReached, Says: limit, Again: true,
		}
		if change != nil {
			change(&of)
		}
		return of
	}
	rest := waiting(func(of *incident.Offer) {
		of.Plan, of.Hash, of.Says = remedy.Plan{Remedy: optin.ReplaceInstance}, "", "There are 4 more to replace. "+limit
	})
	byPerson := waiting(func(of *incident.Offer) { of.Policy = optin.Approve })
	blind := waiting(func(of *incident.Offer) {
		of.Plan, of.Hash, of.Reason, of.Tried, of.Again = remedy.Plan{Remedy: optin.ReplaceInstance}, "", string(remedy.CouldNotLook), 2, false
		of.Says = "No plan without complete data; not read: nodes, throttled (eks:DescribeCluster)."
	})
	done := offer(incident.Acted, func(of *incident.Offer) {
		of.Policy, of.By, of.Plan, of.Hash = optin.Auto, report.User{}, p, p.Hash()
		of.Run = run(*of, remedy.Done)
		of.Run.Changed = []string{"i-0ef3000003a5b0000", "i-0ef3000003a5b0011"}
	})
	refused := offer(incident.Acted, func(of *incident.Offer) {
		of.Plan, of.Hash = p, p.Hash()
		of.Run = run(*of, remedy.Refused)
		of.Run.Reason, of.Run.Says = report.LimitReached, limit+" It is offered again at 16:04 UTC. This approval is used up; the new offer needs its own."
	})
	again := offer(incident.Offered, func(of *incident.Offer) {
		of.Plan, of.Hash, of.Again = p, p.Hash(), true
		of.Says = "The hourly limit has room again. The earlier approval was not used and has lapsed; approve it again."
	})
	return []scene{
		{"act-deferred-limit", with(base, offers(waiting(nil))), []incident.Note{told(incident.IsDeferred, nil)}},
		{"act-deferred-rest", with(base, offers(done, rest)), []incident.Note{told(incident.RemedyDone, nil), told(incident.IsDeferred, nil)}},
		{"act-deferred-person", with(base, offers(refused, byPerson)), []incident.Note{told(incident.RemedyFailed, nil)}},
		{"act-deferred-offered-again", with(base, offers(refused, again)), []incident.Note{told(incident.IsProposed, nil)}},
		{"act-deferred-blind", with(base, offers(blind)), nil},
	}
}

// The check in the last line leads to its page where there is a site, and what is no check
// leads nowhere; without one the message is as it was.
func TestDocsLink(t *testing.T) {
	const site = "https://docs.example.com/rollcall"
	inc := scenes()[0].incident
	blocks := func(inc incident.Incident, o Options) string {
		text, err := json.Marshal(Render(inc, o).Blocks)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := site + "/checks/" + string(inc.Key.Check) + ".html"
	with := blocks(inc, Options{Docs: site})
	if want := `{"type":"link","url":"` + page + `","text":"` + string(inc.Key.Check) + `","style":{"italic":true}}`; !strings.Contains(with, want) {
		t.Errorf("no link %s in %s", want, with)
	}
	if without := blocks(inc, Options{}); strings.Contains(without, "docs.example.com") || Render(inc, Options{}).Digest() == Render(inc, Options{Docs: site}).Digest() {
		t.Errorf("without a site: %s", without)
	}
	const released = "https://github.com/owner/name/blob/0123456789abcdef0123456789abcdef01234567/docs"
	if got := (Options{Docs: released}).pageOf(inc.Key.Check); got != released+"/checks/"+string(inc.Key.Check)+".md" {
		t.Errorf("the page of a release is %s", got)
	}
	inc.Key.Check = incident.CannotLook
	if got := blocks(inc, Options{Docs: site}); strings.Contains(got, "docs.example.com") {
		t.Errorf("%s is no check, and has a link: %s", inc.Key.Check, got)
	}
}

// Each check has the page that its link names.
func TestEveryCheckHasItsPage(t *testing.T) {
	for _, c := range checks.All() {
		address := Options{Docs: "../../docs"}.pageOf(c.ID)
		if _, err := os.Stat(strings.TrimSuffix(address, ".html") + ".md"); err != nil {
			t.Errorf("%s: %v: run make generate", c.ID, err)
		}
	}
}

// serveSlack starts the stand-in for Slack, with one channel.
func serveSlack(t *testing.T, cfg fakeslack.Config) (*fakeslack.Server, *slackapi.Client) {
	t.Helper()
	cfg.Token = "xoxb-1"
	if cfg.Channels == nil {
		cfg.Channels = []fakeslack.Channel{{ID: "C0000000001", Name: "alerts"}}
	}
	if cfg.Users == nil {
		cfg.Users = []fakeslack.User{{ID: "U0ONCALL01", Name: "oncall"}, {ID: "U0DEV00001", Name: "dev"}, {ID: "U0LEAD0001", Name: "lead"}}
		cfg.Groups = []fakeslack.Group{{ID: "S0LEADS001", Handle: "leads", Users: []string{"U0LEAD0001"}}}
	}
	s, err := fakeslack.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := slackapi.NewClient(s.APIURL(), cfg.Token, &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// plain is a message of one word.
func plain() slackapi.Message {
	block := slackgo.NewRichTextBlock("", slackgo.NewRichTextSection(slackgo.NewRichTextSectionTextElement("plain", nil)))
	return slackapi.Message{Text: "plain", Blocks: []slackgo.Block{block}, Tag: slackapi.Tag{Key: "prod|route/no-egress|rtb-0cd2"}}
}

// TestScenesAreTaken: the stand-in, which is as strict as Slack, takes every
// message of every scene.
func TestScenesAreTaken(t *testing.T) {
	s, c := serveSlack(t, fakeslack.Config{})
	for _, sc := range scenes() {
		postScene(t, c, "C0000000001", sc)
	}
	if got, want := len(s.Messages("C0000000001")), len(scenes()); got != want {
		t.Errorf("%d messages in the channel, want %d", got, want)
	}
}

func postScene(t *testing.T, c *slackapi.Client, channel string, sc scene) {
	t.Helper()
	if s := sc.incident.Chart; s != nil && s.File != "" {
		id, err := c.Upload(t.Context(), slackapi.File{Name: "addresses.png", Title: "Free addresses", Alt: s.Alt, Data: dummy(t)})
		if err != nil {
			t.Fatal(err)
		}
		shown := *s
		shown.File, sc.incident.Chart = id, &shown
	}
	ts, err := c.Post(t.Context(), channel, Render(sc.incident, sc.options()))
	if err != nil {
		t.Fatalf("%s: %v", sc.name, err)
	}
	for _, n := range sc.notes {
		if _, err := c.Reply(t.Context(), channel, ts, RenderNote(sc.incident, n)); err != nil {
			t.Fatalf("%s, %s: %v", sc.name, n.ID, err)
		}
		if f, is := Attached(sc.incident, n); is {
			if _, err := c.Share(t.Context(), channel, ts, f); err != nil {
				t.Fatalf("%s, %s: %v", sc.name, f.Name, err)
			}
		}
	}
}

// TestOneMessageForAnIncident: posted, found after a crash, edited, and closed
// in place.
func TestOneMessageForAnIncident(t *testing.T) {
	s, c := serveSlack(t, fakeslack.Config{})
	const channel = "C0000000001"
	i := incidentOf(noEgress(), launches(1, report.Waiting))
	since := time.Now()

	search := slackapi.Search{Channel: channel, Tag: Render(i, Options{}).Tag, Since: since}
	if found, err := c.Find(t.Context(), search); err != nil || found.TS != "" || found.Unsure != nil {
		t.Fatalf("before the post Find gave %+v, %v", found, err)
	}
	other := i
	other.Key.Resource = "rtb-0ffffffff"
	if _, err := c.Post(t.Context(), channel, Render(other, Options{})); err != nil {
		t.Fatal(err)
	}
	if err := s.Inject(fakeslack.Fault{Method: "chat.postMessage", Times: 1, Reset: true, Applied: true}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Post(t.Context(), channel, Render(i, Options{}))
	var e *slackapi.Error
	if !errors.As(err, &e) || e.Kind != slackapi.Unavailable {
		t.Fatalf("the answer was lost, and Post gave %v, want Unavailable", err)
	}
	found, err := c.Find(t.Context(), search)
	if err != nil || found.TS == "" {
		t.Fatalf("after the lost answer Find gave %+v, %v, want the message", found, err)
	}

	n := note(i, incident.Opened, i.Opened)
	reply, err := c.Reply(t.Context(), channel, found.TS, RenderNote(i, n))
	if err != nil {
		t.Fatal(err)
	}
	inThread := slackapi.Search{Channel: channel, Thread: found.TS, Tag: RenderNote(i, n).Tag, Since: since}
	if got, err := c.Find(t.Context(), inThread); err != nil || got.TS != reply {
		t.Errorf("Find in the thread gave %+v, %v, want %q", got, err, reply)
	}
	inThread.Tag.Note = "missed"
	if got, err := c.Find(t.Context(), inThread); err != nil || got.TS != "" {
		t.Errorf("Find of a reply that is not there gave %+v, %v", got, err)
	}

	closed := with(i, provedAt)
	if err := c.Update(t.Context(), channel, found.TS, Render(closed, Options{})); err != nil {
		t.Fatal(err)
	}
	if again, err := c.Find(t.Context(), search); err != nil || again != found {
		t.Errorf("after the edit Find gave %+v, %v, want %+v", again, err, found)
	}
	var texts []string
	for _, m := range s.Messages(channel) {
		texts = append(texts, m.Text)
	}
	if diff := cmp.Diff(texts, []string{Render(other, Options{}).Text, Render(closed, Options{}).Text}); diff != "" {
		t.Errorf("messages (-got +want):\n%s", diff)
	}
	if err := c.Update(t.Context(), channel, "1.000001", Render(closed, Options{})); !errors.As(err, &e) || e.Kind != slackapi.MessageGone {
		t.Errorf("an edit of a message that is not there gave %v, want MessageGone", err)
	}
}

// TestFindAmongMany turns pages.
func TestFindAmongMany(t *testing.T) {
	_, c := serveSlack(t, fakeslack.Config{})
	const channel = "C0000000001"
	i := incidentOf(noEgress(), nil)
	want, err := c.Post(t.Context(), channel, Render(i, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for range 250 {
		if _, err := c.Post(t.Context(), channel, plain()); err != nil {
			t.Fatal(err)
		}
	}
	got, err := c.Find(t.Context(), slackapi.Search{Channel: channel, Tag: Render(i, Options{}).Tag, Since: time.Now().Add(-time.Hour)})
	if err != nil || got.TS != want {
		t.Errorf("Find gave %+v, %v, want %q", got, err, want)
	}
	got, err = c.Find(t.Context(), slackapi.Search{Channel: channel, Tag: Render(i, Options{}).Tag, Since: time.Now().Add(time.Hour)})
	if err != nil || got.TS != "" {
		t.Errorf("Find of later messages gave %+v, %v, want none", got, err)
	}
}

func TestWithoutScopeOrInvitation(t *testing.T) {
	_, c := serveSlack(t, fakeslack.Config{Scopes: []string{"chat:write"}})
	found, err := c.Find(t.Context(), slackapi.Search{Channel: "C0000000001", Tag: plain().Tag})
	if err != nil || found.Unsure == nil || found.Unsure.Scope != "channels:history" {
		t.Errorf("Find gave %+v, %v, want Unsure", found, err)
	}
	_, c = serveSlack(t, fakeslack.Config{Channels: []fakeslack.Channel{{ID: "C2", Name: "absent", BotAbsent: true}}})
	var e *slackapi.Error
	if _, err := c.Post(t.Context(), "C2", plain()); !errors.As(err, &e) || e.Kind != slackapi.Channel || !strings.Contains(err.Error(), "invite the bot") {
		t.Errorf("Post into a channel without the bot gave %v, want Channel", err)
	}
	if _, err := c.Post(t.Context(), "C3", plain()); !errors.As(err, &e) || e.Kind != slackapi.Channel {
		t.Errorf("Post into no channel gave %v, want Channel", err)
	}
}

func TestBroadcastIsShownInTheChannel(t *testing.T) {
	s, c := serveSlack(t, fakeslack.Config{
		Users:  []fakeslack.User{{ID: "U0ONCALL01", Name: "oncall"}, {ID: "U0DANA0001", Name: "Dana Weber"}},
		Groups: []fakeslack.Group{{ID: "S0ONCALL01", Handle: "platform-oncall", Users: []string{"U0ONCALL01"}}},
	})
	ts, err := c.Post(t.Context(), "C0000000001", plain())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Broadcast(t.Context(), "C0000000001", ts, RenderNote(incident.Incident{Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-0a"}}, incident.Note{
		ID: "called", Reason: incident.IsCalled, Mention: []string{"S0ONCALL01", "U0DANA0001", "here"},
	})); err != nil {
		t.Fatal(err)
	}
	list := s.Messages("C0000000001")
	if len(list) != 2 || len(list[0].Replies) != 1 || !list[1].Broadcast || list[1].ThreadTS != ts {
		t.Fatalf("%d messages, want the reply in the channel too", len(list))
	}
	for _, want := range []string{`"usergroup_id":"S0ONCALL01"`, `"user_id":"U0DANA0001"`, `"range":"here"`} {
		if blocks := string(list[0].Replies[0].Blocks); !strings.Contains(blocks, want) {
			t.Errorf("no %s in %s", want, blocks)
		}
	}
}

// TestGallery posts every scene for people to look at: with ROLLCALL_GALLERY
// naming a file it writes the page's address there, and keeps the page up until
// the file is deleted.
func TestGallery(t *testing.T) {
	file := os.Getenv("ROLLCALL_GALLERY")
	s, c := serveSlack(t, fakeslack.Config{Now: func() time.Time { return began.Add(20 * time.Minute) }})
	only := os.Getenv("ROLLCALL_GALLERY_SCENES")
	for _, sc := range scenes() {
		if only == "" || strings.Contains(","+only+",", ","+sc.name+",") {
			postScene(t, c, "C0000000001", sc)
		}
	}
	if file == "" {
		return
	}
	hold(t, file, s.URL())
}

// hold writes a page's address to a file, and waits until the file is deleted.
func hold(t *testing.T, file, url string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(url+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			return
		}
	}
}

var (
	update = flag.Bool("update", false, "write the golden files anew")
	kept   = goldens.New("testdata", "slack", update)
)

// TestGolden holds every scene: how it reads, and the blocks as they are sent.
func TestGolden(t *testing.T) {
	names := append([]string{"answers"}, slices.Collect(maps.Keys(askedFor()))...)
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			messages := []slackapi.Message{Render(s.incident, s.options())}
			for _, n := range s.notes {
				messages = append(messages, RenderNote(s.incident, n))
			}
			kept.Sent(t, s.name, wire(t, messages))
			kept.Text(t, s.name, []byte(read(messages)))
		})
		names = append(names, s.name)
	}
	kept.Only(t, names...)
}

// wire writes messages as they are sent.
func wire(t *testing.T, messages []slackapi.Message) []byte {
	t.Helper()
	type sent struct {
		Text     string                `json:"text"`
		Blocks   []slackgo.Block       `json:"blocks"`
		Metadata slackgo.SlackMetadata `json:"metadata"`
	}
	var out []sent
	for _, m := range messages {
		out = append(out, sent{m.Text, m.Blocks, m.Tag.Metadata()})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(out); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read writes messages as a reader in UTC sees them.
func read(messages []slackapi.Message) string {
	var b strings.Builder
	for n, m := range messages {
		if n > 0 {
			fmt.Fprintf(&b, "\n--- reply %d\n", n)
		}
		for _, block := range m.Blocks {
			if image, ok := block.(*slackgo.ImageBlock); ok {
				fmt.Fprintf(&b, "(picture %s)\n", image.SlackFile.ID)
				continue
			}
			if row, ok := block.(*slackgo.ActionBlock); ok {
				b.WriteString(readButtons(row))
				continue
			}
			for _, e := range block.(*slackgo.RichTextBlock).Elements {
				b.WriteString(readPart(e))
			}
		}
	}
	return b.String()
}

func readButtons(row *slackgo.ActionBlock) string {
	var b strings.Builder
	for _, e := range row.Elements.ElementSet {
		switch e := e.(type) {
		case *slackgo.ButtonBlockElement:
			fmt.Fprintf(&b, "[%s] ", e.Text.Text)
			if c := e.Confirm; c != nil {
				fmt.Fprintf(&b, "(asks: %s | %s | %s | %s) ", c.Title.Text, c.Text.Text, c.Confirm.Text, c.Deny.Text)
			}
		case *slackgo.SelectBlockElement:
			fmt.Fprintf(&b, "[%s:", e.Placeholder.Text)
			for _, o := range e.Options {
				fmt.Fprintf(&b, " %s", o.Text.Text)
			}
			b.WriteString("] ")
		}
	}
	return strings.TrimSpace(b.String()) + "\n"
}

func readPart(e slackgo.RichTextElement) string {
	switch e := e.(type) {
	case *slackgo.RichTextSection:
		return readItems(e.Elements) + "\n"
	case *slackgo.RichTextPreformatted:
		return "    " + strings.ReplaceAll(readItems(e.Elements), "\n", "\n    ") + "\n"
	case *slackgo.RichTextList:
		var b strings.Builder
		for _, item := range e.Elements {
			b.WriteString("  • " + readPart(item))
		}
		return b.String()
	}
	return fmt.Sprintf("(%T)\n", e)
}

func readItems(items []slackgo.RichTextSectionElement) string {
	var b strings.Builder
	for _, item := range items {
		switch item := item.(type) {
		case *slackgo.RichTextSectionTextElement:
			b.WriteString(item.Text)
		case *slackgo.RichTextSectionLinkElement:
			b.WriteString(item.Text)
		case *slackgo.RichTextSectionUserElement:
			b.WriteString("@" + item.UserID)
		case *slackgo.RichTextSectionUserGroupElement:
			b.WriteString("@" + item.UsergroupID)
		case *slackgo.RichTextSectionBroadcastElement:
			b.WriteString("@" + item.Range)
		case *slackgo.RichTextSectionDateElement:
			at := time.Unix(int64(item.Timestamp), 0).UTC()
			b.WriteString(strings.NewReplacer("{time}", at.Format("15:04"), "{date_short_pretty}", at.Format("Jan 2")).Replace(item.Format))
		default:
			fmt.Fprintf(&b, "(%T)", item)
		}
	}
	return b.String()
}

// reasons are all that a note can have.
func reasons() []incident.Reason {
	return []incident.Reason{
		incident.Opened, incident.Reopened, incident.FailedAgain, incident.IsProved, incident.IsUnproved, incident.IsSuperseded,
		incident.IsWithdrawn, incident.CauseGone, incident.HasMissed, incident.MoreAffected, incident.BetterKnown, incident.HasJoined,
		incident.IsProposed, incident.IsApproved, incident.IsRefused, incident.RemedyDone, incident.RemedyFailed, incident.IsVerified, incident.IsUnhelpful,
		incident.HasChanges, incident.IsCalled, incident.IsReminded, incident.IsEscalated, incident.IsTakenOver, incident.IsAlertResolved,
	}
}

// A line of the channel says how things stand now, or that the message or a newer line does.
func TestRenderLine(t *testing.T) {
	line := func(r incident.Reason) incident.Note {
		return incident.Note{ID: string(r), Reason: r, At: began.Add(5 * time.Minute), Line: true, Shown: "x"}
	}
	open := with(incidentOf(noEgress(), launches(12, report.Missed)), func(i *incident.Incident) { i.Pods = &incident.PodImpact{Count: 0} })
	grown := offer(incident.Offered, func(of *incident.Offer) {
		of.Plan = remedy.Plan{Cleanup: &remedy.DeleteLeakedInterfaces{Subnet: "subnet-0ab1c2d3e4f5a6b7c", Interfaces: []string{"eni-1", "eni-2"}, Addresses: 20, Held: "1 more held back, younger than 30 min."}}
	})
	later := with(open, func(i *incident.Incident) { i.Opened = began.Add(2 * time.Hour) })
	for name, test := range map[string]struct {
		i      incident.Incident
		n      incident.Note
		newest bool
		want   []string
		not    []string
	}{
		"as it was":             {open, line(incident.IsWorse), true, []string{"🔴", "escalated to critical: 12 instances cannot join", "No pods are waiting for this."}, []string{"Posted at "}},
		"its cause is gone":     {with(open, clearedAt), line(incident.IsWorse), true, []string{"🟡", "Posted at 15:04 (escalated). The current state is in the message"}, []string{"cannot join"}},
		"over":                  {with(open, provedAt), line(incident.FailedAgain), true, []string{"✅", "Posted at "}, nil},
		"a newer line is below": {open, line(incident.IsWorse), false, []string{"⚪", "A newer line is below."}, []string{"🔴", "Pods"}},
		"of an earlier opening": {later, line(incident.Reopened), true, []string{"🔴", "Posted at "}, nil},
		"the offer grew":        {with(open, offers(grown)), line(incident.IsProposed), true, []string{"needs a decision: Rollcall can delete 2 interfaces", "1 more held back, younger than 30 min."}, []string{"aws "}},
		"the offer is decided":  {with(open, offers(offer(incident.Approved))), line(incident.IsProposed), true, []string{"Posted at 15:04 (fix offered)"}, []string{"needs a decision"}},
	} {
		got := read([]slackapi.Message{RenderLine(test.i, test.n, test.newest)})
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q lacks %q", name, got, want)
			}
		}
		for _, not := range test.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %q has %q", name, got, not)
			}
		}
	}
}

// TestParted: a reason is cut after a sentence, and never within a quotation.
func TestParted(t *testing.T) {
	for name, test := range map[string]struct{ text, first, rest string }{
		"short":                {"One. Two.", "One. Two.", ""},
		"as much as fits":      {"One is. Two is here. Three is too long.", "One is. Two is here.", "Three is too long."},
		"one that is too long": {"One sentence that is too long. Two.", "One sentence that is too long.", "Two."},
		"a quotation":          {`It fails. AWS reports: "Denied. By: x. Ask". Two.`, "It fails.", `AWS reports: "Denied. By: x. Ask". Two.`},
		"nothing but one":      {`AWS reports: "Denied by it. Ask somebody".`, `AWS reports: "Denied by it. Ask somebody".`, ""},
	} {
		first, rest := parted(test.text, 22)
		expect.Equal(t, name, [2]string{first, rest}, [2]string{test.first, test.rest})
	}
}
