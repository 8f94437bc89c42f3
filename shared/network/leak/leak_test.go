package leak

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

func TestDraft(t *testing.T) {
	v := Judge(left(), ground())
	first, at := now.Add(-time.Hour), now.Add(1234567*time.Microsecond).In(time.FixedZone("", 3600))
	v.Interface.Prefixes = []netip.Prefix{netip.MustParsePrefix("10.42.2.0/28")}
	v.Interface.IPv6 = []netip.Addr{netip.MustParseAddr("fd00::1")}
	want := Audit{
		Format: 1, Account: account, Cluster: "prod", VPC: vpc, Interface: "eni-0a000000000000001", Subnet: "subnet-0b20000000000000a", Zone: "us-west-2a",
		Owner: owner, Created: now.Add(-time.Hour), First: first, IPs: left().PrivateIPs, Prefixes: v.Interface.Prefixes, IPv6: v.Interface.IPv6,
		At: now.Add(1234 * time.Millisecond), Result: Deleting, Run: "run-1",
	}
	got := Draft(v, Sighting{First: first}, "run-1", at)
	expect.Same(t, "got", got, want, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}))
	// It names no cluster: an operator opted the VPC in.
	v.Cluster = ""
	if !Draft(v, Sighting{}, "run-1", at).Untagged {
		t.Error("a record without a cluster does not say that the interface was untagged")
	}
}

// A prefix is a /28.
func TestAddresses(t *testing.T) {
	ip, prefix := netip.MustParseAddr("10.42.1.4"), netip.MustParsePrefix("10.42.2.0/28")
	for _, test := range []struct {
		audit Audit
		want  int
	}{
		{Audit{}, 0},
		{Audit{IPs: []netip.Addr{ip, ip}}, 2},
		{Audit{Prefixes: []netip.Prefix{prefix, prefix}}, 32},
		{Audit{IPs: []netip.Addr{ip}, Prefixes: []netip.Prefix{prefix, prefix, prefix}}, 49},
		{Audit{IPv6: []netip.Addr{netip.MustParseAddr("fd00::1")}}, 0}, // the subnet has no lack of those
	} {
		if got := test.audit.Addresses(); got != test.want {
			t.Errorf("%+v: %d addresses, want %d", test.audit, got, test.want)
		}
	}
}

func TestReturned(t *testing.T) {
	ip := netip.MustParseAddr("10.42.1.4")
	record := func(subnet, node string, minute int, result Result, addresses int) Audit {
		a := Audit{Subnet: subnet, Owner: node, At: now.Add(time.Duration(minute) * time.Minute), Result: result}
		for range addresses {
			a.IPs = append(a.IPs, ip)
		}
		return a
	}
	list := []Audit{
		record("a", "i-1", 5, Deleting, 100), // not known yet
		record("a", "i-1", 3, Deleted, 2),
		record("b", "i-1", 1, Deleted, 1),
		record("a", "i-1", 4, Deleted, 3),
		record("a", "i-2", 2, Deleted, 5),
		record("b", "i-3", 9, WouldDelete, 7),
	}
	want := []snapshot.Returned{
		{Subnet: "a", Interfaces: 3, Addresses: 10, Nodes: 2, Last: now.Add(4 * time.Minute)},
		{Subnet: "b", Interfaces: 1, Addresses: 1, Nodes: 1, Last: now.Add(time.Minute)},
	}
	expect.Same(t, "deleted", Returned(list, Deleted), want)
	want = []snapshot.Returned{{Subnet: "b", Interfaces: 1, Addresses: 7, Nodes: 1, Last: now.Add(9 * time.Minute)}}
	expect.Same(t, "would be deleted", Returned(list, WouldDelete), want)
}

func TestEvent(t *testing.T) {
	a := Draft(Judge(left(), ground()), Sighting{First: now.Add(-time.Hour)}, "run-1", now)
	a.Partition, a.Region, a.Request, a.Settled = "aws", "us-west-2", "request-1", true
	want := Event{
		ID: "prod/eni-0a000000000000001/deleted", Format: 1, At: now, Partition: "aws", Account: account, Region: "us-west-2", Cluster: "prod",
		VPC: vpc, Subnet: "subnet-0b20000000000000a", Zone: "us-west-2a", Interface: "eni-0a000000000000001", Instance: owner,
		Created: now.Add(-time.Hour), FirstSeen: now.Add(-time.Hour), Addresses: 2, IPs: left().PrivateIPs, Run: "run-1", Request: "request-1", Settled: true,
	}
	expect.Same(t, "got", a.Event(), want, cmpopts.EquateComparable(netip.Addr{}))
}

const (
	account = "111122223333"
	vpc     = "vpc-0a1b2c3d4e5f60718"
	owner   = "i-0d00000000000dead"
)

var now = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)

// left is an interface that a node left behind, of which every rule holds.
func left() snapshot.Interface {
	return snapshot.Interface{
		ID: "eni-0a000000000000001", Account: account, VPC: vpc, Subnet: "subnet-0b20000000000000a", Zone: "us-west-2a",
		Description: "aws-K8S-" + owner, Status: "available", Kind: "interface", SourceCheck: true,
		PrivateIPs: []netip.Addr{netip.MustParseAddr("10.42.1.4"), netip.MustParseAddr("10.42.1.5")},
		Tags:       map[string]string{TagInstance: owner, TagCreated: "2026-11-20T14:00:00Z", TagCluster: "prod"},
	}
}

func ground() Ground {
	return Ground{
		Now: now, Account: account, VPC: vpc, Clusters: []string{"dev", "prod"}, Grace: 30 * time.Minute,
		Creators: map[string]snapshot.Creator{owner: {Instance: owner, State: "terminated"}},
	}
}

