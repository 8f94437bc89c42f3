package gather

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/config"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// messages decode those that they know, as STS does.
type messages struct {
	known map[string]string
	err   error
	asked []string
}

func (m *messages) DecodeAuthorizationMessage(_ context.Context, in *sts.DecodeAuthorizationMessageInput, _ ...func(*sts.Options)) (*sts.DecodeAuthorizationMessageOutput, error) {
	m.asked = append(m.asked, aws.ToString(in.EncodedMessage))
	text, known := m.known[aws.ToString(in.EncodedMessage)]
	switch {
	case m.err != nil:
		return nil, m.err
	case !known:
		return nil, &smithy.OperationError{ServiceID: "STS", OperationName: "DecodeAuthorizationMessage", Err: &smithy.GenericAPIError{Code: "InvalidAuthorizationMessageException", Message: "Message is not valid"}}
	}
	return &sts.DecodeAuthorizationMessageOutput{DecodedMessage: aws.String(text)}, nil
}

func decoding(m *messages) *Reader {
	return &Reader{patience: time.Second, decoder: &decoder{api: m, done: map[string]snapshot.DecodedMessage{}}}
}

const simple = `{"allowed":false,"explicitDeny":false,"matchedStatements":{"items":[]},"context":{"action":"ec2:RunInstances","resource":"arn:aws:ec2:us-west-2:111122223333:instance/*"}}`

