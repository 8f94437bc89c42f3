package store

import (
	"context"
	"fmt"
	"time"

	"rollcall/shared/network/leak"
	"rollcall/shared/spec"
)

// What eni-cleanup remembers beside its sightings: pace#<account>#<region>,
// pace; and cleanup#<cluster>, <day>.
const (
	pacePrefix    = "pace#"
	cleanupPrefix = "cleanup#"
)

const (
	paceFormat    = 1
	cleanupFormat = 1
)

// keepPace is longer than any bucket takes to fill, keepCleanups longer than a
// day's summary may change.
const (
	keepPace     = 24 * time.Hour
	keepCleanups = 7 * 24 * time.Hour
)

// Pace reads what the last run believed of EC2's bucket; the zero Pace where
// there was none lately.
func (s *Store) Pace(ctx context.Context, account, region string) (leak.Pace, error) {
	list, err := partition[leak.Pace](ctx, s, pacePrefix+account+"#"+region, paceFormat, "the pace of deletes")
	if err != nil || len(list) == 0 {
		return leak.Pace{}, err
	}
	return list[0], nil
}

// SavePace writes what this run believes of EC2's bucket; the last one to write
// it knows best.
func (s *Store) SavePace(ctx context.Context, account, region string, p leak.Pace) error {
	return s.put(ctx, item{
		pk: pacePrefix + account + "#" + region, sk: "pace",
		kind: "pace", format: paceFormat, version: 1, body: p, expires: s.now().Add(keepPace),
	}, anyVersion)
}

// summaryDigest is what the last summary of a day said, as a digest.
type summaryDigest struct {
	Day    string `json:"day"`
	Digest string `json:"digest"`
}

// CleanupsTold reads what the cluster's summaries said, as digests by day.
func (s *Store) CleanupsTold(ctx context.Context, cluster string) (map[string]string, error) {
	list, err := partition[summaryDigest](ctx, s, s.key(cleanupPrefix, cluster), cleanupFormat, "what was said of the cleanup of "+cluster)
	days := map[string]string{}
	for _, t := range list {
		days[t.Day] = t.Digest
	}
	return days, err
}

// SaveCleanupTold writes what the summary of a day said.
func (s *Store) SaveCleanupTold(ctx context.Context, cluster, day, digest string) error {
	if err := s.put(ctx, item{
		pk: s.key(cleanupPrefix, cluster), sk: day,
		kind: "summary of the cleanup", format: cleanupFormat, version: 1, body: summaryDigest{day, digest}, expires: s.now().Add(keepCleanups),
	}, anyVersion); err != nil {
		return fmt.Errorf("remember what was said of %s: %w", cluster, err)
	}
	return nil
}

// RecordCleanups lets a function write the pace of deletes and what was said of
// a day, and nothing else.
func RecordCleanups() []spec.Grant {
	return []spec.Grant{
		write("RecordPace", "The next run begins with what this one left of EC2's request bucket.", pacePrefix),
		write("RecordCleanups", "A day's summary is sent again only when something was added to it.", cleanupPrefix),
	}
}

// ReadCleanups is what reading sightings, audit records and the rest needs:
// nothing is in reach through an index.
func ReadCleanups() []spec.Read { return read(spec.Actions[Querier]("dynamodb"), spec.Table) }
