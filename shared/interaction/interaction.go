// Package interaction reads what Slack sends when a person uses a message of
// an app: who signed it, how old it is, and what was pressed. It decides from
// what it is given alone.
package interaction

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"mime"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Reason is why a request is refused. It stands in logs, metrics and audit
// records.
type Reason string

// The reasons of requests whose sender is unknown.
const (
	TooLarge Reason = "too-large"
	NotPost  Reason = "not-post"
	NotForm  Reason = "not-form"
	// Unsigned: a header of the signature is missing, or is none.
	Unsigned   Reason = "unsigned"
	TooOld     Reason = "too-old"
	FromFuture Reason = "from-the-future"
	Forged     Reason = "forged"
)

// The reasons of requests that Slack signed.
const (
	Replayed      Reason = "replayed"
	Malformed     Reason = "malformed"
	NotPressed    Reason = "not-a-press" // a shortcut, a dialog: Rollcall has none
	SeveralAtOnce Reason = "several-actions"
	UnknownAction Reason = "unknown-action"
	UnknownValue  Reason = "unknown-value"
	// NotWatched: the account and region of what was pressed were taken out of the settings.
	NotWatched Reason = "not-watched"
)

// Reasons are all of them.
func Reasons() []Reason {
	return []Reason{
		TooLarge, NotPost, NotForm, Unsigned, TooOld, FromFuture, Forged,
		Replayed, Malformed, NotPressed, SeveralAtOnce, UnknownAction, UnknownValue, NotWatched,
	}
}

// Signed reports whether Slack signed what was refused for the reason.
func (r Reason) Signed() bool {
	switch r {
	case Replayed, Malformed, NotPressed, SeveralAtOnce, UnknownAction, UnknownValue, NotWatched:
		return true
	}
	return false
}

// Status is the HTTP status by which a refusal is answered.
func (r Reason) Status() int {
	// In numbers: a package that decides does not import net/http.
	switch r {
	case TooLarge:
		return 413
	case NotPost:
		return 405
	case NotForm:
		return 415
	case Unsigned, TooOld, FromFuture, Forged:
		return 401
	case Replayed:
		return 409
	}
	return 400
}

// Refusal is a request that is not let in.
type Refusal struct {
	Reason Reason
	// Says is a sentence for people. It quotes nothing of the request.
	Says string
}

// Error gives the reason and the sentence.
func (r *Refusal) Error() string { return string(r.Reason) + ": " + r.Says }

func refuse(reason Reason, says string) error { return &Refusal{Reason: reason, Says: says} }

// slash reads a slash command out of Slack's form
// (docs.slack.dev/interactivity/implementing-slash-commands, "Understanding the payload").
// Its team_id is the workspace in which it was typed: a command is there only where its app
// is installed, so people of other companies in a channel of Slack Connect do not have it.
func slash(form url.Values) (Payload, error) {
	p := Payload{
		Type: SlashCommand, App: form.Get("api_app_id"), Team: form.Get("team_id"), User: form.Get("user_id"), Name: cut(form.Get("user_name"), maxName),
		Home: cut(form.Get("team_id"), maxName), Enterprise: cut(form.Get("enterprise_id"), maxName),
		Channel: form.Get("channel_id"), ResponseURL: form.Get("response_url"), Text: form.Get("text"),
	}
	if strings.HasPrefix(p.Home, "E") {
		p.Enterprise = p.Home
	}
	// The channel of a command may be any conversation, also one between two people.
	if !id("UW").MatchString(p.User) || !id("CGD").MatchString(p.Channel) {
		return p, refuse(Malformed, "Slack's form does not contain who typed the command and where")
	}
	return p, nil
}

// wireEvent are the fields in use of what the Events API sends
// (docs.slack.dev/apis/events-api, docs.slack.dev/reference/events/app_home_opened).
type wireEvent struct {
	Type       string `json:"type"`
	Challenge  string `json:"challenge"`
	App        string `json:"api_app_id"`
	Team       string `json:"team_id"`
	Enterprise string `json:"enterprise_id"`
	Event      struct {
		Type string   `json:"type"`
		User string   `json:"user"`
		Tab  string   `json:"tab"`
		View wireView `json:"view"`
	} `json:"event"`
}

type wireView struct {
	Type string `json:"type"`
	Hash string `json:"hash"`
}

// maxChallenge is longer than any challenge of Slack's (60 characters).
const maxChallenge = 200

