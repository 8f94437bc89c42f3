package lambda

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

var (
	payments = spoke.ID{Account: "222233334444", Region: "us-west-2"}
	europe   = spoke.ID{Account: "222233334444", Region: "eu-west-1"}
)

// watching is a function that watches two spokes beside the hub's own, and what its
// handlers were given, by spoke.
func watching(t *testing.T, handle func(e Env, raw json.RawMessage) (any, error)) (invoke func(string) (any, error), log *bytes.Buffer) {
	t.Helper()
	env := map[string]string{
		"AWS_REGION": "us-west-2", "ROLLCALL_ACCOUNT": "111122223333", "ROLLCALL_EXTERNAL_ID": "rollcall-1", "ROLLCALL_ROLE_PREFIX": "rollcall",
		"ROLLCALL_SPOKES": "222233334444/us-west-2=payments,222233334444/eu-west-1",
	}
	log = &bytes.Buffer{}
	f := New("test", config.SpokeVariables(), func(_ context.Context, e Env) (Handler, error) {
		return func(_ context.Context, raw json.RawMessage) (any, error) { return handle(e, raw) }, nil
	}, func(name string) string { return env[name] }, log).By(Way{})
	return func(raw string) (any, error) { return f.Invoke(t.Context(), json.RawMessage(raw)) }, log
}

func running(of spoke.ID) string {
	return fmt.Sprintf(`{"source":"aws.ec2","detail-type":"EC2 Instance State-change Notification","account":%q,"region":%q,"time":"2026-11-20T15:00:00Z","resources":["arn:aws:ec2:%s:%s:instance/i-1"],"detail":{"instance-id":"i-1","state":"running"}}`,
		of.Account, of.Region, of.Region, of.Account)
}

func queued(bodies ...string) string {
	var records []string
	for i, body := range bodies {
		text, _ := json.Marshal(body)
		records = append(records, fmt.Sprintf(`{"messageId":"m%d","body":%s,"eventSource":"aws:sqs","attributes":{}}`, i, text))
	}
	return `{"Records":[` + strings.Join(records, ",") + `]}`
}

var hubID = spoke.ID{Account: "111122223333", Region: "us-west-2"}

// TestEachSpokeHasItsOwn: of a batch each handler gets what is of its account and region,
// and nothing else; what is forged or of nobody is counted, and gone.
func TestEachSpokeHasItsOwn(t *testing.T) {
	got := map[string][]string{}
	invoke, log := watching(t, func(e Env, raw json.RawMessage) (any, error) {
		messages, _ := event.Batch(raw)
		var failed []string
		for _, m := range messages {
			got[e.Config.Spoke.String()] = append(got[e.Config.Spoke.String()], m.ID)
			if m.ID == "m2" {
				failed = append(failed, m.ID)
			}
		}
		return event.Failures(failed), nil
	})
	answer, err := invoke(queued(
		running(hubID), running(payments), running(europe), running(payments),
		running(spoke.ID{Account: "999999999999", Region: "us-west-2"}),                                // nobody's
		strings.Replace(running(payments), "222233334444:instance", "111122223333:instance", 1),        // names the hub's
		strings.Replace(running(spoke.ID{Account: "222233334444", Region: "ap-south-1"}), "x", "x", 1), // a region that is not watched
		"no JSON",
	))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"": {"m0", "m7"}, payments.String(): {"m1", "m3"}, europe.String(): {"m2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(event.Failures([]string{"m2"}), answer); diff != "" {
		t.Errorf("given back (-want +got):\n%s", diff)
	}
	if !strings.Contains(log.String(), `"ForgedEvents":1`) || !strings.Contains(log.String(), `"ForeignAccounts":2`) {
		t.Errorf("not counted:\n%s", log)
	}
}

