package stage

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// outageHeading begins the stage's part of docs/slack.md, which is its last.
const outageHeading = "## Played by the real programs\n"

// outageSection is the page with what the stage measured in place of what it had
// measured before.
func outageSection(page string, script outageScript, results []outageResult) string {
	page, _, _ = strings.Cut(page, outageHeading)
	var b strings.Builder
	fmt.Fprintf(&b, `%s
%s
The functions' own binaries, their queues, the table, the bus and the Slack client play %d incidents in %d clusters on the local stage: the same mix, which begins in the first 50 minutes, with a sweep of each cluster every five minutes until %s. Slack is away for the first hour: it takes a message and loses the answer, then answers 503; or, a quarter of an hour each and in turn, it answers 503, answers 429 with Retry-After: 300, takes what is said and resets the connection, and takes 15 seconds for an answer. Nothing is shortened within a function: a minute of its own is one of the wall, and while any function works five minutes of the stage pass in it. Slack's limits are those of the stage's time: one message a second, 50 edits a minute.

Afterwards the channel is the same as that of a Slack that was never away, times aside.

| Slack | messages | replies | edits | searches | refused or not answered | over Slack's limits | said twice | lost | order | said in full after | at one a second | dead letters |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
`, strings.TrimRight(page, "\n")+"\n", outageHeading, len(script.tables), script.clusters, hours(script.ends))
	for _, r := range results {
		drained, least, order := "at once", "", "the same"
		if r.refused > 0 {
			// It is asked about every half a minute.
			drained, least = r.drained.Round(10*time.Second).String(), (time.Duration(r.backlog) * time.Second).String()
		}
		if !r.sameOrder {
			order = "another"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %s | %s | %s | %d |\n", r.how, r.messages, r.replies, r.edits, r.searches, r.refused, r.limited, r.twice, r.lost, order, drained, least, r.dead)
	}
	b.WriteString("\nMessages and replies are those of the whole run. \"At one a second\" is what Slack's limit alone takes for those that were said from the end of the outage until nothing was left.\n")
	b.WriteString("\n| function | memory, MB | most of it used, MB | failed |")
	for _, r := range results {
		fmt.Fprintf(&b, " invocations, %s |", r.how)
	}
	b.WriteString("\n|---|---|---|---|" + strings.Repeat("---|", len(results)) + "\n")
	for _, name := range woken(results) {
		most, failed, invoked := 0, 0, ""
		for _, r := range results {
			most, failed = max(most, r.invoked.memory[name]), failed+r.invoked.failed[name]
			invoked += fmt.Sprintf(" %d |", r.invoked.counts[name])
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d |%s\n", strings.TrimPrefix(name, "rollcall-"), results[0].sizes[name], most, failed, invoked)
	}
	return b.String()
}

// woken are the functions that ran.
func woken(results []outageResult) []string {
	names := map[string]bool{}
	for _, r := range results {
		for name := range r.invoked.counts {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// hours is a time of the script, as the stage's clock shows it from zero.
func hours(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Hours()), int(d.Minutes())%60)
}
