package stage

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"

	relayfunction "rollcall/functions/relay/relay"
	relayspec "rollcall/functions/relay/spec"
	"rollcall/local/platform/lambdaruntime"
	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
	"rollcall/local/simaws"
	"rollcall/local/simaws/world"
	"rollcall/shared/config"
	"rollcall/shared/lambda"
	"rollcall/shared/relay"
	"rollcall/shared/spoke"
)

// relayStage is a relay that is deployed.
type relayStage struct {
	// name is the function's in the runtime, which has one of each name for all accounts.
	name     string
	template *template.Template
}

// DeployRelay deploys the relay of a cluster, with other parameters than those that are right
// for it, if any.
func (s *Stage) DeployRelay(c spoke.Cluster, parameters map[string]string) error {
	w, cloud, id := s.whereIs(c)
	told, err := w.API().DescribeCluster(&eks.DescribeClusterInput{Name: &c.Name})
	if err != nil {
		return err
	}
	_, ca, ok := cloud.Kubernetes(c.Name)
	if !ok {
		return fmt.Errorf("cluster %s has no API", c.Name)
	}
	vpc := told.Cluster.ResourcesVpcConfig
	values := map[string]string{
		"FunctionName": relay.FunctionName("rollcall", c.Name), "ClusterArn": aws.ToString(told.Cluster.Arn), "ClusterEndpoint": aws.ToString(told.Cluster.Endpoint),
		"ClusterAuthority": base64.StdEncoding.EncodeToString(ca), "VpcId": aws.ToString(vpc.VpcId), "SubnetA": vpc.SubnetIds[0], "SubnetB": vpc.SubnetIds[len(vpc.SubnetIds)-1],
		"ClusterSecurityGroup": aws.ToString(vpc.ClusterSecurityGroupId), "CodeBucket": "stage", "CodeKey": "relay.zip",
	}
	maps.Copy(values, parameters)
	source, err := s.options.read(s.options.RelayTemplate)
	if err != nil {
		return err
	}
	t, err := template.Parse(source, template.Options{AccountID: id.Account, Region: id.Region, Parameters: values})
	if err != nil {
		return err
	}
	if len(t.Functions) != 1 {
		return fmt.Errorf("the relay's template has %d functions", len(t.Functions))
	}
	f := t.Functions[0]
	if x, ok := s.spokes[c.ID]; ok {
		x.deployment.Beside(t)
	} else {
		s.Deployment.Beside(t)
	}
	s.mu.Lock()
	deployed, again := s.relays[f.ARN]
	s.mu.Unlock()
	if again {
		if err := s.Runtime.Configure(deployed.name, s.relayEnvironment(f)); err != nil {
			return err
		}
		deployed.template = t
		return nil
	}
	x := &relayStage{name: f.ARN, template: t}
	run := lambdaruntime.Function{
		Name: x.name, ARN: f.ARN, Handler: f.Handler, Env: s.relayEnvironment(f), Timeout: s.timeout(f.Timeout), Memory: f.Memory, MaxRetries: -1,
	}
	if s.network == nil {
		run.Binary = filepath.Join(s.options.Binaries, relayspec.Name, "bootstrap")
	} else {
		run.Inside = func(life context.Context, env map[string]string, log io.Writer) func(context.Context, json.RawMessage) (any, error) {
			// In the cluster's VPC, and with no credentials that anybody knows.
			return lambda.New(relayspec.Name, relayspec.Environment(), relayfunction.Build, func(name string) string { return env[name] }, log).
				By(lambda.Way{AWS: aws.Config{Region: id.Region}, HTTP: alive{life, s.network}}).Invoke
		}
	}
	if err := s.Runtime.Add(run); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.relays == nil {
		s.relays = map[string]*relayStage{}
	}
	s.relays[f.ARN] = x
	return nil
}

func (s *Stage) relayEnvironment(f template.Function) map[string]string {
	env := maps.Clone(f.Environment)
	env[string(config.StageClock)] = s.Clock.Env()
	if s.network == nil {
		// It has a role, but asks AWS for nothing: nobody else's credentials are lent to it.
		env["AWS_EC2_METADATA_DISABLED"] = "true"
	}
	return env
}

