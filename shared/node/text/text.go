// Package text tells what a text means that somebody pasted: an error of an
// API, a line of a log, a condition, an event, a message of a tool.
//
// It goes by the form of the text and not by a list of sentences. The text is
// unwrapped first, then its facts are found: who wrote
// it, which call it tells of, with which code it ended, what failed and on
// what. Small tables say what those facts mean. What launches say is
// told by package activity, and what consoles say by package console.
//
// It is pure, and quick on any input: what is looked at is bounded.
//
// A text is untrusted. What is told holds words of this package alone, and of
// the text no more than calls and codes that this package knows.
package text

import "rollcall/shared/checkid"

// Told is what a text tells.
type Told struct {
	// Kind is what kind of text it is: "a line of the kubelet's log".
	Kind string
	// Failed is what failed, as far as the text says: "ec2:DescribeInstances
	// was refused". It may be empty.
	Failed string
	// Check is the id of the check that looks for what the text tells, or empty
	// where the text does not show enough.
	Check checkid.ID
	// Symptom tells that Check names how something shows, and Look what may be
	// behind it.
	Symptom bool
	// Meaning is half a sentence, Next one or two sentences.
	Meaning, Next string
	// Look are the checks that may be behind it, in the order in which to look.
	Look []checkid.ID
}

// weight orders what several messages of one text tell: a cause says more than
// a symptom, and a symptom more than an explanation.
func (t Told) weight() int {
	switch {
	case t.Check == "" && t.Meaning == "":
		return 0
	case t.Check == "":
		return 1
	case t.Symptom:
		return 2
	}
	return 3
}

// Tell tells what a text means.
func Tell(text string) Told { return tell(text, whole{}) }

// CauseOfKarpenter is the check that looks for what a line of Karpenter's log tells;
// empty where it tells no cause, or only how something shows.
func CauseOfKarpenter(line string) checkid.ID {
	if told := Tell("karpenter: " + line); !told.Symptom {
		return told.Check
	}
	return ""
}

// vocabulary is what is known; evaluations take parts of it away.
type vocabulary interface {
	// knows tells that a phrase counts in a row with this source.
	knows(phrase, source string) bool
	// knowsRow tells that a row of another package's table counts.
	knowsRow(name string) bool
}

// whole is all of the vocabulary.
type whole struct{}

func (whole) knows(string, string) bool { return true }
func (whole) knowsRow(string) bool      { return true }

// tell reads each message by itself. Where none tells a cause, the text as one
// is read: a sentence may be wrapped over lines in any way.
func tell(text string, v vocabulary) Told {
	messages, joined := decode(text)
	rows := rows()
	var best Told
	for _, m := range messages {
		if t := one(factsOf(m), rows, v); t.weight() > best.weight() {
			best = t
		}
	}
	if f := factsOf(joined); best.weight() < 3 {
		if t := one(f, rows, v); t.weight() > best.weight() {
			best = t
		}
	}
	if best.weight() == 0 {
		f := factsOf(joined)
		best = unknown(f)
	}
	return best
}

// one tells what one message means: by its facts, by the console's table, by
// the launches' table. A cause of any of them counts before a symptom.
func one(f facts, rows []row, v vocabulary) Told {
	best := byFacts(f, rows, v)
	for _, next := range []func(facts, vocabulary) Told{byConsole, byLaunch, byNodegroup} {
		if best.weight() == 3 {
			break
		}
		if t := next(f, v); t.weight() > best.weight() {
			best = t
		}
	}
	if best.weight() > 0 {
		best.Kind, best.Failed = f.kind(), f.failed()
	}
	return best
}

func byFacts(f facts, rows []row, v vocabulary) Told {
	var best Told
	for _, r := range rows {
		if t := r.told(); t.weight() > best.weight() && r.fits(f, v) {
			best = t
		}
		if best.weight() == 3 {
			break
		}
	}
	return best
}

// unknown says what kind of text it is, and what to send next.
func unknown(f facts) Told {
	t := Told{Kind: f.kind(), Failed: f.failed(), Meaning: "the text alone does not tell why a node did not join"}
	switch {
	case f.by(kubectl, terraform, eksctl):
		t.Next = "Send what it is about: the nodegroup's health issues (aws eks describe-nodegroup), or the scaling activities of its group."
	case f.by(karpenter):
		t.Next = "Send the NodeClaim's conditions (kubectl describe nodeclaim) and the controller's lines of level ERROR."
	case f.by(kubelet, nodeadm, containerd, cloudInit, bootstrap, bottlerocket):
		t.Next = "Send the lines around it: the last error before the program gave up, with the address that it names."
	default:
		t.Next = "Send the whole message with its code, and the lines before it; or run a diagnosis of the instance or the nodegroup."
	}
	return t
}
