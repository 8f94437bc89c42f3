package commandtest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/coverzones"
	"rollcall/shared/remedy/createaccessentry"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/openendpointsecuritygroup"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/report"
	"rollcall/shared/shell"
	"rollcall/shared/slack"
)

// plans are one of each remedy, and of each form that its commands have.
func plans() map[string]remedy.Plan {
	return map[string]remedy.Plan{
		"add-nat-route":              {Route: &addnatroute.Plan{VPC: "vpc-0a", Table: "rtb-0a", Destination: "0.0.0.0/0", NAT: "nat-0a", NATZone: "a", Zones: []string{"a"}, Subnets: []string{"subnet-0a"}, ManagedBy: "CloudFormation stack vpc"}},
		"replace":                    {Replace: &replaceinstance.Plan{Instances: []replaceinstance.Replaced{{Instance: "i-0a", Group: "g", Nodegroup: "n", Zone: "a"}, {Instance: "i-0b", Group: "g"}}}},
		"open to one":                {Open: &openendpointsecuritygroup.Plan{VPC: "vpc-0a", SecurityGroup: "sg-0a", Endpoints: []string{"vpce-0a"}, Port: 443, From: []string{"sg-0b"}}},
		"open to two":                {Open: &openendpointsecuritygroup.Plan{VPC: "vpc-0a", SecurityGroup: "sg-0a", Endpoints: []string{"vpce-0a"}, Port: 443, From: []string{"sg-0b", "sg-0c"}}},
		"cover, a group":             {Cover: &coverzones.Plan{Group: "g", From: 2, To: 3, Max: 3, Zones: []string{"a", "b"}, Without: []string{"b"}}},
		"cover, a managed nodegroup": {Cover: &coverzones.Plan{Nodegroup: "n", From: 2, To: 3, Max: 3, Autoscaler: true}},
		"cleanup":                    {Cleanup: &deleteleakedinterfaces.Plan{VPC: "vpc-0a", Subnet: "subnet-0a", Interfaces: []string{"eni-0a", "eni-0b"}, Addresses: 3}},
		"access":                     {Access: &createaccessentry.Plan{Principal: "arn:aws:iam::111122223333:role/nodes", Type: "EC2_LINUX", LaunchedBy: []string{"nodegroup n"}}},
	}
}

// command tells a command of a plan's undo from a sentence.
func command(line string) bool { return strings.HasPrefix(line, "aws ") }

func everyText(s string) string {
	if s == "" {
		return s
	}
	return s + poison
}

// TestCommandsOfPlans poisons every text of every plan: no command and no undo
// comes to hold anything but words.
func TestCommandsOfPlans(t *testing.T) {
	var hostile []string
	for name, p := range plans() {
		p.Remedy, p.Partition, p.Account, p.Region, p.Cluster, p.Check, p.Resource = optin.Remedy(name), "aws", account, region, "prod", "route/no-egress", "rtb-0a"
		bad := shadowOf(p, everyText)
		n := 0
		for i, line := range slices.Concat(bad.Commands(), bad.Undo()) {
			sound := slices.Concat(p.Commands(), p.Undo())[i]
			if !command(sound) {
				continue
			}
			n++
			want, err := parsed(sound)
			if err != nil {
				t.Errorf("%s: %v: %s", name, err, sound)
			}
			got, err := parsed(line)
			if err != nil {
				t.Errorf("%s: %v: %s", name, err, line)
				continue
			}
			if len(got) != len(want) || !slices.Equal(clean(got)[0], want[0]) || !strings.Contains(line, "pwned") {
				t.Errorf("%s: %q, want the words %q with the poison in them", name, got, want)
			}
			hostile = append(hostile, line)
		}
		if n == 0 {
			t.Errorf("%s: no command was looked at", name)
		}
	}
	tried(t, hostile)
}

