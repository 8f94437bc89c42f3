package messagecheck

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	day     = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}(?:T| |\b)`)
	seconds = regexp.MustCompile(`\b(\d{2}:\d{2}):\d{2}\b`)
)

// Elsewhere are the numbers, times and ids that a text for another target tells, and that
// the message in Slack of the same moment does not; held is how many it tells.
func Elsewhere(blocks []byte, text string) (found []string, held int, err error) {
	lines, err := Read(blocks)
	if err != nil {
		return nil, 0, err
	}
	told := map[string]bool{}
	for _, l := range lines {
		for _, n := range numbers(l.Text) {
			told[n] = true
		}
	}
	list := numbers(text)
	for _, n := range list {
		if !told[n] {
			found = append(found, fmt.Sprintf("%q is told elsewhere, and not in Slack", n))
		}
	}
	return found, len(list), nil
}

// numbers are the words of a text that have a digit. A time is 15:04, as it is read in a
// message; the day of it is left out, which a message tells where it is another.
func numbers(text string) (list []string) {
	text = seconds.ReplaceAllString(day.ReplaceAllString(text, ""), "$1")
	for _, word := range strings.Fields(text) {
		if strings.HasSuffix(word, "…") {
			continue // it is cut
		}
		if word = strings.Trim(word, ".,;:()[]{}\"'`*"); strings.ContainsAny(word, "0123456789") {
			list = append(list, word)
		}
	}
	return list
}
