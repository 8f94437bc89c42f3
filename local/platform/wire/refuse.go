package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// plain writes an input as maps, lists, texts, numbers and booleans. What is
// not set is left out: nil, and the zero of the SDK's few members that are no
// pointers.
func plain(v reflect.Value) (any, bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, false
		}
		out, ok := plain(v.Elem())
		if !ok && v.Elem().Kind() != reflect.Struct { // a pointer to a zero is set
			return zero(v.Elem()), true
		}
		return out, true
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			return t.Format(time.RFC3339), !t.IsZero()
		}
		out := map[string]any{}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			// An embedded struct is the SDK's own mark and never on the wire.
			if !field.IsExported() || field.Anonymous || field.Name == "ResultMetadata" {
				continue
			}
			if value, ok := plain(v.Field(i)); ok {
				out[field.Name] = value
			}
		}
		return out, true
	case reflect.Slice:
		if v.IsNil() {
			return nil, false
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return "", true // a blob: no model has a rule for its text
		}
		out := make([]any, v.Len())
		for i := range out {
			out[i] = element(v.Index(i))
		}
		return out, true
	case reflect.Map:
		if v.IsNil() {
			return nil, false
		}
		out := map[string]any{}
		for _, key := range v.MapKeys() {
			out[key.String()] = element(v.MapIndex(key))
		}
		return out, true
	}
	return zero(v), !v.IsZero()
}

// element is a value in a list or a map, where a zero is a value.
func element(v reflect.Value) any {
	if out, ok := plain(v); ok {
		return out
	}
	return zero(v)
}

// zero is a scalar as it is.
func zero(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.CanInt():
		return float64(v.Int())
	case v.CanFloat():
		return v.Float()
	}
	return nil
}

// fitsModel refuses a request that AWS's own model refuses. Unlike AWS, which
// overlooks many a member that it does not know, it refuses those too: a
// program that sends one means something by it.
func (s *Server) fitsModel(req request, call *Call, in any) error {
	model := s.models[req.svc.name]
	if model == nil {
		return nil
	}
	tree, ok := in.(map[string]any)
	if !ok {
		value, _ := plain(reflect.ValueOf(in))
		tree, _ = value.(map[string]any)
	}
	found := model.check(call.Operation, tree)
	if len(found) == 0 && req.svc.protocol == ec2Query {
		if refusal := malformed(tree); refusal != nil && !s.cfg.AnyIDs {
			return refusal
		}
	}
	if len(found) == 0 {
		return nil
	}
	refusal := req.svc.invalid(found)
	call.Misfit = refusal.Message
	return refusal
}

// passedInput is the request of a service that is passed on.
func passedInput(req request) (map[string]any, error) {
	var in map[string]any
	if err := json.Unmarshal(req.body, &in); err != nil {
		return nil, serialization("the body is not a JSON object: %s", err)
	}
	return in, nil
}

// invalid is a service's answer to a request that does not fit its model. The
// codes:
//
//   - EC2: MissingParameter, UnknownParameter and InvalidParameterValue (EC2 API
//     reference, "Error codes for the Amazon EC2 API").
//   - SQS: MissingParameter and InvalidParameterValue of its old protocol, which
//     are MissingRequiredParameterException and InvalidParameterValueException
//     in its JSON protocol (see SQSQueryCode).
//   - EKS: InvalidParameterException, the only one in its model that fits.
//   - Auto Scaling, IAM and STS: ValidationError (their "Common errors").
//   - The JSON services: ValidationException, with a sentence for each
//     constraint, as every service does that is made with AWS's framework.
func (s service) invalid(found []Violation) *Error {
	first := found[0]
	path := strings.Join(first.Path, ".")
	switch s.name {
	case "ec2":
		switch first.Rule {
		case Required:
			return Errorf("MissingParameter", "The request must contain the parameter %s", path)
		case UnknownMember:
			return Errorf("UnknownParameter", "The parameter %s is not recognized", path)
		case UnknownFilter: // aws/aws-cli#4013, boto/boto3#1299
			return Errorf("InvalidParameterValue", "The filter '%s' is invalid", first.Value)
		}
		return Errorf("InvalidParameterValue", "Value (%s) for parameter %s is invalid. %s", first.Value, path, sentence(first))
	case "sqs":
		if first.Rule == Required {
			return Errorf("MissingRequiredParameterException", "The request must contain the parameter %s.", path)
		}
		return Errorf("InvalidParameterValueException", "Value %s for parameter %s is invalid. Reason: %s.", first.Value, path, sentence(first))
	case "eks":
		return Errorf("InvalidParameterException", "%s: %s", path, sentence(first))
	}
	var list []string
	for _, v := range found {
		list = append(list, fmt.Sprintf("Value %s at '%s' failed to satisfy constraint: %s", quoted(v), lowerPath(v.Path), sentence(v)))
	}
	plural := ""
	if len(list) > 1 {
		plural = "s"
	}
	code := "ValidationException"
	if s.protocol == awsQuery {
		code = "ValidationError"
	}
	return &Error{Code: code, Status: http.StatusBadRequest, Message: fmt.Sprintf("%d validation error%s detected: %s", len(list), plural, strings.Join(list, "; "))}
}

func quoted(v Violation) string {
	if v.Rule == Required {
		return "null"
	}
	return "'" + v.Value + "'"
}

// lowerPath is how AWS's framework writes a member.
func lowerPath(path []string) string {
	var list []string
	for _, p := range path {
		list = append(list, strings.ToLower(p[:1])+p[1:])
	}
	return strings.Join(list, ".")
}

// sentence is a constraint in the framework's words.
func sentence(v Violation) string {
	switch v.Rule {
	case Required:
		return "Member must not be null"
	case Enumeration:
		return "Member must satisfy enum value set: " + v.Limit
	case Shortest:
		return "Member must have length greater than or equal to " + v.Limit
	case Longest:
		return "Member must have length less than or equal to " + v.Limit
	case Smallest:
		return "Member must have value greater than or equal to " + v.Limit
	case Largest:
		return "Member must have value less than or equal to " + v.Limit
	case Pattern:
		return "Member must satisfy regular expression pattern: " + v.Limit
	}
	return "Member is not known"
}
