package gather

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"rollcall/shared/checkid"
	"rollcall/shared/cloudwatchlogs"
	"rollcall/shared/config"
	"rollcall/shared/gather/source"
	"rollcall/shared/node/autolog"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Logs tells where logs are delivered to, and what is in a log group.
type Logs interface {
	DescribeDeliverySources(ctx context.Context, token string) ([]cloudwatchlogs.DeliverySource, string, error)
	DescribeDeliveries(ctx context.Context, token string) ([]cloudwatchlogs.Delivery, string, error)
	DescribeDeliveryDestinations(ctx context.Context, token string) ([]cloudwatchlogs.DeliveryDestination, string, error)
	FilterLogEvents(context.Context, cloudwatchlogs.Filter) ([]cloudwatchlogs.Event, string, error)
}

var _ Logs = (*cloudwatchlogs.Client)(nil)

// filterAction is the permission without which no record is read.
const filterAction = "logs:FilterLogEvents"

// AutoModeLogs are the permissions to find and to read the logs of EKS Auto Mode, as
// the settings have it. The lists take no resource and have no condition keys of their
// own (service authorization reference, "Actions, resources, and condition keys for
// Amazon CloudWatch Logs"): they are bound to the Region. Policies name a log group
// with ":*" behind its name (botocore, logs/2014-03-28, LogGroup, arn).
func AutoModeLogs(getenv func(string) string) ([]spec.Grant, error) {
	c, err := config.Load(getenv, []spec.Variable{config.AutoModeLogs})
	if err != nil || len(c.AutoModeLogs) == 0 {
		return nil, err
	}
	var groups []spec.Resource
	for _, name := range c.AutoModeLogs {
		groups = append(groups, spec.Resource("arn:${Partition}:logs:${Region}:${Account}:log-group:"+name+":*"))
	}
	return []spec.Grant{
		{
			Sid:        "FindAutoModeLogs",
			Why:        "Where an account has the logs of EKS Auto Mode delivered to is its own choice: the deliveries tell the log group.",
			Actions:    []string{"logs:DescribeDeliveries", "logs:DescribeDeliveryDestinations", "logs:DescribeDeliverySources"},
			Resources:  []spec.Resource{spec.NoResource},
			Conditions: map[string]map[string][]string{"StringEquals": {"aws:RequestedRegion": {"${Region}"}}},
		},
		{
			Sid:       "ReadAutoModeLogs",
			Why:       "What EKS Auto Mode says of a node that does not come stands in its log alone, where the NodeClaim says only that it failed.",
			Actions:   []string{filterAction},
			Resources: groups,
		},
	}, nil
}

const (
	// mostLists is how many pages of a list are read: 500 of each (an account has
	// 1,000 sources at most; CloudWatch Logs user guide, "CloudWatch Logs quotas").
	mostLists = 10
	// mostEvents is a page of events, mostPages how many are read of a log group: a
	// page may be empty and not the last.
	mostEvents, mostPages = 100, 5
	// mostRecords are kept of one look.
	mostRecords = 20
)

// Classify tells the check that looks for what a line of Karpenter tells; empty where
// it tells no cause.
type Classify func(line string) checkid.ID

// autoModeLogs reads the logs of EKS Auto Mode.
type autoModeLogs struct {
	api    Logs
	groups config.LogGroups
	// classify comes from outside: only who reads logs has the tables of texts, which
	// take 3 ms to make when a function starts.
	classify Classify
}

// ReadingLogs lets the reader read what EKS Auto Mode logs, in those log groups; none
// is not to.
func (r *Reader) ReadingLogs(api Logs, groups config.LogGroups, classify Classify) *Reader {
	if len(groups) > 0 {
		r.logs = &autoModeLogs{api, groups, classify}
	}
	return r
}

