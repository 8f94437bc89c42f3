package gather

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/cloudtrail"
	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/trail"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/kubeapi"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/route53"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/expect"
)

// leaky is a world with interfaces in several states, and a reservation.
const leaky = `
ec2:
  NetworkInterfaces:
    - {NetworkInterfaceId: eni-0dead, SubnetId: subnet-0b20000000000000a, VpcId: vpc-0a1b2c3d4e5f60718, Status: available, Description: aws-K8S-i-0dead00000000dead, PrivateIpAddress: 10.42.96.20, PrivateIpAddresses: [{PrivateIpAddress: 10.42.96.20, Primary: true}, {PrivateIpAddress: 10.42.96.21}], TagSet: [{Key: node.k8s.amazonaws.com/instance_id, Value: i-0dead00000000dead}]}
    - {NetworkInterfaceId: eni-0live, SubnetId: subnet-0b20000000000000a, VpcId: vpc-0a1b2c3d4e5f60718, Status: available, Description: aws-K8S-i-0d0000000000000a1, PrivateIpAddress: 10.42.96.22}
    - {NetworkInterfaceId: eni-0root, SubnetId: subnet-0b20000000000000a, VpcId: vpc-0a1b2c3d4e5f60718, Status: available, PrivateIpAddress: 10.42.96.23, TagSet: [{Key: node.k8s.amazonaws.com/instance_id, Value: i-0beef00000000beef}]}
    - {NetworkInterfaceId: eni-0wild, SubnetId: subnet-0b20000000000000a, VpcId: vpc-0a1b2c3d4e5f60718, Status: available, PrivateIpAddress: 10.42.96.24, TagSet: [{Key: node.k8s.amazonaws.com/instance_id, Value: "i-*"}]}
  SubnetCidrReservations:
    - {SubnetCidrReservationId: scr-01, SubnetId: subnet-0b20000000000000a, Cidr: 10.42.97.0/28, ReservationType: prefix}
    - {SubnetCidrReservationId: scr-02, SubnetId: subnet-0b20000000000000b, Cidr: 10.42.129.0/28, ReservationType: explicit}
`

func countOf(p *place, name string) (n int) {
	for _, c := range p.aws.Calls() {
		if c.Operation == name {
			n++
		}
	}
	return n
}

func addressQuery(p *place, sources ...snapshot.Source) Query {
	return Query{
		Account: "111122223333", Region: "us-west-2", Time: p.world.Now(), Cluster: "eks-workshop",
		Scope: snapshot.Scope{Launchable: []string{"subnet-0b20000000000000a", "subnet-0gone"}}, Sources: sources,
	}
}

// One description of the VPC tells who holds addresses, and what is idle; the
// creators are asked for once, and a tag that is no id not at all.
func TestUsage(t *testing.T) {
	p := open(t, leaky)
	s, err := p.Read(t.Context(), addressQuery(p, snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf))
	if err != nil || len(s.Failures) > 0 {
		t.Fatal(err, s.Failures)
	}
	gathertest.Same(t, "idle", names(s.Idle, func(i snapshot.Interface) string { return i.ID }), []string{"eni-0dead", "eni-0live", "eni-0root", "eni-0wild"})
	gathertest.Same(t, "creators", s.Creators, []snapshot.Creator{{Instance: "i-0beef00000000beef"}, {Instance: "i-0d0000000000000a1", State: "running", Attached: true}, {Instance: "i-0dead00000000dead"}})
	gathertest.Same(t, "reservations", s.Reservations, []snapshot.Reservation{{ID: "scr-01", Subnet: "subnet-0b20000000000000a", CIDR: netip.MustParsePrefix("10.42.97.0/28")}})
	for action, want := range map[string]int{"DescribeNetworkInterfaces": 1, "DescribeInstances": 1, "GetSubnetCidrReservations": 1} {
		if got := countOf(p, action); got != want {
			t.Errorf("%d calls of %s, want %d", got, action, want)
		}
	}
	if i := slices.IndexFunc(s.Uses, func(u snapshot.Use) bool { return u.Subnet == "subnet-0b20000000000000a" }); i < 0 || s.Uses[i].Held < 5 || s.Uses[i].Kept != 16 {
		t.Errorf("uses %+v", s.Uses)
	}
}

// Who does not count asks for what is available alone.
func TestUnattachedAlone(t *testing.T) {
	p := open(t, leaky)
	s, err := p.Read(t.Context(), addressQuery(p, snapshot.CreatorsOf))
	if err != nil || len(s.Failures) > 0 || len(s.Idle) != 4 || len(s.Creators) != 3 || s.Has(snapshot.Usage) {
		t.Fatal(err, s.Failures, s.Idle, s.Creators)
	}
	if countOf(p, "DescribeNetworkInterfaces") != 1 || countOf(p, "GetSubnetCidrReservations") != 0 {
		t.Error("more was asked than for the unattached interfaces")
	}
}

