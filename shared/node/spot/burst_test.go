package spot

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/snapshot"
)

func noon() time.Time { return time.Date(2026, 11, 20, 14, 2, 0, 0, time.UTC) }

// starts are launches of a type in subnet-0a, some seconds apart.
func starts(n int, kind string, end snapshot.End, change ...func(*snapshot.Past)) []snapshot.Past {
	var list []snapshot.Past
	for i := range n {
		p := snapshot.Past{
			ID: fmt.Sprintf("i-%s%d", kind, i), Nodegroup: "workers-a", Type: kind, Zone: "us-west-2a", Subnet: "subnet-0a", Spot: true,
			Started: noon().Add(time.Duration(i) * time.Second), End: end,
		}
		for _, f := range change {
			f(&p)
		}
		list = append(list, p)
	}
	return list
}

func subnets() []snapshot.Subnet {
	return []snapshot.Subnet{{ID: "subnet-0a", Zone: "us-west-2a", CIDR: netip.MustParsePrefix("10.0.1.0/24")}}
}

func types() []snapshot.InstanceType {
	return []snapshot.InstanceType{
		{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro"},
		{Name: "c5.large", Interfaces: 3, IPv4PerInterface: 10, Hypervisor: "nitro"},
	}
}

func TestBursts(t *testing.T) {
	at := func(ago time.Duration, free int) snapshot.Sample {
		return snapshot.Sample{Subnet: "subnet-0a", At: noon().Add(-ago), Free: free, Total: 251}
	}
	eight := starts(8, "m5.4xlarge", snapshot.NotJoined)
	seen := starts(8, "m5.4xlarge", snapshot.NotJoined, func(p *snapshot.Past) { p.Free, p.FreeAt = 240, p.Started.Add(20*time.Second) })
	late := starts(8, "m5.4xlarge", snapshot.NotJoined, func(p *snapshot.Past) { p.Free, p.FreeAt = 3, p.Started.Add(4*time.Minute) })
	earlier := starts(1, "c5.large", snapshot.Joined, func(p *snapshot.Past) { p.Started = noon().Add(-10 * time.Minute) })
	refused := starts(2, "", snapshot.Refused, func(p *snapshot.Past) {
		p.Cause, p.Started = "launch/subnet-full", noon().Add(time.Minute)
	})
	story := Burst{
		Subnet: "subnet-0a", Zone: "us-west-2a", Began: noon(), Last: noon().Add(7 * time.Second), Launches: 8, Nodegroups: []string{"workers-a"},
		Terms: []Term{{Type: "m5.4xlarge", Count: 8, Interfaces: 2, Addresses: 30, Each: 60}}, Demand: 480, Had: 251, HadKnown: true, Total: 251, Failed: 8,
	}
	with := func(change func(*Burst)) []Burst {
		b := story
		change(&b)
		return []Burst{b}
	}
	lone := Burst{
		Subnet: "subnet-0a", Zone: "us-west-2a", Began: noon().Add(-10 * time.Minute), Last: noon().Add(-10 * time.Minute), Launches: 1, Nodegroups: []string{"workers-a"},
		Terms: []Term{{Type: "c5.large", Count: 1, Interfaces: 2, Addresses: 10, Each: 20}}, Demand: 20, Had: 251, HadKnown: true, Total: 251,
	}
	tests := []struct {
		name string
		in   Input
		want []Burst
	}{
		{"the Spot story: 480 of 251", Input{History: eight, Samples: []snapshot.Sample{at(4*time.Minute, 251), at(9*time.Minute, 90), at(-time.Minute, 0)}}, with(func(*Burst) {})},
		{"a sample of the same second", Input{History: eight, Samples: []snapshot.Sample{at(0, 200)}}, with(func(b *Burst) { b.Had = 200 })},
		{"an old sample tells nothing", Input{History: eight, Samples: []snapshot.Sample{at(2*time.Hour, 251)}}, with(func(b *Burst) { b.Had, b.HadKnown = 0, false })},
		{"nor does one from before an earlier launch", Input{History: append(earlier, eight...), Samples: []snapshot.Sample{at(11*time.Minute, 251)}},
			append([]Burst{lone}, with(func(b *Burst) { b.Had, b.HadKnown = 0, false })...)},
		{"what the first launch found, and the eight had taken", Input{History: seen}, with(func(b *Burst) { b.Had = 248 })},
		{"a sample from before addresses came back", Input{History: seen, Samples: []snapshot.Sample{at(9*time.Minute, 71)}}, with(func(b *Burst) { b.Had = 248 })},
		{"looked at too late", Input{History: late}, with(func(b *Burst) { b.Had, b.HadKnown = 0, false })},
		{"settings of aws-node", Input{History: eight, Samples: []snapshot.Sample{at(0, 251)}, CNI: &snapshot.CNI{Env: map[string]string{"WARM_IP_TARGET": "5"}}},
			with(func(b *Burst) {
				b.Demand, b.Terms = 48, []Term{{Type: "m5.4xlarge", Count: 8, Interfaces: 1, Addresses: 6, Each: 6}}
			})},
		{"custom networking takes one each", Input{History: eight, Samples: []snapshot.Sample{at(0, 251)}, CNI: &snapshot.CNI{Env: map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}}},
			with(func(b *Burst) {
				b.Demand, b.Terms = 8, []Term{{Type: "m5.4xlarge", Count: 8, Interfaces: 1, Addresses: 1, Each: 1}}
			})},
		{"refused for want of addresses", Input{History: append(eight, refused...), Samples: []snapshot.Sample{at(0, 251)}},
			with(func(b *Burst) {
				b.Last, b.Launches, b.Demand, b.Failed = noon().Add(time.Minute), 10, 482, 10
				b.Terms = append(b.Terms, Term{Count: 2, Interfaces: 1, Addresses: 1, Each: 1})
			})},
		{"refused for another reason: no burst", Input{History: starts(2, "c5.large", snapshot.Refused, func(p *snapshot.Past) { p.Cause = "launch/kms-key" })}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.Subnets, tt.in.Types = subnets(), types()
			got, _ := Bursts(tt.in)
			if diff := cmp.Diff(got, tt.want, cmpopts.IgnoreFields(Burst{}, "IDs")); diff != "" {
				t.Errorf("Bursts (-got +want):\n%s", diff)
			}
		})
	}
}

func TestAssumed(t *testing.T) {
	_, got := Bursts(Input{History: starts(1, "x9.huge", snapshot.Joined)})
	want := []string{
		"The settings of aws-node were not read: a node is taken to fill its first interface and to keep a second one in reserve, as it does by default.",
		"What x9.huge carries was not read: each is counted with its own address alone.",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("assumed (-got +want):\n%s", diff)
	}
}

func TestLongBurstsAreCut(t *testing.T) {
	var list []snapshot.Past
	for i := range 20 {
		list = append(list, snapshot.Past{ID: fmt.Sprint(i), Subnet: "subnet-0a", Type: "c5.large", Started: noon().Add(time.Duration(i) * 4 * time.Minute)})
	}
	got, _ := Bursts(Input{History: list, Types: types()})
	var sizes []int
	for _, b := range got {
		sizes = append(sizes, b.Launches)
	}
	if diff := cmp.Diff(sizes, []int{8, 8, 4}); diff != "" {
		t.Errorf("bursts of a steady stream (-got +want):\n%s", diff)
	}
}
