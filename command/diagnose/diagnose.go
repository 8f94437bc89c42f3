// Package diagnose looks once at an account that is there or at a capture, as the functions
// do: each has its own engine run over it, and what they observed is one result. It prints
// nothing; the command does.
package diagnose

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rollcall/command/caller"
	"rollcall/command/capture"
	"rollcall/command/diagnose/look"
	"rollcall/command/exit"
	"rollcall/command/result"
	"rollcall/command/result/page"
	"rollcall/command/subject"
	joincheck "rollcall/functions/join-check/spec"
	launchwatch "rollcall/functions/launch-watch/spec"
	"rollcall/shared/askonce"
	"rollcall/shared/awsconf"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/endpoint"
	routechecks "rollcall/shared/checks/route"
	"rollcall/shared/gather"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// history is how old an event may be to be played: what came of it is in the capture.
const history = time.Hour

// Examine looks at a subject; notes are for the person at the keyboard. A world is looked at by
// worlds.
func Examine(ctx context.Context, s subject.Subject, worlds subject.Worlds, notes io.Writer) (result.Result, error) {
	world, err := s.IsWorld()
	switch {
	case err != nil:
		return result.Result{}, err
	case world && worlds == nil:
		return result.Result{}, subject.ErrNeedsStage
	case world:
		return worlds.Examine(ctx, s, notes)
	}
	c, err := s.Capture(notes)
	if err != nil {
		return result.Result{}, err
	}
	var log io.Writer
	if s.Verbose {
		log = notes
	}
	return lookAt(ctx, c, subject.OfCapture(c), eventOf(c, notes), log)
}

// eventOf is the event that a capture says to play first; nil for none.
func eventOf(c *capture.Capture, notes io.Writer) json.RawMessage {
	if c.Event == nil {
		return nil
	}
	var e struct{ Time time.Time }
	err := json.Unmarshal(c.Event, &e)
	if err == nil && e.Time.IsZero() {
		c.Event, e.Time = timed(c.Event, c.Time), c.Time
	}
	if err == nil && c.Time.Sub(e.Time) > history {
		fmt.Fprintf(notes, "note: event.json is of %s, more than an hour before the capture: it is not played\n", e.Time.UTC().Format(time.RFC3339))
		return nil
	}
	if look.Takes(c.Event) == "" {
		fmt.Fprintln(notes, "note: no rule of Rollcall takes the event of event.json")
	}
	return c.Event
}

// timed is an event that has no time, at that of the capture, as the bus gives it one (PutEvents,
// Time: "if no time stamp is provided, the time stamp of the PutEvents call is used").
func timed(event json.RawMessage, at time.Time) json.RawMessage {
	var members map[string]any
	if json.Unmarshal(event, &members) != nil {
		return event
	}
	members["time"] = at.UTC().Format(time.RFC3339)
	raw, err := json.Marshal(members)
	if err != nil {
		return event
	}
	return raw
}

// lookAt looks at a capture in this process: the AWS clients ask what it holds. Log takes the
// functions' logs, nil drops them.
func lookAt(ctx context.Context, c *capture.Capture, account subject.Account, event json.RawMessage, log io.Writer) (result.Result, error) {
	seen, err := look.At(ctx, look.Account{
		ID: c.Account, Region: c.Region, AWS: account.AWS, Endpoints: account.Endpoints, Functions: lookers(c), Logs: c.LogGroups(),
		Refused: func(context.Context) []look.Record { return c.LaunchCalls() }, Event: event,
		Now: func() time.Time { return c.Time }, Log: logTo(log),
	})
	if err != nil {
		return result.Result{}, err
	}
	return result.Merge(seen.Observations, broken(seen.Failed), c.Bare), nil
}

// lookers are the functions that look at a capture: all, or that which kept what it had
// read: what others would ask for was not asked. A launch that launch-watch has seen is
// found by join-check's sweep here, where no event wakes anybody.
func lookers(c *capture.Capture) []string {
	switch {
	case c.Kept == nil:
		return nil
	case c.Kept.By == launchwatch.Name:
		return []string{launchwatch.Name, joincheck.Name}
	}
	return []string{c.Kept.By}
}

// broken are functions that failed, as the result tells them.
func broken(failed []look.Failed) []result.Unknown {
	var list []result.Unknown
	for _, f := range failed {
		list = append(list, result.Unknown{Check: "", Resource: f.Function, Reason: "the function failed: " + f.Err.Error()})
	}
	return list
}

// logTo writes the functions' logs as they are in Lambda; nil drops them.
func logTo(w io.Writer) *slog.Logger {
	if w == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}

