package launchwatch

import (
	"encoding/json"
	"strings"
	"testing"

	"rollcall/local/stage/stagetest"
)

// encodedMessage is the one of the sample of a refused fleet.
func encodedMessage(t *testing.T, body string) string {
	t.Helper()
	_, rest, found := strings.Cut(body, "Encoded authorization failure message: ")
	if !found {
		t.Fatal("the sample has no encoded message")
	}
	return rest[:strings.IndexAny(rest, "\". ")]
}

// TestDeniedFleetIsDecoded: where the operator lets it, the statement and the tag are
// told; where not, the permission is.
func TestDeniedFleetIsDecoded(t *testing.T) {
	body := sample(t, "ec2-call-create-fleet-refused.json")
	message := encodedMessage(t, body)
	decoded, err := json.Marshal(`{"allowed":false,"explicitDeny":true,"matchedStatements":{"items":[{"statementId":"AskTeamId","effect":"DENY","conditions":{"items":[{"key":"aws:RequestTag/team-id","values":{"items":[{"value":"true"}]}}]}}]},` +
		`"context":{"principal":{"arn":"arn:aws:sts::111122223333:assumed-role/karpenter/1"},"action":"ec2:CreateFleet","resource":"arn:aws:ec2:us-west-2:111122223333:fleet/*","conditions":{"items":[{"key":"aws:SourceIp","values":{"items":[{"value":"203.0.113.9"}]}}]}}}`)
	if err != nil {
		t.Fatal(err)
	}
	sts := func(encoded, expires string) string {
		return "sts: {AuthorizationMessages: [{Encoded: " + encoded + ", Decoded: " + string(decoded) + ", Expires: " + expires + "}]}\n"
	}
	for name, tt := range map[string]struct {
		over, setting string
		title, says   string
		asked         int
	}{
		"on":              {sts(message, "2026-11-21T00:00:00Z"), "on", "NodePool default cannot launch: statement AskTeamId denies it", "Statement AskTeamId: aws:RequestTag/team-id names true, the request has none", 1},
		"off":             {sts(message, "2026-11-21T00:00:00Z"), "off", "NodePool default cannot launch: a service control policy forbids it", "Encoded message: not decoded: Rollcall may not: it takes sts:DecodeAuthorizationMessage", 0},
		"it is another's": {sts("other", "2026-11-21T00:00:00Z"), "on", "NodePool default cannot launch: a service control policy forbids it", "Encoded message: not decoded: STS does not take it", 1},
		"it has expired":  {sts(message, "2026-11-20T14:00:00Z"), "on", "NodePool default cannot launch: a service control policy forbids it", "Encoded message: not decoded: STS does not take it", 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := bench(t, stagetest.Options{World: "samples.yaml", Over: tt.over, Settings: map[string]string{"ROLLCALL_DECODE_DENIED": tt.setting}})
			if back := b.Send(body, body); len(back) > 0 {
				t.Errorf("gave back %q", back)
			}
			c := b.Observation().Diagnosis.Causes[0]
			var told []string
			for _, e := range c.Evidence {
				told = append(told, e.What+": "+e.Value)
			}
			text := strings.Join(told, "\n")
			if c.Check != "launch/policy-denied" || c.Title != tt.title || !strings.Contains(text, tt.says) {
				t.Errorf("%s: %q, evidence\n%s\nwant %q and %q", c.Check, c.Title, text, tt.title, tt.says)
			}
			for _, secret := range []string{message, "203.0.113.9"} {
				if strings.Contains(text+b.Logs(), secret) {
					t.Errorf("%q is told or logged", secret)
				}
			}
			if got := b.Calls()["sts:DecodeAuthorizationMessage"]; got != tt.asked {
				t.Errorf("STS was asked %d times, want %d", got, tt.asked)
			}
		})
	}
}
