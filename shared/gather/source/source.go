// Package source says what one source of a snapshot is: one value that holds
// its name, what must be read before it, the calls that it takes with the
// resources that they can be narrowed to, its rights in a cluster, and how it
// is read. What to read in which order, which permission and which rule of the
// ClusterRole a function gets follow from these values; there are no other
// lists.
package source

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"rollcall/shared/kube"
	"rollcall/shared/relay"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Source is one thing that can be looked at, with one or a few calls.
type Source struct {
	Name snapshot.Source
	// Needs are the sources that name what is read of this one: whoever asks
	// for it gets them too, read before.
	Needs []snapshot.Source
	// After are sources that tell more of what to read here: they are read
	// before where they are requested, and not brought along. A function may
	// have no rights in the cluster.
	After []snapshot.Source
	// Calls are those of AWS, the first one that is made first: a failure that
	// does not say which call it was is of that one.
	Calls []Call
	// Kube are the rights in the cluster, likewise.
	Kube []spec.KubeRule
	// Timeouts is how many times as long as another source this one may take;
	// 0 is once.
	Timeouts int
	// Read reads it. It is nil for what a query brings: the cluster, and the
	// instances and groups that a query names.
	Read Read
}

// Read reads a source, and returns how to keep what was read. While it runs,
// others do, and no reader changes the snapshot.
type Read func(context.Context, *View) (Store, error)

// Store puts what was read into the snapshot.
type Store func(*snapshot.Snapshot)

// Call is one call of AWS, as IAM names it: "ec2:DescribeSubnets". The names
// are written out, for a function that found them in the interfaces by
// reflection would carry every method of every SDK client (docs/measured.md
// has both sizes); a test holds that they are the calls that are made.
type Call struct {
	Action string
	// Resources are the forms that the call can be narrowed to (Service
	// Authorization Reference); nil where it takes none. Most describe calls of
	// EC2 and Auto Scaling take none.
	Resources []string
}

// Call names the permission of a source's first call, or its request to
// Kubernetes.
func (s Source) Call() string {
	switch {
	case len(s.Calls) > 0:
		return s.Calls[0].Action
	case len(s.Kube) > 0:
		return Request(s.Kube[0])
	}
	return ""
}

// Actions are the permissions of the calls; none for Kubernetes.
func (s Source) Actions() []string {
	var actions []string
	for _, c := range s.Calls {
		actions = append(actions, c.Action)
	}
	return actions
}

// ReadFrom reads the source.
func (s Source) ReadFrom(ctx context.Context, v View) (Store, error) {
	v.Source = s
	return s.Read(ctx, &v)
}

// OfKubernetes tells the sources that are read of the Kubernetes API.
func (s Source) OfKubernetes() bool { return len(s.Kube) > 0 }

// Request is what a right in the cluster lets one ask for, as a failure names
// it: "kubernetes: get configmap aws-auth in kube-system".
func Request(r spec.KubeRule) string {
	what := r.Resources[0]
	if len(r.Names) > 0 {
		what = strings.TrimSuffix(what, "s") + " " + r.Names[0]
	}
	if r.Namespace != "" {
		what += " in " + r.Namespace
	}
	return "kubernetes: " + r.Verbs[0] + " " + what
}

var (
	// ErrNoVPC: neither the cluster nor who asks tells where to look.
	ErrNoVPC = errors.New("the cluster's VPC is not known")
	// ErrClusterUnread: its endpoint is not known, so no request was sent.
	ErrClusterUnread = errors.New("the cluster could not be read")
	// ErrNoEndpoint: a cluster that is being made has no endpoint yet.
	ErrNoEndpoint = errors.New("the cluster has no endpoint")
	// ErrTooMany: an answer says that it is not all, and not how to get the rest.
	ErrTooMany = errors.New("there are more than are read")
	// ErrHalf: an answer lacks what it is about.
	ErrHalf = errors.New("the answer holds nothing")
	// ErrChanged: something that IAM has just listed is not there any more. Its
	// code would be taken for the role's own end, so it is not passed on.
	ErrChanged = errors.New("the role changed while it was read")
)

