package settingsfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"rollcall/shared/ownership"
	"rollcall/shared/routing"
	"rollcall/shared/spoke"
	"rollcall/shared/target"
)

func TestRead(t *testing.T) {
	for _, x := range []struct {
		name, file string
		want       map[string]any
		tags       map[string]string
	}{
		{"nothing", "", map[string]any{}, nil},
		{"comments", "# clusters: all\n", map[string]any{}, nil},
		{"empty sections", "slack:\nlaunches: {}\n", map[string]any{}, nil},
		{"sections", "slack:\n  channel: C0123456789\n  buttons: on\nlaunches: {joinTime: 4m}\n",
			map[string]any{"slackChannel": "C0123456789", "slackActions": "on", "joinTime": "4m"}, nil},
		{"keys at the top", "slackChannel: C0123456789\njoinTime: 4m\nremedyVpcs: [vpc-0a]\ncleanup: {prod: delete}\n",
			map[string]any{"slackChannel": "C0123456789", "joinTime": "4m", "remedyVpcs": "vpc-0a", "cleanup": "prod=delete"}, nil},
		{"one-line forms", "clusters: prod,dev\nnotifications: {targets: \"sns,pagerduty=rollcall/pagerduty\"}\nremediation: {remedies: prod=approve}\n",
			map[string]any{"clusters": "prod,dev", "targets": "sns,pagerduty=rollcall/pagerduty", "remedies": "prod=approve"}, nil},
		{"lists", "clusters: [prod, 222233334444/eu-west-1/prod]\nslack: {approvers: [U1AA], responders: channel}\n",
			map[string]any{"clusters": "prod,222233334444/eu-west-1/prod", "approvers": "U1AA", "responders": "channel"}, nil},
		{"switches", "slackActions: true\nlaunches: {decodeDenied: false, evidence: false, autoModeLogs: off}\nweekly: false\ndashboard: \"off\"\n",
			map[string]any{"slackActions": "on", "decodeDenied": "off", "evidence": "off", "autoModeLogs": "off", "weekly": "off", "dashboard": "off"}, nil},
		{"numbers", "evidence: 90\nreportHour: 0\nremindAfter: 0\nreopenTime: 0\nremedyLimit: \"5\"\n",
			map[string]any{"evidence": "90", "reportHour": "0", "remindAfter": "0", "reopenTime": "0", "remedyLimit": "5"}, nil},
		{"remedies", "remedies:\n  prod: {add-nat-route: approve, replace-instance: off}\n  222233334444/eu-west-1/prod: auto\n  dev: {cover-zones: false}\n",
			map[string]any{"remedies": "prod/add-nat-route=approve,prod/replace-instance=off,222233334444/eu-west-1/prod=auto,dev/cover-zones=off"}, nil},
		{"spokes", "spokes:\n  - {account: \"012345678901\", region: eu-west-1, name: payments}\n  - account: '333344445555'\n    region: us-west-2\n  - 444455556666/us-gov-west-1=gov\n",
			map[string]any{"spokes": "012345678901/eu-west-1=payments,333344445555/us-west-2,444455556666/us-gov-west-1=gov"}, nil},
		{"targets", "targets: [sns, {kind: pagerduty, severity: critical, secret: rollcall/pd}, {kind: amazonq, topic: \"arn:aws:sns:us-west-2:111122223333:q\"}]\n",
			map[string]any{"targets": "sns,pagerduty/critical=rollcall/pd,amazonq=arn:aws:sns:us-west-2:111122223333:q"}, nil},
		{"owners' tags", "ownerTags: {team: [team, Cost Center], service: app.kubernetes.io/name}\n",
			map[string]any{"ownerTags": "team=team+Cost Center,service=app.kubernetes.io/name"}, nil},
		{"tags", "tags: {cost-center: \"1234\", team: platform}\n", map[string]any{}, map[string]string{"cost-center": "1234", "team": "platform"}},
		{"folded texts", "routes: >-\n  prod=C0AAAA,dev=C0BBBB\n", map[string]any{"routes": "prod=C0AAAA,dev=C0BBBB"}, nil},
		{"names in quotes", "clusters: [\"on\", \"123\", \"null\"]\n", map[string]any{"clusters": "on,123,null"}, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			got, tags, problems := Read([]byte(x.file))
			if len(problems) > 0 {
				t.Fatal(errors.Join(problems...))
			}
			if diff := cmp.Diff(x.want, got); diff != "" {
				t.Errorf("context (-want +got):\n%s", diff)
			}
			if x.tags == nil {
				x.tags = map[string]string{}
			}
			if diff := cmp.Diff(x.tags, tags); diff != "" {
				t.Errorf("tags (-want +got):\n%s", diff)
			}
			if err := validate(t, x.file); err != nil {
				t.Errorf("the schema refuses it: %v", err)
			}
		})
	}
}

