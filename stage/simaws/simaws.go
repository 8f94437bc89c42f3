// Package simaws is the simulated AWS of the local stage: one HTTP entry point
// for all AWS services and one TLS listener for the Kubernetes API of each
// cluster, all on loopback. It holds no resources of its own. What EC2, Auto
// Scaling, EKS and IAM answer is the world's business, messages are the queue
// engine's, and events go to a sink; this package gives them the wire.
package simaws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"go.yaml.in/yaml/v3"

	"rollcall/stage/platform/loopback"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/cloudtrail"
	"rollcall/stage/simaws/kubeapi"
)

// Config is what the simulated AWS is made of.
type Config struct {
	Account, Region string
	// World answers EC2, Auto Scaling, IAM and EKS: each of its methods
	// func(*XInput) (*XOutput, error) is served as the operation X.
	World World
	// EntryAdmits reports whether an access entry is of the role that its ARN names now. Nil:
	// each is.
	EntryAdmits func(cluster, principal string) bool
	// Queues answers SQS. Nil serves no SQS.
	Queues Queues
	// History answers CloudTrail's LookupEvents. Nil serves no CloudTrail.
	History History
	// Identities alone may sign requests.
	Identities []Identity
	// MayAssume reports whether a caller may assume a role. Nil allows none.
	MayAssume func(caller Identity, in *sts.AssumeRoleInput) (bool, error)
	// Route returns who answers what is signed by a key for a region, if not this account's
	// part of AWS: another's, where there are several. Nil finds none.
	Route func(accessKeyID, region string) *Cloud
	// Assumed is called with each session that was made of another account's role, if set.
	Assumed func(Identity)
	// Host begins the names by which this account's part of AWS is found on a network of its
	// own, where there are several.
	Host string
	// Secrets are the values in Secrets Manager by name.
	Secrets map[string]string
	// Topics are the ARNs of SNS's topics. None serves no SNS.
	Topics []string
	// Events takes each event that PutEvents accepts. Nil serves no
	// EventBridge.
	Events EventSink
	// Deployment answers what Lambda and EventBridge tell of a stack, found by the
	// form of its methods as World's are. Nil serves nothing of it.
	Deployment Deployment
	// Invoke runs functions that are invoked; nil for none.
	Invoke Invoke
	// DynamoDB answers DynamoDB. Nil serves none.
	DynamoDB http.Handler
	// S3 answers S3. Nil serves none.
	S3 http.Handler
	// Meter, if any, counts what the calls of DynamoDB take.
	Meter *Meter
	// Clusters get a Kubernetes API each. Objects lists what is in one.
	Clusters []string
	Objects  func(cluster, plural string) (items []json.RawMessage, version string, err error)
	// Endpoints tells DescribeCluster to answer with the endpoint and the
	// authority that World has, which are not those of the listener: who wants
	// to reach it asks Kubernetes.
	Endpoints bool
	// Within reports whether a request to a cluster's API comes from where its endpoint answers.
	// What does not is dropped without an answer. Nil answers all.
	Within func(cluster string, req *http.Request) bool
	// Groups are the rules that the Kubernetes groups of access entries have
	// through role bindings in the clusters.
	Groups map[string][]kubeapi.Rule
	// Granted are the rules that a group has through what was applied in a cluster. Nil is none.
	Granted func(cluster, group string) []kubeapi.Rule
	// Apply takes a role or a binding that is applied in a cluster, and reports whether it was
	// there. Nil takes none.
	Apply func(cluster, plural string, object json.RawMessage) (there bool, err error)
	// CloudFormation answers CloudFormation, found by the form of its methods as World's are.
	// Nil serves none.
	CloudFormation any
	// Faults is asked before each call, to AWS and to Kubernetes. Nil is none.
	Faults wire.Faults
	// Admit is asked before each AWS call that was understood; see wire.Config.
	// Nil lets all through.
	Admit func(ctx context.Context, call *wire.Call, in any) error
	// MinLatency is the least time an AWS call takes. Zero is 2 ms (see
	// wire.Config), and none on a network of its own.
	MinLatency time.Duration
	// Observe gets each AWS call of a known caller; see wire.Config. Nil is
	// no observer.
	Observe func(call wire.Call, in, out any, err error)
	// Now is stage time: of events and of ages. Wall is the clock of
	// signatures, certificates and the call record.
	Now, Wall func() time.Time
	// Network, if any, is where all of it is found, in place of ports of this machine.
	Network *loopback.Network
	// Log gets what clients must not see.
	Log *slog.Logger
}

