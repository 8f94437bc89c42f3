package simaws

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/cloudwatch"
	"rollcall/stage/simaws/cloudwatchlogs"
	"rollcall/stage/simaws/kubeapi"
	"rollcall/stage/simaws/route53"
	"rollcall/stage/simaws/zonalshift"
)

// Identity is someone who can sign requests: a function's role or a person.
type Identity struct {
	wire.Principal
	AccessKeyID, SecretAccessKey string
	// RoleARN is the role behind an assumed-role ARN: what access entries
	// name. For a user it is the user's ARN.
	RoleARN string
	// SessionToken comes with temporary credentials, and Expires is when they end.
	SessionToken string
	Expires      time.Time
	// Admin may do everything in every cluster, as the one who made the
	// cluster may.
	Admin bool
}

// RoleIdentity is the identity of a function whose execution role has the
// function's name. Its keys are derived from the name, so they are the same in
// each run; they open nothing but the stage.
func RoleIdentity(account, name string) Identity {
	id, secret := keysFor("role/" + name)
	return Identity{
		Principal: wire.Principal{Name: name, Account: account,
			ARN: "arn:aws:sts::" + account + ":assumed-role/" + name + "/" + name},
		RoleARN:     "arn:aws:iam::" + account + ":role/" + name,
		AccessKeyID: id, SecretAccessKey: secret,
	}
}

// AdminIdentity is the person at the keyboard, with the AWS CLI and kubectl.
func AdminIdentity(account, name string) Identity {
	id, secret := keysFor("user/" + name)
	arn := "arn:aws:iam::" + account + ":user/" + name
	return Identity{
		Principal:   wire.Principal{Name: name, Account: account, ARN: arn},
		RoleARN:     arn,
		AccessKeyID: id, SecretAccessKey: secret, Admin: true,
	}
}

// keysFor derives an access key id of AWS's form, and a secret key.
func keysFor(name string) (id, secret string) {
	sum := sha256.Sum256([]byte("rollcall stage " + name))
	return "AKIA" + base32.StdEncoding.EncodeToString(sum[:])[:16], hex.EncodeToString(sum[:])[:40]
}

// userID is what STS calls UserId: an unpredictable id, and for a role the
// session's name behind it.
func (i Identity) userID() string {
	sum := sha256.Sum256([]byte(i.RoleARN))
	id := base32.StdEncoding.EncodeToString(sum[:])[:17]
	if !strings.Contains(i.ARN, ":assumed-role/") {
		return "AIDA" + id
	}
	return "AROA" + id + ":" + i.ARN[strings.LastIndex(i.ARN, "/")+1:]
}

// directory finds identities by their access key id. Sessions come in while it is
// asked.
type directory struct {
	mu  sync.RWMutex
	ids map[string]Identity
	now func() time.Time
}

func newDirectory(ids []Identity, now func() time.Time) *directory {
	d := &directory{ids: map[string]Identity{}, now: now}
	for _, id := range ids {
		d.add(id)
	}
	return d
}

func (d *directory) add(id Identity) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ids[id.AccessKeyID] = id
}

func (d *directory) revoke(role string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.ids, func(_ string, id Identity) bool { return id.SessionToken != "" && (role == "" || id.RoleARN == role) })
}

// owner is who an access key id belongs to.
func (d *directory) owner(accessKeyID string) (Identity, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	id, ok := d.ids[accessKeyID]
	return id, ok
}

func (d *directory) principal(accessKeyID string) (wire.Principal, bool) {
	id, ok := d.owner(accessKeyID)
	return id.Principal, ok
}

func (d *directory) secret(accessKeyID string) (string, bool) {
	id, ok := d.owner(accessKeyID)
	return id.SecretAccessKey, ok
}

// session reports whether the token is that of the key's session, which lasts. Temporary
// keys without their token, or with another, are as unknown as made-up ones (IAM
// user guide, "Use temporary credentials with AWS resources").
func (d *directory) session(accessKeyID, token string) bool {
	id, ok := d.owner(accessKeyID)
	if ok && id.SessionToken == "" {
		return true // Lambda gives functions a token, which was not made here
	}
	return ok && id.SessionToken == token && (id.Expires.IsZero() || d.now().Before(id.Expires))
}

// secretFor tells the secret key of an access key id. The owner is returned as
// the access key id itself, which the caller looks up again.
func (d *directory) secretFor(accessKeyID, token string) (secret, owner string, ok bool) {
	id, ok := d.owner(accessKeyID)
	return id.SecretAccessKey, accessKeyID, ok && d.session(accessKeyID, token)
}

