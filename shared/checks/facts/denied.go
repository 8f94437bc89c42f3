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

// denied adds to the attempts what their messages say, each its own. One that nobody
// decoded is taken for what AWS's sentence says of it; where a launch of the same group
// was told the same sentence, and that one's message is decoded, it is the same fault.
func (a *Attempts) denied(messages map[int]encoded) {
	byMessage := map[string]snapshot.DecodedMessage{}
	for _, m := range a.S.Denials {
		byMessage[m.Encoded] = m
	}
	told := map[sentence]activity.Verdict{} // of those that are decoded; of no class where they differ
	var open []int
	for i := range a.List {
		t := &a.List[i]
		m, has := messages[i]
		if !has && t.Verdict.Denial == nil {
			continue
		}
		d := Denied{}
		if t.Verdict.Denial != nil {
			d.Denial = *t.Verdict.Denial
		}
		known := byMessage[m.text].Denial
		switch {
		case known != nil && m.text != "":
			d.Denial = denial.Merge(d.Denial, *known)
		case has:
			d.Undecoded = a.undecoded(m, byMessage[m.text])
			open = append(open, i)
		}
		says := sentenceOf(*t)
		t.Denied = &d
		t.judgeDenial()
		if f := byMessage[m.text].Failure; has && known == nil && f != nil && f.Code != "" && t.Verdict.Class == checkid.LaunchUnauthorized {
			t.Likely = true // the message may name a policy above the launcher's own
		}
		if known == nil || m.text == "" {
			continue
		}
		if v, other := told[says]; other && v.Class != t.Verdict.Class {
			told[says] = activity.Verdict{}
		} else if !other {
			told[says] = t.Verdict
		}
	}
	for _, i := range open {
		t := &a.List[i]
		v := told[sentenceOf(*t)]
		if v.Class == "" {
			continue
		}
		// Which statement denied it nobody knows: of those that are decoded it is told.
		t.Denied, t.Likely = nil, false
		t.Verdict.Class, t.Verdict.Meaning, t.Verdict.Next = v.Class, v.Meaning, v.Next
	}
}

// sentence is what AWS says of a denial without its encoded message, and to which group.
type sentence struct {
	group, action, kind, policy string
	explicit                    bool
}

func sentenceOf(t Attempt) sentence {
	s := sentence{group: t.Group}
	if d := t.Verdict.Denial; d != nil {
		s.action, s.kind, s.policy, s.explicit = d.Action, d.Kind, d.Policy, d.Explicit
	}
	return s
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
