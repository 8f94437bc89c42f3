package wire

import (
	"context"
	"encoding/json"
	"fmt"
)

// HandlePlain registers the handler of an operation of a JSON service whose SDK
// package is not among the dependencies: its input is a plain struct with the
// members' names, and its output writes itself.
func HandlePlain[I any, O json.Marshaler](s *Server, service, operation string, h func(ctx context.Context, call *Call, in *I) (O, error)) {
	if s.byName[service].protocol != awsJSON {
		panic(fmt.Sprintf("wire: %s is no JSON service", service))
	}
	addPlain(s, service, operation, h)
}

// HandleGet registers the handler of an operation of a REST service likewise. It is
// requested by GET, with its parameters in the query.
func HandleGet[I any, O json.Marshaler](s *Server, service, operation, path string, h func(ctx context.Context, call *Call, in *I) (O, error)) {
	if s.byName[service].protocol != restJSON || s.names[service] != nil {
		panic(fmt.Sprintf("wire: %s is no REST service without an SDK package", service))
	}
	s.gets[service] = append(s.gets[service], newRoute(operation, "GET", path))
	addPlain(s, service, operation, h)
}

func addPlain[I, O any](s *Server, service, operation string, h func(ctx context.Context, call *Call, in *I) (O, error)) {
	s.add(service, operation, handler{
		newInput: func() any { return new(I) },
		serve: func(ctx context.Context, call *Call, in any) (any, error) {
			out, err := h(ctx, call, in.(*I))
			if err != nil {
				return nil, err
			}
			return out, nil
		},
	})
}

// XML is an answer that is written already.
type XML []byte

// HandleXML registers the handler of an operation of a REST service whose answers are XML
// likewise.
func HandleXML[I any](s *Server, service, operation, path string, h func(ctx context.Context, call *Call, in *I) (XML, error)) {
	if s.byName[service].protocol != restXML {
		panic(fmt.Sprintf("wire: %s is no REST service with XML", service))
	}
	s.gets[service] = append(s.gets[service], newRoute(operation, "GET", path))
	addPlain(s, service, operation, h)
}
