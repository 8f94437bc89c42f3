package take

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"rollcall/local/platform/wire"
	"rollcall/shared/awsjson"
	"rollcall/shared/capture/filename"
	"rollcall/shared/node/autolog"
)

// What EKS Auto Mode logs counts as long as refused launches do, and is read so far.
const (
	logSpan  = time.Hour
	logPage  = 10000 // FilterLogEvents, limit
	logPages = 5
	// listPage is the largest page of deliveries (DescribeLimit).
	listPage = 50
)

// logsPage asks for a page of one of the lists.
type logsPage struct {
	Limit int    `json:"limit"`
	Next  string `json:"nextToken,omitempty"`
}

// logsFilter asks for a page of what a log group has.
type logsFilter struct {
	Group string `json:"logGroupName"`
	Start int64  `json:"startTime"`
	End   int64  `json:"endTime"`
	logsPage
}

// autoModeLogs takes where the logs of EKS Auto Mode go, and what stands there. Clusters
// without it have none.
func (t *taker) autoModeLogs(ctx context.Context, clusters []string) {
	if len(clusters) == 0 {
		return
	}
	var sources, deliveries, destinations map[string]any
	all := func(file, operation string) map[string]any {
		return t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
			tree, _, err := t.logs(ctx, operation, func(next string) any { return logsPage{listPage, next} }, 0)
			return tree, err
		})
	}
	t.parallel(
		func() { sources = all("logs-describe-delivery-sources", "DescribeDeliverySources") },
		func() { deliveries = all("logs-describe-deliveries", "DescribeDeliveries") },
		func() { destinations = all("logs-describe-delivery-destinations", "DescribeDeliveryDestinations") },
	)
	list(t, logGroups(clusters, sources, deliveries, destinations), func(_ int, group string) {
		file := filename.Of("logs-filter-log-events", group)
		t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
			tree, more, err := t.logs(ctx, "FilterLogEvents", func(next string) any {
				return logsFilter{group, t.options.Now.Add(-logSpan).UnixMilli(), t.options.Now.UnixMilli(), logsPage{logPage, next}}
			}, logPages)
			if more {
				t.leave(file, "events of the last hour beyond the first %d pages", logPages)
			}
			return tree, err
		})
	})
}

// logGroups are those that clusters' logs of EKS Auto Mode are delivered to.
func logGroups(clusters []string, sources, deliveries, destinations map[string]any) []string {
	where := map[string]string{}
	for _, d := range nodesOf(destinations, "deliveryDestinations[]") {
		where[text(d, "arn")] = text(d, "deliveryDestinationConfiguration.destinationResourceArn")
	}
	var named []string
	for _, s := range nodesOf(sources, "deliverySources[]") {
		of := slices.ContainsFunc(picks(s, "resourceArns[]"), func(a string) bool { return slices.Contains(clusters, a) })
		if of && autolog.Is(text(s, "logType")) {
			named = append(named, text(s, "name"))
		}
	}
	var groups []string
	for _, d := range nodesOf(deliveries, "deliveries[]") {
		if !slices.Contains(named, text(d, "deliverySourceName")) {
			continue
		}
		a, err := arn.Parse(where[text(d, "deliveryDestinationArn")])
		name, is := strings.CutPrefix(a.Resource, "log-group:")
		if err == nil && is {
			groups = append(groups, strings.TrimSuffix(name, ":*"))
		}
	}
	return sorted(groups)
}

// logs makes a call of CloudWatch Logs with at most so many pages (0: all), and tells if
// there are more.
func (t *taker) logs(ctx context.Context, operation string, in func(next string) any, most int) (map[string]any, bool, error) {
	return t.json(ctx, awsjson.Service{ID: "CloudWatch Logs", Name: "logs", Target: "Logs_20140328.", MostBytes: maxBytes}, operation, in, most)
}

// json makes a call of a JSON service likewise.
func (t *taker) json(ctx context.Context, service awsjson.Service, operation string, in func(next string) any, most int) (map[string]any, bool, error) {
	client := awsjson.New(t.asked.Config, service)
	return t.jsonPages(ctx, service.Name, operation, nil, most, func(next string, out *json.RawMessage) error {
		return client.Call(ctx, operation, "", in(next), out)
	})
}

// jsonPages makes calls for pages in JSON. out tells what is a time.
func (t *taker) jsonPages(ctx context.Context, service, operation string, out reflect.Type, most int, call func(next string, out *json.RawMessage) error) (map[string]any, bool, error) {
	var all map[string]any
	for n, next := 1, ""; ; n++ {
		leave, err := t.limits.enter(ctx, service, operation)
		if err != nil {
			return nil, false, err
		}
		var raw json.RawMessage
		err = call(next, &raw)
		leave()
		t.count(func() { t.state.Calls++ })
		if err != nil {
			return nil, false, err
		}
		page, err := wire.PrintedJSON(out, raw)
		if err != nil {
			return nil, false, err
		}
		before := next
		next = cmp.Or(text(page, "nextToken"), text(page, "NextToken"))
		all = joined(all, page)
		switch {
		case next == "", most > 0 && n == most:
			return all, next != "", nil
		case next == before:
			return nil, false, errHalf
		}
	}
}
