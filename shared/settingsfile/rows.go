// Package settingsfile reads Rollcall's settings from a YAML file (rollcall.yaml), in which
// they are nested by subject and written as YAML's own lists and mappings, into the one-line
// form that package settings of the CDK app parses. It judges the form: names, types, and what
// YAML would read as something else. What a value means is judged where it always was.
//
// Each setting has one row, which is all that Read, the JSON schema and the commented sample
// know of it.
package settingsfile

import (
	"net/url"
	"slices"
	"strings"

	"rollcall/shared/remedy/optin"
)

// row is the place of a setting in the file, and the form of its value.
type row struct {
	// place is the section and the name in it, "slack.channel", or a name alone. The key is
	// accepted as a name of its own at the top level too.
	place, key string
	shape
	// example is a value in one line of YAML, shown in the sample; "" where the default
	// shows the form.
	example string
}

// stackTags is the section of the stack's tags, which are no setting: CloudFormation puts them
// on every resource that takes tags.
const stackTags = "tags"

// tagText are the characters of a tag: letters and digits of any language, blanks and
// _.:/=+-@ (IAM API reference, Tag: the strictest of those that the stack makes). What is not
// allowed of ASCII is excluded: Unicode classes are not known to every reader of the schema.
const tagText = `[^\x00-\x1f!-*,;<>?\[-^\x60{-\x7f]`

func tags() shape {
	name, text := item(tagText+`{1,128}`, "a tag's name"), item(tagText+`{1,256}`, "a tag's value: letters, digits, blanks and _.:/=+-@")
	return shape{name: &name, value: &text, part: true}
}

