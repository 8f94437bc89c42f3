package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"reflect"
	"strconv"
	"strings"
)

// encode writes the output of a handler in the protocol's form.
func (s *Server) encode(ctx context.Context, svc service, call *Call, out any) ([]byte, error) {
	switch svc.protocol {
	case ec2Query, awsQuery:
		return encodeXML(s.names[svc.name], svc, call, out)
	case restJSON:
		return encodeJSON(ctx, withLists(out))
	case restXML:
		if written, is := out.(XML); is {
			return written, nil
		}
		return nil, fmt.Errorf("%T is no XML", out)
	}
	return encodeJSON(ctx, out)
}

// encodeXML writes an answer of the EC2 query or the AWS query protocol.
func encodeXML(table *serviceNames, svc service, call *Call, out any) ([]byte, error) {
	e := xmlEncoder{table: table}
	v := reflect.ValueOf(out).Elem()
	e.buf.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	e.buf.WriteString("<" + call.Operation + `Response xmlns="` + svc.namespace + `">`)
	if svc.protocol == ec2Query {
		e.text("requestId", call.RequestID)
		// An attribute operation answers the one attribute that was asked for.
		if err := e.structure(v, !strings.HasSuffix(call.Operation, "Attribute")); err != nil {
			return nil, err
		}
		if table.out[v.Type().Name()] == nil {
			e.text("return", "true")
		}
	} else {
		e.open(call.Operation + "Result")
		if err := e.structure(v, true); err != nil {
			return nil, err
		}
		e.close(call.Operation + "Result")
		e.open("ResponseMetadata")
		e.text("RequestId", call.RequestID)
		e.close("ResponseMetadata")
	}
	e.close(call.Operation + "Response")
	return e.buf.Bytes(), nil
}

// errorAnswer writes an error in the service's form.
func errorAnswer(svc service, call *Call, e *Error) answer {
	status := e.Status
	if status == 0 {
		status = http.StatusBadRequest
	}
	if svc.isJSON() {
		return jsonError(svc, call, status, e)
	}
	var x xmlEncoder
	x.buf.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	switch svc.protocol {
	case objects:
		x.buf.WriteString("<Error>")
		x.text("Code", e.Code)
		x.text("Message", e.Message)
		x.text("RequestId", call.RequestID)
		x.close("Error")
	case ec2Query:
		x.buf.WriteString("<Response><Errors><Error>")
		x.text("Code", e.Code)
		x.text("Message", e.Message)
		x.buf.WriteString("</Error></Errors>")
		x.text("RequestID", call.RequestID)
		x.close("Response")
	default:
		fault := "Sender"
		if status >= 500 {
			fault = "Receiver"
		}
		x.buf.WriteString(`<ErrorResponse xmlns="` + svc.namespace + `"><Error>`)
		x.text("Type", fault)
		x.text("Code", e.Code)
		x.text("Message", e.Message)
		x.close("Error")
		x.text("RequestId", call.RequestID)
		x.close("ErrorResponse")
	}
	return newAnswer(svc, call, status, x.buf.Bytes())
}

// SQSQueryCode is the code that an error of SQS had in its old query protocol.
// SQS sends it in a header beside the new one, and clients report it.
func SQSQueryCode(code string) string {
	switch code {
	case "QueueDoesNotExist":
		return "AWS.SimpleQueueService.NonExistentQueue"
	case "BatchEntryIdsNotDistinct", "BatchRequestTooLong", "EmptyBatchRequest", "InvalidBatchEntryId",
		"MessageNotInflight", "PurgeQueueInProgress", "TooManyEntriesInBatchRequest", "UnsupportedOperation":
		return "AWS.SimpleQueueService." + code
	case "InvalidParameterValueException":
		return "InvalidParameterValue"
	case "MissingRequiredParameterException":
		return "MissingParameter"
	}
	return code
}

func jsonError(svc service, call *Call, status int, e *Error) answer {
	kind := e.Code
	if svc.name == "sqs" {
		kind = "com.amazonaws.sqs#" + e.Code
	}
	fields := map[string]string{"message": e.Message}
	if svc.name == "secretsmanager" {
		fields = map[string]string{"Message": e.Message}
	}
	if svc.protocol != restJSON {
		fields["__type"] = kind
	}
	// A map of strings is always JSON.
	body, _ := json.Marshal(fields)
	a := newAnswer(svc, call, status, body)
	a.header.Set("X-Amzn-Errortype", kind)
	if svc.name == "sqs" {
		fault := "Sender"
		if status >= 500 {
			fault = "Receiver"
		}
		a.header.Set("X-Amzn-Query-Error", SQSQueryCode(e.Code)+";"+fault)
	}
	return a
}

// answer is a whole answer before it is sent. It is the ResponseWriter of
// services that are passed on.
type answer struct {
	status int
	header http.Header
	body   []byte
}

var _ http.ResponseWriter = (*answer)(nil)

// Header returns the answer's headers.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader sets the status.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write adds to the body.
func (a *answer) Write(b []byte) (int, error) {
	a.body = append(a.body, b...)
	return len(b), nil
}

func newAnswer(svc service, call *Call, status int, body []byte) answer {
	h := http.Header{}
	h.Set("Content-Type", svc.contentType)
	h.Set("X-Amzn-Requestid", call.RequestID)
	if svc.name == "dynamodb" {
		// DynamoDB's clients check the body against this.
		h.Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE(body)))
	}
	return answer{status: status, header: h, body: body}
}

func (a *answer) write(w http.ResponseWriter) {
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	// A client that has gone away is not our failure.
	_, _ = w.Write(a.body)
}

// errorCode reads the code out of a passed-on JSON error.
func errorCode(body []byte) string {
	var e struct {
		Type string `json:"__type"`
	}
	if err := json.Unmarshal(body, &e); err != nil || e.Type == "" {
		return "UnknownError"
	}
	if _, code, ok := strings.Cut(e.Type, "#"); ok {
		return code
	}
	return e.Type
}
