// Command peers applies the rules by which others delete network interfaces,
// and Rollcall's, to one world of 500 interfaces in every state, and counts
// what each deletes wrongly and leaves wrongly.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// seed makes the world of the page.
const seed = 1

func start() time.Time { return time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC) }

const usage = `Applies the rules by which others delete network interfaces, and Rollcall's, to
one world of 500 interfaces, and prints what each deletes and keeps wrongly.

  go run ./tools/bench/peers
  go run ./tools/bench/peers [-page FILE]

Exit status: 0 it was written, 1 it could not be, 2 wrong use.

`

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	file := flag.String("page", "", "file for the result as a page; empty prints it")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	text := page(build(seed, start()), start())
	if *file == "" {
		fmt.Print(text)
		return
	}
	if err := os.WriteFile(*file, []byte(text), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// Score is what a rule does to the world.
type Score struct {
	Rule Rule
	// Deleted counts by class, in the order of classes.
	Deleted []int
	// Wrong are those deleted that ought to be kept, Left those kept that are
	// left behind with proof, Unsure those deleted of which either is right.
	Wrong, Left, Unsure int
	// Refused are those that EC2 did not let it delete.
	Refused int
}

// score plays a rule on the world.
func score(r Rule, world []Item, now time.Time) Score {
	s := Score{Rule: r, Deleted: make([]int, len(classes()))}
	place := map[string]int{}
	for n, c := range classes() {
		place[c.Name] = n
	}
	for _, i := range world {
		deletes := r.Deletes(i, now)
		if deletes && refuses(i.Now, r.Forces) {
			s.Refused++
			deletes = false
		}
		switch {
		case !deletes && i.Class.Truth == Free:
			s.Left++
		case !deletes:
		case i.Class.Truth == Keep:
			s.Wrong++
		case i.Class.Truth == Either:
			s.Unsure++
		}
		if deletes {
			s.Deleted[place[i.Class.Name]]++
		}
	}
	return s
}

// settings are Rollcall's defaults, with prod in mode delete (package config).
const (
	grace = 30 * time.Minute
	limit = 1000 // cleanupCap
	share = 50   // cleanupShare, in percent
)

// rollcall are our two columns: as it is deployed, and where the operator says
// that all of the VPC's clusters are watched. Two runs of eni-cleanup's own
// code decide: the rules of one interface, those of all together, and the look
// just before the delete. The truth of a class is written down beside it.
func rollcall(world []Item, now time.Time) []Rule {
	column := func(name, note string, untagged bool) Rule {
		deleted := twoRuns(world, now, untagged)
		return Rule{Name: name, Source: "shared/network/leak", Note: note, Deletes: func(i Item, _ time.Time) bool { return deleted[i.Now.ID] }}
	}
	return []Rule{
		column("**Rollcall**", "two runs, 15 minutes apart, with the default settings and prod in mode delete", false),
		column("**Rollcall**, untagged too", "as above; cleanupUntagged names the VPC", true),
	}
}

// twoRuns are the interfaces that the second run asks EC2 to delete.
func twoRuns(world []Item, now time.Time, untagged bool) map[string]bool {
	first := run(world, now, untagged, nil)
	sightings := map[string]leak.Sighting{}
	for _, s := range first.Remember {
		s.Version = 1 // as the table numbers what is written first
		sightings[s.Interface] = s
	}
	again := map[string]*snapshot.Interface{}
	for i := range world {
		if !world[i].Gone {
			again[world[i].Later.ID] = &world[i].Later
		}
	}
	deleted := map[string]bool{}
	for _, p := range []leak.Plan{first, run(world, now.Add(between), untagged, sightings)} {
		for _, v := range p.Delete {
			deleted[v.Interface.ID] = leak.Confirm(again[v.Interface.ID], v) == leak.Leaked
		}
	}
	return deleted
}

// run is what one run plans. With sightings it is the second.
func run(world []Item, now time.Time, untagged bool, sightings map[string]leak.Sighting) leak.Plan {
	g := leak.Ground{Now: now, Account: account, VPC: vpc, Clusters: []string{prod}, Grace: grace, Untagged: untagged, Creators: map[string]snapshot.Creator{}}
	var idle []snapshot.Interface
	all := 0
	for _, i := range world {
		at, state := i.Now, i.State
		if sightings != nil {
			at, state = i.Later, i.StateLater
			if i.Gone {
				continue
			}
		}
		all++
		if id := leak.Owner(at); id != "" {
			g.Creators[id] = snapshot.Creator{Instance: id, State: state}
		}
		if at.Status == "available" {
			idle = append(idle, at)
		}
	}
	var verdicts []leak.Verdict
	for _, i := range idle {
		verdicts = append(verdicts, leak.Judge(i, g))
	}
	return leak.Decide(verdicts, sightings, leak.Rules{
		Began: now, Ended: now, Modes: func(string) leak.Mode { return leak.Delete }, Untagged: leak.Delete,
		Cap: limit, Interfaces: all, Share: share,
	})
}

const head = `# Whose interfaces are deleted

Generated by ` + "`go run ./tools/bench/peers -page docs/interfaces.md`" + `. Do not edit.

One world of %d network interfaces of a VPC that two clusters and two accounts share, in every state that we know such interfaces to be in, and the rules by which tools delete them. How many there are of each state is chosen, not measured: the rows tell more than the sums. prod is the cluster that is cleaned up. Each rule is the tool's own, as its source or its document says it; where that leaves something open, it is read in the tool's favour. EC2 refuses what is attached, what a service of AWS holds, and what is another account's: that counts for nobody as deleted.

**Keep** are interfaces that somebody alive uses or is about to use. **Free** are those that prod's VPC CNI left behind, with the proof: its description, its tags, its date, and a node that EC2 says is gone. **Either** are those that nobody will miss but of which the proof lacks a part, or that their own node deletes in a moment: deleting them counts for nobody as wrong, and nor does keeping them. Those of a node that shuts down, and those left behind a few minutes ago, Rollcall deletes in a later run. Of the others it reports those whose description and tag name a node that is gone, for a person to judge; a node's first interface it leaves alone.

Two rows can be argued about. A node that is stopped can be started again, so its interfaces are not free; whoever holds them for free takes that row off what is wrongly deleted, and adds it to what Rollcall wrongly keeps. And a date that cannot be read is rare: something else than the VPC CNI must have written it.

What Rollcall does is decided by two runs of the code that eni-cleanup runs. What ought to become of an interface is not: it is written down for each state, in the second column.

`

// page is docs/interfaces.md.
func page(world []Item, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, head, len(world))
	all := slices.Concat(rules(), rollcall(world, now))
	keeping := slices.DeleteFunc(slices.Clone(all), func(r Rule) bool { return r.Empties })
	table(&b, scores(keeping, world, now))
	b.WriteString("\n## Made to end a cluster, or to empty an account\n\neksctl deletes interfaces when it deletes their cluster, and the others are made to empty an account: what they delete of one that is in use is no fault of theirs. They are here because they are used for it.\n\n")
	table(&b, scores(slices.DeleteFunc(slices.Clone(all), func(r Rule) bool { return !r.Empties }), world, now))
	b.WriteString("\n## How each rule was read\n\n")
	for _, r := range all {
		fmt.Fprintf(&b, "- %s (%s): %s.\n", strings.ReplaceAll(r.Name, "*", ""), r.Source, r.Note)
	}
	return b.String()
}