// Cloud is a running simulated AWS.
type Cloud struct {
	secrets  sync.RWMutex // over cfg.Secrets and mails
	mails    []Mail
	cfg      Config
	wire     *wire.Server
	keys     *directory
	endpoint string
	clusters map[string]*cluster
	ops      map[string][]string
	servers  []*http.Server
	serving  sync.WaitGroup
	closed   sync.Once
	stop     func() bool
}

// defaultLatency keeps Go SDK clients whole; see wire.Config.MinLatency.
const defaultLatency = 2 * time.Millisecond

// Start listens on free ports of the loopback address, or on the configuration's
// network. The cloud stops when the context ends or Close is called.
func Start(ctx context.Context, cfg Config) (*Cloud, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	c := &Cloud{cfg: cfg, keys: newDirectory(cfg.Identities, cfg.Wall), clusters: map[string]*cluster{}, ops: map[string][]string{}}
	latency := cfg.MinLatency
	if latency == 0 && cfg.Network == nil {
		latency = defaultLatency
	}
	var err error
	c.wire, err = wire.New(wire.Config{
		Principals: c.keys.principal, Secret: c.keys.secret, Session: c.keys.session, Faults: cfg.Faults, Admit: cfg.Admit, MinLatency: latency, Now: cfg.Wall, Log: cfg.Log, Observe: cfg.Observe,
	})
	if err != nil {
		return nil, err
	}
	for _, name := range cfg.Clusters {
		if err := c.startCluster(name); err != nil {
			c.Close()
			return nil, err
		}
	}
	c.register()
	at, err := c.serve(cfg.Host+"127.0.0.1:2", c.front(), nil) // of loopback: STS is believed there
	if err != nil {
		c.Close()
		return nil, err
	}
	c.endpoint = "http://" + at
	c.stop = context.AfterFunc(ctx, c.shutdown)
	return c, nil
}

func (cfg *Config) check() error {
	switch {
	case cfg.World == nil:
		return errors.New("simaws: no world")
	case cfg.Now == nil || cfg.Wall == nil:
		return errors.New("simaws: no clock")
	case len(cfg.Clusters) > 0 && cfg.Objects == nil:
		return errors.New("simaws: clusters without objects")
	}
	if cfg.Faults == nil {
		cfg.Faults = wire.NoFaults{}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Endpoint is the address of all AWS services: the value of AWS_ENDPOINT_URL.
func (c *Cloud) Endpoint() string { return c.endpoint }

// Calls is the record of all calls so far, to AWS and to Kubernetes.
func (c *Cloud) Calls() []wire.Call { return c.wire.Calls() }

// Operations lists what is served, by service (the SDK's package names).
func (c *Cloud) Operations() map[string][]string { return maps.Clone(c.ops) }

// Kubernetes is the endpoint of a cluster's API and its authority in PEM.
func (c *Cloud) Kubernetes(cluster string) (endpoint string, ca []byte, ok bool) {
	k, ok := c.clusters[cluster]
	if !ok {
		return "", nil, false
	}
	return k.endpoint, k.ca, true
}

// Close stops all listeners and waits until nothing is served any more. A
// request that waits for messages ends when the queues are closed, so close
// those first.
func (c *Cloud) Close() {
	if c.stop != nil {
		c.stop()
	}
	c.shutdown()
	c.serving.Wait()
}

// graceful is how long requests may take to end once the cloud closes.
const graceful = time.Second

func (c *Cloud) shutdown() {
	c.closed.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), graceful)
		defer cancel()
		for _, s := range slices.Backward(c.servers) {
			if err := s.Shutdown(ctx); err != nil {
				// The only error is that requests are still there; cut them.
				_ = s.Close()
			}
		}
	})
}