// ParseEvent reads the body of a signed request of the Events API.
func ParseEvent(body []byte) (Payload, error) {
	var w wireEvent
	if json.Unmarshal(body, &w) != nil {
		return Payload{}, refuse(Malformed, "Slack's event cannot be read")
	}
	p := Payload{Type: w.Type, App: w.App, Team: w.Team, Home: cut(w.Team, maxName), Enterprise: cut(w.Enterprise, maxName)}
	switch {
	case w.Type == URLVerification:
		if p.Challenge = w.Challenge; p.Challenge == "" || len(p.Challenge) > maxChallenge {
			return p, refuse(Malformed, "Slack's challenge is empty")
		}
		return p, nil
	case w.Type != "event_callback" || w.Event.Type != HomeOpened:
		return p, refuse(NotPressed, "Rollcall accepts one event, app_home_opened: remove the others from the app's event subscriptions")
	}
	p.Type, p.User, p.OnHome, p.View, p.Tab = HomeOpened, w.Event.User, true, cut(w.Event.View.Hash, maxHash), w.Event.Tab
	if !id("UW").MatchString(p.User) {
		return p, refuse(Malformed, "Slack's event does not contain who opened the home page")
	}
	return p, nil
}

// maxHash is longer than any hash of a view.
const maxHash = 100

// Payload is what a person did in Slack, docs.slack.dev/reference/interaction-payloads.
type Payload struct {
	// Type is Slack's word: block_actions, view_submission, shortcut; or
	// "ssl_check", by which Slack looks whether the address answers.
	Type string
	App  string
	Team string
	// User is who did it, Home the workspace that Slack says they are of, or their
	// organization's id (E…), and Enterprise the organization of that workspace. In a
	// channel of Slack Connect it may be another company's, in which the id of a user
	// may be another person's. Whose is whose, the app's own token tells (auth.test);
	// the payload's field "enterprise" is of the installation and says nothing of the
	// person (slackapi/bolt-python, commit a2f21ae, slack_bolt/request/internals.py,
	// extract_enterprise_id). user.team_id "will report an enterprise organization ID
	// … when using an Enterprise organization", and team is "the workspace the Block
	// Kit interaction originated from", with enterprise_id where it is of one
	// (docs.slack.dev/reference/interaction-payloads/block_suggestion-payload); for an
	// app installed in a whole organization team can be null (bolt-python,
	// extract_team_id). What a guest's payload holds is written nowhere: who cannot be
	// placed by these is foreign.
	User, Name, Home, Enterprise string
	// Channel and TS are the message's, Thread that of the message above it.
	Channel, TS, Thread string
	// ResponseURL takes answers for whoever did it. Whoever has it can write
	// into the channel: it stands in no log and no record.
	ResponseURL string
	Actions     []Action
	// Blocks are those of the message.
	Blocks json.RawMessage
	// Text is what was typed after a command.
	Text string
	// OnHome reports whether it was done on the app's home page, View the state in which that
	// was; Tab is which of its tabs was opened.
	OnHome    bool
	View, Tab string
	// Challenge is what Slack wants to have back when an address is put in for events.
	Challenge string
}

// Action is one element that was used.
type Action struct {
	ID, Block, Type string
	Value           string
	// Option is the value of a menu's choice.
	Option string
	// Link reports whether it is a button that opened a page: Slack tells the app of
	// that too, and nothing is to be done.
	Link bool
}

// The types that are known by name here.
const (
	BlockActions = "block_actions"
	SSLCheck     = "ssl_check"
	SlashCommand = "slash_command"
	// URLVerification and HomeOpened are of the Events API.
	URLVerification = "url_verification"
	HomeOpened      = "app_home_opened"
)

// wirePayload are the fields in use of Slack's payload.
type wirePayload struct {
	Type string `json:"type"`
	App  string `json:"api_app_id"`
	Team struct {
		ID         string `json:"id"`
		Enterprise string `json:"enterprise_id"`
	} `json:"team"`
	User struct {
		ID       string `json:"id"`
		Username string `json:"username"`
		Name     string `json:"name"`
		Team     string `json:"team_id"`
	} `json:"user"`
	Channel struct {
		ID string `json:"id"`
	} `json:"channel"`
	Container struct {
		Type    string `json:"type"`
		TS      string `json:"message_ts"`
		Channel string `json:"channel_id"`
		Thread  string `json:"thread_ts"`
	} `json:"container"`
	Message struct {
		TS     string          `json:"ts"`
		Thread string          `json:"thread_ts"`
		Blocks json.RawMessage `json:"blocks"`
	} `json:"message"`
	View        wireView `json:"view"`
	ResponseURL string   `json:"response_url"`
	Actions     []struct {
		ID     string `json:"action_id"`
		Block  string `json:"block_id"`
		Type   string `json:"type"`
		Value  string `json:"value"`
		Option struct {
			Value string `json:"value"`
		} `json:"selected_option"`
	} `json:"actions"`
}