// TestOneSpokesTroubleIsItsOwn: neither an error nor a panic's message of one gives back
// what others have done, and no schedule is repeated for it.
func TestOneSpokesTroubleIsItsOwn(t *testing.T) {
	var did []string
	invoke, log := watching(t, func(e Env, raw json.RawMessage) (any, error) {
		did = append(did, e.Config.Spoke.String())
		if e.Config.Spoke == payments {
			return nil, errors.New("the role does not let Rollcall in")
		}
		if _, is := event.Batch(raw); is {
			return event.Failures(nil), nil
		}
		return e.Config.Region, nil
	})
	answer, err := invoke(queued(running(payments), running(hubID), running(europe), running(payments)))
	if diff := cmp.Diff(event.Failures([]string{"m0", "m3"}), answer); err != nil || diff != "" {
		t.Errorf("given back (-want +got), %v:\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"", europe.String(), payments.String()}, did); diff != "" {
		t.Errorf("done (-want +got):\n%s", diff)
	}
	did = nil
	answer, err = invoke(`{"source":"aws.events","detail-type":"Scheduled Event","account":"111122223333","region":"us-west-2","time":"2026-11-20T15:00:00Z","detail":{}}`)
	if err != nil || answer != "us-west-2" || len(did) != 3 {
		t.Errorf("%v, %v, %q; want the hub's answer, and all three done", answer, err, did)
	}
	if !strings.Contains(log.String(), `"FailedSpokes":1`) || !strings.Contains(log.String(), `"account":"222233334444","region":"us-west-2"`) {
		t.Errorf("the spoke's trouble is not told by its name:\n%s", log)
	}
}

// TestAScheduleIsEachSpokesOwn: it bears the account and region that it is for.
func TestAScheduleIsEachSpokesOwn(t *testing.T) {
	var got []string
	invoke, _ := watching(t, func(e Env, raw json.RawMessage) (any, error) {
		tr, err := event.Parse(raw)
		got = append(got, fmt.Sprint(tr.Kind, " ", tr.Account, " ", tr.Region, " ", e.Config.Region, " ", e.Config.Whose()))
		return nil, err
	})
	if _, err := invoke(`{"source":"aws.events","detail-type":"Scheduled Event","account":"111122223333","region":"us-west-2","time":"2026-11-20T15:00:00Z","detail":{}}`); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{
		"sweep 111122223333 us-west-2 us-west-2 111122223333, us-west-2",
		"sweep 222233334444 eu-west-1 eu-west-1 222233334444, eu-west-1",
		"sweep 222233334444 us-west-2 us-west-2 payments, us-west-2",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestASpokesCredentials: what looks at a spoke is its role reader, in its region; in the
// hub's own it is the function itself, which also keeps the records of all.
func TestASpokesCredentials(t *testing.T) {
	c, err := config.Load(func(name string) string {
		return map[string]string{"AWS_REGION": "us-west-2", "ROLLCALL_ACCOUNT": "111122223333", "ROLLCALL_EXTERNAL_ID": "rollcall-1", "ROLLCALL_ROLE_PREFIX": "rollcall", "ROLLCALL_SPOKES": europe.String()}[name]
	}, config.SpokeVariables())
	if err != nil {
		t.Fatal(err)
	}
	invoke, _ := watching(t, func(e Env, _ json.RawMessage) (any, error) {
		e.Config.Spokes = c.Spokes
		own, reader, cleaner := e.AWS, e.Watched(), e.As(spec.SpokeCleaner)
		got := []string{own.Region, reader.Region, cleaner.Region}
		want := []string{"", "", ""}
		if e.Config.Spoke == europe {
			want = []string{"", "eu-west-1", "eu-west-1"}
			if e.AWSAsReader == nil || e.AWSAsReader.Credentials != reader.Credentials {
				t.Error("clusters are not read as the role that reads AWS")
			}
			if reader.Credentials == nil || cleaner.Credentials == nil || reader.Credentials == cleaner.Credentials {
				t.Error("two roles have the same credentials")
			}
		} else if reader.Credentials != own.Credentials || e.AWSAsReader != nil {
			t.Error("in the hub's own account another than the function looks")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: regions (-want +got):\n%s", e.Config.Spoke, diff)
		}
		return event.Failures(nil), nil
	})
	if _, err := invoke(queued(running(hubID), running(europe))); err != nil {
		t.Fatal(err)
	}
}

// TestMetricsOfASpoke: two clusters of one name are told apart by account and region; the
// hub's own keep the dimensions that they had.
func TestMetricsOfASpoke(t *testing.T) {
	var out bytes.Buffer
	m := NewMetrics("subnet-watch", "rollcall-subnet-watch", &out)
	cluster := Dimension{"cluster", "prod"}
	m.Gauge("FreeAddresses", "Count", 1, cluster)
	m.In(payments).Gauge("FreeAddresses", "Count", 2, cluster)
	m.In(europe).Gauge("FreeAddresses", "Count", 3, cluster)
	m.In(europe).Count("Failures", 1)
	m.Flush(time.Unix(0, 0))
	for _, want := range []string{
		`"Dimensions":[["cluster"]]`, `"FreeAddresses":1`,
		`"FreeAddresses":2,"Region":"us-west-2"`,
		`"FreeAddresses":3,"Region":"eu-west-1"`, `"Account":"222233334444"`,
		`"Dimensions":[["Account","Region","cluster"]]`,
		`"Failures":1`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not among\n%s", want, &out)
		}
	}
}
