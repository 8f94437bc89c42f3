package event

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	whole := string(sample(t, "health-ec2-scheduled-change.json"))
	one := `[{"entityValue": "i-0ef3c1b2a4d5968f1", "tags": {}}]`
	tests := []struct {
		name, old, with string
		kind            Kind
		instances       []string
	}{
		{"as it is", "", "", Maintenance, []string{"i-0ef3c1b2a4d5968f1"}},
		{"volumes and ARNs beside it", one, `[{"entityValue":"vol-1"},{"entityValue":"arn:aws:ec2:us-west-2:111122223333:instance/i-2"},{"entityValue":"i-2"},{"entityValue":"i-3"}]`, Maintenance, []string{"i-2", "i-3"}},
		{"nobody is named", one, `[]`, Foreign, nil},
		{"nobody is named, null", one, `null`, Foreign, nil},
		{"over", `"upcoming"`, `"closed"`, Foreign, nil},
		{"an issue", `"scheduledChange"`, `"issue"`, Foreign, nil},
		{"another service", `"service": "EC2"`, `"service": "RDS"`, Foreign, nil},
		{"the wrong day of the week", "Fri, 27 Nov", "Sat, 27 Nov", Maintenance, []string{"i-0ef3c1b2a4d5968f1"}},
		{"no start", `"startTime": "Fri, 27 Nov 2026 15:05:00 GMT",`, "", Maintenance, []string{"i-0ef3c1b2a4d5968f1"}},
	}
	for _, test := range tests {
		got, err := Parse([]byte(strings.Replace(whole, test.old, test.with, 1)))
		if err != nil || got.Kind != test.kind || !slices.Equal(got.Instances, test.instances) {
			t.Errorf("%s: %s of %q, %v; want %s of %q", test.name, got.Kind, got.Instances, err, test.kind, test.instances)
		}
	}
	var malformed *Malformed
	if _, err := Parse([]byte(strings.Replace(whole, "Fri, 27 Nov 2026 15:05:00 GMT", "2026-11-27T15:05:00Z", 1))); !errors.As(err, &malformed) {
		t.Errorf("a time of another form gives %v, want that it is malformed", err)
	}
}