func scores(rules []Rule, world []Item, now time.Time) []Score {
	var list []Score
	for _, r := range rules {
		list = append(list, score(r, world, now))
	}
	return list
}

func table(b *strings.Builder, list []Score) {
	row := func(first string, cell func(Score) int) {
		b.WriteString("| " + first + " |")
		for _, s := range list {
			fmt.Fprintf(b, " %d |", cell(s))
		}
		b.WriteString("\n")
	}
	b.WriteString("| deleted, of so many | |")
	for _, s := range list {
		fmt.Fprintf(b, " %s |", s.Rule.Name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(list)) + "\n")
	for n, c := range classes() {
		row(fmt.Sprintf("%s (%d) | %s", c.Name, c.Count, c.Truth), func(s Score) int { return s.Deleted[n] })
	}
	row("**wrongly deleted** |", func(s Score) int { return s.Wrong })
	row("**wrongly kept** |", func(s Score) int { return s.Left })
	row("of either kind, deleted |", func(s Score) int { return s.Unsure })
	row("asked for, and refused by EC2 |", func(s Score) int { return s.Refused })
}

// Rule is how a peer decides. Where a source leaves something open, the reading
// is taken that deletes less of what lives and more of what is left behind.
type Rule struct {
	Name string
	// Source says where the rule is written, Note how it was read.
	Source, Note string
	// Deletes tells whether the peer asks EC2 to delete the interface.
	Deletes func(Item, time.Time) bool
	// Forces: it also detaches what is attached, or ends the instance.
	Forces bool
	// Empties: it is made to empty an account, or to end a cluster, and not to
	// keep one clean that is in use.
	Empties bool
}

