package spot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArithmetic(t *testing.T) {
	burst := func(demand int, terms ...Term) Burst {
		b := Burst{Subnet: "subnet-0a", Demand: demand, Had: 1251, HadKnown: true, Terms: terms}
		for _, term := range terms {
			b.Launches += term.Count
		}
		return b
	}
	large := func(name string, n int) Term {
		return Term{Type: name, Count: n, Interfaces: 2, Addresses: 30, Each: 60}
	}
	tests := []struct {
		burst Burst
		short string
		types []string
	}{
		{burst(720, large("m5.4xlarge", 3), large("r5.4xlarge", 8), large("c5.4xlarge", 1)),
			"12 nodes × 2 interfaces × 30 addresses = 720; subnet-0a had 1,251",
			[]string{"3 m5.4xlarge × 2 interfaces × 30", "8 r5.4xlarge × 2 interfaces × 30", "1 c5.4xlarge × 2 interfaces × 30"}},
		{burst(94, large("m5.4xlarge", 1), Term{Type: "c5.large", Count: 2, Interfaces: 1, Addresses: 17, Each: 17}),
			"1 node × 2 interfaces × 30 addresses + 2 nodes × 17 addresses = 94; subnet-0a had 1,251",
			[]string{"1 m5.4xlarge × 2 interfaces × 30", "2 c5.large × 17"}},
		{burst(3, Term{Count: 3, Interfaces: 1, Addresses: 1, Each: 1}),
			"3 nodes × 1 address = 3; subnet-0a had 1,251",
			[]string{"3 of a type that is not known × 1"}},
		{burst(4000, Term{Type: "a", Count: 1, Interfaces: 2, Addresses: 10}, Term{Type: "b", Count: 1, Interfaces: 2, Addresses: 15}, Term{Type: "c", Count: 1, Interfaces: 2, Addresses: 30}, Term{Type: "d", Count: 1, Interfaces: 2, Addresses: 50}),
			"4 nodes of 4 sizes = 4,000; subnet-0a had 1,251",
			[]string{"1 a × 2 interfaces × 10", "1 b × 2 interfaces × 15", "1 c × 2 interfaces × 30", "1 d × 2 interfaces × 50"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.burst.Short(), tt.short); diff != "" {
			t.Errorf("short (-got +want):\n%s", diff)
		}
		if diff := cmp.Diff(tt.burst.ByType(), tt.types); diff != "" {
			t.Errorf("by type (-got +want):\n%s", diff)
		}
	}
}
