package awsconf

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// Calls counts the AWS calls of one invocation, retries not counted apart.
// The zero value is ready; it is safe for use by several goroutines.
type Calls struct {
	mu     sync.Mutex
	counts map[string]int
	failed map[string]int
}

// Take returns what was counted since the last Take: calls and failures by
// "service:Operation".
func (c *Calls) Take() (counts, failed map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts, failed = maps.Clone(c.counts), maps.Clone(c.failed)
	clear(c.counts)
	clear(c.failed)
	return counts, failed
}

func (c *Calls) add(call string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts, c.failed = map[string]int{}, map[string]int{}
	}
	c.counts[call]++
	if err != nil {
		c.failed[call]++
	}
}

func (c *Calls) middleware(log *slog.Logger) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RollcallCalls",
			func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
				began := time.Now()
				out, meta, err := next.HandleInitialize(ctx, in)
				call := strings.ToLower(strings.ReplaceAll(awsmiddleware.GetServiceID(ctx), " ", "")) + ":" + awsmiddleware.GetOperationName(ctx)
				c.add(call, err)
				attrs := []any{"call", call, "took", time.Since(began).Round(time.Millisecond).String()}
				if code := Code(err); code != "" {
					attrs = append(attrs, "code", code)
				}
				// The caller decides what an error means; this line is for tracing.
				log.DebugContext(ctx, "aws call", attrs...)
				return out, meta, err
			}), middleware.After)
	}
}

// Code is the service's error code, or "" if the service did not answer.
func Code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}
