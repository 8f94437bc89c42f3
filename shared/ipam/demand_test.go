package ipam

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

func TestAtStart(t *testing.T) {
	tests := []struct {
		name  string
		of    snapshot.InstanceType
		want  Demand
		total int
	}{
		{"m5.4xlarge: the 60 of the Spot story", snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30}, Demand{Own: 1, First: 30, Warm: 30}, 60},
		{"t3.nano", snapshot.InstanceType{Name: "t3.nano", Interfaces: 2, IPv4PerInterface: 2}, Demand{Own: 1, First: 2, Warm: 2}, 4},
		{"one interface only", snapshot.InstanceType{Interfaces: 1, IPv4PerInterface: 10}, Demand{Own: 1, First: 10}, 10},
		{"a type that nothing is known of", snapshot.InstanceType{}, Demand{Own: 1, First: 1}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := AtStart(tt.of)
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("AtStart (-got +want):\n%s", diff)
			}
			if got.Total() != tt.total {
				t.Errorf("Total() = %d, want %d", got.Total(), tt.total)
			}
		})
	}
}