// Several clusters of a VPC count it once in a sweep; a reservation that the
// first did not know makes the second count anew; the next sweep counts again.
func TestOneCountForASweep(t *testing.T) {
	p := open(t, leaky)
	all := []snapshot.Source{snapshot.Usage, snapshot.Unattached}
	look := func(r *Reader, subnet string) *snapshot.Snapshot {
		t.Helper()
		q := addressQuery(p, all...)
		q.Scope.Launchable = []string{subnet}
		s, err := r.Read(t.Context(), q)
		if err != nil || len(s.Failures) > 0 {
			t.Fatal(err, s.Failures)
		}
		return s
	}
	sweep := p.Counting()
	first := look(sweep, "subnet-0b20000000000000a")
	gathertest.Same(t, "the second cluster's", look(sweep, "subnet-0b20000000000000c").Uses, first.Uses)
	if n := countOf(p, "DescribeNetworkInterfaces"); n != 1 {
		t.Errorf("%d descriptions, want 1", n)
	}
	look(sweep, "subnet-0b20000000000000b")
	if n := countOf(p, "DescribeNetworkInterfaces"); n != 2 {
		t.Errorf("%d descriptions, want another for the reservation that was not known", n)
	}
	look(p.Counting(), "subnet-0b20000000000000a")
	look(p.Reader, "subnet-0b20000000000000a")
	look(p.Reader, "subnet-0b20000000000000a")
	if n := countOf(p, "DescribeNetworkInterfaces"); n != 5 {
		t.Errorf("%d descriptions, want one for each sweep, and for each look of a reader that remembers none", n)
	}
}

// A failed count fails both sources, with one call and its name; without the
// reservations nothing is counted, and what is idle is read all the same.
func TestCountThatFails(t *testing.T) {
	for action, want := range map[string][]snapshot.Source{
		"ec2:DescribeNetworkInterfaces": {snapshot.CreatorsOf, snapshot.Unattached, snapshot.Usage},
		"ec2:GetSubnetCidrReservations": {snapshot.CIDRsKept, snapshot.Usage},
		"ec2:DescribeSubnets":           {snapshot.CIDRsKept, snapshot.Subnets, snapshot.Usage},
	} {
		p := openFaulty(t, leaky, refuse(action), "")
		s, err := p.Read(t.Context(), addressQuery(p, snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf))
		expect.OK(t, err)
		var got []snapshot.Source
		for source := range s.Failures {
			got = append(got, source)
		}
		slices.Sort(got)
		slices.Sort(want)
		gathertest.Same(t, action+" refused", got, want)
		if n := countOf(p, "DescribeNetworkInterfaces"); n != 1 {
			t.Errorf("%s refused: %d descriptions, want 1", action, n)
		}
	}
}

// ENIConfigs do something only where custom networking is on.
func TestENIConfigsAreAskedForWhereTheyCount(t *testing.T) {
	for change, want := range map[string]int{"name: plain\n": 0, crowded: 1} {
		p := open(t, change)
		s, err := p.Read(t.Context(), addressQuery(p, snapshot.ENIConfigsOf))
		if err != nil || !s.Has(snapshot.ENIConfigsOf) || len(s.ENIConfigs) != want {
			t.Errorf("%v, %+v, %+v", err, s.ENIConfigs, s.Failures)
		}
		asked := 0
		for _, operation := range p.asked {
			if operation == "list eniconfigs" {
				asked++
			}
		}
		if asked != want {
			t.Errorf("asked %q, want ENIConfigs %d times", p.asked, want)
		}
	}
	// The lack of the permission is no fault: EKS's own policies do not give it.
	p := openFaulty(t, crowded, wire.NoFaults{}, "eniconfigs")
	s, err := p.Read(t.Context(), addressQuery(p, snapshot.ENIConfigsOf))
	if f := s.Failures[snapshot.ENIConfigsOf]; err != nil || f.Reason != snapshot.NotRead || !strings.Contains(f.Message, "deploy/clusterrole.yaml") {
		t.Errorf("%v, %+v", err, f)
	}
}

// pagesOfTrail is CloudTrail with a number of pages, and an error after them.
type pagesOfTrail struct {
	pages int
	err   error
	asked []cloudtrail.Input
}

func (p *pagesOfTrail) LookupEvents(_ context.Context, in *cloudtrail.Input) (*cloudtrail.Output, error) {
	p.asked = append(p.asked, *in)
	n := len(p.asked)
	if n > p.pages {
		return nil, p.err
	}
	out := &cloudtrail.Output{Events: []cloudtrail.Event{
		{ID: fmt.Sprint("e", n), Resources: []cloudtrail.Resource{{Type: "AWS::EC2::RouteTable", Name: "rtb-1"}},
			Record: fmt.Sprintf(`{"eventID":"e%d","eventTime":"2026-11-20T14:41:07Z","eventSource":"ec2.amazonaws.com","eventName":"DeleteRoute","userIdentity":{"type":"Root"}}`, n)},
		{ID: "read", ReadOnly: "true", Record: "no JSON, and never looked at"},
	}}
	if n < p.pages || p.err != nil {
		out.Next = fmt.Sprint("page", n+1)
	}
	return out, nil
}