// CallError is a request that failed, of a source that takes several and whose
// client does not tell which one it was.
type CallError struct {
	Call string
	Err  error
}

func (e CallError) Error() string { return e.Call + ": " + e.Err.Error() }

// Unwrap is the error of the request.
func (e CallError) Unwrap() error { return e.Err }

// NotGrantedError: certificate signing requests, ENIConfigs and Karpenter's
// objects can be listed with the rights of deploy/clusterrole.yaml, and by none
// of EKS's access policies that gives no secrets. In most clusters nothing
// certain hangs on them, so that is no fault of the deployment.
type NotGrantedError struct {
	What string
	// Code is Forbidden where the checks tell whether anything hangs on it.
	Code string
}

// Forbidden is Kubernetes' reason for refusing an authenticated caller.
const Forbidden = "Forbidden"

func (e NotGrantedError) Error() string {
	return "listing " + e.What + " needs the permissions of deploy/clusterrole.yaml"
}

// ForgottenError: EC2 tells no user data of an instance that has ended. It may
// have had some.
type ForgottenError struct{ Instance string }

func (e ForgottenError) Error() string {
	return "EC2 tells no user data of " + e.Instance + ", which has ended: whether it had any cannot be told"
}

// unreadError: a source cannot be read because what names its things was not.
type unreadError struct {
	source snapshot.Source
	// code is NotCaptured where that one was not requested either.
	code string
	// why is what failed: the call and the reason.
	why string
}

func (e unreadError) Error() string {
	return fmt.Sprintf("what to ask for is in the %s, which were not read%s", e.source, e.why)
}

// Gone reports whether a service does not have the thing that was asked for. EC2
// has a code for each kind: InvalidInstanceID.NotFound and the like.
func Gone(err error) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	code := api.ErrorCode()
	return code == "ResourceNotFoundException" || code == "NoSuchEntity" ||
		strings.HasSuffix(code, ".NotFound") || strings.HasSuffix(code, ".NotFoundException") || strings.HasSuffix(code, ".VersionNotFound")
}

// SilentError stands for asking a Kubernetes API that did not answer a moment ago: it is
// reported as its silence was.
type SilentError struct {
	Reason        snapshot.Reason
	Code, Message string
}

func (e SilentError) Error() string { return "the cluster's API does not answer: " + e.Message }

// AssumeRole is the call by which the hub becomes a spoke's role: without it nothing of the
// spoke can be read.
const AssumeRole = "sts:AssumeRole"

