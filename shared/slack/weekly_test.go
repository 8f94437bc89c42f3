package slack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/target/message"
)

var monday = time.Date(2026, 11, 23, 8, 4, 0, 0, time.UTC)

func theWeek() report.Period {
	to := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	return report.Period{
		From: to.AddDate(0, 0, -7), To: to, At: monday, Site: "https://acme.slack.com/", Clusters: 12,
		Launches: report.Tally{All: 214, Joined: 214}, Joining: &report.Joining{Median: 62 * time.Second, Most95: 118 * time.Second, N: 214},
		Looks:   report.Looks{Made: 24_192},
		Soonest: []report.PeriodSubnet{{Whose: "platform", Cluster: "prod", ID: "subnet-0ab1c2d3e4f5a6b7c", Zone: "us-west-2a", Free: 142, Total: 251, At: monday}},
	}
}

func weeklyScenes() []summaryScene {
	quiet := theWeek()
	quiet.Feedback = []report.FeedbackCount{{Check: checkid.LaunchSubnetFull, Right: 1, Wrong: 2}, {Check: checkid.RouteNoEgress, Right: 3, NotUseful: 1}}

	bad := theWeek()
	bad.Launches = report.Tally{All: 2530, Joined: 2512, Failed: 11, Reclaimed: 5, Waiting: 1, Other: 1}
	bad.Causes = []report.CauseCount{{Check: checkid.RouteNoEgress, N: 9}, {Check: "launch/insufficient-capacity", N: 2}}
	bad.Opened, bad.Resolved, bad.Open, bad.Critical, bad.Seen = 3, 2, 1, 1, 3
	bad.Incidents = []report.PeriodIncident{
		{Whose: "payments", Cluster: "prod", Nodegroups: []string{"workers"}, Check: checkid.RouteNoEgress, Title: "subnet-0ab1c2d3e4f5a6b7c has no route to the internet", Severity: "critical", Opened: monday.Add(-40 * time.Hour), Affected: 9, Number: 1, Approval: true, Channel: "C0123456789", TS: "1795000000.000100"},
		{Whose: "platform", Cluster: "batch", Check: checkid.LaunchSubnetFull, Title: "subnet-0b20000000000000b has no free address", Severity: "info", Opened: monday.Add(-130 * time.Hour), Closed: monday.Add(-122 * time.Hour), Affected: 12, Number: 2, Ending: "proved", Channel: "C0123456789", TS: "1794600000.000100"},
		{Whose: "platform", Cluster: "dev", Check: "launch/insufficient-capacity", Title: "EC2 had no capacity of m5.4xlarge in us-west-2a", Severity: "info", Opened: monday.Add(-90 * time.Hour), Closed: monday.Add(-89 * time.Hour), Affected: 2, Number: 1, Ending: "unproved"},
	}
	bad.Wrong = []report.PeriodCluster{
		{Whose: "payments", Cluster: "prod", Launches: report.Tally{All: 310, Joined: 301, Failed: 9}, Seen: 1, Open: 1},
		{Whose: "platform", Cluster: "dev", Launches: report.Tally{All: 40, Joined: 38, Failed: 2}, Seen: 1},
		{Whose: "platform", Cluster: "batch", Launches: report.Tally{All: 900, Joined: 900}, Seen: 1},
	}
	bad.Remedies = []report.PeriodRemedy{{Remedy: "add-nat-route", Came: report.RemedyWaits, N: 1}, {Remedy: "replace-instance", Came: report.RemedyHelped, N: 12}}
	bad.Freed = report.Freed{Interfaces: 31, Addresses: 90, Clusters: 1}
	bad.Soonest = []report.PeriodSubnet{{Whose: "platform", Cluster: "batch", ID: "subnet-0b20000000000000b", Zone: "us-west-2b", Free: 31, Total: 251, Empty: monday.Add(52 * time.Hour), At: monday}}
	bad.Silences = []report.Quiet{{Silence: silence.Silence{ID: "ab12cd34", Cluster: "dev", From: monday.Add(-time.Hour), Until: monday.Add(30 * time.Hour), At: monday.Add(-time.Hour), By: silence.Person{ID: "U0ONCALL01", Name: "oncall"}, Reason: "node upgrade"}, Whose: "platform"}}
	bad.Silenced = 1
	bad.Looks = report.Looks{Made: 23_900, Silent: 40, New: 1}
	bad.Unseen = []report.Unseen{{Reason: report.APISilent, Whose: "platform", Cluster: "edge", N: 40, Of: 2016}}

	blind := theWeek()
	blind.Launches = report.Tally{All: 41, Joined: 41}
	blind.Looks = report.Looks{Made: 18_300, Failed: 12}
	from := monday.Add(-126 * time.Hour)
	blind.Unseen = []report.Unseen{
		{Reason: report.NothingLooked, Clusters: 12, From: from, To: from.Add(32 * time.Hour)},
		{Reason: report.SpokeUnseen, Whose: "payments, eu-west-1", Clusters: 4, From: monday.Add(-60 * time.Hour), To: blind.To, Still: true},
		{Reason: report.SpokeUnknown, Whose: "staging, us-east-1", Still: true},
		{Reason: report.Denied, Whose: "platform", Cluster: "prod", From: monday.Add(-20 * time.Hour), To: blind.To, Still: true, Says: "ec2:DescribeRouteTables is denied", Channel: "C0123456789", TS: "1794900000.000100"},
		{Reason: report.ClusterStopped, Whose: "platform", Cluster: "old", From: monday.Add(-100 * time.Hour), To: blind.To, Still: true},
		{Reason: report.PartFailed, Whose: "platform", Cluster: "edge", N: 12, Of: 2016},
	}
	blind.Faults = []report.Fault{{Whose: "platform", Cluster: "prod", Target: "slack/C0ARCHIVED1", Code: "is_archived", Since: monday.Add(-70 * time.Hour)}}
	blind.Unread = []string{"the incidents of batch in platform: DynamoDB did not respond; the error is in the function's log"}

	none := report.Period{From: quiet.From, To: quiet.To, At: monday}
	none.Unseen = []report.Unseen{{Reason: report.NothingLooked, Clusters: 3, From: quiet.From, To: quiet.To, Still: true}}

	first := theWeek()
	first.Clusters, first.Launches, first.Joining, first.Soonest = 1, report.Tally{}, nil, nil
	first.Looks = report.Looks{Made: 1230, New: 1, Since: first.From.Add(66*time.Hour + 12*time.Minute)}

	huge := bad
	huge.Clusters, huge.Incidents, huge.Wrong, huge.Unseen, huge.Silences, huge.Soonest, huge.Faults, huge.Unread = 1000, nil, nil, nil, nil, nil, nil, nil
	long := strings.Repeat("<@U1> *long* `x` ", 40)
	for i := range 1000 {
		name := fmt.Sprintf("cluster-%s-%04d", strings.Repeat("x", 80), i)
		inc := bad.Incidents[i%3]
		inc.Cluster, inc.Title = name, long
		huge.Incidents = append(huge.Incidents, inc)
		huge.Wrong = append(huge.Wrong, report.PeriodCluster{Whose: long, Cluster: name, Launches: report.Tally{All: 9, Failed: 9}, Seen: 1})
		huge.Unseen = append(huge.Unseen, report.Unseen{Reason: report.Denied, Whose: long, Cluster: name, From: from, To: huge.To, Says: long})
		q := bad.Silences[0]
		q.Cluster, q.Reason = name, long
		huge.Silences = append(huge.Silences, q)
		huge.Soonest = append(huge.Soonest, report.PeriodSubnet{Whose: long, Cluster: name, ID: "subnet-1", Empty: monday})
		huge.Faults = append(huge.Faults, report.Fault{Whose: long, Cluster: name, Target: long, Code: long, Since: from})
		huge.Unread = append(huge.Unread, long)
	}
	huge.Seen, huge.Open, huge.Silenced = 1000, 334, 1000

	scene := func(name string, p report.Period) summaryScene {
		return summaryScene{name: name, summary: report.Weekly("spot-report", p)}
	}
	return []summaryScene{scene("weekly-quiet", quiet), scene("weekly-bad", bad), scene("weekly-blind", blind), scene("weekly-none", none), scene("weekly-first", first), scene("weekly-huge", huge)}
}

