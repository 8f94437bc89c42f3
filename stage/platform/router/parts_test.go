package router

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/queue"
	"rollcall/stage/platform/template"
)

func TestRates(t *testing.T) {
	began := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		expression  string
		after, want time.Duration
	}{
		{"rate(1 minute)", 30 * time.Second, time.Minute},
		{"rate(5 minutes)", 5 * time.Minute, 10 * time.Minute},
		{"rate(2 hours)", 5 * time.Minute, 2 * time.Hour},
		{"rate(1 day)", 0, 24 * time.Hour},
	} {
		every, err := parseRate(tt.expression)
		if err != nil {
			t.Errorf("%s: %v", tt.expression, err)
			continue
		}
		if got := (schedule{every: every}).next(began.Add(tt.after), began).Sub(began); got != tt.want {
			t.Errorf("%s after %v: got %v, want %v", tt.expression, tt.after, got, tt.want)
		}
	}
	for _, s := range []string{"", "rate", "rate()", "rate(0 minutes)", "rate(1 minutes)", "rate(5 minute)", "rate(-1 hours)", "rate(5 seconds)", "rate(5 minutes",
		"cron(0 7 * * ? *)", "at(2026-11-20T15:00:00)"} {
		if every, err := parseRate(s); err == nil {
			t.Errorf("%q: got %v, want an error", s, every)
		}
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
