package diagnose

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rollcall/local/caller"
	"rollcall/local/diagnose/look"
	"rollcall/local/exit"
	"rollcall/local/result"
	"rollcall/shared/askonce"
	"rollcall/shared/awsconf"
	"rollcall/shared/gather"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// Live says what is looked at of an account that is there.
type Live struct {
	Caller   caller.Options
	Clusters []string
	All      bool
	// Instance and Nodegroup are all that is to be told of, if set.
	Instance, Nodegroup string
	// At is the time at which it is looked at, of an account whose time is another; zero for now.
	At time.Time
	// Log takes the functions' logs; nil drops them.
	Log io.Writer
}

// Account is an account that is looked at, once or again and again.
type Account struct {
	caller.Caller
	of       Live
	log      *slog.Logger
	now      func() time.Time
	clusters []snapshot.Cluster
	servers  map[string]caller.APIServer
	// once is what was asked already in this look.
	once   *askonce.Once
	looked bool
}

// NewAccount is an account that nobody has asked yet.
func NewAccount(of Live) *Account {
	a := &Account{of: of, log: logTo(of.Log), now: time.Now, once: &askonce.Once{}}
	if !of.At.IsZero() {
		began := time.Now()
		a.now = func() time.Time { return of.At.Add(time.Since(began)) }
	}
	return a
}

// Open finds out who calls, and which clusters there are.
func (a *Account) Open(ctx context.Context) error {
	var err error
	if a.Caller, err = caller.Load(ctx, a.of.Caller, a.log, &awsconf.Calls{}); err != nil {
		return err
	}
	names, err := a.names(ctx)
	if err != nil {
		return err
	}
	if a.clusters, err = a.Clusters(ctx, a.reader(), names, a.of.All); err != nil {
		return err
	}
	a.servers, err = a.APIServers(ctx, a.clusters)
	return err
}

// Asked is how many calls were made so far.
func (a *Account) Asked() int { return a.once.Asked() }

// Now is the account's time.
func (a *Account) Now() time.Time { return a.now() }

// ClusterNames are the clusters that are looked at.
func (a *Account) ClusterNames() []string {
	var names []string
	for _, c := range a.clusters {
		names = append(names, c.Name)
	}
	return names
}

// Reader reads the account and the clusters' Kubernetes APIs.
func (a *Account) Reader() *gather.Reader { return a.reader().WithEndpoints(a.endpoints) }

// reader reads what is asked before the look.
func (a *Account) reader() *gather.Reader { return gather.New(a.once.Client(a.AWS)) }

