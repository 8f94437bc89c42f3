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
	"rollcall/shared/node/messages"
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
	// NeverRan reports whether an instance that ended for this did not get as far
	// as a node could have.
	NeverRan bool
}

// Classify tells why a launch failed. Codes count before sentences. A text
// that nothing fits is Unclassified and is shown as it is.
func Classify(text string) Verdict {
	v := Verdict{Class: checkid.LaunchUnclassified, Text: Clean(text), NeverRan: true}
	if m, by, ok := find(text); ok {
		v.Class, v.Meaning, v.Next, v.By = m.Check, m.Meaning, m.Next, by
	}
	if d, ok := denial.Parse(text); ok {
		v.Denial = &d
		if denial.Above(d) {
			v.Class, v.Meaning, v.Next, v.By = checkid.LaunchPolicyDenied, Forbids(d), "", d.Kind
		}
	}
	v.Named = NamedIn(text)
	meaning, next := messages.Words(v.Class)
	v.Meaning, v.Next = cmp.Or(v.Meaning, meaning), cmp.Or(v.Next, next)
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

// Asked reports from the cause of a terminating activity whether it was requested
// of the group: a scale-in, a replacement through the group, an instance
// refresh. Health checks and failed launches are the rest.
func Asked(cause string) bool {
	return slices.ContainsFunc([]string{"shrinking the capacity", "in response to a user request", "instance refresh"}, func(part string) bool {
		return strings.Contains(cause, part)
	})
}

// FoundEnded reports whether the group only found that the instance had been ended, or
// was being ended, by another.
func FoundEnded(cause string) bool {
	return strings.Contains(cause, "health check indicating it has been terminated or stopped") ||
		strings.Contains(cause, "termination notice")
}

// Failing reports whether the group replaced an instance because a status or health
// check of it failed. A health that a user set ("a user health-check") is
// none of these.
func Failing(cause string) bool {
	return strings.Contains(cause, "status checks failure") || strings.Contains(cause, "system health check failure")
}

// Rebalancing reports whether the group replaced an instance by itself, as Capacity
// Rebalancing does: there was no request for it, and it had not been ended before.
func Rebalancing(cause string) bool { return !Asked(cause) && !FoundEnded(cause) }

// Launching reports whether a scaling activity with this description was to start
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
	return description == "" && (message == "" || messages.Contains(normal(message), "launching ec2 instance failed", maxGap) ||
		messages.Contains(normal(message), "spot instance request failed", maxGap) || Classify(message).Class != checkid.LaunchUnclassified)
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
	return messages.Contains(normal(message), "failed to complete users lifecycle action", maxGap)
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
		if messages.Contains(plain, phrase, maxGap) {
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

// tookBack reports whether a reason begins with a code of EC2's for Spot capacity
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

// Administrative reports whether Auto Scaling itself suspended a process, because
// launches failed for a day (Auto Scaling user guide, "Suspend and resume
// processes").
func Administrative(reason string) bool {
	return strings.Contains(strings.ToLower(reason), "administrative")
}

// find finds the row for a text, and the code or phrase that told it: an exact
// row, else the first with a code, else the first with a phrase, and weak rows
// last. This is the defined order where two would fit.
func find(text string) (found messages.Row, by string, ok bool) {
	text = strings.ToValidUTF8(bound(text), "")
	plain := normal(text)
	x := known()
	codes, words := x.codes.Find(text), x.words.Find(plain)
	hasCode := func(i int, r messages.Row) (by string) {
		if codes.Any(0, i) {
			by = first(r.Codes, func(code string) bool { return coded(text, code) })
		}
		return by
	}
	hasWords := func(i int, r messages.Row) (by string) {
		if words.Any(0, i) {
			by = first(r.First(), func(phrase string) bool { return messages.Contains(plain, phrase, maxGap) })
		}
		return by
	}
	for _, pass := range []struct {
		of  func(messages.Row) bool
		has func(int, messages.Row) string
	}{
		{func(r messages.Row) bool { return r.Exact }, hasWords},
		{func(r messages.Row) bool { return !r.Weak }, hasCode}, {func(r messages.Row) bool { return !r.Weak }, hasWords},
		{func(r messages.Row) bool { return r.Weak }, hasCode}, {func(r messages.Row) bool { return r.Weak }, hasWords},
	} {
		for i, r := range x.rows {
			if !pass.of(r) {
				continue
			}
			if by := pass.has(i, r); by != "" {
				return r, by, true
			}
		}
	}
	return messages.Row{}, "", false
}

func first(list []string, is func(string) bool) string {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i]
	}
	return ""
}

