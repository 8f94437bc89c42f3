package simaws

import (
	"context"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/cloudtrail"
)

// History is what CloudTrail remembers of the account, by region.
type History interface {
	LookupEventsIn(region string, in *cloudtrail.LookupEventsInput) (*cloudtrail.LookupEventsOutput, error)
}

func (c *Cloud) lookupEvents(_ context.Context, call *wire.Call, in *cloudtrail.LookupEventsInput) (*cloudtrail.LookupEventsOutput, error) {
	return c.cfg.History.LookupEventsIn(call.Region, in)
}