// rules are the peers.
func rules() []Rule {
	return []Rule{
		{Name: "VPC CNI, with CLUSTER_NAME", Source: "amazon-vpc-cni-k8s, getLeakedENIs",
			Note:    "every hour on every node; the cluster must have a node, and IPv4",
			Deletes: func(i Item, now time.Time) bool { return cni(i.Now, now, prod) }},
		{Name: "VPC CNI, without", Source: "amazon-vpc-cni-k8s, getLeakedENIs",
			Note:    "as above; without CLUSTER_NAME it goes over all clusters of the VPC",
			Deletes: func(i Item, now time.Time) bool { return cni(i.Now, now, "") }},
		{Name: "VPC resource controller", Source: "amazon-vpc-resource-controller-k8s, ENI cleaner",
			Note:    "the sweep of every half hour, with both sightings; not the cleanup at a node's end, which waits for nothing",
			Deletes: func(i Item, _ time.Time) bool { return !i.Gone && controller(i.Now) && controller(i.Later) }},
		{Name: "Cilium operator", Source: "cilium, ENI garbage collection",
			Note:    "goes by Cilium's own tags, which the VPC CNI does not set",
			Deletes: func(i Item, _ time.Time) bool { return !i.Gone && cilium(i.Now) && cilium(i.Later) }},
		{Name: "eksctl", Source: "eksctl, findDanglingENIs", Empties: true,
			Note:    "it runs when its cluster is deleted, and looks at no age; here the nodes are all in groups that eksctl made",
			Deletes: func(i Item, _ time.Time) bool { return eksctl(i) }},
		{Name: "Config remediation", Source: "AWSConfigRemediation-DeleteUnusedENI",
			Note:    "Config hands it what is not in use; it asks for no owner, age or tag",
			Deletes: func(i Item, _ time.Time) bool { return i.Now.Status == "available" }},
		{Name: "the story's script", Source: "the cron job of the ips story",
			Note:    "every 15 minutes; status available and a description like aws-K8S-*",
			Deletes: func(i Item, _ time.Time) bool { return script(i.Now) }},
		{Name: "cloud-nuke", Source: "cloud-nuke, network interfaces", Forces: true, Empties: true,
			Note:    "with --older-than 1h, and first seen when they were made; it ends the instances that hold them",
			Deletes: func(i Item, now time.Time) bool { return i.Now.Kind == "interface" && now.Sub(i.Made) > time.Hour }},
		{Name: "aws-nuke", Source: "aws-nuke, EC2NetworkInterface", Forces: true, Empties: true,
			Note:    "without a filter in its configuration; it detaches first",
			Deletes: func(Item, time.Time) bool { return true }},
	}
}

// cni is the rule of ipamd. A date that cannot be read makes it write a new one
// and go on with the zero time, which is older than any grace; a date that is
// missing makes it write one and leave the interface for the next time.
func cni(i snapshot.Interface, now time.Time, cluster string) bool {
	_, owned := i.Tags[leak.TagInstance]
	if i.Status != "available" || i.VPC != vpc || !owned || !strings.HasPrefix(i.Description, "aws-K8S-") {
		return false
	}
	if cluster != "" && i.Tags[leak.TagCluster] != cluster {
		return false
	}
	text, dated := i.Tags[leak.TagCreated]
	if !dated {
		return false
	}
	created, err := time.Parse(time.RFC3339, text)
	return err != nil || now.Sub(created) > 5*time.Minute
}

