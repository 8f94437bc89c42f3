// Package queue is the SQS of the local stage: standard and FIFO queues with
// delays, visibility timeouts, redrive to dead-letter queues, deduplication
// and long polling, all on the stage clock.
//
// The engine (store) gets the time and holds no clock, so that what a
// queue does is a function of its calls. Queues adds the clock, the locking,
// the waiting and two ways in: the methods of the SQS API, for the functions
// and the AWS CLI, and the in-process methods that the event router uses.
package queue

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simclock"
)

// Defaults that SQS gives a queue which does not set the attribute.
const (
	DefaultVisibility = 30 * time.Second
	DefaultRetention  = 4 * 24 * time.Hour
	// MaxMessageBytes is the largest message, and the largest batch: 1 MiB.
	MaxMessageBytes = 1 << 20
	// maxDelay bounds DelaySeconds of queues and messages.
	maxDelay = 15 * time.Minute
	// maxVisibility bounds visibility timeouts.
	maxVisibility = 12 * time.Hour
	// dedupWindow is how long a FIFO queue remembers a deduplication id.
	dedupWindow = 5 * time.Minute
	// maxInFlight is the number of messages that a queue has in flight at
	// most.
	maxInFlight = 120_000
)

// Config describes one queue.
type Config struct {
	Name string
	ARN  string
	// URL is what clients send as QueueUrl.
	URL string
	// FIFO is set for queues whose name ends in ".fifo".
	FIFO bool
	// ContentDedup makes the SHA-256 of the body the deduplication id of
	// messages that bring none.
	ContentDedup bool
	// DedupByGroup makes a deduplication id count within its group only.
	DedupByGroup bool
	Delay        time.Duration
	// Visibility is the visibility timeout. Nil means DefaultVisibility; zero
	// is a real value.
	Visibility *time.Duration
	// Retention of zero means DefaultRetention.
	Retention time.Duration
	// Wait is the queue's ReceiveMessageWaitTimeSeconds.
	Wait time.Duration
	// MaxBytes of zero means MaxMessageBytes.
	MaxBytes int
	// DeadLetterARN is where messages go that were received MaxReceive times.
	DeadLetterARN string
	MaxReceive    int
}

// Options are the settings of all queues.
type Options struct {
	// Clock is the stage clock.
	Clock *simclock.Clock
	// NewID makes message ids and receipt handles; each call gives a new one.
	NewID func() string
	// VisibilityFloor is the shortest time on the wall for which a message
	// received through the API stays hidden; zero means 2 seconds. Stage
	// time may run hundreds of times faster than the wall, but a function
	// works in wall time: without the floor, a visibility timeout of 5
	// minutes at rate 600 would be over after half a second, while its
	// receiver is still at work, and each message would be seen twice.
	VisibilityFloor time.Duration
	// Sent, if any, takes each message that a queue took in, in the order of
	// sending.
	Sent func(queue, body string)
}

// Queues holds the queues of one stage. It is safe for concurrent use.
type Queues struct {
	clock *simclock.Clock
	newID func() string
	floor time.Duration
	sent  func(queue, body string)

	mu     sync.Mutex
	queues map[string]*store // by ARN
	moves  []moveTask        // the oldest first
	closed chan struct{}
	once   sync.Once
}

// New returns a Queues without queues.
func New(o Options) *Queues {
	if o.VisibilityFloor == 0 {
		o.VisibilityFloor = 2 * time.Second
	}
	if o.Sent == nil {
		o.Sent = func(string, string) {}
	}
	return &Queues{
		clock: o.Clock, newID: o.NewID, floor: o.VisibilityFloor, sent: o.Sent,
		queues: make(map[string]*store), closed: make(chan struct{}),
	}
}