func TestJudge(t *testing.T) {
	tag := func(key, value string) func(*snapshot.Interface, *Ground) {
		return func(i *snapshot.Interface, _ *Ground) { i.Tags[key] = value }
	}
	untag := func(key string) func(*snapshot.Interface, *Ground) {
		return func(i *snapshot.Interface, _ *Ground) { delete(i.Tags, key) }
	}
	described := func(text string) func(*snapshot.Interface, *Ground) {
		return func(i *snapshot.Interface, _ *Ground) { i.Description = text }
	}
	state := func(word string) func(*snapshot.Interface, *Ground) {
		return func(_ *snapshot.Interface, g *Ground) {
			g.Creators[owner] = snapshot.Creator{Instance: owner, State: word}
		}
	}
	for _, test := range []struct {
		name  string
		spoil func(*snapshot.Interface, *Ground)
		want  Reason
	}{
		{"every rule holds", func(*snapshot.Interface, *Ground) {}, Leaked},
		{"EC2 has forgotten the owner", state(""), Leaked},
		{"another watched cluster's", tag(TagCluster, "dev"), Leaked},
		{"an id of before 2016", func(i *snapshot.Interface, g *Ground) {
			i.Description, i.Tags[TagInstance] = "aws-K8S-i-0123abcd", "i-0123abcd"
			g.Creators["i-0123abcd"] = snapshot.Creator{Instance: "i-0123abcd"}
		}, Leaked},
		{"just old enough", tag(TagCreated, "2026-11-20T14:30:00Z"), Leaked},
		{"a date in another zone", tag(TagCreated, "2026-11-20T23:30:00+09:00"), Leaked},
		{"untagged, and opted in", func(i *snapshot.Interface, g *Ground) { delete(i.Tags, TagCluster); g.Untagged = true }, Leaked},
		{"untagged, opted in, beside watched clusters", func(i *snapshot.Interface, g *Ground) {
			delete(i.Tags, TagCluster)
			g.Untagged, g.Tenants = true, []string{"dev", "prod"}
		}, Leaked},
		{"tagged, beside a cluster that is not watched", func(_ *snapshot.Interface, g *Ground) { g.Tenants = []string{"theirs"} }, Leaked},

		{"no id", func(i *snapshot.Interface, _ *Ground) { i.ID = "" }, HalfRead},
		{"nothing at all", func(i *snapshot.Interface, _ *Ground) { *i = snapshot.Interface{} }, HalfRead},
		{"an id and nothing else", func(i *snapshot.Interface, _ *Ground) { *i = snapshot.Interface{ID: "eni-1"} }, InUse},
		{"in use", func(i *snapshot.Interface, _ *Ground) { i.Status = "in-use" }, InUse},
		{"being attached", func(i *snapshot.Interface, _ *Ground) { i.Status = "attaching" }, InUse},
		{"pending", func(i *snapshot.Interface, _ *Ground) { i.Status = "pending" }, InUse},
		{"in another writing", func(i *snapshot.Interface, _ *Ground) { i.Status = "Available" }, InUse},
		{"available, with an attachment", func(i *snapshot.Interface, _ *Ground) { i.Attached = true }, InUse},
		{"available, on an instance", func(i *snapshot.Interface, _ *Ground) { i.Instance = owner }, InUse},
		{"a branch", func(i *snapshot.Interface, _ *Ground) { i.Kind = "branch" }, NotPlain},
		{"of a kind that is not told", func(i *snapshot.Interface, _ *Ground) { i.Kind = "" }, NotPlain},
		{"AWS's own", func(i *snapshot.Interface, _ *Ground) { i.RequesterManaged = true }, RequesterManaged},
		{"another account's", func(i *snapshot.Interface, _ *Ground) { i.Account = "999988887777" }, OtherAccount},
		{"nobody's account", func(i *snapshot.Interface, g *Ground) { i.Account, g.Account = "", "" }, OtherAccount},
		{"in another VPC", func(i *snapshot.Interface, _ *Ground) { i.VPC = "vpc-0ffffffffffffffff" }, OtherVPC},
		{"in no VPC", func(i *snapshot.Interface, g *Ground) { i.VPC, g.VPC = "", "" }, OtherVPC},
		{"with an Elastic IP address", func(i *snapshot.Interface, _ *Ground) { i.PublicIP = netip.MustParseAddr("203.0.113.9") }, PublicAddress},

		{"no description", described(""), NotByCNI},
		{"small k8s", described("aws-k8s-" + owner), NotByCNI},
		{"a branch's description", described("aws-k8s-branch-eni"), NotByCNI},
		{"a description that goes on", described("aws-K8S-" + owner + " (do not delete)"), NotByCNI},
		{"a description that begins earlier", described("my aws-K8S-" + owner), NotByCNI},
		{"a description without an id", described("aws-K8S-"), NotByCNI},
		{"an id in capitals", described("aws-K8S-I-0D00000000000DEAD"), NotByCNI},
		{"an id that is too short", described("aws-K8S-i-0d0000000"), NotByCNI},
		{"two lines", described("aws-K8S-" + owner + "\n"), NotByCNI},
		{"the control plane's", described("Amazon EKS prod"), NotByCNI},
		{"an id alone", described(owner), NotByCNI},
		{"an id without its beginning", described("aws-K8S-0d00000000000dead"), NotByCNI},
		{"the tag names another instance", tag(TagInstance, "i-0d0000000000000a1"), TagsDisagree},
		{"the tag in another writing", tag(TagInstance, "i-0D00000000000DEAD"), TagsDisagree},
		{"no tag names the instance", untag(TagInstance), TagsDisagree},
		{"no tags", func(i *snapshot.Interface, _ *Ground) { i.Tags = nil }, TagsDisagree},

		{"the owner was not asked for", func(_ *snapshot.Interface, g *Ground) { g.Creators = nil }, OwnerUnread},
		{"the owner runs", state("running"), OwnerLives},
		{"the owner starts", state("pending"), OwnerLives},
		{"the owner is only stopped", state("stopped"), OwnerLives},
		{"the owner is stopping", state("stopping"), OwnerLives},
		{"the owner is shutting down", state("shutting-down"), OwnerLives},
		{"the owner is in a state that is new", state("hibernated"), OwnerLives},

		{"the owner is unknown, and has an interface", func(_ *snapshot.Interface, g *Ground) {
			g.Creators[owner] = snapshot.Creator{Instance: owner, Attached: true}
		}, OwnerLives},
		{"the owner is terminated, and has an interface", func(_ *snapshot.Interface, g *Ground) {
			g.Creators[owner] = snapshot.Creator{Instance: owner, State: "terminated", Attached: true}
		}, OwnerLives},

		{"no date", untag(TagCreated), NoDate},
		{"an empty date", tag(TagCreated, ""), NoDate},
		{"no date that can be read", tag(TagCreated, "yesterday"), NoDate},
		{"seconds since 1970", tag(TagCreated, "1763640000"), NoDate},
		{"a date without a zone", tag(TagCreated, "2026-11-20T14:00:00"), NoDate},
		{"the zero date", tag(TagCreated, "0001-01-01T00:00:00Z"), NoDate},
		{"a date of before there was a VPC CNI", tag(TagCreated, "1970-01-01T00:00:00Z"), NoDate},
		{"within the grace period", tag(TagCreated, "2026-11-20T14:30:01Z"), TooYoung},
		{"of the future", tag(TagCreated, "2026-11-21T14:00:00Z"), TooYoung},
		{"a grace period under the least", func(i *snapshot.Interface, g *Ground) {
			i.Tags[TagCreated], g.Grace = "2026-11-20T14:56:00Z", 0
		}, TooYoung},
		{"nobody knows the time", func(_ *snapshot.Interface, g *Ground) { g.Now = time.Time{} }, TooYoung},

		{"another cluster's", tag(TagCluster, "theirs"), OtherCluster},
		{"another cluster's, with untagged opted in", func(i *snapshot.Interface, g *Ground) { i.Tags[TagCluster], g.Untagged = "theirs", true }, OtherCluster},
		{"a cluster of a name like ours", tag(TagCluster, "prod-2"), OtherCluster},
		{"a cluster of no name", func(i *snapshot.Interface, g *Ground) {
			i.Tags[TagCluster], g.Untagged, g.Clusters = "", true, []string{""}
		}, OtherCluster},
		{"no cluster is watched", func(_ *snapshot.Interface, g *Ground) { g.Clusters = nil }, OtherCluster},
		{"untagged", untag(TagCluster), Untagged},
		{"untagged, opted in, beside a cluster that is not watched", func(i *snapshot.Interface, g *Ground) {
			delete(i.Tags, TagCluster)
			g.Untagged, g.Tenants = true, []string{"dev", "theirs"}
		}, Strangers},
		{"untagged, not opted in, beside a cluster that is not watched", func(i *snapshot.Interface, g *Ground) {
			delete(i.Tags, TagCluster)
			g.Tenants = []string{"theirs"}
		}, Untagged},
	} {
		i, g := left(), ground()
		test.spoil(&i, &g)
		if v := Judge(i, g); v.Why != test.want {
			t.Errorf("%s: %q, want %q", test.name, v.Why, test.want)
		}
	}
}

