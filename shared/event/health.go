package event

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
)

// healthDetail is the detail of aws.health@AWSHealthEvent, as far as it is
// used. Its times are RFC 1123, not RFC 3339.
type healthDetail struct {
	Service          string `json:"service"`
	EventTypeCode    string `json:"eventTypeCode"`
	Category         string `json:"eventTypeCategory"` // issue, accountNotification, scheduledChange
	Status           string `json:"statusCode"`        // upcoming, open, closed
	StartTime        string `json:"startTime"`
	AffectedEntities []struct {
		Value string `json:"entityValue"`
	} `json:"affectedEntities"`
}

func health(t *Trigger, raw json.RawMessage) error {
	if t.Type != "AWS Health Event" {
		foreign(t, "not an event of AWS Health about resources")
		return nil
	}
	d, err := detail[healthDetail](t, raw)
	if err != nil {
		return err
	}
	switch {
	case d.Service != "EC2" || d.Category != "scheduledChange":
		foreign(t, "nothing that is planned for instances")
		return nil
	case d.Status == "closed":
		foreign(t, "what was planned is over")
		return nil
	}
	for _, e := range d.AffectedEntities {
		// One event can hold ids of several kinds, and ARNs.
		id := e.Value[strings.LastIndex(e.Value, "/")+1:]
		if strings.HasPrefix(id, "i-") && !slices.Contains(t.Instances, id) {
			t.Instances = append(t.Instances, id)
		}
	}
	if len(t.Instances) == 0 {
		// Large events come in pages, and an update may name nobody.
		foreign(t, "no instance is named")
		return nil
	}
	if d.StartTime != "" {
		if _, err := healthTime(d.StartTime); err != nil {
			return &Malformed{What: t.Type, Err: errors.New("startTime is no time of RFC 1123: " + d.StartTime)}
		}
	}
	t.Kind, t.Call = Maintenance, d.EventTypeCode
	return nil
}

// healthTime reads a time as AWS Health writes it: "Sat, 05 Jun 2016 15:10:09 GMT".
// The day of the week is not always that of the date, even in AWS's samples.
func healthTime(text string) (time.Time, error) {
	if _, rest, ok := strings.Cut(text, ", "); ok {
		text = rest
	}
	return time.Parse("2 Jan 2006 15:04:05 MST", text)
}
