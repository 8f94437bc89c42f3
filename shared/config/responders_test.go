package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResponders(t *testing.T) {
	var many []string
	for n := range mostResponders + 1 {
		many = append(many, fmt.Sprintf("U%07d", n))
	}
	for text, want := range map[string]Responders{
		"workspace":                 {},
		"channel":                   {Channel: true},
		"U0ONCALL01, S0LEADS001":    {IDs: []string{"S0LEADS001", "U0ONCALL01"}},
		strings.Join(many[1:], ","): {IDs: many[1:]},
	} {
		got, err := parseResponders(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", text, diff, err)
		}
	}
	for text, says := range map[string]string{
		"none": "slackActions=off", "everybody": `neither "workspace" nor "channel"`, "": "neither", "U0ONCALL01,": "neither", "T0ACME0001": "neither",
		strings.Join(many, ","): "51 ids, at most 50",
	} {
		if got, err := parseResponders(text); err == nil || !strings.Contains(err.Error(), says) || got.Channel || got.IDs != nil {
			t.Errorf("%q is %+v, %v; want an error with %q", text, got, err, says)
		}
	}
}
