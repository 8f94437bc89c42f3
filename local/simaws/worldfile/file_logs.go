package worldfile

import (
	"time"

	"rollcall/local/simaws/cloudwatchlogs"
)

// LogsFile is the CloudWatch Logs part of a world: what `aws logs describe-*` prints of
// deliveries, and what is in log groups, by name.
type LogsFile struct {
	DeliverySources      []cloudwatchlogs.DeliverySource
	Deliveries           []cloudwatchlogs.Delivery
	DeliveryDestinations []cloudwatchlogs.DeliveryDestination
	LogGroups            map[string][]LogEvent
}

// LogEvent is a line of a log.
type LogEvent struct {
	At      time.Time
	Message string
}
