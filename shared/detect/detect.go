// Package detect is what every detector runs, whether an event, a sweep or a
// wish woke it: whose is the instance, what is seen of its cluster, what do the
// checks say, and what does report need to know.
package detect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnose"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/evidence"
	"rollcall/shared/gather"
	"rollcall/shared/gather/source"
	"rollcall/shared/lambda"
	"rollcall/shared/network/address"
	"rollcall/shared/node/outcome"
	"rollcall/shared/node/userdata"
	"rollcall/shared/relay/via"
	"rollcall/shared/report"
	"rollcall/shared/s3"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// Reader reads AWS and Kubernetes.
type Reader interface {
	Clusters(ctx context.Context) ([]string, *snapshot.Failure)
	Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error)
}

// Sender is whom a detector tells.
type Sender interface {
	SendResult(ctx context.Context, o report.Observation) error
}

// Detector is what every detector is made of. A function adds what it alone
// reads and remembers, and chooses looks.
type Detector struct {
	// By is the function's name.
	By     string
	Region string
	// Spoke is whose clusters it looks at.
	Spoke spoke.ID
	// Clusters are those that the settings name; nil: all of the region.
	Clusters []string
	Watches  func(cluster string) bool
	Reader   Reader
	Results  Sender
	Now      func() time.Time
	Log      *slog.Logger
	Count    func(name string, n int)
	// Evidence keeps what was read of what was found; nil keeps none.
	Evidence *evidence.Keeper
}

// New makes a function's detector of what its invocations share.
func New(by string, e lambda.Env, r Reader, results Sender) Detector {
	return Detector{
		By: by, Region: e.Config.Region, Spoke: e.Config.Spoke, Clusters: e.Config.Clusters, Watches: e.Config.Watches,
		Reader: r, Results: results, Now: e.Now, Log: e.Log, Count: e.Metrics.Count,
	}
}

// Keeping has what is found kept with what was read of it.
func (d Detector) Keeping(k *evidence.Keeper) Detector {
	d.Evidence = k
	return d
}

// Query begins the query of a look that is taken now.
func (d Detector) Query(cluster, account string) gather.Query {
	return gather.Query{Account: account, Region: d.Region, Time: d.Now(), Cluster: cluster}
}

// Read takes the snapshot that a look is at. The error is gather.ErrNoCluster
// or nil: whatever else goes wrong is in the snapshot's Failures.
func (d Detector) Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	s, err := d.Reader.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	s.Taken = d.Now()
	return s, nil
}

// IgnoreNoCluster makes nothing of the error that EKS has no such cluster: other
// Kubernetes distributions tag as EKS does, and settings outlive clusters.
func (d Detector) IgnoreNoCluster(ctx context.Context, cluster string, err error) error {
	if !errors.Is(err, gather.ErrNoCluster) {
		return err
	}
	d.Log.WarnContext(ctx, "a cluster that EKS does not have", "cluster", cluster)
	d.Count("ForeignClusters", 1)
	return nil
}

// Look is what is made of a snapshot.
type Look struct {
	// Checks are run; none: only what was read, and what was not, is reported.
	Checks []check.Check
	// Launches are reported without a verdict.
	Launches []report.Launch
	// Unknown is what cannot be judged beside what the checks say so of.
	Unknown []diagnosis.Unknown
	// Untold tells a cause that is left out; nil: none is.
	Untold func(diagnosis.Cause) bool
	// Absent is what was looked for and exists no more, beside the subnets of the
	// scope.
	Absent []string
	// Sweep reports whether the whole cluster was looked at.
	Sweep bool
}

// Run judges a snapshot and tells report: the checks, then what they come to,
// the log, the message. Nothing is remembered here: what a function keeps it
// keeps after this, so that a crash in between leads to telling twice, which
// report notices, not to silence.
func (d Detector) Run(ctx context.Context, s *snapshot.Snapshot, l Look) (report.Observation, error) {
	o := Judge(d.By, s, l)
	return o, d.Tell(ctx, o)
}