// rows are all settings, in the order of the sample.
func rows() []row {
	anyText := shape{}
	id := item(`[^,\s]+`, "a name or id without commas and blanks")
	list := listOf(id)
	onOff := words("on", "off")
	duration := shape{pattern: durationPattern, what: "a duration like 90s, 5m or 2h"}
	orNever := duration
	orNever.zero = true
	return []row{
		{"clusters", "clusters", listOf(cluster()), "[prod, dev, 222233334444/eu-west-1/prod]"},

		{"slack.channel", "slackChannel", anyText, "C0123456789"},
		{"slack.secretArn", "slackSecretArn", anyText, "arn:aws:secretsmanager:us-west-2:111122223333:secret:slack-AbCdE1"},
		{"slack.buttons", "slackActions", onOff, ""},
		{"slack.signingSecretArn", "slackSigningSecretArn", anyText, "arn:aws:secretsmanager:us-west-2:111122223333:secret:slack-signing-AbCdE1"},
		{"slack.secretKmsKeyArn", "slackSecretKmsKeyArn", anyText, "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"},
		{"slack.approvers", "approvers", list, "[U0123ABCD, S0ONCALL01]"},
		{"slack.responders", "responders", list, "[S0ONCALL01]"},
		{"slack.apiUrl", "slackApiUrl", anyText, ""},

		{"kubernetes.access", "kubernetesAccess", words("group", "policy", "none"), ""},
		{"kubernetes.accessClusters", "accessClusters", list, "[prod, dev]"},
		{"kubernetes.configMapClusters", "configMapClusters", list, "[old]"},
		{"kubernetes.relays", "relays", listOf(cluster()), "[prod, 222233334444/eu-west-1/prod]"},
		{"kubernetes.subnetIds", "vpcSubnetIds", list, "[subnet-0123456789abcdef0, subnet-0fedcba9876543210]"},
		{"kubernetes.securityGroupIds", "vpcSecurityGroupIds", list, "[sg-0123456789abcdef0]"},

		{"launches.joinTime", "joinTime", duration, ""},
		{"launches.giveUp", "giveUp", duration, ""},
		{"launches.evidence", "evidence", shape{number: true, least: 1, most: 365, words: []string{"off"}}, ""},
		{"launches.instanceData", "instanceData", onOff, ""},
		{"launches.decodeDenied", "decodeDenied", onOff, ""},
		{"launches.autoModeLogs", "autoModeLogs", shape{item: &id, join: commas, words: []string{"off"}, open: true}, `["/aws/vendedlogs/eks/*"]`},

		{"incidents.proofTime", "proofTime", duration, ""},
		{"incidents.reopenTime", "reopenTime", orNever, ""},
		{"incidents.changeNames", "changeNames", onOff, ""},
		{"incidents.docsUrl", "docsUrl", anyText, "https://docs.example.com/rollcall/"},

		{"notifications.routes", "routes", listOf(route()), "[{cluster: prod, severity: critical, channel: C0PAGES0001, page: [S0ONCALL01], escalate: [S0LEADS001]}, {tags: {team: payments}, channel: C0PAY000001}]"},
		{"notifications.remindAfter", "remindAfter", orNever, ""},
		{"notifications.targets", "targets", listOf(receiver()), "[{kind: pagerduty, severity: critical, secret: rollcall/pagerduty}, {kind: sns}]"},
		{"notifications.targetEmail", "targetEmail", list, "[oncall@example.com]"},
		{"notifications.targetSecretKmsKeyArn", "targetSecretKmsKeyArn", anyText, "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"},
		{"notifications.pagerdutyApiUrl", "pagerdutyApiUrl", anyText, ""},
		{"notifications.weekly", "weekly", shape{words: []string{"off"}, open: true}, ""},
		{"notifications.reportHour", "reportHour", shape{number: true, most: 23}, ""},

		{"ownership.owners", "owners", owners(), "{all: {team: platform}, prod: {runbook: https://wiki.example.com/prod}}"},
		{"ownership.ownerTags", "ownerTags", ownerTags(), "{team: [team, owner], runbook: [runbook]}"},
		{"ownership.linkHosts", "linkHosts", list, `[wiki.example.com, "*.grafana.net"]`},

		{"remediation.remedies", "remedies", remedies(), "{prod: {add-nat-route: approve, replace-instance: auto}, dev: approve}"},
		{"remediation.remedyVpcs", "remedyVpcs", list, "[vpc-0123456789abcdef0]"},
		{"remediation.remedyRoles", "remedyRoles", list, "[arn:aws:iam::111122223333:role/nodes]"},
		{"remediation.remedyLimit", "remedyLimit", shape{number: true, least: 1, most: 20}, ""},
		{"remediation.approvalTime", "approvalTime", duration, ""},

		{"subnets.cleanup", "cleanup", cleanup(), "{prod: delete, dev: dry-run}"},
		{"subnets.cleanupGrace", "cleanupGrace", duration, ""},
		{"subnets.cleanupCap", "cleanupCap", shape{number: true, least: 1, most: 5000}, ""},
		{"subnets.cleanupShare", "cleanupShare", shape{number: true, least: 1, most: 100}, ""},
		{"subnets.cleanupUntagged", "cleanupUntagged", list, "[vpc-0123456789abcdef0]"},
		{"subnets.runwayHorizon", "runwayHorizon", duration, ""},
		{"subnets.subnetMetrics", "subnetMetrics", onOff, ""},

		{"accounts.spokes", "spokes", listOf(spokes()), `[{account: "222233334444", region: eu-west-1, name: payments}]`},
		{"accounts.externalId", "externalId", anyText, "rollcall-7f3a91c2"},
		{"accounts.organization", "organization", anyText, "o-a1b2c3d4e5"},
		{"accounts.spoke", "spoke", anyText, "222233334444/eu-west-1"},

		{"stack.name", "stackName", anyText, ""},
		{"stack.permissionsBoundary", "permissionsBoundary", anyText, "arn:aws:iam::111122223333:policy/boundary"},
		{"stack.rolePath", "rolePath", anyText, "/platform/"},
		{"stack.kmsKeyArn", "kmsKeyArn", anyText, "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"},
		{"stack.alarmEmail", "alarmEmail", anyText, "oncall@example.com"},
		{"stack.alarmTopicArn", "alarmTopicArn", anyText, "arn:aws:sns:us-west-2:111122223333:oncall"},
		{"stack.dashboard", "dashboard", onOff, ""},
		{"stack.logLevel", "logLevel", words("debug", "info", "warn", "error"), ""},
		{"stack.logRetentionDays", "logRetentionDays", shape{number: true, least: 1, most: 3653}, ""},
		{"stack.sweepConcurrency", "sweepConcurrency", shape{number: true, least: 2, most: 50}, ""},
	}
}

// durationPattern is how Go writes a duration (package time, ParseDuration), in the units that
// are of use here.
const durationPattern = `([0-9]+(\.[0-9]+)?(h|m|s|ms))+`

