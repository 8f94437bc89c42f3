package bill

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRelays: where there are relays the bill has lines for them, after all the others and
// beside them; where there are none it has none.
func TestRelays(t *testing.T) {
	template := Template{Memory: map[string]float64{"f": 512, waits: 256}}
	u := Usage{Nodes: 10, Subnets: 2, Hours: 73, Invocations: map[string]int{"f": 100}, LogBytes: 65_000}
	size := Size{Clusters: 2, Subnets: 4, Nodes: 20}
	without, err := Of(template, u, size)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(without, func(l Line) bool { return strings.Contains(l.What, "relay") }) {
		t.Errorf("without relays: %+v", without)
	}
	size.Relays = Relays{Count: 2, Memory: 256}
	with, err := Of(template, u, size)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(without, with[:len(without)]); diff != "" {
		t.Errorf("relays change the other lines (-without +with):\n%s", diff)
	}
	got := map[string]float64{}
	for _, l := range with[len(without):] {
		got[l.What] = math.Round(l.Count)
	}
	// Two relays, eight lists, twelve times in each of 730 hours; 0.54 s of both 256 MB; 650
	// bytes of the function's and 350 of Lambda's.
	const asked = 2 * 8 * 12 * 730
	if diff := cmp.Diff(map[string]float64{"relays: invocations": asked, "relays: GB-seconds": math.Round(asked * 0.54 / 2), "relays: log bytes": asked * 1000}, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	for want, x := range map[string]struct {
		template Template
		relays   Relays
	}{
		"no function rollcall-sweep":                      {Template{Memory: map[string]float64{"f": 512}}, size.Relays},
		"100 invocations with 0 MB do not tell of relays": {template, Relays{Count: 1}},
	} {
		size.Relays = x.relays
		if _, err := Of(x.template, u, size); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
