package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	samples "rollcall/events"
	"rollcall/shared/config"
	"rollcall/shared/target/message"
)

// Each target's secret is looked at, and none is in what is found; a test message goes on
// the bus once, for all of them.
func TestTargets(t *testing.T) {
	const key = "e93facc04764012d7bfb002500d5d1a6"
	p := deploy(t, &deployed{
		settings: map[string]string{string(config.Targets): "sns,pagerduty=pd,pagerduty=pd-of-another,teams=t,webhook=w,webhook=short,teams=none-yet"},
		targets: map[string]string{
			"pd": key, "pd-of-another": key + "x", "t": "https://prod.westus.logic.azure.com/?sig=" + key, "w": `{"url":"http://hooks.example.com","key":"` + key + `"}`,
			"short": `{"url":"https://hooks.example.com","key":"x"}`,
		},
	})
	list := p.examined(true)
	about := func(s State) (lines []string) {
		for _, l := range of(list, s) {
			if strings.HasPrefix(l, "target ") || strings.HasPrefix(l, "test message targets") {
				lines = append(lines, l)
			}
		}
		return lines
	}
	want := []string{
		"target pagerduty=pd-of-another its secret holds no routing key: that has 32 characters",
		"target webhook=w the address in its secret: is no https address, or has a name or a password in it",
		"target webhook=short the key in its secret has fewer than 32 characters",
		"target teams=none-yet its secret is empty",
	}
	if diff := cmp.Diff(want, about(Wrong)); diff != "" {
		t.Error(diff)
	}
	if well := about(Well); len(well) != 4 || !strings.HasPrefix(well[3], "test message targets is on the bus") {
		t.Errorf("well: %q", well)
	}
	if strings.Contains(fmt.Sprint(list), key) {
		t.Error("a secret is in what is found")
	}
	events := p.Events()
	if len(events) != 1 || events[0].Bus != "rollcall" {
		t.Fatalf("events %v", events)
	}
	if n, err := message.Parse(events[0].Event); err != nil || n.Type != message.Test || !strings.Contains(n.Words.Headline, p.Template.AccountID) {
		t.Errorf("on the bus is %+v, %v", n, err)
	}
	schemas, err := samples.ReadSchemas("../../events/schema")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := schemas.Validate(events[0].Event); err != nil {
		t.Error(err)
	}
}
