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
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"rollcall/shared/access/denial"
	"rollcall/shared/arczonalshift"
	"rollcall/shared/backoff"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/cloudwatchlogs"
	"rollcall/shared/config"
	"rollcall/shared/gather/ec2api"
	gathereks "rollcall/shared/gather/eks"
	gatheriam "rollcall/shared/gather/iam"
	"rollcall/shared/gather/source"
	"rollcall/shared/gather/vpc"
	"rollcall/shared/kube"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/autolog"
	"rollcall/shared/route53"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
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
	sources func(sweep *vpc.Counts) []source.Source
	sweep   *vpc.Counts
	timeout time.Duration
	// decoder is nil where messages are not to be decoded.
	decoder *decoder
	// logs is nil where no log is to be read.
	logs *autoModeLogs
	// endpoint is another way to a cluster, on the local stage alone.
	endpoint func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool)
	// answers, if any, receives the answers of clusters' APIs.
	answers Answers
	// share, if any, is put before each way to a cluster's API.
	share func(next http.RoundTripper) http.RoundTripper
	// relay is the way to clusters that cannot be asked from here; nil for none.
	relay func(snapshot.Cluster) http.RoundTripper
	// contact, if any, is what is known of the one cluster that is read.
	contact *Contact
	// withheld is set where a setting keeps instances' user data and consoles from being read.
	withheld bool
}

// Answers takes what clusters' Kubernetes APIs answered, or how a request failed.
type Answers interface {
	Kubernetes(cluster, path string, query url.Values, body []byte, err error)
}

// sourceTimeout is how long one source may take. A throttled call rides out about
// ten seconds (package awsconf); with the cluster, its nodes and all the rest
// one after the other, a function of a minute still has time to say what did
// not answer.
const sourceTimeout = 14 * time.Second

// rounds is how many times its patience a reader gives to all the sources of
// one call of More, which may come in several waves.
const rounds = 2