func TestTrailRecords(t *testing.T) {
	denied := &smithy.OperationError{ServiceID: "CloudTrail", OperationName: "LookupEvents", Err: &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no"}}
	throttled := &smithy.OperationError{ServiceID: "CloudTrail", OperationName: "LookupEvents", Err: &smithy.GenericAPIError{Code: "ThrottlingException"}}
	for name, test := range map[string]struct {
		trails  *pagesOfTrail
		records int
		failed  *snapshot.Failure
	}{
		"two pages":              {&pagesOfTrail{pages: 2}, 2, nil},
		"too many pages":         {&pagesOfTrail{pages: 9}, 4, &snapshot.Failure{Call: "cloudtrail:LookupEvents", Reason: snapshot.NotRead, Message: "more than 200 records of DeleteRoute: the older were not read"}},
		"throttled after a page": {&pagesOfTrail{pages: 1, err: throttled}, 1, &snapshot.Failure{Call: "cloudtrail:LookupEvents", Reason: snapshot.Throttled, Code: "ThrottlingException"}},
		"denied":                 {&pagesOfTrail{err: denied}, 0, &snapshot.Failure{Call: "cloudtrail:LookupEvents", Reason: snapshot.Denied, Code: "AccessDeniedException", Message: "no"}},
	} {
		var waited time.Duration
		r := &TrailReader{trails: test.trails, global: globalRegion("us-west-2"), sleep: func(_ context.Context, d time.Duration) error { waited += d; return nil }}
		records, failed := r.Records(t.Context(), trail.Lookup{Call: "DeleteRoute"})
		if diff := cmp.Diff(test.failed, failed); diff != "" || len(records) != test.records {
			t.Errorf("%s: %d records, want %d; failure (-want +got):\n%s", name, len(records), test.records, diff)
		}
		if calls := len(test.trails.asked); waited != time.Duration(calls-1)*pace {
			t.Errorf("%s: waited %s between %d calls", name, waited, calls)
		}
		for _, rec := range records {
			if !cmp.Equal(rec.Asked, []trail.Text{{Field: trail.Listed, Value: "rtb-1"}}) {
				t.Errorf("%s: what CloudTrail lists is lost: %+v", name, rec)
			}
		}
	}
}

func TestTrailAsks(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	trails := &pagesOfTrail{pages: 1}
	r := &TrailReader{trails: trails, global: globalRegion("cn-northwest-1"), sleep: func(context.Context, time.Duration) error { return nil }}
	if _, failed := r.Records(t.Context(), trail.Lookup{Resource: "nodes", Global: true, Start: noon, End: noon.Add(time.Hour)}); failed != nil {
		t.Fatal(failed)
	}
	want := cloudtrail.Input{Attribute: cloudtrail.Attribute{Key: "ResourceName", Value: "nodes"}, Start: noon, End: noon.Add(time.Hour), Most: 50, Region: "cn-north-1"}
	expect.Same(t, "got", trails.asked[0], want)
	expect.Equal(t, "global regions", globalRegion("us-gov-east-1")+globalRegion("eu-west-1"), "us-gov-west-1us-east-1")
}

// Calls for instances come oldest first, as the bus would have brought them; what is
// no JSON is left out.
func TestLaunchCalls(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	trails := &pagesOfTrail{pages: 2}
	r := &TrailReader{trails: trails, sleep: func(context.Context, time.Duration) error { return nil }}
	records, failed := r.LaunchCalls(t.Context(), "CreateFleet", noon, noon.Add(time.Hour))
	if failed != nil || len(records) != 2 || !strings.Contains(string(records[0]), `"e2"`) || !strings.Contains(string(records[1]), `"e1"`) {
		t.Errorf("%s, %v, want both, the older first", records, failed)
	}
	want := cloudtrail.Input{Attribute: cloudtrail.Attribute{Key: "EventName", Value: "CreateFleet"}, Start: noon, End: noon.Add(time.Hour), Most: 50}
	expect.Same(t, "got", trails.asked[0], want)
	r.trails = &pagesOfTrail{pages: 9}
	r.asked = false
	records, failed = r.LaunchCalls(t.Context(), "CreateFleet", noon, noon.Add(time.Hour))
	if len(records) != 4 || failed == nil || failed.Message != "more than 200 records of CreateFleet: the older were not read" {
		t.Errorf("%d records, %+v, want those of four pages, and that there are more", len(records), failed)
	}
}

// What is granted is what is called, and no more.
func TestTrailPermission(t *testing.T) {
	expect.Same(t, "got", ReadTrail(), spec.Read{Actions: []string{"cloudtrail:LookupEvents"}, Resources: []string{"*"}})
}

func TestTrailGivesUp(t *testing.T) {
	stopped := errors.New("stopped")
	r := NewTrail(aws.Config{Region: "us-west-2"}, func(context.Context, time.Duration) error { return stopped })
	r.trails = &pagesOfTrail{pages: 3}
	records, failed := r.Records(t.Context(), trail.Lookup{Resource: "rtb-1"})
	if len(records) != 1 || failed == nil || strings.Contains(failed.Message, "older") {
		t.Errorf("%d records, %+v", len(records), failed)
	}
}

// TestTypeOfferings holds that the zones of the types that are asked for are read,
// and of all where none is: a type that no zone has is in neither.
func TestTypeOfferings(t *testing.T) {
	p := open(t, "ec2:\n  NotOffered: {us-west-2a: [m5.large, c5.large], us-west-2b: [c5.large], us-west-2c: [c5.large], us-west-2d: [c5.large]}\n")
	read := func(types ...string) []snapshot.TypeOffering {
		t.Helper()
		s, err := p.Read(t.Context(), Query{Account: "111122223333", Region: "us-west-2", Time: p.world.Now(), Cluster: "eks-workshop", Types: types, Sources: []snapshot.Source{snapshot.TypeOfferingsOf}})
		if err != nil || !s.Has(snapshot.TypeOfferingsOf) {
			t.Fatal(err, s.Failures)
		}
		return s.TypeOfferings
	}
	gathertest.Same(t, "offerings", read("m5.large", "c5.large", "m5.xlarge"), []snapshot.TypeOffering{
		{Type: "m5.large", Zones: []string{"us-west-2b", "us-west-2c"}}, {Type: "m5.xlarge", Zones: []string{"us-west-2a", "us-west-2b", "us-west-2c"}},
	})
	if n := len(read()); n < 40 {
		t.Errorf("%d types where none is named, want all of the world but one", n)
	}
}

const hiddenWorld = `
ec2:
  Instances:
    - {InstanceId: i-0a070000000000001, SubnetId: subnet-0b20000000000000a, Operator: {Managed: true, Principal: eks.amazonaws.com}, Tags: [{Key: kubernetes.io/cluster/eks-workshop, Value: owned}]}
`

// TestUnshown: of the instances that nodes and volumes name, those are noted that
// EC2 does not show though it was asked for managed ones; what the snapshot holds
// is not asked for, and neither is what is no id.
func TestUnshown(t *testing.T) {
	p := open(t, hiddenWorld)
	s := &snapshot.Snapshot{
		Instances: []snapshot.Instance{{ID: "i-0d0000000000000a1"}},
		Nodes: []snapshot.Node{
			{Name: "held", Instance: "i-0d0000000000000a1"}, {Name: "i-0a070000000000001", Instance: "i-0a070000000000001"},
			{Name: "ip-10-9-0-1", Instance: "i-0f00000000000f00d"}, {Name: "odd", Instance: "i-*"}, {Name: "fargate"},
		},
		Volumes: []snapshot.Volume{{ID: "vol-1", Attached: []string{"i-0d0000000000000b2", "i-0beef"}}},
	}
	p.Unshown(t.Context(), s, NamedByNodes(s))
	missing := func() []string { return slices.Sorted(maps.Keys(s.Missing[snapshot.Instances])) }
	gathertest.Same(t, "named by nodes and not shown", missing(), []string{"i-*", "i-0f00000000000f00d"})
	gathertest.Same(t, "why", s.Missing[snapshot.Instances]["i-0f00000000000f00d"], snapshot.Failure{
		Source: snapshot.Instances, Reason: snapshot.NotShown, Call: "ec2:DescribeInstances",
		Message: "node ip-10-9-0-1 names i-0f00000000000f00d, which EC2 does not show: it is hidden (an AWS service manages it), of another account, or gone",
	})
	s.Missing = nil
	p.Unshown(t.Context(), s, NamedByVolumes(s))
	gathertest.Same(t, "attached and not shown", missing(), []string{"i-0beef"})
	// Nothing is asked where nothing is named.
	before := len(p.aws.Calls())
	p.Unshown(t.Context(), s, nil)
	gathertest.Same(t, "calls for nothing", len(p.aws.Calls())-before, 0)
}

// TestSilentNodes: the node of an instance that has just ended is still there, and
// is not said to name what EC2 does not show; one that lingers is.
func TestSilentNodes(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	node := func(id, status string, ago time.Duration) snapshot.Node {
		return snapshot.Node{Name: "n" + id, Instance: id, Ready: snapshot.Condition{Status: status, Since: now.Add(-ago)}}
	}
	s := &snapshot.Snapshot{Time: now, Nodes: []snapshot.Node{
		node("i-1", "Unknown", 59*time.Minute), node("i-2", "Unknown", time.Hour), node("i-3", "True", time.Minute), node("i-4", "False", time.Minute), node("i-5", "", 0),
	}}
	gathertest.Same(t, "named", slices.Sorted(maps.Keys(NamedByNodes(s))), []string{"i-2", "i-3", "i-4", "i-5"})
}

// TestUnshownRefused: who may not ask does not say that an instance is hidden.
func TestUnshownRefused(t *testing.T) {
	p := openFaulty(t, "", refuse("ec2:DescribeInstances"), "")
	s := &snapshot.Snapshot{Nodes: []snapshot.Node{{Name: "n", Instance: "i-0d0000000000000a1"}}}
	p.Unshown(t.Context(), s, NamedByNodes(s))
	f, lacks := s.Lacks(snapshot.Instances, "i-0d0000000000000a1")
	if !lacks || f.Reason != snapshot.Denied || f.Call != "ec2:DescribeInstances" {
		t.Errorf("failure %+v (%v), want ec2:DescribeInstances denied", f, lacks)
	}
}

// volumeOf is a volume of a world file.
func volumeOf(id, zone string, tags ...string) string {
	var list []string
	for _, t := range tags {
		key, value, _ := strings.Cut(t, "=")
		list = append(list, fmt.Sprintf("{Key: %q, Value: %q}", key, value))
	}
	return fmt.Sprintf("    - {VolumeId: %s, AvailabilityZone: %s, State: available, VolumeType: gp3, Size: 8, Tags: [%s]}\n", id, zone, strings.Join(list, ", "))
}

const (
	ofDriver = "ebs.csi.aws.com/cluster=true"
	ofClaim  = "kubernetes.io/created-for/pvc/name=redis"
	ofSpace  = "kubernetes.io/created-for/pvc/namespace=redash"
	ofCSI    = "CSIVolumeName=pvc-1"
)

// TestVolumesOfOthersAreLeftOut: what names another cluster, several, or none,
// is not counted, whatever else it says, unless a PersistentVolume names it.
func TestVolumesOfOthersAreLeftOut(t *testing.T) {
	p := open(t, "ec2:\n  Volumes:\n"+
		volumeOf("vol-0other", "us-west-2c", "kubernetes.io/cluster/other=owned", ofDriver, ofClaim, ofSpace, ofCSI)+
		volumeOf("vol-0nobody", "us-west-2c", ofDriver, ofClaim, ofSpace, ofCSI)+
		volumeOf("vol-0two", "us-west-2c", "kubernetes.io/cluster/other=owned", "kubernetes.io/cluster/eks-workshop=owned", ofCSI)+
		volumeOf("vol-0longer", "us-west-2c", "kubernetes.io/cluster/eks-workshop-2=owned", ofCSI)+
		volumeOf("vol-0legacyother", "us-west-2c", "KubernetesCluster=other", ofClaim, ofSpace)+
		volumeOf("vol-0root", "us-west-2c", "kubernetes.io/cluster/eks-workshop=owned", "eks:nodegroup-name=x")+
		volumeOf("vol-0bare", "us-west-2c")+
		volumeOf("vol-0ours", "us-west-2c", "kubernetes.io/cluster/eks-workshop=owned", ofDriver, ofClaim, ofSpace, ofCSI)+
		volumeOf("vol-0legacy", "us-west-2a", "KubernetesCluster=eks-workshop", ofClaim, ofSpace)+
		volumeOf("vol-0auto", "us-west-2b", "eks:eks-cluster-name=eks-workshop", ofCSI)+
		volumeOf("vol-0byhand", "us-west-2b")+
		volumeOf("vol-0moved", "us-west-2b", "kubernetes.io/cluster/old=owned", ofCSI)+`
kubernetes:
  eks-workshop:
    PersistentVolumes:
      - {metadata: {name: by-hand}, spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0byhand}}, status: {phase: Bound}}
      - {metadata: {name: moved}, spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0moved}}, status: {phase: Bound}}
      - {metadata: {name: deleted}, spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0deleted}}, status: {phase: Released}}
      - {metadata: {name: files}, spec: {csi: {driver: efs.csi.aws.com, volumeHandle: fs-0a}}, status: {phase: Bound}}
`)
	s, _ := whole(t, p)
	got := names(s.Volumes, func(v snapshot.Volume) string { return v.ID })
	want := []string{"vol-0auto", "vol-0byhand", "vol-0legacy", "vol-0moved", "vol-0ours"}
	expect.Same(t, "volumes", got, want)
	i := slices.IndexFunc(s.Volumes, func(v snapshot.Volume) bool { return v.ID == "vol-0ours" })
	if v := s.Volumes[i]; v.Zone != "us-west-2c" || v.Claim() != "redash/redis" || v.State != "available" || v.GiB != 8 {
		t.Errorf("volume %+v", v)
	}
}

// TestVolumesWithoutKubernetes: the tags alone tell.
func TestVolumesWithoutKubernetes(t *testing.T) {
	p := openFaulty(t, "ec2:\n  Volumes:\n"+
		volumeOf("vol-0ours", "us-west-2c", "kubernetes.io/cluster/eks-workshop=owned", ofCSI)+
		volumeOf("vol-0byhand", "us-west-2b")+
		"kubernetes:\n  eks-workshop:\n    PersistentVolumes:\n      - {metadata: {name: by-hand}, spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0byhand}}}\n",
		nil, "persistentvolumes")
	s, _ := whole(t, p)
	if got := names(s.Volumes, func(v snapshot.Volume) string { return v.ID }); !slices.Equal(got, []string{"vol-0ours"}) || !s.Has(snapshot.VolumesOf) {
		t.Errorf("volumes %q, failure %+v", got, s.Failures[snapshot.VolumesOf])
	}
	if f := s.Failures[snapshot.PersistentVolumes]; f.Reason != snapshot.Denied || f.Call != "kubernetes: list persistentvolumes" {
		t.Errorf("failure %+v", f)
	}
}

// TestManyVolumes: pages of 500, and other clusters' volumes are dropped.
func TestManyVolumes(t *testing.T) {
	var text strings.Builder
	text.WriteString("ec2:\n  Volumes:\n")
	for i := range 1300 {
		cluster := "eks-workshop"
		if i%2 == 0 {
			cluster = "other"
		}
		text.WriteString(volumeOf(fmt.Sprintf("vol-%05d", i), "us-west-2a", "KubernetesCluster="+cluster, ofCSI))
	}
	p := open(t, text.String())
	s, _ := whole(t, p)
	calls := 0
	for _, c := range p.aws.Calls() {
		if c.Action() == "ec2:DescribeVolumes" {
			calls++
		}
	}
	if len(s.Volumes) != 650 || calls != 3 {
		t.Errorf("%d volumes in %d calls, want 650 in 3", len(s.Volumes), calls)
	}
}

func TestVPCsOfALook(t *testing.T) {
	nodes := func(vpcs ...string) *snapshot.Snapshot {
		s := &snapshot.Snapshot{Cluster: snapshot.Cluster{VPC: "vpc-0a"}}
		for i, vpc := range vpcs {
			id := "i-" + string(rune('a'+i))
			s.Instances = append(s.Instances, snapshot.Instance{ID: id, VPC: vpc})
			s.Scope.Instances = append(s.Scope.Instances, id)
		}
		return s
	}
	gathertest.Same(t, "nodes of the cluster's VPC", vpcsOf(nodes("vpc-0a", "", "vpc-0a"), Query{}), []string{"vpc-0a"})
	gathertest.Same(t, "nodes of another VPC", vpcsOf(nodes("vpc-0b", "vpc-0a", "vpc-0b"), Query{}), []string{"vpc-0a", "vpc-0b"})
	gathertest.Same(t, "no more than can be looked into", vpcsOf(nodes("vpc-0b", "vpc-0c", "vpc-0d", "vpc-0e"), Query{}), []string{"vpc-0a", "vpc-0b", "vpc-0c", "vpc-0d"})
	strangers := nodes("vpc-0b")
	strangers.Scope.Instances = nil
	gathertest.Same(t, "instances beside the scope", vpcsOf(strangers, Query{}), []string{"vpc-0a"})
	blind := nodes("vpc-0b")
	blind.Cluster.VPC = ""
	gathertest.Same(t, "the cluster could not be read", vpcsOf(blind, Query{VPC: "vpc-0q"}), []string{"vpc-0q", "vpc-0b"})
	gathertest.Same(t, "no VPC is known", vpcsOf(blind, Query{}), []string(nil))
}

// place is a world with its servers, and the real reader in front of them.
type place struct {
	*Reader
	aws   *wire.Server
	world *world.World
	mu    sync.Mutex
	asked []string // of the Kubernetes API, those without its discovery
}

// open makes a world of a change to one of the repository's worlds. The reader
// has the rights of the manifest in the cluster, and no others.
func open(t *testing.T, change string) *place {
	t.Helper()
	return openFaulty(t, change, wire.NoFaults{}, "")
}

// openFaulty makes a world whose AWS calls meet faults, and in whose cluster
// the reader lacks the right to a resource.
func openFaulty(t *testing.T, change string, faults wire.Faults, without string) *place {
	t.Helper()
	return start(t, load(t, change), faults, without)
}

// load reads a change to one of the repository's worlds.
func load(t *testing.T, change string) *worldfile.File {
	t.Helper()
	worlds, err := filepath.Abs("../../stage/worlds")
	expect.OK(t, err)
	dir := t.TempDir()
	base, err := filepath.Rel(dir, filepath.Join(worlds, "route.yaml"))
	expect.OK(t, err)
	path := filepath.Join(dir, "world.yaml")
	expect.OK(t, os.WriteFile(path, []byte("extends: "+base+"\n"+change), 0o600))
	file, err := worldfile.Load(path)
	expect.OK(t, err)
	return file
}

func start(t *testing.T, file *worldfile.File, faults wire.Faults, without string) *place {
	t.Helper()
	w, err := world.New(file, world.Options{Seed: 1})
	expect.OK(t, err)
	p := &place{world: w}
	endpoint, ca := p.kubernetes(t, without)
	p.Reader, p.aws = faulty(t, func(s *wire.Server) {
		for service, api := range w.Services() {
			wire.HandleMethods(s, service, api, "DescribeCluster")
		}
		r := w.API()
		simaws.HandleHostedZones(s, r)
		simaws.HandleProfiles(s, r)
		simaws.HandleZonalShift(s, r)
		resolve(s, "ListFirewallRuleGroupAssociations", r.ListFirewallRuleGroupAssociations)
		resolve(s, "ListFirewallRules", r.ListFirewallRules)
		resolve(s, "ListFirewallDomains", r.ListFirewallDomains)
		resolve(s, "ListResolverRules", r.ListResolverRules)
		resolve(s, "ListResolverRuleAssociations", r.ListResolverRuleAssociations)
		wire.Handle(s, "eks", "DescribeCluster", answer(func(in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
			out, err := w.EKS().DescribeCluster(in)
			if err == nil {
				out.Cluster.Endpoint = aws.String(endpoint)
				out.Cluster.CertificateAuthority = &ekstypes.Certificate{Data: aws.String(base64.StdEncoding.EncodeToString(ca))}
			}
			return out, err
		}))
	}, faults)
	return p
}

// resolve serves an operation of Route 53 Resolver.
func resolve(s *wire.Server, operation string, api func(*route53.ResolverInput) (json.RawMessage, error)) {
	wire.HandlePlain(s, "route53resolver", operation, func(_ context.Context, _ *wire.Call, in *route53.ResolverInput) (json.RawMessage, error) {
		return api(in)
	})
}

// kubernetes starts the API of the world's cluster.
func (p *place) kubernetes(t *testing.T, without string) (endpoint string, ca []byte) {
	t.Helper()
	authority, err := kubeapi.NewAuthority(time.Now())
	expect.OK(t, err)
	user := kubeapi.User{Name: "rollcall"}
	for _, r := range KubeRules(snapshot.All()...) {
		if r.Resources[0] == without {
			continue
		}
		rule := kubeapi.Rule{Groups: []string{r.Group}, Resources: r.Resources, Verbs: r.Verbs, Names: r.Names}
		if r.Namespace != "" {
			rule.Namespaces = []string{r.Namespace}
		}
		user.Rules = append(user.Rules, rule)
	}
	api := httptest.NewUnstartedServer(kubeapi.New(kubeapi.Config{
		Version:      "1.34",
		Authenticate: func(context.Context, string) (kubeapi.User, error) { return user, nil },
		Objects: func(plural string) ([]json.RawMessage, string, error) {
			list, err := p.world.Kubernetes("eks-workshop", plural)
			if errors.Is(err, kubestate.ErrNoKind) {
				return nil, "", kubeapi.NotInstalled()
			}
			return list.Items, list.ResourceVersion, err
		},
		Faults: wire.NoFaults{},
		Record: func(c wire.Call) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.asked = append(p.asked, c.Operation)
		},
		Now: p.world.Now, Wall: time.Now,
	}))
	if api.TLS, err = authority.ServerTLS(); err != nil {
		t.Fatal(err)
	}
	api.StartTLS()
	t.Cleanup(api.Close)
	return api.URL, authority.PEM()
}

