package stagetest

import (
	"encoding/json"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/event"
	"rollcall/shared/nodegroup"
)

// NodegroupEvents are the changes of nodegroups on the Rollcall bus so far.
func (b *Bench) NodegroupEvents() []nodegroup.Event {
	b.t.Helper()
	var list []nodegroup.Event
	for _, p := range b.Events() {
		var e struct {
			DetailType string          `json:"detail-type"`
			Detail     nodegroup.Event `json:"detail"`
		}
		if p.Bus == "default" {
			continue
		}
		if err := json.Unmarshal(p.Event, &e); err != nil {
			b.t.Fatal(err)
		}
		if e.DetailType == nodegroup.DetailType {
			list = append(list, e.Detail)
		}
	}
	return list
}

// NodegroupReminders are the messages by which the handler reminded itself of
// nodegroups so far, in order, and the delay of the last.
func (b *Bench) NodegroupReminders() (bodies []string, delay time.Duration) {
	b.t.Helper()
	for _, c := range b.recorded() {
		in, ok := c.input.(*sqs.SendMessageInput)
		if !ok || c.failed {
			continue
		}
		if t, err := event.Parse([]byte(*in.MessageBody)); err == nil && t.Kind == event.Reminder && t.Nodegroup != "" {
			bodies, delay = append(bodies, *in.MessageBody), time.Duration(in.DelaySeconds)*time.Second
		}
	}
	return bodies, delay
}

// NodegroupRecord is what is remembered of a nodegroup of the cluster.
func (b *Bench) NodegroupRecord(name string) (r nodegroup.Record, ok bool) {
	b.t.Helper()
	records, err := b.Store.Nodegroups(b.t.Context(), Cluster)
	if err != nil {
		b.t.Fatal(err)
	}
	r, ok = records[name]
	return r, ok
}
