package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/config"
	"rollcall/shared/settingsfile"
	"rollcall/shared/spec"
	"rollcall/tools/testfile"
)

func TestDefaults(t *testing.T) {
	got, err := Parse(map[string]any{"slackChannel": "C0123456789"})
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		StackName: "Rollcall",
		RolePath:  "/",
		Environment: map[spec.Variable]string{
			config.Clusters:   "all",
			config.Channel:    "C0123456789",
			config.SlackAPI:   "https://slack.com/api/",
			config.DocsURL:    "none",
			config.OwnerTags:  config.DefaultOwnerTags,
			config.Owners:     "none",
			config.LinkHosts:  "none",
			config.JoinTime:   "5m",
			config.GiveUp:     "2h",
			config.ProofTime:  "1h",
			config.ReopenTime: "24h", config.ReportHour: "8", config.WeeklyAt: "Mon/08:00",
			config.Cleanup: "report", config.CleanupGrace: "30m", config.CleanupCap: "1000", config.CleanupShare: "50", config.CleanupUntagged: "none",
			config.RunwayHorizon: "24h", config.SubnetMetrics: "off", config.Routes: "none", config.RemindAfter: "30m",
			config.SlackActions: "off", config.DecodeDenied: "off", config.ChangeNames: "on", config.InstanceData: "on", config.AutoModeLogs: "off", config.Remedies: "off", config.RemedyVPCs: "none", config.RemedyRoles: "none", config.RemedyLimit: "3", config.SweepConcurrency: "4",
			config.Approvers: "none", config.WhoResponds: "workspace", config.ApprovalTime: "1h",
			config.Targets: "none", config.PagerDutyAPI: "https://events.pagerduty.com",
			config.LogLevel: "info", config.Evidence: "30", config.Spokes: "none", config.Relays: "none", config.ExternalID: "none", config.KMSKey: "none",
		},
		Access:           AccessGroup,
		LogRetentionDays: 30, Dashboard: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if got := got.Prefix(); got != "rollcall" {
		t.Errorf("prefix: got %q, want rollcall", got)
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		name  string
		given map[string]any
		check func(Settings) bool
	}{
		{"named clusters get access", map[string]any{"clusters": " b , a"},
			func(s Settings) bool { return cmp.Equal(s.AccessClusters, []string{"a", "b"}) }},
		{"access clusters win", map[string]any{"clusters": "a,b", "accessClusters": "c"},
			func(s Settings) bool { return cmp.Equal(s.AccessClusters, []string{"c"}) }},
		{"numbers of cdk.json", map[string]any{"logRetentionDays": 90.0},
			func(s Settings) bool { return s.LogRetentionDays == 90 }},
		{"numbers of the command line", map[string]any{"logRetentionDays": "365"},
			func(s Settings) bool { return s.LogRetentionDays == 365 }},
		{"empty is not set", map[string]any{"joinTime": "", "kubernetesAccess": " "},
			func(s Settings) bool {
				return s.Environment[config.JoinTime] == "5m" && s.Access == AccessGroup
			}},
		{"the library's and the CLI's own keys", map[string]any{"@aws-cdk/core:newStyle": true, "aws:cdk:bundling-stacks": []any{"**"}, "cli-telemetry": false},
			func(s Settings) bool { return s.StackName == "Rollcall" }},
		{"ARNs of other partitions", map[string]any{"slackSecretArn": "arn:aws-us-gov:secretsmanager:us-gov-west-1:123456789012:secret:ops/slack-AbCdE1"},
			func(s Settings) bool { return strings.HasSuffix(s.SlackSecretARN, "AbCdE1") }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			given := map[string]any{"slackChannel": "C0123456789"}
			maps.Copy(given, test.given)
			got, err := Parse(given)
			if err != nil {
				t.Fatal(err)
			}
			if !test.check(got) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	const (
		secret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:slack-AbCdEf"
		topic  = "arn:aws:sns:eu-west-1:123456789012:oncall"
	)
	tests := []struct {
		name  string
		given map[string]any
		want  string
	}{
		{"no channel", map[string]any{"slackChannel": ""}, "CHANNEL: is not set. Id of the Slack channel, like C0123456789. Required unless the setting targets is set: then \"none\", or leaving it out, runs Rollcall without a Slack app. (make … CHANNEL=C0123456789)"},
		{"no channel, and no target", map[string]any{"slackChannel": "none"}, "CHANNEL: nobody gets a message: give the id of a channel, or set targets (make … CHANNEL=C0123456789)"},
		{"buttons without an app", map[string]any{"slackChannel": "", "targets": "slackwebhook=x", "slackActions": "on"}, "slackActions: needs a channel (CHANNEL=C0123456789)"},
		{"routes without an app", map[string]any{"slackChannel": "", "targets": "slackwebhook=x", "routes": "prod=C0PAGES0001"}, "routes: needs a channel"},
		{"a channel's name", map[string]any{"slackChannel": "#alerts"}, `"#alerts" is not a channel id`},
		{"join time too short", map[string]any{"joinTime": "1s"}, "joinTime: 1s is outside 1m0s to 15m0s. How long after its launch"},
		{"join time beyond SQS's delay", map[string]any{"joinTime": "16m"}, "16m0s is outside"},
		{"no duration", map[string]any{"giveUp": "soon"}, `"soon" is not a duration`},
		{"a cluster's name", map[string]any{"clusters": "prod,a b"}, `CLUSTERS: "a b" is not a cluster name`},
		{"log level", map[string]any{"logLevel": "loud"}, `debug, info, warn or error. (make … SET="logLevel=…")`},
		{"misspelt", map[string]any{"jointime": "5m"}, `jointime: is not a setting of Rollcall; did you mean joinTime? (make … SET="joinTime=…")`},
		{"like no setting", map[string]any{"colour": "red"}, "colour: is not a setting of Rollcall; there are clusters, slackChannel"},
		{"a list", map[string]any{"clusters": []any{"a"}}, "CLUSTERS: [a] ([]interface {}) is neither a text nor a number"},
		{"access for all", map[string]any{"accessClusters": "all"}, `accessClusters: wants names, not "all"`},
		{"access for no name", map[string]any{"accessClusters": "a b"}, "accessClusters: "},
		{"kind of access", map[string]any{"kubernetesAccess": "admin"}, `kubernetesAccess: "admin" is not policy, group or none`},
		{"a secret's name", map[string]any{"slackSecretArn": "slack"}, `slackSecretArn: "slack" is not the whole ARN`},
		{"a secret's ARN without its end", map[string]any{"slackSecretArn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:slack"}, "it ends in a hyphen and six characters"},
		{"a key's alias", map[string]any{"slackSecretArn": secret, "slackSecretKmsKeyArn": "alias/slack"}, `slackSecretKmsKeyArn: "alias/slack" is not the ARN of a key`},
		{"a key without a secret", map[string]any{"slackSecretKmsKeyArn": "arn:aws:kms:eu-west-1:123456789012:key/1"}, "needs slackSecretArn"},
		{"an alias of the key of targets", map[string]any{"targetSecretKmsKeyArn": "alias/rollcall"}, `targetSecretKmsKeyArn: "alias/rollcall" is not the ARN of a key`},
		{"topic", map[string]any{"alarmTopicArn": "oncall"}, `alarmTopicArn: "oncall" is not the ARN of a topic`},
		{"address", map[string]any{"alarmEmail": "oncall"}, `alarmEmail: "oncall" is not an email address`},
		{"address and topic", map[string]any{"alarmEmail": "a@b.example", "alarmTopicArn": topic}, "is for the stack's own topic"},
		{"retention", map[string]any{"logRetentionDays": "31"}, `logRetentionDays: "31" is none of [1 3 5`},
		{"retention in words", map[string]any{"logRetentionDays": "long"}, `logRetentionDays: "long" is none of`},
		{"access entries by policy, of no named role", map[string]any{"remedies": "prod/create-access-entry=auto"}, "remedyRoles: prod/create-access-entry is auto, and remedyRoles names no role"},
		{"everything by policy, of no named role", map[string]any{"remedies": "prod=auto"}, "remedyRoles names no role"},
		{"a role by its name", map[string]any{"remedyRoles": "nodes"}, `remedyRoles: "nodes" is not the whole ARN of a role`},
		{"any role", map[string]any{"remedyRoles": "arn:aws:iam::111122223333:role/*"}, "is not the whole ARN of a role"},
		{"stack's name", map[string]any{"stackName": "my stack"}, `stackName: "my stack" is not`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			given := map[string]any{"slackChannel": "C0123456789"}
			maps.Copy(given, test.given)
			got, err := Parse(given)
			if err == nil {
				t.Fatalf("got %+v, want an error", got)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, want %q in it", err, test.want)
			}
		})
	}
}

// With targets a channel may be left out: there is no Slack app then.
func TestWithoutAChannel(t *testing.T) {
	for _, given := range []map[string]any{{"targets": "slackwebhook=x"}, {"slackChannel": "none", "targets": "slackwebhook=x"}} {
		got, err := Parse(given)
		if err != nil || got.Environment[config.Channel] != config.NoChannel {
			t.Errorf("%v: %q, %v", given, got.Environment[config.Channel], err)
		}
	}
}

func TestAllThatIsWrongIsSaid(t *testing.T) {
	_, err := Parse(map[string]any{"joinTime": "1s", "kubernetesAccess": "x", "nosuch": "1"})
	for _, want := range []string{"CHANNEL", "joinTime", "kubernetesAccess", "nosuch"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

// Every key has a text, and its default is accepted.
func TestKeys(t *testing.T) {
	given := map[string]any{}
	for _, k := range Keys() {
		if k.About == "" {
			t.Errorf("%s: nothing is said of it", k.Name)
		}
		if _, twice := given[k.Name]; twice {
			t.Errorf("%s is listed twice", k.Name)
		}
		given[k.Name] = k.Default
	}
	given["slackChannel"] = "C0123456789"
	if _, err := Parse(given); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("joinTime", "5m")
	f.Add("clusters", "a,b")
	f.Add("vpcSubnetIds", "subnet-0123456789abcdef0")
	f.Add("slackSecretArn", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:slack-AbCdEf")
	f.Fuzz(func(t *testing.T, key, value string) {
		s, err := Parse(map[string]any{"slackChannel": "C0123456789", key: value})
		if err == nil && (s.StackName == "" || s.LogRetentionDays == 0) {
			t.Errorf("%q=%q: got %+v without an error", key, value, s)
		}
	})
}

func TestLine(t *testing.T) {
	got, wrong := Line{Context: []string{"slackChannel=C1", "slackChannel=C2", "cleanup=prod=delete", "stackName="}, Variables: []string{"CHANNEL", "SET", "V", "DEMO"}}.Read()
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	want := map[string]any{"slackChannel": "C2", "cleanup": "prod=delete", "stackName": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	got, wrong = Line{NoChannel: true}.Read()
	if _, err := Parse(got); err != nil || len(wrong) > 0 {
		t.Errorf("without a channel: %v, %v", err, wrong)
	}
	got, _ = Line{NoChannel: true, Context: []string{"slackChannel=C9"}}.Read()
	if got["slackChannel"] != "C9" {
		t.Errorf("the channel given: %v", got)
	}
}

func TestLineRefuses(t *testing.T) {
	for _, test := range []struct {
		line Line
		want string
	}{
		{Line{Context: []string{"slackActions"}}, `SET: "slackActions" has no value (make … SET="slackActions=…")`},
		{Line{Context: []string{"on"}}, `SET: "on" is not of the form key=value`},
		{Line{Context: []string{"=x"}}, `SET: "=x" is not of the form key=value`},
		{Line{Variables: []string{"CLUSTER"}}, "CLUSTER: is not a variable of this Makefile; did you mean CLUSTERS?"},
		{Line{Variables: []string{"channel"}}, "channel: is not a variable of this Makefile; did you mean CHANNEL?"},
		{Line{Variables: []string{"CHANEL"}}, "did you mean CHANNEL?"},
		{Line{Variables: []string{"SETS"}}, "did you mean SET?"},
	} {
		_, wrong := test.line.Read()
		if err := errors.Join(wrong...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test.line, err, test.want)
		}
	}
}

// What is wrong is said where it stands; what the line sets is the line's.
func TestLineWithAFile(t *testing.T) {
	file := File{Name: "rollcall.yaml", Text: []byte("slack:\n  channel: \"#alerts\"\nlaunches:\n  joinTime: 1s\n  giveUp: 3h\n  jionTime: 2m\n")}
	line := Line{Context: []string{"slackChannel=C9999999999", "giveUp=1m"}, File: file}
	_, _, err := line.Parse()
	for _, want := range []string{
		"rollcall.yaml, line 4, column 3: launches.joinTime is not valid: 1s is outside 1m0s to 15m0s. How long after its launch",
		"rollcall.yaml, line 6, column 3: launches.jionTime is not a setting of Rollcall; did you mean joinTime?",
		`giveUp: 1m0s is outside 10m0s to 24h0m0s. How long an instance that has not joined is rechecked (10m to 24h). (make … SET="giveUp=…")`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "#alerts") {
		t.Errorf("the line's channel counts: %v", err)
	}
	if diff := cmp.Diff([]string{"CHANNEL: the line wins over slack.channel (rollcall.yaml, line 2)", "giveUp: the line wins over launches.giveUp (rollcall.yaml, line 5)"}, line.Overridden()); diff != "" {
		t.Errorf("what the line wins over (-want +got):\n%s", diff)
	}
	_, _, err = Line{File: file}.Parse()
	if want := `rollcall.yaml, line 2, column 3: slack.channel is not valid: "#alerts" is not a channel id`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q in it", err, want)
	}
}

// What is missing is missing in the file.
func TestAFileWithoutAChannel(t *testing.T) {
	_, _, err := Line{File: File{Name: "rollcall.yaml", Text: []byte("clusters: all\n")}}.Parse()
	if want := "rollcall.yaml: slack.channel: is not set. Id of the Slack channel"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestLineAndFile(t *testing.T) {
	file := File{Name: "rollcall.yaml", Text: []byte("slackChannel: C1111111111\nclusters: [prod]\njoinTime: 4m\ntags: {team: platform}\n")}
	chosen, context, err := Line{NoChannel: true, Context: []string{"clusters=dev"}, File: file}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"slackChannel": "C1111111111", "clusters": "dev", "joinTime": "4m"}, context); diff != "" || chosen.Environment[config.JoinTime] != "4m" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	// As the CDK app takes it: the line's context wins, but for the channel of a target that needs none.
	more, tags, wrong := Line{File: file}.Below(map[string]any{"slackChannel": placeholder, "clusters": "dev", "aws:cdk:x": true}, "https://pages.example/")
	if diff := cmp.Diff(map[string]any{"slackChannel": "C1111111111", "joinTime": "4m", "docsUrl": "https://pages.example/"}, more); diff != "" || len(wrong) > 0 || tags["team"] != "platform" {
		t.Errorf("%v, %v, the file's (-want +got):\n%s", tags, wrong, diff)
	}
	if more, _, _ := (Line{}).Below(map[string]any{"docsUrl": "none"}, "https://pages.example/"); len(more) > 0 {
		t.Errorf("an address that the line sets: %v", more)
	}
	if _, err := ReadFile("nosuch.yaml"); err == nil {
		t.Error("a file that is not there")
	}
}

func TestNearest(t *testing.T) {
	var keys []string
	for _, k := range Keys() {
		keys = append(keys, k.Name)
	}
	for word, want := range map[string]string{
		"jointime": "joinTime", "joinTme": "joinTime", "jionTime": "joinTime", "JOIN_TIME": "joinTime",
		"logRetentionDay": "logRetentionDays", "slackChanel": "slackChannel", "cluster": "clusters",
		"approver": "approvers", "remedyVPC": "remedyVpcs",
		// Nothing like it: no guess is better than a wrong one.
		"colour": "", "x": "", "": "",
	} {
		if got := settingsfile.Nearest(word, keys); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	// Each key is nearest to itself.
	for _, k := range keys {
		if got := settingsfile.Nearest(k, keys); got != k {
			t.Errorf("%q: got %q", k, got)
		}
	}
}

func TestPageIsFresh(t *testing.T) {
	got := testfile.Read(t, "../../docs/settings.md")
	if diff := cmp.Diff(Page(), string(got)); diff != "" {
		t.Errorf("docs/settings.md is stale, run make generate (-want +got):\n%s", diff)
	}
}

// The settings file has a place for every key, and no other: both fail for what the other lacks.
func TestTheFileHasEverySetting(t *testing.T) {
	schema, err := settingsfile.Schema(ForFile())
	if err != nil {
		t.Fatal(err)
	}
	sample, err := settingsfile.Sample(ForFile())
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"rollcall.schema.json": string(schema), "rollcall.yaml": sample} {
		if diff := cmp.Diff(want, string(testfile.Read(t, "../../deploy/"+file))); diff != "" {
			t.Errorf("deploy/%s is stale, run make generate (-want +got):\n%s", file, diff)
		}
	}
}

// The sample as it is, and with all its defaults written out, is what a channel alone is; each
// of its lines can be taken in by itself.
func TestTheSample(t *testing.T) {
	sample, err := settingsfile.Sample(ForFile())
	if err != nil {
		t.Fatal(err)
	}
	want, err := Parse(map[string]any{"slackChannel": "C0123456789"})
	if err != nil {
		t.Fatal(err)
	}
	meant := func(file string) (Settings, int) {
		context, _, problems := settingsfile.Read([]byte(file))
		got, err := Parse(context)
		if err := errors.Join(append(problems, err)...); err != nil {
			t.Errorf("%v", err)
		}
		return got, len(context)
	}
	setting := regexp.MustCompile(`^( *)# ([A-Za-z]+: .*)$`)
	all := strings.Split(sample, "\n")
	defaults := slices.Clone(all)
	for i, line := range all {
		m := setting.FindStringSubmatch(line)
		if m == nil || all[i+1] != "" {
			continue // a setting is the last line of its comment
		}
		if !strings.HasSuffix(all[i-1], "No default, for example:") {
			defaults[i] = m[1] + m[2]
			one := slices.Clone(all)
			one[i] = m[1] + m[2]
			if got, n := meant(strings.Join(one, "\n")); n != 2 || !cmp.Equal(want, got) {
				t.Errorf("%s: %d settings, %s", m[2], n, cmp.Diff(want, got))
			}
			continue
		}
		one := slices.Clone(all)
		one[i] = m[1] + m[2]
		if _, _, problems := settingsfile.Read([]byte(strings.Join(one, "\n"))); len(problems) > 0 {
			t.Errorf("%s: %v", m[2], problems)
		}
	}
	for _, file := range []string{sample, strings.Join(defaults, "\n")} {
		got, n := meant(file)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d settings of the sample (-want +got):\n%s", n, diff)
		}
	}
	if _, n := meant(strings.Join(defaults, "\n")); n < 40 {
		t.Errorf("%d defaults were taken in", n)
	}
}

// A file means what its line means.
func TestAFileMeansWhatItsLineMeans(t *testing.T) {
	const file = `
clusters: [prod, dev, 222233334444/eu-west-1/prod]
slack: {channel: C0123456789, buttons: on, approvers: [U0123ABCD, S0ONCALL01], responders: channel}
kubernetesAccess: policy
remedies: {prod: {add-nat-route: approve, replace-instance: auto}, dev: approve}
remedyVpcs: [vpc-0123456789abcdef0]
cleanup: {prod: delete, dev: dry-run}
spokes: [{account: "222233334444", region: eu-west-1, name: payments}]
externalId: rollcall-7f3a91c2
routes: [{cluster: prod, severity: critical, channel: C0PAGES0001, page: [S0ONCALL01], escalate: [S0LEADS001]}]
targets: [{kind: pagerduty, severity: critical, secret: rollcall/pagerduty}, sns]
owners: {all: {team: "R&D, all"}}
launches: {joinTime: 4m, evidence: off}
stack: {logRetentionDays: 90}
tags: {cost-center: "1234"}
`
	line := Line{Context: []string{
		"clusters=prod,dev,222233334444/eu-west-1/prod", "slackChannel=C0123456789", "slackActions=on", "approvers=U0123ABCD,S0ONCALL01", "responders=channel",
		"kubernetesAccess=policy", "remedies=prod/add-nat-route=approve,prod/replace-instance=auto,dev=approve", "remedyVpcs=vpc-0123456789abcdef0",
		"cleanup=prod=delete,dev=dry-run", "spokes=222233334444/eu-west-1=payments", "externalId=rollcall-7f3a91c2",
		"routes=prod/critical=C0PAGES0001@S0ONCALL01@S0LEADS001", "targets=pagerduty/critical=rollcall/pagerduty,sns",
		"owners=all/team=R%26D%2C%20all", "joinTime=4m", "evidence=off", "logRetentionDays=90",
	}}
	context, wrong := line.Read()
	got, tags, problems := settingsfile.Read([]byte(file))
	if err := errors.Join(append(wrong, problems...)...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(context, got); diff != "" {
		t.Errorf("context (-line +file):\n%s", diff)
	}
	if _, err := Parse(got); err != nil || tags["cost-center"] != "1234" {
		t.Errorf("%v, tags %v", err, tags)
	}
}

// The bounds of numbers in the schema are those of the settings.
func TestBoundsOfTheSchema(t *testing.T) {
	raw, err := settingsfile.Schema(ForFile())
	if err != nil {
		t.Fatal(err)
	}
	type form struct {
		Type             any
		Minimum, Maximum int
	}
	var schema struct {
		Defs map[string]struct{ AnyOf []form } `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	numbers := 0
	for key, def := range schema.Defs {
		for _, f := range def.AnyOf {
			if f.Type != "integer" {
				continue
			}
			numbers++
			for n, good := range map[int]bool{f.Minimum: true, f.Maximum: true, f.Minimum - 1: false, f.Maximum + 1: false} {
				if _, err := Parse(map[string]any{"slackChannel": "C0123456789", key: strconv.Itoa(n)}); (err == nil) != good {
					t.Errorf("%s=%d: %v", key, n, err)
				}
			}
		}
	}
	if numbers < 7 {
		t.Errorf("%d numbers", numbers)
	}
}

func TestVPC(t *testing.T) {
	tests := []struct {
		name            string
		subnets, groups any
		want            VPC
	}{
		{"none", nil, nil, VPC{}},
		{"empty is not set", "", " ", VPC{}},
		{"one of each", "subnet-0123456789abcdef0", "sg-0123456789abcdef0",
			VPC{SubnetIDs: []string{"subnet-0123456789abcdef0"}, SecurityGroupIDs: []string{"sg-0123456789abcdef0"}}},
		{"several, in the order given, old ids too", " subnet-0b0b0b0b0b0b0b0b0 , subnet-12345678", "sg-0fedcba9876543210,sg-12345678",
			VPC{SubnetIDs: []string{"subnet-0b0b0b0b0b0b0b0b0", "subnet-12345678"}, SecurityGroupIDs: []string{"sg-0fedcba9876543210", "sg-12345678"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse(map[string]any{"slackChannel": "C0123456789", VPCSubnetIDs: test.subnets, VPCSecurityGroupIDs: test.groups})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.VPC); diff != "" {
				t.Errorf("VPC (-want +got):\n%s", diff)
			}
			if got, want := got.VPC.Given(), len(test.want.SubnetIDs) > 0; got != want {
				t.Errorf("given: got %v, want %v", got, want)
			}
		})
	}
}

func TestVPCRefuses(t *testing.T) {
	const (
		subnet = "subnet-0123456789abcdef0"
		group  = "sg-0123456789abcdef0"
	)
	tests := []struct {
		name            string
		subnets, groups string
		want            string
	}{
		{"no security group", subnet, "", "vpcSecurityGroupIds: is not set, but vpcSubnetIds is: create a security group that allows outbound port 443, allow it in the clusters' security groups, and name it here"},
		{"no subnet", "", group, "vpcSubnetIds: is not set, but vpcSecurityGroupIds is: name the private subnets too, or neither"},
		{"a VPC's id", "vpc-0123456789abcdef0", group, `vpcSubnetIds: "vpc-0123456789abcdef0" is not the id of a subnet (subnet-0123456789abcdef0)`},
		{"the two mixed up", group, subnet, `vpcSecurityGroupIds: "subnet-0123456789abcdef0" is not the id of a security group (sg-0123456789abcdef0)`},
		{"a digit short", "subnet-0123456789abcdef", group, `"subnet-0123456789abcdef" is not the id`},
		{"capitals", "subnet-0123456789ABCDEF0", group, `"subnet-0123456789ABCDEF0" is not the id`},
		{"an ARN", "arn:aws:ec2:eu-west-1:123456789012:subnet/" + subnet, group, "is not the id of a subnet"},
		{"nothing between commas", subnet + ",", group, `vpcSubnetIds: "" is not the id of a subnet`},
		{"twice", subnet, group + "," + group, "vpcSecurityGroupIds: sg-0123456789abcdef0 is named twice"},
		{"too many subnets", ids("subnet", 17), group, "vpcSubnetIds: names 17, Lambda takes 16 at most"},
		{"too many security groups", subnet, ids("sg", 6), "vpcSecurityGroupIds: names 6, Lambda takes 5 at most"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse(map[string]any{"slackChannel": "C0123456789", VPCSubnetIDs: test.subnets, VPCSecurityGroupIDs: test.groups})
			if err == nil {
				t.Fatalf("got %+v, want an error", got.VPC)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, want %q in it", err, test.want)
			}
		})
	}
}

func ids(kind string, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%s-%017x", kind, i))
	}
	return strings.Join(list, ",")
}
