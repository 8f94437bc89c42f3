package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"time"
)

// decodeJSON fills an Input struct from a JSON body. in is a pointer to it. A
// member's Go field is its name with the first letter raised: the SDK names
// its fields so.
func decodeJSON(body []byte, in any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return serialization("the body is not JSON: %s", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return serialization("the body goes on after its JSON value")
	}
	obj, ok := tree.(map[string]any)
	if !ok {
		return serialization("the body is not a JSON object")
	}
	return jsonStruct(obj, reflect.ValueOf(in).Elem(), "")
}

func serialization(format string, args ...any) *Error {
	return Errorf("SerializationException", format, args...)
}

func jsonStruct(obj map[string]any, v reflect.Value, path string) error {
	for key, val := range obj {
		field, ok := fieldFor(v, key)
		if !ok {
			return serialization("unknown member %q of %s", join(path, key), v.Type().Name())
		}
		if err := jsonValue(val, field, join(path, key)); err != nil {
			return err
		}
	}
	return nil
}

// fieldFor finds the Go field of a member name. ResultMetadata is the SDK's
// own and never on the wire.
func fieldFor(v reflect.Value, name string) (reflect.Value, bool) {
	if name == "" || name[0] >= 0x80 {
		return reflect.Value{}, false
	}
	b := []byte(name)
	if 'a' <= b[0] && b[0] <= 'z' {
		b[0] -= 'a' - 'A'
	}
	sf, ok := v.Type().FieldByName(string(b))
	if !ok || !sf.IsExported() || sf.Anonymous || sf.Name == "ResultMetadata" {
		return reflect.Value{}, false
	}
	return v.FieldByIndex(sf.Index), true
}

func jsonValue(val any, v reflect.Value, path string) error {
	if val == nil {
		return nil
	}
	if v.Kind() == reflect.Pointer {
		p := reflect.New(v.Type().Elem())
		if err := jsonValue(val, p.Elem(), path); err != nil {
			return err
		}
		v.Set(p)
		return nil
	}
	switch val := val.(type) {
	case map[string]any:
		return jsonObject(val, v, path)
	case []any:
		if v.Kind() != reflect.Slice || v.Type().Elem().Kind() == reflect.Uint8 {
			return serialization("%s is a list, not a %s", path, v.Kind())
		}
		out := reflect.MakeSlice(v.Type(), len(val), len(val))
		for i, elem := range val {
			if err := jsonValue(elem, out.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		v.Set(out)
		return nil
	case string:
		return jsonString(val, v, path)
	case bool:
		if v.Kind() != reflect.Bool {
			return serialization("%s is a boolean, not a %s", path, v.Kind())
		}
		v.SetBool(val)
		return nil
	case json.Number:
		return jsonNumber(val, v, path)
	}
	return serialization("%s has an unexpected value", path)
}

func jsonObject(obj map[string]any, v reflect.Value, path string) error {
	if isStruct(v.Type()) {
		return jsonStruct(obj, v, path)
	}
	if v.Kind() != reflect.Map {
		return serialization("%s is an object, not a %s", path, v.Kind())
	}
	out := reflect.MakeMapWithSize(v.Type(), len(obj))
	for key, elem := range obj {
		e := reflect.New(v.Type().Elem()).Elem()
		if err := jsonValue(elem, e, join(path, key)); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), e)
	}
	v.Set(out)
	return nil
}

func jsonString(text string, v reflect.Value, path string) error {
	switch {
	case v.Kind() == reflect.String:
		v.SetString(text)
		return nil
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return serialization("%s is not base64", path)
		}
		v.SetBytes(b)
		return nil
	case v.Type() == reflect.TypeFor[time.Time]():
		// The AWS CLI sends ISO 8601 to some JSON services.
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return serialization("%s is not a time", path)
		}
		v.Set(reflect.ValueOf(t))
		return nil
	}
	return serialization("%s is a string, not a %s", path, v.Kind())
}

func jsonNumber(n json.Number, v reflect.Value, path string) error {
	if v.Type() == reflect.TypeFor[time.Time]() {
		f, err := n.Float64()
		if err != nil || math.Abs(f) > 1e12 {
			return serialization("%s is not a time in epoch seconds", path)
		}
		// Epoch seconds carry milliseconds at most.
		v.Set(reflect.ValueOf(time.UnixMilli(int64(math.Round(f * 1000))).UTC()))
		return nil
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		if err := setScalar(v, n.String()); err != nil {
			return serialization("%s: %s is not valid: %s", path, n, err)
		}
		return nil
	}
	return serialization("%s is a number, not a %s", path, v.Kind())
}