// New makes a reader.
func New(cfg aws.Config) *Reader {
	e, a, k, i := ec2api.NewEC2(cfg), autoscaling.NewFromConfig(cfg), eks.NewFromConfig(cfg), iam.NewFromConfig(cfg)
	n, p, h, z, t := route53.NewResolver(cfg), route53.NewProfiles(cfg), route53.New(cfg), arczonalshift.New(cfg), sts.NewFromConfig(cfg)
	return &Reader{
		ec2: e, autoscaling: a, eks: k, sts: t,
		presigner: sts.NewPresignClient(t),
		sources:   func(sweep *vpc.Counts) []source.Source { return sources(e, a, k, i, n, p, h, z, sweep) },
		timeout:   sourceTimeout,
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

// Telling has each answer of clusters' Kubernetes APIs reported. The AWS
// configuration reports those of AWS.
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
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
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
		return failed || s.Read[o.Name] || unreached(o) || r.withholds(s, o)
	})
	limit := rounds * r.timeout
	for _, o := range left {
		if o.Timeouts > 1 {
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

// instanceData are the sources of what an instance was given and what it wrote, both of which
// can hold secrets.
func instanceData() []snapshot.Source {
	return []snapshot.Source{snapshot.UserDataOf, snapshot.Consoles}
}

// WithoutInstanceData is what is left of permissions where the setting instanceData is off.
func WithoutInstanceData(reads []spec.Read) []spec.Read {
	var left []spec.Read
	for _, r := range reads {
		r.Actions = slices.DeleteFunc(slices.Clone(r.Actions), func(action string) bool {
			return slices.ContainsFunc(instanceData(), func(name snapshot.Source) bool { return slices.Contains(Permissions(name), action) })
		})
		if len(r.Actions) > 0 {
			left = append(left, r)
		}
	}
	return left
}

// Withholding has user data and consoles of instances not read, where on is set.
func (r *Reader) Withholding(on bool) *Reader {
	r.withheld = on
	return r
}

// withholds notes that a source is not read because a setting forbids it.
func (r *Reader) withholds(s *snapshot.Snapshot, o source.Source) bool {
	if !r.withheld || !slices.Contains(instanceData(), o.Name) {
		return false
	}
	f := o.Skipped("the setting instanceData is off")
	f.Code = snapshot.Withheld
	s.Failures[o.Name] = f
	return true
}

// callAssumeRole is what fails where a cluster knows the role alone that the reader
// could not assume.
const callAssumeRole = "sts:AssumeRole"

// ofAll reports whether a failure is not of one list but of the whole API: it does
// not answer, or does not authenticate us. Reading the rest would only take time,
// and report one fault six times.
func ofAll(f snapshot.Failure) bool {
	return f.Reason == snapshot.Unreachable || f.Reason == snapshot.TimedOut || f.Reason == snapshot.NotRead || f.Code == "Unauthorized" || f.Call == callAssumeRole
}

func (r *Reader) patienceFor(s source.Source) time.Duration {
	return time.Duration(max(s.Timeouts, 1)) * r.timeout
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

// AddressSources is what a look at the subnets reads: what the checks of
// addresses need, what launches into them, and how aws-node takes addresses.
// That no instance is among it keeps the look small: what is in use is counted
// by the interfaces.
func AddressSources(list []check.Check) []snapshot.Source {
	return union(list, snapshot.Clusters, snapshot.Groups, snapshot.Nodegroups, snapshot.LaunchTemplates, snapshot.Subnets, snapshot.InstanceTypes,
		snapshot.AWSNode, snapshot.ENIConfigsOf, snapshot.CIDRsKept, snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf)
}

// ListAccountAliases is the permission of Alias, in the accounts of spokes. The call takes no
// resource (service authorization reference, IAM).
func ListAccountAliases() spec.Read {
	return spec.Read{Actions: []string{"iam:ListAccountAliases"}, Resources: []string{string(spec.NoResource)}}
}

// AskAlias is the same permission in the hub's own account, where other accounts are watched
// beside it: a hub alone has nothing to tell apart, and does not ask.
func AskAlias(getenv func(string) string) ([]spec.Grant, error) {
	c, err := config.Load(getenv, []spec.Variable{config.Spokes})
	if err != nil || len(c.Spokes) == 0 {
		return nil, err
	}
	return []spec.Grant{{
		Sid:       "AskAlias",
		Why:       "With several accounts, messages show each account's alias, which only IAM returns.",
		Actions:   ListAccountAliases().Actions,
		Resources: []spec.Resource{spec.NoResource},
	}}, nil
}

// Alias reads the alias of the account whose credentials these are. That the credentials may
// not ask for it is denied; that there are none, or that IAM does not answer, is a failure.
func Alias(cfg aws.Config) func(ctx context.Context) (alias string, denied bool, failed *snapshot.Failure) {
	api := iam.NewFromConfig(cfg)
	asks := source.Source{Calls: []source.Call{{Action: ListAccountAliases().Actions[0], Resources: ListAccountAliases().Resources}}}
	return func(ctx context.Context) (string, bool, *snapshot.Failure) {
		alias, err := gatheriam.Alias(ctx, api)
		if err == nil {
			return alias, false, nil
		}
		f := asks.Failure(err)
		if f.Reason == snapshot.Denied && f.Call == asks.Calls[0].Action {
			return "", true, nil
		}
		return "", false, f
	}
}

// Logs tells where logs are delivered to, and what is in a log group.
type Logs interface {
	DescribeDeliverySources(ctx context.Context, token string) ([]cloudwatchlogs.DeliverySource, string, error)
	DescribeDeliveries(ctx context.Context, token string) ([]cloudwatchlogs.Delivery, string, error)
	DescribeDeliveryDestinations(ctx context.Context, token string) ([]cloudwatchlogs.DeliveryDestination, string, error)
	FilterLogEvents(context.Context, cloudwatchlogs.Filter) ([]cloudwatchlogs.Event, string, error)
}

var _ Logs = (*cloudwatchlogs.Client)(nil)

// filterAction is the permission without which no record is read.
const filterAction = "logs:FilterLogEvents"

// AutoModeLogs are the permissions to find and to read the logs of EKS Auto Mode, as
// the settings have it. The lists take no resource and have no condition keys of their
// own (service authorization reference, "Actions, resources, and condition keys for
// Amazon CloudWatch Logs"): they are bound to the Region. Policies name a log group
// with ":*" behind its name (botocore, logs/2014-03-28, LogGroup, arn).
func AutoModeLogs(getenv func(string) string) ([]spec.Grant, error) {
	c, err := config.Load(getenv, []spec.Variable{config.AutoModeLogs})
	if err != nil || len(c.AutoModeLogs) == 0 {
		return nil, err
	}
	var groups []spec.Resource
	for _, name := range c.AutoModeLogs {
		groups = append(groups, spec.Resource("arn:${Partition}:logs:${Region}:${Account}:log-group:"+name+":*"))
	}
	return []spec.Grant{
		{
			Sid:        "FindAutoModeLogs",
			Why:        "Each account chooses where EKS Auto Mode's logs are delivered: the deliveries name the log group.",
			Actions:    []string{"logs:DescribeDeliveries", "logs:DescribeDeliveryDestinations", "logs:DescribeDeliverySources"},
			Resources:  []spec.Resource{spec.NoResource},
			Conditions: map[string]map[string][]string{"StringEquals": {"aws:RequestedRegion": {"${Region}"}}},
		},
		{
			Sid:       "ReadAutoModeLogs",
			Why:       "If the NodeClaim says only that its launch failed, the reason is only in EKS Auto Mode's log.",
			Actions:   []string{filterAction},
			Resources: groups,
		},
	}, nil
}

const (
	// mostLists is how many pages of a list are read: 500 of each (an account has
	// 1,000 sources at most; CloudWatch Logs user guide, "CloudWatch Logs quotas").
	mostLists = 10
	// mostEvents is a page of events, mostPages how many are read of a log group: a
	// page may be empty and not the last.
	mostEvents, mostPages = 100, 5
	// mostRecords are kept of one look.
	mostRecords = 20
)

// Classify tells the check that looks for what a line of Karpenter tells; empty where
// it tells no cause.
type Classify func(line string) checkid.ID

// autoModeLogs reads the logs of EKS Auto Mode.
type autoModeLogs struct {
	api    Logs
	groups config.LogGroups
	// classify comes from outside: only who reads logs has the tables of texts, which
	// take 3 ms to make when a function starts.
	classify Classify
}

// ReadingLogs lets the reader read what EKS Auto Mode logs, in those log groups; none
// is not to.
func (r *Reader) ReadingLogs(api Logs, groups config.LogGroups, classify Classify) *Reader {
	if len(groups) > 0 {
		r.logs = &autoModeLogs{api, groups, classify}
	}
	return r
}

// readLogs reads what the logs say of the nodes of a snapshot that did not come. What
// cannot be read is a failure of its own: nothing else is judged by it.
func (r *Reader) readLogs(ctx context.Context, s *snapshot.Snapshot) {
	if r.logs == nil || s.AutoModeLogs != nil || !s.Read[snapshot.NodeClaimsOf] && len(s.Scope.Instances) == 0 {
		return
	}
	search, wanted := autolog.Wanted(s)
	if !wanted {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	found := &snapshot.AutoModeLogs{Names: search.Names, Cut: search.Cut}
	s.AutoModeLogs = found
	err := r.logs.read(ctx, s.Cluster.ARN, search, found)
	if err != nil {
		f := logsSource().Failure(err)
		if s.Failures[snapshot.AutoModeLogsOf] = *f; f.Code == snapshot.NotCaptured {
			s.AutoModeLogs = nil
		}
		return
	}
	for _, d := range found.Deliveries {
		if d.Failure != nil {
			s.Failures[snapshot.AutoModeLogsOf] = *d.Failure
			return
		}
	}
	s.Read[snapshot.AutoModeLogsOf] = true
}

// logsSource is known by its name and its calls alone: it is no source of All.
func logsSource() source.Source {
	return source.Source{Name: snapshot.AutoModeLogsOf, Calls: []source.Call{{Action: filterAction}}}
}

// read finds the deliveries of a cluster and reads their log groups, each once.
func (l *autoModeLogs) read(ctx context.Context, cluster string, search autolog.Search, found *snapshot.AutoModeLogs) error {
	var err error
	if found.Deliveries, err = l.deliveries(ctx, cluster); err != nil {
		return err
	}
	done := map[string]snapshot.LogDelivery{}
	for i := range found.Deliveries {
		d := &found.Deliveries[i]
		if d.Group == "" {
			continue
		}
		if before, is := done[d.Group]; is {
			d.Unnamed, d.Gone, d.Failure = before.Unnamed, before.Gone, before.Failure
			continue
		}
		if d.Unnamed = !l.groups.Name(d.Group); !d.Unnamed {
			err := l.records(ctx, *d, search, found)
			if d.Gone = source.Gone(err); err != nil && !d.Gone {
				d.Failure = logsSource().Failure(err)
			}
		}
		done[d.Group] = *d
	}
	slices.SortStableFunc(found.Records, func(a, b snapshot.LogRecord) int { return a.At.Compare(b.At) })
	capped(found)
	return nil
}

// capped keeps the first records: what came first says why the rest came.
func capped(l *snapshot.AutoModeLogs) {
	if len(l.Records) > mostRecords {
		l.Records, l.Cut = l.Records[:mostRecords], true
	}
}

// deliveries are those of a cluster's logs of EKS Auto Mode, sorted.
func (l *autoModeLogs) deliveries(ctx context.Context, cluster string) ([]snapshot.LogDelivery, error) {
	sources, err := pages(ctx, l.api.DescribeDeliverySources)
	if err != nil {
		return nil, fmt.Errorf("list the sources of deliveries: %w", err)
	}
	types := map[string]string{}
	for _, s := range sources {
		if slices.Contains(s.Resources, cluster) && autolog.Is(s.LogType) {
			types[s.Name] = s.LogType
		}
	}
	if len(types) == 0 {
		return nil, nil
	}
	all, err := pages(ctx, l.api.DescribeDeliveries)
	if err != nil {
		return nil, fmt.Errorf("list the deliveries: %w", err)
	}
	all = slices.DeleteFunc(all, func(d cloudwatchlogs.Delivery) bool { return types[d.Source] == "" })
	where := map[string]string{}
	if len(all) > 0 {
		destinations, err := pages(ctx, l.api.DescribeDeliveryDestinations)
		if err != nil {
			return nil, fmt.Errorf("list the destinations of deliveries: %w", err)
		}
		for _, d := range destinations {
			where[d.ARN] = d.Configuration.Resource
		}
	}
	own, err := arn.Parse(cluster)
	if err != nil {
		return nil, fmt.Errorf("the cluster's ARN: %w", err)
	}
	var list []snapshot.LogDelivery
	for _, d := range all {
		to := where[d.Destination]
		// Of a destination in another account only its own ARN is known.
		delivery := snapshot.LogDelivery{Type: types[d.Source], Destination: to, Group: logGroup(own, to)}
		if to == "" {
			delivery.Destination = d.Destination
		}
		list = append(list, delivery)
	}
	slices.SortFunc(list, func(a, b snapshot.LogDelivery) int {
		return strings.Compare(a.Type+" "+a.Destination, b.Type+" "+b.Destination)
	})
	return list, nil
}

// logGroup is the name of the log group of an ARN; empty for anything else, and for a
// group of another account or Region, whose name may be that of another one here.
func logGroup(own arn.ARN, text string) string {
	a, err := arn.Parse(text)
	name, is := strings.CutPrefix(a.Resource, "log-group:")
	if err != nil || a.Service != "logs" || !is || a.AccountID != own.AccountID || a.Region != own.Region {
		return ""
	}
	return strings.TrimSuffix(name, ":*")
}

// records adds what a log group says of what is searched for.
func (l *autoModeLogs) records(ctx context.Context, d snapshot.LogDelivery, search autolog.Search, found *snapshot.AutoModeLogs) error {
	f := cloudwatchlogs.Filter{Group: d.Group, Pattern: search.Pattern, Start: search.From, End: search.To, Most: mostEvents}
	for range mostPages {
		events, next, err := l.api.FilterLogEvents(ctx, f)
		if err != nil {
			return fmt.Errorf("read the log group %s: %w", d.Group, err)
		}
		for _, e := range events {
			if r, is := autolog.Read(d.Type, e.At, e.Message, search.Names); is {
				if d.Type == autolog.Compute {
					r.Cause = l.classify(r.Text)
				}
				found.Records = append(found.Records, r)
			}
		}
		if f.Next = next; next == "" {
			return nil
		}
	}
	found.Cut = true
	return nil
}

// pages reads a list.
func pages[T any](ctx context.Context, read func(context.Context, string) ([]T, string, error)) (all []T, err error) {
	token := ""
	for range mostLists {
		list, next, err := read(ctx, token)
		if err != nil {
			return nil, err
		}
		if all = append(all, list...); next == "" {
			return all, nil
		}
		token = next
	}
	return nil, source.ErrTooMany
}

// Contact is what is known of a cluster's Kubernetes API while several readers look at
// it one after the other: where it does not answer one of them, the others know
// and do not wait for it again. It is of one cluster and one sweep, and safe for
// concurrent use.
type Contact struct {
	mu       sync.Mutex
	endpoint string
	// silent is how it did not answer; nil: it has, or that is not known.
	silent  *backoff.Silence
	outcome backoff.Outcome
}

// NewContact begins with what an earlier sweep found, as long as the cluster has that
// endpoint; nil: nothing is known.
func NewContact(known *backoff.Silence) *Contact { return &Contact{silent: known} }

// Contacting has a reader tell, and heed, what is known of the cluster's API.
func (r *Reader) Contacting(c *Contact) *Reader {
	as := *r
	as.contact = c
	return &as
}

// Outcome is what was found, and how the API did not answer if it was silent.
func (c *Contact) Outcome() (backoff.Outcome, backoff.Silence) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outcome == backoff.Silent {
		return backoff.Silent, *c.silent
	}
	return c.outcome, backoff.Silence{}
}

// unanswered is the error in place of a connection that would bring none.
func (c *Contact) unanswered(endpoint string) error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endpoint = endpoint
	if c.silent == nil || c.silent.Endpoint != endpoint {
		return nil
	}
	return source.SilentError{Reason: c.silent.Reason, Code: c.silent.Code, Message: c.silent.Message}
}

// failed takes in that the nodes could not be listed: where that got no answer, the
// rest gets none (failsWithNodes).
func (c *Contact) failed(f snapshot.Failure) {
	if c == nil || f.Reason != snapshot.Unreachable && f.Reason != snapshot.TimedOut {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent, c.outcome = &backoff.Silence{Endpoint: c.endpoint, Reason: f.Reason, Code: f.Code, Message: f.Message}, backoff.Silent
}

func (c *Contact) answered() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent, c.outcome = nil, backoff.Answered
}

// Messages decodes the messages of requests that were denied.
type Messages interface {
	DecodeAuthorizationMessage(context.Context, *sts.DecodeAuthorizationMessageInput, ...func(*sts.Options)) (*sts.DecodeAuthorizationMessageOutput, error)
}

var _ Messages = (*sts.Client)(nil)

// decodeAction is the permission of the call.
const decodeAction = "sts:DecodeAuthorizationMessage"

// DecodeDenied is the permission to decode, as the settings have it. The action takes
// no resource and has no condition keys of its own (service authorization reference,
// "Actions, resources, and condition keys for AWS Security Token Service"): it is
// bound to the Region. STS decodes messages of the own account alone.
func DecodeDenied(getenv func(string) string) ([]spec.Grant, error) {
	c, err := config.Load(getenv, []spec.Variable{config.DecodeDenied})
	if err != nil || !c.DecodeDenied {
		return nil, err
	}
	return []spec.Grant{{
		Sid:        "DecodeDeniedLaunches",
		Why:        "EC2's error for a launch that a policy denied is encoded: only the decoded text names the statement and the missing tag.",
		Actions:    []string{decodeAction},
		Resources:  []spec.Resource{spec.NoResource},
		Conditions: map[string]map[string][]string{"StringEquals": {"aws:RequestedRegion": {"${Region}"}}},
	}}, nil
}

const (
	// mostDecoded is how many messages one look decodes: the newest of each group
	// before the others. What was decoded before takes no call.
	mostDecoded = 3
	// keptDecoded is how many a reader remembers: a sweep sees the same activities
	// every five minutes for an hour.
	keptDecoded = 100
	// decodes is how long a failed activity is of interest, as for the checks.
	decodes = time.Hour
)

// decoder decodes messages, each once.
type decoder struct {
	api  Messages
	lock sync.Mutex
	done map[string]snapshot.DecodedMessage
}

// Decoding lets the reader decode messages, where on is set.
func (r *Reader) Decoding(on bool) *Reader {
	if on {
		r.decoder = &decoder{api: r.sts, done: map[string]snapshot.DecodedMessage{}}
	}
	return r
}

// Decode decodes an encoded authorization message. What it says is kept as far as it
// tells which statement denied the request; neither the message nor the rest is
// logged or kept.
func (r *Reader) Decode(ctx context.Context, message string) snapshot.DecodedMessage {
	if r.decoder == nil {
		return snapshot.DecodedMessage{Encoded: message, Failure: &snapshot.Failure{
			Source: snapshot.DenialsOf, Reason: snapshot.Denied, Call: decodeAction, Message: "the setting decodeDenied is off",
		}}
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	return r.decoder.decode(ctx, message)
}

func (d *decoder) decode(ctx context.Context, message string) snapshot.DecodedMessage {
	d.lock.Lock()
	defer d.lock.Unlock()
	if known, done := d.done[message]; done {
		return known
	}
	m := snapshot.DecodedMessage{Encoded: message}
	out, err := d.api.DecodeAuthorizationMessage(ctx, &sts.DecodeAuthorizationMessageInput{EncodedMessage: aws.String(message)})
	if err == nil {
		var told snapshot.Denial
		if told, err = denial.Decoded(aws.ToString(out.DecodedMessage)); err == nil {
			m.Denial = &told
		}
	}
	if err != nil {
		m.Failure = source.Source{Name: snapshot.DenialsOf, Calls: []source.Call{{Action: decodeAction}}}.Failure(fmt.Errorf("decode an authorization message: %w", err))
	}
	if m.Denial != nil || undecodable(err) {
		if len(d.done) >= keptDecoded {
			clear(d.done)
		}
		d.done[message] = m
	}
	return m
}

// undecodable reports whether STS will never decode a message: it is another account's,
// has expired, or is a part of one (STS API, InvalidAuthorizationMessageException).
func undecodable(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == "InvalidAuthorizationMessageException"
}

// decodeActivities decodes the messages of launches that were denied in the last hour:
// each call's own, for two calls of one group may be denied by two policies.
func (r *Reader) decodeActivities(ctx context.Context, s *snapshot.Snapshot) {
	if r.decoder == nil || !s.Read[snapshot.Activities] || s.Read[snapshot.DenialsOf] {
		return
	}
	s.Read[snapshot.DenialsOf] = true
	calls := 0
	for _, message := range encodedMessages(s) {
		known := r.decoder.knows(message)
		if !known && calls == mostDecoded {
			continue
		}
		if !known {
			calls++
		}
		s.Denials = append(s.Denials, r.Decode(ctx, message))
	}
}

// encodedMessages are those of launches of the last hour, each once: the newest of each
// group, and then the others, the newest first.
func encodedMessages(s *snapshot.Snapshot) []string {
	list := slices.SortedStableFunc(slices.Values(s.Activities), func(a, b snapshot.Activity) int { return b.Started.Compare(a.Started) })
	seen, told := map[string]bool{}, map[string]bool{}
	var first, others []string
	for _, a := range list {
		if s.Time.Sub(cmp.Or(a.Started, a.Ended)) > decodes || !activity.Launching(a.About, a.Message) {
			continue
		}
		message, whole := denial.Encoded(activity.Reason(a.About, a.Message))
		if !whole || seen[message] {
			continue
		}
		seen[message] = true
		if told[a.Group] {
			others = append(others, message)
			continue
		}
		told[a.Group] = true
		first = append(first, message)
	}
	return append(first, others...)
}

// knows reports whether a message was decoded before, or never will be.
func (d *decoder) knows(message string) bool {
	d.lock.Lock()
	defer d.lock.Unlock()
	_, known := d.done[message]
	return known
}

// vpcsOf are the VPCs to look into: the cluster's, and others in which nodes
// of the scope are, as self-managed nodes can be.
func vpcsOf(s *snapshot.Snapshot, q Query) []string {
	ids := []string{cmp.Or(s.Cluster.VPC, q.VPC)}
	if ids[0] == "" {
		return nil
	}
	for _, i := range s.Instances {
		if i.VPC != "" && slices.Contains(s.Scope.Instances, i.ID) && !slices.Contains(ids, i.VPC) && len(ids) <= vpc.MaxFurther {
			ids = append(ids, i.VPC)
		}
	}
	return ids
}

// ClusterOf tells which cluster an instance belongs to by its tags, strongest
// first: EKS's own, EKS's system tag on nodes, then the tags that Kubernetes
// and the autoscalers use, which other distributions use too.
func ClusterOf(tags map[string]string) (cluster string, ok bool) {
	for _, key := range []string{"eks:cluster-name", "aws:eks:cluster-name", "eks:eks-cluster-name", "alpha.eksctl.io/cluster-name"} {
		if v := tags[key]; v != "" {
			return v, true
		}
	}
	for _, prefix := range []string{"kubernetes.io/cluster/", "k8s.io/cluster/", "k8s.io/cluster-autoscaler/"} {
		var names []string
		for key := range tags {
			if name, found := strings.CutPrefix(key, prefix); found && name != "" && name != "enabled" && !strings.Contains(name, "/") {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			return slices.Min(names), true
		}
	}
	return "", false
}