// Failure says why a source, or one item of it, could not be read: by the
// service's code and never by its text. Where a source takes several calls, the
// error knows which one it was; else it is the first.
func (s Source) Failure(err error) *snapshot.Failure {
	f := &snapshot.Failure{Source: s.Name, Call: s.Call(), Reason: snapshot.Broken}
	var (
		op     *smithy.OperationError
		api    smithy.APIError
		status *kube.StatusError
		dns    *net.DNSError
		conn   *net.OpError
		ca     x509.UnknownAuthorityError
		host   x509.HostnameError
		nerr   net.Error
		sent   *url.Error // whatever else kept the HTTP client from an answer
		asked  CallError
		many   *kube.TooManyError
		named  unreadError
		right  NotGrantedError
		lost   ForgottenError
		silent SilentError
		absent *relay.MissingError
		unname *relay.UnnamedError
		no     *relay.Refusal
		fails  *relay.Failure
	)
	if errors.As(err, &asked) {
		f.Call = asked.Call
	}
	// Of a call that was never sent, for want of credentials, what failed is the call
	// that asks for those.
	for inner := err; errors.As(inner, &op); inner = op.Err {
		f.Call = action(op)
	}
	switch {
	case errors.As(err, &silent):
		f.Reason, f.Code, f.Message = silent.Reason, silent.Code, silent.Message
		if f.Code == snapshot.NoRelay || f.Code == snapshot.NotOpen || f.Code == snapshot.RelayUnnamed {
			f.Call = askRelay
		}
	case errors.As(err, &absent):
		// Whatever was asked for, it is one thing that is missing.
		f.Reason, f.Code, f.Call = snapshot.Unreachable, snapshot.NoRelay, askRelay
		f.Message = absent.Error()
		if len(absent.OpenTo) > 0 {
			f.Code = snapshot.NotOpen
		}
	case errors.As(err, &unname):
		f.Reason, f.Code, f.Call = snapshot.Unreachable, snapshot.RelayUnnamed, askRelay
		f.Message = "the API has a private endpoint only, and " + unname.Error() + ": its relay is not asked"
	case errors.As(err, &no):
		f.Code, f.Message, f.Call = snapshot.RelayRefuses, no.Error(), askRelay
	case errors.As(err, &fails):
		f.Reason, f.Message = reasonOfRelay(fails.Reason), fails.Says
	case errors.Is(err, ErrClusterUnread), errors.Is(err, ErrNoVPC), errors.Is(err, ErrNoEndpoint), errors.As(err, &right), errors.As(err, &named):
		// No request was sent: what prevented it has a failure of its own.
		f.Reason, f.Message, f.Code = snapshot.NotRead, err.Error(), cmp.Or(named.code, right.Code)
	case errors.As(err, &lost):
		f.Reason, f.Message = snapshot.NotRead, lost.Error()
	case errors.As(err, &many):
		f.Reason, f.Message = snapshot.NotRead, many.Error()
	case errors.Is(err, ErrTooMany):
		f.Reason, f.Message = snapshot.NotRead, ErrTooMany.Error()
	case errors.Is(err, ErrChanged):
		f.Message = ErrChanged.Error()
	case errors.As(err, &api):
		f.Code, f.Message = api.ErrorCode(), plain(api.ErrorMessage())
		f.Reason = reasonOf(f.Code, api.ErrorFault())
	case errors.As(err, &status):
		f.Code, f.Message = status.Reason, status.Message
		if f.Reason = reasonOfStatus(status.Code); status.Reason == snapshot.NotCaptured {
			f.Reason = snapshot.NotRead
		}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &nerr) && nerr.Timeout():
		f.Reason, f.Message = snapshot.TimedOut, "no answer in time"
	case errors.As(err, &ca), errors.As(err, &host):
		f.Message = "the certificate is not the cluster's"
	case errors.As(err, &dns):
		f.Reason, f.Message = snapshot.Unreachable, "the name "+dns.Name+" does not resolve"
	case errors.As(err, &conn):
		f.Reason, f.Message = snapshot.Unreachable, "no connection"
	case errors.As(err, &sent):
		f.Reason, f.Message = snapshot.Unreachable, "the connection was cut before the answer"
	default:
		f.Message = "the answer could not be read"
	}
	if status != nil && status.Code == http.StatusUnauthorized && op == nil {
		// The API does not know the caller: each list has that fault, whichever met it.
		f.Call = snapshot.WholeKubernetesAPI
	}
	return f
}

// action is an operation as IAM names it. For the services that are read here
// IAM's prefix is the service's id in lower case, without spaces; but for two.
func action(op *smithy.OperationError) string {
	prefix := strings.ToLower(strings.ReplaceAll(op.Service(), " ", ""))
	switch prefix {
	case "cloudwatchlogs":
		prefix = "logs"
	case "arczonalshift":
		prefix = "arc-zonal-shift"
	}
	if prefix == "lambda" && op.Operation() == "Invoke" {
		return askRelay
	}
	return prefix + ":" + op.Operation()
}

// askRelay is the permission to ask a relay (service authorization reference, AWS Lambda).
const askRelay = "lambda:InvokeFunction"

func reasonOfRelay(r relay.Reason) snapshot.Reason {
	switch r {
	case relay.TimedOut:
		return snapshot.TimedOut
	case relay.Unreachable, relay.Unresolved, relay.Disconnected:
		return snapshot.Unreachable
	}
	return snapshot.Broken
}

