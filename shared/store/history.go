package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/checkid"
	"rollcall/shared/node/outcome"
	"rollcall/shared/nodegroup"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/store/table"
)

const day = 24 * time.Hour

// MaxHistory is how many launches with an outcome History reads, the newest: a
// day and a quarter of 10,000 launches an hour, a week of 1,700. They take 150
// MB of memory and about 17,000 read units (measured, see the tests); a week of
// 10,000 an hour would take 750 MB, and a minute.
const MaxHistory = 300_000

// dayOf is the key of EndedIndex: a cluster and the UTC day of a launch. A day
// of a cluster that launches ten thousand nodes an hour is 100 MB, and is
// written with three units a second: well within what one partition takes.
func dayOf(cluster string, t time.Time) string {
	return cluster + "#" + t.UTC().Format(time.DateOnly)
}

// History reads the launches of a cluster that began since a time, those that
// have no outcome yet among them, oldest first. Of more than MaxHistory it gives
// the newest, and *OlderLeftOut. If some were written by a newer version of
// Rollcall, or cannot be read, it gives the others and an error that says so.
// What was written in the last second may be missing.
func (s *Store) History(ctx context.Context, cluster string, since time.Time) ([]snapshot.Past, error) {
	list, cut, err := s.history(ctx, cluster, since, s.most)
	if !cut.IsZero() {
		err = errors.Join(err, fmt.Errorf("read the launches of %s: %w", cluster, &OlderLeftOut{Since: cut, Most: s.most}))
	}
	return list, err
}

// RecentHistory is History of at most that many launches with an outcome, the
// newest. That older ones were left out is no error.
func (s *Store) RecentHistory(ctx context.Context, cluster string, since time.Time, most int) ([]snapshot.Past, error) {
	list, _, err := s.history(ctx, cluster, since, most)
	return list, err
}

// history gives beside an error what it could read all the same, and from when on
// if there were more than it reads.
func (s *Store) history(ctx context.Context, cluster string, since time.Time, most int) (list []snapshot.Past, cut time.Time, err error) {
	now := s.t.Now()
	if oldest := now.Add(-keepLaunches); since.Before(oldest) {
		since = oldest
	}
	r := recall{store: s, cluster: cluster, since: since, left: most, once: map[string]string{}}
	// A launch may begin, by EC2's clock, a little after now.
	for d := now.Add(day).UTC().Truncate(day); r.left > 0 && !d.Before(since.UTC().Truncate(day)); d = d.Add(-day) {
		if err := r.day(ctx, d); err != nil {
			return nil, cut, fmt.Errorf("read the launches of %s of %s: %w", cluster, d.Format(time.DateOnly), err)
		}
	}
	wrong := r.wrong
	if r.left == 0 {
		since = r.cut()
		cut = since
	}
	open, err := s.openLaunches(ctx, cluster)
	if err != nil {
		wrong = append(wrong, err)
	}
	list = append(r.list, unended(open, r.list, since)...)
	// Sorted by the index to the millisecond, newest first, but for the open ones.
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b snapshot.Past) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID)) })
	if len(wrong) > 0 {
		return list, cut, fmt.Errorf("read the launches of %s: %w", cluster, errors.Join(wrong...))
	}
	return list, cut, nil
}

// recall is a history while it is read, newest first.
type recall struct {
	store   *Store
	cluster string
	since   time.Time
	left    int
	list    []snapshot.Past
	wrong   []error
	// once holds each text that many launches share, once: names of types,
	// zones, subnets and groups are most of what a launch would take.
	once map[string]string
}

