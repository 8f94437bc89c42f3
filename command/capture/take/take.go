// Package take takes a capture: what AWS and Kubernetes say of EKS clusters and of all
// that their nodes need to join, as files in a folder, each as the AWS CLI and kubectl
// print it. It only reads. What is asked at the same time stays within the request
// buckets of the account, so that those who work in it are not throttled.
//
// Nothing is cut without a word: an answer that is refused stands in errors.json, what
// was not asked for in left-out.json. A file is whole or not there.
package take

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"rollcall/command/capture/mask"
	"rollcall/shared/capture"
	"rollcall/shared/evidence"
	"rollcall/shared/kube"
)

// Options say what is taken, and whereto.
type Options struct {
	// Clusters are taken; all of the region, where none is named.
	Clusters []string
	// Dir is the folder: it must be empty or not there, unless Resume keeps what it has.
	Dir    string
	Resume bool
	// Mask replaces account ids, names and what looks like a secret. What is not masked
	// yet is in a folder beside Dir, and goes away when it is.
	Mask bool
	// Instances is how many instances' user data and console are taken, of those that are
	// no Ready nodes.
	Instances int
	// Now is when it is taken.
	Now time.Time
	// Progress, if any, is called for each file. It may be called by several goroutines.
	Progress func(Progress)
}

// Account is what is asked.
type Account struct {
	Config aws.Config
	// Kubernetes opens a cluster's API; the error tells why it cannot be asked.
	Kubernetes func(context.Context, Cluster) (Kubernetes, error)
}

// Progress is how far a taking is.
type Progress struct{ Files, Calls, Refused int }

// Summary is what was taken.
type Summary struct {
	Progress
	// Kept are files that were there before.
	Kept    int
	Refused map[string]Refusal
	LeftOut []LeftOut
	// Notes say what a person should know of it.
	Notes []string
}

// Refusal is an answer that a service refused, and LeftOut what was not asked for.
type (
	Refusal = capture.Refusal
	LeftOut = capture.LeftOut
)

// InputError is what whoever asked has to mend.
type InputError struct{ Problem string }

// Error is the problem, in one line.
func (e *InputError) Error() string { return e.Problem }

func wrongInput(format string, args ...any) error {
	return &InputError{fmt.Sprintf(format, args...)}
}

// unmasked is the folder beside a masked one that holds what is not masked yet.
const unmasked = ".unmasked"

// Take takes a capture. The error is an *InputError where credentials, region,
// clusters or folder are to blame; what came before it stays in the folder.
func Take(ctx context.Context, account Account, o Options) (Summary, error) {
	dir := o.Dir
	if o.Mask {
		dir += unmasked
	}
	// A masked capture has other names than the account: it cannot be gone on with.
	for _, d := range []string{o.Dir, dir} {
		if err := mustBeEmpty(d); err != nil && !(o.Resume && d == dir) {
			return Summary{}, err
		}
	}
	t, err := newTaker(account, o, dir)
	if err != nil {
		return Summary{}, err
	}
	if err := t.all(ctx); err != nil {
		return t.summary(), err
	}
	if o.Mask {
		if err := mask.Folder(dir, o.Dir); err != nil {
			return t.summary(), wrongInput("%s holds what is not masked, as masking failed: %v", dir, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			return t.summary(), wrongInput("%s holds what is not masked, and cannot be removed: %v", dir, err)
		}
	}
	return t.summary(), nil
}

// all takes everything, in three steps: what needs nothing, what needs the clusters'
// VPCs, and what needs the instances. In each step calls are made at the same time.
// Nothing is written before it is known that there is something to take.
func (t *taker) all(parent context.Context) error {
	ctx, stop := context.WithCancel(parent)
	defer stop()
	t.stop = stop
	if err := t.identify(ctx); err != nil {
		return err
	}
	if err := t.named(ctx); err != nil {
		return err
	}
	if err := t.open(); err != nil {
		return err
	}
	t.take(ctx, "sts-get-caller-identity", nil)
	clusters := t.clusters(ctx)
	each := make([]cluster, len(clusters))
	var found region
	var nodes map[string]any
	t.parallel(
		func() { found = t.account(ctx) },
		func() { nodes = t.nodes(ctx, clusters) },
		func() { t.trail(ctx) },
		func() { list(t, clusters, func(i int, name string) { each[i] = t.cluster(ctx, name) }) },
	)
	found.nodes = nodes
	found.addAll(each)
	t.parallel(
		func() { t.network(ctx, &found) },
		func() { t.autoModeLogs(ctx, found.auto) },
	)
	t.instances(ctx, &found)
	t.roles(ctx, &found)
	switch {
	case t.failed() != nil:
		return t.failed()
	case parent.Err() != nil:
		return fmt.Errorf("interrupted: --resume goes on with what is in %s: %w", t.folder.dir, parent.Err())
	}
	return t.finish()
}

// finish writes the summary of the whole.
func (t *taker) finish() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.folder.writeAll("errors", t.refused, len(t.refused) > 0); err != nil {
		return err
	}
	slices.SortFunc(t.leftOut, compareLeftOut)
	return t.folder.writeAll("left-out", t.leftOut, len(t.leftOut) > 0)
}

