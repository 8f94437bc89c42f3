package slack

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

const smallSubnet = "subnet-0ab1c2d3e4f5a6b7c"

// leaked is what subnet-watch finds of the ips story.
func leaked(confidence checks.Confidence) diagnose.Cause {
	return diagnose.Cause{
		Check: "ip/leaked-interfaces", Confidence: confidence, Resource: smallSubnet, Covers: []string{smallSubnet},
		Title: "4 dead nodes hold 31 addresses of " + smallSubnet,
		Why:   "12 interfaces that the VPC CNI made on 4 nodes are still there and attached to nothing; the nodes are terminated, the first since 11:42 UTC. They hold 31 of the 251 addresses of " + smallSubnet + " (10.42.3.0/24, us-west-2a), and 3 are free. A new m5.large takes 10 as it starts.",
		Evidence: []checks.Evidence{
			{What: "12 interfaces", Value: "available, described aws-K8S-i-…"},
			{What: "Nodes", Value: "i-0aa1c2d3e4f5a6b71; i-0aa1c2d3e4f5a6b72; i-0aa1c2d3e4f5a6b73; i-0aa1c2d3e4f5a6b74"},
			{What: "Cleanup", Value: "would delete 11; 1 names no cluster"},
		},
		Fix: checks.Fix{
			Text:    "Let eni-cleanup delete them: it asks for proof that the node is gone.",
			Command: `make deploy … SET="cleanup=prod=delete"`,
			Console: "https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#SubnetDetails:subnetId=" + smallSubnet,
		},
		Nodegroups: []string{"workers"},
	}
}

func foreseen() diagnose.Cause {
	return diagnose.Cause{
		Check: "ip/runway", Confidence: checks.Likely, Resource: smallSubnet, Covers: []string{smallSubnet},
		Title:      smallSubnet + " runs out of addresses at about 16:40 UTC",
		Why:        "Since 09:10 UTC it lost 42 addresses an hour, from 1,204 to 310. At that pace one more node fits until 16:40 UTC (15:50 to 18:10).",
		Evidence:   []checks.Evidence{{What: "Free", Value: "1,204 at 09:10; 871 at 12:00; 310 at 14:59"}},
		Fix:        checks.Fix{Text: "Look at what takes them: more pods, more nodes, or interfaces that nothing uses.", Command: "aws ec2 describe-network-interfaces --region us-west-2 --filters Name=subnet-id,Values=" + smallSubnet},
		Nodegroups: []string{"workers", "batch"},
	}
}

func empty() diagnose.Cause {
	return diagnose.Cause{
		Check: "ip/subnet-exhausted", Confidence: checks.Certain, Resource: smallSubnet, Covers: []string{smallSubnet},
		Title:      smallSubnet + " has no free address",
		Why:        smallSubnet + " (10.42.3.0/24, us-west-2a) has no free address. Nothing more can be launched there, and pods on its nodes get no addresses.",
		Evidence:   []checks.Evidence{{What: "Addresses of " + smallSubnet, Value: "0 free; one more m5.large takes 10"}},
		Fix:        checks.Fix{Text: "Let the group launch into a subnet other than " + smallSubnet + "."},
		Nodegroups: []string{"workers"},
	}
}

// pictured gives an incident its chart.
func pictured(i *incident.Incident) {
	i.Chart = &incident.Chart{File: "F0STAGE0001", At: i.Changed, Alt: "Free addresses of " + smallSubnet + ": 220 at 09:00, 3 at 14:59."}
}

func gaveWayTo(check checks.ID) func(*incident.Incident) {
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
	return func(i *incident.Incident) { i.ClearedBy = []checks.Evidence{{What: what, Value: value}} }
}

const thirtyOne = "31 addresses back; 12 interfaces of 4 dead nodes"

// wellAt ends an incident by itself after 14 minutes.
func wellAt(i *incident.Incident) {
	ended(incident.Proved)(i)
	i.Cleared = began.Add(14 * time.Minute)
	i.Resolved, i.Changed = i.Cleared.Add(2*time.Second), i.Cleared
}

