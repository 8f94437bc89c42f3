package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"

	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// encodeJSON writes an Output struct as JSON. The SDK's structs of the JSON
// services know how to serialise themselves against their schema, so names and
// time formats are the service model's own. The SDK's JSON serializer is
// reached through the protocol that sends requests: a request whose body is
// the answer.
func encodeJSON(ctx context.Context, out any) ([]byte, error) {
	if plain, ok := out.(json.Marshaler); ok {
		body, err := plain.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("write %T: %w", out, err)
		}
		return body, nil
	}
	shape, ok := out.(smithy.Serializable)
	if !ok {
		return nil, fmt.Errorf("%T cannot be written as JSON", out)
	}
	id := smithy.ShapeID{Namespace: "rollcall.wire", Name: "Answer"}
	schema := smithy.NewSchema(id, smithy.ShapeTypeStructure, 0)
	req := &smithyhttp.Request{Request: &http.Request{URL: &url.URL{}, Header: http.Header{}}}
	protocol := awsjson.New11(smithy.NewServiceSchema(schema, ""))
	if err := protocol.SerializeRequest(ctx, smithy.NewOperationSchema(schema, schema, schema), shape, req); err != nil {
		return nil, fmt.Errorf("serialise %T: %w", out, err)
	}
	body, err := io.ReadAll(req.GetStream())
	if err != nil {
		return nil, fmt.Errorf("serialise %T: %w", out, err)
	}
	return body, nil
}

// withLists returns a copy of an Output struct whose own nil lists are empty
// lists. EKS always sends them, and the AWS CLI prints [] for them.
func withLists(out any) any {
	v := reflect.ValueOf(out)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return out
	}
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(v.Elem())
	for i := range c.Elem().NumField() {
		f := c.Elem().Field(i)
		if f.Kind() == reflect.Slice && f.IsNil() && f.CanSet() {
			f.Set(reflect.MakeSlice(f.Type(), 0, 0))
		}
	}
	return c.Interface()
}
