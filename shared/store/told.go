package store

import (
	"context"
	"time"

	"rollcall/shared/spec"
	"rollcall/shared/target/message"
)

// What a target besides Slack was told of an incident: target#<target>, <incident>.
const targetPrefix = "target#"

// keepTold is how long that outlives the last telling: longer than an incident of which
// nothing is heard stays open.
const keepTold = 180 * 24 * time.Hour

// ToldFormat is the version of ToldRecord that this code writes and reads.
const ToldFormat = 1

// ToldRecord is what a target was told of an incident, with the version of the record.
type ToldRecord struct {
	message.Told
	Target  string `json:"target"`
	About   string `json:"about"`
	Version int    `json:"version"`
	Format  int    `json:"format"`
}

// Told reads what a target was told of an incident; the zero record where it was nothing.
func (s *Store) Told(ctx context.Context, target, about string) (ToldRecord, error) {
	list, err := oneByOne[ToldRecord](ctx, s, targetPrefix+target, "#sk = :from", about, ToldFormat, "what "+target+" was told of "+about)
	if err != nil || len(list) == 0 {
		return ToldRecord{Target: target, About: about}, err
	}
	return list[0], nil
}

// SaveTold writes a record over the version that was read, and fails with *Conflict if
// that is not the newest any more.
func (s *Store) SaveTold(ctx context.Context, r ToldRecord) error {
	over := r.Version
	r.Version, r.Format = r.Version+1, ToldFormat
	return s.put(ctx, item{
		pk: targetPrefix + r.Target, sk: r.About, kind: "target", format: r.Format, version: r.Version, body: r, expires: s.now().Add(keepTold),
	}, over)
}

// RecordTold lets a function write what targets were told and nothing else.
func RecordTold() spec.Grant {
	return write("RecordTold", "An older event that arrives late must not undo a newer one, and what was told already is not told again.", targetPrefix)
}
