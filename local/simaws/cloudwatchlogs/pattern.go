package cloudwatchlogs

import (
	"slices"
	"strings"
)

// Matches tells that a message fits a filter pattern, as far as Rollcall writes such:
// terms, in quotes or not. All without a question mark must be in it; where each has
// one, any (CloudWatch Logs user guide, "Filter pattern syntax").
func Matches(pattern, message string) bool {
	var all, any []string
	for rest := strings.TrimSpace(pattern); rest != ""; rest = strings.TrimSpace(rest) {
		list := &all
		if after, alternative := strings.CutPrefix(rest, "?"); alternative {
			rest, list = after, &any
		}
		term := rest
		if quoted, is := strings.CutPrefix(rest, `"`); is {
			term, rest, _ = strings.Cut(quoted, `"`)
		} else {
			term, rest, _ = strings.Cut(rest, " ")
		}
		*list = append(*list, term)
	}
	has := func(term string) bool { return strings.Contains(message, term) }
	if len(all) == 0 && len(any) > 0 {
		return slices.ContainsFunc(any, has)
	}
	return !slices.ContainsFunc(all, func(term string) bool { return !has(term) })
}
