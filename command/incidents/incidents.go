// Package incidents tells what a deployment knows: its incidents, open and closed, and
// all of one. It reads the table and changes nothing.
package incidents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"rollcall/command/caller"
	"rollcall/command/doctor"
	"rollcall/command/exit"
	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/shell"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// Records is what it takes of the table.
type Records interface {
	// Clusters are those with incidents in the table, open or closed.
	Clusters(context.Context) ([]string, error)
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
}

// Query chooses incidents.
type Query struct {
	// Clusters are those to look at; nil is all that the table knows.
	Clusters []string
	// Closed reports whether those that are over are wanted too.
	Closed bool
}

// Row is an incident in a list.
type Row struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Cluster string `json:"cluster"`
	// Whose is the name by which people know the cluster's account; empty where one is watched.
	Whose      string    `json:"whose,omitempty"`
	Nodegroups []string  `json:"nodegroups"`
	Check      string    `json:"check"`
	Confidence string    `json:"confidence"`
	Title      string    `json:"title"`
	Began      time.Time `json:"began"`
	Ended      time.Time `json:"ended,omitzero"`
	// Affected are the launches that it kept from joining.
	Affected int `json:"affected"`
}

// ID is an incident's name at the command line.
func ID(k report.Key) string { return k.Name() }

// ErrNone is that there is no incident of a name.
var ErrNone = errors.New("no such incident")

// SeveralError is that a part of a name is one of several.
type SeveralError struct {
	Part string
	IDs  []string
}

func (e *SeveralError) Error() string {
	return fmt.Sprintf("%q is part of %d incidents: %s", e.Part, len(e.IDs), strings.Join(e.IDs, ", "))
}

// List lists the incidents that are said: longest-running first, those that
// are over last. Where some were written by a newer release, the others come with an
// error that has *store.NewerFormat in it.
func List(ctx context.Context, r Records, q Query) ([]Row, error) {
	all, err := read(ctx, r, q.Clusters)
	if all == nil && err != nil {
		return nil, err
	}
	rows := []Row{}
	for _, inc := range all {
		if inc.State == incident.Pending || inc.State == incident.Closed && !q.Closed {
			continue
		}
		rows = append(rows, Row{
			ID: ID(inc.Key), State: string(inc.State), Cluster: inc.Key.SpokeCluster().String(), Whose: inc.Whose, Nodegroups: append([]string{}, inc.Cause.Nodegroups...), Check: string(inc.Key.Check),
			Confidence: string(inc.Cause.Confidence), Title: inc.Cause.Title, Began: inc.Began, Ended: inc.Resolved, Affected: inc.Affected,
		})
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		over := func(r Row) int {
			if r.State == string(incident.Closed) {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(over(a), over(b)), b.Ended.Compare(a.Ended), a.Began.Compare(b.Began), cmp.Compare(a.ID, b.ID))
	})
	return rows, err
}

