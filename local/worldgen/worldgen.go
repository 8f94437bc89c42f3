package worldgen

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/worldfile"
)

const (
	account = "111122223333"
	// landlord owns a shared VPC.
	landlord = "444455556666"
	region   = "us-west-2"
	cluster  = "prod"
)

// Age is how long before the world's time its young instances were launched:
// past the five minutes that a node has to join.
const Age = 10 * time.Minute

// World is a generated world, and where in it things are.
type World struct {
	Seed    uint64
	Shape   Shape
	File    *worldfile.File
	Cluster string
	// Young are the instances of ten minutes: Ready nodes as long as nothing
	// is broken. Veterans joined long ago.
	Young, Veterans []string
	// Subnets are those of the young instances, Tables the route tables in
	// force there.
	Subnets, Tables []string

	vpc, egressVPC             string
	public, private            []string
	gateway                    string
	nats                       []string
	clusterGroup, nodeGroup    string // nodeGroup is clusterGroup where nodes have no own
	endpointGroup              string
	role, profile, cniRole     string // ARN, ARN, ARN or ""
	group, nodegroup, template string
	image                      string
	version                    string
	range4                     netip.Prefix
	range6                     netip.Prefix
	ids                        int
	// wait is how long after its time the world is looked at: what EKS is asked
	// to do has come to its end by then.
	wait time.Duration
}

// New generates the healthy world of a seed.
func New(seed uint64) *World {
	r := rand.New(rand.NewPCG(seed, 0x526f6c6c))
	w := &World{Seed: seed, Shape: draw(r), Cluster: cluster, version: pick(r, "1.32", "1.33", "1.34")}
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	if w.Shape.Image == AL2 {
		// Before the end of its support (26 November 2025), and the last
		// version that has such an image.
		at, w.version = time.Date(2025, 10, 20, 15, 0, 0, 0, time.UTC), "1.32"
	}
	w.range4 = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(10 + r.IntN(200)), 0, 0}), 16)
	w.range6 = netip.MustParsePrefix(fmt.Sprintf("2600:1f14:%x::/56", 1+r.IntN(0xfff0)))
	w.File = &worldfile.File{
		Name: fmt.Sprintf("generated-%d", seed), About: "A generated world: " + w.Shape.String() + ".",
		Account: account, Region: region, Time: at, Kubernetes: map[string]worldfile.KubernetesFile{},
	}
	w.File.EC2.UserData, w.File.EC2.ConsoleOutput = map[string]string{}, map[string]string{}
	w.File.EC2.VpcAttributes = map[string]worldfile.VpcAttributes{}
	w.File.EC2.PrefixListEntries = map[string][]ec2types.PrefixListEntry{}
	w.makeNetwork()
	w.makeGroups()
	w.makeACL()
	w.makeEndpoints()
	w.makeCluster()
	w.makeIdentities()
	w.makeFleets()
	w.makeKubernetes()
	w.makeNoise(r)
	w.File.Expect.Healthy = true
	return w
}

// id makes the next id of a kind.
func (w *World) id(kind string) string {
	w.ids++
	return fmt.Sprintf("%s-0%016x", kind, 0xa000000000000000>>4|uint64(w.ids)<<8|w.Seed&0xff)
}

// now is the world's time.
func (w *World) now() time.Time { return w.File.Time }

// long is when what is not new was made.
func (w *World) long() *time.Time { return aws.Time(w.now().Add(-60 * 24 * time.Hour)) }

// address is the n-th address of a subnet's range.
func address(cidr string, n int) string {
	p := netip.MustParsePrefix(cidr)
	b := p.Addr().AsSlice()
	b[len(b)-1] += byte(n)
	b[len(b)-2] += byte(n >> 8)
	a, _ := netip.AddrFromSlice(b)
	return a.String()
}
