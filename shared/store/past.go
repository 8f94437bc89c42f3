package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// past is a launch with an outcome as the index EndedIndex holds it: the
// history of 90 days is read from it, so each byte counts.
type past struct {
	ID         string       `json:"i"`
	Nodegroup  string       `json:"n,omitempty"`
	Group      string       `json:"g,omitempty"`
	Type       string       `json:"t,omitempty"`
	Zone       string       `json:"z,omitempty"`
	Subnet     string       `json:"s,omitempty"`
	Spot       bool         `json:"p,omitempty"`
	Template   string       `json:"l,omitempty"`
	Version    string       `json:"v,omitempty"`
	AMI        string       `json:"m,omitempty"`
	Machine    string       `json:"h,omitempty"` // architecture
	Plugin     string       `json:"k,omitempty"`
	Started    int64        `json:"b"` // milliseconds since 1970, like all that follow
	End        snapshot.End `json:"e"`
	Cause      checkid.ID   `json:"c,omitempty"`
	Why        string       `json:"w,omitempty"`
	Registered int64        `json:"r,omitempty"`
	Ready      int64        `json:"y,omitempty"`
	Ended      int64        `json:"x,omitempty"`
	Lost       bool         `json:"q,omitempty"`
	Noticed    int64        `json:"o,omitempty"`
	Rebalance  int64        `json:"a,omitempty"`
	Free       int          `json:"f,omitempty"`
	FreeAt     int64        `json:"fa,omitempty"`
}

func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func unstamp(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

// maxWhy bounds the words of an end in the index; the record has them in full.
const maxWhy = 200 // runes

func encodePast(p snapshot.Past) (string, error) {
	why := []rune(p.Why)
	body, err := json.Marshal(past{
		ID: p.ID, Nodegroup: p.Nodegroup, Group: p.Group, Type: p.Type, Zone: p.Zone, Subnet: p.Subnet, Spot: p.Spot,
		Template: p.Template.ID, Version: p.Template.Version, AMI: p.AMI, Machine: p.Architecture, Plugin: p.Plugin, Started: stamp(p.Started), End: p.End, Cause: p.Cause, Why: string(why[:min(len(why), maxWhy)]),
		Registered: stamp(p.Registered), Ready: stamp(p.Ready), Ended: stamp(p.Ended), Lost: p.Lost, Noticed: stamp(p.Noticed), Rebalance: stamp(p.Rebalance),
		Free: p.Free, FreeAt: stamp(p.FreeAt),
	})
	return string(body), err
}

var errNoPast = errors.New("it has no id or no end")

func decodePast(text string) (snapshot.Past, error) {
	var p past
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return snapshot.Past{}, err
	}
	if p.ID == "" || p.End == snapshot.Open {
		return snapshot.Past{}, errNoPast
	}
	return snapshot.Past{
		ID: p.ID, Nodegroup: p.Nodegroup, Group: p.Group, Type: p.Type, Zone: p.Zone, Subnet: p.Subnet, Spot: p.Spot,
		Template: snapshot.TemplateRef{ID: p.Template, Version: p.Version}, AMI: p.AMI, Architecture: p.Machine, Plugin: p.Plugin, Started: unstamp(p.Started), End: p.End, Cause: p.Cause, Why: p.Why,
		Registered: unstamp(p.Registered), Ready: unstamp(p.Ready), Ended: unstamp(p.Ended), Lost: p.Lost, Noticed: unstamp(p.Noticed), Rebalance: unstamp(p.Rebalance),
		Free: p.Free, FreeAt: unstamp(p.FreeAt),
	}, nil
}

// past reads a launch of the index.
func (s *Store) past(attributes map[string]types.AttributeValue) (p snapshot.Past, there bool, err error) {
	name, there, err := s.there(attributes, LaunchFormat)
	if err != nil || !there {
		return snapshot.Past{}, false, err
	}
	text, ok := attributes[attrPast].(*types.AttributeValueMemberS)
	if !ok {
		return snapshot.Past{}, false, fmt.Errorf("record %s: no %s: %w", name, attrPast, errNotOurs)
	}
	if p, err = decodePast(text.Value); err != nil {
		return snapshot.Past{}, false, fmt.Errorf("record %s: %w", name, err)
	}
	return p, true, nil
}
