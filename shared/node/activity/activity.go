// Package activity tells from texts and codes why a launch failed: the status
// messages of Auto Scaling, the error codes and state reasons of EC2.
//
// The functions judge no other error by its text: Auto Scaling gives no code
// for a failed launch, only a sentence. What people paste is read by package
// text, which asks this one about launches.
package activity

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"rollcall/shared/access/denial"
	"rollcall/shared/checkid"
	"rollcall/shared/node/match"
	"rollcall/shared/snapshot"
)

// Verdict is what a text or a code says.
type Verdict struct {
	// Class is the check that a text points to.
	Class   checkid.ID
	Meaning string // begins in lower case, ends without a full stop
	Next    string // one or two sentences
	// By is the code or the phrase that told it; empty for what ended an
	// instance.
	By string
	// Named are the resources that the text names.
	Named Named
	// Text is the text itself, bounded, without encoded blobs.
	Text string
	// Denial is which policy refused, as far as the text tells; nil for one that tells
	// of no permission.
	Denial *snapshot.Denial
	// NeverRan tells that an instance that ended for this did not get as far
	// as a node could have.
	NeverRan bool
}

// Classify tells why a launch failed. Codes count before sentences. A text
// that nothing fits is Unclassified and is shown as it is.
func Classify(text string) Verdict {
	v := Verdict{Class: checkid.LaunchUnclassified, Text: Clean(text), NeverRan: true}
	if m, by, ok := find(text); ok {
		v.Class, v.Meaning, v.Next, v.By = m.class, m.meaning, m.next, by
	}
	if d, ok := denial.Of(text); ok {
		v.Denial = &d
		if denial.Above(d) {
			v.Class, v.Meaning, v.Next, v.By = checkid.LaunchPolicyDenied, Forbids(d), "", d.Kind
		}
	}
	v.Named = NamedIn(text)
	w := words(v.Class)
	if v.Meaning == "" {
		v.Meaning = w.meaning
	}
	v.Next = cmp.Or(v.Next, w.next)
	return v
}

// Forbids says that a policy refuses, with its kind where AWS tells it.
func Forbids(d snapshot.Denial) string {
	switch {
	case d.Kind == "":
		return "a policy denies it explicitly"
	case strings.HasSuffix(d.Kind, "boundary"), strings.HasPrefix(d.Kind, "session"):
		return "the " + d.Kind + " forbids it"
	}
	return "a " + d.Kind + " forbids it"
}

// Bounds of what is looked at and of what is shown. The longest status message
// seen has 700 bytes; a ticket may hold a whole log.
const (
	maxLooked = 64 << 10 // bytes
	maxShown  = 500      // runes
)

// Clean is a text that can be shown: valid, in one line, without the encoded
// blob of an authorization failure, and bounded.
func Clean(text string) string {
	text = strings.ToValidUTF8(bound(text), "")
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' {
			return -1
		}
		return r
	}, text)), " ")
	text = tokenForm.ReplaceAllString(cutBlob(text), "with token …")
	if utf8.RuneCountInString(text) > maxShown {
		text = string([]rune(text)[:maxShown-1]) + "…"
	}
	return text
}

// tokenForm is the token of a lifecycle action: each launch has its own.
var tokenForm = regexp.MustCompile(`with token [0-9a-f]{8}-[0-9a-f-]{27}`)

// cutBlob takes the encoded message out: it is up to 10 KB long, tells nothing
// by itself, and holds the caller's identity.
func cutBlob(text string) string {
	const mark = "Encoded authorization failure message:"
	from := strings.Index(text, mark)
	if from < 0 {
		return text
	}
	rest := strings.TrimLeft(text[from+len(mark):], " ")
	end := strings.IndexFunc(rest, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '*' || r == '…')
	})
	if end < 0 {
		end = len(rest)
	}
	return text[:from] + "(encoded message left out)" + rest[end:]
}

func bound(text string) string { return text[:min(len(text), maxLooked)] }

// Auto Scaling gives no code for why it ended an instance, only sentences.

// Asked tells from the cause of a terminating activity that somebody asked it
// of the group: a scale-in, a replacement through the group, an instance
// refresh. Health checks and failed launches are the rest.
func Asked(cause string) bool {
	return slices.ContainsFunc([]string{"shrinking the capacity", "in response to a user request", "instance refresh"}, func(part string) bool {
		return strings.Contains(cause, part)
	})
}

// FoundEnded tells that the group only found what somebody else had done, or
// was about to do: the instance was ended already.
func FoundEnded(cause string) bool {
	return strings.Contains(cause, "health check indicating it has been terminated or stopped") ||
		strings.Contains(cause, "termination notice")
}

// Failing tells that the group replaced an instance because a status or health
// check of it failed. A health that somebody set ("a user health-check") is
// none of these.
func Failing(cause string) bool {
	return strings.Contains(cause, "status checks failure") || strings.Contains(cause, "system health check failure")
}

// Rebalancing tells that the group replaced an instance by itself, as Capacity
// Rebalancing does: nobody asked for it, and nobody else had ended it.
func Rebalancing(cause string) bool { return !Asked(cause) && !FoundEnded(cause) }

// Launching tells that a scaling activity with this description was to start
// an instance. Descriptions begin with "Launching a new EC2 instance", and
// with "Placing Spot instance request" in groups of the older kind. An
// activity without a description tells by its message; one that has neither
// may have been to start one.
func Launching(description, message string) bool {
	for _, begin := range []string{"Launching", "Placing Spot", "Placed Spot"} {
		if strings.HasPrefix(description, begin) {
			return true
		}
	}
	return description == "" && (message == "" || match.Says(normal(message), "launching ec2 instance failed", maxGap) ||
		match.Says(normal(message), "spot instance request failed", maxGap) || Classify(message).Class != checkid.LaunchUnclassified)
}

// WarmPool returns whether a scaling activity with this description moved an instance
// into or out of its group's warm pool: "Launching a new EC2 instance into warm pool:
// i-…", "… from warm pool: i-…" (aws-samples/amazon-ec2-auto-scaling-group-examples,
// features/warm-pools). DescribeAutoScalingGroups lists no instance of a warm pool.
func WarmPool(description string) (into, is bool) {
	into = strings.HasPrefix(description, "Launching a new EC2 instance into warm pool")
	return into, into || strings.HasPrefix(description, "Launching a new EC2 instance from warm pool")
}

// Status is how far a scaling activity has come.
type Status string

// The states that matter.
const (
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Pending   Status = "pending"
	Canceled  Status = "canceled"
	TakenBack Status = "taken back" // EC2 took the new Spot instance before it was in service
	Unknown   Status = "unknown"    // a code newer than this program, or none
)