// Codes: EC2 "Common client error codes"; Auto Scaling and EKS "Common errors"; STS,
// AssumeRole, "Errors".
func reasonOf(code string, fault smithy.ErrorFault) snapshot.Reason {
	switch code {
	case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthFailure",
		"UnrecognizedClientException", "InvalidClientTokenId", "ExpiredToken", "ExpiredTokenException", "OptInRequired", "RegionDisabledException":
		return snapshot.Denied
	case "RequestLimitExceeded", "Throttling", "ThrottlingException", "ThrottledException", "TooManyRequestsException",
		"RequestThrottled", "RequestThrottledException", "EC2ThrottledException", "SlowDown", "BandwidthLimitExceeded":
		return snapshot.Throttled
	case "RequestTimeout", "RequestTimeoutException":
		return snapshot.TimedOut
	case "Unavailable", "ServiceUnavailable", "ServiceUnavailableException":
		return snapshot.Unreachable
	case snapshot.NotCaptured:
		return snapshot.NotRead
	}
	return snapshot.Broken
}

func reasonOfStatus(code int) snapshot.Reason {
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return snapshot.Denied
	case http.StatusTooManyRequests:
		return snapshot.Throttled
	case http.StatusGatewayTimeout:
		return snapshot.TimedOut
	case http.StatusServiceUnavailable, http.StatusBadGateway:
		return snapshot.Unreachable
	}
	return snapshot.Broken
}

// plain drops the encoded blob that EC2 appends to a refusal: it is long, and
// holds the caller's whole request.
func plain(message string) string {
	message, _, _ = strings.Cut(message, " Encoded authorization failure message:")
	return message
}

// With are the named sources out of all, once each, and those without which
// they cannot be read. A name that is none of theirs is left out: the launch
// history is of our own table.
func With(all []Source, names ...snapshot.Source) []Source {
	var list []Source
	var add func(snapshot.Source)
	add = func(name snapshot.Source) {
		i := slices.IndexFunc(all, func(s Source) bool { return s.Name == name })
		if i < 0 || slices.ContainsFunc(list, func(s Source) bool { return s.Name == name }) {
			return
		}
		list = append(list, all[i])
		for _, needed := range all[i].Needs {
			add(needed)
		}
	}
	for _, name := range names {
		add(name)
	}
	return list
}

// Waves puts sources in the order in which to read them: those of one wave at
// the same time, each after those of the list that it needs or comes after. A
// source that waits for none of them is in the first.
func Waves(list []Source) [][]Source {
	var waves [][]Source
	for left := list; len(left) > 0; {
		var wave, later []Source
		for _, s := range left {
			waits := slices.ContainsFunc(left, func(o Source) bool {
				return slices.Contains(s.Needs, o.Name) || slices.Contains(s.After, o.Name)
			})
			if waits {
				later = append(later, s)
			} else {
				wave = append(wave, s)
			}
		}
		if len(wave) == 0 {
			// They wait for each other, which a test forbids: read them all the same.
			return append(waves, later)
		}
		waves, left = append(waves, wave), later
	}
	return waves
}

// mostPages bounds a list: 1,000 rules, or 50,000 domains.
const mostPages = 10

// Pages reads a list page by page, of a client that returns a page and the token of the
// next one.
func Pages[T any](ctx context.Context, what string, page func(context.Context, string) ([]T, string, error)) ([]T, error) {
	var all []T
	token := ""
	for range mostPages {
		list, next, err := page(ctx, token)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", what, err)
		}
		all = append(all, list...)
		switch next {
		case "":
			return all, nil
		case token:
			return nil, ErrHalf
		}
		token = next
	}
	return nil, fmt.Errorf("list %s: %w", what, ErrTooMany)
}

// Parallel bounds the calls at once: enough to be done in a second, few
// enough to leave the account's request buckets to others.
const Parallel = 6

