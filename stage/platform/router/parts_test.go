package router

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/queue"
	"rollcall/stage/platform/template"
)

func TestExpressions(t *testing.T) {
	for _, tt := range []struct{ expression, zone, after, want string }{
		{"rate(1 minute)", "", "2026-11-20T15:00:30Z", "2026-11-20T15:01:00Z"},
		{"rate(5 minutes)", "", "2026-11-20T15:05:00Z", "2026-11-20T15:10:00Z"},
		{"rate(2 hours)", "", "2026-11-20T15:05:00Z", "2026-11-20T17:00:00Z"},
		{"rate(1 day)", "", "2026-11-20T14:00:00Z", "2026-11-21T15:00:00Z"},
		{"cron(0 10 * * ? *)", "", "2026-11-20T15:00:00Z", "2026-11-21T10:00:00Z"},
		{"cron(0/15 * * * ? *)", "", "2026-11-20T15:15:00Z", "2026-11-20T15:30:00Z"},
		{"cron(15 12 ? * MON-FRI *)", "", "2026-11-20T15:00:00Z", "2026-11-23T12:15:00Z"},
		{"cron(0 8 1 * ? *)", "", "2026-11-20T15:00:00Z", "2026-12-01T08:00:00Z"},
		{"cron(0 8 L * ? *)", "", "2027-02-01T00:00:00Z", "2027-02-28T08:00:00Z"},
		{"cron(0 8 1W * ? *)", "", "2027-04-30T12:00:00Z", "2027-05-03T08:00:00Z"},  // 1 May 2027 is a Saturday
		{"cron(0 8 31W * ? *)", "", "2027-01-02T12:00:00Z", "2027-01-29T08:00:00Z"}, // 31 January 2027 is a Sunday
		{"cron(0 8 ? * 6L *)", "", "2026-11-01T00:00:00Z", "2026-11-27T08:00:00Z"},
		{"cron(0 8 ? * 3#2 *)", "", "2026-11-01T00:00:00Z", "2026-11-10T08:00:00Z"},
		{"cron(0 8 ? * TUE,SAT *)", "", "2026-11-20T15:00:00Z", "2026-11-21T08:00:00Z"},
		{"cron(0 18 ? JAN/3 2 2027-2028)", "", "2026-11-20T15:00:00Z", "2027-01-04T18:00:00Z"},
		{"cron(0 7 * * ? *)", "Europe/Berlin", "2026-11-20T15:00:00Z", "2026-11-21T06:00:00Z"},
		{"cron(30 2 * * ? *)", "Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-29T00:30:00Z"}, // no 02:30 on 28 March
		{"cron(0 0 29 2 ? *)", "", "2026-11-20T15:00:00Z", "2028-02-29T00:00:00Z"},
		{"cron(0 0 30 2 ? *)", "", "2026-11-20T15:00:00Z", "never"},
		{"cron(0 0 1 1 ? 2020)", "", "2026-11-20T15:00:00Z", "never"},
		{"at(2026-11-20T16:00:00)", "Europe/Berlin", "2026-11-20T14:00:00Z", "2026-11-20T15:00:00Z"},
		{"at(2026-11-20T15:00:00)", "", "2026-11-20T15:00:00Z", "never"},
	} {
		where, err := time.LoadLocation(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		e, err := parseExpression(tt.expression, where, true)
		if err != nil {
			t.Errorf("%s: %v", tt.expression, err)
			continue
		}
		after, err := time.Parse(time.RFC3339, tt.after)
		if err != nil {
			t.Fatal(err)
		}
		got := "never"
		if at, ok := e.next(after, time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)); ok {
			got = at.UTC().Format(time.RFC3339)
		}
		if got != tt.want {
			t.Errorf("%s after %s: got %s, want %s", tt.expression, tt.after, got, tt.want)
		}
	}
}

func TestExpressionsRefused(t *testing.T) {
	for _, s := range []string{"", "rate", "rate()", "rate(0 minutes)", "rate(1 minutes)", "rate(5 minute)", "rate(-1 hours)", "rate(5 seconds)", "rate(5 minutes",
		"cron()", "cron(0 7 * * ?)", "cron(0 7 * * * *)", "cron(0 7 ? * ? *)", "cron(60 7 * * ? *)", "cron(0 24 * * ? *)", "cron(0 7 0 * ? *)", "cron(0 7 * 13 ? *)",
		"cron(0 7 * * ? 1969)", "cron(0 7 ? * 8 *)", "cron(0 7 ? * 2#6 *)", "cron(5-1 7 * * ? *)", "cron(0/0 7 * * ? *)", "cron(+1 7 * * ? *)", "at(2026-11-20T15:00:00)", "at(x)"} {
		if e, err := parseExpression(s, time.UTC, strings.HasPrefix(s, "at(x")); err == nil {
			t.Errorf("%q: got %v, want an error", s, e)
		}
	}
}

func FuzzExpression(f *testing.F) {
	for _, s := range []string{"rate(5 minutes)", "cron(0/15 8-10 ? JAN/3 6L 2027,2028)", "cron(0 8 31W * ? *)", "at(2026-11-20T15:00:00)"} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, source string) {
		e, err := parseExpression(source, time.UTC, true)
		if err != nil {
			return
		}
		if at, ok := e.next(now, now); ok && !at.After(now) {
			t.Fatalf("%q: next after %v is %v", source, now, at)
		}
	})
}