// Judge is what report needs to know of a snapshot.
func Judge(by string, s *snapshot.Snapshot, l Look) report.Observation {
	var found diagnosis.Diagnosis
	if len(l.Checks) > 0 {
		found = diagnose.Judge(l.Checks, s)
	}
	if l.Untold != nil {
		found.Causes = slices.DeleteFunc(found.Causes, l.Untold)
	}
	found.Unknown = append(found.Unknown, l.Unknown...)
	o := Observe(by, s, found, l.Launches)
	o.Sweep = l.Sweep
	o.Absent = Distinct(o.Absent, l.Absent)
	return o
}

// Tell logs an observation and sends it to report.
func (d Detector) Tell(ctx context.Context, o report.Observation) error {
	for _, c := range o.Diagnosis.Causes {
		d.Log.InfoContext(ctx, "cause found", "cluster", o.Cluster, "check", c.Check, "resource", c.Resource, "confidence", c.Confidence,
			"instances", len(c.Instances), "nodegroups", c.Nodegroups)
	}
	for _, f := range o.Blind {
		d.Log.WarnContext(ctx, "could not read", "cluster", o.Cluster, "source", f.Source, "call", f.Call, "reason", f.Reason, "code", f.Code)
	}
	about := aboutEvidence(o)
	o.Evidence = d.Evidence.Key(about)
	if err := d.Results.SendResult(ctx, o); err != nil {
		return err
	}
	// After the message: nothing waits for it.
	d.Evidence.Keep(about)
	return nil
}

// Failures are those of several readings that failed.
func Failures(list ...*snapshot.Failure) []snapshot.Failure {
	var all []snapshot.Failure
	for _, f := range list {
		if f != nil {
			all = append(all, *f)
		}
	}
	return all
}

// Learned is how long the launches of one cluster have to join.
type Learned struct {
	Times   map[string]store.JoinTimes // by nodegroup
	Setting time.Duration
	Now     time.Time
}

// Allow is how long a launch of a nodegroup has.
func (l Learned) Allow(nodegroup string) outcome.Allowance {
	return l.Times[nodegroup].Joins.Allow(l.Setting, l.Now)
}

// Times reads what was learned.
type Times interface {
	JoinTimes(ctx context.Context, cluster string) (map[string]store.JoinTimes, error)
}

// Learn reads what a cluster's nodegroups have taught. Where it cannot be read
// the setting counts, and so it does for the nodegroups of which nothing is known.
func (d Detector) Learn(ctx context.Context, from Times, cluster string, setting time.Duration) Learned {
	times, err := from.JoinTimes(ctx, cluster)
	if err != nil {
		d.Log.WarnContext(ctx, "could not read how long nodes take to join: the setting counts", "cluster", cluster, "error", err.Error())
		d.Count("JoinTimesUnread", 1)
	}
	return Learned{Times: times, Setting: setting, Now: d.Now()}
}

// groupTag is the tag by which Auto Scaling marks its instances.
const groupTag = "aws:autoscaling:groupName"

// nodegroupTag is the tag that EKS puts on the instances of a managed node group.
const nodegroupTag = "eks:nodegroup-name"

// GroupOf is the Auto Scaling group that an instance belongs to, or "".
func GroupOf(in snapshot.Instance) string { return in.Tags[groupTag] }

// Assignment says whose each instance is.
type Assignment struct {
	// Clusters holds the instances of each watched cluster.
	Clusters map[string][]snapshot.Instance
	// Foreign are instances of no cluster that is watched.
	Foreign []string
	// Warm are instances in a warm pool, or held otherwise by their group: they are not
	// expected to join.
	Warm []string
	// Unsure are instances of which only their group could tell whose they
	// are, and the groups could not be read.
	Unsure []string
}

// Names are the clusters' names, sorted.
func (a Assignment) Names() []string { return slices.Sorted(maps.Keys(a.Clusters)) }

