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
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"golang.org/x/sync/errgroup"

	"rollcall/shared/arczonalshift"
	"rollcall/shared/gather/ec2api"
	gathereks "rollcall/shared/gather/eks"
	gatheriam "rollcall/shared/gather/iam"
	"rollcall/shared/gather/source"
	"rollcall/shared/gather/vpc"
	"rollcall/shared/kube"
	"rollcall/shared/route53"
	"rollcall/shared/route53profiles"
	"rollcall/shared/route53resolver"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// Reader reads AWS and Kubernetes.
type Reader struct {
	ec2         *ec2.Client
	autoscaling *autoscaling.Client
	eks         *eks.Client
	sts         *sts.Client
	presigner   kube.Presigner // makes the tokens for Kubernetes
	// sources makes them for one look; sweep is what its sweep has counted.
	sources  func(sweep *vpc.Counts) []source.Source
	sweep    *vpc.Counts
	patience time.Duration
	// decoder is nil where messages are not to be decoded.
	decoder *decoder
	// logs is nil where no log is to be read.
	logs *autoModeLogs
	// endpoint is another way to a cluster, on the local stage alone.
	endpoint func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool)
	// answers, if any, is told of the answers of clusters' APIs.
	answers Answers
	// share, if any, is put before each way to a cluster's API.
	share func(next http.RoundTripper) http.RoundTripper
	// relay is the way to clusters that cannot be asked from here; nil for none.
	relay func(snapshot.Cluster) http.RoundTripper
	// contact, if any, is what is known of the one cluster that is read.
	contact *Contact
}

// Answers takes what clusters' Kubernetes APIs answered, or how a request failed.
type Answers interface {
	Kubernetes(cluster, path string, query url.Values, body []byte, err error)
}

// patience is how long one source may take. A throttled call rides out about
// ten seconds (package awsconf); with the cluster, its nodes and all the rest
// one after the other, a function of a minute still has time to say what did
// not answer.
const patience = 14 * time.Second

// rounds is how many times its patience a reader gives to all the sources of
// one call of More, which may come in several waves.
const rounds = 2

// New makes a reader.
func New(cfg aws.Config) *Reader {
	e, a, k, i := ec2api.NewEC2(cfg), autoscaling.NewFromConfig(cfg), eks.NewFromConfig(cfg), iam.NewFromConfig(cfg)
	n, p, h, z, t := route53resolver.New(cfg), route53profiles.New(cfg), route53.New(cfg), arczonalshift.New(cfg), sts.NewFromConfig(cfg)
	return &Reader{
		ec2: e, autoscaling: a, eks: k, sts: t,
		presigner: sts.NewPresignClient(t),
		sources:   func(sweep *vpc.Counts) []source.Source { return sources(e, a, k, i, n, p, h, z, sweep) },
		patience:  patience,
	}
}

// Counting is a reader for one sweep: it counts the interfaces of a VPC once,
// however many of the swept clusters are in it. It is thrown away with the
// sweep, for what it knows ages.
func (r *Reader) Counting() *Reader {
	once := *r
	once.sweep = &vpc.Counts{}
	return &once
}

// WithEndpoints makes the reader reach the Kubernetes APIs of those clusters that
// have another way there, whatever endpoint EKS tells: the local stage's way
// (config.StageEndpoints). Where via is not nil it is taken in place of a connection.
func (r *Reader) WithEndpoints(door func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool)) *Reader {
	r.endpoint = door
	return r
}

// Telling has each answer of clusters' Kubernetes APIs told. What AWS answers is the
// configuration's to tell.
func (r *Reader) Telling(to Answers) *Reader {
	r.answers = to
	return r
}

// Query is what a look at a cluster is about.
type Query = source.Query

// ErrNoCluster is returned for a cluster that EKS does not have: the tags of
// other Kubernetes distributions look like its own.
var ErrNoCluster = errors.New("EKS has no cluster of this name in this region")

// Clusters lists the names of the region's clusters.
func (r *Reader) Clusters(ctx context.Context) ([]string, *snapshot.Failure) {
	names, err := gathereks.Names(ctx, r.eks)
	if err != nil {
		f := known(snapshot.Clusters).Failure(err)
		if f.Call != source.AssumeRole {
			f.Call = ListClusters().Actions[0]
		}
		return nil, f
	}
	return names, nil
}