// sectionAbout is the comment above a section of the sample.
func sectionAbout(name string) string {
	return map[string]string{
		"slack":         "Slack, and who is allowed to do what there.",
		"kubernetes":    "How Rollcall reads in clusters.",
		"launches":      "Launches, and how they are diagnosed.",
		"incidents":     "Incidents.",
		"notifications": "Who is notified of what.",
		"ownership":     "Who owns what an incident is about.",
		"remediation":   "What Rollcall is allowed to fix. Nothing by default.",
		"subnets":       "Addresses of subnets, and network interfaces that terminated nodes left.",
		"accounts":      "Other accounts and regions.",
		"stack":         "The stack itself.",
	}[name]
}

// shape is the form of a value. A setting of which several things can be said can be written
// as the text of its one-line form too.
type shape struct {
	// words are texts with a meaning of their own; open allows others beside them. YAML 1.1
	// reads on and off as true and false, so these are taken for them.
	words []string
	open  bool
	// pattern is the form of all of a text, what says it in words.
	pattern, what string
	// number allows a whole number from least to most.
	number      bool
	least, most int
	// zero allows the number 0.
	zero bool
	// item is the form of a list's items; one item can stand for a list.
	item *shape
	// name and value are the forms of a mapping with free names.
	name, value *shape
	// fields are those of a mapping with fixed names.
	fields []field
	// one lists fields of which one at least is needed, apart those of which one at most is
	// allowed, and needs maps a field to another that it needs.
	one, apart []string
	needs      map[string]string
	// join is the one-line form of a list, a mapping or an item of them.
	join func(value) string
	// part is set for what is a part of a setting, whose text is not a one-line form.
	part bool
}

type field struct {
	name  string
	shape shape
	must  bool
}

// value is what stands in the file, without its form: a text, a list or a mapping.
type value struct {
	text  string
	items []value
	pairs []pair
}

type pair struct {
	name  string
	value value
}

func (v value) get(name string) value {
	if i := slices.IndexFunc(v.pairs, func(p pair) bool { return p.name == name }); i >= 0 {
		return v.pairs[i].value
	}
	return value{}
}

// texts are the texts of a list, or the only one.
func (v value) texts() []string {
	if v.text != "" {
		return []string{v.text}
	}
	var list []string
	for _, i := range v.items {
		list = append(list, i.text)
	}
	return list
}

func words(list ...string) shape { return shape{words: list} }

func part(list ...string) shape { return shape{words: list, part: true} }

// item is a text within a list or a mapping: its pattern keeps out what separates them in the
// one-line form.
func item(pattern, what string) shape { return shape{pattern: pattern, what: what, part: true} }

func listOf(of shape) shape { return shape{item: &of, join: commas} }

// cluster is a cluster's name, with its account and region where it is a spoke's (package
// spoke; EKS API reference, CreateCluster).
func cluster() shape {
	return item(`([0-9]{12}/[a-z]{2}(-[a-z]+){1,3}-[0-9]{1,2}/)?[0-9A-Za-z][0-9A-Za-z_-]{0,99}`, "a cluster's name, like prod or 222233334444/eu-west-1/prod")
}

func commas(v value) string {
	var list []string
	for _, i := range v.items {
		list = append(list, i.text)
	}
	return strings.Join(list, ",")
}

// byName joins the pairs of a mapping: prod=delete,dev=dry-run.
func byName(v value) string {
	var list []string
	for _, p := range v.pairs {
		list = append(list, p.name+"="+p.value.text)
	}
	return strings.Join(list, ",")
}

func cleanup() shape {
	name, mode := cluster(), part("report", "dry-run", "delete")
	return shape{name: &name, value: &mode, join: byName}
}

// remedies: prod/add-nat-route=approve,dev=approve.
func remedies() shape {
	name, policy := cluster(), part("off", "approve", "auto")
	of := policy
	for _, r := range optin.Remedies() {
		of.fields = append(of.fields, field{name: string(r), shape: policy})
	}
	return shape{name: &name, value: &of, words: []string{"off"}, open: true, join: func(v value) string {
		var list []string
		for _, p := range v.pairs {
			if p.value.text != "" {
				list = append(list, p.name+"="+p.value.text)
			}
			for _, r := range p.value.pairs {
				list = append(list, p.name+"/"+r.name+"="+r.value.text)
			}
		}
		return strings.Join(list, ",")
	}}
}

