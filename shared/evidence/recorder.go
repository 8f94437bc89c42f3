// Package evidence keeps what a function read as a capture (CAPTURE.md): so that what it
// found can be found again when the instance, the route table and the nodegroup are gone.
//
// A function reads less than whoever takes a capture: the instances of a launch, the
// subnets of a VPC. What it asked for stands beside what it was answered (asked.json), so
// that whoever reads the capture takes nothing for absent that was not asked for.
package evidence

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"rollcall/shared/capture"
	"rollcall/shared/s3"
)

// AskedFile lists what was asked for, where that is not all that there is.
const AskedFile = "asked.json"

// Question is what narrows a call: the values that are asked for, by the name of the
// parameter or the filter. A call without one is for all that there is.
type Question map[string][]string

// Asked is a question that was asked.
type Asked struct {
	Question Question `json:"question"`
	// Refused is how it was refused where others of the file were answered.
	Refused *capture.Refusal `json:"refused,omitempty"`
}

// Scope is what was asked for, by the names of files without .json. A file that is not in
// it holds all that there is.
type Scope map[string][]Asked

// Find reports whether what a question is for was asked for, and how that was refused.
func (s Scope) Find(file string, q Question) (refused *capture.Refusal, covered bool) {
	asked, narrowed := s[file]
	if !narrowed || searches(file, q) {
		return nil, true
	}
	for _, part := range q.parts() {
		found := false
		var no *capture.Refusal
		for _, a := range asked {
			if !a.Question.covers(part) {
				continue
			}
			if found = true; a.Refused == nil {
				no = nil
				break
			}
			no = a.Refused
		}
		if !found {
			return nil, false
		}
		if no != nil {
			refused = no
		}
	}
	return refused, true
}

// covers reports whether whatever fits the other question fits this one: each of its
// conditions is there, with no other values.
func (q Question) covers(narrower Question) bool {
	for name, values := range q {
		wanted, is := narrower[name]
		if !is || slices.ContainsFunc(wanted, func(v string) bool { return !slices.Contains(values, v) }) {
			return false
		}
	}
	return true
}

// parts are questions that together ask for the same, one for each value of the longest
// condition: what is asked for at once here may have been asked for in several calls.
func (q Question) parts() []Question {
	longest := ""
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if len(q[name]) > max(1, len(q[longest])) {
			longest = name
		}
	}
	if longest == "" {
		return []Question{q}
	}
	list := make([]Question, 0, len(q[longest]))
	for _, value := range q[longest] {
		part := maps.Clone(q)
		part[longest] = []string{value}
		list = append(list, part)
	}
	return list
}

// searches reports whether a question looks for what there is to look at, and names nothing:
// it finds what the function looked at.
func searches(file string, q Question) bool {
	switch file {
	case "ec2-describe-instances", "autoscaling-describe-auto-scaling-groups", "autoscaling-describe-scaling-activities":
		for _, name := range []string{"InstanceIds", "filter instance-id", "AutoScalingGroupNames", "AutoScalingGroupName", "ActivityIds"} {
			if len(q[name]) > 0 {
				return false
			}
		}
		return true
	}
	return false
}

// unasked reports whether a parameter narrows nothing: of pages, and of what the answer includes.
func unasked(name string) bool {
	switch name {
	case "NextToken", "MaxResults", "MaxRecords", "MaxItems", "Marker", "Next", "Most", "Limit", "Start", "End", "DryRun", "Latest",
		"IncludeManagedResources", "IncludeDeprecated", "IncludeAllInstances", "IncludeDeletedGroups", "Include":
		return true
	}
	return false
}

// questionOf is what the parameters of a call ask for, but for those that are in the
// file's name.
func questionOf(params any, keys []string) Question {
	v := reflect.Indirect(reflect.ValueOf(params))
	if v.Kind() != reflect.Struct {
		return nil
	}
	var q Question
	add := func(name string, values []string) {
		if len(values) == 0 {
			return
		}
		if q == nil {
			q = Question{}
		}
		values = slices.Clone(values)
		slices.Sort(values)
		q[name] = slices.Compact(values)
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || unasked(f.Name) || slices.Contains(keys, f.Name) {
			continue
		}
		field := v.Field(i)
		if strings.HasPrefix(f.Name, "Filter") && field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct {
			for k := range field.Len() {
				filter := field.Index(k)
				if name := texts(filter.FieldByName("Name")); len(name) == 1 {
					add("filter "+name[0], texts(filter.FieldByName("Values")))
				}
			}
			continue
		}
		add(f.Name, texts(field))
	}
	return q
}

// texts are the values of a parameter as text; none for one that is not set.
func texts(v reflect.Value) []string {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*time.Time]() {
			return texts(v.Elem())
		}
	case reflect.String:
		if v.Len() > 0 {
			return []string{v.String()}
		}
	case reflect.Bool, reflect.Int32, reflect.Int64:
		if !v.IsZero() {
			return []string{fmt.Sprint(v.Interface())}
		}
	case reflect.Slice:
		var list []string
		for i := range v.Len() {
			list = append(list, texts(v.Index(i))...)
		}
		return list
	}
	return nil
}

