package gather

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"rollcall/shared/access/denial"
	"rollcall/shared/config"
	"rollcall/shared/gather/source"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Messages decodes the messages of requests that were denied.
type Messages interface {
	DecodeAuthorizationMessage(context.Context, *sts.DecodeAuthorizationMessageInput, ...func(*sts.Options)) (*sts.DecodeAuthorizationMessageOutput, error)
}

var _ Messages = (*sts.Client)(nil)

// decodeAction is the permission of the call.
const decodeAction = "sts:DecodeAuthorizationMessage"

// DecodeDenied is the permission to decode, as the settings have it. The action takes
// no resource and has no condition keys of its own (service authorization reference,
// "Actions, resources, and condition keys for AWS Security Token Service"): it is
// bound to the Region. STS decodes messages of the own account alone.
func DecodeDenied(getenv func(string) string) ([]spec.Grant, error) {
	c, err := config.Load(getenv, []spec.Variable{config.DecodeDenied})
	if err != nil || !c.DecodeDenied {
		return nil, err
	}
	return []spec.Grant{{
		Sid:        "DecodeDeniedLaunches",
		Why:        "What EC2 says of a launch that a policy denied is encoded: which statement, and which tag was missing, stands in it alone.",
		Actions:    []string{decodeAction},
		Resources:  []spec.Resource{spec.NoResource},
		Conditions: map[string]map[string][]string{"StringEquals": {"aws:RequestedRegion": {"${Region}"}}},
	}}, nil
}

const (
	// mostDecoded is how many messages one look decodes: the newest of each group
	// before the others. What was decoded before takes no call.
	mostDecoded = 3
	// keptDecoded is how many a reader remembers: a sweep sees the same activities
	// every five minutes for an hour.
	keptDecoded = 100
	// decodes is how long a failed activity is of interest, as for the checks.
	decodes = time.Hour
)

// decoder decodes messages, each once.
type decoder struct {
	api  Messages
	lock sync.Mutex
	done map[string]snapshot.DecodedMessage
}

// Decoding lets the reader decode messages, where on is set.
func (r *Reader) Decoding(on bool) *Reader {
	if on {
		r.decoder = &decoder{api: r.sts, done: map[string]snapshot.DecodedMessage{}}
	}
	return r
}

// Decode decodes an encoded authorization message. What it says is kept as far as it
// tells which statement denied the request; neither the message nor the rest is
// logged or kept.
func (r *Reader) Decode(ctx context.Context, message string) snapshot.DecodedMessage {
	if r.decoder == nil {
		return snapshot.DecodedMessage{Encoded: message, Failure: &snapshot.Failure{
			Source: snapshot.DenialsOf, Reason: snapshot.Denied, Call: decodeAction, Message: "the setting decodeDenied is off",
		}}
	}
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	return r.decoder.decode(ctx, message)
}

func (d *decoder) decode(ctx context.Context, message string) snapshot.DecodedMessage {
	d.lock.Lock()
	defer d.lock.Unlock()
	if known, done := d.done[message]; done {
		return known
	}
	m := snapshot.DecodedMessage{Encoded: message}
	out, err := d.api.DecodeAuthorizationMessage(ctx, &sts.DecodeAuthorizationMessageInput{EncodedMessage: aws.String(message)})
	if err == nil {
		var told snapshot.Denial
		if told, err = denial.Decoded(aws.ToString(out.DecodedMessage)); err == nil {
			m.Denial = &told
		}
	}
	if err != nil {
		m.Failure = source.Source{Name: snapshot.DenialsOf, Calls: []source.Call{{Action: decodeAction}}}.Failure(fmt.Errorf("decode an authorization message: %w", err))
	}
	if m.Denial != nil || undecodable(err) {
		if len(d.done) >= keptDecoded {
			clear(d.done)
		}
		d.done[message] = m
	}
	return m
}

// undecodable tells that STS will never decode a message: it is another account's,
// has expired, or is a part of one (STS API, InvalidAuthorizationMessageException).
func undecodable(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == "InvalidAuthorizationMessageException"
}

// decodeActivities decodes the messages of launches that were denied in the last hour:
// each call's own, for two calls of one group may be denied by two policies.
func (r *Reader) decodeActivities(ctx context.Context, s *snapshot.Snapshot) {
	if r.decoder == nil || !s.Read[snapshot.Activities] || s.Read[snapshot.DenialsOf] {
		return
	}
	s.Read[snapshot.DenialsOf] = true
	calls := 0
	for _, message := range encodedMessages(s) {
		known := r.decoder.knows(message)
		if !known && calls == mostDecoded {
			continue
		}
		if !known {
			calls++
		}
		s.Denials = append(s.Denials, r.Decode(ctx, message))
	}
}

// encodedMessages are those of launches of the last hour, each once: the newest of each
// group, and then the others, the newest first.
func encodedMessages(s *snapshot.Snapshot) []string {
	list := slices.SortedStableFunc(slices.Values(s.Activities), func(a, b snapshot.Activity) int { return b.Started.Compare(a.Started) })
	seen, told := map[string]bool{}, map[string]bool{}
	var first, others []string
	for _, a := range list {
		if s.Time.Sub(cmp.Or(a.Started, a.Ended)) > decodes || !activity.Launching(a.About, a.Message) {
			continue
		}
		message, whole := denial.Encoded(activity.Reason(a.About, a.Message))
		if !whole || seen[message] {
			continue
		}
		seen[message] = true
		if told[a.Group] {
			others = append(others, message)
			continue
		}
		told[a.Group] = true
		first = append(first, message)
	}
	return append(first, others...)
}

// knows tells that a message was decoded before, or never will be.
func (d *decoder) knows(message string) bool {
	d.lock.Lock()
	defer d.lock.Unlock()
	_, known := d.done[message]
	return known
}
