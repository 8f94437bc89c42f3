package fakeslack

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"
)

func TestRetryAfter429(t *testing.T) {
	s, _ := start(t, nil)
	if err := s.Inject(Fault{Method: "chat.*", RetryAfter: time.Second, Times: 1}); err != nil {
		t.Fatal(err)
	}
	api := slack.New(testToken, slack.OptionAPIURL(s.APIURL()), slack.OptionRetry(2))
	post(t, api, say("x"))
	var got []int
	for _, c := range s.Calls() {
		got = append(got, c.Status)
	}
	if diff := cmp.Diff([]int{429, 200}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if n := len(s.Messages(alerts)); n != 1 {
		t.Errorf("got %d messages, want 1", n)
	}
}

func TestRateLimit(t *testing.T) {
	wall := noon()
	_, api := start(t, func(c *Config) {
		c.Wall, c.Limits = wall.now, Limits{PostsPerSecond: 1, PostBurst: 3, UpdatesPerMinute: 30}
	})
	var ts string
	for range 3 {
		ts = post(t, api, say("x"))
	}
	_, _, err := api.PostMessage(alerts, say("x"))
	var limited *slack.RateLimitedError
	if !errors.As(err, &limited) || limited.RetryAfter != time.Second {
		t.Errorf("fourth post: got %v, want a rate limit of 1 s", err)
	}
	if _, _, err := api.PostMessage("C0PRIVATE1", say("x")); err != nil {
		t.Errorf("another channel has a pace of its own: %v", err)
	}
	wall.pass(time.Second)
	post(t, api, say("x"))
	update := func() error { _, _, _, err := api.UpdateMessage(alerts, ts, say("y")); return err }
	if err := update(); err != nil {
		t.Errorf("first update: %v", err)
	}
	if err := update(); !errors.As(err, &limited) || limited.RetryAfter != 2*time.Second {
		t.Errorf("second update: got %v, want a rate limit of 2 s", err)
	}
}

func TestFaults(t *testing.T) {
	status := func(err error) int {
		var e slack.StatusCodeError
		if errors.As(err, &e) {
			return e.Code
		}
		return 0
	}
	tests := map[string]struct {
		fault Fault
		check func(error) bool
		// left is the number of messages afterwards.
		left int
	}{
		"500":              {Fault{Status: 500}, func(err error) bool { return status(err) == 500 }, 0},
		"503 on chat":      {Fault{Method: "chat.*", Status: 503}, func(err error) bool { return status(err) == 503 }, 0},
		"another method":   {Fault{Method: "views.open", Status: 503}, func(err error) bool { return err == nil }, 1},
		"error":            {Fault{Error: "internal_error"}, func(err error) bool { return code(err) == "internal_error" }, 0},
		"reset":            {Fault{Reset: true}, func(err error) bool { return errors.Is(err, io.EOF) }, 0},
		"lost answer":      {Fault{Reset: true, Applied: true}, func(err error) bool { return err != nil }, 1},
		"latency":          {Fault{Latency: time.Millisecond}, func(err error) bool { return err == nil }, 1},
		"429 without wait": {Fault{Status: http.StatusTooManyRequests}, func(err error) bool { var e *slack.RateLimitedError; return errors.As(err, &e) }, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, api := start(t, nil)
			if err := s.Inject(tt.fault); err != nil {
				t.Fatal(err)
			}
			if _, _, err := api.PostMessage(alerts, say("x")); !tt.check(err) {
				t.Errorf("got error %v", err)
			}
			if got := len(s.Messages(alerts)); got != tt.left {
				t.Errorf("got %d messages, want %d", got, tt.left)
			}
			s.ClearFaults()
			post(t, api, say("after"))
		})
	}
}

func TestFaultForATime(t *testing.T) {
	stage := noon()
	s, api := start(t, func(c *Config) { c.Now = stage.now })
	if err := s.Inject(Fault{Status: 503, For: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := api.PostMessage(alerts, say("x")); err == nil {
		t.Error("Slack was up within the hour")
	}
	stage.pass(time.Hour)
	post(t, api, say("x"))
	if got := s.Calls()[0]; got.Fault != "503" || got.Status != 503 {
		t.Errorf("got %+v, want the fault in the record", got)
	}
}

func TestFaultThatDoesNothing(t *testing.T) {
	s, _ := start(t, nil)
	for _, f := range []Fault{{}, {Method: "[", Status: 500}} {
		if err := s.Inject(f); err == nil {
			t.Errorf("%+v was taken", f)
		}
	}
}