// serve listens on a free port and serves a handler, with TLS if configured. On a
// network of its own it is found by its name.
func (c *Cloud) serve(name string, h http.Handler, secure func(*http.Server) error) (address string, err error) {
	if c.cfg.Network != nil {
		c.cfg.Network.Serve(name, h)
		return name, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(c.cfg.Log.Handler(), slog.LevelDebug)}
	run := s.Serve
	if secure != nil {
		if err := secure(s); err != nil {
			return "", errors.Join(err, l.Close())
		}
		run = func(l net.Listener) error { return s.ServeTLS(l, "", "") }
	}
	c.servers = append(c.servers, s)
	c.serving.Go(func() {
		if err := run(l); !errors.Is(err, http.ErrServerClosed) {
			c.cfg.Log.Error("listener ended", "error", err)
		}
	})
	return l.Addr().String(), nil
}

// accessRules are the rules of a principal in a cluster: those of the access
// policies that its access entry has, and of the entry's Kubernetes groups. A
// principal without an entry is an error.
func accessRules(w World, admits func(cluster, principal string) bool, cluster, principal string, groups func(string) []kubeapi.Rule) ([]kubeapi.Rule, error) {
	entry, err := w.DescribeAccessEntry(&eks.DescribeAccessEntryInput{ClusterName: &cluster, PrincipalArn: &principal})
	if err != nil {
		return nil, fmt.Errorf("describe access entry: %w", err)
	}
	if admits != nil && !admits(cluster, principal) {
		return nil, &wire.Error{Code: "ResourceNotFoundException", Message: "the access entry is of a role with another id"}
	}
	var rules []kubeapi.Rule
	if entry.AccessEntry != nil {
		for _, g := range entry.AccessEntry.KubernetesGroups {
			rules = append(rules, groups(g)...)
		}
	}
	in := &eks.ListAssociatedAccessPoliciesInput{ClusterName: &cluster, PrincipalArn: &principal}
	for {
		out, err := w.ListAssociatedAccessPolicies(in)
		if err != nil {
			return nil, fmt.Errorf("list associated access policies: %w", err)
		}
		for _, p := range out.AssociatedAccessPolicies {
			rules = append(rules, scoped(policyRules(aws.ToString(p.PolicyArn)), p.AccessScope)...)
		}
		if aws.ToString(out.NextToken) == "" {
			return rules, nil
		}
		in.NextToken = out.NextToken
	}
}

// scoped narrows the rules of a policy to the namespaces that it was
// associated for. With such a scope nothing of the cluster itself, such as
// nodes, can be read.
func scoped(rules []kubeapi.Rule, scope *ekstypes.AccessScope) []kubeapi.Rule {
	if scope == nil || scope.Type != ekstypes.AccessScopeTypeNamespace {
		return rules
	}
	for i := range rules {
		rules[i].Namespaces = scope.Namespaces
	}
	return rules
}

func everything() kubeapi.Rule {
	return kubeapi.Rule{Groups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}
}