// Reads are the permissions that reading the sources takes: what is allowed of
// anything first, then by what it is narrowed to.
func Reads(list ...Source) []spec.Read {
	var reads []spec.Read
	for _, s := range list {
		for _, c := range s.Calls {
			resources := c.Resources
			if resources == nil {
				resources = []string{"*"}
			}
			i := slices.IndexFunc(reads, func(r spec.Read) bool { return slices.Equal(r.Resources, resources) })
			if i < 0 {
				i, reads = len(reads), append(reads, spec.Read{Resources: resources})
			}
			reads[i].Actions = append(reads[i].Actions, c.Action)
		}
	}
	for i := range reads {
		slices.Sort(reads[i].Actions)
		reads[i].Actions = slices.Compact(reads[i].Actions)
	}
	slices.SortFunc(reads, func(a, b spec.Read) int { return slices.Compare(a.Resources, b.Resources) })
	return reads
}

// KubeRules are the rights in a cluster that reading the sources takes, once
// each: what belongs to no namespace first.
func KubeRules(list ...Source) []spec.KubeRule {
	var rules []spec.KubeRule
	for _, s := range list {
		for _, r := range s.Kube {
			if !slices.ContainsFunc(rules, func(o spec.KubeRule) bool { return Request(o) == Request(r) }) {
				rules = append(rules, r)
			}
		}
	}
	slices.SortFunc(rules, func(a, b spec.KubeRule) int {
		return slices.Compare([]string{a.Namespace, Request(a)}, []string{b.Namespace, Request(b)})
	})
	return rules
}

// Through reads by an API.
func Through[A any](api A, read func(context.Context, A, *View) (Store, error)) Read {
	return func(ctx context.Context, v *View) (Store, error) { return read(ctx, api, v) }
}

// List reads a list, sorts it by id and stores it in its place.
func List[T any](read func(context.Context, *View) ([]T, error), id func(T) string, place func(*snapshot.Snapshot) *[]T) Read {
	return func(ctx context.Context, v *View) (Store, error) {
		list, err := read(ctx, v)
		return Keep(list, err, id, place)
	}
}

// Keep stores a list in its place, sorted where an id is given.
func Keep[T any](list []T, err error, id func(T) string, place func(*snapshot.Snapshot) *[]T) (Store, error) {
	if err != nil {
		return nil, err
	}
	if id != nil {
		list = Sorted(list, id)
	}
	return func(s *snapshot.Snapshot) { *place(s) = list }, nil
}

// Nothing stores that there is none.
func Nothing(*snapshot.Snapshot) {}

// Each converts a list.
func Each[A, B any](list []A, f func(A) B) []B {
	out := make([]B, 0, len(list))
	for _, a := range list {
		out = append(out, f(a))
	}
	return out
}

// AtOnce converts a list with one or more calls for each item, those of Parallel items at
// the same time. It returns the results in the list's order, or the error of the first item
// in it that has one, so that which call is reported does not hang on which was faster.
func AtOnce[A, B any](list []A, f func(A) (B, error)) ([]B, error) {
	out, errs := make([]B, len(list)), make([]error, len(list))
	var g errgroup.Group
	g.SetLimit(Parallel)
	for i, a := range list {
		g.Go(func() error {
			out[i], errs[i] = f(a)
			return nil // the first in order counts
		})
	}
	_ = g.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	return out, nil
}

// Sorted sorts a list by id, in place.
func Sorted[T any](list []T, id func(T) string) []T {
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(id(a), id(b)) })
	return list
}

// Unique sorts a list and drops what is in it twice.
func Unique[T any](list []T, id func(T) string) []T {
	slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(id(a), id(b)) })
	return slices.CompactFunc(list, func(a, b T) bool { return id(a) == id(b) })
}

// Distinct are the texts of a list, once each, without the empty one.
func Distinct(list []string) []string {
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
	slices.Sort(list)
	return slices.Compact(list)
}

// LackAll notes the items of a source that could not be read.
func LackAll(s *snapshot.Snapshot, source snapshot.Source, items map[string]snapshot.Failure) {
	for key, f := range items {
		s.Lack(source, key, f)
	}
}

