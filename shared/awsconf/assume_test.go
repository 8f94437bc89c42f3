package awsconf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"
)

const assumedXML = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
<AccessKeyId>ASIA%d</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`

const deniedXML = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>x</Message></Error></ErrorResponse>`

// A role's credentials are asked for once in nearly an hour; after a refusal, once in a
// minute.
func TestAssume(t *testing.T) {
	environment(t)
	synctest.Test(t, func(t *testing.T) {
		var calls Calls
		var asked atomic.Int32
		var refused atomic.Bool
		cfg := load(t, "http://service.test", slog.New(slog.DiscardHandler), &calls)
		cfg.HTTPClient = service(func(n int32) (int, string) {
			if refused.Load() {
				return 403, deniedXML
			}
			return 200, fmt.Sprintf(assumedXML, n, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		}).client(&asked)
		reader := Assume(cfg, Role{ARN: "arn:aws:iam::111122223333:role/reader", Session: "rollcall-join-check"}, time.Now)
		if asked.Load() != 0 {
			t.Errorf("%d calls before the first use", asked.Load())
		}
		key := func() (string, error) {
			c, err := reader.Credentials.Retrieve(t.Context())
			return c.AccessKeyID, err
		}
		step := func(name, want, code string, calls int32) {
			t.Helper()
			if got, err := key(); got != want || Code(err) != code || asked.Load() != calls {
				t.Errorf("%s: %q, %v after %d calls; want %q, %q after %d", name, got, err, asked.Load(), want, code, calls)
			}
		}
		step("at first", "ASIA1", "", 1)
		time.Sleep(49 * time.Minute)
		step("while they last", "ASIA1", "", 1)
		time.Sleep(2 * time.Minute)
		step("ten minutes before their end", "ASIA2", "", 2)
		refused.Store(true)
		time.Sleep(time.Hour)
		step("refused", "", "AccessDenied", 3)
		time.Sleep(50 * time.Second)
		step("just refused", "", "AccessDenied", 3)
		time.Sleep(11 * time.Second)
		step("refused a minute ago", "", "AccessDenied", 4)
		refused.Store(false)
		time.Sleep(time.Minute)
		step("let in again", "ASIA5", "", 5)
		if own, err := cfg.Credentials.Retrieve(t.Context()); err != nil || own.AccessKeyID != "AKID" {
			t.Errorf("the function's own credentials are %s, %v", own.AccessKeyID, err)
		}
	})
}

const identityXML = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Account>222233334444</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`

const unknownXML = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>InvalidClientTokenId</Code><Message>x</Message></Error></ErrorResponse>`

// TestDeletedRole: a session whose role was deleted, and one whose role was made anew, is
// known at the first call that it is refused for: STS is asked again, once, and what it says
// is what is told.
func TestDeletedRole(t *testing.T) {
	environment(t)
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		made, known, there := 0, "ASIA1", true
		cfg := load(t, "http://service.test", slog.New(slog.DiscardHandler), &Calls{})
		cfg.HTTPClient = &http.Client{Transport: transport(func(req *http.Request) *http.Response {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				t.Fatal(err)
			}
			status, answer := 200, identityXML
			switch assumes := strings.Contains(string(body), "AssumeRole"); {
			case assumes && there:
				made++
				answer = fmt.Sprintf(assumedXML, made, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
			case assumes:
				status, answer = 403, deniedXML
			case !strings.Contains(req.Header.Get("Authorization"), known+"/"):
				status, answer = 403, unknownXML
			}
			asked = append(asked, fmt.Sprintf("%t%d", strings.Contains(string(body), "AssumeRole"), status))
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(answer))}
		})}
		client := sts.NewFromConfig(Assume(cfg, Role{ARN: "arn:aws:iam::222233334444:role/reader", Session: "x"}, time.Now))
		step := func(name, code string, want ...string) {
			t.Helper()
			asked = nil
			_, err := client.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
			if diff := cmp.Diff(want, asked); Code(err) != code || diff != "" {
				t.Errorf("%s: %v, want %q; asked (-want +got):\n%s", name, err, code, diff)
			}
		}
		step("at first", "", "true200", "false200")
		step("while it is there", "", "false200")
		known = "nobody"
		step("not known a moment after it was made", "InvalidClientTokenId", "false403")
		time.Sleep(5 * time.Minute)
		known = "ASIA2"
		step("made anew", "", "false403", "true200", "false200")
		time.Sleep(5 * time.Minute)
		known, there = "nobody", false
		step("deleted", "AccessDenied", "false403", "true403")
	})
}

// TestWaitingForASession: who waits for an answer that STS owes to another waits no longer
// than it has time.
func TestWaitingForASession(t *testing.T) {
	environment(t)
	synctest.Test(t, func(t *testing.T) {
		cfg := load(t, "http://service.test", slog.New(slog.DiscardHandler), &Calls{})
		cfg.HTTPClient = &http.Client{Transport: transport(func(req *http.Request) *http.Response {
			time.Sleep(4 * time.Second)
			answer := fmt.Sprintf(assumedXML, 1, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(answer))}
		})}
		as := Assume(cfg, Role{ARN: "arn:aws:iam::222233334444:role/reader", Session: "x"}, time.Now).Credentials
		first := make(chan error)
		go func() {
			_, err := as.Retrieve(t.Context())
			first <- err
		}()
		synctest.Wait()
		began := time.Now()
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := as.Retrieve(hurried); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}
