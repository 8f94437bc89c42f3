package gather

import (
	"sync"

	"rollcall/shared/backoff"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Contact is what is known of a cluster's Kubernetes API while several readers look at
// it one after the other: where it does not answer one of them, the others are told so
// and do not wait for it again. It is of one cluster and one sweep, and safe for
// concurrent use.
type Contact struct {
	mu       sync.Mutex
	endpoint string
	// silent is how it did not answer; nil: it has, or nobody knows.
	silent  *backoff.Silence
	outcome backoff.Outcome
}

// NewContact begins with what an earlier sweep found, as long as the cluster has that
// endpoint; nil: nothing is known.
func NewContact(known *backoff.Silence) *Contact { return &Contact{silent: known} }

// Contacting has a reader tell, and heed, what is known of the cluster's API.
func (r *Reader) Contacting(c *Contact) *Reader {
	as := *r
	as.contact = c
	return &as
}

// Outcome is what was found, and how the API did not answer if it was silent.
func (c *Contact) Outcome() (backoff.Outcome, backoff.Silence) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outcome == backoff.Silent {
		return backoff.Silent, *c.silent
	}
	return c.outcome, backoff.Silence{}
}

// unanswered is the error in place of a connection that would bring none.
func (c *Contact) unanswered(endpoint string) error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endpoint = endpoint
	if c.silent == nil || c.silent.Endpoint != endpoint {
		return nil
	}
	return source.SilentError{Reason: c.silent.Reason, Code: c.silent.Code, Message: c.silent.Message}
}

// failed takes in that the nodes could not be listed: where nobody answered that, nobody
// answers the rest (failsWithNodes).
func (c *Contact) failed(f snapshot.Failure) {
	if c == nil || f.Reason != snapshot.Unreachable && f.Reason != snapshot.TimedOut {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent, c.outcome = &backoff.Silence{Endpoint: c.endpoint, Reason: f.Reason, Code: f.Code, Message: f.Message}, backoff.Silent
}

func (c *Contact) answered() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent, c.outcome = nil, backoff.Answered
}