// refused are files with their problems. The schema refuses them too, but for those that it
// does not see: whether a text is in quotes, what stands twice, and what only YAML has.
func refused() []struct {
	name, file string
	want       []string
	unseen     bool
} {
	type x = struct {
		name, file string
		want       []string
		unseen     bool
	}
	return []x{
		{"no mapping", "prod", []string{"line 1, column 1: the file is not a mapping: write each setting as name: value"}, false},
		{"two documents", "clusters: all\n---\nclusters: all\n", []string{"line 1, column 1: the file has a second document (---): write all settings into one"}, true},
		{"misspelt", "slack:\n  chanel: C0\nlaunches: {jointime: 4m}\nclustres: all\n", []string{
			"line 2, column 3: slack.chanel is not a setting of Rollcall; did you mean channel?",
			"line 3, column 12: launches.jointime is not a setting of Rollcall; did you mean joinTime?",
			"line 4, column 1: clustres is not a setting of Rollcall; did you mean clusters?"}, false},
		{"another place", "channel: C0\nslack: {joinTime: 4m}\nlaunches: {buttons: on}\n", []string{
			"line 1, column 1: channel is not the place of this setting: write it as slack: {channel: …}",
			"line 2, column 9: slack.joinTime is not the place of this setting: write it as launches: {joinTime: …}",
			"line 3, column 12: launches.buttons is not the place of this setting: write it as slack: {buttons: …}"}, false},
		{"near one of another section", "slack: {jionTime: 4m}\n", []string{
			"line 1, column 9: slack.jionTime is not a setting of Rollcall; did you mean launches: {joinTime: …}?"}, false},
		{"like nothing", "colour: red\nslack: {colour: red}\n", []string{
			"line 1, column 1: colour is not a setting of Rollcall; at the top are slack, kubernetes, launches, incidents, notifications, ownership, remediation, subnets, accounts, stack, clusters, tags (docs/settings.md)",
			"line 2, column 9: slack.colour is not a setting of Rollcall; slack has channel, secretArn, buttons, signingSecretArn, secretKmsKeyArn, approvers, responders, apiUrl"}, false},
		{"a place with a dot", "slack.channel: C0\n", []string{"line 1, column 1: slack.channel is not a setting of Rollcall; did you mean slackChannel?"}, false},
		{"a section of one value", "slack: C0123456789\n", []string{"line 1, column 8: slack is a section: write its settings below it, indented (channel, secretArn, buttons, signingSecretArn, secretKmsKeyArn, approvers, responders, apiUrl)"}, false},
		{"twice", "clusters: all\nclusters: prod\nlaunches: {joinTime: 4m}\njoinTime: 5m\n", []string{
			"line 2, column 1: clusters is in line 1 already: write it once",
			"line 4, column 1: joinTime is set in line 3 already, as launches.joinTime"}, true},
		{"no value", "launches:\n  joinTime:\n", []string{"line 2, column 12: launches.joinTime has no value: write a duration like 90s, 5m or 2h, or take the line out"}, false},
		{"empty", "clusters: []\nremedies: {}\n", []string{
			"line 1, column 11: clusters is empty: write a list (each item a cluster's name, like prod or 222233334444/eu-west-1/prod), or a text in one line, without blanks around it, or take the line out",
			"line 2, column 11: remedies is empty: write off, or a mapping (each name a cluster's name, like prod or 222233334444/eu-west-1/prod), or a text in one line, without blanks around it, or take the line out"}, false},
		{"yes", "slackActions: yes\ndashboard: No\n", []string{
			"line 1, column 15: slackActions is true or false to YAML: write on, or off",
			"line 2, column 12: dashboard is true or false to YAML: write on, or off"}, false},
		{"near a word", "kubernetesAccess: grup\nlogLevel: warning\ncleanup: {prod: delte}\n", []string{
			"line 1, column 19: kubernetesAccess is not valid; did you mean group?",
			"line 2, column 11: logLevel is not valid: write debug, or info, or warn, or error",
			"line 3, column 17: cleanup.prod is not valid; did you mean delete?"}, false},
		{"names that YAML 1.1 reads as something else", "clusters: [on, no, 123, 1e3, ~, 2026-11-29]\n", []string{
			"line 1, column 12: clusters[0] is true or false to YAML: put it in quotes",
			"line 1, column 16: clusters[1] is true or false to YAML: put it in quotes",
			"line 1, column 20: clusters[2] is a number to YAML: put it in quotes",
			"line 1, column 25: clusters[3] is a number to YAML: put it in quotes",
			"line 1, column 30: clusters[4] has no value: write a cluster's name, like prod or 222233334444/eu-west-1/prod, or take the line out",
			"line 1, column 33: clusters[5] is a date to YAML: put it in quotes"}, false},
		{"names of a mapping", "cleanup: {off: delete, 12: report}\n", []string{
			"line 1, column 11: cleanup has the name off, which is true or false to YAML: put it in quotes",
			"line 1, column 24: cleanup has the name 12, which is a number to YAML: put it in quotes"}, true},
		{"an account without quotes", "spokes:\n  - {account: 012345678901, region: eu-west-1}\n", []string{
			"line 2, column 15: spokes[0].account is a number to YAML: put it in quotes"}, false},
		{"numbers of base 60", "tags: {window: 22:30, other: 1:2:3.5, good: 10:99}\n", []string{
			"line 1, column 16: tags.window is a number to YAML: put it in quotes",
			"line 1, column 30: tags.other is a number to YAML: put it in quotes"}, true},
		{"an external id of digits", "externalId: 12345678\n", []string{"line 1, column 13: externalId is a number to YAML: put it in quotes"}, false},
		{"no duration", "joinTime: 5\ngiveUp: 2 hours\nproofTime: 1:30\nremindAfter: 1\n", []string{
			"line 1, column 11: joinTime is a number to YAML: write a duration like 90s, 5m or 2h",
			"line 2, column 9: giveUp is not valid: write a duration like 90s, 5m or 2h",
			"line 3, column 12: proofTime is a number to YAML: write a duration like 90s, 5m or 2h",
			"line 4, column 14: remindAfter is a number to YAML: write a duration like 90s, 5m or 2h, or 0"}, false},
		{"numbers", "evidence: 366\ncleanupCap: 1_000\nremedyLimit: 1.5\ncleanupShare: half\nlogRetentionDays: true\n", []string{
			"line 1, column 11: evidence is not valid: write a whole number from 1 to 365, or off",
			"line 2, column 13: cleanupCap is not valid: write a whole number from 1 to 5000",
			"line 3, column 14: remedyLimit is a number to YAML: write a whole number from 1 to 20",
			"line 4, column 15: cleanupShare is not valid: write a whole number from 1 to 100",
			"line 5, column 19: logRetentionDays is true or false to YAML: write a whole number from 1 to 3653"}, false},
		{"an hour with a zero", "reportHour: 08\n", []string{"line 1, column 13: reportHour is a number to YAML: write a whole number from 0 to 23, without a zero before it"}, true},
		{"an octal number", "cleanupCap: 010\n", []string{"line 1, column 13: cleanupCap is not valid: write a whole number from 1 to 5000, without a zero before it"}, true},
		{"commas in a list", "clusters: [\"prod,dev\"]\napprovers: [U1 U2]\n", []string{
			"line 1, column 12: clusters[0] is not valid: write a cluster's name, like prod or 222233334444/eu-west-1/prod",
			"line 2, column 13: approvers[0] is not valid: write a name or id without commas and blanks"}, false},
		{"lines", "routes: |\n  prod=C0AAAA,\n  dev=C0BBBB\nslackChannel: \" C0\"\n", []string{
			"line 1, column 9: routes is not valid: write a list (each item a route, like prod/critical=C0PAGES0001@S0ONCALL01, or a mapping of cluster, severity, tags, channel, page, escalate), or a text in one line, without blanks around it",
			"line 4, column 15: slackChannel is not valid: write a text in one line, without blanks around it"}, false},
		{"lists and mappings", "joinTime: [5m]\nclusters: {prod: on}\nslackChannel: {id: C0}\nkubernetesAccess: [group]\n", []string{
			"line 1, column 11: joinTime is a list: write a duration like 90s, 5m or 2h",
			"line 2, column 11: clusters is a mapping: write a list (each item a cluster's name, like prod or 222233334444/eu-west-1/prod), or a text in one line, without blanks around it",
			"line 3, column 15: slackChannel is a mapping: write a text in one line, without blanks around it",
			"line 4, column 19: kubernetesAccess is a list: write group, or policy, or none"}, false},
		{"remedies", "remedies: {prod: {add-nat-rout: approve, replace-instance: yes}, dev: [approve]}\n", []string{
			"line 1, column 19: remedies.prod.add-nat-rout is not known here; did you mean add-nat-route?",
			"line 1, column 60: remedies.prod.replace-instance is true or false to YAML: write off, or approve, or auto",
			"line 1, column 71: remedies.dev is a list: write off, or approve, or auto, or a mapping of add-nat-route, replace-instance, open-endpoint-security-group, cover-zones, delete-leaked-interfaces, create-access-entry"}, false},
		{"routes", "routes:\n  - {cluster: prod}\n  - {channel: C0, escalate: [S0]}\n  - {channel: C0, page: [U1+U2]}\n  - {channel: C0, colour: red}\n", []string{
			"line 2, column 5: routes[0] has neither channel nor page: write one of them",
			"line 3, column 5: routes[1] has escalate, which needs page too",
			"line 4, column 26: routes[2].page[0] is not valid: write the id of a Slack user (U…, W…) or user group (S…), or here",
			"line 5, column 19: routes[3].colour is not known here: write cluster, severity, tags, channel, page, escalate"}, false},
		{"spokes", "spokes:\n  - {account: \"1234\", region: eu-west-1}\n  - {account: \"222233334444\"}\n  - {}\n", []string{
			"line 2, column 15: spokes[0].account is not valid: write an account's number: twelve digits, in quotes",
			"line 3, column 5: spokes[1] has no region: write a region like eu-west-1",
			"line 4, column 5: spokes[2] is empty: write an account and a region, like 222233334444/eu-west-1, or a mapping of account, region, name, or take the line out"}, false},
		{"targets", "targets: [{kind: pager, secret: a}, {kind: sns, secret: a, topic: b}, {secret: a}]\n", []string{
			"line 1, column 18: targets[0].kind is not valid: write sns, or amazonq, or pagerduty, or jsm, or teams, or slackwebhook, or webhook",
			"line 1, column 37: targets[1] has secret and topic: write one of them",
			"line 1, column 71: targets[2] has no kind: write sns, or amazonq, or pagerduty, or jsm, or teams, or slackwebhook, or webhook"}, false},
		{"owners", "owners: {prod: {teem: a}, dev: {runbook: \"http://x\"}, all: platform}\n", []string{
			"line 1, column 17: owners.prod.teem is not known here; did you mean team?",
			"line 1, column 42: owners.dev.runbook is not valid: write an https address, in which a comma is written as %2C",
			"line 1, column 60: owners.all is not valid: write a mapping of team, service, runbook, dashboard"}, false},
		{"anchors", "clusters: &all [prod]\naccessClusters: *all\njoinTime: !!str 5m\n<<: {giveUp: 2h}\n", []string{
			"line 1, column 11: clusters has an anchor (&all): take it out, or put the text in quotes if it begins with &",
			"line 2, column 17: accessClusters is an alias (*all): write the value out, or put it in quotes if it is a text",
			"line 3, column 11: joinTime has a tag of YAML's (!!str): take it out, or put the text in quotes if it begins with an exclamation mark",
			"line 4, column 1: has a list, a mapping or a merge key (<<) where a name is wanted: write name: value"}, true},
		{"tags", "tags: {cost-center: 1234, application: x, \"aws:x\": z, Team: a, team: b, odd: \"a,b\"}\n", []string{
			"line 1, column 21: tags.cost-center is a number to YAML: put it in quotes",
			"line 1, column 78: tags.odd is not valid: write a tag's value: letters, digits, blanks and _.:/=+-@"}, false},
		{"tags of others", "tags: {application: x, \"aws:x\": z, Team: a, team: b}\n", []string{
			"line 1, column 7: tags.application is the stack's own tag, by which its costs and access entries are found: take it out",
			"line 1, column 7: tags.aws:x begins with aws:, which is reserved for AWS",
			"line 1, column 7: tags.team differs from Team by capitals alone, which IAM takes for the same tag"}, true},
	}
}