// whereIs is the account of a cluster: its world, its part of AWS, and itself.
func (s *Stage) whereIs(c spoke.Cluster) (*world.World, *simaws.Cloud, spoke.ID) {
	if x, ok := s.spokes[c.ID]; ok {
		return x.world, x.cloud, c.ID
	}
	return s.World, s.Cloud, spoke.ID{Account: s.Template.AccountID, Region: s.Template.Region}
}

// invoke runs a relay: the stage's other functions are invoked by what wakes them. Another
// account's callers are let in by the function's own policy alone, its permissions (Lambda
// developer guide, "Working with resource-based IAM policies in Lambda").
func (s *Stage) invoke(ctx context.Context, function string, caller wire.Principal, event []byte) (*awslambda.InvokeOutput, bool, bool, error) {
	s.mu.Lock()
	x, ok := s.relays[function]
	s.mu.Unlock()
	if !ok {
		return nil, false, false, nil
	}
	if caller.Account != x.template.AccountID &&
		!slices.ContainsFunc(x.template.Permissions, func(p template.Permission) bool { return p.Principal == caller.Account }) {
		return nil, true, false, nil
	}
	r, err := s.Runtime.Invoke(ctx, x.name, event)
	if err != nil {
		return nil, true, true, err
	}
	out := &awslambda.InvokeOutput{Payload: r.Payload}
	if r.FunctionError != "" {
		out.FunctionError = aws.String(r.FunctionError)
	}
	return out, true, true, nil
}

// relayed tells that a cluster is reached through its relay alone.
func (s *Stage) relayed(c spoke.Cluster) bool {
	if s.options.RelayTemplate == "" {
		return false
	}
	w, _, _ := s.whereIs(c)
	if w == nil {
		return false
	}
	told, err := w.API().DescribeCluster(&eks.DescribeClusterInput{Name: &c.Name})
	if err != nil {
		return false
	}
	// EKS drops what publicAccessCidrs does not name (EKS user guide, "Cluster API server
	// endpoint"), and functions outside a VPC leave from any address of AWS.
	v := told.Cluster.ResourcesVpcConfig
	return !v.EndpointPublicAccess || len(v.PublicAccessCidrs) > 0 && !slices.Contains(v.PublicAccessCidrs, "0.0.0.0/0")
}

// private tells that a host is the API of such a cluster.
func (s *Stage) private(host string) bool {
	if s.options.RelayTemplate == "" {
		return false
	}
	for _, c := range s.allClusters() {
		if _, cloud, _ := s.whereIs(c); cloud != nil && s.relayed(c) {
			endpoint, _, _ := cloud.Kubernetes(c.Name)
			if u, err := url.Parse(endpoint); err == nil && u.Host == host {
				return true
			}
		}
	}
	return false
}

// within tells whether a request comes from where the API of a spoke's cluster answers. On
// the loopback of this machine all come from one address, so the relay, the only one in the
// VPC, is told by how it introduces itself; on a network of its own see outside.
func (s *Stage) within(id spoke.ID) func(string, *http.Request) bool {
	return func(cluster string, req *http.Request) bool {
		return s.network != nil || !s.relayed(spoke.Cluster{ID: id, Name: cluster}) || req.UserAgent() == relayfunction.UserAgent
	}
}

func (s *Stage) allClusters() (list []spoke.Cluster) {
	for _, name := range s.clusters {
		list = append(list, spoke.Cluster{Name: name})
	}
	for id, x := range s.spokes {
		for _, name := range x.world.Clusters() {
			list = append(list, spoke.Cluster{ID: id, Name: name})
		}
	}
	return list
}

// outside is a network from where private hosts are not reached: what is sent there is
// dropped, until the dialler gives up (package kube).
type outside struct {
	next    http.RoundTripper
	private func(host string) bool
}

const dropped = 4 * time.Second

func (o outside) RoundTrip(req *http.Request) (*http.Response, error) {
	if !o.private(req.URL.Host) {
		return o.next.RoundTrip(req)
	}
	timer := time.NewTimer(dropped)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}
