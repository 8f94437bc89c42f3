package slack

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

var paymentsEU = spoke.ID{Account: "222233334444", Region: "eu-west-1"}

// someOverview has one of all.
func someOverview() overview.Overview {
	now := time.Date(2026, 11, 20, 15, 30, 0, 0, time.UTC)
	broken := scenes()[0].incident
	broken.Delivery.Channel, broken.Delivery.TS = "C0123456789", "1763650800.000100"
	muted, hidden := broken, broken
	muted.Key.Resource, muted.Mute = "rtb-2", &incident.Mute{By: report.User{ID: "U0DANA0001"}, At: now.Add(-time.Hour), Until: now.Add(3 * time.Hour)}
	hidden.Key.Resource = "rtb-3"
	hidden.Delivery = incident.Delivery{}
	hidden.Silence = &incident.Silenced{ID: "ab12cd34", By: report.User{ID: "U0ONCALL01"}, At: now.Add(-time.Hour), Until: now.Add(30 * time.Hour), Reason: "node upgrade"}
	of := func(id spoke.ID, name, whose string, swept time.Time, open int, failed ...string) overview.Cluster {
		return overview.Cluster{Cluster: spoke.Cluster{ID: id, Name: name}, Whose: whose, Swept: swept, Open: open, Failed: failed}
	}
	person := silence.Person{ID: "U0ONCALL01", Name: "oncall"}
	return overview.Overview{
		Now: now, Site: "https://acme.slack.com/",
		Clusters: []overview.Cluster{
			of(spoke.ID{}, "prod", "platform", now.Add(-2*time.Minute), 3), of(spoke.ID{}, "dev", "platform", now.Add(-3*time.Minute), 0),
			of(paymentsEU, "prod", "payments", now.Add(-40*time.Minute), 0), of(paymentsEU, "batch", "payments", time.Time{}, 0),
			of(paymentsEU, "stage", "payments", now.Add(-time.Minute), 0, "zone-watch"),
		},
		Incidents: []incident.Incident{broken, muted, hidden},
		Silences: []overview.Silence{
			{Silence: silence.Silence{ID: "ab12cd34", Cluster: "prod", From: now.Add(-time.Hour), Until: now.Add(30 * time.Hour), At: now.Add(-time.Hour), By: person, Reason: "node upgrade"}, Whose: "platform"},
			{Silence: silence.Silence{
				ID: "00ff00ff", Spoke: paymentsEU, Cluster: "prod", Tag: &silence.Tag{Key: "team", Value: "payments"}, Check: "route/no-egress", From: now.Add(24 * time.Hour), Until: now.Add(20 * 24 * time.Hour), At: now, By: person,
				Weekly: &silence.Window{Day: time.Saturday, From: 2 * time.Hour, To: 6*time.Hour + 30*time.Minute}, Reason: "weekly rotation <@U1> *not bold*",
			}, Whose: "payments"},
		},
		Unread: []string{"silences in staging: the table did not answer; the error is in report's log"},
	}
}

func askedReport() report.Period {
	o := someOverview()
	return report.Period{
		From: o.Now.Add(-24 * time.Hour), To: o.Now, At: o.Now, Clusters: 40, Launches: report.Tally{All: 214, Joined: 209, Failed: 3, Reclaimed: 1, Waiting: 1},
		Opened: 2, Resolved: 1, Open: 1, LeftOut: 12,
		Joining: &report.Joining{Median: 62 * time.Second, Most95: 118 * time.Second, N: 209}, Causes: []report.CauseCount{{Check: "route/no-egress", N: 2}, {Check: "launch/capacity", N: 1}},
	}
}

// asked are the answers to commands, by the names of their golden files.
func askedFor() map[string][]slackapi.Message {
	o := someOverview()
	calm := overview.Overview{Now: o.Now, Clusters: o.Clusters[:2]}
	for i := range calm.Clusters {
		calm.Clusters[i].Open = 0
	}
	calm.Clusters = slices.Clone(calm.Clusters)
	o = someOverview()
	s := o.Silences[0].Silence
	ended := s
	ended.Ended, ended.EndedBy = o.Now.Add(-time.Minute), silence.Person{ID: "U0DANA0001"}
	shows := Options{Actions: true, Now: o.Now}
	found := overview.Found{
		Cluster: overview.Cluster{Cluster: spoke.Cluster{Name: "prod"}, Whose: "platform"}, Region: "us-west-2", Nodegroup: "workers", Type: "m5.large", Zone: "us-west-2a", Subnet: "subnet-0ab1c2d3e4f5a6b7c",
		Started: o.Now.Add(-31 * time.Minute), Due: o.Now.Add(-26 * time.Minute), End: snapshot.NotJoined, Cause: "route/no-egress", Says: "rtb-1 has no default route", Incidents: o.Incidents[:1],
	}
	return map[string][]slackapi.Message{
		"asked-status":   {RenderStatus(o), RenderStatus(calm), RenderStatus(overview.Overview{Now: o.Now})},
		"asked-clusters": {RenderClusters(o), RenderClusters(overview.Overview{Now: o.Now})},
		"asked-silences": {RenderSilences(o, true), RenderSilences(calm, true)},
		"asked-silence":  {RenderSilenced(s, "platform", o.Incidents[:1], o.Now), RenderSilence(s, "platform", shows), RenderSilence(ended, "platform", shows)},
		"asked-why": {
			RenderWhy(overview.Why{Instance: "i-0ef3", Now: o.Now, Site: o.Site, Found: []overview.Found{found}}),
			RenderWhy(overview.Why{Instance: "i-0ef4", Now: o.Now}),
		},
		"asked-report":  {RenderReport(askedReport())},
		"asked-home":    {RenderHome(o, "Ended: the silence of dev."), RenderHome(calm, "")},
		"asked-refused": {RenderRefusal(incident.Answer{Reason: incident.NotResponder}, o.Now), RenderRefusal(incident.Answer{Reason: incident.OtherWorkspace}, o.Now), RenderRefusal(incident.Answer{Reason: incident.WorkspaceNotRead}, o.Now)},
	}
}

func TestAskedGolden(t *testing.T) {
	for name, messages := range askedFor() {
		golden(t, name+".golden.json", wire(t, messages))
		golden(t, name+".txt", []byte(read(messages)))
	}
}

// However much there is, a page is one that Slack takes, and says what it leaves out.
func TestAskedMuch(t *testing.T) {
	o := someOverview()
	for range 7 {
		o.Clusters = append(o.Clusters, o.Clusters...)
		o.Incidents = append(o.Incidents, o.Incidents...)
		o.Silences = append(o.Silences, o.Silences...)
		o.Unread = append(o.Unread, o.Unread...)
	}
	for name, m := range map[string]slackapi.Message{
		"status": RenderStatus(o), "clusters": RenderClusters(o), "silences": RenderSilences(o, true), "home": RenderHome(o, ""),
	} {
		if len(m.Blocks) > slacktext.MaxBlocks || slacktext.Size(m.Blocks) > slacktext.MaxSize {
			t.Errorf("%s has %d blocks of %d characters", name, len(m.Blocks), slacktext.Size(m.Blocks))
		}
		if text := read([]slackapi.Message{m}); !strings.Contains(text, " more") {
			t.Errorf("%s does not say that it leaves something out:\n%s", name, text)
		}
	}
}

// isAsked tells the golden files of answers to commands.
func isAsked(name string) bool {
	_, err := os.Stat("testdata/" + name)
	return strings.HasPrefix(name, "asked-") && err == nil
}
