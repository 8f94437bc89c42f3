package wire

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
)

// decode reads the input of an operation out of a request.
func (s *Server) decode(req request, in any) error {
	switch req.svc.protocol {
	case ec2Query, awsQuery:
		form := url.Values{}
		for k, v := range req.form {
			if !strings.HasPrefix(k, "X-Amz-") {
				form[k] = v
			}
		}
		return decodeForm(s.names[req.svc.name], form, in)
	case restJSON:
		if op, _ := s.operation(req); payloads(req.svc, op) {
			return decodePayload(req, in)
		}
		if err := decodeJSON(req.body, in); err != nil {
			return err
		}
		return decodeBindings(req, in)
	case restXML:
		return decodeBindings(req, in)
	}
	return decodeJSON(req.body, in)
}

// renamed is an input whose members have other names in the query.
type renamed interface {
	Member(parameter string) string
}

// decodeBindings sets the members that a REST request carries in its path and
// its query string.
func decodeBindings(req request, in any) error {
	v := reflect.ValueOf(in).Elem()
	for name, text := range req.labels {
		field, ok := fieldFor(v, name)
		if !ok {
			return fmt.Errorf("%T has no member for the path label %q", in, name)
		}
		if err := setScalar(field, text); err != nil {
			return Errorf("InvalidParameterException", "%s: %s", name, err)
		}
	}
	for name, texts := range req.http.URL.Query() {
		if r, is := in.(renamed); is {
			name = r.Member(name)
		}
		field, ok := fieldFor(v, name)
		if !ok {
			return Errorf("InvalidParameterException", "The parameter %s is not recognized", name)
		}
		if field.Kind() == reflect.Slice {
			list := reflect.MakeSlice(field.Type(), len(texts), len(texts))
			for i, text := range texts {
				if err := setScalar(list.Index(i), text); err != nil {
					return Errorf("InvalidParameterException", "%s: %s", name, err)
				}
			}
			field.Set(list)
			continue
		}
		if err := setScalar(field, texts[len(texts)-1]); err != nil {
			return Errorf("InvalidParameterException", "%s: %s", name, err)
		}
	}
	return nil
}

// isDryRun tells whether the input asks EC2 only to check the permission,
// which is done by the time a handler would run.
func isDryRun(in any) bool {
	f := reflect.ValueOf(in).Elem().FieldByName("DryRun")
	return f.IsValid() && f.Kind() == reflect.Pointer && !f.IsNil() && f.Elem().Kind() == reflect.Bool && f.Elem().Bool()
}
