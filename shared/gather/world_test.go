package gather

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws"
	"rollcall/local/simaws/kubeapi"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/resolver"
	"rollcall/local/simaws/world"
	"rollcall/local/simaws/worldfile"
	"rollcall/shared/snapshot"
)

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
	worlds, err := filepath.Abs("../../local/worlds")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	base, err := filepath.Rel(dir, filepath.Join(worlds, "route.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "world.yaml")
	if err := os.WriteFile(path, []byte("extends: "+base+"\n"+change), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := worldfile.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func start(t *testing.T, file *worldfile.File, faults wire.Faults, without string) *place {
	t.Helper()
	w, err := world.New(file, world.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
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
func resolve(s *wire.Server, operation string, api func(*resolver.Input) (json.RawMessage, error)) {
	wire.HandlePlain(s, "route53resolver", operation, func(_ context.Context, _ *wire.Call, in *resolver.Input) (json.RawMessage, error) { return api(in) })
}

// kubernetes starts the API of the world's cluster.
func (p *place) kubernetes(t *testing.T, without string) (endpoint string, ca []byte) {
	t.Helper()
	authority, err := kubeapi.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
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
