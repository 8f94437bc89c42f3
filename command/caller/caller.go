// Package caller is who typed the command, to AWS and to Kubernetes: the profile, the
// region and the endpoint as every AWS tool reads them, and a context of a kubeconfig.
// What is wrong with them is reported in one line.
package caller

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"rollcall/shared/awsconf"
	"rollcall/shared/gather"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// Options are what the command line says; empty is what the environment and the
// profile say.
type Options struct {
	Region, Profile, Endpoint string
	// Kubeconfig is a file, Context one of its contexts. Without both clusters are
	// reached as EKS tells, with a token that is made of the AWS credentials.
	Kubeconfig, Context string
	// MFA asks for the code of a profile's MFA device; nil where no person can be asked.
	MFA awsconf.Ask
}

// Given reports whether the command line says anything.
func (o Options) Given() bool { return o.Region+o.Profile+o.Endpoint+o.Kubeconfig+o.Context != "" }

// Caller is who calls.
type Caller struct {
	AWS aws.Config
	// Account and ARN are whose the credentials are.
	Account, ARN string

	kube kubeconfig
}

// Mistake is what the caller can mend: credentials, a region, a name.
type Mistake struct{ error }

// Unwrap is why.
func (m Mistake) Unwrap() error { return m.error }

func mistake(format string, args ...any) error { return Mistake{fmt.Errorf(format, args...)} }

// firstAttempts are those of the call that shows whether AWS can be reached at all:
// whoever mistyped an endpoint does not wait for the retries that ride out an empty
// bucket.
const (
	firstAttempts = 2
	firstBackoff  = 200 * time.Millisecond
)

// Load finds the caller's credentials and asks AWS whose they are.
func Load(ctx context.Context, o Options, log *slog.Logger, calls *awsconf.Calls) (Caller, error) {
	asked := []func(*config.LoadOptions) error{awsconf.WithMFA(ctx, o.MFA)}
	if o.Region != "" {
		asked = append(asked, config.WithRegion(o.Region))
	}
	if o.Profile != "" {
		asked = append(asked, config.WithSharedConfigProfile(o.Profile))
	}
	if o.Endpoint != "" {
		asked = append(asked, config.WithBaseEndpoint(o.Endpoint))
	}
	kube, err := loadKubeconfig(o)
	if err != nil {
		return Caller{}, err
	}
	cfg, err := awsconf.Load(ctx, log, calls, asked...)
	if err != nil {
		return Caller{}, ofConfig(err)
	}
	if cfg.Region == "" {
		return Caller{}, mistake("no region: set --region, AWS_REGION or the profile's region")
	}
	if cfg.Credentials == nil {
		return Caller{}, noCredentials(nil)
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return Caller{}, ofCredentials(ctx, err, cfg, profileOf(o))
	}
	who, err := sts.NewFromConfig(cfg, func(o *sts.Options) {
		o.Retryer = retry.AddWithMaxBackoffDelay(retry.AddWithMaxAttempts(o.Retryer, firstAttempts), firstBackoff)
	}).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return Caller{}, ofIdentity(ctx, err, cfg.Region, profileOf(o))
	}
	return Caller{AWS: cfg, Account: aws.ToString(who.Account), ARN: aws.ToString(who.Arn), kube: kube}, nil
}

// line is an error on one line, and not a long one.
func line(err error) string {
	text := []rune(strings.Join(strings.Fields(err.Error()), " "))
	const most = 300
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

// Reader reads clusters.
type Reader interface {
	Clusters(ctx context.Context) ([]string, *snapshot.Failure)
	Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error)
}

var _ Reader = (*gather.Reader)(nil)

// parallel bounds the clusters that are described at once: EKS publishes no rate for
// DescribeCluster, and all callers of an account and region share it.
const parallel = 5

// Clusters finds those that are named, or all of the region. One that is not there is
// a mistake that names what is; one that may not be described is found all the same.
func (c Caller) Clusters(ctx context.Context, r Reader, names []string, all bool) ([]snapshot.Cluster, error) {
	if all {
		var failed *snapshot.Failure
		if names, failed = r.Clusters(ctx); failed != nil {
			return nil, fmt.Errorf("the clusters cannot be listed: %s %s (%s)", failed.Call, failed.Reason, strings.TrimSuffix(failed.Code+": "+failed.Message, ": "))
		}
		if len(names) == 0 {
			return nil, mistake("there is no cluster in %s", c.place())
		}
	}
	found := make([]snapshot.Cluster, len(names))
	var g errgroup.Group
	g.SetLimit(parallel)
	for i, name := range names {
		g.Go(func() error {
			s, err := r.Read(ctx, gather.Query{Region: c.AWS.Region, Account: c.Account, Cluster: name, Time: time.Time{}})
			if err != nil { // gather.ErrNoCluster: it gives no other
				return c.noCluster(ctx, r, name)
			}
			found[i] = s.Cluster
			return nil
		})
	}
	return found, g.Wait()
}

