package chart

import (
	"testing"
	"time"

	"rollcall/shared/node/spot"
	"rollcall/shared/snapshot"
)

func TestWindow(t *testing.T) {
	day := spot.Report{From: to.Add(-24 * time.Hour), To: to}
	const subnet = "subnet-0ab1c2d3e4f5a6b7c"
	of := func(bursts ...spot.Burst) []subnetLine {
		r := day
		r.Bursts = bursts
		return subnetLines(r, samplesOf(subnet, 251, bursts...))
	}
	evening := []spot.Burst{burst(21.5, 720, 251), burst(22.1, 720, 251)}
	fitted := burst(23.5, 144, 251)
	early, late := burst(1, 720, 251), burst(23, 720, 251)
	tests := []struct {
		name   string
		report spot.Report
		bursts []spot.Burst
		lines  []subnetLine
		want   string
	}{
		{"bursts, and the subnet's recovery", day, evening, of(evening...), "21 Nov, 05:22 to 07:07 UTC"},
		{"what fitted soon after is shown too", day, append(evening, fitted), of(evening...), "21 Nov, 05:19 to 07:44 UTC"},
		{"what fitted long before is not", day, append(evening, burst(3, 144, 251)), of(evening...), "21 Nov, 05:22 to 07:07 UTC"},
		{"all day", day, []spot.Burst{early, late}, of(early, late), "20 Nov 08:00 to 21 Nov 08:00 UTC"},
		{"only what fitted, an hour at least", day, []spot.Burst{fitted}, nil, "21 Nov, 07:00 to 08:00 UTC"},
		{"no burst: where somebody looked", day, nil, []subnetLine{{subnet, []snapshot.Sample{{At: to.Add(-5 * time.Hour)}, {At: to.Add(-2 * time.Hour)}}}}, "21 Nov, 02:45 to 06:15 UTC"},
		{"nothing", day, nil, nil, "20 Nov 08:00 to 21 Nov 08:00 UTC"},
		{"outside", day, []spot.Burst{{Began: to.Add(time.Hour)}}, nil, "20 Nov 08:00 to 21 Nov 08:00 UTC"},
		{"half an hour", spot.Report{From: to.Add(-30 * time.Minute), To: to}, evening, of(evening...), "21 Nov, 07:30 to 08:00 UTC"},
	}
	for _, tt := range tests {
		if got := during(window(tt.report, tt.bursts, tt.lines)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
