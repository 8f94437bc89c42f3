package worldfile

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// FieldError says where in a file a value does not fit.
type FieldError struct {
	// File is the file's name, empty for input that came from no file.
	File string
	// Path is the way to the field, for example "ec2.Subnets[2].CidrBlok".
	Path string
	// Problem is what is wrong with it.
	Problem string
}

// Error names file, path and problem.
func (e *FieldError) Error() string {
	if e.File == "" {
		return e.Path + ": " + e.Problem
	}
	return e.File + ": " + e.Path + ": " + e.Problem
}

// decode fills dst from a generic tree of maps, lists, strings, json.Number
// and bool. Field names are compared without case, because the CLI prints the
// API's names (EKS in lower camel case) and Go's differ from them in case
// only. A field that dst does not have is an error: a typing mistake in a
// world must not pass as a world that lacks the thing.
func decode(dst any, src any, path string) error {
	return decodeValue(reflect.ValueOf(dst).Elem(), src, path, false)
}

func decodeValue(dst reflect.Value, src any, path string, iam bool) error {
	if src == nil {
		return nil
	}
	switch dst.Type() {
	case reflect.TypeFor[time.Time]():
		t, err := decodeTime(src)
		if err != nil {
			return &FieldError{Path: path, Problem: err.Error()}
		}
		dst.Set(reflect.ValueOf(t))
		return nil
	case reflect.TypeFor[time.Duration]():
		s, ok := src.(string)
		if !ok {
			return &FieldError{Path: path, Problem: "want a duration such as 30s"}
		}
		d, err := time.ParseDuration(s)
		if err != nil {
			return &FieldError{Path: path, Problem: err.Error()}
		}
		dst.SetInt(int64(d))
		return nil
	}
	switch dst.Kind() {
	case reflect.Pointer:
		v := reflect.New(dst.Type().Elem())
		if err := decodeValue(v.Elem(), src, path, iam); err != nil {
			return err
		}
		dst.Set(v)
		return nil
	case reflect.Interface:
		if dst.NumMethod() > 0 {
			return &FieldError{Path: path, Problem: "this field cannot be given in a world"}
		}
		dst.Set(reflect.ValueOf(src))
		return nil
	case reflect.Struct:
		return decodeStruct(dst, src, path)
	case reflect.Slice:
		return decodeSlice(dst, src, path, iam)
	case reflect.Map:
		return decodeMap(dst, src, path, iam)
	default:
		return decodeScalar(dst, src, path, iam)
	}
}

func decodeStruct(dst reflect.Value, src any, path string) error {
	m, ok := src.(map[string]any)
	if !ok {
		return &FieldError{Path: path, Problem: "want a mapping, got " + kindName(src)}
	}
	for _, key := range sortedKeys(m) {
		at := join(path, key)
		f, owner, ok := fieldNamed(dst, key)
		if !ok {
			return &FieldError{Path: at, Problem: "unknown field"}
		}
		iam := strings.HasSuffix(owner.PkgPath(), "/service/iam/types")
		if err := decodeValue(f, m[key], at, iam); err != nil {
			return err
		}
	}
	return nil
}

// fieldNamed finds the exported field called name, without case, looking
// through embedded structs, and the struct that has it.
func fieldNamed(v reflect.Value, name string) (reflect.Value, reflect.Type, bool) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Name == "ResultMetadata" {
			continue
		}
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			if found, owner, ok := fieldNamed(v.Field(i), name); ok {
				return found, owner, true
			}
			continue
		}
		if strings.EqualFold(f.Name, name) {
			return v.Field(i), t, true
		}
	}
	return reflect.Value{}, nil, false
}

func decodeSlice(dst reflect.Value, src any, path string, iam bool) error {
	if dst.Type().Elem().Kind() == reflect.Uint8 {
		s, ok := src.(string)
		if !ok {
			return &FieldError{Path: path, Problem: "want base64 text, got " + kindName(src)}
		}
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return &FieldError{Path: path, Problem: err.Error()}
		}
		dst.SetBytes(b)
		return nil
	}
	list, ok := src.([]any)
	if !ok {
		return &FieldError{Path: path, Problem: "want a list, got " + kindName(src)}
	}
	out := reflect.MakeSlice(dst.Type(), len(list), len(list))
	for i, item := range list {
		if err := decodeValue(out.Index(i), item, fmt.Sprintf("%s[%d]", path, i), iam); err != nil {
			return err
		}
	}
	dst.Set(out)
	return nil
}