// Whatever is untold of an interface, it is not taken for left behind.
func TestHalfAnswersAreNeverLeaked(t *testing.T) {
	for name, forget := range map[string]func(*snapshot.Interface){
		"id": func(i *snapshot.Interface) { i.ID = "" }, "account": func(i *snapshot.Interface) { i.Account = "" },
		"vpc": func(i *snapshot.Interface) { i.VPC = "" }, "status": func(i *snapshot.Interface) { i.Status = "" },
		"kind": func(i *snapshot.Interface) { i.Kind = "" }, "description": func(i *snapshot.Interface) { i.Description = "" },
		"tags": func(i *snapshot.Interface) { i.Tags = nil },
	} {
		i := left()
		forget(&i)
		if v := Judge(i, ground()); v.Why == Leaked {
			t.Errorf("without %s it is leaked", name)
		}
	}
}

func TestVerdictSaysWhatIsKnown(t *testing.T) {
	v := Judge(left(), ground())
	if v.Owner != owner || v.Cluster != "prod" || !v.Created.Equal(now.Add(-time.Hour)) || !v.Dead() {
		t.Errorf("verdict %+v", v)
	}
	i := left()
	i.Description = "mine"
	if v := Judge(i, ground()); v.Owner != owner || v.Dead() || Owner(i) != "" {
		t.Errorf("verdict %+v", v)
	}
	expect.Equal(t, "the description names", Owner(left()), owner)
	// What the description says comes before the tag.
	i = left()
	i.Tags[TagInstance] = "i-0d0000000000000a1"
	if v := Judge(i, ground()); v.Owner != owner || v.Why != TagsDisagree {
		t.Errorf("verdict %+v", v)
	}
	// A date of before there was a VPC CNI is none; its first day is one.
	for text, want := range map[string]time.Time{
		"2016-12-31T23:59:59Z": {}, "2017-01-01T00:00:00Z": time.Date(2017, time.January, 1, 0, 0, 0, 0, time.UTC), "yesterday": {},
	} {
		i = left()
		i.Tags[TagCreated] = text
		if v := Judge(i, ground()); !v.Created.Equal(want) {
			t.Errorf("%s: created %s", text, v.Created)
		}
	}
}

// An operator has to see to what a node that is gone left behind, whether or not
// it may be deleted; of nothing else can it be told.
func TestDead(t *testing.T) {
	dead := []Reason{Leaked, Untagged, Strangers, OtherCluster}
	for _, why := range []Reason{
		Leaked, HalfRead, InUse, NotPlain, RequesterManaged, OtherAccount, OtherVPC, PublicAddress, NotByCNI, TagsDisagree, OwnerUnread,
		OwnerLives, NoDate, TooYoung, OtherCluster, Untagged, Strangers,
	} {
		expect.Equal(t, fmt.Sprintf("%s: dead", why), (Verdict{Why: why}).Dead(), slices.Contains(dead, why))
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("aws-K8S-"+owner, owner, "2026-11-20T14:00:00Z", "prod", "available")
	f.Add("aws-k8s-trunk-eni", "", "", "", "in-use")
	f.Add("Amazon EKS prod", owner, "0000-01-01T00:00:00Z", "prod", "available")
	f.Fuzz(func(t *testing.T, description, instance, created, cluster, status string) {
		i := left()
		i.Description, i.Status = description, status
		i.Tags = map[string]string{TagInstance: instance, TagCreated: created, TagCluster: cluster}
		v := Judge(i, ground())
		if v.Why != Leaked {
			return
		}
		at, err := time.Parse(time.RFC3339, created)
		if description != "aws-K8S-"+owner || instance != owner || status != "available" || cluster != "prod" && cluster != "dev" ||
			err != nil || now.Sub(at) < 30*time.Minute {
			t.Errorf("leaked: %q %q %q %q %q", description, instance, created, cluster, status)
		}
	})
}

// bucket is EC2's, and what others draw from it.
type bucket struct {
	level float64
	at    time.Duration
	// others is how many a second others want; odd is what is left of it.
	others func(at time.Duration) float64
	odd    float64
	drawn  int
}

// take is a request at a time. Others come first, each hundredth of a second.
func (b *bucket) take(at time.Duration) bool {
	const step = 10 * time.Millisecond
	for b.at < at {
		d := min(step, at-b.at)
		b.at += d
		b.level = min(b.level+Refill*d.Seconds(), Bucket)
		for b.odd += b.others(b.at) * d.Seconds(); b.odd >= 1; b.odd-- {
			if b.level >= 1 {
				b.level--
				b.drawn++
			}
		}
	}
	if b.level < 1 {
		return false
	}
	b.level--
	return true
}

// flight is a request on its way: first to EC2, then back.
type flight struct {
	due, sent time.Duration
	back, ok  bool
}

type flights []flight

func (f flights) Len() int           { return len(f) }
func (f flights) Less(i, j int) bool { return f[i].due < f[j].due }
func (f flights) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)        { *f = append(*f, x.(flight)) }
func (f *flights) Pop() any {
	old := *f
	x := old[len(old)-1]
	*f = old[:len(old)-1]
	return x
}

