package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/s3"
)

// Objects is where evidence is read.
type Objects interface {
	Get(ctx context.Context, bucket, key string, most int64) ([]byte, error)
}

var _ Objects = (*s3.Client)(nil)

// GoneError is that there is no evidence of an incident, and why.
type GoneError struct{ Why string }

func (e *GoneError) Error() string { return e.Why }

// Kept is evidence that was found.
type Kept struct {
	Key  string
	Data []byte
	// Instead tells that what was asked for is not there, and this is of another time.
	Instead bool
}

// Find gives the evidence of an incident, packed: of when it opened or, if newest is
// wanted, of when its cause was last seen; the other one where that is not there. The
// error is *GoneError where there is none.
func Find(ctx context.Context, from Objects, bucket string, inc incident.Incident, newest bool) (Kept, error) {
	if inc.Evidence == nil {
		return Kept{}, &GoneError{"nothing was kept of this incident: evidence is off (the setting evidence)"}
	}
	if bucket == "" {
		return Kept{}, &GoneError{"the deployment keeps no evidence any more (the setting evidence is off); what was kept is in the bucket that the stack left behind, under " + inc.Evidence.Opened}
	}
	keys := []string{inc.Evidence.Opened, inc.Evidence.Newest}
	if newest {
		keys[0], keys[1] = keys[1], keys[0]
	}
	for i, key := range keys {
		data, err := from.Get(ctx, bucket, key, MostPacked)
		switch {
		case err == nil:
			return Kept{Key: key, Data: data, Instead: i > 0 && keys[0] != keys[1]}, nil
		case errors.Is(err, s3.ErrTooLarge):
			return Kept{}, wrong("it is larger than %d MiB", MostPacked>>20)
		case !errors.Is(err, s3.ErrNone):
			return Kept{}, fmt.Errorf("read s3://%s/%s: %w", bucket, key, err)
		}
	}
	return Kept{}, &GoneError{fmt.Sprintf("s3://%s/%s is not there any more, or could not be written then (%s): the setting evidence says for how many days it is kept", bucket, keys[0], when(keys[0]))}
}

// when is the hour of which a key is.
func when(key string) string {
	if parts := strings.Split(key, "/"); len(parts) == 8 {
		if at, err := time.Parse("2006/01/02/15", strings.Join(parts[3:7], "/")); err == nil {
			return "of " + at.Format("2006-01-02 15:04") + " UTC"
		}
	}
	return key
}