// controller is one sighting of the VPC resource controller.
func controller(i snapshot.Interface) bool {
	owners := []string{"eks-vpc-resource-controller", "amazon-vpc-cni"}
	ours := i.Tags[leak.TagCluster] == prod || i.Tags[tagOwned+prod] == "owned"
	return i.Status == "available" && i.VPC == vpc && slices.Contains(owners, i.Tags[tagOwner]) && ours
}

func cilium(i snapshot.Interface) bool {
	return i.Status == "available" && i.Tags["io.cilium/cilium-managed"] == "true" && i.Tags["io.cilium/cluster-name"] == prod
}

func eksctl(i Item) bool {
	form := regexp.MustCompile(`^eksctl-` + prod + `-(cluster|nodegroup)-.+$`)
	return i.Now.Status == "available" && i.Now.VPC == vpc && form.MatchString(i.Group)
}

// script is the rule of the ips story's cron job.
func script(i snapshot.Interface) bool {
	return i.Status == "available" && strings.HasPrefix(i.Description, "aws-K8S-")
}

// refuses tells whether EC2 refuses to delete an interface: one that is in use,
// one that a service of AWS holds, and another account's.
func refuses(i snapshot.Interface, forced bool) bool {
	return i.RequesterManaged || i.Account != account || i.Attached && !forced
}

// The setting: two clusters of one account in one shared VPC. prod is watched,
// payments is somebody else's.
const (
	account  = "111122223333"
	other    = "444455556666"
	vpc      = "vpc-0a1b2c3d4e5f60718"
	prod     = "prod"
	payments = "payments"
)

// Tags that only peers go by.
const (
	tagOwner = "eks:eni:owner" // by the VPC CNI and the VPC resource controller
	tagOwned = "kubernetes.io/cluster/"
)

// Truth is what ought to become of an interface.
type Truth string

// The truths.
const (
	Keep Truth = "keep" // somebody alive uses it, or will in a moment
	Free Truth = "free" // left behind by prod's VPC CNI, and that can be proved
	// Either: to delete it hurts nobody, but the proof that it is left behind
	// lacks a part. Neither to delete nor to keep it is counted as wrong.
	Either Truth = "either"
)

// Item is one interface, at a first look and a quarter of an hour later.
type Item struct {
	Class Class
	Now   snapshot.Interface
	Later snapshot.Interface
	Gone  bool // at the second look
	// Group is the name of its security group.
	Group string
	// Made is when it was made, whatever its tags say.
	Made time.Time
	// Owner is the instance that it was made on. State is EC2's word for that,
	// empty where EC2 does not know it; StateLater at the second look.
	Owner, State, StateLater string
}

// Class is a state that interfaces are in.
type Class struct {
	Name  string
	Count int
	Truth Truth
	make  func(*maker, *Item)
}

// between the two looks.
const between = 15 * time.Minute

