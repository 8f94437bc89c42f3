package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"rollcall/local/stage"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// judge holds what Rollcall remembers of each launch against what the world
// did. It gives how many ended how, and what is wrong.
func judge(ctx context.Context, s *stage.Stage, truth map[string]launched, refusals map[string]bool) (ends map[snapshot.End]int, wrong []string, err error) {
	table := s.Template.Tables[0].Name
	history, err := store.New(s.Table.Client(), table).At(s.Clock.Now).History(ctx, cluster, s.Clock.Now().Add(-24*time.Hour))
	if err != nil {
		return nil, nil, fmt.Errorf("read the outcomes: %w", err)
	}
	ends = map[snapshot.End]int{}
	told := map[string][]snapshot.Past{}
	for _, p := range history {
		told[p.ID] = append(told[p.ID], p)
	}
	for _, id := range slices.Sorted(maps.Keys(truth)) {
		records := told[id]
		if len(records) != 1 {
			wrong = append(wrong, fmt.Sprintf("%s has %d outcomes", id, len(records)))
			continue
		}
		p := records[0]
		ends[p.End]++
		if want := truth[id].end(); !slices.Contains(want, p.End) {
			wrong = append(wrong, fmt.Sprintf("%s of %s is %q (%s), want one of %q", id, p.Nodegroup, p.End, p.Why, want))
		}
		delete(told, id)
	}
	for _, id := range slices.Sorted(maps.Keys(refusals)) {
		records := told[id]
		if len(records) != 1 || records[0].End != snapshot.Refused {
			wrong = append(wrong, fmt.Sprintf("the refused activity %s has the outcomes %+v", id, records))
			continue
		}
		ends[snapshot.Refused]++
		delete(told, id)
	}
	for _, id := range slices.Sorted(maps.Keys(told)) {
		wrong = append(wrong, fmt.Sprintf("an outcome of %s, which was never launched: %q", id, told[id][0].End))
	}
	return ends, wrong, nil
}

// launched is what the world did with a launch.
type launched struct {
	group string
	// warned tells that EC2 said that it would take the instance back.
	warned bool
}

// end is how the launch must have ended. The broken nodegroup's have no route to the internet
// and end by a scale-in after their time to join; a scale-in may also be faster
// than Spot.
func (l launched) end() []snapshot.End {
	switch {
	case l.group == brokenGroup:
		return []snapshot.End{snapshot.NotJoined}
	case l.group == takenGroup && l.warned:
		return []snapshot.End{snapshot.Reclaimed, snapshot.Terminated}
	case l.group == takenGroup:
		return []snapshot.End{snapshot.Terminated, snapshot.Joined}
	}
	return []snapshot.End{snapshot.Joined}
}
