package diagnose

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/local/exit"
	"rollcall/local/result"
	"rollcall/local/result/page"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
)

// drawnAccount is the account whose networks a page draws.
type drawnAccount struct {
	subject, id, region string
	clusters            []string
	now                 func() time.Time
	reader              *gather.Reader
}

// WritePage writes a result of a capture or a world as a page into a file, which is
// replaced.
func WritePage(ctx context.Context, r result.Result, o Subject, file, version string, notes io.Writer) error {
	a, err := OpenAccount(o, io.Discard)
	if err != nil {
		return err
	}
	reader, closing, err := a.Serve(ctx)
	if err != nil {
		return err
	}
	defer closing()
	return drawnAccount{subject: filepath.Base(o.Path), id: a.ID, region: a.Region, clusters: a.Clusters, now: a.Now, reader: reader}.write(ctx, r, file, version, notes)
}

// WritePage writes a result of clusters that are there.
func (a *Account) WritePage(ctx context.Context, r result.Result, file, version string, notes io.Writer) error {
	d := drawnAccount{subject: a.Name(), id: a.Account, region: a.AWS.Region, clusters: a.ClusterNames(), now: a.now, reader: gather.New(a.AWS).WithEndpoints(a.endpoints)}
	return d.write(ctx, r, file, version, notes)
}

func (a drawnAccount) write(ctx context.Context, r result.Result, file, version string, notes io.Writer) error {
	p := r.Page(a.subject)
	p.Version, p.Taken = version, a.now()
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
	for _, id := range []checkid.ID{checkid.RouteNoEgress, checkid.EndpointMissing} {
		c := checks.Meaning(id)
		list = append(list, slices.Concat(c.Needs, c.Uses)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
