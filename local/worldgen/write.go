package worldgen

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"go.yaml.in/yaml/v3"
)

// YAML is the world as a file that worldfile.Load reads, without what is empty.
func (w *World) YAML() ([]byte, error) {
	out, err := yaml.Marshal(plain(reflect.ValueOf(w.File)))
	if err != nil {
		return nil, fmt.Errorf("write world %s: %w", w.File.Name, err)
	}
	return out, nil
}

// plain is a value as maps, lists and scalars; nil where it is empty. A
// pointer that is set is never empty: false differs from nothing said.
func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if e := v.Elem(); e.Kind() != reflect.Struct || e.Type() == reflect.TypeFor[time.Time]() {
			return scalar(e)
		}
		return plain(v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return verbatim(v.Interface())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			if v.IsZero() {
				return nil
			}
			return scalar(v)
		}
		out := map[string]any{}
		fields(v, out)
		if len(out) == 0 {
			return nil
		}
		return out
	case reflect.Slice:
		if v.Len() == 0 {
			return nil
		}
		out := make([]any, v.Len())
		for i := range out {
			if out[i] = plain(v.Index(i)); out[i] == nil {
				out[i] = map[string]any{}
			}
		}
		return out
	case reflect.Map:
		out := map[string]any{}
		for it := v.MapRange(); it.Next(); {
			if item := plain(it.Value()); item != nil {
				out[it.Key().String()] = item
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	if v.IsZero() {
		return nil
	}
	return scalar(v)
}

// verbatim is a Kubernetes object as it is; numbers that were read from a file
// are kept as text there, and must not become text in another.
func verbatim(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = verbatim(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = verbatim(item)
		}
		return out
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
	}
	return v
}

func fields(v reflect.Value, out map[string]any) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			fields(v.Field(i), out)
			continue
		}
		if !f.IsExported() {
			continue
		}
		if value := plain(v.Field(i)); value != nil {
			out[f.Name] = value
		}
	}
}

func scalar(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC().Format(time.RFC3339)
	case time.Duration:
		return x.String()
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return v.Bool()
	case reflect.Float64, reflect.Float32:
		return v.Float()
	case reflect.Int, reflect.Int32, reflect.Int64:
		return v.Int()
	}
	return plain(v)
}
