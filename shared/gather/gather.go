// Package gather is the only place that reads AWS and Kubernetes. It turns
// what the services answer into a snapshot, and keeps an error per source, so
// that one refused call does not blind the rest.
//
// The number of calls does not grow with the number of instances but by API
// pages: a VPC is described as a whole, instances by the hundred.
package gather

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"golang.org/x/sync/errgroup"

	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// Reader reads AWS and Kubernetes.
type Reader struct {
	instances     Instances
	instanceTypes InstanceTypes
	network       Network
	groups        Groups
	activities    Activities
	clusterList   ClusterList
	clusters      Clusters
	nodegroups    Nodegroups
	presigner     kube.Presigner
	patience      time.Duration
}

// patience is how long one source may take. A throttled call rides out about
// ten seconds (package awsconf); with the cluster, its nodes and its network
// one after the other, a function of a minute still has time to say what did
// not answer.
const patience = 14 * time.Second

// New makes a reader.
func New(cfg aws.Config) *Reader {
	e, a, k := ec2.NewFromConfig(cfg), autoscaling.NewFromConfig(cfg), eks.NewFromConfig(cfg)
	return &Reader{
		instances: e, instanceTypes: e, network: e,
		groups: a, activities: a,
		clusterList: k, clusters: k, nodegroups: k,
		presigner: sts.NewPresignClient(sts.NewFromConfig(cfg)),
		patience:  patience,
	}
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
	// Nodegroups are those whose state a person would look up.
	Nodegroups []string
	Launches   []snapshot.Launch
	// Sources are what to read beside the instances and groups.
	Sources []snapshot.Source
}

// Read takes a snapshot. The error is ErrNoCluster or nil: whatever else goes
// wrong is in the snapshot's Failures.
func (r *Reader) Read(ctx context.Context, q Query) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{
		Time: q.Time, Account: q.Account, Region: q.Region, Partition: partition(q.Region),
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
	}
	r.More(ctx, s, q, q.Sources...)
	return s, nil
}

func (r *Reader) patientCluster(ctx context.Context, name string) (snapshot.Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	return r.readCluster(ctx, name)
}

// More reads further sources into a snapshot; what was read or has failed
// already is left as it is.
func (r *Reader) More(ctx context.Context, s *snapshot.Snapshot, q Query, sources ...snapshot.Source) {
	vpc := s.Cluster.VPC
	if vpc == "" {
		vpc = q.VPC
	}
	clusterRead := s.Read[snapshot.Clusters]
	var (
		mu   sync.Mutex
		g    errgroup.Group
		done []func()
	)
	g.SetLimit(parallel)
	for _, source := range sources {
		if _, failed := s.Failures[source]; failed || s.Read[source] {
			continue
		}
		g.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, r.patience)
			defer cancel()
			keep, err := r.read(ctx, source, vpc, s.Cluster, clusterRead, q)
			mu.Lock()
			defer mu.Unlock()
			done = append(done, func() {
				if err != nil {
					s.Failures[source] = *failure(source, call(source), err)
					return
				}
				keep(s)
				s.Read[source] = true
			})
			return nil // each source keeps its own error
		})
	}
	_ = g.Wait()
	for _, keep := range done {
		keep()
	}
	for i := range s.NATGateways {
		s.NATGateways[i].Zone = zoneOf(s.Subnets, s.NATGateways[i].Subnet)
	}
}

var (
	errNoVPC        = errors.New("the cluster's VPC is not known")
	errClusterBlind = errors.New("the cluster could not be read")
)

// read reads one source and returns how to keep it.
func (r *Reader) read(ctx context.Context, source snapshot.Source, vpc string, c snapshot.Cluster, clusterRead bool, q Query) (func(*snapshot.Snapshot), error) {
	switch source {
	case snapshot.InstanceTypes:
		list, err := r.readInstanceTypes(ctx, typesOf(q.Instances))
		return keep(list, err, func(t snapshot.InstanceType) string { return t.Name }, func(s *snapshot.Snapshot) *[]snapshot.InstanceType { return &s.InstanceTypes })
	case snapshot.Activities:
		list, err := r.readActivities(ctx, namesOf(q.Groups))
		return keep(list, err, nil, func(s *snapshot.Snapshot) *[]snapshot.Activity { return &s.Activities })
	case snapshot.Nodegroups:
		list, err := r.readNodegroups(ctx, q.Cluster, q.Nodegroups)
		return keep(list, err, func(n snapshot.Nodegroup) string { return n.Name }, func(s *snapshot.Snapshot) *[]snapshot.Nodegroup { return &s.Nodegroups })
	case snapshot.Nodes:
		if !clusterRead {
			return nil, errClusterBlind
		}
		list, err := r.readNodes(ctx, c)
		return keep(list, err, func(n snapshot.Node) string { return n.Name }, func(s *snapshot.Snapshot) *[]snapshot.Node { return &s.Nodes })
	}
	if vpc == "" {
		return nil, errNoVPC
	}
	switch source {
	case snapshot.Subnets:
		list, err := r.readSubnets(ctx, vpc)
		return keep(list, err, func(x snapshot.Subnet) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.Subnet { return &s.Subnets })
	case snapshot.VPCs:
		list, err := r.readVPCs(ctx, vpc)
		return keep(list, err, func(x snapshot.VPC) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.VPC { return &s.VPCs })
	case snapshot.RouteTables:
		list, err := r.readRouteTables(ctx, vpc)
		return keep(list, err, func(x snapshot.RouteTable) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.RouteTable { return &s.RouteTables })
	case snapshot.NATGateways:
		list, err := r.readNATGateways(ctx, vpc)
		return keep(list, err, func(x snapshot.NATGateway) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.NATGateway { return &s.NATGateways })
	case snapshot.InternetGateways:
		list, err := r.readInternetGateways(ctx, vpc)
		return keep(list, err, func(x snapshot.InternetGateway) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.InternetGateway { return &s.InternetGateways })
	case snapshot.Endpoints:
		list, err := r.readEndpoints(ctx, vpc)
		return keep(list, err, func(x snapshot.Endpoint) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.Endpoint { return &s.Endpoints })
	}
	return nil, errors.New("no reader for " + string(source))
}

// keep returns what stores a list, sorted, in its place.
func keep[T any](list []T, err error, id func(T) string, place func(*snapshot.Snapshot) *[]T) (func(*snapshot.Snapshot), error) {
	if err != nil {
		return nil, err
	}
	if id != nil {
		list = sorted(list, id)
	}
	return func(s *snapshot.Snapshot) { *place(s) = list }, nil
}

func sorted[T any](list []T, id func(T) string) []T {
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(id(a), id(b)) })
	return list
}

func typesOf(list []snapshot.Instance) []string {
	var names []string
	for _, in := range list {
		if in.Type != "" { // EC2 refuses the whole call for one name that it does not know
			names = append(names, in.Type)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func namesOf(list []snapshot.Group) []string {
	var names []string
	for _, g := range list {
		names = append(names, g.Name)
	}
	return names
}

func zoneOf(subnets []snapshot.Subnet, id string) string {
	for _, s := range subnets {
		if s.ID == id {
			return s.Zone
		}
	}
	return ""
}

// partition is the ARN partition of a region.
func partition(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}
