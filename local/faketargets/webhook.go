package faketargets

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Webhook is somebody's own receiver. It verifies as docs/targets.md says.
type Webhook struct {
	common
	key        string
	deliveries []Delivery
}

// Delivery is a request that was signed.
type Delivery struct {
	ID   string
	Body string
	At   time.Time
}

// NewWebhook makes a receiver with the key that it shares with Rollcall.
func NewWebhook(key string, now func() time.Time) *Webhook {
	return &Webhook{common: common{now: now}, key: key}
}

// Deliveries are what it took, repeats among them.
func (h *Webhook) Deliveries() []Delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.deliveries)
}

// ServeHTTP takes a request.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := h.begin(w, r, 1<<20, func(w http.ResponseWriter) { w.WriteHeader(http.StatusRequestEntityTooLarge) })
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !Verify(h.key, r.Header.Get("Rollcall-Timestamp"), r.Header.Get("Rollcall-Signature"), body, h.now()) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	h.deliveries = append(h.deliveries, Delivery{r.Header.Get("Rollcall-Delivery"), string(body), h.now()})
	w.WriteHeader(http.StatusNoContent)
}

// Verify tells whether Rollcall signed a body within the last five minutes. It is the
// example of docs/targets.md, which a test holds equal.
func Verify(key, timestamp, signature string, body []byte, now time.Time) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if age := now.Sub(time.Unix(seconds, 0)); err != nil || age < -5*time.Minute || age > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("v1:" + timestamp + ":"))
	mac.Write(body)
	sent, err := hex.DecodeString(strings.TrimPrefix(signature, "v1="))
	return err == nil && hmac.Equal(sent, mac.Sum(nil))
}
