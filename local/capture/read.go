package capture

import "reflect"

// read is what a call answered. The value is shared: who changes it copies it
// first.
func read[O any](c *Capture, operation string, keys ...string) (*O, error) {
	name := c.find(operation, keys)
	if out, ok := c.files[name].(*O); ok {
		return out, nil
	}
	return nil, c.absent(name)
}

// find is the name under which a call is kept: the escaped one, or the one
// with plain dots if only that is there.
func (c *Capture) find(operation string, keys []string) string {
	name := fileName(operation, keys...)
	if c.has(name) {
		return name
	}
	if plain := plainName(operation, append([]string(nil), keys...)...); c.has(plain) {
		return plain
	}
	return name
}

func (c *Capture) has(name string) bool {
	_, file := c.files[name]
	_, refused := c.refused[name]
	return file || refused || c.partial[name]
}

// items are the values of a list of pointers' targets, kept in order.
func items[T any](list []T, keep func(T) bool) []T {
	out := make([]T, 0, len(list))
	for _, v := range list {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}

// text is the text of a field, by name: "" where there is none.
func text(v reflect.Value, field string) string {
	f := reflect.Indirect(v).FieldByName(field)
	if f.Kind() == reflect.Pointer {
		if f.IsNil() {
			return ""
		}
		f = f.Elem()
	}
	if f.Kind() != reflect.String {
		return ""
	}
	return f.String()
}
