package doctor

import (
	"context"
	"fmt"

	"rollcall/infra/deadletters"
	"rollcall/shared/config"
	"rollcall/shared/outbox"
)

// queues looks for what was given up.
func (c Clients) queues(ctx context.Context) []Finding {
	found, err := deadletters.Find(ctx, c.Queues, Prefix)
	if err != nil {
		return []Finding{unseen("dead letters", Prefix, "sqs:ListQueues and sqs:GetQueueAttributes", err)}
	}
	if len(found) == 0 {
		return []Finding{{Part: "dead letters", Name: Prefix, State: Well, Says: "there are none"}}
	}
	var list []Finding
	for _, l := range found {
		f := Finding{Part: "dead letters", Name: l.Queue, State: Wrong, Says: fmt.Sprintf("holds %d", l.Messages)}
		if l.Movable() {
			f.Do, f.Command = "Mend what they failed of (the functions' logs say it), then move them back.", "make redrive MOVE=1"
		} else {
			f.Do = "They are events that reached no queue, and cannot be moved back; the next sweep finds what they were about. Purge the queue when the functions' logs say why."
			f.Command = "aws sqs purge-queue --queue-url \"$(aws sqs get-queue-url --queue-name '" + l.Queue + "' --query QueueUrl --output text)\""
		}
		list = append(list, f)
	}
	return list
}

// table looks whether the table can be read, and what Slack and the bus refused of
// which cluster.
func (c Clients) table(ctx context.Context, there []functionOf) []Finding {
	name := ""
	for _, f := range there {
		if t := f.setting(config.TableName); t != "" {
			name = t
		}
	}
	if name == "" {
		return []Finding{redeploy(Finding{Part: "table", Name: string(config.TableName), Says: "no function has a table"})}
	}
	records, err := c.Records(name).ClusterRecords(ctx)
	switch {
	case coded(err, "ResourceNotFoundException"):
		return []Finding{redeploy(Finding{Part: "table", Name: name, Says: "is not there: nothing can be remembered or told"})}
	case err != nil:
		return []Finding{unseen("table", name, "dynamodb:Query on "+name, err)}
	}
	list := []Finding{{Part: "table", Name: name, State: Well, Says: "can be read"}}
	for _, r := range records {
		for _, refusal := range r.Refusals {
			list = append(list, refusedDelivery(r.Cluster, refusal))
		}
	}
	return list
}

// refusedDelivery is what a target does not take of a cluster.
func refusedDelivery(cluster string, r outbox.Refusal) Finding {
	f := Finding{
		Part: "delivery", Name: cluster, State: Wrong, Says: fmt.Sprintf("%s has refused what is told of %s since %s: %s (%d times)", r.Target, cluster, r.Since.UTC().Format("2006-01-02 15:04 UTC"), r.Code, r.Times),
		Do: "It is tried again by itself within a quarter of an hour of what is mended.",
	}
	if r.Target == outbox.ToBus {
		f.Do = "Look at the event bus's policy and quota. " + f.Do
	}
	return f
}
