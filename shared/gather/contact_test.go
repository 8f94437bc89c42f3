package gather

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/askonce"
	"rollcall/shared/backoff"
	"rollcall/shared/snapshot"
)

// toCluster is a way to a cluster's API that counts the requests, and fails on demand.
type toCluster struct {
	asked int
	err   error
	body  string
}

func (c *toCluster) RoundTrip(req *http.Request) (*http.Response, error) {
	c.asked++
	if c.err != nil {
		return nil, c.err
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(c.body)), Request: req}, nil
}

// A Kubernetes API that does not answer one reader of a sweep is not asked by the next,
// who fails as the first did; nor in the next sweep that is told so, as long as it has
// the same endpoint. What AWS answers is read all the same.
func TestSilentAPIIsAskedOnce(t *testing.T) {
	p := open(t, "")
	c := &toCluster{err: errors.New("cut")}
	const endpoint = "https://prod.invalid"
	read := func(contact *Contact) *snapshot.Snapshot {
		t.Helper()
		r := p.Reader.WithEndpoints(func(string) (string, []byte, http.RoundTripper, bool) { return endpoint, nil, c, true }).Contacting(contact)
		s, err := r.Read(t.Context(), addressQuery(p, snapshot.Nodes, snapshot.WaitingPods, snapshot.Subnets))
		if err != nil || !s.Has(snapshot.Subnets) {
			t.Fatal(err, s.Failures)
		}
		return s
	}
	sweep := NewContact(nil)
	first := read(sweep)
	asked := c.asked
	outcome, silence := sweep.Outcome()
	if outcome != backoff.Silent || asked == 0 {
		t.Fatalf("%s after %d requests, want silent", outcome, asked)
	}
	if diff := cmp.Diff(backoff.Silence{Endpoint: endpoint, Reason: snapshot.Unreachable, Message: "the connection was cut before the answer"}, silence); diff != "" {
		t.Errorf("silence (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(first.Failures, read(sweep).Failures); diff != "" || c.asked != asked {
		t.Errorf("asked %d times more; failures (-first +second):\n%s", c.asked-asked, diff)
	}
	later := NewContact(&silence)
	if diff := cmp.Diff(first.Failures, read(later).Failures); diff != "" || c.asked != asked {
		t.Errorf("the next sweep asked %d times; failures (-first +next):\n%s", c.asked-asked, diff)
	}
	if outcome, _ := later.Outcome(); outcome != backoff.NotAsked {
		t.Errorf("%s, want not asked", outcome)
	}
	c.err, c.body = nil, `{"items": []}`
	for name, known := range map[string]*backoff.Silence{"nothing is known": nil, "another endpoint": {Endpoint: "https://other.invalid", Reason: snapshot.Unreachable}} {
		again := NewContact(known)
		if s := read(again); !s.Has(snapshot.Nodes) {
			t.Errorf("%s: %v", name, s.Failures)
		}
		if outcome, _ := again.Outcome(); outcome != backoff.Answered {
			t.Errorf("%s: %q, want answered", name, outcome)
		}
	}
}

// That the reader is not let in, or one of several lists failed, is no silence.
func TestOnlySilenceIsSilence(t *testing.T) {
	for name, f := range map[string]snapshot.Failure{
		"denied": {Source: snapshot.Nodes, Reason: snapshot.Denied}, "broken": {Source: snapshot.Nodes, Reason: snapshot.Broken}, "throttled": {Source: snapshot.Nodes, Reason: snapshot.Throttled},
	} {
		c := NewContact(nil)
		c.failed(f)
		if outcome, _ := c.Outcome(); outcome != backoff.NotAsked {
			t.Errorf("%s: %s", name, outcome)
		}
	}
	var none *Contact
	none.failed(snapshot.Failure{Reason: snapshot.Unreachable})
	none.answered()
	if err := none.unanswered("x"); err != nil {
		t.Error(err)
	}
}

// Readers of one sweep ask AWS and the cluster the same once, but for how much is free
// in a subnet that is short: that is asked again by each.
func TestReadersShareAnswers(t *testing.T) {
	p := open(t, scarce)
	c := &toCluster{body: `{"items": []}`}
	once := &askonce.Once{}
	known := p.ec2.Options()
	cfg := once.Client(aws.Config{Region: known.Region, BaseEndpoint: known.BaseEndpoint, Credentials: known.Credentials})
	for range 2 {
		r := New(cfg).WithEndpoints(func(string) (string, []byte, http.RoundTripper, bool) { return "https://prod.invalid", nil, c, true }).Sharing(once.Cluster)
		s, err := r.Read(t.Context(), addressQuery(p, snapshot.Subnets, snapshot.Unattached, snapshot.Nodes))
		if err != nil || len(s.Failures) > 0 {
			t.Fatal(err, s.Failures)
		}
	}
	got := map[string]int{"DescribeCluster": countOf(p, "DescribeCluster"), "DescribeNetworkInterfaces": countOf(p, "DescribeNetworkInterfaces"), "DescribeSubnets": countOf(p, "DescribeSubnets"), "nodes": c.asked}
	if diff := cmp.Diff(map[string]int{"DescribeCluster": 1, "DescribeNetworkInterfaces": 1, "DescribeSubnets": 3, "nodes": 1}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
