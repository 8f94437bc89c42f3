package commandtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// poison is what a name may hold that a shell or a terminal would act upon. It
// is put behind a text, so that what the text begins with stays.
const poison = " '\"$(touch pwned);`id`|&<in>out*?[a]{b,c}~!!#\\%=\n\r\x1b[201~\u202e\u00e9\xff$HOME -z"

// shadows copies a value, with each text changed.
func shadow(v reflect.Value, change func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(change(v.String()))
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return v
		}
		if v.Kind() == reflect.Interface {
			out.Set(shadow(v.Elem(), change))
			break
		}
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(shadow(v.Elem(), change))
	case reflect.Struct:
		out.Set(v) // what is not exported: times, addresses
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(shadow(v.Field(i), change))
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(shadow(v.Index(i), change))
		}
	case reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(shadow(v.Index(i), change))
		}
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out.Set(reflect.MakeMap(v.Type()))
		for _, key := range v.MapKeys() {
			out.SetMapIndex(shadow(key, change), shadow(v.MapIndex(key), change))
		}
	default:
		out.Set(v)
	}
	return out
}

func shadowOf[T any](v T, change func(string) string) T {
	return shadow(reflect.ValueOf(&v).Elem(), change).Interface().(T)
}

// texts are all texts in a value.
func texts(v any) map[string]bool {
	all := map[string]bool{}
	shadow(reflect.ValueOf(&v).Elem(), func(s string) string { all[s] = true; return s })
	return all
}

// at poisons one text wherever it stands: by itself, or at the end of an ARN, of
// a path or of a tag's key.
func at(value string) func(string) string {
	return func(s string) string {
		if s == value || strings.HasSuffix(s, "/"+value) || strings.HasSuffix(s, ":"+value) || strings.HasSuffix(s, "="+value) {
			return s + poison
		}
		return s
	}
}

// spoken are the texts that code compares with: with another state, protocol or
// tag there is no finding. They are the string literals of the deciding packages.
func spoken(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	var paths []string
	err := filepath.WalkDir("../../shared", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) < 400 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil {
					all[text] = true
				}
			}
			return true
		})
	}
	return all
}

// everything poisons every text but those that code compares with.
func everything(spared map[string]bool) func(string) string {
	return func(s string) string {
		if s == "" || spared[s] {
			return s
		}
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			return s
		}
		return s + poison
	}
}