// Find is the incident of a name, or of the part of one that only one has. The error
// is ErrNone, or names those that the part fits.
func Find(ctx context.Context, r Records, name string) (incident.Incident, error) {
	var clusters []string
	if cluster, _, whole := strings.Cut(name, ":"); whole && strings.Count(name, ":") > 1 {
		clusters = []string{cluster}
	}
	all, err := read(ctx, r, clusters)
	if all == nil && err != nil {
		return incident.Incident{}, err
	}
	var found []incident.Incident
	for _, inc := range all {
		id := ID(inc.Key)
		if id == name {
			return inc, nil
		}
		if inc.State != incident.Pending && strings.Contains(id, name) {
			found = append(found, inc)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return incident.Incident{}, errors.Join(fmt.Errorf("%q: %w; rollcall incidents --all lists them", name, ErrNone), err)
	}
	var ids []string
	for _, inc := range found {
		ids = append(ids, ID(inc.Key))
	}
	slices.Sort(ids)
	return incident.Incident{}, &SeveralError{Part: name, IDs: ids}
}

// read reads the incidents of clusters.
func read(ctx context.Context, r Records, clusters []string) ([]incident.Incident, error) {
	if clusters == nil {
		var err error
		if clusters, err = r.Clusters(ctx); err != nil {
			return nil, err
		}
	}
	all := []incident.Incident{}
	var newer error
	for _, cluster := range clusters {
		list, err := r.Incidents(ctx, cluster)
		var format *store.NewerFormat
		if errors.As(err, &format) {
			newer = err
		} else if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, newer
}

// StrangerError is that a deployment does not know a cluster.
type StrangerError struct {
	Cluster string
	// Known are those that it knows.
	Known []string
}

func (e *StrangerError) Error() string {
	if len(e.Known) == 0 {
		return "the deployment knows no cluster " + e.Cluster + ", nor any other"
	}
	if near := caller.Near(e.Cluster, e.Known); len(near) > 0 {
		return fmt.Sprintf("the deployment knows no cluster %s; is it %s?", e.Cluster, strings.Join(near, " or "))
	}
	return fmt.Sprintf("the deployment knows no cluster %s, only %s", e.Cluster, caller.Some(e.Known))
}

// Known is nil if a deployment knows all of some clusters: it has a record or an incident of
// each, or watches it. Of one that it does not know it is a *StrangerError: that no
// incident is open there says nothing. Watched are the clusters that it watches, asked
// only where the table has nothing.
func Known(ctx context.Context, r Records, clusters []string, watched func(context.Context) ([]string, error)) error {
	var without []string
	for _, name := range clusters {
		list, err := r.Incidents(ctx, name)
		var newer *store.NewerFormat
		if err != nil && !errors.As(err, &newer) {
			return fmt.Errorf("read the incidents of %s: %w", name, err)
		}
		if len(list) == 0 && newer == nil {
			without = append(without, name)
		}
	}
	if len(without) == 0 {
		return nil
	}
	known, err := r.Clusters(ctx)
	if err != nil {
		return err
	}
	unknown := func(name string) bool { return !slices.Contains(known, name) }
	if !slices.ContainsFunc(without, unknown) {
		return nil
	}
	names, err := watched(ctx)
	if err != nil {
		return fmt.Errorf("nothing is recorded of %s, and which clusters are watched could not be read: %w", strings.Join(slices.DeleteFunc(without, func(n string) bool { return !unknown(n) }), ", "), err)
	}
	known = append(known, names...)
	slices.Sort(known)
	known = slices.Compact(known)
	if i := slices.IndexFunc(without, unknown); i >= 0 {
		return &StrangerError{Cluster: without[i], Known: known}
	}
	return nil
}

// Watched are the clusters that the deployment in the caller's account and region
// watches: those of its setting, or all of the region.
func Watched(by caller.Caller) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		out, err := lambda.NewFromConfig(by.AWS).GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: aws.String(doctor.Prefix + "-launch-watch")})
		if err != nil {
			return nil, err
		}
		var set map[string]string
		if out.Environment != nil {
			set = out.Environment.Variables
		}
		cfg, err := config.Load(func(name string) string { return set[name] }, []spec.Variable{config.Clusters})
		if err != nil {
			return nil, err
		}
		if cfg.Clusters != nil {
			return cfg.Clusters, nil
		}
		var names []string
		pages := eks.NewListClustersPaginator(eks.NewFromConfig(by.AWS), &eks.ListClustersInput{})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			names = append(names, page.Clusters...)
		}
		return names, nil
	}
}

// minute is how a time is written: in UTC, as everything that Rollcall says.
const minute = "2006-01-02 15:04"