// assumed is a session of a role: its keys begin with ASIA (IAM user guide, "IAM
// identifiers"), and are derived from what it is of and when it was made. Its calls are
// known by the session's name, which is that of the function that made it.
func assumed(account, role, session string, at time.Time, life time.Duration) Identity {
	name := role[strings.LastIndex(role, "/")+1:]
	id, secret := keysFor("session/" + role + "/" + session + "/" + at.UTC().Format(time.RFC3339Nano))
	sum := sha256.Sum256([]byte("token " + secret))
	return Identity{
		Principal:   wire.Principal{Name: session, Account: account, ARN: "arn:aws:sts::" + account + ":assumed-role/" + name + "/" + session},
		RoleARN:     role,
		AccessKeyID: "ASIA" + id[4:], SecretAccessKey: secret,
		SessionToken: base64.StdEncoding.EncodeToString(sum[:]), Expires: at.Add(life),
	}
}

// Invoke runs a function that has been found, for who may invoke it. There is none of an ARN
// where known is false. From another account its own policy must let the caller in.
type Invoke func(ctx context.Context, function string, caller wire.Principal, event []byte) (out *lambda.InvokeOutput, known, allowed bool, err error)

// mostPayload is what Lambda takes and gives of a synchronous invocation (Lambda, "Quotas":
// 6 MB each; its error names 6291456 and 6291556 bytes).
const mostPayload = 6291456

// invoke is Lambda's answer to an invocation (Lambda API reference, Invoke). Whether the
// caller's own policies allow it was asked before.
func (c *Cloud) invoke(ctx context.Context, call *wire.Call, in *lambda.InvokeInput) (*lambda.InvokeOutput, error) {
	if len(in.Payload) > mostPayload {
		return nil, &wire.Error{Code: "RequestTooLargeException", Status: http.StatusRequestEntityTooLarge, Message: "Request must be smaller than 6291456 bytes for the InvokeFunction operation"}
	}
	arn := FunctionARN(aws.ToString(in.FunctionName), c.cfg.Region, c.cfg.Account)
	out, known, allowed, err := c.cfg.Invoke(ctx, arn, call.Principal, in.Payload)
	switch {
	case err != nil:
		return nil, err
	case !strings.Contains(arn, ":"+call.Principal.Account+":") && !(known && allowed):
		// Of another account no caller sees what is there.
		return nil, &wire.Error{Code: "AccessDeniedException", Status: http.StatusForbidden,
			Message: "User: " + call.Principal.ARN + " is not authorized to perform: lambda:InvokeFunction on resource: " + arn + " because no resource-based policy allows the lambda:InvokeFunction action"}
	case !known:
		return nil, &wire.Error{Code: "ResourceNotFoundException", Status: http.StatusNotFound, Message: "Function not found: " + arn}
	}
	out.StatusCode = http.StatusOK
	return out, nil
}

// FunctionARN is the ARN of a function that is named so in an account and region: a caller
// may write the name or the whole ARN (Lambda API reference, Invoke, FunctionName).
func FunctionARN(name, region, account string) string {
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	return "arn:aws:lambda:" + region + ":" + account + ":function:" + name
}

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
		Apply:  c.applied(name),
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

