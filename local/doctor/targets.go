package doctor

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"rollcall/shared/bus"
	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/target"
	"rollcall/shared/target/deliver"
	"rollcall/shared/target/message"
)

// targets looks whether the secrets of the targets besides Slack hold what they are for,
// and has each told of a test.
func (c Clients) targets(ctx context.Context, d Deployment, f functionOf, busName string) []Finding {
	cfg, err := settingsOf(f, config.Targets)
	if err != nil {
		return []Finding{redeploy(Finding{Part: "settings", Name: Prefix + "-" + f.spec.Name, Says: err.Error(), Do: "Correct the setting (docs/settings.md), and deploy."})}
	}
	var list []Finding
	for _, t := range cfg.Targets {
		list = append(list, c.target(ctx, t, d.Now))
	}
	if d.TestMessage {
		list = append(list, c.testTargets(ctx, d, busName))
	}
	return list
}

// target looks at a target's secret. What it holds is in no finding.
func (c Clients) target(ctx context.Context, t target.Target, now time.Time) Finding {
	f := Finding{Part: "target", Name: t.Name(), State: Well, Says: "is among the settings"}
	if t.Secret == "" {
		return f
	}
	put := fillIn(string(t.Kind)+" secret", t.Secret)
	text, err := deliver.NewSecrets(c.Secrets, func() time.Time { return now }).Read(ctx, t.Name(), t.Secret)
	switch {
	case coded(err, "ResourceNotFoundException"):
		f.State, f.Says, f.Do = Wrong, "there is no secret of this name in the account and region, or nothing in it", "Make it, and put in what docs/targets.md says."
		f.Command = makeSecret(string(t.Kind)+" secret", t.Secret)
		return f
	case err != nil && deliver.IsEmpty(err):
		f.State, f.Says, f.Do, f.Command = Wrong, "its secret is empty", "Put in what docs/targets.md says.", put
		return f
	case err != nil:
		return unseen("target", t.Name(), "secretsmanager:GetSecretValue", err)
	}
	if err := deliver.CheckSecret(t, text); err != nil {
		f.State, f.Says, f.Do, f.Command = Wrong, strings.TrimPrefix(err.Error(), "target "+t.Name()+": "), "Put in what docs/targets.md says.", put
		return f
	}
	f.Says = "its secret has the form that it needs"
	return f
}

// testTargets puts a test message on the bus, from where notify-targets takes it as it
// takes what happens to incidents.
func (c Clients) testTargets(ctx context.Context, d Deployment, busName string) Finding {
	f := Finding{
		Part: "test message", Name: "targets", State: Well,
		Says: "is on the bus: it arrives at each target within seconds, and what one refuses rings the alarm of dead letters (PagerDuty's alert closes itself)",
	}
	detail, err := json.Marshal(struct {
		ID    string         `json:"id"`
		At    time.Time      `json:"at"`
		Words incident.Words `json:"words"`
	}{
		"test/" + d.Now.UTC().Format(time.RFC3339Nano), d.Now.UTC(),
		message.TestWords(d.Account, d.Region),
	})
	if err == nil {
		var out *eventbridge.PutEventsOutput
		out, err = c.Bus.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{{
			EventBusName: aws.String(busName), Source: aws.String(bus.Source), DetailType: aws.String(message.Test), Detail: aws.String(string(detail)), Time: aws.Time(d.Now),
		}}})
		if err == nil && out.FailedEntryCount > 0 {
			f.State, f.Says = Wrong, "EventBridge did not take it: "+strings.TrimSpace(aws.ToString(out.Entries[0].ErrorCode)+" "+aws.ToString(out.Entries[0].ErrorMessage))
		}
	}
	if err != nil {
		return unseen("test message", "targets", "events:PutEvents", err)
	}
	return f
}

// makeSecret makes a secret of what is typed: it is not in the shell's history, nor in the
// list of processes. A secret's name needs no quoting that single quotes do not give.
func makeSecret(what, name string) string {
	return strings.Replace(fillIn(what, name), "put-secret-value --secret-id", "create-secret --name", 1)
}