// Skipped is the failure of an item that was not requested.
func (s Source) Skipped(why string) snapshot.Failure {
	return snapshot.Failure{Source: s.Name, Reason: snapshot.NotRead, Call: s.Call(), Message: why}
}

// Prefix is the range that an answer writes as text; not valid where it writes
// none.
func Prefix(text *string) netip.Prefix {
	if text == nil {
		return netip.Prefix{}
	}
	p, err := netip.ParsePrefix(*text)
	if err != nil {
		return netip.Prefix{}
	}
	return p.Masked()
}

// Query is what a look at a cluster is about.
type Query struct {
	Account string
	Region  string
	Time    time.Time
	Cluster string
	// VPC is used when the cluster cannot be read.
	VPC   string
	Scope snapshot.Scope
	// Instances and Groups are what was read already, with what failed.
	Instances []snapshot.Instance
	Groups    []snapshot.Group
	Failed    []snapshot.Failure
	// Nodegroups are those whose state a person would look up. With
	// AllNodegroups a nil list means all of the cluster's.
	Nodegroups    []string
	AllNodegroups bool
	// Types are instance types to describe beside those of the instances and
	// groups: those of launches that are history.
	Types []string
	// WrittenTypes are names that a user wrote, into a NodePool for instance: some may
	// be no types.
	WrittenTypes []string
	// Settings reads the account's settings that refuse launches although none was refused:
	// of what is planned.
	Settings bool
	// ImageTerms select images beside those of the instances and launch templates, as
	// the terms of an EC2NodeClass do.
	ImageTerms []snapshot.SelectorTerm
	// SecurityGroups are ids to read beside those that are in use: of what is planned.
	SecurityGroups []string
	// Updated are the nodegroups whose updates are read, where they are asked
	// for; nil means all that are read.
	Updated  []string
	Launches []snapshot.ExpectedJoin
	// Sources are what to read beside the instances and groups.
	Sources []snapshot.Source
}

// View is what reading a source has to go by.
type View struct {
	Query
	// Source is the one that is read: what fails in it is named by it.
	Source Source
	// VPCs are those to look into, the cluster's first; none where it is not
	// known.
	VPCs []string
	// Snapshot is what was read before.
	Snapshot *snapshot.Snapshot
	// Kube is the client of the cluster's API; Connect says why there is none.
	Kube    *kube.Client
	Connect error
}

// Unread is the error of a source whose things are named by one that was not
// read: refused, or only not captured, for a capture may leave it out.
func (v *View) Unread(source snapshot.Source) error {
	e, why := unreadError{source: source}, v.Snapshot.Why(source)
	if why.Code == snapshot.NotCaptured {
		e.code = snapshot.NotCaptured
	}
	if why.Call != "" {
		e.why = fmt.Sprintf(" (%s: %s)", why.Call, why.Reason)
	}
	return e
}

// InScope are the instances of the scope that EC2 described.
func (v *View) InScope() []snapshot.Instance {
	wanted := make(map[string]bool, len(v.Snapshot.Scope.Instances))
	for _, id := range v.Snapshot.Scope.Instances {
		wanted[id] = true
	}
	return slices.DeleteFunc(slices.Clone(v.Snapshot.Instances), func(in snapshot.Instance) bool { return !wanted[in.ID] })
}

// NotJoined are the instances of the scope that are no Ready nodes, live ones
// first: more can be asked of them. Where the nodes are not known it is all.
func (v *View) NotJoined() []snapshot.Instance {
	joined := map[string]bool{}
	if v.Snapshot.Has(snapshot.Nodes) {
		for _, n := range v.Snapshot.Nodes {
			if n.Joined() {
				joined[n.Instance] = true
			}
		}
	}
	list := slices.DeleteFunc(v.InScope(), func(in snapshot.Instance) bool { return joined[in.ID] })
	slices.SortStableFunc(list, func(a, b snapshot.Instance) int {
		return cmp.Or(cmp.Compare(toInt(a.Ended()), toInt(b.Ended())), cmp.Compare(a.ID, b.ID))
	})
	return list
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