// StatusOf reads the status code of an activity that launches. Auto Scaling
// writes Cancelled both for an activity that was called off, which is no failure,
// and for an instance that did not come into service: the message then holds its
// termination reason, or that a launch hook was abandoned. Its event calls both a
// failed launch. An instance that EC2 reclaimed was no failed launch: under a
// launch hook (EKS sets one) it had run for minutes.
func StatusOf(code, message string) Status {
	reason, died := termination(message)
	switch code {
	case "Successful":
		return Succeeded
	case "Failed":
		if died && tookBack(reason) {
			return TakenBack
		}
		return Failed
	case "Cancelled":
		switch {
		case strings.TrimSpace(message) == "", calledOff(message), strings.HasPrefix(reason, "Client.User"):
			// Who terminates an instance that starts has called it off.
			return Canceled
		case tookBack(reason):
			return TakenBack
		}
		return Failed
	case "PendingSpotBidPlacement", "WaitingForSpotInstanceRequestId", "WaitingForSpotInstanceId", "WaitingForInstanceId",
		"PreInService", "InProgress", "WaitingForELBConnectionDraining", "MidLifecycleAction", "WaitingForInstanceWarmup",
		"WaitingForConnectionDraining", "WaitingForInPlaceUpdateToStart", "WaitingForInPlaceUpdateToFinalize", "InPlaceUpdateInProgress":
		// The enumeration of the API (ScalingActivityStatusCode).
		return Pending
	}
	return Unknown
}

// Abandoned reports whether a status message says that a launch hook gave an
// instance up (Amazon EC2 Auto Scaling User Guide, "Tutorial: Use data script and
// instance metadata to retrieve lifecycle state": "… was abandoned: Lifecycle Action
// Completed with ABANDON Result"; AWS CodeDeploy User Guide: "… Heartbeat Timeout").
func Abandoned(message string) bool {
	return match.Says(normal(message), "failed to complete users lifecycle action", maxGap)
}

// calledOff reports whether a message says that the instance was not wanted any more.
// The first text is of the field: "Spot instance request: sir-bcpgayih has been
// cancelled. Group size decreased while waiting for Spot instance request to be
// fulfilled."; the others are the words of the causes of activities (user guide,
// "Verify a scaling activity").
func calledOff(message string) bool {
	if Abandoned(message) {
		return false
	}
	plain := normal(message)
	for _, phrase := range []string{"group size decreased", "shrinking the capacity", "desired capacity", "in response to a user request", "instance refresh"} {
		if match.Says(plain, phrase, maxGap) {
			return true
		}
	}
	return false
}

// termination is why an instance was terminated before it was in service, in
// EC2's words; they begin with its code.
func termination(message string) (reason string, ok bool) {
	_, reason, ok = strings.Cut(message, "Termination Reason:")
	return strings.TrimSpace(reason), ok
}

// tookBack tells that a reason begins with a code of EC2's for Spot capacity
// that it wants back.
func tookBack(reason string) bool {
	code := reason[:len(reason)-len(strings.TrimLeftFunc(reason, partOfCode))]
	r, known := reasonOf(strings.TrimSuffix(code, "."))
	return known && r.class == reclaimed
}

// Reason is the text that tells why a launch failed: the status message, else
// the end of the description.
func Reason(description, message string) string {
	if strings.TrimSpace(message) != "" {
		return message
	}
	_, reason, _ := strings.Cut(description, "Status Reason:")
	return strings.TrimSpace(reason)
}

// Administrative tells that Auto Scaling itself suspended a process, because
// launches failed for a day (Auto Scaling user guide, "Suspend and resume
// processes").
func Administrative(reason string) bool {
	return strings.Contains(strings.ToLower(reason), "administrative")
}

// row is one way in which a cause is told.
type row struct {
	class checkid.ID
	// codes are API error codes, matched as they are written. "InvalidAMIID.*"
	// stands for every code below it.
	codes []string
	// texts are phrases, in lower case and without quotes; "…" is a gap.
	texts []string
	// exact rows count before all codes: their phrase says what a shortage's
	// code leaves out.
	exact bool
	// weak rows count after all others: what they look for also wraps or
	// follows a better reason.
	weak bool
	// meaning and next are more exact than those of the class, if set.
	meaning, next string
	// sample is a text of the field that the row is for, source where it stands.
	sample, source string
}

// find finds the row for a text, and the code or phrase that told it: an exact
// row, else the first with a code, else the first with a phrase, and weak rows
// last. This is the defined order where two would fit.
func find(text string) (found row, by string, ok bool) {
	text = strings.ToValidUTF8(bound(text), "")
	plain := normal(text)
	x := known()
	codes, texts := x.codes.Find(text), x.texts.Find(plain)
	hasCode := func(i int) (string, bool) {
		for n, code := range x.rows[i].codes {
			if codes[x.firstCode[i]+n] && coded(text, code) {
				return code, true
			}
		}
		return "", false
	}
	hasText := func(i int) (string, bool) {
		for n, phrase := range x.rows[i].texts {
			if texts[x.firstText[i]+n] && match.Says(plain, phrase, maxGap) {
				return phrase, true
			}
		}
		return "", false
	}
	for _, pass := range []struct {
		of  func(row) bool
		has func(int) (string, bool)
	}{
		{func(r row) bool { return r.exact }, hasText},
		{func(r row) bool { return !r.weak }, hasCode}, {func(r row) bool { return !r.weak }, hasText},
		{func(r row) bool { return r.weak }, hasCode}, {func(r row) bool { return r.weak }, hasText},
	} {
		for i, r := range x.rows {
			if !pass.of(r) {
				continue
			}
			if by, ok := pass.has(i); ok {
				return r, by, true
			}
		}
	}
	return row{}, "", false
}

// index finds the rows that a text may fit, by their codes and by what their phrases
// begin with. first is the place of a row's first.
type index struct {
	rows                 []row
	codes, texts         *match.Phrases
	firstCode, firstText []int
}

var known = sync.OnceValue(func() index {
	x := index{rows: table()}
	var codes, texts []string
	for _, r := range x.rows {
		x.firstCode, x.firstText = append(x.firstCode, len(codes)), append(x.firstText, len(texts))
		for _, code := range r.codes {
			codes = append(codes, strings.TrimSuffix(code, "*"))
		}
		for _, phrase := range r.texts {
			begin, _, _ := strings.Cut(phrase, match.Gap)
			texts = append(texts, begin)
		}
	}
	x.codes, x.texts = match.New(codes), match.New(texts)
	return x
})

// coded tells that a code stands in a text, alone or where APIs and SDKs write
// codes: "Code: message", "Code - message", "(Code)". A code that is also an
// English word ("Blocked") counts only there.
func coded(text, code string) bool {
	family := strings.TrimSuffix(code, "*")
	for from := 0; ; {
		at := strings.Index(text[from:], family)
		if at < 0 {
			return false
		}
		at += from
		from = at + len(family)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		rest := text[from:]
		if family != code { // the family's own end is a dot
			rest = strings.TrimLeftFunc(rest, partOfCode)
		}
		after, _ := utf8.DecodeRuneInString(rest)
		// "Client.", "Server." and "Error." stand before some.
		if partOfCode(before) && before != '.' || partOfCode(after) && after != '.' {
			continue
		}
		if after == '.' && len(rest) > 1 && partOfCode(rune(rest[1])) {
			continue // a longer code
		}
		if !isWord(code) || placed(text[:at], rest) {
			return true
		}
	}
}

