package addresses

import (
	"fmt"
	"net/netip"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// kept is a CIDR reservation of a subnet. What EC2 chooses by itself is never
// in one, but for prefixes out of a reservation of type prefix; what a caller
// asks for by address may be (VPC user guide, subnet CIDR reservations). The
// count of free addresses is that of all unused ones, reserved or not: no
// source says that a reservation lowers AvailableIpAddressCount.
type kept struct {
	prefix   netip.Prefix
	explicit bool
}

// Reserve keeps a block of the subnet from now on. Addresses in it that are in
// use stay so, as in EC2.
func (p *Pool) Reserve(r ec2types.SubnetCidrReservation) error {
	block, err := netip.ParsePrefix(aws.ToString(r.Cidr))
	if err != nil {
		return fmt.Errorf("reserved block: %w", err)
	}
	block = block.Masked()
	if !p.Prefix.Overlaps(block) || block.Bits() < p.Prefix.Bits() {
		return fmt.Errorf("reserved block %s is not in %s", block, p.Prefix)
	}
	for _, k := range p.kept {
		if k.prefix.Overlaps(block) {
			return fmt.Errorf("reserved block %s overlaps %s", block, k.prefix)
		}
	}
	p.kept = append(p.kept, kept{prefix: block, explicit: r.ReservationType == ec2types.SubnetCidrReservationTypeExplicit})
	return nil
}

// reserves tells that an address is not given out one by one.
func (p *Pool) reserves(a netip.Addr) bool {
	for _, k := range p.kept {
		if k.prefix.Contains(a) {
			return true
		}
	}
	return false
}

// prefixFrom tells whether a block may be given out as a prefix: out of a
// reservation for prefixes, or out of what no reservation touches.
func (p *Pool) prefixFrom(block netip.Prefix, reserved bool) bool {
	for _, k := range p.kept {
		if k.prefix.Overlaps(block) {
			return reserved && !k.explicit && k.prefix.Bits() <= block.Bits()
		}
	}
	return !reserved
}
