package slackapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWhereAnswersMayGo(t *testing.T) {
	const slackAPI, stageAPI = "https://slack.com/api/", "http://127.0.0.1:8080/api/"
	for _, test := range []struct {
		api, to string
		want    bool
	}{
		{slackAPI, "https://hooks.slack.com/actions/T1/2/3", true},
		{slackAPI, "https://hooks.slack-gov.com/actions/T1/2/3", true},
		{slackAPI, "http://hooks.slack.com/actions/T1/2/3", false},
		{slackAPI, "https://hooks.slack.com.example.com/actions", false},
		{slackAPI, "https://example.com/hooks.slack.com", false},
		{slackAPI, "https://hooks.slack.com@example.com/", false},
		{slackAPI, "https://user@hooks.slack.com/", false},
		{slackAPI, "https://hooks.slack.com:444/", false},
		{slackAPI, "https://HOOKS.slack.com/", false},
		{slackAPI, "https://slack.com/api/chat.postMessage", false},
		{slackAPI, "http://169.254.169.254/latest/meta-data/", false},
		{slackAPI, "http://127.0.0.1:8080/response/1", false},
		{slackAPI, "file:///etc/passwd", false},
		{slackAPI, "https:hooks.slack.com", false},
		{slackAPI, "//hooks.slack.com/", false},
		{slackAPI, "", false},
		{slackAPI, "https://%zz", false},
		{stageAPI, "http://127.0.0.1:8080/response/1", true},
		{stageAPI, "http://127.0.0.1:8081/response/1", false},
		{stageAPI, "https://127.0.0.1:8080/response/1", false},
		{stageAPI, "http://x@127.0.0.1:8080/response/1", false},
		{"http://10.0.0.1/api/", "http://10.0.0.1/response/1", false}, // plain HTTP on this machine only
	} {
		if got := NewResponder(test.api, nil).ours(test.to); got != test.want {
			t.Errorf("with %s: %s: %v, want %v", test.api, test.to, got, test.want)
		}
	}
}

func TestTell(t *testing.T) {
	status, elsewhere := http.StatusOK, 0
	var got map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/response/SECRET" {
			elsewhere++
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &got) != nil {
			t.Errorf("the answer is %q, %v", body, err)
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	r := NewResponder(s.URL+"/api/", nil)
	if err := r.Tell(t.Context(), s.URL+"/response/SECRET", "Nothing was done."); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]any{"response_type": "ephemeral", "replace_original": false, "text": "Nothing was done."}, got); diff != "" {
		t.Errorf("the answer (-want +got):\n%s", diff)
	}
	for _, status = range []int{302, 307, 404, 500} {
		if err := r.Tell(t.Context(), s.URL+"/response/SECRET", "x"); !errors.Is(err, ErrNotTaken) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if elsewhere > 0 {
		t.Errorf("%d redirects were followed", elsewhere)
	}
	if err := r.Tell(t.Context(), "https://example.com/SECRET", "x"); !errors.Is(err, ErrElsewhere) || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("elsewhere: %v", err)
	}
	s.Close()
	if err := r.Tell(t.Context(), s.URL+"/response/SECRET", "x"); !errors.Is(err, ErrNotTaken) || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("nobody there: %v", err)
	}
}

// TestTellDoesNotWaitForever: a Slack that does not answer must not use up the
// three seconds of whoever pressed.
func TestTellDoesNotWaitForever(t *testing.T) {
	done := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(done) })
	r := NewResponder(s.URL, nil)
	r.client.Timeout = 20 * time.Millisecond
	if err := r.Tell(t.Context(), s.URL+"/response/1", "x"); !errors.Is(err, ErrNotTaken) {
		t.Errorf("got %v", err)
	}
}
