package bus

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"rollcall/shared/incident"
)

// TellWeek sends the event of a week. To send it again does no harm, as it keeps its id.
func (b *Bus) TellWeek(ctx context.Context, w incident.Week) error {
	detail, err := w.Encode(incident.MaxWeek)
	if err != nil {
		return err
	}
	if detail == nil {
		return fmt.Errorf("event %s: %w", w.ID, ErrTooLarge)
	}
	return b.send(ctx, []types.PutEventsRequestEntry{b.pack(incident.WeekType, detail, w.At)})
}
