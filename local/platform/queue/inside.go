package queue

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"rollcall/local/platform/wire"
)

// Outgoing is a message to send from inside the stage.
type Outgoing struct {
	Body       string
	Attributes map[string]types.MessageAttributeValue
	// Group and Dedup are for FIFO queues.
	Group, Dedup string
}

// Message is a received message.
type Message struct {
	ID         string
	Receipt    string
	Body       string
	Attributes map[string]types.MessageAttributeValue
	// System holds ApproximateReceiveCount, SentTimestamp (stage time) and
	// the other attributes that SQS adds.
	System map[string]string
	// Received is the stage time of the receive.
	Received time.Time
}

// BodyDigest is the MD5 of the body, in hexadecimal.
func (m Message) BodyDigest() string { return bodyDigest(m.Body) }

// Send puts a message into the queue with that ARN and returns its id.
func (q *Queues) Send(arn string, out Outgoing) (string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, ok := q.queues[arn]
	if !ok {
		return "", fmt.Errorf("send to %q: %w", arn, noQueue())
	}
	id, _, err := q.send(s, &message{body: out.Body, attributes: out.Attributes, group: out.Group, dedup: out.Dedup}, 0)
	if err != nil {
		return "", fmt.Errorf("send to %q: %w", arn, err)
	}
	return id, nil
}

// SendText sends a body to a standard queue with string attributes: the form
// of dead letters and of destinations.
func (q *Queues) SendText(arn, body string, attributes map[string]string) error {
	out := Outgoing{Body: body}
	for name, value := range attributes {
		if value == "" {
			continue // SQS has no empty attributes
		}
		if out.Attributes == nil {
			out.Attributes = make(map[string]types.MessageAttributeValue, len(attributes))
		}
		kind := "String"
		out.Attributes[name] = types.MessageAttributeValue{DataType: &kind, StringValue: &value}
	}
	_, err := q.Send(arn, out)
	return err
}

// maxPayload is what one Lambda invocation takes; a batch stays below it.
const maxPayload = 6 << 20

// Receive waits for messages like the poller of an event source mapping: it
// returns once there are max messages, or once the window (stage time) since
// the first has passed, whichever is first, and with none only when the
// context has ended or the queues are closed.
//
// The messages are held until Delete or Return, without a timeout: AWS
// accepts a mapping only if the queue's visibility timeout is at least the
// function's timeout, so while its function runs a message never shows up
// again. On the stage functions run in wall time, and a timeout scaled down
// would break just that.
func (q *Queues) Receive(ctx context.Context, arn string, max int, window time.Duration) ([]Message, error) {
	batch := []Message{}
	size := 0
	var end time.Time
	for {
		q.mu.Lock()
		s, ok := q.queues[arn]
		if !ok {
			q.mu.Unlock()
			return nil, fmt.Errorf("receive from %q: %w", arn, noQueue())
		}
		now := q.clock.Now()
		if room := maxPayload - size; len(batch) < max && room >= s.MaxBytes {
			for _, m := range q.take(s, now, wish{max: max - len(batch), bytes: room, hide: *s.Visibility, held: true}) {
				size += m.size()
				batch = append(batch, received(m, now))
			}
		}
		if len(batch) > 0 && end.IsZero() {
			end = now.Add(window)
		}
		full := len(batch) == max || size > maxPayload-s.MaxBytes
		if full || (len(batch) > 0 && !now.Before(end)) {
			q.mu.Unlock()
			return batch, nil
		}
		wait, changed := q.until(s, now, end), s.changed
		q.mu.Unlock()
		if !q.wait(ctx, changed, wait) {
			q.giveBack(arn, batch)
			return nil, ctx.Err()
		}
	}
}

// giveBack undoes a receive that never got to a function.
func (q *Queues) giveBack(arn string, batch []Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.queues[arn]
	for _, b := range batch {
		if m, ok := s.receipts[b.Receipt]; ok {
			m.held, m.visible = false, q.clock.Now()
			m.received--
		}
	}
	s.wake()
}

// Delete removes messages that were dealt with.
func (q *Queues) Delete(arn string, batch ...Message) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, ok := q.queues[arn]
	if !ok {
		return fmt.Errorf("delete from %q: %w", arn, noQueue())
	}
	for _, b := range batch {
		if m, ok := s.receipts[b.Receipt]; ok {
			s.remove(m)
		}
	}
	s.compact()
	return nil
}

// Return ends the hold on messages that were not dealt with: they show up
// again when the visibility timeout since their receive has passed.
func (q *Queues) Return(arn string, batch ...Message) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, ok := q.queues[arn]
	if !ok {
		return fmt.Errorf("return to %q: %w", arn, noQueue())
	}
	for _, b := range batch {
		if m, ok := s.receipts[b.Receipt]; ok && m.held {
			m.held = false
			// A function may have changed the timeout meanwhile, see
			// ChangeMessageVisibility: m.visible is right either way.
		}
	}
	s.wake()
	return nil
}

// take receives from a store and moves what was received too often.
func (q *Queues) take(s *store, now time.Time, w wish) []*message {
	out, dead := s.receive(now, w, q.newID)
	for _, m := range dead {
		if to, ok := q.queues[s.DeadLetterARN]; ok {
			to.redrive(now, m, s.ARN)
		}
	}
	return out
}

// until returns how long nothing can change by time alone; negative means
// for ever. A zero end is no end.
func (q *Queues) until(s *store, now, end time.Time) time.Duration {
	next, ok := s.due(now)
	if !end.IsZero() && (!ok || end.Before(next)) {
		next, ok = end, true
	}
	if !ok {
		return -1
	}
	return next.Sub(now)
}

// wait returns true when something may have changed and false when the
// context or the queues ended.
func (q *Queues) wait(ctx context.Context, changed <-chan struct{}, d time.Duration) bool {
	var fired <-chan time.Time
	if d >= 0 {
		t := q.clock.NewTimer(d)
		defer t.Stop()
		fired = t.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-q.closed:
		return false
	case <-changed:
		return true
	case <-fired:
		return true
	}
}

// send checks a message and takes it in.
func (q *Queues) send(s *store, m *message, delay time.Duration) (string, int64, *wire.Error) {
	if err := s.check(m, delay); err != nil {
		return "", 0, err
	}
	if delay == 0 {
		delay = s.Delay
	}
	if s.FIFO && m.dedup == "" {
		m.dedup = contentHash(m.body)
	}
	m.id = q.newID()
	id, sequence := s.send(q.clock.Now(), m, delay)
	q.sent(s.Name, m.body)
	return id, sequence, nil
}

func received(m *message, now time.Time) Message {
	return Message{ID: m.id, Receipt: m.receipt, Body: m.body, Attributes: m.attributes, System: m.system(), Received: now}
}

// senderID is the principal that all senders of the stage have.
const senderID = "AROAROLLCALLSTAGE00000:stage"

func (m *message) system() map[string]string {
	millis := func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }
	out := map[string]string{
		"ApproximateReceiveCount":          strconv.Itoa(m.received),
		"ApproximateFirstReceiveTimestamp": millis(m.first),
		"SentTimestamp":                    millis(m.sent),
		"SenderId":                         senderID,
	}
	for name, value := range map[string]string{
		"MessageGroupId": m.group, "AWSTraceHeader": m.trace, "DeadLetterQueueSourceArn": m.deadOf,
	} {
		if value != "" {
			out[name] = value
		}
	}
	if m.sequence != 0 {
		out["SequenceNumber"] = fmt.Sprintf("%020d", m.sequence)
		out["MessageDeduplicationId"] = m.dedup
	}
	return out
}
