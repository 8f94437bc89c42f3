package take

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// maxBytes is the largest answer that is kept, all pages together: the reader of
// captures takes files of 512 MiB, and printed they are larger than on the wire.
const maxBytes = 200 << 20

var (
	errTooLarge = fmt.Errorf("the answer is larger than %d MiB", maxBytes>>20)
	// errHalf is a page that leads to itself: what was read is not all.
	errHalf = errors.New("a page leads to itself")
)

// bodyKey is under which an answer's metadata has its body.
type bodyKey struct{}

// keepBody keeps the body of each answer as it came, beside what the SDK makes of it.
func keepBody(stack *middleware.Stack) error {
	return stack.Deserialize.Add(bodyReader{func(body []byte, m *middleware.Metadata) { m.Set(bodyKey{}, body) }}, middleware.After)
}

// bodyTo gives the body of each answer to keep.
func bodyTo(keep func([]byte)) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Deserialize.Add(bodyReader{func(body []byte, _ *middleware.Metadata) { keep(body) }}, middleware.After)
	}
}

// bodyReader stands next to the connection.
type bodyReader struct {
	keep func([]byte, *middleware.Metadata)
}

// ID names the step.
func (bodyReader) ID() string { return "RollcallKeepBody" }

// HandleDeserialize reads the body, and gives it on.
func (b bodyReader) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, meta, err := next.HandleDeserialize(ctx, in)
	answer, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !ok {
		return out, meta, err
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBytes+1))
	err = errors.Join(err, answer.Body.Close())
	if err == nil && len(body) > maxBytes {
		err = errTooLarge
	}
	if err != nil {
		return out, meta, fmt.Errorf("read the answer: %w", err)
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	b.keep(body, &meta)
	return out, meta, nil
}

// operation is an operation of a service as the SDK has it.
type operation[I, O, Option any] func(context.Context, *I, ...func(*Option)) (*O, error)

// asks makes a call with all its pages, as the CLI prints it: lists that go on are
// joined, and tokens are gone.
func asks[I, O, Option any](t *taker, service string, call operation[I, O, Option], in *I) func(context.Context) (map[string]any, error) {
	return func(ctx context.Context) (map[string]any, error) {
		tree, _, err := pages(ctx, t, service, call, *in, 0)
		return tree, err
	}
}

// pages makes a call, with at most so many pages (0: all), and tells if there are more.
func pages[I, O, Option any](ctx context.Context, t *taker, service string, call operation[I, O, Option], in I, most int) (map[string]any, bool, error) {
	typ := reflect.TypeFor[O]()
	var all map[string]any
	for n, size := 1, 0; ; n++ {
		leave, err := t.limits.enter(ctx, service, strings.TrimSuffix(typ.Name(), "Output"))
		if err != nil {
			return nil, false, err
		}
		out, err := call(ctx, &in)
		leave()
		t.count(func() { t.state.Calls++ })
		if err != nil {
			return nil, false, err
		}
		answer := reflect.ValueOf(out).Elem()
		body := bodyOf(answer)
		if size += len(body); size > maxBytes {
			return nil, false, errTooLarge
		}
		page, err := t.printer.Printed(service, typ, body)
		if err != nil {
			return nil, false, err
		}
		all = joined(all, page)
		next := nextPage(answer)
		if next == "" || most > 0 && n >= most {
			return all, next != "", nil
		}
		if !turn(reflect.ValueOf(&in).Elem(), next) {
			return nil, false, errHalf
		}
	}
}

func bodyOf(answer reflect.Value) []byte {
	meta, _ := answer.FieldByName("ResultMetadata").Interface().(middleware.Metadata)
	body, _ := meta.Get(bodyKey{}).([]byte)
	return body
}

// tokens are the names under which the services have a page's token.
func tokens() []string { return []string{"NextToken", "Marker"} }

// nextPage is the token of the next page, "" where there is none.
func nextPage(answer reflect.Value) string {
	for _, name := range tokens() {
		if f := answer.FieldByName(name); f.IsValid() && f.Kind() == reflect.Pointer && !f.IsNil() {
			return f.Elem().String()
		}
	}
	return ""
}

// turn sets the token of the next page, and tells if it is another one.
func turn(in reflect.Value, next string) bool {
	for _, name := range tokens() {
		f := in.FieldByName(name)
		if !f.IsValid() {
			continue
		}
		if !f.IsNil() && f.Elem().String() == next {
			return false
		}
		f.Set(reflect.ValueOf(&next))
		return true
	}
	return false
}

// joined are pages in one, without what tells of pages.
func joined(all, page map[string]any) map[string]any {
	for _, name := range []string{"NextToken", "nextToken", "Marker", "IsTruncated"} {
		delete(page, name)
	}
	if all == nil {
		return page
	}
	for key, value := range page {
		more, isList := value.([]any)
		have, both := all[key].([]any)
		switch {
		case isList && both:
			all[key] = append(have, more...)
		case all[key] == nil:
			all[key] = value
		}
	}
	return all
}
