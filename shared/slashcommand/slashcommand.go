// Package slashcommand reads what a user typed after /rollcall. What it does not
// understand it answers with what may be said.
package slashcommand

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"rollcall/shared/checkid"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/spoke"
)

// MaxText is how long a command may be, in bytes: a message of Slack has 4,000 characters.
const MaxText = 16000

// Problem is why a command is not one, for whoever typed it. It quotes at most 40
// characters of what they typed.
type Problem struct{ Says string }

func (p *Problem) Error() string { return p.Says }

func wrong(says string) error { return &Problem{says} }

// Parse reads the text of a command. Known reports whether there is a check of that id.
func Parse(text string, now time.Time, known func(checkid.ID) bool) (report.Ask, error) {
	if len(text) > MaxText {
		return report.Ask{}, wrong("That is too long for a command.")
	}
	words, err := split(text)
	if err != nil {
		return report.Ask{}, err
	}
	if len(words) == 0 {
		return report.Ask{Verb: report.AskHelp}, nil
	}
	verb, rest := report.Verb(strings.ToLower(words[0].text)), words[1:]
	switch verb {
	case report.AskHelp, report.AskStatus, report.AskClusters, report.AskSilences:
		if len(rest) > 0 {
			return report.Ask{}, wrong("/rollcall " + string(verb) + " takes no arguments, but got " + quoted(rest[0].text) + ".")
		}
		return report.Ask{Verb: verb}, nil
	case report.AskSilence:
		return parseSilence(rest, now, known)
	case report.AskUnsilence:
		if len(rest) != 1 || !silenceID().MatchString(strings.ToLower(rest[0].text)) {
			return report.Ask{}, wrong("Which silence? Use `/rollcall unsilence ID`. `/rollcall silences` lists them with their ids.")
		}
		return report.Ask{Verb: verb, Silence: strings.ToLower(rest[0].text)}, nil
	case report.AskWhy:
		if len(rest) != 1 || !instanceID().MatchString(rest[0].text) {
			return report.Ask{}, wrong("Which instance? Use `/rollcall why i-0abc1234def567890`.")
		}
		return report.Ask{Verb: verb, Instance: rest[0].text}, nil
	case report.AskReport:
		return parseReport(rest)
	}
	return report.Ask{}, wrong("Unknown command: /rollcall " + quoted(words[0].text) + ". Commands: help, status, clusters, silence, silences, unsilence, why, report.")
}

// The forms of ids. EC2's are of 8 or 17 hex digits (EC2 user guide, "Resource IDs"), a
// silence's of 8.
func instanceID() *regexp.Regexp { return regexp.MustCompile(`^i-(?:[0-9a-f]{8}|[0-9a-f]{17})$`) }
func silenceID() *regexp.Regexp  { return regexp.MustCompile(`^[0-9a-f]{8}$`) }

// clusterName is EKS's form of a cluster's name (CreateCluster), nodegroupName that of a
// nodegroup's (CreateNodegroup).
func clusterName() *regexp.Regexp   { return regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$`) }
func nodegroupName() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9_-]{0,62}$`) }

func parseCluster(text string) (spoke.Cluster, error) {
	c, err := spoke.ParseCluster(text)
	if err != nil || !clusterName().MatchString(c.Name) {
		return spoke.Cluster{}, wrong(quoted(text) + " is not a cluster name. Use `cluster=prod`, or, for another account, `cluster=222233334444/eu-west-1/prod`; `/rollcall clusters` lists them.")
	}
	return c, nil
}

// parseReport reads "[cluster=X] [24h|7d]".
func parseReport(words []word) (report.Ask, error) {
	ask := report.Ask{Verb: report.AskReport, For: 24 * time.Hour}
	for _, w := range words {
		switch key, value, _ := strings.Cut(w.text, "="); {
		case key == "cluster" && value != "" && ask.Cluster.Name == "":
			var err error
			if ask.Cluster, err = parseCluster(value); err != nil {
				return report.Ask{}, err
			}
		case w.text == "24h", w.text == "1d":
			ask.For = 24 * time.Hour
		case w.text == "7d", w.text == "1w":
			ask.For = 7 * 24 * time.Hour
		default:
			return report.Ask{}, wrong("Use `/rollcall report`, with `cluster=prod` for one cluster, and `24h` or `7d`; not " + quoted(w.text) + ".")
		}
	}
	return ask, nil
}

// parseSpan reads how long something lasts: 30m, 2h, 3d, 1w.
func parseSpan(text string) (time.Duration, error) {
	m := regexp.MustCompile(`^([0-9]{1,4})(m|h|d|w)$`).FindStringSubmatch(strings.ToLower(text))
	if m == nil {
		return 0, wrong(quoted(text) + " is not a duration. Use 30m, 2h, 3d or 1w.")
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0, wrong(quoted(text) + " is not a duration.")
	}
	unit := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[m[2]]
	return time.Duration(n) * unit, nil
}