// pasted are the texts in monospace of a message that begin like commands, line
// by line: what Slack's copy button gives.
func pasted(t *testing.T, message any) (lines []string) {
	t.Helper()
	text, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	var walk func(v any, pre bool)
	walk = func(v any, pre bool) {
		switch v := v.(type) {
		case map[string]any:
			pre = pre || v["type"] == "rich_text_preformatted"
			if s, ok := v["text"].(string); ok && pre {
				for line := range strings.SplitSeq(s, "\n") {
					if slices.ContainsFunc([]string{"aws ", "kubectl ", "eksctl ", "for id "}, func(p string) bool { return strings.HasPrefix(line, p) }) {
						lines = append(lines, line)
					}
				}
			}
			for _, x := range v {
				walk(x, pre)
			}
		case []any:
			for _, x := range v {
				walk(x, pre)
			}
		}
	}
	walk(tree, false)
	return lines
}

// TestCommandsOfMessages poisons every text of incidents, but for what a message
// is chosen by: what Slack shows to be pasted is still words.
func TestCommandsOfMessages(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	spared := map[string]bool{}
	for _, s := range []string{
		string(incident.Open), string(incident.Cleared), string(incident.Closed), string(incident.Offered), string(incident.Acted), string(action.Done), string(optin.Approve),
		string(outcome.Missed), string(outcome.Waiting), string(checks.Certain), "route/no-egress",
	} {
		spared[s] = true
	}
	for _, r := range optin.Remedies() {
		spared[string(r)] = true
	}
	hostile := func(s string) string {
		if s == "" || spared[s] {
			return s
		}
		return s + poison
	}
	remedies := []optin.Remedy{optin.AddNATRoute, optin.ReplaceInstance, optin.OpenEndpointSecurityGroup, optin.CoverZones, optin.DeleteLeakedInterfaces, optin.CreateAccessEntry}
	n := 0
	shown := map[string]bool{}
	for _, p := range plans() {
		for _, state := range []incident.State{incident.Open, incident.Cleared, incident.Closed} {
			for _, of := range []incident.OfferState{incident.Offered, incident.Acted} {
				p.Region, p.Cluster, p.Remedy = region, "prod", remedies[n%len(remedies)]
				inc := incident.Incident{
					Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-0a"}, Format: report.Format, Account: account, Region: region, Partition: "aws",
					State: state, Number: 1, Began: now.Add(-time.Hour), Opened: now.Add(-time.Hour), Cleared: now.Add(-time.Minute), Changed: now, Seen: now, Affected: 1,
					Cause:    diagnose.Cause{Check: "route/no-egress", Confidence: checks.Certain, Resource: "rtb-0a", Covers: []string{"subnet-0a"}, Title: "subnet-0a has no route to the internet"},
					Launches: []report.Launch{{Instance: "i-0a", Group: "g", Nodegroup: "n", Started: now.Add(-time.Hour), Status: outcome.Missed}},
					Offers:   []incident.Offer{{Plan: p, Hash: p.Hash(), Policy: optin.Approve, State: of, Made: now, Expires: now.Add(time.Hour), Run: &remedy.Run{Plan: p, Result: action.Done, Ended: now}}},
				}
				bad := shadowOf(inc, hostile)
				// A check makes its command of poisoned texts by the builder.
				bad.Cause.Fix = checks.Fix{Text: hostile("Look."), Command: shell.All(shell.Command("kubectl", "describe", "csr", "--", hostile("csr-x")), shell.Each([]string{hostile("eni-0a")}, "aws", "ec2", "delete-network-interface"))}
				for _, o := range []slack.Options{{}, {Actions: true, Now: now}} {
					lines := pasted(t, slack.Render(bad, o).Blocks)
					lines = append(lines, pasted(t, slack.RenderNote(bad, incident.Note{ID: "n", At: now, Reason: incident.IsProposed, Offer: &bad.Offers[0]}).Blocks)...)
					for _, line := range lines {
						n++
						if calls, err := parsed(line); err != nil {
							t.Errorf("%s, %s: %v: %s", state, of, err, line)
						} else {
							(&tally{}).intact(t, string(state), string(of), calls, line)
							shown[line] = true
						}
					}
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("%d commands were looked at: the test holds little", n)
	}
	t.Logf("%d commands in messages", n)
	tried(t, slices.Sorted(maps.Keys(shown)))
}
