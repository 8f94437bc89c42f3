// Package slashcommand reads what somebody typed after /rollcall. What it does not
// understand it answers with what may be said.
package slashcommand

import (
	"errors"
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

// Parse reads the text of a command. Known tells whether there is a check of that id.
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
			return report.Ask{}, wrong("/rollcall " + string(verb) + " takes nothing after it, and there is " + quoted(rest[0].text) + ".")
		}
		return report.Ask{Verb: verb}, nil
	case report.AskSilence:
		return parseSilence(rest, now, known)
	case report.AskUnsilence:
		if len(rest) != 1 || !silenceID().MatchString(strings.ToLower(rest[0].text)) {
			return report.Ask{}, wrong("Say which silence to end: `/rollcall unsilence ID`. `/rollcall silences` lists them with their ids.")
		}
		return report.Ask{Verb: verb, Silence: strings.ToLower(rest[0].text)}, nil
	case report.AskWhy:
		if len(rest) != 1 || !instanceID().MatchString(rest[0].text) {
			return report.Ask{}, wrong("Say which instance: `/rollcall why i-0abc1234def567890`.")
		}
		return report.Ask{Verb: verb, Instance: rest[0].text}, nil
	case report.AskReport:
		return parseReport(rest)
	}
	return report.Ask{}, wrong("There is no /rollcall " + quoted(words[0].text) + ". There are: help, status, clusters, silence, silences, unsilence, why, report.")
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
		return spoke.Cluster{}, wrong(quoted(text) + " is no name of a cluster. Name one as `cluster=prod`, or, in another account, `cluster=222233334444/eu-west-1/prod`; `/rollcall clusters` lists them.")
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
			return report.Ask{}, wrong("A report is `/rollcall report`, with `cluster=prod` for one cluster, and `24h` or `7d`; not " + quoted(w.text) + ".")
		}
	}
	return ask, nil
}

// parseSpan reads how long something lasts: 30m, 2h, 3d, 1w.
func parseSpan(text string) (time.Duration, error) {
	m := regexp.MustCompile(`^([0-9]{1,4})(m|h|d|w)$`).FindStringSubmatch(strings.ToLower(text))
	if m == nil {
		return 0, wrong(quoted(text) + " is no length of time. Say it as 30m, 2h, 3d or 1w.")
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0, wrong(quoted(text) + " is no length of time.")
	}
	unit := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[m[2]]
	return time.Duration(n) * unit, nil
}

// SaysOf is what is told of a silence that cannot be.
func SaysOf(err error) string {
	for _, e := range []struct {
		err  error
		says string
	}{
		{silence.ErrCluster, "Say of which cluster: `cluster=prod`. `/rollcall clusters` lists them."},
		{silence.ErrShort, "A silence lasts 5 minutes or more."},
		{silence.ErrLong, "A silence lasts 30 days at most. Begin another one when it ends."},
		{silence.ErrReason, "A silence of more than a day needs a reason: add `reason \"node upgrade, ticket 123\"`."},
		{silence.ErrBegins, "A silence begins now or within 30 days, not in the past."},
		{silence.ErrWindow, "A weekly window is a day and two times in UTC: `weekly=Sat/02:00-06:00`."},
		{silence.ErrNarrowed, "Name a nodegroup or a tag, not both."},
	} {
		if errors.Is(err, e.err) {
			return e.says
		}
	}
	return "That silence cannot be."
}

// quoted is a piece of what somebody typed, short, on one line, and harmless in mrkdwn.
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
