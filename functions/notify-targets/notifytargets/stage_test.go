package notifytargets

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/functions/notify-targets/spec"
	"rollcall/local/faketargets"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/config"
)

const (
	key  = "e93facc04764012d7bfb002500d5d1a6"
	host = "prod-01.westus.logic.azure.com"
)

// staged is the function on a stage, with a stand-in for each target.
type staged struct {
	*stagetest.Bench
	pagerduty *faketargets.PagerDuty
	teams     *faketargets.Teams
	webhook   *faketargets.Webhook
}

func onStage(t *testing.T, kill *stagetest.Kill) staged {
	t.Helper()
	var s staged
	var err error
	if s.pagerduty, err = faketargets.NewPagerDuty(key, time.Now); err != nil {
		t.Fatal(err)
	}
	if s.teams, err = faketargets.NewTeams("s3cr3t", time.Now); err != nil {
		t.Fatal(err)
	}
	// The function signs in the stage's time.
	s.webhook = faketargets.NewWebhook(key, func() time.Time { return s.Now() })
	s.Bench = stagetest.Start(t, spec.Spec(), Build, stagetest.Options{
		Kill: kill, Settings: map[string]string{string(config.Targets): "sns,pagerduty=pd,teams=teams,webhook=hook"},
		TargetSecrets: map[string]string{"pd": key, "teams": "https://" + host + "/x?sig=s3cr3t", "hook": `{"url":"https://hooks.example.com/","key":"` + key + `"}`},
		Others:        map[string]http.Handler{"events.pagerduty.com": s.pagerduty, host: s.teams, "hooks.example.com": s.webhook},
	})
	for _, inc := range samples(t) {
		if _, err := s.Store.SaveIncident(t.Context(), inc); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Store.SavePosting(t.Context(), weekly(t)); err != nil {
		t.Fatal(err)
	}
	s.Advance(5 * 24 * time.Hour) // past all that the samples tell of
	return s
}

// queued takes the messages out of the function's queue, as its poller does.
func (s staged) queued(t *testing.T) (bodies []string) {
	t.Helper()
	for _, q := range s.Template.Queues {
		if q.Name != "rollcall-targets.fifo" {
			continue
		}
		batch, err := s.Queues.Receive(t.Context(), q.ARN, 10, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range batch {
			bodies = append(bodies, m.Body)
		}
		if err := s.Queues.Delete(q.ARN, batch...); err != nil {
			t.Fatal(err)
		}
	}
	return bodies
}

// TestOnTheStage: an event becomes a message for each target, and each is told. That no
// call is made that the role does not allow, the bench holds.
func TestOnTheStage(t *testing.T) {
	s := onStage(t, nil)
	if _, err := s.Handle(sample(t, "incident-opened")); err != nil {
		t.Fatal(err)
	}
	bodies := s.queued(t)
	if len(bodies) != 4 {
		t.Fatalf("%d messages", len(bodies))
	}
	if back := s.Send(bodies...); len(back) > 0 {
		t.Errorf("come again: %q", back)
	}
	if a := s.pagerduty.Alerts(); len(a) != 1 || a[0].State != faketargets.Triggered || len(s.teams.Cards()) != 1 || len(s.webhook.Deliveries()) != 1 || len(s.Cloud.Mails()) != 1 {
		t.Errorf("alerts %v, cards %v, deliveries %d, mails %v\n%s", a, s.teams.Cards(), len(s.webhook.Deliveries()), s.Cloud.Mails(), s.Logs())
	}
	// A target that is away: what it is to be told is held back, and nothing is given up.
	s.pagerduty.Trouble(func(time.Time) (int, time.Duration) { return http.StatusServiceUnavailable, 0 })
	if _, err := s.Handle(sample(t, "incident-resolved")); err != nil {
		t.Fatal(err)
	}
	if back := s.Send(s.queued(t)...); len(back) != 1 || len(s.Cloud.Mails()) != 2 {
		t.Errorf("come again: %q, mails %d", back, len(s.Cloud.Mails()))
	}
}

// TestItMayDoNothingElse: no other secret is read, and no other topic published to, than
// those of the settings.
func TestItMayDoNothingElse(t *testing.T) {
	s := onStage(t, nil)
	as := s.AsFunction(s.Function)
	s.Cloud.SetSecret("hook-of-others", "x")
	refused := func(what string, err error, code string) {
		t.Helper()
		var api smithy.APIError
		if !errors.As(err, &api) || api.ErrorCode() != code {
			t.Errorf("%s: %v, want %s", what, err, code)
		}
	}
	secrets, topics := secretsmanager.NewFromConfig(as), sns.NewFromConfig(as)
	for _, name := range []string{"hook-of-others", s.Template.Secrets[0].Name} {
		_, err := secrets.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String(name)})
		refused(name, err, "AccessDeniedException")
	}
	if _, err := secrets.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("hook")}); err != nil {
		t.Errorf("its own: %v", err)
	}
	for _, topic := range s.Template.Topics {
		_, err := topics.Publish(t.Context(), &sns.PublishInput{TopicArn: aws.String(topic.ARN), Message: aws.String("m")})
		if strings.HasPrefix(topic.LogicalID, "TargetTopic") {
			if err != nil {
				t.Errorf("its own: %v", err)
			}
			continue
		}
		refused(topic.LogicalID, err, "AuthorizationError")
	}
}

// TestKilledAtEachWrite: wherever the function ends, each target is told of all, and
// remembers it so; a receiver knows what came twice.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"Publish", "PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		s := onStage(t, k)
		for _, name := range []string{"incident-opened", "incident-acknowledged", "incident-resolved", "weekly-report"} {
			k.Invoke(sample(t, name))
			for _, body := range s.queued(t) {
				k.Invoke(stagetest.Batch(body))
			}
		}
		var alerts []string
		for _, a := range s.pagerduty.Alerts() {
			alerts = append(alerts, a.Dedup+" "+a.State+" "+strings.Join(slices.Compact(a.Log), " "))
		}
		deliveries := map[string]bool{}
		for _, d := range s.webhook.Deliveries() {
			deliveries[d.ID] = true
		}
		mails := map[string]bool{}
		for _, m := range s.Cloud.Mails() {
			mails[m.Subject] = true
		}
		cards := map[string]bool{}
		for _, c := range s.teams.Cards() {
			cards[c.Lines[0]] = true
		}
		if len(alerts) != 1 || len(deliveries) != 4 || len(mails) != 3 || len(cards) != 3 {
			t.Errorf("alerts %v, deliveries %v, mails %v, cards %v", alerts, deliveries, mails, cards)
		}
		return stagetest.Timeless(t, map[string]any{"alerts": alerts, "deliveries": deliveries, "mails": mails, "cards": cards, "records": told(t, s)})
	})
}

// told is what is remembered.
func told(t *testing.T, s staged) map[string]any {
	t.Helper()
	out := map[string]any{}
	for name, record := range s.Kept() {
		body, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(body)
	}
	if diff := cmp.Diff(true, len(out) > 0); diff != "" {
		t.Error("nothing is remembered")
	}
	return out
}
