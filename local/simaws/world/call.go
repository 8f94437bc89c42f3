package world

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/trail"
	"rollcall/local/simaws/worldfile"
)

// Services are the world's APIs by the name that IAM gives the service. Every
// exported method of each is an operation: Op(*OpInput) (*OpOutput, error).
func (w *World) Services() map[string]any {
	return map[string]any{"ec2": w.EC2(), "autoscaling": w.AutoScaling(), "eks": w.EKS(), "iam": w.IAM(), "sts": w.STS()}
}

// Call makes an API call by name, such as "ec2:CreateRoute", with its input as
// JSON in the API's field names.
func (w *World) Call(op string, input json.RawMessage) (any, error) {
	return w.callBy("", op, input)
}

// callBy makes a call in somebody's name.
func (w *World) callBy(who, op string, input json.RawMessage) (any, error) {
	method, in, err := w.prepare(op, input)
	if err != nil {
		return nil, err
	}
	out := method.Call([]reflect.Value{in})
	made := trail.Call{Operation: op, CallerARN: cmp.Or(who, w.File.Trail.Caller), Input: in.Interface()}
	if err, ok := out[1].Interface().(error); ok && err != nil {
		made.Err = err
		w.Record(made)
		return nil, fmt.Errorf("call %s: %w", op, err)
	}
	made.Output = out[0].Interface()
	w.Record(made)
	return made.Output, nil
}

// checkCall says whether a call could be made: the operation exists and the
// input has its fields.
func (w *World) checkCall(op string, input json.RawMessage) error {
	_, _, err := w.prepare(op, input)
	return err
}

func (w *World) prepare(op string, input json.RawMessage) (reflect.Value, reflect.Value, error) {
	service, name, _ := strings.Cut(op, ":")
	api, ok := w.Services()[service]
	if !ok {
		return reflect.Value{}, reflect.Value{}, wire.Errorf("InvalidAction", "call %q: no service %q", op, service)
	}
	method := reflect.ValueOf(api).MethodByName(name)
	if !method.IsValid() {
		return reflect.Value{}, reflect.Value{}, wire.Errorf("InvalidAction", "call %q: %s has no operation %q", op, service, name)
	}
	in := reflect.New(method.Type().In(0).Elem())
	if err := worldfile.DecodeInput(op, input, in.Interface()); err != nil {
		return reflect.Value{}, reflect.Value{}, err
	}
	return method, in, nil
}
