package facts

import (
	"rollcall/shared/access/denial"
	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// Denied is what is known of a launch that was refused for want of permission.
type Denied struct {
	snapshot.Denial
	// Undecoded is why its encoded message is not decoded; empty where it is, and
	// where there is none.
	Undecoded string
}

// denied adds to the attempts what their messages say: the newest of a group stands
// for the others of it, which were denied for the same a moment earlier.
func (a *Attempts) denied(messages map[int]encoded) {
	byMessage := map[string]snapshot.DecodedMessage{}
	for _, m := range a.S.Denials {
		byMessage[m.Encoded] = m
	}
	decoded := map[string]snapshot.Denial{}
	for i, m := range messages {
		if known := byMessage[m.text]; known.Denial != nil && m.text != "" {
			decoded[a.List[i].Group] = *known.Denial
		}
	}
	for i := range a.List {
		t := &a.List[i]
		d := Denied{}
		if t.Verdict.Denial != nil {
			d.Denial = *t.Verdict.Denial
		}
		m, has := messages[i]
		switch told, is := decoded[t.Group]; {
		case has && is:
			d.Denial = denial.Merge(d.Denial, told)
		case has:
			d.Undecoded = a.undecoded(m, byMessage[m.text])
		case t.Verdict.Denial == nil:
			continue
		}
		t.Denied = &d
		t.judgeDenial()
	}
}

// judgeDenial names the policy where the message tells that one above the launcher's
// own refused.
func (t *Attempt) judgeDenial() {
	if t.Verdict.Class == checkid.LaunchUnauthorized && denial.Above(t.Denied.Denial) {
		t.Verdict.Class, t.Verdict.Meaning = checkid.LaunchPolicyDenied, activity.Forbids(t.Denied.Denial)
		_, t.Verdict.Next = activity.Words(t.Verdict.Class)
	}
}

// encoded is the encoded message of an attempt; whole as denial.Encoded has it.
type encoded struct {
	text  string
	whole bool
}

// undecoded says why a message is not decoded.
func (a *Attempts) undecoded(m encoded, tried snapshot.DecodedMessage) string {
	switch {
	case !m.whole:
		return denial.Cut
	case !a.S.Has(snapshot.DenialsOf):
		return denial.NotGranted
	case tried.Failure != nil:
		return denial.Undecodable(*tried.Failure)
	}
	return denial.Others
}