// Evidence is what tells whose an instance is, beside its own tags.
type Evidence struct {
	Groups []snapshot.Group
	// GroupsUnread reports whether the groups could not be read.
	GroupsUnread bool
	// Recorded are the launches that are remembered: EC2 takes the tags off a
	// terminated instance some time before it forgets the instance.
	Recorded map[string]store.LaunchRecord
	// Named are clusters by instance, as the user data of instances without
	// tags names them.
	Named   map[string]string
	Watches func(cluster string) bool
}

// Assign tells which watched cluster each instance belongs to: by its own
// tags, else by those of its group, else by its record. Instances of warm
// pools are set aside: Auto Scaling lists them only in the pool.
func Assign(instances []snapshot.Instance, e Evidence) Assignment {
	a := Assignment{Clusters: map[string][]snapshot.Instance{}}
	byName := map[string]snapshot.Group{}
	for _, g := range e.Groups {
		byName[g.Name] = g
	}
	for _, in := range instances {
		group := byName[GroupOf(in)]
		cluster, ok := gather.ClusterOf(in.Tags)
		if !ok {
			cluster, ok = gather.ClusterOf(group.Tags)
		}
		if !ok {
			cluster = cmp.Or(e.Recorded[in.ID].Cluster, e.Named[in.ID])
			ok = cluster != ""
		}
		switch {
		case !ok && e.GroupsUnread && GroupOf(in) != "":
			a.Unsure = append(a.Unsure, in.ID)
		case !ok || !e.Watches(cluster):
			a.Foreign = append(a.Foreign, in.ID)
		case group.Parked(in.ID):
			a.Warm = append(a.Warm, in.ID)
		default:
			a.Clusters[cluster] = append(a.Clusters[cluster], in)
		}
	}
	return a
}

// GroupsOf are the names of the instances' Auto Scaling groups, sorted.
func GroupsOf(instances []snapshot.Instance) []string {
	return distinct(instances, GroupOf)
}

// ManagedOf are the names of the instances' managed node groups, sorted.
func ManagedOf(instances []snapshot.Instance) []string {
	return distinct(instances, func(in snapshot.Instance) string { return in.Tags[nodegroupTag] })
}

// SubnetsOf are the instances' subnets, sorted.
func SubnetsOf(instances []snapshot.Instance) []string {
	return distinct(instances, func(in snapshot.Instance) string { return in.Subnet })
}

// IDs are the instances' ids, in their order.
func IDs(instances []snapshot.Instance) []string {
	ids := make([]string, 0, len(instances))
	for _, in := range instances {
		ids = append(ids, in.ID)
	}
	return ids
}

func distinct(instances []snapshot.Instance, of func(snapshot.Instance) string) []string {
	names := make([]string, 0, len(instances))
	for _, in := range instances {
		names = append(names, of(in))
	}
	return Distinct(names)
}

