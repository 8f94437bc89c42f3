package fakeslack

import (
	"errors"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParams(t *testing.T) {
	tests := map[string]struct {
		contentType, body string
		want              params
		code              string
	}{
		"form":       {"application/x-www-form-urlencoded", "a=1&b=x%20y", params{"q": "0", "a": "1", "b": "x y"}, ""},
		"bad form":   {"application/x-www-form-urlencoded", "a=%", nil, "invalid_form_data"},
		"JSON":       {"application/json; charset=utf-8", `{"a":"1","b":true,"c":[1],"d":null}`, params{"q": "0", "a": "1", "b": "true", "c": "[1]"}, ""},
		"nothing":    {"", "", params{"q": "0"}, ""},
		"not JSON":   {"application/json", "a=1", nil, "invalid_json"},
		"a list":     {"application/json", "[]", nil, "invalid_json"},
		"plain text": {"text/plain", "a=1", nil, "invalid_post_type"},
		"no type":    {"", "a=1", nil, "invalid_post_type"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseParams(url.Values{"q": {"0"}}, tt.contentType, []byte(tt.body))
			if refusal(err) != tt.code {
				t.Fatalf("got error %v, want %q", err, tt.code)
			}
			if diff := cmp.Diff(tt.want, got); tt.code == "" && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// refusal is the code of an answer that is not ok.
func refusal(err error) string {
	var e *apiError
	if errors.As(err, &e) {
		return e.code
	}
	return ""
}

func FuzzParams(f *testing.F) {
	f.Add("application/json", `{"channel":"C1","blocks":[]}`)
	f.Add("application/x-www-form-urlencoded", "channel=C1&text=%")
	f.Add("multipart/form-data; boundary=x", "--x--")
	f.Fuzz(func(t *testing.T, contentType, body string) {
		p, err := parseParams(nil, contentType, []byte(body))
		if err != nil && refusal(err) == "" {
			t.Errorf("got an error that is no answer: %v", err)
		}
		if err == nil && p == nil {
			t.Error("got neither arguments nor an error")
		}
	})
}
