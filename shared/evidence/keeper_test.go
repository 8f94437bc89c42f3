package evidence

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/s3"
)

// bucketFunc is a bucket that answers as it is told.
type bucketFunc func(ctx context.Context, key string, body []byte) error

// Create answers.
func (f bucketFunc) Create(ctx context.Context, bucket, key, contentType string, body []byte) error {
	if bucket != "bucket" || contentType != "application/gzip" {
		return errors.New("it is for another bucket, or of another type")
	}
	return f(ctx, key, body)
}

func keeper(b bucketFunc) (k *Keeper, counts map[string]int, log *bytes.Buffer) {
	counts, log = map[string]int{}, &bytes.Buffer{}
	return NewKeeper(b, "bucket", "1.2", slog.New(slog.NewTextHandler(log, nil)), func(name string, n int) { counts[name] += n }), counts, log
}

var (
	route = Cause{"route/no-egress", "rtb-1"}
	acl   = Cause{"nacl/egress", "acl-1"}
)

// TestKey: one object in an hour for the same causes, in whatever order they come.
func TestKey(t *testing.T) {
	k, _, _ := keeper(nil)
	key := k.Key(about(route, acl))
	if want := "111122223333/us-west-2/prod/2026/11/20/12/join-check-"; !strings.HasPrefix(key, want) || !strings.HasSuffix(key, ".tar.gz") {
		t.Errorf("key %q, want %s….tar.gz", key, want)
	}
	at := func(a About, d time.Duration) About { a.At = a.At.Add(d); return a }
	for name, test := range map[string]struct {
		of   About
		same bool
	}{
		"in another order":    {about(acl, route), true},
		"later in the hour":   {at(about(route, acl), 59*time.Minute), true},
		"in the next hour":    {at(about(route, acl), time.Hour), false},
		"one cause":           {about(route), false},
		"of another resource": {about(Cause{route.Check, "rtb-2"}, acl), false},
	} {
		if got := k.Key(test.of); (got == key) != test.same {
			t.Errorf("%s: %q, the first was %q", name, got, key)
		}
	}
	if got := k.Key(about()); got != "" {
		t.Errorf("nothing was found, and the key is %q", got)
	}
	if got := (*Keeper)(nil).Key(about(route)); got != "" {
		t.Errorf("nothing is kept, and the key is %q", got)
	}
}

// TestKeptOnce: the same evidence is written once, by this process and by all.
func TestKeptOnce(t *testing.T) {
	there := map[string]bool{}
	tries := 0
	k, counts, _ := keeper(func(_ context.Context, key string, _ []byte) error {
		if tries++; there[key] {
			return s3.ErrThere
		}
		there[key] = true
		return nil
	})
	there[k.Key(about(acl))] = true // another process was first
	for range 3 {
		k.Begin(nil)
		for _, c := range []Cause{route, acl} {
			k.Keep(about(c))
			k.Keep(about(c))
		}
		if len(k.waiting) > 0 && tries > 0 {
			t.Errorf("%d wait that are known to be there", len(k.waiting))
		}
		k.Flush(t.Context())
	}
	if diff := cmp.Diff(map[string]int{Kept: 1}, counts); tries != 2 || diff != "" {
		t.Errorf("%d requests, metrics (-want +got):\n%s", tries, diff)
	}
}

// TestKeepingFails: it costs a line of the log, a metric and its time, and is tried again
// by the next look.
func TestKeepingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fail error
		k, counts, log := keeper(func(ctx context.Context, _ string, _ []byte) error {
			if fail == nil {
				<-ctx.Done()
				return ctx.Err()
			}
			return fail
		})
		for i, err := range []error{errors.New("AccessDenied"), nil} {
			fail = err
			began := time.Now()
			k.Begin(nil)
			k.Keep(about(route))
			k.Keep(about(acl))
			if took := time.Since(began); took > 0 {
				t.Errorf("packing took %s", took)
			}
			k.Flush(t.Context())
			if took := time.Since(began); took > keepTime {
				t.Errorf("it took %s, want at most %s for all", took, keepTime)
			}
			if got := counts[Failed]; got != 2*(i+1) || counts[Kept] > 0 {
				t.Errorf("metrics %v", counts)
			}
		}
		if n := strings.Count(log.String(), "evidence could not be kept"); n != 4 {
			t.Errorf("%d lines, want one for each:\n%s", n, log)
		}
	})
}

// TestNobodyKeeps: without a bucket nothing is recorded.
func TestNobodyKeeps(t *testing.T) {
	var k *Keeper
	k.Begin(nil)
	k.Kubernetes("prod", "/api/v1/nodes", nil, nil, nil)
	k.Keep(about(route))
	k.Flush(t.Context())
}
