package inbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/event/inbox"
	"rollcall/shared/spoke"
	"rollcall/tools/testfile"
)

var hub = spoke.ID{Account: "111122223333", Region: "us-west-2"}

func sample(t *testing.T, name string) string {
	t.Helper()
	return string(testfile.Read(t, filepath.Join("../../../events/in", name)))
}

// TestSamplesAreTheHubs: each sample event is the hub's own, and the same one of
// another account is that account's.
func TestSamplesAreTheHubs(t *testing.T) {
	files, err := os.ReadDir("../../../events/in")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	other := spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	move := strings.NewReplacer(hub.Account, other.Account, hub.Region, other.Region)
	for _, f := range files {
		raw := sample(t, f.Name())
		w, err := inbox.OriginOf([]byte(raw), hub)
		all := strings.HasPrefix(f.Name(), "schedule-")
		if want := (inbox.Origin{All: all}); err != nil || w != want {
			t.Errorf("%s is %+v, %v", f.Name(), w, err)
		}
		w, err = inbox.OriginOf([]byte(move.Replace(raw)), hub)
		forged := new(inbox.Forged)
		switch ours := strings.Contains(raw, `"source": "rollcall"`); {
		case ours || all:
			if !errors.As(err, &forged) || forged.Envelope != other {
				t.Errorf("%s from another account: %+v, %v; want it refused as forged", f.Name(), w, err)
			}
		case err != nil || w.Spoke != other:
			t.Errorf("%s of another account is %+v, %v", f.Name(), w, err)
		}
	}
}

// TestForged: an event that names another account's or region's things is refused, with
// what it says.
func TestForged(t *testing.T) {
	for name, test := range map[string]struct{ file, old, new, says string }{
		"another account's instance":      {"ec2-state-running.json", ":111122223333:instance/", ":222233334444:instance/", "222233334444"},
		"another region's instance":       {"ec2-state-running.json", "arn:aws:ec2:us-west-2:", "arn:aws:ec2:eu-west-1:", "eu-west-1"},
		"another account's group":         {"autoscaling-launch-successful.json", "autoscaling:us-west-2:111122223333", "autoscaling:us-west-2:222233334444", "222233334444"},
		"another account's add-on":        {"eks-addon-health-degraded.json", "eks:us-west-2:111122223333:addon", "eks:us-west-2:222233334444:addon", "222233334444"},
		"a call recorded for another":     {"eks-call-create-nodegroup.json", `"recipientAccountId": "111122223333"`, `"recipientAccountId": "222233334444"`, "222233334444"},
		"a call recorded in another":      {"ec2-call-run-instances-refused.json", `"awsRegion": "us-west-2"`, `"awsRegion": "eu-west-1"`, "eu-west-1"},
		"a zone of another region":        {"ec2-spot-interruption.json", "ec2:us-west-2a:", "ec2:eu-west-1a:", "eu-west-1a"},
		"maintenance of another account":  {"health-ec2-scheduled-change.json", `"service": "EC2"`, `"affectedAccount": "222233334444", "service": "EC2"`, "222233334444"},
		"a wish of another account's bus": {"spot-report-wanted.json", `"account": "111122223333"`, `"account": "222233334444"`, "hub"},
		"a schedule of another account":   {"schedule-rule.json", `"account": "111122223333"`, `"account": "222233334444"`, "hub"},
	} {
		raw := strings.Replace(sample(t, test.file), test.old, test.new, 1)
		if raw == sample(t, test.file) {
			t.Fatalf("%s: nothing changed", name)
		}
		w, err := inbox.OriginOf([]byte(raw), hub)
		forged := new(inbox.Forged)
		if !errors.As(err, &forged) || !strings.Contains(forged.Says, test.says) {
			t.Errorf("%s: %+v, %v; want it refused as forged, with %q", name, w, err, test.says)
		}
	}
	for name, raw := range map[string]string{
		"no JSON": "{", "no account": strings.Replace(sample(t, "ec2-state-running.json"), `"111122223333"`, `""`, 1),
	} {
		if w, err := inbox.OriginOf([]byte(raw), hub); !errors.As(err, new(*inbox.Malformed)) {
			t.Errorf("%s: %+v, %v; want malformed", name, w, err)
		}
	}
}

// TestOurOwnMessages: what Rollcall sends itself names its spoke; what releases before
// there were spokes sent is the hub's.
func TestOurOwnMessages(t *testing.T) {
	other := spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	own := func(detail string) string {
		return `{"source":"rollcall","detail-type":"Rollcall Incident Opened","account":"111122223333","region":"us-west-2","detail":` + detail + `}`
	}
	for body, want := range map[string]inbox.Origin{
		own(`{"account":"222233334444","region":"eu-west-1","cluster":"prod"}`): {Spoke: other},
		own(`{"account":"111122223333","region":"us-west-2","cluster":"prod"}`): {},
		own(`{"cluster":"prod"}`): {},
		`{"source":"rollcall","detail-type":"Rollcall Look Again","detail":{"instances":["i-1"]}}`:                       {},
		`{"source":"rollcall","detail-type":"Rollcall Spot Report Wanted","detail":{}}`:                                  {All: true},
		`{"source":"rollcall","detail-type":"Rollcall Spot Report Wanted","detail":{"cluster":"prod"}}`:                  {},
		`{"format":1,"account":"222233334444","region":"eu-west-1","cluster":"prod"}`:                                    {Spoke: other},
		`{"format":1,"account":"","region":"us-west-2","cluster":"prod"}`:                                                {},
		`{"format":201,"kind":"press","key":{"cluster":"prod"}}`:                                                         {},
		`{"format":201,"kind":"press","key":{"spoke":{"account":"222233334444","region":"eu-west-1"},"cluster":"prod"}}`: {Spoke: other},
	} {
		got, err := inbox.OriginOf([]byte(body), hub)
		if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

func TestBatch(t *testing.T) {
	raw := `{"Records":[
		{"messageId":"a","body":"one","attributes":{"ApproximateReceiveCount":"3"},"eventSource":"aws:sqs"},
		{"messageId":"b","receiptHandle":"h","body":"two","attributes":{"MessageGroupId":"prod"},"eventSource":"aws:sqs"}]}`
	got, ok := inbox.Batch([]byte(raw))
	want := []inbox.Message{{"a", "one", 3, "", ""}, {"b", "two", 1, "prod", "h"}}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("Batch = %v (-want +got):\n%s", ok, diff)
	}
	for _, other := range []string{"", "{}", `{"Records":[]}`, `{"Records":[{"eventSource":"aws:sns"}]}`, sample(t, "schedule-rule.json")} {
		if _, ok := inbox.Batch([]byte(other)); ok {
			t.Errorf("Batch(%q) is taken for SQS messages", other)
		}
	}
}

func FuzzBatch(f *testing.F) {
	f.Add([]byte(`{"Records":[{"messageId":"a","body":"one","attributes":{"ApproximateReceiveCount":"3"},"eventSource":"aws:sqs"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		messages, ok := inbox.Batch(raw)
		if ok != (len(messages) > 0) {
			t.Fatalf("ok %v with %d messages", ok, len(messages))
		}
	})
}
