package button

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/spoke"
)

func aValue() Value {
	return Value{Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-0cd2"}, Number: 2, Plan: strings.Repeat("0f", 16)}
}

func text(t *testing.T, v Value) string {
	t.Helper()
	s, ok := v.Text()
	if !ok {
		t.Fatalf("%+v does not fit", v)
	}
	return s
}

// TestValueAtTheLimits: the longest names that AWS allows fit, and what does
// not fit is not sent.
func TestValueAtTheLimits(t *testing.T) {
	longest := Value{
		Key: report.Key{
			Cluster:  strings.Repeat("c", 100), // EKS
			Check:    checkid.ID("ip/" + strings.Repeat("k", 60)),
			Resource: "arn:aws-us-gov:iam::123456789012:role/" + strings.Repeat("p", 511) + "/" + strings.Repeat("r", 64), // IAM
		},
		Number: 1 << 31, Plan: strings.Repeat("f", 32),
	}
	for _, tt := range []struct {
		name string
		v    Value
		fits bool
	}{
		{"the longest", longest, true},
		{"without a plan", Value{Key: longest.Key}, true},
		{"marks", Value{Key: report.Key{Cluster: `<!channel>&"\`, Check: "a/b", Resource: "日本🔥\n"}}, true},
		{"too long", Value{Key: report.Key{Cluster: "c", Check: "a/b", Resource: strings.Repeat("x", 2000)}}, false},
		{"too long in UTF-16", Value{Key: report.Key{Cluster: "c", Check: "a/b", Resource: strings.Repeat("🔥", 990)}}, false},
		{"not UTF-8", Value{Key: report.Key{Cluster: "c\xff", Check: "a/b", Resource: "r"}}, false},
		{"no cluster", Value{Key: report.Key{Check: "a/b", Resource: "r"}}, false},
		{"no hash", Value{Key: longest.Key, Plan: "unknown: x"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, fits := tt.v.Text()
			if fits != tt.fits {
				t.Fatalf("fits = %v, want %v: %s", fits, tt.fits, got)
			}
			if !fits {
				return
			}
			if slacktext.Length(got) > maxValue {
				t.Errorf("%d characters", slacktext.Length(got))
			}
			back, err := Parse(got)
			if err != nil || back != tt.v {
				t.Errorf("read as %+v, %v", back, err)
			}
		})
	}
}

func TestParseValueRefuses(t *testing.T) {
	good := text(t, aValue())
	for _, s := range []string{
		"", "{}", "null", "[]", `"x"`, good + "x", good + good, strings.Replace(good, `"v":1`, `"v":2`, 1), strings.Replace(good, `"v":1,`, "", 1),
		strings.Replace(good, `"c":"prod"`, `"c":""`, 1), strings.Replace(good, `"r":"rtb-0cd2"`, `"r":""`, 1), strings.Replace(good, `"n":2`, `"n":-2`, 1),
		strings.Replace(good, "0f0f", "0F0F", 1), strings.Replace(good, "0f0f", "", 1), strings.Replace(good, `"n":2`, `"n":2,"x":1`, 1),
		strings.Replace(good, "rtb-0cd2", strings.Repeat("x", 2000), 1),
	} {
		if v, err := Parse(s); !errors.Is(err, ErrValue) || v != (Value{}) {
			t.Errorf("Parse(%.80q) = %+v, %v", s, v, err)
		}
	}
}

func TestReadPress(t *testing.T) {
	v := aValue()
	keyed := v
	keyed.Plan = ""
	beside := func(id string, elements ...string) string {
		return `[{"type":"rich_text","block_id":"x","elements":[{"type":"rich_text_section","elements":[]}]},` +
			`{"type":"actions","block_id":"` + id + `","elements":[` + strings.Join(elements, ",") + `]}]`
	}
	button := func(id, value string) string {
		b, err := json.Marshal(map[string]string{"type": "button", "action_id": id, "value": value})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	menu := `{"type":"static_select","action_id":"mute"}`
	good := beside("b1", button("acknowledge", text(t, keyed)), menu)
	for _, tt := range []struct {
		name   string
		e      Element
		blocks string
		want   Pressed
		err    error
	}{
		{name: "approve", e: Element{ActionID: "approve", Value: text(t, v)}, want: Pressed{Value: v, Action: report.ApprovePlan}},
		{name: "refuse", e: Element{ActionID: "refuse", Value: text(t, v)}, want: Pressed{Value: v, Action: report.RefusePlan}},
		{name: "acknowledge", e: Element{ActionID: "acknowledge", Value: text(t, keyed)}, want: Pressed{Value: keyed, Action: report.Acknowledge}},
		{name: "a plan that is not asked for", e: Element{ActionID: "check", Value: text(t, v)}, want: Pressed{Value: keyed, Action: report.CheckAgain}},
		{name: "unmute", e: Element{ActionID: "unmute", Value: text(t, keyed)}, want: Pressed{Value: keyed, Action: report.Unmute}},
		{name: "mute", e: Element{ActionID: "mute", BlockID: "b1", Option: "4h"}, blocks: good, want: Pressed{Value: keyed, Action: report.MuteFor, For: 4 * time.Hour}},
		{name: "mute for a year", e: Element{ActionID: "mute", BlockID: "b1", Option: "8760h"}, blocks: good, err: ErrOption},
		{name: "mute for nothing", e: Element{ActionID: "mute", BlockID: "b1"}, blocks: good, err: ErrOption},
		{name: "mute in another block", e: Element{ActionID: "mute", BlockID: "b2", Option: "1h"}, blocks: good, err: ErrValue},
		{name: "mute alone", e: Element{ActionID: "mute", BlockID: "b1", Option: "1h"}, blocks: beside("b1", menu), err: ErrValue},
		{name: "mute of no message", e: Element{ActionID: "mute", BlockID: "b1", Option: "1h"}, err: ErrValue},
		{name: "approve without a plan", e: Element{ActionID: "approve", Value: text(t, keyed)}, err: ErrValue},
		{name: "approve without a value", e: Element{ActionID: "approve"}, err: ErrValue},
		{name: "another app's", e: Element{ActionID: "deploy", Value: text(t, v)}, err: ErrAction},
		{name: "no action", err: ErrAction},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(tt.e, []byte(tt.blocks))
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

func FuzzParseValue(f *testing.F) {
	f.Add(`{"v":1,"c":"prod","k":"route/no-egress","r":"rtb-0cd2","n":1,"p":"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"}`)
	f.Add(`{"v":1,"c":"🔥","k":"<","r":"\u0000"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, s string) {
		v, err := Parse(s)
		if err != nil {
			return
		}
		again, ok := v.Text()
		if !ok {
			return // it was shorter as it came, or is not UTF-8
		}
		if back, err := Parse(again); err != nil || back != v {
			t.Errorf("%q was %+v and is %+v, %v", s, v, back, err)
		}
	})
}

func FuzzReadPress(f *testing.F) {
	f.Add("mute", "b1", "", "1h", `[{"type":"actions","block_id":"b1","elements":[{"action_id":"check","value":"{\"v\":1,\"c\":\"p\",\"k\":\"a/b\",\"r\":\"r\"}"}]}]`)
	f.Add("approve", "b1", `{"v":1,"c":"p","k":"a/b","r":"r","p":"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"}`, "", `null`)
	f.Fuzz(func(t *testing.T, action, block, value, option, blocks string) {
		p, err := Read(Element{action, block, value, option}, []byte(blocks))
		if err != nil {
			return
		}
		deciding := p.Action == report.ApprovePlan || p.Action == report.RefusePlan
		if p.Key.Cluster == "" || p.Key.Check == "" || p.Key.Resource == "" || deciding != (p.Plan != "") || (p.Action == report.MuteFor) != (p.For > 0) {
			t.Errorf("%+v", p)
		}
	})
}

// TestButtonsOfSpokes: a button says whose incident it is of; the hub's own are as they
// were, and a release that knows no spokes refuses the others.
func TestButtonsOfSpokes(t *testing.T) {
	key := report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}
	other := key
	other.Spoke = spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	own, ok := Value{Key: key, Number: 1}.Text()
	if !ok || own != `{"v":1,"c":"prod","k":"route/no-egress","r":"rtb-1","n":1}` {
		t.Errorf("the hub's own button is %s", own)
	}
	text, ok := Value{Key: other, Number: 1}.Text()
	if !ok || text == own {
		t.Errorf("the spoke's button is %s", text)
	}
	if v, err := Parse(text); err != nil || v.Key != other {
		t.Errorf("%s is read as %+v, %v", text, v, err)
	}
	for _, s := range []string{"2222/eu-west-1", "222233334444", "222233334444/eu-west-1/x"} {
		if v, err := Parse(`{"v":1,"c":"prod","k":"route/no-egress","r":"rtb-1","s":"` + s + `"}`); !errors.Is(err, ErrValue) {
			t.Errorf("%s: %+v, %v", s, v, err)
		}
	}
}