// attempts and maxBackoff let a throttled call wait out half a minute of an empty request
// bucket.
const (
	attempts   = 10
	maxBackoff = 5 * time.Second
)

// Retryer makes a call again until it is answered: nothing is missed for other clients'
// calls. By itself the SDK stops after a hundred throttled ones of all calls together.
func Retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff, o.RateLimiter = attempts, maxBackoff, ratelimit.None
	})
}

// APIServer is how a cluster's Kubernetes API is reached.
type APIServer struct {
	Endpoint  string
	CA        []byte // PEM
	Transport http.RoundTripper
}

// Straight is the way that EKS tells.
func Straight(_ context.Context, c Cluster) (APIServer, error) {
	via, err := kube.Transport(c.CA)
	if err != nil {
		return APIServer{}, err
	}
	via.Proxy = http.ProxyFromEnvironment
	return APIServer{c.Endpoint, c.CA, via}, nil
}

// ByToken opens clusters by their API servers, with tokens of their own for whoever cfg is (aws eks
// get-token).
func ByToken(cfg aws.Config, server func(context.Context, Cluster) (APIServer, error)) func(context.Context, Cluster) (Kubernetes, error) {
	presigner := sts.NewPresignClient(sts.NewFromConfig(cfg))
	return func(ctx context.Context, c Cluster) (Kubernetes, error) {
		d, err := server(ctx, c)
		if err != nil {
			return nil, err
		}
		token, err := kube.Token(ctx, presigner, c.Name)
		if err != nil {
			return nil, err
		}
		return kube.NewVia(d.Transport, d.Endpoint, d.CA, token)
	}
}

// maxBytes is the largest answer that is kept, all pages together: the reader of
// captures takes files of 512 MiB, and printed they are larger than on the wire.
const maxBytes = 200 << 20

var (
	errTooLarge = fmt.Errorf("the answer is larger than %d MiB", maxBytes>>20)
	// errHalf is a page that leads to itself: what was read is not all.
	errHalf = errors.New("a page leads to itself")
)

// sizeKey is under which an answer's metadata has its size.
type sizeKey struct{}

// bounded counts the bytes of each answer, and reads no more than maxBytes.
func bounded(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("RollcallBound",
		func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
			out, meta, err := next.HandleDeserialize(ctx, in)
			if answer, ok := out.RawResponse.(*smithyhttp.Response); ok && err == nil {
				n := new(int)
				answer.Body = counted{answer.Body, n}
				meta.Set(sizeKey{}, n)
			}
			return out, meta, err
		}), middleware.After)
}

// counted is a body whose bytes are counted.
type counted struct {
	io.ReadCloser
	n *int
}

// Read fails with errTooLarge once there is more than maxBytes.
func (c counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if *c.n += n; *c.n > maxBytes {
		return n, errTooLarge
	}
	return n, err
}

// operation is an operation of a service as the SDK has it.
type operation[I, O, Option any] func(context.Context, *I, ...func(*Option)) (*O, error)

// asks makes a call with all its pages, as the CLI prints it: lists that go on are
// joined, and tokens are gone.
func asks[I, O, Option any](t *taker, service string, call operation[I, O, Option], in *I) func(context.Context) (map[string]any, error) {
	return func(ctx context.Context) (map[string]any, error) {
		tree, _, err := pages(ctx, t, service, call, *in, 0)
		return tree, err
	}
}