// applied takes what is applied in a cluster; nil where nothing can be.
func (c *Cloud) applied(cluster string) func(plural string, object json.RawMessage) (bool, error) {
	if c.cfg.Apply == nil {
		return nil
	}
	return func(plural string, object json.RawMessage) (bool, error) { return c.cfg.Apply(cluster, plural, object) }
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
// server answers an unknown user with "Unauthorized" (held against a real one in
// tools/kubetest). Someone with one that does not let him is known, and gets a 403
// later.
func (c *Cloud) authenticate(cluster, token string) (kubeapi.User, error) {
	key, err := wire.VerifyClusterToken(token, cluster, c.cfg.Wall(), c.keys.secretFor)
	if err != nil {
		c.cfg.Log.Info("Kubernetes token refused", "cluster", cluster, "error", err)
		return kubeapi.User{}, err
	}
	id, _ := c.keys.owner(key)
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

// Logs is CloudWatch Logs, of a world that has any.
type Logs interface {
	DescribeDeliverySources(*cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliverySourcesOutput, error)
	DescribeDeliveries(*cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliveriesOutput, error)
	DescribeDeliveryDestinations(*cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliveryDestinationsOutput, error)
	FilterLogEvents(*cloudwatchlogs.FilterLogEventsInput) (cloudwatchlogs.FilterLogEventsOutput, error)
}

// registerLogs serves CloudWatch Logs.
func (c *Cloud) registerLogs(l Logs) {
	const service = "cloudwatchlogs"
	handlePlain(c, service, "DescribeDeliverySources", l.DescribeDeliverySources)
	handlePlain(c, service, "DescribeDeliveries", l.DescribeDeliveries)
	handlePlain(c, service, "DescribeDeliveryDestinations", l.DescribeDeliveryDestinations)
	handlePlain(c, service, "FilterLogEvents", l.FilterLogEvents)
}

func handlePlain[I, O any](c *Cloud, service, operation string, answer func(*I) (O, error)) {
	c.ops[service] = append(c.ops[service], operation)
	wire.HandlePlain(c.wire, service, operation, func(_ context.Context, _ *wire.Call, in *I) (O, error) { return answer(in) })
}

// Meter counts what the calls of DynamoDB take, in the units that it bills.
// What answers counts as DynamoDB documents it (4 KB a read unit, half of it
// when eventually consistent, 1 KB a write unit, indexes written beside the
// table).
type Meter struct {
	mu   sync.Mutex
	used map[string]Used
}

// over counts what goes through a DynamoDB.
func (m *Meter) over(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.ask(r)
		answer := &kept{ResponseWriter: w}
		next.ServeHTTP(answer, r)
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		m.take(operation, answer.body.Bytes())
	})
}

// kept keeps the answer that it passes on.
type kept struct {
	http.ResponseWriter
	body bytes.Buffer
}

func (k *kept) Write(p []byte) (int, error) {
	k.body.Write(p)
	return k.ResponseWriter.Write(p)
}

// Used is what the calls of one operation took.
type Used struct {
	Calls int
	Units float64
}

// Used is what was taken so far, by operation ("PutItem").
func (m *Meter) Used() map[string]Used {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.used)
}

// ask makes a request ask for what it takes.
func (m *Meter) ask(r *http.Request) {
	if r.Body == nil {
		return
	}
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	var in map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err == nil && decoder.Decode(&in) == nil {
		in["ReturnConsumedCapacity"] = "INDEXES"
		if asking, err := json.Marshal(in); err == nil {
			body = asking
		}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Del("Content-Length")
}

// take reads the units off an answer.
func (m *Meter) take(operation string, body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used == nil {
		m.used = map[string]Used{}
	}
	u := m.used[operation]
	u.Calls++
	u.Units += units(body)
	m.used[operation] = u
}

type consumed struct{ CapacityUnits float64 }

// units are those of an answer: one table's, or a list for a batch. A refused
// write takes units too, but its answer does not say how many: one is counted.
func units(body []byte) float64 {
	var failed struct {
		Type string `json:"__type"`
	}
	if json.Unmarshal(body, &failed) == nil && strings.HasSuffix(failed.Type, "ConditionalCheckFailedException") {
		return 1
	}
	var one struct{ ConsumedCapacity consumed }
	if json.Unmarshal(body, &one) == nil {
		return one.ConsumedCapacity.CapacityUnits
	}
	var many struct{ ConsumedCapacity []consumed }
	if json.Unmarshal(body, &many) != nil {
		return 0
	}
	sum := 0.0
	for _, c := range many.ConsumedCapacity {
		sum += c.CapacityUnits
	}
	return sum
}

// Resolver is Route 53 Resolver, of a world that has it.
type Resolver interface {
	ListFirewallRuleGroupAssociations(*route53.ResolverInput) (json.RawMessage, error)
	ListFirewallRules(*route53.ResolverInput) (json.RawMessage, error)
	ListFirewallDomains(*route53.ResolverInput) (json.RawMessage, error)
	ListResolverRules(*route53.ResolverInput) (json.RawMessage, error)
	ListResolverRuleAssociations(*route53.ResolverInput) (json.RawMessage, error)
}

// registerResolver serves Route 53 Resolver.
func (c *Cloud) registerResolver(r Resolver) {
	const service = "route53resolver"
	handlePlain(c, service, "ListFirewallRuleGroupAssociations", r.ListFirewallRuleGroupAssociations)
	handlePlain(c, service, "ListFirewallRules", r.ListFirewallRules)
	handlePlain(c, service, "ListFirewallDomains", r.ListFirewallDomains)
	handlePlain(c, service, "ListResolverRules", r.ListResolverRules)
	handlePlain(c, service, "ListResolverRuleAssociations", r.ListResolverRuleAssociations)
}

// front hands each request to who answers it: AWS's services have one address for all
// accounts, and know by the credentials whose a request is, and by the signature's scope for
// which region (IAM user guide, "Elements of an AWS API request signature").
func (c *Cloud) front() http.Handler {
	if c.cfg.Route == nil {
		return c.wire
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		part := strings.Split(scope, "/") // key, day, region, service
		if len(part) > 3 {
			if other := c.cfg.Route(part[0], part[2]); other != nil {
				other.wire.ServeHTTP(w, r)
				return
			}
		}
		c.wire.ServeHTTP(w, r)
	})
}

