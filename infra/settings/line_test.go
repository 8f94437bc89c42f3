package settings

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLine(t *testing.T) {
	got, wrong := Line{Context: []string{"slackChannel=C1", "slackChannel=C2", "cleanup=prod=delete", "stackName="}, Variables: []string{"CHANNEL", "SET", "V", "DEMO"}}.Read()
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	want := map[string]any{"slackChannel": "C2", "cleanup": "prod=delete", "stackName": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	got, wrong = Line{NoChannel: true}.Read()
	if _, err := Parse(got); err != nil || len(wrong) > 0 {
		t.Errorf("without a channel: %v, %v", err, wrong)
	}
	got, _ = Line{NoChannel: true, Context: []string{"slackChannel=C9"}}.Read()
	if got["slackChannel"] != "C9" {
		t.Errorf("the channel given: %v", got)
	}
}

func TestLineRefuses(t *testing.T) {
	for _, test := range []struct {
		line Line
		want string
	}{
		{Line{Context: []string{"slackActions"}}, `SET: "slackActions" has no value (make … SET="slackActions=…")`},
		{Line{Context: []string{"on"}}, `SET: "on" is not of the form key=value`},
		{Line{Context: []string{"=x"}}, `SET: "=x" is not of the form key=value`},
		{Line{Variables: []string{"CLUSTER"}}, "CLUSTER: is not a variable of this Makefile; did you mean CLUSTERS?"},
		{Line{Variables: []string{"channel"}}, "channel: is not a variable of this Makefile; did you mean CHANNEL?"},
		{Line{Variables: []string{"CHANEL"}}, "did you mean CHANNEL?"},
		{Line{Variables: []string{"SETS"}}, "did you mean SET?"},
	} {
		_, wrong := test.line.Read()
		if err := errors.Join(wrong...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test.line, err, test.want)
		}
	}
}
