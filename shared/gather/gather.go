// Package gather is the only place that reads AWS and Kubernetes. It turns
// what the services answer into a snapshot, and keeps an error per source, so
// that one refused call does not blind the rest.
//
// The number of calls does not grow with the number of instances but by API
// pages: a VPC is described as a whole, instances by the hundred.
package gather

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"golang.org/x/sync/errgroup"

	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// Reader reads AWS and Kubernetes.
type Reader struct {
	instances          Instances
	instanceTypes      InstanceTypes
	instanceAttributes InstanceAttributes
	statuses           Statuses
	consoles           Consoles
	images             Images
	launchTemplates    LaunchTemplates
	volumes            Volumes
	zones              Zones

	network     Network
	filters     Filters
	attributes  Attributes
	options     Options
	prefixLists PrefixLists
	peerings    Peerings
	transit     Transit
	interfaces  Interfaces
	kept        Reservations

	groups     Groups
	activities Activities

	clusterList   ClusterList
	clusters      Clusters
	nodegroupList NodegroupList
	nodegroups    Nodegroups
	updates       Updates
	addons        Addons
	accessEntries AccessEntries
	podIdentities PodIdentities

	profiles Profiles
	roles    Roles

	presigner kube.Presigner
	patience  time.Duration
	// counts are the VPCs whose interfaces were counted; nil where every look
	// counts for itself (Counting).
	counts *counts
	// door is another way to a cluster, on the local stage alone.
	door func(cluster string) (endpoint string, ca []byte, ok bool)
}

// patience is how long one source may take. A throttled call rides out about
// ten seconds (package awsconf); with the cluster, its nodes and all the rest
// one after the other, a function of a minute still has time to say what did
// not answer.
const patience = 14 * time.Second

// rounds is how many times its patience a reader gives to all the sources of
// one call of More, which may come in several waves.
const rounds = 2

// counting is how many times its patience a reader gives to counting a VPC's
// interfaces: 100,000 are a hundred pages, one after the other, and EC2 takes
// the better part of a second for each.
const counting = 6

func (r *Reader) patienceFor(source snapshot.Source) time.Duration {
	if source == snapshot.Usage {
		return counting * r.patience
	}
	return r.patience
}

// New makes a reader.
func New(cfg aws.Config) *Reader {
	e, a, k, i := newEC2(cfg), autoscaling.NewFromConfig(cfg), eks.NewFromConfig(cfg), iam.NewFromConfig(cfg)
	return &Reader{
		instances: e, instanceTypes: e, instanceAttributes: e, statuses: e, consoles: e, images: e, launchTemplates: e, volumes: e, zones: e,
		network: e, filters: e, attributes: e, options: e, prefixLists: e, peerings: e, transit: e, interfaces: e, kept: e,
		groups: a, activities: a,
		clusterList: k, clusters: k, nodegroupList: k, nodegroups: k, updates: k, addons: k, accessEntries: k, podIdentities: k,
		profiles: i, roles: i,
		presigner: sts.NewPresignClient(sts.NewFromConfig(cfg)),
		patience:  patience,
	}
}

// Through makes the reader reach the Kubernetes APIs of those clusters that
// have a door through it, whatever endpoint EKS tells: the local stage's way
// (config.StageDoors).
func (r *Reader) Through(door func(cluster string) (endpoint string, ca []byte, ok bool)) *Reader {
	r.door = door
	return r
}

// parallel bounds the calls at once: enough to be done in a second, few
// enough to leave the account's request buckets to others.
const parallel = 6

// Query is what a look at a cluster is about.
type Query struct {
	Account string
	Region  string
	Time    time.Time
	Cluster string
	// VPC is used when the cluster cannot be read.
	VPC   string
	Scope snapshot.Scope
	// Instances and Groups are what was read already, with what failed.
	Instances []snapshot.Instance
	Groups    []snapshot.Group
	Failed    []snapshot.Failure
	// Nodegroups are those whose state a person would look up. With
	// AllNodegroups a nil list means all of the cluster's.
	Nodegroups    []string
	AllNodegroups bool
	// Types are instance types to describe beside those of the instances and
	// groups: those of launches that are history.
	Types []string
	// Updated are the nodegroups whose updates are read, where they are asked
	// for; nil means all that are read.
	Updated  []string
	Launches []snapshot.Launch
	// Sources are what to read beside the instances and groups.
	Sources []snapshot.Source
}