// day reads the launches of one day, page by page: of the items themselves only
// one page is ever held.
func (r *recall) day(ctx context.Context, d time.Time) error {
	in := &dynamodb.QueryInput{
		TableName: &r.store.t.Name, IndexName: aws.String(EndedIndex),
		KeyConditionExpression:   aws.String("#day = :day AND #began >= :since"),
		ExpressionAttributeNames: map[string]string{"#day": table.AttrDay, "#began": table.AttrBegan},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":day": table.Text(dayOf(r.store.t.Spoke.Qualify(r.cluster), d)), ":since": table.Text(r.since.UTC().Format(table.Sortable)),
		},
		ScanIndexForward: aws.Bool(false),
	}
	for {
		out, err := r.store.t.Client.Query(ctx, in)
		if err != nil {
			return table.Classify(err, table.Item{}, 0)
		}
		for _, attributes := range out.Items {
			p, there, err := r.store.past(attributes)
			if err != nil {
				r.wrong = append(r.wrong, err)
			}
			if !there {
				continue
			}
			if r.left == 0 {
				return nil
			}
			r.left--
			r.list = append(r.list, r.share(p))
		}
		if len(out.LastEvaluatedKey) == 0 || r.left == 0 {
			return nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// cut drops the launches of the oldest moment that was read, as others of the
// same moment may not have been, and gives from when on all are there.
func (r *recall) cut() time.Time {
	last := r.list[len(r.list)-1].Started
	n := len(r.list)
	for n > 0 && r.list[n-1].Started.Equal(last) {
		n--
	}
	if n == 0 {
		return last
	}
	r.list = r.list[:n]
	return r.list[n-1].Started
}

// share makes texts that are the same one.
func (r *recall) share(p snapshot.Past) snapshot.Past {
	cause := string(p.Cause)
	for _, field := range []*string{&p.Nodegroup, &p.Group, &p.Type, &p.Zone, &p.Subnet, &p.Template.ID, &p.Template.Version, &p.AMI, &p.Architecture, &p.Plugin, &cause, &p.Why} {
		known, ok := r.once[*field]
		if !ok && len(r.once) < maxShared {
			r.once[*field] = *field
		}
		if ok {
			*field = known
		}
	}
	p.Cause, p.End = checkid.ID(cause), end(p.End)
	return p
}

// maxShared bounds the texts that are looked up: "Ready 1m3s after its launch"
// is one of hundreds, a refusal may name an id of its own each time.
const maxShared = 20_000

// end is one of the known ends with no memory of its own.
func end(e snapshot.End) snapshot.End {
	for _, known := range []snapshot.End{snapshot.Joined, snapshot.NotJoined, snapshot.Reclaimed, snapshot.Refused, snapshot.Terminated, snapshot.Unclear} {
		if e == known {
			return known
		}
	}
	return e
}

// unended are the open launches since a time. The indexes follow the table each
// in its own time: what has just ended may be in both.
func unended(open []LaunchRecord, list []snapshot.Past, since time.Time) []snapshot.Past {
	both := make(map[string]bool, len(open))
	for _, l := range open {
		both[l.ID()] = false
	}
	for _, p := range list {
		if _, ok := both[p.ID]; ok {
			both[p.ID] = true
		}
	}
	var more []snapshot.Past
	for _, l := range slices.Backward(open) {
		if !l.Started.Before(since) && !both[l.ID()] {
			more = append(more, l.Past())
		}
	}
	return more
}

// joinTimesFormat is the version of JoinTimes that this code writes and reads.
const joinTimesFormat = 1

// JoinTimes is how long the nodes of one nodegroup took to join.
type JoinTimes struct {
	Nodegroup string        `json:"nodegroup"`
	Joins     outcome.Joins `json:"joins"`
	// Version is of the record as it was read; 0 stands for none.
	Version int `json:"version"`
}

// keepJoinTimes is how long the joins of a nodegroup that launches no more are
// kept: they count for 30 days.
const keepJoinTimes = 31 * 24 * time.Hour

// JoinTimes reads those of all nodegroups of a cluster, by nodegroup. If some
// were written by a newer version of Rollcall, it gives the others and an error
// with *NewerFormat in it.
func (s *Store) JoinTimes(ctx context.Context, cluster string) (map[string]JoinTimes, error) {
	list, err := table.Partition[JoinTimes](ctx, s.t, s.t.Key(joinTimePrefix, cluster), joinTimesFormat, "the join times of "+cluster)
	return by(list, func(t JoinTimes) string { return t.Nodegroup }), err
}

// SaveJoinTimes writes a nodegroup's join times over the version that was read.
// It fails with *Conflict if that version is not the newest any more.
func (s *Store) SaveJoinTimes(ctx context.Context, cluster string, t JoinTimes) error {
	_, err := table.Save(ctx, s.t, table.Item{
		PK: s.t.Key(joinTimePrefix, cluster), SK: t.Nodegroup,
		Kind: "join times", Format: joinTimesFormat, Expires: s.t.Now().Add(keepJoinTimes),
	}, &t, &t.Version)
	return err
}

// ID is the instance, or the scaling activity of a launch without one.
func (l LaunchRecord) ID() string {
	if l.Instance != "" {
		return l.Instance
	}
	return l.Activity
}

// Recorded reports whether it was read from the table.
func (l LaunchRecord) Recorded() bool { return l.Version > 0 }

// Known are the facts of a launch.
func (l LaunchRecord) Known() outcome.Facts {
	return outcome.Facts{
		Started: l.Started, Due: l.Due, Registered: l.Registered, Ready: l.Ready, Tagged: l.Tagged,
		Ended: l.Ended, Reason: outcome.EndReason{Code: l.code(), Message: l.EndedWhy}, Alive: l.Alive, Over: l.Over, By: l.EndedBy, Forgotten: l.Forgotten,
		Noticed: l.Noticed, Rebalance: l.Rebalance, Maintenance: l.Maintenance,
		Missed: l.Missed, Root: outcome.Root{Check: l.Root, Sure: l.RootSure, At: l.RootAt},
		Refused: l.Refused, GivenUp: l.GaveUp, Blind: l.Blind, Unseen: l.Unseen,
	}
}

// code is EC2's code. A record of before there was one has it at the beginning
// of its words, as EC2 writes them: "Server.SpotInstanceTermination: …".
func (l LaunchRecord) code() string {
	code, _, _ := strings.Cut(l.EndedWhy, ":")
	if l.EndedCode == "" && (strings.HasPrefix(code, "Client.") || strings.HasPrefix(code, "Server.")) && !strings.ContainsAny(code, " \n") {
		return code
	}
	return l.EndedCode
}

// Learn takes facts in and concludes from them how the launch ended. It reports
// whether the record says anything else now.
func (l *LaunchRecord) Learn(f outcome.Facts) (changed bool) {
	before := *l
	f = outcome.Merge(l.Known(), f)
	l.Started, l.Due, l.Registered, l.Ready, l.Tagged = f.Started, f.Due, f.Registered, f.Ready, f.Tagged
	l.Ended, l.EndedCode, l.EndedWhy, l.EndedBy, l.Forgotten = f.Ended, f.Reason.Code, f.Reason.Message, f.By, f.Forgotten
	l.Alive, l.Over = f.Alive, f.Over
	l.Noticed, l.Rebalance, l.Maintenance = f.Noticed, f.Rebalance, f.Maintenance
	l.Missed, l.Root, l.RootSure, l.RootAt = f.Missed, f.Root.Check, f.Root.Sure, f.Root.At
	l.Refused, l.GaveUp, l.Blind, l.Unseen = f.Refused, f.GivenUp, f.Blind, f.Unseen
	end, cause, why := outcome.Conclude(f)
	l.End, l.Cause, l.Why = end, cause, why
	l.endStatus()
	return *l != before
}

// endStatus brings the status in line with the end: what has ended is waited
// for no more, and what is no longer waited for has an end.
func (l *LaunchRecord) endStatus() {
	switch {
	case l.End == snapshot.Joined:
		l.Status = outcome.Joined
	case l.End == snapshot.Open && l.Status.Final():
		l.End, l.Why = snapshot.Unclear, "nobody saw how it ended"
	case l.End != snapshot.Open && !l.GaveUp.IsZero() && l.Ended.IsZero() && l.Forgotten.IsZero():
		l.Status = outcome.GivenUp
	case l.End != snapshot.Open:
		l.Status = outcome.Gone
	}
}

// Losing reports whether an end at that time is the end of a node that had joined not
// long before, and is not recorded yet. A zero time is not known.
func (l LaunchRecord) Losing(at time.Time) bool {
	return l.Status == outcome.Joined && !l.Ready.IsZero() && l.Ended.IsZero() &&
		(at.IsZero() || at.Sub(l.Ready) <= snapshot.LostWithin)
}

// Past is the launch as the history tells it.
func (l LaunchRecord) Past() snapshot.Past {
	p := snapshot.Past{
		ID: l.ID(), Nodegroup: l.Nodegroup, Group: l.Group, Type: l.Type, Zone: l.Zone, Subnet: l.Subnet, Spot: l.Spot,
		Started: l.Started, End: l.End, Cause: l.Cause, Why: l.Why,
		Registered: l.Registered, Ready: l.Ready, Ended: l.Ended, Noticed: l.Noticed, Rebalance: l.Rebalance,
		Free: l.Free, FreeAt: l.FreeAt,
	}
	switch p.End {
	case snapshot.Open:
		p.Missed = l.Missed
		if !p.Missed.IsZero() {
			p.Cause = l.Root
		}
	case snapshot.Joined:
		p.Lost = l.Known().Lost()
	}
	if p.Ended.IsZero() && p.End != snapshot.Open {
		p.Ended = l.Over // no more is known of when
	}
	if l.Machine != nil {
		p.Template = snapshot.TemplateRef{ID: l.Machine.Template, Version: l.Machine.Version}
		p.AMI, p.Architecture, p.Plugin = l.Machine.AMI, l.Machine.Architecture, l.Machine.Plugin
	}
	return p
}

// LaunchFormat is the version of LaunchRecord that this code writes and reads.
const LaunchFormat = 1

// LaunchRecord is what is remembered of one launch, from its first event until 90
// days after it.
type LaunchRecord struct {
	outcome.Launch
	// Activity is the scaling activity of a refused launch that came to no
	// instance: then Instance is empty.
	Activity string `json:"activity,omitempty"`
	Cluster  string `json:"cluster"`
	Spot     bool   `json:"spot,omitempty"`
	// Due is when it should be a Ready node.
	Due time.Time `json:"due"`

	// EndedCode is EC2's code beside EndedWhy. Of a node that had joined both,
	// and Ended, are there only where it was lost within an hour.
	EndedCode string `json:"endedCode,omitempty"`
	// EndedBy is the cause of the scaling activity that ended it.
	EndedBy     string    `json:"endedBy,omitempty"`
	Alive       time.Time `json:"alive,omitzero"`
	Over        time.Time `json:"over,omitzero"`
	Forgotten   time.Time `json:"forgotten,omitzero"`
	Noticed     time.Time `json:"noticed,omitzero"`
	Rebalance   time.Time `json:"rebalance,omitzero"`
	Maintenance time.Time `json:"maintenance,omitzero"`
	Missed      time.Time `json:"missed,omitzero"`
	// Root is the check that explained it when it had missed roll call.
	Root     checkid.ID `json:"root,omitempty"`
	RootSure bool       `json:"rootSure,omitempty"`
	RootAt   time.Time  `json:"rootAt,omitzero"`
	Refused  checkid.ID `json:"refused,omitempty"`
	GaveUp   time.Time  `json:"gaveUp,omitzero"`
	Blind    string     `json:"blind,omitempty"`
	Unseen   string     `json:"unseen,omitempty"`
	// Usual and Samples are from what Due was learned (outcome.Allowance); both
	// are zero where it is the setting.
	Usual   time.Duration `json:"usual,omitempty"`
	Samples int           `json:"samples,omitempty"`

	// End, Cause and Why are what the facts above come to; End is empty while
	// the launch is open.
	End   snapshot.End `json:"end,omitempty"`
	Cause checkid.ID   `json:"cause,omitempty"`
	Why   string       `json:"why,omitempty"`
	// Free is how many addresses its subnet had left at FreeAt, when the launch
	// was first looked at.
	Free   int       `json:"free,omitempty"`
	FreeAt time.Time `json:"freeAt,omitzero"`

	// Machine is what the instance was started with. EC2 forgets most of it
	// when the instance ends; what keeps it from joining is explained from here.
	Machine *Machine `json:"machine,omitempty"`
	// Claim is its NodeClaim as it was last seen: Karpenter deletes it with the
	// instance that has not registered.
	Claim *Claim `json:"claim,omitempty"`
	// Looks is how often its roll was called.
	Looks int `json:"looks,omitempty"`
	// Version is of the record as it was read; SaveLaunch writes only over this one.
	Version int `json:"version"`
}

// Machine is what EC2 said of an instance while it was there.
type Machine struct {
	VPC          string            `json:"vpc,omitempty"`
	PrivateIP    netip.Addr        `json:"privateIp,omitzero"`
	PublicIP     netip.Addr        `json:"publicIp,omitzero"`
	PrivateDNS   string            `json:"privateDns,omitempty"`
	Architecture string            `json:"architecture,omitempty"`
	AMI          string            `json:"ami,omitempty"`
	Groups       []string          `json:"groups,omitempty"` // security groups
	Profile      string            `json:"profile,omitempty"`
	Template     string            `json:"template,omitempty"` // launch template id
	Version      string            `json:"templateVersion,omitempty"`
	Plugin       string            `json:"plugin,omitempty"`   // version of the VPC CNI when it was first looked at
	Metadata     string            `json:"metadata,omitempty"` // its endpoint: enabled, disabled
	HopLimit     int               `json:"hopLimit,omitempty"`
	Tags         map[string]string `json:"tags,omitempty"` // those that name its owner
}

// Claim is a NodeClaim as it was at some time.
type Claim struct {
	Name       string           `json:"name"`
	Pool       string           `json:"pool,omitempty"`
	Seen       time.Time        `json:"seen"`
	Conditions []ClaimCondition `json:"conditions,omitempty"`
}

// ClaimCondition is what it said of one step of its life.
type ClaimCondition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// keepLaunches is how long a launch is remembered after it started: the
// outcomes of a season, for the statistics; no event or reminder lives longer.
const keepLaunches = 90 * 24 * time.Hour

// batchSize is DynamoDB's limit of keys in a BatchGetItem.
const batchSize = 100

// GetLaunches reads the launches of some instances, by instance id; those of
// refused launches without one by the id of their scaling activity. Those that
// are not known are not in the map.
func (s *Store) GetLaunches(ctx context.Context, instances []string) (map[string]LaunchRecord, error) {
	// DynamoDB refuses a batch that names a key twice.
	instances = slices.Compact(slices.Sorted(slices.Values(instances)))
	launches := map[string]LaunchRecord{}
	for chunk := range slices.Chunk(instances, batchSize) {
		keys := make([]map[string]types.AttributeValue, 0, len(chunk))
		for _, id := range chunk {
			keys = append(keys, map[string]types.AttributeValue{table.AttrPK: table.Text(s.t.Key(launchPrefix, id)), table.AttrSK: table.Text(launchSort)})
		}
		items, err := s.batchGet(ctx, keys)
		if err != nil {
			return nil, fmt.Errorf("read %d launches: %w", len(instances), err)
		}
		list, err := table.All[LaunchRecord](s.t, items, LaunchFormat)
		if err != nil {
			return nil, fmt.Errorf("read %d launches: %w", len(instances), err)
		}
		for _, l := range list {
			launches[l.ID()] = l
		}
	}
	return launches, nil
}

const launchSort = "launch"

// How often, and after how long at first, keys are asked for again that
// DynamoDB left out for want of throughput.
const (
	batchAttempts = 6
	firstWait     = 50 * time.Millisecond
)

// batchGet reads keys, and asks again for those that DynamoDB left out.
func (s *Store) batchGet(ctx context.Context, keys []map[string]types.AttributeValue) ([]map[string]types.AttributeValue, error) {
	var items []map[string]types.AttributeValue
	request := map[string]types.KeysAndAttributes{s.t.Name: {Keys: keys, ConsistentRead: aws.Bool(true)}}
	for attempt := range batchAttempts {
		out, err := s.t.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: request})
		if err != nil {
			return nil, table.Classify(err, table.Item{}, 0)
		}
		items = append(items, out.Responses[s.t.Name]...)
		if len(out.UnprocessedKeys) == 0 {
			return items, nil
		}
		request = out.UnprocessedKeys
		if err := s.wait(ctx, firstWait<<attempt); err != nil {
			return nil, err
		}
	}
	return nil, &table.AtLimit{Code: "UnprocessedKeys", Cause: fmt.Errorf("%d keys left out %d times", len(request[s.t.Name].Keys), batchAttempts)}
}

