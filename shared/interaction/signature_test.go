package interaction

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The example of docs.slack.dev/authentication/verifying-requests-from-slack.
const (
	exampleSecret    = "8f742231b10e8888abcd99yyyzzz85a5"
	exampleTime      = "1531420618"
	exampleSignature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
	exampleBody      = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)

func example() Request {
	return Request{Method: "POST", ContentType: "application/x-www-form-urlencoded", Timestamp: exampleTime, Signature: exampleSignature, Body: []byte(exampleBody)}
}

func TestVerify(t *testing.T) {
	for _, test := range []struct {
		name   string
		secret string
		change func(*Request)
		want   bool
	}{
		{"Slack's own example", exampleSecret, func(*Request) {}, true},
		{"another secret", exampleSecret + "5", func(*Request) {}, false},
		{"no secret", "", func(r *Request) { r.Signature = "v0=" + hex.EncodeToString(sign("", r.Timestamp, r.Body)) }, false},
		{"another body", exampleSecret, func(r *Request) { r.Body = append(r.Body, '&') }, false},
		{"another time", exampleSecret, func(r *Request) { r.Timestamp = "1531420619" }, false},
		{"half a signature", exampleSecret, func(r *Request) { r.Signature = r.Signature[:35] }, false},
		{"no signature", exampleSecret, func(r *Request) { r.Signature = "" }, false},
		{"no digits", exampleSecret, func(r *Request) { r.Signature = "v0=xyz" }, false},
	} {
		r := example()
		test.change(&r)
		if got := Verify(test.secret, r); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func reasonOf(err error) Reason {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

func TestAcceptable(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Request)
		want   Reason
	}{
		{"Slack's", func(*Request) {}, ""},
		{"with a charset", func(r *Request) { r.ContentType += "; charset=utf-8" }, ""},
		{"in capitals", func(r *Request) { r.ContentType = strings.ToUpper(r.ContentType) }, ""},
		{"as large as may be", func(r *Request) { r.Body = make([]byte, MaxBody) }, ""},
		{"larger", func(r *Request) { r.Body = make([]byte, MaxBody+1) }, TooLarge},
		{"GET", func(r *Request) { r.Method = "GET" }, NotPost},
		{"an event", func(r *Request) { r.ContentType = "application/json" }, ""},
		{"text", func(r *Request) { r.ContentType = "text/plain" }, NotForm},
		{"no type", func(r *Request) { r.ContentType = "" }, NotForm},
		{"files", func(r *Request) { r.ContentType = "multipart/form-data; boundary=x" }, NotForm},
		{"a type that breaks off", func(r *Request) { r.ContentType += "; charset" }, NotForm},
		{"no version", func(r *Request) { r.Signature = r.Signature[3:] }, Unsigned},
		{"half a signature", func(r *Request) { r.Signature = r.Signature[:35] }, Unsigned},
		{"no time", func(r *Request) { r.Timestamp = "" }, Unsigned},
		{"two times", func(r *Request) { r.Timestamp += "," + r.Timestamp }, Unsigned},
		{"a time with a sign", func(r *Request) { r.Timestamp = "+" + r.Timestamp[1:] }, Unsigned},
		{"a time with a space", func(r *Request) { r.Timestamp = " " + r.Timestamp[1:] }, Unsigned},
		{"a time of another kind", func(r *Request) { r.Timestamp = "1531420618000" }, Unsigned},
		{"no signature", func(r *Request) { r.Signature = "" }, Unsigned},
		{"two signatures", func(r *Request) { r.Signature += "," + r.Signature }, Unsigned},
		{"another version", func(r *Request) { r.Signature = "v1" + r.Signature[2:] }, Unsigned},
		{"capitals", func(r *Request) { r.Signature = "v0=" + strings.ToUpper(r.Signature[3:]) }, Unsigned},
	} {
		r := example()
		test.change(&r)
		if got := reasonOf(Acceptable(r)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestFresh(t *testing.T) {
	signed := time.Unix(1531420618, 0)
	for _, test := range []struct {
		after time.Duration
		want  Reason
	}{
		{0, ""}, {time.Second, ""}, {MaxAge, ""}, {MaxAge + time.Millisecond, TooOld}, {24 * time.Hour, TooOld},
		{-MaxAhead, ""}, {-MaxAhead - time.Millisecond, FromFuture}, {-24 * time.Hour, FromFuture},
	} {
		if got := reasonOf(Fresh(example(), signed.Add(test.after))); got != test.want {
			t.Errorf("%s after it was signed: %q, want %q", test.after, got, test.want)
		}
	}
}

func TestIDIsOfTheRequest(t *testing.T) {
	a, b, c := example(), example(), example()
	b.Signature = "v0=" + strings.Repeat("0", 64) // is not part of what was signed
	c.Timestamp = "1531420619"
	if ID(a) != ID(b) || ID(a) == ID(c) || len(ID(a)) != 64 {
		t.Errorf("ids %q, %q, %q", ID(a), ID(b), ID(c))
	}
}

func TestReasonsHaveAnAnswer(t *testing.T) {
	for _, r := range Reasons() {
		if s := r.Status(); s < 400 || s > 499 {
			t.Errorf("%s is answered with %d", r, s)
		}
	}
}

// FuzzSigned: whatever comes, only what the secret signed is let in.
func FuzzSigned(f *testing.F) {
	f.Add("POST", "application/x-www-form-urlencoded", exampleTime, exampleSignature, []byte(exampleBody))
	f.Add("GET", "", "", "", []byte(nil))
	f.Add("POST", "application/x-www-form-urlencoded;", "0000000000", "v0="+strings.Repeat("a", 64), []byte("payload={}"))
	f.Fuzz(func(t *testing.T, method, kind, stamp, signature string, body []byte) {
		r := Request{Method: method, ContentType: kind, Timestamp: stamp, Signature: signature, Body: body}
		now := time.Unix(1531420618, 0)
		if Acceptable(r) != nil || Fresh(r, now) != nil || !Verify(exampleSecret, r) {
			return
		}
		if _, err := strconv.ParseInt(stamp, 10, 64); err != nil || signature != "v0="+hex.EncodeToString(sign(exampleSecret, stamp, body)) {
			t.Errorf("let in: %q %q", stamp, signature)
		}
	})
}