// names are the clusters that are asked for: an instance names its own.
func (a *Account) names(ctx context.Context) ([]string, error) {
	var names []string
	for _, name := range a.of.Clusters {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if a.of.Instance == "" {
		return names, nil
	}
	list, failed := a.reader().Find(ctx, []string{a.of.Instance}, nil)
	if failed != nil {
		return nil, fmt.Errorf("%s cannot be looked at: %s", a.of.Instance, result.Reason(*failed))
	}
	if len(list) == 0 {
		return nil, exit.Misuse("EC2 shows no instance %s in %s of account %s", a.of.Instance, a.AWS.Region, a.Account)
	}
	of, told := gather.ClusterOf(list[0].Tags)
	switch {
	case a.of.All || len(names) > 0 && (!told || slices.Contains(names, of)):
		return names, nil
	case len(names) > 0:
		return nil, exit.Misuse("%s is of cluster %s, by its tags", a.of.Instance, of)
	case !told:
		return nil, exit.Misuse("no tag of %s tells whose it is: --cluster names its cluster", a.of.Instance)
	}
	return []string{of}, nil
}

// Name says what is looked at.
func (a *Account) Name() string {
	names := a.ClusterNames()
	const most = 4
	if len(names) > most {
		return fmt.Sprintf("%d clusters in %s of account %s", len(names), a.AWS.Region, a.Account)
	}
	return strings.Join(names, ", ")
}

const (
	// together bounds the clusters that are looked at at once: each takes about sixty
	// calls, and EC2 refills twenty a second of each operation (EC2 API
	// reference, "Request throttling").
	together = 4
	// refusedFor is how long a refused launch counts, as a failed scaling activity does.
	refusedFor = time.Hour
	// refusedTime is how long CloudTrail is waited for: what is refused shows elsewhere
	// too, and all else waits for this.
	refusedTime = 5 * time.Second
)

// Look looks at all clusters once, and tells how their launches stand, too.
func (a *Account) Look(ctx context.Context) (result.Result, []report.Launch, error) {
	if a.looked {
		a.once = &askonce.Once{}
	}
	a.looked = true
	var unread []snapshot.Failure
	refused := sync.OnceValue(func() (all []look.Record) {
		all, unread = a.refused(ctx)
		return all
	})
	seen := make([]look.Seen, len(a.clusters))
	var g errgroup.Group
	g.SetLimit(together)
	for i, c := range a.clusters {
		g.Go(func() (err error) {
			seen[i], err = look.At(ctx, look.Account{
				ID: a.Account, Region: a.AWS.Region, AWS: a.AWS, Endpoints: a.endpoints, Clusters: []string{c.Name},
				Refused: func(context.Context) []look.Record { return refused() }, Decode: true, Logs: []string{"*"}, Now: a.now, Log: a.log, Once: a.once,
			})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return result.Result{}, nil, err
	}
	var all []report.Observation
	var failed []result.Unknown
	for _, s := range seen {
		all = append(all, s.Observations...)
		failed = append(failed, broken(s.Failed)...)
	}
	r := result.Merge(all, failed, nil)
	r.Notes = a.notKnown(unread, all)
	return r.Only(a.of.Instance, a.of.Nodegroup, all), a.launches(all), a.known(ctx, all)
}

// launches are those that are asked for, as they stand in the end.
func (a *Account) launches(seen []report.Observation) []report.Launch {
	var list []report.Launch
	for _, c := range a.clusters {
		for _, l := range result.Standing(seen, c.Name) {
			of := a.of.Nodegroup == "" || l.Nodegroup == a.of.Nodegroup || l.Group == a.of.Nodegroup
			if of && (a.of.Instance == "" || l.Instance == a.of.Instance) {
				list = append(list, l)
			}
		}
	}
	return list
}

// endpoints are the API servers as the reader takes them.
func (a *Account) endpoints(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool) {
	d, ok := a.servers[cluster]
	return d.Endpoint, d.CA, d.Transport, ok
}

// refused are the records of calls for instances. CloudTrail takes two calls a second,
// so that both names may be asked for at once.
func (a *Account) refused(ctx context.Context) (all []look.Record, unread []snapshot.Failure) {
	ctx, cancel := context.WithTimeout(ctx, refusedTime)
	defer cancel()
	names := []string{"CreateFleet", "RunInstances"}
	records, failed := make([][]look.Record, len(names)), make([]*snapshot.Failure, len(names))
	var g errgroup.Group
	for i, name := range names {
		g.Go(func() error {
			trail := gather.NewTrail(a.AWS, sleep)
			records[i], failed[i] = trail.LaunchCalls(ctx, name, a.now().Add(-refusedFor), a.now())
			return nil
		})
	}
	_ = g.Wait()
	for i := range names {
		all = append(all, records[i]...)
		if failed[i] != nil && len(unread) == 0 {
			unread = append(unread, *failed[i])
		}
	}
	return all, unread
}

// sleep waits, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// notKnown is what a look cannot know, said once, and how it might.
func (a *Account) notKnown(unread []snapshot.Failure, seen []report.Observation) []string {
	notes := []string{"how launches of the last weeks went, and how long nodes usually take to join: a deployed Rollcall remembers that; here a node has 5 minutes"}
	for _, f := range unread {
		notes = append(notes, "refused launches of Karpenter and EKS Auto Mode, but for what their NodeClaims say: "+result.Reason(f))
	}
	var strange []string
	for _, o := range seen {
		// The authenticator knows the caller by an access entry or aws-auth (EKS user guide,
		// "Grant IAM users and roles access to Kubernetes APIs").
		unknown := slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool { return f.Source == snapshot.Nodes && f.Code == "Unauthorized" })
		if unknown && !slices.Contains(strange, o.Cluster) {
			strange = append(strange, o.Cluster)
		}
	}
	if len(strange) > 0 && !a.ByContext() {
		notes = append(notes, fmt.Sprintf("what Kubernetes has of %s: it does not know %s; --context takes the login of your kubeconfig", result.Some(strange), a.ARN))
	}
	return notes
}