// classes are all states, 500 interfaces together.
func classes() []Class {
	return []Class{
		{"attached to a live node", 150, Keep, func(m *maker, i *Item) { m.made(i, prod, m.hours(2, 400)); i.attach(&i.Now); i.attach(&i.Later) }},
		{"being attached: made seconds ago", 40, Keep, func(m *maker, i *Item) { m.made(i, prod, m.seconds(2, 240)); i.attach(&i.Later) }},
		{"being attached for minutes: the calls are throttled", 10, Keep, func(m *maker, i *Item) { m.made(i, prod, m.seconds(330, 720)); i.attach(&i.Later) }},
		{"detached a moment ago by a live node, which deletes it itself", 20, Either, func(m *maker, i *Item) { m.made(i, prod, m.hours(1, 90)); i.Gone = true }},
		{"another cluster's, whose node lives and attaches it", 15, Keep, func(m *maker, i *Item) { m.made(i, payments, m.seconds(2, 600)); i.attach(&i.Later) }},
		{"not the VPC CNI's, with a description like its", 10, Keep, func(m *maker, i *Item) { m.named(i) }},
		{"of a node that is stopped", 15, Keep, func(m *maker, i *Item) { m.made(i, prod, m.hours(10, 300)); i.owner("stopped", "stopped") }},
		{"being attached, with a date that cannot be read", 10, Keep, func(m *maker, i *Item) {
			m.made(i, prod, m.seconds(2, 240))
			i.attach(&i.Later)
			i.tag(leak.TagCreated, m.badDate())
		}},
		{"trunk, branch and EFA interfaces of live nodes", 20, Keep, func(m *maker, i *Item) { m.special(i) }},
		{"AWS's own: of load balancers, functions, the control plane", 30, Keep, func(m *maker, i *Item) { m.managed(i) }},
		{"of another account that shares the VPC", 10, Keep, func(m *maker, i *Item) {
			m.made(i, prod, m.hours(2, 300))
			i.Now.Account, i.Later.Account = other, other
			i.owner("", "") // EC2 shows an account its own instances
		}},
		{"left behind by a node that is gone", 100, Free, func(m *maker, i *Item) { m.made(i, prod, m.hours(1, 400)); i.owner(m.dead(), "") }},
		{"left behind a few minutes ago", 5, Either, func(m *maker, i *Item) { m.made(i, prod, m.seconds(400, 850)); i.owner("terminated", "terminated") }},
		{"of a node that is shutting down", 10, Either, func(m *maker, i *Item) { m.made(i, prod, m.hours(1, 90)); i.owner("shutting-down", "terminated") }},
		{"left behind, with a date that cannot be read", 10, Either, func(m *maker, i *Item) {
			m.made(i, prod, m.hours(1, 400))
			i.owner(m.dead(), "")
			i.tag(leak.TagCreated, m.badDate())
		}},
		{"left behind, naming no cluster", 20, Either, func(m *maker, i *Item) {
			m.made(i, prod, m.hours(1, 400))
			i.owner(m.dead(), "")
			i.untag(leak.TagCluster)
			i.untag(tagOwner)
		}},
		{"left behind by another cluster's node", 15, Either, func(m *maker, i *Item) { m.made(i, payments, m.hours(1, 400)); i.owner(m.dead(), "") }},
		{"a node's first interface, kept by its launch template", 10, Either, func(m *maker, i *Item) { m.primary(i) }},
	}
}

// maker makes interfaces, the same for the same seed.
type maker struct {
	rng *rand.Rand
	now time.Time
	n   int
}

// build makes the world.
func build(seed uint64, now time.Time) []Item {
	m := &maker{rng: rand.New(rand.NewPCG(seed, 1)), now: now}
	var list []Item
	for _, c := range classes() {
		for range c.Count {
			i := Item{Class: c}
			c.make(m, &i)
			list = append(list, i)
			m.n++
		}
	}
	// Nobody may go by the order.
	m.rng.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
	return list
}

func (m *maker) id(prefix string) string { return fmt.Sprintf("%s-0%016x", prefix, m.rng.Uint64()) }

func (m *maker) seconds(least, most int) time.Duration {
	return time.Duration(least+m.rng.IntN(most-least)) * time.Second
}

func (m *maker) hours(least, most int) time.Duration { return m.seconds(least*3600, most*3600) }

// dead is how EC2 says that an instance is gone: for an hour it says so, then
// it does not know it.
func (m *maker) dead() string {
	if m.rng.IntN(10) == 0 {
		return "terminated"
	}
	return ""
}

// badDate is a date that is there and is none: cut by a tagging tool, in
// another form, empty.
func (m *maker) badDate() string {
	dates := []string{"", "2026-11-20", "Fri Nov 20 15:04:05 2026", "1763650000", "2026-11-20T15:04:05"}
	return dates[m.rng.IntN(len(dates))]
}

// plain is an available interface of nobody.
func (m *maker) plain(i *Item, age time.Duration) {
	i.Made = m.now.Add(-age)
	i.Now = snapshot.Interface{
		ID: m.id("eni"), Account: account, VPC: vpc, Subnet: "subnet-0b20000000000000a", Status: "available", Kind: "interface", Tags: map[string]string{},
	}
	i.Later = i.Now
	i.Group = "eks-cluster-sg-" + prod
}