func TestRefused(t *testing.T) {
	for _, x := range refused() {
		t.Run(x.name, func(t *testing.T) {
			_, _, problems := Read([]byte(x.file))
			var got []string
			for _, p := range problems {
				got = append(got, p.Error())
			}
			if diff := cmp.Diff(x.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if err := validate(t, x.file); (err == nil) != x.unseen {
				t.Errorf("the schema says: %v", err)
			}
		})
	}
}

// What is no YAML is refused with the line that is most likely meant.
func TestNotYAML(t *testing.T) {
	for file, want := range map[string]string{
		"slack:\n\tchannel: C0\n":                   " (line 2 begins with a tab: indent by blanks)",
		"linkHosts: [a.example.com, *.grafana.net]": " (line 1: put a text that begins with * in quotes)",
		"clusters: @all\n":                          " (line 1: put a text that begins with @ in quotes)",
		"clusters: [prod\n":                         "this is not YAML: ",
	} {
		_, _, problems := Read([]byte(file))
		if len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), "this is not YAML: ") || !strings.HasSuffix(problems[0].Error(), want) && !strings.HasPrefix(problems[0].Error(), want) {
			t.Errorf("%q: got %v, want %q", file, problems, want)
		}
	}
	if _, _, problems := Read(bytes.Repeat([]byte("#\n"), most)); len(problems) != 1 {
		t.Errorf("a large file: %v", problems)
	}
}