// TestWrittenTypes: names that a user wrote are described as far as they are types,
// and do not keep the others from being described.
func TestWrittenTypes(t *testing.T) {
	p := open(t, "")
	s, err := p.Read(t.Context(), Query{
		Account: "111122223333", Region: "us-west-2", Time: p.world.Now(), Cluster: "eks-workshop", Sources: []snapshot.Source{snapshot.InstanceTypes},
		Types: []string{"m5.large"}, WrittenTypes: []string{"m5.extra-large", "m5.large", "c5.large"},
	})
	expect.OK(t, err)
	got := names(s.InstanceTypes, func(x snapshot.InstanceType) string { return x.Name })
	if f, failed := s.Failures[snapshot.InstanceTypes]; failed || !slices.Equal(got, []string{"c5.large", "m5.large"}) {
		t.Errorf("types %q, failed %v: %s", got, failed, f.Reason)
	}
}

// denying refuses one operation.
type denying string

func (d denying) Before(_ context.Context, call *wire.Call) error {
	if call.Operation == string(d) {
		return wire.Denied
	}
	return nil
}

// TestZonalShifts holds which shifts are read, and by how many calls: none where zonal
// shift is off, and the list of resources only while AWS has shifted something.
func TestZonalShifts(t *testing.T) {
	const (
		on      = "eks: {clusters: [{name: eks-workshop, zonalShiftConfig: {enabled: true}}]}\n"
		groupOn = `autoscaling: {AutoScalingGroups: [{AutoScalingGroupName: eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f, AutoScalingGroupARN: "` + groupARN + `", AvailabilityZoneImpairmentPolicy: {ZonalShiftEnabled: true}}]}` + "\n"
		times   = "startTime: 2026-11-20T14:00:00Z, expiryTime: 2026-11-20T20:00:00Z"
		shift   = `{zonalShiftId: z-01, resourceIdentifier: "arn:aws:eks:us-west-2:111122223333:cluster/eks-workshop", awayFrom: usw2-az1, ` + times + `}`
		other   = `{zonalShiftId: z-02, resourceIdentifier: "arn:aws:eks:us-west-2:111122223333:cluster/other", awayFrom: usw2-az1, ` + times + `}`
		ofGroup = `{zonalShiftId: z-03, resourceIdentifier: "` + groupARN + `", awayFrom: usw2-az2, shiftType: PRACTICE_RUN, ` + times + `}`
		over    = `{zonalShiftId: z-04, resourceIdentifier: "arn:aws:eks:us-west-2:111122223333:cluster/eks-workshop", awayFrom: usw2-az1, startTime: 2026-11-20T12:00:00Z, expiryTime: 2026-11-20T13:00:00Z}`
		shifts  = "arcZonalShift: {ZonalShifts: [" + shift + ", " + other + ", " + ofGroup + ", " + over + "]}\n"
		auto    = "arcZonalShift: {Autoshifts: [{awayFrom: usw2-az3, startTime: 2026-11-20T14:30:00Z}]}\n"
	)
	failed := func(source snapshot.Source, call string) map[snapshot.Source]string {
		return map[snapshot.Source]string{source: call}
	}
	for _, tt := range []struct {
		name, change string
		denied       denying
		want         []string
		calls        int
		failed       map[snapshot.Source]string
	}{
		{name: "off", change: shifts},
		{name: "on, nothing shifted", change: on, calls: 2},
		{name: "of the cluster", change: on + shifts, want: []string{"usw2-az1 ZONAL_SHIFT"}, calls: 2},
		{name: "of a group", change: groupOn + shifts, want: []string{groupName + " usw2-az2 PRACTICE_RUN"}, calls: 2},
		{name: "of both", change: on + groupOn + shifts, want: []string{"usw2-az1 ZONAL_SHIFT", groupName + " usw2-az2 PRACTICE_RUN"}, calls: 2},
		{name: "autoshift", change: on + auto, want: []string{"usw2-az3 ZONAL_AUTOSHIFT"}, calls: 3},
		{name: "autoshift, which is off for the group", change: groupOn + auto, calls: 3},
		{name: "refused", change: on + shifts, denied: "ListZonalShifts", calls: 2, failed: failed(snapshot.ZonalShifts, "arc-zonal-shift:ListZonalShifts")},
		{name: "autoshifts refused", change: on + shifts, denied: "ListAutoshifts", want: []string{"usw2-az1 ZONAL_SHIFT"}, calls: 2, failed: failed(snapshot.AutoshiftsOf, "arc-zonal-shift:ListAutoshifts")},
		{name: "resources refused", change: on + auto, denied: "ListManagedResources", calls: 3, failed: failed(snapshot.AutoshiftsOf, "arc-zonal-shift:ListManagedResources")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := openFaulty(t, tt.change, tt.denied, "")
			q := broughtBy(t, p)
			q.Sources = []snapshot.Source{snapshot.ZonalShifts, snapshot.AutoshiftsOf}
			s, err := p.Read(t.Context(), q)
			expect.OK(t, err)
			gathertest.Same(t, "shifts", names(append(s.Shifts, s.Autoshifts...), func(x snapshot.Shift) string {
				if x.Group != "" {
					return x.Group + " " + x.ZoneID + " " + string(x.Kind)
				}
				return x.ZoneID + " " + string(x.Kind)
			}), tt.want)
			gathertest.Same(t, "calls", countOf(p, "ListZonalShifts")+countOf(p, "ListAutoshifts")+countOf(p, "ListManagedResources"), tt.calls)
			for _, source := range q.Sources {
				if f := s.Failures[source]; f.Call != tt.failed[source] || f.Call != "" && f.Reason != snapshot.Denied {
					t.Errorf("%s: %+v, want %q", source, f, tt.failed[source])
				}
			}
		})
	}
}

const (
	groupName = "eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"
	groupARN  = "arn:aws:autoscaling:us-west-2:111122223333:autoScalingGroup:0000:autoScalingGroupName/" + groupName
)
