package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// xmlTime is how EC2 and Auto Scaling write times: UTC, always with
// milliseconds.
const xmlTime = "2006-01-02T15:04:05.000Z"

// xmlEncoder writes an Output struct with the generated XML names.
type xmlEncoder struct {
	table *serviceNames
	buf   bytes.Buffer
	// fields remembers where the members of a struct are: a page holds many
	// structs of the same few types.
	fields map[reflect.Type][]xmlField
}

// xmlField is a member and the place of its Go field.
type xmlField struct {
	memberNames
	index []int
}

// fieldsOf lists the members of a struct type, none for an answer that has
// none.
func (e *xmlEncoder) fieldsOf(t reflect.Type) ([]xmlField, error) {
	if fields, ok := e.fields[t]; ok {
		return fields, nil
	}
	var fields []xmlField
	if table := e.table.out[t.Name()]; table != nil {
		for _, m := range table.members {
			f, ok := t.FieldByName(m.field)
			if !ok {
				return nil, fmt.Errorf("wire names: %s has no field %s", t, m.field)
			}
			fields = append(fields, xmlField{m, f.Index})
		}
	}
	if e.fields == nil {
		e.fields = map[reflect.Type][]xmlField{}
	}
	e.fields[t] = fields
	return fields, nil
}

// structure writes the members of a struct. With keepEmpty, a nil list is
// written as an empty element: the answers' own lists are always there in
// AWS's answers, and the AWS CLI prints [] for them.
func (e *xmlEncoder) structure(v reflect.Value, keepEmpty bool) error {
	fields, err := e.fieldsOf(v.Type())
	if err != nil {
		return err
	}
	for _, f := range fields {
		if err := e.member(v.FieldByIndex(f.index), f.memberNames, keepEmpty); err != nil {
			return err
		}
	}
	return nil
}

func (e *xmlEncoder) member(v reflect.Value, m memberNames, keepEmpty bool) error {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8 {
		return e.list(v, m, keepEmpty)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		if v.IsNil() {
			return nil
		}
	case reflect.String:
		// An enumeration: the SDK has no pointer for these, "" is not set.
		if v.Len() == 0 {
			return nil
		}
	}
	return e.element(m.wire, v)
}

func (e *xmlEncoder) list(v reflect.Value, m memberNames, keepEmpty bool) error {
	if m.list == flatList {
		for i := range v.Len() {
			if err := e.element(m.wire, v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	if v.IsNil() && !keepEmpty {
		return nil
	}
	if v.Len() == 0 {
		e.buf.WriteString("<" + m.wire + "/>")
		return nil
	}
	e.open(m.wire)
	for i := range v.Len() {
		if err := e.element(m.list, v.Index(i)); err != nil {
			return err
		}
	}
	e.close(m.wire)
	return nil
}

// element writes one value between its tags.
func (e *xmlEncoder) element(name string, v reflect.Value) error {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	e.open(name)
	if isStruct(v.Type()) {
		if err := e.structure(v, false); err != nil {
			return err
		}
		e.close(name)
		return nil
	}
	text, err := scalarText(v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := xml.EscapeText(&e.buf, []byte(text)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	e.close(name)
	return nil
}

func (e *xmlEncoder) open(name string)  { e.buf.WriteString("<" + name + ">") }
func (e *xmlEncoder) close(name string) { e.buf.WriteString("</" + name + ">") }

func (e *xmlEncoder) text(name, text string) {
	e.open(name)
	// Writing to a bytes.Buffer does not fail.
	_ = xml.EscapeText(&e.buf, []byte(text))
	e.close(name)
}

func scalarText(v reflect.Value) (string, error) {
	if t, ok := v.Interface().(time.Time); ok {
		return t.UTC().Format(xmlTime), nil
	}
	switch v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Float32:
		return strconv.FormatFloat(v.Float(), 'g', -1, 32), nil
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64), nil
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return base64.StdEncoding.EncodeToString(v.Bytes()), nil
		}
	}
	return "", fmt.Errorf("a %s has no text form in XML", v.Type())
}
