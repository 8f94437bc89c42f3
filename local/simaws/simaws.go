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
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/local/platform/loopback"
	"rollcall/local/platform/wire"
	"rollcall/local/simaws/kubeapi"
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
	// Identities may sign requests; nobody else may.
	Identities []Identity
	// MayAssume tells whether somebody may assume a role. Nil lets nobody.
	MayAssume func(caller Identity, in *sts.AssumeRoleInput) (bool, error)
	// Route tells who answers what is signed by a key for a region, if not this account's
	// part of AWS: another's, where there are several. Nil is nobody.
	Route func(accessKeyID, region string) *Cloud
	// Assumed is told of each session that was made of another account's role. Nil is nobody.
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
	// Within tells whether a request to a cluster's API comes from where its endpoint answers.
	// What does not is dropped: nobody answers it. Nil answers all.
	Within func(cluster string, req *http.Request) bool
	// Groups are the rules that the Kubernetes groups of access entries have
	// through role bindings in the clusters.
	Groups map[string][]kubeapi.Rule
	// Faults is asked before each call, to AWS and to Kubernetes. Nil is none.
	Faults wire.Faults
	// Admit is asked before each AWS call that was understood; see wire.Config.
	// Nil lets all through.
	Admit func(ctx context.Context, call *wire.Call, in any) error
	// MinLatency is the least time an AWS call takes. Zero is 2 ms (see
	// wire.Config), and none on a network of its own.
	MinLatency time.Duration
	// Observe gets each AWS call of a known caller; see wire.Config. Nil is
	// nobody.
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
