package fakeslack

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// store holds the workspace. The Server's lock guards it.
type store struct {
	now      func() time.Time
	channels []*channel
	nextID   int
}

// channel is a Channel and what was said in it.
type channel struct {
	Channel
	// last is the last timestamp given, in microseconds since 1970.
	last int64
	// messages has roots, replies and ephemerals, in order of their timestamps.
	messages []*Message
	// deleted remembers the timestamps of deleted messages.
	deleted map[string]bool
}

func newStore(channels []Channel, now func() time.Time) *store {
	s := &store{now: now}
	for _, c := range channels {
		s.channels = append(s.channels, &channel{Channel: c, deleted: map[string]bool{}})
	}
	return s
}

// byID finds a channel by its id.
func (s *store) byID(id string) *channel {
	for _, c := range s.channels {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// byName finds a channel by id, "#name" or "name", as chat.postMessage does.
func (s *store) byName(name string) *channel {
	if c := s.byID(name); c != nil {
		return c
	}
	for _, c := range s.channels {
		if c.Name == strings.TrimPrefix(name, "#") {
			return c
		}
	}
	return nil
}

// id makes a new id with Slack's kind of prefix, such as "F" for files.
func (s *store) id(prefix string) string {
	s.nextID++
	return fmt.Sprintf("%s0STAGE%04d", prefix, s.nextID)
}

// stamp gives the next timestamp: the stage's time, but always later than the
// one before, because a timestamp is a message's identity.
func (c *channel) stamp(now time.Time) string {
	c.last = max(now.UnixMicro(), c.last+1)
	return fmt.Sprintf("%d.%06d", c.last/1e6, c.last%1e6)
}

// add gives m a timestamp and appends it.
func (c *channel) add(m *Message, now time.Time) {
	m.Channel, m.TS = c.ID, c.stamp(now)
	c.messages = append(c.messages, m)
}

// find returns the message with ts; ephemeral messages are not found, as in Slack.
func (c *channel) find(ts string) *Message {
	for _, m := range c.messages {
		if m.TS == ts && m.Visible == "" {
			return m
		}
	}
	return nil
}

// findAny returns the message with ts, ephemeral or not.
func (c *channel) findAny(ts string) *Message {
	for _, m := range c.messages {
		if m.TS == ts {
			return m
		}
	}
	return nil
}

// remove deletes the message with ts.
func (c *channel) remove(ts string) {
	c.messages = slices.DeleteFunc(c.messages, func(m *Message) bool { return m.TS == ts })
	c.deleted[ts] = true
}

// replies lists the thread of parent, oldest first, without ephemerals.
func (c *channel) replies(parent string) []*Message {
	var out []*Message
	for _, m := range c.messages {
		if m.ThreadTS == parent && m.Visible == "" {
			out = append(out, m)
		}
	}
	return out
}

// history lists what the channel shows: no replies unless broadcast.
func (c *channel) history() []*Message {
	var out []*Message
	for _, m := range c.messages {
		if m.Visible == "" && (m.ThreadTS == "" || m.Broadcast) {
			out = append(out, m)
		}
	}
	return out
}