func decodeMap(dst reflect.Value, src any, path string, iam bool) error {
	m, ok := src.(map[string]any)
	if !ok {
		return &FieldError{Path: path, Problem: "want a mapping, got " + kindName(src)}
	}
	out := reflect.MakeMapWithSize(dst.Type(), len(m))
	for _, key := range sortedKeys(m) {
		v := reflect.New(dst.Type().Elem()).Elem()
		if err := decodeValue(v, m[key], join(path, key), iam); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(key).Convert(dst.Type().Key()), v)
	}
	dst.Set(out)
	return nil
}

func decodeScalar(dst reflect.Value, src any, path string, iam bool) error {
	bad := &FieldError{Path: path, Problem: "want a " + dst.Kind().String() + ", got " + kindName(src)}
	switch dst.Kind() {
	case reflect.String:
		s, ok := decodeString(src, path, iam)
		if !ok {
			return bad
		}
		dst.SetString(s)
	case reflect.Bool:
		b, ok := src.(bool)
		if !ok {
			return bad
		}
		dst.SetBool(b)
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, ok := src.(json.Number)
		if !ok {
			return bad
		}
		i, err := strconv.ParseInt(n.String(), 10, dst.Type().Bits())
		if err != nil {
			return &FieldError{Path: path, Problem: err.Error()}
		}
		dst.SetInt(i)
	case reflect.Float32, reflect.Float64:
		n, ok := src.(json.Number)
		if !ok {
			return bad
		}
		f, err := n.Float64()
		if err != nil {
			return &FieldError{Path: path, Problem: err.Error()}
		}
		dst.SetFloat(f)
	default:
		return &FieldError{Path: path, Problem: "this field cannot be given in a world"}
	}
	return nil
}

// decodeString also takes a number (an account id without quotes) and, for a
// policy document, a mapping: the CLI prints IAM's documents decoded, while
// the API carries them as URL-encoded JSON.
func decodeString(src any, path string, iam bool) (string, bool) {
	switch v := src.(type) {
	case string:
		if iam && strings.HasSuffix(path, "Document") && strings.HasPrefix(strings.TrimSpace(v), "{") {
			return url.PathEscape(v), true
		}
		return v, true
	case json.Number:
		return v.String(), true
	case map[string]any:
		if !strings.HasSuffix(path, "Document") {
			return "", false
		}
		b, err := json.Marshal(v)
		if err != nil {
			return "", false
		}
		if iam {
			return url.PathEscape(string(b)), true
		}
		return string(b), true
	}
	return "", false
}

// timeLayouts are the forms in which the CLI's versions print a time.
func timeLayouts() []string {
	return []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05Z07:00", time.DateOnly}
}

// maxEpoch is the last second that time.Time prints with four digits of year.
const maxEpoch = 253402300799

func decodeTime(src any) (time.Time, error) {
	switch v := src.(type) {
	case string:
		for _, layout := range timeLayouts() {
			if t, err := time.Parse(layout, v); err == nil {
				return t.UTC(), nil
			}
		}
		return time.Time{}, fmt.Errorf("%q is not a time", v)
	case json.Number:
		f, err := v.Float64()
		if err != nil || math.Abs(f) > maxEpoch {
			return time.Time{}, fmt.Errorf("%q is not a time in seconds", v.String())
		}
		sec, frac := math.Modf(f)
		return time.Unix(int64(sec), int64(math.Round(frac*1e6))*1000).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("want a time, got %s", kindName(src))
}

func kindName(src any) string {
	switch src.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case json.Number:
		return "a number"
	case bool:
		return "a yes or no"
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	return fmt.Sprintf("%T", src)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