// Print writes the list that a query found for a person.
func Print(w io.Writer, rows []Row, q Query, now time.Time) error {
	if len(rows) == 0 {
		none := "No incident is open."
		if q.Closed {
			none = "No incidents in the last 30 days."
		}
		_, err := fmt.Fprintln(w, none)
		return wrapped(err)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	// Whose a cluster is is said where several accounts or regions are watched.
	several := slices.ContainsFunc(rows, func(r Row) bool { return r.Whose != "" })
	whose := func(text string) string {
		if !several {
			return ""
		}
		return text + "\t"
	}
	fmt.Fprintln(table, "STATE\tSINCE (UTC)\tFOR\tAFFECTED\t"+whose("OF")+"WHAT\tINCIDENT")
	for _, r := range rows {
		until := now
		if !r.Ended.IsZero() {
			until = r.Ended
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s%s\t%s\n", r.State, r.Began.UTC().Format(minute), span(until.Sub(r.Began)), r.Affected, whose(r.Whose), r.Title, r.ID)
	}
	return wrapped(table.Flush())
}

// Show writes all of an incident for a person.
func Show(w io.Writer, inc incident.Incident, now time.Time) error {
	var b strings.Builder
	line := func(name, value string) {
		for k, text := range strings.Split(strings.TrimRight(value, "\n"), "\n") {
			if value == "" {
				return
			}
			if k > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "  %-9s %s\n", name, text)
		}
	}
	where := inc.Key.Cluster
	if inc.Whose != "" {
		where += " (" + inc.Whose + ")"
	}
	if len(inc.Cause.Nodegroups) > 0 {
		where += " / " + strings.Join(inc.Cause.Nodegroups, ", ")
	}
	fmt.Fprintf(&b, "%s %s · %s\n", strings.ToUpper(string(inc.State)), where, inc.Cause.Title)
	line("Incident", ID(inc.Key))
	line("Account", strings.TrimSpace(inc.Account+" "+inc.Region))
	line("Cause", fmt.Sprintf("%s (%s)", inc.Key.Check, inc.Cause.Confidence))
	line("Why", inc.Cause.Why)
	began := inc.Began.UTC().Format(minute) + " UTC"
	switch {
	case inc.State == incident.Closed:
		line("When", fmt.Sprintf("%s to %s UTC, %s (%s)", began, inc.Resolved.UTC().Format(minute), span(inc.Resolved.Sub(inc.Began)), inc.Resolution))
	default:
		line("When", fmt.Sprintf("since %s, for %s", began, span(now.Sub(inc.Began))))
	}
	if inc.Number > 1 {
		line("Again", fmt.Sprintf("occurrence %d", inc.Number))
	}
	if inc.Affected > 0 {
		line("Affected", slacktext.Count(inc.Affected, "launch"))
	}
	for i, l := range inc.Launches {
		if i == shown && len(inc.Launches) > shown+1 {
			line("", fmt.Sprintf("and %d more", len(inc.Launches)-shown))
			break
		}
		line("", fmt.Sprintf("%s %s", l.Instance, l.Status))
	}
	for i, e := range inc.Cause.Evidence {
		name := ""
		if i == 0 {
			name = "Seen"
		}
		line(name, e.What+": "+e.Value)
	}
	if inc.Evidence != nil {
		line("Replay", shell.Command("rollcall", "replay", ID(inc.Key))+" (using the data saved at the time)")
	}
	line("Do", inc.Cause.Fix.Text)
	line("", inc.Cause.Fix.Command)
	if r := inc.RecentChanges; r != nil {
		for i, c := range r.Changes {
			name := ""
			if i == 0 {
				name = "Changed"
			}
			line(name, strings.TrimSpace(fmt.Sprintf("%s UTC %s called %s on %s %s", c.At.UTC().Format(minute), cmp.Or(c.Actor, "someone"), c.Call, c.Resource, c.Error)))
		}
		line("Unseen", r.Blind)
	}
	for i, e := range inc.ClearedBy {
		name := ""
		if i == 0 {
			name = "Now"
		}
		line(name, e.What+": "+e.Value)
	}
	for i, o := range inc.Offers {
		name := ""
		if i == 0 {
			name = "Remedies"
		}
		text := fmt.Sprintf("%s %s: %s", o.Made.UTC().Format(minute), o.Plan.Remedy, o.State)
		if o.By.ID != "" {
			text += fmt.Sprintf(" by %s at %s", person(o.By.Name, o.By.ID), o.Decided.UTC().Format(minute))
		}
		line(name, text)
		line("", o.Says)
	}
	if inc.Ack != nil {
		in := ""
		if inc.Ack.In != "" {
			in = " in " + inc.Ack.In
		}
		line("Acked by", cmp.Or(person(inc.Ack.By.Name, inc.Ack.By.ID), "unknown")+in+" at "+inc.Ack.At.UTC().Format(minute))
	}
	if inc.Mute != nil && inc.Mute.Until.After(now) {
		line("Muted", "until "+inc.Mute.Until.UTC().Format(minute)+" by "+person(inc.Mute.By.Name, inc.Mute.By.ID))
	}
	for i, f := range inc.Blind {
		name := ""
		if i == 0 {
			name = "Unread"
		}
		line(name, strings.TrimSpace(fmt.Sprintf("%s: %s %s", f.Source, f.Call, f.Reason)))
	}
	_, err := io.WriteString(w, b.String())
	return wrapped(err)
}

// shown is how many launches are named.
const shown = 10

func person(name, id string) string {
	if name == "" {
		return id
	}
	return name
}

// span is a time as people say it.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0 min"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

func wrapped(err error) error {
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// Table is the table of the deployment in the caller's account and region, with what it
// has of every spoke: its function report says which table and which spokes.
func Table(ctx context.Context, by caller.Caller) (Records, error) {
	out, err := lambda.NewFromConfig(by.AWS).GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: aws.String(doctor.Prefix + "-report")})
	var none *lambdatypes.ResourceNotFoundException
	switch {
	case errors.As(err, &none):
		return nil, exit.Misuse("there is no deployment of Rollcall in %s of account %s: --region and --profile choose another; rollcall diagnose --cluster needs no deployment", by.AWS.Region, by.Account)
	case err != nil:
		return nil, fmt.Errorf("find the deployment's table: %w", err)
	}
	table := ""
	if out.Environment != nil {
		table = out.Environment.Variables[string(config.TableName)]
	}
	if table == "" {
		return nil, fmt.Errorf("find the deployment's table: %s-report has no setting %s; run rollcall doctor", doctor.Prefix, config.TableName)
	}
	settings, err := config.Load(func(name string) string {
		if name == "AWS_REGION" { // Lambda sets it, and does not tell
			return by.AWS.Region
		}
		return out.Environment.Variables[name]
	}, config.SpokeVariables())
	if err != nil {
		return nil, fmt.Errorf("find the deployment's spokes: %w", err)
	}
	return Everywhere(store.New(dynamodb.NewFromConfig(by.AWS), table), settings.Others()), nil
}

