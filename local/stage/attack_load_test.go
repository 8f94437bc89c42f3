package stage

import (
	"fmt"
	"net"
	"net/url"
	"testing"
	"time"

	"rollcall/local/simaws"

	"rollcall/shared/config"
	"rollcall/shared/report"
)

// TestAFloodOfForgeriesFillsNothing: a thousand in a row leave a handful of
// records, and a real press is answered in time.
func TestAFloodOfForgeriesFillsNothing(t *testing.T) { virtual(t, aFloodOfForgeriesFillsNothing) }

func aFloodOfForgeriesFillsNothing(t *testing.T) {
	r := start(t, "route", quiet)
	began := r.Clock.Now()
	work := make(chan int)
	done := make(chan int)
	for range 8 {
		go func() {
			refused := 0
			for n := range work {
				if status, _ := r.attempt(forgedPress{body: fmt.Sprintf("payload=%d", n), secret: "another-secret-0123456789"}); status == 401 {
					refused++
				}
			}
			done <- refused
		}()
	}
	for n := range 1000 {
		work <- n
		if n != 500 {
			continue
		}
		if status, text := r.attempt(forgedPress{body: form("acknowledge", someValue(t, ""), "")}); status != 200 {
			t.Errorf("a real press in the flood is answered %d %q", status, text)
		}
	}
	close(work)
	refused := 0
	for range 8 {
		refused += <-done
	}
	if refused != 1000 {
		t.Errorf("%d of 1000 are refused", refused)
	}
	minutes := int(r.Clock.Now().Sub(began)/time.Minute) + 2
	if got := len(r.refusals()); got == 0 || got > minutes {
		t.Errorf("%d records of %d minutes, want one a minute", got, minutes)
	}
	if got := r.passed(); len(got) != 1 || got[0].Action != report.Acknowledge {
		t.Errorf("report is told %+v, want the one real press", got)
	}
}

// TestASlowBodyHoldsNobodyUp: Lambda hands a request over once it is there.
//
// It has real programs: connections that stay open are real ones.
func TestASlowBodyHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	r := startReal(t, "route", quiet)
	at, err := url.Parse(r.URL(slackActions))
	if err != nil {
		t.Fatal(err)
	}
	for range 30 { // more than are let in at once
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\npayload=", at.Host)
	}
	// The slow ones would take half a minute.
	if status, text := r.attempt(forgedPress{body: form("acknowledge", someValue(t, ""), "")}); status != 200 {
		t.Errorf("answered %d %q", status, text)
	}
}

// TestWithoutASecretNothingIsTaken: an empty one, and then the right one, with
// no new deployment.
func TestWithoutASecretNothingIsTaken(t *testing.T) { virtual(t, withoutASecretNothingIsTaken) }

func withoutASecretNothingIsTaken(t *testing.T) {
	r := start(t, "route", quiet)
	secret, ok := r.SecretFor(config.SigningARN)
	if !ok {
		t.Fatal("no function reads a signing secret")
	}
	r.Cloud.SetSecret(secret.Name, "")
	body := form("acknowledge", someValue(t, ""), "")
	if status, _ := r.attempt(forgedPress{body: body}); status != 503 {
		t.Errorf("without a secret it is answered %d, want 503", status)
	}
	if !r.logged(`"level":"ERROR"`, "the signing secret is empty: put")() || !r.logged(`"NotPassedOn":1`, "CloudWatchMetrics")() {
		t.Error("it is not said what to do, or not counted")
	}
	r.Cloud.SetSecret(secret.Name, SigningSecret)
	r.until("the secret counts", func() bool { status, _ := r.attempt(forgedPress{body: body}); return status == 200 })
}

// TestAQueueThatTakesNothingSwallowsNoPress: the person sees a warning, and the
// next press goes through.
func TestAQueueThatTakesNothingSwallowsNoPress(t *testing.T) {
	virtual(t, aQueueThatTakesNothingSwallowsNoPress)
}

func aQueueThatTakesNothingSwallowsNoPress(t *testing.T) {
	r := start(t, "route", quiet, func(o *Options) {
		o.CallFaults = []simaws.FaultRule{{Call: "sqs:SendMessage", Deny: true, Times: 1}}
	})
	body := form("acknowledge", someValue(t, ""), "")
	press := forgedPress{body: body, at: time.Now()}
	if status, text := r.attempt(press); status != 500 {
		t.Fatalf("answered %d %q, want 500", status, text)
	}
	if status, text := r.attempt(press); status != 200 {
		t.Errorf("the same press again is answered %d %q, want 200", status, text)
	}
	if status, _ := r.attempt(press); status != 409 {
		t.Errorf("a copy of what was taken is answered %d, want 409", status)
	}
	if got := r.passed(); len(got) != 1 {
		t.Errorf("%d presses reached report, want 1", len(got))
	}
}

// TestASlowTableIsAnsweredInTime: Slack is answered before what waits behind. The
// bound is far from both, for a busy machine; that it is two and a half seconds,
// a test of the function holds.
//
// It has real programs: its time is the wall's, in a process of its own.
func TestASlowTableIsAnsweredInTime(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"secretsmanager:GetSecretValue", "dynamodb:PutItem", "sqs:SendMessage"} {
		r := startReal(t, "route", quiet, func(o *Options) {
			o.CallFaults = []simaws.FaultRule{{Call: call, Latency: 20 * time.Second}}
		})
		// The start of the process is the machine's, not the function's.
		r.attempt(forgedPress{headers: map[string]string{"X-Slack-Signature": ""}})
		sent := time.Now()
		status, _ := r.attempt(forgedPress{body: form("acknowledge", someValue(t, ""), "")})
		if took := time.Since(sent); status < 500 || took > 12*time.Second {
			t.Errorf("slow %s: answered %d after %s, want 5xx long before 20 s", call, status, took)
		}
		if got := r.passed(); len(got) > 0 {
			t.Errorf("slow %s: %d presses reached report", call, len(got))
		}
	}
}