// policyRules are the rules of EKS's access policies, as far as they are about
// what the stage serves. The lists are those of the EKS user guide
// (access-policy-permissions), and for AmazonAIOpsAssistantPolicy those of the
// CloudWatch guide: no nodes in the view policies, all but secrets' writers in
// the admin view.
func policyRules(arn string) []kubeapi.Rule {
	read := []string{"get", "list", "watch"}
	workloads := []kubeapi.Rule{
		{Groups: []string{""}, Verbs: read, Resources: []string{"configmaps", "endpoints", "events", "namespaces",
			"persistentvolumeclaims", "pods", "serviceaccounts", "services"}},
		{Groups: []string{"apps"}, Verbs: read, Resources: []string{"daemonsets", "deployments", "replicasets", "statefulsets"}},
	}
	switch arn[strings.LastIndex(arn, "/")+1:] {
	case "AmazonEKSClusterAdminPolicy":
		return []kubeapi.Rule{everything()}
	case "AmazonEKSAdminViewPolicy":
		return []kubeapi.Rule{{Groups: []string{"*"}, Resources: []string{"*"}, Verbs: read}}
	case "AmazonEKSViewPolicy", "AmazonEKSEditPolicy", "AmazonEKSAdminPolicy":
		return workloads
	case "AmazonAIOpsAssistantPolicy":
		getList := []string{"get", "list"}
		return []kubeapi.Rule{
			{Groups: []string{""}, Verbs: getList, Resources: []string{"configmaps", "events", "namespaces", "nodes",
				"persistentvolumeclaims", "persistentvolumes", "pods", "services"}},
			{Groups: []string{"apps"}, Verbs: getList, Resources: []string{"daemonsets", "deployments", "replicasets", "statefulsets"}},
		}
	}
	return nil
}

// rulesOf are a principal's rules in a cluster. Which of the two lists is asked
// is the cluster's authentication mode (EKS user guide, "Set Cluster
// Authentication Mode"): CONFIG_MAP has aws-auth alone, API access entries
// alone, API_AND_CONFIG_MAP both, and an access entry is what counts where both
// name a principal.
func (c *Cloud) rulesOf(cluster, principal string) ([]kubeapi.Rule, error) {
	out, err := c.cfg.World.DescribeCluster(&eks.DescribeClusterInput{Name: &cluster})
	if err != nil {
		return nil, fmt.Errorf("describe cluster %s: %w", cluster, err)
	}
	var mode ekstypes.AuthenticationMode
	if a := out.Cluster.AccessConfig; a != nil {
		mode = a.AuthenticationMode
	}
	if mode != ekstypes.AuthenticationModeConfigMap {
		rules, err := accessRules(c.cfg.World, c.cfg.EntryAdmits, cluster, principal, c.groupRules(cluster))
		var refused *wire.Error
		unknown := errors.As(err, &refused) && refused.Code == "ResourceNotFoundException"
		if !unknown || mode != ekstypes.AuthenticationModeApiAndConfigMap {
			return rules, err
		}
	}
	return c.mappedRules(cluster, principal)
}

// groupRules returns the rules of a group in a cluster.
func (c *Cloud) groupRules(cluster string) func(group string) []kubeapi.Rule {
	return func(group string) []kubeapi.Rule {
		rules := c.cfg.Groups[group]
		if c.cfg.Granted != nil {
			rules = slices.Concat(rules, c.cfg.Granted(cluster, group))
		}
		return rules
	}
}

// errNotMapped: aws-auth does not name a principal.
var errNotMapped = errors.New("aws-auth does not map the principal")

// mappedRules are the rules of the groups that aws-auth puts a role in, as EKS's
// authenticator reads it (kubernetes-sigs/aws-iam-authenticator, commit 81b1dab:
// pkg/mapper/configmap/mapper.go and configmap.go, pkg/arn/arn.go,
// pkg/server/server.go). What is looked up is the ARN that STS names, in which the
// role has no path. mapRoles comes before mapUsers, which may name a role's ARN
// too; whom neither names, but whose account stands in mapAccounts, is known and
// in no group.
func (c *Cloud) mappedRules(cluster, role string) ([]kubeapi.Rule, error) {
	items, _, err := c.cfg.Objects(cluster, "configmaps")
	if err != nil {
		return nil, fmt.Errorf("config maps of %s: %w", cluster, err)
	}
	for _, item := range items {
		var object struct {
			Metadata struct{ Name, Namespace string }
			Data     map[string]string // its keys count as they are written
		}
		if err := json.Unmarshal(item, &object); err != nil || object.Metadata.Name != "aws-auth" || object.Metadata.Namespace != "kube-system" {
			continue
		}
		principal := withoutPath(role)
		for _, list := range [][]mapping{mappings(object.Data["mapRoles"], mapping.role), mappings(object.Data["mapUsers"], mapping.user)} {
			// Of two for the same, the last one counts: saveMap keeps them by their ARN.
			for _, m := range slices.Backward(list) {
				if strings.EqualFold(m.arn, principal) {
					var rules []kubeapi.Rule
					for _, g := range m.Groups {
						rules = append(rules, c.groupRules(cluster)(g)...)
					}
					return rules, nil
				}
			}
		}
		var accounts []string
		if err := yaml.Unmarshal([]byte(object.Data["mapAccounts"]), &accounts); err == nil && slices.Contains(accounts, c.cfg.Account) {
			return nil, nil
		}
	}
	return nil, errNotMapped
}

