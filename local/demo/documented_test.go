package demo

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/events"
	"rollcall/local/stage"
)

func TestFollow(t *testing.T) {
	schemas, err := events.ReadSchemas("../../" + schemaFolder)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := os.ReadFile("../../events/out/incident-opened.json")
	if err != nil {
		t.Fatal(err)
	}
	nameless := []byte(strings.ReplaceAll(string(opened), `"111122223333"`, `""`))
	for name, test := range map[string]struct {
		put  []stage.Put
		want map[string]int
		says string
	}{
		"as documented":     {[]stage.Put{{Bus: "rollcall", Event: opened}, {Bus: "rollcall", Event: opened}}, map[string]int{"Rollcall Incident Opened": 2}, ""},
		"the default bus":   {[]stage.Put{{Bus: "rollcall", Event: opened}, {Bus: "default", Event: []byte(`{}`)}}, map[string]int{"Rollcall Incident Opened": 1}, ""},
		"without account":   {[]stage.Put{{Bus: "rollcall", Event: opened}, {Bus: "rollcall", Event: nameless}}, nil, "/detail/account"},
		"which event it is": {[]stage.Put{{Bus: "rollcall", Event: nameless}}, nil, "event 1, Rollcall Incident Opened eks-workshop/route/no-egress/"},
		"of no schema":      {[]stage.Put{{Bus: "rollcall", Event: []byte(`{"detail-type": "Rollcall Guess"}`)}}, nil, "no schema"},
		"nothing at all":    {nil, nil, "no event"},
	} {
		got, err := follow(schemas, test.put)
		switch {
		case test.says != "":
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v, want it to say %q", name, err, test.says)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}
