package event

import (
	"encoding/json"
	"fmt"
)

// AskedPattern matches a person's wish for a Spot report, sent to the default
// bus.
const AskedPattern = `{"source":["` + source + `"],"detail-type":["` + asked + `"]}`

// How far back a report goes that somebody asks for: a day where the wish does
// not say, at most the time for which launches are kept.
const (
	usualHours = 24
	mostHours  = 90 * 24
)

type askedDetail struct {
	Cluster string `json:"cluster"`
	Hours   int    `json:"hours"`
}

// wanted reads a wish for a report; without a cluster it is of all that are
// watched.
func wanted(t *Trigger, raw json.RawMessage) error {
	d, err := detail[askedDetail](t, raw)
	if err != nil {
		return err
	}
	if d.Hours < 0 || d.Hours > mostHours {
		return &Malformed{What: t.Type, Err: fmt.Errorf("hours is %d, it may be 1 to %d", d.Hours, mostHours)}
	}
	if d.Hours == 0 {
		d.Hours = usualHours
	}
	t.Kind, t.Cluster, t.Hours = Asked, d.Cluster, d.Hours
	return nil
}
