package ids

import (
	"testing"
)

func TestZoneID(t *testing.T) {
	for zone, want := range map[string]string{
		"us-west-2a": "usw2-az1", "us-west-2c": "usw2-az3", "eu-central-1b": "euc1-az2", "ap-southeast-2a": "apse2-az1", "x": "",
	} {
		if got := ZoneID(zone); got != want {
			t.Errorf("ZoneID(%q): got %q, want %q", zone, got, want)
		}
	}
}
