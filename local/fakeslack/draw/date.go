package draw

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// date renders <!date^seconds^format^link|fallback>. The text is in UTC; the
// page's script puts it into the browser's zone, by the format it is given.
func date(body, fallback string) (string, bool) {
	parts := strings.SplitN(body, "^", 4)
	if len(parts) < 3 {
		return "", false
	}
	seconds, err := strconv.ParseInt(parts[1], 10, 64)
	// Four digits of year are what the formats can show.
	if err != nil || seconds < 0 || seconds > 253402300799 {
		return html.EscapeString(fallback), true
	}
	at := time.Unix(seconds, 0).UTC()
	out := Clock(at, Unescape(parts[2]))
	if len(parts) == 4 && WebURL.MatchString(parts[3]) {
		out = Anchor(Unescape(parts[3]), out)
	}
	return out, true
}

// Clock is a time element: UTC on hover, the browser's zone as text.
func Clock(at time.Time, format string) string {
	return `<time datetime="` + at.Format(time.RFC3339Nano) + `" data-format="` + html.EscapeString(format) +
		`" title="` + at.Format("Mon 2 Jan 2006, 15:04:05 UTC") + `">` + html.EscapeString(dateText(at, format)) + `</time>`
}

var dateField = regexp.MustCompile(`\{[a-z_]+\}`)

// dateText fills Slack's date format.
func dateText(at time.Time, format string) string {
	return dateField.ReplaceAllStringFunc(format, func(field string) string {
		switch field {
		case "{date_num}":
			return at.Format("2006-01-02")
		case "{date_slash}":
			return at.Format("02/01/2006")
		case "{date}", "{date_pretty}":
			return at.Format("January 2, 2006")
		case "{date_short}", "{date_short_pretty}":
			return at.Format("Jan 2, 2006")
		case "{date_long}", "{date_long_pretty}":
			return at.Format("Monday, January 2, 2006")
		case "{time}":
			return at.Format("15:04")
		case "{time_secs}":
			return at.Format("15:04:05")
		case "{ago}":
			return at.Format("Jan 2, 15:04")
		}
		return field
	})
}
