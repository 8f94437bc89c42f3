package slack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/slack/slacktext"
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
	blind.Unread = []string{"the incidents of batch in platform: the table did not answer; the error is in the function's log"}

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
	for _, want := range []string{" more open", " more closed", " more clusters", " more silences", " more faults", "Could not look", "Could not be read", "More in the thread"} {
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
		if s.name == "weekly-quiet" && !strings.Contains(read(s.messages()), "24,192 times at 12 clusters, never more than 12 min apart") {
			t.Errorf("a quiet week does not say how it is known:\n%s", read(s.messages()))
		}
		if more := s.name == "weekly-blind" || s.name == "weekly-huge"; more != (len(s.messages()) > 1) {
			t.Errorf("%s: %d messages", s.name, len(s.messages()))
		}
	}
}
