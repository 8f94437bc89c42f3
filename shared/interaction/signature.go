package interaction

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"strconv"
	"strings"
	"time"
)

// The headers of a signature, docs.slack.dev/authentication/verifying-requests-from-slack.
const (
	HeaderTimestamp = "x-slack-request-timestamp"
	HeaderSignature = "x-slack-signature"
)

const (
	// MaxBody is the longest body that is looked at, in bytes. A payload holds
	// the message that was pressed: at most 11,000 characters of blocks and 4,000
	// of text (package slack, limits). Written as \uXXXX and then for a form, a
	// character takes up to 8 bytes: 120 KB, and the rest of the payload.
	MaxBody = 256 << 10
	// MaxAge is how old a request may be: Slack's own recommendation.
	MaxAge = 5 * time.Minute
	// MaxAhead is how far Slack's clock may be ahead of this machine's.
	MaxAhead = time.Minute
)

// Request is what came, before anything in it is believed.
type Request struct {
	Method, ContentType  string
	Timestamp, Signature string
	Body                 []byte
}

// Acceptable tells whether a request has the outer form of Slack's.
func Acceptable(r Request) error {
	kind, _, err := mime.ParseMediaType(r.ContentType)
	switch {
	case len(r.Body) > MaxBody:
		return refuse(TooLarge, "the request is larger than any that Slack sends for a message of Rollcall")
	case r.Method != "POST":
		return refuse(NotPost, "this address takes POST only, from Slack")
	case err != nil || kind != "application/x-www-form-urlencoded" && kind != "application/json":
		return refuse(NotForm, "this address takes what Slack sends: a form, when a button is pressed or a command typed, and JSON of its events")
	case !isTimestamp(r.Timestamp) || !isSignature(r.Signature):
		return refuse(Unsigned, "the request has no signature of Slack's")
	}
	return nil
}

// IsEvent tells that an acceptable request is one of the Events API.
func IsEvent(r Request) bool {
	kind, _, err := mime.ParseMediaType(r.ContentType)
	return err == nil && kind == "application/json"
}

// Fresh tells whether a request was signed just now. What is not fresh may be
// a copy that somebody kept.
func Fresh(r Request, now time.Time) error {
	seconds, err := strconv.ParseInt(r.Timestamp, 10, 64)
	if err != nil {
		return refuse(Unsigned, "the time of the signature is no number")
	}
	switch age := now.Sub(time.Unix(seconds, 0)); {
	case age > MaxAge:
		return refuse(TooOld, "the request was signed more than five minutes ago")
	case age < -MaxAhead:
		return refuse(FromFuture, "the request was signed more than a minute ahead of this clock")
	}
	return nil
}

// Verify tells whether the secret signed the request. It takes the same time
// for every wrong signature.
func Verify(secret string, r Request) bool {
	given, err := hex.DecodeString(strings.TrimPrefix(r.Signature, version+"="))
	return err == nil && secret != "" && hmac.Equal(given, sign(secret, r.Timestamp, r.Body))
}

// ID names a request: the same signed request has the same, and no other has.
func ID(r Request) string {
	sum := sha256.New()
	sum.Write(base(r.Timestamp, r.Body))
	return hex.EncodeToString(sum.Sum(nil))
}

// version is the only one of Slack's signatures that there is.
const version = "v0"

func sign(secret, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(base(timestamp, body))
	return mac.Sum(nil)
}

func base(timestamp string, body []byte) []byte {
	return append([]byte(version+":"+timestamp+":"), body...)
}

// isTimestamp wants digits alone: two headers are joined by a comma, and a
// number may be written in several ways, of which one was signed. Ten digits
// last until the year 2286.
func isTimestamp(text string) bool {
	return len(text) == 10 && strings.Trim(text, "0123456789") == ""
}

func isSignature(text string) bool {
	digits, ok := strings.CutPrefix(text, version+"=")
	return ok && len(digits) == 2*sha256.Size && strings.Trim(digits, "0123456789abcdef") == ""
}
