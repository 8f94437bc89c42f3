package stage

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"go.yaml.in/yaml/v3"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	relayfunction "rollcall/functions/relay/relay"
	relayspec "rollcall/functions/relay/spec"
	remediate "rollcall/functions/remediate/spec"
	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/lambda"
	"rollcall/shared/relay"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/stage/platform/dynamo"
	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/deployment"
	"rollcall/stage/simaws/kubeapi"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
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
	if !isRelay(t) {
		return fmt.Errorf("the relay's template has %d functions", len(t.Functions))
	}
	return s.runRelay(id, t)
}

// runRelay runs the function of a relay's stack.
func (s *Stage) runRelay(id spoke.ID, t *template.Template) error {
	f := t.Functions[0]
	s.stackOf(id).Beside(t)
	x := &relayStage{name: f.ARN, template: t}
	if slices.Contains(s.Runtime.Names(), x.name) { // it was deployed before
		if err := s.Runtime.Configure(x.name, s.relayEnvironment(f)); err != nil {
			return err
		}
	} else if err := s.addRelay(id, x); err != nil {
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

// endRelay ends the function of a relay's stack.
func (s *Stage) endRelay(id spoke.ID, t *template.Template) {
	s.stackOf(id).Apart(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.relays, t.Functions[0].ARN)
}

// stackOf describes what is deployed in an account and region.
func (s *Stage) stackOf(id spoke.ID) *deployment.API {
	if x, ok := s.spokes[id]; ok {
		return x.deployment
	}
	return s.Deployment
}

// addRelay makes the function known to the runtime.
func (s *Stage) addRelay(id spoke.ID, x *relayStage) error {
	f := x.template.Functions[0]
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
	return s.Runtime.Add(run)
}

func (s *Stage) relayEnvironment(f template.Function) map[string]string {
	env := maps.Clone(f.Environment)
	env[string(config.StageClock)] = s.Clock.Env()
	if s.network == nil {
		// It has a role, but asks AWS for nothing: no other credentials are lent to it.
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

// relays reports whether private clusters answer their relays alone.
func (o Options) relays() bool { return o.RelayTemplate != "" || o.Empty }

// relayed reports whether a cluster is reached through its relay alone.
func (s *Stage) relayed(c spoke.Cluster) bool {
	if !s.options.relays() {
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

// private reports whether a host is the API of such a cluster.
func (s *Stage) private(host string) bool {
	if !s.options.relays() {
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

// within reports whether a request comes from where the API of a spoke's cluster answers. On
// the loopback of this machine all come from one address, so the relay, the only one in the
// VPC, is known by how it introduces itself; on a network of its own see outside.
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

// keyed is a member of a write of DynamoDB that holds a partition key.
type keyed struct {
	Item, Key map[string]string
}

// UnmarshalJSON takes in the keys' texts; attributes of other types are not keys.
func (k *keyed) UnmarshalJSON(text []byte) error {
	var raw struct {
		Item, Key map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	texts := func(from map[string]map[string]json.RawMessage) map[string]string {
		to := map[string]string{}
		for name, value := range from {
			var s string
			if json.Unmarshal(value["S"], &s) == nil {
				to[name] = s
			}
		}
		return to
	}
	k.Item, k.Key = texts(raw.Item), texts(raw.Key)
	return nil
}

// records is what IAM sees of a write of DynamoDB: the table, and as
// dynamodb:LeadingKeys the partition key of each record that is written
// (docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html;
// "Using IAM policy conditions for fine-grained access control",
// docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html).
// Writes of another form (PartiQL, transactions) are of no table here, so that no
// statement for a table lets them through.
func (t things) records(body wire.Passed) (arn string, keys map[string][]string, ok bool) {
	var in struct {
		TableName    string
		RequestItems map[string][]struct{ PutRequest, DeleteRequest keyed }
	}
	var one keyed
	if json.Unmarshal(body, &in) != nil || json.Unmarshal(body, &one) != nil {
		return "", nil, false
	}
	list := []keyed{one}
	for name, requests := range in.RequestItems {
		in.TableName = name // the functions have one table
		for _, r := range requests {
			list = append(list, r.PutRequest, r.DeleteRequest)
		}
	}
	i := slices.IndexFunc(t.tables, func(table template.Table) bool { return in.TableName == table.Name || in.TableName == table.ARN })
	if i < 0 || len(t.tables[i].Keys) == 0 {
		return "", nil, false
	}
	partition := t.tables[i].Keys[0].Name
	var leading []string
	for _, k := range list {
		for _, values := range []map[string]string{k.Item, k.Key} {
			if v, is := values[partition]; is {
				leading = append(leading, v)
			}
		}
	}
	if len(leading) == 0 {
		return "", nil, false
	}
	return t.tables[i].ARN, map[string][]string{"dynamodb:LeadingKeys": leading}, true
}

// manifestObject is what is read of an object of a manifest of rights.
type manifestObject struct {
	Kind     string
	Metadata struct{ Namespace string }
	Rules    []struct {
		APIGroups     []string `yaml:"apiGroups"`
		Resources     []string
		Verbs         []string
		ResourceNames []string `yaml:"resourceNames"`
	}
	Subjects []struct{ Kind, Name string }
}

// rights reads a manifest that gives one Kubernetes group its rights, as
// kubectl apply would. All roles of such a manifest are that group's.
func (o Options) rights() (group string, rules []kubeapi.Rule, err error) {
	path := o.Rights
	manifest, err := o.read(path)
	if err != nil {
		return "", nil, fmt.Errorf("read the Kubernetes rights: %w", err)
	}
	for objects := yaml.NewDecoder(bytes.NewReader(manifest)); ; {
		var o manifestObject
		if err := objects.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return "", nil, fmt.Errorf("read the Kubernetes rights in %s: %w", path, err)
		}
		for _, r := range o.Rules {
			rule := kubeapi.Rule{Groups: r.APIGroups, Resources: r.Resources, Verbs: r.Verbs, Names: r.ResourceNames}
			if o.Metadata.Namespace != "" {
				rule.Namespaces = []string{o.Metadata.Namespace}
			}
			rules = append(rules, rule)
		}
		for _, s := range o.Subjects {
			if s.Kind != "Group" || group != "" && s.Name != group {
				return "", nil, fmt.Errorf("the Kubernetes rights in %s are not one group's: %s %s", path, s.Kind, s.Name)
			}
			group = s.Name
		}
	}
	if group == "" || len(rules) == 0 {
		return "", nil, fmt.Errorf("the Kubernetes rights in %s are nobody's, or none", path)
	}
	return group, rules, nil
}

// readers are the access policies that the deployment's documented command
// (and its switch kubernetesAccess=policy) gives the reader in each cluster.
func readers() []eks.AssociateAccessPolicyInput {
	policy := func(name string, scope ekstypes.AccessScope) eks.AssociateAccessPolicyInput {
		arn := "arn:aws:eks::aws:cluster-access-policy/" + name
		return eks.AssociateAccessPolicyInput{PolicyArn: &arn, AccessScope: &scope}
	}
	return []eks.AssociateAccessPolicyInput{
		policy("AmazonAIOpsAssistantPolicy", ekstypes.AccessScope{Type: ekstypes.AccessScopeTypeCluster}),
		policy("AmazonEKSViewPolicy", ekstypes.AccessScope{Type: ekstypes.AccessScopeTypeNamespace, Namespaces: []string{"kube-system"}}),
	}
}

// admit does in every cluster what an operator does once: the stack's
// KubernetesAccessCommand. It is with the access policies where there is no
// group. A cluster in authentication mode CONFIG_MAP takes no access entries:
// what the stack's AwsAuthRoles says is in the world's aws-auth, or it is not.
func (s *Stage) admit(t *template.Template, w world.API, group string) error {
	for _, role := range admittedRoles(t) {
		for _, cluster := range s.World.Clusters() {
			if out, err := w.DescribeCluster(&eks.DescribeClusterInput{Name: &cluster}); err == nil && out.Cluster.AccessConfig != nil &&
				out.Cluster.AccessConfig.AuthenticationMode == ekstypes.AuthenticationModeConfigMap {
				continue
			}
			var conflict *wire.Error
			err := admitTo(w, cluster, role, group)
			if errors.As(err, &conflict) && conflict.Code == "ResourceInUseException" {
				continue // let in by an earlier deployment
			}
			if err != nil {
				return fmt.Errorf("admit %s to cluster %s: %w", role, cluster, err)
			}
		}
	}
	return nil
}

func admitTo(w world.API, cluster, role, group string) error {
	entry := &eks.CreateAccessEntryInput{ClusterName: &cluster, PrincipalArn: &role}
	if group != "" {
		entry.KubernetesGroups = []string{group}
	}
	if _, err := w.CreateAccessEntry(entry); err != nil || group != "" {
		return err
	}
	for _, in := range readers() {
		in.ClusterName, in.PrincipalArn = &cluster, &role
		if _, err := w.AssociateAccessPolicy(&in); err != nil {
			return err
		}
	}
	return nil
}

// read reads one of the repository's files.
func (o Options) read(path string) ([]byte, error) {
	if o.Files != nil {
		return fs.ReadFile(o.Files, path)
	}
	return os.ReadFile(path)
}

// admittedRoles are those that a release wants to be let into the clusters: the one that
// its functions assume, or, where it has none, each function's own.
func admittedRoles(t *template.Template) []string {
	for _, r := range t.Roles {
		for _, f := range t.Functions {
			if slices.ContainsFunc(r.Trust, func(st template.Statement) bool { return slices.Contains(st.Principals, "AWS:"+f.RoleARN) }) {
				return []string{r.ARN}
			}
		}
	}
	var list []string
	for _, f := range t.Functions {
		list = append(list, simaws.RoleIdentity(t.AccountID, f.Name).RoleARN)
	}
	return list
}

// assumedPolicy is what a role allows that a function has assumed.
func (s *Stage) assumedPolicy(who wire.Principal) (policy []template.Statement, assumed bool) {
	for _, r := range s.Template.Roles {
		if strings.HasSuffix(who.ARN, ":assumed-role/"+r.Name+"/"+who.Name) && r.Name != who.Name {
			return r.Statements, true
		}
	}
	return nil, false
}

// functionOf is the function whose role a trust policy's principal is; "" for another.
func (s *Stage) functionOf(principal string) string {
	for _, f := range s.Template.Functions {
		if principal == "AWS:"+f.RoleARN {
			return f.Name
		}
	}
	return ""
}

// On the stage a function's role bears the function's name.

// RoleInTemplate is the ARN in the template of a role that is known on the stage.
func (s *Stage) RoleInTemplate(known string) string {
	for _, f := range s.Template.Functions {
		if simaws.RoleIdentity(s.Template.AccountID, f.Name).RoleARN == known {
			return f.RoleARN
		}
	}
	return known
}

// mayAssume reports whether a caller may assume a role of the template: the role's trust
// policy names him, and his own policies let him. Within an account IAM would take the
// first alone where it names the role itself (IAM user guide, "Policy evaluation for
// requests within a single account"); here both are wanted, so that a missing grant
// shows.
func (s *Stage) mayAssume(caller simaws.Identity, in *sts.AssumeRoleInput) (bool, error) {
	arn := s.RoleInTemplate(aws.ToString(in.RoleArn))
	if known, ok, err := s.maySpoke(caller, in); known {
		return ok, err
	}
	i := slices.IndexFunc(s.Template.Roles, func(r template.Role) bool { return r.ARN == arn })
	if i < 0 {
		return false, nil
	}
	// By the account, and by their names, or one by one.
	named := trusted(s.Template.Roles[i].Trust, arn, s.Template.AccountID)
	for _, t := range s.Template.Roles[i].Trust {
		if slices.ContainsFunc(t.Principals, func(p string) bool { return s.functionOf(p) == caller.Name && caller.Name != "" }) {
			t.Resources = []string{arn} // a trust policy's resource is the role
			named = append(named, t)
		}
	}
	let, err := template.Allows(named, "sts:AssumeRole", arn, map[string][]string{"aws:PrincipalArn": {s.deployedRole(caller.Name)}})
	if err != nil || !let {
		return false, err
	}
	return template.Allows(s.Policy(caller.Name), "sts:AssumeRole", arn, nil)
}

// set is the world that is played.
type set struct {
	account, region, about string
	start                  time.Time
	api                    simaws.World
	history                simaws.History // nil: what is played knows of no CloudTrail
	clusters               []string       // with a Kubernetes API
	objects                func(cluster, plural string) ([]json.RawMessage, string, error)
	faults                 []worldfile.Fault
	// described is set where clusters are described with the endpoint and the
	// authority that the set gives them, which are not the stage's: what nodes
	// were started with can be held against them. The functions reach the
	// Kubernetes APIs, but through overrides.
	described bool
}

// open reads what is to be played.
func (s *Stage) open() (set, error) {
	file, err := s.options.LoadWorld()
	if err != nil {
		return set{}, fmt.Errorf("load the world: %w", err)
	}
	if s.options.Change != nil {
		s.options.Change(file)
	}
	if s.World, err = world.New(file, world.Options{Seed: 1, Events: s.put, Log: s.log}); err != nil {
		return set{}, fmt.Errorf("make the world: %w", err)
	}
	return set{
		account: file.Account, region: file.Region, about: file.About, start: s.World.Start(),
		api:      s.World.API(),
		history:  s.World.CloudTrail(),
		clusters: s.World.Clusters(), objects: objects(s.World), faults: file.Faults,
		described: slices.ContainsFunc(file.EKS.Clusters, func(c ekstypes.Cluster) bool { return c.Endpoint != nil }),
	}, nil
}

// Names of the stage.
const (
	// Channel is the Slack channel of the stage, SlackToken the bot's token.
	Channel    = "C0STAGE0001"
	SlackToken = "xoxb-stage-token"
	// SigningSecret is that of the Slack app.
	SigningSecret = "57a9e0f51941465ec2e7000000000001"
	// Admin is the person at the keyboard, with the AWS CLI and kubectl.
	Admin = "admin"
)

// environment is a function's environment: that of the template, its role's
// credentials, and the few addresses that are the stage's instead of AWS's.
func (s *Stage) environment(f template.Function) map[string]string {
	who := simaws.RoleIdentity(s.Template.AccountID, f.Name)
	env := maps.Clone(f.Environment)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, map[string]string{
		"AWS_ENDPOINT_URL":          s.Cloud.Endpoint(),
		"AWS_ACCESS_KEY_ID":         who.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY":     who.SecretAccessKey,
		"AWS_SESSION_TOKEN":         "stage",
		"AWS_EC2_METADATA_DISABLED": "true",
		string(config.StageClock):   s.Clock.Env(),
	})
	if _, reads := env[string(config.SlackAPI)]; reads {
		env[string(config.SlackAPI)] = s.Slack.APIURL()
		env[string(config.Channel)] = Channel
	}
	// The deployed ARNs end in six characters that Secrets Manager chooses.
	for _, v := range []spec.Variable{config.SlackSecretARN, config.SigningARN} {
		if secret, ok := s.secretOf(env[string(v)]); ok {
			env[string(v)] = simaws.SecretARN(s.Template.Region, s.Template.AccountID, secret.Name)
		}
	}
	if overrides := s.EndpointOverrides(); overrides != "" {
		env[string(config.StageEndpoints)] = overrides
	}
	if _, reads := env[string(config.Relays)]; reads && len(s.options.Relays) > 0 {
		var names []string
		for _, c := range s.options.Relays {
			names = append(names, c.String())
		}
		env[string(config.Relays)] = strings.Join(names, ",")
	}
	maps.Copy(env, s.options.Settings)
	return env
}

// settings are a function's environment as Lambda describes it: what Lambda itself
// sets when it starts one is not among it (Lambda developer guide, "Defined runtime
// environment variables").
func (s *Stage) settings(f template.Function) map[string]string {
	env := s.environment(f)
	maps.DeleteFunc(env, func(name, _ string) bool { return strings.HasPrefix(name, "AWS_") })
	return env
}

// EndpointOverrides tells the functions where the Kubernetes APIs of a capture's clusters
// are, which EKS describes as they were, and those of a world that says how its
// clusters are described.
func (s *Stage) EndpointOverrides() string {
	if len(s.overridden) == 0 {
		return ""
	}
	overrides := s.overridesOf(s.overridden)
	text, err := json.Marshal(overrides)
	if err != nil { // strings and bytes
		s.log.Error("write the overrides", "error", err)
	}
	return string(text)
}

// overridesOf are the ways to the Kubernetes APIs of some clusters.
func (s *Stage) overridesOf(clusters []string) config.EndpointOverrides {
	overrides := config.EndpointOverrides{}
	for id, x := range s.spokes {
		for _, name := range x.world.Clusters() {
			if s.relayed(spoke.Cluster{ID: id, Name: name}) {
				continue
			}
			if endpoint, ca, ok := x.cloud.Kubernetes(name); ok {
				overrides[id.Qualify(name)] = config.EndpointOverride{Endpoint: endpoint, CA: ca}
			}
		}
	}
	for _, name := range clusters {
		if s.relayed(spoke.Cluster{Name: name}) {
			continue
		}
		if endpoint, ca, ok := s.Cloud.Kubernetes(name); ok {
			overrides[name] = config.EndpointOverride{Endpoint: endpoint, CA: ca}
		}
	}
	return overrides
}

// spokeOf is whose part of AWS answers what a key signs for a region; nil for the hub's.
func (s *Stage) spokeOf(accessKeyID, region string) *simaws.Cloud {
	for id, x := range s.spokes {
		if id.Region == region && x.cloud.Knows(accessKeyID) {
			return x.cloud
		}
	}
	return nil
}

// sessionIn makes a session known to the parts of AWS of its account.
func (s *Stage) sessionIn(who simaws.Identity) {
	for id, x := range s.spokes {
		if id.Account == who.Account {
			x.cloud.Admit(who)
		}
	}
}

// SpokeWorld is the world of a spoke.
func (s *Stage) SpokeWorld(id spoke.ID) *world.World { return s.spokes[id].world }

// SpokeBuckets are the request buckets of a spoke's account in its region.
func (s *Stage) SpokeBuckets(id spoke.ID) *simaws.Buckets { return s.spokes[id].buckets }

// SpokeCalls are the calls that a spoke's account has answered.
func (s *Stage) SpokeCalls(id spoke.ID) []wire.Call { return s.spokes[id].cloud.Calls() }

// adminOf is the person at the keyboard of a spoke's account: by a key of its own, as one
// address answers for all accounts.
func adminOf(id spoke.ID) simaws.Identity {
	return simaws.AdminIdentity(id.Account, Admin+"-"+id.Account)
}

// SpokeDeployment is a spoke's stack as IAM and EventBridge tell of it.
func (s *Stage) SpokeDeployment(id spoke.ID) *deployment.API { return s.spokes[id].deployment }

// SpokeTemplate is the template of a spoke's stack.
func (s *Stage) SpokeTemplate(id spoke.ID) *template.Template {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spokes[id].template
}

// OptIn deploys a spoke's stack as it is written for other settings. The sessions of roles
// that it has no more end.
func (s *Stage) OptIn(id spoke.ID, settings map[string]string) error {
	x := s.spokes[id]
	s.mu.Lock()
	before := x.template.Roles
	s.mu.Unlock()
	x.optedIn = settings
	if err := s.Redeploy(id, nil); err != nil {
		return err
	}
	for _, r := range before {
		if !slices.ContainsFunc(x.template.Roles, func(o template.Role) bool { return o.ARN == r.ARN }) {
			x.cloud.Revoke(r.ARN)
		}
	}
	return nil
}

// Redeploy deploys a spoke's stack with other parameters.
func (s *Stage) Redeploy(id spoke.ID, parameters map[string]string) error {
	return s.DeploySpoke(s.spokes[id], parameters)
}

// changing are the roles of a spoke that change something, which its template has if it is
// written for settings in which a cluster of it opted in. They are made here as infra makes
// them (infra, TestSpokeTrust and TestSpokeChangesAsTheHub): trust as the reader's, of those
// functions that need the role; the statements are those of the hub's own function.
func (s *Stage) changing(x *spokeStage, t *template.Template) ([]template.Role, error) {
	var roles []template.Role
	getenv := func(name string) string { return x.optedIn[name] }
	for role, grantsIn := range map[spec.SpokeRole]func(func(string) string) ([]spec.Grant, error){
		spec.SpokeCleaner: enicleanup.DeletesIn(x.id), spec.SpokeRemediator: remediate.ChangesIn(x.id),
	} {
		grants, err := grantsIn(getenv)
		if err != nil {
			return nil, fmt.Errorf("the role %s: %w", role, err)
		}
		if len(grants) == 0 {
			continue
		}
		made := template.Role{
			LogicalID: string(role), Name: strings.TrimPrefix(config.SpokeRoleARN("rollcall", role, x.id), "arn:aws:iam::"+x.id.Account+":role/"),
			ARN: config.SpokeRoleARN("rollcall", role, x.id), Trust: s.trusting(t, role),
		}
		for _, g := range grants {
			made.Statements = append(made.Statements, s.statement(g, string(role), x.id.Region, x.id.Account))
		}
		roles = append(roles, made)
	}
	return roles, nil
}

// trusting is the reader's trust, of the functions that need another role.
func (s *Stage) trusting(t *template.Template, role spec.SpokeRole) []template.Statement {
	var arns []string
	for _, f := range specs.All() {
		for _, of := range f.Assumes {
			if of == role {
				arns = append(arns, "arn:aws:iam::"+s.Template.AccountID+":role/Rollcall-"+logicalID(f.Name)+"Role*")
			}
		}
	}
	var trust []template.Statement
	for _, r := range t.Roles {
		if !strings.Contains(r.Name, "-"+string(spec.SpokeReader)+"-") {
			continue
		}
		for _, st := range r.Trust {
			st.Conditions = maps.Clone(st.Conditions)
			st.Conditions["ArnLike"] = map[string][]string{"aws:PrincipalArn": arns}
			trust = append(trust, st)
		}
	}
	return trust
}

// logicalID is a function's name as logical ids have it.
func logicalID(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// LoseSpoke deletes a spoke's stack: its rules and roles go, and with them their sessions.
func (s *Stage) LoseSpoke(id spoke.ID) {
	x := s.spokes[id]
	none := &template.Template{AccountID: id.Account, Region: id.Region}
	s.mu.Lock()
	x.template, x.forwards = none, nil
	x.deployment.Replace(none, s.Clock.Now())
	s.mu.Unlock()
	x.cloud.Revoke("")
}

// DisableRegion has a spoke's account disable its region, or enable it again.
func (s *Stage) DisableRegion(id spoke.ID, disabled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spokes[id].disabled = disabled
}

// regionDisabled is what services answer in a region that the account has not enabled, to
// credentials that are good elsewhere: EC2 AuthFailure (EC2 API reference, "Common client
// errors": "you might also receive this error if you've not opted in to the Region"), others
// UnrecognizedClientException ("Common errors": the key ID or token does not exist in the
// service's records). IAM and Route 53 have no regions.
func regionDisabled(service string) error {
	switch service {
	case "ec2":
		return &wire.Error{Code: "AuthFailure", Status: http.StatusUnauthorized, Message: "AWS was not able to validate the provided access credentials"}
	case "sts", "autoscaling":
		return &wire.Error{Code: "InvalidClientTokenId", Status: http.StatusForbidden, Message: "The security token included in the request is invalid"}
	}
	return &wire.Error{Code: "UnrecognizedClientException", Status: http.StatusForbidden, Message: "The security token included in the request is invalid."}
}

// JoinOrganization has the hub's account join an organization, or leave it where it is "".
func (s *Stage) JoinOrganization(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.organization = id
}

// inOrganization narrows the trust of a spoke's roles as the setting organization does.
func inOrganization(t *template.Template, id string) {
	for _, r := range t.Roles {
		for _, st := range r.Trust {
			if equals, ok := st.Conditions["StringEquals"]; ok && len(equals["sts:ExternalId"]) > 0 {
				equals["aws:PrincipalOrgID"] = []string{id}
			}
		}
	}
}

// startTable makes a DynamoDB with the template's tables.
func (s *Stage) startTable(ctx context.Context) error {
	s.Table = dynamo.New()
	for _, t := range s.Template.Tables {
		if _, err := s.Table.Client().CreateTable(ctx, createTable(t)); err != nil {
			return fmt.Errorf("create table %s: %w", t.Name, err)
		}
	}
	return nil
}

func createTable(t template.Table) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName: aws.String(t.Name), KeySchema: keys(t.Keys), BillingMode: types.BillingModePayPerRequest,
	}
	for _, name := range slices.Sorted(maps.Keys(t.Attributes)) {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(name), AttributeType: types.ScalarAttributeType(t.Attributes[name]),
		})
	}
	for _, i := range t.GlobalIndexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(i.Name), KeySchema: keys(i.Keys),
			Projection: &types.Projection{ProjectionType: types.ProjectionType(i.Projection), NonKeyAttributes: i.NonKey},
		})
	}
	return in
}

func keys(list []template.Key) []types.KeySchemaElement {
	var out []types.KeySchemaElement
	for _, k := range list {
		out = append(out, types.KeySchemaElement{AttributeName: aws.String(k.Name), KeyType: types.KeyType(k.Type)})
	}
	return out
}

// Records are all items of the template's tables.
func (s *Stage) Records(ctx context.Context) ([]map[string]types.AttributeValue, error) {
	var out []map[string]types.AttributeValue
	for _, t := range s.Template.Tables {
		pages := dynamodb.NewScanPaginator(s.Table.Client(), &dynamodb.ScanInput{TableName: aws.String(t.Name)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, fmt.Errorf("read table %s: %w", t.Name, err)
			}
			out = append(out, page.Items...)
		}
	}
	return out, nil
}