// pages makes a call, with at most so many pages (0: all), and tells if there are more.
func pages[I, O, Option any](ctx context.Context, t *taker, service string, call operation[I, O, Option], in I, most int) (map[string]any, bool, error) {
	typ := reflect.TypeFor[O]()
	var all map[string]any
	for n, size := 1, 0; ; n++ {
		leave, err := t.limits.enter(ctx, service, strings.TrimSuffix(typ.Name(), "Output"))
		if err != nil {
			return nil, false, err
		}
		out, err := call(ctx, &in)
		leave()
		t.count(func() { t.state.Calls++ })
		if err != nil {
			return nil, false, err
		}
		answer := reflect.ValueOf(out).Elem()
		if size += sizeOf(answer); size > maxBytes {
			return nil, false, errTooLarge
		}
		page, err := decoded(evidence.Printed(out, service == "eks"))
		if err != nil {
			return nil, false, err
		}
		all = joined(all, page)
		next := nextPage(answer)
		if next == "" || most > 0 && n >= most {
			return all, next != "", nil
		}
		if !turn(reflect.ValueOf(&in).Elem(), next) {
			return nil, false, errHalf
		}
	}
}

func sizeOf(answer reflect.Value) int {
	meta, _ := answer.FieldByName("ResultMetadata").Interface().(middleware.Metadata)
	if n, ok := meta.Get(sizeKey{}).(*int); ok {
		return *n
	}
	return 0
}

// decoded is JSON as a tree whose numbers keep their text.
func decoded(raw []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var tree map[string]any
	if err := d.Decode(&tree); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return tree, nil
}

// tokens are the names under which the services have a page's token.
func tokens() []string { return []string{"NextToken", "Marker"} }

// nextPage is the token of the next page, "" where there is none.
func nextPage(answer reflect.Value) string {
	for _, name := range tokens() {
		if f := answer.FieldByName(name); f.IsValid() && f.Kind() == reflect.Pointer && !f.IsNil() {
			return f.Elem().String()
		}
	}
	return ""
}

// turn sets the token of the next page, and tells if it is another one.
func turn(in reflect.Value, next string) bool {
	for _, name := range tokens() {
		f := in.FieldByName(name)
		if !f.IsValid() {
			continue
		}
		if !f.IsNil() && f.Elem().String() == next {
			return false
		}
		f.Set(reflect.ValueOf(&next))
		return true
	}
	return false
}

// joined are pages in one, without what tells of pages.
func joined(all, page map[string]any) map[string]any {
	for _, name := range []string{"NextToken", "nextToken", "Marker", "IsTruncated"} {
		delete(page, name)
	}
	if all == nil {
		return page
	}
	for key, value := range page {
		more, isList := value.([]any)
		have, both := all[key].([]any)
		switch {
		case isList && both:
			all[key] = append(have, more...)
		case all[key] == nil:
			all[key] = value
		}
	}
	return all
}

// cluster is what a cluster leads to.
type cluster struct {
	vpcs      []string
	roles     []string // names or ARNs
	profiles  []string // instance profiles, by name
	templates []string
	groups    []string
	types     []string
	ready     []string // instances of Ready nodes
	// auto is the cluster's ARN, where EKS Auto Mode runs its nodes.
	auto []string
}

// region is what all clusters of a region lead to.
type region struct {
	cluster
	lists             []string // managed prefix lists
	instances, groups map[string]any
	// nodes are instances by their tags.
	nodes                 map[string]any
	peerings, attachments map[string]any
}

func (c *cluster) add(o cluster) {
	c.vpcs = append(c.vpcs, o.vpcs...)
	c.roles = append(c.roles, o.roles...)
	c.profiles = append(c.profiles, o.profiles...)
	c.templates = append(c.templates, o.templates...)
	c.groups = append(c.groups, o.groups...)
	c.types = append(c.types, o.types...)
	c.ready = append(c.ready, o.ready...)
	c.auto = append(c.auto, o.auto...)
}

func (r *region) addAll(each []cluster) {
	for _, c := range each {
		r.add(c)
	}
	r.vpcs = sorted(r.vpcs)
}