// A week is read in half a minute, however much there was; its first two lines say the result
// and what to do next.
func TestWeeklyIsShort(t *testing.T) {
	for _, s := range weeklyScenes() {
		text := read(s.messages()[:1])
		if n := strings.Count(text, "\n"); n > 45 {
			t.Errorf("%s: %d lines", s.name, n)
		}
		if n := len(strings.Fields(text)); n > 330 && s.name != "weekly-huge" {
			t.Errorf("%s: %d words:\n%s", s.name, n, text)
		}
		if first, _, _ := strings.Cut(text, "\n"); !strings.Contains(first, "Week of 16 Nov: ") && !strings.Contains(text, "Week of 16 Nov: ") {
			t.Errorf("%s: the first line is %q", s.name, first)
		}
		if next := strings.Index(text, "Next"); next < 0 || next > 300 {
			t.Errorf("%s: what to do next stands at %d", s.name, next)
		}
	}
}

// However much there is, Slack takes it, and it says what it leaves out.
func TestWeeklyOfAThousandClusters(t *testing.T) {
	scenes := weeklyScenes()
	huge := scenes[len(scenes)-1]
	for i, m := range huge.messages() {
		if len(m.Blocks) > slacktext.MaxBlocks || slacktext.Size(m.Blocks) > slacktext.MaxSize {
			t.Errorf("message %d has %d blocks of %d characters", i, len(m.Blocks), slacktext.Size(m.Blocks))
		}
	}
	text := read(huge.messages())
	for _, want := range []string{" more open", " more closed", " more clusters", " more silences", " more faults", "Not checked", "Could not be read", "More in the thread"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

// What was not looked at is never green, and a quiet week says how it is known.
func TestWeeklyColours(t *testing.T) {
	for _, s := range weeklyScenes() {
		line := weeklyLine(*s.summary.Period)
		want := map[string]string{"weekly-quiet": green, "weekly-bad": red, "weekly-blind": white, "weekly-none": white, "weekly-first": white, "weekly-huge": red}[s.name]
		if !strings.HasPrefix(line, want+" ") {
			t.Errorf("%s: %q, want %s", s.name, line, want)
		}
		if s.name == "weekly-quiet" && !strings.Contains(read(s.messages()), "24,192 in 12 clusters, never more than 12 min apart") {
			t.Errorf("a quiet week does not say how it is known:\n%s", read(s.messages()))
		}
		if more := s.name == "weekly-blind" || s.name == "weekly-huge"; more != (len(s.messages()) > 1) {
			t.Errorf("%s: %d messages", s.name, len(s.messages()))
		}
	}
}

// inTrouble is the worst week of so many clusters: each has the longest name that EKS allows
// (CreateCluster: 100 characters, letters, digits, hyphens and underscores), an open and a
// closed incident, launches that failed, a silence, a subnet that is empty, something that was
// not looked at, not read and refused. What comes from tags and settings is as long as can be,
// and of letters that take most on the wire.
func inTrouble(n int, foreign string) report.Summary {
	w := theWeek()
	bad := weeklyScenes()[1].summary.Period
	w.Launches, w.Remedies, w.Freed, w.Looks = bad.Launches, bad.Remedies, bad.Freed, bad.Looks
	w.Looks.Since, w.Looks.Unnoted, w.LeftOut, w.Clusters, w.Soonest = w.From.Add(time.Hour), n, n, n, nil
	for i := range 6 {
		w.Causes = append(w.Causes, report.CauseCount{Check: bad.Causes[i%2].Check, N: 9})
	}
	w.Unseen = []report.Unseen{{Reason: report.NothingLooked, Clusters: n, From: w.From, To: w.From.Add(32 * time.Hour)}}
	for i := range n {
		name := strings.Repeat("W", 96) + fmt.Sprintf("%04d", i)
		open, closed := bad.Incidents[0], bad.Incidents[1]
		for _, inc := range []*report.PeriodIncident{&open, &closed} {
			inc.Cluster, inc.Whose, inc.Title = name, foreign, foreign
			inc.Nodegroups, inc.Channel, inc.TS = []string{foreign, foreign, foreign, foreign, foreign}, "C0123456789", "1795000000.000100"
			inc.Acked, inc.Muted, inc.Silenced, inc.Approval = false, true, true, true
			w.Incidents = append(w.Incidents, *inc)
		}
		w.Wrong = append(w.Wrong, report.PeriodCluster{Whose: foreign, Cluster: name, Launches: report.Tally{All: 9999, Failed: 9999}, Seen: 2, Open: 1})
		w.Unseen = append(w.Unseen, report.Unseen{Reason: report.Denied, Whose: foreign, Cluster: name, From: w.From, To: w.To, Says: foreign, Channel: "C0123456789", TS: "1795000000.000100"})
		q := bad.Silences[0]
		q.Cluster, q.Reason, q.Whose, q.By.Name, q.Nodegroup = name, foreign, foreign, foreign, foreign
		w.Silences = append(w.Silences, q)
		w.Soonest = append(w.Soonest, report.PeriodSubnet{Whose: foreign, Cluster: name, ID: "subnet-0b20000000000000b", Zone: "us-west-2a", Total: 251, Empty: monday.Add(time.Hour)})
		w.Faults = append(w.Faults, report.Fault{Whose: foreign, Cluster: name, Target: foreign, Code: foreign, Since: w.From})
		w.Unread = append(w.Unread, foreign)
	}
	w.Opened, w.Resolved, w.Open, w.Critical, w.Seen, w.Silenced = 2*n, n, n, n, 2*n, n
	return report.Weekly("spot-report", w)
}

// hostile are texts as people and tags may have them: markup, quotes, letters that JSON
// escapes to six characters, such of two UTF-16 units, and a word without a break.
func hostileTexts() map[string]string {
	return map[string]string{
		"markup": strings.Repeat("<!channel> *b* `x` & ", 60), "escapes": strings.Repeat("<", 900), "quotes": strings.Repeat(`"\`, 450),
		"emoji": strings.Repeat("👩", 700), "wide": strings.Repeat("語", 900), "one word": strings.Repeat("x", 2000), "lines": strings.Repeat("a\n", 500), "odd backquotes": strings.Repeat("`x ", 301),
	}
}

// However many clusters there are and whatever they are called, Slack takes each message, the
// main one says the result, what to do, what could not be looked at and each count, and the
// last line is there: nothing is cut off at the end. The limits are Slack's (slacktext:
// docs.slack.dev/reference/block-kit/blocks, 50 blocks; msg_blocks_too_long for the size).
func TestWeeklyFitsWhateverThereIs(t *testing.T) {
	for name, text := range hostileTexts() {
		for _, n := range []int{1, 100, 1000} {
			if n < 1000 && name != "markup" && name != "escapes" {
				continue // fewer clusters of the other texts show nothing more
			}
			t.Run(fmt.Sprintf("%s, %d", name, n), func(t *testing.T) {
				s, err := inTrouble(n, text).Fit(report.MaxSummary)
				if err != nil {
					t.Fatal(err)
				}
				body, err := json.Marshal(outbox.New(s))
				// Its record must fit into an item (400 KB, DynamoDB, "Quotas").
				if err != nil || len(body) > 300<<10 {
					t.Errorf("its record has %d bytes, %v", len(body), err)
				}
				main, replies := RenderSummary(s, outbox.Picture{}), RenderSummaryDetails(s)
				for i, m := range append([]slackapi.Message{main}, replies...) {
					if len(m.Blocks) > slacktext.MaxBlocks || slacktext.Size(m.Blocks) > slacktext.MaxSize || slacktext.Length(m.Text) > slacktext.MaxText {
						t.Errorf("message %d has %d blocks of %d characters", i, len(m.Blocks), slacktext.Size(m.Blocks))
					}
				}
				said := read([]slackapi.Message{main})
				number := slacktext.Number(n)
				for _, want := range []string{
					"🔴 Week of 16 Nov: 2,512 of 2,530 launches joined; " + slacktext.Count(2*n, "incident") + ", " + number + " open; nothing checked for 32 h",
					"Fix WWW", "Approve or refuse 1 plan", "Find out what was not checked", "Make room in ", "Fix what Slack rejects",
					"Not checked", "No cluster was checked for 32 h", "Could not be read", "Rollcall's own faults", "Launches\u20032,512 joined", "11 did not join",
					"Checks\u200323,900 in " + slacktext.Count(n, "cluster"), number + pickOne(n, " cluster", " clusters") + " left out for lack of time", "Open now", "Closed", "Silenced",
					"Remedies\u2003add-nat-route waits for approval", "The days from 16 Nov to 22 Nov, in UTC.",
				} {
					if !strings.Contains(said, want) {
						t.Errorf("it does not say %q:\n%s", want, said)
					}
				}
				if n > 1 {
					for _, want := range []string{"open\n", "closed\n", " clusters\n", " silences\n", " faults\n", "with something wrong: " + number + " of " + number, "More in the thread."} {
						if !strings.Contains(said, want) {
							t.Errorf("it does not say %q:\n%s", want, said)
						}
					}
					if len(replies) != int(parts) {
						t.Errorf("%d replies", len(replies))
					}
				}
				for i, m := range replies {
					text := read([]slackapi.Message{m})
					if strings.Contains(text, " more ") && !strings.Contains(text, "What is not listed: rollcall incidents") {
						t.Errorf("reply %d is cut off:\n%s", i, text)
					}
				}
				// A card of Teams has what to do, the counts, and what was not looked at.
				event := WeekEvent(s)
				card, err := message.ToTeams(message.Event{ID: "x", Week: &message.Week{Result: event.Result, To: event.To}, Words: event.Words})
				for _, want := range []string{"2,530 launches joined; " + slacktext.Count(2*n, "incident"), "Fix WWW", "Make room in ", "2,512 joined", "23,900 in", "Not checked", "No cluster was checked for 32 h"} {
					if err != nil || !strings.Contains(string(card), want) {
						t.Errorf("the card of %d bytes does not say %q, %v", len(card), want, err)
					}
				}
				// What else hears of it: its event is within EventBridge's 256 KB with room to spare,
				// and its words are those that a mail takes.
				if body, err := event.Encode(200 << 10); err != nil || body == nil || len(event.Words.Lines) < 20 {
					t.Errorf("the event has %d bytes and %d lines, %v", len(body), len(event.Words.Lines), err)
				}
			})
		}
	}
}

func pickOne(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// The words are the message's: each count and each list that Slack shows, without markup, and
// with people by name.
func TestWeekWords(t *testing.T) {
	for _, s := range weeklyScenes() {
		w := WeekWords(s.summary)
		if strings.ContainsAny(w.Headline, red+green+orange+white) || !strings.HasSuffix(weeklyLine(*s.summary.Period), w.Headline) {
			t.Errorf("%s: %q", s.name, w.Headline)
		}
		said := map[string]bool{}
		for _, l := range w.Lines {
			said[strings.TrimSpace(l.Label+" "+l.Text)] = true
			if l.Label == "" && l.Text == "" {
				t.Errorf("%s: an empty line", s.name)
			}
		}
		if s.name == "weekly-huge" {
			continue // its lists are longer than those of the message
		}
		for line := range strings.Lines(read(s.messages()[:1])) {
			line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(strings.ReplaceAll(line, "\u2003", " ")), "• "))
			line = strings.TrimSuffix(line, " · message")
			if strings.HasPrefix(line, "and ") || strings.Contains(line, "Week of ") || strings.Contains(line, " at ") || strings.HasPrefix(line, "The days") {
				continue // times are in another form
			}
			if !said[line] {
				t.Errorf("%s: the words do not say %q", s.name, line)
			}
		}
	}
	if got := WeekWords(weeklyScenes()[1].summary); !said(got, "dev (platform) is silenced until 24 Nov 14:04 UTC, by oncall: node upgrade.") || !said(got, "at this rate it runs out 25 Nov 12:04 UTC.") {
		t.Errorf("%+v", got)
	}
}

// What has no room is counted.
func TestFittingLines(t *testing.T) {
	line := incident.Line{Label: "a", Text: "b"}
	more := func(text string) incident.Line { return incident.Line{Text: text} }
	for most, want := range map[int][]incident.Line{0: {more("and 3 more lines")}, 50: {line, line, more("and 1 more line")}, 1000: {line, line, line}} {
		if diff := cmp.Diff(want, fittingLines([]incident.Line{line, line, line}, most)); diff != "" {
			t.Errorf("%d (-want +got):\n%s", most, diff)
		}
	}
}

func said(w incident.Words, text string) bool {
	for _, l := range w.Lines {
		if strings.Contains(l.Text, text) {
			return true
		}
	}
	return false
}
