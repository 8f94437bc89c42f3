package slashcommand

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/report"
	"rollcall/shared/silence"
)

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
				return report.Ask{}, wrong("Something is to follow “" + key + "”. A silence is " + form + ".")
			}
			value, has = words[i].text, true
		}
		switch {
		case !has:
			return report.Ask{}, wrong(quoted(words[i].text) + " is not understood. A reason of several words is put in quotes. A silence is " + form + ".")
		case said[key]:
			return report.Ask{}, wrong("“" + key + "” is said twice.")
		case value == "":
			return report.Ask{}, wrong("Something is to follow “" + quotedKey(key) + "=”.")
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
		return report.Ask{}, wrong("Say for how long: `for 2h`. A silence is " + form + ".")
	}
	return ask, soundAsk(ask, now)
}

// soundAsk tells whether such a silence may be.
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
			err = wrong(quoted(value) + " is no name of a nodegroup.")
		}
	case "tag":
		ask.Tag, err = parseTag(value)
	case "check":
		if ask.Check = checkid.ID(strings.ToLower(value)); !known(ask.Check) {
			err = wrong("There is no check " + quoted(value) + ". Its id is in the last line of a message, like `route/no-egress`.")
		}
	case "for":
		ask.For, err = parseSpan(value)
	case "from":
		ask.From, err = parseFrom(value)
	case "weekly":
		ask.Weekly, err = parseWeekly(value)
	case "reason":
		if ask.Reason = strings.Join(strings.Fields(value), " "); len([]rune(ask.Reason)) > maxReason {
			err = wrong(fmt.Sprintf("A reason has %d characters at most.", maxReason))
		}
	default:
		err = wrong("“" + quotedKey(key) + "=” is not understood. A silence is " + form + ".")
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
		return nil, wrong(quoted(text) + " is no tag. Name one as `tag=team=payments`.")
	}
	return &silence.Tag{Key: key, Value: value}, nil
}

func parseFrom(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04Z"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, wrong(quoted(text) + " is no time. Say it with its zone: `from=2026-11-24T22:00Z` (UTC) or `from=2026-11-24T22:00+01:00`.")
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
