package awsconf

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/smithy-go/logging"
)

// sdkLog takes what the SDK itself logs, which goes to standard error otherwise, as lines
// that are no JSON. What goes wrong in a call is its error; the rest is for tracing: with
// each answer of DynamoDB it warns that its checksum was not found when it was closed
// (measured: more bytes than all that the functions log of themselves).
type sdkLog struct{ log *slog.Logger }

// Logf writes a line.
func (l sdkLog) Logf(c logging.Classification, format string, v ...any) {
	l.log.DebugContext(context.Background(), "the SDK says", "kind", string(c), "text", fmt.Sprintf(format, v...))
}
