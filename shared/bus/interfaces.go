package bus

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"rollcall/shared/network/leak"
)

// TellInterfaces sends the events of deleted interfaces. An error may come
// after some were taken; to send them all again does no harm, as each keeps
// its id.
func (b *Bus) TellInterfaces(ctx context.Context, events []leak.Event) error {
	entries := make([]types.PutEventsRequestEntry, 0, len(events))
	for _, e := range events {
		detail, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("event %s: %w", e.ID, err)
		}
		entries = append(entries, b.pack(leak.DetailType, detail, e.At))
	}
	return b.send(ctx, entries)
}
