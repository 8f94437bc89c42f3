// Package leak decides which network interfaces the VPC CNI left behind on
// nodes that are gone, and which of those may be deleted. It decides only: it
// reads nothing and deletes nothing.
//
// A wrongly deleted interface takes the network from pods that run. So every
// rule must hold, each by itself, and what cannot be told is never deleted.
package leak

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	"rollcall/shared/snapshot"
)

// The tags that the VPC CNI gives the interfaces that it makes
// (amazon-vpc-cni-k8s, pkg/awsutils). The cluster's name is there only where
// aws-node has CLUSTER_NAME.
const (
	TagInstance = "node.k8s.amazonaws.com/instance_id"
	TagCreated  = "node.k8s.amazonaws.com/createdAt"
	TagCluster  = "cluster.k8s.amazonaws.com/name"
)

// firstDate is a day before the VPC CNI existed (its first release is of 2017):
// an earlier date of creation is none, however well it parses.
func firstDate() time.Time { return time.Date(2017, time.January, 1, 0, 0, 0, 0, time.UTC) }

// LeastGrace is the shortest grace period: within it the VPC CNI may not yet
// have attached what it made (its own cleanup waits as long).
const LeastGrace = 5 * time.Minute

// Ground is what interfaces of one VPC are judged by.
type Ground struct {
	Now     time.Time
	Account string
	VPC     string
	// Clusters are the watched clusters of the VPC.
	Clusters []string
	// Grace is how old an interface must be; LeastGrace at least counts.
	Grace time.Duration
	// Untagged lets interfaces without a cluster's name be deleted: the operator
	// says that all of this VPC are those of watched clusters.
	Untagged bool
	// Tenants are the clusters that interfaces of the VPC name. One that is not
	// watched disproves what the operator says.
	Tenants []string
	// Creators are the instances that made the interfaces, and how EC2 says they
	// are. An instance that is not among them was not asked for.
	Creators map[string]snapshot.Creator
}

// Verdict is what the rules say of one interface.
type Verdict struct {
	Interface snapshot.Interface
	// Owner is the instance that it was made on; empty where nothing tells.
	Owner string
	// Cluster is the cluster that it names; empty for none.
	Cluster string
	Created time.Time // zero where no date can be read
	// Why is why it is not to be deleted; Leaked where it may be, as far as these
	// rules go.
	Why Reason
}

// Reason is why an interface is not deleted.
type Reason string

// The reasons, in the order in which the rules are asked.
const (
	// Leaked: none. It is left behind, and may be deleted.
	Leaked Reason = "leaked"

	HalfRead         Reason = "half an answer"    // without an id, nothing else is believed
	InUse            Reason = "in use"            // not available, or attached
	NotPlain         Reason = "not plain"         // another type than "interface"
	RequesterManaged Reason = "requester-managed" // AWS's own
	OtherAccount     Reason = "other account"
	OtherVPC         Reason = "other VPC"
	PublicAddress    Reason = "has a public address"    // a user associated it: the VPC CNI never does
	NotByCNI         Reason = "not made by the VPC CNI" // the description is not its
	TagsDisagree     Reason = "tags disagree"           // the description names another instance than the tag, or no tag does
	OwnerUnread      Reason = "owner not read"          // EC2 was not asked, or did not answer
	OwnerLives       Reason = "owner lives"             // also one that is stopped, or on its way down
	NoDate           Reason = "no date"                 // none that can be read
	TooYoung         Reason = "too young"
	OtherCluster     Reason = "other cluster" // one that is not watched
	Untagged         Reason = "untagged"      // names no cluster, and the operator did not opt in
	// Strangers: it names no cluster, and one that is not watched is in the VPC,
	// whatever the operator opted in.
	Strangers Reason = "untagged, and another cluster is in the VPC"

	NotOptedIn    Reason = "cluster in mode report"
	NotSeenBefore Reason = "not seen before" // by an earlier run, in this state
	Claimed       Reason = "another run is at it"
	AskedToday    Reason = "asked today" // in the mode dry-run EC2 is asked once a day
	OverCap       Reason = "over the cap"
	OverShare     Reason = "too many of the VPC's interfaces"
	Changed       Reason = "changed" // when it was described again
	Gone          Reason = "gone"    // when it was described again
)

