package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"reflect"
	"strings"
	"time"
)

// Printer makes of an answer, as it came over the wire, what the AWS CLI prints
// of it with --output json (botocore's parsers.py and handlers.py, 1.43). What
// the SDK does not know of an answer is kept too: a capture may be read by a
// newer program than the one that took it.
type Printer struct{ names names }

// NewPrinter reads the table of names.
func NewPrinter() (*Printer, error) {
	table, err := readNames()
	if err != nil {
		return nil, err
	}
	return &Printer{table}, nil
}

// Printed is the answer of an operation: the service by the name of its SDK package,
// out the SDK's struct of the answer. The page's token is left in it.
func (p *Printer) Printed(service string, out reflect.Type, body []byte) (map[string]any, error) {
	for _, svc := range services() {
		if svc.name == service && !svc.isJSON() {
			return printedXML(p.names[service], out, body)
		}
	}
	return PrintedJSON(out, body)
}

// PrintedJSON is the answer of a service that speaks JSON. out tells what is a time.
func PrintedJSON(out reflect.Type, body []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var tree map[string]any
	if err := d.Decode(&tree); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	printJSON(out, tree)
	return tree, nil
}

// printJSON writes times as the CLI's version 2 does, and takes away what is null,
// as botocore does.
func printJSON(t reflect.Type, tree any) any {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := tree.(type) {
	case map[string]any:
		for key, item := range v {
			if item == nil {
				delete(v, key)
				continue
			}
			v[key] = printJSON(below(t, key), item)
		}
	case []any:
		for i, item := range v {
			v[i] = printJSON(below(t, ""), item)
		}
	case json.Number:
		if t == reflect.TypeFor[time.Time]() {
			if seconds, err := v.Float64(); err == nil {
				return printedTime(time.UnixMicro(int64(math.Round(seconds * 1e6))))
			}
		}
	}
	return tree
}

// below is the type of a member, or of a list's elements; nil where it is unknown.
func below(t reflect.Type, key string) reflect.Type {
	if t == nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return t.Elem()
	case reflect.Struct:
		f, ok := t.FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, key) })
		if ok {
			return f.Type
		}
	}
	return nil
}

// printedTime is Python's datetime.isoformat, which the CLI's version 2 prints
// (cli_timestamp_format = iso8601).
func printedTime(t time.Time) string {
	if t = t.UTC(); t.Nanosecond()/1000 == 0 {
		return t.Format("2006-01-02T15:04:05+00:00")
	}
	return t.Format("2006-01-02T15:04:05.000000+00:00")
}

// xmlPart is a part of an XML answer.
type xmlPart struct {
	name  string
	text  string
	parts []*xmlPart
}

// parseXML reads an answer's root.
func parseXML(body []byte) (*xmlPart, error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	top := &xmlPart{}
	open := []*xmlPart{top}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		last := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			e := &xmlPart{name: token.Name.Local}
			last.parts = append(last.parts, e)
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			last.text += string(token)
		}
	}
	if len(top.parts) != 1 {
		return nil, errors.New("read the answer: it is empty")
	}
	return top.parts[0], nil
}

func printedXML(table *serviceNames, out reflect.Type, body []byte) (map[string]any, error) {
	root, err := parseXML(body)
	if err != nil {
		return nil, err
	}
	operation := strings.TrimSuffix(out.Name(), "Output")
	// A query answer has its result below, and its request's id beside it.
	for _, e := range root.parts {
		if e.name == operation+"Result" {
			root = e
			break
		}
	}
	tree := printStruct(table, out, root)
	for _, id := range []string{"RequestId", "ResponseMetadata"} { // the protocol's own
		delete(tree, id)
	}
	return tree, nil
}

func printStruct(table *serviceNames, t reflect.Type, e *xmlPart) map[string]any {
	tree := map[string]any{}
	members := table.out[t.Name()]
	for _, part := range e.parts {
		m, ok := members.member(part.name)
		f, has := t.FieldByName(m.field)
		if !ok || !has {
			tree[strings.ToUpper(part.name[:1])+part.name[1:]] = printUnknown(part)
			continue
		}
		switch {
		case f.Type.Kind() == reflect.Slice && m.list == flatList:
			list, _ := tree[m.field].([]any)
			tree[m.field] = append(list, printValue(table, f.Type.Elem(), part))
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() != reflect.Uint8:
			list := make([]any, 0, len(part.parts))
			for _, item := range part.parts {
				list = append(list, printValue(table, f.Type.Elem(), item))
			}
			tree[m.field] = list
		default:
			tree[m.field] = printMember(table, t, f, part)
		}
	}
	return tree
}

// printMember is a single value. Two kinds of text are decoded by botocore:
// policies, and what a console printed.
func printMember(table *serviceNames, t reflect.Type, f reflect.StructField, e *xmlPart) any {
	switch {
	case strings.HasSuffix(f.Name, "Document") && table.ops["GetRolePolicy"]:
		if text, err := url.PathUnescape(e.text); err == nil {
			d := json.NewDecoder(strings.NewReader(text))
			d.UseNumber()
			var policy any
			if d.Decode(&policy) == nil {
				return policy
			}
		}
	case t.Name() == "GetConsoleOutputOutput" && f.Name == "Output":
		if plain, err := base64.StdEncoding.DecodeString(e.text); err == nil {
			return latin1(plain)
		}
	}
	return printValue(table, f.Type, e)
}

// latin1 is bytes as text of ISO 8859-1, which botocore takes a console for.
func latin1(b []byte) string {
	text := make([]rune, len(b))
	for i, c := range b {
		text[i] = rune(c)
	}
	return string(text)
}

func printValue(table *serviceNames, t reflect.Type, e *xmlPart) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	text := strings.TrimSpace(e.text)
	switch {
	case t == reflect.TypeFor[time.Time]():
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return printedTime(at)
		}
	case t.Kind() == reflect.Struct:
		return printStruct(table, t, e)
	case t.Kind() == reflect.Bool:
		return text == "true"
	case t.Kind() == reflect.Int32, t.Kind() == reflect.Int64, t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		if json.Valid([]byte(text)) {
			return json.Number(text)
		}
	}
	return e.text
}

// printUnknown is what the SDK does not know yet: lists are told by the name that
// both protocols give their elements.
func printUnknown(e *xmlPart) any {
	if len(e.parts) == 0 {
		return e.text
	}
	list, tree := []any{}, map[string]any{}
	for _, part := range e.parts {
		if part.name == "item" || part.name == "member" {
			list = append(list, printUnknown(part))
			continue
		}
		tree[strings.ToUpper(part.name[:1])+part.name[1:]] = printUnknown(part)
	}
	if len(list) > 0 {
		return list
	}
	return tree
}
