package gather

import (
	"context"
	"slices"
	"sync"
	"testing"

	"rollcall/local/platform/wire"
	"rollcall/shared/snapshot"
)

const full = "subnet-0b20000000000000a"

// scarce is the leaky world with a subnet that has nothing left.
const scarce = leaky + `
  Subnets:
    - {SubnetId: ` + full + `, AvailableIpAddressCount: 0}
`

// between does something before the first call of an action, and refuses another
// from then on.
type between struct {
	once   sync.Once
	action string
	do     func()
	mu     sync.Mutex
	begun  bool
	refuse string
}

func (b *between) Before(_ context.Context, c *wire.Call) error {
	b.mu.Lock()
	refused := b.begun && c.Operation == b.refuse
	b.mu.Unlock()
	if refused {
		return wire.Throttled
	}
	if c.Operation == b.action {
		b.once.Do(func() {
			b.do()
			b.mu.Lock()
			b.begun = true
			b.mu.Unlock()
		})
	}
	return nil
}

// Addresses that are given back while a look is going on are free in it: a subnet
// that was read before and interfaces that were read after would make one that is
// full, and that nobody holds.
func TestFreedWhileLooking(t *testing.T) {
	for name, sources := range map[string][]snapshot.Source{
		"counted":    {snapshot.Usage, snapshot.Unattached},
		"unattached": {snapshot.Subnets, snapshot.Unattached},
	} {
		t.Run(name, func(t *testing.T) {
			f := &between{action: "DescribeNetworkInterfaces"}
			p := start(t, load(t, scarce), f, "")
			f.do = func() {
				if _, err := p.world.Call("ec2:DeleteNetworkInterface", []byte(`{"NetworkInterfaceId":"eni-0dead"}`)); err != nil {
					t.Error(err)
				}
			}
			s, err := p.Read(t.Context(), addressQuery(p, sources...))
			if err != nil || len(s.Failures) > 0 {
				t.Fatal(err, s.Failures)
			}
			if slices.ContainsFunc(s.Idle, func(i snapshot.Interface) bool { return i.ID == "eni-0dead" }) {
				t.Fatal("the interface was read before it was deleted")
			}
			if got := freeOf(s, full); got != 2 {
				t.Errorf("%d addresses free in %s, want the 2 of the interface that went", got, full)
			}
			if got := countOf(p, "DescribeSubnets"); got != 2 {
				t.Errorf("subnets were described %d times, want 2", got)
			}
		})
	}
}

// Where nothing is short the subnets are described once.
func TestPlentyIsReadOnce(t *testing.T) {
	p := open(t, leaky)
	if _, err := p.Read(t.Context(), addressQuery(p, snapshot.Usage, snapshot.Unattached)); err != nil {
		t.Fatal(err)
	}
	if got := countOf(p, "DescribeSubnets"); got != 1 {
		t.Errorf("subnets were described %d times, want 1", got)
	}
}

// Without the second reading nobody knows whether what is held and what is free are
// of one moment.
func TestFreeNotReadAgain(t *testing.T) {
	p := start(t, load(t, scarce), &between{action: "DescribeNetworkInterfaces", do: func() {}, refuse: "DescribeSubnets"}, "")
	s, err := p.Read(t.Context(), addressQuery(p, snapshot.Usage))
	if err != nil {
		t.Fatal(err)
	}
	if f := s.Failures[snapshot.Usage]; f.Reason != snapshot.Throttled || f.Call != "ec2:DescribeSubnets" {
		t.Errorf("usage: %+v, want ec2:DescribeSubnets throttled", f)
	}
}

func freeOf(s *snapshot.Snapshot, subnet string) int {
	i := slices.IndexFunc(s.Subnets, func(x snapshot.Subnet) bool { return x.ID == subnet })
	if i < 0 {
		return -1
	}
	return s.Subnets[i].Free
}
