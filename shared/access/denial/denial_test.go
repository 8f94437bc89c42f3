package denial

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

// The sentences are those of the IAM user guide ("Troubleshoot access denied error
// messages"), of the AWS security blog, and of aws/karpenter-provider-aws#7370.
func TestOf(t *testing.T) {
	const (
		who      = "arn:aws:sts::111122223333:assumed-role/karpenter"
		instance = "arn:aws:ec2:us-west-2:111122223333:instance/*"
		begins   = "User: " + who + "/1731429849551905269 is not authorized to perform: ec2:RunInstances"
		on       = begins + " on resource: " + instance
	)
	denied := func(change func(*snapshot.Denial)) snapshot.Denial {
		d := snapshot.Denial{Who: who, Action: "ec2:RunInstances", Resource: instance}
		change(&d)
		return d
	}
	explicit := func(kind, policy string) snapshot.Denial {
		return denied(func(d *snapshot.Denial) { d.Explicit, d.Kind, d.Policy = true, kind, policy })
	}
	const scp = "arn:aws:organizations::987654321098:policy/o-qv5af4abcd/service_control_policy/p-2kgnabcd"
	for text, want := range map[string]snapshot.Denial{
		on: denied(func(*snapshot.Denial) {}),
		"You are not authorized to perform this operation with an explicit deny in a service control policy":                                                                                 {Explicit: true, Kind: "service control policy"},
		"User: [redacted] is not authorized to perform: [redacted] with an explicit deny in a permissions boundary.":                                                                         {Explicit: true, Kind: "permissions boundary"},
		"UnauthorizedOperation: You are not authorized to perform this operation. " + on + " with an explicit deny in a service control policy. Encoded authorization failure message: g4oZ": explicit("service control policy", ""),
		on + " with an explicit deny in a service control policy: " + scp:                                                                                                                    explicit("service control policy", scp),
		on + " with an explicit deny in a service control policy: " + scp + ". Launching EC2 instance failed.":                                                                               explicit("service control policy", scp),
		on + " with an explicit deny in a resource control policy":                                                                                                                           explicit("resource control policy", ""),
		on + " with an explicit deny in a permissions boundary: arn:aws:iam::111122223333:policy/Bound":                                                                                      explicit("permissions boundary", "arn:aws:iam::111122223333:policy/Bound"),
		on + " with an explicit deny in a permission boundary":                                                                                                                               explicit("permissions boundary", ""),
		on + " with an explicit deny in a session policy":                                                                                                                                    explicit("session policy", ""),
		on + " with an explicit deny in an identity-based policy: arn:aws:iam::111122223333:policy/Own":                                                                                      explicit("identity-based policy", "arn:aws:iam::111122223333:policy/Own"),
		on + " with an explicit deny in a resource-based policy":                                                                                                                             explicit("resource-based policy", ""),
		on + " with an explicit deny in a VPC endpoint policy":                                                                                                                               explicit("VPC endpoint policy", ""),
		on + " with an explicit deny": explicit("", ""),
		on + " because no identity-based policy allows the ec2:RunInstances action":                                                    denied(func(d *snapshot.Denial) { d.Kind = "identity-based policy" }),
		on + " because no service control policy allows the ec2:RunInstances action":                                                   denied(func(d *snapshot.Denial) { d.Kind = "service control policy" }),
		on + " because no permissions boundary allows the ec2:RunInstances action":                                                     denied(func(d *snapshot.Denial) { d.Kind = "permissions boundary" }),
		begins + " because no session policy allows the ec2:RunInstances action":                                                       denied(func(d *snapshot.Denial) { d.Kind, d.Resource = "session policy", "" }),
		"\"message\": \"" + strings.ReplaceAll(on, " ", "\n  ") + "\\n with an explicit\n deny in a service control policy\"":          explicit("service control policy", ""),
		"User: arn:aws:iam::111122223333:user/Matt is not authorized to perform: iam:PassRole on resource: role with an explicit deny": {Who: "arn:aws:iam::111122223333:user/Matt", Action: "iam:PassRole", Resource: "role", Explicit: true},
	} {
		got, ok := Parse(text)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s (read %v, -want +got):\n%s", text, ok, diff)
		}
	}
	for _, text := range []string{"", "You are not authorized to perform this operation.", "with an explicit deny in a service control policy", "User: x is authorized to perform: ec2:RunInstances"} {
		if got, ok := Parse(text); ok {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
	long, _ := Parse("User: " + strings.Repeat("x", 2000) + " is not authorized to perform: ec2:RunInstances")
	if n := len([]rune(long.Who)); n != 200 {
		t.Errorf("an identity of %d runes is shown", n)
	}
}

func TestAbove(t *testing.T) {
	for _, tt := range []struct {
		d    snapshot.Denial
		want bool
	}{
		{snapshot.Denial{Kind: "service control policy"}, true}, {snapshot.Denial{Kind: "resource control policy", Explicit: true}, true},
		{snapshot.Denial{Kind: "permissions boundary"}, true}, {snapshot.Denial{Kind: "session policy"}, true},
		{snapshot.Denial{Kind: "identity-based policy", Explicit: true, Statements: []snapshot.DeniedStatement{{}}}, false}, {snapshot.Denial{Kind: "VPC endpoint policy", Explicit: true}, false},
		{snapshot.Denial{Explicit: true}, false}, {snapshot.Denial{Explicit: true, Statements: []snapshot.DeniedStatement{{}}}, true}, {snapshot.Denial{}, false},
	} {
		expect.Equal(t, fmt.Sprintf("%+v is above", tt.d), Above(tt.d), tt.want)
	}
}

func TestEncoded(t *testing.T) {
	const message = "g4oZPBqZ4Bni8dE5dGjxYTnOZ-_a"
	for text, want := range map[string]struct {
		message string
		whole   bool
	}{
		"You are not authorized to perform this operation. Encoded authorization failure message: " + message: {message, true},
		"Encoded authorization failure message: " + message + ". Launching EC2 instance failed.":              {message, true},
		"Encoded authorization failure message:\n  " + message + "\n\tstatus code: 403, request id: 7f1c":     {message, true},
		"Encoded authorization failure message: " + message + "...":                                           {message, false},
		"Encoded authorization failure message: " + message + "…":                                             {message, false},
		"Encoded authorization failure message: ":                                                             {"", false},
		"Encoded authorization failure message: " + strings.Repeat("a", 10241):                                {strings.Repeat("a", 10241), false},
		"Encoded authorization failure message: " + strings.Repeat("a", 10240):                                {strings.Repeat("a", 10240), true},
		"You are not authorized to perform this operation.":                                                   {"", false},
	} {
		if got, whole := Encoded(text); got != want.message || whole != want.whole {
			t.Errorf("%.100q: %.40q, whole %v; want %.40q, %v", text, got, whole, want.message, want.whole)
		}
	}
}

// team is a decoded message in the form of aws/karpenter-provider-aws#3176, with what
// the request's context held beside it.
const team = `{"allowed":false,"explicitDeny":true,"matchedStatements":{"items":[
 {"statementId":"AskTeamId","effect":"DENY","principals":{"items":[{"value":"AROA6JVJT7X6J6IT7OOOY"}]},"principalGroups":{"items":[]},"actions":{"items":[{"value":"ec2:RunInstances"}]},
  "resources":{"items":[{"value":"arn:aws:ec2:*:*:instance/*"}]},"conditions":{"items":[{"key":"aws:RequestTag/team-id","values":{"items":[{"value":"true"}]}},{"key":"ec2:instancetype","values":{"items":[{"value":"t3a.micro"}]}}]}},
 {"statementId":"Allows","effect":"ALLOW","conditions":{"items":[]}},
 {"statementId":"","effect":"DENY","conditions":{"items":[]}}]},
 "failures":{"items":[]},"context":{"principal":{"id":"AROA6JVJT7X6J6IT7OOOY:1672","arn":"arn:aws:sts::111122223333:assumed-role/karpenter/1672"},"action":"RunInstances",
 "resource":"arn:aws:ec2:us-east-1:111122223333:instance/*","conditions":{"items":[{"key":"ec2:InstanceType","values":{"items":[{"value":"c5.large"}]}},{"key":"aws:SourceIp","values":{"items":[{"value":"203.0.113.9"}]}}]}}}`

func TestDecoded(t *testing.T) {
	got, err := Decoded(team)
	want := snapshot.Denial{
		Who: "arn:aws:sts::111122223333:assumed-role/karpenter", Action: "ec2:RunInstances", Resource: "arn:aws:ec2:us-east-1:111122223333:instance/*", Explicit: true,
		Statements: []snapshot.DeniedStatement{
			{ID: "AskTeamId", Conditions: []snapshot.DeniedCondition{{Key: "aws:RequestTag/team-id", Names: []string{"true"}}, {Key: "ec2:instancetype", Names: []string{"t3a.micro"}, Has: []string{"c5.large"}}}},
			{},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("decoded (-want +got), %v:\n%s", err, diff)
	}
	expect.Same(t, "tags that lack", MissingTags(got), []string{"team-id"})
	// What the request held beside what the statements ask for is not kept.
	if text := fmt.Sprint(got); strings.Contains(text, "203.0.113.9") || strings.Contains(text, "AROA6") || strings.Contains(text, "1672") {
		t.Errorf("more of the request is kept than the statements ask for: %s", text)
	}
	told, _ := Parse("User: arn:aws:sts::111122223333:assumed-role/karpenter/1 is not authorized to perform: ec2:RunInstances with an explicit deny in a service control policy: arn:aws:organizations::1:policy/p")
	want.Kind, want.Policy = "service control policy", "arn:aws:organizations::1:policy/p"
	expect.Same(t, "both together", Merge(told, got), want)
}

func TestDecodedIsBounded(t *testing.T) {
	statement := `{"statementId":"` + strings.Repeat("S", 500) + `","effect":"DENY","conditions":{"items":[` + strings.Repeat(`{"key":"k","values":{"items":[`+strings.Repeat(`{"value":"v"},`, 20)+`{"value":"v"}]}},`, 20) + `{"key":"k"}]}},`
	d, err := Decoded(`{"explicitDeny":true,"matchedStatements":{"items":[` + strings.Repeat(statement, 9) + `{}]},"context":{"action":"ec2:CreateFleet"}}`)
	expect.OK(t, err)
	if len(d.Statements) != 5 || len(d.Statements[0].Conditions) != 8 || len(d.Statements[0].Conditions[0].Names) != 5 || len([]rune(d.Statements[0].ID)) != 200 {
		t.Errorf("%d statements, %d conditions, %d values, an id of %d runes", len(d.Statements), len(d.Statements[0].Conditions), len(d.Statements[0].Conditions[0].Names), len([]rune(d.Statements[0].ID)))
	}
	for _, text := range []string{"", "{}", "<xml/>", `{"allowed":true,"context":{"action":"ec2:RunInstances"}}`, `{"context":{"action":""}}`, `{"context":{"action":"` + strings.Repeat("a", 256<<10) + `"}}`} {
		if d, err := Decoded(text); !errors.Is(err, errUnlike) {
			t.Errorf("%.60q is read as %+v, %v", text, d, err)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add("User: a is not authorized to perform: ec2:RunInstances on resource: b with an explicit deny in a service control policy: arn:c")
	f.Add(team)
	f.Fuzz(func(t *testing.T, text string) {
		if d, ok := Parse(text); ok && (d.Action == "" && d.Kind == "" || len([]rune(d.Who)) > 200 || strings.ContainsAny(d.Who+d.Resource+d.Policy, "\n\t")) {
			t.Errorf("%+v", d)
		}
		Encoded(text)
		_, _ = Decoded(text)
	})
}
