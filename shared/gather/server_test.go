package gather

import (
	"context"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"rollcall/local/platform/wire"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// reader is the real reader with real SDK clients, against handlers that
// answer over the real wire protocols.
func reader(t *testing.T, register func(*wire.Server)) (*Reader, *wire.Server) {
	t.Helper()
	return faulty(t, register, wire.NoFaults{})
}

// faulty is a reader whose calls meet faults.
func faulty(t *testing.T, register func(*wire.Server), faults wire.Faults) (*Reader, *wire.Server) {
	t.Helper()
	// The clients here try once; on a busy machine a millisecond is too short.
	s, err := wire.New(wire.Config{AnyIDs: true, MinLatency: 5 * time.Millisecond, Faults: faults})
	if err != nil {
		t.Fatal(err)
	}
	register(s)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return New(aws.Config{
		Region:       "us-west-2",
		BaseEndpoint: aws.String(h.URL),
		Credentials:  credentials.NewStaticCredentialsProvider("AKID", "SECRET", ""),
		Retryer:      func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 1) },
	}), s
}

// answer makes a handler of a function of the input alone.
func answer[I, O any](f func(*I) (*O, error)) func(context.Context, *wire.Call, *I) (*O, error) {
	return func(_ context.Context, _ *wire.Call, in *I) (*O, error) { return f(in) }
}

// sourceOf is the reader's source of that name.
func sourceOf(r *Reader, name snapshot.Source) source.Source {
	list := r.sources(nil)
	return list[slices.IndexFunc(list, func(s source.Source) bool { return s.Name == name })]
}