// drive sends n deletes, sixteen at once, each of 0.3 to 1 s, and tells how
// long that took, and how many were throttled.
func drive(n int, p Pace, b *bucket, r *rand.Rand) (took time.Duration, throttled int) {
	const workers = 16
	at := func(d time.Duration) time.Time { return now.Add(d) }
	var q flights
	clock, done, open := time.Duration(0), 0, n
	for done < n {
		wait := time.Duration(1<<62 - 1)
		if open > 0 && len(q) < workers {
			if wait = p.Take(at(clock)); wait == 0 {
				open--
				latency := 150*time.Millisecond + time.Duration(r.IntN(350))*time.Millisecond
				heap.Push(&q, flight{due: clock + latency, sent: clock})
				continue
			}
		}
		if len(q) == 0 || wait < q[0].due-clock {
			clock += wait
			continue
		}
		f := heap.Pop(&q).(flight)
		clock = f.due
		switch {
		case !f.back:
			f.ok, f.back = b.take(clock), true
			f.due = clock + (clock - f.sent)
			heap.Push(&q, f)
		case f.ok:
			p.Went()
			done++
		default:
			p.Throttled(at(f.sent), at(clock))
			throttled++
			open++
		}
	}
	return clock, throttled
}

// The pace takes no longer than 5 % over what the bucket allows, and is
// seldom throttled: alone, whatever the bucket has at the beginning, and with
// others who draw up to 4 of the 5 a second.
func TestPaceFollowsTheBucket(t *testing.T) {
	steady := func(rate float64) func(time.Duration) float64 {
		return func(time.Duration) float64 { return rate }
	}
	for _, test := range []struct {
		name   string
		others func(time.Duration) float64
		least  int // deletes
		within float64
	}{
		{"alone", steady(0), 400, 0.05},
		{"with 1 a second", steady(1), 1000, 0.05},
		{"with 2.5 a second", steady(2.5), 1000, 0.05},
		{"with 4 a second", steady(4), 1000, 0.05},
		{"with 0 to 4 a second, each second anew", func(at time.Duration) float64 {
			return 4 * rand.New(rand.NewPCG(uint64(at/time.Second), 7)).Float64()
		}, 1000, 0.05},
		{"with 0 to 4 a second, slowly more and less", func(at time.Duration) float64 { return 2 - 2*math.Cos(at.Minutes()) }, 1000, 0.05},
		// From 4 to none at a stroke: half a minute until that is found out.
		{"with 4 a second in each other minute", func(at time.Duration) float64 { return 4 * float64(int(at.Minutes())%2) }, 2000, 0.15},
	} {
		worst, refused := 0.0, 0.0
		for seed := range uint64(100) {
			r := rand.New(rand.NewPCG(seed, 5))
			n, level := test.least+r.IntN(2000), float64(r.IntN(Bucket+1))
			b := &bucket{level: level, others: test.others}
			took, throttled := drive(n, Begin(Pace{}, now), b, r)
			// What the bucket had and gained, less what others drew, is what it
			// allowed: in that time one could have deleted so many.
			allowed := level + Refill*took.Seconds() - float64(b.drawn)
			worst = max(worst, allowed/float64(n)-1)
			refused = max(refused, float64(throttled)/float64(n))
		}
		t.Logf("%s: at worst %.1f %% over, %.1f %% throttled", test.name, worst*100, refused*100)
		if worst > test.within || refused > 0.05 {
			t.Errorf("%s: %.1f %% over what the bucket allows (want %.0f), %.1f %% throttled (want 5)", test.name, worst*100, test.within*100, refused*100)
		}
	}
}

// The 10,000 of the issue, from a full bucket: 1,980 s.
func TestPaceOfTenThousand(t *testing.T) {
	took, throttled := drive(10_000, Begin(Pace{}, now), &bucket{level: Bucket, others: func(time.Duration) float64 { return 0 }}, rand.New(rand.NewPCG(1, 1)))
	if took > 1982*time.Second || took < 1980*time.Second || throttled > 0 {
		t.Errorf("took %s with %d throttled; the bucket allows it in 1980 s", took, throttled)
	}
}

func TestBegin(t *testing.T) {
	for _, test := range []struct {
		name string
		last Pace
		want Pace
	}{
		{"nobody has deleted anything", Pace{}, Pace{Level: 97, At: now, Rate: 5}},
		{"a bucket that has filled up", Pace{Level: 0, At: now.Add(-15 * time.Minute), Rate: 5}, Pace{Level: 97, At: now, Rate: 5}},
		{"a bucket that was emptied just now", Pace{Level: 0, At: now.Add(-4 * time.Second), Rate: 5}, Pace{Level: 20, At: now, Rate: 5}},
		{"others were there just now", Pace{Level: 0, At: now.Add(-10 * time.Second), Rate: 1, Cut: now.Add(-20 * time.Second)}, Pace{Level: 10, At: now, Rate: 1, Cut: now.Add(-20 * time.Second)}},
		{"others were there some time ago", Pace{Level: 0, At: now.Add(-time.Minute), Rate: 1}, Pace{Level: 60, At: now, Rate: 5}},
		{"of the future", Pace{Level: 3, At: now.Add(time.Hour), Rate: 1}, Pace{Level: 97, At: now, Rate: 5}},
		{"nonsense", Pace{Level: -3, At: now, Rate: -1}, Pace{Level: 97, At: now, Rate: 5}},
		{"a level under none", Pace{Level: -0.5, At: now, Rate: 2}, Pace{Level: 97, At: now, Rate: 5}},
		{"no number for a level", Pace{Level: math.NaN(), At: now, Rate: 2}, Pace{Level: 97, At: now, Rate: 5}},
		{"an empty bucket", Pace{Level: 0, At: now, Rate: 2}, Pace{Level: 0, At: now, Rate: 2}},
		{"a bucket that gains nothing", Pace{Level: 3, At: now, Rate: 0}, Pace{Level: 97, At: now, Rate: 5}},
		{"a bucket that loses", Pace{Level: 3, At: now, Rate: -0.1}, Pace{Level: 97, At: now, Rate: 5}},
		{"of no time", Pace{Level: 3, Rate: 1}, Pace{Level: 97, At: now, Rate: 5}},
		{"less than the least", Pace{Level: 3, At: now, Rate: 0.01}, Pace{Level: 3, At: now, Rate: leastRate}},
		{"what was on its way is answered", Pace{Level: 3, At: now, Rate: 1, out: 4, went: 9}, Pace{Level: 3, At: now, Rate: 1}},
		{"too much", Pace{Level: 1e9, At: now.Add(-time.Second), Rate: 1e9}, Pace{Level: 97, At: now, Rate: most}},
	} {
		expect.Equal(t, test.name, Begin(test.last, now), test.want)
	}
}