// Read takes a snapshot. The error is ErrNoCluster or nil: whatever else goes
// wrong is in the snapshot's Failures.
func (r *Reader) Read(ctx context.Context, q Query) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{
		Time: q.Time, Account: q.Account, Region: q.Region, Partition: Partition(q.Region),
		Scope: q.Scope, Instances: q.Instances, Groups: q.Groups, Launches: q.Launches,
		Read: map[snapshot.Source]bool{snapshot.Instances: true, snapshot.Groups: true}, Failures: map[snapshot.Source]snapshot.Failure{},
	}
	s.Cluster.Name = q.Cluster
	for _, f := range q.Failed {
		s.Failures[f.Source] = f
		delete(s.Read, f.Source)
	}
	// The cluster first: its VPC says where to look, its endpoint whom to ask.
	c, err := r.patientCluster(ctx, q.Cluster)
	switch {
	case errors.Is(err, ErrNoCluster):
		return nil, err
	case err != nil:
		s.Failures[snapshot.Clusters] = *failure(snapshot.Clusters, call(snapshot.Clusters), err)
	default:
		s.Cluster = c
		s.Read[snapshot.Clusters] = true
		// A reminder names no account; the cluster's own ARN does.
		s.Account = cmp.Or(s.Account, accountOf(c.ARN))
		q.Account = s.Account
	}
	r.More(ctx, s, q, q.Sources...)
	return s, nil
}

func (r *Reader) patientCluster(ctx context.Context, name string) (snapshot.Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	return r.readCluster(ctx, name)
}

// More reads further sources into a snapshot, and those without which they
// cannot be read; what was read or has failed already is left as it is.
func (r *Reader) More(ctx context.Context, s *snapshot.Snapshot, q Query, sources ...snapshot.Source) {
	l := &look{r: r, q: q, vpcs: vpcsOf(s, q), s: s}
	var open []snapshot.Source
	for _, source := range with(sources) {
		if _, failed := s.Failures[source]; !failed && !s.Read[source] {
			open = append(open, source)
		}
	}
	l.counted = slices.Contains(open, snapshot.Usage)
	limit := rounds * r.patience
	if l.counted {
		limit += r.patienceFor(snapshot.Usage)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var wanted [waves][]snapshot.Source
	for _, source := range open {
		n := turn(source, l.counted)
		wanted[n] = append(wanted[n], source)
	}
	if f, down := l.s.Failures[snapshot.Nodes]; down && ofAll(f) {
		for i, list := range wanted {
			wanted[i] = slices.DeleteFunc(list, func(source snapshot.Source) bool {
				if ofKubernetes(source) {
					l.s.Failures[source] = snapshot.Failure{Source: source, Reason: f.Reason, Call: f.Call, Code: f.Code, Message: f.Message}
				}
				return ofKubernetes(source)
			})
		}
	}
	if slices.ContainsFunc(slices.Concat(wanted[:]...), ofKubernetes) {
		l.kubernetes = r.connect(ctx, s.Cluster, s.Read[snapshot.Clusters])
		defer l.kubernetes.close()
	}
	for _, list := range wanted {
		l.readAll(ctx, list)
	}
	for i := range s.NATGateways {
		s.NATGateways[i].Zone = zoneOf(s.Subnets, s.NATGateways[i].Subnet)
	}
}

// readAll reads sources at the same time, and then keeps what was read.
func (l *look) readAll(ctx context.Context, sources []snapshot.Source) {
	stores := make([]store, len(sources))
	errs := make([]error, len(sources))
	var g errgroup.Group
	g.SetLimit(parallel)
	for i, source := range sources {
		g.Go(func() error {
			patience := l.r.patienceFor(source)
			if l.counted && source == snapshot.Unattached {
				patience = l.r.patienceFor(snapshot.Usage) // the same pages
			}
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			stores[i], errs[i] = l.read(ctx, source)
			return nil // each source keeps its own error
		})
	}
	_ = g.Wait()
	for i, source := range sources {
		if errs[i] != nil {
			l.s.Failures[source] = *failure(source, call(source), errs[i])
			continue
		}
		stores[i](l.s)
		l.s.Read[source] = true
	}
}
