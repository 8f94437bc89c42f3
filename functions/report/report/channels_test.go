package report

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/routing"

	"rollcall/shared/report"
)

func TestChannelsAndCalls(t *testing.T) {
	b := newBench(t)
	routes, err := routing.Parse("eks-workshop/critical=C0PAGES001@S0ONCALL01,all=C0REST0001")
	if err != nil {
		t.Fatal(err)
	}
	b.policy.Routes, b.policy.RemindAfter = routes, 30*time.Minute
	b.must(0, failing(launch(i1, 0, report.Waiting)))
	b.must(5, failing(launch(i1, 0, report.Missed)))
	for _, m := range b.channel.messages {
		if m.channel != "C0PAGES001" || m.broadcast != (m.tag.Note == "called") {
			t.Errorf("%q is in %s, broadcast %v", m.tag.Note, m.channel, m.broadcast)
		}
	}
	b.must(30, sweep())
	if got := strings.Join(b.channel.notes(), " "); got != "opened called missed reminded" {
		t.Errorf("the thread has %q", got)
	}
	// It stays where it is when it is not critical any more.
	b.must(40, passing(launch(i1, 0, report.Missed)))
	if inc := b.incident(); inc.Delivery.Channel != "C0PAGES001" || len(b.channel.posts()) != 1 {
		t.Errorf("it moved to %s; %d posts", inc.Delivery.Channel, len(b.channel.posts()))
	}
}

// A post that was cut off is looked for where it was sent, wherever it would go
// now.
func TestChannelOfACutOffPost(t *testing.T) {
	b := newBench(t)
	routes, err := routing.Parse("all/critical=C0PAGES001,all=C0REST0001")
	if err != nil {
		t.Fatal(err)
	}
	b.policy.Routes = routes
	b.channel.fail = cutOff("post")
	b.must(0, failing(launch(i1, 0, report.Waiting)))
	b.must(5, passing(launch(i1, 0, report.Missed)))
	if posts := b.channel.posts(); len(posts) != 1 || posts[0].channel != "C0PAGES001" || b.incident().Delivery.Channel != "C0PAGES001" {
		t.Errorf("posts are %+v", posts)
	}
}