func TestPaceGives(t *testing.T) {
	p := Begin(Pace{Level: 0, At: now, Rate: 5}, now)
	if wait := p.Take(now); wait < 200*time.Millisecond || wait > 201*time.Millisecond {
		t.Errorf("wait %s, want 200 ms", wait)
	}
	if p.Give(); p.Take(now) != 0 {
		t.Error("what was given back cannot be taken")
	}
	if n := p.Ready(now, 4*time.Second); n != 20 {
		t.Errorf("%d ready within 4 s, want 20", n)
	}
}

// All that were on their way when the first was refused count as one.
func TestThrottledAtOnce(t *testing.T) {
	p := Begin(Pace{Level: 0, At: now, Rate: 4}, now)
	for range 5 {
		p.Throttled(now.Add(-time.Second), now)
	}
	if p.Rate != 2 || p.Level != 0 {
		t.Errorf("pace %+v, want the rate halved once", p)
	}
	for range 20 {
		p.Throttled(now.Add(time.Minute), now.Add(time.Minute))
		p.At, p.Level = now.Add(time.Minute), 0
	}
	if p.Rate != leastRate {
		t.Errorf("rate %v, want the least", p.Rate)
	}
}

// What is on its way counts until it is answered, given back or lost, and never
// under none: it is what the bucket is believed to owe when EC2 refuses.
func TestThrottledOwesWhatIsOnItsWay(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(p *Pace)
		want float64 // level after a refusal
	}{
		{"six on their way, one of them refused", func(*Pace) {}, -2.5},
		{"one went through", func(p *Pace) { p.Went() }, -2},
		{"one was given back", func(p *Pace) { p.Give() }, -2},
		{"one was lost", func(p *Pace) { p.Lost() }, -2},
		{"all went through", func(p *Pace) {
			for range 6 {
				p.Went()
			}
		}, 0},
		{"more were given back than sent", func(p *Pace) {
			for range 9 {
				p.Give()
			}
			p.Take(now)
		}, 0},
		{"more were lost than sent", func(p *Pace) {
			for range 9 {
				p.Lost()
			}
			p.Take(now)
		}, 0},
		{"more went through than were sent", func(p *Pace) {
			for range 9 {
				p.Went()
			}
			p.Take(now)
		}, 0},
	} {
		p := Begin(Pace{Level: 20, At: now, Rate: 1}, now)
		for range 6 {
			if wait := p.Take(now); wait != 0 {
				t.Fatalf("wait %s", wait)
			}
		}
		test.do(&p)
		if p.Throttled(now, now); p.Level != test.want {
			t.Errorf("%s: level %v, want %v", test.name, p.Level, test.want)
		}
	}
}

// What was believed to be in store and was not says nothing of the rate; what is
// refused of an empty bucket does, once for all that was sent before.
func TestThrottledSaysOfTheRate(t *testing.T) {
	second := func(n int) time.Time { return now.Add(time.Duration(n) * time.Second) }
	p := Begin(Pace{Level: 1, At: now, Rate: 4}, now)
	if p.Throttled(now, now); p.Rate != 4 || !p.Cut.Equal(now) || p.Level != 0 {
		t.Errorf("of one in store: %+v, want the rate as it was", p)
	}
	p = Begin(Pace{Level: 0.5, At: now, Rate: 4}, now)
	if p.Throttled(now, now); p.Rate != 2 || !p.Cut.Equal(now) {
		t.Errorf("of none in store: %+v, want the rate halved", p)
	}
	// Sent before the cut, refused after it: the cut is as late as that.
	p.Level = 0
	if p.Throttled(second(-1), now); p.Rate != 2 || !p.Cut.Equal(now) {
		t.Errorf("sent before the cut: %+v", p)
	}
	p.Level, p.At = 0, second(0)
	if p.Throttled(second(-1), second(0)); p.Rate != 2 {
		t.Errorf("sent before the cut: %+v", p)
	}
	// In store again, later: the cut moves on, and never back.
	p.Level, p.At = 50, second(10)
	if p.Throttled(second(10), second(10)); p.Rate != 2 || !p.Cut.Equal(second(10)) {
		t.Errorf("in store again: %+v, want the cut now", p)
	}
	p.Level, p.At = 50, second(10)
	if p.Throttled(second(5), second(5)); !p.Cut.Equal(second(10)) {
		t.Errorf("told by a clock behind: %+v, want the cut as it was", p)
	}
}

// Ready counts what the bucket gains until then.
func TestReadyAfterATime(t *testing.T) {
	p := Begin(Pace{Level: 10, At: now, Rate: 2}, now)
	if n := p.Ready(now.Add(5*time.Second), 3*time.Second); n != 26 {
		t.Errorf("%d ready, want 10, 10 gained, and 6 within 3 s", n)
	}
	if p.Level != 10 {
		t.Errorf("asking took something: %+v", p)
	}
}

// some are verdicts of leaked interfaces, one minute younger each.
func some(n int) []Verdict {
	var list []Verdict
	for k := range n {
		i := left()
		i.ID = fmt.Sprintf("eni-%02d", k)
		i.Tags[TagCreated] = now.Add(-5*time.Hour + time.Duration(k)*time.Minute).Format(time.RFC3339)
		list = append(list, Judge(i, ground()))
	}
	return list
}

// seen are sightings of them by an earlier run.
func seen(list []Verdict) map[string]Sighting {
	m := map[string]Sighting{}
	for _, v := range list {
		m[v.Interface.ID] = Sighting{Interface: v.Interface.ID, First: now.Add(-15 * time.Minute), Print: Print(v.Interface), Version: 1}
	}
	return m
}

func rules() Rules {
	return Rules{
		Began: now, Ended: now.Add(10 * time.Second), Modes: func(string) Mode { return Delete }, Untagged: Report,
		Cap: 1000, Interfaces: 100, Share: 50,
	}
}

func ids(list []Verdict) []string {
	var out []string
	for _, v := range list {
		out = append(out, v.Interface.ID)
	}
	return out
}

func whys(p Plan) map[Reason]int {
	m := map[Reason]int{}
	for _, v := range p.Judged {
		m[v.Why]++
	}
	return m
}

func TestDecide(t *testing.T) {
	list := some(3)
	slices.Reverse(list)
	p := Decide(list, seen(list), rules())
	expect.Same(t, "oldest first", ids(p.Delete), []string{"eni-00", "eni-01", "eni-02"})
	if len(p.Ask)+len(p.Remember)+len(p.Forget) > 0 || p.Stopped != nil {
		t.Errorf("plan %+v", p)
	}
}

