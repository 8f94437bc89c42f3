package evidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/s3"
)

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
	waiting  []object
	known    []string
}

// object is evidence that is not written yet.
type object struct {
	key  string
	body []byte
}

// NewKeeper keeps what is read in a bucket, by its name.
func NewKeeper(b Bucket, name, release string, log *slog.Logger, count func(name string, n int)) *Keeper {
	return &Keeper{recorder: &Recorder{}, bucket: b, name: name, release: release, log: log, count: count}
}

// Begin tells that an invocation begins.
func (k *Keeper) Begin(event json.RawMessage) {
	if k != nil {
		k.recorder.Begin(event)
		k.waiting = nil
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

// Keep packs what was read. It is written when the invocation's own work is done (Flush):
// nothing of that waits for it.
func (k *Keeper) Keep(a About) {
	key := k.Key(a)
	if key == "" || slices.Contains(k.known, key) || slices.ContainsFunc(k.waiting, func(o object) bool { return o.key == key }) {
		return
	}
	a.Release = k.release
	body, err := k.recorder.Archive(a)
	size := len(body)
	for _, o := range k.waiting {
		size += len(o.body)
	}
	if err == nil && size > mostWaiting {
		err = fmt.Errorf("%d bytes wait already: more is not held", size-len(body))
	}
	if err != nil {
		k.fail(key, fmt.Errorf("pack the evidence: %w", err))
		return
	}
	k.waiting = append(k.waiting, object{key, body})
}

// Flush writes what was packed. That it cannot is one line of the log and one metric.
func (k *Keeper) Flush(ctx context.Context) {
	if k == nil || len(k.waiting) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	for _, o := range k.waiting {
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