// A value may be a secret in the wrong place.
func TestNoValueIsQuoted(t *testing.T) {
	const secret = "xoxb-SECRET"
	for _, r := range rows() {
		for _, form := range []string{secret + " ", "[\"" + secret + ", x\"]", "{\"a b\": \"" + secret + "\"}", "{kind: \"" + secret + "\", secret: \"" + secret + ",\"}"} {
			_, _, problems := Read([]byte(r.key + ": " + form + "\n"))
			if err := errors.Join(problems...); err != nil && strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%s: %v", r.key, err)
			}
		}
	}
}

// What a mapping says is what its one-line form says, whatever the characters.
func TestOneLineForms(t *testing.T) {
	file := `
routes:
  - {cluster: 222233334444/eu-west-1/prod, severity: critical, tags: {"a/b:c,d=e@f%g+h": "1 2/3,4=5@6%7+8ä"}, channel: C0AAAA, page: [U1AA, here], escalate: S0AA}
  - {page: here}
  - {cluster: all, tags: {team: payments, tier: "1"}, channel: C0BBBB}
owners: {all: {team: "R&D, 100% @ A/B=C", service: "a+b"}, 222233334444/eu-west-1/prod: {dashboard: "https://grafana.example.com/d?x=1&y=%2C"}}
ownerTags: {team: [Team, "a=b"], runbook: runbook}
targets: [{kind: sns}, {kind: teams, severity: warning, secret: rollcall/teams}]
`
	context, _, problems := Read([]byte(file))
	if len(problems) > 0 {
		t.Fatal(errors.Join(problems...))
	}
	routes, err := routing.Parse(context["routes"].(string))
	if err != nil {
		t.Fatal(err)
	}
	prod := spoke.Cluster{ID: spoke.ID{Account: "222233334444", Region: "eu-west-1"}, Name: "prod"}
	want := []routing.Route{
		{Cluster: "prod", Spoke: prod.ID, Severity: "critical", Tags: []routing.Tag{{Key: "a/b:c,d=e@f%g+h", Value: "1 2/3,4=5@6%7+8ä"}},
			Channel: "C0AAAA", Mentions: []string{"U1AA", "here"}, Escalate: []string{"S0AA"}},
		{Mentions: []string{"here"}},
		{Tags: []routing.Tag{{Key: "team", Value: "payments"}, {Key: "tier", Value: "1"}}, Channel: "C0BBBB"},
	}
	if diff := cmp.Diff(want, routes); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	fixed, err := ownership.ParseOwners(context["owners"].(string))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]ownership.Fixed{
		{Field: ownership.Team, Value: "R&D, 100% @ A/B=C"}, {Field: ownership.Service, Value: "a+b"},
		{Cluster: prod, Field: ownership.Dashboard, Value: "https://grafana.example.com/d?x=1&y=%2C"},
	}, fixed); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
	names, err := ownership.ParseTags(context["ownerTags"].(string))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[ownership.Field][]string{ownership.Team: {"Team", "a=b"}, ownership.Runbook: {"runbook"}}, names); diff != "" {
		t.Errorf("owners' tags (-want +got):\n%s", diff)
	}
	targets, err := target.Parse(context["targets"].(string))
	if diff := cmp.Diff([]target.Target{{Kind: target.SNS}, {Kind: target.Teams, Least: "warning", Secret: "rollcall/teams"}}, targets); err != nil || diff != "" {
		t.Errorf("targets: %v (-want +got):\n%s", err, diff)
	}
}