// index finds the rows that a text may fit, by their codes and by their words.
type index struct {
	rows         []messages.Row
	codes, words messages.Index
}

var known = sync.OnceValue(func() index {
	x := index{rows: messages.LaunchRows()}
	var codes, words [][]string
	for _, r := range x.rows {
		var families []string
		for _, code := range r.Codes {
			families = append(families, strings.TrimSuffix(code, "*"))
		}
		codes, words = append(codes, families), append(words, r.First())
	}
	x.codes, x.words = messages.NewIndex(codes), messages.NewIndex(words)
	return x
})

// coded reports whether a code stands in a text, alone or where APIs and SDKs write
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

// isWord reports whether a code could stand in a sentence: one capital, no dot.
func isWord(code string) bool {
	return !strings.ContainsFunc(code[1:], func(r rune) bool { return unicode.IsUpper(r) || r == '.' })
}

// placed reports whether what is between before and after stands as a code does.
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
		for _, kind := range []struct {
			prefix string
			field  *string
		}{
			{"i-", &n.Instance}, {"subnet-", &n.Subnet}, {"ami-", &n.AMI}, {"sg-", &n.SecurityGroup}, {"lt-", &n.Template}, {"snap-", &n.Snapshot}, {"vol-", &n.Volume}, {"eni-", &n.Interface},
		} {
			if resource(word, kind.prefix) {
				set(kind.field, word)
			}
		}
		switch {
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
	if spot && letters == "p" {
		letters = family[:min(len(family), 2)] // its generations have their own
	}
	for _, row := range []struct {
		letters        []string
		onDemand, spot Quota
	}{
		{[]string{"a", "c", "d", "h", "i", "m", "r", "t", "z", "im", "is"}, Quota{"L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances"},
			Quota{"L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests"}},
		{[]string{"g", "gr", "vt"}, Quota{"L-DB2E81BA", "Running On-Demand G and VT instances"}, Quota{"L-3819A6DF", "All G and VT Spot Instance Requests"}},
		{[]string{"p"}, Quota{"L-417A185B", "Running On-Demand P instances"}, Quota{}},
		{[]string{"p2", "p3", "p4"}, Quota{}, Quota{"L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests"}},
		{[]string{"p5"}, Quota{}, Quota{"L-C4BD4855", "All P5 Spot Instance Requests"}},
		{[]string{"x"}, Quota{"L-7295265B", "Running On-Demand X instances"}, Quota{"L-E3A00192", "All X Spot Instance Requests"}},
		{[]string{"f"}, Quota{"L-74FC7D96", "Running On-Demand F instances"}, Quota{"L-88CF9481", "All F Spot Instance Requests"}},
		{[]string{"inf"}, Quota{"L-1945791B", "Running On-Demand Inf instances"}, Quota{"L-B5D1601B", "All Inf Spot Instance Requests"}},
		{[]string{"trn"}, Quota{"L-2C3B7624", "Running On-Demand Trn instances"}, Quota{"L-6B0D517C", "All Trn Spot Instance Requests"}},
		{[]string{"dl"}, Quota{"L-6E869C2A", "Running On-Demand DL instances"}, Quota{"L-85EED4F7", "All DL Spot Instance Requests"}},
		{[]string{"hpc"}, Quota{"L-F7808C92", "Running On-Demand HPC instances"}, Quota{}},
		{[]string{"u"}, Quota{"L-43DA4232", "Running On-Demand High Memory instances"}, Quota{}},
	} {
		if slices.Contains(row.letters, letters) {
			if q = row.onDemand; spot {
				q = row.spot
			}
			return q, q.Code != ""
		}
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
		if m, _, ok := find(text); ok && m.Check != checkid.LaunchUnclassified {
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

// Ended finds a state reason of an instance that ended in a pasted
// text.
func Ended(text string) (Verdict, bool) {
	for _, r := range reasons() {
		if coded(text, r.code) {
			return ClassifyReason(r.code, ""), true
		}
	}
	return Verdict{}, false
}
