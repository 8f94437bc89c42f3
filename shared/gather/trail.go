package gather

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"rollcall/shared/checks/check"
	"rollcall/shared/cloudtrail"
	gatherasg "rollcall/shared/gather/autoscaling"
	gatherec2 "rollcall/shared/gather/ec2"
	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/gather/vpc"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/trail"
)

// Trails looks up who changed what.
type Trails interface {
	LookupEvents(context.Context, *cloudtrail.Input) (*cloudtrail.Output, error)
}

var _ Trails = (*cloudtrail.Client)(nil)

// ReadTrail is the permission of TrailReader. It takes no resource.
func ReadTrail() spec.Read {
	return spec.Read{Actions: []string{"cloudtrail:LookupEvents"}, Resources: []string{"*"}}
}

// TrailReader reads CloudTrail's records of the last 90 days.
type TrailReader struct {
	trails Trails
	global string
	sleep  func(context.Context, time.Duration) error
	asked  bool
}

const (
	// pace is between two calls. CloudTrail takes two a second of an account and
	// region; two of our invocations at once leave others a part of them.
	pace = 1100 * time.Millisecond
	// trailPage is the largest page (LookupEvents, MaxResults).
	trailPage = 50
	// trailPages bounds one lookup: the newest 200 records of a name.
	trailPages = 4
)

// NewTrail makes a reader. It waits by sleep, in whatever time that is.
func NewTrail(cfg aws.Config, sleep func(context.Context, time.Duration) error) *TrailReader {
	return &TrailReader{trails: cloudtrail.New(cfg), global: globalRegion(cfg.Region), sleep: sleep}
}

// globalRegion is where the calls to global services, IAM's among them, are
// recorded.
func globalRegion(region string) string {
	switch spoke.Partition(region) {
	case "aws-cn":
		return "cn-north-1"
	case "aws-us-gov":
		return "us-gov-west-1"
	}
	return "us-east-1"
}

// ErrManyRecords: there are more records than are read; the older are missing.
var ErrManyRecords = errors.New("there are more records than are read")

// Records are the write calls that a lookup gives, the newest first. What was
// read before something failed is given too.
func (t *TrailReader) Records(ctx context.Context, l trail.Lookup) ([]trail.Record, *snapshot.Failure) {
	records, err := t.records(ctx, l)
	if err == nil {
		return records, nil
	}
	return records, trailFailure(err, l.Resource+l.Call)
}

func (t *TrailReader) records(ctx context.Context, l trail.Lookup) ([]trail.Record, error) {
	in := &cloudtrail.Input{Attribute: cloudtrail.Attribute{Key: "ResourceName", Value: l.Resource}, Start: l.Start, End: l.End, Most: trailPage}
	if l.Call != "" {
		in.Attribute = cloudtrail.Attribute{Key: "EventName", Value: l.Call}
	}
	if l.Global {
		in.Region = t.global
	}
	var list []trail.Record
	err := t.each(ctx, in, func(e cloudtrail.Event) error {
		if e.ReadOnly == "true" {
			return nil
		}
		r, err := trail.Decode([]byte(e.Record))
		if err != nil {
			return fmt.Errorf("record %s: %w", e.ID, err)
		}
		for _, named := range e.Resources {
			r.Asked = append(r.Asked, trail.Text{Field: trail.Listed, Value: named.Name})
		}
		list = append(list, r)
		return nil
	})
	return list, err
}

// each gives the events of the pages of a lookup, the newest first.
func (t *TrailReader) each(ctx context.Context, in *cloudtrail.Input, do func(cloudtrail.Event) error) error {
	for range trailPages {
		if t.asked {
			if err := t.sleep(ctx, pace); err != nil {
				return err
			}
		}
		t.asked = true
		page, err := t.trails.LookupEvents(ctx, in)
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			if err := do(e); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		if page.Next == in.Next {
			return source.ErrHalf // the same page for ever
		}
		in.Next = page.Next
	}
	return ErrManyRecords
}

