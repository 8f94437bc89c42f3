package interaction

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
)

// Payload is what somebody did in Slack, docs.slack.dev/reference/interaction-payloads.
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
	// OnHome tells that it was done on the app's home page, View the state in which that
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
	// Link tells that it is a button that opened a page: Slack tells the app of
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
		return Payload{}, refuse(Malformed, "Slack's form does not have one field payload")
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

// check tells whether it is one use of one element of a message.
func (p Payload) check(container string) error {
	switch {
	case p.Type != BlockActions:
		return refuse(NotPressed, "Rollcall has buttons and a command: no shortcuts and no dialogs")
	case container != "" && container != "message" && !p.OnHome:
		return refuse(NotPressed, "Rollcall has buttons in its messages and on its home page only")
	case p.OnHome && id("UW").MatchString(p.User): // a home page is in no channel
	case !id("UW").MatchString(p.User) || !id("CGD").MatchString(p.Channel) || !timestamp().MatchString(p.TS) || p.Thread != "" && !timestamp().MatchString(p.Thread):
		return refuse(Malformed, "Slack's payload does not say who pressed what in which message")
	}
	switch n := len(p.Actions); {
	case n == 0:
		return refuse(Malformed, "Slack's payload says that nothing was pressed")
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