// mapping is an entry of mapRoles or mapUsers. Its keys count in any case, as the
// authenticator reads the YAML as JSON.
type mapping struct {
	RoleARN string `json:"rolearn"`
	UserARN string `json:"userarn"`
	Groups  []string
	arn     string
}

func (m mapping) role() string { return m.RoleARN }
func (m mapping) user() string { return m.UserARN }

// mappings are the entries that have an ARN. What is no YAML has none; an entry of
// which a part is wrong keeps the others (ParseMap, "only saving data that was good").
func mappings(text string, arn func(mapping) string) (list []mapping) {
	var document any
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil
	}
	body, err := json.Marshal(document)
	if err != nil {
		return nil
	}
	// A wrong type is an error of encoding/json's only after it has read the rest.
	_ = json.Unmarshal(body, &list)
	for i := range list {
		list[i].arn = arn(list[i])
	}
	return slices.DeleteFunc(list, func(m mapping) bool { return m.arn == "" })
}

// withoutPath is a role's ARN as the authenticator sees it: that of a session
// holds the role's name alone.
func withoutPath(role string) string {
	account, path, _ := strings.Cut(role, ":role/")
	return account + ":role/" + path[strings.LastIndex(path, "/")+1:]
}

// Buckets are EC2's request token buckets: one for each API of the account in
// the region, whoever calls (EC2 API reference, "Request throttling"), CloudTrail's two
// lookups a second, and the 600 requests a second that STS takes. They are safe for
// concurrent use.
type Buckets struct {
	now    func() time.Time
	rivals []Rival

	mu    sync.Mutex
	state map[string]*bucket
}

// Rival is another caller in the account that calls an API again and again, and
// takes tokens of its bucket as they come.
type Rival struct {
	Operation string
	PerSecond float64
	From      time.Time
	Until     time.Time // a zero one has no end
}

// Count is what an API's bucket has seen.
type Count struct {
	// Calls are all, Throttled those among them that were refused. RivalCalls and
	// RivalThrottled are the rivals', which are not among them.
	Calls, Throttled           int
	RivalCalls, RivalThrottled int
	// Lowest is the least that was left in the bucket.
	Lowest float64
}

// Limit is a bucket's size and how many tokens come back to it each second.
type Limit struct{ Size, Refill float64 }

// bucket is the state of one API. rival is when the rivals call next.
type bucket struct {
	limit  Limit
	tokens float64
	at     time.Time
	rival  []time.Time
	count  Count
}

// NewBuckets makes full buckets. now is stage time.
func NewBuckets(now func() time.Time, rivals ...Rival) *Buckets {
	return &Buckets{now: now, rivals: rivals, state: map[string]*bucket{}}
}

