package doctor

import (
	"context"
	"errors"

	"rollcall/shared/config"
	"rollcall/shared/s3"
)

// Objects is what it takes of S3: the error of a bucket that is not there is s3.ErrNone.
type Objects interface {
	FindBucket(ctx context.Context, bucket string) error
}

// evidence looks at the bucket in which the detectors keep what they read.
func (c Clients) evidence(ctx context.Context, there []functionOf) []Finding {
	bucket := ""
	for _, f := range there {
		if f.setting(config.Evidence) != "off" && f.setting(config.EvidenceBucket) != "" {
			bucket = f.setting(config.EvidenceBucket)
		}
	}
	if bucket == "" {
		return []Finding{{Part: "evidence", Name: "bucket", State: Off, Says: "none is kept (the setting evidence)"}}
	}
	f := Finding{Part: "evidence", Name: bucket, State: Well, Says: "the bucket is there"}
	switch err := c.Objects.FindBucket(ctx, bucket); {
	case errors.Is(err, s3.ErrNone):
		f.Says = "the bucket is not there: nothing can be replayed of what is found from now on"
		f = redeploy(f)
	case err != nil:
		f = unseen("evidence", bucket, "s3:ListBucket", err)
	}
	return []Finding{f}
}
