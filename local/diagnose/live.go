package diagnose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rollcall/local/diagnose/caller"
	"rollcall/local/diagnose/look"
	"rollcall/shared/awsconf"
	"rollcall/shared/gather"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// liveOptions are what the command line says of an account that is there.
type liveOptions struct {
	caller   caller.Options
	clusters []string
	all      bool
	// instance and nodegroup are all that is to be told of, if set.
	instance, nodegroup string
	watch               bool
}

// wanted tells that an account is to be looked at.
func (l liveOptions) wanted() bool {
	return len(l.clusters) > 0 || l.all || l.instance != "" || l.nodegroup != "" || l.watch || l.caller != (caller.Options{})
}

// check says what does not go together.
func (l liveOptions) check(args []string) error {
	switch {
	case len(args) > 0:
		return misuse{fmt.Errorf("%s: a capture or a world is looked at without --cluster and what goes with it", args[0])}
	case l.all && len(l.clusters) > 0:
		return misuse{errors.New("--all-clusters and --cluster: one of them")}
	case !l.all && len(l.clusters) == 0 && l.instance == "":
		return misuse{errors.New("which cluster? --cluster names one or several, --all-clusters takes all of the region")}
	case slices.Contains(l.clusters, ""):
		return misuse{errors.New("--cluster: a name is empty")}
	case l.instance != "" && !strings.HasPrefix(l.instance, "i-"):
		return misuse{fmt.Errorf("--instance %s: an instance's id begins with i-", l.instance)}
	}
	return nil
}

// account is an account that is looked at, once or again and again.
type account struct {
	liveOptions
	caller.Caller
	log      *slog.Logger
	now      func() time.Time
	clusters []snapshot.Cluster
	doors    map[string]caller.Door
	// once is what was asked already in this look.
	once   *look.Once
	looked bool
}

// account is the account that the command line names.
func (o options) account(notes io.Writer) *account {
	a := &account{liveOptions: o.live, log: logTo(nil), now: time.Now, once: &look.Once{}}
	if o.verbose {
		a.log = logTo(notes)
	}
	if !o.at.IsZero() {
		began := time.Now()
		a.now = func() time.Time { return o.at.Add(time.Since(began)) }
	}
	return a
}

// open finds out who calls, and which clusters there are.
func (a *account) open(ctx context.Context) error {
	var err error
	if a.Caller, err = caller.Load(ctx, a.caller, a.log, &awsconf.Calls{}); err != nil {
		return err
	}
	names, err := a.names(ctx)
	if err != nil {
		return err
	}
	if a.clusters, err = a.Clusters(ctx, a.reader(), names, a.all); err != nil {
		return err
	}
	a.doors, err = a.Doors(ctx, a.clusters)
	return err
}

// asked is how many calls were made so far.
func (a *account) asked() int { return a.once.Asked() }

// reader reads what is asked before the look.
func (a *account) reader() *gather.Reader { return gather.New(a.once.Client(a.AWS)) }

// names are the clusters that are asked for: an instance names its own.
func (a *account) names(ctx context.Context) ([]string, error) {
	var names []string
	for _, name := range a.liveOptions.clusters {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if a.instance == "" {
		return names, nil
	}
	list, failed := a.reader().Find(ctx, []string{a.instance}, nil)
	if failed != nil {
		return nil, fmt.Errorf("%s cannot be looked at: %s", a.instance, reason(*failed))
	}
	if len(list) == 0 {
		return nil, misuse{fmt.Errorf("EC2 shows no instance %s in %s of account %s", a.instance, a.AWS.Region, a.Account)}
	}
	of, told := gather.ClusterOf(list[0].Tags)
	switch {
	case a.all || len(names) > 0 && (!told || slices.Contains(names, of)):
		return names, nil
	case len(names) > 0:
		return nil, misuse{fmt.Errorf("%s is of cluster %s, by its tags", a.instance, of)}
	case !told:
		return nil, misuse{fmt.Errorf("no tag of %s tells whose it is: --cluster names its cluster", a.instance)}
	}
	return []string{of}, nil
}

// name says what is looked at.
func (a *account) name() string {
	var names []string
	for _, c := range a.clusters {
		names = append(names, c.Name)
	}
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

// look looks at all clusters once, and tells how their launches stand, too.
func (a *account) look(ctx context.Context) (Result, []report.Launch, error) {
	if a.looked {
		a.once = &look.Once{}
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
		return Result{}, nil, err
	}
	var all []report.Observation
	var failed []Unknown
	for _, s := range seen {
		all = append(all, s.Observations...)
		failed = append(failed, broken(s.Failed)...)
	}
	r := merge(all, failed, func(cluster string) bool { return a.waits(ctx, cluster) })
	r.Notes = a.notKnown(unread, all)
	return r.only(a.instance, a.nodegroup, all), a.launches(all), a.known(ctx, all)
}

// launches are those that are asked for, as they stand in the end.
func (a *account) launches(seen []report.Observation) []report.Launch {
	var list []report.Launch
	for _, c := range a.clusters {
		for _, l := range standing(seen, c.Name) {
			of := a.nodegroup == "" || l.Nodegroup == a.nodegroup || l.Group == a.nodegroup
			if of && (a.instance == "" || l.Instance == a.instance) {
				list = append(list, l)
			}
		}
	}
	return list
}

// endpoints are the doors as the reader takes them.
func (a *account) endpoints(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool) {
	d, ok := a.doors[cluster]
	return d.Endpoint, d.CA, d.Via, ok
}

// refused are the records of calls for instances. CloudTrail takes two calls a second,
// so that both names may be asked for at once.
func (a *account) refused(ctx context.Context) (all []look.Record, unread []snapshot.Failure) {
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

// waits tells whether a cluster may have an instance that should be a node by now.
func (a *account) waits(ctx context.Context, cluster string) bool {
	list, failed := a.reader().FindTagged(ctx, cluster)
	return failed != nil || slices.ContainsFunc(list, func(in snapshot.Instance) bool {
		return !in.Ended() && a.now().Sub(in.Launched) >= joinTime
	})
}

// notKnown is what a look cannot know, said once, and how it might.
func (a *account) notKnown(unread []snapshot.Failure, seen []report.Observation) []string {
	notes := []string{"how launches of the last weeks went, and how long nodes usually take to join: a deployed Rollcall remembers that; here a node has 5 minutes"}
	for _, f := range unread {
		notes = append(notes, "refused launches of Karpenter and EKS Auto Mode, but for what their NodeClaims say: "+reason(f))
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
		notes = append(notes, fmt.Sprintf("what Kubernetes has of %s: it does not know %s; --context takes the login of your kubeconfig", some(strange), a.ARN))
	}
	return notes
}
