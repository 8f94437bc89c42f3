package event

import (
	"errors"
	"testing"
)

func TestToldEvents(t *testing.T) {
	about := `{"cluster":"prod","check":"route/no-egress","resource":"rtb-0a","nodegroup":"workers"}`
	for _, test := range []struct {
		name, detail string
		want         Kind
		told         string
	}{
		{"Rollcall Incident Opened", about, IncidentTold, "Opened"},
		{"Rollcall Incident Changed", about, IncidentTold, "Changed"},
		{"Rollcall Remedy Approved", about, IncidentTold, "Approved"},
		{"Rollcall Check Wanted", about, CheckWanted, ""},
		{"EKS Nodegroup Status Change", about, StatusChanged, ""},
		{"Rollcall Incident Opened", `{"cluster":"prod"}`, "", ""},
		{"Rollcall Check Wanted", `{"check":"a","resource":"b"}`, "", ""},
		{"Rollcall Remedy Approved", `[]`, "", ""},
	} {
		got, err := Parse([]byte(`{"source":"rollcall","time":"2026-01-02T03:04:05Z","detail-type":"` + test.name + `","detail":` + test.detail + `}`))
		var malformed *Malformed
		if (test.want == "") != errors.As(err, &malformed) || got.Kind != test.want || got.Told != test.told {
			t.Errorf("%s %s: %q %q, %v", test.name, test.detail, got.Kind, got.Told, err)
		}
		if err == nil && got.Cluster != "prod" {
			t.Errorf("%s: cluster %q", test.name, got.Cluster)
		}
	}
}
