package config

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/spec"
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
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Channel: "C0123456789", SlackSecretARN: "arn:aws:secretsmanager:us-west-2:111122223333:secret:slack",
		SlackAPI: "https://slack.com/api/", JoinTime: 5 * time.Minute, GiveUp: 2 * time.Hour, ProofTime: time.Hour, ReopenTime: 24 * time.Hour, ReportHour: 8,
		TableName: "Rollcall", BusName: "rollcall", Region: "us-west-2",
		JoinQueueURL:   "https://sqs.us-west-2.amazonaws.com/111122223333/joins",
		ResultQueueURL: "https://sqs.us-west-2.amazonaws.com/111122223333/results.fifo",
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Config{}, "Clock")); diff != "" {
		t.Errorf("Load (-want +got):\n%s", diff)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"dev", "prod"}, got.Clusters); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
