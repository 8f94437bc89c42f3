package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// decode fills a struct from resolved properties. A property that the struct
// does not name is refused: it might change what the resource does.
func decode(id string, properties map[string]any, into any) error {
	var source bytes.Buffer
	enc := json.NewEncoder(&source)
	enc.SetEscapeHTML(false) // patterns hold < and > and are shown to people
	if err := enc.Encode(properties); err != nil {
		return place{id, "Properties"}.refuse("%v", err)
	}
	dec := json.NewDecoder(&source)
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		p := place{id, "Properties"}
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			p = p.at(wrong.Field)
		}
		return p.refuse("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// whole is an integer, which templates also write as a string.
type whole int

// UnmarshalJSON reads 5 and "5".
func (n *whole) UnmarshalJSON(b []byte) error {
	i, err := strconv.Atoi(strings.Trim(string(b), `"`))
	if err != nil {
		return fmt.Errorf("%s is not a whole number", b)
	}
	*n = whole(i)
	return nil
}

// flag is a boolean, which templates also write as a string.
type flag bool

// UnmarshalJSON reads true and "true".
func (f *flag) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseBool(strings.Trim(string(b), `"`))
	if err != nil {
		return fmt.Errorf("%s is not true or false", b)
	}
	*f = flag(v)
	return nil
}

// seconds is an optional number of seconds.
func seconds(n *whole, otherwise time.Duration) time.Duration {
	if n == nil {
		return otherwise
	}
	return time.Duration(*n) * time.Second
}

func number(n *whole, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return int(*n)
}

// inert stands for a property that is known and has no effect on the stage.
type inert = json.RawMessage
