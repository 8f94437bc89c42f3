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
	const service = "cloudwatchlogs"
	handlePlain(c, service, "DescribeDeliverySources", l.DescribeDeliverySources)
	handlePlain(c, service, "DescribeDeliveries", l.DescribeDeliveries)
	handlePlain(c, service, "DescribeDeliveryDestinations", l.DescribeDeliveryDestinations)
	handlePlain(c, service, "FilterLogEvents", l.FilterLogEvents)
}

func handlePlain[I any, O json.Marshaler](c *Cloud, service, operation string, answer func(*I) (O, error)) {
	c.ops[service] = append(c.ops[service], operation)
	wire.HandlePlain(c.wire, service, operation, func(_ context.Context, _ *wire.Call, in *I) (O, error) { return answer(in) })
}
