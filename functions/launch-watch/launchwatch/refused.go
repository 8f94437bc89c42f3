package launchwatch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
)

// drop leaves out a call for instances that is none of ours, or no refusal. There
// may be thousands an hour: they are counted, not logged.
func (h handler) drop(m detect.Message) {
	h.Count("LaunchCallsDropped", 1)
	if m.Why == event.AnswerLeftOut {
		h.Count("LaunchAnswersLeftOut", 1)
		h.Log.Warn("CloudTrail left out the answer to a call: whether it brought instances is not known", "event", m.ID, "call", m.Call)
	}
}

// refusedCalls sorts the refused calls by cluster: as the request's tags name it,
// else as its launch template's do.
func (h handler) refusedCalls(ctx context.Context, b *batch, cases map[string]clusterCase) {
	var templates []snapshot.TemplateRef
	for _, m := range b.refused {
		ref := template(m.Refusal)
		if _, told := gather.ClusterOf(m.Refusal.Tags); !told && !slices.Contains(templates, ref) {
			templates = append(templates, ref)
		}
	}
	tags, failed := h.reader.TemplateTags(ctx, templates)
	for _, m := range b.refused {
		of := m.Refusal.Tags
		cluster, told := gather.ClusterOf(of)
		if !told {
			if failed != nil {
				h.Log.Warn("whose the refused launch is cannot be told without its launch template, its message goes back to the queue",
					"template", m.Refusal.Template, "call", failed.Call, "reason", failed.Reason)
				b.failed = append(b.failed, m.Receipt)
				continue
			}
			of = tags[template(m.Refusal)]
			cluster, told = gather.ClusterOf(of)
		}
		if !told || !h.Watches(cluster) {
			h.Count("ForeignLaunchCalls", 1)
			continue
		}
		h.Count("RefusedLaunchCalls", 1)
		c := cases[cluster]
		c.account = cmp.Or(c.account, m.Account)
		c.calls = append(c.calls, detect.RefusedCall(m.Trigger, of))
		cases[cluster] = c
	}
}

// template is the one that a call names, by its id or its name.
func template(r *event.Refusal) snapshot.TemplateRef {
	ref := snapshot.TemplateRef{ID: r.Template, Version: r.Version}
	if !strings.HasPrefix(r.Template, "lt-") {
		ref.ID, ref.Name = "", r.Template
	}
	return ref
}

// runs are the refused launches of a cluster with what this batch says of them;
// none where it says nothing of launches without a group.
func (h handler) runs(ctx context.Context, cluster string, c clusterCase) (*detect.Runs, error) {
	ungrouped := slices.ContainsFunc(c.instances, func(in snapshot.Instance) bool { return detect.GroupOf(in) == "" })
	if len(c.calls) == 0 && !ungrouped {
		return detect.NewRuns(nil), nil
	}
	records, err := h.refused.RefusedLaunches(ctx, cluster)
	if err != nil {
		return nil, fmt.Errorf("look up the refused launches: %w", err)
	}
	runs := detect.NewRuns(records)
	for _, call := range c.calls {
		runs.Take(cluster, call)
	}
	runs.Decode(func(message string) snapshot.DecodedMessage { return h.reader.Decode(ctx, message) })
	runs.Started(c.instances)
	if !runs.Began(h.Now()) {
		return runs, nil
	}
	// CloudTrail is minutes late: the pool may have got an instance meanwhile, which
	// others have told of.
	found, failed := h.reader.FindTagged(ctx, cluster)
	if failed != nil {
		h.Log.WarnContext(ctx, "whether instances came since is not known", "cluster", cluster, "call", failed.Call, "reason", failed.Reason)
	}
	runs.Started(found)
	return runs, nil
}

// saveRuns remembers them.
func (h handler) saveRuns(ctx context.Context, cluster string, c clusterCase, runs *detect.Runs) error {
	return h.SaveRuns(ctx, h.refused, runs, func(ctx context.Context) (*detect.Runs, error) { return h.runs(ctx, cluster, c) })
}