func TestInput(t *testing.T) {
	e := Event{JSON: []byte(`{"id":"e","detail-type":"a \"b\"","detail":{"n":1,"list":[{"k":"v"}],"nothing":null}}`)}
	for _, tt := range []struct {
		name   string
		target template.Target
		want   string
	}{
		{"whole", template.Target{}, string(e.JSON)},
		{"constant", template.Target{Input: `{"x":1}`}, `{"x":1}`},
		{"path", template.Target{InputPath: "$.detail"}, `{"list":[{"k":"v"}],"n":1,"nothing":null}`},
		{"path to all", template.Target{InputPath: "$"}, `{"detail":{"list":[{"k":"v"}],"n":1,"nothing":null},"detail-type":"a \"b\"","id":"e"}`},
		{"path with index", template.Target{InputPath: "$.detail['list'][0].k"}, `"v"`},
		{"transformer", template.Target{InputTransformer: &template.InputTransformer{
			Paths:    map[string]string{"n": "$.detail.n", "t": "$.detail-type", "l": "$.detail.list", "gone": "$.detail.gone"},
			Template: `{"n":<n>,"t":<t>,"quoted":"<t>, <n> and <l>","gone":<gone>,"rule":<aws.events.rule-name>,"at":"<aws.events.event.ingestion-time>"}`}},
			`{"n":1,"t":"a \"b\"","quoted":"a \"b\", 1 and [{\"k\":\"v\"}]","gone":"","rule":"rule","at":"2026-11-20T15:00:00Z"}`},
		{"string template", template.Target{InputTransformer: &template.InputTransformer{Paths: map[string]string{"n": "$.detail.n"}, Template: `"n is <n>"`}}, `"n is 1"`},
		{"nothing to replace", template.Target{InputTransformer: &template.InputTransformer{Template: `{"a":"1 < 2"}`}}, `{"a":"1 < 2"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := checkInput(tt.target); err != nil {
				t.Fatal(err)
			}
			got, err := input(tt.target, e, "arn", "rule", time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	var wrong *inputError
	if _, err := input(template.Target{InputPath: "$.nope"}, e, "", "", time.Time{}); !errors.As(err, &wrong) {
		t.Errorf("path to nothing: got %v, want an input error", err)
	}
}

func TestFailures(t *testing.T) {
	batch := []queue.Message{{ID: "1"}, {ID: "2"}}
	for _, tt := range []struct {
		name, payload, functionError string
		report                       bool
		want                         []string
	}{
		{"success", `{"batchItemFailures":[]}`, "", true, nil},
		{"no answer", ``, "", true, nil},
		{"null", `null`, "", true, nil},
		{"empty object", `{}`, "", true, nil},
		{"null list", `{"batchItemFailures":null}`, "", true, nil},
		{"one", `{"batchItemFailures":[{"itemIdentifier":"2"}]}`, "", true, []string{"2"}},
		{"one, named twice", `{"batchItemFailures":[{"itemIdentifier":"2"},{"itemIdentifier":"2"}]}`, "", true, []string{"2"}},
		{"unknown id", `{"batchItemFailures":[{"itemIdentifier":"3"}]}`, "", true, []string{"1", "2"}},
		{"empty id", `{"batchItemFailures":[{"itemIdentifier":""}]}`, "", true, []string{"1", "2"}},
		{"null id", `{"batchItemFailures":[{"itemIdentifier":null}]}`, "", true, []string{"1", "2"}},
		{"other key", `{"batchItemFailures":[{"id":"1"}]}`, "", true, []string{"1", "2"}},
		{"no JSON", `oops`, "", true, []string{"1", "2"}},
		{"a string", `"oops"`, "", true, []string{"1", "2"}},
		{"function error", `{"errorMessage":"x"}`, "Unhandled", true, []string{"1", "2"}},
		{"function error without reports", `{"errorMessage":"x"}`, "Unhandled", false, []string{"1", "2"}},
		{"not asked for", `{"batchItemFailures":[{"itemIdentifier":"2"}]}`, "", false, nil},
	} {
		failed, reason := failures(tt.report, lambdaruntime.Result{Payload: []byte(tt.payload), FunctionError: tt.functionError}, batch)
		var got []string
		for _, m := range pick(batch, failed) {
			got = append(got, m.ID)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
		if (reason == "") != (len(got) == 0) {
			t.Errorf("%s: got reason %q with %d failures", tt.name, reason, len(got))
		}
	}
}

func TestRetry(t *testing.T) {
	transient := errors.New("throttled")
	for _, tt := range []struct {
		name    string
		target  template.Target
		err     error
		attempt int
		age     time.Duration
		reason  string
		more    bool
	}{
		{"first", template.Target{MaxAttempts: -1}, transient, 0, time.Second, "", true},
		{"default limit", template.Target{MaxAttempts: -1}, transient, 185, time.Second, "MaximumRetryAttempts", false},
		{"default age", template.Target{MaxAttempts: -1}, transient, 100, 25 * time.Hour, "MaximumEventAgeInSeconds", false},
		{"no retries", template.Target{MaxAttempts: 0}, transient, 0, time.Second, "MaximumRetryAttempts", false},
		{"own age", template.Target{MaxAttempts: 5, MaxAge: time.Minute}, transient, 1, 61 * time.Second, "MaximumEventAgeInSeconds", false},
		{"final", template.Target{MaxAttempts: 5}, lambdaruntime.ErrNoFunction, 0, 0, "", false},
	} {
		reason, more := delivery{target: tt.target}.retry(tt.err, tt.attempt, tt.age)
		if reason != tt.reason || more != tt.more {
			t.Errorf("%s: got %q %v, want %q %v", tt.name, reason, more, tt.reason, tt.more)
		}
	}
	if got, want := []time.Duration{backoff(0), backoff(3), backoff(50)}, []time.Duration{time.Second, 8 * time.Second, 5 * time.Minute}; !cmp.Equal(got, want) {
		t.Errorf("backoff: got %v, want %v", got, want)
	}
}
