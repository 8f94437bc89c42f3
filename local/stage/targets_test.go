package stage

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/fakeslack"
	"rollcall/local/faketargets"
	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// targets are the stand-ins of all targets, and the settings by which the stage tells them.
type targets struct {
	pagerduty *faketargets.PagerDuty
	teams     *faketargets.Teams
	webhook   *faketargets.Webhook
}

const (
	routingKey = "e93facc04764012d7bfb002500d5d1a6"
	signingKey = "0123456789abcdef0123456789abcdef"
	teamsHost  = "prod-01.westus.logic.azure.com"
)

func withTargets(t *testing.T, o *Options) targets {
	t.Helper()
	var all targets
	var err error
	if all.pagerduty, err = faketargets.NewPagerDuty(routingKey, time.Now); err != nil {
		t.Fatal(err)
	}
	if all.teams, err = faketargets.NewTeams("s3cr3t", time.Now); err != nil {
		t.Fatal(err)
	}
	all.webhook = faketargets.NewWebhook(signingKey, time.Now)
	o.Settings = map[string]string{
		string(config.SlackActions): "on",
		string(config.Targets):      "sns,pagerduty/critical=rollcall/pagerduty,teams=rollcall/teams,webhook=rollcall/webhook",
	}
	o.TargetSecrets = map[string]string{
		"rollcall/pagerduty": routingKey,
		"rollcall/teams":     "https://" + teamsHost + "/workflows/1/triggers/manual/paths/invoke?sig=s3cr3t",
		"rollcall/webhook":   `{"url":"https://hooks.example.com/rollcall","key":"` + signingKey + `"}`,
	}
	o.Others = map[string]http.Handler{"events.pagerduty.com": all.pagerduty, teamsHost: all.teams, "hooks.example.com": all.webhook}
	return all
}

// subjects are what people got by mail.
func (r *running) subjects() []string {
	var list []string
	for _, m := range r.Cloud.Mails() {
		list = append(list, m.Subject)
	}
	return list
}

// urgencies are the words by which the cards begin.
func (c targets) urgencies() []string {
	var list []string
	for _, card := range c.teams.Cards() {
		word, _, _ := strings.Cut(card.Lines[0], " · ")
		list = append(list, word)
	}
	return list
}

// kinds are what the webhook got, each delivery once.
func (c targets) kinds(t *testing.T) (kinds []string, repeats int) {
	t.Helper()
	seen := map[string]bool{}
	for _, d := range c.webhook.Deliveries() {
		var e struct {
			Type string `json:"detail-type"`
		}
		if err := json.Unmarshal([]byte(d.Body), &e); err != nil {
			t.Fatal(err)
		}
		if seen[d.ID] {
			repeats++
			continue
		}
		seen[d.ID] = true
		kinds = append(kinds, strings.TrimPrefix(e.Type, "Rollcall "))
	}
	return kinds, repeats
}

// acknowledge presses the button in Slack.
func (r *running) acknowledge() {
	r.t.Helper()
	if err := r.Slack.Press(r.t.Context(), fakeslack.Press{Channel: Channel, TS: r.messages()[0].TS, ActionID: string(report.Acknowledge), User: OnCall}); err != nil {
		r.t.Fatal(err)
	}
	r.until("the acknowledgement", func() bool { return r.incident().Ack != nil })
}

// TestTargets plays the route story with a target of each kind: opened, acknowledged in
// Slack, proved. PagerDuty's alert goes the same way; all read the same words.
func TestTargets(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var all targets
		r := start(t, "route", func(o *Options) { all = withTargets(t, o) })
		r.scale(1, 1)
		r.until("the missed roll call", r.says("1 instance cannot join"))
		r.acknowledge()
		r.until("the acknowledgement in PagerDuty", func() bool {
			a := all.pagerduty.Alerts()
			return len(a) == 1 && a[0].State == faketargets.Acknowledged
		})
		r.repair()
		r.until("the end", func() bool {
			a := all.pagerduty.Alerts()
			return len(a) == 1 && a[0].State == faketargets.Resolved && r.queued("rollcall-targets.fifo") == 0
		})
		if diff := cmp.Diff([]faketargets.Alert{{
			Dedup: "rollcall/111122223333/us-west-2/eks-workshop/route/no-egress#" + table, Severity: "critical", State: faketargets.Resolved,
			Summary: "eks-workshop / new_nodegroup_2 · 1 instance will not be able to join: subnet-0c30000000000000d has no route to the internet",
			Log:     []string{"trigger", "trigger", "acknowledge", "resolve"},
		}}, all.pagerduty.Alerts()); diff != "" {
			t.Errorf("alerts (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"Critical", "Critical", "Resolved"}, all.urgencies()); diff != "" {
			t.Errorf("cards (-want +got):\n%s", diff)
		}
		got := r.subjects()
		if len(got) != 3 || !strings.HasPrefix(got[0], "Critical: eks-workshop / new_nodegroup_2 - 1 instance will not") ||
			!strings.HasPrefix(got[2], "Resolved: eks-workshop / new_nodegroup_2 - joined again") {
			t.Errorf("mails %q", got)
		}
		kinds, repeats := all.kinds(t)
		if diff := cmp.Diff([]string{"Incident Opened", "Incident Changed", "Incident Acknowledged", "Incident Changed", "Incident Resolved"}, kinds); diff != "" || repeats != 0 {
			t.Errorf("webhook, %d repeats (-want +got):\n%s", repeats, diff)
		}
		// The same words everywhere: what Slack's headline says, the card says.
		headline := all.teams.Cards()[2].Lines[0]
		if _, words, _ := strings.Cut(headline, " · "); !strings.Contains(r.messages()[0].Text, words) {
			t.Errorf("Slack says %q, Teams %q", r.messages()[0].Text, words)
		}
		for _, secret := range []string{routingKey, signingKey, "s3cr3t"} {
			if strings.Contains(r.out.String(), secret) {
				t.Errorf("the logs hold the secret %q", secret)
			}
		}
		r.nothingLost()
	})
}

