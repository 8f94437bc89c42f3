package demo

import (
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"

	"rollcall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"rollcall/events"
	"rollcall/stage"
	"rollcall/stage/fakeslack"
)

func TestChosenStories(t *testing.T) {
	tests := map[string][]string{"route": {"route"}, "spot": {"spot"}, "ips": {"ips"}, "zone": {"zone"}, "karpenter": {"karpenter"}, "organization": {"organization"}, "organisation": nil,
		"all": {"route", "spot", "ips", "zone", "karpenter", "organization"}, "": nil, "zones": nil}
	for name, want := range tests {
		var got []string
		for _, p := range chosen(name) {
			got = append(got, p.name)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("story %q (-got +want):\n%s", name, diff)
		}
	}
}

// Each story's world is there, among the files that the program carries.
func TestStoriesHaveWorlds(t *testing.T) {
	for _, p := range plays() {
		for _, q := range append([]play{p}, p.then...) {
			if _, err := fs.Stat(rollcall.Files(), "stage/worlds/"+q.world+".yaml"); err != nil {
				t.Errorf("%s: %v", q.name, err)
			}
			if q.act == nil || q.rate <= 0 {
				t.Errorf("%s has no act or no rate", q.name)
			}
		}
	}
}

// A long line is broken at its blanks, a longer word is not.
func TestFolded(t *testing.T) {
	long := strings.Repeat("x", width)
	for line, want := range map[string]string{
		"short line":                         "short line",
		"":                                   "",
		long + " y":                          long + "\n  y",
		strings.Repeat("four ", 20) + "end":  strings.TrimSuffix(strings.Repeat("four ", 19), " ") + "\n  four end",
		strings.Repeat("vier→ ", 20) + "end": strings.TrimSuffix(strings.Repeat("vier→ ", 16), " ") + "\n  " + strings.Repeat("vier→ ", 4) + "end",
	} {
		if got := folded(line, "  "); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

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

// The story's script deletes what lives. This is the world alone, without
// Rollcall.
func TestScriptOnACopy(t *testing.T) {
	w, err := copied("../worlds/ips.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.EC2().DescribeSubnets(&ec2.DescribeSubnetsInput{SubnetIds: []string{ipsSubnet}})
	if err != nil || aws.ToInt32(out.Subnets[0].AvailableIpAddressCount) != 0 {
		t.Errorf("the subnet has %d free (%v), want 0", aws.ToInt32(out.Subnets[0].AvailableIpAddressCount), err)
	}
	list, err := tollOf(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range list {
		want := 1
		if i == 0 {
			want = leaked()
		}
		if got.count != want || got.wrong != (i > 0) {
			t.Errorf("%s: %d deleted, want %d", got.what, got.count, want)
		}
	}
}

func TestProof(t *testing.T) {
	section := func(words string) string {
		return `{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"` + words + `"}]}]}`
	}
	m := fakeslack.Message{Text: "🔴 the first line", Blocks: json.RawMessage("[" + strings.Join([]string{
		section("the first line"), section("Why"), section("Ruled out"), section("Spot interruptions: none of the 21"), section("Change"), section("Bad Spot pool: take it out"),
		`{"type":"image","slack_file":{"id":"F1"},"alt_text":"x"}`,
	}, ",") + "]")}
	tests := []struct {
		name string
		want proof
		fits bool
	}{
		{"said and ruled out", proof{says: []string{"first line"}, ruledOut: []string{"Spot interruptions: none of the 21"}}, true},
		{"not said", proof{says: []string{"something else"}}, false},
		{"said, but not ruled out", proof{ruledOut: []string{"Bad Spot pool"}}, false},
	}
	for _, tt := range tests {
		if err := tt.want.hold(m); (err == nil) != tt.fits {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
