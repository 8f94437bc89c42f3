package leak

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"rollcall/shared/snapshot"
)

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
	if got := Owner(left()); got != owner {
		t.Errorf("the description names %q", got)
	}
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

// Somebody has to see to what a node that is gone left behind, whether or not
// it may be deleted; of nothing else can it be told.
func TestDead(t *testing.T) {
	dead := []Reason{Leaked, Untagged, Strangers, OtherCluster}
	for _, why := range []Reason{
		Leaked, HalfRead, InUse, NotPlain, RequesterManaged, OtherAccount, OtherVPC, PublicAddress, NotByCNI, TagsDisagree, OwnerUnread,
		OwnerLives, NoDate, TooYoung, OtherCluster, Untagged, Strangers,
	} {
		if got := (Verdict{Why: why}).Dead(); got != slices.Contains(dead, why) {
			t.Errorf("%s: dead %v", why, got)
		}
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