func partOfCode(r rune) bool {
	return r == '.' || r == '_' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) && r != utf8.RuneError
}

// isWord tells that a code could stand in a sentence: one capital, no dot.
func isWord(code string) bool {
	return !strings.ContainsFunc(code[1:], func(r rune) bool { return unicode.IsUpper(r) || r == '.' })
}

// placed tells that what is between before and after stands as a code does.
func placed(before, after string) bool {
	before, after = strings.TrimRight(before, " \"'`"), strings.TrimLeft(after, "\"'`")
	switch {
	case before == "" && strings.TrimSpace(after) == "":
		return true
	case strings.HasPrefix(after, ":"), strings.HasPrefix(after, " - "), strings.HasPrefix(after, " – "):
		return true
	case strings.HasSuffix(before, "("):
		return strings.HasPrefix(after, ")")
	}
	return strings.HasSuffix(before, "Error Code:") || strings.HasSuffix(before, "ode\":") || strings.HasSuffix(before, "ode=")
}

// maxGap bounds what "…" may stand for, so that a phrase is found in one
// sentence and not over a whole log.
const maxGap = 120

// normal makes texts that were quoted, wrapped, escaped or drawn in a box
// alike: lower case, no quotes, one blank between words.
func normal(text string) string {
	text = strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, "").Replace(text)
	var b strings.Builder
	b.Grow(len(text))
	blank := true
	for _, r := range text {
		switch r {
		case '"', '\'', '`', '\\', '*', '“', '”', '‘', '’':
			continue
		case '│', '╷', '╵', '|', '>', '\u00a0':
			r = ' '
		case '–', '—':
			r = '-'
		}
		if unicode.IsSpace(r) {
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
			continue
		}
		blank = false
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Named are the resources that a text names; the first of each kind.
type Named struct {
	Instance      string
	Subnet        string
	AMI           string
	SecurityGroup string
	Template      string
	Key           string // ARN of a KMS key
	Role          string // ARN of a role
	Profile       string // name of an instance profile
	Type          string // of an instance: m5.large
	Zone          string
	Snapshot      string
	Volume        string
	Interface     string
	Limit         string // the number that a quota allows
}

// NamedIn finds the resources that a text names: what has the form of an id, an ARN, a
// type or a zone, and nothing else.
func NamedIn(text string) Named {
	text = strings.ToValidUTF8(bound(text), "")
	var n Named
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !(r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_.:/+=@", r))
	}) {
		word = strings.Trim(word, ".:-/=@+")
		switch {
		case resource(word, "i-"):
			set(&n.Instance, word)
		case resource(word, "subnet-"):
			set(&n.Subnet, word)
		case resource(word, "ami-"):
			set(&n.AMI, word)
		case resource(word, "sg-"):
			set(&n.SecurityGroup, word)
		case resource(word, "lt-"):
			set(&n.Template, word)
		case resource(word, "snap-"):
			set(&n.Snapshot, word)
		case resource(word, "vol-"):
			set(&n.Volume, word)
		case resource(word, "eni-"):
			set(&n.Interface, word)
		case strings.HasPrefix(word, "arn:") && strings.Contains(word, ":kms:"):
			set(&n.Key, word)
		case strings.HasPrefix(word, "arn:") && strings.Contains(word, ":role/"):
			set(&n.Role, word)
		case isType(word):
			set(&n.Type, word)
		case isZone(word):
			set(&n.Zone, word)
		}
	}
	n.Profile = between(text, "Value (", ") for parameter iamInstanceProfile")
	for _, before := range []string{"vCPU limit of ", "instance limit of "} {
		if n.Limit == "" {
			n.Limit = number(text, before)
		}
	}
	return n
}

// resource tells an id: a prefix and at least four hexadecimal digits. Ids
// with elided digits (subnet-xxxx) name nothing.
func resource(word, prefix string) bool {
	rest, ok := strings.CutPrefix(word, prefix)
	return ok && len(rest) >= 4 && strings.Trim(rest, "0123456789abcdef") == ""
}

// isType tells an instance type: family, dot, size.
func isType(word string) bool {
	family, size, ok := strings.Cut(word, ".")
	if !ok || family == "" || !('a' <= family[0] && family[0] <= 'z') || !strings.ContainsAny(family, "0123456789") && !strings.HasPrefix(family, "u-") {
		return false
	}
	if strings.Trim(family, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return false
	}
	size = strings.TrimLeft(size, "0123456789")
	switch size {
	case "nano", "micro", "small", "medium", "large", "xlarge", "metal":
		return true
	}
	return strings.HasPrefix(size, "metal-")
}

