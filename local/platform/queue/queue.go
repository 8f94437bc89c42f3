// Package queue is the SQS of the local stage: standard and FIFO queues with
// delays, visibility timeouts, redrive to dead-letter queues, deduplication
// and long polling, all on the stage clock.
//
// The engine (store) is told the time and holds no clock, so that what a
// queue does is a function of its calls. Queues adds the clock, the locking,
// the waiting and two ways in: the methods of the SQS API, for the functions
// and the AWS CLI, and the in-process methods that the event router uses.
package queue

import (
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"rollcall/local/platform/wire"
	"rollcall/local/simclock"
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

// Check tells if every dead-letter queue exists and is of its queue's kind.
func (q *Queues) Check() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.queues {
		if s.DeadLetterARN == "" {
			continue
		}
		dead, ok := q.queues[s.DeadLetterARN]
		if !ok {
			return fmt.Errorf("queue %q: dead-letter queue %q does not exist", s.Name, s.DeadLetterARN)
		}
		if dead.FIFO != s.FIFO {
			return fmt.Errorf("queue %q: dead-letter queue %q is not of the same kind (FIFO or standard)", s.Name, dead.Name)
		}
	}
	return nil
}

// ARNs lists the queues, sorted.
func (q *Queues) ARNs() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]string, 0, len(q.queues))
	for arn := range q.queues {
		out = append(out, arn)
	}
	sort.Strings(out)
	return out
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
