package event

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAskedByHand(t *testing.T) {
	by := func(detail string) string {
		return `{"source":"rollcall","detail-type":"Rollcall Spot Report Wanted","detail":` + detail + `}`
	}
	for body, want := range map[string]Trigger{
		by(`{}`):                           {Hours: 24},
		by(`{"cluster":"prod"}`):           {Cluster: "prod", Hours: 24},
		by(`{"cluster":"x","hours":168}`):  {Cluster: "x", Hours: 168},
		by(`{"cluster":"x","hours":2160}`): {Cluster: "x", Hours: 2160},
	} {
		want.Kind, want.Source, want.Type = Asked, "rollcall", "Rollcall Spot Report Wanted"
		got, err := Parse([]byte(body))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", body, err, diff)
		}
	}
	for _, body := range []string{by(`{"hours":-1}`), by(`{"hours":2161}`), by(`"prod"`), by(`{"hours":"24"}`), `{"source":"rollcall","detail-type":"Rollcall Spot Report Wanted"}`} {
		var malformed *Malformed
		if got, err := Parse([]byte(body)); !errors.As(err, &malformed) {
			t.Errorf("%s: %+v, %v; want it malformed", body, got, err)
		}
	}
}
