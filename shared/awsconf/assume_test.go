package awsconf

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
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