// Distinct is what the lists name, each once, sorted, without empty names.
func Distinct(lists ...[]string) []string {
	all := slices.DeleteFunc(slices.Concat(lists...), func(s string) bool { return s == "" })
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Launchable are the subnets into which groups may launch, sorted.
func Launchable(groups []snapshot.Group) []string {
	var subnets []string
	for _, g := range groups {
		subnets = append(subnets, g.Subnets...)
	}
	return Distinct(subnets)
}

// namedByUserData are the clusters that user data names, by instance.
func namedByUserData(list []snapshot.UserData) map[string]string {
	clusters := map[string]string{}
	for _, d := range list {
		if name, ok := userdata.Cluster(d.Data); ok {
			for _, id := range d.Instances {
				clusters[id] = name
			}
		}
	}
	return clusters
}

// capacity is what the groups that causes and launches name want, and what they have. Of
// groups or nodes that were not read in full it says nothing, nor of a group that counts
// anything but instances.
func capacity(s *snapshot.Snapshot, d diagnosis.Diagnosis, launches []report.Launch) (list []report.Capacity) {
	if !s.Has(snapshot.Groups) || !s.Has(snapshot.Nodes) {
		return nil
	}
	named := namedGroups(d, launches)
	ready := map[string]bool{}
	for _, n := range s.Nodes {
		ready[n.Instance] = ready[n.Instance] || n.Joined()
	}
	for _, g := range s.Groups {
		c := report.Capacity{Group: g.Name, Nodegroup: g.Owner(), Desired: g.Desired}
		if g.Weighted || !named[c.Group] && !named[c.Nodegroup] {
			continue
		}
		for _, in := range g.Instances {
			if ready[in.ID] && !slices.Contains(g.Warm, in.ID) {
				c.Ready++
			}
		}
		list = append(list, c)
	}
	return list
}

// steps are the conditions of a NodeClaim that tell how far its node came
// (kubernetes-sigs/karpenter pkg/apis/v1/nodeclaim_status.go).
func steps() []string { return []string{"Launched", "Registered", "Initialized"} }

// maxMessage bounds what is remembered of a message, in runes: Karpenter cuts its
// own at 300.
const maxMessage = 300

// KeepClaim remembers what the launch's NodeClaim says: 15 minutes after it was
// made Karpenter deletes one whose node has not registered, and all that it said
// is gone.
func KeepClaim(s *snapshot.Snapshot, l *store.LaunchRecord) {
	i := slices.IndexFunc(s.NodeClaims, func(c snapshot.NodeClaim) bool { return c.Instance != "" && c.Instance == l.Instance })
	if i < 0 {
		return
	}
	c := s.NodeClaims[i]
	kept := &store.Claim{Name: c.Name, Pool: c.Pool, Seen: s.Time}
	for _, step := range steps() {
		if o, is := c.Conditions[step]; is {
			message := []rune(o.Message)
			kept.Conditions = append(kept.Conditions, store.ClaimCondition{
				Type: step, Status: o.Status, Reason: o.Reason, Message: string(message[:min(len(message), maxMessage)]), Since: o.Since,
			})
		}
	}
	l.Claim = kept
}

// recallClaim is the NodeClaim that is remembered of a launch.
func recallClaim(l store.LaunchRecord) (claim *snapshot.NodeClaim, seen time.Time) {
	if l.Claim == nil {
		return nil, time.Time{}
	}
	claim = &snapshot.NodeClaim{Name: l.Claim.Name, Pool: l.Claim.Pool, Instance: l.Instance, Conditions: map[string]snapshot.ObservedCondition{}}
	for _, c := range l.Claim.Conditions {
		claim.Conditions[c.Type] = snapshot.ObservedCondition{Condition: snapshot.Condition{Status: c.Status, Reason: c.Reason, Message: c.Message, Since: c.Since}}
	}
	return claim, l.Claim.Seen
}

// AssumeRole is the call by which the hub becomes a spoke's role.
const AssumeRole = source.AssumeRole

// Each does something for every watched cluster: for the named ones, or for all
// of the region where names is nil. One cluster's trouble does not keep the
// others from being looked at. SweptClusters counts those that had none.
func (d Detector) Each(ctx context.Context, names []string, do func(ctx context.Context, cluster string) error) error {
	if names == nil {
		list, failed := d.Reader.Clusters(ctx)
		if failed != nil && (failed.Call == AssumeRole || !d.Spoke.Hub() && failed.Reason == snapshot.Denied) {
			// sweep says so, once; there is nothing to do again at once.
			d.Log.WarnContext(ctx, "nothing of the spoke may be looked at", "call", failed.Call, "code", failed.Code, "error", failed.Message)
			d.Count("BlindSweeps", 1)
			return nil
		}
		if failed != nil {
			return fmt.Errorf("list the clusters: %s %s: %s", failed.Call, failed.Reason, failed.Message)
		}
		names = list
	}
	var errs []error
	for _, name := range names {
		if err := do(ctx, name); err != nil {
			errs = append(errs, fmt.Errorf("sweep cluster %s: %w", name, err))
		}
	}
	d.Count("SweptClusters", len(names)-len(errs))
	return errors.Join(errs...)
}

// One does something for one cluster that an event names, if it is watched.
func (d Detector) One(ctx context.Context, cluster string, do func(ctx context.Context, cluster string) error) error {
	if !d.Watches(cluster) {
		d.Count("ForeignClusters", 1)
		return nil
	}
	return do(ctx, cluster)
}

// KeepEvidence has what a function reads kept where it finds something, if the settings
// have a bucket for it; else it is nil.
func KeepEvidence(e lambda.Env) *evidence.Keeper {
	if e.Config.EvidenceDays == 0 || e.Config.EvidenceBucket == "" {
		return nil
	}
	k := evidence.NewKeeper(s3.New(e.AWS).EncryptedBy(e.Config.KMSKey), e.Config.EvidenceBucket, e.Release, e.Log, e.Metrics.Count)
	e.Register(k)
	return k
}

// NewReader makes a function's reader of what its invocations share, whose answers are
// passed to the keeper.
func NewReader(e lambda.Env, k *evidence.Keeper) *gather.Reader {
	r := gather.New(k.Recording(e.Watched())).WithEndpoints(e.Endpoints).InClustersAs(e.AWSAsReader).Withholding(e.Config.NoInstanceData).
		Relaying(via.New(e.AsksRelays(), e.Config.RolePrefix, e.Config.Relays, Table(e)))
	if k != nil {
		r.Telling(k)
	}
	return r
}

// Table is the table of a function, for the records of its spoke, in its clock's time.
func Table(e lambda.Env) *store.Store {
	return store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).WithClock(e.Now).ForSpoke(e.Config.Spoke)
}

