package slack

import (
	"encoding/json"
	"strings"
	"testing"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// TestThreadTellsHowToReplay: what opens or comes back says so once, where there is
// something to replay, and whatever a name holds is one word of the command.
func TestThreadTellsHowToReplay(t *testing.T) {
	kept := &incident.Evidence{Opened: "a", Newest: "a"}
	for name, test := range map[string]struct {
		evidence *incident.Evidence
		reason   incident.Reason
		resource string
		want     string
	}{
		"opened":        {kept, incident.Opened, "rtb-1", "rollcall replay prod:route/no-egress:rtb-1"},
		"back":          {kept, incident.Reopened, "rtb-1", "rollcall replay prod:route/no-egress:rtb-1"},
		"a strange one": {kept, incident.Opened, "a; rm -rf $HOME", "rollcall replay 'prod:route/no-egress:a; rm -rf $HOME'"},
		"of no bucket":  {nil, incident.Opened, "rtb-1", ""},
		"resolved":      {kept, incident.IsProved, "rtb-1", ""},
	} {
		i := incident.Incident{Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: test.resource}, Evidence: test.evidence}
		raw, err := json.Marshal(RenderNote(i, incident.Note{Reason: test.reason}).Blocks)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if n := strings.Count(text, "rollcall replay"); n > 1 || (n == 1) != (test.want != "") || !strings.Contains(text, test.want) {
			t.Errorf("%s: %s", name, text)
		}
	}
}