// What is held of one invocation, in bytes of answers. A function has 256 MiB; what a
// client has made of an answer is about as large as the answer.
const (
	mostHeld = 32 << 20
	// packFrom is from when on an answer of Kubernetes is held compressed: a page of
	// 500 nodes is five megabytes.
	packFrom = 64 << 10
)

// Recorder holds what the reads of one invocation were answered. The zero Recorder is
// ready, and nil records nothing; it is safe for use by several goroutines.
type Recorder struct {
	mu      sync.Mutex
	trigger json.RawMessage
	reads   []read
	held    int
	// lost is how many of the first reads are not held any more.
	lost int
}

// read is a call and its answer: out of AWS's, or body of Kubernetes'.
type read struct {
	file     string
	question Question
	call     string
	out      any
	body     []byte
	packed   bool
	size     int
	refused  *capture.Refusal
	// lost reports whether the answer is not held any more.
	lost bool
}

// Begin forgets what was read before: the invocation of an event begins.
func (r *Recorder) Begin(event json.RawMessage) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trigger, r.reads, r.held, r.lost = event, nil, 0, 0
}

// add holds a read, and drops the oldest where there is too much: what was read last is
// what was looked at last.
func (r *Recorder) add(one read) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads = append(r.reads, one)
	r.held += one.size
	for ; r.held > mostHeld && r.lost < len(r.reads); r.lost++ {
		old := &r.reads[r.lost]
		r.held -= old.size
		old.out, old.body, old.size, old.lost = nil, nil, 0, true
	}
}

// sizeKey is under which an answer's metadata has its size.
type sizeKey struct{}

// Middleware has the clients of a configuration tell the recorder of each read.
func (r *Recorder) Middleware(stack *middleware.Stack) error {
	if err := stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("RollcallEvidenceSize", measure), middleware.After); err != nil {
		return err
	}
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RollcallEvidence",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			// A paginator writes the next page's token into the same parameters: the file
			// is found before.
			call := Call(ctx)
			file, q := File(call, in.Parameters)
			out, meta, err := next.HandleInitialize(ctx, in)
			if file == "" {
				return out, meta, err
			}
			one := read{file: file, question: q, call: call, out: out.Result}
			if n, counted := meta.Get(sizeKey{}).(*int); counted {
				one.size = *n
			}
			if err != nil {
				refused := capture.RefusalOf(err)
				one.out, one.refused = nil, &refused
			}
			r.add(one)
			return out, meta, err
		}), middleware.Before)
}

// Call is the call that a client's context is of: "ec2:DescribeSubnets".
func Call(ctx context.Context) string {
	return strings.ToLower(strings.ReplaceAll(awsmiddleware.GetServiceID(ctx), " ", "")) + ":" + awsmiddleware.GetOperationName(ctx)
}

// measure counts the bytes of an answer as they are read.
func measure(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, meta, err := next.HandleDeserialize(ctx, in)
	if answer, ok := out.RawResponse.(*smithyhttp.Response); ok && err == nil {
		n := new(int)
		answer.Body = counted{answer.Body, n}
		meta.Set(sizeKey{}, n)
	}
	return out, meta, err
}

type counted struct {
	io.ReadCloser
	n *int
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	*c.n += n
	return n, err
}

// Kubernetes takes in what a cluster's API answered a request: the body is not written to
// afterwards.
func (r *Recorder) Kubernetes(cluster, path string, query url.Values, body []byte, err error) {
	if r == nil {
		return
	}
	file, q := KubernetesFile(cluster, path, query)
	if file == "" {
		return
	}
	one := read{file: file, question: q, body: body}
	switch {
	case err != nil:
		refused := capture.RefusalOf(err)
		one.body, one.refused = nil, &refused
	case len(body) > packFrom:
		one.body, one.packed = packed(body), true
	}
	one.size = len(one.body)
	r.add(one)
}

// packed is compressed fast rather than small.
func packed(body []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil // the level is one of the package's own
	}
	// Writing to a bytes.Buffer does not fail.
	_, _ = w.Write(body)
	_ = w.Close()
	return b.Bytes()
}