// LaunchCalls are the records of one call for instances (CreateFleet, RunInstances)
// since a time, oldest first, as CloudTrail has them: what the bus would have brought.
// What was read before something failed is given too.
func (t *TrailReader) LaunchCalls(ctx context.Context, call string, since, now time.Time) ([]json.RawMessage, *snapshot.Failure) {
	in := &cloudtrail.Input{Attribute: cloudtrail.Attribute{Key: "EventName", Value: call}, Start: since, End: now, Most: trailPage}
	var list []json.RawMessage
	err := t.each(ctx, in, func(e cloudtrail.Event) error {
		if json.Valid([]byte(e.Record)) {
			list = append(list, json.RawMessage(e.Record))
		}
		return nil
	})
	slices.Reverse(list)
	if err != nil {
		return list, trailFailure(err, call)
	}
	return list, nil
}

// trailFailure is why a lookup could not be made in full. It is of the source "", as
// no check hangs on it.
func trailFailure(err error, of string) *snapshot.Failure {
	f := source.Source{Calls: []source.Call{{Action: "cloudtrail:LookupEvents"}}}.Failure(err)
	if errors.Is(err, ErrManyRecords) {
		f.Reason, f.Message = snapshot.NotRead, fmt.Sprintf("more than %d records of %s: the older were not read", trailPage*trailPages, of)
	}
	return f
}

// Find reads the instances with the given ids, and the live ones of the given
// Auto Scaling groups.
func (r *Reader) Find(ctx context.Context, ids, groupNames []string) ([]snapshot.Instance, *snapshot.Failure) {
	var found []snapshot.Instance
	if len(groupNames) > 0 {
		list, err := gatherec2.ByFilter(ctx, r.ec2, "tag:aws:autoscaling:groupName", groupNames, gatherec2.Live())
		if err != nil {
			return nil, known(snapshot.Instances).Failure(err)
		}
		found = list
	}
	missing := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(found, func(in snapshot.Instance) bool { return in.ID == id })
	})
	if len(missing) > 0 {
		list, err := gatherec2.ByID(ctx, r.ec2, missing)
		if err != nil {
			return nil, known(snapshot.Instances).Failure(err)
		}
		found = append(found, list...)
	}
	return source.Sorted(found, func(in snapshot.Instance) string { return in.ID }), nil
}

// FindTagged reads the live instances that carry the cluster's tag.
func (r *Reader) FindTagged(ctx context.Context, cluster string) ([]snapshot.Instance, *snapshot.Failure) {
	list, err := gatherec2.ByFilter(ctx, r.ec2, "tag-key", []string{"kubernetes.io/cluster/" + cluster}, gatherec2.Live())
	if err != nil {
		return nil, known(snapshot.Instances).Failure(err)
	}
	return source.Sorted(list, func(in snapshot.Instance) string { return in.ID }), nil
}

// Groups reads Auto Scaling groups by name.
func (r *Reader) Groups(ctx context.Context, names []string) ([]snapshot.Group, *snapshot.Failure) {
	if len(names) == 0 {
		return nil, nil
	}
	list, err := gatherasg.GroupsNamed(ctx, r.autoscaling, names)
	if err != nil {
		return nil, known(snapshot.Groups).Failure(err)
	}
	return source.Sorted(list, func(g snapshot.Group) string { return g.Name }), nil
}

// FindTaggedAll reads the instances that carry the cluster's tag in whatever
// state: EC2 describes one that has ended for about an hour, with its tags.
func (r *Reader) FindTaggedAll(ctx context.Context, cluster string) ([]snapshot.Instance, *snapshot.Failure) {
	list, err := gatherec2.ByFilter(ctx, r.ec2, "tag-key", []string{"kubernetes.io/cluster/" + cluster})
	if err != nil {
		return nil, known(snapshot.Instances).Failure(err)
	}
	return source.Sorted(list, func(in snapshot.Instance) string { return in.ID }), nil
}

// FindIn reads the instances of a VPC in whatever state, tagged or not. One
// that is terminated has left its VPC: of those only FindTaggedAll and Find
// know.
func (r *Reader) FindIn(ctx context.Context, vpc string) ([]snapshot.Instance, *snapshot.Failure) {
	if vpc == "" {
		return nil, known(snapshot.Instances).Failure(source.ErrNoVPC)
	}
	list, err := gatherec2.ByFilter(ctx, r.ec2, "vpc-id", []string{vpc})
	if err != nil {
		return nil, known(snapshot.Instances).Failure(err)
	}
	return source.Sorted(list, func(in snapshot.Instance) string { return in.ID }), nil
}