// noCluster says that a cluster is not there, and which ones are.
func (c Caller) noCluster(ctx context.Context, r Reader, name string) error {
	there, failed := r.Clusters(ctx)
	if failed != nil {
		return mistake("there is no cluster %s in %s", name, c.place())
	}
	if len(there) == 0 {
		return mistake("there is no cluster %s in %s, nor any other: --region names another region", name, c.place())
	}
	if near := Near(name, there); len(near) > 0 {
		return mistake("there is no cluster %s in %s; is it %s?", name, c.place(), strings.Join(near, " or "))
	}
	return mistake("there is no cluster %s in %s, only %s", name, c.place(), Some(there))
}

// Some names the first ones, and counts the rest.
func Some(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// place is where clusters are looked for.
func (c Caller) place() string { return c.AWS.Region + " of account " + c.Account }

// Near are the names that may be meant: as cobra finds commands, and those
// that hold what was typed.
func Near(name string, there []string) []string {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, other := range there {
		names.AddCommand(&cobra.Command{Use: other, Run: func(*cobra.Command, []string) {}})
	}
	list := names.SuggestionsFor(name)
	for _, other := range there {
		if len(name) > 2 && strings.Contains(other, name) && !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	slices.Sort(list)
	const most = 5
	return list[:min(len(list), most)]
}

// profileOf is the profile that counts, as the SDK finds it.
func profileOf(o Options) string {
	for _, name := range []string{o.Profile, os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE")} {
		if name != "" {
			return name
		}
	}
	return "default"
}

// ofConfig is what is wrong with the settings.
func ofConfig(err error) error {
	var none config.SharedConfigProfileNotExistError
	if errors.As(err, &none) {
		return mistake("there is no profile %s in %v", none.Profile, none.Filename)
	}
	return mistake("%s", line(err))
}

func noCredentials(err error) error {
	text := "no AWS credentials found: sign in with aws sso login or aws configure, or name a profile with --profile or AWS_PROFILE"
	// The last place that is tried is the metadata of an instance: that it gives none is no
	// news on any other machine.
	var op *smithy.OperationError
	if metadata := errors.As(err, &op) && op.Service() == imds.ServiceID; err != nil && !metadata {
		text += " (" + line(err) + ")"
	}
	return Mistake{errors.New(text)}
}

// ofCredentials is why there are none: by types and codes, for the texts change.
func ofCredentials(ctx context.Context, err error, cfg aws.Config, profile string) error {
	var api smithy.APIError
	var op *smithy.OperationError
	var code *awsconf.CodeError
	answered := errors.As(err, &api) && errors.As(err, &op)
	told := unreachable(err, cfg.Region)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &code):
		return Mistake{code}
	case told != nil:
		return told
	// OIDC CreateToken, and SSO GetRoleCredentials (API references, "Errors").
	case answered && ofSSO(cfg):
		return mistake("the SSO session of profile %s gives no credentials (%s): aws sso login --profile %s", profile, api.ErrorCode(), profile)
	case answered:
		return mistake("profile %s gives no credentials: %s:%s: %s (%s)", profile, op.Service(), op.Operation(), api.ErrorCode(), api.ErrorMessage())
	// A token that has run out, and none at all, have no type of their own.
	case ofSSO(cfg):
		return mistake("the SSO session of profile %s has expired, or was never begun: aws sso login --profile %s", profile, profile)
	}
	return noCredentials(err)
}

// ofSSO reports whether the profile, or the one that its role is assumed by, is of IAM
// Identity Center.
func ofSSO(cfg aws.Config) bool {
	for _, source := range cfg.ConfigSources {
		shared, ok := source.(config.SharedConfig)
		for of := &shared; ok && of != nil; of = of.Source {
			if of.SSOSession != nil || of.SSOStartURL != "" {
				return true
			}
		}
	}
	return false
}

// ofIdentity is why AWS does not say whose the credentials are. Codes: STS API
// reference, "Common errors".
func ofIdentity(ctx context.Context, err error, region, profile string) error {
	var api smithy.APIError
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !errors.As(err, &api) {
		if told := unreachable(err, region); told != nil {
			return told
		}
		return fmt.Errorf("AWS cannot be reached: %s", line(cause(err)))
	}
	switch api.ErrorCode() {
	case "ExpiredToken", "ExpiredTokenException":
		return mistake("the credentials of profile %s have expired: log in again", profile)
	case "InvalidClientTokenId", "UnrecognizedClientException", "AuthFailure":
		return mistake("AWS does not know the credentials of profile %s (%s), or not in region %s", profile, api.ErrorCode(), region)
	case "SignatureDoesNotMatch", "IncompleteSignature":
		return mistake("the secret key of profile %s is not that of its access key (%s), or this machine's clock is wrong", profile, api.ErrorCode())
	}
	return fmt.Errorf("ask AWS whose the credentials are: %s: %s", api.ErrorCode(), line(err))
}