// Dead reports whether an interface is left behind by a node that is gone, whether
// or not it may be deleted: an operator has to see to it.
func (v Verdict) Dead() bool {
	return v.Why == Leaked || v.Why == Untagged || v.Why == Strangers || v.Why == OtherCluster
}

// Judge asks the rules of one interface; the first that does not hold is its
// reason. Whether it was seen before, and how many there are, is not asked here.
func Judge(i snapshot.Interface, g Ground) Verdict {
	cluster, named := i.Tags[TagCluster]
	v := Verdict{Interface: i, Cluster: cluster, Why: Leaked}
	described := ownerIn(i.Description)
	v.Owner = described
	if v.Owner == "" {
		v.Owner = i.Tags[TagInstance]
	}
	created, err := time.Parse(time.RFC3339, i.Tags[TagCreated])
	if err == nil && !created.Before(firstDate()) {
		v.Created = created.UTC()
	}
	owner, asked := g.Creators[described]
	switch {
	case i.ID == "":
		v.Why = HalfRead
	case i.Status != "available" || i.Attached || i.Instance != "":
		v.Why = InUse
	case i.Kind != "interface":
		v.Why = NotPlain
	case i.RequesterManaged:
		v.Why = RequesterManaged
	case g.Account == "" || i.Account != g.Account:
		v.Why = OtherAccount
	case g.VPC == "" || i.VPC != g.VPC:
		v.Why = OtherVPC
	case i.PublicIP.IsValid():
		v.Why = PublicAddress
	case described == "":
		v.Why = NotByCNI
	case i.Tags[TagInstance] != described:
		v.Why = TagsDisagree
	case !asked:
		v.Why = OwnerUnread
	case owner.Attached || owner.State != "" && owner.State != "terminated":
		v.Why = OwnerLives
	case err != nil || created.Before(firstDate()):
		v.Why = NoDate
	case g.Now.Sub(created) < max(g.Grace, LeastGrace):
		v.Why = TooYoung
	case named && (cluster == "" || !slices.Contains(g.Clusters, cluster)):
		v.Why = OtherCluster
	case !named && !g.Untagged:
		v.Why = Untagged
	case !named && g.strangers():
		v.Why = Strangers
	}
	return v
}

// strangers reports whether a cluster is in the VPC that is not watched.
func (g Ground) strangers() bool {
	return slices.ContainsFunc(g.Tenants, func(name string) bool { return !slices.Contains(g.Clusters, name) })
}

// Owner is the instance that the VPC CNI made an interface on, as the
// interface's description says; empty where it says none. The description is
// exact, with a capital K8S: those of AWS's own controllers are written small.
func Owner(i snapshot.Interface) string { return ownerIn(i.Description) }

func ownerIn(description string) string {
	id, ok := strings.CutPrefix(description, "aws-K8S-")
	if !ok || !instanceID(id) {
		return ""
	}
	return id
}

// instanceID tells an instance's id: "i-" and 8 or, since 2016, 17 hexadecimal
// digits.
func instanceID(id string) bool {
	digits, ok := strings.CutPrefix(id, "i-")
	if !ok || len(digits) != 8 && len(digits) != 17 {
		return false
	}
	return strings.Trim(digits, "0123456789abcdef") == ""
}

// Result is what came of a delete.
type Result string