// isZone tells a zone: us-east-1a, us-gov-west-1b, us-west-2-lax-1a.
func isZone(word string) bool {
	parts := strings.Split(word, "-")
	if len(parts) < 3 || len(parts[0]) != 2 {
		return false
	}
	last := parts[len(parts)-1]
	if len(last) < 2 || last[len(last)-1] < 'a' || last[len(last)-1] > 'z' || strings.Trim(last[:len(last)-1], "0123456789") != "" {
		return false
	}
	return strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// between is what stands between two marks: one word of at most 128 bytes
// (the longest name of an instance profile).
func between(text, before, after string) string {
	end := strings.Index(text, after)
	if end < 0 {
		return ""
	}
	from := strings.LastIndex(text[:end], before)
	if from < 0 {
		return ""
	}
	word := text[from+len(before) : end]
	if len(word) > 128 || strings.ContainsFunc(word, unicode.IsSpace) {
		return ""
	}
	return word
}

func number(text, before string) string {
	_, rest, ok := strings.Cut(text, before)
	if !ok {
		return ""
	}
	digits := strings.TrimLeft(rest, "0123456789")
	return rest[:min(len(rest)-len(digits), 9)]
}

// Quota is a quota of Service Quotas, per account and region.
type Quota struct {
	Code string // L-1216C47A
	Name string
}

// QuotaOf is the quota of vCPUs that counts instances of a type (EC2 user
// guide, "EC2 service quotas" and "Spot Instance quotas"; the codes are those
// that ListServiceQuotas gives). ok is false for a family that is not known.
func QuotaOf(instanceType string, spot bool) (q Quota, ok bool) {
	family, _, _ := strings.Cut(instanceType, ".")
	letters := family
	if i := strings.IndexAny(family, "-0123456789"); i >= 0 {
		letters = family[:i]
	}
	if spot {
		return spotQuota(family, letters)
	}
	switch letters {
	case "a", "c", "d", "h", "i", "m", "r", "t", "z", "im", "is":
		return Quota{"L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances"}, true
	case "g", "gr", "vt":
		return Quota{"L-DB2E81BA", "Running On-Demand G and VT instances"}, true
	case "p":
		return Quota{"L-417A185B", "Running On-Demand P instances"}, true
	case "x":
		return Quota{"L-7295265B", "Running On-Demand X instances"}, true
	case "f":
		return Quota{"L-74FC7D96", "Running On-Demand F instances"}, true
	case "inf":
		return Quota{"L-1945791B", "Running On-Demand Inf instances"}, true
	case "trn":
		return Quota{"L-2C3B7624", "Running On-Demand Trn instances"}, true
	case "dl":
		return Quota{"L-6E869C2A", "Running On-Demand DL instances"}, true
	case "hpc":
		return Quota{"L-F7808C92", "Running On-Demand HPC instances"}, true
	case "u":
		return Quota{"L-43DA4232", "Running On-Demand High Memory instances"}, true
	}
	return Quota{}, false
}

func spotQuota(family, letters string) (Quota, bool) {
	switch letters {
	case "a", "c", "d", "h", "i", "m", "r", "t", "z", "im", "is":
		return Quota{"L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests"}, true
	case "g", "gr", "vt":
		return Quota{"L-3819A6DF", "All G and VT Spot Instance Requests"}, true
	case "p":
		if strings.HasPrefix(family, "p5") {
			return Quota{"L-C4BD4855", "All P5 Spot Instance Requests"}, true
		}
		if len(family) > 1 && strings.Contains("234", family[1:2]) {
			return Quota{"L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests"}, true
		}
	case "x":
		return Quota{"L-E3A00192", "All X Spot Instance Requests"}, true
	case "f":
		return Quota{"L-88CF9481", "All F Spot Instance Requests"}, true
	case "inf":
		return Quota{"L-B5D1601B", "All Inf Spot Instance Requests"}, true
	case "trn":
		return Quota{"L-6B0D517C", "All Trn Spot Instance Requests"}, true
	case "dl":
		return Quota{"L-85EED4F7", "All DL Spot Instance Requests"}, true
	}
	return Quota{}, false
}

// The pointers beside the classes of failed launches.
const (
	endedEarly = checkid.InstanceEndedEarly
	reclaimed  = checkid.SpotReclaimedBeforeJoin
)

// UserInitiated is the state reason code both of a person's call and of a
// group's scale-in.
const UserInitiated = "Client.UserInitiatedShutdown"

// reason is what a state reason code means that is no failed launch.
type reason struct {
	code          string // a code, or the part before a dot that codes begin with
	class         checkid.ID
	meaning, next string
	neverRan      bool
	vague         bool // the message may tell more
}

// reasons are the codes that EC2 gives for an instance that ended (API
// reference, StateReason; messages seen in the field). Those of failed
// launches stand in the table.
func reasons() []reason {
	const spot = "Nothing is wrong with the node. More instance types and zones make it rarer."
	return []reason{
		{code: "Server.SpotInstanceTermination", class: reclaimed, meaning: "EC2 took the Spot capacity back", next: spot},
		{code: "Server.SpotInstanceShutdown", class: reclaimed, meaning: "EC2 took the Spot capacity back", next: spot},
		{code: "Server.ScheduledStop", class: endedEarly, meaning: "EC2 stopped it for scheduled maintenance", next: "Let the group replace it."},
		{code: "Server.InternalError", class: endedEarly, meaning: "a fault inside EC2", neverRan: true, vague: true,
			next: "Let the group try again; where it repeats, look for a KMS key that the launcher may not use."},
		{code: "Client.InstanceInitiatedShutdown", class: endedEarly, meaning: "its own operating system shut it down",
			next: "Read the console output: user data or a boot script ends in a shutdown."},
		{code: "Client.InstanceTerminated", class: endedEarly, meaning: "it was shut down while it started", next: "Read the scaling activity of its group."},
		{code: "Client.UserInitiatedHibernate", class: endedEarly, meaning: "somebody hibernated it", next: "Ask CloudTrail for the StopInstances call."},
		{code: UserInitiated, class: endedEarly, meaning: "somebody, or its Auto Scaling group, ended it",
			next: "Ask CloudTrail for the TerminateInstances or StopInstances call, and read the scaling activity of its group."},
	}
}

// ClassifyReason tells why an instance ended, from EC2's state reason. The
// class is one of a failed launch, spot/reclaimed-before-join, or
// instance/ended-early for all other ends. The message counts only for a code
// that says nothing exact: EC2 gives Server.InternalError with a message that
// begins with Client.InternalError.
func ClassifyReason(code, message string) Verdict {
	text := strings.TrimPrefix(code+": "+message, ": ")
	if code != "" && strings.HasPrefix(message, code) {
		text = message
	}
	known, exact := reasonOf(code)
	if !exact || known.vague {
		if m, _, ok := find(text); ok && m.class != checkid.LaunchUnclassified {
			return Classify(text)
		}
	}
	v := Verdict{Class: endedEarly, Text: Clean(text), Named: NamedIn(text)}
	switch {
	case exact:
		v.Class, v.Meaning, v.Next, v.NeverRan = known.class, known.meaning, known.next, known.neverRan
	case code != "":
		v.Meaning, v.Next = "EC2 says "+Clean(code), "Read the scaling activity of its group and the instance's state transition reason."
	default:
		v.Meaning, v.Next = "EC2 gives no reason", "Read the scaling activity of its group and the instance's state transition reason."
	}
	return v
}

func reasonOf(code string) (reason, bool) {
	for _, r := range reasons() {
		if code == r.code || strings.HasPrefix(code, r.code+".") {
			return r, true
		}
	}
	return reason{}, false
}

// Ended finds a state reason of an instance that ended in a text that somebody
// pasted.
func Ended(text string) (Verdict, bool) {
	for _, r := range reasons() {
		if coded(text, r.code) {
			return ClassifyReason(r.code, ""), true
		}
	}
	return Verdict{}, false
}

// table is what is known of failed launches, in the order in which a text is
// asked. Limits of the account come before shortages: a text that tells of
// both (a fleet that tried several ways) is cured by the limit. Sources are
// public issues and AWS documentation; "code search" marks a text that was
// found in a public repository's file whose address is not known. The samples
// beside those of the tests are in testdata/samples.json.
func table() []row {
	const (
		launchDoc = "https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html"
		amiDoc    = "https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-ami.html"
	)
	return []row{
		// Both say what the codes around them leave out: UnsupportedOperation, UnauthorizedOperation.
		{class: checkid.LaunchIMDSEnforced, exact: true, texts: []string{"httptokensenforced is enabled"},
			sample: "You can't launch instances with IMDSv1 because httpTokensEnforced is enabled for this account. Either launch the instance with httpTokens=required or contact your account owner to disable httpTokensEnforced using the ModifyInstanceMetadataDefaults API or the account settings in the EC2 console.",
			source: "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html#launching-an-imdsv1-enabled-instance-fails"},
		{class: checkid.LaunchPolicyDenied, exact: true, texts: []string{"declarative policy"}, meaning: "a declarative policy of the organization forbids it",
			next:   "Launch as the policy demands, or ask who manages the organization: its management account lists the policy's effect with aws ec2 describe-declarative-policies-reports (ec2:DescribeDeclarativePoliciesReports).",
			sample: "This functionality has been disabled by a Declarative Policy. Custom Message: AMIs of this provider are not approved.", source: "AWS Organizations user guide, Custom error messages for declarative policies"},
		{class: checkid.LaunchAccountValidation, codes: []string{"PendingVerification"},
			texts:  []string{"is being validated, and you will not be able to launch", "account is currently being verified"},
			sample: "Your request for accessing resources in this region is being validated, and you will not be able to launch additional resources in this region until the validation is complete.", source: "https://github.com/appvia/kore/issues/585"},
		{class: checkid.LaunchAccountValidation, codes: []string{"Blocked"}, texts: []string{"account is currently blocked"}, meaning: "AWS has blocked the account",
			sample: "This account is currently blocked and not recognized as a valid account. Launching EC2 instance failed.", source: "https://github.com/thecodeteam/labs/issues/43"},
		{class: checkid.LaunchAccountValidation, texts: []string{"you are not subscribed to this service"}, meaning: "the account is not signed up for EC2",
			sample: "You are not subscribed to this service. Please see https://aws.amazon.com/.", source: launchDoc},

		{class: checkid.LaunchServiceRole, codes: []string{"ServiceLinkedRoleCreationNotPermitted"}, texts: []string{"permission to create the service-linked role"},
			meaning: "the service-linked role for Spot does not exist, and the launcher may not create it",
			sample:  "AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.", source: "https://github.com/eksctl-io/eksctl/issues/6064"},
		{class: checkid.LaunchServiceRole, texts: []string{"when attempting to assume role"}, meaning: "Auto Scaling may not assume its service-linked role: it was deleted, or is too new",
			sample: "Access denied when attempting to assume role arn:aws:iam::111122223333:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling. Validating load balancer configuration failed.", source: "https://github.com/pelias-deprecated/kubernetes/issues/32"},
		{class: checkid.LaunchServiceRole, texts: []string{"authentication failure. launching ec2 instance failed"}, meaning: "EC2 does not know the service-linked role of Auto Scaling: it was deleted, or is seconds old",
			sample: "Authentication Failure. Launching EC2 instance failed.", source: "code search: a Terraform module's comment on the first apply in an account"},

		{class: checkid.LaunchKMSKey, codes: []string{"InvalidKMSKey.*", "KMSKeyNotAccessibleFault", "CustomerKeyHasBeenRevoked"}, texts: []string{"kms key provided is in an incorrect state"}, meaning: "the KMS key of an encrypted volume is disabled, pending deletion, gone, or may not be used",
			sample: "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state", source: "https://github.com/aws/karpenter-provider-aws/issues/5039"},
		{class: checkid.LaunchKMSKey, codes: []string{"Client.InternalError"}, texts: []string{"client error on launch"}, meaning: "the launch failed on the client's side, nearly always because the KMS key of an encrypted volume may not be used",
			sample: "Client.InternalError: Client error on launch", source: "https://github.com/aws-quickstart/quickstart-redhat-openshift/issues/130"},
		{class: checkid.LaunchKMSKey, texts: []string{"encrypted with an inaccessible aws kms key"},
			sample: "One or more of the attached Amazon EBS volumes are encrypted with an inaccessible AWS KMS key.", source: "https://github.com/aws/aws-cdk/issues/34491"},

		{class: checkid.LaunchFleetLimit, codes: []string{"MaxFleetCountExceeded", "MaxSpotFleetRequestCountExceeded", "RequestResourceCountExceeded"}, texts: []string{"quota for maximum fleet requests", "quota for maximum spot fleet requests"},
			sample: "You've reached your quota for maximum Fleet Requests for this account. Launching EC2 instance failed.", source: "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2149"},
		{class: checkid.LaunchSpotLimit, codes: []string{"MaxSpotInstanceCountExceeded"}, texts: []string{"max spot instance count exceeded"},
			sample: "Placing Spot instance request. Status Reason: Max spot instance count exceeded. Placing Spot instance request failed.", source: "https://github.com/aws/aws-parallelcluster/issues/340"},
		{class: checkid.LaunchVCPULimit, codes: []string{"VcpuLimitExceeded"}, texts: []string{"more vcpu capacity than your current vcpu limit"},
			sample: "You have requested more vCPU capacity than your current vCPU limit of 384 allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit. Launching EC2 instance failed.", source: "https://github.com/kubernetes/kops/pull/15778"},
		{class: checkid.LaunchVCPULimit, codes: []string{"InstanceLimitExceeded"}, texts: []string{"requested more instances…than your current instance limit", "your quota allows for…more running instance", "instance(s) are already running. launching ec2 instance failed"}, meaning: "the account's limit of running instances is reached",
			sample: "You have requested more instances (7) than your current instance limit of 6 allows for the specified instance type. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit. Launching EC2 instance failed.", source: "https://github.com/kubernetes/autoscaler/issues/1263"},
		{class: checkid.LaunchVolumeLimit, codes: []string{"VolumeLimitExceeded", "MaxIOPSLimitExceeded"}, texts: []string{"volume limit exceeded", "maximum number of active volumes", "exceeded your maximum…storage limit"},
			sample: "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Client.VolumeLimitExceeded: Volume limit exceeded", source: "code search: a Kubernetes autoscaler's list of Auto Scaling messages"},
		{class: checkid.LaunchSpotPrice, codes: []string{"SpotMaxPriceTooLow"}, texts: []string{"lower than the minimum required spot request fulfillment price", "spot bid price is less than spot market price", "status code is price-too-low"},
			sample: "Could not launch Spot Instances. SpotMaxPriceTooLow - Your Spot request price of 0.24156000000000002 is lower than the minimum required Spot request fulfillment price of 0.6034. Launching EC2 instance failed.", source: "https://github.com/redhat-developer/mapt/issues/576"},

		{class: checkid.LaunchSubnetFull, codes: []string{"InsufficientFreeAddressesInSubnet", "InsufficientFreeAddresses"}, texts: []string{"not enough free addresses in", "does not have enough free addresses to satisfy"},
			sample: "There are not enough free addresses in subnet 'subnet-66d3dd2c' to satisfy the requested number of instances. Launching EC2 instance failed.", source: "https://github.com/PrairieLearn/PrairieLearn/issues/3271"},
		{class: checkid.LaunchSecurityGroup, codes: []string{"InvalidGroup.*", "InvalidGroupId.*", "InvalidSecurityGroupID.*", "InvalidSecurityGroupId.*", "SecurityGroupLimitExceeded", "SecurityGroupsPerInstanceLimitExceeded", "SecurityGroupsPerInterfaceLimitExceeded"}, texts: []string{"the security group…does not exist", "security groups per interface has been reached"},
			sample: "The security group 'sg-00000000' does not exist. Launching EC2 instance failed.", source: launchDoc},
		{class: checkid.LaunchSecurityGroup, texts: []string{"security group…and subnet…belong to different networks", "security groups in the launch…not linked to the vpc"}, meaning: "a security group of the launch template belongs to another VPC than the subnet",
			sample: "Security group sg-01048a5f724140078 and subnet subnet-a78bf4fc belong to different networks.", source: "https://github.com/QT-DevOps/DevOpsIssues/issues/256"},

		{class: checkid.LaunchAMI, codes: []string{"InvalidAMIID.*", "AmiIdNotFound", "InvalidManifest", "InvalidKernelId.*", "InvalidRamDiskId.*"}, texts: []string{"image id…does not exist", "the ami id…does not exist"}, meaning: "the AMI does not exist: deregistered, of another region, or never there",
			sample: "The image id '[ami-02c7e84c65fcfecee]' does not exist. Launching EC2 instance failed.", source: "code search: a test of the AWS provider of Cluster API"},
		{class: checkid.LaunchAMI, texts: []string{"not authorized for images"}, meaning: "the AMI is private and not shared with this account (or no longer is)",
			sample: "AuthFailure: Not authorized for images: [ami-03a5b89a2fbe7dd3d]", source: "https://github.com/Orange-Cyberdefense/GOAD/issues/304"},
		{class: checkid.LaunchAMI, texts: []string{"architecture…does not match the architecture"}, meaning: "the AMI is for another processor architecture than the instance type",
			sample: "The requested instance type's architecture (x86_64) does not match the architecture in the manifest for ami-0ef72f9111fdc5f97 (arm64). Launching EC2 instance failed.", source: "https://github.com/pulumi/pulumi-eks/issues/110"},
		{class: checkid.LaunchAMI, texts: []string{"is pending, and cannot be run", "is disabled, and cannot be run"}, meaning: "the AMI is pending or disabled, and cannot be run",
			sample: "AMI 'ami-00000000' is disabled, and cannot be run. Launching EC2 instance failed.", source: amiDoc},
		{class: checkid.LaunchAMI, texts: []string{"marketplace product you need to accept terms"}, meaning: "the AMI is a Marketplace product whose terms this account has not accepted",
			sample: "In order to use this AWS Marketplace product you need to accept terms and subscribe. To do so please visit https://aws.amazon.com/marketplace/pp?sku=14onryp2ljrzlajty34nw8o2z. Launching EC2 instance failed.", source: "https://github.com/ansible/ansible/issues/43375"},
		{class: checkid.LaunchAMI, texts: []string{"image is not eligible for free tier", "virtualization type…may only be used with", "using an ami that is enabled for ena", "parameter amiidlist cannot be empty"}, meaning: "the AMI cannot be run with this type, or by this account",
			sample: "The specified image is not eligible for Free Tier. For a list of Free Tier images, run 'describe-images' with the filter 'free-tier-eligible=true'.", source: "https://github.com/bitnami/vms/issues/1838"},

		// Codes are those of the EC2 API reference, "Error codes". A reservation or
		// a placement that does not take an instance is no shortage of EC2's: other
		// zones and types do not help, and it does not pass by itself.
		{class: checkid.LaunchCapacityReservation, exact: true, codes: []string{"ReservationCapacityExceeded"}, texts: []string{"reservation does not have sufficient compatible and available capacity"},
			meaning: "the capacity reservation has no free place for this type, zone and platform",
			sample:  "The requested reservation does not have sufficient compatible and available capacity for this request.", source: "https://github.com/scylladb/scylla-cluster-tests/issues/8839"},
		{class: checkid.LaunchCapacityReservation, exact: true, texts: []string{"capacity block reservation…is not active yet", "capacity reservation…is not active", "capacity block…is not active"}, meaning: "the capacity reservation or capacity block is not active: it begins later, or is over",
			sample: "Your Capacity Block reservation cr-0b75117488af6ca9a is not active yet. Launching EC2 instance failed.", source: launchDoc},
		{class: checkid.LaunchCapacityReservation, codes: []string{"InvalidCapacityReservationId.*", "InvalidCapacityReservationIdNotFoundException", "InvalidCapacityReservationIdMalformedException", "InvalidLaunchTargets"}, texts: []string{"the capacity reservation…does not exist"}, meaning: "the capacity reservation that the launch template names does not exist here",
			sample: "InvalidCapacityReservationId.NotFound: The capacity reservation 'cr-0a1b2c3d4e5f60718' does not exist.", source: "EC2 API reference, Error codes"},
		{class: checkid.LaunchCapacityReservation, exact: true, texts: []string{"the market type (purchasing) option is not valid"}, meaning: "the market type and the capacity reservation do not go together: a capacity block takes the market type capacity-block, and nothing else does",
			sample: "InvalidParameterValue: The market type (purchasing) option is not valid. Choose a different market type and try again", source: "https://github.com/terraform-aws-modules/terraform-aws-ec2-instance/issues/404"},
		{class: checkid.LaunchPlacement, exact: true, texts: []string{"limit of instances in this spread placement group"}, meaning: "the spread placement group is full: it takes seven instances in each zone",
			sample: "InsufficientInstanceCapacity: You've reached the limit of instances in this spread placement group. A spread placement group can have up to seven instances per Availability Zone.", source: "https://github.com/aws/karpenter-provider-aws/blob/main/pkg/errors/errors.go"},
		{class: checkid.LaunchPlacement, exact: true, codes: []string{"InvalidPlacementGroup.InUse"}, texts: []string{"the placement group…is in use in another availability zone", "placement group is spread across availability zones"},
			meaning: "the cluster placement group is in use in another zone: all of its instances are in one",
			sample:  "The placement group 'null' is in use in another availability zone: null. Launching EC2 instance failed.", source: "https://github.com/hashicorp/terraform/issues/8064"},
		{class: checkid.LaunchPlacement, codes: []string{"InvalidPlacementGroup.Unknown", "InvalidPlacementGroupId.*", "InvalidHostId", "InvalidHostId.*", "InvalidHostID.*"}, texts: []string{"the placement group…is unknown"}, meaning: "the placement group that the launch template names does not exist here",
			sample: "InvalidPlacementGroup.Unknown: The Placement Group 'hpc' is unknown.", source: "EC2 API reference, Error codes"},
		{class: checkid.LaunchPlacement, codes: []string{"InvalidHostState", "InvalidHostConfiguration", "IncompatibleHostRequirements", "UnavailableHostRequirements", "UnsupportedInstanceTypeOnHost", "UnsupportedHostConfiguration", "InvalidAffinity", "InvalidTenancy", "UnsupportedTenancy"}, meaning: "the dedicated host or tenancy that the launch template asks for does not take the instance",
			sample: "UnsupportedTenancy: The specified tenancy is unsupported.", source: "EC2 API reference, Error codes"},
		{class: checkid.LaunchPlacement, exact: true, texts: []string{"placement groups are not supported by the"}, meaning: "the placement group's strategy does not support this instance type",
			next:   "Let the group launch a type that the strategy supports (aws ec2 describe-instance-types, PlacementGroupInfo.SupportedStrategies; burstable types support no cluster placement group), or take the placement group out of the launch template.",
			sample: "InvalidParameterCombination: Cluster placement groups are not supported by the 't3.xlarge' instance type. Specify a supported instance type or change the placement group strategy, and try again.", source: "https://github.com/dstackai/dstack/issues/2872"},
		{class: checkid.LaunchPlacement, exact: true, texts: []string{"cannot launch an instance with a tenancy of", "placement tenancy is not supported"}, meaning: "the tenancy that the launch template asks for does not go with its placement group or market type",
			next:   "Take either the tenancy or the placement group out of the launch template.",
			sample: "You cannot launch an instance with a tenancy of ''host'' into a placement group. Either remove the placement group from the request, or specify a different tenancy.", source: "https://github.com/crossplane-contrib/provider-aws/issues/1538"},
		{class: checkid.LaunchPlacement, exact: true, texts: []string{"placement groups may not be used with instances of type"}, meaning: "the placement group does not take this instance type",
			sample: "Placement groups may not be used with instances of type 'm1.large'. Launching EC2 instance failed.", source: launchDoc},
		{class: checkid.LaunchPlacement, exact: true, codes: []string{"InsufficientCapacityOnHost"}, texts: []string{"into placement group", "in placement group"}, meaning: "the placement group or the host has no room for the instance where its others are",
			sample: "InsufficientInstanceCapacity: We currently do not have sufficient capacity to launch all of the additional requested instances into Placement Group 'hpc'. Launching EC2 instance failed.", source: "EC2 user guide, Placement strategies: an insufficient capacity error in a cluster placement group"},

		{class: checkid.LaunchProfile, codes: []string{"IamInstanceProfileNotFound", "InvalidIamInstanceProfileArn.*", "InvalidIAMInstanceProfile"}, texts: []string{"invalid iam instance profile", "invalid iaminstanceprofile", "parameter iaminstanceprofile"},
			sample: "You must use a valid fully-formed launch template. Value (eks-d8c6d9f9-90bb-c537-cb25-40c5255cf213) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", source: "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2926"},
		{class: checkid.LaunchUnsupportedType, codes: []string{"Ec2InstanceTypeDoesNotExist", "InvalidAvailabilityZone", "InvalidZone.*"}, texts: []string{"requested instance type…is not supported in your requested availability zone", "requested availability zone is no longer supported"}, meaning: "the instance type is not offered in this zone",
			sample: "InvalidFleetConfiguration - Your requested instance type (c5.large) is not supported in your requested Availability Zone (us-east-1e).", source: "https://github.com/compiler-explorer/infra/issues/601"},
		{class: checkid.LaunchUnsupportedType, texts: []string{"instance type is not eligible for free tier"}, meaning: "the account is on the Free plan, which launches Free Tier types only",
			next:   "Upgrade the account's plan, or launch a Free Tier type: aws ec2 describe-instance-types --filters Name=free-tier-eligible,Values=true lists them.",
			sample: "Could not launch On-Demand Instances. InvalidParameterCombination - The specified instance type is not eligible for Free Tier. For a list of Free Tier instance types, run 'describe-instance-types' with the filter 'free-tier-eligible=true'. Launching EC2 instance failed.", source: "https://github.com/LinkedInLearning/learning-terraform-3087701/issues/345"},

		{class: checkid.LaunchTemplate, codes: []string{"InvalidKeyPair.*", "InvalidKey.Format"}, texts: []string{"the key pair…does not exist"}, meaning: "the key pair that the launch template names does not exist",
			sample: "You must use a valid fully-formed launch template. The key pair 'ppp-stg_key_pair' does not exist", source: "https://github.com/Guimove/terraform-aws-bastion/issues/173"},
		{class: checkid.LaunchTemplate, codes: []string{"InvalidBlockDeviceMapping", "InvalidSnapshot.*", "InvalidSnapshotID.*", "InvalidUserData.*", "UnknownVolumeType", "VolumeTypeNotAvailableInZone", "BootForVolumeTypeUnsupported", "EncryptedVolumesNotSupported", "VolumeIOPSLimit", "NonEBSInstance"}, texts: []string{"volume of size…is smaller than", "invalid device name", "parameter virtualname is invalid", "ebs block device mappings not supported", "user data is limited to"}, meaning: "a volume or the user data of the launch template is not as EC2 takes it",
			sample: "Could not launch Spot Instances. InvalidBlockDeviceMapping - Volume of size 22GB is smaller than  snapshot 'snap-0b5c5ea11d58e1fec', expect size >= 30GB. Launching EC2 instance failed.", source: "https://github.com/DNXLabs/terraform-aws-ecs/pull/24"},
		{class: checkid.LaunchTemplate, codes: []string{"InvalidSubnetID.*", "InvalidSubnet"}, texts: []string{"the subnet id…does not exist"}, meaning: "the subnet that the group names does not exist",
			sample: "Error launching source instance: InvalidSubnetID.NotFound: The subnet ID 'subnet-ed4ddcb6' does not exist", source: "https://github.com/terraform-aws-modules/terraform-aws-ec2-instance/issues/20"},
		{class: checkid.LaunchTemplate, codes: []string{"InvalidLaunchTemplateId.*", "InvalidLaunchTemplateName.*", "InvalidLaunchTemplateVersion.*", "Ec2LaunchTemplateNotFound", "SourceEc2LaunchTemplateNotFound"},
			texts: []string{"specified launch template…does not exist", "launch template associated with this auto scaling group cannot be found", "invalid launch template"}, meaning: "the launch template or its version does not exist, or does not parse",
			sample: "InvalidLaunchTemplateId.NotFound: The specified launch template, with template ID lt-019c5be5798f24ca7, does not exist.", source: "https://github.com/aws/karpenter-provider-aws/pull/5665"},

		{class: checkid.LaunchTemplate, codes: []string{"InvalidNetworkInterface.*", "InvalidNetworkInterfaceID.*", "InvalidNetworkInterfaceId.*", "InvalidInterface.*", "AttachmentLimitExceeded", "PrivateIpAddressLimitExceeded", "InvalidIPAddress.InUse", "VPCIdNotSpecified", "VPCResourceNotSpecified", "DefaultVpcDoesNotExist"}, meaning: "the network interfaces of the launch template are not as this instance type and subnet take them",
			sample: "AttachmentLimitExceeded: Interface count 4 exceeds the limit for t3.medium", source: "EC2 API reference, Error codes"},
		{class: checkid.LaunchTemplate, texts: []string{"for the device index exceeds the maximum number of network interfaces"}, meaning: "the launch template has more network interfaces on a card than this instance type",
			sample: "The specified number '2' for the device index exceeds the maximum number of network interfaces supported by the network card at network card index 2.", source: "https://github.com/eksctl-io/eksctl/issues/7520"},
		{class: checkid.LaunchTemplate, codes: []string{"InvalidTagKey.*", "TagLimitExceeded", "UnsupportedHibernationConfiguration", "InvalidCpuCredits.*", "InstanceCreditSpecification.NotSupported", "InvalidInstanceAttributeValue", "MaxTemplateLimitExceeded", "MaxTemplateVersionLimitExceeded"}, meaning: "an option of the launch template is not as EC2 takes it",
			sample: "InvalidTagKey.Malformed: The specified tag key is not valid. Tag keys cannot be empty or null, and cannot start with aws:.", source: "EC2 API reference, Error codes"},

		{class: checkid.LaunchThrottled, codes: []string{"RequestLimitExceeded", "Throttling", "ThrottlingException", "TooManyRequestsException", "EC2ThrottledException", "RequestThrottled", "RequestThrottledException", "AutoScalingGroupRateLimitExceeded"}, texts: []string{"request limit exceeded", "rate exceeded"},
			sample: "Request limit exceeded. Account 111122223333 has been throttled on ec2:RunInstances because it exceeded its request rate limit.", source: "https://github.com/CloudSnorkel/cdk-github-runners/issues/946"},
		{class: checkid.LaunchSuspended, texts: []string{"suspensionreason", "user suspended at", "administrative suspension", "administratively suspended"},
			sample: "suspensionReason: 'User suspended at 2016-01-12T22:59:46Z'", source: "code search: a deployment tool's test of suspended processes"},
		// The sentence behind it says which policy refuses (package denial): it counts
		// before this row where it is one above the launcher's own.
		{class: checkid.LaunchUnauthorized, codes: []string{"UnauthorizedOperation"}, texts: []string{"you are not authorized to perform this operation", "not authorized to use launch template", "is not authorized to perform: ec2:", "is not authorized to perform: iam:passrole"},
			sample: "UnauthorizedOperation: You are not authorized to perform this operation. Encoded authorization failure message: g4oZPBqZ4Bni8dE5dGjxYTnOZ", source: "https://github.com/aws/karpenter-provider-aws/issues/7370"},

		{class: checkid.LaunchInsufficientCapacity, codes: []string{"InsufficientInstanceCapacity", "InsufficientCapacity", "InsufficientHostCapacity", "InsufficientReservedInstanceCapacity", "InsufficientReservedInstancesCapacity", "InsufficientVolumeCapacity", "SpotInstanceCapacityNotAvailable"},
			texts:  []string{"do not have sufficient…capacity", "no spot capacity available", "insufficient capacity", "capacity-not-available", "capacity-oversubscribed", "all requested instance types were unavailable during launch"},
			sample: "We currently do not have sufficient g4dn.8xlarge capacity in the Availability Zone you requested (us-east-1a). Our system will be working on provisioning additional capacity.", source: "https://github.com/ITISFoundation/osparc-simcore/issues/3629"},

		{class: checkid.LaunchUnsupportedType, weak: true, codes: []string{"Unsupported", "UnsupportedOperation", "InvalidInstanceType", "InvalidInstanceFamily"}, texts: []string{"requested configuration is currently not supported"}, meaning: "the instance type, the zone and the launch template's options do not go together",
			sample: "The requested configuration is currently not supported. Please check the documentation for supported configurations. Launching EC2 instance failed.", source: "https://github.com/gruntwork-io/intro-to-terraform/issues/6"},
		// A text that names a placement group or a tenancy, and nothing that is known better.
		{class: checkid.LaunchPlacement, weak: true, texts: []string{"placement group", "dedicated tenancy", "host resource group"},
			sample: "InvalidParameterValue: The placement group hpc has 3 partitions.", source: "EC2 user guide, Placement groups; with other words"},
		{class: checkid.LaunchInsufficientCapacity, weak: true, codes: []string{"UnfulfillableCapacity"}, texts: []string{"unable to fulfill capacity due to your request configuration"}, meaning: "no pool of the request has capacity (mostly Spot): its types, zones and price leave none",
			sample: "Could not launch Spot Instances. UnfulfillableCapacity - Unable to fulfill capacity due to your request configuration. Please adjust your request and try again. Launching EC2 instance failed.", source: "https://github.com/buildkite/elastic-ci-stack-for-aws/issues/851"},
		{class: checkid.LaunchAccountValidation, weak: true, codes: []string{"OptInRequired", "AutoScalingGroupOptInRequired"}, meaning: "the account is not signed up for EC2",
			sample: "OptInRequired: The AWS Access Key Id needs a subscription for the service", source: "https://github.com/aws-amplify/amplify-js/issues/2796"},
		{class: checkid.LaunchTemplate, weak: true, codes: []string{"InvalidFleetConfiguration", "InvalidSpotFleetRequestConfig"}, meaning: "EC2 does not take the fleet's configuration; the message says what",
			sample: "InvalidFleetConfiguration: The fleet configuration contains duplicate instance pools", source: "in the form of github.com/aws/karpenter-provider-aws/issues/476, with other words"},
		{class: checkid.LaunchTemplate, weak: true, texts: []string{"fully-formed launch template"}, meaning: "Auto Scaling cannot use the launch template as it is",
			sample: "You must use a valid fully-formed launch template. Value () for parameter groupId is invalid. The value cannot be empty", source: "https://github.com/ryanmurakami/hbfl/issues/58"},
		{class: checkid.LaunchUnclassified, exact: true, texts: []string{"failed to complete users lifecycle action…heartbeat timeout"}, meaning: "a launch lifecycle hook of the group timed out, and its default result is ABANDON",
			next:   "Find out what should complete the hook (user data, a Lambda function, CodeDeploy, a queue's consumer) and why it did not in time: its log, and the instance's console output. If the instance only needs longer, raise the hook's heartbeat timeout.",
			sample: "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token 95c60857-3c0a-4a67-8518-6dc18797e421 was abandoned: Heartbeat Timeout", source: "https://repost.aws/knowledge-center/lifecycle-actions-code-deploy"},
		{class: checkid.LaunchUnclassified, exact: true, texts: []string{"failed to complete users lifecycle action"}, meaning: "a launch lifecycle hook of the group abandoned the instance",
			next:   "Find out what completes the hook with ABANDON (user data, a Lambda function, CodeDeploy, a queue's consumer) and why: its log, and the instance's console output.",
			sample: "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token e85eb647-4fe0-4909-b341-a6c42d8aba1f was abandoned: Lifecycle Action Completed with ABANDON Result", source: "https://docs.aws.amazon.com/autoscaling/ec2/userguide/CHAP_Troubleshooting.html"},
		{class: checkid.LaunchUnclassified, weak: true, codes: []string{"Server.InternalError"}, texts: []string{"internal error on launch"}, meaning: "a fault inside EC2 ended the launch; where it repeats, a KMS key that the launcher may not use",
			sample: "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Server.InternalError: Internal error on launch", source: "https://github.com/cloudcaptainsh/cloudcaptain/issues/204"},
	}
}
