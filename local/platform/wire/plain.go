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