// identify says whose the credentials are. Where AWS does not answer that, which takes no
// permission, nothing else is asked.
func (t *taker) identify(ctx context.Context) error {
	const file = "sts-get-caller-identity"
	t.ahead(ctx, file, asks(t, "sts", t.sts.GetCallerIdentity, &sts.GetCallerIdentityInput{}))
	if err := t.early[file].err; err != nil {
		return wrongInput("AWS does not say whose the credentials are: %s", oneLine(err))
	}
	return nil
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

const listFile = "eks-list-clusters"

// named looks whether the clusters that were named are there.
func (t *taker) named(ctx context.Context) error {
	t.options.Clusters = sorted(t.options.Clusters)
	for _, name := range t.options.Clusters {
		file := capture.FileName("eks-describe-cluster", name)
		t.ahead(ctx, file, t.describes(name))
		var missing *ekstypes.ResourceNotFoundException
		if errors.As(t.early[file].err, &missing) {
			return t.noCluster(ctx, name)
		}
	}
	return nil
}

// clusters are the names to take: those that were named, or all.
func (t *taker) clusters(ctx context.Context) []string {
	if names := t.options.Clusters; len(names) > 0 {
		t.take(ctx, listFile, func(context.Context) (map[string]any, error) { return map[string]any{"clusters": names}, nil })
		return names
	}
	all := picksOf(t.take(ctx, listFile, asks(t, "eks", t.eks.ListClusters, &eks.ListClustersInput{})), "clusters[]")
	if len(all) == 0 {
		t.note("there is no cluster in %s, or none may be listed: --cluster names one", t.asked.Config.Region)
	}
	return all
}

func (t *taker) describes(name string) func(context.Context) (map[string]any, error) {
	return asks(t, "eks", t.eks.DescribeCluster, &eks.DescribeClusterInput{Name: aws.String(name)})
}

// noCluster names the clusters that there are.
func (t *taker) noCluster(ctx context.Context, name string) error {
	tree, err := asks(t, "eks", t.eks.ListClusters, &eks.ListClustersInput{})(ctx)
	region := t.asked.Config.Region
	switch all := picksOf(tree, "clusters[]"); {
	case err != nil:
		return wrongInput("there is no cluster %s in %s", name, region)
	case len(all) == 0:
		return wrongInput("there is no cluster %s in %s, and no other: --region names another region", name, region)
	default:
		return wrongInput("there is no cluster %s in %s; there are: %s", name, region, strings.Join(all, ", "))
	}
}

// picksOf is picks where there may be no answer.
func picksOf(tree map[string]any, path string) []string {
	if tree == nil {
		return nil
	}
	return picks(tree, path)
}

// cluster takes what EKS and Kubernetes say of a cluster.
func (t *taker) cluster(ctx context.Context, name string) cluster {
	described := t.take(ctx, capture.FileName("eks-describe-cluster", name), t.describes(name))
	found := cluster{vpcs: picksOf(described, "cluster.resourcesVpcConfig.vpcId")}
	if on := nodesOf(described, "cluster.computeConfig.enabled"); len(on) == 1 && on[0] == true {
		found.auto = picks(described, "cluster.arn")
	}
	parts := make([]cluster, 4)
	t.parallel(
		func() { parts[0] = t.nodegroups(ctx, name) },
		func() { parts[1] = t.addons(ctx, name) },
		func() { t.accessEntries(ctx, name) },
		func() { parts[2] = t.podIdentities(ctx, name) },
		func() { parts[3] = t.kubernetes(ctx, name, described) },
	)
	for _, p := range parts {
		found.add(p)
	}
	return found
}

// place is what is needed to reach a cluster's API.
func place(name string, described map[string]any) (Cluster, bool) {
	if described == nil {
		return Cluster{}, false
	}
	ca, err := base64.StdEncoding.DecodeString(text(described, "cluster.certificateAuthority.data"))
	endpoint := text(described, "cluster.endpoint")
	return Cluster{Name: name, Endpoint: endpoint, CA: ca}, err == nil && endpoint != ""
}

func (t *taker) nodegroups(ctx context.Context, name string) cluster {
	listed := t.take(ctx, capture.FileName("eks-list-nodegroups", name), asks(t, "eks", t.eks.ListNodegroups, &eks.ListNodegroupsInput{ClusterName: aws.String(name)}))
	names := picksOf(listed, "nodegroups[]")
	parts := make([]cluster, len(names))
	list(t, names, func(i int, group string) {
		tree := t.take(ctx, capture.FileName("eks-describe-nodegroup", name, group),
			asks(t, "eks", t.eks.DescribeNodegroup, &eks.DescribeNodegroupInput{ClusterName: aws.String(name), NodegroupName: aws.String(group)}))
		if tree != nil {
			parts[i] = cluster{
				roles: picks(tree, "nodegroup.nodeRole"), types: picks(tree, "nodegroup.instanceTypes[]"),
				templates: picks(tree, "nodegroup.launchTemplate.id"), groups: picks(tree, "nodegroup.resources.autoScalingGroups[].name"),
			}
		}
		t.updates(ctx, name, group)
	})
	var all cluster
	for _, p := range parts {
		all.add(p)
	}
	return all
}

// mostUpdates is how many updates are described from each end of the list: the newest
// are at one of them, and EKS does not say at which.
const mostUpdates = 6

func (t *taker) updates(ctx context.Context, name, group string) {
	file := capture.FileName("eks-list-updates", name, group)
	tree := t.take(ctx, file, asks(t, "eks", t.eks.ListUpdates, &eks.ListUpdatesInput{Name: aws.String(name), NodegroupName: aws.String(group)}))
	var ids []string
	for _, id := range nodesOf(tree, "updateIds[]") {
		if id, ok := id.(string); ok {
			ids = append(ids, id)
		}
	}
	if len(ids) > 2*mostUpdates {
		t.leave(capture.FileName("eks-describe-update", name, group), "%d updates in the middle of the list are not described", len(ids)-2*mostUpdates)
		ids = slices.Concat(ids[:mostUpdates], ids[len(ids)-mostUpdates:])
	}
	list(t, ids, func(_ int, id string) {
		t.take(ctx, capture.FileName("eks-describe-update", name, group, id),
			asks(t, "eks", t.eks.DescribeUpdate, &eks.DescribeUpdateInput{Name: aws.String(name), NodegroupName: aws.String(group), UpdateId: aws.String(id)}))
	})
}

func nodesOf(tree map[string]any, path string) []any {
	if tree == nil {
		return nil
	}
	return nodes(tree, path)
}

func (t *taker) addons(ctx context.Context, name string) cluster {
	listed := t.take(ctx, capture.FileName("eks-list-addons", name), asks(t, "eks", t.eks.ListAddons, &eks.ListAddonsInput{ClusterName: aws.String(name)}))
	names := picksOf(listed, "addons[]")
	roles := make([][]string, len(names))
	list(t, names, func(i int, addon string) {
		tree := t.take(ctx, capture.FileName("eks-describe-addon", name, addon),
			asks(t, "eks", t.eks.DescribeAddon, &eks.DescribeAddonInput{ClusterName: aws.String(name), AddonName: aws.String(addon)}))
		roles[i] = picksOf(tree, "addon.serviceAccountRoleArn")
	})
	return cluster{roles: slices.Concat(roles...)}
}

// mostEntries is how many access entries of a cluster are described.
const mostEntries = 300

func (t *taker) accessEntries(ctx context.Context, name string) {
	listed := t.take(ctx, capture.FileName("eks-list-access-entries", name), asks(t, "eks", t.eks.ListAccessEntries, &eks.ListAccessEntriesInput{ClusterName: aws.String(name)}))
	arns := picksOf(listed, "accessEntries[]")
	// A file has the principal's name alone: of two with one name the first is kept.
	seen := map[string]bool{}
	var chosen []string
	for _, arn := range arns {
		file := capture.FileName("eks-describe-access-entry", name, lastPart(arn))
		switch {
		case seen[file]:
			t.leave(file, "%s has the same name as another principal", arn)
		case len(chosen) == mostEntries:
			t.leave(file, "only the first %d access entries are described", mostEntries)
		default:
			chosen = append(chosen, arn)
		}
		seen[file] = true
	}
	list(t, chosen, func(_ int, arn string) {
		tree := t.take(ctx, capture.FileName("eks-describe-access-entry", name, lastPart(arn)),
			asks(t, "eks", t.eks.DescribeAccessEntry, &eks.DescribeAccessEntryInput{ClusterName: aws.String(name), PrincipalArn: aws.String(arn)}))
		// What nodes of EKS Auto Mode are allowed comes with access policies.
		if slices.Equal(picksOf(tree, "accessEntry.type"), []string{"EC2"}) {
			t.take(ctx, capture.FileName("eks-list-associated-access-policies", name, lastPart(arn)),
				asks(t, "eks", t.eks.ListAssociatedAccessPolicies, &eks.ListAssociatedAccessPoliciesInput{ClusterName: aws.String(name), PrincipalArn: aws.String(arn)}))
		}
	})
}

func (t *taker) podIdentities(ctx context.Context, name string) cluster {
	listed := t.take(ctx, capture.FileName("eks-list-pod-identity-associations", name),
		asks(t, "eks", t.eks.ListPodIdentityAssociations, &eks.ListPodIdentityAssociationsInput{ClusterName: aws.String(name)}))
	// Those of the system's own pods, the network plugin among them.
	var ids []string
	for _, a := range nodesOf(listed, "associations[]") {
		if text(a, "namespace") == "kube-system" {
			ids = append(ids, text(a, "associationId"))
		}
	}
	roles := make([][]string, len(ids))
	list(t, ids, func(i int, id string) {
		tree := t.take(ctx, capture.FileName("eks-describe-pod-identity-association", name, id),
			asks(t, "eks", t.eks.DescribePodIdentityAssociation, &eks.DescribePodIdentityAssociationInput{ClusterName: aws.String(name), AssociationId: aws.String(id)}))
		// The target role is the one that the pod's credentials are of.
		roles[i] = slices.Concat(picksOf(tree, "association.roleArn"), picksOf(tree, "association.targetRoleArn"))
	})
	return cluster{roles: slices.Concat(roles...)}
}

// folder is where the files go. A file is written under another name and renamed:
// whoever looks finds it whole or not at all.
type folder struct {
	dir    string
	resume bool
}

// openFolder makes the folder, for its taker's eyes only: what it holds may be used
// against the account.
func openFolder(dir string, resume bool) (*folder, error) {
	if !resume {
		if err := mustBeEmpty(dir); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, wrongInput("the folder cannot be made: %v", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, wrongInput("the folder cannot be kept from others: %v", err)
	}
	f := &folder{dir: dir, resume: resume}
	// Before anything is asked: a disk that cannot be written is reported at once.
	if err := f.write(probe, []byte("x")); err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(dir, probe)); err != nil {
		return nil, wrongInput("%s cannot be written: %v", dir, err)
	}
	return f, f.removeHalves()
}

const probe = ".rollcall-probe"

// partial ends the name of a file that is being written.
const partial = ".part"

func mustBeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return wrongInput("the folder cannot be read: %v", err)
	case len(entries) > 0:
		return wrongInput("%s is not empty: --resume goes on with the capture that is in it, --out names another folder", dir)
	}
	return nil
}

