package message

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// The headers of a signed request.
const (
	HeaderTimestamp = "Rollcall-Timestamp"
	HeaderSignature = "Rollcall-Signature"
	// HeaderDelivery is the same each time an event is sent to a webhook.
	HeaderDelivery = "Rollcall-Delivery"
)

// Headers sign a body: the signature is of "v1:<timestamp>:<body>", so that a request
// cannot be sent again later with a fresh time.
func Headers(key, target, event string, body []byte, now time.Time) map[string]string {
	timestamp := strconv.FormatInt(now.Unix(), 10)
	return map[string]string{
		HeaderTimestamp: timestamp,
		HeaderSignature: "v1=" + Sign(key, timestamp, body),
		HeaderDelivery:  Delivery(target, event),
	}
}

// Sign is HMAC-SHA256, in hexadecimal.
func Sign(key, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("v1:" + timestamp + ":"))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// Delivery names what is told to a target, and is the same when it is told again.
func Delivery(target, event string) string {
	sum := sha256.Sum256([]byte(target + "\n" + event))
	return hex.EncodeToString(sum[:16])
}
