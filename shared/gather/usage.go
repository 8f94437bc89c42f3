package gather

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/ipam"
	"rollcall/shared/snapshot"
)

// interfacePage is DescribeNetworkInterfaces' largest page.
const interfacePage = 1000

// available is the state of an interface that nothing is attached to.
const available = string(types.NetworkInterfaceStatusAvailable)

// count is what one description of a VPC told.
type count struct {
	uses []snapshot.Use
	idle []snapshot.Interface
	// attached are the makers of idle interfaces that have others attached to
	// them, tenants the clusters that interfaces name.
	attached map[string]bool
	tenants  []string
	// kept are the reservations that were counted in.
	kept []snapshot.Reservation
}

// counts are counts by VPC.
type counts struct {
	mu sync.Mutex
	of map[string]count
}

// Counting is a reader for one sweep: it counts the interfaces of a VPC once,
// however many of the swept clusters are in it. It is thrown away with the
// sweep, for what it knows ages.
func (r *Reader) Counting() *Reader {
	once := *r
	once.counts = &counts{of: map[string]count{}}
	return &once
}

// usage counts every interface of the cluster's VPC.
func (l *look) usage(ctx context.Context) (store, error) {
	for _, source := range []snapshot.Source{snapshot.Subnets, snapshot.CIDRsKept} {
		if !l.s.Has(source) {
			return nil, l.unread(source)
		}
	}
	c, err := l.count(ctx)
	if err != nil {
		return nil, err
	}
	return func(s *snapshot.Snapshot) {
		s.Uses, s.Tenants = slices.Clone(c.uses), slices.Clone(c.tenants)
	}, nil
}

// unattached reads the interfaces that nothing is attached to: out of the pages
// that are counted, or by a filter where nobody counts.
func (l *look) unattached(ctx context.Context) (store, error) {
	if l.counted && l.s.Has(snapshot.Subnets) && l.s.Has(snapshot.CIDRsKept) {
		c, err := l.count(ctx)
		if err != nil {
			return nil, err
		}
		return func(s *snapshot.Snapshot) { s.Idle = slices.Clone(c.idle) }, nil
	}
	var idle []snapshot.Interface
	err := l.r.eachInterface(ctx, append(in("vpc-id", l.vpcs[0]), in("status", available)...), func(i snapshot.Interface) { idle = append(idle, i) })
	if err != nil {
		return nil, err
	}
	idle = unique(idle, func(i snapshot.Interface) string { return i.ID })
	return func(s *snapshot.Snapshot) { s.Idle = idle }, nil
}

// count describes the cluster's VPC, unless this sweep has done so. Of two
// sources that ask at the same time the second waits for the first.
func (l *look) count(ctx context.Context) (count, error) {
	known := &l.counts
	if l.r.counts != nil {
		known = l.r.counts
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if l.uncounted != nil {
		return count{}, l.uncounted
	}
	vpc := l.vpcs[0]
	// Another cluster may launch into subnets whose reservations the first one
	// did not ask for: what holds none there needs no second description.
	if c, done := known.of[vpc]; done && !slices.ContainsFunc(l.s.Reservations, func(r snapshot.Reservation) bool { return !slices.Contains(c.kept, r) }) {
		return c, nil
	}
	t := ipam.NewTally(l.s.Subnets, l.s.Reservations)
	c := count{kept: slices.Clone(l.s.Reservations)}
	holders, tenants := map[string]bool{}, map[string]bool{}
	err := l.r.eachInterface(ctx, in("vpc-id", vpc), func(i snapshot.Interface) {
		t.Add(i)
		if i.Status == available {
			c.idle = append(c.idle, i)
		}
		if l.holds(i) {
			holders[i.Instance] = true
		}
		for _, name := range tenantsOf(i) {
			tenants[name] = true
		}
	})
	if err != nil {
		l.uncounted = err
		return count{}, err
	}
	c.attached = map[string]bool{}
	for _, id := range makers(c.idle) {
		if holders[id] {
			c.attached[id] = true
		}
	}
	c.tenants = slices.Sorted(maps.Keys(tenants))
	c.uses = t.Uses()
	c.idle = unique(c.idle, func(i snapshot.Interface) string { return i.ID })
	if known.of == nil {
		known.of = map[string]count{}
	}
	known.of[vpc] = c
	return c, nil
}

// eachInterface describes interfaces page by page, and holds one page at a time.
func (r *Reader) eachInterface(ctx context.Context, filters []types.Filter, do func(snapshot.Interface)) error {
	input := &ec2.DescribeNetworkInterfacesInput{Filters: filters, MaxResults: aws.Int32(interfacePage)}
	for {
		out, err := r.interfaces.DescribeNetworkInterfaces(ctx, input)
		if err != nil {
			return fmt.Errorf("describe network interfaces: %w", err)
		}
		for _, n := range out.NetworkInterfaces {
			do(networkInterface(n))
		}
		more, err := turnPage(&input.NextToken, out.NextToken)
		if err != nil {
			return fmt.Errorf("describe network interfaces: %w", err)
		}
		if !more {
			return nil
		}
	}
}

// turnPage sets the token of the next page. A page may be empty and not the
// last; one that leads to itself leads nowhere, and what was read is not all.
func turnPage(at **string, next *string) (more bool, err error) {
	if aws.ToString(next) == "" {
		return false, nil
	}
	if aws.ToString(*at) == *next {
		return false, errHalf
	}
	*at = next
	return true, nil
}
