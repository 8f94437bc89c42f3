package evidence

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"bytes"

	"rollcall/shared/node/userdata"
	"rollcall/shared/redact"
)

// encoder writes what the SDK made of an answer as the AWS CLI prints it: members by the
// names of the API, which the SDK writes with a capital letter, lists and texts as they
// are, times in ISO 8601, and no secrets.
type encoder struct {
	// lower tells that the API's names begin small: EKS's do, EC2's, Auto Scaling's and
	// IAM's do not (botocore's models).
	lower   bool
	secrets *redact.Redactor
}

func (e encoder) name(field string) string {
	if e.lower {
		return strings.ToLower(field[:1]) + field[1:]
	}
	return field
}

// object writes the members of a struct. Those that are not set are left out.
func (e encoder) object(b *bytes.Buffer, v reflect.Value) {
	b.WriteByte('{')
	first := true
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || unset(v.Field(i)) {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		quote(b, e.name(f.Name))
		b.WriteByte(':')
		e.value(b, v.Field(i), f.Name)
	}
	b.WriteByte('}')
}

// unset tells what the SDK has for a member that was not in the answer.
func unset(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return v.IsNil()
	case reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return v.Type().NumField() == 0 || strings.HasSuffix(v.Type().PkgPath(), "smithy-go/middleware") || v.Type().Name() == "noSmithyDocumentSerde"
	}
	return false
}

func (e encoder) value(b *bytes.Buffer, v reflect.Value, field string) {
	switch v.Kind() {
	case reflect.Pointer:
		e.value(b, v.Elem(), field)
	case reflect.Struct:
		if at, is := v.Interface().(time.Time); is {
			quote(b, at.UTC().Format("2006-01-02T15:04:05.999999+00:00"))
			return
		}
		if field == "UserData" { // an attribute's value, which is in an object
			if f := v.FieldByName("Value"); f.IsValid() && !f.IsZero() {
				b.WriteString(`{"Value":`)
				e.value(b, f, field)
				b.WriteByte('}')
				return
			}
		}
		e.object(b, v)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			quote(b, base64.StdEncoding.EncodeToString(v.Bytes()))
			return
		}
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			e.value(b, v.Index(i), field)
		}
		b.WriteByte(']')
	case reflect.Map:
		b.WriteByte('{')
		for i, key := range v.MapKeys() {
			if i > 0 {
				b.WriteByte(',')
			}
			quote(b, key.String())
			b.WriteByte(':')
			e.value(b, v.MapIndex(key), key.String())
		}
		b.WriteByte('}')
	case reflect.String:
		e.text(b, v.String(), field)
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int32, reflect.Int64, reflect.Int:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Float32, reflect.Float64:
		b.WriteString(strconv.FormatFloat(v.Float(), 'g', -1, 64))
	default:
		b.WriteString("null")
	}
}

// text writes a text without its secrets. Two kinds are decoded as the CLI decodes them:
// policies, and what a console printed.
func (e encoder) text(b *bytes.Buffer, text, field string) {
	switch {
	case strings.HasSuffix(field, "Document"):
		if plain, err := url.PathUnescape(text); err == nil && json.Valid([]byte(plain)) {
			b.WriteString(plain)
			return
		}
	case field == "Output":
		if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
			text = latin1(plain)
		}
		text = e.secrets.Value(field, text)
	case field == "UserData":
		// No more is kept than what checks read.
		if plain, pack, ok := redact.Script(text); ok {
			text = pack(userdata.Essential(plain))
		} else {
			text = userdata.Essential(text)
		}
		text = e.secrets.Value(field, text)
	default:
		text = e.secrets.Value(field, text)
	}
	quote(b, text)
}

// latin1 is what is no UTF-8 as text of ISO 8859-1, for which the CLI takes a console.
func latin1(plain []byte) string {
	if utf8.Valid(plain) {
		return string(plain)
	}
	text := make([]rune, len(plain))
	for i, c := range plain {
		text[i] = rune(c)
	}
	return string(text)
}

func quote(b *bytes.Buffer, text string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	// A text can always be written.
	_ = e.Encode(text)
	b.Truncate(b.Len() - 1) // the encoder's line end
}
