package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

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