// known reports whether a nodegroup is there by that name, or says which ones are: that
// nothing is found about one that is not there says nothing.
func (a *Account) known(ctx context.Context, seen []report.Observation) error {
	if a.of.Nodegroup == "" {
		return nil
	}
	var names []string
	for _, o := range seen {
		for _, l := range o.Launches {
			names = append(names, l.Nodegroup, l.Group)
		}
		for _, c := range o.Diagnosis.Causes {
			names = append(names, c.Nodegroups...)
		}
	}
	for _, c := range a.clusters {
		s, err := a.reader().Read(ctx, gather.Query{
			Account: a.Account, Region: a.AWS.Region, Time: a.now(), Cluster: c.Name, AllNodegroups: true,
			Sources: []snapshot.Source{snapshot.Nodegroups, snapshot.NodePoolsOf},
		})
		if err != nil {
			return fmt.Errorf("read the nodegroups of %s: %w", c.Name, err)
		}
		if !s.Has(snapshot.Nodegroups) {
			return nil // it may be there
		}
		for _, n := range s.Nodegroups {
			names = append(append(names, n.Name), n.Groups...)
		}
		for _, p := range s.NodePools {
			names = append(names, p.Name)
		}
		groups, failed := a.reader().GroupsOf(ctx, c.Name)
		if failed != nil {
			return nil
		}
		for _, g := range groups {
			names = append(names, g.Name)
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" })
	if slices.Contains(names, a.of.Nodegroup) {
		return nil
	}
	if len(names) == 0 {
		return exit.Misuse("%s has no nodegroup, NodePool or group at all", a.Name())
	}
	return exit.Misuse("%s has no nodegroup, NodePool or group %s, only %s", a.Name(), a.of.Nodegroup, result.Some(names))
}

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

// NewAccount is an account that was not read yet.
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
		return nil, fmt.Errorf("%s cannot be read: %s", a.of.Instance, result.Reason(*failed))
	}
	if len(list) == 0 {
		return nil, exit.Misuse("instance %s not found in %s of account %s", a.of.Instance, a.AWS.Region, a.Account)
	}
	of, told := gather.ClusterOf(list[0].Tags)
	switch {
	case a.of.All || len(names) > 0 && (!told || slices.Contains(names, of)):
		return names, nil
	case len(names) > 0:
		return nil, exit.Misuse("%s belongs to cluster %s (by its tags)", a.of.Instance, of)
	case !told:
		return nil, exit.Misuse("no tag of %s names its cluster: set --cluster", a.of.Instance)
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

// drawnAccount is the account whose networks a page draws.
type drawnAccount struct {
	subject, id, region string
	clusters            []string
	now                 func() time.Time
	reader              *gather.Reader
}

// WritePage writes a result of a capture or a world as a page into a file, which is
// replaced.
func WritePage(ctx context.Context, r result.Result, s subject.Subject, worlds subject.Worlds, file, version string, notes io.Writer) error {
	a, err := s.Open(ctx, worlds, io.Discard)
	if err != nil {
		return err
	}
	defer a.Close()
	return drawnAccount{subject: cmp.Or(s.Name, filepath.Base(s.Path)), id: a.ID, region: a.Region, clusters: a.Clusters, now: a.Now, reader: a.Reader()}.write(ctx, r, file, version, notes)
}

// WritePage writes a result of clusters that are there.
func (a *Account) WritePage(ctx context.Context, r result.Result, file, version string, notes io.Writer) error {
	d := drawnAccount{subject: a.Name(), id: a.Account, region: a.AWS.Region, clusters: a.ClusterNames(), now: a.now, reader: gather.New(a.AWS).WithEndpoints(a.endpoints)}
	return d.write(ctx, r, file, version, notes)
}

func (a drawnAccount) write(ctx context.Context, r result.Result, file, version string, notes io.Writer) error {
	p := r.Page(a.subject)
	p.Version, p.Taken, p.Account, p.Region = version, a.now(), a.id, a.region
	for _, cluster := range r.ClustersToDraw(a.clusters) {
		list, err := a.networkOf(ctx, cluster, r)
		if err != nil {
			// The page says all else; why it has no drawing stands beside it.
			fmt.Fprintf(notes, "note: %s: the network is not drawn: %s\n", cluster, err)
			continue
		}
		p.Diagrams = append(p.Diagrams, list...)
	}
	page.Accuse(p.Diagrams, p.Incidents)
	f, err := os.Create(file)
	if err != nil {
		return exit.Misuse("--html %s: %w", file, err)
	}
	if err := page.Write(f, p); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// networkOf draws the networks of a cluster: of the subnets in which its groups
// launch, of those that incidents name, and of the incidents' instances.
func (a drawnAccount) networkOf(ctx context.Context, cluster string, r result.Result) ([]page.Diagram, error) {
	q := gather.Query{Account: a.id, Region: a.region, Time: a.now(), Cluster: cluster, AllNodegroups: true, Sources: networkSources()}
	var failed *snapshot.Failure
	if q.Groups, failed = a.reader.GroupsOf(ctx, cluster); failed != nil {
		q.Failed = append(q.Failed, *failed)
	}
	for _, g := range q.Groups {
		q.Scope.Subnets = append(q.Scope.Subnets, g.Subnets...)
	}
	for _, i := range r.Incidents {
		if i.Cluster != cluster {
			continue
		}
		for _, id := range i.Resources {
			if strings.HasPrefix(id, "subnet-") {
				q.Scope.Subnets = append(q.Scope.Subnets, id)
			}
		}
		q.Scope.Instances = append(q.Scope.Instances, i.Instances...)
	}
	slices.Sort(q.Scope.Subnets)
	q.Scope.Subnets = slices.Compact(q.Scope.Subnets)
	slices.Sort(q.Scope.Instances)
	q.Scope.Instances = slices.Compact(q.Scope.Instances)
	if len(q.Scope.Instances) > 0 {
		if q.Instances, failed = a.reader.Find(ctx, q.Scope.Instances, nil); failed != nil {
			q.Failed = append(q.Failed, *failed)
		}
	}
	s, err := a.reader.Read(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read the network of %s: %w", cluster, err)
	}
	return page.Diagrams(s), nil
}

// networkSources are what the ways are judged by.
func networkSources() []snapshot.Source {
	list := []snapshot.Source{snapshot.NetworkACLs}
	for _, c := range slices.Concat(routechecks.Checks(), endpoint.Checks()) {
		if c.ID == checkid.RouteNoEgress || c.ID == checkid.EndpointMissing {
			list = append(list, slices.Concat(c.Needs, c.Uses)...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