// GroupsOf reads the Auto Scaling groups that are tagged as the cluster's: by
// the tags of Kubernetes, which self-managed groups carry, and by that of EKS.
func (r *Reader) GroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure) {
	if cluster == "" {
		return nil, nil
	}
	list, err := gatherasg.GroupsOf(ctx, r.autoscaling, cluster)
	if err != nil {
		return nil, known(snapshot.Groups).Failure(err)
	}
	return list, nil
}

// FindGrouped reads the instances of Auto Scaling groups in whatever state:
// one that has ended keeps the tag of its group for about an hour.
func (r *Reader) FindGrouped(ctx context.Context, groups []string) ([]snapshot.Instance, *snapshot.Failure) {
	if len(groups) == 0 {
		return nil, nil
	}
	list, err := gatherec2.ByFilter(ctx, r.ec2, "tag:"+gatherec2.GroupTag, groups)
	if err != nil {
		return nil, known(snapshot.Instances).Failure(err)
	}
	return source.Sorted(list, func(in snapshot.Instance) string { return in.ID }), nil
}

// InterfacesByID describes interfaces again, by their ids: those that are
// there, sorted. A filter rather than the id parameter: one id that EC2 does
// not know would make it refuse the whole request.
func (r *Reader) InterfacesByID(ctx context.Context, ids []string) ([]snapshot.Interface, *snapshot.Failure) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	var all []snapshot.Interface
	for chunk := range slices.Chunk(ids, ec2api.MaxFilterValues) {
		list, err := vpc.DescribeInterfaces(ctx, r.ec2, ec2api.AnyOf("network-interface-id", chunk))
		if err != nil {
			return nil, known(snapshot.Interfaces).Failure(err)
		}
		all = append(all, list...)
	}
	return source.Unique(all, func(x snapshot.Interface) string { return x.ID }), nil
}

// InterfacesWith describes all network interfaces that have one of the security
// groups, whatever they are attached to and in whichever VPC.
func (r *Reader) InterfacesWith(ctx context.Context, groups []string) ([]snapshot.Interface, *snapshot.Failure) {
	if len(groups) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	list, err := vpc.DescribeInterfaces(ctx, r.ec2, ec2api.AnyOf("group-id", groups))
	if err != nil {
		return nil, known(snapshot.Interfaces).Failure(err)
	}
	return list, nil
}

// LaunchSources is what a look at a launch reads: what its checks need, and
// what tells whose instance it is. Nothing of it is Kubernetes': who looks at
// launches has no access to clusters, and so to no NodeClass. Nor has a launch written a
// console yet, or an image that EC2 lists no more.
func LaunchSources(list []check.Check) []snapshot.Source {
	left := map[snapshot.Source]bool{snapshot.Consoles: true, snapshot.LaunchedImagesOf: true, snapshot.ClassAccess: true}
	for _, s := range catalogue() {
		left[s.Name] = left[s.Name] || s.OfKubernetes()
	}
	all := union(list, snapshot.Instances, snapshot.Clusters, snapshot.Groups, snapshot.Activities, snapshot.Nodegroups, snapshot.UserDataOf)
	return slices.DeleteFunc(all, func(s snapshot.Source) bool { return left[s] })
}

// JoinSources is what a roll call reads: what its checks need, and the nodes.
func JoinSources(list []check.Check) []snapshot.Source {
	return union(list, snapshot.Instances, snapshot.Clusters, snapshot.Groups, snapshot.Activities, snapshot.Nodegroups, snapshot.UserDataOf, snapshot.Nodes)
}

