package simaws

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/kubeapi"
)

// cluster is the Kubernetes API of one cluster.
type cluster struct {
	endpoint string
	ca       []byte
}

// startCluster starts the Kubernetes API of a cluster on its own port, with
// its own authority, as each EKS cluster has.
func (c *Cloud) startCluster(name string) error {
	out, err := c.cfg.World.DescribeCluster(&eks.DescribeClusterInput{Name: &name})
	if err != nil {
		return fmt.Errorf("describe cluster %s: %w", name, err)
	}
	authority, err := kubeapi.NewAuthority(c.cfg.Wall())
	if err != nil {
		return fmt.Errorf("cluster %s: %w", name, err)
	}
	api := kubeapi.New(kubeapi.Config{
		Version:      aws.ToString(out.Cluster.Version),
		Authenticate: func(_ context.Context, token string) (kubeapi.User, error) { return c.authenticate(name, token) },
		Objects: func(plural string) ([]json.RawMessage, string, error) {
			return c.cfg.Objects(name, plural)
		},
		Faults: c.cfg.Faults, Record: c.wire.Record, Now: c.cfg.Now, Wall: c.cfg.Wall,
	})
	at, err := c.serve(c.cfg.Host+name+".kubernetes.invalid", c.within(name, api), func(s *http.Server) error {
		s.TLSConfig, err = authority.ServerTLS()
		return err
	})
	if err != nil {
		return fmt.Errorf("cluster %s: %w", name, err)
	}
	c.clusters[name] = &cluster{endpoint: "https://" + at, ca: authority.PEM()}
	return nil
}

// within answers what comes from where the endpoint of a cluster's API answers.
func (c *Cloud) within(cluster string, api http.Handler) http.Handler {
	if c.cfg.Within == nil {
		return api
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !c.cfg.Within(cluster, req) {
			<-req.Context().Done()
			return
		}
		api.ServeHTTP(w, req)
	})
}

// authenticate does what EKS's authenticator does: believe the token's
// signature, and look for an access entry or a mapping in aws-auth, as the
// cluster's authentication mode has it. Someone without either is not known to
// the cluster, which is a 401: the authenticator denies the token review
// (aws-iam-authenticator, pkg/server/server.go, authenticateEndpoint), and the API
// server answers whom nobody knows with "Unauthorized" (held against a real one in
// local/kubetest). Someone with one that does not let him is known, and gets a 403
// later.
func (c *Cloud) authenticate(cluster, token string) (kubeapi.User, error) {
	key, err := wire.VerifyClusterToken(token, cluster, c.cfg.Wall(), c.keys.secretFor)
	if err != nil {
		c.cfg.Log.Info("Kubernetes token refused", "cluster", cluster, "error", err)
		return kubeapi.User{}, err
	}
	id, _ := c.keys.of(key)
	user := kubeapi.User{Name: id.ARN, Principal: id.Principal}
	if id.Admin {
		user.Rules = []kubeapi.Rule{everything()}
		return user, nil
	}
	user.Rules, err = c.rulesOf(cluster, id.RoleARN)
	if err != nil {
		c.cfg.Log.Info("not known to the cluster", "cluster", cluster, "principal", id.RoleARN, "error", err)
		return kubeapi.User{}, err
	}
	return user, nil
}
