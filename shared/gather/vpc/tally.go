package vpc

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/network/address"
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
	// trunking are the interfaces of the VPC resource controller: trunks and branches.
	trunking []snapshot.Interface
	// kept are the reservations that were counted in.
	kept []snapshot.Reservation
}

// Counts are the VPCs whose interfaces were counted in one sweep.
type Counts struct {
	lock oneAtATime
	of   map[string]count
}

// oneAtATime is a lock. Unlike a mutex's its wait ends with the context: who
// has it makes calls.
type oneAtATime struct {
	once sync.Once
	free chan struct{}
}

func (o *oneAtATime) take(ctx context.Context) error {
	o.once.Do(func() { o.free = make(chan struct{}, 1) })
	select {
	case o.free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (o *oneAtATime) give() { <-o.free }

// tally counts the interfaces of a VPC for one look. The sources that use it
// are read one after the other.
type tally struct {
	api   Interfaces
	sweep *Counts // nil where each look counts for itself
	tried bool
	found count
	err   error
}

// NewTally makes the tally of one look.
func NewTally(api Interfaces, sweep *Counts) *tally {
	if sweep == nil {
		sweep = &Counts{}
	}
	return &tally{api: api, sweep: sweep}
}

// count describes the cluster's VPC, unless this sweep has done so.
func (t *tally) count(ctx context.Context, v *source.View) (count, error) {
	t.tried = true
	t.found, t.err = t.sweep.count(ctx, t.api, v)
	return t.found, t.err
}

// got is what this look counted, if it tried: what failed one source is not
// tried again for another.
func (t *tally) got() (c count, err error, tried bool) { return t.found, t.err, t.tried }

// attached are the makers of idle interfaces that have an interface attached,
// where all of the VPC were counted.
func (t *tally) attached(v *source.View) map[string]bool {
	if !v.Snapshot.Has(snapshot.Usage) {
		return nil
	}
	return t.found.attached
}

// count describes a VPC once for all looks of a sweep: of two that ask at the
// same time the second waits for the first.
func (known *Counts) count(ctx context.Context, api Interfaces, v *source.View) (count, error) {
	if err := known.lock.take(ctx); err != nil {
		return count{}, err
	}
	defer known.lock.give()
	vpc := v.VPCs[0]
	// Another cluster may launch into subnets whose reservations the first one
	// did not ask for: what holds none there needs no second description.
	if c, done := known.of[vpc]; done && !slices.ContainsFunc(v.Snapshot.Reservations, func(r snapshot.Reservation) bool { return !slices.Contains(c.kept, r) }) {
		return c, nil
	}
	t := address.NewTally(v.Snapshot.Subnets, v.Snapshot.Reservations)
	c := count{kept: slices.Clone(v.Snapshot.Reservations)}
	holders, tenants := map[string]bool{}, map[string]bool{}
	err := eachInterface(ctx, api, ec2api.In("vpc-id", vpc), func(i snapshot.Interface) {
		t.Add(i)
		if i.Status == available {
			c.idle = append(c.idle, i)
		}
		if i.Tags[interfaceOwnerTag] == resourceOwner {
			c.trunking = append(c.trunking, i)
		}
		if holds(v, i) {
			holders[i.Instance] = true
		}
		for _, name := range tenantsOf(i) {
			tenants[name] = true
		}
	})
	if err != nil {
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
	c.idle = source.Unique(c.idle, func(i snapshot.Interface) string { return i.ID })
	if known.of == nil {
		known.of = map[string]count{}
	}
	known.of[vpc] = c
	return c, nil
}

// eachInterface describes interfaces page by page, and holds one page at a time.
func eachInterface(ctx context.Context, api Interfaces, filters []types.Filter, do func(snapshot.Interface)) error {
	input := &ec2.DescribeNetworkInterfacesInput{Filters: filters, MaxResults: aws.Int32(interfacePage)}
	for {
		out, err := api.DescribeNetworkInterfaces(ctx, input)
		if err != nil {
			return fmt.Errorf("describe network interfaces: %w", err)
		}
		for _, n := range out.NetworkInterfaces {
			do(networkInterface(n))
		}
		more, err := ec2api.TurnPage(&input.NextToken, out.NextToken)
		if err != nil {
			return fmt.Errorf("describe network interfaces: %w", err)
		}
		if !more {
			return nil
		}
	}
}