// SaysOf is the answer where a silence cannot be.
func SaysOf(err error) string {
	for _, e := range []struct {
		err  error
		says string
	}{
		{silence.ErrCluster, "Which cluster? Add `cluster=prod`. `/rollcall clusters` lists them."},
		{silence.ErrShort, "A silence lasts at least 5 minutes."},
		{silence.ErrLong, "A silence lasts at most 30 days. Start another one when it ends."},
		{silence.ErrReason, "A silence longer than a day needs a reason: add `reason \"node upgrade, ticket 123\"`."},
		{silence.ErrBegins, "A silence starts now or within 30 days, not in the past."},
		{silence.ErrWindow, "A weekly window is a day and two times in UTC: `weekly=Sat/02:00-06:00`."},
		{silence.ErrNarrowed, "Name a nodegroup or a tag, not both."},
	} {
		if errors.Is(err, e.err) {
			return e.says
		}
	}
	return "That silence is not possible."
}

// quoted is a piece of what a user typed, short, on one line, and harmless in mrkdwn.
func quoted(text string) string {
	runes := []rune(strings.ToValidUTF8(text, ""))
	cut := len(runes) > 40
	runes = runes[:min(len(runes), 40)]
	for i, r := range runes {
		// Format characters turn the direction of a line, or are not seen; marks and letters
		// of any script stay.
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || strings.ContainsRune("`<>&*_~", r) {
			runes[i] = '·'
		}
	}
	s := "“" + string(runes)
	if cut {
		s += "…"
	}
	return s + "”"
}

// Help is what /rollcall help says, in Slack's mrkdwn.
func Help() string {
	return strings.Join([]string{
		"*Rollcall commands*",
		"`/rollcall status`  open, muted and silenced incidents, and when the clusters were last checked",
		"`/rollcall clusters`  the watched clusters",
		"`/rollcall why i-0abc1234def567890`  what Rollcall knows about an instance",
		"`/rollcall report`  launches and incidents in the last 24 hours; `7d` for a week, `cluster=prod` for one cluster",
		"`/rollcall silences`  who silenced what, until when, and why",
		"`/rollcall silence cluster=prod for 2h reason \"node upgrade\"`  suppress its notifications",
		"    narrowed by `nodegroup=workers` or `tag=team=payments`, and `check=route/no-egress`",
		"    later: `from=2026-11-24T22:00Z`; every week: `weekly=Sat/02:00-06:00` (UTC)",
		"    at most 30 days; longer than a day needs a reason",
		"`/rollcall unsilence ID`  end a silence",
		"Silenced findings are still recorded, and posted when the silence ends if they persist.",
	}, "\n")
}

// maxReason is how long a reason may be, in characters: two lines of a message.
const maxReason = 300

// form is how a silence is said.
const form = "`/rollcall silence cluster=prod for 2h reason \"node upgrade\"`, narrowed by `nodegroup=workers` or `tag=team=payments`, `check=route/no-egress`, `from=2026-11-24T22:00Z` or `weekly=Sat/02:00-06:00`"

// parseSilence reads "cluster=X [nodegroup=…|tag=KEY=VALUE] [check=ID] [from=…]
// [weekly=…] for 2h [reason "…"]", in any order.
func parseSilence(words []word, now time.Time, known func(checkid.ID) bool) (report.Ask, error) {
	ask := report.Ask{Verb: report.AskSilence}
	said := map[string]bool{}
	for i := 0; i < len(words); i++ {
		key, value, has := strings.Cut(words[i].text, "=")
		key = strings.ToLower(key)
		if words[i].whole {
			has, key = false, ""
		}
		if !has && (key == "for" || key == "reason") {
			if i++; i == len(words) {
				return report.Ask{}, wrong("A value is missing after “" + key + "”. The form is " + form + ".")
			}
			value, has = words[i].text, true
		}
		switch {
		case !has:
			return report.Ask{}, wrong(quoted(words[i].text) + " is not recognized. Put a reason of several words in quotes. The form is " + form + ".")
		case said[key]:
			return report.Ask{}, wrong("“" + key + "” is given twice.")
		case value == "":
			return report.Ask{}, wrong("A value is missing after “" + quotedKey(key) + "=”.")
		}
		if err := setSilence(&ask, key, value, known); err != nil {
			return report.Ask{}, err
		}
		said[key] = true
	}
	switch {
	case ask.Cluster.Name == "":
		return report.Ask{}, wrong(SaysOf(silence.ErrCluster))
	case ask.For == 0:
		return report.Ask{}, wrong("For how long? Add `for 2h`. The form is " + form + ".")
	}
	return ask, soundAsk(ask, now)
}

// soundAsk is an error where there may be no such silence.
func soundAsk(ask report.Ask, now time.Time) error {
	from := ask.From
	if from.IsZero() {
		from = now
	}
	err := silence.Silence{
		ID: "00000000", Cluster: ask.Cluster.Name, Nodegroup: ask.Nodegroup, Tag: ask.Tag, Weekly: ask.Weekly, By: silence.Person{ID: "U"}, At: now,
		From: from, Until: from.Add(ask.For), Reason: ask.Reason,
	}.Sound()
	switch {
	case err != nil:
		return wrong(SaysOf(err))
	case from.Before(now.Add(-time.Minute)):
		return wrong(SaysOf(silence.ErrBegins))
	}
	return nil
}

