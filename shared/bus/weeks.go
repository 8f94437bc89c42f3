package bus

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"rollcall/shared/incident"
)

// maxWeek is the most of a week's event: well within an entry of 256 KB ("Calculating PutEvents
// event entry size"), as each target gets it in a message of SQS too.
const maxWeek = 200 << 10

// TellWeek sends the event of a week. To send it again does no harm, as it keeps its id.
func (b *Bus) TellWeek(ctx context.Context, w incident.Week) error {
	detail, err := w.Encode(maxWeek)
	if err != nil {
		return err
	}
	if detail == nil {
		return fmt.Errorf("event %s: %w", w.ID, ErrTooLarge)
	}
	return b.send(ctx, []types.PutEventsRequestEntry{b.pack(incident.WeekType, detail, w.At)})
}