// Read takes a snapshot. The error is ErrNoCluster or nil: whatever else goes
// wrong is in the snapshot's Failures.
func (r *Reader) Read(ctx context.Context, q Query) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{
		Time: q.Time, Account: q.Account, Region: q.Region, Partition: spoke.Partition(q.Region),
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
	case source.Gone(err):
		// "No cluster found for name: …": what the waiter ClusterDeleted of AWS's SDKs
		// takes for the end of a cluster. One that is being deleted is still described.
		return nil, fmt.Errorf("cluster %s: %w", q.Cluster, ErrNoCluster)
	case err != nil:
		s.Failures[snapshot.Clusters] = *known(snapshot.Clusters).Failure(err)
	default:
		s.Cluster = c
		s.Read[snapshot.Clusters] = true
		// A reminder names no account; the cluster's own ARN does.
		s.Account = cmp.Or(s.Account, gatheriam.AccountOf(c.ARN))
		q.Account = s.Account
	}
	r.More(ctx, s, q, q.Sources...)
	return s, nil
}

func (r *Reader) patientCluster(ctx context.Context, name string) (snapshot.Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	return gathereks.Describe(ctx, r.eks, name)
}

// More reads further sources into a snapshot, and those without which they
// cannot be read; what was read or has failed already is left as it is.
func (r *Reader) More(ctx context.Context, s *snapshot.Snapshot, q Query, names ...snapshot.Source) {
	v := source.View{Query: q, VPCs: vpcsOf(s, q), Snapshot: s}
	unreached := func(o source.Source) bool { return failsWithNodes(s, o) }
	left := slices.DeleteFunc(source.With(r.sources(r.sweep), names...), func(o source.Source) bool {
		_, failed := s.Failures[o.Name]
		return failed || s.Read[o.Name] || unreached(o)
	})
	limit := rounds * r.patience
	for _, o := range left {
		if o.Patience > 1 {
			limit += r.patienceFor(o)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if slices.ContainsFunc(left, source.Source.OfKubernetes) {
		session := r.connect(ctx, s.Cluster, s.Read[snapshot.Clusters])
		defer session.close()
		v.Kube, v.Connect = session.client, session.err
	}
	for _, wave := range source.Waves(left) {
		r.readAll(ctx, v, wave)
	}
	r.decodeActivities(ctx, s)
	r.readLogs(ctx, s)
	for i := range s.NATGateways {
		s.NATGateways[i].Zone = vpc.ZoneOf(s.Subnets, s.NATGateways[i].Subnet)
	}
}

// failsWithNodes notes that a source of Kubernetes fails as the nodes did, where
// that was the whole API's failure.
func failsWithNodes(s *snapshot.Snapshot, o source.Source) bool {
	f, down := s.Failures[snapshot.Nodes]
	if !down || !ofAll(f) || !o.OfKubernetes() {
		return false
	}
	f.Source = o.Name
	s.Failures[o.Name] = f
	return true
}

// callAssumeRole is what fails where a cluster knows the role alone that the reader
// could not assume.
const callAssumeRole = "sts:AssumeRole"

// ofAll tells a failure that is not of one list but of the whole API: nobody
// answers, or nobody knows us. Asking for the rest would only take time, and
// tell of one fault six times.
func ofAll(f snapshot.Failure) bool {
	return f.Reason == snapshot.Unreachable || f.Reason == snapshot.TimedOut || f.Reason == snapshot.NotRead || f.Code == "Unauthorized" || f.Call == callAssumeRole
}

func (r *Reader) patienceFor(s source.Source) time.Duration {
	return time.Duration(max(s.Patience, 1)) * r.patience
}

// readAll reads sources at the same time, and then keeps what was read.
func (r *Reader) readAll(ctx context.Context, v source.View, list []source.Source) {
	stores := make([]source.Store, len(list))
	errs := make([]error, len(list))
	var g errgroup.Group
	g.SetLimit(source.Parallel)
	for i, s := range list {
		g.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, r.patienceFor(s))
			defer cancel()
			stores[i], errs[i] = s.ReadFrom(ctx, v)
			return nil // each source keeps its own error
		})
	}
	_ = g.Wait()
	for i, s := range list {
		if errs[i] != nil {
			f := *s.Failure(errs[i])
			v.Snapshot.Failures[s.Name] = f
			if s.Name == snapshot.Nodes && v.Connect == nil {
				r.contact.failed(f)
			}
			continue
		}
		if s.Name == snapshot.Nodes {
			r.contact.answered()
		}
		stores[i](v.Snapshot)
		v.Snapshot.Read[s.Name] = true
	}
}
