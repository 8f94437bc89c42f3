package ip

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/address"

	"rollcall/shared/snapshot"
)

// runwayWhy says since when, how fast, and until when, with the interval.
func runwayWhy(subnet snapshot.Subnet, r address.Runway, n oneMore, p pendingLaunches, now time.Time) string {
	until := "some are left"
	if n.takes > 0 {
		until = fmt.Sprintf("one more %s fits (%d addresses)", n.kind, n.takes+1)
	}
	text := fmt.Sprintf("Since %s %s lost %s an hour, from %s to %s. At that pace %s until %s",
		clockMinute(r.Since, now), subnet.ID, addressesOf(r.PerHour), thousands(max(r.From, r.Free)), thousands(r.Free), until, clockMinute(r.Empty, now))
	if between := interval(r, now); between != "" {
		text += " (" + between + ")"
	}
	if p.launches > 0 {
		text += fmt.Sprintf("; of those, %d are for %d %s that %s wanted by %s", p.addresses, p.launches, phrase.Plural(p.launches, "launch", "launches"), phrase.Plural(p.launches, "is", "are"), phrase.Some(p.groups, 2))
	}
	return text + "."
}

// interval is the interval in words; empty where it is a minute.
func interval(r address.Runway, now time.Time) string {
	early := clockMinute(later(r.Earliest, now), now)
	switch {
	case r.Latest.IsZero():
		return "at the earliest " + early
	case clockMinute(r.Latest, now) == early:
		return ""
	}
	return early + " to " + clockMinute(r.Latest, now)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// spokenRunway is what was seen, in words.
func spokenRunway(r address.Runway, now time.Time) string {
	have := fmt.Sprintf("%s at %s", thousands(r.Free), clockMinute(r.At, now))
	switch r.Reason {
	case address.Reached:
		return have + ": no more than one node takes already"
	case address.Wave:
		return have + ": they fell as they do on other days, and came back then"
	case address.Rising:
		return have + ", and rising"
	case address.NoTrend:
		return have + ": no fall that goes on"
	}
	return fmt.Sprintf("%s, %s, %s an hour since %s: %s left", have, r.Reason, addressesOf(-r.PerHour), clockMinute(r.Since, now), roughly(r.Empty.Sub(now)))
}

func (p pendingLaunches) words(n oneMore) string {
	return fmt.Sprintf("%d here, by %s: %d addresses of %s", p.launches, phrase.Some(p.groups, 4), p.addresses, cmp.Or(n.kind, "an unknown type"))
}

// addressesOf writes a pace: "42 addresses", "0.4 addresses".
func addressesOf(perHour float64) string {
	if math.Abs(perHour) < 10 {
		text := strconv.FormatFloat(perHour, 'f', 1, 64)
		return text + " " + phrase.Plural(int(math.Abs(perHour)*10+0.5)-9, "address", "addresses")
	}
	return thousands(int(math.Round(perHour))) + " addresses"
}

// roughly writes a long span: "7 h", "40 min".
func roughly(d time.Duration) string {
	if d < 2*time.Hour {
		return fmt.Sprintf("%d min", int(max(d, 0).Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}

// clockMinute is a time to five minutes, which is how often subnets are looked
// at, and with its day if that is another than that of the look.
func clockMinute(t, now time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	t, now = t.UTC().Round(5*time.Minute), now.UTC()
	if t.Format(time.DateOnly) != now.Format(time.DateOnly) {
		return t.Format("2 Jan 15:04 UTC")
	}
	return t.Format("15:04 UTC")
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(max(n, -n))
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	if n < 0 {
		return "-" + text
	}
	return text
}