// Parse reads the body of a signed request. A refusal comes with what was
// understood: to whom it can be told.
func Parse(body []byte) (Payload, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return Payload{}, refuse(Malformed, "Slack's form cannot be read")
	}
	texts := form["payload"]
	if len(texts) == 0 && form.Get("ssl_check") == "1" {
		return Payload{Type: SSLCheck}, nil
	}
	if len(texts) == 0 && form.Has("command") {
		return slash(form)
	}
	if len(texts) != 1 {
		return Payload{}, refuse(Malformed, "Slack's form does not have exactly one field payload")
	}
	var w wirePayload
	if json.Unmarshal([]byte(texts[0]), &w) != nil {
		return Payload{}, refuse(Malformed, "Slack's payload cannot be read")
	}
	p := Payload{
		Type: w.Type, App: w.App, Team: w.Team.ID, User: w.User.ID, Name: first(w.User.Username, w.User.Name),
		Channel: first(w.Container.Channel, w.Channel.ID), TS: first(w.Container.TS, w.Message.TS), Thread: above(first(w.Container.TS, w.Message.TS), first(w.Container.Thread, w.Message.Thread)),
		ResponseURL: w.ResponseURL, Blocks: w.Message.Blocks,
	}
	p.Name, p.Home, p.Enterprise = cut(p.Name, maxName), cut(w.User.Team, maxName), cut(w.enterprise(), maxName)
	links := linksOf(w.Message.Blocks)
	for _, a := range w.Actions {
		p.Actions = append(p.Actions, Action{ID: a.ID, Block: a.Block, Type: a.Type, Value: a.Value, Option: a.Option.Value, Link: links[[2]string{a.Block, a.ID}]})
	}
	if p.OnHome = w.Container.Type == "view" && w.View.Type == "home"; p.OnHome {
		p.View = cut(w.View.Hash, maxHash)
	}
	return p, p.check(w.Container.Type)
}

// enterprise is the organization of whoever did it, where Slack says so: of the
// payload's workspace it does, which is theirs or is not.
func (w wirePayload) enterprise() string {
	switch {
	case strings.HasPrefix(w.User.Team, "E"):
		return w.User.Team
	case w.User.Team != "" && w.User.Team == w.Team.ID:
		return w.Team.Enterprise
	}
	return ""
}

// check reports whether it is one use of one element of a message.
func (p Payload) check(container string) error {
	switch {
	case p.Type != BlockActions:
		return refuse(NotPressed, "Rollcall has only buttons and a command: no shortcuts, no dialogs")
	case container != "" && container != "message" && !p.OnHome:
		return refuse(NotPressed, "Rollcall has buttons in its messages and on its home page only")
	case p.OnHome && id("UW").MatchString(p.User): // a home page is in no channel
	case !id("UW").MatchString(p.User) || !id("CGD").MatchString(p.Channel) || !timestamp().MatchString(p.TS) || p.Thread != "" && !timestamp().MatchString(p.Thread):
		return refuse(Malformed, "Slack's payload does not contain who pressed what in which message")
	}
	switch n := len(p.Actions); {
	case n == 0:
		return refuse(Malformed, "Slack's payload contains no action")
	case n > 1:
		return refuse(SeveralAtOnce, "several things were pressed at once: press one after the other")
	}
	return nil
}

// linksOf are the buttons of a message that open a page, by block and action.
func linksOf(blocks json.RawMessage) map[[2]string]bool {
	type element struct {
		ID  string `json:"action_id"`
		URL string `json:"url"`
	}
	var list []struct {
		ID        string          `json:"block_id"`
		Elements  json.RawMessage `json:"elements"`
		Accessory json.RawMessage `json:"accessory"`
	}
	links := map[[2]string]bool{}
	if json.Unmarshal(blocks, &list) != nil {
		return links // no blocks, or not of a known form: no element is a link then
	}
	for _, b := range list {
		var elements []element
		var accessory element
		if json.Unmarshal(b.Elements, &elements) != nil {
			elements = nil // a block's elements may be of another kind
		}
		if json.Unmarshal(b.Accessory, &accessory) == nil {
			elements = append(elements, accessory)
		}
		for _, e := range elements {
			if e.ID != "" && e.URL != "" {
				links[[2]string{b.ID, e.ID}] = true
			}
		}
	}
	return links
}

// maxName is the longest name of a person that is kept, in characters: Slack's
// own limit of a display name.
const maxName = 80

func id(kinds string) *regexp.Regexp { return regexp.MustCompile(`^[` + kinds + `][A-Z0-9]{2,30}$`) }

func timestamp() *regexp.Regexp { return regexp.MustCompile(`^\d{1,12}\.\d{1,9}$`) }

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func cut(text string, most int) string {
	runes := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	return string(runes[:min(len(runes), most)])
}

// above is the timestamp of the message above a reply. One that stands in the
// channel and has replies names itself: an answer in its thread would not be
// seen, for Slack shows what is for one person alone there only where the thread
// is open (docs.slack.dev/reference/methods/chat.postEphemeral).
func above(ts, thread string) string {
	if thread == ts {
		return ""
	}
	return thread
}