// Admit makes a session known that another account's part of AWS made.
func (c *Cloud) Admit(who Identity) { c.keys.add(who) }

// Revoke ends the sessions of a role, as deleting it does; of all roles where none is named.
func (c *Cloud) Revoke(role string) { c.keys.revoke(role) }

// Knows reports whether an access key is known here.
func (c *Cloud) Knows(accessKeyID string) bool {
	_, ok := c.keys.owner(accessKeyID)
	return ok
}

// HostedZones is Route 53, of a world that has it.
type HostedZones interface {
	ListHostedZonesByVPC(*route53.Input) (wire.XML, error)
	ListResourceRecordSets(*route53.Input) (wire.XML, error)
}

// HandleHostedZones serves Route 53, and returns its operations.
func HandleHostedZones(s *wire.Server, z HostedZones) []string {
	get := func(operation, path string, answer func(*route53.Input) (wire.XML, error)) {
		wire.HandleXML(s, "route53", operation, path, func(_ context.Context, _ *wire.Call, in *route53.Input) (wire.XML, error) {
			return answer(in)
		})
	}
	get("ListHostedZonesByVPC", "/2013-04-01/hostedzonesbyvpc", z.ListHostedZonesByVPC)
	get("ListResourceRecordSets", "/2013-04-01/hostedzone/{HostedZoneId}/rrset", z.ListResourceRecordSets)
	return []string{"ListHostedZonesByVPC", "ListResourceRecordSets"}
}

// Profiles is Route 53 Profiles, of a world that has it.
type Profiles interface {
	ListProfileAssociations(*route53.ProfilesInput) (json.RawMessage, error)
	ListProfileResourceAssociations(*route53.ProfilesInput) (json.RawMessage, error)
}

// HandleProfiles serves Route 53 Profiles, and returns its operations.
func HandleProfiles(s *wire.Server, p Profiles) []string {
	get := func(operation, path string, answer func(*route53.ProfilesInput) (json.RawMessage, error)) {
		wire.HandleGet(s, "route53profiles", operation, path, func(_ context.Context, _ *wire.Call, in *route53.ProfilesInput) (json.RawMessage, error) {
			return answer(in)
		})
	}
	get("ListProfileAssociations", "/profileassociations", p.ListProfileAssociations)
	get("ListProfileResourceAssociations", "/profileresourceassociations/profileid/{ProfileId}", p.ListProfileResourceAssociations)
	return []string{"ListProfileAssociations", "ListProfileResourceAssociations"}
}

// SecretARN is the ARN that a secret of the stage has. Secrets Manager adds
// six characters to the name; here they are derived from it.
func SecretARN(region, account, name string) string {
	sum := sha256.Sum256([]byte(name))
	return "arn:aws:secretsmanager:" + region + ":" + account + ":secret:" + name + "-" + hex.EncodeToString(sum[:])[:6]
}

// currentStage is the label of the version in use. The stage's secrets have
// only that one.
const currentStage = "AWSCURRENT"