// Add creates a queue. A dead-letter queue must be there first or be added
// before the first message is sent.
func (q *Queues) Add(c Config) error {
	if c.FIFO != strings.HasSuffix(c.Name, ".fifo") {
		return fmt.Errorf("queue %q: the names of FIFO queues, and only they, end in .fifo", c.Name)
	}
	if c.Delay < 0 || c.Delay > maxDelay {
		return fmt.Errorf("queue %q: delay %v is not between 0 and %v", c.Name, c.Delay, maxDelay)
	}
	if c.DeadLetterARN != "" && c.MaxReceive < 1 {
		return fmt.Errorf("queue %q: maxReceiveCount %d is less than 1", c.Name, c.MaxReceive)
	}
	if c.Visibility == nil {
		d := DefaultVisibility
		c.Visibility = &d
	}
	if *c.Visibility < 0 || *c.Visibility > maxVisibility {
		return fmt.Errorf("queue %q: visibility timeout %v is not between 0 and %v", c.Name, *c.Visibility, maxVisibility)
	}
	if c.Retention == 0 {
		c.Retention = DefaultRetention
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = MaxMessageBytes
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.queues {
		if s.Name == c.Name || s.ARN == c.ARN || s.URL == c.URL {
			return fmt.Errorf("queue %q: name, ARN or URL is taken", c.Name)
		}
	}
	q.queues[c.ARN] = newStore(c, q.clock.Now())
	return nil
}

// Close ends all waiting calls; a call that comes later does not wait.
func (q *Queues) Close() { q.once.Do(func() { close(q.closed) }) }

// Depth counts the messages of a queue.
type Depth struct {
	// Visible messages can be received now.
	Visible int
	// InFlight messages were received and neither deleted nor returned.
	InFlight int
	// Held are those in flight that a poller of the stage has in hand.
	Held int
	// Delayed messages wait for their first delivery.
	Delayed int
}

// Depth counts the messages of the queue with that ARN now.
func (q *Queues) Depth(arn string) (Depth, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, ok := q.queues[arn]
	if !ok {
		return Depth{}, noQueue()
	}
	return s.depth(q.clock.Now()), nil
}

func noQueue() *wire.Error {
	return &wire.Error{Code: "QueueDoesNotExist", Status: 400,
		Message: "The specified queue does not exist."}
}

// The methods of the SQS API. They take and return what the SDK does, and
// their errors are *wire.Error with the codes of SQS.
//
// In the SDK's inputs DelaySeconds, VisibilityTimeout and WaitTimeSeconds are
// plain integers, and zero is not sent: zero means the queue's own value
// here, except in ChangeMessageVisibility, where the value is required.

// find returns the queue that a QueueUrl names. SQS accepts any host.
func (q *Queues) find(url *string) (*store, error) {
	if aws.ToString(url) == "" {
		return nil, missing("QueueUrl")
	}
	path := func(u string) string {
		if _, rest, ok := strings.Cut(u, "://"); ok {
			_, rest, _ = strings.Cut(rest, "/")
			return rest
		}
		return u
	}
	for _, s := range q.queues {
		if s.URL == *url || path(s.URL) == path(*url) {
			return s, nil
		}
	}
	return nil, noQueue()
}

// GetQueueUrl finds a queue by its name.
func (q *Queues) GetQueueUrl(in *sqs.GetQueueUrlInput) (*sqs.GetQueueUrlOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.queues {
		if s.Name == aws.ToString(in.QueueName) {
			return &sqs.GetQueueUrlOutput{QueueUrl: aws.String(s.URL)}, nil
		}
	}
	return nil, noQueue()
}

// SendMessage sends one message.
func (q *Queues) SendMessage(in *sqs.SendMessageInput) (*sqs.SendMessageOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	m := &message{
		body: aws.ToString(in.MessageBody), attributes: in.MessageAttributes,
		group: aws.ToString(in.MessageGroupId), dedup: aws.ToString(in.MessageDeduplicationId),
		trace: traceOf(in.MessageSystemAttributes),
	}
	id, sequence, refused := q.send(s, m, seconds(in.DelaySeconds))
	if refused != nil {
		return nil, refused
	}
	out := &sqs.SendMessageOutput{MessageId: aws.String(id), MD5OfMessageBody: aws.String(bodyDigest(m.body))}
	if d := attributeDigest(m.attributes); d != "" {
		out.MD5OfMessageAttributes = aws.String(d)
	}
	if s.FIFO {
		out.SequenceNumber = aws.String(fmt.Sprintf("%020d", sequence))
	}
	return out, nil
}

// ReceiveMessage receives up to ten messages, waiting for the first one if
// long polling is asked for.
func (q *Queues) ReceiveMessage(in *sqs.ReceiveMessageInput) (*sqs.ReceiveMessageOutput, error) {
	max := int(in.MaxNumberOfMessages)
	if max == 0 {
		max = 1
	}
	if max < 1 || max > 10 {
		return nil, invalid("Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.", max)
	}
	if in.WaitTimeSeconds < 0 || in.WaitTimeSeconds > 20 {
		return nil, invalid("Value %d for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.", in.WaitTimeSeconds)
	}
	if d := seconds(in.VisibilityTimeout); d < 0 || d > maxVisibility {
		return nil, invalid("Value %d for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.", in.VisibilityTimeout)
	}
	var end time.Time
	for {
		q.mu.Lock()
		s, err := q.find(in.QueueUrl)
		if err != nil {
			q.mu.Unlock()
			return nil, err
		}
		now := q.clock.Now()
		if end.IsZero() {
			end = now.Add(s.Wait)
			if in.WaitTimeSeconds > 0 {
				end = now.Add(seconds(in.WaitTimeSeconds))
			}
		}
		hide := *s.Visibility
		if in.VisibilityTimeout > 0 {
			hide = seconds(in.VisibilityTimeout)
		}
		got := q.take(s, now, receiveRequest{max: max, hide: q.atLeastFloor(hide)})
		if len(got) > 0 || !now.Before(end) {
			out := &sqs.ReceiveMessageOutput{}
			for _, m := range got {
				out.Messages = append(out.Messages, present(m, in))
			}
			q.mu.Unlock()
			return out, nil
		}
		wait, changed := q.until(s, now, end), s.changed
		q.mu.Unlock()
		if !q.wait(context.Background(), changed, wait) {
			return &sqs.ReceiveMessageOutput{}, nil
		}
	}
}

// atLeastFloor stretches a timeout to the floor, see Options. Zero stays.
func (q *Queues) atLeastFloor(hide time.Duration) time.Duration {
	if floor := q.clock.Stage(q.floor); hide > 0 && hide < floor {
		return floor
	}
	return hide
}

// present chooses the attributes that the caller asked for.
func present(m *message, in *sqs.ReceiveMessageInput) types.Message {
	out := types.Message{
		MessageId: aws.String(m.id), ReceiptHandle: aws.String(m.receipt),
		Body: aws.String(m.body), MD5OfBody: aws.String(bodyDigest(m.body)),
	}
	wanted := make(map[string]bool)
	for _, n := range in.MessageSystemAttributeNames {
		wanted[string(n)] = true
	}
	//lint:ignore SA1019 the AWS CLI v1 and older SDKs still send it
	for _, n := range in.AttributeNames {
		wanted[string(n)] = true
	}
	for name, value := range m.system() {
		if wanted["All"] || wanted[name] {
			if out.Attributes == nil {
				out.Attributes = make(map[string]string)
			}
			out.Attributes[name] = value
		}
	}
	for name, value := range m.attributes {
		if !asked(in.MessageAttributeNames, name) {
			continue
		}
		if out.MessageAttributes == nil {
			out.MessageAttributes = make(map[string]types.MessageAttributeValue)
		}
		out.MessageAttributes[name] = value
	}
	if d := attributeDigest(out.MessageAttributes); d != "" {
		out.MD5OfMessageAttributes = aws.String(d)
	}
	return out
}

// asked tells if a list of message attribute names ("All", ".*", "bar.*" or
// plain) covers a name.
func asked(names []string, name string) bool {
	for _, n := range names {
		if n == "All" || n == ".*" || n == name {
			return true
		}
		if prefix, ok := strings.CutSuffix(n, ".*"); ok && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// DeleteMessage deletes a received message. A handle that is no longer the
// last one of its message deletes nothing and is no error, as in SQS.
func (q *Queues) DeleteMessage(in *sqs.DeleteMessageInput) (*sqs.DeleteMessageOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if aws.ToString(in.ReceiptHandle) == "" {
		return nil, missing("ReceiptHandle")
	}
	if m, ok := s.receipts[*in.ReceiptHandle]; ok {
		s.remove(m)
		s.compact()
	}
	return &sqs.DeleteMessageOutput{}, nil
}

// ChangeMessageVisibility sets anew, from now, how long a message in flight
// stays hidden.
func (q *Queues) ChangeMessageVisibility(in *sqs.ChangeMessageVisibilityInput) (*sqs.ChangeMessageVisibilityOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	d := seconds(in.VisibilityTimeout)
	if d < 0 || d > maxVisibility {
		return nil, invalid("Value %d for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.", in.VisibilityTimeout)
	}
	m, ok := s.receipts[aws.ToString(in.ReceiptHandle)]
	if !ok {
		return nil, invalid("Value %s for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.", aws.ToString(in.ReceiptHandle))
	}
	now := q.clock.Now()
	if !m.inFlight(now) {
		return nil, invalid("Value %s for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.", aws.ToString(in.ReceiptHandle))
	}
	if !m.held {
		d = q.atLeastFloor(d)
	}
	m.visible = now.Add(d)
	s.wake()
	return &sqs.ChangeMessageVisibilityOutput{}, nil
}

// PurgeQueue deletes all messages, at most once in 60 seconds.
func (q *Queues) PurgeQueue(in *sqs.PurgeQueueInput) (*sqs.PurgeQueueOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	now := q.clock.Now()
	if !s.purged.IsZero() && now.Sub(s.purged) < time.Minute {
		return nil, purgeInProgress(s.Name)
	}
	s.purge(now)
	return &sqs.PurgeQueueOutput{}, nil
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }

func traceOf(attributes map[string]types.MessageSystemAttributeValue) string {
	return aws.ToString(attributes[string(types.MessageSystemAttributeNameForSendsAWSTraceHeader)].StringValue)
}

// GetQueueAttributes returns the attributes that were asked for.
func (q *Queues) GetQueueAttributes(in *sqs.GetQueueAttributesInput) (*sqs.GetQueueAttributesOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	all, err := s.attributes(q.clock.Now())
	if err != nil {
		return nil, err
	}
	out := &sqs.GetQueueAttributesOutput{Attributes: map[string]string{}}
	for _, name := range in.AttributeNames {
		if name == types.QueueAttributeNameAll {
			out.Attributes = all
			return out, nil
		}
		if !known(name) {
			return nil, wire.Errorf("InvalidAttributeName", "Unknown Attribute %s.", name)
		}
		if v, ok := all[string(name)]; ok {
			out.Attributes[string(name)] = v
		}
	}
	return out, nil
}

func known(name types.QueueAttributeName) bool {
	for _, n := range name.Values() {
		if n == name {
			return true
		}
	}
	return false
}

func (s *store) attributes(now time.Time) (map[string]string, error) {
	secs := func(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
	d := s.depth(now)
	out := map[string]string{
		"QueueArn":                              s.ARN,
		"ApproximateNumberOfMessages":           strconv.Itoa(d.Visible),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(d.InFlight),
		"ApproximateNumberOfMessagesDelayed":    strconv.Itoa(d.Delayed),
		"CreatedTimestamp":                      strconv.FormatInt(s.created.Unix(), 10),
		"LastModifiedTimestamp":                 strconv.FormatInt(s.created.Unix(), 10),
		"VisibilityTimeout":                     secs(*s.Visibility),
		"MaximumMessageSize":                    strconv.Itoa(s.MaxBytes),
		"MessageRetentionPeriod":                secs(s.Retention),
		"DelaySeconds":                          secs(s.Delay),
		"ReceiveMessageWaitTimeSeconds":         secs(s.Wait),
		"SqsManagedSseEnabled":                  "true",
	}
	if s.FIFO {
		out["FifoQueue"] = "true"
		out["ContentBasedDeduplication"] = strconv.FormatBool(s.ContentDedup)
	}
	if s.DeadLetterARN != "" {
		policy, err := json.Marshal(struct {
			Target string `json:"deadLetterTargetArn"`
			Max    int    `json:"maxReceiveCount"`
		}{s.DeadLetterARN, s.MaxReceive})
		if err != nil {
			return nil, err
		}
		out["RedrivePolicy"] = string(policy)
	}
	return out, nil
}

func purgeInProgress(name string) *wire.Error {
	return &wire.Error{Code: "PurgeQueueInProgress", Status: 403,
		Message: fmt.Sprintf("Only one PurgeQueue operation on %s is allowed every 60 seconds.", name)}
}

// checkBatch judges what makes SQS refuse a batch as a whole.
func checkBatch(ids []string, bytes int) *wire.Error {
	switch {
	case len(ids) == 0:
		return wire.Errorf("EmptyBatchRequest", "There should be at least one entry in the request.")
	case len(ids) > 10:
		return wire.Errorf("TooManyEntriesInBatchRequest", "Maximum number of entries per request are 10. You have sent %d.", len(ids))
	case bytes > MaxMessageBytes:
		return wire.Errorf("BatchRequestTooLong", "Batch requests cannot be longer than %d bytes. You have sent %d bytes.", MaxMessageBytes, bytes)
	}
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		if !batchID(id) {
			return wire.Errorf("InvalidBatchEntryId", "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.")
		}
		if seen[id] {
			return wire.Errorf("BatchEntryIdsNotDistinct", "Id %s repeated.", id)
		}
		seen[id] = true
	}
	return nil
}

func batchID(id string) bool {
	if len(id) == 0 || len(id) > 80 {
		return false
	}
	for i := 0; i < len(id); i++ {
		c := id[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}

func failedEntry(id *string, e *wire.Error) types.BatchResultErrorEntry {
	// Entries carry the codes of the query protocol also over JSON.
	return types.BatchResultErrorEntry{Id: id, Code: aws.String(wire.SQSQueryCode(e.Code)), Message: aws.String(e.Message), SenderFault: true}
}

// SendMessageBatch sends up to ten messages; each succeeds or fails alone.
func (q *Queues) SendMessageBatch(in *sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	ids, total := make([]string, len(in.Entries)), 0
	messages := make([]*message, len(in.Entries))
	for i, e := range in.Entries {
		ids[i] = aws.ToString(e.Id)
		messages[i] = &message{
			body: aws.ToString(e.MessageBody), attributes: e.MessageAttributes,
			group: aws.ToString(e.MessageGroupId), dedup: aws.ToString(e.MessageDeduplicationId),
			trace: traceOf(e.MessageSystemAttributes),
		}
		total += messages[i].size()
	}
	if refused := checkBatch(ids, total); refused != nil {
		return nil, refused
	}
	out := &sqs.SendMessageBatchOutput{}
	for i, e := range in.Entries {
		m := messages[i]
		id, sequence, refused := q.send(s, m, seconds(e.DelaySeconds))
		if refused != nil {
			out.Failed = append(out.Failed, failedEntry(e.Id, refused))
			continue
		}
		done := types.SendMessageBatchResultEntry{Id: e.Id, MessageId: aws.String(id), MD5OfMessageBody: aws.String(bodyDigest(m.body))}
		if d := attributeDigest(m.attributes); d != "" {
			done.MD5OfMessageAttributes = aws.String(d)
		}
		if s.FIFO {
			done.SequenceNumber = aws.String(fmt.Sprintf("%020d", sequence))
		}
		out.Successful = append(out.Successful, done)
	}
	return out, nil
}

// DeleteMessageBatch deletes up to ten messages.
func (q *Queues) DeleteMessageBatch(in *sqs.DeleteMessageBatchInput) (*sqs.DeleteMessageBatchOutput, error) {
	ids := make([]string, len(in.Entries))
	for i, e := range in.Entries {
		ids[i] = aws.ToString(e.Id)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if refused := checkBatch(ids, 0); refused != nil {
		return nil, refused
	}
	out := &sqs.DeleteMessageBatchOutput{}
	for _, e := range in.Entries {
		if aws.ToString(e.ReceiptHandle) == "" {
			out.Failed = append(out.Failed, failedEntry(e.Id, missing("ReceiptHandle")))
			continue
		}
		if m, ok := s.receipts[*e.ReceiptHandle]; ok {
			s.remove(m)
		}
		out.Successful = append(out.Successful, types.DeleteMessageBatchResultEntry{Id: e.Id})
	}
	s.compact()
	return out, nil
}

func invalid(format string, args ...any) *wire.Error {
	return wire.Errorf("InvalidParameterValueException", format, args...)
}

func missing(name string) *wire.Error {
	return wire.Errorf("MissingRequiredParameterException", "The request must contain the parameter %s.", name)
}

// check tells if SQS would take the message.
func (s *store) check(m *message, delay time.Duration) *wire.Error {
	if m.body == "" {
		return missing("MessageBody")
	}
	if !allowedText(m.body) {
		return wire.Errorf("InvalidMessageContents", "The message contains characters outside the allowed set.")
	}
	if m.size() > s.MaxBytes {
		return invalid("One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", s.MaxBytes)
	}
	if len(m.attributes) > 10 {
		return invalid("Number of message attributes [%d] exceeds the allowed maximum [10].", len(m.attributes))
	}
	for name, a := range m.attributes {
		if a.DataType == nil || (a.StringValue == nil && len(a.BinaryValue) == 0) {
			return invalid("The message attribute '%s' must contain a non-empty type and value.", name)
		}
		base, _, _ := strings.Cut(*a.DataType, ".")
		if base != "String" && base != "Number" && base != "Binary" {
			return invalid("The type of message (user) attribute '%s' is invalid. You must use only the following supported type prefixes: Binary, Number, String.", name)
		}
	}
	if delay < 0 || delay > maxDelay {
		return invalid("Value %d for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.", int(delay/time.Second))
	}
	if !s.FIFO {
		if m.dedup != "" {
			return invalid("The request include parameter MessageDeduplicationId which is not valid for this queue type")
		}
		return nil
	}
	switch {
	case m.group == "":
		return missing("MessageGroupId")
	case delay != 0:
		return invalid("Value %d for parameter DelaySeconds is invalid. Reason: The request include parameter that is not valid for this queue type.", int(delay/time.Second))
	case m.dedup == "" && !s.ContentDedup:
		return invalid("The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly")
	case !fifoID(m.group):
		return invalid("MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length")
	case m.dedup != "" && !fifoID(m.dedup):
		return invalid("MessageDeduplicationId can only include alphanumeric and punctuation characters. 1 to 128 in length")
	}
	return nil
}

// size is what SQS counts: the body and the attributes.
func (m *message) size() int {
	n := len(m.body)
	for name, a := range m.attributes {
		n += len(name) + len(a.BinaryValue)
		if a.DataType != nil {
			n += len(*a.DataType)
		}
		if a.StringValue != nil {
			n += len(*a.StringValue)
		}
	}
	return n
}

// allowedText tells if all characters are in the set of the SendMessage
// documentation: #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD |
// #x10000 to #x10FFFF.
func allowedText(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return false
		}
	}
	return true
}

// fifoID tells if s may be a group or deduplication id: up to 128 ASCII
// letters, digits and punctuation characters.
func fifoID(s string) bool {
	if len(s) == 0 || len(s) > 128 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// contentHash is the deduplication id of content-based deduplication: the
// SHA-256 of the body, without the attributes.
func contentHash(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// bodyDigest is MD5OfMessageBody, which clients check.
func bodyDigest(body string) string {
	sum := md5.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}

// attributeDigest is MD5OfMessageAttributes as the SQS developer guide
// defines it: for each attribute in the order of names the name, the data
// type and the value, each after its length in four bytes, with one byte
// before the value that tells strings (1) from binary (2). It is empty
// without attributes.
func attributeDigest(attributes map[string]types.MessageAttributeValue) string {
	if len(attributes) == 0 {
		return ""
	}
	names := make([]string, 0, len(attributes))
	for name := range attributes {
		names = append(names, name)
	}
	sort.Strings(names)
	var b []byte
	add := func(s string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	for _, name := range names {
		a := attributes[name]
		add(name)
		dataType := ""
		if a.DataType != nil {
			dataType = *a.DataType
		}
		add(dataType)
		switch {
		case strings.HasPrefix(dataType, "Binary"):
			b = append(b, 2)
			add(string(a.BinaryValue))
		case a.StringValue != nil:
			b = append(b, 1)
			add(*a.StringValue)
		}
	}
	sum := md5.Sum(b)
	return hex.EncodeToString(sum[:])
}
