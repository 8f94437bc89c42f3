package slack

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	slackgo "github.com/slack-go/slack"

	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

func TestChange(t *testing.T) {
	for _, tt := range []struct {
		list []checks.Evidence
		want string
	}{
		{nil, ""},
		{[]checks.Evidence{{What: "rtb-0cd2", Value: "0.0.0.0/0 → nat-0aa4"}}, "rtb-0cd2 has 0.0.0.0/0 → nat-0aa4"},
		{[]checks.Evidence{{What: "rtb-0cd2", Value: "no internet needed: endpoints for EC2 and S3"}}, "rtb-0cd2: no internet needed: endpoints for EC2 and S3"},
		{[]checks.Evidence{{What: "vpc-0cd2", Value: "has endpoints for EC2"}}, "vpc-0cd2 has endpoints for EC2"},
		{[]checks.Evidence{{What: "Addresses of subnet-0ab1", Value: "20 free"}}, "Addresses of subnet-0ab1: 20 free"},
		{[]checks.Evidence{{What: "rtb-0cd2", Value: "a\nb"}}, ""},
		{[]checks.Evidence{{What: "rtb-0cd2"}}, ""},
		{[]checks.Evidence{{What: "a", Value: "b"}, {What: "c", Value: "d"}}, ""},
	} {
		if got := change(tt.list); got != tt.want {
			t.Errorf("change(%v) = %q, want %q", tt.list, got, tt.want)
		}
	}
}

func TestConsole(t *testing.T) {
	for _, tt := range []struct {
		place place
		id    string
		want  string
	}{
		{place{"aws", "us-west-2"}, "rtb-0cd2", "https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=rtb-0cd2"},
		{place{"aws-cn", "cn-north-1"}, "i-0ef3", "https://cn-north-1.console.amazonaws.cn/ec2/home?region=cn-north-1#InstanceDetails:instanceId=i-0ef3"},
		{place{"aws-us-gov", "us-gov-west-1"}, "subnet-0ab1", "https://us-gov-west-1.console.amazonaws-us-gov.com/vpcconsole/home?region=us-gov-west-1#SubnetDetails:subnetId=subnet-0ab1"},
		{place{"aws", "evil.example/"}, "rtb-0cd2", ""},
		{place{"", "us-west-2"}, "rtb-0cd2", ""},
		{place{"aws", "us-west-2"}, "prod/workers", ""},
		{place{"aws", "us-west-2"}, "rtb-0cd2&x=y", ""},
		{place{"aws", "us-west-2"}, "", ""},
	} {
		if got := tt.place.console(tt.id); got != tt.want {
			t.Errorf("%v.console(%q) = %q, want %q", tt.place, tt.id, got, tt.want)
		}
	}
}

func TestWeb(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#X:y=z": true,
		"https://us-west-2.console.amazonaws.cn/ec2/home":                                 true,
		"https://us-gov-west-1.console.amazonaws-us-gov.com/ec2/home":                     true,
		"https://console.aws.amazon.com/":                                                 true,
		"https://docs.aws.amazon.com/eks/latest/userguide/":                               true,
		"https://evil.example/":                                                           false,
		"https://us-west-2.console.aws.amazon.com.evil.example/":                          false,
		"https://evilconsole.aws.amazon.com/":                                             false,
		"https://x.y.console.aws.amazon.com/":                                             false,
		"https://s3.amazonaws.com/evil":                                                   false,
		"https://us-west-2.console.aws.amazon.com:8443/":                                  false,
		"https://us-west-2.console.aws.amazon.com\\@evil.example/":                        false,
		"http://console.aws.amazon.com/":                                                  false,
		"javascript:alert(1)":                                                             false,
		"https://user@host/":                                                              false,
		"https://":                                                                        false,
		"":                                                                                false,
	} {
		want := ""
		if ok {
			want = address
		}
		if got := web(address); got != want {
			t.Errorf("web(%q) = %q, want %q", address, got, want)
		}
	}
}

// TestDigest: the same for what reads the same, another for what does not.
func TestDigest(t *testing.T) {
	i := incidentOf(noEgress(), launches(2, "missed"))
	same := i
	same.Version, same.Applied, same.Seen = 7, []string{"x"}, began.Add(time.Hour)
	if a, b := Render(i, Options{}).Digest(), Render(same, Options{}).Digest(); a != b {
		t.Errorf("digests %q and %q of one message differ", a, b)
	}
	if got, want := Render(i, Options{}).Digest(), Render(i, Options{}).Digest(); got != want {
		t.Errorf("digest %q, then %q", got, want)
	}
	other := i
	other.Affected = 3
	if a, b := Render(i, Options{}).Digest(), Render(other, Options{}).Digest(); a == b {
		t.Errorf("one digest %q for two messages", a)
	}
}

// TestDigestOfButtons: the id of a block is nothing that anybody sees; what a button
// does is, and a message with another plan is edited, whatever it reads like.
func TestDigestOfButtons(t *testing.T) {
	row := func(id, value string) slackapi.Message {
		return slackapi.Message{Text: "t", Blocks: []slackgo.Block{slackgo.NewActionBlock(id, button(report.ApprovePlan, "Approve", value))}}
	}
	a := row("1", "plan a")
	if got := row("2", "plan a").Digest(); got != a.Digest() {
		t.Errorf("the id of a block changes the digest: %q and %q", got, a.Digest())
	}
	if got := row("1", "plan b").Digest(); got == a.Digest() {
		t.Errorf("another plan behind the button leaves the digest %q", got)
	}
	if id := a.Blocks[0].(*slackgo.ActionBlock).BlockID; id != "1" {
		t.Errorf("the digest changed the block's id to %q", id)
	}
}

// TestMenuIsAnotherAfterItWasUsed: a client keeps a choice as long as the block's id
// stays, and nothing else than a use changes it.
func TestMenuIsAnotherAfterItWasUsed(t *testing.T) {
	i := incidentOf(noEgress(), launches(2, "missed"))
	used := i
	used.Mutes = 1
	later := i
	later.Changed, later.State = i.Changed.Add(time.Hour), incident.Cleared
	if handleID(used) == handleID(i) || handleID(later) != handleID(i) {
		t.Errorf("ids %q, used %q, later %q", handleID(i), handleID(used), handleID(later))
	}
}

// TestTaintIsNoCall: what follows = in a taint looks like service:Call, and is not
// set in monospace by itself.
func TestTaintIsNoCall(t *testing.T) {
	code := &slackgo.RichTextSectionTextStyle{Code: true}
	for text, want := range map[string][]slackgo.RichTextSectionElement{
		"x/agent-not-ready=true:NoExecute": {slackgo.NewRichTextSectionTextElement("x/agent-not-ready=true:NoExecute", nil)},
		"to ec2:CreateFleet":               {slackgo.NewRichTextSectionTextElement("to ", nil), slackgo.NewRichTextSectionTextElement("ec2:CreateFleet", code)},
	} {
		l := (&line{page: newPage(place{"aws", "us-west-2"}, time.Time{}, 100)}).prose(text)
		if diff := cmp.Diff(want, l.items); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
