// Package filter tells, on paper, what security groups and network ACLs do
// with a packet: who admits it, who drops it, for which of the addresses and
// ports in question. What was not read is Unknown, never "no".
package filter

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Protocol is an IP protocol's number (IANA).
type Protocol int

// The protocols that joining needs.
const (
	TCP Protocol = 6
	UDP Protocol = 17
)

func (p Protocol) String() string {
	switch p {
	case TCP:
		return "tcp"
	case UDP:
		return "udp"
	}
	return "protocol " + strconv.Itoa(int(p))
}

// Extent is how much of what was asked about is admitted.
type Extent string

// The extents.
const (
	All     Extent = "all"
	Part    Extent = "part"
	None    Extent = "none"
	Unknown Extent = "unknown"
)

// Ports is a range of ports, both ends included.
type Ports struct{ From, To int }

// Port is a range of one.
func Port(p int) Ports { return Ports{From: p, To: p} }

func (p Ports) String() string {
	if p.From == p.To {
		return strconv.Itoa(p.From)
	}
	return fmt.Sprintf("%d-%d", p.From, p.To)
}

// protocol reads a rule's protocol. All is "-1"; security groups write the
// common ones by name, network ACLs by number. It is false for one that is
// not understood: such a rule may match or not.
func protocol(text string) (number Protocol, all, ok bool) {
	switch strings.ToLower(text) {
	case "-1", "all":
		return 0, true, true
	case "tcp":
		return TCP, false, true
	case "udp":
		return UDP, false, true
	case "icmp":
		return 1, false, true
	case "icmpv6":
		return 58, false, true
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 255 {
		return 0, false, false
	}
	return Protocol(n), false, true
}

// match is whether a rule is about a packet.
type match int

const (
	no match = iota
	maybe
	yes
)

// about tells whether a rule with this protocol is about packets of p.
func about(text string, p Protocol) match {
	switch number, all, ok := protocol(text); {
	case !ok:
		return maybe
	case all || number == p:
		return yes
	}
	return no
}

// anyPort tells that a rule's range stands for all ports: EC2 leaves the
// range out for protocols without ports, and -1 stands for that.
func anyPort(text string, from, to int) bool {
	_, all, _ := protocol(text)
	return all || from == -1 && to == -1
}

// target writes a destination: "0.0.0.0/0", "10.0.0.5", "2 ranges".
func target(list []netip.Prefix) string {
	switch len(list) {
	case 0:
		return "nowhere"
	case 1:
		return short(list[0])
	}
	return fmt.Sprintf("%s and %d more", short(list[0]), len(list)-1)
}

func short(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}