// OpenLaunches reads the launches of a cluster whose outcome is not known,
// oldest first. What was written in the last second may be missing: an index
// follows its table.
func (s *Store) OpenLaunches(ctx context.Context, cluster string) ([]LaunchRecord, error) {
	launches, err := s.openLaunches(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return launches, nil
}

// openLaunches gives those that it can read beside an error about the others.
func (s *Store) openLaunches(ctx context.Context, cluster string) ([]LaunchRecord, error) {
	items, err := s.t.Query(ctx, &dynamodb.QueryInput{
		IndexName:                 aws.String(OpenIndex),
		KeyConditionExpression:    aws.String("#open = :cluster"),
		ExpressionAttributeNames:  map[string]string{"#open": table.AttrOpen},
		ExpressionAttributeValues: map[string]types.AttributeValue{":cluster": table.Text(s.t.Spoke.Qualify(cluster))},
	})
	if err != nil {
		return nil, fmt.Errorf("read the open launches of %s: %w", cluster, err)
	}
	launches, err := table.All[LaunchRecord](s.t, items, LaunchFormat)
	if err != nil {
		return launches, fmt.Errorf("read the open launches of %s: %w", cluster, err)
	}
	return launches, nil
}

// CreateLaunch records a launch unless it is recorded already, whichever event
// or sweep brought it first.
func (s *Store) CreateLaunch(ctx context.Context, l LaunchRecord) (created bool, err error) {
	l.Version = 0
	return table.Created(s.putLaunch(ctx, l))
}

// SaveLaunch writes a launch over the version that was read. It fails with
// *Conflict if that version is not the newest any more.
func (s *Store) SaveLaunch(ctx context.Context, l LaunchRecord) error {
	if !l.Recorded() {
		return fmt.Errorf("save the launch of %s: it was never read", l.ID())
	}
	return s.putLaunch(ctx, l)
}

func (s *Store) putLaunch(ctx context.Context, l LaunchRecord) error {
	it := table.Item{
		PK: s.t.Key(launchPrefix, l.ID()), SK: launchSort,
		Kind: "launch", Format: LaunchFormat, Expires: l.Started.Add(keepLaunches),
	}
	if !l.Status.Final() {
		it.Open, it.Started = s.t.Spoke.Qualify(l.Cluster), l.Started
	}
	if l.End != snapshot.Open {
		past, err := encodePast(l.Past())
		if err != nil {
			return fmt.Errorf("encode the launch of %s: %w", l.ID(), err)
		}
		it.Day, it.Began, it.Past = dayOf(s.t.Spoke.Qualify(l.Cluster), l.Started), l.Started, past
	}
	_, err := table.Save(ctx, s.t, it, &l, &l.Version)
	return err
}

// nodegroupPrefix begins the partition keys of nodegroups' records.
const nodegroupPrefix = "nodegroup#"

// keepDeleted is how long a deleted nodegroup is remembered: one of the same
// name goes on with its sequence of events.
const keepDeleted = 30 * 24 * time.Hour

// Nodegroups reads what is remembered of a cluster's nodegroups, by name. If
// some were written by a newer version of Rollcall, it gives the others and an
// error with *NewerFormat in it.
func (s *Store) Nodegroups(ctx context.Context, cluster string) (map[string]nodegroup.Record, error) {
	list, err := table.Partition[nodegroup.Record](ctx, s.t, s.t.Key(nodegroupPrefix, cluster), nodegroup.Format, "the nodegroups of "+cluster)
	return by(list, func(r nodegroup.Record) string { return r.Nodegroup }), err
}

// SaveNodegroup writes a nodegroup's record over the version that was read, and
// gives it with its new version. It fails with *Conflict if that version is not
// the newest any more.
func (s *Store) SaveNodegroup(ctx context.Context, r nodegroup.Record) (nodegroup.Record, error) {
	it := table.Item{PK: s.t.Key(nodegroupPrefix, r.Cluster), SK: r.Nodegroup, Kind: "nodegroup", Format: r.Format}
	if r.Status == nodegroup.Deleted {
		it.Expires = r.Seen.Add(keepDeleted)
	}
	return table.Save(ctx, s.t, it, &r, &r.Version)
}

// RecordNodegroups lets a function write nodegroups' records and nothing else.
func RecordNodegroups() spec.Grant {
	return table.Write("RecordNodegroups", "EKS sends no event when a nodegroup's status changes: a change is found, once, by comparing with the last known status.", nodegroupPrefix)
}

// ReadNodegroups is what reading nodegroups, incidents and, by their ids,
// launches needs: nothing is in reach through an index.
func ReadNodegroups() []spec.Read { return table.Read(table.Reads(), spec.Table) }

// Launch reads the launch of an instance; nil for one that is not known. It asks as those
// do who may read incidents alone.
func (s *Store) Launch(ctx context.Context, instance string) (*LaunchRecord, error) {
	list, err := table.Partition[LaunchRecord](ctx, s.t, s.t.Key(launchPrefix, instance), LaunchFormat, "the launch of "+instance)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// by is a list as a map.
func by[T any](list []T, key func(T) string) map[string]T {
	m := make(map[string]T, len(list))
	for _, x := range list {
		m[key(x)] = x
	}
	return m
}

// past is a launch with an outcome as the index EndedIndex holds it: the
// history of 90 days is read from it, so each byte counts.
type past struct {
	ID         string       `json:"i"`
	Nodegroup  string       `json:"n,omitempty"`
	Group      string       `json:"g,omitempty"`
	Type       string       `json:"t,omitempty"`
	Zone       string       `json:"z,omitempty"`
	Subnet     string       `json:"s,omitempty"`
	Spot       bool         `json:"p,omitempty"`
	Template   string       `json:"l,omitempty"`
	Version    string       `json:"v,omitempty"`
	AMI        string       `json:"m,omitempty"`
	Machine    string       `json:"h,omitempty"` // architecture
	Plugin     string       `json:"k,omitempty"`
	Started    int64        `json:"b"` // milliseconds since 1970, like all that follow
	End        snapshot.End `json:"e"`
	Cause      checkid.ID   `json:"c,omitempty"`
	Why        string       `json:"w,omitempty"`
	Registered int64        `json:"r,omitempty"`
	Ready      int64        `json:"y,omitempty"`
	Ended      int64        `json:"x,omitempty"`
	Lost       bool         `json:"q,omitempty"`
	Noticed    int64        `json:"o,omitempty"`
	Rebalance  int64        `json:"a,omitempty"`
	Free       int          `json:"f,omitempty"`
	FreeAt     int64        `json:"fa,omitempty"`
}

func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func unstamp(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

// maxWhy bounds the words of an end in the index; the record has them in full.
const maxWhy = 200 // runes

func encodePast(p snapshot.Past) (string, error) {
	why := []rune(p.Why)
	body, err := json.Marshal(past{
		ID: p.ID, Nodegroup: p.Nodegroup, Group: p.Group, Type: p.Type, Zone: p.Zone, Subnet: p.Subnet, Spot: p.Spot,
		Template: p.Template.ID, Version: p.Template.Version, AMI: p.AMI, Machine: p.Architecture, Plugin: p.Plugin, Started: stamp(p.Started), End: p.End, Cause: p.Cause, Why: string(why[:min(len(why), maxWhy)]),
		Registered: stamp(p.Registered), Ready: stamp(p.Ready), Ended: stamp(p.Ended), Lost: p.Lost, Noticed: stamp(p.Noticed), Rebalance: stamp(p.Rebalance),
		Free: p.Free, FreeAt: stamp(p.FreeAt),
	})
	return string(body), err
}

var errNoPast = errors.New("it has no id or no end")

func decodePast(text string) (snapshot.Past, error) {
	var p past
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return snapshot.Past{}, err
	}
	if p.ID == "" || p.End == snapshot.Open {
		return snapshot.Past{}, errNoPast
	}
	return snapshot.Past{
		ID: p.ID, Nodegroup: p.Nodegroup, Group: p.Group, Type: p.Type, Zone: p.Zone, Subnet: p.Subnet, Spot: p.Spot,
		Template: snapshot.TemplateRef{ID: p.Template, Version: p.Version}, AMI: p.AMI, Architecture: p.Machine, Plugin: p.Plugin, Started: unstamp(p.Started), End: p.End, Cause: p.Cause, Why: p.Why,
		Registered: unstamp(p.Registered), Ready: unstamp(p.Ready), Ended: unstamp(p.Ended), Lost: p.Lost, Noticed: unstamp(p.Noticed), Rebalance: unstamp(p.Rebalance),
		Free: p.Free, FreeAt: unstamp(p.FreeAt),
	}, nil
}

// past reads a launch of the index.
func (s *Store) past(attributes map[string]types.AttributeValue) (p snapshot.Past, there bool, err error) {
	name, there, err := s.t.There(attributes, LaunchFormat)
	if err != nil || !there {
		return snapshot.Past{}, false, err
	}
	text, ok := attributes[table.AttrPast].(*types.AttributeValueMemberS)
	if !ok {
		return snapshot.Past{}, false, fmt.Errorf("record %s: no %s: %w", name, table.AttrPast, table.ErrNotOurs)
	}
	if p, err = decodePast(text.Value); err != nil {
		return snapshot.Past{}, false, fmt.Errorf("record %s: %w", name, err)
	}
	return p, true, nil
}
