package capture

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// decode fills an SDK struct from the tree of what the CLI printed. Field
// names are compared without case: the CLI prints the API's names, and Go's
// differ from them in case only. A field that this SDK does not know is left
// out, as an SDK leaves out what a newer service sends. A value of another kind
// than the field's is an error: the file is not what its name says.
func decode(dst reflect.Value, src any, path string) error {
	if src == nil {
		return nil
	}
	if dst.Type() == reflect.TypeFor[time.Time]() {
		t, err := timeOf(src)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		dst.Set(reflect.ValueOf(t))
		return nil
	}
	switch dst.Kind() {
	case reflect.Pointer:
		if src == "" && dst.Type().Elem() == reflect.TypeFor[time.Time]() {
			return nil // tools that rewrite JSON leave an empty time where there is none
		}
		v := reflect.New(dst.Type().Elem())
		if err := decode(v.Elem(), src, path); err != nil {
			return err
		}
		dst.Set(v)
		return nil
	case reflect.Interface:
		return nil // a union: none of them is read
	case reflect.Struct:
		return decodeStruct(dst, src, path)
	case reflect.Slice:
		return decodeSlice(dst, src, path)
	case reflect.Map:
		return decodeMap(dst, src, path)
	}
	return decodeScalar(dst, src, path)
}

func decodeStruct(dst reflect.Value, src any, path string) error {
	m, ok := src.(map[string]any)
	if !ok {
		return wrong(path, "an object", src)
	}
	t := dst.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Name == "ResultMetadata" {
			continue
		}
		value, ok := member(m, f.Name)
		if !ok {
			continue
		}
		if err := decode(dst.Field(i), value, join(path, f.Name)); err != nil {
			return err
		}
	}
	return nil
}

// member finds a key without case; the exact one wins.
func member(m map[string]any, name string) (any, bool) {
	if v, ok := m[name]; ok {
		return v, true
	}
	for key, v := range m {
		if strings.EqualFold(key, name) {
			return v, true
		}
	}
	return nil, false
}

func decodeSlice(dst reflect.Value, src any, path string) error {
	if dst.Type().Elem().Kind() == reflect.Uint8 {
		s, ok := src.(string)
		if !ok {
			return wrong(path, "text", src)
		}
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			b = []byte(s)
		}
		dst.SetBytes(b)
		return nil
	}
	list, ok := src.([]any)
	if !ok {
		return wrong(path, "a list", src)
	}
	out := reflect.MakeSlice(dst.Type(), len(list), len(list))
	for i, item := range list {
		if err := decode(out.Index(i), item, fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	dst.Set(out)
	return nil
}

func decodeMap(dst reflect.Value, src any, path string) error {
	m, ok := src.(map[string]any)
	if !ok {
		return wrong(path, "an object", src)
	}
	out := reflect.MakeMapWithSize(dst.Type(), len(m))
	for key, item := range m {
		v := reflect.New(dst.Type().Elem()).Elem()
		if err := decode(v, item, join(path, key)); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(key).Convert(dst.Type().Key()), v)
	}
	dst.Set(out)
	return nil
}

// decodeScalar takes numbers and switches written as text too, as tools that
// rewrite JSON leave them.
func decodeScalar(dst reflect.Value, src any, path string) error {
	text := ""
	switch v := src.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	case bool:
		text = strconv.FormatBool(v)
	case map[string]any:
		if dst.Kind() != reflect.String || !isDocument(path) {
			return wrong(path, "a "+dst.Kind().String(), src)
		}
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		text = string(b)
	default:
		return wrong(path, "a "+dst.Kind().String(), src)
	}
	switch dst.Kind() {
	case reflect.String:
		dst.SetString(text)
		return nil
	case reflect.Bool:
		if b, err := strconv.ParseBool(text); err == nil {
			dst.SetBool(b)
			return nil
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if n, err := strconv.ParseInt(text, 10, dst.Type().Bits()); err == nil {
			dst.SetInt(n)
			return nil
		}
	case reflect.Float32, reflect.Float64:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			dst.SetFloat(n)
			return nil
		}
	}
	return wrong(path, "a "+dst.Kind().String(), src)
}

// isDocument tells a policy's document, which the CLI prints as an object
// where the API has text.
func isDocument(path string) bool {
	return strings.HasSuffix(path, "Document") || strings.HasSuffix(path, "Policy")
}

// urlEncoded is an IAM policy document as the API gives it. The CLI has
// decoded it.
func urlEncoded(document *string) *string {
	if document == nil || !strings.HasPrefix(strings.TrimSpace(*document), "{") {
		return document
	}
	encoded := url.PathEscape(*document)
	return &encoded
}

func wrong(path, want string, got any) error {
	if path == "" {
		return fmt.Errorf("want %s, got %s", want, kindOf(got))
	}
	return fmt.Errorf("%s: want %s, got %s", path, want, kindOf(got))
}

// kindOf is the kind of a value, and never the value: the file may be any, and a message
// may go to anybody.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	}
	return "an object"
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
