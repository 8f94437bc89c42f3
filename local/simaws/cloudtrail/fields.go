package cloudtrail

import (
	"reflect"
	"strings"
	"time"
)

// fields is a struct of the SDK as the API's JSON has it: names in lower camel
// case, nothing that is not set, times in seconds.
func fields(v any) map[string]any {
	m, _ := jsonOf(reflect.ValueOf(v)).(map[string]any)
	if m == nil {
		return map[string]any{}
	}
	return m
}

// jsonOf is nil for what is not set. An empty list of a struct is kept, as in
// health.issues.
func jsonOf(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if v.Elem().Kind() == reflect.Bool {
			return v.Elem().Bool()
		}
		return jsonOf(v.Elem())
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			return float64(t.UnixMilli()) / 1000
		}
		out := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Name == "ResultMetadata" {
				continue
			}
			if item := jsonOf(v.Field(i)); item != nil {
				out[strings.ToLower(f.Name[:1])+f.Name[1:]] = item
			}
		}
		return out
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		out := make([]any, v.Len())
		for i := range out {
			out[i] = jsonOf(v.Index(i))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return nil
		}
		out := map[string]any{}
		for it := v.MapRange(); it.Next(); {
			out[it.Key().String()] = jsonOf(it.Value())
		}
		return out
	case reflect.String:
		if v.Len() == 0 {
			return nil
		}
		return v.String()
	case reflect.Bool:
		if !v.Bool() {
			return nil // only the SDK's plain flags, whose zero is not sent
		}
		return true
	}
	return v.Interface()
}
