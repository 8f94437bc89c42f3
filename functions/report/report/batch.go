package report

import (
	"context"
	"slices"

	"rollcall/shared/event"
	"rollcall/shared/report"
)

// Aside is where messages go that nobody can read.
type Aside interface {
	SetAside(ctx context.Context, m event.Message, reason string) error
}

// clusterBatch is what a batch has of one cluster, in order.
type clusterBatch struct {
	name      string
	results   []report.Message // all but summaries
	summaries []report.Summary
	messages  []string
}

// asked is a command of a batch.
type asked struct {
	id      string
	message report.Message
}

// byCluster decodes a batch and sorts it by cluster, in the order of the first message
// of each. What cannot be decoded never can be: it is set aside at once, as a FIFO
// queue gives nothing else of its group, which is its cluster, while it is tried
// again. Decide does not depend on the order.
func (h handler) byCluster(ctx context.Context, messages []event.Message) (clusters []clusterBatch, commands []asked, failed []string) {
	for _, m := range messages {
		result, err := report.DecodeMessage([]byte(m.Body))
		if err != nil {
			h.Count("MalformedObservations", 1)
			h.Log.ErrorContext(ctx, "message cannot be read, it is set aside in the dead-letter queue", "message", m.ID, "group", m.Group, "received", m.Received, "error", err.Error())
			if err := h.aside.SetAside(ctx, m, err.Error()); err != nil {
				h.Log.ErrorContext(ctx, "it could not be set aside, it goes back to the queue", "message", m.ID, "error", err.Error())
				failed = append(failed, m.ID)
			}
			continue
		}
		if result.Command != nil {
			commands = append(commands, asked{m.ID, result})
			continue
		}
		result = result.In(h.spoke, h.whose)
		i := slices.IndexFunc(clusters, func(c clusterBatch) bool { return c.name == result.Cluster() })
		if i < 0 {
			clusters = append(clusters, clusterBatch{name: result.Cluster()})
			i = len(clusters) - 1
		}
		if result.Summary != nil {
			clusters[i].summaries = append(clusters[i].summaries, *result.Summary)
		} else {
			clusters[i].results = append(clusters[i].results, result)
		}
		clusters[i].messages = append(clusters[i].messages, m.ID)
	}
	return clusters, commands, failed
}
