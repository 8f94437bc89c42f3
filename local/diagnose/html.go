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

	"rollcall/local/diagnose/page"
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

// writePage writes a result of a capture or a world as a page into a file, which is
// replaced.
func writePage(ctx context.Context, r Result, o options, version string, notes io.Writer) error {
	a, err := openAccount(o, io.Discard)
	if err != nil {
		return err
	}
	reader, closing, err := a.Serve(ctx)
	if err != nil {
		return err
	}
	defer closing()
	return drawnAccount{subject: filepath.Base(o.subject), id: a.ID, region: a.Region, clusters: a.Clusters, now: a.Now, reader: reader}.write(ctx, r, o.html, version, notes)
}

// writePage writes a result of clusters that are there.
func (a *account) writePage(ctx context.Context, r Result, file, version string, notes io.Writer) error {
	d := drawnAccount{subject: a.name(), id: a.Account, region: a.AWS.Region, now: a.now, reader: gather.New(a.AWS).WithEndpoints(a.endpoints)}
	for _, c := range a.clusters {
		d.clusters = append(d.clusters, c.Name)
	}
	return d.write(ctx, r, file, version, notes)
}

func (a drawnAccount) write(ctx context.Context, r Result, file, version string, notes io.Writer) error {
	p := r.page(a.subject)
	p.Version, p.Taken = version, a.now()
	for _, cluster := range r.clusters(a.clusters) {
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
		return misuse{fmt.Errorf("--html %s: %w", file, err)}
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

// clusters are those whose networks are drawn: those with an incident, else all.
func (r Result) clusters(all []string) []string {
	var list []string
	for _, i := range r.Incidents {
		if !slices.Contains(list, i.Cluster) {
			list = append(list, i.Cluster)
		}
	}
	if len(list) == 0 {
		return all
	}
	return list
}

// networkOf draws the networks of a cluster: of the subnets in which its groups
// launch, of those that incidents name, and of the incidents' instances.
func (a drawnAccount) networkOf(ctx context.Context, cluster string, r Result) ([]page.Diagram, error) {
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

// page is a result as a page, without what only the account tells.
func (r Result) page(subject string) page.Page {
	p := page.Page{Subject: subject, Mark: page.Well, Verdict: r.verdict()}
	switch r.status() {
	case causesStatus:
		p.Mark = page.Fault
	case unsureStatus:
		p.Mark = page.Unsure
	}
	for _, i := range r.Incidents {
		where := i.Cluster
		if len(i.Nodegroups) > 0 {
			where += " / " + strings.Join(i.Nodegroups, ", ")
		}
		out := page.Incident{
			Mark: page.Fault, Label: r.mark(i), Check: i.Cause, Confidence: i.Confidence, Where: where, Title: i.Title, Why: i.why,
			Resources: i.Resources, Instances: i.Instances, Contributing: i.Contributing, Symptoms: i.Symptoms,
			Fix: i.Fix.Text, Command: i.Fix.Command, Console: i.console,
		}
		switch i.Confidence {
		case string(checks.Advice):
			out.Mark = page.Advice
		case string(checks.Symptom):
			out.Mark = page.Symptom
		}
		for _, e := range i.Evidence {
			out.Evidence = append(out.Evidence, page.Evidence(e))
		}
		for _, h := range i.Hidden {
			out.Hidden = append(out.Hidden, page.Hidden(h))
		}
		p.Incidents = append(p.Incidents, out)
	}
	for _, u := range r.Unknown {
		p.Unknown = append(p.Unknown, page.Unknown(u))
	}
	return p
}

// verdict is the first line of a page.
func (r Result) verdict() string {
	count := map[string]int{}
	for _, i := range r.Incidents {
		switch checks.Confidence(i.Confidence) {
		case checks.Advice, checks.Symptom:
			count[i.Confidence]++
		default:
			count["cause"]++
		}
	}
	var parts []string
	for _, kind := range []string{"cause", string(checks.Symptom)} {
		switch n := count[kind]; {
		case n == 1:
			parts = append(parts, "1 "+kind)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", n, kind))
		}
	}
	switch {
	case r.status() == unsureStatus:
		return "could not tell, something needed could not be read"
	case len(parts) > 0:
		return strings.Join(parts, ", ") + " found"
	}
	return "every instance that should be a node is one, or has time left"
}