// TestTargetIsDown: PagerDuty is away for an hour, and Teams answers each message with
// 400. The others are told at once; PagerDuty hears all of it in order when it is back;
// what Teams does not take is put aside, with its reason.
func TestTargetIsDown(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var all targets
		r := start(t, "route", func(o *Options) { all = withTargets(t, o) })
		down := time.Now().Add(time.Hour)
		all.pagerduty.Trouble(func(at time.Time) (int, time.Duration) {
			switch {
			case at.After(down):
				return 0, 0
			case at.Second()%3 == 0:
				return faketargets.Gone, 0
			case at.Second()%3 == 1:
				return http.StatusTooManyRequests, 90 * time.Second
			}
			return http.StatusServiceUnavailable, 0
		})
		r.Cloud.SetSecret("rollcall/teams", "https://"+teamsHost+"/workflows/1?sig=s3cr3t-of-yesterday")
		all.teams.Trouble(func(time.Time) (int, time.Duration) { return http.StatusBadRequest, 0 })
		began := time.Now()
		r.scale(1, 1)
		r.until("the mail", func() bool { return len(r.Cloud.Mails()) > 0 })
		if took := time.Since(began); took > 3*time.Minute {
			t.Errorf("the mail took %s", took)
		}
		r.until("the missed roll call", r.says("1 instance cannot join"))
		r.acknowledge()
		r.repair()
		r.until("the proof", func() bool { return r.incident().State == incident.Closed })
		r.until("the mails", func() bool { return len(r.Cloud.Mails()) == 3 })
		if n := len(all.pagerduty.Alerts()); n != 0 || !time.Now().Before(down) {
			t.Fatalf("%d alerts by %s, it is away until %s", n, time.Now(), down)
		}
		asked := all.pagerduty.Requests()
		if asked < 5 || asked > 60 {
			t.Errorf("PagerDuty was asked %d times while it was away", asked)
		}
		r.until("PagerDuty", func() bool { return len(all.pagerduty.Alerts()) == 1 && r.queued("rollcall-targets.fifo") == 0 })
		if late := time.Since(down); late > 6*time.Minute {
			t.Errorf("PagerDuty was told %s after it was back", late)
		}
		if diff := cmp.Diff([]string{"trigger", "trigger", "acknowledge", "resolve"}, all.pagerduty.Alerts()[0].Log); diff != "" {
			t.Errorf("PagerDuty (-want +got):\n%s", diff)
		}
		if got := r.queued("rollcall-targets-dead.fifo"); got != 3 {
			t.Errorf("%d messages were put aside, want the three that Teams did not take", got)
		}
		if kinds, repeats := all.kinds(t); len(kinds) != 5 || repeats != 0 {
			t.Errorf("webhook %v, %d repeats", kinds, repeats)
		}
		if !strings.Contains(r.out.String(), "target teams=rollcall/teams refuses it (HTTP 400)") {
			t.Error("the log does not say who refuses what")
		}
	})
}

// TestSecretIsFilledInLater: an empty secret loses nothing. IAM lets no other be read.
func TestSecretIsFilledInLater(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var all targets
		r := start(t, "route", func(o *Options) {
			all = withTargets(t, o)
			o.TargetSecrets["rollcall/pagerduty"] = ""
		})
		r.scale(1, 1)
		r.until("the missed roll call", r.says("1 instance cannot join"))
		r.pass(20 * time.Minute)
		if n := all.pagerduty.Requests(); n != 0 {
			t.Errorf("PagerDuty was asked %d times without a key", n)
		}
		r.Cloud.SetSecret("rollcall/pagerduty", routingKey)
		r.until("the alert", func() bool { return len(all.pagerduty.Alerts()) == 1 })
		if !strings.Contains(r.out.String(), `"TargetsUndelivered"`) {
			t.Error("nobody was told that a target hears nothing")
		}
	})
}