// setSilence sets one thing of a silence.
func setSilence(ask *report.Ask, key, value string, known func(checkid.ID) bool) (err error) {
	switch key {
	case "cluster":
		ask.Cluster, err = parseCluster(value)
	case "nodegroup":
		if ask.Nodegroup = value; !nodegroupName().MatchString(value) {
			err = wrong(quoted(value) + " is not a nodegroup name.")
		}
	case "tag":
		ask.Tag, err = parseTag(value)
	case "check":
		if ask.Check = checkid.ID(strings.ToLower(value)); !known(ask.Check) {
			err = wrong("Unknown check: " + quoted(value) + ". The id is in the last line of a message, like `route/no-egress`.")
		}
	case "for":
		ask.For, err = parseSpan(value)
	case "from":
		ask.From, err = parseFrom(value)
	case "weekly":
		ask.Weekly, err = parseWeekly(value)
	case "reason":
		if ask.Reason = strings.Join(strings.Fields(value), " "); len([]rune(ask.Reason)) > maxReason {
			err = wrong(fmt.Sprintf("A reason can have at most %d characters.", maxReason))
		}
	default:
		err = wrong("“" + quotedKey(key) + "=” is not recognized. The form is " + form + ".")
	}
	return err
}

func quotedKey(key string) string { return strings.Trim(quoted(key), "“”") }

// parseTag reads KEY=VALUE, of which the key has no "=" (EKS takes it in keys; such a tag
// cannot be named here).
func parseTag(text string) (*silence.Tag, error) {
	key, value, has := strings.Cut(text, "=")
	// EKS: a key has 128 characters at most, a value 256.
	if !has || key == "" || len([]rune(key)) > 128 || len([]rune(value)) > 256 {
		return nil, wrong(quoted(text) + " is not a tag. Use `tag=team=payments`.")
	}
	return &silence.Tag{Key: key, Value: value}, nil
}

func parseFrom(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04Z"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, wrong(quoted(text) + " is not a time. Write it with its zone: `from=2026-11-24T22:00Z` (UTC) or `from=2026-11-24T22:00+01:00`.")
}

// parseWeekly reads a day of the week and two times in UTC: "Sat/02:00-06:00".
func parseWeekly(text string) (*silence.Window, error) {
	m := regexp.MustCompile(`^([A-Za-z]{3})[a-z]*/([0-2][0-9]):([0-5][0-9])-([0-2][0-9]):([0-5][0-9])$`).FindStringSubmatch(text)
	if m == nil {
		return nil, wrong(SaysOf(silence.ErrWindow))
	}
	w := silence.Window{Day: -1, From: clock(m[2], m[3]), To: clock(m[4], m[5])}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(d.String()[:3], m[1]) {
			w.Day = d
		}
	}
	if w.Day < 0 || w.From >= 24*time.Hour || w.To >= 24*time.Hour || w.From == w.To {
		return nil, wrong(SaysOf(silence.ErrWindow))
	}
	return &w, nil
}

// clock is a time of the day of which the digits are known to be some.
func clock(hours, minutes string) time.Duration {
	h, _ := strconv.Atoi(hours)
	m, _ := strconv.Atoi(minutes)
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
}

// word is a word of a command; quoted ones may hold blanks.
type word struct {
	text string
	// whole is set where all of it was quoted: it is no key and no verb.
	whole bool
}

// closing is the quote that ends what another one begins; 0 for what is none. Beside those
// that people type there are those that keyboards make of them: iOS and macOS turn "…"
// into “…” as one types.
func closing(r rune) rune {
	switch r {
	case '"', '\'':
		return r
	case '“':
		return '”'
	case '„':
		return '“'
	case '«':
		return '»'
	case '‘':
		return '’'
	}
	return 0
}

// split cuts a command at its blanks. A quote begins a word, or follows its "=".
func split(text string) ([]word, error) {
	var words []word
	var b strings.Builder
	var until rune // the quote that ends what is quoted
	open, whole := false, false
	end := func() {
		if open {
			words = append(words, word{b.String(), whole})
		}
		b.Reset()
		open, whole = false, false
	}
	for _, r := range text {
		switch {
		case until != 0 && isEnd(until, r):
			until = 0
		case until != 0:
			b.WriteRune(r)
		case unicode.IsSpace(r):
			end()
		case closing(r) != 0 && (!open || strings.HasSuffix(b.String(), "=")):
			until, whole, open = closing(r), !open, true
		default:
			open = true
			b.WriteRune(r)
		}
	}
	if until != 0 {
		return nil, wrong("Missing closing quote: “reason \"node upgrade\"”.")
	}
	end()
	return words, nil
}

// isEnd tells the end of what is quoted: a keyboard may turn one of the two alone.
func isEnd(until, r rune) bool {
	return r == until || until == '”' && (r == '"' || r == '“') || until == '"' && r == '”'
}
