package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/shared/spoke"
)

// Message is what a message on the results queue holds: one of these.
type Message struct {
	Observation  *Observation
	Summary      *Summary
	Press        *Press
	Proposal     *Proposal
	RemedyResult *RemedyResult
	Changes      *Changes
	Command      *Command
	// Digest is that of a press's or a command's body as it came: what PressRecord holds.
	Digest string
}

// Cluster is whom the message is about.
func (m Message) Cluster() string {
	switch {
	case m.Summary != nil:
		return m.Summary.Cluster
	case m.Press != nil:
		return m.Press.Key.Cluster
	case m.Proposal != nil:
		return m.Proposal.Cluster
	case m.RemedyResult != nil:
		return m.RemedyResult.Cluster
	case m.Changes != nil:
		return m.Changes.Cluster
	case m.Command != nil:
		return Commands
	}
	return m.Observation.Cluster
}

// In makes a message one of a spoke: all that it names is that spoke's, whatever its
// keys say. Whose is the name that people know the spoke by.
func (m Message) In(id spoke.ID, whose string) Message {
	switch {
	case m.Observation != nil:
		m.Observation.Spoke, m.Observation.Whose = id, whose
	case m.Summary != nil:
		// Two spokes may have clusters of one name, and each its daily summary.
		m.Summary.Format, m.Summary.ID, m.Summary.Whose = SummaryFormat, id.In(m.Summary.ID), whose
	case m.Press != nil:
		m.Press.Key.Spoke = id
	case m.Proposal != nil:
		m.Proposal.Key.Spoke = id
	case m.RemedyResult != nil:
		m.RemedyResult.Key.Spoke = id
	case m.Changes != nil:
		m.Changes.Key.Spoke = id
	}
	return m
}

// DecodeMessage reads a message from the results queue.
func DecodeMessage(body []byte) (Message, error) {
	var head struct {
		Format int             `json:"format"`
		Kind   json.RawMessage `json:"kind"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return Message{}, fmt.Errorf("decode a result: %w", err)
	}
	if len(head.Kind) == 0 {
		obs, err := Decode(body)
		if err != nil {
			return Message{}, err
		}
		return Message{Observation: &obs}, nil
	}
	var kind string
	if err := json.Unmarshal(head.Kind, &kind); err != nil {
		return Message{}, fmt.Errorf("decode a result: %w", err)
	}
	switch kind {
	case CommandKind:
		return decodeCommand(body, head.Format)
	case PressKind:
		p, err := decodeTold[Press](body, head.Format, PressFormat+1, kind)
		return Message{Press: &p, Digest: digestOf(body)}, errors.Join(err, complete(kind, p.ID, p.Key, p.At))
	case ProposalKind:
		p, err := decodeTold[Proposal](body, head.Format, ProposalFormat+1, kind)
		return Message{Proposal: &p}, errors.Join(err, complete(kind, p.ID, p.Key, p.At))
	case RemedyResultKind:
		d, err := decodeTold[RemedyResult](body, head.Format, RemedyResultFormat+1, kind)
		return Message{RemedyResult: &d}, errors.Join(err, complete(kind, d.ID, d.Key, d.At))
	case ChangesKind:
		c, err := decodeTold[Changes](body, head.Format, ChangesFormat+1, kind)
		return Message{Changes: &c}, errors.Join(err, complete(kind, c.ID, c.Key, c.At))
	}
	return decodeSummary(body, head.Format)
}

func decodeTold[T any](body []byte, written, known int, kind string) (T, error) {
	var v T
	if written > known {
		return v, fmt.Errorf("decode a %s: %w (format %d, known %d)", kind, ErrNewerFormat, written, known)
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return v, fmt.Errorf("decode a %s: %w", kind, err)
	}
	return v, nil
}

// ErrUnkeyed: a message names no incident.
var ErrUnkeyed = errors.New("id, time and the incident's cluster, check and resource are needed")

func complete(kind, id string, key Key, at time.Time) error {
	if strings.TrimSpace(id) == "" || key.Cluster == "" || key.Check == "" || key.Resource == "" || at.IsZero() {
		return fmt.Errorf("decode a %s: %w", kind, ErrUnkeyed)
	}
	return nil
}

func decodeSummary(body []byte, format int) (Message, error) {
	if format > SummaryFormat+1 {
		return Message{}, fmt.Errorf("decode a summary: %w (format %d, known %d)", ErrNewerFormat, format, SummaryFormat)
	}
	var s Summary
	if err := json.Unmarshal(body, &s); err != nil {
		return Message{}, fmt.Errorf("decode a summary: %w", err)
	}
	if s.Format != SummaryFormat && s.Format != SummaryFormat+1 || !s.known() || strings.TrimSpace(s.ID) == "" || s.Cluster == "" || s.At.IsZero() {
		return Message{}, fmt.Errorf("decode a summary: %w", ErrNoSummary)
	}
	return Message{Summary: &s}, nil
}