// What is right at its bound is deleted.
func TestDecideAtTheBounds(t *testing.T) {
	for name, bound := range map[string]func(list []Verdict, s map[string]Sighting, r *Rules){
		"seen long enough ago": func(_ []Verdict, s map[string]Sighting, r *Rules) {
			set(s, func(x *Sighting) { x.First = r.Began.Add(-Apart) })
		},
		"all of the VPC's, and it may": func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Interfaces, r.Share = 3, 100 },
		"the share to the interface":   func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Interfaces, r.Share = 4, 75 },
		"approved":                     func(list []Verdict, _ map[string]Sighting, r *Rules) { r.Only = approve(list) },
		"the cap to the interface":     func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Cap = 3 },
		// Only who asks is asked back.
		"asked for today, as long as it was only asked for": func(list []Verdict, _ map[string]Sighting, r *Rules) { r.Asked = approve(list) },
	} {
		list := some(3)
		s, r := seen(list), rules()
		bound(list, s, &r)
		if p := Decide(list, s, r); len(p.Delete) != 3 || len(p.Ask) > 0 || whys(p)[Leaked] != 3 {
			t.Errorf("%s: deletes %v, %v", name, ids(p.Delete), whys(p))
		}
	}
}

func approve(list []Verdict) map[string]bool {
	m := map[string]bool{}
	for _, v := range list {
		m[v.Interface.ID] = true
	}
	return m
}

// One above the share is over it, however many there are.
func TestDecideTheShareOfMany(t *testing.T) {
	list := some(100)
	r := rules()
	r.Interfaces, r.Share = 202, 50
	if p := Decide(list, seen(list), r); p.Stopped != nil {
		t.Errorf("100 of 202 are stopped at half: %+v", p.Stopped)
	}
	r.Interfaces, r.Share = 199, 50
	if p := Decide(list, seen(list), r); p.Stopped == nil || len(p.Delete) > 0 {
		t.Errorf("100 of 199 are not stopped at half: deletes %d", len(p.Delete))
	}
}

// What no rule lets be deleted does not stop the others, and one that is read
// in another state is not left behind for it.
func TestDecideCountsCandidatesAlone(t *testing.T) {
	list := some(4)
	list[2].Why, list[3].Why = InUse, OwnerLives
	r := rules()
	r.Interfaces, r.Share = 4, 50
	if p := Decide(list, seen(list), r); p.Stopped != nil || len(p.Delete) != 2 {
		t.Errorf("2 of 4 at half: stopped %+v, deletes %v", p.Stopped, ids(p.Delete))
	}
}

// What EC2 was asked about today says so.
func TestDecideAsksOnceADay(t *testing.T) {
	list := some(2)
	r := rules()
	r.Modes, r.Asked = func(string) Mode { return DryRun }, map[string]bool{"eni-00": true}
	p := Decide(list, seen(list), r)
	if diff := cmp.Diff([]string{"eni-01"}, ids(p.Ask)); diff != "" || whys(p)[AskedToday] != 1 || len(p.Delete) > 0 {
		t.Errorf("%v; to ask for (-want +got):\n%s", whys(p), diff)
	}
}

// Sightings to forget come in the order of their names, whatever the map's.
func TestDecideForgetsInOrder(t *testing.T) {
	s := map[string]Sighting{}
	var want []string
	for i := range 40 {
		id := fmt.Sprintf("eni-%02d", i)
		s[id] = Sighting{Interface: id, Version: 1}
		want = append(want, id)
	}
	var got []string
	for _, x := range Decide(nil, s, rules()).Forget {
		got = append(got, x.Interface)
	}
	expect.Same(t, "got", got, want)
}

// Only one rule is broken in each, and nothing is deleted.
func TestDecideHolds(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(list []Verdict, s map[string]Sighting, r *Rules)
		want  Reason
	}{
		{"in mode report", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Modes = func(string) Mode { return Report } }, NotOptedIn},
		{"in a mode that is not known", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Modes = func(string) Mode { return "DELETE" } }, NotOptedIn},
		{"in no mode", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Modes = func(string) Mode { return "" } }, NotOptedIn},
		{"another cluster opted in", func(_ []Verdict, _ map[string]Sighting, r *Rules) {
			r.Modes = func(c string) Mode { return map[string]Mode{"dev": Delete}[c] }
		}, NotOptedIn},
		{"never seen", func(_ []Verdict, s map[string]Sighting, _ *Rules) { clear(s) }, NotSeenBefore},
		{"seen by this run", func(_ []Verdict, s map[string]Sighting, _ *Rules) { set(s, func(x *Sighting) { x.First = now }) }, NotSeenBefore},
		{"seen by a run beside this one", func(_ []Verdict, s map[string]Sighting, _ *Rules) {
			set(s, func(x *Sighting) { x.First = now.Add(-Apart + time.Second) })
		}, NotSeenBefore},
		{"seen in the future", func(_ []Verdict, s map[string]Sighting, _ *Rules) {
			set(s, func(x *Sighting) { x.First = now.Add(time.Hour) })
		}, NotSeenBefore},
		{"seen in another state", func(_ []Verdict, s map[string]Sighting, _ *Rules) { set(s, func(x *Sighting) { x.Print = "other" }) }, NotSeenBefore},
		{"seen, and not written", func(_ []Verdict, s map[string]Sighting, _ *Rules) { set(s, func(x *Sighting) { x.Version = 0 }) }, NotSeenBefore},
		{"seen without a print", func(_ []Verdict, s map[string]Sighting, _ *Rules) { set(s, func(x *Sighting) { x.Print = "" }) }, NotSeenBefore},
		{"another run is at it", func(_ []Verdict, s map[string]Sighting, _ *Rules) {
			set(s, func(x *Sighting) { x.Deleting = &Audit{At: now.Add(-Lease + time.Second)} })
		}, Claimed},
		{"no cap", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Cap = 0 }, OverCap},
		{"a cap that others used", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Cap = -3 }, OverCap},
		{"over the share", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Interfaces = 5 }, OverShare},
		{"all of the VPC's", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Interfaces, r.Share = 2, 100 }, OverShare},
		{"more than the VPC has", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Interfaces, r.Share = 2, 1000 }, OverShare},
		{"others were approved", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Only = map[string]bool{"eni-99": true} }, NotOptedIn},
		{"none was approved", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Only = map[string]bool{} }, NotOptedIn},
		{"the VPC's interfaces were not counted", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Interfaces, r.Share = 0, 100 }, OverShare},
		{"no share", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Share = 0 }, OverShare},
		{"untagged, all in mode report", func(list []Verdict, _ map[string]Sighting, _ *Rules) {
			for i := range list {
				list[i].Cluster = ""
			}
		}, NotOptedIn},
	} {
		list := some(3)
		s, r := seen(list), rules()
		test.spoil(list, s, &r)
		p := Decide(list, s, r)
		if len(p.Delete)+len(p.Ask) > 0 || whys(p)[test.want] != 3 {
			t.Errorf("%s: deletes %v, asks %v, %v; want three that are %q", test.name, ids(p.Delete), ids(p.Ask), whys(p), test.want)
		}
	}
	// A verdict is a verdict: nothing here overrules it.
	for _, why := range []Reason{InUse, NotPlain, RequesterManaged, OtherAccount, OtherVPC, PublicAddress, NotByCNI, TagsDisagree, OwnerUnread, OwnerLives, NoDate, TooYoung, OtherCluster, Untagged, Strangers, HalfRead} {
		list := some(3)
		s := seen(list)
		for i := range list {
			list[i].Why = why
		}
		if p := Decide(list, s, rules()); len(p.Delete)+len(p.Ask) > 0 || whys(p)[why] != 3 {
			t.Errorf("%s: deletes %v", why, ids(p.Delete))
		}
	}
}

