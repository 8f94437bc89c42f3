package fakeslack

import (
	"errors"
	"fmt"
	"time"

	"rollcall/local/platform/loopback"
)

// Config is what a Server starts with. Token and at least one channel are
// required; everything else has a default.
type Config struct {
	// Token is the bot token that callers must present.
	Token string
	// Scopes are the scopes of the token. Nil means all that the stand-in knows.
	Scopes []string
	// SigningSecret signs interactivity requests.
	SigningSecret string
	// InteractivityURL receives button presses. It can be set later too.
	InteractivityURL string
	// Workspace is the name shown at the top of the sidebar.
	Workspace string
	// Enterprise is the organization that the workspace is of (E…); empty for none.
	Enterprise string
	// Bot is the app that owns the token.
	Bot Bot
	// Channels are the channels of the workspace.
	Channels []Channel
	// Users are its people. The page is the first one's, until another is
	// chosen there.
	Users []User
	// Groups are its user groups.
	Groups []Group
	// Limits are the rate limits. The zero value means none.
	Limits Limits
	// Now is the stage's clock; it gives messages their timestamps. Nil means
	// the wall clock.
	Now func() time.Time
	// Wall is the clock for rate limits and for the record of calls, which stay
	// in real time when the stage's time runs faster. Nil means time.Now.
	Wall func() time.Time
	// SignatureClock dates the signatures of presses. It must be the clock of
	// whoever verifies them. Nil means the wall clock.
	SignatureClock func() time.Time
	// Network, if any, is where it is found in place of a port of this machine, and
	// by which its presses go.
	Network *loopback.Network
}

// Bot is the app behind the token.
type Bot struct {
	// Name is shown beside the APP badge.
	Name string
	// UserID, BotID and AppID are Slack's three names of one app.
	UserID, BotID, AppID string
}

// Channel is a channel of the workspace.
type Channel struct {
	// ID is Slack's id of the channel, Name is without "#".
	ID, Name string
	// Topic is shown in the channel's header.
	Topic string
	// Private makes history need groups:history.
	Private bool
	// Archived channels take no messages.
	Archived bool
	// BotAbsent means the app was not invited.
	BotAbsent bool
}

// User is a person.
type User struct {
	// ID is Slack's id, Name the display name.
	ID, Name string
	// Timezone is an IANA zone, for example "Europe/Berlin".
	Timezone string
	// Team is the workspace that they are of, if it is not this one, Enterprise its
	// organization: somebody of another company in a channel of Slack Connect, or of
	// another workspace of our own organization.
	Team, Enterprise string
	// Guest is a guest of some channels (docs.slack.dev/reference/objects/user-object,
	// is_restricted).
	Guest bool
}

// Group is a user group such as @oncall.
type Group struct {
	// ID is Slack's id ("S..."), Handle is without "@".
	ID, Handle string
	// Users are the ids of its members.
	Users []string
}

// Limits are rate limits. A limit of zero is off.
type Limits struct {
	// PostsPerSecond is the pace of new messages for each channel. Slack allows
	// about one a second and "short bursts".
	PostsPerSecond float64
	// PostBurst is how many messages may come at once. Zero means one.
	PostBurst int
	// UpdatesPerMinute is the pace of chat.update. Slack's tier 3 is about 50.
	UpdatesPerMinute float64
	// UpdateBurst is how many updates may come at once. Zero means one.
	UpdateBurst int
}

// withDefaults checks c and fills what was left out.
func (c Config) withDefaults() (Config, error) {
	if c.Token == "" {
		return c, errors.New("fakeslack: a token is required")
	}
	if len(c.Channels) == 0 {
		return c, errors.New("fakeslack: at least one channel is required")
	}
	seen := map[string]bool{}
	for _, ch := range c.Channels {
		if ch.ID == "" || ch.Name == "" {
			return c, fmt.Errorf("fakeslack: channel %q (%q) needs an id and a name", ch.ID, ch.Name)
		}
		if seen[ch.ID] || seen["#"+ch.Name] {
			return c, fmt.Errorf("fakeslack: channel %q (%q) is there twice", ch.ID, ch.Name)
		}
		seen[ch.ID], seen["#"+ch.Name] = true, true
	}
	if c.Scopes == nil {
		c.Scopes = allScopes()
	}
	if c.Workspace == "" {
		c.Workspace = "Local stage"
	}
	if c.Bot.Name == "" {
		c.Bot.Name = "Rollcall"
	}
	if c.Bot.UserID == "" {
		c.Bot.UserID = "U0BOT00001"
	}
	if c.Bot.BotID == "" {
		c.Bot.BotID = "B0BOT00001"
	}
	if c.Bot.AppID == "" {
		c.Bot.AppID = "A0BOT00001"
	}
	if len(c.Users) == 0 {
		c.Users = []User{{ID: "U0ONCALL01", Name: "oncall", Timezone: "UTC"}}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wall == nil {
		c.Wall = time.Now
	}
	if c.SignatureClock == nil {
		c.SignatureClock = c.Wall
	}
	return c, nil
}