func (c *Cloud) getSecretValue(_ context.Context, _ *wire.Call, in *secretsmanager.GetSecretValueInput) (*secretsmanager.GetSecretValueOutput, error) {
	c.secrets.RLock()
	defer c.secrets.RUnlock()
	name, ok := c.findSecret(aws.ToString(in.SecretId))
	if !ok {
		return nil, wire.Errorf("ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
	}
	if stage := aws.ToString(in.VersionStage); stage != "" && stage != currentStage {
		return nil, wire.Errorf("ResourceNotFoundException", "Secrets Manager can't find the specified secret value for staging label: %s", stage)
	}
	sum := sha256.Sum256([]byte("version " + name))
	version := hex.EncodeToString(sum[:16])
	version = strings.Join([]string{version[:8], version[8:12], version[12:16], version[16:20], version[20:]}, "-")
	if id := aws.ToString(in.VersionId); id != "" && id != version {
		return nil, wire.Errorf("ResourceNotFoundException", "Secrets Manager can't find the specified secret value for VersionId: %s", id)
	}
	return &secretsmanager.GetSecretValueOutput{
		ARN: aws.String(SecretARN(c.cfg.Region, c.cfg.Account, name)), Name: aws.String(name),
		SecretString: aws.String(c.cfg.Secrets[name]), VersionId: aws.String(version), VersionStages: []string{currentStage},
	}, nil
}

// putSecretValue gives a secret its next value.
func (c *Cloud) putSecretValue(_ context.Context, _ *wire.Call, in *secretsmanager.PutSecretValueInput) (*secretsmanager.PutSecretValueOutput, error) {
	c.secrets.Lock()
	defer c.secrets.Unlock()
	name, ok := c.findSecret(aws.ToString(in.SecretId))
	if !ok {
		return nil, wire.Errorf("ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
	}
	c.cfg.Secrets[name] = aws.ToString(in.SecretString)
	return &secretsmanager.PutSecretValueOutput{ARN: aws.String(SecretARN(c.cfg.Region, c.cfg.Account, name)), Name: &name, VersionStages: []string{currentStage}}, nil
}

// SetSecret gives a secret another value, as an operator does who fills it in.
func (c *Cloud) SetSecret(name, value string) {
	c.secrets.Lock()
	defer c.secrets.Unlock()
	c.cfg.Secrets[name] = value
}

// Secret is a secret's value, by its name.
func (c *Cloud) Secret(name string) (value string, there bool) {
	c.secrets.RLock()
	defer c.secrets.RUnlock()
	value, there = c.cfg.Secrets[name]
	return value, there
}

// RemoveSecret deletes a secret.
func (c *Cloud) RemoveSecret(name string) {
	c.secrets.Lock()
	defer c.secrets.Unlock()
	delete(c.cfg.Secrets, name)
}

// findSecret finds a secret by its name, its ARN, or its ARN without the six
// characters at the end.
func (c *Cloud) findSecret(id string) (name string, ok bool) {
	if _, ok := c.cfg.Secrets[id]; ok {
		return id, true
	}
	for name := range c.cfg.Secrets {
		arn := SecretARN(c.cfg.Region, c.cfg.Account, name)
		if id == arn || id == arn[:len(arn)-7] {
			return name, true
		}
	}
	return "", false
}

// Queues is the queue engine, with the operations that functions and people
// use. Further methods of the same form are served too.
type Queues interface {
	SendMessage(*sqs.SendMessageInput) (*sqs.SendMessageOutput, error)
	SendMessageBatch(*sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error)
	ReceiveMessage(*sqs.ReceiveMessageInput) (*sqs.ReceiveMessageOutput, error)
	DeleteMessage(*sqs.DeleteMessageInput) (*sqs.DeleteMessageOutput, error)
	DeleteMessageBatch(*sqs.DeleteMessageBatchInput) (*sqs.DeleteMessageBatchOutput, error)
	ChangeMessageVisibility(*sqs.ChangeMessageVisibilityInput) (*sqs.ChangeMessageVisibilityOutput, error)
	GetQueueUrl(*sqs.GetQueueUrlInput) (*sqs.GetQueueUrlOutput, error)
	ListQueues(*sqs.ListQueuesInput) (*sqs.ListQueuesOutput, error)
	ListDeadLetterSourceQueues(*sqs.ListDeadLetterSourceQueuesInput) (*sqs.ListDeadLetterSourceQueuesOutput, error)
	StartMessageMoveTask(*sqs.StartMessageMoveTaskInput) (*sqs.StartMessageMoveTaskOutput, error)
	ListMessageMoveTasks(*sqs.ListMessageMoveTasksInput) (*sqs.ListMessageMoveTasksOutput, error)
	GetQueueAttributes(*sqs.GetQueueAttributesInput) (*sqs.GetQueueAttributesOutput, error)
}

// getCallerIdentity tells who signed the request.
func (c *Cloud) getCallerIdentity(_ context.Context, call *wire.Call, _ *sts.GetCallerIdentityInput) (*sts.GetCallerIdentityOutput, error) {
	id, _ := c.keys.owner(call.AccessKeyID)
	return &sts.GetCallerIdentityOutput{
		Account: aws.String(call.Principal.Account),
		Arn:     aws.String(call.Principal.ARN),
		UserId:  aws.String(id.userID()),
	}, nil
}

// Times of a session (STS API reference, AssumeRole, "DurationSeconds": from 900
// seconds, 3,600 by default; "role chaining limits your role session to a maximum of
// one hour", and a request for more fails). A function's role is a session itself.
const (
	sessionTime  = time.Hour
	leastSession = 15 * time.Minute
)

// assumeRole gives a session of a role to those whom its trust policy names and whose
// own policies let them. Who may not, and who asks for a role that is not there, get
// the same answer: STS does not tell whether a role exists.
func (c *Cloud) assumeRole(_ context.Context, call *wire.Call, in *sts.AssumeRoleInput) (*sts.AssumeRoleOutput, error) {
	caller, _ := c.keys.owner(call.AccessKeyID)
	life := sessionTime
	if in.DurationSeconds != nil {
		life = time.Duration(*in.DurationSeconds) * time.Second
	}
	if life > sessionTime || life < leastSession {
		return nil, &wire.Error{Code: "ValidationError", Status: http.StatusBadRequest, Message: "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining"}
	}
	ok := false
	if c.cfg.MayAssume != nil {
		var err error
		if ok, err = c.cfg.MayAssume(caller, in); err != nil {
			return nil, fmt.Errorf("may %s assume %s: %w", caller.ARN, aws.ToString(in.RoleArn), err)
		}
	}
	if !ok {
		return nil, &wire.Error{Code: "AccessDenied", Status: http.StatusForbidden,
			Message: fmt.Sprintf("User: %s is not authorized to perform: sts:AssumeRole on resource: %s", caller.ARN, aws.ToString(in.RoleArn))}
	}
	owner := c.cfg.Account
	if part := strings.Split(aws.ToString(in.RoleArn), ":"); len(part) == 6 {
		owner = part[4]
	}
	who := assumed(owner, aws.ToString(in.RoleArn), aws.ToString(in.RoleSessionName), c.cfg.Wall(), life)
	who.Admin = caller.Admin
	if owner == c.cfg.Account {
		c.keys.add(who)
	}
	if c.cfg.Assumed != nil {
		c.cfg.Assumed(who)
	}
	return &sts.AssumeRoleOutput{
		AssumedRoleUser: &ststypes.AssumedRoleUser{Arn: aws.String(who.ARN), AssumedRoleId: aws.String(who.userID())},
		Credentials: &ststypes.Credentials{
			AccessKeyId: aws.String(who.AccessKeyID), SecretAccessKey: aws.String(who.SecretAccessKey),
			SessionToken: aws.String(who.SessionToken), Expiration: aws.Time(who.Expires),
		},
	}, nil
}

// Mail is a message that SNS took for a topic.
type Mail struct {
	Topic, Subject, Message string
	Attributes              map[string]string
}

// SNS's limits (botocore's model sns/2010-03-31, Publish: "at most 256 KB in size (262,144
// bytes, not 262,144 characters)", of which attributes are a part; a subject is "less than
// 100 characters long", "with no line breaks or control characters").
const (
	maxPublished = 262_144
	maxSubject   = 100
)

// attributeName is the form of an attribute's name (SNS developer guide, "Message
// attributes": letters, digits, underscore, hyphen and period, 256 at most).
var attributeName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,256}$`)

// publish is SNS's Publish for topics. There are no subscribers: what is taken is kept.
func (c *Cloud) publish(_ context.Context, _ *wire.Call, in *sns.PublishInput) (*sns.PublishOutput, error) {
	invalid := func(what string) (*sns.PublishOutput, error) {
		return nil, wire.Errorf("InvalidParameter", "Invalid parameter: %s", what)
	}
	m := Mail{Topic: aws.ToString(in.TopicArn), Subject: aws.ToString(in.Subject), Message: aws.ToString(in.Message), Attributes: map[string]string{}}
	if !strings.HasPrefix(m.Topic, "arn:") {
		return invalid("TopicArn")
	}
	if !slices.Contains(c.cfg.Topics, m.Topic) {
		return nil, &wire.Error{Code: "NotFound", Status: http.StatusNotFound, Message: "Topic does not exist"}
	}
	if m.Message == "" {
		return invalid("Empty message")
	}
	if in.Subject != nil && (m.Subject == "" || utf8.RuneCountInString(m.Subject) >= maxSubject || strings.ContainsFunc(m.Subject, unicode.IsControl)) {
		return invalid("Subject")
	}
	size := len(m.Message)
	for name, a := range in.MessageAttributes {
		if !attributeName.MatchString(name) || aws.ToString(a.DataType) == "" {
			return invalid("The message attribute name or type is not valid")
		}
		if aws.ToString(a.StringValue) == "" && len(a.BinaryValue) == 0 {
			return invalid("The message attribute '" + name + "' must contain non-empty message attribute value")
		}
		size += len(name) + len(aws.ToString(a.DataType)) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
		m.Attributes[name] = aws.ToString(a.StringValue)
	}
	if size > maxPublished {
		return invalid("Message too long")
	}
	c.secrets.Lock()
	defer c.secrets.Unlock()
	c.mails = append(c.mails, m)
	sum := sha256.Sum256([]byte(m.Topic + m.Subject + m.Message))
	return &sns.PublishOutput{MessageId: aws.String(hex.EncodeToString(sum[:16]))}, nil
}

// Mails are the messages that SNS took, in their order.
func (c *Cloud) Mails() []Mail {
	c.secrets.RLock()
	defer c.secrets.RUnlock()
	return slices.Clone(c.mails)
}

// World is the simulated account. These are the operations that this package
// itself calls; the others are found by their form and served, see
// Config.World.
type World interface {
	DescribeCluster(*eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error)
	DescribeAccessEntry(*eks.DescribeAccessEntryInput) (*eks.DescribeAccessEntryOutput, error)
	ListAssociatedAccessPolicies(*eks.ListAssociatedAccessPoliciesInput) (*eks.ListAssociatedAccessPoliciesOutput, error)
}

// Deployment is a stack, of whose functions' roles IAM tells as of the world's, and of
// whose alarms CloudWatch tells.
type Deployment interface {
	Role(name string) (role iamtypes.Role, there, known bool)
	DescribeAlarms(*cloudwatch.DescribeAlarmsInput) (*cloudwatch.DescribeAlarmsOutput, error)
}

// getRole is IAM's answer about a role of the deployment or of the world.
func (c *Cloud) getRole(world func(*iam.GetRoleInput) (*iam.GetRoleOutput, error)) func(context.Context, *wire.Call, *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
	return func(_ context.Context, _ *wire.Call, in *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
		name := aws.ToString(in.RoleName)
		role, there, known := c.cfg.Deployment.Role(name)
		switch {
		case !known:
			return world(in)
		case !there: // IAM API reference, GetRole
			return nil, &wire.Error{Code: "NoSuchEntity", Status: http.StatusNotFound, Message: "The role with name " + name + " cannot be found."}
		}
		return &iam.GetRoleOutput{Role: &role}, nil
	}
}

// register gives every operation its handler.
func (c *Cloud) register() {
	for _, service := range []string{"ec2", "autoscaling"} {
		c.ops[service] = wire.HandleMethods(c.wire, service, c.cfg.World)
	}
	world, roles := c.cfg.World.(interface {
		GetRole(*iam.GetRoleInput) (*iam.GetRoleOutput, error)
	})
	if c.cfg.Deployment != nil && roles {
		c.ops["iam"] = append(wire.HandleMethods(c.wire, "iam", c.cfg.World, "GetRole"), "GetRole")
		wire.Handle(c.wire, "iam", "GetRole", c.getRole(world.GetRole))
	} else {
		c.ops["iam"] = wire.HandleMethods(c.wire, "iam", c.cfg.World)
	}
	c.ops["eks"] = append(wire.HandleMethods(c.wire, "eks", c.cfg.World, "DescribeCluster"), "DescribeCluster")
	wire.Handle(c.wire, "eks", "DescribeCluster", c.describeCluster)
	c.ops["sts"] = append(wire.HandleMethods(c.wire, "sts", c.cfg.World), "GetCallerIdentity", "AssumeRole")
	wire.Handle(c.wire, "sts", "AssumeRole", c.assumeRole)
	wire.Handle(c.wire, "sts", "GetCallerIdentity", c.getCallerIdentity)
	c.ops["secretsmanager"] = []string{"GetSecretValue"}
	wire.Handle(c.wire, "secretsmanager", "GetSecretValue", c.getSecretValue)
	if len(c.cfg.Topics) > 0 {
		c.ops["sns"] = []string{"Publish"}
		wire.Handle(c.wire, "sns", "Publish", c.publish)
	}
	if c.cfg.Queues != nil {
		c.ops["sqs"] = wire.HandleMethods(c.wire, "sqs", c.cfg.Queues)
	}
	if c.cfg.Events != nil {
		c.ops["eventbridge"] = []string{"PutEvents"}
		wire.Handle(c.wire, "eventbridge", "PutEvents", c.putEvents)
	}
	if c.cfg.Deployment != nil {
		c.ops["cloudwatch"] = []string{"DescribeAlarms"}
		wire.HandlePlain(c.wire, "cloudwatch", "DescribeAlarms", func(_ context.Context, _ *wire.Call, in *cloudwatch.DescribeAlarmsInput) (*cloudwatch.DescribeAlarmsOutput, error) {
			return c.cfg.Deployment.DescribeAlarms(in)
		})
		c.ops["lambda"] = wire.HandleMethods(c.wire, "lambda", c.cfg.Deployment)
		c.ops["eventbridge"] = append(c.ops["eventbridge"], wire.HandleMethods(c.wire, "eventbridge", c.cfg.Deployment)...)
	}
	if c.cfg.CloudFormation != nil {
		c.ops["cloudformation"] = wire.HandleMethods(c.wire, "cloudformation", c.cfg.CloudFormation)
		c.ops["secretsmanager"] = append(c.ops["secretsmanager"], "PutSecretValue")
		wire.Handle(c.wire, "secretsmanager", "PutSecretValue", c.putSecretValue)
	}
	if c.cfg.Invoke != nil {
		c.ops["lambda"] = append(c.ops["lambda"], "Invoke")
		wire.Handle(c.wire, "lambda", "Invoke", c.invoke)
	}
	if c.cfg.History != nil {
		c.ops["cloudtrail"] = []string{"LookupEvents"}
		wire.HandlePlain(c.wire, "cloudtrail", "LookupEvents", c.lookupEvents)
	}
	if l, has := c.cfg.World.(Logs); has {
		c.registerLogs(l)
	}
	if r, has := c.cfg.World.(Resolver); has {
		c.registerResolver(r)
	}
	if z, has := c.cfg.World.(HostedZones); has {
		c.ops["route53"] = HandleHostedZones(c.wire, z)
	}
	if p, has := c.cfg.World.(Profiles); has {
		c.ops["route53profiles"] = HandleProfiles(c.wire, p)
	}
	if z, has := c.cfg.World.(ZonalShift); has {
		c.ops["arczonalshift"] = HandleZonalShift(c.wire, z)
	}
	if c.cfg.S3 != nil {
		c.wire.Pass("s3", c.cfg.S3)
	}
	if c.cfg.DynamoDB != nil {
		db := c.cfg.DynamoDB
		if c.cfg.Meter != nil {
			db = c.cfg.Meter.over(db)
		}
		c.wire.Pass("dynamodb", db)
	}
}

// describeCluster answers with the cluster of the world, whose endpoint and
// authority are those of the listener that serves its Kubernetes API.
func (c *Cloud) describeCluster(_ context.Context, _ *wire.Call, in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	out, err := c.cfg.World.DescribeCluster(in)
	if err != nil || out == nil || out.Cluster == nil || c.cfg.Endpoints {
		return out, err
	}
	k, ok := c.clusters[aws.ToString(out.Cluster.Name)]
	if !ok {
		return out, nil
	}
	described := *out.Cluster
	described.Endpoint = aws.String(k.endpoint)
	described.CertificateAuthority = &ekstypes.Certificate{Data: aws.String(base64.StdEncoding.EncodeToString(k.ca))}
	return &eks.DescribeClusterOutput{Cluster: &described}, nil
}

// ZonalShift is ARC zonal shift, of a world that has it.
type ZonalShift interface {
	ListZonalShifts(*zonalshift.Input) (json.RawMessage, error)
	ListAutoshifts(*zonalshift.Input) (json.RawMessage, error)
	ListManagedResources(*zonalshift.Input) (json.RawMessage, error)
}

// HandleZonalShift serves ARC zonal shift, and returns its operations.
func HandleZonalShift(s *wire.Server, z ZonalShift) []string {
	get := func(operation, path string, answer func(*zonalshift.Input) (json.RawMessage, error)) {
		wire.HandleGet(s, "arczonalshift", operation, path, func(_ context.Context, _ *wire.Call, in *zonalshift.Input) (json.RawMessage, error) {
			return answer(in)
		})
	}
	get("ListZonalShifts", "/zonalshifts", z.ListZonalShifts)
	get("ListAutoshifts", "/autoshifts", z.ListAutoshifts)
	get("ListManagedResources", "/managedresources", z.ListManagedResources)
	return []string{"ListZonalShifts", "ListAutoshifts", "ListManagedResources"}
}
