package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// setScalar sets a string, number, boolean, time or blob, or a pointer to one,
// from its text in a form, a path or a query string.
func setScalar(v reflect.Value, text string) error {
	if v.Kind() == reflect.Pointer {
		p := reflect.New(v.Type().Elem())
		if err := setScalar(p.Elem(), text); err != nil {
			return err
		}
		v.Set(p)
		return nil
	}
	if v.Type() == reflect.TypeFor[time.Time]() {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return errors.New("it must be a date in ISO 8601 form")
		}
		v.Set(reflect.ValueOf(t))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("it must be true or false")
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return errors.New("it must be a whole number")
		}
		v.SetInt(i)
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(text, v.Type().Bits())
		if err != nil {
			return errors.New("it must be a number")
		}
		v.SetFloat(f)
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			return fmt.Errorf("a %s is not a single value", v.Type())
		}
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return errors.New("it must be base64")
		}
		v.SetBytes(b)
	default:
		return fmt.Errorf("a %s is not a single value", v.Type())
	}
	return nil
}
