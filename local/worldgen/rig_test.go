package worldgen

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"rollcall/local/platform/loopback"
	"rollcall/local/simaws"
	"rollcall/local/simaws/kubeapi"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/world"

	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
)

// joinTime is how long a node has until it is missed.
const joinTime = 5 * time.Minute

// seen is what a look at a world gave.
type seen struct {
	snapshot  *snapshot.Snapshot
	diagnosis diagnose.Diagnosis
}

// look serves a world as AWS and Kubernetes, reads it with the
// functions' own reader, and diagnoses it: the way that join-check goes, for
// the instances in question.
func look(t *testing.T, w *World, scope []string) seen {
	t.Helper()
	var told []json.RawMessage
	made, err := world.New(w.File, world.Options{Seed: 1, Events: func(e json.RawMessage) { told = append(told, e) }})
	if err != nil {
		t.Fatal(err)
	}
	made.Advance(made.Now().Add(w.wait))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	admin, network := simaws.AdminIdentity(account, "test"), loopback.New()
	served, err := simaws.Start(ctx, simaws.Config{
		Account: account, Region: region, Identities: []simaws.Identity{admin},
		World:    made.API(),
		Clusters: made.Clusters(), Endpoints: true,
		Objects: func(name, plural string) ([]json.RawMessage, string, error) {
			list, err := made.Kubernetes(name, plural)
			if errors.Is(err, kubestate.ErrNoKind) {
				return nil, "", kubeapi.NotInstalled()
			}
			return list.Items, list.ResourceVersion, err
		},
		Network: network, Now: made.Now, Wall: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	reader := gather.New(aws.Config{
		Region: region, BaseEndpoint: aws.String(served.Endpoint()), HTTPClient: &http.Client{Transport: network},
		Credentials: credentials.NewStaticCredentialsProvider(admin.AccessKeyID, admin.SecretAccessKey, ""),
		Retryer:     func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 2) },
	}).WithEndpoints(func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool) {
		endpoint, ca, ok = served.Kubernetes(cluster)
		return endpoint, ca, network, ok
	})
	all := slices.Concat(w.Young, w.Veterans)
	instances, failed := reader.Find(ctx, all, nil)
	if failed != nil {
		t.Fatal(failed)
	}
	groups, failed := reader.Groups(ctx, detect.GroupsOf(instances))
	if failed != nil {
		t.Fatal(failed)
	}
	list := checks.All()
	q := gather.Query{
		Account: account, Region: region, Time: made.Now(), Cluster: cluster, VPC: w.vpc, Instances: instances, Groups: groups,
		Nodegroups: detect.ManagedOf(instances), Sources: gather.JoinSources(list),
		Scope: snapshot.Scope{Instances: scope, Launchable: w.Subnets},
	}
	for _, in := range instances {
		q.Launches = append(q.Launches, snapshot.ExpectedJoin{Instance: in.ID, Started: in.Launched, Due: in.Launched.Add(joinTime)})
		if slices.Contains(scope, in.ID) {
			q.Scope.Subnets = append(q.Scope.Subnets, in.Subnet)
		}
	}
	// The nodes first: what is read of an instance depends on whether it is one.
	s, err := reader.Read(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	// A world that stands still has no launches behind it, and its subnets had
	// yesterday what they have.
	s.Samples = level(s, w.Subnets)
	s.Read[snapshot.LaunchHistory] = true
	delete(s.Failures, snapshot.LaunchHistory)
	s.Refused = refusedCalls(t, told, instances)
	s.Read[snapshot.RefusedLaunches] = true
	delete(s.Failures, snapshot.RefusedLaunches)
	// What its subnets have, they had all day.
	for _, n := range s.Subnets {
		for ago := 24 * time.Hour; ago >= 0; ago -= 5 * time.Minute {
			s.Samples = append(s.Samples, snapshot.Sample{Subnet: n.ID, At: s.Time.Add(-ago), Free: n.Free})
		}
	}
	return seen{s, diagnose.Rank(list, checks.Eval(list, s), s)}
}

// refusedCalls are what launch-watch keeps of what a world told its bus.
func refusedCalls(t *testing.T, told []json.RawMessage, instances []snapshot.Instance) []snapshot.RefusedLaunch {
	t.Helper()
	runs := detect.NewRuns(nil)
	for _, e := range told {
		trigger, err := event.Parse(e)
		if err != nil {
			t.Fatal(err)
		}
		if trigger.Kind == event.LaunchRefused {
			runs.Take(cluster, detect.RefusedCall(trigger, trigger.Refusal.Tags))
		}
	}
	runs.Started(instances)
	return runs.Launches()
}

// level is a day in which some subnets had what they have now, as subnet-watch
// records it.
func level(s *snapshot.Snapshot, subnets []string) []snapshot.Sample {
	const every, day = 5 * time.Minute, 24 * time.Hour
	var list []snapshot.Sample
	for _, x := range detect.Samples(s, subnets) {
		for age := day; age >= 0; age -= every {
			x.At = s.Time.Add(-age)
			list = append(list, x)
		}
	}
	return list
}
