package queue

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// message is one message of a queue.
type message struct {
	id         string
	body       string
	attributes map[string]types.MessageAttributeValue
	trace      string // AWSTraceHeader
	group      string
	dedup      string
	sequence   int64
	deadOf     string // the queue that it was redriven from

	sent      time.Time
	first     time.Time // of the first receive
	visible   time.Time // hidden until then
	received  int
	receipt   string // handle of the last receive
	held      bool   // by a poller of the stage, see Queues.Receive
	gone      bool
	retention time.Time // kept until then
}

// inFlight tells if the message was received and not given back yet.
func (m *message) inFlight(now time.Time) bool {
	return m.held || (m.received > 0 && now.Before(m.visible))
}

// store is the state of one queue. It is not safe for concurrent use.
type store struct {
	Config
	created time.Time

	messages []*message // oldest first, with gaps of gone ones
	live     int
	receipts map[string]*message
	dedup    map[string]remembered
	sequence int64
	purged   time.Time

	// changed is closed and replaced whenever a message may have become
	// receivable by a call rather than by time.
	changed chan struct{}
}

// remembered is what a FIFO queue keeps about a deduplication id.
type remembered struct {
	id       string
	sequence int64
	until    time.Time
}

func newStore(c Config, now time.Time) *store {
	return &store{
		Config: c, created: now,
		receipts: make(map[string]*message), dedup: make(map[string]remembered),
		changed: make(chan struct{}),
	}
}

func (s *store) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// firstSequence makes sequence numbers look like those of SQS, which have 20
// digits; only their order means something.
const firstSequence = 1_886_000_000_000_000_000

// send takes a message in. For a duplicate it returns the id and sequence
// number of the first one and keeps nothing.
func (s *store) send(now time.Time, m *message, delay time.Duration) (id string, sequence int64) {
	if s.FIFO {
		for key, r := range s.dedup {
			if now.After(r.until) {
				delete(s.dedup, key)
			}
		}
		key := m.dedup
		if s.DedupByGroup {
			key = m.group + "\x00" + m.dedup
		}
		if r, ok := s.dedup[key]; ok {
			return r.id, r.sequence
		}
		s.sequence++
		m.sequence = firstSequence + s.sequence
		s.dedup[key] = remembered{id: m.id, sequence: m.sequence, until: now.Add(dedupWindow)}
	}
	m.sent = now
	m.visible = now.Add(delay)
	m.retention = now.Add(s.Retention)
	s.push(m)
	return m.id, m.sequence
}

func (s *store) push(m *message) {
	s.messages = append(s.messages, m)
	s.live++
	s.wake()
}

// expire drops messages older than the retention period.
func (s *store) expire(now time.Time) {
	for _, m := range s.messages {
		if !m.gone && !m.held && now.After(m.retention) {
			s.remove(m)
		}
	}
	s.compact()
}

func (s *store) remove(m *message) {
	if m.gone {
		return
	}
	m.gone = true
	m.held = false
	s.live--
	delete(s.receipts, m.receipt)
	if s.FIFO {
		s.wake() // the group may go on
	}
}

func (s *store) compact() {
	if len(s.messages) < 2*s.live+16 {
		return
	}
	kept := make([]*message, 0, s.live)
	for _, m := range s.messages {
		if !m.gone {
			kept = append(kept, m)
		}
	}
	s.messages = kept
}

// wish is what a receiver asks for.
type wish struct {
	max int
	// bytes bounds the sum of the sizes; one message is always given. Zero
	// means no bound.
	bytes int
	hide  time.Duration
	held  bool
}

// receive hands out messages and takes out those that have been received too
// often, which belong into the dead-letter queue.
func (s *store) receive(now time.Time, w wish, handle func() string) (out, dead []*message) {
	s.expire(now)
	flying, bytes := 0, 0
	if s.live > maxInFlight {
		flying = s.depth(now).InFlight
	}
	blocked := make(map[string]bool)
	for _, m := range s.messages {
		if len(out) == w.max || flying+len(out) >= maxInFlight {
			break
		}
		if m.gone || (s.FIFO && blocked[m.group]) {
			continue
		}
		if m.held || now.Before(m.visible) {
			// A FIFO group waits for its oldest message.
			blocked[m.group] = true
			continue
		}
		if s.DeadLetterARN != "" && m.received >= s.MaxReceive {
			s.remove(m)
			dead = append(dead, m)
			continue
		}
		if bytes += m.size(); w.bytes > 0 && bytes > w.bytes && len(out) > 0 {
			break
		}
		delete(s.receipts, m.receipt)
		m.receipt = handle()
		s.receipts[m.receipt] = m
		m.received++
		if m.first.IsZero() {
			m.first = now
		}
		m.visible = now.Add(w.hide)
		m.held = w.held
		out = append(out, m)
	}
	return out, dead
}

// redrive takes a message over from the queue that gave up on it. A standard
// queue keeps the time at which it was first sent, and so its age for the
// retention period; a FIFO queue starts anew.
func (s *store) redrive(now time.Time, m *message, from string) {
	copied := *m
	copied.gone, copied.held, copied.receipt, copied.received = false, false, "", 0
	copied.first = time.Time{}
	copied.deadOf = from
	copied.visible = now.Add(s.Delay)
	copied.retention = m.sent.Add(s.Retention)
	if s.FIFO {
		s.sequence++
		copied.sequence = firstSequence + s.sequence
		copied.retention = now.Add(s.Retention)
		// Two messages may have had the same deduplication id (SQS developer guide,
		// "Learn how to configure a dead-letter queue redrive").
		copied.dedup = m.id
	}
	s.push(&copied)
}

// due returns when the next hidden message shows up by itself.
func (s *store) due(now time.Time) (time.Time, bool) {
	var next time.Time
	found := false
	for _, m := range s.messages {
		if m.gone || m.held || !now.Before(m.visible) {
			continue
		}
		if !found || m.visible.Before(next) {
			next, found = m.visible, true
		}
	}
	return next, found
}

func (s *store) depth(now time.Time) Depth {
	var d Depth
	for _, m := range s.messages {
		switch {
		case m.gone || now.After(m.retention) && !m.held:
		case m.inFlight(now):
			d.InFlight++
			if m.held {
				d.Held++
			}
		case now.Before(m.visible):
			d.Delayed++
		default:
			d.Visible++
		}
	}
	return d
}

func (s *store) purge(now time.Time) {
	for _, m := range s.messages {
		if !m.gone {
			s.remove(m)
		}
	}
	s.messages = nil
	s.purged = now
	s.wake()
}