// aboutEvidence is what evidence is to be kept of: what an observation found, but for
// advice, of which nothing failed.
func aboutEvidence(o report.Observation) evidence.About {
	a := evidence.About{By: o.By, Account: o.Account, Region: o.Region, Cluster: o.Cluster, At: o.At}
	for _, c := range o.Diagnosis.Causes {
		if c.Confidence != finding.Advice {
			a.Causes = append(a.Causes, evidence.Cause{Check: string(c.Check), Resource: c.Resource})
		}
	}
	return a
}

// maxActivities is how many scaling activities of a group are reported: the last
// ones show what is happening, the rest is a link away.
const maxActivities = 3

// Facts are what a person would look up next: how the nodegroup, its group
// and the cluster say they are. They often say that all is well; that is why
// the incident is hard to find by hand.
func Facts(s *snapshot.Snapshot) []report.Fact {
	var facts []report.Fact
	if s.Read[snapshot.Clusters] && s.Cluster.Status != "" {
		facts = append(facts, report.Fact{What: "Cluster", Value: fmt.Sprintf("%s, Kubernetes %s, endpoint %s%s", s.Cluster.Status, s.Cluster.Version, access(s.Cluster), egress(s.Cluster))})
	}
	for _, n := range s.Nodegroups {
		facts = append(facts, report.Fact{What: "Nodegroup " + n.Name, Value: fmt.Sprintf("%s, %s, min %d max %d desired %d", n.Status, health(n.Issues), n.Min, n.Max, n.Desired)})
	}
	for _, g := range s.Groups {
		told := 0
		for _, a := range s.Activities {
			if a.Group != g.Name || told == maxActivities {
				continue
			}
			told++
			facts = append(facts, report.Fact{What: "Scaling activity", Value: scaling(a)})
		}
	}
	return facts
}

func access(c snapshot.Cluster) string {
	switch {
	case c.EndpointPublic && c.EndpointPrivate:
		return "public and private"
	case c.EndpointPrivate:
		return "private only"
	case c.EndpointPublic:
		return "public only"
	}
	return "access not told"
}

func health(issues []snapshot.Issue) string {
	if len(issues) == 0 {
		return "no health issue"
	}
	var texts []string
	for _, i := range issues {
		texts = append(texts, strings.TrimSuffix(i.Code+": "+i.Message, "."))
	}
	return strings.Join(texts, "; ")
}