// The results.
const (
	Deleting Result = "deleting" // written ahead: not known yet
	Deleted  Result = "deleted"
	// WouldDelete is EC2's answer in the mode dry-run.
	WouldDelete Result = "would-delete"
	// LostInUse and LostGone: between the last look and the delete the
	// interface was attached or deleted. No harm is done.
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
	// Settled reports whether a later run found it gone: the one that deleted it
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

// Event is the detail of the event that reports a delete, on the Rollcall
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

// Event returns the event that reports a delete.
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

// Mode is what an operator lets be done with the interfaces of a cluster.
type Mode string

// The modes. Whatever else is written there is taken for Report.
const (
	Report Mode = "report"
	DryRun Mode = "dry-run"
	Delete Mode = "delete"
)

// acts reports whether EC2 is asked for something.
func (m Mode) acts() bool { return m == DryRun || m == Delete }

// Least is the most careful of modes: Report where there is none.
func Least(modes ...Mode) Mode {
	least := Report
	for i, m := range modes {
		switch {
		case !m.acts():
			return Report
		case i == 0 || m == DryRun:
			least = m
		}
	}
	return least
}

// EC2's request bucket of DeleteNetworkInterface, for an account and region
// (EC2, "Request throttling for the Amazon EC2 API"). Others draw from it too:
// each node's VPC CNI, and EKS.
const (
	Bucket = 100 // requests at once
	Refill = 5.0 // a second
)

const (
	// leastRate keeps the pace trying, however many others there are.
	leastRate = 0.2
	// recovery is what a request that went through adds to the rate, and
	// quicker is by how much more the next one adds, until the next cut: others
	// may be gone as suddenly as they came, and a bucket that is full gains
	// nothing. What is not drawn meanwhile the bucket keeps, up to its size; so
	// once the belief has been wrong the rate may go over Refill, up to most,
	// and draws that too. (Measured in the test: within 5 % of the bucket's
	// time, with no more than 5 in 100 requests throttled.)
	recovery = 0.01
	quicker  = 0.001
	most     = 1.4 * Refill
	// reserve is left in a full bucket: while the first requests are on their
	// way, for up to half a second, it does not gain what it is believed to.
	reserve = 3
	// forgetting is after how long a rate that others forced is tried anew.
	forgetting = time.Minute
)

// Pace is a belief about EC2's bucket: deletes as fast as it refills, and no
// faster. The zero Pace is that of no deletes so far.
type Pace struct {
	// Level is how many requests the bucket had at At.
	Level float64   `json:"level"`
	At    time.Time `json:"at"`
	// Rate is how many a second it is believed to gain, beside what others draw.
	Rate float64 `json:"rate"`
	// Cut is when the rate was last lowered: requests sent before say nothing
	// about the rate since.
	Cut time.Time `json:"cut,omitzero"`
	// out are the requests on their way, went those that went through since.
	out, went int
}

// Begin is the pace of a run, from what the last one left.
func Begin(last Pace, now time.Time) Pace {
	if last.At.After(now) || !(last.Rate > 0) || !(last.Level >= 0) {
		return Pace{Level: Bucket - reserve, At: now, Rate: Refill}
	}
	idle := now.Sub(last.At)
	last.out, last.went = 0, 0
	last.Rate = min(max(last.Rate, leastRate), most)
	last.gain(now)
	if idle >= forgetting {
		last.Rate, last.Cut = Refill, time.Time{}
	}
	return last
}

func (p *Pace) gain(now time.Time) {
	if d := now.Sub(p.At); d > 0 {
		p.Level, p.At = min(p.Level+p.Rate*d.Seconds(), Bucket-reserve), now
	}
}

// Take takes one request from the bucket, or tells how long to wait for it.
func (p *Pace) Take(now time.Time) (wait time.Duration) {
	p.gain(now)
	if p.Level < 1 {
		// Rounded up: a wait that is too short by a nanosecond is another one.
		return time.Duration((1-p.Level)/p.Rate*float64(time.Second)) + time.Microsecond
	}
	p.Level--
	p.out++
	return 0
}

// Give puts a request back that was not sent.
func (p *Pace) Give() { p.Level, p.out = min(p.Level+1, Bucket-reserve), max(p.out-1, 0) }

// Went notes a request that EC2 took.
func (p *Pace) Went() {
	p.out = max(p.out-1, 0)
	if !p.Cut.IsZero() {
		p.went++
		p.Rate = min(p.Rate+recovery+quicker*float64(p.went), most)
	}
}

// Lost notes a request whose outcome is not known.
func (p *Pace) Lost() { p.out = max(p.out-1, 0) }

// Throttled notes a request, sent at a time, that EC2 refused to take: the
// bucket is empty. If we drew on what it was believed to have in store, that
// was wrong, and nothing is said of the rate; else others draw too, and the
// rate is halved, once for all requests that were on their way.
func (p *Pace) Throttled(sent, now time.Time) {
	p.gain(now)
	p.out = max(p.out-1, 0)
	stored := p.Level >= 1
	// What is on its way draws too, half of it after this one.
	p.Level = -float64(p.out) / 2
	if stored || sent.Before(p.Cut) {
		p.Cut = later(p.Cut, now)
		return
	}
	p.Cut, p.Rate, p.went = now, max(p.Rate/2, leastRate), 0
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Ready is how many requests may be sent within a time.
func (p Pace) Ready(now time.Time, within time.Duration) int {
	p.gain(now)
	return int(p.Level + p.Rate*within.Seconds())
}

// Rules are what one run may do in one VPC.
type Rules struct {
	// Began and Ended are when the look at the VPC began and ended.
	Began, Ended time.Time
	// Modes is the mode of a cluster; Untagged that of interfaces that name none.
	Modes    func(cluster string) Mode
	Untagged Mode
	// Cap is how many interfaces may still be acted on in this run.
	Cap int
	// Interfaces is how many the VPC has in all; 0 where they were not counted.
	Interfaces int
	// Share is the largest part of them, in percent, that may look deletable.
	Share int
	// Asked are the interfaces that EC2 was asked about today, in the mode
	// dry-run.
	Asked map[string]bool
	// Only narrows the run to these interfaces, where a person or a policy has
	// approved them; nil is no narrowing. Where it is set, nothing else is acted
	// on, and every rule holds as ever.
	Only map[string]bool
}

// Plan is what a run is to do in a VPC.
type Plan struct {
	// Delete are to be deleted, Ask to be asked for with EC2's DryRun; the
	// oldest first.
	Delete, Ask []Verdict
	// Remember are sightings to be written over the version that they have,
	// Forget those to be dropped: their interfaces are gone, in use again, or
	// not left behind after all.
	Remember, Forget []Sighting
	// Judged are all verdicts, with what came of them here.
	Judged []Verdict
	// Stopped is set where too many of the VPC's interfaces look deletable:
	// then a fault is more likely than so many leaks, and nothing is done.
	Stopped *Stop
}

// Stop is why nothing is done.
type Stop struct{ Candidates, Interfaces, Share int }

// Decide asks the rules that are about all interfaces of a VPC together:
// the verdicts are those of all unattached interfaces in it, the sightings all
// that are remembered of it.
func Decide(verdicts []Verdict, sightings map[string]Sighting, r Rules) Plan {
	p := Plan{Judged: slices.Clone(verdicts)}
	slices.SortFunc(p.Judged, func(a, b Verdict) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Interface.ID, b.Interface.ID))
	})
	p.remember(sightings, r)
	candidates := 0
	for _, v := range p.Judged {
		if v.Why == Leaked && r.mode(v).acts() {
			candidates++
		}
	}
	// Fewer interfaces in all than candidates is no count: it stops the run too.
	if candidates > r.Interfaces || candidates*100 > r.Share*r.Interfaces {
		p.Stopped = &Stop{Candidates: candidates, Interfaces: r.Interfaces, Share: r.Share}
	}
	left := r.Cap
	// What is deleted comes before what is only asked for.
	for _, mode := range []Mode{Delete, DryRun, Report} {
		for i := range p.Judged {
			v := &p.Judged[i]
			if v.Why != Leaked || r.mode(*v) != mode {
				continue
			}
			if why := p.hold(*v, sightings, r, mode); why != Leaked {
				v.Why = why
				continue
			}
			if left--; left < 0 {
				v.Why = OverCap
				continue
			}
			if mode == Delete {
				p.Delete = append(p.Delete, *v)
			} else {
				p.Ask = append(p.Ask, *v)
			}
		}
	}
	return p
}

