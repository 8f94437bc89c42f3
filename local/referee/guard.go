package referee

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
)

// WriteError is a call that was not sent, as it might change something.
type WriteError struct{ Operation string }

// Error names the operation.
func (e *WriteError) Error() string {
	return fmt.Sprintf("%s is not sent: only reads are asked here", e.Operation)
}

// readOnly lets a configuration's clients send nothing but reads.
func readOnly(cfg aws.Config) aws.Config {
	cfg = cfg.Copy()
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RefereeReadsOnly",
			func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
				if op := awsmiddleware.GetOperationName(ctx); !reads(op) {
					return middleware.InitializeOutput{}, middleware.Metadata{}, &WriteError{Operation: op}
				}
				return next.HandleInitialize(ctx, in)
			}), middleware.After)
	})
	return cfg
}

// reads tells whether an operation changes nothing. Receiving a message hides
// it from others, and is no read.
func reads(operation string) bool {
	return slices.ContainsFunc([]string{"Describe", "Get", "List", "Query", "Lookup", "Search"}, func(verb string) bool {
		rest, ok := strings.CutPrefix(operation, verb)
		return ok && (rest == "" || rest[0] >= 'A' && rest[0] <= 'Z')
	})
}