// Admit takes a token for a call of EC2, CloudTrail or STS, or refuses it as they do.
func (b *Buckets) Admit(_ context.Context, call *wire.Call, in any) error {
	var name string
	var limit Limit
	switch call.Service {
	case "ec2":
		name, limit = limitOf(call.Operation, in)
	case "cloudtrail":
		// CloudTrail API reference, LookupEvents: two a second for an account in a
		// region.
		name, limit = call.Operation, Limit{2, 2}
	case "sts":
		// For the credentials of an account in a region, all calls together (IAM user guide,
		// "IAM and AWS STS quotas"). AssumeRole counts for the account that calls.
		name, limit = call.Service, Limit{600, 600}
	default:
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.bucket(name, limit)
	s.count.Calls++
	if !s.take(b.now(), b.rivalsOf(name)) {
		s.count.Throttled++
		return wire.Throttled
	}
	return nil
}

// Counts are what the buckets have seen, by API. Calls without a filter and
// without pages count apart, as "DescribeInstances (unfiltered)".
func (b *Buckets) Counts() map[string]Count {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(map[string]Count, len(b.state))
	for name, s := range b.state {
		out[name] = s.count
	}
	return out
}

func (b *Buckets) bucket(name string, limit Limit) *bucket {
	s := b.state[name]
	if s == nil {
		s = &bucket{limit: limit, tokens: limit.Size, at: b.now(), count: Count{Lowest: limit.Size}}
		b.state[name] = s
	}
	return s
}

func (b *Buckets) rivalsOf(name string) []Rival {
	return slices.DeleteFunc(slices.Clone(b.rivals), func(r Rival) bool { return r.Operation != name })
}

// take lets the time since the last call pass, with what the rivals took in
// it, and takes a token.
func (s *bucket) take(now time.Time, rivals []Rival) bool {
	for len(s.rival) < len(rivals) {
		s.rival = append(s.rival, later(s.at, rivals[len(s.rival)].From))
	}
	for {
		next := -1
		for i, r := range rivals {
			over := !r.Until.IsZero() && !s.rival[i].Before(r.Until)
			if !over && s.rival[i].Before(now) && (next < 0 || s.rival[i].Before(s.rival[next])) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		s.refill(s.rival[next])
		s.count.RivalCalls++
		if !s.spend() {
			s.count.RivalThrottled++
		}
		s.rival[next] = s.rival[next].Add(time.Duration(float64(time.Second) / rivals[next].PerSecond))
	}
	s.refill(now)
	return s.spend()
}

func (s *bucket) refill(now time.Time) {
	if d := now.Sub(s.at); d > 0 {
		s.tokens = min(s.limit.Size, s.tokens+d.Seconds()*s.limit.Refill)
		s.at = now
	}
}

func (s *bucket) spend() bool {
	if s.tokens < 1 {
		return false
	}
	s.tokens--
	s.count.Lowest = min(s.count.Lowest, s.tokens)
	return true
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// limitOf is the bucket of a call: EC2's published sizes and refill rates
// (API reference, "Request token bucket sizes and refill rates").
func limitOf(operation string, in any) (name string, l Limit) {
	switch operation {
	case "DescribeInstances", "DescribeInstanceStatus", "DescribeNetworkInterfaces", "DescribeSecurityGroups",
		"DescribeSnapshots", "DescribeSpotInstanceRequests", "DescribeVolumes":
		if !narrowed(in) {
			return operation + " (unfiltered)", Limit{50, 10}
		}
	case "DeleteNetworkInterface", "CreateNetworkInterface", "ModifyNetworkInterfaceAttribute",
		"AssignPrivateIpAddresses", "AssignIpv6Addresses", "CreateVolume", "DeleteVolume":
		return operation, Limit{100, 5}
	case "CreateTags", "DeleteTags":
		return operation, Limit{100, 10}
	}
	for _, verb := range []string{"Describe", "Get", "List", "Search"} {
		if strings.HasPrefix(operation, verb) {
			return operation, Limit{100, 20}
		}
	}
	return operation, Limit{50, 5}
}

// narrowed reports whether a call has a filter, names ids or asks for pages.
func narrowed(in any) bool {
	v := reflect.ValueOf(in)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return false
	}
	v = v.Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		switch v.Type().Field(i).Name {
		case "MaxResults", "NextToken":
			if !f.IsNil() {
				return true
			}
		default:
			if f.Kind() == reflect.Slice && f.Len() > 0 {
				return true
			}
		}
	}
	return false
}

// EventSink takes an event for a bus, as EventBridge would hand it to rules.
// bus is the name or ARN that the sender gave, "default" if none. A *wire.Error
// refuses the entry with its code.
type EventSink func(ctx context.Context, bus string, event json.RawMessage) error

// EventBridge's limits on one PutEvents call.
const (
	maxEntries    = 10
	maxEntryBytes = 256 << 10
	timeFieldSize = 14 // what the Time member counts in an entry's size
)

// putEvents checks the entries as EventBridge does and hands them to the sink.
// Entries succeed or fail one by one.
func (c *Cloud) putEvents(ctx context.Context, call *wire.Call, in *eventbridge.PutEventsInput) (*eventbridge.PutEventsOutput, error) {
	if n := len(in.Entries); n < 1 || n > maxEntries {
		what := fmt.Sprintf("length less than or equal to %d", maxEntries)
		if n == 0 {
			what = "length greater than or equal to 1"
		}
		return nil, wire.Errorf("ValidationException",
			"1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must have %s", what)
	}
	total := 0
	for _, e := range in.Entries {
		total += entrySize(e)
	}
	if total > maxEntryBytes {
		return nil, wire.Errorf("ValidationException", "Total size of the entries in the request is over the limit.")
	}
	out := &eventbridge.PutEventsOutput{}
	for i, e := range in.Entries {
		id := eventID(call.RequestID, i)
		if err := c.putEvent(ctx, id, e); err != nil {
			code, message := "InternalFailure", "An internal failure occurred."
			var refused *wire.Error
			if errors.As(err, &refused) {
				code, message = refused.Code, refused.Message
			} else {
				c.cfg.Log.Error("event not taken", "error", err)
			}
			out.FailedEntryCount++
			out.Entries = append(out.Entries, types.PutEventsResultEntry{ErrorCode: &code, ErrorMessage: &message})
			continue
		}
		out.Entries = append(out.Entries, types.PutEventsResultEntry{EventId: &id})
	}
	return out, nil
}

// eventID is the id of the i-th event of a request: the request's own id with
// the entry's number in its second part.
func eventID(requestID string, i int) string {
	first, rest, _ := strings.Cut(requestID, "-")
	_, rest, _ = strings.Cut(rest, "-")
	return fmt.Sprintf("%s-%04x-%s", first, i+1, rest)
}

func entrySize(e types.PutEventsRequestEntry) int {
	n := len(aws.ToString(e.Source)) + len(aws.ToString(e.DetailType)) + len(aws.ToString(e.Detail))
	for _, r := range e.Resources {
		n += len(r)
	}
	if e.Time != nil {
		n += timeFieldSize
	}
	return n
}

// envelope is an event as rules and targets see it.
type envelope struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Time       string          `json:"time"`
	Region     string          `json:"region"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
}

func (c *Cloud) putEvent(ctx context.Context, id string, e types.PutEventsRequestEntry) error {
	if err := checkEntry(e); err != nil {
		return err
	}
	at := c.cfg.Now()
	if e.Time != nil {
		at = *e.Time
	}
	event, err := json.Marshal(envelope{
		Version: "0", ID: id, DetailType: *e.DetailType, Source: *e.Source, Account: c.cfg.Account,
		Time: at.UTC().Format(time.RFC3339), Region: c.cfg.Region, Resources: append([]string{}, e.Resources...),
		Detail: json.RawMessage(*e.Detail),
	})
	if err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	bus := aws.ToString(e.EventBusName)
	if bus == "" {
		bus = "default"
	}
	return c.cfg.Events(ctx, bus, event)
}

// checkEntry decides whether EventBridge would take an entry.
func checkEntry(e types.PutEventsRequestEntry) error {
	missing := func(name string) *wire.Error {
		return wire.Errorf("InvalidArgument", "Parameter %s is not valid. Reason: %s is a required argument.", name, name)
	}
	switch {
	case aws.ToString(e.Source) == "":
		return missing("Source")
	case strings.HasPrefix(*e.Source, "aws."):
		return wire.Errorf("NotAuthorizedForSourceException", "Not authorized for the source.")
	case aws.ToString(e.DetailType) == "":
		return missing("DetailType")
	case aws.ToString(e.Detail) == "":
		return missing("Detail")
	}
	var detail map[string]json.RawMessage
	if err := json.Unmarshal([]byte(*e.Detail), &detail); err != nil || detail == nil {
		return wire.Errorf("MalformedDetail", "Detail is malformed.")
	}
	return nil
}

// FaultRule is something that goes wrong with calls.
type FaultRule struct {
	// Call is the action as IAM writes it, "ec2:DescribeRouteTables", or with
	// a star at its end, "ec2:*". Kubernetes calls are "kubernetes:list nodes".
	Call string
	// Caller narrows the rule to one function or role. Empty is everybody.
	Caller string
	Deny   bool
	// Throttle and Fail are the shares, 0 to 1, of calls that are throttled or
	// answered with a server error. They are spread evenly: 0.2 is each fifth.
	Throttle, Fail float64
	// Latency is added, in wall time.
	Latency time.Duration
	Reset   bool
	// Times limits the rule to so many calls with a fault. 0 is no limit.
	Times int
	// From and Until bound the rule in stage time. A zero Until has no end.
	From, Until time.Time
}

// FaultRules are faults by rule. They are safe for concurrent use.
type FaultRules struct {
	now   func() time.Time
	rules []FaultRule

	mu    sync.Mutex
	state []ruleState
}

// ruleState counts what a rule has seen.
type ruleState struct{ calls, faults int }

var _ wire.Faults = (*FaultRules)(nil)

// NewFaultRules makes faults of rules. now is stage time.
func NewFaultRules(rules []FaultRule, now func() time.Time) *FaultRules {
	return &FaultRules{now: now, rules: rules, state: make([]ruleState, len(rules))}
}

// Before waits for the latencies of the rules that match, and returns the
// first fault.
func (f *FaultRules) Before(ctx context.Context, call *wire.Call) error {
	latency, err := f.decide(call)
	if latency > 0 {
		t := time.NewTimer(latency)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

func (f *FaultRules) decide(call *wire.Call) (time.Duration, error) {
	now := f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	var latency time.Duration
	for i, r := range f.rules {
		st := &f.state[i]
		if !r.matches(call, now) || r.Times > 0 && st.faults >= r.Times {
			continue
		}
		st.calls++
		err := r.fault(st.calls)
		if err != nil || r.Latency > 0 {
			st.faults++
		}
		latency += r.Latency
		if err != nil {
			return latency, err
		}
	}
	return latency, nil
}

func (r FaultRule) matches(call *wire.Call, now time.Time) bool {
	if r.Caller != "" && r.Caller != call.Caller || now.Before(r.From) || !r.Until.IsZero() && !now.Before(r.Until) {
		return false
	}
	if prefix, ok := strings.CutSuffix(r.Call, "*"); ok {
		return strings.HasPrefix(call.Action(), prefix)
	}
	return r.Call == call.Action()
}

// fault is what happens to the n-th call that a rule sees.
func (r FaultRule) fault(n int) error {
	switch {
	case r.Deny:
		return wire.Denied
	case r.Reset:
		return wire.Reset
	case due(r.Throttle, n):
		return wire.Throttled
	case due(r.Fail, n):
		return wire.Broken
	}
	return nil
}

// due spreads a share evenly over calls: the n-th is due when the number of
// faults owed grows with it. The small term is for shares such as 0.1, whose
// sums fall just short of whole numbers.
func due(share float64, n int) bool {
	const rounding = 1e-9
	return int(float64(n)*share+rounding) > int(float64(n-1)*share+rounding)
}

// History is what CloudTrail remembers of the account, by region.
type History interface {
	LookupEventsIn(region string, in *cloudtrail.LookupEventsInput) (*cloudtrail.LookupEventsOutput, error)
}

func (c *Cloud) lookupEvents(_ context.Context, call *wire.Call, in *cloudtrail.LookupEventsInput) (*cloudtrail.LookupEventsOutput, error) {
	return c.cfg.History.LookupEventsIn(call.Region, in)
}