// mode is the mode of an interface's cluster.
func (r Rules) mode(v Verdict) Mode {
	m := r.Untagged
	if v.Cluster != "" {
		m = r.Modes(v.Cluster)
	}
	if !m.acts() {
		return Report
	}
	return m
}

// hold is why an interface is not acted on in this run; Leaked if it is.
func (p Plan) hold(v Verdict, sightings map[string]Sighting, r Rules, mode Mode) Reason {
	s, seen := sightings[v.Interface.ID]
	switch {
	case !mode.acts(), r.Only != nil && !r.Only[v.Interface.ID]:
		return NotOptedIn
	case p.Stopped != nil:
		return OverShare
	case seen && s.leased(r.Began):
		return Claimed
	case !seen || s.Version == 0 || s.Print == "" || s.Print != Print(v.Interface) || r.Began.Sub(s.First) < Apart:
		return NotSeenBefore
	case mode == DryRun && r.Asked[v.Interface.ID]:
		return AskedToday
	}
	return Leaked
}

// remember tells what of the sightings is new, and what is over. In all modes:
// what an operator switches on later works at once.
func (p *Plan) remember(sightings map[string]Sighting, r Rules) {
	here := map[string]bool{}
	for _, v := range p.Judged {
		id := v.Interface.ID
		s, seen := sightings[id]
		switch {
		case v.Why == OwnerUnread:
			here[id] = true // neither proved nor disproved
		case v.Dead():
			here[id] = true
			// A clock that was ahead saw it in what is still to come: that would
			// hold it back until then.
			fresh := !seen || s.Print != Print(v.Interface) || s.First.After(r.Ended.Add(Apart))
			if print := Print(v.Interface); fresh && !s.leased(r.Began) {
				p.Remember = append(p.Remember, Sighting{Interface: id, First: r.Ended, Print: print, Version: s.Version})
			}
		}
	}
	for id, s := range sightings {
		if !here[id] && !s.leased(r.Began) {
			p.Forget = append(p.Forget, s)
		}
	}
	slices.SortFunc(p.Forget, func(a, b Sighting) int { return cmp.Compare(a.Interface, b.Interface) })
}