// Each row has a place and a key of its own, and an example that both Read and the schema take,
// in the place and by the key.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows() {
		section, name, nested := strings.Cut(r.place, ".")
		if seen[r.place] || r.key != r.place && seen[r.key] || !nested && r.place != r.key {
			t.Errorf("%s, %s: not a place or a key of its own", r.place, r.key)
		}
		seen[r.place], seen[r.key] = true, true
		if nested && (seen[section] || section == stackTags || Place(section) != "" || sectionAbout(section) == "") {
			t.Errorf("%s: the section is a key too, or has no text", r.place)
		}
		if Place(r.key) != r.place {
			t.Errorf("%s: Place gives %s", r.key, Place(r.key))
		}
		if r.example == "" {
			continue
		}
		for _, file := range []string{section + ":\n  " + name + ": " + r.example + "\n", r.key + ": " + r.example + "\n"} {
			if !nested && strings.HasPrefix(file, section+":\n") {
				continue
			}
			context, _, problems := Read([]byte(file))
			if _, ok := context[r.key].(string); !ok || len(problems) > 0 {
				t.Errorf("%s: %v", file, problems)
			}
			if err := validate(t, file); err != nil {
				t.Errorf("%s: the schema refuses it: %v", file, err)
			}
		}
	}
}

// allKeys stand for the texts of package settings.
func allKeys() []Key {
	var list []Key
	for _, key := range keys() {
		list = append(list, Key{Name: key, About: "…"})
	}
	return list
}

