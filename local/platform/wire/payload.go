package wire

import (
	"net/http"
	"reflect"
)

// payloads tells the operations of REST services whose body is one member as it is, and not
// JSON of all: botocore's model (lambda/2015-03-31: InvocationRequest and InvocationResponse,
// "payload").
func payloads(svc service, operation string) bool {
	return svc.name == "lambda" && operation == "Invoke"
}

// decodePayload reads such an input: the body, and what is in the path and in headers.
func decodePayload(req request, in any) error {
	v := reflect.ValueOf(in).Elem()
	v.FieldByName("Payload").SetBytes(req.body)
	if kind := req.http.Header.Get("X-Amz-Invocation-Type"); kind != "" {
		v.FieldByName("InvocationType").SetString(kind)
	}
	return decodeBindings(req, in)
}

// encodePayload writes such an output: its body, and what is in headers.
func encodePayload(out any) (body []byte, header http.Header) {
	v := reflect.ValueOf(out).Elem()
	header = http.Header{}
	if e := v.FieldByName("FunctionError"); !e.IsNil() {
		header.Set("X-Amz-Function-Error", e.Elem().String())
	}
	return v.FieldByName("Payload").Bytes(), header
}
