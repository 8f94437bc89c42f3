package leak

import (
	"net/netip"
	"time"

	"rollcall/shared/snapshot"
)

// Result is what came of a delete.
type Result string

// The results.
const (
	Deleting Result = "deleting" // written ahead: not known yet
	Deleted  Result = "deleted"
	// WouldDelete is EC2's answer in the mode dry-run.
	WouldDelete Result = "would-delete"
	// LostInUse and LostGone: between the last look and the delete somebody
	// attached the interface, or deleted it. No harm is done.
	LostInUse Result = "in-use"
	LostGone  Result = "gone"
)

// Audit is the record of one delete.
type Audit struct {
	Format    int            `json:"format"`
	Account   string         `json:"account"`
	Region    string         `json:"region"`
	Partition string         `json:"partition"`
	Cluster   string         `json:"cluster"`
	VPC       string         `json:"vpc"`
	Interface string         `json:"interface"`
	Subnet    string         `json:"subnet"`
	Zone      string         `json:"zone,omitempty"`
	Owner     string         `json:"owner"` // the instance that was gone
	Created   time.Time      `json:"created"`
	First     time.Time      `json:"first"` // when a run first saw it left behind
	IPs       []netip.Addr   `json:"ips,omitempty"`
	Prefixes  []netip.Prefix `json:"prefixes,omitempty"`
	IPv6      []netip.Addr   `json:"ipv6,omitempty"`
	Untagged  bool           `json:"untagged,omitempty"` // it named no cluster: the VPC is opted in

	// At is when it was written ahead; with the interface it is the record's
	// name, so that whoever settles it writes the same record.
	At     time.Time `json:"at"`
	Result Result    `json:"result"`
	Run    string    `json:"run"`
	// Request is EC2's request id; empty where its answer was lost.
	Request string `json:"request,omitempty"`
	// Settled tells that a later run found it gone: the one that deleted it
	// ended before it had EC2's answer.
	Settled bool `json:"settled,omitempty"`
}

// AuditFormat is the version of Audit that this code writes and reads.
const AuditFormat = 1

// Draft is the record to write ahead of deleting an interface.
func Draft(v Verdict, s Sighting, run string, at time.Time) Audit {
	i := v.Interface
	return Audit{
		Format: AuditFormat, Account: i.Account, Cluster: v.Cluster, VPC: i.VPC, Interface: i.ID, Subnet: i.Subnet, Zone: i.Zone,
		Owner: v.Owner, Created: v.Created, First: s.First, IPs: i.PrivateIPs, Prefixes: i.Prefixes, IPv6: i.IPv6, Untagged: v.Cluster == "",
		At: at.UTC().Truncate(time.Millisecond), Result: Deleting, Run: run,
	}
}

// perPrefix is how many addresses a delegated prefix holds: a /28.
const perPrefix = 16

// Addresses is how many IPv4 addresses the subnet got back.
func (a Audit) Addresses() int { return len(a.IPs) + perPrefix*len(a.Prefixes) }

// Returned is what records with a result gave back, by subnet.
func Returned(list []Audit, result Result) []snapshot.Returned {
	var out []snapshot.Returned
	place, nodes := map[string]int{}, map[[2]string]bool{}
	for _, a := range list {
		if a.Result != result {
			continue
		}
		i, known := place[a.Subnet]
		if !known {
			i, out = len(out), append(out, snapshot.Returned{Subnet: a.Subnet})
			place[a.Subnet] = i
		}
		r := &out[i]
		r.Interfaces++
		r.Addresses += a.Addresses()
		if node := [2]string{a.Subnet, a.Owner}; !nodes[node] {
			nodes[node] = true
			r.Nodes++
		}
		if a.At.After(r.Last) {
			r.Last = a.At
		}
	}
	return out
}

// DetailType is the detail-type of the event of a delete.
const DetailType = "Rollcall Interface Deleted"

// EventFormat is the version of Event. Fields may be added without a new one.
const EventFormat = 1

// Event is the detail of the event that tells of a delete, on the Rollcall
// bus. events/schema/ documents it.
type Event struct {
	// ID is the same each time this event is sent.
	ID        string         `json:"id"`
	Format    int            `json:"format"`
	At        time.Time      `json:"at"`
	Partition string         `json:"partition"`
	Account   string         `json:"account"`
	Region    string         `json:"region"`
	Cluster   string         `json:"cluster"`
	VPC       string         `json:"vpc"`
	Subnet    string         `json:"subnet"`
	Zone      string         `json:"zone,omitempty"`
	Interface string         `json:"interface"`
	Instance  string         `json:"instance"`
	Created   time.Time      `json:"created"`
	FirstSeen time.Time      `json:"firstSeen"`
	Addresses int            `json:"addresses"`
	IPs       []netip.Addr   `json:"ips,omitempty"`
	Prefixes  []netip.Prefix `json:"prefixes,omitempty"`
	IPv6      []netip.Addr   `json:"ipv6,omitempty"`
	Untagged  bool           `json:"untagged"`
	Run       string         `json:"run"`
	Request   string         `json:"request,omitempty"`
	Settled   bool           `json:"settled"`
}

// Event is what is told of a delete.
func (a Audit) Event() Event {
	return Event{
		// EC2 gives an id once and never again.
		ID: a.Cluster + "/" + a.Interface + "/deleted", Format: EventFormat, At: a.At,
		Partition: a.Partition, Account: a.Account, Region: a.Region, Cluster: a.Cluster,
		VPC: a.VPC, Subnet: a.Subnet, Zone: a.Zone, Interface: a.Interface, Instance: a.Owner, Created: a.Created, FirstSeen: a.First,
		Addresses: a.Addresses(), IPs: a.IPs, Prefixes: a.Prefixes, IPv6: a.IPv6, Untagged: a.Untagged,
		Run: a.Run, Request: a.Request, Settled: a.Settled,
	}
}