// readLogs reads what the logs say of the nodes of a snapshot that did not come. What
// cannot be read is a failure of its own: nothing else is judged by it.
func (r *Reader) readLogs(ctx context.Context, s *snapshot.Snapshot) {
	if r.logs == nil || s.AutoModeLogs != nil || !s.Read[snapshot.NodeClaimsOf] && len(s.Scope.Instances) == 0 {
		return
	}
	search, wanted := autolog.Wanted(s)
	if !wanted {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	found := &snapshot.AutoModeLogs{Names: search.Names, Cut: search.Cut}
	s.AutoModeLogs = found
	err := r.logs.read(ctx, s.Cluster.ARN, search, found)
	if err != nil {
		f := logsSource().Failure(err)
		if s.Failures[snapshot.AutoModeLogsOf] = *f; f.Code == snapshot.NotCaptured {
			s.AutoModeLogs = nil
		}
		return
	}
	for _, d := range found.Deliveries {
		if d.Failure != nil {
			s.Failures[snapshot.AutoModeLogsOf] = *d.Failure
			return
		}
	}
	s.Read[snapshot.AutoModeLogsOf] = true
}

// logsSource is known by its name and its calls alone: it is no source of All.
func logsSource() source.Source {
	return source.Source{Name: snapshot.AutoModeLogsOf, Calls: []source.Call{{Action: filterAction}}}
}

// read finds the deliveries of a cluster and reads their log groups, each once.
func (l *autoModeLogs) read(ctx context.Context, cluster string, search autolog.Search, found *snapshot.AutoModeLogs) error {
	var err error
	if found.Deliveries, err = l.deliveries(ctx, cluster); err != nil {
		return err
	}
	done := map[string]snapshot.LogDelivery{}
	for i := range found.Deliveries {
		d := &found.Deliveries[i]
		if d.Group == "" {
			continue
		}
		if before, is := done[d.Group]; is {
			d.Unnamed, d.Gone, d.Failure = before.Unnamed, before.Gone, before.Failure
			continue
		}
		if d.Unnamed = !l.groups.Name(d.Group); !d.Unnamed {
			err := l.records(ctx, *d, search, found)
			if d.Gone = source.Gone(err); err != nil && !d.Gone {
				d.Failure = logsSource().Failure(err)
			}
		}
		done[d.Group] = *d
	}
	slices.SortStableFunc(found.Records, func(a, b snapshot.LogRecord) int { return a.At.Compare(b.At) })
	capped(found)
	return nil
}

// capped keeps the first records: what came first says why the rest came.
func capped(l *snapshot.AutoModeLogs) {
	if len(l.Records) > mostRecords {
		l.Records, l.Cut = l.Records[:mostRecords], true
	}
}

// deliveries are those of a cluster's logs of EKS Auto Mode, sorted.
func (l *autoModeLogs) deliveries(ctx context.Context, cluster string) ([]snapshot.LogDelivery, error) {
	sources, err := pages(ctx, l.api.DescribeDeliverySources)
	if err != nil {
		return nil, fmt.Errorf("list the sources of deliveries: %w", err)
	}
	types := map[string]string{}
	for _, s := range sources {
		if slices.Contains(s.Resources, cluster) && autolog.Is(s.LogType) {
			types[s.Name] = s.LogType
		}
	}
	if len(types) == 0 {
		return nil, nil
	}
	all, err := pages(ctx, l.api.DescribeDeliveries)
	if err != nil {
		return nil, fmt.Errorf("list the deliveries: %w", err)
	}
	all = slices.DeleteFunc(all, func(d cloudwatchlogs.Delivery) bool { return types[d.Source] == "" })
	where := map[string]string{}
	if len(all) > 0 {
		destinations, err := pages(ctx, l.api.DescribeDeliveryDestinations)
		if err != nil {
			return nil, fmt.Errorf("list the destinations of deliveries: %w", err)
		}
		for _, d := range destinations {
			where[d.ARN] = d.Configuration.Resource
		}
	}
	own, err := arn.Parse(cluster)
	if err != nil {
		return nil, fmt.Errorf("the cluster's ARN: %w", err)
	}
	var list []snapshot.LogDelivery
	for _, d := range all {
		to := where[d.Destination]
		// Of a destination in another account only its own ARN is told.
		delivery := snapshot.LogDelivery{Type: types[d.Source], Destination: to, Group: logGroup(own, to)}
		if to == "" {
			delivery.Destination = d.Destination
		}
		list = append(list, delivery)
	}
	slices.SortFunc(list, func(a, b snapshot.LogDelivery) int {
		return strings.Compare(a.Type+" "+a.Destination, b.Type+" "+b.Destination)
	})
	return list, nil
}

// logGroup is the name of the log group of an ARN; empty for anything else, and for a
// group of another account or Region, whose name may be that of another one here.
func logGroup(own arn.ARN, text string) string {
	a, err := arn.Parse(text)
	name, is := strings.CutPrefix(a.Resource, "log-group:")
	if err != nil || a.Service != "logs" || !is || a.AccountID != own.AccountID || a.Region != own.Region {
		return ""
	}
	return strings.TrimSuffix(name, ":*")
}

// records adds what a log group says of what is searched for.
func (l *autoModeLogs) records(ctx context.Context, d snapshot.LogDelivery, search autolog.Search, found *snapshot.AutoModeLogs) error {
	f := cloudwatchlogs.Filter{Group: d.Group, Pattern: search.Pattern, Start: search.From, End: search.To, Most: mostEvents}
	for range mostPages {
		events, next, err := l.api.FilterLogEvents(ctx, f)
		if err != nil {
			return fmt.Errorf("read the log group %s: %w", d.Group, err)
		}
		for _, e := range events {
			if r, is := autolog.Read(d.Type, e.At, e.Message, search.Names); is {
				if d.Type == autolog.Compute {
					r.Cause = l.classify(r.Text)
				}
				found.Records = append(found.Records, r)
			}
		}
		if f.Next = next; next == "" {
			return nil
		}
	}
	found.Cut = true
	return nil
}

// pages reads a list.
func pages[T any](ctx context.Context, read func(context.Context, string) ([]T, string, error)) (all []T, err error) {
	token := ""
	for range mostLists {
		list, next, err := read(ctx, token)
		if err != nil {
			return nil, err
		}
		if all = append(all, list...); next == "" {
			return all, nil
		}
		token = next
	}
	return nil, source.ErrTooMany
}
