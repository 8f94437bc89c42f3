package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/local/platform/dynamo"
	"rollcall/shared/checkid"
	"rollcall/shared/diagnose"
	"rollcall/shared/digest"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/node/outcome"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// week is what is played: accounts and regions, clusters in each, launches of each cluster,
// and how long the table takes to answer.
type week struct {
	spokes, clusters, launches int
	latency                    time.Duration
}

// Measured is what was counted.
type Measured struct {
	Spokes   int `json:"spokes"`
	Clusters int `json:"clusters"`
	Launches int `json:"launches"`
	Failed   int `json:"failed"`
	// Queries are the calls of the table, Units what DynamoDB bills for them, Bytes what they
	// answer.
	Queries int     `json:"queries"`
	Units   float64 `json:"units"`
	Bytes   int     `json:"bytes"`
	// Seconds is how long it took with AtOnce clusters at once, and so long for each answer.
	Seconds float64       `json:"seconds"`
	AtOnce  int           `json:"atOnce"`
	Latency time.Duration `json:"latency"`
	// Message is the size of the message to report.
	Message int `json:"message"`
}

// perSpoke is how many queries an account and region takes before its clusters: which are
// watched, which have something open, what is silenced.
const perSpoke = 3

// The week, and when its message is made.
var (
	weekEnds = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	made     = weekEnds.Add(8*time.Hour + 4*time.Minute)
)

// table is the emulated table, as its client: it counts what queries take.
type table struct {
	*dynamodb.Client
	latency time.Duration

	mu      sync.Mutex
	queries int
	units   float64
	bytes   int
}

// Query asks for what it takes, too.
func (t *table) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	asking := *in
	asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	time.Sleep(t.latency)
	out, err := t.Client.Query(ctx, &asking, o...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queries++
	if err == nil && out.ConsumedCapacity != nil {
		t.units += aws.ToFloat64(out.ConsumedCapacity.CapacityUnits)
	}
	return out, err
}

// counted counts the bytes of answers.
type counted struct {
	http.RoundTripper
	table *table
}

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = body{answer.Body, c.table}
	}
	return answer, err
}

type body struct {
	io.ReadCloser
	table *table
}

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.table.mu.Lock()
	defer b.table.mu.Unlock()
	b.table.bytes += n
	return n, err
}

// errGaps: what was read is not what was written.
var errGaps = errors.New("the message does not count what was written")

// measure writes the records of a week, and reads them as spot-report does.
func measure(ctx context.Context, w week) (Measured, error) {
	server := dynamo.New()
	const name = "rollcall"
	if err := server.CreateTable(ctx, name); err != nil {
		return Measured{}, err
	}
	t := &table{}
	t.Client = dynamodb.New(server.Client().Options(), func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: counted{server, t}}
	})
	all := store.New(t, name).At(func() time.Time { return made })
	var watched []digest.Watched
	failed := 0
	for s := range w.spokes {
		id := spoke.ID{Account: fmt.Sprintf("2222%08d", s/2), Region: []string{"us-west-2", "eu-west-1"}[s%2]}
		own := all.In(id)
		watched = append(watched, digest.Watched{ID: id, Whose: fmt.Sprintf("team-%02d, %s", s/2, id.Region), Table: own})
		for c := range w.clusters {
			n, err := w.write(ctx, own, id, fmt.Sprintf("cluster-%02d", c))
			if err != nil {
				return Measured{}, fmt.Errorf("write the records of a cluster: %w", err)
			}
			failed += n
		}
	}
	t.mu.Lock()
	t.queries, t.units, t.bytes, t.latency = 0, 0, 0, w.latency
	t.mu.Unlock()
	ask := digest.Weekly(weekEnds.AddDate(0, 0, -7), weekEnds, made, slog.New(slog.DiscardHandler))
	began := time.Now()
	p := digest.Read(ctx, watched, ask)
	took := time.Since(began)
	message, err := report.Weekly("spot-report", p).Fit(report.MaxSummary)
	if err != nil {
		return Measured{}, err
	}
	text, err := json.Marshal(message)
	if err != nil {
		return Measured{}, fmt.Errorf("write the message: %w", err)
	}
	m := Measured{
		Spokes: w.spokes, Clusters: w.spokes * w.clusters, Launches: w.spokes * w.clusters * w.launches, Failed: failed,
		Queries: t.queries, Units: t.units, Bytes: t.bytes, Seconds: took.Seconds(), AtOnce: ask.AtOnce, Latency: w.latency, Message: len(text),
	}
	if p.Clusters != m.Clusters || p.Launches.All != m.Launches || p.Launches.Failed != failed || p.Seen != 2*m.Clusters/10 || len(p.Unread)+p.LeftOut > 0 {
		return Measured{}, fmt.Errorf("%w: %d clusters, %+v, %d incidents, not read: %q", errGaps, p.Clusters, p.Launches, p.Seen, p.Unread)
	}
	return m, nil
}