// egress is how the control plane reaches webhooks, nodes and the rest, where the owner
// chose it (EKS API, VpcConfigResponse, controlPlaneEgressMode).
func egress(c snapshot.Cluster) string {
	if c.EgressMode == "" || c.EgressMode == "AWS_MANAGED" {
		return ""
	}
	return ", control plane egress " + c.EgressMode
}

func scaling(a snapshot.Activity) string {
	text := fmt.Sprintf("%s %s: %s", a.Started.UTC().Format(time.TimeOnly), a.Status, a.About)
	if a.Message != "" && !strings.Contains(a.About, a.Message) {
		text += " (" + a.Message + ")"
	}
	return text
}

// Blind are the sources that could not be read, sorted; one of those that the
// same answer kept from being read.
func Blind(s *snapshot.Snapshot) []snapshot.Failure {
	var list []snapshot.Failure
	told := map[snapshot.Failure]bool{}
	sources := slices.Sorted(maps.Keys(s.Failures))
	// Of what the Kubernetes API kept from being read the nodes matter most.
	slices.SortStableFunc(sources, func(a, b snapshot.Source) int { return isNodes(b) - isNodes(a) })
	for _, source := range sources {
		f := s.Failures[source]
		key := f
		key.Source = ""
		if f.Reason == snapshot.NotRead && f.Code != snapshot.NotCaptured && f.Code != snapshot.Withheld || told[key] {
			continue // what kept us from asking has a failure of its own
		}
		told[key] = true
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b snapshot.Failure) int { return strings.Compare(string(a.Source), string(b.Source)) })
	return list
}

func isNodes(s snapshot.Source) int {
	if s == snapshot.Nodes {
		return 1
	}
	return 0
}

// Launch is an instance's launch that is not due yet.
func Launch(in snapshot.Instance, started time.Time) outcome.Launch {
	return outcome.Launch{
		Instance: in.ID, Nodegroup: in.Owner(), Group: GroupOf(in),
		Subnet: in.Subnet, Zone: in.Zone, Type: in.Type,
		Started: started, Status: outcome.Waiting,
	}
}

// Fresh is a new record of a launch, with what the instance was started with. It began
// when EC2 says, or earlier where an event knows better.
func Fresh(cluster string, in snapshot.Instance, clock time.Time, learned Learned) store.LaunchRecord {
	started := in.Launched
	if started.IsZero() || !clock.IsZero() && clock.Before(started) {
		started = clock
	}
	allowed := learned.Allow(in.Owner())
	return store.LaunchRecord{
		Launch: Launch(in, started), Cluster: cluster, Spot: in.Spot,
		Due: started.Add(allowed.For), Usual: allowed.Usual, Samples: allowed.Samples,
		Machine: machine(in),
	}
}

// Expected returns what the checks read of a launch.
func Expected(l store.LaunchRecord) snapshot.ExpectedJoin {
	e := snapshot.ExpectedJoin{
		Instance: l.Instance, Started: l.Started, Due: l.Due, Samples: l.Samples, Usual: l.Usual,
		Noticed: l.Noticed, Rebalance: l.Rebalance, Cause: l.Root,
	}
	e.Claim, e.ClaimSeen = recallClaim(l)
	return e
}

// machine is what is worth keeping of an instance; nil for one that has ended
// already, of which EC2 tells little.
func machine(in snapshot.Instance) *store.Machine {
	if in.VPC == "" {
		return nil
	}
	m := &store.Machine{
		VPC: in.VPC, PrivateIP: in.PrivateIP, PublicIP: in.PublicIP, PrivateDNS: in.PrivateDNS,
		Architecture: in.Architecture, AMI: in.AMI, Groups: in.Groups, Profile: in.Profile,
		Template: in.Template.ID, Version: in.Template.Version,
		Metadata: in.Metadata.Endpoint, HopLimit: in.Metadata.HopLimit,
	}
	for key, value := range in.Tags {
		if owner(key) {
			if m.Tags == nil {
				m.Tags = map[string]string{}
			}
			m.Tags[key] = value
		}
	}
	return m
}

