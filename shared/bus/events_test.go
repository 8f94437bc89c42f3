package bus

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"rollcall/shared/checks"
	"rollcall/shared/incident"
)

var update = flag.Bool("update", false, "write the samples in events/out anew")

// put is one entry of a PutEvents call as it is on the wire.
type put struct {
	EventBusName, Source, DetailType, Detail string
	Time                                     float64
}

// eventBridge stands in for EventBridge: it keeps what it was given, and
// refuses what refuse says.
type eventBridge struct {
	calls  [][]put
	refuse func(call int, p put) string
}

func (e *eventBridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ Entries []put }
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.calls = append(e.calls, in.Entries)
	failed := 0
	var results []string
	for i, p := range in.Entries {
		code := ""
		if e.refuse != nil {
			code = e.refuse(len(e.calls), p)
		}
		if code == "" {
			results = append(results, fmt.Sprintf(`{"EventId":"%d"}`, i))
			continue
		}
		failed++
		results = append(results, fmt.Sprintf(`{"ErrorCode":%q,"ErrorMessage":"no"}`, code))
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	fmt.Fprintf(w, `{"FailedEntryCount":%d,"Entries":[%s]}`, failed, strings.Join(results, ","))
}

func bus(t *testing.T, e *eventBridge) *Bus {
	t.Helper()
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return New(eventbridge.New(eventbridge.Options{
		Region: "us-west-2", BaseEndpoint: aws.String(server.URL), Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
	}), "rollcall")
}

const samples = "../../events/out"

// envelope is an event as a rule's target gets it.
type envelope struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Time       time.Time       `json:"time"`
	Region     string          `json:"region"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
}

// The samples are what the code really sends.
func TestSamplesAreWhatIsSent(t *testing.T) {
	var e eventBridge
	if err := bus(t, &e).Tell(t.Context(), story()); err != nil {
		t.Fatal(err)
	}
	if len(e.calls) != 1 || len(e.calls[0]) != 8 {
		t.Fatalf("calls are %v, want one with eight events", e.calls)
	}
	for i, p := range e.calls[0] {
		var detail incident.Event
		if err := json.Unmarshal([]byte(p.Detail), &detail); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(samples, strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(p.DetailType, "Rollcall ")), " ", "-")+".json")
		holdSample(t, file, envelope{
			Version: "0", ID: fmt.Sprintf("%d0c1d2e3-4f5a-6b7c-8d9e-0f1a2b3c4d5e", i+1), DetailType: p.DetailType, Source: p.Source,
			Account: detail.Account, Time: time.Unix(int64(p.Time), 0).UTC(), Region: detail.Region, Resources: []string{}, Detail: json.RawMessage(p.Detail),
		})
		if p.EventBusName != "rollcall" || !detail.At.Truncate(time.Second).Equal(time.Unix(int64(p.Time), 0)) {
			t.Errorf("entry for bus %q at %v, want rollcall at %v", p.EventBusName, p.Time, detail.At)
		}
	}
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("../../events/schema/rollcall-incident.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSamplesFollowTheSchema(t *testing.T) {
	s := schema(t)
	files, err := filepath.Glob(filepath.Join(samples, "incident-*.json"))
	if err != nil || len(files) != 6 {
		t.Fatalf("samples are %q, %v; want one for each of five kinds, and one of what is due", files, err)
	}
	files = append(files, filepath.Join(samples, "remedy-approved.json"), filepath.Join(samples, "remedy-acted.json"), filepath.Join(samples, "check-wanted.json"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		event, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(event); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// The schema refuses what is wrong, else the test above would prove nothing.
func TestSchemaRefuses(t *testing.T) {
	s := schema(t)
	data, err := os.ReadFile(filepath.Join(samples, "incident-resolved.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, old, new string }{
		{"another source", `"source": "rollcall"`, `"source": "aws.rollcall"`},
		{"an unknown field", `"sequence":`, `"sequense":`},
		{"resolved but open", `"state": "closed"`, `"state": "open"`},
		{"no time", `"began": "2026-`, `"began": "soon-`},
		{"unknown reason", `"reason": "proved"`, `"reason": "because"`},
		{"unknown severity", `"severity": "info"`, `"severity": "urgent"`},
		{"a remedy that nobody knows", `"remedy": "add-nat-route",
        "partition"`, `"remedy": "reboot",
        "partition"`},
		{"no hash", `"hash": "`, `"hash": "x`},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed := strings.Replace(string(data), test.old, test.new, 1)
			if changed == string(data) {
				t.Fatalf("the sample has no %s", test.old)
			}
			event, err := jsonschema.UnmarshalJSON(strings.NewReader(changed))
			if err != nil {
				t.Fatal(err)
			}
			if s.Validate(event) == nil {
				t.Error("the schema takes it")
			}
		})
	}
}

func TestRefusedEventsAreAnError(t *testing.T) {
	e := eventBridge{refuse: func(_ int, p put) string {
		if strings.Contains(p.DetailType, "Changed") {
			return "ThrottlingException"
		}
		return ""
	}}
	err := bus(t, &e).Tell(t.Context(), story())
	var refused *Refused
	if !errors.As(err, &refused) {
		t.Fatalf("error is %v, want refused", err)
	}
	if diff := cmp.Diff(&Refused{Failed: 1, Of: 8, Code: "ThrottlingException", Message: "no"}, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

func TestCallsStayWithinTheLimits(t *testing.T) {
	many := make([]incident.Event, 0, 25)
	for i := range 25 {
		many = append(many, incident.Event{ID: fmt.Sprint(i), Kind: incident.EventChanged})
	}
	large := make([]incident.Event, 0, 3)
	for i := range 3 {
		large = append(large, incident.Event{ID: fmt.Sprint(i), Kind: incident.EventChanged, Why: strings.Repeat("x", 100<<10)})
	}
	huge := incident.Event{
		ID: "0", Kind: incident.EventChanged, Affected: 3, Why: strings.Repeat("ü", 200<<10),
		Evidence: []checks.Evidence{{What: "line", Value: strings.Repeat("y", maxBytes)}},
	}
	for _, test := range []struct {
		name   string
		events []incident.Event
		want   []int
	}{
		{"nothing", nil, nil},
		{"ten at once", many, []int{10, 10, 5}},
		{"256 KB at once", large, []int{2, 1}},
		{"one too large goes without its evidence", []incident.Event{huge}, []int{1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var e eventBridge
			if err := bus(t, &e).Tell(t.Context(), test.events); err != nil {
				t.Fatal(err)
			}
			var got []int
			n := 0
			for _, call := range e.calls {
				got = append(got, len(call))
				size := 0
				for _, p := range call {
					size += len(p.Source) + len(p.DetailType) + len(p.Detail) + 14
					var detail incident.Event
					if err := json.Unmarshal([]byte(p.Detail), &detail); err != nil || detail.ID != fmt.Sprint(n) {
						t.Errorf("event %d has id %q, %v", n, detail.ID, err)
					}
					n++
				}
				if size > maxBytes {
					t.Errorf("a call has %d bytes", size)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events by call (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnreachableBusIsAnError(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer server.Close()
	b := New(eventbridge.New(eventbridge.Options{Region: "us-west-2", BaseEndpoint: aws.String(server.URL), Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		})}), "rollcall")
	if err := b.Tell(t.Context(), story()); err == nil {
		t.Error("no error")
	}
}
