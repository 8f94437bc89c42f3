package report

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/report/spec"
	"rollcall/shared/bus"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/notify"
	"rollcall/shared/routing"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

var (
	_ Passed  = (*store.Store)(nil)
	_ Audited = (*store.Store)(nil)
	_ People  = (*slackapi.Session)(nil)
	_ Aside   = bus.Queues{}
	_ Spokes  = (*store.Store)(nil)
)

// Build makes the handler of report from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	h := newHandler(e)
	if e.Config.Spoke.Hub() {
		for _, s := range e.Config.Others() {
			h.unwatched.watched = append(h.unwatched.watched, s.ID)
		}
		h.unwatched.of = func(id spoke.ID) handler {
			former := newHandler(e.In(id))
			former.Unwatched = func(string) bool { return true }
			return former
		}
		e.ForAll(h.leave)
	}
	return h.handle, nil
}

func newHandler(e lambda.Env) handler {
	wall := store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName)
	here := wall.At(e.Now)
	table := here.In(e.Config.Spoke)
	client := slackapi.NewSession(secretsmanager.NewFromConfig(e.AWS), e.Config.SlackSecretARN, e.Config.SlackAPI, &http.Client{Transport: e.HTTP})
	queues := bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Aside: e.Config.ResultDeadURL, Spoke: e.Config.Spoke}
	h := handler{
		Notifier: notify.Notifier{
			Incidents: table, Postings: table, Clusters: table, Silences: table, Acts: table,
			Slack: client, Files: client, Answers: client, Workspace: client,
			Bus: bus.New(eventbridge.NewFromConfig(e.AWS), e.Config.BusName), Again: queues, By: spec.Name,
			Policy: incident.Policy{
				ProofTime: e.Config.ProofTime, ReopenTime: e.Config.ReopenTime, RemindAfter: e.Config.RemindAfter,
				Routes: e.Config.Routes, TagKeys: routing.TagKeys(e.Config.Routes), Channel: e.Config.Channel,
			},
			Actions: e.Config.SlackActions, Docs: e.Config.DocsURL,
			Unwatched: notAmong(e.Config.Clusters),
			Now:       e.Now, Log: e.Log, Count: e.Metrics.Count,
		},
		passed: wall, // signatures are dated by the wall clock, and the records of presses are kept by it
		audit:  table,
		people: client,
		spoke:  e.Config.Spoke,
		naming: newNaming(e.Config, table),
		aside:  queues, approvers: e.Config.Approvers, responders: e.Config.Responders,
	}
	h.unwatched.spokes = here
	h.commands = commands{
		replies: slackapi.NewResponder(e.Config.SlackAPI, e.HTTP), home: client, hub: e.Config.Hub,
		watched: allOf(e.Config, func(id spoke.ID) Table { return here.In(id) }),
		wake: func(ctx context.Context, of spoke.Cluster) error {
			to := queues
			to.Spoke = of.ID
			return to.SendResult(ctx, wakeUp(of, spec.Name, e.Now()))
		},
	}
	return h
}
