package state

import (
	"reflect"
)

// Copy is a deep copy, so that what a caller gets does not change under it
// and what it changes does not change the world.
func Copy[T any](v T) T {
	var out T
	copyInto(reflect.ValueOf(&out).Elem(), reflect.ValueOf(&v).Elem())
	return out
}

func CopyEach[T any](list []*T) []T {
	out := make([]T, len(list))
	for i, v := range list {
		out[i] = Copy(*v)
	}
	return out
}

func copyInto(dst, src reflect.Value) {
	switch src.Kind() {
	case reflect.Pointer:
		if src.IsNil() {
			return
		}
		v := reflect.New(src.Type().Elem())
		copyInto(v.Elem(), src.Elem())
		dst.Set(v)
	case reflect.Interface:
		if src.IsNil() {
			return
		}
		v := reflect.New(src.Elem().Type()).Elem()
		copyInto(v, src.Elem())
		dst.Set(v)
	case reflect.Slice:
		if src.IsNil() {
			return
		}
		v := reflect.MakeSlice(src.Type(), src.Len(), src.Len())
		for i := range src.Len() {
			copyInto(v.Index(i), src.Index(i))
		}
		dst.Set(v)
	case reflect.Map:
		if src.IsNil() {
			return
		}
		v := reflect.MakeMapWithSize(src.Type(), src.Len())
		for it := src.MapRange(); it.Next(); {
			item := reflect.New(src.Type().Elem()).Elem()
			copyInto(item, it.Value())
			v.SetMapIndex(it.Key(), item)
		}
		dst.Set(v)
	case reflect.Struct:
		// The whole first: times and the SDK's marker field are unexported.
		dst.Set(src)
		for i := range src.NumField() {
			if src.Type().Field(i).IsExported() {
				copyInto(dst.Field(i), src.Field(i))
			}
		}
	default:
		dst.Set(src)
	}
}

// Default sets a field that the file left out.
func Default[T any](field **T, v T) {
	if *field == nil {
		*field = &v
	}
}

// DefaultPlain sets an enum or other plain field that the file left out.
func DefaultPlain[T comparable](field *T, v T) {
	var zero T
	if *field == zero {
		*field = v
	}
}
