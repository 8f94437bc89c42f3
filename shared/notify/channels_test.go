package notify

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/routing"
)

func TestChannelsAndCalls(t *testing.T) {
	b := newBench(t)
	routes, err := routing.Parse("eks-workshop/critical=C0PAGES001@S0ONCALL01,all=C0REST0001")
	if err != nil {
		t.Fatal(err)
	}
	b.Policy.Routes, b.Policy.RemindAfter = routes, 30*time.Minute
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.must(5, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	for _, m := range b.channel.Messages {
		if m.Channel != "C0PAGES001" || m.Broadcast != (m.Tag.Note == "called") {
			t.Errorf("%q is in %s, broadcast %v", m.Tag.Note, m.Channel, m.Broadcast)
		}
	}
	b.must(30, notifytest.Sweep())
	if got := strings.Join(b.channel.Notes(), " "); got != "opened called missed reminded" {
		t.Errorf("the thread has %q", got)
	}
	// It stays where it is when it is not critical any more.
	b.must(40, notifytest.Passing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	if inc := b.incident(); inc.Delivery.Channel != "C0PAGES001" || len(b.channel.Posts()) != 1 {
		t.Errorf("it moved to %s; %d posts", inc.Delivery.Channel, len(b.channel.Posts()))
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
	b.Policy.Routes = routes
	b.channel.Fail = notifytest.CutOff("post")
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.must(5, notifytest.Passing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	if posts := b.channel.Posts(); len(posts) != 1 || posts[0].Channel != "C0PAGES001" || b.incident().Delivery.Channel != "C0PAGES001" {
		t.Errorf("posts are %+v", posts)
	}
}