func TestDecode(t *testing.T) {
	denied := &smithy.OperationError{ServiceID: "STS", OperationName: "DecodeAuthorizationMessage", Err: &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"}}
	failure := func(reason snapshot.Reason, code, message string) *snapshot.Failure {
		return &snapshot.Failure{Source: snapshot.DenialsOf, Call: "sts:DecodeAuthorizationMessage", Reason: reason, Code: code, Message: message}
	}
	for name, tt := range map[string]struct {
		sts  *messages
		want snapshot.DecodedMessage
		// asked is how often STS is asked by two looks.
		asked int
	}{
		"decoded":            {&messages{known: map[string]string{"m": simple}}, snapshot.DecodedMessage{Denial: &snapshot.Denial{Action: "ec2:RunInstances", Resource: "arn:aws:ec2:us-west-2:111122223333:instance/*"}}, 1},
		"another account's":  {&messages{}, snapshot.DecodedMessage{Failure: failure(snapshot.Broken, "InvalidAuthorizationMessageException", "Message is not valid")}, 1},
		"denied":             {&messages{err: denied}, snapshot.DecodedMessage{Failure: failure(snapshot.Denied, "AccessDenied", "no")}, 2},
		"in time":            {&messages{err: context.DeadlineExceeded}, snapshot.DecodedMessage{Failure: failure(snapshot.TimedOut, "", "no answer in time")}, 2},
		"in a form of later": {&messages{known: map[string]string{"m": "<denied/>"}}, snapshot.DecodedMessage{Failure: failure(snapshot.Broken, "", "the answer could not be read")}, 2},
	} {
		r := decoding(tt.sts)
		tt.want.Encoded = "m"
		r.Decode(t.Context(), "m")
		if diff := cmp.Diff(tt.want, r.Decode(t.Context(), "m")); diff != "" || len(tt.sts.asked) != tt.asked {
			t.Errorf("%s: STS was asked %d times, want %d (-want +got):\n%s", name, len(tt.sts.asked), tt.asked, diff)
		}
	}
	off := (&Reader{}).Decoding(false).Decode(t.Context(), "m")
	if diff := cmp.Diff(failure(snapshot.Denied, "", "the setting decodeDenied is off"), off.Failure); diff != "" {
		t.Errorf("off (-want +got):\n%s", diff)
	}
}

// TestDecodedIsForgotten: a reader lives as long as its process.
func TestDecodedIsForgotten(t *testing.T) {
	m := &messages{known: map[string]string{}}
	r := decoding(m)
	for i := range 3 * keptDecoded {
		r.Decode(t.Context(), string(rune('a'+i)))
		if n := len(r.decoder.done); n > keptDecoded {
			t.Fatalf("%d messages are kept", n)
		}
	}
}

func TestDecodeActivities(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	failed := func(group, message string, ago time.Duration) snapshot.Activity {
		return snapshot.Activity{Group: group, Status: "Failed", About: "Launching a new EC2 instance.", Started: now.Add(-ago),
			Message: "You are not authorized to perform this operation. Encoded authorization failure message: " + message + ". Launching EC2 instance failed."}
	}
	s := &snapshot.Snapshot{Time: now, Read: map[snapshot.Source]bool{snapshot.Activities: true}, Activities: []snapshot.Activity{
		failed("a", "older", 2*time.Minute), failed("a", "newest", time.Minute), failed("a", "oldest", 3*time.Minute),
		failed("b", "cut...", time.Minute), failed("b", "whole", 2*time.Minute), failed("c", "lastHour", 61*time.Minute),
		failed("d", "third", 4*time.Minute), failed("e", "fourth", 5*time.Minute),
		{Group: "f", About: "Terminating EC2 instance: i-1", Message: "Encoded authorization failure message: ended", Started: now},
		{Group: "g", About: "Launching a new EC2 instance.", Message: "no", Started: now},
	}}
	m := &messages{known: map[string]string{"newest": simple}}
	r := decoding(m)
	for range 2 {
		r.decodeActivities(t.Context(), s)
	}
	if diff := cmp.Diff([]string{"newest", "whole", "third"}, m.asked); diff != "" {
		t.Errorf("STS was asked (-want +got):\n%s", diff)
	}
	var decoded []string
	for _, d := range s.Denials {
		if d.Denial != nil {
			decoded = append(decoded, d.Encoded)
		}
	}
	if diff := cmp.Diff([]string{"newest"}, decoded); diff != "" || !s.Read[snapshot.DenialsOf] {
		t.Errorf("decoded (read %v, -want +got):\n%s", s.Read[snapshot.DenialsOf], diff)
	}
	for name, r := range map[string]*Reader{"off": {}, "unread": decoding(m)} {
		s := &snapshot.Snapshot{Time: now, Read: map[snapshot.Source]bool{snapshot.Activities: name == "off"}, Activities: s.Activities}
		if r.decodeActivities(t.Context(), s); s.Read[snapshot.DenialsOf] || s.Denials != nil || len(m.asked) != 3 {
			t.Errorf("%s: messages are decoded: %+v", name, s.Denials)
		}
	}
}

// TestEachMessageIsDecoded: those of one group may be of two policies. What one look
// leaves the next ones decode.
func TestEachMessageIsDecoded(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	look := func() *snapshot.Snapshot {
		s := &snapshot.Snapshot{Time: now, Read: map[snapshot.Source]bool{snapshot.Activities: true}}
		for n, message := range []string{"a1", "a2", "b1", "a2", "a3", "b2"} {
			s.Activities = append(s.Activities, snapshot.Activity{Group: message[:1], Status: "Failed", About: "Launching a new EC2 instance.", Started: now.Add(-time.Duration(n) * time.Minute),
				Message: "You are not authorized to perform this operation. Encoded authorization failure message: " + message + ". Launching EC2 instance failed."})
		}
		return s
	}
	m := &messages{known: map[string]string{"a1": simple, "a2": simple, "a3": simple, "b1": simple, "b2": simple}}
	r := decoding(m)
	for i, want := range [][]string{{"a1", "b1", "a2"}, {"a1", "b1", "a2", "a3", "b2"}, {"a1", "b1", "a2", "a3", "b2"}} {
		s := look()
		r.decodeActivities(t.Context(), s)
		var got []string
		for _, d := range s.Denials {
			if d.Denial != nil {
				got = append(got, d.Encoded)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("look %d (-want +got):\n%s", i+1, diff)
		}
	}
	if diff := cmp.Diff([]string{"a1", "b1", "a2", "a3", "b2"}, m.asked); diff != "" {
		t.Errorf("STS was asked (-want +got):\n%s", diff)
	}
}

func TestDecodeDenied(t *testing.T) {
	env := func(value string) func(string) string {
		return func(name string) string {
			return map[string]string{"AWS_REGION": "us-west-2", string(config.DecodeDenied): value}[name]
		}
	}
	for _, off := range []string{"", "off"} {
		if grants, err := DecodeDenied(env(off)); err != nil || grants != nil {
			t.Errorf("%q grants %+v, %v", off, grants, err)
		}
	}
	grants, err := DecodeDenied(env("on"))
	if err != nil || len(grants) != 1 {
		t.Fatalf("%+v, %v", grants, err)
	}
	g := grants[0]
	if g.Sid == "" || g.Why == "" || !cmp.Equal(g.Actions, []string{"sts:DecodeAuthorizationMessage"}) || !cmp.Equal(g.Resources, []spec.Resource{"*"}) ||
		!cmp.Equal(g.Conditions, map[string]map[string][]string{"StringEquals": {"aws:RequestedRegion": {"${Region}"}}}) {
		t.Errorf("the grant is %+v", g)
	}
	var bad *config.SettingError
	if _, err := DecodeDenied(env("perhaps")); !errors.As(err, &bad) {
		t.Errorf("the setting %q is taken: %v", "perhaps", err)
	}
}
