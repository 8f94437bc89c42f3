package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"rollcall/local/platform/lambdaruntime"
	"rollcall/local/platform/template"
	"rollcall/shared/lambda"
)

// addProgram makes a function known that is called as Go.
func (s *Stage) addProgram(f template.Function) error {
	i := slices.IndexFunc(s.options.Programs, func(p lambda.Program) bool { return p.Name == Folder(f) })
	if i < 0 {
		return fmt.Errorf("function %s: it is not among the programs", f.Name)
	}
	known := s.function(f)
	known.Inside = s.inside(f, s.options.Programs[i])
	if err := s.Runtime.Add(known); err != nil {
		return fmt.Errorf("function %s: %w", f.Name, err)
	}
	return nil
}

// inside starts a program, with all that a process would have of its own.
func (s *Stage) inside(f template.Function, p lambda.Program) lambdaruntime.Program {
	return func(life context.Context, env map[string]string, log io.Writer) func(context.Context, json.RawMessage) (any, error) {
		way := alive{life, outside{s.network, s.private}}
		aws := s.AsFunction(f)
		aws.HTTPClient = &http.Client{Transport: way}
		return lambda.New(p.Name, p.Variables, p.Build, func(name string) string { return env[name] }, log).By(lambda.Way{
			AWS: aws, HTTP: way, Endpoints: s.Endpoints(way),
		}).Invoke
	}
}

// Endpoints are those of the stage's clusters, for who reaches them by a way.
func (s *Stage) Endpoints(way http.RoundTripper) lambda.Endpoints {
	overrides := s.overridesOf(s.clusters)
	return func(cluster string) (string, []byte, http.RoundTripper, bool) {
		endpoint, ca, ok := overrides.Of(cluster)
		return endpoint, ca, way, ok
	}
}

// alive is the way of a program's requests until it is killed.
type alive struct {
	life context.Context
	next http.RoundTripper
}

var errKilled = errors.New("the program was killed")

func (a alive) RoundTrip(req *http.Request) (*http.Response, error) {
	if a.life.Err() != nil {
		return nil, errKilled
	}
	return a.next.RoundTrip(req)
}