// Print is a fingerprint of what the rules went by. Status and attachment are
// not in it: they are asked each time.
func Print(i snapshot.Interface) string {
	// The order in which EC2 lists addresses means nothing.
	ips, prefixes, six, groups := slices.Clone(i.PrivateIPs), slices.Clone(i.Prefixes), slices.Clone(i.IPv6), slices.Clone(i.Groups)
	slices.SortFunc(ips, netip.Addr.Compare)
	slices.SortFunc(six, netip.Addr.Compare)
	slices.SortFunc(prefixes, func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
	})
	slices.Sort(groups)
	// JSON keeps the parts apart, and a map's keys in order.
	text, err := json.Marshal([]any{
		i.ID, i.Account, i.VPC, i.Subnet, i.Kind, i.RequesterManaged, i.Description, i.Tags,
		ips, prefixes, six, i.PublicIP, groups, i.SourceCheck,
	})
	if err != nil {
		return "" // texts and addresses only: cannot happen, and an empty print never fits
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Confirm holds an interface as it was described again, nil if it is not there
// any more, against its verdict: Leaked if it may still be deleted.
func Confirm(again *snapshot.Interface, v Verdict) Reason {
	switch {
	case v.Why != Leaked:
		return v.Why
	case again == nil:
		return Gone
	case again.Status != "available" || again.Attached || again.Instance != "":
		return InUse
	case again.ID != v.Interface.ID || Print(*again) == "" || Print(*again) != Print(v.Interface):
		return Changed
	}
	return Leaked
}

// Sighting is what runs remember of an interface that may be left behind.
type Sighting struct {
	Interface string `json:"interface"`
	// First is when a run first saw it in this state, without a break.
	First time.Time `json:"first"`
	// Print is the state: what the rules went by. An interface whose print is
	// another now has been touched since, and is seen for the first time again.
	Print string `json:"print"`
	// Deleting is written ahead of a delete: what will be its audit record. It
	// stays until the delete is audited and told, so that a run that was ended
	// in the middle leaves nothing unsaid.
	Deleting *Audit `json:"deleting,omitempty"`
	// Version counts the writes; 0 is not written yet.
	Version int `json:"version"`
}

// Apart is how long before this run another one must have seen an interface:
// two runs that overlap must not vouch for each other.
const Apart = 5 * time.Minute

// Lease is how long what was written ahead of a delete keeps other runs from
// the interface. The delete is sent at once after it, once, and is answered or
// given up within seconds (package awsconf); after the lease the run that
// wrote it is at it no more.
const Lease = 5 * time.Minute

// leased reports whether a run may be at the interface right now. What was written
// ahead in what is still to come, a clock wrote that was wrong by more than
// those of two runs differ: it would keep all runs away until then.
func (s Sighting) leased(now time.Time) bool {
	return s.Deleting != nil && now.Sub(s.Deleting.At).Abs() < Lease
}

// Unsettled reports whether a run wrote that it would delete the interface, and
// ended before it knew what came of it.
func (s Sighting) Unsettled(now time.Time) bool { return s.Deleting != nil && !s.leased(now) }
