package faketargets

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Teams is a workflow "When a Teams webhook request is received".
type Teams struct {
	common
	signature string
	schema    *jsonschema.Schema
	cards     []Card
}

// Card is what the channel shows: each line of the card, and where its buttons lead.
type Card struct {
	Lines   []string
	Buttons map[string]string
	At      time.Time
}

// maxMessage is the size of a message, and perSecond how many a channel takes
// (learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook,
// "28 KB", of which clients have measured 21 KB as their own part; …/connectors-using, "Rate
// limiting": 4 in a second). The real one takes what is larger, and does not post it.
const (
	maxMessage = 21_000
	perSecond  = 4
)

// NewTeams makes a stand-in whose address has this signature in its query.
func NewTeams(signature string, now func() time.Time) (*Teams, error) {
	s, err := Schema("teams-message.json")
	if err != nil {
		return nil, err
	}
	return &Teams{common: common{now: now}, signature: signature, schema: s}, nil
}

// Cards are what it took, in order.
func (t *Teams) Cards() []Card {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.cards)
}

// ServeHTTP takes a message. Errors are in the form of Azure Logic Apps, which workflows
// run on (learn.microsoft.com/azure/logic-apps/logic-apps-http-endpoint,
// TriggerInputSchemaMismatch).
func (t *Teams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fail := func(status int, code, text string) {
		answer(w, status, map[string]any{"error": map[string]string{"code": code, "message": text}})
	}
	body, ok := t.begin(w, r, maxMessage, func(http.ResponseWriter) {
		fail(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "The message is larger than Teams posts")
	})
	if !ok {
		return
	}
	if r.URL.Query().Get("sig") != t.signature {
		fail(http.StatusUnauthorized, "DirectApiAuthorizationRequired", "The request's signature is not valid")
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.within(time.Second) > perSecond {
		w.Header().Set("Retry-After", "1")
		fail(http.StatusTooManyRequests, "WorkflowRunActionLimitExceeded", "Rate limit is exceeded. Try again in 1 seconds.")
		return
	}
	if wrong := violations(t.schema, body); len(wrong) > 0 {
		fail(http.StatusBadRequest, "TriggerInputSchemaMismatch", "The input body did not match its schema definition. Error details: "+strings.Join(wrong, "; "))
		return
	}
	var m struct {
		Attachments []struct {
			Content struct {
				Body    []struct{ Inlines []struct{ Text string } }
				Actions []struct{ Title, URL string }
			}
		}
	}
	if err := json.Unmarshal(body, &m); err != nil {
		fail(http.StatusBadRequest, "InvalidRequestContent", err.Error())
		return
	}
	for _, a := range m.Attachments {
		c := Card{Buttons: map[string]string{}, At: t.now()}
		for _, block := range a.Content.Body {
			line := ""
			for _, run := range block.Inlines {
				line += run.Text
			}
			c.Lines = append(c.Lines, line)
		}
		for _, b := range a.Content.Actions {
			c.Buttons[b.Title] = b.URL
		}
		t.cards = append(t.cards, c)
	}
	w.WriteHeader(http.StatusAccepted)
}