// write writes what a week leaves of a cluster: its turns, its launches, one of twenty of which
// did not join, and of each tenth cluster two incidents, deleted interfaces and a silence.
func (w week) write(ctx context.Context, s *store.Store, id spoke.ID, cluster string) (failed int, err error) {
	if err := s.SaveSweep(ctx, sweep(cluster)); err != nil {
		return 0, err
	}
	for i := range w.launches {
		joins := i%20 != 19
		if !joins {
			failed++
		}
		l := launch(cluster, id, i, w.launches, joins)
		if _, err := s.CreateLaunch(ctx, l); err != nil {
			return 0, err
		}
		l.Version = 1
		if err := s.SaveLaunch(ctx, l); err != nil {
			return 0, err
		}
	}
	if cluster != "cluster-00" {
		return failed, nil
	}
	for i := range 2 {
		if _, err := s.SaveIncident(ctx, wrong(id, cluster, i == 0)); err != nil {
			return 0, err
		}
		if _, _, err := s.RecordAudit(ctx, leak.Audit{
			Account: id.Account, Region: id.Region, Partition: "aws", Cluster: cluster, VPC: "vpc-0a1b2c3d4e5f60718",
			Interface: fmt.Sprintf("eni-0c%015d", i), Subnet: "subnet-0b20000000000000b",
			Owner: "i-0ef3c1b2a4d5968f1", IPs: []netip.Addr{netip.MustParseAddr("10.42.97.4")}, At: weekEnds.Add(-time.Hour), Result: leak.Deleted, Run: "1",
		}); err != nil {
			return 0, err
		}
	}
	_, err = s.SaveSilence(ctx, silence.Silence{
		ID: "ab12cd34", Spoke: id, Cluster: cluster, From: weekEnds, Until: made.Add(24 * time.Hour), At: weekEnds,
		By: silence.Person{ID: "U0ONCALL01", Name: "oncall"}, Reason: "node upgrade",
	})
	return failed, err
}

// sweep is the record of a cluster that had its turn every five minutes.
func sweep(cluster string) overview.Sweep {
	r := overview.Sweep{Cluster: cluster}
	for at := weekEnds.AddDate(0, 0, -8); at.Before(made); at = at.Add(5 * time.Minute) {
		r = r.After(overview.Turn{At: at})
	}
	return r
}

// launch is the record of one of the week's launches, as the detectors leave it.
func launch(cluster string, id spoke.ID, i, of int, joins bool) store.LaunchRecord {
	began := weekEnds.AddDate(0, 0, -7).Add(7 * 24 * time.Hour * time.Duration(i) / time.Duration(of))
	l := store.LaunchRecord{
		Cluster: cluster, Due: began.Add(5 * time.Minute), Noticed: began.Add(2 * time.Second), Looks: 2,
		Free: 142, FreeAt: began.Add(2 * time.Second), Usual: 62 * time.Second, Samples: 40,
		Machine: &store.Machine{
			VPC: "vpc-0a1b2c3d4e5f60718", PrivateIP: netip.MustParseAddr("10.42.97.10"), PrivateDNS: "ip-10-42-97-10.us-west-2.compute.internal",
			Architecture: "x86_64", AMI: "ami-0a1b2c3d4e5f60718",
			Groups: []string{"sg-0a1b2c3d4e5f60718"}, Profile: "arn:aws:iam::" + id.Account + ":instance-profile/eks-c8c9d5b6",
			Template: "lt-0a1b2c3d4e5f60718", Version: "3", Plugin: "v1.18.1",
			Metadata: "enabled", HopLimit: 2, Tags: map[string]string{"eks:cluster-name": cluster, "eks:nodegroup-name": "workers"},
		},
	}
	l.Launch = outcome.Launch{
		Instance: fmt.Sprintf("i-0%08s%04d%04d", cluster[len(cluster)-2:], i, of), Nodegroup: "workers",
		Group: "eks-workers-c8c9d5b6-1111-4222-8333-000000000001", Subnet: "subnet-0b20000000000000b",
		Zone: "us-west-2b", Type: "m5.large", Started: began,
	}
	if joins {
		l.Registered, l.Ready, l.End, l.Why = began.Add(50*time.Second), began.Add(62*time.Second), snapshot.Joined, "Ready 62 s after its launch"
		return l
	}
	l.Missed, l.Root, l.GaveUp, l.End, l.Cause = began.Add(5*time.Minute), "route/no-egress", began.Add(2*time.Hour), snapshot.NotJoined, checkid.RouteNoEgress
	l.Why = "did not register within 2 h"
	return l
}

// wrong is an incident of the week, with what is kept of it.
func wrong(id spoke.ID, cluster string, open bool) incident.Incident {
	began := weekEnds.Add(-40 * time.Hour)
	inc := incident.Incident{
		Key:   report.Key{Spoke: id, Cluster: cluster, Check: checkid.RouteNoEgress, Resource: "rtb-0cd2e3f4a5b6c7d8e"},
		State: incident.Open, Number: 1, Account: id.Account, Region: id.Region, Partition: "aws",
		Opened: began, Began: began, Seen: weekEnds, Affected: 9, Covers: []string{"subnet-0c30000000000000d"},
		Cause: diagnose.Cause{
			Check: checkid.RouteNoEgress, Confidence: "certain", Resource: "rtb-0cd2e3f4a5b6c7d8e", Title: "subnet-0c30000000000000d has no route to the internet",
			Why: "rtb-0cd2e3f4a5b6c7d8e (us-west-2a) has only 10.42.0.0/16 → local.", Nodegroups: []string{"workers"},
		},
		Delivery: incident.Delivery{Channel: "C0123456789", TS: "1794600000.000100"},
	}
	for i := range 9 {
		inc.Launches = append(inc.Launches, report.Launch{
			Instance: fmt.Sprintf("i-0ef3c1b2a4d5%05d", i), Nodegroup: "workers", Subnet: "subnet-0c30000000000000d", Started: began, Status: report.Missed,
		})
	}
	if !open {
		inc.Key.Resource, inc.State, inc.Resolution, inc.Resolved = "rtb-0bbbbbbbbbbbbbbbb", incident.Closed, incident.Proved, began.Add(3*time.Hour)
	}
	return inc
}
