package fakeslack

import (
	"encoding/json"
	"slices"
	"time"
)

// Message is a message as the stand-in holds it.
type Message struct {
	Channel string `json:"channel"`
	TS      string `json:"ts"`
	// ThreadTS is the parent's timestamp; empty for a message of the channel.
	ThreadTS string `json:"thread_ts,omitempty"`
	// Broadcast replies are shown in the channel too.
	Broadcast bool `json:"broadcast,omitempty"`
	// User is who wrote it; Bot says that this is the app.
	User string `json:"user"`
	Bot  bool   `json:"bot,omitempty"`
	// Visible is the one user who sees an ephemeral message.
	Visible     string          `json:"visible_to,omitempty"`
	Text        string          `json:"text"`
	Blocks      json.RawMessage `json:"blocks,omitempty"`
	Attachments json.RawMessage `json:"attachments,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	Files       []File          `json:"files,omitempty"`
	Reactions   []Reaction      `json:"reactions,omitempty"`
	// Edited is the mark that Slack shows as "(edited)".
	Edited *Edited `json:"edited,omitempty"`
	// Versions are the earlier forms of the message, oldest first.
	Versions []Version `json:"versions,omitempty"`
	// Replies are the messages of its thread, oldest first. Only parents have them.
	Replies []Message `json:"replies,omitempty"`
}

// Edited says who edited a message, and when.
type Edited struct {
	User string `json:"user"`
	TS   string `json:"ts"`
}

// Version is what a message said before an edit.
type Version struct {
	Text        string          `json:"text"`
	Blocks      json.RawMessage `json:"blocks,omitempty"`
	Attachments json.RawMessage `json:"attachments,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	// Until is the stage's time of the edit that replaced it.
	Until time.Time `json:"until"`
}

// File is an uploaded file.
type File struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Title    string `json:"title"`
	Mimetype string `json:"mimetype"`
	AltText  string `json:"alt_txt,omitempty"`
	Size     int    `json:"size"`
}

// Reaction is an emoji under a message.
type Reaction struct {
	Name  string   `json:"name"`
	Users []string `json:"users"`
}

// content is the part of a message that an edit replaces.
type content struct {
	text        string
	blocks      json.RawMessage
	attachments json.RawMessage
	metadata    json.RawMessage
}

func (m *Message) content() content {
	return content{m.Text, m.Blocks, m.Attachments, m.Metadata}
}

// edit replaces the content of m and keeps what was there. An edit with blocks
// carries no mark: Slack shows "(edited)" only when the text was replaced.
func (m *Message) edit(to content, user, ts string, at time.Time) {
	m.Versions = append(m.Versions, Version{
		Text: m.Text, Blocks: m.Blocks, Attachments: m.Attachments, Metadata: m.Metadata, Until: at,
	})
	m.Text, m.Blocks, m.Attachments, m.Metadata = to.text, to.blocks, to.attachments, to.metadata
	m.Edited = nil
	if len(to.blocks) == 0 {
		m.Edited = &Edited{User: user, TS: ts}
	}
}

// clone copies m so that the caller cannot reach into the store.
func (m *Message) clone() Message {
	c := *m
	c.Files = slices.Clone(m.Files)
	c.Versions = slices.Clone(m.Versions)
	c.Reactions = slices.Clone(m.Reactions)
	for i := range c.Reactions {
		c.Reactions[i].Users = slices.Clone(c.Reactions[i].Users)
	}
	if m.Edited != nil {
		e := *m.Edited
		c.Edited = &e
	}
	c.Replies = nil
	return c
}