// spokes: 222233334444/eu-west-1=payments.
func spokes() shape {
	return shape{
		pattern: `[^,\s]+`, what: "an account and a region, like 222233334444/eu-west-1", part: true,
		fields: []field{
			{"account", item(`[0-9]{12}`, "an account's number: twelve digits, in quotes"), true},
			{"region", item(`[a-z]{2}(-[a-z]+){1,3}-[0-9]{1,2}`, "a region like eu-west-1"), true},
			{"name", item(`[^,=\s]+`, "a name without commas and blanks"), false},
		},
		join: func(v value) string {
			text := v.get("account").text + "/" + v.get("region").text
			if name := v.get("name").text; name != "" {
				text += "=" + name
			}
			return text
		},
	}
}

// receiver is one of the targets: pagerduty/critical=rollcall/pagerduty.
func receiver() shape {
	return shape{
		pattern: `[^,\s]+`, what: "a target, like sns or pagerduty=rollcall/pagerduty", part: true,
		fields: []field{
			{"kind", part("sns", "amazonq", "pagerduty", "jsm", "teams", "slackwebhook", "webhook"), true},
			{"severity", part("info", "warning", "critical"), false},
			{"secret", item(`[^,\s]+`, "the name of a secret in Secrets Manager"), false},
			{"topic", item(`[^,\s]+`, "the ARN of a topic"), false},
		},
		apart: []string{"secret", "topic"},
		join: func(v value) string {
			text := v.get("kind").text
			if least := v.get("severity").text; least != "" {
				text += "/" + least
			}
			if where := v.get("secret").text + v.get("topic").text; where != "" {
				text += "=" + where
			}
			return text
		},
	}
}

// route: prod/critical/team:payments=C0PAGES0001@S0ONCALL01@S0LEADS001.
func route() shape {
	person := item(`here|[^,@+\s]+`, "the id of a Slack user (U…, W…) or user group (S…), or here")
	people := shape{item: &person, part: true}
	tag := shape{part: true}
	return shape{
		pattern: `[^,\s]+`, what: "a route, like prod/critical=C0PAGES0001@S0ONCALL01", part: true,
		fields: []field{
			{"cluster", cluster(), false},
			{"severity", part("info", "warning", "critical"), false},
			{"tags", shape{name: &tag, value: &tag, part: true}, false},
			{"channel", item(`[^,@\s]+`, "the id of a Slack channel"), false},
			{"page", people, false},
			{"escalate", people, false},
		},
		one:   []string{"channel", "page"},
		needs: map[string]string{"escalate": "page"},
		join: func(v value) string {
			what := []string{"all"}
			if cluster := v.get("cluster").text; cluster != "" {
				what[0] = cluster
			}
			if severity := v.get("severity").text; severity != "" {
				what = append(what, severity)
			}
			for _, p := range v.get("tags").pairs {
				what = append(what, escape(p.name)+":"+escape(p.value.text))
			}
			text := strings.Join(what, "/") + "=" + v.get("channel").text
			for _, called := range []string{"page", "escalate"} {
				if list := v.get(called).texts(); len(list) > 0 {
					text += "@" + strings.Join(list, "+")
				}
			}
			return text
		},
	}
}

// escape writes a text so that url.PathUnescape gives it again and nothing in it separates.
func escape(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

// owners: all/team=platform,prod/runbook=https://wiki.example.com/prod.
func owners() shape {
	name := cluster()
	text, address := shape{part: true}, item(`https://[^,\s]+`, "an https address, in which a comma is written as %2C")
	of := shape{part: true, fields: []field{{"team", text, false}, {"service", text, false}, {"runbook", address, false}, {"dashboard", address, false}}}
	return shape{name: &name, value: &of, join: func(v value) string {
		var list []string
		for _, p := range v.pairs {
			for _, f := range p.value.pairs {
				value := f.value.text
				if f.name == "team" || f.name == "service" {
					value = escape(value)
				}
				list = append(list, p.name+"/"+f.name+"="+value)
			}
		}
		return strings.Join(list, ",")
	}}
}

// ownerTags: team=team+owner,runbook=runbook.
func ownerTags() shape {
	name := item(`[^,+\s]([^,+\n]*[^,+\s])?`, "the name of a label or tag, without commas and plus signs")
	names := shape{item: &name, part: true}
	return shape{fields: []field{{"team", names, false}, {"service", names, false}, {"runbook", names, false}, {"dashboard", names, false}}, join: func(v value) string {
		var list []string
		for _, p := range v.pairs {
			list = append(list, p.name+"="+strings.Join(p.value.texts(), "+"))
		}
		return strings.Join(list, ",")
	}}
}