// unreachable is why there was no response; nil for an error that was one.
func unreachable(err error, region string) error {
	var dns *net.DNSError
	var conn *net.OpError
	switch {
	case errors.As(err, &dns):
		return mistake("%s does not resolve: is %s a region, or the endpoint right, and is there a network?", dns.Name, region)
	case errors.As(err, &conn):
		return fmt.Errorf("AWS cannot be reached: %s", line(conn))
	}
	return nil
}

// cause is the innermost error of a call, without what the SDK says around it.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// kubeconfig is a context of one; its config is nil where none is wanted.
type kubeconfig struct {
	name   string
	config *rest.Config
}

// loadKubeconfig reads it as kubectl does.
func loadKubeconfig(o Options) (kubeconfig, error) {
	if o.Kubeconfig == "" && o.Context == "" {
		return kubeconfig{}, nil
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context})
	c, err := loaded.ClientConfig()
	if err != nil {
		return kubeconfig{}, mistake("the kubeconfig: %s", line(err))
	}
	name := o.Context
	if raw, err := loaded.RawConfig(); err == nil && name == "" {
		name = raw.CurrentContext
	}
	return kubeconfig{name, c}, nil
}

// APIServer is how a cluster's Kubernetes API is reached.
type APIServer struct {
	Endpoint  string
	CA        []byte
	Transport http.RoundTripper
}

// ByContext reports whether Kubernetes is reached by a context of a kubeconfig.
func (c Caller) ByContext() bool { return c.kube.config != nil }

// APIServers are those of clusters, by the clusters' names. A cluster that could not be
// described has none but its kubeconfig's.
func (c Caller) APIServers(ctx context.Context, clusters []snapshot.Cluster) (map[string]APIServer, error) {
	servers := map[string]APIServer{}
	if c.kube.config != nil {
		if len(clusters) != 1 {
			return nil, mistake("a context of a kubeconfig is of one cluster, and %d are asked for", len(clusters))
		}
		d, err := c.kube.apiServer(ctx, clusters[0])
		if err != nil {
			return nil, err
		}
		servers[clusters[0].Name] = d
		return servers, nil
	}
	for _, k := range clusters {
		if k.Endpoint == "" {
			continue
		}
		via, err := kube.Transport(k.CA)
		if err != nil {
			continue // the reader says so
		}
		via.Proxy = http.ProxyFromEnvironment
		servers[k.Name] = APIServer{k.Endpoint, k.CA, via}
	}
	return servers, nil
}

// apiServer is a cluster's as a context reaches it. A context of another cluster would tell of
// another's nodes: it must have the endpoint that EKS tells, or the same authority, as
// behind a tunnel.
func (k kubeconfig) apiServer(ctx context.Context, of snapshot.Cluster) (APIServer, error) {
	ca := k.config.CAData
	if len(ca) == 0 && k.config.CAFile != "" {
		var err error
		if ca, err = os.ReadFile(k.config.CAFile); err != nil {
			return APIServer{}, mistake("context %s: its certificate authority: %s", k.name, line(err))
		}
	}
	sameCA := len(of.CA) > 0 && bytes.Equal(bytes.TrimSpace(ca), bytes.TrimSpace(of.CA))
	if of.Endpoint != "" && !sameCA && !sameHost(k.config.Host, of.Endpoint) {
		return APIServer{}, mistake("context %s is of another cluster: it goes to %s, and %s is at %s", k.name, k.config.Host, of.Name, of.Endpoint)
	}
	if len(ca) == 0 {
		ca = of.CA
	}
	transport, err := rest.TransportFor(k.config)
	if err != nil {
		return APIServer{}, mistake("context %s: %s", k.name, line(err))
	}
	d := APIServer{k.config.Host, ca, own{transport}}
	if err := d.try(ctx); err != nil {
		return APIServer{}, mistake("context %s: %s", k.name, line(err))
	}
	return d, nil
}

// trying is how long a way is tried: a login by a browser is a person's.
const trying = time.Minute

// try sends one request that everybody may make, so that what is wrong with the
// kubeconfig's credentials (a command that is not there, a login that has run out) is
// said as what it is. Who cannot be reached the reader tells.
func (d APIServer) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, trying)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(d.Endpoint, "/")+"/version", nil)
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	resp, err := d.Transport.RoundTrip(req)
	var conn net.Error
	switch {
	case errors.As(err, &conn):
		return nil
	case err != nil:
		return err
	}
	return resp.Body.Close()
}

// own sends requests with the kubeconfig's credentials in place of a token.
type own struct{ next http.RoundTripper }

func (o own) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Del("Authorization")
	return o.next.RoundTrip(req)
}

// sameHost tells two addresses of one host and port.
func sameHost(a, b string) bool {
	host := func(text string) string {
		u, err := url.Parse(text)
		if err != nil {
			return text
		}
		if u.Port() == "" {
			return strings.ToLower(u.Host) + ":443"
		}
		return strings.ToLower(u.Host)
	}
	return host(a) == host(b)
}
