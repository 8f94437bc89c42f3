package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/remedy/optin"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/tools/expect"
)

func env(m map[string]string) func(string) string {
	return func(name string) string { return m[name] }
}

var all = []spec.Variable{Clusters, Channel, SlackSecretARN, SlackAPI, JoinTime, GiveUp, ProofTime, ReopenTime, ReportHour, LogLevel, TableName, BusName, JoinQueueURL, ResultQueueURL}

func good() map[string]string {
	return map[string]string{
		"AWS_REGION":                "us-west-2",
		"ROLLCALL_SLACK_CHANNEL":    "C0123456789",
		"ROLLCALL_SLACK_SECRET_ARN": "arn:aws:secretsmanager:us-west-2:111122223333:secret:slack",
		"ROLLCALL_TABLE":            "Rollcall",
		"ROLLCALL_BUS":              "rollcall",
		"ROLLCALL_JOIN_QUEUE_URL":   "https://sqs.us-west-2.amazonaws.com/111122223333/joins",
		"ROLLCALL_RESULT_QUEUE_URL": "https://sqs.us-west-2.amazonaws.com/111122223333/results.fifo",
	}
}

func TestLoadDefaults(t *testing.T) {
	got, err := Load(env(good()), all)
	expect.OK(t, err)
	want := Config{
		Channel: "C0123456789", SlackSecretARN: "arn:aws:secretsmanager:us-west-2:111122223333:secret:slack",
		SlackAPI: "https://slack.com/api/", JoinTime: 5 * time.Minute, GiveUp: 2 * time.Hour, ProofTime: time.Hour, ReopenTime: 24 * time.Hour, ReportHour: 8,
		TableName: "Rollcall", BusName: "rollcall", Region: "us-west-2",
		JoinQueueURL:   "https://sqs.us-west-2.amazonaws.com/111122223333/joins",
		ResultQueueURL: "https://sqs.us-west-2.amazonaws.com/111122223333/results.fifo",
	}
	expect.Same(t, "Load", got, want, cmpopts.IgnoreFields(Config{}, "Clock"))
	if !got.Watches("anything") {
		t.Error("without a list every cluster is watched, but Watches says no")
	}
}

func TestLoadReadsOnlyWhatIsWanted(t *testing.T) {
	got, err := Load(env(map[string]string{"ROLLCALL_SLACK_CHANNEL": "nonsense"}), []spec.Variable{JoinTime})
	if err != nil || got.Channel != "" || got.JoinTime != 5*time.Minute {
		t.Errorf("Load = %+v, %v; want the join time alone", got, err)
	}
}