func set(s map[string]Sighting, change func(*Sighting)) {
	for id, x := range s {
		change(&x)
		s[id] = x
	}
}

func TestDecideWithinTheCap(t *testing.T) {
	list := some(6)
	r := rules()
	r.Cap = 4
	// The oldest are in mode dry-run: they do not keep others from being deleted.
	for i := range 3 {
		list[i].Cluster = "dev"
	}
	r.Modes = func(c string) Mode { return map[string]Mode{"dev": DryRun, "prod": Delete}[c] }
	p := Decide(list, seen(list), r)
	expect.Same(t, "to delete", ids(p.Delete), []string{"eni-03", "eni-04", "eni-05"})
	expect.Same(t, "to ask for", ids(p.Ask), []string{"eni-00"})
	if n := whys(p)[OverCap]; n != 2 {
		t.Errorf("%d over the cap", n)
	}
	r.Asked = map[string]bool{"eni-00": true}
	if p := Decide(list, seen(list), r); !slices.Equal(ids(p.Ask), []string{"eni-01"}) {
		t.Errorf("asks %v, want what was not asked for today", ids(p.Ask))
	}
}

func TestDecideUntagged(t *testing.T) {
	list := some(2)
	for i := range list {
		list[i].Cluster = ""
	}
	r := rules()
	r.Untagged = DryRun
	if p := Decide(list, seen(list), r); len(p.Ask) != 2 || len(p.Delete) > 0 {
		t.Errorf("deletes %v, asks %v", ids(p.Delete), ids(p.Ask))
	}
}

func TestDecideTheShare(t *testing.T) {
	list := some(10)
	for interfaces, stopped := range map[int]bool{20: false, 19: true, 21: false, 9: true, 10: true} {
		r := rules()
		r.Interfaces = interfaces
		p := Decide(list, seen(list), r)
		if (p.Stopped != nil) != stopped || stopped && *p.Stopped != (Stop{10, interfaces, 50}) {
			t.Errorf("10 of %d: stopped %+v", interfaces, p.Stopped)
		}
	}
	// Those that no earlier run saw count as well: so many at once is what stops it.
	r := rules()
	r.Interfaces = 12
	if p := Decide(list, seen(list[:2]), r); p.Stopped == nil || len(p.Delete) > 0 {
		t.Errorf("plan %+v", p)
	}
	// What no operator opted in for does not.
	r.Modes = func(string) Mode { return Report }
	if p := Decide(list, nil, r); p.Stopped != nil {
		t.Errorf("stopped %+v", p.Stopped)
	}
}

func TestDecideRemembers(t *testing.T) {
	list := some(6)
	s := seen(list)
	list[1].Why = InUse                                                          // in use again
	list[2].Why = OwnerUnread                                                    // neither here nor there
	list[3].Why = Untagged                                                       // left behind all the same
	delete(s, list[3].Interface.ID)                                              // and new
	x := s[list[4].Interface.ID]                                                 // touched
	x.Print, x.Version, x.Deleting = "other", 7, &Audit{At: now.Add(-time.Hour)} // and unsettled
	s[list[4].Interface.ID] = x
	y := s[list[5].Interface.ID] // another run is at it
	y.Print, y.Deleting = "other", &Audit{At: now}
	s[list[5].Interface.ID] = y
	s["eni-gone"] = Sighting{Interface: "eni-gone", Version: 3}
	s["eni-now"] = Sighting{Interface: "eni-now", Version: 3, Deleting: &Audit{At: now.Add(-time.Minute)}} // another run is deleting it
	for _, mode := range []Mode{Report, DryRun, Delete} {
		r := rules()
		r.Modes = func(string) Mode { return mode }
		p := Decide(list, s, r)
		want := []Sighting{
			{Interface: "eni-03", First: r.Ended, Print: Print(list[3].Interface)},
			{Interface: "eni-04", First: r.Ended, Print: Print(list[4].Interface), Version: 7},
		}
		expect.Same(t, fmt.Sprintf("%s: to remember", mode), p.Remember, want)
		expect.Same(t, fmt.Sprintf("%s: to forget", mode), p.Forget, []Sighting{s["eni-01"], s["eni-gone"]})
	}
}

// A clock that was ahead for one run holds nothing back for as long.
func TestDecideForgetsTheFuture(t *testing.T) {
	list, r := some(1), rules()
	s := seen(list)
	set(s, func(x *Sighting) { x.First = now.Add(365 * 24 * time.Hour) })
	p := Decide(list, s, r)
	want := []Sighting{{Interface: "eni-00", First: r.Ended, Print: Print(list[0].Interface), Version: s["eni-00"].Version}}
	if diff := cmp.Diff(want, p.Remember); diff != "" || len(p.Delete) > 0 {
		t.Errorf("deletes %v; to remember (-want +got):\n%s", ids(p.Delete), diff)
	}
}

func TestLeast(t *testing.T) {
	for _, test := range []struct {
		modes []Mode
		want  Mode
	}{
		{nil, Report},
		{[]Mode{Delete}, Delete},
		{[]Mode{Delete, Delete}, Delete},
		{[]Mode{Delete, DryRun, Delete}, DryRun},
		{[]Mode{DryRun, Delete}, DryRun},
		{[]Mode{Delete, Report}, Report},
		{[]Mode{Delete, ""}, Report},
		{[]Mode{"all", Delete}, Report},
	} {
		expect.Equal(t, fmt.Sprint(test.modes), Least(test.modes...), test.want)
	}
}

