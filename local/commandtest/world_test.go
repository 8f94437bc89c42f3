package commandtest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
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
	"rollcall/local/simaws/worldfile"
	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
)

const (
	account = "111122223333"
	region  = "us-west-2"
)

// corpus are the worlds of the corpus by their names.
func corpus(t *testing.T) map[string]*worldfile.File {
	t.Helper()
	paths, err := filepath.Glob("../worlds/corpus/*.yaml")
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d worlds, %v", len(paths), err)
	}
	worlds := map[string]*worldfile.File{}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if name == "unseen" {
			continue
		}
		f, err := worldfile.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		worlds[name] = f
	}
	return worlds
}

// snapshots reads each cluster of a world with the functions' own reader, with
// all that any check looks at.
func snapshots(t *testing.T, f *worldfile.File) []*snapshot.Snapshot {
	t.Helper()
	w, err := world.New(f, world.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	admin := simaws.AdminIdentity(account, "test")
	network := loopback.New()
	served, err := simaws.Start(ctx, simaws.Config{
		Account: account, Region: region, Identities: []simaws.Identity{admin},
		World:    w.API(),
		Clusters: w.Clusters(), Endpoints: true,
		Objects: func(name, plural string) ([]json.RawMessage, string, error) {
			list, err := w.Kubernetes(name, plural)
			if errors.Is(err, kubestate.ErrNoKind) {
				return nil, "", kubeapi.NotInstalled()
			}
			return list.Items, list.ResourceVersion, err
		},
		Now: w.Now, Wall: time.Now, Network: network,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	reader := gather.New(aws.Config{
		Region: region, BaseEndpoint: aws.String(served.Endpoint()), HTTPClient: &http.Client{Transport: network},
		Credentials: credentials.NewStaticCredentialsProvider(admin.AccessKeyID, admin.SecretAccessKey, ""),
		Retryer:     func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 3) },
	}).WithEndpoints(func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool) {
		endpoint, ca, ok = served.Kubernetes(cluster)
		return endpoint, ca, network, ok
	})
	var list []*snapshot.Snapshot
	for _, c := range w.Clusters() {
		if s := read(ctx, t, reader, f, w, c); s != nil {
			list = append(list, s)
		}
	}
	return list
}

func read(ctx context.Context, t *testing.T, reader *gather.Reader, f *worldfile.File, w *world.World, cluster string) *snapshot.Snapshot {
	t.Helper()
	var ids []string
	for _, i := range f.EC2.Instances {
		ids = append(ids, aws.ToString(i.InstanceId))
	}
	instances, failed := reader.Find(ctx, ids, nil)
	if failed != nil {
		t.Fatal(failed)
	}
	groups, failed := reader.Groups(ctx, detect.GroupsOf(instances))
	if failed != nil {
		t.Fatal(failed)
	}
	q := gather.Query{
		Account: account, Region: region, Time: w.Now(), Cluster: cluster, Instances: instances, Groups: groups, AllNodegroups: true,
		Sources: gather.JoinSources(checks.All()), Scope: snapshot.Scope{Instances: ids},
	}
	for _, in := range instances {
		q.Launches = append(q.Launches, snapshot.ExpectedJoin{Instance: in.ID, Started: in.Launched, Due: in.Launched.Add(5 * time.Minute)})
		if in.Subnet != "" {
			q.Scope.Subnets = append(q.Scope.Subnets, in.Subnet)
		}
	}
	s, err := reader.Read(ctx, q)
	if err != nil && !errors.Is(err, gather.ErrNoCluster) {
		t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return s
}