func TestLoadClusters(t *testing.T) {
	m := good()
	m["ROLLCALL_CLUSTERS"] = "prod, dev ,prod"
	got, err := Load(env(m), all)
	expect.OK(t, err)
	expect.Same(t, "clusters", got.Clusters, []string{"dev", "prod"})
	if got.Watches("stage") || !got.Watches("prod") {
		t.Errorf("Watches(stage), Watches(prod) = %v, %v; want false, true", got.Watches("stage"), got.Watches("prod"))
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	tests := []struct {
		variable spec.Variable
		value    string
		say      []string
	}{
		{Channel, "", []string{"ROLLCALL_SLACK_CHANNEL", "is not set", "-c slackChannel="}},
		{Channel, "#alerts", []string{`"#alerts" is not a channel id`}},
		{Clusters, "prod,,dev", []string{`"" is not a cluster name`, "-c clusters="}},
		{Clusters, "-x", []string{`"-x" is not a cluster name`}},
		{JoinTime, "5", []string{`"5" is not a duration`}},
		{JoinTime, "20m", []string{"outside 1m0s to 15m0s"}},
		{GiveUp, "1s", []string{"outside 10m0s to 24h0m0s"}},
		{ReopenTime, "-1h", []string{"outside 0s to 168h0m0s"}},
		{ReportHour, "24", []string{`"24" is not an hour of the day (0 to 23)`, "-c reportHour="}},
		{ReportHour, "8h", []string{`"8h" is not an hour`}},
		{LogLevel, "loud", []string{"ROLLCALL_LOG_LEVEL"}},
		{SlackAPI, "slack.com", []string{"is not an http(s) address"}},
		{DocsURL, "http://docs.example.com", []string{"neither \"none\" nor an https address"}},
		{DocsURL, "https://docs.example.com/?a=b", []string{"neither \"none\" nor an https address"}},
		{DocsURL, "https://me:secret@docs.example.com/", []string{"neither \"none\" nor an https address"}},
		{TableName, "", []string{"ROLLCALL_TABLE", "is not set", "deploy again"}},
		{JoinQueueURL, "", []string{"ROLLCALL_JOIN_QUEUE_URL", "is not set"}},
		{"ROLLCALL_NONSENSE", "1", []string{"is not a setting of Rollcall"}},
		{StageClock, "now", []string{"ROLLCALL_STAGE_CLOCK"}},
		{StageClock, "@no/such/file", []string{"ROLLCALL_STAGE_CLOCK", "the stage's clock", "no/such/file"}},
		{StageEndpoints, "open", []string{"ROLLCALL_STAGE_DOORS"}},
	}
	for _, test := range tests {
		m := good()
		m[string(test.variable)] = test.value
		wanted := all
		if test.variable != StageClock && test.variable != StageEndpoints {
			wanted = append([]spec.Variable{test.variable}, all...)
		}
		_, err := Load(env(m), wanted)
		if err == nil {
			t.Errorf("%s=%q: no error", test.variable, test.value)
			continue
		}
		for _, say := range test.say {
			if !strings.Contains(err.Error(), say) {
				t.Errorf("%s=%q: error %q does not say %q", test.variable, test.value, err, say)
			}
		}
	}
}

func TestLoadSaysAllAtOnce(t *testing.T) {
	_, err := Load(env(nil), all)
	if err == nil {
		t.Fatal("no error")
	}
	for _, v := range []spec.Variable{Channel, SlackSecretARN, TableName, BusName, JoinQueueURL, ResultQueueURL} {
		if !strings.Contains(err.Error(), string(v)) {
			t.Errorf("%q does not name %s", err, v)
		}
	}
}

func TestSettingsDefaultsAreValid(t *testing.T) {
	for _, s := range Settings() {
		if s.Default == "" {
			continue
		}
		var c Config
		if err := c.set(s.Variable, s.Default); err != nil {
			t.Errorf("%s: default %q: %v", s.Variable, s.Default, err)
		}
	}
}

func TestClock(t *testing.T) {
	anchor := time.Now()
	c, err := parseClock("2026-11-20T14:41:00Z," + strconv.FormatInt(anchor.Add(-time.Second).UnixNano(), 10) + ",60")
	expect.OK(t, err)
	got := c.Now().Sub(time.Date(2026, 11, 20, 14, 41, 0, 0, time.UTC))
	if got < time.Minute || got > 10*time.Minute {
		t.Errorf("a second at rate 60 is %s, want about a minute", got)
	}
	if d := time.Until((Clock{}).Now()); d > time.Second || d < -time.Second {
		t.Errorf("the zero clock is %s off the wall clock", d)
	}
	for _, bad := range []string{"x", "a,b,c", "2026-11-20T14:41:00Z,0,0", "2026-11-20T14:41:00Z,0,-1", "2026-11-20T14:41:00Z,x,1", "2026-11-20T14:41:00Z,0,NaN"} {
		if _, err := parseClock(bad); err == nil {
			t.Errorf("parseClock(%q): no error", bad)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("all", "C01", "5m", "https://x/y")
	f.Fuzz(func(t *testing.T, clusters, channel, join, url string) {
		m := good()
		m["ROLLCALL_CLUSTERS"], m["ROLLCALL_SLACK_CHANNEL"], m["ROLLCALL_JOIN_TIME"], m["ROLLCALL_JOIN_QUEUE_URL"] = clusters, channel, join, url
		c, err := Load(env(m), all)
		if err == nil && (c.JoinTime < time.Minute || c.JoinTime > 15*time.Minute || c.Channel == "" || c.JoinQueueURL == "") {
			t.Fatalf("out of bounds without an error: %+v", c)
		}
	})
}

func TestDocsURL(t *testing.T) {
	for text, want := range map[string]string{"": "", "none": "", "https://docs.example.com/rollcall/": "https://docs.example.com/rollcall", "https://docs.example.com": "https://docs.example.com"} {
		got, err := Load(env(map[string]string{"ROLLCALL_DOCS_URL": text}), []spec.Variable{DocsURL})
		if err != nil || got.DocsURL != want {
			t.Errorf("%q: %q, %v, want %q", text, got.DocsURL, err, want)
		}
	}
}

func TestParseCleanup(t *testing.T) {
	for text, want := range map[string]map[string]CleanupMode{
		"report":                   nil,
		"prod=delete":              {"prod": Delete},
		"prod=delete, dev=dry-run": {"prod": Delete, "dev": DryRun},
		"prod=report":              {"prod": Report},
	} {
		got, err := parseCleanup(text)
		if diff := cmp.Diff(got, want); err != nil || diff != "" {
			t.Errorf("parseCleanup(%q): %v (-got +want):\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"", "delete", "dry-run", "all=", "*=delete", "prod=Delete", "prod=delete,prod=report", "prod=delete,", "=delete"} {
		if got, err := parseCleanup(text); err == nil {
			t.Errorf("parseCleanup(%q) = %v, want an error", text, got)
		}
	}
	c := Config{Cleanups: map[string]CleanupMode{"prod": Delete}}
	if c.CleanupOf("prod") != Delete || c.CleanupOf("dev") != Report {
		t.Error("a cluster that did not opt in is not merely reported")
	}
}

func TestParseVPCs(t *testing.T) {
	got, err := parseVPCs("vpc-0b, vpc-0a1b2c3d4e5f60718")
	if err == nil {
		t.Errorf("parseVPCs took vpc-0b: %v", got)
	}
	got, err = parseVPCs("vpc-0a1b2c3d4e5f60718,vpc-01234567")
	if diff := cmp.Diff(got, []string{"vpc-01234567", "vpc-0a1b2c3d4e5f60718"}); err != nil || diff != "" {
		t.Errorf("%v (-got +want):\n%s", err, diff)
	}
	if got, err := parseVPCs("none"); got != nil || err != nil {
		t.Errorf("none = %v, %v", got, err)
	}
}

// Whatever the settings are, nothing is deleted in a cluster or a VPC that they
// do not name.
func FuzzCleanup(f *testing.F) {
	f.Add("report", "none")
	f.Add("prod=delete, dev=dry-run", "vpc-0a1b2c3d4e5f60718,vpc-01234567")
	f.Add("delete", "vpc-")
	f.Add("prod=delete,prod=report", ",")
	f.Fuzz(func(t *testing.T, modes, vpcs string) {
		named, err := parseCleanup(modes)
		if err == nil {
			for cluster := range named {
				if !clusterName.MatchString(cluster) || !strings.Contains(modes, cluster) {
					t.Fatalf("%q names no %q", modes, cluster)
				}
			}
			if mode := (Config{Cleanups: named}).CleanupOf("another of these"); mode != Report {
				t.Fatalf("%q: %s for a cluster that is not named", modes, mode)
			}
		} else if named != nil {
			t.Fatalf("%q: %v beside an error", modes, named)
		}
		ids, err := parseVPCs(vpcs)
		for _, id := range ids {
			if err != nil || !strings.HasPrefix(id, "vpc-") || !strings.Contains(vpcs, id) {
				t.Fatalf("%q: %q, %v", vpcs, id, err)
			}
		}
	})
}

func TestParseLogGroups(t *testing.T) {
	for text, want := range map[string]LogGroups{
		"off":                              nil,
		"/aws/vendedlogs/eks/*":            {"/aws/vendedlogs/eks/*"},
		" auto-mode , auto-mode,a.b_c#1/x": {"a.b_c#1/x", "auto-mode"},
	} {
		got, err := parseLogGroups(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
	var many []string
	for i := range 21 {
		many = append(many, fmt.Sprintf("group-%d", i))
	}
	for text, want := range map[string]string{
		"": "no name", "on": "no name", "*": "no name", "/a*b": "no name", "/a,": "no name", "arn:aws:logs:us-west-2:111122223333:log-group:x": "no name",
		strings.Repeat("a", 513): "no name", strings.Join(many, ","): "21 log groups are more than 20",
	} {
		if list, err := parseLogGroups(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v; want an error that says %q", text, list, err, want)
		}
	}
	if list, err := parseLogGroups(strings.Join(many[:20], ",")); err != nil || len(list) != 20 {
		t.Errorf("twenty: %d, %v", len(list), err)
	}
}

func TestLogGroupsName(t *testing.T) {
	l := LogGroups{"/aws/vendedlogs/eks/*", "mine"}
	for group, want := range map[string]bool{"/aws/vendedlogs/eks/prod": true, "/aws/vendedlogs/eks/": true, "mine": true, "mine2": false, "/aws/vendedlogs/vpc": false, "": false} {
		expect.Equal(t, fmt.Sprintf("%q is named", group), l.Name(group), want)
	}
	if (LogGroups)(nil).Name("x") {
		t.Error("off names a group")
	}
}

func TestPackedSettingsAreRead(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("platform-prod-eu-west-1-team-%03d", i))
	}
	plain := strings.Join(names, ",")
	text := Pack(plain)
	if len(text) > len(plain)/4 {
		t.Errorf("%d characters were packed into %d", len(plain), len(text))
	}
	c, err := Load(func(name string) string { return map[string]string{string(Clusters): text}[name] }, []spec.Variable{Clusters})
	expect.OK(t, err)
	expect.Same(t, "clusters", c.Clusters, names)
}

func TestWhatIsNotPackedRightIsRefused(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"gzip:%%%", "unpack: illegal base64"},
		{"gzip:aGVsbG8=", "unpack: unexpected EOF"},
		{Pack("prod")[:20], "unpack:"},
		{Pack(strings.Repeat("a", mostUnpacked+1)), "unpack: more than 1048576 bytes"},
		{Pack("not/a/name"), `"not/a/name" is not a cluster name`},
	} {
		_, err := Load(func(name string) string { return map[string]string{string(Clusters): test.text}[name] }, []spec.Variable{Clusters})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), string(Clusters)) {
			t.Errorf("%.40q: got %v, want %q", test.text, err, test.want)
		}
	}
}

func TestRelay(t *testing.T) {
	good := map[string]string{
		string(RelayCluster): "arn:aws-us-gov:eks:us-gov-west-1:222233334444:cluster/a_b-1", string(RelayEndpoint): "https://A1.gr7.us-gov-west-1.eks.amazonaws.com", string(RelayCA): "Q0E=", string(InVPC): "on", string(Relays): "prod, dev",
	}
	wanted := []spec.Variable{RelayCluster, RelayEndpoint, RelayCA, InVPC, Relays}
	c, err := Load(func(name string) string { return good[name] }, wanted)
	expect.OK(t, err)
	expect.Same(t, "got", c.Relay, Relay{good[string(RelayCluster)], good[string(RelayEndpoint)], []byte("CA"), true, []string{"dev", "prod"}})
	for _, x := range []struct {
		variable spec.Variable
		text     string
	}{
		{RelayCluster, ""}, {RelayCluster, "prod"}, {RelayCluster, "arn:aws:eks:us-east-1:222233334444:cluster/a/b"}, {RelayCluster, "arn:aws:eks:us-east-1:222233334444:nodegroup/a"},
		{RelayEndpoint, ""}, {RelayEndpoint, "http://a.test"}, {RelayEndpoint, "https://a.test/"}, {RelayEndpoint, "https://a.test/api"}, {RelayEndpoint, "https://b@a.test"}, {RelayEndpoint, "https://a.test?x"},
		{RelayCA, ""}, {RelayCA, "-----BEGIN CERTIFICATE-----"}, {InVPC, "yes"}, {Relays, "all"}, {Relays, "a b"},
	} {
		if _, err := Load(func(name string) string {
			if name == string(x.variable) {
				return x.text
			}
			return good[name]
		}, wanted); err == nil {
			t.Errorf("%s=%q is taken", x.variable, x.text)
		}
	}
	// An earlier release's template does not say it: the function is in no VPC.
	if c, err := Load(func(string) string { return "" }, []spec.Variable{InVPC}); err != nil || c.InVPC {
		t.Errorf("%v, %v", c.InVPC, err)
	}
}

func TestRemedies(t *testing.T) {
	for _, test := range []struct {
		text string
		want map[string]map[optin.Remedy]optin.Policy
		bad  bool
	}{
		{text: "off"},
		{text: "prod/add-nat-route=approve, prod/replace-instance=auto", want: map[string]map[optin.Remedy]optin.Policy{
			"prod": {optin.AddNATRoute: optin.Approve, optin.ReplaceInstance: optin.Auto},
		}},
		{text: "dev=approve,dev/cover-zones=off", want: map[string]map[optin.Remedy]optin.Policy{
			"dev": {
				optin.AddNATRoute: optin.Approve, optin.ReplaceInstance: optin.Approve, optin.OpenEndpointSecurityGroup: optin.Approve,
				optin.CoverZones: optin.Off, optin.DeleteLeakedInterfaces: optin.Approve, optin.CreateAccessEntry: optin.Approve,
			},
		}},
		{text: "auto", bad: true},
		{text: "*=auto", bad: true},
		{text: "all=yes", bad: true},
		{text: "prod/reboot=auto", bad: true},
		{text: "prod/add-nat-route", bad: true},
		{text: "prod/add-nat-route=auto,prod/add-nat-route=off", bad: true},
		{text: "", bad: true},
	} {
		got, err := parseRemedies(test.text)
		if test.bad != (err != nil) {
			t.Errorf("%q: error %v", test.text, err)
		}
		if diff := cmp.Diff(test.want, got); err == nil && diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestRoles(t *testing.T) {
	const one, two = "arn:aws:iam::111122223333:role/nodes", "arn:aws-us-gov:iam::111122223333:role/eks/nodes/workers.a+b=c@d_e-f"
	got, err := parseRoles(one + ", " + two + "," + one)
	if diff := cmp.Diff([]string{two, one}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := parseRoles("none"); got != nil || err != nil {
		t.Errorf("none: %q, %v", got, err)
	}
	for _, text := range []string{
		"", "nodes", "*", "all", one + "*", "arn:aws:iam::111122223333:role/*", "arn:aws:iam::111122223333:role/n?des", "arn:aws:iam::*:role/nodes", "arn:aws:iam::111122223333:role/${aws:PrincipalTag/x}",
		"arn:aws:iam::111122223333:role/", "arn:aws:iam::111122223333:role/nodes/", "arn:aws:iam::111122223333:user/nodes", "arn:aws:sts::111122223333:assumed-role/nodes/i-0", "arn:aws:iam::1111:role/nodes", one + ",",
	} {
		if got, err := parseRoles(text); err == nil || !strings.Contains(err.Error(), "is not the whole ARN of a role") {
			t.Errorf("%q is taken for %q, error %v", text, got, err)
		}
	}
	var many []string
	for n := range mostRoles + 1 {
		many = append(many, fmt.Sprintf("%s%d", one, n))
	}
	if _, err := parseRoles(strings.Join(many, ",")); err == nil || err.Error() != "names 21 roles, at most 20 can be named" {
		t.Errorf("21 roles: %v", err)
	}
	if got, err := parseRoles(strings.Join(many[1:], ",")); err != nil || len(got) != mostRoles {
		t.Errorf("20 roles: %d, %v", len(got), err)
	}
}

// A policy must not decide alone which role becomes a cluster's nodes.
func TestAutoNeedsRoles(t *testing.T) {
	for _, test := range []struct {
		remedies, roles string
		bad             bool
	}{
		{"prod/create-access-entry=auto", "none", true},
		{"prod/create-access-entry=auto", "", true},
		{"prod=auto", "none", true},
		{"dev=approve,prod=auto", "none", true},
		{"prod=auto,prod/create-access-entry=approve", "none", false},
		{"prod=auto,prod/create-access-entry=off", "none", false},
		{"prod=approve", "none", false},
		{"prod/replace-instance=auto", "none", false},
		{"prod=auto", "arn:aws:iam::111122223333:role/nodes", false},
	} {
		_, err := Load(env(map[string]string{"ROLLCALL_REMEDIES": test.remedies, "ROLLCALL_REMEDY_ROLES": test.roles}), []spec.Variable{Remedies, RemedyRoles})
		if errors.Is(err, errAutoNeedsRoles) != test.bad || (err != nil) != test.bad {
			t.Errorf("%s with %s: %v", test.remedies, test.roles, err)
		}
		if test.bad && !strings.Contains(err.Error(), "-c remedyRoles=") {
			t.Errorf("%q does not say what to set", err)
		}
	}
}

func TestApprovers(t *testing.T) {
	got, err := parseApprovers("U0ONCALL01,S0123456789, U0ONCALL01")
	if diff := cmp.Diff([]string{"S0123456789", "U0ONCALL01"}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"", "oncall", "@oncall", "C0123456789", "all", "*"} {
		if got, err := parseApprovers(text); err == nil {
			t.Errorf("%q is taken for %q", text, got)
		}
	}
}

func TestResponders(t *testing.T) {
	var many []string
	for n := range mostResponders + 1 {
		many = append(many, fmt.Sprintf("U%07d", n))
	}
	for text, want := range map[string]Responders{
		"workspace":                 {},
		"channel":                   {Channel: true},
		"U0ONCALL01, S0LEADS001":    {IDs: []string{"S0LEADS001", "U0ONCALL01"}},
		strings.Join(many[1:], ","): {IDs: many[1:]},
	} {
		got, err := parseResponders(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", text, diff, err)
		}
	}
	for text, says := range map[string]string{
		"none": "slackActions=off", "everybody": `neither "workspace" nor "channel"`, "": "neither", "U0ONCALL01,": "neither", "T0ACME0001": "neither",
		strings.Join(many, ","): "51 ids, at most 50",
	} {
		if got, err := parseResponders(text); err == nil || !strings.Contains(err.Error(), says) || got.Channel || got.IDs != nil {
			t.Errorf("%q is %+v, %v; want an error with %q", text, got, err, says)
		}
	}
}

func TestRoutesAndReminders(t *testing.T) {
	load := func(routes, remind string) (Config, error) {
		set := map[string]string{string(Routes): routes, string(RemindAfter): remind}
		return Load(func(name string) string { return set[name] }, []spec.Variable{Routes, RemindAfter})
	}
	c, err := load("", "")
	if err != nil || c.Routes != nil || c.RemindAfter != 30*time.Minute {
		t.Errorf("by default %v and %s, %v", c.Routes, c.RemindAfter, err)
	}
	if c, err = load("prod/critical=C0PAGES0001@S0ONCALL01", "0"); err != nil || len(c.Routes) != 1 || c.RemindAfter != 0 {
		t.Errorf("got %v and %s, %v", c.Routes, c.RemindAfter, err)
	}
	for routes, remind := range map[string]string{"prod=#alerts": "30m", "none": "1m", "all=C01": "often"} {
		if _, err := load(routes, remind); err == nil || !strings.Contains(err.Error(), "set it with `-c r") {
			t.Errorf("%q and %q gave %v", routes, remind, err)
		}
	}
}

var (
	payments = spoke.ID{Account: "222233334444", Region: "us-west-2"}
	europe   = spoke.ID{Account: "222233334444", Region: "eu-west-1"}
)

func loaded(t *testing.T, env map[string]string) Config {
	t.Helper()
	c, err := load(env)
	expect.OK(t, err)
	return c
}

func load(env map[string]string) (Config, error) {
	all := map[string]string{"AWS_REGION": "us-west-2", "ROLLCALL_ACCOUNT": "111122223333", "ROLLCALL_EXTERNAL_ID": "rollcall-1", "ROLLCALL_ROLE_PREFIX": "rollcall"}
	for k, v := range env {
		all[k] = v
	}
	return Load(func(name string) string { return all[name] }, append(SpokeVariables(), Clusters, Cleanup, Remedies, Routes))
}

// TestANameIsTheHubsOwn: what the settings say of a cluster by its name alone is of the
// hub's own cluster, never of another account's of the same name.
func TestANameIsTheHubsOwn(t *testing.T) {
	c := loaded(t, map[string]string{
		"ROLLCALL_SPOKES":   "222233334444/us-west-2=payments,222233334444/eu-west-1",
		"ROLLCALL_CLUSTERS": "prod,222233334444/us-west-2/prod,222233334444/us-west-2/dev",
		"ROLLCALL_CLEANUP":  "prod=delete,222233334444/us-west-2/prod=dry-run",
		"ROLLCALL_REMEDIES": "prod=auto,prod/create-access-entry=approve,222233334444/us-west-2/prod/add-nat-route=approve,222233334444/eu-west-1/dev=off",
		"ROLLCALL_ROUTES":   "prod=C0PROD00001,222233334444/us-west-2/prod/critical=C0PAY000001,222233334444/eu-west-1/all=C0EU0000001,all=C0ALL000001",
	})
	type chosen struct {
		Clusters []string
		Cleanup  CleanupMode
		Remedy   optin.Policy
		Routes   []string
		Region   string
	}
	got := map[string]chosen{}
	for _, id := range []spoke.ID{{}, payments, europe} {
		in := c.ForSpoke(id)
		o := chosen{Clusters: in.Clusters, Cleanup: in.CleanupOf("prod"), Remedy: in.RemedyOf("prod", optin.AddNATRoute), Region: in.Region}
		for _, r := range in.Routes {
			o.Routes = append(o.Routes, r.Channel)
		}
		got[id.String()] = o
	}
	want := map[string]chosen{
		"":                       {[]string{"prod"}, Delete, optin.Auto, []string{"C0PROD00001", "C0ALL000001"}, "us-west-2"},
		"222233334444/us-west-2": {[]string{"dev", "prod"}, DryRun, optin.Approve, []string{"C0PAY000001", "C0ALL000001"}, "us-west-2"},
		"222233334444/eu-west-1": {nil, Report, optin.Off, []string{"C0EU0000001", "C0ALL000001"}, "eu-west-1"},
	}
	expect.Same(t, "got", got, want)
}

// TestWhose: a name is said where there is something to tell apart.
func TestWhose(t *testing.T) {
	for spokes, want := range map[string][]string{
		"none":                            {""},
		"111122223333/us-west-2=platform": {"platform"},
		"222233334444/us-west-2=payments": {"111122223333", "payments"},
		"222233334444/us-west-2":          {"111122223333", "222233334444"},
		"111122223333/us-west-2=platform,222233334444/us-west-2=payments,222233334444/eu-west-1=payments": {"platform, us-west-2", "payments, eu-west-1", "payments, us-west-2"},
	} {
		c := loaded(t, map[string]string{"ROLLCALL_SPOKES": spokes})
		got := []string{c.ForSpoke(spoke.ID{}).SpokeName()}
		for _, s := range c.Others() {
			got = append(got, c.ForSpoke(s.ID).SpokeName())
		}
		expect.Same(t, fmt.Sprint(spokes), got, want)
	}
}

// TestSpokeNameByAlias: an alias is said where the settings give no name, and where no reader can
// take it for another account.
func TestSpokeNameByAlias(t *testing.T) {
	shop := spoke.ID{Account: "222233334444", Region: "us-west-2"}
	for name, x := range map[string]struct {
		spokes, alias, want string
		of                  spoke.ID
		wants               bool
	}{
		"the hub alone":                   {"none", "acme", "", spoke.ID{}, false},
		"the hub alone, named":            {"111122223333/us-west-2=platform", "acme", "platform", spoke.ID{}, false},
		"the settings' name":              {"222233334444/us-west-2=payments", "acme", "payments", shop, false},
		"the alias":                       {"222233334444/us-west-2", "acme-2", "acme-2", shop, true},
		"the hub's own":                   {"222233334444/us-west-2", "acme", "acme", spoke.ID{}, true},
		"with the region":                 {"222233334444/us-west-2,222233334444/eu-west-1", "acme", "acme, us-west-2", shop, true},
		"one region is named":             {"222233334444/us-west-2,222233334444/eu-west-1=acme", "acme", "acme, us-west-2", shop, true},
		"none":                            {"222233334444/us-west-2", "", "222233334444", shop, true},
		"with its own number":             {"222233334444/us-west-2", "acme-222233334444", "acme-222233334444", shop, true},
		"the number of another":           {"222233334444/us-west-2", "111122223333", "222233334444", shop, true},
		"the number of another, and more": {"222233334444/us-west-2", "111122223333-prod", "222233334444", shop, true},
		"both numbers":                    {"222233334444/us-west-2", "222233334444-111122223333", "222233334444", shop, true},
		"digits":                          {"222233334444/us-west-2", "2026", "2026", shop, true},
		"the name of another":             {"222233334444/us-west-2,333344445555/us-west-2=Acme", "acme", "222233334444", shop, true},
		"the name of the hub":             {"111122223333/us-west-2=acme,222233334444/us-west-2", "acme", "222233334444", shop, true},
		"no form of an alias":             {"222233334444/us-west-2", "<!channel>", "222233334444", shop, true},
		"capitals":                        {"222233334444/us-west-2", "Acme", "222233334444", shop, true},
		"two hyphens":                     {"222233334444/us-west-2", "ac--me", "222233334444", shop, true},
		"too short":                       {"222233334444/us-west-2", "ac", "222233334444", shop, true},
		"too long":                        {"222233334444/us-west-2", strings.Repeat("a", 64), "222233334444", shop, true},
		"the longest":                     {"222233334444/us-west-2", strings.Repeat("a", 63), strings.Repeat("a", 63), shop, true},
	} {
		c := loaded(t, map[string]string{"ROLLCALL_SPOKES": x.spokes}).ForSpoke(x.of)
		if got := c.SpokeNameBy(x.alias); got != x.want || c.WantsAlias() != x.wants {
			t.Errorf("%s: it is %q, and the alias is wanted: %t; want %q, %t", name, got, c.WantsAlias(), x.want, x.wants)
		}
	}
}

func TestSpokesRefused(t *testing.T) {
	for spokes, says := range map[string]string{
		"payments":                          "twelve digits",
		"222233334444":                      "twelve digits",
		"222233334444/us-west-2=":           "is not a name",
		"222233334444/us-west-2=<!channel>": "is not a name",
		"222233334444/us-west-2,222233334444/us-west-2=x": "named twice",
	} {
		if _, err := load(map[string]string{"ROLLCALL_SPOKES": spokes}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", spokes, err, says)
		}
	}
	for env, says := range map[[2]string]string{
		{"ROLLCALL_EXTERNAL_ID", "none"}:                          "is wanted where there are spokes",
		{"ROLLCALL_EXTERNAL_ID", "short"}:                         "8 to 1224",
		{"ROLLCALL_REMEDIES", "222233334444/prod=auto"}:           "is not a remedy",
		{"ROLLCALL_CLEANUP", "222233334444/*/prod=delete"}:        "is not a cluster name",
		{"ROLLCALL_ROUTES", "222233334444/us-west/prod=C0A12345"}: "neither a severity",
	} {
		if _, err := load(map[string]string{"ROLLCALL_SPOKES": "222233334444/us-west-2", env[0]: env[1]}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", env, err, says)
		}
	}
}

func TestSpokeRoleARN(t *testing.T) {
	c := loaded(t, nil)
	for id, want := range map[spoke.ID]string{
		payments: "arn:aws:iam::222233334444:role/rollcall-remediator-us-west-2",
		{Account: "222233334444", Region: "us-gov-west-1"}: "arn:aws-us-gov:iam::222233334444:role/rollcall-remediator-us-gov-west-1",
	} {
		expect.Equal(t, "got", c.ForSpoke(id).SpokeRole(spec.SpokeRemediator), want)
	}
}

func TestWeekly(t *testing.T) {
	for text, want := range map[string]*Weekly{
		"off": nil, "Mon/08:00": {time.Monday, 8}, "fri/15:00": {time.Friday, 15}, "Sun/00:00": {time.Sunday, 0}, "Sat/23:00": {time.Saturday, 23},
	} {
		got, err := parseWeekly(text)
		if err != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "on", "Mon", "Mon/8:00", "Mon/08", "Mon/08:30", "Mon/24:00", "Mon/-1:00", "Mon/+8:00", "Monday/08:00", "Mon/08:00/x", "Mon 08:00", "1/08:00"} {
		if got, err := parseWeekly(text); err == nil || !strings.Contains(err.Error(), "is not a day and a full hour in UTC, like Mon/08:00, nor off") {
			t.Errorf("%q: %v, %v; want it refused", text, got, err)
		}
	}
}

func TestWeeklyIsDue(t *testing.T) {
	at := func(text string) time.Time {
		x, err := time.Parse("2006-01-02 15:04", text)
		expect.OK(t, err)
		return x
	}
	for _, c := range []struct {
		w              Weekly
		now, due, from string
	}{
		{Weekly{time.Monday, 8}, "2026-11-23 08:00", "2026-11-23 08:00", "2026-11-16 00:00"},
		{Weekly{time.Monday, 8}, "2026-11-23 07:59", "2026-11-16 08:00", "2026-11-09 00:00"},
		{Weekly{time.Monday, 8}, "2026-11-29 23:59", "2026-11-23 08:00", "2026-11-16 00:00"},
		{Weekly{time.Sunday, 0}, "2026-11-23 07:59", "2026-11-22 00:00", "2026-11-15 00:00"},
		{Weekly{time.Saturday, 23}, "2027-01-01 12:00", "2026-12-26 23:00", "2026-12-19 00:00"},
	} {
		due := c.w.Last(at(c.now))
		from, to := c.w.Week(due)
		if !due.Equal(at(c.due)) || !from.Equal(at(c.from)) || to.Sub(from) != 7*24*time.Hour {
			t.Errorf("%+v at %s: due %s, of %s to %s", c.w, c.now, due, from, to)
		}
	}
}

// FuzzWeekly: what is taken is an hour of a week, which was due within the last seven days.
func FuzzWeekly(f *testing.F) {
	for _, text := range []string{"off", "Mon/08:00", "Mon/8:00", "sAT/23:00", "Mon/08:00:00", "/", "Mon/0x:00"} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 23, 7, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		w, err := parseWeekly(text)
		if w == nil {
			if err == nil && text != "off" {
				t.Errorf("%q is off", text)
			}
			return
		}
		due := w.Last(now)
		if err != nil || w.Hour < 0 || w.Hour > 23 || due.After(now) || now.Sub(due) >= 7*24*time.Hour || due.Weekday() != w.Day || due.Hour() != w.Hour {
			t.Errorf("%q is %+v (%v), due %s", text, w, err, due)
		}
	})
}

// The roles of spokes are under the path that stands before their prefix.
func TestRolePath(t *testing.T) {
	for prefix, want := range map[string]string{
		"rollcall": "arn:aws:iam::222233334444:role/rollcall-reader-eu-west-1", "/rollcall": "arn:aws:iam::222233334444:role/rollcall-reader-eu-west-1",
		"/teams/platform/rollcall": "arn:aws:iam::222233334444:role/teams/platform/rollcall-reader-eu-west-1",
	} {
		c, err := Load(func(name string) string { return map[string]string{"ROLLCALL_ROLE_PREFIX": prefix}[name] }, []spec.Variable{RolePrefix})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.ForSpoke(spoke.ID{Account: "222233334444", Region: "eu-west-1"}).SpokeRole(spec.SpokeReader); got != want || c.RolePrefix != "rollcall" {
			t.Errorf("%s: %s with the prefix %s, want %s", prefix, got, c.RolePrefix, want)
		}
	}
}