// RecordFormat is the version of Record that this code writes and reads.
const RecordFormat = 1

// Record is the audit record of a refused request: who, what and why, and
// nothing by which it could be repeated.
type Record struct {
	Format int       `json:"format"`
	At     time.Time `json:"at"`
	Reason Reason    `json:"reason"`
	Says   string    `json:"says"`
	// Source is the address that it came from.
	Source string `json:"source,omitempty"`
	// Request is the ID of a signed request, else the SHA-256 of the body.
	Request string `json:"request"`
	Bytes   int    `json:"bytes"`
	// The rest is known of signed requests alone.
	User    string `json:"user,omitempty"`
	Team    string `json:"team,omitempty"`
	Action  string `json:"action,omitempty"`
	Channel string `json:"channel,omitempty"`
	TS      string `json:"ts,omitempty"`
}

// The headers of a signature, docs.slack.dev/authentication/verifying-requests-from-slack.
const (
	HeaderTimestamp = "x-slack-request-timestamp"
	HeaderSignature = "x-slack-signature"
)

const (
	// MaxBody is the longest body that is looked at, in bytes. A payload holds
	// the message that was pressed: at most 11,000 characters of blocks and 4,000
	// of text (package slack, limits). Written as \uXXXX and then for a form, a
	// character takes up to 8 bytes: 120 KB, and the rest of the payload.
	MaxBody = 256 << 10
	// MaxAge is how old a request may be: Slack's own recommendation.
	MaxAge = 5 * time.Minute
	// MaxAhead is how far Slack's clock may be ahead of this machine's.
	MaxAhead = time.Minute
)

// Request is what came, before anything in it is believed.
type Request struct {
	Method, ContentType  string
	Timestamp, Signature string
	Body                 []byte
}

// Acceptable reports whether a request has the outer form of Slack's.
func Acceptable(r Request) error {
	kind, _, err := mime.ParseMediaType(r.ContentType)
	switch {
	case len(r.Body) > MaxBody:
		return refuse(TooLarge, "the request is larger than any that Slack sends for Rollcall's messages")
	case r.Method != "POST":
		return refuse(NotPost, "this address accepts only POST, from Slack")
	case err != nil || kind != "application/x-www-form-urlencoded" && kind != "application/json":
		return refuse(NotForm, "this address accepts what Slack sends: a form for a button or a command, JSON for an event")
	case !isTimestamp(r.Timestamp) || !isSignature(r.Signature):
		return refuse(Unsigned, "the request has no Slack signature")
	}
	return nil
}

// IsEvent reports whether an acceptable request is one of the Events API.
func IsEvent(r Request) bool {
	kind, _, err := mime.ParseMediaType(r.ContentType)
	return err == nil && kind == "application/json"
}

// Fresh reports whether a request was signed just now. What is not fresh may be
// a replayed copy.
func Fresh(r Request, now time.Time) error {
	seconds, err := strconv.ParseInt(r.Timestamp, 10, 64)
	if err != nil {
		return refuse(Unsigned, "the signature's timestamp is not a number")
	}
	switch age := now.Sub(time.Unix(seconds, 0)); {
	case age > MaxAge:
		return refuse(TooOld, "the request was signed more than five minutes ago")
	case age < -MaxAhead:
		return refuse(FromFuture, "the request was signed more than a minute ahead of this clock")
	}
	return nil
}

// Verify reports whether the secret signed the request. It takes the same time
// for every wrong signature.
func Verify(secret string, r Request) bool {
	given, err := hex.DecodeString(strings.TrimPrefix(r.Signature, version+"="))
	return err == nil && secret != "" && hmac.Equal(given, sign(secret, r.Timestamp, r.Body))
}

// ID names a request: the same signed request has the same, and no other has.
func ID(r Request) string {
	sum := sha256.New()
	sum.Write(base(r.Timestamp, r.Body))
	return hex.EncodeToString(sum.Sum(nil))
}

// version is the only one of Slack's signatures that there is.
const version = "v0"

func sign(secret, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(base(timestamp, body))
	return mac.Sum(nil)
}

func base(timestamp string, body []byte) []byte {
	return append([]byte(version+":"+timestamp+":"), body...)
}

// isTimestamp wants digits alone: two headers are joined by a comma, and a
// number may be written in several ways, of which one was signed. Ten digits
// last until the year 2286.
func isTimestamp(text string) bool {
	return len(text) == 10 && strings.Trim(text, "0123456789") == ""
}

func isSignature(text string) bool {
	digits, ok := strings.CutPrefix(text, version+"=")
	return ok && len(digits) == 2*sha256.Size && strings.Trim(digits, "0123456789abcdef") == ""
}