func addressScenes() []scene {
	leaking := with(incidentOf(leaked(checks.Likely), nil), pictured)
	starving := with(incidentOf(leaked(checks.Certain), launches(3, report.Missed)), pictured, func(i *incident.Incident) {
		i.Began, i.Changed = began.Add(-3*time.Hour), began.Add(10*time.Minute)
		i.Effects = []incident.Effect{
			{Check: "ip/runway", Title: foreseen().Title, Since: began.Add(-80 * time.Minute), Last: began.Add(-time.Minute)},
			{Check: "ip/subnet-exhausted", Told: began.Add(10 * time.Minute), Title: empty().Title, Since: began.Add(time.Minute), Last: began.Add(2 * time.Minute)},
			{Check: "launch/subnet-full", Title: "workers cannot launch: the subnet has no free address", Since: began.Add(2 * time.Minute), Last: began.Add(2 * time.Minute)},
			{Check: "node/cni-not-ready", Title: "3 instances of workers: the network plugin does not come up", Since: began.Add(6 * time.Minute), Last: began.Add(6 * time.Minute)},
			{Check: "spot/burst-exceeds-subnet", Told: began, Apart: true},
		}
	})
	nobody := with(incidentOf(leaked(checks.Certain), nil), pictured, func(i *incident.Incident) {
		i.Effects = []incident.Effect{{Check: "ip/subnet-exhausted", Told: began}}
	})
	crowded := with(incidentOf(leaked(checks.Certain), launches(4, report.Joined)), pictured, func(i *incident.Incident) {
		i.Effects = []incident.Effect{{Check: "ip/subnet-exhausted", Told: began, Title: empty().Title}}
	})
	runsOut := with(incidentOf(foreseen(), nil), pictured)
	blocks := incidentOf(diagnose.Cause{
		Check: "ip/fragmented", Confidence: checks.Certain, Resource: smallSubnet, Covers: []string{smallSubnet}, Nodegroups: []string{"workers"},
		Title: smallSubnet + " has no free /28 for a prefix",
		Why:   "aws-node gives pods addresses from whole blocks of 16 (prefix delegation). " + smallSubnet + " has 87 free addresses, and no 16 of them make a block.",
		Fix:   checks.Fix{Text: "Reserve a range of the subnet for prefixes, so that single addresses no longer break the blocks.", Command: "aws ec2 create-subnet-cidr-reservation --region us-west-2 --subnet-id " + smallSubnet + " --reservation-type prefix --cidr 10.42.3.128/25"},
	}, nil)
	large := incidentOf(diagnose.Cause{
		Check: "ip/scale-out-will-not-fit", Confidence: checks.Likely, Resource: smallSubnet, Covers: []string{smallSubnet}, Nodegroups: []string{"workers", "batch"},
		Title: smallSubnet + " cannot hold what 2 groups may launch",
		Why:   "2 groups may launch 14 more nodes here: 9 m5.4xlarge x 60 + 5 m5.large x 20 = 640 addresses. 251 are free, enough for 4 of them.",
		Fix:   checks.Fix{Text: "Give the groups a larger subnet, or lower their maximum."},
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
			i.ClearedBy = []checks.Evidence{{What: incident.Left, Value: "1 dead node holds 2 addresses of " + smallSubnet}}
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
		{"scale-out-fits", with(large, wellAt, evident("Addresses of "+smallSubnet, "2 groups may launch 4 more nodes whose pods take addresses here: 3 m5.4xlarge x 60 for pods + 1 m5.large x 20 for pods = 200; 251 free")), nil},
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
		"leak-proved":      "✅ prod / workers · " + smallSubnet + " has its addresses back after 3 h 14 min: 31 addresses, 12 interfaces of 4 dead nodes; i-0f15a2b3c4d5e6f70 Ready 58 s after launch",
		"leak-well":        "✅ prod / workers · " + smallSubnet + " has its addresses back after 14 min: 31 addresses, 12 interfaces of 4 dead nodes",
		"runway-over":      "✅ prod / batch and workers · " + smallSubnet + " no longer runs out: 1,204 free at 15:13 UTC, and rising",
		"runway-came-true": "⚪ prod / batch and workers · closed, it came as foreseen, " + smallSubnet + " has too few addresses now; that has its own message",
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