// text is the body of an answer of Kubernetes.
func (o read) text() ([]byte, error) {
	if !o.packed {
		return o.body, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(o.body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// all is what is held now: copies of the lists, not of the answers.
func (r *Recorder) all() (trigger json.RawMessage, reads []read) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.trigger, append([]read(nil), r.reads...)
}

// isNil tells an answer that is not there.
func isNil(out any) bool {
	v := reflect.ValueOf(out)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// Bucket is where evidence is kept. Create writes no object over another: then its error
// is s3.ErrThere.
type Bucket interface {
	Create(ctx context.Context, bucket, key, contentType string, body []byte) error
}

var _ Bucket = (*s3.Client)(nil)

// The metrics: how much was kept, and how much could not be.
const (
	Kept   = "EvidenceKept"
	Failed = "EvidenceFailed"
)

// Bounds of keeping. It comes after all else of an invocation, and never keeps the next
// one waiting for long.
const (
	keepTime = 10 * time.Second
	// mostWaiting bounds what waits to be written, in bytes.
	mostWaiting = 2 * mostArchive
	// mostKnown is of how many objects it is remembered that they are there.
	mostKnown = 256
	content   = "application/gzip"
)

// Keeper keeps evidence. Nil keeps none.
type Keeper struct {
	recorder *Recorder
	bucket   Bucket
	name     string
	release  string
	log      *slog.Logger
	count    func(name string, n int)
	waiting  []*object
	known    []string

	// packing waits for what is being packed, one object after the other (mu); held is the
	// size of those that are.
	packing sync.WaitGroup
	mu      sync.Mutex
	held    int
}

// object is evidence that is not written yet, or why it could not be packed.
type object struct {
	key  string
	body []byte
	err  error
}

// NewKeeper keeps what is read in a bucket, by its name.
func NewKeeper(b Bucket, name, release string, log *slog.Logger, count func(name string, n int)) *Keeper {
	return &Keeper{recorder: &Recorder{}, bucket: b, name: name, release: release, log: log, count: count}
}

// Begin reports whether an invocation begins.
func (k *Keeper) Begin(event json.RawMessage) {
	if k != nil {
		k.recorder.Begin(event)
		k.waiting, k.held = nil, 0
	}
}

// Recording has the clients of a configuration tell of what they read.
func (k *Keeper) Recording(cfg aws.Config) aws.Config {
	if k == nil {
		return cfg
	}
	cfg = cfg.Copy()
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), k.recorder.Middleware)
	return cfg
}

// Kubernetes takes in what a cluster's API answered.
func (k *Keeper) Kubernetes(cluster, path string, query url.Values, body []byte, err error) {
	if k != nil {
		k.recorder.Kubernetes(cluster, path, query, body, err)
	}
}

// Key is under which evidence is kept: one object in an hour for the same causes, however
// often they are seen. Nil and nothing found give "".
func (k *Keeper) Key(a About) string {
	if k == nil || len(a.Causes) == 0 {
		return ""
	}
	at := a.At.UTC()
	sum := sha256.New()
	causes := slices.Clone(a.Causes)
	slices.SortFunc(causes, func(a, b Cause) int {
		return strings.Compare(a.Check+"\n"+a.Resource, b.Check+"\n"+b.Resource)
	})
	for _, c := range causes {
		fmt.Fprintf(sum, "%s\n%s\n", c.Check, c.Resource)
	}
	account, region := a.Account, a.Region
	if account == "" {
		account = "unknown"
	}
	return fmt.Sprintf("%s/%s/%s/%s/%s-%s.tar.gz", account, region, a.Cluster, at.Format("2006/01/02/15"), a.By, hex.EncodeToString(sum.Sum(nil))[:16])
}

// Keep packs what was read until now beside the invocation's own work: on a share of a core
// packing takes tens of milliseconds. Flush writes it after that work, which never waits.
func (k *Keeper) Keep(a About) {
	key := k.Key(a)
	if key == "" || slices.Contains(k.known, key) || slices.ContainsFunc(k.waiting, func(o *object) bool { return o.key == key }) {
		return
	}
	a.Release = k.release
	trigger, reads := k.recorder.all()
	o := &object{key: key}
	k.waiting = append(k.waiting, o)
	k.packing.Go(func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		body, err := archive(a, trigger, reads)
		if err == nil && k.held+len(body) > mostWaiting {
			err = fmt.Errorf("%d bytes wait already: more is not held", k.held)
		}
		if o.err = err; err == nil {
			o.body, k.held = body, k.held+len(body)
		}
	})
}

// Flush writes what was packed. That it cannot is one line of the log and one metric.
func (k *Keeper) Flush(ctx context.Context) {
	if k == nil || len(k.waiting) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	k.packing.Wait()
	for _, o := range k.waiting {
		if o.err != nil {
			k.fail(o.key, fmt.Errorf("pack the evidence: %w", o.err))
			continue
		}
		err := k.bucket.Create(ctx, k.name, o.key, content, o.body)
		switch {
		case err == nil:
			k.log.Info("evidence kept", "key", o.key, "bytes", len(o.body))
			k.count(Kept, 1)
		case !errors.Is(err, s3.ErrThere):
			k.fail(o.key, err)
			continue
		}
		k.known = append(k.known, o.key)
		k.known = k.known[max(0, len(k.known)-mostKnown):]
	}
	k.waiting = nil
}

func (k *Keeper) fail(key string, err error) {
	k.log.Warn("evidence could not be kept", "key", key, "error", err.Error())
	k.count(Failed, 1)
}