// owner reports whether a tag names an instance's owner. The other tags are
// not read here.
func owner(key string) bool {
	for _, prefix := range []string{"aws:", "eks:", "kubernetes.io/cluster/", "k8s.io/", "karpenter.", "alpha.eksctl.io/"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// Recall fills in what EC2 forgets of an instance that has ended: where it
// was, and what it was started with.
func Recall(in snapshot.Instance, l store.LaunchRecord) snapshot.Instance {
	fill(&in.Subnet, l.Subnet)
	fill(&in.Zone, l.Zone)
	fill(&in.Type, l.Type)
	m := l.Machine
	if m == nil || !in.Ended() {
		return in
	}
	fill(&in.VPC, m.VPC)
	fill(&in.PrivateDNS, m.PrivateDNS)
	fill(&in.Architecture, m.Architecture)
	fill(&in.AMI, m.AMI)
	fill(&in.Profile, m.Profile)
	fill(&in.Template.ID, m.Template)
	fill(&in.Template.Version, m.Version)
	fill(&in.Metadata.Endpoint, m.Metadata)
	if in.Metadata.HopLimit == 0 {
		in.Metadata.HopLimit = m.HopLimit
	}
	if !in.PrivateIP.IsValid() {
		in.PrivateIP = m.PrivateIP
	}
	if !in.PublicIP.IsValid() {
		in.PublicIP = m.PublicIP
	}
	if len(in.Groups) == 0 {
		in.Groups = m.Groups
	}
	tags := maps.Clone(m.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	maps.Copy(tags, in.Tags)
	in.Tags = tags
	return in
}

func fill(have *string, remembered string) {
	if *have == "" {
		*have = remembered
	}
}

// Message is a message of a queue that could be read.
type Message struct {
	event.Trigger
	// Receipt is the message's id, by which it is given back to the queue.
	Receipt string
	// Again reports whether it was handed out before.
	Again bool
}

// Messages reads the messages of a batch. Those that cannot be read go back to
// the queue, and in the end to its dead-letter queue; the others of the batch do
// not wait for them.
func (d Detector) Messages(batch []inbox.Message) (list []Message, malformed []string) {
	for _, m := range batch {
		t, err := event.Parse([]byte(m.Body))
		if err != nil {
			d.Log.Error("message cannot be read, it goes back to the queue", "message", m.ID, "received", m.Received, "error", err.Error())
			d.Count("MalformedEvents", 1)
			malformed = append(malformed, m.ID)
			continue
		}
		list = append(list, Message{Trigger: t, Receipt: m.ID, Again: m.Received > 1})
	}
	return list, malformed
}

// Ignore leaves out a message that is not for this function.
func (d Detector) Ignore(m Message, why string) {
	d.Log.Info("event ignored", "event", m.ID, "type", m.Type, "instance", m.Instance, "group", m.Group, "why", why)
	d.Count("ForeignEvents", 1)
}

// Notice is what an event says beforehand of an instance's end; false for an
// event of another kind.
func Notice(t event.Trigger) (outcome.Facts, bool) {
	switch t.Kind {
	case event.Interruption:
		return outcome.Facts{Noticed: t.Time}, true
	case event.Rebalance:
		return outcome.Facts{Rebalance: t.Time}, true
	case event.Maintenance:
		return outcome.Facts{Maintenance: t.Time}, true
	}
	return outcome.Facts{}, false
}

// Observe puts together what report needs to know of a cluster. Its id is of
// this look: a message that the queue delivers twice is noticed by it, a
// second look at the same launches is not mistaken for the first.
func Observe(by string, s *snapshot.Snapshot, d diagnosis.Diagnosis, launches []report.Launch) report.Observation {
	v := check.NewView(s)
	d.Causes = withWorkloads(v, d.Causes)
	return report.Observation{
		Format: report.Format, ID: strings.Join([]string{by, s.Cluster.Name, s.Time.Format(time.RFC3339Nano)}, "/"), By: by, At: s.Time,
		Account: s.Account, Region: s.Region, Partition: s.Partition, Cluster: s.Cluster.Name,
		Diagnosis: d, Launches: launches, Facts: Facts(s), Blind: Blind(s),
		Read: slices.Sorted(maps.Keys(s.Read)), Absent: absent(s),
		Tags: tags(s, d, launches), Tagged: tagged(s, d, launches), Logs: controlPlaneLogs(s), Capacity: capacity(s, d, launches), Waiting: waiting(v),
	}
}

// absent are the subnets of the scope that EC2 no longer has: what an incident
// is about may have been deleted. A subnet that could not be read is not absent.
func absent(s *snapshot.Snapshot) []string {
	if !s.Read[snapshot.Subnets] {
		return nil
	}
	var gone []string
	for _, id := range s.Scope.Subnets {
		if !slices.ContainsFunc(s.Subnets, func(x snapshot.Subnet) bool { return x.ID == id }) {
			gone = append(gone, id)
		}
	}
	return gone
}

// Soon is how soon the roll of a launch is called that is not due yet. A healthy
// node is Ready in about a minute, most within two: the sooner its outcome is
// known, the sooner an incident that waits for it has its proof, the fewer end
// unseen, and if it is reclaimed a little later it is not taken for one that
// never joined.
const Soon = time.Minute

// step is what a reminder is rounded up to: a burst is one message, not one for
// each launch.
const step = 5 * time.Second

// Reminder asks for the roll of launches to be called.
type Reminder interface {
	LookAgain(ctx context.Context, instances []string, now time.Time, delay time.Duration) error
}

// Reminders are the launches of one look whose roll is to be called: soon, or
// when they are due if that is sooner. Several goroutines may add to it.
type Reminders struct {
	mu    sync.Mutex
	after map[time.Duration][]string
}

// Add adds a launch.
func (r *Reminders) Add(instance string, due, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.after == nil {
		r.after = map[time.Duration][]string{}
	}
	delay := min(due.Sub(now)+step-1, Soon).Truncate(step)
	r.after[delay] = append(r.after[delay], instance)
}

// Send asks for all of them, and tells of how many it could.
func (r *Reminders) Send(ctx context.Context, to Reminder, now time.Time) (asked int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, delay := range slices.Sorted(maps.Keys(r.after)) {
		ids := slices.Sorted(slices.Values(r.after[delay]))
		if err := to.LookAgain(ctx, ids, now, delay); err != nil {
			return asked, err
		}
		asked += len(ids)
	}
	return asked, nil
}

// Samples are what some subnets have now, if they were read.
func Samples(s *snapshot.Snapshot, subnets []string) []snapshot.Sample {
	if !s.Has(snapshot.Subnets) {
		return nil
	}
	at := s.Taken
	if at.IsZero() {
		at = s.Time
	}
	var list []snapshot.Sample
	for _, subnet := range s.Subnets {
		if slices.Contains(subnets, subnet.ID) {
			list = append(list, snapshot.Sample{Subnet: subnet.ID, At: at, Free: subnet.Free, Total: address.Usable(subnet.CIDR)})
		}
	}
	return list
}

// RecordSubnetAndCNI notes in a launch what its subnet has, and which version of the VPC CNI the
// cluster runs, when it is first looked at.
func RecordSubnetAndCNI(s *snapshot.Snapshot, l *store.LaunchRecord) {
	if l.Machine != nil && l.Machine.Plugin == "" && s.Has(snapshot.AWSNode) && s.CNI != nil {
		m := *l.Machine // others hold the record as it was read
		m.Plugin = versionOf(s.CNI.Image)
		l.Machine = &m
	}
	if !l.FreeAt.IsZero() {
		return
	}
	for _, x := range Samples(s, []string{l.Subnet}) {
		l.Free, l.FreeAt = x.Free, x.At
	}
}

// versionOf is the tag of an image, as in ….amazonaws.com/amazon-k8s-cni:v1.19.0;
// the digest of one without.
func versionOf(image string) string {
	image, digest, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], "@")
	if _, tag, tagged := strings.Cut(image, ":"); tagged {
		return tag
	}
	return digest
}