// removeHalves takes away what an earlier taking left when it was killed.
func (f *folder) removeHalves() error {
	halves, err := filepath.Glob(filepath.Join(f.dir, "*"+partial))
	if err != nil {
		return fmt.Errorf("look for half files: %w", err)
	}
	for _, h := range halves {
		if err := os.Remove(h); err != nil {
			return wrongInput("%s cannot be written: %v", f.dir, err)
		}
	}
	return nil
}

// write puts a file there as a whole.
func (f *folder) write(name string, data []byte) error {
	path := filepath.Join(f.dir, name)
	file, err := os.OpenFile(path+partial, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err == nil {
		_, err = file.Write(data)
		err = errors.Join(err, file.Sync(), file.Close())
	}
	if err == nil {
		err = os.Rename(path+partial, path)
	}
	if err != nil {
		return wrongInput("%s cannot be written: %v", f.dir, err)
	}
	return nil
}

// kept is a file that is there from before, nil if it is not, or is not whole.
func (f *folder) kept(name string) map[string]any {
	if !f.resume {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(f.dir, name+".json"))
	if err != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var tree map[string]any
	if d.Decode(&tree) != nil || tree == nil {
		return nil
	}
	return tree
}

// put writes what was answered, as the AWS CLI prints it.
func (f *folder) put(name string, v any) error {
	data, err := printed(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.write(name+".json", data)
}

func printed(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeAll writes a file of the whole, or takes away one that does not hold any more.
func (f *folder) writeAll(name string, v any, any bool) error {
	if !any {
		if err := os.Remove(filepath.Join(f.dir, name+".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return wrongInput("%s cannot be written: %v", f.dir, err)
		}
		return nil
	}
	return f.put(name, v)
}

// began gives the time at which the capture was begun, and keeps it: of what was
// read later it is only known that it is not older.
func (f *folder) began(now time.Time) (time.Time, error) {
	const name = "time.txt"
	if f.resume {
		data, err := os.ReadFile(filepath.Join(f.dir, name))
		if err == nil {
			if at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(data))); err == nil {
				return at, nil
			}
		}
	}
	now = now.UTC().Truncate(time.Second)
	return now, f.write(name, []byte(now.Format(time.RFC3339)+"\n"))
}