func union(list []check.Check, more ...snapshot.Source) []snapshot.Source {
	set := map[snapshot.Source]bool{}
	for _, s := range more {
		set[s] = true
	}
	var asked []snapshot.Source
	for _, c := range list {
		asked = append(asked, c.Needs...)
		asked = append(asked, c.Uses...)
	}
	for _, s := range source.With(catalogue(), asked...) {
		set[s.Name] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// PoolSources is what a report on Spot reads: what the checks of pools need,
// the subnets and the types that launches take addresses of, and how aws-node
// takes them.
func PoolSources(list []check.Check) []snapshot.Source {
	return union(list, snapshot.Clusters, snapshot.Groups, snapshot.Subnets, snapshot.InstanceTypes, snapshot.AWSNode)
}

// session is one client, with one token, for all that is read of a cluster's
// Kubernetes API in one look; or why there is none.
type session struct {
	client *kube.Client
	err    error
}

// connect makes the client. It sends no request: the token is signed here.
func (r *Reader) connect(ctx context.Context, c snapshot.Cluster, clusterRead bool) session {
	if !clusterRead {
		return session{err: source.ErrClusterUnread}
	}
	endpoint, ca := c.Endpoint, c.CA
	var via http.RoundTripper
	direct := false
	if r.endpoint != nil {
		if e, a, v, ok := r.endpoint(c.Name); ok {
			endpoint, ca, via, direct = e, a, v, true
		}
	}
	if endpoint == "" {
		return session{err: source.ErrNoEndpoint}
	}
	if err := r.contact.unanswered(endpoint); err != nil {
		return session{err: err}
	}
	if !direct && r.relay != nil {
		via = r.relay(c)
	}
	token, err := kube.Token(ctx, r.presigner, c.Name)
	if err != nil {
		return session{err: asked(err)}
	}
	if r.share != nil {
		if via == nil {
			transport, err := kube.Transport(ca)
			if err != nil {
				return session{err: err}
			}
			via = transport
		}
		via = r.share(via)
	}
	client, err := kube.NewVia(via, endpoint, ca, token)
	if err != nil {
		return session{err: err}
	}
	if r.answers != nil {
		client.Telling(func(path string, query url.Values, body []byte, err error) {
			r.answers.Kubernetes(c.Name, path, query, body, err)
		})
	}
	return session{client: client}
}

// asked is the call within a call that failed: a token is only signed, and what failed
// is the one for the credentials to sign it by.
func asked(err error) error {
	var signing, call *smithy.OperationError
	if errors.As(err, &signing) && errors.As(signing.Err, &call) {
		return call
	}
	return err
}

// InClustersAs makes the Kubernetes APIs know the reader as the role that cfg is of. Nil
// changes nothing.
func (r *Reader) InClustersAs(cfg *aws.Config) *Reader {
	if cfg == nil {
		return r
	}
	as := *r
	as.presigner = sts.NewPresignClient(sts.NewFromConfig(*cfg))
	return &as
}

func (s session) close() {
	if s.client != nil {
		s.client.Close()
	}
}

// Sharing has the Kubernetes APIs asked by a way that others share (package askonce).
func (r *Reader) Sharing(by func(next http.RoundTripper) http.RoundTripper) *Reader {
	as := *r
	as.share = by
	return &as
}

// Relaying has the Kubernetes APIs asked by a way that hangs on the cluster (package
// shared/relay/via); where that gives none, and where it is nil, they are asked themselves.
func (r *Reader) Relaying(by func(snapshot.Cluster) http.RoundTripper) *Reader {
	as := *r
	as.relay = by
	return &as
}

// TemplateTags gives the tags that launch templates put on instances. One that is
// gone, or was never there, puts none.
func (r *Reader) TemplateTags(ctx context.Context, refs []snapshot.TemplateRef) (map[snapshot.TemplateRef]map[string]string, *snapshot.Failure) {
	tags, err := gatherec2.TemplateTags(ctx, r.ec2, refs)
	if err != nil {
		return nil, known(snapshot.LaunchTemplates).Failure(err)
	}
	return tags, nil
}

// ReadTemplates is the permission of Reader.TemplateTags. The call takes no
// resource.
func ReadTemplates() spec.Read {
	return spec.Read{Actions: []string{"ec2:DescribeLaunchTemplateVersions"}, Resources: []string{"*"}}
}

// lingers is how long a node may be silent whose instance is not shown before
// that is said: one that has just ended leaves its node behind for some minutes,
// and is no longer in its VPC, which is where a capture lists instances.
const lingers = time.Hour

// NamedByNodes are the instances that the cluster's nodes name and the snapshot
// does not hold, each with the node that names it. A node whose kubelet has just
// fallen silent is left out: its instance may have ended.
func NamedByNodes(s *snapshot.Snapshot) map[string]string {
	named := map[string]string{}
	for _, n := range s.Nodes {
		justSilent := n.Ready.Status == "Unknown" && s.Time.Sub(n.Ready.Since) < lingers
		if n.Instance != "" && !justSilent {
			named[n.Instance] = "node " + n.Name
		}
	}
	return unheld(s, named)
}

// launches is how long EC2 may take to show an instance that a NodeClaim names, and a
// node to join: the join time of a cluster without a history.
const launches = 5 * time.Minute

// NamedByClaims are the instances that NodeClaims launched, that are no nodes, and that
// are not held, each with the NodeClaim that names it.
func NamedByClaims(s *snapshot.Snapshot, held []snapshot.Instance) map[string]string {
	named := map[string]string{}
	for _, c := range s.NodeClaims {
		if c.Instance != "" && !c.Deleting && s.Time.Sub(c.Conditions["Launched"].Since) >= launches {
			named[c.Instance] = "NodeClaim " + c.Name
		}
	}
	for _, in := range held {
		delete(named, in.ID)
	}
	for _, n := range s.Nodes {
		delete(named, n.Instance)
	}
	return unheld(s, named)
}

// NamedByVolumes are the instances that volumes are attached to and the snapshot
// does not hold, each with the volume that names it.
func NamedByVolumes(s *snapshot.Snapshot) map[string]string {
	named := map[string]string{}
	for _, v := range s.Volumes {
		for _, id := range v.Attached {
			named[id] = "volume " + v.ID
		}
	}
	return unheld(s, named)
}

func unheld(s *snapshot.Snapshot, named map[string]string) map[string]string {
	for _, in := range s.Instances {
		delete(named, in.ID)
	}
	return named
}

// Unshown asks EC2 for instances that something names (by id, with what names
// each), and notes those that it does not show as missing from the snapshot's
// instances. EC2 shows an instance of this account for an hour after its end: one
// that is not shown is hidden (an AWS service manages it), of another account, or
// long gone, and nothing can be said of it.
func (r *Reader) Unshown(ctx context.Context, s *snapshot.Snapshot, named map[string]string) {
	var ids []string
	for id := range named {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	whole := ec2api.InstanceIDs()
	asked := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !whole.MatchString(id) })
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	states, err := gatherec2.StatesOf(ctx, r.ec2, asked)
	for _, id := range ids {
		switch {
		case err != nil && slices.Contains(asked, id):
			s.Lack(snapshot.Instances, id, *known(snapshot.Instances).Failure(err))
		case states[id] == "":
			s.Lack(snapshot.Instances, id, snapshot.Failure{
				Source: snapshot.Instances, Reason: snapshot.NotShown, Call: known(snapshot.Instances).Call(),
				Message: fmt.Sprintf("%s names %s, which EC2 does not show: it is hidden (an AWS service manages it), of another account, or gone", named[id], id),
			})
		}
	}
}

// UserData reads the user data of instances that may be of any cluster, or of
// none, within the bounds of one look. What could not be read is left out;
// the failure is that of a look which could read nothing at all.
func (r *Reader) UserData(ctx context.Context, instances []snapshot.Instance) ([]snapshot.UserData, *snapshot.Failure) {
	s := &snapshot.Snapshot{Instances: instances}
	for _, in := range instances {
		s.Scope.Instances = append(s.Scope.Instances, in.ID)
	}
	of := gatherec2.UserData(r.ec2)
	store, err := of.ReadFrom(ctx, source.View{Query: Query{Instances: instances, Scope: s.Scope}, Snapshot: s})
	if err != nil {
		return nil, of.Failure(err)
	}
	store(s)
	if lacks := s.Missing[snapshot.UserDataOf]; len(s.UserData) == 0 && len(lacks) > 0 {
		f := lacks[slices.Min(slices.Collect(maps.Keys(lacks)))]
		return nil, &f
	}
	return s.UserData, nil
}

// ZoneSources is what a look at the zones reads: what the checks of zones need
// and use.
func ZoneSources(list []check.Check) []snapshot.Source {
	return union(list, snapshot.Clusters, snapshot.Instances, snapshot.Groups, snapshot.Nodegroups, snapshot.Activities, snapshot.Nodes,
		snapshot.VolumesOf, snapshot.PersistentVolumes, snapshot.ClaimsOf, snapshot.WaitingPods, snapshot.PodEventsOf, snapshot.ZonesOf)
}