// made is an interface as the VPC CNI makes it on a node that runs.
func (m *maker) made(i *Item, cluster string, age time.Duration) {
	m.plain(i, age)
	i.owner("running", "running")
	i.Owner = m.id("i")
	i.Now.Description = "aws-K8S-" + i.Owner
	i.Now.Tags = map[string]string{
		leak.TagInstance: i.Owner, leak.TagCreated: m.now.Add(-age).Format(time.RFC3339), leak.TagCluster: cluster, tagOwner: "amazon-vpc-cni",
	}
	i.Later = i.Now
	i.Group = "eksctl-" + cluster + "-nodegroup-workers-SG-1Q2W3E4R"
}

// named is an interface that somebody made by hand and named after the CNI's:
// with a name of its own, or with a node's that is gone.
func (m *maker) named(i *Item) {
	m.plain(i, m.hours(100, 4000))
	i.Now.Description = "aws-K8S-licence-server"
	if m.n%2 == 0 {
		i.Owner = m.id("i")
		i.Now.Description = "aws-K8S-" + i.Owner
	}
	i.Now.Tags = map[string]string{"Name": "licence-server"}
	i.Later = i.Now
	i.Group = "licence-server"
}

// special are interfaces of other types, which the VPC resource controller and
// EFA's users make.
func (m *maker) special(i *Item) {
	m.made(i, prod, m.hours(1, 90))
	i.Now.Tags = map[string]string{tagOwner: "eks-vpc-resource-controller", tagOwned + prod: "owned"}
	switch m.n % 4 {
	case 0: // a branch made a moment ago: plain until it is associated with its trunk
		m.plain(i, m.seconds(2, 60))
		i.Now.Description = "aws-k8s-branch-eni"
		i.Now.Tags = map[string]string{tagOwner: "eks-vpc-resource-controller", tagOwned + prod: "owned"}
		i.Later = i.Now
		i.Later.Kind, i.Later.Status, i.Later.Attached = "branch", "in-use", true
		return
	case 1:
		i.Now.Kind, i.Now.Description, i.Now.Status = "trunk", "aws-k8s-trunk-eni", "in-use"
		i.Now.Attached, i.Now.Instance = true, i.Owner
	default: // an EFA interface that waits for a training job's nodes
		i.Now.Kind, i.Now.Description = "efa", "training"
		i.Now.Tags = map[string]string{"Name": "training"}
		i.Group = "training"
	}
	i.Later = i.Now
}

// managed are interfaces that AWS's services hold. Those of functions are
// available for a while after their last call; the others are always in use.
func (m *maker) managed(i *Item) {
	m.plain(i, m.hours(1, 4000))
	what := []struct{ description, kind string }{
		{"Amazon EKS " + prod, "interface"}, {"ELB app/web/50dc6c495c0c9188", "interface"},
		{"AWS Lambda VPC ENI-report", "lambda"}, {"Interface for NAT Gateway nat-0aa4", "nat_gateway"},
	}[m.n%4]
	i.Now.Description, i.Now.Kind, i.Now.RequesterManaged = what.description, what.kind, true
	if what.kind != "lambda" || m.n%8 < 4 {
		i.Now.Status, i.Now.Attached = "in-use", true
	}
	i.Later = i.Now
	i.Group = "eksctl-" + prod + "-cluster-ControlPlaneSecurityGroup-ABC"
}

// primary is the first interface of a node that is gone: without a description,
// with ipamd's tags but the date.
func (m *maker) primary(i *Item) {
	m.made(i, prod, m.hours(1, 400))
	i.owner(m.dead(), "")
	i.Now.Description = ""
	delete(i.Now.Tags, leak.TagCreated)
	i.Later = i.Now
}

func (i *Item) attach(at *snapshot.Interface) {
	at.Status, at.Attached, at.Instance = "in-use", true, i.Owner
}

func (i *Item) owner(state, later string) { i.State, i.StateLater = state, later }

// tag and untag change both looks, which share their tags.
func (i *Item) tag(key, value string) { i.Now.Tags[key] = value }
func (i *Item) untag(key string)      { delete(i.Now.Tags, key) }
