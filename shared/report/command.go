package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/silence"
	"rollcall/shared/spoke"
)

// CommandFormat is the version of Command. It counts as those of presses do.
const CommandFormat = 201

// CommandKind is the word by which DecodeMessage tells it.
const CommandKind = "command"

// Commands stands for the cluster in what is of no cluster in particular. On the queue a
// person's commands come behind one another, and hold up nothing that is observed and
// nobody else's. No cluster has such a name.
const Commands = "(commands)"

// Verb is what somebody wants to know or to be done.
type Verb string

// The verbs. OpenHome is not typed: somebody opened the app's home page.
const (
	AskHelp      Verb = "help"
	AskStatus    Verb = "status"
	AskClusters  Verb = "clusters"
	AskSilences  Verb = "silences"
	AskSilence   Verb = "silence"
	AskUnsilence Verb = "unsilence"
	AskWhy       Verb = "why"
	AskReport    Verb = "report"
	OpenHome     Verb = "home"
)

// EndSilence is the action_id of the button that ends a silence.
const EndSilence Action = "unsilence"

// Ask is what somebody typed after /rollcall, or pressed, understood.
type Ask struct {
	Verb Verb `json:"verb"`
	// Cluster is as it was named: without an account it is the hub's own.
	Cluster   spoke.Cluster   `json:"cluster,omitzero"`
	Nodegroup string          `json:"nodegroup,omitempty"`
	Tag       *silence.Tag    `json:"tag,omitempty"`
	Check     checkid.ID      `json:"check,omitempty"`
	Weekly    *silence.Window `json:"weekly,omitempty"`
	// From is when a silence begins; zero is now. For is how long it lasts, or how far back a report reaches.
	From     time.Time     `json:"from,omitzero"`
	For      time.Duration `json:"for,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Instance string        `json:"instance,omitempty"`
	// Silence is the id of the one to end.
	Silence string `json:"silence,omitempty"`
}

// Command is a slash command, or a press on the home page, as slack-actions passes it on:
// signed by Slack, fresh, for the first time, and understood. Who may, report decides.
type Command struct {
	Format int    `json:"format"`
	Kind   string `json:"kind"`
	// ID is the hash of the signed request.
	ID  string    `json:"id"`
	At  time.Time `json:"at"`
	Ask Ask       `json:"ask"`

	User       User   `json:"user"`
	Team       string `json:"team,omitempty"`
	Home       string `json:"home,omitempty"`
	Enterprise string `json:"enterprise,omitempty"`
	Channel    string `json:"channel,omitempty"`
	// ResponseURL takes the answer; empty where it was the home page. Whoever has it can
	// write into the channel for half an hour: it stands in no log and no record. Who may
	// read this queue has Slack's token anyway.
	ResponseURL string `json:"responseUrl,omitempty"`
	// OnHome tells that it was opened or pressed on the home page, View the state in which
	// that was; empty for one that was never drawn.
	OnHome bool   `json:"onHome,omitempty"`
	View   string `json:"view,omitempty"`
	// Says is why slack-actions did nothing of what was pressed on the home page: the page
	// says it when it is drawn anew. A press there has no response_url, and what is for one
	// person alone is shown in a channel only
	// (docs.slack.dev/reference/methods/chat.postEphemeral).
	Says string `json:"says,omitempty"`
}

// EncodeCommand writes a command as it travels.
func EncodeCommand(c Command) (PressMessage, error) {
	c.Format, c.Kind = CommandFormat, CommandKind
	body, err := json.Marshal(c)
	if err != nil {
		return PressMessage{}, fmt.Errorf("encode the command %s: %w", c.Ask.Verb, err)
	}
	return PressMessage{ID: c.ID, Of: spoke.Cluster{Name: Commands + c.User.ID}, Body: body}, nil
}

// ErrNoCommand: a message is said to be a command, and is none.
var ErrNoCommand = errors.New("a command has an id, a time, a person and what they want")

func decodeCommand(body []byte, format int) (Message, error) {
	c, err := decodeTold[Command](body, format, CommandFormat, CommandKind)
	if err == nil && (c.ID == "" || c.At.IsZero() || c.User.ID == "" || c.Ask.Verb == "") {
		err = fmt.Errorf("decode a command: %w", ErrNoCommand)
	}
	return Message{Command: &c, Digest: digestOf(body)}, err
}
