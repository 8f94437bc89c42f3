package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/events"
	"rollcall/local/stage"
)

// schemaFolder is what is promised to those who read the bus.
const schemaFolder = "events/schema"

// documented holds that every event that a story put on Rollcall's own bus is
// as its schema says: other people's rules read them.
func documented(n *narrator) error {
	schemas, err := events.ReadSchemas(filepath.Join(n.root, schemaFolder))
	if err != nil {
		return err
	}
	kinds, err := follow(schemas, n.stage.Events())
	if err != nil {
		return err
	}
	total := 0
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		total += kinds[kind]
		list = append(list, fmt.Sprintf("%d %s", kinds[kind], strings.TrimPrefix(kind, "Rollcall ")))
	}
	n.say("%d events on the rollcall bus, each as its schema says: %s", total, strings.Join(list, ", "))
	return nil
}

// follow counts the events on other buses than the account's default one, by
// detail-type. The error names each event that is not as documented, and where.
func follow(schemas events.Schemas, put []stage.Put) (map[string]int, error) {
	kinds := map[string]int{}
	var errs []error
	for i, p := range put {
		if p.Bus == "default" {
			continue
		}
		kind, err := schemas.Validate(p.Event)
		if err != nil {
			errs = append(errs, fmt.Errorf("event %d, %s %s of %s: %w", i+1, kind, idOf(p.Event), p.Stage.Format("15:04:05"), err))
			continue
		}
		kinds[kind]++
	}
	if len(kinds) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("no event was put on the rollcall bus"))
	}
	return kinds, errors.Join(errs...)
}

// idOf is an event's own id, if it has one.
func idOf(event []byte) string {
	var e struct {
		Detail struct {
			ID string `json:"id"`
		} `json:"detail"`
	}
	if err := json.Unmarshal(event, &e); err != nil || e.Detail.ID == "" {
		return "without an id"
	}
	return e.Detail.ID
}