// compiled is the schema, compiled once.
var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	text, err := Schema(allKeys())
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("settings.json", document); err != nil {
		return nil, err
	}
	return c.Compile("settings.json")
})

// validate holds a file against the schema, as an editor does.
func validate(t testing.TB, file string) error {
	t.Helper()
	schema, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(file), &document); err != nil {
		return err
	}
	text, err := json.Marshal(jsonOf(&document))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// jsonOf is a document as JSON has it: names are texts, and the last of two is taken.
func jsonOf(n *yaml.Node) any {
	var v any
	switch n.Kind {
	case yaml.DocumentNode:
		return jsonOf(n.Content[0])
	case yaml.AliasNode:
		return jsonOf(n.Alias)
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			list = append(list, jsonOf(item))
		}
		return list
	case yaml.MappingNode:
		pairs := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			if key := n.Content[i]; key.Tag != "!!merge" {
				pairs[key.Value] = jsonOf(n.Content[i+1])
			}
		}
		return pairs
	case yaml.ScalarNode:
		if err := n.Decode(&v); err != nil {
			return n.Value
		}
	}
	return v
}

func TestSchemaNeedsRows(t *testing.T) {
	if _, err := Schema(append(allKeys(), Key{Name: "newSetting"})); err == nil || !strings.Contains(err.Error(), "newSetting") {
		t.Errorf("a key without a row: %v", err)
	}
	if _, err := Sample(allKeys()[1:]); err == nil || !strings.Contains(err.Error(), "clusters") {
		t.Errorf("a row without a key: %v", err)
	}
}

// Whatever is written, each problem has its line, and what is accepted is of the schema.
func FuzzDecode(f *testing.F) {
	for _, x := range refused() {
		f.Add(x.file)
	}
	for _, r := range rows() {
		f.Add(r.key + ": " + r.example)
	}
	f.Add("slack:\n  channel: C0123456789\ntags: {a: b}\n")
	f.Fuzz(func(t *testing.T, file string) {
		got := Decode([]byte(file))
		lines := strings.Count(file, "\n") + strings.Count(file, "\r") + 1
		for _, err := range got.Problems {
			var p Problem
			if errors.As(err, &p) && (p.Line < 1 || p.Line > lines+1 || p.Text == "") {
				t.Errorf("%q: %+v", file, p)
			}
		}
		if len(got.Problems) > 0 {
			return
		}
		for key, value := range got.Context {
			if text, ok := value.(string); !ok || text == "" {
				t.Errorf("%q: %s is %v", file, key, value)
			}
		}
		if err := validate(t, file); err != nil {
			t.Errorf("%q: Read accepts it and the schema does not: %v", file, err)
		}
	})
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"kitten", "sitting", 3}, {"ä", "a", 1}} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("%q, %q: got %d, want %d", test.a, test.b, got, test.want)
		}
		if got := distance(test.b, test.a); got != test.want {
			t.Errorf("%q, %q: got %d, want %d", test.b, test.a, got, test.want)
		}
	}
}