func TestPrint(t *testing.T) {
	same := left()
	slices.Reverse(same.PrivateIPs)
	if Print(same) != Print(left()) {
		t.Error("the order of addresses changes the print")
	}
	if n := len(Print(left())); n != 32 {
		t.Errorf("a print of %d digits, want 32: prints that are remembered would not fit", n)
	}
	for name, two := range map[string]func(i *snapshot.Interface, first, second int){
		"prefixes": func(i *snapshot.Interface, first, second int) {
			list := []netip.Prefix{netip.MustParsePrefix("10.42.2.0/28"), netip.MustParsePrefix("10.42.3.0/28")}
			i.Prefixes = []netip.Prefix{list[first], list[second]}
		},
		"prefixes of one address": func(i *snapshot.Interface, first, second int) {
			list := []netip.Prefix{netip.MustParsePrefix("10.42.0.0/28"), netip.MustParsePrefix("10.42.0.0/24")}
			i.Prefixes = []netip.Prefix{list[first], list[second]}
		},
		"IPv6 addresses": func(i *snapshot.Interface, first, second int) {
			list := []netip.Addr{netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::2")}
			i.IPv6 = []netip.Addr{list[first], list[second]}
		},
		"groups": func(i *snapshot.Interface, first, second int) {
			list := []string{"sg-1", "sg-2"}
			i.Groups = []string{list[first], list[second]}
		},
	} {
		one, other := left(), left()
		two(&one, 0, 1)
		two(&other, 1, 0)
		if Print(one) != Print(other) {
			t.Errorf("the order of %s changes the print", name)
		}
	}
	seen := map[string]string{Print(left()): "as it was"}
	for name, change := range map[string]func(*snapshot.Interface){
		"description":   func(i *snapshot.Interface) { i.Description += "x" },
		"creator":       func(i *snapshot.Interface) { i.Tags[TagInstance] = "i-0d0000000000000a1" },
		"date":          func(i *snapshot.Interface) { i.Tags[TagCreated] = "2026-11-20T14:00:01Z" },
		"cluster":       func(i *snapshot.Interface) { delete(i.Tags, TagCluster) },
		"another tag":   func(i *snapshot.Interface) { i.Tags["keep"] = "" },
		"subnet":        func(i *snapshot.Interface) { i.Subnet = "subnet-1" },
		"an address":    func(i *snapshot.Interface) { i.PrivateIPs = i.PrivateIPs[:1] },
		"a prefix":      func(i *snapshot.Interface) { i.Prefixes = []netip.Prefix{netip.MustParsePrefix("10.42.2.0/28")} },
		"an IPv6":       func(i *snapshot.Interface) { i.IPv6 = []netip.Addr{netip.MustParseAddr("fd00::1")} },
		"a group":       func(i *snapshot.Interface) { i.Groups = []string{"sg-1"} },
		"public":        func(i *snapshot.Interface) { i.PublicIP = netip.MustParseAddr("203.0.113.9") },
		"source check":  func(i *snapshot.Interface) { i.SourceCheck = false },
		"account":       func(i *snapshot.Interface) { i.Account = "999988887777" },
		"VPC":           func(i *snapshot.Interface) { i.VPC = "vpc-0ffffffffffffffff" },
		"kind":          func(i *snapshot.Interface) { i.Kind = "trunk" },
		"AWS's own now": func(i *snapshot.Interface) { i.RequesterManaged = true },
		"another":       func(i *snapshot.Interface) { i.ID = "eni-2" },
		"a tag's parts": func(i *snapshot.Interface) { i.Tags = map[string]string{TagInstance + owner: ""} },
	} {
		i := left()
		change(&i)
		if other, twice := seen[Print(i)]; twice {
			t.Errorf("%s: the same print as %s", name, other)
		}
		seen[Print(i)] = name
	}
	// The status is asked each time.
	i := left()
	i.Status = "in-use"
	if Print(i) != Print(left()) {
		t.Error("the status is in the print")
	}
}

func TestConfirm(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*snapshot.Interface)
		want   Reason
	}{
		{"as it was", func(*snapshot.Interface) {}, Leaked},
		{"attached meanwhile", func(i *snapshot.Interface) { i.Status, i.Attached, i.Instance = "in-use", true, "i-1" }, InUse},
		{"being attached", func(i *snapshot.Interface) { i.Attached = true }, InUse},
		{"on an instance", func(i *snapshot.Interface) { i.Instance = "i-1" }, InUse},
		{"tagged meanwhile", func(i *snapshot.Interface) { i.Tags["owner"] = "me" }, Changed},
		{"described otherwise", func(i *snapshot.Interface) { i.Description = "mine now" }, Changed},
		{"given another address", func(i *snapshot.Interface) { i.PrivateIPs = nil }, Changed},
		{"another interface", func(i *snapshot.Interface) { i.ID = "eni-2" }, Changed},
		{"half an answer", func(i *snapshot.Interface) { *i = snapshot.Interface{ID: i.ID} }, InUse},
	} {
		again := left()
		test.change(&again)
		expect.Equal(t, test.name, Confirm(&again, Judge(left(), ground())), test.want)
	}
	expect.Equal(t, "not there", Confirm(nil, Judge(left(), ground())), Gone)
	again, v := left(), Judge(left(), ground())
	v.Why = OverCap
	if got := Confirm(&again, v); got != OverCap {
		t.Errorf("what was held is %q when described again", got)
	}
}

// What is written ahead is its run's for a while, then anybody's to settle; a
// clock that was ahead does not make it longer.
func TestUnsettled(t *testing.T) {
	for _, test := range []struct {
		name   string
		at     time.Time
		settle bool
	}{
		{"just now", now, false},
		{"within the lease", now.Add(time.Second - Lease), false},
		{"after the lease", now.Add(-Lease), true},
		{"by a clock a little ahead", now.Add(Lease - time.Second), false},
		{"by a clock that is a year ahead", now.Add(365 * 24 * time.Hour), true},
		{"by a clock that is a year behind", now.Add(-365 * 24 * time.Hour), true},
	} {
		s := Sighting{Interface: "eni-1", Deleting: &Audit{At: test.at}}
		if got := s.Unsettled(now); got != test.settle || s.leased(now) == test.settle {
			t.Errorf("%s: to be settled %v, leased %v; want it settled: %v", test.name, got, s.leased(now), test.settle)
		}
	}
	if s := (Sighting{Interface: "eni-1"}); s.Unsettled(now) || s.leased(now) {
		t.Error("nothing was written ahead, and it counts as if")
	}
}
