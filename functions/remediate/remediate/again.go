package remediate

import (
	"context"
	"fmt"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
)

// oneDay is how long a policy does not do the same plan again: what takes it
// back runs every night at least (a pipeline, an autoscaler, a colleague).
const oneDay = 24 * time.Hour

// takenBack says that exactly this plan was done lately: somebody or something
// took it back, or it would not be planned. A policy does not fight whom it
// cannot see; a person is asked. It is empty where that is not so.
func (h handler) takenBack(ctx context.Context, inc incident.Incident, p remedy.Plan) (string, error) {
	list, err := h.memory.Runs(ctx, inc.Key.Cluster)
	if err != nil {
		return "", err
	}
	var last time.Time
	for _, d := range list {
		// One without an end may have changed it too.
		changed := d.Result == action.Done || d.Result == action.Partly || d.Result == action.Uncertain || d.Ended.IsZero()
		if changed && d.Hash == p.Hash() && h.now().Sub(d.Began) < oneDay && d.Began.After(last) {
			last = d.Began
		}
	}
	if last.IsZero() {
		return "", nil
	}
	h.count("TakenBack", 1)
	return fmt.Sprintf("The same was done at %s, and was taken back since. The policy auto does not do it again within a day: a person decides.", last.UTC().Format("15:04 UTC on 2 January")), nil
}
