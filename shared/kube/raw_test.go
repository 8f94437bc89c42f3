package kube

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"
)

// TestRaw: an object as the API answers it, with what nothing here knows of it.
func TestRaw(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/apis/moon/v1/craters" && r.URL.Query().Get("limit") == "2" {
			fmt.Fprint(w, `{"items": [{"depth": 3.50}]}`)
			return
		}
		http.NotFound(w, r)
	})
	got, err := c.Raw(t.Context(), "/apis/moon/v1/craters", url.Values{"limit": {"2"}})
	if want := `{"items": [{"depth": 3.50}]}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	var status *StatusError
	if _, err := c.Raw(t.Context(), "/apis/sun", nil); !errors.As(err, &status) || status.Code != http.StatusNotFound {
		t.Errorf("what is not there: %v, want 404", err)
	}
}