// Everywhere is what a table has of the hub's own account and region and of spokes, those
// that were watched before among them. A spoke's cluster is named with its account and
// region: 222233334444/eu-west-1/prod.
func Everywhere(table *store.Store, spokes []config.Spoke) Records { return everywhere{table, spokes} }

type everywhere struct {
	table  *store.Store
	spokes []config.Spoke
}

func (e everywhere) Clusters(ctx context.Context) ([]string, error) {
	past, err := e.table.AllSpokes(ctx)
	var newer *store.NewerFormat
	if err != nil && !errors.As(err, &newer) {
		return nil, err
	}
	ids := []spoke.ID{{}}
	for _, s := range e.spokes {
		ids = append(ids, s.ID)
	}
	for _, p := range past {
		if !slices.Contains(ids, p.Spoke) {
			ids = append(ids, p.Spoke)
		}
	}
	var all []string
	for _, id := range ids {
		names, err := e.table.ForSpoke(id).Clusters(ctx)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			all = append(all, id.Qualify(name))
		}
	}
	return all, nil
}

func (e everywhere) Incidents(ctx context.Context, cluster string) ([]incident.Incident, error) {
	of, err := spoke.ParseCluster(cluster)
	if err != nil {
		return nil, exit.Misuse("%s", err)
	}
	return e.table.ForSpoke(of.ID).Incidents(ctx, of.Name)
}
