package simaws

import (
	"context"
	"encoding/json"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/cloudwatchlogs"
)

// Logs is CloudWatch Logs, of a world that has any.
type Logs interface {
	DescribeDeliverySources(*cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliverySourcesOutput, error)
	DescribeDeliveries(*cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliveriesOutput, error)
	DescribeDeliveryDestinations(*cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliveryDestinationsOutput, error)
	FilterLogEvents(*cloudwatchlogs.FilterLogEventsInput) (cloudwatchlogs.FilterLogEventsOutput, error)
}

// registerLogs serves CloudWatch Logs.
func (c *Cloud) registerLogs(l Logs) {
	handlePlain(c, "DescribeDeliverySources", l.DescribeDeliverySources)
	handlePlain(c, "DescribeDeliveries", l.DescribeDeliveries)
	handlePlain(c, "DescribeDeliveryDestinations", l.DescribeDeliveryDestinations)
	handlePlain(c, "FilterLogEvents", l.FilterLogEvents)
}

func handlePlain[I any, O json.Marshaler](c *Cloud, operation string, answer func(*I) (O, error)) {
	const service = "cloudwatchlogs"
	c.ops[service] = append(c.ops[service], operation)
	wire.HandlePlain(c.wire, service, operation, func(_ context.Context, _ *wire.Call, in *I) (O, error) { return answer(in) })
}
