package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"rollcall/shared/spoke"
)

// A press reaches report through the results queue, to which every detector may
// send. What proves that Slack signed it is a record in the table with the hash
// of the message: only slack-actions may write records of that kind (IAM,
// dynamodb:LeadingKeys), so that nobody else can bring a press about. A queue of
// its own would prove the same, and be polled by Lambda day and night for a few
// presses a week.

// PressRecordFormat is the version of PressRecord.
const PressRecordFormat = 1

// PressRecord is what the table knows of a press.
type PressRecord struct {
	Format int `json:"format"`
	// Digest is that of the PressMessage which was passed on; empty until it is.
	Digest string `json:"digest,omitempty"`
}

// PressMessage is a press as it travels through the results queue.
type PressMessage struct {
	ID   string
	Of   spoke.Cluster
	Body []byte
}

// EncodePress writes a press as it travels.
func EncodePress(p Press) (PressMessage, error) {
	p.Format, p.Kind = formatOf(p.Key.Spoke, PressFormat), PressKind
	body, err := json.Marshal(p)
	if err != nil {
		return PressMessage{}, fmt.Errorf("encode the press of %s: %w", p.Key.Cluster, err)
	}
	return PressMessage{ID: p.ID, Of: p.Key.Of(), Body: body}, nil
}

// Digest is the SHA-256 of the message, in hex: of the bytes as they are, so that
// no version has to encode a press as another one did.
func (m PressMessage) Digest() string { return digestOf(m.Body) }

func digestOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
