package report

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The ways in which a message can be no observation.
var (
	ErrNewerFormat = errors.New("it is of a newer format: deploy the version of Rollcall that sent it, then move it back from the dead-letter queue")
	ErrIncomplete  = errors.New("it is no observation: id, cluster and time are needed")
)

// Decode reads an observation from the results queue.
func Decode(body []byte) (Observation, error) {
	// The format comes first: a newer one may not even fit this type.
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return Observation{}, fmt.Errorf("decode an observation: %w", err)
	}
	if head.Format > Format+1 {
		return Observation{}, fmt.Errorf("decode an observation: %w (format %d, known %d)", ErrNewerFormat, head.Format, Format)
	}
	var obs Observation
	if err := json.Unmarshal(body, &obs); err != nil {
		return Observation{}, fmt.Errorf("decode an observation: %w", err)
	}
	if obs.Format < 1 || obs.ID == "" || obs.Cluster == "" || obs.At.IsZero() {
		return Observation{}, fmt.Errorf("decode an observation: %w", ErrIncomplete)
	}
	return obs, nil
}
