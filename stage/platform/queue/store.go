package queue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"rollcall/stage/platform/wire"
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

// receiveRequest is what a receiver asks for.
type receiveRequest struct {
	max int
	// bytes bounds the sum of the sizes; one message is always given. Zero
	// means no bound.
	bytes int
	hide  time.Duration
	held  bool
}

// receive hands out messages and takes out those that have been received too
// often, which belong into the dead-letter queue.
func (s *store) receive(now time.Time, w receiveRequest, handle func() string) (out, dead []*message) {
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
			for _, m := range q.take(s, now, receiveRequest{max: max - len(batch), bytes: room, hide: *s.Visibility, held: true}) {
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
func (q *Queues) take(s *store, now time.Time, w receiveRequest) []*message {
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

// What the rules here are taken from: SQS API reference, StartMessageMoveTask,
// ListMessageMoveTasks and ListDeadLetterSourceQueues (also botocore's model,
// sqs/2012-11-05); SQS developer guide, "Learn how to configure a dead-letter
// queue redrive" (redriven messages are new ones, with a new id and time; a FIFO
// dead-letter queue goes to a FIFO queue) and "Troubleshoot DLQ redrive issues"
// (CouldNotDetermineMessageSource). The words of the refusals are those that moto
// and LocalStack record.

// moving is how long a move task runs at least.
const moving = time.Second

// moveTask is a move of all that a dead-letter queue held when it began.
type moveTask struct {
	handle      string
	source      string
	destination string // empty: each message's own source
	began       time.Time
	moved, all  int
	failed      string
}

func (t moveTask) status(now time.Time) string {
	switch {
	case now.Sub(t.began) < moving:
		return "RUNNING"
	case t.failed != "":
		return "FAILED"
	}
	return "COMPLETED"
}

// ListQueues lists the queues whose names begin with a prefix.
func (q *Queues) ListQueues(in *sqs.ListQueuesInput) (*sqs.ListQueuesOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := &sqs.ListQueuesOutput{}
	for _, s := range q.queues {
		if strings.HasPrefix(s.Name, aws.ToString(in.QueueNamePrefix)) {
			out.QueueUrls = append(out.QueueUrls, s.URL)
		}
	}
	slices.Sort(out.QueueUrls)
	return out, nil
}

// ListDeadLetterSourceQueues lists the queues whose dead letters go to this one.
func (q *Queues) ListDeadLetterSourceQueues(in *sqs.ListDeadLetterSourceQueuesInput) (*sqs.ListDeadLetterSourceQueuesOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	out := &sqs.ListDeadLetterSourceQueuesOutput{QueueUrls: []string{}}
	for _, other := range q.queues {
		if other.DeadLetterARN == s.ARN {
			out.QueueUrls = append(out.QueueUrls, other.URL)
		}
	}
	slices.Sort(out.QueueUrls)
	return out, nil
}

// StartMessageMoveTask moves what a dead-letter queue of another queue holds:
// where a destination is named to it, else each message to the queue that it came
// from. One that was sent to the dead-letter queue itself came from none.
func (q *Queues) StartMessageMoveTask(in *sqs.StartMessageMoveTaskInput) (*sqs.StartMessageMoveTaskOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	source, ok := q.queues[aws.ToString(in.SourceArn)]
	if !ok {
		return nil, noResource("SourceArn")
	}
	dead := false
	for _, s := range q.queues {
		dead = dead || s.DeadLetterARN == source.ARN
	}
	if !dead {
		return nil, invalid("Source queue must be configured as a Dead Letter Queue.")
	}
	var to *store
	if name := aws.ToString(in.DestinationArn); name != "" {
		if to, ok = q.queues[name]; !ok {
			return nil, noResource("DestinationArn")
		}
		if to.FIFO != source.FIFO {
			return nil, invalid("The source queue and destination queue must be of the same queue type.")
		}
	}
	if n := aws.ToInt32(in.MaxNumberOfMessagesPerSecond); n != 0 && (n < 1 || n > 500) {
		return nil, invalid("Value %d for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must specify a value between 1 and 500.", n)
	}
	now := q.clock.Now()
	for _, t := range q.moves {
		if t.source == source.ARN && t.status(now) == "RUNNING" {
			return nil, invalid("There is already a task running. Only one active task is allowed for a source queue arn at a given time.")
		}
	}
	t := moveTask{handle: q.newID(), source: source.ARN, destination: aws.ToString(in.DestinationArn), began: now}
	q.move(&t, source, to, now)
	q.moves = append(q.moves, t)
	return &sqs.StartMessageMoveTaskOutput{TaskHandle: aws.String(t.handle)}, nil
}

// move does it. What a consumer has received stays.
func (q *Queues) move(t *moveTask, source, to *store, now time.Time) {
	source.expire(now)
	for _, m := range slices.Clone(source.messages) {
		if m.gone || m.held || now.Before(m.visible) {
			continue
		}
		t.all++
		target := to
		if target == nil {
			target = q.queues[m.deadOf]
		}
		if target == nil {
			t.failed = "CouldNotDetermineMessageSource"
			return
		}
		copied := message{id: q.newID(), body: m.body, attributes: m.attributes, trace: m.trace, group: m.group, dedup: m.dedup}
		source.remove(m)
		target.send(now, &copied, target.Delay)
		t.moved++
	}
}

// ListMessageMoveTasks lists the last tasks of a dead-letter queue, the newest
// first.
func (q *Queues) ListMessageMoveTasks(in *sqs.ListMessageMoveTasksInput) (*sqs.ListMessageMoveTasksOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.queues[aws.ToString(in.SourceArn)]; !ok {
		return nil, noResource("SourceArn")
	}
	most := int(cmp.Or(aws.ToInt32(in.MaxResults), 1))
	if most < 1 || most > 10 {
		return nil, invalid("Value %d for parameter MaxResults is invalid. Reason: MaxResults must be between 1 and 10.", most)
	}
	out, now := &sqs.ListMessageMoveTasksOutput{}, q.clock.Now()
	for _, t := range slices.Backward(q.moves) {
		if t.source != aws.ToString(in.SourceArn) || len(out.Results) == most {
			continue
		}
		r := types.ListMessageMoveTasksResultEntry{
			SourceArn: aws.String(t.source), Status: aws.String(t.status(now)), StartedTimestamp: t.began.UnixMilli(),
			ApproximateNumberOfMessagesMoved: int64(t.moved), ApproximateNumberOfMessagesToMove: aws.Int64(int64(t.all)),
		}
		if t.destination != "" {
			r.DestinationArn = aws.String(t.destination)
		}
		switch *r.Status {
		case "RUNNING":
			r.TaskHandle = aws.String(t.handle)
		case "FAILED":
			r.FailureReason = aws.String(t.failed)
		}
		out.Results = append(out.Results, r)
	}
	return out, nil
}

func noResource(parameter string) *wire.Error {
	return &wire.Error{Code: "ResourceNotFoundException", Status: 404, Message: "The resource that you specified for the " + parameter + " parameter doesn't exist."}
}
